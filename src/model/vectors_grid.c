/* vectors_grid.c - reads tem's own format .temv: vectors that are already on the grid.
 *
 *   offset  0  "TEMGRID1"
 *           8  u64  n
 *          16  u32  dimension
 *          20  u32  q: values are in steps of 2^-q, 4 to 30
 *          24  u32  deviation, a tem_dist
 *          28  u32  bytes of the recipe, r: 0 or 64
 *          32  u64  bytes of the words
 *          40  r bytes: how the vectors were prepared (recipe.h)
 *      40 + r  one zstd frame, to the end of the file
 * All numbers are little-endian. The frame holds the words, each with a line feed
 * after it; then the high bytes of all values, column by column; then the low bytes
 * in the same order. The high bytes of a column are alike, so zstd packs them well.
 * With whole values row by row, the raw vectors take 16 % more (16.9 MB
 * against 14.6 MB). */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/recipe.h"
#include "model/vectors.h"

#include <stdatomic.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    HEADER_BYTES = 40,
    STEP_LEAST = 4,
    STEP_MOST = 30,
    VALUE_MOST = 16383,
    BLOCK_ROWS = 64,
    /* A zstd block takes at least 4 bytes and unpacks to at most 128 KiB, so no frame
     * grows by a larger factor. */
    GROWTH_MOST = 32768
};

/* More than vocab_make accepts, and small enough that the sum of sizes cannot overflow. */
#define WORD_BYTES_MOST ((uint64_t)1 << 33)

typedef struct grid_header {
    uint64_t count;
    uint32_t dimension, step_log2, deviation, recipe_bytes;
    uint64_t word_bytes;
} grid_header;

typedef struct grid_job {
    const vectors_raw *raw;
    const unsigned char *high, *low; /* column-major */
    uint64_t column_bytes;           /* n of the file, also when `limit` is smaller */
    atomic_uint_fast64_t bad_row;
} grid_job;

static size_t frame_start(const grid_header *h) {
    return HEADER_BYTES + (size_t)h->recipe_bytes;
}

static uint64_t load_little(const char *bytes, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = count; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static tem_status fail_at(const vectors_source *source, uint64_t byte, const char *what,
                          tem_error *error) {
    return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, byte + 1, "%s", what);
}

static tem_status read_header(const vectors_source *source, grid_header *out, tem_error *error) {
    const char *data = source->data;
    if (source->size < HEADER_BYTES)
        return fail_at(source, source->size, "the file is cut short: expected a header of 40 bytes",
                       error);
    grid_header h = {.count = load_little(data + 8, 8),
                     .dimension = (uint32_t)load_little(data + 16, 4),
                     .step_log2 = (uint32_t)load_little(data + 20, 4),
                     .deviation = (uint32_t)load_little(data + 24, 4),
                     .recipe_bytes = (uint32_t)load_little(data + 28, 4),
                     .word_bytes = load_little(data + 32, 8)};
    TRY(vectors_check_shape(source, h.count, h.dimension, 0, error));
    if (h.step_log2 < STEP_LEAST || h.step_log2 > STEP_MOST)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, 20 + 1,
                            "expected a step of 2^-4 to 2^-30, found 2^-%u", h.step_log2);
    if (h.recipe_bytes != 0 && h.recipe_bytes != RECIPE_BYTES)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, 28 + 1,
                            "expected 0 or %d, found %u", RECIPE_BYTES, h.recipe_bytes);
    if (h.word_bytes < 2 * h.count || h.word_bytes > WORD_BYTES_MOST)
        return fail_at(source, 32, "the size of the words does not fit their number", error);
    *out = h;
    return TEM_OK;
}

/* Reads the recipe, if the file has one. */
static tem_status read_recipe(const vectors_source *source, const grid_header *h, vectors_raw *raw,
                              tem_error *error) {
    if (h->recipe_bytes == 0)
        return TEM_OK;
    if (source->size - HEADER_BYTES < h->recipe_bytes)
        return fail_at(source, source->size, "the file is cut short", error);
    const unsigned char *bytes = (const unsigned char *)source->data + HEADER_BYTES;
    if (!recipe_read(bytes, h->recipe_bytes, (uint32_t)h->count, h->dimension, &raw->recipe))
        return fail_at(source, HEADER_BYTES, "no preparation of vectors has this recipe", error);
    return TEM_OK;
}

