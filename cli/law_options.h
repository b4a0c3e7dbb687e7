/* law_options.h - the mechanism that released a text, and what is publicly expected of the
 * original: the options of the commands that learn from released text. */
#ifndef CLI_LAW_OPTIONS_H
#define CLI_LAW_OPTIONS_H

#include "common_options.h"
#include "mechanism_options.h"
#include "run_report.h"
#include "tem_learn.h"

typedef struct law_choice {
    mechanism_choice mechanism;
    const char *prior_text;
    const char *report_path; /* or NULL */
    double unknown;          /* below 0: not given */
    bool is_foreign;         /* a program that tem does not have released the text: no mechanism */
    bool needs_unknown;      /* refuse if no file tells the share of unknown words; else take 0 */
} law_choice;

#define LAW_CHOICE_DEFAULT                                                                         \
    { .unknown = -1 }

/* Rows of an option table, after the one of --prior. `otherwise` ends the help of --unknown: what
 * holds if no file has unknown words. */
#define LAW_OPTIONS(choice, otherwise)                                                             \
    {"unknown",                                                                                    \
     0,                                                                                            \
     OPTION_SHARE,                                                                                 \
     &(choice).unknown,                                                                            \
     "SHARE",                                                                                      \
     "share of unknown words among the words of the original (default: 0 if --report\n"            \
     "says that they were not drawn for, else as in the file of --prior" otherwise ")",            \
     0,                                                                                            \
     0},                                                                                           \
    {                                                                                              \
        "report", 0, OPTION_FILE, &(choice).report_path, "FILE",                                   \
            "the report of the run that released the text ('tem privatize --report'):\n"           \
            "refuse if the model or the mechanism was another",                                    \
            0, 0                                                                                   \
    }

/* The law, and what belongs to it. */
typedef struct law {
    tem_model *model;
    tem_mechanism *mechanism; /* NULL for a program that tem does not have */
    tem_prior *prior;
    tem_expectation expected;
    tem_mechanism_info info;
    tem_model_info model_info;
    run_report report; /* as if unknown words were drawn for and nothing kept, if there is none */
} law;

/* Checks the choice before any file is read. Returns an exit status; prints what is wrong. */
int law_check(const char *command, const law_choice *choice);

/* Opens the model, makes the mechanism, compares it with the report, and reads the prior. Returns
 * an exit status; prints what went wrong. Close with law_close, also after a failure. */
int law_open(const char *command, const common_options *common, const law_choice *choice,
             const tem_run *run, law *out);
void law_close(law *l);

/* Whether the mechanism can draw the word. The law must have a mechanism. */
bool law_outputs(const law *l, uint32_t word);

#endif
