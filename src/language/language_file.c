/* language_file.c - opens files of language models that may be damaged or hostile, and checks their
 * tables when they are first used. */
#include "language/language_file.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static tem_status damaged(tem_error *error, const char *path, const char *what) {
    return core_fail_at(error, TEM_ERR_DAMAGED, path, 0, 0, "damaged language model: %s", what);
}

/* ---------------------------------------------------------------- layout -- */

/* The entries of a table of numbers. A table that the order does not need has none. */
static uint64_t part_count(const language_header *h, enum language_part part) {
    const uint64_t symbols = (uint64_t)h->outputs + 2;
    const bool two = h->order >= 2, three = h->order >= 3;
    switch (part) {
    case PART_IDS:
    case PART_E1:
        return h->outputs;
    case PART_TWO_STARTS:
        return two ? symbols + 1 : 0;
    case PART_TWO_FACTORS:
        return two ? symbols : 0;
    case PART_TWO_NUMBERS:
        return h->bigrams;
    case PART_TWO_SUMS:
        return two ? (uint64_t)h->bigrams + 1 : 0;
    case PART_PAIR_STARTS:
        return three ? symbols + 1 : 0;
    case PART_PAIR_SECONDS:
    case PART_THREE_FACTORS:
        return h->pairs;
    case PART_THREE_STARTS:
        return three ? (uint64_t)h->pairs + 1 : 0;
    case PART_THREE_NUMBERS:
        return h->trigrams;
    case PART_THREE_SUMS:
        return three ? (uint64_t)h->trigrams + 1 : 0;
    case PART_SOURCES:
        return (uint64_t)h->sources * (sizeof(source_text) / sizeof(uint32_t));
    case PART_LINES:
        return h->lines;
    default:
        return 0;
    }
}

/* Counts are below 2^32, so that nothing overflows. */
bool language_lay_out(const language_header *h, language_layout *layout) {
    uint64_t body = 0;
    for (enum language_part part = 0; part < PARTS; part++) {
        layout->bytes[part] =
            part == PART_TEXT ? h->text_bytes : part_count(h, part) * sizeof(uint32_t);
        layout->offsets[part] = body;
        body += core_round_up(layout->bytes[part], LANGUAGE_ALIGNMENT);
    }
    const uint64_t blocks = (body + LANGUAGE_BLOCK - 1) / LANGUAGE_BLOCK;
    const uint64_t front = sizeof *h + sizeof(language_seal) + blocks * CORE_HASH_BYTES;
    layout->body = core_round_up(front, LANGUAGE_ALIGNMENT);
    if (layout->body > UINT32_MAX)
        return false;
    for (enum language_part part = 0; part < PARTS; part++)
        layout->offsets[part] += layout->body;
    layout->blocks = (uint32_t)blocks;
    layout->file_bytes = layout->body + body;
    return true;
}

static const unsigned char *hashes_of(const char *bytes) {
    return (const unsigned char *)bytes + sizeof(language_header) + sizeof(language_seal);
}

void language_seal_hash(const char *bytes, const language_layout *layout,
                        unsigned char hash[CORE_HASH_BYTES]) {
    unsigned char both[2 * CORE_HASH_BYTES];
    core_hash256(bytes, sizeof(language_header), both);
    core_hash256(hashes_of(bytes),
                 layout->body - (size_t)(hashes_of(bytes) - (const unsigned char *)bytes),
                 both + CORE_HASH_BYTES);
    core_hash256(both, sizeof both, hash);
}

/* ---------------------------------------------------------------- header -- */

/* PRIVACY: messages and reports show names and texts of files that nobody trusts yet: they must not
 * steer a terminal. */
static bool is_plain(const char *text, size_t bytes, bool has_lines) {
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && !(has_lines && c == '\n')) || c == 127 ||
            (c == 0xc2 && i + 1 < bytes && (unsigned char)text[i + 1] < 0xa0))
            return false;
    }
    return true;
}

bool language_text_is_plain(const char *text, bool has_lines) {
    return text == NULL || is_plain(text, strlen(text), has_lines);
}

static bool is_name_valid(const char name[64]) {
    const size_t length = strnlen(name, 64);
    for (size_t i = length; i < 64; i++)
        if (name[i] != 0)
            return false;
    return length < 64 && is_plain(name, length, false);
}

