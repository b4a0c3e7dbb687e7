/* point_search.h - the nearest word of points anywhere, exactly.
 *
 * With z a point and w a word's vector, both less the centre of the codes (codes.h), the
 * nearest word has the largest g(w) = z w - |w|^2 / 2. Let w = step c + r with c its code and
 * z = scale k + q with k a code of the point. Then
 *
 *     g(w)  =  scale step (k c)  +  step (q c)  +  z r  -  |w|^2 / 2
 *          <=  scale step (k c)  +  |q| step |c|  +  |z| |r|  -  |w|^2 / 2             (*)
 *
 * by Cauchy and Schwarz. Only a word whose bound (*) is not below the best g so far is looked
 * at; the products k c of all words are what the machine does fastest. The largest |q| and
 * |z| of a batch of points stand for all of them. */
#ifndef MECH_POINT_SEARCH_H
#define MECH_POINT_SEARCH_H

#include "space/codes.h"

/* Points are in units of the grid, their values below this in size. */
enum { POINT_SEARCH_BITS = 50 };

typedef struct searched_word {
    uint64_t square;    /* of the length of the row as it is */
    double half_square; /* |w|^2 / 2 */
    float code_length;  /* step |c|, rounded up */
    float residual;     /* |r|, rounded up */
} searched_word;

typedef struct point_search {
    const space *space; /* euclidean */
    codes codes;        /* slot i: word i */
    searched_word *words;
} point_search;

/* TEM_ERR_MEMORY only. Free with point_search_free. */
tem_status point_search_init(point_search *n, const space *s, tem_error *error);
void point_search_free(point_search *n);

/* The nearest word of each of `count` points of the space's dimension; ties by id.
 * TEM_ERR_MEMORY. Any thread. */
tem_status point_search_run(const point_search *n, const int64_t *points, size_t count,
                            uint32_t *words, tem_error *error);

#endif
