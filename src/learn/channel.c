/* channel.c - products with the matrix of all laws, tile by tile. */
#include "learn/channel.h"

#include "core/cpu.h"
#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <string.h>

/* A thread computes K for the rows of one block of words (SQUARES_BLOCK) and TILE_BLOCKS blocks of
 * columns: 96 x 1536 doubles, 1.2 MB, which stay in the cache of its core. */
enum { TILE_BLOCKS = 16, TILE_COLUMNS_MAX = TILE_BLOCKS * SQUARES_BLOCK };

typedef struct product {
    const tem_channel *channel;
    const double *in;
    double *out;
    uint32_t columns;
    squares_room room;
    double *tiles; /* SQUARES_BLOCK * TILE_COLUMNS_MAX numbers per thread */
} product;

/* Writes K of the rows of a block and the `width` words of one block of columns to `out`, whose
 * rows are `stride` numbers apart. */
static void weigh_block(const tem_channel *c, const tem_dist *distances, uint32_t rows,
                        uint32_t width, double *out, size_t stride) {
    for (uint32_t r = 0; r < rows; r++)
        c->weigh(&c->weighing, distances + (size_t)r * SQUARES_BLOCK, width, out + r * stride);
}

/* Adds the part of the product of one tile: the rows of block `rows`, and the columns of TILE_BLOCKS
 * blocks from block `first` on. */
static void add_tile(product *p, unsigned thread, uint32_t rows, uint32_t first) {
    const tem_channel *c = p->channel;
    double *tile = p->tiles + (size_t)thread * SQUARES_BLOCK * TILE_COLUMNS_MAX;
    const uint32_t row_count = squares_block_size(&c->squares, rows);
    uint32_t width = 0;
    for (uint32_t block = first; block < c->squares.blocks && block < first + TILE_BLOCKS;
         block++) {
        const uint32_t words = squares_block_size(&c->squares, block);
        weigh_block(c, squares_meet(&c->squares, &p->room, thread, rows, block), row_count, words,
                    tile + width, TILE_COLUMNS_MAX);
        width += words;
    }
    lapack_add_product(row_count, p->columns, width, tile, TILE_COLUMNS_MAX,
                       p->in + (size_t)first * SQUARES_BLOCK * p->columns, p->columns,
                       p->out + (size_t)rows * SQUARES_BLOCK * p->columns, p->columns);
}

static void multiply_rows(void *context, uint64_t item, unsigned thread) {
    product *p = context;
    const tem_channel *c = p->channel;
    const uint32_t rows = (uint32_t)item;
    memset(p->out + (size_t)rows * SQUARES_BLOCK * p->columns, 0,
           (size_t)squares_block_size(&c->squares, rows) * p->columns * sizeof *p->out);
    squares_set_rows(&c->squares, &p->room, thread, rows);
    for (uint32_t first = 0; first < c->squares.blocks; first += TILE_BLOCKS) {
        if (core_task_stopped())
            return;
        add_tile(p, thread, rows, first);
    }
}

