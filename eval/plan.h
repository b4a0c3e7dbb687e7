/* plan.h - the rows of an evaluation, and the mechanisms it knows by name. learner.h has the
 * learners. */
#ifndef EVAL_PLAN_H
#define EVAL_PLAN_H

#include "eval.h"
#include "learner.h"

/* What mechanisms need beside the model: where certificates are, and the public list. */
typedef struct plan_certificates {
    char path[4096];
    const unsigned char *listed; /* as in tem_mechanism_options; NULL: no list was given */
} plan_certificates;

typedef struct plan_mechanism plan_mechanism;

/* Makes the mechanism of a row. */
typedef tem_status plan_maker(const plan_mechanism *row, const tem_model *model, double epsilon,
                              const plan_certificates *certificates, tem_mechanism **mechanism,
                              tem_error *error);

enum { PLAN_NUMBERS_MAX = 8 };

struct plan_mechanism {
    const char *name;  /* NAME, or NAME:NUMBER=X... */
    const char *title; /* in figures; NULL: the name */
    plan_maker *make;  /* NULL: the original text, which has no epsilon */
    bool has_law;      /* its probabilities, and so self and bayes, can be computed */
    double more[2];    /* epsilons in addition to the common ones */
    const tem_mechanism_properties
        *properties; /* NULL: not a mechanism of the library by its name */
    tem_parameter_value numbers[PLAN_NUMBERS_MAX + 1]; /* the last has the name NULL */
};

/* Finds a mechanism by name; NULL if there is none. A name with numbers, such as
 * mahalanobis:lambda=0.5, is a mechanism of its own: the first call adds it to the list. */
const plan_mechanism *plan_find(const char *name);

/* The i-th mechanism, from 0, in the order of tables and figures; NULL after the last. */
const plan_mechanism *plan_mechanism_at(size_t i);

enum { PLAN_MECHANISMS_MAX = 128 };

typedef struct plan_item {
    const plan_mechanism *mechanism;
    double epsilon;
    const learner *learner;
    uint32_t trial;
} plan_item;

typedef struct plan {
    plan_item *items;
    uint32_t count;
} plan;

/* Makes the list of requested rows, trial by trial; the rows of one private text are neighbors.
 * The original text has no rows of learners that need a law. Fails with TEM_ERR_ARGUMENT,
 * TEM_ERR_MEMORY. */
tem_status plan_create(const eval_options *options, plan *p, tem_error *error);
void plan_free(plan *p);

/* Whether the options ask for a learner other than "paper". False also for a list that plan_create
 * refuses. */
bool plan_is_informed(const eval_options *options);

#endif
