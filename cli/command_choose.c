/* command_choose.c - tem choose: finds the epsilon for a target. */
#include "calibration.h"
#include "choose_context.h"
#include "choose_family.h"
#include "choose_form.h"
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "mechanism_options.h"
#include "plot.h"
#include "prior_option.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "words_option.h"
#include "wrap.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct choose_request {
    common_options common;
    double self, support, bayes; /* 0: not given */
    double beta, gamma;
    double quantile; /* 0: not given */
    const char *prior_name, *plot_path, *words_path;
    const char *context_path, *text_path; /* NULL: not given */
    const char *mechanism;                /* NULL: tem */
    option_list numbers;
    uint64_t sample;
    bool calibrated, json, force;
} choose_request;

enum { EXPOSED = 5 };

/* Without a target tem shows the effects of epsilons around the one at which the median word stays
 * itself half of the time. */
#define SELF_OF_CURVE 0.5

static bool has_target(const choose_request *r) {
    return r->self > 0 || r->support > 0 || r->bayes > 0;
}

typedef struct chooser {
    const choose_request *request;
    tem_wish wish;
    const tem_model *model;
    tem_point answer;
    tem_point curve[TEM_CURVE_MAX];
    uint32_t curve_count;
    double certified; /* the largest epsilon of a certificate that keeps the target; 0: none */
    tem_weights_kind certified_weights;
    double certified_value;        /* what that certificate makes of the target's number */
    tem_exposure exposed[EXPOSED]; /* at the answer, the most exposed first */
    uint32_t exposed_count;
} chooser;

/* Whether the target is about words by name or a share of the vocabulary, not about the median. */
static bool is_about_exposed(const choose_request *r) {
    return r->words_path != NULL || r->quantile > 0;
}

/* ------------------------------------------------------------------ printing -- */

static void print_row(const chooser *c, const tem_point *point) {
    const tem_summary *s = &point->summary;
    const bool is_answer =
        memcmp(&point->epsilon_paper, &c->answer.epsilon_paper, sizeof(double)) == 0;
    printf("%c%8.4g", is_answer ? '>' : ' ', point->epsilon);
    if (c->request->calibrated)
        printf("  %10.4g", point->epsilon_paper);
    printf("  %10.6f  %10.2f  %9.4f  %8.3f  %10.2e  %8.6f\n", s->self_median, s->support_median,
           s->entropy_mean, s->distance_mean, s->beyond_mean, s->bayes);
}

static void print_table(const chooser *c) {
    printf("\n  epsilon%s  N_w median  S_w median    entropy  distance     P(> g.)     Bayes\n",
           c->request->calibrated ? "     paper's" : "");
    for (size_t i = 0; i < c->curve_count; i++)
        print_row(c, &c->curve[i]);
    puts(
        "\n"
        "N_w: how often a word stays itself; S_w: words it is spread over in effect; both for the\n"
        "median word of a text under the prior. entropy in nats; distance: expected, cut at\n"
        "gamma; P(> g.): how often the output is beyond gamma; Bayes: how often the best guess at\n"
        "a word from its output is right.");
}

static void print_calibrated(const chooser *c) {
    const choose_request *r = c->request;
    printf("It needs the certificate that 'tem calibrate --weights equal%s --epsilon %.4g",
           default_model_naming(), c->answer.epsilon);
    if (r->beta > 0)
        printf(" --beta %.15g", r->beta);
    if (r->gamma > 0)
        printf(" --gamma %.15g", r->gamma);
    printf(
        "' makes,\nand --calibrated --weights equal. Without it the same s needs epsilon %.4g.\n",
        c->answer.epsilon_paper);
}

/* Prints the number that the target is about. */
static void print_value(const chooser *c) {
    const choose_request *r = c->request;
    const bool by_support = c->wish.target == TEM_TARGET_SUPPORT;
    if (c->wish.target == TEM_TARGET_BAYES)
        fputs("the success of the best guess", stdout);
    else if (!is_about_exposed(r))
        printf("the median of %s", by_support ? "S_w" : "N_w");
    else if (r->quantile <= 0)
        printf("the %s of these words", by_support ? "least S_w" : "largest N_w");
    else
        printf("the %s of %s %% of %s", by_support ? "least S_w" : "largest N_w",
               talk_number(100 * r->quantile),
               r->words_path != NULL ? "these words" : "the words that a text can contain");
    printf(" is %.6g, at %s %.6g\n", tem_wish_value(&c->wish, &c->answer.summary),
           by_support ? "least" : "most", c->wish.wanted);
}

