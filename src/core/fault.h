/* fault.h - a place where tests make the outside world fail.
 *
 * Every allocation, system read, system write and mapping asks core_fault first.
 * In a release build that is the constant false. A test build (TEM_FAULTS) counts
 * the calls and lets the nth one fail, for all n: tests/unit/test_faults.c. */
#ifndef CORE_FAULT_H
#define CORE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef TEM_FAULTS
/* Counts this call; true if it is the one that is to fail. Any thread. */
bool core_fault(void);

/* The nth call from now fails, n from 1, and only that one; 0: none. */
void core_fault_arm(uint64_t n);

/* Whether the armed fault has happened. */
bool core_fault_hit(void);
#else
static inline bool core_fault(void) {
    return false;
}
#endif

#endif
