/* kernels.h - the inner loops over vectors, one set per instruction set.
 *
 * A row is `elements` int16 within +-16383 (KERNEL_VALUE_MAX), padded with zeros
 * to a multiple of KERNEL_ROW_UNIT and aligned to 64 bytes. Differences then fit
 * int16, and one multiply-add of two squares fits int32.
 *
 * Every set returns the same bits: the arithmetic is exact, and in integers except
 * in roots_u32 (roots.inc). The scalar set is the reference; the build compiles it
 * without auto-vectorization. A new instruction set is a new file kernels_NAME.c,
 * compiled with its own flags, and one line in kernels.c.
 *
 * A damaged file may hold values beyond KERNEL_VALUE_MAX. Then the results are
 * unspecified numbers, and nothing worse: no kernel reads or writes out of bounds or
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

/* All rows against TILE_COLUMNS columns, both of 8-bit codes. Each 32-bit lane holds four
 * codes, unsigned in rows and signed in columns, as the multiply-add instructions need them.
 *
 *   rows[((s * quads + q) * TILE_ROWS + r) * 4 + e]     element 4q + e of row s * TILE_ROWS + r
 *   columns[(q * TILE_COLUMNS + c) * 4 + e]             element 4q + e of column c
 *
 * Rows come in strips of TILE_ROWS: the sums of one strip fit the registers. */
typedef struct tile_codes {
    const uint8_t *rows;
    const int8_t *columns;                     /* 64-byte aligned */
    size_t strips;                             /* strips of rows */
    size_t quads;                              /* groups of 4 elements, at most 1024 */
    const int32_t *row_base, *row_limit;       /* strips * TILE_ROWS */
    const int32_t *column_base, *column_limit; /* TILE_COLUMNS */
} tile_codes;

/* All rows against TILE_COLUMNS columns, both of int16. Each 32-bit lane holds two elements.
 *
 *   rows[((s * pairs + p) * TILE_ROWS + r) * 2 + e]     element 2p + e of row s * TILE_ROWS + r
 *   columns[(p * TILE_COLUMNS + c) * 2 + e]             element 2p + e of column c */
typedef struct tile_vectors {
    const int16_t *rows;
    const int16_t *columns; /* 64-byte aligned */
    size_t strips;          /* strips of rows */
    size_t pairs;           /* pairs of elements, at most 2048 */
} tile_vectors;

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

    /* The score of row r and column c is row_base[r] + column_base[c] + the sum of the
     * products of their elements. It must fit int32. Bit c of hits[r] is set if the score is
     * above row_limit[r] or above column_limit[c]. */
    void (*tile_codes)(const tile_codes *tile, uint32_t *hits);

    /* dots[r * TILE_COLUMNS + c] is the scalar product of row r and column c, modulo 2^32. */
    void (*tile_dots)(const tile_vectors *tile, uint32_t *dots);

    /* out[i] = ceil(sqrt(squares[i] * 2^up)), exact; up: even, 0 to 20. In place is allowed. */
    void (*roots_u32)(const uint32_t *squares, size_t count, unsigned up, uint32_t *out);
} kernels;

/* Returns the set in use: the best one that this machine can run, unless kernels_use has chosen
 * another. */
const kernels *kernels_active(void);

/* Returns the i-th set of this build, from 0, best last; NULL after the last. *available
 * receives whether this machine can run the set. */
const kernels *kernels_at(unsigned i, bool *available);

/* Makes kernels_active return this set, which must be available. */
void kernels_use(const kernels *set);

extern const kernels kernels_scalar;
#if defined(__x86_64__)
extern const kernels kernels_avx2;
extern const kernels kernels_avx512;
extern const kernels kernels_avx512vnni;
#elif defined(__wasm_simd128__)
extern const kernels kernels_simd128;
#endif

#endif
