/* model_layout.h - the bytes of a model file (docs/FORMAT.md). */
#ifndef MODEL_MODEL_LAYOUT_H
#define MODEL_MODEL_LAYOUT_H

#include "model/model.h"

#define MODEL_MAGIC "TEMMODEL"

enum { MODEL_VERSION = 2, MODEL_ALIGNMENT = 64 };

/* Kinds of section, in the order of the file. */
enum model_section_kind {
    SECTION_WORD_STARTS = 1, /* u32[words + 1]: offsets into WORD_BYTES */
    SECTION_WORD_BYTES = 2,
    SECTION_WORD_TABLE = 3,  /* u64[slots]: see space/vocab.h */
    SECTION_VECTORS = 4,     /* i16[words][row_elements], i32 under TEM_HYPERBOLIC; not under
                              * TEM_MATRIX */
    SECTION_MATRIX = 5,      /* u32[words * (words - 1) / 2]; only under TEM_MATRIX */
    SECTION_LIST_STARTS = 6, /* u64[words + 1]: offsets into LISTS, in entries */
    SECTION_LISTS = 7,       /* {u32 id; u32 distance}[] */
    SECTION_BOUNDS = 8,      /* u32[words][NEIGHBOUR_RANGES] */
    SECTION_KINDS = 8,       /* required: all of these but vectors or matrix */
    SECTION_EXCLUDED = 10    /* u32[]: ids of excluded words, ascending; only if there are some */
};

/* Sections that may follow them. */
enum { SECTION_RECIPE_KIND = 9, SECTION_SIGNALS_KIND = 11, SECTION_ORDER_KIND = 12 };
#define SECTION_RECIPE (SECTION_RECIPE_KIND | SECTION_OPTIONAL)   /* recipe.h; a prepared model */
#define SECTION_SIGNALS (SECTION_SIGNALS_KIND | SECTION_OPTIONAL) /* signals.h; an adapted model */
#define SECTION_ORDER (SECTION_ORDER_KIND | SECTION_OPTIONAL)     /* order.h; for `rank` */

/* Sections of other kinds may follow, so that the format can grow. A reader skips a kind that it
 * does not know if the kind has the bit SECTION_OPTIONAL. It refuses a model with any other kind
 * that it does not know: that section may change what is drawn. */
enum {
    SECTIONS_REQUIRED = SECTION_KINDS - 1, /* vectors or a matrix, never both */
    SECTIONS_MAX = 32
};
#define SECTION_OPTIONAL 0x80000000u

/* 64 bytes. */
typedef struct model_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* header, section table and hash: a multiple of 64 */
    uint64_t file_bytes;
    uint32_t words;
    uint32_t dimension;
    uint32_t metric;
    uint32_t step_log2;
    uint32_t neighbours;
    uint32_t deviation;
    uint64_t triangles; /* checked triangles; bit 63: all triangles were checked */
    uint32_t sections;
    uint32_t zero;
} model_header;

/* 64 bytes, one per section. */
typedef struct model_section {
    uint32_t kind;
    uint32_t zero;
    uint64_t offset;
    uint64_t bytes;
    unsigned char hash[CORE_HASH_BYTES]; /* BLAKE2b-256 of the section's bytes */
    uint64_t zero_end;
} model_section;

/* 64 bytes, after the section table. */
typedef struct model_seal {
    unsigned char hash[CORE_HASH_BYTES]; /* BLAKE2b-256 of header and table */
    unsigned char zero[CORE_HASH_BYTES];
} model_seal;

_Static_assert(sizeof(model_header) == 64 && sizeof(model_section) == 64 &&
                   sizeof(model_seal) == 64,
               "the file's records are 64 bytes");

/* Computes the records of the required sections from the header's numbers: kinds, offsets and
 * sizes. The hashes stay zero. The header determines all sizes but word_bytes and list_entries.
 * header->sections determines where the first section begins. Returns the number of records and
 * sets *end to where the last section ends, with its padding; returns 0 if a size overflows. */
uint32_t model_layout(const model_header *header, uint64_t word_bytes, uint64_t list_entries,
                      model_section table[SECTIONS_REQUIRED], uint64_t *end);

/* Returns the header of this model's file, with its sizes left 0. */
model_header model_header_of(const tem_model *model);

/* The bytes of a section of this model: in its file if it has one. */
const void *model_section_data(const tem_model *model, const model_section *section);

/* Computes the hash in the seal, over header and table. */
void model_front_hash(const model_header *header, const model_section *table,
                      unsigned char hash[CORE_HASH_BYTES]);

/* Returns the header of this model's file with its sizes, and the section table. If the model was
 * opened from a file, the table also has the further sections of that file. The caller fills in the
 * hashes.
 * TEM_ERR_RANGE: too large for a file. */
tem_status model_front(const tem_model *model, model_header *header,
                       model_section table[SECTIONS_MAX], tem_error *error);

/* Returns the name of a section for messages, such as "word table". */
const char *model_section_name(uint32_t kind);

#endif
