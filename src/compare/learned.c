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

#include <math.h>
#include <stdlib.h>

void learned_free(tem_learned *l) {
    if (l == NULL)
        return;
    core_free(l->starts);
    core_free(l->seen);
    core_free(l->by_gain);
    core_free(l->gains);
    core_free(l->drawn);
    core_free(l->totals);
    core_free(l);
}

/* ---- counting ---- */

static int compare_pairs(const void *a, const void *b) {
    const drawn_pair *x = a, *y = b;
    if (x->output != y->output)
        return x->output < y->output ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* Sorts the pairs and counts equal ones. */
static tem_status count_seen(tem_learned *l, drawn_pair *pairs, uint64_t count, tem_error *error) {
    const uint32_t words = l->mechanism->count;
    l->seen = core_alloc(count, sizeof *l->seen);
    l->starts = core_alloc_zero(words + (size_t)1, sizeof *l->starts);
    l->drawn = core_alloc_zero(words, sizeof *l->drawn);
    if (l->seen == NULL || l->starts == NULL || l->drawn == NULL)
        return core_fail_memory(error);
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (uint64_t i = 0; i < count; i++) {
        l->drawn[pairs[i].word]++;
        if (i > 0 && compare_pairs(&pairs[i - 1], &pairs[i]) == 0) {
            l->seen[l->seen_count - 1].count++;
            continue;
        }
        l->seen[l->seen_count++] = (seen_pair){pairs[i].word, pairs[i].output, 1};
        l->starts[pairs[i].output + 1]++;
    }
    for (uint32_t y = 0; y < words; y++)
        l->starts[y + 1] += l->starts[y];
    return TEM_OK;
}

/* f of a word and an output. */
static double weight_of(const tem_learned *l, uint32_t word, uint32_t y) {
    if (word == y)
        return distance_law_self(&l->law, y);
    const uint32_t *outputs = l->accountant->weights;
    if (outputs != NULL && outputs[y] == 0)
        return 0;
    return distance_law_at(&l->law, space_distance(&l->mechanism->model->space, word, y));
}

/* ---- smoothing ---- */

/* How likely the pairs are if each is predicted from all others, for one k. */
static double predict(const tem_learned *l, const double *model, double k) {
    double sum = 0;
    for (uint64_t i = 0; i < l->seen_count; i++) {
        const seen_pair *p = &l->seen[i];
        sum += p->count * (log(p->count - 1 + k * model[i]) - log(l->drawn[p->word] - 1 + k));
    }
    return sum;
}

/* Sets k to the power of sqrt(10) that predicts best. */
static tem_status choose_smoothing(tem_learned *l, tem_error *error) {
    double *model = core_alloc(l->seen_count, sizeof *model), best = -INFINITY;
    if (model == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; i < l->seen_count; i++)
        model[i] = fmax(
            weight_of(l, l->seen[i].word, l->seen[i].output) / l->totals[l->seen[i].word], 1e-300);
    for (int power = -4; power <= 16; power++) {
        const double k = pow(10, power / 2.0), value = predict(l, model, k);
        if (value > best) {
            best = value;
            l->smoothing = k;
        }
    }
    core_free(model);
    return TEM_OK;
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
    for (uint32_t w = 0; w < words; w++) {
        const double part = l->smoothing / (l->drawn[w] + l->smoothing);
        l->gains[w] = l->totals[w] > 0 ? l->prior->frequencies[w] * part / l->totals[w] : 0;
        l->by_gain[w] = w;
    }
    qsort_r(l->by_gain, words, sizeof *l->by_gain, compare_by_gain, l->gains);
}

static tem_status learn(tem_learned *l, const tem_learned_options *options, drawn_pair *pairs,
                        uint64_t count, tem_error *error) {
    const uint32_t words = l->mechanism->count;
    const tem_accountant *a = l->accountant;
    l->totals = core_alloc(words, sizeof *l->totals);
    l->gains = core_alloc(words, sizeof *l->gains);
    l->by_gain = core_alloc(words, sizeof *l->by_gain);
    if (l->totals == NULL || l->gains == NULL || l->by_gain == NULL)
        return core_fail_memory(error);
    tem_status status =
        distance_law_learn(&a->model->space, &a->profile, a->weights, pairs, count, &l->law, error);
    if (status == TEM_OK)
        status = count_seen(l, pairs, count, error);
    for (uint32_t w = 0; w < words && status == TEM_OK; w++)
        l->totals[w] = distance_law_total(&l->law, w);
    l->smoothing = options == NULL ? 0 : options->smoothing;
    if (status == TEM_OK && !(l->smoothing > 0))
        status = choose_smoothing(l, error);
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
        status = drawn_pairs_make(mechanism, prior, PAIRS_TO_LEARN,
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

static double probability_of(const tem_learned *l, uint32_t word, uint32_t y, uint32_t count) {
    const double model = l->totals[word] > 0 ? weight_of(l, word, y) / l->totals[word] : 0;
    return (count + l->smoothing * model) / (l->drawn[word] + l->smoothing);
}

double learned_probability(const tem_learned *l, uint32_t word, uint32_t y) {
    uint32_t count = 0;
    for (uint64_t i = l->starts[y]; i < l->starts[y + 1]; i++)
        if (l->seen[i].word == word)
            count = l->seen[i].count;
    return probability_of(l, word, y, count);
}

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
    guessed_word best = {0, TEM_NO_WORD};
    tem_neighbours near = {0};
    for (uint64_t i = l->starts[y]; i < l->starts[y + 1]; i++)
        offer(&best, l->seen[i].word,
              l->prior->frequencies[l->seen[i].word] *
                  probability_of(l, l->seen[i].word, y, l->seen[i].count));
    offer(&best, y, l->gains[y] * weight_of(l, y, y));
    tem_dist bound = 0;
    if (neighbours_get(&model->index, y, &near, NULL) == TEM_OK) {
        bound = near.bound;
        for (uint32_t i = 0; i < near.count; i++)
            if (near.list[i].id != y)
                offer(&best, near.list[i].id,
                      l->gains[near.list[i].id] * distance_law_at(&l->law, near.list[i].distance));
    }
    const double most = bound == UINT32_MAX ? 0 : distance_law_most(&l->law, bound);
    for (uint32_t i = 0; i < model->words.count; i++) {
        const uint32_t word = l->by_gain[i];
        if (l->gains[word] * most <= best.value)
            break;
        if (word != y)
            offer(&best, word,
                  l->gains[word] *
                      distance_law_at(&l->law, space_distance(&model->space, word, y)));
    }
    return best.word;
}

/* ---- testing ---- */

void learned_interval(uint64_t right, uint64_t pairs, double *low, double *high) {
    const double z = 1.959963984540054, n = (double)pairs, p = (double)right / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    *low = fmax(middle - half, 0);
    *high = fmin(middle + half, 1);
}

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
    learned_interval(made.right, count, &made.low, &made.high);
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
                            : drawn_pairs_make(l->mechanism, l->prior, PAIRS_TO_TEST, seed, count,
                                               run, pairs, error);
    if (status == TEM_OK)
        status = guess_all(l, pairs, count, run, guesses, error);
    if (status == TEM_OK)
        score_pairs(l, pairs, count, guesses, score);
    core_free(guesses);
    core_free(pairs);
    return status;
}
