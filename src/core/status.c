/* status.c - filling the caller's tem_error. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(tem_error *error, tem_status status, const char *file, uint64_t line,
                 uint64_t byte, const char *format, va_list arguments) {
    if (error == NULL)
        return;
    memset(error, 0, sizeof *error);
    error->status = status;
    error->line = line;
    error->byte = byte;
    snprintf(error->file, sizeof error->file, "%s", file);
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

tem_status core_fail(tem_error *error, tem_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, "", 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

tem_status core_fail_at(tem_error *error, tem_status status, const char *file, uint64_t line,
                        uint64_t byte, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, file, line, byte, format, arguments);
    va_end(arguments);
    return status;
}

tem_status core_fail_memory(tem_error *error) {
    return core_fail(error, TEM_ERR_MEMORY, "out of memory");
}

void core_add_choice(char *list, size_t bytes, const char *name, bool is_last) {
    const size_t used = strlen(list);
    const char *comma = used == 0 ? "" : is_last ? " or " : ", ";
    if (strlen(comma) + strlen(name) < bytes - used)
        snprintf(list + used, bytes - used, "%s%s", comma, name);
}
