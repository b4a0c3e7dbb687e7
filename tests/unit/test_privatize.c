/* test_privatize.c - whole texts, files and streams.
 *
 * Two mechanisms use one small model. For the first, all words are so far apart that a word stays
 * unchanged (another is drawn with probability below 2^-80), so the expected output is known byte
 * by byte. The second changes most words: with it, runs are compared with each other, and documents
 * with tem_privatize_text.
 *
 * The canary, a word that the vocabulary does not have, must never come out, in no output and no
 * error, unless a policy asks for it. */
#include "core/fault.h"
#include "job/replacer.h"
#include "one_field.h"
#include "pseudo.h"
#include "records/records.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const words[] = {"the",  "movie",      "was",       "good", "bad",  "do", "n't",
                                    "it's", "well-known", "caf\u00e9", "!",    "a\"b", "c,d"};
enum { WORDS = sizeof words / sizeof *words, SPACING = 60 };

static char folder[64];
static tem_model *model;
static tem_mechanism *still, *noisy;

/* ---- set up ---- */

static tem_mechanism *mechanism_of(double epsilon) {
    const tem_mechanism_options options = {.epsilon = epsilon, .gamma = SPACING};
    tem_mechanism *mechanism = NULL;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    return mechanism;
}

static int set_up(void **state) {
    (void)state;
    float values[WORDS];
    tem_vectors *vectors = NULL;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.36s/tem-privatize-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    for (int i = 0; i < WORDS; i++)
        values[i] = (float)(SPACING * i);
    assert_int_equal(tem_vectors_create(words, values, WORDS, 1, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    still = mechanism_of(2);
    noisy = mechanism_of(0.02);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tem_mechanism_free(still);
    tem_mechanism_free(noisy);
    tem_model_free(model);
    return rmdir(folder); /* fails if a test or a run left a file behind */
}

/* ---- files ---- */

/* The path of a file in the directory; valid until the ninth next call. */
static const char *path_of(const char *name) {
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text) {
    write_bytes(path, text, strlen(text));
}

/* The content of a file; size SIZE_MAX if there is none. Free the data. */
static core_buffer read_bytes(const char *path) {
    core_buffer content = {.size = SIZE_MAX};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return content;
    content.size = 0;
    do {
        assert_true(core_buffer_reserve(&content, 1 << 16));
        content.size += fread(content.data + content.size, 1, 1 << 16, file);
    } while (!feof(file) && !ferror(file));
    fclose(file);
    return content;
}

static void assert_file_holds(const char *path, const char *wanted, size_t size) {
    core_buffer content = read_bytes(path);
    assert_int_equal(content.size, size);
    assert_memory_equal(content.data, wanted, size);
    core_buffer_free(&content);
}

static unsigned file_count(void) {
    unsigned count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

/* ---- standard input and output ---- */

static int swap_descriptor(int descriptor, int other) {
    const int saved = dup(descriptor);
    assert_true(saved >= 0 && dup2(other, descriptor) == descriptor);
    return saved;
}

static void restore_descriptor(int descriptor, int saved) {
    dup2(saved, descriptor);
    close(saved);
}

/* How many files are open, of those that a run could have opened. */
static int open_files(void) {
    int count = 0;
    for (int descriptor = 0; descriptor < 256; descriptor++)
        count += fcntl(descriptor, F_GETFD) >= 0;
    return count;
}

/* A run with standard output in a file. */
static tem_status run_to_stdout(const tem_mechanism *mechanism, const tem_job *job,
                                const tem_run *run, const char *path, tem_counts *counts,
                                tem_error *error) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    fflush(stdout);
    const int saved = swap_descriptor(STDOUT_FILENO, file);
    const tem_status status = tem_privatize_files(mechanism, job, run, counts, NULL, NULL, error);
    restore_descriptor(STDOUT_FILENO, saved);
    close(file);
    return status;
}

/* The bytes that a thread writes to a pipe. */
typedef struct feed {
    const char *bytes;
    size_t size, step;
    int to;
} feed;

static void *write_feed(void *context) {
    const feed *f = context;
    for (size_t at = 0; at < f->size;) {
        const size_t step = f->size - at < f->step ? f->size - at : f->step;
        const ssize_t put = write(f->to, f->bytes + at, step);
        if (put <= 0)
            break;
        at += (size_t)put;
    }
    close(f->to);
    return NULL;
}

/* Runs with bytes on standard input, written `step` at a time. */
static tem_status run_from_pipe(const tem_mechanism *mechanism, const tem_job *job,
                                const tem_run *run, const char *bytes, size_t size, size_t step) {
    int ends[2];
    pthread_t writer;
    assert_int_equal(pipe(ends), 0);
    feed f = {bytes, size, step, ends[1]};
    const int saved = swap_descriptor(STDIN_FILENO, ends[0]);
    close(ends[0]);
    assert_int_equal(pthread_create(&writer, NULL, write_feed, &f), 0);
    const tem_status status = tem_privatize_files(mechanism, job, run, NULL, NULL, NULL, NULL);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* it is the caller's to close */
    restore_descriptor(STDIN_FILENO, saved);
    pthread_join(writer, NULL);
    return status;
}

/* ---- random documents ---- */

static void put(core_buffer *b, const char *string) {
    assert_true(core_buffer_add(b, string, strlen(string)));
}

/* Puts known and unknown words and punctuation, separated by spaces; counts as tem should count. */
static void put_document(core_buffer *out, tem_counts *counts) {
    static const struct {
        const char *text;
        unsigned words, unknown, punctuation;
    } parts[] = {{"The", 1, 0, 0},    {"movie", 1, 0, 0},     {"was", 1, 0, 0},
                 {"GOOD", 1, 0, 0},   {"good", 1, 0, 0},      {"don't", 2, 0, 0},
                 {"film", 1, 1, 0},   {"x-y", 2, 2, 0},       {"?", 0, 0, 1},
                 {"!", 0, 0, 1},      {"caf\u00c9", 1, 0, 0}, {"\u4e2d", 1, 1, 0},
                 {"bad...", 1, 0, 3}, {"it\u2019s", 1, 0, 0}, {"o'k", 2, 2, 0}};
    for (size_t left = random_below(12); left > 0; left--) {
        const size_t i = random_below(sizeof parts / sizeof *parts);
        put(out, parts[i].text);
        put(out, left > 1 ? " " : "");
        counts->words += parts[i].words;
        counts->unknown += parts[i].unknown;
        counts->punctuation += parts[i].punctuation;
    }
    counts->documents++;
}

static const char *const field_of[] = {NULL, NULL, "text", "text", "text"};

/* A stream in each format, including blank lines and nulls. */
static core_buffer make_stream(tem_format format, size_t bytes, tem_counts *counts) {
    static const char *const headers[] = {"", "", "id\ttext\n", "text,id\n", ""};
    static const char *const before[] = {"", "", "7\t", "\"", "{\"id\": 7, \"text\":\""};
    static const char *const after[] = {"", "", "", "\",\"7\n\"", "\" }"};
    core_buffer stream = {0};
    *counts = (tem_counts){0};
    put(&stream, headers[format]);
    while (stream.size < bytes) {
        const size_t kind = random_below(20);
        if (kind == 0) {
            put(&stream, "\n");
            counts->documents += format == TEM_FORMAT_TEXT;
        } else if (kind == 1 && format == TEM_FORMAT_JSONL) {
            put(&stream, "{\"text\": null}\n");
            counts->documents++;
        } else {
            put(&stream, before[format]);
            put_document(&stream, counts);
            put(&stream, after[format]);
            put(&stream, random_below(2) ? "\n" : "\r\n");
        }
    }
    return stream;
}

/* What assert_counts looks at. */
#define COUNTS(d, w, u, p)                                                                         \
    ((tem_counts){.documents = (d), .words = (w), .unknown = (u), .punctuation = (p)})

static void assert_counts(const tem_counts *found, const tem_counts *wanted) {
    assert_int_equal(found->documents, wanted->documents);
    assert_int_equal(found->words, wanted->words);
    assert_int_equal(found->unknown, wanted->unknown);
    assert_int_equal(found->punctuation, wanted->punctuation);
}

/* ---- one document ---- */

static bool is_vocabulary(const char *word, size_t length) {
    return tem_model_find(model, word, length) != TEM_NO_WORD;
}

/* Compares word by word; a * in `wanted` matches any word of the vocabulary. */
static void assert_matches(const char *found, const char *wanted) {
    for (;;) {
        const size_t a = strcspn(found, " "), b = strcspn(wanted, " ");
        if (b == 1 && *wanted == '*')
            assert_true(is_vocabulary(found, a));
        else
            assert_true(a == b && memcmp(found, wanted, a) == 0);
        found += a;
        wanted += b;
        assert_int_equal(*found, *wanted);
        if (*found == '\0')
            return;
        found++;
        wanted++;
    }
}

static void expect_options(const tem_text_options *options, const char *text, size_t bytes,
                           const char *wanted, const tem_counts *wanted_counts) {
    tem_rng *rng = NULL;
    char *out = NULL;
    size_t out_bytes = 0;
    tem_counts counts = COUNTS(1000, 1000, 1000, 1000); /* added to, not set */
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    assert_int_equal(
        tem_privatize_text(still, options, rng, text, bytes, NULL, &out, &out_bytes, &counts, NULL),
        TEM_OK);
    assert_int_equal(strlen(out), out_bytes);
    assert_matches(out, wanted);
    if (wanted_counts != NULL) {
        const tem_counts added = COUNTS(counts.documents - 1000, counts.words - 1000,
                                        counts.unknown - 1000, counts.punctuation - 1000);
        assert_counts(&added, wanted_counts);
    }
    tem_text_free(out);
    tem_rng_free(rng);
}

static void expect(const char *text, const char *wanted) {
    expect_options(NULL, text, strlen(text), wanted, NULL);
}

static void test_policies(void **state) {
    (void)state;
    static const char text[] = "The ZyxCanary, was good! Don't";
    static const char *const wanted[4][3] = {
        {"the * was good do n't", "the * , was good ! do n't", "the * * was good ! do n't"},
        {"the was good do n't", "the , was good ! do n't", "the was good ! do n't"},
        {"the <unk> was good do n't", "the <unk> , was good ! do n't",
         "the <unk> <unk> was good ! do n't"},
        {"the zyxcanary was good do n't", "the zyxcanary , was good ! do n't",
         "the zyxcanary , was good ! do n't"}};
    const tem_counts apart = COUNTS(1, 6, 1, 2), as_words = COUNTS(1, 8, 2, 2);
    for (tem_oov oov = TEM_OOV_UNIFORM; oov <= TEM_OOV_KEEP_UNSAFE; oov++)
        for (tem_punctuation p = TEM_PUNCTUATION_DROP; p <= TEM_PUNCTUATION_WORD; p++) {
            const tem_text_options options = {.oov = oov, .punctuation = p};
            expect_options(&options, text, sizeof text - 1, wanted[oov - 1][p - 1],
                           p == TEM_PUNCTUATION_WORD ? &as_words : &apart);
        }
    /* The defaults, given as zeros and as NULL. */
    expect_options(&(tem_text_options){.strip_tags = 0}, text, sizeof text - 1, wanted[0][0],
                   &apart);
    expect_options(NULL, text, sizeof text - 1, wanted[0][0], &apart);
}

static void test_text(void **state) {
    (void)state;
    const tem_text_options tags = {.strip_tags = 1};
    expect("", "");
    expect("  \t ", "");
    expect("  The   MOVIE\twas ", "the movie was");
    expect("the\n\nmovie\r\n good \n", "the movie good");
    expect("the\rmovie\r", "the movie");
    expect("well-known It\u2019s cafe\u0301", "well-known it's caf\u00e9");
    expect_options(NULL, "the\0movie", 9, "the movie", &COUNTS(1, 2, 0, 0));
    expect_options(&tags, "the<br />movie <zyx canary>\n<p>good", 35, "the movie good",
                   &COUNTS(1, 3, 0, 0));
    expect_options(NULL, NULL, 0, "", &COUNTS(1, 0, 0, 0));
}

/* For assert_matches, lines are words joined by "\n" without spaces. */
static void test_kept_lines(void **state) {
    (void)state;
    const tem_text_options lines = {.keep_lines = 1}, both = {.keep_lines = 1, .strip_tags = 1};
    static const char *const spellings[] = {"The\n\nmovie\n good\n", "the\r\n\r\nMovie\r\ngood\r\n",
                                            "the\n \t\nmovie \ngood\n\r",
                                            "\rthe \n\n\rmovie\ngood\r\n "};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        expect_options(&lines, spellings[i], strlen(spellings[i]), "the\n\nmovie\ngood\n",
                       &COUNTS(1, 3, 0, 0));
    expect_options(&lines, "", 0, "", &COUNTS(1, 0, 0, 0));
    expect_options(&lines, "the\rmovie", 9, "the movie", &COUNTS(1, 2, 0, 0));
    /* What is within a tag is no line. */
    expect_options(&both, "the<br\n>movie\ngood", 19, "the movie\ngood", &COUNTS(1, 3, 0, 0));
}

static void refuse_text(const tem_text_options *options, const char *text, size_t bytes,
                        tem_status wanted, uint64_t byte) {
    static char marker;
    tem_rng *rng = NULL;
    char *out = &marker;
    size_t out_bytes = 77;
    tem_counts counts = COUNTS(1, 2, 3, 4);
    tem_error error = {.status = TEM_OK};
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    assert_int_equal(tem_privatize_text(still, options, rng, text, bytes, NULL, &out, &out_bytes,
                                        &counts, &error),
                     wanted);
    assert_int_equal(error.status, wanted);
    assert_int_equal(error.byte, byte);
    assert_null(strcasestr(error.message, "zyx"));
    assert_true(out == &marker && out_bytes == 77);
    assert_counts(&counts, &COUNTS(1, 2, 3, 4));
    assert_int_equal(
        tem_privatize_text(still, options, rng, text, bytes, NULL, &out, &out_bytes, NULL, NULL),
        wanted);
    tem_rng_free(rng);
}

static void test_text_refusals(void **state) {
    (void)state;
    const tem_text_options tags = {.strip_tags = 1};
    refuse_text(NULL, "zyx\xff", 4, TEM_ERR_FORMAT, 4);
    refuse_text(NULL, "the movie\ngood\nzyx \xe9\nbad", 24, TEM_ERR_FORMAT, 20);
    refuse_text(&(tem_text_options){.keep_lines = 1}, "the movie\ngood\nzyx \xe9\nbad", 24,
                TEM_ERR_FORMAT, 20);
    refuse_text(&tags, "<b>the</b>\n<i>zyx\xe9\n", 19, TEM_ERR_FORMAT, 18);
    refuse_text(&tags, "<\xe9> zyx", 7, TEM_ERR_FORMAT, 2);
    refuse_text(&(tem_text_options){.oov = 5}, "the", 3, TEM_ERR_ARGUMENT, 0);
    refuse_text(&(tem_text_options){.punctuation = 4}, "the", 3, TEM_ERR_ARGUMENT, 0);
    refuse_text(&(tem_text_options){.oov = (tem_oov)-1}, "the", 3, TEM_ERR_ARGUMENT, 0);
    refuse_text(NULL, NULL, 3, TEM_ERR_ARGUMENT, 0);
    /* Unreadable memory: the size alone decides. */
    const size_t large = (size_t)TEXT_BYTES_MAX + 1;
    void *hidden = mmap(NULL, large, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (hidden == MAP_FAILED)
        return;
    refuse_text(NULL, hidden, large, TEM_ERR_RANGE, 0);
    refuse_text(&tags, hidden, large, TEM_ERR_RANGE, 0);
    munmap(hidden, large);
}

static int stop_at_tenth(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    return ++*(int *)context >= 10;
}

/* PRIVACY: what is put out is what the mechanism draws for the words of the text, for each of them,
 * with the same random bits. */
static void check_drawn(const char *const *of, size_t kinds, size_t count, uint64_t stream) {
    enum { TOGETHER = 1 << 14 }; /* words that are drawn for at once */
    uint32_t *ids = calloc(count, sizeof *ids);
    core_buffer text = {0}, wanted = {0};
    tem_rng *rng = NULL, *same = NULL;
    char *out = NULL;
    size_t bytes = 0;
    assert_non_null(ids);
    assert_int_equal(tem_rng_create_insecure(7, stream, &rng, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(7, stream, &same, NULL), TEM_OK);
    for (size_t i = 0; i < count; i++) {
        put(&text, of[i % kinds]);
        put(&text, " ");
        ids[i] = tem_model_find(model, of[i % kinds], strlen(of[i % kinds]));
    }
    for (size_t at = 0; at < count; at += TOGETHER)
        assert_int_equal(tem_mechanism_draw_many(noisy, same, ids + at, ids + at,
                                                 count - at < TOGETHER ? count - at : TOGETHER,
                                                 NULL),
                         TEM_OK);
    for (size_t i = 0; i < count; i++) {
        put(&wanted, i == 0 ? "" : " ");
        put(&wanted, words[ids[i]]);
    }
    assert_int_equal(
        tem_privatize_text(noisy, NULL, rng, text.data, text.size, NULL, &out, &bytes, NULL, NULL),
        TEM_OK);
    assert_int_equal(bytes, wanted.size);
    assert_memory_equal(out, wanted.data, bytes);
    tem_text_free(out);
    tem_rng_free(rng);
    tem_rng_free(same);
    core_buffer_free(&text);
    core_buffer_free(&wanted);
    free(ids);
}

static void test_every_word_is_drawn_for(void **state) {
    (void)state;
    static const char *const known[] = {"the", "movie", "was", "good", "bad"},
                             *const some[] = {"the", "zyx", "good", "movie", "zyxcanary", "was"};
    static const size_t many[] = {1000, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 50000};
    for (uint64_t stream = 0; stream < 40; stream++)
        for (size_t count = 1; count < 9; count++) {
            check_drawn(known, 5, count, stream);
            check_drawn(some, 6, count, stream);
        }
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        check_drawn(known, 5, many[i], i);
        check_drawn(some, 6, many[i], i);
    }
}

/* A document that is stopped when some of it is out and some waits: nothing of it stays, in the
 * output or for the next document. */
static void check_stopped_document(replacer *r, tem_rng *rng, core_buffer *out) {
    enum { MANY = 200000 };
    int asked = 0;
    const tem_run run = {.progress = stop_at_tenth, .progress_context = &asked};
    const size_t before = out->size;
    core_buffer text = {0};
    tem_counts counts = {0};
    for (size_t i = 0; i < MANY; i++)
        put(&text, "the ");
    r->run = &run;
    assert_int_equal(replacer_run(r, rng, text.data, text.size, out, &counts, NULL),
                     TEM_ERR_CANCELLED);
    r->run = NULL;
    assert_int_equal(out->size, before);
    assert_counts(&counts, &(tem_counts){0});
    assert_int_equal(replacer_run(r, rng, "good", 4, out, &counts, NULL), TEM_OK);
    assert_int_equal(out->size, before + 4);
    assert_memory_equal(out->data + before, "good", 4);
    core_buffer_free(&text);
}

/* A dry run needs no generator; a document that fails leaves no part of itself behind. */
static void test_replacer(void **state) {
    (void)state;
    replacer dry, wet;
    tem_rng *rng = NULL;
    core_buffer out = {0};
    tem_counts counts = {0};
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    assert_int_equal(replacer_init(&dry, still, NULL, NULL), TEM_OK);
    assert_int_equal(replacer_init(&wet, still, NULL, NULL), TEM_OK);
    dry.dry_run = true;
    assert_int_equal(replacer_run(&dry, NULL, "the\nzyx!", 8, &out, &counts, NULL), TEM_OK);
    assert_counts(&counts, &COUNTS(1, 2, 1, 1));
    assert_int_equal(out.size, 0);
    put(&out, "before");
    assert_int_equal(replacer_run(&wet, rng, "the\nmovie\n\xff", 11, &out, &counts, NULL),
                     TEM_ERR_FORMAT);
    assert_int_equal(out.size, 6);
    assert_counts(&counts, &COUNTS(1, 2, 1, 1));
    check_stopped_document(&wet, rng, &out);
    replacer_free(&dry);
    replacer_free(&wet);
    core_buffer_free(&out);
    tem_rng_free(rng);
}

/* ---- files: the output of a run ---- */

/* Runs over `text` and compares; to a file and to standard output, on one and two threads. */
static void expect_files(const tem_job *base, const char *text, size_t size, const char *wanted,
                         size_t wanted_size) {
    const char *const in = path_of("in"), *const out = path_of("out");
    tem_job job = *base;
    write_bytes(in, text, size);
    job.inputs = &in;
    job.input_count = 1;
    const int open_before = open_files();
    for (unsigned threads = 1; threads <= 2; threads++) {
        const tem_run run = {.threads = threads};
        job.output = NULL;
        assert_int_equal(run_to_stdout(still, &job, &run, out, NULL, NULL), TEM_OK);
        assert_file_holds(out, wanted, wanted_size);
        unlink(out);
        job.output = out;
        assert_int_equal(tem_privatize_files(still, &job, &run, NULL, NULL, NULL, NULL), TEM_OK);
        assert_file_holds(out, wanted, wanted_size);
        unlink(out);
    }
    unlink(in);
    assert_int_equal(file_count(), 0);
    assert_int_equal(open_files(), open_before);
}

static void expect_format(tem_format format, const char *text, const char *wanted) {
    const tem_job job = {.format = format,
                         .field = field_of[format],
                         .text = {.oov = TEM_OOV_DROP, .strip_tags = 1}};
    expect_files(&job, text, strlen(text), wanted, strlen(wanted));
}

static void test_lines(void **state) {
    (void)state;
    expect_format(TEM_FORMAT_TEXT, "", "");
    expect_format(TEM_FORMAT_TEXT, "\n", "\n");
    expect_format(TEM_FORMAT_TEXT, "The movie!\nGOOD", "the movie\ngood\n");
    expect_format(TEM_FORMAT_TEXT, "the\r\n\r\n\nmovie\r\n", "the\n\n\nmovie\n");
    expect_format(TEM_FORMAT_TEXT, "zyx\n zyx <b>the</b>\n", "\nthe\n");
    expect_format(TEM_FORMAT_TEXT, "\ufeffThe", "the\n");
    expect_format(TEM_FORMAT_TEXT, "\ufeff", "");
    expect_format(TEM_FORMAT_TEXT, "\ufeff\nThe\r", "\nthe\n");
    const tem_job job = {.format = 0};
    expect_files(&job, "the\0movie\n\0", 11, "the movie\n\n", 11);
}

static void test_csv(void **state) {
    (void)state;
    expect_format(TEM_FORMAT_CSV, "text", "text\n");
    expect_format(TEM_FORMAT_CSV, "\ufeff\"text\",x\nGood,Good\n", "\"text\",x\ngood,Good\n");
    expect_format(TEM_FORMAT_CSV,
                  "id,text,z\r\n1,\"The, movie\",x\r\n\r\n\"2\r\n,\", good ,\"y \"\"z\"\"\"\r\n"
                  "3,,\n4,\"\",Last",
                  "id,text,z\n1,the movie,x\n\"2\r\n,\",good,\"y \"\"z\"\"\"\n"
                  "3,,\n4,,Last\n");
    expect_format(TEM_FORMAT_CSV, "\n\r\ntext,x\nGood,Good\n", "text,x\ngood,Good\n");
    expect_format(TEM_FORMAT_CSV, "\ufeff\ntext,x\nGood,Good\n", "text,x\ngood,Good\n");
    /* Lines within a field become one; a record with an empty result stays a record. */
    expect_format(TEM_FORMAT_CSV, "text\n\"The\r\nmovie\n\"\nzyx\n\"zyx\"\n\n",
                  "text\nthe movie\n\"\"\n\"\"\n");
    const tem_job lines = {.format = TEM_FORMAT_CSV, .field = "text", .text = {.keep_lines = 1}};
    static const char two[] = "text,x\r\n\"The\r\nmovie\r\n\",\"1\r\n\"\r\n\"good\",2",
                      kept[] = "text,x\n\"the\nmovie\n\",\"1\r\n\"\ngood,2\n";
    expect_files(&lines, two, sizeof two - 1, kept, sizeof kept - 1);
    expect_format(TEM_FORMAT_CSV, "id,text\n1,zyx\n", "id,text\n1,\n");
    /* A word that needs quotes gets them. */
    const tem_job word = {
        .format = TEM_FORMAT_CSV,
        .field = "text",
        .text = {.oov = TEM_OOV_KEEP_UNSAFE, .punctuation = TEM_PUNCTUATION_KEEP}};
    static const char in[] = "id,text\n1,the\n2,\"a, \"\"b\"\"\"\n",
                      same[] = "id,text\n1,the\n2,\"a , \"\" b \"\"\"\n";
    expect_files(&word, in, sizeof in - 1, same, sizeof same - 1);
}

static void test_tsv(void **state) {
    (void)state;
    expect_format(TEM_FORMAT_TSV, "\r\nid\ttext\r\n1\t\"The\" <b>movie\r\n\r\n\t\r\nX\tgood",
                  "id\ttext\n1\tthe movie\n\t\nX\tgood\n");
    /* One column: a blank line is not a record, but a record may come out as one. */
    expect_format(TEM_FORMAT_TSV, "text\n\n \nGood, \"bad\"", "text\n\ngood bad\n");
}

static void test_jsonl(void **state) {
    (void)state;
    static const char stream[] =
        "{\"text\" : \"The\\u0020MOVIE\\r\\n\\ngood\\n\", \"x\":[1, {\"text\":\"Zyx\"}]} \r\n"
        "\n\r\r\n{\"text\":null,\"y\": 1.50}\r\r\n { \"te\\u0078t\":\"\\ud83d\\ude00\" }\r";
    expect_format(TEM_FORMAT_JSONL, "\ufeff{\"text\":\"The\"}", "{\"text\":\"the\"}\n");
    expect_format(TEM_FORMAT_JSONL, "", "");
    expect_format(TEM_FORMAT_JSONL, "\n\r\n\r", "");
    expect_format(TEM_FORMAT_JSONL, stream,
                  "{\"text\" : \"the movie good\", \"x\":[1, {\"text\":\"Zyx\"}]} \n"
                  "{\"text\":\"\",\"y\": 1.50}\n { \"te\\u0078t\":\"\" }\n");
    const tem_job kept = {.format = TEM_FORMAT_JSONL,
                          .field = "text",
                          .missing = TEM_MISSING_KEEP,
                          .text = {.keep_lines = 1}};
    static const char wanted[] =
        "{\"text\" : \"the movie\\n\\ngood\\n\", \"x\":[1, {\"text\":\"Zyx\"}]} \n"
        "{\"text\":null,\"y\": 1.50}\n { \"te\\u0078t\":\"\" }\n";
    expect_files(&kept, stream, sizeof stream - 1, wanted, sizeof wanted - 1);
}

/* A null that becomes "" counts like ""; a null that stays is not a document. Its record has a
 * number in both cases, so that a seed gives the other records the same words. */
static void test_missing(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    core_buffer results[3];
    for (int i = 0; i < 3; i++) {
        const tem_job job = {.inputs = &in,
                             .input_count = 1,
                             .output = out,
                             .format = TEM_FORMAT_JSONL,
                             .field = "text",
                             .missing = i == 2 ? TEM_MISSING_KEEP : 0,
                             .insecure_seeded = 1,
                             .insecure_seed = 5};
        tem_counts counts;
        write_text(in, i == 0 ? "{\"text\":\"\"}\n{\"text\":\"the movie was\"}\n"
                              : "{\"text\":null}\n{\"text\":\"the movie was\"}\n");
        assert_int_equal(tem_privatize_files(noisy, &job, NULL, &counts, NULL, NULL, NULL), TEM_OK);
        assert_counts(&counts, &COUNTS(i == 2 ? 1 : 2, 3, 0, 0));
        results[i] = read_bytes(out);
        unlink(out);
        unlink(in);
    }
    assert_int_equal(results[0].size, results[1].size);
    assert_memory_equal(results[0].data, results[1].data, results[0].size);
    assert_memory_equal(results[2].data, "{\"text\":null}\n", 14);
    assert_int_equal(results[2].size - 14, results[0].size - 12);
    assert_memory_equal(results[2].data + 14, results[0].data + 12, results[0].size - 12);
    for (int i = 0; i < 3; i++)
        core_buffer_free(&results[i]);
    assert_string_equal(tem_missing_name(TEM_MISSING_KEEP), "keep");
    tem_missing missing = 0;
    assert_int_equal(tem_missing_parse("empty", &missing, NULL), TEM_OK);
    assert_int_equal(missing, TEM_MISSING_EMPTY);
    assert_int_equal(tem_missing_parse("null", &missing, NULL), TEM_ERR_ARGUMENT);
}

/* The end of a file ends its last document. */
static void test_several_inputs(void **state) {
    (void)state;
    const char *const inputs[] = {path_of("a"), path_of("b"), path_of("c"), path_of("d")};
    const char *const out = path_of("out");
    const tem_job job = {.inputs = inputs, .input_count = 4, .output = out};
    tem_counts counts;
    write_text(inputs[0], "The\nMovie");
    write_text(inputs[1], "");
    write_text(inputs[2], "was\n");
    write_text(inputs[3], "good");
    assert_int_equal(tem_privatize_files(still, &job, NULL, &counts, NULL, NULL, NULL), TEM_OK);
    assert_file_holds(out, "the\nmovie\nwas\ngood\n", 19);
    assert_counts(&counts, &COUNTS(4, 4, 0, 0));
    write_text(inputs[3], "");
    unlink(out);
    write_text(inputs[2], "was");
    assert_int_equal(tem_privatize_files(still, &job, NULL, &counts, NULL, NULL, NULL), TEM_OK);
    assert_file_holds(out, "the\nmovie\nwas\n", 14);
    /* Tables are joined under one header, which must be the same in all. */
    const tem_job csv = {.inputs = inputs,
                         .input_count = 2,
                         .output = out,
                         .format = TEM_FORMAT_CSV,
                         .field = "text",
                         .overwrite = TEM_OVERWRITE};
    write_text(inputs[0], "text,id\nThe,The");
    write_text(inputs[1], "\ufeff\r\ntext,id\r\nWas,Was\n");
    assert_int_equal(tem_privatize_files(still, &csv, NULL, &counts, NULL, NULL, NULL), TEM_OK);
    assert_file_holds(out, "text,id\nthe,The\nwas,Was\n", 24);
    assert_int_equal(counts.documents, 2);
    tem_error other = {.status = TEM_OK};
    write_text(inputs[1], "id,text\nzyx,zyx\n");
    assert_int_equal(tem_privatize_files(still, &csv, NULL, NULL, NULL, NULL, &other),
                     TEM_ERR_FORMAT);
    assert_true(other.line == 1 && strcmp(other.file, inputs[1]) == 0);
    write_text(inputs[1], ""); /* a table without a header */
    assert_int_equal(tem_privatize_files(still, &csv, NULL, NULL, NULL, NULL, &other),
                     TEM_ERR_FORMAT);
    assert_file_holds(out, "text,id\nthe,The\nwas,Was\n", 24);
    unlink(out);
    for (int i = 0; i < 4; i++)
        unlink(inputs[i]);
}

/* ---- the same bytes in every kind of run ---- */

/* Every document equals the result of tem_privatize_text with the generator of its number. */
static void check_documents(tem_format format, const core_buffer *in, const core_buffer *out) {
    record_reader r = one_field(format_find(format), field_of[format]);
    size_t a = 0, b = 0, content_in = 0, content_out = 0;
    if (format == TEM_FORMAT_TSV || format == TEM_FORMAT_CSV) {
        a = b = records_first(&r, in->data, in->size, &content_in);
        assert_int_equal(records_header(&r, in->data, content_in, NULL), TEM_OK);
        assert_memory_equal(in->data, out->data, a);
    }
    for (uint64_t document = 0; a < in->size; document++) {
        record_span from = {0}, to = {0};
        const char *source = in->data + a, *result = out->data + b;
        const size_t in_size = records_first(&r, source, in->size - a, &content_in);
        a += in_size;
        if (records_is_blank(&r, content_in)) {
            document--;
            continue;
        }
        const size_t out_size = records_first(&r, result, out->size - b, &content_out);
        b += out_size;
        assert_int_equal(out_size, content_out + 1);
        assert_int_equal(find_one(&r, source, content_in, &from, NULL), TEM_OK);
        assert_int_equal(find_one(&r, result, content_out, &to, NULL), TEM_OK);
        assert_int_equal(from.start, to.start);
        assert_memory_equal(source, result, from.start);
        assert_int_equal(content_in - from.end, content_out - to.end);
        assert_memory_equal(source + from.end, result + to.end, content_in - from.end);
        core_buffer plain = {0}, private = {0};
        tem_rng *rng = NULL;
        char *wanted = NULL;
        size_t bytes = 0;
        assert_int_equal(records_decode(&from, source, &plain, NULL), TEM_OK);
        assert_int_equal(records_decode(&to, result, &private, NULL), TEM_OK);
        assert_int_equal(tem_rng_create_insecure(42, document, &rng, NULL), TEM_OK);
        assert_int_equal(tem_privatize_text(noisy, NULL, rng, plain.data, plain.size, NULL, &wanted,
                                            &bytes, NULL, NULL),
                         TEM_OK);
        assert_int_equal(private.size, bytes);
        if (bytes > 0)
            assert_memory_equal(private.data, wanted, bytes);
        tem_text_free(wanted);
        tem_rng_free(rng);
        core_buffer_free(&plain);
        core_buffer_free(&private);
    }
    assert_int_equal(b, out->size);
}

static void test_same_bytes(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    for (tem_format format = TEM_FORMAT_TEXT; format <= TEM_FORMAT_JSONL; format++) {
        static const unsigned threads[] = {1, 2, 8, 0};
        tem_counts wanted, counts;
        core_buffer stream = make_stream(format, 300000, &wanted), first = {0};
        write_bytes(in, stream.data, stream.size);
        for (int i = 0; i < 4; i++) {
            const tem_run run = {.threads = threads[i]};
            const tem_job job = {.inputs = &in,
                                 .input_count = 1,
                                 .output = out,
                                 .format = format,
                                 .field = field_of[format],
                                 .overwrite = TEM_OVERWRITE,
                                 .insecure_seeded = 1,
                                 .insecure_seed = 42};
            assert_int_equal(tem_privatize_files(noisy, &job, &run, &counts, NULL, NULL, NULL),
                             TEM_OK);
            assert_counts(&counts, &wanted);
            if (i == 0) {
                first = read_bytes(out);
                check_documents(format, &stream, &first);
            } else {
                assert_file_holds(out, first.data, first.size);
            }
        }
        unlink(in);
        unlink(out);
        core_buffer_free(&stream);
        core_buffer_free(&first);
    }
}

/* What a progress callback is promised: it is called by the thread that made the call, and what is
 * done is at most the total, where that is known. */
typedef struct watch {
    pthread_t caller;
    atomic_uint calls, elsewhere, beyond;
} watch;

static int look(void *context, const char *stage, uint64_t done, uint64_t total) {
    watch *w = context;
    (void)stage;
    atomic_fetch_add(&w->calls, 1);
    atomic_fetch_add(&w->elsewhere, !pthread_equal(pthread_self(), w->caller));
    atomic_fetch_add(&w->beyond, total > 0 && done > total);
    return 0;
}

static void test_progress(void **state) {
    (void)state;
    const char *const in = path_of("in");
    watch w = {.caller = pthread_self()};
    const tem_run run = {.threads = 4, .progress = look, .progress_context = &w};
    tem_job job = {.output = path_of("out"), .overwrite = TEM_OVERWRITE};
    tem_counts counts;
    core_buffer stream = make_stream(TEM_FORMAT_TEXT, 100000, &counts);
    for (unsigned i = 0; i < 64 * 10000; i++) /* large documents ask within them */
        put(&stream, i % 10000 == 0 ? "\n" : "movie ");
    write_bytes(in, stream.data, stream.size);
    assert_int_equal(run_from_pipe(noisy, &job, &run, stream.data, stream.size, 65536), TEM_OK);
    job.inputs = &in;
    job.input_count = 1;
    assert_int_equal(tem_privatize_files(noisy, &job, &run, NULL, NULL, NULL, NULL), TEM_OK);
    assert_true(w.calls > 10);
    assert_int_equal(w.elsewhere, 0);
    assert_int_equal(w.beyond, 0);
    core_buffer_free(&stream);
    unlink(in);
    unlink(path_of("out"));
}

/* The steps in which a pipe delivers, and the kernels. */
static void test_same_bytes_from_pipes(void **state) {
    (void)state;
    static const size_t steps[] = {1 << 20, 1, 7, 4096};
    const char *const out = path_of("out");
    const char *const before = tem_kernel_name();
    for (tem_format format = TEM_FORMAT_TEXT; format <= TEM_FORMAT_JSONL; format++) {
        const tem_run run = {.threads = 2};
        const tem_job job = {.output = out,
                             .format = format,
                             .field = field_of[format],
                             .overwrite = TEM_OVERWRITE,
                             .insecure_seeded = 1,
                             .insecure_seed = 42};
        tem_counts counts;
        core_buffer stream = make_stream(format, 4000, &counts), first = {0};
        for (int i = 0; i < 4; i++) {
            assert_int_equal(run_from_pipe(noisy, &job, &run, stream.data, stream.size, steps[i]),
                             TEM_OK);
            if (i == 0)
                first = read_bytes(out);
            else
                assert_file_holds(out, first.data, first.size);
        }
        check_documents(format, &stream, &first);
        int available = 0;
        const char *name = NULL;
        for (unsigned i = 0; (name = tem_kernel_at(i, &available)) != NULL; i++) {
            if (!available)
                continue;
            assert_int_equal(tem_kernel_force(name, NULL), TEM_OK);
            assert_int_equal(run_from_pipe(noisy, &job, &run, stream.data, stream.size, 65536),
                             TEM_OK);
            assert_file_holds(out, first.data, first.size);
        }
        assert_int_equal(tem_kernel_force(before, NULL), TEM_OK);
        unlink(out);
        core_buffer_free(&stream);
        core_buffer_free(&first);
    }
}

/* Without a seed, even if a number is left in its place, and with another one, other words come.
 * Two runs of 20,000 words agree with probability 0 for all purposes. */
static void test_other_bytes(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    tem_counts counts;
    core_buffer stream = make_stream(TEM_FORMAT_TEXT, 100000, &counts);
    core_buffer results[4];
    write_bytes(in, stream.data, stream.size);
    for (unsigned i = 0; i < 4; i++) {
        const tem_job job = {.inputs = &in,
                             .input_count = 1,
                             .output = out,
                             .overwrite = TEM_OVERWRITE,
                             .insecure_seeded = i < 2,
                             .insecure_seed = i % 2};
        assert_int_equal(tem_privatize_files(noisy, &job, NULL, NULL, NULL, NULL, NULL), TEM_OK);
        results[i] = read_bytes(out);
        for (unsigned k = 0; k < i; k++)
            assert_true(results[i].size != results[k].size ||
                        memcmp(results[i].data, results[k].data, results[i].size) != 0);
    }
    unlink(in);
    unlink(out);
    for (unsigned i = 0; i < 4; i++)
        core_buffer_free(&results[i]);
    core_buffer_free(&stream);
}

/* ---- dry runs, outputs ---- */

static void test_dry_run(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    for (tem_format format = TEM_FORMAT_TEXT; format <= TEM_FORMAT_JSONL; format++) {
        tem_counts wanted, counts;
        core_buffer stream = make_stream(format, 5000, &wanted);
        write_bytes(in, stream.data, stream.size);
        tem_job job = {.inputs = &in,
                       .input_count = 1,
                       .output = out,
                       .format = format,
                       .field = field_of[format],
                       .dry_run = 1};
        assert_int_equal(tem_privatize_files(noisy, &job, NULL, &counts, NULL, NULL, NULL), TEM_OK);
        assert_counts(&counts, &wanted);
        assert_int_equal(file_count(), 1);
        job.output = NULL;
        assert_int_equal(run_to_stdout(noisy, &job, NULL, out, &counts, NULL), TEM_OK);
        assert_counts(&counts, &wanted);
        assert_file_holds(out, "", 0);
        unlink(in);
        unlink(out);
        core_buffer_free(&stream);
    }
}

/* The document with the most words, over all inputs, threads and calls. */
static void test_largest_document(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    const tem_run run = {.threads = 2};
    tem_job job = {.inputs = &in, .input_count = 1, .output = out};
    tem_counts counts = {0};
    write_text(in, "the movie\n\nthe movie was, good zyx!\ngood\n");
    assert_int_equal(tem_privatize_files(noisy, &job, &run, &counts, NULL, NULL, NULL), TEM_OK);
    assert_true(counts.largest == 5 && counts.words == 8);
    job.dry_run = 1;
    assert_int_equal(tem_privatize_files(noisy, &job, &run, &counts, NULL, NULL, NULL), TEM_OK);
    assert_int_equal(counts.largest, 5);
    unlink(in);
    unlink(out);
    char *text = NULL;
    size_t bytes = 0;
    tem_rng *rng = NULL;
    counts = (tem_counts){.largest = 2};
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    assert_int_equal(tem_privatize_text(noisy, NULL, rng, "the movie was", 13, NULL, &text, &bytes,
                                        &counts, NULL),
                     TEM_OK);
    assert_int_equal(counts.largest, 3);
    tem_text_free(text);
    tem_rng_free(rng);
}

static void test_output_file(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    tem_job job = {.inputs = &in, .input_count = 1, .output = out};
    tem_error error;
    write_text(in, "the\n");
    write_text(out, "old");
    assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error),
                     TEM_ERR_EXISTS);
    assert_file_holds(out, "old", 3);
    job.overwrite = TEM_OVERWRITE;
    assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error), TEM_OK);
    assert_file_holds(out, "the\n", 4);
    /* The input must not be the output: it may be the only original. */
    job.output = in;
    assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error),
                     TEM_ERR_EXISTS);
    assert_string_equal(error.file, in);
    assert_file_holds(in, "the\n", 4);
    /* After a failure the old file still exists, or no file does. */
    write_text(in, "the\nzyx\xff\n");
    job.output = out;
    assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error),
                     TEM_ERR_FORMAT);
    assert_file_holds(out, "the\n", 4);
    unlink(out);
    assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error),
                     TEM_ERR_FORMAT);
    assert_int_equal(file_count(), 1);
    unlink(in);
    assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error),
                     TEM_ERR_FILE);
    assert_string_equal(error.file, in);
    assert_int_equal(file_count(), 0);
}

