/* vectors_binary.c - reads the binary format of word2vec.
 *
 * After the line `n dimension` each row is a word, a space, and `dimension` floats
 * in little-endian order. word2vec.c ends a row with a line feed, gensim does not;
 * the reader skips a line feed before a word in both cases. Rows differ in length, so
 * one thread finds them, searching one space per row. Several threads then copy the
 * numbers. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/vectors.h"

#include <stdatomic.h>
#include <string.h>

enum { BLOCK_ROWS = 1024 };

typedef struct binary_job {
    const vectors_source *source;
    vectors_raw *raw;
    size_t row_bytes;               /* bytes of one row's numbers */
    atomic_uint_fast64_t bad_value; /* the first value that is not finite, counted over all rows */
} binary_job;

static tem_status fail_at(const vectors_source *source, uint64_t byte, const char *what,
                          tem_error *error) {
    return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, byte + 1, "%s", what);
}

/* Finds the row at *place, adds it to raw->words and moves *place to its end. */
static tem_status walk_row(const binary_job *job, size_t *place, tem_error *error) {
    const vectors_source *source = job->source;
    vectors_raw *raw = job->raw;
    size_t start = *place;
    if (start < source->size && source->data[start] == '\n')
        start++;
    size_t left = source->size - start;
    size_t most = left < TEM_WORD_BYTES_MAX + 1 ? left : TEM_WORD_BYTES_MAX + 1;
    const char *word = source->data + start;
    const char *space = memchr(word, ' ', most);
    if (space == NULL && most == left)
        return fail_at(source, source->size, "the file is cut short: expected a word and a space",
                       error);
    if (space == NULL)
        return fail_at(source, start, "expected a word of at most 4096 bytes and a space", error);
    size_t length = (size_t)(space - word);
    if (left - length - 1 < job->row_bytes)
        return fail_at(source, source->size, "the file is cut short: expected more numbers", error);
    raw->words[raw->count] = (word_span){word, length};
    raw->row_bytes[raw->count] = start;
    raw->count++;
    *place = start + length + 1 + job->row_bytes;
    return TEM_OK;
}

/* Finds `rows` rows. Counts them in raw->count, also when it fails. If these are all rows of the
 * header, the file must end after them. */
static tem_status walk(const binary_job *job, uint64_t rows, tem_error *error) {
    const vectors_source *source = job->source;
    size_t place = source->header.bytes;
    tem_status status = TEM_OK;
    while (status == TEM_OK && job->raw->count < rows)
        status = walk_row(job, &place, error);
    if (status != TEM_OK || rows < source->header.count)
        return status;
    if (place < source->size && source->data[place] == '\n')
        place++;
    if (place == source->size)
        return TEM_OK;
    return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, place + 1,
                        "expected the end of the file after %llu words, found %zu bytes more",
                        (unsigned long long)rows, source->size - place);
}

static uint32_t load_u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void copy_block(void *context, uint64_t item, unsigned thread) {
    binary_job *job = context;
    const vectors_raw *raw = job->raw;
    uint64_t first = item * BLOCK_ROWS;
    uint64_t end = raw->count - first < BLOCK_ROWS ? raw->count : first + BLOCK_ROWS;
    (void)thread;
    for (uint64_t row = first; row < end; row++) {
        const char *numbers = raw->words[row].start + raw->words[row].length + 1;
        float *values = raw->values + row * raw->dimension;
        for (uint32_t i = 0; i < raw->dimension; i++) {
            uint32_t bits = load_u32((const unsigned char *)numbers + (size_t)4 * i);
            memcpy(&values[i], &bits, sizeof bits);
            if ((bits & 0x7f800000u) == 0x7f800000u) {
                core_atomic_least(&job->bad_value, row * raw->dimension + i);
                return;
            }
        }
    }
}

static tem_status copy_values(binary_job *job, tem_error *error) {
    vectors_raw *raw = job->raw;
    uint64_t blocks = ((uint64_t)raw->count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    atomic_init(&job->bad_value, UINT64_MAX);
    tem_status status = core_parallel(job->source->run, "reading", blocks, copy_block, job, error);
    uint64_t bad = atomic_load(&job->bad_value);
    if (status != TEM_OK || bad == UINT64_MAX)
        return status;
    uint64_t row = bad / raw->dimension, column = bad % raw->dimension;
    const char *numbers = raw->words[row].start + raw->words[row].length + 1;
    raw->count = (uint32_t)row;
    return core_fail_at(error, TEM_ERR_FORMAT, job->source->path, 0,
                        (uint64_t)(numbers - job->source->data) + 4 * column + 1,
                        "number %llu of %u is not finite", (unsigned long long)column + 1,
                        raw->dimension);
}

/* Refuses a file that is too small for its rows: a row has at least a word of one
 * byte, a space and the numbers. Without this check a small file could make tem
 * allocate much memory. */
static tem_status check_size(const binary_job *job, uint64_t rows, tem_error *error) {
    const vectors_source *source = job->source;
    uint64_t least = rows * (job->row_bytes + 2), left = source->size - source->header.bytes;
    if (least <= left)
        return TEM_OK;
    return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, source->size + 1,
                        "the file is cut short: expected at least %llu bytes after the header, "
                        "found %llu",
                        (unsigned long long)least, (unsigned long long)left);
}

tem_status vectors_read_binary(const vectors_source *source, vectors_raw *raw, tem_error *error) {
    const vectors_header *header = &source->header;
    binary_job job = {.source = source, .raw = raw};
    raw->format = "word2vec binary";
    TRY(vectors_check_shape(source, header->count, header->dimension, 0, error));
    uint64_t rows = header->count;
    if (source->limit != 0 && source->limit < rows)
        rows = source->limit;
    raw->dimension = (uint32_t)header->dimension;
    job.row_bytes = (size_t)4 * raw->dimension;
    tem_status status = check_size(&job, rows, error);
    if (status != TEM_OK)
        return status;

    raw->words = core_alloc(rows, sizeof *raw->words);
    raw->row_bytes = core_alloc(rows, sizeof *raw->row_bytes);
    raw->values = core_alloc(rows, job.row_bytes);
    if (raw->words == NULL || raw->row_bytes == NULL || raw->values == NULL)
        return core_fail_memory(error);
    tem_error walk_error = {.status = TEM_OK};
    tem_status walked = walk(&job, rows, &walk_error);
    /* Also after walk has failed: an earlier value may be the first fault of the file. */
    status = copy_values(&job, error);
    if (status == TEM_OK && walked != TEM_OK && error != NULL)
        *error = walk_error;
    return status == TEM_OK ? walked : status;
}
