/* alone_mechanism.h - a mechanism without its language model, for a comparison. */
#ifndef CLI_ALONE_MECHANISM_H
#define CLI_ALONE_MECHANISM_H

#include "mechanism_options.h"

/* Makes the mechanism that `choice` gave, without its language model and at the same s: epsilon/2
 * for rank and coin, whose epsilon is s where no outputs weigh more than others. At the same
 * epsilon their s would be twice as large, which compares two laws, and is refused where s is near
 * the largest. Returns NULL on failure, after printing why; *status receives the exit status. Free
 * with mechanism_close.
 *   mechanism    has a language model */
tem_mechanism *alone_mechanism_make(const char *command, const tem_model *model,
                                    const mechanism_choice *choice, const tem_mechanism *mechanism,
                                    int *status);

#endif