static bool are_numbers_valid(const language_header *h) {
    static const unsigned char zero[sizeof h->zero];
    const bool two = h->order >= 2, three = h->order >= 3;
    return h->order >= 1 && h->order <= 3 && h->shift == LEVELS_SHIFT && h->outputs >= 1 &&
           h->outputs <= h->words && h->words < (uint32_t)1 << 31 && (two || h->bigrams == 0) &&
           (three || (h->pairs == 0 && h->trigrams == 0)) && h->bigrams < LEVELS_NONE &&
           h->pairs < LEVELS_NONE && h->trigrams < LEVELS_NONE && h->temper > 0 && h->temper <= 4 &&
           (h->lift == 0 || (h->lift >= 1 && h->lift < INFINITY)) && h->text_bytes >= 2 &&
           h->sources <= SOURCES_MOST && h->lines <= SOURCE_LINES_MOST && h->line_shift < 32 &&
           memcmp(h->zero, zero, sizeof zero) == 0 && is_name_valid(h->name);
}

static tem_status check_header(const file_view *view, const char *path, language_header *h,
                               language_layout *layout, tem_error *error) {
    if (view->size < sizeof h->magic || memcmp(view->data, LANGUAGE_MAGIC, sizeof h->magic) != 0)
        return core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0, "not a language model of tem");
    if (view->size < sizeof *h)
        return damaged(error, path, "the file ends in its header");
    memcpy(h, view->data, sizeof *h);
    if (h->version != LANGUAGE_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                            "language model format %u: this tem reads %d", h->version,
                            LANGUAGE_VERSION);
    if (!are_numbers_valid(h) || !language_lay_out(h, layout) || h->body != layout->body ||
        h->file_bytes != layout->file_bytes)
        return damaged(error, path, "its header contradicts itself");
    if (view->size != h->file_bytes)
        return damaged(error, path, "the file is shorter or longer than its header says");
    return TEM_OK;
}

static tem_status check_seal(const file_view *view, const char *path, const language_layout *layout,
                             unsigned char hash[CORE_HASH_BYTES], tem_error *error) {
    language_seal seal;
    const unsigned char zero[CORE_HASH_BYTES] = {0};
    memcpy(&seal, view->data + sizeof(language_header), sizeof seal);
    language_seal_hash(view->data, layout, hash);
    if (memcmp(hash, seal.hash, sizeof seal.hash) != 0 || memcmp(zero, seal.zero, sizeof zero) != 0)
        return damaged(error, path, "the header does not match its hash");
    return TEM_OK;
}

/* ---------------------------------------------------------------- blocks -- */

static bool is_seen(_Atomic(uint64_t) *bits, uint64_t i) {
    return (atomic_load_explicit(&bits[i / 64], memory_order_acquire) >> i % 64 & 1) != 0;
}

static void set_seen(_Atomic(uint64_t) *bits, uint64_t i) {
    atomic_fetch_or_explicit(&bits[i / 64], (uint64_t)1 << i % 64, memory_order_release);
}

static bool is_block_right(const ngram_language *n, uint64_t block) {
    const uint64_t begin = n->layout.body + block * LANGUAGE_BLOCK;
    const uint64_t left = n->layout.file_bytes - begin;
    unsigned char hash[CORE_HASH_BYTES];
    core_hash256(n->file.data + begin, left < LANGUAGE_BLOCK ? left : LANGUAGE_BLOCK, hash);
    return memcmp(hash, hashes_of(n->file.data) + block * CORE_HASH_BYTES, sizeof hash) == 0;
}

/* Compares the blocks of `count` entries of a table from `first` on with their hashes, unless that
 * was done before. */
static tem_status see(const ngram_language *n, enum language_part part, uint64_t first,
                      uint64_t count, tem_error *error) {
    const uint64_t begin = n->layout.offsets[part] - n->layout.body + first * sizeof(uint32_t);
    const uint64_t end = begin + count * sizeof(uint32_t);
    for (uint64_t block = begin / LANGUAGE_BLOCK; count > 0 && block * LANGUAGE_BLOCK < end;
         block++) {
        if (is_seen(n->seen_blocks, block))
            continue;
        if (!is_block_right(n, block))
            return damaged(error, n->path, "a block does not match its hash");
        set_seen(n->seen_blocks, block);
    }
    return TEM_OK;
}

/* ------------------------------------------------------------------ rows -- */

