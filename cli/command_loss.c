/* command_loss.c - tem loss: how well an output tells two words apart. */
#include "commands.h"
#include "common_options.h"
#include "mechanism_options.h"
#include "show.h"
#include "talk.h"
#include "tem_account.h"
#include "trust.h"
#include "wrap.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 6 };

typedef struct loss_request {
    common_options common;
    mechanism_choice choice;
    const char *typed[2];
    size_t count;
    bool unknown, json;
} loss_request;

typedef struct loss_result {
    const tem_model *model;
    tem_mechanism_info info;
    uint32_t inputs[2]; /* TEM_NO_WORD: an unknown word */
    tem_pair_loss loss;
} loss_result;

/* ---- as text ---- */

static void print_input(const loss_result *r, int i) {
    if (r->inputs[i] == TEM_NO_WORD)
        fputs("an unknown word", stdout);
    else
        words_print_id(r->model, r->inputs[i]);
    if (tem_model_is_excluded(r->model, r->inputs[i]))
        fputs(" (excluded)", stdout);
}

/* Losses are rounded up, so that "at most" stays true. */
static void print_number(const char *name, double number) {
    if (!isfinite(number))
        printf("%snone", name);
    else
        printf("%s%.6g", name, number > 0 ? tem_round_up(number, DIGITS) : 0);
}

static void print_loss(const loss_result *r) {
    const tem_pair_loss *l = &r->loss;
    if (l->output == TEM_NO_WORD) {
        puts("realized    0: all outputs are equally likely from both");
        return;
    }
    printf("realized    %.6g, at the output ", l->loss);
    words_print_id(r->model, l->output);
    printf(":\n            probability %.4g from ", l->probability_a);
    print_input(r, 0);
    printf(", %.4g from ", l->probability_b);
    print_input(r, 1);
    putchar('\n');
}

/* epsilon is per unit of what the mechanism says: a distance, or d_r. */
static void print_proved(const loss_result *r) {
    const tem_pair_loss *l = &r->loss;
    print_number("proved      ", l->proved);
    if (!isfinite(l->proved))
        printf(": the mechanism %s states no bound", r->info.properties->name);
    else if (isfinite(l->distance))
        printf(" at most for these two: epsilon %g times %.6g%s", r->info.epsilon,
               l->distance > 0 ? tem_round_up(l->distance, DIGITS) : 0,
               r->info.gamma_steps > 0 ? ", their distance cut at gamma"
                                       : ", how far their laws are apart");
    else
        fputs(" at most for these two", stdout);
    print_number("\nany inputs  ", l->bound);
    puts(isfinite(l->bound) ? " at most, known or not" : "");
}

static void print_text(const loss_result *r) {
    print_input(r, 0);
    fputs(" or ", stdout);
    print_input(r, 1);
    printf(" under %s%s, epsilon %g: the largest |ln P(y|a) - ln P(y|b)| over all outputs y\n\n",
           r->info.certificate[0] != '\0' ? "calibrated " : "", r->info.properties->name,
           r->info.epsilon);
    print_loss(r);
    print_proved(r);
}

/* ---- as JSON ---- */

static json_t *word_as_json(const loss_result *r, uint32_t id) {
    return id == TEM_NO_WORD ? json_null() : words_id_as_json(r->model, id);
}

