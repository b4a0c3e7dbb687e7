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
    const char *name, *title, *x_label, *y_label;
    bool against_epsilon;
    bool is_log;                 /* the scale of x is logarithmic */
    results_value x;             /* ignored if against_epsilon */
    results_value y[VALUES_MAX]; /* each mechanism has one curve per value */
    int values;                  /* the second is dashed */
    bool needs_membership;
    const char *tics;    /* of x; NULL: gnuplot's */
    bool names_prior;    /* x depends on it */
    bool needs_learners; /* drawn if there are rows of other learners than "paper" */
} figure;

static const figure figures[] = {
    {.name = "utility",
     .title = "Accuracy of a classifier that learns from released text",
     .x_label = "epsilon",
     .y_label = "accuracy on the original test text",
     .against_epsilon = true,
     .is_log = true,
     .y = {RESULTS_ACCURACY},
     .values = 1},
    {.name = "membership",
     .title = "Membership attacks: of the original text (solid), of the released text (dashed)",
     .x_label = "epsilon",
     .y_label = "AUC of the attack (0.5: a blind guess)",
     .against_epsilon = true,
     .is_log = true,
     .y = {RESULTS_MIA, RESULTS_MIA_PRIVATE},
     .values = 2,
     .needs_membership = true},
    {.name = "utility-membership",
     .title = "Accuracy against the success of membership attacks",
     .x_label = "AUC of the membership attack on the original text",
     .y_label = "accuracy",
     .x = RESULTS_MIA,
     .y = {RESULTS_ACCURACY},
     .values = 1,
     .needs_membership = true},
    {.name = "utility-bayes",
     .title = "Accuracy against the words that an attacker guesses",
     .x_label = "share of words that an attacker guesses from the output",
     .y_label = "accuracy",
     .x = RESULTS_BAYES_DRAWN,
     .y = {RESULTS_ACCURACY},
     .values = 1,
     .needs_membership = true},
    {.name = "learners",
     .title = "Accuracy of several learners where the same attacker is right equally often",
     .x_label = "success of the best guess at a word",
     .y_label = "accuracy on the original test text",
     .is_log = true,
     .x = RESULTS_BAYES,
     .y = {RESULTS_ACCURACY},
     .values = 1,
     .tics = "0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1",
     .names_prior = true,
     .needs_learners = true},
};

/* A gnuplot script being written. */
typedef struct script {
    const results *r;
    const figure *f;
    FILE *out;
    bool present[PLAN_MECHANISMS_MAX][LEARNERS_MAX][VALUES_MAX]; /* which have a curve */
    bool bars;                                                   /* some points have intervals */
    bool only_paper;  /* there is one learner, and no need to name it */
    double low, high; /* range of x */
    int curves;       /* printed so far */
} script;

/* A curve: mechanism, learner and value, by their numbers. */
typedef struct curve {
    size_t mechanism, learner;
    int value;
} curve;

static const char *mechanism_name(curve c) {
    return plan_mechanism_at(c.mechanism)->name;
}

static const char *mechanism_title(curve c) {
    const plan_mechanism *m = plan_mechanism_at(c.mechanism);
    return m->title != NULL ? m->title : m->name;
}

static const char *learner_name(curve c) {
    return learner_at(c.learner)->name;
}

typedef void curve_fn(script *s, curve c);

/* Calls the function for each curve that the figure may have. */
static void for_each_curve(script *s, curve_fn *function) {
    for (size_t m = 0; plan_mechanism_at(m) != NULL; m++)
        for (size_t l = 0; learner_at(l) != NULL; l++)
            for (int v = 0; v < s->f->values; v++)
                function(s, (curve){m, l, v});
}

/* Prints x, y and their half intervals (0 where there is none); false if there is no such point. */
static bool print_point(script *s, results_kind kind, results_value value) {
    const results_mean y = results_over_trials(s->r, kind, value);
    const results_mean x = s->f->against_epsilon ? (results_mean){1, kind.epsilon, NAN}
                                                 : results_over_trials(s->r, kind, s->f->x);
    if (x.trials == 0 || y.trials == 0)
        return false;
    fprintf(s->out, "%.6g %.6g %.6g %.6g\n", x.mean, y.mean, isfinite(x.half) ? x.half : 0,
            isfinite(y.half) ? y.half : 0);
    s->bars = s->bars || isfinite(x.half) || isfinite(y.half);
    s->low = fmin(s->low, x.mean);
    s->high = fmax(s->high, x.mean);
    return true;
}

