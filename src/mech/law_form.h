/* law_form.h - a law, stated once, for all code that computes with it.
 *
 * Laws of this form:
 *
 *     P(y | w)  =  a_y K(w, y) / Z(w)        Z(w) = sum over all words y of a_y K(w, y)
 *     P(y | unknown word)  =  a_y / A        A = sum over all words y of a_y
 *
 * K(w, y) is the closeness of the output y to the input w, at most 1. A mechanism states its
 * closeness here and nowhere else. Only the mechanism knows where it comes from: a distance, a
 * place in an order, or whether the two words are the same. a_y is an integer weight.
 *
 * There are two questions, and their answers differ if K(w, y) is not K(y, w):
 *   row      one input, all outputs. For those who draw, explain or average over outputs.
 *   column   one output, all inputs. For those who ask which word is behind an output.
 *
 * PRIVACY: the proof of a mechanism is about the exact numbers (`pair`). The doubles are for those
 * who report or attack; nothing is drawn by them. tests/unit/test_law_forms.c requires that all
 * functions of a form state the same law. */
#ifndef MECH_LAW_FORM_H
#define MECH_LAW_FORM_H

#include "mech/exponent.h"
#include "mech/weights.h"
#include "order/order.h"

/* The number whole / 2^bits * exp(-fraction / 2^36), exactly; `bits` is that of the form. */
typedef struct closeness {
    u256 whole;
    uint64_t fraction;
} closeness;

/* An output in the list of an input. */
typedef struct listed_output {
    uint32_t id;
    closeness closeness;
} listed_output;

/* The list of an input: the outputs that a draw looks at one by one. */
typedef struct output_list {
    const void *entries; /* for `entry` */
    uint32_t count;
    closeness bound; /* no output outside the list is closer; 0 if the list has all words */
} output_list;

/* An output that was proposed for an input: its closeness, and whether the list has it. */
typedef struct proposed_output {
    closeness closeness;
    bool is_listed;
} proposed_output;

typedef struct law_form law_form;

/* Words are ids of the model, never TEM_NO_WORD. Any thread. */
typedef struct law_form_ops {
    /* K(w, y), exactly. */
    closeness (*pair)(const law_form *f, uint32_t w, uint32_t y);

    /* Sets *list to the list of w. TEM_ERR_DAMAGED if the model contradicts itself. */
    tem_status (*list)(const law_form *f, uint32_t w, output_list *list, tem_error *error);

    /* The entry number i of a list, from 0. Closer outputs come first. */
    listed_output (*entry)(const law_form *f, const output_list *list, uint32_t i);

    /* K(w, y), as `pair` has it, and whether y is in this list, which is that of w. */
    proposed_output (*propose)(const law_form *f, uint32_t w, const output_list *list, uint32_t y);

    /* Set out[i] to K(w, first + i), and to K(first + i, y), with a relative error of at most
     * 2^-48. `column` NULL: the closeness is symmetric, and `row` serves. */
    void (*row)(const law_form *f, uint32_t w, uint32_t first, uint32_t count, double *out);
    void (*column)(const law_form *f, uint32_t y, uint32_t first, uint32_t count, double *out);
} law_form_ops;

/* A closeness that depends on the rank alone: K(w, y) = {heights[rank of y around w], 0}. */
typedef struct ranked_form {
    const rank_order *order;
    const uint64_t *heights; /* of all ranks; they never rise, and are below 2^63 */
} ranked_form;

struct law_form {
    const law_form_ops *ops;
    const void *state;         /* for the functions of ops */
    const weights *weights;    /* a_y */
    const ranked_form *ranked; /* the same as `pair` says; NULL: it is of another kind */

    /* The integers of the closeness: s, and the gamma beyond which it does not fall; gamma 0: there
     * is no such distance. What s is per is the `unit` of the mechanism's properties. */
    exponent exponent;
    bool is_of_distance; /* K(w, y) = exp(-s min(d(w, y), gamma)), d the distance of the model */

    unsigned bits; /* K = 1 is the closeness {2^bits, 0} */
    double spread; /* K(w, y) is between exp(-spread) and 1, for every output y */
    double total;  /* Z of every word of the model; 0: Z differs from word to word */
};

/* P(y | w) <= exp(bound) P(y | w') for any two inputs, unknown words included.
 * PRIVACY: K(w, y) / K(w', y) and Z(w') / Z(w) are at most exp(spread) each, the second 1 where all
 * words have the same Z. For an unknown word K is 1, which is never less than K(w, y), and Z is A,
 * which is never less than Z(w): so the two factors do not exceed 1 at the same time. */
static inline double law_form_bound(const law_form *f) {
    return f->total > 0 ? f->spread : 2 * f->spread;
}

/* Sets out[i] to K(first + i, y). */
static inline void law_form_column(const law_form *f, uint32_t y, uint32_t first, uint32_t count,
                                   double *out) {
    (f->ops->column != NULL ? f->ops->column : f->ops->row)(f, y, first, count, out);
}

/* A closeness as a double, with a relative error below 2^-48. */
static inline double closeness_value(const law_form *f, const closeness *c) {
    double whole = 0;
    for (int i = 3; i >= 0; i--)
        whole += ldexp((double)c->whole.limb[i], 64 * i - (int)f->bits);
    return whole * exp(-ldexp((double)c->fraction, -EXPONENT_BITS));
}

#endif
