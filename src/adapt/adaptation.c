/* adaptation.c - signals over the words of a model, and the models that keep them. */
#include "adapt/adaptation.h"

#include "core/memory.h"
#include "core/status.h"
#include "io/file.h"
#include "model/vectors.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistr.h>

/* ---- the object ---- */

static tem_status check_model(const tem_model *m, tem_error *error) {
    if (!m->trusted)
        return core_fail(error, TEM_ERR_UNTRUSTED, "the model is not trusted");
    if (m->space.metric->id != TEM_EUCLIDEAN)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "only a model with vectors and the euclidean metric can be adapted");
    if (m->signals.count > 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the model is adapted already: adapt the model that it was made from");
    return TEM_OK;
}

tem_status adaptation_create(const tem_model *model, tem_adaptation **adaptation,
                             tem_error *error) {
    TRY(check_model(model, error));
    const space *s = &model->space;
    tem_adaptation *a = core_alloc_zero(1, sizeof *a);
    double *vectors = core_alloc((size_t)s->count * s->dimension, sizeof *vectors);
    if (a == NULL || vectors == NULL) {
        core_free(a);
        core_free(vectors);
        return core_fail_memory(error);
    }
    for (uint32_t id = 0; id < s->count; id++)
        for (uint32_t i = 0; i < s->dimension; i++)
            vectors[(size_t)id * s->dimension + i] = ldexp(space_row(s, id)[i], -(int)s->step_log2);
    a->model = model;
    a->columns = s->dimension;
    a->vectors = vectors;
    *adaptation = a;
    return TEM_OK;
}

void adaptation_free(tem_adaptation *a) {
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->count; i++)
        core_free(a->values[i]);
    core_free(a->vectors);
    core_free(a);
}

double adaptation_correlation(const tem_adaptation *a, uint32_t i, uint32_t j) {
    const uint32_t words = a->model->words.count;
    double sum = 0;
    for (uint32_t id = 0; id < words; id++)
        sum += a->values[i][id] * a->values[j][id];
    return sum / words;
}

/* ---- learning from a source ---- */

tem_status learned_add_target(learned *l, const char *name, size_t bytes, tem_error *error) {
    if (l->target_count == TEM_SIGNALS_MAX)
        return core_fail(error, TEM_ERR_RANGE, "more than %u classes", TEM_SIGNALS_MAX);
    learned_target *target = &l->targets[l->target_count];
    TRY(ridge_target_init(&target->sums, l->adaptation->columns, error));
    memcpy(target->name, name, bytes);
    l->target_count++;
    return TEM_OK;
}

void learned_add_number(learned *l, const double *x, double number) {
    if (!l->has_shift)
        l->shift = number;
    l->has_shift = true;
    ridge_add_target(&l->targets[0].sums, ridge_add_vector(&l->vectors, x), x, l->vectors.columns,
                     number - l->shift);
    l->targets[0].rows++;
}

static void learned_free(learned *l) {
    for (uint32_t i = 0; l->targets != NULL && i < l->target_count; i++)
        ridge_target_free(&l->targets[i].sums);
    core_free(l->targets);
    ridge_vectors_free(&l->vectors);
}

static bool is_class(const tem_signal_source *s) {
    return s->format != 0 && !s->is_rating;
}

/* Checks that there is enough to learn from. */
static tem_status check_learned(const learned *l, tem_error *error) {
    const bool is_lexicon = l->source->format == 0;
    if (l->vectors.rows < SIGNAL_USED_LEAST)
        return core_fail_at(error, TEM_ERR_RANGE, l->source->path, 0, 0,
                            "%d %s are needed, and tem can use %u of it", SIGNAL_USED_LEAST,
                            is_lexicon ? "words" : "texts", (uint32_t)l->vectors.rows);
    const ridge_target *t = &l->targets[0].sums;
    double sum = 0, squares = 0;
    for (uint32_t p = 0; p < RIDGE_PARTS; p++) {
        sum += t->sums[p];
        squares += t->squares[p];
    }
    if (!is_class(l->source) && !(squares - sum * sum / (double)l->vectors.rows > 1e-12 * squares))
        return core_fail_at(error, TEM_ERR_RANGE, l->source->path, 0, 0,
                            "all its numbers are the same: there is no signal in it");
    if (l->adaptation->count + l->target_count > TEM_SIGNALS_MAX)
        return core_fail_at(error, TEM_ERR_RANGE, l->source->path, 0, 0,
                            "more than %u signals in all", TEM_SIGNALS_MAX);
    return TEM_OK;
}

