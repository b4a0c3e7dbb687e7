/* near_field.h - which field of a header or record a mistyped name may mean, for messages.
 *
 * PRIVACY: names of fields are public and values are not, but a file without a header has values in
 * its first line. So a message repeats a name only if the user typed it with at most one wrong
 * letter, or its beginning, and repeats the other names only where the user typed one of them,
 * apart from capitals. */
#ifndef RECORDS_NEAR_FIELD_H
#define RECORDS_NEAR_FIELD_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAR_FIELD_BYTES = 64, NEAR_FIELDS_BYTES = 96, NEAR_FIELD_TEXT_BYTES = 240 };

typedef struct near_field {
    const char *wanted;
    unsigned edits;                 /* of the nearest name */
    char nearest[NEAR_FIELD_BYTES]; /* "": no name is near */
    char all[NEAR_FIELDS_BYTES];    /* the names, those that fit */
    unsigned left_out;              /* names that do not fit, or that a terminal would not show */
} near_field;

near_field near_field_for(const char *wanted);

/* Looks at the name of one field. */
void near_field_look(near_field *n, const char *name, size_t bytes);

/* Writes '; did you mean "text"?' and perhaps the other names; "" if no name is near. Returns
 * whether one is. */
bool near_field_say(const near_field *n, char text[NEAR_FIELD_TEXT_BYTES]);

#endif