/* Prints what the other kind of target would be about: the median, and the words at the end. */
static void print_exposed(const chooser *c) {
    const tem_summary *s = &c->answer.summary;
    if (is_about_exposed(c->request))
        printf("\nThe median word of a text has N_w %.6f and S_w %.2f.\n", s->self_median,
               s->support_median);
    if (c->exposed_count == 0)
        return;
    printf("\nAt this epsilon the most exposed words %s are\n\n",
           c->request->words_path != NULL ? "of the file" : "that a text can contain");
    exposed_print(c->model, c->exposed, c->exposed_count);
}

/* Calls `each` for every trusted certificate of the model whose effects are under the requested
 * prior. */
static void each_certificate(const chooser *c,
                             void (*each)(const tem_certificate_info *info, void *context),
                             void *context) {
    for (uint32_t i = 0;; i++) {
        tem_certificate *certificate = NULL;
        tem_certificate_info info;
        if (tem_certificate_load(default_model_certificates(), i, &certificate, NULL) != TEM_OK ||
            certificate == NULL)
            return;
        tem_certificate_get_info(certificate, &info);
        const bool fits = tem_certificate_is_for(certificate, c->model);
        tem_certificate_free(certificate);
        if (trust_has(&info, c->model) && fits &&
            strcmp(info.prior, prior_name(c->request->prior_name)) == 0)
            each(&info, context);
    }
}

static void print_certificate(const tem_certificate_info *info, void *context) {
    bool *first = context;
    if (*first)
        puts("\nThe effects that existing certificates state (in brackets those of the paper's "
             "mechanism\nat the same epsilon):\n\n"
             "  epsilon  weights          N_w median            S_w median               Bayes");
    *first = false;
    printf(" %8.4g  %-9s  %8.6f (%8.6f)  %8.2f (%8.2f)  %8.6f (%8.6f)\n", info->epsilon,
           tem_weights_name(info->weights), info->effect.self, info->plain.self,
           info->effect.support, info->plain.support, info->effect.bayes, info->plain.bayes);
}

static void add_certificate(const tem_certificate_info *info, void *context) {
    json_array_append_new(context, json_pack("{s:f, s:s, s:f, s:o}", "epsilon", info->epsilon,
                                             "weights", tem_weights_name(info->weights), "s",
                                             info->s, "effects", effects_as_json(info)));
}

/* The largest epsilon below a limit for which a certificate keeps the target by the effects that it
 * states; 0: there is none. */
typedef struct certified_answer {
    const chooser *chooser;
    double below, epsilon;
} certified_answer;

/* Whether a certificate keeps the target by the effects that it states. */
static bool says_kept(const tem_wish *wish, const tem_certificate_info *info) {
    const tem_summary said = {.self_median = info->effect.self,
                              .support_median = info->effect.support,
                              .bayes = info->effect.bayes};
    return tem_wish_is_kept(wish, &said) != 0;
}

static void consider(const tem_certificate_info *info, void *context) {
    certified_answer *best = context;
    const bool usual_beta = info->beta >= TEM_BETA_DEFAULT && info->beta <= TEM_BETA_DEFAULT;
    if (usual_beta && info->epsilon > best->epsilon && info->epsilon < best->below &&
        says_kept(&best->chooser->wish, info))
        best->epsilon = info->epsilon;
}

/* Whether the certificate that --calibrated takes at this epsilon keeps the target: by the effects
 * that it states, and then computed anew, which takes seconds. *kind receives its weights, *value
 * the number that the target is about. */
