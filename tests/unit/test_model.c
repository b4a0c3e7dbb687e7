/* test_model.c - the model file: opening returns what was saved, and tem refuses damaged files.
 *
 * Small models of every metric go through a file and back. Then the test cuts their files at every
 * length, flips every bit, and sets every field to extreme values, with and without corrected
 * hashes. Opening, using and verifying such a file never touches memory outside it (the copies are
 * blocks of exactly the file's size, so a sanitizer sees it). Verification passes only if a plain
 * recomputation in this file agrees with every word, list and bound. */
#include "core/memory.h"
#include "model/model_layout.h"
#include "slow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- small models of every kind ---- */

enum { WORDS = 13, DIMENSION = 5, LISTED = 4 };

typedef enum {
    EUCLIDEAN,
    ANGULAR,
    L1,
    LINF,
    MATRIX,
    FUNCTION,
    KINDS,
} kind;

static const char *const words[WORDS] = {"the",
                                         "cat",
                                         "sat",
                                         "on",
                                         "a",
                                         "mat",
                                         "na\xc3\xafve",
                                         "\xe6\x97\xa5",
                                         "\xf0\x9f\x98\x80",
                                         "two words",
                                         "x",
                                         "it's",
                                         "Cat"};

static uint64_t random_state;

static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Within -4 to 4 in steps of 1/16, so that several words are at equal distances. */
static float random_value(void) {
    return (float)((int)(random_u64() % 129) - 64) / 16;
}

static void fill_values(float *values, uint32_t count, uint32_t dimension) {
    random_state = 1;
    for (size_t i = 0; i < (size_t)count * dimension; i++)
        values[i] = random_value();
    /* Words 3 and 7 are the same point. */
    memcpy(values + (size_t)7 * dimension, values + (size_t)3 * dimension,
           dimension * sizeof *values);
}

static tem_model *build_vectors(tem_metric metric, const tem_run *run) {
    float values[WORDS * DIMENSION];
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    const tem_build_options options = {.metric = metric, .neighbours = LISTED};
    fill_values(values, WORDS, DIMENSION);
    assert_int_equal(tem_vectors_create(words, values, WORDS, DIMENSION, &vectors, NULL), TEM_OK);
    assert_int_equal(tem_model_build(vectors, &options, run, &model, NULL), TEM_OK);
    tem_vectors_free(vectors);
    return model;
}

/* Points on a line, two of them equal. */
static double line_distance(void *context, uint32_t a, uint32_t b) {
    static const double places[WORDS] = {0, 1.5, 2.25, 8, -3, 0.1, 7, 8, 2.2, -1, 1e-3, 20, 4};
    (void)context;
    return places[a] > places[b] ? places[a] - places[b] : places[b] - places[a];
}

static tem_model *build_matrix(const tem_run *run) {
    double distances[WORDS * WORDS];
    tem_model *model = NULL;
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < WORDS; b++)
            distances[a * WORDS + b] = line_distance(NULL, a, b);
    assert_int_equal(tem_model_build_matrix(words, WORDS, distances, LISTED, run, &model, NULL),
                     TEM_OK);
    return model;
}

static tem_model *build(kind k, const tem_run *run) {
    static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF};
    tem_model *model = NULL;
    if (k < MATRIX)
        return build_vectors(metrics[k], run);
    if (k == MATRIX)
        return build_matrix(run);
    assert_int_equal(
        tem_model_build_function(words, WORDS, line_distance, NULL, WORDS, run, &model, NULL),
        TEM_OK);
    return model;
}

/* Enough words for several blocks, so that threads have work to share. */
static tem_model *build_wide(const tem_run *run) {
    enum { MANY = 450, LONG = 700 };
    static char names[MANY][8];
    static const char *spans[MANY];
    float *values = calloc((size_t)MANY * LONG, sizeof *values);
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    assert_non_null(values);
    fill_values(values, MANY, LONG);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        spans[i] = names[i];
    }
    assert_int_equal(tem_vectors_create(spans, values, MANY, LONG, &vectors, NULL), TEM_OK);
    assert_int_equal(
        tem_model_build(vectors, &(tem_build_options){.neighbours = 10}, run, &model, NULL),
        TEM_OK);
    tem_vectors_free(vectors);
    free(values);
    return model;
}

/* ---- files ---- */

static char folder[64];
static char model_path[96];

/* A file's bytes in a block of exactly their size, aligned like a mapping. */
typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes new_bytes(const void *data, size_t size) {
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, MODEL_ALIGNMENT, size == 0 ? 1 : size), 0);
    if (size > 0)
        memcpy(block, data, size);
    return (bytes){block, size};
}

