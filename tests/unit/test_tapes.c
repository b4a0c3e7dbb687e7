/* test_tapes.c - the sampler driven from tapes, so that its law is measured, not estimated.
 *
 * The words that one round of the sampler may draw are cut into strata: each draw into the
 * intervals between the values where, by sampler.h, something changes. A stratum is run
 * at its lowest and highest corner and at a point inside; the sampler itself says what
 * becomes of it, by the word it releases and by how much tape it used. The sizes of the
 * strata are exact rationals, and so is the law they add up to. All that stays open is
 * the mass of the strata in which exp(-r) is undecided after DEPTH steps, below 2^-36.
 * Then tapes for single branches, and the alias table. */
#include "mech/law.h"
#include "pseudo.h"

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
    fail_msg("the sampler wants more words than the stratum has");
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
enum { PATH_WORDS = 64, DEPTH = 8 };

/* A stratum: the same draws in each corner, and the probability of it. */
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

/* How a draw is laid out on the tape: limbs, and the bits of the first one that count. */
typedef struct layout {
    size_t limbs;
    unsigned top_bits;
} layout;

/* rng_below256 takes the limbs and bits of the bound, rng_below the bits of bound - 1. */
static layout layout_of(const mpz_t bound, bool wide) {
    mpz_t last;
    mpz_init_set(last, bound);
    if (!wide)
        mpz_sub_ui(last, last, 1);
    const size_t bits = mpz_sgn(last) == 0 ? 0 : mpz_sizeinbase(last, 2);
    mpz_clear(last);
    const size_t limbs = bits == 0 ? 1 : (bits + 63) / 64;
    return (layout){limbs, (unsigned)(bits - 64 * (limbs - 1))};
}

/* Most significant limb first; `junk` fills the bits that do not count. */
static void put(uint64_t *tape, const mpz_t value, layout l, uint64_t junk) {
    memset(tape, 0, l.limbs * sizeof *tape);
    uint64_t limbs[4] = {0};
    assert_true(mpz_sizeinbase(value, 2) <= 256);
    mpz_export(limbs, NULL, -1, sizeof *limbs, 0, 0, value);
    for (size_t i = 0; i < l.limbs; i++)
        tape[i] = limbs[l.limbs - 1 - i];
    if (l.top_bits < 64)
        tape[0] |= junk << l.top_bits;
}

/* A random number of [low, high). */
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

/* Extends a path by a draw below `bound` that falls into [low, high), not empty. */
static void extend(path *p, const mpz_t low, const mpz_t high, const mpz_t bound, bool wide) {
    const layout l = layout_of(bound, wide);
    assert_true(p->words + l.limbs <= PATH_WORDS);
    mpz_t value;
    mpq_t share;
    mpz_init(value);
    mpq_init(share);
    put(p->tape[LOW] + p->words, low, l, 0);
    mpz_sub_ui(value, high, 1);
    put(p->tape[HIGH] + p->words, value, l, UINT64_MAX);
    between(value, low, high);
    put(p->tape[INNER] + p->words, value, l, random64());
    p->words += l.limbs;
    mpz_sub(mpq_numref(share), high, low);
    mpz_set(mpq_denref(share), bound);
    mpq_canonicalize(share);
    mpq_mul(p->mass, p->mass, share);
    mpq_clear(share);
    mpz_clear(value);
}

/* The same for numbers of 64 bits, drawn by rng_below. */
static void extend64(path *p, uint64_t low, uint64_t high, uint64_t bound) {
    mpz_t l, h, b;
    mpz_inits(l, h, b, NULL);
    mpz_set_u64(l, low);
    mpz_set_u64(h, high);
    mpz_set_u64(b, bound);
    extend(p, l, h, b, false);
    mpz_clears(l, h, b, NULL);
}

/* ----------------------------------------------------- Bernoulli exp(-r) -- */

/* The sampler's answer to a stratum, which must be the same in all corners. */
static bool bernoulli_answer(const path *p, uint64_t rest) {
    bool answers[CORNERS];
    for (int c = 0; c < CORNERS; c++) {
        tem_rng rng = on_tape(p->tape[c], p->words);
        answers[c] = sampler_bernoulli_exp(rest, &rng);
        assert_true(rng.tape_used == p->words);
    }
    assert_true(answers[LOW] == answers[HIGH] && answers[LOW] == answers[INNER]);
    return answers[LOW];
}

/* accepted <= exp(-rest/2^36) <= accepted + open */
static void check_bernoulli_bracket(uint64_t rest, mpq_t accepted, mpq_t open) {
    mpfr_t exact;
    mpfr_init2(exact, 1000); /* rest = 1 leaves less than 2^-450 open */
    mpfr_set_uj_2exp(exact, rest, -36, MPFR_RNDN);
    mpfr_neg(exact, exact, MPFR_RNDN);
    mpfr_exp(exact, exact, MPFR_RNDN);
    assert_true(mpfr_cmp_q(exact, accepted) >= 0);
    mpq_add(accepted, accepted, open);
    assert_true(mpfr_cmp_q(exact, accepted) <= 0);
    assert_true(mpq_get_d(open) < 0x1p-28);
    mpfr_clear(exact);
}

