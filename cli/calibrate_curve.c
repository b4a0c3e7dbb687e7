/* calibrate_curve.c - tem calibrate --curve: the effects of weights over epsilons. */
#include "calibrate_curve.h"

#include "calibration.h"
#include "default_model.h"
#include "plot.h"
#include "show.h"
#include "talk.h"
#include "trust.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Those of tools/make-certificates: for the default model all certificates are there. */
static const double epsilons[] = {0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2};
enum { EPSILONS = sizeof epsilons / sizeof *epsilons, KINDS = TEM_WEIGHTS_TUNED };

/* [epsilon][kind - 1] */
typedef struct curve {
    tem_certificate_info found[EPSILONS][KINDS];
} curve;

static bool find_point(const calibrate_request *r, const tem_model *model,
                       const tem_accountant *accountant, const tem_run *run,
                       const tem_calibration *wanted, tem_certificate_info *found) {
    tem_certificate *certificate = calibration_find(model, wanted);
    if (certificate == NULL) {
        talk_note(r->common.quiet, "epsilon %s, %s weights", talk_number(wanted->epsilon),
                  tem_weights_name(wanted->weights));
        certificate = calibration_make(model, accountant, wanted, r->minutes, false, run,
                                       r->common.quiet, NULL);
    }
    if (certificate == NULL)
        return false;
    tem_certificate_get_info(certificate, found);
    tem_certificate_free(certificate);
    return true;
}

/* ---- printing ---- */

static void print_row(const char *name, double s, const tem_effect *e) {
    printf("            %-9s %8.4f  %10.4f  %10.6f  %10.2f  %8.4f\n", name, s, e->distance, e->self,
           e->support, e->bayes);
}

static void print_text(const curve *c, const char *prior) {
    printf("under the prior %s\n\n"
           "   epsilon  weights          s    distance  N_w median  S_w median     Bayes\n",
           prior);
    for (int i = 0; i < EPSILONS; i++) {
        printf("%10s\n", talk_number(epsilons[i]));
        print_row("the paper", epsilons[i] / 2, &c->found[i][0].plain);
        for (int kind = 0; kind < KINDS; kind++)
            print_row(tem_weights_name((tem_weights_kind)(kind + 1)), c->found[i][kind].s,
                      &c->found[i][kind].effect);
    }
}

static json_t *as_json(const char *name, double s, const tem_effect *e) {
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "weights", name, "s", s, "distance",
                     e->distance, "self", e->self, "support", e->support, "bayes", e->bayes);
}

static bool print_json(const curve *c, const char *prior) {
    json_t *points = json_array();
    for (int i = 0; i < EPSILONS; i++) {
        json_t *rows = json_array();
        json_array_append_new(rows, as_json("paper", epsilons[i] / 2, &c->found[i][0].plain));
        for (int kind = 0; kind < KINDS; kind++)
            json_array_append_new(rows, as_json(tem_weights_name((tem_weights_kind)(kind + 1)),
                                                c->found[i][kind].s, &c->found[i][kind].effect));
        json_array_append_new(points,
                              json_pack("{s:f, s:o}", "epsilon", epsilons[i], "rows", rows));
    }
    json_t *all = json_pack("{s:s, s:o}", "prior", prior, "curve", points);
    return print_as_json(all);
}

/* Plots the expected distance on the left axis, and the success of the best guess, dashed, on the
 * right one. */
static int draw(const calibrate_request *r, const curve *c) {
    static const char *const labels[] = {"the paper", "equal", "balanced", "tuned"};
    enum { CURVES = KINDS + 1 };
    double y[2][CURVES][EPSILONS];
    plot_curve curves[2 * CURVES];
    for (size_t k = 0; k < CURVES; k++) {
        for (int i = 0; i < EPSILONS; i++) {
            const tem_effect *e = k == 0 ? &c->found[i][0].plain : &c->found[i][k - 1].effect;
            y[0][k][i] = e->distance;
            y[1][k][i] = e->bayes;
        }
        curves[k] = (plot_curve){labels[k], epsilons, y[0][k], EPSILONS, false, false, 0};
        curves[CURVES + k] = (plot_curve){NULL, epsilons, y[1][k], EPSILONS, false, true, k + 1};
    }
    const plot p = {.title = "The effects of weights at the same proved epsilon",
                    .x_label = "epsilon",
                    .y_label = "expected distance (solid)",
                    .right_label = "best guess right, Bayes (dashed)",
                    .x_log = true,
                    .curves = curves,
                    .curve_count = sizeof curves / sizeof *curves};
    return plot_write(r->plot_path, &p);
}

int calibrate_curve(const calibrate_request *r, const tem_model *model,
                    const tem_accountant *accountant, const tem_run *run) {
    curve c;
    tem_calibration wanted = r->wanted;
    for (int i = 0; i < EPSILONS; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            wanted.epsilon = epsilons[i];
            wanted.weights = (tem_weights_kind)(kind + 1);
            if (!find_point(r, model, accountant, run, &wanted, &c.found[i][kind]))
                return EXIT_FAILED;
        }
    if (!r->json)
        print_text(&c, wanted.prior_name);
    else if (!print_json(&c, wanted.prior_name))
        return EXIT_FAILED;
    return r->plot_path != NULL ? draw(r, &c) : EXIT_DONE;
}
