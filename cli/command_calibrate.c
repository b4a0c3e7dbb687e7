/* command_calibrate.c - tem calibrate: a larger exponent for an epsilon, with its proof. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "mechanism_options.h"
#include "outputs.h"
#include "prior_option.h"
#include "rounding.h"
#include "talk.h"
#include "trust.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 9 };

typedef struct calibrate_request {
    common_options common;
    tem_calibration wanted;
    const char *weights, *prior_text;
    bool json;
} calibrate_request;

/* What is found, all of it public. */
typedef struct calibrated {
    const tem_model *model;
    const tem_accountant *accountant;
    const tem_prior *prior;
    tem_run run;
    tem_model_info model_info;
    tem_calibration wanted;
    tem_certificate *certificate;
    tem_certificate_info info;
    tem_audit audit;
    tem_summary summary;
    const tem_mechanism *plain; /* with s = epsilon/2, to compare with */
    tem_summary plain_summary;
} calibrated;

static const char *prior_name(const calibrate_request *r) {
    return r->prior_text != NULL ? r->prior_text : "zipf";
}

/* ---- finding ---- */

static tem_status summarise(const calibrated *c, const tem_accountant *accountant,
                            const tem_mechanism *mechanism, tem_summary *summary,
                            tem_error *error) {
    return tem_accountant_summarise(accountant, mechanism, c->prior, 0, &c->run, summary, error);
}

/* What the certificate's mechanism does; weights of its own need an accountant of their own. */
static tem_status examine(calibrated *c, tem_error *error) {
    const tem_mechanism_options options = {.epsilon = c->info.epsilon,
                                           .certificate = c->certificate};
    tem_mechanism *mechanism = NULL;
    tem_accountant *own = NULL;
    tem_status status = tem_mechanism_create(c->model, &options, &mechanism, error);
    if (status == TEM_OK && tem_mechanism_weights(mechanism) != NULL)
        status = tem_accountant_create(c->model, tem_mechanism_weights(mechanism), &c->run, &own,
                                       error);
    const tem_accountant *accountant = own != NULL ? own : c->accountant;
    if (status == TEM_OK)
        status = tem_accountant_audit(accountant, mechanism, &c->run, &c->audit, error);
    if (status == TEM_OK)
        status = summarise(c, accountant, mechanism, &c->summary, error);
    tem_accountant_free(own);
    tem_mechanism_free(mechanism);
    return status;
}

/* Calibrates, looks at the result, and keeps it. */
static tem_status calibrate(calibrated *c, tem_error *error) {
    tem_status status =
        tem_accountant_calibrate(c->accountant, &c->wanted, &c->run, &c->certificate, error);
    if (status != TEM_OK)
        return status;
    tem_certificate_get_info(c->certificate, &c->info);
    status = examine(c, error);
    if (status == TEM_OK)
        status = summarise(c, c->accountant, c->plain, &c->plain_summary, error);
    if (status == TEM_OK)
        status = tem_certificate_save(c->certificate, default_model_certificates(), error);
    return status;
}

/* ---- telling ---- */

static void print_worst(const calibrated *c) {
    size_t length_a = 0, length_b = 0;
    if (c->audit.worst_a == TEM_NO_WORD)
        return;
    const char *a = tem_model_word(c->model, c->audit.worst_a, &length_a);
    const char *b = tem_model_word(c->model, c->audit.worst_b, &length_b);
    printf("worst pair   %.*s, %.*s: %.4f apart\n", (int)length_a, a, (int)length_b, b,
           (double)c->audit.worst_distance / TEM_DIST_ONE);
}

static void print_text(const calibrate_request *r, const calibrated *c) {
    const tem_certificate_info *info = &c->info;
    printf("epsilon      %s, over %s words with %s weights\n", talk_number(info->epsilon),
           talk_count(c->model_info.words), info->weights);
    printf("s            %.6f, which is %.4f of epsilon (the paper: 0.5)\n", info->s,
           info->s / info->epsilon);
    printf("gamma        %.4f", info->gamma);
    if (info->beta > 0)
        printf(", from beta %s", talk_number(info->beta));
    printf("\nrealised     at most %.*g, proved; at least %.*g\n", DIGITS,
           rounding_up(info->realised, DIGITS), DIGITS,
           c->audit.realised_least > 0 ? rounding_down(c->audit.realised_least, DIGITS) : 0);
    print_worst(c);
    printf("pairs        %s examined + %s pruned = %s\n", talk_count(c->audit.pairs_examined),
           talk_count(c->audit.pairs_pruned),
           talk_count(c->audit.pairs_examined + c->audit.pairs_pruned));
    printf("\nunder the prior %-20s calibrated   s = epsilon/2\n", prior_name(r));
    printf("expected distance                   %10.4f   %13.4f\n", c->summary.distance_mean,
           c->plain_summary.distance_mean);
    printf("stays itself (mean of N_w)          %10.4f   %13.4f\n", c->summary.self_mean,
           c->plain_summary.self_mean);
    printf("\ncertificate  %s\nwritten to   %s\n", info->hash, default_model_certificates());
}

static json_t *worst_of(const calibrated *c) {
    size_t length_a = 0, length_b = 0;
    if (c->audit.worst_a == TEM_NO_WORD)
        return json_null();
    const char *a = tem_model_word(c->model, c->audit.worst_a, &length_a);
    const char *b = tem_model_word(c->model, c->audit.worst_b, &length_b);
    return json_pack("{s:o, s:o, s:f}", "a", json_stringn(a, length_a), "b",
                     json_stringn(b, length_b), "distance",
                     (double)c->audit.worst_distance / TEM_DIST_ONE);
}

