/* fuzz_vectors_text.c - any bytes as embedding text, plain or gzip.
 *
 * The result must not depend on the reading method. The target reads the same bytes with one thread
 * and one chunk, and with two threads and chunks of a few bytes. Both must give the same verdict,
 * the same error and the same numbers. */
#include "target.h"

#include "core/memory.h"
#include "io/file.h"
#include "model/vectors.h"

#include <stdlib.h>
#include <string.h>

static void compare(const tem_vectors *a, const tem_vectors *b) {
    size_t count = (size_t)a->words.count * a->dimension;
    if (a->words.count != b->words.count || a->dimension != b->dimension ||
        a->words.byte_count != b->words.byte_count ||
        memcmp(a->words.bytes, b->words.bytes, a->words.byte_count) != 0 ||
        (a->values != NULL && memcmp(a->values, b->values, count * sizeof *a->values) != 0))
        abort();
}

/* Returns whether tem accepts the bytes. */
static bool read_twice(const char *data, size_t size, uint64_t limit, size_t chunk_bytes) {
    tem_run one = {.threads = 1}, two = {.threads = 2};
    vectors_source source = {.path = "input", .data = data, .size = size, .limit = limit};
    tem_vectors *first = NULL, *second = NULL;
    tem_error first_error = {0}, second_error = {0};
    source.run = &one;
    tem_status first_status = vectors_from_bytes(&source, &first, &first_error);
    source.run = &two;
    source.chunk_bytes = chunk_bytes;
    tem_status second_status = vectors_from_bytes(&source, &second, &second_error);
    if (first_status != second_status ||
        memcmp(&first_error, &second_error, sizeof first_error) != 0)
        abort();
    if (first_status == TEM_OK)
        compare(first, second);
    vectors_free(first);
    vectors_free(second);
    return first_status == TEM_OK;
}

/* The first byte chooses the limit and the chunk size; the rest is the file. */
bool fuzz_input(const uint8_t *data, size_t size) {
    bool accepted = false;
    if (size == 0)
        return false;
    uint64_t limit = data[0] % 4 == 3 ? 5 : 0;
    size_t chunk_bytes = data[0] / 4 % 16 + 1;
    file_view view = {.data = core_alloc(size - 1, 1), .size = size - 1, .mapped = false};
    if (view.data == NULL)
        return false;
    memcpy((void *)(uintptr_t)view.data, data + 1, size - 1);
    if (!file_is_gzip(&view) || file_unpack("input", NULL, &view, NULL) == TEM_OK) {
        accepted = read_twice(view.data, view.size, limit, chunk_bytes);
        file_close(&view);
    }
    return accepted;
}
