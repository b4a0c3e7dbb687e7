/* command_choose.c - tem choose: the epsilon for a target.
 *
 * Nobody knows what an epsilon of 3 means; how often a word stays itself, over how many words it
 * is spread, or how often an adversary guesses it can be judged. The larger epsilon, the larger
 * the first and the last and the smaller the second, so a bisection finds the largest epsilon
 * that does not disclose more than the target says. */
#include "calibration.h"
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "effects.h"
#include "plot.h"
#include "prior_option.h"
#include "rounding.h"
#include "talk.h"
#include "trust.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 4,
    CURVE_MAX = 32,
    GAMMA_LEAST = 1000 /* steps: below, what is found would be how gamma was rounded */
};

typedef enum target { TARGET_SELF, TARGET_SUPPORT, TARGET_BAYES } target;

typedef struct choose_request {
    common_options common;
    double self, support, bayes; /* 0: not given */
    double beta, gamma;
    const char *prior_name, *plot_path;
    bool calibrated, json, force;
} choose_request;

/* What a mechanism does at one epsilon. */
typedef struct choose_point {
    double epsilon;
    double realised; /* with --calibrated: proved for the same s, the epsilon that counts; else
                      * NaN. `epsilon` is then what the paper asks for this s */
    tem_mechanism_info info;
    tem_summary summary;
} choose_point;

typedef struct chooser {
    const choose_request *request;
    target target;
    double wanted;
    const tem_model *model;
    const tem_accountant *accountant;
    const tem_prior *prior;
    tem_run run;
    choose_point answer;
    choose_point curve[CURVE_MAX];
    size_t curve_count;
} chooser;

/* An epsilon that is beyond what the integers hold is not an error while one searches. */
typedef enum outcome { OUTCOME_DONE, OUTCOME_BEYOND, OUTCOME_FAILED } outcome;

/* -------------------------------------------------------------- one epsilon -- */

static outcome audit_point(const chooser *c, const tem_mechanism *mechanism, choose_point *point) {
    tem_error error;
    tem_audit audit;
    if (tem_accountant_audit(c->accountant, mechanism, &c->run, &audit, &error) != TEM_OK) {
        talk_error(&error);
        return OUTCOME_FAILED;
    }
    point->realised = audit.realised;
    return OUTCOME_DONE;
}

/* whole: with everything that is shown, else with what the target needs. */
static outcome evaluate(const chooser *c, double epsilon, bool whole, choose_point *point) {
    const tem_mechanism_options options = {
        .epsilon = epsilon, .beta = c->request->beta, .gamma = c->request->gamma};
    tem_error error;
    tem_mechanism *mechanism = NULL;
    tem_status status = tem_mechanism_create(c->model, &options, &mechanism, &error);
    if (status == TEM_ERR_RANGE)
        return OUTCOME_BEYOND;
    *point = (choose_point){.epsilon = epsilon, .realised = NAN};
    if (status == TEM_OK)
        tem_mechanism_get_info(mechanism, &point->info);
    if (status == TEM_OK && c->request->gamma <= 0 && point->info.gamma_steps < GAMMA_LEAST) {
        tem_mechanism_free(mechanism);
        return OUTCOME_BEYOND;
    }
    if (status == TEM_OK)
        status = tem_accountant_summarise(c->accountant, mechanism, c->prior,
                                          whole || c->target == TARGET_BAYES, &c->run,
                                          &point->summary, &error);
    outcome result = OUTCOME_DONE;
    if (status != TEM_OK) {
        talk_error(&error);
        result = OUTCOME_FAILED;
    } else if (whole && c->request->calibrated) {
        result = audit_point(c, mechanism, point);
    }
    tem_mechanism_free(mechanism);
    return result;
}

static double value_of(const chooser *c, const choose_point *point) {
    return c->target == TARGET_SELF      ? point->summary.self_median
           : c->target == TARGET_SUPPORT ? point->summary.support_median
                                         : point->summary.bayes;
}

/* Whether no more is disclosed than the target says. */
static bool keeps_target(const chooser *c, const choose_point *point) {
    const double value = value_of(c, point);
    return c->target == TARGET_SUPPORT ? value >= c->wanted : value <= c->wanted;
}

