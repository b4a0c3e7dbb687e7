/* os_failure.c - fills the caller's tem_error after a system call that failed. The only part of
 * status.h that needs an operating system. */
#include "core/status.h"

#include <string.h>

tem_status core_fail_os(tem_error *error, const char *file, const char *action, int os_error) {
    char reason[128] = "";
    const char *text = strerror_r(os_error, reason, sizeof reason);
    core_fail_at(error, TEM_ERR_FILE, file, 0, 0, "cannot %s: %s", action, text);
    if (error != NULL)
        error->os_error = os_error;
    return TEM_ERR_FILE;
}
