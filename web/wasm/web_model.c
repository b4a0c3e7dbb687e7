/* web_model.c - reads default.temweb.
 *
 * WEB_MODEL_HASH: BLAKE2b-256 of the only file that this module accepts, in hex. */
#include "bridge.h"

#include "core/memory.h"
#include "core/status.h"
#include "model/vectors.h"

#include <sodium.h>
#include <string.h>
#include <zstd.h>

tem_status web_check_hash(const char *bytes, size_t size, const char *hash, const char *message,
                          tem_error *error) {
    unsigned char found[CORE_HASH_BYTES];
    char hex[2 * CORE_HASH_BYTES + 1];
    core_hash256(bytes, size, found);
    sodium_bin2hex(hex, sizeof hex, found, sizeof found);
    return strcmp(hex, hash) == 0 ? TEM_OK : core_fail(error, TEM_ERR_UNTRUSTED, "%s", message);
}

typedef struct web_part {
    const char *data;
    size_t bytes;
} web_part;

/* The hash has proved that the parts lie within the file. */
static void find_parts(const char *bytes, web_front *front, web_part parts[WEB_PARTS]) {
    size_t at = WEB_FRONT_BYTES;
    memcpy(front, bytes, sizeof *front);
    for (unsigned i = 0; i < WEB_PARTS; i++) {
        parts[i] = (web_part){bytes + at, (size_t)front->bytes[i]};
        at += core_round_up(parts[i].bytes, WEB_ALIGNMENT);
    }
}

/* Makes a list of the words to exclude, one per line: first in *words, which the caller frees,
 * together with *storage. */
static tem_status read_excluded(const web_part *part, const char ***words, uint32_t *count,
                                char **storage, tem_error *error) {
    *words = core_alloc(part->bytes + 1, sizeof **words);
    *storage = core_alloc(part->bytes + 1, 1);
    if (*words == NULL || *storage == NULL)
        return core_fail_memory(error);
    memcpy(*storage, part->data, part->bytes);
    (*storage)[part->bytes] = '\0';
    *count = 0;
    for (char *line = *storage; *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end == NULL)
            end = line + strlen(line);
        if (end > line)
            (*words)[(*count)++] = line;
        line = *end == '\0' ? end : end + 1;
        *end = '\0';
    }
    return TEM_OK;
}

/* Gives the model its order. The hash of the file has proved that the frame is right. */
static tem_status read_order(const web_part *part, const unsigned char hash[CORE_HASH_BYTES],
                             const tem_vectors *vectors, tem_model *m, tem_error *error) {
    order_shape shape;
    const size_t size = (size_t)ZSTD_getFrameContentSize(part->data, part->bytes);
    uint32_t *numbers = core_alloc(size, 1);
    if (numbers == NULL)
        return core_fail_memory(error);
    tem_status status = ZSTD_decompress(numbers, size, part->data, part->bytes) == size
                            ? TEM_OK
                            : core_fail(error, TEM_ERR_DAMAGED, "the order is damaged");
    if (status == TEM_OK) {
        const uint32_t *sequence = numbers + sizeof shape / sizeof *numbers;
        memcpy(&shape, numbers, sizeof shape);
        status =
            model_order_lazy(m, vectors, &shape, sequence, sequence + shape.outputs, hash, error);
    }
    core_free(numbers);
    return status;
}

static tem_status build(const web_part parts[WEB_PARTS], const web_front *front, tem_model **out,
                        tem_error *error) {
    const vectors_source source = {
        .path = "", .data = parts[WEB_VECTORS].data, .size = parts[WEB_VECTORS].bytes};
    tem_vectors *vectors = NULL;
    const char **words = NULL;
    char *storage = NULL;
    uint32_t count = 0;
    tem_status status = vectors_from_bytes(&source, &vectors, error);
    if (status == TEM_OK)
        status = read_excluded(&parts[WEB_EXCLUDED], &words, &count, &storage, error);
    if (status == TEM_OK)
        status = model_build_lazy(vectors, words, count, front->neighbours, out, error);
    if (status == TEM_OK)
        status = read_order(&parts[WEB_ORDER], front->order_hash, vectors, *out, error);
    vectors_free(vectors);
    core_free(words);
    core_free(storage);
    return status;
}

tem_status web_model_load(const char *bytes, size_t size, web_model *out, tem_error *error) {
    web_model m = {0};
    web_front front;
    web_part parts[WEB_PARTS];
    tem_status status =
        web_check_hash(bytes, size, WEB_MODEL_HASH,
                       "the model is not the one that this module was built with", error);
    if (status != TEM_OK)
        return status;
    find_parts(bytes, &front, parts);
    sodium_bin2hex(m.hash, sizeof m.hash, front.hash, sizeof front.hash);
    const file_view certificates = {.data = parts[WEB_CERTIFICATES].data,
                                    .size = parts[WEB_CERTIFICATES].bytes};
    status = build(parts, &front, &m.tem, error);
    if (status == TEM_OK)
        status = certificates_read(&certificates, "", &m.certificates, &m.certificate_count, error);
    if (status == TEM_OK)
        status = log_totals_read(parts[WEB_TABLE].data, parts[WEB_TABLE].bytes, m.tem->words.count,
                                 m.certificate_count, &m.table, error);
    if (status != TEM_OK) {
        certificates_free(m.certificates, m.certificate_count);
        model_free(m.tem);
        return status;
    }
    *out = m;
    return TEM_OK;
}

int32_t web_model_certificate(const web_model *m, double epsilon) {
    for (uint32_t i = 0; i < m->certificate_count; i++)
        if (m->certificates[i].epsilon <= epsilon && m->certificates[i].epsilon >= epsilon)
            return (int32_t)i;
    return -1;
}
