/* coverage.c - how often the intervals of tem_channel_estimate hold the truth. Not part of `make
 * test`; docs/LEARNING.md has a result.
 *
 *   estimate-coverage [--broken] MODEL SEED EPSILON...
 *
 * Makes 200 texts for each epsilon, 50 each of 10^3, 10^4, 10^5 and 10^6 words, releases them word
 * by word, estimates the shares of eight sets of words, and compares with the shares in the texts.
 *
 * The expected shares pi are Zipf's law. Each text draws its words from its own shares q: pi times
 * exp(sigma * normal), sigma 0.3 to 1.5, but never above 4 pi. The texts are of three kinds in
 * turn:
 *   words    no more than that
 *   topic    the words of one of the eight sets are up to 4 times as frequent as expected
 *   rest     the words of one of the sets are 2 to 50 times less frequent
 * With --broken all texts are of a fourth kind, to show what happens if the assumption is wrong:
 * the words of one of the sets are 12 times as frequent. Then only this set counts.
 * Four sets are random words; four are the nearest words of a random word. Sizes: 20, 50, 100,
 * 200. */
#include "must.h"
#include "tem_learn.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 8, SIZES = 4, TEXTS = 50, GROUPS = SIZES * TEXTS, RATIO = 4, BATCH = 1000 };
static const uint32_t set_sizes[SIZES] = {20, 50, 100, 200};
static const double text_words[SIZES] = {1e3, 1e4, 1e5, 1e6};

typedef enum text_kind { WORDS, TOPIC, REST, BROKEN } text_kind;
enum { KINDS = BROKEN }; /* that keep the ratio */

typedef struct bench {
    const tem_model *model;
    tem_channel *channel;
    tem_prior *prior;
    uint32_t words;
    double *expected; /* pi */
    double *members;  /* a row per input */
} bench;

/* ---- random numbers, the same for the same seed ---- */

static uint64_t chance_state;

