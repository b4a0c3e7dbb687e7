/* test_text_erasure.c - no freed memory contains the private text.
 *
 * The program is linked with --wrap, so it sees every block that the library frees. It searches the
 * block for a word of the text, original and folded. It fills every block that it hands out, so
 * that it finds only what the library wrote. It cannot check libunistring's own memory. */
#include "core/buffer.h"
#include "tem.h"
#include "tem_bag.h"
#include "text/pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_model.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__real_core_alloc(size_t count, size_t size);
void *__wrap_core_alloc(size_t count, size_t size);
void __real_core_free(void *block);
void __wrap_core_free(void *block);

/* Longer than what malloc may leave of an older block behind a newer one. One is in ASCII, the
 * other goes through libunistring; each as it was and as it is folded. */
#define SIXTEEN(c) c c c c c c c c c c c c c c c c
static const char *const secrets[] = {SIXTEEN("AsciiQx"), SIXTEEN("asciiqx"),
                                      SIXTEEN("\u00c9\u00d6\u0160"), SIXTEEN("\u00e9\u00f6\u0161")};
enum { SECRETS = sizeof secrets / sizeof *secrets };

/* Another text to search for, if a test sets it. */
static const void *also;
static size_t also_bytes;

static atomic_uint freed, leaked;

void *__wrap_core_alloc(size_t count, size_t size) {
    void *block = __real_core_alloc(count, size);
    if (block != NULL)
        memset(block, 0xa5, count * size);
    return block;
}

void __wrap_core_free(void *block) {
    const size_t bytes = block == NULL ? 0 : malloc_usable_size(block);
    atomic_fetch_add(&freed, block != NULL);
    for (unsigned i = 0; i < SECRETS && bytes > 0; i++)
        if (memmem(block, bytes, secrets[i], strlen(secrets[i])) != NULL)
            atomic_fetch_add(&leaked, 1);
    if (also != NULL && bytes > 0 && memmem(block, bytes, also, also_bytes) != NULL)
        atomic_fetch_add(&leaked, 1);
    __real_core_free(block);
}

static tem_model *model;
static tem_mechanism *mechanism;

static int make_mechanism(void **state) {
    (void)state;
    static const float values[] = {0, 1, 2, 4, 8, 16};
    model = small_model(NULL, values, 6, 1, TEM_EUCLIDEAN, 3);
    const tem_mechanism_options options = {.epsilon = 2};
    return tem_mechanism_create(model, &options, &mechanism, NULL) == TEM_OK ? 0 : -1;
}

static int free_mechanism(void **state) {
    (void)state;
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return 0;
}

/* A mixed text that makes buffers grow, with both secrets at its start and its end. */
static char *make_text(size_t *bytes) {
    const size_t fillers = 3000;
    char *text = calloc(fillers + 4, 128);
    assert_non_null(text);
    char *end = text + sprintf(text, "w1 <b>%s</b> %s", secrets[0], secrets[2]);
    for (size_t i = 0; i < fillers; i++)
        end += sprintf(end, " w%zu", i % 9);
    end += sprintf(end, " %s, %s", secrets[2], secrets[0]);
    *bytes = (size_t)(end - text);
    return text;
}

static void begin(void) {
    atomic_store(&freed, 0);
    atomic_store(&leaked, 0);
}

static void check(void) {
    assert_true(atomic_load(&freed) > 0);
    assert_int_equal(atomic_load(&leaked), 0);
}

/* Shows that the search can find a leak. */
static void test_seen(void **state) {
    (void)state;
    begin();
    char *block = __wrap_core_alloc(1000, 1);
    strcpy(block + 100, secrets[3]);
    __wrap_core_free(block);
    assert_int_equal(atomic_load(&leaked), 1);
}