static void check_bernoulli(uint64_t rest) {
    enum { STEPS = 12 }; /* 1/12! < 2^-28: enough for rest = 1 */
    mpq_t accepted, all;
    mpq_inits(accepted, all, NULL);
    path open;
    path_start(&open);
    for (uint64_t k = 1; k <= STEPS && mpq_sgn(open.mass) > 0; k++) {
        if (rest < k << 36) {
            path p;
            path_copy(&p, &open);
            extend64(&p, rest, k << 36, k << 36);
            if (bernoulli_answer(&p, rest))
                mpq_add(accepted, accepted, p.mass);
            mpq_add(all, all, p.mass);
            path_end(&p);
        }
        if (rest == 0)
            mpq_set_ui(open.mass, 0, 1);
        else
            extend64(&open, 0, rest, k << 36);
    }
    mpq_add(all, all, open.mass);
    assert_int_equal(mpq_cmp_ui(all, 1, 1), 0);
    check_bernoulli_bracket(rest, accepted, open.mass);
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

enum { WORDS_MAX = 5 };

/* Words in two dimensions, in steps of 2^-10. */
typedef struct vocabulary {
    uint32_t count;
    int16_t at[WORDS_MAX][2];
} vocabulary;

typedef struct tiny {
    space space;
    int16_t *rows;
    neighbour_index index;
    tem_dist bounds[WORDS_MAX]; /* the index's; a test may lower or raise them */
    sampler sampler;
} tiny;

static void tiny_make(tiny *t, const vocabulary *v, uint32_t length) {
    const uint32_t count = v->count;
    *t = (tiny){.space = {.metric = TEM_EUCLIDEAN,
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
    const tem_run alone = {.threads = 1};
    assert_int_equal(neighbours_build(&t->space, length, &alone, &t->index, NULL), TEM_OK);
    memcpy(t->bounds, t->index.bounds, count * sizeof *t->bounds);
    t->sampler.space = &t->space;
    t->sampler.index = &t->index;
}

static void tiny_free(tiny *t) {
    neighbours_free(&t->index);
    free(t->rows);
}

/* The sampler with another bound for every word outside the list. */
static void use_bounds(tiny *t, neighbour_index *index) {
    *index = t->index;
    index->bounds = t->bounds;
    t->sampler.index = index;
}

static void set_exponent(tiny *t, double epsilon, double gamma) {
    exponent *e = &t->sampler.exponent;
    assert_int_equal(exponent_s(epsilon, &e->s, NULL), TEM_OK);
    assert_int_equal(exponent_gamma_given(gamma, e->s, &e->gamma, NULL), TEM_OK);
}

/* -------------------------------------------------------------- surveys -- */

/* What became of the strata that went to the list, or to the words outside it. */
typedef struct part {
    mpq_t released[WORDS_MAX];
    mpq_t restarted;
    mpq_t open; /* deeper than DEPTH */
} part;

typedef struct survey {
    const sampler *m;
    uint32_t word;
    tem_neighbours near;
    mpz_t list, total; /* S, S + T */
    unsigned tail_level;
    part parts[2]; /* list, tail */
    mpq_t redrawn; /* of the tail: a word of the list came up */

    /* What is put behind a stratum: draws that end a round that begins anew, or that
     * finds another word outside the list, with a word known in advance. */
    path new_round, new_word;
    uint32_t new_round_out, new_word_out;
} survey;

enum { LIST, TAIL };

static uint64_t exponent_of(const survey *v, tem_dist d) {
    const exponent *e = &v->m->exponent;
    return e->s * (d < e->gamma ? d : e->gamma);
}

static unsigned level_of(const survey *v, tem_dist d) {
    return (unsigned)(exponent_of(v, d) >> 33);
}

static uint64_t rest_of(const survey *v, tem_dist d) {
    return exponent_of(v, d) & (((uint64_t)1 << 33) - 1);
}

static uint32_t weight_of(const survey *v, uint32_t id) {
    return v->m->weights.values == NULL ? 1 : v->m->weights.values[id];
}

static bool in_list(const survey *v, uint32_t id) {
    for (uint32_t i = 0; i < v->near.count; i++)
        if (v->near.list[i].id == id)
            return true;
    return false;
}

static uint64_t weight_outside(const survey *v) {
    uint64_t sum = 0;
    for (uint32_t id = 0; id < v->m->weights.count; id++)
        sum += in_list(v, id) ? 0 : weight_of(v, id);
    return sum;
}

/* S and S + T as the description has them. */
static void survey_totals(survey *v) {
    mpz_t e;
    mpz_inits(e, v->list, v->total, NULL);
    for (uint32_t i = 0; i < v->near.count; i++) {
        mpz_set_level(e, level_of(v, v->near.list[i].distance));
        mpz_addmul_ui(v->list, e, weight_of(v, v->near.list[i].id));
    }
    v->tail_level = level_of(v, v->near.bound);
    mpz_set_level(e, v->tail_level);
    mpz_set(v->total, v->list);
    mpz_addmul_ui(v->total, e, weight_outside(v));
    mpz_clear(e);
}

/* Calls visit for each way to draw a word by the weights: column c, and its own or its
 * alias's units. */
typedef void visit_word(survey *v, const path *p, uint32_t id);

static void each_column(survey *v, const path *from, visit_word *visit) {
    const weights *w = &v->m->weights;
    for (uint32_t c = 0; c < w->count; c++) {
        path p, q;
        path_copy(&p, from);
        extend64(&p, c, (uint64_t)c + 1, w->count);
        if (w->values == NULL) {
            visit(v, &p, c);
            path_end(&p);
            continue;
        }
        path_copy(&q, &p);
        if (w->thresholds[c] > 0) {
            extend64(&p, 0, w->thresholds[c], w->sum);
            visit(v, &p, c);
        }
        if (w->thresholds[c] < w->sum) {
            extend64(&q, w->thresholds[c], w->sum, w->sum);
            visit(v, &q, w->aliases[c]);
        }
        path_end(&p);
        path_end(&q);
    }
}

static void extend_accepted(survey *v, path *p, uint32_t id) {
    const uint64_t rest = rest_of(v, space_distance(v->m->space, v->word, id));
    extend64(p, rest, (uint64_t)1 << 36, (uint64_t)1 << 36);
}

/* V below E_level, or from there up to E of the tail. */
static void extend_kept(survey *v, path *p, unsigned level, bool kept) {
    mpz_t low, high, bound;
    mpz_inits(low, high, bound, NULL);
    mpz_set_level(bound, v->tail_level);
    mpz_set_level(kept ? high : low, level);
    if (!kept)
        mpz_set(high, bound);
    extend(p, low, high, bound, true);
    mpz_clears(low, high, bound, NULL);
}

static void take_new_word(survey *v, const path *p, uint32_t id) {
    if (in_list(v, id) || v->new_word.words > 0)
        return;
    path_end(&v->new_word);
    path_copy(&v->new_word, p);
    extend_kept(v, &v->new_word, level_of(v, space_distance(v->m->space, v->word, id)), true);
    extend_accepted(v, &v->new_word, id);
    v->new_word_out = id;
}

/* The known endings: the first entry of the list that can be drawn, else a word outside. */
static void survey_endings(survey *v) {
    path start;
    path_start(&start);
    path_start(&v->new_word);
    path_start(&v->new_round);
    each_column(v, &start, take_new_word);
    mpz_t zero, e;
    mpz_inits(zero, e, NULL);
    for (uint32_t i = 0; i < v->near.count && v->new_round.words == 0; i++) {
        const uint32_t id = v->near.list[i].id;
        if (weight_of(v, id) == 0)
            continue;
        mpz_set_level(e, level_of(v, v->near.list[i].distance));
        mpz_mul_ui(e, e, weight_of(v, id));
        extend(&v->new_round, zero, e, v->total, true);
        extend_accepted(v, &v->new_round, id);
        v->new_round_out = id;
    }
    if (v->new_round.words == 0) {
        extend(&v->new_round, v->list, v->total, v->total, true);
        for (int c = 0; c < CORNERS; c++)
            memcpy(v->new_round.tape[c] + v->new_round.words, v->new_word.tape[c],
                   v->new_word.words * sizeof(uint64_t));
        v->new_round.words += v->new_word.words;
        v->new_round_out = v->new_word_out;
    }
    mpz_clears(zero, e, NULL);
    path_end(&start);
}

static void survey_start(survey *v, const sampler *m, uint32_t word) {
    *v = (survey){.m = m, .word = word};
    assert_int_equal(neighbours_get(m->index, word, &v->near, NULL), TEM_OK);
    for (int i = 0; i < 2; i++) {
        mpq_inits(v->parts[i].restarted, v->parts[i].open, NULL);
        for (int y = 0; y < WORDS_MAX; y++)
            mpq_init(v->parts[i].released[y]);
    }
    mpq_init(v->redrawn);
    survey_totals(v);
    survey_endings(v);
}

static void survey_end(survey *v) {
    for (int i = 0; i < 2; i++) {
        mpq_clears(v->parts[i].restarted, v->parts[i].open, NULL);
        for (int y = 0; y < WORDS_MAX; y++)
            mpq_clear(v->parts[i].released[y]);
    }
    mpq_clear(v->redrawn);
    mpz_clears(v->list, v->total, NULL);
    path_end(&v->new_round);
    path_end(&v->new_word);
}

/* Runs a stratum with a known ending behind it. Returns the word that was released, or
 * TEM_NO_WORD if the sampler went on into the ending and through it. */
static uint32_t run_stratum(const survey *v, const path *p, const path *ending,
                            uint32_t ending_out) {
    uint32_t results[CORNERS];
    for (int c = 0; c < CORNERS; c++) {
        uint64_t tape[2 * PATH_WORDS];
        memcpy(tape, p->tape[c], p->words * sizeof *tape);
        memcpy(tape + p->words, ending->tape[c], ending->words * sizeof *tape);
        tem_rng rng = on_tape(tape, p->words + ending->words);
        uint32_t out = TEM_NO_WORD;
        assert_int_equal(sampler_draw(v->m, v->word, &rng, &out, NULL), TEM_OK);
        results[c] = out;
        if (rng.tape_used == p->words)
            continue;
        assert_true(rng.tape_used == p->words + ending->words && out == ending_out);
        results[c] = TEM_NO_WORD;
    }
    assert_true(results[LOW] == results[HIGH] && results[LOW] == results[INNER]);
    return results[LOW];
}

static void count_stratum(survey *v, const path *p, int part_of) {
    const uint32_t out = run_stratum(v, p, &v->new_round, v->new_round_out);
    part *t = &v->parts[part_of];
    assert_true(out == TEM_NO_WORD || out < v->m->weights.count);
    mpq_ptr sum = out == TEM_NO_WORD ? t->restarted : t->released[out];
    mpq_add(sum, sum, p->mass);
}

/* All that may follow once a word with this rest is chosen. */
static void survey_rest(survey *v, const path *from, uint64_t rest, int part_of) {
    path open;
    path_copy(&open, from);
    for (uint64_t k = 1; k <= DEPTH; k++) {
        path p;
        path_copy(&p, &open);
        extend64(&p, rest, k << 36, k << 36);
        count_stratum(v, &p, part_of);
        path_end(&p);
        if (rest == 0) {
            path_end(&open);
            return;
        }
        extend64(&open, 0, rest, k << 36);
    }
    mpq_add(v->parts[part_of].open, v->parts[part_of].open, open.mass);
    path_end(&open);
}

static void survey_list(survey *v) {
    mpz_t low, high, e;
    mpz_inits(low, high, e, NULL);
    for (uint32_t i = 0; i < v->near.count; i++) {
        const tem_neighbour *entry = &v->near.list[i];
        if (weight_of(v, entry->id) == 0)
            continue;
        mpz_set_level(e, level_of(v, entry->distance));
        mpz_set(low, high);
        mpz_addmul_ui(high, e, weight_of(v, entry->id));
        path p;
        path_start(&p);
        extend(&p, low, high, v->total, true);
        survey_rest(v, &p, rest_of(v, entry->distance), LIST);
        path_end(&p);
    }
    mpz_clears(low, high, e, NULL);
}

static void survey_outside(survey *v, const path *from, uint32_t id) {
    if (in_list(v, id)) {
        assert_true(run_stratum(v, from, &v->new_word, v->new_word_out) == TEM_NO_WORD);
        mpq_add(v->redrawn, v->redrawn, from->mass);
        return;
    }
    const tem_dist d = space_distance(v->m->space, v->word, id);
    path p;
    path_copy(&p, from);
    extend_kept(v, &p, level_of(v, d), true);
    survey_rest(v, &p, rest_of(v, d), TAIL);
    path_end(&p);
    if (level_of(v, d) == v->tail_level)
        return;
    path_copy(&p, from);
    extend_kept(v, &p, level_of(v, d), false);
    count_stratum(v, &p, TAIL);
    path_end(&p);
}

static void survey_tail(survey *v) {
    if (mpz_cmp(v->list, v->total) == 0)
        return;
    path p;
    path_start(&p);
    extend(&p, v->list, v->total, v->total, true);
    each_column(v, &p, survey_outside);
    path_end(&p);
}

/* The strata in which a word of the list came up are as if they had not been: the others
 * of the tail share their mass. */
static void spread_redrawn(survey *v) {
    part *t = &v->parts[TAIL];
    mpq_t factor, rest;
    mpq_inits(factor, rest, NULL);
    mpq_add(rest, t->restarted, t->open);
    for (int y = 0; y < WORDS_MAX; y++)
        mpq_add(rest, rest, t->released[y]);
    if (mpq_sgn(rest) > 0) {
        mpq_add(factor, rest, v->redrawn);
        mpq_div(factor, factor, rest);
        mpq_mul(t->restarted, t->restarted, factor);
        mpq_mul(t->open, t->open, factor);
        for (int y = 0; y < WORDS_MAX; y++)
            mpq_mul(t->released[y], t->released[y], factor);
    }
    mpq_clears(factor, rest, NULL);
}

/* ------------------------------------------------- what a survey adds up to -- */

/* One round releases y with a probability from released[y] to released[y] + open, and
 * what is released has the law of these, normalised. */
typedef struct bracket {
    uint32_t count;
    mpq_t low[WORDS_MAX], high[WORDS_MAX];
} bracket;

static void bracket_end(bracket *b) {
    for (int y = 0; y < WORDS_MAX; y++)
        mpq_clears(b->low[y], b->high[y], NULL);
}

static void bracket_make(bracket *b, survey *v) {
    mpq_t open, released, all;
    mpq_inits(open, released, all, NULL);
    b->count = v->m->weights.count;
    mpq_add(open, v->parts[LIST].open, v->parts[TAIL].open);
    for (int y = 0; y < WORDS_MAX; y++) {
        mpq_inits(b->low[y], b->high[y], NULL);
        mpq_add(b->low[y], v->parts[LIST].released[y], v->parts[TAIL].released[y]);
        mpq_add(b->high[y], b->low[y], open);
        mpq_add(released, released, b->low[y]);
    }
    mpq_add(released, released, open);
    mpq_add(all, released, v->parts[LIST].restarted);
    mpq_add(all, all, v->parts[TAIL].restarted);
    assert_int_equal(mpq_cmp_ui(all, 1, 1), 0); /* no stratum was forgotten */
    for (int y = 0; y < WORDS_MAX; y++) {
        mpq_div(b->low[y], b->low[y], released);
        mpq_div(b->high[y], b->high[y], released);
    }
    mpq_div(open, open, released);
    assert_true(mpq_get_d(open) < 0x1p-36);
    mpq_clears(open, released, all, NULL);
}

static void survey_all(bracket *b, const sampler *m, uint32_t word) {
    survey v;
    survey_start(&v, m, word);
    survey_list(&v);
    survey_tail(&v);
    spread_redrawn(&v);
    bracket_make(b, &v);
    survey_end(&v);
}

/* Whether p, which is off by a relative 2^-190 at most, may lie within the bracket. */
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
    assert_int_equal(law_make(m, word, 60, &law, NULL), TEM_OK);
    for (uint32_t y = 0; y < b.count; y++)
        assert_true(bracket_has(&b, y, law->probabilities[y]));
    law_free(law);
    bracket_end(&b);
}

/* ------------------------------------------------- models for the surveys -- */

/* Two words; all equal; equal ones near and far; a line; a plane. */
static const vocabulary vocabularies[] = {
    {2, {{0, 0}, {700, 0}}},
    {3, {{5, 5}, {5, 5}, {5, 5}}},
    {4, {{0, 0}, {0, 0}, {900, 100}, {900, 100}}},
    {5, {{0, 0}, {1, 0}, {300, 0}, {900, 0}, {2500, 0}}},
    {5, {{0, 0}, {400, 300}, {400, -300}, {-50, 1200}, {400, 300}}},
};

/* s gamma from next to nothing to 64, the tail flat or steep. */
static const struct {
    double epsilon, gamma;
} parameters[] = {{2, 0x1p-16}, {3.3, 0.5}, {3.3, 10}, {40, 3.199}};

static const uint32_t weight_sets[][WORDS_MAX] = {{1, 2, 3, 4, 5},
                                                  {0, 3, 0, 1, 0},
                                                  {7, 0, 0, 0, 0},
                                                  {UINT32_MAX, 1, UINT32_MAX, 1, 0},
                                                  {0, 1, 0, 0, 0}};
enum { WEIGHT_SETS = 1 + sizeof weight_sets / sizeof *weight_sets }; /* equal ones first */

/* With the bound as built, a lower one, and none at all: all are right. */
static void check_bounds(tiny *t) {
    neighbour_index index;
    const uint32_t count = t->space.count;
    for (uint32_t w = 0; w < count; w++)
        check_survey(&t->sampler, w);
    use_bounds(t, &index);
    for (tem_dist divisor = 2; divisor < 20; divisor += 11) {
        for (uint32_t w = 0; w < count; w++)
            t->bounds[w] = divisor == 2 ? t->index.bounds[w] / 2 : 0;
        for (uint32_t w = 0; w < count; w++)
            check_survey(&t->sampler, w);
    }
    t->sampler.index = &t->index;
}

static void check_vocabulary(const vocabulary *v, uint32_t length) {
    tiny t;
    tiny_make(&t, v, length);
    for (size_t p = 0; p < sizeof parameters / sizeof *parameters; p++) {
        set_exponent(&t, parameters[p].epsilon, parameters[p].gamma);
        for (size_t k = 0; k < WEIGHT_SETS; k++) {
            assert_int_equal(weights_init(&t.sampler.weights, k == 0 ? NULL : weight_sets[k - 1],
                                          v->count, NULL),
                             TEM_OK);
            check_bounds(&t);
            weights_free(&t.sampler.weights);
        }
    }
    tiny_free(&t);
}

/* The law of the sampler is the law of law.h, for every length of the lists. */
static void test_law_of_the_sampler(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
        for (uint32_t length = 1; length <= vocabularies[i].count; length++)
            check_vocabulary(&vocabularies[i], length);
}

/* A number of any size up to 16. */
static double random_size(void) {
    const double value = 1 + (double)(random64() % 1000);
    return ldexp(value, -(int)(random64() % 10) - 6);
}

static vocabulary random_vocabulary(void) {
    vocabulary v = {.count = 2 + (uint32_t)(random64() % (WORDS_MAX - 1))};
    for (uint32_t id = 0; id < v.count; id++)
        for (int i = 0; i < 2; i++) {
            const uint64_t reach = random64() % 5 * 100;
            v.at[id][i] = (int16_t)(random64() % (reach + 1));
        }
    return v;
}

static void random_weights(uint32_t *values, uint32_t count) {
    for (uint32_t id = 0; id < count; id++) {
        const unsigned shift = (unsigned)(random64() % 44); /* 0 for a quarter of them */
        values[id] = (uint32_t)(random64() >> 32 >> shift);
    }
    values[random64() % count] = 3;
}

/* Any points, epsilon, gamma, weights, lists and bounds. */
static void check_random_model(void) {
    const vocabulary v = random_vocabulary();
    tiny t;
    tiny_make(&t, &v, 1 + (uint32_t)(random64() % v.count));
    const double epsilon = random_size(), gamma = random_size();
    set_exponent(&t, epsilon, gamma * epsilon < 100 ? gamma : 100 / epsilon);
    uint32_t values[WORDS_MAX];
    random_weights(values, v.count);
    const bool equal = random64() % 3 == 0;
    assert_int_equal(weights_init(&t.sampler.weights, equal ? NULL : values, v.count, NULL),
                     TEM_OK);
    neighbour_index index;
    use_bounds(&t, &index);
    for (uint32_t w = 0; w < v.count; w++) {
        if (random64() % 2 == 0)
            t.bounds[w] = (tem_dist)(random64() % ((uint64_t)t.bounds[w] + 1));
        check_survey(&t.sampler, w);
    }
    weights_free(&t.sampler.weights);
    tiny_free(&t);
}

static void test_law_of_random_models(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++)
        check_random_model();
}

/* ------------------------------------------------------- planted faults -- */

/* The law if the words of the list together had `factor` times their share. */
static bool bracket_has_law(const bracket *b, const tem_law *law, const tem_neighbours *near,
                            double factor) {
    mpfr_t sum, p[WORDS_MAX];
    mpfr_init2(sum, 256);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint32_t y = 0; y < b->count; y++) {
        mpfr_init2(p[y], 256);
        bool listed = false;
        for (uint32_t i = 0; i < near->count; i++)
            listed |= near->list[i].id == y;
        mpfr_mul_d(p[y], law->probabilities[y], listed ? factor : 1, MPFR_RNDN);
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

/* S over what the list has after the draws of exp(-r), and over its real-valued total:
 * the two are one number. */
static double list_excess(const sampler *m, const tem_neighbours *near) {
    double with = 0, without = 0;
    for (uint32_t i = 0; i < near->count; i++) {
        const uint64_t x = exponent_at(&m->exponent, near->list[i].distance);
        const double e = exp(-(double)exponent_level(x) / 8);
        with += e;
        without += e * exp(-ldexp((double)exponent_rest(x), -36));
    }
    return with / without;
}

/* The shortcuts that look right all change the odds of the list against the rest: by
 * (n - K) / n if the tail's total is taken over all words; by n / (n - K) if the tail
 * draws over all words and starts again where it meets the list; by S over the real total
 * if a rejected entry is drawn again within the list; by its inverse if the real total
 * stands in the split. None of these lies within what was measured. */
static void test_planted_splits(void **state) {
    (void)state;
    const vocabulary *v = &vocabularies[4];
    for (uint32_t length = 2; length < v->count; length++) {
        tiny t;
        tiny_make(&t, v, length);
        set_exponent(&t, 3.3, 10);
        assert_int_equal(weights_init(&t.sampler.weights, NULL, v->count, NULL), TEM_OK);
        bracket b;
        tem_law *law = NULL;
        tem_neighbours near;
        survey_all(&b, &t.sampler, 0);
        assert_int_equal(law_make(&t.sampler, 0, 60, &law, NULL), TEM_OK);
        assert_int_equal(neighbours_get(&t.index, 0, &near, NULL), TEM_OK);
        const double outside = (double)(v->count - length) / v->count;
        const double excess = list_excess(&t.sampler, &near);
        assert_true(excess > 1.001);
        assert_true(bracket_has_law(&b, law, &near, 1));
        assert_false(bracket_has_law(&b, law, &near, outside));
        assert_false(bracket_has_law(&b, law, &near, 1 / outside));
        assert_false(bracket_has_law(&b, law, &near, excess));
        assert_false(bracket_has_law(&b, law, &near, 1 / excess));
        law_free(law);
        bracket_end(&b);
        tiny_free(&t);
    }
}

/* -------------------------------------------------------- single branches -- */

/* Four words on a line, w = 0 with the list {0, 1}; 2 and 3 are outside. */
typedef struct scene {
    tiny tiny;
    survey survey;
    uint64_t tape[PATH_WORDS];
    size_t words;
} scene;

static const vocabulary scene_words = {4, {{0, 0}, {100, 0}, {500, 0}, {900, 0}}};

static void scene_make(scene *s, const uint32_t *output_weights) {
    tiny_make(&s->tiny, &scene_words, 2);
    set_exponent(&s->tiny, 3.3, 10);
    assert_int_equal(weights_init(&s->tiny.sampler.weights, output_weights, 4, NULL), TEM_OK);
    survey_start(&s->survey, &s->tiny.sampler, 0);
    s->words = 0;
}

static void scene_free(scene *s) {
    survey_end(&s->survey);
    weights_free(&s->tiny.sampler.weights);
    tiny_free(&s->tiny);
}

static void put_word(scene *s, uint64_t word) {
    s->tape[s->words++] = word;
}

/* U, as `base` and an offset. */
static void put_u(scene *s, const mpz_t base, long offset) {
    mpz_t u;
    mpz_init(u);
    if (offset < 0)
        mpz_sub_ui(u, base, (unsigned long)-offset);
    else
        mpz_add_ui(u, base, (unsigned long)offset);
    const layout l = layout_of(s->survey.total, true);
    put(s->tape + s->words, u, l, 0);
    s->words += l.limbs;
    mpz_clear(u);
}

/* V: E of a word outside the list, less 1 to keep it. */
static void put_v(scene *s, uint32_t id, bool kept) {
    mpz_t e, bound;
    mpz_inits(e, bound, NULL);
    mpz_set_level(bound, s->survey.tail_level);
    mpz_set_level(e, level_of(&s->survey, space_distance(&s->tiny.space, 0, id)));
    if (kept)
        mpz_sub_ui(e, e, 1);
    const layout l = layout_of(bound, true);
    put(s->tape + s->words, e, l, 0);
    s->words += l.limbs;
    mpz_clears(e, bound, NULL);
}

/* The tape gives `expected` and is then used up. */
static void expect(scene *s, uint32_t expected) {
    tem_rng rng = on_tape(s->tape, s->words);
    uint32_t out = 77;
    assert_int_equal(sampler_draw(&s->tiny.sampler, 0, &rng, &out, NULL), TEM_OK);
    assert_int_equal(out, expected);
    assert_true(rng.tape_used == s->words);
    s->words = 0;
}

#define ACCEPT UINT64_MAX /* of exp(-r): no rest reaches 2^36 - 1 */

static void test_list_entries(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    mpz_t first;
    mpz_init_set_ui(first, 0);
    put_u(&s, first, 0);
    put_word(&s, ACCEPT);
    expect(&s, 0);
    mpz_set_level(first, 0); /* E_0: the share of w itself */
    put_u(&s, first, -1);
    put_word(&s, ACCEPT);
    expect(&s, 0);
    put_u(&s, first, 0);
    put_word(&s, ACCEPT);
    expect(&s, 1);
    put_u(&s, s.survey.list, -1);
    put_word(&s, ACCEPT);
    expect(&s, 1);
    mpz_clear(first);
    scene_free(&s);
}

static void test_tail(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    for (uint32_t id = 2; id < 4; id++) {
        put_u(&s, s.survey.list, 0);
        put_word(&s, id);
        put_v(&s, id, true);
        put_word(&s, ACCEPT);
        expect(&s, id);
    }
    put_u(&s, s.survey.total, 0); /* too large: drawn again */
    put_u(&s, s.survey.total, -1);
    put_word(&s, 0); /* words of the list: drawn again, this draw only */
    put_word(&s, 1);
    put_word(&s, 0);
    put_word(&s, 3);
    put_v(&s, 3, true);
    put_word(&s, ACCEPT);
    expect(&s, 3);
    scene_free(&s);
}

/* After any rejection the whole round begins again: what follows a rejected entry of the
 * list may be a word outside it, and the other way round. */
static void test_rejections_restart(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    const uint64_t rest = rest_of(&s.survey, space_distance(&s.tiny.space, 0, 1));
    assert_true(rest > 0);
    put_u(&s, s.survey.list, 0); /* the tail, not kept */
    put_word(&s, 3);
    put_v(&s, 3, false);
    put_u(&s, s.survey.list, -1); /* the list, exp(-r) rejects at the second step */
    put_word(&s, rest - 1);
    put_word(&s, rest);
    put_u(&s, s.survey.list, 0); /* the tail again, kept, exp(-r) rejects */
    put_word(&s, 2);
    put_v(&s, 2, true);
    put_word(&s, 0);
    put_word(&s, ACCEPT);
    put_u(&s, s.survey.list, -1); /* the list, accepted at the third step */
    put_word(&s, 0);
    put_word(&s, 0);
    put_word(&s, rest);
    expect(&s, 1);
    scene_free(&s);
}

static void test_rest_decides(void **state) {
    (void)state;
    const uint64_t rest = 1000;
    const uint64_t tape[] = {999, 999, 999, 999, 1000};
    for (uint64_t steps = 1; steps <= 5; steps++) {
        tem_rng rng = on_tape(tape + 5 - steps, steps);
        assert_true(sampler_bernoulli_exp(rest, &rng) == (steps % 2 == 1));
        assert_true(rng.tape_used == steps);
    }
}

static void expect_unknown(const sampler *m, const uint64_t *tape, uint64_t words,
                           uint32_t expected) {
    tem_rng rng = on_tape(tape, words);
    uint32_t out = 77;
    assert_int_equal(sampler_draw(m, TEM_NO_WORD, &rng, &out, NULL), TEM_OK);
    assert_int_equal(out, expected);
    assert_true(rng.tape_used == words);
}

/* By the weights alone: a_y / A. */
static void test_unknown_word(void **state) {
    (void)state;
    static const uint32_t values[] = {1, 1, 9, 1};
    scene s;
    scene_make(&s, NULL);
    for (uint32_t id = 0; id < 4; id++)
        expect_unknown(&s.tiny.sampler, (uint64_t[]){id | ~(uint64_t)3}, 1, id);
    scene_free(&s);
    scene_make(&s, values);
    const weights *w = &s.tiny.sampler.weights;
    for (uint32_t c = 0; c < 4; c++) {
        const uint64_t last = w->thresholds[c] - 1;
        expect_unknown(&s.tiny.sampler, (uint64_t[]){c, last}, 2, c);
        if (last + 1 < w->sum)
            expect_unknown(&s.tiny.sampler, (uint64_t[]){c, last + 1}, 2, w->aliases[c]);
    }
    scene_free(&s);
}

/* A bound beyond a word that is not in the list: the model is broken, nothing comes out. */
static void test_broken_model(void **state) {
    (void)state;
    scene s;
    scene_make(&s, NULL);
    neighbour_index index;
    use_bounds(&s.tiny, &index);
    s.tiny.bounds[0]++;
    put_u(&s, s.survey.list, 0);
    put_word(&s, 2);
    tem_rng rng = on_tape(s.tape, s.words);
    uint32_t out = 77;
    tem_error error = {0};
    assert_int_equal(sampler_draw(&s.tiny.sampler, 0, &rng, &out, &error), TEM_ERR_DAMAGED);
    assert_int_equal(error.status, TEM_ERR_DAMAGED);
    assert_int_equal(out, 77);
    scene_free(&s);
}

/* A list that weighs more than all words, since it names one twice. */
static void test_broken_list(void **state) {
    (void)state;
    static const uint32_t values[] = {9, 1, 1, 1};
    static const uint64_t starts[] = {0, 2, 2, 2, 2};
    static const tem_neighbour twice[] = {{0, 0}, {0, 5}};
    scene s;
    scene_make(&s, values);
    neighbour_index index = s.tiny.index;
    index.starts = starts;
    index.entries = twice;
    s.tiny.sampler.index = &index;
    tem_rng rng = on_tape(NULL, 0);
    uint32_t out = 77;
    tem_error error = {0};
    assert_int_equal(sampler_draw(&s.tiny.sampler, 0, &rng, &out, &error), TEM_ERR_DAMAGED);
    assert_int_equal(error.status, TEM_ERR_DAMAGED);
    assert_int_equal(out, 77);
    scene_free(&s);
}

static void test_weights_in_the_tail(void **state) {
    (void)state;
    static const uint32_t values[] = {1, 1, 9, 1};
    scene s;
    scene_make(&s, values);
    const weights *w = &s.tiny.sampler.weights;
    assert_true(w->thresholds[3] < w->sum && w->aliases[3] == 2);
    put_u(&s, s.survey.list, 0); /* column 3, its own units */
    put_word(&s, 3);
    put_word(&s, w->thresholds[3] - 1);
    put_v(&s, 3, true);
    put_word(&s, ACCEPT);
    expect(&s, 3);
    put_u(&s, s.survey.list, 0); /* column 3, the units of its alias */
    put_word(&s, 3);
    put_word(&s, w->thresholds[3]);
    put_v(&s, 2, true);
    put_word(&s, ACCEPT);
    expect(&s, 2);
    scene_free(&s);
}

/* -------------------------------------------------------------- weights -- */

/* Column by column, the units of each word: values[i] * count in all. */
static void check_columns(const uint32_t *values, uint32_t count) {
    weights w;
    assert_int_equal(weights_init(&w, values, count, NULL), TEM_OK);
    uint64_t *units = calloc(count, sizeof *units);
    assert_non_null(units);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    assert_true(w.sum == sum && w.count == count);
    for (uint32_t c = 0; c < count; c++) {
        assert_true(w.thresholds[c] <= sum && w.aliases[c] < count);
        units[c] += w.thresholds[c];
        units[w.aliases[c]] += sum - w.thresholds[c];
    }
    for (uint32_t i = 0; i < count; i++)
        assert_true(units[i] == (uint64_t)values[i] * count && weights_at(&w, i) == values[i]);
    free(units);
    weights_free(&w);
}

/* What weights_draw makes of a column: its own word up to the threshold, then the alias. */
static void check_column_draws(const uint32_t *values, uint32_t count) {
    weights w;
    assert_int_equal(weights_init(&w, values, count, NULL), TEM_OK);
    for (uint32_t c = 0; c < count; c++)
        for (int side = 0; side < 2; side++) {
            const uint64_t unit = w.thresholds[c] - 1 + (uint64_t)side;
            if (unit >= w.sum) /* below 0, or beyond a full column */
                continue;
            const uint64_t tape[] = {c, unit};
            tem_rng rng = on_tape(tape, 2);
            assert_int_equal(weights_draw(&w, &rng), side == 0 ? c : w.aliases[c]);
            assert_true(rng.tape_used == 2);
        }
    weights_free(&w);
}

static void check_weights(const uint32_t *values, uint32_t count) {
    check_columns(values, count);
    check_column_draws(values, count);
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
        values[random64() % count] = round % 8 == 3 ? 1 : UINT32_MAX;
        check_weights(values, count);
    }
    for (uint32_t i = 0; i < MOST; i++)
        values[i] = UINT32_MAX;
    check_weights(values, MOST);
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
        cmocka_unit_test(test_list_entries),
        cmocka_unit_test(test_tail),
        cmocka_unit_test(test_rejections_restart),
        cmocka_unit_test(test_rest_decides),
        cmocka_unit_test(test_unknown_word),
        cmocka_unit_test(test_broken_model),
        cmocka_unit_test(test_broken_list),
        cmocka_unit_test(test_weights_in_the_tail),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_no_weight_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
