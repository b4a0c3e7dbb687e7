/* recent.h - the words that were looked up lately, and what the vocabulary answered.
 *
 * The words of a text repeat: of the pieces of 25,000 film reviews seven in eight are found
 * here, which saves them a cryptographic hash and the three places of memory that a search of
 * the vocabulary visits. Each word has one place, by a hash that only has to be fast; the last
 * that came there stays.
 *
 * For one thread. It holds words of the private text: recent_free erases it. */
#ifndef TEXT_RECENT_H
#define TEXT_RECENT_H

#include "tem.h"

#include <stddef.h>

/* The id of a word, or TEM_NO_WORD. */
typedef uint32_t text_find(const void *vocabulary, const char *word, size_t length);

enum {
    RECENT_BYTES = 11, /* longer words are not kept; they are 1 of 100 */
    RECENT_READS = 12  /* bytes that may be read at a word, whatever its length */
};

/* The places, one after the other. */
typedef struct recent_word recent_word;

/* No words yet; NULL if there is no memory. */
recent_word *recent_new(void);
void recent_free(recent_word *places);

/* What `find` answers for a word, which is not empty and has RECENT_READS bytes to read. */
uint32_t recent_find(recent_word *places, text_find *find, const void *vocabulary, const char *word,
                     size_t length);

#endif
