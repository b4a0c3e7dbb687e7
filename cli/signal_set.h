/* signal_set.h - the signals that an adapted model keeps on purpose, for the commands that show
 * them. */
#ifndef CLI_SIGNAL_SET_H
#define CLI_SIGNAL_SET_H

#include "tem_adapt.h"

#include <jansson.h>
#include <stdbool.h>

/* Signals with their values. */
typedef struct signal_set {
    tem_signal *list;
    uint32_t count;
    double *values; /* a row of `count` numbers per word of the model */
} signal_set;

/* The signals of an adaptation over `words` words; those of a model, none if it is not adapted; and
 * the latter without their values. Free with signal_set_free, also after a failure. Fail with
 * TEM_ERR_MEMORY, or as tem_model_signal does. */
tem_status signal_set_of_adaptation(const tem_adaptation *adaptation, uint32_t words,
                                    signal_set *set, tem_error *error);
tem_status signal_set_of_model(const tem_model *model, signal_set *set, tem_error *error);
tem_status signal_set_list(const tem_model *model, signal_set *set, tem_error *error);
void signal_set_free(signal_set *set);

/* Computes how well the best attacker tells the signals from the output of a mechanism. `told`
 * receives set->count results. Fails as tem_channel_create and tem_channel_told do. */
tem_status signal_set_tell(const signal_set *set, const tem_mechanism *mechanism,
                           const tem_prior *prior, const tem_run *run, tem_told *told,
                           tem_error *error);

/* Prints a line per signal: its name, what it was learned from, and its correlation; `with_source`:
 * and the beginning of the hash of its source. */
void signal_set_print(const tem_signal *list, uint32_t count, bool with_source);

/* Returns an array with an object per signal, or NULL if memory is short or a name is not UTF-8. */
json_t *signal_set_as_json(const signal_set *set);

/* Returns [{"name", "side", "side_blind", "variance"}, ...] for set->count results, or NULL if
 * memory is short or a name is not UTF-8. */
json_t *signal_set_told_as_json(const signal_set *set, const tem_told *told);

/* Returns the names of all signals, as words_print shows them, with commas between. The caller
 * frees the text; NULL if memory is short. */
char *signal_set_names(const tem_signal *list, uint32_t count);

#endif
