/* point_search.c - finds the nearest word of arbitrary points, exactly. */
#include "mech/point_search.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

/* The search cuts the values of a point into digits of 14 bits, which fit the int16 kernels: value
 * = sum of digit[i] * 2^(14 i). The highest digit has a sign. */
enum { DIGIT_BITS = 14, DIGITS_MAX = 4 };

enum {
    BATCH_STRIPS = 16, /* strips of points; the codes of a batch stay in the cache */
    BATCH_POINTS = BATCH_STRIPS * TILE_ROWS,
    POINT_CODE_MAX = 127,
    POINT_CODE_OFFSET = 128,
    BASE_LEAST = -(1 << 29), /* products of codes are below 2^27 in size */
    BASE_MOST = 1 << 29
};

/* The bounds are doubles. The code moves each of them to the safe side by this relative amount. It
 * is far more than the rounding errors of the few operations behind a bound. */
static const double slack = 0x1p-40;

__extension__ typedef __int128 wide;

typedef struct point_batch {
    const point_search *of;
    size_t count, strips;
    const int64_t *points;
    int16_t *digits; /* DIGITS_MAX padded rows for each point */
    unsigned digit_counts[BATCH_POINTS];
    uint8_t *rows; /* tile_codes.rows */
    double unit;   /* scale * step */
    int32_t row_base[BATCH_POINTS], row_limit[BATCH_POINTS];
    int32_t *column_base;
    wide centred[BATCH_POINTS]; /* 2g is this minus the score */
    wide best[BATCH_POINTS];    /* least score so far */
    bool found[BATCH_POINTS];
    uint32_t *words;

    bool two;                 /* whether the search looks for the second nearest word as well */
    const uint32_t *left_out; /* for each point a word that is not its answer; NULL: none */
    wide second_best[BATCH_POINTS];
    bool second_found[BATCH_POINTS];
    uint32_t seconds[BATCH_POINTS];
} point_batch;

/* ------------------------------------------------------------ the words -- */

static searched_word word_of(const codes *c, const space *s, uint32_t id) {
    const int16_t *row = space_row(s, id);
    const code_split squares = codes_split(c, id, id);
    return (searched_word){
        .square = (uint64_t)kernels_active()->dot_i16(row, row, s->row_elements),
        .half_square = (double)squares.whole / 2, /* below 2^53: exact */
        .code_length = (float)(sqrt((double)squares.code) * (1 + 0x1p-20)),
        .residual = (float)(sqrt((double)squares.residual) * (1 + 0x1p-20)),
    };
}

tem_status point_search_init(point_search *n, const space *s, const uint32_t *outputs,
                             tem_error *error) {
    *n = (point_search){.space = s, .outputs = outputs};
    TRY(codes_init(&n->codes, s, core_round_up(s->count, TILE_COLUMNS), error));
    n->words = core_alloc(s->count, sizeof *n->words);
    if (n->words == NULL) {
        point_search_free(n);
        return core_fail_memory(error);
    }
    for (uint32_t id = 0; id < s->count; id++) {
        codes_put(&n->codes, id, id);
        n->words[id] = word_of(&n->codes, s, id);
    }
    return TEM_OK;
}

void point_search_free(point_search *n) {
    codes_free(&n->codes);
    core_free(n->words);
    *n = (point_search){0};
}

/* ------------------------------------------------------- exact distances -- */

/* Cuts a point into digits, each a padded row. Returns the number of digits. */
static unsigned cut_digits(const space *s, const int64_t *point, int16_t *digits) {
    memset(digits, 0, (size_t)DIGITS_MAX * s->row_elements * sizeof *digits);
    for (unsigned used = 0;; used++) {
        /* Shifting rounds towards minus infinity: only the highest digit may be negative. */
        const unsigned shift = DIGIT_BITS * used;
        bool last = true;
        for (uint32_t i = 0; i < s->dimension; i++) {
            const int64_t shifted = point[i] >> shift;
            last &= shifted >= -KERNEL_VALUE_MAX && shifted <= KERNEL_VALUE_MAX;
        }
        int16_t *row = digits + (size_t)used * s->row_elements;
        for (uint32_t i = 0; i < s->dimension; i++) {
            const int64_t shifted = point[i] >> shift;
            row[i] = (int16_t)(last ? shifted : shifted & ((1 << DIGIT_BITS) - 1));
        }
        if (last || used + 1 == DIGITS_MAX)
            return used + 1;
    }
}

/* |point - row|^2 minus |point|^2, which is the same for all words. The least score wins. */
static wide score_of(const point_batch *b, size_t at, uint32_t id) {
    const space *s = b->of->space;
    const int16_t *digits = b->digits + at * DIGITS_MAX * s->row_elements;
    wide score = (wide)b->of->words[id].square;
    for (unsigned i = 0; i < b->digit_counts[at]; i++)
        score -= (wide)2 *
                 kernels_active()->dot_i16(digits + (size_t)i * s->row_elements, space_row(s, id),
                                           s->row_elements) *
                 ((wide)1 << (DIGIT_BITS * i));
    return score;
}

/* ---------------------------------------------------------- the points -- */

