/* alone_mechanism.c - a mechanism without its language model, at the same s. */
#include "alone_mechanism.h"

static double s_of(const tem_mechanism *mechanism) {
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    return info.s;
}

/* Half of epsilon comes first: it is within the range wherever all of it is. */
tem_mechanism *alone_mechanism_make(const char *command, const tem_model *model,
                                    const mechanism_choice *choice, const tem_mechanism *mechanism,
                                    int *status) {
    tem_mechanism_info info;
    tem_mechanism_get_info(mechanism, &info);
    const bool is_of_distance = mechanism_named(info.properties->name)->is_exponential;
    mechanism_choice alone = *choice;
    alone.mechanism = info.properties->name;
    alone.language = "none";
    alone.quiet = true;
    alone.epsilon = is_of_distance ? info.epsilon : info.epsilon / 2;
    tem_mechanism *made = mechanism_choose(command, model, &alone, status);
    if (made == NULL || s_of(made) > 0.75 * info.s)
        return made;
    /* Words that are never released weigh less than the others: epsilon is 2s here, too. */
    mechanism_close(made);
    alone.epsilon = info.epsilon;
    return mechanism_choose(command, model, &alone, status);
}