/* Prints one block of data per curve. Where x is logarithmic, the original text is a line. */
static void print_data(script *s, curve c) {
    double epsilons[EVAL_EPSILONS_MAX];
    const uint32_t count =
        results_epsilons(s->r, mechanism_name(c), learner_name(c), epsilons, EVAL_EPSILONS_MAX);
    if (count == 0 || (plan_mechanism_at(c.mechanism)->make == NULL && s->f->is_log))
        return;
    fprintf(s->out, "$m%zu_%s%d << EOD\n", c.mechanism, learner_name(c), c.value);
    for (uint32_t i = 0; i < count; i++)
        if (print_point(s, (results_kind){mechanism_name(c), learner_name(c), epsilons[i]},
                        s->f->y[c.value]))
            s->present[c.mechanism][c.learner][c.value] = true;
    fputs("EOD\n", s->out);
}

static const char *prior_text(const script *s) {
    const bool zipf = s->r->count > 0 && strcmp(s->r->rows[0].prior, "zipf") == 0;
    return !s->f->names_prior ? "" : zipf ? ", prior: law of Zipf" : ", prior: public text";
}

static void print_axes(const script *s) {
    fprintf(s->out,
            "set title '%s'\nset xlabel '%s%s'\nset ylabel '%s'\n"
            "set key outside right top Left reverse samplen 2\nset grid\n",
            s->f->title, s->f->x_label, prior_text(s), s->f->y_label);
    if (s->f->tics != NULL)
        fprintf(s->out, "set xtics (%s)\n", s->f->tics);
    if (s->f->is_log && s->low <= s->high)
        fprintf(s->out, "set logscale x 2\nset xrange [%.6g:%.6g]\n", s->low / 1.2, s->high * 1.2);
}

/* gnuplot's color number; skips 5, a yellow that is hard to see on white. With one learner,
 * mechanisms differ in color; with several, learners do, and mechanisms differ in their points. */
static size_t colour(const script *s, curve c) {
    const size_t number = s->only_paper ? c.mechanism : c.learner;
    return number < 4 ? number + 1 : number + 2;
}

static void print_separator(script *s) {
    fputs(s->curves++ > 0 ? ", " : "", s->out);
}

static void print_curve(script *s, curve c) {
    if (!s->present[c.mechanism][c.learner][c.value])
        return;
    const size_t points = c.mechanism + 4 + 3 * (size_t)c.value;
    char name[EVAL_NAME_BYTES + 32]; /* names of mechanisms have characters that gnuplot refuses */
    snprintf(name, sizeof name, "m%zu_%s%d", c.mechanism, learner_name(c), c.value);
    print_separator(s);
    fprintf(s->out, "$%s using 1:2 with lines lc %zu dt %d notitle, $%s using %s lc %zu pt %zu ",
            name, colour(s, c), c.value + 1, name,
            s->bars ? "1:2:3:4 with xyerrorbars" : "1:2 with points", colour(s, c), points);
    if (c.value > 0) /* the title of the figure explains the dashed curves */
        fputs("notitle", s->out);
    else
        fprintf(s->out, "title '%s%s%s'", mechanism_title(c), s->only_paper ? "" : ", learner ",
                s->only_paper ? "" : learner_name(c));
}

/* Prints the original text as a line, for a learner that has it. */
static void print_original(script *s, curve c) {
    const results_mean y =
        results_over_trials(s->r, (results_kind){"original", learner_name(c), 0}, s->f->y[0]);
    if (c.mechanism > 0 || c.value > 0 || !s->f->is_log || y.trials == 0)
        return;
    print_separator(s);
    fprintf(s->out, "%.6g with lines dt 2 lc %zu title 'original text%s%s'", y.mean, colour(s, c),
            s->only_paper ? "" : ", learner ", s->only_paper ? "" : learner_name(c));
}

static void print_plot(script *s) {
    s->curves = 0;
    fputs("plot ", s->out);
    for_each_curve(s, print_curve);
    for_each_curve(s, print_original);
    fputs(s->curves > 0 ? "\n" : "NaN notitle\n", s->out);
}

static void print_script(FILE *out, const void *context) {
    script s = *(const script *)context;
    s.out = out;
    for_each_curve(&s, print_data);
    print_axes(&s);
    fprintf(out,
            "set terminal svg size 1000,560 noenhanced background 'white'\nset output '%s.svg'\n",
            s.f->name);
    print_plot(&s);
    fprintf(out, "set terminal pngcairo size 1000,560 noenhanced\nset output '%s.png'\n",
            s.f->name);
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
    const script s = {
        .r = r, .f = f, .only_paper = results_only_paper(r), .low = INFINITY, .high = -INFINITY};
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
        if ((membership || !figures[i].needs_membership) &&
            (!figures[i].needs_learners || !results_only_paper(r)))
            done = draw(r, &figures[i], folder) && done;
    return done;
}
