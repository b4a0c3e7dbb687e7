/* imdb.h - the IMDB reviews (Maas et al. 2011) in the layout of the standard download: one file per
 * review in train/pos, train/neg, test/pos and test/neg. */
#ifndef EVAL_IMDB_H
#define EVAL_IMDB_H

#include "corpus.h"

enum { IMDB_CLASSES = 2 }; /* 0: negative, 1: positive */

/* Reads folder/PART/neg and folder/PART/pos in the order of the file names. Fails with
 * TEM_ERR_FILE, TEM_ERR_FORMAT (another layout; a review that is not UTF-8; classes of different
 * size), TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
tem_status imdb_read(const char *folder, const char *part, const tem_model *model,
                     const tem_run *run, corpus *out, tem_error *error);

#endif
