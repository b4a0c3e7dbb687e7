/* attack.h - membership inference (Shokri, Stronati, Song, Shmatikov 2017): given a model's answer
 * about a document, decide whether the document was in its training set. The attack model learns
 * this from a shadow model, whose training set the attacker knows. */
#ifndef EVAL_ATTACK_H
#define EVAL_ATTACK_H

#include "dense.h"
#include "tem.h"

/* Two hidden layers of 64 units with ReLU, and two outputs: not a member, member. */
typedef struct attack {
    dense layers[3];
} attack;

/* Learns to tell `in_count` answers about members from `out_count` answers about others. An answer
 * is a row of `classes` probabilities. 20 epochs, batches of 64, Adam. Fails with
 * TEM_ERR_MEMORY. */
tem_status attack_train(const float *in, uint32_t in_count, const float *out, uint32_t out_count,
                        uint32_t classes, uint64_t seed, attack *a, tem_error *error);
void attack_free(attack *a);

/* How well the attack tells members from others: the area under its ROC curve. */
tem_status attack_auc(const attack *a, const float *in, uint32_t in_count, const float *out,
                      uint32_t out_count, double *auc, tem_error *error);

/* The area under the ROC curve, computed from ranks: the probability that a score from `in` is
 * above a score from `out`, where equal scores count half. Fails with TEM_ERR_MEMORY. */
tem_status auc_of_scores(const float *in, uint32_t in_count, const float *out, uint32_t out_count,
                         double *auc, tem_error *error);

/* Returns the mean cross entropy on labeled rows and leaves the gradients in the layers. */
tem_status attack_loss(attack *a, const float *rows, const uint32_t *labels, uint32_t count,
                       double *loss, tem_error *error);

tem_status attack_create(uint32_t classes, chance *numbers, attack *a, tem_error *error);

#endif