static bytes read_bytes(const char *path) {
    static char buffer[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(buffer, 1, sizeof buffer, file);
    assert_true(feof(file) != 0 && size < sizeof buffer);
    fclose(file);
    return new_bytes(buffer, size);
}

static void write_bytes(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The number of files in the directory. The test puts nothing else there, so that a leftover
 * temporary file shows. */
static int file_count(void) {
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static bytes saved(const tem_model *model) {
    assert_int_equal(tem_model_save(model, model_path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    assert_int_equal(file_count(), 1);
    bytes b = read_bytes(model_path);
    assert_int_equal(unlink(model_path), 0);
    return b;
}

static bytes bytes_of(kind k) {
    tem_model *model = build(k, NULL);
    bytes b = saved(model);
    tem_model_free(model);
    return b;
}

static void assert_same_bytes(bytes a, bytes b) {
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/tem-model-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(model_path, sizeof model_path, "%s/model.tem", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

/* ---- the same model twice ---- */

static void compare_info(const tem_model *a, const tem_model *b) {
    tem_model_info x, y;
    tem_model_get_info(a, &x);
    tem_model_get_info(b, &y);
    assert_int_equal(x.words, y.words);
    assert_int_equal(x.dimension, y.dimension);
    assert_int_equal(x.metric, y.metric);
    assert_int_equal(x.step_log2, y.step_log2);
    assert_int_equal(x.neighbours, y.neighbours);
    assert_int_equal(x.deviation, y.deviation);
    assert_int_equal(x.triangles, y.triangles);
    assert_int_equal(x.triangles_exhaustive, y.triangles_exhaustive);
}

static void compare_words(const tem_model *a, const tem_model *b, uint32_t count) {
    static const char *const absent[] = {"", "th", "them", "The", "na\xc3", "two", "words "};
    for (uint32_t id = 0; id < count; id++) {
        size_t length = 0, other_length = 0;
        const char *word = tem_model_word(a, id, &length);
        const char *other = tem_model_word(b, id, &other_length);
        assert_int_equal(length, other_length);
        assert_memory_equal(word, other, length);
        assert_int_equal(tem_model_find(b, word, length), id);
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_int_equal(tem_model_find(b, absent[i], strlen(absent[i])), TEM_NO_WORD);
    size_t length = 1;
    assert_null(tem_model_word(b, count, &length));
    assert_int_equal(length, 0);
}

static void compare_lists(const tem_model *a, const tem_model *b, uint32_t count) {
    for (uint32_t id = 0; id < count; id++) {
        tem_neighbours x, y;
        assert_int_equal(tem_model_neighbours(a, id, &x, NULL), TEM_OK);
        assert_int_equal(tem_model_neighbours(b, id, &y, NULL), TEM_OK);
        assert_int_equal(x.count, y.count);
        assert_int_equal(x.bound, y.bound);
        assert_memory_equal(x.list, y.list, x.count * sizeof *x.list);
        for (uint32_t other = 0; other < count; other++)
            assert_int_equal(tem_model_distance(a, id, other), tem_model_distance(b, id, other));
    }
    assert_int_equal(tem_model_distance(b, 0, count), UINT32_MAX);
    assert_int_equal(tem_model_distance(b, UINT32_MAX, 0), UINT32_MAX);
    assert_int_equal(tem_model_neighbours(b, count, &(tem_neighbours){0}, NULL), TEM_ERR_ARGUMENT);
}

static void check_file_info(const tem_model *model, size_t size) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    assert_int_equal(info.file_bytes, size);
    assert_int_equal(strlen(info.hash), 64);
    assert_int_equal(strspn(info.hash, "0123456789abcdef"), 64);
}

static void test_round_trip(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        tem_model *built = build(k, NULL), *opened = NULL;
        tem_model_info info;
        tem_model_get_info(built, &info);
        assert_int_equal(info.file_bytes, 0);
        assert_string_equal(info.hash, "");
        assert_int_equal(tem_model_check(built, NULL, NULL), TEM_OK);
        assert_int_equal(tem_model_verify(built, NULL, NULL), TEM_OK);

        assert_int_equal(tem_model_save(built, model_path, TEM_KEEP_EXISTING, NULL, NULL), TEM_OK);
        assert_int_equal(tem_model_open(model_path, &opened, NULL), TEM_OK);
        struct stat on_disk;
        assert_int_equal(stat(model_path, &on_disk), 0);
        check_file_info(opened, (size_t)on_disk.st_size);
        compare_info(built, opened);
        compare_words(built, opened, WORDS);
        compare_lists(built, opened, WORDS);
        assert_int_equal(tem_model_check(opened, NULL, NULL), TEM_OK);
        assert_int_equal(tem_model_verify(opened, NULL, NULL), TEM_OK);

        /* The mapping outlives the file name. */
        assert_int_equal(unlink(model_path), 0);
        compare_lists(built, opened, WORDS);
        tem_model_free(opened);
        tem_model_free(built);
    }
}

static void test_same_bytes(void **state) {
    (void)state;
    static const unsigned threads[] = {1, 2, 8};
    for (kind k = 0; k <= KINDS; k++) {
        bytes first = {NULL, 0};
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            const tem_run run = {.threads = threads[i]};
            tem_model *model = k == KINDS ? build_wide(&run) : build(k, &run);
            bytes now = saved(model);
            if (i == 0)
                first = new_bytes(now.data, now.size);
            assert_same_bytes(first, now);
            free(now.data);
            tem_model_free(model);
        }
        tem_model *opened = NULL;
        write_bytes(model_path, first.data, first.size);
        assert_int_equal(tem_model_open(model_path, &opened, NULL), TEM_OK);
        bytes again = saved(opened); /* over the mapped file */
        assert_same_bytes(first, again);
        tem_model_free(opened);
        free(again.data);
        free(first.data);
    }
}

/* ---- hostile files ---- */

/* What users of a list rely on without a check, even if the file is damaged: ids of words, in
 * ascending order, none beyond the bound. */
static uint64_t use_list(const tem_model *model, uint32_t id, uint32_t count,
                         const tem_neighbours *n) {
    uint64_t sum = 0;
    assert_true(n->count >= 1 && n->count <= count);
    for (uint32_t i = 0; i < n->count; i++) {
        const tem_neighbour *entry = &n->list[i];
        assert_true(entry->id < count && entry->distance <= n->bound);
        if (i > 0)
            assert_true(entry[-1].distance < entry->distance ||
                        (entry[-1].distance == entry->distance && entry[-1].id < entry->id));
        sum += tem_model_distance(model, id, entry->id) + entry->distance;
    }
    return sum;
}

/* A draw for every word, with a gamma that keeps every draw short, whatever the bounds. */
static uint64_t use_draws(const tem_model *model, uint32_t count, const char *drawn_by) {
    tem_mechanism_options options = {.mechanism = drawn_by,
                                     .epsilon = strcmp(drawn_by, "madlib") == 0 ? 1e6 : 1};
    if (strcmp(drawn_by, "tem") == 0)
        options.gamma = 2;
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    uint64_t sum = 0;
    const tem_status status = tem_mechanism_create(model, &options, &mechanism, NULL);
    assert_int_not_equal(status, TEM_ERR_UNTRUSTED); /* must draw from hostile models here */
    if (status != TEM_OK)
        return 0;
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    for (uint32_t id = 0; id < count; id++) {
        uint32_t drawn = 0;
        if (tem_mechanism_draw(mechanism, rng, id, &drawn, NULL) == TEM_OK) {
            assert_true(drawn < count);
            sum += drawn + (uint64_t)1;
        }
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    return sum;
}

/* Makes every possible query; returns the answers, whatever they are, as one number. */
static uint64_t use_everything(tem_model *model) {
    tem_model_info info;
    tem_model_trust_own(model); /* a deceived user */
    tem_model_get_info(model, &info);
    uint64_t sum = 0;
    for (uint32_t id = 0; id < info.words; id++) {
        size_t length = 0;
        const char *word = tem_model_word(model, id, &length);
        for (size_t i = 0; i < length; i++)
            sum += (unsigned char)word[i];
        if (word != NULL)
            sum += tem_model_find(model, word, length);
        tem_neighbours n = {0};
        tem_error error;
        for (int again = 0; again < 2; again++)
            if (tem_model_neighbours(model, id, &n, &error) == TEM_OK)
                sum += use_list(model, id, info.words, &n);
        sum += tem_model_distance(model, id, info.words - 1 - id);
    }
    for (int i = 0; i < WORDS; i++)
        sum += tem_model_find(model, words[i], strlen(words[i]));
    sum += use_draws(model, info.words, "tem");
    sum += use_draws(model, info.words, "madlib");
    return sum + tem_model_find(model, "absent", 6);
}

static bool before(const tem_model *model, uint32_t from, uint32_t a, uint32_t b) {
    const tem_dist x = tem_model_distance(model, from, a), y = tem_model_distance(model, from, b);
    return x < y || (x == y && a < b);
}

/* Whether entry i of the list is the word with i words before it. */
static bool list_is_right(const tem_model *model, uint32_t count, uint32_t id,
                          const tem_neighbours *n) {
    tem_dist bound = UINT32_MAX;
    for (uint32_t other = 0; other < count; other++) {
        const tem_dist d = tem_model_distance(model, id, other);
        uint32_t place = 0;
        for (uint32_t rival = 0; rival < count; rival++)
            place += before(model, id, rival, other);
        if (place < n->count && (n->list[place].id != other || n->list[place].distance != d))
            return false;
        if (place >= n->count && d < bound)
            bound = d;
    }
    return n->count >= 1 && n->count <= count && n->bound == bound;
}

/* The claims of tem_model_verify, computed by brute force. */
static bool is_right(const tem_model *model) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    for (uint32_t id = 0; id < info.words; id++) {
        size_t length = 0;
        tem_neighbours n = {0};
        const char *word = tem_model_word(model, id, &length);
        if (word == NULL || length == 0 || tem_model_find(model, word, length) != id ||
            tem_model_neighbours(model, id, &n, NULL) != TEM_OK ||
            !list_is_right(model, info.words, id, &n))
            return false;
    }
    return true;
}

static const tem_run one_thread = {.threads = 1};

/* PRIVACY: a word that lies elsewhere could be any memory of the process, and is put out. */
static void assert_words_inside(const tem_model *model) {
    const vocab *v = &model->words;
    for (uint32_t id = 0; id < v->count; id++) {
        size_t length = 0;
        const char *word = tem_model_word(model, id, &length);
        if (word != NULL)
            assert_true(word >= v->bytes && length <= v->byte_count &&
                        (size_t)(word - v->bytes) <= v->byte_count - length);
    }
}

/* Opens a copy of the bytes, uses and verifies it. TEM_OK, or the first refusal. */
static tem_status judge(bytes file) {
    tem_model *model = NULL;
    tem_error error = {.status = TEM_OK};
    bytes copy = new_bytes(file.data, file.size);
    const file_view view = {.data = (const char *)copy.data, .size = copy.size, .mapped = false};
    tem_status status = model_from_view(view, "hostile.tem", &model, &error);
    if (status != TEM_OK) {
        assert_null(model);
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != '\0');
        return status;
    }
    assert_words_inside(model);
    const uint64_t answers = use_everything(model);
    assert_int_equal(use_everything(model), answers); /* also after the lists were checked */
    status = tem_model_verify(model, &one_thread, &error);
    if (status == TEM_OK)
        assert_true(is_right(model));
    else
        assert_int_equal(error.status, status);
    tem_model_free(model);
    return status;
}

/* Corrects all hashes that it can: those of the sections that are inside the file according to the
 * table, and that of the header and the table. */
static void reseal(bytes file) {
    model_header header = {0};
    memcpy(&header, file.data, file.size < sizeof header ? file.size : sizeof header);
    const size_t sections = header.sections <= SECTIONS_MAX ? header.sections : SECTIONS_REQUIRED;
    const size_t sealed = sizeof(model_header) + sections * sizeof(model_section);
    if (file.size < sealed + sizeof(model_seal))
        return;
    for (size_t i = 0; i < sections; i++) {
        unsigned char *place = file.data + sizeof(model_header) + i * sizeof(model_section);
        model_section section;
        memcpy(&section, place, sizeof section);
        if (section.offset > file.size || section.bytes > file.size - section.offset)
            continue;
        core_hash256(file.data + section.offset, section.bytes, section.hash);
        memcpy(place, &section, sizeof section);
    }
    core_hash256(file.data, sealed, file.data + sealed);
}

/* Calls judge after correcting the hashes. Leaves the file unchanged. */
static tem_status judge_resealed(bytes file) {
    bytes copy = new_bytes(file.data, file.size);
    reseal(copy);
    tem_status status = judge(copy);
    free(copy.data);
    return status;
}

static model_section section_of(bytes file, uint32_t which) {
    model_section section = {0};
    for (size_t i = 0; i < SECTION_KINDS - 1 && section.kind != which; i++)
        memcpy(&section, file.data + sizeof(model_header) + i * sizeof section, sizeof section);
    assert_int_equal(section.kind, which);
    return section;
}

static void *section_data(bytes file, uint32_t which) {
    return file.data + section_of(file, which).offset;
}

static bool inside(size_t byte, uint64_t offset, uint64_t count) {
    return byte >= offset && byte - offset < count;
}

/* Where the header and the table of the sections end. */
enum { FRONT = sizeof(model_header) + (SECTION_KINDS - 1) * sizeof(model_section) };

/* Whether a byte may change and leave a model that could have been built: another
 * vector or distance, a header field that nothing in the file depends on, a hash, which the test
 * corrects afterwards. */
static bool may_differ(bytes file, size_t byte) {
    static const size_t free_fields[] = {
        offsetof(model_header, dimension), offsetof(model_header, step_log2),
        offsetof(model_header, neighbours), offsetof(model_header, deviation)};
    for (size_t i = 0; i < sizeof free_fields / sizeof *free_fields; i++)
        if (inside(byte, free_fields[i], sizeof(uint32_t)))
            return true;
    if (inside(byte, FRONT, CORE_HASH_BYTES))
        return true;
    if (byte < FRONT)
        return byte >= sizeof(model_header) &&
               inside(byte % sizeof(model_section), offsetof(model_section, hash), CORE_HASH_BYTES);
    for (uint32_t which = SECTION_VECTORS; which <= SECTION_MATRIX; which++)
        for (size_t i = 0; i < SECTION_KINDS - 1; i++) {
            model_section s;
            memcpy(&s, file.data + sizeof(model_header) + i * sizeof s, sizeof s);
            if (s.kind == which && inside(byte, s.offset, s.bytes))
                return true;
        }
    return false;
}

static void test_every_length(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        bytes file = bytes_of(k);
        for (size_t size = 0; size < file.size; size++) {
            const tem_status expected = size < 8 ? TEM_ERR_FORMAT : TEM_ERR_DAMAGED;
            assert_int_equal(judge((bytes){file.data, size}), expected);
            assert_int_equal(judge_resealed((bytes){file.data, size}), expected);
        }
        bytes longer = new_bytes(file.data, file.size);
        longer.data = realloc(longer.data, file.size + 64);
        memset(longer.data + file.size, 0, 64);
        longer.size = file.size + 64;
        assert_int_equal(judge(longer), TEM_ERR_DAMAGED);
        free(longer.data);
        free(file.data);
    }
}

/* The same with real files, where a mapping ends in the middle of a page. */
static void test_every_length_mapped(void **state) {
    (void)state;
    bytes file = bytes_of(EUCLIDEAN);
    write_bytes(model_path, file.data, file.size);
    for (size_t size = file.size; size-- > 0;) {
        tem_model *model = NULL;
        assert_int_equal(truncate(model_path, (off_t)size), 0);
        assert_int_equal(tem_model_open(model_path, &model, NULL),
                         size < 8 ? TEM_ERR_FORMAT : TEM_ERR_DAMAGED);
        assert_null(model);
    }
    assert_int_equal(unlink(model_path), 0);
    free(file.data);
}

/* The hashes find every flipped bit. With the sanitizer, which checks the reading code, one bit per
 * byte is enough. */
static void test_every_bit(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        bytes file = bytes_of(k);
        assert_int_equal(judge(file), TEM_OK);
        for (size_t bit = 0; bit < file.size * 8; bit += SLOW ? 7 : 1) {
            file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            const tem_status status = judge(file);
            if (bit / 8 < 8)
                assert_int_equal(status, TEM_ERR_FORMAT);
            else
                assert_true(status == TEM_ERR_DAMAGED || status == TEM_ERR_VERSION);
            file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        free(file.data);
    }
}

/* One bit of every byte, in a file that is opened by name. */
static void test_every_byte_mapped(void **state) {
    (void)state;
    bytes file = bytes_of(EUCLIDEAN);
    write_bytes(model_path, file.data, file.size);
    int descriptor = open(model_path, O_RDWR);
    assert_true(descriptor >= 0);
    for (size_t i = 0; i < file.size; i++) {
        const unsigned char flipped = file.data[i] ^ (unsigned char)(1u << i % 8);
        assert_int_equal(pwrite(descriptor, &flipped, 1, (off_t)i), 1);
        tem_model *model = NULL;
        tem_status status = tem_model_open(model_path, &model, NULL);
        if (status == TEM_OK) {
            use_everything(model);
            status = tem_model_check(model, &one_thread, NULL);
        }
        assert_int_not_equal(status, TEM_OK);
        tem_model_free(model);
        assert_int_equal(pwrite(descriptor, &file.data[i], 1, (off_t)i), 1);
    }
    close(descriptor);
    assert_int_equal(unlink(model_path), 0);
    free(file.data);
}

/* The checks behind the hashes. With the sanitizer the test flips a bit of every third byte or so,
 * and every bit of the header and the table of the sections. */
static void test_every_bit_resealed(void **state) {
    (void)state;
    static const kind kinds[] = {EUCLIDEAN, ANGULAR, LINF, MATRIX};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bytes file = bytes_of(kinds[i]);
        assert_int_equal(judge_resealed(file), TEM_OK);
        for (size_t bit = 0; bit < file.size * 8; bit += SLOW && bit / 8 >= FRONT ? 23 : 1) {
            file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (judge_resealed(file) == TEM_OK && !may_differ(file, bit / 8))
                fail_msg("kind %d: bit %zu of byte %zu may be anything", (int)kinds[i], bit % 8,
                         bit / 8);
            file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        free(file.data);
    }
}

/* Sets every aligned 32 and 64 bits of the file to numbers that break careless arithmetic. With the
 * sanitizer, after the table of the sections, it uses a seventh of these numbers by turns. */
static void test_extreme_numbers(void **state) {
    (void)state;
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        WORDS,
                                        WORDS + 1,
                                        4096,
                                        4097,
                                        16384,
                                        0x7fff8000,
                                        0x7fffffff,
                                        0x80000000,
                                        UINT32_MAX - 1,
                                        UINT32_MAX,
                                        (uint64_t)1 << 32,
                                        (uint64_t)1 << 48,
                                        (uint64_t)1 << 61,
                                        (uint64_t)1 << 63,
                                        UINT64_MAX - 63,
                                        UINT64_MAX - 7,
                                        UINT64_MAX};
    static const kind kinds[] = {EUCLIDEAN, ANGULAR, MATRIX};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bytes file = bytes_of(kinds[i]), changed = new_bytes(file.data, file.size);
        for (size_t place = 8; place < file.size; place += 4)
            for (size_t j = 0; j < sizeof extremes / sizeof *extremes; j++) {
                const size_t width = extremes[j] <= UINT32_MAX ? 4 : 8;
                if (place % width != 0 || (SLOW && place >= FRONT && (place / 4 + j) % 7 != 0))
                    continue;
                memcpy(changed.data + place, &extremes[j], width);
                if (memcmp(changed.data, file.data, file.size) != 0 &&
                    judge_resealed(changed) == TEM_OK && !may_differ(file, place))
                    fail_msg("kind %d: %" PRIu64 " passes at byte %zu", (int)kinds[i], extremes[j],
                             place);
                memcpy(changed.data + place, file.data + place, width);
            }
        free(changed.data);
        free(file.data);
    }
}

typedef struct hostile {
    const char *name;
    kind k;
    void (*change)(bytes file);
} hostile;

/* Every slot points to a word with the hash of "absent", and no slot is empty. */
static void fill_table(bytes file) {
    uint64_t *slots = section_data(file, SECTION_WORD_TABLE);
    const size_t count = section_of(file, SECTION_WORD_TABLE).bytes / sizeof *slots;
    for (size_t i = 0; i < count; i++)
        slots[i] = (core_hash64("absent", 6) >> 32) << 32 | (i % WORDS + 1);
}

/* Every slot points to a word far beyond the vocabulary, under the hash of "the". */
static void point_beyond(bytes file) {
    uint64_t *slots = section_data(file, SECTION_WORD_TABLE);
    const size_t count = section_of(file, SECTION_WORD_TABLE).bytes / sizeof *slots;
    for (size_t i = 0; i < count; i++)
        slots[i] = (core_hash64("the", 3) >> 32) << 32 | (i % 2 == 0 ? 0 : UINT32_MAX - i);
}

static void all_words_empty(bytes file) {
    memset(section_data(file, SECTION_WORD_STARTS), 0, (WORDS + 1) * sizeof(uint32_t));
}

static void starts_descend(bytes file) {
    uint32_t *starts = section_data(file, SECTION_WORD_STARTS);
    for (uint32_t i = 0; i <= WORDS; i++)
        starts[i] = WORDS - i;
}

/* The first word ends beyond the section, the last one begins there. */
static void starts_beyond(bytes file) {
    uint32_t *starts = section_data(file, SECTION_WORD_STARTS);
    for (uint32_t i = 1; i < WORDS; i++)
        starts[i] = starts[WORDS] + 1;
}

/* Makes the table fit the words. */
static void remake_table(bytes file) {
    const uint32_t *starts = section_data(file, SECTION_WORD_STARTS);
    const char *text = section_data(file, SECTION_WORD_BYTES);
    word_span spans[WORDS];
    vocab made = {0};
    vocab_fault fault;
    for (uint32_t i = 0; i < WORDS; i++)
        spans[i] = (word_span){text + starts[i], starts[i + 1] - starts[i]};
    assert_int_equal(vocab_make(spans, WORDS, &made, &fault), TEM_OK);
    assert_int_equal(section_of(file, SECTION_WORD_TABLE).bytes,
                     made.slot_count * sizeof *made.slots);
    memcpy(section_data(file, SECTION_WORD_TABLE), made.slots,
           made.slot_count * sizeof *made.slots);
    vocab_free(&made);
}

/* Bytes that belong to no word, before the first or behind the last one. */
static void bytes_before_words(bytes file) {
    uint32_t *starts = section_data(file, SECTION_WORD_STARTS);
    starts[0] = 1;
    remake_table(file);
}

static void bytes_behind_words(bytes file) {
    uint32_t *starts = section_data(file, SECTION_WORD_STARTS);
    starts[WORDS] -= 1;
    remake_table(file);
}

static void words_equal(bytes file) {
    uint32_t *starts = section_data(file, SECTION_WORD_STARTS);
    char *text = section_data(file, SECTION_WORD_BYTES);
    memcpy(text + starts[1], text, 3); /* "the" and "cat" */
}

static void word_not_utf8(bytes file) {
    char *text = section_data(file, SECTION_WORD_BYTES);
    text[0] = (char)0xff;
}

static void lists_whole_section(bytes file) {
    uint64_t *starts = section_data(file, SECTION_LIST_STARTS);
    for (uint32_t i = 0; i <= WORDS; i++)
        starts[i] = i % 2 == 0 ? 0 : WORDS * LISTED;
}

static void lists_beyond(bytes file) {
    uint64_t *starts = section_data(file, SECTION_LIST_STARTS);
    for (uint32_t i = 0; i <= WORDS; i++)
        starts[i] = UINT64_MAX - WORDS + i;
}

static void lists_repeat(bytes file) {
    tem_neighbour *entries = section_data(file, SECTION_LISTS);
    for (uint32_t i = 0; i < WORDS * LISTED; i++)
        entries[i] = (tem_neighbour){0, 0};
}

/* One list is shorter, but its bound is that of the longer list. */
static void list_shorter(bytes file) {
    uint64_t *starts = section_data(file, SECTION_LIST_STARTS);
    starts[WORDS] -= 1;
}

/* PRIVACY: a bound beyond the nearest unlisted word breaks the envelope. */
static void bound_larger(bytes file) {
    tem_dist *bounds = section_data(file, SECTION_BOUNDS);
    bounds[(WORDS - 1) * NEIGHBOUR_RANGES]++;
}

static void bound_smaller(bytes file) {
    tem_dist *bounds = section_data(file, SECTION_BOUNDS);
    bounds[0]--;
}

static void bounds_none(bytes file) {
    memset(section_data(file, SECTION_BOUNDS), 0xff, WORDS * NEIGHBOUR_RANGES * sizeof(tem_dist));
}

static void set_rows(bytes file, int16_t even, int16_t odd) {
    int16_t *rows = section_data(file, SECTION_VECTORS);
    const size_t count = section_of(file, SECTION_VECTORS).bytes / sizeof *rows;
    for (size_t i = 0; i < count; i++)
        rows[i] = i / space_row_elements(DIMENSION) % 2 == 0 ? even : odd;
}

static void rows_extreme(bytes file) {
    set_rows(file, INT16_MIN, INT16_MAX);
}

static void rows_least(bytes file) {
    set_rows(file, INT16_MIN, INT16_MIN);
}

static void rows_zero(bytes file) {
    set_rows(file, 0, 0);
}

static void row_off_the_grid(bytes file) {
    int16_t *rows = section_data(file, SECTION_VECTORS);
    rows[0] = 16384;
}

static void row_padding(bytes file) {
    int16_t *rows = section_data(file, SECTION_VECTORS);
    for (uint32_t id = 0; id < WORDS; id++) /* the same everywhere: no distance changes */
        rows[id * space_row_elements(DIMENSION) + DIMENSION] = 1;
}

static void section_padding(bytes file) {
    const model_section s = section_of(file, SECTION_WORD_STARTS);
    assert_true(s.bytes % MODEL_ALIGNMENT != 0);
    file.data[s.offset + s.bytes] = 1;
}

/* All words are infinitely far apart, and the lists agree: a metric, and lists in order, but no
 * such model can be built. */
static void matrix_infinite(bytes file) {
    memset(section_data(file, SECTION_MATRIX), 0xff, section_of(file, SECTION_MATRIX).bytes);
    tem_neighbour *entries = section_data(file, SECTION_LISTS);
    for (uint32_t id = 0; id < WORDS; id++) {
        entries[id * WORDS] = (tem_neighbour){id, 0};
        for (uint32_t i = 1; i < WORDS; i++)
            entries[id * WORDS + i] = (tem_neighbour){i - (i <= id), UINT32_MAX};
    }
}

static void matrix_broken(bytes file) {
    uint32_t *matrix = section_data(file, SECTION_MATRIX);
    matrix[0] = 0;
}

static void header_zero(bytes file) {
    ((model_header *)(void *)file.data)->zero = 1;
}

static void triangles_without_matrix(bytes file) {
    ((model_header *)(void *)file.data)->triangles = 1;
}

static void matrix_with_dimension(bytes file) {
    ((model_header *)(void *)file.data)->dimension = 1;
}

static void matrix_with_step(bytes file) {
    ((model_header *)(void *)file.data)->step_log2 = 1;
}

static void triangles_fewer(bytes file) {
    ((model_header *)(void *)file.data)->triangles -= 1;
}

static void test_hostile_content(void **state) {
    (void)state;
    static const hostile cases[] = {
        {"a full table", EUCLIDEAN, fill_table},
        {"a table of words beyond", EUCLIDEAN, point_beyond},
        {"empty words", EUCLIDEAN, all_words_empty},
        {"descending word starts", EUCLIDEAN, starts_descend},
        {"word starts beyond the section", EUCLIDEAN, starts_beyond},
        {"bytes before the words", EUCLIDEAN, bytes_before_words},
        {"bytes behind the words", EUCLIDEAN, bytes_behind_words},
        {"equal words", EUCLIDEAN, words_equal},
        {"a word that is not UTF-8", EUCLIDEAN, word_not_utf8},
        {"lists of the whole section", EUCLIDEAN, lists_whole_section},
        {"lists beyond the section", EUCLIDEAN, lists_beyond},
        {"repeated ids", EUCLIDEAN, lists_repeat},
        {"a shorter last list", EUCLIDEAN, list_shorter},
        {"a larger bound", EUCLIDEAN, bound_larger},
        {"a smaller bound", EUCLIDEAN, bound_smaller},
        {"no bounds", EUCLIDEAN, bounds_none},
        {"extreme vectors", EUCLIDEAN, rows_extreme},
        {"extreme vectors", ANGULAR, rows_extreme},
        {"extreme vectors", L1, rows_extreme},
        {"extreme vectors", LINF, rows_extreme},
        {"the least vectors", EUCLIDEAN, rows_least},
        {"the least vectors", ANGULAR, rows_least},
        {"zero vectors", ANGULAR, rows_zero},
        {"zero vectors", EUCLIDEAN, rows_zero},
        {"a value of 16384", EUCLIDEAN, row_off_the_grid},
        {"padding in rows", EUCLIDEAN, row_padding},
        {"padding between sections", EUCLIDEAN, section_padding},
        {"an infinite matrix", FUNCTION, matrix_infinite},
        {"a broken triangle", MATRIX, matrix_broken},
        {"a reserved field", EUCLIDEAN, header_zero},
        {"triangles without a matrix", EUCLIDEAN, triangles_without_matrix},
        {"fewer triangles", MATRIX, triangles_fewer},
        {"a matrix with a dimension", MATRIX, matrix_with_dimension},
        {"a matrix with a step", MATRIX, matrix_with_step},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes file = bytes_of(cases[i].k);
        cases[i].change(file);
        const tem_status status = judge_resealed(file);
        if (status != TEM_ERR_DAMAGED)
            fail_msg("%s: %s", cases[i].name, tem_status_name(status));
        free(file.data);
    }
}

/* The search for neighbors reads an infinite distance as "nothing found". So the file must be
 * refused before the search; after it, the verdict would depend on the content of memory. */
static void test_infinite_matrix(void **state) {
    (void)state;
    tem_model *model = NULL;
    tem_error error;
    bytes file = bytes_of(FUNCTION);
    matrix_infinite(file);
    reseal(file);
    const file_view view = {.data = (const char *)file.data, .size = file.size, .mapped = false};
    assert_int_equal(model_from_view(view, "hostile.tem", &model, NULL), TEM_OK);
    assert_int_equal(tem_model_verify(model, NULL, &error), TEM_ERR_DAMAGED);
    assert_non_null(strstr(error.message, "infinite"));
    tem_model_free(model);
}

/* Changes a sealed header of the file: newer, older, or with a wrong size. */
static tem_status judge_header(bytes file, size_t place, uint64_t value, size_t width) {
    bytes copy = new_bytes(file.data, file.size);
    memcpy(copy.data + place, &value, width);
    tem_status status = judge_resealed(copy);
    free(copy.data);
    return status;
}

/* ---- sections that this version does not know ---- */

/* The file with `count` more sections of these kinds behind it; section i has 100 i bytes. */
static bytes with_sections(bytes file, const uint32_t *kinds, size_t count) {
    enum { RECORD = sizeof(model_section) };
    const size_t front = sizeof(model_header) + SECTIONS_REQUIRED * RECORD;
    const size_t longer = count * RECORD;
    size_t end = file.size + longer, size = end;
    for (size_t i = 0; i < count; i++)
        size += core_round_up(100 * i, MODEL_ALIGNMENT);
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, MODEL_ALIGNMENT, size), 0);
    memset(block, 0, size);
    bytes grown = {block, size};
    memcpy(grown.data, file.data, front);
    memcpy(grown.data + front + longer, file.data + front, file.size - front);
    model_section *table = (model_section *)(void *)(grown.data + sizeof(model_header));
    for (size_t i = 0; i < SECTIONS_REQUIRED; i++)
        table[i].offset += longer;
    for (size_t i = 0; i < count; i++) {
        table[SECTIONS_REQUIRED + i] =
            (model_section){.kind = kinds[i], .offset = end, .bytes = 100 * i};
        memset(grown.data + end, 'x', 100 * i);
        end += core_round_up(100 * i, MODEL_ALIGNMENT);
    }
    model_header *header = (model_header *)(void *)grown.data;
    header->sections += (uint32_t)count;
    header->header_bytes += (uint32_t)longer;
    header->file_bytes = size;
    reseal(grown);
    return grown;
}

