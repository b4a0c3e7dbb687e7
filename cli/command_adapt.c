/* command_adapt.c - tem adapt: makes a model that keeps chosen public signals. */
#include "adapt_family.h"
#include "build_options.h"
#include "commands.h"
#include "outputs.h"
#include "plot.h"
#include "prior_option.h"
#include "show.h"
#include "signal_sources.h"
#include "talk.h"
#include "wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The stretches that tem tries for a target. The first is the plain space. */
static const double stretches[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.4};
enum { STRETCHES = sizeof stretches / sizeof *stretches, LABEL_WIDTH = 8, LABEL_BYTES = 16 };

/* The squashes that tem tries while the most exposed word is the limit. The first is none:
 * squashing costs accuracy where that word has room (docs/ADAPT.md). */
static const double squashes[] = {0, 3, 2, 1};
enum { SQUASHES = sizeof squashes / sizeof *squashes };

static const double rest_default = 0.9, squash_least = 0.1;
static const double known_least = 0.1; /* the lower end of the correlation of a known signal */
static const double nearly_one = 0.95; /* the correlation of signals that are nearly the same */

typedef struct adapt_request {
    common_options common;
    build_choice build;
    source_choice sources;
    double stretch;   /* below 0: not given */
    double squash;    /* 0: not given */
    family_wish wish; /* bayes 0: not given; rest below 0: not given */
    const char *prior_text, *plot_path;
    bool json;
} adapt_request;

typedef struct adapter {
    adapt_request *request;
    const tem_run *run;
    tem_model *plain;
    tem_adaptation *adaptation;
    signal_set signals;
    char labels[STRETCHES][LABEL_BYTES];
    family_member members[STRETCHES];
    int tried;                 /* how many of them */
    const family_member *best; /* or NULL */
    tem_model *model;          /* of `best`, or of --stretch; NULL: the plain model */
} adapter;

static bool has_target(const adapt_request *r) {
    return r->wish.bayes > 0;
}

/* -------------------------------------------------------------------- signals -- */

static void warn_unknown(const adapter *a, const tem_signal *s) {
    char *name = words_escape(s->name, strlen(s->name));
    if (s->low < known_least)
        talk_note(a->request->common.quiet,
                  "tem: warning: The vectors hardly know the signal %s: its correlation with what "
                  "they predict is %.2f (95 %%: %.2f to %.2f). The model keeps next to nothing of "
                  "it.",
                  name != NULL ? name : "", s->correlation, s->low, s->high);
    free(name);
}

static void warn_same(const adapter *a, uint32_t i, uint32_t j) {
    const double correlation = tem_adaptation_correlation(a->adaptation, i, j);
    char *first = words_escape(a->signals.list[i].name, strlen(a->signals.list[i].name));
    char *second = words_escape(a->signals.list[j].name, strlen(a->signals.list[j].name));
    if (fabs(correlation) > nearly_one)
        talk_note(a->request->common.quiet,
                  "tem: warning: The signals %s and %s are nearly one signal (correlation %.2f). "
                  "The model keeps it twice as strongly as the others. Leave out one of them.",
                  first != NULL ? first : "", second != NULL ? second : "", correlation);
    free(first);
    free(second);
}

static void tell_signals(const adapter *a) {
    const adapt_request *r = a->request;
    if (!r->json)
        signal_set_print(a->signals.list, a->signals.count, false);
    fflush(stdout); /* the search takes minutes */
    for (uint32_t i = 0; i < a->signals.count; i++) {
        warn_unknown(a, &a->signals.list[i]);
        for (uint32_t j = 0; j < i; j++)
            warn_same(a, j, i);
    }
    talk_note(r->common.quiet, "The model keeps these signals on purpose, and everybody may know "
                               "it. Its sources must be PUBLIC,\nnever the text that you want to "
                               "protect.");
}

/* Learns the signals over the plain space. */
static tem_status learn(adapter *a, tem_error *error) {
    tem_model_info info;
    tem_status status = tem_adaptation_create(a->plain, &a->adaptation, error);
    if (status == TEM_OK)
        status = sources_add(&a->request->sources, a->adaptation, a->run, error);
    if (status != TEM_OK)
        return status;
    tem_model_get_info(a->plain, &info);
    return signal_set_of_adaptation(a->adaptation, info.words, &a->signals, error);
}

