/* findings.h - what a mechanism does to words, for a report.
 *
 * PRIVACY: findings come from the mechanism, the prior and the words that the user names: public
 * things. No function of this file sees a text. */
#ifndef PAGE_FINDINGS_H
#define PAGE_FINDINGS_H

#include "audit/accountant.h"
#include "audit/context_exposure.h"
#include "tem_report.h"

enum { FINDINGS_EXPOSED = 20, FINDINGS_LEVELS = 6, FINDINGS_PLACES = 10 };

/* Shares of words for which the page says how often they stay themselves at most. */
extern const double findings_levels[FINDINGS_LEVELS];

struct tem_findings {
    const tem_mechanism *mechanism;
    tem_mechanism drawn; /* the same without its map of outputs: the numbers are those of the draws.
                          * It points into `mechanism` */
    tem_mechanism_info info;
    tem_model_info model;
    char *prior_name;
    char *missing_probes; /* words of the user that the model does not have; may be empty */
    tem_dist nearest;     /* the median distance of a word to its nearest word */

    bool has_numbers; /* the law has the form of TEM's; else the fields below are 0, NULL or NaN */
    tem_audit audit;
    tem_summary summary;
    double chance;  /* success of a guess that does not see the output: the most frequent word */
    double *selves; /* N_w of the words that a text can contain, ascending */
    uint32_t self_count;
    double of_vocabulary[FINDINGS_LEVELS]; /* N_w at findings_levels: each word counts once, */
    double of_text[FINDINGS_LEVELS];       /* or as often as the prior expects it */
    tem_exposure exposed[FINDINGS_EXPOSED];
    uint32_t exposed_count;
    tem_exposure *probes; /* the most exposed first */
    uint32_t probe_count;
    double curve_epsilon[TEM_CURVE_MAX], curve_guess[TEM_CURVE_MAX], curve_self[TEM_CURVE_MAX];
    uint32_t curve_count;

    bool has_context; /* a public text was given; else the next three are 0 */
    tem_context_exposure context;
    tem_exposed_place places[FINDINGS_PLACES];
    uint32_t place_count;

    /* Estimates for other mechanisms whose law can be computed, without the language model; NaN:
     * not known. */
    double estimated_median, estimated_exposed;
};

/* As tem_findings_create and tem_findings_free; the caller has checked pointers and ids. */
tem_status findings_create(const tem_mechanism *mechanism, const tem_findings_options *options,
                           const tem_run *run, tem_findings **findings, tem_error *error);
void findings_free(tem_findings *findings);

#endif
