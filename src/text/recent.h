/* recent.h - a cache of the words that were looked up last, with their ids.
 *
 * The words of a text repeat: the cache finds seven in eight pieces of 25,000 film reviews. For
 * each of these pieces, tem computes no cryptographic hash and does not visit the three places in
 * memory that a search of the vocabulary visits. A hash that only has to be fast gives each word
 * one place in the cache. A new word replaces the one that had its place.
 *
 * For one thread. The cache holds words of the private text: recent_free erases it. */
#ifndef TEXT_RECENT_H
#define TEXT_RECENT_H

#include "tem.h"

#include <stddef.h>

/* Returns the id of a word, or TEM_NO_WORD. */
typedef uint32_t text_find(const void *vocabulary, const char *word, size_t length);

enum {
    RECENT_BYTES = 11, /* longer words are not kept; they are 1 in 100 */
    RECENT_READS = 12  /* bytes that must be readable at a word, whatever its length */
};

/* One place of the cache, which is an array of places. */
typedef struct recent_word recent_word;

/* Makes a cache without words; NULL if there is no memory. Free with recent_free. */
recent_word *recent_new(void);
void recent_free(recent_word *places);

/* Returns what `find` returns for a word. The word is not empty, and RECENT_READS bytes at it are
 * readable. */
uint32_t recent_find(recent_word *places, text_find *find, const void *vocabulary, const char *word,
                     size_t length);

#endif
