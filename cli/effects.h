/* effects.h - what a certified mechanism does, beside the paper's at the same epsilon: a tighter
 * proof is also less noise, and whoever uses it should see both. */
#ifndef CLI_EFFECTS_H
#define CLI_EFFECTS_H

#include "tem.h"

#include <jansson.h>

/* As a table on stdout; nothing if the certificate does not say. */
void effects_print(const tem_certificate_info *certificate);

/* {"prior", "self", "support", "distance", "bayes", "paper": {the same four}}; null if the
 * certificate does not say. NULL: no memory. */
json_t *effects_as_json(const tem_certificate_info *certificate);

#endif
