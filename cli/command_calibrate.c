/* command_calibrate.c - tem calibrate: finds and proves a larger exponent for an epsilon. */
#include "calibrate_curve.h"
#include "calibration.h"
#include "commands.h"
#include "default_model.h"
#include "mechanism_options.h"
#include "plot.h"
#include "prior_option.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "wrap.h"

#include <jansson.h>
#include <string.h>

enum { DIGITS = 9, STEPS_MAX = 1000000 };

static const double minutes_default = 60;

/* The result; all of it is public. */
typedef struct calibrated {
    const tem_model *model;
    tem_model_info model_info;
    tem_certificate_info info;
    tem_audit audit;
} calibrated;

/* ---- printing ---- */

static void print_text(const calibrated *c) {
    const tem_certificate_info *info = &c->info;
    printf("epsilon      %s, over %s words with %s weights\n", talk_number(info->epsilon),
           talk_count(c->model_info.words), tem_weights_name(info->weights));
    printf("s            %.6f, which is %.4f of epsilon (the paper: 0.5)\n", info->s,
           info->s / info->epsilon);
    printf("gamma        %.4f", info->gamma);
    if (info->beta > 0)
        printf(", from beta %s", talk_number(info->beta));
    printf("\nrealised     at most %.*g, proved", DIGITS, tem_round_up(info->realised, DIGITS));
    if (c->model_info.excluded == 0) /* a pair with an excluded word may lose less */
        printf("; at least %.*g", DIGITS,
               c->audit.realised_least > 0 ? tem_round_down(c->audit.realised_least, DIGITS) : 0);
    putchar('\n');
    fputs("worst pair   ", stdout);
    words_print_worst(c->model, &c->audit);
    printf("pairs        %s examined + %s pruned = %s\n", talk_count(c->audit.pairs_examined),
           talk_count(c->audit.pairs_pruned),
           talk_count(c->audit.pairs_examined + c->audit.pairs_pruned));
    effects_print(info);
    printf("\ncertificate  %s\nkept in      %s\n", info->hash, default_model_certificates());
}

static bool print_json(const calibrated *c) {
    const tem_certificate_info *info = &c->info;
    json_t *root = json_pack(
        "{s:f, s:f, s:f, s:o, s:I, s:s, s:f, s:f, s:b, s:o, s:{s:I, s:I}, s:o, s:s, s:s}",
        "epsilon", info->epsilon, "s", info->s, "gamma", info->gamma, "beta",
        info->beta > 0 ? json_real(info->beta) : json_null(), "n", (json_int_t)c->model_info.words,
        "weights", tem_weights_name(info->weights), "realised", info->realised, "realised_least",
        c->audit.realised_least, "realised_least_proved", c->model_info.excluded == 0, "worst",
        words_worst_as_json(c->model, &c->audit), "pairs", "examined",
        (json_int_t)c->audit.pairs_examined, "pruned", (json_int_t)c->audit.pairs_pruned, "effects",
        effects_as_json(info), "hash", info->hash, "file", default_model_certificates());
    return print_as_json(root);
}

/* ---- running ---- */

static int calibrate(const calibrate_request *r, const tem_model *model,
                     const tem_accountant *accountant, const tem_run *run) {
    calibrated c = {.model = model};
    tem_certificate *certificate = calibration_make(model, accountant, &r->wanted, r->minutes, true,
                                                    run, r->common.quiet, &c.audit);
    if (certificate == NULL)
        return EXIT_FAILED;
    tem_certificate_get_info(certificate, &c.info);
    tem_model_get_info(model, &c.model_info);
    tem_certificate_free(certificate);
    if (!r->json)
        print_text(&c);
    return !r->json || print_json(&c) ? EXIT_DONE : EXIT_FAILED;
}

/* Makes the mechanism of the paper first: it refuses values out of range at once. */
static int check_exponents(const calibrate_request *r, const tem_model *model) {
    const mechanism_choice choice = {
        .epsilon = r->wanted.epsilon, .beta = r->wanted.beta, .gamma = r->wanted.gamma};
    int status = EXIT_DONE;
    if (r->curve)
        return EXIT_DONE;
    mechanism_close(mechanism_choose("calibrate", model, &choice, &status));
    return status;
}