/* Value i of a point, minus the center. */
static double centred_value(const point_batch *b, size_t at, uint32_t i) {
    return (double)(b->points[at * b->of->space->dimension + i] - b->of->codes.centre[i]);
}

static void set_centred(point_batch *b, size_t at) {
    wide centred = 0;
    for (uint32_t i = 0; i < b->of->space->dimension; i++) {
        const wide centre = b->of->codes.centre[i];
        centred += centre * (centre - 2 * (wide)b->points[at * b->of->space->dimension + i]);
    }
    b->centred[at] = centred;
}

/* Stores the codes k of a point. *error receives |q|^2, *length |z|^2. */
static void put_codes(point_batch *b, size_t at, double scale, double *error, double *length) {
    const size_t quads = b->of->codes.quads;
    uint8_t *row = b->rows + at / TILE_ROWS * TILE_ROWS * 4 * quads + at % TILE_ROWS * 4;
    *error = *length = 0;
    for (uint32_t i = 0; i < b->of->space->dimension; i++) {
        const double value = centred_value(b, at, i);
        const double code = nearbyint(value / scale), left = value - code * scale;
        row[i / 4 * 4 * TILE_ROWS + i % 4] = (uint8_t)((int)code + POINT_CODE_OFFSET);
        *error += left * left;
        *length += value * value;
    }
}

static double largest_value(const point_batch *b) {
    double largest = 1;
    for (size_t at = 0; at < b->count; at++)
        for (uint32_t i = 0; i < b->of->space->dimension; i++)
            largest = fmax(largest, fabs(centred_value(b, at, i)));
    return largest;
}

/* For every word, the bound (*) divided by `unit`, without the product of the codes. The codes of
 * points are stored POINT_CODE_OFFSET larger, which adds POINT_CODE_OFFSET times the sum of the
 * word's code to the product; column_base and row_base of the codes correct that. */
static void set_column_bases(point_batch *b, double error, double length) {
    const point_search *n = b->of;
    for (uint32_t id = 0; id < n->space->count; id++) {
        const searched_word *w = &n->words[id];
        const double above = error * (double)w->code_length + length * (double)w->residual;
        const double base = (above * (1 + slack) - w->half_square) / b->unit;
        const int32_t whole = base < BASE_LEAST  ? BASE_LEAST
                              : base > BASE_MOST ? BASE_MOST
                                                 : (int32_t)ceil(base) + 1;
        b->column_base[id] = whole + n->codes.column_base[id] - n->codes.row_base[id];
    }
}

/* The limit that the bound of a word must exceed for the search to compute its score. A limit that
 * is too low is safe. Bounds cut to BASE_MOST are above all limits. */
static int32_t limit_of(const point_batch *b, size_t at) {
    if (b->two && !b->second_found[at])
        return INT32_MIN;
    const wide worst = b->two ? b->second_best[at] : b->best[at];
    const double g = (double)(b->centred[at] - worst) / 2 / b->unit;
    const double limit = floor(g - slack * fabs(g)) - 1;
    return limit < BASE_LEAST * 2.0 ? INT32_MIN
           : limit > BASE_MOST / 2  ? BASE_MOST / 2
                                    : (int32_t)limit;
}

static void prepare(point_batch *b) {
    const space *s = b->of->space;
    const double scale = largest_value(b) / POINT_CODE_MAX * (1 + slack);
    double error = 0, length = 0;
    b->strips = (b->count + TILE_ROWS - 1) / TILE_ROWS;
    b->unit = scale * b->of->codes.step;
    for (size_t at = 0; at < b->strips * TILE_ROWS; at++) {
        b->found[at] = b->second_found[at] = false;
        b->row_limit[at] = at < b->count ? INT32_MIN : INT32_MAX;
    }
    for (size_t at = 0; at < b->count; at++) {
        double error_square, length_square;
        put_codes(b, at, scale, &error_square, &length_square);
        error = fmax(error, sqrt(error_square));
        length = fmax(length, sqrt(length_square));
        set_centred(b, at);
        b->digit_counts[at] = cut_digits(s, b->points + at * s->dimension,
                                         b->digits + at * DIGITS_MAX * s->row_elements);
    }
    set_column_bases(b, error * (1 + slack), length * (1 + slack));
}

/* ---------------------------------------------------------- the search -- */

static void set_second(point_batch *b, size_t at, uint32_t id, wide score) {
    b->second_found[at] = true;
    b->second_best[at] = score;
    b->seconds[at] = id;
    b->row_limit[at] = limit_of(b, at);
}

static void consider(point_batch *b, size_t at, uint32_t id) {
    if (b->of->outputs != NULL && b->of->outputs[id] == 0)
        return;
    if (b->left_out != NULL && b->left_out[at] == id)
        return;
    const wide score = score_of(b, at, id);
    if (b->found[at] && score >= b->best[at]) { /* the lower id wins a tie, and ids ascend */
        if (b->two && (!b->second_found[at] || score < b->second_best[at]))
            set_second(b, at, id, score);
        return;
    }
    if (b->two && b->found[at])
        set_second(b, at, b->words[at], b->best[at]);
    b->found[at] = true;
    b->best[at] = score;
    b->words[at] = id;
    b->row_limit[at] = limit_of(b, at);
}

