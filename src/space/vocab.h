/* vocab.h - the vocabulary: word <-> id, both in O(1).
 *
 * A vocab is a view of three arrays, in memory that it owns (vocab_make) or in a
 * mapped file that may be damaged. No function here trusts their content: each
 * compares ids with count and starts with byte_count, and a search of the table ends
 * after slot_count steps whatever the table holds.
 *
 * The table uses open addressing with linear probing. slot_count is a power of two and
 * at least twice the number of words. An empty slot is 0. Any other slot has the upper
 * 32 bits of the word's hash in its upper half and id + 1 in its lower half. A search
 * starts at the slot given by the lower bits of the hash. The hash is SipHash-2-4 with
 * an all-zero key: it is part of the file format, and libsodium has it. The search
 * compares 32 bits of the hash first, so it hardly ever reads the bytes of a wrong
 * word. */
#ifndef SPACE_VOCAB_H
#define SPACE_VOCAB_H

#include "tem.h"

#include <stdbool.h>

typedef struct vocab {
    uint32_t count;
    const uint32_t *starts; /* count + 1 offsets into bytes, ascending */
    const char *bytes;
    uint64_t byte_count; /* below 2^32 */
    const uint64_t *slots;
    uint64_t slot_count;
} vocab;

typedef struct word_span {
    const char *start;
    size_t length;
} word_span;

/* Why vocab_make refused the word of row `row`. For a repeated word, `earlier_row` is
 * the row where it stood first. `reason` completes the sentence "the word ...". */
typedef struct vocab_fault {
    uint32_t row;
    uint32_t earlier_row; /* == row unless the word is repeated */
    const char *reason;
} vocab_fault;

/* Copies `count` words, gives them the ids 0 to count - 1, and builds the table. A word
 * must not be empty, must have at most TEM_WORD_BYTES_MAX bytes, must be UTF-8 without
 * NUL, tab, line feed or carriage return, and must not repeat another word. Fails with
 * TEM_ERR_MEMORY or TEM_ERR_FORMAT. For TEM_ERR_FORMAT it fills *fault with the first
 * row whose word is wrong by itself or, if there is none, with the first repeated word.
 * The caller frees *out with vocab_free. */
tem_status vocab_make(const word_span *words, uint32_t count, vocab *out, vocab_fault *fault);

/* Frees what vocab_make allocated. Not for views of a mapped file. */
void vocab_free(vocab *v);

/* Returns the number of slots for a vocabulary of `count` words. */
uint64_t vocab_slot_count(uint32_t count);

/* Returns the word with this id, or NULL if the id or the view is bad. */
const char *vocab_word(const vocab *v, uint32_t id, size_t *length);

/* Returns the id of a word, or TEM_NO_WORD. */
uint32_t vocab_find(const vocab *v, const char *word, size_t length);

/* Checks every word as vocab_make does, except for repeated words: every possible output must be
 * valid text. Fails with TEM_ERR_DAMAGED. */
tem_status vocab_check_words(const vocab *v, tem_error *error);

/* Checks everything that can be wrong in a damaged view: the starts, every word as in
 * vocab_make, and that vocab_make would build the same table. Fails with
 * TEM_ERR_MEMORY or TEM_ERR_DAMAGED. */
tem_status vocab_verify(const vocab *v, tem_error *error);

#endif
