/* api_attack.c - n-gram models and attacks of tem_attack.h. */
#include "api/learn_checks.h"
#include "attack/attackers.h"
#include "core/status.h"
#include "core/wilson.h"
#include "model/model.h"

#include <string.h>

/* ---- tem_ngram ---- */

tem_status tem_ngram_train(const tem_model *model, const char *const *paths, size_t count,
                           uint32_t order, const tem_run *run, tem_ngram **ngram,
                           tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || paths == NULL || count == 0 || ngram == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a text and a place for the n-gram model are needed");
    for (size_t i = 0; i < count; i++)
        if (paths[i] == NULL)
            return core_fail(error, TEM_ERR_ARGUMENT, "the path of a text is missing");
    order = order == 0 ? TEM_NGRAM_ORDER_DEFAULT : order;
    if (order > 3)
        return core_fail(error, TEM_ERR_ARGUMENT, "the order must be 1 to 3");
    return ngram_train(model, paths, count, order, run, ngram, error);
}

tem_status tem_ngram_load(const tem_model *model, const char *path, const tem_run *run,
                          tem_ngram **ngram, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || path == NULL || ngram == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a path and a place for the n-gram model are needed");
    return ngram_load(model, path, run, ngram, error);
}

tem_status tem_ngram_save(const tem_ngram *ngram, const char *path, tem_overwrite overwrite,
                          const tem_run *run, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (ngram == NULL || path == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "an n-gram model and a path are needed");
    return ngram_save(ngram, path, overwrite, run, error);
}

tem_status tem_ngram_prune(const tem_ngram *ngram, double threshold, const tem_run *run,
                           tem_ngram **pruned, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (ngram == NULL || pruned == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an n-gram model and a place for the pruned one are needed");
    if (!(threshold >= 0 && threshold < INFINITY))
        return core_fail(error, TEM_ERR_ARGUMENT, "the threshold must be 0 or more");
    return ngram_prune(ngram, threshold, run, pruned, error);
}

static tem_status check_mix(const tem_ngram *const *ngrams, const double *shares, size_t count,
                            tem_error *error) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (ngrams[i] == NULL || ngrams[i]->model != ngrams[0]->model)
            return core_fail(error, TEM_ERR_ARGUMENT,
                             "all n-gram models must be of the same model");
        if (!(shares[i] > 0 && shares[i] < INFINITY))
            return core_fail(error, TEM_ERR_ARGUMENT, "a share must be above 0");
        sum += shares[i];
    }
    return sum < INFINITY ? TEM_OK : core_fail(error, TEM_ERR_ARGUMENT, "the shares are too large");
}

tem_status tem_ngram_mix(const tem_ngram *const *ngrams, const double *shares, size_t count,
                         const tem_run *run, tem_ngram **mixed, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    if (ngrams == NULL || shares == NULL || count == 0 || mixed == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "n-gram models, their shares and a place for the mixture are needed");
    TRY(check_mix(ngrams, shares, count, error));
    return ngram_mix(ngrams, shares, count, run, mixed, error);
}

void tem_ngram_free(tem_ngram *ngram) {
    ngram_free(ngram);
}

void tem_ngram_get_info(const tem_ngram *ngram, tem_ngram_info *info) {
    if (info != NULL)
        *info = ngram == NULL ? (tem_ngram_info){.order = 0} : ngram->info;
}

double tem_ngram_probability(const tem_ngram *ngram, const uint32_t *history, size_t count,
                             uint32_t word) {
    if (ngram == NULL || (history == NULL && count > 0))
        return NAN;
    return ngram_probability(ngram, history, count, word);
}

/* ---- tem_attacker ---- */

static const char *const attacker_names[] = {
    [TEM_ATTACKER_ITSELF] = "itself",   [TEM_ATTACKER_NEAREST] = "nearest",
    [TEM_ATTACKER_WORD] = "word",       [TEM_ATTACKER_BIGRAM] = "bigram",
    [TEM_ATTACKER_TRIGRAM] = "trigram",
};
enum { ATTACKERS_END = sizeof attacker_names / sizeof *attacker_names };

static bool is_attacker(tem_attacker attacker) {
    return attacker > 0 && (unsigned)attacker < ATTACKERS_END;
}

const char *tem_attacker_name(tem_attacker attacker) {
    return is_attacker(attacker) ? attacker_names[attacker] : "unknown";
}

tem_status tem_attacker_parse(const char *name, tem_attacker *attacker, tem_error *error) {
    for (int i = 1; name != NULL && attacker != NULL && i < ATTACKERS_END; i++)
        if (strcmp(attacker_names[i], name) == 0) {
            *attacker = (tem_attacker)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT,
                     "an attacker is itself, nearest, word, bigram or trigram");
}

