/* search.c - the words that are nearest to a word, and those within a distance of it. */
#include "index/search.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/nearest_keys.h"

#include <string.h>

enum { BLOCK = 4096 }; /* words whose distances are computed at a time */

/* The state of one search through all words. */
typedef struct scan {
    uint64_t *keys; /* the nearest words so far; room for most + BLOCK */
    uint32_t count, most;
    tem_dist radius; /* the caller wants no word that is farther away */
    tem_dist cutoff; /* nor could a word beyond this be among the `most` nearest */
    uint32_t within; /* words within the radius so far, kept or not */
    tem_dist *distances;
} scan;

static tem_status scan_make(scan *f, uint32_t most, tem_dist radius, tem_error *error) {
    *f = (scan){.most = most,
                .radius = radius,
                .keys = core_alloc((size_t)most + BLOCK, sizeof *f->keys),
                .distances = core_alloc(BLOCK, sizeof *f->distances)};
    return f->keys != NULL && f->distances != NULL ? TEM_OK : core_fail_memory(error);
}

static void scan_free(scan *f) {
    core_free(f->distances);
    core_free(f->keys);
}

/* Keeps the `most` least keys. A word exactly as far away as the last of them may still take its
 * place: its id may be lower. */
static void keep_least(scan *f) {
    if (f->count <= f->most)
        return;
    if (f->most > 0)
        f->cutoff = (tem_dist)(nearest_select(f->keys, f->count, f->most) >> 32);
    f->count = f->most;
}

static void offer_block(scan *f, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        f->within += f->distances[i] <= f->radius;
        if (f->distances[i] <= f->cutoff)
            f->keys[f->count++] = nearest_key(first + i, f->distances[i]);
    }
    keep_least(f);
}

/* Looks at all words. Leaves the nearest words within the radius in f->keys, in order. */
static void look_at_all(const space *s, uint32_t word, scan *f) {
    f->count = f->within = 0;
    f->cutoff = f->radius;
    for (uint32_t first = 0; first < s->count; first += BLOCK) {
        const uint32_t block = s->count - first < BLOCK ? s->count - first : BLOCK;
        space_distances(s, word, first, block, f->distances);
        offer_block(f, first, block);
    }
    nearest_sort(f->keys, f->count);
}

/* ---- the nearest words of many words ---- */

typedef struct nearest_search {
    const space *space;
    const neighbour_index *index;
    const uint32_t *words;
    tem_neighbour *found;
    uint32_t k;
    scan *scans; /* one per thread; keys NULL until the thread needs it */
    _Atomic(int) status;
    tem_error *errors; /* one per thread */
} nearest_search;

/* A key is a tem_neighbour (nearest_keys.h), so the sorted keys are the result. */
static tem_status find_one(nearest_search *n, size_t item, unsigned thread) {
    tem_neighbour *out = n->found + item * n->k;
    tem_neighbours list = {0};
    if (n->index != NULL) {
        TRY(neighbours_get(n->index, n->words[item], &list, &n->errors[thread]));
    }
    if (list.count >= n->k) {
        memcpy(out, list.list, n->k * sizeof *out);
        return TEM_OK;
    }
    scan *f = &n->scans[thread];
    if (f->keys == NULL) {
        TRY(scan_make(f, n->k, UINT32_MAX, &n->errors[thread]));
    }
    look_at_all(n->space, n->words[item], f);
    memcpy(out, f->keys, n->k * sizeof *out);
    return TEM_OK;
}

/* A core_task. After a failure the other items are not worth their time. */
static void find_item(void *context, uint64_t item, unsigned thread) {
    nearest_search *n = context;
    if (n->errors[thread].status != TEM_OK ||
        atomic_load_explicit(&n->status, memory_order_relaxed) != TEM_OK)
        return;
    const tem_status status = find_one(n, item, thread);
    if (status != TEM_OK) {
        n->errors[thread].status = status;
        atomic_store_explicit(&n->status, status, memory_order_relaxed);
    }
}

static tem_status first_failure(const nearest_search *n, unsigned threads, tem_error *error) {
    for (unsigned t = 0; t < threads; t++)
        if (n->errors[t].status != TEM_OK) {
            if (error != NULL)
                *error = n->errors[t];
            return n->errors[t].status;
        }
    return TEM_OK;
}

