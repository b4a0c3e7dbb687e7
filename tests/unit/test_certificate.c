/* test_certificate.c - certificates: the file, the model that a certificate is for, and the
 * mechanism made from it. test_account tests whether the numbers of a certificate are right; here
 * they are chosen by hand. */
#include "certificate/certificate.h"
#include "mech/exponent.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "small_model.h"
#include "tem_account.h"

enum { COUNT = 5, DIMENSION = 3, HEADER_BYTES = 64, RECORD_BYTES = 320, FILE_MAX = 1 << 12 };

static const char *const words[COUNT] = {"one", "two", "three", "four", "five"};
static const float values[COUNT * DIMENSION] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};

static char folder[64], path[96], model_path[96];
static tem_model *model;

/* ---- making things ---- */

static tem_model *build(const char *const *names, const float *numbers, tem_metric metric,
                        uint32_t neighbours) {
    return small_model(names, numbers, COUNT, DIMENSION, metric, neighbours);
}

static tem_certificate *make(double epsilon, double beta, uint64_t s, tem_dist gamma) {
    tem_certificate *c = NULL;
    const tem_certificate said = {.epsilon = epsilon,
                                  .beta = beta,
                                  .s = s,
                                  .gamma = gamma,
                                  .realised = epsilon * 0.99,
                                  .kind = TEM_WEIGHTS_EQUAL};
    assert_int_equal(certificate_make(model, &said, &c, NULL), TEM_OK);
    return c;
}

/* epsilon 2, the default beta, s = 1.5, gamma = 4. */
static tem_certificate *make_usual(void) {
    return make(2, TEM_BETA_DEFAULT, 3u << 19, 4 * TEM_DIST_ONE);
}

static void save_and_free(tem_certificate *c) {
    assert_int_equal(tem_certificate_save(c, path, NULL, NULL), TEM_OK);
    tem_certificate_free(c);
}

static tem_certificate_info info_of(const tem_certificate *c) {
    tem_certificate_info info;
    tem_certificate_get_info(c, &info);
    return info;
}

/* Hash of the i-th certificate of the file, or "" if there are fewer. */
static const char *hash_at(uint32_t i) {
    static char hash[65];
    tem_certificate *c = NULL;
    assert_int_equal(tem_certificate_load(path, i, &c, NULL), TEM_OK);
    snprintf(hash, sizeof hash, "%s", c == NULL ? "" : info_of(c).hash);
    tem_certificate_free(c);
    return hash;
}

static size_t read_file(unsigned char bytes[FILE_MAX]) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, FILE_MAX, file);
    assert_true(size < FILE_MAX);
    fclose(file);
    return size;
}

static void write_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The status of the first certificate that cannot be loaded, or TEM_OK. */
static tem_status load_status_of(const char *file) {
    static char marker;
    tem_certificate *c = NULL;
    tem_error error;
    tem_status status = TEM_OK;
    for (uint32_t i = 0; status == TEM_OK; i++) {
        c = (tem_certificate *)(void *)&marker;
        status = tem_certificate_load(file, i, &c, &error);
        if (status == TEM_OK && c == NULL)
            return status;
        if (status == TEM_OK)
            tem_certificate_free(c);
    }
    assert_ptr_equal(c, &marker);
    assert_int_equal(error.status, status);
    assert_string_equal(error.file, file);
    return status;
}

static tem_status load_status(void) {
    return load_status_of(path);
}

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/tem-certificate-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/m.tem.cert", folder);
    snprintf(model_path, sizeof model_path, "%s/m.tem", folder);
    model = build(words, values, TEM_EUCLIDEAN, 3);
    return 0;
}

static int clear(void **state) {
    (void)state;
    unlink(path);
    unlink(model_path);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    tem_model_free(model);
    return rmdir(folder);
}

/* ---- the hash of a space ---- */

static void hash_space(const tem_model *m, unsigned char out[CORE_HASH_BYTES]) {
    memset(out, 0, CORE_HASH_BYTES);
    model_space_hash(m, out);
}

static bool same_space(const tem_model *a, const tem_model *b) {
    unsigned char of_a[CORE_HASH_BYTES], of_b[CORE_HASH_BYTES];
    hash_space(a, of_a);
    hash_space(b, of_b);
    return memcmp(of_a, of_b, sizeof of_a) == 0;
}

static void check_saved_space(const tem_model *built) {
    tem_model *opened = NULL;
    assert_int_equal(tem_model_save(built, model_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(model_path, &opened, NULL), TEM_OK);
    assert_true(same_space(built, opened));
    tem_model_free(opened);
}

static double far_apart(void *context, uint32_t a, uint32_t b) {
    return *(const double *)context + a + b;
}

static void test_space_of_file(void **state) {
    (void)state;
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        tem_model *built = build(words, values, metrics[i], 2);
        check_saved_space(built);
        assert_true(same_space(built, model) == (metrics[i] == TEM_EUCLIDEAN)); /* other lists */
        tem_model_free(built);
    }
}

static void test_space_of_matrix(void **state) {
    (void)state;
    tem_model *made[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        double base = 10 + i;
        assert_int_equal(
            tem_model_build_function(words, COUNT, far_apart, &base, 2, NULL, &made[i], NULL),
            TEM_OK);
        check_saved_space(made[i]);
    }
    assert_false(same_space(made[0], made[1]));
    tem_model_free(made[0]);
    tem_model_free(made[1]);
}

/* One number, one word, the order, the word boundaries, the step: each makes another space. */
static void test_other_spaces(void **state) {
    (void)state;
    float moved[COUNT * DIMENSION], large[COUNT * DIMENSION];
    const char *renamed[COUNT], *cut[COUNT];
    memcpy(moved, values, sizeof moved);
    moved[7] += 0.001f;
    for (size_t i = 0; i < COUNT * DIMENSION; i++)
        large[i] = values[i] * 64;
    memcpy(renamed, words, sizeof renamed);
    renamed[4] = "six";
    memcpy(cut, words, sizeof cut);
    cut[0] = "onet";
    cut[1] = "wo";
    const char *const swapped[COUNT] = {"two", "one", "three", "four", "five"};
    tem_model *others[] = {
        build(words, moved, TEM_EUCLIDEAN, 3), build(words, large, TEM_EUCLIDEAN, 3),
        build(renamed, values, TEM_EUCLIDEAN, 3), build(cut, values, TEM_EUCLIDEAN, 3),
        build(swapped, values, TEM_EUCLIDEAN, 3)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (same_space(model, others[i]))
            fail_msg("space %zu is not distinguished", i);
        tem_model_free(others[i]);
    }
}

/* ---- the file ---- */

