/* vectors.c - recognizes the format of an embedding file and makes a tem_vectors.
 *
 * The content decides the format, not the name. "TEMGRID1" starts tem's own format.
 * A first line of two unsigned integers is a word2vec header, unless the second line
 * shows that the file is GloVe text of dimension 1. One case is ambiguous: `5 1`
 * followed by `7 1` is a header of dimension 1, or GloVe text whose first words are
 * numbers. tem takes `5 1` for a header, and then requires 5 rows. */
#include "model/vectors.h"

#include "core/memory.h"
#include "core/status.h"
#include "io/file.h"
#include "model/model_layout.h"

#include <math.h>
#include <string.h>
#include <unistr.h>

/* --------------------------------------------------------- recognition -- */

typedef tem_status reader(const vectors_source *source, vectors_raw *raw, tem_error *error);

static const char *read_unsigned(const char *p, const char *end, uint64_t *value) {
    uint64_t v = 0;
    const char *first = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            v = UINT64_MAX;
    *value = v;
    return p == first ? NULL : p;
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* Parses the first line. Returns false if the line is not exactly two unsigned integers. */
static bool parse_header(const char *data, size_t size, vectors_header *out) {
    const char *end = data + size;
    vectors_header header;
    const char *p = read_unsigned(data, end, &header.count);
    if (p == NULL || p == end || (*p != ' ' && *p != '\t'))
        return false;
    p = read_unsigned(skip_blanks(p, end), end, &header.dimension);
    if (p == NULL)
        return false;
    p = skip_blanks(p, end);
    if (p < end && *p == '\r')
        p++;
    if (p < end && *p != '\n')
        return false;
    header.bytes = (size_t)(p - data) + (p < end);
    *out = header;
    return true;
}

static bool is_control(char c) {
    return (unsigned char)c < ' ' && c != '\t' && c != '\n' && c != '\r';
}

/* Whether the bytes at `start`, the first row if the file is binary, could be text:
 * UTF-8 without control characters. Binary numbers hardly ever pass: for 300 floats,
 * all 1200 bytes would have to look like text. */
static bool may_be_text(const char *start, const char *end, uint64_t dimension) {
    size_t left = (size_t)(end - start);
    size_t most = left < TEM_WORD_BYTES_MAX ? left : TEM_WORD_BYTES_MAX;
    const char *blank = memchr(start, ' ', most);
    size_t row = blank == NULL ? most : (size_t)(blank - start) + 1;
    if (dimension < (left - row) / 4)
        left = row + 4 * (size_t)dimension;
    for (size_t i = 0; i < left; i++)
        if (is_control(start[i]))
            return false;
    const uint8_t *bad = u8_check((const uint8_t *)start, left);
    /* The end of the examined bytes may cut a character of up to four bytes. */
    return bad == NULL || (const uint8_t *)start + left - bad < 4;
}

/* Decides between the formats that may follow a first line of two integers. A second line that ends
 * in two numbers or more is not GloVe text of dimension 1, so the first line is a header. If the
 * second line is too short for that header, tem reports a row that is too short. */
static reader *after_header(vectors_source *source, const vectors_header *header) {
    const char *start = source->data + header->bytes, *end = source->data + source->size;
    vectors_line line = vectors_text_line(start, end, header->dimension);
    bool text = start == end || line.is_row ||
                (line.numbers > 0 && may_be_text(start, end, header->dimension));
    bool is_header = start == end || line.is_row || line.numbers > 1 ||
                     (header->dimension < UINT64_MAX && line.columns >= header->dimension + 1);
    if (!text || is_header)
        source->header = *header;
    return text ? vectors_read_text : vectors_read_binary;
}

static bool has_at(const vectors_source *source, size_t offset, const char *bytes, size_t length) {
    return source->size >= offset && source->size - offset >= length &&
           memcmp(source->data + offset, bytes, length) == 0;
}

/* Whether the first member of a zip archive has a name with this ending. NumPy and PyTorch write
 * zip archives. */
static bool zip_begins_with(const vectors_source *source, const char *ending) {
    enum { LENGTH_AT = 26, NAME_AT = 30 };
    if (source->size < NAME_AT || !has_at(source, 0, "PK\x03\x04", 4))
        return false;
    const unsigned char *length = (const unsigned char *)source->data + LENGTH_AT;
    const size_t end = NAME_AT + length[0] + 256 * (size_t)length[1], bytes = strlen(ending);
    return end - NAME_AT >= bytes && has_at(source, end - bytes, ending, bytes);
}

/* The first four bytes alone might be a word. */
static bool is_parquet(const vectors_source *source) {
    return source->size >= 12 && has_at(source, 0, "PAR1", 4) &&
           has_at(source, source->size - 4, "PAR1", 4);
}

/* Refuses files that users pass by mistake, recognized by their first bytes, and says what to do.
 * GloVe is distributed as zip archives; gensim's own files are pickles. */
static tem_status refuse_others(const vectors_source *source, tem_error *error) {
#define WITH_PYTHON "in Python, tem.Model.build(array, words) takes the array and its words"
    static const char pickle[] =
        "a Python pickle. For gensim, KeyedVectors.load(FILE).save_word2vec_format(OUT) in Python "
        "writes a file that tem reads";
    static const struct {
        size_t offset, length;
        const char *magic, *name;
    } others[] = {{0, 4, "PK\x03\x04", "a zip archive: unpack it first"},
                  {0, 4, "\x28\xb5\x2f\xfd", "zstd data: unpack it first"},
                  {0, 6, "\xfd\x37zXZ\0", "xz data: unpack it first"},
                  {4, 6, "\x31\x41\x59\x26\x53\x59", "bzip2 data: unpack it first"},
                  {0, 8, MODEL_MAGIC,
                   "a model, which is built already: give the vectors that it was built from"},
                  {0, 2, "\x80\x02", pickle},
                  {0, 2, "\x80\x03", pickle},
                  {0, 2, "\x80\x04", pickle},
                  {0, 2, "\x80\x05", pickle},
                  {0, 6, "\x93NUMPY", "a NumPy array, which has no words: " WITH_PYTHON},
                  {0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file: " WITH_PYTHON},
                  {4, 6, "\0\0\0\0{\"", "safetensors, which have no words: " WITH_PYTHON},
                  {0, 4, "\xba\x16\x4f\x2f",
                   "a fastText model: give the .vec file that fastText writes beside it"}};
    const char *found = zip_begins_with(source, ".npy")       ? "NumPy arrays (.npz): " WITH_PYTHON
                        : zip_begins_with(source, "data.pkl") ? "a PyTorch file: " WITH_PYTHON
                        : is_parquet(source)                  ? "a Parquet table: " WITH_PYTHON
                                                              : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && found == NULL; i++)
        if (has_at(source, others[i].offset, others[i].magic, others[i].length))
            found = others[i].name;
    return found == NULL ? TEM_OK
                         : core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, 0,
                                        "expected vectors, found %s", found);
#undef WITH_PYTHON
}