/* The values of a signal: the predictions, with mean 0 and deviation 1. */
static tem_status fill_values(const tem_adaptation *a, const double *slope, double *values,
                              tem_error *error) {
    const uint32_t words = a->model->words.count;
    double mean = 0, square = 0;
    for (uint32_t id = 0; id < words; id++) {
        const double *x = a->vectors + (size_t)id * a->columns;
        values[id] = 0;
        for (uint32_t i = 0; i < a->columns; i++)
            values[id] += slope[i] * x[i];
        mean += values[id] / words;
    }
    double largest = fabs(mean);
    for (uint32_t id = 0; id < words; id++) {
        values[id] -= mean;
        square += values[id] * values[id] / words;
        largest = fmax(largest, fabs(values[id]));
    }
    if (!(square > 1e-20 * largest * largest))
        return core_fail(error, TEM_ERR_RANGE,
                         "the vectors predict the same for all words: they do not know the signal");
    for (uint32_t id = 0; id < words; id++)
        values[id] /= sqrt(square);
    return TEM_OK;
}

/* The 95 % interval of a correlation, by Fisher's z. */
static void set_interval(tem_signal *s) {
    const double r = fmin(fmax(s->correlation, -1 + 1e-12), 1 - 1e-12);
    const double reach = 1.96 / sqrt((double)s->used - 3);
    s->low = fmin(tanh(atanh(r) - reach), s->correlation);
    s->high = fmax(tanh(atanh(r) + reach), s->correlation);
}

static tem_status describe(const learned *l, const learned_target *target, const ridge_fit *fit,
                           const char *name, const char *hash, tem_signal *out, tem_error *error) {
    const bool is_lexicon = l->source->format == 0;
    *out = (tem_signal){.kind = is_lexicon             ? TEM_SIGNAL_LEXICON
                                : l->source->is_rating ? TEM_SIGNAL_RATING
                                                       : TEM_SIGNAL_CLASS,
                        .used = l->vectors.rows,
                        .left_out = l->left_out,
                        .correlation = fit->correlation,
                        .penalty = fit->penalty};
    const int length = snprintf(out->name, sizeof out->name, "%s%s%s", name,
                                is_class(l->source) ? ": " : "", target->name);
    if (length < 0 || (size_t)length >= sizeof out->name)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the name of a signal is longer than %u bytes: shorten that of its source",
                         TEM_SIGNAL_NAME_MAX);
    memcpy(out->source, hash, sizeof out->source);
    set_interval(out);
    return TEM_OK;
}

/* Makes the signals of all targets behind those that the adaptation has; counts them last, so that
 * the adaptation does not change on failure. */
static tem_status make_signals(tem_adaptation *a, const learned *l, const ridge_fit *fits,
                               const char *name, const char *hash, tem_error *error) {
    tem_status status = TEM_OK;
    uint32_t made = 0;
    for (; made < l->target_count && status == TEM_OK; made++) {
        double **values = &a->values[a->count + made];
        *values = core_alloc(a->model->words.count, sizeof **values);
        status = *values == NULL ? core_fail_memory(error)
                                 : fill_values(a, fits[made].slope, *values, error);
        if (status == TEM_OK)
            status = describe(l, &l->targets[made], &fits[made], name, hash,
                              &a->signals[a->count + made], error);
    }
    if (status == TEM_OK)
        a->count += made;
    for (uint32_t i = 0; i < made && status != TEM_OK; i++)
        core_free(a->values[a->count + i]);
    return status;
}

static tem_status learn(tem_adaptation *a, const learned *l, const char *name, const char *hash,
                        tem_error *error) {
    ridge_fit fits[TEM_SIGNALS_MAX] = {0};
    ridge_target targets[TEM_SIGNALS_MAX];
    double *slopes = core_alloc((size_t)l->target_count * a->columns, sizeof *slopes);
    if (slopes == NULL)
        return core_fail_memory(error);
    for (uint32_t i = 0; i < l->target_count; i++) {
        targets[i] = l->targets[i].sums;
        fits[i].slope = slopes + (size_t)i * a->columns;
    }
    tem_status status = ridge_solve(&l->vectors, targets, l->target_count, l->run, fits, error);
    if (status == TEM_OK)
        status = make_signals(a, l, fits, name, hash, error);
    core_free(slopes);
    return status;
}

/* The hash of the file as it is on the disk. */
static tem_status hash_file(const char *path, char hash[65], tem_error *error) {
    unsigned char bytes[CORE_HASH_BYTES];
    file_view file;
    TRY(file_map(path, &file, error));
    core_hash256(file.data, file.size, bytes);
    sodium_bin2hex(hash, 2 * sizeof bytes + 1, bytes, sizeof bytes);
    file_close(&file);
    return TEM_OK;
}

