/* audit_context.c - tem audit --public: how often words stay at the places of a public text. */
#include "audit_context.h"

#include "alone_mechanism.h"
#include "language_option.h"
#include "show.h"
#include "talk.h"
#include "tem_account.h"
#include "trust.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6, SHOWN = 10 };

typedef struct context_audit {
    const tem_model *model;
    const tem_mechanism *mechanism;
    tem_mechanism_info info;
    const char *text;
    tem_context_exposure found;
    tem_exposed_place most[SHOWN];
    uint32_t count;
    bool has_alone; /* the mechanism has a language model, and this is it without, at the same s */
    tem_context_exposure alone;
    double alone_epsilon;
    bool has_never; /* words are never released (--never) */
} context_audit;

/* ---- measuring ---- */

static tem_status measure(context_audit *a, const tem_mechanism *alone, uint32_t places,
                          const tem_run *run, tem_error *error) {
    tem_status status = tem_context_exposure_measure(a->mechanism, a->text, places, run, &a->found,
                                                     a->most, SHOWN, &a->count, error);
    if (status == TEM_OK && alone != NULL)
        status = tem_context_exposure_measure(alone, a->text, places, run, &a->alone, NULL, 0, NULL,
                                              error);
    a->has_alone = alone != NULL;
    return status;
}

/* ---- as text ---- */

static void print_numbers(const char *name, const tem_context_exposure *e, const char *remark) {
    printf("%-12s%.4f  %.4f  %.4f  %.2f %%%s\n", name, e->mean, e->median, e->high,
           100 * e->above_half, remark);
}

/* Prints the words before a place; "..." for more of them, and for unknown ones. */
static void print_words(const tem_model *model, const tem_exposed_place *p, const uint32_t *ids) {
    fputs(p->position > p->before + 1 ? "... " : "", stdout);
    for (uint32_t i = 0; i < p->before; i++) {
        if (ids[i] == TEM_NO_WORD)
            fputs("...", stdout);
        else
            words_print_id(model, ids[i]);
        putchar(' ');
    }
}

static void print_place(const context_audit *a, const tem_exposed_place *p) {
    printf("  %.4f  ", p->stays);
    if (a->has_alone)
        printf("%.4f  ", p->share);
    print_words(a->model, p, p->original);
    putchar('[');
    words_print_id(a->model, p->word);
    puts("]");
    if (!a->has_alone || p->before == 0)
        return;
    fputs("                  after: ", stdout);
    print_words(a->model, p, p->released);
    putchar('\n');
}

/* Whether c of rank is above 1; info->numbers is such as "c=5". */
static bool has_large_c(const tem_mechanism_info *info) {
    const char *c = strncmp(info->numbers, "c=", 2) == 0 ? info->numbers + 2 : "";
    return strtod(c, NULL) > 1;
}

/* What protects the words that the context expects, less what is in use. */
static void print_remedies(const context_audit *a) {
    tem_language_info language;
    const char *remedies[3];
    size_t count = 0;
    tem_language_get_info(tem_mechanism_language(a->mechanism), &language);
    if (!has_large_c(&a->info))
        remedies[count++] = "c above 1 (--mechanism rank --number c=5)";
    if (!(language.lift > 0))
        remedies[count++] = "a language model with a lift ('tem ngram --lift')";
    if (!a->has_never)
        remedies[count++] = "--never";
    puts("\nA word that the context expects stays more often than the mean word.");
    for (size_t i = 0; i < count; i++)
        printf("%s  %s\n", i == 0 ? "These protect such words:\n" : "", remedies[i]);
}

static void print_text(const context_audit *a) {
    const tem_mechanism_info *info = &a->info;
    char remark[80];
    printf("%s%s, epsilon %g: s = %.6f\n\n", info->properties->name,
           language_option_told(a->mechanism), info->epsilon, info->s);
    if (isfinite(info->bound))
        printf("any inputs  %.6g at most, known or not%s (proved)\n",
               tem_round_up(info->bound, DIGITS), a->has_alone ? ", whatever stands before" : "");
    else
        puts("any inputs  nothing bounds what an output tells");
    printf("\nhow often words stay themselves, at %s of the %s content positions of %s\n"
           "(words of the model that are no function words)%s:\n\n"
           "            mean    median  95 %%    above one half\n",
           talk_count(a->found.positions), talk_count(a->found.content), a->text,
           a->has_alone ? ", after words that were drawn" : "");
    print_numbers(a->has_alone ? "in context" : "stays", &a->found, "");
    if (a->has_alone) {
        snprintf(remark, sizeof remark, "   without a language model, at the same s (epsilon %g)",
                 a->alone_epsilon);
        print_numbers("alone", &a->alone, remark);
    }
    printf("\nwho is protected least: the places of this text whose words stay most often%s\n\n",
           a->has_alone ? ",\nand how often the language model alone writes the word there:" : ":");
    for (uint32_t i = 0; i < a->count; i++)
        print_place(a, &a->most[i]);
    if (a->has_alone)
        print_remedies(a);
}

