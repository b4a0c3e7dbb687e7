/* test_noise_erasure.c - draws with noise leave nothing of the noise in memory.
 *
 * Noise and output together reveal the word. Draws run on the test's own stack, which the test
 * searches afterwards. The linker redirects the library's allocations to the test (--wrap in
 * tests/meson.build), so that it sees every block when it is freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/hyperbolic.h"
#include "mech/madlib.h"
#include "model/model.h"
#include "small_model.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

__extension__ typedef __int128 wide;

/* ---- blocks ---- */

enum { BLOCKS_MAX = 16 };

static struct {
    bool watched;
    unsigned char *at[BLOCKS_MAX];
    size_t bytes[BLOCKS_MAX];
    unsigned count, freed, dirty; /* dirty: freed while not zero */
} blocks;

void *__real_core_alloc(size_t count, size_t size);
void *__real_core_alloc_zero(size_t count, size_t size);
void __real_core_free(void *block);
void *__wrap_core_alloc(size_t count, size_t size);
void *__wrap_core_alloc_zero(size_t count, size_t size);
void __wrap_core_free(void *block);

static void *note(void *block, size_t bytes) {
    if (blocks.watched && blocks.count < BLOCKS_MAX) {
        blocks.at[blocks.count] = block;
        blocks.bytes[blocks.count++] = bytes;
    }
    return block;
}

void *__wrap_core_alloc(size_t count, size_t size) {
    return note(__real_core_alloc(count, size), count * size);
}

void *__wrap_core_alloc_zero(size_t count, size_t size) {
    return note(__real_core_alloc_zero(count, size), count * size);
}

static bool all_zero(const unsigned char *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != 0)
            return false;
    return true;
}

void __wrap_core_free(void *block) {
    for (unsigned i = 0; blocks.watched && block != NULL && i < blocks.count; i++)
        if (blocks.at[i] == block) {
            blocks.dirty += !all_zero(block, blocks.bytes[i]);
            blocks.freed++;
            blocks.at[i] = NULL;
        }
    __real_core_free(block);
}

/* ---- a draw on a stack of its own ---- */

enum { DIMENSION = 40, WORDS = 6, STACK_BYTES = 4 << 20 };

/* Noise of about 2^33 grid steps, so that its numbers are unlike all others. */
static const double epsilon = 1e-5;

typedef struct drawing {
    const madlib *madlib; /* NULL: `hyperbolic` draws */
    const hyperbolic *hyperbolic;
    uint64_t seed;
    uint32_t word, out;
    tem_status status;
} drawing;

static void *draw(void *argument) {
    drawing *d = argument;
    tem_rng rng;
    rng_init_seeded(&rng, d->seed, 0);
    if (d->madlib != NULL)
        d->status = madlib_draw(d->madlib, &d->word, 1, &rng, &d->out, NULL);
    else
        hyperbolic_draw(d->hyperbolic, &d->word, 1, &rng, &d->out);
    rng_wipe(&rng);
    return NULL;
}

static void draw_on(void *stack, drawing *d) {
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, draw, d), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

/* The intermediate values of the draw. */
typedef struct traces {
    double noise[DIMENSION];
    int64_t point[DIMENSION];
    int16_t digits[DIMENSION];
    wide score; /* score of the drawn word */
} traces;

static void find_traces(const madlib *m, const drawing *d, traces *t) {
    const space *s = m->search.space;
    tem_rng rng;
    rng_init_seeded(&rng, d->seed, 0);
    madlib_noise(epsilon, DIMENSION, &rng, t->noise);
    t->score = 0;
    for (uint32_t i = 0; i < DIMENSION; i++) {
        const int16_t given = space_row(s, d->word)[i], found = space_row(s, d->out)[i];
        t->point[i] = given + llrint(ldexp(t->noise[i], (int)s->step_log2));
        t->digits[i] = (int16_t)(t->point[i] & 0x3fff);
        t->score += (wide)found * found - 2 * (wide)t->point[i] * found;
    }
}

static void assert_without(const void *stack, const void *trace, size_t bytes) {
    assert_null(memmem(stack, STACK_BYTES, trace, bytes));
}

static tem_model *make_model(void) {
    float values[WORDS * DIMENSION];
    for (unsigned i = 0; i < WORDS * DIMENSION; i++)
        values[i] = (float)(i * 7 % 23) - 11;
    return small_model(NULL, values, WORDS, DIMENSION, TEM_EUCLIDEAN, 0);
}

