/* test_exclude.c - words that are never outputs: draws, laws, files, certificates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/accountant.h"
#include "certificate/certificate.h"
#include "core/memory.h"
#include "mech/law.h"
#include "mech/madlib.h"
#include "model/model_layout.h"
#include "promise.h"
#include "slow.h"
#include "tem_account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 300, DIMENSION = 6, EXCLUDED = 30, LIST = 24 };

static tem_model *plain, *excluding;

/* The first range of the index (19 words) has no output at all; the others are spread. */
static bool is_out(uint32_t id) {
    return id < 19 || (id % 25 == 7 && id >= 25);
}

static tem_vectors *vectors_of(void) {
    static char names[WORDS][8];
    static const char *words[WORDS];
    static float values[WORDS * DIMENSION];
    uint64_t state = 1;
    for (uint32_t id = 0; id < WORDS; id++) {
        snprintf(names[id], sizeof names[id], "w%u", id);
        words[id] = names[id];
        for (uint32_t i = 0; i < DIMENSION; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            values[id * DIMENSION + i] = (float)(state >> 40) / 0x1p22f;
        }
    }
    tem_vectors *vectors = NULL;
    assert_int_equal(tem_vectors_create(words, values, WORDS, DIMENSION, &vectors, NULL), TEM_OK);
    return vectors;
}

static tem_status build(const char *const *exclude, uint32_t count, tem_model **model,
                        tem_error *error) {
    tem_vectors *vectors = vectors_of();
    const tem_build_options options = {
        .neighbours = LIST, .allow_coarse = 1, .exclude = exclude, .exclude_count = count};
    const tem_status status = tem_model_build(vectors, &options, NULL, model, error);
    tem_vectors_free(vectors);
    return status;
}

/* Names each excluded word twice, in descending order, between words that no vocabulary has. */
static tem_model *build_excluding(void) {
    static char names[WORDS][8];
    const char *exclude[3 * WORDS];
    uint32_t count = 0;
    tem_model *model = NULL;
    for (uint32_t id = WORDS; id-- > 0;)
        if (is_out(id)) {
            snprintf(names[id], sizeof names[id], "w%u", id);
            exclude[count++] = names[id];
            exclude[count++] = "nosuchword";
            exclude[count++] = names[id];
        }
    assert_int_equal(build(exclude, count, &model, NULL), TEM_OK);
    return model;
}

static int set_up(void **state) {
    (void)state;
    assert_int_equal(build(NULL, 0, &plain, NULL), TEM_OK);
    excluding = build_excluding();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_model_free(plain);
    tem_model_free(excluding);
    return 0;
}

/* ---- building ---- */

static void test_build(void **state) {
    (void)state;
    tem_model_info info;
    tem_model_get_info(plain, &info);
    assert_int_equal(info.excluded, 0);
    tem_model_get_info(excluding, &info);
    assert_int_equal(info.excluded, EXCLUDED);
    for (uint32_t id = 0; id < WORDS; id++) {
        assert_int_equal(tem_model_is_excluded(plain, id), 0);
        assert_int_equal(tem_model_is_excluded(excluding, id), is_out(id));
    }
    assert_int_equal(tem_model_is_excluded(excluding, WORDS), 0);
    assert_int_equal(tem_model_is_excluded(excluding, TEM_NO_WORD), 0);
    assert_int_equal(tem_model_is_excluded(NULL, 0), 0);
}

