/* released.c - counts the words of released text by group. */
#include "released.h"

#include "talk.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 1000 };

static const double FOREIGN_MAX = 0.01; /* share of words that the mechanism never outputs */

typedef struct word_counting {
    const law *l;
    released *r;
    uint32_t last; /* the group of the record before: records often come in order */
} word_counting;

static tem_status fail(tem_error *error, tem_status status, const char *message) {
    *error = (tem_error){.status = status};
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

/* ---- groups ---- */

static bool is_named(const released_group *g, const char *name, size_t bytes) {
    return g->name_bytes == bytes && (bytes == 0 || memcmp(g->name, name, bytes) == 0);
}

static tem_status add_group(word_counting *c, const char *name, size_t bytes, tem_error *error) {
    released *r = c->r;
    if (r->count == GROUPS_MAX)
        return fail(error, TEM_ERR_FORMAT,
                    "more than 1,000 different groups: is that the right field?");
    released_group *more = realloc(r->groups, (r->count + (size_t)1) * sizeof *more);
    if (more == NULL)
        return fail(error, TEM_ERR_MEMORY, "out of memory");
    r->groups = more;
    released_group g = {.name = calloc(bytes + 1, 1),
                        .name_bytes = bytes,
                        .counts = calloc(c->l->model_info.words, sizeof *g.counts)};
    if (g.name == NULL || g.counts == NULL) {
        free(g.name);
        free(g.counts);
        return fail(error, TEM_ERR_MEMORY, "out of memory");
    }
    if (bytes > 0)
        memcpy(g.name, name, bytes);
    c->last = r->count;
    r->groups[r->count++] = g;
    return TEM_OK;
}

/* Sets c->last to the group with this name. */
static tem_status find_group(word_counting *c, const char *name, size_t bytes, tem_error *error) {
    if (c->last < c->r->count && is_named(&c->r->groups[c->last], name, bytes))
        return TEM_OK;
    for (uint32_t i = 0; i < c->r->count; i++)
        if (is_named(&c->r->groups[i], name, bytes)) {
            c->last = i;
            return TEM_OK;
        }
    return add_group(c, name, bytes, error);
}

/* ---- words ---- */

bool released_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* Whether a piece of text has no letter and no digit. */
static tem_status is_punctuation(const tem_model *model, const char *word, size_t length,
                                 bool *result, tem_error *error) {
    size_t count = 0;
    const tem_status status = tem_model_pieces(model, word, length, NULL, 0, &count, error);
    *result = count == 0;
    return status;
}

tem_status released_classify(const law *l, const char *word, size_t length, released_word *out,
                             tem_error *error) {
    const uint32_t id = tem_model_find(l->model, word, length);
    const bool is_output = id != TEM_NO_WORD && law_outputs(l, id);
    bool punctuation = false;
    if (!is_output || l->report.keeps_punctuation) {
        const tem_status status = is_punctuation(l->model, word, length, &punctuation, error);
        if (status == TEM_ERR_FORMAT || status == TEM_ERR_RANGE)
            return fail(error, TEM_ERR_FORMAT,
                        "the text is not valid UTF-8, or a word is too long");
        if (status != TEM_OK)
            return status;
    }
    const bool masked = length == 5 && memcmp(word, "<unk>", 5) == 0;
    const bool kept = id == TEM_NO_WORD && l->report.keeps_unknown;
    *out = (released_word){.id = id,
                           .kind = is_output && !punctuation ? RELEASED_WORD
                                   : masked                  ? RELEASED_UNKNOWN
                                   : punctuation             ? RELEASED_PUNCTUATION
                                   : kept                    ? RELEASED_UNKNOWN
                                                             : RELEASED_FOREIGN};
    return TEM_OK;
}

static tem_status count_word(word_counting *c, const char *word, size_t length, tem_error *error) {
    released_word found;
    const tem_status status = released_classify(c->l, word, length, &found, error);
    if (status != TEM_OK)
        return status;
    released_group *g = &c->r->groups[c->last];
    if (found.kind == RELEASED_WORD) {
        g->counts[found.id]++;
        g->words++;
        c->r->words++;
    } else if (found.kind == RELEASED_FOREIGN) {
        c->r->foreign++;
    } else {
        c->r->skipped++;
    }
    return TEM_OK;
}

static tem_status take_record(void *context, const char *text, size_t bytes, const char *group,
                              size_t group_bytes, tem_error *error) {
    word_counting *c = context;
    tem_status status = find_group(c, group, group_bytes, error);
    if (status == TEM_OK)
        c->r->groups[c->last].documents++;
    for (size_t at = 0; at < bytes && status == TEM_OK;) {
        size_t end = at;
        while (end < bytes && !released_is_blank(text[end]))
            end++;
        if (end > at)
            status = count_word(c, text + at, end - at, error);
        at = end + 1;
    }
    return status;
}

/* ---- the file ---- */

/* Moves groups without words behind the others, and forgets them. */
static void leave_out_empty(released *r) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->groups[i].words > 0) {
            r->groups[kept++] = r->groups[i];
        } else {
            free(r->groups[i].name);
            free(r->groups[i].counts);
            r->empty++;
        }
    r->count = kept;
}

int released_check(const char *path, uint64_t words, uint64_t foreign) {
    path = strcmp(path, "-") == 0 ? "standard input" : path;
    const double all = (double)(words + foreign);
    if (all > 0 && (double)foreign > FOREIGN_MAX * all) {
        fprintf(stderr,
                "tem: %s: this mechanism never outputs %.1f %% of the words. Is this the text that "
                "'tem privatize' released with this model, or is it the original?\n",
                path, 100 * (double)foreign / all);
        return EXIT_FAILED;
    }
    if (words == 0) {
        fprintf(stderr, "tem: %s: no released word is in it\n", path);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int released_read(const tem_records *records, const law *l, const tem_run *run, released *out) {
    released r = {.groups = NULL};
    word_counting c = {.l = l, .r = &r};
    tem_error error;
    const tem_status read = tem_records_read(records, take_record, &c, run, &error);
    talk_end_progress();
    int status =
        read == TEM_OK ? released_check(records->path, r.words, r.foreign) : talk_error(&error);
    if (status == EXIT_DONE) {
        leave_out_empty(&r);
        *out = r;
    } else {
        released_free(&r);
    }
    return status;
}

void released_free(released *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        free(r->groups[i].name);
        free(r->groups[i].counts);
    }
    free(r->groups);
    *r = (released){.groups = NULL};
}

double *released_matrix(const released *r, uint32_t words, uint32_t columns) {
    double *matrix = calloc((size_t)words * columns, sizeof *matrix);
    for (uint32_t g = 0; g < r->count && matrix != NULL; g++)
        for (uint32_t w = 0; w < words; w++)
            matrix[(size_t)w * columns + g] = r->groups[g].counts[w];
    return matrix;
}
