/* source_watch.c - whether an input is a text that the language model was made of. */
#include "job/source_watch.h"

#include "core/status.h"
#include "io/stream.h"

#include <string.h>

tem_status source_watch_open(source_watch *w, const tem_mechanism *mechanism, tem_error *error) {
    const tem_language *language = mechanism->context.language;
    *w = (source_watch){.bytes = 0};
    return language == NULL || language->ops->sources == NULL
               ? TEM_OK
               : language->ops->sources(language->state, &w->sources, error);
}

void source_watch_begin(source_watch *w) {
    w->bytes = 0;
    if (w->sources.count > 0)
        crypto_generichash_init(&w->hash, NULL, 0, CORE_HASH_BYTES);
}

void source_watch_pass(source_watch *w, const char *data, size_t size) {
    w->bytes += size;
    if (w->sources.count > 0 && size > 0)
        crypto_generichash_update(&w->hash, (const unsigned char *)data, size);
}

/* Whether what was passed is one of the texts. PRIVACY: forgets what it has seen of it. */
static bool is_source(source_watch *w) {
    source_text seen = {.bytes = w->bytes};
    if (w->sources.count == 0)
        return false;
    crypto_generichash_final(&w->hash, seen.hash, sizeof seen.hash);
    sodium_memzero(&w->hash, sizeof w->hash);
    return text_sources_have_text(&w->sources, &seen);
}

void source_watch_end(source_watch *w, const char *name) {
    if (is_source(w))
        w->found = name;
}

tem_status source_watch_refuse(const source_watch *w, tem_error *error) {
    return w->found == NULL
               ? TEM_OK
               : core_fail_at(error, TEM_ERR_ARGUMENT, w->found, 0, 0,
                              "the language model was made of this very text, and shows much of "
                              "it: take one that was made of other texts");
}

void source_watch_close(source_watch *w) {
    sodium_memzero(&w->hash, sizeof w->hash);
}

/* ---- files ---- */

/* Passes all of an input to the watch, unless it is not compressed and has another size than all of
 * the texts: then *differs. */
static tem_status pass_all(source_watch *w, stream_input *in, uint64_t file_bytes, bool *differs,
                           tem_error *error) {
    enum { PART_BYTES = 1 << 20 };
    do {
        TRY(stream_input_fill(in, PART_BYTES, error));
        *differs = in->unpacker.state == NULL && !text_sources_have_size(&w->sources, file_bytes);
        source_watch_pass(w, in->data.data, in->data.size);
        stream_input_drop(in, in->data.size);
    } while (!*differs && !in->at_end);
    return TEM_OK;
}

static tem_status check_file(const source_watch *watch, const char *path, const tem_run *run,
                             tem_error *error) {
    source_watch w = {.sources = watch->sources};
    stream_input in;
    bool differs = true;
    int64_t start = 0;
    const uint64_t bytes = stream_reread_bytes(path, &start);
    if (bytes == 0)
        return TEM_OK;
    TRY(stream_input_open(&in, path, run, error));
    source_watch_begin(&w);
    const tem_status status = pass_all(&w, &in, bytes, &differs, error);
    stream_input_close(&in);
    source_watch_end(&w, strcmp(path, "-") == 0 ? "standard input" : path);
    TRY(status);
    TRY(stream_rewind(&path, 1, start, error));
    return differs ? TEM_OK : source_watch_refuse(&w, error);
}

tem_status source_watch_check(const source_watch *w, const char *const *paths, size_t count,
                              const tem_run *run, tem_error *error) {
    const char *const standard = "-";
    if (count == 0)
        return source_watch_check(w, &standard, 1, run, error);
    for (size_t i = 0; w->sources.count > 0 && i < count; i++)
        TRY(check_file(w, paths[i], run, error));
    return TEM_OK;
}
