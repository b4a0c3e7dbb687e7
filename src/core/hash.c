/* hash.c - the two hashes of the model file, from libsodium. */
#include "core/hash.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

_Static_assert(CORE_HASH_BYTES == crypto_generichash_BYTES, "BLAKE2b-256");

/* sodium_init picks the fastest BLAKE2b of the machine. Should it fail, the portable
 * one stays in place and gives the same hash. */
static void init_sodium(void) {
    if (sodium_init() < 0)
        return;
}

void core_hash256(const void *data, size_t bytes, unsigned char hash[CORE_HASH_BYTES]) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_sodium);
    crypto_generichash(hash, CORE_HASH_BYTES, data, bytes, NULL, 0);
}

uint64_t core_hash64(const void *data, size_t bytes) {
    static const unsigned char zero_key[crypto_shorthash_KEYBYTES] = {0};
    unsigned char digest[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    crypto_shorthash(digest, data, bytes, zero_key);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}
