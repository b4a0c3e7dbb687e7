/* ext_job.c - texts in Python: each goes through tem_privatize_text.
 *
 * One text is one call. Many are shared out among threads, which live for one call, so that
 * nothing is left behind that a fork() could break; the caller is one of them, and the only one
 * that looks at signals and progress. */
#include "ext.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
    THREADS_MAX = 64,
    SHARE_TEXTS = 16,            /* taken at a time */
    BYTES_PER_THREAD = 32 << 10, /* with less to do a thread does not pay */
    WAIT_NS = 50000000           /* between two looks at signals */
};

static void job_delete(PyObject *self) {
    Py_XDECREF((PyObject *)((ext_job *)self)->mechanism);
    ext_delete(self);
}

/* Job(mechanism, unknown, punctuation, strip_tags, keep_lines, missing) */
static PyObject *job_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    const ext_state *state = PyType_GetModuleState(type);
    ext_mechanism *mechanism = NULL;
    const char *oov = NULL, *punctuation = NULL, *missing_name = NULL;
    tem_text_options options = {0};
    tem_missing missing = 0;
    tem_error error;
    (void)names;
    if (!PyArg_ParseTuple(args, "O!sspps", state->mechanism, &mechanism, &oov, &punctuation,
                          &options.strip_tags, &options.keep_lines, &missing_name))
        return NULL;
    if (tem_oov_parse(oov, &options.oov, &error) != TEM_OK ||
        tem_punctuation_parse(punctuation, &options.punctuation, &error) != TEM_OK ||
        tem_missing_parse(missing_name, &missing, &error) != TEM_OK)
        return ext_fail(state, &error);
    ext_job *made = ext_new(type);
    if (made == NULL)
        return NULL;
    made->mechanism = (ext_mechanism *)Py_NewRef((PyObject *)mechanism);
    made->options = options;
    made->missing = missing;
    return (PyObject *)made;
}

/* why_not_private(seeded): a sentence, or None */
static PyObject *why_not_private(PyObject *self, PyObject *seeded) {
    const ext_job *job = (ext_job *)self;
    const tem_job whole = {.text = job->options, .insecure_seeded = seeded == Py_True};
    const char *why = tem_job_why_not_private(job->mechanism->mechanism, &whole);
    return why != NULL ? PyUnicode_FromString(why) : Py_NewRef(Py_None);
}

/* ---- one text ---- */

static PyObject *text(PyObject *self, PyObject *given) {
    const ext_job *job = (ext_job *)self;
    ext_state *state = ext_state_of_self(self);
    Py_ssize_t bytes = 0;
    char *out = NULL;
    size_t out_bytes = 0;
    tem_error error;
    ext_run run;
    const char *utf8 = ext_utf8(state, given, NULL, 0, &bytes);
    tem_rng *rng = utf8 == NULL ? NULL : ext_take_generator(state);
    if (rng == NULL)
        return NULL;
    ext_run_begin(&run, 1, Py_None);
    const tem_status status =
        tem_privatize_text(job->mechanism->mechanism, &job->options, rng, utf8, (size_t)bytes,
                           &run.run, &out, &out_bytes, NULL, &error);
    ext_run_end(&run);
    ext_give_generator(state, rng);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    PyObject *result =
        PyErr_Occurred() ? NULL : PyUnicode_DecodeUTF8(out, (Py_ssize_t)out_bytes, NULL);
    tem_text_free(out);
    return result;
}

/* ---- many ---- */

typedef struct document {
    const char *text; /* NULL: missing, and stays what it is */
    size_t bytes;
    char *out;
    size_t out_bytes;
} document;

typedef struct batch {
    const ext_job *job;
    PyObject *texts; /* a tuple, which keeps them alive */
    document *documents;
    tem_counts *counts; /* of each */
    Py_ssize_t count;
    uint64_t seed;
    bool seeded;
    _Atomic(Py_ssize_t) next;
    atomic_bool stop;
} batch;

typedef struct worker {
    batch *batch;
    ext_run *run;      /* of the caller; NULL in the other threads */
    Py_ssize_t number; /* of the text at hand */
    tem_rng *rng;      /* NULL if seeded */
    tem_status status;
    tem_error error;
    pthread_t handle;
} worker;

/* Asked before each text and within large ones. The caller looks at signals, the others at what it
 * found. */
static bool is_stopped(const worker *w, Py_ssize_t done) {
    batch *b = w->batch;
    if (w->run != NULL && ext_run_tell(w->run, "privatizing", (uint64_t)done, (uint64_t)b->count))
        atomic_store_explicit(&b->stop, true, memory_order_relaxed);
    return atomic_load_explicit(&b->stop, memory_order_relaxed);
}

/* The progress callback of a worker. */
static int ask(void *context, const char *stage, uint64_t done, uint64_t total) {
    const worker *w = context;
    (void)stage, (void)done, (void)total;
    return is_stopped(w, w->number);
}

