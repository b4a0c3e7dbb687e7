/* sentence.h - words that read like a sentence. */
#ifndef TEXT_SENTENCE_H
#define TEXT_SENTENCE_H

#include "core/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Changes the words of `text` from `start` on, which spaces separate: the first letter becomes a
 * capital, each word "i" becomes "I", "i'm" becomes "I'm", and a full stop comes after the last
 * word. Folding undoes the
 * capitals, and the full stop is punctuation: the words are found again (text/pieces.h). Returns
 * false if there is no memory. */
bool sentence_write(core_buffer *text, size_t start);

#endif
