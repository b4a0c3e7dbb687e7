/* signal_sources.h - the options that name public sources of signals. */
#ifndef CLI_SIGNAL_SOURCES_H
#define CLI_SIGNAL_SOURCES_H

#include "options.h"
#include "tem_adapt.h"

typedef struct source_choice {
    option_list files; /* of --lexicon and --labelled */
    const char *text, *label, *rating, *format_name;
} source_choice;

/* Rows of an option table. */
#define SOURCE_OPTIONS(choice)                                                                     \
    {"lexicon",                                                                                    \
     0,                                                                                            \
     OPTION_FILES,                                                                                 \
     &(choice).files,                                                                              \
     "FILE",                                                                                       \
     "a PUBLIC source: lines of a word, a tab and a number; may be given several\n"                \
     "times",                                                                                      \
     0,                                                                                            \
     0},                                                                                           \
        {"labelled",                                                                               \
         0,                                                                                        \
         OPTION_FILES,                                                                             \
         &(choice).files,                                                                          \
         "FILE",                                                                                   \
         "a PUBLIC source: texts with labels, never those that you want to protect;\n"             \
         "may be given several times",                                                             \
         0,                                                                                        \
         0},                                                                                       \
        {"text", 0, OPTION_TEXT, &(choice).text, "FIELD", "--labelled: the field with the text",   \
         0,      0},                                                                               \
        {"label",     0,                                                                           \
         OPTION_TEXT, &(choice).label,                                                             \
         "FIELD",     "--labelled: the field with the class of the text",                          \
         0,           0},                                                                          \
        {"rating",    0,                                                                           \
         OPTION_TEXT, &(choice).rating,                                                            \
         "FIELD",     "--labelled: the field with a number for the text, instead of --label",      \
         0,           0},                                                                          \
    {                                                                                              \
        "format", 0, OPTION_TEXT, &(choice).format_name, "F",                                      \
            "--labelled: csv, tsv or jsonl (default: by the ending of the file's name)", 0, 0      \
    }

/* Check the choice before anything is read: the fields and formats; and then the files: whether
 * they can be opened. Return an exit status; print what is wrong. */
int sources_check(const char *command, const source_choice *choice);
int sources_check_files(const source_choice *choice);

/* Adds the signals of all files, in their order. Fails as tem_adaptation_add does. */
tem_status sources_add(const source_choice *choice, tem_adaptation *adaptation, const tem_run *run,
                       tem_error *error);

#endif