/* ---------------------------------------------------------------- the search -- */

static const char *const target_names[] = {"the median of N_w", "the median of S_w",
                                           "the success of the best guess"};

static outcome complain_unreachable(const chooser *c, const choose_point *end, const char *which) {
    fprintf(stderr,
            "tem: that cannot be reached: at epsilon %.4g, nearly the %s there is here, %s is "
            "%.6g\n",
            end->epsilon, which, target_names[c->target], value_of(c, end));
    return OUTCOME_FAILED;
}

/* Goes by factors of two until the target is kept by *low and not by *high. */
static outcome bracket(const chooser *c, choose_point *low, choose_point *high, bool *high_is_end) {
    choose_point point, before;
    outcome result = evaluate(c, 1, false, &point);
    for (double epsilon = 1; result == OUTCOME_BEYOND && epsilon > 1e-5; epsilon /= 2)
        result = evaluate(c, epsilon / 2, false, &point);
    const bool up = result == OUTCOME_DONE && keeps_target(c, &point);
    while (result == OUTCOME_DONE) {
        before = point;
        result = evaluate(c, before.epsilon * (up ? 2 : 0.5), false, &point);
        if (result == OUTCOME_BEYOND && !up)
            return complain_unreachable(c, &before, "least");
        *high_is_end = result == OUTCOME_BEYOND;
        if (*high_is_end)
            point.epsilon = before.epsilon * 2;
        if (result == OUTCOME_FAILED || (!*high_is_end && keeps_target(c, &point) == up))
            continue;
        *low = up ? before : point;
        *high = up ? point : before;
        return OUTCOME_DONE;
    }
    if (result == OUTCOME_BEYOND)
        fputs("tem: no epsilon goes with this gamma or beta\n", stderr);
    return OUTCOME_FAILED;
}

static outcome bisect(const chooser *c, choose_point *low, choose_point *high) {
    bool high_is_end = false;
    outcome result = bracket(c, low, high, &high_is_end);
    while (result == OUTCOME_DONE && high->epsilon / low->epsilon > 1.0002) {
        choose_point middle;
        const double epsilon = sqrt(low->epsilon * high->epsilon);
        result = evaluate(c, epsilon, false, &middle);
        if (result == OUTCOME_FAILED)
            return result;
        const bool beyond = result == OUTCOME_BEYOND;
        if (beyond)
            middle.epsilon = epsilon;
        if (beyond || !keeps_target(c, &middle)) {
            *high = middle;
            high_is_end = beyond;
        } else {
            *low = middle;
        }
        result = OUTCOME_DONE;
    }
    if (result == OUTCOME_DONE && high_is_end)
        return complain_unreachable(c, low, "largest");
    return result;
}

/* The largest epsilon of four digits that keeps the target. */
static outcome find_answer(chooser *c) {
    choose_point low, high;
    outcome result = bisect(c, &low, &high);
    double epsilon = result == OUTCOME_DONE ? rounding_down(low.epsilon, DIGITS) : 0;
    for (int tries = 0; result == OUTCOME_DONE && tries < 10; tries++) {
        result = evaluate(c, epsilon, true, &c->answer);
        if (result == OUTCOME_DONE && keeps_target(c, &c->answer))
            return result;
        epsilon = rounding_down(epsilon * (1 - 1e-4), DIGITS);
    }
    if (result != OUTCOME_FAILED)
        fputs("tem: no epsilon of four digits keeps that target\n", stderr);
    return OUTCOME_FAILED;
}