/* JSON has no infinity and no NaN. */
static json_t *number_as_json(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

static bool print_json(const loss_result *r) {
    const tem_pair_loss *l = &r->loss;
    return print_as_json(
        json_pack("{s:s, s:f, s:s, s:s?, s:[o, o], s:o, s:o, s:[o, o], s:o, s:o, s:o}", "mechanism",
                  r->info.properties->name, "epsilon", r->info.epsilon, "unit", r->info.unit,
                  "certificate", r->info.certificate[0] != '\0' ? r->info.certificate : NULL,
                  "inputs", word_as_json(r, r->inputs[0]), word_as_json(r, r->inputs[1]), "loss",
                  number_as_json(l->loss), "output", word_as_json(r, l->output), "probabilities",
                  number_as_json(l->probability_a), number_as_json(l->probability_b), "proved",
                  number_as_json(l->proved), "distance", number_as_json(l->distance), "bound",
                  number_as_json(l->bound)));
}

/* ---- the command ---- */

/* Finds a word that the user typed. No message repeats the word: a terminal may be recorded. */
static int find_typed(const loss_request *q, const tem_model *model, size_t i, uint32_t *id) {
    tem_error error;
    size_t pieces = 0;
    const char *word = q->typed[i];
    if (word[strspn(word, " \t\r\n")] == '\0')
        return talk_usage("loss", "word %zu is empty", i + 1);
    if (tem_model_pieces(model, word, strlen(word), id, 1, &pieces, &error) != TEM_OK)
        return talk_error(&error);
    if (pieces == 0) /* punctuation, for which --punctuation word draws */
        *id = tem_model_find(model, word, strlen(word));
    if (pieces > 1)
        return talk_usage("loss", "word %zu: tem cuts this into %zu words; name one word", i + 1,
                          pieces);
    if (*id != TEM_NO_WORD)
        return EXIT_DONE;
    fprintf(stderr,
            "tem: word %zu is not in the vocabulary. Check its spelling, or write --unknown in its "
            "place: all unknown words have the same law\n",
            i + 1);
    return EXIT_FAILED;
}

static int measure(const loss_request *q, const tem_mechanism *mechanism, loss_result *r) {
    tem_error error;
    r->inputs[1] = TEM_NO_WORD;
    for (size_t i = 0; i < q->count; i++) {
        const int status = find_typed(q, r->model, i, &r->inputs[i]);
        if (status != EXIT_DONE)
            return status;
    }
    tem_mechanism_get_info(mechanism, &r->info);
    if (tem_pair_loss_make(mechanism, r->inputs[0], r->inputs[1], &r->loss, &error) != TEM_OK)
        return talk_error(&error);
    if (q->json)
        return print_json(r) ? EXIT_DONE : EXIT_FAILED;
    print_text(r);
    return EXIT_DONE;
}

static int open_and_measure(const loss_request *q) {
    const tem_run run = {.threads = (unsigned)q->common.threads};
    loss_result r = {.model = NULL};
    int status = EXIT_FAILED;
    tem_model *model = trust_open_model(q->common.model, q->common.model_hash, &run);
    tem_mechanism *mechanism =
        model != NULL ? mechanism_choose("loss", model, &q->choice, &status) : NULL;
    r.model = model;
    if (mechanism != NULL)
        status = measure(q, mechanism, &r);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return status;
}

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem loss --epsilon E WORD WORD [OPTIONS]\n"
        "       tem loss --epsilon E WORD --unknown [OPTIONS]\n"
        "\n"
        "Shows how well an output tells two words apart: the largest |ln P(y|a) - ln P(y|b)| over\n"
        "all outputs y, and for which y, from the exact laws. Beside it stands what is proved:\n"
        "for these two words, and for any two inputs.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem loss --epsilon 2 doctor physician\n"
         "  tem loss --epsilon 1.05 --mechanism rank doctor surgeon --json\n"
         "  tem loss --epsilon 8 --mechanism coin doctor --unknown");
}

int command_loss(int argc, char *const *argv) {
    loss_request q = {.choice = {.allow_no_guarantee = true}};
    const option_spec table[] = {
        MECHANISM_OPTIONS(q.choice),
        OWN_OPTIONS(q.choice),
        {"unknown", 0, OPTION_FLAG, &q.unknown, NULL,
         "compare WORD with a word that the model does not have", 0, 0},
        {"json", 0, OPTION_FLAG, &q.json, NULL, "print one JSON object", 0, 0},
        TRUSTED_MODEL_OPTIONS(q.common),
        COMMON_OPTIONS(q.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    if (!options_parse(argc, argv, table, q.typed, 2, &q.count, message))
        return talk_usage("loss", "%s", message);
    if (q.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    if (q.count + q.unknown != 2)
        return talk_usage("loss", "name two words, or one and --unknown: tem loss --epsilon E WORD "
                                  "WORD");
    if (q.choice.epsilon <= 0)
        return mechanism_ask_epsilon("loss", q.choice.mechanism, q.choice.calibrated);
    return open_and_measure(&q);
}