/* The blocks with the entries of a row whose start and end are seen. What they say is checked with
 * the row; here they must only stay within the table. */
static tem_status see_entries(const ngram_language *n, const levels_rows *rows, uint32_t row,
                              enum language_part numbers, enum language_part sums,
                              tem_error *error) {
    const uint32_t first = rows->starts[row], end = rows->starts[row + 1];
    if (first > end || end > rows->entries)
        return damaged(error, n->path, "a row begins or ends outside of its table");
    TRY(see(n, numbers, first, end - first, error));
    return see(n, sums, first, (uint64_t)end - first + 1, error);
}

static tem_status see_pairs(const ngram_language *n, uint32_t g, tem_error *error) {
    TRY(see(n, PART_PAIR_STARTS, g, 2, error));
    const uint32_t first = n->l.pair_starts[g], end = n->l.pair_starts[g + 1];
    if (first > end || end > n->l.three.count)
        return damaged(error, n->path, "a row begins or ends outside of its table");
    return see(n, PART_PAIR_SECONDS, first, end - first, error);
}

static tem_status see_row(const ngram_language *n, enum levels_kind kind, uint32_t row,
                          tem_error *error) {
    if (kind == LEVELS_PAIRS)
        return see_pairs(n, row, error);
    if (kind == LEVELS_TWO) {
        TRY(see(n, PART_TWO_STARTS, row, 2, error));
        TRY(see(n, PART_TWO_FACTORS, row, 1, error));
        return see_entries(n, &n->l.two, row, PART_TWO_NUMBERS, PART_TWO_SUMS, error);
    }
    TRY(see(n, PART_PAIR_SECONDS, row, 1, error));
    TRY(see(n, PART_THREE_STARTS, row, 2, error));
    TRY(see(n, PART_THREE_FACTORS, row, 1, error));
    return see_entries(n, &n->l.three, row, PART_THREE_NUMBERS, PART_THREE_SUMS, error);
}

/* PRIVACY: total, look-up and draw agree only if the row is as levels.h promises; so no row is used
 * before it is checked, whoever has said that the file is trusted. Two threads may check the same
 * row; both find the same. */
static tem_status check_row(const levels_source *source, enum levels_kind kind, uint32_t row,
                            tem_error *error) {
    const ngram_language *n =
        (const ngram_language *)(const void *)((const char *)source -
                                               offsetof(ngram_language, source));
    if (is_seen(n->seen_rows[kind], row))
        return TEM_OK;
    TRY(see_row(n, kind, row, error));
    if (!levels_row_is_valid(&n->l, kind, row))
        return damaged(error, n->path, "a row contradicts itself");
    set_seen(n->seen_rows[kind], row);
    return TEM_OK;
}

/* --------------------------------------------------------------- opening -- */

static const uint32_t *table(const ngram_language *n, enum language_part part) {
    return (const uint32_t *)(const void *)(n->file.data + n->layout.offsets[part]);
}

static levels_rows rows_of(const ngram_language *n, enum language_part first, uint32_t count,
                           uint32_t entries, enum language_part numbers) {
    return (levels_rows){.count = count,
                         .entries = entries,
                         .starts = table(n, first),
                         .factors = table(n, numbers - 1),
                         .numbers = table(n, numbers),
                         .sums = table(n, numbers + 1)};
}

static void set_views(ngram_language *n) {
    const language_header *h = &n->header;
    n->source.check = check_row;
    n->l = (levels){
        .outputs = h->outputs,
        .ids = table(n, PART_IDS),
        .e1 = table(n, PART_E1),
        .two = rows_of(n, PART_TWO_STARTS, h->order >= 2 ? h->outputs + 2 : 0, h->bigrams,
                       PART_TWO_NUMBERS),
        .pair_starts = table(n, PART_PAIR_STARTS),
        .pair_seconds = table(n, PART_PAIR_SECONDS),
        .three = rows_of(n, PART_THREE_STARTS, h->pairs, h->trigrams, PART_THREE_NUMBERS),
        .source = &n->source,
    };
}

