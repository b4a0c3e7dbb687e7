/* test_faults.c - every outside operation fails once, at every place where it can.
 *
 * The whole way from an embedding file to a verified model runs again and again; in run n the nth
 * allocation, read, write or mapping fails (core/fault.h), until a run meets no fault. The call
 * that met the fault must say so and hand out nothing; the file to be written must be the old one,
 * or none, or the whole new one; no temporary file may stay. The sanitizer finds leaks. */
#include "certificate/certificate.h"
#include "core/fault.h"
#include "model/model.h"
#include "tem_adapt.h"
#include "tem_attack.h"
#include "tem_bag.h"
#include "tem_compare.h"
#include "tem_train.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef TEM_FAULTS
#error "this test needs -Dfaults=true"
#endif

static char folder[64];
static char target[96];

/* ---- files ---- */

typedef struct bytes {
    char data[1 << 16];
    size_t size; /* SIZE_MAX: no such file */
} bytes;

static void read_target(bytes *b) {
    FILE *file = fopen(target, "rb");
    b->size = SIZE_MAX;
    if (file == NULL)
        return;
    b->size = fread(b->data, 1, sizeof b->data, file);
    assert_true(b->size < sizeof b->data);
    fclose(file);
}

static bool same(const bytes *a, const bytes *b) {
    return a->size == b->size && (a->size == SIZE_MAX || memcmp(a->data, b->data, a->size) == 0);
}

/* Restores the file to its state before a run. */
static void restore_target(const bytes *before) {
    unlink(target);
    if (before->size == SIZE_MAX)
        return;
    FILE *file = fopen(target, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(before->data, 1, before->size, file), before->size);
    fclose(file);
}