/* Short and long texts, with all policies except those that hand the text to the caller. */
static void test_texts(void **state) {
    (void)state;
    size_t bytes = 0;
    char *text = make_text(&bytes);
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    for (int oov = TEM_OOV_UNIFORM; oov <= TEM_OOV_MASK; oov++)
        for (int strip = 0; strip <= 1; strip++)
            for (int whole = 0; whole <= 1; whole++) {
                const size_t size = whole ? bytes : (size_t)(strstr(text, " w0") - text);
                const tem_text_options options = {.oov = (tem_oov)oov, .strip_tags = strip};
                char *out = NULL;
                size_t out_bytes = 0;
                begin();
                assert_int_equal(tem_privatize_text(mechanism, &options, rng, text, size, NULL,
                                                    &out, &out_bytes, NULL, NULL),
                                 TEM_OK);
                tem_text_free(out);
                check();
            }
    /* A text that is refused at its second line. */
    char *out = NULL;
    size_t out_bytes = 0;
    const tem_text_options lines = {.keep_lines = 1};
    memcpy(text + bytes - 2, "\n\xff", 2);
    begin();
    assert_int_equal(
        tem_privatize_text(mechanism, &lines, rng, text, bytes, NULL, &out, &out_bytes, NULL, NULL),
        TEM_ERR_FORMAT);
    check();
    tem_rng_free(rng);
    free(text);
}

static void test_pieces(void **state) {
    (void)state;
    size_t bytes = 0, count = 0;
    char *text = make_text(&bytes);
    begin();
    assert_int_equal(tem_model_pieces(model, text, bytes, NULL, 0, &count, NULL), TEM_OK);
    assert_true(count > 3000);
    check();
    free(text);
}

/* A buffer that is used again keeps nothing of the document before: neither what was removed from
 * its end, nor what was written to reserved room without being added. */
static void test_cleared_buffer(void **state) {
    (void)state;
    enum { COPIES = 20 };
    const size_t length = strlen(secrets[0]);
    core_buffer b = {0};
    core_buffer_clear(&b);
    for (int turn = 1; turn <= 3; turn++) {
        for (int i = 0; i < COPIES * turn; i++)
            assert_true(core_buffer_add(&b, secrets[0], length));
        assert_true(core_buffer_reserve(&b, length));
        memcpy(b.data + b.size, secrets[0], length);
        b.size = (size_t)turn;
        assert_true(b.capacity > 0);
        core_buffer_clear(&b);
        assert_int_equal(b.size, 0);
        for (size_t i = 0; i < (COPIES * (size_t)turn + 1) * length; i++)
            assert_int_equal(b.data[i], 0);
    }
    begin();
    assert_true(core_buffer_add(&b, secrets[0], length));
    core_buffer_free(&b);
    check();
}

static const uint32_t secret_id = 0x5ec12e75;

static uint32_t find_secret_id(const void *vocabulary, const char *word, size_t length) {
    (void)vocabulary, (void)word, (void)length;
    return secret_id;
}

/* Short words, the most recent of which are cached, and the ids of all. */
static void test_words_and_ids(void **state) {
    (void)state;
    static char text[64 << 10];
    static const char word[] = "zyxwvuts ";
    for (size_t at = 0; at + sizeof word < sizeof text; at += sizeof word - 1)
        memcpy(text + at, word, sizeof word - 1);
    const void *const patterns[] = {word, &secret_id};
    const size_t sizes[] = {8, sizeof secret_id};
    for (int i = 0; i < 2; i++) {
        text_pieces p;
        begin();
        also = patterns[i];
        also_bytes = sizes[i];
        text_pieces_init(&p, find_secret_id, NULL);
        for (size_t bytes = strlen(text); bytes > 8; bytes /= 8)
            assert_int_equal(text_pieces_cut(&p, text, bytes, NULL), TEM_OK);
        assert_true(p.recent != NULL && p.pieces[0].id == secret_id);
        text_pieces_free(&p);
        also = NULL;
        check();
    }
}

/* Words by their ids: a run that only counts, and a run that fails before it draws, leave the ids
 * as they came. */
static void test_ids(void **state) {
    (void)state;
    enum { IDS = 3000 };
    static uint32_t ids[IDS], out[IDS];
    for (uint32_t i = 0; i < IDS; i++)
        ids[i] = i * i % 5;
    const tem_ids_input document = {.ids = ids, .count = IDS};
    const tem_job counting = {.dry_run = 1};
    const tem_job failing = {.ledger = "/tmp/no-such-directory/ledger"};
    also = ids;
    also_bytes = 64;
    begin();
    assert_int_equal(
        tem_privatize_ids(mechanism, &counting, &document, 1, NULL, out, NULL, NULL, NULL), TEM_OK);
    check();
    begin();
    assert_int_equal(
        tem_privatize_ids(mechanism, &failing, &document, 1, NULL, out, NULL, NULL, NULL),
        TEM_ERR_FILE);
    check();
    also = NULL;
}

