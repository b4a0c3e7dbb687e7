/* fields_option.h - the options that name the fields of records, and the message about fields. */
#ifndef CLI_FIELDS_OPTION_H
#define CLI_FIELDS_OPTION_H

#include "options.h"
#include "tem.h"

/* The values of --field, and of --drop-field and --drop-field-if-present, which share a list. */
typedef struct fields_option {
    option_list private, dropped;
    const char *more_names[OPTION_LIST_MAX], *dropped_names[OPTION_LIST_MAX];
} fields_option;

/* Sets the fields of a job, which points into the options. Returns an exit status; prints which
 * names contradict each other. */
int fields_option_set(const char *command, fields_option *f, tem_job *job);

/* Prints which fields a run has released unchanged, and warns about those that look personal. */
void fields_option_tell(const tem_fields *fields, bool dry_run);

#endif