static int stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage;
    assert_true(total == 0 || done <= total);
    return 1;
}

static void test_cancel(void **state) {
    (void)state;
    const char *const in = path_of("in");
    const tem_job job = {.inputs = &in, .input_count = 1, .output = path_of("out")};
    const tem_run run = {.progress = stop_at_once};
    write_text(in, "the\n");
    assert_int_equal(tem_privatize_files(still, &job, &run, NULL, NULL, NULL, NULL),
                     TEM_ERR_CANCELLED);
    assert_int_equal(file_count(), 1);
    unlink(in);
}

/* A slow mechanism can be stopped within a batch, not only between two of them. */
static void test_cancel_within_batch(void **state) {
    (void)state;
    enum { LINES = 1000 };
    const char *const in = path_of("in");
    const tem_job job = {.inputs = &in, .input_count = 1, .output = path_of("out")};
    int calls = 0;
    const tem_run run = {.threads = 1, .progress = stop_at_tenth, .progress_context = &calls};
    core_buffer text = {0};
    tem_counts counts;
    for (int i = 0; i < LINES; i++)
        put(&text, "the movie\n");
    write_bytes(in, text.data, text.size);
    assert_int_equal(tem_privatize_files(still, &job, &run, &counts, NULL, NULL, NULL),
                     TEM_ERR_CANCELLED);
    assert_true(counts.documents < 10);
    assert_int_equal(file_count(), 1);
    core_buffer_free(&text);
    unlink(in);
}

