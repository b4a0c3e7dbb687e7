/* test_ledger.c - spending: amounts, the ledger file, and runs that are charged to it.
 *
 * One invariant is behind most tests: whatever happens, the ledger says at least what was released.
 * In the model of the runs all words are so far apart that a word stays unchanged, so the expected
 * output is known. */
#include "core/fault.h"
#include "job/spending.h"
#include "ledger/ledger.h"
#include "pseudo.h"

#include <errno.h>
#include <fcntl.h>
#include <gmp.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static char path[128];   /* path of the ledger */
static char input[128];  /* path of the input text */
static char output[128]; /* path of the output */

/* ---- files ---- */

static void write_bytes(const char *name, const char *bytes, size_t size) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text) {
    write_bytes(name, text, strlen(text));
}

/* The content of a file, NUL-terminated; empty if there is no file. Free the data. */
static core_buffer read_bytes(const char *name) {
    core_buffer content = {0};
    FILE *file = fopen(name, "rb");
    assert_true(core_buffer_reserve(&content, 1 << 20));
    if (file != NULL) {
        content.size = fread(content.data, 1, (1 << 20) - 1, file);
        fclose(file);
    }
    content.data[content.size] = '\0';
    return content;
}

static void assert_file_holds(const char *name, const char *wanted) {
    core_buffer content = read_bytes(name);
    assert_string_equal(content.data, wanted);
    core_buffer_free(&content);
}

static bool is_there(const char *name) {
    return access(name, F_OK) == 0;
}

/* ---- set up ---- */

static const char *const words[] = {"the", "movie", "was", "good"};
enum { WORDS = sizeof words / sizeof *words, SPACING = 300 };
static tem_model *model; /* from a file, because the ledger identifies it by its hash */
static tem_model_info model_info;
static tem_mechanism *tenth, *two; /* epsilon 0.1 and 2 */

static tem_mechanism *mechanism_of(const char *name, double epsilon) {
    /* Another word comes out with probability 3e-7 at epsilon 0.1, 1e-26 at 2. */
    const double gamma = strcmp(name, "tem") != 0 ? 0 : epsilon < 1 ? SPACING : 60;
    const tem_mechanism_options options = {.mechanism = name, .epsilon = epsilon, .gamma = gamma};
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    return mechanism;
}