/* ---- tem_attack ---- */

static tem_status check_attack_options(const tem_attack_options *options, tem_error *error) {
    if (is_for_newer(options, error))
        return TEM_ERR_ARGUMENT;
    const tem_status status = check_expectation(options == NULL ? NULL : &options->expected, error);
    if (status == TEM_OK && options->beam > TEM_BEAM_MAX)
        return core_fail(error, TEM_ERR_ARGUMENT, "the beam must be 1 to %u words, or 0 for %u",
                         TEM_BEAM_MAX, TEM_BEAM_DEFAULT);
    return status;
}

static tem_status check_documents(const tem_documents *documents, tem_error *error) {
    if (is_for_newer(documents, error))
        return TEM_ERR_ARGUMENT;
    if (documents == NULL || (documents->ends == NULL && documents->count > 0))
        return core_fail(error, TEM_ERR_ARGUMENT, "documents are needed");
    return TEM_OK;
}

tem_status tem_attack_create(const tem_mechanism *mechanism, const tem_attack_options *options,
                             const tem_run *run, tem_attack **attack, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_attack_options(options, error));
    if (mechanism == NULL || attack == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a mechanism and a place for the attack are needed");
    return attackers_create(mechanism, options, run, attack, error);
}

tem_status tem_attack_create_from_pairs(const tem_model *model, const uint32_t *words,
                                        const uint32_t *outputs, size_t count,
                                        const tem_attack_options *options, const tem_run *run,
                                        tem_attack **attack, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_attack_options(options, error));
    if (model == NULL || words == NULL || outputs == NULL || count == 0 || attack == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, pairs and a place for the attack are needed");
    if (count > UINT32_MAX || options->pairs != 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "at most 2^32 - 1 pairs, and no number of pairs to draw");
    return attackers_create_from_pairs(model, words, outputs, count, options, run, attack, error);
}

void tem_attack_free(tem_attack *attack) {
    attackers_free(attack);
}

tem_status tem_attack_shares(const tem_attack *attack, double *shares, tem_error *error) {
    if (attack == NULL || shares == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an attack and a place for the shares are needed");
    memcpy(shares, attack->shares, (attack->words + (size_t)1) * sizeof *shares);
    return TEM_OK;
}

tem_status tem_attack_guess(const tem_attack *attack, tem_attacker attacker,
                            const tem_documents *released, const tem_run *run, uint32_t *guesses,
                            double *success, tem_error *error) {
    if (is_for_newer(run, error))
        return TEM_ERR_ARGUMENT;
    TRY(check_documents(released, error));
    if (attack == NULL || guesses == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "an attack and a place for guesses are needed");
    if (!is_attacker(attacker))
        return core_fail(error, TEM_ERR_ARGUMENT, "there is no such attacker");
    return attackers_guess(attack, attacker, released, run, guesses, success, error);
}

tem_status tem_attack_candidates(const tem_attack *attack, uint32_t released, uint32_t count,
                                 uint32_t *ids, double *likelihoods, double *posteriors,
                                 tem_error *error) {
    if (attack == NULL || ids == NULL || likelihoods == NULL || posteriors == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "an attack and places for the candidates are needed");
    if (released >= attack->words || count == 0 || count > attack->words)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a word of the model is needed, and at most all of its words");
    return attackers_candidates(attack, released, count, ids, likelihoods, posteriors, error);
}

tem_status tem_wilson_interval(uint64_t successes, uint64_t trials, double *low, double *high,
                               tem_error *error) {
    if (low == NULL || high == NULL || successes > trials)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "at most as many successes as trials, and places for the interval are "
                         "needed");
    wilson_interval(successes, trials, low, high);
    return TEM_OK;
}

tem_status tem_attack_choose(const tem_model *model, const tem_context_wish *wish,
                             const tem_run *run, tem_context_answer *answer, tem_error *error) {
    if (is_for_newer(run, error) || is_for_newer(wish, error))
        return TEM_ERR_ARGUMENT;
    if (model == NULL || wish == NULL || answer == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a model, a wish and a place for the answer are needed");
    TRY(check_attack_options(&wish->attack, error));
    TRY(check_documents(&wish->documents, error));
    if (!(wish->wanted > 0 && wish->wanted < 1))
        return core_fail(error, TEM_ERR_ARGUMENT, "the target is a share above 0 and below 1");
    if (wish->attacker != 0 && !is_attacker(wish->attacker))
        return core_fail(error, TEM_ERR_ARGUMENT, "there is no such attacker");
    return attackers_choose(model, wish, run, answer, error);
}
