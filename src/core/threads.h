/* threads.h - loops that run on several threads. */
#ifndef CORE_THREADS_H
#define CORE_THREADS_H

#include "tem.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { CORE_THREADS_MAX = 1024 };

/* The number of threads that a run asks for: run->threads, or one per CPU that this process may
 * use; 1 to CORE_THREADS_MAX. run may be NULL. */
unsigned core_thread_count(const tem_run *run);

/* Handles one item. `thread` is 0 to core_thread_count(run) - 1; the caller's thread is 0. A task
 * can use it to find the scratch memory of its thread. */
typedef void core_task(void *context, uint64_t item, unsigned thread);

/* Handles the items 0 to count - 1, each once, started in ascending order. Reports progress, in
 * items, as `stage`, also while it waits for the last items. If the system grants fewer threads
 * than asked for, these do all the work. Fails only with TEM_ERR_CANCELLED; then some items may not
 * have been handled. */
tem_status core_parallel(const tem_run *run, const char *stage, uint64_t count, core_task *task,
                         void *context, tem_error *error);

/* Threads that stay alive between loops. They serve thousands of loops of less than a millisecond
 * each: starting new threads would cost as much as the loop (3 loops per batch of a training, on 8
 * threads: 0.5 ms each with new threads, 0.1 ms with a team). One thread uses a team at a time. */
typedef struct core_team core_team;

/* Makes a team of core_thread_count(run) threads, the caller included, or fewer if the system
 * grants fewer. Fails with TEM_ERR_MEMORY. Free with core_team_free. */
tem_status core_team_create(const tem_run *run, core_team **team, tem_error *error);
void core_team_free(core_team *team);

/* Threads of the team, the caller included; 1 for NULL. */
unsigned core_team_threads(const core_team *team);

/* core_parallel on the threads of a team. Uses only the callback of `run`. team NULL: the caller
 * does all the work. */
tem_status core_team_parallel(core_team *team, const tem_run *run, const char *stage,
                              uint64_t count, core_task *task, void *context, tem_error *error);

/* Whether to stop in the middle of an item, because the callback asked to stop. A task that takes
 * long calls this. If the result is true, the loop fails, and the item need not be right. Cheap
 * enough to be called some hundred times a second. */
bool core_task_stopped(void);

/* Calls the run's callback, if there is one. Fails with TEM_ERR_CANCELLED if it asks to stop. For
 * loops that have no use for threads. */
tem_status core_progress(const tem_run *run, const char *stage, uint64_t done, uint64_t total,
                         tem_error *error);

/* Sets *least to value if value is smaller. Threads that find several faults keep the first one
 * with it, in whatever order they find them. */
void core_atomic_least(atomic_uint_fast64_t *least, uint64_t value);

#endif
