/* command_explain.c - tem explain: shows the law of one word, or a table of several words. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "explain_after.h"
#include "mechanism_options.h"
#include "near_name.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "words_option.h"
#include "wrap.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17, DECIMAL_BYTES = DIGITS + 32, BAR_CELLS = 40, TOP_DEFAULT = 10 };
enum { OTHERS = 3 }; /* outputs in a row of the table */

typedef struct explanation {
    const tem_model *model;
    const tem_law *law;
    const tem_law *paper; /* the law without the certificate; NULL: there is no certificate */
    tem_mechanism_info info;
    const tem_mechanism *mechanism;
    explain_after after; /* for a mechanism with a language model */
    const char *word;
    size_t length;
    uint32_t id; /* TEM_NO_WORD: unknown */
    uint32_t words, excluded;
    uint32_t *nearest; /* ids of the `top` nearest outputs, nearest first */
    uint32_t top;
} explanation;

/* Whether a word is never an output: the model excludes it, or this run does not release it. */
static bool is_excluded(const explanation *e, uint32_t id) {
    const uint32_t *weights = tem_mechanism_weights(e->mechanism);
    if (weights == NULL || e->info.certificate[0] != '\0' || id >= e->words)
        return tem_model_is_excluded(e->model, id);
    return weights[id] == 0;
}

/* The number of words that can be outputs. */
static uint32_t outputs_of(const explanation *e) {
    return e->words - e->excluded;
}

static double distance_of(const explanation *e, uint32_t id) {
    return (double)tem_law_distance(e->law, id) / TEM_DIST_ONE;
}

/* An unknown word has no distance where the law has no gamma. */
static bool has_distance(const explanation *e, uint32_t id) {
    return e->id != TEM_NO_WORD || tem_law_distance(e->law, id) != UINT32_MAX;
}

/* One cell per fortieth of the probability, and at least one above 0.001. */
static void print_bar(double probability) {
    int cells = (int)lround(probability * BAR_CELLS);
    if (cells == 0 && probability > 0.001)
        cells = 1;
    for (int i = 0; i < BAR_CELLS; i++)
        fputs(i < cells ? "#" : " ", stdout);
}

static void print_row(const char *distance, double probability, const char *word, size_t length) {
    printf("%9s  %8.6f  ", distance, probability);
    print_bar(probability);
    fputs("  ", stdout);
    words_print(word, length);
    putchar('\n');
}

/* Prints the same word at the same epsilon without the certificate: the tighter proof of the
 * certificate allows less noise. */
static void print_paper(const explanation *e) {
    printf("\nThe paper's mechanism at the same epsilon has ");
    if (e->id != TEM_NO_WORD)
        printf("N_w = %.6f and ", tem_law_probability(e->paper, e->id));
    printf("S_w = %.1f: the certificate\nis a tighter proof, and has less noise.\n",
           tem_law_support(e->paper));
}

/* A mechanism without a bound has no exponent; one whose law does not fall off with the distance
 * has no gamma. */
static void print_exponent(const tem_mechanism_info *info) {
    if (info->s_steps > 0)
        printf(": s = %.6f", info->s);
    if (info->gamma_steps > 0)
        printf(", gamma = %.4f, epsilon * gamma = %.2f", info->gamma, info->epsilon_gamma);
    else if (isfinite(info->bound))
        printf(", at most %.6g between any two inputs", tem_round_up(info->bound, 6));
    putchar('\n');
}

/* Prints a key of JSON and its number, or null. */
static void print_json_number(const char *key, double number, bool is_known) {
    printf("\"%s\": ", key);
    if (is_known && isfinite(number))
        printf("%.17g, ", number);
    else
        fputs("null, ", stdout);
}

/* Of equally near words the hint has the most frequent one. */
static void print_near_word(const explanation *e, const char *before, const char *after) {
    near_name near = near_name_for(e->word, e->length);
    for (uint32_t i = 0; i < e->words; i++) {
        size_t length = 0;
        const char *word = tem_model_word(e->model, i, &length);
        near_name_look(&near, "", word, length);
    }
    if (near.name == NULL)
        return;
    printf("%sdid you mean '", before);
    words_print(near.name, near.bytes);
    printf("'?%s", after);
}

