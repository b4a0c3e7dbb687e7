/* poincare_file.c - points as word2vec's text: written with all digits, and read as doubles.
 *
 * tem_vectors_load reads the same file as floats. Near the border of the ball a float has too few
 * digits: at the length 1 - 1e-5 it changes 1 - |x|^2 by some tenths of a percent. */
#include "core/buffer.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/file.h"
#include "train/poincare.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

tem_status poincare_create(uint32_t words, uint32_t dimensions, tem_poincare **points,
                           tem_error *error) {
    tem_poincare *p = core_alloc_zero(1, sizeof *p);
    double *numbers = core_alloc_zero((size_t)words * dimensions, sizeof *numbers);
    if (p == NULL || numbers == NULL) {
        core_free(numbers);
        core_free(p);
        return core_fail_memory(error);
    }
    *p = (tem_poincare){words, dimensions, numbers};
    *points = p;
    return TEM_OK;
}

void poincare_free(tem_poincare *points) {
    if (points == NULL)
        return;
    core_free(points->numbers);
    core_free(points);
}

/* --------------------------------------------------------------- writing -- */

enum { NUMBER_ROOM = 32, LINES_A_REPORT = 256 };

static bool add_row(core_buffer *b, const tem_poincare *p, const tem_graph *g, uint32_t word) {
    size_t length = 0;
    const char *text = vocab_word(&g->words, word, &length);
    bool done = core_buffer_add(b, text, length);
    for (uint32_t i = 0; i < p->dimensions && done; i++) {
        char number[NUMBER_ROOM];
        const int bytes =
            snprintf(number, sizeof number, " %.17g", p->numbers[(size_t)word * p->dimensions + i]);
        done = core_buffer_add(b, number, (size_t)bytes);
    }
    return done && core_buffer_add(b, "\n", 1);
}

static tem_status write_rows(const tem_poincare *p, const tem_graph *g, const tem_run *run,
                             core_buffer *b, tem_error *error) {
    char header[2 * NUMBER_ROOM];
    const int bytes = snprintf(header, sizeof header, "%u %u\n", p->words, p->dimensions);
    tem_status status =
        core_buffer_add(b, header, (size_t)bytes) ? TEM_OK : core_fail_memory(error);
    for (uint32_t w = 0; w < p->words && status == TEM_OK; w++) {
        if (w % LINES_A_REPORT == 0)
            status = core_progress(run, "writing vectors", w, p->words, error);
        if (status == TEM_OK && !add_row(b, p, g, w))
            status = core_fail_memory(error);
    }
    return status;
}

tem_status poincare_save(const tem_poincare *points, const tem_graph *graph, const char *path,
                         tem_overwrite overwrite, const tem_run *run, tem_error *error) {
    core_buffer content = {0};
    /* printf takes the decimal point from the locale of the thread. newlocale gives the "C" locale
     * as a constant, which nobody frees. */
    const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    tem_status status = write_rows(points, graph, run, &content, error);
    uselocale(before);
    if (status == TEM_OK)
        status = file_write(path, content.data, content.size, overwrite, TEM_READERS_USUAL, error);
    core_buffer_free(&content);
    return status;
}

/* --------------------------------------------------------------- reading -- */

typedef struct point_reading {
    const char *path;
    const tem_run *run;
    const tem_graph *graph;
    file_view file;
    const char *next;
    uint64_t line;
    uint64_t rows; /* that the first line promises */
    uint32_t dimensions, found;
    bool *has; /* per word: its point was read */
    tem_poincare *points;
} point_reading;

static tem_status refuse(const point_reading *r, const char *what, tem_error *error) {
    return core_fail_at(error, TEM_ERR_FORMAT, r->path, r->line, 0, "%s", what);
}

/* The next line without its end; false after the last one. */
static bool next_line(point_reading *r, const char **start, const char **end) {
    const char *stop = r->file.data + r->file.size;
    if (r->next == stop)
        return false;
    const char *feed = memchr(r->next, '\n', (size_t)(stop - r->next));
    *start = r->next;
    *end = feed == NULL ? stop : feed;
    r->next = feed == NULL ? stop : feed + 1;
    while (*end > *start && (end[0][-1] == '\r' || number_is_separator(end[0][-1])))
        --*end;
    r->line++;
    return true;
}

