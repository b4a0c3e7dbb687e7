/* must.h - ends the program where a test program cannot go on. */
#ifndef TESTS_MUST_H
#define TESTS_MUST_H

#include "tem.h"

#include <stdio.h>
#include <stdlib.h>

static inline void *need(void *block) {
    if (block == NULL)
        abort();
    return block;
}

static inline void check(tem_status status, const tem_error *error) {
    if (status == TEM_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

#endif
