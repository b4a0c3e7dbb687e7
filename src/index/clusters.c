/* clusters.c - estimates which words are near each other. */
#include "index/first_cutoffs.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "space/kernels/kernels.h"

#include <string.h>

enum {
    SPLIT_MAX = 32, /* groups into which a set of words is split at a time */
    SAMPLE = 2048,  /* at most this many words determine the centers */
    ROUNDS = 3,
    PIECE = 4096 /* words that a thread labels per item of work */
};

/* The centers of one split. */
typedef struct centres {
    const space *space;
    int16_t *rows; /* SPLIT_MAX rows */
    int32_t *sums;
    uint32_t counts[SPLIT_MAX];
    uint32_t used;
} centres;

static tem_status centres_init(centres *c, const space *s, tem_error *error) {
    const size_t elements = (size_t)SPLIT_MAX * s->row_elements;
    *c = (centres){.space = s,
                   .rows = core_alloc_zero(elements, sizeof *c->rows),
                   .sums = core_alloc(elements, sizeof *c->sums)};
    return c->rows == NULL || c->sums == NULL ? core_fail_memory(error) : TEM_OK;
}

static void centres_free(centres *c) {
    core_free(c->rows);
    core_free(c->sums);
}

static uint32_t nearest_centre(const centres *c, uint32_t id) {
    const kernels *k = kernels_active();
    const size_t elements = c->space->row_elements;
    const int16_t *row = space_row(c->space, id);
    uint64_t least = UINT64_MAX;
    uint32_t nearest = 0;
    for (uint32_t i = 0; i < c->used; i++) {
        const uint64_t square = k->l2_i16(row, c->rows + i * elements, elements);
        nearest = square < least ? i : nearest;
        least = square < least ? square : least;
    }
    return nearest;
}

static void add_row(int32_t *sums, const space *s, uint32_t id) {
    const int16_t *row = space_row(s, id);
    for (uint32_t e = 0; e < s->dimension; e++)
        sums[e] += row[e];
}

/* Moves every center to the mean of the words nearest to it, using every stride-th word. */
static void move_centres(centres *c, const uint32_t *ids, uint32_t count, uint32_t stride) {
    const space *s = c->space;
    memset(c->sums, 0, (size_t)c->used * s->row_elements * sizeof *c->sums);
    memset(c->counts, 0, sizeof c->counts);
    for (uint32_t i = 0; i < count; i += stride) {
        const uint32_t nearest = nearest_centre(c, ids[i]);
        add_row(c->sums + (size_t)nearest * s->row_elements, s, ids[i]);
        c->counts[nearest]++;
    }
    for (uint32_t i = 0; i < c->used; i++)
        for (uint32_t e = 0; c->counts[i] > 0 && e < s->dimension; e++)
            c->rows[(size_t)i * s->row_elements + e] =
                (int16_t)(c->sums[(size_t)i * s->row_elements + e] / (int32_t)c->counts[i]);
}

/* Finds `used` centers by k-means. It starts with words spread evenly over the set, and makes
 * ROUNDS rounds over a sample. */
static void find_centres(centres *c, const uint32_t *ids, uint32_t count, uint32_t used) {
    const size_t elements = c->space->row_elements;
    c->used = used;
    for (uint32_t i = 0; i < used; i++)
        memcpy(c->rows + i * elements, space_row(c->space, ids[(uint64_t)count * i / used]),
               elements * sizeof *c->rows);
    for (int round = 0; round < ROUNDS; round++)
        move_centres(c, ids, count, count / SAMPLE + 1);
}

/* Sorts the words by label; words with the same label keep their order. ends[i] receives the end of
 * label i. */