static void test_refusals(void **state) {
    (void)state;
    tem_model *model = NULL;
    tem_error error;
    const char *const unknown[] = {"W1", "nosuchword", ""};
    assert_int_equal(build(unknown, 3, &model, &error), TEM_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no word to exclude is in the vocabulary"));
    const char *const missing[] = {"w1", NULL};
    assert_int_equal(build(missing, 2, &model, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(build(NULL, 1, &model, &error), TEM_ERR_ARGUMENT);
    char names[WORDS][8];
    const char *all[WORDS];
    for (uint32_t id = 0; id < WORDS; id++) {
        snprintf(names[id], sizeof names[id], "w%u", id);
        all[id] = names[id];
    }
    assert_int_equal(build(all, WORDS, &model, &error), TEM_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "all words are excluded"));
    assert_int_equal(build(all, WORDS - 1, &model, &error), TEM_OK); /* one output is left */
    tem_model_free(model);
}

/* ---- draws ---- */

/* Draws for all words and an unknown one, in turn; counts the outputs. */
static void draw_all(const tem_mechanism_options *options, uint64_t draws, uint64_t *counts) {
    enum { AT_ONCE = WORDS + 1 };
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    uint32_t words[AT_ONCE], out[AT_ONCE];
    assert_int_equal(tem_mechanism_create(excluding, options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(20, 0, &rng, NULL), TEM_OK);
    for (uint32_t id = 0; id < WORDS; id++)
        words[id] = id;
    words[WORDS] = TEM_NO_WORD;
    for (uint64_t done = 0; done < draws; done += AT_ONCE) {
        /* ops->draw, not tem_mechanism_draw_many, which would refuse an excluded word */
        assert_int_equal(mechanism->ops->draw(mechanism->state, words, AT_ONCE, rng, out, NULL),
                         TEM_OK);
        for (uint32_t i = 0; i < AT_ONCE; i++)
            counts[out[i]]++;
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
}

static void check_counts(const uint64_t *counts, bool all_drawn) {
    for (uint32_t id = 0; id < WORDS; id++) {
        if (is_out(id))
            assert_int_equal(counts[id], 0);
        else if (all_drawn)
            assert_true(counts[id] > 0);
    }
}

static tem_certificate *certificate_of(const tem_model *model, double epsilon,
                                       tem_weights_kind kind) {
    tem_accountant *accountant = NULL;
    tem_certificate *certificate = NULL;
    const tem_calibration wanted = {.epsilon = epsilon, .weights = kind};
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &certificate, NULL, NULL),
                     TEM_OK);
    tem_accountant_free(accountant);
    return certificate;
}

/* Ten million draws in all. */
static void test_never_drawn(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 3, 20};
    uint32_t own[WORDS];
    for (uint32_t id = 0; id < WORDS; id++)
        own[id] = id % 7 == 3 ? 0 : 1 + id * 1000;
    for (size_t i = 0; i < 3; i += SLOW ? 2 : 1) {
        uint64_t counts[WORDS] = {0};
        tem_certificate *equal = certificate_of(excluding, epsilons[i], TEM_WEIGHTS_EQUAL);
        tem_certificate *balanced = certificate_of(excluding, epsilons[i], TEM_WEIGHTS_BALANCED);
        const tem_mechanism_options options[] = {
            {.epsilon = epsilons[i]},
            {.mechanism = "em", .epsilon = epsilons[i]},
            {.epsilon = epsilons[i], .weights = own},
            {.mechanism = "em", .epsilon = epsilons[i], .weights = own},
            {.epsilon = epsilons[i], .certificate = equal},
            {.epsilon = epsilons[i], .certificate = balanced},
        };
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            draw_all(&options[k], 560000, counts);
            check_counts(counts, k == 0);
        }
        tem_certificate_free(equal);
        tem_certificate_free(balanced);
    }
}

/* The search for the nearest word leaves out excluded words, and unknown words draw from the
 * others. */
