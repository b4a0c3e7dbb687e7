/* test_arguments.c - every call of tem.h refuses each argument that it needs and does not get, one
 * at a time, with TEM_ERR_ARGUMENT, and touches nothing. */
#include "tem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_model.h"

#include <string.h>
#include <unistd.h>

/* A call with an argument missing: refused with and without a place for the reason, which names no
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

static tem_vectors *vectors;
static tem_model *model;
static tem_mechanism *mechanism;
static tem_accountant *accountant;
static tem_prior *prior;
static tem_rng *rng;
static tem_law *law;

static int make_all(void **state) {
    (void)state;
    const tem_mechanism_options options = {.epsilon = 1};
    return tem_vectors_create(words, values, COUNT, 1, &vectors, NULL) != TEM_OK ||
           tem_model_build(vectors, NULL, NULL, &model, NULL) != TEM_OK ||
           tem_mechanism_create(model, &options, &mechanism, NULL) != TEM_OK ||
           tem_accountant_create(model, NULL, NULL, &accountant, NULL) != TEM_OK ||
           tem_prior_create_zipf(model, 1, &prior, NULL) != TEM_OK ||
           tem_rng_create(&rng, NULL) != TEM_OK ||
           tem_law_create(mechanism, 0, 17, &law, NULL) != TEM_OK;
}

static int free_all(void **state) {
    (void)state;
    tem_law_free(law);
    tem_rng_free(rng);
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    tem_vectors_free(vectors);
    return 0;
}

static void test_free_nothing(void **state) {
    (void)state;
    tem_law_free(NULL);
    tem_rng_free(NULL);
    tem_prior_free(NULL);
    tem_accountant_free(NULL);
    tem_mechanism_free(NULL);
    tem_model_free(NULL);
    tem_vectors_free(NULL);
    tem_certificate_free(NULL);
    tem_text_free(NULL);
}

static void test_names(void **state) {
    (void)state;
    tem_metric metric;
    tem_oov oov;
    tem_punctuation punctuation;
    tem_format format;
    tem_weights_kind weights;
    tem_target target;
    REFUSED(tem_metric_parse(NULL, &metric, error));
    REFUSED(tem_metric_parse("euclidean", NULL, error));
    REFUSED(tem_oov_parse(NULL, &oov, error));
    REFUSED(tem_oov_parse("uniform", NULL, error));
    REFUSED(tem_punctuation_parse(NULL, &punctuation, error));
    REFUSED(tem_punctuation_parse("drop", NULL, error));
    REFUSED(tem_format_parse(NULL, &format, error));
    REFUSED(tem_format_parse("csv", NULL, error));
    REFUSED(tem_weights_parse(NULL, &weights, error));
    REFUSED(tem_weights_parse("tuned", NULL, error));
    REFUSED(tem_target_parse(NULL, &target, error));
    REFUSED(tem_target_parse("self", NULL, error));
    REFUSED(tem_kernel_force(NULL, error));
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
    REFUSED(tem_model_save(NULL, "/tmp/never", TEM_KEEP_EXISTING, NULL, error));
    REFUSED(tem_model_save(model, NULL, TEM_KEEP_EXISTING, NULL, error));
    REFUSED(tem_model_open(NULL, &no_model, error));
    REFUSED(tem_model_open("/dev/null", NULL, error));
    REFUSED(tem_model_find_default(NULL, 1, path, sizeof path, &is_own, error));
    REFUSED(tem_model_find_default(folders, 1, path, sizeof path, &is_own, error));
    REFUSED(tem_model_find_default(folders, 0, NULL, sizeof path, &is_own, error));
    REFUSED(tem_model_find_default(folders, 0, path, sizeof path, NULL, error));
    REFUSED(tem_model_check(NULL, NULL, error));
    REFUSED(tem_model_verify(NULL, NULL, error));
    REFUSED(tem_model_vector(NULL, 0, vector, error));
    REFUSED(tem_model_vector(model, 0, NULL, error));
    REFUSED(tem_model_vector(model, COUNT, vector, error));
    REFUSED(tem_model_neighbours(NULL, 0, &near, error));
    REFUSED(tem_model_neighbours(model, 0, NULL, error));
    REFUSED(tem_model_neighbours(model, COUNT, &near, error));
    assert_true(no_vectors == NULL && no_model == NULL && is_own == 7);
    assert_int_not_equal(access("/tmp/never", F_OK), 0);
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
    REFUSED(tem_mechanism_self_median(NULL, &number, error));
    REFUSED(tem_mechanism_self_median(mechanism, NULL, error));
    REFUSED(tem_law_create(NULL, 0, 17, &no_law, error));
    REFUSED(tem_law_create(mechanism, 0, 17, NULL, error));
    REFUSED(tem_law_create(mechanism, COUNT, 17, &no_law, error));
    REFUSED(tem_law_create(mechanism, 0, 0, &no_law, error));
    REFUSED(tem_law_create(mechanism, 0, TEM_LAW_DIGITS_MAX + 1, &no_law, error));
    REFUSED(tem_law_decimal(law, 0, 17, NULL, sizeof text, error));
    REFUSED(tem_law_decimal(law, COUNT, 17, text, sizeof text, error));
    REFUSED(tem_law_decimal(law, 0, 0, text, sizeof text, error));
    REFUSED(tem_law_decimal(law, 0, 17, text, 17 + 31, error));
    REFUSED(tem_law_outside_decimal(law, ids, 1, 17, NULL, sizeof text, error));
    REFUSED(tem_law_outside_decimal(law, (uint32_t[]){COUNT}, 1, 17, text, sizeof text, error));
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
    const tem_job no_inputs = {.input_count = 1};
    REFUSED(tem_privatize_text(NULL, NULL, rng, "a", 1, NULL, &out, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, NULL, "a", 1, NULL, &out, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, rng, NULL, 1, NULL, &out, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, rng, "a", 1, NULL, NULL, &bytes, NULL, error));
    REFUSED(tem_privatize_text(mechanism, NULL, rng, "a", 1, NULL, &out, NULL, NULL, error));
    REFUSED(tem_model_pieces(NULL, "a", 1, ids, 1, &count, error));
    REFUSED(tem_model_pieces(model, NULL, 1, ids, 1, &count, error));
    REFUSED(tem_model_pieces(model, "a", 1, NULL, 1, &count, error));
    REFUSED(tem_model_pieces(model, "a", 1, ids, 1, NULL, error));
    REFUSED(tem_model_count_unreachable(NULL, &unreachable, error));
    REFUSED(tem_model_count_unreachable(model, NULL, error));
    REFUSED(tem_privatize_files(NULL, &no_inputs, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_files(mechanism, NULL, NULL, NULL, NULL, error));
    REFUSED(tem_privatize_files(mechanism, &no_inputs, NULL, NULL, NULL, error));
    assert_true(out == NULL && bytes == 7 && count == 7 && unreachable == 7);
    /* What need not be there. */
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
    tem_certificate *no_certificate = NULL, *certificate = NULL;
    tem_audit audit;
    double losses[2];
    tem_summary summary;
    tem_point point, points[TEM_CURVE_MAX];
    uint32_t count = 7;
    int has = 7;
    const tem_calibration wanted = {.epsilon = 1, .weights = TEM_WEIGHTS_EQUAL};
    const tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.5, .prior = prior};
    const tem_wish no_words = {.target = TEM_TARGET_SELF, .wanted = 0.5};
    assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &certificate, NULL),
                     TEM_OK);
    REFUSED(tem_accountant_create(NULL, NULL, NULL, &no_accountant, error));
    REFUSED(tem_accountant_create(model, NULL, NULL, NULL, error));
    REFUSED(tem_accountant_audit(NULL, mechanism, NULL, &audit, error));
    REFUSED(tem_accountant_audit(accountant, NULL, NULL, &audit, error));
    REFUSED(tem_accountant_audit(accountant, mechanism, NULL, NULL, error));
    REFUSED(tem_accountant_losses(NULL, mechanism, 1, NULL, losses, error));
    REFUSED(tem_accountant_losses(accountant, NULL, 1, NULL, losses, error));
    REFUSED(tem_accountant_losses(accountant, mechanism, 0, NULL, losses, error));
    REFUSED(tem_accountant_losses(accountant, mechanism, 1, NULL, NULL, error));
    REFUSED(tem_prior_create_zipf(NULL, 1, &no_prior, error));
    REFUSED(tem_prior_create_zipf(model, 1, NULL, error));
    REFUSED(tem_prior_load(NULL, "/dev/null", NULL, &no_prior, error));
    REFUSED(tem_prior_load(model, NULL, NULL, &no_prior, error));
    REFUSED(tem_prior_load(model, "/dev/null", NULL, NULL, error));
    REFUSED(tem_accountant_summarise(NULL, mechanism, prior, 0, NULL, &summary, error));
    REFUSED(tem_accountant_summarise(accountant, NULL, prior, 0, NULL, &summary, error));
    REFUSED(tem_accountant_summarise(accountant, mechanism, NULL, 0, NULL, &summary, error));
    REFUSED(tem_accountant_summarise(accountant, mechanism, prior, 0, NULL, NULL, error));
    REFUSED(tem_accountant_calibrate(NULL, &wanted, NULL, &no_certificate, error));
    REFUSED(tem_accountant_calibrate(accountant, NULL, NULL, &no_certificate, error));
    REFUSED(tem_accountant_calibrate(accountant, &wanted, NULL, NULL, error));
    REFUSED(tem_accountant_choose(NULL, &wish, NULL, &point, error));
    REFUSED(tem_accountant_choose(accountant, NULL, NULL, &point, error));
    REFUSED(tem_accountant_choose(accountant, &no_words, NULL, &point, error));
    REFUSED(tem_accountant_choose(accountant, &wish, NULL, NULL, error));
    assert_int_equal(tem_accountant_choose(accountant, &wish, NULL, &point, NULL), TEM_OK);
    REFUSED(tem_accountant_curve(NULL, &wish, &point, NULL, points, &count, error));
    REFUSED(tem_accountant_curve(accountant, NULL, &point, NULL, points, &count, error));
    REFUSED(tem_accountant_curve(accountant, &wish, NULL, NULL, points, &count, error));
    REFUSED(tem_accountant_curve(accountant, &wish, &point, NULL, NULL, &count, error));
    REFUSED(tem_accountant_curve(accountant, &wish, &point, NULL, points, NULL, error));
    REFUSED(tem_certificate_verify(NULL, accountant, NULL, error));
    REFUSED(tem_certificate_verify(certificate, NULL, NULL, error));
    REFUSED(tem_certificate_save(NULL, "/tmp/never", NULL, error));
    REFUSED(tem_certificate_save(certificate, NULL, NULL, error));
    REFUSED(tem_certificate_load(NULL, 0, &no_certificate, error));
    REFUSED(tem_certificate_load("/dev/null", 0, NULL, error));
    REFUSED(tem_certificate_find(NULL, model, &wanted, &no_certificate, error));
    REFUSED(tem_certificate_find("/dev/null", NULL, &wanted, &no_certificate, error));
    REFUSED(tem_certificate_find("/dev/null", model, NULL, &no_certificate, error));
    REFUSED(tem_certificate_find("/dev/null", model, &wanted, NULL, error));
    REFUSED(tem_trust_has(NULL, &has, error));
    REFUSED(tem_trust_has("0123", &has, error));
    REFUSED(tem_trust_add(NULL, NULL, error));
    REFUSED(tem_trust_add("0123", NULL, error));
    assert_true(no_accountant == NULL && no_prior == NULL && no_certificate == NULL);
    assert_true(count == 7 && has == 7);
    assert_int_not_equal(access("/tmp/never", F_OK), 0);
    tem_certificate_free(certificate);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_nothing), cmocka_unit_test(test_names),
        cmocka_unit_test(test_models),       cmocka_unit_test(test_mechanisms),
        cmocka_unit_test(test_texts),        cmocka_unit_test(test_accounts),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
