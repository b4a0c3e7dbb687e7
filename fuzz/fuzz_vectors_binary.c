/* fuzz_vectors_binary.c - any bytes as a word2vec binary or .temv file.
 *
 * The first byte chooses the threads and the limit; the rest is the file, in a block of exactly its
 * size, so that a read beyond it is detected. */
#include "target.h"

#include "core/memory.h"
#include "model/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The promises of vectors_load about every result. */
static void check(const tem_vectors *vectors) {
    uint64_t count = (uint64_t)vectors->words.count * vectors->dimension;
    if (vectors->words.count < 2 || (vectors->values == NULL) == (vectors->grid == NULL))
        abort();
    for (uint64_t i = 0; i < count; i++)
        if (vectors->values != NULL ? !isfinite(vectors->values[i]) : abs(vectors->grid[i]) > 16383)
            abort();
}

bool fuzz_input(const uint8_t *data, size_t size) {
    if (size == 0)
        return false;
    char *copy = malloc(size == 1 ? 1 : size - 1);
    if (copy == NULL)
        return false;
    memcpy(copy, data + 1, size - 1);
    tem_run run = {.threads = data[0] % 2 + 1u};
    vectors_source source = {.path = "input",
                             .data = copy,
                             .size = size - 1,
                             .limit = data[0] % 8 >= 6 ? 3 : 0,
                             .run = &run};
    tem_vectors *vectors = NULL;
    tem_error error;
    const bool accepted = vectors_from_bytes(&source, &vectors, &error) == TEM_OK;
    if (accepted)
        check(vectors);
    vectors_free(vectors);
    free(copy);
    return accepted;
}