/* What the certificate for an epsilon does. */
static outcome evaluate_certificate(const chooser *c, double epsilon, choose_point *point) {
    const tem_calibration wanted = {
        .epsilon = epsilon, .beta = c->request->beta, .gamma = c->request->gamma};
    tem_error error;
    tem_certificate *certificate = NULL;
    tem_mechanism *mechanism = NULL;
    tem_status status =
        tem_accountant_calibrate(c->accountant, &wanted, &c->run, &certificate, &error);
    const tem_mechanism_options options = {.epsilon = epsilon, .certificate = certificate};
    if (status == TEM_OK)
        status = tem_mechanism_create(c->model, &options, &mechanism, &error);
    if (status == TEM_OK) {
        *point = (choose_point){.realised = epsilon};
        tem_mechanism_get_info(mechanism, &point->info);
        point->epsilon = rounding_up(2 * point->info.s + 0x1p-18, DIGITS);
        status = tem_accountant_summarise(c->accountant, mechanism, c->prior, 1, &c->run,
                                          &point->summary, &error);
    }
    tem_mechanism_free(mechanism);
    tem_certificate_free(certificate);
    if (status != TEM_OK)
        talk_error(&error);
    return status == TEM_OK ? OUTCOME_DONE : OUTCOME_FAILED;
}

/* The loss at the s that was found is an epsilon whose certificate may well have a larger s: the
 * loss need not grow with s. What counts is what that certificate discloses. */
static outcome find_calibrated_answer(chooser *c) {
    double epsilon = rounding_up(c->answer.realised, DIGITS);
    for (int tries = 0; tries < 64; tries++) {
        const outcome result = evaluate_certificate(c, epsilon, &c->answer);
        if (result != OUTCOME_DONE || keeps_target(c, &c->answer))
            return result;
        epsilon = rounding_down(epsilon * (1 - (tries < 8 ? 1e-3 : 2e-2)), DIGITS);
    }
    fputs("tem: no certificate of this vocabulary keeps that target\n", stderr);
    return OUTCOME_FAILED;
}

/* --------------------------------------------------------------- the curve -- */

/* In ascending order; the answer is in its place among the others. */
static outcome add_to_curve(chooser *c, double epsilon) {
    const double before = c->curve_count > 0 ? c->curve[c->curve_count - 1].epsilon : 0;
    if (before < c->answer.epsilon && epsilon >= c->answer.epsilon)
        c->curve[c->curve_count++] = c->answer;
    if (epsilon <= c->answer.epsilon && epsilon >= c->answer.epsilon)
        return OUTCOME_DONE;
    const outcome result = evaluate(c, epsilon, true, &c->curve[c->curve_count]);
    c->curve_count += result == OUTCOME_DONE;
    return result;
}

/* The epsilons that people use with embeddings; where the answer is far from these, because
 * distances have another scale, some around it. */
static outcome find_curve(chooser *c) {
    static const double usual[] = {0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12};
    enum { USUAL = sizeof usual / sizeof *usual, AROUND = 6 };
    const double answer = c->answer.epsilon;
    const bool is_usual = answer >= usual[0] && answer <= usual[USUAL - 1];
    const int count = is_usual ? USUAL : 2 * AROUND + 1;
    outcome result = OUTCOME_DONE;
    for (int i = 0; i < count && result != OUTCOME_FAILED; i++)
        result = add_to_curve(
            c, is_usual ? usual[i] : rounding_down(answer * pow(2, (i - AROUND) / 2.0), DIGITS));
    return result;
}

/* ------------------------------------------------------------------ printing -- */

/* What is to be given to --epsilon. */
static double epsilon_of(const chooser *c, const choose_point *point) {
    return c->request->calibrated ? rounding_up(point->realised, DIGITS) : point->epsilon;
}

static void print_row(const chooser *c, const choose_point *point) {
    const tem_summary *s = &point->summary;
    const bool is_answer = memcmp(&point->epsilon, &c->answer.epsilon, sizeof(double)) == 0;
    printf("%c%8.4g", is_answer ? '>' : ' ', epsilon_of(c, point));
    if (c->request->calibrated)
        printf("  %10.4g", point->epsilon);
    printf("  %10.6f  %10.2f  %9.4f  %8.3f  %10.2e  %8.6f\n", s->self_median, s->support_median,
           s->entropy_mean, s->distance_mean, s->beyond_mean, s->bayes);
}

static void print_table(const chooser *c) {
    printf("\n  epsilon%s  N_w median  S_w median    entropy  distance     P(> g.)     Bayes\n",
           c->request->calibrated ? "     paper's" : "");
    for (size_t i = 0; i < c->curve_count; i++)
        print_row(c, &c->curve[i]);
    puts("\n"
         "N_w: how often a word stays itself; S_w: words it is spread over in effect; entropy in\n"
         "nats; distance: expected, cut at gamma; P(> g.): how often the output is beyond gamma;\n"
         "Bayes: how often the best guess at a word from its output is right.");
}

