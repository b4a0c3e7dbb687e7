/* cpu.c - what this processor can do. */
#include "core/cpu.h"

core_cpu core_cpu_detect(void) {
    core_cpu cpu = {false, false, false};
#if defined(__x86_64__)
    __builtin_cpu_init();
    cpu.avx2 = __builtin_cpu_supports("avx2");
    cpu.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl");
    cpu.avx512vnni = cpu.avx512 && __builtin_cpu_supports("avx512vnni");
#endif
    return cpu;
}
