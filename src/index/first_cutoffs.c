/* first_cutoffs.c - finds cutoffs before the first comparison, from a sample of words. */
#include "index/first_cutoffs.h"

#include "core/memory.h"
#include "core/status.h"
#include "index/nearest_keys.h"
#include "space/kernels/kernels.h"

#include <string.h>

enum {
    WANTED = 384, /* a sample has this many words, plus twice the length of a list */
    CENTRAL = 16, /* central words of each range; 8 or 24 are as good */
    EXTRA = 8,    /* words of each range besides central ones, if the near clusters have them */
    NEAR = 64,    /* clusters that are searched for EXTRA words */
    SAMPLE = 64   /* words to try in a range for which the sample gives no bound */
};

/* A key that orders words by squared distance. Squares have up to 42 bits; without the last ten the
 * order is still good enough. */
static uint64_t rough_key(uint32_t place, uint64_t square) {
    return nearest_key(place, (uint32_t)(square >> 10));
}

/* The mean of the clusters' means, which is about the mean of all words. */
static void mean_of_clusters(const space *s, const clusters *c, int16_t *mean) {
    for (uint32_t e = 0; e < s->dimension; e++) {
        int64_t sum = 0;
        for (size_t i = 0; i < c->count; i++)
            sum += c->centres[i * s->row_elements + e];
        mean[e] = (int16_t)(sum / c->count);
    }
}

/* Appends the central words of a range to h. `keys` has room for one key per word of the range. */
static void find_central(central_words *h, const space *s, uint32_t range, const int16_t *mean,
                         uint64_t *keys) {
    const uint64_t words = neighbours_range_words(s->count);
    uint32_t count = 0;
    for (uint64_t id = range * words; id < (range + 1) * words && id < s->count; id++)
        keys[count++] = rough_key((uint32_t)id, kernels_active()->l2_i16(space_row(s, (uint32_t)id),
                                                                         mean, s->row_elements));
    const uint32_t taken = count < CENTRAL ? count : CENTRAL;
    if (taken > 0)
        nearest_select(keys, count, taken);
    for (uint32_t i = 0; i < taken; i++)
        h->ids[h->count++] = (uint32_t)keys[i];
}

tem_status central_words_init(central_words *h, const space *s, const clusters *c,
                              tem_error *error) {
    int16_t *mean = core_alloc_zero(s->row_elements, sizeof *mean);
    uint64_t *keys = core_alloc(neighbours_range_words(s->count), sizeof *keys);
    *h = (central_words){.ids = core_alloc(CENTRAL * NEIGHBOUR_RANGES, sizeof *h->ids)};
    const bool failed = mean == NULL || keys == NULL || h->ids == NULL;
    if (!failed) {
        mean_of_clusters(s, c, mean);
        for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++)
            find_central(h, s, range, mean, keys);
    }
    core_free(keys);
    core_free(mean);
    return failed ? core_fail_memory(error) : TEM_OK;
}

void central_words_free(central_words *h) {
    core_free(h->ids);
    *h = (central_words){0};
}

/* The size of a sample for a list of `length` words, without central and extra words. */
static uint32_t wanted_for(const space *s, uint32_t length) {
    const uint64_t wanted = WANTED + 2 * (uint64_t)length;
    return wanted < s->count ? (uint32_t)wanted : s->count;
}

