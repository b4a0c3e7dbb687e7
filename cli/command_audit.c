/* command_audit.c - tem audit: proves the realized loss of a mechanism on one vocabulary. */
#include "audit_context.h"
#include "audit_form.h"
#include "audit_kept.h"
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "language_option.h"
#include "mechanism_options.h"
#include "outputs.h"
#include "plot.h"
#include "prior_option.h"
#include "report_page.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "wrap.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6, COST_DIGITS = 5, RANGES = 200, EXPOSED = 20 };
enum { PLACES_DEFAULT = TEM_CONTEXT_PLACES_DEFAULT };

static const double delta = 1e-6;
static const unsigned document_words[] = {1, 10, 100, 1000};
enum { DOCUMENTS = sizeof document_words / sizeof *document_words };

typedef struct audit_request {
    common_options common;
    mechanism_choice choice;
    const char *plot_path;
    const char *html_path; /* NULL: no page */
    page_options page;
    const char *public_text; /* NULL: not given */
    uint64_t places;
    bool json, force;
} audit_request;

typedef struct audit_result {
    const tem_model *model;
    tem_mechanism_info info;
    bool certified;
    tem_certificate_info certificate; /* if certified */
    tem_audit audit;
    uint32_t words;
    bool excludes;                 /* the model has words that are never outputs */
    tem_exposure exposed[EXPOSED]; /* the words that stay themselves most often */
    uint32_t exposed_count;
    audit_kept kept; /* if the model is adapted */
} audit_result;

/* How far each word may move between two documents that count as neighbors. */
typedef enum move { BY_ONE, BY_ANY, MOVES } move;

/* Bounds on the cost of a document. */
typedef struct document_cost {
    double pure, rho, approximate;
} document_cost;

/* The loss of a word that moves by d has a range of 2 s d. So the mechanism is zero-concentrated
 * with rho = (s d)^2 / 2 (a bounded range b gives rho = b^2 / 8), and rho adds up over words. With
 * probability 1 - delta the loss is at most rho + 2 sqrt(rho ln(1/delta)), and at most the pure
 * loss. */
static document_cost cost_of(const audit_result *r, move by, unsigned words) {
    const double d = by == BY_ONE ? fmin(1, r->info.gamma) : r->info.gamma;
    const double pure = words * (by == BY_ONE ? r->audit.realised * d : r->audit.local);
    const double reach = r->info.s * d, rho = words * reach * reach / 2;
    return (document_cost){
        .pure = pure, .rho = rho, .approximate = fmin(pure, rho + 2 * sqrt(rho * log(1 / delta)))};
}

static void print_documents(const audit_result *r) {
    printf("\nthe highest cost of a document, by how far each of its words may move:\n\n"
           "          by 1 or less                       to any other word\n"
           "   words       pure        rho  at delta          pure        rho  at delta\n");
    for (int i = 0; i < DOCUMENTS; i++) {
        printf("%8u", document_words[i]);
        for (move by = BY_ONE; by < MOVES; by++) {
            const document_cost cost = cost_of(r, by, document_words[i]);
            printf("%s%11.5g%11.5g%10.5g", by == BY_ONE ? "" : "    ",
                   tem_round_up(cost.pure, COST_DIGITS), tem_round_up(cost.rho, COST_DIGITS),
                   tem_round_up(cost.approximate, COST_DIGITS));
        }
        putchar('\n');
    }
    printf(
        "\n"
        "rho: zero-concentrated privacy, (s d)^2 / 2 = %.4g d^2 for a word that moves by d. It\n"
        "grows with s: at the same epsilon a calibrated mechanism has a larger s, so a larger rho "
        "for\n"
        "words at the same distance. Its gamma is smaller, and so is the cost of moving beyond\n"
        "gamma. That says nothing about how much of a text is left; N_w and Bayes of 'tem choose'\n"
        "do.\n"
        "at delta: the epsilon that holds except with probability %g.\n",
        r->info.s * r->info.s / 2, delta);
}

static void print_exposed(const audit_result *r) {
    printf("\nwho is protected least: of the words that a text can contain, the %u that stay\n"
           "themselves most often:\n\n",
           r->exposed_count);
    exposed_print(r->model, r->exposed, r->exposed_count);
    puts("\n"
         "N_w: how often the word stays itself; S_w: over how many words it is spread in effect.");
}

/* Prints how much the worst pair loses at least. Its proof needs both words as outputs: a pair with
 * an excluded word may lose less. */
static void print_least(const audit_result *r) {
    const double least = r->audit.realised_least;
    const char *proved = r->audit.is_metric ? "proved; " : "";
    if (r->excludes)
        printf("            (%sexcluded words are no outputs, so the worst pair may lose less)\n",
               proved);
    else
        printf("            (%sthe worst pair loses at least %.6g)\n", proved,
               least > 0 ? tem_round_down(least, DIGITS) : 0);
}

