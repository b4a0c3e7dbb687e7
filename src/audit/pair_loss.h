/* pair_loss.h - what a mechanism discloses about one pair of inputs. */
#ifndef AUDIT_PAIR_LOSS_H
#define AUDIT_PAIR_LOSS_H

#include "mech/model_mechanism.h"
#include "tem_account.h"

/* Sets *loss as tem_pair_loss_make does. law_a, law_b: the laws of the inputs a and b.
 * TEM_ERR_MEMORY. */
tem_status pair_loss(const tem_mechanism *m, uint32_t a, const tem_law *law_a, uint32_t b,
                     const tem_law *law_b, tem_pair_loss *loss, tem_error *error);

#endif
