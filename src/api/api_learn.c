/* api_learn.c - tem_channel of tem_learn.h, vectors to learn with, and statistics. */
#include "api/learn_checks.h"
#include "core/status.h"
#include "learn/deconvolve.h"
#include "learn/estimate.h"
#include "learn/posterior.h"
#include "learn/remap.h"
#include "learn/text_vectors.h"
#include "model/model.h"

/* ---- tem_channel ---- */

tem_status tem_channel_create(const tem_mechanism *mechanism, const tem_run *run,
                              tem_channel **channel, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (mechanism == NULL || channel == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism and a place for the channel are needed");
    return channel_create(mechanism, run, channel, error);
}

void tem_channel_free(tem_channel *channel) {
    channel_free(channel);
}

uint32_t tem_channel_inputs(const tem_channel *channel) {
    return channel == NULL ? 0 : channel->count + 1;
}

uint32_t tem_channel_outputs(const tem_channel *channel) {
    return channel == NULL ? 0 : channel->count;
}

static tem_status check_matrices(const tem_channel *channel, const double *in, uint32_t columns,
                                 const double *out, tem_error *error) {
    if (channel == NULL || in == NULL || out == NULL || columns == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a channel, a matrix of one column or more and a place for the result are "
                         "needed");
    return TEM_OK;
}

tem_status tem_channel_forward(const tem_channel *channel, const double *in, uint32_t columns,
                               const tem_run *run, double *out, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_matrices(channel, in, columns, out, error));
    return channel_forward(channel, in, columns, run, out, error);
}

tem_status tem_channel_backward(const tem_channel *channel, const double *in, uint32_t columns,
                                const tem_run *run, double *out, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_matrices(channel, in, columns, out, error));
    return channel_backward(channel, in, columns, run, out, error);
}

tem_status tem_channel_expect(const tem_channel *channel, const tem_expectation *expected,
                              double *shares, tem_error *error) {
    TRY(check_expectation(expected, error));
    if (channel == NULL || shares == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a channel and a place for the shares are needed");
    return expect_shares(channel->mechanism->model, expected, shares, error);
}

/* ---- posterior vectors ---- */

tem_status tem_channel_posterior(const tem_channel *channel, const tem_expectation *expected,
                                 const double *vectors, uint32_t columns, const tem_run *run,
                                 double *out, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_expectation(expected, error));
    TRY(check_matrices(channel, vectors, columns, out, error));
    if (columns == UINT32_MAX || !all_finite(vectors, (uint64_t)channel->count * columns))
        return core_fail(error, TEM_ERR_ARGUMENT, "a number of the vectors is not finite");
    return posterior_vectors(channel, expected, vectors, columns, run, out, error);
}

tem_status tem_remap_make(const tem_mechanism *mechanism, const tem_expectation *expected,
                          const tem_run *run, uint32_t *map, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_expectation(expected, error));
    if (mechanism == NULL || map == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a mechanism and a place for the map are needed");
    return remap_make(mechanism, expected, run, map, error);
}

tem_status tem_model_align_vectors(const tem_model *model, const tem_vectors *vectors, double *out,
                                   uint32_t *missing, tem_error *error) {
    if (model == NULL || vectors == NULL || out == NULL || missing == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, vectors and places for the results are needed");
    return align_vectors(model, vectors, out, missing, error);
}

tem_status tem_text_vectors(const tem_model *model, const char *path, uint32_t columns,
                            const tem_run *run, double *out, tem_error *error) {
    enum { COLUMNS_MOST = 1024 };
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || path == NULL || out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, the path of a text and a place for the vectors are needed");
    if (columns == 0 || columns > COLUMNS_MOST || columns > model->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the number of columns must be 1 to %d, and at most the number of words",
                         COLUMNS_MOST);
    return text_vectors(model, path, columns, run, out, error);
}

/* ---- statistics ---- */

tem_status tem_channel_deconvolve(const tem_channel *channel, const tem_expectation *expected,
                                  const double *counts, const double *held_out, uint32_t groups,
                                  const tem_run *run, tem_deconvolution *how, double *shares,
                                  tem_error *error) {
    if (is_for_newer(run, error) || is_for_newer(how, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_expectation(expected, error));
    TRY(check_matrices(channel, counts, groups, shares, error));
    if (how == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the end of the steps is needed");
    return deconvolve(channel, expected, counts, held_out, groups, run, how, shares, error);
}

tem_status tem_channel_estimate(const tem_channel *channel, const tem_estimate_options *options,
                                const double *counts, uint32_t groups, const double *members,
                                uint32_t sets, const tem_run *run, tem_estimate *out,
                                tem_error *error) {
    if (is_for_newer(run, error) || is_for_newer(options, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_expectation(options == NULL ? NULL : &options->expected, error));
    if (channel == NULL || counts == NULL || members == NULL || out == NULL || groups == 0 ||
        sets == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a channel, counts of a group or more, members of a set or more and a "
                         "place for the estimates are needed");
    if (options->ratio != 0 && !(options->ratio > 1 && isfinite(options->ratio)))
        return core_fail(error, TEM_ERR_ARGUMENT, "the ratio must be above 1, or 0 for 4");
    if (!all_finite(members, ((uint64_t)channel->count + 1) * sets))
        return core_fail(error, TEM_ERR_ARGUMENT, "a number of the members is not finite");
    return estimate_shares(channel, options, counts, groups, members, sets, run, out, error);
}
