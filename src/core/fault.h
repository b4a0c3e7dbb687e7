/* fault.h - lets tests make memory and the system fail.
 *
 * Every allocation, system read, system write and mapping asks core_fault first. In a release build
 * core_fault is the constant false. A test build (TEM_FAULTS) counts the calls and lets the nth one
 * fail, for all n: tests/unit/test_faults.c. */
#ifndef CORE_FAULT_H
#define CORE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef TEM_FAULTS
/* Counts this call; true if this call must fail. Any thread. */
bool core_fault(void);

/* Makes the nth call from now fail, counted from 1, and no other; 0: none. */
void core_fault_arm(uint64_t n);

/* Whether the armed fault has happened. */
bool core_fault_hit(void);
#else
static inline bool core_fault(void) {
    return false;
}
#endif

#endif
