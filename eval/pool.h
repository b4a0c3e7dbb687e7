/* pool.h - threads that wait for work. A training has thousands of short parallel pieces, for
 * each of which making threads anew would cost more than the piece. */
#ifndef EVAL_POOL_H
#define EVAL_POOL_H

#include "tem.h"

typedef struct pool pool;

/* threads: the caller included; 0: one per processor. Where the system grants fewer, those it
 * has do all the work. */
tem_status pool_create(unsigned threads, pool **out, tem_error *error);
void pool_free(pool *p);

unsigned pool_threads(const pool *p);

/* Handles the items first to last - 1, on one thread. */
typedef void pool_task(void *context, uint64_t first, uint64_t last);

/* Has the items 0 to count - 1 handled, in as many equal ranges as there are threads. What a
 * task makes of an item must not depend on the range: then the number of threads changes no
 * result. p may be NULL: the caller does it all. */
void pool_run(pool *p, uint64_t count, pool_task *task, void *context);

#endif
