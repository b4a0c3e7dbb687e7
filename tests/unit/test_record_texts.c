/* test_record_texts.c - the records of a file, as the command reads them: texts and groups in
 * order, and where an error is. */
#include "command/tem_command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "record-texts.txt";

/* All records, each as "group:text;". */
typedef struct taken {
    char all[256];
    unsigned count, stop_at; /* fails at this record, from 1; 0: never */
} taken;

static tem_status take(void *context, const char *text, size_t bytes, const char *group,
                       size_t group_bytes, tem_error *error) {
    taken *t = context;
    if (++t->count == t->stop_at) {
        *error = (tem_error){.status = TEM_ERR_FORMAT, .message = "stop"};
        return TEM_ERR_FORMAT;
    }
    const size_t used = strlen(t->all);
    snprintf(t->all + used, sizeof t->all - used, "%.*s:%.*s;", (int)group_bytes,
             group == NULL ? "" : group, (int)bytes, text == NULL ? "" : text);
    return TEM_OK;
}

static void write_file(const char *content, size_t bytes) {
    tem_error error;
    assert_int_equal(tem_file_write(path, content, bytes, TEM_OVERWRITE, TEM_READERS_USUAL, &error),
                     TEM_OK);
}

static tem_status read_file(tem_format format, const char *field, const char *by,
                            const char *content, taken *t, tem_error *error) {
    const tem_records records = {.path = path, .format = format, .field = field, .by = by};
    write_file(content, strlen(content));
    return tem_records_read(&records, take, t, NULL, error);
}

static void check(tem_format format, const char *field, const char *by, const char *content,
                  const char *expected) {
    taken t = {.count = 0};
    tem_error error;
    assert_int_equal(read_file(format, field, by, content, &t, &error), TEM_OK);
    assert_string_equal(t.all, expected);
}

static void test_formats(void **state) {
    (void)state;
    check(0, NULL, NULL, "a b\r\n\nc", ":a b;:;:c;");
    check(TEM_FORMAT_TEXT, NULL, NULL,
          "\xef\xbb\xbf"
          "a\n",
          ":a;");
    check(TEM_FORMAT_TSV, "t", NULL, "t\tg\na\t1\n\nb\t2\n", ":a;:b;");
    check(TEM_FORMAT_TSV, "t", "g", "t\tg\na\t1\nb\t2\n", "1:a;2:b;");
    check(TEM_FORMAT_CSV, "t", "g",
          "\xef\xbb\xbf"
          "g,t\r\n\"x,\"\"y\",\"a\nb\"\r\n,\n",
          "x,\"y:a\nb;:;");
    check(TEM_FORMAT_JSONL, "t", "g", "{\"t\": \"a\\u0062\", \"g\": 7}\n{\"g\": \"\", \"t\": null}",
          "7:ab;:;");
    check(TEM_FORMAT_CSV, "t", NULL, "t\n", "");
    check(TEM_FORMAT_TEXT, NULL, NULL, "", "");
}

static void check_refused(tem_format format, const char *field, const char *by, const char *content,
                          tem_status status, uint64_t line) {
    taken t = {.count = 0};
    tem_error error = {.line = 0};
    assert_int_equal(read_file(format, field, by, content, &t, &error), status);
    assert_int_equal(error.line, line);
    if (line > 0)
        assert_string_equal(error.file, path);
}

static void test_refuses(void **state) {
    (void)state;
    check_refused(TEM_FORMAT_TEXT, "t", NULL, "a\n", TEM_ERR_ARGUMENT, 0);
    check_refused(TEM_FORMAT_TEXT, NULL, "g", "a\n", TEM_ERR_ARGUMENT, 0);
    check_refused(TEM_FORMAT_CSV, NULL, NULL, "t\n", TEM_ERR_ARGUMENT, 0);
    check_refused(TEM_FORMAT_CSV, "t", "t", "t\n", TEM_ERR_ARGUMENT, 0);
    check_refused((tem_format)99, "t", NULL, "t\n", TEM_ERR_ARGUMENT, 0);
    check_refused(TEM_FORMAT_CSV, "t", NULL, "", TEM_ERR_FORMAT, 1);
    check_refused(TEM_FORMAT_CSV, "t", NULL, "\n\nx,y\n", TEM_ERR_FORMAT, 3);
    check_refused(TEM_FORMAT_CSV, "t", "g", "t,x\n", TEM_ERR_FORMAT, 1);
    check_refused(TEM_FORMAT_CSV, "t", NULL, "t,x\n\"a\nb\",1\n1\n", TEM_ERR_FORMAT, 4);
    check_refused(TEM_FORMAT_CSV, "t", NULL, "t\n\"a\n", TEM_ERR_FORMAT, 2);
    check_refused(TEM_FORMAT_JSONL, "t", "g", "{\"t\": \"a\", \"g\": null}", TEM_ERR_FORMAT, 1);
    check_refused(TEM_FORMAT_JSONL, "t", NULL, "{\"t\": \"a\"}\n[]", TEM_ERR_FORMAT, 2);
}

