/* corpus.c - labeled documents as word ids of a model. */
#include "corpus.h"

#include "failure.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Makes room for `more` elements of `size` bytes after `count`; false if memory is short. */
static bool reserve(void **array, uint64_t *capacity, uint64_t count, uint64_t more, size_t size) {
    if (count + more <= *capacity)
        return true;
    const uint64_t wanted = 2 * (count + more) + 64;
    void *grown = wanted < UINT64_MAX / 64 ? realloc(*array, wanted * size) : NULL;
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static bool reserve_document(corpus *c) {
    if (c->starts != NULL && c->count < c->capacity)
        return true;
    const uint32_t wanted = 2 * c->count + 64;
    uint64_t *starts = realloc(c->starts, (wanted + (size_t)1) * sizeof *starts);
    if (starts != NULL)
        c->starts = starts;
    uint32_t *labels = realloc(c->labels, wanted * sizeof *labels);
    if (labels != NULL)
        c->labels = labels;
    if (starts == NULL || labels == NULL)
        return false;
    c->starts[0] = 0;
    c->capacity = wanted;
    return true;
}

/* Length of an HTML line break (<br>, <br/>, <br />) at the start of text, or 0. */
static size_t line_break(const char *text, size_t bytes) {
    static const char *const forms[] = {"<br>", "<br/>", "<br />"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const size_t length = strlen(forms[i]);
        if (bytes >= length && strncasecmp(text, forms[i], length) == 0)
            return length;
    }
    return 0;
}

char *corpus_without_breaks(const char *text, size_t bytes, size_t *length) {
    char *copy = malloc(bytes + 1);
    *length = 0;
    for (size_t i = 0; copy != NULL && i < bytes;) {
        const size_t skipped = text[i] == '<' ? line_break(text + i, bytes - i) : 0;
        copy[(*length)++] = skipped > 0 ? ' ' : text[i];
        i += skipped > 0 ? skipped : 1;
    }
    return copy;
}

/* Appends the words of the text, then drops those that the model does not have. */
static tem_status add_words(corpus *c, const tem_model *model, const char *text, size_t bytes,
                            tem_error *error) {
    const uint64_t start = c->starts[c->count];
    const uint64_t most = bytes + 1; /* no text has more pieces than bytes */
    if (!reserve((void **)&c->words, &c->word_capacity, start, most, sizeof *c->words))
        return eval_out_of_memory(error);
    size_t found = 0;
    uint32_t *words = c->words + start;
    const tem_status status =
        tem_model_pieces(model, text, bytes, words, (size_t)most, &found, error);
    if (status != TEM_OK)
        return status;
    uint64_t kept = 0;
    for (size_t i = 0; i < found; i++)
        if (words[i] != TEM_NO_WORD)
            words[kept++] = words[i];
    c->left_out += found - kept;
    c->starts[c->count + 1] = start + kept;
    return TEM_OK;
}

tem_status corpus_add(corpus *c, const tem_model *model, const char *text, size_t bytes,
                      uint32_t label, tem_error *error) {
    size_t length = 0;
    char *copy = corpus_without_breaks(text, bytes, &length);
    tem_status status = TEM_ERR_MEMORY;
    if (copy == NULL || !reserve_document(c))
        eval_out_of_memory(error);
    else
        status = add_words(c, model, copy, length, error);
    free(copy);
    if (status == TEM_OK)
        c->labels[c->count++] = label;
    return status;
}

tem_status corpus_choose(const corpus *c, const uint32_t *chosen, uint32_t count, corpus *out,
                         tem_error *error) {
    corpus made = {.count = count, .capacity = count};
    for (uint32_t i = 0; i < count; i++)
        made.word_capacity += c->starts[chosen[i] + 1] - c->starts[chosen[i]];
    made.starts = malloc((count + (size_t)1) * sizeof *made.starts);
    made.labels = malloc((count + (size_t)1) * sizeof *made.labels);
    made.words = malloc((made.word_capacity + 1) * sizeof *made.words);
    if (made.starts == NULL || made.labels == NULL || made.words == NULL) {
        corpus_free(&made);
        return eval_out_of_memory(error);
    }
    made.starts[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = c->starts[chosen[i]], length = c->starts[chosen[i] + 1] - from;
        memcpy(made.words + made.starts[i], c->words + from, length * sizeof *c->words);
        made.starts[i + 1] = made.starts[i] + length;
        made.labels[i] = c->labels[chosen[i]];
    }
    *out = made;
    return TEM_OK;
}

tem_status corpus_copy(const corpus *c, corpus *out, tem_error *error) {
    uint32_t *all = malloc((c->count + (size_t)1) * sizeof *all);
    if (all == NULL)
        return eval_out_of_memory(error);
    for (uint32_t i = 0; i < c->count; i++)
        all[i] = i;
    const tem_status status = corpus_choose(c, all, c->count, out, error);
    free(all);
    return status;
}

/* Collects the documents of a class, in random order; returns their number. */
static uint32_t shuffled_class(const corpus *c, uint32_t label, chance *numbers, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->labels[i] == label)
            out[count++] = i;
    chance_shuffle(numbers, out, count);
    return count;
}

