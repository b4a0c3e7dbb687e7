/* test_vectors.c - embedding files, numbers, and the reading and writing of files.
 *
 * tests/data/vectors has a small file for every case, with its verdict in the name; the table below
 * has the exact message for each. The directory is $TEM_TEST_DATA, or tests/data. If built with
 * TEM_FAULTS, the program also makes the nth allocation or system call fail, for all n. */
#include "core/fault.h"
#include "core/number.h"
#include "io/file.h"
#include "model/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------- helpers -- */

static const char *data_path(const char *name) {
    static char path[4096];
    const char *folder = getenv("TEM_TEST_DATA");
    snprintf(path, sizeof path, "%s/vectors/%s", folder == NULL ? "tests/data" : folder, name);
    return path;
}

static char scratch[64];

static int make_scratch(void **state) {
    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/tem-test-vectors-XXXXXX");
    return mkdtemp(scratch) == NULL;
}

static int remove_scratch(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    return system(command);
}

static const char *scratch_path(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void write_bytes(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *path, const char *expected) {
    char buffer[256] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(buffer, 1, sizeof buffer - 1, file);
    fclose(file);
    assert_int_equal(got, strlen(expected));
    assert_string_equal(buffer, expected);
}

static unsigned count_files(const char *folder) {
    unsigned count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing))
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

