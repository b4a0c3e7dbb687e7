/* slopes.c - the pairs of words between which ln Z is steepest. */
#include "audit/slopes.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/codes.h"
#include "space/squares.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 384,     /* slots: whole strips of rows and whole tiles of columns */
    RANGE = 96,      /* rows that are compared with all columns of a block before the next rows */
    KEPT_MAX = 1024, /* pairs that are kept per block of rows */
    LIST_WORDS = 256 /* words whose lists are one task */
};
_Static_assert(BLOCK % RANGE == 0 && RANGE % TILE_ROWS == 0 && RANGE % TILE_COLUMNS == 0,
               "whole strips and tiles");

/* Each factor covers three roundings: a difference, its quotient, and the product with the
 * factor. */
#define ROUNDED_UP (1 + 0x1p-50)
#define ROUNDED_DOWN (1 - 0x1p-50)

static double larger(double a, double b) {
    return a > b ? a : b;
}

slope slope_of(const partition *z, uint32_t a, uint32_t b, tem_dist distance) {
    const exponent *e = &z->exponent;
    const double s = exponent_s_value(e->s);
    const double m = (double)(distance < e->gamma ? distance : e->gamma) / TEM_DIST_ONE;
    const double most = larger(z->most[a] - z->least[b], z->most[b] - z->least[a]) / m * ROUNDED_UP;
    const double least =
        larger(z->least[a] - z->most[b], z->least[b] - z->most[a]) / m * ROUNDED_DOWN;
    return (slope){.most = most < s ? most : s,
                   .least = larger(least, 0),
                   .a = a < b ? a : b,
                   .b = a < b ? b : a,
                   .distance = distance};
}

/* --------------------------------------------------- the pairs found -- */

