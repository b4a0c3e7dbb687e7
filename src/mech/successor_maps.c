/* successor_maps.c - makes and finds maps. Any number of threads may do so at once: a map never
 * changes after it is in its slot, and slots are only added. */
#include "mech/successor_maps.h"

#include "core/memory.h"
#include "core/status.h"

tem_status successor_maps_init(successor_maps *m, uint32_t numbered, tem_error *error) {
    const uint32_t cells = (numbered - 1) / SUCCESSOR_CELL + 1;
    const size_t bytes = sizeof(successor_map) + cells * sizeof(successor_cell);
    const size_t most = SUCCESSOR_MAPS_BYTES / bytes;
    m->cells = cells;
    m->least = SUCCESSOR_MAPS_LEAST;
    m->most = (uint32_t)(most < SUCCESSOR_MAPS_SLOTS / 2 ? most : SUCCESSOR_MAPS_SLOTS / 2);
    m->table = core_alloc_zero(1, sizeof *m->table);
    return m->table == NULL ? core_fail_memory(error) : TEM_OK;
}

void successor_maps_free(successor_maps *m) {
    for (uint32_t i = 0; m->table != NULL && i < SUCCESSOR_MAPS_SLOTS; i++)
        core_free(atomic_load(&m->table->slots[i]));
    core_free(m->table);
    *m = (successor_maps){0};
}

static uint32_t first_slot(const language_level *level) {
    const uint64_t name = (uintptr_t)level->numbers / sizeof *level->numbers;
    return (uint32_t)(name * 0x9e3779b97f4a7c15 >> 32) % SUCCESSOR_MAPS_SLOTS;
}

static void fill(successor_cell *cells, uint32_t count, const language_level *level) {
    uint32_t entry = 0;
    for (uint32_t cell = 0; cell < count; cell++) {
        cells[cell].before = entry;
        for (; entry < level->count && level->numbers[entry] / SUCCESSOR_CELL == cell; entry++)
            cells[cell].has |= (uint64_t)1 << level->numbers[entry] % SUCCESSOR_CELL;
    }
}

/* Two threads may make the same map at once. Then both are kept, and the first one is found. */
static const successor_cell *make(const successor_maps *m, const language_level *level,
                                  uint32_t slot) {
    if (atomic_load(&m->table->count) >= m->most ||
        atomic_fetch_add(&m->table->count, 1) >= m->most)
        return NULL;
    successor_map *map = core_alloc_zero(1, sizeof *map + m->cells * sizeof(successor_cell));
    if (map == NULL)
        return NULL;
    map->numbers = level->numbers;
    map->count = level->count;
    fill(map->cells, m->cells, level);
    for (successor_map *none = NULL;
         !atomic_compare_exchange_strong(&m->table->slots[slot], &none, map); none = NULL)
        slot = (slot + 1) % SUCCESSOR_MAPS_SLOTS;
    return map->cells;
}

/* Slots are free, so the search ends. */
const successor_cell *successor_maps_find(const successor_maps *m, const language_level *level) {
    if (level->count < m->least)
        return NULL;
    for (uint32_t slot = first_slot(level);; slot = (slot + 1) % SUCCESSOR_MAPS_SLOTS) {
        const successor_map *map =
            atomic_load_explicit(&m->table->slots[slot], memory_order_acquire);
        if (map == NULL)
            return make(m, level, slot);
        if (map->numbers == level->numbers && map->count == level->count)
            return map->cells;
    }
}
