/* drawing.h - one document while its words are drawn: what it has shown so far.
 *
 * A document is one private text: a field, a string, or a line of plain text. The law of most
 * mechanisms depends on the word alone, and nothing is kept for them. The law of others also
 * depends on what stands in the output of the same document already (mechanism.h, draw_next).
 *
 * PRIVACY: the past has what the reader of the output sees, in its order: drawn words, and the kind
 * of what was not drawn; an output that comes again is one more word. It never has an original
 * word, a draw that is not released, or anything of another document: drawing_begin finds it empty.
 * It is erased at the end. */
#ifndef JOB_DRAWING_H
#define JOB_DRAWING_H

#include "core/buffer.h"
#include "mech/model_mechanism.h"

/* For one thread. Keeps its memory between documents. */
typedef struct text_drawing {
    const tem_mechanism *mechanism;
    const tem_run *run; /* its callback is asked between words of a slow mechanism; or NULL */
    size_t unasked;     /* words drawn since it was last asked */
    bool is_open;
    void *state;      /* the mechanism's, of this document; NULL if the mechanism needs none */
    core_buffer past; /* uint32_t: the last words and kinds; fewer than twice past_words of them */
    uint64_t before;  /* how many came before those */
} text_drawing;

/* Prepares for the documents of one mechanism. TEM_ERR_MEMORY. Free with drawing_free, also after
 * a failure. */
tem_status drawing_init(text_drawing *d, const tem_mechanism *mechanism, tem_error *error);
void drawing_free(text_drawing *d);

/* Begins a document, with nothing in its past. Fails as the mechanism does. */
tem_status drawing_begin(text_drawing *d, tem_error *error);

/* Ends a document, and erases its past. Does nothing if none has begun. */
void drawing_end(text_drawing *d);

/* Draws for words that come out in this order, next to each other. `words` are ids, or TEM_NO_WORD,
 * and receive the drawn ones; unspecified ids on failure. Where the past does not matter, many
 * words at once are faster than one by one. Fails as mechanism_draw does, or with
 * TEM_ERR_CANCELLED. */
tem_status drawing_draw(text_drawing *d, tem_rng *rng, uint32_t *words, size_t count,
                        tem_error *error);

/* Notes something that stands in the output and was not drawn: a kind, or an output that comes
 * again. TEM_ERR_MEMORY. */
tem_status drawing_show(text_drawing *d, uint32_t shown, tem_error *error);

#endif