/* xorshift64*: the same tokens in every run. */
static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_u64(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

static unsigned random_below(unsigned n) {
    return (unsigned)((random_u64() >> 33) % n);
}

static tem_status from_text(const char *text, uint64_t limit, tem_vectors **out, tem_error *error) {
    vectors_source source = {.path = "text", .data = text, .size = strlen(text), .limit = limit};
    return vectors_from_bytes(&source, out, error);
}

static void assert_word(const tem_vectors *vectors, uint32_t id, const char *expected) {
    size_t length = 0;
    const char *word = vocab_word(&vectors->words, id, &length);
    assert_non_null(word);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(word, expected, length);
}

static void assert_same(const tem_vectors *a, const tem_vectors *b) {
    size_t count = (size_t)a->words.count * a->dimension;
    assert_string_equal(a->format, b->format);
    assert_int_equal(a->words.count, b->words.count);
    assert_int_equal(a->dimension, b->dimension);
    assert_int_equal(a->words.byte_count, b->words.byte_count);
    assert_memory_equal(a->words.bytes, b->words.bytes, a->words.byte_count);
    assert_memory_equal(a->words.starts, b->words.starts,
                        (a->words.count + (size_t)1) * sizeof *a->words.starts);
    assert_true((a->values == NULL) == (b->values == NULL));
    if (a->values != NULL)
        assert_memory_equal(a->values, b->values, count * sizeof *a->values);
    else
        assert_memory_equal(a->grid, b->grid, count * sizeof *a->grid);
}

/* ------------------------------------------------------- kept files -- */

#define WITH_PYTHON "in Python, tem.Model.build(array, words) takes the array and its words"
#define PICKLE                                                                                     \
    "expected vectors, found a Python pickle. For gensim, "                                        \
    "KeyedVectors.load(FILE).save_word2vec_format(OUT) in Python writes a file that tem reads"

typedef struct kept_file {
    const char *name;
    uint64_t line, byte;
    const char *message; /* or, for a valid file, its format */
    uint32_t count, dimension;
} kept_file;

#define GLOVE "GloVe text"
#define TEXT "word2vec text"
#define BINARY "word2vec binary"
#define GRID "tem vectors"

static const kept_file kept_files[] = {
    {"ok-fasttext.vec", 0, 0, TEXT, 3, 3},
    {"ok-gensim.bin", 0, 0, BINARY, 3, 3},
    {"ok-glove-crlf.txt", 0, 0, GLOVE, 3, 3},
    {"ok-glove-dimension1.txt", 0, 0, GLOVE, 3, 1},
    {"ok-glove-members.txt.gz", 0, 0, GLOVE, 3, 3},
    {"ok-glove-nbsp.txt", 0, 0, GLOVE, 2, 3},
    {"ok-glove-no-final-newline.txt", 0, 0, GLOVE, 3, 3},
    {"ok-glove-spaces-first.txt", 0, 0, GLOVE, 2, 3},
    {"ok-glove-spaces.txt", 0, 0, GLOVE, 5, 3},
    {"ok-glove-tabs.txt", 0, 0, GLOVE, 3, 3},
    {"ok-glove-trailing-spaces.txt", 0, 0, GLOVE, 3, 3},
    {"ok-glove.txt", 0, 0, GLOVE, 3, 3},
    {"ok-glove.txt.gz", 0, 0, GLOVE, 3, 3},
    {"ok-grid.temv", 0, 0, GRID, 3, 3},
    {"ok-grid.temv.gz", 0, 0, GRID, 3, 3},
    {"ok-prepared.temv", 0, 0, GRID, 3, 3},
    {"ok-word2vec-dimension1.txt", 0, 0, TEXT, 2, 1},
    {"ok-word2vec-newline-in-number.bin", 0, 0, BINARY, 2, 3},
    {"ok-word2vec-number-words.txt", 0, 0, TEXT, 3, 2},
    {"ok-word2vec-printable.bin", 0, 0, BINARY, 2, 1},
    {"ok-word2vec.bin", 0, 0, BINARY, 3, 3},
    {"ok-word2vec.bin.gz", 0, 0, BINARY, 3, 3},
    {"ok-word2vec.txt", 0, 0, TEXT, 3, 3},
    {"ok-word2vec.txt.gz", 0, 0, TEXT, 3, 3},
    {"refused-byte0-archive.zip", 0, 0, "expected vectors, found a zip archive: unpack it first", 0,
     0},
    {"refused-byte0-count-beyond.bin", 0, 0,
     "expected at most 2147483647 words, found 18446744073709551615", 0, 0},
    {"refused-byte0-model.vec", 0, 0,
     "expected vectors, found a model, which is built already: give the vectors that it was built "
     "from",
     0, 0},
    {"refused-byte0-pickle2.kv", 0, 0, PICKLE, 0, 0},
    {"refused-byte0-pickle4.kv", 0, 0, PICKLE, 0, 0},
    {"refused-byte0-pickle5.pkl", 0, 0, PICKLE, 0, 0},
    {"refused-byte0-array.npy", 0, 0,
     "expected vectors, found a NumPy array, which has no words: " WITH_PYTHON, 0, 0},
    {"refused-byte0-arrays.npz", 0, 0, "expected vectors, found NumPy arrays (.npz): " WITH_PYTHON,
     0, 0},
    {"refused-byte0-torch.pt", 0, 0, "expected vectors, found a PyTorch file: " WITH_PYTHON, 0, 0},
    {"refused-byte0-table.parquet", 0, 0, "expected vectors, found a Parquet table: " WITH_PYTHON,
     0, 0},
    {"refused-byte0-tensors.h5", 0, 0, "expected vectors, found an HDF5 file: " WITH_PYTHON, 0, 0},
    {"refused-byte0-tensors.safetensors", 0, 0,
     "expected vectors, found safetensors, which have no words: " WITH_PYTHON, 0, 0},
    {"refused-byte0-fasttext-model.bin", 0, 0,
     "expected vectors, found a fastText model: give the .vec file that fastText writes beside it",
     0, 0},
    {"refused-byte105-recipe-no-frame.temv", 0, 105, "expected a zstd frame of 29 bytes unpacked",
     0, 0},
    {"refused-byte0-count1.temv", 0, 0, "needs at least two words, found 1", 0, 0},
    {"refused-byte0-dimension0.temv", 0, 0, "expected words with 1 to 4096 numbers each, found 0",
     0, 0},
    {"refused-byte17-long-word.bin", 0, 17, "expected a word of at most 4096 bytes and a space", 0,
     0},
    {"refused-byte21-step3.temv", 0, 21, "expected a step of 2^-4 to 2^-30, found 2^-3", 0, 0},
    {"refused-byte21-step31.temv", 0, 21, "expected a step of 2^-4 to 2^-30, found 2^-31", 0, 0},
    {"refused-byte22-empty-word.bin", 0, 22, "the word is empty", 0, 0},
    {"refused-byte25-infinite-before-cut.bin", 0, 25, "number 1 of 3 is not finite", 0, 0},
    {"refused-byte29-nan.bin", 0, 29, "number 2 of 3 is not finite", 0, 0},
    {"refused-byte29-not-zero.temv", 0, 29, "expected 0 or 64, found 1", 0, 0},
    {"refused-byte29-recipe-63.temv", 0, 29, "expected 0 or 64, found 63", 0, 0},
    {"refused-byte29-recipe-huge.temv", 0, 29, "expected 0 or 64, found 4294967295", 0, 0},
    {"refused-byte31-count-huge.bin", 0, 31,
     "the file is cut short: expected at least 32772000000000 bytes after the header, found 14", 0,
     0},
    {"refused-byte33-word-bytes.temv", 0, 33, "the size of the words does not fit their number", 0,
     0},
    {"refused-byte37-cut-early.bin", 0, 37,
     "the file is cut short: expected at least 42 bytes after the header, found 32", 0, 0},
    {"refused-byte40-cut-header.temv", 0, 40,
     "the file is cut short: expected a header of 40 bytes", 0, 0},
    {"refused-byte41-checksum.temv", 0, 41, "the zstd frame is damaged", 0, 0},
    {"refused-byte41-content-size.temv", 0, 41, "expected a zstd frame of 35 bytes unpacked", 0, 0},
    {"refused-byte41-cut.txt.gz", 0, 41, "the gzip data is cut short: expected more after 40 bytes",
     0, 0},
    {"refused-byte41-last-word-open.temv", 0, 41, "expected a line feed after the last word", 0, 0},
    {"refused-byte41-no-frame.temv", 0, 41, "expected a zstd frame of 29 bytes unpacked", 0, 0},
    {"refused-byte41-recipe-columns.temv", 0, 41, "no preparation of vectors has this recipe", 0,
     0},
    {"refused-byte41-recipe-nan.temv", 0, 41, "no preparation of vectors has this recipe", 0, 0},
    {"refused-byte41-recipe-raw.temv", 0, 41, "no preparation of vectors has this recipe", 0, 0},
    {"refused-byte41-recipe-words.temv", 0, 41, "no preparation of vectors has this recipe", 0, 0},
    {"refused-byte41-value-16384.temv", 0, 41, "word 2 has a value outside -16383 to 16383", 0, 0},
    {"refused-byte41-words-missing.temv", 0, 41, "expected 3 words, as the header says, found 2", 0,
     0},
    {"refused-byte48-cut-in-word.bin", 0, 48, "the file is cut short: expected a word and a space",
     0, 0},
    {"refused-byte55-repeated.bin", 0, 55, "the word is there already, at byte 22", 0, 0},
    {"refused-byte55-rows-surplus.bin", 0, 55,
     "expected the end of the file after 3 words, found 15 bytes more", 0, 0},
    {"refused-byte55-surplus.bin", 0, 55,
     "expected the end of the file after 3 words, found 1 bytes more", 0, 0},
    {"refused-byte58-bomb.temv", 0, 58, "the file is cut short", 0, 0},
    {"refused-byte70-cut-in-numbers.bin", 0, 70, "the file is cut short: expected more numbers", 0,
     0},
    {"refused-byte73-garbage.txt.gz", 0, 73,
     "expected the end of the gzip data, found 7 bytes more", 0, 0},
    {"refused-byte78-cut.temv", 0, 78, "the zstd frame is damaged or cut short", 0, 0},
    {"refused-byte83-surplus.temv", 0, 83, "expected the end of the file, found 1 bytes more", 0,
     0},
    {"refused-byte91-recipe-cut.temv", 0, 91, "the file is cut short", 0, 0},
    {"refused-checksum.txt.gz", 0, 69, "the gzip data is damaged", 0, 0},
    {"refused-empty.txt", 0, 0, "expected vectors, found an empty file", 0, 0},
    {"refused-empty.txt.gz", 0, 0, "expected vectors, found an empty file", 0, 0},
    {"refused-line1-byte-order-mark.txt", 1, 0, "expected a word, found a byte order mark", 0, 0},
    {"refused-line1-dimension4097.txt", 1, 0,
     "expected words with 1 to 4096 numbers each, found 4097", 0, 0},
    {"refused-line1-header-count-huge.txt", 1, 0,
     "expected at most 2147483647 words, found 18446744073709551615", 0, 0},
    {"refused-line1-header-count1.txt", 1, 0, "needs at least two words, found 1", 0, 0},
    {"refused-line1-header-dimension0.txt", 1, 0,
     "expected words with 1 to 4096 numbers each, found 0", 0, 0},
    {"refused-line1-header-dimension4097.txt", 1, 0,
     "expected words with 1 to 4096 numbers each, found 4097", 0, 0},
    {"refused-line1-no-numbers.txt", 1, 0, "expected words with 1 to 4096 numbers each, found 0", 0,
     0},
    {"refused-line1-one-word.txt", 1, 0, "needs at least two words, found 1", 0, 0},
    {"refused-line2-blank-spaces.txt", 2, 0, "expected a word and 3 numbers, found a blank line", 0,
     0},
    {"refused-line2-blank.txt", 2, 0, "expected a word and 3 numbers, found a blank line", 0, 0},
    {"refused-line2-header-bad-number.txt", 2, 0, "number 2 of 3 is not a decimal number", 0, 0},
    {"refused-line2-header-only.txt", 2, 0,
     "the file is cut short: expected 2 rows, as the header says, found 0", 0, 0},
    {"refused-line2-header-short-row.txt", 2, 0, "expected a word and 3 numbers, found 3 columns",
     0, 0},
    {"refused-line2-hex.txt", 2, 0, "number 2 of 3 is not a decimal number", 0, 0},
    {"refused-line2-inf.txt", 2, 0, "number 3 of 3 is not finite", 0, 0},
    {"refused-line2-long-word.txt", 2, 0, "the word is longer than 4096 bytes", 0, 0},
    {"refused-line2-nan.txt", 2, 0, "number 2 of 3 is not finite", 0, 0},
    {"refused-line2-not-a-number.txt", 2, 0, "number 2 of 3 is not a decimal number", 0, 0},
    {"refused-line2-not-utf8.txt", 2, 0, "the word is not valid UTF-8", 0, 0},
    {"refused-line2-nul.txt", 2, 0, "the word contains NUL, tab or a line end", 0, 0},
    {"refused-line2-range-double.txt", 2, 0,
     "number 3 of 3 is out of range: expected less than 3.5e38", 0, 0},
    {"refused-line2-range.txt", 2, 0, "number 1 of 3 is out of range: expected less than 3.5e38", 0,
     0},
    {"refused-line2-tab-in-word.txt", 2, 0, "the word contains NUL, tab or a line end", 0, 0},
    {"refused-line3-columns.txt", 3, 0, "expected a word and 3 numbers, found 3 columns", 0, 0},
    {"refused-line3-empty-word.txt", 3, 0, "the word is empty", 0, 0},
    {"refused-line3-repeated-before-columns.txt", 3, 0, "the word is there already, at line 1", 0,
     0},
    {"refused-line3-too-many.txt", 3, 0, "expected a word and 3 numbers, found 5 columns", 0, 0},
    {"refused-line4-header-rows-surplus.txt", 4, 0,
     "expected 2 rows, as the header says, found more", 0, 0},
    {"refused-line4-repeated.txt", 4, 0, "the word is there already, at line 2", 0, 0},
    {"refused-line5-blank-end.txt", 5, 0, "expected a word and 3 numbers, found a blank line", 0,
     0},
    {"refused-line5-header-rows-missing.txt", 5, 0,
     "the file is cut short: expected 4 rows, as the header says, found 3", 0, 0},
    {"refused-word2-empty.temv", 0, 0, "word 2 is empty", 0, 0},
    {"refused-word3-repeated.temv", 0, 0, "word 3 is there already, as word 1", 0, 0},
};

enum { KEPT_COUNT = sizeof kept_files / sizeof *kept_files };

static void check_kept(const kept_file *kept) {
    tem_vectors *untouched = (tem_vectors *)&random_state, *vectors = untouched;
    tem_error error = {0};
    const char *path = data_path(kept->name);
    tem_status status = vectors_load(path, 0, NULL, &vectors, &error);
    if (strncmp(kept->name, "ok-", 3) == 0) {
        assert_int_equal(status, TEM_OK);
        assert_string_equal(vectors->format, kept->message);
        assert_int_equal(vectors->words.count, kept->count);
        assert_int_equal(vectors->dimension, kept->dimension);
        vectors_free(vectors);
        return;
    }
    assert_int_equal(status, TEM_ERR_FORMAT);
    assert_ptr_equal(vectors, untouched);
    assert_int_equal(error.status, TEM_ERR_FORMAT);
    assert_string_equal(error.file, path);
    assert_string_equal(error.message, kept->message);
    assert_int_equal(error.line, kept->line);
    assert_int_equal(error.byte, kept->byte);
    assert_int_equal(vectors_load(path, 0, NULL, &vectors, NULL), TEM_ERR_FORMAT);
}

static void test_kept_files(void **state) {
    (void)state;
    for (size_t i = 0; i < KEPT_COUNT; i++)
        check_kept(&kept_files[i]);
    /* The table names every file. */
    assert_int_equal(count_files(data_path("")), KEPT_COUNT);
}

static void test_three_rows_in_every_format(void **state) {
    static const char *const names[] = {"ok-glove.txt",      "ok-glove-crlf.txt",
                                        "ok-glove-tabs.txt", "ok-glove-no-final-newline.txt",
                                        "ok-glove.txt.gz",   "ok-glove-trailing-spaces.txt",
                                        "ok-word2vec.txt",   "ok-glove-members.txt.gz",
                                        "ok-fasttext.vec",   "ok-word2vec.txt.gz",
                                        "ok-word2vec.bin",   "ok-gensim.bin",
                                        "ok-word2vec.bin.gz"};
    static const float expected[9] = {0.5F, -1.25F, 3.0F, 1e-3F, 250.0F, 0.5F, 7.0F, -0.0F, 0.125F};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tem_vectors *vectors = NULL;
        assert_int_equal(vectors_load(data_path(names[i]), 0, NULL, &vectors, NULL), TEM_OK);
        assert_memory_equal(vectors->values, expected, sizeof expected);
        assert_word(vectors, 0, "the");
        assert_word(vectors, 1, "of");
        assert_word(vectors, 2, "and");
        vectors_free(vectors);
    }
}

