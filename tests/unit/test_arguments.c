/* test_arguments.c - every call of the public headers refuses each argument that it needs and does
 * not get, one at a time, with TEM_ERR_ARGUMENT, and touches nothing; and every call that takes
 * options refuses those that it does not know. tests/check-abi makes sure that no call is left out
 * here. */
#include "command/tem_command.h"
#include "mech/model_mechanism.h"
#include "tem_adapt.h"
#include "tem_attack.h"
#include "tem_bag.h"
#include "tem_compare.h"
#include "tem_language.h"
#include "tem_picture.h"
#include "tem_report.h"
#include "tem_train.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A call with a missing argument must be refused with and without an error struct; the error has no
 * file, line or byte. */
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        tem_error said, *error = &said;                                                            \
        memset(&said, 0x55, sizeof said);                                                          \
        assert_int_equal(call, TEM_ERR_ARGUMENT);                                                  \
        assert_int_equal(said.status, TEM_ERR_ARGUMENT);                                           \
        assert_true(said.message[0] != '\0' && said.file[0] == '\0');                              \
        assert_true(said.line == 0 && said.byte == 0 && said.os_error == 0);                       \
        error = NULL;                                                                              \
        assert_int_equal(call, TEM_ERR_ARGUMENT);                                                  \
    } while (0)

enum { COUNT = 4 };
static const char *const words[COUNT] = {"a", "b", "c", "d"};
static const float values[COUNT] = {0, 1, 3, 7};
static const double distances[COUNT * COUNT] = {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0};

