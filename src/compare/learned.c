/* learned.c - learns a mechanism from pairs, and guesses words.
 *
 * The guess for an output y is exact: the word with the largest prior(w) P^(y | w) of all words.
 * The search looks at the pairs seen with y, at y's list, and then at all words in descending order
 * of their gain, until the gain times the largest f that a word outside the list can have is below
 * the best value so far. */
#include "compare/learned.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/wilson.h"

#include <math.h>
#include <stdlib.h>

void learned_free(tem_learned *l) {
    if (l == NULL)
        return;
    core_free(l->by_gain);
    core_free(l->gains);
    learned_law_free(&l->law);
    core_free(l);
}

/* ---- learning ---- */

static int compare_by_gain(const void *a, const void *b, void *context) {
    const double *gains = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (gains[x] > gains[y] || gains[x] < gains[y])
        return gains[x] > gains[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void order_words(tem_learned *l) {
    const uint32_t words = l->mechanism->count;
    const learned_law *law = &l->law;
    for (uint32_t w = 0; w < words; w++) {
        const double part = law->smoothing / (law->drawn[w] + law->smoothing);
        l->gains[w] = law->totals[w] > 0 ? l->prior->frequencies[w] * part / law->totals[w] : 0;
        l->by_gain[w] = w;
    }
    qsort_r(l->by_gain, words, sizeof *l->by_gain, compare_by_gain, l->gains);
}

static tem_status learn(tem_learned *l, const tem_learned_options *options, drawn_pair *pairs,
                        uint64_t count, tem_error *error) {
    const uint32_t words = l->mechanism->count;
    const tem_accountant *a = l->accountant;
    l->gains = core_alloc(words, sizeof *l->gains);
    l->by_gain = core_alloc(words, sizeof *l->by_gain);
    if (l->gains == NULL || l->by_gain == NULL)
        return core_fail_memory(error);
    const tem_status status =
        learned_law_make(&a->model->space, &a->profile, a->weights, pairs, count,
                         options == NULL ? 0 : options->smoothing, &l->law, error);
    if (status == TEM_OK)
        order_words(l);
    return status;
}

tem_status learned_create(const tem_accountant *accountant, const tem_mechanism *mechanism,
                          const tem_prior *prior, const tem_learned_options *options,
                          const tem_run *run, tem_learned **learned, tem_error *error) {
    const uint64_t count =
        options == NULL || options->pairs == 0 ? TEM_LEARNED_PAIRS_DEFAULT : options->pairs;
    tem_learned *l = core_alloc_zero(1, sizeof *l);
    drawn_pair *pairs = core_alloc(count, sizeof *pairs);
    tem_status status = l == NULL || pairs == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK) {
        *l = (tem_learned){.accountant = accountant, .mechanism = mechanism, .prior = prior};
        status = drawn_pairs_make(mechanism, prior->frequencies, false, PAIRS_TO_LEARN,
                                  options == NULL ? 0 : options->seed, count, run, pairs, error);
    }
    if (status == TEM_OK)
        status = learn(l, options, pairs, count, error);
    core_free(pairs);
    if (status == TEM_OK)
        *learned = l;
    else
        learned_free(l);
    return status;
}

/* ---- guessing ---- */

/* The best word so far. */
typedef struct guessed_word {
    double value;
    uint32_t word;
} guessed_word;

static void offer(guessed_word *best, uint32_t word, double value) {
    if (value > best->value || (value >= best->value && word < best->word))
        *best = (guessed_word){value, word};
}

/* A word that was seen with y is worth more than its gain says. So it does not matter that the
 * other loops offer it again. */
uint32_t learned_guess(const tem_learned *l, uint32_t y) {
    const tem_model *model = l->mechanism->model;
    const learned_law *law = &l->law;
    guessed_word best = {0, TEM_NO_WORD};
    tem_neighbours near = {0};
    for (uint64_t i = law->starts[y]; i < law->starts[y + 1]; i++)
        offer(&best, law->seen[i].word,
              l->prior->frequencies[law->seen[i].word] *
                  learned_law_with_count(law, law->seen[i].word, y, law->seen[i].count));
    offer(&best, y, l->gains[y] * learned_law_weight(law, y, y));
    tem_dist bound = 0;
    if (neighbours_get(&model->index, y, &near, NULL) == TEM_OK) {
        bound = near.bound;
        for (uint32_t i = 0; i < near.count; i++)
            if (near.list[i].id != y)
                offer(&best, near.list[i].id,
                      l->gains[near.list[i].id] *
                          distance_law_at(&law->distance, near.list[i].distance));
    }
    const double most = bound == UINT32_MAX ? 0 : distance_law_most(&law->distance, bound);
    for (uint32_t i = 0; i < model->words.count; i++) {
        const uint32_t word = l->by_gain[i];
        if (l->gains[word] * most <= best.value)
            break;
        if (word != y)
            offer(&best, word,
                  l->gains[word] *
                      distance_law_at(&law->distance, space_distance(&model->space, word, y)));
    }
    return best.word;
}

/* ---- testing ---- */

typedef struct guess_pass {
    const tem_learned *learned;
    const uint32_t *outputs; /* each once */
    uint32_t *guesses;       /* per word */
} guess_pass;

static void guess_one(void *context, uint64_t item, unsigned thread) {
    const guess_pass *p = context;
    (void)thread;
    p->guesses[p->outputs[item]] = learned_guess(p->learned, p->outputs[item]);
}

/* Guesses for each output of the pairs. */
static tem_status guess_all(const tem_learned *l, const drawn_pair *pairs, uint64_t count,
                            const tem_run *run, uint32_t *guesses, tem_error *error) {
    const uint32_t words = l->mechanism->count;
    uint32_t *outputs = core_alloc(words, sizeof *outputs), different = 0;
    if (outputs == NULL)
        return core_fail_memory(error);
    for (uint32_t w = 0; w < words; w++)
        guesses[w] = TEM_NO_WORD;
    for (uint64_t i = 0; i < count; i++)
        if (guesses[pairs[i].output] == TEM_NO_WORD) {
            guesses[pairs[i].output] = 0;
            outputs[different++] = pairs[i].output;
        }
    guess_pass p = {l, outputs, guesses};
    const tem_status status = core_parallel(run, "guessing", different, guess_one, &p, error);
    core_free(outputs);
    return status;
}

static double cosine_of(const space *s, const drawn_pair *pair) {
    if (s->rows == NULL)
        return NAN;
    const int16_t *a = space_row(s, pair->word), *b = space_row(s, pair->output);
    double product = 0, squares_a = 0, squares_b = 0;
    for (uint32_t i = 0; i < s->dimension; i++) {
        product += (double)a[i] * b[i];
        squares_a += (double)a[i] * a[i];
        squares_b += (double)b[i] * b[i];
    }
    return squares_a > 0 && squares_b > 0 ? product / sqrt(squares_a * squares_b) : 0;
}

static void score_pairs(const tem_learned *l, const drawn_pair *pairs, uint64_t count,
                        const uint32_t *guesses, tem_learned_score *score) {
    const space *s = &l->mechanism->model->space;
    tem_learned_score made = {.pairs = count};
    uint64_t same = 0;
    double distances = 0, cosines = 0;
    for (uint64_t i = 0; i < count; i++) {
        made.right += guesses[pairs[i].output] == pairs[i].word;
        same += pairs[i].output == pairs[i].word;
        distances += (double)space_distance(s, pairs[i].word, pairs[i].output);
        cosines += cosine_of(s, &pairs[i]);
    }
    made.guess = (double)made.right / (double)count;
    wilson_interval(made.right, count, &made.low, &made.high);
    made.self = (double)same / (double)count;
    made.distance_mean = distances / (double)count / TEM_DIST_ONE;
    made.cosine_mean = cosines / (double)count;
    *score = made;
}

tem_status learned_test(const tem_learned *l, uint64_t count, uint64_t seed, const tem_run *run,
                        tem_learned_score *score, tem_error *error) {
    drawn_pair *pairs = core_alloc(count, sizeof *pairs);
    uint32_t *guesses = core_alloc(l->mechanism->count, sizeof *guesses);
    tem_status status = pairs == NULL || guesses == NULL
                            ? core_fail_memory(error)
                            : drawn_pairs_make(l->mechanism, l->prior->frequencies, false,
                                               PAIRS_TO_TEST, seed, count, run, pairs, error);
    if (status == TEM_OK)
        status = guess_all(l, pairs, count, run, guesses, error);
    if (status == TEM_OK)
        score_pairs(l, pairs, count, guesses, score);
    core_free(guesses);
    core_free(pairs);
    return status;
}
