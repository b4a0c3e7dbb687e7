/* eval_imdb.c - the paper's experiment on the IMDB reviews. */
#include "evaluate.h"
#include "failure.h"
#include "imdb.h"

tem_status eval_imdb(const tem_model *model, const char *data, const eval_options *options,
                     tem_error *error) {
    task t = {.model = model, .classes = IMDB_CLASSES, .membership = true};
    tem_status status = imdb_read(data, "train", model, options->run, &t.train, error);
    if (status == TEM_OK)
        status = imdb_read(data, "test", model, options->run, &t.test, error);
    if (status == TEM_OK)
        status = evaluate(&t, options, error);
    task_free(&t);
    return status;
}
