/* choose_family.c - tem choose MODEL...: which of several models keeps the signals best. */
#include "choose_family.h"

#include "adapt_family.h"
#include "plot.h"
#include "show.h"
#include "talk.h"
#include "trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The targets of the curve. */
static const double guesses[] = {0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5};
enum { GUESSES = sizeof guesses / sizeof *guesses };

typedef struct family {
    const family_request *request;
    const tem_run *run;
    tem_model *models[FAMILY_MAX];
    const char *signals_path; /* the model that has the signals */
    signal_set signals;
    family_member members[FAMILY_MAX];
    family_member curves[FAMILY_MAX][GUESSES];
    const family_member *best;
} family;

/* -------------------------------------------------------------------- opening -- */

static bool have_same_words(const tem_model *a, const tem_model *b) {
    tem_model_info of_a, of_b;
    tem_model_get_info(a, &of_a);
    tem_model_get_info(b, &of_b);
    bool same = of_a.words == of_b.words;
    for (uint32_t id = 0; same && id < of_a.words; id++) {
        size_t length_a = 0, length_b = 0;
        const char *word_a = tem_model_word(a, id, &length_a);
        const char *word_b = tem_model_word(b, id, &length_b);
        same = length_a == length_b && memcmp(word_a, word_b, length_a) == 0;
    }
    return same;
}

/* Opens all models. Returns an exit status; prints what went wrong. */
static int open_models(family *f) {
    const family_request *r = f->request;
    for (size_t i = 0; i < r->count; i++) {
        tem_adapted adapted;
        f->models[i] = trust_open_model(r->paths[i], NULL, f->run);
        if (f->models[i] == NULL)
            return EXIT_FAILED;
        if (!have_same_words(f->models[0], f->models[i])) {
            fprintf(stderr,
                    "tem: %s: its words are not those of %s; tem compares models of the same "
                    "words\n",
                    r->paths[i], r->paths[0]);
            return EXIT_FAILED;
        }
        tem_model_get_adapted(f->models[i], &adapted);
        f->members[i] = (family_member){.label = r->paths[i], .stretch = adapted.stretch};
    }
    return EXIT_DONE;
}

/* Takes the signals of the first adapted model. */
static int take_signals(family *f) {
    tem_error error;
    for (size_t i = 0; i < f->request->count && f->signals.count == 0; i++) {
        f->signals_path = f->request->paths[i];
        if (signal_set_of_model(f->models[i], &f->signals, &error) != TEM_OK)
            return talk_error(&error);
    }
    if (f->signals.count > 0)
        return EXIT_DONE;
    fputs("tem: none of these models is adapted ('tem adapt'), so there are no signals to compare; "
          "name one model with -m\n",
          stderr);
    return EXIT_FAILED;
}

/* ------------------------------------------------------------------ measuring -- */

static tem_status measure_all(family *f, size_t i, const family_model *m, tem_error *error) {
    const family_wish wish = {.bayes = f->request->bayes};
    tem_status status = family_measure(m, &wish, f->run, &f->members[i], error);
    for (int g = 0; status == TEM_OK && f->members[i].reached && g < GUESSES; g++) {
        const family_wish at = {.bayes = guesses[g]};
        status = family_measure(m, &at, f->run, &f->curves[i][g], error);
    }
    return status;
}

static int measure(family *f, size_t i) {
    const family_request *r = f->request;
    const double start = talk_clock();
    const bool quiet = r->common->quiet || i > 0; /* the prior is the same for all */
    family_model m;
    tem_error error;
    int status = family_open("choose", f->models[i], &f->signals, r->prior_text, f->run, quiet, &m);
    if (status == EXIT_DONE && measure_all(f, i, &m, &error) != TEM_OK) {
        talk_end_progress();
        status = talk_error(&error);
    }
    talk_end_progress();
    family_close(&m);
    if (status == EXIT_DONE)
        talk_note(r->common->quiet, "measured %s in %.1f s", r->paths[i], talk_clock() - start);
    return status;
}

/* ------------------------------------------------------------------- printing -- */

static int label_width(const family *f) {
    int width = (int)strlen("model");
    for (size_t i = 0; i < f->request->count; i++)
        width = (int)fmax(width, (double)strlen(f->request->paths[i]));
    return width;
}

static void print_curves(const family *f, int width) {
    printf("\nkept%s, by how often the best guess is right:\n\n  %*s",
           f->signals.count == 1 ? "" : " (mean over the signals)", width, "model");
    for (int g = 0; g < GUESSES; g++)
        printf("  %6.2f", guesses[g]);
    putchar('\n');
    for (size_t i = 0; i < f->request->count; i++) {
        printf("  %*s", width, f->request->paths[i]);
        for (int g = 0; g < GUESSES; g++)
            if (f->curves[i][g].reached)
                printf("  %6.3f", f->curves[i][g].variance);
            else
                fputs("       -", stdout);
        putchar('\n');
    }
    puts("\n-: no epsilon has that guess.");
}

