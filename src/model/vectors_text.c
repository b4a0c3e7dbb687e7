/* vectors_text.c - embeddings as text: GloVe, word2vec, fastText .vec.
 *
 * A line is a word and its numbers, separated by runs of spaces or tabs. GloVe's
 * 840B file has words with spaces in them (". . .", "at name@domain.com"). So the
 * vector is the LAST `dimension` columns, and the word is everything before them.
 * A row with too many numbers would then pass with a strange word. To catch such a
 * row, the reader refuses a word of several columns that ends in a number.
 *
 * The reader cuts the text into chunks of equal size. A line belongs to the chunk
 * in which it starts. The threads first count the lines of each chunk, which gives
 * the row number of every line. They then parse straight into the result. */
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/vectors.h"

#include <stdatomic.h>
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 20,
    SAMPLE_LINES = 100 /* lines that decide the dimension of a file without a header */
};

/* -------------------------------------------------------------- a line -- */

typedef enum row_problem {
    ROW_FINE,
    ROW_BLANK,
    ROW_COLUMNS,
    ROW_NO_NUMBER,
    ROW_NOT_FINITE,
    ROW_TOO_LARGE,
    ROW_NO_ROOM /* never the first fault of a file: see row_room */
} row_problem;

typedef struct row_fault {
    row_problem problem;
    uint64_t row;
    uint64_t found; /* number of columns, or the refused number's place in its vector, from 1 */
} row_fault;

static const char *line_end(const char *start, const char *end) {
    const char *newline = memchr(start, '\n', (size_t)(end - start));
    return newline == NULL ? end : newline;
}

/* Returns the end of a line's content: cuts off a carriage return and the separators before it. */
static const char *content_end(const char *start, const char *end) {
    if (end > start && end[-1] == '\r')
        end--;
    while (end > start && number_is_separator(end[-1]))
        end--;
    return end;
}

/* Counts the columns of a line's content. A leading separator follows an empty
 * column, as in programs that split at each space. */
static uint64_t count_columns(const char *start, const char *end) {
    uint64_t columns = start < end ? 1 : 0;
    for (const char *p = start; p < end; p++)
        columns += number_is_separator(*p) && !number_is_separator(p[1]);
    return columns;
}

/* Returns the start of the last column; `end` is where that column ends. */
static const char *column_start(const char *start, const char *end) {
    while (end > start && !number_is_separator(end[-1]))
        end--;
    return end;
}

/* Whether a word has several columns and ends in a number. Most likely the row has
 * one number too many. */
static bool ends_in_number(const char *start, const char *end) {
    double ignored = 0;
    const char *last = column_start(start, end);
    return last > start && number_parse(last, end, &ignored) != NUMBER_NONE;
}

/* Rounds a number to the nearest float. The smallest number that would round to
 * infinity is 2^128 - 2^103. */
static row_problem to_float(number_kind kind, double number, float *value) {
    if (kind == NUMBER_NONE)
        return ROW_NO_NUMBER;
    if (kind == NUMBER_NOT_FINITE)
        return ROW_NOT_FINITE;
    if (kind == NUMBER_TOO_LARGE || number >= 0x1.ffffffp127 || number <= -0x1.ffffffp127)
        return ROW_TOO_LARGE;
    *value = (float)number;
    return ROW_FINE;
}

/* Reads `dimension` numbers from p on. *stop receives the end of the last number.
 * Stops at the first refused number: returns its problem, and its place in *found. */
static row_problem read_numbers(const char *p, const char *end, uint32_t dimension, float *values,
                                const char **stop, uint64_t *found) {
    for (uint32_t i = 0; i < dimension; i++) {
        double number = 0;
        while (p < end && number_is_separator(*p))
            p++;
        number_kind kind = number_scan(p, end, &p, &number);
        row_problem problem = to_float(kind, number, &values[i]);
        if (problem != ROW_FINE) {
            *found = i + (uint64_t)1;
            return problem;
        }
    }
    *stop = p;
    return ROW_FINE;
}

/* Reads a row that read_row could not read: its word has several columns, or the
 * row is wrong. */