/* The name of a source: as given, or that of its file up to the first full stop. */
static tem_status name_source(const tem_signal_source *s, char name[TEM_SIGNAL_NAME_MAX + 1],
                              tem_error *error) {
    const char *slash = strrchr(s->path, '/');
    const char *start = s->name != NULL ? s->name : slash != NULL ? slash + 1 : s->path;
    const size_t length = s->name != NULL ? strlen(start) : strcspn(start, ".");
    if (length == 0 || length > TEM_SIGNAL_NAME_MAX ||
        u8_check((const uint8_t *)start, length) != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the name of a source must be UTF-8 with 1 to %u bytes",
                         TEM_SIGNAL_NAME_MAX);
    memcpy(name, start, length);
    name[length] = 0;
    return TEM_OK;
}

static tem_status check_source(const tem_signal_source *s, tem_error *error) {
    const bool has_fields = s->text != NULL && s->label != NULL;
    const bool has_none = s->text == NULL && s->label == NULL && !s->is_rating;
    if (s->format == TEM_FORMAT_TEXT)
        return core_fail(error, TEM_ERR_ARGUMENT, "plain text has no labels");
    if (s->format == 0 ? !has_none : !has_fields)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "labeled texts need a field with the text and one with the label; a "
                         "lexicon has none");
    return TEM_OK;
}

tem_status adaptation_add(tem_adaptation *a, const tem_signal_source *source, const tem_run *run,
                          tem_error *error) {
    char hash[65], name[TEM_SIGNAL_NAME_MAX + 1];
    learned l = {.adaptation = a, .source = source, .run = run};
    TRY(check_source(source, error));
    TRY(name_source(source, name, error));
    TRY(hash_file(source->path, hash, error));
    l.targets = core_alloc_zero(TEM_SIGNALS_MAX, sizeof *l.targets);
    tem_status status = l.targets == NULL ? core_fail_memory(error)
                                          : ridge_vectors_init(&l.vectors, a->columns, error);
    if (status == TEM_OK)
        status =
            source->format == 0 ? source_read_lexicon(&l, error) : source_read_texts(&l, error);
    if (status == TEM_OK)
        status = check_learned(&l, error);
    if (status == TEM_OK)
        status = learn(a, &l, name, hash, error);
    learned_free(&l);
    return status;
}

/* ---- an adapted model ---- */

/* The root mean square distance of a word from the mean of all. That of two words is sqrt(2) times
 * this, for the vectors and for a signal alike, up to a factor that is the same for both. */
static double spread_of(const tem_adaptation *a) {
    const uint32_t words = a->model->words.count;
    double squares = 0, square_of_mean = 0;
    for (uint32_t i = 0; i < a->columns; i++) {
        double sum = 0;
        for (uint32_t id = 0; id < words; id++) {
            const double x = a->vectors[(size_t)id * a->columns + i];
            sum += x;
            squares += x * x;
        }
        square_of_mean += sum / words * (sum / words);
    }
    return sqrt(squares / words - square_of_mean);
}

/* Squashes a signal and gives it mean 0 and deviation 1 again. */
static void squash_values(const double *values, uint32_t words, double squash, double *out) {
    double mean = 0, square = 0;
    for (uint32_t id = 0; id < words; id++) {
        out[id] = squash <= 0 ? values[id] : squash * tanh(values[id] / squash);
        mean += out[id] / words;
    }
    for (uint32_t id = 0; id < words; id++) {
        out[id] -= mean;
        square += out[id] * out[id] / words;
    }
    for (uint32_t id = 0; id < words; id++)
        out[id] /= sqrt(square);
}

/* The vectors of the model, and behind them a column for each signal, times `unit`. */
static tem_status fill_columns(const tem_adaptation *a, double squash, double unit, float *values,
                               tem_error *error) {
    const uint32_t words = a->model->words.count;
    const size_t width = (size_t)a->columns + a->count;
    double *squashed = core_alloc(words, sizeof *squashed);
    if (squashed == NULL)
        return core_fail_memory(error);
    for (size_t id = 0; id < words; id++)
        for (uint32_t i = 0; i < a->columns; i++)
            values[id * width + i] = (float)a->vectors[id * a->columns + i];
    for (uint32_t k = 0; k < a->count; k++) {
        squash_values(a->values[k], words, squash, squashed);
        for (size_t id = 0; id < words; id++)
            values[id * width + a->columns + k] = (float)(unit * squashed[id]);
    }
    core_free(squashed);
    return TEM_OK;
}