/* The function that takes records ends the reading, and its error gets the place. */
static void test_taker_stops(void **state) {
    (void)state;
    taken t = {.stop_at = 2};
    tem_error error;
    assert_int_equal(read_file(TEM_FORMAT_CSV, "t", NULL, "t\n\na\nb\nc\n", &t, &error),
                     TEM_ERR_FORMAT);
    assert_int_equal(t.count, 2);
    assert_string_equal(t.all, ":a;");
    assert_string_equal(error.message, "stop");
    assert_string_equal(error.file, path);
    assert_int_equal(error.line, 4);
}

static void test_files(void **state) {
    (void)state;
    taken t = {.count = 0};
    tem_error error;
    const tem_records missing = {.path = "no-such-file"}, records = {.path = path};
    assert_int_equal(tem_records_read(&missing, take, &t, NULL, &error), TEM_ERR_FILE);
    assert_int_equal(tem_records_read(NULL, take, &t, NULL, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_records_read(&records, NULL, &t, NULL, &error), TEM_ERR_ARGUMENT);
    /* "a b\n", packed by gzip */
    static const char packed[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\x54\x48\xe2\x02\x00"
                                 "\xa1\xe9\x8d\x2d\x04\x00\x00\x00";
    write_file(packed, sizeof packed - 1);
    assert_int_equal(tem_records_read(&records, take, &t, NULL, &error), TEM_OK);
    assert_string_equal(t.all, ":a b;");
}

/* UTF-16 is refused by its mark, with a message that says so. */
static void test_utf16(void **state) {
    (void)state;
    taken t = {.count = 0};
    tem_error error;
    const tem_records records = {.path = path};
    write_file("\xff\xfe\x61\x00\x0a\x00", 6);
    assert_int_equal(tem_records_read(&records, take, &t, NULL, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "UTF-16"));
    assert_string_equal(error.file, path);
    assert_int_equal(t.count, 0);
}

static int note_done(void *context, const char *stage, uint64_t done, uint64_t total) {
    uint64_t *largest = context;
    (void)stage, (void)total;
    *largest = done > *largest ? done : *largest;
    return 0;
}

static tem_status count_bytes(void *context, const char *text, size_t bytes, const char *group,
                              size_t group_bytes, tem_error *error) {
    taken *t = context;
    (void)text, (void)group, (void)group_bytes;
    assert_int_equal(bytes, 999);
    if (++t->count != t->stop_at)
        return TEM_OK;
    *error = (tem_error){.status = TEM_ERR_FORMAT};
    return TEM_ERR_FORMAT;
}

/* Records are handed out while the rest of a large file was not read, and all of them, also across
 * the ends of what is read at a time. */
static void test_streams(void **state) {
    (void)state;
    enum { LINES = 20000, LINE = 1000 };
    char *content = malloc(LINES * LINE);
    assert_non_null(content);
    memset(content, 'a', LINES * LINE);
    for (size_t i = 1; i <= LINES; i++)
        content[i * LINE - 1] = '\n';
    write_file(content, LINES * LINE);
    free(content);
    uint64_t largest = 0;
    const tem_run run = {.progress = note_done, .progress_context = &largest};
    const tem_records records = {.path = path};
    taken t = {.stop_at = 1};
    tem_error error;
    assert_int_equal(tem_records_read(&records, count_bytes, &t, &run, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, 1);
    assert_true(largest > 0 && largest < LINES * LINE / 2);
    t = (taken){.stop_at = LINES};
    assert_int_equal(tem_records_read(&records, count_bytes, &t, &run, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, LINES);
    t = (taken){.stop_at = 0};
    assert_int_equal(tem_records_read(&records, count_bytes, &t, &run, &error), TEM_OK);
    assert_int_equal(t.count, LINES);
    assert_int_equal(largest, LINES * LINE);
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context;
    (void)stage;
    (void)done;
    (void)total;
    return 1;
}

static void test_cancelled(void **state) {
    (void)state;
    taken t = {.count = 0};
    tem_error error;
    const tem_run run = {.progress = stop};
    const tem_records records = {.path = path};
    write_file("a\nb\n", 4);
    assert_int_equal(tem_records_read(&records, take, &t, &run, &error), TEM_ERR_CANCELLED);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),     cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_taker_stops), cmocka_unit_test(test_files),
        cmocka_unit_test(test_utf16),       cmocka_unit_test(test_streams),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests_name("record_texts", tests, NULL, remove_file);
}
