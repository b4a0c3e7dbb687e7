/* model_info.c - returns a model's numbers, a word's vector and the hash of its space. */
#include "core/status.h"
#include "model/model_layout.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

void model_get_info(const tem_model *model, tem_model_info *info) {
    *info = (tem_model_info){
        .words = model->words.count,
        .dimension = model->space.dimension,
        .metric = model->space.metric->id,
        .step_log2 = model->space.step_log2,
        .neighbours = model->neighbours,
        .deviation = model->deviation,
        .triangles = model->triangles,
        .triangles_exhaustive = model->triangles_exhaustive,
        .file_bytes = model->file.size,
        .excluded = model->excluded_count,
    };
    if (model->file.data != NULL)
        sodium_bin2hex(info->hash, sizeof info->hash, model->hash, sizeof model->hash);
}

void model_get_recipe(const tem_model *model, tem_recipe *recipe) {
    *recipe = model->recipe;
    if (recipe->space == TEM_SPACE_DEFAULT)
        recipe->space = TEM_SPACE_RAW;
}

tem_status model_vector(const tem_model *model, uint32_t id, float *out, tem_error *error) {
    const space *s = &model->space;
    for (uint32_t i = 0; s->points != NULL && i < s->dimension; i++)
        out[i] = ldexpf((float)space_point(s, id)[i], -(int)s->step_log2);
    if (s->points != NULL)
        return TEM_OK;
    if (s->rows == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "a model of given distances has no vectors; build one from vectors");
    const int16_t *row = space_row(s, id);
    const float step = ldexpf(1, -(int)s->step_log2);
    for (uint32_t i = 0; i < s->dimension; i++)
        out[i] = (float)row[i] * step;
    return TEM_OK;
}

/* ---- the hash of words, vectors, metric and excluded words ---- */

/* The 128 bytes that model_space_hash hashes (docs/FORMAT.md). */
typedef struct hashed_space {
    char tag[16];
    uint32_t metric, step_log2, words, dimension;
    unsigned char word_starts[CORE_HASH_BYTES];
    unsigned char word_bytes[CORE_HASH_BYTES];
    unsigned char points[CORE_HASH_BYTES]; /* vectors or matrix */
} hashed_space;

/* The 160 bytes that it hashes if words are excluded. */
typedef struct hashed_space_excluded {
    hashed_space space;
    unsigned char excluded[CORE_HASH_BYTES];
} hashed_space_excluded;

_Static_assert(sizeof(hashed_space) == 128 && sizeof(hashed_space_excluded) == 160,
               "no padding is hashed");

static unsigned char *place_of(hashed_space *h, uint32_t kind) {
    switch (kind) {
    case SECTION_WORD_STARTS:
        return h->word_starts;
    case SECTION_WORD_BYTES:
        return h->word_bytes;
    case SECTION_VECTORS:
    case SECTION_MATRIX:
        return h->points;
    default:
        return NULL;
    }
}

static void hash_section(const tem_model *m, const model_section *section, hashed_space *h) {
    unsigned char *place = place_of(h, section->kind);
    if (place == NULL)
        return;
    if (m->table != NULL)
        memcpy(place, section->hash, CORE_HASH_BYTES);
    else
        core_hash256(model_section_data(m, section), section->bytes, place);
}

void model_space_hash(const tem_model *m, unsigned char out[CORE_HASH_BYTES]) {
    const model_header header = model_header_of(m);
    hashed_space h = {.tag = "tem space 1",
                      .metric = header.metric,
                      .step_log2 = header.step_log2,
                      .words = header.words,
                      .dimension = header.dimension};
    model_section made[SECTIONS_REQUIRED] = {0};
    uint64_t file_bytes = 0;
    const model_section *table = m->table;
    if (table == NULL) {
        model_layout(&header, m->words.byte_count, m->index.entry_count, made, &file_bytes);
        table = made;
    }
    for (uint32_t i = 0; i < SECTIONS_REQUIRED; i++)
        hash_section(m, &table[i], &h);
    if (m->excluded_count == 0) {
        core_hash256(&h, sizeof h, out);
        return;
    }
    /* PRIVACY: a certificate is about the weights, and an excluded word has the weight 0. So models
     * that exclude other words need other certificates. */
    hashed_space_excluded more = {.space = h};
    memcpy(more.space.tag, "tem space 2", sizeof "tem space 2");
    core_hash256(m->excluded, m->excluded_count * sizeof *m->excluded, more.excluded);
    core_hash256(&more, sizeof more, out);
}

/* ---- the hash of the words, and of which are outputs ---- */

void model_outputs_hash(const tem_model *m, unsigned char out[CORE_HASH_BYTES]) {
    struct {
        char tag[16];
        unsigned char starts[CORE_HASH_BYTES], bytes[CORE_HASH_BYTES], excluded[CORE_HASH_BYTES];
    } h = {.tag = "tem outputs 1"};
    _Static_assert(sizeof h == 112, "no padding is hashed");
    core_hash256(m->words.starts, ((size_t)m->words.count + 1) * sizeof *m->words.starts, h.starts);
    core_hash256(m->words.bytes, m->words.byte_count, h.bytes);
    core_hash256(m->excluded, m->excluded_count * sizeof *m->excluded, h.excluded);
    core_hash256(&h, sizeof h, out);
}
