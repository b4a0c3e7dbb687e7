/* choose_context.h - 'tem choose --context': the epsilon for an attacker with context. */
#ifndef CLI_CHOOSE_CONTEXT_H
#define CLI_CHOOSE_CONTEXT_H

#include "common_options.h"

typedef struct context_request {
    const common_options *common;
    const char *ngram_path, *text_path, *prior_text;
    double bayes, beta, gamma;
    uint64_t sample; /* words of the text */
    bool json;
} context_request;

enum { CONTEXT_SAMPLE_DEFAULT = 5000 };

/* Finds the epsilon and prints it. Returns an exit status. */
int choose_context(const context_request *r);

#endif
