/* unadapted.c - the loss of a mechanism on an adapted model, per unit of distance before the model
 * was adapted.
 *
 * tem looks at all pairs of words with the bounds on ln Z that the profile gives, and keeps the
 * pairs that may lose most. Then it sums Z over all words for the words of these pairs, until the
 * pair with the largest bound has such sums. If it had to drop pairs that may lose more, it looks
 * at all pairs again, with the better bounds. After ROUNDS_MAX times it takes the bound of the
 * dropped pairs: the result is then larger than necessary, but still proved. */
#include "audit/unadapted.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/squares.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_MAX = 256,   /* pairs that are kept per block of rows */
    REFINE_MAX = 512, /* pairs per round for whose words Z is summed over all words */
    ROUNDS_MAX = 8
};

/* PRIVACY: ROUNDED_UP covers five roundings: a difference of logarithms, its sum with the exponent,
 * which is exact, the quotient, the product with ROUNDED_UP, and the sum in loss_up. */
#define ROUNDED_UP (1 + 0x1p-50)
#define ROUNDED_DOWN (1 - 0x1p-50)

/* The loss of a pair, as unadapted.h defines it. */
typedef struct unadapted_pair {
    double most, least;     /* bounds */
    uint32_t a, b;          /* a < b */
    tem_dist before, after; /* its distances */
} unadapted_pair;

/* The pairs of one block of rows, or of all. */
typedef struct unadapted_pairs {
    unadapted_pair *list;
    uint32_t count;
    double floor;    /* some pair loses at least this */
    double left_out; /* no pair that was dropped, and may lose the floor or more, loses more than
                      * this; 0: none was dropped */
} unadapted_pairs;

/* Both spaces, and the pairs that were found. */
typedef struct unadapted_scan {
    const space *after;
    space before;  /* the same words without the columns of the signals */
    int16_t *rows; /* of `before` */
    partition *z;  /* of `after` */
    squares squares_before, squares_after;
    squares_room room_before, room_after;
    unadapted_pairs *blocks; /* one per block of rows, so that it does not matter which thread
                              * handles which block; each list has room for KEPT_MAX pairs */
    unadapted_pair *room;    /* behind these lists */
    unadapted_pairs all;     /* what the blocks have found; its list has room for all of it */
} unadapted_scan;

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static tem_dist cut(const partition *z, tem_dist distance) {
    return distance < z->exponent.gamma ? distance : z->exponent.gamma;
}

/* An upper bound on the loss of a pair, but for two roundings. x is s min(d, gamma). */
static inline double loss_most(const partition *z, uint32_t a, uint32_t b, double x) {
    const double rise = larger(z->most[a] - z->least[b], z->most[b] - z->least[a]);
    return x + lesser(rise, x); /* PRIVACY: by the triangle inequality */
}

/* The bounds of a pair that is apart now. Both are infinite if it was not apart before. */
static unadapted_pair pair_of(const partition *z, uint32_t a, uint32_t b, tem_dist before,
                              tem_dist after) {
    const double x = ldexp((double)exponent_at(&z->exponent, after), -EXPONENT_BITS);
    const double distance = (double)cut(z, before) / TEM_DIST_ONE;
    const double rise = larger(z->least[a] - z->most[b], z->least[b] - z->most[a]);
    return (unadapted_pair){.most = loss_most(z, a, b, x) / distance * ROUNDED_UP,
                            .least = (x + larger(rise, 0)) / distance * ROUNDED_DOWN,
                            .a = a,
                            .b = b,
                            .before = before,
                            .after = after};
}

/* --------------------------------------------------- the pairs found -- */

/* The pair that may lose most comes first, and of equal pairs the one with the smallest ids. */
static int compare_pairs(const void *x, const void *y) {
    const unadapted_pair *a = x, *b = y;
    if (a->most != b->most)
        return a->most > b->most ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static uint32_t first_of(const unadapted_pairs *found) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < found->count; i++)
        if (compare_pairs(&found->list[i], &found->list[first]) < 0)
            first = i;
    return first;
}

static double most_of(const unadapted_pairs *found) {
    return found->count == 0 ? 0 : found->list[first_of(found)].most;
}

/* Drops the pairs below the floor. */
static void drop_below(unadapted_pairs *found) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < found->count; i++)
        if (found->list[i].most >= found->floor)
            found->list[kept++] = found->list[i];
    found->count = kept;
}

/* Makes room: pairs below the floor go first, then those with the lesser bounds. */
static void make_room(unadapted_pairs *found) {
    drop_below(found);
    if (found->count <= KEPT_MAX / 2)
        return;
    qsort(found->list, found->count, sizeof *found->list, compare_pairs);
    found->count = KEPT_MAX / 2;
    found->left_out = larger(found->left_out, found->list[found->count].most);
}

static void keep(unadapted_pairs *found, unadapted_pair pair) {
    if (pair.most < found->floor)
        return;
    if (found->count == KEPT_MAX)
        make_room(found);
    found->list[found->count++] = pair;
    found->floor = larger(found->floor, pair.least);
}