/* Unpacks the frame, which begins at byte `start`, into *content, which the caller frees. */
static tem_status unpack(const vectors_source *source, size_t start, uint64_t size, char **content,
                         tem_error *error) {
    const char *frame = source->data + start;
    size_t frame_bytes = source->size - start;
    if (ZSTD_getFrameContentSize(frame, frame_bytes) != size)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, start + 1,
                            "expected a zstd frame of %llu bytes unpacked",
                            (unsigned long long)size);
    if (size / GROWTH_MOST > frame_bytes)
        return fail_at(source, source->size, "the file is cut short", error);
    size_t used = ZSTD_findFrameCompressedSize(frame, frame_bytes);
    if (ZSTD_isError(used))
        return fail_at(source, source->size, "the zstd frame is damaged or cut short", error);
    if (used != frame_bytes)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, start + used + 1,
                            "expected the end of the file, found %zu bytes more",
                            frame_bytes - used);
    char *buffer = core_alloc(size, 1);
    if (buffer == NULL)
        return core_fail_memory(error);
    size_t got = ZSTD_decompress(buffer, size, frame, frame_bytes);
    if (got == size) {
        *content = buffer;
        return TEM_OK;
    }
    core_free(buffer);
    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        return core_fail_memory(error);
    return fail_at(source, start, "the zstd frame is damaged", error);
}

/* Finds the words. Checks all n words, whatever the limit: they must fill word_bytes exactly. */
static tem_status split_words(const vectors_source *source, const grid_header *h, vectors_raw *raw,
                              tem_error *error) {
    const char *p = raw->word_storage, *end = p + h->word_bytes;
    uint64_t found = 0;
    for (; p < end; found++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (stop == NULL)
            return fail_at(source, frame_start(h), "expected a line feed after the last word",
                           error);
        if (found < raw->count)
            raw->words[found] = (word_span){p, (size_t)(stop - p)};
        p = stop + 1;
    }
    if (found == h->count)
        return TEM_OK;
    return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, frame_start(h) + 1,
                        "expected %llu words, as the header says, found %llu",
                        (unsigned long long)h->count, (unsigned long long)found);
}

/* Transposes a block of 64 rows, column by column. It reads 64 bytes of a column at a
 * time, one cache line, and the 64 rows that it writes stay in the cache. */
static void transpose_block(void *context, uint64_t item, unsigned thread) {
    grid_job *job = context;
    const vectors_raw *raw = job->raw;
    uint64_t first = item * BLOCK_ROWS;
    uint64_t end = raw->count - first < BLOCK_ROWS ? raw->count : first + BLOCK_ROWS;
    (void)thread;
    for (uint64_t column = 0; column < raw->dimension; column++) {
        const unsigned char *high = job->high + column * job->column_bytes;
        const unsigned char *low = job->low + column * job->column_bytes;
        for (uint64_t row = first; row < end; row++) {
            int value = (high[row] << 8 | low[row]) - (high[row] >= 128 ? 65536 : 0);
            if (value > VALUE_MOST || value < -VALUE_MOST)
                core_atomic_least(&job->bad_row, row);
            raw->grid[row * raw->dimension + column] = (int16_t)value;
        }
    }
}

static tem_status transpose(const vectors_source *source, const grid_header *h, vectors_raw *raw,
                            tem_error *error) {
    const unsigned char *high = (const unsigned char *)raw->word_storage + h->word_bytes;
    grid_job job = {
        .raw = raw, .high = high, .low = high + h->count * h->dimension, .column_bytes = h->count};
    uint64_t blocks = ((uint64_t)raw->count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    atomic_init(&job.bad_row, UINT64_MAX);
    tem_status status = core_parallel(source->run, "reading", blocks, transpose_block, &job, error);
    uint64_t bad = atomic_load(&job.bad_row);
    if (status != TEM_OK || bad == UINT64_MAX)
        return status;
    raw->count = (uint32_t)bad;
    return core_fail_at(error, TEM_ERR_FORMAT, source->path, 0, frame_start(h) + 1,
                        "word %llu has a value outside -16383 to 16383",
                        (unsigned long long)bad + 1);
}

tem_status vectors_read_grid(const vectors_source *source, vectors_raw *raw, tem_error *error) {
    grid_header h = {0};
    raw->format = "tem vectors";
    TRY(read_header(source, &h, error));
    TRY(read_recipe(source, &h, raw, error));
    TRY(unpack(source, frame_start(&h), h.word_bytes + 2 * h.count * h.dimension,
               &raw->word_storage, error));

    uint64_t rows = source->limit != 0 && source->limit < h.count ? source->limit : h.count;
    raw->dimension = h.dimension;
    raw->step_log2 = h.step_log2;
    raw->deviation = h.deviation;
    raw->words = core_alloc(rows, sizeof *raw->words);
    raw->grid = core_alloc(rows, h.dimension * sizeof *raw->grid);
    if (raw->words == NULL || raw->grid == NULL)
        return core_fail_memory(error);
    raw->count = (uint32_t)rows;
    tem_status status = split_words(source, &h, raw, error);
    if (status != TEM_OK) {
        raw->count = 0;
        return status;
    }
    return transpose(source, &h, raw, error);
}
