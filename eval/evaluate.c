/* evaluate.c - runs the plan of an evaluation. */
#include "evaluate.h"

#include "blas.h"
#include "commit.h"
#include "export.h"
#include "failure.h"
#include "figure.h"
#include "number_text.h"
#include "results.h"
#include "tem_account.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { EPOCHS = 20, IMDB_REVIEWS = 25000 };

/* The state of a running evaluation. */
typedef struct evaluation {
    const eval_options *options;
    task *task;
    tem_model_info info;
    plan_certificates certificates;
    eval_row common; /* the fields that all rows share */
    results results;
    trial trial;
    tem_accountant *accountant; /* created on first use */
    plan plan;                  /* the rows of this run */
    uint32_t done;              /* number of finished rows of the plan */
} evaluation;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint32_t epochs_of(const eval_options *options) {
    return options->epochs > 0 ? options->epochs : EPOCHS;
}

/* Estimated seconds for a row of this mechanism and learner, from their finished rows; from all
 * rows if they have none. */
static double expected_seconds(const results *r, const plan_item *item) {
    double sums[2] = {0, 0};
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < r->count; i++) {
        const int same = strcmp(r->rows[i].mechanism, item->mechanism->name) == 0 &&
                         strcmp(r->rows[i].learner, item->learner->name) == 0;
        sums[same] += r->rows[i].seconds;
        counts[same]++;
    }
    if (counts[1] > 0)
        return sums[1] / counts[1];
    return counts[0] > 0 ? sums[0] / counts[0] : 0;
}

static void tell(const evaluation *e, const eval_row *row) {
    double left = 0;
    for (uint32_t i = e->done; i < e->plan.count; i++)
        left += expected_seconds(&e->results, &e->plan.items[i]);
    if (e->options->told != NULL)
        e->options->told(e->options->context, row, e->done, e->plan.count, left);
}

static void note(const evaluation *e, const char *sentence) {
    if (e->options->note != NULL)
        e->options->note(e->options->context, sentence);
}

/* Whether this run has finished the row. */
static bool done_now(const evaluation *e, const eval_row *row) {
    for (uint32_t i = 0; i < e->done; i++) {
        const plan_item *item = &e->plan.items[i];
        if (item->trial == row->trial && item->epsilon == row->epsilon &&
            strcmp(item->learner->name, row->learner) == 0 &&
            strcmp(item->mechanism->name, row->mechanism) == 0)
            return true;
    }
    return false;
}

/* Finds a row of another trial or learner with the same self and bayes, computed by the same
 * program. If rows are computed again, it must be a row of this run. NULL if there is none. */
static const eval_row *same_law(const evaluation *e, const eval_row *row) {
    for (uint32_t i = 0; i < e->results.count; i++) {
        const eval_row *other = &e->results.rows[i];
        if (other->epsilon == row->epsilon && strcmp(other->mechanism, row->mechanism) == 0 &&
            strcmp(other->certificate, row->certificate) == 0 &&
            strcmp(other->commit, row->commit) == 0 && isfinite(other->bayes) &&
            (e->options->only == NULL || done_now(e, other)))
            return other;
    }
    return NULL;
}

/* Fills self and bayes. They are the same in every trial and for every learner, so another row may
 * already have them. */
static tem_status summarise(evaluation *e, const tem_mechanism *mechanism, eval_row *row,
                            tem_error *error) {
    const eval_row *earlier = same_law(e, row);
    if (earlier != NULL) {
        row->self = earlier->self;
        row->bayes = earlier->bayes;
        return TEM_OK;
    }
    tem_summary summary;
    tem_accountant *own = NULL; /* used for a mechanism with weights */
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    const bool equal = info.weights == TEM_WEIGHTS_EQUAL;
    const uint32_t *weights = equal ? NULL : tem_mechanism_weights(mechanism);
    tem_accountant **accountant = equal ? &e->accountant : &own;
    tem_status status = TEM_OK;
    if (*accountant == NULL)
        status = tem_accountant_create(e->task->model, weights, e->options->run, accountant, error);
    if (status == TEM_OK)
        status = tem_accountant_summarise(*accountant, mechanism, e->task->known.prior, 1,
                                          e->options->run, &summary, error);
    tem_accountant_free(own);
    if (status == TEM_OK) {
        row->self = summary.self_mean;
        row->bayes = summary.bayes;
    }
    return status;
}

