/* source_watch.h - whether an input is a text that the language model was made of.
 *
 * PRIVACY: a language model is public, and tells whoever has it which words follow which in the
 * texts behind it. No bound covers that. So a run refuses a file whose content is one of these
 * texts, before it releases a word. A pipe shows its content only as it is read: there a run fails
 * at the end and leaves no output file. What is on standard output cannot be taken back, so there
 * the counts of the run say it. */
#ifndef JOB_SOURCE_WATCH_H
#define JOB_SOURCE_WATCH_H

#include "mech/model_mechanism.h"

#include <sodium.h>

typedef struct source_watch {
    text_sources sources; /* without texts there is nothing to look for */
    crypto_generichash_state hash;
    uint64_t bytes;    /* of the input that is being read */
    const char *found; /* the name of an input that was such a text; NULL: none was */
} source_watch;

/* Fails as the language model does. */
tem_status source_watch_open(source_watch *w, const tem_mechanism *mechanism, tem_error *error);

/* Reads regular files whose size may be that of such a text, standard input too if it is one, and
 * rewinds it. Fails as source_watch_refuse does if one is such a text, or as a stream_input does.
 * No paths: standard input. */
tem_status source_watch_check(const source_watch *w, const char *const *paths, size_t count,
                              const tem_run *run, tem_error *error);

/* Fails with TEM_ERR_ARGUMENT if an input was such a text. */
tem_status source_watch_refuse(const source_watch *w, tem_error *error);

/* An input begins; some of its content, unpacked, was read; it has ended. The name must outlive the
 * watch. */
void source_watch_begin(source_watch *w);
void source_watch_pass(source_watch *w, const char *data, size_t size);
void source_watch_end(source_watch *w, const char *name);

/* Forgets what it has seen of an input that has not ended. */
void source_watch_close(source_watch *w);

#endif
