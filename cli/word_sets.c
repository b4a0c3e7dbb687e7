/* word_sets.c - the sets of words whose shares 'tem estimate' estimates. */
#include "word_sets.h"

#include "talk.h"
#include "word_file.h"
#include "words_option.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 200, CHOSEN = 20, STEPS = 10 };

static int complain(const char *path, const char *what) {
    fprintf(stderr, "tem: %s%s%s\n", path, path[0] != '\0' ? ": " : "", what);
    return EXIT_FAILED;
}

/* ---- making sets ---- */

typedef struct set_member {
    uint32_t set, word;
} set_member;

/* Sets while they grow. */
typedef struct making {
    char **names;
    uint32_t count;
    set_member *members;
    size_t member_count, member_room;
} making;

static void making_free(making *m) {
    for (uint32_t i = 0; i < m->count; i++)
        free(m->names[i]);
    free(m->names);
    free(m->members);
    *m = (making){.names = NULL};
}

static bool add_set(making *m, const char *name, size_t bytes) {
    char **names = realloc(m->names, (m->count + (size_t)1) * sizeof *names);
    if (names == NULL)
        return false;
    m->names = names;
    names[m->count] = strndup(name, bytes);
    return names[m->count] != NULL && ++m->count > 0;
}

static bool add_member(making *m, uint32_t set, uint32_t word) {
    if (m->member_count == m->member_room) {
        const size_t room = 2 * m->member_room + 64;
        set_member *more = realloc(m->members, room * sizeof *more);
        if (more == NULL)
            return false;
        m->members = more;
        m->member_room = room;
    }
    m->members[m->member_count++] = (set_member){set, word};
    return true;
}

/* Makes the matrix, and hands the sets out. */
static int finish(making *m, const tem_model *model, word_sets *out) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    double *matrix = calloc((info.words + 1) * m->count, sizeof *matrix);
    if (matrix == NULL)
        return complain("", "out of memory");
    for (size_t i = 0; i < m->member_count; i++)
        matrix[(size_t)m->members[i].word * m->count + m->members[i].set] = 1;
    *out = (word_sets){m->names, m->count, matrix};
    m->names = NULL;
    m->count = 0;
    return EXIT_DONE;
}

void word_sets_free(word_sets *s) {
    for (uint32_t i = 0; i < s->count; i++)
        free(s->names[i]);
    free(s->names);
    free(s->members);
    *s = (word_sets){.names = NULL};
}

/* ---- a lexicon ---- */

typedef struct lexicon {
    const char *path;
    const tem_model *model;
    making m;
    uint32_t unknown; /* words that the model does not have */
} lexicon;

static int find_category(lexicon *x, const char *name, size_t bytes, uint32_t *set) {
    for (uint32_t i = 0; i < x->m.count; i++)
        if (strlen(x->m.names[i]) == bytes && memcmp(x->m.names[i], name, bytes) == 0) {
            *set = i;
            return EXIT_DONE;
        }
    if (x->m.count == SETS_MAX)
        return complain(x->path, "more than 200 categories");
    *set = x->m.count;
    return add_set(&x->m, name, bytes) ? EXIT_DONE : complain("", "out of memory");
}

static int complain_line(const lexicon *x, uint64_t number, const char *what) {
    fprintf(stderr, "tem: %s: line %" PRIu64 ": %s\n", x->path, number, what);
    return EXIT_FAILED;
}

/* Finds the one word of a text. TEM_NO_WORD if the model does not have it. Refuses several: each
 * would be a member of its own, and 'not good' would count every 'not'. */
static int find_word(const lexicon *x, const char *text, uint64_t number, uint32_t *word) {
    word_ids words = {0};
    tem_error error;
    const tem_status status = words_of_line(x->model, text, &words, &error);
    if (status == TEM_ERR_MEMORY)
        return complain("", "out of memory");
    if (status != TEM_OK)
        return complain_line(x, number, "not valid UTF-8, or the word is too long");
    const uint32_t count = words.count;
    *word = words.ids[0];
    word_ids_free(&words);
    if (count == 1)
        return EXIT_DONE;
    return complain_line(x, number,
                         strpbrk(text, " \t") != NULL
                             ? "expected one word after the tab"
                             : "expected one word after the tab; tem cuts this one into several, "
                               "as it does in a text, and cannot count it as one");
}

static int take_line(lexicon *x, const char *line, uint64_t number) {
    const char *tab = strchr(line, '\t');
    uint32_t set = 0, word = TEM_NO_WORD;
    if (tab == NULL || tab == line || tab[1] == '\0')
        return complain_line(x, number, "expected a category, a tab and a word");
    int status = find_word(x, tab + 1, number, &word);
    if (status == EXIT_DONE)
        status = find_category(x, line, (size_t)(tab - line), &set);
    if (status != EXIT_DONE)
        return status;
    if (word == TEM_NO_WORD)
        x->unknown++;
    else if (!add_member(&x->m, set, word))
        return complain("", "out of memory");
    return EXIT_DONE;
}

/* Refuses a category without a word of the model: its share would be 0 whatever the text is. */
static int check_categories(const lexicon *x) {
    for (uint32_t i = 0; i < x->m.count; i++) {
        bool found = false;
        for (size_t k = 0; k < x->m.member_count && !found; k++)
            found = x->m.members[k].set == i;
        if (!found)
            return complain(x->path, "a category has no word that the vocabulary has");
    }
    return x->m.count > 0 ? EXIT_DONE : complain(x->path, "the lexicon is empty");
}

