/* test_tapes.c - the sampler driven from tapes, so that its law is measured, not estimated.
 *
 * The words that one round of the sampler may draw are cut into strata: each draw into the
 * intervals between the values where, by sampler.h, something changes. A stratum is run
 * at its lowest and highest corner and at a point inside; the result is the word that the sampler
 * releases and the length of tape that it uses. The sizes of the strata are exact rationals, and so
 * is the law they add up to. All that stays open is the mass of the strata in which exp(-r) is
 * undecided after DEPTH steps, below 2^-36. These surveys are made with no thresholds kept, so that
 * the remainder of the number that chooses a component is always drawn. Other tests, around every
 * threshold, show that the first bits alone decide the same way. Then come tapes for single
 * branches, and the alias tables. */
#include "below.h"
#include "mech/law.h"
#include "mech/sampler_form.h"
#include "pseudo.h"
#include "slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- helpers -- */

static void end_of_tape(void *context) {
    (void)context;
    fail_msg("the sampler needs more words than the stratum has");
}

static tem_rng on_tape(const uint64_t *words, uint64_t count) {
    tem_rng rng;
    rng_init_tape(&rng, words, count, end_of_tape, NULL);
    return rng;
}

static void mpz_set_u64(mpz_t z, uint64_t v) {
    mpz_import(z, 1, -1, sizeof v, 0, 0, &v);
}

static void mpz_set_level(mpz_t z, unsigned level) {
    mpz_import(z, 4, -1, sizeof(uint64_t), 0, 0, exp_table[level].limb);
}

/* ---------------------------------------------------------------- paths -- */

enum { LOW, HIGH, INNER, CORNERS };
enum { PATH_WORDS = 32, DEPTH = 8 };

/* A stratum: the same draws in each corner, and its probability. */
typedef struct path {
    size_t words;
    uint64_t tape[CORNERS][PATH_WORDS];
    mpq_t mass;
} path;

static void path_start(path *p) {
    p->words = 0;
    mpq_init(p->mass);
    mpq_set_ui(p->mass, 1, 1);
}

static void path_copy(path *to, const path *from) {
    to->words = from->words;
    memcpy(to->tape, from->tape, sizeof to->tape);
    mpq_init(to->mass);
    mpq_set(to->mass, from->mass);
}

static void path_end(path *p) {
    mpq_clear(p->mass);
}

/* How rng_below256 reads a number from the tape: limbs, the most significant one first, and the
 * bits of the first limb that count. */
typedef struct layout {
    size_t limbs;
    unsigned top_bits;
} layout;

static layout layout_of(const mpz_t bound) {
    const size_t bits = mpz_sizeinbase(bound, 2), limbs = (bits + 63) / 64;
    return (layout){limbs, (unsigned)(bits - 64 * (limbs - 1))};
}

/* Puts a number below `bound` on the tape; `junk` fills the bits that do not count. Returns the
 * number of words. */
static size_t put(uint64_t *tape, const mpz_t value, const mpz_t bound, uint64_t junk) {
    const layout l = layout_of(bound);
    uint64_t limbs[4] = {0};
    assert_true(mpz_sgn(value) >= 0 && mpz_sizeinbase(value, 2) <= 256);
    mpz_export(limbs, NULL, -1, sizeof *limbs, 0, 0, value);
    for (size_t i = 0; i < l.limbs; i++)
        tape[i] = limbs[l.limbs - 1 - i];
    if (l.top_bits < 64)
        tape[0] |= junk << l.top_bits;
    return l.limbs;
}

/* Puts a number below 2^64 whole on the tape: its first bits and a remainder. */
static size_t put_number(uint64_t *tape, const mpz_t number, const mpz_t whole, uint64_t junk) {
    mpz_t first_bits, remainder;
    mpz_inits(first_bits, remainder, NULL);
    mpz_fdiv_qr(first_bits, remainder, number, whole);
    assert_true(mpz_sgn(first_bits) >= 0 && mpz_sizeinbase(first_bits, 2) <= 64);
    tape[0] = 0;
    mpz_export(tape, NULL, -1, sizeof *tape, 0, 0, first_bits);
    const size_t words = 1 + put(tape + 1, remainder, whole, junk);
    mpz_clears(first_bits, remainder, NULL);
    return words;
}

/* A random number in [low, high). */
static void between(mpz_t out, const mpz_t low, const mpz_t high) {
    uint64_t random[5];
    for (int i = 0; i < 5; i++)
        random[i] = random64();
    mpz_t width;
    mpz_init(width);
    mpz_sub(width, high, low);
    mpz_import(out, 5, -1, sizeof *random, 0, 0, random);
    mpz_mod(out, out, width);
    mpz_add(out, out, low);
    mpz_clear(width);
}

static void multiply_mass(path *p, const mpz_t low, const mpz_t high, const mpz_t bound) {
    mpq_t fraction;
    mpq_init(fraction);
    mpz_sub(mpq_numref(fraction), high, low);
    mpz_set(mpq_denref(fraction), bound);
    mpq_canonicalize(fraction);
    mpq_mul(p->mass, p->mass, fraction);
    mpq_clear(fraction);
}

/* Extends a path by a number below 2^64 * whole that falls into [low, high), which is not empty. */
static void extend_number(path *p, const mpz_t low, const mpz_t high, const mpz_t whole) {
    mpz_t value;
    mpz_init(value);
    assert_true(mpz_cmp(low, high) < 0);
    put_number(p->tape[LOW] + p->words, low, whole, 0);
    mpz_sub_ui(value, high, 1);
    put_number(p->tape[HIGH] + p->words, value, whole, UINT64_MAX);
    between(value, low, high);
    p->words += put_number(p->tape[INNER] + p->words, value, whole, random64());
    assert_true(p->words <= PATH_WORDS);
    mpz_mul_2exp(value, whole, 64);
    multiply_mass(p, low, high, value);
    mpz_clear(value);
}

/* Extends a path by a draw of rng_below that falls into [low, high). */
static void extend64(path *p, uint64_t low, uint64_t high, uint64_t bound) {
    assert_true(low < high && high <= bound && p->words < PATH_WORDS);
    const below_words inner = below_words_of(low + random64() % (high - low), bound);
    const uint64_t more = inner.last - inner.first;
    p->tape[LOW][p->words] = below_words_of(low, bound).first;
    p->tape[HIGH][p->words] = below_words_of(high - 1, bound).last;
    p->tape[INNER][p->words++] = inner.first + random64() % (more + (more < UINT64_MAX));
    mpz_t l, h, b;
    mpz_inits(l, h, b, NULL);
    mpz_set_u64(l, low);
    mpz_set_u64(h, high);
    mpz_set_u64(b, bound);
    multiply_mass(p, l, h, b);
    mpz_clears(l, h, b, NULL);
}

/* By a word from `low` to `last`. */
static void extend_first_bits(path *p, uint64_t low, uint64_t last) {
    assert_true(low <= last && p->words < PATH_WORDS);
    p->tape[LOW][p->words] = low;
    p->tape[HIGH][p->words] = last;
    p->tape[INNER][p->words++] = low + random64() % (last - low + (last - low < UINT64_MAX));
    mpz_t l, h, b;
    mpz_inits(l, h, b, NULL);
    mpz_set_u64(l, low);
    mpz_set_u64(h, last);
    mpz_add_ui(h, h, 1);
    mpz_set_ui(b, 1);
    mpz_mul_2exp(b, b, 64);
    multiply_mass(p, l, h, b);
    mpz_clears(l, h, b, NULL);
}

/* ----------------------------------------------------- Bernoulli exp(-r) -- */

/* The sampler's answer to a stratum, which must be the same in all corners. */
static bool bernoulli_answer(const path *p, uint64_t fraction) {
    bool answers[CORNERS];
    for (int c = 0; c < CORNERS; c++) {
        tem_rng rng = on_tape(p->tape[c], p->words);
        answers[c] = sampler_bernoulli_exp(fraction, &rng);
        assert_true(rng.tape_used == p->words);
    }
    assert_true(answers[LOW] == answers[HIGH] && answers[LOW] == answers[INNER]);
    return answers[LOW];
}

/* accepted <= exp(-fraction/2^36) <= accepted + open */
static void check_bernoulli_bracket(uint64_t fraction, mpq_t accepted, mpq_t open) {
    mpfr_t exact;
    mpfr_init2(exact, 1000); /* fraction = 1 leaves less than 2^-450 open */
    mpfr_set_uj_2exp(exact, fraction, -36, MPFR_RNDN);
    mpfr_neg(exact, exact, MPFR_RNDN);
    mpfr_exp(exact, exact, MPFR_RNDN);
    assert_true(mpfr_cmp_q(exact, accepted) >= 0);
    mpq_add(accepted, accepted, open);
    assert_true(mpfr_cmp_q(exact, accepted) <= 0);
    assert_true(mpq_get_d(open) < 0x1p-28);
    mpfr_clear(exact);
}

static void check_bernoulli(uint64_t fraction) {
    enum { STEPS = 12 }; /* 1/12! < 2^-28: enough for fraction = 1 */
    mpq_t accepted, all;
    mpq_inits(accepted, all, NULL);
    path open;
    path_start(&open);
    if (fraction == 0) { /* certain: nothing is drawn */
        assert_true(bernoulli_answer(&open, fraction));
        mpq_set_ui(accepted, 1, 1);
        mpq_set_ui(all, 1, 1);
        mpq_set_ui(open.mass, 0, 1);
    }
    for (uint64_t k = 1; k <= STEPS && mpq_sgn(open.mass) > 0; k++) {
        if (fraction < k << 36) {
            path p;
            path_copy(&p, &open);
            extend64(&p, fraction, k << 36, k << 36);
            if (bernoulli_answer(&p, fraction))
                mpq_add(accepted, accepted, p.mass);
            mpq_add(all, all, p.mass);
            path_end(&p);
        }
        extend64(&open, 0, fraction, k << 36);
    }
    mpq_add(all, all, open.mass);
    assert_int_equal(mpq_cmp_ui(all, 1, 1), 0);
    check_bernoulli_bracket(fraction, accepted, open.mass);
    path_end(&open);
    mpq_clears(accepted, all, NULL);
}

