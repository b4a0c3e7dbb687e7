/* language_make.c - makes language models, and writes the bytes of their files. */
#include "language/language_file.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- bytes -- */

typedef struct table_view {
    enum language_part part;
    const void *numbers;
} table_view;

static void put_tables(const levels *l, const text_sources *sources, const language_layout *layout,
                       char *bytes) {
    const table_view tables[] = {{PART_SOURCES, sources->texts},
                                 {PART_LINES, sources->lines},
                                 {PART_IDS, l->ids},
                                 {PART_E1, l->e1},
                                 {PART_TWO_STARTS, l->two.starts},
                                 {PART_TWO_FACTORS, l->two.factors},
                                 {PART_TWO_NUMBERS, l->two.numbers},
                                 {PART_TWO_SUMS, l->two.sums},
                                 {PART_PAIR_STARTS, l->pair_starts},
                                 {PART_PAIR_SECONDS, l->pair_seconds},
                                 {PART_THREE_STARTS, l->three.starts},
                                 {PART_THREE_FACTORS, l->three.factors},
                                 {PART_THREE_NUMBERS, l->three.numbers},
                                 {PART_THREE_SUMS, l->three.sums}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (layout->bytes[tables[i].part] > 0)
            memcpy(bytes + layout->offsets[tables[i].part], tables[i].numbers,
                   layout->bytes[tables[i].part]);
}

/* The hashes of the blocks, and the seal. */
static void put_hashes(char *bytes, const language_layout *layout) {
    language_seal seal = {.zero = {0}};
    unsigned char *hashes =
        (unsigned char *)bytes + sizeof(language_header) + sizeof(language_seal);
    for (uint64_t block = 0; block < layout->blocks; block++) {
        const uint64_t begin = layout->body + block * LANGUAGE_BLOCK;
        const uint64_t left = layout->file_bytes - begin;
        core_hash256(bytes + begin, left < LANGUAGE_BLOCK ? left : LANGUAGE_BLOCK,
                     hashes + block * CORE_HASH_BYTES);
    }
    language_seal_hash(bytes, layout, seal.hash);
    memcpy(bytes + sizeof(language_header), &seal, sizeof seal);
}

tem_status language_write(const levels *l, language_header *header, const char *origin,
                          const char *license, const text_sources *sources, char **bytes,
                          tem_error *error) {
    const size_t origin_bytes = strlen(origin) + 1, license_bytes = strlen(license) + 1;
    language_layout layout;
    if (origin_bytes + license_bytes > UINT32_MAX / 2)
        return core_fail(error, TEM_ERR_RANGE, "the texts of a language model are too long");
    memcpy(header->magic, LANGUAGE_MAGIC, sizeof header->magic);
    header->version = LANGUAGE_VERSION;
    header->words = l->words;
    header->outputs = l->outputs;
    header->bigrams = l->two.entries;
    header->pairs = l->three.count;
    header->trigrams = l->three.entries;
    header->text_bytes = (uint32_t)(origin_bytes + license_bytes);
    header->shift = LEVELS_SHIFT;
    header->sources = sources->count;
    header->lines = sources->line_count;
    header->line_shift = sources->line_shift;
    if (!language_lay_out(header, &layout))
        return core_fail(error, TEM_ERR_RANGE, "the language model is too large for a file");
    header->body = (uint32_t)layout.body;
    header->file_bytes = layout.file_bytes;
    *bytes = core_alloc_zero(layout.file_bytes, 1);
    if (*bytes == NULL)
        return core_fail_memory(error);
    memcpy(*bytes, header, sizeof *header);
    memcpy(*bytes + layout.offsets[PART_TEXT], origin, origin_bytes);
    memcpy(*bytes + layout.offsets[PART_TEXT] + origin_bytes, license, license_bytes);
    put_tables(l, sources, &layout, *bytes);
    put_hashes(*bytes, &layout);
    return TEM_OK;
}

/* ---------------------------------------------------------------- making -- */

static tem_status make_bytes(const tem_ngram *ngram, const tem_language_options *o,
                             const tem_run *run, char **bytes, size_t *count, tem_error *error) {
    const double lift = o->lift;
    const levels_settings settings = {.temper = o->temper == 0 ? 1 : o->temper,
                                      .lift = lift == 0 ? INFINITY : lift};
    language_header header = {.order = ngram->info.order, .temper = settings.temper, .lift = lift};
    levels l;
    if (o->name != NULL)
        memcpy(header.name, o->name, strlen(o->name));
    model_outputs_hash(ngram->model, header.outputs_hash);
    TRY(levels_make(ngram, &settings, run, &l, error));
    const tem_status status =
        language_write(&l, &header, o->origin == NULL ? "" : o->origin,
                       o->license == NULL ? "" : o->license, &ngram->sources, bytes, error);
    levels_free(&l);
    *count = header.file_bytes;
    return status;
}

/* PRIVACY: the language model in memory is read like a file: one way to check it, one hash. */
tem_status language_make(const tem_ngram *ngram, const tem_language_options *options,
                         const tem_run *run, tem_language **out, tem_error *error) {
    file_view view = {.mapped = false};
    char *bytes = NULL;
    TRY(make_bytes(ngram, options, run, &bytes, &view.size, error));
    view.data = bytes;
    TRY(language_from_view(view, "", ngram->model, out, error));
    atomic_store_explicit(&language_state(*out)->trusted, true, memory_order_release);
    return TEM_OK;
}
