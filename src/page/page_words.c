/* page_words.c - how often words stay themselves: a distribution, the most exposed words, and the
 * words that the user named. */
#include "page/page.h"
#include "picture/picture.h"

#include <math.h>
#include <string.h>

enum { FEW = 6 }; /* words of one table */

/* Appends a picture; its failure is the page's. */
static void put_spread(markup *m, const tem_findings *f) {
    const tem_picture_mark marks[] = {{"median word of the vocabulary", 0.5, {0}},
                                      {"95 of 100 words: at most", 0.95, {0}},
                                      {"most exposed word", 1, {0}}};
    const tem_picture_spread picture = {
        .frame = {.title = "How often the words of the vocabulary stay themselves"},
        .values = f->selves,
        .count = f->self_count,
        .marks = marks,
        .mark_count = sizeof marks / sizeof *marks};
    if (m->status == TEM_OK)
        m->status = picture_draw_spread(&picture, m->out, m->error);
}

static void put_levels(markup *m, const tem_findings *f) {
    markup_put(m, "<div class=\"scroll\"><table>\n<caption>How often words stay themselves, at "
                  "most</caption>\n<thead><tr><th scope=\"col\">Share of words</th>"
                  "<th scope=\"col\" class=\"number\">of the vocabulary</th>"
                  "<th scope=\"col\" class=\"number\">of a text</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < FINDINGS_LEVELS; i++) {
        markup_put(m, "<tr><th scope=\"row\">");
        if (findings_levels[i] < 1)
            SAY(m, SHARE(findings_levels[i]), LIT(" of the words"));
        else
            markup_put(m, "all words");
        SAY(m, LIT("</th><td class=\"number\">"), PRECISE(f->of_vocabulary[i]),
            LIT("</td><td class=\"number\">"), PRECISE(f->of_text[i]), LIT("</td></tr>\n"));
    }
    markup_put(m, "</tbody>\n</table></div>\n");
}

static void put_exposure_table(markup *m, const tem_findings *f, const tem_exposure *words,
                               uint32_t count) {
    markup_put(m, "<table>\n<thead><tr><th scope=\"col\">Word</th>"
                  "<th scope=\"col\" class=\"number\">stays itself</th>"
                  "<th scope=\"col\" class=\"number\">spread over</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = 0;
        const char *word = vocab_word(&f->mechanism->model->words, words[i].word, &bytes);
        SAY(m, LIT("<tr><th scope=\"row\"><bdi>"), BYTES(word, bytes),
            LIT("</bdi></th><td class=\"number\">"), PRECISE(fmin(words[i].self, 1)),
            LIT("</td><td class=\"number\">"),
            NUMBER(words[i].support < 10 ? words[i].support : floor(words[i].support)),
            LIT(" words</td></tr>\n"));
    }
    markup_put(m, "</tbody>\n</table>\n");
}

/* Many words stand in two tables beside each other. */
static void put_exposures(markup *m, const tem_findings *f, const tem_exposure *words,
                          uint32_t count) {
    const uint32_t first = count > FEW ? (count + 1) / 2 : count;
    markup_put(m, "<div class=\"pair\">\n");
    put_exposure_table(m, f, words, first);
    if (count > first)
        put_exposure_table(m, f, words + first, count - first);
    markup_put(m, "</div>\n");
}

/* The words of the user that the model does not have. */
static void put_missing(markup *m, const page_source *s) {
    const tem_oov oov = s->has_run ? s->page->job->text.oov : TEM_OOV_UNIFORM;
    const bool is_drawn = oov == 0 || oov == TEM_OOV_UNIFORM;
    if (s->findings->missing_probes[0] != '\0')
        SAY(m, LIT("<p>You also asked about words that are not in the vocabulary: <bdi>"),
            TEXT(s->findings->missing_probes), LIT("</bdi>. "),
            ONE_OF(is_drawn ? "If a text has them, they are drawn from all words.</p>\n"
                            : "The policy for unknown words holds for them.</p>\n"));
}

/* ---- words that a text repeats ---- */

static const unsigned repeats[] = {1, 3, 10};
enum { REPEATS = sizeof repeats / sizeof *repeats };

/* How often a word that stays itself with probability `self` shows in at least one of k draws. */
static double shows_once(double self, unsigned k) {
    return -expm1(k * log1p(-fmin(self, 1)));
}

