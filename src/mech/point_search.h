/* point_search.h - finds the nearest word of arbitrary points, exactly.
 *
 * Let z be a point and w a word's vector, both minus the center of the codes (codes.h). The nearest
 * word has the largest g(w) = z w - |w|^2 / 2. Let w = step c + r, where c is the code of the word,
 * and z = scale k + q, where k is a code of the point. Then
 *
 *     g(w)  =  scale step (k c)  +  step (q c)  +  z r  -  |w|^2 / 2
 *          <=  scale step (k c)  +  |q| step |c|  +  |z| |r|  -  |w|^2 / 2             (*)
 *
 * by Cauchy and Schwarz. The search computes g only for words whose bound (*) is not below the best
 * g so far. The bound is cheap: the machine computes the products k c of all words faster than
 * anything else. All points of a batch share one |q| and one |z|, the largest of the batch. */
#ifndef MECH_POINT_SEARCH_H
#define MECH_POINT_SEARCH_H

#include "space/codes.h"

/* Points are in units of the grid. The size of each value is below 2^POINT_SEARCH_BITS. */
enum { POINT_SEARCH_BITS = 50 };

typedef struct searched_word {
    uint64_t square;    /* of the row's length, without the center subtracted */
    double half_square; /* |w|^2 / 2 */
    float code_length;  /* step |c|, rounded up */
    float residual;     /* |r|, rounded up */
} searched_word;

typedef struct point_search {
    const space *space; /* euclidean */
    codes codes;        /* slot i holds word i */
    searched_word *words;
    const uint32_t *outputs; /* 0: the word is left out; NULL: none is; not owned */
} point_search;

/* Prepares a search among the words of a euclidean space. outputs: 0 for every word that is left
 * out, at least one of which is not 0; it must live as long as the search. NULL: no word is left
 * out. Fails with TEM_ERR_MEMORY only. Free with
 * point_search_free. */
tem_status point_search_init(point_search *n, const space *s, const uint32_t *outputs,
                             tem_error *error);
void point_search_free(point_search *n);

/* Sets words[i] to the nearest word of point i that is not left out, for `count` points of the
 * space's dimension; the lower id wins a tie. Fails with TEM_ERR_MEMORY. Any thread. */
tem_status point_search_run(const point_search *n, const int64_t *points, size_t count,
                            uint32_t *words, tem_error *error);

/* The two words nearest to a point, in the order (distance, id), and their distances from it, which
 * are exact up to the last bits of a double. TEM_NO_WORD: there is none. */
typedef struct point_two {
    uint32_t first, second;
    double first_distance, second_distance;
} point_two;

/* Sets two[i] to the two nearest words of point i that are not left out. left_out: for each point a
 * word that is left out for this point alone; NULL: none. The result reveals the points: the caller
 * erases it. Fails with TEM_ERR_MEMORY. Any thread. */
tem_status point_search_run_two(const point_search *n, const int64_t *points, size_t count,
                                const uint32_t *left_out, point_two *two, tem_error *error);

#endif