static bool alloc_seen(ngram_language *n) {
    const uint32_t rows[LEVELS_KINDS] = {[LEVELS_TWO] = n->l.two.count,
                                         [LEVELS_PAIRS] = n->header.outputs + 2,
                                         [LEVELS_THREE] = n->l.three.count};
    n->seen_blocks = core_alloc_zero(n->layout.blocks / 64 + 1, sizeof *n->seen_blocks);
    bool is_there = n->seen_blocks != NULL;
    for (int kind = 0; kind < LEVELS_KINDS; kind++) {
        n->seen_rows[kind] = core_alloc_zero(rows[kind] / 64 + 1, sizeof **n->seen_rows);
        is_there &= n->seen_rows[kind] != NULL;
    }
    return is_there;
}

/* Checks what every use needs: texts, ids, e1. */
static tem_status attach(ngram_language *n, const tem_model *model, tem_error *error) {
    const char *text = n->file.data + n->layout.offsets[PART_TEXT];
    const size_t bytes = n->header.text_bytes;
    TRY(see(n, PART_TEXT, 0, (bytes + 3) / sizeof(uint32_t), error));
    TRY(see(n, PART_IDS, 0, n->header.outputs, error));
    TRY(see(n, PART_E1, 0, n->header.outputs, error));
    const char *end = memchr(text, 0, bytes);
    if (end == NULL || memchr(end + 1, 0, bytes - (size_t)(end - text) - 1) != text + bytes - 1 ||
        !is_plain(text, (size_t)(end - text), true) ||
        !is_plain(end + 1, bytes - (size_t)(end - text) - 2, true))
        return damaged(error, n->path, "its texts are none");
    const tem_status status = levels_attach(&n->l, model, error);
    return status == TEM_ERR_DAMAGED ? damaged(error, n->path, "its words are none") : status;
}

static void free_state(void *state) {
    ngram_language *n = state;
    if (n == NULL)
        return;
    for (int kind = 0; kind < LEVELS_KINDS; kind++)
        core_free(n->seen_rows[kind]);
    core_free(n->seen_blocks);
    levels_free(&n->l);
    core_free(n->path);
    file_close(&n->file);
    core_free(n);
}

static tem_status check_trust(const void *state, tem_error *error) {
    const ngram_language *n = state;
    return atomic_load_explicit(&n->trusted, memory_order_acquire)
               ? TEM_OK
               : core_fail_at(error, TEM_ERR_UNTRUSTED, n->path, 0, 0,
                              "the language model is not trusted: call tem_language_trust, or "
                              "tem_language_verify, first");
}

static tem_status view_sources(const void *state, text_sources *sources, tem_error *error) {
    const ngram_language *n = state;
    const language_header *h = &n->header;
    TRY(see(n, PART_SOURCES, 0, part_count(h, PART_SOURCES), error));
    TRY(see(n, PART_LINES, 0, h->lines, error));
    *sources = (text_sources){
        .texts = (source_text *)(void *)(n->file.data + n->layout.offsets[PART_SOURCES]),
        .lines = (uint32_t *)(void *)(n->file.data + n->layout.offsets[PART_LINES]),
        .count = h->sources,
        .line_count = h->lines,
        .line_shift = h->line_shift};
    return TEM_OK;
}

static const language_ops ngram_ops = {
    .past_words = LEVELS_PAST,
    .free = free_state,
    .check = check_trust,
    .position = levels_position,
    .weight = levels_weight,
    .weights = levels_weights,
    .draw = levels_draw,
    .draw_base = levels_draw_base,
    .sources = view_sources,
};

bool language_is_ngram(const tem_language *language) {
    return language->ops == &ngram_ops;
}

static tem_language *alloc_language(file_view view, const char *path, const language_header *h,
                                    const language_layout *layout) {
    tem_language *language = core_alloc_zero(1, sizeof *language);
    ngram_language *n = core_alloc_zero(1, sizeof *n);
    char *copy = core_alloc(strlen(path) + 1, 1);
    if (language == NULL || n == NULL || copy == NULL) {
        core_free(copy);
        core_free(n);
        core_free(language);
        return NULL;
    }
    memcpy(copy, path, strlen(path) + 1);
    n->file = view;
    n->path = copy;
    n->header = *h;
    n->layout = *layout;
    language->state = n;
    language->ops = &ngram_ops;
    return language;
}

/* The levels are by number only if these are the places of the model's order (mech/language.h). */
static void show_levels(tem_language *language, const tem_model *model) {
    const levels *l = &language_state(language)->l;
    if (model_has_order(model) &&
        memcmp(model->order.sequence, l->ids, l->outputs * sizeof *l->ids) != 0)
        return;
    language->numbered = l->outputs;
    language->ids = l->ids;
    language->base = l->e1;
}