static int file_count(void) {
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/tem-faults-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(target, sizeof target, "%s/model.tem", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(target);
    return rmdir(folder);
}

/* ---- the path, step by step ---- */

typedef struct flow {
    const char *vectors_path;
    tem_build_options options;
    tem_overwrite overwrite;
    tem_run run;
    tem_readers readers;
    bool no_error; /* callers that pass no error struct must work too */
    tem_vectors *vectors;
    tem_model *built, *opened;
    tem_certificate *certificate, *loaded;
    tem_error error;
} flow;

static tem_error *error_of(flow *f) {
    f->error = (tem_error){.status = TEM_OK};
    return f->no_error ? NULL : &f->error;
}

static tem_status load(flow *f) {
    return tem_vectors_load(f->vectors_path, 0, &f->run, &f->vectors, error_of(f));
}

static tem_status build(flow *f) {
    return tem_model_build(f->vectors, &f->options, &f->run, &f->built, error_of(f));
}

static tem_status save(flow *f) {
    return tem_model_save(f->built, target, f->overwrite, &f->run, error_of(f));
}

static tem_status open_model(flow *f) {
    return tem_model_open(target, &f->opened, error_of(f));
}

static tem_status check(flow *f) {
    return tem_model_check(f->opened, &f->run, error_of(f));
}

static tem_status verify(flow *f) {
    return tem_model_verify(f->opened, &f->run, error_of(f));
}

/* A small file that belongs to a run. */
static tem_status write_report(flow *f) {
    return tem_file_write(target, "{}\n", 3, f->overwrite, f->readers, error_of(f));
}

/* A user's own metric and vectors in memory, which the file tests do not cover. */
static const char *const few_words[] = {"a", "b", "c"};

static double distance(void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a > b ? a - b : b - a;
}

static tem_status build_function(flow *f) {
    return tem_model_build_function(few_words, 3, distance, NULL, 2, &f->run, &f->built,
                                    error_of(f));
}

static tem_status create(flow *f) {
    static const float values[] = {1, 2, 3, 4, 5, 6};
    return tem_vectors_create(few_words, values, 3, 2, &f->vectors, error_of(f));
}

/* Points of the ball, for the hyperbolic metric. */
static tem_status create_ball(flow *f) {
    static const float values[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};
    return tem_vectors_create(few_words, values, 3, 2, &f->vectors, error_of(f));
}

/* Makes a certificate, whose file is the target; the model stays in memory. */
static tem_status make_certificate(flow *f) {
    const tem_certificate said = {
        .epsilon = 2, .s = 1 << 20, .gamma = 1 << 16, .realised = 1.5, .kind = TEM_WEIGHTS_EQUAL};
    return certificate_make(f->built, &said, &f->certificate, error_of(f));
}

static tem_status save_certificate(flow *f) {
    return tem_certificate_save(f->certificate, target, NULL, error_of(f));
}

static tem_status load_certificate(flow *f) {
    return tem_certificate_load(target, 0, &f->loaded, error_of(f));
}

static tem_status find_certificate(flow *f) {
    tem_certificate_free(f->loaded);
    f->loaded = NULL;
    const tem_calibration wanted = {.epsilon = 2, .gamma = 1};
    return tem_certificate_find(target, f->built, &wanted, &f->loaded, error_of(f));
}

/* The corners of a cube, half of them moved inwards, and its center. No weights make Z constant,
 * because the balancing weight of the center would be negative. So there is something to tune. */
enum { CUBE = 17, CUBE_DIMENSION = 4 };

static tem_status create_cube(flow *f) {
    static const char *const words[CUBE] = {"a", "b", "c", "d", "e", "f", "g", "h",     "i",
                                            "j", "k", "l", "m", "n", "o", "p", "centre"};
    float values[CUBE * CUBE_DIMENSION];
    for (unsigned id = 0; id < CUBE; id++) {
        const float away = id == CUBE - 1 ? 0 : id < CUBE / 2 ? 0.2f : 0.06f;
        for (unsigned i = 0; i < CUBE_DIMENSION; i++)
            values[id * CUBE_DIMENSION + i] = (id >> i & 1) ? 1 + away : 1 - away;
    }
    return tem_vectors_create(words, values, CUBE, CUBE_DIMENSION, &f->vectors, error_of(f));
}

static int note_tuning(void *context, const tem_search_state *state) {
    *(bool *)context |= strcmp(state->doing, "tuning") == 0;
    return 0;
}

static tem_status tune(flow *f) {
    bool tuning = false;
    tem_calibration wanted = {.epsilon = 2,
                              .gamma = 1,
                              .weights = TEM_WEIGHTS_TUNED,
                              .prior_name = "zipf",
                              .steps = 3,
                              .told = note_tuning,
                              .told_context = &tuning};
    tem_accountant *accountant = NULL;
    tem_prior *prior = NULL;
    tem_status status = tem_accountant_create(f->built, NULL, &f->run, &accountant, error_of(f));
    if (status == TEM_OK)
        status = tem_prior_create_zipf(f->built, 1, &prior, error_of(f));
    wanted.prior = prior;
    if (status == TEM_OK)
        status = tem_accountant_calibrate(accountant, &wanted, &f->run, &f->certificate, NULL,
                                          error_of(f));
    if (status == TEM_OK) {
        assert_true(tuning && f->certificate->count == CUBE);
        status = tem_certificate_verify(f->certificate, accountant, &f->run, error_of(f));
    }
    if (status != TEM_OK) {
        tem_certificate_free(f->certificate);
        f->certificate = NULL;
    }
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    return status;
}

typedef tem_status step(flow *f);
static step *const from_file[] = {load, build, save, open_model, check, verify, NULL};
static step *const from_memory[] = {create, build, save, open_model, check, verify, NULL};
static step *const from_ball[] = {create_ball, build, save, open_model, check, verify, NULL};
static step *const from_function[] = {build_function, save, open_model, check, verify, NULL};
static step *const with_certificate[] = {build_function,   make_certificate, save_certificate,
                                         load_certificate, find_certificate, NULL};
static step *const with_report[] = {write_report, NULL};
static step *const with_weights[] = {
    create_cube, build, tune, save_certificate, load_certificate, find_certificate, NULL};

/* Takes the steps up to the first failing one, whose outputs must be untouched. */
static tem_status go(flow *f, step *const *steps) {
    for (; *steps != NULL; steps++) {
        const tem_status status = (*steps)(f);
        if (status == TEM_OK)
            continue;
        assert_int_equal(f->error.status, f->no_error ? TEM_OK : status);
        if (*steps == load || *steps == create || *steps == create_ball || *steps == create_cube)
            assert_null(f->vectors);
        if (*steps == build || *steps == build_function)
            assert_null(f->built);
        if (*steps == open_model)
            assert_null(f->opened);
        if (*steps == make_certificate)
            assert_null(f->certificate);
        if (*steps == load_certificate || *steps == find_certificate)
            assert_null(f->loaded);
        return status;
    }
    return TEM_OK;
}

static void finish(flow *f) {
    tem_model_free(f->opened);
    tem_model_free(f->built);
    tem_vectors_free(f->vectors);
    tem_certificate_free(f->certificate);
    tem_certificate_free(f->loaded);
    f->opened = f->built = NULL;
    f->certificate = f->loaded = NULL;
    f->vectors = NULL;
}

/* Fails the nth place in run n; returns the number of places. */
static uint64_t fail_everywhere(flow *f, step *const *steps) {
    static bytes before, right, after;
    read_target(&before);
    assert_int_equal(go(f, steps), TEM_OK);
    finish(f);
    read_target(&right);
    for (uint64_t n = 1;; n++) {
        restore_target(&before);
        core_fault_arm(n);
        const tem_status status = go(f, steps);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        finish(f);

        read_target(&after);
        assert_true(same(&after, &right) || (status != TEM_OK && same(&after, &before)));
        assert_int_equal(file_count(), after.size == SIZE_MAX ? 0 : 1);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            restore_target(&before);
            return n - 1;
        }
        /* An unreported fault is an unnoticed fault. */
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
}

/* Runs without a file, over an old file, without an error struct, and on two threads. */
static uint64_t fail_all_ways(flow f, step *const *steps) {
    uint64_t places = 0;
    f.run = (tem_run){.threads = 1};
    f.overwrite = TEM_KEEP_EXISTING;
    unlink(target);
    places += fail_everywhere(&f, steps);
    f.no_error = true;
    places += fail_everywhere(&f, steps);
    f.no_error = false;
    f.overwrite = TEM_OVERWRITE;
    restore_target(&(bytes){.data = "old", .size = 3});
    places += fail_everywhere(&f, steps);
    f.run.threads = 2;
    places += fail_everywhere(&f, steps);
    unlink(target);
    return places;
}

/* The minimum number of places in the four ways together, somewhat below the counted numbers (278
 * for a file, 330 for memory, 238 for a function; certificates go one way, with 680 places if they
 * have weights). A test that meets fewer has lost its faults. */
enum {
    PLACES_OF_FILE = 240,
    PLACES_OF_MEMORY = 280,
    PLACES_OF_FUNCTION = 200,
    PLACES_OF_NEW_CERTIFICATE = 30,
    PLACES_OF_WEIGHTS = 600
};

static uint64_t fail_build(const char *name, tem_build_options options) {
    char path[512];
    const char *data = getenv("TEM_TEST_DATA");
    snprintf(path, sizeof path, "%s/vectors/%s", data != NULL ? data : "tests/data", name);
    options.neighbours = 2;
    const flow f = {.vectors_path = path, .options = options};
    const uint64_t places = fail_all_ways(f, from_file);
    assert_true(places >= PLACES_OF_FILE);
    return places;
}

static uint64_t fail_file(const char *name, tem_metric metric) {
    return fail_build(name, (tem_build_options){.metric = metric});
}

static void test_text(void **state) {
    (void)state;
    fail_file("ok-glove.txt", TEM_EUCLIDEAN);
    fail_file("ok-word2vec.txt", TEM_L1);
}

static void test_gzip(void **state) {
    (void)state;
    /* Unpacking has its own places: zlib's state and window, the content. */
    assert_true(fail_file("ok-glove.txt.gz", TEM_EUCLIDEAN) >
                fail_file("ok-glove.txt", TEM_EUCLIDEAN));
    fail_file("ok-word2vec.bin.gz", TEM_LINF);
}

static void test_binary(void **state) {
    (void)state;
    fail_file("ok-word2vec.bin", TEM_ANGULAR);
}

static void test_grid(void **state) {
    (void)state;
    fail_file("ok-grid.temv", TEM_EUCLIDEAN);
}

static void test_sphere(void **state) {
    (void)state;
    /* Preparing has its own places: lengths, components, values, words. */
    const tem_build_options sphere = {.space = TEM_SPACE_SPHERE};
    assert_true(fail_build("ok-glove.txt", sphere) > fail_file("ok-glove.txt", TEM_EUCLIDEAN) + 40);
    fail_file("ok-prepared.temv", TEM_EUCLIDEAN);
}

static void test_memory(void **state) {
    (void)state;
    const flow f = {.options = {.metric = TEM_EUCLIDEAN}};
    assert_true(fail_all_ways(f, from_memory) >= PLACES_OF_MEMORY);
}

static void test_function(void **state) {
    (void)state;
    assert_true(fail_all_ways((flow){0}, from_function) >= PLACES_OF_FUNCTION);
}

/* Into a new file, and into a file that already has a certificate. */
static void test_certificate(void **state) {
    (void)state;
    flow f = {.run = {.threads = 1}};
    unlink(target);
    const uint64_t started = fail_everywhere(&f, with_certificate);
    assert_int_equal(go(&f, with_certificate), TEM_OK);
    tem_certificate_free(f.certificate);
    f.certificate = NULL;
    const tem_certificate other = {
        .epsilon = 3, .s = 1 << 20, .gamma = 1 << 16, .realised = 1.5, .kind = TEM_WEIGHTS_EQUAL};
    assert_int_equal(certificate_make(f.built, &other, &f.certificate, NULL), TEM_OK);
    unlink(target);
    assert_int_equal(save_certificate(&f), TEM_OK);
    finish(&f);
    const uint64_t added = fail_everywhere(&f, with_certificate);
    f.no_error = true;
    assert_int_equal(fail_everywhere(&f, with_certificate), added);
    unlink(target);
    assert_true(started >= PLACES_OF_NEW_CERTIFICATE && added > started);
}

/* The search for weights, their proof, and a file with them. */
static void test_weights(void **state) {
    (void)state;
    flow f = {.run = {.threads = 1}};
    unlink(target);
    const uint64_t places = fail_everywhere(&f, with_weights);
    f.run.threads = 2;
    f.no_error = true;
    assert_true(fail_everywhere(&f, with_weights) >= places);
    assert_true(places >= PLACES_OF_WEIGHTS);
}

/* A pipe is read, not mapped: more allocations, and reads that can fail. */
static void test_pipe(void **state) {
    (void)state;
    for (uint64_t n = 1;; n++) {
        static const char text[] = "a 1 2\nb 3 4\nc 5 6\n";
        int ends[2];
        char path[32];
        tem_vectors *vectors = NULL;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
        close(ends[1]);
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
        core_fault_arm(n);
        const tem_status status = tem_vectors_load(path, 0, NULL, &vectors, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        close(ends[0]);
        assert_true((vectors != NULL) == (status == TEM_OK));
        tem_vectors_free(vectors);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 8);
            return;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
}

/* The inputs of a summary, and the summary. */
typedef struct account {
    tem_model *model;
    tem_mechanism *mechanism;
    tem_accountant *accountant;
    tem_prior *zipf, *counted;
    tem_summary summary;
} account;

static tem_status take_account(account *a, const char *prior_path, const tem_run *run) {
    const tem_mechanism_options options = {.epsilon = 2};
    tem_status status = tem_mechanism_create(a->model, &options, &a->mechanism, NULL);
    assert_true((a->mechanism != NULL) == (status == TEM_OK));
    if (status == TEM_OK) {
        status = tem_accountant_create(a->model, NULL, run, &a->accountant, NULL);
        assert_true((a->accountant != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_prior_create_zipf(a->model, 1, &a->zipf, NULL);
        assert_true((a->zipf != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_prior_load(a->model, prior_path, run, &a->counted, NULL);
        assert_true((a->counted != NULL) == (status == TEM_OK));
    }
    a->summary.bayes = -1;
    if (status == TEM_OK) {
        status = tem_accountant_summarise(a->accountant, a->mechanism, a->counted, 1, run,
                                          &a->summary, NULL);
        assert_true((a->summary.bayes > 0) == (status == TEM_OK));
    }
    tem_prior_free(a->counted);
    tem_prior_free(a->zipf);
    tem_accountant_free(a->accountant);
    tem_mechanism_free(a->mechanism);
    *a = (account){.model = a->model};
    return status;
}

static void test_summary(void **state) {
    (void)state;
    flow f = {.run = {.threads = 2}};
    char path[96];
    snprintf(path, sizeof path, "%s/prior.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("a b c\na", file) > 0);
    fclose(file);
    assert_int_equal(build_function(&f), TEM_OK);
    account a = {.model = f.built};
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = take_account(&a, path, &f.run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 20);
            break;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
    unlink(path);
    finish(&f);
}

/* An attacker, its test, and effects by the law and as learned. */
static tem_status attack(const tem_model *model, const tem_run *run) {
    const tem_mechanism_options options = {.epsilon = 2};
    const tem_learned_options few = {.pairs = 300};
    tem_mechanism *mechanism = NULL;
    tem_accountant *accountant = NULL;
    tem_prior *prior = NULL;
    tem_learned *learned = NULL;
    tem_learned_score score = {.guess = -1};
    tem_effects effects = {.exposed = 77};
    tem_status status = tem_mechanism_create(model, &options, &mechanism, NULL);
    if (status == TEM_OK)
        status = tem_accountant_create(model, NULL, run, &accountant, NULL);
    if (status == TEM_OK)
        status = tem_prior_create_zipf(model, 1, &prior, NULL);
    if (status == TEM_OK) {
        status = tem_learned_create(accountant, mechanism, prior, &few, run, &learned, NULL);
        assert_true((learned != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_learned_test(learned, 300, 1, run, &score, NULL);
        assert_true((score.guess > 0) == (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_learned_effects(learned, run, &effects, NULL);
        assert_true((effects.exposed != 77) == (status == TEM_OK));
    }
    effects.exposed = 77;
    if (status == TEM_OK) {
        status = tem_accountant_effects(accountant, mechanism, prior, run, &effects, NULL);
        assert_true((effects.exposed != 77) == (status == TEM_OK));
    }
    tem_learned_free(learned);
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    return status;
}

static void test_attacking(void **state) {
    (void)state;
    flow f = {.run = {.threads = 2}};
    assert_int_equal(build_function(&f), TEM_OK);
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = attack(f.built, &f.run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 30);
            break;
        }
        assert_int_equal(status, TEM_ERR_MEMORY);
    }
    finish(&f);
}

/* A channel, its products, posterior vectors and vectors from a text. */
static tem_status learn(const tem_model *model, const tem_vectors *vectors, const char *text,
                        const tem_run *run) {
    enum { WORDS = 3 };
    const tem_mechanism_options options = {.epsilon = 2};
    tem_mechanism *mechanism = NULL;
    tem_channel *channel = NULL;
    tem_prior *prior = NULL;
    double in[WORDS + 1] = {1, 2, 3, 4}, out[WORDS + 1] = {0}, vector[2 * WORDS];
    tem_told told = {0};
    tem_accountant *accountant = NULL;
    tem_unadapted unadapted = {0};
    uint32_t missing = 7;
    tem_status status = tem_mechanism_create(model, &options, &mechanism, NULL);
    if (status == TEM_OK) {
        status = tem_channel_create(mechanism, run, &channel, NULL);
        assert_true((channel != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK)
        status = tem_prior_create_zipf(model, 1, &prior, NULL);
    const tem_expectation expected = {.prior = prior};
    if (status == TEM_OK)
        status = tem_channel_forward(channel, in, 1, run, out, NULL);
    assert_true((out[0] > 0) == (status == TEM_OK));
    out[0] = 0;
    if (status == TEM_OK)
        status = tem_channel_backward(channel, in, 1, run, out, NULL);
    assert_true((out[0] > 0) == (status == TEM_OK));
    out[0] = 0;
    if (status == TEM_OK)
        status = tem_channel_posterior(channel, &expected, in, 1, run, out, NULL);
    assert_true((out[0] > 0) == (status == TEM_OK));
    if (status == TEM_OK)
        status = tem_channel_told(channel, &expected, in, 1, run, &told, NULL);
    assert_true((told.side > 0) == (status == TEM_OK));
    if (status == TEM_OK)
        status = tem_accountant_create(model, NULL, run, &accountant, NULL);
    if (status == TEM_OK)
        status = tem_accountant_unadapted(accountant, mechanism, run, &unadapted, NULL);
    assert_true((unadapted.loss > 0) == (status == TEM_OK));
    out[0] = 0;
    if (status == TEM_OK)
        status = tem_text_vectors(model, text, 1, run, out, NULL);
    assert_true((out[0] > 0) == (status == TEM_OK));
    if (status == TEM_OK)
        status = tem_model_align_vectors(model, vectors, vector, &missing, NULL);
    assert_true((missing == 0) == (status == TEM_OK));
    tem_accountant_free(accountant);
    tem_prior_free(prior);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
    return status;
}

static void test_learning(void **state) {
    (void)state;
    static const char *const words[] = {"a", "b", "c"};
    static const float values[] = {0, 0, 1, 1, 2, 3};
    const tem_run run = {.threads = 2};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    char path[96];
    snprintf(path, sizeof path, "%s/public.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("a b c\na\n", file) > 0);
    fclose(file);
    assert_int_equal(tem_vectors_create(words, values, 3, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(
        tem_model_build(vectors, &(tem_build_options){.space = TEM_SPACE_RAW}, NULL, &model, NULL),
        TEM_OK);
    model->signals.count = 1; /* the second column */
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = learn(model, vectors, path, &run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 40);
            break;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
    unlink(path);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Signals from both kinds of source, and an adapted model, saved. */
static tem_status adapt(const tem_model *model, const char *lexicon, const char *texts,
                        const tem_run *run) {
    const tem_signal_source sources[] = {
        {.path = lexicon},
        {.path = texts, .format = TEM_FORMAT_TSV, .text = "text", .label = "label"}};
    const tem_adapt_options options = {.stretch = 1, .squash = 2};
    tem_adaptation *adaptation = NULL;
    tem_model *made = NULL;
    tem_status status = tem_adaptation_create(model, &adaptation, NULL);
    for (uint32_t i = 0; i < 2 && status == TEM_OK; i++) {
        status = tem_adaptation_add(adaptation, &sources[i], run, NULL);
        assert_int_equal(tem_adaptation_count(adaptation), i + (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_adaptation_build(adaptation, &options, run, &made, NULL);
        assert_true((made != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK)
        status = tem_model_save(made, target, TEM_OVERWRITE, run, NULL);
    tem_model_free(made);
    made = NULL;
    if (status == TEM_OK) {
        status = tem_model_open(target, &made, NULL);
        assert_true((made != NULL) == (status == TEM_OK));
    }
    tem_model_free(made);
    tem_adaptation_free(adaptation);
    return status;
}

/* Points for the closure of some edges, saved, read again and compared with the edges. */
static tem_status train(const char *edges, const tem_run *run) {
    const tem_graph_options closed = {.closure = 1};
    const tem_poincare_options options = {.epochs = 2};
    tem_graph *graph = NULL;
    tem_poincare *points = NULL, *again = NULL;
    tem_reconstruction found = {0};
    tem_status status = tem_graph_load(edges, &closed, run, &graph, NULL);
    assert_true((graph != NULL) == (status == TEM_OK));
    if (status == TEM_OK) {
        status = tem_poincare_train(graph, &options, run, &points, NULL, NULL);
        assert_true((points != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK)
        status = tem_poincare_save(points, graph, target, TEM_OVERWRITE, run, NULL);
    if (status == TEM_OK) {
        status = tem_poincare_load(target, graph, run, &again, NULL);
        assert_true((again != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK) {
        status = tem_poincare_reconstruct(again, graph, run, &found, NULL);
        assert_true((found.map > 0) == (status == TEM_OK));
    }
    tem_poincare_free(again);
    tem_poincare_free(points);
    tem_graph_free(graph);
    return status;
}

static void test_training(void **state) {
    (void)state;
    char edges[96];
    const tem_run run = {.threads = 1};
    snprintf(edges, sizeof edges, "%s/edges", folder);
    FILE *file = fopen(edges, "w");
    assert_non_null(file);
    for (int i = 1; i < 20; i++)
        fprintf(file, "w%d\tw%d\n", i, i / 2);
    assert_int_equal(fclose(file), 0);
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = train(edges, &run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 30);
            break;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
    unlink(edges);
    unlink(target);
}

static void test_adapting(void **state) {
    (void)state;
    enum { WORDS = 26 };
    static char names[WORDS][2];
    static float values[2 * WORDS];
    const char *words[WORDS];
    const tem_run run = {.threads = 2};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    char lexicon[96], texts[96];
    snprintf(lexicon, sizeof lexicon, "%s/lexicon.tsv", folder);
    snprintf(texts, sizeof texts, "%s/texts.tsv", folder);
    FILE *file = fopen(lexicon, "w"), *labelled = fopen(texts, "w");
    assert_true(file != NULL && labelled != NULL);
    fputs("label\ttext\n", labelled);
    for (int i = 0; i < WORDS; i++) {
        names[i][0] = (char)('a' + i);
        words[i] = names[i];
        values[2 * i] = (float)(i * i % 17);
        values[2 * i + 1] = (float)(i % 5);
        fprintf(file, "%s\t%d\n", names[i], i % 7);
        fprintf(labelled, "%s\t%s\n", i % 2 ? "x" : "y", names[i]);
    }
    fclose(file);
    fclose(labelled);
    assert_int_equal(tem_vectors_create(words, values, WORDS, 2, &vectors, NULL), TEM_OK);
    assert_int_equal(
        tem_model_build(vectors, &(tem_build_options){.space = TEM_SPACE_RAW, .allow_coarse = 1},
                        NULL, &model, NULL),
        TEM_OK);
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = adapt(model, lexicon, texts, &run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 60);
            break;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
    unlink(lexicon);
    unlink(texts);
    unlink(target);
    tem_model_free(model);
    tem_vectors_free(vectors);
}

/* Audit, losses and calibration of a model. */
static tem_status audit_model(const tem_model *model, const tem_run *run) {
    const tem_mechanism_options options = {.epsilon = 2};
    const tem_calibration wanted = {.epsilon = 2};
    tem_mechanism *mechanism = NULL;
    tem_accountant *accountant = NULL;
    tem_certificate *certificate = NULL;
    tem_audit audit = {.realised = -1};
    double losses[6];
    tem_status status = tem_mechanism_create(model, &options, &mechanism, NULL);
    if (status == TEM_OK)
        status = tem_accountant_create(model, NULL, run, &accountant, NULL);
    if (status == TEM_OK) {
        status = tem_accountant_audit(accountant, mechanism, run, &audit, NULL);
        assert_true((audit.realised > 0) == (status == TEM_OK));
    }
    if (status == TEM_OK)
        status = tem_accountant_losses(accountant, mechanism, 5, run, losses, NULL);
    if (status == TEM_OK) {
        status = tem_accountant_calibrate(accountant, &wanted, run, &certificate, NULL, NULL);
        assert_true((certificate != NULL) == (status == TEM_OK));
    }
    if (status == TEM_OK)
        status = tem_certificate_verify(certificate, accountant, run, NULL);
    tem_certificate_free(certificate);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    return status;
}

static void fail_audits(flow *f) {
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = audit_model(f->built, &f->run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 40);
            return;
        }
        assert_int_equal(status, TEM_ERR_MEMORY);
    }
}

/* Mechanisms that keep more than a sampler: each allocation of their making fails once. */
static void fail_mechanism(const tem_model *model, const char *name, const unsigned char *listed) {
    for (uint64_t n = 1;; n++) {
        const tem_mechanism_options options = {
            .mechanism = name, .epsilon = 2, .listed = listed, .allow_no_guarantee = 1};
        tem_mechanism *mechanism = NULL;
        core_fault_arm(n);
        const tem_status status = tem_mechanism_create(model, &options, &mechanism, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_true((mechanism != NULL) == (status == TEM_OK));
        tem_mechanism_free(mechanism);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 2);
            return;
        }
        assert_int_equal(status, TEM_ERR_MEMORY);
    }
}

static void fail_mechanisms(flow *f) {
    tem_model_info info;
    tem_model_get_info(f->built, &info);
    unsigned char *listed = calloc(info.words, 1);
    assert_non_null(listed);
    listed[0] = 1;
    fail_mechanism(f->built, "permute-and-flip", NULL);
    fail_mechanism(f->built, "santext-plus", listed);
    fail_mechanism(f->built, "custext-plus", listed);
    fail_mechanism(f->built, "diffractor", NULL);
    free(listed);
}

static void test_audit(void **state) {
    (void)state;
    flow by_function = {.run = {.threads = 2}}, by_vectors = {.run = {.threads = 2}};
    assert_int_equal(build_function(&by_function), TEM_OK);
    assert_int_equal(create(&by_vectors), TEM_OK);
    assert_int_equal(build(&by_vectors), TEM_OK);
    fail_audits(&by_function);
    fail_audits(&by_vectors);
    fail_mechanisms(&by_vectors);
    finish(&by_function);
    finish(&by_vectors);
}

static void test_ball(void **state) {
    (void)state;
    flow f = {.options = {.metric = TEM_HYPERBOLIC}, .run = {.threads = 1}};
    assert_true(fail_all_ways(f, from_ball) >= PLACES_OF_MEMORY);
    assert_int_equal(create_ball(&f), TEM_OK);
    assert_int_equal(build(&f), TEM_OK);
    fail_mechanism(f.built, "hyperbolic", NULL);
    finish(&f);
}

/* The search for an epsilon: a failure in any of its many steps ends it, and is not mistaken for an
 * epsilon out of range. Every seventh place is enough, because the steps are alike. */
static void test_choose(void **state) {
    (void)state;
    flow f = {.run = {.threads = 1}};
    tem_accountant *accountant = NULL;
    tem_wish wish = {.target = TEM_TARGET_SELF, .wanted = 0.6, .calibrated = 1};
    tem_prior *prior = NULL;
    assert_int_equal(build_function(&f), TEM_OK);
    assert_int_equal(tem_accountant_create(f.built, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_prior_create_zipf(f.built, 1, &prior, NULL), TEM_OK);
    wish.prior = prior;
    for (uint64_t n = 1;; n += 7) {
        tem_point answer = {.epsilon = -1}, points[TEM_CURVE_MAX];
        uint32_t count = 0;
        core_fault_arm(n);
        tem_status status = tem_accountant_choose(accountant, &wish, &f.run, &answer, NULL);
        assert_true((answer.epsilon > 0) == (status == TEM_OK));
        if (status == TEM_OK)
            status = tem_accountant_curve(accountant, &wish, &answer, &f.run, points, &count, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_int_equal(status, hit ? TEM_ERR_MEMORY : TEM_OK);
        assert_true((count > 0) == !hit);
        if (!hit) {
            assert_true(n > 100);
            break;
        }
    }
    tem_prior_free(prior);
    tem_accountant_free(accountant);
    finish(&f);
}

/* Deconvolution, with and without held-out words, and an estimate. */
static tem_status take_statistics(const tem_channel *channel, const tem_prior *prior,
                                  const tem_run *run) {
    static const double counts[] = {5, 2, 1}, members[] = {1, 0, 0, 0};
    const tem_estimate_options options = {.expected.prior = prior};
    double shares[4] = {0};
    tem_status status = TEM_OK;
    for (int held_out = 0; status == TEM_OK && held_out < 2; held_out++) {
        tem_deconvolution how = {.steps = 2};
        shares[0] = 0;
        status = tem_channel_deconvolve(channel, &options.expected, counts,
                                        held_out ? counts : NULL, 1, run, &how, shares, NULL);
        assert_true((shares[0] > 0) == (status == TEM_OK));
        assert_true((how.likelihood < 0) == (status == TEM_OK));
    }
    tem_estimate estimate = {.share = -1};
    if (status == TEM_OK)
        status =
            tem_channel_estimate(channel, &options, counts, 1, members, 1, run, &estimate, NULL);
    assert_true((estimate.share >= 0) == (status == TEM_OK));
    return status;
}

static void test_statistics(void **state) {
    (void)state;
    flow f = {.run = {.threads = 2}};
    tem_mechanism *mechanism = NULL;
    tem_channel *channel = NULL;
    tem_prior *prior = NULL;
    assert_int_equal(build_function(&f), TEM_OK);
    assert_int_equal(
        tem_mechanism_create(f.built, &(tem_mechanism_options){.epsilon = 2}, &mechanism, NULL),
        TEM_OK);
    assert_int_equal(tem_channel_create(mechanism, NULL, &channel, NULL), TEM_OK);
    assert_int_equal(tem_prior_create_zipf(f.built, 1, &prior, NULL), TEM_OK);
    assert_int_equal(tem_channel_outputs(channel), 3);
    for (uint64_t n = 1;; n++) {
        core_fault_arm(n);
        const tem_status status = take_statistics(channel, prior, &f.run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 40);
            break;
        }
        assert_int_equal(status, TEM_ERR_MEMORY);
    }
    tem_prior_free(prior);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
    finish(&f);
}

/* n-gram models, and attacks with every attacker; with the likelihoods of a law and of pairs. */
static tem_status attack_with(const tem_model *model, const tem_prior *prior, const char *mechanism,
                              const char *text, const char *arpa, const tem_run *run) {
    const tem_mechanism_options options = {.epsilon = 2, .mechanism = mechanism};
    const uint32_t words[] = {0, 1, 2};
    const uint64_t ends[] = {2, 3};
    const tem_documents d = {.words = words, .ends = ends, .count = 2};
    const char *const paths[] = {text};
    tem_mechanism *m = NULL;
    tem_ngram *trained = NULL, *loaded = NULL;
    tem_attack *attack = NULL;
    uint32_t ids[3] = {7};
    double likelihoods[3], posteriors[3];
    tem_status status = tem_mechanism_create(model, &options, &m, NULL);
    if (status == TEM_OK)
        status = tem_ngram_train(model, paths, 1, 3, run, &trained, NULL);
    if (status == TEM_OK)
        status = tem_ngram_save(trained, arpa, TEM_OVERWRITE, run, NULL);
    if (status == TEM_OK)
        status = tem_ngram_load(model, arpa, run, &loaded, NULL);
    const tem_attack_options how = {.expected = {.prior = prior}, .ngram = loaded, .pairs = 200};
    if (status == TEM_OK)
        status = tem_attack_create(m, &how, run, &attack, NULL);
    assert_true((attack != NULL) == (status == TEM_OK));
    for (int kind = TEM_ATTACKER_ITSELF; status == TEM_OK && kind <= TEM_ATTACKER_TRIGRAM; kind++)
        status = tem_attack_guess(attack, (tem_attacker)kind, &d, run, ids, NULL, NULL);
    if (status == TEM_OK)
        status = tem_attack_candidates(attack, 0, 2, ids, likelihoods, posteriors, NULL);
    tem_attack_free(attack);
    attack = NULL;
    const tem_attack_options seen = {.expected = {.prior = prior}};
    if (status == TEM_OK)
        status = tem_attack_create_from_pairs(model, words, words, 3, &seen, run, &attack, NULL);
    assert_true((attack != NULL) == (status == TEM_OK));
    tem_attack_free(attack);
    tem_ngram_free(loaded);
    tem_ngram_free(trained);
    tem_mechanism_free(m);
    return status;
}

static void test_attacks(void **state) {
    (void)state;
    static const float points[] = {0, 1, 3};
    static const char *const mechanisms[] = {"tem", "madlib"};
    char text[128], arpa[128];
    flow f = {.run = {.threads = 2}};
    tem_vectors *vectors = NULL;
    tem_prior *prior = NULL;
    const tem_build_options build = {.space = TEM_SPACE_RAW, .allow_coarse = 1};
    snprintf(text, sizeof text, "%s/attack.txt", folder);
    snprintf(arpa, sizeof arpa, "%s/attack.arpa", folder);
    FILE *file = fopen(text, "w");
    assert_true(file != NULL && fputs("a b c\nb a x\n", file) >= 0 && fclose(file) == 0);
    assert_int_equal(tem_vectors_create(few_words, points, 3, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &build, NULL, &f.built, NULL), TEM_OK);
    assert_int_equal(tem_prior_create_zipf(f.built, 1, &prior, NULL), TEM_OK);
    for (int i = 0; i < 2; i++)
        for (uint64_t n = 1;; n++) {
            core_fault_arm(n);
            const tem_status status =
                attack_with(f.built, prior, mechanisms[i], text, arpa, &f.run);
            const bool hit = core_fault_hit();
            core_fault_arm(0);
            if (!hit) {
                assert_int_equal(status, TEM_OK);
                assert_true(n > 60);
                break;
            }
            assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE || status == TEM_OK);
        }
    unlink(text);
    unlink(arpa);
    tem_prior_free(prior);
    tem_vectors_free(vectors);
    finish(&f);
}

static void test_report(void **state) {
    (void)state;
    for (int readers = TEM_READERS_USUAL; readers <= TEM_READERS_OWNER; readers++)
        assert_true(fail_all_ways((flow){.readers = (tem_readers)readers}, with_report) >= 24);
}

static void test_nearest(void **state) {
    (void)state;
    flow f = {.run = {.threads = 1}};
    const tem_mechanism_options options = {.epsilon = 2};
    tem_mechanism *mechanism = NULL;
    tem_law *law = NULL;
    uint32_t ids[2] = {7, 7};
    assert_int_equal(build_function(&f), TEM_OK);
    assert_int_equal(tem_mechanism_create(f.built, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_law_create(mechanism, 0, 5, &law, NULL), TEM_OK);
    core_fault_arm(1);
    assert_int_equal(tem_law_nearest(law, ids, 2, NULL), TEM_ERR_MEMORY);
    core_fault_arm(0);
    assert_true(ids[0] == 7 && ids[1] == 7);
    tem_law_free(law);
    tem_mechanism_free(mechanism);
    finish(&f);
}

/* Searches, the distance of documents, and documents without order. */
static void test_search_and_bags(void **state) {
    (void)state;
    flow f = {.run = {.threads = 1}};
    const tem_mechanism_options mechanism_options = {.epsilon = 2};
    tem_mechanism *mechanism = NULL;
    assert_int_equal(build_function(&f), TEM_OK);
    assert_int_equal(tem_mechanism_create(f.built, &mechanism_options, &mechanism, NULL), TEM_OK);
    tem_model_info info;
    tem_model_get_info(f.built, &info);
    const uint32_t ids[] = {0, 1, TEM_NO_WORD};
    uint64_t n = 1;
    for (;; n++) {
        tem_neighbour found[64];
        uint32_t count = 77;
        tem_bag_distance distance = {.distance = -1};
        const tem_text_input text = {.text = "the the film", .bytes = 12};
        tem_status status = TEM_OK;
        core_fault_arm(n);
        status = tem_search_nearest(f.built, ids, 2, info.words, &f.run, found, NULL);
        if (status == TEM_OK)
            status = tem_search_within(f.built, 0, UINT32_MAX, found, 1, &count, NULL);
        assert_true((count != 77) == (status == TEM_OK));
        if (status == TEM_OK)
            status = tem_bag_measure(f.built, ids, 3, ids + 1, 1, NULL, &f.run, &distance, NULL);
        assert_true((distance.distance >= 0) == (status == TEM_OK));
        for (tem_order order = TEM_ORDER_SHUFFLED; order <= TEM_ORDER_COUNTS; order++) {
            const tem_job job = {.text.order = order};
            tem_texts *out = NULL;
            if (status == TEM_OK)
                status =
                    tem_privatize_texts(mechanism, &job, &text, 1, &f.run, &out, NULL, NULL, NULL);
            assert_true((out != NULL) == (status == TEM_OK));
            tem_texts_free(out);
        }
        const bool fired = core_fault_hit();
        core_fault_arm(0);
        if (!fired) {
            assert_int_equal(status, TEM_OK);
            break;
        }
        assert_int_equal(status, TEM_ERR_MEMORY);
    }
    assert_true(n > 20);
    tem_mechanism_free(mechanism);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_function),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_adapting),
        cmocka_unit_test(test_attacking),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_audit),
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_attacks),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_search_and_bags),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
