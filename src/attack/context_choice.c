/* context_choice.c - the epsilon at which an attacker with context recovers a share of the words.
 *
 * No formula gives that share, so each step draws outputs and attacks them. All steps have the same
 * seeds: a step differs from the one before by epsilon alone, as far as the draws allow. */
#include "attack/attackers.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "core/wilson.h"
#include "rng/rng.h"

#include <math.h>

enum { DIGITS = 4 };
static const double accuracy = 1.01, epsilon_least = 0x1p-10, epsilon_most = 0x1p10;

typedef struct context_search {
    const tem_model *model;
    const tem_context_wish *wish;
    const tem_run *run;
    uint32_t *released, *guesses;
} context_search;

static uint64_t word_count(const context_search *c) {
    const tem_documents *d = &c->wish->documents;
    return d->count == 0 ? 0 : d->ends[d->count - 1];
}

/* Draws the outputs of all documents, each from a stream of its own. */
static tem_status draw_documents(const context_search *c, const tem_mechanism *mechanism,
                                 tem_error *error) {
    const tem_documents *d = &c->wish->documents;
    tem_status status = TEM_OK;
    for (uint64_t i = 0; status == TEM_OK && i < d->count; i++) {
        const uint64_t first = i == 0 ? 0 : d->ends[i - 1];
        tem_rng rng;
        rng_init_seeded(&rng, c->wish->seed, i);
        status = mechanism_draw(mechanism, &rng, d->words + first, c->released + first,
                                d->ends[i] - first, error);
        rng_wipe(&rng);
    }
    return status;
}

static void count_recovered(const context_search *c, uint64_t *recovered, uint64_t *words) {
    const uint32_t *originals = c->wish->documents.words;
    *recovered = *words = 0;
    for (uint64_t i = 0; i < word_count(c); i++) {
        *words += originals[i] != TEM_NO_WORD;
        *recovered += originals[i] != TEM_NO_WORD && originals[i] == c->guesses[i];
    }
}

static tem_status guess(const context_search *c, const tem_attack *attack, tem_attacker attacker,
                        uint64_t *recovered, uint64_t *words, tem_error *error) {
    const tem_documents released = {
        .words = c->released, .ends = c->wish->documents.ends, .count = c->wish->documents.count};
    const tem_status status =
        attackers_guess(attack, attacker, &released, c->run, c->guesses, NULL, error);
    if (status == TEM_OK)
        count_recovered(c, recovered, words);
    return status;
}

static tem_status measure_with(const context_search *c, const tem_mechanism *mechanism,
                               tem_context_answer *out, tem_error *error) {
    const tem_attacker attacker = c->wish->attacker == 0 ? TEM_ATTACKER_BIGRAM : c->wish->attacker;
    tem_attack *attack = NULL;
    tem_mechanism_info info;
    uint64_t alone = 0;
    mechanism_get_info(mechanism, &info);
    tem_status status = attackers_create(mechanism, &c->wish->attack, c->run, &attack, error);
    if (status == TEM_OK)
        status = draw_documents(c, mechanism, error);
    if (status == TEM_OK)
        status = guess(c, attack, TEM_ATTACKER_WORD, &alone, &out->words, error);
    if (status == TEM_OK)
        status = guess(c, attack, attacker, &out->recovered, &out->words, error);
    if (status == TEM_OK) {
        out->s = info.s;
        out->gamma = info.gamma;
        out->share = (double)out->recovered / (double)out->words;
        out->word_share = (double)alone / (double)out->words;
        wilson_interval(out->recovered, out->words, &out->low, &out->high);
    }
    attackers_free(attack);
    return status;
}

/* Measures the attack at an epsilon. *beyond: the model does not allow this epsilon. */
static tem_status measure(const context_search *c, double epsilon, tem_context_answer *out,
                          bool *beyond, tem_error *error) {
    const tem_mechanism_options options = {
        .epsilon = epsilon, .beta = c->wish->beta, .gamma = c->wish->gamma};
    tem_mechanism *mechanism = NULL;
    *out = (tem_context_answer){.epsilon = epsilon};
    tem_status status = mechanism_create(c->model, &options, &mechanism, error);
    *beyond = status == TEM_ERR_RANGE;
    if (status == TEM_OK)
        status = measure_with(c, mechanism, out, error);
    mechanism_free(mechanism);
    return *beyond ? TEM_OK : status;
}

static tem_status fail_unreachable(tem_error *error) {
    return core_fail(error, TEM_ERR_RANGE,
                     "no epsilon of this model is at the target: it is kept, or broken, by all");
}

/* The two ends of the search: `low` keeps the target, `high` does not. */
typedef struct ends {
    tem_context_answer low;
    double high;
    bool has_high; /*  the attacker recovers too much at `high` */
} ends;

/* Measures at an epsilon, and moves an end there. An epsilon that the model does not allow is a
 * high end, but breaks no target. */
static tem_status move_end(const context_search *c, double epsilon, ends *e, bool *keeps,
                           tem_error *error) {
    tem_context_answer now;
    bool beyond = false;
    TRY(measure(c, epsilon, &now, &beyond, error));
    *keeps = !beyond && now.share <= c->wish->wanted;
    if (*keeps)
        e->low = now;
    else {
        e->high = epsilon;
        e->has_high = !beyond;
    }
    return TEM_OK;
}

/* Finds ends that are a factor of two apart. */
static tem_status bracket(const context_search *c, ends *e, tem_error *error) {
    double epsilon = 2;
    bool first = false, keeps = false;
    tem_status status = move_end(c, epsilon, e, &first, error);
    for (keeps = first; status == TEM_OK && keeps == first;) {
        epsilon *= first ? 2 : 0.5;
        if (epsilon > epsilon_most || epsilon < epsilon_least)
            return fail_unreachable(error);
        status = move_end(c, epsilon, e, &keeps, error);
    }
    return status;
}

static tem_status close_in(const context_search *c, ends *e, tem_error *error) {
    tem_status status = bracket(c, e, error);
    while (status == TEM_OK && e->high > e->low.epsilon * accuracy) {
        const double middle = number_round_down(sqrt(e->high * e->low.epsilon), DIGITS);
        bool keeps = false;
        if (!(middle > e->low.epsilon))
            break;
        status = move_end(c, middle, e, &keeps, error);
    }
    return status == TEM_OK && !e->has_high ? fail_unreachable(error) : status;
}

static tem_status check_wish(const context_search *c, tem_error *error) {
    uint64_t known = 0;
    TRY(attackers_check_documents(&c->wish->documents, c->model->words.count, error));
    for (uint64_t i = 0; i < word_count(c); i++)
        known += c->wish->documents.words[i] != TEM_NO_WORD;
    if (known == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "the documents have no known word");
    return TEM_OK;
}

tem_status attackers_choose(const tem_model *model, const tem_context_wish *wish,
                            const tem_run *run, tem_context_answer *answer, tem_error *error) {
    context_search c = {.model = model, .wish = wish, .run = run};
    ends e = {.high = 0};
    tem_status status = check_wish(&c, error);
    if (status != TEM_OK)
        return status;
    c.released = core_alloc(word_count(&c), sizeof *c.released);
    c.guesses = core_alloc(word_count(&c), sizeof *c.guesses);
    status =
        c.released == NULL || c.guesses == NULL ? core_fail_memory(error) : close_in(&c, &e, error);
    if (status == TEM_OK)
        *answer = e.low;
    core_free(c.guesses);
    core_free(c.released);
    return status;
}
