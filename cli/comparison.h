/* comparison.h - mechanisms side by side at equal attack. */
#ifndef CLI_COMPARISON_H
#define CLI_COMPARISON_H

#include "mechanism_options.h"
#include "tem_compare.h"

/* What all mechanisms have in common in a comparison. */
typedef enum comparison_target {
    COMPARISON_GUESS,  /* how often the best guess by the law is right, else the learned attacker */
    COMPARISON_SELF,   /* how often a word stays itself */
    COMPARISON_EPSILON /* epsilon itself */
} comparison_target;

/* Everything that the rows share. */
typedef struct side_by_side {
    const tem_model *model;
    tem_accountant *accountant;
    tem_prior *prior, *even; /* even: all words are equally frequent */
    const own_options *own;
    comparison_target target;
    uint64_t pairs, tests; /* to learn from, and to test on */
    uint64_t seed;
    bool force_exact;        /* also where the law takes minutes */
    const char *word, *line; /* what to draw samples of: a word, a line of text, or neither */
    const tem_run *run;
    bool quiet;
} side_by_side;

enum { COMPARISON_DRAWS = 6 };

/* One mechanism at one target. Numbers that are not known are NaN. */
typedef struct comparison_row {
    const tem_mechanism_properties *properties;
    double wanted;
    bool is_measured; /* else only `why` is set */
    bool is_reached;  /* the target, as well as the law or the pairs can tell */
    bool is_exact;    /* `effects` are by the law; else as learned, without guesses */
    char why[320];    /* why it is left out, or why the target is not reached; or "" */
    double epsilon;
    tem_learned_score score;      /* under the prior */
    tem_learned_score vocabulary; /* where all words are equally frequent; pairs 0: not drawn */
    tem_effects effects;
    double smoothing;
    double words_per_second;
    double accuracy;
    char *sample; /* owned, or NULL */
    double seconds;
} comparison_row;

/* Finds the epsilon of a mechanism for a target and measures everything there. A mechanism that
 * cannot be made, or a target that cannot be reached, is no failure: the row says why. Fails as
 * tem_learned_create does. */
tem_status comparison_measure(const side_by_side *c, const tem_mechanism_properties *properties,
                              double wanted, comparison_row *row, tem_error *error);

/* Makes the mechanism with those of the numbers and lists that it takes. */
tem_status comparison_make(const side_by_side *c, const tem_mechanism_properties *properties,
                           double epsilon, tem_mechanism **mechanism, tem_error *error);

void comparison_row_free(comparison_row *row);

#endif