static row_problem read_odd_row(const char *start, const char *end, uint32_t dimension,
                                word_span *word, float *values, uint64_t *found) {
    const char *first = end, *word_end = end;
    for (uint32_t i = 0; i < dimension && word_end > start; i++) {
        first = column_start(start, word_end);
        for (word_end = first; word_end > start && number_is_separator(word_end[-1]);)
            word_end--;
    }
    *found = count_columns(start, end);
    if (*found <= dimension || ends_in_number(start, word_end))
        return ROW_COLUMNS;
    *word = (word_span){start, (size_t)(word_end - start)};
    return read_numbers(first, end, dimension, values, &end, found);
}

/* Reads one line. Nearly all words are one column, so the function tries that first,
 * in one forward pass. If the line does not fit, the function reads it again, from its end. */
static row_problem read_row(const char *start, const char *end, uint32_t dimension, word_span *word,
                            float *values, uint64_t *found) {
    end = content_end(start, end);
    if (start == end)
        return ROW_BLANK;
    const char *word_end = start, *stop = NULL;
    while (word_end < end && !number_is_separator(*word_end))
        word_end++;
    if (read_numbers(word_end, end, dimension, values, &stop, found) == ROW_FINE && stop == end) {
        *word = (word_span){start, (size_t)(word_end - start)};
        return ROW_FINE;
    }
    return read_odd_row(start, end, dimension, word, values, found);
}

vectors_line vectors_text_line(const char *start, const char *end, uint64_t dimension) {
    vectors_line line = {0, 0, false};
    float values[TEM_DIMENSION_MAX];
    word_span word;
    uint64_t found = 0;
    const char *stop = line_end(start, end);
    if (dimension >= 1 && dimension <= TEM_DIMENSION_MAX)
        line.is_row = read_row(start, stop, (uint32_t)dimension, &word, values, &found) == ROW_FINE;

    stop = content_end(start, stop);
    line.columns = count_columns(start, stop);
    while (stop > start) {
        double ignored = 0;
        const char *column = column_start(start, stop);
        if (column == start || number_parse(column, stop, &ignored) == NUMBER_NONE)
            break;
        line.numbers++;
        for (stop = column; stop > start && number_is_separator(stop[-1]);)
            stop--;
    }
    return line;
}

/* ----------------------------------------------------------- the shape -- */

typedef struct text_job {
    const vectors_source *source;
    const char *start, *end; /* the bytes of the rows */
    uint64_t first_line;
    size_t chunk_bytes;
    uint64_t chunk_count;
    uint64_t *chunk_rows; /* rows in each chunk; after count_rows: rows before each chunk */
    row_fault *faults;    /* the first fault of each chunk */
    atomic_uint_fast64_t failed_chunk; /* the first with a fault; threads skip later ones */
    uint64_t rows;                     /* rows to read */
    uint64_t room;                     /* rows that have memory */
    vectors_raw *raw;
} text_job;

/* Returns the most frequent sample; of two equally frequent ones, the smaller. */
static uint64_t most_frequent(const uint64_t *samples, unsigned count) {
    uint64_t best = 0;
    unsigned best_times = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned times = 0;
        for (unsigned j = 0; j < count; j++)
            times += samples[j] == samples[i];
        if (times > best_times || (times == best_times && samples[i] < best)) {
            best = samples[i];
            best_times = times;
        }
    }
    return best;
}

/* Finds the dimension from the first SAMPLE_LINES lines that have two columns or
 * more: the smallest number of columns, less one for the word. If half of these lines
 * or more would then have too many numbers, the shortest line is the wrong one. The
 * function then returns the most frequent dimension, so that the error names the
 * wrong line. Returns 0 if no line has two columns. */
static uint64_t sample_dimension(const text_job *job) {
    uint64_t samples[SAMPLE_LINES];
    unsigned count = 0, contradictions = 0;
    uint64_t least = UINT64_MAX;
    for (const char *p = job->start; p < job->end && count < SAMPLE_LINES; p++) {
        const char *stop = line_end(p, job->end);
        uint64_t columns = count_columns(p, content_end(p, stop));
        if (columns > 1) {
            samples[count++] = columns - 1;
            least = columns - 1 < least ? columns - 1 : least;
        }
        p = stop;
    }
    unsigned seen = 0;
    for (const char *p = job->start; p < job->end && seen < count; p++) {
        const char *stop = line_end(p, job->end);
        vectors_line line = vectors_text_line(p, job->end, 0);
        contradictions += line.columns > 1 && line.numbers > least;
        seen += line.columns > 1;
        p = stop;
    }
    if (count == 0)
        return 0;
    return contradictions * 2 >= count ? most_frequent(samples, count) : least;
}