static tem_status open_trial(evaluation *e, uint32_t number, tem_error *error) {
    if (e->trial.number == number)
        return TEM_OK;
    trial_close(&e->trial);
    return trial_open(e->task, number, &e->trial, error);
}

/* Names the public list by its digest; "" without a list. */
static void name_list(const evaluation *e, char text[40]) {
    chance state = {e->info.words};
    text[0] = '\0';
    if (e->options->listed == NULL)
        return;
    for (uint32_t w = 0; w < e->info.words; w++)
        state.state = chance_next(&state) ^ e->options->listed[w];
    snprintf(text, 40, ", list %016" PRIx64, chance_next(&state));
}

static eval_row common_row(const evaluation *e) {
    eval_row row = {.seed = e->options->seed};
    char list[40];
    name_list(e, list);
    snprintf(row.commit, sizeof row.commit, "%s", EVAL_COMMIT);
    snprintf(row.model, sizeof row.model, "%s", e->info.hash);
    snprintf(row.data, sizeof row.data, "%016" PRIx64 "%016" PRIx64, corpus_digest(&e->task->train),
             corpus_digest(&e->task->test));
    snprintf(row.prior, sizeof row.prior, "%s", e->task->known.prior_name);
    snprintf(row.setting, sizeof row.setting, "%s%s, %u epochs, %s vectors%s%s",
             e->task->membership ? "imdb" : "classify", e->options->quarter ? " quarter" : "",
             epochs_of(e->options), e->options->random_init ? "random" : "model",
             e->task->known.about, list);
    return row;
}

static eval_row begin_row(const evaluation *e, const plan_item *item) {
    eval_row row = e->common;
    snprintf(row.mechanism, sizeof row.mechanism, "%s", item->mechanism->name);
    snprintf(row.learner, sizeof row.learner, "%s", item->learner->name);
    row.epsilon = item->epsilon;
    row.trial = item->trial;
    row.self = row.bayes = item->mechanism->make == NULL ? 1 : NAN;
    return row;
}

static void name_certificate(const tem_mechanism *mechanism, eval_row *row) {
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    snprintf(row->certificate, sizeof row->certificate, "%s", info.certificate);
}

/* Writes a row to disk. Only then does it count, and only then does the callback see it. */
static tem_status keep_row(evaluation *e, const eval_row *row, tem_error *error) {
    tem_status status = results_append(&e->results, row, error);
    if (status == TEM_OK)
        status = results_write_tables(&e->results, e->options->folder, error);
    if (status != TEM_OK)
        return status;
    e->done++;
    tell(e, row);
    return TEM_OK;
}

