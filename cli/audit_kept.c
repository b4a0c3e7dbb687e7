/* audit_kept.c - what an adapted model keeps on purpose. */
#include "audit_kept.h"

#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 6 };

tem_status audit_kept_measure(const tem_accountant *accountant, const tem_mechanism *mechanism,
                              const tem_prior *prior, const tem_run *run, audit_kept *kept,
                              tem_error *error) {
    tem_summary summary;
    tem_status status =
        tem_accountant_summarise(accountant, mechanism, prior, 1, run, &summary, error);
    if (status == TEM_OK)
        kept->bayes = summary.bayes;
    if (status == TEM_OK)
        status = signal_set_tell(&kept->signals, mechanism, prior, run, kept->told, error);
    if (status == TEM_OK)
        status = tem_accountant_unadapted(accountant, mechanism, run, &kept->unadapted, error);
    return status;
}

void audit_kept_free(audit_kept *kept) {
    signal_set_free(&kept->signals);
}

static void print_unadapted(const tem_unadapted *u, const tem_model *model) {
    if (isinf(u->loss))
        puts("\nunadapted   no bound: the grid of this model is so coarse that words which differ "
             "in\n"
             "            a signal have no distance without it. Use a smaller stretch.");
    else
        printf("\nunadapted   %.6g per unit of the distance without the signals, on the grid of "
               "this\n"
               "            model, at most, for any two words (proved)\n",
               u->loss > 0 ? tem_round_up(u->loss, DIGITS) : 0);
    fputs("worst pair  ", stdout);
    if (u->worst_a == TEM_NO_WORD) {
        puts("none: all words were at the same point");
        return;
    }
    words_print_id(model, u->worst_a);
    fputs(", ", stdout);
    words_print_id(model, u->worst_b);
    printf(", at distance %.4f without the signals and %.4f with them\n", u->distance,
           u->distance_adapted);
}

void audit_kept_print(const audit_kept *k, const tem_model *model) {
    printf("\nwhat is kept on purpose: how well the best attacker, who knows the prior %s, tells\n"
           "the signals of a word from its output:\n\n"
           "      side     blind      kept  signal\n",
           k->prior_text);
    for (uint32_t i = 0; i < k->signals.count; i++) {
        const char *name = k->signals.list[i].name;
        const tem_told *t = &k->told[i];
        printf("  %8.6f  %8.6f  %8.6f  ", t->side, t->side_blind, t->variance);
        words_print(name, strlen(name));
        putchar('\n');
    }
    printf(
        "\n"
        "side: how often they tell rightly on which side of its mean the signal is; blind: the\n"
        "same without the output; kept: the share of the variance of the signal that their best\n"
        "estimate explains. The same attacker guesses the word itself rightly in %.6f of the\n"
        "cases.\n",
        k->bayes);
    print_unadapted(&k->unadapted, model);
}

static json_t *unadapted_as_json(const tem_unadapted *u, const tem_model *model) {
    return json_pack("{s:o, s:{s:o, s:o, s:f, s:f}}", "loss",
                     isinf(u->loss) ? json_null() : json_real(u->loss), "worst", "a",
                     words_id_as_json(model, u->worst_a), "b", words_id_as_json(model, u->worst_b),
                     "distance", u->distance, "distance_adapted", u->distance_adapted);
}

json_t *audit_kept_as_json(const audit_kept *k, const tem_model *model) {
    return json_pack("{s:s, s:f, s:o, s:o}", "prior", k->prior_text, "bayes", k->bayes, "signals",
                     signal_set_told_as_json(&k->signals, k->told), "unadapted",
                     unadapted_as_json(&k->unadapted, model));
}
