/* common_options.h - the options that several commands have. */
#ifndef CLI_COMMON_OPTIONS_H
#define CLI_COMMON_OPTIONS_H

#include "options.h"

typedef struct common_options {
    const char *model, *model_hash;
    uint64_t threads;
    bool quiet, verbose, help;
} common_options;

enum { THREADS_MAX = 1024 };

/* Rows of an option table: for commands that read a model, for commands that must trust it, and for
 * all commands. COMMON_OPTIONS ends the table. */
#define MODEL_OPTION(common)                                                                       \
    {                                                                                              \
        "model", 'm', OPTION_TEXT, &(common).model, "MODEL",                                       \
            "the model (else $TEM_MODEL, else the default model)", 0, 0                            \
    }
#define TRUSTED_MODEL_OPTIONS(common)                                                              \
    MODEL_OPTION(common), {                                                                        \
        "model-hash", 0, OPTION_HASH, &(common).model_hash, "HEX",                                 \
            "use the model only if this is its hash, and trust it", 0, 0                           \
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
         NULL,        "print only the result, or why it failed",                                   \
         0,           0},                                                                          \
        {"verbose", 'v', OPTION_FLAG, &(common).verbose, NULL, "print more details", 0, 0},        \
        {"help", 'h', OPTION_FLAG, &(common).help, NULL, "print this help", 0, 0}, {               \
        NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0                                               \
    }

#endif
