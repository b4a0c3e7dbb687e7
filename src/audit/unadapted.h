/* unadapted.h - the loss of a mechanism on an adapted model, per unit of distance before the model
 * was adapted.
 *
 * An adapted model has one column per signal, after the columns of the model that was adapted. With
 * d the distance of two words and d0 the distance by the columns before the signals, the largest
 * loss of the pair per unit of min(d0, gamma) is at most
 *
 *     (s min(d, gamma) + |ln Z(w) - ln Z(w')|) / min(d0, gamma),
 *
 * and |ln Z(w) - ln Z(w')| is never above s min(d, gamma). The maximum over all pairs with d0 > 0 is
 * the result. */
#ifndef AUDIT_UNADAPTED_H
#define AUDIT_UNADAPTED_H

#include "audit/accountant.h"
#include "tem_adapt.h"

/* As tem_accountant_unadapted; the caller has checked the pointers. */
tem_status accountant_unadapted(const tem_accountant *accountant, const tem_mechanism *mechanism,
                                const tem_run *run, tem_unadapted *unadapted, tem_error *error);

#endif