static tem_status judge_sections(bytes file, const uint32_t *kinds, size_t count) {
    bytes grown = with_sections(file, kinds, count);
    const tem_status status = judge(grown);
    free(grown.data);
    return status;
}

static void test_unknown_sections(void **state) {
    (void)state;
    static const uint32_t optional[] = {SECTION_OPTIONAL | 21, SECTION_OPTIONAL | 77},
                          required[] = {SECTION_OPTIONAL | 21, 22},
                          backwards[] = {SECTION_OPTIONAL | 77, SECTION_OPTIONAL | 21},
                          twice[] = {SECTION_OPTIONAL | 21, SECTION_OPTIONAL | 21},
                          known[] = {SECTION_OPTIONAL | SECTION_BOUNDS},
                          recipe[] = {SECTION_RECIPE}, no_recipe[] = {SECTION_RECIPE_KIND},
                          signals[] = {SECTION_SIGNALS}, no_signals[] = {SECTION_SIGNALS_KIND};
    bytes file = bytes_of(EUCLIDEAN);
    assert_int_equal(judge_sections(file, optional, 1), TEM_OK);
    assert_int_equal(judge_sections(file, optional, 2), TEM_OK);
    assert_int_equal(judge_sections(file, required, 1), TEM_OK);
    assert_int_equal(judge_sections(file, required, 2), TEM_ERR_VERSION);
    assert_int_equal(judge_sections(file, required + 1, 1), TEM_ERR_VERSION);
    assert_int_equal(judge_sections(file, backwards, 2), TEM_ERR_DAMAGED);
    assert_int_equal(judge_sections(file, twice, 2), TEM_ERR_DAMAGED);
    assert_int_equal(judge_sections(file, known, 1), TEM_ERR_DAMAGED);
    assert_int_equal(judge_sections(file, recipe, 1), TEM_ERR_DAMAGED); /* its bytes are none */
    assert_int_equal(judge_sections(file, no_recipe, 1), TEM_ERR_VERSION);
    assert_int_equal(judge_sections(file, signals, 1), TEM_ERR_DAMAGED); /* the same */
    assert_int_equal(judge_sections(file, no_signals, 1), TEM_ERR_VERSION);
    uint32_t many[SECTIONS_MAX];
    for (uint32_t i = 0; i < SECTIONS_MAX; i++)
        many[i] = SECTION_OPTIONAL | (100 + i);
    assert_int_equal(judge_sections(file, many, SECTIONS_MAX - SECTIONS_REQUIRED), TEM_OK);
    assert_int_equal(judge_sections(file, many, SECTIONS_MAX - SECTIONS_REQUIRED + 1),
                     TEM_ERR_DAMAGED);
    free(file.data);
}

