/* api_adapt.c - tem_adaptation of tem_adapt.h, and what an adapted model says of itself. */
#include "adapt/adaptation.h"
#include "core/reserved.h"
#include "core/status.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

static const char *const kind_names[] = {
    [TEM_SIGNAL_LEXICON] = "lexicon", [TEM_SIGNAL_RATING] = "rating", [TEM_SIGNAL_CLASS] = "class"};

const char *tem_signal_kind_name(tem_signal_kind kind) {
    return kind >= TEM_SIGNAL_LEXICON && kind <= TEM_SIGNAL_CLASS ? kind_names[kind] : "unknown";
}

tem_status tem_signal_kind_parse(const char *name, tem_signal_kind *kind, tem_error *error) {
    for (int i = TEM_SIGNAL_LEXICON; name != NULL && kind != NULL && i <= TEM_SIGNAL_CLASS; i++)
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (tem_signal_kind)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "a signal is a lexicon, a rating or a class");
}

/* ---- tem_adaptation ---- */

tem_status tem_adaptation_create(const tem_model *model, tem_adaptation **adaptation,
                                 tem_error *error) {
    if (model == NULL || adaptation == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model and a place for the adaptation are needed");
    return adaptation_create(model, adaptation, error);
}

void tem_adaptation_free(tem_adaptation *adaptation) {
    adaptation_free(adaptation);
}

tem_status tem_adaptation_add(tem_adaptation *adaptation, const tem_signal_source *source,
                              const tem_run *run, tem_error *error) {
    if (is_for_newer(source, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (adaptation == NULL || source == NULL || source->path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "an adaptation and a source are needed");
    return adaptation_add(adaptation, source, run, error);
}

uint32_t tem_adaptation_count(const tem_adaptation *adaptation) {
    return adaptation == NULL ? 0 : adaptation->count;
}

tem_status tem_adaptation_signal(const tem_adaptation *adaptation, uint32_t i, tem_signal *signal,
                                 tem_error *error) {
    if (signal == NULL || i >= tem_adaptation_count(adaptation))
        return core_fail(error, TEM_ERR_ARGUMENT, "there is no such signal, or no place for it");
    *signal = adaptation->signals[i];
    return TEM_OK;
}

const double *tem_adaptation_values(const tem_adaptation *adaptation, uint32_t i) {
    return i < tem_adaptation_count(adaptation) ? adaptation->values[i] : NULL;
}

double tem_adaptation_correlation(const tem_adaptation *adaptation, uint32_t i, uint32_t j) {
    const uint32_t count = tem_adaptation_count(adaptation);
    return i < count && j < count ? adaptation_correlation(adaptation, i, j) : NAN;
}

tem_status tem_adaptation_build(const tem_adaptation *adaptation, const tem_adapt_options *options,
                                const tem_run *run, tem_model **model, tem_error *error) {
    if (is_for_newer(options, error) || is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (adaptation == NULL || options == NULL || model == NULL || options->zero != 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an adaptation, options and a place for the model are needed");
    return adaptation_build(adaptation, options, run, model, error);
}

/* ---- adapted models ---- */

void tem_model_get_adapted(const tem_model *model, tem_adapted *adapted) {
    if (adapted == NULL)
        return;
    *adapted = (tem_adapted){0};
    if (model == NULL || model->signals.count == 0)
        return;
    const model_signals *s = &model->signals;
    adapted->signals = s->count;
    adapted->columns = model->space.dimension - s->count;
    adapted->stretch = s->stretch;
    adapted->squash = s->squash;
    sodium_bin2hex(adapted->base, sizeof adapted->base, s->base, sizeof s->base);
}

static tem_status check_signal(const tem_model *model, uint32_t i, const void *out,
                               tem_error *error) {
    if (model == NULL || out == NULL || i >= model->signals.count)
        return core_fail(error, TEM_ERR_ARGUMENT, "there is no such signal, or no place for it");
    return TEM_OK;
}

tem_status tem_model_signal(const tem_model *model, uint32_t i, tem_signal *signal,
                            tem_error *error) {
    const tem_status status = check_signal(model, i, signal, error);
    if (status == TEM_OK)
        *signal = model->signals.list[i];
    return status;
}

tem_status tem_model_signal_values(const tem_model *model, uint32_t i, double *values,
                                   tem_error *error) {
    TRY(check_signal(model, i, values, error));
    const space *s = &model->space;
    const uint32_t column = s->dimension - model->signals.count + i;
    for (uint32_t id = 0; id < s->count; id++)
        values[id] = ldexp(space_row(s, id)[column], -(int)s->step_log2) / model->signals.unit;
    return TEM_OK;
}