static bool print_text(const explanation *e) {
    char text[64], others[DECIMAL_BYTES];
    tem_error error;
    size_t length = 0;
    const char *word = e->id == TEM_NO_WORD ? "" : tem_model_word(e->model, e->id, &length);
    words_print(word, length);
    printf("%s under %s%s, epsilon %g", e->id == TEM_NO_WORD ? "an unknown word" : "",
           e->info.certificate[0] != '\0' ? "calibrated " : "", e->info.properties->name,
           e->info.epsilon);
    print_exponent(&e->info);
    if (e->info.moved_mass > 0)
        printf("(cut at gamma to stay within integers: no probability changes by more than %.1e)\n",
               e->info.moved_mass);
    if (e->id == TEM_NO_WORD) {
        fputs("(not in the vocabulary: all such words have the same law", stdout);
        print_near_word(e, "; ", "");
        puts(")");
    }
    explain_after_print(&e->after);
    if (e->id != TEM_NO_WORD && is_excluded(e, e->id))
        puts("(excluded: the word is never an output, so tem always replaces it)");
    puts("\n distance  probability");
    for (uint32_t i = 0; i < e->top; i++) {
        word = tem_model_word(e->model, e->nearest[i], &length);
        const double probability = tem_law_probability(e->law, e->nearest[i]);
        snprintf(text, sizeof text, "%.3f", distance_of(e, e->nearest[i]));
        if (!has_distance(e, e->nearest[i]))
            strcpy(text, "-");
        print_row(text, probability, word, length);
    }
    if (e->top < outputs_of(e) &&
        tem_law_outside_decimal(e->law, e->nearest, e->top, DIGITS, others, sizeof others,
                                &error) == TEM_OK) {
        snprintf(text, sizeof text, "all %s others", talk_count(outputs_of(e) - e->top));
        print_row("", strtod(others, NULL), text, strlen(text));
    }
    if (e->id != TEM_NO_WORD)
        printf("\nN_w = %.6f   how often the word stays itself%s\n",
               tem_law_probability(e->law, e->id), e->after.mechanism != NULL ? " here" : "");
    if (e->id != TEM_NO_WORD && !explain_after_print_share(&e->after, e->id))
        return false;
    printf("%sS_w = %.1f   over how many words it is spread in effect, exp(entropy)\n",
           e->id == TEM_NO_WORD ? "\n" : "", tem_law_support(e->law));
    if (e->paper != NULL)
        print_paper(e);
    return true;
}

/* Prints a word as a JSON string. */
static bool print_json_string(const char *text, size_t length) {
    json_t *string = json_stringn(text, length);
    const bool done = string != NULL && json_dumpf(string, stdout, JSON_ENCODE_ANY) == 0;
    json_decref(string);
    return done;
}

/* Writes the structure itself and leaves only strings to jansson, which cannot write the decimals
 * of tem_law_decimal. */
static bool print_json(const explanation *e) {
    char decimal[DECIMAL_BYTES] = "0";
    tem_error error;
    fputs("{\"word\": ", stdout);
    bool done = print_json_string(e->word, e->length);
    printf(", \"mechanism\": \"%s\", \"epsilon\": %.17g, ", e->info.properties->name,
           e->info.epsilon);
    print_json_number("s", e->info.s, e->info.s_steps > 0);
    print_json_number("gamma", e->info.gamma, e->info.gamma_steps > 0);
    print_json_number("bound", e->info.bound, true);
    printf("\"n\": %u, \"excluded\": %s, \"certificate\": ", e->words,
           is_excluded(e, e->id) ? "true" : "false");
    printf(e->info.certificate[0] != '\0' ? "\"%s\",\n \"entries\": [" : "null,\n \"entries\": [",
           e->info.certificate);
    for (uint32_t i = 0; i < e->top && done; i++) {
        size_t length = 0;
        const char *word = tem_model_word(e->model, e->nearest[i], &length);
        fputs(i == 0 ? "\n  {\"word\": " : ",\n  {\"word\": ", stdout);
        done = print_json_string(word, length) &&
               tem_law_decimal(e->law, e->nearest[i], DIGITS, decimal, sizeof decimal, &error) ==
                   TEM_OK;
        fputs(", ", stdout);
        print_json_number("distance", distance_of(e, e->nearest[i]),
                          has_distance(e, e->nearest[i]));
        printf("\"probability\": %s}", decimal);
    }
    done = done && tem_law_outside_decimal(e->law, e->nearest, e->top, DIGITS, decimal,
                                           sizeof decimal, &error) == TEM_OK;
    printf("],\n \"tail\": {\"words\": %u, \"probability\": %s},\n", outputs_of(e) - e->top,
           decimal);
    if (e->id == TEM_NO_WORD)
        strcpy(decimal, "0");
    else
        done = done &&
               tem_law_decimal(e->law, e->id, DIGITS, decimal, sizeof decimal, &error) == TEM_OK;
    printf(" \"self\": %s", decimal);
    done =
        done && tem_law_support_decimal(e->law, DIGITS, decimal, sizeof decimal, &error) == TEM_OK;
    printf(", \"support\": %s, \"paper\": ", decimal);
    if (e->paper != NULL)
        printf("{\"self\": %.17g, \"support\": %.17g}",
               e->id == TEM_NO_WORD ? 0 : tem_law_probability(e->paper, e->id),
               tem_law_support(e->paper));
    else
        fputs("null", stdout);
    fputs(", \"language_model\": ", stdout);
    done = done && explain_after_print_json(&e->after, e->id);
    fputs("}", stdout);
    return done;
}

