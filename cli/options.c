/* options.c - tables of options. */
#include "options.h"

#include "near_name.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 64 };

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

static bool add_to_list(const option_spec *option, const char *value, char *message) {
    option_list *list = option->target;
    if (list->count == OPTION_LIST_MAX) {
        snprintf(message, OPTION_MESSAGE_BYTES, "--%s: tem takes at most %d of these", option->name,
                 OPTION_LIST_MAX);
        return false;
    }
    list->items[list->count].option = option->name;
    list->items[list->count++].value = value;
    return true;
}

/* Appends what the user may have meant by a text that is no number for the option: a decimal
 * comma, or percent where a probability belongs. */
static void add_number_hint(const option_spec *option, const char *value, char *message) {
    const size_t used = strlen(message), bytes = strlen(value);
    char text[32];
    double number = 0;
    if (bytes == 0 || bytes >= sizeof text)
        return;
    memcpy(text, value, bytes + 1);
    char *comma = strchr(text, ',');
    const bool percent = text[bytes - 1] == '%';
    if (percent)
        text[bytes - 1] = '\0';
    if (comma != NULL)
        *comma = '.';
    if (!options_decimal(text, &number))
        return;
    const bool is_share = option->kind == OPTION_PROBABILITY || option->kind == OPTION_SHARE;
    if (is_share && (percent || number > 1) && number > 0 && number < 100)
        snprintf(message + used, OPTION_MESSAGE_BYTES - used, "; for %.6g %% write %.6g", number,
                 number / 100);
    else if (comma != NULL && !percent)
        snprintf(message + used, OPTION_MESSAGE_BYTES - used, "; write %s, with a decimal point",
                 text);
}

static bool is_in_range(option_kind kind, double number) {
    return kind == OPTION_POSITIVE      ? number > 0
           : kind == OPTION_PROBABILITY ? number > 0 && number < 1
           : kind == OPTION_SHARE       ? number >= 0 && number < 1
                                        : number >= 0;
}

static bool set_decimal(const option_spec *option, const char *value, char *message) {
    double number = 0;
    if (options_decimal(value, &number) && is_in_range(option->kind, number)) {
        *(double *)option->target = number;
        return true;
    }
    snprintf(message, OPTION_MESSAGE_BYTES, "--%s takes a number %s", option->name,
             option->kind == OPTION_POSITIVE      ? "above 0, such as 3 or 0.5"
             : option->kind == OPTION_PROBABILITY ? "between 0 and 1, such as 0.5"
             : option->kind == OPTION_SHARE       ? "from 0 to below 1, such as 0"
                                                  : "of 0 or more, such as 0.5");
    add_number_hint(option, value, message);
    return false;
}

static bool set_value(const option_spec *option, const char *value, char *message) {
    uint64_t number = 0;
    switch (option->kind) {
    case OPTION_POSITIVE:
    case OPTION_PROBABILITY:
    case OPTION_SHARE:
    case OPTION_NUMBER:
        return set_decimal(option, value, message);
    case OPTION_COUNT:
        if (options_number(value, &number) && number >= option->minimum &&
            number <= option->maximum) {
            *(uint64_t *)option->target = number;
            return true;
        }
        snprintf(message, OPTION_MESSAGE_BYTES,
                 "--%s takes a whole number from %" PRIu64 " to %" PRIu64, option->name,
                 option->minimum, option->maximum);
        return false;
    case OPTION_HASH:
        if (strlen(value) == HASH_DIGITS && strspn(value, "0123456789abcdef") == HASH_DIGITS) {
            *(const char **)option->target = value;
            return true;
        }
        snprintf(message, OPTION_MESSAGE_BYTES,
                 "--%s takes %d digits, 0 to 9 and a to f, as 'tem verify' prints them",
                 option->name, HASH_DIGITS);
        return false;
    case OPTION_LIST:
    case OPTION_FILES:
        return add_to_list(option, value, message);
    default:
        *(const char **)option->target = value;
        return true;
    }
}

/* The state of options_parse. */
typedef struct parser {
    int argc;
    char *const *argv;
    int at;
    const option_spec *table;
    uint64_t seen; /* a bit for each row of the table */
    char *message;
} parser;

static bool complain(parser *p, const char *what, const char *name) {
    snprintf(p->message, OPTION_MESSAGE_BYTES, what, name);
    return false;
}

/* Names that other programs have for an option; "" if the name is none of them. */
static const char *usual_name(const char *typed, size_t bytes) {
    static const struct {
        const char *other, *name;
    } others[] = {
        {"column", "field"}, {"columns", "field"},      {"overwrite", "force"},
        {"e", "epsilon"},    {"seed", "insecure-seed"}, {"jobs", "threads"},
        {"j", "threads"},    {"workers", "threads"},    {"sep", "delimiter"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i].other) == bytes && memcmp(others[i].other, typed, bytes) == 0)
            return others[i].name;
    return "";
}