static tem_status certificate_keeps_target(const chooser *c, const tem_accountant *accountant,
                                           double epsilon, const tem_run *run, bool *keeps,
                                           tem_weights_kind *kind, double *value,
                                           tem_error *error) {
    const tem_calibration wanted = {.epsilon = epsilon,
                                    .prior_name = prior_name(c->request->prior_name)};
    tem_certificate *certificate = calibration_find(c->model, &wanted);
    tem_certificate_info info;
    tem_summary s;
    tem_status status = TEM_OK;
    *keeps = false;
    if (certificate == NULL)
        return TEM_OK;
    tem_certificate_get_info(certificate, &info);
    *kind = info.weights;
    if (says_kept(&c->wish, &info)) {
        status =
            calibration_summarise(c->model, accountant, certificate, c->wish.prior, run, &s, error);
        *keeps = status == TEM_OK && tem_wish_is_kept(&c->wish, &s) != 0;
        *value = tem_wish_value(&c->wish, &s);
    }
    tem_certificate_free(certificate);
    return status;
}

/* Finds the largest epsilon at which --calibrated keeps the target; 0: there is none. */
static tem_status find_certified(chooser *c, const tem_accountant *accountant, const tem_run *run,
                                 tem_error *error) {
    certified_answer found = {.chooser = c, .below = INFINITY};
    bool keeps = c->request->beta > 0 ||
                 c->request->gamma > 0 || /* tem compares only certificates of the default beta */
                 is_about_exposed(c->request); /* certificates state effects on the median */
    tem_status status = TEM_OK;
    while (status == TEM_OK && !keeps) {
        found.epsilon = 0;
        each_certificate(c, consider, &found);
        if (found.epsilon <= 0)
            break;
        status = certificate_keeps_target(c, accountant, found.epsilon, run, &keeps,
                                          &c->certified_weights, &c->certified_value, error);
        found.below = found.epsilon;
    }
    c->certified = found.epsilon;
    return status;
}

/* Whether a certificate is near the target: its number is within a factor of 2. */
static bool is_near(const chooser *c) {
    const double ratio = c->certified_value / c->wish.wanted;
    return ratio >= 0.5 && ratio <= 2;
}

/* Prints the largest certificate that keeps the target. Certificates exist for some epsilons only,
 * so it may keep far less than the target allows: tem then names one to make. */
static void print_certified(const chooser *c) {
    const double percent = 100 * c->certified_value;
    printf("Of the certificates that --calibrated takes, the largest that keeps the target has\n"
           "epsilon %s and %s weights. With it ",
           talk_number(c->certified), tem_weights_name(c->certified_weights));
    if (c->wish.target == TEM_TARGET_SUPPORT)
        printf("the median word is spread over %.4g words.\n", c->certified_value);
    else if (c->wish.target == TEM_TARGET_BAYES)
        printf("the best guess is right %.3g %% of the time.\n", percent);
    else
        printf("the median word stays itself %.3g %% of the time.\n", percent);
    if (is_near(c))
        printf("Use it with --epsilon %s --calibrated.\n", talk_number(c->certified));
    else
        printf("That is far from the target. 'tem calibrate%s --epsilon E' makes a nearer one,\n"
               "with E above %s.\n",
               default_model_naming(), talk_number(c->certified));
}

/* Prints for which mechanism the epsilon was chosen: with another one its effects differ. */
static void print_mechanism(const chooser *c) {
    if (c->request->calibrated)
        print_calibrated(c);
    else
        printf(
            "This is for the plain mechanism, without --calibrated; a certificate has less noise "
            "at the\n"
            "same epsilon. 'tem choose --calibrated' answers for certificates of equal "
            "weights.\n");
    if (is_about_exposed(c->request))
        puts("Certificates state their effects on the median word only: 'tem explain --calibrated "
             "--words\nFILE' shows those on words, and 'tem audit --calibrated' the most exposed "
             "ones.");
    else if (c->certified > 0)
        print_certified(c);
    else
        puts("No certificate that --calibrated takes keeps the target: 'tem calibrate --curve' "
             "shows\ntheir effects, 'tem calibrate --epsilon E' makes one.");
}

/* Prints the curve for a request without a target. */
static void print_curve(const chooser *c) {
    printf("No target was given: these are the effects of several epsilons. At epsilon %.4g (>) "
           "the\nmedian word of a text stays itself half of the time. --self P, --support N or "
           "--bayes P\nfinds the epsilon for a target.\n",
           c->answer.epsilon);
    print_table(c);
    bool first = true;
    each_certificate(c, print_certificate, &first);
}