static void print_text(const audit_result *r) {
    const tem_mechanism_info *info = &r->info;
    printf("%s%s, epsilon %g: s = %.6f, gamma = %.4f, %s words\n",
           r->certified ? "calibrated " : "", info->properties->name, info->epsilon, info->s,
           info->gamma, talk_count(r->words));
    if (r->certified)
        printf("certificate %.16s, %s weights\n", r->certificate.hash,
               tem_weights_name(r->certificate.weights));
    printf("\nrealised    %.6g per unit of distance at most, for any two words\n",
           tem_round_up(r->audit.realised, DIGITS));
    if (!r->audit.is_metric)
        puts(
            "            if the matrix is a metric, which tem has not proved: beyond 400 words it\n"
            "            does not check all triangles");
    print_least(r);
    printf("            %.1f %% of 2s, the bound of the paper; %.1f %% of epsilon\n",
           100 * r->audit.realised / (2 * info->s), 100 * r->audit.realised / info->epsilon);
    fputs("worst pair  ", stdout);
    words_print_worst(r->model, &r->audit);
    printf("any inputs  %.6g at most (epsilon * gamma = %.6g)\n",
           tem_round_up(r->audit.local, DIGITS), tem_round_up(info->epsilon_gamma, DIGITS));
    printf("pairs       %s examined, %s ruled out by bounds: all of them\n",
           talk_count(r->audit.pairs_examined), talk_count(r->audit.pairs_pruned));
    print_documents(r);
    if (r->exposed_count > 0)
        print_exposed(r);
    if (r->certified)
        effects_print(&r->certificate);
    if (r->kept.signals.count > 0)
        audit_kept_print(&r->kept, r->model);
}

static json_t *cost_as_json(const audit_result *r, move by, unsigned words) {
    const document_cost cost = cost_of(r, by, words);
    return json_pack("{s:f, s:f, s:f}", "epsilon", cost.pure, "rho", cost.rho, "epsilon_delta",
                     cost.approximate);
}

static json_t *documents_as_json(const audit_result *r) {
    json_t *documents = json_array();
    for (int i = 0; i < DOCUMENTS; i++)
        json_array_append_new(
            documents, json_pack("{s:i, s:f, s:o, s:o}", "words", (int)document_words[i], "delta",
                                 delta, "by_one", cost_as_json(r, BY_ONE, document_words[i]),
                                 "by_any", cost_as_json(r, BY_ANY, document_words[i])));
    return documents;
}

static bool print_json(const audit_result *r) {
    const tem_mechanism_info *info = &r->info;
    const tem_audit *audit = &r->audit;
    json_t *all = json_pack(
        "{s:f, s:f, s:f, s:o, s:I, s:s, s:s, s:o, s:b, s:f, s:f, s:b, s:o, s:f, s:f, "
        "s:{s:I, s:I}, s:o, s:o, s:o}",
        "epsilon", info->epsilon, "s", info->s, "gamma", info->gamma, "beta",
        info->beta > 0 ? json_real(info->beta) : json_null(), "n", (json_int_t)r->words, "weights",
        tem_weights_name(info->weights), "mechanism", info->properties->name, "certificate",
        info->certificate[0] != '\0' ? json_string(info->certificate) : json_null(), "metric",
        audit->is_metric, "realised", audit->realised, "realised_least", audit->realised_least,
        "realised_least_proved", audit->is_metric && !r->excludes, "worst",
        words_worst_as_json(r->model, audit), "epsilon_gamma", info->epsilon_gamma, "local",
        audit->local, "pairs", "examined", (json_int_t)audit->pairs_examined, "pruned",
        (json_int_t)audit->pairs_pruned, "documents", documents_as_json(r), "exposed",
        exposed_as_json(r->model, r->exposed, r->exposed_count), "effects",
        r->certified ? effects_as_json(&r->certificate) : json_null());
    if (all != NULL && r->kept.signals.count > 0 &&
        json_object_set_new(all, "kept", audit_kept_as_json(&r->kept, r->model)) != 0) {
        json_decref(all);
        all = NULL;
    }
    return print_as_json(all);
}

/* Plots the largest loss in each range of distance. */
static int draw_losses(const audit_request *request, const audit_result *r, const double *losses) {
    double x[RANGES + 1], y[RANGES + 1];
    for (int i = 0; i <= RANGES; i++) {
        x[i] = i < RANGES ? (i + 0.5) * r->info.gamma / RANGES : r->info.gamma;
        y[i] = losses[i] > 0 ? losses[i] : NAN; /* no pair */
    }
    const plot_curve curve = {
        "largest loss per unit of distance", x, y, RANGES + 1, true, false, 0};
    const plot_mark marks[] = {{"epsilon", r->info.epsilon, false}, {"s", r->info.s, false}};
    char title[96];
    snprintf(title, sizeof title, "The largest loss of two words, by their distance: epsilon %g%s",
             r->info.epsilon, r->info.certificate[0] != '\0' ? ", calibrated" : "");
    const plot p = {.title = title,
                    .x_label = "distance of two words, cut at gamma",
                    .y_label = "loss per unit of distance",
                    .curves = &curve,
                    .curve_count = 1,
                    .marks = marks,
                    .mark_count = sizeof marks / sizeof *marks};
    return plot_write(request->plot_path, &p);
}

