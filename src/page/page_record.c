/* page_record.c - the end of the page: what identifies the run, how to check it, and signatures. */
#include "page/page.h"

#include <string.h>

static void put_exponent(markup *m, const tem_mechanism_info *info) {
    if (info->s_steps == 0)
        return;
    ROW(m, "Exponent s", NUMBER(info->s), LIT(" (exactly "), COUNT(info->s_steps),
        LIT(" steps of 2<sup>-20</sup>)"));
    if (info->gamma_steps > 0)
        ROW(m, "Gamma", NUMBER(info->gamma), LIT(" (exactly "), COUNT(info->gamma_steps),
            LIT(" steps of 2<sup>-16</sup>)"));
    if (info->beta > 0)
        ROW(m, "Beta", NUMBER(info->beta));
}

static void put_code(markup *m, const char *name, const char *text) {
    if (text[0] != '\0')
        ROW(m, name, LIT("<code>"), TEXT(text), LIT("</code>"));
}

/* The name of a policy. A job may have one that this version does not know; no bound holds then. */
static const char *policy(const page_source *s, run_field field) {
    const run_value *value = &s->run.values[field];
    return value->is_null ? "(not known)" : value->text;
}

static void put_settings(markup *m, const page_source *s) {
    const tem_mechanism_info *info = &s->findings->info;
    const run_value *values = s->run.values;
    markup_put(m, "<div class=\"scroll\"><table class=\"settings\">\n<tbody>\n");
    ROW(m, "Program", LIT("tem " TEM_VERSION));
    ROW(m, "Time", TEXT(s->run.time), LIT(" (UTC)"));
    put_code(m, "Model (BLAKE2b)", s->findings->model.hash);
    ROW(m, "Vocabulary", COUNT(s->findings->model.words), LIT(" words, of which "),
        COUNT(s->findings->model.excluded), LIT(" are never outputs"));
    put_code(m, "Certificate (BLAKE2b)", info->certificate);
    ROW(m, "Mechanism", TEXT(info->properties->name));
    ROW(m, "Epsilon", NUMBER(info->epsilon));
    put_exponent(m, info);
    ROW(m, "Weights", TEXT(values[RUN_WEIGHTS].text));
    put_code(m, "Numbers of the mechanism", info->numbers);
    if (page_language(s) != NULL) {
        ROW(m, "Language model", TEXT(page_language_name(s)));
        put_code(m, "Language model (BLAKE2b)", page_language(s)->hash);
    }
    if (!values[RUN_NEVER].is_null)
        ROW(m, "Words never released", COUNT(values[RUN_NEVER].count));
    put_code(m, "Map of the outputs (BLAKE2b)", info->remap);
    ROW(m, "Prior of the guess", TEXT(s->findings->prior_name));
    if (s->has_run)
        ROW(m, "Policies", LIT("unknown words "), TEXT(policy(s, RUN_OOV)), LIT(", punctuation "),
            TEXT(policy(s, RUN_PUNCTUATION)), LIT(", missing texts "), TEXT(policy(s, RUN_MISSING)),
            LIT(", order "), TEXT(policy(s, RUN_ORDER)), LIT(", style "),
            TEXT(policy(s, RUN_STYLE)));
    markup_put(m, "</tbody>\n</table></div>\n");
}

static void put_signatures(markup *m) {
    static const char *const roles[] = {"Prepared by", "Reviewed by", "Released by"};
    html_begin_section(m, "signatures", "Who has signed?");
    markup_put(m, "<table class=\"signatures\">\n<thead><tr><th scope=\"col\">Role</th>"
                  "<th scope=\"col\">Name</th><th scope=\"col\">Date</th>"
                  "<th scope=\"col\">Signature</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        SAY(m, LIT("<tr><th scope=\"row\">"), ONE_OF(roles[i]),
            LIT("</th><td></td><td></td><td></td></tr>\n"));
    markup_put(m, "</tbody>\n</table>\n");
    html_end_section(m);
}

void page_put_record(markup *m, const page_source *s) {
    html_begin_section(m, "record", "How can somebody else check this?");
    SAY(m,
        LIT("<p>Whoever has the program, the model and these settings computes the numbers of "
            "this report again. "),
        ONE_OF(s->has_run && s->page->job->insecure_seeded
                   ? "Whoever also has the text and the seed draws the same words again.</p>\n"
                   : "The drawn words cannot be drawn again: their random numbers are not "
                     "kept.</p>\n"));
    put_settings(m, s);
    if (s->page->command != NULL)
        SAY(m, LIT("<p>The settings as a command, without the names of files:</p>\n<pre><code>"),
            TEXT(s->page->command), LIT("</code></pre>\n"));
    html_end_section(m);
    put_signatures(m);
}
