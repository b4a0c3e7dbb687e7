/* format_names.c - the record formats, for help and messages. */
#include "format_names.h"

#include "talk.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_BYTES = 128 };

/* Whether join will name another format after number i. */
static bool has_next(unsigned i, bool fields_only) {
    int has_fields = 0;
    while (tem_format_at(++i, NULL, &has_fields, NULL) != NULL)
        if (has_fields || !fields_only)
            return true;
    return false;
}

static void join(char names[NAMES_BYTES], bool fields_only, const char *last_comma,
                 const char *after_first) {
    size_t used = 0;
    int has_fields = 0;
    const char *name = NULL;
    names[0] = '\0';
    for (unsigned i = 0; (name = tem_format_at(i, NULL, &has_fields, NULL)) != NULL; i++) {
        if (fields_only && !has_fields)
            continue;
        const char *comma = used == 0 ? "" : has_next(i, fields_only) ? ", " : last_comma;
        const char *after = used == 0 ? after_first : "";
        const int more = snprintf(names + used, NAMES_BYTES - used, "%s%s%s", comma, name, after);
        if (more < 0 || (size_t)more >= NAMES_BYTES - used)
            return;
        used += (size_t)more;
    }
}

const char *format_names_all(void) {
    static char names[NAMES_BYTES];
    join(names, false, " or ", " (default)");
    return names;
}

const char *format_names_with_fields(void) {
    static char names[NAMES_BYTES];
    join(names, true, " or ", "");
    return names;
}

const char *format_names_listed(void) {
    static char names[NAMES_BYTES];
    join(names, true, ", ", "");
    return names;
}

bool format_has_fields(tem_format format) {
    tem_format found = 0;
    int has_fields = 0;
    for (unsigned i = 0; tem_format_at(i, &found, &has_fields, NULL) != NULL; i++)
        if (found == format)
            return has_fields != 0;
    return false;
}

/* Whether the first `length` bytes of a path end in a dot and the name, and have more before. */
static bool ends_in(const char *path, size_t length, const char *name) {
    const size_t bytes = strlen(name);
    return length > bytes + 1 && path[length - bytes - 1] == '.' &&
           memcmp(path + length - bytes, name, bytes) == 0;
}

/* The format with fields in whose name the first `length` bytes of a path end; 0: none. */
static tem_format find_ending(const char *path, size_t length) {
    tem_format format = 0;
    int has_fields = 0;
    const char *name = NULL;
    for (unsigned i = 0; (name = tem_format_at(i, &format, &has_fields, NULL)) != NULL; i++)
        if (has_fields && ends_in(path, length, name))
            return format;
    return 0;
}

tem_format format_of_path(const char *path) {
    const size_t length = strlen(path), gz = sizeof ".gz" - 1;
    return find_ending(path, ends_in(path, length, "gz") ? length - gz : length);
}

int format_check_path(const char *command, const char *path, tem_format format) {
    if (format != 0 || find_ending(path, strlen(path)) == 0)
        return EXIT_DONE;
    return talk_usage(command,
                      "%s looks like a table: name its --format and --field, or say --format text",
                      path);
}
