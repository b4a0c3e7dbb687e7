/* attack.h - membership inference (Shokri, Stronati, Song, Shmatikov 2017): from a model's
 * answer about a document, was the document in its training set? The attack model learns it from
 * a shadow model, whose training set the attacker knows. */
#ifndef EVAL_ATTACK_H
#define EVAL_ATTACK_H

#include "dense.h"
#include "tem.h"

/* Two hidden layers of 64 with ReLU, and two outputs: not a member, member. */
typedef struct attack {
    dense layers[3];
} attack;

/* Learns to tell `in_count` answers (rows of `classes` probabilities) about members from
 * `out_count` about others: 20 epochs, batches of 64, Adam. Fails with TEM_ERR_MEMORY. */
tem_status attack_train(const float *in, uint32_t in_count, const float *out, uint32_t out_count,
                        uint32_t classes, uint64_t seed, attack *a, tem_error *error);
void attack_free(attack *a);

/* How well the attack tells members from others: the area under its ROC curve. */
tem_status attack_auc(const attack *a, const float *in, uint32_t in_count, const float *out,
                      uint32_t out_count, double *auc, tem_error *error);

/* The probability that a score from `in` is above one from `out`, equal ones counting half: the
 * area under the ROC curve, by ranks. Fails with TEM_ERR_MEMORY. */
tem_status auc_of_scores(const float *in, uint32_t in_count, const float *out, uint32_t out_count,
                         double *auc, tem_error *error);

/* The mean cross entropy on rows with labels; the layers' gradients are left in them. */
tem_status attack_loss(attack *a, const float *rows, const uint32_t *labels, uint32_t count,
                       double *loss, tem_error *error);

tem_status attack_create(uint32_t classes, chance *numbers, attack *a, tem_error *error);

#endif
