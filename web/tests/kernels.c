/* kernels.c - a module that compares the kernels for WebAssembly with the scalar ones. */
#include "space/kernels/kernels.h"

#include <string.h>

enum { ROWS = 2 * TILE_ROWS, ELEMENTS = 4096 };

static uint64_t state;

static uint32_t next(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 32) * below >> 32);
}

static int16_t a[ELEMENTS], b[ELEMENTS];

/* Values up to the largest, or exactly that, with either sign. */
static void fill_rows(size_t elements, int extreme) {
    for (size_t i = 0; i < elements; i++) {
        a[i] = (int16_t)(extreme ? KERNEL_VALUE_MAX : (int)next(32767) - KERNEL_VALUE_MAX);
        b[i] = (int16_t)(extreme ? -KERNEL_VALUE_MAX : (int)next(32767) - KERNEL_VALUE_MAX);
    }
}

static int compare_rows(const kernels *x, const kernels *y, size_t elements) {
    return (x->l2_i16(a, b, elements) != y->l2_i16(a, b, elements)) +
           (x->l1_i16(a, b, elements) != y->l1_i16(a, b, elements)) +
           (x->linf_i16(a, b, elements) != y->linf_i16(a, b, elements)) +
           (x->dot_i16(a, b, elements) != y->dot_i16(a, b, elements));
}

static int compare_codes(const kernels *x, const kernels *y, size_t quads) {
    static uint8_t rows[ROWS * 4 * 64];
    static _Alignas(64) int8_t columns[TILE_COLUMNS * 4 * 64];
    int32_t bases[ROWS + TILE_COLUMNS], limits[ROWS + TILE_COLUMNS];
    uint32_t found[ROWS], right[ROWS];
    for (size_t i = 0; i < ROWS * 4 * quads; i++)
        rows[i] = (uint8_t)next(256);
    for (size_t i = 0; i < TILE_COLUMNS * 4 * quads; i++)
        columns[i] = (int8_t)((int)next(256) - 128);
    for (size_t i = 0; i < ROWS + TILE_COLUMNS; i++) {
        bases[i] = (int32_t)next(2000) - 1000;
        limits[i] = (int32_t)next(200000);
    }
    const tile_codes tile = {.rows = rows,
                             .columns = columns,
                             .strips = ROWS / TILE_ROWS,
                             .quads = quads,
                             .row_base = bases,
                             .row_limit = limits,
                             .column_base = bases + ROWS,
                             .column_limit = limits + ROWS};
    x->tile_codes(&tile, found);
    y->tile_codes(&tile, right);
    return memcmp(found, right, sizeof found) != 0;
}

static int compare_dots(const kernels *x, const kernels *y, size_t pairs) {
    static int16_t rows[ROWS * 2 * 64];
    static _Alignas(64) int16_t columns[TILE_COLUMNS * 2 * 64];
    static uint32_t found[ROWS * TILE_COLUMNS], right[ROWS * TILE_COLUMNS];
    for (size_t i = 0; i < ROWS * 2 * pairs; i++)
        rows[i] = (int16_t)((int)next(32767) - KERNEL_VALUE_MAX);
    for (size_t i = 0; i < TILE_COLUMNS * 2 * pairs; i++)
        columns[i] = (int16_t)((int)next(32767) - KERNEL_VALUE_MAX);
    const tile_vectors tile = {
        .rows = rows, .columns = columns, .strips = ROWS / TILE_ROWS, .pairs = pairs};
    x->tile_dots(&tile, found);
    y->tile_dots(&tile, right);
    return memcmp(found, right, sizeof found) != 0;
}

static int compare_roots(const kernels *x, const kernels *y, unsigned up) {
    uint32_t squares[101], found[101], right[101];
    for (size_t i = 0; i < 101; i++) {
        const uint32_t root = next(65536);
        squares[i] = i % 3 == 0 ? next(UINT32_MAX) : root * root + next(3) - 1;
    }
    x->roots_u32(squares, 101, up, found);
    y->roots_u32(squares, 101, up, right);
    return memcmp(found, right, sizeof found) != 0;
}

/* How many of the calls for this seed gave other results with the two sets; -1: the build has one
 * set only. */
__attribute__((export_name("compare"))) int compare(uint32_t seed) {
    bool available = false;
    const kernels *x = kernels_at(0, &available), *y = kernels_at(1, &available);
    int differences = 0;
    if (y == NULL)
        return -1;
    state = seed;
    for (size_t elements = KERNEL_ROW_UNIT; elements <= ELEMENTS; elements *= 2)
        for (int extreme = 0; extreme < 2; extreme++) {
            fill_rows(elements, extreme);
            differences += compare_rows(x, y, elements);
        }
    for (size_t size = 1; size <= 64; size++)
        differences += compare_codes(x, y, size) + compare_dots(x, y, size);
    for (unsigned up = 0; up <= 20; up += 2)
        differences += compare_roots(x, y, up);
    return differences;
}
