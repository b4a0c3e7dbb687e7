/* reserved.h - checks the fields of option structs that are reserved for later versions. */
#ifndef CORE_RESERVED_H
#define CORE_RESERVED_H

#include "tem.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether any of these fields, so many bytes, is not 0. If so, *error says that the program was
 * made for a newer tem. */
bool core_reserved_is_used(const void *reserved, size_t bytes, tem_error *error);

/* The same for a struct, which may be NULL. A call that takes options begins with
 *     if (is_for_newer(options, error))
 *         return TEM_ERR_ARGUMENT;
 * because tem must refuse an option that it does not know: the caller relies on it. */
#define is_for_newer(options, error)                                                               \
    ((options) != NULL &&                                                                          \
     core_reserved_is_used((options)->reserved, sizeof(options)->reserved, error))

/* The same for a job and the text options in it. */
static inline bool job_is_for_newer(const tem_job *job, tem_error *error) {
    const tem_text_options *text = job == NULL ? NULL : &job->text;
    return is_for_newer(job, error) || is_for_newer(text, error);
}

#endif
