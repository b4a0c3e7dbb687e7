/* signals.h - the signals that an adapted model keeps on purpose, for the commands that show
 * them. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "tem_adapt.h"

#include <jansson.h>
#include <stdbool.h>

/* Signals with their values. */
typedef struct signal_set {
    tem_signal *list;
    uint32_t count;
    double *values; /* a row of `count` numbers per word of the model */
} signal_set;

/* The signals of an adaptation over `words` words; and those of a model, none if it is not adapted.
 * Free with signals_free, also after a failure. Fail with TEM_ERR_MEMORY, or as tem_model_signal
 * does. */
tem_status signals_of_adaptation(const tem_adaptation *adaptation, uint32_t words, signal_set *set,
                                 tem_error *error);
tem_status signals_of_model(const tem_model *model, signal_set *set, tem_error *error);
void signals_free(signal_set *set);

/* Computes how well the best attacker tells the signals from the output of a mechanism. `told`
 * receives set->count results. Fails as tem_channel_create and tem_channel_told do. */
tem_status signals_tell(const signal_set *set, const tem_mechanism *mechanism,
                        const tem_prior *prior, const tem_run *run, tem_told *told,
                        tem_error *error);

/* Prints a line per signal: its name, what it was learned from, and its correlation. */
void signals_print(const tem_signal *list, uint32_t count);

/* Returns the signal as an object, or NULL if memory is short or the name is not UTF-8. */
json_t *signal_as_json(const tem_signal *signal);

/* Returns {"side", "side_blind", "variance"}, or NULL if memory is short. */
json_t *told_as_json(const tem_told *told);

/* Returns the names of all signals, as words_print shows them, with commas between. The caller
 * frees the text; NULL if memory is short. */
char *signals_names(const tem_signal *list, uint32_t count);

#endif