static void test_round_trip(void **state) {
    (void)state;
    tem_certificate *c = make_usual(), *loaded = NULL;
    const tem_certificate_info saved = info_of(c);
    save_and_free(c);
    assert_int_equal(tem_certificate_load(path, 0, &loaded, NULL), TEM_OK);
    const tem_certificate_info info = info_of(loaded);
    assert_true(info.epsilon >= 2 && info.epsilon <= 2);
    assert_true(info.beta >= TEM_BETA_DEFAULT && info.beta <= TEM_BETA_DEFAULT);
    assert_true(info.s_steps == 3u << 19 && info.s >= 1.5 && info.s <= 1.5);
    assert_true(info.gamma_steps == 4 * TEM_DIST_ONE && info.gamma >= 4 && info.gamma <= 4);
    assert_true(info.realised >= saved.realised && info.realised <= saved.realised);
    assert_int_equal(info.weights, TEM_WEIGHTS_EQUAL);
    assert_string_equal(info.space, saved.space);
    assert_string_equal(info.hash, saved.hash);
    assert_int_equal(strlen(info.space), 64);
    assert_int_equal(strlen(info.hash), 64);
    tem_certificate_free(loaded);
    assert_int_equal(tem_certificate_load(path, 1, &loaded, NULL), TEM_OK);
    assert_null(loaded);
}

/* With weights, a name of maximum length, and numbers in which every byte matters. */
static void test_round_trip_of_all(void **state) {
    (void)state;
    const uint32_t weights[COUNT] = {0x01020304, 7, 0, 0xffffffff, 0x80000001};
    tem_certificate said = {
        .epsilon = 2 + 1.0 / 3,
        .beta = 1.0 / 7,
        .s = 0x123457,
        .gamma = 0x23457,
        .realised = 2 + 1.0 / 9,
        .kind = TEM_WEIGHTS_TUNED,
        .effect = {.self = 1.0 / 3, .support = 7.0 / 3, .distance = 10.0 / 3, .bayes = 1.0 / 9},
        .plain = {.self = 2.0 / 3, .support = 8.0 / 3, .distance = 11.0 / 3, .bayes = 2.0 / 9},
        .count = COUNT,
        .weights = (uint32_t *)(uintptr_t)weights};
    memset(said.prior, 'p', sizeof said.prior - 1);
    tem_certificate *made = NULL, *loaded = NULL;
    assert_int_equal(certificate_make(model, &said, &made, NULL), TEM_OK);
    assert_int_equal(tem_certificate_save(made, path, NULL, NULL), TEM_OK);
    assert_int_equal(tem_certificate_load(path, 0, &loaded, NULL), TEM_OK);
    const tem_certificate_info before = info_of(made), after = info_of(loaded);
    assert_string_equal(after.hash, before.hash);
    assert_string_equal(after.prior, said.prior);
    assert_memory_equal(&after.effect, &said.effect, sizeof said.effect);
    assert_memory_equal(&after.plain, &said.plain, sizeof said.plain);
    assert_memory_equal(loaded->weights, weights, sizeof weights);
    assert_int_equal(loaded->count, COUNT);
    tem_certificate_free(made);
    tem_certificate_free(loaded);
}

/* The bytes themselves: docs/FORMAT.md. */
static void test_layout(void **state) {
    (void)state;
    unsigned char bytes[FILE_MAX], hash[CORE_HASH_BYTES];
    save_and_free(make_usual());
    assert_int_equal(read_file(bytes), HEADER_BYTES + RECORD_BYTES);
    const unsigned char *record = bytes + HEADER_BYTES;
    const double epsilon = 2, beta = TEM_BETA_DEFAULT, realised = 2 * 0.99;
    const uint64_t s = 3u << 19;
    const uint32_t head[] = {2, 1}, gamma_and_weights[] = {4 * TEM_DIST_ONE, 1};
    assert_memory_equal(bytes, "TEMCERTS", 8);
    assert_memory_equal(bytes + 8, head, 8);
    assert_memory_equal(record, &epsilon, 8);
    assert_memory_equal(record + 8, &beta, 8);
    assert_memory_equal(record + 16, &realised, 8);
    assert_memory_equal(record + 24, &s, 8);
    assert_memory_equal(record + 32, gamma_and_weights, 8);
    hash_space(model, hash);
    assert_memory_equal(record + 80, hash, sizeof hash);
    core_hash256(record, RECORD_BYTES - CORE_HASH_BYTES, hash);
    assert_memory_equal(record + RECORD_BYTES - CORE_HASH_BYTES, hash, sizeof hash);
    for (size_t i = 0; i < RECORD_BYTES - CORE_HASH_BYTES; i++)
        if ((i >= 40 && i < 80) || i >= 112)
            assert_int_equal(record[i], 0);
}

static void test_every_bit(void **state) {
    (void)state;
    unsigned char bytes[FILE_MAX];
    save_and_free(make_usual());
    save_and_free(make(1, 0, 1 << 19, 7));
    const size_t size = read_file(bytes);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_file(bytes, size);
        const tem_status status = load_status();
        if (status != (bit < 64 ? TEM_ERR_FORMAT : bit < 96 ? TEM_ERR_VERSION : TEM_ERR_DAMAGED))
            fail_msg("bit %zu: %s", bit, tem_status_name(status));
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    write_file(bytes, size);
    assert_int_equal(load_status(), TEM_OK);
}

/* Adds a section of this kind, of 70 bytes, behind a file of certificates. */
static size_t add_section(unsigned char *bytes, size_t size, uint32_t kind) {
    enum { RECORD = 64, LENGTH = 70, ROOM = 128 };
    const uint64_t length = LENGTH;
    uint64_t further = 0;
    unsigned char *record = bytes + size;
    memset(record, 0, RECORD + ROOM);
    memset(record + RECORD, 'x', LENGTH);
    memcpy(record, &kind, sizeof kind);
    memcpy(record + 8, &length, sizeof length);
    core_hash256(record + RECORD, LENGTH, record + 16);
    memcpy(&further, bytes + 16, sizeof further);
    further += RECORD + ROOM;
    memcpy(bytes + 16, &further, sizeof further);
    return size + RECORD + ROOM;
}

/* Sections that this version does not know: optional ones are skipped, others are refused, and
 * every bit of them is covered. */
