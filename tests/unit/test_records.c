/* test_records.c - the place of the private field in a record, against other readers of the
 * formats: libcsv for CSV, jansson for JSON.
 *
 * If both readers accept a record, they must find the field in the same place with the same
 * content. If the other reader refuses a record, tem must refuse it too: a record that can be read
 * in two ways may have its private field in two places. */
#include "one_field.h"
#include "pseudo.h"
#include "records/json_span.h"
#include "records/near_field.h"
#include "records/records.h"

#include <csv.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void put(core_buffer *b, const char *bytes, size_t count) {
    assert_true(core_buffer_add(b, bytes, count));
}

static void put_string(core_buffer *b, const char *string) {
    put(b, string, strlen(string));
}

static void assert_holds(const core_buffer *b, const char *bytes, size_t count) {
    assert_int_equal(b->size, count);
    if (count > 0)
        assert_memory_equal(b->data, bytes, count);
}

/* ---- TSV and CSV: all fields of a stream ---- */

enum { FIELDS_MAX = 256, FIELD_BYTES = 64 };

/* Fields of consecutive records; a record ends at a field with `last`. */
typedef struct field_list {
    struct {
        char bytes[FIELD_BYTES];
        size_t size;
        bool last;
    } fields[FIELDS_MAX];
    size_t count;
} field_list;

static void add_field(field_list *list, const char *bytes, size_t size) {
    assert_true(list->count < FIELDS_MAX && size <= FIELD_BYTES);
    if (size > 0)
        memcpy(list->fields[list->count].bytes, bytes, size);
    list->fields[list->count].size = size;
    list->fields[list->count++].last = false;
}

/* Lists one record, field by field; it asks until there are no more fields. */
static tem_status list_record(record_reader *r, const char *record, size_t size, field_list *list) {
    record_span span = {0};
    tem_error error;
    tem_status status = TEM_ERR_FORMAT;
    r->names[0].column = 0;
    for (r->columns = 1; r->columns < FIELDS_MAX; r->columns++) {
        status = find_one(r, record, size, &span, &error);
        if (status == TEM_OK || strncmp(error.message, "expected ", 9) != 0)
            break;
    }
    for (; status == TEM_OK && r->names[0].column < r->columns; r->names[0].column++) {
        core_buffer text = {0};
        assert_int_equal(find_one(r, record, size, &span, &error), TEM_OK);
        assert_true(span.start <= span.end && span.end <= size);
        assert_int_equal(records_decode(&span, record, &text, &error), TEM_OK);
        add_field(list, text.data, text.size);
        core_buffer_free(&text);
    }
    if (status == TEM_OK)
        list->fields[list->count - 1].last = true;
    return status;
}

/* Lists a whole stream without blank lines; false if a record is refused. */
static bool list_stream(tem_format format, const char *data, size_t size, field_list *list) {
    record_reader r = one_field(format_find(format), NULL);
    list->count = 0;
    assert_int_equal(records_whole(&r, data, size, true), size);
    for (size_t at = 0; at < size;) {
        size_t content = 0;
        const size_t record = records_first(&r, data + at, size - at, &content);
        assert_true(record > 0 && record <= size - at && content <= record);
        if (content > 0 && list_record(&r, data + at, content, list) != TEM_OK)
            return false;
        at += record;
    }
    return true;
}

static void take_field(void *bytes, size_t size, void *list) {
    add_field(list, bytes, size);
}

static void take_record(int ending, void *context) {
    field_list *list = context;
    (void)ending;
    assert_true(list->count > 0);
    list->fields[list->count - 1].last = true;
}

static int is_no_space(unsigned char c) {
    (void)c;
    return 0; /* RFC 4180: spaces belong to the field; libcsv would trim them */
}

static bool list_with_libcsv(const char *data, size_t size, field_list *list) {
    struct csv_parser parser;
    list->count = 0;
    assert_int_equal(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI), 0);
    csv_set_space_func(&parser, is_no_space);
    const bool ok = csv_parse(&parser, data, size, take_field, take_record, list) == size &&
                    csv_fini(&parser, take_field, take_record, list) == 0;
    csv_free(&parser);
    return ok;
}

static void assert_same_fields(const field_list *a, const field_list *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->fields[i].last, b->fields[i].last);
        assert_int_equal(a->fields[i].size, b->fields[i].size);
        assert_memory_equal(a->fields[i].bytes, b->fields[i].bytes, a->fields[i].size);
    }
}

/* ---- CSV against libcsv ---- */

static const record_reader many_columns = {.format = &format_csv, .delimiter = ',', .columns = 2};

