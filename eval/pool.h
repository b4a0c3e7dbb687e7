/* pool.h - threads that wait for work. A training has thousands of short parallel steps; starting
 * new threads for each would cost more than the step. */
#ifndef EVAL_POOL_H
#define EVAL_POOL_H

#include "tem.h"

typedef struct pool pool;

/* threads: includes the caller; 0: one per CPU. If the system grants fewer threads, those do all
 * the work. */
tem_status pool_create(unsigned threads, pool **out, tem_error *error);
void pool_free(pool *p);

unsigned pool_threads(const pool *p);

/* Processes the items first to last - 1, on one thread. */
typedef void pool_task(void *context, uint64_t first, uint64_t last);

/* Processes the items 0 to count - 1, in as many equal ranges as there are threads. The result for
 * an item must not depend on its range; then the number of threads changes no result. p may be
 * NULL: the caller does everything. */
void pool_run(pool *p, uint64_t count, pool_task *task, void *context);

#endif
