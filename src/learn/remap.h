/* remap.h - a public map from released words to better ones (Bayesian remapping: Chatzikokolakis,
 * ElSalamouny, Palamidessi 2017).
 *
 * Whoever reads a released word y knows the prior and the law, so also the probable words behind y.
 * The word z with the least mean of |x_w - x_z|^2 over these words w is the one nearest to the mean
 * of x_w: E |x_w - x_z|^2 = |E x_w - x_z|^2 + a constant. The map sends y to that z.
 *
 * PRIVACY: the map is made from the law and a public prior, and depends on no text. To apply it is
 * post-processing: every bound of the mechanism stays. */
#ifndef LEARN_REMAP_H
#define LEARN_REMAP_H

#include "mech/model_mechanism.h"
#include "tem_learn.h"

/* As tem_remap_make; no pointer but `run` is NULL. */
tem_status remap_make(const tem_mechanism *mechanism, const tem_expectation *expected,
                      const tem_run *run, uint32_t *map, tem_error *error);

#endif