static void test_grid(void **state) {
    static const int16_t expected[9] = {2048, -16383, 16383, 0, 1, -1, -300, 255, 256};
    tem_vectors *vectors = NULL;
    (void)state;
    assert_int_equal(vectors_load(data_path("ok-grid.temv"), 0, NULL, &vectors, NULL), TEM_OK);
    assert_memory_equal(vectors->grid, expected, sizeof expected);
    assert_null(vectors->values);
    assert_int_equal(vectors->step_log2, 11);
    assert_int_equal(vectors->deviation, 77);
    assert_word(vectors, 2, "and");
    assert_int_equal(vectors->recipe.space, 0);
    vectors_free(vectors);
}

static void test_recipe(void **state) {
    static const int16_t expected[9] = {2048, -100, 300, -5, 1, -1, -300, 255, 256};
    tem_vectors *vectors = NULL;
    (void)state;
    assert_int_equal(vectors_load(data_path("ok-prepared.temv"), 0, NULL, &vectors, NULL), TEM_OK);
    assert_memory_equal(vectors->grid, expected, sizeof expected);
    assert_int_equal(vectors->recipe.space, TEM_SPACE_SPHERE);
    assert_int_equal(vectors->recipe.given_words, 5);
    assert_int_equal(vectors->recipe.given_columns, 8);
    assert_int_equal(vectors->recipe.removed, 1);
    assert_true(vectors->recipe.scale == 6.5);
    vectors_free(vectors);
}

static void test_words_with_spaces(void **state) {
    static const char *const words[] = {"the", ". . .", "at name@domain.com", "2", "7 up"};
    static const float last[] = {3, 3, 6, 9, 1};
    tem_vectors *vectors = NULL;
    (void)state;
    assert_int_equal(vectors_load(data_path("ok-glove-spaces.txt"), 0, NULL, &vectors, NULL),
                     TEM_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_word(vectors, i, words[i]);
        assert_true(vectors->values[i * 3 + 2] == last[i]);
    }
    vectors_free(vectors);
    assert_int_equal(vectors_load(data_path("ok-glove-nbsp.txt"), 0, NULL, &vectors, NULL), TEM_OK);
    assert_word(vectors, 0, "at\u00a0name@domain.com");
    vectors_free(vectors);
}

/* ------------------------------------------------------- header, limit -- */

