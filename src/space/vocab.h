/* vocab.h - the vocabulary: word <-> id, both in O(1).
 *
 * A vocab is a view of four arrays, in memory that it owns (vocab_make) or in a
 * mapped file that may be damaged. No function here trusts their content: ids are
 * compared with count, starts with byte_count, and a search of the table ends
 * after slot_count steps whatever it holds.
 *
 * The table: open addressing with linear probing, slot_count a power of two of at
 * least twice the words. A slot is 0 when empty, else the upper 32 bits of the
 * word's hash in its upper half and id + 1 in its lower half; the search starts at
 * the lower bits of the hash. The hash is SipHash-2-4 under an all-zero key: part
 * of the file format, and libsodium has it. Comparing 32 hash bits first saves the
 * visit to the word's bytes for nearly every slot that is not the one. */
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

/* Why vocab_make refused a word: row `row`, and for a repeated word also the row
 * where it stood first. `reason` completes the sentence "the word ...". */
typedef struct vocab_fault {
    uint32_t row;
    uint32_t earlier_row; /* == row unless the word is repeated */
    const char *reason;
} vocab_fault;

/* Copies `count` words, giving them the ids 0 to count - 1, and builds the table.
 * The words are checked: not empty, at most TEM_WORD_BYTES_MAX bytes, UTF-8, none
 * of NUL, tab, line feed, carriage return, no two equal. TEM_OK, TEM_ERR_MEMORY,
 * or TEM_ERR_FORMAT with *fault filled for the first row that is refused. Free
 * with vocab_free. */
tem_status vocab_make(const word_span *words, uint32_t count, vocab *out, vocab_fault *fault);

/* Frees what vocab_make allocated. Not for views of a mapped file. */
void vocab_free(vocab *v);

/* The number of slots for a vocabulary of `count` words. */
uint64_t vocab_slot_count(uint32_t count);

/* The word with this id; NULL if the id or the view is bad. */
const char *vocab_word(const vocab *v, uint32_t id, size_t *length);

/* The id of a word, or TEM_NO_WORD. */
uint32_t vocab_find(const vocab *v, const char *word, size_t length);

/* Checks every word as vocab_make does, but for equal ones: what may be an output is text.
 * TEM_OK or TEM_ERR_DAMAGED. */
tem_status vocab_check_words(const vocab *v, tem_error *error);

/* Checks everything a damaged view could have wrong: the starts, every word as in
 * vocab_make, and that the table is the one vocab_make would build. TEM_OK,
 * TEM_ERR_MEMORY or TEM_ERR_DAMAGED. */
tem_status vocab_verify(const vocab *v, tem_error *error);

#endif
