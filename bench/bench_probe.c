/* bench_probe.c - the speed limit of a sampler that reads memory once per level.
 *
 *   bench_probe WORDS NEIGHBORS THREADS SECONDS
 *
 * A word costs 16 bytes of the generator that tem uses (libsodium's ChaCha20, in blocks of
 * 4 KiB) and two loads: one from a table of 64 bytes per word, then one from a table of 8
 * bytes per list entry, at an address that depends on the first. The probe compares nothing
 * and writes nothing. Its addresses are spread evenly. Those of a text are not: its frequent
 * words stay in the cache, so a sampler may be faster than this limit. */
#include "bench_common.h"

#include <pthread.h>
#include <sodium.h>

enum { PIECE = 4096, LINE = 64 };

typedef struct prober {
    const uint64_t *lines;   /* WORDS x 64 bytes */
    const uint64_t *entries; /* WORDS x NEIGHBORS x 8 bytes */
    uint64_t words, entry_count;
    double seconds;
    uint64_t probes, sum; /* the sum keeps the loads from being optimized away */
    pthread_t thread;
} prober;

static void probe_piece(prober *p, const uint64_t *bits) {
    for (size_t i = 0; i < PIECE / 8; i += 2) {
        const uint64_t line = p->lines[bench_below(bits[i], p->words) * (LINE / 8)];
        p->sum += p->entries[bench_below(bits[i + 1] ^ line, p->entry_count)];
    }
    p->probes += PIECE / 16;
}

static void *probe(void *argument) {
    prober *p = argument;
    unsigned char key[crypto_stream_chacha20_KEYBYTES];
    uint64_t bits[PIECE / 8], number = 0;
    crypto_stream_chacha20_keygen(key);
    const double start = bench_now();
    do
        for (int i = 0; i < 64; i++) {
            number++;
            crypto_stream_chacha20((unsigned char *)bits, sizeof bits,
                                   (const unsigned char *)&number, key);
            probe_piece(p, bits);
        }
    while (bench_now() - start < p->seconds);
    p->seconds = bench_now() - start;
    return NULL;
}

static uint64_t *random_table(uint64_t count) {
    uint64_t *table = bench_memory(count * 8), state = 1;
    for (uint64_t i = 0; i < count; i++)
        table[i] = bench_next(&state);
    return table;
}

int main(int argc, char **argv) {
    if (argc != 5 || sodium_init() < 0)
        bench_die("usage", "bench_probe WORDS NEIGHBORS THREADS SECONDS");
    const uint64_t words = bench_number(argv[1], TEM_WORDS_MAX);
    const uint64_t entry_count = words * bench_number(argv[2], 65536);
    const unsigned threads = (unsigned)bench_number(argv[3], BENCH_THREADS_MAX);
    uint64_t *lines = random_table(words * (LINE / 8)), *entries = random_table(entry_count);
    prober probers[BENCH_THREADS_MAX];
    double rate = 0;
    uint64_t sum = 0;
    for (unsigned i = 0; i < threads; i++) {
        probers[i] = (prober){.lines = lines,
                              .entries = entries,
                              .words = words,
                              .entry_count = entry_count,
                              .seconds = bench_real(argv[4])};
        if (pthread_create(&probers[i].thread, NULL, probe, &probers[i]) != 0)
            bench_die("thread", "cannot be started");
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(probers[i].thread, NULL);
        rate += (double)probers[i].probes / probers[i].seconds;
        sum += probers[i].sum;
    }
    printf("{\"words_per_s\": %.3f, \"sum\": %llu}\n", rate, (unsigned long long)sum);
    free(entries);
    free(lines);
    return 0;
}