/* They are covered by their hashes and by the hash of the model, and a copy of the model has them.
 * Certificates are about the space, which is the same. */
static void test_unknown_sections_count(void **state) {
    (void)state;
    static const uint32_t kinds[] = {SECTION_OPTIONAL | 21, SECTION_OPTIONAL | 77};
    unsigned char spaces[2][CORE_HASH_BYTES], hash[2][CORE_HASH_BYTES];
    bytes file = bytes_of(EUCLIDEAN), grown = with_sections(file, kinds, 2);
    tem_model *models[2] = {NULL, NULL};
    const bytes files[2] = {file, grown};
    for (int i = 0; i < 2; i++) {
        const bytes copy = new_bytes(files[i].data, files[i].size);
        const file_view view = {.data = (const char *)copy.data, .size = copy.size};
        assert_int_equal(model_from_view(view, "grown.tem", &models[i], NULL), TEM_OK);
        model_space_hash(models[i], spaces[i]);
        assert_int_equal(model_hash(models[i], NULL, hash[i], NULL), TEM_OK);
        assert_memory_equal(hash[i], models[i]->hash, CORE_HASH_BYTES);
    }
    assert_memory_equal(spaces[0], spaces[1], CORE_HASH_BYTES);
    assert_true(memcmp(hash[0], hash[1], CORE_HASH_BYTES) != 0);
    for (int i = 0; i < 2; i++)
        tem_model_free(models[i]);
    grown.data[grown.size - 100] ^= 1; /* within the last section */
    assert_int_equal(judge(grown), TEM_ERR_DAMAGED);
    grown.data[grown.size - 100] ^= 1;
    grown.data[grown.size - 1] ^= 1; /* in its padding */
    assert_int_equal(judge(grown), TEM_ERR_DAMAGED);
    free(file.data);
    free(grown.data);
}

