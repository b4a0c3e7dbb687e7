/* channel.c - products with the matrix of all laws, tile by tile. */
#include "learn/channel.h"

#include "core/cpu.h"
#include "core/lapack.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <string.h>

/* K is symmetric, so each tile of K serves two sums: rows times the `in` of its columns, and
 * columns times the `in` of its rows. The words are cut into GROUPS groups, and the products run in
 * rounds. In a round each group meets one other group, so no two threads write to the same row, and
 * each round begins after the one before has ended. So the order of sums does not depend on the
 * number of threads. A tile has the rows of one block of words (SQUARES_BLOCK) and the columns of
 * up to TILE_BLOCKS blocks: 96 x 1536 doubles, 1.2 MB, which stay in the cache of its core. */
enum { GROUPS = 64, TILE_BLOCKS = 16, TILE_COLUMNS_MAX = TILE_BLOCKS * SQUARES_BLOCK };

typedef struct product {
    const tem_channel *channel;
    const double *in;
    double *out;
    uint32_t columns;
    squares_room room;
    double *tiles; /* SQUARES_BLOCK * TILE_COLUMNS_MAX numbers per thread */
    uint32_t groups;
    uint32_t round;
    const tem_run *run;      /* the caller's */
    uint64_t done, meetings; /* of groups: before this round, and in all */
} product;

/* The blocks `first` to `end` - 1. */
typedef struct block_range {
    uint32_t first, end;
} block_range;

static block_range blocks_of_group(const product *p, uint32_t group) {
    const uint64_t blocks = p->channel->squares.blocks;
    return (block_range){(uint32_t)(blocks * group / p->groups),
                         (uint32_t)(blocks * (group + 1) / p->groups)};
}

/* Fills the tile of a thread with K of the rows of block `rows` and the columns of these blocks.
 * Returns the number of columns. */
static uint32_t fill_tile(product *p, unsigned thread, uint32_t rows, block_range columns,
                          double *tile) {
    const tem_channel *c = p->channel;
    const uint32_t row_count = squares_block_size(&c->squares, rows);
    uint32_t width = 0;
    for (uint32_t block = columns.first; block < columns.end; block++) {
        const uint32_t words = squares_block_size(&c->squares, block);
        const tem_dist *distances = squares_meet(&c->squares, &p->room, thread, rows, block);
        for (uint32_t r = 0; r < row_count; r++)
            c->weigh(&c->weighing, distances + (size_t)r * SQUARES_BLOCK, words,
                     tile + (size_t)r * TILE_COLUMNS_MAX + width);
        width += words;
    }
    return width;
}

/* Adds what block `rows` and at most TILE_BLOCKS others give to each other; or, if the others are
 * `rows` alone, to itself. */
static void add_tile(product *p, unsigned thread, uint32_t rows, block_range columns) {
    double *tile = p->tiles + (size_t)thread * SQUARES_BLOCK * TILE_COLUMNS_MAX;
    const uint32_t row_count = squares_block_size(&p->channel->squares, rows);
    const uint32_t width = fill_tile(p, thread, rows, columns, tile);
    const size_t row = (size_t)rows * SQUARES_BLOCK * p->columns,
                 column = (size_t)columns.first * SQUARES_BLOCK * p->columns;
    lapack_add_product(row_count, p->columns, width, tile, TILE_COLUMNS_MAX, p->in + column,
                       p->columns, p->out + row, p->columns);
    if (columns.first != rows)
        lapack_add_transposed_product(width, p->columns, row_count, tile, TILE_COLUMNS_MAX,
                                      p->in + row, p->columns, p->out + column, p->columns);
}

/* Adds what block `rows` and the blocks of a range give to each other. */
static void add_row(product *p, unsigned thread, uint32_t rows, block_range columns) {
    for (uint32_t first = columns.first; first < columns.end && !core_task_stopped();
         first += TILE_BLOCKS) {
        const uint32_t end = first + TILE_BLOCKS < columns.end ? first + TILE_BLOCKS : columns.end;
        add_tile(p, thread, rows, (block_range){first, end});
    }
}

/* One item of a round: two groups meet. This is the usual schedule of a tournament of an even
 * number of players: the last one stays where it is, the others move on by one in each round. If
 * the number of groups is odd, nobody is the last player. */
static void meet_other(void *context, uint64_t item, unsigned thread) {
    product *p = context;
    const uint32_t moving = p->groups - 1 + p->groups % 2, i = (uint32_t)item;
    const uint32_t one = (p->round + i) % moving;
    const uint32_t other = i == 0 ? moving : (p->round + moving - i) % moving;
    if (other >= p->groups)
        return;
    const block_range rows = blocks_of_group(p, one), columns = blocks_of_group(p, other);
    for (uint32_t block = rows.first; block < rows.end; block++) {
        squares_set_rows(&p->channel->squares, &p->room, thread, block);
        add_row(p, thread, block, columns);
    }
}

