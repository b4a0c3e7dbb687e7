/* neighbours.c - every word's nearest words, exactly.
 *
 * Brute force, well arranged. At 100 to 300 dimensions no tree or clustering prunes
 * an exact search of word vectors to less than a large part of all pairs, and a
 * matrix product's inner loop does the pairs at the machine's arithmetic limit.
 *
 * The words are cut into blocks that fit the cache. Each pair of blocks is visited
 * once, by one thread, and serves both sides, since d(x, y) = d(y, x). Within a pair
 * of blocks, tiles report only pairs that may still enter one of the two words'
 * heaps or lower its bound on the other's part: those below the word's limit, which
 * falls as its heap fills with nearer words and nearer ones are left out of it. Limits
 * are read without a lock; one that is out of date is too large, and costs a candidate
 * that is then rejected. Which keys a heap ends with depends
 * only on the set of keys offered or rejected, never on their order: the result is
 * the same for any number of threads. */
#include "index/neighbours.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/nearest_heap.h"
#include "space/tiles.h"

#include <pthread.h>
#include <string.h>

_Static_assert(sizeof(tem_neighbour) == sizeof(uint64_t) &&
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a heap's key is read as a tem_neighbour");

enum {
    PACKED_BYTES = 256 * 1024, /* of a block's columns: a quarter of a usual L2 */
    BLOCK_MIN = 192,           /* words; a multiple of both sides of a tile */
    BLOCK_MAX = 1920,
    FOUND_MAX = 8192 /* pairs collected before they are offered to the heaps */
};

/* A pair of words that may be in each other's list. */
typedef struct found_pair {
    uint32_t row, column; /* ids */
    uint32_t raw;
} found_pair;

/* What one thread needs for itself. */
typedef struct scratch {
    tile_side rows, columns;
    found_pair *found;
    uint32_t found_count;
} scratch;

typedef struct builder {
    const space *space;
    tiles tiles;
    uint32_t capacity; /* keys in a heap */
    uint32_t block_words;
    uint64_t blocks;
    uint64_t *keys; /* space->count heaps of `capacity` */
    uint32_t *used;
    _Atomic(tem_dist) *farthest; /* of the words in each full heap; else UINT32_MAX */
    _Atomic(tem_dist) *bounds;   /* space->count * NEIGHBOUR_PARTS: of those left out so far */
    pthread_mutex_t *locks;      /* one a block, for its heaps */
    uint64_t lock_count;
    scratch *scratches;
    unsigned scratch_count;
} builder;

static uint32_t block_words_for(const space *s) {
    const uint32_t row_bytes = s->dimension == 0 ? 1024 : 2 * s->dimension;
    uint32_t words = PACKED_BYTES / row_bytes / BLOCK_MIN * BLOCK_MIN;
    return words < BLOCK_MIN ? BLOCK_MIN : words > BLOCK_MAX ? BLOCK_MAX : words;
}

static _Atomic(tem_dist) *bound_of(const builder *b, uint32_t word, uint32_t other) {
    const uint32_t part = other / neighbours_part_words(b->space->count);
    return &b->bounds[(size_t)word * NEIGHBOUR_PARTS + part];
}

/* Offers `id` to the heap of `word`, whose block is locked. */
static void offer(builder *b, uint32_t word, uint32_t id, tem_dist distance) {
    uint64_t *heap = b->keys + (uint64_t)word * b->capacity;
    const uint64_t out =
        nearest_offer(heap, &b->used[word], b->capacity, nearest_key(id, distance));
    if (b->used[word] == b->capacity)
        atomic_store_explicit(&b->farthest[word], (tem_dist)(heap[0] >> 32), memory_order_relaxed);
    if (out == NEAREST_NONE)
        return;
    _Atomic(tem_dist) *bound = bound_of(b, word, (uint32_t)out);
    if ((tem_dist)(out >> 32) < atomic_load_explicit(bound, memory_order_relaxed))
        atomic_store_explicit(bound, (tem_dist)(out >> 32), memory_order_relaxed);
}

/* The distance from which on a word of `others` changes nothing for `word`. */
static tem_dist limit_of(const builder *b, uint32_t word, const tile_side *others) {
    tem_dist limit = atomic_load_explicit(&b->farthest[word], memory_order_relaxed);
    const _Atomic(tem_dist) *last = bound_of(b, word, others->first + others->count - 1);
    for (const _Atomic(tem_dist) *part = bound_of(b, word, others->first); part <= last; part++) {
        const tem_dist bound = atomic_load_explicit(part, memory_order_relaxed);
        limit = bound > limit ? bound : limit;
    }
    return limit;
}

static void copy_limits(const builder *b, tile_side *side, const tile_side *others) {
    for (uint32_t i = 0; i < side->count; i++)
        side->limits[i] = tiles_limit(&b->tiles, limit_of(b, side->first + i, others));
}

static void update_limits(const builder *b, scratch *s) {
    copy_limits(b, &s->rows, &s->columns);
    copy_limits(b, &s->columns, &s->rows);
}

/* Offers what was found to both sides and looks up the limits anew. */
static void settle(builder *b, scratch *s) {
    pthread_mutex_t *row_lock = &b->locks[s->rows.first / b->block_words];
    pthread_mutex_t *column_lock = &b->locks[s->columns.first / b->block_words];
    pthread_mutex_lock(row_lock);
    for (uint32_t i = 0; i < s->found_count; i++) {
        const found_pair *f = &s->found[i];
        if (f->raw < s->rows.limits[f->row - s->rows.first])
            offer(b, f->row, f->column, tiles_distance(&b->tiles, f->raw));
    }
    pthread_mutex_unlock(row_lock);
    pthread_mutex_lock(column_lock);
    for (uint32_t i = 0; i < s->found_count; i++) {
        const found_pair *f = &s->found[i];
        if (f->row != f->column && f->raw < s->columns.limits[f->column - s->columns.first])
            offer(b, f->column, f->row, tiles_distance(&b->tiles, f->raw));
    }
    pthread_mutex_unlock(column_lock);
    s->found_count = 0;
    update_limits(b, s);
}

/* Collects a tile's hits. On the diagonal each pair appears twice, and is taken
 * where its row is not the larger one. */
static void collect(builder *b, scratch *s, const tile *t, uint32_t row, uint32_t column) {
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        for (uint32_t hits = t->hits[r]; hits != 0; hits &= hits - 1) {
            const uint32_t c = (uint32_t)__builtin_ctz(hits);
            const uint32_t row_id = s->rows.first + row + r,
                           column_id = s->columns.first + column + c;
            if (row_id <= column_id)
                s->found[s->found_count++] = (found_pair){row_id, column_id, t->raw[r][c]};
        }
    if (s->found_count > FOUND_MAX - TILE_ROWS * TILE_COLUMNS)
        settle(b, s);
}

static uint32_t block_size(const builder *b, uint64_t block) {
    const uint64_t left = b->space->count - block * b->block_words;
    return left < b->block_words ? (uint32_t)left : b->block_words;
}

static void visit_pair(builder *b, scratch *s, uint64_t row_block) {
    tile_side_set_rows(&s->rows, &b->tiles, (uint32_t)row_block * b->block_words,
                       block_size(b, row_block));
    update_limits(b, s);
    tile t;
    for (uint32_t column = 0; column < s->columns.count; column += TILE_COLUMNS)
        for (uint32_t row = 0; row < s->rows.count; row += TILE_ROWS)
            if (tiles_compute(&b->tiles, &s->rows, row, &s->columns, column, &t))
                collect(b, s, &t, row, column);
    settle(b, s);
}

/* A block against itself and all blocks before it. */
static void visit_column(builder *b, scratch *s, uint64_t column_block) {
    tile_side_set_columns(&s->columns, &b->tiles, (uint32_t)column_block * b->block_words,
                          block_size(b, column_block));
    for (uint64_t row_block = 0; row_block <= column_block; row_block++)
        visit_pair(b, s, row_block);
}

/* Item i is column i and, from the other end, column blocks - 1 - i: items are alike
 * in cost, and threads seldom want the same heaps (one column shared by all threads
 * kept two of them at 1.57 processors). */
static void visit_columns(void *context, uint64_t item, unsigned thread) {
    builder *b = context;
    const uint64_t mirrored = b->blocks - 1 - item;
    visit_column(b, &b->scratches[thread], mirrored);
    if (mirrored != item)
        visit_column(b, &b->scratches[thread], item);
}

static void sort_block(void *context, uint64_t block, unsigned thread) {
    builder *b = context;
    (void)thread;
    const uint64_t first = block * b->block_words;
    for (uint64_t id = first; id < first + block_size(b, block); id++)
        nearest_sort(b->keys + id * b->capacity, b->capacity);
}

static void builder_free(builder *b) {
    for (unsigned i = 0; i < b->scratch_count; i++) {
        tile_side_free(&b->scratches[i].rows);
        tile_side_free(&b->scratches[i].columns);
        core_free(b->scratches[i].found);
    }
    core_free(b->scratches);
    for (uint64_t i = 0; i < b->lock_count; i++)
        pthread_mutex_destroy(&b->locks[i]);
    core_free(b->locks);
    core_free(b->farthest);
    core_free(b->bounds);
    core_free(b->used);
    core_free(b->keys);
    tiles_free(&b->tiles);
}

static tem_status make_scratches(builder *b, unsigned threads, tem_error *error) {
    b->scratches = core_alloc_zero(threads, sizeof *b->scratches);
    if (b->scratches == NULL)
        return core_fail_memory(error);
    b->scratch_count = threads;
    for (unsigned i = 0; i < threads; i++) {
        scratch *s = &b->scratches[i];
        s->found = core_alloc(FOUND_MAX, sizeof *s->found);
        if (s->found == NULL ||
            tile_side_init(&s->rows, &b->tiles, b->block_words, error) != TEM_OK ||
            tile_side_init(&s->columns, &b->tiles, b->block_words, error) != TEM_OK)
            return core_fail_memory(error);
    }
    return TEM_OK;
}

static tem_status builder_init(builder *b, const space *s, uint32_t capacity, unsigned threads,
                               tem_error *error) {
    *b = (builder){.space = s, .capacity = capacity, .block_words = block_words_for(s)};
    b->blocks = ((uint64_t)s->count + b->block_words - 1) / b->block_words;
    tem_status status = tiles_init(&b->tiles, s, error);
    if (status != TEM_OK)
        return status;
    b->keys = core_alloc((size_t)s->count * capacity, sizeof *b->keys);
    b->used = core_alloc_zero(s->count, sizeof *b->used);
    b->farthest = core_alloc(s->count, sizeof *b->farthest);
    b->bounds = core_alloc((size_t)s->count * NEIGHBOUR_PARTS, sizeof *b->bounds);
    b->locks = core_alloc(b->blocks, sizeof *b->locks);
    if (b->keys == NULL || b->used == NULL || b->farthest == NULL || b->bounds == NULL ||
        b->locks == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < s->count; id++)
        atomic_init(&b->farthest[id], UINT32_MAX);
    for (size_t i = 0; i < (size_t)s->count * NEIGHBOUR_PARTS; i++)
        atomic_init(&b->bounds[i], UINT32_MAX);
    for (; b->lock_count < b->blocks; b->lock_count++)
        if (pthread_mutex_init(&b->locks[b->lock_count], NULL) != 0)
            return core_fail_memory(error);
    return make_scratches(b, threads, error);
}

/* The sorted heaps are the lists, and their memory becomes the lists'. */
static tem_status take_lists(builder *b, neighbour_index *out, tem_error *error) {
    const uint32_t count = b->space->count;
    uint64_t *starts = core_alloc((size_t)count + 1, sizeof *starts);
    if (starts == NULL)
        return core_fail_memory(error);
    for (uint64_t id = 0; id <= count; id++)
        starts[id] = id * b->capacity;
    *out = (neighbour_index){.count = count,
                             .starts = starts,
                             .entries = (const tem_neighbour *)(const void *)b->keys,
                             .entry_count = starts[count],
                             .bounds = (const tem_dist *)(const void *)b->bounds};
    b->keys = NULL;
    b->bounds = NULL;
    return TEM_OK;
}

tem_status neighbours_build(const space *s, uint32_t length, const tem_run *run,
                            neighbour_index *out, tem_error *error) {
    builder b;
    tem_status status = builder_init(&b, s, length, core_thread_count(run), error);
    if (status == TEM_OK)
        status = core_parallel(run, "comparing", (b.blocks + 1) / 2, visit_columns, &b, error);
    if (status == TEM_OK)
        status = core_parallel(run, "sorting", b.blocks, sort_block, &b, error);
    if (status == TEM_OK)
        status = take_lists(&b, out, error);
    builder_free(&b);
    return status;
}

void neighbours_free(neighbour_index *index) {
    core_free((void *)(uintptr_t)index->starts);
    core_free((void *)(uintptr_t)index->entries);
    core_free((void *)(uintptr_t)index->bounds);
    *index = (neighbour_index){0};
}

static uint64_t key_of(const tem_neighbour *entry) {
    return nearest_key(entry->id, entry->distance);
}

static bool list_in_order(const neighbour_index *index, const tem_neighbours *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->list[i].id >= index->count)
            return false;
        if (i > 0 && key_of(&n->list[i - 1]) >= key_of(&n->list[i]))
            return false;
    }
    return n->list[n->count - 1].distance <= n->bound &&
           (n->count < index->count || n->bound == UINT32_MAX);
}