/* Refuses more epsilons per mechanism than tables and figures have room for. */
static tem_status refuse_too_many(const evaluation *e, const plan_item *item, tem_error *error) {
    double epsilons[EVAL_EPSILONS_MAX];
    const uint32_t count = results_epsilons(&e->results, item->mechanism->name, item->learner->name,
                                            epsilons, EVAL_EPSILONS_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (epsilons[i] == item->epsilon)
            return TEM_OK;
    return count < EVAL_EPSILONS_MAX
               ? TEM_OK
               : eval_fail_at(error, TEM_ERR_RANGE, e->results.path, 0,
                              "it already has %d epsilons of this mechanism; use another directory",
                              EVAL_EPSILONS_MAX);
}

/* `tem eval classify` computes self and bayes only for a user who has named public knowledge: they
 * may take longer than the rest. */
static bool wants_summary(const evaluation *e) {
    return e->task->membership || e->task->known.about[0] != '\0';
}

static tem_status do_row(evaluation *e, const plan_item *item, tem_error *error) {
    eval_row row = begin_row(e, item);
    tem_mechanism *mechanism = NULL;
    const double start = seconds_now();
    tem_status status = refuse_too_many(e, item, error);
    if (status == TEM_OK && item->mechanism->make != NULL)
        status = item->mechanism->make(item->mechanism, e->task->model, item->epsilon,
                                       &e->certificates, &mechanism, error);
    if (status == TEM_OK && mechanism != NULL)
        name_certificate(mechanism, &row);
    if (status == TEM_OK)
        status = open_trial(e, item->trial, error);
    if (status == TEM_OK && item->mechanism->has_law && wants_summary(e))
        status = summarise(e, mechanism, &row, error);
    if (status == TEM_OK)
        status = trial_row(&e->trial, item->learner, mechanism, &row, error);
    tem_mechanism_free(mechanism);
    if (status != TEM_OK)
        return status;
    row.seconds = seconds_now() - start;
    return keep_row(e, &row, error);
}

/* Whether this model allows the mechanism and the mechanism allows the learner: TEM_OK, or the
 * reason why not. */
static tem_status try_item(const evaluation *e, const plan_item *item, tem_error *error) {
    tem_mechanism *mechanism = NULL;
    if (item->learner->needs_law && !item->mechanism->has_law)
        return eval_fail(error, TEM_ERR_UNSUPPORTED,
                         "the learner %s needs the mechanism's probabilities, which cannot be "
                         "computed for %s",
                         item->learner->name, item->mechanism->name);
    if (item->mechanism->make == NULL)
        return TEM_OK;
    const tem_status status = item->mechanism->make(item->mechanism, e->task->model, item->epsilon,
                                                    &e->certificates, &mechanism, error);
    tem_mechanism_free(mechanism);
    return status;
}

/* Reports an item that is left out, once for all trials. */
static void note_left_out(const evaluation *e, const plan_item *item, const char *why) {
    char sentence[512], epsilon[NUMBER_TEXT_BYTES];
    snprintf(sentence, sizeof sentence, "%s at epsilon %s is left out: %s", item->mechanism->name,
             number_text(item->epsilon, epsilon), why);
    if (item->trial == 1)
        note(e, sentence);
}

/* Leaves out finished rows. Also leaves out, with a note, rows that are impossible: no certificate,
 * or no such mechanism or epsilon on this model. */
static tem_status trim(evaluation *e, plan *p, tem_error *error) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const plan_item *item = &p->items[i];
        tem_error why;
        if (e->options->only == NULL &&
            results_find(&e->results,
                         (results_kind){item->mechanism->name, item->learner->name, item->epsilon},
                         item->trial) != NULL)
            continue;
        const tem_status status = try_item(e, item, &why);
        if (e->options->only == NULL && (status == TEM_ERR_CERTIFICATE || status == TEM_ERR_RANGE ||
                                         status == TEM_ERR_UNSUPPORTED)) {
            note_left_out(e, item, why.message);
            continue;
        }
        if (status != TEM_OK && error != NULL)
            *error = why;
        if (status != TEM_OK)
            return status;
        p->items[kept++] = *item;
    }
    p->count = kept;
    return TEM_OK;
}

/* Refuses earlier rows whose certificate differs from the mechanism's certificate now. */
static tem_status check_certificates(const evaluation *e, tem_error *error) {
    for (uint32_t i = 0; i < e->results.count; i++) {
        const eval_row *row = &e->results.rows[i];
        const plan_mechanism *known = plan_find(row->mechanism);
        tem_mechanism *mechanism = NULL;
        tem_error why;
        eval_row now = *row;
        if (known == NULL || known->make == NULL || row->certificate[0] == '\0' ||
            known->make(known, e->task->model, row->epsilon, &e->certificates, &mechanism, &why) !=
                TEM_OK)
            continue; /* without a certificate this run adds no row with another one */
        name_certificate(mechanism, &now);
        tem_mechanism_free(mechanism);
        if (strcmp(row->certificate, now.certificate) != 0)
            return eval_fail_at(error, TEM_ERR_FORMAT, e->results.path, 0,
                                "a result from another certificate; use another directory");
    }
    return TEM_OK;
}

