/* unadapted.h - the loss of a mechanism on an adapted model, per unit of distance before the model
 * was adapted.
 *
 * An adapted model has one column per signal, after the columns of the model that was adapted. With
 * d the distance of two words and d0 the distance by the columns before the signals, no output
 * tells the pair apart by more than
 *
 *     (s min(d, gamma) + |ln Z(w) - ln Z(w')|) / min(d0, gamma)
 *
 * per unit of min(d0, gamma). That is the loss of the pair here. |ln Z(w) - ln Z(w')| is at most
 * s min(d, gamma). The result is an upper bound on the loss of all pairs. It is infinite
 * if d0 is 0 and d is not. Signals are functions of the vectors, so that can only be where the grid
 * of the adapted model is coarser than that of the model that was adapted, and has merged words. */
#ifndef AUDIT_UNADAPTED_H
#define AUDIT_UNADAPTED_H

#include "audit/accountant.h"
#include "tem_adapt.h"

/* As tem_accountant_unadapted; the caller has checked the pointers. */
tem_status accountant_unadapted(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                const tem_run *run, tem_unadapted *unadapted, tem_error *error);

#endif