tem_status cutoff_finder_init(cutoff_finder *g, const space *s, const clusters *c,
                              const central_words *h, lists *l, tem_error *error) {
    const size_t words =
        (size_t)wanted_for(s, lists_length(l, 0)) + c->most + (CENTRAL + EXTRA) * NEIGHBOUR_RANGES;
    const size_t room = (words + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
    const size_t bytes = s->row_elements * sizeof *g->rows;
    *g = (cutoff_finder){.space = s,
                         .kernels = kernels_active(),
                         .room = room,
                         .clusters = c,
                         .central = h,
                         .lists = l,
                         .ids = core_alloc(room, sizeof *g->ids),
                         .ranges = core_alloc(room, sizeof *g->ranges),
                         .is_looked_at = core_alloc_zero(s->count, sizeof *g->is_looked_at),
                         .rows = core_alloc(room, bytes),
                         .columns = core_alloc(room, bytes),
                         .norms = core_alloc(room, sizeof *g->norms),
                         .strip_rows = core_alloc(TILE_ROWS, bytes),
                         .strip = core_alloc(TILE_ROWS, bytes),
                         .squares = core_alloc(room * TILE_ROWS, sizeof *g->squares),
                         .keys = core_alloc(room > c->count ? room : c->count, sizeof *g->keys)};
    const bool failed = g->ids == NULL || g->ranges == NULL || g->is_looked_at == NULL ||
                        g->rows == NULL || g->columns == NULL || g->norms == NULL ||
                        g->strip_rows == NULL || g->strip == NULL || g->squares == NULL ||
                        g->keys == NULL;
    return failed ? core_fail_memory(error) : TEM_OK;
}

void cutoff_finder_free(cutoff_finder *g) {
    core_free(g->ids);
    core_free(g->ranges);
    core_free(g->is_looked_at);
    core_free(g->rows);
    core_free(g->columns);
    core_free(g->norms);
    core_free(g->strip_rows);
    core_free(g->strip);
    core_free(g->squares);
    core_free(g->keys);
    *g = (cutoff_finder){0};
}

static uint64_t square_of(const cutoff_finder *g, const int16_t *a, const int16_t *b) {
    return kernels_active()->l2_i16(a, b, g->space->row_elements);
}

/* Fills `keys` with all clusters, the nearest first: NEAR clusters, and more for a large `wanted`,
 * so that they mostly have that many words. Returns the number of these nearest clusters, which are
 * in order; the others are not. */
static uint32_t order_clusters(cutoff_finder *g, uint32_t cluster, uint32_t wanted) {
    const clusters *c = g->clusters;
    const size_t elements = g->space->row_elements;
    for (uint32_t i = 0; i < c->count; i++)
        g->keys[i] =
            rough_key(i, square_of(g, c->centres + i * elements, c->centres + cluster * elements));
    g->keys[cluster] = cluster; /* itself, at distance 0; a lower cluster with the same center is
                                 * before it */
    const uint64_t asked = NEAR + 4 * (uint64_t)wanted / c->most;
    const uint32_t near = asked < c->count ? (uint32_t)asked : c->count;
    nearest_select(g->keys, c->count, near);
    nearest_sort(g->keys, near);
    return near;
}

/* Puts a word into the sample. The caller must do so only once per word: K words bound the K-th
 * distance only if all are different. */
static void look_at(cutoff_finder *g, uint32_t id, uint32_t range) {
    const size_t elements = g->space->row_elements;
    memcpy(g->rows + g->count * elements, space_row(g->space, id), elements * sizeof *g->rows);
    g->is_looked_at[id] = true;
    g->ranges[g->count] = (uint8_t)range;
    g->ids[g->count++] = id;
}

/* Puts words of the `near` nearest clusters into the sample: all words of the first cluster; all
 * words of the next ones until the sample has `wanted` words; then only words of ranges that have
 * got fewer than `extra` words here. */
static void look_around(cutoff_finder *g, uint32_t near, uint32_t wanted, uint32_t extra) {
    const clusters *c = g->clusters;
    uint32_t in_range[NEIGHBOUR_RANGES] = {0};
    for (uint32_t n = 0; n < near; n++) {
        const uint32_t cluster = (uint32_t)g->keys[n];
        const bool all = n == 0 || g->count < wanted;
        for (uint32_t i = c->starts[cluster]; i < c->starts[cluster + 1]; i++) {
            const uint32_t id = c->ids[i], range = id / g->lists->range_words;
            if (g->is_looked_at[id] || (!all && in_range[range] >= extra))
                continue;
            look_at(g, id, range);
            in_range[range]++;
        }
    }
}

static uint32_t longest_list(const cutoff_finder *g, uint32_t cluster) {
    const clusters *c = g->clusters;
    uint32_t longest = 0;
    for (uint32_t i = c->starts[cluster]; i < c->starts[cluster + 1]; i++) {
        const uint32_t length = lists_length(g->lists, c->ids[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Makes the sample for the words of a cluster. */
static void choose_words(cutoff_finder *g, uint32_t cluster) {
    const uint32_t usual = wanted_for(g->space, g->lists->length);
    const uint32_t most = wanted_for(g->space, longest_list(g, cluster));
    const uint32_t near = order_clusters(g, cluster, most);
    g->count = 0;
    for (uint32_t i = 0; i < g->central->count && !g->lists->is_even; i++)
        look_at(g, g->central->ids[i], g->central->ids[i] / g->lists->range_words);
    look_around(g, near, usual, g->lists->is_even ? 0 : EXTRA); /* the others are for bounds */
    g->usual = g->count;
    if (most > usual)
        look_around(g, near, most, 0);
    for (uint32_t i = 0; i < g->count; i++)
        g->is_looked_at[g->ids[i]] = false;
}

/* Takes the first `count` words of the sample, and of these the `length` nearest in the order of
 * rough_key. Returns the largest distance among them. */
static tem_dist bound_farthest(cutoff_finder *g, const uint64_t *squares, uint32_t count,
                               uint32_t length) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++)
        g->keys[i] = rough_key(i, squares[i]);
    nearest_select(g->keys, count, length);
    for (uint32_t i = 0; i < length; i++) {
        const uint64_t square = squares[(uint32_t)g->keys[i]];
        last = square > last ? square : last;
    }
    return space_distance_of_square(g->space->step_log2, last);
}

/* Looks at SAMPLE words spread evenly over a range. Returns the least square beyond `last`, or
 * UINT64_MAX if there is none. */
static uint64_t sample_range(const cutoff_finder *g, const int16_t *row, uint32_t range,
                             uint64_t last) {
    const uint64_t words = g->lists->range_words;
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        const uint64_t id = range * words + i * words / SAMPLE;
        if (id >= g->space->count)
            break;
        const uint64_t square = square_of(g, row, space_row(g->space, (uint32_t)id));
        least = square > last && square < least ? square : least;
    }
    return least;
}

/* Sets `bounds`: for each range the distance of some word that is not in the list, as near as the
 * sample has one.
 * PRIVACY: only words beyond `farthest` may lower a bound, because they are not in the list. */
static void bound_ranges(const cutoff_finder *g, const uint64_t *squares, uint32_t count,
                         const int16_t *row, tem_dist farthest, tem_dist bounds[NEIGHBOUR_RANGES]) {
    const uint32_t q = g->space->step_log2;
    const uint64_t last = space_square_of_distance(q, farthest);
    uint64_t least[NEIGHBOUR_RANGES];
    memset(least, 0xff, sizeof least);
    for (uint32_t i = 0; i < count; i++)
        if (squares[i] > last && squares[i] < least[g->ranges[i]])
            least[g->ranges[i]] = squares[i];
    for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++) {
        if (least[range] == UINT64_MAX)
            least[range] = sample_range(g, row, range, last);
        bounds[range] =
            least[range] == UINT64_MAX ? UINT32_MAX : space_distance_of_square(q, least[range]);
    }
}

/* ---- squares ---- */

/* Packs TILE_ROWS or TILE_COLUMNS rows as kernels.h has them; `in_tile` of them, the others 0. */
static void pack(const int16_t *rows, size_t row_elements, uint32_t count, uint32_t in_tile,
                 int16_t *to) {
    for (uint32_t r = 0; r < in_tile; r++) {
        const int16_t *row = r < count ? rows + r * row_elements : NULL;
        for (size_t e = 0; e < row_elements; e++)
            to[(e / 2 * in_tile + r) * 2 + e % 2] = row != NULL ? row[e] : 0;
    }
}

/* Packs the sample, and squares the length of its rows. The products of two rows are known modulo
 * 2^32, so the squares of all lengths must be below 2^30: those of unit_points are. */
static void pack_sample(cutoff_finder *g) {
    const size_t elements = g->space->row_elements;
    g->is_short = true;
    for (uint32_t i = 0; i < g->count; i++) {
        const int16_t *row = g->rows + i * elements;
        const uint64_t norm = (uint64_t)g->kernels->dot_i16(row, row, elements);
        g->norms[i] = (uint32_t)norm;
        g->is_short &= norm < (uint64_t)1 << 30;
    }
    for (uint32_t first = 0; first < g->count && g->is_short; first += TILE_COLUMNS)
        pack(g->rows + first * elements, elements, g->count - first, TILE_COLUMNS,
             g->columns + first * elements);
}

/* Sets g->squares for TILE_ROWS words or fewer: a row of `room` squares each. False: a word is too
 * long for that. */
static bool square_strip(cutoff_finder *g, const uint32_t *ids, uint32_t count) {
    const size_t elements = g->space->row_elements;
    uint32_t dots[TILE_ROWS * TILE_COLUMNS], norms[TILE_ROWS] = {0};
    bool is_short = g->is_short;
    for (uint32_t r = 0; r < count; r++) {
        const int16_t *row = space_row(g->space, ids[r]);
        const uint64_t norm = (uint64_t)g->kernels->dot_i16(row, row, elements);
        memcpy(g->strip_rows + r * elements, row, elements * sizeof *row);
        norms[r] = (uint32_t)norm;
        is_short &= norm < (uint64_t)1 << 30;
    }
    if (!is_short)
        return false;
    pack(g->strip_rows, elements, count, TILE_ROWS, g->strip);
    for (uint32_t first = 0; first < g->count; first += TILE_COLUMNS) {
        const tile_vectors vectors = {.rows = g->strip,
                                      .columns = g->columns + first * elements,
                                      .strips = 1,
                                      .pairs = elements / 2};
        g->kernels->tile_dots(&vectors, dots);
        for (uint32_t r = 0; r < count; r++)
            for (uint32_t c = 0; c < TILE_COLUMNS && first + c < g->count; c++)
                g->squares[r * g->room + first + c] =
                    norms[r] + g->norms[first + c] - 2 * dots[r * TILE_COLUMNS + c];
    }
    return true;
}

static void square_one_by_one(cutoff_finder *g, const uint32_t *ids, uint32_t count) {
    const size_t elements = g->space->row_elements;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < g->count; i++)
            g->squares[r * g->room + i] =
                square_of(g, space_row(g->space, ids[r]), g->rows + i * elements);
}

