/* mechanism_options.c - the options that choose a mechanism. */
#include "mechanism_options.h"

#include "talk.h"

tem_mechanism *mechanism_choose(const char *command, const tem_model *model,
                                const mechanism_choice *choice, int *status) {
    tem_error error;
    tem_mechanism *mechanism = NULL;
    tem_mechanism_options options = {
        .epsilon = choice->epsilon, .beta = choice->beta, .gamma = choice->gamma};
    *status = EXIT_USAGE;
    if (choice->kind_name != NULL &&
        tem_kind_parse(choice->kind_name, &options.kind, &error) != TEM_OK) {
        talk_usage(command, "--mechanism: %s", error.message);
    } else if (tem_mechanism_create(model, &options, &mechanism, &error) != TEM_OK) {
        if (error.status == TEM_ERR_ARGUMENT || error.status == TEM_ERR_RANGE)
            talk_usage(command, "%s", error.message);
        else
            *status = talk_error(&error);
    }
    return mechanism;
}
