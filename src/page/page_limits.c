/* page_limits.c - what no proof covers. docs/THREAT_MODEL.md has the whole list. */
#include "page/page.h"

static void put_run_limits(markup *m, const page_source *s) {
    const tem_job *job = s->page->job;
    if (page_has_fields(job))
        SAY(m, LIT("<li><strong>The other fields</strong> of each record"),
            ONE_OF(job->dropped_count > 0 ? ", except those that are left out" : ""),
            LIT(". They are released byte for byte.</li>\n"));
    if (s->run.values[RUN_RELEASED_UNSEEN].count > 0)
        SAY(m, LIT("<li><strong>"), COUNT(s->run.values[RUN_RELEASED_UNSEEN].count),
            LIT(" pieces</strong> that a policy released as they are.</li>\n"));
    if (job->text.oov == TEM_OOV_DROP || job->text.oov == TEM_OOV_MASK)
        markup_put(m, "<li><strong>Which words are unknown.</strong> The chosen policy shows "
                      "it.</li>\n");
    if (job->missing == TEM_MISSING_KEEP)
        markup_put(m, "<li><strong>Which texts are missing.</strong> The chosen policy shows "
                      "it.</li>\n");
    if (job->insecure_seeded)
        markup_put(m, "<li><strong>Anything.</strong> The random numbers of this run can be "
                      "computed from its seed.</li>\n");
    if (job->ledger == NULL)
        markup_put(m, "<li><strong>Earlier runs.</strong> This run has no ledger, so this report "
                      "does not know what was released before.</li>\n");
}

void page_put_limits(markup *m, const page_source *s) {
    html_begin_section(m, "limits", "What is not covered?");
    markup_put(m,
               "<ul>\n<li><strong>People and documents.</strong> The more words somebody has "
               "written, the more the output tells about that person.</li>\n"
               "<li><strong>The number of pieces</strong>: how many words each document has, how "
               "many documents there are, and their order.</li>\n");
    markup_put(m, s->has_run && s->page->job->text.repeat == TEM_REPEAT_ONCE
                      ? "<li><strong>Where content words repeat.</strong> A content word that a "
                        "document says again has the same output there, so the output shows the "
                        "places. Function words such as \"the\" are drawn each time.</li>\n"
                      : "<li><strong>Repeated words.</strong> A word that a text says k times is "
                        "drawn k times, and costs k times as much. If it stays itself with "
                        "probability p, it shows at least once with probability 1 - (1 - "
                        "p)<sup>k</sup>.</li>\n");
    if (s->has_run)
        put_run_limits(m, s);
    markup_put(m, "<li><strong>Repeated runs.</strong> Two outputs of one text cost twice, and "
                  "averaging many of them shows the words.</li>\n"
                  "<li><strong>Time.</strong> The time of a draw depends on the word");
    markup_put(m, page_language(s) != NULL ? " and on the words before it: up to milliseconds for "
                                             "one word"
                                           : "");
    markup_put(m, ". Nobody may measure it from outside.</li>\n");
    if (s->why_not_private == NULL)
        markup_put(m, "<li><strong>Context.</strong> Epsilon holds against every attacker; a guess "
                      "at a word is for one who sees single words.</li>\n");
    markup_put(
        m, "<li><strong>Sources that are not public.</strong> The model, the prior, epsilon and "
           "all other settings must not come from the protected text. tem cannot check "
           "that.</li>\n"
           "<li><strong>This report.</strong> ");
    markup_put(m, s->has_run ? "Its counts depend on the text. Keep it with the text.</li>\n</ul>\n"
                             : "It says nothing about a particular text.</li>\n</ul>\n");
    html_end_section(m);
}
