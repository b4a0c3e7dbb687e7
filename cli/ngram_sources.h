/* ngram_sources.h - what 'tem ngram' reads: public texts, n-grams, and mixtures of them. */
#ifndef CLI_NGRAM_SOURCES_H
#define CLI_NGRAM_SOURCES_H

#include "options.h"
#include "tem_attack.h"

enum { NGRAM_TEXTS_MAX = 64 };

typedef struct ngram_sources {
    const char *texts[NGRAM_TEXTS_MAX]; /* or one file of n-grams */
    size_t text_count;
    option_list mix; /* SHARE=FILE */
    uint64_t order;  /* of texts; 0: the default */
} ngram_sources;

/* Whether a file has n-grams, by its name, or "english"; else it is a text. */
bool ngram_source_is_file(const char *path);

/* Checks what the user has named; returns an exit status, after printing what is wrong. */
int ngram_sources_check(const ngram_sources *s);

/* Whether "english" is there, where it is meant, and is not the file to write; prints why not. Call
 * it after default_model_open, and before ngram_sources_read. */
bool ngram_sources_find(const ngram_sources *s, const char *output);

/* Reads and mixes all of them. `counted` receives what the texts without a share had. Fails as
 * tem_ngram_train, tem_ngram_load and tem_ngram_mix. */
tem_status ngram_sources_read(const ngram_sources *s, const tem_model *model, const tem_run *run,
                              tem_ngram **ngram, tem_ngram_info *counted, tem_error *error);

#endif
