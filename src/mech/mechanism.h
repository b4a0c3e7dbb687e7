/* mechanism.h - one interface for all mechanisms.
 *
 * A mechanism is one file that defines a mechanism_ops, and one line in mechanisms.c. The rest of
 * tem asks the properties and never the name. A field that a new mechanism leaves out is 0, and 0
 * means "claims nothing, takes nothing, has no law": tem then refuses every request that needs that
 * field. tests/mechanisms/uniform.c is a complete example.
 *
 * PRIVACY: the report states `properties.guarantee`, and a budget is charged for it. A mechanism
 * states a guarantee only if its file proves it or names the theorem. */
#ifndef MECH_MECHANISM_H
#define MECH_MECHANISM_H

#include "mech/law_form.h"
#include "order/order.h"
#include "space/space.h"

/* The arguments of mechanism_ops.init. All of them are public. */
typedef struct mechanism_setup {
    const space *space;
    const neighbour_index *index;
    const rank_order *order; /* NULL: the model has none */
    const char *order_hash;  /* 16 digits of its hash */
    double epsilon;
    double beta, gamma;              /* 0: not given; 0 for mechanisms that do not take gamma */
    bool is_in_context;              /* a language model weighs the outputs: Z differs from word to
                                * word. `form` is then the mechanism's K, and the caller draws */
    const uint32_t *weights;         /* NULL: all 1. A word with the weight 0 must never be drawn; a
                                * mechanism that takes no weights looks at nothing else in them.
                                * Not there after init: weights_init copies them */
    const exponent *certified;       /* s and gamma of a certificate, or NULL */
    const tem_parameter *parameters; /* the mechanism's, and in the same order their values: as */
    const double *numbers;           /* given, or the usual ones; each within its range */
    const uint8_t *listed;           /* 1 for each word of the public list; NULL: it takes none. Not
                                  * there after init */
} mechanism_setup;

/* What stands in an output and was not drawn, as a released_past has it. No id is as large. */
typedef uint32_t released_kind;
#define RELEASED_KEPT_WORD (TEM_NO_WORD - 1)   /* an unknown word, as it was */
#define RELEASED_MASK (TEM_NO_WORD - 2)        /* <unk> in the place of an unknown word */
#define RELEASED_PUNCTUATION (TEM_NO_WORD - 3) /* as it was */
#define RELEASED_LINE_END (TEM_NO_WORD - 4)    /* between two lines of a field */

/* What the output of one document shows before the word that is to be drawn.
 * PRIVACY: for each past the law is one of the word alone, so a document composes adaptively. That
 * holds only if the past is what the output shows: never an original word, never another
 * document. */
typedef struct released_past {
    const uint32_t *words; /* the last ones, in order: ids of outputs, or a released_kind */
    size_t count;          /* past_words of them; all, if the document has fewer */
    uint64_t before;       /* how many came before these */
} released_past;

enum { MECHANISM_PAST_MAX = 1 << 16 };

/* The mechanism's own number with this name, which must be among its parameters. */
double mechanism_number(const mechanism_setup *setup, const char *name);