static void test_bernoulli(void **state) {
    (void)state;
    static const uint64_t rests[] = {0,
                                     1,
                                     2,
                                     12345,
                                     (uint64_t)1 << 32,
                                     ((uint64_t)1 << 33) - 1,
                                     (uint64_t)1 << 33,
                                     (uint64_t)1 << 35,
                                     ((uint64_t)1 << 36) - 1,
                                     (uint64_t)1 << 36};
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        check_bernoulli(rests[i]);
    for (int i = 0; i < 300; i++)
        check_bernoulli(random64() >> (28 + random64() % 30));
}

/* ----------------------------------------------------------- tiny models -- */

enum { WORDS_MAX = 40, PAIRS_MAX = WORDS_MAX * (WORDS_MAX - 1) / 2 };

/* Words in two dimensions, in steps of 2^-10. */
typedef struct vocabulary {
    uint32_t count;
    int16_t at[WORDS_MAX][2];
} vocabulary;

typedef struct tiny {
    space space;
    int16_t *rows;
    uint32_t matrix[PAIRS_MAX];
    neighbour_index built;
    tem_dist bounds[WORDS_MAX * NEIGHBOUR_RANGES]; /* as built; a test may change them */
    neighbour_index index;                         /* as built, with these bounds */
    sampler sampler;
    _Atomic(uint8_t) *states; /* the sampler's, set aside while it keeps no thresholds */
} tiny;

static void tiny_make(tiny *t, const vocabulary *v, tem_metric metric, uint32_t length) {
    const uint32_t count = v->count;
    *t = (tiny){.space = {.metric = metric_find(metric == TEM_MATRIX ? TEM_EUCLIDEAN : metric),
                          .count = count,
                          .dimension = 2,
                          .row_elements = space_row_elements(2),
                          .step_log2 = 10}};
    const size_t bytes = (size_t)count * t->space.row_elements * sizeof *t->rows;
    t->rows = aligned_alloc(64, bytes);
    assert_non_null(t->rows);
    memset(t->rows, 0, bytes);
    for (uint32_t id = 0; id < count; id++)
        memcpy(t->rows + (size_t)id * t->space.row_elements, v->at[id], sizeof v->at[id]);
    t->space.rows = t->rows;
    if (metric == TEM_MATRIX) {
        for (uint32_t a = 1; a < count; a++)
            for (uint32_t b = 0; b < a; b++)
                t->matrix[space_pair_index(a, b)] = space_distance(&t->space, a, b);
        t->space.metric = &metric_matrix;
        t->space.rows = NULL;
        t->space.matrix = t->matrix;
    }
    const tem_run alone = {.threads = 1};
    assert_int_equal(neighbours_build(&t->space, length, &alone, &t->built, NULL), TEM_OK);
    memcpy(t->bounds, t->built.bounds, count * NEIGHBOUR_RANGES * sizeof *t->bounds);
    t->index = t->built;
    t->index.bounds = t->bounds;
}

static void tiny_free(tiny *t) {
    neighbours_free(&t->built);
    free(t->rows);
}

static exponent exponent_make(double epsilon, double gamma) {
    exponent e;
    assert_int_equal(exponent_s(epsilon, &e.s, NULL), TEM_OK);
    assert_int_equal(exponent_gamma_given(gamma, e.s, &e.gamma, NULL), TEM_OK);
    return e;
}

/* The sampler of a tiny model. With no thresholds kept, the remainder of a number is always
 * drawn. */
static void start_sampler(tiny *t, exponent e, const uint32_t *values) {
    assert_int_equal(sampler_init(&t->sampler, &t->space, &t->index, e, values, NULL), TEM_OK);
    t->states = NULL;
}

static void keep_no_ends(tiny *t) {
    t->states = t->sampler.envelopes.states;
    t->sampler.envelopes.states = NULL;
}

static void keep_thresholds(tiny *t) {
    t->sampler.envelopes.states = t->states;
    t->states = NULL;
}

static void end_sampler(tiny *t) {
    if (t->states != NULL)
        keep_thresholds(t);
    sampler_free(&t->sampler);
}

/* -------------------------------------------------------------- surveys -- */

/* The outcomes of the strata of one round. */
typedef struct survey {
    const sampler *m;
    uint32_t word;
    tem_neighbours near;
    const tem_dist *bounds;
    mpz_t total; /* Z */
    mpq_t released[WORDS_MAX];
    mpq_t restarted;
    mpq_t open; /* mass deeper than DEPTH */

    /* The draws after a stratum: a round that releases a known word. */
    path ending;
    uint32_t ending_out;
} survey;

static uint64_t exponent_of(const survey *v, tem_dist d) {
    const exponent *e = &v->m->envelopes.exponent;
    return e->s * (d < e->gamma ? d : e->gamma);
}

static unsigned level_of(const survey *v, tem_dist d) {
    return (unsigned)(exponent_of(v, d) >> 33);
}

static uint64_t fraction_of(const survey *v, tem_dist d) {
    return exponent_of(v, d) & (((uint64_t)1 << 33) - 1);
}

static uint32_t count_of(const survey *v) {
    return v->m->space->count;
}

static uint32_t weight_of(const survey *v, uint32_t id) {
    const uint32_t *values = v->m->envelopes.weights.values;
    return values == NULL ? 1 : values[id];
}

static bool in_list(const survey *v, uint32_t id) {
    for (uint32_t i = 0; i < v->near.count; i++)
        if (v->near.list[i].id == id)
            return true;
    return false;
}

/* The words of a range: those from *first to before the result. */
static uint32_t range_end(const survey *v, unsigned range, uint32_t *first) {
    const uint32_t size = (count_of(v) + 15) / 16, count = count_of(v);
    *first = range * size < count ? range * size : count;
    return *first + size < count ? *first + size : count;
}

static uint64_t range_weight(const survey *v, unsigned range) {
    uint32_t first = 0;
    uint64_t sum = 0;
    for (uint32_t end = range_end(v, range, &first); first < end; first++)
        sum += weight_of(v, first);
    return sum;
}

/* The size of a component of the envelope, as envelope.h has it: none for a range all of whose
 * words are in the list, else E at the bound for every word of the range. */
static void set_component(const survey *v, uint32_t component, mpz_t size) {
    if (component >= NEIGHBOUR_RANGES) {
        const tem_neighbour *entry = &v->near.list[component - NEIGHBOUR_RANGES];
        mpz_set_level(size, level_of(v, entry->distance));
        mpz_mul_ui(size, size, weight_of(v, entry->id));
        return;
    }
    uint32_t id = 0;
    uint64_t outside = 0;
    for (uint32_t end = range_end(v, component, &id); id < end; id++)
        outside += !in_list(v, id);
    mpz_set_level(size, level_of(v, v->bounds[component]));
    mpz_mul_ui(size, size, outside == 0 ? 0 : range_weight(v, component));
}

static uint32_t component_count(const survey *v) {
    return NEIGHBOUR_RANGES + v->near.count;
}

/* The interval of a component, times 2^64; false if it is empty. */
static bool set_interval(const survey *v, uint32_t component, mpz_t low, mpz_t high) {
    mpz_t size;
    mpz_init(size);
    mpz_set_ui(high, 0);
    for (uint32_t i = 0; i <= component; i++) {
        mpz_set(low, high);
        set_component(v, i, size);
        mpz_add(high, high, size);
    }
    mpz_clear(size);
    mpz_mul_2exp(low, low, 64);
    mpz_mul_2exp(high, high, 64);
    return mpz_cmp(low, high) < 0;
}

/* Calls visit for each way to draw a word of a range: column c, and its own or its alias's
 * units. */
typedef void visit_word(survey *v, const path *p, unsigned range, uint32_t id);

static void each_column(survey *v, const path *from, unsigned range, visit_word *visit) {
    const weights *w = &v->m->envelopes.weights;
    uint32_t first = 0;
    const uint32_t end = range_end(v, range, &first);
    const uint64_t sum = range_weight(v, range);
    for (uint32_t c = first; c < end; c++) {
        path p, q;
        path_copy(&p, from);
        extend64(&p, c - first, c - first + 1, end - first);
        if (w->columns == NULL) {
            assert_true(w->zeros == NULL); /* test_repeated_draws has these */
            visit(v, &p, range, c);
            path_end(&p);
            continue;
        }
        path_copy(&q, &p);
        if (w->columns[c].own > 0) {
            extend64(&p, 0, w->columns[c].own, sum);
            visit(v, &p, range, c);
        }
        if (w->columns[c].own < sum) {
            extend64(&q, w->columns[c].own, sum, sum);
            visit(v, &q, range, w->columns[c].alias);
        }
        path_end(&p);
        path_end(&q);
    }
}

/* A number uniform below 2^64 E_(bound level) is compared with 2^64 E_level. Four outcomes: the
 * first bits alone are clearly below the ratio; the remainder decides that the number is below, or
 * that it is not; the first bits alone are clearly not below. */
typedef enum keeping { SURELY_KEPT, KEPT, LOST, SURELY_LOST, KEEPINGS } keeping;

enum { FIRST_BITS_MARGIN = 2 }; /* as sampler.c has it */

/* The first 64 bits of E_gap / E_0. */
static uint64_t ratio_of(unsigned gap) {
    return exp_table[gap].limb[2];
}

/* Extends a path by this comparison; false if it cannot come out so. */
static bool extend_keeping(path *p, unsigned bound_level, unsigned level, keeping how) {
    if (level == bound_level) { /* certain, whatever the first bits */
        if (how == SURELY_KEPT)
            extend_first_bits(p, 0, UINT64_MAX);
        return how == SURELY_KEPT;
    }
    const uint64_t ratio = ratio_of(level - bound_level);
    const uint64_t low =
        ratio < FIRST_BITS_MARGIN ? 0 : ratio - FIRST_BITS_MARGIN; /* of the unsure */
    const uint64_t high = ratio + FIRST_BITS_MARGIN + 1;
    if (how == SURELY_KEPT && low > 0)
        extend_first_bits(p, 0, low - 1);
    if (how == SURELY_LOST)
        extend_first_bits(p, high, UINT64_MAX);
    if (how == SURELY_KEPT || how == SURELY_LOST)
        return how == SURELY_LOST || low > 0;
    mpz_t whole, first, border, last;
    mpz_inits(whole, first, border, last, NULL);
    mpz_set_level(whole, bound_level);
    mpz_set_level(border, level);
    mpz_mul_2exp(border, border, 64);
    mpz_set_u64(first, low);
    mpz_mul(first, first, whole);
    mpz_set_u64(last, high);
    mpz_mul(last, last, whole);
    assert_true(mpz_cmp(first, border) < 0 && mpz_cmp(border, last) < 0);
    if (how == KEPT)
        extend_number(p, first, border, whole);
    else
        extend_number(p, border, last, whole);
    mpz_clears(whole, first, border, last, NULL);
    return true;
}

