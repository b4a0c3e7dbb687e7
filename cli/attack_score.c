/* attack_score.c - how many words an attacker recovers. */
#include "attack_score.h"

#include "talk.h"
#include "words_option.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

static const struct {
    const char *name;
    uint32_t first, end; /* ranks, from 0 */
} bands[] = {
    {"rank 1-100", 0, 100},
    {"rank 101-1000", 100, 1000},
    {"rank 1001-10000", 1000, 10000},
    {"rank 10001-", 10000, UINT32_MAX},
};
enum { BANDS = sizeof bands / sizeof *bands };

/* Adds an empty group. Returns its members; NULL: no memory. */
static bool *add_group(score_groups *g, const char *name, size_t bytes, uint32_t words) {
    char **names = realloc(g->names, (g->count + (size_t)1) * sizeof *names);
    if (names != NULL)
        g->names = names;
    bool **members = realloc(g->members, (g->count + (size_t)1) * sizeof *members);
    if (members != NULL)
        g->members = members;
    char *copy = calloc(bytes + 1, 1);
    bool *of = calloc(words, sizeof *of);
    if (names == NULL || members == NULL || copy == NULL || of == NULL) {
        free(copy);
        free(of);
        return NULL;
    }
    memcpy(copy, name, bytes);
    g->names[g->count] = copy;
    g->members[g->count++] = of;
    return of;
}

typedef struct ranked_word {
    double share;
    uint32_t id;
} ranked_word;

