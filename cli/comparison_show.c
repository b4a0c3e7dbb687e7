/* comparison_show.c - a comparison as tables, as JSON and as a picture. */
#include "comparison_show.h"

#include "plot.h"
#include "show.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *comparison_target_name(comparison_target target) {
    return target == COMPARISON_GUESS ? "guess" : target == COMPARISON_SELF ? "self" : "epsilon";
}

static const char *guarantee_of(const comparison_row *row) {
    static const char *const names[] = {"none", "ideal", "exact", "other"};
    const unsigned i = (unsigned)row->properties->guarantee;
    return i < sizeof names / sizeof *names ? names[i] : "none";
}

/* The guess over the vocabulary: by the law, else as learned. */
static double vocabulary_of(const comparison_row *row) {
    return row->is_exact               ? row->effects.guess_vocabulary
           : row->vocabulary.pairs > 0 ? row->vocabulary.guess
                                       : NAN;
}

/* --------------------------------------------------------------------- tables -- */

/* A share in percent, such as " 12.0" or "~ 9.6"; "    -" if it is not known. */
static void put_share(double share, bool estimated, int width) {
    if (isfinite(share))
        printf("%*s%.1f", width - (int)snprintf(NULL, 0, "%.1f", 100 * share), estimated ? "~" : "",
               100 * share);
    else
        printf("%*s", width, "-");
}

static void put_speed(double speed) {
    if (speed >= 1e6)
        printf("%7.1fM", speed / 1e6);
    else if (speed >= 1e4)
        printf("%7.0fk", speed / 1e3);
    else
        printf("%8.0f", speed);
}

static void put_row(const comparison_table *t, const comparison_row *row) {
    const tem_effects *e = &row->effects;
    printf(row->epsilon < 1e-3 ? "%-16s %-5s %8.1e%c%6.1f +-%3.1f"
                               : "%-16s %-5s %8.4g%c%6.1f +-%3.1f",
           row->properties->name, guarantee_of(row), row->epsilon, row->is_reached ? ' ' : '!',
           100 * row->score.guess, 50 * (row->score.high - row->score.low));
    put_share(row->is_exact ? e->guess : NAN, false, 6);
    put_share(vocabulary_of(row), !row->is_exact, 7);
    put_share(e->self_median, !row->is_exact, 7);
    put_share(e->self_exposed, !row->is_exact, 7);
    printf("%7.0f%7.3f", e->support_median, row->score.distance_mean);
    printf(isfinite(row->score.cosine_mean) ? "%6.2f" : "     -", row->score.cosine_mean);
    put_speed(row->words_per_second);
    if (t->labelled != NULL)
        put_share(row->accuracy, false, 6);
    putchar('\n');
}

static void put_head(const comparison_table *t) {
    printf("\n%-16s %-5s %8s %11s%6s%7s%7s%7s%7s%7s%6s%8s%s\n", "", "guar-", "", "guess,", "by",
           "over", "stays,", "stays,", "S_w,", "dist-", "cos-", "words", "");
    printf("%-16s %-5s %8s %11s%6s%7s%7s%7s%7s%7s%6s%8s%s\n", "mechanism", "antee", "epsilon",
           "learned %", "law", "vocab.", "median", "most", "median", "ance", "ine", "per s",
           t->labelled != NULL ? "  acc." : "");
}

/* The words at the end, and the samples. They may hold any character, so each is printed with
 * care. */
static void put_words(const comparison_table *t, const comparison_row *row) {
    printf("%-16s ", row->properties->name);
    words_print_id(t->about->model, row->effects.exposed);
    if (row->sample != NULL) {
        fputs(": ", stdout);
        words_print(row->sample, strlen(row->sample));
    }
    putchar('\n');
}

static void put_samples(const comparison_table *t, const comparison_row *rows, size_t count) {
    const side_by_side *c = t->about;
    printf("\n%-16s most exposed word%s\n", "mechanism",
           c->word != NULL   ? ": draws of the word"
           : c->line != NULL ? ": the first line of the file"
                             : "");
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_measured)
            put_words(t, &rows[i]);
}