static reader *recognise(vectors_source *source) {
    vectors_header header;
    source->header = (vectors_header){0, 0, 0};
    if (source->size >= 8 && memcmp(source->data, "TEMGRID1", 8) == 0)
        return vectors_read_grid;
    if (parse_header(source->data, source->size, &header))
        return after_header(source, &header);
    return vectors_read_text;
}

tem_status vectors_check_shape(const vectors_source *source, uint64_t count, uint64_t dimension,
                               uint64_t line, tem_error *error) {
    if (dimension < 1 || dimension > TEM_DIMENSION_MAX)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, line, 0,
                            "expected words with 1 to %u numbers each, found %llu",
                            TEM_DIMENSION_MAX, (unsigned long long)dimension);
    if (count < 2)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, line, 0,
                            "needs at least two words, found %llu", (unsigned long long)count);
    if (count > TEM_WORDS_MAX)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, line, 0,
                            "expected at most %u words, found %llu", TEM_WORDS_MAX,
                            (unsigned long long)count);
    return TEM_OK;
}

/* ---------------------------------------------------------- the object -- */

void vectors_raw_free(vectors_raw *raw) {
    core_free(raw->words);
    core_free(raw->values);
    core_free(raw->grid);
    core_free(raw->row_bytes);
    core_free(raw->word_storage);
    *raw = (vectors_raw){0};
}

