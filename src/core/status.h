/* status.h - filling the caller's tem_error. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include "tem.h"

#include <stdbool.h>

/* Each of these functions fills *error, unless error is NULL, and returns the status. So a function
 * that fails ends with `return core_fail(...)`. Never pass a word of a text or of a vocabulary to
 * the format. */
__attribute__((format(printf, 3, 4))) tem_status core_fail(tem_error *error, tem_status status,
                                                           const char *format, ...);

/* The same for a place in a file: a line or a byte, both counted from 1; 0: none. */
__attribute__((format(printf, 6, 7))) tem_status core_fail_at(tem_error *error, tem_status status,
                                                              const char *file, uint64_t line,
                                                              uint64_t byte, const char *format,
                                                              ...);

/* TEM_ERR_FILE for a system call on `file` that failed with `os_error`. `action` completes
 * "cannot ...", for example "open". */
tem_status core_fail_os(tem_error *error, const char *file, const char *action, int os_error);

tem_status core_fail_memory(tem_error *error);

/* Returns from the function with the status of `call`, unless that is TEM_OK. For functions that
 * have nothing to undo: one that frees something before it returns keeps the status in a variable,
 * and has one way out. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tem_status try_status = (call);                                                      \
        if (try_status != TEM_OK)                                                                  \
            return try_status;                                                                     \
    } while (0)

/* Appends a name to a list of choices for a message: "a", "a, b", and with the last one "a, b or
 * c". `list` is a string in an array of `bytes`. A name that does not fit is left out. */
void core_add_choice(char *list, size_t bytes, const char *name, bool is_last);

#endif
