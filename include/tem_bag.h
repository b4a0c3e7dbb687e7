/* tem_bag.h - how far two documents are apart: the Earth Mover's distance of their words.
 *
 * A bag is a document without the order of its words: each word and how often it occurs. The Earth
 * Mover's distance of two bags is the least cost of turning one into the other, where moving one
 * word to the place of another costs their distance in the model (Fernandes, Dras, McIver 2019;
 * Word Mover's Distance, Kusner and others 2015).
 *
 * It is the distance of the guarantee for documents: if tem replaces each word with epsilon and
 * releases the words in a random order or as counts (tem_order in tem.h), then two documents of N
 * words each have a loss of at most epsilon times `matching` below, which is N times their Earth
 * Mover's distance (docs/PRIVACY.md, "Documents without order").
 *
 * The rules of tem.h hold here, too. */
#ifndef TEM_BAG_H
#define TEM_BAG_H

#include "tem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most words of one document, unknown words included. */
#define TEM_BAG_WORDS_MAX 0x7fffffffu

/* How to measure. NULL, or a field of 0, means the default. */
typedef struct tem_bag_options {
    tem_dist gamma; /* cut all distances at this one. An unknown word then counts as a word at this
                     * distance from every word of the model, and at distance 0 from other unknown
                     * words, as the mechanisms treat it. Take the gamma_steps of
                     * tem_mechanism_info. 0: distances are not cut, unknown words have none, and
                     * the call leaves them out */
    uint64_t reserved[4]; /* must be 0 */
} tem_bag_options;

/* A bag: what the call has found in a document. */
typedef struct tem_bag_info {
    uint64_t words;       /* that count for the distance; without gamma, known words only */
    uint64_t unknown;     /* unknown words, whether they count or not */
    uint32_t distinct;    /* different words among `words`; with gamma, all unknown words are one */
    uint64_t reserved[4]; /* 0 */
} tem_bag_info;

/* The distance of two bags. With A = a.words and B = b.words, each occurrence of a word weighs 1/A
 * in the first bag and 1/B in the second, so that both bags weigh 1. */
typedef struct tem_bag_distance {
    tem_bag_info a, b;
    double distance; /* the Earth Mover's distance, rounded to the nearest double; in units of
                      * distance, not in steps */
    /* The same exactly: numerator / denominator in steps of 2^-16. The numerator is
     * numerator_high * 2^64 + numerator_low, an integer below 2^94. The denominator is the least
     * common multiple of A and B. */
    uint64_t numerator_high, numerator_low, denominator;
    int has_matching;  /* 1 if both documents have the same number of words: A = B and, without
                        * gamma, as many unknown words */
    uint64_t matching; /* then the least sum of distances, in steps of 2^-16, over all ways to match
                        * the words of both documents one to one: A times the distance; else 0.
                        * Without gamma, unknown words are matched with each other, at distance
                        * 0 */
    uint64_t reserved[8]; /* 0 */
} tem_bag_distance;

/* Computes the Earth Mover's distance of two documents. It is exact: tem solves the transport
 * problem in integers, and checks a proof that no cheaper solution exists before it returns (prices
 * whose sum is the cost). It is 0 exactly if the bags, each with weight 1, are equal, up to words
 * at distance 0 from each other.
 *   a, b      the words of each document in any order: ids, and TEM_NO_WORD for unknown words, as
 *             tem_model_pieces finds them
 *   options   NULL: all defaults
 *   distance  receives the result
 * Fails with TEM_ERR_ARGUMENT (an id out of range; a document that has no word which counts),
 * TEM_ERR_RANGE (more than TEM_BAG_WORDS_MAX words; more than 2^20 different words in both
 * documents together), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Any thread. Memory: 4 bytes for each pair
 * of different words. Cost: 2,000 different words in each document take about a second. */
TEM_API tem_status tem_bag_measure(const tem_model *model, const uint32_t *a, size_t a_count,
                                   const uint32_t *b, size_t b_count,
                                   const tem_bag_options *options, const tem_run *run,
                                   tem_bag_distance *distance, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
