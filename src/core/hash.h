/* hash.h - the two hashes of the model file, from libsodium. */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CORE_HASH_BYTES = 32 };

/* BLAKE2b-256: what seals a file. */
void core_hash256(const void *data, size_t bytes, unsigned char hash[CORE_HASH_BYTES]);

/* The same of data that may be large: asks `stopped` now and then, and is false, with no hash, once
 * that says so. */
bool core_hash256_unless(const void *data, size_t bytes, bool (*stopped)(void *context),
                         void *context, unsigned char hash[CORE_HASH_BYTES]);

/* SipHash-2-4 under an all-zero key: where a word stands in its table. */
uint64_t core_hash64(const void *data, size_t bytes);

#endif