static void test_header_or_not(void **state) {
    static const struct {
        const char *text, *format;
        uint32_t count, dimension;
    } cases[] = {
        {"2 1\n7 1\n8 2\n", TEXT, 2, 1},  /* ambiguous; taken for the header */
        {"5 3\n7 1\n8 2\n", GLOVE, 3, 1}, /* the second line does not have three numbers */
        {"5 3\nNew York 1\nx 2\n", GLOVE, 3, 1},
        {"2 1.5\n7 1\n", GLOVE, 2, 1}, /* not two integers */
        {"2 -1\n7 1\n", GLOVE, 2, 1},
        {"2 1 1\n7 1 1\n", GLOVE, 2, 2},
        {"2\t2 \r\na 1 2\nb 3 4\n", TEXT, 2, 2},
        {"2 2\nNew York 1 2\nb 3 4", TEXT, 2, 2},
        {"1 99999\n2 0.5\n", GLOVE, 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tem_vectors *vectors = NULL;
        assert_int_equal(from_text(cases[i].text, 0, &vectors, NULL), TEM_OK);
        assert_string_equal(vectors->format, cases[i].format);
        assert_int_equal(vectors->words.count, cases[i].count);
        assert_int_equal(vectors->dimension, cases[i].dimension);
        vectors_free(vectors);
    }
}

static void test_wrong_guess_of_header_is_refused(void **state) {
    tem_vectors *vectors = NULL;
    tem_error error;
    (void)state;
    assert_int_equal(from_text("9 1\n7 1\n8 2\n", 0, &vectors, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, 4);
}

/* A short line among the first hundred does not lower the dimension of the rest. */
static void test_short_line_is_the_one_told(void **state) {
    tem_vectors *vectors = NULL;
    tem_error error;
    (void)state;
    assert_int_equal(from_text("a 1 2 3\nb 1 2\nc 1 2 3\n", 0, &vectors, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, 2);
    /* But words of several columns may be the majority. */
    assert_int_equal(from_text("New York 1 2\nb 1 2\nLos Angeles 1 2\n", 0, &vectors, &error),
                     TEM_OK);
    assert_int_equal(vectors->dimension, 2);
    assert_word(vectors, 2, "Los Angeles");
    vectors_free(vectors);
}

static void check_limit(const char *text, uint64_t limit, uint32_t count) {
    tem_vectors *vectors = NULL;
    assert_int_equal(from_text(text, limit, &vectors, NULL), TEM_OK);
    assert_int_equal(vectors->words.count, count);
    vectors_free(vectors);
}

static void test_limit(void **state) {
    tem_vectors *vectors = NULL;
    tem_error error;
    (void)state;
    check_limit("a 1\nb 2\nc 3\n", 2, 2);
    check_limit("a 1\nb 2\nc 3\n", 3, 3);
    check_limit("a 1\nb 2\nc 3", UINT64_MAX, 3);
    check_limit("a 1\nb 2\nc x\n", 2, 2); /* the rest is not read */
    check_limit("9 1\na 1\nb 2\n", 2, 2); /* cut short by the limit, not by the file */
    check_limit("2 1\na 1\nb 2\nc 3\n", 2, 2);
    assert_int_equal(from_text("2 1\na 1\nb 2\nc 3\n", 3, &vectors, &error), TEM_ERR_FORMAT);
    assert_int_equal(error.line, 4);
    assert_int_equal(from_text("9 1\na 1\nb 2\n", 3, &vectors, &error), TEM_ERR_FORMAT);
    assert_int_equal(from_text("a 1\nb 2\n", 1, &vectors, &error), TEM_ERR_ARGUMENT);
    static const char *const names[] = {"ok-word2vec.bin", "ok-grid.temv", "ok-gensim.bin"};
    for (int i = 0; i < 3; i++) {
        tem_vectors *all = NULL;
        assert_int_equal(vectors_load(data_path(names[i]), 0, NULL, &all, NULL), TEM_OK);
        assert_int_equal(vectors_load(data_path(names[i]), 2, NULL, &vectors, NULL), TEM_OK);
        assert_int_equal(vectors->words.count, 2);
        assert_word(vectors, 1, "of");
        if (all->grid != NULL)
            assert_memory_equal(vectors->grid, all->grid, 12);
        else
            assert_memory_equal(vectors->values, all->values, 24);
        vectors_free(all);
        vectors_free(vectors);
    }
}

/* ------------------------------------------------------------- threads -- */

typedef struct text {
    char *bytes;
    size_t size;
    uint32_t rows;
} text;

enum { TEXT_BYTES = 5 << 20, TEXT_DIMENSION = 12, MEBIBYTE = 1 << 20 };

/* Rows of different lengths, a few with spaces in the word. */
static text make_text(void) {
    text t = {malloc(TEXT_BYTES + 1024), 0, 0};
    assert_non_null(t.bytes);
    random_state = 7;
    while (t.size < TEXT_BYTES) {
        char *p = t.bytes + t.size;
        p += sprintf(p, t.rows % 17 == 5 ? "w %u end" : "word%u", t.rows);
        for (int i = 0; i < TEXT_DIMENSION; i++)
            p += sprintf(p, " %.*g", 1 + (int)random_below(12),
                         ((double)random_below(2000000) - 1e6) / 3e5);
        *p++ = '\n';
        t.size = (size_t)(p - t.bytes);
        t.rows++;
    }
    return t;
}

static tem_status from_bytes(const text *t, unsigned threads, size_t chunk_bytes, tem_vectors **out,
                             tem_error *error) {
    tem_run run = {.threads = threads};
    vectors_source source = {
        .path = "text", .data = t->bytes, .size = t->size, .run = &run, .chunk_bytes = chunk_bytes};
    return vectors_from_bytes(&source, out, error);
}

static void test_threads_do_not_matter(void **state) {
    static const unsigned threads[] = {2, 8, 8, 2};
    static const size_t chunks[] = {0, 0, 977, 65536};
    text t = make_text();
    tem_vectors *one = NULL;
    (void)state;
    assert_int_equal(from_bytes(&t, 1, SIZE_MAX / 2, &one, NULL), TEM_OK);
    assert_int_equal(one->words.count, t.rows);
    /* Compares with strtod, row by row, from the text itself. */
    const char *p = t.bytes;
    for (uint32_t row = 0; row < t.rows; row++) {
        p += row % 17 == 5
                 ? strcspn(strstr(p, " end ") + 1, " ") + (size_t)(strstr(p, " end ") - p) + 1
                 : strcspn(p, " ");
        for (int i = 0; i < TEXT_DIMENSION; i++) {
            char *end = NULL;
            assert_true(one->values[row * TEXT_DIMENSION + (uint32_t)i] == (float)strtod(p, &end));
            p = end;
        }
        p++;
    }
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        tem_vectors *many = NULL;
        assert_int_equal(from_bytes(&t, threads[i], chunks[i], &many, NULL), TEM_OK);
        assert_same(one, many);
        vectors_free(many);
    }
    vectors_free(one);
    free(t.bytes);
}

/* Every chunk size on a small text: each byte of it is a border once. */
static void test_every_chunk_border(void **state) {
    char small[] = "a 1 2\nbb 3 4\nc c 5 6\r\nd 7 8 \ne 9 10";
    text t = {small, sizeof small - 1, 5};
    tem_vectors *one = NULL;
    (void)state;
    assert_int_equal(from_bytes(&t, 1, 0, &one, NULL), TEM_OK);
    for (size_t chunk = 1; chunk <= t.size + 1; chunk++)
        for (unsigned threads = 1; threads <= 8; threads *= 2) {
            tem_vectors *many = NULL;
            assert_int_equal(from_bytes(&t, threads, chunk, &many, NULL), TEM_OK);
            assert_same(one, many);
            vectors_free(many);
        }
    vectors_free(one);
}

static uint64_t line_of(const text *t, size_t place) {
    uint64_t line = 1;
    for (size_t i = 0; i < place; i++)
        line += t->bytes[i] == '\n';
    return line;
}

/* Damages the last number of the line around `place`; returns the line. */
static uint64_t spoil(text *t, size_t place) {
    while (t->bytes[place] != '\n')
        place++;
    t->bytes[place - 1] = 'x';
    return line_of(t, place);
}

static void test_first_fault_is_told(void **state) {
    static const size_t offsets[] = {
        0, MEBIBYTE - 60, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 60, 3 * MEBIBYTE, TEXT_BYTES - 300};
    text t = make_text();
    char *copy = malloc(t.size);
    (void)state;
    assert_non_null(copy);
    memcpy(copy, t.bytes, t.size);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        memcpy(t.bytes, copy, t.size);
        uint64_t line = spoil(&t, offsets[i]);
        for (size_t later = offsets[i]; later < TEXT_BYTES - 300; later += MEBIBYTE / 2)
            spoil(&t, later);
        for (unsigned threads = 1; threads <= 8; threads *= 2)
            for (int repeat = 0; repeat < 4; repeat++) {
                tem_vectors *vectors = NULL;
                tem_error error;
                assert_int_equal(from_bytes(&t, threads, 0, &vectors, &error), TEM_ERR_FORMAT);
                assert_int_equal(error.line, line);
                assert_string_equal(error.message, "number 12 of 12 is not a decimal number");
            }
    }
    free(copy);
    free(t.bytes);
}

/* Rows far too short for the dimension: memory is allocated for what the bytes can hold, not for
 * 2^20 rows of 4096 numbers (16 GiB). */
static void test_short_rows_take_little_memory(void **state) {
    text t = {malloc(4 << 20), 0, 0};
    tem_vectors *vectors = NULL;
    tem_error error;
    (void)state;
    assert_non_null(t.bytes);
    for (int row = 0; row < 100; row++) {
        t.size += (size_t)sprintf(t.bytes + t.size, "w%d", row);
        for (int i = 0; i < 4096; i++, t.size += 2)
            memcpy(t.bytes + t.size, " 1", 2);
        t.bytes[t.size++] = '\n';
    }
    assert_int_equal(from_bytes(&t, 2, 0, &vectors, NULL), TEM_OK);
    vectors_free(vectors);
    vectors = NULL;
    for (; t.size + 4 < 4 << 20; t.size += 4)
        memcpy(t.bytes + t.size, "x 1\n", 4);
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        assert_int_equal(from_bytes(&t, threads, 0, &vectors, &error), TEM_ERR_FORMAT);
        assert_int_equal(error.line, 101);
        assert_string_equal(error.message, "expected a word and 4096 numbers, found 2 columns");
    }
    free(t.bytes);
}

