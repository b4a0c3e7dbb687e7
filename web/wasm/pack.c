/* pack.c - writes default.temweb (bridge.h) from the native model and its parts.
 *
 * usage: pack MODEL.tem VECTORS.temv CERTIFICATES WORK OUT
 *
 * MODEL was built from VECTORS, with an order of their columns. WORK is a directory for the file of
 * balanced certificates. */
#include "bridge.h"

#include "core/buffer.h"
#include "core/memory.h"
#include "core/status.h"
#include "io/file.h"
#include "make_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

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

/* Shape, sequence and groups of the order, as a zstd frame. */
static core_buffer packed_order(const rank_order *o) {
    enum { LEVEL = 19 };
    core_buffer whole = {0}, out = {0};
    if (!core_buffer_add(&whole, &o->shape, sizeof o->shape) ||
        !core_buffer_add(&whole, o->sequence, o->shape.outputs * sizeof *o->sequence) ||
        !core_buffer_add(&whole, o->groups, o->shape.words * sizeof *o->groups) ||
        !core_buffer_reserve(&out, ZSTD_compressBound(whole.size)))
        exit(1);
    const size_t size =
        ZSTD_compress(out.data, ZSTD_compressBound(whole.size), whole.data, whole.size, LEVEL);
    if (ZSTD_isError(size))
        exit(1);
    out.size = size;
    core_buffer_free(&whole);
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
    check(order_check(&model->order, &error), argv[1]);
    core_buffer excluded = excluded_words(model), table = {0}, order = packed_order(&model->order);
    tem_certificate *list = NULL;
    uint32_t count = 0;
    check(certificates_read(&certificates, path, &list, &count, &error), path);
    check(make_log_totals(model, list, count, &table, &error), "the table");

    web_front front = {
        .neighbours = model->neighbours,
        .bytes = {vectors.size, excluded.size, certificates.size, table.size, order.size}};
    memcpy(front.magic, WEB_MAGIC, sizeof front.magic);
    memcpy(front.hash, model->hash, sizeof front.hash);
    model_order_hash(model, front.order_hash);
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
    put(file, order.data, order.size);
    if (fclose(file) != 0) {
        perror(argv[5]);
        return 1;
    }
    certificates_free(list, count);
    core_buffer_free(&order);
    core_buffer_free(&table);
    core_buffer_free(&excluded);
    file_close(&certificates);
    file_close(&vectors);
    model_free(model);
    return 0;
}
