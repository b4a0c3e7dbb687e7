/* replacer.h - replaces one document.
 *
 * PRIVACY: this is the only place where pieces of a text become output. For each piece that is a
 * word, either the mechanism draws, or a policy that the user named handles the piece. Nothing else
 * is copied. So the output depends on the draws, the options, the number of pieces (with
 * keep_lines: in each line) and on what those policies release. If the words come out in a random
 * order or as counts, its law does not depend on the order of the pieces either. It does not depend
 * on white space, line ends, case or normal form (tests/unit/test_spelling.c). */
#ifndef JOB_REPLACER_H
#define JOB_REPLACER_H

#include "core/buffer.h"
#include "job/drawing.h"
#include "job/repeats.h"
#include "job/sentence_ends.h"
#include "job/word_order.h"
#include "mech/model_mechanism.h"
#include "text/pieces.h"

/* A word of the document that waits for its draw, or for that of the same word before it. Only with
 * TEM_REPEAT_ONCE. */
typedef struct waiting_word {
    uint32_t entry; /* of r->repeats; REPEATS_NONE: no content word */
    bool is_new;    /* the document has not said it before: it is drawn for */
} waiting_word;

/* A piece of the document that waits to be put out: for its draw, or with bytes of its own. */
typedef struct waiting_piece {
    released_kind kind; /* TEM_NO_WORD: the next of the drawn words */
    uint32_t bytes;     /* else: so many of `kept` */
} waiting_piece;

/* For one thread. Keeps its memory between documents. */
typedef struct replacer {
    const tem_mechanism *mechanism;
    tem_text_options options; /* the policies are not 0: defaults are filled in */
    bool dry_run;             /* count, and draw nothing */
    const tem_run *run;       /* of this thread; its callback is asked within a document; or NULL */
    size_t unasked;           /* bytes handled since the callback was last asked */
    text_pieces pieces;
    text_pieces reader; /* cuts output, to see what reads back */
    sentence_ends ends;
    text_drawing drawing;
    core_buffer stripped; /* a document in NFC, without its tags */
    core_buffer drawn;    /* uint32_t: words to draw for, then the words drawn */
    core_buffer said;     /* waiting_word: for each of `drawn` */
    core_buffer waiting;  /* waiting_piece: output in order */
    core_buffer kept;     /* the bytes of those that are not drawn */
    repeats repeats;      /* with TEM_REPEAT_ONCE: the content words of the document */
    word_order order;     /* the words of the document, unless they come out in their order */
    text_sources sources; /* what the language model was made of */

    /* of the current document */
    tem_rng *rng;
    core_buffer *out;
    tem_counts counts;
    line_hash line;
    bool line_begins;
} replacer;

/* Return the name of a policy, or NULL if there is no such policy. */
const char *policy_oov_name(tem_oov oov);
const char *policy_punctuation_name(tem_punctuation punctuation);
const char *policy_order_name(tem_order order);
const char *policy_missing_name(tem_missing missing);
const char *policy_style_name(tem_style style);
const char *policy_repeat_name(tem_repeat repeat);

/* The style of a run: 0 stands for joined words with a language model, and for words without. */
tem_style policy_style_of(const tem_mechanism *mechanism, tem_style style);

/* The words that cost under these policies. PRIVACY: all code that adds up costs calls this. */
uint64_t counts_charged(const tem_text_options *options, const tem_counts *counts);

/* total += added */
void counts_add(tem_counts *total, const tem_counts *added);

/* Implements tem_counts_are_foreign. */
bool counts_are_foreign(const tem_mechanism *mechanism, const tem_counts *counts);

/* Implements tem_counts_are_public. */
bool counts_are_public(const tem_counts *counts);

/* vocab_find as a text_find (text/recent.h). vocabulary: a vocab. */
uint32_t replacer_find(const void *vocabulary, const char *word, size_t length);

/* Prepares a replacer. options NULL: all defaults. TEM_ERR_ARGUMENT for an invalid policy. */
tem_status replacer_init(replacer *r, const tem_mechanism *mechanism,
                         const tem_text_options *options, tem_error *error);
void replacer_free(replacer *r);

/* Appends the private form of a text to out, and adds one document with its words to counts. The
 * output is one line, unless keep_lines asks for more. With dry_run, draws and appends nothing. On
 * failure, which may be TEM_ERR_CANCELLED, out and counts are as they were. */
tem_status replacer_run(replacer *r, tem_rng *rng, const char *text, size_t bytes, core_buffer *out,
                        tem_counts *counts, tem_error *error);

/* Appends outputs that were drawn before to out, as one line in the style of the options. Draws
 * nothing. words: ids. On failure out is as it was. */
tem_status replacer_write(replacer *r, const uint32_t *words, size_t count, core_buffer *out,
                          tem_error *error);

/* Implements tem_privatize_text. counts may be NULL. */
tem_status replace_text(const tem_mechanism *mechanism, const tem_text_options *options,
                        tem_rng *rng, const char *text, size_t bytes, const tem_run *run,
                        char **out, size_t *out_bytes, tem_counts *counts, tem_error *error);

#endif