/* Waits until the first line is there, and asks to stop at the next opportunity. */
static int stop_after_a_line(void *context, const char *stage, uint64_t done, uint64_t total) {
    unsigned *calls = context;
    (void)stage, (void)total;
    *calls += done > 0;
    return *calls > 1;
}

/* A request to stop during a batch takes effect before tem waits for the next one: this pipe has no
 * more data, and nobody closes it. */
static void test_cancel_before_waiting(void **state) {
    (void)state;
    int ends[2];
    unsigned calls = 0;
    const tem_run run = {.progress = stop_after_a_line, .progress_context = &calls};
    const tem_job job = {.output = path_of("out")};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "the\nmov", 7), 7);
    const int saved = swap_descriptor(STDIN_FILENO, ends[0]);
    alarm(30); /* ends the program, where it would wait for ever */
    const tem_status status = tem_privatize_files(still, &job, &run, NULL, NULL, NULL, NULL);
    alarm(0);
    restore_descriptor(STDIN_FILENO, saved);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(status, TEM_ERR_CANCELLED);
    assert_int_equal(file_count(), 0);
}

static void test_job_refusals(void **state) {
    (void)state;
    const tem_job bad[] = {{.format = 5},
                           {.format = (tem_format)-1},
                           {.format = TEM_FORMAT_CSV},
                           {.format = TEM_FORMAT_JSONL},
                           {.field = "text"},
                           {.input_count = 1},
                           {.missing = 3},
                           {.missing = (tem_missing)-1},
                           {.text = {.oov = 9}},
                           {.text = {.punctuation = 9}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tem_error error = {.status = TEM_OK};
        assert_int_equal(tem_privatize_files(still, &bad[i], NULL, NULL, NULL, NULL, &error),
                         TEM_ERR_ARGUMENT);
        assert_int_equal(error.status, TEM_ERR_ARGUMENT);
    }
    assert_int_equal(tem_privatize_files(NULL, &(tem_job){0}, NULL, NULL, NULL, NULL, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_privatize_files(still, NULL, NULL, NULL, NULL, NULL, NULL),
                     TEM_ERR_ARGUMENT);
}

/* Every format has its own name and can be found by it; no other name finds a format. */
static void test_formats(void **state) {
    (void)state;
    static const char *const known[] = {"text", "tsv", "csv", "jsonl", NULL};
    tem_error error;
    tem_format format = 0, found = 0;
    for (unsigned i = 0; known[i] != NULL; i++) {
        int has_fields = -1;
        const char *meaning = NULL;
        assert_string_equal(tem_format_at(i, &format, &has_fields, &meaning), known[i]);
        assert_string_equal(tem_format_name(format), known[i]);
        assert_int_equal(tem_format_parse(known[i], &found, NULL), TEM_OK);
        assert_int_equal(found, format);
        assert_int_equal(has_fields, format != TEM_FORMAT_TEXT);
        assert_true(strlen(meaning) > 10);
    }
    assert_null(tem_format_at(4, NULL, NULL, NULL));
    assert_string_equal(tem_format_name((tem_format)5), "unknown");
    assert_string_equal(tem_format_name((tem_format)0), "unknown");
    assert_int_equal(tem_format_parse("xml", &found, &error), TEM_ERR_ARGUMENT);
    assert_string_equal(error.message, "the format is text, tsv, csv or jsonl");
}

/* ---- text that must not come out ---- */

static void assert_no_canary(const char *bytes, size_t size) {
    for (size_t i = 0; i + 3 <= size; i++)
        assert_false(strncasecmp(bytes + i, "zyx", 3) == 0 ||
                     strncasecmp(bytes + i, "nary", 4) == 0);
}

static bool has_canary(const char *path) {
    core_buffer content = read_bytes(path);
    const bool found = memmem(content.data, content.size, "zyx", 3) != NULL;
    core_buffer_free(&content);
    return found;
}

#define CANARIES                                                                                   \
    "zyxcanary ZYXCANARY zyx-canary the-zyxcanary zyx'canary zyxcanary's 'zyxcanary' zyx_canary "  \
    "zyx.canary 1zyx2canary zyx\u00adcanary zyx\u200dcanary \ufeffzyx \u0301zyx\u0301 zyx\u2019s " \
    "don'zyxt zyxn't <b zyxcanary"

static void check_canary(tem_format format, const char *stream) {
    const char *const in = path_of("in"), *const out = path_of("out");
    write_text(in, stream);
    for (tem_oov oov = TEM_OOV_UNIFORM; oov <= TEM_OOV_KEEP_UNSAFE; oov++)
        for (tem_punctuation p = TEM_PUNCTUATION_DROP; p <= TEM_PUNCTUATION_WORD; p++) {
            const tem_job job = {.inputs = &in,
                                 .input_count = 1,
                                 .output = out,
                                 .format = format,
                                 .field = field_of[format],
                                 .overwrite = TEM_OVERWRITE,
                                 .text = {.oov = oov, .punctuation = p}};
            assert_int_equal(tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, NULL),
                             TEM_OK);
            if (oov == TEM_OOV_KEEP_UNSAFE) {
                assert_true(has_canary(out));
                continue;
            }
            core_buffer content = read_bytes(out);
            assert_no_canary(content.data, content.size);
            core_buffer_free(&content);
        }
    unlink(in);
    unlink(out);
}

static void test_canary(void **state) {
    (void)state;
    check_canary(TEM_FORMAT_TEXT, "the " CANARIES "\n" CANARIES);
    check_canary(TEM_FORMAT_TSV, "id\ttext\n1\t" CANARIES "\n");
    check_canary(TEM_FORMAT_CSV, "text,id\n" CANARIES ",1\n\"" CANARIES "\n\"\"zyx\"\"\",1\n");
    check_canary(TEM_FORMAT_JSONL, "{\"text\":\"" CANARIES " \\u007ayx\"}\n");
}

/* A run that must fail at `line`, after `documents` whole documents; the canary is in the faulty
 * record and in those before it. */
static void check_failure(tem_format format, const char *stream, tem_status wanted, uint64_t line,
                          uint64_t documents, const char *written) {
    const char *const in = path_of("in"), *const out = path_of("out");
    tem_counts counts = COUNTS(9, 9, 9, 9);
    tem_error error = {.status = TEM_OK};
    tem_job job = {.inputs = &in,
                   .input_count = 1,
                   .format = format,
                   .field = field_of[format],
                   .text = {.oov = TEM_OOV_MASK}};
    write_text(in, stream);
    assert_int_equal(run_to_stdout(still, &job, NULL, out, &counts, &error), wanted);
    assert_int_equal(error.status, wanted);
    assert_int_equal(error.line, line);
    assert_string_equal(error.file, in);
    assert_no_canary(error.message, strlen(error.message));
    assert_int_equal(counts.documents, documents);
    assert_file_holds(out, written, strlen(written));
    unlink(out);
    job.output = out;
    assert_int_equal(tem_privatize_files(still, &job, NULL, &counts, NULL, NULL, NULL), wanted);
    job.dry_run = 1;
    assert_int_equal(tem_privatize_files(still, &job, NULL, &counts, NULL, NULL, &error), wanted);
    assert_int_equal(error.line, line);
    assert_int_equal(file_count(), 1);
    unlink(in);
}

static void test_failures(void **state) {
    (void)state;
    const tem_status bad = TEM_ERR_FORMAT;
    check_failure(TEM_FORMAT_TEXT, "the\nzyx\nzyxcanary \xff\ngood\n", bad, 3, 2, "the\n<unk>\n");
    check_failure(TEM_FORMAT_TEXT, "\xffzyx", bad, 1, 0, "");
    check_failure(TEM_FORMAT_TSV, "id\ttext\n1\tthe\n2\n", bad, 3, 1, "id\ttext\n1\tthe\n");
    check_failure(TEM_FORMAT_TSV, "id\tzyx\n1\tzyxcanary\n", bad, 1, 0, "");
    check_failure(TEM_FORMAT_TSV, "id\ttext\n1\tzyx\xc3(\n", bad, 2, 0, "id\ttext\n");
    check_failure(TEM_FORMAT_CSV, "zyx,zyxcanary\n", bad, 1, 0, "");
    check_failure(TEM_FORMAT_CSV, "text,zyxcanary,text\n", bad, 1, 0, "");
    check_failure(TEM_FORMAT_CSV, "text\n\"a\n\nb\"\nthe\nzyx\"canary\n", bad, 6, 2,
                  "text\n<unk> <unk>\nthe\n");
    check_failure(TEM_FORMAT_CSV, "\n\nzyx,canary\n", bad, 3, 0, "");
    check_failure(TEM_FORMAT_CSV, "\r\n\n", bad, 1, 0, "");
    check_failure(TEM_FORMAT_CSV, "text\n\"zyxcanary\nzyx\n", bad, 2, 0, "text\n");
    check_failure(TEM_FORMAT_CSV, "text\n\"zyxcanary\"zyx\n", bad, 2, 0, "text\n");
    check_failure(TEM_FORMAT_CSV, "text\nzyxcanary,zyx\n", bad, 2, 0, "text\n");
    check_failure(TEM_FORMAT_CSV, "text,id\nzyxcanary\xff,1\n", bad, 2, 0, "text,id\n");
    check_failure(TEM_FORMAT_JSONL, "{\"text\":\"the\"}\n{\"text\":\"zyxcanary}\n", bad, 2, 1,
                  "{\"text\":\"the\"}\n");
    check_failure(TEM_FORMAT_JSONL, "{\"text\":zyxcanary}", bad, 1, 0, "");
    check_failure(TEM_FORMAT_JSONL, "{\"zyxcanary\":\"zyx\"}", bad, 1, 0, "");
    check_failure(TEM_FORMAT_JSONL, "{\"text\":\"zyxcanary\\ud800\"}", bad, 1, 0, "");
    check_failure(TEM_FORMAT_JSONL, "{\"text\":\"zyx\xff\"}", bad, 1, 0, "");
    check_failure(TEM_FORMAT_JSONL, "\n\n{\"text\":[\"zyxcanary\"]}", bad, 3, 0, "");
    check_failure(TEM_FORMAT_JSONL, "{\"text\":\"the\"}\n\ufeff{\"text\":\"zyxcanary\"}", bad, 2, 1,
                  "{\"text\":\"the\"}\n");
}

/* Errors name standard input too, whatever fails. */
static void test_failures_of_stdin(void **state) {
    (void)state;
    static const char *const streams[] = {"", "zyx\xff\n", "id\nzyx\n", "zyx,id\n", "zyx\n"};
    for (tem_format format = TEM_FORMAT_TEXT; format <= TEM_FORMAT_JSONL; format++) {
        const tem_job job = {.format = format, .field = field_of[format], .dry_run = 1};
        int ends[2];
        tem_error error = {.status = TEM_OK};
        assert_int_equal(pipe(ends), 0);
        const size_t size = strlen(streams[format]);
        assert_int_equal(write(ends[1], streams[format], size), size);
        close(ends[1]);
        const int saved = swap_descriptor(STDIN_FILENO, ends[0]);
        close(ends[0]);
        const tem_status status = tem_privatize_files(still, &job, NULL, NULL, NULL, NULL, &error);
        restore_descriptor(STDIN_FILENO, saved);
        assert_int_equal(status, TEM_ERR_FORMAT);
        assert_string_equal(error.file, "standard input");
        assert_int_equal(error.line, 1);
    }
}

/* An error far into a large input: all documents before it come out, none after, for any number of
 * threads. */
static void test_failure_in_the_middle(void **state) {
    (void)state;
    const char *const in = path_of("in"), *const out = path_of("out");
    enum { BEFORE = 60000, AFTER = 40000 };
    core_buffer stream = {0};
    for (int i = 0; i < BEFORE + AFTER; i++)
        put(&stream, i == BEFORE ? "zyx \xff\n" : "The Movie\n");
    write_bytes(in, stream.data, stream.size);
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        const tem_run run = {.threads = threads};
        const tem_job job = {.inputs = &in, .input_count = 1};
        tem_counts counts;
        tem_error error;
        assert_int_equal(run_to_stdout(still, &job, &run, out, &counts, &error), TEM_ERR_FORMAT);
        assert_int_equal(error.line, BEFORE + 1);
        assert_int_equal(counts.documents, BEFORE);
        assert_int_equal(counts.words, 2 * BEFORE);
        core_buffer content = read_bytes(out);
        assert_int_equal(content.size, 10 * BEFORE);
        assert_memory_equal(content.data + content.size - 10, "the movie\n", 10);
        core_buffer_free(&content);
    }
    core_buffer_free(&stream);
    unlink(in);
    unlink(out);
}

