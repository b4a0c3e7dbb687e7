/* figure.c - results as pictures. A script contains its data and draws into the current directory,
 * so that anyone can draw the picture again. */
#include "figure.h"

#include "gnuplot.h"
#include "plan.h"
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUES_MAX = 2 };

typedef struct figure {
    const char *name, *x_label, *y_label;
    bool against_epsilon;
    results_value x;             /* ignored if against_epsilon */
    results_value y[VALUES_MAX]; /* each mechanism has one curve per value */
    int values;
    const char *about[VALUES_MAX]; /* label of each of the mechanism's curves */
    bool needs_membership;
} figure;

static const figure figures[] = {
    {.name = "utility",
     .x_label = "epsilon",
     .y_label = "accuracy on the original test text",
     .against_epsilon = true,
     .y = {RESULTS_ACCURACY},
     .values = 1,
     .about = {""}},
    {.name = "membership",
     .x_label = "epsilon",
     .y_label = "AUC of the membership attack",
     .against_epsilon = true,
     .y = {RESULTS_MIA, RESULTS_MIA_PRIVATE},
     .values = 2,
     .about = {": of the original text", ": of the released text"},
     .needs_membership = true},
    {.name = "utility-membership",
     .x_label = "AUC of the membership attack on the original text",
     .y_label = "accuracy",
     .x = RESULTS_MIA,
     .y = {RESULTS_ACCURACY},
     .values = 1,
     .about = {""},
     .needs_membership = true},
    {.name = "utility-bayes",
     .x_label = "share of words that an attacker guesses from the output",
     .y_label = "accuracy",
     .x = RESULTS_BAYES_DRAWN,
     .y = {RESULTS_ACCURACY},
     .values = 1,
     .about = {""},
     .needs_membership = true},
};

/* A gnuplot script being written. */
typedef struct script {
    const results *r;
    const figure *f;
    FILE *out;
    unsigned present; /* one bit per mechanism and value: set if it has a curve */
    bool bars;        /* some points have intervals */
    double low, high; /* range of x */
} script;

static unsigned curve_bit(size_t mechanism, int value) {
    return 1u << (mechanism * VALUES_MAX + (size_t)value);
}

/* Prints x, y and their half intervals (0 where there is none); false if there is no such point. */
static bool print_point(script *s, const char *mechanism, double epsilon, results_value value) {
    const results_mean y = results_over_trials(s->r, mechanism, epsilon, value);
    const results_mean x = s->f->against_epsilon
                               ? (results_mean){1, epsilon, NAN}
                               : results_over_trials(s->r, mechanism, epsilon, s->f->x);
    if (x.trials == 0 || y.trials == 0)
        return false;
    fprintf(s->out, "%.6g %.6g %.6g %.6g\n", x.mean, y.mean, isfinite(x.half) ? x.half : 0,
            isfinite(y.half) ? y.half : 0);
    s->bars = s->bars || isfinite(x.half) || isfinite(y.half);
    s->low = fmin(s->low, x.mean);
    s->high = fmax(s->high, x.mean);
    return true;
}

/* Prints one block of data per curve. */
static void print_data(script *s) {
    const plan_mechanism *m;
    for (size_t i = 0; (m = plan_mechanism_at(i)) != NULL; i++) {
        double epsilons[EVAL_EPSILONS_MAX];
        const uint32_t count = results_epsilons(s->r, m->name, epsilons, EVAL_EPSILONS_MAX);
        if (count == 0 || (m->make == NULL && s->f->against_epsilon))
            continue;
        for (int v = 0; v < s->f->values; v++) {
            fprintf(s->out, "$%s%d << EOD\n", m->name, v);
            for (uint32_t k = 0; k < count; k++)
                if (print_point(s, m->name, epsilons[k], s->f->y[v]))
                    s->present |= curve_bit(i, v);
            fputs("EOD\n", s->out);
        }
    }
}

static void print_axes(const script *s) {
    fprintf(s->out, "set xlabel '%s'\nset ylabel '%s'\nset key below\nset grid\n", s->f->x_label,
            s->f->y_label);
    if (s->f->against_epsilon && s->present != 0)
        fprintf(s->out, "set logscale x 2\nset xrange [%.6g:%.6g]\n", s->low / 1.2, s->high * 1.2);
}

