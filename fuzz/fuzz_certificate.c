/* fuzz_certificate.c - any bytes as a file of certificates.
 *
 * Read twice: as they are, and with the hash of every record made right, since no fuzzer would
 * find one. What is accepted must be possible, and is, written again, the same bytes. */
#include "core/memory.h"
#include "io/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 64, RECORD = 256, HASHED = RECORD - CORE_HASH_BYTES };

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_certificate(const tem_certificate *c, const char *record) {
    unsigned char hash[CORE_HASH_BYTES];
    require(certificate_fault(c) == NULL && certificate_same_terms(c, c));
    require(isfinite(c->epsilon) && c->realised > 0 && c->realised < c->epsilon);
    require(c->s <= CERTIFICATE_EXPONENT_MAX / c->gamma);
    certificate_hash(c, hash);
    require(memcmp(hash, record + HASHED, sizeof hash) == 0);
}

/* A block of exactly the input's size, so that a read beyond it is seen. */
static void read_copy(const uint8_t *data, size_t size, bool sealed) {
    char *block = malloc(size == 0 ? 1 : size);
    tem_certificate *list = NULL;
    uint32_t count = 0;
    tem_error error;
    if (block == NULL)
        return;
    if (size > 0)
        memcpy(block, data, size);
    for (size_t at = HEADER; sealed && at + RECORD <= size; at += RECORD)
        core_hash256(block + at, HASHED, (unsigned char *)block + at + HASHED);
    const file_view view = {.data = block, .size = size};
    if (certificates_read(&view, "input", &list, &count, &error) == TEM_OK) {
        require(size == HEADER + (size_t)count * RECORD);
        for (uint32_t i = 0; i < count; i++)
            check_certificate(&list[i], block + HEADER + (size_t)i * RECORD);
    }
    core_free(list);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_copy(data, size, false);
    read_copy(data, size, true);
    return 0;
}