tem_status search_nearest(const space *s, const neighbour_index *index, const uint32_t *words,
                          size_t count, uint32_t k, const tem_run *run, tem_neighbour *found,
                          tem_error *error) {
    const unsigned threads = core_thread_count(run);
    nearest_search n = {.space = s, .index = index, .words = words, .found = found, .k = k};
    n.scans = core_alloc_zero(threads, sizeof *n.scans);
    n.errors = core_alloc_zero(threads, sizeof *n.errors);
    tem_status status = TEM_OK;
    if (n.scans == NULL || n.errors == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = core_parallel(run, "searching", count, find_item, &n, error);
    if (status == TEM_OK)
        status = first_failure(&n, threads, error);
    for (unsigned t = 0; t < threads && n.scans != NULL; t++)
        scan_free(&n.scans[t]);
    core_free(n.errors);
    core_free(n.scans);
    return status;
}

/* ---- the words within a distance of one word ---- */

/* Whether the list of a word has every word within `distance`. */
static bool list_is_enough(const neighbour_index *index, const tem_neighbours *list,
                           tem_dist distance) {
    return list->count == index->count || distance < list->bound;
}

static uint32_t count_within(const tem_neighbours *list, tem_dist distance) {
    uint32_t count = 0;
    while (count < list->count && list->list[count].distance <= distance)
        count++;
    return count;
}

tem_status search_within(const space *s, const neighbour_index *index, uint32_t word,
                         tem_dist distance, tem_neighbour *found, uint32_t max, uint32_t *total,
                         tem_error *error) {
    tem_neighbours list = {0};
    TRY(index == NULL ? TEM_OK : neighbours_get(index, word, &list, error));
    if (index != NULL && list_is_enough(index, &list, distance)) {
        *total = count_within(&list, distance);
        if (max > 0)
            memcpy(found, list.list, (*total < max ? *total : max) * sizeof *found);
        return TEM_OK;
    }
    scan f;
    tem_status status = scan_make(&f, max < s->count ? max : s->count, distance, error);
    if (status == TEM_OK) {
        look_at_all(s, word, &f);
        if (f.count > 0)
            memcpy(found, f.keys, f.count * sizeof *found);
        *total = f.within;
    }
    scan_free(&f);
    return status;
}

/* ---- the order of the outputs around a word ---- */

static bool is_output(const uint32_t *outputs, uint32_t id) {
    return outputs == NULL || outputs[id] > 0;
}

/* Whether y is an output that comes after the word itself in its order. */
static bool comes_after(const uint32_t *outputs, uint32_t word, uint32_t y) {
    return y != word && is_output(outputs, y);
}

static tem_status list_of(const neighbour_index *index, uint32_t word, tem_neighbours *list,
                          tem_error *error) {
    *list = (tem_neighbours){0};
    return index == NULL ? TEM_OK : neighbours_get(index, word, list, error);
}

/* Collects the keys of all outputs but the word itself. */
static uint32_t collect_keys(const space *s, const uint32_t *outputs, uint32_t word,
                             tem_dist *distances, uint64_t *keys) {
    uint32_t count = 0;
    space_distances(s, word, 0, s->count, distances);
    for (uint32_t y = 0; y < s->count; y++)
        if (comes_after(outputs, word, y))
            keys[count++] = nearest_key(y, distances[y]);
    return count;
}

/* The other output number `rank` around a word, counted from 0, from all distances. */
static tem_status at_by_distances(const space *s, const uint32_t *outputs, uint32_t word,
                                  uint32_t rank, uint32_t *y, tem_error *error) {
    tem_dist *distances = core_alloc(s->count, sizeof *distances);
    uint64_t *keys = core_alloc(s->count, sizeof *keys);
    tem_status status = distances == NULL || keys == NULL ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK) {
        const uint32_t count = collect_keys(s, outputs, word, distances, keys);
        if (rank < count)
            *y = (uint32_t)nearest_select(keys, count, rank + 1);
        else
            status = core_fail(error, TEM_ERR_ARGUMENT, "there are fewer outputs");
    }
    core_free(keys);
    core_free(distances);
    return status;
}

tem_status search_at(const space *s, const neighbour_index *index, const uint32_t *outputs,
                     uint32_t word, uint32_t place, uint32_t *y, tem_error *error) {
    tem_neighbours list;
    TRY(list_of(index, word, &list, error));
    const bool is_first = is_output(outputs, word);
    if (is_first && place == 0) {
        *y = word;
        return TEM_OK;
    }
    const uint32_t rank = place - is_first;
    for (uint32_t i = 0, passed = 0; i < list.count; i++)
        if (comes_after(outputs, word, list.list[i].id) && passed++ == rank) {
            *y = list.list[i].id;
            return TEM_OK;
        }
    return at_by_distances(s, outputs, word, rank, y, error);
}

/* How many other outputs come before y, from all distances. */
static tem_status count_before(const space *s, const uint32_t *outputs, uint32_t word, uint32_t y,
                               uint32_t *before, tem_error *error) {
    tem_dist *distances = core_alloc(s->count, sizeof *distances);
    if (distances == NULL)
        return core_fail_memory(error);
    space_distances(s, word, 0, s->count, distances);
    const uint64_t key = nearest_key(y, distances[y]);
    *before = 0;
    for (uint32_t z = 0; z < s->count; z++)
        *before += comes_after(outputs, word, z) && nearest_key(z, distances[z]) < key;
    core_free(distances);
    return TEM_OK;
}

tem_status search_place(const space *s, const neighbour_index *index, const uint32_t *outputs,
                        uint32_t word, uint32_t y, uint32_t *place, tem_error *error) {
    tem_neighbours list;
    uint32_t before = 0;
    if (y >= s->count || !is_output(outputs, y))
        return core_fail(error, TEM_ERR_ARGUMENT, "the word is no output, so it has no place");
    if (y == word) {
        *place = 0;
        return TEM_OK;
    }
    tem_status status = list_of(index, word, &list, error);
    if (status != TEM_OK)
        return status;
    uint32_t i = 0;
    while (i < list.count && list.list[i].id != y)
        before += comes_after(outputs, word, list.list[i++].id);
    if (i == list.count)
        status = count_before(s, outputs, word, y, &before, error);
    if (status == TEM_OK)
        *place = is_output(outputs, word) + before;
    return status;
}