/* gnuplot's colour number for a mechanism; skips 5, a yellow that is hard to see on white. */
static size_t colour(size_t mechanism) {
    return mechanism < 4 ? mechanism + 1 : mechanism + 2;
}

static void print_curve(const script *s, size_t i, int v, const char *mechanism) {
    const size_t points = i + 4 + 3 * (size_t)v;
    fprintf(s->out,
            "$%s%d using 1:2 with lines lc %zu dt %d notitle, $%s%d using %s lc %zu pt %zu "
            "title '%s%s'",
            mechanism, v, colour(i), v + 1, mechanism, v,
            s->bars ? "1:2:3:4 with xyerrorbars" : "1:2 with points", colour(i), points, mechanism,
            s->f->about[v]);
}

static void print_plot(const script *s) {
    const plan_mechanism *m;
    const results_mean original = results_over_trials(s->r, "original", 0, s->f->y[0]);
    int curves = 0;
    fputs("plot ", s->out);
    for (size_t i = 0; (m = plan_mechanism_at(i)) != NULL; i++)
        for (int v = 0; v < s->f->values; v++)
            if (s->present & curve_bit(i, v)) {
                fputs(curves++ > 0 ? ", " : "", s->out);
                print_curve(s, i, v, m->name);
            }
    if (s->f->against_epsilon && original.trials > 0)
        fprintf(s->out, "%s%.6g with lines dt 2 lc 1 title 'original text'",
                curves++ > 0 ? ", " : "", original.mean);
    fputs(curves > 0 ? "\n" : "NaN notitle\n", s->out);
}

static void print_script(FILE *out, const void *context) {
    script s = *(const script *)context;
    s.out = out;
    print_data(&s);
    print_axes(&s);
    fprintf(out, "set terminal svg size 900,600 background 'white'\nset output '%s.svg'\n",
            s.f->name);
    print_plot(&s);
    fprintf(out, "set terminal pngcairo size 900,600\nset output '%s.png'\n", s.f->name);
    print_plot(&s);
}

/* Runs the directory's script in `inside`. gnuplot's messages are dropped: they are not about the
 * results. */
static bool run_script(const char *inside, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "../%s.gp", name);
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const bool done =
        nothing >= 0 && gnuplot_run(path, inside, (const int[]){-1, nothing, nothing});
    if (nothing >= 0)
        close(nothing);
    return done;
}

/* Replaces the old picture with the new one, if that is complete, and removes the drawn file. */
static bool take_picture(const char *folder, const char *inside, const char *name,
                         const char *extension, bool drawn) {
    char from[4200], to[4200];
    snprintf(from, sizeof from, "%s/%s.%s", inside, name, extension);
    snprintf(to, sizeof to, "%s/%s.%s", folder, name, extension);
    const int picture = drawn ? open(from, O_RDONLY | O_CLOEXEC) : -1;
    const bool kept = picture >= 0 && gnuplot_keep(picture, to, NULL) == TEM_OK;
    if (picture >= 0)
        close(picture);
    remove(from);
    return kept;
}

static bool draw(const results *r, const figure *f, const char *folder) {
    char path[4096], inside[4096];
    const script s = {.r = r, .f = f, .low = INFINITY, .high = -INFINITY};
    if ((size_t)snprintf(path, sizeof path, "%s/%s.gp", folder, f->name) >= sizeof path ||
        (size_t)snprintf(inside, sizeof inside, "%s/figures.part", folder) >= sizeof inside ||
        whole_file_print(path, print_script, &s, NULL) != TEM_OK ||
        (mkdir(inside, 0777) != 0 && errno != EEXIST))
        return false;
    bool done = run_script(inside, f->name);
    done = take_picture(folder, inside, f->name, "svg", done) && done;
    done = take_picture(folder, inside, f->name, "png", done) && done;
    rmdir(inside);
    return done;
}

bool figure_write_all(const results *r, const char *folder, bool membership) {
    bool done = true;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && r->count > 0; i++)
        if (membership || !figures[i].needs_membership)
            done = draw(r, &figures[i], folder) && done;
    return done;
}