/* Reads a whole number below 2^32 and the separators after it. */
static bool read_whole(const char **p, const char *end, uint32_t *value) {
    uint64_t number = 0;
    const char *start = *p;
    for (; *p < end && **p >= '0' && **p <= '9' && number <= UINT32_MAX; ++*p)
        number = 10 * number + (uint64_t)(**p - '0');
    *value = (uint32_t)number;
    const bool is_number = *p > start && number <= UINT32_MAX;
    while (*p < end && number_is_separator(**p))
        ++*p;
    return is_number;
}

static tem_status read_header(point_reading *r, tem_error *error) {
    const char *start = NULL, *end = NULL;
    uint32_t rows = 0;
    if (!next_line(r, &start, &end) || !read_whole(&start, end, &rows) ||
        !read_whole(&start, end, &r->dimensions) || start != end)
        return refuse(r, "expected the number of words and of dimensions", error);
    if (r->dimensions < 1 || r->dimensions > TEM_POINCARE_DIMENSIONS_MAX)
        return core_fail_at(error, TEM_ERR_FORMAT, r->path, r->line, 0,
                            "expected 1 to %u dimensions", TEM_POINCARE_DIMENSIONS_MAX);
    r->rows = rows;
    return TEM_OK;
}

static tem_status read_point(const point_reading *r, const char *p, const char *end, double *x,
                             tem_error *error) {
    for (uint32_t i = 0; i < r->dimensions; i++) {
        while (p < end && number_is_separator(*p))
            p++;
        if (number_scan(p, end, &p, &x[i]) != NUMBER_OK)
            return refuse(r, "expected a word and as many finite numbers as the first line says",
                          error);
    }
    if (p != end)
        return refuse(r, "more numbers than the first line says", error);
    if (!(poincare_room(x, r->dimensions) > 0))
        return refuse(r, "expected a point inside the ball: its squares must add up to less than 1",
                      error);
    return TEM_OK;
}

static tem_status read_row(point_reading *r, const char *start, const char *end, tem_error *error) {
    double x[TEM_POINCARE_DIMENSIONS_MAX];
    const char *stop = start;
    while (stop < end && !number_is_separator(*stop))
        stop++;
    TRY(read_point(r, stop, end, x, error));
    const uint32_t id = vocab_find(&r->graph->words, start, (size_t)(stop - start));
    if (id == TEM_NO_WORD)
        return TEM_OK;
    if (r->has[id])
        return refuse(r, "the word is on an earlier line, too", error);
    r->has[id] = true;
    r->found++;
    memcpy(r->points->numbers + (size_t)id * r->dimensions, x, r->dimensions * sizeof *x);
    return TEM_OK;
}

static tem_status read_rows(point_reading *r, tem_error *error) {
    const char *start = NULL, *end = NULL;
    tem_status status = TEM_OK;
    uint64_t rows = 0;
    while (status == TEM_OK && next_line(r, &start, &end)) {
        if (rows % LINES_A_REPORT == 0)
            status = core_progress(r->run, "reading vectors", (uint64_t)(start - r->file.data),
                                   r->file.size, error);
        if (status == TEM_OK)
            status = ++rows > r->rows ? refuse(r, "more words than the first line says", error)
                                      : read_row(r, start, end, error);
    }
    if (status == TEM_OK && rows < r->rows)
        status = refuse(r, "the file is cut short: fewer words than its first line says", error);
    if (status == TEM_OK && r->found < r->graph->words.count)
        status = core_fail_at(error, TEM_ERR_FORMAT, r->path, 0, 0,
                              "no point for %u of the %u words of the edges",
                              r->graph->words.count - r->found, r->graph->words.count);
    return status;
}

static tem_status read_file(point_reading *r, tem_error *error) {
    r->next = r->file.data;
    TRY(read_header(r, error));
    TRY(poincare_create(r->graph->words.count, r->dimensions, &r->points, error));
    r->has = core_alloc_zero(r->graph->words.count, sizeof *r->has);
    tem_status status = r->has == NULL ? core_fail_memory(error) : read_rows(r, error);
    core_free(r->has);
    return status;
}

tem_status poincare_load(const char *path, const tem_graph *graph, const tem_run *run,
                         tem_poincare **points, tem_error *error) {
    point_reading r = {.path = path, .run = run, .graph = graph};
    tem_status status = file_open(path, run, &r.file, error);
    if (status == TEM_OK && file_is_gzip(&r.file))
        status = file_unpack(path, run, &r.file, error); /* closes the file if it fails */
    if (status != TEM_OK)
        return status;
    status = read_file(&r, error);
    file_close(&r.file);
    if (status == TEM_OK)
        *points = r.points;
    else
        poincare_free(r.points);
    return status;
}
