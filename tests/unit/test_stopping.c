/* test_stopping.c - every wait, and every long piece of work, asks the run's callback whether to go
 * on.
 *
 * Times are no measure on a busy machine. So the test lets a call wait for an event that never
 * comes (a pipe without a writer, a lock that is held, a reader that does not read). The call must
 * end because its callback says so; otherwise an alarm ends the test. For work, the test counts the
 * questions. */
#include "certificate/certificate.h"
#include "core/threads.h"
#include "io/file.h"
#include "pseudo.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "small_model.h"
#include "tem_account.h"
#include "tem_language.h"

enum { WORDS = 6000, DIMENSION = 4, PATIENCE_S = 12 };

static char folder[64];
static tem_model *model;
static tem_mechanism *mechanism;

static int set_up(void **state) {
    (void)state;
    static float values[WORDS * DIMENSION];
    const tem_mechanism_options options = {.epsilon = 2};
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-stopping-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = (float)random_below(1000) / 100;
    model = small_model(NULL, values, WORDS, DIMENSION, TEM_EUCLIDEAN, 256);
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return rmdir(folder); /* fails if a call left a file behind */
}

/* Around tests of waiting, which take less than a second: one that waits for ever ends the
 * program. */
static int begin_waiting(void **state) {
    (void)state;
    alarm(PATIENCE_S);
    return 0;
}

static int end_waiting(void **state) {
    (void)state;
    alarm(0);
    return 0;
}

