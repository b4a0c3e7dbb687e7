/* page_attack.c - what an attacker can guess: the word behind an output, and whether a text was
 * there. */
#include "page/page.h"
#include "picture/picture.h"

#include <math.h>
#include <string.h>

static void put_curve(markup *m, const tem_findings *f) {
    const tem_picture_series series[] = {{"best guess is right", f->curve_guess, {0}},
                                         {"median word stays itself", f->curve_self, {0}}};
    const tem_picture_curve picture = {.frame = {.title = "What an attacker guesses, by epsilon"},
                                       .epsilons = f->curve_epsilon,
                                       .count = f->curve_count,
                                       .series = series,
                                       .series_count = 2,
                                       .chosen = f->info.epsilon};
    if (f->curve_count < 2)
        return;
    markup_put(m, "<figure>\n");
    if (m->status == TEM_OK)
        m->status = picture_draw_curve(&picture, m->out, m->error);
    SAY(m, LIT("<figcaption>The same numbers at other epsilons of "),
        ONE_OF(f->info.certificate[0] != '\0' ? "certificates of this model"
                                              : "this mechanism on this vocabulary"),
        LIT(". The dashed line is the epsilon of this report.</figcaption>\n</figure>\n"));
}

static void put_guess(markup *m, const tem_findings *f) {
    SAY(m,
        LIT("<p>An attacker knows the mechanism, the vocabulary and how often words are used: "));
    page_put_prior(m, f);
    SAY(m,
        LIT(". This attacker sees one released word and names the word behind it. The best such "
            "guess is right in <strong>"),
        SHARE(fmin(f->summary.bayes, 1)),
        LIT("</strong> of the cases. Without the released word, the guess would be right in "),
        SHARE(f->chance),
        LIT(". The number follows from the exact probabilities of the mechanism; its error is "
            "below "
            "0.1&nbsp;% of itself.</p>\n"
            "<p>An attacker who also uses the words around it, or who knows the writer, guesses "
            "better. This report does not measure that; docs/ATTACKS.md does, on public "
            "texts.</p>\n"));
    put_curve(m, f);
}

/* Shows the largest probability with which an attacker tells two equally likely inputs apart whose
 * loss is at most this: 1 / (1 + exp(-loss)). It is a bound, so it is rounded up. */
static void put_told_row(markup *m, const char *name, double loss) {
    const double told = ceil(1000 / (1 + exp(-loss))) / 1000;
    SAY(m, LIT("<tr><th scope=\"row\">"), ONE_OF(name), LIT("</th><td class=\"number\">"),
        PRECISE(told), LIT("</td></tr>\n"));
}

/* PRIVACY: only what the bound proves. An attack that was not made has no figure here. */
static void put_membership(markup *m, const page_source *s) {
    const tem_findings *f = s->findings;
    const tem_counts *c = s->page->counts;
    const bool is_proved_here = f->has_numbers && f->audit.is_metric;
    const double rate = is_proved_here ? f->audit.realised : f->info.epsilon;
    const double near = rate * fmin((double)f->nearest / TEM_DIST_ONE, f->info.gamma);
    const double any = is_proved_here ? f->audit.local : f->info.bound;
    markup_put(m, "<h3>Can an attacker tell whether a text was in the collection?</h3>\n"
                  "<p><strong>Not measured for this release.</strong> ");
    if (s->why_not_private != NULL) {
        markup_put(m, "And no bound holds, so nothing can be said.</p>\n");
        return;
    }
    markup_put(
        m, "A proof gives limits. An attacker who holds two candidates, equally likely, and "
           "sees the output chooses the right one at most this often; 50&nbsp;% is a coin:</p>\n"
           "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Two candidates that "
           "differ in</th><th scope=\"col\" class=\"number\">right, at most</th></tr></thead>\n"
           "<tbody>\n");
    if (f->info.gamma_steps > 0)
        put_told_row(m, "one word, replaced by the one nearest to it (median word)", near);
    put_told_row(m, "one word, replaced by any word", any);
    if (s->has_run && c->documents > 0)
        put_told_row(m, "every word of a document of mean length",
                     any * (double)c->words / (double)c->documents);
    else
        put_told_row(m, "every word of a paragraph of 100 words", any * 100);
    markup_put(m, "</tbody>\n</table></div>\n");
    if (f->has_numbers)
        SAY(m, LIT("<p>The limits do not contradict the best guess above. That guess is right in "),
            SHARE(fmin(f->summary.bayes, 1)),
            LIT(" of the cases on average, for an attacker who must name one of "),
            COUNT(f->model.words),
            LIT(" words. A limit is a bound for any attacker, also for one who knows already that "
                "it is one of two words.</p>\n"));
    markup_put(m, "<p>A limit near 100&nbsp;% excludes nothing: treat it as "
                  "possible that a known text is recognized. docs/EVALUATION.md has membership "
                  "attacks that were measured, on public reviews.</p>\n");
}

void page_put_attack(markup *m, const page_source *s) {
    html_begin_section(m, "attack", "What can an attacker guess?");
    /* PRIVACY: an attacker may read what a policy released, or repeat the draws of a seed. */
    if (s->why_not_private != NULL)
        markup_put(m, "<p>No number is stated: the guess at a word of this output may always be "
                      "right.</p>\n");
    else if (s->findings->has_numbers)
        put_guess(m, s->findings);
    else
        markup_put(m, "<p>Not computed for this mechanism.</p>\n");
    put_membership(m, s);
    html_end_section(m);
}