/* --------------------------------------------------------------------- search -- */

static tem_status make_model(const adapter *a, double stretch, double squash, tem_model **model,
                             tem_error *error) {
    const tem_adapt_options options = {.stretch = stretch, .squash = squash};
    return tem_adaptation_build(a->adaptation, &options, a->run, model, error);
}

static int measure(adapter *a, const tem_model *model, family_member *member) {
    const adapt_request *r = a->request;
    family_model m;
    tem_error error;
    const bool quiet = r->common.quiet || a->tried > 0; /* the prior is the same for all */
    int status = family_open("adapt", model, &a->signals, r->prior_text, a->run, quiet, &m);
    if (status == EXIT_DONE && family_measure(&m, &r->wish, a->run, member, &error) != TEM_OK) {
        talk_end_progress();
        status = talk_error(&error);
    }
    family_close(&m);
    if (status == EXIT_DONE && a->tried > 0)
        family_judge(member, &a->members[0], &r->wish);
    talk_end_progress();
    return status;
}

/* Makes and measures the model of a stretch and a squash. *model is NULL for the plain model. */
static int try_model(adapter *a, double stretch, double squash, family_member *member,
                     tem_model **model) {
    tem_error error;
    *model = NULL;
    *member = (family_member){.stretch = stretch, .squash = squash};
    if (stretch > 0 && make_model(a, stretch, squash, model, &error) != TEM_OK) {
        talk_end_progress();
        return talk_error(&error);
    }
    const int status = measure(a, *model != NULL ? *model : a->plain, member);
    if (status != EXIT_DONE) {
        tem_model_free(*model);
        *model = NULL;
    }
    return status;
}

/* Tries a stretch with stronger and stronger squashes, while the most exposed word is the limit.
 * *member and *model receive the best. */
static int try_squashes(adapter *a, double stretch, family_member *member, tem_model **model) {
    const bool given = a->request->squash > 0;
    int status = try_model(a, stretch, given ? a->request->squash : 0, member, model);
    bool limited = member->limited;
    for (int i = 1; status == EXIT_DONE && limited && !given && stretch > 0 && i < SQUASHES; i++) {
        family_member next;
        tem_model *made = NULL;
        status = try_model(a, stretch, squashes[i], &next, &made);
        limited = next.limited;
        if (status == EXIT_DONE && family_is_better(&next, member)) {
            *member = next;
            tem_model_free(*model);
            *model = made;
        } else {
            tem_model_free(made);
        }
    }
    return status;
}

static int try_stretch(adapter *a, double stretch) {
    const double start = talk_clock();
    family_member *member = &a->members[a->tried];
    char *label = a->labels[a->tried];
    tem_model *model = NULL;
    const int status = try_squashes(a, stretch, member, &model);
    if (status != EXIT_DONE) {
        tem_model_free(model);
        return status;
    }
    snprintf(label, LABEL_BYTES, member->squash > 0 ? "%g (%g)" : "%g", stretch, member->squash);
    member->label = label;
    a->tried++;
    talk_note(a->request->common.quiet, "tried stretch %s in %.1f s", label, talk_clock() - start);
    if (family_best(a->members, (size_t)a->tried) != member) {
        tem_model_free(model);
        return EXIT_DONE;
    }
    tem_model_free(a->model);
    a->model = model;
    a->best = member;
    return EXIT_DONE;
}

/* Whether larger stretches need not be tried: in all our measurements they need a smaller s for the
 * same guess. That is no theorem, so the table shows where the search ended. */
static bool is_enough(const adapter *a) {
    return a->members[a->tried - 1].lacks_rest;
}

/* Tries the stretches. At epsilon 0 and at a very large one all spaces are alike. So what the plain
 * space cannot reach, no other can. */
static int search(adapter *a) {
    for (int i = 0; i < STRETCHES && (i == 0 || !is_enough(a)); i++) {
        const int status = try_stretch(a, stretches[i]);
        if (status != EXIT_DONE)
            return status;
        if (!a->members[0].reached) {
            fprintf(stderr, "tem: %s\n", a->members[0].why_not);
            return EXIT_FAILED;
        }
    }
    return EXIT_DONE;
}

/* ------------------------------------------------------------------- printing -- */