static tem_status refuse_word(const char *path, const vectors_raw *raw, const vocab_fault *fault,
                              tem_error *error) {
    const tem_status status = TEM_ERR_FORMAT;
    bool repeated = fault->earlier_row != fault->row;
    unsigned long long earlier = fault->earlier_row;
    uint64_t line = raw->first_line == 0 ? 0 : raw->first_line + fault->row;
    uint64_t byte = 0;
    const char *unit = "line";
    if (raw->first_line != 0)
        earlier += raw->first_line;
    else if (raw->row_bytes != NULL) {
        unit = "byte";
        byte = raw->row_bytes[fault->row] + 1;
        earlier = raw->row_bytes[fault->earlier_row] + 1;
    } else if (repeated)
        return core_fail_at(error, status, path, 0, 0, "word %u %s, as word %llu", fault->row + 1,
                            fault->reason, earlier + 1);
    else
        return core_fail_at(error, status, path, 0, 0, "word %u %s", fault->row + 1, fault->reason);
    if (repeated)
        return core_fail_at(error, status, path, line, byte, "the word %s, at %s %llu",
                            fault->reason, unit, earlier);
    return core_fail_at(error, status, path, line, byte, "the word %s", fault->reason);
}

static tem_status make_words(const char *path, const vectors_raw *raw, vocab *words,
                             tem_error *error) {
    vocab_fault fault = {0, 0, ""};
    tem_status status = vocab_make(raw->words, raw->count, words, &fault);
    if (status == TEM_ERR_FORMAT)
        return refuse_word(path, raw, &fault, error);
    return status == TEM_OK ? TEM_OK : core_fail_memory(error);
}

/* Makes a tem_vectors from the result of a reader. Takes over raw->values and
 * raw->grid on success. */
static tem_status assemble(const char *path, vectors_raw *raw, tem_vectors **out,
                           tem_error *error) {
    vocab words;
    TRY(make_words(path, raw, &words, error));
    tem_vectors *vectors = core_alloc(1, sizeof *vectors);
    if (vectors == NULL) {
        vocab_free(&words);
        return core_fail_memory(error);
    }
    *vectors = (tem_vectors){.words = words,
                             .dimension = raw->dimension,
                             .values = raw->values,
                             .grid = raw->grid,
                             .step_log2 = raw->step_log2,
                             .deviation = raw->deviation,
                             .format = raw->format,
                             .recipe = raw->recipe};
    raw->values = NULL;
    raw->grid = NULL;
    *out = vectors;
    return TEM_OK;
}

/* Notes where the vectors come from, if the rows have lines there. */
static tem_status note_lines(const char *path, const vectors_raw *raw, tem_vectors *vectors,
                             tem_error *error) {
    if (raw->first_line == 0 || path[0] == '\0')
        return TEM_OK;
    vectors->path = core_alloc(strlen(path) + 1, 1);
    if (vectors->path == NULL)
        return core_fail_memory(error);
    strcpy(vectors->path, path);
    vectors->first_line = raw->first_line;
    return TEM_OK;
}

/* Called after a reader has refused a row. A word before that row may be wrong too,
 * and tem reports the first fault of a file. If an earlier word is wrong, fails with that fault. If
 * all earlier words are good, fails with TEM_ERR_FORMAT and leaves the reader's error as it is. */
static tem_status check_earlier_words(const char *path, const vectors_raw *raw, tem_error *error) {
    vocab words;
    if (raw->count == 0)
        return TEM_ERR_FORMAT;
    TRY(make_words(path, raw, &words, error));
    vocab_free(&words);
    return TEM_ERR_FORMAT;
}

/* Makes the result, or chooses the error to report, from the reader's status `read`.
 * Frees *raw. */
static tem_status finish(tem_status read, const char *path, vectors_raw *raw, tem_vectors **out,
                         tem_error *error) {
    tem_status status = read;
    tem_vectors *made = NULL;
    if (read == TEM_OK)
        status = assemble(path, raw, &made, error);
    else if (read == TEM_ERR_FORMAT)
        status = check_earlier_words(path, raw, error);
    if (status == TEM_OK)
        status = note_lines(path, raw, made, error);
    vectors_raw_free(raw);
    if (status == TEM_OK)
        *out = made;
    else
        vectors_free(made);
    return status;
}

