/* cpu.h - which instruction sets this CPU has. */
#ifndef CORE_CPU_H
#define CORE_CPU_H

#include <stdbool.h>

typedef struct core_cpu {
    bool avx2;
    bool avx2fma;    /* AVX2 and FMA */
    bool avx512;     /* F, BW, VL */
    bool avx512vnni; /* these and VNNI */
} core_cpu;

/* Asks the CPU and the system; all false on machines other than x86-64. */
static inline core_cpu core_cpu_detect(void) {
    core_cpu cpu = {false, false, false, false};
#if defined(__x86_64__)
    __builtin_cpu_init();
    cpu.avx2 = __builtin_cpu_supports("avx2");
    cpu.avx2fma = cpu.avx2 && __builtin_cpu_supports("fma");
    cpu.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl");
    cpu.avx512vnni = cpu.avx512 && __builtin_cpu_supports("avx512vnni");
#endif
    return cpu;
}

#endif
