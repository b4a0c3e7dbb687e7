/* test_fields.c - several private fields, fields that are left out, delimiters, and the list of
 * fields that a run released unchanged. */
#include "pseudo.h"
#include "records/fields.h"
#include "records/records.h"

#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "small_model.h"

static void put_string(core_buffer *b, const char *string) {
    assert_true(core_buffer_add(b, string, strlen(string)));
}

/* Appends a record without its dropped fields, as a run does. */
static void cut(const record_reader *r, const char *record, size_t size, core_buffer *out) {
    core_buffer parts = {0};
    size_t at = 0;
    assert_int_equal(records_split(r, record, size, &parts, NULL, NULL, NULL), TEM_OK);
    for (size_t i = 0; i < records_part_count(&parts); i++) {
        const record_part *part = records_part(&parts, i);
        if (r->names[part->name].role != RECORD_DROPPED)
            continue;
        assert_true(at <= part->cut_start && part->cut_start <= part->cut_end);
        assert_true(core_buffer_add(out, record + at, part->cut_start - at));
        at = part->cut_end;
    }
    assert_true(at <= size && core_buffer_add(out, record + at, size - at));
    core_buffer_free(&parts);
}

/* ---- fields that are left out ---- */

static void put_blanks(core_buffer *out) {
    static const char *const blanks[] = {"", "", " ", "\t", "  "};
    put_string(out, blanks[random_below(5)]);
}

enum { KEYS = 5 };
static const char *const keys[KEYS] = {"a", "bb", "mail", "x y", ""};

/* An object with some of the keys, in any order. */
static void put_object(core_buffer *out) {
    static const char *const values[] = {"1",         "\"v, }\"", "[1, {\"a\": 2}]", "null",
                                         "{\"a\":3}", "-2.5e3",   "\"\\\"\\u0061\""};
    bool used[KEYS] = {false};
    const size_t count = random_below(KEYS + 1);
    put_blanks(out);
    put_string(out, "{");
    put_blanks(out);
    for (size_t i = 0; i < count; i++) {
        size_t key = random_below(KEYS);
        while (used[key])
            key = (key + 1) % KEYS;
        used[key] = true;
        put_string(out, i > 0 ? "," : "");
        put_blanks(out);
        put_string(out, key == 0 && random_below(2) ? "\"\\u0061\"" : "\"");
        if (out->data[out->size - 2] != '1') { /* not the escaped one */
            put_string(out, keys[key]);
            put_string(out, "\"");
        }
        put_blanks(out);
        put_string(out, ":");
        put_blanks(out);
        put_string(out, values[random_below(sizeof values / sizeof *values)]);
        put_blanks(out);
    }
    put_string(out, "}");
    put_blanks(out);
}

/* jansson reads the record without the fields as the object without them; and no other byte goes
 * than fields, commas and blanks. */
static void test_json_dropped(void **state) {
    (void)state;
    for (int round = 0; round < 60000; round++) {
        record_reader r = {.format = &format_jsonl};
        core_buffer record = {0}, out = {0};
        put_object(&record);
        json_t *wanted = json_loadb(record.data, record.size, 0, NULL);
        assert_non_null(wanted);
        bool any = false;
        for (size_t i = 0; i < KEYS; i++)
            if (random_below(2)) {
                assert_int_equal(records_add_name(&r, keys[i], RECORD_DROPPED, NULL), TEM_OK);
                any |= json_object_del(wanted, keys[i]) == 0;
            }
        cut(&r, record.data, record.size, &out);
        json_t *got = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(got);
        assert_true(json_equal(wanted, got));
        assert_true(any || out.size == record.size);
        json_decref(wanted);
        json_decref(got);
        core_buffer_free(&record);
        core_buffer_free(&out);
    }
}

static void expect_cut(const record_format *format, const char *header, const char *const *dropped,
                       const char *record, const char *wanted) {
    record_reader r = {.format = format};
    core_buffer out = {0};
    for (; *dropped != NULL; dropped++)
        assert_int_equal(records_add_name(&r, *dropped, RECORD_DROPPED, NULL), TEM_OK);
    if (header != NULL)
        assert_int_equal(records_header(&r, header, strlen(header), NULL), TEM_OK);
    cut(&r, record, strlen(record), &out);
    assert_int_equal(out.size, strlen(wanted));
    assert_memory_equal(out.data, wanted, out.size);
    core_buffer_free(&out);
}

