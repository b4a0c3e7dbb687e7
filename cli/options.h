/* options.h - options as tables: parsing and help come from the same lines. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum option_kind {
    OPTION_FLAG,     /* sets a bool */
    OPTION_TEXT,     /* sets a const char * */
    OPTION_COUNT,    /* sets a uint64_t, within minimum to maximum */
    OPTION_POSITIVE, /* sets a double: finite, above 0 */
    OPTION_HASH,     /* sets a const char *: 64 hexadecimal digits */
} option_kind;

typedef struct option_spec {
    const char *name; /* without the dashes */
    char letter;      /* or 0 */
    option_kind kind;
    void *target;
    const char *value; /* how the help calls the value; NULL for flags */
    const char *help;
    uint64_t minimum, maximum;
} option_spec;

enum { OPTION_MESSAGE_BYTES = 256 };

/* Reads argv[1..]: options into their targets, the rest into `operands`, at most
 * `operand_max`, *operand_count being set. "--" ends the options; "-" is an operand;
 * "--name=value", "-ovalue" and "-fq" work too. An option with a value may be given once.
 * On failure false and a sentence in `message`. The table has at most 64 rows and ends with
 * a name of NULL. */
bool options_parse(int argc, char *const *argv, const option_spec *table, const char **operands,
                   size_t operand_max, size_t *operand_count, char message[OPTION_MESSAGE_BYTES]);

/* A whole number in decimal digits and nothing else; false if it is not, or does not
 * fit. */
bool options_number(const char *text, uint64_t *number);

/* A number in decimal, such as 3, 0.5 or 1e-3, and nothing else; false if it is not, or
 * is not finite. */
bool options_decimal(const char *text, double *number);

/* One line or more an option. */
void options_print_help(FILE *out, const option_spec *table);

#endif
