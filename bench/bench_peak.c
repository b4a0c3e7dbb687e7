/* bench_peak.c - the limits of this machine, measured.
 *
 *   bench_peak int8|int16|fp32|read|chase|gather THREADS SECONDS [MEGABYTES]
 *
 * int8, int16, fp32: multiply-adds per second of vpdpbusd, vpdpwssd and vfmadd on 512-bit
 * registers, without loads or stores; "rate" is null if the CPU lacks them.
 * read: bytes per second, in order. chase: loads per second where each load gives the
 * address of the next. gather: loads per second at random addresses that are known early
 * and prefetched. The last three use MEGABYTES shared by all threads. */
#include "bench_common.h"

#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE_WORDS = 8 }; /* a cache line is 8 x 64 bits */

typedef struct worker {
    double (*work)(struct worker *); /* does some work, returns how much */
    uint64_t *memory;
    uint64_t lines;    /* lines of memory of all threads */
    uint64_t from, to; /* this thread's part */
    uint64_t state;
    double seconds, rate;
    pthread_t thread;
} worker;

/* ---------------------------------------------------------- arithmetic -- */

#if defined(__x86_64__)
enum { ROUNDS = 20000, ACCUMULATORS = 16 }; /* more chains than latency x throughput */

/* The empty assembly tells the compiler that every accumulator changes, so that it can neither
 * merge nor drop an operation. */
#define KEEP(x) __asm__ volatile("" : "+v"(x))

#define DEFINE_PEAK(name, target_set, vector, zero, operation, per_operation)                      \
    __attribute__((target(target_set))) static double name(worker *w) {                            \
        (void)w;                                                                                   \
        vector sums[ACCUMULATORS], a = zero(), b = zero();                                         \
        KEEP(a);                                                                                   \
        KEEP(b);                                                                                   \
        _Pragma("GCC unroll 16") for (int i = 0; i < ACCUMULATORS; i++) sums[i] = zero();          \
        for (int round = 0; round < ROUNDS; round++) {                                             \
            _Pragma("GCC unroll 16") for (int i = 0; i < ACCUMULATORS; i++) {                      \
                sums[i] = operation;                                                               \
                KEEP(sums[i]);                                                                     \
            }                                                                                      \
        }                                                                                          \
        return (double)ROUNDS * ACCUMULATORS * (per_operation);                                    \
    }

DEFINE_PEAK(peak_int8, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512,
            _mm512_dpbusd_epi32(sums[i], a, b), 64)
DEFINE_PEAK(peak_int16, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512,
            _mm512_dpwssd_epi32(sums[i], a, b), 32)
DEFINE_PEAK(peak_fp32, "avx512f", __m512, _mm512_setzero_ps, _mm512_fmadd_ps(a, b, sums[i]), 16)
#endif

/* The function for a peak, or NULL if this CPU lacks the instruction. */
static double (*arithmetic(const char *name))(worker *) {
#if defined(__x86_64__)
    if (strcmp(name, "int8") == 0)
        return __builtin_cpu_supports("avx512vnni") ? peak_int8 : NULL;
    if (strcmp(name, "int16") == 0)
        return __builtin_cpu_supports("avx512vnni") ? peak_int16 : NULL;
    if (strcmp(name, "fp32") == 0)
        return __builtin_cpu_supports("avx512f") ? peak_fp32 : NULL;
#else
    (void)name;
#endif
    return NULL;
}

/* -------------------------------------------------------------- memory -- */

static double read_in_order(worker *w) {
    uint64_t sums[LINE_WORDS] = {0};
    for (uint64_t line = w->from; line < w->to; line++)
        for (int i = 0; i < LINE_WORDS; i++)
            sums[i] += w->memory[line * LINE_WORDS + (uint64_t)i];
    for (int i = 0; i < LINE_WORDS; i++)
        w->state += sums[i];
    return (double)(w->to - w->from) * 64;
}

static double chase(worker *w) {
    enum { STEPS = 1 << 16 };
    uint64_t line = w->state;
    for (int i = 0; i < STEPS; i++)
        line = w->memory[line * LINE_WORDS];
    w->state = line;
    return STEPS;
}

static double gather(worker *w) {
    enum { AHEAD = 16, STEPS = 1 << 16 };
    uint64_t coming[AHEAD] = {0}, sum = 0;
    for (int i = 0; i < STEPS; i++) {
        sum += w->memory[coming[i % AHEAD] * LINE_WORDS];
        coming[i % AHEAD] = bench_below(bench_next(&w->state), w->lines);
        __builtin_prefetch(&w->memory[coming[i % AHEAD] * LINE_WORDS]);
    }
    __asm__ volatile("" : : "r"(sum));
    return STEPS;
}

/* Links all lines into one cycle in random order (Sattolo), so that no chase is short. */
static void link_lines(uint64_t *memory, uint64_t lines) {
    uint64_t state = 1;
    for (uint64_t i = 0; i < lines; i++)
        memory[i * LINE_WORDS] = i;
    for (uint64_t i = lines - 1; i > 0; i--) {
        const uint64_t j = bench_below(bench_next(&state), i), swap = memory[i * LINE_WORDS];
        memory[i * LINE_WORDS] = memory[j * LINE_WORDS];
        memory[j * LINE_WORDS] = swap;
    }
}

/* ------------------------------------------------------------- running -- */

static void *run_worker(void *argument) {
    worker *w = argument;
    double done = 0;
    (void)w->work(w); /* warm-up: raises the core's clock and maps the memory */
    const double start = bench_now();
    do
        done += w->work(w);
    while (bench_now() - start < w->seconds);
    w->rate = done / (bench_now() - start);
    return NULL;
}

static double run_all(const worker *prototype, unsigned threads) {
    worker workers[BENCH_THREADS_MAX];
    double rate = 0;
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = *prototype;
        workers[i].from = prototype->lines * i / threads;
        workers[i].to = prototype->lines * (i + 1) / threads;
        workers[i].state = workers[i].from + 1;
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
            bench_die("thread", "cannot be started");
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        rate += workers[i].rate;
    }
    return rate;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 5)
        bench_die("usage",
                  "bench_peak int8|int16|fp32|read|chase|gather THREADS SECONDS [MEGABYTES]");
    const unsigned threads = (unsigned)bench_number(argv[2], BENCH_THREADS_MAX);
    worker w = {.work = arithmetic(argv[1]), .seconds = bench_real(argv[3])};
    if (argc == 5) {
        w.lines = bench_number(argv[4], 1 << 20) * 1000000 / 64;
        w.memory = bench_memory(w.lines * 64);
        link_lines(w.memory, w.lines);
        w.work = strcmp(argv[1], "read") == 0    ? read_in_order
                 : strcmp(argv[1], "chase") == 0 ? chase
                                                 : gather;
    }
    if (w.work == NULL)
        printf("{\"rate\": null}\n");
    else
        printf("{\"rate\": %.1f}\n", run_all(&w, threads));
    free(w.memory);
    return 0;
}
