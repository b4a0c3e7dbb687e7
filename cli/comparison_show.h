/* comparison_show.h - a comparison as tables, as JSON and as a picture. */
#ifndef CLI_COMPARISON_SHOW_H
#define CLI_COMPARISON_SHOW_H

#include "comparison.h"

#include <jansson.h>

/* All rows: for each target, the mechanisms in order. */
typedef struct comparison_table {
    const side_by_side *about;
    const char *prior_name;
    const char *labelled; /* the file of labeled texts, or NULL */
    comparison_row *rows;
    size_t count;
} comparison_table;

/* Prints one table per target, what was left out, and how to read it. */
void comparison_print(const comparison_table *t);

/* The same as JSON; NULL if memory is short. */
json_t *comparison_as_json(const comparison_table *t);

/* Draws the mean cosine of word and output, or the mean distance where the model has no vectors:
 * bars for one target, a curve per mechanism for several. Returns an exit status. */
int comparison_plot(const comparison_table *t, const char *path);

/* "guess", "self" or "epsilon". */
const char *comparison_target_name(comparison_target target);

#endif