static const char no_hash[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static char never[64]; /* a file that no call may make */

static tem_vectors *vectors;
static tem_model *model;
static tem_mechanism *mechanism;
static tem_accountant *accountant;
static tem_prior *prior;
static tem_rng *rng;
static tem_law *law;
static tem_certificate *certificate;
static tem_channel *channel;

static int make_all(void **state) {
    (void)state;
    const tem_mechanism_options options = {.epsilon = 1};
    const tem_order_options any_order = {.list = 0};
    const tem_build_options with_order = {.order = &any_order};
    snprintf(never, sizeof never, "/tmp/tem-test-arguments-%ld", (long)getpid());
    setenv("XDG_STATE_HOME", "/dev/null", 1); /* nobody's list of trusted models */
    return tem_vectors_create(words, values, COUNT, 1, &vectors, NULL) != TEM_OK ||
           tem_model_build(vectors, &with_order, NULL, &model, NULL) != TEM_OK ||
           tem_mechanism_create(model, &options, &mechanism, NULL) != TEM_OK ||
           tem_accountant_create(model, NULL, NULL, &accountant, NULL) != TEM_OK ||
           tem_prior_create_zipf(model, 1, &prior, NULL) != TEM_OK ||
           tem_rng_create(&rng, NULL) != TEM_OK ||
           tem_law_create(mechanism, 0, 17, &law, NULL) != TEM_OK ||
           tem_channel_create(mechanism, NULL, &channel, NULL) != TEM_OK ||
           tem_accountant_calibrate(accountant, &(tem_calibration){.epsilon = 1}, NULL,
                                    &certificate, NULL, NULL) != TEM_OK;
}

static int free_all(void **state) {
    (void)state;
    tem_channel_free(channel);
    tem_certificate_free(certificate);
    tem_law_free(law);
    tem_rng_free(rng);
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    tem_vectors_free(vectors);
    unlink(never);
    return 0;
}

static void test_free_nothing(void **state) {
    (void)state;
    tem_channel_free(NULL);
    tem_law_free(NULL);
    tem_rng_free(NULL);
    tem_prior_free(NULL);
    tem_accountant_free(NULL);
    tem_learned_free(NULL);
    tem_mechanism_free(NULL);
    tem_model_free(NULL);
    tem_vectors_free(NULL);
    tem_certificate_free(NULL);
    tem_findings_free(NULL);
    tem_text_free(NULL);
    tem_texts_free(NULL);
}

static void test_names(void **state) {
    (void)state;
    tem_metric metric;
    tem_oov oov;
    tem_punctuation punctuation;
    tem_format format;
    tem_weights_kind kind_of_weights;
    tem_target target;
    tem_missing missing;
    tem_space prepared;
    tem_status status;
    REFUSED(tem_status_parse(NULL, &status, error));
    REFUSED(tem_status_parse("format", NULL, error));
    REFUSED(tem_missing_parse(NULL, &missing, error));
    REFUSED(tem_missing_parse("keep", NULL, error));
    REFUSED(tem_metric_parse(NULL, &metric, error));
    REFUSED(tem_metric_parse("euclidean", NULL, error));
    REFUSED(tem_space_parse(NULL, &prepared, error));
    REFUSED(tem_space_parse("raw", NULL, error));
    REFUSED(tem_oov_parse(NULL, &oov, error));
    REFUSED(tem_oov_parse("uniform", NULL, error));
    REFUSED(tem_punctuation_parse(NULL, &punctuation, error));
    REFUSED(tem_punctuation_parse("drop", NULL, error));
    REFUSED(tem_order_parse(NULL, &(tem_order){0}, error));
    REFUSED(tem_order_parse("kept", NULL, error));
    REFUSED(tem_order_parse("any", &(tem_order){0}, error));
    tem_style style = TEM_STYLE_SENTENCE;
    REFUSED(tem_style_parse(NULL, &style, error));
    REFUSED(tem_style_parse("words", NULL, error));
    REFUSED(tem_style_parse("song", &style, error));
    assert_true(style == TEM_STYLE_SENTENCE && strcmp(tem_style_name(0), "unknown") == 0);
    tem_repeat repeat = TEM_REPEAT_ONCE;
    REFUSED(tem_repeat_parse(NULL, &repeat, error));
    REFUSED(tem_repeat_parse("each", NULL, error));
    REFUSED(tem_repeat_parse("twice", &repeat, error));
    assert_true(repeat == TEM_REPEAT_ONCE && strcmp(tem_repeat_name(0), "unknown") == 0);
    tem_field_use use = TEM_FIELD_DROPPED;
    REFUSED(tem_field_use_parse(NULL, &use, error));
    REFUSED(tem_field_use_parse("private", NULL, error));
    REFUSED(tem_field_use_parse("kept", &use, error));
    assert_int_equal(use, TEM_FIELD_DROPPED);
    REFUSED(tem_format_parse(NULL, &format, error));
    REFUSED(tem_format_parse("csv", NULL, error));
    REFUSED(tem_weights_parse(NULL, &kind_of_weights, error));
    REFUSED(tem_weights_parse("tuned", NULL, error));
    REFUSED(tem_target_parse(NULL, &target, error));
    REFUSED(tem_target_parse("self", NULL, error));
    REFUSED(tem_kernel_force(NULL, error));
}

static void test_statistics_of_released_text(void **state) {
    (void)state;
    static const double counts[COUNT] = {1, 2, 3, 4}, members[COUNT + 1] = {1};
    const tem_expectation expected = {.prior = prior}, nothing = {0};
    const tem_estimate_options options = {.expected = expected}, no_prior = {.ratio = 2};
    double shares[COUNT + 1] = {7};
    tem_deconvolution how = {.steps = 1};
    tem_estimate out = {.share = 7};
    tem_channel *c = NULL;
    assert_int_equal(tem_channel_create(mechanism, NULL, &c, NULL), TEM_OK);
    REFUSED(tem_channel_deconvolve(NULL, &expected, counts, NULL, 1, NULL, &how, shares, error));
    REFUSED(tem_channel_deconvolve(c, NULL, counts, NULL, 1, NULL, &how, shares, error));
    REFUSED(tem_channel_deconvolve(c, &nothing, counts, NULL, 1, NULL, &how, shares, error));
    REFUSED(tem_channel_deconvolve(c, &expected, NULL, NULL, 1, NULL, &how, shares, error));
    REFUSED(tem_channel_deconvolve(c, &expected, counts, NULL, 0, NULL, &how, shares, error));
    REFUSED(tem_channel_deconvolve(c, &expected, counts, NULL, 1, NULL, NULL, shares, error));
    REFUSED(tem_channel_deconvolve(c, &expected, counts, NULL, 1, NULL, &how, NULL, error));
    REFUSED(tem_channel_estimate(NULL, &options, counts, 1, members, 1, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, NULL, counts, 1, members, 1, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, &no_prior, counts, 1, members, 1, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, &options, NULL, 1, members, 1, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, &options, counts, 0, members, 1, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, &options, counts, 1, NULL, 1, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, &options, counts, 1, members, 0, NULL, &out, error));
    REFUSED(tem_channel_estimate(c, &options, counts, 1, members, 1, NULL, NULL, error));
    assert_true(shares[0] == 7 && how.steps == 1 && out.share == 7);
    tem_channel_free(c);
}

static bool is_zero(const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (((const unsigned char *)bytes)[i] != 0)
            return false;
    return true;
}

static void test_ngram_calls(void **state) {
    (void)state;
    const char *const paths[] = {never}, *const no_path[] = {NULL};
    tem_ngram *made = NULL;
    tem_ngram_info info;
    const uint32_t history[] = {0};
    REFUSED(tem_ngram_train(NULL, paths, 1, 2, NULL, &made, error));
    REFUSED(tem_ngram_train(model, NULL, 1, 2, NULL, &made, error));
    REFUSED(tem_ngram_train(model, paths, 0, 2, NULL, &made, error));
    REFUSED(tem_ngram_train(model, no_path, 1, 2, NULL, &made, error));
    REFUSED(tem_ngram_train(model, paths, 1, 4, NULL, &made, error));
    REFUSED(tem_ngram_train(model, paths, 1, 2, NULL, NULL, error));
    REFUSED(tem_ngram_load(NULL, never, NULL, &made, error));
    REFUSED(tem_ngram_load(model, NULL, NULL, &made, error));
    REFUSED(tem_ngram_load(model, never, NULL, NULL, error));
    REFUSED(tem_ngram_save(NULL, never, TEM_OVERWRITE, NULL, error));
    FILE *file = fopen(never, "w");
    assert_true(file != NULL && fputs("a b a\n", file) >= 0 && fclose(file) == 0);
    assert_int_equal(tem_ngram_train(model, paths, 1, 2, NULL, &made, NULL), TEM_OK);
    unlink(never);
    REFUSED(tem_ngram_save(made, NULL, TEM_OVERWRITE, NULL, error));
    const tem_ngram *const parts[] = {made, NULL};
    const double shares[] = {1, 0, NAN};
    tem_ngram *other = NULL;
    REFUSED(tem_ngram_prune(NULL, 1, NULL, &other, error));
    REFUSED(tem_ngram_prune(made, 1, NULL, NULL, error));
    REFUSED(tem_ngram_prune(made, -1, NULL, &other, error));
    REFUSED(tem_ngram_prune(made, NAN, NULL, &other, error));
    REFUSED(tem_ngram_mix(NULL, shares, 1, NULL, &other, error));
    REFUSED(tem_ngram_mix(parts, NULL, 1, NULL, &other, error));
    REFUSED(tem_ngram_mix(parts, shares, 0, NULL, &other, error));
    REFUSED(tem_ngram_mix(parts, shares, 1, NULL, NULL, error));
    REFUSED(tem_ngram_mix(parts, shares, 2, NULL, &other, error));
    REFUSED(tem_ngram_mix(parts, shares + 1, 1, NULL, &other, error));
    REFUSED(tem_ngram_mix(parts, shares + 2, 1, NULL, &other, error));
    memset(&info, 0x55, sizeof info);
    tem_ngram_get_info(made, &info);
    assert_true(info.order == 2 && is_zero(info.reserved, sizeof info.reserved));
    tem_ngram_get_info(NULL, &info);
    tem_ngram_get_info(made, NULL);
    assert_true(is_zero(&info, sizeof info));
    assert_true(isnan(tem_ngram_probability(NULL, history, 1, 0)));
    assert_true(isnan(tem_ngram_probability(made, NULL, 1, 0)));
    assert_true(isnan(tem_ngram_probability(made, history, 1, COUNT)));
    assert_true(tem_ngram_probability(made, NULL, 0, 0) > 0);
    tem_ngram_free(made);
    tem_ngram_free(NULL);
}

static void test_attack_calls(void **state) {
    (void)state;
    const tem_attack_options options = {.expected = {.prior = prior}}, no_prior = {.beam = 2},
                             wide = {.expected = {.prior = prior}, .beam = TEM_BEAM_MAX + 1};
    const uint32_t word[] = {0};
    const uint64_t ends[] = {1};
    const tem_documents d = {.words = word, .ends = ends, .count = 1}, no_ends = {.count = 1},
                        no_words = {.ends = ends, .count = 1};
    tem_attack *none = NULL, *attack = NULL;
    tem_attacker kind = TEM_ATTACKER_WORD;
    uint32_t ids[COUNT] = {7};
    double numbers[COUNT + 1] = {7}, others[COUNT] = {7};
    REFUSED(tem_attack_create(NULL, &options, NULL, &none, error));
    REFUSED(tem_attack_create(mechanism, NULL, NULL, &none, error));
    REFUSED(tem_attack_create(mechanism, &no_prior, NULL, &none, error));
    REFUSED(tem_attack_create(mechanism, &wide, NULL, &none, error));
    REFUSED(tem_attack_create(mechanism, &options, NULL, NULL, error));
    const uint32_t two[] = {0, 1}, none_of_these[] = {0, COUNT}, unknown[] = {0, TEM_NO_WORD};
    const tem_attack_options drawing = {.expected = options.expected, .pairs = 5};
    REFUSED(tem_attack_create_from_pairs(NULL, two, two, 2, &options, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, NULL, two, 2, &options, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, two, NULL, 2, &options, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, two, two, 0, &options, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, two, two, 2, NULL, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, two, two, 2, &drawing, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, two, two, 2, &options, NULL, NULL, error));
    REFUSED(
        tem_attack_create_from_pairs(model, none_of_these, two, 2, &options, NULL, &none, error));
    REFUSED(
        tem_attack_create_from_pairs(model, two, none_of_these, 2, &options, NULL, &none, error));
    REFUSED(tem_attack_create_from_pairs(model, two, unknown, 2, &options, NULL, &none, error));
    assert_int_equal(tem_attack_create(mechanism, &options, NULL, &attack, NULL), TEM_OK);
    REFUSED(tem_attack_shares(NULL, numbers, error));
    REFUSED(tem_attack_shares(attack, NULL, error));
    REFUSED(tem_attack_guess(NULL, kind, &d, NULL, ids, numbers, error));
    REFUSED(tem_attack_guess(attack, (tem_attacker)0, &d, NULL, ids, numbers, error));
    REFUSED(tem_attack_guess(attack, (tem_attacker)99, &d, NULL, ids, numbers, error));
    REFUSED(tem_attack_guess(attack, kind, NULL, NULL, ids, numbers, error));
    REFUSED(tem_attack_guess(attack, kind, &no_ends, NULL, ids, numbers, error));
    REFUSED(tem_attack_guess(attack, kind, &no_words, NULL, ids, numbers, error));
    REFUSED(tem_attack_guess(attack, kind, &d, NULL, NULL, numbers, error));
    REFUSED(tem_attack_candidates(NULL, 0, 1, ids, numbers, others, error));
    REFUSED(tem_attack_candidates(attack, COUNT, 1, ids, numbers, others, error));
    REFUSED(tem_attack_candidates(attack, 0, 0, ids, numbers, others, error));
    REFUSED(tem_attack_candidates(attack, 0, COUNT + 1, ids, numbers, others, error));
    REFUSED(tem_attack_candidates(attack, 0, 1, NULL, numbers, others, error));
    REFUSED(tem_attack_candidates(attack, 0, 1, ids, NULL, others, error));
    REFUSED(tem_attack_candidates(attack, 0, 1, ids, numbers, NULL, error));
    REFUSED(tem_wilson_interval(2, 1, numbers, others, error));
    REFUSED(tem_wilson_interval(1, 1, NULL, others, error));
    REFUSED(tem_wilson_interval(1, 1, numbers, NULL, error));
    REFUSED(tem_attacker_parse(NULL, &kind, error));
    REFUSED(tem_attacker_parse("nobody", &kind, error));
    REFUSED(tem_attacker_parse("word", NULL, error));
    assert_string_equal(tem_attacker_name((tem_attacker)0), "unknown");
    for (int i = TEM_ATTACKER_ITSELF; i <= TEM_ATTACKER_TRIGRAM; i++) {
        assert_int_equal(tem_attacker_parse(tem_attacker_name((tem_attacker)i), &kind, NULL),
                         TEM_OK);
        assert_int_equal(kind, i);
    }
    assert_true(none == NULL && ids[0] == 7 && numbers[0] == 7 && others[0] == 7);
    tem_attack_free(attack);
    tem_attack_free(NULL);
}

static void test_context_calls(void **state) {
    (void)state;
    const uint32_t word[] = {0};
    const uint64_t ends[] = {1};
    const tem_context_wish wish = {.wanted = 0.5,
                                   .attack = {.expected = {.prior = prior}},
                                   .documents = {.words = word, .ends = ends, .count = 1}};
    tem_context_wish other = wish;
    tem_context_answer answer = {.epsilon = 7};
    REFUSED(tem_attack_choose(NULL, &wish, NULL, &answer, error));
    REFUSED(tem_attack_choose(model, NULL, NULL, &answer, error));
    REFUSED(tem_attack_choose(model, &wish, NULL, NULL, error));
    REFUSED(tem_attack_choose(model, &wish, NULL, &answer, error)); /* no n-gram model */
    other.wanted = 1;
    REFUSED(tem_attack_choose(model, &other, NULL, &answer, error));
    other = wish;
    other.attacker = (tem_attacker)99;
    REFUSED(tem_attack_choose(model, &other, NULL, &answer, error));
    other = wish;
    other.attack.expected.prior = NULL;
    REFUSED(tem_attack_choose(model, &other, NULL, &answer, error));
    other = wish;
    other.documents.count = 0;
    REFUSED(tem_attack_choose(model, &other, NULL, &answer, error));
    assert_true(answer.epsilon == 7);
}

static double one(void *context, uint32_t a, uint32_t b) {
    (void)context, (void)a, (void)b;
    return 1;
}

static void test_models(void **state) {
    (void)state;
    tem_vectors *no_vectors = NULL;
    tem_model *no_model = NULL;
    char path[64];
    int is_own = 7;
    const char *const folders[] = {NULL};
    float vector[1];
    char hash[65];
    tem_dist median = 7;
    tem_neighbours near;
    REFUSED(tem_vectors_load(NULL, 0, NULL, &no_vectors, error));
    REFUSED(tem_vectors_load("/dev/null", 0, NULL, NULL, error));
    REFUSED(tem_vectors_create(NULL, values, COUNT, 1, &no_vectors, error));
    REFUSED(tem_vectors_create(words, NULL, COUNT, 1, &no_vectors, error));
    REFUSED(tem_vectors_create(words, values, COUNT, 1, NULL, error));
    REFUSED(tem_model_build(NULL, NULL, NULL, &no_model, error));
    REFUSED(tem_model_build(vectors, NULL, NULL, NULL, error));
    REFUSED(tem_model_build_function(NULL, COUNT, one, NULL, 0, NULL, &no_model, error));
    REFUSED(tem_model_build_function(words, COUNT, NULL, NULL, 0, NULL, &no_model, error));
    REFUSED(tem_model_build_function(words, COUNT, one, NULL, 0, NULL, NULL, error));
    REFUSED(tem_model_build_function(words, 1, one, NULL, 0, NULL, &no_model, error));
    REFUSED(tem_model_build_matrix(NULL, COUNT, distances, 0, NULL, &no_model, error));
    REFUSED(tem_model_build_matrix(words, COUNT, NULL, 0, NULL, &no_model, error));
    REFUSED(tem_model_build_matrix(words, COUNT, distances, 0, NULL, NULL, error));
    REFUSED(tem_model_save(NULL, never, TEM_KEEP_EXISTING, NULL, error));
    REFUSED(tem_model_save(model, NULL, TEM_KEEP_EXISTING, NULL, error));
    REFUSED(tem_model_open(NULL, &no_model, error));
    REFUSED(tem_model_open("/dev/null", NULL, error));
    REFUSED(tem_model_find_default(NULL, 1, path, sizeof path, &is_own, error));
    REFUSED(tem_model_find_default(folders, 1, path, sizeof path, &is_own, error));
    REFUSED(tem_model_find_default(folders, 0, NULL, sizeof path, &is_own, error));
    REFUSED(tem_model_find_default(folders, 0, path, sizeof path, NULL, error));
    REFUSED(tem_model_check(NULL, NULL, error));
    REFUSED(tem_model_verify(NULL, NULL, error));
    REFUSED(tem_model_save(model, never, (tem_overwrite)2, NULL, error));
    REFUSED(tem_model_trust(NULL, NULL, NULL, error));
    REFUSED(tem_model_accept(NULL, NULL, 1, NULL, error));
    REFUSED(tem_model_hash(NULL, NULL, hash, error));
    REFUSED(tem_model_hash(model, NULL, NULL, error));
    REFUSED(tem_model_nearest_median(NULL, &median, error));
    REFUSED(tem_model_nearest_median(model, NULL, error));
    uint32_t ranked = 7;
    tem_order_info order;
    tem_model_get_order(NULL, &order);
    assert_true(order.outputs == 0 && order.hash[0] == '\0');
    tem_model_get_order(model, NULL);
    REFUSED(tem_model_ranked(NULL, 0, 0, 1, &ranked, error));
    REFUSED(tem_model_ranked(model, COUNT, 0, 1, &ranked, error));
    REFUSED(tem_model_ranked(model, 0, 0, 1, NULL, error));
    tem_model_get_order(model, &order);
    REFUSED(tem_model_ranked(model, 0, 0, order.outputs + 1, &ranked, error));
    REFUSED(tem_model_ranked(model, 0, UINT32_MAX, 1, &ranked, error));
    assert_int_equal(ranked, 7);
    assert_int_equal(tem_model_ranked(model, 1, 0, 1, &ranked, NULL), TEM_OK);
    assert_int_equal(ranked, 1);
    REFUSED(tem_model_check_grid(NULL, 1, error));
    REFUSED(tem_model_vector(NULL, 0, vector, error));
    REFUSED(tem_model_vector(model, 0, NULL, error));
    REFUSED(tem_model_vector(model, COUNT, vector, error));
    REFUSED(tem_model_neighbours(NULL, 0, &near, error));
    REFUSED(tem_model_neighbours(model, 0, NULL, error));
    REFUSED(tem_model_neighbours(model, COUNT, &near, error));
    assert_true(no_vectors == NULL && no_model == NULL && is_own == 7 && median == 7);
    assert_int_not_equal(access(never, F_OK), 0);
}

/* ---- messages count words from 1 ---- */

static void refuse_matrix(const double *matrix, const char *message) {
    tem_model *no_model = NULL;
    tem_error error;
    assert_int_not_equal(tem_model_build_matrix(words, COUNT, matrix, 0, NULL, &no_model, &error),
                         TEM_OK);
    assert_non_null(strstr(error.message, message));
    assert_null(no_model);
}

static void test_words_count_from_1(void **state) {
    (void)state;
    const char *const holes[COUNT] = {"a", "b", NULL, "d"};
    double matrix[COUNT * COUNT];
    tem_error error;
    memcpy(matrix, distances, sizeof matrix);
    matrix[COUNT * COUNT - 1] = 1;
    refuse_matrix(matrix, "the distance of word 4 to itself is not 0");
    matrix[COUNT * COUNT - 1] = 0;
    matrix[1] = 2;
    refuse_matrix(matrix, "words 2 and 1 have different distances");
    matrix[1] = matrix[COUNT] = -1;
    refuse_matrix(matrix, "the distance of words 2 and 1 is not within");
    matrix[1] = matrix[COUNT] = 2.5;
    refuse_matrix(matrix, "words 1, 2 and 3 break the triangle inequality");
    assert_int_equal(
        tem_model_build_function(holes, COUNT, one, NULL, 0, NULL, &(tem_model *){NULL}, &error),
        TEM_ERR_ARGUMENT);
    assert_string_equal(error.message, "word 3 is NULL");
}

static const tem_mechanism_properties *find_properties(const char *name) {
    unsigned i = 0;
    while (strcmp(tem_mechanism_at(i)->name, name) != 0)
        i++;
    return tem_mechanism_at(i);
}

/* Creates a mechanism with this value of one parameter, and epsilon 1 if it is another. */
static tem_status try_parameter(const char *name, const char *parameter, double value) {
    const tem_parameter_value own[] = {{parameter, value}, {NULL, 0}};
    static const unsigned char listed[COUNT] = {1, 1};
    tem_mechanism_options options = {.mechanism = name, .epsilon = 1, .allow_no_guarantee = 1};
    tem_mechanism *made = NULL;
    options.listed = find_properties(name)->list != NULL ? listed : NULL;
    if (strcmp(parameter, "epsilon") == 0)
        options.epsilon = value;
    else if (strcmp(parameter, "beta") == 0)
        options.beta = value;
    else if (strcmp(parameter, "gamma") == 0)
        options.gamma = value;
    else
        options.numbers = own;
    const tem_status status = tem_mechanism_create(model, &options, &made, NULL);
    tem_mechanism_free(made);
    return status;
}

/* The ranges that a mechanism states are true: nothing outside is accepted. The ends of epsilon's
 * are, where they are numbers. */
static void test_parameters(void **state) {
    (void)state;
    for (unsigned i = 0; tem_mechanism_at(i) != NULL; i++) {
        const tem_mechanism_properties *m = tem_mechanism_at(i);
        int has_epsilon = 0, has_gamma = 0;
        assert_non_null(m->parameters);
        for (const tem_parameter *p = m->parameters; p->name != NULL; p++) {
            assert_true(p->meaning != NULL && p->least < p->most);
            has_epsilon |= strcmp(p->name, "epsilon") == 0;
            has_gamma |= strcmp(p->name, "gamma") == 0;
            assert_int_not_equal(try_parameter(m->name, p->name, nextafter(p->least, -1)), TEM_OK);
            assert_int_not_equal(try_parameter(m->name, p->name, p->most * 1.001), TEM_OK);
            assert_int_not_equal(try_parameter(m->name, p->name, NAN), TEM_OK);
            if (p->usual > 0)
                assert_int_equal(try_parameter(m->name, p->name, p->usual), TEM_OK);
        }
        assert_true(has_epsilon && has_gamma == m->takes_gamma);
    }
    assert_int_equal(try_parameter("em", "epsilon", 0x1p-18), TEM_OK);
    assert_int_equal(try_parameter("em", "epsilon", 0x1p23), TEM_OK);
    assert_int_equal(try_parameter("tem", "epsilon", 0x1p23), TEM_OK);
    assert_int_equal(try_parameter("tem", "gamma", 1), TEM_OK);
}

/* A mechanism that takes no weights or certificate refuses them. */
static void test_options_not_taken(void **state) {
    (void)state;
    static const uint32_t ones[COUNT] = {1, 1, 1};
    const tem_mechanism_options weighted = {.mechanism = "madlib", .epsilon = 50, .weights = ones};
    tem_mechanism *made = NULL;
    tem_error error;
    assert_int_equal(tem_mechanism_create(model, &weighted, &made, &error), TEM_ERR_ARGUMENT);
    assert_string_equal(error.message, "the mechanism madlib takes no output weights");
    assert_null(made);
}

/* PRIVACY: a mechanism without a guarantee in the model's metric is made only if the caller allows
 * it. */
static void test_no_guarantee_is_refused(void **state) {
    (void)state;
    const tem_guarantee refused[] = {TEM_GUARANTEE_NONE, TEM_GUARANTEE_OTHER};
    mechanism_ops ops = mechanism_madlib;
    tem_mechanism_options options = {.epsilon = 50};
    tem_mechanism *made = NULL;
    tem_error error;
    assert_int_equal(mechanism_make(model, &ops, &options, &made, &error), TEM_OK);
    tem_mechanism_free(made);
    for (size_t i = 0; i < 2; i++) {
        ops.properties.guarantee = refused[i];
        options.allow_no_guarantee = 0;
        made = NULL;
        assert_int_equal(mechanism_make(model, &ops, &options, &made, &error), TEM_ERR_ARGUMENT);
        assert_non_null(strstr(error.message, "has no guarantee in the model's metric"));
        options.allow_no_guarantee = 1;
        assert_int_equal(mechanism_make(model, &ops, &options, &made, &error), TEM_OK);
        assert_non_null(tem_job_why_not_private(made, &(tem_job){0}));
        tem_mechanism_free(made);
    }
}

static const tem_parameter own_parameters[] = {
    {.name = "epsilon", .most = INFINITY},
    {.name = "lambda", .least = 0.25, .most = 1, .usual = 0.5},
    {.name = NULL}};

/* Puts what it was given where the test finds it. */
static double given_lambda;
static unsigned char given_list;
static tem_status init_own(void *made, const mechanism_setup *setup, double *beta,
                           tem_error *error) {
    given_lambda = mechanism_number(setup, "lambda");
    given_list = setup->listed[1];
    return mechanism_madlib.init(made, setup, beta, error);
}

/* A mechanism gets its own numbers and its list, and nothing else is taken for them. */
static void test_own_numbers(void **state) {
    (void)state;
    static const unsigned char listed[COUNT] = {0, 1};
    tem_parameter_value numbers[] = {{"lambda", 0.75}, {NULL, 0}};
    mechanism_ops ops = mechanism_madlib;
    tem_mechanism_options options = {.epsilon = 50, .listed = listed};
    tem_mechanism *made = NULL;
    ops.init = init_own;
    ops.properties.parameters = own_parameters;
    ops.properties.list = "some words";
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_OK);
    assert_true(given_lambda == 0.5 && given_list == 1);
    tem_mechanism_free(made);
    made = NULL;
    options.numbers = numbers;
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_OK);
    assert_true(given_lambda == 0.75);
    tem_mechanism_info info;
    tem_mechanism_get_info(made, &info);
    assert_memory_equal(info.numbers, "lambda=0.75, list=", 18);
    assert_int_equal(strlen(info.numbers), 18 + 16);
    tem_mechanism_free(made);
    made = NULL;
    const double outside[] = {nextafter(0.25, 0), nextafter(1, 2), NAN, -INFINITY};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        numbers[0].value = outside[i];
        assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_ERR_RANGE);
    }
    numbers[0] = (tem_parameter_value){"epsilon", 50}; /* it has a field of its own */
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_ERR_ARGUMENT);
    const tem_parameter_value twice[] = {{"lambda", 0.5}, {"lambda", 0.75}, {NULL, 0}};
    options.numbers = twice;
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_ERR_ARGUMENT);
    options.numbers = numbers;
    numbers[0] = (tem_parameter_value){"mu", 0.5};
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_ERR_ARGUMENT);
    options.numbers = NULL;
    options.listed = NULL;
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_ERR_ARGUMENT);
    ops.properties.list = NULL;
    ops.init = mechanism_madlib.init;
    options.listed = listed;
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_ERR_ARGUMENT);
    assert_null(made);
}