static double uniform(void) {
    chance_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = chance_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- sets ---- */

typedef struct near_word {
    tem_dist distance;
    uint32_t word;
} near_word;

static int by_distance(const void *a, const void *b) {
    const near_word *x = a, *y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* The 50 most frequent words are in no random set: they would be most of it. */
static void make_sets(bench *b) {
    near_word *near_words = need(calloc(b->words, sizeof *near_words));
    for (uint32_t set = 0; set < SETS; set++) {
        const uint32_t size = set_sizes[set % SIZES];
        const uint32_t centre = (uint32_t)(uniform() * b->words);
        for (uint32_t w = 0; w < b->words; w++) {
            near_words[w].word = w;
            near_words[w].distance = set >= SIZES ? tem_model_distance(b->model, centre, w)
                                     : w < 50     ? UINT32_MAX
                                                  : (tem_dist)(uniform() * 1e9);
        }
        qsort(near_words, b->words, sizeof *near_words, by_distance);
        for (uint32_t k = 0; k < size; k++)
            b->members[(size_t)near_words[k].word * SETS + set] = 1;
    }
    free(near_words);
}

/* ---- texts ---- */

/* Makes the q(w) add up to 1 again; where that takes one above RATIO pi(w), it stays there. */
static void keep_within_ratio(const bench *b, double *q) {
    for (int round = 0; round < 100; round++) {
        double sum = 0;
        for (uint32_t w = 0; w < b->words; w++)
            sum += q[w];
        for (uint32_t w = 0; w < b->words; w++)
            q[w] = fmin(q[w] / sum, RATIO * b->expected[w]);
    }
}

/* By how much the words of one set are more frequent than expected. */
static double factor_of(text_kind kind) {
    switch (kind) {
    case TOPIC:
        return 1 + 3 * uniform();
    case REST:
        return 0.02 + 0.5 * uniform();
    case BROKEN:
        return 12;
    default:
        return 1;
    }
}

/* Returns the number of the set whose words are more or less frequent. */
static uint32_t make_shares(const bench *b, text_kind kind, double *q) {
    const double sigma = 0.3 + 1.2 * uniform();
    const uint32_t set = (uint32_t)(uniform() * SETS);
    const double factor = factor_of(kind);
    for (uint32_t w = 0; w < b->words; w++)
        q[w] = b->expected[w] * exp(sigma * normal());
    keep_within_ratio(b, q);
    for (uint32_t w = 0; w < b->words; w++)
        if (kind != WORDS && b->members[(size_t)w * SETS + set] != 0)
            q[w] = factor * b->expected[w];
    if (kind != BROKEN)
        keep_within_ratio(b, q);
    return set;
}

/* Draws `count` words from q and releases each. Counts both. */
static void release_text(const bench *b, const tem_mechanism *mechanism, tem_rng *rng,
                         const double *q, double count, double *inputs, double *counts) {
    double *up_to = need(calloc(b->words, sizeof *up_to));
    double sum = 0;
    for (uint32_t w = 0; w < b->words; w++)
        up_to[w] = sum += q[w];
    for (double done = 0; done < count; done += BATCH) {
        uint32_t words[BATCH];
        for (uint32_t k = 0; k < BATCH; k++) {
            const double x = sum * uniform();
            uint32_t low = 0, high = b->words - 1;
            while (low < high) {
                const uint32_t middle = (low + high) / 2;
                if (up_to[middle] > x)
                    high = middle;
                else
                    low = middle + 1;
            }
            words[k] = low;
            inputs[low]++;
        }
        tem_error error;
        check(tem_mechanism_draw_many(mechanism, rng, words, words, BATCH, &error), &error);
        for (uint32_t k = 0; k < BATCH; k++)
            counts[(size_t)words[k] * GROUPS]++;
    }
    free(up_to);
}

/* ---- comparison ---- */

typedef struct tally {
    uint32_t all, held, tell;
    uint32_t wrong;      /* tell, and do not hold the truth */
    double width, error; /* sums, in shares of the width without released text */
} tally;

static void add_to(tally *t, const tem_estimate *e, double truth) {
    const double alone = fmin(1, RATIO * e->expected) - fmax(0, 1 - RATIO * (1 - e->expected));
    t->all++;
    const bool held = e->low <= truth && truth <= e->high;
    t->held += held;
    t->tell += e->tells != 0;
    t->wrong += e->tells != 0 && !held;
    t->width += (e->high - e->low) / alone;
    t->error += fabs(e->share - truth) / alone;
}

static void print_row(double epsilon, double guess, const char *words, const tally *t) {
    printf("| %5.2f | %4.1f %% | %s | %5.1f %% | %4.1f %% | %4.1f %% | %3.0f %% | %u |\n", epsilon,
           100 * guess, words, 100.0 * t->held / t->all, 100 * t->width / t->all,
           100 * t->error / t->all, 100.0 * t->tell / t->all, t->wrong);
}

/* The share of words that the best guess gets right, in expectation under pi. */
static double guess_of(const bench *b, const tem_mechanism *mechanism) {
    tem_accountant *accountant = NULL;
    tem_summary summary;
    tem_error error;
    check(tem_accountant_create(b->model, NULL, NULL, &accountant, &error), &error);
    check(tem_accountant_summarise(accountant, mechanism, b->prior, 1, NULL, &summary, &error),
          &error);
    tem_accountant_free(accountant);
    return summary.bayes;
}

static void measure(bench *b, double epsilon, uint64_t seed, bool is_broken) {
    const tem_mechanism_options options = {.epsilon = epsilon};
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    tem_error error;
    check(tem_mechanism_create(b->model, &options, &mechanism, &error), &error);
    check(tem_channel_create(mechanism, NULL, &b->channel, &error), &error);
    check(tem_rng_create_insecure(seed, (uint64_t)(epsilon * 1000), &rng, &error), &error);
    double *counts = need(calloc((size_t)b->words * GROUPS, sizeof *counts));
    double *truth = need(calloc(GROUPS * SETS, sizeof *truth));
    double *q = need(calloc(b->words, sizeof *q));
    uint32_t changed[GROUPS];
    double *inputs = need(calloc(b->words, sizeof *inputs));
    for (uint32_t i = 0; i < GROUPS; i++) {
        const double count = text_words[i / TEXTS];
        memset(inputs, 0, b->words * sizeof *inputs);
        changed[i] = make_shares(b, is_broken ? BROKEN : (text_kind)(i % KINDS), q);
        release_text(b, mechanism, rng, q, count, inputs, counts + i);
        for (uint32_t w = 0; w < b->words; w++)
            for (uint32_t set = 0; set < SETS; set++)
                truth[i * SETS + set] += b->members[(size_t)w * SETS + set] * inputs[w] / count;
    }
    const tem_estimate_options how = {.expected = {.prior = b->prior}, .ratio = RATIO};
    tem_estimate *estimates = need(calloc(GROUPS * SETS, sizeof *estimates));
    check(tem_channel_estimate(b->channel, &how, counts, GROUPS, b->members, SETS, NULL, estimates,
                               &error),
          &error);
    const double guess = guess_of(b, mechanism);
    for (uint32_t size = 0; size < SIZES; size++) {
        static const char *const names[SIZES] = {"10^3", "10^4", "10^5", "10^6"};
        tally t = {0};
        for (uint32_t k = size * TEXTS * SETS; k < (size + 1) * TEXTS * SETS; k++)
            if (!is_broken || k % SETS == changed[k / SETS])
                add_to(&t, &estimates[k], truth[k]);
        print_row(epsilon, guess, names[size], &t);
    }
    fflush(stdout);
    free(estimates);
    free(inputs);
    free(q);
    free(truth);
    free(counts);
    tem_rng_free(rng);
    tem_channel_free(b->channel);
    tem_mechanism_free(mechanism);
}

int main(int argc, char **argv) {
    const bool is_broken = argc > 1 && strcmp(argv[1], "--broken") == 0;
    argv += is_broken;
    argc -= is_broken;
    if (argc < 4) {
        fprintf(stderr, "usage: estimate-coverage [--broken] MODEL SEED EPSILON...\n");
        return 2;
    }
    const uint64_t seed = strtoull(argv[2], NULL, 10);
    chance_state = seed;
    tem_model *model = NULL;
    tem_error error;
    tem_model_info info;
    check(tem_model_open(argv[1], &model, &error), &error);
    check(tem_model_verify(model, NULL, &error), &error);
    tem_model_get_info(model, &info);
    bench b = {.model = model, .words = info.words};
    b.expected = need(calloc(b.words, sizeof *b.expected));
    b.members = need(calloc((size_t)(b.words + 1) * SETS, sizeof *b.members));
    check(tem_prior_create_zipf(model, 1, &b.prior, &error), &error);
    double sum = 0;
    for (uint32_t w = 0; w < b.words; w++)
        sum += b.expected[w] = 1.0 / (w + 1);
    for (uint32_t w = 0; w < b.words; w++)
        b.expected[w] /= sum;
    make_sets(&b);
    printf("| epsilon | guess | words | held | width | error | tell | tell, not held |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int k = 3; k < argc; k++)
        measure(&b, strtod(argv[k], NULL), seed, is_broken);
    tem_prior_free(b.prior);
    tem_model_free(model);
    free(b.members);
    free(b.expected);
    return 0;
}
