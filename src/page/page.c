/* page.c - the report of a run as one HTML page: its frame, and its sections in order. */
#include "page/page.h"

#include "job/spending.h"
#include "picture/picture.h"

#include <string.h>

/* Nothing is loaded and nothing runs, whatever a viewer does. */
static const char policy[] = "<meta http-equiv=\"Content-Security-Policy\" "
                             "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";

static void put_head(markup *m, const page_source *s) {
    markup_put(m, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    markup_put(m, policy);
    markup_put(m, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" "
                  "content=\"noindex\">\n<title>");
    markup_put(m,
               s->has_run ? "Privacy report of a text release" : "Privacy report of a mechanism");
    markup_put(m, "</title>\n<style>\n");
    markup_put(m, page_style());
    markup_put(m, picture_style());
    markup_put(m, "</style>\n</head>\n<body>\n");
}

static void put_header(markup *m, const page_source *s) {
    SAY(m, LIT("<header>\n<p class=\"kicker\">Privacy report</p>\n<h1>"),
        ONE_OF(!s->has_run                  ? "Protection of words at epsilon "
               : s->why_not_private == NULL ? "Private text at epsilon "
                                            : "Text without a proof, epsilon "),
        NUMBER(s->findings->info.epsilon), LIT("</h1>\n<p class=\"note\">Made by tem "),
        LIT(TEM_VERSION), LIT(" at <time>"), TEXT(s->run.time), LIT("</time>. "),
        ONE_OF(s->has_run ? "For the owner of the text only: the counts depend on the text."
                          : "No text was read: everything here is public."),
        LIT("</p>\n</header>\n"));
}

static void put_warning(markup *m, const page_source *s) {
    if (s->why_not_private != NULL)
        SAY(m,
            LIT("<div class=\"warning\" role=\"note\">\n<p><strong>This output is not "
                "private.</strong> "),
            LIT("The reason: "), TEXT(s->why_not_private),
            LIT(".</p>\n<p>Nothing is proved about it. Do not release it as private "
                "text.</p>\n</div>\n"));
    if (s->has_run && s->page->job->dry_run)
        markup_put(m,
                   "<div class=\"warning\" role=\"note\">\n<p><strong>This was a dry run.</strong> "
                   "tem counted words. It drew nothing and wrote no output.</p>\n</div>\n");
}

static void fill(page_source *s, const tem_findings *findings, const tem_report_page *page) {
    static const tem_job no_job;
    static const tem_counts no_counts;
    const tem_job *job = page->job != NULL ? page->job : &no_job;
    s->findings = findings;
    s->page = page;
    s->has_run = page->job != NULL;
    report_fill(&s->run, findings->mechanism, job,
                page->counts != NULL ? page->counts : &no_counts);
    if (page->balance != NULL)
        report_fill_ledger(&s->run, job, page->balance);
    /* PRIVACY: the same judgement as in the JSON report and in the ledger. */
    s->why_not_private = spending_why_not_private(findings->mechanism, job);
}

tem_status page_write(const tem_findings *findings, const tem_report_page *page, core_buffer *out,
                      tem_error *error) {
    page_source s;
    markup m = {.out = out, .error = error};
    fill(&s, findings, page);
    put_head(&m, &s);
    put_header(&m, &s);
    markup_put(&m, "<main>\n");
    put_warning(&m, &s);
    page_put_summary(&m, &s);
    if (s.has_run)
        page_put_release(&m, &s);
    page_put_meaning(&m, &s);
    page_put_cost(&m, &s);
    page_put_words(&m, &s);
    page_put_attack(&m, &s);
    page_put_limits(&m, &s);
    page_put_record(&m, &s);
    markup_put(&m, "</main>\n</body>\n</html>\n");
    return m.status;
}
