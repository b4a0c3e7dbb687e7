/* test_stream.c - reading piece by piece, from files and pipes, and writing to either. */
#include "io/stream.h"
#include "pseudo.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 3000000 };

static char folder[64], large[128], small[128], fifo[128], output[128];
static char *bytes; /* LARGE of them, the content of `large` */

static void write_file(const char *name, const char *content, size_t size) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-stream-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(large, sizeof large, "%s/large", folder);
    snprintf(small, sizeof small, "%s/small", folder);
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    snprintf(output, sizeof output, "%s/output", folder);
    bytes = malloc(LARGE);
    for (size_t i = 0; bytes != NULL && i < LARGE; i++)
        bytes[i] = (char)random64();
    if (bytes == NULL || mkfifo(fifo, 0600) != 0)
        return -1;
    write_file(large, bytes, LARGE);
    write_file(small, "0123456789", 10);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(bytes);
    unlink(large);
    unlink(small);
    unlink(fifo);
    unlink(output);
    return rmdir(folder); /* fails if something was left behind */
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    ++*(int *)context;
    return 1;
}

/* ---- the standard descriptors, replaced for a moment: no assertion may fail meanwhile ---- */

static int replace(int standard, int descriptor) {
    const int saved = dup(standard);
    assert_true(saved >= 0 && dup2(descriptor, standard) == standard);
    return saved;
}

static void restore(int standard, int saved) {
    dup2(saved, standard);
    close(saved);
}

/* ---- reading ---- */

static void test_file_in_pieces(void **state) {
    (void)state;
    stream_input in;
    assert_int_equal(stream_input_open(&in, large, NULL, NULL), TEM_OK);
    size_t at = 0;
    while (!in.at_end || in.data.size > 0) {
        const size_t wanted = in.data.size + 1 + random_below(700000);
        assert_int_equal(stream_input_fill(&in, wanted, NULL), TEM_OK);
        assert_true(in.data.size == wanted || in.at_end);
        assert_true(at + in.data.size <= LARGE);
        assert_memory_equal(in.data.data, bytes + at, in.data.size);
        const size_t dropped = in.at_end ? in.data.size : random_below(in.data.size + 1);
        stream_input_drop(&in, dropped);
        at += dropped;
    }
    assert_int_equal(at, LARGE);
    stream_input_close(&in);
}

/* A read from a pipe returns the existing bytes, even if they are fewer than requested. */
static void test_pipe_as_it_comes(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "0123456789", 10), 10);
    const int saved = replace(STDIN_FILENO, ends[0]);
    stream_input in;
    const tem_status opened = stream_input_open(&in, "-", NULL, NULL);
    const tem_status filled = stream_input_fill(&in, 1000, NULL);
    const size_t first = in.data.size;
    const bool early = in.at_end;
    stream_input_drop(&in, 4);
    const ssize_t more = write(ends[1], "abc", 3);
    close(ends[1]);
    const tem_status filled_again = stream_input_fill(&in, 1000, NULL);
    restore(STDIN_FILENO, saved);
    close(ends[0]);
    assert_true(opened == TEM_OK && filled == TEM_OK && filled_again == TEM_OK && more == 3);
    assert_true(first == 10 && !early && in.at_end);
    assert_int_equal(in.data.size, 9);
    assert_memory_equal(in.data.data, "456789abc", 9);
    stream_input_close(&in);
}