static void print_text(const chooser *c) {
    const tem_point *a = &c->answer;
    printf("epsilon %.4g%s: ", a->epsilon, c->request->calibrated ? " (calibrated)" : "");
    print_value(c);
    printf("s = %.6f, gamma = %.4f, epsilon * gamma = %.2f; prior %s\n", a->s, a->gamma,
           a->epsilon * a->gamma, c->request->prior_name);
    print_mechanism(c);
    print_exposed(c);
    print_table(c);
    bool first = true;
    each_certificate(c, print_certificate, &first);
}

/* JSON has no NaN. */
static json_t *number_as_json(double number) {
    return isnan(number) ? json_null() : json_real(number);
}

static json_t *point_as_json(const tem_point *point) {
    const tem_summary *s = &point->summary;
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:f, s:f, s:f}", "epsilon",
        point->epsilon, "epsilon_paper", point->epsilon_paper, "s", point->s, "gamma", point->gamma,
        "self_median", s->self_median, "self_mean", s->self_mean, "support_median",
        s->support_median, "self_exposed", number_as_json(s->self_exposed), "support_exposed",
        number_as_json(s->support_exposed), "entropy_mean", s->entropy_mean, "distance_mean",
        s->distance_mean, "beyond_mean", s->beyond_mean, "bayes", s->bayes);
}

/* Without a target there is no answer: these keys are null. */
static bool print_json(const chooser *c) {
    const bool targeted = has_target(c->request);
    json_t *curve = json_array();
    for (size_t i = 0; i < c->curve_count; i++)
        json_array_append_new(curve, point_as_json(&c->curve[i]));
    json_t *certificates = json_array();
    each_certificate(c, add_certificate, certificates);
    json_t *all = json_pack(
        "{s:o, s:o, s:b, s:s?, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "epsilon",
        targeted ? json_real(c->answer.epsilon) : json_null(), "epsilon_certified",
        c->certified > 0 ? json_real(c->certified) : json_null(), "calibrated",
        c->request->calibrated, "target", targeted ? tem_target_name(c->wish.target) : NULL,
        "wanted", targeted ? json_real(c->wish.wanted) : json_null(), "words",
        c->wish.word_count > 0 ? json_integer((json_int_t)c->wish.word_count) : json_null(),
        "quantile", c->wish.quantile > 0 ? json_real(c->wish.quantile) : json_null(), "prior",
        c->request->prior_name, "answer", targeted ? point_as_json(&c->answer) : json_null(),
        "exposed", exposed_as_json(c->model, c->exposed, c->exposed_count), "curve", curve,
        "certificates", certificates);
    return print_as_json(all);
}

static int draw_curve(const chooser *c) {
    double epsilons[TEM_CURVE_MAX], selves[TEM_CURVE_MAX], successes[TEM_CURVE_MAX],
        supports[TEM_CURVE_MAX];
    for (size_t i = 0; i < c->curve_count; i++) {
        const tem_point *point = &c->curve[i];
        epsilons[i] = point->epsilon;
        selves[i] = point->summary.self_median;
        successes[i] = point->summary.bayes;
        supports[i] = point->summary.support_median;
    }
    char label[64];
    snprintf(label, sizeof label, has_target(c->request) ? "chosen: %.4g" : "half stays: %.4g",
             c->answer.epsilon);
    const plot_curve curves[] = {
        {"median word stays itself", epsilons, selves, c->curve_count, false, false, 0},
        {"best guess is right", epsilons, successes, c->curve_count, false, false, 0},
        {"words in effect (right)", epsilons, supports, c->curve_count, false, true, 0},
    };
    const plot_mark mark = {label, c->answer.epsilon, true};
    const plot p = {.title = "The effects of epsilon on words",
                    .x_label = c->request->calibrated ? "epsilon (calibrated)" : "epsilon",
                    .y_label = "how often",
                    .right_label = "words in effect",
                    .x_log = true,
                    .right_log = true,
                    .curves = curves,
                    .curve_count = sizeof curves / sizeof *curves,
                    .marks = &mark,
                    .mark_count = 1};
    return plot_write(c->request->plot_path, &p);
}

/* ------------------------------------------------------------------- command -- */

