/* language_file.h - language models as files `NAME.temlm` (docs/FORMAT.md), and in memory: the
 * bytes are the same.
 *
 * A file is a header, a seal, the hashes of all blocks, and a body of tables. The seal is the hash
 * of header and hashes, and names the content. Opening checks the header in full, and the words; it
 * reads no other table. A block of the body is compared with its hash when a row in it is first
 * used, and so is the content of the row (levels.h): a short run pays for the rows that it needs.
 *
 * PRIVACY: the tables decide what is drawn, and a file can claim anything. So mechanisms take a
 * language model only if this user has made or verified it, or if it came with the program:
 * language_ops.check asks `trusted`. */
#ifndef LANGUAGE_LANGUAGE_FILE_H
#define LANGUAGE_LANGUAGE_FILE_H

#include "io/file.h"
#include "language/levels_build.h"
#include "tem_language.h"

#include <stdatomic.h>

#define LANGUAGE_MAGIC "TEMLANGM"

enum { LANGUAGE_VERSION = 1, LANGUAGE_ALIGNMENT = 64, LANGUAGE_BLOCK = 1 << 14 };

/* The tables of the body, in their order. Each begins at a multiple of 64 bytes. */
enum language_part {
    PART_TEXT, /* origin, NUL, license, NUL */
    PART_IDS,  /* u32 each from here to PART_THREE_SUMS: see levels.h */
    PART_E1,
    PART_TWO_STARTS,
    PART_TWO_FACTORS,
    PART_TWO_NUMBERS,
    PART_TWO_SUMS,
    PART_PAIR_STARTS,
    PART_PAIR_SECONDS,
    PART_THREE_STARTS,
    PART_THREE_FACTORS,
    PART_THREE_NUMBERS,
    PART_THREE_SUMS,
    PART_SOURCES, /* source_text of text_sources.h: which texts it was made of */
    PART_LINES,   /* hashes of their lines, ascending */
    PARTS
};

/* 256 bytes. The numbers decide the size and the place of everything else. */
typedef struct language_header {
    char magic[8];
    uint32_t version;
    uint32_t body; /* where the body begins */
    uint64_t file_bytes;
    unsigned char outputs_hash[CORE_HASH_BYTES]; /* model_outputs_hash */
    uint32_t words, outputs;
    uint32_t order;    /* 1 to 3 */
    uint32_t bigrams;  /* entries after one word */
    uint32_t pairs;    /* histories of two words */
    uint32_t trigrams; /* entries after two words */
    uint32_t text_bytes;
    uint32_t shift;      /* k */
    double temper, lift; /* levels_settings; lift 0: none */
    char name[64];
    uint32_t sources, lines, line_shift; /* as text_sources; all 0 in older files */
    unsigned char zero[76];
} language_header;

/* 64 bytes, after the header. The hashes of the blocks follow, up to the body. */
typedef struct language_seal {
    unsigned char hash[CORE_HASH_BYTES]; /* BLAKE2b-256 of the header and of the blocks' hashes */
    unsigned char zero[CORE_HASH_BYTES];
} language_seal;

_Static_assert(sizeof(language_header) == 256 && sizeof(language_seal) == 64,
               "the records of the file");

/* Where the tables are. */
typedef struct language_layout {
    uint64_t offsets[PARTS], bytes[PARTS]; /* from the begin of the file */
    uint64_t body, file_bytes;
    uint32_t blocks;
} language_layout;

/* The state of a tem_language of this room. */
typedef struct ngram_language {
    levels l; /* first: levels_position takes the state for it */
    levels_source source;
    file_view file;
    char *path; /* for messages; "" if it is in memory */
    language_header header;
    language_layout layout;
    _Atomic(uint64_t) *seen_blocks;             /* bits: equal to their hashes */
    _Atomic(uint64_t) *seen_rows[LEVELS_KINDS]; /* bits: checked */
    atomic_bool trusted;
} ngram_language;

static inline ngram_language *language_state(const tem_language *language) {
    return language->state;
}

/* Whether a text for a header or the body has no control characters; lines end in LF. NULL: yes. */
bool language_text_is_plain(const char *text, bool has_lines);

/* Whether a language model is of this room, and not a user's own. */
bool language_is_ngram(const tem_language *language);

/* The layout for a header, whose body and file_bytes need not be set. False if it does not fit. */
bool language_lay_out(const language_header *header, language_layout *layout);

/* The hash in the seal of a file's bytes. */
void language_seal_hash(const char *bytes, const language_layout *layout,
                        unsigned char hash[CORE_HASH_BYTES]);

/* Writes the bytes of a file. They hold `l`, which must be whole. The caller frees them with
 * core_free. header: with name, settings and outputs_hash; the other fields are set. Fails with
 * TEM_ERR_RANGE, TEM_ERR_MEMORY. */
tem_status language_write(const levels *l, language_header *header, const char *origin,
                          const char *license, const text_sources *sources, char **bytes,
                          tem_error *error);

/* Makes a language model from a view of a file, for this model. Takes the view over, also when it
 * fails. */
tem_status language_from_view(file_view view, const char *path, const tem_model *model,
                              tem_language **out, tem_error *error);

/* As the calls of tem_language.h; the caller has checked the pointers. */
tem_status language_make(const tem_ngram *ngram, const tem_language_options *options,
                         const tem_run *run, tem_language **out, tem_error *error);
tem_status language_open(const tem_model *model, const char *path, tem_language **out,
                         tem_error *error);
tem_status language_save(const tem_language *language, const char *path, tem_overwrite overwrite,
                         const tem_run *run, tem_error *error);
tem_status language_check(const tem_language *language, const tem_run *run, tem_error *error);
void language_get_info(const tem_language *language, tem_language_info *info);
const char *language_origin(const tem_language *language);
const char *language_license(const tem_language *language);
void language_free(tem_language *language);
tem_status language_evaluate(const tem_language *language, const tem_model *model, const char *path,
                             const tem_run *run, tem_language_evaluation *evaluation,
                             tem_error *error);

/* As tem_language_find_english; the caller has checked the pointers. */
tem_status language_find_english(const char *model_path, bool model_is_own,
                                 const char *const *folders, size_t count, char *path, size_t bytes,
                                 int *is_own, tem_error *error);

#endif