/* Puts the text within quotes, as some programs write every field. */
static void put_quoted(core_buffer *out, const core_buffer *text) {
    put_string(out, "\"");
    for (size_t i = 0; i < text->size; i++)
        put(out, text->data[i] == '"' ? "\"\"" : text->data + i, text->data[i] == '"' ? 2 : 1);
    put_string(out, "\"");
}

static void put_random_field(core_buffer *out, field_list *list) {
    static const char *const parts[] = {"a",    "Bc", "\"", ",",      "\n",
                                        "\r\n", "\r", " ",  "\u00e9", "'"};
    core_buffer text = {0};
    put(&text, "", 0);
    for (size_t left = random_below(5); left > 0; left--)
        put_string(&text, parts[random_below(sizeof parts / sizeof *parts)]);
    add_field(list, text.data, text.size);
    if (random_below(3) == 0)
        put_quoted(out, &text);
    else
        assert_int_equal(records_encode(&many_columns, text.data, text.size, out, NULL), TEM_OK);
    core_buffer_free(&text);
}

/* Both readers must find what was written: an encoder and two decoders agree. */
static void test_csv_valid(void **state) {
    (void)state;
    static field_list given, ours, theirs;
    for (int round = 0; round < 30000; round++) {
        core_buffer stream = {0};
        const size_t columns = 1 + random_below(4), records = 1 + random_below(4);
        const char *const line_end = random_below(2) ? "\n" : "\r\n";
        given.count = 0;
        for (size_t record = 0; record < records; record++) {
            const size_t start = stream.size;
            for (size_t column = 0; column < columns; column++) {
                if (column > 0)
                    put_string(&stream, ",");
                put_random_field(&stream, &given);
            }
            given.fields[given.count - 1].last = true;
            if (stream.size == start)
                put_string(&stream, "\"\""); /* otherwise it is a blank line */
            if (record + 1 < records || random_below(2))
                put_string(&stream, line_end);
        }
        assert_true(list_stream(TEM_FORMAT_CSV, stream.data, stream.size, &ours));
        assert_true(list_with_libcsv(stream.data, stream.size, &theirs));
        assert_same_fields(&ours, &given);
        assert_same_fields(&ours, &theirs);
        core_buffer_free(&stream);
    }
}

/* Any bytes: the same verdict, and the same fields. Without carriage returns, because a lone one
 * ends a record for libcsv but not for RFC 4180. */
static void test_csv_any(void **state) {
    (void)state;
    static field_list ours, theirs;
    unsigned accepted = 0, refused = 0;
    for (int round = 0; round < 300000; round++) {
        char data[14];
        const size_t size = random_below(sizeof data + 1);
        for (size_t i = 0; i < size; i++)
            data[i] = "a \",\n"[random_below(5)];
        const bool ok = list_stream(TEM_FORMAT_CSV, data, size, &ours);
        assert_int_equal(ok, list_with_libcsv(data, size, &theirs));
        if (ok)
            assert_same_fields(&ours, &theirs);
        accepted += ok;
        refused += !ok;
    }
    assert_true(accepted > 10000 && refused > 10000);
}

/* For libcsv, as for most readers, a lone carriage return ends a record. Every stream that tem
 * accepts must have the same fields there: an extra record would be a text released unchanged. */
static void test_csv_returns(void **state) {
    (void)state;
    static field_list ours, theirs;
    unsigned accepted = 0;
    for (int round = 0; round < 300000; round++) {
        char data[10];
        const size_t size = random_below(sizeof data + 1);
        for (size_t i = 0; i < size; i++)
            data[i] = "ab\",\n\r"[random_below(6)];
        if (!list_stream(TEM_FORMAT_CSV, data, size, &ours))
            continue;
        assert_true(list_with_libcsv(data, size, &theirs));
        assert_same_fields(&ours, &theirs);
        accepted += memchr(data, '\r', size) != NULL;
    }
    assert_true(accepted > 1000);
}

/* ---- CSV and TSV: verdicts ---- */

static record_reader reader_of(tem_format format, const char *header, const char *field) {
    record_reader r = one_field(format_find(format), field);
    assert_int_equal(records_header(&r, header, strlen(header), NULL), TEM_OK);
    return r;
}

static void refuse_header(tem_format format, const char *header, const char *message) {
    record_reader r = one_field(format_find(format), "text");
    tem_error error = {.status = TEM_OK};
    assert_int_equal(records_header(&r, header, strlen(header), &error), TEM_ERR_FORMAT);
    assert_int_equal(error.status, TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, message));
    assert_int_equal(records_header(&r, header, strlen(header), NULL), TEM_ERR_FORMAT);
}

