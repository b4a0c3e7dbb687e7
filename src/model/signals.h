/* signals.h - the signals of an adapted model, and their bytes in its file.
 *
 * An adapted model has one column per signal, after the columns of the model that was adapted. A
 * section of the file says where the signals come from. Nothing is drawn by that section, and it
 * may be hostile: a reader accepts only what a writer can have written. */
#ifndef MODEL_SIGNALS_H
#define MODEL_SIGNALS_H

#include "core/hash.h"
#include "tem_adapt.h"

#include <stdbool.h>

/* No signal is learned from fewer words or texts. */
enum { SIGNAL_USED_LEAST = 20 };

typedef struct model_signals {
    uint32_t count; /* 0: the model is not adapted, and all other fields are 0 */
    double stretch, squash;
    double unit; /* the difference in a column between words whose signals differ by 1 */
    unsigned char base[CORE_HASH_BYTES]; /* model_space_hash of the model that was adapted */
    tem_signal *list;                    /* `count` signals; owned */
    unsigned char *bytes;                /* of the section; owned */
    size_t byte_count;
} model_signals;

/* Makes the bytes of signals whose other fields are set. TEM_ERR_MEMORY. */
tem_status signals_write(model_signals *signals, tem_error *error);

/* Reads the bytes of a section. Fails with TEM_ERR_DAMAGED if no tem can have written them, or with
 * TEM_ERR_MEMORY. */
tem_status signals_read(const unsigned char *bytes, size_t count, model_signals *signals,
                        tem_error *error);

void signals_free(model_signals *signals);

#endif