static int set_up(void **state) {
    (void)state;
    float values[WORDS];
    tem_vectors *vectors = NULL;
    tem_model *built = NULL;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-ledger-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/ledger", folder);
    snprintf(input, sizeof input, "%s/input", folder);
    snprintf(output, sizeof output, "%s/output", folder);
    for (int i = 0; i < WORDS; i++)
        values[i] = (float)(SPACING * i);
    assert_int_equal(tem_vectors_create(words, values, WORDS, 1, &vectors, NULL), TEM_OK);
    const tem_order_options order = {.list = 0};
    const tem_build_options ordered = {.order = &order};
    assert_int_equal(tem_model_build(vectors, &ordered, NULL, &built, NULL), TEM_OK);
    assert_int_equal(tem_model_save(built, output, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(output, &model, NULL), TEM_OK);
    assert_int_equal(tem_model_verify(model, NULL, NULL), TEM_OK);
    tem_model_get_info(model, &model_info);
    unlink(output);
    tem_model_free(built);
    tem_vectors_free(vectors);
    tenth = mechanism_of("tem", 0.1);
    two = mechanism_of("tem", 2);
    return 0;
}

static int clear(void **state) {
    (void)state;
    unlink(path);
    unlink(input);
    unlink(output);
    return 0;
}

static int tear_down(void **state) {
    clear(state);
    tem_mechanism_free(tenth);
    tem_mechanism_free(two);
    tem_model_free(model);
    return rmdir(folder); /* fails if a file was left behind */
}

/* ---- amounts ---- */

static amount up(double number) {
    amount a = 0;
    assert_true(amount_from_number(number, AMOUNT_UP, &a));
    return a;
}

static amount down(double number) {
    amount a = 0;
    assert_true(amount_from_number(number, AMOUNT_DOWN, &a));
    return a;
}

static void test_amounts_of_numbers(void **state) {
    (void)state;
    static const struct {
        double number;
        uint64_t up, down;
    } cases[] = {{0, 0, 0},
                 {0.1, 100000000000, 100000000000},
                 {0.3, 300000000000, 300000000000},
                 {3, 3000000000000, 3000000000000},
                 {1e-12, 1, 1},
                 {1e-13, 1, 0},
                 {5e-324, 1, 0},
                 {1.0 / 3, 333333333334, 333333333333},
                 {0.1 + 0.2, 300000000001, 300000000000}, /* 0.30000000000000004 */
                 {0x1p-18, 3814698, 3814697},             /* 0.000003814697265625 */
                 {20000.1, 20000100000000000, 20000100000000000},
                 {8388607.7, 8388607700000000000, 8388607700000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(up(cases[i].number) == cases[i].up);
        assert_true(down(cases[i].number) == cases[i].down);
    }
    assert_true(up(1e22) == (amount)10000000000 * 1000000000000 * 1000000000000);
    amount a = 7;
    static const double refused[] = {-1, -5e-324, 1.1e25, INFINITY, NAN};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(amount_from_number(refused[i], AMOUNT_UP, &a));
    assert_true(a == 7);
}

/* Against GMP's exact fractions: either the decimal equals the number, or it is the next step of
 * 10^-12 on the safe side. */
static void test_amounts_are_safe(void **state) {
    (void)state;
    mpq_t exact, decimal;
    mpq_inits(exact, decimal, NULL);
    for (int i = 0; i < 20000; i++) {
        const double number =
            ldexp((double)(random_below((uint64_t)1 << 53) + 1), -(int)random_below(100) - 20);
        for (amount_rounding r = AMOUNT_UP; r <= AMOUNT_DOWN; r++) {
            amount a = 0;
            char text[AMOUNT_TEXT_BYTES];
            assert_true(amount_from_number(number, r, &a));
            amount_write(a, text);
            if (strtod(text, NULL) == number)
                continue;
            mpq_set_d(exact, number);
            mpq_set_ui(decimal, 0, 1);
            mpz_set_ui(mpq_numref(decimal), (unsigned long)(a >> 64));
            mpz_mul_2exp(mpq_numref(decimal), mpq_numref(decimal), 64);
            mpz_add_ui(mpq_numref(decimal), mpq_numref(decimal), (unsigned long)a);
            mpz_set_ui(mpq_denref(decimal), 1000000000000);
            mpq_canonicalize(decimal);
            assert_true(r == AMOUNT_UP ? mpq_cmp(decimal, exact) >= 0
                                       : mpq_cmp(decimal, exact) <= 0);
            mpq_sub(decimal, decimal, exact);
            mpq_abs(decimal, decimal);
            assert_true(mpq_cmp_ui(decimal, 1, 1000000000000) < 0);
        }
    }
    mpq_clears(exact, decimal, NULL);
}

static void test_amounts_as_text(void **state) {
    (void)state;
    amount a = 0, again = 0;
    char text[AMOUNT_TEXT_BYTES];
    static const char *const fine[] = {"0",
                                       "1",
                                       "39",
                                       "0.3",
                                       "0.000000000001",
                                       "10.05",
                                       "340282366920938463463374607.431768211455"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        assert_true(amount_read(fine[i], strlen(fine[i]), &a));
        assert_int_equal(amount_write(a, text), strlen(fine[i]));
        assert_string_equal(text, fine[i]);
    }
    static const char *const refused[] = {
        "",
        ".",
        ".5",
        "5.",
        "00",
        "01",
        "1.0",
        "0.10",
        "1.0000000000001",
        "-1",
        "+1",
        "1e3",
        "1 ",
        " 1",
        "1..2",
        "1.2.3",
        "0x1",
        "340282366920938463463374607.431768211456",
        "99999999999999999999999999999999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(amount_read(refused[i], strlen(refused[i]), &a));
    for (int i = 0; i < 10000; i++) {
        a = ((amount)random_below(UINT64_MAX) << 64 | random_below(UINT64_MAX)) >>
            random_below(128);
        assert_true(amount_read(text, amount_write(a, text), &again));
        assert_true(a == again);
    }
}

static void test_accounts(void **state) {
    (void)state;
    enum { PEOPLE = 5000 };
    accounts all = {0};
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t i = 0; i < PEOPLE; i++) {
            /* Half of them start their search at the same place. */
            unsigned char person[PERSON_BYTES] = {0};
            const uint64_t first = i % 2 == 0 ? i : 0;
            memcpy(person, &first, 8);
            memcpy(person + 8, &i, 8);
            const size_t index = accounts_find(&all, person);
            assert_int_equal(index, i);
            assert_int_equal(all.items[index].own_words, round * i);
            all.items[index].own_words = i;
        }
    assert_int_equal(all.count, PEOPLE);
    accounts_free(&all);
}

/* ---- lines ---- */

static const unsigned char salt[LEDGER_SALT_BYTES] = "0123456789abcde";

static void test_header(void **state) {
    (void)state;
    char text[LEDGER_HEADER_BYTES];
    ledger_header header = {.bytes = INT64_MAX}, again;
    memcpy(header.salt, salt, sizeof salt);
    ledger_write_header(&header, text);
    assert_true(ledger_read_header(text, sizeof text, &again));
    assert_memory_equal(&again, &header, sizeof header);
    json_t *parsed = json_loadb(text, sizeof text, 0, NULL); /* other programs can read it */
    assert_string_equal(json_string_value(json_object_get(parsed, "ledger")), "tem 1");
    json_decref(parsed);
    for (size_t i = 0; i < sizeof text; i++) {
        assert_false(ledger_read_header(text, i, &again));
        for (int bit = 0; bit < 8; bit++) {
            text[i] ^= (char)(1 << bit);
            assert_false(ledger_read_header(text, sizeof text, &again));
            text[i] ^= (char)(1 << bit);
        }
    }
}

/* A charge of some words at epsilon 3; to people, `words` each, if there are any. */
typedef struct sample {
    run_value run[RUN_FIELDS];
    ledger_charge charge;
    accounts people;
    uint32_t charged[4];
    core_buffer by;
} sample;

static void make_sample(sample *s, uint64_t word_count, const char *by, unsigned people) {
    *s = (sample){.run = {[RUN_TIME] = {.text = "2026-11-15T12:00:00Z"},
                          [RUN_MECHANISM] = {.text = "tem"},
                          [RUN_PRIVATE] = {.flag = true},
                          [RUN_EPSILON] = {.exact = 3 * AMOUNT_ONE},
                          [RUN_S] = {.exact = 1499999046326},
                          [RUN_GAMMA] = {.exact = 11557830810547},
                          [RUN_BETA] = {.is_null = true},
                          [RUN_EPSILON_GAMMA] = {.exact = 11557830810547},
                          [RUN_UNIT] = {.text = "distance/angular"},
                          [RUN_BOUND] = {.exact = 11557830810547},
                          [RUN_WEIGHTS] = {.text = "equal"},
                          [RUN_WORDS] = {.count = word_count},
                          [RUN_DOCUMENTS] = {.count = 2},
                          [RUN_OOV] = {.text = "uniform"},
                          [RUN_PUNCTUATION] = {.text = "drop"},
                          [RUN_MISSING] = {.text = "empty"},
                          [RUN_MODEL] = {.text = model_info.hash},
                          [RUN_CERTIFICATE] = {.is_null = true},
                          [RUN_LANGUAGE] = {.text = "reviews"},
                          [RUN_LANGUAGE_HASH] = {.is_null = true}}};
    if (by != NULL)
        assert_true(core_buffer_add(&s->by, by, strlen(by)));
    for (unsigned i = 0; i < people; i++) {
        const unsigned char person[PERSON_BYTES] = {(unsigned char)(i + 1)};
        s->charged[i] = (uint32_t)accounts_find(&s->people, person);
        s->people.items[i].words = word_count / people;
    }
    s->charge.run = s->run;
    s->charge.by = &s->by;
    s->charge.people = &s->people;
    s->charge.charged = s->charged;
    s->charge.charged_count = people;
}

static void free_sample(sample *s) {
    accounts_free(&s->people);
    core_buffer_free(&s->by);
}

static void test_charge(void **state) {
    (void)state;
    sample s;
    core_buffer line = {0};
    char before[LEDGER_CHECK_DIGITS], check[LEDGER_CHECK_DIGITS];
    ledger_entry entry;
    memset(before, 'a', sizeof before);
    make_sample(&s, 12, "\"us\\\"er\"", 3);
    assert_int_equal(ledger_write_charge(&s.charge, before, &line, NULL), TEM_OK);

    json_t *parsed = json_loadb(line.data, line.size, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(parsed, "words")), 12);
    assert_int_equal(json_number_value(json_object_get(parsed, "spent")), 36);
    assert_string_equal(json_string_value(json_object_get(parsed, "by")), "us\"er");
    assert_int_equal(json_object_size(json_object_get(parsed, "people")), 3);
    json_decref(parsed);

    memcpy(check, before, sizeof check);
    assert_null(ledger_read_charge(line.data, line.size - 1, check, &entry));
    assert_memory_not_equal(check, before, sizeof check);
    assert_true(entry.bounded && entry.words == 12 &&
                entry.spent[COST_EPSILON] == 36 * AMOUNT_ONE &&
                entry.spent[COST_BOUND] == 12 * (amount)11557830810547);
    unsigned char person[PERSON_BYTES];
    uint64_t count = 0;
    for (unsigned i = 0; i < 3; i++) {
        assert_true(ledger_next_person(&entry, person, &count));
        assert_true(person[0] == i + 1 && count == 4);
    }
    assert_false(ledger_next_person(&entry, person, &count));

    /* After another line, cut, or with any bit changed, the line is refused. */
    memset(check, 'b', sizeof check);
    assert_non_null(ledger_read_charge(line.data, line.size - 1, check, &entry));
    for (size_t i = 0; i + 1 < line.size; i++) {
        memcpy(check, before, sizeof check);
        assert_non_null(ledger_read_charge(line.data, i, check, &entry));
        for (int bit = 0; bit < 8; bit++) {
            line.data[i] ^= (char)(1 << bit);
            assert_non_null(ledger_read_charge(line.data, line.size - 1, check, &entry));
            line.data[i] ^= (char)(1 << bit);
        }
        assert_memory_equal(check, before, sizeof check);
    }
    core_buffer_free(&line);
    free_sample(&s);
}

/* A mechanism may be private and have no bound between any two inputs: then 0 would be a lie. */
static void test_charge_without_bound(void **state) {
    (void)state;
    sample s;
    core_buffer line = {0};
    char check[LEDGER_CHECK_DIGITS] = "";
    ledger_entry entry;
    make_sample(&s, 12, NULL, 0);
    s.run[RUN_BOUND] = (run_value){.is_null = true};
    assert_int_equal(ledger_write_charge(&s.charge, check, &line, NULL), TEM_OK);
    assert_null(ledger_read_charge(line.data, line.size - 1, check, &entry));
    assert_false(entry.bounded);
    core_buffer_free(&line);
    free_sample(&s);
}

/* A line whose check is right, with a part of it replaced: what a hostile writer can do. */
static bool accepts(const char *part, const char *by) {
    sample s;
    core_buffer line = {0}, changed = {0};
    char before[LEDGER_CHECK_DIGITS];
    ledger_entry entry;
    memset(before, 'a', sizeof before);
    make_sample(&s, 12, "\"user\"", 3);
    assert_int_equal(ledger_write_charge(&s.charge, before, &line, NULL), TEM_OK);
    line.size -= LEDGER_CHECK_DIGITS + 13; /* ,"check":"..."} and the line feed */
    assert_true(core_buffer_add(&line, "", 1));
    const char *found = strstr(line.data, part);
    assert_non_null(found);
    const size_t start = (size_t)(found - line.data);
    assert_true(
        core_buffer_add(&changed, line.data, start) && core_buffer_add(&changed, by, strlen(by)) &&
        core_buffer_add(&changed, found + strlen(part), line.size - 1 - start - strlen(part)) &&
        ledger_seal(&changed, before));
    const bool accepted = ledger_read_charge(changed.data, changed.size, before, &entry) == NULL;
    core_buffer_free(&line);
    core_buffer_free(&changed);
    free_sample(&s);
    return accepted;
}

static void test_hostile_lines(void **state) {
    (void)state;
    static const char *const refused[][2] = {{"\"spent\":36", "\"spent\":35"},
                                             {"\"spent\":36", "\"spent\":-36"},
                                             {"\"words\":12", "\"words\":11"},
                                             {"\"words\":12", "\"words\":12.0"},
                                             {"\"words\":12", "\"words\":1e1"},
                                             {"\"words\":12", "\"words\":18446744073709551628"},
                                             {"\"epsilon\":3,", "\"epsilon\":3.0,"},
                                             {"\"epsilon\":3,", "\"epsilon\":null,"},
                                             {"\"epsilon\":3,", ""},
                                             {"\"time\"", "\"Time\""},
                                             {"\"tem\"", "tem"},
                                             {"\"private\":true", "\"private\":1"},
                                             {"\"keep_lines\":false", "\"keep_lines\":0"},
                                             {"\"missing\":\"empty\"", "\"missing\":null"},
                                             {":4,", ":5,"},
                                             {":4,", ":18446744073709551612,"},
                                             {":4,", ":4,,"},
                                             {":4}", ":4,}"},
                                             {":4}", ":4} "},
                                             {"{\"01", "{\"0x"},
                                             {"\"by\":\"user\"", "\"by\":null"},
                                             {"\"user\"", "\"us\ner\""},
                                             {"\"user\"", "\"user\\\""},
                                             {"\"certificate\":null", "\"certificate\":3"},
                                             {"\"bound\":11", "\"bound\":10"},
                                             {"\"unit\":\"d", "\"unit\":d"},
                                             {"\"spent_worst\":", "\"spent_worst\":9"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (accepts(refused[i][0], refused[i][1]))
            fail_msg("accepted: %s for %s", refused[i][1], refused[i][0]);
    assert_true(accepts("\"user\"", "\"us\\\"er\""));
    assert_true(accepts("\"unit\":\"distance/angular\"", "\"unit\":\"rank/0123\""));
    assert_true(accepts("\"certificate\":null", "\"certificate\":\"0a\""));
    /* Charges from before these settings existed still count. */
    assert_true(accepts(",\"missing\":\"empty\",\"keep_lines\":false", ""));
    assert_true(accepts(",\"unit\":\"distance/angular\",\"bound\":11.557830810547", ""));
}

/* ---- the file ---- */

static tem_status open_ledger(ledger *l, const char *by, tem_error *error) {
    return ledger_open(l, path, by, model_info.hash, "distance/angular", salt, false, NULL, error);
}

/* Writes a charge as a run does. */
static void charge(const char *by, uint64_t word_count, unsigned people) {
    ledger l;
    sample s;
    assert_int_equal(open_ledger(&l, by, NULL), TEM_OK);
    make_sample(&s, word_count, NULL, people);
    if (by != NULL)
        s.charge.by = &l.by;
    assert_int_equal(ledger_lock(&l, NULL), TEM_OK);
    assert_int_equal(ledger_add(&l, &s.charge, NULL), TEM_OK);
    ledger_unlock(&l);
    ledger_close(&l);
    free_sample(&s);
}

/* What is left of 1000 for the first person of the samples; -1 if the ledger is refused. */
static double left_of_1000(const char *by, tem_error *error) {
    ledger l;
    tem_status status = open_ledger(&l, by, error);
    if (status != TEM_OK)
        return -1;
    double left = -1;
    status = ledger_lock(&l, error);
    if (status == TEM_OK) {
        const unsigned char person[PERSON_BYTES] = {1};
        const size_t index = accounts_find(&l.people, person);
        left = amount_to_number(
            ledger_left(&l, &l.people.items[index], COST_EPSILON, 1000 * AMOUNT_ONE));
    }
    ledger_close(&l);
    return left;
}

static void test_file(void **state) {
    (void)state;
    struct stat info;
    assert_true(left_of_1000(NULL, NULL) == 1000); /* this creates the ledger */
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(info.st_size, LEDGER_HEADER_BYTES);
    charge(NULL, 10, 0);
    assert_true(left_of_1000(NULL, NULL) == 970);
    charge("user", 12, 3);
    charge("user", 8, 1);
    charge("account", 5, 1);
    assert_true(left_of_1000(NULL, NULL) == 1000 - 3 * 35);
    /* Their own 12, plus the 10 and 5 that may be theirs. */
    assert_true(left_of_1000("user", NULL) == 1000 - 3 * (4 + 8 + 10 + 5));
    assert_true(left_of_1000("account", NULL) == 1000 - 3 * (5 + 10 + 12 + 8));
    assert_true(left_of_1000("other", NULL) == 1000 - 3 * 35);
}

/* Two handles: each sees the charges that the other added since. */
static void test_two_handles(void **state) {
    (void)state;
    ledger a, b;
    sample s;
    make_sample(&s, 10, NULL, 0);
    assert_int_equal(open_ledger(&a, NULL, NULL), TEM_OK);
    assert_int_equal(open_ledger(&b, NULL, NULL), TEM_OK);
    for (unsigned i = 1; i <= 20; i++) {
        ledger *l = i % 3 == 0 ? &a : &b;
        assert_int_equal(ledger_lock(l, NULL), TEM_OK);
        assert_int_equal(ledger_add(l, &s.charge, NULL), TEM_OK);
        assert_true(l->common[COST_EPSILON] == 30 * i * AMOUNT_ONE);
        ledger_unlock(l);
    }
    ledger_close(&a);
    ledger_close(&b);
    free_sample(&s);
}

static int stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    ++*(int *)context;
    return 1;
}

/* Without the lock, a process waits, asks whether to go on, and reads nothing. */
static void test_lock(void **state) {
    (void)state;
    ledger a, b;
    int asked = 0;
    const tem_run run = {.progress = stop_at_once, .progress_context = &asked};
    assert_int_equal(open_ledger(&a, NULL, NULL), TEM_OK);
    assert_int_equal(ledger_open(&b, path, NULL, "", "", salt, false, &run, NULL), TEM_OK);
    assert_int_equal(ledger_lock(&a, NULL), TEM_OK);
    assert_int_equal(ledger_lock(&b, NULL), TEM_ERR_CANCELLED);
    assert_int_equal(asked, 1);
    ledger_unlock(&a);
    assert_int_equal(ledger_lock(&b, NULL), TEM_OK);
    ledger_close(&a);
    ledger_close(&b);
}

/* A run was killed while charging: bytes beyond the header's count. The next run removes them. */
static void test_torn_line(void **state) {
    (void)state;
    charge(NULL, 10, 0);
    core_buffer before = read_bytes(path);
    charge(NULL, 20, 0);
    core_buffer after = read_bytes(path);
    for (size_t size = before.size; size <= after.size; size += 7) {
        core_buffer torn = {0};
        assert_true(core_buffer_add(&torn, before.data, before.size) &&
                    core_buffer_add(&torn, after.data + before.size, size - before.size));
        write_bytes(path, torn.data, torn.size);
        assert_true(left_of_1000(NULL, NULL) == 970);
        charge(NULL, 1, 0);
        assert_true(left_of_1000(NULL, NULL) == 967);
        core_buffer_free(&torn);
    }
    core_buffer_free(&before);
    core_buffer_free(&after);
}

/* A file that lost its end is refused, wherever it was cut. */
static void test_cut(void **state) {
    (void)state;
    tem_error error;
    charge(NULL, 10, 0);
    charge("user", 9, 3);
    core_buffer whole = read_bytes(path);
    for (size_t size = 0; size < whole.size; size++) {
        write_bytes(path, whole.data, size);
        assert_true(left_of_1000(NULL, &error) < 0);
        assert_true(error.status == TEM_ERR_DAMAGED || error.status == TEM_ERR_FORMAT);
        assert_string_equal(error.file, path);
        core_buffer left = read_bytes(path); /* refused, not repaired */
        assert_int_equal(left.size, size);
        core_buffer_free(&left);
    }
    core_buffer_free(&whole);
}

static void test_changed(void **state) {
    (void)state;
    tem_error error;
    charge(NULL, 10, 0);
    charge("user", 9, 3);
    charge(NULL, 11, 0);
    core_buffer whole = read_bytes(path);
    for (size_t i = 0; i < whole.size; i++) {
        whole.data[i] ^= 1;
        write_bytes(path, whole.data, whole.size);
        assert_true(left_of_1000(NULL, &error) < 0);
        assert_true(error.status == TEM_ERR_DAMAGED || error.status == TEM_ERR_FORMAT);
        whole.data[i] ^= 1;
    }
    core_buffer_free(&whole);
}

/* Whole lines removed or moved, with a matching header: the checks are a chain. */
static void test_lines_moved(void **state) {
    (void)state;
    tem_error error;
    charge(NULL, 10, 0);
    charge(NULL, 20, 0);
    charge(NULL, 30, 0);
    core_buffer whole = read_bytes(path);
    char *line[5] = {whole.data};
    for (int i = 1; i < 5; i++)
        line[i] = strchr(line[i - 1], '\n') + 1;
    static const int orders[][3] = {{1, 3, 0}, {2, 3, 0}, {2, 1, 3}, {1, 1, 2}, {1, 2, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        core_buffer moved = {0};
        assert_true(core_buffer_add(&moved, whole.data, LEDGER_HEADER_BYTES));
        for (int j = 0; j < 3 && orders[i][j] > 0; j++) {
            const int n = orders[i][j];
            assert_true(core_buffer_add(&moved, line[n], (size_t)(line[n + 1] - line[n])));
        }
        ledger_header header = {.bytes = moved.size};
        memcpy(header.salt, salt, sizeof salt);
        ledger_write_header(&header, moved.data);
        write_bytes(path, moved.data, moved.size);
        assert_true(left_of_1000(NULL, &error) < 0);
        assert_int_equal(error.status, TEM_ERR_DAMAGED);
        assert_true(error.line >= 2);
        core_buffer_free(&moved);
    }
    core_buffer_free(&whole);
}

static void test_not_a_ledger(void **state) {
    (void)state;
    tem_error error;
    write_text(path, "");
    assert_true(left_of_1000(NULL, &error) < 0 && error.status == TEM_ERR_FORMAT);
    write_text(path, "{\"spent\": 3}\n{\"spent\": 4}\n");
    assert_true(left_of_1000(NULL, &error) < 0 && error.status == TEM_ERR_FORMAT);
    assert_file_holds(path, "{\"spent\": 3}\n{\"spent\": 4}\n");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(left_of_1000(NULL, &error) < 0 && error.status == TEM_ERR_FILE);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(left_of_1000(NULL, &error) < 0 && error.status == TEM_ERR_FILE);
    rmdir(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_true(left_of_1000(NULL, &error) < 0 && error.status == TEM_ERR_FILE);
}

/* A ledger that is replaced while it is open is a different ledger. */
static void test_replaced(void **state) {
    (void)state;
    ledger l;
    tem_error error;
    charge(NULL, 10, 0);
    assert_int_equal(open_ledger(&l, NULL, NULL), TEM_OK);
    unlink(path);
    assert_int_equal(ledger_lock(&l, &error), TEM_ERR_FILE);
    charge(NULL, 10, 0);
    assert_int_equal(ledger_lock(&l, &error), TEM_ERR_FILE);
    assert_false(l.locked);
    ledger_close(&l);
}

static void test_people(void **state) {
    (void)state;
    unsigned char a[PERSON_BYTES], b[PERSON_BYTES];
    const unsigned char other[LEDGER_SALT_BYTES] = "another";
    ledger_person(salt, "ann", 3, a);
    ledger_person(salt, "ann", 3, b);
    assert_memory_equal(a, b, sizeof a);
    ledger_person(salt, "anna", 4, b);
    assert_memory_not_equal(a, b, sizeof a);
    ledger_person(other, "ann", 3, b);
    assert_memory_not_equal(a, b, sizeof a);
}

/* ---- runs ---- */

static tem_balance balance;

static tem_job job_of(double budget) {
    static const char *inputs[1];
    inputs[0] = input;
    return (tem_job){.inputs = inputs,
                     .input_count = 1,
                     .output = output,
                     .overwrite = TEM_OVERWRITE,
                     .ledger = path,
                     .budget = budget};
}

/* Runs with `text` from a file or a pipe; to standard output or to a file. */
static tem_status run_text(const tem_mechanism *mechanism, tem_job job, const char *text,
                           bool from_pipe, tem_error *error) {
    balance = (tem_balance){.left = -1};
    if (!from_pipe) {
        write_text(input, text);
        return tem_privatize_files(mechanism, &job, NULL, NULL, &balance, NULL, error);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text)); /* below 64 kB */
    close(ends[1]);
    char name[32];
    const char *pipe_name = name;
    snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
    job.inputs = &pipe_name;
    const tem_status status =
        tem_privatize_files(mechanism, &job, NULL, NULL, &balance, NULL, error);
    close(ends[0]);
    return status;
}

/* The same with standard output in the file `to`. */
static tem_status run_to_stdout(const tem_mechanism *mechanism, tem_job job, const char *text,
                                bool from_pipe, const char *to, tem_error *error) {
    const int file = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_true(file >= 0 && saved >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    job.output = NULL;
    const tem_status status = run_text(mechanism, job, text, from_pipe, error);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    return status;
}

/* The total in the ledger. */
static double spent_in_ledger(void) {
    tem_error error;
    const double left = left_of_1000(NULL, &error);
    if (left < 0)
        fail_msg("%s", error.message);
    return 1000 - left;
}

/* Ten words at a tenth cost 1, exactly. */
static void test_budget_is_reached(void **state) {
    (void)state;
    tem_error error;
    static const char nine[] = "the movie was good\nthe movie was good the\n";
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        clear(NULL);
        assert_int_equal(run_text(tenth, job_of(1), nine, from_pipe, NULL), TEM_OK);
        assert_file_holds(output, nine);
        assert_true(balance.created && balance.spent_before == 0 && balance.spent == 0.9);
        assert_true(balance.left > 0.0999 && balance.left < 0.1001);
        assert_int_equal(run_text(tenth, job_of(1), "good", from_pipe, NULL), TEM_OK);
        assert_file_holds(output, "good\n");
        assert_true(!balance.created && balance.spent_before == 0.9 && balance.left == 0);
        unlink(output);
        assert_int_equal(run_text(tenth, job_of(1), "good", from_pipe, &error), TEM_ERR_BUDGET);
        assert_false(is_there(output));
        assert_true(balance.spent == 0 && balance.left == 0);
        assert_int_equal(run_text(tenth, job_of(1), "\n\n", from_pipe, NULL), TEM_OK);
        assert_true(spent_in_ledger() == 1);
    }
}

/* Amounts without an exact decimal are rounded up: three thirds are more than 1. */
static void test_cost_is_rounded_up(void **state) {
    (void)state;
    tem_mechanism *third = mechanism_of("tem", 1.0 / 3);
    assert_int_equal(run_text(third, job_of(1), "the movie was\n", false, NULL), TEM_ERR_BUDGET);
    assert_int_equal(run_text(third, job_of(1.000000000002), "the movie was\n", false, NULL),
                     TEM_OK);
    tem_mechanism_free(third);
}

/* Standard input that is a file is read twice, from where it stands, whichever input it is. */
static void test_standard_input_is_read_again(void **state) {
    (void)state;
    static const char *const orders[][2] = {{NULL, NULL}, {"-", NULL}, {"-", input}, {input, "-"}};
    static const char *const wanted[] = {"was good\n", "was good\n", "was good\nthe movie\n",
                                         "the movie\nwas good\n"};
    static const size_t counts[] = {0, 1, 2, 2};
    char name[160];
    snprintf(name, sizeof name, "%s/standard", folder);
    write_text(name, "the movie\nwas good\n");
    for (size_t i = 0; i < 4; i++) {
        clear(NULL);
        write_text(input, "the movie\n");
        tem_job job = job_of(100);
        job.inputs = (const char *const *)orders[i];
        job.input_count = counts[i];
        const int file = open(name, O_RDONLY), saved = dup(STDIN_FILENO);
        assert_true(file >= 0 && saved >= 0 && dup2(file, STDIN_FILENO) >= 0);
        assert_int_equal(lseek(STDIN_FILENO, 10, SEEK_SET), 10);
        const tem_status status = tem_privatize_files(two, &job, NULL, NULL, &balance, NULL, NULL);
        dup2(saved, STDIN_FILENO);
        close(saved);
        close(file);
        assert_int_equal(status, TEM_OK);
        assert_file_holds(output, wanted[i]);
        assert_true(balance.spent == (counts[i] == 2 ? 8 : 4));
    }
    unlink(name);
}

/* A number of the first charge in the ledger. */
static double number_in_ledger(const char *name) {
    core_buffer content = read_bytes(path);
    const char *found = strstr(content.data, name);
    assert_non_null(found);
    const double number = strtod(found + strlen(name), NULL);
    core_buffer_free(&content);
    return number;
}

/* A charge has the numbers that the mechanism draws with, rounded up: whoever computes the loss
 * from the charge must not get too little. */
static void test_charge_tells_the_mechanism(void **state) {
    (void)state;
    static const double epsilons[] = {0.1, 1.0 / 3, 2};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        tem_mechanism *mechanism = mechanism_of("tem", epsilons[i]);
        tem_mechanism_info info;
        tem_mechanism_get_info(mechanism, &info);
        clear(NULL);
        assert_int_equal(run_text(mechanism, job_of(100), "the movie\n", false, NULL), TEM_OK);
        const double s = (double)info.s_steps * 0x1p-20, gamma = info.gamma_steps * 0x1p-16;
        const double lost = epsilons[i] * gamma;
        const double told_s = number_in_ledger("\"s\":"),
                     told_gamma = number_in_ledger("\"gamma\":"),
                     told_lost = number_in_ledger("\"epsilon_gamma\":"),
                     told_worst = number_in_ledger("\"spent_worst\":");
        assert_true(told_s >= s && told_s < s + 2e-12);
        assert_true(told_gamma >= gamma && told_gamma < gamma + 1e-11);
        assert_true(told_lost > lost - 1e-12 && told_lost < lost + 1e-9);
        assert_true(told_worst > 2 * lost - 1e-12 && told_worst < 2 * lost + 1e-9);
        tem_mechanism_free(mechanism);
    }
}

/* A file: nothing is written, nothing charged. A pipe: whole documents up to the limit. */
static void test_budget_is_exceeded(void **state) {
    (void)state;
    tem_error error;
    static const char text[] = "the movie\n\nwas\ngood the movie\nwas\n"; /* 2, 0, 1, 3, 1 words */
    assert_int_equal(run_to_stdout(two, job_of(11.9), text, false, output, &error), TEM_ERR_BUDGET);
    assert_file_holds(output, "");
    assert_true(spent_in_ledger() == 0);
    assert_int_equal(run_to_stdout(two, job_of(11.9), text, true, output, &error), TEM_ERR_BUDGET);
    assert_file_holds(output, "the movie\n\nwas\n");
    assert_int_equal(error.line, 4);
    assert_true(spent_in_ledger() == 6);
    assert_true(balance.spent == 6 && balance.left == 5.9);
    assert_int_equal(run_to_stdout(two, job_of(20), text, true, output, &error), TEM_OK);
    assert_file_holds(output, text);
    assert_true(spent_in_ledger() == 20 && balance.left == 0);
}

/* /dev/full accepts no data. The charge was made before. */
static void test_charged_before_release(void **state) {
    (void)state;
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        clear(NULL);
        assert_int_equal(
            run_to_stdout(two, job_of(100), "the movie\nwas\n", from_pipe, "/dev/full", NULL),
            TEM_ERR_FILE);
        assert_true(spent_in_ledger() == 6);
    }
}

/* An unreadable document ends a run. A file then costs nothing; a pipe costs what came out. */
static void test_broken_text(void **state) {
    (void)state;
    assert_int_equal(run_to_stdout(two, job_of(100), "the\n\xff\nwas\n", false, output, NULL),
                     TEM_ERR_FORMAT);
    assert_true(spent_in_ledger() == 0);
    assert_int_equal(run_to_stdout(two, job_of(100), "the\n\xff\nwas\n", true, output, NULL),
                     TEM_ERR_FORMAT);
    assert_file_holds(output, "the\n");
    assert_true(spent_in_ledger() == 2);
}

static void test_dry_run(void **state) {
    (void)state;
    tem_job job = job_of(8);
    job.dry_run = 1;
    assert_int_equal(run_text(two, job, "the movie\n", false, NULL), TEM_OK);
    assert_false(is_there(path));
    assert_true(balance.left == 4 && balance.spent == 0 && balance.spent_before == 0);
    assert_int_equal(run_text(two, job_of(8), "the movie\n", false, NULL), TEM_OK);
    core_buffer before = read_bytes(path);
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        assert_int_equal(run_text(two, job, "the movie\n", from_pipe, NULL), TEM_OK);
        assert_true(balance.left == 0 && balance.spent_before == 4);
        assert_int_equal(run_text(two, job, "the movie was\n", from_pipe, NULL), TEM_ERR_BUDGET);
    }
    assert_file_holds(path, before.data);
    core_buffer_free(&before);
}

