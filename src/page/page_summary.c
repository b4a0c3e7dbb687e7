/* page_summary.c - the beginning of the page: a verdict, the main numbers, and what whoever signs
 * accepts. */
#include "page/page.h"
#include "records/fields.h"

#include <math.h>
#include <string.h>

enum { LEVEL_95 = 3 }; /* of findings_levels */

/* Above these the verdict says how many words come out unchanged. */
static const double median_notable = 0.25, exposed_notable = 0.5;

/* How many known words of the run stay themselves, as the prior expects it. Unknown words are drawn
 * from all words: they practically never stay themselves. */
static uint64_t expected_unchanged(const page_source *s) {
    const tem_counts *c = s->page->counts;
    return (uint64_t)round((double)(c->words - c->unknown) *
                           fmin(s->findings->summary.self_mean, 1));
}

static void put_unchanged_words(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    const bool is_dry = s->has_run && s->page->job->dry_run;
    if (!(f->summary.self_median > median_notable || f->summary.self_exposed > exposed_notable))
        return;
    if (s->has_run)
        SAY(m, LIT(" Expect that about "), COUNT(expected_unchanged(s)), LIT(" of the "),
            COUNT(s->page->counts->words),
            ONE_OF(is_dry ? " words would come out unchanged" : " words come out unchanged"));
    else
        SAY(m, LIT(" Expect that about "), SHARE(fmin(f->summary.self_mean, 1)),
            LIT(" of the words of a text come out unchanged"));
    if (f->summary.self_exposed > exposed_notable)
        SAY(m, LIT("; the most exposed word does so in "), SHARE(fmin(f->summary.self_exposed, 1)),
            LIT(" of the cases"));
    markup_put(m, ".");
}

/* The judgment where the summary has no numbers: what draws or one law of some words tell. */
static void put_estimated(markup *m, const tem_findings *f) {
    if (f->estimated_exposed > TEM_SELF_QUANTILE_LARGE) /* not NaN */
        SAY(m,
            LIT("A bound is proved, but it protects little: one word in 20 of the vocabulary "
                "stays itself in more than "),
            SHARE(fmin(f->estimated_exposed, 1)), LIT(" of the cases."));
    else if (!isnan(f->estimated_median))
        SAY(m, LIT("A bound is proved. The median word of a text stays itself in about "),
            SHARE(fmin(f->estimated_median, 1)), LIT(" of the cases."));
    else
        markup_put(m, "A bound is proved. How often words stay themselves is not computed for this "
                      "mechanism.");
}

/* The judgment in one sentence. The limits are those of the warnings of a run (tem.h). */
static void put_verdict(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    const double median = f->summary.self_median, exposed = f->of_vocabulary[LEVEL_95];
    markup_put(m, "<p class=\"verdict\">");
    if (s->why_not_private != NULL)
        markup_put(m, "No bound holds for this output, and this report claims none.");
    else if (page_language(s) != NULL && f->estimated_exposed > TEM_SELF_QUANTILE_LARGE)
        SAY(m,
            LIT("A bound is proved, but it protects little: without the language model one word in "
                "20 of the vocabulary stays itself in more than "),
            SHARE(fmin(f->estimated_exposed, 1)),
            LIT(" of the cases, and words that the context expects stay more often."));
    else if (f->has_context)
        SAY(m, LIT("A bound is proved. In a public text, the median content word stays itself in "),
            SHARE(f->context.median), LIT(" of the cases, and "), SHARE(f->context.above_half),
            LIT(" of the content words stay in more than half of the cases."));
    else if (page_language(s) != NULL)
        markup_put(m, "A bound is proved. How often words stay themselves depends on the words "
                      "before them, and was not measured in context.");
    else if (!f->has_numbers)
        put_estimated(m, f);
    else if (exposed > TEM_SELF_QUANTILE_LARGE)
        SAY(m,
            LIT("A bound is proved, but it protects little: one word in 20 of the vocabulary "
                "stays itself in more than "),
            SHARE(exposed), LIT(" of the cases."));
    else if (median >= 0.5)
        SAY(m,
            LIT("A bound is proved, but most words of a typical text come out unchanged: the "
                "median word stays itself in "),
            SHARE(median), LIT(" of the cases."));
    else
        SAY(m,
            LIT("A bound is proved, and most words of a typical text are replaced: the median "
                "word stays itself in "),
            SHARE(median), LIT(" of the cases."));
    if (s->why_not_private == NULL && f->has_numbers)
        put_unchanged_words(m, s);
    if (s->why_not_private == NULL && !s->run.values[RUN_CONDITION].is_null)
        SAY(m, LIT(" <strong>But "), TEXT(s->run.values[RUN_CONDITION].text), LIT(".</strong>"));
    markup_put(m, "</p>\n");
}

#define FIGURE(m, name, ...)                                                                       \
    do {                                                                                           \
        SAY(m, LIT("<div><dt>"), LIT(name), LIT("</dt><dd>"));                                     \
        SAY(m, __VA_ARGS__);                                                                       \
        markup_put(m, "</dd></div>\n");                                                            \
    } while (0)

