/* learner_paper.c - the learner of the paper's experiment: classifier.h, which also trains the
 * vectors. It knows nothing of the mechanism. */
#include "failure.h"
#include "learner.h"

#include <stdlib.h>

static void release(void *trained) {
    if (trained != NULL)
        classifier_free(trained);
    free(trained);
}

static tem_status train(const learner *self, const lesson *l, void **trained, tem_error *error) {
    (void)self;
    classifier *c = calloc(1, sizeof *c);
    if (c == NULL)
        return eval_out_of_memory(error);
    const tem_status status =
        classifier_train(l->start, l->text_bags, l->classes, &l->how, l->team, l->run, c, error);
    if (status == TEM_OK)
        *trained = c;
    else
        free(c);
    return status;
}

static tem_status answer(const void *trained, const bags *texts, bool released, core_team *team,
                         float **out, tem_error *error) {
    (void)released;
    return classifier_predict(trained, texts, team, out, error);
}

const classifier *learner_paper_classifier(const void *trained) {
    return trained;
}

const learner learner_paper = {"paper", false, true, train, answer, release, NULL};