/* P(y | w) = 1/COUNT. */
static tem_status row_of_ones(const void *made, uint32_t word, double *probabilities,
                              tem_error *error) {
    (void)made, (void)word, (void)error;
    for (uint32_t y = 0; y < COUNT; y++)
        probabilities[y] = 1.0 / COUNT;
    return TEM_OK;
}

/* A law by rows can be explained, to as many digits as it has, and neither audited nor inverted. */
static void test_law_by_rows(void **state) {
    (void)state;
    mechanism_ops ops = mechanism_madlib;
    const tem_mechanism_options options = {.epsilon = 50};
    tem_mechanism *made = NULL;
    tem_law *found = NULL;
    tem_channel *inverted = NULL;
    double self = 0;
    ops.row = row_of_ones;
    ops.properties.law_digits = MECHANISM_ROW_DIGITS;
    assert_int_equal(mechanism_make(model, &ops, &options, &made, NULL), TEM_OK);
    const unsigned most = MECHANISM_ROW_DIGITS;
    assert_int_equal(tem_law_create(made, 0, most + 1, &found, NULL), TEM_ERR_RANGE);
    assert_int_equal(tem_law_create(made, 1, most, &found, NULL), TEM_OK);
    assert_true(tem_law_probability(found, 0) == 1.0 / COUNT);
    assert_true(fabs(tem_law_support(found) - COUNT) < 1e-12);
    assert_int_equal(tem_law_distance(found, 1), 0);
    assert_int_equal(tem_mechanism_self(made, 2, &self, NULL), TEM_OK);
    assert_true(self == 1.0 / COUNT);
    assert_int_equal(tem_channel_create(made, NULL, &inverted, NULL), TEM_ERR_UNSUPPORTED);
    tem_law_free(found);
    tem_mechanism_free(made);
}

