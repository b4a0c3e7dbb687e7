/* knowledge.h - what is public before any released text is read: a prior, vectors, a penalty. */
#ifndef EVAL_KNOWLEDGE_H
#define EVAL_KNOWLEDGE_H

#include "eval.h"
#include "tem_account.h"

typedef struct knowledge {
    tem_prior *prior;
    const char *prior_name; /* "zipf" or "public" */
    double *vectors;        /* `columns` numbers per word of the model; NULL: none */
    uint32_t columns;
    double penalty; /* 0: each learner chooses its own */
    char
        about[128]; /* one text per knowledge: digests of prior and vectors, the penalty; "" without
                      * public text and vectors */
} knowledge;

/* Reads what the options name. `with_vectors`: also vectors and penalty. Fails with
 * TEM_ERR_ARGUMENT, and as tem_prior_load, tem_vectors_load, tem_model_align_vectors and
 * tem_text_vectors do. */
tem_status knowledge_create(const tem_model *model, const eval_options *options, bool with_vectors,
                            knowledge *k, tem_error *error);
void knowledge_free(knowledge *k);

#endif