tem_status language_from_view(file_view view, const char *path, const tem_model *model,
                              tem_language **out, tem_error *error) {
    language_header h;
    language_layout layout;
    unsigned char hash[CORE_HASH_BYTES], outputs[CORE_HASH_BYTES];
    tem_language *language = NULL;
    tem_status status = check_header(&view, path, &h, &layout, error);
    if (status == TEM_OK)
        status = check_seal(&view, path, &layout, hash, error);
    model_outputs_hash(model, outputs);
    if (status == TEM_OK &&
        (memcmp(outputs, h.outputs_hash, sizeof outputs) != 0 || h.words != model->words.count))
        status = core_fail_at(error, TEM_ERR_UNSUPPORTED, path, 0, 0,
                              "the language model is for a model with other words");
    if (status == TEM_OK && (language = alloc_language(view, path, &h, &layout)) == NULL)
        status = core_fail_memory(error);
    if (status != TEM_OK) {
        file_close(&view);
        return status;
    }
    ngram_language *n = language->state;
    set_views(n);
    status = alloc_seen(n) ? attach(n, model, error) : core_fail_memory(error);
    if (status != TEM_OK) {
        language_free(language);
        return status;
    }
    memcpy(language->name, h.name, sizeof language->name);
    memcpy(language->outputs, outputs, sizeof outputs);
    sodium_bin2hex(language->hash, sizeof language->hash, hash, sizeof hash);
    show_levels(language, model);
    *out = language;
    return TEM_OK;
}

tem_status language_open(const tem_model *model, const char *path, tem_language **out,
                         tem_error *error) {
    file_view view;
    TRY(file_map(path, &view, error));
    return language_from_view(view, path, model, out, error);
}

/* ------------------------------------------------------------- the object -- */

void language_free(tem_language *language) {
    if (language == NULL)
        return;
    if (language->ops->free != NULL)
        language->ops->free(language->state);
    core_free(language);
}

tem_status language_save(const tem_language *language, const char *path, tem_overwrite overwrite,
                         const tem_run *run, tem_error *error) {
    const ngram_language *n = language->state;
    TRY(core_progress(run, "writing", 0, n->file.size, error));
    return file_write(path, n->file.data, n->file.size, overwrite, TEM_READERS_USUAL, error);
}

/* All bytes after the header are in blocks but the hashes, which the seal has, and the padding
 * before the body, which the seal's hash covers. */
tem_status language_check(const tem_language *language, const tem_run *run, tem_error *error) {
    enum { BLOCKS_A_REPORT = 256 };
    const ngram_language *n = language->state;
    for (uint64_t block = 0; block < n->layout.blocks; block++) {
        if (block % BLOCKS_A_REPORT == 0)
            TRY(core_progress(run, "checking hashes", block, n->layout.blocks, error));
        if (!is_block_right(n, block))
            return damaged(error, n->path, "a block does not match its hash");
    }
    const uint32_t *lines = table(n, PART_LINES);
    for (uint32_t i = 1; i < n->header.lines; i++)
        if (lines[i] <= lines[i - 1])
            return damaged(error, n->path, "the hashes of its lines contradict themselves");
    const tem_status status = levels_check(&n->l, run, error);
    return status == TEM_ERR_DAMAGED ? damaged(error, n->path, "a row contradicts itself") : status;
}

void language_get_info(const tem_language *language, tem_language_info *info) {
    const ngram_language *n = language->state;
    const language_header *h = &n->header;
    *info = (tem_language_info){.order = h->order,
                                .words = h->outputs,
                                .bigrams = h->bigrams,
                                .histories = h->pairs,
                                .trigrams = h->trigrams,
                                .sources = h->sources,
                                .source_lines = h->lines,
                                .bytes = h->file_bytes,
                                .temper = h->temper,
                                .lift = h->lift};
    memcpy(info->name, language->name, sizeof info->name);
    memcpy(info->hash, language->hash, sizeof info->hash);
}

const char *language_origin(const tem_language *language) {
    const ngram_language *n = language->state;
    return n->file.data + n->layout.offsets[PART_TEXT];
}

const char *language_license(const tem_language *language) {
    const char *origin = language_origin(language);
    return origin + strlen(origin) + 1;
}
