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

static bool is_ending(const char *path) {
    const char *ending = strrchr(path, '.'), *name = NULL;
    int has_fields = 0;
    for (unsigned i = 0; (name = tem_format_at(i, NULL, &has_fields, NULL)) != NULL; i++)
        if (has_fields && ending != NULL && ending != path && strcmp(ending + 1, name) == 0)
            return true;
    return false;
}

int format_check_path(const char *command, const char *path, tem_format format) {
    if (format != 0 || !is_ending(path))
        return EXIT_DONE;
    return talk_usage(command,
                      "%s looks like a table: name its --format and --field, or say --format text",
                      path);
}
