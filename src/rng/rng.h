/* rng.h - random bits, and uniform integers from them.
 *
 * Three sources behind one type, so that a sampler takes its generator as an argument
 * and a test can drive every branch of it:
 *   rng_init_secure   ChaCha20 keyed by the kernel: the only one whose output is private
 *   rng_init_seeded   ChaCha20 keyed by a number: the same stream every time
 *   rng_init_tape     the words that a test wrote down
 *
 * A generator belongs to one thread at a time.
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

/* ChaCha20 with fast key erasure: each refill makes 32 bytes of the next key and then
 * the buffer; a word is erased as it is handed out. Who reads the memory later learns
 * nothing of what was drawn before. */
struct tem_rng {
    rng_source source;
    struct { /* as ChaCha20 makes it */
        unsigned char key[RNG_KEY_BYTES];
        uint64_t buffer[RNG_BUFFER_WORDS];
    } stream;
    unsigned used;       /* words of the buffer that were handed out */
    uint64_t generation; /* secure: of the process this was keyed in */

    const uint64_t *tape;
    uint64_t tape_words, tape_used;
    void (*tape_end)(void *context);
    void *tape_context;
};

/* Of this process; 0 in a child that has drawn nothing yet. */
extern _Atomic(uint64_t) *rng_generation;

/* rng_word when the buffer is used up or must not be used. */
uint64_t rng_next_word(tem_rng *rng);

/* Keyed by the kernel. If the kernel has no entropy to give, the program ends after one line
 * on stderr: there is nothing safe to go on with. */
void rng_init_secure(tem_rng *rng);

/* For tests and experiments. Streams with different (seed, stream) are independent. */
void rng_init_seeded(tem_rng *rng, uint64_t seed, uint64_t stream);

/* Hands out the words of the tape, which the caller keeps. Asked for more, it calls `end`,
 * which must not return (a test jumps out). */
void rng_init_tape(tem_rng *rng, const uint64_t *words, uint64_t count, void (*end)(void *context),
                   void *context);

/* Erases the key and the buffer. */
void rng_wipe(tem_rng *rng);

/* 64 uniform bits. */
static inline uint64_t rng_word(tem_rng *rng) {
    /* A tape's buffer is never filled. */
    if (rng->used == RNG_BUFFER_WORDS ||
        (rng->source == RNG_SECURE &&
         rng->generation != atomic_load_explicit(rng_generation, memory_order_relaxed)))
        return rng_next_word(rng);
    const uint64_t word = rng->stream.buffer[rng->used];
    rng->stream.buffer[rng->used++] = 0;
    return word;
}

/* Uniform on 0 to bound - 1, exactly; bound > 0. */
uint64_t rng_below(tem_rng *rng, uint64_t bound);
u256 rng_below256(tem_rng *rng, const u256 *bound);

/* Uniform on (0, 1], a multiple of 2^-53: for the mechanisms that are floating point. */
double rng_unit(tem_rng *rng);

#endif
