/* whole_file.c - reads and writes whole files. */
#include "whole_file.h"

#include "failure.h"
#include "tem_command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads the rest of an open file; false with errno. */
static bool read_rest(FILE *file, char **text, size_t *bytes) {
    size_t capacity = 1 << 14, length = 0;
    char *all = malloc(capacity);
    while (all != NULL) {
        length += fread(all + length, 1, capacity - length - 1, file);
        if (length + 1 < capacity)
            break;
        char *grown = realloc(all, capacity *= 2);
        if (grown == NULL)
            free(all);
        all = grown;
    }
    if (all == NULL || ferror(file)) {
        errno = all == NULL ? ENOMEM : errno;
        free(all);
        return false;
    }
    all[length] = '\0';
    *text = all;
    *bytes = length;
    return true;
}

/* A signal that the program catches interrupts waiting for a pipe: report it as canceled. */
static tem_status refuse(const char *path, const char *what, tem_error *error) {
    const tem_status status = errno == EINTR ? TEM_ERR_CANCELLED : TEM_ERR_FILE;
    return eval_fail_at(error, status, path, 0, "%s", what);
}

tem_status whole_file_read(const char *path, char **text, size_t *bytes, tem_error *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return refuse(path, "cannot open it", error);
    const bool done = read_rest(file, text, bytes);
    const int kept = errno;
    fclose(file);
    errno = kept;
    return done ? TEM_OK : refuse(path, "cannot read it", error);
}

tem_status whole_file_print(const char *path, whole_file_printer *print, const void *context,
                            tem_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return eval_out_of_memory(error);
    print(out, context);
    const bool done = fclose(out) == 0;
    const tem_status status =
        done ? tem_file_write(path, text, bytes, TEM_OVERWRITE, TEM_READERS_USUAL, error)
             : eval_out_of_memory(error);
    free(text);
    return status;
}
