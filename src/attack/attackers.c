/* attackers.c - attackers who guess the words behind released words. */
#include "attack/attackers.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "learn/posterior.h"

#include <math.h>

/* ---------------------------------------------------------------- object -- */

void attackers_free(tem_attack *attack) {
    if (attack == NULL)
        return;
    emission_free(attack->emission);
    core_free(attack->shares);
    core_free(attack);
}

/* Makes an attack that has its shares, and no likelihoods yet. NULL after a failure. */
static tem_attack *begin(const tem_model *model, const tem_attack_options *options,
                         tem_status *status, tem_error *error) {
    tem_attack *a = NULL;
    if (options->ngram != NULL && options->ngram->model != model)
        *status = core_fail(error, TEM_ERR_ARGUMENT, "the n-gram model belongs to another model");
    else if ((a = core_alloc_zero(1, sizeof *a)) == NULL)
        *status = core_fail_memory(error);
    if (a == NULL)
        return NULL;
    *a = (tem_attack){.model = model,
                      .ngram = options->ngram,
                      .shares = core_alloc(model->words.count + (size_t)1, sizeof *a->shares),
                      .words = model->words.count,
                      .beam = options->beam == 0 ? TEM_BEAM_DEFAULT : options->beam};
    *status = a->shares == NULL ? core_fail_memory(error)
                                : expect_shares(model, &options->expected, a->shares, error);
    if (*status == TEM_OK)
        return a;
    attackers_free(a);
    return NULL;
}

/* Hands the attack out, or frees it after a failure. */
static tem_status end(tem_attack *a, tem_status status, tem_attack **attack) {
    if (status == TEM_OK)
        *attack = a;
    else
        attackers_free(a);
    return status;
}

tem_status attackers_create(const tem_mechanism *mechanism, const tem_attack_options *options,
                            const tem_run *run, tem_attack **attack, tem_error *error) {
    const uint32_t pairs = options->pairs == 0 ? TEM_ATTACK_PAIRS_DEFAULT : options->pairs;
    tem_status status = TEM_OK;
    tem_attack *a = begin(mechanism->model, options, &status, error);
    if (a == NULL)
        return status;
    return end(a, emission_create(mechanism, a->shares, pairs, run, &a->emission, error), attack);
}

/* Copies pairs of words of the model; refuses others. */
static tem_status take_pairs(const tem_model *model, const uint32_t *words, const uint32_t *outputs,
                             size_t count, drawn_pair *pairs, tem_error *error) {
    const uint32_t all = model->words.count;
    for (size_t i = 0; i < count; i++) {
        if (outputs[i] >= all || (words[i] >= all && words[i] != TEM_NO_WORD))
            return core_fail(error, TEM_ERR_ARGUMENT, "a word of a pair is none of the model");
        pairs[i] = (drawn_pair){words[i], outputs[i]};
    }
    return TEM_OK;
}

tem_status attackers_create_from_pairs(const tem_model *model, const uint32_t *words,
                                       const uint32_t *outputs, size_t count,
                                       const tem_attack_options *options, const tem_run *run,
                                       tem_attack **attack, tem_error *error) {
    drawn_pair *pairs = core_alloc(count, sizeof *pairs);
    tem_status status = pairs == NULL ? core_fail_memory(error)
                                      : take_pairs(model, words, outputs, count, pairs, error);
    tem_attack *a = status == TEM_OK ? begin(model, options, &status, error) : NULL;
    if (a != NULL)
        status = end(a, emission_by_pairs(model, pairs, count, run, &a->emission, error), attack);
    core_free(pairs);
    return status;
}

/* --------------------------------------------------------------- guesses -- */

/* One guess of an attacker who looks at single words, for an output y. */
typedef struct word_guess {
    uint32_t guess;
    double success;
} word_guess;

typedef struct guess_run {
    const tem_attack *attack;
    tem_attacker attacker;
    const tem_documents *released;
    uint32_t *guesses;
    double *success;
    uint32_t *outputs; /* the different released words */
    word_guess *found; /* per word of the model */
    sequence sequence;
    atomic_int failure; /* the tem_status of a document */
} guess_run;

static tem_status nearest_other(const tem_attack *a, uint32_t y, uint32_t *nearest,
                                tem_error *error) {
    tem_neighbours near = {0};
    const tem_status status = neighbours_get(&a->model->index, y, &near, error);
    *nearest = TEM_NO_WORD;
    for (uint32_t i = 0; status == TEM_OK && i < near.count && *nearest == TEM_NO_WORD; i++)
        if (near.list[i].id != y)
            *nearest = near.list[i].id;
    return status;
}

