/* choose_family.h - tem choose MODEL...: which of several models keeps the signals best. */
#ifndef CLI_CHOOSE_FAMILY_H
#define CLI_CHOOSE_FAMILY_H

#include "common_options.h"

#include <stddef.h>

enum { FAMILY_MAX = 16 };

typedef struct family_request {
    const common_options *common;
    const char *const *paths; /* 1 to FAMILY_MAX models; at least one is adapted */
    size_t count;
    double bayes;
    const char *prior_text, *plot_path; /* plot_path may be NULL */
    bool json;
} family_request;

/* Compares the models at the target, and along a curve of targets. Returns an exit status. */
int choose_family(const family_request *r);

#endif
