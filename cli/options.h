/* options.h - tables of options, from which come both parsing and help. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum option_kind {
    OPTION_FLAG,        /* sets a bool */
    OPTION_TEXT,        /* sets a const char * */
    OPTION_COUNT,       /* sets a uint64_t, within minimum to maximum */
    OPTION_POSITIVE,    /* sets a double: finite, above 0 */
    OPTION_PROBABILITY, /* sets a double: above 0, below 1 */
    OPTION_SHARE,       /* sets a double: 0 or more, below 1 */
    OPTION_NUMBER,      /* sets a double: finite, 0 or more */
    OPTION_HASH,        /* sets a const char *: 64 hexadecimal digits */
    OPTION_LIST,        /* adds to an option_list; may be given several times */
    OPTION_FILE,        /* as OPTION_TEXT: a file that the command reads, or NAME=FILE */
    OPTION_FILES,       /* as OPTION_LIST: files that the command reads, or NAME=FILE */
} option_kind;

enum { OPTION_LIST_MAX = 64 };

/* The values of options that may be given several times, in the order of the command line. Several
 * options may share a list. */
typedef struct option_list {
    struct {
        const char *option; /* its name, without the dashes */
        const char *value;
    } items[OPTION_LIST_MAX];
    size_t count;
} option_list;

typedef struct option_spec {
    const char *name; /* without the dashes */
    char letter;      /* or 0 */
    option_kind kind;
    void *target;
    const char *value; /* the name of the value in the help; NULL for flags */
    const char *help;
    uint64_t minimum, maximum;
} option_spec;

enum { OPTION_MESSAGE_BYTES = 256 };

/* Reads argv[1..]: sets the targets of the options, and puts the other arguments into `operands`,
 * at most `operand_max`; *operand_count receives their number. "--" ends the options; "-" is an
 * operand; "--name=value", "-ovalue" and "-fq" work too. An option with a value may be given only
 * once, unless it is an OPTION_LIST. The table has at most 64 rows and ends with a name of NULL.
 * Returns false on failure, with a sentence in `message`. */
bool options_parse(int argc, char *const *argv, const option_spec *table, const char **operands,
                   size_t operand_max, size_t *operand_count, char message[OPTION_MESSAGE_BYTES]);

/* Returns the first file that the command reads, by the last options_parse, for which is_same(file,
 * path) is true: the name of its option, "" for an operand; NULL if there is none.
 * The table and the operands of that call must still be there. */
const char *options_find_input(bool (*is_same)(const char *file, const char *path),
                               const char *path);

/* Reads a whole number. Returns false if the text has anything but decimal digits, or if the number
 * does not fit. */
bool options_number(const char *text, uint64_t *number);

/* Reads a decimal number, such as 3, 0.5 or 1e-3. Returns false if the text has anything else, or
 * if the number is not finite. */
bool options_decimal(const char *text, double *number);

/* Prints one line or more per option, within 80 columns. */
void options_print_help(FILE *out, const option_spec *table);

#endif
