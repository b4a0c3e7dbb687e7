/* model_info.c - what a model says of itself and of its words. */
#include "core/status.h"
#include "model/model.h"

#include <math.h>
#include <sodium.h>

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
    };
    if (model->file.data != NULL)
        sodium_bin2hex(info->hash, sizeof info->hash, model->hash, sizeof model->hash);
}

tem_status model_vector(const tem_model *model, uint32_t id, float *out, tem_error *error) {
    const space *s = &model->space;
    if (s->rows == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "a model of given distances has no vectors; build one from vectors");
    const int16_t *row = space_row(s, id);
    const float step = ldexpf(1, -(int)s->step_log2);
    for (uint32_t i = 0; i < s->dimension; i++)
        out[i] = (float)row[i] * step;
    return TEM_OK;
}
