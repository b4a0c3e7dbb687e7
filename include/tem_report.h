/* tem_report.h - the report of a run for the person who must sign: one HTML file.
 *
 * tem_report_json of tem.h is for programs. The page of this header answers, in words, what a run
 * released and what it did not release, what its epsilon means on this vocabulary, what it costs,
 * what an attacker can guess, and what no proof covers (docs/REPORT.md). It loads nothing, runs no
 * script, and prints on paper.
 *
 * It takes two steps. tem_findings_create computes what the mechanism does to words; that depends
 * on public things only, so do it before the run: a run whose report cannot be made then releases
 * nothing. tem_report_html writes the page. The rules of tem.h hold here, too. */
#ifndef TEM_REPORT_H
#define TEM_REPORT_H

#include "tem_account.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a mechanism does to words: how often they stay themselves, and what an attacker guesses. It
 * does not change once it is made. */
typedef struct tem_findings tem_findings;

/* The most words that a report shows by name because the user asked for them. */
#define TEM_PROBES_MAX 1000u

/* What to compute. All of it is public: nothing here may come from the text to be protected. */
typedef struct tem_findings_options {
    const tem_prior *prior;           /* of the mechanism's model; needed */
    const char *prior_name;           /* how the page calls it, such as "zipf"; needed */
    const tem_accountant *accountant; /* of the mechanism's model and weights; NULL: the call makes
                                       * one, which looks at all pairs of words */
    const uint32_t *probes; /* `probe_count` ids of words that the user names; the page shows how
                             * often each stays itself */
    size_t probe_count;     /* 0 to TEM_PROBES_MAX */
    const tem_point *curve; /* `curve_count` points of the page's curve, in ascending order of
                             * epsilon; only `epsilon` and the `bayes` and `self_median` of the
                             * summary matter. No points: the call computes some around the
                             * mechanism's epsilon, unless its s comes from a certificate, which
                             * holds for one epsilon only */
    uint32_t curve_count;   /* 0 to TEM_CURVE_MAX */
    const char *missing_probes; /* words that the user names and the model does not have, as the
                                 * page shows them; NULL: none */
    const char *public_text;    /* for a mechanism with a language model: the file of a PUBLIC text,
                                 * as tem_context_exposure_measure takes it. The page shows how
                                 * often words stay there, and quotes the places that are exposed
                                 * most. NULL: none */
    uint64_t reserved[2];       /* must be 0 */
} tem_findings_options;

/* Computes the findings. Of a mechanism whose law has not the form of TEM's (`is_exponential` of
 * its properties is 0) they have fewer numbers, or none, and the page says so.
 *   mechanism   must live as long as the findings
 *   findings    receives the findings; free with tem_findings_free
 * Fails with TEM_ERR_ARGUMENT (also: a probe or a prior of another model) or as
 * tem_accountant_create, tem_accountant_audit and tem_accountant_summarise do. Cost: an accountant
 * and about ten summaries with `bayes`: some seconds for 33,860 words. */
TEM_API tem_status tem_findings_create(const tem_mechanism *mechanism,
                                       const tem_findings_options *options, const tem_run *run,
                                       tem_findings **findings, tem_error *error);
TEM_API void tem_findings_free(tem_findings *findings);

/* What the page is about. */
typedef struct tem_report_page {
    const tem_job *job;         /* the job that ran; NULL: there was no run, and the page is about
                                 * the mechanism alone */
    const tem_counts *counts;   /* of the run; needed with a job, else NULL */
    const tem_balance *balance; /* what the ledger of the job says after the run; NULL: the page
                                 * does not mention a ledger */
    const tem_fields *fields;   /* the fields of the records, as tem_privatize_files has found them;
                                 * NULL: the page names those that the job names */
    const char *command;        /* how to ask for the same run again, without private names; the
                                 * page shows it as it is; NULL: it does not */
    const char *language;       /* of the model's words, such as "English"; NULL: the page does not
                                 * name it */
    uint64_t reserved[7];       /* must be 0 */
} tem_report_page;

/* Writes the page. It has words of the vocabulary and the words that the user names for it, and no
 * other word. Its counts depend on the private text, so the page is for the owner of the text only,
 * as the JSON is. Names of inputs and outputs are not in it; names of fields are.
 *   html     receives UTF-8, NUL-terminated; free with tem_text_free. Names that are not UTF-8 have
 *            U+FFFD instead of the invalid bytes
 *   bytes    receives its length without the NUL
 * Fails with TEM_ERR_ARGUMENT (also: a job without counts, a balance without a ledger) or
 * TEM_ERR_MEMORY. Any thread. */
TEM_API tem_status tem_report_html(const tem_findings *findings, const tem_report_page *page,
                                   char **html, size_t *bytes, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
