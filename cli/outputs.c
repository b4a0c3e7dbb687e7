/* outputs.c - files to be written. */
#include "outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a path, and the name in it. */
static const char *split_folder(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, ".");
    if (slash != NULL && (size_t)(slash - path) + 1 < PATH_MAX)
        snprintf(folder, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
    return slash == NULL ? path : slash + 1;
}

/* What the command will write: the outputs that were checked. No command has more than a few. */
enum { NAMED_MAX = 8 };
static const char *named[NAMED_MAX];
static size_t named_count;

bool outputs_include(const char *path) {
    for (size_t i = 0; i < named_count; i++)
        if (outputs_are_same(named[i], path))
            return true;
    return false;
}

bool outputs_check(const char *path, bool force) {
    struct stat info;
    if (named_count < NAMED_MAX)
        named[named_count++] = path;
    if (path[0] == '\0' || strcmp(path, "-") == 0) {
        fprintf(stderr, "tem: '%s' is no name for a file to write\n", path);
        return false;
    }
    const bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        fprintf(stderr, "tem: %s: is a folder; name a file in it\n", path);
        return false;
    }
    if (!force && access(path, F_OK) == 0) {
        fprintf(stderr, "tem: %s: exists already; -f overwrites it\n", path);
        return false;
    }
    if (exists && !S_ISREG(info.st_mode)) {
        fprintf(stderr, "tem: %s: is no regular file; only such a file can be replaced\n", path);
        return false;
    }
    char folder[PATH_MAX];
    split_folder(path, folder);
    if (access(folder, W_OK | X_OK) != 0) {
        fprintf(stderr, "tem: %s: cannot write into its folder: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool are_one(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool outputs_are_same(const char *a, const char *b) {
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    if (a == NULL || b == NULL)
        return false;
    if (are_one(a, b))
        return true;
    const char *name_a = split_folder(a, folder_a), *name_b = split_folder(b, folder_b);
    return strcmp(name_a, name_b) == 0 && are_one(folder_a, folder_b);
}
