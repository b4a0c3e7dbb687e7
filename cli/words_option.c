/* words_option.c - the option --words FILE: words that a command is about. */
#include "words_option.h"

#include "talk.h"
#include "word_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8 };

/* The state while the lines of a file are looked up. */
typedef struct looking_up {
    const tem_model *model;
    bool *seen; /* per word of the model */
    word_ids *found;
    uint32_t unknown;      /* lines with a word that the model does not have */
    uint32_t shown[SHOWN]; /* the first of them, counted from 1 */
} looking_up;

static void take_word(looking_up *l, uint32_t id, bool *unknown) {
    if (id == TEM_NO_WORD) {
        *unknown = true;
    } else if (!l->seen[id]) {
        l->seen[id] = true;
        l->found->ids[l->found->count++] = id;
    }
}

tem_status words_of_line(const tem_model *model, const char *line, word_ids *out,
                         tem_error *error) {
    const size_t bytes = strlen(line);
    size_t count = 0;
    word_ids words = {.ids = malloc((bytes + 1) * sizeof *words.ids)};
    if (words.ids == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return TEM_ERR_MEMORY;
    }
    const tem_status status =
        tem_model_pieces(model, line, bytes, words.ids, bytes + 1, &count, error);
    if (status != TEM_OK) {
        free(words.ids);
        return status;
    }
    if (count == 0)
        words.ids[count++] = tem_model_find(model, line, bytes);
    words.count = (uint32_t)count;
    *out = words;
    return TEM_OK;
}

static tem_status look_up(looking_up *l, const char *line, uint32_t number, tem_error *error) {
    bool unknown = false;
    word_ids words = {0};
    const tem_status status = words_of_line(l->model, line, &words, error);
    for (uint32_t i = 0; i < words.count; i++)
        take_word(l, words.ids[i], &unknown);
    word_ids_free(&words);
    if (unknown && l->unknown < SHOWN)
        l->shown[l->unknown] = number;
    l->unknown += unknown;
    return status;
}

/* what: what tem does about words that the vocabulary does not have. */
static void tell_unknown(const looking_up *l, const char *path, uint32_t lines, const char *what,
                         bool quiet) {
    char numbers[SHOWN * 16] = "";
    for (uint32_t i = 0; i < l->unknown && i < SHOWN; i++)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%u",
                 i == 0 ? "" : ", ", l->shown[i]);
    talk_note(quiet || l->unknown == 0,
              "tem: warning: %s: %s words that the vocabulary does not have, in %u of "
              "%u lines: number %s%s (comments and empty lines are not counted)",
              path, what, l->unknown, lines, numbers, l->unknown > SHOWN ? ", ..." : "");
}

static int look_up_lines(const char *path, const word_file *file, looking_up *l) {
    tem_error error;
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < file->count && status == TEM_OK; i++) {
        status = look_up(l, file->words[i], i + 1, &error);
        if (status != TEM_OK) {
            snprintf(error.file, sizeof error.file, "%s", path);
            error.byte = 0; /* it counts from the start of the word, not of the file */
        }
    }
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int look_up_all(const char *path, const word_file *file, looking_up *l, bool quiet) {
    const int status = look_up_lines(path, file, l);
    if (status != EXIT_DONE)
        return status;
    if (l->found->count == 0) {
        fprintf(stderr, "tem: %s: no word of it is in the vocabulary\n", path);
        return EXIT_FAILED;
    }
    tell_unknown(l, path, file->count, "tem leaves out", quiet);
    return EXIT_DONE;
}

int words_option_read(const char *path, const tem_model *model, bool quiet, word_ids *out) {
    tem_model_info info;
    tem_error error;
    word_file file = {0};
    tem_model_get_info(model, &info);
    if (word_file_read(path, &file, &error) != TEM_OK)
        return talk_error(&error);
    word_ids found = {.ids = malloc(info.words * sizeof *found.ids)};
    looking_up l = {.model = model, .seen = calloc(info.words, sizeof *l.seen), .found = &found};
    int status = EXIT_FAILED;
    if (found.ids == NULL || l.seen == NULL)
        fputs("tem: out of memory\n", stderr);
    else
        status = look_up_all(path, &file, &l, quiet);
    free(l.seen);
    word_file_free(&file);
    if (status == EXIT_DONE)
        *out = found;
    else
        free(found.ids);
    return status;
}

void word_ids_free(word_ids *words) {
    free(words->ids);
    *words = (word_ids){0};
}

/* Marks the words that fold to a marked one. */
static int mark_folded(const tem_model *model, uint32_t count, unsigned char *marked) {
    tem_error error;
    for (uint32_t i = 0; i < count; i++) {
        char *folded = NULL;
        size_t length = 0;
        const char *word = tem_model_word(model, i, &length);
        if (tem_word_fold(word, length, &folded, &error) != TEM_OK)
            return talk_error(&error);
        const uint32_t id = tem_model_find(model, folded, strlen(folded));
        marked[i] |= id != TEM_NO_WORD && marked[id];
        tem_text_free(folded);
    }
    return EXIT_DONE;
}

int words_option_mark(const char *path, const tem_model *model, bool quiet, unsigned char **out) {
    tem_model_info info;
    tem_error error;
    word_file file = {0};
    tem_model_get_info(model, &info);
    if (word_file_read(path, &file, &error) != TEM_OK)
        return talk_error(&error);
    word_ids found = {.ids = malloc(info.words * sizeof *found.ids)};
    unsigned char *marked = calloc(info.words, 1);
    looking_up l = {.model = model, .seen = calloc(info.words, sizeof *l.seen), .found = &found};
    int status = EXIT_FAILED;
    if (found.ids == NULL || l.seen == NULL || marked == NULL)
        fputs("tem: out of memory\n", stderr);
    else
        status = look_up_lines(path, &file, &l);
    if (status == EXIT_DONE)
        tell_unknown(&l, path, file.count, "no output has", quiet);
    for (uint32_t i = 0; i < found.count && status == EXIT_DONE; i++)
        marked[found.ids[i]] = 1;
    if (status == EXIT_DONE)
        status = mark_folded(model, info.words, marked);
    free(l.seen);
    free(found.ids);
    word_file_free(&file);
    if (status == EXIT_DONE)
        *out = marked;
    else
        free(marked);
    return status;
}
