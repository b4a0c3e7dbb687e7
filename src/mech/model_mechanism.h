/* model_mechanism.h - a mechanism over a model, made from a user's options. */
#ifndef MECH_MODEL_MECHANISM_H
#define MECH_MODEL_MECHANISM_H

#include "mech/context.h"
#include "model/model.h"
#include "space/function_words.h"

struct tem_mechanism {
    const tem_model *model;
    const mechanism_ops *ops;
    const tem_mechanism_properties *properties; /* of ops; of the table: mechanism_properties; or
                                                 * `in_context` */
    void *state;                                /* state_bytes of ops, set up by ops->init */
    double epsilon, beta;
    uint32_t count;       /* words */
    bool has_own_weights; /* the caller gave weights */
    bool has_never;       /* the caller named words that are never released */
    uint32_t never_count; /* how many */
    uint32_t *remap;      /* the word that replaces each drawn word; NULL: none */
    char remap_hash[65];  /* or "" */
    word_context context; /* language NULL: the law of a word is the same everywhere */
    tem_mechanism_properties in_context; /* what the mechanism is with that language model */
    char numbers[160];                   /* as in tem_mechanism_info */
    function_words function_words;       /* of the model */
    /* The source of s, gamma and weights. Its hash is "" if there is no certificate. */
    tem_certificate_info certificate;
};

/* These functions do what the functions tem_mechanism_... of the same names in tem.h do. They do
 * not check pointers: the caller passes NULL only where tem.h makes a pointer optional.
 * PRIVACY: mechanism_create refuses a model that is not trusted. */
tem_status mechanism_create(const tem_model *model, const tem_mechanism_options *options,
                            tem_mechanism **mechanism, tem_error *error);
void mechanism_free(tem_mechanism *mechanism);

/* mechanism_create for a mechanism that need not be in the table. Refuses a mechanism with a fault
 * (mechanism_fault), and one that does not keep to its properties or to its certificate. */
tem_status mechanism_make(const tem_model *model, const mechanism_ops *ops,
                          const tem_mechanism_options *options, tem_mechanism **mechanism,
                          tem_error *error);
void mechanism_get_info(const tem_mechanism *mechanism, tem_mechanism_info *info);
const uint32_t *mechanism_weights(const tem_mechanism *mechanism);
tem_status mechanism_self(const tem_mechanism *mechanism, uint32_t word, double *self,
                          tem_error *error);
tem_status mechanism_self_median(const tem_mechanism *mechanism, double *median, tem_error *error);
tem_status mechanism_self_quantile(const tem_mechanism *mechanism, double quantile, double *self,
                                   tem_error *error);

/* Does what tem_mechanism_draw_many in tem.h does. */
tem_status mechanism_draw(const tem_mechanism *mechanism, tem_rng *rng, const uint32_t *words,
                          uint32_t *out, size_t count, tem_error *error);

/* Whether the law of a word depends on what its document shows already. If not, the positions of a
 * document are independent. */
bool mechanism_depends_on_past(const tem_mechanism *mechanism);

/* Fails with TEM_ERR_UNSUPPORTED if mechanism_depends_on_past. All code that takes positions as
 * independent calls this. remedy: what the user can do, after "so ". */
tem_status mechanism_check_independent(const tem_mechanism *mechanism, const char *remedy,
                                       tem_error *error);

/* What a document needs; 0 where the law of a word is the same everywhere, but for slow_draws. */
typedef struct mechanism_document {
    size_t past_words; /* of the past a draw sees so many */
    size_t bytes;      /* of the state, which is zeroed before begin and erased after end */
    size_t slow_draws; /* as mechanism_ops has it */
} mechanism_document;

mechanism_document mechanism_document_of(const tem_mechanism *mechanism);

/* Begin and end a document, as mechanism_ops has it. They do nothing where the law of a word is the
 * same everywhere. */
tem_status mechanism_begin(const tem_mechanism *mechanism, void *document, tem_error *error);
void mechanism_end(const tem_mechanism *mechanism, void *document);

/* Draws for one word of a document of a mechanism that depends on the past, with the checks of
 * mechanism_draw. */
tem_status mechanism_draw_next(const tem_mechanism *mechanism, void *document,
                               const released_past *past, tem_rng *rng, uint32_t *word,
                               tem_error *error);

/* Returns NULL if the bound of tem_mechanism_create holds for what the draws of the mechanism tell.
 * Otherwise returns the reason why the mechanism states no bound, in the words of
 * tem_job_why_not_private.
 * PRIVACY: all code that claims privacy or charges for it calls this function, and never looks at
 * which mechanism it has. */
const char *mechanism_why_unbounded(const tem_mechanism *m);

/* The form of the mechanism's law (law_form.h), or NULL: it has another law, or a map or a language
 * model that changes it. */
const law_form *mechanism_form(const tem_mechanism *mechanism);

/* Whether the law is that of `tem`: a_y exp(-s min(d, gamma)) / Z. */
bool mechanism_is_exponential(const tem_mechanism *mechanism);

/* Fail with TEM_ERR_UNSUPPORTED: the first if mechanism_form is NULL (channels need a form), the
 * second if the law is not exponential (audits and certificates need one). */
tem_status mechanism_check_form(const tem_mechanism *mechanism, tem_error *error);
tem_status mechanism_check_exponential(const tem_mechanism *mechanism, tem_error *error);

/* Sets probabilities[y] to P(y | word) for all words y, with a relative error of at most
 * 10^-MECHANISM_ROW_DIGITS. word may be TEM_NO_WORD. Fails with TEM_ERR_UNSUPPORTED if tem cannot
 * compute the law of the mechanism, TEM_ERR_MEMORY. Any thread. */
tem_status mechanism_row(const tem_mechanism *mechanism, uint32_t word, double *probabilities,
                         tem_error *error);

/* The same after a past, for a mechanism with a language model; `document` as for
 * mechanism_draw_next. Its number `word` is the probability that the word stays. Fails as the
 * language model does. */
tem_status mechanism_row_after(const tem_mechanism *mechanism, void *document,
                               const released_past *past, uint32_t word, double *probabilities,
                               tem_error *error);

/* Sets values[y] to the weight of each word y in a document that shows these words, in a document
 * of its own. Refuses words that are none, and a mechanism without a language model, with
 * TEM_ERR_ARGUMENT; also fails as the language model does. */
tem_status mechanism_weights_after(const tem_mechanism *mechanism, const uint32_t *words,
                                   size_t count, uint64_t *values, tem_error *error);

/* Whether mechanism_column can be called: the columns of the law need no pass over all rows. */
bool mechanism_has_columns(const tem_mechanism *mechanism);

/* Sets likelihoods[w] to P(y | w) for all words w and, as the last number, for an unknown word,
 * with the error of mechanism_row. y is an output. Any thread. */
void mechanism_column(const tem_mechanism *mechanism, uint32_t y, double *likelihoods);

/* Whether `word` is the id of a word of the model, or TEM_NO_WORD. */
bool mechanism_has_word(const tem_mechanism *mechanism, uint32_t word);

#endif