static void refuse_record(const record_reader *r, const char *record, unsigned byte,
                          const char *message) {
    record_span span = {11, 12, RECORD_JSON};
    tem_error error = {.status = TEM_OK};
    assert_int_equal(find_one(r, record, strlen(record), &span, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.byte, byte);
    assert_non_null(strstr(error.message, message));
    assert_true(span.start == 11 && span.end == 12 && span.quoting == RECORD_JSON);
    assert_int_equal(find_one(r, record, strlen(record), &span, NULL), TEM_ERR_FORMAT);
}

static void expect_field(const record_reader *r, const char *record, const char *wanted) {
    record_span span = {0};
    core_buffer text = {0};
    assert_int_equal(find_one(r, record, strlen(record), &span, NULL), TEM_OK);
    assert_int_equal(records_decode(&span, record, &text, NULL), TEM_OK);
    assert_holds(&text, wanted, strlen(wanted));
    core_buffer_free(&text);
}

static void test_csv_headers(void **state) {
    (void)state;
    record_reader r = reader_of(TEM_FORMAT_CSV, "id,text,\"a,b\"", "text");
    assert_true(r.columns == 3 && r.names[0].column == 1);
    r = reader_of(TEM_FORMAT_CSV, "id,\"te\"\"xt\"", "te\"xt");
    assert_int_equal(r.names[0].column, 1);
    r = reader_of(TEM_FORMAT_CSV, "a,", "");
    assert_int_equal(r.names[0].column, 1);
    refuse_header(TEM_FORMAT_CSV, "id,\ufefftext", "is not in the header");
    refuse_header(TEM_FORMAT_CSV, "text,id\rsecret,1\r", "carriage return");
    refuse_header(TEM_FORMAT_CSV, "id,txt", "is not in the header");
    refuse_header(TEM_FORMAT_CSV, "id,Text", "is not in the header");
    refuse_header(TEM_FORMAT_CSV, "id,text ", "is not in the header");
    refuse_header(TEM_FORMAT_CSV, "", "is not in the header");
    refuse_header(TEM_FORMAT_CSV, "text,id,\"text\"", "twice");
    refuse_header(TEM_FORMAT_CSV, "text,\"id", "not closed");
    refuse_header(TEM_FORMAT_CSV, "te\"xt,id", "not quoted");
    refuse_header(TEM_FORMAT_CSV, "\"text\"x,id", "comma");
}

static void expect_near(const char *wanted, const char *const names[3], const char *text) {
    char said[NEAR_FIELD_TEXT_BYTES];
    near_field near = near_field_for(wanted);
    for (int i = 0; i < 3; i++)
        near_field_look(&near, names[i], strlen(names[i]));
    assert_int_equal(near_field_say(&near, said), text[0] != '\0');
    assert_string_equal(said, text);
}

/* A line that may not be a header: nothing of it is repeated but what the user nearly typed, unless
 * the user typed a name of it. */
static void test_near_fields(void **state) {
    (void)state;
    static const char *const names[] = {"id", "Text", "a secret"};
    static const char long_name[] =
        "0123456789012345678901234567890123456789012345678901234567890123";
    expect_near("text", names,
                "; did you mean \"Text\"? Case matters; the names are \"id\", \"Text\", "
                "\"a secret\"");
    expect_near("texts", names, "; did you mean \"Text\"?");
    expect_near("body", names, "");
    expect_near("comment", (const char *const[]){"moment", "content", "Anna"}, "");
    expect_near("a", names, "");
    expect_near("te", names, "");
    expect_near("texting", names, "");
    expect_near("", names, "");
    expect_near("text", (const char *const[]){"", "\x1b[31m", "text\xc2\x9b"}, "");
    expect_near("text", (const char *const[]){long_name, "TEXT", long_name + 1},
                "; did you mean \"TEXT\"? Case matters; the names are \"TEXT\", "
                "\"123456789012345678901234567890123456789012345678901234567890123\" and 1 more");
    expect_near(long_name + 1, (const char *const[]){long_name, "TEXT", "\xff"}, "");
}

static void test_csv_records(void **state) {
    (void)state;
    const record_reader r = reader_of(TEM_FORMAT_CSV, "id,text", "text");
    expect_field(&r, "1,two words", "two words");
    expect_field(&r, ",", "");
    expect_field(&r, "1,\"\"", "");
    expect_field(&r, "\"1,1\",\"a \"\"b\"\", c\n\"", "a \"b\", c\n");
    expect_field(&r, "1, x ", " x ");
    refuse_record(&r, "1,\"a", 3, "not closed");
    refuse_record(&r, "1,\"a\"\"", 3, "not closed");
    refuse_record(&r, "\"1,a", 1, "not closed");
    refuse_record(&r, "1,a\"b\"", 4, "not quoted");
    refuse_record(&r, "1\",a", 2, "not quoted");
    refuse_record(&r, "1, \"a\"", 4, "not quoted");
    refuse_record(&r, "1,\"a\"b", 6, "comma");
    refuse_record(&r, "1,\"a\" ", 6, "comma");
    refuse_record(&r, "1", 0, "expected 2 fields, as in the header, found 1");
    refuse_record(&r, "1,a,", 0, "expected 2 fields, as in the header, found 3");
    refuse_record(&r, "1;a", 0, "found 1");
}

static void test_tsv(void **state) {
    (void)state;
    refuse_header(TEM_FORMAT_TSV, "id,text", "is not in the header");
    refuse_header(TEM_FORMAT_TSV, "text\ttext", "twice");
    refuse_header(TEM_FORMAT_TSV, "\"text\"\tid",
                  "is not in the header"); /* in TSV quotes are plain characters */
    record_reader r = reader_of(TEM_FORMAT_TSV, "id\ttext\tx", "text");
    expect_field(&r, "1\ta, \"b\"\t", "a, \"b\"");
    expect_field(&r, "\t\"\"\t", "\"\"");
    expect_field(&r, "\t\"a\" b\t", "\"a\" b");
    refuse_record(&r, "\t\"\t", 2, "quote");
    refuse_record(&r, "1\t\"a\tb\"", 3, "quote"); /* a quoted field, to others */
    refuse_record(&r, "1\ta\rb\tc", 4, "carriage return");
    expect_field(&r, "\t\t", "");
    refuse_record(&r, "1\ta", 0, "expected 3 fields, as in the header, found 2");
    refuse_record(&r, "1\ta\tb\t", 0, "found 4");
    core_buffer out = {0};
    assert_int_equal(records_encode(&r, "a\"b", 3, &out, NULL), TEM_OK);
    assert_holds(&out, "a\"b", 3);
    core_buffer_free(&out);
}

/* ---- where records end ---- */

static void expect_first(tem_format format, const char *data, size_t length, size_t content) {
    const record_reader r = {.format = format_find(format)};
    size_t found = 99;
    assert_int_equal(records_first(&r, data, strlen(data), &found), length);
    assert_int_equal(found, content);
}

static void expect_whole(tem_format format, const char *data, size_t whole) {
    const record_reader r = {.format = format_find(format)};
    assert_int_equal(records_whole(&r, data, strlen(data), false), whole);
    assert_int_equal(records_whole(&r, data, strlen(data), true), strlen(data));
}

static void test_record_ends(void **state) {
    (void)state;
    for (tem_format format = TEM_FORMAT_TEXT; format <= TEM_FORMAT_JSONL; format++) {
        expect_first(format, "a\nb\n", 2, 1);
        expect_first(format, "a\r\nb", 3, 1);
        expect_first(format, "a\r\r\nb", 4, format == TEM_FORMAT_JSONL ? 1 : 2);
        expect_first(format, "\n", 1, 0);
        expect_first(format, "\r\n", 2, 0);
        expect_first(format, "a", 1, 1);
        /* A lone carriage return ends nothing, and in JSONL is not part of a record. */
        expect_first(format, "a\r", 2, format == TEM_FORMAT_JSONL ? 1 : 2);
        expect_first(format, "a\rb\r\n", 5, 3);
        expect_whole(format, "a\nb\nc", 4);
        expect_whole(format, "a", 0);
        expect_whole(format, "a\n", 2);
    }
    expect_first(TEM_FORMAT_CSV, "\"a\nb\"\nc\n", 6, 5);
    expect_first(TEM_FORMAT_CSV, "\"a\"\"\nb\"\r\nc\n", 9, 7);
    expect_first(TEM_FORMAT_CSV, "\"a\nb\n", 5, 4);
    expect_whole(TEM_FORMAT_CSV, "x\n\"a\nb", 2);
    expect_whole(TEM_FORMAT_CSV, "\"a\nb\"\n\"", 6);
    expect_first(TEM_FORMAT_TSV, "\"a\nb\"\n", 3, 2);
}

/* However a stream is split, complete records stay complete: a batch ends where a record ends. */
static void test_whole_records(void **state) {
    (void)state;
    for (int round = 0; round < 100000; round++) {
        const tem_format format = 1 + (tem_format)random_below(4);
        const record_reader r = {.format = format_find(format)};
        char data[16];
        size_t at = 0, content = 0;
        const size_t size = 1 + random_below(sizeof data);
        for (size_t i = 0; i < size; i++)
            data[i] = "a\"\n\r"[random_below(4)];
        const size_t whole = records_whole(&r, data, size, false);
        while (at < whole)
            at += records_first(&r, data + at, size - at, &content);
        assert_int_equal(at, whole);
        if (whole < size) {
            const size_t rest = records_first(&r, data + at, size - at, &content);
            assert_int_equal(rest, size - at);
            assert_true(rest == content || format == TEM_FORMAT_CSV || format == TEM_FORMAT_JSONL);
        }
    }
}

/* ---- JSON: random records ---- */

static void put_blanks(core_buffer *out) {
    static const char *const blanks[] = {"", "", "", " ", "\t", "  ", "\r"};
    put_string(out, blanks[random_below(sizeof blanks / sizeof *blanks)]);
}

static void put_json_string(core_buffer *out) {
    static const char *const parts[] = {
        "a",       "Text", " ",    "\u00e9", "\U0001f600", "\\n",     "\\\"",
        "\\\\",    "\\/",  "\\b",  "\\f",    "\\r",        "\\t",     "\\u00e9",
        ",",       "}",    "\x7f", "{",      "\\u0041",    "\\uABcd", "\\ud83d\\ude00",
        "\\u0000", "'",    ":"};
    put_string(out, "\"");
    for (size_t left = random_below(6); left > 0; left--)
        put_string(out, parts[random_below(sizeof parts / sizeof *parts)]);
    put_string(out, "\"");
}

static void put_json_scalar(core_buffer *out) {
    static const char *const scalars[] = {"0",     "-0",    "1",    "-12",    "3.5",
                                          "-0.25", "1e5",   "2E+2", "1.5e-3", "123456789",
                                          "true",  "false", "null"};
    if (random_below(2))
        put_json_string(out);
    else
        put_string(out, scalars[random_below(sizeof scalars / sizeof *scalars)]);
}

static void put_json_value(core_buffer *out, unsigned depth) {
    /* jansson refuses a NUL in a key; a repeated key is allowed in nested objects. */
    static const char *const keys[] = {"\"text\"", "\"a\"", "\"\"", "\"te\\u0078t\"", "\"\\\"\""};
    const size_t kind = random_below(depth > 3 ? 2 : 4);
    if (kind < 2) {
        put_json_scalar(out);
        return;
    }
    put_string(out, kind == 2 ? "[" : "{");
    put_blanks(out);
    for (size_t i = 0, count = random_below(4); i < count; i++) {
        put_string(out, i > 0 ? "," : "");
        put_blanks(out);
        if (kind == 3) {
            put_string(out, keys[random_below(sizeof keys / sizeof *keys)]);
            put_blanks(out);
            put_string(out, ":");
            put_blanks(out);
        }
        put_json_value(out, depth + 1);
        put_blanks(out);
    }
    put_string(out, kind == 2 ? "]" : "}");
}

static void put_json_key(core_buffer *out, bool field, size_t number) {
    static const char *const names[] = {"\"text\"", "\"te\\u0078t\"", "\"\\u0074\\u0065xt\""};
    char other[16];
    snprintf(other, sizeof other, "\"k%zu\"", number);
    put_string(out, field ? names[random_below(3)] : other);
}

/* An object with the field "text", a string or null, at some place of its top level. */
static void put_json_record(core_buffer *out) {
    const size_t count = 1 + random_below(4), place = random_below(count);
    put_blanks(out);
    put_string(out, "{");
    for (size_t i = 0; i < count; i++) {
        put_string(out, i > 0 ? "," : "");
        put_blanks(out);
        put_json_key(out, i == place, i);
        put_blanks(out);
        put_string(out, ":");
        put_blanks(out);
        if (i != place)
            put_json_value(out, 0);
        else if (random_below(8) == 0)
            put_string(out, "null");
        else
            put_json_string(out);
        put_blanks(out);
    }
    put_string(out, "}");
    put_blanks(out);
}

/* ---- JSON against jansson ---- */

static json_t *load(const core_buffer *record, size_t flags, json_error_t *error) {
    return json_loadb(record->data, record->size, flags | JSON_ALLOW_NUL, error);
}

static void assert_same_value(const core_buffer *record, const record_span *span,
                              const json_t *value) {
    core_buffer text = {0};
    assert_true(span->start <= span->end && span->end <= record->size);
    assert_int_equal(span->quoting, json_is_null(value) ? RECORD_NOTHING : RECORD_JSON);
    if (span->quoting == RECORD_JSON) {
        assert_int_equal(records_decode(span, record->data, &text, NULL), TEM_OK);
        assert_holds(&text, json_string_value(value), json_string_length(value));
    } else {
        assert_int_equal(span->end - span->start, 4);
        assert_memory_equal(record->data + span->start, "null", 4);
        assert_int_equal(records_decode(span, record->data, &text, NULL), TEM_OK);
        assert_int_equal(text.size, 0);
    }
    core_buffer_free(&text);
}

/* With another text in the span, the record means the same except for the field. */
static void check_splice(const core_buffer *record, const record_span *span, json_t *object) {
    static const char marker[] = "new \"text\"\\ \n\t\x01\x7f \u00e9\0 end";
    core_buffer spliced = {0};
    put(&spliced, record->data, span->start);
    const record_reader r = {.format = &format_jsonl};
    assert_int_equal(records_encode(&r, marker, sizeof marker - 1, &spliced, NULL), TEM_OK);
    put(&spliced, record->data + span->end, record->size - span->end);
    json_t *changed = load(&spliced, 0, NULL);
    assert_non_null(changed);
    json_object_set_new(object, "text", json_stringn(marker, sizeof marker - 1));
    assert_true(json_equal(object, changed));
    json_decref(changed);
    core_buffer_free(&spliced);
}

static tem_status find_text(const char *record, size_t size, record_span *span) {
    const record_reader r = one_field(&format_jsonl, "text");
    return find_one(&r, record, size, span, NULL);
}

static void test_json_valid(void **state) {
    (void)state;
    for (int round = 0; round < 50000; round++) {
        core_buffer record = {0};
        record_span span = {0};
        put_json_record(&record);
        json_t *object = load(&record, 0, NULL);
        assert_non_null(object);
        assert_int_equal(find_text(record.data, record.size, &span), TEM_OK);
        assert_same_value(&record, &span, json_object_get(object, "text"));
        check_splice(&record, &span, object);
        json_decref(object);
        core_buffer_free(&record);
    }
}

/* Changes, removes or inserts one to three bytes. */
static void spoil(core_buffer *record) {
    static const char bytes[] = "{}[]\",:\\u0 1-.eEntrfal\n\t\x01\xc3\xa9\xff\xef\xbb\xbf/+x";
    for (size_t left = 1 + random_below(3); left > 0 && record->size > 0; left--) {
        const size_t at = random_below(record->size);
        const char byte = bytes[random_below(sizeof bytes - 1)];
        char *place = record->data + at;
        if (random_below(3) == 0) {
            *place = byte;
        } else if (random_below(2)) {
            memmove(place, place + 1, --record->size - at);
        } else {
            put(record, "", 1);
            place = record->data + at;
            memmove(place + 1, place, record->size - 1 - at);
            *place = byte;
        }
    }
}

/* Cases that jansson refuses and RFC 8259 allows: numbers too large for C, NUL in a key, and half a
 * character in a string that is neither the field nor a top-level key. The place of a field does
 * not depend on them. */
static bool is_beyond_grammar(const json_error_t *error) {
    return json_error_code(error) == json_error_numeric_overflow ||
           json_error_code(error) == json_error_null_byte_in_key ||
           strstr(error->text, "too big") != NULL || strstr(error->text, "invalid Unicode") != NULL;
}

/* 1 if both accept, 0 if both refuse; -1 where they may differ. */
static int check_verdict(const core_buffer *record) {
    record_span span = {0};
    json_error_t reason;
    json_t *object = load(record, 0, &reason);
    const tem_status status = find_text(record->data, record->size, &span);
    if (object == NULL && is_beyond_grammar(&reason))
        return -1;
    const json_t *value = json_object_get(object, "text");
    if (status == TEM_OK) {
        assert_non_null(value);
        assert_same_value(record, &span, value);
    } else if (json_is_string(value) || json_is_null(value)) {
        /* tem refuses it although jansson finds the field: the field must occur twice. */
        json_t *strict = load(record, JSON_REJECT_DUPLICATES, &reason);
        assert_null(strict);
        assert_int_equal(json_error_code(&reason), json_error_duplicate_key);
    }
    json_decref(object);
    return status == TEM_OK;
}

static void test_json_spoiled(void **state) {
    (void)state;
    unsigned accepted = 0, refused = 0;
    for (int round = 0; round < 200000; round++) {
        core_buffer record = {0};
        put_json_record(&record);
        spoil(&record);
        const int verdict = check_verdict(&record);
        accepted += verdict == 1;
        refused += verdict == 0;
        core_buffer_free(&record);
    }
    assert_true(accepted > 10000 && refused > 10000);
}

/* ---- JSON: verdicts ---- */

static void refuse_json(const char *record, const char *message) {
    const record_reader r = one_field(&format_jsonl, "text");
    record_span span = {11, 12, RECORD_CSV};
    tem_error error = {.status = TEM_OK};
    assert_int_equal(find_one(&r, record, strlen(record), &span, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, message));
    assert_true(span.start == 11 && span.end == 12 && span.quoting == RECORD_CSV);
    assert_int_equal(find_one(&r, record, strlen(record), &span, NULL), TEM_ERR_FORMAT);
}

static void expect_json(const char *record, size_t start, size_t end, record_quoting quoting) {
    const record_reader r = one_field(&format_jsonl, "text");
    record_span span = {0};
    assert_int_equal(find_one(&r, record, strlen(record), &span, NULL), TEM_OK);
    assert_true(span.start == start && span.end == end && span.quoting == quoting);
}

static void test_json_records(void **state) {
    (void)state;
    expect_json("{\"text\":\"a\"}", 8, 11, RECORD_JSON);
    expect_json(" { \"text\" : \"\" } ", 12, 14, RECORD_JSON);
    expect_json("{\"text\":null}", 8, 12, RECORD_NOTHING);
    expect_json("{\"te\\u0078t\":\"a\"}", 13, 16, RECORD_JSON);
    expect_json("{\"a\":{\"text\":1},\"text\":\"\"}", 23, 25, RECORD_JSON);
    expect_json("{\"a\":1,\"a\":1,\"text\":\"\"}", 20, 22, RECORD_JSON); /* not the private field */
    expect_json("{\"a\":1e999,\"text\":\"\"}", 18, 20, RECORD_JSON);
    refuse_json("{\"text\":\"a\",\"text\":\"b\"}", "not twice");
    refuse_json("{\"text\":\"a\",\"te\\u0078t\":\"b\"}", "not twice");
    refuse_json("{\"text\":null,\"text\":\"b\"}", "not twice");
    refuse_json("{\"Text\":\"a\"}", "expected the field of the text");
    refuse_json("{\"text\\u0000\":\"a\"}", "expected the field of the text");
    refuse_json("{}", "expected the field of the text");
    refuse_json("{\"a\":{\"text\":\"x\"}}", "expected the field of the text");
    refuse_json("{\"text\":1}", "a string or null");
    refuse_json("{\"text\":true}", "a string or null");
    refuse_json("{\"text\":[\"a\"]}", "a string or null");
    refuse_json("{\"text\":{}}", "a string or null");
    refuse_json("[{\"text\":\"a\"}]", "an object");
    refuse_json("\"text\"", "an object");
    refuse_json("", "an object");
    refuse_json(" ", "an object");
    refuse_json("\ufeff{\"text\":\"a\"}", "an object");
    refuse_json("{\"text\":\"a\"} {}", "nothing after");
    refuse_json("{\"text\":\"a\"},", "nothing after");
    refuse_json("{\"text\":\"a\",}", "a string");
    refuse_json("{\"text\":\"a\" \"b\":1}", "a comma or");
    refuse_json("{\"text\" \"a\"}", "a colon");
    refuse_json("{\"text\":}", "a value");
    refuse_json("{\"text\":\"a\"", "a comma or");
    refuse_json("{\"text\":nul}", "a value");
    refuse_json("{\"text\":'a'}", "a value");
    refuse_json("{text:\"a\"}", "a string");
}

static void test_json_strings(void **state) {
    (void)state;
    refuse_json("{\"text\":\"a", "the end of a string");
    refuse_json("{\"text\":\"a\\\"}", "the end of a string");
    refuse_json("{\"text\":\"a\nb\"}", "no control character");
    refuse_json("{\"text\":\"a\tb\"}", "no control character");
    refuse_json("{\"x\":\"\x1f\",\"text\":\"\"}", "no control character");
    refuse_json("{\"text\":\"\\x\"}", "an escape");
    refuse_json("{\"text\":\"\\u12g4\"}", "hexadecimal");
    refuse_json("{\"text\":\"\\u123\"}", "hexadecimal");
    refuse_json("{\"text\":\"\xff\"}", "valid UTF-8");
    refuse_json("{\"x\":\"\xed\xa0\x80\",\"text\":\"\"}", "valid UTF-8");
    refuse_json("{\"\\ud800\":1,\"text\":\"\"}",
                "both halves"); /* nobody knows which key this is */
    expect_json("{\"x\":\"\\ud800\",\"text\":\"\"}", 21, 23, RECORD_JSON);
    static const char *const halves[] = {"\"\\ud800\"",   "\"\\udc00\"",    "\"\\ud800\\ud800\"",
                                         "\"\\ud83d x\"", "\"\\ud800\\n\"", "\"\\ud83d\\u00e9\""};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        core_buffer text = {0};
        tem_error error = {.status = TEM_OK};
        assert_int_equal(json_decode(halves[i], strlen(halves[i]), &text, &error), TEM_ERR_FORMAT);
        assert_non_null(strstr(error.message, "both halves"));
        core_buffer_free(&text);
    }
}