static void put_reasons(const comparison_row *rows, size_t count) {
    bool first = true;
    for (size_t i = 0; i < count; i++)
        if (rows[i].why[0] != '\0') {
            printf("%s%s%s: %s\n", first ? "\n" : "", rows[i].properties->name,
                   rows[i].is_measured ? "" : " is left out", rows[i].why);
            first = false;
        }
}

static size_t rows_of_target(const comparison_table *t, size_t first) {
    size_t count = 0;
    while (first + count < t->count && t->rows[first + count].wanted >= t->rows[first].wanted &&
           t->rows[first + count].wanted <= t->rows[first].wanted)
        count++;
    return count;
}

static void put_target(const comparison_table *t, const comparison_row *rows, size_t count) {
    const side_by_side *c = t->about;
    size_t measured = 0;
    if (c->target == COMPARISON_EPSILON)
        printf("At epsilon %s", talk_number(rows->wanted));
    else
        printf("At %s %s %%", c->target == COMPARISON_SELF ? "stays itself" : "guess",
               talk_number(100 * rows->wanted));
    printf(", prior %s; %s pairs learned, %s tested, seed %s\n", t->prior_name,
           talk_count(c->pairs), talk_count(c->tests), talk_count(c->seed));
    for (size_t i = 0; i < count; i++)
        measured += rows[i].is_measured;
    if (measured > 0)
        put_head(t);
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_measured)
            put_row(t, &rows[i]);
    if (measured > 0)
        put_samples(t, rows, count);
    put_reasons(rows, count);
    putchar('\n');
}

void comparison_print(const comparison_table *t) {
    for (size_t i = 0; i < t->count; i += rows_of_target(t, i))
        put_target(t, &t->rows[i], rows_of_target(t, i));
    puts(
        "guess: how often an attacker names the word behind an output, in percent; learned: from\n"
        "drawn pairs, the same attacker for all, with half of its 95 % interval; by law: the best\n"
        "possible one. Where the law can be computed, it meets the target, else the learned one\n"
        "does. over vocab.: if all words were equally frequent. stays: how often the median word\n"
        "of a text, and the most exposed word, stays itself. S_w: words that the median word is\n"
        "spread over in effect. distance, cosine: mean between word and output. words per s: on\n"
        "one thread. ~ is an estimate from the pairs; ! the target was not reached. No row is a\n"
        "proof: 'tem mechanisms' says what is proved.");
}

/* ----------------------------------------------------------------------- JSON -- */

static json_t *number_or_null(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *score_as_json(const tem_learned_score *s) {
    if (s->pairs == 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:o}", "guess", s->guess, "low", s->low, "high",
                     s->high, "self", s->self, "distance", s->distance_mean, "cosine",
                     number_or_null(s->cosine_mean));
}

static json_t *row_as_json(const comparison_table *t, const comparison_row *row) {
    const tem_effects *e = &row->effects;
    json_t *why = row->why[0] != '\0' ? json_string(row->why) : json_null();
    json_t *all = json_pack("{s:s, s:s, s:f, s:b, s:o}", "mechanism", row->properties->name,
                            "guarantee", guarantee_of(row), "wanted", row->wanted, "measured",
                            row->is_measured, "why", why);
    if (!row->is_measured || all == NULL)
        return all;
    json_t *more = json_pack(
        "{s:b, s:f, s:f, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:f}",
        "reached", row->is_reached, "epsilon", row->epsilon, "smoothing", row->smoothing, "learned",
        score_as_json(&row->score), "learned_vocabulary", score_as_json(&row->vocabulary), "by_law",
        row->is_exact, "guess", number_or_null(row->is_exact ? e->guess : NAN), "guess_vocabulary",
        number_or_null(vocabulary_of(row)), "self_median", number_or_null(e->self_median),
        "self_exposed", number_or_null(e->self_exposed), "support_median",
        number_or_null(e->support_median), "exposed", words_id_as_json(t->about->model, e->exposed),
        "sample", row->sample != NULL ? json_string(row->sample) : json_null(), "words_per_second",
        row->words_per_second, "accuracy", number_or_null(row->accuracy), "seconds", row->seconds);
    if (more == NULL || json_object_update(all, more) != 0) {
        json_decref(all);
        all = NULL;
    }
    json_decref(more);
    return all;
}