/* The law of the paper's mechanism at the same epsilon, with gamma from the same beta or given. */
static tem_law *paper_law(const explanation *e, tem_error *error) {
    const tem_mechanism_options options = {.epsilon = e->info.epsilon,
                                           .beta = e->info.beta,
                                           .gamma = e->info.beta > 0 ? 0 : e->info.gamma};
    tem_mechanism *mechanism = NULL;
    tem_law *law = NULL;
    if (tem_mechanism_create(e->model, &options, &mechanism, error) == TEM_OK &&
        tem_law_create(mechanism, e->id, DIGITS, &law, error) != TEM_OK)
        law = NULL;
    tem_mechanism_free(mechanism);
    return law;
}

static int compare_likely(const void *a, const void *b, void *law) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const double p = tem_law_probability(law, x), q = tem_law_probability(law, y);
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* Finds the likeliest outputs of a law that does not follow the distance. Returns false if there is
 * no memory. */
static bool sort_by_probability(explanation *e) {
    e->nearest = malloc(e->words * sizeof *e->nearest);
    if (e->nearest == NULL)
        return false;
    for (uint32_t id = 0; id < e->words; id++)
        e->nearest[id] = id;
    qsort_r(e->nearest, e->words, sizeof *e->nearest, compare_likely, (void *)e->law);
    while (e->top > 1 && tem_law_probability(e->law, e->nearest[e->top - 1]) <= 0)
        e->top--;
    return true;
}

/* Finds the nearest outputs: of the nearest words, those that are not excluded. Returns false if
 * there is no memory. */
static bool find_nearest(explanation *e) {
    if (!e->info.properties->is_exponential)
        return sort_by_probability(e);
    const uint32_t count = e->top + e->excluded;
    e->nearest = malloc(count * sizeof *e->nearest);
    if (e->nearest == NULL || tem_law_nearest(e->law, e->nearest, count, NULL) != TEM_OK)
        return false;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < e->top; i++)
        if (!is_excluded(e, e->nearest[i]))
            e->nearest[found++] = e->nearest[i];
    return true;
}

static int tell(explanation *e, bool json) {
    bool done = find_nearest(e);
    if (done && json)
        done = print_json(e);
    else if (done)
        done = print_text(e);
    if (!done)
        fputs("tem: out of memory, or the word is not valid UTF-8\n", stderr);
    free(e->nearest);
    return done ? EXIT_DONE : EXIT_FAILED;
}

/* The digits of the law: those that JSON shows, or fewer if the mechanism has fewer. */
static unsigned digits_of(const explanation *e) {
    const unsigned most = e->info.properties->law_digits;
    return most > 0 && most < DIGITS ? most : DIGITS;
}

/* Makes the law of e->id, in context if there is one. */
static tem_status make_law(const explanation *e, tem_law **law, tem_error *error) {
    if (e->after.mechanism == NULL)
        return tem_law_create(e->mechanism, e->id, digits_of(e), law, error);
    return tem_law_create_after(e->mechanism, e->after.ids, e->after.count, e->id, digits_of(e),
                                law, error);
}

/* Makes the laws of e->id. The caller frees them, also on failure. */
static int make_laws(explanation *e, tem_law **law, tem_law **paper) {
    tem_error error;
    const bool certified = e->info.certificate[0] != '\0';
    if (make_law(e, law, &error) != TEM_OK ||
        (certified && (*paper = paper_law(e, &error)) == NULL))
        return talk_error(&error);
    e->law = *law;
    e->paper = *paper;
    return EXIT_DONE;
}

/* Finds the word that the user typed. */
static int find_word(explanation *e) {
    tem_error error;
    size_t pieces = 0;
    if (e->word[strspn(e->word, " \t\r\n")] == '\0')
        return talk_usage("explain", "the word is empty: tem explain --epsilon E WORD");
    if (tem_model_pieces(e->model, e->word, e->length, &e->id, 1, &pieces, &error) != TEM_OK)
        return talk_error(&error);
    if (pieces == 0) /* punctuation, for which --punctuation word draws */
        e->id = tem_model_find(e->model, e->word, e->length);
    else if (pieces > 1)
        return talk_usage("explain",
                          "tem cuts this into %zu words; name each by itself: tem explain "
                          "--epsilon E WORD WORD",
                          pieces);
    return EXIT_DONE;
}