static void consider_hits(point_batch *b, uint32_t first, const uint32_t *hits) {
    const uint32_t left = b->of->space->count - first;
    const uint32_t words = left >= TILE_COLUMNS ? UINT32_MAX : ((uint32_t)1 << left) - 1;
    for (size_t at = 0; at < b->count; at++)
        for (uint32_t bits = hits[at] & words; bits != 0; bits &= bits - 1)
            consider(b, at, first + (uint32_t)__builtin_ctz(bits));
}

static void search(point_batch *b) {
    const codes *c = &b->of->codes;
    _Alignas(64) int32_t never[TILE_COLUMNS];
    uint32_t hits[BATCH_POINTS];
    for (unsigned i = 0; i < TILE_COLUMNS; i++)
        never[i] = INT32_MAX;
    for (uint32_t first = 0; first < b->of->space->count; first += TILE_COLUMNS) {
        const tile_codes tile = {.rows = b->rows,
                                 .columns = c->packed + (size_t)first * 4 * c->quads,
                                 .strips = b->strips,
                                 .quads = c->quads,
                                 .row_base = b->row_base,
                                 .row_limit = b->row_limit,
                                 .column_base = b->column_base + first,
                                 .column_limit = never};
        kernels_active()->tile_codes(&tile, hits);
        consider_hits(b, first, hits);
    }
}

static size_t digits_count(const point_search *n) {
    return (size_t)BATCH_POINTS * DIGITS_MAX * n->space->row_elements;
}

static size_t columns_count(const point_search *n) {
    return core_round_up(n->space->count, TILE_COLUMNS);
}

static tem_status batch_init(point_batch *b, const point_search *n, tem_error *error) {
    *b = (point_batch){.of = n};
    b->digits = core_alloc(digits_count(n), sizeof *b->digits);
    b->rows = core_alloc_zero(BATCH_POINTS, 4 * n->codes.quads);
    b->column_base = core_alloc_zero(columns_count(n), sizeof *b->column_base);
    const bool failed = b->digits == NULL || b->rows == NULL || b->column_base == NULL;
    return failed ? core_fail_memory(error) : TEM_OK;
}

/* Frees and erases. Points are made from private words, so nothing made from them may stay. */
static void batch_free(point_batch *b) {
    core_free_erased(b->digits, digits_count(b->of) * sizeof *b->digits);
    core_free_erased(b->rows, BATCH_POINTS * 4 * b->of->codes.quads);
    core_free_erased(b->column_base, columns_count(b->of) * sizeof *b->column_base);
    explicit_bzero(b, sizeof *b);
}

/* The square of a point's length, in units of the grid: below 2^(2 POINT_SEARCH_BITS) a value. */
static wide square_of(const point_batch *b, size_t at) {
    wide square = 0;
    for (uint32_t i = 0; i < b->of->space->dimension; i++) {
        const wide value = b->points[at * b->of->space->dimension + i];
        square += value * value;
    }
    return square;
}

static double distance_of(const point_batch *b, wide square, wide score) {
    return ldexp(sqrt((double)(square + score)), -(int)b->of->space->step_log2);
}

static void put_two(const point_batch *b, point_two *two) {
    for (size_t at = 0; at < b->count; at++) {
        const wide square = square_of(b, at);
        two[at] = (point_two){.first = TEM_NO_WORD, .second = TEM_NO_WORD};
        if (b->found[at]) {
            two[at].first = b->words[at];
            two[at].first_distance = distance_of(b, square, b->best[at]);
        }
        if (b->second_found[at]) {
            two[at].second = b->seconds[at];
            two[at].second_distance = distance_of(b, square, b->second_best[at]);
        }
    }
}

tem_status point_search_run_two(const point_search *n, const int64_t *points, size_t count,
                                const uint32_t *left_out, point_two *two, tem_error *error) {
    point_batch b;
    uint32_t firsts[BATCH_POINTS];
    tem_status status = batch_init(&b, n, error);
    for (size_t done = 0; done < count && status == TEM_OK; done += b.count) {
        b.count = count - done < BATCH_POINTS ? count - done : BATCH_POINTS;
        b.points = points + done * n->space->dimension;
        b.left_out = left_out == NULL ? NULL : left_out + done;
        b.words = firsts;
        b.two = true;
        prepare(&b);
        search(&b);
        put_two(&b, two + done);
    }
    batch_free(&b);
    explicit_bzero(firsts, sizeof firsts);
    return status;
}

tem_status point_search_run(const point_search *n, const int64_t *points, size_t count,
                            uint32_t *words, tem_error *error) {
    point_batch b;
    tem_status status = batch_init(&b, n, error);
    for (size_t done = 0; done < count && status == TEM_OK; done += b.count) {
        b.count = count - done < BATCH_POINTS ? count - done : BATCH_POINTS;
        b.points = points + done * n->space->dimension;
        b.words = words + done;
        prepare(&b);
        search(&b);
    }
    batch_free(&b);
    return status;
}