static const tem_parameter too_many[] = {
    {.name = "epsilon"}, {.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"},
    {.name = "e"},       {.name = "f"}, {.name = "g"}, {.name = "h"}, {.name = NULL}};

static void assert_faulty(mechanism_ops ops) {
    assert_non_null(mechanism_fault(&ops));
}

/* A mechanism that leaves something out, or whose properties contradict each other, has a fault.
 * Those of the library have none. */
static void test_faulty_mechanisms(void **state) {
    (void)state;
    mechanism_ops ops = mechanism_tem;
    for (unsigned i = 0; mechanism_at(i) != NULL; i++)
        assert_null(mechanism_fault(mechanism_at(i)));
    assert_faulty((mechanism_ops){.state_bytes = 1});
    ops.free = NULL;
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.properties.name = "te\"m";
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.draw = NULL;
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.init = NULL;
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.properties.parameters = NULL;
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.properties.claim = NULL;
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.properties.caveat = "no bound";
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.properties.unit = NULL;
    assert_faulty(ops);
    ops.properties.unit = "per mile";
    assert_faulty(ops);
    ops = mechanism_tem;
    ops.form = NULL;
    assert_faulty(ops);
    ops.properties.guarantee = TEM_GUARANTEE_NONE; /* it still says that it has a law */
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.properties.guarantee = TEM_GUARANTEE_EXACT;
    assert_faulty(ops);
    ops.properties.caveat = NULL; /* it has no exponential law */
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.properties.takes_weights = 1;
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.row = row_of_ones;
    ops.properties.law_digits = MECHANISM_ROW_DIGITS;
    assert_null(mechanism_fault(&ops));
    ops.properties.law_digits++;
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.properties.law_digits = 1;
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.column = mechanism_diffractor.column; /* it has no rows */
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.properties.parameters = too_many;
    assert_faulty(ops);
    ops = mechanism_madlib;
    ops.properties.guarantee = (tem_guarantee)9;
    assert_faulty(ops);
}

static tem_status draw_nothing(const void *made, const uint32_t *inputs, size_t count,
                               tem_rng *random, uint32_t *out, tem_error *error) {
    (void)made, (void)inputs, (void)random, (void)error;
    for (size_t i = 0; i < count; i++)
        out[i] = COUNT;
    return TEM_OK;
}

static tem_status init_without_certificate(void *made, const mechanism_setup *setup, double *beta,
                                           tem_error *error) {
    mechanism_setup other = *setup;
    other.certified = NULL;
    return mechanism_tem.init(made, &other, beta, error);
}

static tem_status make_from(const tem_model *from, const mechanism_ops *ops,
                            const tem_certificate *certified, tem_mechanism **made) {
    tem_certificate_info info;
    tem_certificate_get_info(certified, &info);
    const tem_mechanism_options options = {.epsilon = certified == NULL ? 1 : info.epsilon,
                                           .certificate = certified};
    return mechanism_make(from, ops, &options, made, NULL);
}

/* A mechanism that does not keep to what it says is refused: when it is made, or when it draws. */
static void test_lying_mechanisms(void **state) {
    (void)state;
    const tem_build_options l1 = {.metric = TEM_L1};
    static const tem_parameter from_two[] = {{.name = "epsilon", .least = 2, .most = 3},
                                             {.name = NULL}};
    mechanism_ops ops = mechanism_tem;
    tem_mechanism *made = NULL;
    tem_model *other_metric = NULL;
    tem_error error;
    char *text = NULL;
    size_t bytes = 0;
    uint32_t drawn = 0;
    ops.draw = draw_nothing;
    assert_int_equal(make_from(model, &ops, NULL, &made), TEM_OK);
    assert_int_equal(tem_mechanism_draw(made, rng, 0, &drawn, NULL), TEM_ERR_DAMAGED);
    assert_int_equal(
        tem_privatize_text(made, NULL, rng, "a b", 3, NULL, &text, &bytes, NULL, &error),
        TEM_ERR_DAMAGED);
    assert_string_equal(error.message, "the mechanism tem drew a word that is no output");
    assert_null(text);
    tem_mechanism_free(made);
    made = NULL;
    assert_int_equal(make_from(model, &mechanism_tem, certificate, &made), TEM_OK);
    tem_mechanism_free(made);
    made = NULL;
    ops = mechanism_tem;
    ops.init = init_without_certificate;
    assert_int_equal(make_from(model, &ops, certificate, &made), TEM_ERR_CERTIFICATE);
    ops = mechanism_tem;
    ops.properties.parameters = from_two;
    assert_int_equal(make_from(model, &ops, NULL, &made), TEM_ERR_RANGE);
    ops = mechanism_tem;
    ops.properties.claim = NULL;
    assert_int_equal(make_from(model, &ops, NULL, &made), TEM_ERR_UNSUPPORTED);
    ops = mechanism_tem;
    ops.properties.needs_metric = TEM_EUCLIDEAN;
    assert_int_equal(tem_model_build(vectors, &l1, NULL, &other_metric, NULL), TEM_OK);
    assert_int_equal(make_from(other_metric, &ops, NULL, &made), TEM_ERR_UNSUPPORTED);
    assert_null(made);
    tem_model_free(other_metric);
}

static void test_mechanisms(void **state) {
    (void)state;
    const tem_mechanism_options options = {.epsilon = 1};
    tem_mechanism *no_mechanism = NULL;
    tem_law *no_law = NULL;
    uint32_t ids[COUNT] = {0}, drawn[COUNT] = {77};
    double number = 7;
    char text[64] = "";
    REFUSED(tem_rng_create(NULL, error));
    REFUSED(tem_rng_create_insecure(1, 1, NULL, error));
    REFUSED(tem_mechanism_create(NULL, &options, &no_mechanism, error));
    REFUSED(tem_mechanism_create(model, NULL, &no_mechanism, error));
    REFUSED(tem_mechanism_create(model, &options, NULL, error));
    REFUSED(tem_mechanism_draw(NULL, rng, 0, drawn, error));
    REFUSED(tem_mechanism_draw(mechanism, NULL, 0, drawn, error));
    REFUSED(tem_mechanism_draw(mechanism, rng, 0, NULL, error));
    REFUSED(tem_mechanism_draw(mechanism, rng, COUNT, drawn, error));
    REFUSED(tem_mechanism_draw_many(NULL, rng, ids, drawn, 1, error));
    REFUSED(tem_mechanism_draw_many(mechanism, NULL, ids, drawn, 1, error));
    REFUSED(tem_mechanism_draw_many(mechanism, rng, NULL, drawn, 1, error));
    REFUSED(tem_mechanism_draw_many(mechanism, rng, ids, NULL, 1, error));
    assert_int_equal(tem_mechanism_draw_many(mechanism, rng, NULL, NULL, 0, NULL), TEM_OK);
    REFUSED(tem_mechanism_self(NULL, 0, &number, error));
    REFUSED(tem_mechanism_self(mechanism, 0, NULL, error));
    REFUSED(tem_mechanism_self(mechanism, COUNT, &number, error));
    REFUSED(tem_mechanism_self_quantile(NULL, 0.5, &number, error));
    REFUSED(tem_mechanism_self_quantile(mechanism, 0.5, NULL, error));
    REFUSED(tem_mechanism_self_quantile(mechanism, 0, &number, error));
    REFUSED(tem_mechanism_self_quantile(mechanism, 1.5, &number, error));
    REFUSED(tem_mechanism_self_median(NULL, &number, error));
    REFUSED(tem_mechanism_self_median(mechanism, NULL, error));
    REFUSED(tem_law_create(NULL, 0, 17, &no_law, error));
    REFUSED(tem_law_create(mechanism, 0, 17, NULL, error));
    REFUSED(tem_law_create(mechanism, COUNT, 17, &no_law, error));
    REFUSED(tem_law_create(mechanism, 0, 0, &no_law, error));
    REFUSED(tem_law_create(mechanism, 0, TEM_LAW_DIGITS_MAX + 1, &no_law, error));
    REFUSED(tem_law_create_after(NULL, NULL, 0, 0, 17, &no_law, error));
    REFUSED(tem_law_create_after(mechanism, NULL, 1, 0, 17, &no_law, error));
    REFUSED(tem_law_create_after(mechanism, NULL, 0, 0, 17, NULL, error));
    REFUSED(tem_law_create_after(mechanism, NULL, 0, COUNT, 17, &no_law, error));
    REFUSED(tem_law_create_after(mechanism, NULL, 0, 0, 0, &no_law, error));
    REFUSED(tem_law_create_after(mechanism, NULL, 0, 0, 17, &no_law, error)); /* no context */
    REFUSED(tem_law_decimal(NULL, 0, 17, text, sizeof text, error));
    REFUSED(tem_law_decimal(law, 0, 17, NULL, sizeof text, error));
    REFUSED(tem_law_decimal(law, COUNT, 17, text, sizeof text, error));
    REFUSED(tem_law_decimal(law, 0, 0, text, sizeof text, error));
    REFUSED(tem_law_decimal(law, 0, 17, text, 17 + 31, error));
    REFUSED(tem_law_outside_decimal(NULL, ids, 1, 17, text, sizeof text, error));
    REFUSED(tem_law_outside_decimal(law, NULL, 1, 17, text, sizeof text, error));
    REFUSED(tem_law_outside_decimal(law, ids, 1, 17, NULL, sizeof text, error));
    REFUSED(tem_law_outside_decimal(law, (uint32_t[]){COUNT}, 1, 17, text, sizeof text, error));
    REFUSED(tem_law_support_decimal(NULL, 17, text, sizeof text, error));
    REFUSED(tem_law_support_decimal(law, 17, NULL, sizeof text, error));
    REFUSED(tem_law_nearest(NULL, ids, 1, error));
    REFUSED(tem_law_nearest(law, NULL, 1, error));
    REFUSED(tem_law_nearest(law, ids, 0, error));
    REFUSED(tem_law_nearest(law, ids, COUNT + 1, error));
    assert_int_equal(tem_law_decimal(law, 0, 17, text, 17 + 32, NULL), TEM_OK);
    assert_true(no_mechanism == NULL && no_law == NULL && drawn[0] == 77);
    assert_true(number >= 7 && number <= 7);
}

static void test_texts(void **state) {
    (void)state;
    char *out = NULL;
    size_t bytes = 7, count = 7;
    uint32_t ids[1], unreachable = 7;
    const tem_job no_inputs = {.input_count = 1}, ledger = {.ledger = never}, none = {0};
    const tem_counts counts = {.words = 1};
    const tem_balance balance = {.spent = 1};
    const char *const hole[] = {NULL};
    const tem_text_input input = {.text = "a", .bytes = 1};
    tem_texts *texts = NULL;
    const tem_job no_input = {.inputs = hole, .input_count = 1};
    const tem_ids_input document = {.ids = &(uint32_t){0}, .count = 1}, no_ids = {.count = 1};
    REFUSED(tem_privatize_text(NULL, NULL, rng, "a", 1, NULL, &out, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, NULL, "a", 1, NULL, &out, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, rng, NULL, 1, NULL, &out, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, rng, "a", 1, NULL, NULL, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, rng, "a", 1, NULL, &out, NULL, NULL, error));
    REFUSED(tem_model_pieces(NULL, "a", 1, ids, 1, &count, error));
    REFUSED(tem_model_pieces(model, NULL, 1, ids, 1, &count, error));
    REFUSED(tem_model_pieces(model, "a", 1, NULL, 1, &count, error));
    REFUSED(tem_model_pieces(model, "a", 1, ids, 1, NULL, error));
    REFUSED(tem_model_find_token(NULL, "a", 1, ids, error));
    REFUSED(tem_model_find_token(model, NULL, 1, ids, error));
    REFUSED(tem_model_find_token(model, "a", 1, NULL, error));
    REFUSED(tem_model_count_unreachable(NULL, &unreachable, error));
    REFUSED(tem_model_count_unreachable(model, NULL, error));
    REFUSED(tem_privatize_files(NULL, &no_inputs, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_files(mechanism, NULL, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_files(mechanism, &no_inputs, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_files(mechanism, &no_input, NULL, NULL, NULL, NULL, error));
    const tem_job no_field = {
        .format = TEM_FORMAT_CSV, .field = "a", .more_fields = hole, .more_field_count = 1};
    const tem_job no_dropped = {.format = TEM_FORMAT_CSV, .field = "a", .dropped_count = 1};
    REFUSED(tem_privatize_files(mechanism, &no_field, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_files(mechanism, &no_dropped, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_texts(NULL, NULL, &input, 1, NULL, &texts, NULL, NULL, error));
    REFUSED(tem_privatize_texts(mechanism, NULL, NULL, 1, NULL, &texts, NULL, NULL, error));
    REFUSED(tem_privatize_texts(mechanism, NULL, &input, 1, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_ids(NULL, NULL, &document, 1, NULL, ids, NULL, NULL, error));
    REFUSED(tem_privatize_ids(mechanism, NULL, NULL, 1, NULL, ids, NULL, NULL, error));
    REFUSED(tem_privatize_ids(mechanism, NULL, &document, 1, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_ids(mechanism, NULL, &no_ids, 1, NULL, ids, NULL, NULL, error));
    REFUSED(tem_report_json(NULL, &none, &counts, NULL, NULL, &out, &bytes, error));
    REFUSED(tem_report_json(mechanism, NULL, &counts, NULL, NULL, &out, &bytes, error));
    REFUSED(tem_report_json(mechanism, &none, NULL, NULL, NULL, &out, &bytes, error));
    REFUSED(tem_report_json(mechanism, &none, &counts, &balance, NULL, &out, &bytes, error));
    REFUSED(tem_report_json(mechanism, &none, &counts, NULL, NULL, NULL, &bytes, error));
    REFUSED(tem_report_json(mechanism, &none, &counts, NULL, NULL, &out, NULL, error));
    REFUSED(tem_job_charge(NULL, &ledger, NULL, 0, NULL, NULL, error));
    REFUSED(tem_job_charge(mechanism, NULL, NULL, 0, NULL, NULL, error));
    REFUSED(tem_job_charge(mechanism, &none, NULL, 0, NULL, NULL, error));
    REFUSED(tem_job_charge(mechanism, &ledger, NULL, 1, NULL, NULL, error));
    assert_true(out == NULL && bytes == 7 && count == 7 && unreachable == 7 && texts == NULL);
    /* Arguments that may be NULL. */
    assert_int_equal(
        tem_privatize_text(mechanism, NULL, rng, NULL, 0, NULL, &out, &bytes, NULL, NULL), TEM_OK);
    assert_true(out != NULL && bytes == 0 && out[0] == '\0');
    tem_text_free(out);
    assert_int_equal(tem_model_pieces(model, NULL, 0, NULL, 0, &count, NULL), TEM_OK);
    assert_int_equal(count, 0);
}

static void test_accounts(void **state) {
    (void)state;
    tem_accountant *no_accountant = NULL;
    tem_prior *no_prior = NULL;
    tem_certificate *no_certificate = NULL;
    tem_certificate_info info;
    tem_audit audit;
    double losses[2];
    tem_unadapted unadapted = {.loss = 7};
    tem_summary summary;
    tem_point point, points[TEM_CURVE_MAX];
    uint32_t count = 7;
    int has = 7;
    const tem_calibration wanted = {.epsilon = 1, .weights = TEM_WEIGHTS_EQUAL};
    const tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.5, .prior = prior};
    const tem_wish no_words = {.target = TEM_TARGET_SELF, .wanted = 0.5};
    REFUSED(tem_accountant_create(NULL, NULL, NULL, &no_accountant, error));
    REFUSED(tem_accountant_create(model, NULL, NULL, NULL, error));
    REFUSED(tem_accountant_audit(NULL, mechanism, NULL, &audit, error));
    REFUSED(tem_accountant_audit(accountant, NULL, NULL, &audit, error));
    REFUSED(tem_accountant_audit(accountant, mechanism, NULL, NULL, error));
    tem_pair_loss of_pair;
    REFUSED(tem_pair_loss_make(NULL, 0, 1, &of_pair, error));
    REFUSED(tem_pair_loss_make(mechanism, COUNT, 1, &of_pair, error));
    REFUSED(tem_pair_loss_make(mechanism, 0, COUNT, &of_pair, error));
    REFUSED(tem_pair_loss_make(mechanism, 0, 1, NULL, error));
    tem_form_audit by_form;
    REFUSED(tem_form_audit_make(NULL, NULL, &by_form, error));
    REFUSED(tem_form_audit_make(mechanism, NULL, NULL, error));
    tem_context_exposure exposure;
    REFUSED(tem_context_exposure_measure(NULL, "-", 0, NULL, &exposure, NULL, 0, NULL, error));
    REFUSED(
        tem_context_exposure_measure(mechanism, NULL, 0, NULL, &exposure, NULL, 0, NULL, error));
    REFUSED(tem_context_exposure_measure(mechanism, "-", 0, NULL, NULL, NULL, 0, NULL, error));
    REFUSED(tem_context_exposure_measure(mechanism, "-", 0, NULL, &exposure, NULL, 1, NULL, error));
    REFUSED(tem_accountant_losses(NULL, mechanism, 1, NULL, losses, error));
    REFUSED(tem_accountant_losses(accountant, NULL, 1, NULL, losses, error));
    REFUSED(tem_accountant_losses(accountant, mechanism, 0, NULL, losses, error));
    REFUSED(tem_accountant_losses(accountant, mechanism, 1, NULL, NULL, error));
    REFUSED(tem_accountant_unadapted(NULL, mechanism, NULL, &unadapted, error));
    REFUSED(tem_accountant_unadapted(accountant, NULL, NULL, &unadapted, error));
    REFUSED(tem_accountant_unadapted(accountant, mechanism, NULL, NULL, error));
    REFUSED(tem_accountant_unadapted(accountant, mechanism, NULL, &unadapted, error));
    assert_true(unadapted.loss == 7);
    REFUSED(tem_prior_create_zipf(NULL, 1, &no_prior, error));
    REFUSED(tem_prior_create_zipf(model, 1, NULL, error));
    REFUSED(tem_prior_load(NULL, "/dev/null", NULL, &no_prior, error));
    REFUSED(tem_prior_load(model, NULL, NULL, &no_prior, error));
    REFUSED(tem_prior_load(model, "/dev/null", NULL, NULL, error));
    REFUSED(tem_accountant_summarise(NULL, mechanism, prior, 0, NULL, &summary, error));
    REFUSED(tem_accountant_summarise(accountant, NULL, prior, 0, NULL, &summary, error));
    REFUSED(tem_accountant_summarise(accountant, mechanism, NULL, 0, NULL, &summary, error));
    REFUSED(tem_accountant_summarise(accountant, mechanism, prior, 0, NULL, NULL, error));
    REFUSED(tem_summarise_once(NULL, prior, NULL, &summary, error));
    REFUSED(tem_summarise_once(mechanism, NULL, NULL, &summary, error));
    REFUSED(tem_summarise_once(mechanism, prior, NULL, NULL, error));
    tem_exposure most;
    const tem_target by = TEM_TARGET_SELF;
    const uint32_t beyond = COUNT;
    REFUSED(tem_accountant_exposed(NULL, mechanism, by, NULL, 0, NULL, &most, 1, &count, error));
    REFUSED(tem_accountant_exposed(accountant, NULL, by, NULL, 0, NULL, &most, 1, &count, error));
    REFUSED(
        tem_accountant_exposed(accountant, mechanism, by, NULL, 0, NULL, NULL, 1, &count, error));
    REFUSED(
        tem_accountant_exposed(accountant, mechanism, by, NULL, 0, NULL, &most, 0, &count, error));
    REFUSED(
        tem_accountant_exposed(accountant, mechanism, by, NULL, 0, NULL, &most, 1, NULL, error));
    REFUSED(
        tem_accountant_exposed(accountant, mechanism, by, NULL, 1, NULL, &most, 1, &count, error));
    REFUSED(tem_accountant_exposed(accountant, mechanism, by, &beyond, 1, NULL, &most, 1, &count,
                                   error));
    REFUSED(tem_accountant_exposed(accountant, mechanism, TEM_TARGET_BAYES, NULL, 0, NULL, &most, 1,
                                   &count, error));
    REFUSED(tem_accountant_calibrate(NULL, &wanted, NULL, &no_certificate, NULL, error));
    REFUSED(tem_accountant_calibrate(accountant, NULL, NULL, &no_certificate, NULL, error));
    REFUSED(tem_accountant_calibrate(accountant, &wanted, NULL, NULL, NULL, error));
    REFUSED(tem_accountant_choose(NULL, &wish, NULL, &point, error));
    REFUSED(tem_accountant_choose(accountant, NULL, NULL, &point, error));
    REFUSED(tem_accountant_choose(accountant, &no_words, NULL, &point, error));
    REFUSED(tem_accountant_choose(accountant, &wish, NULL, NULL, error));
    assert_int_equal(tem_accountant_choose(accountant, &wish, NULL, &point, NULL), TEM_OK);
    const tem_mechanism_options coin = {.mechanism = "coin"};
    const tem_wish alike = {.target = TEM_TARGET_SELF, .wanted = 0.5};
    const tem_wish blind = {.target = TEM_TARGET_BAYES, .wanted = 0.5}; /* no prior */
    tem_form_point by_coin;
    REFUSED(tem_form_measure(NULL, NULL, NULL, &by_coin, error));
    REFUSED(tem_form_measure(mechanism, NULL, NULL, NULL, error));
    REFUSED(tem_form_choose(NULL, &coin, &alike, NULL, &by_coin, error));
    REFUSED(tem_form_choose(model, NULL, &alike, NULL, &by_coin, error));
    REFUSED(tem_form_choose(model, &coin, NULL, NULL, &by_coin, error));
    REFUSED(tem_form_choose(model, &coin, &alike, NULL, NULL, error));
    REFUSED(tem_form_choose(model, &coin, &blind, NULL, &by_coin, error));
    assert_int_equal(tem_form_choose(model, &coin, &alike, NULL, &by_coin, NULL), TEM_OK);
    REFUSED(tem_accountant_curve(NULL, &wish, &point, NULL, points, &count, error));
    REFUSED(tem_accountant_curve(accountant, NULL, &point, NULL, points, &count, error));
    REFUSED(tem_accountant_curve(accountant, &wish, NULL, NULL, points, &count, error));
    REFUSED(tem_accountant_curve(accountant, &wish, &point, NULL, NULL, &count, error));
    REFUSED(tem_accountant_curve(accountant, &wish, &point, NULL, points, NULL, error));
    REFUSED(tem_certificate_verify(NULL, accountant, NULL, error));
    REFUSED(tem_certificate_verify(certificate, NULL, NULL, error));
    REFUSED(tem_certificate_save(NULL, never, NULL, error));
    REFUSED(tem_certificate_save(certificate, NULL, NULL, error));
    REFUSED(tem_certificate_load(NULL, 0, &no_certificate, error));
    REFUSED(tem_certificate_load("/dev/null", 0, NULL, error));
    REFUSED(tem_certificate_find(NULL, model, &wanted, &no_certificate, error));
    REFUSED(tem_certificate_find("/dev/null", NULL, &wanted, &no_certificate, error));
    REFUSED(tem_certificate_find("/dev/null", model, NULL, &no_certificate, error));
    REFUSED(tem_certificate_find("/dev/null", model, &wanted, NULL, error));
    tem_certificate_get_info(certificate, &info);
    REFUSED(tem_certificate_trust(NULL, model, never, error));
    REFUSED(tem_certificate_trust(&info, NULL, never, error));
    REFUSED(tem_certificate_trust(&info, model, NULL, error));
    REFUSED(tem_trust_has(NULL, &has, error));
    REFUSED(tem_trust_has("0123", &has, error));
    REFUSED(tem_trust_has(no_hash, NULL, error));
    REFUSED(tem_trust_add(NULL, NULL, error));
    REFUSED(tem_trust_remove(NULL, NULL, error));
    REFUSED(tem_trust_verify(NULL, NULL, NULL, NULL, error));
    REFUSED(tem_trust_add("0123", NULL, error));
    assert_true(no_accountant == NULL && no_prior == NULL && no_certificate == NULL);
    assert_true(count == 7 && has == 7);
    assert_int_not_equal(access(never, F_OK), 0);
}

/* ---- calls without a status ---- */

static void test_nothing_given(void **state) {
    (void)state;
    const tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.5};
    const tem_summary summary = {.self_median = 0.25};
    size_t length = 7;
    assert_true(tem_vectors_count(NULL) == 0 && tem_vectors_dimension(NULL) == 0);
    assert_string_equal(tem_vectors_format(NULL), "unknown");
    assert_int_equal(tem_model_is_trusted(NULL), 0);
    tem_model_trust_own(NULL);
    assert_true(tem_model_word(NULL, 0, &length) == NULL && length == 0);
    assert_non_null(tem_model_word(model, 0, NULL));
    assert_int_equal(tem_model_find(NULL, "a", 1), TEM_NO_WORD);
    assert_int_equal(tem_model_find(model, NULL, 0), TEM_NO_WORD);
    assert_int_equal(tem_model_distance(NULL, 0, 0), UINT32_MAX);
    assert_int_equal(tem_model_is_excluded(NULL, 0), 0);
    assert_int_equal(tem_rng_is_private(NULL), 0);
    assert_int_equal(tem_rng_below(NULL, 5), 0);
    assert_int_equal(tem_rng_below(rng, 0), 0);
    assert_null(tem_mechanism_weights(NULL));
    assert_null(tem_mechanism_language(NULL));
    assert_true(tem_law_probability(NULL, 0) <= 0 && tem_law_distance(NULL, 0) == UINT32_MAX);
    assert_true(isnan(tem_law_entropy(NULL)) && isnan(tem_law_support(NULL)));
    assert_int_equal(tem_certificate_is_for(NULL, model), 0);
    assert_int_equal(tem_certificate_is_for(certificate, NULL), 0);
    assert_true(isnan(tem_wish_value(NULL, &summary)) && isnan(tem_wish_value(&wish, NULL)));
    assert_false(tem_wish_is_kept(NULL, &summary) || tem_wish_is_kept(&wish, NULL));
    assert_true(tem_wish_is_kept(&wish, &summary));
    tem_mechanism_options of_point = {.epsilon = 77};
    tem_point_get_options(&(tem_point){.s = 1}, NULL);
    tem_point_get_options(NULL, &of_point);
    assert_true(of_point.epsilon <= 0);
    /* Without a mechanism or a job nothing counts as private. */
    assert_non_null(tem_job_why_not_private(NULL, &(tem_job){0}));
    assert_int_equal(tem_counts_are_foreign(NULL, &(tem_counts){.words = 20, .unknown = 20}), 0);
    assert_int_equal(tem_counts_are_foreign(mechanism, NULL), 0);
    assert_int_equal(tem_counts_are_public(NULL), 0);
    assert_non_null(tem_job_why_not_private(mechanism, NULL));
    assert_null(tem_job_why_not_private(mechanism, &(tem_job){0}));
    assert_null(tem_job_condition(NULL));
    assert_null(tem_job_condition(&(tem_job){0}));
    assert_true(tem_metric_at(0, NULL, NULL) != NULL && tem_kernel_at(0, NULL) != NULL);
    assert_non_null(tem_format_at(0, NULL, NULL, NULL));
    length = 7;
    assert_true(tem_texts_at(NULL, 0, &length) == NULL && length == 0);
    char *folded = NULL;
    REFUSED(tem_vectors_fold(NULL, NULL, error));
    REFUSED(tem_word_fold(NULL, 0, &folded, error));
    REFUSED(tem_word_fold("a", 1, NULL, error));
    assert_null(folded);
    tem_fields *fields = NULL;
    tem_field field = {.name_bytes = 7};
    REFUSED(tem_fields_create(NULL, error));
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    REFUSED(tem_fields_add(NULL, "a", 1, TEM_FIELD_PRIVATE, NULL, error));
    REFUSED(tem_fields_add(fields, NULL, 1, TEM_FIELD_PRIVATE, NULL, error));
    REFUSED(tem_fields_add(fields, "a", 1, 0, NULL, error));
    tem_fields_look(NULL, 0, "a", 1);
    tem_fields_look(fields, 0, "a", 1);
    assert_true(tem_fields_count(NULL) == 0 && tem_fields_have_more(NULL) == 0);
    assert_true(tem_fields_at(NULL, 0, &field) == 0 && tem_fields_at(fields, 0, &field) == 0);
    assert_int_equal(field.name_bytes, 7);
    assert_int_equal(tem_fields_add(fields, NULL, 0, TEM_FIELD_PRIVATE, NULL, NULL), TEM_OK);
    tem_fields_look(fields, 0, NULL, 1);
    assert_true(tem_fields_at(fields, 0, NULL) == 0 && tem_fields_count(fields) == 1);
    tem_fields_free(fields);
    tem_fields_free(NULL);
    assert_string_equal(tem_field_use_name(0), "unknown");
}

/* An info about NULL is all 0, whatever the struct held before. An info about an object has
 * reserved fields of 0. */
static void test_infos_of_nothing(void **state) {
    (void)state;
    tem_model_info about_model;
    tem_mechanism_info about_mechanism;
    tem_certificate_info about_certificate;
    tem_prior_info about_prior;
    memset(&about_model, 0x55, sizeof about_model);
    memset(&about_mechanism, 0x55, sizeof about_mechanism);
    memset(&about_certificate, 0x55, sizeof about_certificate);
    memset(&about_prior, 0x55, sizeof about_prior);
    tem_model_get_info(model, NULL);
    tem_model_get_recipe(model, NULL);
    tem_mechanism_get_info(mechanism, NULL);
    tem_certificate_get_info(certificate, NULL);
    tem_prior_get_info(prior, NULL);
    assert_int_equal(tem_mechanism_get_certificate(NULL, &about_certificate), 0);
    assert_int_equal(tem_mechanism_get_certificate(mechanism, NULL), 0);
    assert_int_equal(about_certificate.s_steps, 0x5555555555555555);
    tem_recipe recipe;
    memset(&recipe, 0x55, sizeof recipe);
    tem_model_get_recipe(NULL, &recipe);
    assert_true(is_zero(&recipe, sizeof recipe));
    tem_model_get_recipe(model, &recipe);
    assert_int_equal(recipe.space, TEM_SPACE_RAW);
    assert_true(recipe.given_columns == 0 && is_zero(recipe.reserved, sizeof recipe.reserved));
    tem_model_get_info(NULL, &about_model);
    tem_mechanism_get_info(NULL, &about_mechanism);
    tem_certificate_get_info(NULL, &about_certificate);
    tem_prior_get_info(NULL, &about_prior);
    assert_true(about_model.words == 0 && about_model.hash[0] == '\0');
    assert_true(is_zero(about_model.reserved, sizeof about_model.reserved));
    assert_true(isinf(about_mechanism.epsilon_gamma) && about_mechanism.properties == NULL);
    assert_true(is_zero(about_mechanism.reserved, sizeof about_mechanism.reserved));
    assert_true(about_certificate.hash[0] == '\0' && about_certificate.s_steps == 0);
    assert_true(is_zero(about_certificate.reserved, sizeof about_certificate.reserved));
    assert_true(about_prior.is_counts == 0 && is_zero(about_prior.reserved, 32));
    memset(&about_model, 0x55, sizeof about_model);
    tem_model_get_info(model, &about_model);
    assert_true(about_model.words == COUNT &&
                is_zero(about_model.reserved, sizeof about_model.reserved));
}

/* Fills a result with rubbish, makes the call, and requires that the reserved fields are 0. */
#define CLEARED(result, call)                                                                      \
    do {                                                                                           \
        memset(&(result), 0x55, sizeof(result));                                                   \
        assert_int_equal(call, TEM_OK);                                                            \
        assert_true(is_zero((result).reserved, sizeof(result).reserved));                          \
    } while (0)

static void test_results_clear_reserved(void **state) {
    (void)state;
    tem_audit audit;
    tem_summary summary;
    tem_point point, points[TEM_CURVE_MAX];
    tem_neighbours near;
    tem_counts counts;
    tem_balance balance;
    tem_error unnoted;
    tem_certificate *made = NULL;
    uint32_t count = 0;
    const char *const nothing[] = {"/dev/null"};
    const tem_job job = {.inputs = nothing, .input_count = 1, .ledger = never, .dry_run = 1};
    const tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.5, .prior = prior};
    CLEARED(audit, tem_accountant_audit(accountant, mechanism, NULL, &audit, NULL));
    CLEARED(audit, tem_accountant_calibrate(accountant, &(tem_calibration){.epsilon = 2}, NULL,
                                            &made, &audit, NULL));
    CLEARED(summary,
            tem_accountant_summarise(accountant, mechanism, prior, 0, NULL, &summary, NULL));
    CLEARED(point, tem_accountant_choose(accountant, &wish, NULL, &point, NULL));
    assert_true(is_zero(point.summary.reserved, sizeof point.summary.reserved));
    CLEARED(points[0], tem_accountant_curve(accountant, &wish, &point, NULL, points, &count, NULL));
    CLEARED(near, tem_model_neighbours(model, 0, &near, NULL));
    CLEARED(counts, tem_privatize_files(mechanism, &job, NULL, &counts, NULL, NULL, NULL));
    CLEARED(balance, tem_privatize_files(mechanism, &job, NULL, NULL, &balance, NULL, NULL));
    CLEARED(unnoted, tem_trust_verify(model, NULL, NULL, &unnoted, NULL));
    tem_certificate_free(made);
    unlink(never);
}

/* ---- options of a newer tem ---- */

/* Sets each reserved field of an option struct in turn: the call must refuse it by name. */
#define NEWER(options, call)                                                                       \
    do {                                                                                           \
        const size_t fields = sizeof(options).reserved / sizeof *(options).reserved;               \
        assert_true(fields >= 1);                                                                  \
        for (size_t field = 0; field < fields; field++) {                                          \
            tem_error newer;                                                                       \
            (options).reserved[field] = 1;                                                         \
            REFUSED(call);                                                                         \
            tem_error *error = &newer;                                                             \
            assert_int_equal(call, TEM_ERR_ARGUMENT);                                              \
            assert_non_null(strstr(newer.message, "newer tem"));                                   \
            (options).reserved[field] = 0;                                                         \
        }                                                                                          \
    } while (0)

static void test_adapting(void **state) {
    (void)state;
    const tem_signal_source nothing = {0}, plain = {.path = never, .format = TEM_FORMAT_TEXT};
    const tem_signal_source half = {.path = never, .format = TEM_FORMAT_CSV, .text = "text"};
    const tem_signal_source rated = {.path = never, .is_rating = 1};
    const tem_signal_source newer = {.path = never, .reserved = {1}};
    const tem_adapt_options options = {.stretch = 1}, strange = {.stretch = 1, .zero = 1};
    const tem_adapt_options later = {.stretch = 1, .reserved = {1}};
    tem_adaptation *a = NULL;
    tem_model *m = NULL;
    tem_signal signal;
    tem_adapted adapted = {.signals = 7};
    double numbers[COUNT];
    REFUSED(tem_adaptation_create(NULL, &a, error));
    REFUSED(tem_adaptation_create(model, NULL, error));
    assert_int_equal(tem_adaptation_create(model, &a, NULL), TEM_OK);
    REFUSED(tem_adaptation_add(NULL, &plain, NULL, error));
    REFUSED(tem_adaptation_add(a, NULL, NULL, error));
    REFUSED(tem_adaptation_add(a, &nothing, NULL, error));
    REFUSED(tem_adaptation_add(a, &plain, NULL, error));
    REFUSED(tem_adaptation_add(a, &half, NULL, error));
    REFUSED(tem_adaptation_add(a, &rated, NULL, error));
    REFUSED(tem_adaptation_add(a, &newer, NULL, error));
    assert_int_equal(tem_adaptation_count(NULL), 0);
    assert_int_equal(tem_adaptation_count(a), 0);
    REFUSED(tem_adaptation_signal(NULL, 0, &signal, error));
    REFUSED(tem_adaptation_signal(a, 0, &signal, error));
    REFUSED(tem_adaptation_signal(a, 0, NULL, error));
    assert_null(tem_adaptation_values(NULL, 0));
    assert_null(tem_adaptation_values(a, 0));
    assert_true(isnan(tem_adaptation_correlation(NULL, 0, 0)));
    assert_true(isnan(tem_adaptation_correlation(a, 0, 0)));
    REFUSED(tem_adaptation_build(NULL, &options, NULL, &m, error));
    REFUSED(tem_adaptation_build(a, NULL, NULL, &m, error));
    REFUSED(tem_adaptation_build(a, &options, NULL, NULL, error));
    REFUSED(tem_adaptation_build(a, &strange, NULL, &m, error));
    REFUSED(tem_adaptation_build(a, &later, NULL, &m, error));
    REFUSED(tem_adaptation_build(a, &options, NULL, &m, error)); /* no signal */
    assert_null(m);
    tem_adaptation_free(a);
    tem_adaptation_free(NULL);
    tem_model_get_adapted(NULL, &adapted);
    assert_int_equal(adapted.signals, 0);
    tem_model_get_adapted(model, NULL);
    REFUSED(tem_model_signal(NULL, 0, &signal, error));
    REFUSED(tem_model_signal(model, 0, &signal, error));
    REFUSED(tem_model_signal(model, 0, NULL, error));
    REFUSED(tem_model_signal_values(NULL, 0, numbers, error));
    REFUSED(tem_model_signal_values(model, 0, numbers, error));
    REFUSED(tem_model_signal_values(model, 0, NULL, error));
    tem_signal_kind kind = TEM_SIGNAL_LEXICON;
    REFUSED(tem_signal_kind_parse(NULL, &kind, error));
    REFUSED(tem_signal_kind_parse("class", NULL, error));
    REFUSED(tem_signal_kind_parse("classes", &kind, error));
    assert_int_equal(tem_signal_kind_parse("class", &kind, NULL), TEM_OK);
    assert_int_equal(kind, TEM_SIGNAL_CLASS);
    assert_string_equal(tem_signal_kind_name(TEM_SIGNAL_RATING), "rating");
    assert_string_equal(tem_signal_kind_name((tem_signal_kind)9), "unknown");
}

static void test_learning(void **state) {
    (void)state;
    const tem_expectation expected = {.prior = prior}, no_prior = {0};
    tem_channel *no_channel = NULL;
    double in[2 * COUNT] = {0}, out[2 * COUNT] = {0};
    tem_told told = {0};
    uint32_t missing = 7, map[COUNT] = {0};
    REFUSED(tem_channel_create(NULL, NULL, &no_channel, error));
    REFUSED(tem_channel_create(mechanism, NULL, NULL, error));
    REFUSED(tem_channel_forward(NULL, in, 1, NULL, out, error));
    REFUSED(tem_channel_forward(channel, NULL, 1, NULL, out, error));
    REFUSED(tem_channel_forward(channel, in, 0, NULL, out, error));
    REFUSED(tem_channel_forward(channel, in, 1, NULL, NULL, error));
    REFUSED(tem_channel_backward(NULL, in, 1, NULL, out, error));
    REFUSED(tem_channel_backward(channel, NULL, 1, NULL, out, error));
    REFUSED(tem_channel_backward(channel, in, 0, NULL, out, error));
    REFUSED(tem_channel_backward(channel, in, 1, NULL, NULL, error));
    REFUSED(tem_channel_expect(NULL, &expected, out, error));
    REFUSED(tem_channel_expect(channel, NULL, out, error));
    REFUSED(tem_channel_expect(channel, &no_prior, out, error));
    REFUSED(tem_channel_expect(channel, &expected, NULL, error));
    REFUSED(tem_channel_posterior(NULL, &expected, in, 1, NULL, out, error));
    REFUSED(tem_channel_posterior(channel, NULL, in, 1, NULL, out, error));
    REFUSED(tem_channel_posterior(channel, &no_prior, in, 1, NULL, out, error));
    REFUSED(tem_channel_posterior(channel, &expected, NULL, 1, NULL, out, error));
    REFUSED(tem_channel_posterior(channel, &expected, in, 0, NULL, out, error));
    REFUSED(tem_channel_posterior(channel, &expected, in, 1, NULL, NULL, error));
    REFUSED(tem_remap_make(NULL, &expected, NULL, map, error));
    REFUSED(tem_remap_make(mechanism, NULL, NULL, map, error));
    REFUSED(tem_remap_make(mechanism, &no_prior, NULL, map, error));
    REFUSED(tem_remap_make(mechanism, &expected, NULL, NULL, error));
    REFUSED(tem_channel_told(NULL, &expected, in, 1, NULL, &told, error));
    REFUSED(tem_channel_told(channel, NULL, in, 1, NULL, &told, error));
    REFUSED(tem_channel_told(channel, &no_prior, in, 1, NULL, &told, error));
    REFUSED(tem_channel_told(channel, &expected, NULL, 1, NULL, &told, error));
    REFUSED(tem_channel_told(channel, &expected, in, 0, NULL, &told, error));
    REFUSED(tem_channel_told(channel, &expected, in, 1, NULL, NULL, error));
    REFUSED(tem_model_align_vectors(NULL, vectors, out, &missing, error));
    REFUSED(tem_model_align_vectors(model, NULL, out, &missing, error));
    REFUSED(tem_model_align_vectors(model, vectors, NULL, &missing, error));
    REFUSED(tem_model_align_vectors(model, vectors, out, NULL, error));
    REFUSED(tem_text_vectors(NULL, "/dev/null", 1, NULL, out, error));
    REFUSED(tem_text_vectors(model, NULL, 1, NULL, out, error));
    REFUSED(tem_text_vectors(model, "/dev/null", 0, NULL, out, error));
    REFUSED(tem_text_vectors(model, "/dev/null", 1, NULL, NULL, error));
    assert_true(tem_channel_inputs(NULL) == 0 && tem_channel_outputs(NULL) == 0);
    assert_true(no_channel == NULL && is_zero(out, sizeof out) && missing == 7);
    assert_true(is_zero(&told, sizeof told));
}

static void test_training(void **state) {
    (void)state;
    char edges[80];
    snprintf(edges, sizeof edges, "%s.tsv", never);
    FILE *file = fopen(edges, "w");
    assert_non_null(file);
    fputs("a\tb\nb\tc\n", file);
    assert_int_equal(fclose(file), 0);
    const tem_graph_options strange = {.zero = 1}, twice = {.closure = 2}, minus = {.closure = -1};
    const tem_graph_options later = {.reserved = {1}};
    const tem_poincare_options newer = {.reserved = {1}}, wrong = {.rate = NAN};
    const tem_poincare_options quick = {.epochs = 2};
    const tem_run newer_run = {.reserved = {1}};
    tem_graph *g = NULL;
    tem_poincare *p = NULL;
    tem_graph_info info = {.words = 7};
    tem_reconstruction found = {0};
    size_t length = 7;
    uint32_t count = 7;
    REFUSED(tem_graph_load(NULL, NULL, NULL, &g, error));
    REFUSED(tem_graph_load(edges, NULL, NULL, NULL, error));
    REFUSED(tem_graph_load(edges, &strange, NULL, &g, error));
    REFUSED(tem_graph_load(edges, &twice, NULL, &g, error));
    REFUSED(tem_graph_load(edges, &minus, NULL, &g, error));
    REFUSED(tem_graph_load(edges, &later, NULL, &g, error));
    REFUSED(tem_graph_load(edges, NULL, &newer_run, &g, error));
    assert_null(g);
    assert_int_equal(tem_graph_load(edges, NULL, NULL, &g, NULL), TEM_OK);
    tem_graph_get_info(g, NULL);
    tem_graph_get_info(NULL, &info);
    assert_true(is_zero(&info, sizeof info));
    assert_true(tem_graph_word(NULL, 0, &length) == NULL && length == 7);
    assert_non_null(tem_graph_word(g, 0, NULL));
    assert_true(tem_graph_parents(NULL, 0, &count) == NULL && count == 7);
    assert_null(tem_graph_parents(g, 0, NULL));
    REFUSED(tem_poincare_train(NULL, &quick, NULL, &p, NULL, error));
    REFUSED(tem_poincare_train(g, &quick, NULL, NULL, NULL, error));
    REFUSED(tem_poincare_train(g, &newer, NULL, &p, NULL, error));
    REFUSED(tem_poincare_train(g, &wrong, NULL, &p, NULL, error));
    REFUSED(tem_poincare_train(g, &quick, &newer_run, &p, NULL, error));
    REFUSED(tem_poincare_load(NULL, g, NULL, &p, error));
    REFUSED(tem_poincare_load(edges, NULL, NULL, &p, error));
    REFUSED(tem_poincare_load(edges, g, NULL, NULL, error));
    REFUSED(tem_poincare_load(edges, g, &newer_run, &p, error));
    assert_null(p);
    assert_int_equal(tem_poincare_train(g, &quick, NULL, &p, NULL, NULL), TEM_OK);
    REFUSED(tem_poincare_save(NULL, g, never, TEM_OVERWRITE, NULL, error));
    REFUSED(tem_poincare_save(p, NULL, never, TEM_OVERWRITE, NULL, error));
    REFUSED(tem_poincare_save(p, g, NULL, TEM_OVERWRITE, NULL, error));
    REFUSED(tem_poincare_save(p, g, never, (tem_overwrite)9, NULL, error));
    REFUSED(tem_poincare_save(p, g, never, TEM_OVERWRITE, &newer_run, error));
    REFUSED(tem_poincare_reconstruct(NULL, g, NULL, &found, error));
    REFUSED(tem_poincare_reconstruct(p, NULL, NULL, &found, error));
    REFUSED(tem_poincare_reconstruct(p, g, NULL, NULL, error));
    REFUSED(tem_poincare_reconstruct(p, g, &newer_run, &found, error));
    assert_true(is_zero(&found, sizeof found));
    assert_int_equal(tem_poincare_dimensions(NULL), 0);
    assert_null(tem_poincare_point(NULL, 0));
    assert_null(tem_poincare_point(p, 3));
    tem_poincare_free(p);
    tem_poincare_free(NULL);
    tem_graph_free(g);
    tem_graph_free(NULL);
    unlink(edges);
}

static tem_language *make_language(void) {
    const char *const paths[] = {never};
    tem_ngram *g = NULL;
    tem_language *made = NULL;
    FILE *file = fopen(never, "w");
    assert_true(file != NULL && fputs("a b a\n", file) >= 0 && fclose(file) == 0);
    assert_int_equal(tem_ngram_train(model, paths, 1, 2, NULL, &g, NULL), TEM_OK);
    unlink(never);
    REFUSED(tem_language_make(NULL, NULL, NULL, &made, error));
    REFUSED(tem_language_make(g, NULL, NULL, NULL, error));
    assert_int_equal(tem_language_make(g, NULL, NULL, &made, NULL), TEM_OK);
    tem_run run = {0};
    tem_language_options options = {0};
    tem_language *none = NULL;
    const tem_ngram *const parts[] = {g};
    const double shares[] = {1};
    tem_ngram *other = NULL;
    NEWER(run, tem_language_make(g, NULL, &run, &none, error));
    NEWER(run, tem_ngram_prune(g, 1, &run, &other, error));
    NEWER(run, tem_ngram_mix(parts, shares, 1, &run, &other, error));
    NEWER(options, tem_language_make(g, &options, NULL, &none, error));
    assert_null(none);
    tem_ngram_free(g);
    return made;
}

static int no_weights(void *context, void *document, const tem_past *past, uint64_t *numbers) {
    (void)context, (void)document, (void)past, (void)numbers;
    return 1;
}

static void test_own_language_calls(void **state) {
    (void)state;
    tem_language_functions functions = {.weights = no_weights};
    tem_language *made = NULL;
    REFUSED(tem_language_wrap(NULL, &functions, &made, error));
    REFUSED(tem_language_wrap(model, NULL, &made, error));
    REFUSED(tem_language_wrap(model, &functions, NULL, error));
    NEWER(functions, tem_language_wrap(model, &functions, &made, error));
    assert_null(made);
    assert_int_equal(tem_language_wrap(model, &functions, &made, NULL), TEM_OK);
    REFUSED(tem_language_save(made, never, TEM_OVERWRITE, NULL, error));
    REFUSED(tem_language_verify(made, NULL, error));
    REFUSED(tem_language_trust(made, NULL, error));
    assert_string_equal(tem_language_origin(made), "");
    tem_language_trust_own(made);
    tem_language_free(made);
}

static void test_language_calls(void **state) {
    (void)state;
    tem_language *made = make_language(), *none = NULL;
    tem_language_evaluation evaluation = {.words = 7};
    tem_language_info info;
    tem_run run = {0};
    REFUSED(tem_language_open(NULL, never, &none, error));
    REFUSED(tem_language_open(model, NULL, &none, error));
    REFUSED(tem_language_open(model, never, NULL, error));
    REFUSED(tem_language_save(NULL, never, TEM_OVERWRITE, NULL, error));
    REFUSED(tem_language_save(made, NULL, TEM_OVERWRITE, NULL, error));
    NEWER(run, tem_language_save(made, never, TEM_OVERWRITE, &run, error));
    REFUSED(tem_language_verify(NULL, NULL, error));
    NEWER(run, tem_language_verify(made, &run, error));
    REFUSED(tem_language_trust(NULL, NULL, error));
    REFUSED(tem_language_evaluate(NULL, model, never, NULL, &evaluation, error));
    REFUSED(tem_language_evaluate(made, NULL, never, NULL, &evaluation, error));
    REFUSED(tem_language_evaluate(made, model, NULL, NULL, &evaluation, error));
    REFUSED(tem_language_evaluate(made, model, never, NULL, NULL, error));
    NEWER(run, tem_language_evaluate(made, model, never, &run, &evaluation, error));
    assert_true(none == NULL && evaluation.words == 7);
    memset(&info, 0x55, sizeof info);
    char found[8] = "";
    const char *const folders[] = {NULL};
    int is_own = 7;
    REFUSED(tem_language_find_english(NULL, 0, NULL, 1, found, sizeof found, &is_own, error));
    REFUSED(tem_language_find_english(NULL, 0, folders, 1, found, sizeof found, &is_own, error));
    REFUSED(tem_language_find_english(NULL, 0, folders, 0, NULL, sizeof found, &is_own, error));
    REFUSED(tem_language_find_english(NULL, 0, folders, 0, found, sizeof found, NULL, error));
    tem_language_get_info(made, &info);
    assert_true(info.order == 2 && is_zero(info.reserved, sizeof info.reserved));
    tem_language_get_info(NULL, &info);
    tem_language_get_info(made, NULL);
    assert_true(is_zero(&info, sizeof info));
    assert_string_equal(tem_language_origin(NULL), "");
    assert_string_equal(tem_language_license(NULL), "");
    assert_false(tem_language_is_trusted(NULL));
    tem_language_trust_own(NULL);
    tem_language_free(made);
    tem_language_free(NULL);
}

static void test_newer_attacks(void **state) {
    (void)state;
    const char *const paths[] = {never};
    const uint32_t word[] = {0};
    const uint64_t ends[] = {1};
    tem_run run = {0};
    tem_attack_options options = {.expected = {.prior = prior}};
    tem_documents d = {.words = word, .ends = ends, .count = 1};
    tem_context_wish wish = {.wanted = 0.5, .attack = options, .documents = d};
    tem_context_answer answer = {.epsilon = 7};
    tem_ngram *g = NULL;
    tem_attack *none = NULL, *attack = NULL;
    uint32_t guess = 7;
    assert_int_equal(tem_attack_create(mechanism, &options, NULL, &attack, NULL), TEM_OK);
    NEWER(run, tem_ngram_train(model, paths, 1, 2, &run, &g, error));
    NEWER(run, tem_ngram_load(model, never, &run, &g, error));
    NEWER(run, tem_ngram_save(g, never, TEM_OVERWRITE, &run, error));
    NEWER(run, tem_attack_create(mechanism, &options, &run, &none, error));
    NEWER(options, tem_attack_create(mechanism, &options, NULL, &none, error));
    NEWER(options.expected, tem_attack_create(mechanism, &options, NULL, &none, error));
    NEWER(run, tem_attack_create_from_pairs(model, word, word, 1, &options, &run, &none, error));
    NEWER(options,
          tem_attack_create_from_pairs(model, word, word, 1, &options, NULL, &none, error));
    NEWER(run, tem_attack_guess(attack, TEM_ATTACKER_WORD, &d, &run, &guess, NULL, error));
    NEWER(d, tem_attack_guess(attack, TEM_ATTACKER_WORD, &d, NULL, &guess, NULL, error));
    NEWER(run, tem_attack_choose(model, &wish, &run, &answer, error));
    NEWER(wish, tem_attack_choose(model, &wish, NULL, &answer, error));
    NEWER(wish.attack, tem_attack_choose(model, &wish, NULL, &answer, error));
    NEWER(wish.documents, tem_attack_choose(model, &wish, NULL, &answer, error));
    assert_true(none == NULL && g == NULL && guess == 7 && answer.epsilon == 7);
    tem_attack_free(attack);
}

static void test_newer_statistics(void **state) {
    (void)state;
    static const double counts[COUNT] = {1, 2, 3, 4}, members[COUNT + 1] = {1};
    double shares[COUNT + 1];
    tem_run run = {0};
    tem_expectation expected = {.prior = prior};
    tem_estimate_options options = {.expected = expected};
    tem_deconvolution how = {.steps = 1};
    tem_estimate out;
    tem_channel *c = NULL;
    assert_int_equal(tem_channel_create(mechanism, NULL, &c, NULL), TEM_OK);
    NEWER(run, tem_channel_deconvolve(c, &expected, counts, NULL, 1, &run, &how, shares, error));
    NEWER(how, tem_channel_deconvolve(c, &expected, counts, NULL, 1, NULL, &how, shares, error));
    NEWER(expected,
          tem_channel_deconvolve(c, &expected, counts, NULL, 1, NULL, &how, shares, error));
    NEWER(run, tem_channel_estimate(c, &options, counts, 1, members, 1, &run, &out, error));
    NEWER(options, tem_channel_estimate(c, &options, counts, 1, members, 1, NULL, &out, error));
    NEWER(options.expected,
          tem_channel_estimate(c, &options, counts, 1, members, 1, NULL, &out, error));
    tem_channel_free(c);
}

static void test_newer_runs(void **state) {
    (void)state;
    tem_run run = {0};
    tem_vectors *no_vectors = NULL;
    tem_model *no_model = NULL;
    char hash[65] = "";
    NEWER(run, tem_vectors_load("/dev/null", 0, &run, &no_vectors, error));
    NEWER(run, tem_model_build(vectors, NULL, &run, &no_model, error));
    NEWER(run, tem_model_build_function(words, COUNT, one, NULL, 0, &run, &no_model, error));
    NEWER(run, tem_model_build_matrix(words, COUNT, distances, 0, &run, &no_model, error));
    NEWER(run, tem_model_save(model, never, TEM_KEEP_EXISTING, &run, error));
    NEWER(run, tem_model_check(model, &run, error));
    NEWER(run, tem_model_verify(model, &run, error));
    NEWER(run, tem_model_trust(model, NULL, &run, error));
    NEWER(run, tem_model_accept(model, NULL, 1, &run, error));
    NEWER(run, tem_model_hash(model, &run, hash, error));
    NEWER(run, tem_trust_add(no_hash, &run, error));
    NEWER(run, tem_trust_remove(no_hash, &run, error));
    NEWER(run, tem_trust_verify(model, NULL, &run, NULL, error));
    assert_true(no_vectors == NULL && no_model == NULL && hash[0] == '\0');
    assert_int_not_equal(access(never, F_OK), 0);
}

static void test_newer_learning(void **state) {
    (void)state;
    tem_run run = {0};
    uint32_t map[COUNT] = {0};
    tem_expectation expected = {.prior = prior};
    tem_channel *no_channel = NULL;
    double in[2 * COUNT] = {0}, out[2 * COUNT] = {0};
    tem_told told = {0};
    NEWER(run, tem_channel_create(mechanism, &run, &no_channel, error));
    NEWER(run, tem_channel_forward(channel, in, 1, &run, out, error));
    NEWER(run, tem_channel_backward(channel, in, 1, &run, out, error));
    NEWER(run, tem_channel_posterior(channel, &expected, in, 1, &run, out, error));
    NEWER(run, tem_text_vectors(model, "/dev/null", 1, &run, out, error));
    NEWER(expected, tem_channel_expect(channel, &expected, out, error));
    NEWER(expected, tem_channel_posterior(channel, &expected, in, 1, NULL, out, error));
    NEWER(run, tem_remap_make(mechanism, &expected, &run, map, error));
    NEWER(expected, tem_remap_make(mechanism, &expected, NULL, map, error));
    NEWER(run, tem_channel_told(channel, &expected, in, 1, &run, &told, error));
    NEWER(expected, tem_channel_told(channel, &expected, in, 1, NULL, &told, error));
    assert_true(no_channel == NULL && is_zero(out, sizeof out) && is_zero(&told, sizeof told));
}

static void test_comparing(void **state) {
    (void)state;
    tem_effects effects = {.guess = 7};
    tem_learned *learned = NULL, *none = NULL;
    tem_learned_score score = {.pairs = 7};
    tem_learned_options few = {.pairs = 100}, negative = {.smoothing = -1}, many = {.pairs = 1e12};
    tem_run run = {0};
    REFUSED(tem_accountant_effects(NULL, mechanism, prior, NULL, &effects, error));
    REFUSED(tem_accountant_effects(accountant, NULL, prior, NULL, &effects, error));
    REFUSED(tem_accountant_effects(accountant, mechanism, NULL, NULL, &effects, error));
    REFUSED(tem_accountant_effects(accountant, mechanism, prior, NULL, NULL, error));
    NEWER(run, tem_accountant_effects(accountant, mechanism, prior, &run, &effects, error));
    REFUSED(tem_learned_create(NULL, mechanism, prior, &few, NULL, &none, error));
    REFUSED(tem_learned_create(accountant, NULL, prior, &few, NULL, &none, error));
    REFUSED(tem_learned_create(accountant, mechanism, NULL, &few, NULL, &none, error));
    REFUSED(tem_learned_create(accountant, mechanism, prior, &few, NULL, NULL, error));
    REFUSED(tem_learned_create(accountant, mechanism, prior, &negative, NULL, &none, error));
    REFUSED(tem_learned_create(accountant, mechanism, prior, &many, NULL, &none, error));
    NEWER(few, tem_learned_create(accountant, mechanism, prior, &few, NULL, &none, error));
    NEWER(run, tem_learned_create(accountant, mechanism, prior, &few, &run, &none, error));
    assert_null(none);
    assert_int_equal(tem_learned_create(accountant, mechanism, prior, &few, NULL, &learned, NULL),
                     TEM_OK);
    REFUSED(tem_learned_test(NULL, 10, 1, NULL, &score, error));
    REFUSED(tem_learned_test(learned, 0, 1, NULL, &score, error));
    REFUSED(tem_learned_test(learned, 10, 1, NULL, NULL, error));
    NEWER(run, tem_learned_test(learned, 10, 1, &run, &score, error));
    REFUSED(tem_learned_effects(NULL, NULL, &effects, error));
    REFUSED(tem_learned_effects(learned, NULL, NULL, error));
    NEWER(run, tem_learned_effects(learned, &run, &effects, error));
    assert_true(effects.guess >= 7 && score.pairs == 7);
    assert_true(tem_learned_probability(NULL, 0, 0) <= 0);
    assert_true(tem_learned_probability(learned, COUNT, 0) <= 0);
    assert_true(tem_learned_probability(learned, 0, COUNT) <= 0);
    assert_int_equal(tem_learned_guess(NULL, 0), TEM_NO_WORD);
    assert_int_equal(tem_learned_guess(learned, COUNT), TEM_NO_WORD);
    assert_true(isnan(tem_learned_smoothing(NULL)) && tem_learned_smoothing(learned) > 0);
    tem_learned_free(learned);
}

static void test_newer_accounts(void **state) {
    (void)state;
    tem_exposure most;
    tem_run run = {0};
    tem_accountant *no_accountant = NULL;
    tem_prior *no_prior = NULL;
    tem_certificate *no_certificate = NULL;
    tem_audit audit;
    tem_summary summary = {0};
    double losses[2];
    tem_unadapted unadapted;
    tem_point point = {0}, points[TEM_CURVE_MAX];
    uint32_t count = 7;
    tem_calibration wanted = {.epsilon = 1};
    tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.5, .prior = prior};
    NEWER(run, tem_accountant_create(model, NULL, &run, &no_accountant, error));
    NEWER(run, tem_accountant_audit(accountant, mechanism, &run, &audit, error));
    tem_form_audit by_form;
    NEWER(run, tem_form_audit_make(mechanism, &run, &by_form, error));
    tem_context_exposure exposure;
    NEWER(run,
          tem_context_exposure_measure(mechanism, "-", 0, &run, &exposure, NULL, 0, NULL, error));
    NEWER(run, tem_accountant_losses(accountant, mechanism, 1, &run, losses, error));
    NEWER(run, tem_accountant_unadapted(accountant, mechanism, &run, &unadapted, error));
    NEWER(run, tem_prior_load(model, "/dev/null", &run, &no_prior, error));
    NEWER(run, tem_accountant_summarise(accountant, mechanism, prior, 0, &run, &summary, error));
    NEWER(run, tem_summarise_once(mechanism, prior, &run, &summary, error));
    NEWER(run, tem_accountant_exposed(accountant, mechanism, TEM_TARGET_SELF, NULL, 0, &run, &most,
                                      1, &count, error));
    NEWER(run, tem_accountant_calibrate(accountant, &wanted, &run, &no_certificate, NULL, error));
    NEWER(wanted,
          tem_accountant_calibrate(accountant, &wanted, NULL, &no_certificate, NULL, error));
    NEWER(wanted, tem_certificate_find("/dev/null", model, &wanted, &no_certificate, error));
    NEWER(run, tem_certificate_verify(certificate, accountant, &run, error));
    NEWER(run, tem_certificate_save(certificate, never, &run, error));
    NEWER(run, tem_accountant_choose(accountant, &wish, &run, &point, error));
    NEWER(wish, tem_accountant_choose(accountant, &wish, NULL, &point, error));
    tem_form_point by_form_point;
    tem_mechanism_options of_form = {.mechanism = "coin"};
    NEWER(run, tem_form_measure(mechanism, NULL, &run, &by_form_point, error));
    NEWER(run, tem_form_choose(model, &of_form, &wish, &run, &by_form_point, error));
    NEWER(wish, tem_form_choose(model, &of_form, &wish, NULL, &by_form_point, error));
    NEWER(of_form, tem_form_choose(model, &of_form, &wish, NULL, &by_form_point, error));
    NEWER(run, tem_accountant_curve(accountant, &wish, &point, &run, points, &count, error));
    NEWER(wish, tem_accountant_curve(accountant, &wish, &point, NULL, points, &count, error));
    wish.reserved[0] = 1;
    assert_true(isnan(tem_wish_value(&wish, &summary)));
    assert_int_equal(tem_wish_is_kept(&wish, &summary), 0);
    assert_true(no_accountant == NULL && no_prior == NULL && no_certificate == NULL && count == 7);
    assert_int_not_equal(access(never, F_OK), 0);
}

static void test_newer_options(void **state) {
    (void)state;
    tem_run run = {0};
    tem_build_options build = {0};
    tem_mechanism_options options = {.epsilon = 1};
    tem_verification how = {0};
    tem_text_options text = {0};
    tem_job job = {.ledger = never, .output = never};
    tem_document document = {.counts.words = 1};
    tem_text_input input = {.text = "a", .bytes = 1};
    tem_texts *texts = NULL;
    uint32_t id = 0;
    tem_ids_input given = {.ids = &id, .count = 1};
    tem_counts counts = {.words = 1};
    tem_balance balance = {.spent = 1};
    tem_model *no_model = NULL;
    tem_mechanism *no_mechanism = NULL;
    char *out = NULL;
    size_t bytes = 7;
    NEWER(build, tem_model_build(vectors, &build, NULL, &no_model, error));
    tem_order_options word_order = {.list = 0};
    build.order = &word_order;
    NEWER(word_order, tem_model_build(vectors, &build, NULL, &no_model, error));
    NEWER(options, tem_mechanism_create(model, &options, &no_mechanism, error));
    NEWER(how, tem_trust_verify(model, &how, NULL, NULL, error));
    NEWER(text, tem_privatize_text(mechanism, &text, rng, "a", 1, NULL, &out, &bytes, NULL, error));
    NEWER(run, tem_privatize_text(mechanism, NULL, rng, "a", 1, &run, &out, &bytes, NULL, error));
    NEWER(job, tem_privatize_files(mechanism, &job, NULL, NULL, NULL, NULL, error));
    NEWER(job.text, tem_privatize_files(mechanism, &job, NULL, NULL, NULL, NULL, error));
    NEWER(run, tem_privatize_files(mechanism, &job, &run, NULL, NULL, NULL, error));
    NEWER(job, tem_privatize_texts(mechanism, &job, &input, 1, NULL, &texts, NULL, NULL, error));
    NEWER(job.text,
          tem_privatize_texts(mechanism, &job, &input, 1, NULL, &texts, NULL, NULL, error));
    NEWER(input, tem_privatize_texts(mechanism, NULL, &input, 1, NULL, &texts, NULL, NULL, error));
    NEWER(run, tem_privatize_texts(mechanism, NULL, &input, 1, &run, &texts, NULL, NULL, error));
    NEWER(job, tem_privatize_ids(mechanism, &job, &given, 1, NULL, &id, NULL, NULL, error));
    NEWER(job.text, tem_privatize_ids(mechanism, &job, &given, 1, NULL, &id, NULL, NULL, error));
    NEWER(given, tem_privatize_ids(mechanism, NULL, &given, 1, NULL, &id, NULL, NULL, error));
    NEWER(run, tem_privatize_ids(mechanism, NULL, &given, 1, &run, &id, NULL, NULL, error));
    NEWER(job, tem_report_json(mechanism, &job, &counts, &balance, NULL, &out, &bytes, error));
    NEWER(job.text, tem_report_json(mechanism, &job, &counts, &balance, NULL, &out, &bytes, error));
    NEWER(counts, tem_report_json(mechanism, &job, &counts, &balance, NULL, &out, &bytes, error));
    NEWER(balance, tem_report_json(mechanism, &job, &counts, &balance, NULL, &out, &bytes, error));
    NEWER(job, tem_job_charge(mechanism, &job, &document, 1, NULL, NULL, error));
    NEWER(job.text, tem_job_charge(mechanism, &job, &document, 1, NULL, NULL, error));
    NEWER(run, tem_job_charge(mechanism, &job, &document, 1, &run, NULL, error));
    NEWER(document, tem_job_charge(mechanism, &job, &document, 1, NULL, NULL, error));
    NEWER(document.counts, tem_job_charge(mechanism, &job, &document, 1, NULL, NULL, error));
    assert_true(no_model == NULL && no_mechanism == NULL && out == NULL && bytes == 7);
    assert_null(texts);
    assert_int_not_equal(access(never, F_OK), 0);
    /* A job that is not understood is not private. */
    assert_null(tem_job_why_not_private(mechanism, &job));
    assert_null(tem_job_condition(&job));
    job.text.reserved[1] = 1;
    assert_non_null(tem_job_why_not_private(mechanism, &job));
    assert_non_null(tem_job_condition(&job));
    job.text.reserved[1] = 0;
    job.reserved[0] = 1;
    assert_non_null(tem_job_why_not_private(mechanism, &job));
    assert_non_null(tem_job_condition(&job));
}

static void test_searches_and_bags(void **state) {
    (void)state;
    const uint32_t ids[2] = {0, TEM_NO_WORD}, beyond = COUNT;
    const tem_run newer = {.reserved = {1}};
    const tem_bag_options unknown_option = {.reserved = {0, 0, 0, 1}};
    tem_neighbour found = {7, 7};
    uint32_t count = 7;
    tem_bag_distance distance = {.distance = 7};
    REFUSED(tem_search_nearest(NULL, ids, 1, 1, NULL, &found, error));
    REFUSED(tem_search_nearest(model, NULL, 1, 1, NULL, &found, error));
    REFUSED(tem_search_nearest(model, ids, 1, 1, NULL, NULL, error));
    REFUSED(tem_search_nearest(model, ids, 1, 0, NULL, &found, error));
    REFUSED(tem_search_nearest(model, ids, 1, COUNT + 1, NULL, &found, error));
    REFUSED(tem_search_nearest(model, &beyond, 1, 1, NULL, &found, error));
    REFUSED(tem_search_nearest(model, ids + 1, 1, 1, NULL, &found, error));
    REFUSED(tem_search_nearest(model, ids, 1, 1, &newer, &found, error));
    assert_int_equal(tem_search_nearest(model, NULL, 0, 1, NULL, NULL, NULL), TEM_OK);
    REFUSED(tem_search_within(NULL, 0, 0, &found, 1, &count, error));
    REFUSED(tem_search_within(model, beyond, 0, &found, 1, &count, error));
    REFUSED(tem_search_within(model, TEM_NO_WORD, 0, &found, 1, &count, error));
    REFUSED(tem_search_within(model, 0, 0, NULL, 1, &count, error));
    REFUSED(tem_search_within(model, 0, 0, &found, 1, NULL, error));
    assert_true(found.id == 7 && found.distance == 7 && count == 7);
    assert_int_equal(tem_search_within(model, 0, 0, NULL, 0, &count, NULL), TEM_OK);
    assert_int_equal(count, 1);
    REFUSED(tem_bag_measure(NULL, ids, 1, ids, 1, NULL, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, NULL, 1, ids, 1, NULL, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, ids, 1, NULL, 1, NULL, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, ids, 1, ids, 1, NULL, NULL, NULL, error));
    REFUSED(tem_bag_measure(model, &beyond, 1, ids, 1, NULL, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, ids, 1, &beyond, 1, NULL, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, ids, 1, ids, 1, &unknown_option, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, ids, 1, ids, 1, NULL, &newer, &distance, error));
    /* Documents without a word that has a distance. */
    REFUSED(tem_bag_measure(model, NULL, 0, ids, 1, NULL, NULL, &distance, error));
    REFUSED(tem_bag_measure(model, ids, 1, ids + 1, 1, NULL, NULL, &distance, error));
    assert_true(distance.distance == 7);
}

static void test_pictures(void **state) {
    (void)state;
    const double one = 1;
    tem_picture_bar bar = {.word = "a", .bytes = 1};
    tem_picture_series series = {.name = "a", .values = &one};
    tem_picture_mark mark = {.name = "a"};
    tem_picture_point point = {.word = "a", .bytes = 1};
    tem_picture_law a_law = {.frame = {.title = "a"}, .bars = &bar, .bar_count = 1};
    tem_picture_curve curve = {.frame = {.title = "a"},
                               .epsilons = &one,
                               .count = 1,
                               .series = &series,
                               .series_count = 1};
    tem_picture_spread spread = {
        .frame = {.title = "a"}, .values = &one, .count = 1, .marks = &mark, .mark_count = 1};
    tem_picture_map map = {.frame = {.title = "a"}, .points = &point, .point_count = 1};
    char *svg = NULL;
    size_t bytes = 7;
    REFUSED(tem_picture_draw_law(NULL, &svg, &bytes, error));
    REFUSED(tem_picture_draw_law(&a_law, NULL, &bytes, error));
    REFUSED(tem_picture_draw_law(&a_law, &svg, NULL, error));
    REFUSED(tem_picture_draw_curve(NULL, &svg, &bytes, error));
    REFUSED(tem_picture_draw_curve(&curve, NULL, &bytes, error));
    REFUSED(tem_picture_draw_curve(&curve, &svg, NULL, error));
    REFUSED(tem_picture_draw_spread(NULL, &svg, &bytes, error));
    REFUSED(tem_picture_draw_spread(&spread, NULL, &bytes, error));
    REFUSED(tem_picture_draw_spread(&spread, &svg, NULL, error));
    REFUSED(tem_picture_draw_map(NULL, &svg, &bytes, error));
    REFUSED(tem_picture_draw_map(&map, NULL, &bytes, error));
    REFUSED(tem_picture_draw_map(&map, &svg, NULL, error));
    a_law.bars = NULL;
    REFUSED(tem_picture_draw_law(&a_law, &svg, &bytes, error));
    a_law.bars = &bar;
    curve.epsilons = NULL;
    REFUSED(tem_picture_draw_curve(&curve, &svg, &bytes, error));
    curve.epsilons = &one;
    curve.series = NULL;
    REFUSED(tem_picture_draw_curve(&curve, &svg, &bytes, error));
    curve.series = &series;
    series.values = NULL;
    REFUSED(tem_picture_draw_curve(&curve, &svg, &bytes, error));
    series.values = &one;
    spread.values = NULL;
    REFUSED(tem_picture_draw_spread(&spread, &svg, &bytes, error));
    spread.values = &one;
    spread.marks = NULL;
    REFUSED(tem_picture_draw_spread(&spread, &svg, &bytes, error));
    spread.marks = &mark;
    map.points = NULL;
    REFUSED(tem_picture_draw_map(&map, &svg, &bytes, error));
    map.points = &point;
    NEWER(a_law, tem_picture_draw_law(&a_law, &svg, &bytes, error));
    NEWER(a_law.frame, tem_picture_draw_law(&a_law, &svg, &bytes, error));
    NEWER(bar, tem_picture_draw_law(&a_law, &svg, &bytes, error));
    NEWER(curve, tem_picture_draw_curve(&curve, &svg, &bytes, error));
    NEWER(series, tem_picture_draw_curve(&curve, &svg, &bytes, error));
    NEWER(spread, tem_picture_draw_spread(&spread, &svg, &bytes, error));
    NEWER(mark, tem_picture_draw_spread(&spread, &svg, &bytes, error));
    NEWER(map, tem_picture_draw_map(&map, &svg, &bytes, error));
    NEWER(point, tem_picture_draw_map(&map, &svg, &bytes, error));
    assert_true(svg == NULL && bytes == 7);
}

static void test_report_pages(void **state) {
    (void)state;
    const uint32_t beyond = COUNT;
    const tem_point falling[2] = {{.epsilon = 2}, {.epsilon = 1}};
    const tem_point no_share = {.epsilon = 1, .summary = {.bayes = 2}};
    tem_findings_options options = {.prior = prior, .prior_name = "zipf"};
    tem_run run = {0};
    tem_job job = {0};
    tem_counts counts = {0};
    tem_balance balance = {0};
    tem_report_page page = {.job = &job, .counts = &counts};
    tem_findings *findings = NULL, *none = NULL;
    char *html = NULL;
    size_t bytes = 7;
    REFUSED(tem_findings_create(NULL, &options, NULL, &none, error));
    REFUSED(tem_findings_create(mechanism, NULL, NULL, &none, error));
    REFUSED(tem_findings_create(mechanism, &options, NULL, NULL, error));
    options.prior = NULL;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.prior = prior;
    options.prior_name = NULL;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.prior_name = "zipf";
    options.probe_count = 1;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.probes = &beyond;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.probe_count = TEM_PROBES_MAX + 1;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.probe_count = 0;
    options.curve_count = 2;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.curve = falling;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.curve = &no_share;
    options.curve_count = 1;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.curve_count = TEM_CURVE_MAX + 1;
    REFUSED(tem_findings_create(mechanism, &options, NULL, &none, error));
    options.curve_count = 0;
    NEWER(options, tem_findings_create(mechanism, &options, NULL, &none, error));
    NEWER(run, tem_findings_create(mechanism, &options, &run, &none, error));
    assert_null(none);
    assert_int_equal(tem_findings_create(mechanism, &options, NULL, &findings, NULL), TEM_OK);
    REFUSED(tem_report_html(NULL, &page, &html, &bytes, error));
    REFUSED(tem_report_html(findings, NULL, &html, &bytes, error));
    REFUSED(tem_report_html(findings, &page, NULL, &bytes, error));
    REFUSED(tem_report_html(findings, &page, &html, NULL, error));
    page.counts = NULL;
    REFUSED(tem_report_html(findings, &page, &html, &bytes, error));
    page.counts = &counts;
    page.balance = &balance; /* without a ledger */
    REFUSED(tem_report_html(findings, &page, &html, &bytes, error));
    job.ledger = "l";
    NEWER(page, tem_report_html(findings, &page, &html, &bytes, error));
    NEWER(job, tem_report_html(findings, &page, &html, &bytes, error));
    NEWER(job.text, tem_report_html(findings, &page, &html, &bytes, error));
    NEWER(counts, tem_report_html(findings, &page, &html, &bytes, error));
    NEWER(balance, tem_report_html(findings, &page, &html, &bytes, error));
    assert_true(html == NULL && bytes == 7);
    tem_findings_free(findings);
}

static void test_versions(void **state) {
    (void)state;
    const uint32_t minor = TEM_VERSION_MINOR * 1000u, here = TEM_VERSION_NUMBER;
    assert_int_equal(tem_version_number(), TEM_VERSION_NUMBER);
    assert_true(tem_version_check() == 1 && tem_version_is_compatible(here) == 1);
    /* An older library lacks what the header has. */
    assert_int_equal(tem_version_is_compatible(here + 1), 0);
    assert_int_equal(tem_version_is_compatible(here + 1000000), 0);
    assert_int_equal(tem_version_is_compatible(here - here % 1000), 1);
    /* Before 1.0.0 each minor version may differ. */
    assert_int_equal(tem_version_is_compatible(here - 1000), TEM_VERSION_MAJOR > 0 && minor > 0);
}

/* What has a name can be read back, and nothing else has one. */
#define ROUND_TRIP(type, first, last)                                                              \
    do {                                                                                           \
        type back = (type)77;                                                                      \
        assert_int_equal(type##_parse("unknown", &back, NULL), TEM_ERR_ARGUMENT);                  \
        assert_int_equal(back, 77);                                                                \
        for (int i = first; i <= (int)last; i++) {                                                 \
            assert_int_equal(type##_parse(type##_name((type)i), &back, NULL), TEM_OK);             \
            assert_int_equal(back, i);                                                             \
        }                                                                                          \
        assert_string_equal(type##_name((type)((int)first - 1)), "unknown");                       \
    } while (0)

static void test_names_and_back(void **state) {
    (void)state;
    ROUND_TRIP(tem_status, TEM_OK, TEM_ERR_UNTRUSTED);
    ROUND_TRIP(tem_metric, TEM_EUCLIDEAN, TEM_LINF);
    ROUND_TRIP(tem_oov, TEM_OOV_UNIFORM, TEM_OOV_KEEP_UNSAFE);
    ROUND_TRIP(tem_punctuation, TEM_PUNCTUATION_DROP, TEM_PUNCTUATION_WORD);
    ROUND_TRIP(tem_order, TEM_ORDER_KEPT, TEM_ORDER_COUNTS);
    ROUND_TRIP(tem_format, TEM_FORMAT_TEXT, TEM_FORMAT_JSONL);
    ROUND_TRIP(tem_missing, TEM_MISSING_EMPTY, TEM_MISSING_KEEP);
    ROUND_TRIP(tem_target, TEM_TARGET_SELF, TEM_TARGET_BAYES);
    assert_string_equal(tem_status_name((tem_status)(TEM_ERR_UNTRUSTED + 1)), "unknown");
    tem_weights_kind kind = TEM_WEIGHTS_OWN;
    for (int i = TEM_WEIGHTS_EQUAL; i <= TEM_WEIGHTS_TUNED; i++) {
        assert_int_equal(tem_weights_parse(tem_weights_name((tem_weights_kind)i), &kind, NULL),
                         TEM_OK);
        assert_int_equal(kind, i);
    }
    assert_string_equal(tem_weights_name(TEM_WEIGHTS_OWN), "own"); /* not for a user to choose */
    assert_int_equal(tem_weights_parse("own", &kind, NULL), TEM_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_nothing),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_statistics_of_released_text),
        cmocka_unit_test(test_ngram_calls),
        cmocka_unit_test(test_attack_calls),
        cmocka_unit_test(test_context_calls),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_options_not_taken),
        cmocka_unit_test(test_faulty_mechanisms),
        cmocka_unit_test(test_no_guarantee_is_refused),
        cmocka_unit_test(test_own_numbers),
        cmocka_unit_test(test_law_by_rows),
        cmocka_unit_test(test_lying_mechanisms),
        cmocka_unit_test(test_mechanisms),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_infos_of_nothing),
        cmocka_unit_test(test_newer_runs),
        cmocka_unit_test(test_adapting),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_newer_learning),
        cmocka_unit_test(test_own_language_calls),
        cmocka_unit_test(test_language_calls),
        cmocka_unit_test(test_newer_attacks),
        cmocka_unit_test(test_newer_statistics),
        cmocka_unit_test(test_comparing),
        cmocka_unit_test(test_newer_accounts),
        cmocka_unit_test(test_newer_options),
        cmocka_unit_test(test_searches_and_bags),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_report_pages),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_results_clear_reserved),
        cmocka_unit_test(test_words_count_from_1),
        cmocka_unit_test(test_names_and_back),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
