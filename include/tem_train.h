/* tem_train.h - vectors from a hierarchy: the fifth public header of libtem.
 *
 * A hierarchy, such as "a dog is a canine, a canine is a carnivore", fits hyperbolic space far
 * better than Euclidean space: the room in a ball grows with its radius as fast as a tree grows
 * with its depth. This header reads a hierarchy as edges, gives each of its words a point in the
 * Poincaré ball (Nickel and Kiela, "Poincaré Embeddings for Learning Hierarchical
 * Representations", 2017), and measures how much of the hierarchy the points keep.
 * docs/HYPERBOLIC.md has commands and results.
 *
 * The hierarchy must be PUBLIC: the points show its words and its edges. The rules at the top of
 * tem.h hold here, too. */
#ifndef TEM_TRAIN_H
#define TEM_TRAIN_H

#include "tem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- graphs -- */

/* Words and their parents: which words stand above a word. Never changes; any number of threads may
 * use it. */
typedef struct tem_graph tem_graph;

#define TEM_GRAPH_EDGES_MAX 0x10000000u

/* How to read edges. */
typedef struct tem_graph_options {
    int closure;          /* 1: a word's parents are all words that a path of edges leads to, except
                           * the word itself; 0: the words of its own edges */
    uint32_t zero;        /* must be 0 */
    uint64_t reserved[4]; /* must be 0 */
} tem_graph_options;

/* Reads edges from a file, plain or gzip; "-" is standard input. A line has a child, a tab and a
 * parent. tem ignores empty lines and lines that begin with #. Words get their ids in the order in
 * which the file names them.
 *   options   NULL: all 0
 * A cycle is no failure: tem_graph_info tells of it, and the closure is defined all the same.
 * Fails with TEM_ERR_ARGUMENT; TEM_ERR_FILE; TEM_ERR_FORMAT, with the line: a line without exactly
 * two columns, an empty word, a word with a blank in it (files of vectors separate their columns by
 * blanks) or one that tem_vectors_create refuses, a word that is its own parent, an edge that an
 * earlier line has, a file without an edge; TEM_ERR_RANGE (more than TEM_GRAPH_EDGES_MAX edges,
 * also of the closure), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. The caller frees *graph with
 * tem_graph_free. */
TEM_API tem_status tem_graph_load(const char *path, const tem_graph_options *options,
                                  const tem_run *run, tem_graph **graph, tem_error *error);
TEM_API void tem_graph_free(tem_graph *graph);

typedef struct tem_graph_info {
    uint64_t words;
    uint64_t edges_read;   /* edges of the file */
    uint64_t edges;        /* pairs of a word and a parent: with the closure, at least as many */
    int has_cycle;         /* 1: a path of edges leads from some word back to it */
    uint32_t most_parents; /* of one word */
    uint64_t reserved[4];  /* 0 */
} tem_graph_info;

/* Fills *info. Any thread. */
TEM_API void tem_graph_get_info(const tem_graph *graph, tem_graph_info *info);

/* The word with this id, not NUL-terminated, which lives as long as the graph; NULL for a wrong id.
 * *length, unless NULL, receives its bytes. Any thread. */
TEM_API const char *tem_graph_word(const tem_graph *graph, uint32_t id, size_t *length);

/* The parents of the word with this id, ascending; *count receives how many. They live as long as
 * the graph. NULL for a wrong id. Any thread. */
TEM_API const uint32_t *tem_graph_parents(const tem_graph *graph, uint32_t id, uint32_t *count);

/* ------------------------------------------------- points in the Poincaré ball -- */

/* A point for each word of a graph: at most TEM_POINCARE_DIMENSIONS_MAX numbers, of Euclidean
 * length below 1. The distance of two points is
 *     acosh(1 + 2 |u - v|^2 / ((1 - |u|^2) (1 - |v|^2))). */
typedef struct tem_poincare tem_poincare;

#define TEM_POINCARE_DIMENSIONS_MAX 1024u
#define TEM_POINCARE_NEGATIVES_MAX 10000u
#define TEM_POINCARE_EPOCHS_MAX 1000000u
#define TEM_POINCARE_RATE_MAX 1000

/* Training keeps points within the length 1 - TEM_POINCARE_MARGIN: nearer to 1 the distance loses
 * its digits. The largest distance of two such points is 24.4. */
#define TEM_POINCARE_MARGIN 1e-5

/* Told after each epoch, from the thread that called: the number of epochs that are over, and the
 * mean loss per edge in that epoch. */
typedef void tem_epoch_fn(void *context, uint32_t epoch, double loss);