static tem_dist least_of(const tem_dist bounds[NEIGHBOUR_PARTS]) {
    tem_dist least = UINT32_MAX;
    for (unsigned part = 0; part < NEIGHBOUR_PARTS; part++)
        least = bounds[part] < least ? bounds[part] : least;
    return least;
}

tem_status neighbours_get(const neighbour_index *index, uint32_t id, tem_neighbours *out,
                          tem_error *error) {
    const uint64_t start = index->starts[id], end = index->starts[id + 1];
    if (start >= end || end > index->entry_count || end - start > index->count)
        return core_fail(error, TEM_ERR_DAMAGED, "the list of word %u lies outside its section",
                         id);
    const tem_neighbours n = {index->entries + start, (uint32_t)(end - start),
                              least_of(neighbours_bounds(index, id))};
    if (index->checked != NULL) {
        const uint64_t bit = (uint64_t)1 << id % 64;
        if ((atomic_load_explicit(&index->checked[id / 64], memory_order_relaxed) & bit) == 0) {
            if (!list_in_order(index, &n))
                return core_fail(error, TEM_ERR_DAMAGED, "the list of word %u is out of order", id);
            atomic_fetch_or_explicit(&index->checked[id / 64], bit, memory_order_relaxed);
        }
    }
    *out = n;
    return TEM_OK;
}