static void test_versions(void **state) {
    (void)state;
    const size_t place = offsetof(model_header, version);
    bytes file = bytes_of(EUCLIDEAN);
    assert_int_equal(judge_header(file, place, MODEL_VERSION + 1, 4), TEM_ERR_VERSION);
    assert_int_equal(judge_header(file, place, UINT32_MAX, 4), TEM_ERR_VERSION);
    assert_int_equal(judge_header(file, place, MODEL_VERSION - 1, 4), TEM_ERR_VERSION);
    assert_int_equal(judge_header(file, place, 0, 4), TEM_ERR_VERSION);
    /* A newer format may have another header: only its version may matter. */
    bytes newer = new_bytes(file.data, sizeof(model_header));
    memset(newer.data + 12, 0xee, newer.size - 12);
    newer.data[place] = MODEL_VERSION + 1;
    assert_int_equal(judge(newer), TEM_ERR_VERSION);
    free(newer.data);
    free(file.data);
}

static void test_size_lies(void **state) {
    (void)state;
    const size_t place = offsetof(model_header, file_bytes);
    bytes file = bytes_of(EUCLIDEAN);
    const uint64_t lies[] = {
        0,         file.size - 64, file.size - 1, file.size + 1, file.size + 64, (uint64_t)1 << 63,
        UINT64_MAX};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        assert_int_equal(judge_header(file, place, lies[i], 8), TEM_ERR_DAMAGED);
    free(file.data);
}

