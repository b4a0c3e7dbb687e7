/* page_meaning.c - what the epsilon means on this vocabulary, and what it costs. */
#include "page/page.h"

#include <math.h>
#include <string.h>

static double units(tem_dist d) {
    return (double)d / TEM_DIST_ONE;
}

/* ---- what epsilon means ---- */

/* What a language model changes. */
static void put_language(markup *m, const page_source *s) {
    if (page_language(s) == NULL)
        return;
    SAY(m,
        LIT("<p>It draws each word after the words that the same document has released before, "
            "weighed by the public language model <strong>"),
        TEXT(page_language_name(s)),
        LIT("</strong>. The weights depend on public data and released words alone, and are the "
            "same for every word that may stand there. So the bound holds whatever the language "
            "model says.</p>\n"));
}

static void put_claim(markup *m, const page_source *s) {
    const tem_mechanism_properties *p = s->findings->info.properties;
    SAY(m, LIT("<p>The mechanism is <strong>"), TEXT(p->name), LIT("</strong>: "), TEXT(p->summary),
        LIT(".</p>\n"));
    if (p->caveat != NULL)
        SAY(m, LIT("<p>No bound holds for what it draws: "), TEXT(p->caveat),
            LIT(". This report gives no factor and no cost for it.</p>\n"));
    put_language(m, s);
}

static void put_factor_row(markup *m, const tem_findings *f, const char *name, double distance,
                           double loss, double proved) {
    SAY(m, LIT("<tr><th scope=\"row\">"), ONE_OF(name), LIT("</th><td class=\"number\">"),
        NUMBER(distance), LIT("</td><td class=\"number\">"), FACTOR(loss), LIT("</td>"));
    if (f->has_numbers && f->audit.is_metric)
        SAY(m, LIT("<td class=\"number\">"), FACTOR(proved), LIT("</td>"));
    markup_put(m, "</tr>\n");
}

static bool has_gamma(const tem_findings *f) {
    return f->info.gamma_steps > 0;
}

static void put_factors(markup *m, const tem_findings *f) {
    const double near = fmin(units(f->nearest), f->info.gamma);
    markup_put(m,
               "<div class=\"scroll\"><table>\n<caption>How much likelier an output can be for "
               "one word than for the other, at most</caption>\n<thead><tr><th scope=\"col\">Two "
               "words</th><th scope=\"col\" class=\"number\">distance</th>"
               "<th scope=\"col\" class=\"number\">by epsilon</th>");
    if (f->has_numbers && f->audit.is_metric)
        markup_put(m, "<th scope=\"col\" class=\"number\">proved here</th>");
    markup_put(m, "</tr></thead>\n<tbody>\n");
    put_factor_row(m, f, "a word and the one nearest to it (median word)", near,
                   f->info.epsilon * near, f->audit.realised * near);
    put_factor_row(m, f, "any two words, known or not", f->info.gamma, f->info.epsilon_gamma,
                   f->audit.local);
    markup_put(m, "</tbody>\n</table></div>\n");
}

/* For a law that does not fall off with the distance: the claim, and the bound B. */
static void put_claimed_bound(markup *m, const tem_findings *f) {
    SAY(m, LIT("<div class=\"box\">\n<p><strong>What this epsilon means.</strong> "),
        TEXT(f->info.properties->claim),
        LIT(".</p>\n<p>Whatever tem writes, it writes it at most "), FACTOR(f->info.bound),
        LIT(" times as often for one word as for any other, known or not (a loss of at most "),
        AT_MOST(f->info.bound),
        LIT("). Texts that differ in several words multiply these factors.</p>\n</div>\n"));
}

static void put_bound(markup *m, const tem_findings *f) {
    SAY(m,
        LIT("<div class=\"box\">\n<p><strong>What this epsilon means.</strong> Take two words "
            "at distance d. Whatever tem writes, it writes it at most exp("),
        NUMBER(f->info.epsilon),
        LIT(" d) times as often for one word as for the other. Texts that differ in several words "
            "multiply these factors.</p>\n<p>A factor near 1 hides which of the two words it was. "
            "A large factor bounds nothing in practice: then the numbers below, of how often words "
            "stay themselves and are guessed, say more than epsilon does.</p>\n</div>\n"));
    put_factors(m, f);
    if (f->has_numbers && f->audit.is_metric)
        SAY(m,
            LIT("<p>\"Proved here\" holds for this vocabulary: tem has compared all pairs of its "),
            COUNT(f->model.words), LIT(" words, and no pair loses more than "),
            AT_MOST(f->audit.realised), LIT(" per unit of distance.</p>\n"));
    if (f->has_numbers && !f->audit.is_metric)
        markup_put(m, "<p><strong>The distances of this model are not proved to be a metric, and "
                      "without that nothing is proved.</strong></p>\n");
    if (f->info.certificate[0] != '\0')
        markup_put(m,
                   "<p>The exponent comes from a certificate for this vocabulary: a tighter "
                   "proof of the same epsilon, with less noise than the usual exponent has.</p>\n");
}

static void put_effects(markup *m, const tem_findings *f) {
    const tem_summary *summary = &f->summary;
    if (!f->has_numbers)
        return;
    SAY(m, LIT("<p>In effect, the median word of a text stays itself in "),
        SHARE(summary->self_median), LIT(" of the cases, and its output is spread over about "),
        NUMBER(summary->support_median < 10 ? summary->support_median
                                            : floor(summary->support_median)),
        LIT(" words. This is for texts whose words follow "));
    page_put_prior(m, f);
    markup_put(m, ".</p>\n");
}

