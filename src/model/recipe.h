/* recipe.h - how the vectors of a model were prepared, and its bytes in files.
 *
 * A model has them as a section, a .temv file after its header (docs/FORMAT.md). Nothing is drawn
 * by them. They come from files that may be hostile, so a reader accepts only what a writer can
 * have written. */
#ifndef MODEL_RECIPE_H
#define MODEL_RECIPE_H

#include "tem.h"

#include <stdbool.h>

enum { RECIPE_BYTES = 64 };

/* Writes the bytes of a recipe whose space is TEM_SPACE_SPHERE. */
void recipe_write(const tem_recipe *recipe, unsigned char bytes[RECIPE_BYTES]);

/* Reads the bytes of a recipe for `words` prepared vectors of `dimension` numbers. Returns false,
 * and leaves *recipe untouched, if no preparation gives them. `words` may be fewer than the recipe
 * left: a user may take only the first ones. */
bool recipe_read(const unsigned char *bytes, size_t count, uint32_t words, uint32_t dimension,
                 tem_recipe *recipe);

#endif
