/* kernels.c - chooses the set of kernels. */
#include "space/kernels/kernels.h"

#include "core/cpu.h"

#include <stdatomic.h>

static _Atomic(const kernels *) active;

const kernels *kernels_at(unsigned i, bool *available) {
    const core_cpu cpu = core_cpu_detect();
    const struct {
        const kernels *set;
        bool available;
    } known[] = {
        {&kernels_scalar, true},
#if defined(__x86_64__)
        {&kernels_avx2, cpu.avx2},
        {&kernels_avx512, cpu.avx512},
        {&kernels_avx512vnni, cpu.avx512vnni},
#elif defined(__wasm_simd128__)
        {&kernels_simd128, true},
#endif
    };
    (void)cpu;
    if (i >= sizeof known / sizeof *known)
        return NULL;
    *available = known[i].available;
    return known[i].set;
}

static const kernels *best(void) {
    const kernels *found = &kernels_scalar;
    bool available = false;
    for (unsigned i = 0; kernels_at(i, &available) != NULL; i++)
        if (available)
            found = kernels_at(i, &available);
    return found;
}

const kernels *kernels_active(void) {
    const kernels *set = atomic_load_explicit(&active, memory_order_acquire);
    if (set == NULL) {
        set = best(); /* the same set in every thread that gets here */
        kernels_use(set);
    }
    return set;
}

void kernels_use(const kernels *set) {
    atomic_store_explicit(&active, set, memory_order_release);
}