static void test_json_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"01",  "-",   "+1",  ".5", "1.",       "1e",   "1e+", "0x1",
                                      "1_0", "NaN", "--1", "-a", "Infinity", "1.e5", "00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char record[64];
        snprintf(record, sizeof record, "{\"text\":\"\",\"n\":%s}", bad[i]);
        refuse_json(record, "expected");
        snprintf(record, sizeof record, "{\"n\":[%s],\"text\":\"\"}", bad[i]);
        refuse_json(record, "expected");
    }
}

/* A field with an empty name is a field like any other. */
static void test_json_empty_key(void **state) {
    (void)state;
    static const char record[] = "{\"a\":\"x\",\"\":\"y\"}";
    const record_reader unnamed = one_field(&format_jsonl, ""),
                        missing = one_field(&format_jsonl, "b");
    record_span span = {0};
    assert_int_equal(find_one(&unnamed, record, sizeof record - 1, &span, NULL), TEM_OK);
    assert_int_equal(span.start, 12);
    assert_int_equal(find_one(&missing, record, sizeof record - 1, &span, NULL), TEM_ERR_FORMAT);
}

/* Brackets at the maximum depth, and one deeper; both kinds, before and after the field. */
static void check_depth(unsigned depth, const char *open, const char *close, bool after,
                        tem_status wanted) {
    core_buffer record = {0};
    record_span span = {0};
    put_string(&record, after ? "{\"text\":\"\",\"d\":" : "{\"d\":");
    for (unsigned i = 0; i < depth; i++)
        put_string(&record, open);
    put_string(&record, "0");
    for (unsigned i = 0; i < depth; i++)
        put_string(&record, close);
    put_string(&record, after ? "}" : ",\"text\":\"\"}");
    assert_int_equal(find_text(record.data, record.size, &span), wanted);
    core_buffer_free(&record);
}