/* Finds the most exposed words at the answer: by the target's number, or by N_w. */
static tem_status find_exposed(chooser *c, const tem_accountant *accountant, const tem_run *run,
                               tem_error *error) {
    const tem_target by =
        c->wish.target == TEM_TARGET_SUPPORT ? TEM_TARGET_SUPPORT : TEM_TARGET_SELF;
    tem_mechanism_options options;
    tem_mechanism *mechanism = NULL;
    tem_point_get_options(&c->answer, &options);
    tem_status status = tem_mechanism_create(c->model, &options, &mechanism, error);
    if (status == TEM_OK)
        status =
            tem_accountant_exposed(accountant, mechanism, by, c->wish.words, c->wish.word_count,
                                   run, c->exposed, EXPOSED, &c->exposed_count, error);
    tem_mechanism_free(mechanism);
    return status;
}

static int choose_with(chooser *c, const tem_accountant *accountant, const tem_run *run) {
    tem_error error;
    tem_status status = tem_accountant_choose(accountant, &c->wish, run, &c->answer, &error);
    if (status == TEM_OK)
        status = tem_accountant_curve(accountant, &c->wish, &c->answer, run, c->curve,
                                      &c->curve_count, &error);
    if (status == TEM_OK && has_target(c->request))
        status = find_exposed(c, accountant, run, &error);
    if (status == TEM_OK && has_target(c->request))
        status = find_certified(c, accountant, run, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    if (!c->request->json && has_target(c->request))
        print_text(c);
    else if (!c->request->json)
        print_curve(c);
    else if (!print_json(c))
        return EXIT_FAILED;
    return c->request->plot_path != NULL ? draw_curve(c) : EXIT_DONE;
}

static int choose(const choose_request *r, tem_target target, double wanted) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    int status = EXIT_FAILED;
    tem_error error;
    tem_accountant *accountant = NULL;
    tem_model *model = trust_open_model(r->common.model, r->common.model_hash, &run);
    tem_prior *prior = NULL;
    word_ids words = {0};
    if (model != NULL)
        prior = prior_choose("choose", r->prior_name, model, &run, r->common.quiet, &status);
    chooser c = {.request = r,
                 .wish = {.target = target,
                          .wanted = wanted,
                          .beta = r->beta,
                          .gamma = r->gamma,
                          .prior = prior,
                          .calibrated = r->calibrated,
                          .quantile = r->quantile},
                 .model = model};
    if (prior != NULL && r->words_path != NULL)
        status = words_option_read(r->words_path, model, r->common.quiet, &words);
    c.wish.words = words.ids;
    c.wish.word_count = words.count;
    if (prior != NULL && (r->words_path == NULL || words.count > 0)) {
        if (tem_accountant_create(model, NULL, &run, &accountant, &error) != TEM_OK)
            status = talk_error(&error);
        else
            status = choose_with(&c, accountant, &run);
    }
    tem_accountant_free(accountant);
    word_ids_free(&words);
    tem_prior_free(prior);
    tem_model_free(model);
    return status;
}

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem choose [--self P | --support N | --bayes P] [OPTIONS]\n"
        "       tem choose --bayes P MODEL... [OPTIONS]\n"
        "       tem choose --bayes P --context LM --public TEXT [OPTIONS]\n"
        "\n"
        "Finds the largest epsilon that keeps the target, and shows the effects of other\n"
        "epsilons. Without a target it only shows these effects. tem computes them from the law,\n"
        "not by drawing.\n"
        "\n"
        "With MODEL..., adapted models of the same words ('tem adapt') and perhaps plain ones, it\n"
        "compares how well they keep the signals of the first adapted one.\n"
        "\n"
        "With --context, it draws and attacks a public text, and finds the epsilon at which an\n"
        "attacker who guesses by context recovers the share P of its words: a measurement.\n"
        "\n"
        "With --mechanism rank or coin every word stays itself equally often, so a target holds\n"
        "for every word, and there is no median.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem choose\n"
         "  tem choose --self 0.5\n"
         "  tem choose --self 0.5 --quantile 0.95\n"
         "  tem choose --self 0.5 --words names-of-illnesses.txt\n"
         "  tem choose --bayes 0.3 --prior zipf:1.1 --plot curve.svg\n"
         "  tem choose --bayes 0.15 --mechanism rank\n"
         "  tem choose --bayes 0.15 plain.tem valence-0.3.tem valence-0.6.tem\n"
         "\n"
         "The prior and the words of --words must be public. If you took them from the text that\n"
         "you want to protect, epsilon, which everybody may know, would depend on that text, and\n"
         "no noise protects against that.");
}

