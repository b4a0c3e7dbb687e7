/* replacer.h - one document, replaced.
 *
 * PRIVACY: this is the only place where pieces of a text become output. Each piece that is
 * a word is drawn for, or handled by a policy that the user named; nothing else is
 * copied. So the output depends on the draws, the options and the number of pieces (with
 * keep_lines: in each line), and on what those policies release: not on white space, line ends,
 * case or normal form (tests/unit/test_spelling.c). */
#ifndef JOB_REPLACER_H
#define JOB_REPLACER_H

#include "core/buffer.h"
#include "mech/tem_mechanism.h"
#include "text/pieces.h"

/* For one thread; memory is kept between documents. */
typedef struct replacer {
    const tem_mechanism *mechanism;
    tem_text_options options; /* no zeros */
    bool dry_run;             /* counts, draws nothing */
    const tem_run *run; /* of this thread: asked within a document whether to go on; or NULL */
    size_t unasked;     /* bytes since it was asked last */
    text_pieces pieces;
    core_buffer stripped; /* a document without its tags */
    core_buffer drawn;    /* uint32_t: words to be drawn for, then those drawn */
    core_buffer waiting;  /* what is to be put out, and the places of those words in it */
} replacer;

/* The names of the policies; NULL: no such policy. */
const char *policy_oov_name(tem_oov oov);
const char *policy_punctuation_name(tem_punctuation punctuation);
const char *policy_missing_name(tem_missing missing);

/* total += added */
void counts_add(tem_counts *total, const tem_counts *added);

/* vocab_find as text/pieces.h wants it: the vocabulary is a vocab. */
uint32_t replacer_find(const void *vocabulary, const char *word, size_t length);

/* TEM_ERR_ARGUMENT for a policy that there is not. options NULL: all defaults. */
tem_status replacer_init(replacer *r, const tem_mechanism *mechanism,
                         const tem_text_options *options, tem_error *error);
void replacer_free(replacer *r);

/* Appends the private form of a text to out and adds to counts; one document, and one line of
 * output unless keep_lines asks for more. With dry_run nothing is drawn or appended. On failure,
 * which may be TEM_ERR_CANCELLED, out is as it was. */
tem_status replacer_run(replacer *r, tem_rng *rng, const char *text, size_t bytes, core_buffer *out,
                        tem_counts *counts, tem_error *error);

/* tem_privatize_text. counts may be NULL. */
tem_status replace_text(const tem_mechanism *mechanism, const tem_text_options *options,
                        tem_rng *rng, const char *text, size_t bytes, const tem_run *run,
                        char **out, size_t *out_bytes, tem_counts *counts, tem_error *error);

#endif