/* Writes the same, and the guess of an attacker, as a page for people. */
static int write_page(const audit_request *request, const tem_accountant *accountant,
                      const tem_mechanism *mechanism, const tem_run *run, const audit_result *r) {
    const tem_report_page page = {.job = NULL};
    tem_findings *findings = NULL;
    int status = page_measure("audit", mechanism, r->model, &request->page, accountant, run,
                              request->common.quiet, &findings);
    if (status == EXIT_DONE)
        status = page_save(request->html_path, findings, &page, &request->choice, &request->page);
    tem_findings_free(findings);
    return status;
}

static int audit_with(const audit_request *request, const tem_accountant *accountant,
                      const tem_mechanism *mechanism, const tem_prior *prior, const tem_run *run,
                      audit_result *r) {
    double losses[RANGES + 1];
    tem_error error;
    tem_model_info model_info;
    tem_model_get_info(r->model, &model_info);
    tem_mechanism_get_info(mechanism, &r->info);
    r->certified = tem_mechanism_get_certificate(mechanism, &r->certificate) != 0;
    r->words = model_info.words;
    r->excludes = model_info.excluded > 0;
    tem_status status = tem_accountant_audit(accountant, mechanism, run, &r->audit, &error);
    if (status == TEM_OK)
        status = tem_accountant_exposed(accountant, mechanism, TEM_TARGET_SELF, NULL, 0, run,
                                        r->exposed, EXPOSED, &r->exposed_count, &error);
    if (status == TEM_OK && request->plot_path != NULL)
        status = tem_accountant_losses(accountant, mechanism, RANGES, run, losses, &error);
    if (status == TEM_OK && prior != NULL)
        status = audit_kept_measure(accountant, mechanism, prior, run, &r->kept, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    if (!request->json)
        print_text(r);
    else if (!print_json(r))
        return EXIT_FAILED;
    const int drawn = request->plot_path != NULL ? draw_losses(request, r, losses) : EXIT_DONE;
    return drawn == EXIT_DONE && request->html_path != NULL
               ? write_page(request, accountant, mechanism, run, r)
               : drawn;
}

/* Reads the prior if the model is adapted: only what such a model keeps depends on it. Returns an
 * exit status; prints what went wrong. */
static int read_prior(const audit_request *request, const tem_run *run, audit_result *r,
                      tem_prior **prior) {
    tem_error error;
    int status = EXIT_DONE;
    if (signal_set_of_model(r->model, &r->kept.signals, &error) != TEM_OK)
        return talk_error(&error);
    if (r->kept.signals.count > 0) {
        r->kept.prior_text = request->page.prior != NULL ? request->page.prior : PRIOR_DEFAULT;
        *prior = prior_choose("audit", r->kept.prior_text, r->model, run, request->common.quiet,
                              &status);
    } else if (request->page.prior != NULL && request->html_path == NULL) {
        status = talk_usage("audit", "--prior is for --html, and for adapted models ('tem adapt'): "
                                     "what tem audits of other models does not depend on it");
    }
    return status;
}

static int audit(const audit_request *request) {
    const tem_run run = talk_run((unsigned)request->common.threads, request->common.quiet);
    tem_model *model = trust_open_model(request->common.model, request->common.model_hash, &run);
    if (model == NULL)
        return EXIT_FAILED;
    int status = EXIT_FAILED;
    tem_error error;
    tem_accountant *accountant = NULL;
    audit_result result = {.model = model};
    tem_prior *prior = NULL;
    tem_mechanism *mechanism = mechanism_choose("audit", model, &request->choice, &status);
    if (mechanism != NULL)
        status = read_prior(request, &run, &result, &prior);
    if (mechanism != NULL && status == EXIT_DONE) {
        if (tem_accountant_create(model, tem_mechanism_weights(mechanism), &run, &accountant,
                                  &error) != TEM_OK)
            status = talk_error(&error);
        else
            status = audit_with(request, accountant, mechanism, prior, &run, &result);
    }
    tem_accountant_free(accountant);
    audit_kept_free(&result.kept);
    tem_prior_free(prior);
    mechanism_close(mechanism);
    tem_model_free(model);
    return status;
}

/* What has no page without a run. */
static const char PAGE_OF_A_RUN[] =
    "that page is for the mechanisms tem and em without a language model; 'tem privatize --report "
    "FILE.html' writes one of a run, with --public FILE beside a language model";

/* Audits a mechanism whose law does not fall off with the distance. */
static int audit_by_form(const audit_request *r) {
    if (r->html_path != NULL)
        return talk_usage("audit", "--html: %s", PAGE_OF_A_RUN);
    if (r->plot_path != NULL || r->html_path != NULL || r->page.probe != NULL ||
        r->page.prior != NULL)
        return talk_usage("audit",
                          "--plot, --html, --probe and --prior are for mechanisms whose law falls "
                          "off with the distance: tem and em");
    return audit_form(&r->common, &r->choice, r->json);
}

/* Looks at the places of a public text. */
static int audit_by_text(const audit_request *r) {
    if (r->html_path != NULL && language_option_is_given(r->choice.language))
        return talk_usage("audit", "--html: %s", PAGE_OF_A_RUN);
    if (r->plot_path != NULL || r->html_path != NULL || r->page.probe != NULL ||
        r->page.prior != NULL)
        return talk_usage("audit", "--plot, --html, --probe and --prior are about words alone: %s",
                          language_option_is_given(r->choice.language) ? "use --language-model none"
                                                                       : "leave out --public");
    if (r->public_text == NULL)
        return talk_usage("audit",
                          "with a language model, how often a word stays depends on the words "
                          "before it. Which public text shall show it? --public FILE");
    return audit_context(&r->common, &r->choice, r->public_text, r->places, r->json);
}

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem audit --epsilon E [OPTIONS]\n"
        "\n"
        "Shows what an epsilon really protects on this vocabulary: the loss per unit of distance\n"
        "that the worst pair of words realizes, proved over all pairs; the highest cost of one\n"
        "word; the cost of documents; and the words that are protected least. Of an adapted model\n"
        "('tem adapt') it also shows what the model keeps on purpose: how well an attacker tells\n"
        "its signals.\n"
        "\n"
        "With --public it shows instead how often words stay themselves at the places of a PUBLIC\n"
        "text. With a language model that depends on the words that were drawn before.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem audit --epsilon 2\n"
         "  tem audit --epsilon 2 --json --plot losses.svg\n"
         "  tem audit --epsilon 2 --html audit.html --probe 'cancer hiv depression'\n"
         "  tem audit --epsilon 2 --language-model l.temlm --public public.txt");
}