typedef struct mechanism_ops {
    tem_mechanism_properties properties;

    /* The functions below work on a state of this many bytes. The caller zeroes it before init. */
    size_t state_bytes;

    /* Sets up the state. *beta receives the beta from which init computed gamma; if there is no
     * such beta, init leaves *beta alone. Fails with TEM_ERR_RANGE, TEM_ERR_UNSUPPORTED,
     * TEM_ERR_MEMORY or, for lists that overlap, TEM_ERR_DAMAGED. After a failure the caller still
     * calls `free`. */
    tem_status (*init)(void *state, const mechanism_setup *setup, double *beta, tem_error *error);
    void (*free)(void *state);

    /* Draws an output for each of `count` words. TEM_NO_WORD stands for an unknown word. `out` may
     * be `words` itself. On failure the caller must not release anything. */
    tem_status (*draw)(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error);

    /* Instead of `draw`, for a law that depends on what the document shows already: draws one
     * output. tem then draws the words of a document one after the other, and refuses everything
     * that takes the law of a word for the law at every place (mechanism_check_independent). Such
     * a mechanism has neither `row` nor `form`. `document` is what begin has set up. */
    tem_status (*draw_next)(const void *state, void *document, const released_past *past,
                            uint32_t word, tem_rng *rng, uint32_t *out, tem_error *error);
    size_t past_words; /* draw_next sees so many of the words before, up to MECHANISM_PAST_MAX */

    /* With draw_next: begin and end of each document, which one thread draws from its first word to
     * its last. Its state has document_bytes. It is zeroed before begin, and erased after end,
     * which follows a failed begin as well. NULL instead of a function: there is nothing to do. */
    size_t document_bytes;
    tem_status (*begin)(const void *state, void *document, tem_error *error);
    void (*end)(const void *state, void *document);

    /* The number of draws that take some tens of milliseconds together. After this many draws the
     * caller asks whether to go on. 0: all draws are quick. */
    size_t slow_draws;

    /* The guarantee with a language model, as one sentence. Only for a mechanism with a form whose
     * `init` heeds is_in_context. NULL: it takes no language model. */
    const char *claim_in_context;

    /* Writes the unit of epsilon. NULL instead of a function: it is that of the properties, of the
     * model's metric. */
    void (*unit)(const void *state, char *text, size_t bytes);

    /* Returns the form of a mechanism whose law is a_y K(w, y) / Z(w); it lives as long as the
     * state. It is enough: tem computes rows, columns, any number of digits and the bound from it.
     * NULL instead of a function: the law is of another kind, or it cannot be computed. */
    const law_form *(*form)(const void *state);

    /* Sets probabilities[y] to P(y | word) for all words y; TEM_NO_WORD stands for an unknown word.
     * Each has a relative error of at most 10^-MECHANISM_ROW_DIGITS. This function alone is enough
     * for a law. NULL instead of a function: there is `form`, or the law cannot be computed. Fails
     * with TEM_ERR_MEMORY. Any thread. */
    tem_status (*row)(const void *state, uint32_t word, double *probabilities, tem_error *error);

    /* Sets likelihoods[w] to P(y | w) for all words w and, as the last number, for an unknown word,
     * with the error of `row`. y is an output. NULL instead of a function: whoever needs a column
     * takes it from `form` or from rows. Only for mechanisms with `row`. Any thread. */
    void (*column)(const void *state, uint32_t y, double *likelihoods);

    /* Returns the s and gamma of a mechanism that proves P(y | w) <= exp(2 s min(d(w,w'), gamma))
     * P(y | w') exactly, and has no `form`. NULL: it has one, or nothing is proved. */
    const exponent *(*bound)(const void *state);
} mechanism_ops;

enum { MECHANISM_ROW_DIGITS = 12, MECHANISM_PARAMETERS_MAX = 8 };

/* Returns a text that says what is missing in a mechanism or contradicts itself, or NULL. tem uses
 * no mechanism that has a fault. PRIVACY: a mechanism that claims a guarantee must have the
 * properties on which the claim rests. */
const char *mechanism_fault(const mechanism_ops *ops);

/* How many digits of its law tem can compute: as its properties say; where they say nothing, as its
 * functions tell. 0: none. */
unsigned mechanism_law_digits(const mechanism_ops *ops);

/* The properties of a mechanism of the table, with law_digits as mechanism_law_digits has it.
 * Static. Any thread. */
const tem_mechanism_properties *mechanism_properties(const mechanism_ops *ops);

/* The unit of the mechanism's epsilon, as its properties say; where they say nothing, the
 * mechanism's own name: such an epsilon adds up with no other. */
const char *mechanism_unit(const mechanism_ops *ops);

extern const mechanism_ops mechanism_tem, mechanism_em, mechanism_rank, mechanism_coin,
    mechanism_madlib;
extern const mechanism_ops mechanism_mahalanobis, mechanism_vickrey, mechanism_vickrey_exclude,
    mechanism_gumbel, mechanism_hyperbolic;
extern const mechanism_ops mechanism_santext, mechanism_santext_plus, mechanism_custext,
    mechanism_custext_plus, mechanism_diffractor, mechanism_permute_and_flip;

/* Sets *e as `tem` does: s by exponent_s, and gamma as given or from beta, or all of it by the
 * certificate. *beta is that of mechanism_ops.init. Fails with TEM_ERR_RANGE. */
tem_status mechanism_choose_exponent(const mechanism_setup *setup, exponent *e, double *beta,
                                     tem_error *error);

/* The mechanism with this name, and mechanism number i, counted from 0. NULL if there is none. */
const mechanism_ops *mechanism_find(const char *name);
const mechanism_ops *mechanism_at(unsigned i);

#endif
