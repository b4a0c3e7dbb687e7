/* bayes.h - how often the best guess at a word from its output is right. */
#ifndef AUDIT_BAYES_H
#define AUDIT_BAYES_H

#include "audit/summary.h"

/* The sum over outputs y of max over w of f_w P(y | w), f being the frequencies: what an adversary
 * gets right who knows the mechanism and how often each word is used.
 *   log_totals   ln Z(w) of every word
 * The maximum is over all words. TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Cost: for each y the
 * words of its list, and those others that could be better by what the index says. */
tem_status bayes_success(const summary_source *source, const double *log_totals, const tem_run *run,
                         double *success, tem_error *error);

#endif
