/* audit_form.c - tem audit for mechanisms that protect all words alike: rank and coin. */
#include "audit_form.h"

#include "show.h"
#include "talk.h"
#include "tem_account.h"
#include "trust.h"

#include <jansson.h>

enum { DIGITS = 6 };

static const char *const parts[TEM_LOSS_QUANTILES] = {"5 %", "median", "95 %"};

static void print_pair(const tem_model *model, const tem_losses *l) {
    size_t length = 0;
    const char *word = tem_model_word(model, l->worst_a, &length);
    fputs("            the worst of these: ", stdout);
    words_print(word, length);
    fputs(", ", stdout);
    word = tem_model_word(model, l->worst_b, &length);
    words_print(word, length);
    printf(": %.6g\n", l->worst);
}

static void print_losses(const tem_model *model, const tem_losses *l, bool is_sample) {
    printf("mean %.4g", l->mean);
    for (int i = 0; i < TEM_LOSS_QUANTILES; i++) {
        printf(", %s %.4g", parts[i], l->quantiles[i]);
        if (is_sample)
            printf(" (%.4g to %.4g)", l->low[i], l->high[i]);
    }
    putchar('\n');
    print_pair(model, l);
}

static void print_nearest(const tem_model *model, const tem_losses *l, uint32_t words) {
    const bool is_sample = l->pairs < words;
    if (is_sample)
        printf("nearest     %s random words, each with the word nearest to it; in brackets 99 %% "
               "intervals for all words:\n            ",
               talk_count(l->pairs));
    else
        fputs("nearest     all words, each with the word nearest to it:\n            ", stdout);
    print_losses(model, l, is_sample);
}

static void print_text(const tem_model *model, const tem_mechanism_info *info,
                       const tem_form_audit *a) {
    tem_model_info words;
    tem_model_get_info(model, &words);
    printf("%s, epsilon %g: s = %.6f, %s words\n\n", info->properties->name, info->epsilon, info->s,
           talk_count(words.words));
    printf("any inputs  %.6g at most, known or not (proved)\n", tem_round_up(a->bound, DIGITS));
    printf("every word  N_w = %.6f, S_w = %.1f: the same for all words%s\n", a->self, a->support,
           words.excluded > 0 ? "; an excluded word is never an output, and has no N_w" : "");
    fputs("\nthe loss between two words, the largest over all outputs:\n\n", stdout);
    print_nearest(model, &a->nearest, words.words);
    printf("random      %s random pairs; in brackets 99 %% intervals for all pairs:\n            ",
           talk_count(a->random.pairs));
    print_losses(model, &a->random, true);
}

static json_t *word_of(const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = tem_model_word(model, id, &length);
    return json_stringn(word, length);
}

static json_t *numbers(const double values[TEM_LOSS_QUANTILES]) {
    return json_pack("[f, f, f]", values[0], values[1], values[2]);
}

static json_t *losses_as_json(const tem_model *model, const tem_losses *l, bool is_sample) {
    return json_pack("{s:I, s:f, s:o, s:o, s:o, s:f, s:[o, o]}", "pairs", (json_int_t)l->pairs,
                     "mean", l->mean, "quantiles", numbers(l->quantiles), "low",
                     is_sample ? numbers(l->low) : json_null(), "high",
                     is_sample ? numbers(l->high) : json_null(), "worst", l->worst, "worst_pair",
                     word_of(model, l->worst_a), word_of(model, l->worst_b));
}

static bool print_json(const tem_model *model, const tem_mechanism_info *info,
                       const tem_form_audit *a) {
    tem_model_info words;
    tem_model_get_info(model, &words);
    const bool is_sample = a->nearest.pairs < words.words;
    return print_as_json(json_pack("{s:s, s:f, s:f, s:n, s:n, s:s, s:f, s:f, s:f, s:o, s:o}",
                                   "mechanism", info->properties->name, "epsilon", info->epsilon,
                                   "s", info->s, "gamma", "epsilon_gamma", "unit", info->unit,
                                   "bound", a->bound, "self", a->self, "support", a->support,
                                   "nearest", losses_as_json(model, &a->nearest, is_sample),
                                   "random", losses_as_json(model, &a->random, true)));
}

/* Prints why nothing was audited, and what to do. */
static int say_refused(const mechanism_choice *choice, const tem_error *error) {
    const int status = talk_error(error);
    if (error->status == TEM_ERR_UNSUPPORTED && choice->never_path != NULL)
        fputs("tem: leave out --never, or add --public FILE, a public text that shows how often "
              "words stay\n",
              stderr);
    return status;
}

int audit_form(const common_options *common, const mechanism_choice *choice, bool json) {
    const tem_run run = talk_run((unsigned)common->threads, common->quiet);
    tem_model *model = trust_open_model(common->model, common->model_hash, &run);
    tem_mechanism_info info;
    tem_form_audit found;
    tem_error error;
    int status = EXIT_FAILED;
    tem_mechanism *mechanism =
        model != NULL ? mechanism_choose("audit", model, choice, &status) : NULL;
    if (mechanism != NULL) {
        tem_mechanism_get_info(mechanism, &info);
        const tem_status made = tem_form_audit_make(mechanism, &run, &found, &error);
        talk_end_progress();
        status = made != TEM_OK ? say_refused(choice, &error) : EXIT_DONE;
        if (made == TEM_OK && !json)
            print_text(model, &info, &found);
        else if (made == TEM_OK && !print_json(model, &info, &found))
            status = EXIT_FAILED;
    }
    mechanism_close(mechanism);
    tem_model_free(model);
    return status;
}