tem_status vectors_from_bytes(const vectors_source *source, tem_vectors **out, tem_error *error) {
    vectors_source copy = *source;
    vectors_raw raw = {0};
    if (source->limit == 1)
        return core_fail(error, TEM_ERR_ARGUMENT, "needs at least two words: a limit of 1 is less");
    if (source->size == 0)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, 0,
                            "expected vectors, found an empty file");
    TRY(refuse_others(source, error));
    reader *read = recognise(&copy);
    return finish(read(&copy, &raw, error), source->path, &raw, out, error);
}

tem_status vectors_load(const char *path, uint64_t limit, const tem_run *run, tem_vectors **out,
                        tem_error *error) {
    if (path == NULL || out == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "expected a path and a place for the vectors");
    file_view view;
    TRY(file_open(path, run, &view, error));
    if (file_is_gzip(&view)) {
        TRY(file_unpack(path, run, &view, error));
    }
    vectors_source source = {
        .path = path, .data = view.data, .size = view.size, .limit = limit, .run = run};
    tem_status status = vectors_from_bytes(&source, out, error);
    file_close(&view);
    return status;
}

/* Returns the first row with a value that is not finite, or `count` if there is none. */
static uint32_t first_bad_row(const float *values, uint32_t count, uint32_t dimension) {
    uint64_t total = (uint64_t)count * dimension;
    for (uint64_t i = 0; i < total; i++)
        if (!isfinite(values[i]))
            return (uint32_t)(i / dimension);
    return count;
}

tem_status vectors_create(const char *const *words, const float *values, uint32_t count,
                          uint32_t dimension, tem_vectors **out, tem_error *error) {
    if (words == NULL || values == NULL || out == NULL || count < 2 || count > TEM_WORDS_MAX ||
        dimension < 1 || dimension > TEM_DIMENSION_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "expected two words or more, with 1 to %u numbers each",
                         TEM_DIMENSION_MAX);
    vectors_raw raw = {.format = "memory", .dimension = dimension, .first_line = 1};
    raw.words = core_alloc(count, sizeof *raw.words);
    raw.values = core_alloc(count, dimension * sizeof *raw.values);
    tem_status status = raw.words == NULL || raw.values == NULL ? core_fail_memory(error) : TEM_OK;
    for (uint32_t i = 0; i < count && status == TEM_OK; i++) {
        if (words[i] == NULL)
            status = core_fail(error, TEM_ERR_ARGUMENT, "word %u is NULL", i + 1);
        else
            raw.words[i] = (word_span){words[i], strnlen(words[i], TEM_WORD_BYTES_MAX + 1)};
    }
    if (status == TEM_OK) {
        memcpy(raw.values, values, (size_t)count * dimension * sizeof *values);
        raw.count = first_bad_row(values, count, dimension);
        if (raw.count < count)
            status = core_fail_at(error, TEM_ERR_FORMAT, "", raw.count + (uint64_t)1, 0,
                                  "a number is not finite");
    }
    return finish(status, "", &raw, out, error);
}

tem_status vectors_keep(tem_vectors *v, const word_span *names, const uint32_t *rows,
                        uint32_t count, tem_error *error) {
    vocab kept;
    vocab_fault fault;
    const size_t dimension = v->dimension;
    const tem_status status = vocab_make(names, count, &kept, &fault);
    if (status == TEM_ERR_MEMORY)
        return core_fail_memory(error);
    if (status != TEM_OK)
        return core_fail_at(error, TEM_ERR_FORMAT, "", 0, 0, "the word %s", fault.reason);
    for (uint32_t i = 0; i < count; i++) /* rows[i] is never below i */
        if (rows[i] != i)
            memcpy(v->values + i * dimension, v->values + rows[i] * dimension,
                   dimension * sizeof *v->values);
    if (count < v->words.count)
        v->first_line = 0; /* rows and lines no longer go together */
    vocab_free(&v->words);
    v->words = kept;
    return TEM_OK;
}

void vectors_free(tem_vectors *vectors) {
    if (vectors == NULL)
        return;
    vocab_free(&vectors->words);
    core_free(vectors->values);
    core_free(vectors->grid);
    core_free(vectors->path);
    core_free(vectors);
}
