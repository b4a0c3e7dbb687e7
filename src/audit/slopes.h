/* slopes.h - the pairs of words between which ln Z is steepest.
 *
 * The slope of a pair is |ln Z(a) - ln Z(b)| / min(d(a, b), gamma), for d > 0. By the triangle
 * inequality it is at most s. The realized loss is s plus the largest slope (docs/PRIVACY.md).
 *
 * In a euclidean space most pairs are never examined. The words are sorted by ln Z and cut into
 * blocks. Between a word and a block, ln Z differs by at most a known number. So a slope at or
 * above a floor needs a small distance, and codes (space/codes.h) prove for nearly all pairs that
 * their distance is larger. With the other metrics every pair is examined.
 *
 * PRIVACY: a pair that is missing from the list of slopes_find has a slope below the floor, or it
 * was dropped for want of room; then its slope is at most steep_pairs.left_out. */
#ifndef AUDIT_SLOPES_H
#define AUDIT_SLOPES_H

#include "audit/partition.h"
#include "index/neighbours.h"

typedef struct slope {
    double most, least; /* bounds on the slope */
    uint32_t a, b;      /* a < b */
    tem_dist distance;
} slope;

/* Computes the bounds of a pair at a distance above 0. */
slope slope_of(const partition *z, uint32_t a, uint32_t b, tem_dist distance);

/* Pairs whose bound `most` is at or above the floor, the steepest first (by most, then a, b). The
 * list and left_out are the same for any number of threads. */
typedef struct steep_pairs {
    slope *list;
    uint32_t count;
    double left_out;   /* the list has limited room, and pairs at or above the floor may be dropped
                        * from it: no dropped pair has a bound above this; 0: none was dropped */
    uint64_t examined; /* pairs whose distance was computed */
} steep_pairs;

/* Finds the steep pairs among all pairs of words. With a floor of 0 every pair is examined.
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. Free with steep_pairs_free. */
tem_status slopes_find(const space *s, const partition *z, double floor, const tem_run *run,
                       steep_pairs *out, tem_error *error);
void steep_pairs_free(steep_pairs *pairs);

/* Finds the largest bound `least` of the pairs in the lists of the index; 0 if there are no pairs.
 * TEM_ERR_MEMORY, TEM_ERR_DAMAGED or TEM_ERR_CANCELLED. */
tem_status slopes_near(const neighbour_index *index, const partition *z, const tem_run *run,
                       double *out, tem_error *error);

/* Examines every pair, and finds the largest bound `most` in each of `ranges` equal ranges of
 * distance from 0 to gamma; out[ranges] is for pairs beyond gamma. A range without pairs gets 0.
 * TEM_ERR_MEMORY or TEM_ERR_CANCELLED. */
tem_status slopes_by_distance(const space *s, const partition *z, uint32_t ranges,
                              const tem_run *run, double *out, tem_error *error);

#endif