/* Fails if a signal is the same for all words on the grid: the model would keep nothing of it. */
static tem_status check_columns(const tem_adaptation *a, const tem_model *m, tem_error *error) {
    const space *s = &m->space;
    for (uint32_t i = a->columns; i < s->dimension; i++) {
        bool varies = false;
        for (uint32_t id = 1; id < s->count && !varies; id++)
            varies = space_row(s, id)[i] != space_row(s, 0)[i];
        if (!varies)
            return core_fail(error, TEM_ERR_RANGE,
                             "the stretch is too small: on the grid a signal is the same for all "
                             "words");
    }
    return TEM_OK;
}

/* Gives the model its signals, and what it has in common with the model that was adapted. */
static tem_status describe_model(const tem_adaptation *a, double stretch, double squash,
                                 double unit, tem_model *m, tem_error *error) {
    tem_signal *list = core_alloc(a->count, sizeof *list);
    TRY(list == NULL ? core_fail_memory(error) : TEM_OK);
    memcpy(list, a->signals, a->count * sizeof *list);
    m->signals = (model_signals){
        .count = a->count, .stretch = stretch, .squash = squash, .unit = unit, .list = list};
    model_space_hash(a->model, m->signals.base);
    return signals_write(&m->signals, error);
}

static tem_status build_from(const tem_adaptation *a, const tem_vectors *vectors,
                             uint32_t neighbours, const tem_run *run, tem_model **model,
                             tem_error *error) {
    const tem_build_options options = {
        .metric = TEM_EUCLIDEAN,
        .neighbours = neighbours > 0 ? neighbours : a->model->neighbours,
        .space = vectors->recipe.space == TEM_SPACE_SPHERE ? TEM_SPACE_DEFAULT : TEM_SPACE_RAW};
    tem_model *m = NULL;
    tem_status status = model_build(vectors, &options, run, &m, error);
    if (status == TEM_OK)
        status = model_exclude_like(m, a->model, error);
    if (status != TEM_OK) {
        model_free(m);
        return status;
    }
    /* The model that was adapted was on a grid already, which may have moved its points. */
    if (__builtin_add_overflow(m->deviation, a->model->deviation, &m->deviation))
        m->deviation = UINT32_MAX;
    *model = m;
    return TEM_OK;
}

static tem_status check_options(const tem_adaptation *a, const tem_adapt_options *o,
                                tem_error *error) {
    if (!(o->stretch >= 0) || isinf(o->stretch))
        return core_fail(error, TEM_ERR_ARGUMENT, "the stretch must be 0 or more");
    if (!(o->squash >= 0) || isinf(o->squash) || (o->squash > 0 && o->squash < 0.1))
        return core_fail(error, TEM_ERR_ARGUMENT, "the squash must be at least 0.1, or 0 for none");
    if (a->count == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "there is no signal to keep");
    if (a->columns + a->count > TEM_DIMENSION_MAX)
        return core_fail(error, TEM_ERR_RANGE, "more than %u columns", TEM_DIMENSION_MAX);
    return TEM_OK;
}

tem_status adaptation_build(const tem_adaptation *a, const tem_adapt_options *options,
                            const tem_run *run, tem_model **model, tem_error *error) {
    TRY(check_options(a, options, error));
    const bool is_plain = options->stretch <= 0;
    const double unit = options->stretch * spread_of(a) / sqrt(a->count);
    const uint32_t width = a->columns + (is_plain ? 0 : a->count);
    tem_vectors vectors = {.words = a->model->words, /* lent, not owned */
                           .dimension = width,
                           .format = "adapted",
                           .recipe = a->model->recipe};
    tem_model *made = NULL;
    vectors.values = core_alloc((size_t)vectors.words.count * width, sizeof *vectors.values);
    if (vectors.values == NULL)
        return core_fail_memory(error);
    tem_adaptation plain = *a;
    plain.count = 0;
    tem_status status =
        fill_columns(is_plain ? &plain : a, options->squash, unit, vectors.values, error);
    if (status == TEM_OK)
        status = build_from(a, &vectors, options->neighbours, run, &made, error);
    core_free(vectors.values);
    if (status == TEM_OK && !is_plain)
        status = check_columns(a, made, error);
    if (status == TEM_OK && !is_plain)
        status = describe_model(a, options->stretch, options->squash, unit, made, error);
    if (status != TEM_OK) {
        model_free(made);
        return status;
    }
    *model = made;
    return TEM_OK;
}
