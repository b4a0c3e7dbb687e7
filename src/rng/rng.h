/* rng.h - random bits, and uniform integers made from them.
 *
 * One type has three sources. A sampler takes its generator as an argument, so a test can drive
 * every branch of the sampler:
 *
 *   rng_init_secure   ChaCha20 keyed by the kernel: the only source whose output is private
 *   rng_init_seeded   ChaCha20 keyed by a number: the same stream every time
 *   rng_init_tape     the words that a test wrote down
 *
 * A generator belongs to one thread at a time. A word here is a number of 64 bits.
 *
 * PRIVACY: the guarantee is stated for ideal random bits. With the secure source it is
 * computational: as good as ChaCha20 and the kernel's entropy. */
#ifndef RNG_RNG_H
#define RNG_RNG_H

#include "core/u256.h"
#include "tem.h"

#include <stdatomic.h>

enum { RNG_KEY_BYTES = 32, RNG_BUFFER_WORDS = 508 };

typedef enum rng_source { RNG_SECURE = 1, RNG_SEEDED, RNG_TAPE } rng_source;

/* ChaCha20 with fast key erasure. Each refill makes 32 bytes for the next key, and then the buffer.
 * A generator erases each word of the buffer as it hands the word out. So whoever reads the memory
 * later learns nothing about earlier words. */
struct tem_rng {
    rng_source source;
    struct { /* in the order of ChaCha20's output */
        unsigned char key[RNG_KEY_BYTES];
        uint64_t buffer[RNG_BUFFER_WORDS];
    } stream;
    unsigned used;       /* words of the buffer that were handed out */
    uint64_t generation; /* secure: rng_generation when this was keyed */

    const uint64_t *tape;
    uint64_t tape_words, tape_used;
    void (*tape_end)(void *context);
    void *tape_context;
};

/* The generation number of this process; 0 until this process, which may be a child, first uses a
 * secure generator. */
extern _Atomic(uint64_t) *rng_generation;

/* The slow path of rng_word: the buffer is used up, or must not be used because the process has
 * forked. */
uint64_t rng_next_word(tem_rng *rng);

/* Makes a generator that is keyed by the kernel. If the kernel has no entropy to give, prints one
 * line to stderr and ends the program: no safe way to continue exists. */
void rng_init_secure(tem_rng *rng);

/* Makes a generator with a fixed stream, for tests and experiments. Streams with different (seed,
 * stream) are independent. */
void rng_init_seeded(tem_rng *rng, uint64_t seed, uint64_t stream);

/* Makes a generator that hands out the words of the tape. The caller keeps the tape alive. When the
 * tape is used up, the generator calls `end`, which must not return (a test jumps out). */
void rng_init_tape(tem_rng *rng, const uint64_t *words, uint64_t count, void (*end)(void *context),
                   void *context);

/* Erases the generator with its key and buffer. */
void rng_wipe(tem_rng *rng);

/* 64 uniform bits. */
static inline uint64_t rng_word(tem_rng *rng) {
    /* The buffer of a tape is never filled, so a tape always takes the slow path. */
    if (rng->used == RNG_BUFFER_WORDS ||
        (rng->source == RNG_SECURE &&
         rng->generation != atomic_load_explicit(rng_generation, memory_order_relaxed)))
        return rng_next_word(rng);
    const uint64_t word = rng->stream.buffer[rng->used];
    rng->stream.buffer[rng->used++] = 0;
    return word;
}

/* Draw a number uniform on 0 to bound - 1, exactly; bound > 0. */
uint64_t rng_below(tem_rng *rng, uint64_t bound);
u256 rng_below256(tem_rng *rng, const u256 *bound);

/* Draws a number uniform on (0, 1], a multiple of 2^-53, for mechanisms that use floating point. */
double rng_unit(tem_rng *rng);

#endif
