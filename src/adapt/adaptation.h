/* adaptation.h - signals over the words of a model, and the models that keep them.
 *
 * Learning and stretching come before the grid, in floating point. The metric that is protected is
 * that of the grid, so no guarantee rests on this room. */
#ifndef ADAPT_ADAPTATION_H
#define ADAPT_ADAPTATION_H

#include "adapt/ridge.h"
#include "model/model.h"
#include "tem_adapt.h"

struct tem_adaptation {
    const tem_model *model;
    uint32_t columns;
    double *vectors; /* of the model: a row of `columns` numbers per word */
    uint32_t count;
    tem_signal signals[TEM_SIGNALS_MAX];
    double *values[TEM_SIGNALS_MAX]; /* per signal, a number per word: mean 0, deviation 1 */
};

/* As the functions tem_adaptation_* of tem_adapt.h; the caller has checked pointers for NULL. */
tem_status adaptation_create(const tem_model *model, tem_adaptation **adaptation, tem_error *error);
void adaptation_free(tem_adaptation *adaptation);
tem_status adaptation_add(tem_adaptation *adaptation, const tem_signal_source *source,
                          const tem_run *run, tem_error *error);
double adaptation_correlation(const tem_adaptation *adaptation, uint32_t i, uint32_t j);
tem_status adaptation_build(const tem_adaptation *adaptation, const tem_adapt_options *options,
                            const tem_run *run, tem_model **model, tem_error *error);

/* No number of a source is larger: its square has room. */
#define LEARNED_NUMBER_MAX 1e100

/* ---- what a source says, while it is read (source_lexicon.c, source_texts.c) ---- */

/* One number that a source has for words or texts, or one class. */
typedef struct learned_target {
    char name[TEM_SIGNAL_NAME_MAX + 1]; /* of a class; "" otherwise */
    uint64_t rows;                      /* rows of the class; all rows otherwise */
    ridge_target sums;
} learned_target;

typedef struct learned {
    const tem_adaptation *adaptation;
    const tem_signal_source *source;
    const tem_run *run;
    ridge_vectors vectors;
    learned_target *targets; /* room for TEM_SIGNALS_MAX */
    uint32_t target_count;
    double shift; /* the first number; sums are of numbers less this, so that large numbers of
                        * small differences, such as dates, keep their digits */
    bool has_shift;
    uint64_t left_out;
} learned;

/* Each reads a source. Fails as tem_adaptation_add does. */
tem_status source_read_lexicon(learned *l, tem_error *error);
tem_status source_read_texts(learned *l, tem_error *error);

/* Adds a row with its number or rating to the first target. */
void learned_add_number(learned *l, const double *x, double number);

/* Adds a target with this name. TEM_ERR_RANGE beyond TEM_SIGNALS_MAX, TEM_ERR_MEMORY. */
tem_status learned_add_target(learned *l, const char *name, size_t bytes, tem_error *error);

#endif
