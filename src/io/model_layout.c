/* model_layout.c - the bytes of a model file. */
#include "io/model_layout.h"

#include "core/memory.h"

/* Bytes of a section; false on overflow. 2^48 bytes is more than any file. */
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
        *bytes = words * space_row_elements(h->dimension) * sizeof(int16_t);
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
        *bytes = words * NEIGHBOUR_PARTS * sizeof(tem_dist);
        return true;
    }
}

uint32_t model_layout(const model_header *header, uint64_t word_bytes, uint64_t list_entries,
                      model_section table[SECTION_KINDS], uint64_t *file_bytes) {
    const uint32_t left_out = header->metric == TEM_MATRIX ? SECTION_VECTORS : SECTION_MATRIX;
    const uint32_t sections = SECTION_KINDS - 1;
    uint64_t offset = sizeof *header + sections * sizeof *table + sizeof(model_seal);
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
    *file_bytes = offset;
    return filled;
}

const char *model_section_name(uint32_t kind) {
    static const char *const names[] = {"",        "word starts", "word bytes",  "word table",
                                        "vectors", "matrix",      "list starts", "lists",
                                        "bounds"};
    return kind <= SECTION_KINDS ? names[kind] : "unknown";
}