/* Whether the request makes sense without a target: only for the curve of one model. */
static bool needs_target(const choose_request *r, size_t models) {
    return is_about_exposed(r) || r->context_path != NULL || r->text_path != NULL || models > 0;
}

static int check_request(const choose_request *r, size_t models, tem_target *kind, double *wanted) {
    const int targets = (r->self > 0) + (r->support > 0) + (r->bayes > 0);
    if (targets > 1 || (targets == 0 && needs_target(r, models)))
        return talk_usage("choose", "one target is needed: --self P, --support N or --bayes P");
    *kind = r->support > 0 ? TEM_TARGET_SUPPORT : r->bayes > 0 ? TEM_TARGET_BAYES : TEM_TARGET_SELF;
    *wanted = targets == 0 ? SELF_OF_CURVE : r->self + r->support + r->bayes;
    if (*kind == TEM_TARGET_SUPPORT && *wanted <= 1)
        return talk_usage("choose", "--support takes a number above 1: a word is spread over at "
                                    "least itself at any epsilon");
    if (*kind == TEM_TARGET_BAYES && is_about_exposed(r))
        return talk_usage("choose", "--bayes is one number for all words: --words and --quantile "
                                    "go with --self or --support");
    if (r->quantile > 1)
        return talk_usage("choose", "--quantile takes a share above 0 and at most 1");
    if (r->beta > 0 && r->gamma > 0)
        return talk_usage("choose", "beta or gamma, not both: beta makes a gamma");
    return r->plot_path != NULL ? plot_check("choose", r->plot_path, r->force) : EXIT_DONE;
}

/* Checks the options that go with several models. */
static int check_family(const choose_request *r) {
    const char *other = r->common.model != NULL        ? "--model"
                        : r->common.model_hash != NULL ? "--model-hash"
                        : r->beta > 0                  ? "--beta"
                        : r->gamma > 0                 ? "--gamma"
                        : r->calibrated                ? "--calibrated"
                                                       : NULL;
    if (r->bayes <= 0)
        return talk_usage("choose", "models as arguments are compared by --bayes P; -m MODEL names "
                                    "the model for other targets");
    if (other != NULL)
        return talk_usage("choose", "%s does not go with models as arguments", other);
    if (strcmp(r->prior_name, "-") == 0)
        return talk_usage("choose", "--prior takes a file here, not standard input: tem reads it "
                                    "for each model");
    return EXIT_DONE;
}

static int compare_models(const choose_request *r, const char *const *models, size_t count) {
    const family_request family = {.common = &r->common,
                                   .paths = models,
                                   .count = count,
                                   .bayes = r->bayes,
                                   .prior_text = r->prior_name,
                                   .plot_path = r->plot_path,
                                   .json = r->json};
    const int status = check_family(r);
    return status == EXIT_DONE ? choose_family(&family) : status;
}

/* Finds the epsilon for an attacker with context. */
static int choose_by_context(const choose_request *r, size_t operands) {
    const context_request context = {.common = &r->common,
                                     .ngram_path = r->context_path,
                                     .text_path = r->text_path,
                                     .prior_text = r->prior_name,
                                     .bayes = r->bayes,
                                     .beta = r->beta,
                                     .gamma = r->gamma,
                                     .sample = r->sample,
                                     .json = r->json};
    if (r->context_path == NULL)
        return talk_usage("choose", "--public goes with --context LM");
    if (r->text_path == NULL)
        return talk_usage("choose", "--context draws and attacks a public text: --public TEXT, "
                                    "and not the text that LM was made from");
    if (r->bayes <= 0 || operands > 0 || r->calibrated || r->plot_path != NULL)
        return talk_usage("choose", "--context goes with --bayes P, and not with models as "
                                    "arguments, --calibrated or --plot");
    return choose_context(&context);
}

/* Finds the epsilon of a mechanism that protects all words alike: its law has a form, and does not
 * fall off with the distance. */
