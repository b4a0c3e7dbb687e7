/* run_report.h - the report of the run that released a text (tem privatize --report). */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include "tem.h"

#include <stdbool.h>

/* What a report says about the words and the punctuation of the released text. */
typedef struct run_report {
    bool draws_unknown;     /* the report does not say that unknown words were dropped, masked or
                             * kept */
    bool keeps_unknown;     /* unknown words were released as they are */
    bool keeps_punctuation; /* punctuation was released as it is */
    bool is_shuffled;       /* the words of a document were released in a random order */
} run_report;

/* Reads a report, and compares the mechanism with the one that released the text. Returns an exit
 * status; prints which field differs, or what is wrong with the file. */
int run_report_read(const char *path, const tem_model *model, const tem_mechanism *mechanism,
                    run_report *out);

#endif
