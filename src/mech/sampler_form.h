/* sampler_form.h - the form of sampler.h's law: K(w, y) = E_j exp(-r) / 2^192, that is
 * exp(-s min(d(w, y), gamma)) as exponent.h has it. */
#ifndef MECH_SAMPLER_FORM_H
#define MECH_SAMPLER_FORM_H

#include "mech/law_form.h"
#include "mech/sampler.h"

/* The form of the sampler's law. The sampler must stay where it is as long as the form is used. */
law_form sampler_form(const sampler *m);

#endif