static void print_text(const family *f) {
    const family_request *r = f->request;
    const int width = label_width(f);
    printf("%s keeps the signals of %s best: %.1f %% of the variance, at epsilon %.4g\n",
           f->best->label, f->signals_path, 100 * f->best->variance, f->best->point.epsilon);
    printf("the best guess at a word is right with probability at most %.6g; prior %s\n\n",
           r->bayes, r->prior_text);
    signal_set_print(f->signals.list, f->signals.count, false);
    putchar('\n');
    family_print("model", width, f->members, r->count, f->signals.count, f->best);
    puts("A smaller s than that of the plain model means more noise in everything else. The mark\n"
         "looks at what is kept alone: look at s and at the most exposed word, too.");
    print_curves(f, width);
}

static json_t *curve_json(const family *f, size_t i) {
    json_t *list = json_array();
    for (int g = 0; g < GUESSES; g++) {
        json_t *point = family_as_json(&f->curves[i][g], &f->signals);
        json_object_set_new(point, "wanted", json_real(guesses[g]));
        json_array_append_new(list, point);
    }
    return list;
}

static json_t *models_json(const family *f) {
    json_t *list = json_array();
    for (size_t i = 0; i < f->request->count; i++) {
        json_t *model = family_as_json(&f->members[i], &f->signals);
        json_object_set_new(model, "model", json_string(f->request->paths[i]));
        json_object_set_new(model, "stretch", json_real(f->members[i].stretch));
        json_object_set_new(model, "curve", curve_json(f, i));
        json_array_append_new(list, model);
    }
    return list;
}

static bool print_json(const family *f) {
    const family_request *r = f->request;
    json_t *all =
        json_pack("{s:s, s:f, s:s, s:s, s:s, s:o, s:o}", "target", "bayes", "wanted", r->bayes,
                  "prior", r->prior_text, "best", f->best->label, "signals_of", f->signals_path,
                  "signals", signal_set_as_json(&f->signals), "models", models_json(f));
    return print_as_json(all);
}

/* Plots a curve per model: the share of the variance that is kept against the best guess. */
static int draw(const family *f) {
    const family_request *r = f->request;
    double x[FAMILY_MAX][GUESSES], y[FAMILY_MAX][GUESSES];
    plot_curve curves[FAMILY_MAX];
    for (size_t i = 0; i < r->count; i++) {
        for (int g = 0; g < GUESSES; g++) {
            const family_member *m = &f->curves[i][g];
            x[i][g] = m->reached ? m->point.summary.bayes : NAN;
            y[i][g] = m->reached ? m->variance : NAN;
        }
        curves[i] = (plot_curve){r->paths[i], x[i], y[i], GUESSES, false, false, 0};
    }
    const plot_mark mark = {"target", r->bayes, true};
    const plot p = {.title = "How well models keep the signals",
                    .x_label = "how often the best guess at a word is right",
                    .y_label = "variance of the signals that is kept",
                    .curves = curves,
                    .curve_count = r->count,
                    .marks = &mark,
                    .mark_count = 1};
    return plot_write(r->plot_path, &p);
}

/* -------------------------------------------------------------------- command -- */

static int compare(family *f) {
    const family_request *r = f->request;
    int status = open_models(f);
    if (status == EXIT_DONE)
        status = take_signals(f);
    for (size_t i = 0; status == EXIT_DONE && i < r->count; i++)
        status = measure(f, i);
    if (status != EXIT_DONE)
        return status;
    f->best = family_best(f->members, r->count);
    if (f->best == NULL) {
        fprintf(stderr, "tem: %s: %s\n", r->paths[0], f->members[0].why_not);
        return EXIT_FAILED;
    }
    if (!r->json)
        print_text(f);
    else if (!print_json(f))
        return EXIT_FAILED;
    return r->plot_path != NULL ? draw(f) : EXIT_DONE;
}

int choose_family(const family_request *r) {
    const tem_run run = talk_run((unsigned)r->common->threads, r->common->quiet);
    family *f = calloc(1, sizeof *f);
    if (f == NULL) {
        const tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return talk_error(&error);
    }
    f->request = r;
    f->run = &run;
    const int status = compare(f);
    signal_set_free(&f->signals);
    for (size_t i = 0; i < r->count; i++)
        tem_model_free(f->models[i]);
    free(f);
    return status;
}