tem_status channel_multiply(const tem_channel *channel, const char *stage, const double *in,
                            uint32_t columns, const tem_run *run, double *out, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    product p = {.channel = channel, .in = in, .out = out, .columns = columns};
    tem_status status = lapack_products_begin(error);
    if (status != TEM_OK)
        return status;
    status = squares_room_init(&p.room, &channel->squares, threads, error);
    p.tiles = core_alloc(threads, SQUARES_BLOCK * TILE_COLUMNS_MAX * sizeof *p.tiles);
    if (status == TEM_OK && p.tiles == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = core_parallel(run, stage, channel->squares.blocks, multiply_rows, &p, error);
    core_free(p.tiles);
    squares_room_free(&p.room);
    lapack_products_end();
    return status;
}

/* ------------------------------------------------------ factors around it -- */

/* Makes a copy of a matrix of `rows` rows in which each number of row r is multiplied by
 * factors[r], or divided by it. NULL if there is no memory. */
static double *scaled_copy(const double *in, uint32_t rows, uint32_t columns, const double *factors,
                           bool divide) {
    double *copy = core_alloc((size_t)rows * columns, sizeof *copy);
    for (uint32_t r = 0; copy != NULL && r < rows; r++)
        for (uint32_t i = 0; i < columns; i++) {
            const double x = in[(size_t)r * columns + i];
            copy[(size_t)r * columns + i] = divide ? x / factors[r] : x * factors[r];
        }
    return copy;
}

static double *weights_as_doubles(const tem_channel *c) {
    double *a = core_alloc(c->count, sizeof *a);
    for (uint32_t w = 0; a != NULL && w < c->count; w++)
        a[w] = weights_at(c->weights, w);
    return a;
}

/* out = K in, in memory of its own: a call that fails leaves the caller's as it was. The caller frees
 * *out. */
static tem_status multiply_apart(const tem_channel *c, const double *in, uint32_t columns,
                                 const tem_run *run, double **out, tem_error *error) {
    double *sums = core_alloc((size_t)c->count * columns, sizeof *sums);
    if (sums == NULL)
        return core_fail_memory(error);
    const tem_status status = channel_multiply(c, "multiplying", in, columns, run, sums, error);
    if (status == TEM_OK)
        *out = sums;
    else
        core_free(sums);
    return status;
}

tem_status channel_forward(const tem_channel *channel, const double *in, uint32_t columns,
                           const tem_run *run, double *out, tem_error *error) {
    double *scaled = scaled_copy(in, channel->count, columns, channel->z, true), *sums = NULL;
    if (scaled == NULL)
        return core_fail_memory(error);
    const tem_status status = multiply_apart(channel, scaled, columns, run, &sums, error);
    const double *unknown = in + (size_t)channel->count * columns;
    for (uint32_t y = 0; status == TEM_OK && y < channel->count; y++)
        for (uint32_t i = 0; i < columns; i++) {
            const size_t at = (size_t)y * columns + i;
            out[at] = weights_at(channel->weights, y) *
                      (sums[at] + unknown[i] / channel_weight_sum(channel));
        }
    core_free(sums);
    core_free(scaled);
    return status;
}

tem_status channel_backward(const tem_channel *channel, const double *in, uint32_t columns,
                            const tem_run *run, double *out, tem_error *error) {
    double *a = weights_as_doubles(channel), *sums = NULL;
    double *scaled = a == NULL ? NULL : scaled_copy(in, channel->count, columns, a, false);
    const tem_status status = scaled == NULL
                                  ? core_fail_memory(error)
                                  : multiply_apart(channel, scaled, columns, run, &sums, error);
    double *unknown = out + (size_t)channel->count * columns;
    if (status == TEM_OK)
        memset(unknown, 0, columns * sizeof *unknown);
    for (uint32_t w = 0; status == TEM_OK && w < channel->count; w++)
        for (uint32_t i = 0; i < columns; i++) {
            const size_t at = (size_t)w * columns + i;
            out[at] = sums[at] / channel->z[w];
            unknown[i] += scaled[at] / channel_weight_sum(channel);
        }
    core_free(sums);
    core_free(scaled);
    core_free(a);
    return status;
}

/* ---------------------------------------------------------------- object -- */

static weigh_loop *choose_loop(void) {
#if defined(__x86_64__)
    const core_cpu cpu = core_cpu_detect();
    return cpu.avx512 ? weigh_avx512 : cpu.avx2 ? weigh_avx2 : weigh_plain;
#else
    return weigh_plain;
#endif
}

void channel_free(tem_channel *channel) {
    if (channel == NULL)
        return;
    squares_free(&channel->squares);
    core_free(channel->z);
    core_free(channel);
}

/* Computes Z of each word. */
static tem_status make_totals(tem_channel *c, const tem_run *run, tem_error *error) {
    double *a = weights_as_doubles(c);
    if (a == NULL)
        return core_fail_memory(error);
    const tem_status status = channel_multiply(c, "adding laws", a, 1, run, c->z, error);
    core_free(a);
    return status;
}

tem_status channel_create(const tem_mechanism *mechanism, const tem_run *run, tem_channel **channel,
                          tem_error *error) {
    tem_status status = mechanism_check_law(mechanism, error);
    if (status != TEM_OK)
        return status;
    const sampler *m = mechanism_exponential(mechanism);
    tem_channel *c = core_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return core_fail_memory(error);
    *c = (tem_channel){.mechanism = mechanism,
                       .count = mechanism->count,
                       .weigh = choose_loop(),
                       .weights = &m->envelopes.weights,
                       .z = core_alloc(mechanism->count, sizeof(double))};
    decay_init(&c->decay);
    c->weighing = (weighing){.levels = c->decay.levels,
                             .s = (double)m->envelopes.exponent.s,
                             .gamma = m->envelopes.exponent.gamma};
    status = c->z == NULL ? core_fail_memory(error)
                          : squares_init(&c->squares, m->space, space_reach(m->space), error);
    if (status == TEM_OK)
        status = make_totals(c, run, error);
    if (status == TEM_OK)
        *channel = c;
    else
        channel_free(c);
    return status;
}