static void extend_accepted(survey *v, path *p, uint32_t id) {
    const uint64_t fraction = fraction_of(v, space_distance(v->m->space, v->word, id));
    if (fraction > 0)
        extend64(p, fraction, (uint64_t)1 << 36, (uint64_t)1 << 36);
}

/* The ending of the surveys: the first entry of the list that can be drawn, otherwise a word
 * outside it. */
static void end_with_word(survey *v, const path *p, unsigned range, uint32_t id) {
    if (in_list(v, id) || v->ending.words > 0)
        return;
    const unsigned level = level_of(v, space_distance(v->m->space, v->word, id));
    path_end(&v->ending);
    path_copy(&v->ending, p);
    if (!extend_keeping(&v->ending, level_of(v, v->bounds[range]), level, SURELY_KEPT))
        extend_keeping(&v->ending, level_of(v, v->bounds[range]), level, KEPT);
    extend_accepted(v, &v->ending, id);
    v->ending_out = id;
}

static void survey_ending(survey *v) {
    mpz_t low, high;
    mpz_inits(low, high, NULL);
    path_start(&v->ending);
    for (uint32_t i = component_count(v); i-- > 0 && v->ending.words == 0;) {
        path p;
        path_start(&p);
        if (set_interval(v, i, low, high)) {
            extend_number(&p, low, high, v->total);
            if (i < NEIGHBOUR_RANGES) {
                each_column(v, &p, i, end_with_word);
            } else {
                path_end(&v->ending);
                path_copy(&v->ending, &p);
                v->ending_out = v->near.list[i - NEIGHBOUR_RANGES].id;
                extend_accepted(v, &v->ending, v->ending_out);
            }
        }
        path_end(&p);
    }
    assert_true(v->ending.words > 0);
    mpz_clears(low, high, NULL);
}

static void survey_start(survey *v, const sampler *m, uint32_t word) {
    *v = (survey){.m = m, .word = word};
    const neighbour_index *index = m->envelopes.index;
    assert_int_equal(neighbours_get(index, word, &v->near, NULL), TEM_OK);
    v->bounds = neighbours_bounds(index, word);
    mpq_inits(v->restarted, v->open, NULL);
    for (int y = 0; y < WORDS_MAX; y++)
        mpq_init(v->released[y]);
    mpz_t size;
    mpz_inits(v->total, size, NULL);
    for (uint32_t i = 0; i < component_count(v); i++) {
        set_component(v, i, size);
        mpz_add(v->total, v->total, size);
    }
    mpz_clear(size);
    survey_ending(v);
}

static void survey_end(survey *v) {
    mpq_clears(v->restarted, v->open, NULL);
    for (int y = 0; y < WORDS_MAX; y++)
        mpq_clear(v->released[y]);
    mpz_clear(v->total);
    path_end(&v->ending);
}

/* Runs a stratum with the known ending after it. Returns the released word, or TEM_NO_WORD if the
 * sampler went on through the whole ending. */
static uint32_t run_stratum(const survey *v, const path *p) {
    uint32_t results[CORNERS];
    for (int c = 0; c < CORNERS; c++) {
        uint64_t tape[2 * PATH_WORDS];
        memcpy(tape, p->tape[c], p->words * sizeof *tape);
        memcpy(tape + p->words, v->ending.tape[c], v->ending.words * sizeof *tape);
        tem_rng rng = on_tape(tape, p->words + v->ending.words);
        uint32_t out = TEM_NO_WORD;
        assert_int_equal(sampler_draw(v->m, &v->word, 1, &rng, &out, NULL), TEM_OK);
        results[c] = out;
        if (rng.tape_used == p->words)
            continue;
        assert_true(rng.tape_used == p->words + v->ending.words && out == v->ending_out);
        results[c] = TEM_NO_WORD;
    }
    assert_true(results[LOW] == results[HIGH] && results[LOW] == results[INNER]);
    return results[LOW];
}

static void count_stratum(survey *v, const path *p) {
    const uint32_t out = run_stratum(v, p);
    assert_true(out == TEM_NO_WORD || out < count_of(v));
    mpq_ptr sum = out == TEM_NO_WORD ? v->restarted : v->released[out];
    mpq_add(sum, sum, p->mass);
}

/* All that may follow once a word with this fraction is chosen. */
static void survey_fraction(survey *v, const path *from, uint64_t fraction) {
    if (fraction == 0) {
        count_stratum(v, from);
        return;
    }
    path open;
    path_copy(&open, from);
    for (uint64_t k = 1; k <= DEPTH; k++) {
        path p;
        path_copy(&p, &open);
        extend64(&p, fraction, k << 36, k << 36);
        count_stratum(v, &p);
        path_end(&p);
        extend64(&open, 0, fraction, k << 36);
    }
    mpq_add(v->open, v->open, open.mass);
    path_end(&open);
}

static void survey_candidate(survey *v, const path *from, unsigned range, uint32_t id) {
    const tem_dist d = space_distance(v->m->space, v->word, id);
    const unsigned at_bound = level_of(v, v->bounds[range]);
    for (keeping how = SURELY_KEPT; how < KEEPINGS; how++) {
        path p;
        path_copy(&p, from);
        if (in_list(v, id)) { /* rejected, whatever the first bits that were drawn with it */
            if (how == LOST) {
                extend_first_bits(&p, 0, UINT64_MAX);
                count_stratum(v, &p);
            }
        } else if (extend_keeping(&p, at_bound, level_of(v, d), how)) {
            if (how == SURELY_KEPT || how == KEPT)
                survey_fraction(v, &p, fraction_of(v, d));
            else
                count_stratum(v, &p);
        }
        path_end(&p);
    }
}

static void survey_shares(survey *v) {
    mpz_t low, high;
    mpz_inits(low, high, NULL);
    for (uint32_t i = 0; i < component_count(v); i++) {
        if (!set_interval(v, i, low, high))
            continue;
        path p;
        path_start(&p);
        extend_number(&p, low, high, v->total);
        if (i < NEIGHBOUR_RANGES)
            each_column(v, &p, i, survey_candidate);
        else
            survey_fraction(v, &p, fraction_of(v, v->near.list[i - NEIGHBOUR_RANGES].distance));
        path_end(&p);
    }
    mpz_clears(low, high, NULL);
}

/* ------------------------------------------------- the sum of a survey -- */

/* One round releases y with a probability from released[y] to released[y] + open; normalized, these
 * are the law of the released words. */
typedef struct bracket {
    uint32_t count;
    mpq_t low[WORDS_MAX], high[WORDS_MAX];
} bracket;

static void bracket_end(bracket *b) {
    for (int y = 0; y < WORDS_MAX; y++)
        mpq_clears(b->low[y], b->high[y], NULL);
}

static void bracket_make(bracket *b, survey *v) {
    mpq_t released, all;
    mpq_inits(released, all, NULL);
    b->count = count_of(v);
    mpq_set(released, v->open);
    for (int y = 0; y < WORDS_MAX; y++) {
        mpq_inits(b->low[y], b->high[y], NULL);
        mpq_set(b->low[y], v->released[y]);
        mpq_add(b->high[y], b->low[y], v->open);
        mpq_add(released, released, b->low[y]);
    }
    mpq_add(all, released, v->restarted);
    assert_int_equal(mpq_cmp_ui(all, 1, 1), 0); /* no stratum is missing */
    for (int y = 0; y < WORDS_MAX; y++) {
        mpq_div(b->low[y], b->low[y], released);
        mpq_div(b->high[y], b->high[y], released);
    }
    mpq_div(all, v->open, released);
    assert_true(mpq_get_d(all) < 0x1p-36);
    mpq_clears(released, all, NULL);
}

static void survey_all(bracket *b, const sampler *m, uint32_t word) {
    survey v;
    survey_start(&v, m, word);
    survey_shares(&v);
    bracket_make(b, &v);
    survey_end(&v);
}

/* Whether p, which is off by a relative 2^-190 at most, may be within the bracket. */
static bool bracket_has(const bracket *b, uint32_t y, const mpfr_t p) {
    mpfr_t below, above;
    mpfr_inits2(180, below, above, (mpfr_ptr)NULL);
    mpfr_set(below, p, MPFR_RNDD);
    mpfr_set(above, p, MPFR_RNDU);
    mpfr_nextbelow(below);
    mpfr_nextabove(above);
    const bool result =
        mpfr_zero_p(p) ? mpq_sgn(b->low[y]) == 0
                       : mpfr_cmp_q(above, b->low[y]) >= 0 && mpfr_cmp_q(below, b->high[y]) <= 0;
    mpfr_clears(below, above, (mpfr_ptr)NULL);
    return result;
}

static void check_survey(const sampler *m, uint32_t word) {
    bracket b;
    survey_all(&b, m, word);
    tem_law *law = NULL;
    const law_form form = sampler_form(m);
    assert_int_equal(law_make(&form, m->space, word, 60, &law, NULL), TEM_OK);
    for (uint32_t y = 0; y < b.count; y++)
        assert_true(bracket_has(&b, y, law->probabilities[y]));
    law_free(law);
    bracket_end(&b);
}

/* ------------------------------------------------- models for the surveys -- */

/* Two words; all equal; equal ones near and far; a line; a plane: each word is a range of its
 * own. Then ranges of two words, the last ones of one or none, and ranges of three. */
