/* repeats.c - the content words that a document has said, and what they became. */
#include "job/repeats.h"

#include "tem.h"

#include <sodium.h>
#include <string.h>

enum { SLOTS_LEAST = 256 };

typedef struct repeats_entry {
    uint64_t hash;
    size_t start, length; /* of its bytes */
    uint32_t output;
} repeats_entry;

static repeats_entry *entries_of(const repeats *r) {
    return (repeats_entry *)(void *)r->entries.data;
}

static size_t count_of(const repeats *r) {
    return r->entries.size / sizeof(repeats_entry);
}

static uint64_t hash_of(const char *word, size_t length) {
    static const unsigned char key[crypto_shorthash_KEYBYTES];
    uint64_t hash = 0;
    _Static_assert(sizeof hash == crypto_shorthash_BYTES, "the hash fills a number");
    crypto_shorthash((unsigned char *)&hash, (const unsigned char *)word, length, key);
    return hash;
}

/* Returns the slot of a word, or the empty one where it belongs. There is always an empty one. */
static uint32_t *slot_of(const repeats *r, uint64_t hash, const char *word, size_t length) {
    uint32_t *slots = (uint32_t *)(void *)r->slots.data;
    const size_t mask = r->slots.size / sizeof *slots - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        if (slots[at] == 0)
            return &slots[at];
        const repeats_entry *e = &entries_of(r)[slots[at] - 1];
        if (e->hash == hash && e->length == length &&
            memcmp(r->bytes.data + e->start, word, length) == 0)
            return &slots[at];
    }
}

/* Makes the table large enough for one more word: a power of two, at least half empty. */
static bool make_slots(repeats *r) {
    const size_t count = r->slots.size / sizeof(uint32_t);
    if (2 * (count_of(r) + 1) <= count)
        return true;
    const size_t wanted = count == 0 ? SLOTS_LEAST : 2 * count;
    if (!core_buffer_reserve(&r->slots, (wanted - count) * sizeof(uint32_t)))
        return false;
    r->slots.size = wanted * sizeof(uint32_t);
    memset(r->slots.data, 0, r->slots.size);
    for (size_t i = 0; i < count_of(r); i++) {
        const repeats_entry *e = &entries_of(r)[i];
        *slot_of(r, e->hash, r->bytes.data + e->start, e->length) = (uint32_t)i + 1;
    }
    return true;
}

tem_status repeats_find(repeats *r, const char *word, size_t length, uint32_t *entry, bool *is_new,
                        tem_error *error) {
    const repeats_entry added = {.hash = hash_of(word, length),
                                 .start = r->bytes.size,
                                 .length = length,
                                 .output = TEM_NO_WORD};
    if (!make_slots(r))
        return core_fail_memory(error);
    uint32_t *slot = slot_of(r, added.hash, word, length);
    *is_new = *slot == 0;
    if (*is_new) {
        if (count_of(r) == REPEATS_MOST)
            return core_fail(error, TEM_ERR_RANGE,
                             "a document has more than %u different content words: it cannot be "
                             "privatized with each of them once",
                             (unsigned)REPEATS_MOST);
        if (!core_buffer_add(&r->bytes, word, length) ||
            !core_buffer_add(&r->entries, &added, sizeof added))
            return core_fail_memory(error);
        *slot = (uint32_t)count_of(r);
    }
    *entry = *slot - 1;
    return TEM_OK;
}

uint32_t repeats_output(const repeats *r, uint32_t entry) {
    return entries_of(r)[entry].output;
}

void repeats_set(repeats *r, uint32_t entry, uint32_t output) {
    entries_of(r)[entry].output = output;
}

void repeats_end(repeats *r) {
    core_buffer_clear(&r->bytes);
    core_buffer_clear(&r->entries);
    core_buffer_clear(&r->slots);
}

void repeats_free(repeats *r) {
    core_buffer_free(&r->bytes);
    core_buffer_free(&r->entries);
    core_buffer_free(&r->slots);
}
