/* graph.c - reads edges: a child, a tab and a parent per line. */
#include "train/graph.h"

#include "core/hash.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

typedef struct edge {
    uint32_t child, parent;
    uint64_t line;
} edge;

typedef struct edge_reading {
    const char *path;
    const tem_run *run;
    file_view file;
    uint64_t line; /* of the file, from 1 */
    edge *edges;
    uint64_t edge_count;
    word_span *words; /* different words, in the order of the file; they point into the file */
    uint32_t word_count;
    uint32_t *slots; /* a hash table: id + 1, or 0; open addressing */
    uint64_t slot_count;
    uint64_t *word_lines; /* where each word stands first */
} edge_reading;

static tem_status refuse(const edge_reading *r, const char *what, tem_error *error) {
    return core_fail_at(error, TEM_ERR_FORMAT, r->path, r->line, 0, "%s", what);
}

/* --------------------------------------------------------------- reading -- */

/* The id of a word; a new one if the word is new. The table has room for all words of the file. */
static uint32_t id_of(edge_reading *r, word_span word) {
    uint64_t slot = core_hash64(word.start, word.length) & (r->slot_count - 1);
    for (; r->slots[slot] != 0; slot = (slot + 1) & (r->slot_count - 1)) {
        const word_span *known = &r->words[r->slots[slot] - 1];
        if (known->length == word.length && memcmp(known->start, word.start, word.length) == 0)
            return r->slots[slot] - 1;
    }
    r->words[r->word_count] = word;
    r->word_lines[r->word_count] = r->line;
    r->slots[slot] = ++r->word_count;
    return r->word_count - 1;
}

static bool has_blank(word_span word) {
    for (size_t i = 0; i < word.length; i++)
        if (strchr(" \v\f\r", word.start[i]) != NULL && word.start[i] != '\0')
            return true;
    return false;
}

static tem_status read_line(edge_reading *r, const char *line, size_t bytes, tem_error *error) {
    static const char expected[] = "expected two words with a tab between them";
    const char *tab = bytes == 0 ? NULL : memchr(line, '\t', bytes);
    if (bytes == 0 || line[0] == '#')
        return TEM_OK;
    if (tab == NULL)
        return refuse(r, expected, error);
    const word_span child = {line, (size_t)(tab - line)};
    const word_span parent = {tab + 1, bytes - child.length - 1};
    if (child.length == 0 || parent.length == 0 || memchr(tab + 1, '\t', parent.length) != NULL)
        return refuse(r, expected, error);
    if (has_blank(child) || has_blank(parent))
        return refuse(r, "a word has a blank in it, which files of vectors cannot have: write _",
                      error);
    edge e = {.line = r->line};
    e.child = id_of(r, child);
    e.parent = id_of(r, parent);
    if (e.child == e.parent)
        return refuse(r, "the word is its own parent: remove the line", error);
    r->edges[r->edge_count++] = e;
    return TEM_OK;
}

static tem_status read_lines(edge_reading *r, tem_error *error) {
    enum { LINES_A_REPORT = 4096 };
    const char *next = r->file.data, *end = next + r->file.size;
    tem_status status = TEM_OK;
    while (status == TEM_OK && next < end) {
        const char *feed = memchr(next, '\n', (size_t)(end - next));
        const char *stop = feed == NULL ? end : feed;
        const size_t bytes = (size_t)(stop - next) - (stop > next && stop[-1] == '\r');
        if (r->line++ % LINES_A_REPORT == 0)
            status = core_progress(r->run, "reading edges", (uint64_t)(next - r->file.data),
                                   r->file.size, error);
        if (status == TEM_OK)
            status = read_line(r, next, bytes, error);
        next = feed == NULL ? end : feed + 1;
    }
    return status;
}

static uint64_t count_lines(const file_view *file) {
    uint64_t lines = 1;
    for (size_t i = 0; i < file->size; i++)
        lines += file->data[i] == '\n';
    return lines;
}