/* How to train. 0 in a field means its default. */
typedef struct tem_poincare_options {
    uint32_t dimensions;  /* 1 to TEM_POINCARE_DIMENSIONS_MAX; 0: 10 */
    uint32_t epochs;      /* passes over all edges, at most TEM_POINCARE_EPOCHS_MAX; 0: 200 */
    uint32_t negatives;   /* drawn per edge, at most TEM_POINCARE_NEGATIVES_MAX; 0: 50 */
    uint32_t burn_in;     /* of the epochs, this many come first and have a tenth of the rate, so
                           * that the points find their directions while they are near the center;
                           * words with many children first, because they are the negatives;
                           * fewer than the epochs; 0: a tenth of the epochs */
    double rate;          /* of the steps, above 0, at most TEM_POINCARE_RATE_MAX; 0: 0.1 */
    uint64_t seed;        /* of the random numbers */
    tem_epoch_fn *epoch;  /* or NULL */
    void *epoch_context;  /* for it */
    uint64_t reserved[4]; /* must be 0 */
} tem_poincare_options;

/* Gives the words of a graph points, by stochastic gradient descent. Points begin near the center.
 * In an epoch, tem takes each edge (child u, parent v) once, in random order; draws `negatives`
 * words v' with repetition from the words that are neither u nor a parent of u, uniformly or,
 * during the burn-in, as often as they are the parent of an edge (if 64 draws give u and its
 * parents only, uniformly); and makes a step against the Riemannian gradient of
 *     -ln(exp(-d(u, v)) / (exp(-d(u, v)) + sum over v' of exp(-d(u, v'))))
 * for u, v and all v': the Euclidean gradient times (1 - |x|^2)^2 / 4, times the rate. Points that
 * get too long are shortened to 1 - TEM_POINCARE_MARGIN. An edge of a word that is linked to every
 * other word has no such v'; tem leaves the edge out.
 *   options   NULL: all defaults
 *   loss      unless NULL, receives the mean loss per edge in the last epoch
 * Uses one thread, whatever run->threads says: so the same graph, options and seed give the same
 * points, bit by bit, on every machine. Reports progress in edges.
 * Fails with TEM_ERR_ARGUMENT (also: an option out of its range, a NaN); TEM_ERR_RANGE (every edge
 * is left out), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. The caller frees *points with
 * tem_poincare_free. */
TEM_API tem_status tem_poincare_train(const tem_graph *graph, const tem_poincare_options *options,
                                      const tem_run *run, tem_poincare **points, double *loss,
                                      tem_error *error);
TEM_API void tem_poincare_free(tem_poincare *points);

/* Reads the points of all words of a graph from a file of word2vec's text format, plain or gzip: a
 * line with the number of words and of dimensions, then per line a word and its numbers, separated
 * by a blank each. Words that the graph does not have are left out.
 * Fails with TEM_ERR_ARGUMENT; TEM_ERR_FILE; TEM_ERR_FORMAT, with the line: a line that is not as
 * above, a point that is not of a length below 1, a word a second time, fewer words than the first
 * line says; or without a line: a word of the graph that the file does not have; TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. */
TEM_API tem_status tem_poincare_load(const char *path, const tem_graph *graph, const tem_run *run,
                                     tem_poincare **points, tem_error *error);

/* Writes the points in that format, which tem_vectors_load reads, in the order of the ids of the
 * graph that they were made for. Numbers have 17 significant digits, from which tem_poincare_load
 * gets the same points. The file appears when it is complete.
 * Fails with TEM_ERR_ARGUMENT (also: the graph has another number of words than the points),
 * TEM_ERR_EXISTS, TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_poincare_save(const tem_poincare *points, const tem_graph *graph,
                                     const char *path, tem_overwrite overwrite, const tem_run *run,
                                     tem_error *error);

/* The numbers per point, 0 for NULL; and the point of the word with this id, which lives as long as
 * `points`, NULL for a wrong id. Any thread. */
TEM_API uint32_t tem_poincare_dimensions(const tem_poincare *points);
TEM_API const double *tem_poincare_point(const tem_poincare *points, uint32_t id);

/* ----------------------------------------------------- what points keep of a graph -- */

/* Reconstruction as Nickel and Kiela measure it. For a word u with parents, the rank of a parent v
 * is 1 plus the number of words that are neither u nor a parent of u and are as near to u as v, or
 * nearer. The precision at v is the share of parents among all words, except u, that are as near to
 * u as v, or nearer. */
typedef struct tem_reconstruction {
    uint64_t words;       /* with parents */
    uint64_t edges;       /* pairs of a word and a parent */
    double mean_rank;     /* over all edges; 1 is perfect */
    double map;           /* mean average precision: the mean over u of the mean precision over its
                           * parents; 1 is perfect */
    uint64_t reserved[4]; /* 0 */
} tem_reconstruction;

/* Computes both from all pairs of words. The result does not depend on the number of threads.
 * Fails with TEM_ERR_ARGUMENT (also: the graph has another number of words than the points),
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: n^2 distances; 82,115 words in 10 dimensions take about
 * a minute of CPU time. */
TEM_API tem_status tem_poincare_reconstruct(const tem_poincare *points, const tem_graph *graph,
                                            const tem_run *run, tem_reconstruction *result,
                                            tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
