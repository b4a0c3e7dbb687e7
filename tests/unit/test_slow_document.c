/* test_slow_document.c - a document that one thread works on for more than 10 s is named, by its
 * number and its file, and only as long as the thread works on it.
 *
 * The clock of this program goes forward where the test says so: each question whether to go on
 * takes 4 s. */
#include "job/workers.h"
#include "tem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "small_model.h"

enum { STEP_S = 4, LARGE = 500000 };

static time_t ahead;
static uint64_t named, named_document;
static double named_seconds;
static char named_file[64];
static tem_mechanism *mechanism;
static tem_model *model;

/* In the place of that of the C library. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now) {
    const int failed = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += ahead;
    return failed;
}

static int ask(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage, (void)done, (void)total;
    ahead += STEP_S;
    return 0;
}

static void note(void *context, uint64_t document, const char *file, double seconds) {
    assert_string_equal(context, "context");
    if (named > 0 &&
        (document != named_document || strcmp(file == NULL ? "" : file, named_file) != 0))
        fail_msg("document %d, too", (int)document);
    assert_true(seconds > 10 && (named == 0 || seconds > named_seconds));
    named++;
    named_document = document;
    named_seconds = seconds;
    snprintf(named_file, sizeof named_file, "%s", file == NULL ? "" : file);
}

static const tem_run run = {
    .threads = 1, .progress = ask, .progress_context = (void *)"context", .slow_document = note};

static int set_up(void **state) {
    (void)state;
    static const float values[] = {1, 2, 3};
    const tem_mechanism_options options = {.epsilon = 1};
    model = small_model(NULL, values, 3, 1, TEM_EUCLIDEAN, 3);
    return tem_mechanism_create(model, &options, &mechanism, NULL) != TEM_OK;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return 0;
}

static void write_words(FILE *file, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 2)
        assert_true(fputs("a ", file) >= 0);
    assert_true(fputc('\n', file) != EOF);
}

/* The second document of the second file takes long; those after it do not. */
static void test_files(void **state) {
    (void)state;
    char paths[3][64];
    const char *inputs[2];
    snprintf(paths[2], sizeof paths[2], "/tmp/tem-test-slow-out-%ld", (long)getpid());
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/tem-test-slow-%d-%ld", i, (long)getpid());
        inputs[i] = paths[i];
        FILE *file = fopen(paths[i], "w");
        assert_non_null(file);
        write_words(file, 4);
        write_words(file, i == 1 ? LARGE : 4);
        assert_true(fputs("\na\n\na\n", file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    const tem_job job = {
        .inputs = inputs, .input_count = 2, .output = paths[2], .overwrite = TEM_OVERWRITE};
    for (int dry = 0; dry < 2; dry++) {
        tem_job one = job;
        one.dry_run = dry;
        named = 0;
        assert_int_equal(tem_privatize_files(mechanism, &one, &run, NULL, NULL, NULL, NULL),
                         TEM_OK);
        assert_true(named > 3);
        assert_int_equal(named_document, 2);
        assert_string_equal(named_file, paths[1]);
    }
    unlink(paths[0]);
    unlink(paths[1]);
    unlink(paths[2]);
}

static void test_texts(void **state) {
    (void)state;
    char *large = malloc(LARGE);
    tem_texts *out = NULL;
    memset(large, ' ', LARGE);
    for (size_t i = 0; i < LARGE; i += 2)
        large[i] = 'a';
    const tem_text_input texts[] = {{.text = "a", .bytes = 1},
                                    {.text = "a", .bytes = 1},
                                    {.text = large, .bytes = LARGE},
                                    {.text = "a", .bytes = 1}};
    named = 0;
    named_file[0] = '\0';
    assert_int_equal(tem_privatize_texts(mechanism, NULL, texts, 4, &run, &out, NULL, NULL, NULL),
                     TEM_OK);
    assert_true(named > 3);
    assert_int_equal(named_document, 3);
    assert_string_equal(named_file, "");
    tem_texts_free(out);
    free(large);
}

/* Nothing is named before its time, or after its end. */
static void test_one_worker(void **state) {
    (void)state;
    const tem_job job = {.output = NULL};
    workers w;
    assert_int_equal(workers_init(&w, mechanism, &job, 1, &run, NULL), TEM_OK);
    worker_reads(&w.items[0], "x.csv", 5);
    named = 0;
    for (int k = 0; k < 4; k++) { /* the third question is at 8 s, and the fourth at 12 s */
        assert_int_equal(k == 0 ? worker_begin(&w.items[0], 7, NULL) : workers_tell(&w, NULL),
                         TEM_OK);
        assert_int_equal(named, k == 3);
    }
    assert_int_equal(named_document, 3);
    assert_string_equal(named_file, "x.csv");
    worker_end(&w.items[0]);
    assert_int_equal(workers_tell(&w, NULL), TEM_OK);
    assert_int_equal(named, 1);
    workers_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_one_worker),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