static const vocabulary vocabularies[] = {
    {2, {{0, 0}, {700, 0}}},
    {3, {{5, 5}, {5, 5}, {5, 5}}},
    {4, {{0, 0}, {0, 0}, {900, 100}, {900, 100}}},
    {5, {{0, 0}, {1, 0}, {300, 0}, {900, 0}, {2500, 0}}},
    {5, {{0, 0}, {400, 300}, {400, -300}, {-50, 1200}, {400, 300}}},
    {17,
     {{0, 0},
      {500, 0},
      {9, 0},
      {800, 0},
      {0, 0},
      {950, 0},
      {70, 0},
      {80, 0},
      {2000, 0},
      {300, 0},
      {301, 0},
      {1500, 0},
      {40, 0},
      {1700, 0},
      {900, 0},
      {7, 0},
      {600, 0}}},
    {33, {{0, 0},     {100, 0},   {250, 0},   {0, 400},  {300, 300},  {7, 7},      {900, 10},
          {50, 50},   {60, 50},   {50, 60},   {0, 0},    {1200, 9},   {1300, 8},   {5, 5},
          {400, 0},   {0, 400},   {800, 800}, {20, 0},   {1, 1},      {2, 2},      {1000, 1000},
          {600, 600}, {601, 600}, {31, 30},   {90, 900}, {700, 1},    {2000, 900}, {3, 500},
          {11, 222},  {222, 11},  {333, 3},   {40, 40},  {1500, 1500}}},
};
enum { VOCABULARIES = sizeof vocabularies / sizeof *vocabularies, SMALL_WORDS = 5 };

/* s gamma from almost 0 to 64, with a flat or steep tail. */
static const struct {
    double epsilon, gamma;
} parameters[] = {{2, 0x1p-16}, {3.3, 0.5}, {3.3, 10}, {40, 3.199}};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

/* Weights of the first words; they repeat for the words after them. */
static const uint32_t weight_sets[][SMALL_WORDS] = {{1, 2, 3, 4, 5},
                                                    {0, 3, 0, 1, 0},
                                                    {7, 0, 0, 0, 0},
                                                    {UINT32_MAX, 1, UINT32_MAX, 1, 0},
                                                    {0, 2, 0, 0, 0}};
enum { WEIGHT_SETS = 1 + sizeof weight_sets / sizeof *weight_sets }; /* equal weights first */

/* Returns NULL for the first set. */
static const uint32_t *set_weights(size_t set, uint32_t values[WORDS_MAX]) {
    for (uint32_t id = 0; id < WORDS_MAX && set > 0; id++)
        values[id] = weight_sets[set - 1][id % SMALL_WORDS];
    return set == 0 ? NULL : values;
}

/* A bound may be anything from the distance of the last word of the list to the built bound. */
static tem_dist lowest_bound(const tiny *t, uint32_t word) {
    return t->built.entries[t->built.starts[word + 1] - 1].distance;
}

/* Surveys every `step`th word, with the built bounds, bounds halfway down, and the lowest bounds:
 * all are valid. */
static void check_bounds(tiny *t, exponent e, const uint32_t *values, uint32_t step) {
    for (tem_dist divisor = 1; divisor <= 3; divisor++) {
        for (uint32_t i = 0; i < t->space.count * NEIGHBOUR_RANGES; i++) {
            const tem_dist built = t->built.bounds[i],
                           lowest = lowest_bound(t, i / NEIGHBOUR_RANGES);
            if (built != UINT32_MAX)
                t->bounds[i] = divisor == 3 ? lowest : lowest + (built - lowest) / divisor;
        }
        start_sampler(t, e, values);
        keep_no_ends(t);
        for (uint32_t w = 0; w < t->space.count; w += step)
            check_survey(&t->sampler, w);
        end_sampler(t);
    }
}

static void check_vocabulary(const vocabulary *v, uint32_t length, uint32_t step) {
    tiny t;
    uint32_t values[WORDS_MAX];
    tiny_make(&t, v, TEM_EUCLIDEAN, length);
    for (size_t p = 0; p < PARAMETERS; p++)
        for (size_t k = 0; k < WEIGHT_SETS; k++)
            if (step == 1 || (p + k) % 4 == 2)
                check_bounds(&t, exponent_make(parameters[p].epsilon, parameters[p].gamma),
                             set_weights(k, values), step);
    tiny_free(&t);
}

/* The law of the sampler equals the law of law.h, for every length of the lists. */
static void test_law_of_the_sampler(void **state) {
    (void)state;
    for (size_t i = 0; i < VOCABULARIES; i++) {
        const uint32_t count = vocabularies[i].count;
        const bool small = count <= SMALL_WORDS;
        for (uint32_t length = 1; length <= count; length++)
            if (small || length == 1 || length % 8 == 3 || length + 1 >= count)
                check_vocabulary(&vocabularies[i], length, small ? 1 : 13);
    }
}

/* A number of any magnitude up to 16. */
static double random_size(void) {
    const double value = 1 + (double)(random64() % 1000);
    return ldexp(value, -(int)(random64() % 10) - 6);
}

static vocabulary random_vocabulary(uint32_t most) {
    vocabulary v = {.count = 2 + (uint32_t)(random64() % (most - 1))};
    for (uint32_t id = 0; id < v.count; id++)
        for (int i = 0; i < 2; i++) {
            const uint64_t reach = random64() % 5 * 100;
            v.at[id][i] = (int16_t)(random64() % (reach + 1));
        }
    return v;
}

static exponent random_exponent(void) {
    const double epsilon = random_size(), gamma = random_size();
    return exponent_make(epsilon, gamma * epsilon < 100 ? gamma : 100 / epsilon);
}

static void random_weights(uint32_t *values, uint32_t count) {
    for (uint32_t id = 0; id < count; id++) {
        const unsigned shift = (unsigned)(random64() % 44); /* 0 for a quarter of them */
        values[id] = (uint32_t)(random64() >> 32 >> shift);
    }
    values[random64() % count] = 3;
}

/* Random points, epsilon, gamma, weights, lists and bounds. */
static void check_random_model(uint32_t most) {
    const vocabulary v = random_vocabulary(most);
    tiny t;
    tiny_make(&t, &v, TEM_EUCLIDEAN, 1 + (uint32_t)(random64() % v.count));
    uint32_t values[WORDS_MAX];
    random_weights(values, v.count);
    for (uint32_t i = 0; i < v.count * NEIGHBOUR_RANGES; i++)
        if (t.bounds[i] != UINT32_MAX && random64() % 2 == 0)
            t.bounds[i] -=
                (tem_dist)(random64() %
                           (t.bounds[i] - lowest_bound(&t, i / NEIGHBOUR_RANGES) + (uint64_t)1));
    start_sampler(&t, random_exponent(), random64() % 3 == 0 ? NULL : values);
    keep_no_ends(&t);
    for (uint32_t w = 0; w < v.count && most == SMALL_WORDS; w++)
        check_survey(&t.sampler, w);
    if (most > SMALL_WORDS)
        check_survey(&t.sampler, (uint32_t)(random64() % v.count));
    end_sampler(&t);
    tiny_free(&t);
}

static void test_law_of_random_models(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++)
        check_random_model(SMALL_WORDS);
    for (int i = 0; i < (SLOW ? 50 : 1000); i++)
        check_random_model(WORDS_MAX);
}

/* ------------------------------------------------------- planted faults -- */

/* Whether the law with each word's component times its factor is within what was measured. */
static bool bracket_has_law(const bracket *b, const tem_law *law, const double *factors) {
    mpfr_t sum, p[WORDS_MAX];
    mpfr_init2(sum, 256);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < b->count; y++) {
        mpfr_init2(p[y], 256);
        mpfr_mul_d(p[y], law->probabilities[y], factors[y], MPFR_RNDN);
        mpfr_add(sum, sum, p[y], MPFR_RNDN);
    }
    bool result = true;
    for (uint32_t y = 0; y < b->count; y++) {
        mpfr_div(p[y], p[y], sum, MPFR_RNDN);
        result &= bracket_has(b, y, p[y]);
        mpfr_clear(p[y]);
    }
    mpfr_clear(sum);
    return result;
}

/* The component of the list by levels over what it has after the draws of exp(-r), which is its
 * real-valued total. */
static double list_excess(const survey *v) {
    double with = 0, without = 0;
    for (uint32_t i = 0; i < v->near.count; i++) {
        const tem_dist d = v->near.list[i].distance;
        const double e = exp(-(double)level_of(v, d) / 8);
        with += e;
        without += e * exp(-ldexp((double)fraction_of(v, d), -36));
    }
    return with / without;
}

/* The shortcuts that look right all change the odds of the list against the words of a range. The
 * factor is the inverse of the share of the range's words that are outside the list if the total of
 * the range is that of these words while the word is drawn from all. The factor is this share if
 * the total is that of all words while the word is drawn from these. The factor is list_excess if a
 * rejected entry is drawn again within the list, and the inverse of list_excess if the real total
 * is used to choose between list and range. The measured law excludes all of these. */
typedef enum shortcut { NONE, TOTAL_OF_OUTSIDE, TOTAL_OF_ALL, RETRY, REAL_SPLIT } shortcut;

static void set_factors(const survey *v, shortcut taken, double *factors) {
    for (unsigned range = 0; range < NEIGHBOUR_RANGES; range++) {
        uint32_t first = 0, outside = 0;
        const uint32_t end = range_end(v, range, &first);
        for (uint32_t y = first; y < end; y++)
            outside += !in_list(v, y);
        for (uint32_t y = first; y < end; y++) {
            const double all[] = {[NONE] = 1,
                                  [TOTAL_OF_OUTSIDE] = (double)outside / (end - first),
                                  [TOTAL_OF_ALL] = (double)(end - first) / (outside + 1e-9),
                                  [RETRY] = 1 / list_excess(v),
                                  [REAL_SPLIT] = list_excess(v)};
            factors[y] = in_list(v, y) ? 1 : all[taken];
        }
    }
}