static void test_further_sections(void **state) {
    (void)state;
    const uint32_t optional = 0x80000000u;
    unsigned char bytes[FILE_MAX];
    save_and_free(make_usual());
    const size_t plain = read_file(bytes);
    char hash[65];
    snprintf(hash, sizeof hash, "%s", hash_at(0));
    size_t size = add_section(bytes, plain, optional | 7);
    size = add_section(bytes, size, optional | 9);
    write_file(bytes, size);
    assert_int_equal(load_status(), TEM_OK);
    assert_string_equal(hash_at(0), hash);
    assert_string_equal(hash_at(1), "");
    for (size_t bit = 8 * plain; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_file(bytes, size);
        const tem_status status = load_status();
        const bool in_kind = (bit / 8 - plain) % 192 < 4; /* other kinds may be right as well */
        if (in_kind ? status == TEM_OK && bit % 32 == 31 : status != TEM_ERR_DAMAGED)
            fail_msg("bit %zu: %s", bit, tem_status_name(status));
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    size = add_section(bytes, size, optional | 9); /* not above the one before it */
    write_file(bytes, size);
    assert_int_equal(load_status(), TEM_ERR_DAMAGED);
    clear(state);
    save_and_free(make_usual());
    size = add_section(bytes, read_file(bytes), 7);
    write_file(bytes, size);
    assert_int_equal(load_status(), TEM_ERR_VERSION);
}

/* tem reads one certificate of several by itself. Damage in the others does not hide it, unless the
 * damage makes it impossible to say where it begins or what follows. */
static void test_one_of_several(void **state) {
    (void)state;
    enum { RECORD = 320, COUNT_OF_WEIGHTS_AT = 40, BYTES_AT = 176 };
    unsigned char bytes[FILE_MAX];
    char hashes[3][65];
    for (uint32_t i = 0; i < 3; i++)
        save_and_free(make(1 + i, 0, 1 << 19, 7));
    for (uint32_t i = 0; i < 3; i++)
        snprintf(hashes[i], sizeof hashes[i], "%s", hash_at(i));
    const size_t size = read_file(bytes);
    assert_int_equal(size, 64 + 3 * RECORD);
    bytes[64 + RECORD] ^= 1; /* epsilon of the second certificate */
    write_file(bytes, size);
    assert_string_equal(hash_at(0), hashes[0]);
    assert_string_equal(hash_at(2), hashes[2]);
    assert_string_equal(hash_at(3), "");
    assert_int_equal(load_status(), TEM_ERR_DAMAGED);
    bytes[64 + RECORD] ^= 1;
    bytes[64 + RECORD + BYTES_AT + 1] ^= 1; /* it claims 256 bytes of weights, and has none */
    write_file(bytes, size);
    assert_string_equal(hash_at(0), hashes[0]);
    tem_certificate *none = NULL;
    assert_int_equal(tem_certificate_load(path, 2, &none, NULL), TEM_ERR_DAMAGED);
    assert_int_equal(tem_certificate_load(path, 3, &none, NULL), TEM_ERR_DAMAGED);
    bytes[64 + RECORD + BYTES_AT + 1] ^= 1;
    memcpy(bytes + 64 + 2 * RECORD, bytes + 64, RECORD); /* the first one again */
    write_file(bytes, size);
    assert_string_equal(hash_at(0), hashes[0]);
    assert_int_equal(tem_certificate_load(path, 2, &none, NULL), TEM_ERR_DAMAGED);
    assert_null(none);
}

/* Weights are read back unchanged, and every bit of them and of their packing counts. */
static void test_weights(void **state) {
    (void)state;
    uint32_t weights[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        weights[i] = i == 2 ? UINT32_MAX : 1000000 + 7 * i;
    const tem_certificate said = {
        .epsilon = 2,
        .beta = TEM_BETA_DEFAULT,
        .s = 3u << 19,
        .gamma = 4 * TEM_DIST_ONE,
        .realised = 1.9,
        .kind = TEM_WEIGHTS_TUNED,
        .prior = "zipf:0.5",
        .effect = {0.5, 2, 0.75, 0.25, {0}},
        .plain = {.self = 0.125, .support = 4, .distance = 1.5, .bayes = 0.0625},
        .count = COUNT,
        .weights = weights};
    tem_certificate *made = NULL, *loaded = NULL;
    assert_int_equal(certificate_make(model, &said, &made, NULL), TEM_OK);
    save_and_free(made);
    save_and_free(make(1, 0, 1 << 19, 7));
    assert_int_equal(tem_certificate_load(path, 0, &loaded, NULL), TEM_OK);
    assert_int_equal(loaded->count, COUNT);
    assert_memory_equal(loaded->weights, weights, sizeof weights);
    const tem_certificate_info info = info_of(loaded);
    assert_int_equal(info.weights, TEM_WEIGHTS_TUNED);
    assert_string_equal(info.prior, "zipf:0.5");
    assert_memory_equal(&info.effect, &said.effect, sizeof said.effect);
    assert_memory_equal(&info.plain, &said.plain, sizeof said.plain);
    tem_certificate_free(loaded);
    unsigned char bytes[FILE_MAX];
    const size_t size = read_file(bytes), frame = HEADER_BYTES + RECORD_BYTES;
    uint64_t packed = 0;
    memcpy(&packed, bytes + HEADER_BYTES + 176, sizeof packed);
    assert_true(packed > 0 && packed % 64 != 0); /* otherwise there is no padding */
    for (size_t bit = 8 * HEADER_BYTES; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_file(bytes, size);
        if (load_status() == TEM_OK) { /* a bit of the frame that zstd ignores */
            assert_true(bit / 8 >= frame && bit / 8 < frame + packed);
            assert_int_equal(tem_certificate_load(path, 0, &loaded, NULL), TEM_OK);
            assert_memory_equal(loaded->weights, weights, sizeof weights);
            tem_certificate_free(loaded);
        }
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

/* Two answers to one question: tem writes no such file, and refuses to read one. */
static void test_repeated(void **state) {
    (void)state;
    unsigned char bytes[FILE_MAX];
    save_and_free(make_usual());
    save_and_free(make(1, 0, 1 << 19, 7));
    size_t size = read_file(bytes);
    memcpy(bytes + size, bytes + HEADER_BYTES, RECORD_BYTES);
    bytes[12] = 3;
    write_file(bytes, size + RECORD_BYTES);
    assert_int_equal(load_status(), TEM_ERR_DAMAGED);
    tem_certificate *again = make_usual();
    assert_int_equal(tem_certificate_save(again, path, NULL, NULL), TEM_ERR_DAMAGED);
    tem_certificate_free(again);
}

static void test_every_length(void **state) {
    (void)state;
    unsigned char bytes[FILE_MAX] = {0};
    save_and_free(make_usual());
    const size_t size = read_file(bytes);
    memset(bytes + size, 0, FILE_MAX - size);
    for (size_t cut = 0; cut < 2 * size; cut++) {
        write_file(bytes, cut);
        assert_int_equal(load_status(), cut < 8       ? TEM_ERR_FORMAT
                                        : cut == size ? TEM_OK
                                                      : TEM_ERR_DAMAGED);
    }
}

/* The status of a record with these values and a correct hash. */
static tem_status status_of(tem_certificate c) {
    unsigned char bytes[FILE_MAX], record[RECORD_BYTES] = {0};
    const uint32_t equal_weights = 1;
    memcpy(record, &c.epsilon, 8);
    memcpy(record + 8, &c.beta, 8);
    memcpy(record + 16, &c.realised, 8);
    memcpy(record + 24, &c.s, 8);
    memcpy(record + 32, &c.gamma, 4);
    memcpy(record + 36, &equal_weights, 4);
    memcpy(record + 80, c.space, CORE_HASH_BYTES);
    memcpy(record + 112, c.prior, sizeof c.prior);
    memcpy(record + 184, &c.effect, sizeof c.effect);
    memcpy(record + 216, &c.plain, sizeof c.plain);
    core_hash256(record, RECORD_BYTES - CORE_HASH_BYTES, record + RECORD_BYTES - CORE_HASH_BYTES);
    save_and_free(make_usual());
    read_file(bytes);
    memcpy(bytes + HEADER_BYTES, record, sizeof record);
    write_file(bytes, HEADER_BYTES + RECORD_BYTES);
    const tem_status status = load_status();
    tem_certificate *made = NULL;
    c.kind = TEM_WEIGHTS_EQUAL;
    assert_int_equal(certificate_make(model, &c, &made, NULL),
                     status == TEM_OK ? TEM_OK : TEM_ERR_CERTIFICATE);
    assert_true((made != NULL) == (status == TEM_OK));
    tem_certificate_free(made);
    unlink(path);
    return status;
}

/* Sets the name, followed only by zeros, as in a file. */
static void set_prior(tem_certificate *c, const char *name) {
    memset(c->prior, 0, sizeof c->prior);
    memcpy(c->prior, name, strlen(name));
}

/* Numbers that no proof can be about, in a file with correct hashes, and from our own code. */
static void test_impossible(void **state) {
    (void)state;
    const tem_certificate good = {
        .epsilon = 2, .beta = 0.001, .s = 3u << 19, .gamma = 4 * TEM_DIST_ONE, .realised = 1.9};
    tem_certificate bad[64];
    size_t count = 0;
    static const double epsilons[] = {0, -2, NAN, INFINITY, 1.9};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        bad[count] = good;
        bad[count++].epsilon = epsilons[i];
    }
    static const double betas[] = {-0.0, -0.1, 1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof betas / sizeof *betas; i++) {
        bad[count] = good;
        bad[count++].beta = betas[i];
    }
    const double realised[] = {0, -1, NAN, INFINITY, 2, nextafter(2, 0)};
    for (size_t i = 0; i < sizeof realised / sizeof *realised; i++) {
        bad[count] = good;
        bad[count++].realised = realised[i];
    }
    bad[count] = good;
    bad[count++].s = 0;
    bad[count] = good;
    bad[count++].s = (2u << 20) + 1; /* above epsilon */
    bad[count] = good;
    bad[count++].gamma = 0;
    bad[count] = good;
    bad[count++].gamma = (tem_dist)(CERTIFICATE_EXPONENT_MAX / good.s + 1);
    tem_certificate with_effects = good;
    with_effects.effect = with_effects.plain = (tem_effect){0.5, 2, 0.75, 0.25, {0}};
    bad[count++] = with_effects; /* without a prior */
    snprintf(with_effects.prior, sizeof with_effects.prior, "zipf");
    static const tem_effect effects[] = {{0},
                                         {NAN, 2, 0.75, 0.25, {0}},
                                         {1.5, 2, 0.75, 0.25, {0}},
                                         {0.5, 0.25, 0.75, 0.25, {0}},
                                         {0.5, INFINITY, 0.75, 0.25, {0}},
                                         {0.5, 2, -1, 0.25, {0}},
                                         {0.5, 2, INFINITY, 0.25, {0}},
                                         {0.5, 2, 0.75, 0, {0}},
                                         {0.5, 2, 0.75, NAN, {0}}};
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
        bad[count] = with_effects;
        bad[count++].effect = effects[i];
        bad[count] = with_effects;
        bad[count++].plain = effects[i];
    }
    assert_int_equal(status_of(with_effects), TEM_OK);
    static const char *const names[] = {"a\tb",      "\x1f", "a\x7f",        "\xc2\x80",
                                        "b\xc2\x9f", "\xc2", "\xed\xa0\x80", "\x80"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bad[count] = with_effects;
        set_prior(&bad[count++], names[i]);
    }
    static const char *const good_names[] = {"a b", "~", "\xc2\xa0", "\xc3\x9f", "\xc4\x80"};
    for (size_t i = 0; i < sizeof good_names / sizeof *good_names; i++) {
        set_prior(&with_effects, good_names[i]);
        assert_int_equal(status_of(with_effects), TEM_OK);
    }
    assert_true(count <= sizeof bad / sizeof *bad);
    assert_int_equal(status_of(good), TEM_OK);
    for (size_t i = 0; i < count; i++)
        if (status_of(bad[i]) != TEM_ERR_DAMAGED)
            fail_msg("impossible certificate %zu is accepted", i);
    tem_certificate edge = good;
    edge.gamma = (tem_dist)(CERTIFICATE_EXPONENT_MAX / good.s);
    edge.s = 3u << 19;
    edge.beta = 0;
    assert_int_equal(status_of(edge), TEM_OK);
}

/* The charge is the decimal of epsilon, at least (1 - 2^-53) epsilon. A loss accepted for a
 * certificate is below that, whatever the digits of epsilon. */
static void test_room(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const double epsilon = 1 + i / 1000.0;
        double loss = epsilon * (1 - 0x1p-49);
        assert_true(certificate_leaves_room(loss, epsilon));
        while (certificate_leaves_room(loss, epsilon))
            loss = nextafter(loss, 4);
        loss = nextafter(loss, 0);
        assert_true(epsilon - loss > epsilon * 0x1p-51);
    }
}

/* The seeds of the fuzz target, which have the verdict in their names. */
static void test_corpus(void **state) {
    (void)state;
    char place[512], file[768];
    const char *data = getenv("TEM_TEST_DATA");
    snprintf(place, sizeof place, "%s/../../fuzz/corpus/certificate",
             data != NULL ? data : "tests/data");
    DIR *listing = opendir(place);
    assert_non_null(listing);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", place, entry->d_name);
        const tem_status status = load_status_of(file);
        if ((status == TEM_OK) != (strncmp(entry->d_name, "ok-", 3) == 0))
            fail_msg("%s: %s", entry->d_name, tem_status_name(status));
        count++;
    }
    closedir(listing);
    assert_true(count >= 20);
}