static int choose_alike(const choose_request *r, size_t operands, tem_target target,
                        double wanted) {
    const tem_mechanism_properties *mechanism = mechanism_named(r->mechanism);
    const form_request form = {.common = &r->common,
                               .mechanism = r->mechanism,
                               .prior_text = r->prior_name,
                               .numbers = &r->numbers,
                               .target = target,
                               .wanted = wanted,
                               .has_target = has_target(r),
                               .json = r->json};
    if (mechanism == NULL)
        return mechanism_refuse_name("choose", r->mechanism);
    if (!mechanism->has_form || mechanism->is_exponential)
        return talk_usage("choose", "--mechanism takes tem, rank or coin");
    if (is_about_exposed(r))
        return talk_usage("choose",
                          "%s protects every word alike: leave out --words and --quantile",
                          r->mechanism);
    if (operands > 0 || r->context_path != NULL || r->text_path != NULL || r->calibrated ||
        r->beta > 0 || r->gamma > 0 || r->plot_path != NULL)
        return talk_usage("choose",
                          "--context, --calibrated, --beta, --gamma, --plot and models as "
                          "arguments are for the mechanism tem");
    return choose_form(&form);
}

int command_choose(int argc, char *const *argv) {
    choose_request r = {.prior_name = PRIOR_DEFAULT, .sample = CONTEXT_SAMPLE_DEFAULT};
    const option_spec table[] = {
        {"self", 0, OPTION_PROBABILITY, &r.self, "P",
         "the median word stays itself with probability at most P", 0, 0},
        {"support", 0, OPTION_POSITIVE, &r.support, "N",
         "the median word is spread over at least N words in effect", 0, 0},
        {"bayes", 0, OPTION_PROBABILITY, &r.bayes, "P",
         "the best guess at a word from its output is right with probability at\n"
         "most P",
         0, 0},
        {"mechanism", 0, OPTION_TEXT, &r.mechanism, "M",
         "tem (default), or rank or coin, which protect every word alike", 0, 0},
        {"number", 0, OPTION_LIST, &r.numbers, "NAME=X",
         "a number of the mechanism's own, such as c=4 for rank", 0, 0},
        {"words", 0, OPTION_FILE, &r.words_path, "FILE",
         "--self, --support: the target holds for every word of FILE (one per line),\n"
         "not the median",
         0, 0},
        {"quantile", 0, OPTION_POSITIVE, &r.quantile, "Q",
         "--self, --support: the target holds for the share Q of the words that a\n"
         "text can contain, or of --words",
         0, 0},
        PRIOR_OPTION(r.prior_name),
        {"context", 0, OPTION_FILE, &r.context_path, "LM",
         "--bayes: the attacker also knows the context, by a file of 'tem ngram'", 0, 0},
        {"public", 0, OPTION_FILE, &r.text_path, "FILE",
         "--context: a PUBLIC text to draw for and attack, one document per line", 0, 0},
        {"sample", 0, OPTION_COUNT, &r.sample, "N",
         "--context: take documents of the text until they have N words; 0: all\n"
         "(default 5000)",
         0, UINT32_MAX},
        {"beta", 0, OPTION_PROBABILITY, &r.beta, "B",
         "truncate at the distance that has all but B of the probability within it\n"
         "(default 0.001)",
         0, 0},
        {"gamma", 0, OPTION_POSITIVE, &r.gamma, "G", "truncate at distance G, instead of --beta", 0,
         0},
        {"calibrated", 0, OPTION_FLAG, &r.calibrated, NULL,
         "answer with the epsilon that 'tem calibrate' certifies, not the paper's", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE", "draw the curves: FILE.svg or FILE.png", 0,
         0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the plot", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    const char *models[FAMILY_MAX];
    size_t operands = 0;
    tem_target kind = TEM_TARGET_SELF;
    double wanted = 0;
    if (!options_parse(argc, argv, table, models, FAMILY_MAX, &operands, message))
        return talk_usage("choose", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r, operands, &kind, &wanted);
    if (status == EXIT_DONE && r.mechanism != NULL && strcmp(r.mechanism, "tem") != 0)
        return choose_alike(&r, operands, kind, wanted);
    if (status == EXIT_DONE && r.numbers.count > 0)
        return talk_usage("choose", "--number goes with --mechanism: tem has none");
    if (status == EXIT_DONE && (r.context_path != NULL || r.text_path != NULL))
        return choose_by_context(&r, operands);
    if (status == EXIT_DONE && operands > 0)
        return compare_models(&r, models, operands);
    return status == EXIT_DONE ? choose(&r, kind, wanted) : status;
}