static double per_cent_left_out(const corpus *c) {
    const uint64_t all = corpus_words(c) + c->left_out;
    return all > 0 ? 100 * (double)c->left_out / (double)all : 0;
}

/* Reports the size of the data, and the share of words that are left out. */
static void note_texts(const evaluation *e) {
    const corpus *train = &e->task->train, *test = &e->task->test;
    char sentence[512];
    snprintf(sentence, sizeof sentence,
             "%u training texts, %.1f %% of their words left out because the model does not have "
             "them; %u test texts, %.1f %%",
             train->count, per_cent_left_out(train), test->count, per_cent_left_out(test));
    note(e, sentence);
    if (e->task->membership && (train->count != IMDB_REVIEWS || test->count != IMDB_REVIEWS))
        note(e, "warning: this is not all of IMDB, whose halves have 12,500 reviews; do not "
                "compare these numbers with other results");
}

static tem_status go_through(evaluation *e, tem_error *error) {
    tem_status status = plan_create(e->options, &e->plan, error);
    if (status == TEM_OK)
        status = check_certificates(e, error);
    if (status == TEM_OK)
        note_texts(e);
    if (status == TEM_OK)
        status = trim(e, &e->plan, error);
    if (status == TEM_OK && e->plan.count == 0 && e->results.count == 0)
        status = eval_fail(error, TEM_ERR_CERTIFICATE,
                           "nothing was evaluated: every requested row was left out");
    for (uint32_t i = 0; i < e->plan.count && status == TEM_OK; i++)
        status = do_row(e, &e->plan.items[i], error);
    plan_free(&e->plan);
    return status;
}

static tem_status prepare(task *t, const eval_options *options, tem_error *error) {
    tem_model_info info;
    tem_model_get_info(t->model, &info);
    t->epochs = epochs_of(options);
    t->seed = options->seed;
    t->run = options->run;
    t->export_to = options->export_to;
    t->random_init = options->random_init;
    if (info.dimension == 0)
        return eval_fail(error, TEM_ERR_UNSUPPORTED,
                         "a model built from distances has no vectors to train a classifier");
    tem_status status = TEM_OK;
    if (!options->random_init)
        status = embedding_of_model(t->model, &t->start, error);
    if (status == TEM_OK && t->export_to != NULL && !options->random_init)
        status = export_vectors(t->export_to, 0, t->model, &t->start, error);
    return status == TEM_OK ? core_team_create(options->run, &t->team, error) : status;
}

tem_status evaluate(task *t, const eval_options *options, tem_error *error) {
    evaluation e = {.options = options, .task = t};
    tem_model_get_info(t->model, &e.info);
    snprintf(e.certificates.path, sizeof e.certificates.path, "%s.cert",
             options->model_path != NULL ? options->model_path : "model");
    e.certificates.listed = options->listed;
    tem_status status = blas_open(error); /* before any thread starts */
    if (status == TEM_OK)
        status = knowledge_create(t->model, options, plan_is_informed(options), &t->known, error);
    if (status != TEM_OK)
        return status;
    e.common = common_row(&e);
    status = results_open(options->folder, &e.common, &e.results, error);
    if (status == TEM_OK)
        status = prepare(t, options, error);
    if (status == TEM_OK)
        status = go_through(&e, error);
    if (status == TEM_OK)
        status = results_write_tables(&e.results, options->folder, error);
    if (status == TEM_OK && !figure_write_all(&e.results, options->folder, t->membership))
        note(&e, "no figures: gnuplot is missing or failed; you can draw them later from the .gp "
                 "files in the directory");
    trial_close(&e.trial);
    tem_accountant_free(e.accountant);
    results_free(&e.results);
    return status;
}