/* Sets the cutoffs of one word by its squares. If the sample has fewer words than its list, the
 * word gets none. */
static void find_cutoffs(cutoff_finder *g, uint32_t id, uint64_t *squares) {
    const uint32_t length = lists_length(g->lists, id);
    const uint32_t count = length > g->lists->length ? g->count : g->usual;
    if (count < length)
        return;
    const int16_t *row = space_row(g->space, id);
    tem_dist bounds[NEIGHBOUR_RANGES] = {0};
    const tem_dist farthest = bound_farthest(g, squares, count, length);
    if (!g->lists->is_even)
        bound_ranges(g, squares, count, row, farthest, bounds);
    lists_expect(g->lists, id, farthest, bounds);
}

void cutoff_finder_run(cutoff_finder *g, uint32_t cluster) {
    const clusters *c = g->clusters;
    choose_words(g, cluster);
    pack_sample(g);
    for (uint32_t i = c->starts[cluster]; i < c->starts[cluster + 1]; i += TILE_ROWS) {
        const uint32_t left = c->starts[cluster + 1] - i;
        const uint32_t count = left < TILE_ROWS ? left : TILE_ROWS;
        if (!square_strip(g, c->ids + i, count))
            square_one_by_one(g, c->ids + i, count);
        for (uint32_t r = 0; r < count; r++)
            find_cutoffs(g, c->ids[i + r], g->squares + r * g->room);
    }
}
