/* test_packed.c - compressed inputs and outputs: gzip and zstd, cut at every byte, with bytes after
 * them, in small parts, and far larger than memory should be. */
#include "io/stream.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const tem_packing packings[] = {TEM_PACKING_GZIP, TEM_PACKING_ZSTD};
static char path[] = "/tmp/tem-packed-XXXXXX";

static void write_file(const char *data, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Packs bytes, given in random parts. */
static void pack(tem_packing packing, const char *data, size_t size, core_buffer *out) {
    packer p;
    assert_int_equal(packer_init(&p, packing, NULL), TEM_OK);
    for (size_t at = 0; at < size;) {
        const size_t some = 1 + random_below(size - at);
        assert_int_equal(packer_put(&p, data + at, some, false, out, NULL), TEM_OK);
        at += some;
    }
    assert_int_equal(packer_put(&p, "", 0, true, out, NULL), TEM_OK);
    packer_free(&p);
}

/* Reads the file to its end, `part` bytes at a time. */
static tem_status read_all(size_t part, core_buffer *out, tem_error *error) {
    stream_input in;
    tem_status status = stream_input_open(&in, path, NULL, error);
    assert_int_equal(status, TEM_OK);
    while (status == TEM_OK && !in.at_end) {
        status = stream_input_fill(&in, in.data.size + part, error);
        if (in.data.size > 0)
            assert_true(core_buffer_add(out, in.data.data, in.data.size));
        stream_input_drop(&in, in.data.size);
    }
    stream_input_close(&in);
    return status;
}

static void expect_read(const char *wanted, size_t size, size_t part) {
    core_buffer got = {0};
    assert_int_equal(read_all(part, &got, NULL), TEM_OK);
    assert_int_equal(got.size, size);
    if (size > 0)
        assert_memory_equal(got.data, wanted, size);
    core_buffer_free(&got);
}

static void fill(char *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        data[i] = "the movie was\n"[random_below(14)];
}

static void test_round_trips(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 5, 1000, 70000, 3000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int k = 0; k < 2; k++) {
            char *data = malloc(sizes[s] + 1);
            assert_non_null(data);
            fill(data, sizes[s]);
            core_buffer packed = {0};
            pack(packings[k], data, sizes[s], &packed);
            write_file(packed.data, packed.size);
            expect_read(data, sizes[s], 1 << 20);
            if (sizes[s] < 100000)
                expect_read(data, sizes[s], 7);
            /* A second stream that follows is joined. */
            core_buffer both = {0};
            assert_true(core_buffer_add(&both, data, sizes[s]) &&
                        core_buffer_add(&both, "more", 4));
            pack(packings[k], "more", 4, &packed);
            write_file(packed.data, packed.size);
            expect_read(both.data, both.size, 1 << 20);
            core_buffer_free(&both);
            core_buffer_free(&packed);
            free(data);
        }
}

/* A stream that is cut anywhere is refused, and so are bytes that follow it. */
static void test_cut(void **state) {
    (void)state;
    char data[300];
    fill(data, sizeof data);
    for (int k = 0; k < 2; k++) {
        core_buffer packed = {0};
        tem_error error;
        pack(packings[k], data, sizeof data, &packed);
        for (size_t size = 4; size < packed.size; size++) {
            core_buffer got = {0};
            write_file(packed.data, size);
            assert_int_equal(read_all(1 << 20, &got, &error), TEM_ERR_FORMAT);
            assert_non_null(strstr(error.message, "cut off"));
            assert_string_equal(error.file, path);
            core_buffer_free(&got);
        }
        assert_true(core_buffer_add(&packed, "canary", 6));
        write_file(packed.data, packed.size);
        core_buffer got = {0};
        assert_int_equal(read_all(1 << 20, &got, &error), TEM_ERR_FORMAT);
        assert_non_null(strstr(error.message, "other bytes follow"));
        core_buffer_free(&got);
        core_buffer_free(&packed);
    }
}

/* A zstd frame says how large a window it needs: 128 MiB are read, more are refused with advice. */
static void test_windows(void **state) {
    (void)state;
    /* A frame without its length, its window of 2^(10 + n) bytes in the byte 8 n; one raw block. */
    char frame[] = "\x28\xb5\x2f\xfd\x00\x00\x11\x00\x00\n\n";
    tem_error error;
    core_buffer got = {0};
    frame[5] = (char)((27 - 10) << 3);
    write_file(frame, sizeof frame - 1);
    expect_read("\n\n", 2, 1 << 20);
    frame[5] = (char)((28 - 10) << 3);
    write_file(frame, sizeof frame - 1);
    assert_int_equal(read_all(1 << 20, &got, &error), TEM_ERR_RANGE);
    assert_non_null(strstr(error.message, "window above 128 MiB"));
    assert_non_null(strstr(error.message, "compress them anew"));
    core_buffer_free(&got);
}

/* Text that begins like a compressed stream, but is none. */
static void test_plain(void **state) {
    (void)state;
    static const char *const texts[] = {"",        "(", "\x1f", "(the movie)\n", "\x28\xb5\x2f",
                                        "\x1f\x8a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file(texts[i], strlen(texts[i]));
        expect_read(texts[i], strlen(texts[i]), 1 << 20);
        expect_read(texts[i], strlen(texts[i]), 1);
    }
}

/* 256 MB of one letter are some kilobytes packed. A reader that asks for 64 KiB gets no more. */
static void test_bomb(void **state) {
    (void)state;
    enum { PART = 1 << 20, PARTS = 256, ASKED = 1 << 16 };
    char *letters = malloc(PART);
    assert_non_null(letters);
    memset(letters, 'a', PART);
    for (int k = 0; k < 2; k++) {
        packer p;
        core_buffer packed = {0};
        assert_int_equal(packer_init(&p, packings[k], NULL), TEM_OK);
        for (int i = 0; i < PARTS; i++)
            assert_int_equal(packer_put(&p, letters, PART, i + 1 == PARTS, &packed, NULL), TEM_OK);
        packer_free(&p);
        assert_true(packed.size < 300000);
        write_file(packed.data, packed.size);
        stream_input in;
        size_t total = 0;
        assert_int_equal(stream_input_open(&in, path, NULL, NULL), TEM_OK);
        while (!in.at_end) {
            assert_int_equal(stream_input_fill(&in, ASKED, NULL), TEM_OK);
            assert_true(in.data.size <= ASKED && in.data.capacity < 4 * ASKED);
            total += in.data.size;
            stream_input_drop(&in, in.data.size);
        }
        assert_int_equal(total, (size_t)PART * PARTS);
        stream_input_close(&in);
        core_buffer_free(&packed);
    }
    free(letters);
}

static int set_up(void **state) {
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int tear_down(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_windows),     cmocka_unit_test(test_plain),
        cmocka_unit_test(test_bomb),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