static void test_planted_splits(void **state) {
    (void)state;
    const vocabulary *words = &vocabularies[VOCABULARIES - 1];
    for (uint32_t length = 4; length < words->count; length += 7) {
        tiny t;
        tiny_make(&t, words, TEM_EUCLIDEAN, length);
        start_sampler(&t, exponent_make(3.3, 10), NULL);
        keep_no_ends(&t);
        bracket b;
        survey v;
        tem_law *law = NULL;
        survey_all(&b, &t.sampler, 0);
        survey_start(&v, &t.sampler, 0);
        const law_form form = sampler_form(&t.sampler);
        assert_int_equal(law_make(&form, t.sampler.space, 0, 60, &law, NULL), TEM_OK);
        assert_true(list_excess(&v) > 1.001);
        for (shortcut taken = NONE; taken <= REAL_SPLIT; taken++) {
            double factors[WORDS_MAX];
            set_factors(&v, taken, factors);
            assert_true(bracket_has_law(&b, law, factors) == (taken == NONE));
        }
        law_free(law);
        survey_end(&v);
        bracket_end(&b);
        end_sampler(&t);
        tiny_free(&t);
    }
}

/* ------------------------------------------------ by the first bits alone -- */

enum { THRESHOLD_MARGIN = 2, TAPE_WORDS = 5 }; /* the first bits and four limbs */

/* The result of first bits and a remainder: the component, and how many words of the tape the draw
 * used. */
typedef struct drawn {
    uint32_t component;
    uint64_t words;
} drawn;

static drawn draw_share(const envelopes *e, uint32_t word, const uint64_t *tape) {
    drawn d = {0, 0};
    tem_rng rng = on_tape(tape, TAPE_WORDS);
    assert_int_equal(envelopes_draw(e, word, &rng, &d.component, NULL), TEM_OK);
    d.words = rng.tape_used;
    return d;
}

/* A number falls on the same component of a word's envelope whether the thresholds of the word are
 * kept, another thread is computing them, or none are kept. The test takes several numbers with the
 * same first bits. */
typedef struct comparison {
    tiny *tiny;
    survey survey;
    const uint32_t *thresholds;
    uint64_t undecided;
} comparison;

static bool is_next_to_a_threshold(const comparison *c, uint32_t t) {
    for (uint32_t i = 0; i < component_count(&c->survey); i++)
        if (t >= c->thresholds[i] && t - c->thresholds[i] <= THRESHOLD_MARGIN)
            return true;
    return false;
}

static void compare_first_bits(comparison *c, uint64_t first_bits) {
    const uint32_t word = c->survey.word;
    _Atomic(uint8_t) *states = c->tiny->sampler.envelopes.states;
    mpz_t remainder, zero;
    mpz_inits(remainder, zero, NULL);
    const bool undecided = is_next_to_a_threshold(c, (uint32_t)(first_bits >> 32));
    c->undecided += undecided;
    for (int i = 0; i < 3; i++) {
        uint64_t tape[TAPE_WORDS] = {first_bits};
        if (i == 1)
            mpz_sub_ui(remainder, c->survey.total, 1);
        if (i == 2)
            between(remainder, zero, c->survey.total);
        const uint64_t all = 1 + put(tape + 1, remainder, c->survey.total, random64());
        const drawn kept = draw_share(&c->tiny->sampler.envelopes, word, tape);
        states[word] = THRESHOLDS_BEGUN;
        const drawn slow = draw_share(&c->tiny->sampler.envelopes, word, tape);
        states[word] = THRESHOLDS_READY;
        keep_no_ends(c->tiny);
        const drawn exact = draw_share(&c->tiny->sampler.envelopes, word, tape);
        keep_thresholds(c->tiny);
        assert_true(exact.words == all && kept.words == (undecided ? all : 1));
        assert_true(slow.words == kept.words);
        assert_true(kept.component == exact.component && slow.component == exact.component);
    }
    mpz_clears(remainder, zero, NULL);
}

/* With the lower half of the first bits 0, all ones, and anything. */
static void compare_upper_half(comparison *c, uint64_t t) {
    if (t > UINT32_MAX)
        return;
    compare_first_bits(c, t << 32);
    compare_first_bits(c, t << 32 | UINT32_MAX);
    compare_first_bits(c, t << 32 | random64() >> 32);
}

/* Around all thresholds of a word, and elsewhere. */
static void compare_word(tiny *t, uint32_t word) {
    const envelopes *e = &t->sampler.envelopes;
    comparison c = {.tiny = t,
                    .thresholds = e->thresholds + e->index->starts[word] +
                                  (size_t)word * ENVELOPE_HEAD + ENVELOPE_PIVOTS};
    survey_start(&c.survey, &t->sampler, word);
    draw_share(e, word, (uint64_t[TAPE_WORDS]){(uint64_t)1 << 63}); /* sets the thresholds */
    assert_int_equal(e->states[word], THRESHOLDS_READY);
    for (uint32_t i = 0; i < component_count(&c.survey); i++)
        for (uint64_t off = 0; off <= 10; off++) /* a threshold is up to 2 below the right one */
            compare_upper_half(&c, (uint64_t)c.thresholds[i] + off - (c.thresholds[i] < 4 ? 0 : 4));
    assert_true(c.undecided >= 6);
    for (int i = 0; i < 50; i++)
        compare_first_bits(&c, random64());
    compare_first_bits(&c, 0);
    compare_first_bits(&c, UINT64_MAX);
    survey_end(&c.survey);
}

static const tem_metric metrics[] = {TEM_EUCLIDEAN, TEM_ANGULAR, TEM_L1, TEM_LINF, TEM_MATRIX};
enum { METRICS = sizeof metrics / sizeof *metrics };

/* The same words, none of them at 0, where an angle is undefined. */
static vocabulary moved(const vocabulary *v) {
    vocabulary m = *v;
    for (uint32_t id = 0; id < m.count; id++)
        m.at[id][0] = (int16_t)(m.at[id][0] + 60);
    return m;
}

static void compare_model(const vocabulary *v, tem_metric metric, uint32_t length, size_t turn) {
    tiny t;
    uint32_t values[WORDS_MAX];
    const vocabulary m = moved(v);
    tiny_make(&t, &m, metric, length);
    for (size_t p = 0; p < PARAMETERS; p++) {
        const uint32_t *output_weights = set_weights((turn + p) % WEIGHT_SETS, values);
        start_sampler(&t, exponent_make(parameters[p].epsilon, parameters[p].gamma),
                      output_weights);
        for (uint32_t w = (uint32_t)turn % 3; w < v->count; w += SLOW ? 16 : 8)
            compare_word(&t, w);
        end_sampler(&t);
    }
    tiny_free(&t);
}

/* The first bits decide as the whole number does, and leave no random word behind. */
static void test_first_bits(void **state) {
    (void)state;
    size_t turn = 0;
    for (size_t i = 0; i < VOCABULARIES; i++)
        for (size_t k = 0; k < METRICS; k++) {
            const uint32_t count = vocabularies[i].count;
            const uint32_t lengths[] = {1, count, count / 2 + 1, count - 1};
            for (size_t l = 0; l < 4; l++)
                compare_model(&vocabularies[i], metrics[k], lengths[l], turn++);
        }
}

/* One thread computes the thresholds while another draws: the same words come out. */
static void test_ends_of_other_threads(void **state) {
    (void)state;
    enum { DRAWS = 1000 };
    const vocabulary *v = &vocabularies[VOCABULARIES - 1];
    tiny t;
    tiny_make(&t, v, TEM_EUCLIDEAN, 9);
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint32_t words[DRAWS], out[2][DRAWS];
        tem_rng rngs[2];
        start_sampler(&t, exponent_make(3.3, 10), NULL);
        for (uint32_t i = 0; i < DRAWS; i++)
            words[i] = (uint32_t)(random64() % v->count);
        for (int i = 0; i < 2; i++) {
            rng_init_seeded(&rngs[i], seed, 0);
            for (uint32_t w = 0; w < v->count; w++)
                t.sampler.envelopes.states[w] =
                    i == 1 && random64() % 2 == 0 ? THRESHOLDS_BEGUN : THRESHOLDS_NONE;
            assert_int_equal(sampler_draw(&t.sampler, words, DRAWS, &rngs[i], out[i], NULL),
                             TEM_OK);
        }
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_true(rng_word(&rngs[0]) == rng_word(&rngs[1]));
        end_sampler(&t);
    }
    tiny_free(&t);
}

/* ---------------------------------------------------------- kept or not -- */

/* Two words, whose distance and bound are set by level: with this s, one step of distance is one
 * level. The list of word 0 contains only itself. */
typedef struct pair {
    tiny tiny;
    unsigned bound_level, level;
    mpz_t total, whole, border; /* Z, E_(bound level), 2^64 E_level */
} pair;

static const vocabulary pair_words = {2, {{1, 0}, {0, 1}}};
static const exponent level_a_step = {(uint64_t)1 << 33, EXP_LEVELS};

static void pair_make(pair *p) {
    tiny_make(&p->tiny, &pair_words, TEM_MATRIX, 1);
    start_sampler(&p->tiny, level_a_step, NULL);
    keep_no_ends(&p->tiny);
    mpz_inits(p->total, p->whole, p->border, NULL);
}

static void pair_free(pair *p) {
    end_sampler(&p->tiny);
    tiny_free(&p->tiny);
    mpz_clears(p->total, p->whole, p->border, NULL);
}

static void pair_set(pair *p, unsigned bound_level, unsigned level) {
    p->bound_level = bound_level;
    p->level = level;
    p->tiny.matrix[0] = level;
    p->tiny.bounds[1] = bound_level;
    mpz_set_level(p->whole, bound_level);
    mpz_set_level(p->border, level);
    mpz_mul_2exp(p->border, p->border, 64);
    mpz_set_level(p->total, 0);
    mpz_add(p->total, p->total, p->whole);
}

/* Whether word 1 is kept, by its first bits and, unless NULL, a remainder, which must then be
 * used. */
