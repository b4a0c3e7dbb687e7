/* text_vectors.c - word vectors from a public text, by latent semantic analysis. */
#include "learn/text_vectors.h"

#include "audit/public_text.h"
#include "core/memory.h"
#include "core/status.h"
#include "learn/singular.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

/* The most pairs of a document and a word in it. They take 12 bytes each, 12 GiB in all. 50,000
 * film reviews have 7 million. */
#define ENTRIES_MOST ((uint64_t)1 << 30)

/* While the text is read, an entry's value is the number of times that its word occurs in its
 * document. */
typedef struct reading {
    public_text text;
    sparse scores; /* a row per document, a column per word */
    uint64_t rows_room, entries_room;
    uint32_t *counts;     /* per word: how often it occurs in this document */
    uint32_t *documents;  /* per word: how many documents have it */
    uint32_t *found;      /* the words of this document, each once */
    uint32_t found_count; /* at most the number of words of the model */
} reading;

static void note_word(void *context, uint32_t id) {
    reading *r = context;
    if (id == TEM_NO_WORD)
        return;
    if (r->counts[id]++ == 0)
        r->found[r->found_count++] = id;
}

/* Makes room for `count` numbers of `size` bytes each. */
static bool grow(void *array, uint64_t count, size_t size) {
    void **block = array, *grown = core_resize(*block, count * size);
    if (grown != NULL)
        *block = grown;
    return grown != NULL;
}

static bool make_room(reading *r, uint64_t rows, uint64_t entries) {
    if (rows >= r->rows_room) {
        if (!grow(&r->scores.starts, r->rows_room * 2 + 1, sizeof *r->scores.starts))
            return false;
        r->rows_room *= 2;
    }
    if (entries > r->entries_room) {
        const uint64_t room = entries + r->entries_room;
        if (!grow(&r->scores.ids, room, sizeof *r->scores.ids) ||
            !grow(&r->scores.values, room, sizeof *r->scores.values))
            return false;
        r->entries_room = room;
    }
    return true;
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Adds a row for the document that was read, if it has a known word. */
static tem_status end_document(reading *r, tem_error *error) {
    sparse *m = &r->scores;
    const uint64_t start = m->starts[m->rows], end = start + r->found_count;
    if (r->found_count == 0)
        return TEM_OK;
    if (end > ENTRIES_MOST || m->rows == UINT32_MAX - 1)
        return core_fail_at(error, TEM_ERR_RANGE, r->text.path, r->text.line, 0,
                            "the text is too large to make vectors from");
    if (!make_room(r, m->rows + (uint64_t)1, end))
        return core_fail_memory(error);
    qsort(r->found, r->found_count, sizeof *r->found, compare_ids);
    for (uint32_t i = 0; i < r->found_count; i++) {
        const uint32_t id = r->found[i];
        m->ids[start + i] = id;
        m->values[start + i] = r->counts[id];
        r->counts[id] = 0;
        r->documents[id]++;
    }
    m->starts[++m->rows] = end;
    r->found_count = 0;
    return TEM_OK;
}

static tem_status read_documents(reading *r, tem_error *error) {
    const char *line = NULL;
    size_t bytes = 0;
    tem_status status = TEM_OK;
    while (status == TEM_OK && public_text_line(&r->text, &line, &bytes)) {
        status = public_text_words(&r->text, line, bytes, note_word, r, error);
        if (status == TEM_OK)
            status = end_document(r, error);
    }
    return status;
}

/* ln(documents / (documents with the word + 1)), at least 0.1. */
static double rarity(const reading *r, uint32_t word) {
    return fmax(log((double)r->scores.rows / (r->documents[word] + 1.0)), 0.1);
}

/* Turns counts into scores. */
static void score(reading *r, const double *rarities) {
    sparse *m = &r->scores;
    for (uint32_t d = 0; d < m->rows; d++) {
        double words = 0;
        for (uint64_t i = m->starts[d]; i < m->starts[d + 1]; i++)
            words += m->values[i];
        for (uint64_t i = m->starts[d]; i < m->starts[d + 1]; i++)
            m->values[i] = sqrt(m->values[i] / words) * rarities[m->ids[i]];
    }
}

/* Multiplies row w by rarities[w], and makes the entry of largest size of each column positive. */
static void finish(double *out, uint32_t words, uint32_t columns, const double *rarities) {
    for (uint32_t i = 0; i < columns; i++) {
        double largest = 0;
        for (size_t w = 0; w < words; w++) {
            double *x = &out[w * columns + i];
            *x *= rarities[w];
            if (fabs(*x) > fabs(largest))
                largest = *x;
        }
        for (size_t w = 0; w < words && largest < 0; w++)
            out[w * columns + i] = -out[w * columns + i];
    }
}

static tem_status make_vectors(reading *r, uint32_t columns, const tem_run *run, double *out,
                               tem_error *error) {
    const uint32_t words = r->scores.columns;
    double *rarities = core_alloc(words, sizeof *rarities);
    if (rarities == NULL)
        return core_fail_memory(error);
    for (uint32_t w = 0; w < words; w++)
        rarities[w] = rarity(r, w);
    score(r, rarities);
    const tem_status status = singular_vectors(&r->scores, columns, run, out, error);
    if (status == TEM_OK)
        finish(out, words, columns, rarities);
    core_free(rarities);
    return status;
}

static tem_status begin_reading(reading *r, tem_error *error) {
    enum { ROWS_FIRST = 1024, ENTRIES_FIRST = 1 << 16 };
    const uint32_t words = r->scores.columns;
    r->rows_room = ROWS_FIRST;
    r->entries_room = ENTRIES_FIRST;
    r->scores.starts = core_alloc_zero(ROWS_FIRST + 1, sizeof *r->scores.starts);
    r->scores.ids = core_alloc(ENTRIES_FIRST, sizeof *r->scores.ids);
    r->scores.values = core_alloc(ENTRIES_FIRST, sizeof *r->scores.values);
    r->counts = core_alloc_zero(words, sizeof *r->counts);
    r->documents = core_alloc_zero(words, sizeof *r->documents);
    r->found = core_alloc(words, sizeof *r->found);
    return r->scores.starts == NULL || r->scores.ids == NULL || r->scores.values == NULL ||
                   r->counts == NULL || r->documents == NULL || r->found == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

static tem_status check_size(const reading *r, uint32_t columns, tem_error *error) {
    if (r->scores.rows == 0)
        return core_fail_at(error, TEM_ERR_FORMAT, r->text.path, 0, 0,
                            "no word of it is in the model's vocabulary");
    if (r->scores.rows < columns)
        return core_fail_at(error, TEM_ERR_FORMAT, r->text.path, 0, 0,
                            "%u documents do not suffice for %u columns", r->scores.rows, columns);
    return TEM_OK;
}

tem_status text_vectors(const tem_model *model, const char *path, uint32_t columns,
                        const tem_run *run, double *out, tem_error *error) {
    reading r = {.scores.columns = model->words.count};
    TRY(public_text_open(&r.text, model, path, run, "reading the public text", error));
    tem_status status = begin_reading(&r, error);
    if (status == TEM_OK)
        status = read_documents(&r, error);
    if (status == TEM_OK)
        status = check_size(&r, columns, error);
    public_text_close(&r.text);
    if (status == TEM_OK)
        status = make_vectors(&r, columns, run, out, error);
    sparse_free(&r.scores);
    core_free(r.counts);
    core_free(r.documents);
    core_free(r.found);
    return status;
}
