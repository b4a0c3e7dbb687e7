/* joined_text.c - public text as one file in memory. */
#include "joined_text.h"

#include "chance.h"
#include "corpus.h"
#include "failure.h"
#include "text_files.h"
#include "whole_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int file, const char *text, size_t bytes) {
    while (bytes > 0) {
        const ssize_t written = write(file, text, bytes);
        if (written <= 0)
            return false;
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

static uint64_t digest_bytes(uint64_t digest, const char *text, size_t bytes) {
    chance state = {digest + bytes};
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t part = 0;
        memcpy(&part, text + at, bytes - at < 8 ? bytes - at : 8);
        state.state = chance_next(&state) ^ part;
    }
    return chance_next(&state);
}

/* Appends one file. `as_line`: its line ends become blanks, and a line end follows. */
static tem_status add_file(const char *path, bool as_line, joined_text *t, tem_error *error) {
    char *text = NULL;
    size_t bytes = 0, length = 0;
    tem_status status = whole_file_read(path, &text, &bytes, error);
    if (status != TEM_OK)
        return status;
    char *copy = corpus_without_breaks(text, bytes, &length);
    free(text);
    if (copy == NULL)
        return eval_out_of_memory(error);
    for (size_t i = 0; i < length; i++)
        if (copy[i] == '\t' || (as_line && (copy[i] == '\n' || copy[i] == '\r')))
            copy[i] = ' ';
    t->digest = digest_bytes(t->digest, copy, length);
    if (!write_all(t->file, copy, length) || (as_line && !write_all(t->file, "\n", 1)))
        status = eval_fail_at(error, TEM_ERR_FILE, path, 0, "cannot copy it to memory");
    free(copy);
    return status;
}

static tem_status add_document(void *context, const char *path, tem_error *error) {
    return add_file(path, true, context, error);
}

static tem_status add_directory(const char *path, const tem_run *run, joined_text *t,
                                tem_error *error) {
    uint32_t count = 0;
    const tem_status status =
        text_files_visit(path, run, "reading public text", add_document, t, &count, error);
    if (status == TEM_OK && count == 0)
        return eval_fail_at(error, TEM_ERR_FORMAT, path, 0, "the directory has no .txt file");
    return status;
}

void joined_text_close(joined_text *t) {
    if (t->file >= 0)
        close(t->file);
    t->file = -1;
}

tem_status joined_text_open(const char *path, const tem_run *run, joined_text *out,
                            tem_error *error) {
    joined_text made = {.file = memfd_create("public text", MFD_CLOEXEC)};
    struct stat info;
    if (made.file < 0)
        return eval_out_of_memory(error);
    snprintf(made.path, sizeof made.path, "/proc/self/fd/%d", made.file);
    const bool directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    const tem_status status =
        directory ? add_directory(path, run, &made, error) : add_file(path, false, &made, error);
    if (status == TEM_OK)
        *out = made;
    else
        joined_text_close(&made);
    return status;
}