/* Each person has a budget of 6, three words. */
static const char *const people_streams[] = {
    NULL, NULL, "who\ttext\nann\tthe movie\nbob\twas\nann\tgood\nbob\tthe\n",
    "text,who\nthe movie,ann\nwas,\"bob\"\ngood,\"ann\"\nthe,bob\n",
    "{\"who\":\"ann\",\"text\":\"the movie\"}\n{\"text\":\"was\",\"who\":\"b\\u006fb\"}\n"
    "{\"who\":\"ann\",\"text\":\"good\"}\n{\"who\":\"bob\",\"text\":\"the\"}\n"};

static tem_job people_job(tem_format format, double budget) {
    tem_job job = job_of(budget);
    job.format = format;
    job.field = "text";
    job.by = "who";
    return job;
}

static void test_by_person(void **state) {
    (void)state;
    tem_error error;
    for (tem_format format = TEM_FORMAT_TSV; format <= TEM_FORMAT_JSONL; format++) {
        const char *stream = people_streams[format];
        const tem_job job = people_job(format, 6);
        clear(NULL);
        assert_int_equal(run_text(two, job, stream, false, NULL), TEM_OK);
        assert_file_holds(output, stream);
        assert_true(balance.people == 2 && balance.left == 0 && balance.spent == 10);
        /* Ann's budget is used up. */
        unlink(output);
        assert_int_equal(run_text(two, job, stream, false, &error), TEM_ERR_BUDGET);
        assert_false(is_there(output));
        assert_non_null(strstr(error.message, "for 2 of the 2 people who have words"));
        assert_non_null(strstr(error.message, "record 1, counted from 1, "));
        assert_true(spent_in_ledger() == 10);
    }
}

