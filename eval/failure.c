/* failure.c - errors of eval/. */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(tem_error *error, tem_status status, const char *file, uint64_t line,
                 const char *format, va_list arguments) {
    const int os_error = status == TEM_ERR_FILE ? errno : 0;
    *error = (tem_error){.status = status, .os_error = os_error, .line = line};
    snprintf(error->file, sizeof error->file, "%s", file);
    const int length = vsnprintf(error->message, sizeof error->message, format, arguments);
    if (os_error != 0 && length >= 0 && (size_t)length < sizeof error->message)
        snprintf(error->message + length, sizeof error->message - (size_t)length, ": %s",
                 strerror(os_error));
}

tem_status eval_fail(tem_error *error, tem_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (error != NULL)
        fill(error, status, "", 0, format, arguments);
    va_end(arguments);
    return status;
}

tem_status eval_fail_at(tem_error *error, tem_status status, const char *file, uint64_t line,
                        const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (error != NULL)
        fill(error, status, file, line, format, arguments);
    va_end(arguments);
    return status;
}

tem_status eval_out_of_memory(tem_error *error) {
    return eval_fail(error, TEM_ERR_MEMORY, "out of memory");
}

tem_status eval_progress(const tem_run *run, const char *stage, uint64_t done, uint64_t total,
                         tem_error *error) {
    if (run == NULL || run->progress == NULL ||
        run->progress(run->progress_context, stage, done, total) == 0)
        return TEM_OK;
    return eval_fail(error, TEM_ERR_CANCELLED, "stopped");
}