static int stop_at_stage(void *context, const char *stage, uint64_t done, uint64_t total) {
    assert_true(done <= total);
    return strcmp(stage, context) == 0;
}

static void test_cancelling(void **state) {
    static const char *const stages[] = {"counting lines", "reading", "unpacking"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        tem_run run = {.progress = stop_at_stage, .progress_context = (void *)(uintptr_t)stages[i]};
        tem_vectors *vectors = NULL;
        tem_error error;
        assert_int_equal(vectors_load(data_path("ok-word2vec.txt.gz"), 0, &run, &vectors, &error),
                         TEM_ERR_CANCELLED);
        assert_null(vectors);
    }
}

/* ------------------------------------------------------------- numbers -- */

static uint64_t bits_of(double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Compares number_parse with strtod on the token, in a buffer without a NUL, so that a sanitizer
 * sees a read beyond its end. */
static void check_number(const char *token) {
    size_t length = strlen(token);
    char *exact = malloc(length == 0 ? 1 : length);
    double value = 0, expected = strtod(token, NULL);
    assert_non_null(exact);
    memcpy(exact, token, length);
    number_kind kind = number_parse(exact, exact + length, &value);
    if (isfinite(expected)) {
        assert_int_equal(kind, NUMBER_OK);
        if (bits_of(value) != bits_of(expected))
            fail_msg("%s: %a, expected %a", token, value, expected);
    } else
        assert_int_equal(kind, NUMBER_TOO_LARGE);
    free(exact);
}

static char *put_digits(char *p, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        *p++ = (char)('0' + random_below(10));
    return p;
}

static void random_token(char *p) {
    unsigned left = random_below(random_below(4) == 0 ? 25 : 4);
    unsigned right = random_below(random_below(4) == 0 ? 40 : 20);
    if (random_below(2) == 0)
        *p++ = random_below(4) == 0 ? '+' : '-';
    if (left + right == 0)
        left = 1;
    if (random_below(3) == 0)
        *p++ = '0';
    p = put_digits(p, left);
    if (right > 0 || random_below(2) == 0)
        *p++ = '.';
    p = put_digits(p, right);
    if (random_below(2) == 0)
        p += sprintf(p, "%c%d", random_below(2) == 0 ? 'e' : 'E',
                     (int)random_below(random_below(2) == 0 ? 60 : 700) -
                         (random_below(2) == 0 ? 30 : 350));
    *p = '\0';
}

static void test_numbers_against_strtod(void **state) {
    static const char *const special[] = {"0",
                                          "-0",
                                          "0.0e0",
                                          ".5",
                                          "5.",
                                          "+7",
                                          "1e22",
                                          "1e23",
                                          "9007199254740993",
                                          "9007199254740992.5",
                                          "9007199254740993e0",
                                          "0.1",
                                          "1e-27",
                                          "1e-28",
                                          "1e27",
                                          "1e28",
                                          "18446744073709551615",
                                          "9999999999999999999",
                                          "9999999999999999999e-27",
                                          "9999999999999999999e27",
                                          "4.9e-324",
                                          "2.4703282292062327e-324",
                                          "2.4703282292062328e-324",
                                          "2.2250738585072011e-308",
                                          "1.7976931348623157e308",
                                          "1.7976931348623159e308",
                                          "1e308",
                                          "1e309",
                                          "-1e400",
                                          "1e-400",
                                          "1e99999999999",
                                          "1e-99999999999",
                                          "0e99999999999",
                                          "1.00000000000000011102230246251565404",
                                          "1.00000000000000011102230246251565405",
                                          "00000000000000000000000000000000001.5",
                                          "0.00000000000000000000000000000000000000000015"};
    char token[512];
    (void)state;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_number(special[i]);
    random_state = 11;
    for (int i = 0; i < 3000000; i++) {
        random_token(token);
        check_number(token);
    }
    for (int i = 0; i < 1000000; i++) { /* random doubles of all kinds, in all lengths */
        double value = 0;
        uint64_t bits = random_u64();
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(token, sizeof token, "%.*e", (int)random_below(20), value);
        check_number(token);
        value = (double)(int64_t)random_u64() * 0x1p-60; /* typical sizes in embeddings */
        snprintf(token, sizeof token, "%.*g", 1 + (int)random_below(19), value);
        check_number(token);
    }
}

static void test_halfway_numbers(void **state) {
    char token[512];
    (void)state;
    random_state = 13;
    for (int i = 0; i < 200000; i++) { /* integers of 54 to 64 bits, many of them ties */
        uint64_t kept = random_u64() >> 11 | (uint64_t)1 << 52;
        unsigned shift = 1 + random_below(11);
        uint64_t tie = kept << shift | (uint64_t)1 << (shift - 1);
        snprintf(token, sizeof token, "%" PRIu64, tie + random_below(3) - 1);
        check_number(token);
        snprintf(token, sizeof token, "%" PRIu64 "e%u", tie >> 2, random_below(28));
        check_number(token);
        snprintf(token, sizeof token, "%" PRIu64 "e-%u", tie, random_below(28));
        check_number(token);
    }
}

/* 19 digits over 5^24 to 5^27: the quotient has slightly more than 65 bits, so that for about one
 * token in 2^13 only the remainder tells a tie from a value above it. */
static void test_numbers_just_above_a_tie(void **state) {
    char token[64];
    (void)state;
    random_state = 17;
    for (int i = 0; i < 500000; i++) {
        uint64_t digits = 5000000000000000000u + random_u64() % 4999999999999999999u;
        snprintf(token, sizeof token, "%" PRIu64 "e-%u", digits, 24 + random_below(4));
        check_number(token);
    }
}

static void test_what_is_no_number(void **state) {
    static const char *const none[] = {"",     "+",      "-",    ".",     "-.",  "e5",    "1e",
                                       "1e+",  "1e-",    "0x10", "0x1p3", "1,5", "1_0",   "1 ",
                                       " 1",   "1.2.3",  "--1",  "+-1",   "1f",  "1e5.5", "infx",
                                       "nanx", "nan(1)", "in",   "1\t"};
    static const char *const infinite[] = {"inf", "-inf", "+Inf", "INFINITY", "nan", "-NaN"};
    char digits[NUMBER_BYTES_MAX + 2];
    double value = 42;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(number_parse(none[i], none[i] + strlen(none[i]), &value), NUMBER_NONE);
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        assert_int_equal(number_parse(infinite[i], infinite[i] + strlen(infinite[i]), &value),
                         NUMBER_NOT_FINITE);
    memset(digits, '1', sizeof digits);
    digits[1] = '.';
    assert_int_equal(number_parse(digits, digits + NUMBER_BYTES_MAX + 1, &value), NUMBER_NONE);
    assert_true(value == 42);
    assert_int_equal(number_parse(digits, digits + NUMBER_BYTES_MAX, &value), NUMBER_OK);
}

static void test_scanning_numbers(void **state) {
    static const char line[] = "1.5 x\t12345678901234567890123 1e5x";
    static const number_kind kinds[] = {NUMBER_OK, NUMBER_NONE, NUMBER_OK, NUMBER_NONE};
    static const size_t stops[] = {3, 5, 29, 34};
    const char *p = line;
    (void)state;
    for (int i = 0; i < 4; i++) {
        double value = 0;
        assert_int_equal(number_scan(p, line + sizeof line - 1, &p, &value), kinds[i]);
        assert_int_equal(p - line, stops[i]);
        p++;
    }
}

/* A locale with a decimal comma, created for the test if the system allows it. */
static bool set_comma_locale(void) {
    char command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' 2>/dev/null",
             scratch);
    setenv("LOCPATH", scratch, 1);
    return system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void test_numbers_in_another_locale(void **state) {
    static const char token[] = "1.25000000000000000000000000"; /* too long for the fast paths */
    double value = 0;
    make_scratch(state);
    bool comma = set_comma_locale();
    number_kind kind = number_parse(token, token + sizeof token - 1, &value);
    double other = strtod("1,5", NULL);
    setlocale(LC_ALL, "C");
    remove_scratch(state);
    if (!comma)
        skip();
    assert_true(other == 1.5);
    assert_int_equal(kind, NUMBER_OK);
    assert_true(value == 1.25);
}

static void test_largest_floats(void **state) {
    tem_vectors *vectors = NULL;
    (void)state;
    assert_int_equal(from_text("a 3.4028235677973366e38\nb -3.4028235e38\n", 0, &vectors, NULL),
                     TEM_ERR_FORMAT);
    assert_int_equal(from_text("a 3.4028235677973362e38\nb -3.4028235e38\n", 0, &vectors, NULL),
                     TEM_OK);
    assert_true(vectors->values[0] == 0x1.fffffep127F);
    vectors_free(vectors);
}

/* -------------------------------------------------------------- create -- */

static void test_create(void **state) {
    const char *words[] = {"a", "b", "c"};
    const float values[] = {1, 2, 3, 4, 5, 6};
    tem_vectors *vectors = NULL;
    (void)state;
    assert_int_equal(vectors_create(words, values, 3, 2, &vectors, NULL), TEM_OK);
    assert_memory_equal(vectors->values, values, sizeof values);
    assert_word(vectors, 2, "c");
    vectors_free(vectors);
    vectors_free(NULL);
}

static void check_create(const char *const *words, const float *values, uint32_t count,
                         uint32_t dimension, tem_status status, uint64_t line,
                         const char *message) {
    tem_vectors *vectors = NULL;
    tem_error error = {0};
    assert_int_equal(vectors_create(words, values, count, dimension, &vectors, &error), status);
    assert_null(vectors);
    assert_int_equal(error.line, line);
    if (message != NULL)
        assert_string_equal(error.message, message);
}

static void test_create_refuses(void **state) {
    const char *words[] = {"a", "b", "c", "a", "", "\xff", NULL};
    const float values[] = {1, 2, 3, 4, NAN, 6, -INFINITY};
    char *long_word = malloc(TEM_WORD_BYTES_MAX + 2);
    (void)state;
    assert_non_null(long_word);
    memset(long_word, 'x', TEM_WORD_BYTES_MAX + 1);
    long_word[TEM_WORD_BYTES_MAX + 1] = '\0';
    const char *long_words[] = {"a", long_word};
    check_create(NULL, values, 3, 1, TEM_ERR_ARGUMENT, 0, NULL);
    check_create(words, NULL, 3, 1, TEM_ERR_ARGUMENT, 0, NULL);
    check_create(words, values, 1, 1, TEM_ERR_ARGUMENT, 0, NULL);
    check_create(words, values, 2, 0, TEM_ERR_ARGUMENT, 0, NULL);
    check_create(words, values, 2, TEM_DIMENSION_MAX + 1, TEM_ERR_ARGUMENT, 0, NULL);
    check_create(words, values, TEM_WORDS_MAX + 1, 1, TEM_ERR_ARGUMENT, 0, NULL);
    check_create(words, values, 7, 1, TEM_ERR_ARGUMENT, 0, "word 7 is NULL");
    check_create(words, values, 3, 2, TEM_ERR_FORMAT, 3, "a number is not finite");
    check_create(words, values, 4, 1, TEM_ERR_FORMAT, 4, "the word is there already, at line 1");
    check_create(words, values, 6, 1, TEM_ERR_FORMAT, 4, "the word is there already, at line 1");
    check_create(words + 3, values, 2, 1, TEM_ERR_FORMAT, 2, "the word is empty");
    check_create(long_words, values, 2, 1, TEM_ERR_FORMAT, 2, "the word is longer than 4096 bytes");
    free(long_word);
    /* Put out, such a word would end the field or the record that it stands in. */
    static const char *const torn[][2] = {{"a", "x\ny"}, {"a", "\rx"}, {"a", "x\t"}};
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++)
        check_create(torn[i], values, 2, 1, TEM_ERR_FORMAT, 2,
                     "the word contains NUL, tab or a line end");
}

