/* neighbours_build.c - finds every word's nearest words, exactly.
 *
 * The method is brute force, well arranged. At 100 to 300 dimensions an exact search of word
 * vectors still has to look at a large part of all pairs, whatever tree or clustering it uses. The
 * inner loop of a matrix product handles the pairs at the arithmetic limit of the machine. For
 * euclidean spaces it works in 8 bits (space/codes.h); after it a few hundred pairs per word remain
 * to be computed exactly.
 *
 * The steps:
 *
 *   1  Divide the words into blocks that fit the cache (blocks.h).
 *   2  For a euclidean space find first cutoffs from clusters of near words (first_cutoffs.h), and
 *      make the codes.
 *   3  Compare each pair of blocks once, by one thread (compare.h). This serves the words of both
 *      blocks, since d(x, y) = d(y, x). A pair of words is skipped only if it is farther apart than
 *      the cutoffs of both words. Beyond the cutoff of a word nothing changes its list, or its
 *      bound for the range of the other word. Cutoffs fall as lists fill (lists.h).
 *   4  Sort the lists and move them into the index. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "index/compare.h"
#include "index/first_cutoffs.h"

enum {
    ITEMS_A_BLOCK = 8,  /* items of work per block: for progress, and for many threads */
    CLUSTER_WORDS = 256 /* most words in a cluster */
};

typedef struct builder {
    const space *space;
    unsigned threads;
    blocks blocks;
    codes codes;          /* of a euclidean space; otherwise empty */
    uint16_t *error_most; /* comparison.error_most */
    lists lists;
    comparison comparison;
    comparer *comparers; /* one per thread */
    clusters clusters;
    central_words central;
    cutoff_finder *cutoff_finders; /* one per thread */
} builder;

/* ---- codes and cutoffs of a euclidean space ---- */

static void put_codes(void *context, uint64_t item, unsigned thread) {
    builder *b = context;
    (void)thread;
    const uint32_t block = (uint32_t)item, first = blocks_first(&b->blocks, block);
    for (uint32_t i = 0; i < blocks_size(&b->blocks, block); i++) {
        const size_t slot = blocks_slot(&b->blocks, block, i);
        codes_put(&b->codes, slot, first + i);
        if (b->codes.errors[slot] > b->error_most[block])
            b->error_most[block] = b->codes.errors[slot];
    }
}

static tem_status make_codes(builder *b, tem_error *error) {
    const tem_run quiet = {.threads = b->threads};
    b->error_most = core_alloc_zero(b->blocks.count, sizeof *b->error_most);
    if (b->error_most == NULL)
        return core_fail_memory(error);
    TRY(codes_init(&b->codes, b->space, blocks_slots(&b->blocks), error));
    return core_parallel(&quiet, "coding", b->blocks.count, put_codes, b, error);
}

static void find_cutoffs_of_cluster(void *context, uint64_t cluster, unsigned thread) {
    builder *b = context;
    cutoff_finder_run(&b->cutoff_finders[thread], (uint32_t)cluster);
}

static void free_first_cutoffs(builder *b) {
    for (unsigned i = 0; b->cutoff_finders != NULL && i < b->threads; i++)
        cutoff_finder_free(&b->cutoff_finders[i]);
    core_free(b->cutoff_finders);
    b->cutoff_finders = NULL;
    central_words_free(&b->central);
    clusters_free(&b->clusters);
}

static tem_status find_first_cutoffs(builder *b, const tem_run *run, tem_error *error) {
    TRY(clusters_init(&b->clusters, b->space, CLUSTER_WORDS, b->threads, error));
    tem_status status = central_words_init(&b->central, b->space, &b->clusters, error);
    if (status != TEM_OK)
        return status;
    b->cutoff_finders = core_alloc_zero(b->threads, sizeof *b->cutoff_finders);
    if (b->cutoff_finders == NULL)
        return core_fail_memory(error);
    for (unsigned i = 0; i < b->threads && status == TEM_OK; i++)
        status = cutoff_finder_init(&b->cutoff_finders[i], b->space, &b->clusters, &b->central,
                                    &b->lists, error);
    if (status == TEM_OK)
        status =
            core_parallel(run, "preparing", b->clusters.count, find_cutoffs_of_cluster, b, error);
    return status;
}

/* ---- comparing ---- */

/* Step 3: handles one item of work. All blocks form a ring. A block meets the half of all blocks
 * that follow it in the ring, and itself. This work is divided into ITEMS_A_BLOCK items; the first
 * begins with the block itself. So each pair of blocks is in one item, and items have about the
 * same cost. Threads work on different blocks, and seldom need the same lock. */
