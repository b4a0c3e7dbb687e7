/* test_rank_order.c - orders of words for `rank` (order/): against a reference that writes out the
 * whole permutation by the definition in order.h; the same bytes on every machine, and word by
 * word; and every kind of damage refused. */
#include "order/order_build.h"
#include "pseudo.h"
#include "space/kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 64, MAX_EXCLUDED = 2000 };

/* A made vocabulary: every 7th vector is that of the word before, every 50th is zero. */
typedef struct made {
    uint32_t words, excluded_count;
    uint32_t excluded[MAX_EXCLUDED];
    unit_points points;
} made;

static void *allocate(size_t count, size_t size) {
    void *memory = test_calloc(count, size);
    assert_non_null(memory);
    return memory;
}

/* Excludes every `step`th word from the id `first` on; step 0: none. */
static void make(made *m, uint32_t words, uint32_t dimension, uint32_t first, uint32_t step) {
    float *values = allocate((size_t)words * dimension, sizeof *values);
    *m = (made){.words = words};
    for (size_t i = 0; i < (size_t)words * dimension; i++)
        values[i] = (float)random_below(2001) / 1000 - 1;
    for (size_t w = 1; w < words; w++)
        if (w % 7 == 0)
            memcpy(values + w * dimension, values + (w - 1) * dimension,
                   dimension * sizeof *values);
        else if (w % 50 == 0)
            memset(values + w * dimension, 0, dimension * sizeof *values);
    for (uint32_t w = first; step > 0 && w < words; w += step)
        m->excluded[m->excluded_count++] = w;
    assert_int_equal(unit_points_make(values, NULL, words, dimension, &m->points, NULL), TEM_OK);
    test_free(values);
}

static void build(const made *m, const order_wishes *wishes, unsigned threads, rank_order *o) {
    const tem_run run = {.threads = threads};
    assert_int_equal(order_build(&m->points, m->excluded, m->excluded_count, wishes, &run, o, NULL),
                     TEM_OK);
}

static bool is_excluded(const made *m, uint32_t word) {
    for (uint32_t i = 0; i < m->excluded_count; i++)
        if (m->excluded[i] == word)
            return true;
    return false;
}

/* ------------------------------------------------------ the reference -- */

/* The arrays of a section, found by the definition of its layout alone. */
typedef struct section {
    uint32_t words, outputs, list, block, groups, blocks;
    const unsigned char *sequence, *group_of, *block_orders, *lists;
    unsigned place_bytes;
} section;

static uint32_t read_number(const unsigned char *at, size_t index, unsigned bytes) {
    uint32_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint32_t)at[index * bytes + i] << 8 * i;
    return number;
}

static size_t rounded_up(size_t n) {
    return (n + 63) / 64 * 64;
}

static section read_section(const unsigned char *bytes, uint64_t count) {
    section s = {.words = read_number(bytes, 0, 4),
                 .outputs = read_number(bytes, 1, 4),
                 .list = read_number(bytes, 2, 4),
                 .block = read_number(bytes, 3, 4),
                 .groups = read_number(bytes, 4, 4)};
    s.blocks = (s.outputs + s.block - 1) / s.block;
    s.place_bytes = s.outputs > 65536 ? 4 : 2;
    s.sequence = bytes + HEAD_BYTES;
    s.group_of = s.sequence + rounded_up((size_t)s.outputs * 4);
    s.block_orders = s.group_of + rounded_up((size_t)s.words * 4);
    s.lists = s.block_orders + rounded_up((size_t)s.groups * s.blocks * 2);
    assert_true(s.lists + rounded_up((size_t)s.words * s.list * s.place_bytes) == bytes + count);
    return s;
}

/* Writes the outputs around w by rank: the path of its group, then its list, then what is left of
 * the path. path: room for all outputs; both have `outputs` words. */