static void put_repeated_row(markup *m, const tem_findings *f, const char *what, uint32_t id,
                             double self) {
    SAY(m, LIT("<tr><th scope=\"row\">"), ONE_OF(what));
    if (id != TEM_NO_WORD) {
        size_t bytes = 0;
        const char *word = vocab_word(&f->mechanism->model->words, id, &bytes);
        SAY(m, LIT("<bdi>"), BYTES(word, bytes), LIT("</bdi>"));
    }
    markup_put(m, "</th>");
    for (int i = 0; i < REPEATS; i++)
        SAY(m, LIT("<td class=\"number\">"), PRECISE(shows_once(self, repeats[i])), LIT("</td>"));
    markup_put(m, "</tr>\n");
}

static void put_repeated(markup *m, const tem_findings *f) {
    markup_put(
        m, "<h3>What if a text says a word several times?</h3>\n<p>tem draws anew each time. So "
           "a word that a text says often is likely to show at least once. An attacker who "
           "puts the draws together learns more than that.</p>\n<div "
           "class=\"scroll\"><table>\n<caption>How often a word comes out as itself at least "
           "once</caption>\n<thead><tr><th scope=\"col\">The text says the word</th>");
    for (int i = 0; i < REPEATS; i++)
        SAY(m, LIT("<th scope=\"col\" class=\"number\">"), COUNT(repeats[i]),
            ONE_OF(repeats[i] == 1 ? " time</th>" : " times</th>"));
    markup_put(m, "</tr></thead>\n<tbody>\n");
    put_repeated_row(m, f, "the median word of a text", TEM_NO_WORD, f->summary.self_median);
    if (f->exposed_count > 0)
        put_repeated_row(m, f, "the most exposed word, ", f->exposed[0].word, f->exposed[0].self);
    for (uint32_t i = 0; i < f->probe_count; i++)
        put_repeated_row(m, f, "", f->probes[i].word, f->probes[i].self);
    markup_put(m, "</tbody>\n</table></div>\n");
}

/* PRIVACY: the numbers of the mechanism are not those of an output that no bound covers. */
static void put_whose_numbers(markup *m, const page_source *s) {
    if (s->why_not_private != NULL)
        markup_put(m, "<p><strong>They do not describe this output</strong>, which is not private: "
                      "only words that the mechanism has drawn, for a reader who does not know the "
                      "random numbers.</p>\n");
}

static void put_estimates(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    if (isnan(f->estimated_median)) {
        markup_put(m, "<p>Not known. The exact probabilities of this mechanism cannot be "
                      "computed, and this report invents no number.</p>\n");
        return;
    }
    SAY(m,
        LIT("<p>Estimated from some words: the median word of a text (by Zipf's law) stays "
            "itself in "),
        SHARE(fmin(f->estimated_median, 1)), LIT(" of the cases"));
    if (!isnan(f->estimated_exposed))
        SAY(m, LIT(", and 95 of 100 words of the vocabulary in at most "),
            SHARE(fmin(f->estimated_exposed, 1)));
    markup_put(m, ". The exact numbers of other mechanisms are not computed for this one.</p>\n");
    put_whose_numbers(m, s);
}

void page_put_words(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    html_begin_section(m, "words", "How often do words stay themselves?");
    if (page_language(s) != NULL) {
        put_whose_numbers(m, s);
        page_put_context(m, s);
        html_end_section(m);
        return;
    }
    if (!f->has_numbers || f->self_count == 0) {
        put_estimates(m, s);
        html_end_section(m);
        return;
    }
    SAY(m,
        LIT("<p>These numbers come from the exact probabilities of the mechanism, not from the "
            "text. \"Of the vocabulary\" counts each word once, a rare word as much as a frequent "
            "one. \"Of a text\" counts each word as often as "));
    page_put_prior(m, f);
    markup_put(m, " expects it.</p>\n");
    put_whose_numbers(m, s);
    markup_put(m, "<figure>\n");
    put_spread(m, f);
    markup_put(m, "<figcaption>Words of the vocabulary from the best protected to the most exposed "
                  "one, and how often each stays itself.</figcaption>\n</figure>\n");
    put_levels(m, f);
    markup_put(m,
               "<h3>The most exposed words</h3>\n<p>Of all words of the public vocabulary that a "
               "text can contain, these stay themselves most often. Whether the text has them is "
               "not said here.</p>\n");
    put_exposures(m, f, f->exposed, f->exposed_count);
    if (f->probe_count > 0) {
        markup_put(m, "<h3>The words that you asked about</h3>\n");
        put_exposures(m, f, f->probes, f->probe_count);
    }
    put_missing(m, s);
    put_repeated(m, f);
    html_end_section(m);
}