/* Sets probabilities to those of all inputs given y, without context; likelihoods to P(y | w). */
static void find_posteriors(const tem_attack *a, emission_room *room, uint32_t y,
                            double *likelihoods, double *probabilities) {
    double sum = 0;
    emission_likelihoods(a->emission, room, y, likelihoods);
    for (uint32_t w = 0; w <= a->words; w++) {
        probabilities[w] = a->shares[w] * likelihoods[w];
        sum += probabilities[w];
    }
    for (uint32_t w = 0; w <= a->words && sum > 0; w++)
        probabilities[w] /= sum;
}

static tem_status guess_by_law(const tem_attack *a, uint32_t y, word_guess *out, tem_error *error) {
    emission_room room = {0};
    double *likelihoods = core_alloc(a->words + (size_t)1, sizeof *likelihoods);
    double *probabilities = core_alloc(a->words + (size_t)1, sizeof *probabilities);
    const bool ready =
        emission_room_init(&room, a->emission) && likelihoods != NULL && probabilities != NULL;
    if (ready) {
        find_posteriors(a, &room, y, likelihoods, probabilities);
        out->guess = sequence_best(probabilities, a->words, &out->success);
    }
    emission_room_free(&room);
    core_free(probabilities);
    core_free(likelihoods);
    return ready ? TEM_OK : core_fail_memory(error);
}

/* One item of a loop: the guess for one of the different outputs. */
static void guess_output(void *context, uint64_t item, unsigned thread) {
    guess_run *q = context;
    const uint32_t y = q->outputs[item];
    word_guess *out = &q->found[y];
    tem_status status = TEM_OK;
    (void)thread;
    *out = (word_guess){y, NAN};
    if (q->attacker == TEM_ATTACKER_NEAREST)
        status = nearest_other(q->attack, y, &out->guess, NULL);
    else if (q->attacker == TEM_ATTACKER_WORD)
        status = guess_by_law(q->attack, y, out, NULL);
    if (status != TEM_OK)
        atomic_store(&q->failure, (int)status);
}

/* One item of a loop: the guesses for a document. */
static void guess_document(void *context, uint64_t item, unsigned thread) {
    guess_run *q = context;
    const uint64_t first = item == 0 ? 0 : q->released->ends[item - 1];
    const size_t count = (size_t)(q->released->ends[item] - first);
    (void)thread;
    const tem_status status =
        (q->attacker == TEM_ATTACKER_BIGRAM ? sequence_guess_two : sequence_guess_three)(
            &q->sequence, q->released->words + first, count, q->guesses + first, q->success + first,
            NULL);
    if (status != TEM_OK)
        atomic_store(&q->failure, (int)status);
}

static uint64_t word_count(const tem_documents *d) {
    return d->count == 0 ? 0 : d->ends[d->count - 1];
}

static tem_status guess_words(guess_run *q, const tem_run *run, tem_error *error) {
    const tem_documents *d = q->released;
    const uint64_t count = word_count(d);
    uint64_t different = 0;
    bool *seen = core_alloc_zero(q->attack->words, sizeof *seen);
    q->outputs = core_alloc(q->attack->words, sizeof *q->outputs);
    q->found = core_alloc(q->attack->words, sizeof *q->found);
    tem_status status =
        seen == NULL || q->outputs == NULL || q->found == NULL ? core_fail_memory(error) : TEM_OK;
    for (uint64_t i = 0; status == TEM_OK && i < count; i++)
        if (d->words[i] != TEM_NO_WORD && !seen[d->words[i]]) {
            seen[d->words[i]] = true;
            q->outputs[different++] = d->words[i];
        }
    if (status == TEM_OK)
        status = core_parallel(run, "guessing words", different, guess_output, q, error);
    for (uint64_t i = 0; status == TEM_OK && i < count; i++) {
        const bool shown = d->words[i] == TEM_NO_WORD;
        q->guesses[i] = shown ? TEM_NO_WORD : q->found[d->words[i]].guess;
        q->success[i] = shown ? 0 : q->found[d->words[i]].success;
    }
    core_free(q->found);
    core_free(q->outputs);
    core_free(seen);
    return status;
}

static tem_status check_outputs(const tem_attack *a, const tem_documents *d, tem_error *error) {
    const uint64_t count = word_count(d);
    for (uint64_t i = 0; i < count; i++)
        if (d->words[i] != TEM_NO_WORD && !emission_has(a->emission, d->words[i]))
            return core_fail(error, TEM_ERR_FORMAT,
                             "a released word is one that this mechanism never outputs");
    return TEM_OK;
}