/* The message names the file and the section. */
static void test_messages(void **state) {
    (void)state;
    bytes file = bytes_of(EUCLIDEAN);
    tem_error error;
    tem_model *model = NULL;
    file.data[section_of(file, SECTION_LISTS).offset] ^= 1;
    write_bytes(model_path, file.data, file.size);
    assert_int_equal(tem_model_open(model_path, &model, &error), TEM_OK);
    assert_int_equal(tem_model_check(model, NULL, &error), TEM_ERR_DAMAGED);
    assert_string_equal(error.file, model_path);
    assert_non_null(strstr(error.message, "lists"));
    tem_model_free(model);
    assert_int_equal(unlink(model_path), 0);
    free(file.data);
}

/* ---- files that are not models ---- */

static void assert_refused(const char *path, tem_status expected) {
    tem_model *model = NULL;
    tem_error error = {.status = TEM_OK};
    assert_int_equal(tem_model_open(path, &model, &error), expected);
    assert_null(model);
    assert_int_equal(error.status, expected);
    assert_string_equal(error.file, path);
    assert_int_equal(tem_model_open(path, &model, NULL), expected);
}

static void test_no_model(void **state) {
    (void)state;
    static const char text[] = "the 0.1 0.2\ncat 0.3 0.4\n";
    write_bytes(model_path, text, sizeof text - 1);
    assert_refused(model_path, TEM_ERR_FORMAT);
    write_bytes(model_path, MODEL_MAGIC, 7);
    assert_refused(model_path, TEM_ERR_FORMAT);
    write_bytes(model_path, "", 0);
    assert_refused(model_path, TEM_ERR_FORMAT);
    assert_int_equal(unlink(model_path), 0);
    assert_refused(model_path, TEM_ERR_FILE);
    assert_refused(folder, TEM_ERR_FILE);
    assert_refused("", TEM_ERR_FILE);
}

