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

/* The order of the outputs around a word: first the word itself, if it is an output, then the other
 * outputs by (distance, id). The place of an output is how many outputs come before it.
 *   index     as above
 *   outputs   per word: 0 if it is no output, which has no place; NULL: all words are outputs
 * search_at sets *y to the output at a place, which must be below the number of outputs;
 * search_place sets *place to the place of the output y. O(1) by the list, else O(count) and a pass
 * over all distances. Both fail with TEM_ERR_ARGUMENT if there is no such output, TEM_ERR_DAMAGED,
 * TEM_ERR_MEMORY. Any thread. */
tem_status search_at(const space *s, const neighbour_index *index, const uint32_t *outputs,
                     uint32_t word, uint32_t place, uint32_t *y, tem_error *error);
tem_status search_place(const space *s, const neighbour_index *index, const uint32_t *outputs,
                        uint32_t word, uint32_t y, uint32_t *place, tem_error *error);

#endif