/* ---- slow pipes ---- */

/* A partner that writes half a line, waits, writes the rest, and wants the answer before going
 * on. */
typedef struct talker {
    int to, from;
    char answer[64];
    bool answered;
} talker;

static void *talk(void *context) {
    talker *t = context;
    const struct timespec pause = {.tv_nsec = 400000000};
    struct pollfd answer = {.fd = t->from, .events = POLLIN};
    if (write(t->to, "The mov", 7) == 7 && nanosleep(&pause, NULL) == 0 &&
        write(t->to, "ie\nwas", 6) == 6 && poll(&answer, 1, 20000) == 1)
        t->answered = read(t->from, t->answer, sizeof t->answer - 1) > 0;
    if (write(t->to, " good", 5) != 5)
        t->answered = false;
    close(t->to);
    return NULL;
}

static int count_calls(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    ++*(unsigned *)context;
    return 0;
}

/* The answer comes as soon as a line is complete, and waiting for the rest takes no CPU time: three
 * reads and their batches, not thousands of polls of the pipe. */
static void test_slow_pipe(void **state) {
    (void)state;
    int in[2], out[2];
    pthread_t writer;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    talker t = {.to = in[1], .from = out[0]};
    unsigned calls = 0;
    const tem_run run = {.progress = count_calls, .progress_context = &calls};
    fflush(stdout);
    const int saved_in = swap_descriptor(STDIN_FILENO, in[0]);
    const int saved_out = swap_descriptor(STDOUT_FILENO, out[1]);
    const clock_t start = clock();
    const int started = pthread_create(&writer, NULL, talk, &t);
    const tem_status status =
        started == 0 ? tem_privatize_files(still, &(tem_job){0}, &run, NULL, NULL, NULL, NULL)
                     : TEM_ERR_UNSUPPORTED;
    if (started == 0)
        pthread_join(writer, NULL);
    const clock_t spent = clock() - start;
    restore_descriptor(STDIN_FILENO, saved_in);
    restore_descriptor(STDOUT_FILENO, saved_out);
    close(out[1]);
    assert_int_equal(status, TEM_OK);
    assert_true(t.answered);
    assert_string_equal(t.answer, "the movie\n");
    char rest[16] = "";
    assert_int_equal(read(out[0], rest, sizeof rest), 9);
    assert_string_equal(rest, "was good\n");
    assert_true(calls < 50 && spent < CLOCKS_PER_SEC / 5);
    close(in[0]);
    close(out[0]);
}

