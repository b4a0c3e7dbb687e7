/* tiles.h - distances of all pairs, a tile at a time.
 *
 * A pass over all pairs is the cost of building and verifying a model. It runs over
 * tiles of TILE_ROWS x TILE_COLUMNS so that the euclidean metric can use a matrix
 * product's inner loop; other metrics fill the same tiles pair by pair.
 *
 * A tile holds raw values: 32-bit numbers that order pairs as their distances do.
 * Euclidean: the squared distance on the grid, while all of them fit 32 bits (the
 * longest vector shorter than 2^15 units); everything else: the distance itself. */
#ifndef SPACE_TILES_H
#define SPACE_TILES_H

#include "space/kernels/kernels.h"
#include "space/space.h"

typedef struct tiles {
    const space *space;
    const kernels *kernels;
    uint32_t *norms; /* squared lengths of all rows if raw values are squares; else NULL */
} tiles;

/* Prepares a pass. TEM_ERR_MEMORY only. Free with tiles_free. */
tem_status tiles_init(tiles *t, const space *s, tem_error *error);
void tiles_free(tiles *t);

/* The distance of a raw value, and the least raw value whose distance exceeds d
 * (UINT32_MAX at most). */
tem_dist tiles_distance(const tiles *t, uint32_t raw);
uint32_t tiles_limit(const tiles *t, tem_dist d);

/* One side of a block of tiles: `count` words from `first`, with limits. As columns
 * they are packed first. Memory is allocated for `capacity` words. */
typedef struct tile_side {
    uint32_t first, count, capacity;
    uint32_t *limits; /* capacity, rounded up to whole tiles; a raw value below it is a hit */
    uint32_t *norms;
    int16_t *rows; /* a padded copy of the last, incomplete tile of rows */
    int16_t *packed;
} tile_side;

tem_status tile_side_init(tile_side *side, const tiles *t, uint32_t capacity, tem_error *error);
void tile_side_free(tile_side *side);

/* Points the side at words first to first + count - 1. */
void tile_side_set_rows(tile_side *side, const tiles *t, uint32_t first, uint32_t count);
void tile_side_set_columns(tile_side *side, const tiles *t, uint32_t first, uint32_t count);

/* A tile's results: bit c of hits[r] is set if raw[r][c] is below the limit of row r
 * or of column c. Bits beyond the sides' counts are 0. */
typedef struct tile {
    _Alignas(64) uint32_t raw[TILE_ROWS][TILE_COLUMNS];
    uint32_t hits[TILE_ROWS];
} tile;

/* The tile whose first row is the `row`-th of `rows` and whose first column is the
 * `column`-th of `columns`, both multiples of the tile's size. Returns whether it
 * has hits; if not, its content is unspecified. */
bool tiles_compute(const tiles *t, const tile_side *rows, uint32_t row, const tile_side *columns,
                   uint32_t column, tile *out);

#endif