static int compare_ranked(const void *a, const void *b) {
    const ranked_word *x = a, *y = b;
    if (x->share > y->share || x->share < y->share)
        return x->share > y->share ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool add_bands(score_groups *g, const double *shares, uint32_t words) {
    ranked_word *ranked = calloc(words, sizeof *ranked);
    bool done = ranked != NULL;
    for (uint32_t w = 0; done && w < words; w++)
        ranked[w] = (ranked_word){shares[w], w};
    if (done)
        qsort(ranked, words, sizeof *ranked, compare_ranked);
    for (int b = 0; done && b < BANDS && bands[b].first < words; b++) {
        bool *members = add_group(g, bands[b].name, strlen(bands[b].name), words);
        done = members != NULL;
        for (uint32_t r = bands[b].first; done && r < words && r < bands[b].end; r++)
            members[ranked[r].id] = true;
    }
    free(ranked);
    return done;
}

static bool add_numbers(score_groups *g, const tem_model *model, uint32_t words) {
    bool *members = add_group(g, "numbers", strlen("numbers"), words);
    for (uint32_t w = 0; members != NULL && w < words; w++) {
        size_t length = 0;
        const char *word = tem_model_word(model, w, &length);
        for (size_t i = 0; i < length; i++)
            members[w] |= word[i] >= '0' && word[i] <= '9';
    }
    return members != NULL;
}

static int complain_memory(void) {
    const tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    return talk_error(&error);
}

/* Adds the group NAME=FILE. The caller has checked this form. */
static int add_list(const tem_model *model, const char *value, uint32_t words, bool quiet,
                    score_groups *g) {
    const char *equals = strchr(value, '=');
    word_ids ids = {0};
    int status = words_option_read(equals + 1, model, quiet, &ids);
    if (status != EXIT_DONE)
        return status;
    bool *members = add_group(g, value, (size_t)(equals - value), words);
    for (uint32_t i = 0; members != NULL && i < ids.count; i++)
        members[ids.ids[i]] = true;
    word_ids_free(&ids);
    return members != NULL ? EXIT_DONE : complain_memory();
}

int score_groups_make(const tem_model *model, const double *shares, uint32_t words,
                      const option_list *lists, bool quiet, score_groups *out) {
    bool *all = add_group(out, "all", strlen("all"), words);
    if (all == NULL || !add_bands(out, shares, words) || !add_numbers(out, model, words))
        return complain_memory();
    memset(all, 1, words * sizeof *all);
    int status = EXIT_DONE;
    for (size_t i = 0; status == EXIT_DONE && i < lists->count; i++)
        status = add_list(model, lists->items[i].value, words, quiet, out);
    return status;
}

void score_groups_free(score_groups *groups) {
    for (uint32_t i = 0; i < groups->count; i++) {
        free(groups->names[i]);
        free(groups->members[i]);
    }
    free(groups->names);
    free(groups->members);
    *groups = (score_groups){.names = NULL};
}

/* ---- counting ---- */

typedef struct recovery {
    uint64_t words, recovered;
    double share, low, high;
} recovery;

static recovery count_group(const attack_text *text, const bool *members, const uint32_t *guesses) {
    recovery r = {0};
    for (uint64_t i = 0; i < attack_text_words(text); i++) {
        const uint32_t original = text->originals[i];
        if (original == TEM_NO_WORD || !members[original])
            continue;
        r.words++;
        r.recovered += guesses[i] == original;
    }
    r.share = r.words == 0 ? NAN : (double)r.recovered / (double)r.words;
    tem_wilson_interval(r.recovered, r.words, &r.low, &r.high, NULL);
    return r;
}

enum { CELL = 13 };

/* The share in percent, and the larger half of its interval. */
static void print_share(const recovery *r) {
    char cell[32] = "-";
    if (r->words > 0)
        snprintf(cell, sizeof cell, "%.1f +-%.1f", 100 * r->share,
                 100 * fmax(r->high - r->share, r->share - r->low));
    printf("%*s", CELL, cell);
}

static void print_expected(double expected) {
    char cell[32] = "-";
    if (!isnan(expected))
        snprintf(cell, sizeof cell, "%.1f", 100 * expected);
    printf("%*s", CELL, cell);
}

/* Without an original: what attackers expect to recover. */
static void print_expectations(const attack_text *text, const attack_score *scores,
                               uint32_t count) {
    printf("%-9s %8s%*s\n", "attacker", "words", CELL, "expected, %");
    for (uint32_t i = 0; i < count; i++) {
        printf("%-9s %8" PRIu64, scores[i].attacker, attack_text_words(text));
        print_expected(scores[i].expected);
        putchar('\n');
    }
}

static int name_width(const score_groups *groups) {
    size_t width = strlen("expected");
    for (uint32_t g = 0; g < groups->count; g++)
        width = strlen(groups->names[g]) > width ? strlen(groups->names[g]) : width;
    return (int)width;
}

void score_print(const attack_text *text, const score_groups *groups, const attack_score *scores,
                 uint32_t count) {
    if (text->originals == NULL) {
        print_expectations(text, scores, count);
        return;
    }
    const int width = name_width(groups);
    printf("%-*s %8s", width, "group", "words");
    for (uint32_t i = 0; i < count; i++)
        printf("%*s", CELL, scores[i].attacker);
    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t i = 0; i < count; i++) {
            const recovery r = count_group(text, groups->members[g], scores[i].guesses);
            if (i == 0)
                printf("\n%-*s %8" PRIu64, width, groups->names[g], r.words);
            print_share(&r);
        }
    printf("\n%-*s %8s", width, "expected", "");
    for (uint32_t i = 0; i < count; i++)
        print_expected(scores[i].expected);
    putchar('\n');
}

static json_t *number_as_json(double number) {
    return isnan(number) ? json_null() : json_real(number);
}

json_t *score_as_json(const attack_text *text, const score_groups *groups,
                      const attack_score *score) {
    json_t *rows = json_array();
    for (uint32_t g = 0; text->originals != NULL && g < groups->count; g++) {
        const recovery r = count_group(text, groups->members[g], score->guesses);
        json_array_append_new(
            rows, json_pack("{s:s, s:I, s:I, s:o, s:f, s:f}", "group", groups->names[g], "words",
                            (json_int_t)r.words, "recovered", (json_int_t)r.recovered, "share",
                            number_as_json(r.share), "low", r.low, "high", r.high));
    }
    return json_pack("{s:s, s:o, s:o}", "attacker", score->attacker, "expected",
                     number_as_json(score->expected), "groups", rows);
}