static void test_json_depth(void **state) {
    (void)state;
    for (int after = 0; after < 2; after++) {
        check_depth(JSON_DEPTH_MAX, "[", "]", after, TEM_OK);
        check_depth(JSON_DEPTH_MAX, "{\"a\":", "}", after, TEM_OK);
        check_depth(JSON_DEPTH_MAX + 1, "[", "]", after, TEM_ERR_FORMAT);
        check_depth(JSON_DEPTH_MAX + 1, "{\"a\":", "}", after, TEM_ERR_FORMAT);
        check_depth(100000, "[", "]", after, TEM_ERR_FORMAT);
    }
}

/* Every text survives being written and read again; CSV quotes it only if it must. */
static void test_round_trip(void **state) {
    (void)state;
    static const record_reader ways[] = {{.format = &format_csv, .delimiter = ',', .columns = 2},
                                         {.format = &format_csv, .delimiter = ',', .columns = 1},
                                         {.format = &format_jsonl}};
    static const char *const parts[] = {"a",  "\"", "\\",   ",",      "\n",
                                        "\r", "\t", "\x01", "\u00e9", " "};
    for (int round = 0; round < 60000; round++) {
        core_buffer text = {0}, written = {0}, read = {0};
        put(&text, "", 0);
        for (size_t left = random_below(8); left > 0; left--)
            put_string(&text, parts[random_below(sizeof parts / sizeof *parts)]);
        const record_reader *way = &ways[round % 3];
        assert_int_equal(records_encode(way, text.data, text.size, &written, NULL), TEM_OK);
        const bool quoted = written.size > 0 && written.data[0] == '"';
        bool needed = text.size == 0 && way->columns == 1;
        for (size_t i = 0; i < text.size; i++)
            needed |= strchr("\",\r\n", text.data[i]) != NULL;
        assert_true(quoted == needed || way->format == &format_jsonl);
        const record_span span = {0, written.size,
                                  way->format == &format_jsonl ? RECORD_JSON
                                  : quoted                     ? RECORD_CSV_QUOTED
                                                               : RECORD_CSV};
        assert_int_equal(records_decode(&span, written.data, &read, NULL), TEM_OK);
        assert_holds(&read, text.data, text.size);
        core_buffer_free(&text);
        core_buffer_free(&written);
        core_buffer_free(&read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_valid),    cmocka_unit_test(test_csv_any),
        cmocka_unit_test(test_csv_returns),  cmocka_unit_test(test_csv_headers),
        cmocka_unit_test(test_csv_records),  cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_record_ends),  cmocka_unit_test(test_whole_records),
        cmocka_unit_test(test_json_valid),   cmocka_unit_test(test_json_spoiled),
        cmocka_unit_test(test_json_records), cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_json_numbers), cmocka_unit_test(test_json_empty_key),
        cmocka_unit_test(test_json_depth),   cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_near_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