static void test_cuts(void **state) {
    (void)state;
    const char *const a[] = {"a", NULL}, *const b[] = {"b", NULL}, *const c[] = {"c", NULL};
    const char *const ab[] = {"a", "b", NULL}, *const ac[] = {"c", "a", NULL};
    const char *const abc[] = {"a", "b", "c", NULL};
    expect_cut(&format_csv, "a,b,c", a, "1,\"2,\",3", "\"2,\",3");
    expect_cut(&format_csv, "a,b,c", b, "1,\"2,\",3", "1,3");
    expect_cut(&format_csv, "a,b,c", c, "1,\"2,\",", "1,\"2,\"");
    expect_cut(&format_csv, "a,b,c", ac, ",2,", "2");
    expect_cut(&format_csv, "a;b;c", ab, "1;2;3,4", "3,4");
    expect_cut(&format_tsv, "a\tb\tc", b, "1\t\t3", "1\t3");
    expect_cut(&format_jsonl, NULL, a, "{\"a\": 1, \"b\": 2, \"c\": 3}", "{\"b\": 2, \"c\": 3}");
    expect_cut(&format_jsonl, NULL, b, "{\"a\": 1, \"b\": 2, \"c\": 3}", "{\"a\": 1, \"c\": 3}");
    expect_cut(&format_jsonl, NULL, c, "{\"a\": 1 , \"c\": 3 }", "{\"a\": 1 }");
    expect_cut(&format_jsonl, NULL, ab, "{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3}");
    expect_cut(&format_jsonl, NULL, abc, "{ \"a\":1, \"b\":2 }", "{  }");
    expect_cut(&format_jsonl, NULL, b, "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
}

static void test_contradictions(void **state) {
    (void)state;
    static const struct {
        record_role first, second;
        tem_status wanted;
    } cases[] = {
        {RECORD_TEXT, RECORD_TEXT, TEM_ERR_ARGUMENT},
        {RECORD_TEXT, RECORD_DROPPED, TEM_ERR_ARGUMENT},
        {RECORD_TEXT, RECORD_PERSON, TEM_ERR_ARGUMENT},
        {RECORD_DROPPED, RECORD_DROPPED, TEM_ERR_ARGUMENT},
        {RECORD_DROPPED, RECORD_PERSON, TEM_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_reader r = {.format = &format_csv};
        assert_int_equal(records_add_name(&r, "a", cases[i].first, NULL), TEM_OK);
        assert_int_equal(records_add_name(&r, "a", cases[i].second, NULL), cases[i].wanted);
        assert_int_equal(records_add_name(&r, "b", cases[i].second, NULL), TEM_OK);
    }
    record_reader full = {.format = &format_csv};
    static char names[RECORD_NAMES_MAX][8];
    for (int i = 0; i < RECORD_NAMES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "%d", i);
        assert_int_equal(records_add_name(&full, names[i], RECORD_DROPPED, NULL), TEM_OK);
    }
    assert_int_equal(records_add_name(&full, "one more", RECORD_DROPPED, NULL), TEM_ERR_ARGUMENT);
}

/* ---- delimiters ---- */

static void expect_delimiter(const char *header, char given, tem_status wanted, char found,
                             uint32_t column, const char *message) {
    record_reader r = {.format = &format_csv, .delimiter = given};
    tem_error error = {.message = ""};
    assert_int_equal(records_add_name(&r, "text", RECORD_TEXT, NULL), TEM_OK);
    assert_int_equal(records_header(&r, header, strlen(header), &error), wanted);
    if (wanted == TEM_OK)
        assert_true(r.delimiter == found && r.names[0].column == column);
    else
        assert_non_null(strstr(error.message, message));
}

static void test_delimiters(void **state) {
    (void)state;
    expect_delimiter("id,text", 0, TEM_OK, ',', 1, NULL);
    expect_delimiter("id;text", 0, TEM_OK, ';', 1, NULL);
    expect_delimiter("text", 0, TEM_OK, ',', 0, NULL);
    expect_delimiter("a,b;text", 0, TEM_OK, ';', 1, NULL);
    expect_delimiter("text;a,b", 0, TEM_OK, ';', 0, NULL);
    expect_delimiter("\"a;text\",text", 0, TEM_OK, ',', 1, NULL);
    expect_delimiter("\"a,text\";text;x", 0, TEM_OK, ';', 1, NULL);
    expect_delimiter("text;a,text", 0, TEM_ERR_FORMAT, 0, 0, "more than one delimiter");
    expect_delimiter("a,text,text;text", 0, TEM_ERR_FORMAT, 0, 0, "more than one delimiter");
    expect_delimiter("text,a;b,text", 0, TEM_ERR_FORMAT, 0, 0, "twice");
    expect_delimiter("a,text,text;b", 0, TEM_OK, ',', 1, NULL);
    expect_delimiter("text;text", 0, TEM_ERR_FORMAT, 0, 0, "twice");
    expect_delimiter("id|text", 0, TEM_ERR_FORMAT, 0, 0, "is not in the header");
    expect_delimiter("id|text", '|', TEM_OK, '|', 1, NULL);
    expect_delimiter("text;a,text", ',', TEM_OK, ',', 1, NULL);
    expect_delimiter("text;a,text", ';', TEM_OK, ';', 0, NULL);
    expect_delimiter("id,text", ';', TEM_ERR_FORMAT, 0, 0, "is not in the header");
    for (int c = 1; c < 256; c++) {
        const record_reader r = {.format = &format_csv, .delimiter = (char)c};
        const bool allowed = c == '\t' || c == ' ' ||
                             (c > ' ' && c < 127 && c != '"' && !(c >= '0' && c <= '9') &&
                              !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'));
        assert_int_equal(records_check_delimiter(&r, NULL), allowed ? TEM_OK : TEM_ERR_ARGUMENT);
    }
    const record_reader tsv = {.format = &format_tsv, .delimiter = ','};
    assert_int_equal(records_check_delimiter(&tsv, NULL), TEM_ERR_ARGUMENT);
}

/* An output that has the delimiter is quoted, whichever it is. */
static void test_quotes(void **state) {
    (void)state;
    const record_reader r = {.format = &format_csv, .delimiter = ';', .columns = 2};
    const record_reader last = {
        .format = &format_csv, .delimiter = ';', .columns = 2, .dropped = 1};
    core_buffer out = {0};
    assert_int_equal(records_encode(&r, "a;b", 3, &out, NULL), TEM_OK);
    assert_int_equal(records_encode(&r, "a,b", 3, &out, NULL), TEM_OK);
    assert_int_equal(records_encode(&r, "", 0, &out, NULL), TEM_OK);
    assert_int_equal(records_encode(&last, "", 0, &out, NULL), TEM_OK);
    assert_int_equal(out.size, 10);
    assert_memory_equal(out.data, "\"a;b\"a,b\"\"", 10);
    core_buffer_free(&out);
}

/* ---- what looks personal ---- */

static void expect_name(const char *name, const char *wanted) {
    const char *found = personal_by_name(name, strlen(name));
    if (wanted == NULL)
        assert_null(found);
    else
        assert_string_equal(found, wanted);
}

static void test_names(void **state) {
    (void)state;
    expect_name("mail", "e-mail addresses");
    expect_name("E-Mail", "e-mail addresses");
    expect_name("user_email", "e-mail addresses");
    expect_name("customerPhone", "telephone numbers");
    expect_name("email2", "e-mail addresses");
    expect_name("Phone12", "telephone numbers");
    expect_name("ipv4", "network addresses");
    expect_name("age", "ages");
    expect_name("gender", "properties of people");
    expect_name("ward_3", "locations");
    expect_name("homeCity", "locations");
    expect_name("case no", "identifiers of people or records");
    expect_name("staff", "identifiers of people or records");
    expect_name("visitDate", "identifiers of people or records");
    expect_name("date", "dates of events");
    expect_name("dateOfBirth", "dates of birth");
    expect_name("home phone", "telephone numbers");
    expect_name("ID", "identifiers of people or records");
    expect_name("userId", "identifiers of people or records");
    expect_name("First Name", "names of people");
    expect_name("ip", "network addresses");
    expect_name("date_of_birth", "dates of birth");
    expect_name("SSN", "identity numbers");
    expect_name("text", NULL);
    expect_name("stars", NULL);
    expect_name("filename", NULL);
    expect_name("width", NULL);
    expect_name("zipper", NULL);
    expect_name("", NULL);
    expect_name("___", NULL);
    expect_name("2024", NULL);
    expect_name("page", NULL);
    expect_name("update", NULL);
    expect_name("mailmailmailmailmailmailmailmail", NULL);
}

static void expect_values(const char *const *values, const char *wanted) {
    personal_tally tally = {0};
    for (; *values != NULL; values++)
        personal_look(&tally, *values, strlen(*values));
    const char *found = personal_by_content(&tally);
    if (wanted == NULL)
        assert_null(found);
    else
        assert_string_equal(found, wanted);
}

static void test_values(void **state) {
    (void)state;
    expect_values((const char *[]){"x", "y", "jane.doe@example.org", NULL}, "e-mail addresses");
    expect_values((const char *[]){"see <a+b@mail.example.com>.", NULL}, "e-mail addresses");
    expect_values((const char *[]){"@home", "a@b", "a@b.", "a @b.de", "x@.de", "@", NULL}, NULL);
    expect_values((const char *[]){"+49 30 1234567", "030 1234567", "(555) 123-4567", NULL},
                  "telephone numbers");
    expect_values((const char *[]){"2024-01-31", "3.14159265358", "0.12345678901", "123456789",
                                   "12:30:00", "1,000,000,000", NULL},
                  NULL);
    expect_values((const char *[]){"192.168.0.1", "10.0.0.255", NULL}, "network addresses");
    expect_values((const char *[]){"2001:db8::1", "aa:bb:cc:dd:ee:01", NULL}, "network addresses");
    expect_values((const char *[]){"1.2.3.400", "1..2.3", "1.2.3", NULL}, NULL);
    expect_values((const char *[]){"078-05-1120", NULL}, "social security numbers");
    expect_values((const char *[]){"4111 1111 1111 1111", NULL}, "numbers of payment cards");
    expect_values((const char *[]){"4111111111111112", NULL}, NULL);
    expect_values((const char *[]){"I did not like the end", "ok", NULL}, "text");
    expect_values((const char *[]){"a b c d", "1 2 3 4 5 6", "", "   ", NULL}, NULL);
    expect_values((const char *[]){"x", "y", "10.0.0.1", NULL}, NULL); /* fewer than half */
    expect_values((const char *[]){NULL}, NULL);
}

/* Two capitalized words in most rows, whatever the name of the field is. */
static void test_people(void **state) {
    (void)state;
    expect_values((const char *[]){"Ann Lee", "Jean-Luc O'Neil", "\xc3\x89lodie Dubois", NULL},
                  "names of people");
    expect_values((const char *[]){"Lee, Ann", "J. R. de la Cruz", "  Dr. Jo McDonald ", NULL},
                  "names of people");
    expect_values((const char *[]){"Ann Lee", "Bo Ek", "unknown", NULL}, "names of people");
    expect_values((const char *[]){"Ann Lee", "open", "closed", NULL}, NULL); /* fewer than half */
    expect_values((const char *[]){"Ann", "Bo", NULL}, NULL);
    expect_values((const char *[]){"ann lee", "A. L.", NULL}, NULL);
    expect_values((const char *[]){"Ann", "ann lee", "ANN LEE", "A. L.", "A B", NULL}, NULL);
    expect_values(
        (const char *[]){"The Godfather", "New York", "In Progress", "Of Mice and Men", NULL},
        NULL);
    expect_values((const char *[]){"Room 12", "Ann Lee 2", "Very good film",
                                   "Ann \xff"
                                   "Lee",
                                   "Ann Lee Bo Ek Jo Na", ", ,", NULL},
                  NULL);
    /* The next rule of a form must not count these as something else. */
    expect_values((const char *[]){"Ann Lee", "Bo Ek", "x@example.org", NULL}, "e-mail addresses");
}

/* The union of many names, in order of appearance, whatever the hint says. */
static void test_list(void **state) {
    (void)state;
    tem_fields f = {0}, g = {0};
    char name[16];
    size_t index = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < FIELDS_MAX; i++) {
            snprintf(name, sizeof name, "k%d", round == 1 ? FIELDS_MAX - 1 - i : i);
            assert_int_equal(fields_find(&f, name, strlen(name), TEM_FIELD_UNCHANGED, &index, NULL),
                             TEM_OK);
            assert_int_equal(index, round == 1 ? FIELDS_MAX - 1 - i : i);
        }
    assert_true(fields_count(&f) == FIELDS_MAX && !f.more);
    assert_int_equal(fields_merge(&g, &f, NULL), TEM_OK);
    assert_true(fields_count(&g) == FIELDS_MAX && !g.more);
    assert_int_equal(fields_find(&f, "new", 3, TEM_FIELD_UNCHANGED, &index, NULL), TEM_OK);
    assert_true(fields_count(&f) == FIELDS_MAX && f.more && index == FIELDS_MAX);
    assert_int_equal(fields_merge(&g, &f, NULL), TEM_OK);
    assert_true(g.more);
    assert_string_equal(fields_name(&g, 17), "k17");
    fields_clear(&g);
    assert_true(fields_count(&g) == 0 && !g.more);
    fields_free(&f);
    fields_free(&g);
}

/* ---- whole runs ---- */

static tem_model *model;
static tem_mechanism *still; /* draws each word itself */
static char folder[] = "/tmp/tem-fields-XXXXXX", in[64], out[64];

static int set_up(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    static const float places[] = {0, 10, 20, 30};
    model = small_model(NULL, places, 4, 1, TEM_EUCLIDEAN, 4);
    /* s gamma is 63.9: another word comes with probability e^-62 at most. */
    const tem_mechanism_options options = {.epsilon = 12.78, .gamma = 10};
    return tem_mechanism_create(model, &options, &still, NULL) == TEM_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(still);
    tem_model_free(model);
    unlink(in);
    unlink(out);
    return rmdir(folder);
}

static void write_input(const char *content) {
    FILE *file = fopen(in, "w");
    assert_non_null(file);
    assert_int_equal(fputs(content, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_output(const char *wanted) {
    char content[4096];
    FILE *file = fopen(out, "r");
    assert_non_null(file);
    const size_t bytes = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[bytes] = '\0';
    assert_string_equal(content, wanted);
}

static tem_status run(tem_job *job, tem_counts *counts, tem_fields *fields, tem_error *error) {
    const char *const inputs[] = {in};
    job->inputs = inputs;
    job->input_count = 1;
    job->output = out;
    job->overwrite = TEM_OVERWRITE;
    return tem_privatize_files(still, job, NULL, counts, NULL, fields, error);
}

static void expect_field(const tem_fields *fields, size_t i, const char *name, tem_field_use use,
                         const char *looks_like, int by_content) {
    tem_field field;
    assert_true(tem_fields_at(fields, i, &field));
    assert_string_equal(field.name, name);
    assert_int_equal(field.use, use);
    assert_int_equal(field.looks_by_content, by_content);
    if (looks_like == NULL)
        assert_null(field.looks_like);
    else
        assert_string_equal(field.looks_like, looks_like);
}

static void test_csv_run(void **state) {
    (void)state;
    const char *const more[] = {"title"}, *const dropped[] = {"mail", "user"};
    tem_job job = {.format = TEM_FORMAT_CSV,
                   .field = "text",
                   .more_fields = more,
                   .more_field_count = 1,
                   .dropped = dropped,
                   .dropped_count = 2};
    tem_counts counts;
    tem_fields *fields = NULL;
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    write_input("mail;stars;\"text\";user;title;note\n"
                "a@b.de;5;\"W1, \"\"w2\"\"\";7;W0;me@example.org\n"
                "c@d.de;4;w3;\"8;9\";;\n");
    assert_int_equal(run(&job, &counts, fields, NULL), TEM_OK);
    expect_output("stars;\"text\";title;note\n5;w1 w2;w0;me@example.org\n4;w3;;\n");
    assert_true(counts.documents == 4 && counts.words == 4);
    assert_int_equal(tem_fields_count(fields), 6);
    expect_field(fields, 0, "mail", TEM_FIELD_DROPPED, NULL, 0);
    expect_field(fields, 1, "stars", TEM_FIELD_UNCHANGED, NULL, 0);
    expect_field(fields, 2, "text", TEM_FIELD_PRIVATE, NULL, 0);
    expect_field(fields, 3, "user", TEM_FIELD_DROPPED, NULL, 0);
    expect_field(fields, 4, "title", TEM_FIELD_PRIVATE, NULL, 0);
    expect_field(fields, 5, "note", TEM_FIELD_UNCHANGED, "e-mail addresses", 1);
    tem_fields_free(fields);
}

static int swap_descriptor(int descriptor, int other) {
    const int saved = dup(descriptor);
    assert_true(saved >= 0 && other >= 0 && dup2(other, descriptor) == descriptor);
    close(other);
    return saved;
}

/* Runs from a pipe to standard output, which is the file `out`. */
static tem_status run_on_pipe(tem_job *job, const char *content, tem_error *error) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], content, strlen(content)), strlen(content));
    close(ends[1]);
    fflush(stdout);
    const int input = swap_descriptor(STDIN_FILENO, ends[0]);
    const int output =
        swap_descriptor(STDOUT_FILENO, open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    const tem_status status = tem_privatize_files(still, job, NULL, NULL, NULL, NULL, error);
    close(swap_descriptor(STDIN_FILENO, input));
    close(swap_descriptor(STDOUT_FILENO, output));
    return status;
}

/* On a pipe the first record decides whether a name of a dropped field is mistyped. */
static void test_pipe(void **state) {
    (void)state;
    const char *const dropped[] = {"ip", "mail"};
    tem_error error;
    tem_job job = {
        .format = TEM_FORMAT_JSONL, .field = "a", .dropped = dropped, .dropped_count = 2};
    assert_int_equal(
        run_on_pipe(&job, "\n{\"a\": \"w1\", \"ip\": 1, \"mail\": 1}\n{\"a\": \"w2\"}\n", NULL),
        TEM_OK);
    expect_output("{\"a\": \"w1\"}\n{\"a\": \"w2\"}\n");
    const char *const later = "\n{\"a\": \"w1\", \"ip\": 1}\n{\"a\": \"w2\", \"mail\": 1}\n";
    assert_int_equal(run_on_pipe(&job, later, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "the first record lacks"));
    expect_output("");
    job.dropped_if_present = 1;
    assert_int_equal(run_on_pipe(&job, later, NULL), TEM_OK);
    expect_output("{\"a\": \"w1\"}\n{\"a\": \"w2\"}\n");
    /* No record, and a first one that is broken. */
    job.dropped_if_present = 0;
    assert_int_equal(run_on_pipe(&job, "\n\n", NULL), TEM_OK);
    assert_int_equal(run_on_pipe(&job, "{\"a\": 1\n", &error), TEM_ERR_FORMAT);
    assert_null(strstr(error.message, "the first record lacks"));
    expect_output("");
}

/* Columns that may be missing: one is there, one is not, and the first column stays. */
static void test_missing_columns(void **state) {
    (void)state;
    const char *const dropped[] = {"user", "mail", "Mail"};
    tem_job job = {.format = TEM_FORMAT_CSV,
                   .field = "text",
                   .dropped = dropped,
                   .dropped_count = 3,
                   .dropped_if_present = 2};
    write_input("stars;text;user;mail\n5;W1;7;a@b.de\n");
    assert_int_equal(run(&job, NULL, NULL, NULL), TEM_OK);
    expect_output("stars;text\n5;w1\n");
    job.dropped_if_present = 1;
    assert_int_equal(run(&job, NULL, NULL, NULL), TEM_OK);
    job.dropped_if_present = 0;
    assert_int_equal(run(&job, NULL, NULL, NULL), TEM_ERR_FORMAT);
    job.dropped_if_present = 4;
    assert_int_equal(run(&job, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    job.format = TEM_FORMAT_JSONL;
    job.dropped_if_present = 3;
    write_input("{\"text\": \"w1\"}\n");
    assert_int_equal(run(&job, NULL, NULL, NULL), TEM_OK);
    expect_output("{\"text\": \"w1\"}\n");
}

static void test_jsonl_run(void **state) {
    (void)state;
    const char *const more[] = {"b"}, *const dropped[] = {"mail"};
    tem_job job = {.format = TEM_FORMAT_JSONL,
                   .field = "a",
                   .more_fields = more,
                   .more_field_count = 1,
                   .dropped = dropped,
                   .dropped_count = 1};
    tem_counts counts;
    tem_error error;
    tem_fields *fields = NULL;
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    write_input("{\"mail\": {\"x\": 1}, \"a\": \"W1\", \"b\": null, \"ip\": \"10.0.0.1\"}\n"
                "{\"b\": \"w2 W3\", \"phone\": 1, \"a\": \"w0\"}\n"
                "{\"b\": \"\", \"a\": \"\", \"ma\\u0069l\": 2}\n");
    assert_int_equal(run(&job, &counts, fields, NULL), TEM_OK);
    expect_output("{\"a\": \"w1\", \"b\": \"\", \"ip\": \"10.0.0.1\"}\n"
                  "{\"b\": \"w2 w3\", \"phone\": 1, \"a\": \"w0\"}\n"
                  "{\"b\": \"\", \"a\": \"\"}\n");
    assert_true(counts.documents == 6 && counts.words == 4);
    assert_int_equal(tem_fields_count(fields), 5);
    expect_field(fields, 0, "mail", TEM_FIELD_DROPPED, NULL, 0);
    expect_field(fields, 1, "a", TEM_FIELD_PRIVATE, NULL, 0);
    expect_field(fields, 2, "b", TEM_FIELD_PRIVATE, NULL, 0);
    expect_field(fields, 3, "ip", TEM_FIELD_UNCHANGED, "network addresses", 1);
    expect_field(fields, 4, "phone", TEM_FIELD_UNCHANGED, "telephone numbers", 0);
    /* A private field that is missing, a dropped one that no record has, and one named twice. */
    write_input("{\"a\": \"w1\"}\n");
    assert_int_equal(run(&job, &counts, NULL, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "the field of the text (number 2"));
    write_input("{\"a\": \"w1\", \"b\": \"w1\", \"Mail\": 1}\n");
    assert_int_equal(run(&job, &counts, NULL, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "no record has a field that was to be left out"));
    write_input("{\"a\": \"w1\", \"b\": \"w1\", \"mail\": 1, \"mail\": 2}\n");
    assert_int_equal(run(&job, &counts, NULL, &error), TEM_ERR_FORMAT);
    assert_non_null(strstr(error.message, "not twice"));
    tem_fields_free(fields);
}

/* The keys of all records are listed, also far behind the first ones, for any number of threads;
 * and more than TEM_FIELDS_MAX are told of. */
static void test_all_keys(void **state) {
    (void)state;
    tem_fields *fields = NULL;
    assert_int_equal(tem_fields_create(&fields, NULL), TEM_OK);
    for (int keys_wanted = 100; keys_wanted <= 400; keys_wanted += 300)
        for (unsigned threads = 1; threads <= 8; threads += 7) {
            FILE *file = fopen(in, "w");
            assert_non_null(file);
            for (int i = 0; i < 20000; i++)
                fprintf(file, "{\"a\": \"w1\", \"key number %d\": 1}\n", i * keys_wanted / 20000);
            assert_int_equal(fclose(file), 0);
            const char *const inputs[] = {in};
            const tem_run how = {.threads = threads};
            const tem_job job = {.format = TEM_FORMAT_JSONL,
                                 .field = "a",
                                 .inputs = inputs,
                                 .input_count = 1,
                                 .dry_run = 1};
            assert_int_equal(tem_privatize_files(still, &job, &how, NULL, NULL, fields, NULL),
                             TEM_OK);
            assert_int_equal(tem_fields_have_more(fields), keys_wanted > TEM_FIELDS_MAX);
            const size_t count = tem_fields_count(fields);
            assert_int_equal(count, keys_wanted > TEM_FIELDS_MAX ? TEM_FIELDS_MAX : 101);
            for (size_t i = 1; i < count; i++) {
                char name[32];
                snprintf(name, sizeof name, "key number %zu", i - 1);
                expect_field(fields, i, name, TEM_FIELD_UNCHANGED, NULL, 0);
            }
        }
    tem_fields_free(fields);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_dropped),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_people),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_csv_run),
        cmocka_unit_test(test_missing_columns),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_jsonl_run),
        cmocka_unit_test(test_all_keys),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