/* The reported record is the first that costs something. */
static void test_first_record_that_costs(void **state) {
    (void)state;
    tem_error error;
    assert_int_equal(run_text(two, people_job(TEM_FORMAT_JSONL, 6),
                              "{\"text\":\"\",\"who\":\"ann\"}\n"
                              "{\"text\":\"the movie was good\",\"who\":\"ann\"}\n",
                              false, &error),
                     TEM_ERR_BUDGET);
    assert_non_null(strstr(error.message, "the person of record 2, counted from 1, "));
}

/* A pipe stops at the person who has none left; what comes before is out and charged. */
static void test_by_person_in_a_pipe(void **state) {
    (void)state;
    tem_error error;
    for (tem_format format = TEM_FORMAT_TSV; format <= TEM_FORMAT_JSONL; format++) {
        const char *stream = people_streams[format], *third = stream;
        for (int lines = format == TEM_FORMAT_JSONL ? 2 : 3; lines > 0; lines--)
            third = strchr(third, '\n') + 1;
        clear(NULL);
        assert_int_equal(run_to_stdout(two, people_job(format, 5), stream, true, output, &error),
                         TEM_ERR_BUDGET);
        core_buffer out = read_bytes(output);
        assert_int_equal(out.size, third - stream);
        assert_memory_equal(out.data, stream, out.size);
        core_buffer_free(&out);
        assert_int_equal(error.line, format == TEM_FORMAT_JSONL ? 3 : 4);
        assert_true(spent_in_ledger() == 6 && balance.people == 2);
    }
}

