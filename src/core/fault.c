/* fault.c - the counter behind core_fault, in test builds only. */
#include "core/fault.h"

#ifdef TEM_FAULTS
#include <stdatomic.h>

static atomic_uint_fast64_t calls_left;
static atomic_bool hit;

bool core_fault(void) {
    uint_fast64_t left = atomic_load(&calls_left);
    while (left != 0)
        if (atomic_compare_exchange_weak(&calls_left, &left, left - 1)) {
            if (left != 1)
                return false;
            atomic_store(&hit, true);
            return true;
        }
    return false;
}

void core_fault_arm(uint64_t n) {
    atomic_store(&hit, false);
    atomic_store(&calls_left, n);
}

bool core_fault_hit(void) {
    return atomic_load(&hit);
}
#endif

/* ISO C forbids an empty translation unit. */
typedef int core_fault_unit;
