/* recipe.c - how the vectors of a model were prepared, and its bytes in files. */
#include "model/recipe.h"

#include <math.h>
#include <string.h>

/* The bytes; all machines that tem supports are little-endian. */
typedef struct recipe_bytes {
    uint32_t space, given_words, given_columns, dimensions, removed, dropped;
    double kept, rms_distance, scale;
    unsigned char zero[16];
} recipe_bytes;

_Static_assert(sizeof(recipe_bytes) == RECIPE_BYTES, "no padding is written");

void recipe_write(const tem_recipe *recipe, unsigned char bytes[RECIPE_BYTES]) {
    const recipe_bytes made = {.space = (uint32_t)recipe->space,
                               .given_words = recipe->given_words,
                               .given_columns = recipe->given_columns,
                               .dimensions = recipe->dimensions,
                               .removed = recipe->removed,
                               .dropped = recipe->dropped,
                               .kept = recipe->kept,
                               .rms_distance = recipe->rms_distance,
                               .scale = recipe->scale};
    memcpy(bytes, &made, sizeof made);
}

static bool is_size(double x) {
    return isfinite(x) && x > 0;
}

static bool is_possible(const recipe_bytes *r, uint32_t words, uint32_t dimension) {
    static const unsigned char zero[sizeof r->zero];
    return r->space == TEM_SPACE_SPHERE && r->given_words <= TEM_WORDS_MAX &&
           r->dropped <= r->given_words && words <= r->given_words - r->dropped &&
           r->given_columns <= TEM_DIMENSION_MAX && r->dimensions == dimension &&
           r->dimensions <= r->given_columns && r->removed <= r->given_columns - r->dimensions &&
           is_size(r->kept) && r->kept <= 1 && is_size(r->rms_distance) && is_size(r->scale) &&
           memcmp(r->zero, zero, sizeof zero) == 0;
}

bool recipe_read(const unsigned char *bytes, size_t count, uint32_t words, uint32_t dimension,
                 tem_recipe *recipe) {
    recipe_bytes r;
    if (count != sizeof r)
        return false;
    memcpy(&r, bytes, sizeof r);
    if (!is_possible(&r, words, dimension))
        return false;
    *recipe = (tem_recipe){.space = TEM_SPACE_SPHERE,
                           .given_words = r.given_words,
                           .given_columns = r.given_columns,
                           .dimensions = r.dimensions,
                           .removed = r.removed,
                           .dropped = r.dropped,
                           .kept = r.kept,
                           .rms_distance = r.rms_distance,
                           .scale = r.scale};
    return true;
}
