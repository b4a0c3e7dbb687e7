/* common_options.h - the options that commands share. */
#ifndef CLI_COMMON_OPTIONS_H
#define CLI_COMMON_OPTIONS_H

#include "options.h"

typedef struct common_options {
    const char *model, *model_hash;
    uint64_t threads;
    bool quiet, verbose, help;
} common_options;

enum { THREADS_MAX = 1024 };

/* Rows of an option table: for commands that look at a model, for those that need to trust it, and
 * for all. The last set ends the table. */
#define MODEL_OPTION(common)                                                                       \
    {                                                                                              \
        "model", 'm', OPTION_TEXT, &(common).model, "MODEL",                                       \
            "the model (default: $TEM_MODEL, else the default model)", 0, 0                        \
    }
#define TRUSTED_MODEL_OPTIONS(common)                                                              \
    MODEL_OPTION(common), {                                                                        \
        "model-hash", 0, OPTION_HASH, &(common).model_hash, "HEX",                                 \
            "use the model only if this is its hash, and trust it then", 0, 0                      \
    }
#define COMMON_OPTIONS(common)                                                                     \
    {"threads",                                                                                    \
     0,                                                                                            \
     OPTION_COUNT,                                                                                 \
     &(common).threads,                                                                            \
     "N",                                                                                          \
     "use N threads (default: all processors)",                                                    \
     1,                                                                                            \
     THREADS_MAX},                                                                                 \
        {"quiet",     'q',                                                                         \
         OPTION_FLAG, &(common).quiet,                                                             \
         NULL,        "say nothing but the result, or why there is none",                          \
         0,           0},                                                                          \
        {"verbose", 'v', OPTION_FLAG, &(common).verbose, NULL, "say more, where there is more",    \
         0,         0},                                                                            \
        {"help", 'h', OPTION_FLAG, &(common).help, NULL, "show this", 0, 0}, {                     \
        NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0                                               \
    }

#endif