static void print_calibrated(const chooser *c) {
    const choose_request *r = c->request;
    printf("It needs the certificate that 'tem calibrate --weights equal%s --epsilon %.4g",
           default_model_naming(), epsilon_of(c, &c->answer));
    if (r->beta > 0)
        printf(" --beta %.15g", r->beta);
    if (r->gamma > 0)
        printf(" --gamma %.15g", r->gamma);
    printf(
        "' makes,\nwith --calibrated --weights equal. Without one the same s takes epsilon %.4g.\n",
        c->answer.epsilon);
}

/* Calls `each` for every certificate of the model that is believed and whose effects are under the
 * prior at hand. */
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
        const bool fits = calibration_is_for(certificate, c->model);
        tem_certificate_free(certificate);
        if (trust_has(&info) && fits &&
            strcmp(info.prior, prior_name(c->request->prior_name)) == 0)
            each(&info, context);
    }
}

static void print_certificate(const tem_certificate_info *info, void *context) {
    bool *first = context;
    if (*first)
        puts("\nCertificates at hand, each beside the paper's mechanism at the same epsilon:\n\n"
             "  epsilon  weights          N_w median            S_w median               Bayes");
    *first = false;
    printf(" %8.4g  %-9s  %8.6f (%8.6f)  %8.2f (%8.2f)  %8.6f (%8.6f)\n", info->epsilon,
           info->weights, info->effect.self, info->plain.self, info->effect.support,
           info->plain.support, info->effect.bayes, info->plain.bayes);
}

static void add_certificate(const tem_certificate_info *info, void *context) {
    json_array_append_new(context,
                          json_pack("{s:f, s:s, s:f, s:o}", "epsilon", info->epsilon, "weights",
                                    info->weights, "s", info->s, "effects", effects_as_json(info)));
}

/* The largest epsilon of a certificate with tuned weights that keeps the target; 0: there is none. */
typedef struct tuned_answer {
    const chooser *chooser;
    double epsilon;
} tuned_answer;

static bool effect_keeps_target(const chooser *c, const tem_effect *e) {
    return c->target == TARGET_SELF      ? e->self <= c->wanted
           : c->target == TARGET_SUPPORT ? e->support >= c->wanted
                                         : e->bayes <= c->wanted;
}

static void consider_tuned(const tem_certificate_info *info, void *context) {
    tuned_answer *best = context;
    const bool usual_beta = info->beta >= TEM_BETA_DEFAULT && info->beta <= TEM_BETA_DEFAULT;
    if (strcmp(info->weights, "tuned") == 0 && usual_beta && info->epsilon > best->epsilon &&
        effect_keeps_target(best->chooser, &info->effect))
        best->epsilon = info->epsilon;
}

/* An epsilon is chosen for one mechanism, and means something else with another. */
static void print_mechanism(const chooser *c) {
    tuned_answer tuned = {.chooser = c};
    if (c->request->calibrated)
        print_calibrated(c);
    else
        printf("It is for the plain mechanism, without --calibrated; with a certificate the same "
               "epsilon\n"
               "has less noise. 'tem choose --calibrated' answers for those of equal weights.\n");
    if (c->request->beta <= 0 && c->request->gamma <= 0)
        each_certificate(c, consider_tuned, &tuned);
    if (tuned.epsilon > 0)
        printf(
            "Of the certificates of tuned weights at hand, that of epsilon %s is the largest that\n"
            "keeps the target: --epsilon %s --calibrated.\n",
            talk_number(tuned.epsilon), talk_number(tuned.epsilon));
    else
        puts("For tuned weights no certificate at hand keeps the target: 'tem calibrate --curve' "
             "shows\n"
             "what they do, 'tem calibrate --epsilon E' makes one.");
}

