/* lock.h - files that several processes change take turns (flock). */
#ifndef IO_LOCK_H
#define IO_LOCK_H

#include "tem.h"

#include <stdbool.h>

/* Waits for the lock of an open file, telling the run's callback, as `stage`, while it waits.
 * TEM_ERR_FILE or TEM_ERR_CANCELLED. */
tem_status lock_wait(int descriptor, const char *path, bool shared, const char *stage,
                     const tem_run *run, tem_error *error);

/* Opens the regular file that has this name and waits for its lock, as lock_wait does. As long as it
 * is held, and everybody who replaces the file by a rename holds it, the file keeps its name.
 * *descriptor: -1 if there is no such file. Give it back with lock_close. */
tem_status lock_by_name(const char *path, const tem_run *run, int *descriptor, tem_error *error);
void lock_close(int descriptor);

#endif