static bool print_json(const calibrate_request *r, const calibrated *c) {
    const tem_certificate_info *info = &c->info;
    json_t *root = json_pack(
        "{s:f, s:f, s:f, s:o, s:I, s:s, s:s, s:f, s:f, s:o, s:{s:I, s:I}, s:f, s:f, s:s, s:s}",
        "epsilon", info->epsilon, "s", info->s, "gamma", info->gamma, "beta",
        info->beta > 0 ? json_real(info->beta) : json_null(), "n", (json_int_t)c->model_info.words,
        "weights", info->weights, "prior", prior_name(r), "realised", info->realised,
        "realised_least", c->audit.realised_least, "worst", worst_of(c), "pairs", "examined",
        (json_int_t)c->audit.pairs_examined, "pruned", (json_int_t)c->audit.pairs_pruned,
        "expected_distance", c->summary.distance_mean, "self", c->summary.self_mean, "hash",
        info->hash, "file", default_model_certificates());
    const bool done = root != NULL && json_dumpf(root, stdout, JSON_INDENT(1)) == 0;
    json_decref(root);
    putchar('\n');
    if (!done)
        fputs("tem: cannot write JSON (is the model's path valid UTF-8?)\n", stderr);
    return done;
}

/* ---- running ---- */

static int calibrate_and_tell(const calibrate_request *r, calibrated *c) {
    tem_error error;
    int status = EXIT_DONE;
    if (calibrate(c, &error) != TEM_OK) {
        status = talk_error(&error);
    } else {
        talk_end_progress();
        status = trust_add(&c->info) ? EXIT_DONE : EXIT_FAILED;
        if (!r->json)
            print_text(r, c);
        else if (!print_json(r, c))
            status = EXIT_FAILED;
    }
    tem_certificate_free(c->certificate);
    return status;
}

static int run_with_prior(const calibrate_request *r, calibrated *c) {
    tem_accountant *accountant = NULL;
    tem_error error;
    if (tem_accountant_create(c->model, NULL, &c->run, &accountant, &error) != TEM_OK)
        return talk_error(&error);
    c->accountant = accountant;
    const int status = calibrate_and_tell(r, c);
    tem_accountant_free(accountant);
    return status;
}

/* Whether a certificate can be written, before all the work. */
static int check_file(void) {
    const char *path = default_model_certificates();
    tem_certificate *first = NULL;
    tem_error error;
    if (!outputs_check(path, true)) {
        fputs("tem: link or copy the model into a folder of yours, and name it with -m\n", stderr);
        return EXIT_FAILED;
    }
    if (!trust_ready())
        return EXIT_FAILED;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return EXIT_DONE;
    if (tem_certificate_load(path, 0, &first, &error) != TEM_OK)
        return talk_error(&error);
    tem_certificate_free(first);
    return EXIT_DONE;
}

/* The plain mechanism comes first: it refuses what is out of range at once. */
static int run_on_model(const calibrate_request *r, const tem_model *model, const tem_run *run) {
    const mechanism_choice choice = {
        .epsilon = r->wanted.epsilon, .beta = r->wanted.beta, .gamma = r->wanted.gamma};
    calibrated c = {.model = model, .run = *run};
    int status = check_file();
    if (status != EXIT_DONE)
        return status;
    tem_prior *prior = NULL;
    tem_mechanism *plain = mechanism_choose("calibrate", model, &choice, &status);
    if (plain != NULL)
        prior = prior_choose("calibrate", r->prior_text, model, r->common.quiet, &status);
    if (prior != NULL) {
        c.plain = plain;
        c.prior = prior;
        c.wanted = r->wanted;
        c.wanted.prior = prior;
        c.wanted.prior_name = prior_name(r);
        tem_model_get_info(model, &c.model_info);
        status = run_with_prior(r, &c);
    }
    tem_prior_free(prior);
    tem_mechanism_free(plain);
    return status;
}

static void print_help(const option_spec *table) {
    puts("usage: tem calibrate --epsilon E [OPTIONS]\n"
         "\n"
         "Looks at all pairs of words for an exponent s beyond E/2 that still keeps the promise\n"
         "of epsilon E, and writes the proof, a certificate, into MODEL.cert. The option\n"
         "--calibrated of other commands uses it. Words then stay nearer at the same E: the\n"
         "proof is tighter, the noise is not stronger.\n");
    options_print_help(stdout, table);
    puts("\n"
         "  tem calibrate --epsilon 2\n"
         "  echo \"the movie was wonderful\" | tem privatize --epsilon 2 --calibrated");
}

static int check_request(calibrate_request *r) {
    tem_error error;
    if (r->weights != NULL &&
        tem_weights_parse(r->weights, &r->wanted.weights, &error) != TEM_OK)
        return talk_usage("calibrate", "--weights: %s", error.message);
    if (r->wanted.epsilon <= 0)
        return talk_usage("calibrate",
                          "which epsilon? --epsilon E has no default; try 2 to 3, and see tem "
                          "explain");
    return EXIT_DONE;
}

int command_calibrate(int argc, char *const *argv) {
    calibrate_request r = {.weights = NULL};
    const option_spec table[] = {
        EXPONENT_OPTIONS(r.wanted),
        {"weights", 0, OPTION_TEXT, &r.weights, "W", "output weights: equal (default), balanced or tuned", 0, 0},
        PRIOR_OPTION(r.prior_text),
        {"json", 0, OPTION_FLAG, &r.json, NULL, "as one JSON object", 0, 0},
        MODEL_OPTION(r.common),
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
    tem_model *model = default_model_open_checked(r.common.model, &run);
    if (model == NULL)
        return EXIT_FAILED;
    status = run_on_model(&r, model, &run);
    tem_model_free(model);
    return status;
}
