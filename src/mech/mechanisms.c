/* mechanisms.c - the table of all mechanisms. */
#include "mech/mechanism.h"

#include <string.h>

#ifdef TEM_EXTRA_MECHANISM /* build option extra_mechanism: the user's own file */
extern const mechanism_ops mechanism_extra;
#endif

static const mechanism_ops *const mechanisms[] = {
    &mechanism_tem,
    &mechanism_em,
    &mechanism_madlib,
#ifdef TEM_EXTRA_MECHANISM
    &mechanism_extra,
#endif
};

const mechanism_ops *mechanism_at(unsigned i) {
    return i < sizeof mechanisms / sizeof *mechanisms ? mechanisms[i] : NULL;
}

const mechanism_ops *mechanism_find(const char *name) {
    for (unsigned i = 0; mechanism_at(i) != NULL; i++)
        if (strcmp(mechanisms[i]->properties.name, name) == 0)
            return mechanisms[i];
    return NULL;
}