static void put_run_figures(markup *m, const page_source *s) {
    const tem_counts *c = s->page->counts;
    const bool is_dry = s->page->job->dry_run != 0;
    const bool is_once = s->page->job->text.repeat == TEM_REPEAT_ONCE;
    FIGURE(m, "Words", COUNT(c->words), LIT("<small>in "), COUNT(c->documents),
           ONE_OF(c->documents == 1 ? " document" : " documents"),
           ONE_OF(is_dry    ? ", counted"
                  : is_once ? ", a repeated content word drawn once"
                            : ", each drawn anew"),
           LIT("</small>"));
    FIGURE(m, "Pieces released unseen", COUNT(s->run.values[RUN_RELEASED_UNSEEN].count),
           LIT("<small>by a policy, as they were</small>"));
}

/* PRIVACY: an expectation from public numbers and the counts. It does not look at the output. */
static void put_unchanged_figure(markup *m, const page_source *s) {
    FIGURE(m, "Words that come out unchanged", LIT("about "), COUNT(expected_unchanged(s)),
           LIT("<small>of "), COUNT(s->page->counts->words),
           LIT(" words; the output does not say which. This is the mean for words that are used as "
               "the prior "),
           TEXT(s->findings->prior_name), LIT(" says. Unknown words practically never stay "),
           ONE_OF(s->findings->info.remap[0] != '\0' ? "themselves. Before the map of the outputs."
                                                     : "themselves."),
           LIT("</small>"));
}

static void put_figures(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    const tem_summary *summary = &f->summary;
    markup_put(m, "<dl class=\"figures\">\n");
    if (s->has_run)
        put_run_figures(m, s);
    /* PRIVACY: the effects of the mechanism are not those of an output that its bound does not
     * cover. */
    if (s->why_not_private == NULL && f->has_numbers) {
        if (s->has_run)
            put_unchanged_figure(m, s);
        FIGURE(m, "The median word of a text stays itself", SHARE(summary->self_median),
               LIT("<small>of the cases</small>"));
        FIGURE(m, "The best guess at a word is right", SHARE(fmin(summary->bayes, 1)),
               LIT("<small>of the cases; "), SHARE(f->chance),
               LIT(" without seeing the output</small>"));
        if (!isnan(summary->self_exposed))
            FIGURE(m, "The most exposed word stays itself", SHARE(fmin(summary->self_exposed, 1)),
                   LIT("<small>of the cases</small>"));
    } else if (s->why_not_private == NULL && !isnan(f->estimated_median)) {
        FIGURE(m, "The median word of a text stays itself", SHARE(fmin(f->estimated_median, 1)),
               LIT("<small>of the cases, estimated"),
               ONE_OF(page_language(s) != NULL
                          ? " without the language model; words that the context expects stay more "
                            "often</small>"
                          : "</small>"));
    }
    markup_put(m, "</dl>\n");
}

static void put_unchanged(markup *m, const page_source *s) {
    const tem_fields *fields = s->page->fields;
    uint64_t unchanged = 0;
    for (size_t i = 0; fields != NULL && i < fields_count(fields); i++)
        unchanged += fields_get(fields, i).use == TEM_FIELD_UNCHANGED;
    if (fields == NULL || fields_count(fields) == 0)
        markup_put(m, "<li>Fields that are not private are released as they are.</li>\n");
    else if (unchanged > 0)
        SAY(m, LIT("<li>"), COUNT(unchanged),
            ONE_OF(unchanged == 1 ? " field is released as it is; its name is"
                                  : " fields are released as they are; their names are"),
            LIT(" below.</li>\n"));
}

/* The loss of the coin is the same between any two words. */
static bool knows_near_words(const page_source *s) {
    return strcmp(s->findings->info.properties->unit, "word") != 0;
}

static void put_accepted(markup *m, const page_source *s) {
    markup_put(m, "<h3>Whoever signs accepts this</h3>\n<ul>\n");
    if (s->why_not_private == NULL)
        SAY(m, LIT("<li>Each word is protected among "),
            ONE_OF(knows_near_words(s) ? "the words near it" : "all words, near or not"),
            LIT(". A person or a document is not hidden: the costs of all words add up.</li>\n"));
    else
        markup_put(m, "<li>No word of this output is protected by a proof.</li>\n");
    if (s->has_run && page_has_fields(s->page->job))
        put_unchanged(m, s);
    markup_put(m, "<li>The output is still personal data. It needs access control as the text "
                  "does.</li>\n");
    if (s->why_not_private == NULL)
        markup_put(m, "<li>Each further run over the same text costs as much again.</li>\n");
    markup_put(m, "</ul>\n");
}

void page_put_summary(markup *m, const page_source *s) {
    html_begin_section(m, "summary", "In short");
    put_verdict(m, s);
    put_figures(m, s);
    put_accepted(m, s);
    html_end_section(m);
}
