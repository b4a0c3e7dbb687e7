/* page.h - the report of a run as one HTML page, for the person who must sign.
 *
 * A section of the page is one function; page.c puts them in order. docs/REPORT.md says what each
 * answers.
 *
 * PRIVACY: what a section shows of a run is its settings, the names of its fields, and counts. No
 * section sees a text, an input or an output. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "job/report.h"
#include "page/findings.h"
#include "page/html.h"

typedef struct page_source {
    const tem_findings *findings;
    const tem_report_page *page;
    report run;                  /* the values of the report; without a run those of an empty job */
    bool has_run;                /* there was a run: the page has a job and counts */
    const char *why_not_private; /* NULL: a bound holds */
} page_source;

/* As tem_report_html; the caller has checked the arguments. */
tem_status page_write(const tem_findings *findings, const tem_report_page *page, core_buffer *out,
                      tem_error *error);

/* Whether the job names private fields; else the whole text of each document is private. */
bool page_has_fields(const tem_job *job);

/* Whether records have several private fields, each of which is a document of its own (tem.h). */
bool page_has_several_fields(const tem_job *job);

void page_put_summary(markup *m, const page_source *s);
void page_put_release(markup *m, const page_source *s);
void page_put_meaning(markup *m, const page_source *s);
void page_put_cost(markup *m, const page_source *s);
void page_put_words(markup *m, const page_source *s);
void page_put_attack(markup *m, const page_source *s);
void page_put_limits(markup *m, const page_source *s);
void page_put_record(markup *m, const page_source *s);

/* "the prior NAME", with what the name means if tem knows it. */
void page_put_prior(markup *m, const tem_findings *f);

/* How often words stay themselves, for a mechanism with a language model. */
void page_put_context(markup *m, const page_source *s);

/* The language model, or NULL; and how the page calls it. */
const tem_language *page_language(const page_source *s);
const char *page_language_name(const page_source *s);

/* The stylesheet of the page, without that of the pictures. */
const char *page_style(void);

#endif