int word_sets_read_lexicon(const char *path, const tem_model *model, bool quiet, word_sets *out) {
    lexicon x = {.path = path, .model = model};
    word_file file = {0};
    tem_error error;
    if (word_file_read(path, &file, &error) != TEM_OK)
        return talk_error(&error);
    int status = EXIT_DONE;
    for (uint32_t i = 0; i < file.count && status == EXIT_DONE; i++)
        status = take_line(&x, file.words[i], file.lines[i]);
    word_file_free(&file);
    if (status == EXIT_DONE)
        status = check_categories(&x);
    if (status == EXIT_DONE)
        status = finish(&x.m, model, out);
    talk_note(quiet || status != EXIT_DONE || x.unknown == 0,
              "tem: warning: %s: tem leaves out %s word%s that the vocabulary does not have", path,
              talk_count(x.unknown), x.unknown == 1 ? "" : "s");
    making_free(&x.m);
    return status;
}

/* ---- single words ---- */

/* A set for each word. */
static int make_singles(const uint32_t *words, uint32_t count, const tem_model *model,
                        word_sets *out) {
    making m = {.names = NULL};
    bool made = true;
    for (uint32_t i = 0; i < count && made; i++) {
        size_t length = 0;
        const char *word = tem_model_word(model, words[i], &length);
        made = add_set(&m, word, length) && add_member(&m, i, words[i]);
    }
    const int status = made ? finish(&m, model, out) : complain("", "out of memory");
    making_free(&m);
    return status;
}

int word_sets_read_words(const char *path, const tem_model *model, bool quiet, word_sets *out) {
    word_ids words = {0};
    int status = words_option_read(path, model, quiet, &words);
    if (status == EXIT_DONE)
        status = words.count > SETS_MAX ? complain(path, "more than 200 words")
                                        : make_singles(words.ids, words.count, model, out);
    word_ids_free(&words);
    return status;
}

/* ---- words chosen by tem ---- */

/* Estimates the shares of all inputs: a column per group and, if there are several groups, a column
 * for all of them together. */
static tem_status estimate_shares(const tem_channel *channel, const law *l, const released *r,
                                  const tem_run *run, double *shares, tem_error *error) {
    const uint32_t words = tem_channel_outputs(channel), groups = r->count;
    const uint32_t columns = groups == 1 ? 1 : groups + 1;
    tem_deconvolution how = {.steps = STEPS};
    double *counts = released_matrix(r, words, columns);
    if (counts == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return TEM_ERR_MEMORY;
    }
    for (uint32_t w = 0; w < words && groups > 1; w++)
        for (uint32_t g = 0; g < groups; g++)
            counts[(size_t)w * columns + groups] += r->groups[g].counts[w];
    const tem_status status = tem_channel_deconvolve(channel, &l->expected, counts, NULL, columns,
                                                     run, &how, shares, error);
    free(counts);
    return status;
}

static double score_of(const double *shares, uint32_t groups, double compared) {
    double best = 0;
    for (uint32_t g = 0; g < groups; g++)
        if (shares[g] > 0 && compared > 0)
            best = fmax(best, shares[g] * log(shares[g] / compared));
    return best;
}

/* Puts the words with the largest scores into `best`. Returns how many, at most CHOSEN. */
static uint32_t take_best(const double *scores, uint32_t words, uint32_t best[CHOSEN]) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++) {
        if (!(scores[w] > 0) || (count == CHOSEN && scores[w] <= scores[best[CHOSEN - 1]]))
            continue;
        uint32_t at = count < CHOSEN ? count++ : CHOSEN - 1;
        for (; at > 0 && scores[best[at - 1]] < scores[w]; at--)
            best[at] = best[at - 1];
        best[at] = w;
    }
    return count;
}

static int choose_from(const law *l, const released *r, const double *shares,
                       const double *expected, word_sets *out) {
    const uint32_t words = (uint32_t)l->model_info.words, groups = r->count;
    const uint32_t columns = groups == 1 ? 1 : groups + 1;
    uint32_t best[CHOSEN];
    double *scores = calloc(words, sizeof *scores);
    if (scores == NULL)
        return complain("", "out of memory");
    for (uint32_t w = 0; w < words; w++) {
        const double *row = shares + (size_t)w * columns;
        if (law_outputs(l, w))
            scores[w] = score_of(row, groups, groups == 1 ? expected[w] : row[groups]);
    }
    const uint32_t count = take_best(scores, words, best);
    free(scores);
    if (count == 0)
        return complain("", "no word is more frequent than expected; name words with --words");
    return make_singles(best, count, l->model, out);
}

int word_sets_choose(const tem_channel *channel, const law *l, const released *r,
                     const tem_run *run, word_sets *out) {
    const size_t inputs = tem_channel_inputs(channel);
    double *shares = calloc(inputs * (r->count + (size_t)1), sizeof *shares);
    double *expected = calloc(inputs, sizeof *expected);
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    tem_status status = TEM_ERR_MEMORY;
    if (shares != NULL && expected != NULL)
        status = tem_channel_expect(channel, &l->expected, expected, &error);
    if (status == TEM_OK)
        status = estimate_shares(channel, l, r, run, shares, &error);
    talk_end_progress();
    const int result =
        status == TEM_OK ? choose_from(l, r, shares, expected, out) : talk_error(&error);
    free(expected);
    free(shares);
    return result;
}
