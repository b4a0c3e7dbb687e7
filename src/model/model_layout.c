/* model_layout.c - the bytes of a model file. */
#include "model/model_layout.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* Computes the size of a section in bytes. Returns false if it is too large. The limit of 2^48
 * bytes is more than any file has. */
static bool section_bytes(const model_header *h, uint32_t kind, uint64_t word_bytes,
                          uint64_t list_entries, uint64_t *bytes) {
    const uint64_t words = h->words, limit = (uint64_t)1 << 48;
    switch (kind) {
    case SECTION_WORD_STARTS:
        *bytes = (words + 1) * sizeof(uint32_t);
        return true;
    case SECTION_WORD_BYTES:
        *bytes = word_bytes;
        return word_bytes <= UINT32_MAX;
    case SECTION_WORD_TABLE:
        *bytes = vocab_slot_count(h->words) * sizeof(uint64_t);
        return true;
    case SECTION_VECTORS:
        *bytes = words * space_row_elements(h->dimension) *
                 (metric_find((tem_metric)h->metric)->is_ball ? sizeof(int32_t) : sizeof(int16_t));
        return true;
    case SECTION_MATRIX:
        *bytes = space_pair_count(h->words) * sizeof(uint32_t);
        return h->words <= TEM_MATRIX_WORDS_MAX;
    case SECTION_LIST_STARTS:
        *bytes = (words + 1) * sizeof(uint64_t);
        return true;
    case SECTION_LISTS:
        *bytes = list_entries * sizeof(tem_neighbour);
        return list_entries < limit / sizeof(tem_neighbour);
    default:
        *bytes = words * NEIGHBOUR_RANGES * sizeof(tem_dist);
        return true;
    }
}

uint32_t model_layout(const model_header *header, uint64_t word_bytes, uint64_t list_entries,
                      model_section table[SECTIONS_REQUIRED], uint64_t *end) {
    const uint32_t left_out =
        metric_find((tem_metric)header->metric)->has_vectors ? SECTION_MATRIX : SECTION_VECTORS;
    uint64_t offset = sizeof *header + header->sections * sizeof *table + sizeof(model_seal);
    uint32_t filled = 0;
    for (uint32_t kind = 1; kind <= SECTION_KINDS; kind++) {
        if (kind == left_out)
            continue;
        uint64_t bytes = 0;
        if (!section_bytes(header, kind, word_bytes, list_entries, &bytes))
            return 0;
        table[filled++] = (model_section){.kind = kind, .offset = offset, .bytes = bytes};
        offset = core_round_up(offset + bytes, MODEL_ALIGNMENT);
    }
    *end = offset;
    return filled;
}

const void *model_section_data(const tem_model *m, const model_section *section) {
    if (m->file.data != NULL)
        return m->file.data + section->offset;
    switch (section->kind) {
    case SECTION_WORD_STARTS:
        return m->words.starts;
    case SECTION_WORD_BYTES:
        return m->words.bytes;
    case SECTION_WORD_TABLE:
        return m->words.slots;
    case SECTION_VECTORS:
        return m->space.metric->is_ball ? (const void *)m->space.points : m->space.rows;
    case SECTION_MATRIX:
        return m->space.matrix;
    case SECTION_LIST_STARTS:
        return m->index.starts;
    case SECTION_LISTS:
        return m->index.entries;
    case SECTION_RECIPE:
        return m->recipe_bytes;
    case SECTION_EXCLUDED:
        return m->excluded;
    case SECTION_SIGNALS:
        return m->signals.bytes;
    case SECTION_ORDER:
        return m->order.bytes;
    default:
        return m->index.bounds;
    }
}

/* The number of sections of a model that was built here. */
static uint32_t built_sections(const tem_model *m) {
    const bool has_recipe = m->recipe.space == TEM_SPACE_SPHERE, excludes = m->excluded_count > 0;
    const bool is_adapted = m->signals.count > 0, has_order = model_has_order(m);
    return SECTIONS_REQUIRED + (uint32_t)has_recipe + (uint32_t)excludes + (uint32_t)is_adapted +
           (uint32_t)has_order;
}

/* Adds the record of a further section of a built model. *filled is the number of records. */
static void add_section(model_header *header, model_section *table, uint32_t *filled, uint32_t kind,
                        uint64_t bytes) {
    table[(*filled)++] =
        (model_section){.kind = kind, .offset = header->file_bytes, .bytes = bytes};
    header->file_bytes = core_round_up(header->file_bytes + bytes, MODEL_ALIGNMENT);
}

/* Adds the further sections of a built model, in the order of their kinds. */
static void add_further(const tem_model *m, model_header *header, model_section *table) {
    uint32_t filled = SECTIONS_REQUIRED;
    if (m->recipe.space == TEM_SPACE_SPHERE)
        add_section(header, table, &filled, SECTION_RECIPE, sizeof m->recipe_bytes);
    if (m->excluded_count > 0)
        add_section(header, table, &filled, SECTION_EXCLUDED,
                    m->excluded_count * sizeof *m->excluded);
    if (m->signals.count > 0)
        add_section(header, table, &filled, SECTION_SIGNALS, m->signals.byte_count);
    if (model_has_order(m))
        add_section(header, table, &filled, SECTION_ORDER, m->order.byte_count);
}

model_header model_header_of(const tem_model *m) {
    model_header h = {
        .version = MODEL_VERSION,
        .words = m->words.count,
        .dimension = m->space.dimension,
        .metric = (uint32_t)m->space.metric->id,
        .step_log2 = m->space.step_log2,
        .neighbours = m->neighbours,
        .deviation = m->deviation,
        .triangles = m->triangles | (uint64_t)m->triangles_exhaustive << 63,
        .sections = m->table != NULL ? m->section_count : built_sections(m),
    };
    memcpy(h.magic, MODEL_MAGIC, sizeof h.magic);
    return h;
}

void model_front_hash(const model_header *header, const model_section *table,
                      unsigned char hash[CORE_HASH_BYTES]) {
    unsigned char front[sizeof *header + SECTIONS_MAX * sizeof *table];
    const size_t table_bytes = header->sections * sizeof *table;
    memcpy(front, header, sizeof *header);
    memcpy(front + sizeof *header, table, table_bytes);
    core_hash256(front, sizeof *header + table_bytes, hash);
}

tem_status model_front(const tem_model *m, model_header *header, model_section table[SECTIONS_MAX],
                       tem_error *error) {
    *header = model_header_of(m);
    if (m->table != NULL) {
        memcpy(table, m->table, m->section_count * sizeof *table);
        header->file_bytes = m->file.size;
    } else if (model_layout(header, m->words.byte_count, m->index.entry_count, table,
                            &header->file_bytes) == 0) {
        return core_fail(error, TEM_ERR_RANGE, "the model is too large for a file");
    } else {
        add_further(m, header, table);
    }
    header->header_bytes =
        (uint32_t)(sizeof *header + header->sections * sizeof *table + sizeof(model_seal));
    return TEM_OK;
}

const char *model_section_name(uint32_t kind) {
    static const char *const names[] = {"",        "word starts", "word bytes",  "word table",
                                        "vectors", "matrix",      "list starts", "lists",
                                        "bounds"};
    if (kind == SECTION_RECIPE)
        return "numbers of the recipe";
    if (kind == SECTION_EXCLUDED)
        return "excluded words";
    if (kind == SECTION_SIGNALS)
        return "signals";
    if (kind == SECTION_ORDER)
        return "order of the words";
    return kind <= SECTION_KINDS ? names[kind] : "bytes of an unknown section";
}