static void compare_item(void *context, uint64_t item, unsigned thread) {
    builder *b = context;
    comparer *c = &b->comparers[thread];
    const uint32_t count = b->blocks.count, block = (uint32_t)(item % count);
    const uint64_t half = count / 2, piece = item / count;
    const uint64_t first = piece == 0 ? 0 : half * piece / ITEMS_A_BLOCK + 1;
    const uint64_t last = half * (piece + 1) / ITEMS_A_BLOCK;
    comparer_set_rows(c, block);
    for (uint64_t ahead = first; ahead <= last && !core_task_stopped(); ahead++)
        if (2 * ahead < count || block < half) /* of two opposite blocks only the lower one */
            comparer_run(c, (uint32_t)((block + ahead) % count));
}

static void finish_block(void *context, uint64_t item, unsigned thread) {
    builder *b = context;
    (void)thread;
    const uint32_t block = (uint32_t)item, first = blocks_first(&b->blocks, block);
    for (uint32_t i = 0; i < blocks_size(&b->blocks, block); i++)
        lists_finish(&b->lists, first + i);
}

static tem_status make_comparers(builder *b, tem_error *error) {
    b->comparison = (comparison){.space = b->space,
                                 .blocks = &b->blocks,
                                 .codes = b->codes.packed == NULL ? NULL : &b->codes,
                                 .error_most = b->error_most,
                                 .lists = &b->lists};
    b->comparers = core_alloc_zero(b->threads, sizeof *b->comparers);
    if (b->comparers == NULL)
        return core_fail_memory(error);
    tem_status status = TEM_OK;
    for (unsigned i = 0; i < b->threads && status == TEM_OK; i++)
        status = comparer_init(&b->comparers[i], &b->comparison, error);
    return status;
}

/* ---- all of it ---- */

static void builder_free(builder *b) {
    free_first_cutoffs(b);
    for (unsigned i = 0; b->comparers != NULL && i < b->threads; i++)
        comparer_free(&b->comparers[i]);
    core_free(b->comparers);
    lists_free(&b->lists);
    core_free(b->error_most);
    codes_free(&b->codes);
}

static tem_status prepare(builder *b, uint32_t length, bool is_even, const tem_run *run,
                          tem_error *error) {
    const bool euclidean = b->space->metric->is_euclidean;
    tem_status status = lists_init(&b->lists, &b->blocks, length, is_even, error);
    if (status == TEM_OK && euclidean)
        status = find_first_cutoffs(b, run, error);
    free_first_cutoffs(b);
    if (status == TEM_OK && euclidean)
        status = make_codes(b, error);
    if (status == TEM_OK)
        status = make_comparers(b, error);
    return status;
}

/* Fills the lists of b. */
static tem_status build(builder *b, uint32_t length, bool is_even, const tem_run *run,
                        tem_error *error) {
    const uint64_t items = (uint64_t)b->blocks.count * ITEMS_A_BLOCK;
    TRY(prepare(b, length, is_even, run, error));
    TRY(core_parallel(run, "comparing", items, compare_item, b, error));
    return core_parallel(run, "sorting", b->blocks.count, finish_block, b, error);
}

/* Asks for the number of threads only once: processors may be added while a build runs. */
static tem_run fixed_run(const tem_run *run) {
    tem_run fixed = run == NULL ? (tem_run){0} : *run;
    fixed.threads = core_thread_count(run);
    return fixed;
}

tem_status neighbours_build(const space *s, uint32_t length, const tem_run *run,
                            neighbour_index *out, tem_error *error) {
    const tem_run fixed = fixed_run(run);
    builder b = {.space = s, .threads = fixed.threads, .blocks = blocks_of(s)};
    tem_status status = build(&b, length, false, &fixed, error);
    if (status == TEM_OK)
        status = lists_take(&b.lists, out, error);
    builder_free(&b);
    return status;
}

tem_status neighbours_list(const space *s, uint32_t length, const tem_run *run, tem_neighbour **out,
                           tem_error *error) {
    const tem_run fixed = fixed_run(run);
    builder b = {.space = s, .threads = fixed.threads, .blocks = blocks_of(s)};
    const tem_status status = build(&b, length, true, &fixed, error);
    if (status == TEM_OK)
        *out = lists_take_even(&b.lists);
    builder_free(&b);
    return status;
}
