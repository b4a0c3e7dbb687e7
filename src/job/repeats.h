/* repeats.h - the content words that a document has said, and what they became.
 *
 * With TEM_REPEAT_ONCE a document draws once for a content word: where it says the word again, the
 * output comes again. A content word is a word that is not on the public list of function words
 * (space/function_words.h), whether the model knows it or not. Words are equal if their folded
 * bytes are (text/pieces.h).
 *
 * PRIVACY: the promise is then one between documents whose content words repeat at the same places
 * (docs/PRIVACY.md, "Repeated words"). That needs a memory of this document alone: an output that
 * another document drew would tell that both say the word. So the memory is empty when a document
 * begins, and erased when it ends. */
#ifndef JOB_REPEATS_H
#define JOB_REPEATS_H

#include "core/buffer.h"
#include "core/status.h"

#include <stdint.h>

enum { REPEATS_MOST = 1 << 20 }; /* different content words of a document */

#define REPEATS_NONE UINT32_MAX

/* For one thread. Keeps its memory between documents, unless it is large. All zeros: empty. */
typedef struct repeats {
    core_buffer bytes;   /* of the words, one after the other */
    core_buffer entries; /* a word and its output each */
    core_buffer slots;   /* uint32_t: a hash table of entries; 0 is empty */
} repeats;

/* Sets *entry to the number of the word. If the document has not said it before, adds it, and sets
 * *is_new. TEM_ERR_MEMORY, or TEM_ERR_RANGE for more than REPEATS_MOST words. */
tem_status repeats_find(repeats *r, const char *word, size_t length, uint32_t *entry, bool *is_new,
                        tem_error *error);

/* What a word became: TEM_NO_WORD until repeats_set. */
uint32_t repeats_output(const repeats *r, uint32_t entry);
void repeats_set(repeats *r, uint32_t entry, uint32_t output);

/* Forgets the document. */
void repeats_end(repeats *r);
void repeats_free(repeats *r);

#endif