/* The bounds of a list that ends after `kept` of its entries. */
static void bounds_of_cut(const neighbour_index *index, uint32_t id, const tem_neighbours *whole,
                          uint32_t kept, tem_dist bounds[NEIGHBOUR_PARTS]) {
    memcpy(bounds, neighbours_bounds(index, id), NEIGHBOUR_PARTS * sizeof *bounds);
    for (uint32_t i = kept; i < whole->count; i++) {
        tem_dist *bound = &bounds[whole->list[i].id / neighbours_part_words(index->count)];
        *bound = whole->list[i].distance < *bound ? whole->list[i].distance : *bound;
    }
}

/* Whether list `id` of `index` is the beginning of the list of `again`, and its bounds
 * those of the words outside it. */
static tem_status compare_list(const neighbour_index *index, const neighbour_index *again,
                               uint32_t id, tem_error *error) {
    tem_neighbours stored = {0}, right = {0};
    tem_status status = neighbours_get(index, id, &stored, error);
    if (status == TEM_OK)
        status = neighbours_get(again, id, &right, error);
    if (status != TEM_OK)
        return status;
    tem_dist bounds[NEIGHBOUR_PARTS];
    bounds_of_cut(again, id, &right, stored.count, bounds);
    if (stored.count > right.count ||
        memcmp(neighbours_bounds(index, id), bounds, sizeof bounds) != 0 ||
        memcmp(stored.list, right.list, stored.count * sizeof *stored.list) != 0)
        return core_fail(error, TEM_ERR_DAMAGED, "the list of word %u is not its nearest words",
                         id);
    return TEM_OK;
}

static tem_status longest_list(const neighbour_index *index, uint32_t *length, tem_error *error) {
    *length = 1;
    for (uint32_t id = 0; id < index->count; id++) {
        tem_neighbours n = {0};
        tem_status status = neighbours_get(index, id, &n, error);
        if (status != TEM_OK)
            return status;
        *length = n.count > *length ? n.count : *length;
    }
    return TEM_OK;
}

tem_status neighbours_verify(const neighbour_index *index, const space *s, uint32_t length,
                             const tem_run *run, tem_error *error) {
    uint32_t longest = 0;
    tem_status status = longest_list(index, &longest, error);
    if (status != TEM_OK)
        return status;
    if (longest != length)
        return core_fail(error, TEM_ERR_DAMAGED, "the lists have another length than stated");
    if (index->starts[0] != 0 || index->starts[index->count] != index->entry_count)
        return core_fail(error, TEM_ERR_DAMAGED, "the lists do not fill their section");
    neighbour_index again = {0};
    status = neighbours_build(s, length, run, &again, error);
    for (uint32_t id = 0; id < index->count && status == TEM_OK; id++)
        status = compare_list(index, &again, id, error);
    neighbours_free(&again);
    return status;
}