/* Nobody writes: the callback ends the waiting. */
static void test_waiting_is_stopped(void **state) {
    (void)state;
    int asked = 0;
    const tem_run run = {.progress = stop, .progress_context = &asked};
    const int writer = open(fifo, O_RDWR);
    stream_input in;
    assert_true(writer >= 0);
    assert_int_equal(stream_input_open(&in, fifo, &run, NULL), TEM_OK);
    assert_int_equal(stream_input_fill(&in, 10, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(asked, 1);
    stream_input_close(&in);
    close(writer);
}

static void test_missing_file(void **state) {
    (void)state;
    stream_input in;
    tem_error error = {0};
    assert_int_equal(stream_input_open(&in, output, NULL, &error), TEM_ERR_FILE);
    assert_string_equal(error.file, output);
    stream_input_close(&in);
}

/* ---- what kind of inputs there are ---- */

static void test_total_bytes(void **state) {
    (void)state;
    const char *const files[] = {large, small, large}, *const pipes[] = {large, fifo};
    const char *const folders[] = {folder}, *const missing[] = {small, output};
    assert_int_equal(stream_total_bytes(files, 3), 2 * LARGE + 10);
    assert_int_equal(stream_total_bytes(pipes, 2), 0);
    assert_int_equal(stream_total_bytes(folders, 1), 0);
    assert_int_equal(stream_total_bytes(missing, 2), 0);
}

/* Another program may have read a part of a standard input that is a file: the second reading
 * starts after that part. */
static void test_reading_twice(void **state) {
    (void)state;
    const char *const files[] = {large, small}, *const mixed[] = {large, "-"};
    const char *const pipes[] = {small, fifo}, *const missing[] = {output};
    int64_t start[2] = {-1, -1};
    char read_again[2][4] = {""};
    bool can[2] = {false, false};
    tem_status rewound[2] = {TEM_ERR_FILE, TEM_ERR_FILE};
    const int file = open(small, O_RDONLY);
    assert_true(file >= 0 && lseek(file, 3, SEEK_SET) == 3);
    const int saved = replace(STDIN_FILENO, file);
    for (int i = 0; i < 2; i++) { /* none named, and named */
        can[i] = stream_can_reread(i == 0 ? NULL : mixed, i == 0 ? 0 : 2, &start[i]);
        lseek(file, 9, SEEK_SET);
        rewound[i] = stream_rewind(i == 0 ? NULL : mixed, i == 0 ? 0 : 2, start[i], NULL);
        can[i] &= read(STDIN_FILENO, read_again[i], 3) == 3;
        lseek(file, 3, SEEK_SET);
    }
    restore(STDIN_FILENO, saved);
    for (int i = 0; i < 2; i++) {
        assert_true(can[i] && start[i] == 3 && rewound[i] == TEM_OK);
        assert_string_equal(read_again[i], "345");
    }
    assert_true(stream_can_reread(files, 2, &start[0]));
    assert_false(stream_can_reread(pipes, 2, &start[0]));
    assert_false(stream_can_reread(missing, 1, &start[0]));
    /* Other inputs leave standard input alone. */
    assert_int_equal(lseek(file, 5, SEEK_SET), 5);
    const int again = replace(STDIN_FILENO, file);
    const tem_status unmoved = stream_rewind(files, 2, 0, NULL);
    restore(STDIN_FILENO, again);
    assert_int_equal(unmoved, TEM_OK);
    assert_int_equal(lseek(file, 0, SEEK_CUR), 5);
    close(file);
}

static void test_pipe_is_read_once(void **state) {
    (void)state;
    int ends[2];
    int64_t start = 0;
    assert_int_equal(pipe(ends), 0);
    const int saved = replace(STDIN_FILENO, ends[0]);
    const bool can = stream_can_reread(NULL, 0, &start);
    restore(STDIN_FILENO, saved);
    close(ends[0]);
    close(ends[1]);
    assert_false(can);
}

/* ---- writing ---- */

/* A file appears when it is complete, not before, and never if it is not kept. */
static void test_file_appears_whole(void **state) {
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        stream_output out;
        assert_int_equal(
            stream_output_open(&out, output, TEM_KEEP_EXISTING, TEM_PACKING_NONE, NULL, NULL),
            TEM_OK);
        assert_int_equal(stream_output_put(&out, bytes, LARGE / 2, NULL), TEM_OK);
        assert_int_equal(stream_output_put(&out, bytes + LARGE / 2, LARGE - LARGE / 2, NULL),
                         TEM_OK);
        assert_int_equal(access(output, F_OK), -1);
        assert_int_equal(stream_output_close(&out, keep, NULL), TEM_OK);
        assert_int_equal(access(output, F_OK), keep ? 0 : -1);
    }
    file_view view;
    assert_int_equal(file_map(output, &view, NULL), TEM_OK);
    assert_int_equal(view.size, LARGE);
    assert_memory_equal(view.data, bytes, LARGE);
    file_close(&view);
    stream_output out;
    assert_int_equal(
        stream_output_open(&out, output, TEM_KEEP_EXISTING, TEM_PACKING_NONE, NULL, NULL),
        TEM_ERR_EXISTS);
    assert_int_equal(stream_output_close(&out, false, NULL), TEM_OK);
    assert_int_equal(unlink(output), 0);
}

typedef struct reader {
    int descriptor;
    char *data;
    size_t size;
} reader;

/* Reads to the end, slowly at first. */
static void *read_all(void *argument) {
    reader *r = argument;
    ssize_t got = 1;
    for (int i = 0; got > 0 && r->size < LARGE; i++) {
        if (i < 20)
            usleep(5000);
        got = read(r->descriptor, r->data + r->size, i < 20 ? 1000 : LARGE - r->size);
        r->size += got > 0 ? (size_t)got : 0;
    }
    return NULL;
}

/* An output that is an input, under its own name, another one, or through links. */
static void test_output_is_no_input(void **state) {
    (void)state;
    char hard[160], soft[160];
    snprintf(hard, sizeof hard, "%s/hard", folder);
    snprintf(soft, sizeof soft, "%s/soft", folder);
    assert_true(link(small, hard) == 0 && symlink(small, soft) == 0);
    const char *const inputs[] = {large, hard};
    const char *const names[] = {small, hard, soft};
    for (int i = 0; i < 3; i++) {
        tem_error error;
        assert_int_equal(stream_check_output(names[i], inputs, 2, &error), TEM_ERR_EXISTS);
        assert_string_equal(error.file, hard);
        assert_int_equal(stream_check_output(names[i], inputs, 1, NULL), TEM_OK);
    }
    assert_int_equal(stream_check_output(output, inputs, 2, NULL), TEM_OK);
    assert_int_equal(stream_check_output("/dev/null", (const char *const[]){"/dev/null"}, 1, NULL),
                     TEM_OK);
    const int saved = dup(STDIN_FILENO), file = open(hard, O_RDONLY);
    assert_true(saved >= 0 && file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    assert_int_equal(stream_check_output(small, NULL, 0, NULL), TEM_ERR_EXISTS);
    assert_int_equal(stream_check_output(large, NULL, 0, NULL), TEM_OK);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(file);
    unlink(hard);
    unlink(soft);
}

static void test_slow_reader(void **state) {
    (void)state;
    int ends[2];
    pthread_t thread;
    stream_output out;
    assert_int_equal(pipe(ends), 0);
    reader r = {.descriptor = ends[0], .data = malloc(LARGE)};
    assert_non_null(r.data);
    assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
    const int saved = replace(STDOUT_FILENO, ends[1]);
    close(ends[1]);
    const tem_status opened =
        stream_output_open(&out, NULL, TEM_KEEP_EXISTING, TEM_PACKING_NONE, NULL, NULL);
    const tem_status put = stream_output_put(&out, bytes, LARGE, NULL);
    const tem_status closed = stream_output_close(&out, true, NULL);
    restore(STDOUT_FILENO, saved);
    pthread_join(thread, NULL);
    close(ends[0]);
    assert_true(opened == TEM_OK && put == TEM_OK && closed == TEM_OK);
    assert_int_equal(r.size, LARGE);
    assert_memory_equal(r.data, bytes, LARGE);
    free(r.data);
}

/* Nobody reads, and the pipe is full: the callback ends the waiting. */
static void test_reader_that_does_not_read(void **state) {
    (void)state;
    int ends[2], asked = 0;
    const tem_run run = {.progress = stop, .progress_context = &asked};
    stream_output out;
    assert_int_equal(pipe(ends), 0);
    const int saved = replace(STDOUT_FILENO, ends[1]);
    const tem_status opened =
        stream_output_open(&out, "-", TEM_KEEP_EXISTING, TEM_PACKING_NONE, &run, NULL);
    const tem_status put = stream_output_put(&out, bytes, LARGE, NULL);
    restore(STDOUT_FILENO, saved);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(opened, TEM_OK);
    assert_int_equal(put, TEM_ERR_CANCELLED);
    assert_int_equal(asked, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_in_pieces),
        cmocka_unit_test(test_pipe_as_it_comes),
        cmocka_unit_test(test_waiting_is_stopped),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_total_bytes),
        cmocka_unit_test(test_reading_twice),
        cmocka_unit_test(test_pipe_is_read_once),
        cmocka_unit_test(test_file_appears_whole),
        cmocka_unit_test(test_output_is_no_input),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_reader_that_does_not_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
