/* law_row.c - the probabilities of a law in double precision. */
#include "mech/law_row.h"

/* A sum of many positive terms (Kahan). Its relative error is about 2^-52, for any number of words
 * that a model may have. */
typedef struct long_sum {
    double sum, lost;
} long_sum;

static void add(long_sum *s, double term) {
    const double corrected = term - s->lost, next = s->sum + corrected;
    s->lost = (next - s->sum) - corrected;
    s->sum = next;
}

void law_row(const law_form *form, uint32_t word, double *probabilities) {
    law_row_weighed(form, NULL, word, probabilities);
}

void law_row_weighed(const law_form *form, const uint64_t *values, uint32_t word,
                     double *probabilities) {
    const uint32_t count = form->weights->count;
    long_sum total = {0, 0};
    if (word != TEM_NO_WORD)
        form->ops->row(form, word, 0, count, probabilities);
    for (uint32_t y = 0; y < count; y++) {
        const double close = word == TEM_NO_WORD ? 1 : probabilities[y];
        const double weight = values == NULL ? weights_at(form->weights, y) : (double)values[y];
        probabilities[y] = weight * close;
        add(&total, probabilities[y]);
    }
    for (uint32_t y = 0; y < count; y++)
        probabilities[y] /= total.sum;
}
