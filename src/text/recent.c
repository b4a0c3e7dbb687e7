/* recent.c - a cache of the words that were looked up last. */
#include "text/recent.h"

#include "core/memory.h"

#include <stdbool.h>
#include <string.h>

/* The places take 128 kB, half of a small L2 cache. They find 88 % of the pieces; a quarter as many
 * places find 77 %. Twice as many made cutting 5 % faster where the L2 cache has 1 MB. */
enum { PLACES_LOG2 = 13, PLACES = 1 << PLACES_LOG2 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the first byte of a word is the lowest of an integer");

/* 16 bytes, so that no place lies on two cache lines. */
struct recent_word {
    uint64_t first;  /* the first eight bytes, zeros after a shorter word */
    uint32_t second; /* three more and, in the highest byte, the length; 0: no word yet */
    uint32_t id;
};

recent_word *recent_new(void) {
    return core_alloc_zero(PLACES, sizeof(recent_word));
}

void recent_free(recent_word *places) {
    if (places != NULL)
        explicit_bzero(places, PLACES * sizeof *places);
    core_free(places);
}

/* Copies a fixed number of bytes and masks them, since a copy of `length` bytes would be a call. */
static recent_word key_of(const char *word, size_t length) {
    recent_word key = {0, 0, 0};
    memcpy(&key.first, word, sizeof key.first);
    if (length <= 8) {
        key.first &= UINT64_MAX >> (64 - 8 * length);
    } else {
        memcpy(&key.second, word + 8, sizeof key.second);
        key.second &= ((uint32_t)1 << 8 * (length - 8)) - 1;
    }
    key.second |= (uint32_t)length << 24;
    return key;
}

/* The upper bits of a product depend on every bit of its factors. */
static size_t place_of(const recent_word *key) {
    const uint64_t mixed = key->first + key->second * 0x9e3779b97f4a7c15u;
    return (size_t)(mixed * 0xd6e8feb86659fd93u >> (64 - PLACES_LOG2));
}

uint32_t recent_find(recent_word *places, text_find *find, const void *vocabulary, const char *word,
                     size_t length) {
    if (length > RECENT_BYTES)
        return find(vocabulary, word, length);
    recent_word key = key_of(word, length);
    recent_word *place = &places[place_of(&key)];
    if (place->first != key.first || place->second != key.second) {
        key.id = find(vocabulary, word, length);
        *place = key;
    }
    return place->id;
}