/* Two documents of different words, without repetition, so that the arrays of the bags are full:
 * the last ids of both, as they are and as sorted keys, and the distances of a word. */
static void test_bags(void **state) {
    (void)state;
    enum { WORDS = 256, A = 5, B = 7 };
    static const uint32_t a[A] = {250, 201, 255, 233, 245}, b[B] = {7, 99, 254, 180, 253, 3, 190};
    static float values[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        values[i] = (float)(i * i % 251);
    tem_model *many = small_model(NULL, values, WORDS, 1, TEM_EUCLIDEAN, 3);
    const uint32_t ends[2][2] = {{250, 255}, {253, 254}};
    const uint64_t keys[] = {(uint64_t)250 << 32, (uint64_t)255 << 32 | 2};
    const uint32_t costs[] = {tem_model_distance(many, 255, 190),
                              tem_model_distance(many, 255, 253),
                              tem_model_distance(many, 255, 254)};
    const void *const patterns[] = {ends[0], ends[1], keys, costs};
    const size_t sizes[] = {sizeof ends[0], sizeof ends[1], sizeof keys, sizeof costs};
    for (int i = 0; i < 4; i++) {
        tem_bag_distance distance;
        also = patterns[i];
        also_bytes = sizes[i];
        begin();
        assert_int_equal(tem_bag_measure(many, a, A, b, B, NULL, NULL, &distance, NULL), TEM_OK);
        also = NULL;
        check();
    }
    tem_model_free(many);
}

/* A file of some records with the text in a field of each format, people named by it, and a
 * ledger. */
static void check_file(tem_format format, const char *header, const char *beginning,
                       const char *end, const char *by) {
    char folder[] = "/tmp/tem-erasure-XXXXXX", in[64], out[64], ledger[64];
    size_t bytes = 0;
    char *text = make_text(&bytes);
    assert_non_null(mkdtemp(folder));
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(ledger, sizeof ledger, "%s/ledger", folder);
    FILE *file = fopen(in, "wb");
    assert_non_null(file);
    fprintf(file, "%s", header);
    for (int i = 0; i < 5; i++)
        fprintf(file, "%s%s%s", beginning, text, end);
    fclose(file);
    const char *const inputs[] = {in};
    const tem_job job = {.inputs = inputs,
                         .input_count = 1,
                         .output = out,
                         .format = format,
                         .field = format == TEM_FORMAT_TEXT ? NULL : "text",
                         .ledger = ledger,
                         .by = by};
    const tem_run run = {.threads = 2};
    tem_counts counts = {0};
    begin();
    assert_int_equal(tem_privatize_files(mechanism, &job, &run, &counts, NULL, NULL, NULL), TEM_OK);
    assert_true(counts.words > 3000);
    check();
    unlink(in);
    unlink(out);
    unlink(ledger);
    assert_int_equal(rmdir(folder), 0);
    free(text);
}

static void test_files(void **state) {
    (void)state;
    char person[512], json[512];
    snprintf(person, sizeof person, "%s,\"", secrets[0]);
    snprintf(json, sizeof json, "{\"name\":\"%s\\u0021\",\"text\":\"a\\n", secrets[2]);
    check_file(TEM_FORMAT_TEXT, "", "", "\n", NULL);
    check_file(TEM_FORMAT_TSV, "id\ttext\n", "1\t", "\n", NULL);
    check_file(TEM_FORMAT_CSV, "name,text\n", person, "\"\n", "name");
    check_file(TEM_FORMAT_JSONL, "", json, "\"}\n", "name");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seen),   cmocka_unit_test(test_texts),
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_words_and_ids),
        cmocka_unit_test(test_files),  cmocka_unit_test(test_cleared_buffer),
        cmocka_unit_test(test_ids),    cmocka_unit_test(test_bags),
    };
    return cmocka_run_group_tests(tests, make_mechanism, free_mechanism);
}
