/* replay.c - runs a fuzz target on files, without a fuzzer, so that corpora are ordinary tests.
 *
 * usage: fuzz_X DIR|FILE...
 *
 * Prints TAP, one result per directory or file. An input that crashes the target ends the program
 * before its result, which the harness counts as a failure; the last line names the input. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES = 4096 };

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) {
        if (file != NULL)
            fclose(file);
        return -1;
    }
    const size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size);
    int result = -1;
    if (data != NULL && fread(data, 1, size, file) == size) {
        printf("# %s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
        result = 0;
    }
    free(data);
    fclose(file);
    return result;
}

/* Runs the files of the directory; returns their number, or -1 if one cannot be read. */
static int run_folder(const char *path, DIR *folder) {
    int count = 0;
    char name[PATH_BYTES];
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        const int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (length < 0 || length >= PATH_BYTES || run_file(name) != 0)
            return -1;
        count++;
    }
    return count;
}

static int run(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL)
        return run_file(path) == 0 ? 1 : -1;
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