tem_status corpus_halve(const corpus *c, uint32_t classes, uint64_t seed, corpus halves[2],
                        tem_error *error) {
    chance numbers = {seed};
    uint32_t sizes[2] = {0, 0};
    uint32_t *members[2] = {malloc((c->count + (size_t)1) * sizeof **members),
                            malloc((c->count + (size_t)1) * sizeof **members)};
    uint32_t *class = malloc((c->count + (size_t)1) * sizeof *class);
    tem_status status = TEM_OK;
    if (members[0] == NULL || members[1] == NULL || class == NULL)
        status = eval_out_of_memory(error);
    for (uint32_t label = 0; label < classes && status == TEM_OK; label++) {
        const uint32_t count = shuffled_class(c, label, &numbers, class);
        for (uint32_t i = 0; i < count; i++) {
            const int half = i >= count / 2;
            members[half][sizes[half]++] = class[i];
        }
    }
    corpus made[2] = {{0}, {0}};
    for (int half = 0; half < 2 && status == TEM_OK; half++)
        status = corpus_choose(c, members[half], sizes[half], &made[half], error);
    if (status == TEM_OK)
        memcpy(halves, made, sizeof made);
    else
        corpus_free(&made[0]);
    free(members[0]);
    free(members[1]);
    free(class);
    return status;
}

static void digest(chance *state, uint64_t number) {
    state->state = chance_next(state) ^ number;
}

uint64_t corpus_digest(const corpus *c) {
    chance state = {c->count};
    for (uint32_t i = 0; i < c->count; i++) {
        digest(&state, c->labels[i]);
        digest(&state, c->starts[i + 1] - c->starts[i]);
        for (uint64_t k = c->starts[i]; k < c->starts[i + 1]; k++)
            digest(&state, c->words[k]);
    }
    return chance_next(&state);
}

uint64_t corpus_words(const corpus *c) {
    return c->count > 0 ? c->starts[c->count] : 0;
}

void corpus_free(corpus *c) {
    free(c->starts);
    free(c->labels);
    free(c->words);
    *c = (corpus){0};
}

static int compare_words(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Merges equal words among the last `length` words of b, which are sorted; returns the number
 * left. */
static uint64_t join_equal(bags *b, uint64_t start, uint64_t length) {
    uint64_t kept = start;
    for (uint64_t i = start, next; i < start + length; i = next) {
        for (next = i + 1; next < start + length && b->words[next] == b->words[i];)
            next++;
        b->words[kept] = b->words[i];
        b->shares[kept++] = (float)(next - i) / (float)length;
    }
    return kept;
}

tem_status bags_create(const corpus *c, bags *b, tem_error *error) {
    const uint64_t words = corpus_words(c);
    bags made = {.count = c->count, .labels = c->labels};
    made.starts = malloc((c->count + (size_t)1) * sizeof *made.starts);
    made.words = malloc((words + 1) * sizeof *made.words);
    made.shares = malloc((words + 1) * sizeof *made.shares);
    if (made.starts == NULL || made.words == NULL || made.shares == NULL) {
        bags_free(&made);
        return eval_out_of_memory(error);
    }
    made.starts[0] = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint64_t length = c->starts[i + 1] - c->starts[i], start = made.starts[i];
        memcpy(made.words + start, c->words + c->starts[i], length * sizeof *made.words);
        qsort(made.words + start, length, sizeof *made.words, compare_words);
        made.starts[i + 1] = join_equal(&made, start, length);
    }
    *b = made;
    return TEM_OK;
}

void bags_free(bags *b) {
    free(b->starts);
    free(b->words);
    free(b->shares);
    *b = (bags){0};
}
