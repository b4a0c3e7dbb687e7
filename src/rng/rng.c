/* rng.c - random bits, and uniform integers made from them. */
#include "rng/rng.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(RNG_KEY_BYTES == crypto_stream_chacha20_ietf_KEYBYTES, "ChaCha20's key");

/* PRIVACY: a child process has a copy of every generator. Each copy must get a new key before it
 * gives a word; otherwise parent and child would hand out the same words. The generation number of
 * the process is in a page that the kernel clears in a child, however the child was made. The
 * handler of fork clears it as well: Linux before 4.14 cannot clear the page, and qemu 7.2 claims
 * to clear it but does not. */
_Atomic(uint64_t) *rng_generation;
static _Atomic(uint64_t) generations = 1; /* the last one given out, here or in a parent */

static void forget_generation(void) {
    atomic_store(rng_generation, 0);
}

static uint64_t current_generation(void) {
    uint64_t now = atomic_load_explicit(rng_generation, memory_order_relaxed);
    if (now != 0)
        return now;
    const uint64_t next = atomic_fetch_add(&generations, 1) + 1;
    return atomic_compare_exchange_strong(rng_generation, &now, next) ? next : now;
}

/* Prints the reason in one line, which contains nothing of any text, and ends the program. Without
 * random bits nothing is safe to do, and the decision cannot be left to a caller. The function does
 * not use stdio, because another thread may hold its lock. */
static _Noreturn void end_program(const char *why) {
    char line[256];
    const int length = snprintf(line, sizeof line, "tem: %s; the program ends here\n", why);
    if (write(STDERR_FILENO, line, (size_t)length) != length) {
        /* stderr cannot be written: end anyway */
    }
    abort();
}

/* Fills `bytes` with random bytes from the kernel. Not by randombytes_buf, which ends the program
 * without a message. */
static void fill_from_kernel(void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        const ssize_t got = getrandom((unsigned char *)bytes + done, count - done, 0);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            end_program("the kernel gives no random bytes (getrandom failed)");
    }
}

static void prepare_process(void) {
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char probe = 0;
    /* Without random bytes this ends the program with a message; sodium_init would give none. */
    fill_from_kernel(&probe, sizeof probe);
    if (sodium_init() < 0 || page == MAP_FAILED)
        end_program("the random generator cannot be set up");
    rng_generation = page;
    madvise(page, bytes, MADV_WIPEONFORK);
    if (pthread_atfork(NULL, NULL, forget_generation) != 0)
        end_program("the random generator cannot be made safe against fork");
}

static void init(tem_rng *rng, rng_source source) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_process);
    memset(rng, 0, sizeof *rng);
    rng->source = source;
    rng->used = RNG_BUFFER_WORDS;
}

static void key_from_kernel(tem_rng *rng) {
    rng->generation = current_generation();
    fill_from_kernel(rng->stream.key, sizeof rng->stream.key);
    sodium_memzero(rng->stream.buffer, sizeof rng->stream.buffer);
    rng->used = RNG_BUFFER_WORDS;
}

void rng_init_secure(tem_rng *rng) {
    init(rng, RNG_SECURE);
    key_from_kernel(rng);
}

void rng_init_seeded(tem_rng *rng, uint64_t seed, uint64_t stream) {
    init(rng, RNG_SEEDED);
    memcpy(rng->stream.key, &seed, sizeof seed);
    memcpy(rng->stream.key + sizeof seed, &stream, sizeof stream);
}

void rng_init_tape(tem_rng *rng, const uint64_t *words, uint64_t count, void (*end)(void *context),
                   void *context) {
    init(rng, RNG_TAPE);
    rng->tape = words;
    rng->tape_words = count;
    rng->tape_end = end;
    rng->tape_context = context;
}

void rng_wipe(tem_rng *rng) {
    sodium_memzero(rng, sizeof *rng);
}

/* Makes the next key and fills the buffer. A key serves one buffer only, so the nonce may be
 * constant. */
static void refill(tem_rng *rng) {
    static const unsigned char nonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {0};
    unsigned char key[RNG_KEY_BYTES];
    memcpy(key, rng->stream.key, sizeof key);
    crypto_stream_chacha20_ietf((unsigned char *)&rng->stream, sizeof rng->stream, nonce, key);
    sodium_memzero(key, sizeof key);
    rng->used = 0;
}

static uint64_t tape_word(tem_rng *rng) {
    if (rng->tape_used < rng->tape_words)
        return rng->tape[rng->tape_used++];
    rng->tape_end(rng->tape_context);
    abort(); /* the tape is used up, and any other word would change the law */
}

uint64_t rng_next_word(tem_rng *rng) {
    if (rng->source == RNG_TAPE)
        return tape_word(rng);
    if (rng->source == RNG_SECURE && rng->generation != current_generation())
        key_from_kernel(rng);
    if (rng->used == RNG_BUFFER_WORDS)
        refill(rng);
    return rng_word(rng);
}

/* word * bound = result * 2^64 + low. Each result comes from floor(2^64 / bound) words, or from one
 * more. To make all results equally likely, the function draws again if low < 2^64 mod bound
 * (Lemire 2019). */
uint64_t rng_below(tem_rng *rng, uint64_t bound) {
    u256_wide product = (u256_wide)rng_word(rng) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t more = -bound % bound;
        while ((uint64_t)product < more)
            product = (u256_wide)rng_word(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* The smallest number of the form 2^k - 1 that is at least v. */
static uint64_t mask_for(uint64_t v) {
    return v == 0 ? 0 : UINT64_MAX >> __builtin_clzll(v);
}

u256 rng_below256(tem_rng *rng, const u256 *bound) {
    int top = 3;
    while (top > 0 && bound->limb[top] == 0)
        top--;
    /* The mask has the bits of bound, not of bound - 1. For a power of two that is one bit too
     * many, which costs random words but does not change the result's law. */
    const uint64_t mask = mask_for(bound->limb[top]);
    u256 word = {{0, 0, 0, 0}};
    do {
        for (int i = top; i >= 0; i--)
            word.limb[i] = rng_word(rng);
        word.limb[top] &= mask;
    } while (!u256_less(&word, bound));
    return word;
}

double rng_unit(tem_rng *rng) {
    return (double)((rng_word(rng) >> 11) + 1) * 0x1p-53;
}