int command_audit(int argc, char *const *argv) {
    audit_request r = {.choice = {.allow_no_guarantee = true}, .places = PLACES_DEFAULT};
    const option_spec table[] = {
        MECHANISM_OPTIONS(r.choice),
        OWN_OPTIONS(r.choice),
        LANGUAGE_OPTION(r.choice),
        PRIOR_OPTION(r.page.prior),
        {"public", 0, OPTION_FILE, &r.public_text, "FILE",
         "show how often words stay themselves at the content positions of a PUBLIC\n"
         "text, one document per line, and which places are exposed most",
         0, 0},
        {"sample", 0, OPTION_COUNT, &r.places, "N",
         "--public: look at about N content positions (default 2000)", 1, TEM_CONTEXT_PLACES_MAX},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE",
         "draw the loss against the distance: FILE.svg or FILE.png", 0, 0},
        {"html", 0, OPTION_TEXT, &r.html_path, "FILE",
         "also write what the epsilon means as a page for people: FILE.html", 0, 0},
        PROBE_OPTION(r.page),
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the plot and the page", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, NULL, 0, &operands, message))
        return talk_usage("audit", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    if (r.choice.epsilon <= 0)
        return mechanism_ask_epsilon("audit", r.choice.mechanism, r.choice.calibrated);
    const tem_mechanism_properties *mechanism = mechanism_chosen(&r.choice);
    if (mechanism != NULL && !mechanism->has_form)
        return talk_usage("audit",
                          "the law of the mechanism %s has no form that tem can audit; tem, em, "
                          "rank and coin have one",
                          mechanism->name);
    if (r.public_text != NULL || language_option_is_given(r.choice.language))
        return audit_by_text(&r);
    if (mechanism != NULL && !mechanism->is_exponential)
        return audit_by_form(&r);
    if (r.page.probe != NULL && r.html_path == NULL)
        return talk_usage("audit", "--probe is for --html");
    if (r.html_path != NULL && !page_is_html(r.html_path))
        return talk_usage("audit", "--html takes a file that ends in .html");
    if (r.html_path != NULL && !outputs_check(r.html_path, r.force))
        return EXIT_FAILED;
    const int status = r.plot_path != NULL ? plot_check("audit", r.plot_path, r.force) : EXIT_DONE;
    return status == EXIT_DONE ? audit(&r) : status;
}
