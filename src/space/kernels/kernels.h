/* kernels.h - the inner loops over int16 vectors, one set per instruction set.
 *
 * A row is `elements` int16 within +-16383 (KERNEL_VALUE_MAX), padded with zeros
 * to a multiple of KERNEL_ROW_UNIT and aligned to 64 bytes. Differences then fit
 * int16, and one multiply-add of two squares fits int32.
 *
 * Every set returns the same bits: the arithmetic is integer and exact. The
 * scalar set is the reference; it is compiled without auto-vectorisation. A new
 * instruction set is a new file kernels_NAME.c, compiled with its own flags, and
 * one line in kernels.c.
 *
 * A damaged file may hold values beyond KERNEL_VALUE_MAX. Then the results are
 * unspecified numbers, and nothing worse: no kernel reads or writes elsewhere or
 * depends on signed overflow. */
#ifndef SPACE_KERNELS_H
#define SPACE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KERNEL_VALUE_MAX = 16383,
    KERNEL_ROW_UNIT = 32, /* int16 in 64 bytes */
    TILE_ROWS = 12,
    TILE_COLUMNS = 32
};

/* TILE_ROWS rows against TILE_COLUMNS columns, a column being a row of the other
 * side in packed form: packed[(p * TILE_COLUMNS + c) * 2 + h] is element 2p + h
 * of column c. One 32-bit lane thus holds two neighbouring elements, which is
 * what the multiply-add instructions take. */
typedef struct tile_l2 {
    const int16_t *rows;   /* row r starts at rows + r * row_stride; 4-byte aligned */
    size_t row_stride;     /* in elements, even */
    const int16_t *packed; /* 64-byte aligned */
    size_t pairs;          /* of elements: (dimension + 1) / 2 */
    const uint32_t *row_norms, *column_norms;   /* squared lengths, mod 2^32 */
    const uint32_t *row_limits, *column_limits; /* TILE_ROWS and TILE_COLUMNS of them */
} tile_l2;

typedef struct kernels {
    const char *name;

    /* Sum of squared differences. elements: a multiple of KERNEL_ROW_UNIT, at
     * most 4096. Exact. */
    uint64_t (*l2_i16)(const int16_t *a, const int16_t *b, size_t elements);

    /* Sum, and maximum, of absolute differences. Exact. */
    uint64_t (*l1_i16)(const int16_t *a, const int16_t *b, size_t elements);
    uint32_t (*linf_i16)(const int16_t *a, const int16_t *b, size_t elements);

    /* Scalar product. Exact. */
    int64_t (*dot_i16)(const int16_t *a, const int16_t *b, size_t elements);

    /* Squared distances of a whole tile, as norm + norm - 2 * dot modulo 2^32:
     * exact wherever the squared distance is below 2^32. Bit c of hits[r] is set
     * if squares[r][c] < row_limits[r] or squares[r][c] < column_limits[c].
     * Returns whether any bit is set; `squares` and `hits` are written in full in
     * that case and unspecified otherwise. squares is 64-byte aligned. */
    bool (*tile_l2_i16)(const tile_l2 *tile, uint32_t squares[TILE_ROWS][TILE_COLUMNS],
                        uint32_t hits[TILE_ROWS]);
} kernels;

/* The set in use. */
const kernels *kernels_active(void);

/* The i-th set of this build, from 0, best last; NULL beyond. *available receives
 * whether this machine can run it. */
const kernels *kernels_at(unsigned i, bool *available);

/* Makes kernels_active return this set, which must be available. */
void kernels_use(const kernels *set);

extern const kernels kernels_scalar;
#if defined(__x86_64__)
extern const kernels kernels_avx2;
extern const kernels kernels_avx512;
extern const kernels kernels_avx512vnni;
#endif

#endif
