/* eval_imdb.c - the paper's experiment on the IMDB reviews. */
#include "evaluate.h"
#include "failure.h"
#include "imdb.h"

#include <stdio.h>
#include <sys/stat.h>

/* Keeps a random quarter of each class: a half of one half. */
static tem_status keep_quarter(corpus *c, uint64_t seed, tem_error *error) {
    for (int i = 0; i < 2; i++) {
        corpus halves[2];
        const tem_status status =
            corpus_halve(c, IMDB_CLASSES, chance_seed(seed, 0, CHANCE_SPLIT), halves, error);
        if (status != TEM_OK)
            return status;
        halves[0].left_out = c->left_out / 2;
        corpus_free(c);
        corpus_free(&halves[1]);
        *c = halves[0];
    }
    return TEM_OK;
}

/* The public text of IMDB, unless the user names another: the unlabeled reviews, if the data set
 * has them and a learner needs public knowledge. */
static const char *public_text_of(const char *data, const eval_options *options, char path[4096]) {
    struct stat info;
    if (options->public_text != NULL || !plan_is_informed(options) ||
        (size_t)snprintf(path, 4096, "%s/train/unsup", data) >= 4096)
        return options->public_text;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? path : NULL;
}

tem_status eval_imdb(const tem_model *model, const char *data, const eval_options *options,
                     tem_error *error) {
    task t = {.model = model, .classes = IMDB_CLASSES, .membership = true};
    char path[4096];
    eval_options informed = *options;
    informed.public_text = public_text_of(data, options, path);
    tem_status status = imdb_read(data, "train", model, options->run, &t.train, error);
    if (status == TEM_OK)
        status = imdb_read(data, "test", model, options->run, &t.test, error);
    if (status == TEM_OK && options->quarter)
        status = keep_quarter(&t.train, options->seed, error);
    if (status == TEM_OK && options->quarter)
        status = keep_quarter(&t.test, options->seed, error);
    if (status == TEM_OK)
        status = evaluate(&t, &informed, error);
    task_free(&t);
    return status;
}
