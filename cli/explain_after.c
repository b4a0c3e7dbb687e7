/* explain_after.c - tem explain in context. */
#include "explain_after.h"

#include "alone_mechanism.h"
#include "show.h"
#include "talk.h"
#include "words_option.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17, SHOWN = 8 };

/* Keeps the words that the model has: an output shows no others. */
static void leave_out_unknown(explain_after *a) {
    char numbers[SHOWN * 16] = "";
    size_t known = 0, unknown = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->ids[i] != TEM_NO_WORD) {
            a->ids[known++] = a->ids[i];
            continue;
        }
        if (unknown < SHOWN)
            snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%zu",
                     unknown > 0 ? ", " : "", i + 1);
        unknown++;
    }
    talk_note(unknown == 0,
              "tem: warning: --after: tem leaves out words that the vocabulary does not have, and "
              "no output shows: number %s%s of %zu",
              numbers, unknown > SHOWN ? ", ..." : "", a->count);
    a->count = known;
}

static int read_words(const char *text, explain_after *a) {
    word_ids words = {0};
    tem_error error;
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0')
        return EXIT_DONE;
    if (words_of_line(a->model, text, &words, &error) != TEM_OK)
        return talk_error(&error);
    a->ids = words.ids;
    a->count = words.count;
    leave_out_unknown(a);
    return EXIT_DONE;
}

int explain_after_open(const char *text, const tem_model *model, const tem_mechanism *mechanism,
                       const mechanism_choice *choice, explain_after *out) {
    int status = EXIT_DONE;
    *out = (explain_after){.model = model};
    if (tem_mechanism_language(mechanism) == NULL)
        return text == NULL
                   ? EXIT_DONE
                   : talk_usage("explain", "--after needs a language model, without which the law "
                                           "of a word is the same everywhere: --language-model L");
    out->mechanism = mechanism;
    out->alone = alone_mechanism_make("explain", model, choice, mechanism, &status);
    return out->alone != NULL ? read_words(text, out) : status;
}

void explain_after_close(explain_after *a) {
    mechanism_close(a->alone);
    free(a->ids);
    *a = (explain_after){.ids = NULL};
}

static tem_language_info language_of(const explain_after *a) {
    tem_language_info info;
    tem_language_get_info(tem_mechanism_language(a->mechanism), &info);
    return info;
}

void explain_after_print(const explain_after *a) {
    const tem_language_info info = language_of(a);
    if (a->mechanism == NULL)
        return;
    fputs(a->count > 0 ? "after: " : "at the beginning of a document", stdout);
    for (size_t i = 0; i < a->count; i++) {
        size_t length = 0;
        const char *word = tem_model_word(a->model, a->ids[i], &length);
        fputs(i > 0 ? " " : "", stdout);
        words_print(word, length);
    }
    printf(" (language model %s)\n", info.name[0] != '\0' ? info.name : info.hash);
}

/* How often the word comes out here by the language model alone: for an unknown word. */
static tem_status find_share(const explain_after *a, uint32_t id, double *share, tem_error *error) {
    tem_law *law = NULL;
    const tem_status status =
        tem_law_create_after(a->mechanism, a->ids, a->count, TEM_NO_WORD, DIGITS, &law, error);
    if (status == TEM_OK)
        *share = tem_law_probability(law, id);
    tem_law_free(law);
    return status;
}

static bool find_shares(const explain_after *a, uint32_t id, double *share, double *alone) {
    tem_error error;
    if (find_share(a, id, share, &error) == TEM_OK &&
        tem_mechanism_self(a->alone, id, alone, &error) == TEM_OK)
        return true;
    talk_error(&error);
    return false;
}

static double epsilon_alone(const explain_after *a) {
    tem_mechanism_info info;
    tem_mechanism_get_info(a->alone, &info);
    return info.epsilon;
}

bool explain_after_print_share(const explain_after *a, uint32_t id) {
    double share = 0, alone = 0;
    if (a->mechanism == NULL)
        return true;
    if (!find_shares(a, id, &share, &alone))
        return false;
    printf("      %.6f   how often the language model alone writes it here, for an unknown word\n"
           "      %.6f   how often the word stays itself without a language model, at the same s\n"
           "                 (epsilon %g)\n",
           share, alone, epsilon_alone(a));
    return true;
}

static json_t *words_as_json(const explain_after *a) {
    json_t *words = json_array();
    for (size_t i = 0; i < a->count; i++) {
        size_t length = 0;
        const char *word = tem_model_word(a->model, a->ids[i], &length);
        json_array_append_new(words, json_stringn(word, length));
    }
    return words;
}

bool explain_after_print_json(const explain_after *a, uint32_t id) {
    double share = 0, alone = 0;
    if (a->mechanism == NULL) {
        fputs("null", stdout);
        return true;
    }
    if (id != TEM_NO_WORD && !find_shares(a, id, &share, &alone))
        return false;
    const tem_language_info info = language_of(a);
    json_t *all = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:f}", "name", info.name, "hash", info.hash, "after",
        words_as_json(a), "share", id != TEM_NO_WORD ? json_real(share) : json_null(), "alone",
        id != TEM_NO_WORD ? json_real(alone) : json_null(), "alone_epsilon", epsilon_alone(a));
    const bool done = all != NULL && json_dumpf(all, stdout, 0) == 0;
    json_decref(all);
    return done;
}