static bool pair_keeps(pair *p, uint64_t first_bits, mpz_srcptr remainder) {
    uint64_t tape[PATH_WORDS];
    const uint32_t word = 0;
    uint32_t out = 77;
    mpz_t number;
    mpz_init(number);
    size_t words = put_number(tape, number, p->total, 0); /* 0: of the range */
    tape[words++] = random64();                           /* its only word */
    tape[words++] = first_bits;
    if (remainder != NULL)
        words += put(tape + words, remainder, p->whole, random64());
    mpz_mul_2exp(number, p->total, 64);
    mpz_sub_ui(number, number, 1); /* if not kept: word 0, of the list */
    const size_t all = words + put_number(tape + words, number, p->total, 0);
    tem_rng rng = on_tape(tape, all);
    assert_int_equal(sampler_draw(&p->tiny.sampler, &word, 1, &rng, &out, NULL), TEM_OK);
    assert_true(out < 2 && rng.tape_used == (out == 1 ? words : all));
    mpz_clear(number);
    return out == 1;
}

/* Compares numbers with these first bits with the border. If the remainder is needed: the first and
 * the last number, those at the border, and one between. Otherwise all of them at once. */
static void check_first_bits(pair *p, uint64_t first_bits) {
    const uint64_t ratio = ratio_of(p->level - p->bound_level);
    const bool unsure =
        p->level > p->bound_level &&
        (first_bits < ratio ? ratio - first_bits : first_bits - ratio) <= FIRST_BITS_MARGIN;
    mpz_t low, high, remainder, zero;
    mpz_inits(low, high, remainder, zero, NULL);
    mpz_set_u64(low, first_bits);
    mpz_mul(low, low, p->whole);
    mpz_add(high, low, p->whole);
    if (!unsure && pair_keeps(p, first_bits, NULL))
        assert_true(mpz_cmp(high, p->border) <= 0);
    else if (!unsure)
        assert_true(mpz_cmp(low, p->border) >= 0);
    for (int i = 0; i < 5 && unsure; i++) {
        between(remainder, zero, p->whole);
        if (i == 0)
            mpz_set_ui(remainder, 0);
        if (i == 1)
            mpz_sub_ui(remainder, p->whole, 1);
        if (i == 2 || i == 3) {
            mpz_sub(remainder, p->border, low);
            mpz_sub_ui(remainder, remainder, i == 3);
        }
        if (mpz_sgn(remainder) < 0 || mpz_cmp(remainder, p->whole) >= 0)
            continue;
        const bool kept = pair_keeps(p, first_bits, remainder);
        mpz_add(remainder, remainder, low);
        assert_true(kept == (mpz_cmp(remainder, p->border) < 0));
    }
    mpz_clears(low, high, remainder, zero, NULL);
}

static void check_pair(pair *p, unsigned bound_level, unsigned level) {
    const uint64_t ratio = ratio_of(level - bound_level);
    pair_set(p, bound_level, level);
    for (uint64_t off = 0; off <= 8; off++)
        if (ratio + off >= 4)
            check_first_bits(p, ratio + off - 4);
    check_first_bits(p, 0);
    check_first_bits(p, UINT64_MAX);
    check_first_bits(p, random64());
    /* where the table of gaps changes from one entry to the next */
    const uint64_t k = ratio >> (64 - SAMPLER_GAP_BITS);
    check_first_bits(p, k << (64 - SAMPLER_GAP_BITS));
    check_first_bits(p, (k + 1) << (64 - SAMPLER_GAP_BITS));
    check_first_bits(p, ((k + 1) << (64 - SAMPLER_GAP_BITS)) - 1);
}

/* All levels of a word, for bounds of many levels. */
static void test_kept_from_the_tail(void **state) {
    (void)state;
    pair p;
    pair_make(&p);
    for (unsigned bound_level = 0; bound_level <= EXP_LEVELS; bound_level += bound_level < 9 ? 1
                                                                             : SLOW          ? 101
                                                                                             : 5)
        for (unsigned level = bound_level; level <= EXP_LEVELS; level++)
            check_pair(&p, bound_level, level);
    check_pair(&p, EXP_LEVELS - 1, EXP_LEVELS);
    check_pair(&p, EXP_LEVELS, EXP_LEVELS);
    pair_free(&p);
}

/* A gap is rejected by the first ten bits only if keep_from_tail rejects it with all first bits
 * that begin so, at every level and whatever the remainder; and no gap is passed by. */
static void test_gaps(void **state) {
    (void)state;
    pair p;
    pair_make(&p);
    const uint16_t *gaps = p.tiny.sampler.gaps;
    static const u256 nothing_added = {{0, 0, 0, 0}};
    for (uint64_t k = 0; k < 1 << SAMPLER_GAP_BITS; k++) {
        const uint64_t least = k << (64 - SAMPLER_GAP_BITS);
        const unsigned gap = gaps[k];
        assert_true(gap <= EXP_LEVELS && (k == 0 || gap <= gaps[k - 1]));
        for (unsigned bound_level = 0; bound_level + gap < EXP_LEVELS; bound_level++)
            assert_false(u256_product_less(least, &exp_table[bound_level], &nothing_added,
                                           &exp_table[bound_level + gap + 1]));
        assert_true(gap == 0 || least <= ratio_of(gap) + FIRST_BITS_MARGIN);
    }
    pair_free(&p);
}

/* Checks where each level starts, in the numbers that space_raw gives: one number below the start,
 * and the start. */
static void check_nearer(const sampler *m) {
    const exponent *e = &m->envelopes.exponent;
    const unsigned highest = exponent_level(exponent_at(e, UINT32_MAX));
    for (unsigned level = 1; level <= EXP_LEVELS; level++) {
        const uint64_t below = m->nearer[level];
        const tem_dist last = space_distance_of_raw(m->space, below);
        if (below == UINT64_MAX) { /* nothing is, or nothing that fits */
            assert_true(level > highest || m->space->step_log2 > 16);
            continue;
        }
        const tem_dist next = space_distance_of_raw(m->space, below + 1);
        assert_true(exponent_level(exponent_at(e, last)) < level);
        assert_true(exponent_level(exponent_at(e, next)) >= level);
    }
    assert_true(m->nearer[EXP_LEVELS + 1] == UINT64_MAX);
}