/* ---- every outside operation fails once, at every place where it can ---- */

#ifdef TEM_FAULTS
/* Longer than the initial size of a buffer, so that a fault cuts a record in its middle. */
#define LONG_LINE                                                                                  \
    "the movie was good the movie was bad the movie was good the movie was bad "                   \
    "the movie was good the movie was bad the movie was good the movie was bad "
#define LONG_TEXT LONG_LINE LONG_LINE LONG_LINE LONG_LINE LONG_LINE LONG_LINE

static const char *const faulty_streams[] = {
    "", "The movie\n\nwas caf\u00e9 zyx\n" LONG_TEXT "\ngood",
    "id\ttext\n1\tThe movie\n2\t" LONG_TEXT "\n",
    "id,text\n1,\"The\nmovie\"\n\n2,caf\u00e9 zyx\n3," LONG_TEXT "\n4,good",
    "{\"text\":\"The movie\"}\n{\"a\":[{}],\"text\":\"caf\u00e9 zyx\"}\n{\"text\":\"" LONG_TEXT
    "\"}\n{\"text\":null}"};

/* Whether `part` consists of the first documents of `all`, each complete. */
static bool is_whole_prefix(tem_format format, const core_buffer *part, const core_buffer *all) {
    const record_reader r = {.format = format_find(format)};
    size_t at = 0, content = 0;
    if (part->size > all->size || memcmp(part->data, all->data, part->size) != 0)
        return false;
    while (at < part->size)
        at += records_first(&r, all->data + at, all->size - at, &content);
    return at == part->size;
}

