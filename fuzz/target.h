/* target.h - what each fuzz target defines; entry.c and replay.c call it. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs the target on one input, and aborts if a promise is broken. Returns whether tem accepts the
 * input as it is: the replay compares this with the name of the file. */
bool fuzz_input(const uint8_t *data, size_t size);

#endif
