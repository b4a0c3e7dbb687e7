/* test_threads.c - loops over threads: every item once, progress, stopping, how many threads. */
#include "core/threads.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS_MAX = 5000 };

/* ---- what the system grants ---- */

static int threads_granted = -1; /* -1: any number */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument) {
    if (threads_granted == 0)
        return 11; /* EAGAIN */
    threads_granted -= threads_granted > 0;
    return __real_pthread_create(thread, attributes, work, argument);
}

/* ---- a loop that takes note ---- */

typedef struct notes {
    unsigned threads;
    atomic_int handled[ITEMS_MAX];
    uint64_t next[64]; /* by thread: no item before this one may come */
    atomic_bool wrong;
    pthread_t caller;
    uint64_t asked, last_done, last_total;
    uint64_t stop_at; /* the question that is answered with stop; 0: none */
} notes;

static notes n;

static void note(void *context, uint64_t item, unsigned thread) {
    if (context != &n || item >= ITEMS_MAX || thread >= n.threads || item < n.next[thread] ||
        (thread == 0) != (pthread_equal(pthread_self(), n.caller) != 0)) {
        atomic_store(&n.wrong, true);
        return;
    }
    n.next[thread] = item + 1;
    atomic_fetch_add(&n.handled[item], 1);
}

static int answer(void *context, const char *stage, uint64_t done, uint64_t total) {
    if (context != &n || strcmp(stage, "counting") != 0 || done > total || done < n.last_done ||
        !pthread_equal(pthread_self(), n.caller))
        atomic_store(&n.wrong, true);
    n.last_done = done;
    n.last_total = total;
    return ++n.asked == n.stop_at;
}

static tem_status run_loop(unsigned threads, uint64_t count, core_task *task, uint64_t stop_at,
                           tem_error *error) {
    const tem_run run = {.threads = threads, .progress = answer, .progress_context = &n};
    memset(&n, 0, sizeof n);
    n.threads = threads;
    n.caller = pthread_self();
    n.stop_at = stop_at;
    return core_parallel(&run, "counting", count, task, &n, error);
}

static void check_all_handled(uint64_t count) {
    assert_false(atomic_load(&n.wrong));
    for (uint64_t i = 0; i < ITEMS_MAX; i++)
        assert_int_equal(atomic_load(&n.handled[i]), i < count ? 1 : 0);
    assert_true(n.last_done == count && n.last_total == count);
}

static void test_every_item_once(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 7, ITEMS_MAX};
    static const unsigned threads[] = {1, 2, 8, 64};
    for (size_t c = 0; c < 5; c++)
        for (size_t t = 0; t < 4; t++) {
            assert_int_equal(run_loop(threads[t], counts[c], note, 0, NULL), TEM_OK);
            check_all_handled(counts[c]);
        }
}

static void test_fewer_threads_than_asked_for(void **state) {
    (void)state;
    for (int granted = 0; granted < 4; granted++) {
        threads_granted = granted;
        const tem_status status = run_loop(8, 1000, note, 0, NULL);
        threads_granted = -1;
        assert_int_equal(status, TEM_OK);
        check_all_handled(1000);
    }
}

/* ---- stopping ---- */

/* On one thread it is known which items were handled: the callback is asked before the first item
 * and after each. */
static void test_stops_where_it_is_told(void **state) {
    (void)state;
    for (uint64_t at = 1; at < 20; at++) {
        tem_error error = {0};
        assert_int_equal(run_loop(1, 100, note, at, &error), TEM_ERR_CANCELLED);
        assert_int_equal(error.status, TEM_ERR_CANCELLED);
        assert_false(atomic_load(&n.wrong));
        assert_int_equal(n.asked, at);
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(atomic_load(&n.handled[i]), i < at - 1 ? 1 : 0);
    }
}

static void wait_until_stopped(void *context, uint64_t item, unsigned thread) {
    note(context, item, thread);
    while (!core_task_stopped())
        sched_yield();
}

/* Items that take for ever, on all threads, end when the callback asks for it. */
static void test_tasks_learn_of_it(void **state) {
    (void)state;
    assert_false(core_task_stopped());
    assert_int_equal(run_loop(4, 100, wait_until_stopped, 3, NULL), TEM_ERR_CANCELLED);
    assert_false(atomic_load(&n.wrong));
    assert_int_equal(n.asked, 3);
    assert_false(core_task_stopped());
}

/* ---- loops within loops ---- */

static atomic_int inner_items;

static void count_inner(void *context, uint64_t item, unsigned thread) {
    (void)context;
    (void)item;
    (void)thread;
    atomic_fetch_add(&inner_items, 1);
}

static void loop_within(void *context, uint64_t item, unsigned thread) {
    const tem_run run = {.threads = 2};
    note(context, item, thread);
    if (core_parallel(&run, "within", 10, count_inner, NULL, NULL) != TEM_OK || core_task_stopped())
        atomic_store(&n.wrong, true);
}

static void test_loops_within_loops(void **state) {
    (void)state;
    atomic_store(&inner_items, 0);
    assert_int_equal(run_loop(3, 50, loop_within, 0, NULL), TEM_OK);
    check_all_handled(50);
    assert_int_equal(atomic_load(&inner_items), 500);
}

/* ---- how many threads ---- */

static void test_thread_count(void **state) {
    (void)state;
    const tem_run none = {0}, three = {.threads = 3}, many = {.threads = 1000000};
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    size_t first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_SET(first, &one);
    assert_int_equal(core_thread_count(NULL), CPU_COUNT(&before));
    assert_int_equal(core_thread_count(&none), CPU_COUNT(&before));
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const unsigned on_one = core_thread_count(NULL);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(on_one, 1);
    assert_int_equal(core_thread_count(&three), 3);
    assert_int_equal(core_thread_count(&many), CORE_THREADS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once),
        cmocka_unit_test(test_fewer_threads_than_asked_for),
        cmocka_unit_test(test_stops_where_it_is_told),
        cmocka_unit_test(test_tasks_learn_of_it),
        cmocka_unit_test(test_loops_within_loops),
        cmocka_unit_test(test_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