static int explain_one(explanation *e, bool json) {
    tem_law *law = NULL, *paper = NULL;
    int status = make_laws(e, &law, &paper);
    if (status == EXIT_DONE)
        status = tell(e, json);
    tem_law_free(paper);
    tem_law_free(law);
    return status;
}

/* ---- several words ---- */

/* Finds the likeliest outputs other than the word itself, the likeliest first; of equally likely
 * ones the one with the lower id. Returns their number. */
static uint32_t find_likeliest(const explanation *e, uint32_t ids[OTHERS]) {
    uint32_t count = 0;
    for (uint32_t y = 0; y < e->words; y++) {
        const double p = tem_law_probability(e->law, y);
        uint32_t at = count;
        if (y == e->id || p <= 0)
            continue;
        while (at > 0 && p > tem_law_probability(e->law, ids[at - 1]))
            at--;
        if (at == OTHERS)
            continue;
        count += count < OTHERS;
        for (uint32_t i = count - 1; i > at; i--)
            ids[i] = ids[i - 1];
        ids[at] = y;
    }
    return count;
}

static void print_table_row(const explanation *e) {
    uint32_t ids[OTHERS];
    const uint32_t count = find_likeliest(e, ids);
    size_t length = 0;
    const char *word = e->id == TEM_NO_WORD ? "" : tem_model_word(e->model, e->id, &length);
    if (e->id == TEM_NO_WORD)
        fputs("         -", stdout);
    else
        printf("  %8.6f", tem_law_probability(e->law, e->id));
    printf("  %10.2f  ", tem_law_support(e->law));
    words_print(word, length);
    if (e->id == TEM_NO_WORD) {
        fputs("an unknown word", stdout);
        print_near_word(e, " (", ")");
    }
    fputs(is_excluded(e, e->id) ? " (excluded): " : ": ", stdout);
    for (uint32_t i = 0; i < count; i++) {
        word = tem_model_word(e->model, ids[i], &length);
        fputs(i == 0 ? "" : ", ", stdout);
        words_print(word, length);
        printf(" %.2g", tem_law_probability(e->law, ids[i]));
    }
    putchar('\n');
}

static int explain_in_table(explanation *e) {
    tem_error error;
    tem_law *law = NULL;
    if (make_law(e, &law, &error) != TEM_OK)
        return talk_error(&error);
    e->law = law;
    print_table_row(e);
    tem_law_free(law);
    return EXIT_DONE;
}

static void print_table_head(const explanation *e, size_t count) {
    printf("%s words under %s%s, epsilon %g", talk_count(count),
           e->info.certificate[0] != '\0' ? "calibrated " : "", e->info.properties->name,
           e->info.epsilon);
    print_exponent(&e->info);
    explain_after_print(&e->after);
    printf("\n       N_w         S_w  word: its likeliest other outputs\n");
}

/* Words to explain: as the user typed them, or from a file. */
typedef struct explained_words {
    const char **typed;
    size_t typed_count;
    word_ids listed;
} explained_words;

static int name_word(explanation *e, const explained_words *words, size_t i) {
    if (i < words->typed_count) {
        e->word = words->typed[i];
        e->length = strlen(e->word);
        return find_word(e);
    }
    e->id = words->listed.ids[i - words->typed_count];
    e->word = tem_model_word(e->model, e->id, &e->length);
    return EXIT_DONE;
}

static int explain_several(explanation *e, const explained_words *words, bool json) {
    const size_t count = words->typed_count + words->listed.count;
    int status = EXIT_DONE;
    for (size_t i = 0; i < words->typed_count && status == EXIT_DONE; i++)
        status = name_word(e, words, i); /* refuse a word before anything is printed */
    if (status == EXIT_DONE && !json)
        print_table_head(e, count);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        status = name_word(e, words, i);
        if (json)
            fputs(i == 0 ? "[" : ",\n", stdout);
        if (status == EXIT_DONE)
            status = json ? explain_one(e, true) : explain_in_table(e);
    }
    if (json && status == EXIT_DONE)
        puts("]");
    else if (status == EXIT_DONE)
        puts("\nN_w: how often the word stays itself; S_w: over how many words it is spread in "
             "effect.");
    return status;
}

