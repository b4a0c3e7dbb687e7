/* mahalanobis.h - noise that is longer where the vectors of the words vary more.
 *
 * Xu, Aggarwal, Feyisetan, Teissier 2020, "A Differentially Private Text Perturbation Method Using
 * Regularized Mahalanobis Metric". The noise z has a density proportional to exp(-epsilon |z|_RM),
 *
 *     |z|_RM = sqrt(z' M^-1 z),    M = lambda S + (1 - lambda) I,
 *
 * where S is the covariance of the vectors of all words, divided by the mean of their variances, so
 * that its trace is the dimension. The output is the word nearest to the noisy vector in the
 * euclidean distance.
 *
 * The draw: z = A u, where A A' = M, and u has a uniform direction and a length from
 * Gamma(dimension, 1/epsilon). Then |z|_RM = |u|, so the density is as above. The law depends on
 * A A' alone, so A need not be the symmetric root: tem takes eigenvectors times roots of
 * eigenvalues. Dividing A u by its length after the product would give another density, to which
 * the proof does not apply.
 *
 * The theorem: P(y | w) <= exp(epsilon |w - w'|_RM) P(y | w') for all words w, w', y of the model.
 * Proof: the densities of w + z and w' + z at one point differ by the factor exp(epsilon (|p -
 * w'|_RM - |p - w|_RM)), at most exp(epsilon |w - w'|_RM) by the triangle inequality; the choice of
 * the nearest word sees the point alone.
 *
 * In the model's distance d, which is euclidean: |x|_RM <= |x| / sqrt(m), where m is the smallest
 * eigenvalue of M, and m >= 1 - lambda. So the loss is at most (epsilon / sqrt(m)) d, which is more
 * than epsilon d whenever m < 1. S has the trace of I, so m < 1 unless lambda = 0 or S = I. That is
 * why the guarantee is TEM_GUARANTEE_OTHER: epsilon is not the loss per unit of the model's
 * distance.
 *
 * Where tem departs from the paper: tem rounds the noisy vector to the model's grid, never returns
 * excluded words, and replaces unknown words by a uniform word. The paper's text was not at hand;
 * the scaling of S is as in pypantera.
 *
 * Public code: Kekkodf/pypantera (pypantera/src/EmbeddingPerturbationMechanism/mahalanobis.py)
 * divides A u by its length before it multiplies by the gamma variable. sjmeis/MLDP
 * (src/mldp_text/mechanisms.py) divides the covariance by the variance of all numbers of the matrix
 * together, so that the trace is not the dimension, and returns unknown words unchanged. */
#ifndef MECH_MAHALANOBIS_H
#define MECH_MAHALANOBIS_H

#include "mech/madlib.h"

typedef struct mahalanobis_shape {
    double *root;       /* A, row by row */
    double least, most; /* eigenvalues of M */
} mahalanobis_shape;

/* Computes A from the vectors of a space. Fails with TEM_ERR_RANGE if all words are at one point,
 * or if M is singular (lambda is 1 or nearly so, and the vectors do not fill their dimensions),
 * TEM_ERR_MEMORY, or as lapack_eigenvectors does. Free with mahalanobis_shape_free. */
tem_status mahalanobis_shape_init(mahalanobis_shape *m, const space *s, double lambda,
                                  tem_error *error);
void mahalanobis_shape_free(mahalanobis_shape *m);

#endif
