/* slopes.h - the pairs of words between which ln Z is steepest.
 *
 * The slope of a pair is |ln Z(a) - ln Z(b)| / min(d(a, b), gamma), for d > 0. It is at most s, by
 * the triangle inequality; the realised loss is s plus the largest slope (docs/PRIVACY.md).
 *
 * In a euclidean space most pairs are never looked at. Words are put in the order of ln Z and cut
 * into blocks. Between a word and a block ln Z differs by a known number at most, so a slope at
 * or above the floor needs a distance that is small; and codes (space/codes.h) prove for nearly
 * all pairs that theirs is larger. Other metrics: every pair is looked at.
 *
 * PRIVACY: a pair that is left out has a slope below the floor. */
#ifndef AUDIT_SLOPES_H
#define AUDIT_SLOPES_H

#include "audit/partition.h"
#include "index/neighbours.h"

typedef struct slope {
    double most, least; /* bounds */
    uint32_t a, b;      /* a < b */
    tem_dist distance;
} slope;

/* The bounds for a pair at a distance above 0. */
slope slope_of(const partition *z, uint32_t a, uint32_t b, tem_dist distance);

/* Pairs with a bound at or above the floor, the steepest first (by most, then a, b). */
typedef struct steep_pairs {
    slope *list;
    uint32_t count;
    double left_out;   /* no pair with a bound at or above the floor that is not in the list, for
                        * want of room, has one above this; 0: there is none. Like the list, the
                        * same for any number of threads */
    uint64_t examined; /* pairs whose distance was looked at */
} steep_pairs;

/* All pairs of words. floor 0: none is left out without a look. TEM_ERR_MEMORY or
 * TEM_ERR_CANCELLED. Free with steep_pairs_free. */
tem_status slopes_find(const space *s, const partition *z, double floor, const tem_run *run,
                       steep_pairs *out, tem_error *error);
void steep_pairs_free(steep_pairs *pairs);

/* The largest `least` of the pairs in the lists of the index; 0 if there are none.
 * TEM_ERR_DAMAGED or TEM_ERR_CANCELLED. */
tem_status slopes_near(const neighbour_index *index, const partition *z, const tem_run *run,
                       double *out, tem_error *error);

/* Looks at every pair: the largest `most` of those in each of `ranges` equal ranges of distance
 * from 0 to gamma, and of those beyond gamma in out[ranges]; 0 where there is none.
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status slopes_by_distance(const space *s, const partition *z, uint32_t ranges,
                              const tem_run *run, double *out, tem_error *error);

#endif