static void write_permutation(const section *s, uint32_t w, uint32_t *path, uint32_t *out) {
    const uint32_t group = read_number(s->group_of, w, 4);
    uint32_t length = 0, count = 0;
    for (uint32_t i = 0; i < s->blocks; i++) {
        const uint32_t block = read_number(s->block_orders, (size_t)group * s->blocks + i, 2);
        for (uint32_t at = block * s->block; at < (block + 1) * s->block && at < s->outputs; at++)
            path[length++] = read_number(s->sequence, at, 4);
    }
    assert_int_equal(length, s->outputs);
    for (uint32_t i = 0; i < s->list; i++) {
        const uint32_t place = read_number(s->lists, (size_t)w * s->list + i, s->place_bytes);
        out[count++] = path[place];
        path[place] = ORDER_NONE;
    }
    for (uint32_t place = 0; place < s->outputs; place++)
        if (path[place] != ORDER_NONE)
            out[count++] = path[place];
    assert_int_equal(count, s->outputs);
}

/* Around w: every rank has the reference's word and every word its rank; together one permutation
 * of the outputs; the word itself comes first. */
static void check_word(const made *m, const rank_order *o, const section *s, uint32_t w) {
    uint32_t *path = allocate(s->outputs, sizeof *path), *out = allocate(s->outputs, sizeof *out);
    uint32_t *ranks = allocate(s->words, sizeof *ranks), *some = allocate(s->words, sizeof *some);
    write_permutation(s, w, path, out);
    memset(ranks, 0xff, s->words * sizeof *ranks);
    for (uint32_t r = 0; r < s->outputs; r++) {
        assert_int_equal(order_word(o, w, r), out[r]);
        assert_int_equal(ranks[out[r]], ORDER_NONE); /* no word twice */
        ranks[out[r]] = r;
    }
    for (uint32_t y = 0; y < s->words; y++)
        assert_int_equal(order_rank(o, w, y), ranks[y]);
    order_ranks(o, w, 0, s->words, some);
    assert_memory_equal(some, ranks, s->words * sizeof *some);
    for (uint32_t r = 0; r < s->outputs; r += 3) {
        uint32_t inputs[3] = {w, TEM_NO_WORD, w}, together[3] = {r, 7, s->outputs - 1 - r};
        order_words_of(o, inputs, together, 3);
        assert_int_equal(together[0], out[r]);
        assert_int_equal(together[1], 7);
        assert_int_equal(together[2], out[s->outputs - 1 - r]);
    }
    const uint32_t first = s->words / 3, count = s->words / 2;
    order_ranks(o, w, first, count, some);
    assert_memory_equal(some, ranks + first, count * sizeof *some);
    assert_int_equal(ranks[w], is_excluded(m, w) ? ORDER_NONE : 0);
    assert_int_equal(order_list_word(o, order_list_start(o, w)), w);
    order_list_places(o, w, some);
    for (uint32_t r = 0; r < s->list; r++)
        assert_int_equal(o->sequence[some[r]], out[r]);
    for (uint32_t p = 0; p < s->outputs; p++) {
        const uint32_t block = order_path(o, w)[p / s->block];
        const uint32_t word = o->sequence[block * s->block + p % s->block];
        assert_int_equal(order_rank_on_path(o, w, p), ranks[word]);
    }
    test_free(path);
    test_free(out);
    test_free(ranks);
    test_free(some);
}

/* As many outputs as there should be, none excluded; then every `step`th word. */
static void check_order(const made *m, const rank_order *o, uint32_t step) {
    const section s = read_section(o->bytes, o->byte_count);
    assert_int_equal(s.words, m->words);
    assert_int_equal(s.outputs, m->words - m->excluded_count);
    for (uint32_t i = 0; i < s.outputs; i++)
        assert_false(is_excluded(m, o->sequence[i]));
    assert_int_equal(order_check(o, NULL), TEM_OK);
    for (uint32_t w = 0; w < m->words; w += step)
        check_word(m, o, &s, w);
}

static void build_and_check(const made *m, order_wishes wishes, uint32_t step) {
    rank_order o;
    build(m, &wishes, 1, &o);
    if (wishes.block > 0)
        assert_int_equal(o.shape.block, wishes.block);
    if (wishes.list > 0)
        assert_int_equal(o.shape.list,
                         wishes.list < o.shape.outputs ? wishes.list : o.shape.outputs);
    check_order(m, &o, step);
    order_free(&o);
}

