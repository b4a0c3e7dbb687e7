/* page_context.c - how often words stay themselves in context: what a language model expects. */
#include "page/page.h"

#include <math.h>
#include <string.h>

const tem_language *page_language(const page_source *s) {
    return s->findings->mechanism->context.language;
}

const char *page_language_name(const page_source *s) {
    const tem_language *language = page_language(s);
    return language->name[0] != '\0'   ? language->name
           : language->hash[0] != '\0' ? language->hash
                                       : "without a name";
}

/* The words before a place of the public text; an ellipsis stands for more, and for unknown
 * ones. */
static void put_words(markup *m, const tem_findings *f, const tem_exposed_place *p,
                      const uint32_t *ids) {
    markup_put(m, p->position > p->before + 1 ? "&hellip; " : "");
    for (uint32_t i = 0; i < p->before; i++) {
        size_t bytes = 0;
        const char *word =
            ids[i] == TEM_NO_WORD ? NULL : vocab_word(&f->mechanism->model->words, ids[i], &bytes);
        if (word == NULL)
            markup_put(m, "&hellip; ");
        else
            SAY(m, BYTES(word, bytes), LIT(" "));
    }
}

static void put_place(markup *m, const tem_findings *f, const tem_exposed_place *p) {
    size_t bytes = 0;
    const char *word = vocab_word(&f->mechanism->model->words, p->word, &bytes);
    markup_put(m, "<tr><td><bdi>");
    put_words(m, f, p, p->original);
    SAY(m, LIT("<strong>"), BYTES(word, bytes), LIT("</strong></bdi></td><td><bdi>"));
    put_words(m, f, p, p->released);
    SAY(m, LIT("</bdi></td><td class=\"number\">"), PRECISE(p->stays),
        LIT("</td><td class=\"number\">"), PRECISE(p->share), LIT("</td></tr>\n"));
}

static void put_places(markup *m, const tem_findings *f) {
    markup_put(m, "<h3>What the context expects</h3>\n<p>These places of the public text are "
                  "exposed most. Whether the private text has such words is not said "
                  "here.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">In the "
                  "public text</th><th scope=\"col\">drawn before</th>"
                  "<th scope=\"col\" class=\"number\">stays</th><th scope=\"col\" "
                  "class=\"number\">the language model alone</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < f->place_count; i++)
        put_place(m, f, &f->places[i]);
    markup_put(m, "</tbody>\n</table></div>\n");
}

static void put_numbers(markup *m, const tem_findings *f) {
    const tem_context_exposure *e = &f->context;
    SAY(m, LIT("<p>At "), COUNT(e->positions), LIT(" of the "), COUNT(e->content),
        LIT(" content positions of a public text, after words that were drawn before them: the "
            "median word stays itself in "),
        PRECISE(e->median), LIT(" of the cases, 95 of 100 words in at most "), PRECISE(e->high),
        LIT(", and "), PRECISE(e->above_half),
        LIT(" of the words stay in more than half of the cases (mean: "), PRECISE(e->mean),
        LIT("). Content positions are words of the vocabulary that are no function words. The "
            "numbers come from the exact probabilities, not from the private text, which may be of "
            "another kind.</p>\n"));
}

static void put_without_language(markup *m, const tem_findings *f) {
    if (!isnan(f->estimated_median) && !isnan(f->estimated_exposed))
        SAY(m,
            LIT("<p>Without the language model, at the same s, the median word of a text (by "
                "Zipf's law) stays itself in "),
            SHARE(fmin(f->estimated_median, 1)),
            LIT(" of the cases, and 95 of 100 words of the vocabulary in at most "),
            SHARE(fmin(f->estimated_exposed, 1)), LIT(" (estimated from some words).</p>\n"));
}

void page_put_context(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    SAY(m,
        LIT("<p>That depends on the words that were released before: a word that the language "
            "model "),
        TEXT(page_language_name(s)),
        LIT(" expects there stays more often than others, and an unknown word becomes what it "
            "expects.</p>\n"));
    put_without_language(m, f);
    if (!f->has_context) {
        markup_put(
            m, "<p>In context: not measured. A public text of the same kind, given with the option "
               "<code>public</code>, shows it.</p>\n");
        return;
    }
    put_numbers(m, f);
    put_places(m, f);
}