static void test_nobody(void **state) {
    (void)state;
    static const struct {
        tem_format format;
        const char *text;
        unsigned line;
    } refused[] = {{TEM_FORMAT_JSONL, "{\"text\":\"the\"}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":null}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":\"\"}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":1.0}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":1e2}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":-0}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":[1]}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":1,\"who\":2}\n", 1},
                   {TEM_FORMAT_JSONL, "{\"text\":\"the\",\"who\":\"\\ud800\"}\n", 1},
                   {TEM_FORMAT_CSV, "text,who\nthe,\n", 2},
                   {TEM_FORMAT_CSV, "text,who\nthe,\"\"\n", 2},
                   {TEM_FORMAT_CSV, "text,whom\nthe,ann\n", 1},
                   {TEM_FORMAT_TSV, "who\ttext\n\tthe\n", 2}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
            tem_error error;
            assert_int_equal(run_text(two, people_job(refused[i].format, 100), refused[i].text,
                                      from_pipe, &error),
                             TEM_ERR_FORMAT);
            assert_int_equal(error.line, refused[i].line);
            assert_true(spent_in_ledger() == 0);
        }
    /* A number and a string of the same digits are one person. */
    static const char same[] = "{\"text\":\"the\",\"who\":17}\n{\"text\":\"the\",\"who\":\"17\"}\n";
    assert_int_equal(run_text(two, people_job(TEM_FORMAT_JSONL, 3), same, false, NULL),
                     TEM_ERR_BUDGET);
}

static void test_job_refused(void **state) {
    (void)state;
    tem_mechanism *published = mechanism_of("madlib", 2);
    write_text(input, "the\n");
    for (int i = 0; i < 12; i++) {
        tem_job job = job_of(10);
        tem_status wanted = TEM_ERR_ARGUMENT;
        const tem_mechanism *mechanism = two;
        switch (i) {
        case 0:
            job.ledger = NULL;
            break;
        case 1:
            job.budget = -1;
            wanted = TEM_ERR_RANGE;
            break;
        case 2:
            job.budget = NAN;
            wanted = TEM_ERR_RANGE;
            break;
        case 3:
            job.budget = 1e26;
            wanted = TEM_ERR_RANGE;
            break;
        case 4:
            job.by = "who";
            break; /* plain text has no fields */
        case 5:
            job.insecure_seeded = 1;
            break;
        case 6:
            job.text.oov = TEM_OOV_MASK;
            break;
        case 7:
            job.text.punctuation = TEM_PUNCTUATION_KEEP;
            break;
        case 8:
            mechanism = published;
            break;
        case 9:
            job = people_job(TEM_FORMAT_CSV, 10);
            job.by = "text";
            break;
        case 10:
            job.ledger = "-";
            break;
        default:
            job.ledger = "";
            break;
        }
        assert_int_equal(tem_privatize_files(mechanism, &job, NULL, NULL, &balance, NULL, NULL),
                         wanted);
        assert_false(is_there(path));
        assert_false(is_there(output));
    }
    tem_mechanism_free(published);
}

