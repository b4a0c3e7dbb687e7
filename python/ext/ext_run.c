/* ext_run.c - long calls: the GIL, progress, and Ctrl-C. */
#include "ext.h"

#include <time.h>

enum { INTERVAL_MS = 50 }; /* Ctrl-C acts within this time; the GIL is not taken in between */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int tell(void *context, const char *stage, uint64_t done, uint64_t total) {
    return ext_run_tell(context, stage, done, total);
}

void ext_run_begin(ext_run *r, unsigned threads, PyObject *callable) {
    *r = (ext_run){.callable = callable == Py_None ? NULL : callable, .told = now_ms()};
    r->run = (tem_run){.threads = threads, .progress = tell, .progress_context = r};
    r->thread = PyEval_SaveThread();
}

void ext_run_end(ext_run *r) {
    PyEval_RestoreThread(r->thread);
}

/* Needs the GIL. Handles signals first, then calls the user's function, whose exceptions stop the
 * call. */
static bool ask_python(ext_run *r, const char *stage, uint64_t done, uint64_t total) {
    if (PyErr_Occurred() || PyErr_CheckSignals() != 0)
        return true;
    if (r->callable == NULL)
        return false;
    PyObject *answer = PyObject_CallFunction(r->callable, "sKK", stage, (unsigned long long)done,
                                             (unsigned long long)total);
    Py_XDECREF(answer);
    return answer == NULL;
}

bool ext_run_tell(ext_run *r, const char *stage, uint64_t done, uint64_t total) {
    const int64_t now = now_ms();
    if (r->stop)
        return true;
    const bool ends = r->callable != NULL && (stage != r->stage || (done == total && total > 0));
    if (!ends && now - r->told < INTERVAL_MS)
        return false;
    r->told = now;
    r->stage = stage;
    PyEval_RestoreThread(r->thread);
    r->stop = ask_python(r, stage, done, total);
    r->thread = PyEval_SaveThread();
    return r->stop;
}
