/* hash.h - the two hashes of the model file, from libsodium. */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CORE_HASH_BYTES = 32 };

/* BLAKE2b-256, which seals a file. */
void core_hash256(const void *data, size_t bytes, unsigned char hash[CORE_HASH_BYTES]);

/* The same for data that may be large. Asks `stopped` every few megabytes; if that returns true,
 * this function returns false and writes no hash. */
bool core_hash256_unless(const void *data, size_t bytes, bool (*stopped)(void *context),
                         void *context, unsigned char hash[CORE_HASH_BYTES]);

/* SipHash-2-4 under an all-zero key: it decides the place of a word in the word table. */
uint64_t core_hash64(const void *data, size_t bytes);

#endif
