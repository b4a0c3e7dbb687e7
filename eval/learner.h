/* learner.h - learners: how a classifier is made from released text. A new learner is one file and
 * one line of learner.c. docs/EVALUATION.md says what each of them does. */
#ifndef EVAL_LEARNER_H
#define EVAL_LEARNER_H

#include "classifier.h"
#include "knowledge.h"

enum { LEARNERS_MAX = 4 };

/* What a learner learns from. */
typedef struct lesson {
    const tem_mechanism *mechanism; /* that made the text; NULL: it is original text */
    const corpus *text;             /* with labels */
    const bags *text_bags;
    bags others; /* original texts, without their labels: a learner cannot look at them */
    uint32_t classes;
    const knowledge *known; /* public; NULL for the learner "paper" */
    const embedding *start; /* first vectors, for the learner "paper" alone */
    training how;           /* likewise */
    core_team *team;
    const tem_run *run;
} lesson;

typedef struct learner learner;

struct learner {
    const char *name;
    bool needs_law;   /* of the mechanism: there is none for Madlib */
    bool is_attacked; /* the membership attack can make a shadow model of it */

    /* Makes a classifier. Fails with TEM_ERR_MEMORY, TEM_ERR_CANCELLED, and as the functions of
     * tem_learn.h do. */
    tem_status (*train)(const learner *self, const lesson *l, void **classifier, tem_error *error);

    /* Returns the class probabilities of each text, row by row; free with free(). `released`: the
     * texts are of the kind that was learned from; else they are original. */
    tem_status (*answer)(const void *classifier, const bags *texts, bool released, core_team *team,
                         float **out, tem_error *error);
    void (*free)(void *classifier);

    double (*penalty)(const void *classifier); /* that it was trained with; NULL: it has none */
};

/* The i-th learner, from 0, in the order of tables; NULL after the last. The first is "paper". */
const learner *learner_at(size_t i);

/* The place of a learner in that order; LEARNERS_MAX if there is none of that name. */
size_t learner_place(const char *name);

/* The learners. */
extern const learner learner_paper, learner_linear, learner_posterior, learner_deconvolved;

/* The classifier inside a result of learner_paper's `train`, for --export. */
const classifier *learner_paper_classifier(const void *trained);

#endif