/* Every word, every rank, of orders of many shapes. */
static void test_permutations(void **state) {
    (void)state;
    made m;
    make(&m, 300, 5, 3, 6);
    build_and_check(&m, (order_wishes){0}, 1);
    build_and_check(&m, (order_wishes){.list = 1, .block = 1, .group = 1}, 1);
    build_and_check(&m, (order_wishes){.list = 1, .block = 7}, 1);       /* a short last block */
    build_and_check(&m, (order_wishes){.list = 384, .block = 4}, 1);     /* more than outputs */
    build_and_check(&m, (order_wishes){.list = 20, .block = 10}, 1);     /* 25 full blocks */
    build_and_check(&m, (order_wishes){.list = 20, .block = 249}, 1);    /* 249 words and 1 */
    build_and_check(&m, (order_wishes){.list = 20, .block = 250}, 1);    /* one block */
    build_and_check(&m, (order_wishes){.list = 20, .block = 100000}, 1); /* one, never full */
    build_and_check(&m, (order_wishes){.list = 5, .block = 3, .group = 300}, 1);
    unit_points_free(&m.points);
    make(&m, 2000, 8, 0, 3); /* the frequent words and a third of all are excluded */
    build_and_check(&m, (order_wishes){.block = 5}, 7);
    unit_points_free(&m.points);
    make(&m, 40, 3, 2, 1); /* two outputs: the lists of others have none of their nearest */
    build_and_check(&m, (order_wishes){0}, 1);
    build_and_check(&m, (order_wishes){.list = 1, .block = 1}, 1);
    unit_points_free(&m.points);
    make(&m, 500, 2, 1, 1); /* one output */
    build_and_check(&m, (order_wishes){0}, 1);
    unit_points_free(&m.points);
}

/* Places of 16 bits up to 65,536 outputs, and of 32 bits above. */
static void test_wide_places(void **state) {
    (void)state;
    for (uint32_t words = 65536; words <= 65537; words++) {
        const order_shape shape = {
            .words = words, .outputs = words, .list = 2, .block = 100, .groups = 2};
        const uint64_t count = order_bytes(&shape);
        unsigned char *bytes = aligned_alloc(64, count);
        assert_non_null(bytes);
        memset(bytes, 0, count);
        rank_order laid, o;
        order_lay_out(&laid, &shape, bytes);
        assert_int_equal(laid.wide, words == 65537);
        uint32_t *sequence = (uint32_t *)(uintptr_t)laid.sequence;
        uint32_t *groups = (uint32_t *)(uintptr_t)laid.groups;
        uint16_t *blocks = (uint16_t *)(uintptr_t)laid.block_orders;
        for (uint32_t i = 0; i < words; i++) {
            sequence[i] = words - 1 - i;
            groups[i] = i % 2;
        }
        for (uint32_t i = 0; i < laid.blocks; i++) {
            blocks[i] = (uint16_t)i;
            blocks[laid.blocks + i] = (uint16_t)(i + 1 < laid.blocks ? laid.blocks - 2 - i : i);
        }
        for (uint32_t w = 0; w < words; w++) {
            const uint32_t at = words - 1 - w, block = at / 100;
            const uint32_t own = w % 2 == 0 || block == laid.blocks - 1
                                     ? at
                                     : (laid.blocks - 2 - block) * 100 + at % 100;
            const uint32_t second = own == words - 1 ? 0 : words - 1;
            if (laid.wide) {
                ((uint32_t *)(uintptr_t)laid.lists)[2 * w] = own;
                ((uint32_t *)(uintptr_t)laid.lists)[2 * w + 1] = second;
            } else {
                ((uint16_t *)(uintptr_t)laid.lists)[2 * w] = (uint16_t)own;
                ((uint16_t *)(uintptr_t)laid.lists)[2 * w + 1] = (uint16_t)second;
            }
        }
        assert_int_equal(order_open(&o, bytes, count, words, NULL, 0, NULL), TEM_OK);
        const made m = {.words = words};
        check_order(&m, &o, 13001);
        order_free(&o);
        free(bytes);
    }
}

/* ------------------------------------------------------------ word by word -- */

static void begin_lazy(const made *m, const rank_order *built, rank_order *o) {
    assert_int_equal(order_build_lazy(&m->points, &built->shape, built->sequence, built->groups,
                                      m->excluded, m->excluded_count, o, NULL),
                     TEM_OK);
    assert_int_equal(order_check(o, NULL), TEM_OK);
}

