/* web_language.c - makes the language model of the web from its packed n-grams.
 *
 * WEB_LANGUAGE_HASH: BLAKE2b-256 of the only file of n-grams that this module accepts, in hex.
 *
 * The weights come from floating point, which WebAssembly defines to the last bit. So every browser
 * makes the same language model; a test compares its hash with that of `tem ngram`. Shipped as it
 * is drawn from, it would have 13.7 MB instead of 2.9. */
#include "bridge.h"

#include "core/memory.h"
#include "core/status.h"
#include "language/language_file.h"
#include "language/ngram_listed.h"

static const tem_language_options options = {
    .name = "english-small",
    .origin = "data/english-small.temng of tem, from the language model of CMU Sphinx",
    .license = "BSD, two clauses, of CMU Sphinx: see LICENSE-english.txt",
};

static tem_status read_ngrams(const tem_model *model, const char *bytes, size_t size,
                              tem_ngram **out, tem_error *error) {
    const file_view file = {.data = bytes, .size = size};
    ngram_listed listed;
    tem_status status = ngram_listed_begin(&listed, model, "", error);
    if (status == TEM_OK)
        status = ngram_read_packed(&file, NULL, &listed, error);
    if (status == TEM_OK)
        *out = ngram_listed_take(&listed);
    ngram_listed_free(&listed);
    return status;
}

tem_status web_model_load_language(web_model *m, const char *bytes, size_t size, tem_error *error) {
    tem_ngram *ngram = NULL;
    TRY(web_check_hash(bytes, size, WEB_LANGUAGE_HASH,
                       "the language model is not the one that this module was built with", error));
    TRY(read_ngrams(m->tem, bytes, size, &ngram, error));
    const tem_status status = language_make(ngram, &options, NULL, &m->language, error);
    ngram_free(ngram);
    return status;
}
