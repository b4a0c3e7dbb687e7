/* model.h - builds, opens, checks and writes models.
 *
 * docs/FORMAT.md specifies the file for readers in other languages; model_layout.h declares it in
 * C. A file is a header, a table of sections, a seal with the hash of both, and the sections in the
 * order of the table, each at the next multiple of 64 bytes. The required sections come first, and
 * there is exactly one way to lay them out. Further sections may follow (model_layout.h). Every
 * byte of the file is in the header or the table, in the seal, in a section with its own hash, or
 * must be zero. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "core/hash.h"
#include "index/neighbours.h"
#include "io/file.h"
#include "model/recipe.h"
#include "model/signals.h"
#include "order/order.h"
#include "order/unit_points.h"
#include "space/space.h"
#include "space/vocab.h"

#include <stdatomic.h>

typedef struct model_section model_section; /* model_layout.h */

struct tem_model {
    vocab words;
    space space;
    neighbour_index index;
    uint32_t neighbours; /* requested length of the lists, at most the number of words */
    tem_dist deviation;
    const uint32_t *excluded; /* ids of the words that are never outputs, ascending; owned, also if
                               * the model was opened from a file */
    uint32_t excluded_count;
    unsigned char *excluded_bits; /* bit id % 8 of byte id / 8: the word is excluded; NULL: none */
    nearest_distance nearest; /* set when tem builds from vectors; words 0: compute it from lists */
    uint64_t triangles;
    bool triangles_exhaustive;
    tem_recipe recipe;                        /* space 0: the vectors were taken as they are */
    unsigned char recipe_bytes[RECIPE_BYTES]; /* the same, as a built model writes it */
    model_signals signals;                    /* count 0: the model is not adapted */
    rank_order order;                         /* bytes NULL: the model has none */
    unit_points order_points;                 /* of an order that is made word by word */

    file_view file;         /* the mapping behind the views above; data NULL if they own memory */
    model_section *table;   /* as it was checked when the file was opened, or NULL */
    uint32_t section_count; /* of table */
    char *path;             /* for messages; NULL if not opened from a file */
    unsigned char hash[CORE_HASH_BYTES]; /* from the seal of the file; check_seal has compared it
                                          * with header and table */

    /* PRIVACY: whether mechanisms may draw by the lists and bounds. A built model is trusted. A
     * model from a file is trusted only after tem_model_trust, tem_model_trust_own or
     * tem_model_verify has said so. */
    atomic_bool trusted;
    atomic_bool is_own; /* the model and the certificates beside it came with the program */
};

static inline bool model_has_order(const tem_model *model) {
    return model->order.bytes != NULL;
}

/* Makes the order of a model that is being built (model_order.c). given: the vectors that the model
 * is built from, before they are prepared, or NULL. Fails as tem_model_build does. */
tem_status model_make_order(tem_model *model, const tem_vectors *given,
                            const tem_order_options *options, const tem_run *run, tem_error *error);

/* Gives a model of model_build_lazy an order of which shape, sequence, groups and hash are known
 * (order_build_lazy): the one that model_make_order makes of these vectors. Fails as
 * order_build_lazy does. */
tem_status model_order_lazy(tem_model *model, const tem_vectors *vectors, const order_shape *shape,
                            const uint32_t *sequence, const uint32_t *groups,
                            const unsigned char hash[CORE_HASH_BYTES], tem_error *error);

/* The hash of the order's bytes. The model must have an order.
 * PRIVACY: it names the order that a bound is about; for an opened file it comes from the section
 * table, as in model_space_hash. */
void model_order_hash(const tem_model *model, unsigned char out[CORE_HASH_BYTES]);

/* Writes 16 digits of it; "" if the model has no order. */
void model_order_digits(const tem_model *model, char out[17]);

/* Makes a model from a view of a file, aligned to 64 bytes. Takes over the view, also
 * when it fails. */
tem_status model_from_view(file_view view, const char *path, tem_model **out, tem_error *error);

/* See tem_model_build and so on in tem.h. The caller has checked that required pointers are not
 * NULL. */
tem_status model_build(const tem_vectors *vectors, const tem_build_options *options,
                       const tem_run *run, tem_model **model, tem_error *error);