/* Returns the end of the first `limit` lines. */
static const char *limit_end(const char *start, const char *end, uint64_t limit) {
    const char *p = start;
    for (uint64_t i = 0; i < limit && p < end; i++) {
        p = line_end(p, end);
        p += p < end;
    }
    return p;
}

/* ---------------------------------------------------------- the chunks -- */

/* Returns the first line that starts at `offset` or later. */
static const char *line_from(const text_job *job, uint64_t offset) {
    size_t size = (size_t)(job->end - job->start);
    if (offset >= size)
        return job->end;
    if (offset == 0)
        return job->start;
    const char *newline = line_end(job->start + offset - 1, job->end);
    return newline + (newline < job->end);
}

static void count_chunk(void *context, uint64_t item, unsigned thread) {
    const text_job *job = context;
    const char *p = line_from(job, item * job->chunk_bytes);
    const char *end = line_from(job, (item + 1) * job->chunk_bytes);
    uint64_t rows = 0;
    (void)thread;
    for (; p < end; rows++) {
        p = line_end(p, end);
        p += p < end;
    }
    job->chunk_rows[item] = rows;
}

static void read_chunk(void *context, uint64_t item, unsigned thread) {
    text_job *job = context;
    const vectors_raw *raw = job->raw;
    const char *p = line_from(job, item * job->chunk_bytes);
    const char *end = line_from(job, (item + 1) * job->chunk_bytes);
    row_fault *fault = &job->faults[item];
    fault->row = job->chunk_rows[item];
    (void)thread;
    if (item > atomic_load_explicit(&job->failed_chunk, memory_order_relaxed))
        return;
    for (; p < end && fault->row < job->rows; fault->row++) {
        const char *stop = line_end(p, end);
        uint64_t row = fault->row;
        fault->problem = row >= job->room
                             ? ROW_NO_ROOM
                             : read_row(p, stop, raw->dimension, &raw->words[row],
                                        raw->values + row * raw->dimension, &fault->found);
        if (fault->problem != ROW_FINE) {
            core_atomic_least(&job->failed_chunk, item);
            return;
        }
        p = stop + (stop < end);
    }
}

/* Fills chunk_rows with the number of rows before each chunk; *total receives the
 * number of all rows. */
static tem_status count_rows(text_job *job, uint64_t *total, tem_error *error) {
    TRY(core_parallel(job->source->run, "counting lines", job->chunk_count, count_chunk, job,
                      error));
    uint64_t before = 0;
    for (uint64_t i = 0; i < job->chunk_count; i++) {
        uint64_t rows = job->chunk_rows[i];
        job->chunk_rows[i] = before;
        before += rows;
    }
    *total = before;
    return TEM_OK;
}

/* ---------------------------------------------------------- the result -- */

static tem_status tell_fault(const text_job *job, const row_fault *fault, tem_error *error) {
    const char *path = job->source->path;
    uint64_t line = job->first_line + fault->row;
    unsigned dimension = job->raw->dimension;
    unsigned long long found = fault->found;
    switch (fault->problem) {
    case ROW_BLANK:
        return core_fail_at(error, TEM_ERR_FORMAT, path, line, 0,
                            "expected a word and %u numbers, found a blank line", dimension);
    case ROW_COLUMNS:
        if (found == 1)
            return core_fail_at(error, TEM_ERR_FORMAT, path, line, 0,
                                "expected a word and its numbers with spaces between them, found "
                                "one column");
        return core_fail_at(error, TEM_ERR_FORMAT, path, line, 0,
                            "expected a word and %u numbers, found %llu columns", dimension, found);
    case ROW_NOT_FINITE:
        return core_fail_at(error, TEM_ERR_FORMAT, path, line, 0, "number %llu of %u is not finite",
                            found, dimension);
    case ROW_TOO_LARGE:
        return core_fail_at(error, TEM_ERR_FORMAT, path, line, 0,
                            "number %llu of %u is out of range: expected less than 3.5e38", found,
                            dimension);
    case ROW_FINE:
    case ROW_NO_NUMBER:
    case ROW_NO_ROOM:
        break;
    }
    return core_fail_at(error, TEM_ERR_FORMAT, path, line, 0,
                        "number %llu of %u is not a decimal number", found, dimension);
}

