/* emission.h - the likelihood P(y | w) of all inputs w for one output y.
 *
 * Attackers need this column of the matrix of all laws. It has four sources: the exponential law,
 * from the distances, exact and fast; the columns of a mechanism that computes them; the rows of
 * one that computes these alone; and, for every other mechanism, what somebody learns from pairs
 * (learned_law.h). An input is a word of the model or, as the last one, an unknown word. */
#ifndef ATTACK_EMISSION_H
#define ATTACK_EMISSION_H

#include "compare/learned_law.h"
#include "learn/channel.h"

typedef struct emission emission;

/* Memory that one thread needs while it asks for likelihoods. */
typedef struct emission_room {
    tem_dist *distances;
} emission_room;

/* Prepares likelihoods, as tem_attack_create describes it. `shares` are those of all inputs. Free
 * with emission_free. */
tem_status emission_create(const tem_mechanism *mechanism, const double *shares, uint64_t pairs,
                           const tem_run *run, emission **out, tem_error *error);
void emission_free(emission *e);

/* Prepares likelihoods by pairs that it draws, or by rows, also for a mechanism with another law:
 * tests compare them with it. `row` writes the law of one input. */
tem_status emission_by_drawing(const tem_mechanism *mechanism, const double *shares, uint64_t pairs,
                               const tem_run *run, emission **out, tem_error *error);

typedef tem_status emission_row(const void *state, uint32_t word, double *probabilities,
                                tem_error *error);
tem_status emission_by_rows(const tem_model *model, emission_row *row, const void *state,
                            const double *shares, const tem_run *run, emission **out,
                            tem_error *error);

/* Prepares likelihoods by pairs that somebody else drew, at least one, and sorts them. Every word
 * of the model may be an output. */
tem_status emission_by_pairs(const tem_model *model, drawn_pair *pairs, uint64_t count,
                             const tem_run *run, emission **out, tem_error *error);

bool emission_room_init(emission_room *room, const emission *e);
void emission_room_free(emission_room *room);

/* Whether the mechanism can output y. */
bool emission_has(const emission *e, uint32_t y);

/* Writes P(y | w) of all inputs, words + 1 numbers. */
void emission_likelihoods(const emission *e, emission_room *room, uint32_t y, double *out);

#endif