static tem_status begin(edge_reading *r, tem_error *error) {
    const uint64_t lines = count_lines(&r->file);
    if (lines > TEM_GRAPH_EDGES_MAX)
        return core_fail_at(error, TEM_ERR_RANGE, r->path, 0, 0, "more than %u edges",
                            TEM_GRAPH_EDGES_MAX);
    for (r->slot_count = 4; r->slot_count < 4 * lines;)
        r->slot_count *= 2; /* at most half of them are taken */
    r->edges = core_alloc(lines, sizeof *r->edges);
    r->words = core_alloc(2 * lines, sizeof *r->words);
    r->word_lines = core_alloc(2 * lines, sizeof *r->word_lines);
    r->slots = core_alloc_zero(r->slot_count, sizeof *r->slots);
    return r->edges == NULL || r->words == NULL || r->word_lines == NULL || r->slots == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

/* -------------------------------------------------------------- the graph -- */

static int compare_edges(const void *a, const void *b) {
    const edge *left = a, *right = b;
    if (left->child != right->child)
        return left->child < right->child ? -1 : 1;
    if (left->parent != right->parent)
        return left->parent < right->parent ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

/* Refuses an edge that an earlier line has; of several, the first in the file. The edges are
 * sorted. */
static tem_status check_repeated(edge_reading *r, tem_error *error) {
    uint64_t earlier = 0;
    r->line = UINT64_MAX;
    for (uint64_t i = 1; i < r->edge_count; i++) {
        const edge *e = &r->edges[i];
        if (e->child == e[-1].child && e->parent == e[-1].parent && e->line < r->line) {
            r->line = e->line;
            earlier = e[-1].line;
        }
    }
    if (earlier == 0)
        return TEM_OK;
    return core_fail_at(error, TEM_ERR_FORMAT, r->path, r->line, 0,
                        "line %llu has the same edge: remove one", (unsigned long long)earlier);
}

static tem_status make_words(const edge_reading *r, tem_graph *g, tem_error *error) {
    vocab_fault fault;
    const tem_status status = vocab_make(r->words, r->word_count, &g->words, &fault);
    if (status == TEM_ERR_FORMAT)
        return core_fail_at(error, status, r->path, r->word_lines[fault.row], 0, "a word %s",
                            fault.reason);
    return status == TEM_OK ? status : core_fail_memory(error);
}

static tem_status make_parents(const edge_reading *r, tem_graph *g, tem_error *error) {
    g->starts = core_alloc_zero(r->word_count + (size_t)1, sizeof *g->starts);
    g->parents = core_alloc(r->edge_count, sizeof *g->parents);
    if (g->starts == NULL || g->parents == NULL)
        return core_fail_memory(error);
    for (uint64_t i = 0; i < r->edge_count; i++) {
        g->starts[r->edges[i].child + 1]++;
        g->parents[i] = r->edges[i].parent;
    }
    for (uint32_t w = 0; w < r->word_count; w++)
        g->starts[w + 1] += g->starts[w];
    g->info.words = r->word_count;
    g->info.edges_read = r->edge_count;
    return TEM_OK;
}

/* Fills what the file does not say. */
static tem_status finish(tem_graph *g, bool closure, const tem_run *run, tem_error *error) {
    bool has_cycle = false;
    tem_status status = graph_find_cycle(g, &has_cycle, error);
    if (status == TEM_OK && closure)
        status = graph_close(g, run, error);
    if (status != TEM_OK)
        return status;
    g->info.has_cycle = has_cycle;
    g->info.edges = g->starts[g->info.words];
    for (uint32_t w = 0; w < g->info.words; w++)
        if (graph_parent_count(g, w) > g->info.most_parents)
            g->info.most_parents = graph_parent_count(g, w);
    return TEM_OK;
}

static tem_status read_graph(edge_reading *r, tem_graph *g, tem_error *error) {
    tem_status status = begin(r, error);
    if (status == TEM_OK)
        status = read_lines(r, error);
    if (status == TEM_OK && r->edge_count == 0)
        status = core_fail_at(error, TEM_ERR_FORMAT, r->path, 0, 0,
                              "no edge: expected lines of two words with a tab between them");
    if (status != TEM_OK)
        return status;
    qsort(r->edges, r->edge_count, sizeof *r->edges, compare_edges);
    status = check_repeated(r, error);
    if (status == TEM_OK)
        status = make_words(r, g, error);
    return status == TEM_OK ? make_parents(r, g, error) : status;
}

void graph_free(tem_graph *graph) {
    if (graph == NULL)
        return;
    vocab_free(&graph->words);
    core_free(graph->starts);
    core_free(graph->parents);
    core_free(graph);
}

tem_status graph_load(const char *path, bool closure, const tem_run *run, tem_graph **graph,
                      tem_error *error) {
    edge_reading r = {.path = path, .run = run};
    tem_graph *g = core_alloc_zero(1, sizeof *g);
    tem_status status = g == NULL ? core_fail_memory(error) : file_open(path, run, &r.file, error);
    if (status == TEM_OK && file_is_gzip(&r.file))
        status = file_unpack(path, run, &r.file, error); /* closes the file if it fails */
    if (status == TEM_OK) {
        status = read_graph(&r, g, error);
        file_close(&r.file);
    }
    core_free(r.slots);
    core_free(r.word_lines);
    core_free(r.words);
    core_free(r.edges);
    if (status == TEM_OK)
        status = finish(g, closure, run, error);
    if (status == TEM_OK)
        *graph = g;
    else
        graph_free(g);
    return status;
}
