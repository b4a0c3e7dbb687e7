/* options.c - options as tables. */
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool options_number(const char *text, uint64_t *number) {
    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *number = value;
    return true;
}

bool options_decimal(const char *text, double *number) {
    char *end = NULL;
    if (*text == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false; /* no blanks, no hexadecimal, no inf or nan */
    const double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *number = value;
    return true;
}

static const option_spec *find_long(const option_spec *table, const char *name, size_t length) {
    for (; table->name != NULL; table++)
        if (strlen(table->name) == length && memcmp(table->name, name, length) == 0)
            return table;
    return NULL;
}

static const option_spec *find_letter(const option_spec *table, char letter) {
    for (; table->name != NULL; table++)
        if (table->letter == letter)
            return table;
    return NULL;
}

static bool set_positive(const option_spec *option, const char *value, char *message) {
    double number = 0;
    if (!options_decimal(value, &number) || number <= 0) {
        snprintf(message, OPTION_MESSAGE_BYTES, "--%s takes a number above 0, such as 3 or 0.5",
                 option->name);
        return false;
    }
    *(double *)option->target = number;
    return true;
}

static bool set_value(const option_spec *option, const char *value, char *message) {
    if (option->kind == OPTION_TEXT) {
        *(const char **)option->target = value;
        return true;
    }
    if (option->kind == OPTION_POSITIVE)
        return set_positive(option, value, message);
    uint64_t number = 0;
    if (!options_number(value, &number) || number < option->minimum || number > option->maximum) {
        snprintf(message, OPTION_MESSAGE_BYTES,
                 "--%s takes a whole number from %" PRIu64 " to %" PRIu64, option->name,
                 option->minimum, option->maximum);
        return false;
    }
    *(uint64_t *)option->target = number;
    return true;
}

/* argv[*i] starts with a dash. */
static bool parse_option(int argc, char *const *argv, int *i, const option_spec *table,
                         char *message) {
    const char *text = argv[*i], *value = NULL;
    const option_spec *option = NULL;
    if (text[1] == '-') {
        const char *equals = strchr(text, '=');
        option = find_long(table, text + 2,
                           equals != NULL ? (size_t)(equals - text - 2) : strlen(text + 2));
        value = equals != NULL ? equals + 1 : NULL;
    } else {
        option = find_letter(table, text[1]);
        value = text[2] != '\0' ? text + 2 : NULL;
    }
    if (option == NULL) {
        snprintf(message, OPTION_MESSAGE_BYTES, "unknown option '%s'", text);
        return false;
    }
    if (option->kind == OPTION_FLAG) {
        if (value != NULL) {
            snprintf(message, OPTION_MESSAGE_BYTES, "--%s takes no value", option->name);
            return false;
        }
        *(bool *)option->target = true;
        return true;
    }
    if (value == NULL && *i + 1 >= argc) {
        snprintf(message, OPTION_MESSAGE_BYTES, "--%s needs a value: %s", option->name,
                 option->value);
        return false;
    }
    return set_value(option, value != NULL ? value : argv[++*i], message);
}

bool options_parse(int argc, char *const *argv, const option_spec *table, const char **operands,
                   size_t operand_max, size_t *operand_count, char message[OPTION_MESSAGE_BYTES]) {
    bool options_ended = false;
    *operand_count = 0;
    for (int i = 1; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!parse_option(argc, argv, &i, table, message))
                return false;
        } else if (*operand_count == operand_max) {
            snprintf(message, OPTION_MESSAGE_BYTES, "one argument too many: '%s'", argv[i]);
            return false;
        } else {
            operands[(*operand_count)++] = argv[i];
        }
    }
    return true;
}

void options_print_help(FILE *out, const option_spec *table) {
    for (; table->name != NULL; table++) {
        char left[64];
        snprintf(left, sizeof left, "%c%c%s --%s%s%s", table->letter != 0 ? '-' : ' ',
                 table->letter != 0 ? table->letter : ' ', table->letter != 0 ? "," : " ",
                 table->name, table->value != NULL ? " " : "",
                 table->value != NULL ? table->value : "");
        fprintf(out, "  %-24s ", left);
        for (const char *c = table->help; *c != '\0'; c++) {
            fputc(*c, out);
            if (*c == '\n')
                fprintf(out, "  %-24s ", "");
        }
        fputc('\n', out);
    }
}