/* ---- as JSON ---- */

static json_t *numbers_as_json(const tem_context_exposure *e) {
    return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "documents",
                     (json_int_t)e->documents, "words", (json_int_t)e->words, "content",
                     (json_int_t)e->content, "positions", (json_int_t)e->positions, "mean", e->mean,
                     "median", e->median, "high", e->high, "highest", e->highest, "above_half",
                     e->above_half);
}

static json_t *words_as_json(const tem_model *model, const uint32_t *ids, uint32_t count) {
    json_t *words = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(words, words_id_as_json(model, ids[i]));
    return words;
}

static json_t *places_as_json(const context_audit *a) {
    json_t *places = json_array();
    for (uint32_t i = 0; i < a->count; i++) {
        const tem_exposed_place *p = &a->most[i];
        json_array_append_new(
            places, json_pack("{s:I, s:I, s:o, s:f, s:o, s:o, s:o}", "line", (json_int_t)p->line,
                              "position", (json_int_t)p->position, "word",
                              words_id_as_json(a->model, p->word), "stays", p->stays, "share",
                              a->has_alone ? json_real(p->share) : json_null(), "before",
                              words_as_json(a->model, p->original, p->before), "released",
                              a->has_alone ? words_as_json(a->model, p->released, p->before)
                                           : json_null()));
    }
    return places;
}

static json_t *language_as_json(const tem_mechanism *mechanism) {
    tem_language_info info;
    if (tem_mechanism_language(mechanism) == NULL)
        return json_null();
    tem_language_get_info(tem_mechanism_language(mechanism), &info);
    return json_pack("{s:s, s:s}", "name", info.name, "hash", info.hash);
}

static bool print_json(const context_audit *a) {
    const tem_mechanism_info *info = &a->info;
    return print_as_json(json_pack(
        "{s:s, s:f, s:f, s:s, s:o, s:s?, s:o, s:o, s:o, s:o, s:o}", "mechanism",
        info->properties->name, "epsilon", info->epsilon, "s", info->s, "unit", info->unit, "bound",
        isfinite(info->bound) ? json_real(info->bound) : json_null(), "claim",
        info->properties->claim, "language_model", language_as_json(a->mechanism), "stays",
        numbers_as_json(&a->found), "alone",
        a->has_alone ? numbers_as_json(&a->alone) : json_null(), "alone_epsilon",
        a->has_alone ? json_real(a->alone_epsilon) : json_null(), "places", places_as_json(a)));
}

/* ---- the command ---- */

static int audit_with(context_audit *a, const tem_mechanism *alone, uint32_t places,
                      const tem_run *run, bool json) {
    tem_error error;
    const tem_status status = measure(a, alone, places, run, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    if (!json)
        print_text(a);
    return !json || print_json(a) ? EXIT_DONE : EXIT_FAILED;
}

/* The same mechanism without its language model; NULL if it has none, or on failure. */
static tem_mechanism *make_alone(context_audit *a, const mechanism_choice *choice, int *status) {
    tem_mechanism_info info;
    *status = EXIT_DONE;
    if (tem_mechanism_language(a->mechanism) == NULL)
        return NULL;
    tem_mechanism *alone = alone_mechanism_make("audit", a->model, choice, a->mechanism, status);
    if (alone != NULL) {
        tem_mechanism_get_info(alone, &info);
        a->alone_epsilon = info.epsilon;
    }
    return alone;
}

int audit_context(const common_options *common, const mechanism_choice *choice, const char *text,
                  uint64_t places, bool json) {
    const tem_run run = talk_run((unsigned)common->threads, common->quiet);
    tem_model *model = trust_open_model(common->model, common->model_hash, &run);
    context_audit a = {.model = model, .text = text, .has_never = choice->never_path != NULL};
    int status = EXIT_FAILED;
    tem_mechanism *alone = NULL, *mechanism = NULL;
    if (model != NULL)
        mechanism = mechanism_choose("audit", model, choice, &status);
    if (mechanism != NULL) {
        a.mechanism = mechanism;
        tem_mechanism_get_info(mechanism, &a.info);
        alone = make_alone(&a, choice, &status);
        if (status == EXIT_DONE)
            status = audit_with(&a, alone, (uint32_t)places, &run, json);
    }
    mechanism_close(alone);
    mechanism_close(mechanism);
    tem_model_free(model);
    return status;
}