static int compare_slopes(const void *x, const void *y) {
    const slope *a = x, *b = y;
    if (a->most != b->most)
        return a->most > b->most ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

/* The pairs that were found, separately for each block of rows, so that it does not matter which
 * thread handled which block. */
typedef struct finds {
    uint32_t blocks;
    steep_pairs *of_block; /* lists with room for KEPT_MAX pairs, all inside `room` */
    slope *room;
} finds;

static tem_status finds_init(finds *f, uint32_t blocks, tem_error *error) {
    *f = (finds){.blocks = blocks,
                 .of_block = core_alloc_zero(blocks, sizeof *f->of_block),
                 .room = core_alloc((size_t)blocks * KEPT_MAX, sizeof *f->room)};
    if (f->of_block == NULL || f->room == NULL)
        return core_fail_memory(error);
    for (uint32_t block = 0; block < blocks; block++)
        f->of_block[block].list = f->room + (size_t)block * KEPT_MAX;
    return TEM_OK;
}

static void finds_free(finds *f) {
    core_free(f->of_block);
    core_free(f->room);
}

/* Makes room by dropping the less steep half. */
static void halve(steep_pairs *found) {
    qsort(found->list, found->count, sizeof *found->list, compare_slopes);
    found->count /= 2;
    found->left_out = larger(found->left_out, found->list[found->count].most);
}

static void keep(steep_pairs *found, slope pair) {
    if (found->count == KEPT_MAX)
        halve(found);
    found->list[found->count++] = pair;
}

/* Joins the pairs of all blocks. */
static tem_status join(const finds *f, steep_pairs *out, tem_error *error) {
    size_t total = 0;
    for (uint32_t block = 0; block < f->blocks; block++)
        total += f->of_block[block].count;
    steep_pairs all = {.list = core_alloc(total, sizeof *all.list)};
    if (all.list == NULL)
        return core_fail_memory(error);
    for (uint32_t block = 0; block < f->blocks; block++) {
        const steep_pairs *found = &f->of_block[block];
        if (found->count > 0)
            memcpy(all.list + all.count, found->list, found->count * sizeof *found->list);
        all.count += found->count;
        all.examined += found->examined;
        all.left_out = larger(all.left_out, found->left_out);
    }
    qsort(all.list, all.count, sizeof *all.list, compare_slopes);
    *out = all;
    return TEM_OK;
}

void steep_pairs_free(steep_pairs *pairs) {
    core_free(pairs->list);
    *pairs = (steep_pairs){0};
}

/* ------------------------------------------------------------ blocks -- */

/* The words, sorted by ln Z. */
typedef struct ordered {
    const space *space;
    const partition *z;
    double floor;
    uint32_t *order;      /* slot -> id */
    double *least, *most; /* bounds on ln Z of each block */
    uint16_t *errors;     /* the largest error of a code, per block */
    codes codes;
    finds finds;
    uint8_t *strips; /* codes of BLOCK rows per thread */
} ordered;

typedef struct rank {
    double z;
    uint32_t id;
} rank;

static int compare_ranks(const void *x, const void *y) {
    const rank *a = x, *b = y;
    if (a->z != b->z)
        return a->z < b->z ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static tem_status sort_words(ordered *o, tem_error *error) {
    rank *ranks = core_alloc(o->z->count, sizeof *ranks);
    if (ranks == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < o->z->count; id++)
        ranks[id] = (rank){o->z->most[id], id};
    qsort(ranks, o->z->count, sizeof *ranks, compare_ranks);
    for (uint32_t slot = 0; slot < o->z->count; slot++)
        o->order[slot] = ranks[slot].id;
    core_free(ranks);
    return TEM_OK;
}

static uint32_t block_size(const ordered *o, uint32_t block) {
    const uint32_t left = o->z->count - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

static void fill_block(void *context, uint64_t item, unsigned thread) {
    (void)thread;
    ordered *o = context;
    const uint32_t block = (uint32_t)item, first = block * BLOCK;
    o->least[block] = o->z->least[o->order[first]];
    o->most[block] = o->z->most[o->order[first]];
    for (uint32_t slot = first; slot < first + block_size(o, block); slot++) {
        const uint32_t id = o->order[slot];
        codes_put(&o->codes, slot, id);
        o->least[block] = o->z->least[id] < o->least[block] ? o->z->least[id] : o->least[block];
        o->most[block] = larger(o->z->most[id], o->most[block]);
        if (o->codes.errors[slot] > o->errors[block])
            o->errors[block] = o->codes.errors[slot];
    }
}

/* The limit on the scores of a word with the words of a block. A pair whose score is not above the
 * limit has a slope below the floor.
 * PRIVACY: ln Z differs by at most `rise`, so a slope at the floor needs a distance of at most
 * rise / floor. If that reaches gamma, no distance can rule out a pair, and the limit lets all
 * pairs through. codes.h proves the rest. */
static int32_t limit_of(const ordered *o, uint32_t slot, uint32_t block) {
    const uint32_t id = o->order[slot];
    const double rise =
        larger(o->z->most[id] - o->least[block], o->most[block] - o->z->least[id]) * ROUNDED_UP;
    const double distance = rise / o->floor * TEM_DIST_ONE * ROUNDED_UP + 1;
    if (!(distance < o->z->exponent.gamma)) /* also when the floor is 0 */
        return codes_limit(CODES_REACH_MAX);
    return codes_limit(codes_reach(&o->codes, (tem_dist)distance) + o->codes.errors[slot] +
                       o->errors[block]);
}

static void examine(const ordered *o, steep_pairs *found, uint32_t row, uint32_t column) {
    const uint32_t a = o->order[row], b = o->order[column];
    found->examined++;
    const tem_dist distance = space_distance(o->space, a, b);
    if (distance == 0)
        return;
    const slope pair = slope_of(o->z, a, b, distance);
    if (pair.most >= o->floor)
        keep(found, pair);
}

/* Compares RANGE rows, from the slot `row` on, with TILE_COLUMNS columns. */
static void scan_tile(const ordered *o, const uint8_t *strips, const int32_t *limits, uint32_t row,
                      uint32_t column, steep_pairs *found) {
    static const int32_t never[TILE_COLUMNS] = {
        INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
        INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
        INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
        INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    uint32_t hits[RANGE];
    const tile_codes tile = {
        .rows = strips + (size_t)(row % BLOCK) * 4 * o->codes.quads,
        .columns = o->codes.packed + (size_t)column * 4 * o->codes.quads,
        .strips = RANGE / TILE_ROWS,
        .quads = o->codes.quads,
        .row_base = o->codes.row_base + row,
        .row_limit = limits + row % BLOCK,
        .column_base = o->codes.column_base + column,
        .column_limit = never,
    };
    kernels_active()->tile_codes(&tile, hits);
    for (uint32_t r = 0; r < RANGE; r++)
        for (uint32_t bits = hits[r]; bits != 0; bits &= bits - 1) {
            const uint32_t other = column + (uint32_t)__builtin_ctz(bits);
            if (row + r < other) /* within a block each pair appears twice */
                examine(o, found, row + r, other);
        }
}

/* Compares one block of rows with itself and all later blocks. */
static void scan_block(void *context, uint64_t item, unsigned thread) {
    const ordered *o = context;
    const uint32_t rows = (uint32_t)item;
    uint8_t *strips = o->strips + (size_t)thread * BLOCK * 4 * o->codes.quads;
    int32_t limits[BLOCK];
    codes_rows(&o->codes, (size_t)rows * BLOCK, BLOCK, strips);
    memset(limits, 0, sizeof limits);
    for (uint32_t columns = rows; columns < o->finds.blocks; columns++) {
        if (columns % SQUARES_PER_QUESTION == 0 && core_task_stopped())
            return;
        for (uint32_t r = 0; r < block_size(o, rows); r++)
            limits[r] = limit_of(o, rows * BLOCK + r, columns);
        for (uint32_t range = 0; range < block_size(o, rows); range += RANGE)
            for (uint32_t tile = 0; tile < block_size(o, columns); tile += TILE_COLUMNS)
                scan_tile(o, strips, limits, rows * BLOCK + range, columns * BLOCK + tile,
                          &o->finds.of_block[rows]);
    }
}

static tem_status ordered_init(ordered *o, unsigned threads, tem_error *error) {
    const uint32_t blocks = (o->z->count + BLOCK - 1) / BLOCK;
    TRY(codes_init(&o->codes, o->space, (size_t)blocks * BLOCK, error));
    TRY(finds_init(&o->finds, blocks, error));
    o->order = core_alloc(o->z->count, sizeof *o->order);
    o->least = core_alloc(blocks, sizeof *o->least);
    o->most = core_alloc(blocks, sizeof *o->most);
    o->errors = core_alloc_zero(blocks, sizeof *o->errors);
    o->strips = core_alloc((size_t)threads * BLOCK, 4 * o->codes.quads);
    if (o->order == NULL || o->least == NULL || o->most == NULL || o->errors == NULL ||
        o->strips == NULL)
        return core_fail_memory(error);
    return sort_words(o, error);
}

static void ordered_free(ordered *o) {
    codes_free(&o->codes);
    finds_free(&o->finds);
    core_free(o->order);
    core_free(o->least);
    core_free(o->most);
    core_free(o->errors);
    core_free(o->strips);
}

static tem_status scan_by_codes(const space *s, const partition *z, double floor,
                                const tem_run *run, steep_pairs *out, tem_error *error) {
    ordered o = {.space = s, .z = z, .floor = floor};
    tem_status status = ordered_init(&o, core_thread_count(run), error);
    if (status == TEM_OK)
        status = core_parallel(run, "sorting", o.finds.blocks, fill_block, &o, error);
    if (status == TEM_OK)
        status = core_parallel(run, "comparing", o.finds.blocks, scan_block, &o, error);
    if (status == TEM_OK)
        status = join(&o.finds, out, error);
    ordered_free(&o);
    return status;
}

/* ------------------------------------------------------- every pair -- */

typedef struct every_pair {
    const partition *z;
    squares squares;
    squares_room room;
    double floor;
    finds *finds; /* or NULL */
    uint32_t ranges;
    double *tops; /* ranges + 1 per thread, or NULL */
} every_pair;

static void note_top(const every_pair *e, unsigned thread, const slope *pair) {
    const tem_dist gamma = e->z->exponent.gamma;
    const uint64_t range = (uint64_t)pair->distance * e->ranges / gamma;
    const uint32_t place = pair->distance > gamma ? e->ranges
                           : range < e->ranges    ? (uint32_t)range
                                                  : e->ranges - 1;
    double *top = e->tops + (size_t)thread * (e->ranges + 1) + place;
    *top = larger(*top, pair->most);
}

static void look_at(const every_pair *e, unsigned thread, steep_pairs *found, uint32_t a,
                    uint32_t b, tem_dist distance) {
    if (distance == 0)
        return;
    const slope pair = slope_of(e->z, a, b, distance);
    if (found != NULL && pair.most >= e->floor)
        keep(found, pair);
    if (e->tops != NULL)
        note_top(e, thread, &pair);
}

/* Examines all pairs of one block of words with itself and with all later blocks. */
static void look_at_block(void *context, uint64_t item, unsigned thread) {
    every_pair *e = context;
    const squares *q = &e->squares;
    const uint32_t rows = (uint32_t)item, row_count = squares_block_size(q, rows);
    steep_pairs *found = e->finds == NULL ? NULL : &e->finds->of_block[rows];
    squares_set_rows(q, &e->room, thread, rows);
    for (uint32_t columns = rows; columns < q->blocks; columns++) {
        if (columns % SQUARES_PER_QUESTION == 0 && core_task_stopped())
            return;
        const uint32_t column_count = squares_block_size(q, columns);
        const tem_dist *tile = squares_meet(q, &e->room, thread, rows, columns);
        for (uint32_t r = 0; r < row_count; r++) {
            const uint32_t first = rows == columns ? r + 1 : 0;
            for (uint32_t c = first; c < column_count; c++)
                look_at(e, thread, found, rows * SQUARES_BLOCK + r, columns * SQUARES_BLOCK + c,
                        tile[(size_t)r * SQUARES_BLOCK + c]);
            if (found != NULL)
                found->examined += column_count - first;
        }
    }
}

static tem_status look_at_all(every_pair *e, const space *s, const tem_run *run, tem_error *error) {
    tem_status status = squares_init(&e->squares, s, e->z->reach, error);
    if (status == TEM_OK)
        status = squares_room_init(&e->room, &e->squares, core_thread_count(run), error);
    if (status == TEM_OK)
        status = core_parallel(run, "comparing", e->squares.blocks, look_at_block, e, error);
    squares_room_free(&e->room);
    squares_free(&e->squares);
    return status;
}

tem_status slopes_by_distance(const space *s, const partition *z, uint32_t ranges,
                              const tem_run *run, double *out, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    every_pair e = {.z = z, .ranges = ranges};
    e.tops = core_alloc_zero((size_t)threads * (ranges + 1), sizeof *e.tops);
    if (e.tops == NULL)
        return core_fail_memory(error);
    const tem_status status = look_at_all(&e, s, run, error);
    for (uint32_t range = 0; range <= ranges && status == TEM_OK; range++) {
        out[range] = 0;
        for (unsigned thread = 0; thread < threads; thread++)
            out[range] = larger(out[range], e.tops[(size_t)thread * (ranges + 1) + range]);
    }
    core_free(e.tops);
    return status;
}

static tem_status scan_every_pair(const space *s, const partition *z, double floor,
                                  const tem_run *run, steep_pairs *out, tem_error *error) {
    finds f;
    every_pair e = {.z = z, .floor = floor, .finds = &f};
    tem_status status = finds_init(&f, (z->count + SQUARES_BLOCK - 1) / SQUARES_BLOCK, error);
    if (status == TEM_OK)
        status = look_at_all(&e, s, run, error);
    if (status == TEM_OK)
        status = join(&f, out, error);
    finds_free(&f);
    return status;
}

tem_status slopes_find(const space *s, const partition *z, double floor, const tem_run *run,
                       steep_pairs *out, tem_error *error) {
    return s->metric->is_euclidean ? scan_by_codes(s, z, floor, run, out, error)
                                   : scan_every_pair(s, z, floor, run, out, error);
}

/* ------------------------------------------------------------- lists -- */

typedef struct list_scan {
    const neighbour_index *index;
    const partition *z;
    double *steepest;          /* one per thread */
    _Atomic(uint32_t) damaged; /* a word whose list is damaged, or UINT32_MAX */
} list_scan;

static void scan_lists(void *context, uint64_t item, unsigned thread) {
    list_scan *l = context;
    const uint32_t first = (uint32_t)item * LIST_WORDS;
    const uint32_t end = l->z->count - first > LIST_WORDS ? first + LIST_WORDS : l->z->count;
    for (uint32_t a = first; a < end; a++) {
        tem_neighbours near = {0};
        if (neighbours_get(l->index, a, &near, NULL) != TEM_OK) {
            atomic_store(&l->damaged, a);
            return;
        }
        for (uint32_t i = 0; i < near.count; i++)
            if (near.list[i].distance > 0) {
                const slope pair = slope_of(l->z, a, near.list[i].id, near.list[i].distance);
                l->steepest[thread] = larger(l->steepest[thread], pair.least);
            }
    }
}

tem_status slopes_near(const neighbour_index *index, const partition *z, const tem_run *run,
                       double *out, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    list_scan l = {.index = index, .z = z, .damaged = UINT32_MAX};
    l.steepest = core_alloc_zero(threads, sizeof *l.steepest);
    if (l.steepest == NULL)
        return core_fail_memory(error);
    const uint64_t tasks = ((uint64_t)z->count + LIST_WORDS - 1) / LIST_WORDS;
    tem_status status = core_parallel(run, "comparing", tasks, scan_lists, &l, error);
    const uint32_t damaged = atomic_load(&l.damaged);
    tem_neighbours near = {0};
    if (status == TEM_OK && damaged != UINT32_MAX)
        status = neighbours_get(index, damaged, &near, error); /* sets *error */
    double steepest = 0;
    for (unsigned thread = 0; thread < threads; thread++)
        steepest = larger(steepest, l.steepest[thread]);
    core_free(l.steepest);
    if (status == TEM_OK)
        *out = steepest;
    return status;
}