/* Every way to follow an order, as the first one around this word. */
static void check_first_question(const made *m, const rank_order *built, uint32_t w) {
    enum { WAYS = 8 };
    uint32_t *ranks = allocate(2 * m->words, sizeof *ranks), some[2][ORDER_LIST_MAX];
    double *rows = allocate(3 * m->words, sizeof *rows);
    for (uint32_t rank = 0; rank < built->shape.outputs; rank++)
        rows[rank] = rank + 1;
    for (unsigned way = 0; way < WAYS; way++) {
        const uint32_t y = built->sequence[random_below(built->shape.outputs)];
        const uint32_t rank = (uint32_t)random_below(built->shape.outputs);
        const rank_order *both[] = {built, NULL};
        rank_order o;
        begin_lazy(m, built, &o);
        both[1] = &o;
        for (unsigned i = 0; i < 2; i++) {
            uint32_t *r = ranks + i * m->words;
            some[i][0] = rank;
            if (way == 0)
                some[i][0] = order_word(both[i], w, rank);
            else if (way == 1)
                order_words_of(both[i], &w, some[i], 1);
            else if (way == 2)
                memcpy(some[i], order_list_start(both[i], w), built->shape.list * sizeof(uint16_t));
            else if (way == 3)
                some[i][0] = order_path(both[i], w)[rank / built->shape.block];
            else if (way == 4)
                order_list_places(both[i], w, some[i]);
            else if (way == 5)
                some[i][0] = order_rank(both[i], w, y);
            else if (way == 6)
                order_spread(both[i], w, rows, rows + (i + 1) * m->words);
            else
                order_ranks(both[i], w, 0, m->words, r);
        }
        assert_int_equal(some[0][0], some[1][0]);
        if (way == 2 || way == 4)
            assert_memory_equal(some[0], some[1],
                                built->shape.list * (way == 2 ? sizeof(uint16_t) : sizeof **some));
        if (way == 6)
            assert_memory_equal(rows + m->words, rows + 2 * m->words, m->words * sizeof *rows);
        if (way == 7)
            assert_memory_equal(ranks, ranks + m->words, m->words * sizeof *ranks);
        order_free(&o);
    }
    test_free(rows);
    test_free(ranks);
}

/* Paths and lists that are made when they are needed are those of order_build. */
static void check_lazy(const made *m, order_wishes wishes) {
    rank_order built, o;
    build(m, &wishes, 1, &built);
    begin_lazy(m, &built, &o);
    uint32_t *ranks = allocate(2 * m->words, sizeof *ranks);
    for (uint32_t i = 0; i < 20; i++)
        check_first_question(m, &built, (uint32_t)random_below(m->words));
    order_ranks_of(&o, built.sequence[0], 0, m->words, ranks); /* asks for all words */
    order_ranks_of(&built, built.sequence[0], 0, m->words, ranks + m->words);
    assert_memory_equal(ranks, ranks + m->words, m->words * sizeof *ranks);
    assert_memory_equal(o.lists, built.lists, (size_t)m->words * o.shape.list * (o.wide ? 4 : 2));
    assert_memory_equal(o.block_orders, built.block_orders,
                        (size_t)o.shape.groups * o.blocks * sizeof *o.block_orders);
    test_free(ranks);
    order_free(&o);
    order_free(&built);
}

static void test_lazy(void **state) {
    (void)state;
    made m;
    mallopt(M_PERTURB, 0xff); /* new memory is zero: no list lies about in it */
    make(&m, 300, 5, 3, 6);
    check_lazy(&m, (order_wishes){.list = 1, .block = 7});
    check_lazy(&m, (order_wishes){.list = 384, .block = 4});
    unit_points_free(&m.points);
    make(&m, 2000, 8, 0, 3); /* frequent words look farther for candidates */
    check_lazy(&m, (order_wishes){.block = 5});
    check_lazy(&m, (order_wishes){0});
    unit_points_free(&m.points);
    make(&m, 500, 2, 1, 1); /* one output */
    check_lazy(&m, (order_wishes){0});
    unit_points_free(&m.points);
}

