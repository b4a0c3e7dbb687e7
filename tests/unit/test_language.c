/* test_language.c - language models as files: what is written is read again; every damaged byte is
 * refused; tables that contradict themselves are refused although all hashes fit, at the latest
 * when a row is used; and the perplexity of a text, against its definition. */
#include "language/language_file.h"
#include "pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_model.h"

#include "core/memory.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 6 };
static const char *const names[WORDS] = {"v0", "v1", "v2", "v3", "v4", "v5"};
static tem_model *model;
static char text_path[64], file_path[64];

static void write_text(const char *text) {
    FILE *file = fopen(text_path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
    (void)state;
    static const float values[WORDS] = {3, 1, 4, 1.5F, 9, 2};
    model = small_model(names, values, WORDS, 1, TEM_EUCLIDEAN, 3);
    snprintf(text_path, sizeof text_path, "/tmp/tem-test-language-%ld", (long)getpid());
    snprintf(file_path, sizeof file_path, "/tmp/tem-test-language-%ld.temlm", (long)getpid());
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(text_path);
    unlink(file_path);
    tem_model_free(model);
    return 0;
}

/* Words that nobody else has, in an order that repeats. */
static tem_language *small_language(uint32_t order) {
    static const tem_language_options options = {
        .name = "small", .origin = "a test\nof two lines", .license = "none", .lift = 50};
    const char *paths[] = {text_path};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    write_text("v0 v1 v2 v0 v1 v3\nv0 v1 v2 v2, odd v4\nv5 v4 v0 v1 v2\nv1 v1 odd odd v0\n");
    assert_int_equal(tem_ngram_train(model, paths, 1, order, NULL, &ngram, NULL), TEM_OK);
    assert_int_equal(tem_language_make(ngram, &options, NULL, &language, NULL), TEM_OK);
    tem_ngram_free(ngram);
    return language;
}

/* ------------------------------------------------------------- positions -- */

/* All pasts of up to two words, kinds included. */
enum { SYMBOLS = WORDS + 1, PASTS = 1 + SYMBOLS + SYMBOLS * SYMBOLS };

static tem_status position_after(const tem_language *language, unsigned past,
                                 position_weights *at) {
    uint32_t words[2];
    const uint32_t count = past == 0 ? 0 : past <= SYMBOLS ? 1 : 2;
    unsigned rest = past == 0 ? 0 : count == 1 ? past - 1 : past - 1 - SYMBOLS;
    for (uint32_t i = 0; i < count; i++, rest /= SYMBOLS)
        words[i] = rest % SYMBOLS == WORDS ? RELEASED_MASK : rest % SYMBOLS;
    const released_past before = {.words = words, .count = count};
    *at = (position_weights){.state = language->state};
    return language->ops->position(language->state, NULL, &before, at, NULL);
}

/* Whether both give all words the same weights. may_refuse: or refuse the position. */
static bool agree(const tem_language *one, const tem_language *other, bool may_refuse) {
    for (unsigned past = 0; past < PASTS; past++) {
        position_weights a, b;
        assert_int_equal(position_after(one, past, &a), TEM_OK);
        const tem_status status = position_after(other, past, &b);
        if (status == TEM_ERR_DAMAGED && may_refuse)
            continue;
        assert_int_equal(status, TEM_OK);
        if (a.total != b.total)
            return false;
        for (uint32_t y = 0; y < WORDS; y++)
            if (one->ops->weight(&a, y) != other->ops->weight(&b, y))
                return false;
    }
    return true;
}

static void test_a_file_is_read_again(void **state) {
    (void)state;
    for (uint32_t order = 2; order <= 3; order++) {
        tem_language *made = small_language(order), *read = NULL;
        tem_language_info a, b;
        assert_int_equal(tem_language_save(made, file_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
        assert_int_equal(tem_language_save(made, file_path, TEM_KEEP_EXISTING, NULL, NULL),
                         TEM_ERR_EXISTS);
        assert_int_equal(tem_language_open(model, file_path, &read, NULL), TEM_OK);
        tem_language_get_info(made, &a);
        tem_language_get_info(read, &b);
        assert_memory_equal(&a, &b, sizeof a);
        assert_string_equal(a.name, "small");
        assert_string_equal(tem_language_origin(read), "a test\nof two lines");
        assert_string_equal(tem_language_license(read), "none");
        assert_int_equal(a.order, order);
        assert_int_equal(a.words, WORDS);
        assert_true(a.bigrams > 5 && (a.trigrams > 5) == (order == 3));
        assert_true(a.lift == 50 && a.temper == 1);
        assert_true(agree(made, read, false));
        assert_true(read->ids != NULL && read->base != NULL && read->numbered == WORDS);
        tem_language_free(read);
        tem_language_free(made);
    }
}

/* ----------------------------------------------------------------- trust -- */

static void test_files_are_not_trusted(void **state) {
    (void)state;
    tem_language *made = small_language(3), *read = NULL;
    char other[65];
    assert_int_equal(tem_language_save(made, file_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_true(tem_language_is_trusted(made));
    for (int way = 0; way < 3; way++) {
        assert_int_equal(tem_language_open(model, file_path, &read, NULL), TEM_OK);
        assert_false(tem_language_is_trusted(read));
        assert_int_equal(read->ops->check(read->state, NULL), TEM_ERR_UNTRUSTED);
        memcpy(other, read->hash, sizeof other);
        other[9] = other[9] == 'a' ? 'b' : 'a';
        assert_int_equal(tem_language_trust(read, other, NULL), TEM_ERR_UNTRUSTED);
        assert_false(tem_language_is_trusted(read));
        if (way == 0)
            assert_int_equal(tem_language_verify(read, NULL, NULL), TEM_OK);
        else if (way == 1)
            assert_int_equal(tem_language_trust(read, made->hash, NULL), TEM_OK);
        else
            tem_language_trust_own(read);
        assert_true(tem_language_is_trusted(read));
        assert_int_equal(read->ops->check(read->state, NULL), TEM_OK);
        tem_language_free(read);
    }
    tem_language_free(made);
}

static void test_other_words_are_refused(void **state) {
    (void)state;
    static const char *const others[WORDS] = {"v0", "v1", "v2", "v3", "v5", "v4"};
    static const float values[WORDS] = {3, 1, 4, 1.5F, 9, 2};
    tem_model *other = small_model(others, values, WORDS, 1, TEM_EUCLIDEAN, 3);
    tem_language *made = small_language(3), *read = NULL;
    tem_language_evaluation evaluation;
    assert_int_equal(tem_language_save(made, file_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_language_open(other, file_path, &read, NULL), TEM_ERR_UNSUPPORTED);
    assert_int_equal(tem_language_evaluate(made, other, text_path, NULL, &evaluation, NULL),
                     TEM_ERR_UNSUPPORTED);
    tem_language_free(made);
    tem_model_free(other);
}

/* ---------------------------------------------------------------- damage -- */

/* Opens a copy of these bytes. */
static tem_status open_bytes(const char *bytes, size_t count, tem_language **out) {
    char *copy = core_alloc(count, 1);
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    return language_from_view((file_view){.data = copy, .size = count}, "x", model, out, NULL);
}

/* One bit of each byte, in turn: the file is not opened, or not verified; and what is drawn before
 * somebody verifies it has the right weights. */
static void test_every_damaged_byte_is_refused(void **state) {
    (void)state;
    tem_language *made = small_language(3), *read = NULL;
    const file_view *file = &language_state(made)->file;
    char *bytes = test_malloc(file->size);
    unsigned opened = 0;
    memcpy(bytes, file->data, file->size);
    for (size_t i = 0; i < file->size; i++) {
        bytes[i] ^= (char)(1 << i % 8);
        if (open_bytes(bytes, file->size, &read) == TEM_OK) {
            opened++;
            if (!agree(made, read, true))
                fail_msg("byte %zu: other weights", i);
            if (tem_language_verify(read, NULL, NULL) != TEM_ERR_DAMAGED)
                fail_msg("byte %zu: verified", i);
            assert_false(tem_language_is_trusted(read));
            tem_language_free(read);
        }
        bytes[i] = file->data[i];
    }
    assert_int_equal(opened, 0); /* the body is one block, and opening looks at words */
    for (size_t size = 0; size < file->size; size++)
        assert_int_not_equal(open_bytes(bytes, size, &read), TEM_OK);
    test_free(bytes);
    tem_language_free(made);
}

/* A body of several blocks: opening looks at some of them only. */
static tem_language *large_language(void) {
    const char *paths[] = {text_path};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    char *origin = test_calloc(LANGUAGE_BLOCK + 1, 1);
    memset(origin, 'o', LANGUAGE_BLOCK - 64 * 4);
    const tem_language_options options = {.origin = origin};
    FILE *file = fopen(text_path, "w");
    random_state = 3;
    for (int i = 0; i < 3000; i++)
        fprintf(file, "v%d%s", (int)random_below(7), i % 40 == 39 ? "\n" : " ");
    fclose(file);
    assert_int_equal(tem_ngram_train(model, paths, 1, 3, NULL, &ngram, NULL), TEM_OK);
    assert_int_equal(tem_language_make(ngram, &options, NULL, &language, NULL), TEM_OK);
    tem_ngram_free(ngram);
    test_free(origin);
    return language;
}

static void test_blocks_are_checked_when_they_are_used(void **state) {
    (void)state;
    tem_language *made = large_language(), *read = NULL;
    const ngram_language *n = language_state(made);
    char *bytes = test_malloc(n->file.size);
    unsigned opened = 0;
    memcpy(bytes, n->file.data, n->file.size);
    assert_true(n->layout.blocks >= 2);
    for (size_t i = n->layout.body; i < n->file.size; i++) {
        bytes[i] ^= (char)(1 << i % 8);
        if (open_bytes(bytes, n->file.size, &read) == TEM_OK) {
            opened++;
            if (!agree(made, read, true))
                fail_msg("byte %zu: other weights", i);
            assert_int_equal(tem_language_verify(read, NULL, NULL), TEM_ERR_DAMAGED);
            tem_language_free(read);
        }
        bytes[i] = n->file.data[i];
    }
    assert_true(opened > 1000);
    test_free(bytes);
    tem_language_free(made);
}

/* Tables with this number changed, under hashes that fit. */
static void refuse_forged(const tem_language *made, const uint32_t *place, uint32_t value) {
    uint32_t *at = (uint32_t *)(uintptr_t)place;
    const uint32_t kept = *at;
    const ngram_language *n = language_state(made);
    language_header header = n->header;
    char *bytes = NULL;
    tem_language *read = NULL;
    *at = value;
    const text_sources none = {.texts = NULL};
    assert_int_equal(language_write(&n->l, &header, "", "", &none, &bytes, NULL), TEM_OK);
    *at = kept;
    const file_view view = {.data = bytes, .size = header.file_bytes};
    if (language_from_view(view, "x", model, &read, NULL) != TEM_OK)
        return;
    bool any = false;
    for (unsigned past = 0; past < PASTS; past++) {
        position_weights b;
        any |= position_after(read, past, &b) == TEM_ERR_DAMAGED;
    }
    assert_true(any);
    assert_int_equal(tem_language_verify(read, NULL, NULL), TEM_ERR_DAMAGED);
    tem_language_free(read);
}

static void test_forged_tables_are_refused(void **state) {
    (void)state;
    tem_language *made = small_language(3);
    const levels *l = &language_state(made)->l;
    const levels_rows *const tables[] = {&l->two, &l->three};
    refuse_forged(made, &l->ids[1], l->ids[0]);
    refuse_forged(made, &l->ids[1], WORDS);
    refuse_forged(made, &l->e1[2], 0);
    for (int t = 0; t < 2; t++) {
        const levels_rows *r = tables[t];
        uint32_t row = 0;
        while (r->starts[row + 1] < r->starts[row] + 2)
            row++;
        const uint32_t first = r->starts[row], last = r->starts[row + 1] - 1;
        refuse_forged(made, &r->factors[row], 0);
        refuse_forged(made, &r->starts[row + 1], r->entries + 1);
        refuse_forged(made, &r->starts[row + 1], UINT32_MAX);
        refuse_forged(made, &r->numbers[last], WORDS);
        refuse_forged(made, &r->sums[last], r->sums[first]);
    }
    refuse_forged(made, &l->pair_starts[1], l->three.count + 1);
    refuse_forged(made, &l->pair_seconds[0], WORDS + 2);
    tem_language_free(made);
}

/* -------------------------------------------------------- what is refused -- */

static void test_options(void **state) {
    (void)state;
    static const tem_language_options wrong[] = {{.temper = -1},
                                                 {.temper = 5},
                                                 {.temper = NAN},
                                                 {.lift = 0.5},
                                                 {.lift = INFINITY},
                                                 {.lift = NAN},
                                                 {.name = "a\nb"},
                                                 {.name = "a\x1b[2J"},
                                                 {.origin = "\x7f"},
                                                 {.license = "\xc2\x9b"},
                                                 {.name = "0123456789012345678901234567890123456789"
                                                          "012345678901234567890123"},
                                                 {.reserved = {1}}};
    const char *paths[] = {text_path};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    write_text("v0 v1\n");
    assert_int_equal(tem_ngram_train(model, paths, 1, 3, NULL, &ngram, NULL), TEM_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (tem_language_make(ngram, &wrong[i], NULL, &language, NULL) != TEM_ERR_ARGUMENT)
            fail_msg("options %zu were taken", i);
    assert_null(language);
    tem_ngram_free(ngram);
}

/* ---------------------------------------------- the texts that it is made of -- */

/* Runs the file text_path through the language model, to standard output, which nobody sees: what
 * is there cannot be taken back. */
static tem_status run_file(const tem_language *language, bool is_dry, tem_counts *counts) {
    const char *paths[] = {text_path};
    const tem_mechanism_options options = {.epsilon = 1, .language = language};
    const tem_job job = {.inputs = paths, .input_count = 1, .dry_run = is_dry};
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(fflush(stdout), 0);
    const int seen = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    assert_true(seen >= 0 && dup2(nowhere, STDOUT_FILENO) == STDOUT_FILENO);
    const tem_status status = tem_privatize_files(mechanism, &job, NULL, counts, NULL, NULL, NULL);
    assert_int_equal(dup2(seen, STDOUT_FILENO), STDOUT_FILENO);
    close(nowhere);
    close(seen);
    tem_mechanism_free(mechanism);
    return status;
}

static tem_language *language_of(const char *text) {
    const char *paths[] = {text_path};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    write_text(text);
    assert_int_equal(tem_ngram_train(model, paths, 1, 2, NULL, &ngram, NULL), TEM_OK);
    assert_int_equal(tem_language_make(ngram, NULL, NULL, &language, NULL), TEM_OK);
    tem_ngram_free(ngram);
    return language;
}

/* A file with the content of the text is refused, though another name has it, and nothing is
 * counted; one byte more, and its lines are found: those of five known words. */
static void test_its_own_text_is_refused(void **state) {
    (void)state;
    static const char *const text = "v0 v1 v2 v3 v4\nv0 v1\nv1 v1 v2 odd v3 v4\n";
    tem_language *made = language_of(text), *read = NULL;
    assert_int_equal(tem_language_save(made, file_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(tem_language_open(model, file_path, &read, NULL), TEM_OK);
    assert_int_equal(tem_language_verify(read, NULL, NULL), TEM_OK);
    for (int dry = 0; dry < 2; dry++) {
        tem_counts counts = {.words = 77};
        write_text(text);
        assert_int_equal(run_file(read, dry, &counts), TEM_ERR_ARGUMENT);
        write_text("v0 v1 v2 v3 v4\nv0 v1\nv1 v1 v2 odd v3 v4\n\n");
        assert_int_equal(run_file(read, dry, &counts), TEM_OK);
        assert_int_equal(counts.public_documents, 2);
        assert_int_equal(counts.public_found, 2);
        write_text("V1, v1 (v2) rare: v3 v4!\nv0 v1 v2 v4 v3\nv0 v1\nv0 v1 v2 v3\n");
        assert_int_equal(run_file(read, dry, &counts), TEM_OK);
        assert_int_equal(counts.public_documents, 1);
    }
    tem_language_free(read);
    tem_language_free(made);
}

/* Runs standard input, which is `descriptor`, and closes that. */
static tem_status run_standard(const tem_language *language, int descriptor) {
    const tem_mechanism_options options = {.epsilon = 1, .language = language};
    const tem_job job = {.output = file_path, .overwrite = TEM_OVERWRITE};
    tem_mechanism *mechanism = NULL;
    assert_int_equal(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
    close(descriptor);
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    const tem_status status = tem_privatize_files(mechanism, &job, NULL, NULL, NULL, NULL, NULL);
    tem_mechanism_free(mechanism);
    return status;
}

/* Standard input is no way around that: neither as a file, which is looked at first and then read
 * from where it was, nor as a pipe, which leaves no output. */
static void test_its_own_text_on_standard_input(void **state) {
    (void)state;
    static const char *const text = "v0 v1 v2 v3 v4\nv0 v1\n";
    tem_language *language = language_of(text);
    int ends[2];
    unlink(file_path);
    assert_int_equal(run_standard(language, open(text_path, O_RDONLY)), TEM_ERR_ARGUMENT);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    assert_int_equal(run_standard(language, ends[0]), TEM_ERR_ARGUMENT);
    assert_int_not_equal(access(file_path, F_OK), 0);
    write_text("v0 v1 v2 v3 v4\nv0 v0\n");
    assert_int_equal(run_standard(language, open(text_path, O_RDONLY)), TEM_OK);
    char written[80] = "";
    FILE *file = fopen(file_path, "r");
    assert_non_null(file);
    assert_true(fread(written, 1, sizeof written - 1, file) >= strlen(text));
    assert_int_equal(fclose(file), 0);
    tem_language_free(language);
}

static uint32_t hash_of(uint32_t number) {
    line_hash h = {.state = 0};
    for (unsigned i = 0; i < SOURCE_LINE_WORDS; i++, number /= 100)
        line_hash_add(&h, number % 100);
    assert_true(line_hash_counts(&h));
    return line_hash_end(&h);
}

/* Most documents. Where a line that is found stands for others, few are chance. */
static void test_few_lines_of_a_sample_say_nothing(void **state) {
    (void)state;
    static const struct {
        uint64_t documents;
        uint32_t public;
        uint16_t found;
        int are_public;
    } cases[] = {{3, 2, 2, 1},   {10, 5, 5, 0},  {0, 0, 0, 0},  {10, 8, 1, 0},
                 {20, 24, 3, 0}, {60, 32, 4, 1}, {80, 32, 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tem_counts counts = {.documents = cases[i].documents,
                                   .public_documents = cases[i].public,
                                   .public_found = cases[i].found};
        assert_int_equal(tem_counts_are_public(&counts), cases[i].are_public);
    }
    assert_int_equal(tem_counts_are_public(NULL), 0);
}

/* Of many lines a sample: whichever order they come in, alone or from two texts. Those that are
 * there, and others, are found about as often as they are. */
static void test_many_lines_are_sampled(void **state) {
    (void)state;
    enum { LINES = 1500000, FEW = 1000 };
    text_sources one = {.texts = NULL}, two = {.texts = NULL}, few = {.texts = NULL};
    uint64_t found = 0, others = 0;
    for (uint32_t i = 0; i < LINES; i++) {
        assert_int_equal(text_sources_add_line(&one, hash_of(i), NULL), TEM_OK);
        if (i >= FEW)
            assert_int_equal(text_sources_add_line(&two, hash_of(LINES - 1 - (i - FEW)), NULL),
                             TEM_OK);
        else
            assert_int_equal(text_sources_add_line(&few, hash_of(i), NULL), TEM_OK);
    }
    text_sources_settle(&one);
    text_sources_settle(&two);
    text_sources_settle(&few);
    assert_true(few.line_count == FEW && few.line_shift == 0);
    assert_true(one.line_shift == 3 && one.line_count <= SOURCE_LINES_MOST);
    assert_int_equal(text_sources_add(&few, &two, NULL), TEM_OK);
    assert_true(few.line_count == one.line_count && few.line_shift == one.line_shift);
    assert_memory_equal(few.lines, one.lines, one.line_count * sizeof *one.lines);
    for (uint32_t i = 0; i < LINES; i++) {
        found += text_sources_find_line(&one, hash_of(i));
        others += text_sources_find_line(&one, hash_of(LINES + i));
    }
    /* Five times the deviation of a sample: 8 sqrt(LINES / 8 * 7/8); of other lines 0.03 % are
     * taken for one. */
    assert_true(found > LINES - 17000 && found < LINES + 17000);
    assert_true(others < LINES / 500);
    text_sources_free(&one);
    text_sources_free(&two);
    text_sources_free(&few);
}

static void test_forged_sources(void **state) {
    (void)state;
    tem_language *made = language_of("v0 v1 v2 v3 v4\nv1 v1 v2 odd v3 v4\n");
    const ngram_language *n = language_state(made);
    static uint32_t hashes[] = {7, 7};
    for (int i = 0; i < 4; i++) {
        text_sources forged = {.lines = hashes, .line_count = 2, .line_shift = i == 1 ? 32 : 0};
        if (i == 2)
            forged.line_count = SOURCE_LINES_MOST + 1;
        if (i == 3)
            hashes[1] = 8;
        language_header header = n->header;
        char *bytes = NULL;
        tem_language *read = NULL;
        if (i == 2)
            forged.lines = test_calloc(forged.line_count, sizeof *forged.lines);
        assert_int_equal(language_write(&n->l, &header, "", "", &forged, &bytes, NULL), TEM_OK);
        if (i == 2)
            test_free(forged.lines);
        const file_view view = {.data = bytes, .size = header.file_bytes};
        const bool opens = i == 0 || i == 3;
        assert_int_equal(language_from_view(view, "x", model, &read, NULL),
                         opens ? TEM_OK : TEM_ERR_DAMAGED);
        if (opens)
            assert_int_equal(tem_language_verify(read, NULL, NULL),
                             i == 3 ? TEM_OK : TEM_ERR_DAMAGED);
        if (opens)
            tem_language_free(read);
    }
    tem_language_free(made);
}

/* ------------------------------------------------------------- perplexity -- */

static void test_perplexity(void **state) {
    (void)state;
    tem_language *language = small_language(3);
    tem_language_evaluation e;
    /* v1 after v0 at the begin; v2 after the unknown word after v1, and so on. */
    static const unsigned pasts[] = {0, 1 + 0, 1 + SYMBOLS + 1 + WORDS * SYMBOLS, 0};
    static const uint32_t words[] = {0, 1, 2, 5};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        position_weights at;
        assert_int_equal(position_after(language, pasts[i], &at), TEM_OK);
        sum -= log((double)language->ops->weight(&at, words[i]) / (double)at.total);
    }
    write_text("v0 v1, odd v2\n\n , \nv5\n");
    assert_int_equal(tem_language_evaluate(language, model, text_path, NULL, &e, NULL), TEM_OK);
    assert_int_equal(e.documents, 2);
    assert_int_equal(e.words, 5);
    assert_int_equal(e.unknown, 1);
    assert_true(fabs(e.perplexity - exp(sum / 4)) < 1e-9);
    assert_true(e.without > 1);
    write_text("odd\n");
    assert_int_equal(tem_language_evaluate(language, model, text_path, NULL, &e, NULL),
                     TEM_ERR_FORMAT);
    tem_language_free(language);
}

/* ------------------------------------------------------- what comes with tem -- */

static void touch(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* Beside the model, then beside the program and where it is installed; outputs stay untouched where
 * nothing is found. */
static void test_find_english(void **state) {
    (void)state;
    char folder[] = "/tmp/tem-test-english-XXXXXX", bin[64], share[64], model_path[80];
    char beside[96], installed[96], found[128] = "untouched";
    const char *const folders[] = {"/nowhere", bin};
    int own = 7;
    assert_non_null(mkdtemp(folder));
    snprintf(bin, sizeof bin, "%s/bin", folder);
    snprintf(share, sizeof share, "%s/share", folder);
    snprintf(model_path, sizeof model_path, "%s/own.tem", folder);
    snprintf(beside, sizeof beside, "%s/english.temlm", folder);
    snprintf(installed, sizeof installed, "%s/tem", share);
    assert_true(mkdir(bin, 0700) == 0 && mkdir(share, 0700) == 0 && mkdir(installed, 0700) == 0);
    snprintf(installed, sizeof installed, "%s/tem/english.temlm", share);
    assert_int_equal(
        tem_language_find_english(model_path, 1, folders, 2, found, sizeof found, &own, NULL),
        TEM_ERR_FILE);
    assert_string_equal(found, "untouched");
    assert_int_equal(own, 7);
    touch(installed);
    assert_int_equal(
        tem_language_find_english(model_path, 0, folders, 2, found, sizeof found, &own, NULL),
        TEM_OK);
    assert_true(own == 1 && strstr(found, "/bin/../share/tem/english.temlm") != NULL);
    touch(beside);
    for (int is_own = 0; is_own < 2; is_own++) {
        assert_int_equal(tem_language_find_english(model_path, is_own, folders, 2, found,
                                                   sizeof found, &own, NULL),
                         TEM_OK);
        assert_string_equal(found, beside);
        assert_int_equal(own, is_own);
    }
    const size_t bytes = strlen(beside) + 1;
    assert_int_equal(tem_language_find_english(model_path, 1, NULL, 0, found, bytes, &own, NULL),
                     TEM_OK);
    assert_int_equal(
        tem_language_find_english(model_path, 1, NULL, 0, found, bytes - 1, &own, NULL),
        TEM_ERR_RANGE);
    assert_true(unlink(beside) == 0 && unlink(installed) == 0 && rmdir(bin) == 0);
    *strrchr(installed, '/') = '\0';
    assert_true(rmdir(installed) == 0 && rmdir(share) == 0 && rmdir(folder) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_is_read_again),
        cmocka_unit_test(test_its_own_text_is_refused),
        cmocka_unit_test(test_its_own_text_on_standard_input),
        cmocka_unit_test(test_few_lines_of_a_sample_say_nothing),
        cmocka_unit_test(test_many_lines_are_sampled),
        cmocka_unit_test(test_forged_sources),
        cmocka_unit_test(test_files_are_not_trusted),
        cmocka_unit_test(test_other_words_are_refused),
        cmocka_unit_test(test_every_damaged_byte_is_refused),
        cmocka_unit_test(test_blocks_are_checked_when_they_are_used),
        cmocka_unit_test(test_forged_tables_are_refused),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_perplexity),
        cmocka_unit_test(test_find_english),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