/* Returns the number of rows to allocate. A good row has at least two bytes per number
 * and a line end. Memory for one row more than could fit is therefore enough: if the
 * file has more rows, one of the rows with memory is bad, and its fault comes first.
 * So the reader allocates at most a small multiple of the file's size. */
static uint64_t row_room(const text_job *job) {
    uint64_t bytes = (uint64_t)(job->end - job->start);
    uint64_t most = (bytes + 1) / (2 * (uint64_t)job->raw->dimension + 1) + 1;
    return job->rows < most ? job->rows : most;
}

static tem_status read_rows(text_job *job, tem_error *error) {
    vectors_raw *raw = job->raw;
    job->room = row_room(job);
    raw->words = core_alloc(job->room, sizeof *raw->words);
    raw->values = core_alloc(job->room, raw->dimension * sizeof *raw->values);
    job->faults = core_alloc_zero(job->chunk_count, sizeof *job->faults);
    if (raw->words == NULL || raw->values == NULL || job->faults == NULL)
        return core_fail_memory(error);
    atomic_init(&job->failed_chunk, UINT64_MAX);
    TRY(core_parallel(job->source->run, "reading", job->chunk_count, read_chunk, job, error));
    uint64_t failed = atomic_load(&job->failed_chunk);
    if (failed == UINT64_MAX) {
        raw->count = (uint32_t)job->rows;
        return TEM_OK;
    }
    raw->count = (uint32_t)job->faults[failed].row;
    return tell_fault(job, &job->faults[failed], error);
}

/* Compares the number of rows found with the number in the header. */
static tem_status check_row_count(const text_job *job, uint64_t rows, tem_error *error) {
    const vectors_source *source = job->source;
    bool all = source->limit == 0 || rows < source->limit;
    unsigned long long promised = source->header.count, found = rows;
    if (source->header.bytes != 0 && rows > promised)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, job->first_line + promised, 0,
                            "expected %llu rows, as the header says, found more", promised);
    if (source->header.bytes != 0 && rows < promised && all)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, job->first_line + rows, 0,
                            "the file is cut short: expected %llu rows, as the header says, "
                            "found %llu",
                            promised, found);
    return TEM_OK;
}

static tem_status read_job(text_job *job, tem_error *error) {
    const vectors_header *header = &job->source->header;
    uint64_t total = 0;
    job->chunk_rows = core_alloc(job->chunk_count, sizeof *job->chunk_rows);
    if (job->chunk_rows == NULL)
        return core_fail_memory(error);
    TRY(count_rows(job, &total, error));
    bool has_header = header->bytes != 0;
    uint64_t dimension = has_header ? header->dimension : sample_dimension(job);
    TRY(vectors_check_shape(job->source, has_header ? header->count : total, dimension, 1, error));
    job->raw->dimension = (uint32_t)dimension;
    job->rows = has_header && header->count < total ? header->count : total;
    TRY(read_rows(job, error));
    return check_row_count(job, total, error);
}

tem_status vectors_read_text(const vectors_source *source, vectors_raw *raw, tem_error *error) {
    size_t skip = source->header.bytes;
    const char *end = source->data + source->size;
    text_job job = {.source = source, .start = source->data + skip, .end = end, .raw = raw};
    job.first_line = skip == 0 ? 1 : 2;
    if (source->limit != 0)
        job.end = limit_end(job.start, end, source->limit);
    job.chunk_bytes = source->chunk_bytes == 0 ? CHUNK_BYTES : source->chunk_bytes;
    job.chunk_count = (uint64_t)(job.end - job.start) / job.chunk_bytes + 1;
    raw->format = skip == 0 ? "GloVe text" : "word2vec text";
    raw->first_line = job.first_line;
    if (source->size >= 3 && memcmp(source->data, "\xef\xbb\xbf", 3) == 0)
        return core_fail_at(error, TEM_ERR_FORMAT, source->path, 1, 0,
                            "expected a word, found a byte order mark");
    tem_status status = read_job(&job, error);
    core_free(job.faults);
    core_free(job.chunk_rows);
    return status;
}