static int run_on_model(calibrate_request *r, const tem_model *model, const tem_run *run) {
    tem_prior *prior = NULL;
    tem_accountant *accountant = NULL;
    tem_error error;
    if (!calibration_ready())
        return EXIT_FAILED;
    int status = check_exponents(r, model);
    if (status == EXIT_DONE)
        prior = prior_choose("calibrate", r->prior_text, model, run, r->common.quiet, &status);
    if (prior == NULL)
        return status;
    r->wanted.steps = (uint32_t)r->steps;
    r->wanted.prior = prior;
    r->wanted.prior_name = prior_name(r->prior_text);
    if (tem_accountant_create(model, NULL, run, &accountant, &error) != TEM_OK)
        status = talk_error(&error);
    else
        status = r->curve ? calibrate_curve(r, model, accountant, run)
                          : calibrate(r, model, accountant, run);
    tem_accountant_free(accountant);
    tem_prior_free(prior);
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem calibrate --epsilon E [OPTIONS]\n"
         "       tem calibrate --curve [OPTIONS]\n"
         "\n"
         "Looks for output weights and an exponent s above E/2 that still keep the promise of\n"
         "epsilon E, proves them over all pairs of words, and writes them, as a certificate, into\n"
         "MODEL.cert. The option --calibrated of other commands uses the certificate. Words then\n"
         "stay nearer at the same E: the proof is tighter, the noise is not stronger.\n"
         "--curve prints the effects of equal, balanced and tuned weights at usual epsilons, and\n"
         "makes missing certificates, which takes long.\n"
         "Ctrl-C ends the search for weights, and tem proves the best result so far.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem calibrate --epsilon 1.5\n"
         "  tem calibrate --epsilon 2 --weights equal\n"
         "  echo \"the movie was wonderful\" | tem privatize --epsilon 2 --calibrated");
}

static int check_request(calibrate_request *r) {
    tem_error error;
    if (r->weights != NULL && tem_weights_parse(r->weights, &r->wanted.weights, &error) != TEM_OK)
        return talk_usage("calibrate", "--weights: %s", error.message);
    if (r->curve && (r->wanted.epsilon > 0 || r->weights != NULL))
        return talk_usage("calibrate", "--curve has its own epsilons and weights: leave out "
                                       "--epsilon and --weights");
    if (!r->curve && r->plot_path != NULL)
        return talk_usage("calibrate", "--plot needs --curve");
    if (r->plot_path != NULL) {
        const int status = plot_check("calibrate", r->plot_path, r->force);
        if (status != EXIT_DONE)
            return status;
    }
    if (!r->curve && r->wanted.epsilon <= 0)
        return mechanism_ask_epsilon("calibrate", NULL, true);
    return EXIT_DONE;
}

int command_calibrate(int argc, char *const *argv) {
    calibrate_request r = {.prior_text = PRIOR_DEFAULT,
                           .steps = 0,
                           .wanted.weights = TEM_WEIGHTS_BALANCED,
                           .minutes = minutes_default};
    const option_spec table[] = {
        EXPONENT_OPTIONS(r.wanted),
        {"weights", 0, OPTION_TEXT, &r.weights, "W",
         "output weights: balanced (default), equal or tuned", 0, 0},
        PRIOR_OPTION(r.prior_text),
        {"steps", 0, OPTION_COUNT, &r.steps, "N",
         "steps of the search for tuned weights (default 100; 24 beyond 56,000\n"
         "words); more steps find a smaller expected distance, which is not\n"
         "always better text",
         1, STEPS_MAX},
        {"minutes", 0, OPTION_POSITIVE, &r.minutes, "M",
         "end the search after M minutes (default 60) with its best result so far", 0, 0},
        {"curve", 0, OPTION_FLAG, &r.curve, NULL, "print a table over epsilons and weights", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE",
         "with --curve: draw the table into FILE.svg or FILE.png", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the plot", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, NULL, 0, &operands, message))
        return talk_usage("calibrate", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    int status = check_request(&r);
    if (status != EXIT_DONE)
        return status;
    const tem_run run = talk_run((unsigned)r.common.threads, r.common.quiet);
    tem_model *model = trust_open_model(r.common.model, r.common.model_hash, &run);
    if (model == NULL)
        return EXIT_FAILED;
    status = run_on_model(&r, model, &run);
    tem_model_free(model);
    return status;
}
