/* outputs.c - files to be written. */
#include "outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outputs_check(const char *path, bool force) {
    struct stat info;
    if (path[0] == '\0' || strcmp(path, "-") == 0) {
        fprintf(stderr, "tem: '%s' is no name for a file to write\n", path);
        return false;
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        fprintf(stderr, "tem: %s: is a folder; name a file in it\n", path);
        return false;
    }
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

bool outputs_are_same(const char *a, const char *b) {
    struct stat first, second;
    if (a == NULL || b == NULL)
        return false;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}
