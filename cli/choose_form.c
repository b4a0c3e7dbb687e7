/* choose_form.c - 'tem choose --mechanism rank': the epsilon of a mechanism that protects all words
 * alike. */
#include "choose_form.h"

#include "mechanism_options.h"
#include "prior_option.h"
#include "show.h"
#include "talk.h"
#include "trust.h"

#include <jansson.h>
#include <math.h>

enum { AROUND = 4, POINTS_MAX = 2 * AROUND + 1 };

typedef struct form_state {
    const form_request *request;
    const tem_run *run;
    tem_model *model;
    tem_prior *prior;
    own_options own;
    tem_form_point answer;
    tem_form_point curve[POINTS_MAX]; /* ascending; the answer is one of them */
    int curve_count;
} form_state;

/* ---- printing ---- */

static void print_table(const form_state *f) {
    puts("\n  epsilon         N_w         S_w   any inputs     Bayes");
    for (int i = 0; i < f->curve_count; i++) {
        const tem_form_point *p = &f->curve[i];
        const bool is_answer = p->epsilon >= f->answer.epsilon && p->epsilon <= f->answer.epsilon;
        printf("%c%8.4g  %10.6f  %10.2f  %11.6g  %8.6f\n", is_answer ? '>' : ' ', p->epsilon,
               p->self, p->support, tem_round_up(p->bound, 6), p->bayes);
    }
    puts(
        "\n"
        "N_w: how often a word stays itself; S_w: words it is spread over in effect; both are the\n"
        "same for every word. any inputs: the most that an output tells any two inputs apart\n"
        "(proved); Bayes: how often the best guess at a word from its output is right.");
}

static void print_value(const form_state *f) {
    const form_request *r = f->request;
    const tem_form_point *a = &f->answer;
    if (r->target == TEM_TARGET_BAYES)
        printf("the success of the best guess is %.6g, at most %.6g\n", a->bayes, r->wanted);
    else if (r->target == TEM_TARGET_SUPPORT)
        printf("S_w of every word is %.6g, at least %.6g\n", a->support, r->wanted);
    else
        printf("N_w of every word is %.6g, at most %.6g\n", a->self, r->wanted);
}

static void print_text(const form_state *f) {
    const form_request *r = f->request;
    const tem_form_point *a = &f->answer;
    if (r->has_target) {
        printf("epsilon %.4g: ", a->epsilon);
        print_value(f);
        printf("%s, s = %.6f, at most %.6g between any two inputs; prior %s\n", r->mechanism, a->s,
               tem_round_up(a->bound, 6), r->prior_text);
    } else {
        printf("No target was given: these are the effects of several epsilons of %s. At epsilon "
               "%.4g\n(>) every word stays itself half of the time. --self P, --support N or "
               "--bayes P finds\nthe epsilon for a target. Prior %s.\n",
               r->mechanism, a->epsilon, r->prior_text);
    }
    print_table(f);
}

static json_t *point_as_json(const tem_form_point *p) {
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "epsilon", p->epsilon, "s", p->s, "bound",
                     p->bound, "self", p->self, "support", p->support, "bayes", p->bayes);
}

static bool print_json(const form_state *f) {
    const form_request *r = f->request;
    json_t *curve = json_array();
    for (int i = 0; i < f->curve_count; i++)
        json_array_append_new(curve, point_as_json(&f->curve[i]));
    return print_as_json(json_pack(
        "{s:s, s:o, s:s?, s:o, s:s, s:o, s:o}", "mechanism", r->mechanism, "epsilon",
        r->has_target ? json_real(f->answer.epsilon) : json_null(), "target",
        r->has_target ? tem_target_name(r->target) : NULL, "wanted",
        r->has_target ? json_real(r->wanted) : json_null(), "prior", r->prior_text, "answer",
        r->has_target ? point_as_json(&f->answer) : json_null(), "curve", curve));
}

/* ---- searching ---- */

static tem_mechanism_options options_of(const form_state *f, double epsilon) {
    return (tem_mechanism_options){
        .mechanism = f->request->mechanism, .epsilon = epsilon, .numbers = f->own.numbers};
}

/* Adds the effects of an epsilon, unless the mechanism does not take it. */
static tem_status add_point(form_state *f, double epsilon, tem_error *error) {
    const tem_mechanism_options options = options_of(f, epsilon);
    tem_mechanism *mechanism = NULL;
    tem_status status = tem_mechanism_create(f->model, &options, &mechanism, error);
    if (status == TEM_ERR_RANGE)
        return TEM_OK;
    if (status == TEM_OK)
        status = tem_form_measure(mechanism, f->prior, f->run, &f->curve[f->curve_count], error);
    f->curve_count += status == TEM_OK;
    tem_mechanism_free(mechanism);
    return status;
}

/* The answer, and epsilons around it, each larger by a quarter. */
static tem_status search(form_state *f, tem_error *error) {
    const form_request *r = f->request;
    const tem_wish wish = {.target = r->target, .wanted = r->wanted, .prior = f->prior};
    const tem_mechanism_options options = options_of(f, 1);
    tem_status status = tem_form_choose(f->model, &options, &wish, f->run, &f->answer, error);
    for (int i = -AROUND; status == TEM_OK && i <= AROUND; i++) {
        if (i == 0)
            f->curve[f->curve_count++] = f->answer;
        else
            status = add_point(f, tem_round_down(f->answer.epsilon * pow(1.25, i), 3), error);
    }
    return status;
}

static int search_and_print(form_state *f) {
    tem_error error;
    const tem_status status = search(f, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    if (f->request->json)
        return print_json(f) ? EXIT_DONE : EXIT_FAILED;
    print_text(f);
    return EXIT_DONE;
}

int choose_form(const form_request *r) {
    const tem_run run = talk_run((unsigned)r->common->threads, r->common->quiet);
    form_state f = {.request = r, .run = &run};
    int status = EXIT_FAILED;
    f.model = trust_open_model(r->common->model, r->common->model_hash, &run);
    if (f.model != NULL)
        status = own_options_read("choose", r->numbers, NULL, f.model, &f.own);
    if (f.model != NULL && status == EXIT_DONE)
        f.prior = prior_choose("choose", r->prior_text, f.model, &run, r->common->quiet, &status);
    if (f.prior != NULL)
        status = search_and_print(&f);
    tem_prior_free(f.prior);
    own_options_free(&f.own);
    tem_model_free(f.model);
    return status;
}
