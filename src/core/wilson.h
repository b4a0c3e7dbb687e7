/* wilson.h - an interval for a probability (Wilson 1927). */
#ifndef CORE_WILSON_H
#define CORE_WILSON_H

#include <stdint.h>

/* As tem_wilson_interval (tem_attack.h); successes <= trials. */
void wilson_interval(uint64_t successes, uint64_t trials, double *low, double *high);

#endif
