/* channel.h - the laws of all words at once, as a matrix to multiply with.
 *
 * P[w][y] = a_y K(w, y) / Z(w), with the closeness K(w, y) of mech/law_form.h, and Z(w) = sum of
 * a_y K(w, y). So both products of tem_learn.h are one product with K, with factors before and
 * after it:
 *
 *     transpose(P) q  =  a * transpose(K) (q / Z)        P h  =  K (a * h) / Z
 *
 * K has words^2 numbers, 9 GB for the default model. Each product computes K anew, in tiles, and
 * multiplies tile by tile (OpenBLAS). Where K = exp(-s min(d(w, y), gamma)), which is symmetric,
 * tiles come from the exact distances and each serves two sums. Any other K comes from its form,
 * row by row. */
#ifndef LEARN_CHANNEL_H
#define LEARN_CHANNEL_H

#include "audit/decay.h"
#include "audit/prior.h"
#include "learn/weigh_loops.h"
#include "mech/model_mechanism.h"
#include "space/squares.h"
#include "tem_learn.h"

struct tem_channel {
    const tem_mechanism *mechanism;
    uint32_t count;         /* words */
    const law_form *form;   /* of the mechanism */
    const weights *weights; /* of the form */
    bool by_distance;       /* the four members below are set */
    decay decay;
    weighing weighing;
    weigh_loop *weigh; /* for this CPU */
    squares squares;
    double *z; /* Z(w) of each word */
};

/* These functions do what the functions tem_channel_... of tem_learn.h do. The caller has checked
 * pointers for NULL and numbers for their range. */
tem_status channel_create(const tem_mechanism *mechanism, const tem_run *run, tem_channel **channel,
                          tem_error *error);
void channel_free(tem_channel *channel);
tem_status channel_forward(const tem_channel *channel, const double *in, uint32_t columns,
                           const tem_run *run, double *out, tem_error *error);
tem_status channel_backward(const tem_channel *channel, const double *in, uint32_t columns,
                            const tem_run *run, double *out, tem_error *error);

/* Which matrix: K, whose rows belong to inputs, or its transpose, whose rows belong to outputs. */
typedef enum channel_matrix { CHANNEL_INPUTS, CHANNEL_OUTPUTS } channel_matrix;

/* out = K in, or out = transpose(K) in; a row per word on both sides. `stage` is what the progress
 * callback hears. */
tem_status channel_multiply(const tem_channel *channel, channel_matrix matrix, const char *stage,
                            const double *in, uint32_t columns, const tem_run *run, double *out,
                            tem_error *error);

/* The sum A of all output weights. */
static inline double channel_weight_sum(const tem_channel *channel) {
    return (double)channel->weights->sum;
}

#endif