/* Builds a model of vectors on the grid (.temv), whose lists are computed when they are first used
 * (neighbours_build_lazy). It draws as the model of model_build draws, and is for one thread. It
 * cannot be saved or verified: it has no lists until they are used. */
tem_status model_build_lazy(const tem_vectors *vectors, const char *const *exclude,
                            uint32_t exclude_count, uint32_t neighbours, tem_model **model,
                            tem_error *error);
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
void model_get_recipe(const tem_model *model, tem_recipe *recipe);
void model_free(tem_model *model);

/* ---- excluded words (model_exclude.c) ---- */

/* Excludes those of `words` that the vocabulary has; ignores the others. Fails with
 * TEM_ERR_ARGUMENT if it has none of them, if all words would be excluded, or for a NULL;
 * TEM_ERR_MEMORY. With count 0 it excludes nothing. */
tem_status model_exclude(tem_model *model, const char *const *words, uint32_t count,
                         tem_error *error);

/* Excludes the words that `other` excludes, a model with the same words. TEM_ERR_MEMORY. */
tem_status model_exclude_like(tem_model *model, const tem_model *other, tem_error *error);

/* Reads the excluded words from their section of the model's file. TEM_ERR_DAMAGED,
 * TEM_ERR_MEMORY. */
tem_status model_exclude_read(tem_model *model, const char *path, const model_section *section,
                              tem_error *error);

/* The id must be below the number of words. */
static inline bool model_is_excluded(const tem_model *model, uint32_t id) {
    return model->excluded_bits != NULL && (model->excluded_bits[id / 8] >> id % 8 & 1) != 0;
}

/* Sets *out to the weights of the output words: `values`, or 1 if values is NULL, and 0 for every
 * excluded word. *out is NULL if all weights are 1. TEM_ERR_MEMORY. Free with core_free.
 * PRIVACY: all code that draws or proves takes its weights from here, so that both are about the
 * same law. */
tem_status model_output_weights(const tem_model *model, const uint32_t *values, uint32_t **out,
                                tem_error *error);

/* Runs model_check, and checks that tem would have built the same words, distances and lists.
 * Fails with TEM_ERR_DAMAGED if not, whatever is wrong; also with TEM_ERR_MEMORY or
 * TEM_ERR_CANCELLED. Changes nothing in the model: the caller sets `trusted`. */
tem_status model_verify(const tem_model *model, const tem_run *run, tem_error *error);

/* Computes the hash of the model in memory, over every byte that tem uses. It equals the hash that
 * the model's file has, or would have. Fails with TEM_ERR_CANCELLED or TEM_ERR_RANGE (too large for
 * a file). */
tem_status model_hash(const tem_model *model, const tem_run *run,
                      unsigned char hash[CORE_HASH_BYTES], tem_error *error);

/* Computes the hash of the space that a certificate is about: the words, their order, the
 * vectors or the matrix, the metric, and the excluded words. It leaves out the lists: they
 * decide how long a draw takes, not its law. A built model and its file have the same hash.
 * PRIVACY: for an opened file the hash comes from the section table. It says something about the
 * content only after model_check has compared the content with that table. */
void model_space_hash(const tem_model *model, unsigned char out[CORE_HASH_BYTES]);

/* Computes the hash of the words, their order, and which of them are excluded. A language model is
 * for all models with this hash, whatever their vectors are. About a millisecond for 34,000
 * words. */
void model_outputs_hash(const tem_model *model, unsigned char out[CORE_HASH_BYTES]);

/* Fails with TEM_ERR_RANGE if the model's deviation is above `percent` percent of the median
 * distance to the nearest word; the message ends with the remedy, and then `more`. Also fails with
 * TEM_ERR_MEMORY. */
tem_status grid_check(const tem_model *m, const nearest_distance *nearest, uint32_t percent,
                      const char *more, tem_error *error);

/* As tem_model_nearest_median and tem_model_check_grid. */
tem_status model_nearest_median(const tem_model *model, tem_dist *median, tem_error *error);
tem_status model_check_grid(const tem_model *model, uint32_t percent, tem_error *error);

#endif
