/* attackers.h - attackers who guess the words behind released words. */
#ifndef ATTACK_ATTACKERS_H
#define ATTACK_ATTACKERS_H

#include "attack/sequence.h"

struct tem_attack {
    const tem_model *model;
    const tem_ngram *ngram; /* or NULL */
    emission *emission;
    double *shares; /* of all inputs, as tem_channel_expect gives them */
    uint32_t words, beam;
};

/* As the functions tem_attack_... of tem_attack.h; the caller has checked the pointers. */
tem_status attackers_create(const tem_mechanism *mechanism, const tem_attack_options *options,
                            const tem_run *run, tem_attack **attack, tem_error *error);
tem_status attackers_create_from_pairs(const tem_model *model, const uint32_t *words,
                                       const uint32_t *outputs, size_t count,
                                       const tem_attack_options *options, const tem_run *run,
                                       tem_attack **attack, tem_error *error);
void attackers_free(tem_attack *attack);
tem_status attackers_guess(const tem_attack *attack, tem_attacker attacker,
                           const tem_documents *released, const tem_run *run, uint32_t *guesses,
                           double *success, tem_error *error);
tem_status attackers_candidates(const tem_attack *attack, uint32_t released, uint32_t count,
                                uint32_t *ids, double *likelihoods, double *posteriors,
                                tem_error *error);

/* Fails with TEM_ERR_ARGUMENT if the ends of documents do not ascend, or a word is none of a model
 * of `words` words. */
tem_status attackers_check_documents(const tem_documents *documents, uint32_t words,
                                     tem_error *error);

/* As tem_attack_choose. */
tem_status attackers_choose(const tem_model *model, const tem_context_wish *wish,
                            const tem_run *run, tem_context_answer *answer, tem_error *error);
#endif