static void test_levels_of_raw_distances(void **state) {
    (void)state;
    static const uint64_t steps[] = {1,
                                     2,
                                     1000,
                                     (1 << 20) - 1,
                                     1 << 20,
                                     (1 << 20) + 1,
                                     12345678,
                                     ((uint64_t)1 << 33) - 1,
                                     (uint64_t)1 << 33,
                                     ((uint64_t)1 << 41) + 1,
                                     (uint64_t)1 << 42};
    for (size_t k = 0; k < METRICS; k++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            for (uint32_t q = SPACE_STEP_LOG2_MIN; q <= SPACE_STEP_LOG2_MAX; q++) {
                tiny t;
                const vocabulary v = moved(&vocabularies[0]);
                tiny_make(&t, &v, metrics[k], 1);
                t.space.step_log2 = q;
                tem_dist gamma = 0;
                assert_int_equal(exponent_gamma_largest(steps[i], &gamma, NULL), TEM_OK);
                for (int g = 0; g < 3; g++) {
                    const tem_dist all[] = {gamma, gamma / 2 + 1, 1};
                    start_sampler(&t, (exponent){steps[i], all[g]}, NULL);
                    check_nearer(&t.sampler);
                    end_sampler(&t);
                }
                tiny_free(&t);
            }
}

/* The same seed with and without the quick rejection. */
static void check_quick_rejection(const vocabulary *v, tem_metric metric, uint64_t seed) {
    enum { DRAWS = 400 };
    tiny t;
    uint32_t values[WORDS_MAX], words[DRAWS], out[2][DRAWS];
    tiny_make(&t, v, metric, 1 + (uint32_t)(random64() % v->count));
    random_weights(values, v->count);
    start_sampler(&t, random_exponent(), random64() % 2 == 0 ? NULL : values);
    for (int i = 0; i < DRAWS; i++)
        words[i] = (uint32_t)(random64() % v->count);
    tem_rng rngs[2];
    for (int i = 0; i < 2; i++) {
        rng_init_seeded(&rngs[i], seed, 0);
        for (size_t k = 0; k < 1 << SAMPLER_GAP_BITS && i == 1; k++)
            t.sampler.gaps[k] = EXP_LEVELS;
        assert_int_equal(sampler_draw(&t.sampler, words, DRAWS, &rngs[i], out[i], NULL), TEM_OK);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_true(rng_word(&rngs[0]) == rng_word(&rngs[1]));
    end_sampler(&t);
    tiny_free(&t);
}

static void test_quick_rejection(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < (SLOW ? 20 : 1000); seed++)
        for (size_t k = 0; k < METRICS; k++) {
            const vocabulary any = random_vocabulary(WORDS_MAX), v = moved(&any);
            check_quick_rejection(&v, metrics[k], seed);
        }
}

/* -------------------------------------------------------- single branches -- */

/* Twenty words on a line, two in a range, w = 0 with the list {0, 1, 2}: the first range has
 * no component, word 2 is in the list and 3, the other one of its range, is not. */
enum { SCENE_WORDS = 20, SCENE_LIST = 3 };

typedef struct scene {
    tiny tiny;
    survey survey;
    uint64_t tape[2 * PATH_WORDS];
    size_t words;
} scene;

static void scene_make(scene *s, const uint32_t *output_weights) {
    vocabulary v = {.count = SCENE_WORDS};
    for (uint32_t id = 0; id < SCENE_WORDS; id++)
        v.at[id][0] = (int16_t)(id * 101);
    tiny_make(&s->tiny, &v, TEM_EUCLIDEAN, SCENE_LIST);
    start_sampler(&s->tiny, exponent_make(3.3, 10), output_weights);
    keep_no_ends(&s->tiny);
    survey_start(&s->survey, &s->tiny.sampler, 0);
    s->words = 0;
}

static void scene_free(scene *s) {
    survey_end(&s->survey);
    end_sampler(&s->tiny);
    tiny_free(&s->tiny);
}

static void put_word(scene *s, uint64_t word) {
    s->tape[s->words++] = word;
}

/* Puts a draw of rng_below on the tape. */
static void put_below(scene *s, uint64_t value, uint64_t bound) {
    const below_words w = below_words_of(value, bound);
    put_word(s, random64() % 2 == 0 ? w.first : w.last);
}

/* The first or the last number of a component. */
static void put_component(scene *s, uint32_t component, bool last) {
    mpz_t low, high;
    mpz_inits(low, high, NULL);
    assert_true(set_interval(&s->survey, component, low, high));
    mpz_sub_ui(high, high, 1);
    s->words += put_number(s->tape + s->words, last ? high : low, s->survey.total, 0);
    mpz_clears(low, high, NULL);
}

static unsigned scene_level(const scene *s, uint32_t id) {
    return level_of(&s->survey, space_distance(&s->tiny.space, 0, id));
}

/* A word of a range, and the number that just keeps it, or just does not. */
static void put_candidate(scene *s, uint32_t id, bool kept) {
    const unsigned at_bound = level_of(&s->survey, s->survey.bounds[id / 2]);
    put_below(s, id % 2, 2);
    if (scene_level(s, id) == at_bound) {
        assert_true(kept);
        put_word(s, UINT64_MAX);
        return;
    }
    mpz_t number, whole;
    mpz_inits(number, whole, NULL);
    mpz_set_level(whole, at_bound);
    mpz_set_level(number, scene_level(s, id));
    mpz_mul_2exp(number, number, 64);
    mpz_sub_ui(number, number, kept);
    s->words += put_number(s->tape + s->words, number, whole, 0);
    mpz_clears(number, whole, NULL);
}

/* Puts step k of exp(-r): a value below r continues. */
static void put_step(scene *s, uint64_t value, uint64_t k) {
    put_below(s, value, k << 36);
}

/* exp(-r) accepts at once. */
static void put_accepted(scene *s) {
    put_word(s, UINT64_MAX);
}

/* The tape gives `expected` and is then used up. */
static void expect(scene *s, uint32_t expected) {
    const uint32_t word = 0;
    tem_rng rng = on_tape(s->tape, s->words);
    uint32_t out = 77;
    assert_int_equal(sampler_draw(&s->tiny.sampler, &word, 1, &rng, &out, NULL), TEM_OK);
    assert_int_equal(out, expected);
    assert_true(rng.tape_used == s->words);
    s->words = 0;
}

static void test_list_entries(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    for (uint32_t i = 0; i < SCENE_LIST; i++)
        for (int last = 0; last < 2; last++) {
            put_component(&s, NEIGHBOUR_RANGES + i, last == 1);
            if (i > 0) /* at distance 0 there is nothing left to draw */
                put_accepted(&s);
            expect(&s, i);
        }
    scene_free(&s);
}

static void test_tail(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    for (uint32_t id = SCENE_LIST; id < SCENE_WORDS; id++)
        for (int last = 0; last < 2; last++) {
            put_component(&s, id / 2, last == 1);
            put_candidate(&s, id, true);
            put_accepted(&s);
            expect(&s, id);
        }
    scene_free(&s);
}

/* After any rejection the whole round starts again: a word outside the list may follow a rejected
 * entry of the list, and the reverse. */
static void test_rejections_restart(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    const uint64_t fraction = fraction_of(&s.survey, space_distance(&s.tiny.space, 0, 1));
    assert_true(fraction > 0);
    put_component(&s, 7, false); /* the tail, not kept */
    put_candidate(&s, 15, false);
    put_component(&s, NEIGHBOUR_RANGES + 1,
                  true); /* the list, exp(-r) rejects at the second step */
    put_step(&s, fraction - 1, 1);
    put_step(&s, fraction, 2);
    put_component(&s, 1, false); /* a word of the list, drawn from its range */
    put_below(&s, 0, 2);
    put_word(&s, 0);
    put_component(&s, 1, true); /* the tail again, kept, exp(-r) rejects */
    put_candidate(&s, 3, true);
    put_step(&s, 0, 1);
    put_word(&s, UINT64_MAX);
    put_component(&s, 9, true); /* the tail, too far by its first ten bits */
    put_below(&s, 1, 2);
    put_word(&s, UINT64_MAX);
    put_component(&s, NEIGHBOUR_RANGES + 1, false); /* the list, accepted at the third step */
    put_step(&s, 0, 1);
    put_step(&s, 0, 2);
    put_step(&s, fraction, 3);
    expect(&s, 1);
    scene_free(&s);
}

/* No number of rounds is too many: after any number of rejections the next round is like the
 * first. */
static void test_many_rounds(void **state) {
    (void)state;
    enum { ROUNDS = 10000 };
    const uint32_t word = 0;
    scene s;
    scene_make(&s, NULL);
    put_component(&s, 1, false); /* word 2, of the list, from its range */
    put_below(&s, 0, 2);
    put_word(&s, 0);
    const size_t round = s.words;
    uint64_t *tape = malloc((ROUNDS * round + PATH_WORDS) * sizeof *tape);
    assert_non_null(tape);
    for (size_t i = 0; i < ROUNDS; i++)
        memcpy(tape + i * round, s.tape, round * sizeof *tape);
    s.words = 0;
    put_component(&s, 5, false);
    put_candidate(&s, 10, true);
    put_accepted(&s);
    assert_true(s.words <= PATH_WORDS);
    memcpy(tape + ROUNDS * round, s.tape, s.words * sizeof *tape);
    tem_rng rng = on_tape(tape, ROUNDS * round + s.words);
    uint32_t out = 77;
    assert_int_equal(sampler_draw(&s.tiny.sampler, &word, 1, &rng, &out, NULL), TEM_OK);
    assert_true(out == 10 && rng.tape_used == ROUNDS * round + s.words);
    free(tape);
    scene_free(&s);
}

static void test_rest_decides(void **state) {
    (void)state;
    const uint64_t fraction = 1000;
    for (uint64_t steps = 1; steps <= 5; steps++) {
        uint64_t tape[5];
        for (uint64_t k = 1; k <= steps; k++)
            tape[k - 1] =
                k < steps ? below_words_of(999, k << 36).last : below_words_of(1000, k << 36).first;
        tem_rng rng = on_tape(tape, steps);
        assert_true(sampler_bernoulli_exp(fraction, &rng) == (steps % 2 == 1));
        assert_true(rng.tape_used == steps);
    }
}

static void expect_unknown(const sampler *m, const uint64_t *tape, uint64_t words,
                           uint32_t expected) {
    const uint32_t word = TEM_NO_WORD;
    tem_rng rng = on_tape(tape, words);
    uint32_t out = 77;
    assert_int_equal(sampler_draw(m, &word, 1, &rng, &out, NULL), TEM_OK);
    assert_int_equal(out, expected);
    assert_true(rng.tape_used == words);
}

/* Word 4 outweighs the other one of its range. */
static const uint32_t scene_weights[SCENE_WORDS] = {1, 1, 3, 1, 9, 1, 1, 1, 0, 0,
                                                    1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

/* Only the weights count: a_y / A. */
static void test_unknown_word(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    for (uint32_t id = 0; id < SCENE_WORDS; id++) {
        const below_words w = below_words_of(id, SCENE_WORDS);
        expect_unknown(&s.tiny.sampler, &w.first, 1, id);
        expect_unknown(&s.tiny.sampler, &w.last, 1, id);
    }
    scene_free(&s);
    scene_make(&s, scene_weights);
    const weights *w = &s.tiny.sampler.envelopes.weights;
    uint64_t before = 0; /* the weight of the ranges before */
    for (uint32_t c = 0; c < SCENE_WORDS; c++) {
        const uint64_t sum = range_weight(&s.survey, c / 2), own = w->columns[c].own;
        const uint64_t first = below_words_of(before, w->sum).first;
        const uint64_t last = below_words_of(before + sum - 1, w->sum).last;
        const uint64_t column = below_words_of(c % 2, 2).last;
        if (own > 0)
            expect_unknown(&s.tiny.sampler,
                           (uint64_t[]){first, column, below_words_of(own - 1, sum).last}, 3, c);
        if (own < sum)
            expect_unknown(&s.tiny.sampler,
                           (uint64_t[]){last, column, below_words_of(own, sum).first}, 3,
                           w->columns[c].alias);
        before += c % 2 == 1 ? sum : 0;
    }
    assert_true(before == w->sum);
    scene_free(&s);
}

static void expect_damaged(scene *s) {
    const uint32_t word = 0;
    tem_rng rng = on_tape(s->tape, s->words);
    uint32_t out = 77;
    tem_error error = {0};
    assert_int_equal(sampler_draw(&s->tiny.sampler, &word, 1, &rng, &out, &error), TEM_ERR_DAMAGED);
    assert_int_equal(error.status, TEM_ERR_DAMAGED);
    assert_int_equal(out, 77);
    assert_true(rng.tape_used == s->words);
    s->words = 0;
}

/* A bound beyond a word that is not in the list, in any range: the model is broken, nothing
 * comes out. Its other word, at the bound or beyond, is drawn as ever. */
static void test_broken_model(void **state) {
    (void)state;
    for (uint32_t range = 1; range < SCENE_WORDS / 2; range++) {
        const uint32_t nearer = range == 1 ? 3 : 2 * range;
        scene s;
        scene_make(&s, NULL);
        assert_true(s.tiny.bounds[range] == space_distance(&s.tiny.space, 0, nearer));
        s.tiny.bounds[range]++;
        put_component(&s, range, false);
        put_below(&s, nearer % 2, 2);
        put_word(&s, UINT64_MAX);
        expect_damaged(&s);
        s.tiny.bounds[range]--;
        put_component(&s, range, false);
        put_candidate(&s, nearer, true);
        put_accepted(&s);
        expect(&s, nearer);
        scene_free(&s);
    }
}

/* A list that weighs more than its range, since it names a word again and again; or one that
 * misses a word of a range without a bound. */
static void test_broken_list(void **state) {
    (void)state;
    enum { ENTRIES = 5 };
    uint64_t starts[SCENE_WORDS + 1] = {0};
    for (uint32_t id = 0; id < SCENE_WORDS; id++)
        starts[id + 1] = ENTRIES;
    for (uint32_t id = 0; id < SCENE_WORDS; id++) {
        const tem_neighbour again[ENTRIES] = {{0, 0}, {1, 1}, {id, 5}, {id, 6}, {id, 7}};
        scene s;
        scene_make(&s, NULL);
        s.tiny.index.starts = starts;
        s.tiny.index.entries = again;
        s.tiny.index.entry_count = ENTRIES;
        put_word(&s, 0); /* the first bits are all that is drawn */
        expect_damaged(&s);
        s.tiny.index = s.tiny.built;
        s.tiny.index.bounds = s.tiny.bounds;
        if (id / 2 > 0) {
            s.tiny.bounds[id / 2] = UINT32_MAX;
            put_word(&s, 0);
            expect_damaged(&s);
        }
        scene_free(&s);
    }
}

static void test_weights_in_the_tail(void **state) {
    (void)state;
    scene s;
    scene_make(&s, scene_weights);
    const weights *w = &s.tiny.sampler.envelopes.weights;
    assert_true(w->columns[5].own < 10 && w->columns[5].alias == 4);
    put_component(&s, 2, false); /* column 5, its own units */
    put_below(&s, 1, 2);
    put_below(&s, w->columns[5].own - 1, 10);
    put_word(&s, 0);
    put_accepted(&s);
    expect(&s, 5);
    put_component(&s, 2, true); /* column 5, the units of its alias */
    put_below(&s, 1, 2);
    put_below(&s, w->columns[5].own, 10);
    put_word(&s, 0);
    put_accepted(&s);
    expect(&s, 4);
    scene_free(&s);
}

/* Draws that are pending at once make their steps in order: each gets the words of the tape in the
 * order of the steps. Here both have a word of the tail to wait for. */
static void test_draws_at_once(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    const uint32_t words[] = {0, 0, TEM_NO_WORD};
    uint32_t out[] = {77, 77, 77};
    put_component(&s, 1, false); /* the first: word 3 */
    put_below(&s, 1, 2);
    put_word(&s, 0);
    put_component(&s, NEIGHBOUR_RANGES + 1, false); /* the second: word 1, not released */
    put_step(&s, 0, 1);
    put_word(&s, UINT64_MAX);
    put_component(&s, 4, false); /* and then word 8 */
    put_below(&s, 0, 2);
    put_word(&s, 0);
    put_below(&s, 13, SCENE_WORDS); /* the third is finished at once */
    put_accepted(&s);               /* the first again: released */
    put_accepted(&s);               /* the second too */
    tem_rng rng = on_tape(s.tape, s.words);
    assert_int_equal(sampler_draw(&s.tiny.sampler, words, 3, &rng, out, NULL), TEM_OK);
    assert_true(rng.tape_used == s.words);
    assert_true(out[0] == 3 && out[1] == 8 && out[2] == 13);
    scene_free(&s);
}

/* -------------------------------------------------------------- weights -- */

/* Column by column, the units of each word: its weight times the words of its range. */
static void check_columns(const weights *w, const uint32_t *values, uint32_t count) {
    const uint32_t size = (count + 15) / 16;
    uint64_t units[256] = {0}, sum = 0;
    assert_true(count <= 256);
    for (uint32_t first = 0; first < count; first += size) {
        const uint32_t end = first + size < count ? first + size : count;
        uint64_t range = 0;
        for (uint32_t i = first; i < end; i++)
            range += values[i];
        assert_true(w->range_sums[first / size] == range);
        for (uint32_t c = first; c < end; c++) {
            const weight_column *column = &w->columns[c];
            assert_true(column->own <= range && column->alias >= first && column->alias < end);
            units[c] += column->own;
            units[column->alias] += range - column->own;
        }
        for (uint32_t i = first; i < end; i++)
            assert_true(units[i] == (uint64_t)values[i] * (end - first));
        sum += range;
    }
    for (uint32_t range = (count + size - 1) / size; range < NEIGHBOUR_RANGES; range++)
        assert_true(w->range_sums[range] == 0);
    for (uint32_t i = 0; i < count; i++)
        assert_true(weights_at(w, i) == values[i]);
    assert_true(w->sum == sum && w->count == count);
}

/* What weights_draw_from_range makes of a column: its own word, then the alias. */
static void check_column_draws(const weights *w, uint32_t count) {
    const uint32_t size = (count + 15) / 16;
    for (uint32_t c = 0; c < count; c++)
        for (int side = 0; side < 2; side++) {
            const uint32_t range = c / size, left = count - range * size;
            const uint64_t unit = w->columns[c].own - 1 + (uint64_t)side;
            if (unit >= w->range_sums[range]) /* below 0, or beyond a full column */
                continue;
            const below_words column = below_words_of(c % size, left < size ? left : size);
            const below_words of_unit = below_words_of(unit, w->range_sums[range]);
            const uint64_t tape[] = {side == 0 ? column.first : column.last,
                                     side == 0 ? of_unit.last : of_unit.first};
            tem_rng rng = on_tape(tape, 2);
            assert_int_equal(weights_draw_from_range(w, range, &rng),
                             side == 0 ? c : w->columns[c].alias);
            assert_true(rng.tape_used == 2);
        }
}

static void check_weights(const uint32_t *values, uint32_t count) {
    weights w;
    assert_int_equal(weights_init(&w, values, count, NULL), TEM_OK);
    check_columns(&w, values, count);
    check_column_draws(&w, count);
    weights_free(&w);
}

static void test_columns(void **state) {
    (void)state;
    enum { MOST = 200 };
    uint32_t values[MOST];
    for (uint32_t round = 0; round < 2000; round++) {
        const uint32_t count = 1 + (uint32_t)(random64() % MOST);
        for (uint32_t i = 0; i < count; i++) {
            values[i] = (uint32_t)(random64() >> (32 + random64() % 32));
            if (round % 4 == 1 && random64() % 3 != 0)
                values[i] = 0;
            if (round % 4 == 2)
                values[i] = random64() % 2 == 0 ? UINT32_MAX : 1;
            if (round % 4 == 3)
                values[i] = 0;
        }
        values[random64() % count] = round % 8 == 3 ? 2 : UINT32_MAX;
        check_weights(values, count);
    }
    for (uint32_t i = 0; i < MOST; i++)
        values[i] = UINT32_MAX;
    check_weights(values, MOST);
}

/* Equal weights: the words of a range, and none of them stored. */
static void test_equal_weights(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= 70; count++) {
        weights w;
        assert_int_equal(weights_init(&w, NULL, count, NULL), TEM_OK);
        const uint32_t size = (count + 15) / 16;
        uint64_t sum = 0;
        for (uint32_t range = 0; range < NEIGHBOUR_RANGES; range++)
            sum += w.range_sums[range];
        assert_true(w.sum == count && sum == count && w.columns == NULL);
        for (uint32_t id = 0; id < count; id++) {
            const below_words words = below_words_of(id % size, w.range_sums[id / size]);
            const uint64_t tape[] = {words.first, words.last};
            tem_rng rng = on_tape(tape, 2);
            assert_int_equal(weights_draw_from_range(&w, id / size, &rng), id);
            assert_int_equal(weights_draw_from_range(&w, id / size, &rng), id);
        }
        weights_free(&w);
    }
}

/* Weights of 0 and 1, no more zeros than ones: a draw of a word of weight 0 is repeated, and no
 * column is stored. Each range of `size` words has `zeros` of weight 0, the first ones. */
static void check_repeated_draws(uint32_t count, uint32_t size, uint32_t zeros) {
    uint32_t values[200];
    weights w;
    for (uint32_t id = 0; id < count; id++)
        values[id] = id % size >= zeros || count - id / size * size < size;
    assert_int_equal(weights_init(&w, values, count, NULL), TEM_OK);
    assert_true(w.columns == NULL && w.zeros != NULL);
    for (uint32_t id = 0; id < count; id++) {
        const uint32_t range = id / size, left = count - range * size;
        const uint32_t words = left < size ? left : size;
        const below_words zero = below_words_of(0, words), own = below_words_of(id % size, words);
        const uint64_t tape[] = {zero.last, zero.first, own.first};
        const uint32_t skipped = values[range * size] == 0 ? 0 : 2;
        tem_rng rng = on_tape(tape + skipped, 3 - skipped);
        if (values[id] == 0)
            continue;
        assert_int_equal(weights_draw_from_range(&w, range, &rng), id);
        assert_true(rng.tape_used == 3 - skipped);
    }
    weights_free(&w);
}

static void test_repeated_draws(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= 200; count++) {
        const uint32_t size = (count + 15) / 16;
        for (uint32_t zeros = 0; 2 * zeros <= size; zeros++)
            check_repeated_draws(count, size, zeros);
    }
}

