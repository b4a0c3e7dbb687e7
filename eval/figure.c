/* figure.c - results as pictures. A script holds its data, so that anyone may draw it again. */
#include "figure.h"

#include "plan.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

typedef struct figure {
    const char *name, *x_label, *y_label;
    bool against_epsilon;
    results_value x; /* unless against_epsilon */
    results_value y;
    bool needs_membership;
} figure;

static const figure figures[] = {
    {"utility", "epsilon", "accuracy on the original test text", true, RESULTS_ACCURACY,
     RESULTS_ACCURACY, false},
    {"membership", "epsilon", "AUC of the membership attack", true, RESULTS_ACCURACY, RESULTS_MIA,
     true},
    {"utility-membership", "AUC of the membership attack", "accuracy", false, RESULTS_MIA,
     RESULTS_ACCURACY, true},
    {"utility-bayes", "share of words that an attacker guesses from the output", "accuracy", false,
     RESULTS_BAYES_DRAWN, RESULTS_ACCURACY, true},
};

/* x, y and their half intervals, 0 where there is none; false if there is no such point. */
static bool print_point(FILE *out, const results *r, const figure *f, const char *mechanism,
                        double epsilon) {
    const results_mean y = results_over_trials(r, mechanism, epsilon, f->y);
    const results_mean x = f->against_epsilon ? (results_mean){1, epsilon, NAN}
                                              : results_over_trials(r, mechanism, epsilon, f->x);
    if (x.trials == 0 || y.trials == 0)
        return false;
    fprintf(out, "%.6g %.6g %.6g %.6g\n", x.mean, y.mean, isfinite(x.half) ? x.half : 0,
            isfinite(y.half) ? y.half : 0);
    return true;
}

/* A block of data for each mechanism, empty ones left out; returns a bit for each. */
static unsigned print_data(FILE *out, const results *r, const figure *f) {
    const plan_mechanism *m;
    unsigned present = 0;
    for (size_t i = 0; (m = plan_mechanism_at(i)) != NULL; i++) {
        double epsilons[EVAL_EPSILONS_MAX];
        const uint32_t count = results_epsilons(r, m->name, epsilons, EVAL_EPSILONS_MAX);
        if (count == 0 || (m->make == NULL && f->against_epsilon))
            continue;
        fprintf(out, "$%s << EOD\n", m->name);
        for (uint32_t k = 0; k < count; k++)
            if (print_point(out, r, f, m->name, epsilons[k]))
                present |= 1u << i;
        fputs("EOD\n", out);
    }
    return present;
}

static void print_script(FILE *out, const results *r, const figure *f, const char *folder) {
    const plan_mechanism *m;
    const unsigned present = print_data(out, r, f);
    const results_mean original = results_over_trials(r, "original", 0, f->y);
    fprintf(out, "set xlabel '%s'\nset ylabel '%s'\nset key bottom right\nset grid\n", f->x_label,
            f->y_label);
    if (f->against_epsilon)
        fputs("set logscale x 2\nset xrange [0.4:*]\n", out);
    for (int png = 0; png < 2; png++) {
        fprintf(out, "set terminal %s\nset output '%s/%s.%s'\nplot ",
                png ? "pngcairo size 900,600" : "svg size 900,600 background 'white'", folder,
                f->name, png ? "png" : "svg");
        int curves = 0;
        for (size_t i = 0; (m = plan_mechanism_at(i)) != NULL; i++)
            if (present >> i & 1u) {
                fprintf(out,
                        "%s$%s using 1:2 with lines lc %zu notitle, "
                        "$%s using 1:2:3:4 with xyerrorbars lc %zu pt %zu title '%s'",
                        curves++ > 0 ? ", " : "", m->name, i + 1, m->name, i + 1, i + 4, m->name);
            }
        if (f->against_epsilon && original.trials > 0)
            fprintf(out, "%s%.6g with lines dt 2 lc 1 title 'original text'",
                    curves++ > 0 ? ", " : "", original.mean);
        fputs(curves > 0 ? "\n" : "NaN notitle\n", out);
    }
}

static bool run_gnuplot(const char *script) {
    char *arguments[] = {"gnuplot", (char *)script, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    const bool spawned = posix_spawnp(&child, "gnuplot", &quiet, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    return spawned && waitpid(child, &status, 0) == child && status == 0;
}

static bool draw(const results *r, const figure *f, const char *folder) {
    char path[4096];
    if (strchr(folder, '\'') != NULL ||
        (size_t)snprintf(path, sizeof path, "%s/%s.gp", folder, f->name) >= sizeof path)
        return false;
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return false;
    print_script(out, r, f, folder);
    return fclose(out) == 0 && run_gnuplot(path);
}

bool figure_write_all(const results *r, const char *folder, bool membership) {
    bool done = true;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && r->count > 0; i++)
        if (membership || !figures[i].needs_membership)
            done = draw(r, &figures[i], folder) && done;
    return done;
}