static void print_text(const chooser *c) {
    const choose_point *a = &c->answer;
    printf("epsilon %.4g%s: %s is %.6g, at %s %.6g\n", epsilon_of(c, a),
           c->request->calibrated ? " (calibrated)" : "", target_names[c->target], value_of(c, a),
           c->target == TARGET_SUPPORT ? "least" : "most", c->wanted);
    printf("s = %.6f, gamma = %.4f, epsilon * gamma = %.2f; prior %s\n", a->info.s, a->info.gamma,
           epsilon_of(c, a) * a->info.gamma, c->request->prior_name);
    print_mechanism(c);
    print_table(c);
    bool first = true;
    each_certificate(c, print_certificate, &first);
}

static json_t *point_as_json(const chooser *c, const choose_point *point) {
    const tem_summary *s = &point->summary;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "epsilon",
                     epsilon_of(c, point), "epsilon_paper", point->epsilon, "s", point->info.s,
                     "gamma", point->info.gamma, "self_median", s->self_median, "self_mean",
                     s->self_mean, "support_median", s->support_median, "entropy_mean",
                     s->entropy_mean, "distance_mean", s->distance_mean, "beyond_mean",
                     s->beyond_mean, "bayes", s->bayes);
}

static bool print_json(const chooser *c) {
    static const char *const names[] = {"self", "support", "bayes"};
    json_t *curve = json_array();
    for (size_t i = 0; i < c->curve_count; i++)
        json_array_append_new(curve, point_as_json(c, &c->curve[i]));
    json_t *certificates = json_array();
    each_certificate(c, add_certificate, certificates);
    json_t *all =
        json_pack("{s:f, s:b, s:s, s:f, s:s, s:o, s:o, s:o}", "epsilon", epsilon_of(c, &c->answer),
                  "calibrated", c->request->calibrated, "target", names[c->target], "wanted",
                  c->wanted, "prior", c->request->prior_name, "answer",
                  point_as_json(c, &c->answer), "curve", curve, "certificates", certificates);
    const bool done = all != NULL && json_dumpf(all, stdout, JSON_INDENT(1)) == 0;
    json_decref(all);
    putchar('\n');
    if (!done)
        fputs("tem: out of memory, or the name of the prior is not valid UTF-8\n", stderr);
    return done;
}