static void test_madlib(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 5, 1000};
    for (size_t i = 0; i < 3; i++) {
        uint64_t counts[WORDS] = {0};
        const tem_mechanism_options options = {.mechanism = "madlib", .epsilon = epsilons[i]};
        draw_all(&options, 60000, counts);
        check_counts(counts, i == 2); /* without noise every output is drawn */
    }
    /* Without noise an excluded word becomes its nearest output. */
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    uint32_t out = 0;
    const tem_mechanism_options options = {.mechanism = "madlib", .epsilon = 1e6};
    assert_int_equal(tem_mechanism_create(excluding, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(1, 0, &rng, NULL), TEM_OK);
    for (uint32_t id = 0; id < WORDS; id++) {
        assert_int_equal(tem_mechanism_draw(mechanism, rng, id, &out, NULL), TEM_OK);
        for (uint32_t y = 0; y < WORDS; y++)
            assert_true(is_out(y) || tem_model_distance(excluding, id, y) >=
                                         tem_model_distance(excluding, id, out));
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
}

/* A mechanism that does not heed the weights. */
static tem_status draw_same(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                            uint32_t *out, tem_error *error) {
    (void)state, (void)rng, (void)error;
    memmove(out, words, count * sizeof *out);
    return TEM_OK;
}

static void test_heedless_mechanism(void **state) {
    (void)state;
    mechanism_ops ops = mechanism_madlib;
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    uint32_t out = 0;
    ops.draw = draw_same;
    const tem_mechanism_options options = {.epsilon = 1};
    assert_int_equal(mechanism_make(excluding, &ops, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(1, 0, &rng, NULL), TEM_OK);
    for (uint32_t id = 0; id < WORDS; id++)
        assert_int_equal(tem_mechanism_draw(mechanism, rng, id, &out, NULL),
                         is_out(id) ? TEM_ERR_DAMAGED : TEM_OK);
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
}

/* ---- laws ---- */

/* The probabilities by the formula, over the outputs alone. */
static void formula(const tem_mechanism_info *info, uint32_t word, const uint32_t *given,
                    long double *out) {
    long double total = 0;
    for (uint32_t y = 0; y < WORDS; y++) {
        const tem_dist d =
            word == TEM_NO_WORD ? info->gamma_steps : tem_model_distance(excluding, word, y);
        const tem_dist m = d < info->gamma_steps ? d : info->gamma_steps;
        const long double x = (long double)info->s_steps * m * 0x1p-36L;
        out[y] = is_out(y) ? 0 : (given == NULL ? 1 : given[y]) * expl(-x);
        total += out[y];
    }
    for (uint32_t y = 0; y < WORDS; y++)
        out[y] /= total;
}

static void check_law(const tem_mechanism *mechanism, uint32_t word, const uint32_t *given) {
    tem_mechanism_info info;
    tem_law *law = NULL;
    long double right[WORDS];
    mpfr_t sum;
    tem_mechanism_get_info(mechanism, &info);
    formula(&info, word, given, right);
    assert_int_equal(
        law_make(mechanism_form(mechanism), &mechanism->model->space, word, 40, &law, NULL),
        TEM_OK);
    mpfr_init2(sum, 300);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < WORDS; y++) {
        const long double p = mpfr_get_ld(law->probabilities[y], MPFR_RNDN);
        assert_true(!is_out(y) || mpfr_zero_p(law->probabilities[y]));
        assert_true(fabsl(p - right[y]) <= 1e-15L * right[y]);
        mpfr_add(sum, sum, law->probabilities[y], MPFR_RNDN);
    }
    mpfr_sub_ui(sum, sum, 1, MPFR_RNDN);
    assert_true(mpfr_cmpabs_ui(sum, 0) == 0 || mpfr_get_exp(sum) < -130);
    mpfr_clear(sum);
    law_free(law);
}

static void test_law(void **state) {
    (void)state;
    uint32_t own[WORDS];
    for (uint32_t id = 0; id < WORDS; id++)
        own[id] = 1 + id * 3;
    for (int weighted = 0; weighted < 2; weighted++)
        for (int em = 0; em < 2; em++) {
            tem_mechanism *mechanism = NULL;
            tem_mechanism_info info;
            const tem_mechanism_options options = {
                .mechanism = em ? "em" : "tem", .epsilon = 3, .weights = weighted ? own : NULL};
            assert_int_equal(tem_mechanism_create(excluding, &options, &mechanism, NULL), TEM_OK);
            tem_mechanism_get_info(mechanism, &info);
            assert_int_equal(info.weights, weighted ? TEM_WEIGHTS_OWN : TEM_WEIGHTS_EQUAL);
            assert_true(isfinite(info.moved_mass));
            for (uint32_t word = 0; word < WORDS; word += 3)
                check_law(mechanism, word, weighted ? own : NULL);
            check_law(mechanism, TEM_NO_WORD, weighted ? own : NULL);
            tem_mechanism_free(mechanism);
        }
}

/* What the words beyond gamma have together, for the input for which it is most. An excluded input
 * has no term of its own in Z, and Z may be small. */
static void test_moved_mass(void **state) {
    (void)state;
    tem_mechanism *mechanism = NULL;
    tem_mechanism_info info;
    long double most = 0;
    const tem_mechanism_options options = {.mechanism = "em", .epsilon = 40};
    assert_int_equal(tem_mechanism_create(excluding, &options, &mechanism, NULL), TEM_OK);
    tem_mechanism_get_info(mechanism, &info);
    for (uint32_t w = 0; w < WORDS; w++) {
        long double right[WORDS], beyond = 0;
        formula(&info, w, NULL, right);
        for (uint32_t y = 0; y < WORDS; y++)
            beyond += tem_model_distance(excluding, w, y) > info.gamma_steps ? right[y] : 0;
        most = fmaxl(most, beyond);
    }
    assert_true(most > 0 && most <= info.moved_mass);
    assert_true(info.moved_mass < 100 * most);
    tem_mechanism_free(mechanism);
}

/* Chi-square of the draws for an excluded word, and for one near it, against their laws. */
static void test_draws_have_the_law(void **state) {
    (void)state;
    enum { DRAWS = 400000 };
    static const uint32_t inputs[] = {5, 32, 33, TEM_NO_WORD};
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    uint32_t *out = calloc(DRAWS, sizeof *out);
    const tem_mechanism_options options = {.epsilon = 2};
    assert_int_equal(tem_mechanism_create(excluding, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(3, 0, &rng, NULL), TEM_OK);
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        uint32_t counts[WORDS] = {0}, cells = 0;
        long double right[WORDS], square = 0;
        tem_mechanism_info info;
        tem_mechanism_get_info(mechanism, &info);
        formula(&info, inputs[k], NULL, right);
        for (uint32_t i = 0; i < DRAWS; i++)
            out[i] = inputs[k];
        assert_int_equal(tem_mechanism_draw_many(mechanism, rng, out, out, DRAWS, NULL), TEM_OK);
        for (uint32_t i = 0; i < DRAWS; i++)
            counts[out[i]]++;
        for (uint32_t y = 0; y < WORDS; y++)
            if (right[y] * DRAWS > 10) {
                square += (counts[y] - right[y] * DRAWS) * (counts[y] - right[y] * DRAWS) /
                          (right[y] * DRAWS);
                cells++;
            }
        assert_true(cells > 100);
        assert_true(square < cells + 5 * sqrtl(2 * cells)); /* five standard deviations */
    }
    free(out);
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
}

/* ---- the proof ---- */

/* The inequality of the theorem for all triples, excluded words as inputs among them. */
static void test_promise(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 3, 20};
    uint32_t *mask = NULL;
    assert_int_equal(model_output_weights(excluding, NULL, &mask, NULL), TEM_OK);
    for (size_t i = 0; i < 3; i += SLOW ? 2 : 1)
        for (tem_weights_kind kind = TEM_WEIGHTS_EQUAL; kind <= TEM_WEIGHTS_BALANCED; kind++) {
            tem_certificate *c = certificate_of(excluding, epsilons[i], kind);
            const exponent e = {c->s, c->gamma};
            const uint32_t *used = c->weights == NULL ? mask : c->weights;
            for (uint32_t id = 0; id < WORDS; id++)
                assert_int_equal(used[id] == 0, is_out(id));
            assert_int_equal(promise_count_broken(&excluding->space, e, used, epsilons[i]), 0);
            tem_certificate_free(c);
        }
    core_free(mask);
}