static void sort_by_label(uint32_t *ids, const uint8_t *labels, uint32_t count, uint32_t *sorted,
                          uint32_t ends[SPLIT_MAX]) {
    uint32_t next[SPLIT_MAX] = {0};
    for (uint32_t i = 0; i < count; i++)
        next[labels[i]]++;
    for (uint32_t i = 0, sum = 0; i < SPLIT_MAX; i++) {
        sum += next[i];
        ends[i] = sum;
        next[i] = sum - next[i];
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[next[labels[i]]++] = ids[i];
    memcpy(ids, sorted, count * sizeof *ids);
}

typedef struct cluster_work {
    clusters *clusters;
    const space *space;
    unsigned threads;
    uint8_t *labels;          /* by place in clusters->ids */
    uint32_t *sorted;         /* by place, too */
    uint8_t *is_end;          /* by place, too: whether a cluster ends before this place */
    centres *centres;         /* one per thread, then that of the first split */
    uint32_t ends[SPLIT_MAX]; /* of the first split */
} cluster_work;

static uint32_t pieces_for(const cluster_work *w, uint32_t count) {
    const uint32_t pieces = count / (w->clusters->most / 2) + 1;
    return pieces < SPLIT_MAX ? pieces : SPLIT_MAX;
}

/* Cuts a set of words into clusters without regard to distance. This is for words that k-means
 * cannot tell apart, or of which it separates only a few at a time (for example, one long vector
 * among equally long ones at right angles). So every set that is split again has at most three
 * quarters of the words of the set it came from, and the recursion is not deep. */
static void cut_anywhere(cluster_work *w, uint32_t first, uint32_t end) {
    w->is_end[end] = 1;
    for (uint64_t at = (uint64_t)first + w->clusters->most; at < end; at += w->clusters->most)
        w->is_end[at] = 1;
}

/* Splits ids[first] to ids[end - 1] until no cluster has more than `most` words. */
static void split(cluster_work *w, centres *c, uint32_t first, uint32_t end) {
    uint32_t ends[SPLIT_MAX], *ids = w->clusters->ids + first;
    const uint32_t count = end - first;
    w->is_end[end] = 1;
    if (count <= w->clusters->most)
        return;
    find_centres(c, ids, count, pieces_for(w, count));
    for (uint32_t i = 0; i < count; i++)
        w->labels[first + i] = (uint8_t)nearest_centre(c, ids[i]);
    sort_by_label(ids, w->labels + first, count, w->sorted + first, ends);
    for (uint32_t i = 0, from = 0; i < SPLIT_MAX; from = ends[i++])
        if (ends[i] - from > count / 4 * 3)
            cut_anywhere(w, first + from, first + ends[i]);
        else if (ends[i] > from)
            split(w, c, first + from, first + ends[i]);
}

static void label_piece(void *context, uint64_t item, unsigned thread) {
    cluster_work *w = context;
    (void)thread;
    const uint64_t first = item * PIECE, end = first + PIECE;
    for (uint64_t id = first; id < end && id < w->space->count; id++)
        w->labels[id] = (uint8_t)nearest_centre(&w->centres[w->threads], (uint32_t)id);
}

static void split_label(void *context, uint64_t label, unsigned thread) {
    cluster_work *w = context;
    const uint32_t first = label == 0 ? 0 : w->ends[label - 1];
    if (w->ends[label] > first)
        split(w, &w->centres[thread], first, w->ends[label]);
}

/* Joins neighboring clusters while they have at most `most` words together. Neighbors are mostly
 * from the same split. Sets count and starts. */
static void join_small(cluster_work *w) {
    clusters *c = w->clusters;
    for (uint32_t i = 1; i <= w->space->count; i++) {
        if (!w->is_end[i])
            continue;
        if (c->count == 0 || i - c->starts[c->count - 1] > c->most)
            c->count++;
        c->starts[c->count] = i;
    }
}

static void find_mean(void *context, uint64_t cluster, unsigned thread) {
    cluster_work *w = context;
    const clusters *c = w->clusters;
    const uint32_t first = c->starts[cluster], words = c->starts[cluster + 1] - first;
    int16_t *mean = c->centres + cluster * w->space->row_elements;
    int32_t *sums = w->centres[thread].sums;
    memset(sums, 0, w->space->dimension * sizeof *sums);
    for (uint32_t i = 0; i < words; i++)
        add_row(sums, w->space, c->ids[first + i]);
    for (uint32_t e = 0; e < w->space->dimension; e++)
        mean[e] = (int16_t)(sums[e] / (int32_t)words);
}

/* All threads work on the first split. Then each label of it is one item of work, for one
 * thread. */
static tem_status run_work(cluster_work *w, tem_error *error) {
    const tem_run quiet = {.threads = w->threads};
    const uint32_t count = w->space->count;
    clusters *c = w->clusters;
    for (uint32_t i = 0; i < count; i++)
        c->ids[i] = i;
    find_centres(&w->centres[w->threads], c->ids, count, pieces_for(w, count));
    TRY(core_parallel(&quiet, "labelling", ((uint64_t)count + PIECE - 1) / PIECE, label_piece, w,
                      error));
    sort_by_label(c->ids, w->labels, count, w->sorted, w->ends);
    TRY(core_parallel(&quiet, "splitting", SPLIT_MAX, split_label, w, error));
    join_small(w);
    c->centres = core_alloc_zero((size_t)c->count * w->space->row_elements, sizeof *c->centres);
    if (c->centres == NULL)
        return core_fail_memory(error);
    return core_parallel(&quiet, "averaging", c->count, find_mean, w, error);
}

static void work_free(cluster_work *w) {
    for (unsigned i = 0; w->centres != NULL && i <= w->threads; i++)
        centres_free(&w->centres[i]);
    core_free(w->centres);
    core_free(w->is_end);
    core_free(w->sorted);
    core_free(w->labels);
}

static tem_status work_init(cluster_work *w, clusters *c, const space *s, unsigned threads,
                            tem_error *error) {
    const size_t count = s->count;
    *w = (cluster_work){.clusters = c,
                        .space = s,
                        .threads = threads,
                        .labels = core_alloc(count, sizeof *w->labels),
                        .sorted = core_alloc(count, sizeof *w->sorted),
                        .is_end = core_alloc_zero(count + 1, sizeof *w->is_end),
                        .centres = core_alloc_zero((size_t)threads + 1, sizeof *w->centres)};
    if (w->labels == NULL || w->sorted == NULL || w->is_end == NULL || w->centres == NULL)
        return core_fail_memory(error);
    tem_status status = TEM_OK;
    for (unsigned i = 0; i <= threads && status == TEM_OK; i++)
        status = centres_init(&w->centres[i], s, error);
    return status;
}

tem_status clusters_init(clusters *c, const space *s, uint32_t most, unsigned threads,
                         tem_error *error) {
    *c = (clusters){.most = most,
                    .ids = core_alloc(s->count, sizeof *c->ids),
                    .starts = core_alloc_zero((size_t)s->count + 1, sizeof *c->starts)};
    cluster_work w;
    tem_status status = work_init(&w, c, s, threads, error);
    if (status == TEM_OK && (c->ids == NULL || c->starts == NULL))
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = run_work(&w, error);
    work_free(&w);
    if (status != TEM_OK)
        clusters_free(c);
    return status;
}

void clusters_free(clusters *c) {
    core_free(c->ids);
    core_free(c->starts);
    core_free(c->centres);
    *c = (clusters){0};
}
