/* text_sources.h - which public texts a language model was made of: enough to notice that a text to
 * be made private is one of them.
 *
 * Whoever has a language model learns much of the text behind it. So tem keeps the hash of each
 * text, to refuse the same file as an input, and hashes of lines, to warn where most documents of
 * an input are lines of these texts.
 *
 * A line is the ids of its words, so that case, spaces and punctuation do not matter, and the same
 * line is found in a field of a table. Its hash has 32 bits. Lines of fewer than 5 known words say
 * little, and are not kept. At most 2^18 hashes are kept, 1 MiB: of more lines those whose hash is
 * below 2^(32 - shift). Then a line that is found stands for 2^shift of them. */
#ifndef MECH_TEXT_SOURCES_H
#define MECH_TEXT_SOURCES_H

#include "core/hash.h"
#include "tem.h"

#include <stdbool.h>

enum { SOURCES_MOST = 4096, SOURCE_LINES_MOST = 1 << 18, SOURCE_LINE_WORDS = 5 };

/* A text: its content, unpacked. 40 bytes, as in a file. */
typedef struct source_text {
    uint64_t bytes;
    unsigned char hash[CORE_HASH_BYTES]; /* BLAKE2b-256 */
} source_text;

_Static_assert(sizeof(source_text) == 40, "the records of the file");

typedef struct text_sources {
    source_text *texts;
    uint32_t *lines; /* hashes, ascending after text_sources_settle */
    uint32_t count, line_count, line_shift;
    uint32_t text_room, line_room;
} text_sources;

void text_sources_free(text_sources *s);

/* Adds a text, unless it is there. Fails with TEM_ERR_RANGE for more than SOURCES_MOST, and
 * TEM_ERR_MEMORY. */
tem_status text_sources_add_text(text_sources *s, const source_text *text, tem_error *error);

/* Adds the hash of a line. TEM_ERR_MEMORY. */
tem_status text_sources_add_line(text_sources *s, uint32_t hash, tem_error *error);

/* Adds all of another one. Fails as these two. */
tem_status text_sources_add(text_sources *s, const text_sources *more, tem_error *error);

/* Sorts the lines, once each, and leaves out those above the limit. Call it after the last one. */
void text_sources_settle(text_sources *s);

/* What one line that is found stands for: 2^shift, or 0 if it is not there. */
uint32_t text_sources_find_line(const text_sources *s, uint32_t hash);

/* Whether a text is among them, by its content. */
bool text_sources_have_text(const text_sources *s, const source_text *text);

/* Whether a text of this size is among them. */
bool text_sources_have_size(const text_sources *s, uint64_t bytes);

/* ---- the hash of a line ---- */

typedef struct line_hash {
    uint64_t state;
    uint32_t known; /* words of the vocabulary so far */
} line_hash;

/* h = (h + id + 1) K mod 2^64, then h ^= h >> 32. An unknown word has the id 2^32 - 1. */
static inline void line_hash_add(line_hash *h, uint32_t id) {
    h->state = (h->state + id + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h->state ^= h->state >> 32;
    h->known += id != TEM_NO_WORD;
}

static inline bool line_hash_counts(const line_hash *h) {
    return h->known >= SOURCE_LINE_WORDS;
}

static inline uint32_t line_hash_end(const line_hash *h) {
    return (uint32_t)(h->state * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#endif