/* root: NULL or the identity, so that the noise is the same. */
static void check_leaves_nothing(const double *root) {
    tem_model *model = make_model();
    madlib m;
    traces t;
    drawing first = {.madlib = &m, .seed = 4, .word = 2}, d = {.madlib = &m, .seed = 5, .word = 1};
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    assert_int_equal(madlib_init_shaped(&m, &model->space, NULL, epsilon, root, 1, NULL), TEM_OK);
    blocks.count = blocks.freed = blocks.dirty = 0;
    /* The dynamic linker saves all registers on the stack at the first call of a function. */
    draw_on(stack, &first);
    memset(stack, 0, STACK_BYTES);
    blocks.watched = true;
    draw_on(stack, &d);
    blocks.watched = false;
    assert_int_equal(d.status, TEM_OK);

    find_traces(&m, &d, &t);
    assert_true(fabs((double)t.point[0]) > 1e6);
    assert_false(all_zero(stack, STACK_BYTES));
    for (unsigned i = 0; i < DIMENSION; i++)
        assert_without(stack, &t.noise[i], sizeof t.noise[i]);
    assert_without(stack, t.point, 2 * sizeof *t.point);
    assert_without(stack, t.digits, sizeof t.digits);
    assert_without(stack, &t.score, sizeof t.score);

    assert_true(blocks.count > 2 && blocks.count < BLOCKS_MAX);
    assert_int_equal(blocks.freed, blocks.count);
    assert_int_equal(blocks.dirty, 0);
    munmap(stack, STACK_BYTES);
    madlib_free(&m);
    tem_model_free(model);
}

static void test_madlib_leaves_nothing(void **state) {
    (void)state;
    check_leaves_nothing(NULL);
}

static void test_shaped_noise_leaves_nothing(void **state) {
    (void)state;
    double identity[DIMENSION * DIMENSION] = {0};
    for (unsigned i = 0; i < DIMENSION; i++)
        identity[i * DIMENSION + i] = 1;
    check_leaves_nothing(identity);
}

/* The two nearest words and their distances tell where the noisy vector was. */
static void test_vickrey_frees_nothing_readable(void **state) {
    (void)state;
    tem_model *model = make_model();
    const tem_mechanism_options options = {.mechanism = "vickrey", .epsilon = epsilon};
    tem_mechanism *m = NULL;
    uint32_t word = 1;
    tem_rng rng;
    assert_int_equal(tem_mechanism_create(model, &options, &m, NULL), TEM_OK);
    rng_init_seeded(&rng, 5, 0);
    blocks.count = blocks.freed = blocks.dirty = 0;
    blocks.watched = true;
    assert_int_equal(tem_mechanism_draw_many(m, &rng, &word, &word, 1, NULL), TEM_OK);
    blocks.watched = false;
    assert_true(blocks.count > 3 && blocks.count < BLOCKS_MAX);
    assert_int_equal(blocks.freed, blocks.count);
    assert_int_equal(blocks.dirty, 0);
    tem_mechanism_free(m);
    tem_model_free(model);
}

/* The noisy point of a draw, and what it was made from. */
typedef struct ball_traces {
    double direction[DIMENSION], z[DIMENSION];
    int32_t point[DIMENSION];
} ball_traces;

static void find_ball_traces(const hyperbolic *h, const drawing *d, ball_traces *t) {
    tem_rng rng;
    rng_init_seeded(&rng, d->seed, 0);
    const double radius = hyperbolic_radius(h->epsilon, DIMENSION, &rng);
    hyperbolic_direction(DIMENSION, &rng, t->direction);
    hyperbolic_move(space_point(h->space, d->word), t->direction, radius, DIMENSION, t->z);
    for (uint32_t i = 0; i < DIMENSION; i++)
        t->point[i] = (int32_t)lrint(t->z[i]);
    rng_wipe(&rng);
}

static void test_hyperbolic_leaves_nothing(void **state) {
    (void)state;
    float values[WORDS * DIMENSION];
    for (unsigned i = 0; i < WORDS * DIMENSION; i++)
        values[i] = ((float)(i * 7 % 23) - 11) / 100;
    tem_model *model = small_model(NULL, values, WORDS, DIMENSION, TEM_HYPERBOLIC, 0);
    hyperbolic h = {0};
    ball_traces t;
    drawing first = {.hyperbolic = &h, .seed = 4, .word = 2},
            d = {.hyperbolic = &h, .seed = 5, .word = 1};
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    assert_int_equal(hyperbolic_init(&h, &model->space, NULL, 45, NULL), TEM_OK);
    draw_on(stack, &first);
    memset(stack, 0, STACK_BYTES);
    draw_on(stack, &d);
    find_ball_traces(&h, &d, &t);
    assert_int_equal(hyperbolic_nearest(&h, t.point), d.out);
    assert_false(all_zero(stack, STACK_BYTES));
    for (unsigned i = 0; i < DIMENSION; i++) {
        assert_without(stack, &t.direction[i], sizeof t.direction[i]);
        assert_without(stack, &t.z[i], sizeof t.z[i]);
    }
    for (unsigned i = 0; i + 1 < DIMENSION; i++)
        assert_without(stack, &t.point[i], 2 * sizeof *t.point);
    munmap(stack, STACK_BYTES);
    hyperbolic_free(&h);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_madlib_leaves_nothing),
        cmocka_unit_test(test_shaped_noise_leaves_nothing),
        cmocka_unit_test(test_vickrey_frees_nothing_readable),
        cmocka_unit_test(test_hyperbolic_leaves_nothing),
    };
    return cmocka_run_group_tests_name("erasure", tests, NULL, NULL);
}