/* --------------------------------------------------------- all pairs -- */

/* The distances of one word from words of a block. */
typedef struct unadapted_row {
    uint32_t word, first, count; /* `first` and the words after it */
    const tem_dist *before, *after;
} unadapted_row;

/* Whether a pair of the row may lose the floor or more. For nearly all rows the answer is no.
 * Compilers make vector code of this loop.
 * PRIVACY: the factor is larger than ROUNDED_UP and all roundings of pair_of and of this function,
 * so a pair that would be kept is always found. */
static bool row_reaches(const partition *z, const unadapted_row *row, double floor) {
    const double s = exponent_s_value(z->exponent.s) / TEM_DIST_ONE;
    const double least = floor * (1 - 0x1p-45) / TEM_DIST_ONE;
    const double row_most = z->most[row->word], row_least = z->least[row->word];
    const double *most = z->most + row->first, *bottom = z->least + row->first;
    const tem_dist gamma = z->exponent.gamma;
    int found = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        const double x = s * (row->after[i] < gamma ? row->after[i] : gamma);
        const double needed = least * (row->before[i] < gamma ? row->before[i] : gamma);
        const double rise = larger(row_most - bottom[i], most[i] - row_least);
        found |= x + lesser(rise, x) >= needed;
    }
    return found != 0;
}

static void look_at_row(const partition *z, const unadapted_row *row, unadapted_pairs *found) {
    if (!row_reaches(z, row, found->floor))
        return;
    for (uint32_t i = 0; i < row->count; i++)
        if (row->after[i] > 0) /* else both are one point now, and were */
            keep(found, pair_of(z, row->word, row->first + i, row->before[i], row->after[i]));
}

/* Looks at all pairs of the block `rows` and the block `columns`. */
static void look_at_tile(unadapted_scan *s, unsigned thread, uint32_t rows, uint32_t columns) {
    const tem_dist *before =
        squares_meet(&s->squares_before, &s->room_before, thread, rows, columns);
    const tem_dist *after = squares_meet(&s->squares_after, &s->room_after, thread, rows, columns);
    const uint32_t width = squares_block_size(&s->squares_after, columns);
    for (uint32_t r = 0; r < squares_block_size(&s->squares_after, rows); r++) {
        const uint32_t begin = rows == columns ? r + 1 : 0;
        const size_t place = (size_t)r * SQUARES_BLOCK + begin;
        const unadapted_row row = {.word = rows * SQUARES_BLOCK + r,
                                   .first = columns * SQUARES_BLOCK + begin,
                                   .count = width - begin,
                                   .before = before + place,
                                   .after = after + place};
        look_at_row(s->z, &row, &s->blocks[rows]);
    }
}

/* Looks at all pairs of one block of words with itself and with all later blocks. */
static void look_at_block(void *context, uint64_t item, unsigned thread) {
    unadapted_scan *s = context;
    const uint32_t rows = (uint32_t)item;
    squares_set_rows(&s->squares_before, &s->room_before, thread, rows);
    squares_set_rows(&s->squares_after, &s->room_after, thread, rows);
    for (uint32_t columns = rows; columns < s->squares_after.blocks; columns++) {
        if (columns % SQUARES_PER_QUESTION == 0 && core_task_stopped())
            return;
        look_at_tile(s, thread, rows, columns);
    }
}

/* Joins what the blocks have found. */
static void join(unadapted_scan *s) {
    unadapted_pairs *all = &s->all;
    all->count = 0;
    all->left_out = 0;
    for (uint32_t block = 0; block < s->squares_after.blocks; block++) {
        const unadapted_pairs *found = &s->blocks[block];
        memcpy(all->list + all->count, found->list, found->count * sizeof *found->list);
        all->count += found->count;
        all->floor = larger(all->floor, found->floor);
        all->left_out = larger(all->left_out, found->left_out);
    }
    drop_below(all);
}

/* Finds the pairs that may lose the floor of s->all or more. */
static tem_status find_pairs(unadapted_scan *s, const tem_run *run, tem_error *error) {
    for (uint32_t block = 0; block < s->squares_after.blocks; block++)
        s->blocks[block] =
            (unadapted_pairs){.list = s->room + (size_t)block * KEPT_MAX, .floor = s->all.floor};
    const tem_status status =
        core_parallel(run, "comparing", s->squares_after.blocks, look_at_block, s, error);
    if (status == TEM_OK)
        join(s);
    return status;
}

/* --------------------------------------------------------- the worst -- */

/* Sums Z over all words for the two words of a pair, and computes the bounds of all pairs again. */
static void refine(unadapted_scan *s, const unadapted_pair *pair) {
    if (!s->z->refined[pair->a])
        partition_refine(s->z, s->after, pair->a);
    if (!s->z->refined[pair->b])
        partition_refine(s->z, s->after, pair->b);
    for (uint32_t i = 0; i < s->all.count; i++) {
        unadapted_pair *p = &s->all.list[i];
        *p = pair_of(s->z, p->a, p->b, p->before, p->after);
        s->all.floor = larger(s->all.floor, p->least);
    }
}