static void test_replaced(void **state) {
    (void)state;
    char first[65], second[65];
    tem_certificate *c = make_usual();
    save_and_free(c);
    snprintf(first, sizeof first, "%s", hash_at(0));
    save_and_free(make(3, TEM_BETA_DEFAULT, 1 << 20, 5 * TEM_DIST_ONE));
    snprintf(second, sizeof second, "%s", hash_at(1));
    assert_string_equal(hash_at(0), first);

    /* The same epsilon and beta: replaces the old one, since gamma follows from beta. */
    save_and_free(make(2, TEM_BETA_DEFAULT, 1 << 20, 6 * TEM_DIST_ONE));
    assert_string_not_equal(hash_at(0), first);
    assert_string_equal(hash_at(1), second);
    assert_string_equal(hash_at(2), "");

    /* Another beta, a gamma, another gamma: each is a different question. */
    save_and_free(make(2, 0.01, 1 << 20, 6 * TEM_DIST_ONE));
    save_and_free(make(2, 0, 1 << 20, 6 * TEM_DIST_ONE));
    save_and_free(make(2, 0, 1 << 20, 7 * TEM_DIST_ONE));
    assert_string_not_equal(hash_at(4), "");
    assert_string_equal(hash_at(5), "");
    snprintf(second, sizeof second, "%s", hash_at(4));
    save_and_free(make(2, 0, 3 << 18, 7 * TEM_DIST_ONE));
    assert_string_not_equal(hash_at(4), second);
    assert_string_equal(hash_at(5), "");
}

