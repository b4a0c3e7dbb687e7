/* follows.h - what tests see of the mechanism in follows.c. */
#ifndef TESTS_FOLLOWS_H
#define TESTS_FOLLOWS_H

#include "mech/mechanism.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { FOLLOWS_PAST = 3 };

/* How many documents began and ended. */
typedef struct follows_watch {
    _Atomic(uint64_t) begun, ended;
} follows_watch;

extern follows_watch follows_seen;
extern const mechanism_ops mechanism_extra;

/* The output that follows a past, with `words` words in the vocabulary. */
uint32_t follows_next(uint32_t words, const released_past *past, uint32_t word);

#endif
