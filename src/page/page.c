/* page.c - the report of a run as one HTML page: its frame, and its sections in order. */
#include "page/page.h"

#include "job/spending.h"
#include "picture/picture.h"
#include "records/fields.h"

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
    SAY(m, LIT("<header>\n<p class=\"kicker\">"),
        ONE_OF(s->has_run ? "Release of a text" : "Mechanism without a text"), LIT("</p>\n<h1>"),
        ONE_OF(s->why_not_private == NULL ? "Privacy report: epsilon "
                                          : "Text without a proof, epsilon "),
        NUMBER(s->findings->info.epsilon), LIT("</h1>\n<p class=\"note\">Made by tem "),
        LIT(TEM_VERSION), LIT(" at <time>"), TEXT(s->run.time), LIT("</time>. "),
        ONE_OF(s->has_run ? "For the owner of the text only: the counts depend on the text."
                          : "No text was read: everything here is public."),
        LIT("</p>\n</header>\n"));
}

static bool looks_personal(const tem_field *field) {
    return field->use == TEM_FIELD_UNCHANGED && field->looks_like != NULL;
}

/* Names the unchanged fields that look personal, before any number. */
static void put_personal(markup *m, const tem_fields *fields) {
    uint64_t personal = 0, named = 0;
    for (size_t i = 0; fields != NULL && i < fields_count(fields); i++) {
        const tem_field field = fields_get(fields, i);
        personal += looks_personal(&field);
    }
    if (personal == 0)
        return;
    SAY(m, LIT("<div class=\"warning\" role=\"note\">\n<p>"),
        ONE_OF(personal == 1 ? "The field " : "The fields "));
    for (size_t i = 0; i < fields_count(fields); i++) {
        const tem_field field = fields_get(fields, i);
        if (looks_personal(&field))
            SAY(m, ONE_OF(named++ == 0 ? "<code>" : ", <code>"),
                BYTES(field.name, field.name_bytes), LIT("</code>"));
    }
    markup_put(m, personal == 1 ? " is released unchanged and looks personal: look at it before "
                                  "you sign.</p>\n</div>\n"
                                : " are released unchanged and look personal: look at them before "
                                  "you sign.</p>\n</div>\n");
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
    if (s->has_run)
        put_personal(m, s->page->fields);
}

void page_put_prior(markup *m, const tem_findings *f) {
    const char *name = f->prior_name;
    SAY(m, LIT("the prior <em>"), TEXT(name), LIT("</em>"));
    if (strcmp(name, "zipf") == 0 || strncmp(name, "zipf:", strlen("zipf:")) == 0)
        markup_put(m, " (words as frequent as Zipf's law says, by their rank in the vocabulary)");
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
    /* PRIVACY: the same judgment as in the JSON report and in the ledger. */
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
