/* mechanism_options.h - the options that choose a mechanism. */
#ifndef CLI_MECHANISM_OPTIONS_H
#define CLI_MECHANISM_OPTIONS_H

#include "options.h"
#include "tem.h"

typedef struct mechanism_choice {
    double epsilon, beta, gamma; /* 0: not given */
    const char *mechanism;       /* its name; NULL: not given */
    bool calibrated;             /* s, gamma and weights from the certificate beside the model */
    const char *weights_name;    /* of which kind; NULL: the best there is */
} mechanism_choice;

/* Rows of an option table: for what has epsilon, beta and gamma, and for all of a choice. */
#define EXPONENT_OPTIONS(choice)                                                                   \
    {"epsilon",                                                                                    \
     0,                                                                                            \
     OPTION_POSITIVE,                                                                              \
     &(choice).epsilon,                                                                            \
     "E",                                                                                          \
     "privacy per unit of distance: smaller is more private; no default",                          \
     0,                                                                                            \
     0},                                                                                           \
        {"beta",                                                                                   \
         0,                                                                                        \
         OPTION_POSITIVE,                                                                          \
         &(choice).beta,                                                                           \
         "B",                                                                                      \
         "truncate where all but B of the probability is within (default 0.001)",                  \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "gamma", 0, OPTION_POSITIVE, &(choice).gamma, "G",                                         \
            "truncate at distance G, instead of --beta", 0, 0                                      \
    }

#define MECHANISM_OPTIONS(choice)                                                                  \
    EXPONENT_OPTIONS(choice),                                                                      \
        {"mechanism", 0, OPTION_TEXT, &(choice).mechanism, "M", mechanism_names(), 0, 0},          \
        {"calibrated",                                                                             \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         &(choice).calibrated,                                                                     \
         NULL,                                                                                     \
         "with the exponent and weights that 'tem calibrate' has proved for E",                    \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "weights", 0, OPTION_TEXT, &(choice).weights_name, "W",                                    \
            "--calibrated: with tuned, balanced or equal weights (default: the best)", 0, 0        \
    }

/* The names of all mechanisms, for a line of help. */
const char *mechanism_names(void);

/* What the chosen mechanism is; NULL if there is none of that name. */
const tem_mechanism_properties *mechanism_chosen(const mechanism_choice *choice);

/* Makes the mechanism; NULL and *status if it cannot, after saying why. The model must be the one
 * that default_model_open opened last: its certificates lie beside it. */
tem_mechanism *mechanism_choose(const char *command, const tem_model *model,
                                const mechanism_choice *choice, int *status);

/* Asks for the epsilon that is missing, with one to start from; returns EXIT_USAGE. A certificate
 * has less noise at the same epsilon, so `calibrated` ones start lower. */
int mechanism_ask_epsilon(const char *command, bool calibrated);

#endif