static int explain(explanation *e, uint64_t top, const explained_words *words, bool json) {
    tem_model_info model_info;
    tem_model_get_info(e->model, &model_info);
    tem_mechanism_get_info(e->mechanism, &e->info);
    e->words = model_info.words;
    for (uint32_t id = 0; id < e->words; id++)
        e->excluded += is_excluded(e, id);
    e->top = top < outputs_of(e) ? (uint32_t)top : outputs_of(e);
    if (words->typed_count != 1 || words->listed.count > 0)
        return explain_several(e, words, json);
    int status = name_word(e, words, 0);
    if (status == EXIT_DONE)
        status = explain_one(e, json);
    if (json && status == EXIT_DONE)
        putchar('\n');
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem explain --epsilon E WORD... [OPTIONS]\n"
         "\n"
         "Shows which words replace WORD, and how likely: the nearest outputs, all the others\n"
         "together, how often the word stays itself (N_w) and over how many words it is spread\n"
         "in effect (S_w). For several words it prints a table: N_w, S_w and the likeliest other\n"
         "outputs. tem computes these numbers from the exact law, not by drawing.\n"
         "With a language model, or a mechanism such as rank, the likeliest outputs stand in the\n"
         "place of the nearest.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem explain --epsilon 2 wonderful\n"
         "  tem explain --epsilon 2 wonderful --top 50 --json\n"
         "  tem explain --epsilon 2 the insulin chicago\n"
         "  tem explain --epsilon 2 --words names-of-illnesses.txt\n"
         "  tem explain --epsilon 2 movie --language-model l.temlm --after 'such a great'");
}

static int open_and_explain(const common_options *common, const mechanism_choice *choice,
                            const char *after, explained_words *words, const char *words_path,
                            uint64_t top, bool json) {
    const tem_run run = {.threads = (unsigned)common->threads};
    tem_model *model = trust_open_model(common->model, common->model_hash, &run);
    if (model == NULL)
        return EXIT_FAILED;
    int status = EXIT_FAILED;
    tem_mechanism *mechanism = mechanism_choose("explain", model, choice, &status);
    explanation e = {.model = model, .mechanism = mechanism};
    if (mechanism != NULL)
        status = explain_after_open(after, model, mechanism, choice, &e.after);
    if (status == EXIT_DONE && words_path != NULL)
        status = words_option_read(words_path, model, common->quiet, &words->listed);
    if (status == EXIT_DONE)
        status = explain(&e, top, words, json);
    explain_after_close(&e.after);
    word_ids_free(&words->listed);
    mechanism_close(mechanism);
    tem_model_free(model);
    return status;
}

int command_explain(int argc, char *const *argv) {
    common_options common = {0};
    mechanism_choice choice = {.allow_no_guarantee = true};
    uint64_t top = TOP_DEFAULT;
    bool json = false;
    const char *words_path = NULL, *after = NULL;
    const option_spec table[] = {
        MECHANISM_OPTIONS(choice),
        OWN_OPTIONS(choice),
        LANGUAGE_OPTION(choice),
        {"after", 0, OPTION_TEXT, &after, "WORDS",
         "with a language model: the law after these words of a released text (default:\n"
         "at the beginning of a document)",
         0, 0},
        {"words", 0, OPTION_FILE, &words_path, "FILE",
         "also the words of FILE, one per line: a table", 0, 0},
        {"top", 0, OPTION_COUNT, &top, "N",
         "show the N nearest outputs, or likeliest (default 10); not in a table", 1, TEM_WORDS_MAX},
        {"json", 0, OPTION_FLAG, &json, NULL,
         "print one JSON object; an array of them for several words", 0, 0},
        TRUSTED_MODEL_OPTIONS(common),
        COMMON_OPTIONS(common),
    };
    explained_words words = {.typed = calloc((size_t)argc, sizeof *words.typed)};
    char message[OPTION_MESSAGE_BYTES];
    int status = EXIT_DONE;
    if (words.typed == NULL) {
        fputs("tem: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (!options_parse(argc, argv, table, words.typed, (size_t)argc, &words.typed_count, message))
        status = talk_usage("explain", "%s", message);
    else if (common.help)
        print_help(table);
    else if (words.typed_count == 0 && words_path == NULL)
        status = talk_usage("explain", "which word? tem explain --epsilon E WORD");
    else if (choice.epsilon <= 0)
        status = mechanism_ask_epsilon("explain", choice.mechanism, choice.calibrated);
    else
        status = open_and_explain(&common, &choice, after, &words, words_path, top, json);
    free(words.typed);
    return status;
}