/* One item of the first round: the blocks of a group meet each other. */
static void meet_itself(void *context, uint64_t item, unsigned thread) {
    product *p = context;
    const block_range blocks = blocks_of_group(p, (uint32_t)item);
    for (uint32_t block = blocks.first; block < blocks.end; block++) {
        squares_set_rows(&p->channel->squares, &p->room, thread, block);
        add_tile(p, thread, block, (block_range){block, block + 1});
        add_row(p, thread, block, (block_range){block + 1, blocks.end});
    }
}

/* The progress of all rounds. */
static int tell_rounds(void *context, const char *stage, uint64_t done, uint64_t total) {
    const product *p = context;
    (void)total;
    return p->run->progress(p->run->progress_context, stage, p->done + done, p->meetings);
}

static tem_status run_rounds(product *p, core_team *team, const char *stage, tem_error *error) {
    const uint32_t players = p->groups + p->groups % 2;
    const tem_run own = {.progress =
                             p->run != NULL && p->run->progress != NULL ? tell_rounds : NULL,
                         .progress_context = p};
    p->meetings = p->groups + (uint64_t)(players - 1) * (players / 2);
    tem_status status = core_team_parallel(team, &own, stage, p->groups, meet_itself, p, error);
    p->done = p->groups;
    for (p->round = 0; status == TEM_OK && p->round + 1 < players && p->groups > 1; p->round++) {
        status = core_team_parallel(team, &own, stage, players / 2, meet_other, p, error);
        p->done += players / 2;
    }
    return status;
}