/* The number of the document is the stream, as in `tem privatize --insecure-seed`. */
static tem_status replace_one(worker *w, Py_ssize_t i) {
    const batch *b = w->batch;
    const tem_run run = {.progress = ask, .progress_context = w};
    document *d = &b->documents[i];
    tem_rng *rng = w->rng;
    tem_status status = TEM_OK;
    w->number = i;
    if (d->text == NULL)
        return TEM_OK;
    if (b->seeded)
        status = tem_rng_create_insecure(b->seed, (uint64_t)i, &rng, &w->error);
    if (status == TEM_OK)
        status =
            tem_privatize_text(b->job->mechanism->mechanism, &b->job->options, rng, d->text,
                               d->bytes, &run, &d->out, &d->out_bytes, &b->counts[i], &w->error);
    if (b->seeded)
        tem_rng_free(rng);
    return status;
}

static void *work(void *argument) {
    worker *w = argument;
    batch *b = w->batch;
    for (;;) {
        const Py_ssize_t first = atomic_fetch_add(&b->next, SHARE_TEXTS);
        const Py_ssize_t end = first + SHARE_TEXTS < b->count ? first + SHARE_TEXTS : b->count;
        if (first >= end)
            return NULL;
        for (Py_ssize_t i = first; i < end; i++) {
            if (is_stopped(w, first))
                return NULL;
            const tem_status status = replace_one(w, i);
            if (status == TEM_ERR_CANCELLED) /* whoever stopped us has the reason */
                return NULL;
            if (status != TEM_OK) {
                w->status = status;
                atomic_store(&b->stop, true);
                return NULL;
            }
        }
    }
}

/* Waits for another thread, whose last text may be a large one, and looks at signals meanwhile. */
static void join(const worker *caller, const worker *other) {
    struct timespec end;
    do {
        is_stopped(caller, caller->number);
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_nsec += WAIT_NS;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
    } while (pthread_clockjoin_np(other->handle, NULL, CLOCK_MONOTONIC, &end) != 0);
}

/* The caller's share, and the end of the others. */
static void work_and_wait(batch *b, worker *workers, unsigned threads, ext_run *run) {
    unsigned started = 1;
    for (; started < threads; started++)
        if (pthread_create(&workers[started].handle, NULL, work, &workers[started]) != 0)
            break;
    workers[0].run = run;
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        join(&workers[0], &workers[i]);
    if (!atomic_load(&b->stop))
        ext_run_tell(run, "privatizing", (uint64_t)b->count, (uint64_t)b->count);
}

static unsigned threads_for(unsigned wanted, size_t bytes) {
    cpu_set_t set;
    unsigned threads = wanted;
    if (wanted == 0) {
        threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
        if (threads > bytes / BYTES_PER_THREAD + 1)
            threads = (unsigned)(bytes / BYTES_PER_THREAD + 1);
    }
    return threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* pandas.NA, known by its type: pandas need not be there. */
static bool is_na(PyObject *item) {
    PyObject *name = PyType_GetName(Py_TYPE(item));
    const bool found = name != NULL && PyUnicode_CompareWithASCIIString(name, "NAType") == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

/* What tables have where there is no text: None, NaN or pandas.NA. */
static bool is_missing(PyObject *item) {
    if (PyUnicode_Check(item))
        return false;
    return item == Py_None || (PyFloat_Check(item) && isnan(PyFloat_AsDouble(item))) || is_na(item);
}

/* False with an exception. */
static bool read_documents(const ext_state *state, batch *b, size_t *bytes) {
    for (Py_ssize_t i = 0; i < b->count; i++) {
        PyObject *item = PyTuple_GetItem(b->texts, i);
        Py_ssize_t length = 0;
        if (is_missing(item)) {
            /* PRIVACY: as "" is, or which texts are missing would show. */
            b->documents[i].text = b->job->missing == TEM_MISSING_KEEP ? NULL : "";
            continue;
        }
        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "text %zd: expected a str or None, not %R", i,
                         (PyObject *)Py_TYPE(item));
            return false;
        }
        b->documents[i].text = ext_utf8(state, item, "text", i, &length);
        if (b->documents[i].text == NULL)
            return false;
        b->documents[i].bytes = (size_t)length;
        *bytes += (size_t)length;
    }
    return true;
}

/* Each result is freed as it becomes a str: only one copy of the texts is there at a time. */
static PyObject *make_list(batch *b) {
    PyObject *list = PyList_New(b->count);
    for (Py_ssize_t i = 0; list != NULL && i < b->count; i++) {
        document *d = &b->documents[i];
        PyObject *item = d->text == NULL
                             ? Py_NewRef(PyTuple_GetItem(b->texts, i))
                             : PyUnicode_DecodeUTF8(d->out, (Py_ssize_t)d->out_bytes, NULL);
        tem_text_free(d->out);
        d->out = NULL;
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, item);
    }
    return list;
}

