/* fuzz_options.c - any bytes as a command line; NUL bytes separate the arguments. */
#include "target.h"

#include "options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MOST = 256, OPERANDS_MOST = 3, COUNT_LEAST = 2, COUNT_MOST = 1000 };

typedef struct targets {
    bool flag, quiet;
    const char *text, *name;
    uint64_t count, wide;
    double positive, number;
    option_list list;
} targets;

/* Splits a copy of the input, which ends in NUL, into argv[1], argv[2] and so on. */
static int split(char *text, size_t size, char **argv) {
    static char program[] = "tem";
    int argc = 0;
    argv[argc++] = program;
    for (size_t place = 0; place < size && argc < ARGUMENTS_MOST; place += strlen(text + place) + 1)
        argv[argc++] = text + place;
    argv[argc] = NULL;
    return argc;
}

/* Whether a string is one of the arguments, or the tail of one. */
static bool is_argument(const char *string, const char *text, size_t size) {
    return string >= text && string <= text + size;
}

static void check(bool parsed, const targets *t, const char *const *operands, size_t count,
                  const char *message, const char *text, size_t size) {
    if (count > OPERANDS_MOST ||
        (t->count != 7 && (t->count < COUNT_LEAST || t->count > COUNT_MOST)))
        abort();
    if (!isfinite(t->positive) || t->positive <= 0 || !isfinite(t->number) || t->number < 0)
        abort();
    if (t->list.count > OPTION_LIST_MAX)
        abort();
    for (size_t i = 0; i < t->list.count; i++)
        if (strcmp(t->list.items[i].option, "list") != 0 ||
            !is_argument(t->list.items[i].value, text, size))
            abort();
    for (size_t i = 0; i < count; i++)
        if (!is_argument(operands[i], text, size))
            abort();
    if ((t->text != NULL && !is_argument(t->text, text, size)) ||
        (t->name != NULL && !is_argument(t->name, text, size)))
        abort();
    const size_t length = strnlen(message, OPTION_MESSAGE_BYTES);
    if (length == OPTION_MESSAGE_BYTES || parsed != (length == 0))
        abort();
}

static bool parse(char *text, size_t size) {
    targets t = {.count = 7, .positive = 1};
    const option_spec table[] = {
        {"flag", 'f', OPTION_FLAG, &t.flag, NULL, "a flag", 0, 0},
        {"quiet", 0, OPTION_FLAG, &t.quiet, NULL, "a flag without a letter", 0, 0},
        {"text", 't', OPTION_TEXT, &t.text, "TEXT", "a text", 0, 0},
        {"name", 0, OPTION_TEXT, &t.name, "NAME", "a text without a letter", 0, 0},
        {"count", 'n', OPTION_COUNT, &t.count, "N", "a number", COUNT_LEAST, COUNT_MOST},
        {"wide", 'w', OPTION_COUNT, &t.wide, "N", "any number", 0, UINT64_MAX},
        {"number", 'x', OPTION_NUMBER, &t.number, "X", "a number of 0 or more", 0, 0},
        {"list", 'l', OPTION_LIST, &t.list, "FILE", "a text, several times", 0, 0},
        {"positive", 'p', OPTION_POSITIVE, &t.positive, "X", "a number above 0", 0, 0},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0},
    };
    char *argv[ARGUMENTS_MOST + 1];
    const char *operands[OPERANDS_MOST] = {NULL};
    char message[OPTION_MESSAGE_BYTES] = "";
    size_t count = 0;
    const int argc = split(text, size, argv);
    const bool parsed = options_parse(argc, argv, table, operands, OPERANDS_MOST, &count, message);
    check(parsed, &t, operands, count, message, text, size);
    return parsed;
}

bool fuzz_input(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL)
        return false;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    const bool parsed = parse(text, size);
    free(text);
    return parsed;
}