static tem_status multiply_by_distance(const tem_channel *channel, const char *stage,
                                       const double *in, uint32_t columns, const tem_run *run,
                                       double *out, tem_error *error) {
    const unsigned threads = core_thread_count(run);
    const uint32_t blocks = channel->squares.blocks;
    product p = {.channel = channel,
                 .in = in,
                 .out = out,
                 .columns = columns,
                 .groups = blocks < GROUPS ? blocks : GROUPS,
                 .run = run};
    core_team *team = NULL;
    tem_status status = squares_room_init(&p.room, &channel->squares, threads, error);
    p.tiles = core_alloc(threads, SQUARES_BLOCK * TILE_COLUMNS_MAX * sizeof *p.tiles);
    if (status == TEM_OK && p.tiles == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = core_team_create(run, &team, error);
    if (status == TEM_OK)
        status = run_rounds(&p, team, stage, error);
    core_team_free(team);
    core_free(p.tiles);
    squares_room_free(&p.room);
    return status;
}

/* ----------------------------------------------------------- by the form -- */

/* A product with any K, or with its transpose, from rows of K: a form may need a hundred times as
 * long for a column. */
enum {
    FORM_ROWS = 16,   /* rows of K in an item */
    BATCH_ROWS = 128, /* rows of K between two steps of a product with the transpose */
    CHUNK = 512       /* rows of the transpose in an item */
};

typedef struct form_product {
    const tem_channel *channel;
    const double *in;
    double *out, *rows; /* rows of K: FORM_ROWS per thread, or BATCH_ROWS */
    uint32_t columns;
    uint32_t first, count; /* the rows of a batch */
} form_product;

/* An item is FORM_ROWS rows, so no two threads write to the same row of `out`. */
static void add_form_rows(void *context, uint64_t item, unsigned thread) {
    const form_product *p = context;
    const law_form *f = p->channel->form;
    const uint32_t words = p->channel->count, first = (uint32_t)item * FORM_ROWS;
    const uint32_t count = words - first < FORM_ROWS ? words - first : FORM_ROWS;
    double *rows = p->rows + (size_t)thread * FORM_ROWS * words;
    for (uint32_t i = 0; i < count; i++)
        f->ops->row(f, first + i, 0, words, rows + (size_t)i * words);
    lapack_add_product(count, p->columns, words, rows, words, p->in, p->columns,
                       p->out + (size_t)first * p->columns, p->columns);
}

static tem_status multiply_by_form(const tem_channel *channel, const char *stage, const double *in,
                                   uint32_t columns, const tem_run *run, double *out,
                                   tem_error *error) {
    const uint32_t items = (channel->count + FORM_ROWS - 1) / FORM_ROWS;
    form_product p = {.channel = channel,
                      .in = in,
                      .out = out,
                      .columns = columns,
                      .rows = core_alloc((size_t)core_thread_count(run) * FORM_ROWS,
                                         channel->count * sizeof *p.rows)};
    const tem_status status = p.rows == NULL
                                  ? core_fail_memory(error)
                                  : core_parallel(run, stage, items, add_form_rows, &p, error);
    core_free(p.rows);
    return status;
}

/* The transpose: the threads fill a batch of rows; then each takes a chunk of the outputs, and adds
 * what the batch gives to it. So no two threads write to the same row of `out`, and the order of
 * sums does not depend on the number of threads. */
static void fill_batch_row(void *context, uint64_t item, unsigned thread) {
    const form_product *p = context;
    const law_form *f = p->channel->form;
    const uint32_t words = p->channel->count;
    (void)thread;
    f->ops->row(f, p->first + (uint32_t)item, 0, words, p->rows + (size_t)item * words);
}

static void add_batch(void *context, uint64_t item, unsigned thread) {
    const form_product *p = context;
    const uint32_t words = p->channel->count, first = (uint32_t)item * CHUNK;
    const uint32_t count = words - first < CHUNK ? words - first : CHUNK;
    (void)thread;
    lapack_add_transposed_product(count, p->columns, p->count, p->rows + first, words,
                                  p->in + (size_t)p->first * p->columns, p->columns,
                                  p->out + (size_t)first * p->columns, p->columns);
}

static tem_status run_batches(form_product *p, core_team *team, const char *stage,
                              const tem_run *run, tem_error *error) {
    const uint32_t words = p->channel->count, chunks = (words + CHUNK - 1) / CHUNK;
    tem_status status = TEM_OK;
    for (p->first = 0; p->first < words && status == TEM_OK; p->first += BATCH_ROWS) {
        const uint32_t left = words - p->first;
        p->count = left < BATCH_ROWS ? left : BATCH_ROWS;
        status = core_progress(run, stage, p->first, words, error);
        if (status == TEM_OK)
            status = core_team_parallel(team, NULL, stage, p->count, fill_batch_row, p, error);
        if (status == TEM_OK)
            status = core_team_parallel(team, NULL, stage, chunks, add_batch, p, error);
    }
    return status;
}

static tem_status multiply_transposed(const tem_channel *channel, const char *stage,
                                      const double *in, uint32_t columns, const tem_run *run,
                                      double *out, tem_error *error) {
    form_product p = {.channel = channel,
                      .in = in,
                      .out = out,
                      .columns = columns,
                      .rows = core_alloc(BATCH_ROWS, channel->count * sizeof *p.rows)};
    core_team *team = NULL;
    tem_status status =
        p.rows == NULL ? core_fail_memory(error) : core_team_create(run, &team, error);
    if (status == TEM_OK)
        status = run_batches(&p, team, stage, run, error);
    core_team_free(team);
    core_free(p.rows);
    return status;
}

tem_status channel_multiply(const tem_channel *channel, channel_matrix matrix, const char *stage,
                            const double *in, uint32_t columns, const tem_run *run, double *out,
                            tem_error *error) {
    tem_status status = lapack_products_begin(run, error);
    if (status != TEM_OK)
        return status;
    memset(out, 0, (size_t)channel->count * columns * sizeof *out);
    if (channel->by_distance)
        status = multiply_by_distance(channel, stage, in, columns, run, out, error);
    else if (matrix == CHANNEL_INPUTS)
        status = multiply_by_form(channel, stage, in, columns, run, out, error);
    else
        status = multiply_transposed(channel, stage, in, columns, run, out, error);
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

/* channel_multiply into memory of its own: a call that fails leaves the caller's as it was. The
 * caller frees *out. */
static tem_status multiply_apart(const tem_channel *c, channel_matrix matrix, const double *in,
                                 uint32_t columns, const tem_run *run, double **out,
                                 tem_error *error) {
    double *sums = core_alloc((size_t)c->count * columns, sizeof *sums);
    if (sums == NULL)
        return core_fail_memory(error);
    const tem_status status =
        channel_multiply(c, matrix, "multiplying", in, columns, run, sums, error);
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
    const tem_status status =
        multiply_apart(channel, CHANNEL_OUTPUTS, scaled, columns, run, &sums, error);
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
    const tem_status status = scaled == NULL ? core_fail_memory(error)
                                             : multiply_apart(channel, CHANNEL_INPUTS, scaled,
                                                              columns, run, &sums, error);
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
    for (uint32_t w = 0; w < c->count; w++)
        c->z[w] = c->form->total;
    if (c->form->total > 0)
        return TEM_OK;
    double *a = weights_as_doubles(c);
    if (a == NULL)
        return core_fail_memory(error);
    const tem_status status =
        channel_multiply(c, CHANNEL_INPUTS, "adding laws", a, 1, run, c->z, error);
    core_free(a);
    return status;
}

static tem_status init_distances(tem_channel *c, tem_error *error) {
    const space *s = &c->mechanism->model->space;
    c->by_distance = true;
    c->weigh = choose_loop();
    decay_init(&c->decay);
    c->weighing = (weighing){.levels = c->decay.levels,
                             .s = (double)c->form->exponent.s,
                             .gamma = c->form->exponent.gamma};
    return squares_init(&c->squares, s, space_reach(s), error);
}

tem_status channel_create(const tem_mechanism *mechanism, const tem_run *run, tem_channel **channel,
                          tem_error *error) {
    tem_status status = mechanism_check_form(mechanism, error);
    if (status != TEM_OK)
        return status;
    const law_form *form = mechanism_form(mechanism);
    tem_channel *c = core_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return core_fail_memory(error);
    *c = (tem_channel){.mechanism = mechanism,
                       .count = mechanism->count,
                       .form = form,
                       .weights = form->weights,
                       .z = core_alloc(mechanism->count, sizeof(double))};
    if (c->z == NULL)
        status = core_fail_memory(error);
    else if (form->is_of_distance)
        status = init_distances(c, error);
    if (status == TEM_OK)
        status = make_totals(c, run, error);
    if (status == TEM_OK)
        *channel = c;
    else
        channel_free(c);
    return status;
}
