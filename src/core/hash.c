/* hash.c - the two hashes of the model file, from libsodium. */
#include "core/hash.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(CORE_HASH_BYTES == crypto_generichash_BYTES, "BLAKE2b-256");

/* sodium_init picks the fastest BLAKE2b of the machine. If it fails, the portable one stays in
 * place and gives the same hash. If the kernel gives no random bytes, sodium_init would end the
 * program without a message, so this function does not call it then. A hash needs no random bytes;
 * src/rng needs them, and prints a message. */
static void init_sodium(void) {
    if (getrandom(NULL, 0, 0) < 0 || sodium_init() < 0)
        return;
}

static void ready_sodium(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_sodium);
}

void core_hash256(const void *data, size_t bytes, unsigned char hash[CORE_HASH_BYTES]) {
    ready_sodium();
    crypto_generichash(hash, CORE_HASH_BYTES, data, bytes, NULL, 0);
}

bool core_hash256_unless(const void *data, size_t bytes, bool (*stopped)(void *context),
                         void *context, unsigned char hash[CORE_HASH_BYTES]) {
    enum { CHUNK_BYTES = 4 << 20 };
    crypto_generichash_state state;
    ready_sodium();
    crypto_generichash_init(&state, NULL, 0, CORE_HASH_BYTES);
    for (size_t at = 0; at < bytes; at += CHUNK_BYTES) {
        const size_t chunk = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        crypto_generichash_update(&state, (const unsigned char *)data + at, chunk);
        if (stopped(context))
            return false;
    }
    crypto_generichash_final(&state, hash, CORE_HASH_BYTES);
    return true;
}

uint64_t core_hash64(const void *data, size_t bytes) {
    static const unsigned char zero_key[crypto_shorthash_KEYBYTES] = {0};
    unsigned char digest[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    crypto_shorthash(digest, data, bytes, zero_key);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}