/* The ledger as input, as output, and as the target of standard output. */
static void test_ledger_is_another_file(void **state) {
    (void)state;
    charge(NULL, 10, 0);
    core_buffer before = read_bytes(path);
    tem_job job = job_of(100);
    const char *const itself[] = {input, path};
    write_text(input, "the\n");
    job.inputs = itself;
    job.input_count = 2;
    assert_int_equal(tem_privatize_files(two, &job, NULL, NULL, &balance, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    job = job_of(100);
    job.output = path;
    assert_int_equal(tem_privatize_files(two, &job, NULL, NULL, &balance, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    const int file = open(path, O_WRONLY | O_APPEND);
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_true(file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    job.output = NULL;
    const tem_status status = tem_privatize_files(two, &job, NULL, NULL, &balance, NULL, NULL);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    assert_int_equal(status, TEM_ERR_ARGUMENT);
    assert_file_holds(path, before.data);
    core_buffer_free(&before);
}

/* Whether the last charge of the ledger contains this. */
static bool last_charge_says(const char *what) {
    core_buffer all = read_bytes(path);
    all.data[all.size - 1] = '\0'; /* replaces the last line feed */
    const bool says = strstr(strrchr(all.data, '\n'), what) != NULL;
    core_buffer_free(&all);
    return says;
}

static bool has_unit_of(const tem_mechanism *a, const tem_mechanism *b) {
    tem_mechanism_info of_a, of_b;
    tem_mechanism_get_info(a, &of_a);
    tem_mechanism_get_info(b, &of_b);
    return strcmp(of_a.unit, of_b.unit) == 0;
}

/* One decision for every mechanism and policy, whatever the text: the statement of tem.h, the
 * ledger's "private" and "spent_worst", the refusals of a budget, and the ledgers that can no
 * longer keep a budget. */
static void check_decision(const tem_mechanism *mechanism, tem_job job, const char *text,
                           bool is_private) {
    tem_error error;
    const char *why = tem_job_why_not_private(mechanism, &job);
    clear(NULL);
    assert_int_equal(why == NULL, is_private);
    assert_int_equal(run_text(mechanism, job, text, false, NULL), TEM_OK);
    assert_true(isinf(balance.left) && balance.spent > 0);
    assert_true(last_charge_says(is_private ? "\"private\":true," : "\"private\":false,"));
    assert_int_equal(last_charge_says("\"spent_worst\":null,"), !is_private);
    const bool adds_up = is_private && has_unit_of(mechanism, two);
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        assert_int_equal(run_text(two, job_of(100), "the\n", from_pipe, &error),
                         adds_up ? TEM_OK : TEM_ERR_BUDGET);
        assert_true(adds_up || error.line == 2);
    }
    assert_int_equal(run_text(two, job_of(0), "the\n", false, NULL), TEM_OK);
    assert_int_equal(balance.is_mixed, !has_unit_of(mechanism, two));
    clear(NULL);
    job.budget = 1000;
    assert_int_equal(run_text(mechanism, job, text, false, &error),
                     is_private ? TEM_OK : TEM_ERR_ARGUMENT);
    if (!is_private) { /* the whole reason */
        assert_non_null(strstr(error.message, why));
        assert_true(why[strlen(why) - 1] != '.' && strchr(why, ';') != NULL);
    }
}

static void test_unbounded(void **state) {
    (void)state;
    static const char *const texts[] = {"the\n", "the xyzzy, the!\n"};
    tem_mechanism *em = mechanism_of("em", 2), *published = mechanism_of("madlib", 2);
    /* It draws as TEM does, and says nothing about it. */
    tem_mechanism silent = *two;
    mechanism_ops says_nothing = *two->ops;
    says_nothing.properties.guarantee = TEM_GUARANTEE_NONE;
    silent.ops = &says_nothing;
    const tem_mechanism *const mechanisms[] = {two, em, published, &silent};
    for (int m = 0; m < 4; m++)
        for (int oov = 0; oov <= TEM_OOV_KEEP_UNSAFE; oov++)
            for (int punctuation = 0; punctuation <= TEM_PUNCTUATION_WORD; punctuation++)
                for (int i = 0; i < 4; i++) {
                    tem_job job = job_of(0);
                    job.text.oov = (tem_oov)oov;
                    job.text.punctuation = (tem_punctuation)punctuation;
                    job.insecure_seeded = i / 2;
                    check_decision(mechanisms[m], job, texts[i % 2],
                                   m < 2 && i < 2 && oov <= TEM_OOV_UNIFORM &&
                                       punctuation != TEM_PUNCTUATION_KEEP);
                }
    tem_mechanism_free(em);
    tem_mechanism_free(published);
}

/* Of the mechanisms of the library these alone have a bound, and no others are charged as if they
 * had one. */
static void test_every_mechanism(void **state) {
    (void)state;
    static const char *const bounded[] = {"tem",    "em", "rank", "coin", "permute-and-flip",
                                          "santext"};
    unsigned made = 0;
    for (unsigned i = 0; tem_mechanism_at(i) != NULL; i++) {
        const tem_mechanism_properties *p = tem_mechanism_at(i);
        const uint8_t listed[64] = {1, 1};
        const tem_mechanism_options options = {
            .mechanism = p->name,
            .epsilon = strcmp(p->name, "gumbel") == 0 ? 1000 : 2,
            .listed = p->list != NULL ? listed : NULL,
            .allow_no_guarantee = 1,
        };
        tem_mechanism *mechanism = NULL;
        bool is_bounded = false;
        if (tem_mechanism_create(model, &options, &mechanism, NULL) != TEM_OK)
            continue; /* another metric */
        for (size_t k = 0; k < sizeof bounded / sizeof *bounded; k++)
            is_bounded |= strcmp(p->name, bounded[k]) == 0;
        check_decision(mechanism, job_of(0), "the xyzzy, the!\n", is_bounded);
        tem_mechanism_free(mechanism);
        made++;
    }
    assert_true(made >= 15);
}

/* Another model has other distances: its charges cannot be added. A model without a file cannot be
 * told from others. */
static void test_another_model(void **state) {
    (void)state;
    tem_error error;
    tem_model *other = NULL;
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 2};
    const double distances[] = {0, 1, 1, 0};
    assert_int_equal(tem_model_build_matrix(words, 2, distances, 0, NULL, &other, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(other, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(run_text(mechanism, job_of(100), "the\n", false, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(run_text(two, job_of(0), "the\n", false, NULL), TEM_OK);
    assert_int_equal(run_text(mechanism, job_of(0), "the\n", false, NULL), TEM_OK);
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        assert_int_equal(run_text(two, job_of(100), "the\n", from_pipe, &error), TEM_ERR_BUDGET);
        assert_int_equal(error.line, 3);
        assert_non_null(strstr(error.message, "another model"));
    }
    tem_mechanism_free(mechanism);
    tem_model_free(other);
}

static double bound_of(const tem_mechanism *mechanism) {
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    assert_true(info.bound == info.epsilon_gamma && info.bound > 0);
    return info.bound;
}

/* Bounds between any two inputs add up over models: the worst-case budget takes charges of any
 * model, and refuses what goes beyond it. */
static void test_worst_budget(void **state) {
    (void)state;
    tem_error error;
    tem_model *other = NULL;
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 2};
    const double distances[] = {0, 1, 1, 0};
    assert_int_equal(tem_model_build_matrix(words, 2, distances, 0, NULL, &other, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(other, &options, &mechanism, NULL), TEM_OK);
    const double ours = bound_of(two), theirs = bound_of(mechanism);
    for (int from_pipe = 0; from_pipe < 2; from_pipe++) {
        clear(NULL);
        tem_job job = job_of(0);
        assert_int_equal(run_text(mechanism, job, "the the\n", from_pipe, NULL), TEM_OK);
        job.budget_worst = 2 * theirs + 3.5 * ours;
        assert_int_equal(run_text(two, job, "the movie\n", from_pipe, NULL), TEM_OK);
        assert_true(fabs(balance.worst_before - 2 * theirs) < 1e-9);
        assert_true(fabs(balance.worst_left - 1.5 * ours) < 1e-9);
        assert_true(isinf(balance.left));
        assert_int_equal(run_text(two, job, "the movie\n", from_pipe, &error), TEM_ERR_BUDGET);
        assert_non_null(strstr(error.message, "worst"));
        assert_int_equal(run_text(two, job, "the\n", from_pipe, NULL), TEM_OK);
        job.budget = 100; /* which also needs one unit */
        assert_int_equal(run_text(two, job, "the\n", from_pipe, &error), TEM_ERR_BUDGET);
        assert_int_equal(error.line, 2);
        job = job_of(100);
        job.budget_worst = 0.5 * ours; /* less than what is spent */
        clear(NULL);
        assert_int_equal(run_text(two, job, "the\n", from_pipe, &error), TEM_ERR_BUDGET);
    }
    tem_mechanism_free(mechanism);
    tem_model_free(other);
}

/* A law that does not fall off with the distance has no gamma. Its charge has its own unit, and its
 * bound, which budgets for the worst case take. */
static void check_charge_without_gamma(const char *name, const char *unit) {
    tem_mechanism *mechanism = mechanism_of(name, 2);
    tem_mechanism_info info;
    tem_error error;
    char said[96];
    tem_mechanism_get_info(mechanism, &info);
    assert_true(info.gamma_steps == 0 && isinf(info.epsilon_gamma));
    assert_true(info.bound > 0 && isfinite(info.bound));
    assert_memory_equal(info.unit, unit, strlen(unit));
    tem_job job = job_of(0);
    job.budget_worst = 4.5 * info.bound;
    clear(NULL);
    assert_int_equal(run_text(mechanism, job, "the movie\n", false, NULL), TEM_OK);
    snprintf(said, sizeof said, "\"unit\":\"%s\"", info.unit);
    assert_true(last_charge_says("\"gamma\":null,") && last_charge_says(said));
    assert_true(last_charge_says("\"epsilon_gamma\":null,"));
    assert_true(number_in_ledger("\"bound\":") >= info.bound);
    assert_true(number_in_ledger("\"bound\":") < info.bound + 1e-11);
    assert_true(fabs(balance.worst_left - 2.5 * info.bound) < 1e-9);
    assert_int_equal(run_text(mechanism, job, "the the the\n", false, &error), TEM_ERR_BUDGET);
    assert_int_equal(run_text(mechanism, job, "the the\n", true, NULL), TEM_OK);
    assert_int_equal(run_text(mechanism, job_of(100), "the\n", false, NULL), TEM_OK);
    assert_int_equal(run_text(two, job_of(100), "the\n", false, &error), TEM_ERR_BUDGET);
    assert_non_null(strstr(error.message, "another unit"));
    tem_mechanism_free(mechanism);
}

static void test_charges_without_gamma(void **state) {
    (void)state;
    check_charge_without_gamma("rank", "rank/c=1/");
    check_charge_without_gamma("coin", "word/");
}

/* Reads the ledger as a run in this unit does. Returns the first line in another unit, or 0. */
static uint64_t first_other_unit(const char *unit) {
    ledger l;
    assert_int_equal(ledger_open(&l, path, NULL, model_info.hash, unit, salt, false, NULL, NULL),
                     TEM_OK);
    const uint64_t line = l.unit_line;
    ledger_close(&l);
    return line;
}

/* Writes a charge in this unit. */
static void charge_in_unit(const char *unit) {
    ledger l;
    sample s;
    assert_int_equal(open_ledger(&l, NULL, NULL), TEM_OK);
    make_sample(&s, 10, NULL, 0);
    s.run[RUN_UNIT].text = unit;
    assert_int_equal(ledger_lock(&l, NULL), TEM_OK);
    assert_int_equal(ledger_add(&l, &s.charge, NULL), TEM_OK);
    ledger_close(&l);
    free_sample(&s);
}

/* PRIVACY: epsilon per distance and epsilon per step of a rank have no sum. */
static void test_another_unit(void **state) {
    (void)state;
    charge_in_unit("distance/angular");
    assert_int_equal(first_other_unit("distance/angular"), 0);
    assert_int_equal(first_other_unit("distance/euclidean"), 2);
    assert_int_equal(first_other_unit("rank/0123"), 2);
    charge_in_unit("rank/0123");
    assert_int_equal(first_other_unit("distance/angular"), 3);
    assert_int_equal(first_other_unit("rank/0123"), 2);
    assert_int_equal(first_other_unit("rank/012"), 2);
}

/* A charge of a version that knew no units was per unit of the distance of its model, and its bound
 * was epsilon gamma. */
static void test_charge_of_an_earlier_version(void **state) {
    (void)state;
    sample s;
    core_buffer line = {0}, file = {0};
    char before[LEDGER_CHECK_DIGITS], header[LEDGER_HEADER_BYTES];
    ledger_header first = {.bytes = LEDGER_HEADER_BYTES};
    memcpy(first.salt, salt, sizeof first.salt);
    ledger_first_check(&first, before);
    make_sample(&s, 12, NULL, 0);
    assert_int_equal(ledger_write_charge(&s.charge, before, &line, NULL), TEM_OK);
    line.size -= LEDGER_CHECK_DIGITS + 13; /* ,"check":"..."} and the line feed */
    static const char added[] = ",\"unit\":\"distance/angular\",\"bound\":11.557830810547";
    char *found = memmem(line.data, line.size, added, strlen(added));
    assert_non_null(found);
    line.size -= strlen(added);
    memmove(found, found + strlen(added), line.size - (size_t)(found - line.data));
    assert_true(ledger_seal(&line, before) && core_buffer_add(&line, "\n", 1));
    first.bytes += line.size;
    ledger_write_header(&first, header);
    assert_true(core_buffer_add(&file, header, sizeof header) &&
                core_buffer_add(&file, line.data, line.size));
    write_bytes(path, file.data, file.size);
    assert_int_equal(first_other_unit("distance/angular"), 0);
    assert_int_equal(first_other_unit("rank/0123"), 2);
    ledger l;
    assert_int_equal(open_ledger(&l, NULL, NULL), TEM_OK);
    assert_true(l.common[COST_EPSILON] == 36 * AMOUNT_ONE);
    assert_true(l.common[COST_BOUND] == 12 * (amount)11557830810547);
    ledger_close(&l);
    core_buffer_free(&line);
    core_buffer_free(&file);
    free_sample(&s);
}

/* Each person has a worst-case budget, too. */
static void test_worst_budget_of_people(void **state) {
    (void)state;
    tem_job job = job_of(0);
    job.format = TEM_FORMAT_JSONL;
    job.field = "text";
    job.by = "user";
    job.budget_worst = 2.5 * bound_of(two);
    static const char both[] = "{\"user\":\"ann\",\"text\":\"the\"}\n"
                               "{\"user\":\"bob\",\"text\":\"the movie\"}\n";
    static const char ann[] = "{\"user\":\"ann\",\"text\":\"the\"}\n",
                      bob[] = "{\"user\":\"bob\",\"text\":\"the\"}\n";
    assert_int_equal(run_text(two, job, both, false, NULL), TEM_OK);
    assert_int_equal(run_text(two, job, bob, false, NULL), TEM_ERR_BUDGET);
    assert_int_equal(run_text(two, job, ann, false, NULL), TEM_OK);
    assert_int_equal(run_text(two, job, ann, true, NULL), TEM_ERR_BUDGET);
}

/* A file that grows between counting and release: text that was not counted is not released. */
typedef struct growth {
    uint64_t told;
} growth;

static int grow_input(void *context, const char *stage, uint64_t done, uint64_t total) {
    growth *g = context;
    (void)done, (void)total;
    if (strcmp(stage, "privatizing") == 0 && g->told++ == 0) {
        FILE *file = fopen(input, "ab");
        fputs("the movie was good\n", file);
        fclose(file);
    }
    return 0;
}

static void test_growing_file(void **state) {
    (void)state;
    growth g = {0};
    const tem_run run = {.progress = grow_input, .progress_context = &g};
    const tem_job job = job_of(100);
    tem_error error;
    write_text(input, "the movie\n");
    assert_int_equal(tem_privatize_files(two, &job, &run, NULL, &balance, NULL, &error),
                     TEM_ERR_FILE);
    assert_non_null(strstr(error.message, "changed"));
    assert_false(is_there(output));
    assert_true(spent_in_ledger() == 4);
}

/* Many runs on many threads share a budget of 100 words; each run has 7 words. */
enum { RUNNERS = 8, RUNS = 6 };
static atomic_uint_fast64_t released;

static void *run_often(void *context) {
    (void)context;
    for (int i = 0; i < RUNS; i++) {
        tem_job job = job_of(200);
        tem_counts counts = {0};
        char name[160];
        const char *const inputs[] = {input};
        snprintf(name, sizeof name, "%s-%lx", output, (unsigned long)pthread_self());
        job.inputs = inputs;
        job.output = name;
        const tem_run run = {.threads = 1};
        if (tem_privatize_files(two, &job, &run, &counts, NULL, NULL, NULL) == TEM_OK)
            atomic_fetch_add(&released, counts.words);
        unlink(name);
    }
    return NULL;
}

static void test_many_runs(void **state) {
    (void)state;
    pthread_t runners[RUNNERS];
    atomic_store(&released, 0);
    write_text(input, "the movie was good\nthe movie was\n");
    for (int i = 0; i < RUNNERS; i++)
        assert_int_equal(pthread_create(&runners[i], NULL, run_often, NULL), 0);
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(runners[i], NULL);
    assert_int_equal(atomic_load(&released), 98); /* 14 of 48 runs, 7 words each */
    assert_true(spent_in_ledger() == 196);
}

/* ---- texts in memory ---- */

static tem_document document_of(uint64_t count, const char *person) {
    return (tem_document){.counts = {.documents = 1, .words = count},
                          .person = person,
                          .person_bytes = person != NULL ? strlen(person) : 0};
}

static tem_status charge_words(const tem_mechanism *mechanism, tem_job job, uint64_t count,
                               tem_error *error) {
    const tem_document document = document_of(count, NULL);
    balance = (tem_balance){.left = -1};
    return tem_job_charge(mechanism, &job, &document, 1, NULL, &balance, error);
}

/* The same account as for files: ten words at a tenth cost 1, exactly, and no word more fits. */
static void test_texts_in_memory(void **state) {
    (void)state;
    tem_error error;
    tem_job dry = job_of(1);
    dry.dry_run = 1;
    assert_int_equal(run_text(tenth, job_of(1), "the movie was good\n", false, NULL), TEM_OK);
    assert_int_equal(charge_words(tenth, job_of(1), 7, &error), TEM_ERR_BUDGET);
    assert_non_null(strstr(error.message, "0.7"));
    assert_true(balance.spent == 0 && balance.spent_before == 0.4);
    assert_int_equal(charge_words(tenth, dry, 6, NULL), TEM_OK);
    assert_true(balance.left == 0 && balance.spent_before == 0.4);
    assert_int_equal(charge_words(tenth, job_of(1), 6, NULL), TEM_OK);
    assert_true(balance.left == 0 && balance.spent_before == 0.4 && spent_in_ledger() == 1);
    assert_int_equal(charge_words(tenth, job_of(1), 1, NULL), TEM_ERR_BUDGET);
    assert_int_equal(run_text(tenth, job_of(1), "the\n", false, NULL), TEM_ERR_BUDGET);
    assert_int_equal(tem_job_charge(tenth, &dry, NULL, 0, NULL, &balance, NULL), TEM_OK);
    assert_true(balance.left == 0 && balance.spent == 0);
}

/* Words without a document, by the caller's count, cost as much as other words. */
static void test_texts_without_documents(void **state) {
    (void)state;
    const tem_document words_alone = {.counts = {.words = 3}};
    const tem_job job = job_of(0);
    assert_int_equal(tem_job_charge(two, &job, &words_alone, 1, NULL, &balance, NULL), TEM_OK);
    assert_true(spent_in_ledger() == 6);
}

/* Ann and Bob have a budget of 6 each, three words; one word too many for either charges nobody. */
static void test_texts_of_people(void **state) {
    (void)state;
    tem_error error;
    tem_job job = job_of(6);
    job.by = "who";
    tem_document documents[] = {document_of(2, "ann"), document_of(3, "bob"),
                                document_of(2, "ann")};
    assert_int_equal(tem_job_charge(two, &job, documents, 3, NULL, &balance, &error),
                     TEM_ERR_BUDGET);
    assert_non_null(
        strstr(error.message, "for 1 of the 2 people who have words: the person of record 1, "));
    assert_true(spent_in_ledger() == 0);
    assert_int_equal(tem_job_charge(two, &job, documents, 2, NULL, &balance, NULL), TEM_OK);
    assert_true(balance.people == 2 && balance.left == 0 && spent_in_ledger() == 10);
    const tem_job file = people_job(TEM_FORMAT_TSV, 6);
    assert_int_equal(run_text(two, file, "who\ttext\nbob\tthe\n", false, NULL), TEM_ERR_BUDGET);
    assert_int_equal(run_text(two, file, "who\ttext\nann\tthe\n", false, NULL), TEM_OK);
    const tem_document nameless[] = {document_of(0, "ann"), document_of(0, NULL)};
    assert_int_equal(tem_job_charge(two, &job, nameless, 2, NULL, &balance, &error),
                     TEM_ERR_FORMAT);
    assert_true(error.line == 2 && error.byte == 0 && error.file[0] == '\0');
    job.by = NULL;
    assert_int_equal(tem_job_charge(two, &job, nameless, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
}

static void test_texts_refused(void **state) {
    (void)state;
    const uint64_t half = UINT64_MAX / 2;
    tem_job job = job_of(0);
    tem_document documents[] = {document_of(half, NULL), document_of(half, NULL),
                                document_of(4, NULL)};
    assert_int_equal(tem_job_charge(two, &job, documents, 3, NULL, &balance, NULL), TEM_ERR_RANGE);
    assert_false(is_there(path));
    const tem_document unseen[] = {{.counts = {.documents = 1, .words = 1, .unknown = half + 1}},
                                   {.counts = {.documents = 1, .words = 1, .unknown = half + 1}}};
    assert_int_equal(tem_job_charge(two, &job, unseen, 2, NULL, &balance, NULL), TEM_ERR_RANGE);
    job.text.oov = (tem_oov)77;
    assert_int_equal(tem_job_charge(two, &job, documents, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
    job = job_of(0);
    assert_false(is_there(path));
    assert_int_equal(tem_job_charge(NULL, &job, documents, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_job_charge(two, NULL, documents, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_job_charge(two, &job, NULL, 1, NULL, &balance, NULL), TEM_ERR_ARGUMENT);
    job.by = "";
    assert_int_equal(tem_job_charge(two, &job, documents, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
    job = job_of(10);
    job.text.oov = TEM_OOV_MASK;
    assert_int_equal(tem_job_charge(two, &job, documents, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
    job.ledger = NULL;
    assert_int_equal(tem_job_charge(two, &job, documents, 1, NULL, &balance, NULL),
                     TEM_ERR_ARGUMENT);
    assert_false(is_there(path));
}

#ifdef TEM_FAULTS
/* The cost of the output, 2 per word. */
static double cost_of_output(void) {
    core_buffer out = read_bytes(output);
    double cost = 0;
    for (char *word = strtok(out.data, " \n"); word != NULL; word = strtok(NULL, " \n"))
        cost += 2;
    core_buffer_free(&out);
    return cost;
}

/* The nth allocation or system call fails: the ledger never says less than came out, and stays
 * readable. */
static void fail_everywhere(bool from_pipe, bool exists) {
    static const char text[] = "the movie\nwas\ngood\n";
    tem_mechanism_info info;
    tem_mechanism_get_info(two, &info);
    for (uint64_t n = 1;; n++) {
        clear(NULL);
        if (exists)
            charge_in_unit(info.unit);
        core_fault_arm(n);
        const tem_status status = run_to_stdout(two, job_of(100), text, from_pipe, output, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        const double before = exists ? 30 : 0, spent = spent_in_ledger() - before;
        assert_true(spent >= cost_of_output());
        assert_true(spent == 0 || spent == 8);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(spent == 8 && n > 20);
            return;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
}

static void test_faults(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        fail_everywhere(i % 2 == 0, i / 2 == 0);
}

/* A failed charge may count or not; a successful one is in the ledger. */
static void test_faults_of_texts(void **state) {
    (void)state;
    tem_job job = job_of(100);
    const tem_document documents[] = {document_of(2, "ann"), document_of(1, "bob")};
    job.by = "who";
    for (uint64_t n = 1;; n++) {
        clear(NULL);
        core_fault_arm(n);
        const tem_status status = tem_job_charge(two, &job, documents, 2, NULL, &balance, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        const double spent = spent_in_ledger();
        assert_true(spent == 6 || (spent == 0 && status != TEM_OK));
        if (!hit) {
            assert_true(status == TEM_OK && n > 10);
            return;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts_of_numbers),
        cmocka_unit_test(test_amounts_are_safe),
        cmocka_unit_test(test_amounts_as_text),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_charge),
        cmocka_unit_test(test_charge_without_bound),
        cmocka_unit_test(test_hostile_lines),
        cmocka_unit_test_teardown(test_file, clear),
        cmocka_unit_test_teardown(test_two_handles, clear),
        cmocka_unit_test_teardown(test_lock, clear),
        cmocka_unit_test_teardown(test_torn_line, clear),
        cmocka_unit_test_teardown(test_cut, clear),
        cmocka_unit_test_teardown(test_changed, clear),
        cmocka_unit_test_teardown(test_lines_moved, clear),
        cmocka_unit_test_teardown(test_not_a_ledger, clear),
        cmocka_unit_test_teardown(test_replaced, clear),
        cmocka_unit_test(test_people),
        cmocka_unit_test_teardown(test_budget_is_reached, clear),
        cmocka_unit_test_teardown(test_cost_is_rounded_up, clear),
        cmocka_unit_test_teardown(test_charge_tells_the_mechanism, clear),
        cmocka_unit_test_teardown(test_standard_input_is_read_again, clear),
        cmocka_unit_test_teardown(test_budget_is_exceeded, clear),
        cmocka_unit_test_teardown(test_charged_before_release, clear),
        cmocka_unit_test_teardown(test_broken_text, clear),
        cmocka_unit_test_teardown(test_dry_run, clear),
        cmocka_unit_test_teardown(test_by_person, clear),
        cmocka_unit_test_teardown(test_first_record_that_costs, clear),
        cmocka_unit_test_teardown(test_by_person_in_a_pipe, clear),
        cmocka_unit_test_teardown(test_nobody, clear),
        cmocka_unit_test_teardown(test_job_refused, clear),
        cmocka_unit_test_teardown(test_ledger_is_another_file, clear),
        cmocka_unit_test_teardown(test_unbounded, clear),
        cmocka_unit_test_teardown(test_every_mechanism, clear),
        cmocka_unit_test_teardown(test_another_model, clear),
        cmocka_unit_test_teardown(test_worst_budget, clear),
        cmocka_unit_test_teardown(test_charges_without_gamma, clear),
        cmocka_unit_test_teardown(test_another_unit, clear),
        cmocka_unit_test_teardown(test_charge_of_an_earlier_version, clear),
        cmocka_unit_test_teardown(test_worst_budget_of_people, clear),
        cmocka_unit_test_teardown(test_growing_file, clear),
        cmocka_unit_test_teardown(test_many_runs, clear),
        cmocka_unit_test_teardown(test_texts_in_memory, clear),
        cmocka_unit_test_teardown(test_texts_without_documents, clear),
        cmocka_unit_test_teardown(test_texts_of_people, clear),
        cmocka_unit_test_teardown(test_texts_refused, clear),
#ifdef TEM_FAULTS
        cmocka_unit_test_teardown(test_faults, clear),
        cmocka_unit_test_teardown(test_faults_of_texts, clear),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