/* Standard output has whole documents; a file is complete or missing. It may be complete although
 * the run failed, if the directory could not be flushed after the file got its name. */
static void check_output(tem_format format, bool to_file, tem_status status,
                         const core_buffer *found, const core_buffer *right) {
    if (found->size == SIZE_MAX)
        assert_true(to_file && status != TEM_OK);
    else
        assert_true(is_whole_prefix(format, found, right));
    if (status == TEM_OK || (to_file && found->size != SIZE_MAX))
        assert_int_equal(found->size, right->size);
}

/* Fails the nth place in run n; returns the number of places. */
static uint64_t fail_everywhere(tem_format format, bool to_file, unsigned threads) {
    const char *const inputs[] = {path_of("a"), path_of("b")};
    const char *const out = path_of("out");
    const tem_run run = {.threads = threads};
    const tem_job job = {.inputs = inputs,
                         .input_count = 2,
                         .format = format,
                         .field = field_of[format],
                         .output = to_file ? out : NULL,
                         .text = {.oov = TEM_OOV_MASK, .strip_tags = 1}};
    core_buffer right = {0};
    uint64_t n = 0;
    write_text(inputs[0], faulty_streams[format]);
    write_text(inputs[1], faulty_streams[format]);
    for (bool hit = true; hit; n++) {
        tem_error error = {.status = TEM_OK};
        core_fault_arm(n); /* 0: none, to see what is right */
        const tem_status status =
            to_file ? tem_privatize_files(still, &job, &run, NULL, NULL, NULL, &error)
                    : run_to_stdout(still, &job, &run, out, NULL, &error);
        hit = core_fault_hit() || n == 0;
        core_fault_arm(0);
        assert_int_equal(error.status, status);
        assert_no_canary(error.message, strlen(error.message));
        if (n > 0 && hit)
            assert_true(status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
        else
            assert_int_equal(status, TEM_OK);
        core_buffer after = read_bytes(out);
        if (n == 0)
            right = after;
        check_output(format, to_file, status, &after, &right);
        assert_int_equal(file_count(), after.size == SIZE_MAX ? 2 : 3);
        if (n > 0)
            core_buffer_free(&after);
        unlink(out);
    }
    core_buffer_free(&right);
    unlink(inputs[0]);
    unlink(inputs[1]);
    return n - 2;
}

static void test_faults(void **state) {
    (void)state;
    for (tem_format format = TEM_FORMAT_TEXT; format <= TEM_FORMAT_JSONL; format++)
        for (int to_file = 0; to_file < 2; to_file++)
            for (unsigned threads = 1; threads <= 2; threads++)
                assert_true(fail_everywhere(format, to_file, threads) >= 20);
}

/* The same for one text: nothing is returned. */
static void test_faults_of_text(void **state) {
    (void)state;
    static const char text[] = "The movie was\ncaf\u00e9 zyx good";
    const tem_text_options options = {.oov = TEM_OOV_MASK, .strip_tags = 1};
    tem_rng *rng = NULL;
    assert_int_equal(tem_rng_create(&rng, NULL), TEM_OK);
    for (uint64_t n = 1;; n++) {
        char *out = NULL;
        size_t bytes = 0;
        core_fault_arm(n);
        const tem_status status = tem_privatize_text(still, &options, rng, text, sizeof text - 1,
                                                     NULL, &out, &bytes, NULL, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_int_equal(status, hit ? TEM_ERR_MEMORY : TEM_OK);
        assert_int_equal(out == NULL, hit);
        tem_text_free(out);
        if (!hit) {
            assert_true(n > 4);
            break;
        }
    }
    tem_rng_free(rng);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_kept_lines),
        cmocka_unit_test(test_text_refusals),
        cmocka_unit_test(test_every_word_is_drawn_for),
        cmocka_unit_test(test_replacer),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_several_inputs),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_same_bytes_from_pipes),
        cmocka_unit_test(test_other_bytes),
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_largest_document),
        cmocka_unit_test(test_output_file),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_within_batch),
        cmocka_unit_test(test_cancel_before_waiting),
        cmocka_unit_test(test_job_refusals),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_canary),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_failures_of_stdin),
        cmocka_unit_test(test_failure_in_the_middle),
        cmocka_unit_test(test_slow_pipe),
#ifdef TEM_FAULTS
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_faults_of_text),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
