/* report_page.h - the report as an HTML page: its options, its numbers and its file. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include "mechanism_options.h"
#include "tem_report.h"
#include "words_option.h"

#include <stdbool.h>

/* What the user may choose about a page. */
typedef struct page_options {
    const char *prior;       /* NULL: the default */
    const char *probe;       /* words, or the name of a file of words; NULL: none */
    const char *public_text; /* for draws in context; NULL: none */
} page_options;

/* A row of an option table. */
#define PROBE_OPTION(options)                                                                      \
    {                                                                                              \
        "probe", 0, OPTION_FILE, &(options).probe, "WORDS",                                        \
            "HTML report: show how often these PUBLIC words stay themselves; words with\n"         \
            "blanks between them, or a file with one per line",                                    \
            0, 0                                                                                   \
    }

/* Whether the name of a report asks for HTML: it ends in .html or .htm. */
bool page_is_html(const char *path);

/* Computes the numbers of a page; prints what went wrong. Returns an exit status.
 *   accountant   of the mechanism, or NULL: made for this call
 *   findings     receives the numbers; free with tem_findings_free */
int page_measure(const char *command, const tem_mechanism *mechanism, const tem_model *model,
                 const page_options *options, const tem_accountant *accountant, const tem_run *run,
                 bool quiet, tem_findings **findings);

/* Writes the page to a file, and replaces an existing one. choice: how the mechanism was chosen,
 * for the command that the page shows. Returns an exit status; prints what went wrong. */
int page_save(const char *path, const tem_findings *findings, const tem_report_page *page,
              const mechanism_choice *choice, const page_options *options);

#endif
