/* replay.c - runs a fuzz target on files, without a fuzzer, so that corpora are ordinary tests.
 *
 * usage: fuzz_X DIR|FILE...
 *
 * The name of each file in a directory begins with the verdict, "ok-" or "refused-", and tem must
 * come to it: a file that a change of format made stale is no test any more. A file that is named
 * as an argument is run, whatever its name is.
 *
 * Prints TAP, one result per directory or file. An input that crashes the target ends the program
 * before its result, which the harness counts as a failure; the last line names the input. */
#include "target.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

/* Runs one file; *accepted receives the verdict. Returns false if the file cannot be read. */
static bool run_file(const char *path, bool *accepted) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) {
        if (file != NULL)
            fclose(file);
        return false;
    }
    const size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size);
    const bool is_read = data != NULL && fread(data, 1, size, file) == size;
    if (is_read) {
        printf("# %s\n", path);
        fflush(stdout);
        *accepted = fuzz_input(data, size);
    }
    free(data);
    fclose(file);
    return is_read;
}

/* Whether a file of the corpus has the verdict that its name says. */
static bool has_right_name(const char *name, bool accepted) {
    const char *right = accepted ? "ok-" : "refused-";
    if (strncmp(name, right, strlen(right)) == 0)
        return true;
    printf("# %s: tem %s it\n", name, accepted ? "accepts" : "refuses");
    return false;
}

/* Runs the files of the directory; returns their number, or -1 if one cannot be read or has the
 * wrong verdict. */
static int run_folder(const char *path, DIR *folder) {
    int count = 0;
    bool good = true;
    char name[PATH_BYTES];
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        bool accepted = false;
        if (entry->d_name[0] == '.')
            continue;
        const int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (length < 0 || length >= PATH_BYTES || !run_file(name, &accepted))
            return -1;
        good &= has_right_name(entry->d_name, accepted);
        count++;
    }
    return good ? count : -1;
}

static int run(const char *path) {
    DIR *folder = opendir(path);
    bool accepted = false;
    if (folder == NULL)
        return run_file(path, &accepted) ? 1 : -1;
    const int count = run_folder(path, folder);
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    int failed = 0;
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        const int count = run(argv[i]);
        /* An empty directory is a lost corpus. */
        const int ok = count > 0;
        printf("%sok %d - %s: %d files\n", ok ? "" : "not ", i, argv[i], count);
        fflush(stdout);
        failed |= !ok;
    }
    return failed;
}