/* ------------------------------------------------------- reading files -- */

static void test_reading_what_is_no_file(void **state) {
    tem_vectors *vectors = NULL;
    tem_error error;
    (void)state;
    assert_int_equal(vectors_load("/nowhere/at/all", 0, NULL, &vectors, &error), TEM_ERR_FILE);
    assert_int_equal(error.os_error, ENOENT);
    assert_string_equal(error.file, "/nowhere/at/all");
    assert_int_equal(vectors_load(scratch, 0, NULL, &vectors, &error), TEM_ERR_FILE);
    assert_int_equal(error.os_error, EISDIR);
    assert_int_equal(vectors_load(NULL, 0, NULL, &vectors, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(vectors_load(scratch, 0, NULL, NULL, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(vectors_load("/dev/null", 0, NULL, &vectors, &error), TEM_ERR_FORMAT);
}

typedef struct feed {
    int descriptor;
    const char *bytes;
    size_t size;
} feed;

static void *feed_pipe(void *argument) {
    const feed *f = argument;
    size_t done = 0;
    while (done < f->size) {
        size_t piece = f->size - done < 4999 ? f->size - done : 4999;
        ssize_t put = write(f->descriptor, f->bytes + done, piece);
        if (put <= 0)
            break;
        done += (size_t)put;
    }
    close(f->descriptor);
    return NULL;
}

static void test_reading_a_pipe(void **state) {
    text t = make_text();
    tem_vectors *direct = NULL, *piped = NULL;
    int ends[2];
    char path[64];
    pthread_t thread;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    feed f = {ends[1], t.bytes, t.size};
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &f), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(vectors_load(path, 0, NULL, &piped, NULL), TEM_OK);
    pthread_join(thread, NULL);
    close(ends[0]);
    assert_int_equal(from_bytes(&t, 1, 0, &direct, NULL), TEM_OK);
    assert_same(direct, piped);
    vectors_free(direct);
    vectors_free(piped);
    free(t.bytes);
}

/* Standard input is a file whose first line another program has read. */
static void test_reading_standard_input(void **state) {
    tem_vectors *vectors = NULL;
    const char *path = scratch_path("stdin.txt");
    int kept = dup(STDIN_FILENO);
    (void)state;
    write_bytes(path, "title\na 1\nb 2\n", 14);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    assert_int_equal(lseek(STDIN_FILENO, 6, SEEK_SET), 6);
    tem_status status = vectors_load("-", 0, NULL, &vectors, NULL);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(fd);
    assert_int_equal(status, TEM_OK);
    assert_word(vectors, 0, "a");
    vectors_free(vectors);
    unlink(path);
}

/* ------------------------------------------------------- writing files -- */

static tem_status write_file(const char *path, const char *content, tem_overwrite overwrite,
                             tem_error *error) {
    file_writer writer;
    tem_status status = file_writer_open(&writer, path, overwrite, error);
    if (status != TEM_OK) {
        file_writer_abandon(&writer);
        return status;
    }
    status = file_writer_put(&writer, "????", 4, error);
    if (status == TEM_OK)
        status = file_writer_put(&writer, content + 4, strlen(content) - 4, error);
    if (status == TEM_OK)
        status = file_writer_put_at(&writer, content, 4, 0, error);
    if (status == TEM_OK)
        return file_writer_commit(&writer, error);
    file_writer_abandon(&writer);
    return status;
}

static void test_writing(void **state) {
    const char *path = scratch_path("written");
    tem_error error;
    struct stat info;
    (void)state;
    mode_t mask = umask(027);
    assert_int_equal(write_file(path, "first content", TEM_KEEP_EXISTING, &error), TEM_OK);
    umask(mask);
    assert_content(path, "first content");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(write_file(path, "second content", TEM_KEEP_EXISTING, &error), TEM_ERR_EXISTS);
    assert_string_equal(error.file, path);
    assert_content(path, "first content");
    assert_int_equal(write_file(path, "second content", TEM_OVERWRITE, &error), TEM_OK);
    assert_content(path, "second content");
    assert_int_equal(count_files(scratch), 1);
    unlink(path);
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

/* tem_file_write: for the usual readers, or for the owner alone, whatever was there before. */
static void test_writing_for_readers(void **state) {
    const char *path = scratch_path("report");
    tem_error error;
    (void)state;
    const mode_t mask = umask(022);
    for (int readers = TEM_READERS_USUAL; readers <= TEM_READERS_OWNER; readers++) {
        const tem_readers chosen = (tem_readers)readers;
        assert_int_equal(tem_file_write(path, "one", 3, TEM_KEEP_EXISTING, chosen, &error), TEM_OK);
        assert_int_equal(mode_of(path), chosen == TEM_READERS_OWNER ? 0600 : 0644);
        assert_int_equal(tem_file_write(path, "two", 3, TEM_KEEP_EXISTING, chosen, &error),
                         TEM_ERR_EXISTS);
        assert_content(path, "one");
        assert_int_equal(chmod(path, 0664), 0);
        assert_int_equal(tem_file_write(path, "three", 5, TEM_OVERWRITE, chosen, &error), TEM_OK);
        assert_content(path, "three");
        assert_int_equal(mode_of(path), chosen == TEM_READERS_OWNER ? 0600 : 0664);
        assert_int_equal(tem_file_write(path, NULL, 0, TEM_OVERWRITE, chosen, &error), TEM_OK);
        assert_content(path, "");
        assert_int_equal(count_files(scratch), 1);
        unlink(path);
    }
    umask(mask);
    assert_int_equal(tem_file_write(path, NULL, 1, TEM_OVERWRITE, 0, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_file_write(NULL, "x", 1, TEM_OVERWRITE, 0, &error), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_file_write(path, "x", 1, TEM_OVERWRITE, (tem_readers)2, &error),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_file_write(scratch, "x", 1, TEM_OVERWRITE, 0, &error), TEM_ERR_FILE);
    assert_int_equal(count_files(scratch), 0);
}

/* A file to be replaced may be private, or more open than the umask: the new file has the same
 * permissions. */
static void test_permissions_kept(void **state) {
    static const mode_t modes[] = {0600, 0400, 0640, 0666, 0755};
    const char *path = scratch_path("kept");
    tem_error error;
    struct stat info;
    (void)state;
    mode_t mask = umask(022);
    assert_int_equal(write_file(path, "first content", TEM_KEEP_EXISTING, &error), TEM_OK);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(write_file(path, "second content", TEM_OVERWRITE, &error), TEM_OK);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, modes[i]);
    }
    umask(mask);
    unlink(path);
}

static void test_name_taken_meanwhile(void **state) {
    const char *path = scratch_path("raced");
    file_writer writer;
    tem_error error;
    (void)state;
    assert_int_equal(file_writer_open(&writer, path, TEM_KEEP_EXISTING, &error), TEM_OK);
    assert_int_equal(file_writer_put(&writer, "mine", 4, &error), TEM_OK);
    write_bytes(path, "theirs", 6);
    assert_int_equal(file_writer_commit(&writer, &error), TEM_ERR_EXISTS);
    file_writer_abandon(&writer);
    assert_content(path, "theirs");
    assert_int_equal(count_files(scratch), 1);
    unlink(path);
}

static void test_abandoned_writer_leaves_nothing(void **state) {
    file_writer writer;
    tem_error error;
    (void)state;
    assert_int_equal(file_writer_open(&writer, scratch_path("abandoned"), TEM_OVERWRITE, &error),
                     TEM_OK);
    assert_int_equal(count_files(scratch), 1);
    assert_int_equal(file_writer_put_at(&writer, "x", 1, UINT64_MAX, &error), TEM_ERR_FILE);
    file_writer_abandon(&writer);
    file_writer_abandon(&writer);
    assert_int_equal(count_files(scratch), 0);
}

static void test_writing_where_one_cannot(void **state) {
    tem_error error;
    (void)state;
    assert_int_equal(write_file("/nowhere/at/all", "content", TEM_OVERWRITE, &error), TEM_ERR_FILE);
    assert_int_equal(error.os_error, ENOENT);
    assert_int_equal(write_file("", "content", TEM_OVERWRITE, &error), TEM_ERR_FILE);
    assert_int_equal(write_file(scratch, "content", TEM_OVERWRITE, &error), TEM_ERR_FILE);
    /* A pipe of the test's own, not /dev/null, which a broken writer would replace. */
    const char *pipe_path = scratch_path("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(write_file(pipe_path, "content", TEM_OVERWRITE, &error), TEM_ERR_FILE);
    unlink(pipe_path);
    assert_int_equal(write_file(scratch, "content", TEM_KEEP_EXISTING, &error), TEM_ERR_EXISTS);
}

static void test_writing_in_the_working_folder(void **state) {
    char *before = getcwd(NULL, 0);
    tem_error error;
    (void)state;
    assert_non_null(before);
    assert_int_equal(chdir(scratch), 0);
    assert_int_equal(write_file("bare-name", "content", TEM_KEEP_EXISTING, &error), TEM_OK);
    assert_content("bare-name", "content");
    unlink("bare-name");
    assert_int_equal(chdir(before), 0);
    free(before);
}

/* -------------------------------------------------------------- faults -- */

#ifdef TEM_FAULTS
/* Makes call n fail, for n = 1, 2, ..., until a run needs fewer calls than that. */
static void fail_all_loads(const char *path) {
    tem_run run = {.threads = 2};
    for (uint64_t n = 1;; n++) {
        tem_vectors *vectors = NULL;
        tem_error error = {0};
        core_fault_arm(n);
        tem_status status = vectors_load(path, 0, &run, &vectors, &error);
        bool hit = core_fault_hit();
        core_fault_arm(0);
        if (!hit) {
            assert_int_equal(status, TEM_OK);
            assert_true(n > 5);
            vectors_free(vectors);
            return;
        }
        assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
        assert_int_equal(error.status, status);
        assert_null(vectors);
    }
}

static void test_faults_while_reading(void **state) {
    (void)state;
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (strncmp(kept_files[i].name, "ok-", 3) == 0)
            fail_all_loads(data_path(kept_files[i].name));
}

/* A fault must never make tem accept a file that it should refuse. */
static void test_faults_while_refusing(void **state) {
    (void)state;
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        bool hit = strncmp(kept_files[i].name, "refused-", 8) == 0;
        for (uint64_t n = 1; hit; n++) {
            tem_vectors *vectors = NULL;
            core_fault_arm(n);
            assert_int_not_equal(
                vectors_load(data_path(kept_files[i].name), 0, NULL, &vectors, NULL), TEM_OK);
            hit = core_fault_hit();
            core_fault_arm(0);
            assert_null(vectors);
        }
    }
}

static void test_faults_while_reading_a_pipe(void **state) {
    bool hit = true;
    (void)state;
    for (uint64_t n = 1; hit; n++) {
        int ends[2];
        char path[64];
        tem_vectors *vectors = NULL;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], "a 1\nb 2\n", 8), 8);
        close(ends[1]);
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
        core_fault_arm(n);
        tem_status status = vectors_load(path, 0, NULL, &vectors, NULL);
        hit = core_fault_hit();
        core_fault_arm(0);
        close(ends[0]);
        assert_int_equal(status == TEM_OK, !hit);
        vectors_free(vectors);
    }
}

