/* pack.c - writes default.temweb (bridge.h) from the native model and its parts.
 *
 * usage: pack MODEL.tem VECTORS.temv CERTIFICATES WORK OUT
 *
 * MODEL was built from VECTORS. WORK is a directory for the file of balanced certificates. */
#include "bridge.h"

#include "core/buffer.h"
#include "core/memory.h"
#include "core/status.h"
#include "io/file.h"
#include "make_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tem_error error;

static void check(tem_status status, const char *what) {
    if (status == TEM_OK)
        return;
    fprintf(stderr, "pack: %s: %s\n", what, error.message);
    exit(1);
}

/* Writes the balanced certificates with the default beta to a file of their own. */
static void select_certificates(const char *from, const char *to) {
    tem_certificate *list = NULL;
    uint32_t count = 0;
    check(certificates_load(from, &list, &count, &error), from);
    remove(to);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].kind == TEM_WEIGHTS_BALANCED && list[i].beta <= TEM_BETA_DEFAULT &&
            list[i].beta >= TEM_BETA_DEFAULT)
            check(certificate_add(&list[i], to, NULL, &error), to);
    certificates_free(list, count);
}

static core_buffer excluded_words(const tem_model *model) {
    core_buffer out = {0};
    for (uint32_t i = 0; i < model->excluded_count; i++) {
        size_t length = 0;
        const char *word = vocab_word(&model->words, model->excluded[i], &length);
        if (!core_buffer_add(&out, word, length) || !core_buffer_add(&out, "\n", 1))
            exit(1);
    }
    return out;
}

static void put(FILE *file, const void *bytes, size_t count) {
    static const char zeros[WEB_ALIGNMENT] = {0};
    const size_t padding = core_round_up(count, WEB_ALIGNMENT) - count;
    if (fwrite(bytes, 1, count, file) != count || fwrite(zeros, 1, padding, file) != padding) {
        perror("pack");
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: pack MODEL.tem VECTORS.temv CERTIFICATES WORK OUT\n");
        return 2;
    }
    char path[4096];
    tem_model *model = NULL;
    file_view vectors, certificates;
    snprintf(path, sizeof path, "%s/balanced.cert", argv[4]);
    check(model_open(argv[1], &model, &error), argv[1]);
    check(model_verify(model, NULL, &error), argv[1]);
    check(file_map(argv[2], &vectors, &error), argv[2]);
    select_certificates(argv[3], path);
    check(file_map(path, &certificates, &error), path);
    core_buffer excluded = excluded_words(model), table = {0};
    tem_certificate *list = NULL;
    uint32_t count = 0;
    check(certificates_read(&certificates, path, &list, &count, &error), path);
    check(make_log_totals(model, list, count, &table, &error), "the table");

    web_front front = {.neighbours = model->neighbours,
                       .bytes = {vectors.size, excluded.size, certificates.size, table.size}};
    memcpy(front.magic, WEB_MAGIC, sizeof front.magic);
    memcpy(front.hash, model->hash, sizeof front.hash);
    FILE *file = fopen(argv[5], "wb");
    if (file == NULL) {
        perror(argv[5]);
        return 1;
    }
    put(file, &front, sizeof front);
    put(file, vectors.data, vectors.size);
    put(file, excluded.data, excluded.size);
    put(file, certificates.data, certificates.size);
    put(file, table.data, table.size);
    if (fclose(file) != 0) {
        perror(argv[5]);
        return 1;
    }
    certificates_free(list, count);
    core_buffer_free(&table);
    core_buffer_free(&excluded);
    file_close(&certificates);
    file_close(&vectors);
    model_free(model);
    return 0;
}