static void print_target(const adapter *a) {
    const family_wish *wish = &a->request->wish;
    const tem_point *p = &a->best->point;
    printf("\nstretch %g, ", a->best->stretch);
    if (a->best->squash > 0)
        printf("squash %g, ", a->best->squash);
    printf("epsilon %.4g: the best guess at a word is right in %.6g of the cases, at most %.6g\n",
           p->epsilon, p->summary.bayes, wish->bayes);
    if (wish->exposed > 0)
        printf("The most exposed word stays itself in %.6g of the cases, at most %.6g\n",
               p->summary.self_exposed, wish->exposed);
    else
        printf("The most exposed word stays itself in %.4f of the cases, in the plain space in "
               "%.4f; --exposed\nlimits that.\n",
               p->summary.self_exposed, a->members[0].point.summary.self_exposed);
    printf("s = %.6f, %.4f times that of the plain space, at least %.6g; prior %s\n", p->s,
           p->s / a->members[0].point.s, wish->rest, a->request->prior_text);
}

static void print_search(const adapter *a) {
    const family_member *plain = &a->members[0];
    print_target(a);
    if (a->best == plain)
        puts("No stretch above 0 keeps the target and more of the signals: the model is the plain "
             "one.");
    else
        printf("It keeps %.1f %% of the variance of the signal%s, the plain space %.1f %%.\n",
               100 * a->best->variance, a->signals.count == 1 ? "" : "s, on average",
               100 * plain->variance);
    putchar('\n');
    family_print("stretch", LABEL_WIDTH, a->members, (size_t)a->tried, a->signals.count, a->best);
    puts("In brackets: the squash, which keeps the most exposed word below --exposed.\n"
         "s too small: the output would keep too little of everything else (--rest).");
}