/* A certificate replaces all certificates for other models, wherever they are, and no other
 * certificate for its own model. */
static void test_other_models_go(void **state) {
    (void)state;
    float moved[COUNT * DIMENSION];
    memcpy(moved, values, sizeof moved);
    moved[0] += 0.001f;
    tem_model *other = build(words, moved, TEM_EUCLIDEAN, 3);
    char hash[65];
    save_and_free(make_usual());
    save_and_free(make(3, TEM_BETA_DEFAULT, 1 << 20, 5 * TEM_DIST_ONE));
    const uint32_t weights[COUNT] = {1, 2, 3, 4, 5};
    const tem_certificate about_other = {.epsilon = 2,
                                         .beta = TEM_BETA_DEFAULT,
                                         .s = 3u << 19,
                                         .gamma = 4 * TEM_DIST_ONE,
                                         .realised = 1.9,
                                         .kind = TEM_WEIGHTS_BALANCED,
                                         .count = COUNT,
                                         .weights = (uint32_t *)(uintptr_t)weights};
    tem_certificate *c = NULL;
    assert_int_equal(certificate_make(other, &about_other, &c, NULL), TEM_OK);
    snprintf(hash, sizeof hash, "%s", info_of(c).hash);
    save_and_free(c);
    assert_string_equal(hash_at(0), hash);
    assert_string_equal(hash_at(1), "");
    /* And back: the one with weights is removed, and only the new one remains. */
    save_and_free(make_usual());
    assert_string_not_equal(hash_at(0), hash);
    assert_string_equal(hash_at(1), "");
    tem_model_free(other);
}

/* Each kind of weights is a different question. A caller that names no kind gets balanced
 * weights, else equal, else tuned ones. */
static void test_kinds(void **state) {
    (void)state;
    static const tem_weights_kind order[] = {TEM_WEIGHTS_TUNED, TEM_WEIGHTS_EQUAL,
                                             TEM_WEIGHTS_BALANCED};
    for (uint32_t i = 0; i < 3; i++) {
        const tem_calibration any = {.epsilon = 2};
        tem_certificate *first = NULL;
        const tem_certificate said = {
            .epsilon = 2,
            .beta = TEM_BETA_DEFAULT,
            .s = 3u << 19,
            .gamma = 4 * TEM_DIST_ONE,
            .realised = 1.9,
            .kind = order[i],
            .prior = "zipf",
            .effect = {0.5, 2, 0.75, 0.25, {0}},
            .plain = {.self = 0.125, .support = 4, .distance = 1.5, .bayes = 0.0625}};
        tem_certificate *c = NULL;
        assert_int_equal(certificate_make(model, &said, &c, NULL), TEM_OK);
        save_and_free(c);
        assert_int_equal(tem_certificate_find(path, model, &any, &first, NULL), TEM_OK);
        assert_int_equal(first->kind, order[i]);
        tem_certificate_free(first);
    }
    for (int kind = 0; kind <= TEM_WEIGHTS_TUNED; kind++) {
        const tem_calibration wanted = {.epsilon = 2, .weights = (tem_weights_kind)kind};
        tem_certificate *found = NULL;
        assert_int_equal(tem_certificate_find(path, model, &wanted, &found, NULL), TEM_OK);
        assert_int_equal(found->kind, kind == 0 ? TEM_WEIGHTS_BALANCED : kind);
        tem_certificate_free(found);
    }
}