/* Refines until the first pair has exact sums, or REFINE_MAX pairs were refined. */
static tem_status settle(unadapted_scan *s, const tem_run *run, tem_error *error) {
    tem_status status = TEM_OK;
    for (unsigned round = 0; round < REFINE_MAX && s->all.count > 0 && status == TEM_OK; round++) {
        const unadapted_pair worst = s->all.list[first_of(&s->all)];
        if (s->z->refined[worst.a] && s->z->refined[worst.b])
            return TEM_OK;
        refine(s, &worst);
        drop_below(&s->all);
        status = core_progress(run, "refining", round, REFINE_MAX, error);
    }
    return status;
}

static tem_status find_worst(unadapted_scan *s, const tem_run *run, tem_error *error) {
    tem_status status = TEM_OK;
    for (unsigned round = 0; round < ROUNDS_MAX && status == TEM_OK; round++) {
        status = find_pairs(s, run, error);
        if (status == TEM_OK)
            status = settle(s, run, error);
        if (s->all.left_out <= most_of(&s->all))
            break;
    }
    return status;
}

/* PRIVACY: a pair that was left out counts with its bound. The law that the sampler draws from
 * differs from the ideal law by at most 2^-98 per pair, which is less than 2^-60 per unit of any
 * distance (docs/PRIVACY.md, "The realized loss"). */
static tem_unadapted result_of(const unadapted_pairs *all) {
    if (all->count == 0)
        return (tem_unadapted){.worst_a = TEM_NO_WORD, .worst_b = TEM_NO_WORD};
    const unadapted_pair *worst = &all->list[first_of(all)];
    return (tem_unadapted){.loss = larger(worst->most, all->left_out) + 0x1p-60,
                           .worst_a = worst->a,
                           .worst_b = worst->b,
                           .distance = (double)worst->before / TEM_DIST_ONE,
                           .distance_adapted = (double)worst->after / TEM_DIST_ONE};
}

/* ------------------------------------------------------- both spaces -- */

/* Copies the rows without their last columns. */
static tem_status make_before(unadapted_scan *s, uint32_t signals, tem_error *error) {
    s->before = *s->after;
    s->before.dimension = s->after->dimension - signals;
    s->before.row_elements = space_row_elements(s->before.dimension);
    s->rows = core_alloc_zero((size_t)s->before.count * s->before.row_elements, sizeof *s->rows);
    if (s->rows == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < s->before.count; id++)
        memcpy(s->rows + (size_t)id * s->before.row_elements, space_row(s->after, id),
               s->before.dimension * sizeof *s->rows);
    s->before.rows = s->rows;
    return TEM_OK;
}

static tem_status make_lists(unadapted_scan *s, tem_error *error) {
    const size_t blocks = s->squares_after.blocks;
    s->blocks = core_alloc(blocks, sizeof *s->blocks);
    s->room = core_alloc(blocks * KEPT_MAX, sizeof *s->room);
    s->all.list = core_alloc(blocks * KEPT_MAX, sizeof *s->all.list);
    return s->blocks == NULL || s->room == NULL || s->all.list == NULL ? core_fail_memory(error)
                                                                       : TEM_OK;
}

/* No distance before is larger than the one after, so both have the same reach. */
static tem_status scan_init(unadapted_scan *s, uint32_t signals, unsigned threads,
                            tem_error *error) {
    TRY(make_before(s, signals, error));
    TRY(squares_init(&s->squares_before, &s->before, s->z->reach, error));
    TRY(squares_init(&s->squares_after, s->after, s->z->reach, error));
    TRY(squares_room_init(&s->room_before, &s->squares_before, threads, error));
    TRY(squares_room_init(&s->room_after, &s->squares_after, threads, error));
    return make_lists(s, error);
}

static void scan_free(unadapted_scan *s) {
    core_free(s->all.list);
    core_free(s->room);
    core_free(s->blocks);
    squares_room_free(&s->room_after);
    squares_room_free(&s->room_before);
    squares_free(&s->squares_after);
    squares_free(&s->squares_before);
    core_free(s->rows);
}

tem_status accountant_unadapted(const tem_accountant *a, const tem_mechanism *m, const tem_run *run,
                                tem_unadapted *unadapted, tem_error *error) {
    const space *after = &a->model->space;
    const uint32_t signals = a->model->signals.count;
    TRY(accountant_check(a, m, error));
    if (signals == 0 || signals >= after->dimension || !after->metric->is_euclidean)
        return core_fail(error, TEM_ERR_ARGUMENT, "the model is not adapted");
    partition z = {0};
    unadapted_scan scan = {.after = after, .z = &z};
    tem_status status =
        partition_make(&a->profile, a->weights, mechanism_form(m)->exponent, run, &z, error);
    if (status == TEM_OK)
        status = scan_init(&scan, signals, core_thread_count(run), error);
    if (status == TEM_OK)
        status = find_worst(&scan, run, error);
    if (status == TEM_OK)
        *unadapted = result_of(&scan.all);
    scan_free(&scan);
    partition_free(&z);
    return status;
}
