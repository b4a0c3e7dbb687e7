/* search.h - the words that are nearest to a word, and those within a distance of it.
 *
 * The answer is exact and has one order, (distance, id). A search looks at all words, unless the
 * list of the word in the index already has the answer. */
#ifndef INDEX_SEARCH_H
#define INDEX_SEARCH_H

#include "index/neighbours.h"

/* Finds the k nearest words of each of `count` words, themselves included. The ids are below the
 * number of words, and k is 1 to that number.
 *   index   its lists are used where they are long enough. NULL: the lists are not trusted, and
 *           every search looks at all words
 *   found   receives k neighbors for each word, one word after the other
 * Fails with TEM_ERR_MEMORY, TEM_ERR_DAMAGED (a list of the index) or TEM_ERR_CANCELLED; then
 * `found` is unspecified. */
tem_status search_nearest(const space *s, const neighbour_index *index, const uint32_t *words,
                          size_t count, uint32_t k, const tem_run *run, tem_neighbour *found,
                          tem_error *error);

/* Finds the words within `distance` of a word, itself included. found receives the `max` nearest of
 * them, *total receives the number of all of them. index and failures as above. */
tem_status search_within(const space *s, const neighbour_index *index, uint32_t word,
                         tem_dist distance, tem_neighbour *found, uint32_t max, uint32_t *total,
                         tem_error *error);

#endif
