/* fold_vectors.c - vectors whose words are folded as text is. */
#include "audit/fold_vectors.h"

#include "core/memory.h"
#include "core/status.h"
#include "text/pieces.h"

#include <stdlib.h>
#include <string.h>

/* A folded word, and the row that it comes from. */
typedef struct folded_word {
    size_t start; /* in the bytes of all folded words, each with NUL after it */
    uint32_t row;
} folded_word;

typedef struct folding {
    const tem_vectors *from;
    core_buffer bytes;
    folded_word *words; /* one per row */
    const char **kept;  /* the words that stay, in the order of their rows */
    float *values;
    uint32_t count; /* of them */
} folding;

static uint32_t find_nothing(const void *vocabulary, const char *word, size_t length) {
    (void)vocabulary, (void)word, (void)length;
    return TEM_NO_WORD;
}

static tem_status fold_words(folding *f, text_pieces *pieces, tem_error *error) {
    for (uint32_t row = 0; row < f->from->words.count; row++) {
        size_t length = 0;
        const char *word = vocab_word(&f->from->words, row, &length);
        const tem_status status = text_pieces_cut(pieces, word, length, error);
        if (status != TEM_OK)
            return status;
        f->words[row] = (folded_word){f->bytes.size, row};
        if (!core_buffer_add(&f->bytes, pieces->text.data, pieces->text.size) ||
            !core_buffer_add(&f->bytes, "", 1))
            return core_fail_memory(error);
    }
    return TEM_OK;
}

static int compare_words(const void *a, const void *b, void *bytes) {
    const folded_word *first = a, *second = b;
    const int order =
        strcmp((const char *)bytes + first->start, (const char *)bytes + second->start);
    return order != 0 ? order : (first->row > second->row) - (first->row < second->row);
}

/* Sorts the words, and notes for each row the start of its word, or SIZE_MAX if an earlier row has
 * the same word. */
static void mark_repeated(folding *f, size_t *starts) {
    const uint32_t rows = f->from->words.count;
    qsort_r(f->words, rows, sizeof *f->words, compare_words, f->bytes.data);
    for (uint32_t i = 0; i < rows; i++) {
        const bool repeats = i > 0 && strcmp(f->bytes.data + f->words[i].start,
                                             f->bytes.data + f->words[i - 1].start) == 0;
        starts[f->words[i].row] = repeats ? SIZE_MAX : f->words[i].start;
    }
}

static void take_rows(folding *f, const size_t *starts) {
    const size_t dimension = f->from->dimension;
    for (uint32_t row = 0; row < f->from->words.count; row++) {
        if (starts[row] == SIZE_MAX)
            continue;
        f->kept[f->count] = f->bytes.data + starts[row];
        memcpy(f->values + f->count++ * dimension, f->from->values + row * dimension,
               dimension * sizeof *f->values);
    }
}

static tem_status fold(folding *f, size_t *starts, tem_vectors **folded, tem_error *error) {
    text_pieces pieces;
    text_pieces_init(&pieces, find_nothing, NULL);
    tem_status status = fold_words(f, &pieces, error);
    text_pieces_free(&pieces);
    if (status != TEM_OK)
        return status;
    mark_repeated(f, starts);
    take_rows(f, starts);
    return vectors_create(f->kept, f->values, f->count, f->from->dimension, folded, error);
}

tem_status fold_vectors(const tem_vectors *vectors, tem_vectors **folded, uint32_t *left_out,
                        tem_error *error) {
    const uint32_t rows = vectors->words.count;
    if (vectors->values == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "these vectors are on the grid, as the file has them: fold the words of "
                         "the original vectors");
    folding f = {.from = vectors,
                 .words = core_alloc(rows, sizeof *f.words),
                 .kept = core_alloc(rows, sizeof *f.kept),
                 .values = core_alloc((size_t)rows * vectors->dimension, sizeof *f.values)};
    size_t *starts = core_alloc(rows, sizeof *starts);
    tem_status status = f.words == NULL || f.kept == NULL || f.values == NULL || starts == NULL
                            ? core_fail_memory(error)
                            : fold(&f, starts, folded, error);
    if (status == TEM_OK && left_out != NULL)
        *left_out = rows - f.count;
    core_buffer_free(&f.bytes);
    core_free(f.words);
    core_free(f.kept);
    core_free(f.values);
    core_free(starts);
    return status;
}
