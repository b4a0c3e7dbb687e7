/* model.h - a model and its file: making, opening, checking, writing.
 *
 * docs/FORMAT.md is the specification for readers in other languages; this is its
 * other half. A file is a header, a table of sections, a hash of both, and the
 * sections in the order of the table, each at the next multiple of 64 bytes. There
 * is exactly one way to lay out a given model, so every byte is either hashed or
 * known to be zero. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "core/hash.h"
#include "index/neighbours.h"
#include "io/file.h"
#include "space/space.h"
#include "space/vocab.h"

#include <stdatomic.h>

typedef struct model_section model_section; /* model_layout.h */

struct tem_model {
    vocab words;
    space space;
    neighbour_index index;
    uint32_t neighbours; /* what the lists' length was asked to be */
    tem_dist deviation;
    nearest_distance nearest; /* when it was built; words 0: to be found in the lists */
    uint64_t triangles;
    bool triangles_exhaustive;

    file_view file;         /* the mapping behind the views above; data NULL if they own memory */
    model_section *table;   /* as it was checked when the file was opened, or NULL */
    uint32_t section_count; /* of table */
    char *path;             /* for messages; NULL if not opened from a file */
    unsigned char hash[CORE_HASH_BYTES]; /* what the file says of itself; its front agrees */

    /* PRIVACY: whether lists and bounds may be drawn from. A built model's may; a file's only once
     * tem_model_trust, tem_model_trust_own or tem_model_verify has said so. */
    atomic_bool trusted;
    atomic_bool is_own; /* it came with the program, and so did the certificates beside it */
};

/* A model over a view that is aligned to 64 bytes, which it takes over, also when it
 * fails. */
tem_status model_from_view(file_view view, const char *path, tem_model **out, tem_error *error);

/* See tem.h for these. The arguments that must be there are. */
tem_status model_build(const tem_vectors *vectors, const tem_build_options *options,
                       const tem_run *run, tem_model **model, tem_error *error);
tem_status model_build_function(const char *const *words, uint32_t count, tem_distance_fn *distance,
                                void *context, uint32_t neighbours, const tem_run *run,
                                tem_model **model, tem_error *error);
tem_status model_build_matrix(const char *const *words, uint32_t count, const double *distances,
                              uint32_t neighbours, const tem_run *run, tem_model **model,
                              tem_error *error);
tem_status model_open(const char *path, tem_model **out, tem_error *error);
tem_status model_find_default(const char *const *folders, size_t count, char *path, size_t bytes,
                              int *is_own, tem_error *error);
tem_status model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                      const tem_run *run, tem_error *error);
tem_status model_check(const tem_model *model, const tem_run *run, tem_error *error);
tem_status model_vector(const tem_model *model, uint32_t id, float *out, tem_error *error);
void model_get_info(const tem_model *model, tem_model_info *info);
void model_free(tem_model *model);

/* model_check, and whether the words, the distances and the lists are those that tem would have
 * built. TEM_ERR_DAMAGED if not, whatever is wrong. Changes nothing: trust is the caller's. */
tem_status model_verify(const tem_model *model, const tem_run *run, tem_error *error);

/* The hash of the model as it is in memory, from every byte that is used: what its file's is, or
 * would be. Fails with TEM_ERR_CANCELLED or TEM_ERR_RANGE (too large for a file). */
tem_status model_hash(const tem_model *model, const tem_run *run,
                      unsigned char hash[CORE_HASH_BYTES], tem_error *error);

/* The hash of what a certificate is about: words, their order, vectors or matrix, metric. The
 * lists are not in it: they decide how long a draw takes, not its law. A built model and its
 * file give the same.
 * PRIVACY: for an opened file this is what its section table says, so it speaks about the
 * content only as far as model_check has compared the two. */
void model_space_hash(const tem_model *model, unsigned char out[CORE_HASH_BYTES]);

/* TEM_ERR_RANGE if the model's deviation is above `percent` per cent of the median distance to the
 * nearest word, with a message that ends in what to do, and `more`. TEM_ERR_MEMORY. */
tem_status grid_check(const tem_model *m, const nearest_distance *nearest, uint32_t percent,
                      const char *more, tem_error *error);

/* As tem_model_nearest_median and tem_model_check_grid. */
tem_status model_nearest_median(const tem_model *model, tem_dist *median, tem_error *error);
tem_status model_check_grid(const tem_model *model, uint32_t percent, tem_error *error);

#endif
