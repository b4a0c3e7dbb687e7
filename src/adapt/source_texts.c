/* source_texts.c - reads labeled texts: the mean vector and the label of each. */
#include "adapt/adaptation.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "job/record_texts.h"
#include "text/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

typedef struct texts_reading {
    learned *learned;
    text_pieces pieces;
    double *mean; /* of the vectors of this text's known words */
    uint64_t known;
} texts_reading;

static uint32_t find_word(const void *vocabulary, const char *word, size_t length) {
    return vocab_find(vocabulary, word, length);
}

static void add_words(texts_reading *r) {
    const tem_adaptation *a = r->learned->adaptation;
    for (size_t i = 0; i < r->pieces.count; i++) {
        const text_piece *piece = &r->pieces.pieces[i];
        if (!piece->word || piece->id == TEM_NO_WORD)
            continue;
        const double *x = a->vectors + (size_t)piece->id * a->columns;
        for (uint32_t k = 0; k < a->columns; k++)
            r->mean[k] += x[k];
        r->known++;
    }
}

/* Finds the mean vector of a text. r->known is 0 if it has no known word. */
static tem_status average(texts_reading *r, const char *text, size_t bytes, tem_error *error) {
    const uint32_t columns = r->learned->adaptation->columns;
    memset(r->mean, 0, columns * sizeof *r->mean);
    r->known = 0;
    tem_status status = text == NULL ? TEM_OK : text_pieces_begin(&r->pieces, text, bytes, error);
    do {
        r->pieces.count = 0;
        if (status == TEM_OK && text != NULL)
            status = text_pieces_next(&r->pieces, error);
        if (status == TEM_OK)
            add_words(r);
    } while (status == TEM_OK && r->pieces.count > 0);
    for (uint32_t k = 0; k < columns && r->known > 0; k++)
        r->mean[k] /= (double)r->known;
    return status == TEM_ERR_RANGE
               ? core_fail(error, TEM_ERR_FORMAT, "the text, or a word in it, is too long")
               : status;
}

/* ---- labels ---- */

/* Whether a class can be part of a name: UTF-8 without control characters. */
static bool is_class_name(const char *label, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)label[i] < ' ' || label[i] == 0x7f)
            return false;
    return bytes <= TEM_SIGNAL_NAME_MAX && u8_check((const uint8_t *)label, bytes) == NULL;
}

static tem_status find_class(learned *l, const char *label, size_t bytes, uint32_t *target,
                             tem_error *error) {
    if (!is_class_name(label, bytes))
        return core_fail(error, TEM_ERR_FORMAT,
                         "a class must be UTF-8 without control characters, at most %u bytes",
                         TEM_SIGNAL_NAME_MAX);
    for (*target = 0; *target < l->target_count; ++*target)
        if (strlen(l->targets[*target].name) == bytes &&
            memcmp(l->targets[*target].name, label, bytes) == 0)
            return TEM_OK;
    return learned_add_target(l, label, bytes, error);
}

/* Reads a label: *target is the number of its class, and *value 1; or 0 and the rating. */
static tem_status read_label(learned *l, const char *label, size_t bytes, uint32_t *target,
                             double *value, tem_error *error) {
    *target = 0;
    *value = 1;
    if (label == NULL || bytes == 0)
        return core_fail(error, TEM_ERR_FORMAT, "the label is empty");
    if (!l->source->is_rating)
        return find_class(l, label, bytes, target, error);
    if (number_parse(label, label + bytes, value) != NUMBER_OK || fabs(*value) > LEARNED_NUMBER_MAX)
        return core_fail(error, TEM_ERR_FORMAT, "the rating is not a number within 1e100");
    return TEM_OK;
}

static tem_status take_text(void *context, const char *text, size_t bytes, const char *label,
                            size_t label_bytes, tem_error *error) {
    texts_reading *r = context;
    learned *l = r->learned;
    uint32_t target = 0;
    double value = 0;
    TRY(read_label(l, label, label_bytes, &target, &value, error));
    TRY(average(r, text, bytes, error));
    if (r->known == 0) {
        l->left_out++;
        return TEM_OK;
    }
    if (l->source->is_rating) {
        learned_add_number(l, r->mean, value);
        return TEM_OK;
    }
    const uint32_t part = ridge_add_vector(&l->vectors, r->mean);
    ridge_add_target(&l->targets[target].sums, part, r->mean, l->vectors.columns, value);
    l->targets[target].rows++;
    return TEM_OK;
}

/* ---- classes ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(((const learned_target *)a)->name, ((const learned_target *)b)->name);
}

/* Puts the classes in the order of their names. Of two it keeps the last: the other one says the
 * same. */
static tem_status arrange_classes(learned *l, tem_error *error) {
    enum { LEAST_TEXTS = 10 };
    if (l->target_count < 2)
        return core_fail(error, TEM_ERR_RANGE, "all texts have the same class: nothing to tell");
    qsort(l->targets, l->target_count, sizeof *l->targets, compare_names);
    for (uint32_t i = 0; i < l->target_count; i++)
        if (l->targets[i].rows < LEAST_TEXTS)
            return core_fail(error, TEM_ERR_RANGE,
                             "class %u of %u, in the order of their names, has %u texts with a "
                             "known word: at least %d are needed",
                             i + 1, l->target_count, (uint32_t)l->targets[i].rows, LEAST_TEXTS);
    if (l->target_count == 2) {
        ridge_target_free(&l->targets[0].sums);
        l->targets[0] = l->targets[1];
        l->targets[1] = (learned_target){.rows = 0};
        l->target_count = 1;
    }
    return TEM_OK;
}

tem_status source_read_texts(learned *l, tem_error *error) {
    const tem_signal_source *s = l->source;
    const tem_records records = {
        .path = s->path, .format = s->format, .field = s->text, .by = s->label};
    texts_reading r = {.learned = l, .mean = core_alloc(l->adaptation->columns, sizeof *r.mean)};
    tem_status status = r.mean == NULL ? core_fail_memory(error) : TEM_OK;
    text_pieces_init(&r.pieces, find_word, &l->adaptation->model->words);
    if (status == TEM_OK && s->is_rating)
        status = learned_add_target(l, "", 0, error);
    if (status == TEM_OK)
        status = record_texts_read(&records, take_text, &r, l->run, error);
    if (status == TEM_OK && !s->is_rating)
        status = arrange_classes(l, error);
    text_pieces_free(&r.pieces);
    core_free(r.mean);
    return status;
}