/* Sequences and groups that are none, and shapes that do not fit. */
static void test_lazy_refused(void **state) {
    (void)state;
    made m;
    rank_order built, o;
    make(&m, 60, 4, 3, 6);
    build(&m, &(order_wishes){.list = 9, .block = 4}, 1, &built);
    uint32_t sequence[60], groups[60];
    memcpy(sequence, built.sequence, built.shape.outputs * sizeof *sequence);
    memcpy(groups, built.groups, sizeof groups);
    for (unsigned i = 0; i < 4; i++) {
        order_shape shape = built.shape;
        const uint32_t first = sequence[0], group = groups[7];
        sequence[0] = i == 0 ? sequence[1] : i == 1 ? m.excluded[0] : first;
        groups[7] = i == 2 ? shape.groups : group;
        shape.words += i == 3;
        assert_int_equal(order_build_lazy(&m.points, &shape, sequence, groups, m.excluded,
                                          m.excluded_count, &o, NULL),
                         i == 3 ? TEM_ERR_ARGUMENT : TEM_ERR_DAMAGED);
        sequence[0] = first;
        groups[7] = group;
    }
    order_free(&built);
    unit_points_free(&m.points);
}

/* ------------------------------------------------------- what is made -- */

/* The same bytes with 1 and 4 threads, and with every kernel. */
static void test_same_everywhere(void **state) {
    (void)state;
    made m;
    make(&m, 900, 20, 4, 11);
    const kernels *own = kernels_active();
    const order_wishes wishes = {.list = 30, .block = 4};
    rank_order first, other;
    build(&m, &wishes, 1, &first);
    build(&m, &wishes, 4, &other);
    assert_int_equal(other.byte_count, first.byte_count);
    assert_memory_equal(other.bytes, first.bytes, first.byte_count);
    order_free(&other);
    bool available = false;
    for (unsigned k = 0; kernels_at(k, &available) != NULL; k++) {
        if (!available)
            continue;
        kernels_use(kernels_at(k, &available));
        build(&m, &wishes, 2, &other);
        assert_memory_equal(other.bytes, first.bytes, first.byte_count);
        order_free(&other);
    }
    kernels_use(own);
    order_free(&first);
    unit_points_free(&m.points);
}

/* The output whose point is nearest to that of w, ties by id. */
static uint32_t nearest_output(const made *m, uint32_t w) {
    uint64_t least = UINT64_MAX;
    uint32_t nearest = 0;
    for (uint32_t y = 0; y < m->words; y++) {
        uint64_t square = 0;
        for (uint32_t i = 0; i < m->points.dimension; i++) {
            const int64_t apart = unit_row(&m->points, w)[i] - unit_row(&m->points, y)[i];
            square += (uint64_t)(apart * apart);
        }
        if (!is_excluded(m, y) && square < least) {
            least = square;
            nearest = y;
        }
    }
    return nearest;
}

/* The order of an excluded word begins with its nearest output. */
static void test_excluded_begin_with_the_nearest(void **state) {
    (void)state;
    made m;
    make(&m, 400, 6, 5, 4);
    rank_order o;
    build(&m, &(order_wishes){.list = 10}, 1, &o);
    for (uint32_t i = 0; i < m.excluded_count; i++)
        assert_int_equal(order_word(&o, m.excluded[i], 0), nearest_output(&m, m.excluded[i]));
    order_free(&o);
    unit_points_free(&m.points);
}

static void test_wishes_refused(void **state) {
    (void)state;
    made m;
    rank_order o;
    const tem_run run = {.threads = 1};
    make(&m, 5000, 2, 0, 0);
    const order_wishes small = {.block = 1}, many = {.list = 385};
    assert_int_equal(order_build(&m.points, NULL, 0, &small, &run, &o, NULL), TEM_ERR_RANGE);
    assert_int_equal(order_build(&m.points, NULL, 0, &many, &run, &o, NULL), TEM_ERR_RANGE);
    unit_points_free(&m.points);
}

