/* join.h - pieces of words come together again: "do n't" and "don t" become "don't". */
#ifndef TEXT_JOIN_H
#define TEXT_JOIN_H

#include "text/pieces.h"

/* Joins words of `text` from `start` on, which spaces separate, with the endings of English
 * contractions and genitives after them. It joins two words only if cutting the joined text gives
 * exactly these two words again, as the vocabulary of `cutter` has it (pieces.h). So whoever reads
 * the text finds the same words. A word takes one ending at most. The text does not grow.
 * TEM_ERR_MEMORY; then the text is as it was, or joined in part. */
tem_status join_words(text_pieces *cutter, core_buffer *text, size_t start, tem_error *error);

#endif