void page_put_meaning(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    html_begin_section(m, "epsilon", "What does this epsilon mean?");
    put_claim(m, s);
    if (s->why_not_private == NULL) {
        if (has_gamma(f))
            put_bound(m, f);
        else
            put_claimed_bound(m, f);
        put_effects(m, f);
    } else if (f->info.properties->caveat == NULL) {
        markup_put(m, "<p>Nothing for this output. The bound of the mechanism covers draws with "
                      "secret random numbers under the policies that draw for every word. This run "
                      "was not of that kind.</p>\n");
    }
    html_end_section(m);
}

/* ---- costs ---- */

static void put_cost_row(markup *m, const tem_findings *f, const char *name, double words) {
    SAY(m, LIT("<tr><th scope=\"row\">"), ONE_OF(name), LIT("</th><td class=\"number\">"),
        NUMBER(words), LIT("</td><td class=\"number\">"), AT_MOST(words * f->info.epsilon),
        LIT("</td><td class=\"number\">"), AT_MOST(words * f->info.bound), LIT("</td></tr>\n"));
}

static void put_cost_table(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    const tem_counts *c = s->page->counts;
    const run_value *people = &s->run.values[RUN_PEOPLE];
    const double charged = (double)s->run.values[RUN_WORDS_CHARGED].count;
    const bool is_once = s->has_run && s->page->job->text.repeat == TEM_REPEAT_ONCE;
    SAY(m,
        LIT("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Text</th>"
            "<th scope=\"col\" class=\"number\">"),
        ONE_OF(is_once ? "words, a repeated content word once" : "words"),
        LIT("</th>"
            "<th scope=\"col\" class=\"number\">cost per unit of "),
        TEXT(f->info.properties->unit),
        LIT("</th>"
            "<th scope=\"col\" class=\"number\">worst case</th></tr></thead>\n<tbody>\n"));
    put_cost_row(m, f, "one word", 1);
    if (!s->has_run) {
        put_cost_row(m, f, "a sentence", 10);
        put_cost_row(m, f, "a paragraph", 100);
        put_cost_row(m, f, "an article", 1000);
    } else if (c->documents > 0) {
        put_cost_row(m, f, "the mean document", charged / (double)c->documents);
        if (c->largest > 0)
            put_cost_row(m, f, "the largest document", (double)c->largest);
        if (!people->is_null && people->count > 0) {
            put_cost_row(m, f, "the mean person", charged / (double)people->count);
            put_cost_row(m, f, "the person with most words", (double)s->page->balance->largest);
        }
        put_cost_row(m, f, "all documents of this run", charged);
    }
    markup_put(m, "</tbody>\n</table></div>\n");
}

static void put_ledger(markup *m, const page_source *s) {
    const run_value *values = s->run.values;
    if (s->page->balance == NULL)
        return;
    markup_put(m, "<h3>Ledger</h3>\n<div class=\"scroll\"><table class=\"settings\">\n<tbody>\n");
    if (!values[RUN_PEOPLE].is_null)
        ROW(m, "People charged", COUNT(values[RUN_PEOPLE].count));
    const char *before =
        values[RUN_BY].is_null ? "Spent before" : "Spent before by the person with the least left";
    if (s->page->balance->is_mixed)
        ROW(m, before, LIT("charges in other units or for other models, which do not add up"));
    else
        ROW(m, before, NUMBER(s->page->balance->spent_before), LIT(" per unit of "),
            TEXT(s->findings->info.properties->unit));
    ROW(m, "Charged for this run", NUMBER(s->page->balance->spent));
    if (!values[RUN_BUDGET].is_null)
        ROW(m, values[RUN_BY].is_null ? "Budget" : "Budget of each person",
            NUMBER(values[RUN_BUDGET].number), LIT("; "), NUMBER(s->page->balance->left),
            LIT(" left"));
    markup_put(m, "</tbody>\n</table></div>\n");
}

void page_put_cost(markup *m, const page_source *s) {
    html_begin_section(m, "cost", "What does it cost per document and per person?");
    if (s->why_not_private != NULL) {
        markup_put(m, "<p>No cost can be stated: nothing bounds what this output tells.</p>\n");
        html_end_section(m);
        return;
    }
    markup_put(m, "<p>The costs of words add up: over a document, over all documents of a person, "
                  "and over all runs.</p>\n");
    if (s->has_run && page_has_several_fields(s->page->job))
        markup_put(m, "<p><strong>Each private field of a record is a document here.</strong> A "
                      "whole record costs the sum of its fields.</p>\n");
    put_cost_table(m, s);
    markup_put(m,
               "<p><strong>Worst case.</strong> If it is W, no output is more than exp(W) times as "
               "likely for one text as for another text with as many pieces. It assumes that every "
               "word may be any other word. Above 10 it excludes nothing in practice: tem protects "
               "words, not documents.</p>\n");
    if (has_gamma(s->findings))
        markup_put(m, "<p><strong>Per unit of distance.</strong> Multiply it by the mean distance "
                      "that the words of two texts are apart: texts that differ little cost "
                      "little.</p>\n");
    if (s->has_run && s->run.values[RUN_PEOPLE].is_null)
        markup_put(
            m, "<p>This report does not know who wrote which text. A run with a ledger "
               "and the option <code>by</code>, which takes the field that names people, gives the "
               "costs per person.</p>\n");
    put_ledger(m, s);
    html_end_section(m);
}