/* One range of more zeros than ones, and tem stores columns. */
static void test_many_zeros(void **state) {
    (void)state;
    uint32_t values[64];
    for (uint32_t id = 0; id < 64; id++)
        values[id] = id / 4 != 5 || id % 4 == 3;
    check_weights(values, 64);
}

static void test_no_weight_at_all(void **state) {
    (void)state;
    static const uint32_t zeros[3] = {0};
    weights w;
    tem_error error = {0};
    assert_int_equal(weights_init(&w, zeros, 3, &error), TEM_ERR_RANGE);
    assert_int_equal(error.status, TEM_ERR_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bernoulli),
        cmocka_unit_test(test_law_of_the_sampler),
        cmocka_unit_test(test_law_of_random_models),
        cmocka_unit_test(test_planted_splits),
        cmocka_unit_test(test_first_bits),
        cmocka_unit_test(test_ends_of_other_threads),
        cmocka_unit_test(test_kept_from_the_tail),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_levels_of_raw_distances),
        cmocka_unit_test(test_quick_rejection),
        cmocka_unit_test(test_list_entries),
        cmocka_unit_test(test_tail),
        cmocka_unit_test(test_rejections_restart),
        cmocka_unit_test(test_many_rounds),
        cmocka_unit_test(test_rest_decides),
        cmocka_unit_test(test_unknown_word),
        cmocka_unit_test(test_broken_model),
        cmocka_unit_test(test_broken_list),
        cmocka_unit_test(test_weights_in_the_tail),
        cmocka_unit_test(test_draws_at_once),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_equal_weights),
        cmocka_unit_test(test_repeated_draws),
        cmocka_unit_test(test_many_zeros),
        cmocka_unit_test(test_no_weight_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