/* A pipe is refused at once, without waiting for a writer. */
static void test_pipe(void **state) {
    (void)state;
    tem_model *model = NULL;
    assert_int_equal(mkfifo(model_path, 0600), 0);
    assert_int_equal(tem_model_open(model_path, &model, NULL), TEM_ERR_FILE);
    assert_null(model);
    assert_int_equal(unlink(model_path), 0);
}

/* The file is overwritten while it is open: the worst outcome is wrong answers. */
static void test_rewritten_while_open(void **state) {
    (void)state;
    bytes file = bytes_of(EUCLIDEAN);
    write_bytes(model_path, file.data, file.size);
    tem_model *model = NULL;
    assert_int_equal(tem_model_open(model_path, &model, NULL), TEM_OK);
    const uint32_t sections = 2000;
    int descriptor = open(model_path, O_WRONLY);
    assert_true(descriptor >= 0);
    assert_int_equal(
        pwrite(descriptor, &sections, sizeof sections, offsetof(model_header, sections)),
        sizeof sections);
    close(descriptor);
    assert_int_equal(tem_model_check(model, NULL, NULL), TEM_OK); /* of the opened content */
    tem_model_free(model);
    free(file.data);
}

/* ---- saving ---- */

static void assert_content(const char *path, bytes expected) {
    bytes found = read_bytes(path);
    assert_same_bytes(found, expected);
    free(found.data);
}

static void test_keep_or_overwrite(void **state) {
    (void)state;
    tem_error error;
    tem_model *model = build(EUCLIDEAN, NULL);
    bytes right = saved(model), old = new_bytes("old", 3);
    write_bytes(model_path, "old", 3);
    assert_int_equal(tem_model_save(model, model_path, TEM_KEEP_EXISTING, NULL, &error),
                     TEM_ERR_EXISTS);
    assert_string_equal(error.file, model_path);
    assert_content(model_path, old);
    assert_int_equal(file_count(), 1);
    assert_int_equal(tem_model_save(model, model_path, TEM_OVERWRITE, NULL, &error), TEM_OK);
    assert_content(model_path, right);
    assert_int_equal(unlink(model_path), 0);
    assert_int_equal(tem_model_save(model, model_path, TEM_KEEP_EXISTING, NULL, &error), TEM_OK);
    assert_content(model_path, right);
    assert_int_equal(unlink(model_path), 0);
    tem_model_free(model);
    free(old.data);
    free(right.data);
}

/* A file that appears under the name while the model is being written is not replaced. */
static int take_name(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context;
    (void)stage;
    if (done == total)
        write_bytes(model_path, "rival", 5);
    return 0;
}

static void test_name_taken(void **state) {
    (void)state;
    const tem_run run = {.progress = take_name};
    tem_model *model = build(EUCLIDEAN, NULL);
    bytes rival = new_bytes("rival", 5);
    assert_int_equal(tem_model_save(model, model_path, TEM_KEEP_EXISTING, &run, NULL),
                     TEM_ERR_EXISTS);
    assert_content(model_path, rival);
    assert_int_equal(file_count(), 1);
    assert_int_equal(unlink(model_path), 0);
    tem_model_free(model);
    free(rival.data);
}

static void test_bad_places(void **state) {
    (void)state;
    char path[128];
    tem_error error;
    tem_model *model = build(EUCLIDEAN, NULL);
    snprintf(path, sizeof path, "%s/missing/model.tem", folder);
    assert_int_equal(tem_model_save(model, path, TEM_OVERWRITE, NULL, &error), TEM_ERR_FILE);
    assert_string_equal(error.file, path);
    assert_int_equal(error.os_error, ENOENT);
    assert_int_equal(tem_model_save(model, folder, TEM_OVERWRITE, NULL, NULL), TEM_ERR_FILE);
    assert_int_equal(tem_model_save(model, folder, TEM_KEEP_EXISTING, NULL, NULL), TEM_ERR_EXISTS);
    assert_int_equal(tem_model_save(model, "", TEM_OVERWRITE, NULL, NULL), TEM_ERR_FILE);
    assert_int_equal(file_count(), 0);

    /* A pipe stands for everything that is not a regular file. The test never uses a device of the
     * system, because a writer without this check would replace it for everyone. */
    struct stat info;
    assert_int_equal(mkfifo(model_path, 0600), 0);
    assert_int_equal(tem_model_save(model, model_path, TEM_OVERWRITE, NULL, NULL), TEM_ERR_FILE);
    assert_int_equal(stat(model_path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(file_count(), 1);
    assert_int_equal(unlink(model_path), 0);
    tem_model_free(model);
}

static void test_read_only_folder(void **state) {
    (void)state;
    if (geteuid() == 0)
        skip(); /* root can write anywhere */
    tem_error error;
    tem_model *model = build(EUCLIDEAN, NULL);
    assert_int_equal(chmod(folder, 0500), 0);
    assert_int_equal(tem_model_save(model, model_path, TEM_OVERWRITE, NULL, &error), TEM_ERR_FILE);
    assert_int_equal(error.os_error, EACCES);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(file_count(), 0);
    tem_model_free(model);
}

/* A full disk, at every 61st byte of the file: the old file stays. */
static void test_disk_full(void **state) {
    (void)state;
    tem_model *model = build(EUCLIDEAN, NULL);
    bytes right = saved(model), old = new_bytes("old", 3);
    struct rlimit before_limit, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before_limit), 0);
    void (*before_handler)(int) = signal(SIGXFSZ, SIG_IGN);
    write_bytes(model_path, "old", 3);
    limit = before_limit;
    for (size_t room = 0; room < right.size; room += 61) {
        tem_error error;
        limit.rlim_cur = room;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const tem_status status = tem_model_save(model, model_path, TEM_OVERWRITE, NULL, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before_limit), 0);
        assert_int_equal(status, TEM_ERR_FILE);
        assert_int_equal(error.os_error, EFBIG);
        assert_string_equal(error.file, model_path);
        assert_content(model_path, old);
        assert_int_equal(file_count(), 1);
    }
    signal(SIGXFSZ, before_handler);
    assert_int_equal(unlink(model_path), 0);
    tem_model_free(model);
    free(old.data);
    free(right.data);
}

