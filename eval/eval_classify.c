/* eval_classify.c - the accuracy that an epsilon costs on the user's own labeled texts. */
#include "evaluate.h"
#include "failure.h"
#include "labelled.h"

tem_status eval_classify(const tem_model *model, const eval_files *files,
                         const eval_options *options, tem_error *error) {
    task t = {.model = model};
    label_names labels = {0};
    tem_status status = labelled_read(files->train, files, model, true, &labels, &t.train, error);
    if (status == TEM_OK && labels.count < 2)
        status = eval_fail_at(error, TEM_ERR_FORMAT, files->train, 0,
                              "all records have the same label; two or more are needed");
    if (status == TEM_OK)
        status = labelled_read(files->test, files, model, false, &labels, &t.test, error);
    t.classes = labels.count;
    if (status == TEM_OK)
        status = evaluate(&t, options, error);
    label_names_free(&labels);
    task_free(&t);
    return status;
}
