/* export.c - texts and vectors for other programs. */
#include "export.h"

#include "failure.h"
#include "number_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

static tem_status open_file(const char *folder, const char *name, FILE **out, char path[4096],
                            tem_error *error) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return eval_fail_at(error, TEM_ERR_FILE, folder, 0, "cannot create the directory");
    snprintf(path, 4096, "%s/%s", folder, name);
    *out = fopen(path, "wb");
    return *out != NULL ? TEM_OK : eval_fail_at(error, TEM_ERR_FILE, path, 0, "cannot write it");
}

static tem_status close_file(FILE *out, const char *path, tem_error *error) {
    const int failed = ferror(out);
    return fclose(out) == 0 && !failed
               ? TEM_OK
               : eval_fail_at(error, TEM_ERR_FILE, path, 0, "cannot write it");
}

/* Prints the word with separators replaced: a few entries contain a no-break space, which Python
 * takes for a separator. */
static void print_word(FILE *out, const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = tem_model_word(model, id, &length);
    for (size_t i = 0; i < length; i++) {
        const int no_break = i + 1 < length && word[i] == '\xc2' && word[i + 1] == '\xa0';
        fputc(no_break || word[i] == ' ' ? '_' : word[i], out);
        i += (size_t)no_break;
    }
}

static tem_status export_corpus(const char *folder, const char *name, const tem_model *model,
                                const corpus *c, tem_error *error) {
    char path[4096];
    FILE *out = NULL;
    const tem_status status = open_file(folder, name, &out, path, error);
    if (status != TEM_OK)
        return status;
    for (uint32_t i = 0; i < c->count; i++) {
        fprintf(out, "__label__%u", c->labels[i]);
        for (uint64_t k = c->starts[i]; k < c->starts[i + 1]; k++) {
            fputc(' ', out);
            print_word(out, model, c->words[k]);
        }
        fputc('\n', out);
    }
    return close_file(out, path, error);
}

/* Example: "tem-2-1.train". */
static const char *name_of(const eval_row *row, const char *extension, char name[128]) {
    char epsilon[NUMBER_TEXT_BYTES];
    snprintf(name, 128, "%s-%s-%u.%s", row->mechanism, number_text(row->epsilon, epsilon),
             row->trial, extension);
    return name;
}

tem_status export_texts(const char *folder, const eval_row *row, const tem_model *model,
                        const corpus *train, const corpus *test, tem_error *error) {
    char name[128];
    const tem_status status =
        export_corpus(folder, name_of(row, "train", name), model, train, error);
    return status == TEM_OK ? export_corpus(folder, name_of(row, "test", name), model, test, error)
                            : status;
}

static void print_numbers(FILE *out, const float *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, " %.9g", (double)numbers[i]);
    fputc('\n', out);
}

static tem_status write_vectors(const char *folder, const char *name, const tem_model *model,
                                const embedding *e, tem_error *error) {
    char path[4096];
    FILE *out = NULL;
    const tem_status status = open_file(folder, name, &out, path, error);
    if (status != TEM_OK)
        return status;
    fprintf(out, "%u %u\n", e->words, e->dimension);
    for (uint32_t word = 0; word < e->words; word++) {
        print_word(out, model, word);
        print_numbers(out, e->rows + (size_t)word * e->stride, e->dimension);
    }
    return close_file(out, path, error);
}

tem_status export_vectors(const char *folder, uint32_t trial, const tem_model *model,
                          const embedding *e, tem_error *error) {
    char name[32] = "start.vec";
    if (trial > 0)
        snprintf(name, sizeof name, "start-%u.vec", trial);
    return write_vectors(folder, name, model, e, error);
}

tem_status export_classifier(const char *folder, const eval_row *row, const tem_model *model,
                             const classifier *c, const training *how, tem_error *error) {
    char path[4096], name[128];
    FILE *out = NULL;
    const uint32_t dimension = c->vectors.dimension;
    tem_status status = open_file(folder, name_of(row, "layer", name), &out, path, error);
    if (status != TEM_OK)
        return status;
    fprintf(out, "%" PRIu64 " %u %u %u %u\n", how->seed, how->epochs, how->batch, c->classes,
            dimension);
    for (uint32_t k = 0; k < c->classes; k++)
        print_numbers(out, c->layer.weights + (size_t)k * dimension, dimension);
    print_numbers(out, c->layer.bias, c->classes);
    status = close_file(out, path, error);
    return status == TEM_OK
               ? write_vectors(folder, name_of(row, "vec", name), model, &c->vectors, error)
               : status;
}