/* ---- canceling ---- */

typedef struct stopper {
    int calls, stop_at;
} stopper;

static int stop_at(void *context, const char *stage, uint64_t done, uint64_t total) {
    stopper *s = context;
    assert_non_null(stage);
    assert_true(done <= total);
    return ++s->calls == s->stop_at;
}

static void test_stopped_save(void **state) {
    (void)state;
    tem_model *model = build(EUCLIDEAN, NULL);
    bytes right = saved(model), old = new_bytes("old", 3);
    write_bytes(model_path, "old", 3);
    tem_status status = TEM_ERR_CANCELLED;
    int at = 1;
    for (; status != TEM_OK; at++) {
        stopper s = {0, at};
        const tem_run run = {.progress = stop_at, .progress_context = &s};
        tem_error error = {.status = TEM_OK};
        status = tem_model_save(model, model_path, TEM_OVERWRITE, &run, &error);
        assert_int_equal(status, s.calls >= at ? TEM_ERR_CANCELLED : TEM_OK);
        assert_int_equal(error.status, status);
        assert_content(model_path, status == TEM_OK ? right : old);
        assert_int_equal(file_count(), 1);
    }
    assert_true(at > SECTION_KINDS);
    assert_int_equal(unlink(model_path), 0);
    tem_model_free(model);
    free(old.data);
    free(right.data);
}

static tem_status build_stopped(const tem_run *run, kind k, tem_model **model) {
    float values[WORDS * DIMENSION];
    tem_vectors *vectors = NULL;
    if (k == FUNCTION)
        return tem_model_build_function(words, WORDS, line_distance, NULL, 0, run, model, NULL);
    fill_values(values, WORDS, DIMENSION);
    assert_int_equal(tem_vectors_create(words, values, WORDS, DIMENSION, &vectors, NULL), TEM_OK);
    tem_status status = tem_model_build(vectors, NULL, run, model, NULL);
    tem_vectors_free(vectors);
    return status;
}

static void test_stopped_build(void **state) {
    (void)state;
    static const kind kinds[] = {EUCLIDEAN, FUNCTION};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            tem_status status = TEM_ERR_CANCELLED;
            for (int at = 1; status != TEM_OK; at++) {
                stopper s = {0, at};
                const tem_run run = {
                    .threads = threads, .progress = stop_at, .progress_context = &s};
                tem_model *model = NULL;
                status = build_stopped(&run, kinds[i], &model);
                assert_int_equal(status, s.calls >= at ? TEM_ERR_CANCELLED : TEM_OK);
                assert_true((model != NULL) == (status == TEM_OK));
                tem_model_free(model);
            }
        }
}

static void test_stopped_verify(void **state) {
    (void)state;
    tem_model *model = NULL, *built = build(EUCLIDEAN, NULL);
    assert_int_equal(tem_model_save(built, model_path, TEM_KEEP_EXISTING, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_open(model_path, &model, NULL), TEM_OK);
    tem_status status = TEM_ERR_CANCELLED;
    for (int at = 1; status != TEM_OK; at++) {
        stopper s = {0, at};
        const tem_run run = {.progress = stop_at, .progress_context = &s};
        status = tem_model_verify(model, &run, NULL);
        assert_int_equal(status, s.calls >= at ? TEM_ERR_CANCELLED : TEM_OK);
    }
    assert_int_equal(unlink(model_path), 0);
    tem_model_free(model);
    tem_model_free(built);
}

/* ---- the default model ---- */

static void touch(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* $TEM_MODEL, whatever it names; otherwise the first directory that has a model, the directory
 * itself before its share. */
static void test_default(void **state) {
    (void)state;
    char bin[128], share[128], installed[160], beside[160], found[256] = "untouched";
    int is_own = -1;
    snprintf(bin, sizeof bin, "%s/bin", folder);
    snprintf(share, sizeof share, "%s/share", folder);
    snprintf(installed, sizeof installed, "%s/share/tem", folder);
    assert_true(mkdir(bin, 0700) == 0 && mkdir(share, 0700) == 0 && mkdir(installed, 0700) == 0);
    const char *const folders[] = {"/nowhere", bin};
    unsetenv("TEM_MODEL");
    assert_int_equal(tem_model_find_default(folders, 2, found, sizeof found, &is_own, NULL),
                     TEM_ERR_FILE);
    assert_string_equal(found, "untouched");
    snprintf(installed, sizeof installed, "%s/share/tem/default.tem", folder);
    snprintf(beside, sizeof beside, "%s/default.tem", bin);
    touch(installed);
    assert_int_equal(tem_model_find_default(folders, 2, found, sizeof found, &is_own, NULL),
                     TEM_OK);
    assert_true(is_own == 1 && strstr(found, "/bin/../share/tem/default.tem") != NULL);
    touch(beside);
    assert_int_equal(tem_model_find_default(folders, 2, found, sizeof found, &is_own, NULL),
                     TEM_OK);
    assert_string_equal(found, beside);
    const char *const missing[] = {NULL};
    assert_int_equal(tem_model_find_default(missing, 1, found, sizeof found, &is_own, NULL),
                     TEM_ERR_ARGUMENT);
    assert_int_equal(tem_model_find_default(folders, 1, found, sizeof found, &is_own, NULL),
                     TEM_ERR_FILE);
    setenv("TEM_MODEL", "named.tem", 1);
    assert_int_equal(tem_model_find_default(folders, 2, found, sizeof found, &is_own, NULL),
                     TEM_OK);
    assert_true(is_own == 0 && strcmp(found, "named.tem") == 0);
    assert_int_equal(tem_model_find_default(NULL, 0, found, 10, &is_own, NULL), TEM_OK);
    assert_int_equal(tem_model_find_default(NULL, 0, found, 9, &is_own, NULL), TEM_ERR_RANGE);
    assert_int_equal(tem_model_find_default(NULL, 1, found, 10, &is_own, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_model_find_default(NULL, 0, NULL, 10, &is_own, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_model_find_default(NULL, 0, found, 10, NULL, NULL), TEM_ERR_ARGUMENT);
    unsetenv("TEM_MODEL");
    assert_true(unlink(beside) == 0 && unlink(installed) == 0 && rmdir(bin) == 0);
    *strrchr(installed, '/') = '\0';
    assert_true(rmdir(installed) == 0 && rmdir(share) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_every_length_mapped),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_every_byte_mapped),
        cmocka_unit_test(test_unknown_sections),
        cmocka_unit_test(test_unknown_sections_count),
        cmocka_unit_test(test_every_bit_resealed),
        cmocka_unit_test(test_extreme_numbers),
        cmocka_unit_test(test_hostile_content),
        cmocka_unit_test(test_infinite_matrix),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_size_lies),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_rewritten_while_open),
        cmocka_unit_test(test_keep_or_overwrite),
        cmocka_unit_test(test_name_taken),
        cmocka_unit_test(test_bad_places),
        cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_stopped_save),
        cmocka_unit_test(test_stopped_build),
        cmocka_unit_test(test_stopped_verify),
        cmocka_unit_test(test_default),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