/* By distances: w itself, then all others by (distance, id). */
static void test_by_distance(void **state) {
    (void)state;
    made m;
    make(&m, 200, 2, 1, 5);
    const space s = {.metric = metric_find(TEM_EUCLIDEAN),
                     .count = m.words,
                     .dimension = m.points.dimension,
                     .row_elements = m.points.row_elements,
                     .step_log2 = 13,
                     .rows = m.points.rows};
    rank_order o;
    assert_int_equal(order_build_by_distance(&s, m.excluded, m.excluded_count, &o, NULL), TEM_OK);
    check_order(&m, &o, 1);
    for (uint32_t w = 0; w < m.words; w++)
        for (uint32_t y = 0; y < m.words; y++) {
            const tem_dist d = space_distance(&s, w, y);
            uint32_t before = 0; /* outputs that come before y */
            for (uint32_t v = 0; v < m.words; v++) {
                const tem_dist e = space_distance(&s, w, v);
                const bool is_nearer = v == w || (y != w && (e < d || (e == d && v < y)));
                before += !is_excluded(&m, v) && v != y && is_nearer;
            }
            if (y == w)
                before = 0;
            assert_int_equal(order_rank(&o, w, y), is_excluded(&m, y) ? ORDER_NONE : before);
        }
    order_free(&o);
    space large = s;
    large.count = ORDER_LIST_MAX + 1;
    assert_int_equal(order_build_by_distance(&large, NULL, 0, &o, NULL), TEM_ERR_UNSUPPORTED);
    unit_points_free(&m.points);
}

/* -------------------------------------------------------------- damage -- */

/* A good section, to be damaged: 60 words, 50 outputs, blocks of 7. */
typedef struct damaged {
    made m;
    rank_order o; /* views of the bytes */
    unsigned char *bytes, *good;
    uint64_t count;
} damaged;

static void set_up_damage(damaged *d) {
    rank_order built;
    make(&d->m, 60, 4, 2, 6);
    build(&d->m, &(order_wishes){.list = 5, .block = 7, .group = 6}, 1, &built);
    d->count = built.byte_count;
    d->good = allocate(d->count, 1);
    d->bytes = aligned_alloc(64, d->count);
    assert_non_null(d->bytes);
    memcpy(d->good, built.bytes, d->count);
    memcpy(d->bytes, built.bytes, d->count);
    order_lay_out(&d->o, &built.shape, d->bytes);
    order_free(&built);
}

static void end_damage(damaged *d) {
    unit_points_free(&d->m.points);
    test_free(d->good);
    free(d->bytes);
}

/* Whether order_open and order_check accept the bytes; makes them good again. */
static bool is_accepted(damaged *d, uint64_t count) {
    rank_order o;
    tem_status status =
        order_open(&o, d->bytes, count, d->m.words, d->m.excluded, d->m.excluded_count, NULL);
    if (status == TEM_OK)
        status = order_check(&o, NULL);
    order_free(&o);
    assert_true(status == TEM_OK || status == TEM_ERR_DAMAGED);
    memcpy(d->bytes, d->good, d->count);
    return status == TEM_OK;
}

static void refuse(damaged *d) {
    assert_false(is_accepted(d, d->count));
}

static void test_damaged_sequences(void **state) {
    (void)state;
    damaged d;
    set_up_damage(&d);
    assert_true(is_accepted(&d, d.count));
    uint32_t *sequence = (uint32_t *)(uintptr_t)d.o.sequence;
    uint32_t *groups = (uint32_t *)(uintptr_t)d.o.groups;
    for (uint32_t i = 0; i < d.o.shape.outputs; i++) {
        sequence[i] = sequence[i == 0 ? 1 : 0]; /* a word twice */
        refuse(&d);
        sequence[i] = d.m.excluded[i % d.m.excluded_count];
        refuse(&d);
        sequence[i] = d.m.words;
        refuse(&d);
        sequence[i] = UINT32_MAX;
        refuse(&d);
    }
    for (uint32_t w = 0; w < d.m.words; w++) {
        groups[w] = d.o.shape.groups;
        refuse(&d);
        groups[w] = UINT32_MAX;
        refuse(&d);
    }
    end_damage(&d);
}

