/* word_file.c - reads a file of words: one word per line. */
#include "word_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static tem_status fail(tem_error *error, tem_status status, const char *path, uint64_t line,
                       const char *message, const char *reason) {
    *error = (tem_error){.status = status, .line = line};
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->message, sizeof error->message, "%s%s", message, reason);
    return status;
}

static tem_status fail_reading(tem_error *error, const char *path, const char *message) {
    const int os_error = errno;
    fail(error, TEM_ERR_FILE, path, 0, message, strerror(os_error));
    error->os_error = os_error;
    return TEM_ERR_FILE;
}

static int is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Cuts the blanks off both ends of a line, and a byte order mark off the first line. Returns the
 * word, or NULL if the line has none. */
static char *word_of(char *line, size_t bytes, uint64_t number) {
    static const char mark[] = "\xef\xbb\xbf";
    if (number == 1 && strncmp(line, mark, sizeof mark - 1) == 0) {
        line += sizeof mark - 1;
        bytes -= sizeof mark - 1;
    }
    while (bytes > 0 && is_blank(line[bytes - 1]))
        line[--bytes] = '\0';
    while (is_blank(*line))
        line++;
    return *line == '\0' || *line == '#' ? NULL : line;
}

/* Doubles the room. */
static int grow(word_file *file) {
    const size_t room = 2 * ((size_t)file->count + 1);
    char **words = realloc(file->words, room * sizeof *words);
    if (words == NULL)
        return 0;
    file->words = words;
    uint64_t *lines = realloc(file->lines, room * sizeof *lines);
    if (lines == NULL)
        return 0;
    file->lines = lines;
    return 1;
}

/* Appends a copy of the word. The arrays grow at every power of two. */
static int append(word_file *file, const char *word, uint64_t line) {
    if ((file->count & (file->count + 1)) == 0 && !grow(file))
        return 0;
    file->words[file->count] = strdup(word);
    file->lines[file->count] = line;
    return file->words[file->count] != NULL && ++file->count;
}

static tem_status take_line(word_file *file, const char *path, char *line, size_t bytes,
                            uint64_t number, tem_error *error) {
    if (strlen(line) != bytes)
        return fail(error, TEM_ERR_FORMAT, path, number, "the line contains a NUL", "");
    const char *word = word_of(line, bytes, number);
    if (word == NULL)
        return TEM_OK;
    if (strlen(word) > TEM_WORD_BYTES_MAX)
        return fail(error, TEM_ERR_FORMAT, path, number, "the word is too long", "");
    if (file->count == TEM_WORDS_MAX)
        return fail(error, TEM_ERR_FORMAT, path, number, "the file has too many words", "");
    return append(file, word, number) ? TEM_OK
                                      : fail(error, TEM_ERR_MEMORY, path, 0, "out of memory", "");
}

static tem_status read_lines(FILE *stream, const char *path, word_file *file, tem_error *error) {
    char *line = NULL;
    size_t room = 0;
    tem_status status = TEM_OK;
    ssize_t bytes = 0;
    for (uint64_t number = 1; status == TEM_OK; number++) {
        errno = 0;
        bytes = getline(&line, &room, stream);
        if (bytes < 0)
            break;
        status = take_line(file, path, line, (size_t)bytes, number, error);
    }
    if (status == TEM_OK && !feof(stream))
        status = fail_reading(error, path, "cannot read: ");
    free(line);
    return status;
}

tem_status word_file_read(const char *path, word_file *out, tem_error *error) {
    const int is_input = strcmp(path, "-") == 0;
    FILE *stream = is_input ? stdin : fopen(path, "rbe");
    word_file made = {.words = NULL};
    if (stream == NULL)
        return fail_reading(error, path, "cannot open: ");
    const tem_status status = read_lines(stream, path, &made, error);
    if (!is_input)
        fclose(stream);
    if (status == TEM_OK)
        *out = made;
    else
        word_file_free(&made);
    return status;
}

void word_file_free(word_file *file) {
    for (uint32_t i = 0; i < file->count; i++)
        free(file->words[i]);
    free(file->words);
    free(file->lines);
    *file = (word_file){.words = NULL};
}
