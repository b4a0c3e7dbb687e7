/* failure.h - errors of eval/: as in tem.h, a status, and the reason in the caller's tem_error. */
#ifndef EVAL_FAILURE_H
#define EVAL_FAILURE_H

#include "tem.h"

/* Fills *error unless it is NULL; returns the status. */
__attribute__((format(printf, 3, 4))) tem_status eval_fail(tem_error *error, tem_status status,
                                                           const char *format, ...);

/* The same for a place in a file; line 0 means the file as a whole. With TEM_ERR_FILE the message
 * ends with the operating system's reason. */
__attribute__((format(printf, 5, 6))) tem_status eval_fail_at(tem_error *error, tem_status status,
                                                              const char *file, uint64_t line,
                                                              const char *format, ...);

tem_status eval_out_of_memory(tem_error *error);

/* Calls the run's callback, if there is one; TEM_ERR_CANCELLED if it asks to stop. */
tem_status eval_progress(const tem_run *run, const char *stage, uint64_t done, uint64_t total,
                         tem_error *error);

#endif
