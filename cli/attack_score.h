/* attack_score.h - how many words an attacker recovers: of all words, by how frequent they are, and
 * of lists of words. */
#ifndef CLI_ATTACK_SCORE_H
#define CLI_ATTACK_SCORE_H

#include "attack_text.h"
#include "options.h"

#include <jansson.h>

/* Groups of words of the vocabulary; a word may be in several. */
typedef struct score_groups {
    char **names;
    bool **members; /* per group: per word of the model */
    uint32_t count;
} score_groups;

/* Makes the groups: all words, four bands of ranks by `shares`, words with a digit, and a group for
 * each NAME=FILE of `lists`. Returns an exit status; prints what went wrong. Free with
 * score_groups_free, also after a failure. */
int score_groups_make(const tem_model *model, const double *shares, uint32_t words,
                      const option_list *lists, bool quiet, score_groups *out);
void score_groups_free(score_groups *groups);

/* What one attacker has guessed. */
typedef struct attack_score {
    const char *attacker;
    const uint32_t *guesses; /* per word of the text */
    double expected;         /* mean success that the attacker expects; NaN: it does not know */
} attack_score;

/* Prints a table: a row per group, a column per attacker. Without an original it has only what the
 * attackers expect. */
void score_print(const attack_text *text, const score_groups *groups, const attack_score *scores,
                 uint32_t count);

/* One attacker as JSON; NULL if memory is short. */
json_t *score_as_json(const attack_text *text, const score_groups *groups,
                      const attack_score *score);

#endif
