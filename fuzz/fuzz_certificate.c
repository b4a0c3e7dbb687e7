/* fuzz_certificate.c - any bytes as a file of certificates.
 *
 * The target reads the bytes twice: unchanged, and with the hash of every record corrected, because
 * no fuzzer would find one. Whatever is accepted must be valid. */
#include "target.h"

#include "certificate/certificate.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    HEADER = 64,
    RECORD = 320,
    HASHED = RECORD - CORE_HASH_BYTES,
    COUNT_AT = 40,
    WEIGHTS_HASH_AT = 48,
    BYTES_AT = 176,
    ALIGNMENT = 64,
    WEIGHTS_MAX = 4096
};

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_certificate(const tem_certificate *c) {
    require(certificate_fault(c) == NULL && certificate_same_terms(c, c));
    require(isfinite(c->epsilon) && c->realised > 0 && c->realised < c->epsilon);
    require(c->s <= CERTIFICATE_EXPONENT_MAX / c->gamma);
    require((c->weights != NULL) == (c->count > 0));
    uint64_t sum = 0; /* each weight is readable, and at least one is above 0 */
    for (uint32_t i = 0; i < c->count; i++)
        sum += c->weights[i];
    require(c->count == 0 || sum > 0);
}

/* Computes the hash of the weights in a frame, if they are readable. */
static void seal_weights(char *record, const char *frame, uint64_t bytes) {
    static uint32_t weights[WEIGHTS_MAX];
    uint32_t count = 0;
    memcpy(&count, record + COUNT_AT, sizeof count);
    const size_t size = count * sizeof *weights;
    if (count > 0 && count <= WEIGHTS_MAX &&
        ZSTD_decompress(weights, sizeof weights, frame, bytes) == size)
        core_hash256(weights, size, (unsigned char *)record + WEIGHTS_HASH_AT);
}

/* Corrects the hashes of all records. */
static void seal(char *block, size_t size) {
    for (size_t at = HEADER; at <= size && size - at >= RECORD;) {
        char *record = block + at;
        char hashed[HASHED];
        uint64_t bytes = 0;
        memcpy(&bytes, record + BYTES_AT, sizeof bytes);
        at += RECORD;
        if (bytes > size - at)
            return;
        seal_weights(record, block + at, bytes);
        memcpy(hashed, record, sizeof hashed);
        memset(hashed + BYTES_AT, 0, sizeof bytes);
        core_hash256(hashed, HASHED, (unsigned char *)record + HASHED);
        at += core_round_up(bytes, ALIGNMENT);
    }
}

/* Whether each certificate can be read alone; *count: the number before the first that cannot. */
static bool read_each(const file_view *view, uint32_t *count) {
    tem_error error;
    for (*count = 0;; ++*count) {
        tem_certificate one = {0};
        bool there = false;
        if (certificate_read_one(view, "input", *count, &one, &there, &error) != TEM_OK)
            return false;
        if (!there)
            return true;
        check_certificate(&one);
        certificate_clear(&one);
    }
}

/* Reads a block of exactly the input's size, so that a read beyond it is detected. Returns whether
 * tem accepts it. */
static bool read_copy(const uint8_t *data, size_t size, bool sealed) {
    char *block = malloc(size == 0 ? 1 : size);
    tem_certificate *list = NULL;
    uint32_t count = 0, alone = 0;
    tem_error error;
    if (block == NULL)
        return false;
    if (size > 0)
        memcpy(block, data, size);
    if (sealed)
        seal(block, size);
    const file_view view = {.data = block, .size = size};
    const bool whole = certificates_read(&view, "input", &list, &count, &error) == TEM_OK;
    require(read_each(&view, &alone) == whole && (!whole || alone == count));
    if (whole) {
        require(size >= HEADER + (size_t)count * RECORD);
        for (uint32_t i = 0; i < count; i++)
            check_certificate(&list[i]);
        certificates_free(list, count);
    }
    free(block);
    return whole;
}

bool fuzz_input(const uint8_t *data, size_t size) {
    read_copy(data, size, true);
    return read_copy(data, size, false);
}
