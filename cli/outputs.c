/* outputs.c - checks of the files that a command is going to write. */
#include "outputs.h"

#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Splits a path into its directory, which `directory` receives, and the name in it, which is
 * returned. */
static const char *split_path(const char *path, char directory[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(directory, PATH_MAX, ".");
    if (slash != NULL && (size_t)(slash - path) + 1 < PATH_MAX)
        snprintf(directory, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
    return slash == NULL ? path : slash + 1;
}

/* The files that outputs_check was called for. No command has more than a few. */
enum { NAMED_MAX = 8 };
static const char *named[NAMED_MAX];
static size_t named_count;

bool outputs_include(const char *path) {
    for (size_t i = 0; i < named_count; i++)
        if (outputs_are_same(named[i], path))
            return true;
    return false;
}

/* Whether `input`, which may be "-" for standard input, is the file `path`. */
static bool is_input(const char *input, const char *path) {
    struct stat in, out;
    if (strcmp(input, "-") != 0)
        return outputs_are_same(input, path);
    return fstat(STDIN_FILENO, &in) == 0 && stat(path, &out) == 0 && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino;
}

/* Whether the command reads the file that it would replace, perhaps under another name. Prints so.
 * The original would be lost, also with -f. */
static bool is_read(const char *path) {
    const char *option = options_find_input(is_input, path);
    if (option == NULL)
        return false;
    fprintf(stderr,
            "tem: %s: tem would replace a file that it reads%s%s%s; name another file to write\n",
            path, option[0] == '\0' ? "" : " (--", option, option[0] == '\0' ? "" : ")");
    return true;
}

bool outputs_check(const char *path, bool force) {
    struct stat info;
    if (named_count < NAMED_MAX)
        named[named_count++] = path;
    if (path[0] == '\0' || strcmp(path, "-") == 0) {
        fprintf(stderr, "tem: '%s' is not the name of a file\n", path);
        return false;
    }
    const bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        fprintf(stderr, "tem: %s: is a directory; name a file in it\n", path);
        return false;
    }
    if (exists && !S_ISREG(info.st_mode)) {
        fprintf(stderr, "tem: %s: is not a regular file; tem replaces only regular files\n", path);
        return false;
    }
    if (is_read(path))
        return false;
    if (!force && access(path, F_OK) == 0) {
        fprintf(stderr, "tem: %s: exists already; -f overwrites it\n", path);
        return false;
    }
    return outputs_check_directory(path);
}

bool outputs_check_directory(const char *path) {
    char directory[PATH_MAX];
    split_path(path, directory);
    if (access(directory, W_OK | X_OK) == 0)
        return true;
    fprintf(stderr, "tem: %s: cannot write into its directory: %s\n", path, strerror(errno));
    return false;
}

bool outputs_ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), end = strlen(ending);
    return length > end && strcmp(path + length - end, ending) == 0;
}

static bool are_one(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool outputs_are_same(const char *a, const char *b) {
    char directory_a[PATH_MAX], directory_b[PATH_MAX];
    if (a == NULL || b == NULL)
        return false;
    if (are_one(a, b))
        return true;
    const char *name_a = split_path(a, directory_a), *name_b = split_path(b, directory_b);
    return strcmp(name_a, name_b) == 0 && are_one(directory_a, directory_b);
}