/* Z of equal weights is a sum over the outputs alone: the audit agrees with brute force. */
static void test_audit(void **state) {
    (void)state;
    tem_accountant *accountant = NULL;
    tem_mechanism *mechanism = NULL;
    tem_mechanism_info info;
    tem_audit audit;
    long double logs[WORDS], worst = 0;
    const tem_mechanism_options options = {.epsilon = 3};
    assert_int_equal(tem_accountant_create(excluding, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(excluding, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_accountant_audit(accountant, mechanism, NULL, &audit, NULL), TEM_OK);
    tem_mechanism_get_info(mechanism, &info);
    for (uint32_t w = 0; w < WORDS; w++) {
        logs[w] = 0;
        for (uint32_t y = 0; y < WORDS; y++) {
            const tem_dist d = tem_model_distance(excluding, w, y);
            const tem_dist m = d < info.gamma_steps ? d : info.gamma_steps;
            logs[w] += is_out(y) ? 0 : expl(-(long double)info.s_steps * m * 0x1p-36L);
        }
        logs[w] = logl(logs[w]);
        for (uint32_t v = 0; v < w; v++) {
            const tem_dist d = tem_model_distance(excluding, w, v);
            const long double m =
                (long double)(d < info.gamma_steps ? d : info.gamma_steps) / 65536;
            worst = fmaxl(worst, fabsl(logs[w] - logs[v]) / m);
        }
    }
    assert_true(fabsl(audit.realised - (info.s + worst)) < 1e-6L * audit.realised);
    tem_mechanism_free(mechanism);
    tem_accountant_free(accountant);
}

/* ---- files and certificates ---- */

static char path[] = "/tmp/tem-exclude-XXXXXX";

static void test_round_trip(void **state) {
    (void)state;
    tem_model *opened = NULL;
    tem_model_info info;
    char built[65], read[65];
    unsigned char space_built[CORE_HASH_BYTES], space_read[CORE_HASH_BYTES];
    assert_int_equal(tem_model_save(excluding, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(path, &opened, NULL), TEM_OK);
    assert_int_equal(tem_model_verify(opened, NULL, NULL), TEM_OK);
    tem_model_get_info(opened, &info);
    assert_int_equal(info.excluded, EXCLUDED);
    for (uint32_t id = 0; id < WORDS; id++)
        assert_int_equal(tem_model_is_excluded(opened, id), is_out(id));
    assert_int_equal(tem_model_hash(excluding, NULL, built, NULL), TEM_OK);
    assert_int_equal(tem_model_hash(opened, NULL, read, NULL), TEM_OK);
    assert_string_equal(built, read);
    assert_string_equal(built, info.hash);
    model_space_hash(excluding, space_built);
    model_space_hash(opened, space_read);
    assert_memory_equal(space_built, space_read, sizeof space_built);
    model_space_hash(plain, space_read);
    assert_memory_not_equal(space_built, space_read, sizeof space_built);
    tem_model_free(opened);
}

/* Opens the file with these ids as its excluded words and with hashes that fit. */
static tem_status open_with(const uint32_t *ids, uint32_t count, uint32_t more_bytes) {
    tem_model *opened = NULL;
    model_header header;
    model_section table[SECTIONS_MAX];
    model_seal seal = {0};
    assert_int_equal(model_front(excluding, &header, table, NULL), TEM_OK);
    model_section *last = &table[header.sections - 1];
    assert_int_equal(last->kind, SECTION_EXCLUDED);
    last->bytes = count * sizeof *ids + more_bytes;
    header.file_bytes = core_round_up(last->offset + last->bytes, MODEL_ALIGNMENT);
    char *bytes = calloc(1, header.file_bytes);
    assert_non_null(bytes);
    for (uint32_t i = 0; i < header.sections; i++) {
        const void *data =
            table + i == last ? (const void *)ids : model_section_data(excluding, &table[i]);
        if (table[i].bytes > 0)
            memcpy(bytes + table[i].offset, data,
                   table[i].bytes - (table + i == last ? more_bytes : 0));
        core_hash256(bytes + table[i].offset, table[i].bytes, table[i].hash);
    }
    model_front_hash(&header, table, seal.hash);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, table, header.sections * sizeof *table);
    memcpy(bytes + header.header_bytes - sizeof seal, &seal, sizeof seal);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, header.file_bytes, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    const tem_status status = tem_model_open(path, &opened, NULL);
    if (status == TEM_OK)
        assert_int_equal(tem_model_verify(opened, NULL, NULL), TEM_OK);
    tem_model_free(opened);
    return status;
}

static void test_hostile_files(void **state) {
    (void)state;
    uint32_t all[WORDS];
    for (uint32_t id = 0; id < WORDS; id++)
        all[id] = id;
    assert_int_equal(open_with((const uint32_t[]){3, 4, 299}, 3, 0), TEM_OK);
    assert_int_equal(open_with(all, WORDS - 1, 0), TEM_OK);
    assert_int_equal(open_with(all, WORDS, 0), TEM_ERR_DAMAGED);
    assert_int_equal(open_with(all, 0, 0), TEM_ERR_DAMAGED);
    assert_int_equal(open_with(all, 1, 2), TEM_ERR_DAMAGED); /* six bytes */
    assert_int_equal(open_with((const uint32_t[]){3, 300}, 2, 0), TEM_ERR_DAMAGED);
    assert_int_equal(open_with((const uint32_t[]){3, UINT32_MAX}, 2, 0), TEM_ERR_DAMAGED);
    assert_int_equal(open_with((const uint32_t[]){4, 3}, 2, 0), TEM_ERR_DAMAGED);
    assert_int_equal(open_with((const uint32_t[]){3, 3}, 2, 0), TEM_ERR_DAMAGED);
}

/* Another process changes the excluded words between opening and checking. */
static void test_changed_after_opening(void **state) {
    (void)state;
    tem_model *opened = NULL;
    assert_int_equal(tem_model_save(excluding, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(path, &opened, NULL), TEM_OK);
    ((uint32_t *)(uintptr_t)opened->excluded)[EXCLUDED - 1] = WORDS - 1;
    assert_int_equal(tem_model_check(opened, NULL, NULL), TEM_ERR_DAMAGED);
    tem_model_free(opened);
}

static tem_status create_with(const tem_model *model, const tem_certificate *certificate) {
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 3, .certificate = certificate};
    const tem_status status = tem_mechanism_create(model, &options, &mechanism, NULL);
    tem_mechanism_free(mechanism);
    return status;
}

static void test_certificates(void **state) {
    (void)state;
    for (tem_weights_kind kind = TEM_WEIGHTS_EQUAL; kind <= TEM_WEIGHTS_BALANCED; kind++) {
        tem_accountant *accountant = NULL;
        tem_certificate *of_plain = certificate_of(plain, 3, kind);
        tem_certificate *of_excluding = certificate_of(excluding, 3, kind);
        assert_int_equal(create_with(plain, of_plain), TEM_OK);
        assert_int_equal(create_with(excluding, of_excluding), TEM_OK);
        assert_int_equal(create_with(plain, of_excluding), TEM_ERR_CERTIFICATE);
        assert_int_equal(create_with(excluding, of_plain), TEM_ERR_CERTIFICATE);
        assert_int_equal(tem_accountant_create(excluding, NULL, NULL, &accountant, NULL), TEM_OK);
        assert_int_equal(tem_certificate_verify(of_excluding, accountant, NULL, NULL), TEM_OK);
        assert_int_equal(tem_certificate_verify(of_plain, accountant, NULL, NULL),
                         TEM_ERR_CERTIFICATE);
        tem_accountant_free(accountant);
        tem_certificate_free(of_plain);
        tem_certificate_free(of_excluding);
    }
}

/* A certificate that gives a weight to an excluded word. */
static void test_forged_weights(void **state) {
    (void)state;
    tem_accountant *accountant = NULL;
    uint32_t *mask = NULL;
    tem_certificate *equal = certificate_of(excluding, 3, TEM_WEIGHTS_EQUAL);
    assert_int_equal(model_output_weights(excluding, NULL, &mask, NULL), TEM_OK);
    tem_certificate forged = *equal;
    forged.kind = TEM_WEIGHTS_BALANCED;
    forged.count = WORDS;
    forged.weights = mask;
    assert_int_equal(tem_accountant_create(excluding, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(create_with(excluding, &forged), TEM_OK);
    assert_int_equal(tem_certificate_verify(&forged, accountant, NULL, NULL), TEM_OK);
    mask[3] = 1;
    assert_int_equal(create_with(excluding, &forged), TEM_ERR_CERTIFICATE);
    assert_int_equal(tem_certificate_verify(&forged, accountant, NULL, NULL), TEM_ERR_CERTIFICATE);
    core_free(mask);
    tem_accountant_free(accountant);
    tem_certificate_free(equal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_never_drawn),
        cmocka_unit_test(test_madlib),
        cmocka_unit_test(test_heedless_mechanism),
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_moved_mass),
        cmocka_unit_test(test_draws_have_the_law),
        cmocka_unit_test(test_promise),
        cmocka_unit_test(test_audit),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_changed_after_opening),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_forged_weights),
    };
    const int descriptor = mkstemp(path);
    if (descriptor < 0)
        return 1;
    close(descriptor);
    const int failed = cmocka_run_group_tests_name("exclude", tests, set_up, tear_down);
    unlink(path);
    return failed;
}