/* The path of a file in the directory; valid until the fourth next call. */
static const char *path_of(const char *name) {
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static unsigned count_files(void) {
    unsigned count = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (const struct dirent *entry; (entry = readdir(all)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(all);
    return count;
}

/* ---- callbacks ---- */

/* Counts the questions, and asks to stop from the `stop_at`-th on; 0: never. */
typedef struct asked {
    unsigned calls, stop_at;
    const char *stage; /* counts only this stage; NULL: all */
} asked;

static int count_calls(void *context, const char *stage, uint64_t done, uint64_t total) {
    asked *a = context;
    assert_true(total == 0 || done <= total);
    a->calls += a->stage == NULL || strcmp(a->stage, stage) == 0;
    return a->stop_at > 0 && a->calls >= a->stop_at;
}

static tem_run run_of(asked *a, unsigned threads) {
    return (tem_run){.threads = threads, .progress = count_calls, .progress_context = a};
}

/* ---- waiting for a pipe ---- */

static void test_pipe_without_writer(void **state) {
    (void)state;
    const char *pipe = path_of("pipe");
    asked a = {.stop_at = 3};
    const tem_run run = run_of(&a, 1);
    tem_vectors *vectors = NULL;
    tem_prior *prior = NULL;
    tem_error error;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(tem_vectors_load(pipe, 0, &run, &vectors, &error), TEM_ERR_CANCELLED);
    assert_int_equal(a.calls, 3);
    a.calls = 0;
    assert_int_equal(tem_prior_load(model, pipe, &run, &prior, &error), TEM_ERR_CANCELLED);
    a.calls = 0;
    const tem_job job = {.inputs = &pipe, .input_count = 1, .output = path_of("out")};
    assert_int_equal(tem_privatize_files(mechanism, &job, &run, NULL, NULL, NULL, &error),
                     TEM_ERR_CANCELLED);
    assert_int_equal(error.status, TEM_ERR_CANCELLED);
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(count_files(), 0);
}

/* A pipe whose writer writes nothing. */
static void test_idle_pipe(void **state) {
    (void)state;
    const char *pipe = path_of("pipe");
    asked a = {.stop_at = 3};
    const tem_run run = run_of(&a, 1);
    tem_vectors *vectors = NULL;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const int writer = open(pipe, O_RDWR);
    assert_true(writer >= 0);
    assert_int_equal(tem_vectors_load(pipe, 0, &run, &vectors, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(write(writer, "a 1 2\nb 2", 9), 9); /* and a writer that stops in the middle */
    a.calls = 0;
    assert_int_equal(tem_vectors_load(pipe, 0, &run, &vectors, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(close(writer), 0);
    assert_int_equal(unlink(pipe), 0);
}

static void *write_late(void *pipe) {
    static const char *const parts[] = {"a 1 2\n", "b 2 1\nc 3", " 3\n"};
    usleep(250000);
    const int writer = open(pipe, O_WRONLY);
    assert_true(writer >= 0);
    for (int i = 0; i < 3; i++) {
        usleep(150000);
        assert_int_equal(write(writer, parts[i], strlen(parts[i])), strlen(parts[i]));
    }
    close(writer);
    return NULL;
}

/* A call waits for a late and slow writer, and reads everything. */
static void test_late_writer(void **state) {
    (void)state;
    char pipe[128];
    asked a = {.calls = 0};
    const tem_run run = run_of(&a, 1);
    tem_vectors *vectors = NULL;
    pthread_t thread;
    snprintf(pipe, sizeof pipe, "%s", path_of("pipe"));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_late, pipe), 0);
    assert_int_equal(tem_vectors_load(pipe, 0, &run, &vectors, NULL), TEM_OK);
    pthread_join(thread, NULL);
    assert_int_equal(tem_vectors_count(vectors), 3);
    assert_true(a.calls > 2);
    tem_vectors_free(vectors);
    assert_int_equal(unlink(pipe), 0);
}

/* Standard output is a pipe that nobody reads. */
static void test_reader_that_does_not_read(void **state) {
    (void)state;
    int ends[2];
    const char *in = path_of("in");
    asked a = {.stop_at = 3, .stage = "writing"};
    const tem_run run = run_of(&a, 1);
    const tem_job job = {.inputs = &in, .input_count = 1};
    FILE *file = fopen(in, "w");
    assert_non_null(file);
    for (int i = 0; i < 100000; i++)
        fputs("w1 w2 w3\n", file);
    fclose(file);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
    const tem_status status = tem_privatize_files(mechanism, &job, &run, NULL, NULL, NULL, NULL);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(status, TEM_ERR_CANCELLED);
    assert_int_equal(unlink(in), 0);
}

/* ---- waiting for a lock ---- */

static void test_locked_certificates(void **state) {
    (void)state;
    char path[128];
    asked a = {.stop_at = 3};
    const tem_run run = run_of(&a, 1);
    const tem_certificate said = {.epsilon = 2,
                                  .beta = TEM_BETA_DEFAULT,
                                  .s = 3u << 19,
                                  .gamma = 4 * TEM_DIST_ONE,
                                  .realised = 1.9,
                                  .kind = TEM_WEIGHTS_EQUAL};
    tem_certificate *made = NULL;
    snprintf(path, sizeof path, "%s", path_of("m.cert"));
    assert_int_equal(certificate_make(model, &said, &made, NULL), TEM_OK);
    assert_int_equal(tem_certificate_save(made, path, &run, NULL), TEM_OK);
    const int held = open(path, O_RDONLY);
    assert_true(held >= 0 && flock(held, LOCK_EX) == 0);
    assert_int_equal(tem_certificate_save(made, path, &run, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(a.calls, 3);
    close(held);
    assert_int_equal(tem_certificate_save(made, path, &run, NULL), TEM_OK);
    tem_certificate_free(made);
    assert_int_equal(unlink(path), 0);
}

static void test_locked_ledger(void **state) {
    (void)state;
    char path[128];
    struct stat before, after;
    asked a = {.calls = 0};
    const tem_run run = run_of(&a, 1);
    snprintf(path, sizeof path, "%s", path_of("ledger"));
    const tem_job job = {.ledger = path};
    const tem_document document = {.counts = {.documents = 1, .words = 7}};
    assert_int_equal(tem_job_charge(mechanism, &job, &document, 1, &run, NULL, NULL), TEM_OK);
    const int held = open(path, O_RDONLY);
    assert_true(held >= 0 && flock(held, LOCK_EX) == 0 && stat(path, &before) == 0);
    a = (asked){.stop_at = 3};
    assert_int_equal(tem_job_charge(mechanism, &job, &document, 1, &run, NULL, NULL),
                     TEM_ERR_CANCELLED);
    assert_true(stat(path, &after) == 0 && before.st_size == after.st_size);
    close(held);
    assert_int_equal(unlink(path), 0);
}

/* ---- threads ---- */

/* Two items that two threads process at the same time. */
typedef struct meeting {
    atomic_uint here;
    bool caller_waits;
    atomic_bool seen;
} meeting;

static void meet(void *context, uint64_t item, unsigned thread) {
    meeting *m = context;
    (void)item;
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < 2)
        sched_yield();
    if ((thread == 0) != m->caller_waits)
        return;
    while (!core_task_stopped())
        usleep(1000);
    atomic_store(&m->seen, true);
}

/* A thread that only waits for another asks the callback meanwhile, and the other thread learns the
 * answer. The same holds for a task of the asking thread. */
static void test_a_task_is_stopped(void **state) {
    (void)state;
    for (int caller_waits = 0; caller_waits < 2; caller_waits++) {
        meeting m = {.caller_waits = caller_waits};
        asked a = {.stop_at = 5};
        const tem_run run = run_of(&a, 2);
        assert_int_equal(core_parallel(&run, "meeting", 2, meet, &m, NULL), TEM_ERR_CANCELLED);
        assert_true(atomic_load(&m.seen));
        assert_false(core_task_stopped()); /* outside of tasks */
    }
}

static int stop_once(void *context, const char *stage, uint64_t done, uint64_t total) {
    unsigned *calls = context;
    (void)stage, (void)done, (void)total;
    return ++*calls == 3;
}

static void count_item(void *context, uint64_t item, unsigned thread) {
    unsigned *items = context;
    (void)item, (void)thread;
    ++*items;
}

/* If the callback changes its mind, the call still stops, because items are missing. */
static void test_stopping_holds(void **state) {
    (void)state;
    unsigned calls = 0, items = 0;
    const tem_run run = {.threads = 1, .progress = stop_once, .progress_context = &calls};
    assert_int_equal(core_parallel(&run, "counting", 100, count_item, &items, NULL),
                     TEM_ERR_CANCELLED);
    assert_true(items < 100);
}

/* ---- teams ---- */

/* The same for threads that stay: the thread that waits asks, and the loop stops. The team can work
 * on after that. */
static void test_a_team_is_stopped(void **state) {
    (void)state;
    core_team *team = NULL;
    assert_int_equal(core_team_create(&(tem_run){.threads = 2}, &team, NULL), TEM_OK);
    for (int i = 0; i < 4; i++) {
        meeting m = {.caller_waits = i % 2};
        asked a = {.stop_at = 5};
        const tem_run run = run_of(&a, 2);
        assert_int_equal(core_team_parallel(team, &run, "meeting", 2, meet, &m, NULL),
                         TEM_ERR_CANCELLED);
        assert_true(atomic_load(&m.seen));
        assert_false(core_task_stopped());
    }
    unsigned calls = 0, items = 0;
    const tem_run run = {.progress = stop_once, .progress_context = &calls};
    assert_int_equal(core_team_parallel(NULL, &run, "counting", 100, count_item, &items, NULL),
                     TEM_ERR_CANCELLED);
    assert_true(items < 100);
    core_team_free(team);
}

enum { TEAM_ITEMS = 50 };

static void count_each(void *context, uint64_t item, unsigned thread) {
    atomic_uint *counts = context;
    assert_true(thread < 8);
    atomic_fetch_add(&counts[item], 1);
}

/* Each item once, in thousands of short loops, with fewer items than threads, too. */
static void test_a_team_does_all_the_work(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads += 7) {
        core_team *team = NULL;
        atomic_uint counts[TEAM_ITEMS] = {0};
        unsigned loops = 0;
        assert_int_equal(core_team_create(&(tem_run){.threads = threads}, &team, NULL), TEM_OK);
        assert_int_equal(core_team_threads(team), threads);
        for (; loops < 2000; loops++) {
            const uint64_t items = loops % 2 == 0 ? TEAM_ITEMS : 1;
            assert_int_equal(
                core_team_parallel(team, NULL, "counting", items, count_each, counts, NULL),
                TEM_OK);
        }
        for (int i = 0; i < TEAM_ITEMS; i++)
            assert_int_equal(atomic_load(&counts[i]), i == 0 ? loops : loops / 2);
        core_team_free(team);
    }
    assert_int_equal(core_team_threads(NULL), 1);
    core_team_free(NULL);
}

/* A process that may use one CPU has one thread. */
static void test_a_team_has_the_cpus_of_its_process(void **state) {
    (void)state;
    cpu_set_t all, one;
    core_team *team = NULL;
    size_t first = 0;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(core_team_create(NULL, &team, NULL), TEM_OK);
    assert_int_equal(core_team_threads(team), 1);
    core_team_free(team);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* ---- one large document ---- */

enum { TEXT_BYTES = 4 << 20, TEXT_ASKS = TEXT_BYTES / (64 << 10) };

/* Words, with `end` in place of every hundredth space. */
static char *make_text(char end) {
    char *text = malloc(TEXT_BYTES);
    assert_non_null(text);
    for (size_t i = 0; i < TEXT_BYTES; i += 4) {
        memcpy(text + i, "w12 ", 4);
        if (i / 4 % 100 == 99)
            text[i + 3] = end;
    }
    return text;
}

static void check_text(const tem_mechanism *drawn_by, const tem_text_options *options,
                       const char *text, size_t bytes, unsigned asks) {
    asked a = {.calls = 0};
    tem_run run = run_of(&a, 1);
    char *out = NULL;
    size_t out_bytes = 7;
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(1, 2, &rng, NULL), TEM_OK);
    assert_int_equal(
        tem_privatize_text(drawn_by, options, rng, text, bytes, &run, &out, &out_bytes, NULL, NULL),
        TEM_OK);
    assert_true(a.calls >= asks);
    tem_text_free(out);
    out = NULL;
    out_bytes = 7;
    a = (asked){.stop_at = asks};
    assert_int_equal(
        tem_privatize_text(drawn_by, options, rng, text, bytes, &run, &out, &out_bytes, NULL, NULL),
        TEM_ERR_CANCELLED);
    assert_true(out == NULL && out_bytes == 7 && a.calls == asks);
    tem_rng_free(rng);
}

static void test_large_text(void **state) {
    (void)state;
    const tem_text_options tags = {.strip_tags = 1}, kept = {.keep_lines = 1};
    char *line = make_text(' '), *lines = make_text('\n');
    check_text(mechanism, NULL, line, TEXT_BYTES, TEXT_ASKS);
    check_text(mechanism, NULL, lines, TEXT_BYTES, TEXT_ASKS);
    check_text(mechanism, &kept, lines, TEXT_BYTES, TEXT_ASKS);
    memset(lines, '\n', TEXT_BYTES); /* empty lines */
    check_text(mechanism, &kept, lines, TEXT_BYTES, TEXT_ASKS);
    memset(lines, '!', TEXT_BYTES); /* no draws, and no space to split at */
    check_text(mechanism, NULL, lines, TEXT_BYTES, TEXT_ASKS);
    memset(lines, '<', TEXT_BYTES);
    lines[TEXT_BYTES - 1] = '>';
    check_text(mechanism, &tags, lines, TEXT_BYTES, TEXT_ASKS);
    free(line);
    free(lines);
}

/* Madlib is slow per word, so it asks several times where other mechanisms draw once. */
static void test_slow_mechanism(void **state) {
    (void)state;
    const tem_mechanism_options options = {.mechanism = "madlib", .epsilon = 5};
    tem_mechanism *madlib = NULL;
    char *line = make_text(' ');
    assert_int_equal(tem_mechanism_create(model, &options, &madlib, NULL), TEM_OK);
    check_text(madlib, NULL, line, 30000, 4);
    tem_mechanism_free(madlib);
    free(line);
}

static int weigh_equally(void *context, void *document, const tem_past *past, uint64_t *values) {
    (void)context, (void)document, (void)past;
    for (uint32_t y = 0; y < WORDS; y++)
        values[y] = 1;
    return 0;
}

/* A function of the user's may take long for each word, so the callback is asked after each: where
 * words stand next to each other, and where something between them is kept. */
static void test_slow_language(void **state) {
    (void)state;
    enum { DRAWS = 300 };
    const tem_language_functions functions = {.weights = weigh_equally};
    const tem_text_options kept = {.punctuation = TEM_PUNCTUATION_KEEP},
                           once = {.repeat = TEM_REPEAT_ONCE};
    tem_language *language = NULL;
    tem_mechanism *slow = NULL;
    char text[4 * DRAWS + 1];
    assert_int_equal(tem_language_wrap(model, &functions, &language, NULL), TEM_OK);
    const tem_mechanism_options options = {.epsilon = 2, .language = language};
    assert_int_equal(tem_mechanism_create(model, &options, &slow, NULL), TEM_OK);
    for (size_t i = 0; i < DRAWS; i++)
        snprintf(text + 4 * i, 5, "w%02zu ", i % 100);
    check_text(slow, NULL, text, sizeof text - 1, DRAWS);
    check_text(slow, &once, text, sizeof text - 1, 90); /* w01 is no word of the model */
    for (size_t i = 0; i < DRAWS; i++)
        memcpy(text + 4 * i, "w7! ", 4);
    check_text(slow, &kept, text, sizeof text - 1, DRAWS);
    tem_mechanism_free(slow);
    tem_language_free(language);
}

/* The document as a record of a file, in the caller's thread and in others; also in a dry run. */
static void test_large_record(void **state) {
    (void)state;
    char *line = make_text(' ');
    char path[128];
    const char *in = path;
    snprintf(path, sizeof path, "%s", path_of("in"));
    FILE *file = fopen(in, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(line, 1, TEXT_BYTES, file), TEXT_BYTES);
    assert_int_equal(fclose(file), 0);
    for (unsigned threads = 1; threads < 4; threads++)
        for (int dry_run = 0; dry_run < 2; dry_run++) {
            asked a = {.calls = 0};
            tem_run run = run_of(&a, threads);
            const tem_job job = {.inputs = &in,
                                 .input_count = 1,
                                 .output = path_of("out"),
                                 .overwrite = TEM_OVERWRITE,
                                 .dry_run = dry_run};
            assert_int_equal(tem_privatize_files(mechanism, &job, &run, NULL, NULL, NULL, NULL),
                             TEM_OK);
            /* Another thread may have it, and then the caller asks by the clock. */
            assert_true(threads > 1 || a.calls >= TEXT_ASKS);
            assert_true(dry_run || unlink(job.output) == 0);
            a = (asked){.stop_at = 4};
            assert_int_equal(tem_privatize_files(mechanism, &job, &run, NULL, NULL, NULL, NULL),
                             TEM_ERR_CANCELLED);
            assert_int_equal(count_files(), 1);
        }
    assert_int_equal(unlink(in), 0);
    free(line);
}

static void test_large_prior(void **state) {
    (void)state;
    char *line = make_text(' ');
    const char *path = path_of("prior");
    asked a = {.stage = "counting words"};
    tem_run run = run_of(&a, 1);
    tem_prior *prior = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(line, 1, TEXT_BYTES, file), TEXT_BYTES);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tem_prior_load(model, path, &run, &prior, NULL), TEM_OK);
    assert_true(a.calls >= 3);
    tem_prior_free(prior);
    prior = NULL;
    a = (asked){.stop_at = 2};
    assert_int_equal(tem_prior_load(model, path, &run, &prior, NULL), TEM_ERR_CANCELLED);
    assert_null(prior);
    assert_int_equal(unlink(path), 0);
    free(line);
}

/* ---- hashes and large files ---- */

static void test_model_file(void **state) {
    (void)state;
    char path[128];
    asked a = {.stage = "writing"};
    tem_run run = run_of(&a, 1);
    tem_model *opened = NULL;
    tem_model_info info;
    snprintf(path, sizeof path, "%s", path_of("m.tem"));
    assert_int_equal(tem_model_save(model, path, TEM_KEEP_EXISTING, &run, NULL), TEM_OK);
    assert_int_equal(tem_model_open(path, &opened, NULL), TEM_OK);
    tem_model_get_info(opened, &info);
    const unsigned parts = (unsigned)(info.file_bytes >> 22); /* of 4 MiB */
    assert_true(parts >= 3);
    assert_true(a.calls >= 2 * parts); /* hashed and written */
    a = (asked){.stage = "checking hashes"};
    assert_int_equal(tem_model_check(opened, &run, NULL), TEM_OK);
    assert_true(a.calls >= parts + 8);
    for (unsigned stop_at = 1; stop_at < 16; stop_at++) {
        a = (asked){.stop_at = stop_at};
        assert_int_equal(tem_model_check(opened, &run, NULL), TEM_ERR_CANCELLED);
        a.calls = 0;
        assert_int_equal(tem_model_save(model, path, TEM_OVERWRITE, &run, NULL), TEM_ERR_CANCELLED);
        assert_int_equal(count_files(), 1);
    }
    tem_model_free(opened);
    assert_int_equal(unlink(path), 0);
}

/* ---- temporary files ---- */

static void test_temporaries(void **state) {
    (void)state;
    char paths[3][128];
    file_writer writers[3];
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/file%d", folder, i);
        assert_int_equal(file_writer_open(&writers[i], paths[i], TEM_KEEP_EXISTING, NULL), TEM_OK);
        assert_int_equal(file_writer_put(&writers[i], "x", 1, NULL), TEM_OK);
    }
    assert_int_equal(count_files(), 3);
    assert_int_equal(file_writer_commit(&writers[0], NULL), TEM_OK);
    file_writer_abandon(&writers[1]);
    assert_int_equal(count_files(), 2);
    tem_temporaries_remove();
    assert_int_equal(count_files(), 1); /* the complete one */
    tem_temporaries_remove();
    assert_int_equal(file_writer_commit(&writers[2], NULL), TEM_ERR_FILE);
    assert_int_equal(unlink(paths[0]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipe_without_writer, begin_waiting, end_waiting),
        cmocka_unit_test_setup_teardown(test_idle_pipe, begin_waiting, end_waiting),
        cmocka_unit_test_setup_teardown(test_late_writer, begin_waiting, end_waiting),
        cmocka_unit_test_setup_teardown(test_reader_that_does_not_read, begin_waiting, end_waiting),
        cmocka_unit_test_setup_teardown(test_locked_certificates, begin_waiting, end_waiting),
        cmocka_unit_test_setup_teardown(test_locked_ledger, begin_waiting, end_waiting),
        cmocka_unit_test_setup_teardown(test_a_task_is_stopped, begin_waiting, end_waiting),
        cmocka_unit_test(test_stopping_holds),
        cmocka_unit_test_setup_teardown(test_a_team_is_stopped, begin_waiting, end_waiting),
        cmocka_unit_test(test_a_team_does_all_the_work),
        cmocka_unit_test(test_a_team_has_the_cpus_of_its_process),
        cmocka_unit_test(test_large_text),
        cmocka_unit_test(test_slow_mechanism),
        cmocka_unit_test(test_slow_language),
        cmocka_unit_test(test_large_record),
        cmocka_unit_test(test_large_prior),
        cmocka_unit_test(test_model_file),
        cmocka_unit_test(test_temporaries),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
