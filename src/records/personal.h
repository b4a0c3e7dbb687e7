/* personal.h - whether a field that tem does not change looks personal.
 *
 * A cheap public heuristic: a word in the name of the field, or the form of its values. It finds
 * what users forget most often, and misses much. Nothing that tem releases depends on it. */
#ifndef RECORDS_PERSONAL_H
#define RECORDS_PERSONAL_H

#include <stddef.h>
#include <stdint.h>

typedef enum personal_form {
    PERSONAL_MAIL, /* the value contains an e-mail address */
    PERSONAL_NETWORK,
    PERSONAL_SECURITY, /* a social security number of the USA */
    PERSONAL_CARD,
    PERSONAL_PHONE,
    PERSONAL_PERSON,   /* the name of a person: two capitalized words, such as "Ann Lee" */
    PERSONAL_SENTENCE, /* five words or more */
    PERSONAL_FORMS
} personal_form;

/* How many values of a field had each form. */
typedef struct personal_tally {
    uint64_t values; /* that are not empty */
    uint64_t forms[PERSONAL_FORMS];
} personal_tally;

/* Returns what a name suggests, such as "e-mail addresses"; NULL: nothing. Static string. */
const char *personal_by_name(const char *name, size_t bytes);

/* Adds a value to a tally. */
void personal_look(personal_tally *tally, const char *value, size_t bytes);

/* Returns what the values look like; NULL: nothing. Static string. One e-mail address is enough;
 * any other form needs half of the values. */
const char *personal_by_content(const personal_tally *tally);

#endif
