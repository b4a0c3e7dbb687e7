/* pool.c - threads that wait for work. */
#include "pool.h"

#include "failure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 };

/* A worker waits until `round` changes, handles its range, and is counted in `finished`. */
struct pool {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    uint64_t round;
    unsigned finished;
    bool ending;
    unsigned workers; /* besides the caller */
    pthread_t threads[THREADS_MAX];
    unsigned next_number; /* handed out to workers as they begin, from 1 */

    uint64_t count;
    pool_task *task;
    void *context;
};

static void handle_range(pool *p, unsigned number) {
    const uint64_t threads = p->workers + 1u;
    const uint64_t first = p->count * number / threads, last = p->count * (number + 1u) / threads;
    if (first < last)
        p->task(p->context, first, last);
}

static void *work(void *argument) {
    pool *p = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    const unsigned number = p->next_number++;
    for (;;) {
        while (p->round == seen && !p->ending)
            pthread_cond_wait(&p->start, &p->lock);
        if (p->ending)
            break;
        seen = p->round;
        pthread_mutex_unlock(&p->lock);
        handle_range(p, number);
        pthread_mutex_lock(&p->lock);
        if (++p->finished == p->workers)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

tem_status pool_create(unsigned threads, pool **out, tem_error *error) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0)
        threads = processors > 0 ? (unsigned)processors : 1;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    pool *p = calloc(1, sizeof *p);
    if (p == NULL)
        return eval_out_of_memory(error);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    p->next_number = 1;
    while (p->workers + 1 < threads && pthread_create(&p->threads[p->workers], NULL, work, p) == 0)
        p->workers++;
    *out = p;
    return TEM_OK;
}

void pool_free(pool *p) {
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->workers; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->start);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

unsigned pool_threads(const pool *p) {
    return p == NULL ? 1 : p->workers + 1;
}

void pool_run(pool *p, uint64_t count, pool_task *task, void *context) {
    if (p == NULL || p->workers == 0) {
        if (count > 0)
            task(context, 0, count);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->count = count;
    p->task = task;
    p->context = context;
    p->finished = 0;
    p->round++;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    handle_range(p, 0);
    pthread_mutex_lock(&p->lock);
    while (p->finished < p->workers)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
