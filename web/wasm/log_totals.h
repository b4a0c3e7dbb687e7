/* log_totals.h - a small public table of ln Z(w), for the best guess behind an output.
 *
 * The best guess needs Z(w) = sum over y of a_y exp(-s min(d(w, y), gamma)) of all words w. That is
 * a sum over all pairs of words: too slow for a page. So default.temweb has ln Z of every word at
 * LOG_NODES values of s, for equal weights and the default beta, and for each certificate. Between
 * the nodes ln Z is interpolated. No draw depends on the table.
 *
 * Node k is at u = k / (LOG_NODES - 1) * LOG_U_MOST, s = 3 u / (1 - u): from 0 to 12, denser where
 * ln Z bends. Beyond, ln Z changes by less than 0.01. Values are in steps of 1 / LOG_STEPS.
 *
 * The part of the file is one zstd frame. It has a column per node and then one per certificate, of
 * int16 per word, first the low bytes of all columns, then the high bytes. A column of a node is
 * stored as its difference from the line through the two nodes before; the others as they are. */
#ifndef WASM_LOG_TOTALS_H
#define WASM_LOG_TOTALS_H

#include "tem.h"

enum { LOG_NODES = 36, LOG_STEPS = 200 };

#define LOG_S_MOST 12.0
#define LOG_U_MOST (LOG_S_MOST / (LOG_S_MOST + 3))

/* The error of ln Z from the table: from interpolation, and from rounding to steps. A test compares
 * it with the exact values (web/tem/test/guess.test.js). */
#define LOG_ERROR 0.01

static inline double log_node(unsigned k) {
    const double u = k * LOG_U_MOST / (LOG_NODES - 1);
    return 3 * u / (1 - u);
}

/* The column that predicts column k of a node, from the values of the two before. */
static inline int16_t log_predicted(unsigned k, int16_t before, int16_t before_that) {
    return (int16_t)(k == 0 ? 0 : k == 1 ? before : 2 * before - before_that);
}

typedef struct log_totals {
    uint32_t count, columns;
    int16_t *values; /* columns * count */
} log_totals;

/* Unpacks the table. TEM_ERR_DAMAGED, TEM_ERR_MEMORY. Free with log_totals_free. */
tem_status log_totals_read(const char *frame, size_t bytes, uint32_t count, uint32_t certificates,
                           log_totals *out, tem_error *error);
void log_totals_free(log_totals *t);

/* Set out[w] to ln Z(w): for equal weights and s, or for a certificate by its number. */
void log_totals_plain(const log_totals *t, double s, double *out);
void log_totals_certified(const log_totals *t, uint32_t certificate, double *out);

#endif
