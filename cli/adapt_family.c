/* adapt_family.c - models that keep the same signals more or less strongly. */
#include "adapt_family.h"

#include "prior_option.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 3 /* signals that have columns of their own */ };

/* ------------------------------------------------------------------ measuring -- */

int family_open(const char *command, const tem_model *model, const signal_set *signals,
                const char *prior_text, const tem_run *run, bool quiet, family_model *out) {
    int status = EXIT_FAILED;
    tem_error error;
    *out = (family_model){.model = model, .signals = signals};
    out->prior = prior_choose(command, prior_text, model, run, quiet, &status);
    if (out->prior == NULL)
        return status;
    if (tem_accountant_create(model, NULL, run, &out->accountant, &error) == TEM_OK)
        return EXIT_DONE;
    talk_end_progress();
    return talk_error(&error);
}

void family_close(family_model *m) {
    tem_accountant_free(m->accountant);
    tem_prior_free(m->prior);
    *m = (family_model){.model = NULL};
}

/* Finds the largest epsilon that keeps both targets. */
static tem_status choose_both(const family_model *m, const family_wish *wish, const tem_run *run,
                              family_member *member, tem_error *error) {
    const tem_wish guess = {.target = TEM_TARGET_BAYES, .wanted = wish->bayes, .prior = m->prior};
    const tem_wish exposed = {
        .target = TEM_TARGET_SELF, .wanted = wish->exposed, .prior = m->prior, .quantile = 1};
    tem_point *point = &member->point;
    tem_status status = tem_accountant_choose(m->accountant, &guess, run, point, error);
    member->limited =
        status == TEM_OK && wish->exposed > 0 && point->summary.self_exposed > wish->exposed;
    if (member->limited)
        status = tem_accountant_choose(m->accountant, &exposed, run, point, error);
    return status;
}

static tem_status tell(const family_model *m, const tem_run *run, family_member *member,
                       tem_error *error) {
    const tem_mechanism_options options = {.epsilon = member->point.epsilon};
    tem_mechanism *mechanism = NULL;
    tem_status status = tem_mechanism_create(m->model, &options, &mechanism, error);
    if (status == TEM_OK)
        status = signal_set_tell(m->signals, mechanism, m->prior, run, member->told, error);
    tem_mechanism_free(mechanism);
    return status;
}

static void find_means(family_member *member, uint32_t signals) {
    member->side = 0;
    member->variance = 0;
    for (uint32_t i = 0; i < signals; i++) {
        member->side += member->told[i].side / signals;
        member->variance += member->told[i].variance / signals;
    }
}

tem_status family_measure(const family_model *m, const family_wish *wish, const tem_run *run,
                          family_member *member, tem_error *error) {
    tem_status status = choose_both(m, wish, run, member, error);
    member->reached = status == TEM_OK;
    if (status == TEM_ERR_RANGE) {
        snprintf(member->why_not, sizeof member->why_not, "%s", error->message);
        return TEM_OK;
    }
    if (status == TEM_OK)
        status = tell(m, run, member, error);
    if (status == TEM_OK)
        find_means(member, m->signals->count);
    return status;
}

/* -------------------------------------------------------------------- judging -- */

void family_judge(family_member *member, const family_member *plain, const family_wish *wish) {
    const double needed = plain->reached ? wish->rest * plain->point.s : 0;
    member->lacks_rest = member->reached && member->point.s < needed;
}

bool family_keeps(const family_member *member) {
    return member->reached && !member->lacks_rest;
}

bool family_is_better(const family_member *member, const family_member *other) {
    return family_keeps(member) && (!family_keeps(other) || member->variance > other->variance);
}

const family_member *family_best(const family_member *members, size_t count) {
    const family_member *best = count > 0 && family_keeps(members) ? members : NULL;
    for (size_t i = 1; i < count; i++)
        if (family_is_better(&members[i], best != NULL ? best : members))
            best = &members[i];
    return best;
}

/* ------------------------------------------------------------------- printing -- */

static void print_title(const char *title, int width, uint32_t signals) {
    printf("  %*s   epsilon         s     guess  exposed", width, title);
    if (signals > SHOWN)
        fputs("    side    kept", stdout);
    for (uint32_t i = 0; signals <= SHOWN && i < signals; i++)
        printf("  side %u  kept %u", i + 1, i + 1);
    puts("  target");
}

static void print_told(const family_member *m, uint32_t signals) {
    if (signals > SHOWN)
        printf("  %6.3f  %6.3f", m->side, m->variance);
    for (uint32_t i = 0; signals <= SHOWN && i < signals; i++)
        printf("  %6.3f  %6.3f", m->told[i].side, m->told[i].variance);
}

static void print_member(int width, const family_member *m, uint32_t signals, bool is_best) {
    printf("%c %*s", is_best ? '>' : ' ', width, m->label);
    if (!m->reached) {
        puts("  cannot be reached");
        return;
    }
    const tem_summary *s = &m->point.summary;
    printf("  %8.4g  %8.4f  %8.6f  %7.5f", m->point.epsilon, m->point.s, s->bayes, s->self_exposed);
    print_told(m, signals);
    puts(m->lacks_rest ? "  s too small" : "  is kept");
}

void family_print(const char *title, int width, const family_member *members, size_t count,
                  uint32_t signals, const family_member *best) {
    print_title(title, width, signals);
    for (size_t i = 0; i < count; i++)
        print_member(width, &members[i], signals, &members[i] == best);
    printf(
        "\n"
        "guess: how often the best guess at a word from its output is right; exposed: how often\n"
        "the word that stays itself most often does so. side: how often the best attacker tells\n"
        "rightly from the output on which side of its mean the signal of a word is; kept: the\n"
        "share of the variance of the signal that the best estimate explains%s.\n",
        signals > SHOWN ? "; both are means\nover the signals" : "");
}

json_t *family_as_json(const family_member *m, const signal_set *signals) {
    const tem_summary *s = &m->point.summary;
    if (!m->reached)
        return json_pack("{s:b, s:b, s:s}", "reached", 0, "keeps", 0, "why_not", m->why_not);
    return json_pack("{s:b, s:b, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:o}", "reached", 1, "keeps",
                     family_keeps(m), "epsilon", m->point.epsilon, "s", m->point.s, "gamma",
                     m->point.gamma, "bayes", s->bayes, "self_exposed",
                     isnan(s->self_exposed) ? json_null() : json_real(s->self_exposed), "side",
                     m->side, "variance", m->variance, "signals",
                     signal_set_told_as_json(signals, m->told));
}
