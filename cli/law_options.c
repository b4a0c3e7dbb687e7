/* law_options.c - the mechanism that released a text, and what is expected of the original. */
#include "law_options.h"

#include "language_option.h"
#include "outputs.h"
#include "prior_option.h"
#include "talk.h"
#include "trust.h"

#include <string.h>

int law_check(const char *command, const law_choice *choice) {
    if (choice->mechanism.epsilon <= 0)
        return mechanism_ask_epsilon(command, choice->mechanism.mechanism,
                                     choice->mechanism.calibrated);
    const tem_mechanism_properties *mechanism = mechanism_chosen(&choice->mechanism);
    if (mechanism != NULL && !mechanism->has_form)
        return talk_usage(
            command,
            "the law of the mechanism %s has no form from which tem could compute which words are "
            "behind its outputs; 'tem mechanisms' names those that have one",
            mechanism->name);
    return EXIT_DONE;
}

static bool has_unknown_words(const tem_prior *prior) {
    tem_prior_info info;
    tem_prior_get_info(prior, &info);
    return info.unknown > 0;
}

static int read_prior(const char *command, const common_options *common, const law_choice *choice,
                      const tem_run *run, law *l) {
    int status = EXIT_DONE;
    l->prior = prior_choose(command, choice->prior_text, l->model, run, common->quiet, &status);
    if (status != EXIT_DONE)
        return status;
    const bool has_none = choice->unknown < 0 && !l->report.draws_unknown;
    l->expected = (tem_expectation){.prior = l->prior, .unknown = has_none ? 0 : choice->unknown};
    if (choice->unknown >= 0 || has_none || choice->is_foreign || has_unknown_words(l->prior))
        return EXIT_DONE;
    if (choice->needs_unknown)
        return talk_usage(command,
                          "the share of unknown words is not known: give --unknown SHARE (0 if the "
                          "text was released with --oov drop or mask), a public text as --prior, "
                          "or the --report of a run that dropped or masked them");
    talk_note(common->quiet, "no share of unknown words is known: tem takes 0; --unknown SHARE "
                             "gives another");
    return EXIT_DONE;
}

int law_open(const char *command, const common_options *common, const law_choice *choice,
             const tem_run *run, law *out) {
    int status = EXIT_FAILED;
    *out = (law){.report = {.draws_unknown = true}};
    if (language_option_is_given(choice->mechanism.language))
        return language_option_refuse(
            command, "--language-model",
            "tem cannot invert that, so release the text with --language-model none");
    out->model = trust_open_model(common->model, common->model_hash, run);
    if (out->model == NULL)
        return EXIT_FAILED;
    tem_model_get_info(out->model, &out->model_info);
    if (choice->is_foreign)
        return read_prior(command, common, choice, run, out);
    out->mechanism = mechanism_choose(command, out->model, &choice->mechanism, &status);
    if (out->mechanism == NULL)
        return status;
    tem_mechanism_get_info(out->mechanism, &out->info);
    status = choice->report_path != NULL
                 ? run_report_read(choice->report_path, out->model, out->mechanism, &out->report)
                 : EXIT_DONE;
    return status == EXIT_DONE ? read_prior(command, common, choice, run, out) : status;
}

void law_close(law *l) {
    tem_prior_free(l->prior);
    mechanism_close(l->mechanism);
    tem_model_free(l->model);
    *l = (law){.model = NULL};
}

bool law_outputs(const law *l, uint32_t word) {
    const uint32_t *weights = tem_mechanism_weights(l->mechanism);
    return weights != NULL ? weights[word] > 0 : !tem_model_is_excluded(l->model, word);
}