static json_t *correlations_json(const adapter *a) {
    json_t *rows = json_array();
    for (uint32_t i = 0; i < a->signals.count; i++) {
        json_t *row = json_array();
        for (uint32_t j = 0; j < a->signals.count; j++)
            json_array_append_new(row, json_real(tem_adaptation_correlation(a->adaptation, i, j)));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *squash_json(double squash) {
    return squash > 0 ? json_real(squash) : json_null();
}

/* The members, each with its stretch and squash. */
static json_t *members_json(const adapter *a) {
    json_t *list = json_array();
    for (int i = 0; i < a->tried; i++) {
        json_t *member = family_as_json(&a->members[i], &a->signals);
        json_object_set_new(member, "stretch", json_real(stretches[i]));
        json_object_set_new(member, "squash", squash_json(a->members[i].squash));
        json_array_append_new(list, member);
    }
    return list;
}

static json_t *target_json(const adapt_request *r) {
    if (!has_target(r))
        return json_null();
    return json_pack("{s:f, s:o, s:f, s:s}", "bayes", r->wish.bayes, "exposed",
                     r->wish.exposed > 0 ? json_real(r->wish.exposed) : json_null(), "rest",
                     r->wish.rest, "prior", r->prior_text);
}

static bool print_json(const adapter *a) {
    const adapt_request *r = a->request;
    const bool searched = has_target(r);
    json_t *all =
        json_pack("{s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "model", r->build.output, "stretch",
                  searched ? a->best->stretch : r->stretch, "squash",
                  squash_json(searched ? a->best->squash : r->squash), "epsilon",
                  searched ? json_real(a->best->point.epsilon) : json_null(), "target",
                  target_json(r), "signals", signal_set_as_json(&a->signals), "correlations",
                  correlations_json(a), "family", searched ? members_json(a) : json_null());
    return print_as_json(all);
}

/* Plots the share of the variance that is kept, and s, against the stretch. */
static int draw(const adapter *a) {
    double kept[STRETCHES], rest[STRETCHES];
    for (int i = 0; i < a->tried; i++) {
        const family_member *m = &a->members[i];
        kept[i] = m->reached ? m->variance : NAN;
        rest[i] = m->reached ? m->point.s / a->members[0].point.s : NAN;
    }
    char title[96];
    snprintf(title, sizeof title, "The signals at a best guess of %.4g", a->request->wish.bayes);
    const plot_curve curves[] = {
        {"variance of the signals that is kept", stretches, kept, (size_t)a->tried, false, false,
         0},
        {"s, times that of the plain space", stretches, rest, (size_t)a->tried, false, false, 0}};
    const plot_mark marks[] = {{"chosen", a->best->stretch, true},
                               {"--rest", a->request->wish.rest, false}};
    const plot p = {.title = title,
                    .x_label = "stretch",
                    .y_label = "share",
                    .curves = curves,
                    .curve_count = sizeof curves / sizeof *curves,
                    .marks = marks,
                    .mark_count = sizeof marks / sizeof *marks};
    return plot_write(a->request->plot_path, &p);
}

/* -------------------------------------------------------------------- command -- */

/* Prints how to use the model. `hash` is "" or the hash that must be named. */
static void tell_use(const adapter *a, const char *hash) {
    const adapt_request *r = a->request;
    const char *option = hash[0] != '\0' ? " --model-hash " : "";
    if (has_target(r))
        talk_note(r->common.quiet, "wrote %s; use it: tem privatize -m %s%s%s --epsilon %.4g",
                  r->build.output, r->build.output, option, hash, a->best->point.epsilon);
    else
        talk_note(r->common.quiet,
                  "wrote %s; next: tem choose --bayes 0.15 -m %s%s%s finds an epsilon for it",
                  r->build.output, r->build.output, option, hash);
}

static int write_model(const adapter *a) {
    const adapt_request *r = a->request;
    char unnoted_hash[65];
    const tem_model *model = a->model != NULL ? a->model : a->plain;
    int status = build_write(&r->build, &r->common, model, a->run, unnoted_hash);
    if (status != EXIT_DONE)
        return status;
    if (r->json)
        status = print_json(a) ? EXIT_DONE : EXIT_FAILED;
    else if (has_target(r))
        print_search(a);
    if (status == EXIT_DONE && r->plot_path != NULL)
        status = draw(a);
    fflush(stdout);
    tell_use(a, unnoted_hash);
    return status;
}

static int adapt_with(adapter *a) {
    adapt_request *r = a->request;
    tem_error error;
    tem_status status = build_model(&r->build, &r->common, a->run, &a->plain, &error);
    if (status == TEM_OK)
        status = learn(a, &error);
    talk_end_progress();
    if (status == TEM_OK)
        tell_signals(a);
    if (status == TEM_OK && r->stretch > 0)
        status = make_model(a, r->stretch, r->squash, &a->model, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    const int searched = has_target(r) ? search(a) : EXIT_DONE;
    return searched == EXIT_DONE ? write_model(a) : searched;
}

static int adapt(adapt_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    adapter *a = calloc(1, sizeof *a);
    if (a == NULL) {
        const tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return talk_error(&error);
    }
    a->request = r;
    a->run = &run;
    const int status = adapt_with(a);
    tem_model_free(a->model);
    signal_set_free(&a->signals);
    tem_adaptation_free(a->adaptation);
    tem_model_free(a->plain);
    free(a);
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem adapt VECTORS -o MODEL --lexicon FILE... --bayes P [OPTIONS]\n"
         "       tem adapt VECTORS -o MODEL --labelled FILE... --text F --label F ...\n"
         "\n"
         "Makes a model that keeps chosen signals, such as valence or a topic, better than the\n"
         "plain space does at the same success of an attacker who guesses words. tem learns the\n"
         "signals from PUBLIC sources and stretches the space along them. VECTORS and the options\n"
         "of the plain space are as for 'tem build', with the euclidean metric.\n"
         "The sources must be PUBLIC: the model tells what they say about words. Never use the\n"
         "text that you want to protect. The signals are given away on purpose: 'tem audit' shows\n"
         "how well an attacker tells them.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem adapt glove.txt -o valence.tem --lexicon valence.tsv --bayes 0.15\n"
         "  tem adapt glove.txt -o topic.tem --labelled news.csv --text body \\\n"
         "    --label topic --bayes 0.15 --exposed 0.5\n"
         "\n"
         "For --bayes tem tries stretches from 0 to 1.4 and takes, of those that keep the target,\n"
         "the one with the best-kept signals. A strong stretch spends the whole of the guess on\n"
         "the signals: little else is left of the text, and in our measurements a classifier that\n"
         "is trained on such text learned less. So s, the exponent, must stay at least --rest\n"
         "times that of the plain space at the same target.\n"
         "The model file appears whole or not at all.");
}

/* Checks that there is either a stretch or a target, and what belongs to it. */
static int check_target(adapt_request *r) {
    const family_wish *wish = &r->wish;
    const char *of_target = wish->exposed > 0       ? "exposed"
                            : wish->rest >= 0       ? "rest"
                            : r->prior_text != NULL ? "prior"
                            : r->plot_path != NULL  ? "plot"
                                                    : NULL;
    if (r->stretch >= 0 && has_target(r))
        return talk_usage("adapt", "--stretch or --bayes, not both: --bayes finds the stretch");
    if (r->stretch < 0 && !has_target(r))
        return talk_usage("adapt", "how strongly? --bayes P finds the stretch for a target; "
                                   "--stretch T takes one");
    if (!has_target(r) && of_target != NULL)
        return talk_usage("adapt", "--%s needs --bayes P", of_target);
    if (r->squash > 0 && r->squash < squash_least)
        return talk_usage("adapt", "--squash takes a number of at least 0.1, such as 3");
    if (wish->rest > 1)
        return talk_usage("adapt", "--rest takes a number from 0 to 1, such as 0.9");
    if (r->prior_text != NULL && strcmp(r->prior_text, "-") == 0)
        return talk_usage("adapt", "--prior takes a file here, not standard input: tem reads it "
                                   "for each stretch");
    return EXIT_DONE;
}

static int check_request(adapt_request *r) {
    int status = build_check_names("adapt", &r->build);
    if (status == EXIT_DONE)
        status = sources_check("adapt", &r->sources);
    if (status == EXIT_DONE)
        status = check_target(r);
    if (status == EXIT_DONE)
        status = build_check("adapt", &r->build);
    if (status == EXIT_DONE && r->plot_path != NULL)
        status = plot_check("adapt", r->plot_path, r->build.force);
    if (status == EXIT_DONE && outputs_are_same(r->plot_path, r->build.output))
        status = talk_usage("adapt", "--output and --plot name the same file");
    if (status == EXIT_DONE)
        status = sources_check_files(&r->sources);
    if (r->wish.rest < 0)
        r->wish.rest = rest_default;
    if (r->prior_text == NULL)
        r->prior_text = PRIOR_DEFAULT;
    return status;
}

int command_adapt(int argc, char *const *argv) {
    adapt_request r = {.build = BUILD_CHOICE_DEFAULT, .stretch = -1, .wish = {.rest = -1}};
    const option_spec table[] = {
        {"output", 'o', OPTION_TEXT, &r.build.output, "MODEL", "the file to write", 0, 0},
        SOURCE_OPTIONS(r.sources),
        {"bayes", 0, OPTION_PROBABILITY, &r.wish.bayes, "P",
         "find the stretch: the best guess at a word from its output is right with\n"
         "probability at most P",
         0, 0},
        {"exposed", 0, OPTION_PROBABILITY, &r.wish.exposed, "P",
         "--bayes: and no word stays itself more often than P (default: no limit)", 0, 0},
        {"rest", 0, OPTION_NUMBER, &r.wish.rest, "R",
         "--bayes: and s is at least R times that of the plain space, so that the\n"
         "text keeps most of everything else, too (default 0.9)",
         0, 0},
        PRIOR_OPTION(r.prior_text),
        {"stretch", 0, OPTION_NUMBER, &r.stretch, "T",
         "take this stretch: two words are T times as far apart along all signals\n"
         "together as in the plain space (root mean square)",
         0, 0},
        {"squash", 0, OPTION_POSITIVE, &r.squash, "C",
         "a signal p becomes C tanh(p / C), so that words at its ends do not stand\n"
         "alone; at least 0.1 (default: p stays as it is; with --exposed tem tries 3,\n"
         "2 and 1 where that helps)",
         0, 0},
        BUILD_OPTIONS(r.build),
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE",
         "--bayes: draw what each stretch keeps: FILE.svg or FILE.png", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.build.force, NULL, "overwrite MODEL and the plot", 0, 0},
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.build.vectors, 1, &operands, message))
        return talk_usage("adapt", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    int status = check_request(&r);
    if (status == EXIT_DONE)
        status = adapt(&r);
    build_choice_free(&r.build);
    return status;
}
