/* api_privatize.c - tem_privatize_* of tem.h, which privatize texts, words, files and streams; and
 * the calls of tem_model_* that are about the words of texts. */
#include "audit/reachable.h"
#include "core/memory.h"
#include "core/reserved.h"
#include "core/status.h"
#include "job/file_job.h"
#include "job/id_batch.h"
#include "job/model_pieces.h"
#include "job/replacer.h"
#include "job/text_batch.h"

tem_status tem_model_pieces(const tem_model *model, const char *text, size_t bytes, uint32_t *ids,
                            size_t max, size_t *count, tem_error *error) {
    if (model == NULL || (text == NULL && bytes > 0) || (ids == NULL && max > 0) || count == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model, a text and places for ids are needed");
    return model_pieces(model, text, bytes, ids, max, count, error);
}

tem_status tem_model_find_token(const tem_model *model, const char *token, size_t bytes,
                                uint32_t *id, tem_error *error) {
    if (model == NULL || (token == NULL && bytes > 0) || id == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a token and a place for an id are "
                         "needed");
    return model_find_token(model, token, bytes, id, error);
}

tem_status tem_model_count_unreachable(const tem_model *model, uint32_t *count, tem_error *error) {
    if (model == NULL || count == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a model and a place for the count are needed");
    uint32_t *reachable = NULL, found = 0;
    const tem_status status = reachable_find(model, &reachable, &found, error);
    core_free(reachable);
    if (status == TEM_OK)
        *count = model->words.count - found;
    return status;
}

int tem_counts_are_foreign(const tem_mechanism *mechanism, const tem_counts *counts) {
    return mechanism != NULL && counts != NULL && counts_are_foreign(mechanism, counts);
}

int tem_counts_are_public(const tem_counts *counts) {
    return counts != NULL && counts_are_public(counts);
}

tem_status tem_privatize_text(const tem_mechanism *mechanism, const tem_text_options *options,
                              tem_rng *rng, const char *text, size_t bytes, const tem_run *run,
                              char **out, size_t *out_bytes, tem_counts *counts, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || rng == NULL || (text == NULL && bytes > 0) || out == NULL ||
        out_bytes == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, a generator, a text and a place for the result are needed");
    return replace_text(mechanism, options, rng, text, bytes, run, out, out_bytes, counts, error);
}

void tem_text_free(char *text) {
    core_free(text);
}

tem_status tem_privatize_texts(const tem_mechanism *mechanism, const tem_job *job,
                               const tem_text_input *texts, size_t count, const tem_run *run,
                               tem_texts **out, tem_counts *counts, tem_balance *balance,
                               tem_error *error) {
    static const tem_job defaults = {.ledger = NULL};
    if (out != NULL)
        *out = NULL;
    if (counts != NULL)
        *counts = (tem_counts){0};
    if (job_is_for_newer(job, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || (texts == NULL && count > 0) || out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism, texts and a place for the result are needed");
    for (size_t i = 0; i < count; i++) {
        const tem_text_input *text = &texts[i];
        if (is_for_newer(text, error))
            return TEM_ERR_ARGUMENT;
    }
    return text_batch_run(mechanism, job == NULL ? &defaults : job, texts, count, run, out, counts,
                          balance, error);
}

tem_status tem_privatize_ids(const tem_mechanism *mechanism, const tem_job *job,
                             const tem_ids_input *documents, size_t count, const tem_run *run,
                             uint32_t *out, tem_counts *counts, tem_balance *balance,
                             tem_error *error) {
    static const tem_job defaults = {.ledger = NULL};
    if (counts != NULL)
        *counts = (tem_counts){0};
    if (job_is_for_newer(job, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || (documents == NULL && count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT, "a mechanism and documents are needed");
    for (size_t i = 0; i < count; i++) {
        const tem_ids_input *document = &documents[i];
        if (is_for_newer(document, error))
            return TEM_ERR_ARGUMENT;
        if (document->count > 0 && (document->ids == NULL || out == NULL))
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "the ids of each document and a place for the result are needed");
    }
    return id_batch_run(mechanism, job == NULL ? &defaults : job, documents, count, run, out,
                        counts, balance, error);
}

const char *tem_texts_at(const tem_texts *texts, size_t i, size_t *bytes) {
    if (bytes != NULL)
        *bytes = 0;
    return texts == NULL ? NULL : text_batch_at(texts, i, bytes);
}

void tem_texts_free(tem_texts *texts) {
    text_batch_free(texts);
}

/* Whether a list of names is whole. */
static bool has_names(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (names == NULL || names[i] == NULL)
            return false;
    return true;
}

tem_status tem_privatize_files(const tem_mechanism *mechanism, const tem_job *job,
                               const tem_run *run, tem_counts *counts, tem_balance *balance,
                               tem_fields *fields, tem_error *error) {
    if (job_is_for_newer(job, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || job == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a mechanism and a job are needed");
    if (!has_names(job->inputs, job->input_count) ||
        !has_names(job->more_fields, job->more_field_count) ||
        !has_names(job->dropped, job->dropped_count))
        return core_fail(error, TEM_ERR_ARGUMENT, "an input or a field has no name");
    if (job->overwrite != TEM_KEEP_EXISTING && job->overwrite != TEM_OVERWRITE)
        return core_fail(error, TEM_ERR_ARGUMENT, "an existing file is kept or overwritten");
    return file_job_run(mechanism, job, run, counts, balance, fields, error);
}