/* An existing file that holds no certificates stays unchanged. */
static void test_not_overwritten(void **state) {
    (void)state;
    unsigned char bytes[FILE_MAX];
    tem_certificate *c = make_usual();
    write_file("a letter", 8);
    assert_int_equal(tem_certificate_save(c, path, NULL, NULL), TEM_ERR_FORMAT);
    assert_int_equal(read_file(bytes), 8);
    assert_int_equal(tem_certificate_save(c, folder, NULL, NULL), TEM_ERR_FILE);
    assert_int_equal(tem_certificate_save(c, "/nonexistent/m.cert", NULL, NULL), TEM_ERR_FILE);
    assert_int_equal(tem_certificate_save(NULL, path, NULL, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_certificate_save(c, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    tem_certificate_free(c);
    tem_certificate_free(NULL);
}

static void test_full(void **state) {
    (void)state;
    tem_certificate *usual = make_usual(), *more = make(3, 0, 1 << 20, 7); /* gamma given */
    tem_error error;
    save_and_free(make_usual());
    /* Filled by hand: 4096 saves would write the file 4096 times. */
    unsigned char header[HEADER_BYTES], record[RECORD_BYTES];
    const uint32_t count = CERTIFICATES_MAX;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    assert_int_equal(fread(record, 1, sizeof record, file), sizeof record);
    memcpy(header + 12, &count, sizeof count);
    rewind(file);
    assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
    for (uint32_t i = 0; i < count; i++) {
        const double epsilon = 2 + i;
        memcpy(record, &epsilon, sizeof epsilon);
        core_hash256(record, RECORD_BYTES - CORE_HASH_BYTES,
                     record + RECORD_BYTES - CORE_HASH_BYTES);
        assert_int_equal(fwrite(record, 1, sizeof record, file), sizeof record);
    }
    fclose(file);
    assert_int_equal(load_status(), TEM_OK);
    assert_int_equal(tem_certificate_save(usual, path, NULL, NULL), TEM_OK);
    assert_int_equal(tem_certificate_save(more, path, NULL, &error), TEM_ERR_RANGE);
    tem_certificate_free(usual);
    tem_certificate_free(more);
}

/* Several processes save at once: no certificate is lost. */
static void test_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 6, EACH = 8 };
    pid_t children[PROCESSES];
    for (unsigned p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        for (unsigned i = 0; children[p] == 0 && i < EACH; i++) {
            tem_certificate *c = NULL;
            if (certificate_make(model,
                                 &(tem_certificate){.epsilon = 2,
                                                    .beta = 0,
                                                    .s = 1 << 20,
                                                    .gamma = 1 + p * EACH + i,
                                                    .realised = 1.9,
                                                    .kind = TEM_WEIGHTS_EQUAL},
                                 &c, NULL) != TEM_OK ||
                tem_certificate_save(c, path, NULL, NULL) != TEM_OK)
                _exit(1);
        }
        if (children[p] == 0)
            _exit(0);
    }
    for (unsigned p = 0; p < PROCESSES; p++) {
        int status = 0;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_int_equal(status, 0);
    }
    assert_string_not_equal(hash_at(PROCESSES * EACH - 1), "");
    assert_string_equal(hash_at(PROCESSES * EACH), "");
}

/* ---- finding ---- */

static tem_status find(const char *where, const tem_model *m, tem_calibration wanted,
                       char hash[65]) {
    static char marker;
    tem_certificate *c = (tem_certificate *)(void *)&marker;
    const tem_status status = tem_certificate_find(where, m, &wanted, &c, NULL);
    if (status != TEM_OK) {
        assert_ptr_equal(c, &marker);
        return status;
    }
    snprintf(hash, 65, "%s", info_of(c).hash);
    tem_certificate_free(c);
    return status;
}

static void test_find(void **state) {
    (void)state;
    char hash[65], with_gamma[65];
    save_and_free(make_usual());
    save_and_free(make(2, 0, 1 << 20, 7));
    snprintf(with_gamma, sizeof with_gamma, "%s", hash_at(1));
    assert_int_equal(find(path, model, (tem_calibration){.epsilon = 2}, hash), TEM_OK);
    assert_string_equal(hash, hash_at(0));
    assert_int_equal(
        find(path, model, (tem_calibration){.epsilon = 2, .beta = TEM_BETA_DEFAULT}, hash), TEM_OK);
    assert_string_equal(hash, hash_at(0));
    /* 6.5 steps are rounded up, as everywhere. */
    assert_int_equal(
        find(path, model, (tem_calibration){.epsilon = 2, .gamma = 6.5 / TEM_DIST_ONE}, hash),
        TEM_OK);
    assert_string_equal(hash, with_gamma);

    const tem_calibration none[] = {{.epsilon = nextafter(2, 3)},
                                    {.epsilon = nextafter(2, 0)},
                                    {.epsilon = 2, .beta = 0.01},
                                    {.epsilon = 2, .gamma = 4},
                                    {.epsilon = 2, .gamma = 6.0 / TEM_DIST_ONE}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(find(path, model, none[i], hash), TEM_ERR_CERTIFICATE);
    assert_int_equal(find(path, model, (tem_calibration){.epsilon = 0}, hash), TEM_ERR_RANGE);
    assert_int_equal(find(path, model, (tem_calibration){.epsilon = NAN}, hash), TEM_ERR_RANGE);
    assert_int_equal(
        find(path, model, (tem_calibration){.epsilon = 2, .beta = 0.1, .gamma = 1}, hash),
        TEM_ERR_ARGUMENT);
    assert_int_equal(find(NULL, model, none[0], hash), TEM_ERR_ARGUMENT);
    assert_int_equal(find(model_path, model, none[0], hash), TEM_ERR_CERTIFICATE); /* no file */
    assert_int_equal(find(folder, model, none[0], hash), TEM_ERR_FILE);
}

static void test_find_another_model(void **state) {
    (void)state;
    float moved[COUNT * DIMENSION];
    memcpy(moved, values, sizeof moved);
    moved[0] += 0.001f;
    tem_model *other = build(words, moved, TEM_EUCLIDEAN, 3);
    const tem_calibration wanted = {.epsilon = 2}, unwanted = {.epsilon = 3};
    tem_certificate *c = NULL;
    tem_error error;
    save_and_free(make_usual());
    assert_int_equal(tem_certificate_find(path, other, &wanted, &c, &error), TEM_ERR_CERTIFICATE);
    assert_non_null(strstr(error.message, "another model"));
    assert_int_equal(tem_certificate_find(path, other, &unwanted, &c, &error), TEM_ERR_CERTIFICATE);
    assert_null(strstr(error.message, "another model"));
    tem_model_free(other);
}

/* ---- the mechanism ---- */

static tem_status create(const tem_model *m, tem_mechanism_options options,
                         const tem_certificate *c, tem_mechanism_info *info) {
    tem_mechanism *mechanism = NULL;
    tem_error error;
    options.certificate = c;
    const tem_status status = tem_mechanism_create(m, &options, &mechanism, &error);
    assert_true((mechanism != NULL) == (status == TEM_OK));
    if (status == TEM_OK)
        tem_mechanism_get_info(mechanism, info);
    else
        assert_int_equal(error.status, status);
    tem_mechanism_free(mechanism);
    return status;
}

static void test_mechanism(void **state) {
    (void)state;
    tem_certificate *c = make_usual();
    tem_mechanism_info info;
    static const tem_mechanism_options good[] = {{.epsilon = 2},
                                                 {.epsilon = 2, .beta = TEM_BETA_DEFAULT},
                                                 {.epsilon = 2, .mechanism = "tem"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(create(model, good[i], c, &info), TEM_OK);
        assert_true(info.s_steps == 3u << 19 && info.gamma_steps == 4 * TEM_DIST_ONE);
        assert_true(info.epsilon >= 2 && info.epsilon <= 2);
        assert_true(info.beta >= TEM_BETA_DEFAULT && info.beta <= TEM_BETA_DEFAULT);
        assert_true(info.epsilon_gamma >= 8 && info.epsilon_gamma <= 8);
        assert_string_equal(info.certificate, info_of(c).hash);
    }
    assert_int_equal(create(model, good[0], NULL, &info), TEM_OK);
    assert_true(info.s_steps < 1u << 20);
    assert_string_equal(info.certificate, "");
    tem_certificate_free(c);
}

static void test_mechanism_refusals(void **state) {
    (void)state;
    tem_certificate *by_beta = make_usual(), *by_gamma = make(2, 0, 1 << 20, 4 * TEM_DIST_ONE);
    static const uint32_t equal_weights[COUNT] = {1, 1, 1, 1, 1};
    tem_mechanism_info info;
    const struct {
        tem_mechanism_options options;
        tem_status expected;
    } refused[] = {{{.epsilon = nextafter(2, 3)}, TEM_ERR_CERTIFICATE},
                   {{.epsilon = nextafter(2, 0)}, TEM_ERR_CERTIFICATE},
                   {{.epsilon = 0}, TEM_ERR_RANGE},
                   {{.epsilon = NAN}, TEM_ERR_RANGE},
                   {{.epsilon = 2, .beta = 0.01}, TEM_ERR_CERTIFICATE},
                   {{.epsilon = 2, .beta = NAN}, TEM_ERR_CERTIFICATE},
                   {{.epsilon = 2, .gamma = 4}, TEM_ERR_CERTIFICATE},
                   {{.epsilon = 2, .beta = TEM_BETA_DEFAULT, .gamma = 4}, TEM_ERR_ARGUMENT},
                   {{.epsilon = 2, .weights = equal_weights}, TEM_ERR_ARGUMENT},
                   {{.epsilon = 2, .mechanism = "em"}, TEM_ERR_ARGUMENT},
                   {{.epsilon = 2, .mechanism = "madlib"}, TEM_ERR_ARGUMENT}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (create(model, refused[i].options, by_beta, &info) != refused[i].expected)
            fail_msg("options %zu", i);
    const tem_mechanism_options with_gamma = {.epsilon = 2, .gamma = 4},
                                other_gamma = {.epsilon = 2, .gamma = 4.5},
                                with_beta = {.epsilon = 2, .beta = TEM_BETA_DEFAULT};
    assert_int_equal(create(model, with_gamma, by_gamma, &info), TEM_OK);
    assert_int_equal(create(model, other_gamma, by_gamma, &info), TEM_ERR_CERTIFICATE);
    assert_int_equal(create(model, with_beta, by_gamma, &info), TEM_ERR_CERTIFICATE);
    tem_certificate_free(by_beta);
    tem_certificate_free(by_gamma);
}

static void test_mechanism_of_another_model(void **state) {
    (void)state;
    float moved[COUNT * DIMENSION];
    memcpy(moved, values, sizeof moved);
    moved[14] -= 0.001f;
    tem_model *other = build(words, moved, TEM_EUCLIDEAN, 3);
    tem_model *other_lists = build(words, values, TEM_EUCLIDEAN, 2), *opened = NULL;
    tem_certificate *c = make_usual();
    tem_mechanism_info info;
    const tem_mechanism_options options = {.epsilon = 2};
    assert_int_equal(create(other, options, c, &info), TEM_ERR_CERTIFICATE);
    assert_int_equal(create(other_lists, options, c, &info), TEM_OK);
    assert_int_equal(tem_model_save(model, model_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(model_path, &opened, NULL), TEM_OK);
    assert_int_equal(create(opened, options, c, &info), TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_model_verify(opened, NULL, NULL), TEM_OK);
    assert_int_equal(create(opened, options, c, &info), TEM_OK);
    tem_model_free(opened);
    tem_model_free(other_lists);
    tem_model_free(other);
    tem_certificate_free(c);
}

/* The draws follow the certificate's s and gamma: the probabilities show it. */
static void test_law(void **state) {
    (void)state;
    tem_certificate *c = make_usual();
    tem_mechanism *mechanism = NULL;
    tem_law *law = NULL;
    double total = 0;
    const tem_mechanism_options options = {.epsilon = 2, .certificate = c};
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    tem_certificate_free(c); /* no longer needed */
    assert_int_equal(tem_law_create(mechanism, 0, 17, &law, NULL), TEM_OK);
    for (uint32_t y = 0; y < COUNT; y++)
        total += exp(-1.5 * fmin(tem_model_distance(model, 0, y) / (double)TEM_DIST_ONE, 4));
    for (uint32_t y = 0; y < COUNT; y++)
        assert_true(
            fabs(tem_law_probability(law, y) -
                 exp(-1.5 * fmin(tem_model_distance(model, 0, y) / (double)TEM_DIST_ONE, 4)) /
                     total) < 1e-12);
    tem_law_free(law);
    tem_mechanism_free(mechanism);
}

/* ---- verification ---- */

static tem_status verify(const tem_certificate *c) {
    tem_accountant *accountant = NULL;
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    tem_error error = {.status = TEM_OK};
    const tem_status status = tem_certificate_verify(c, accountant, NULL, &error);
    assert_int_equal(error.status, status);
    tem_accountant_free(accountant);
    return status;
}

/* s = epsilon/2 always holds; s = epsilon never holds if words have different surroundings. */
static void test_verify(void **state) {
    (void)state;
    tem_certificate *holds = make(2, 0, (1u << 20) - 1, 4 * TEM_DIST_ONE);
    tem_certificate *fails = make(2, 0, 2u << 20, 4 * TEM_DIST_ONE);
    tem_certificate *low = make(2, 0, (1u << 20) - 1, 4 * TEM_DIST_ONE);
    assert_int_equal(verify(holds), TEM_OK);
    assert_int_equal(verify(fails), TEM_ERR_CERTIFICATE);
    /* It keeps its epsilon, but its claim is not proved: below s, and between s and the truth. */
    low->realised = 0.5;
    assert_int_equal(verify(low), TEM_ERR_CERTIFICATE);
    tem_accountant *accountant = NULL;
    tem_mechanism *mechanism = NULL;
    tem_audit audit;
    const tem_mechanism_options options = {.epsilon = 2, .certificate = holds};
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_accountant_audit(accountant, mechanism, NULL, &audit, NULL), TEM_OK);
    tem_mechanism_free(mechanism);
    tem_accountant_free(accountant);
    assert_true(audit.realised > 1.01 && audit.realised < 1.99);
    low->realised = audit.realised;
    assert_int_equal(verify(low), TEM_OK);
    low->realised = audit.realised_least * (1 - 1e-9);
    assert_int_equal(verify(low), TEM_ERR_CERTIFICATE);
    low->realised = (1 + audit.realised) / 2;
    assert_int_equal(verify(low), TEM_ERR_CERTIFICATE);
    /* gamma is the one that follows from beta, up to one step. */
    tem_dist gamma = 0;
    assert_int_equal(exponent_gamma_from_beta(0.001, model->words.count, 1 << 19, &gamma, NULL),
                     TEM_OK);
    for (int more = -2; more <= 2; more++) {
        tem_certificate *c = make(2, 0.001, 1 << 19, (tem_dist)((int)gamma + more));
        assert_int_equal(verify(c), abs(more) <= 1 ? TEM_OK : TEM_ERR_CERTIFICATE);
        tem_certificate_free(c);
    }
    assert_int_equal(verify(NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_certificate_verify(holds, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    tem_certificate_free(holds);
    tem_certificate_free(fails);
    tem_certificate_free(low);
}

static void test_verify_another_model(void **state) {
    (void)state;
    float moved[COUNT * DIMENSION];
    memcpy(moved, values, sizeof moved);
    moved[14] -= 0.001f;
    tem_model *other = build(words, moved, TEM_EUCLIDEAN, 3);
    tem_certificate *c = make(2, 0, (1u << 20) - 1, 4 * TEM_DIST_ONE);
    model_space_hash(other, c->space);
    assert_int_equal(verify(c), TEM_ERR_CERTIFICATE);
    tem_certificate_free(c);
    tem_model_free(other);
}

/* Weights by hand, and the largest s, to 2^-20, that is proved with them: then no weight can be
 * changed by one unit in the direction that makes a pair steeper, and all can in the other. The
 * steepest pair rules: of its words, that with the larger Z must not have more, nor the other
 * less. */
static void test_verify_weights(void **state) {
    (void)state;
    uint32_t weights[COUNT] = {9, 5, 6, 7, 5};
    tem_certificate c = {.epsilon = 2,
                         .s = 1 << 20,
                         .gamma = 4 * TEM_DIST_ONE,
                         .realised = 2 * (1 - 0x1p-50),
                         .kind = TEM_WEIGHTS_BALANCED,
                         .count = COUNT,
                         .weights = weights};
    model_space_hash(model, c.space);
    for (uint64_t step = 1 << 19; step > 0; step /= 2) {
        c.s += step;
        if (verify(&c) != TEM_OK)
            c.s -= step;
    }
    assert_int_equal(verify(&c), TEM_OK);
    assert_true(c.s > (11u << 20) / 10); /* weights gain something: s is not epsilon/2 */
    int broken = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t before = weights[i];
        weights[i] = before + 1;
        const bool more = verify(&c) == TEM_OK;
        weights[i] = before - 1;
        const bool less = verify(&c) == TEM_OK;
        weights[i] = before;
        assert_true(!more || !less);
        broken += !more + !less;
    }
    assert_true(broken >= COUNT);
    weights[0] = 0;
    assert_int_equal(verify(&c), TEM_ERR_CERTIFICATE);
    memset(weights, 0, sizeof weights);
    assert_non_null(certificate_fault(&c));
}

/* Draws with a certificate follow the law of its s and gamma: chi-square with 200,000 seeded draws
 * for each of the five words. With four degrees of freedom the sum exceeds 48.5 with probability
 * 7.4e-10, so a correct program with fresh randomness fails here, for equal and tuned weights
 * together, with probability at most 8e-9. Against the law of epsilon/2 the same draws must
 * fail. */
static double chi_square(const uint64_t counts[COUNT], const tem_law *law, double draws) {
    double sum = 0;
    for (uint32_t y = 0; y < COUNT; y++) {
        const double expected = draws * tem_law_probability(law, y);
        sum += ((double)counts[y] - expected) * ((double)counts[y] - expected) / expected;
    }
    return sum;
}

static void check_calibrated_draws(const tem_prior *prior) {
    enum { DRAWS = 200000 };
    tem_audit said = {0};
    const tem_calibration wanted = {.epsilon = 1,
                                    .weights =
                                        prior != NULL ? TEM_WEIGHTS_TUNED : TEM_WEIGHTS_EQUAL,
                                    .prior = prior,
                                    .prior_name = "zipf"};
    tem_accountant *accountant = NULL, *own = NULL;
    tem_certificate *certificate = NULL;
    tem_mechanism *calibrated = NULL, *plain = NULL;
    tem_rng *rng = NULL;
    tem_audit audit;
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &certificate, &said, NULL),
                     TEM_OK);
    const tem_mechanism_options with = {.epsilon = 1, .certificate = certificate},
                                without = {.epsilon = 1};
    assert_int_equal(tem_mechanism_create(model, &with, &calibrated, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(model, &without, &plain, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(7, 7, &rng, NULL), TEM_OK);
    double worst_against_plain = 0;
    for (uint32_t word = 0; word < COUNT; word++) {
        uint64_t counts[COUNT] = {0};
        tem_law *law = NULL, *other = NULL;
        for (int i = 0; i < DRAWS; i++) {
            uint32_t out = 0;
            assert_int_equal(tem_mechanism_draw(calibrated, rng, word, &out, NULL), TEM_OK);
            counts[out]++;
        }
        assert_int_equal(tem_law_create(calibrated, word, 17, &law, NULL), TEM_OK);
        assert_int_equal(tem_law_create(plain, word, 17, &other, NULL), TEM_OK);
        assert_true(chi_square(counts, law, DRAWS) < 48.5);
        worst_against_plain = fmax(worst_against_plain, chi_square(counts, other, DRAWS));
        tem_law_free(law);
        tem_law_free(other);
    }
    assert_true(worst_against_plain > 48.5);
    /* The audit of the mechanism equals the certificate's claim. */
    assert_true((tem_mechanism_weights(calibrated) != NULL) == (prior != NULL));
    assert_int_equal(
        tem_accountant_create(model, tem_mechanism_weights(calibrated), NULL, &own, NULL), TEM_OK);
    assert_int_equal(tem_accountant_audit(own, calibrated, NULL, &audit, NULL), TEM_OK);
    tem_accountant_free(own);
    const tem_certificate_info info = info_of(certificate);
    assert_int_equal(verify(certificate), TEM_OK);
    assert_true(audit.realised <= info.realised && audit.realised <= 1);
    assert_true(said.realised == audit.realised && said.realised_least == audit.realised_least);
    assert_true(said.worst_a == audit.worst_a && said.worst_b == audit.worst_b &&
                said.worst_distance == audit.worst_distance && said.local == audit.local);
    assert_true(said.pairs_examined == audit.pairs_examined &&
                said.pairs_pruned == audit.pairs_pruned);
    assert_true(info.s > 0.501);
    tem_rng_free(rng);
    tem_mechanism_free(plain);
    tem_mechanism_free(calibrated);
    tem_certificate_free(certificate);
    tem_accountant_free(accountant);
}

static void test_calibrated_draws(void **state) {
    (void)state;
    tem_prior *prior = NULL;
    assert_int_equal(tem_prior_create_zipf(model, 1, &prior, NULL), TEM_OK);
    check_calibrated_draws(NULL);
    check_calibrated_draws(prior);
    tem_prior_free(prior);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_space_of_file, clear),
        cmocka_unit_test_teardown(test_space_of_matrix, clear),
        cmocka_unit_test_teardown(test_other_spaces, clear),
        cmocka_unit_test_teardown(test_round_trip, clear),
        cmocka_unit_test_teardown(test_round_trip_of_all, clear),
        cmocka_unit_test_teardown(test_layout, clear),
        cmocka_unit_test(test_calibrated_draws),
        cmocka_unit_test_teardown(test_every_bit, clear),
        cmocka_unit_test_teardown(test_further_sections, clear),
        cmocka_unit_test_teardown(test_one_of_several, clear),
        cmocka_unit_test_teardown(test_weights, clear),
        cmocka_unit_test_teardown(test_repeated, clear),
        cmocka_unit_test_teardown(test_every_length, clear),
        cmocka_unit_test_teardown(test_impossible, clear),
        cmocka_unit_test_teardown(test_room, clear),
        cmocka_unit_test_teardown(test_corpus, clear),
        cmocka_unit_test_teardown(test_replaced, clear),
        cmocka_unit_test_teardown(test_other_models_go, clear),
        cmocka_unit_test_teardown(test_kinds, clear),
        cmocka_unit_test_teardown(test_not_overwritten, clear),
        cmocka_unit_test_teardown(test_full, clear),
        cmocka_unit_test_teardown(test_at_once, clear),
        cmocka_unit_test_teardown(test_find, clear),
        cmocka_unit_test_teardown(test_find_another_model, clear),
        cmocka_unit_test_teardown(test_mechanism, clear),
        cmocka_unit_test_teardown(test_mechanism_refusals, clear),
        cmocka_unit_test_teardown(test_mechanism_of_another_model, clear),
        cmocka_unit_test_teardown(test_law, clear),
        cmocka_unit_test_teardown(test_verify, clear),
        cmocka_unit_test_teardown(test_verify_another_model, clear),
        cmocka_unit_test_teardown(test_verify_weights, clear),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
