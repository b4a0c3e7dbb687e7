/* outputs.c - files to be written. */
#include "outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool outputs_check(const char *path, bool force) {
    if (!force && access(path, F_OK) == 0) {
        fprintf(stderr, "tem: %s: exists already; -f overwrites it\n", path);
        return false;
    }
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) + 1 < sizeof folder)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (access(folder, W_OK | X_OK) != 0) {
        fprintf(stderr, "tem: %s: cannot write into its folder: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}