static void test_faults_while_creating(void **state) {
    const char *words[] = {"a", "b"};
    const float values[] = {1, 2};
    bool hit = true;
    (void)state;
    for (uint64_t n = 1; hit; n++) {
        tem_vectors *vectors = NULL;
        core_fault_arm(n);
        tem_status status = vectors_create(words, values, 2, 1, &vectors, NULL);
        hit = core_fault_hit();
        core_fault_arm(0);
        assert_int_equal(status, hit ? TEM_ERR_MEMORY : TEM_OK);
        vectors_free(vectors);
    }
}

/* Whatever fails, the name has the complete old or new content, and nothing else is left behind. */
static void fail_all_writes(tem_overwrite overwrite) {
    const char *path = scratch_path("faulty");
    bool hit = true;
    for (uint64_t n = 1; hit; n++) {
        tem_error error;
        unlink(path);
        if (overwrite == TEM_OVERWRITE)
            write_bytes(path, "old content", 11);
        core_fault_arm(n);
        tem_status status = write_file(path, "new content", overwrite, &error);
        hit = core_fault_hit();
        core_fault_arm(0);
        assert_int_equal(status == TEM_OK, !hit);
        bool there = access(path, F_OK) == 0;
        assert_int_equal(count_files(scratch), there ? 1 : 0);
        assert_true(there || (hit && overwrite == TEM_KEEP_EXISTING));
        if (there) {
            char content[16] = "";
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            assert_int_equal(fread(content, 1, sizeof content, file), 11);
            fclose(file);
            assert_true(strcmp(content, "new content") == 0 ||
                        (hit && strcmp(content, "old content") == 0));
        }
    }
    unlink(path);
}

