/* guess.c - the words behind an output. */
#include "guess.h"

#include "core/memory.h"
#include "core/status.h"
#include "mech/law_row.h"

#include <math.h>

/* The table is for the default beta. A larger gamma moves at most that much mass. */
static tem_status check_gamma(const tem_mechanism *m, tem_error *error) {
    const exponent *e = &mechanism_form(m)->exponent;
    tem_dist usual = 0;
    const tem_status status =
        exponent_gamma_from_beta(TEM_BETA_DEFAULT, m->count, e->s, &usual, error);
    if (status != TEM_OK || e->gamma >= usual)
        return status;
    return core_fail(error, TEM_ERR_UNSUPPORTED,
                     "the best guess is known for the default beta, and for smaller ones");
}

void guesser_free(guesser *g) {
    core_free(g->gains);
    core_free(g->exact);
    core_free(g->values);
    core_free(g->row);
    core_free(g->logs);
    *g = (guesser){0};
}

tem_status guesser_make(const tem_mechanism *mechanism, const log_totals *table,
                        int32_t certificate, guesser *out, tem_error *error) {
    const uint32_t count = mechanism->count;
    tem_status status = certificate < 0 ? check_gamma(mechanism, error) : TEM_OK;
    if (status != TEM_OK)
        return status;
    guesser g = {.mechanism = mechanism,
                 .gains = core_alloc(count, sizeof *g.gains),
                 .exact = core_alloc_zero(count, sizeof *g.exact),
                 .values = core_alloc(count, sizeof *g.values),
                 .row = core_alloc(count, sizeof *g.row),
                 .logs = core_alloc(count, sizeof *g.logs)};
    if (g.gains == NULL || g.exact == NULL || g.values == NULL || g.row == NULL || g.logs == NULL) {
        guesser_free(&g);
        return core_fail_memory(error);
    }
    if (certificate >= 0)
        log_totals_certified(table, (uint32_t)certificate, g.gains);
    else
        log_totals_plain(table, exponent_s_value(mechanism_form(mechanism)->exponent.s), g.gains);
    for (uint32_t w = 0; w < count; w++)
        g.gains[w] = -log(w + 1.0) - g.gains[w];
    *out = g;
    return TEM_OK;
}

/* Computes ln Z(w) exactly: P(y | w) = a_y K(w, y) / Z(w). y is an output, so none of them is 0. */
static void refine(guesser *g, uint32_t w, uint32_t y) {
    const law_form *law = mechanism_form(g->mechanism);
    law_row(law, w, g->row);
    const double log_total = log(weights_at(law->weights, y)) + g->logs[w] - log(g->row[y]);
    g->gains[w] = -log(w + 1.0) - log_total;
    g->values[w] = g->gains[w] + g->logs[w];
    g->exact[w] = true;
}

static uint32_t largest_value(const guesser *g) {
    uint32_t best = 0;
    for (uint32_t w = 1; w < g->mechanism->count; w++)
        if (g->values[w] > g->values[best])
            best = w;
    return best;
}

/* How far the true value of a word may be from its value. */
static double doubt(const guesser *g, uint32_t w) {
    return g->exact[w] ? 0 : LOG_ERROR;
}

/* Computes Z of the words that may have the largest value, until one of them certainly has it.
 * Returns that word. */
static uint32_t settle_best(guesser *g, uint32_t y) {
    for (;;) {
        const uint32_t best = largest_value(g);
        const double least = g->values[best] - doubt(g, best);
        bool rivals = false, refined = false;
        for (uint32_t w = 0; w < g->mechanism->count; w++) {
            if (w == best || g->values[w] + doubt(g, w) < least)
                continue;
            rivals = true;
            if (!g->exact[w]) {
                refine(g, w, y);
                refined = true;
            }
        }
        if (rivals && !g->exact[best]) {
            refine(g, best, y);
            refined = true;
        }
        if (!refined)
            return best;
    }
}

static tem_status look_at(guesser *g, uint32_t y, tem_error *error) {
    const law_form *law = mechanism_form(g->mechanism);
    const uint32_t count = g->mechanism->count;
    if (y >= count || weights_at(law->weights, y) == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "this word is never an output");
    law_form_column(law, y, 0, count, g->logs);
    for (uint32_t w = 0; w < count; w++) {
        g->logs[w] = log(g->logs[w]);
        g->values[w] = g->gains[w] + g->logs[w];
    }
    return TEM_OK;
}

/* ln of the sum of exp of all values. */
static double log_sum(const guesser *g, double largest) {
    double sum = 0;
    for (uint32_t w = 0; w < g->mechanism->count; w++)
        if (g->values[w] > largest - 40)
            sum += exp(g->values[w] - largest);
    return largest + log(sum);
}

tem_status guesser_top(guesser *g, uint32_t y, uint32_t top, guessed_word *out, tem_error *error) {
    const tem_status status = look_at(g, y, error);
    if (status != TEM_OK)
        return status;
    uint32_t next = settle_best(g, y);
    const double all = log_sum(g, g->values[next]);
    for (uint32_t i = 0; i < top; i++) {
        out[i] = (guessed_word){next, exp(g->values[next] - all)};
        g->values[next] = -INFINITY;
        if (i + 1 < top)
            next = largest_value(g);
    }
    return TEM_OK;
}
