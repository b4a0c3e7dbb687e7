/* cpu.h - what this processor can do. */
#ifndef CORE_CPU_H
#define CORE_CPU_H

#include <stdbool.h>

typedef struct core_cpu {
    bool avx2;
    bool avx512;     /* F, BW, VL */
    bool avx512vnni; /* these and VNNI */
} core_cpu;

/* Asks the processor and the system; all false on other machines than x86-64. */
core_cpu core_cpu_detect(void);

#endif