static tem_counts sum_of(const batch *b) {
    tem_counts sum = {0};
    for (Py_ssize_t i = 0; i < b->count; i++) {
        sum.documents += b->counts[i].documents;
        sum.words += b->counts[i].words;
        sum.unknown += b->counts[i].unknown;
        sum.punctuation += b->counts[i].punctuation;
    }
    return sum;
}

/* ([text], (documents, words, unknown, punctuation), balance or None); NULL with an exception. */
static PyObject *make_result(batch *b, const ext_ledger *ledger, PyObject *progress) {
    const tem_counts sum = sum_of(b);
    PyObject *balance = ext_ledger_charge(b->job, ledger, b->seeded, b->counts, b->count, progress);
    PyObject *list = balance == NULL ? NULL : make_list(b);
    if (list == NULL) {
        Py_XDECREF(balance);
        return NULL;
    }
    return Py_BuildValue("N(KKKK)N", list, (unsigned long long)sum.documents,
                         (unsigned long long)sum.words, (unsigned long long)sum.unknown,
                         (unsigned long long)sum.punctuation, balance);
}

/* Whether all documents were drawn for; else an exception is set. */
static bool run_batch(ext_state *state, batch *b, unsigned threads, PyObject *progress) {
    worker workers[THREADS_MAX];
    ext_run run;
    bool ready = true;
    for (unsigned i = 0; i < threads; i++) {
        workers[i] =
            (worker){.batch = b, .rng = b->seeded || !ready ? NULL : ext_take_generator(state)};
        ready = ready && (b->seeded || workers[i].rng != NULL);
    }
    if (ready) {
        ext_run_begin(&run, threads, progress);
        work_and_wait(b, workers, threads, &run);
        ext_run_end(&run);
    }
    for (unsigned i = 0; i < threads; i++) {
        if (workers[i].rng != NULL)
            ext_give_generator(state, workers[i].rng);
        if (workers[i].status != TEM_OK)
            ext_fail(state, &workers[i].error);
    }
    return ready && !PyErr_Occurred();
}

/* False with an exception. */
static bool make_room(batch *b) {
    b->count = PyTuple_Size(b->texts);
    b->documents = calloc((size_t)b->count + 1, sizeof *b->documents);
    b->counts = calloc((size_t)b->count + 1, sizeof *b->counts);
    if (b->documents != NULL && b->counts != NULL)
        return true;
    PyErr_NoMemory();
    return false;
}

static void free_batch(batch *b) {
    for (Py_ssize_t i = 0; b->documents != NULL && i < b->count; i++)
        tem_text_free(b->documents[i].out);
    free(b->documents);
    free(b->counts);
    Py_XDECREF(b->texts);
}

/* texts(iterable, threads, seed or None, progress, ledger or None) */
static PyObject *texts(PyObject *self, PyObject *args) {
    ext_state *state = ext_state_of_self(self);
    PyObject *given = NULL, *seed = NULL, *progress = NULL, *charged = NULL, *result = NULL;
    ext_ledger ledger;
    unsigned threads = 0;
    size_t bytes = 0;
    if (!PyArg_ParseTuple(args, "OIOOO", &given, &threads, &seed, &progress, &charged))
        return NULL;
    batch b = {.job = (ext_job *)self, .seeded = seed != Py_None};
    b.seed = b.seeded ? PyLong_AsUnsignedLongLong(seed) : 0;
    b.texts = PyErr_Occurred() ? NULL : PySequence_Tuple(given);
    if (b.texts == NULL)
        return NULL;
    if (ext_ledger_read(charged, &ledger) && make_room(&b) && read_documents(state, &b, &bytes) &&
        run_batch(state, &b, threads_for(threads, bytes), progress))
        result = make_result(&b, &ledger, progress);
    ext_ledger_free(&ledger);
    free_batch(&b);
    return result;
}

/* charge((documents, words, unknown, punctuation), progress, ledger): for what was drawn elsewhere */
static PyObject *charge(PyObject *self, PyObject *args) {
    unsigned long long documents = 0, words = 0, unknown = 0, punctuation = 0;
    PyObject *progress = NULL, *charged = NULL, *balance = NULL;
    ext_ledger ledger;
    if (!PyArg_ParseTuple(args, "(KKKK)OO", &documents, &words, &unknown, &punctuation, &progress,
                          &charged))
        return NULL;
    const tem_counts counts = {documents, words, unknown, punctuation};
    if (ext_ledger_read(charged, &ledger))
        balance = ext_ledger_charge((ext_job *)self, &ledger, false, &counts, 1, progress);
    ext_ledger_free(&ledger);
    return balance;
}

static PyMethodDef methods[] = {
    {"text", text, METH_O, "text(str)"},
    {"texts", texts, METH_VARARGS, "texts(iterable, threads, seed, progress, ledger)"},
    {"charge", charge, METH_VARARGS, "charge(counts, progress, ledger)"},
    {"why_not_private", why_not_private, METH_O, "why_not_private(seeded)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, job_new}, {Py_tp_dealloc, job_delete}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec ext_job_spec = {.name = "tem._tem.Job",
                            .basicsize = sizeof(ext_job),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                            .slots = slots};
