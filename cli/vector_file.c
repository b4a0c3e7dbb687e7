/* vector_file.c - writes the vectors of the words of a model to a file.
 *
 * The content is made in memory and written by tem_file_write, so that no half of a file is ever
 * seen. It is not larger than the matrices from which it is made. */
#include "vector_file.h"

#include "outputs.h"
#include "talk.h"
#include "tem_command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENDING = sizeof ".vec" - 1 };

/* FILE.words for FILE.npy. */
static const char *words_path(const char *path) {
    static char words[PATH_MAX + sizeof ".words"];
    snprintf(words, sizeof words, "%.*s.words", (int)(strlen(path) - ENDING), path);
    return words;
}

int vector_file_check(const char *command, const char *path, bool force) {
    if (path == NULL)
        return talk_usage(command, "where to? -o FILE.vec or -o FILE.npy");
    if (!outputs_ends_in(path, ".vec") && !outputs_ends_in(path, ".npy"))
        return talk_usage(command, "-o takes a file that ends in .vec (word2vec text) or .npy "
                                   "(NumPy)");
    if (strlen(path) >= PATH_MAX)
        return talk_usage(command, "the name after -o is too long");
    if (!outputs_check(path, force))
        return EXIT_FAILED;
    return outputs_ends_in(path, ".vec") || outputs_check(words_path(path), force) ? EXIT_DONE
                                                                                   : EXIT_FAILED;
}

/* What is written, and why the writing stopped. */
typedef struct writing {
    const word_vectors *v;
    const tem_run *run;
    FILE *out;
    bool stopped; /* by the user */
} writing;

/* Whether to go on; asks the callback now and then. */
static bool goes_on(writing *w, uint32_t word) {
    enum { WORDS_A_REPORT = 256 };
    if (word % WORDS_A_REPORT == 0 && w->run->progress != NULL &&
        w->run->progress(w->run->progress_context, "writing vectors", word, w->v->words) != 0)
        w->stopped = true;
    return !w->stopped;
}

/* ---- word2vec text ---- */

static bool has_blank(const char *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\n\v\f\r", word[i]) != NULL)
            return true;
    return false;
}

/* Whether a .vec file has the word. *breaks, if not NULL, grows if the word would break it. */
static bool is_in_text(const word_vectors *v, uint32_t word, uint32_t *breaks) {
    size_t length = 0;
    const char *text = tem_model_word(v->model, word, &length);
    if (v->left_out != NULL && v->left_out[word])
        return false;
    const bool blank = has_blank(text, length);
    if (breaks != NULL)
        *breaks += blank;
    return !blank;
}

static void put_row(FILE *out, const word_vectors *v, uint32_t word) {
    size_t length = 0;
    const char *text = tem_model_word(v->model, word, &length);
    const double *row = v->numbers + (size_t)word * v->columns;
    fwrite(text, 1, length, out);
    for (uint32_t i = 0; i < v->columns; i++)
        fprintf(out, " %.9g", (double)(float)row[i]);
    putc('\n', out);
}

static void put_text(writing *w) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->v->words; i++)
        count += is_in_text(w->v, i, NULL);
    fprintf(w->out, "%u %u\n", count, w->v->columns);
    for (uint32_t i = 0; i < w->v->words && goes_on(w, i); i++)
        if (is_in_text(w->v, i, NULL))
            put_row(w->out, w->v, i);
}

static void tell_left_out(const char *path, const word_vectors *v, bool quiet) {
    uint32_t breaks = 0, never = 0;
    for (uint32_t i = 0; i < v->words; i++) {
        is_in_text(v, i, &breaks);
        never += v->left_out != NULL && v->left_out[i];
    }
    talk_note(quiet || never == 0, "%s: left out %s word%s that the mechanism never outputs", path,
              talk_count(never), never == 1 ? "" : "s");
    talk_note(quiet || breaks == 0,
              "%s: left out %s word%s with a blank inside, which this format cannot have", path,
              talk_count(breaks), breaks == 1 ? "" : "s");
}

/* ---- NumPy ---- */

/* The format of numpy.lib.format, version 1.0: a magic string, the length of the header, the
 * header, padded with spaces to a multiple of 64 bytes, and the numbers in little-endian order,
 * which is the order of every machine that tem supports. */
static void put_matrix(writing *w) {
    enum { ALIGNMENT = 64, BEFORE = 10 };
    char header[128];
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f4', 'fortran_order': False, 'shape': (%u, %u), }",
                                w->v->words, w->v->columns);
    const int total = (BEFORE + length + ALIGNMENT) / ALIGNMENT * ALIGNMENT - BEFORE;
    fwrite("\x93NUMPY\x01\x00", 1, 8, w->out);
    putc(total & 0xff, w->out);
    putc(total >> 8, w->out);
    fprintf(w->out, "%-*s\n", total - 1, header);
    for (uint32_t i = 0; i < w->v->words && goes_on(w, i); i++)
        for (uint32_t k = 0; k < w->v->columns; k++) {
            const float number = (float)w->v->numbers[(size_t)i * w->v->columns + k];
            fwrite(&number, sizeof number, 1, w->out);
        }
}

static void put_words(writing *w) {
    for (uint32_t i = 0; i < w->v->words; i++) {
        size_t length = 0;
        const char *text = tem_model_word(w->v->model, i, &length);
        fwrite(text, 1, length, w->out);
        putc('\n', w->out);
    }
}

/* ---- files ---- */

static int write_file(const char *path, bool force, void (*put)(writing *), const word_vectors *v,
                      const tem_run *run) {
    char *content = NULL;
    size_t bytes = 0;
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    writing w = {.v = v, .run = run, .out = open_memstream(&content, &bytes)};
    if (w.out == NULL)
        return talk_error(&error);
    put(&w);
    if (w.stopped)
        error = (tem_error){.status = TEM_ERR_CANCELLED, .message = "cancelled"};
    const bool made = fclose(w.out) == 0 && !w.stopped;
    const tem_overwrite overwrite = force ? TEM_OVERWRITE : TEM_KEEP_EXISTING;
    const bool done = made && tem_file_write(path, content, bytes, overwrite, TEM_READERS_USUAL,
                                             &error) == TEM_OK;
    free(content);
    return done ? EXIT_DONE : talk_error(&error);
}

int vector_file_write(const char *path, bool force, const word_vectors *vectors, const tem_run *run,
                      bool quiet) {
    int status = EXIT_DONE;
    if (outputs_ends_in(path, ".vec")) {
        status = write_file(path, force, put_text, vectors, run);
        talk_end_progress();
        if (status == EXIT_DONE)
            tell_left_out(path, vectors, quiet);
        return status;
    }
    status = write_file(words_path(path), force, put_words, vectors, run);
    if (status == EXIT_DONE)
        status = write_file(path, force, put_matrix, vectors, run);
    talk_end_progress();
    return status;
}
