/* mechanism_options.h - the options that choose a mechanism. */
#ifndef CLI_MECHANISM_OPTIONS_H
#define CLI_MECHANISM_OPTIONS_H

#include "options.h"
#include "tem.h"

typedef struct mechanism_choice {
    double epsilon, beta, gamma; /* 0: not given */
    const char *mechanism;       /* its name; NULL: not given */
    bool calibrated;             /* s, gamma and weights from the certificate beside the model */
    const char *weights_name;    /* NULL: the first of balanced, equal and tuned that exists */
    option_list numbers;         /* the mechanism's own, each as NAME=NUMBER */
    const char *list_path;       /* its public list of words; NULL: not given */
    const char *language;        /* a language model's file, "english" or "none"; NULL: not given */
    const char *never_path;      /* words that are never released; NULL: not given */
    const char *remap_prior;     /* map the outputs by this prior; NULL: not given */
    const tem_run *run;          /* how to make the map; NULL: all defaults */
    bool quiet;                  /* no notes about the words of --never */
    bool allow_no_guarantee;     /* also a mechanism that protects nothing by the model's metric */
} mechanism_choice;

/* Rows of an option table: for a struct that has epsilon, beta and gamma, and for a
 * mechanism_choice. */
#define EXPONENT_OPTIONS(choice)                                                                   \
    {"epsilon",                                                                                    \
     0,                                                                                            \
     OPTION_POSITIVE,                                                                              \
     &(choice).epsilon,                                                                            \
     "E",                                                                                          \
     "privacy loss per unit of distance: smaller is more private; no default",                     \
     0,                                                                                            \
     0},                                                                                           \
        {"beta",                                                                                   \
         0,                                                                                        \
         OPTION_PROBABILITY,                                                                       \
         &(choice).beta,                                                                           \
         "B",                                                                                      \
         "truncate at the distance that has all but B of the probability within it\n"              \
         "(default 0.001)",                                                                        \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "gamma", 0, OPTION_POSITIVE, &(choice).gamma, "G",                                         \
            "truncate at distance G, instead of --beta", 0, 0                                      \
    }

#define MECHANISM_OPTIONS(choice)                                                                  \
    EXPONENT_OPTIONS(choice),                                                                      \
        {"mechanism", 0,                                                                           \
         OPTION_TEXT, &(choice).mechanism,                                                         \
         "M",         "tem (default) or em; 'tem mechanisms' lists all of them",                   \
         0,           0},                                                                          \
        {"calibrated",                                                                             \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         &(choice).calibrated,                                                                     \
         NULL,                                                                                     \
         "use the exponent and weights that 'tem calibrate' has proved for E",                     \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "weights", 0, OPTION_TEXT, &(choice).weights_name, "W",                                    \
            "--calibrated: use balanced, equal or tuned weights (default: the first of\n"          \
            "these that exists)",                                                                  \
            0, 0                                                                                   \
    }

/* A row for every command that takes a mechanism: those that take words as independent refuse all
 * values but "none". */
#define LANGUAGE_OPTION(choice)                                                                    \
    {                                                                                              \
        "language-model", 0, OPTION_FILE, &(choice).language, "L",                                 \
            "weigh outputs by the words released before: none (default), english, or a\n"          \
            "FILE.temlm of public text ('tem ngram')",                                             \
            0, 0                                                                                   \
    }

/* Rows for commands that take every mechanism: what a mechanism takes of its own. */
#define OWN_OPTIONS(choice)                                                                        \
    {"number",    0,                                                                               \
     OPTION_LIST, &(choice).numbers,                                                               \
     "NAME=X",    "a number of the mechanism's own, such as c=5 (rank); several times",            \
     0,           0},                                                                              \
        {"list",      0,                                                                           \
         OPTION_FILE, &(choice).list_path,                                                         \
         "FILE",      "the public list of words that the mechanism needs, one per line",           \
         0,           0},                                                                          \
    {                                                                                              \
        "never", 0, OPTION_FILE, &(choice).never_path, "FILE",                                     \
            "PUBLIC words that are never released, whatever the text has; one per line", 0, 0      \
    }

/* A row for commands that draw. */
#define REMAP_OPTION(choice)                                                                       \
    {                                                                                              \
        "remap", 0, OPTION_FILE, &(choice).remap_prior, "PRIOR",                                   \
            "replace each drawn word by the one nearest to what is probably behind it,\n"          \
            "given a PUBLIC text, counts or zipf; the guarantee stays",                            \
            0, 0                                                                                   \
    }

/* A row for a command that releases text. The other commands allow every mechanism. */
#define NO_GUARANTEE_OPTION(choice)                                                                \
    {                                                                                              \
        "allow-no-guarantee", 0, OPTION_FLAG, &(choice).allow_no_guarantee, NULL,                  \
            "also use a mechanism that has no guarantee in the model's metric", 0, 0               \
    }

/* What a mechanism takes beside epsilon, beta and gamma. */
typedef struct own_options {
    tem_parameter_value numbers[OPTION_LIST_MAX + 1]; /* the last has the name NULL */
    char names[OPTION_LIST_MAX][32];
    unsigned char *listed; /* NULL: no list was given */
} own_options;

/* Reads the values of --number and the file of --list (NULL: none). Returns an exit status; prints
 * what went wrong. Free with own_options_free, also after a failure. */
int own_options_read(const char *command, const option_list *numbers, const char *list_path,
                     const tem_model *model, own_options *own);
void own_options_free(own_options *own);

/* The properties of the mechanism with this name; NULL if there is none. */
const tem_mechanism_properties *mechanism_named(const char *name);

/* Says that no mechanism is called that, and which one may be meant. Returns EXIT_USAGE. */
int mechanism_refuse_name(const char *command, const char *typed);

/* The properties of the chosen mechanism; NULL if no mechanism has that name. */
const tem_mechanism_properties *mechanism_chosen(const mechanism_choice *choice);

/* Makes the chosen mechanism. The model must be the one that default_model_open opened last: its
 * certificates and language models are beside it. Returns NULL on failure, after printing why;
 * *status receives the exit status. Free with mechanism_close. */
tem_mechanism *mechanism_choose(const char *command, const tem_model *model,
                                const mechanism_choice *choice, int *status);

/* Frees a mechanism and its language model. NULL: does nothing. */
void mechanism_close(tem_mechanism *mechanism);

/* Prints that epsilon is missing, and what two epsilons do on the default model. Returns
 * EXIT_USAGE.
 *   mechanism     its name; NULL: not given
 *   calibrated    the epsilon is for a certified mechanism, which has less noise */
int mechanism_ask_epsilon(const char *command, const char *mechanism, bool calibrated);

#endif