/* Refuses an option; `name` is what the user typed without dashes and value. */
static bool refuse_option(parser *p, const char *text, const char *name, size_t bytes) {
    const char *usual = usual_name(name, bytes);
    near_name near = near_name_for(name, bytes);
    if (find_long(p->table, usual, strlen(usual)) != NULL)
        near = near_name_for(usual, strlen(usual));
    for (const option_spec *option = p->table; option->name != NULL; option++)
        near_name_look(&near, "--", option->name, strlen(option->name));
    snprintf(p->message, OPTION_MESSAGE_BYTES, "unknown option '%.*s'%s",
             (int)(name + bytes - text), text, near_name_hint(&near));
    return false;
}

/* Takes an option; `value` is the value attached to it ("--name=value", "-ovalue"), or NULL.
 * An option with a value may be given only once, unless it is a list: of two values, tem would
 * silently forget one. */
static bool take_option(parser *p, const option_spec *option, const char *value) {
    if (option->kind == OPTION_FLAG) {
        if (value != NULL)
            return complain(p, "--%s takes no value", option->name);
        *(bool *)option->target = true;
        return true;
    }
    const uint64_t bit = (uint64_t)1 << (option - p->table);
    if ((p->seen & bit) && option->kind != OPTION_LIST && option->kind != OPTION_FILES)
        return complain(p, "--%s is given twice", option->name);
    p->seen |= bit;
    if (value == NULL && p->at + 1 >= p->argc) {
        snprintf(p->message, OPTION_MESSAGE_BYTES, "--%s needs a value: %s", option->name,
                 option->value);
        return false;
    }
    return set_value(option, value != NULL ? value : p->argv[++p->at], p->message);
}

static bool parse_long(parser *p, const char *text) {
    const char *equals = strchr(text, '=');
    const size_t length = equals != NULL ? (size_t)(equals - text - 2) : strlen(text + 2);
    const option_spec *option = find_long(p->table, text + 2, length);
    if (option == NULL)
        return refuse_option(p, text, text + 2, length);
    return take_option(p, option, equals != NULL ? equals + 1 : NULL);
}

/* One or more letters; the last may have a value, attached or as the next argument. */
static bool parse_letters(parser *p, const char *text) {
    for (const char *letter = text + 1; *letter != '\0'; letter++) {
        const option_spec *option = find_letter(p->table, *letter);
        if (option == NULL)
            return refuse_option(p, text, text + 1, strlen(text + 1));
        const bool flag = option->kind == OPTION_FLAG;
        if (!take_option(p, option, flag || letter[1] == '\0' ? NULL : letter + 1))
            return false;
        if (!flag)
            return true;
    }
    return true;
}

/* What the last options_parse has read, for options_find_input. */
static const option_spec *parsed;
static const char **parsed_operands;
static size_t *parsed_count;

/* Whether the value of an option is, or ends in, the file `path`. */
static bool names(bool (*is_same)(const char *, const char *), const char *value,
                  const char *path) {
    const char *equals = value == NULL ? NULL : strchr(value, '=');
    return value != NULL && (is_same(value, path) || (equals != NULL && is_same(equals + 1, path)));
}

static bool list_names(bool (*is_same)(const char *, const char *), const option_spec *option,
                       const char *path) {
    const option_list *list = option->target;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].option, option->name) == 0 &&
            names(is_same, list->items[i].value, path))
            return true;
    return false;
}

const char *options_find_input(bool (*is_same)(const char *file, const char *path),
                               const char *path) {
    for (size_t i = 0; parsed != NULL && i < *parsed_count; i++)
        if (is_same(parsed_operands[i], path))
            return "";
    for (const option_spec *o = parsed; o != NULL && o->name != NULL; o++)
        if ((o->kind == OPTION_FILE && names(is_same, *(const char **)o->target, path)) ||
            (o->kind == OPTION_FILES && list_names(is_same, o, path)))
            return o->name;
    return NULL;
}

bool options_parse(int argc, char *const *argv, const option_spec *table, const char **operands,
                   size_t operand_max, size_t *operand_count, char message[OPTION_MESSAGE_BYTES]) {
    parser p = {.argc = argc, .argv = argv, .at = 1, .table = table, .message = message};
    bool options_ended = false;
    *operand_count = 0;
    parsed = table;
    parsed_operands = operands;
    parsed_count = operand_count;
    for (; p.at < argc; p.at++) {
        const char *text = argv[p.at];
        if (!options_ended && strcmp(text, "--") == 0) {
            options_ended = true;
        } else if (!options_ended && text[0] == '-' && text[1] != '\0') {
            if (!(text[1] == '-' ? parse_long(&p, text) : parse_letters(&p, text)))
                return false;
        } else if (*operand_count == operand_max) {
            return complain(&p, "one argument too many: '%s'", text);
        } else {
            operands[(*operand_count)++] = text;
        }
    }
    return true;
}

void options_print_help(FILE *out, const option_spec *table) {
    enum { INDENT = 27 };
    for (; table->name != NULL; table++) {
        char left[64];
        snprintf(left, sizeof left, "%c%c%s --%s%s%s", table->letter != 0 ? '-' : ' ',
                 table->letter != 0 ? table->letter : ' ', table->letter != 0 ? "," : " ",
                 table->name, table->value != NULL ? " " : "",
                 table->value != NULL ? table->value : "");
        const int column = fprintf(out, "  %-24s ", left);
        wrap_words(out, table->help, strlen(table->help), (size_t)column, INDENT);
    }
}