json_t *comparison_as_json(const comparison_table *t) {
    const side_by_side *c = t->about;
    json_t *rows = json_array();
    for (size_t i = 0; i < t->count; i++)
        if (json_array_append_new(rows, row_as_json(t, &t->rows[i])) != 0) {
            json_decref(rows);
            return NULL;
        }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "target", comparison_target_name(c->target),
                     "prior", t->prior_name, "pairs", (json_int_t)c->pairs, "tests",
                     (json_int_t)c->tests, "seed", (json_int_t)c->seed, "rows", rows);
}

/* -------------------------------------------------------------------- pictures -- */

enum { NAMES_MAX = 64, TARGETS_MAX = 16 };

static bool has_cosines(const comparison_table *t) {
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].is_measured && isfinite(t->rows[i].score.cosine_mean))
            return true;
    return false;
}

static double height_of(const comparison_row *row, bool cosines) {
    return cosines ? row->score.cosine_mean : row->score.distance_mean;
}

static const char *height_name(bool cosines) {
    return cosines ? "mean cosine of word and output" : "mean distance of word and output";
}

static int plot_one(const comparison_table *t, const char *path) {
    const char *names[NAMES_MAX];
    double heights[NAMES_MAX];
    char title[96];
    size_t count = 0;
    const bool cosines = has_cosines(t);
    for (size_t i = 0; i < t->count && count < NAMES_MAX; i++)
        if (t->rows[i].is_measured) {
            names[count] = t->rows[i].properties->name;
            heights[count++] = height_of(&t->rows[i], cosines);
        }
    const plot_series series = {height_name(cosines), heights, heights, heights};
    const plot_bars p = {.title = title,
                         .y_label = height_name(cosines),
                         .names = names,
                         .name_count = count,
                         .series = &series,
                         .series_count = 1};
    snprintf(title, sizeof title, "Mechanisms at %s %s", comparison_target_name(t->about->target),
             talk_number(t->rows[0].wanted));
    return plot_write_bars(path, &p);
}

/* The points of one mechanism, of all targets. */
typedef struct mechanism_points {
    double x[TARGETS_MAX], y[TARGETS_MAX];
    size_t count;
} mechanism_points;

static void take_points(const comparison_table *t, const char *name, bool cosines,
                        mechanism_points *out) {
    const side_by_side *c = t->about;
    out->count = 0;
    for (size_t i = 0; i < t->count && out->count < TARGETS_MAX; i++) {
        const comparison_row *row = &t->rows[i];
        if (!row->is_measured || strcmp(row->properties->name, name) != 0)
            continue;
        out->x[out->count] = c->target == COMPARISON_SELF ? row->score.self : row->score.guess;
        out->y[out->count++] = height_of(row, cosines);
    }
}

static int plot_several(const comparison_table *t, const char *path) {
    mechanism_points *points = calloc(NAMES_MAX, sizeof *points);
    plot_curve curves[NAMES_MAX];
    size_t count = 0;
    const bool cosines = has_cosines(t);
    if (points == NULL)
        return talk_error(&(tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"});
    for (size_t i = 0; i < rows_of_target(t, 0) && count < NAMES_MAX; i++) {
        take_points(t, t->rows[i].properties->name, cosines, &points[count]);
        if (points[count].count == 0)
            continue;
        curves[count] = (plot_curve){.label = t->rows[i].properties->name,
                                     .x = points[count].x,
                                     .y = points[count].y,
                                     .count = points[count].count};
        count++;
    }
    const plot p = {.title = "Mechanisms at equal attack",
                    .x_label = t->about->target == COMPARISON_SELF
                                   ? "share of words that stay themselves"
                                   : "success of the learned attacker",
                    .y_label = height_name(cosines),
                    .x_log = true,
                    .curves = curves,
                    .curve_count = count};
    const int status = plot_write(path, &p);
    free(points);
    return status;
}

int comparison_plot(const comparison_table *t, const char *path) {
    return rows_of_target(t, 0) == t->count ? plot_one(t, path) : plot_several(t, path);
}