tem_status attackers_check_documents(const tem_documents *documents, uint32_t words,
                                     tem_error *error) {
    uint64_t before = 0;
    for (uint64_t d = 0; d < documents->count; d++) {
        if (documents->ends[d] < before)
            return core_fail(error, TEM_ERR_ARGUMENT, "the ends of the documents do not ascend");
        before = documents->ends[d];
    }
    if (before > 0 && documents->words == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the words of the documents are missing");
    for (uint64_t i = 0; i < before; i++)
        if (documents->words[i] != TEM_NO_WORD && documents->words[i] >= words)
            return core_fail(error, TEM_ERR_ARGUMENT, "a word is none of the model");
    return TEM_OK;
}

static tem_status check_guess(const tem_attack *a, tem_attacker attacker,
                              const tem_documents *released, tem_error *error) {
    const bool needs = attacker == TEM_ATTACKER_BIGRAM || attacker == TEM_ATTACKER_TRIGRAM;
    if (needs && a->ngram == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "this attacker needs an n-gram model");
    if (needs && a->ngram->info.order < 2)
        return core_fail(error, TEM_ERR_ARGUMENT, "the n-gram model has no bigrams");
    if (attacker == TEM_ATTACKER_TRIGRAM && a->ngram->info.order < 3)
        return core_fail(error, TEM_ERR_ARGUMENT, "the n-gram model has no trigrams");
    TRY(attackers_check_documents(released, a->words, error));
    return check_outputs(a, released, error);
}

static tem_status run_guesses(guess_run *q, const tem_run *run, tem_error *error) {
    const bool by_word = q->attacker != TEM_ATTACKER_BIGRAM && q->attacker != TEM_ATTACKER_TRIGRAM;
    const tem_status status = by_word ? guess_words(q, run, error)
                                      : core_parallel(run, "guessing documents", q->released->count,
                                                      guess_document, q, error);
    const tem_status inside = (tem_status)atomic_load(&q->failure);
    if (status != TEM_OK || inside == TEM_OK)
        return status;
    return inside == TEM_ERR_RANGE
               ? core_fail(error, inside,
                           "a document has more than %d words, too many for trigrams",
                           SEQUENCE_TRIGRAM_MOST)
               : core_fail(error, inside, "guessing failed: %s",
                           inside == TEM_ERR_MEMORY ? "out of memory" : "a list is damaged");
}

tem_status attackers_guess(const tem_attack *attack, tem_attacker attacker,
                           const tem_documents *released, const tem_run *run, uint32_t *guesses,
                           double *success, tem_error *error) {
    TRY(check_guess(attack, attacker, released, error));
    const uint64_t count = word_count(released);
    guess_run q = {.attack = attack,
                   .attacker = attacker,
                   .released = released,
                   .guesses = core_alloc(count, sizeof *q.guesses),
                   .success = core_alloc(count, sizeof *q.success),
                   .sequence = {.g = attack->ngram,
                                .emission = attack->emission,
                                .draws_unknown = attack->shares[attack->words] > 0,
                                .block = SEQUENCE_BLOCK,
                                .beam = attack->beam}};
    tem_status status = q.guesses == NULL || q.success == NULL ? core_fail_memory(error)
                                                               : run_guesses(&q, run, error);
    if (status == TEM_OK && count > 0) {
        memcpy(guesses, q.guesses, count * sizeof *guesses);
        if (success != NULL)
            memcpy(success, q.success, count * sizeof *success);
    }
    core_free(q.success);
    core_free(q.guesses);
    return status;
}

tem_status attackers_candidates(const tem_attack *attack, uint32_t released, uint32_t count,
                                uint32_t *ids, double *likelihoods, double *posteriors,
                                tem_error *error) {
    if (!emission_has(attack->emission, released))
        return core_fail(error, TEM_ERR_FORMAT,
                         "a released word is one that this mechanism never outputs");
    emission_room room = {0};
    double *all = core_alloc(attack->words + (size_t)1, sizeof *all);
    double *probabilities = core_alloc(attack->words + (size_t)1, sizeof *probabilities);
    const bool ready =
        emission_room_init(&room, attack->emission) && all != NULL && probabilities != NULL;
    if (ready) {
        find_posteriors(attack, &room, released, all, probabilities);
        sequence_top(probabilities, attack->words, count, ids);
        for (uint32_t k = 0; k < count; k++) {
            likelihoods[k] = all[ids[k]];
            posteriors[k] = probabilities[ids[k]];
        }
    }
    emission_room_free(&room);
    core_free(probabilities);
    core_free(all);
    return ready ? TEM_OK : core_fail_memory(error);
}
