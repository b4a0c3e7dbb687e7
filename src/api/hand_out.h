/* hand_out.h - a text that a public call has made, as its caller receives it. */
#ifndef API_HAND_OUT_H
#define API_HAND_OUT_H

#include "core/buffer.h"
#include "core/status.h"

/* Adds NUL to the content of a buffer and moves it to *text, for tem_text_free; *bytes receives its
 * length without the NUL. Frees the buffer in any case. If `status` is a failure, or memory runs
 * out, returns that and touches nothing else. */
static inline tem_status hand_out(core_buffer *out, tem_status status, char **text, size_t *bytes,
                                  tem_error *error) {
    const size_t size = out->size;
    if (status == TEM_OK && !core_buffer_add(out, "", 1))
        status = core_fail_memory(error);
    char *made = status == TEM_OK ? core_buffer_take(out) : NULL;
    if (status == TEM_OK && made == NULL)
        status = core_fail_memory(error);
    if (status == TEM_OK) {
        *text = made;
        *bytes = size;
    }
    core_buffer_free(out);
    return status;
}

#endif