static int draw_curve(const chooser *c) {
    double epsilons[CURVE_MAX], selves[CURVE_MAX], successes[CURVE_MAX], supports[CURVE_MAX];
    const bool calibrated = c->request->calibrated;
    for (size_t i = 0; i < c->curve_count; i++) {
        const choose_point *point = &c->curve[i];
        epsilons[i] = calibrated ? point->realised : point->epsilon;
        selves[i] = point->summary.self_median;
        successes[i] = point->summary.bayes;
        supports[i] = point->summary.support_median;
    }
    char label[64];
    snprintf(label, sizeof label, "chosen: %.4g", epsilon_of(c, &c->answer));
    const plot_curve curves[] = {
        {"N_w, median", epsilons, selves, c->curve_count, false, false},
        {"Bayes success", epsilons, successes, c->curve_count, false, false},
        {"S_w, median (right)", epsilons, supports, c->curve_count, false, true},
    };
    const plot_mark mark = {label, epsilon_of(c, &c->answer), true};
    const plot p = {.title = "What an epsilon does to words",
                    .x_label = calibrated ? "epsilon (calibrated)" : "epsilon",
                    .y_label = "probability",
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

static int choose_with(chooser *c) {
    outcome found = find_answer(c);
    if (found == OUTCOME_DONE && c->request->calibrated)
        found = find_calibrated_answer(c);
    if (found == OUTCOME_DONE)
        found = find_curve(c);
    talk_end_progress();
    if (found == OUTCOME_FAILED)
        return EXIT_FAILED;
    if (!c->request->json)
        print_text(c);
    else if (!print_json(c))
        return EXIT_FAILED;
    return c->request->plot_path != NULL ? draw_curve(c) : EXIT_DONE;
}

static int choose(const choose_request *r, target kind, double wanted) {
    chooser *c = calloc(1, sizeof *c);
    if (c == NULL)
        return EXIT_FAILED;
    c->request = r;
    c->target = kind;
    c->wanted = wanted;
    c->run = talk_run((unsigned)r->common.threads, r->common.quiet);
    int status = EXIT_FAILED;
    tem_error error;
    tem_accountant *accountant = NULL;
    tem_model *model = default_model_open_checked(r->common.model, &c->run);
    tem_prior *prior = model == NULL
                           ? NULL
                           : prior_choose("choose", r->prior_name, model, r->common.quiet, &status);
    if (prior != NULL) {
        if (tem_accountant_create(model, NULL, &c->run, &accountant, &error) != TEM_OK) {
            status = talk_error(&error);
        } else {
            c->model = model;
            c->accountant = accountant;
            c->prior = prior;
            status = choose_with(c);
        }
    }
    tem_accountant_free(accountant);
    tem_prior_free(prior);
    tem_model_free(model);
    free(c);
    return status;
}

static void print_help(const option_spec *table) {
    puts("usage: tem choose --self P | --support N | --bayes P [OPTIONS]\n"
         "\n"
         "Finds the largest epsilon that does not disclose more than the target says, and shows\n"
         "what other epsilons do. Computed from the distribution, not by drawing.\n");
    options_print_help(stdout, table);
    puts("\n"
         "  tem choose --self 0.5\n"
         "  tem choose --bayes 0.3 --prior zipf:1.1 --plot curve.svg\n"
         "\n"
         "The prior must be public. Counted in the text that is to be protected it would make\n"
         "epsilon, which everybody may know, depend on that text, and nothing protects that.");
}

static int check_request(const choose_request *r, target *kind, double *wanted) {
    if ((r->self > 0) + (r->support > 0) + (r->bayes > 0) != 1)
        return talk_usage("choose", "one target is needed: --self P, --support N or --bayes P");
    *kind = r->self > 0 ? TARGET_SELF : r->support > 0 ? TARGET_SUPPORT : TARGET_BAYES;
    *wanted = r->self + r->support + r->bayes;
    if (*kind == TARGET_SUPPORT && *wanted <= 1)
        return talk_usage("choose", "--support takes a number above 1: a word is spread over at "
                                    "least itself at any epsilon");
    if (*kind != TARGET_SUPPORT && *wanted >= 1)
        return talk_usage("choose",
                          "--%s takes a probability below 1: at any epsilon a word may "
                          "become another",
                          *kind == TARGET_SELF ? "self" : "bayes");
    if (r->beta > 0 && r->gamma > 0)
        return talk_usage("choose", "beta or gamma, not both: beta makes a gamma");
    return r->plot_path != NULL ? plot_check("choose", r->plot_path, r->force) : EXIT_DONE;
}

int command_choose(int argc, char *const *argv) {
    choose_request r = {.prior_name = PRIOR_DEFAULT};
    const option_spec table[] = {
        {"self", 0, OPTION_POSITIVE, &r.self, "P",
         "the median word stays itself with probability P at most", 0, 0},
        {"support", 0, OPTION_POSITIVE, &r.support, "N",
         "the median word is spread over N words at least, in effect", 0, 0},
        {"bayes", 0, OPTION_POSITIVE, &r.bayes, "P",
         "the best guess at a word from its output is right with probability P at most", 0, 0},
        PRIOR_OPTION(r.prior_name),
        {"beta", 0, OPTION_POSITIVE, &r.beta, "B",
         "truncate where all but B of the probability is within (default 0.001)", 0, 0},
        {"gamma", 0, OPTION_POSITIVE, &r.gamma, "G", "truncate at distance G, instead of --beta", 0,
         0},
        {"calibrated", 0, OPTION_FLAG, &r.calibrated, NULL,
         "epsilon as 'tem calibrate' certifies it, not as the paper bounds it", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "as one JSON object", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE", "draw the curves: FILE.svg or FILE.png", 0,
         0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the plot", 0, 0},
        MODEL_OPTION(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    target kind = TARGET_SELF;
    double wanted = 0;
    if (!options_parse(argc, argv, table, NULL, 0, &operands, message))
        return talk_usage("choose", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r, &kind, &wanted);
    return status == EXIT_DONE ? choose(&r, kind, wanted) : status;
}