static void test_faults_while_writing(void **state) {
    (void)state;
    fail_all_writes(TEM_OVERWRITE);
    fail_all_writes(TEM_KEEP_EXISTING);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_files),
        cmocka_unit_test(test_three_rows_in_every_format),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_recipe),
        cmocka_unit_test(test_words_with_spaces),
        cmocka_unit_test(test_header_or_not),
        cmocka_unit_test(test_wrong_guess_of_header_is_refused),
        cmocka_unit_test(test_short_line_is_the_one_told),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_every_chunk_border),
        cmocka_unit_test(test_first_fault_is_told),
        cmocka_unit_test(test_short_rows_take_little_memory),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_numbers_against_strtod),
        cmocka_unit_test(test_halfway_numbers),
        cmocka_unit_test(test_numbers_just_above_a_tie),
        cmocka_unit_test(test_what_is_no_number),
        cmocka_unit_test(test_scanning_numbers),
        cmocka_unit_test(test_numbers_in_another_locale),
        cmocka_unit_test(test_largest_floats),
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_create_refuses),
        cmocka_unit_test_setup_teardown(test_reading_what_is_no_file, make_scratch, remove_scratch),
        cmocka_unit_test(test_reading_a_pipe),
        cmocka_unit_test_setup_teardown(test_reading_standard_input, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(test_writing, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(test_writing_for_readers, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(test_permissions_kept, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(test_name_taken_meanwhile, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(test_abandoned_writer_leaves_nothing, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(test_writing_where_one_cannot, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(test_writing_in_the_working_folder, make_scratch,
                                        remove_scratch),
#ifdef TEM_FAULTS
        cmocka_unit_test(test_faults_while_reading),
        cmocka_unit_test(test_faults_while_refusing),
        cmocka_unit_test(test_faults_while_reading_a_pipe),
        cmocka_unit_test(test_faults_while_creating),
        cmocka_unit_test_setup_teardown(test_faults_while_writing, make_scratch, remove_scratch),
#endif
    };
    return cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
}