static void test_damaged_blocks(void **state) {
    (void)state;
    damaged d;
    set_up_damage(&d);
    uint16_t *all = (uint16_t *)(uintptr_t)d.o.block_orders;
    const uint32_t last = d.o.blocks - 1;
    assert_true(last >= 2 && d.o.shape.groups >= 2);
    for (uint32_t group = 0; group < d.o.shape.groups; group++) {
        uint16_t *blocks = all + (size_t)group * d.o.blocks;
        for (uint32_t i = 0; i < last; i++) {   /* also blocks without words of the group */
            blocks[i] = blocks[i == 0 ? 1 : 0]; /* a block twice */
            refuse(&d);
            blocks[i] = (uint16_t)d.o.blocks; /* no such block */
            refuse(&d);
            blocks[last] = blocks[i]; /* the last block is not last, and all are there */
            blocks[i] = (uint16_t)last;
            refuse(&d);
        }
    }
    end_damage(&d);
}

static void test_damaged_lists(void **state) {
    (void)state;
    damaged d;
    set_up_damage(&d);
    for (uint32_t w = 0; w < d.m.words; w++) {
        uint16_t *list = (uint16_t *)(uintptr_t)d.o.lists + (size_t)w * d.o.shape.list;
        for (uint32_t i = 0; i < d.o.shape.list; i++) {
            list[i] = list[i == 0 ? 1 : 0]; /* a place twice */
            refuse(&d);
            list[i] = (uint16_t)d.o.shape.outputs;
            refuse(&d);
            list[i] = UINT16_MAX;
            refuse(&d);
        }
        const uint16_t first = list[0]; /* another word first: damage, unless w is excluded */
        list[0] = list[1];
        list[1] = first;
        assert_int_equal(is_accepted(&d, d.count), is_excluded(&d.m, w));
    }
    end_damage(&d);
}

static void test_damaged_sizes(void **state) {
    (void)state;
    damaged d;
    set_up_damage(&d);
    static const uint32_t wrong[] = {0, 1, 59, 61, 1 << 16, (1U << 31) - 1, 1U << 31, UINT32_MAX};
    uint32_t *head = (uint32_t *)(void *)d.bytes;
    for (unsigned field = 0; field < 16; field++)
        for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
            if (head[field] != wrong[i]) {
                head[field] = wrong[i];
                refuse(&d);
            }
    static const uint64_t cuts[] = {0, 1, 63, 64, 128};
    for (unsigned i = 0; i < sizeof cuts / sizeof *cuts; i++)
        assert_false(is_accepted(&d, cuts[i]));
    assert_false(is_accepted(&d, d.count - 64));
    memset(d.bytes, 0xff, d.count);
    refuse(&d);
    memset(d.bytes + HEAD_BYTES, 0xff, d.count - HEAD_BYTES);
    refuse(&d);
    memset(d.bytes + HEAD_BYTES, 0, d.count - HEAD_BYTES);
    refuse(&d);
    end_damage(&d);
}

/* Any change of a few bytes is refused, or still gives a permutation around every word. */
static void test_random_damage(void **state) {
    (void)state;
    damaged d;
    unsigned accepted = 0;
    set_up_damage(&d);
    for (unsigned turn = 0; turn < 3000; turn++) {
        rank_order o;
        for (size_t changes = 1 + random_below(3); changes > 0; changes--)
            d.bytes[random_below(d.count)] = (unsigned char)random_below(64);
        const tem_status status =
            order_open(&o, d.bytes, d.count, d.m.words, d.m.excluded, d.m.excluded_count, NULL);
        if (status == TEM_OK && order_check(&o, NULL) == TEM_OK) {
            check_order(&d.m, &o, 9);
            accepted++;
        }
        order_free(&o);
        memcpy(d.bytes, d.good, d.count);
    }
    assert_true(accepted > 10 && accepted < 2000);
    end_damage(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_wide_places),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_lazy_refused),
        cmocka_unit_test(test_same_everywhere),
        cmocka_unit_test(test_excluded_begin_with_the_nearest),
        cmocka_unit_test(test_wishes_refused),
        cmocka_unit_test(test_by_distance),
        cmocka_unit_test(test_damaged_sequences),
        cmocka_unit_test(test_damaged_blocks),
        cmocka_unit_test(test_damaged_lists),
        cmocka_unit_test(test_damaged_sizes),
        cmocka_unit_test(test_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
