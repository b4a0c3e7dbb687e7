/* prior_option.h - the option --prior: how often each word is used. */
#ifndef CLI_PRIOR_OPTION_H
#define CLI_PRIOR_OPTION_H

#include "tem_account.h"

#include <stdbool.h>

/* A row of an option table; target is a const char *. */
#define PRIOR_DEFAULT "zipf"
#define PRIOR_OPTION(target)                                                                       \
    {                                                                                              \
        "prior", 0, OPTION_FILE, &(target), "PRIOR",                                               \
            "how often words are used: zipf (default), zipf:POWER, or a PUBLIC file,\n"            \
            "a text or lines of WORD<TAB>COUNT; never the text that you want to protect",          \
            0, 0                                                                                   \
    }

/* Makes the prior that `text` names. Returns NULL on failure, after printing why; *status receives
 * the exit status. */
tem_prior *prior_choose(const char *command, const char *text, const tem_model *model,
                        const tem_run *run, bool quiet, int *status);

/* The name of that prior in a certificate: without directories, at most 63 bytes. */
const char *prior_name(const char *text);

#endif
