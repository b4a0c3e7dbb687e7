/* choose_form.h - 'tem choose --mechanism rank': the epsilon of a mechanism that protects all words
 * alike. */
#ifndef CLI_CHOOSE_FORM_H
#define CLI_CHOOSE_FORM_H

#include "common_options.h"
#include "tem_account.h"

typedef struct form_request {
    const common_options *common;
    const char *mechanism, *prior_text;
    const option_list *numbers;
    tem_target target;
    double wanted;
    bool has_target; /* false: only the curve around `wanted` */
    bool json;
} form_request;

/* Finds the epsilon and prints it. Returns an exit status. */
int choose_form(const form_request *r);

#endif
