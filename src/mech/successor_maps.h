/* successor_maps.h - where the successors of large histories are, without a search.
 *
 * A map has a cell for each 64 outputs, by their numbers (language.h): a bit per output that is a
 * successor, and how many successors come before the cell. So a look-up reads one cell, where a
 * search among 4,000 successors takes 12 steps. A map is made when its history is first met, and
 * serves all later draws.
 *
 * PRIVACY: a map says the same as the tables of the language model. Maps are faster, and no draw
 * depends on which of them exist. */
#ifndef MECH_SUCCESSOR_MAPS_H
#define MECH_SUCCESSOR_MAPS_H

#include "mech/language.h"

enum {
    SUCCESSOR_CELL = 64,
    SUCCESSOR_MAPS_LEAST = 128,      /* a history with fewer successors has no map */
    SUCCESSOR_MAPS_BYTES = 24 << 20, /* of all maps together */
    SUCCESSOR_MAPS_SLOTS = 8192      /* twice as many as there may be maps */
};

typedef struct successor_cell {
    uint64_t has; /* bit i: number 64 cell + i is a successor */
    uint32_t before;
    uint32_t zero;
} successor_cell;

/* PRIVACY: the successors of a level are its numbers and how many of them there are, so both are
 * its name. A forged file may have two histories whose successors begin at the same place and end
 * at different ones: each row by itself is as levels.h promises. The map of one would give the
 * other weights that are not in its total. */
typedef struct successor_map {
    const uint32_t *numbers;
    uint32_t count;
    uint32_t zero;
    successor_cell cells[];
} successor_map;

/* What changes while threads draw. */
typedef struct successor_table {
    _Atomic(uint32_t) count;
    _Atomic(successor_map *) slots[SUCCESSOR_MAPS_SLOTS]; /* by the hash of the name, or NULL */
} successor_table;

typedef struct successor_maps {
    uint32_t cells; /* of a map */
    uint32_t most;  /* maps */
    uint32_t least; /* SUCCESSOR_MAPS_LEAST, or what a test sets */
    successor_table *table;
} successor_maps;

/* For languages with `numbered` outputs. Fails with TEM_ERR_MEMORY. Free with
 * successor_maps_free. */
tem_status successor_maps_init(successor_maps *m, uint32_t numbered, tem_error *error);
void successor_maps_free(successor_maps *m);

/* The cells of the map of a level, or NULL: it has too few successors, or there is no memory left
 * for maps. Any thread. */
const successor_cell *successor_maps_find(const successor_maps *m, const language_level *level);

/* How many bits are set. Without the instruction for it, which not every machine has. */
static inline uint32_t successor_bits(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(x * 0x0101010101010101 >> 56);
}

static inline bool successor_is_there(const successor_cell *cells, uint32_t number) {
    return (cells[number / SUCCESSOR_CELL].has >> number % SUCCESSOR_CELL & 1) != 0;
}

/* How many successors have a smaller number: where the entry of this one is, if it is there. */
static inline uint32_t successor_entry(const successor_cell *cells, uint32_t number) {
    const successor_cell *c = &cells[number / SUCCESSOR_CELL];
    return c->before + successor_bits(c->has & (((uint64_t)1 << number % SUCCESSOR_CELL) - 1));
}

#endif
