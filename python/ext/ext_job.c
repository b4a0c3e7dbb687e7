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

enum {
    THREADS_MAX = 64,
    SHARE_TEXTS = 16,           /* taken at a time */
    BYTES_PER_THREAD = 32 << 10 /* with less to do a thread does not pay */
};

static void job_delete(PyObject *self) {
    Py_XDECREF((PyObject *)((ext_job *)self)->mechanism);
    ext_delete(self);
}

/* Job(mechanism, unknown, punctuation, strip_tags) */
static PyObject *job_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    const ext_state *state = PyType_GetModuleState(type);
    ext_mechanism *mechanism = NULL;
    const char *oov = NULL, *punctuation = NULL;
    tem_text_options options = {0};
    tem_error error;
    (void)names;
    if (!PyArg_ParseTuple(args, "O!ssp", state->mechanism, &mechanism, &oov, &punctuation,
                          &options.strip_tags))
        return NULL;
    if (tem_oov_parse(oov, &options.oov, &error) != TEM_OK ||
        tem_punctuation_parse(punctuation, &options.punctuation, &error) != TEM_OK)
        return ext_fail(state, &error);
    ext_job *made = ext_new(type);
    if (made == NULL)
        return NULL;
    made->mechanism = (ext_mechanism *)Py_NewRef((PyObject *)mechanism);
    made->options = options;
    return (PyObject *)made;
}

static PyObject *is_bounded(PyObject *self, PyObject *seeded) {
    const ext_job *job = (ext_job *)self;
    const tem_job whole = {.text = job->options, .insecure_seeded = seeded == Py_True};
    return PyBool_FromLong(tem_job_is_bounded(job->mechanism->mechanism, &whole));
}

/* ---- one text ---- */

static PyObject *text(PyObject *self, PyObject *given) {
    const ext_job *job = (ext_job *)self;
    ext_state *state = ext_state_of_self(self);
    Py_ssize_t bytes = 0;
    char *out = NULL;
    size_t out_bytes = 0;
    tem_error error;
    const char *utf8 = ext_utf8(state, given, &bytes);
    tem_rng *rng = utf8 == NULL ? NULL : ext_take_generator(state);
    if (rng == NULL)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_privatize_text(job->mechanism->mechanism, &job->options, rng, utf8, (size_t)bytes, &out,
                           &out_bytes, NULL, &error);
    PyEval_RestoreThread(thread);
    ext_give_generator(state, rng);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    PyObject *result = PyUnicode_DecodeUTF8(out, (Py_ssize_t)out_bytes, NULL);
    tem_text_free(out);
    return result;
}

/* ---- many ---- */

typedef struct document {
    const char *text; /* NULL: nothing */
    size_t bytes;
    char *out;
    size_t out_bytes;
} document;

typedef struct batch {
    const ext_job *job;
    PyObject *texts; /* a tuple, which keeps them alive */
    document *documents;
    Py_ssize_t count;
    uint64_t seed;
    bool seeded;
    _Atomic(Py_ssize_t) next;
    atomic_bool stop;
} batch;

typedef struct worker {
    batch *batch;
    ext_run *run; /* of the caller; NULL in the other threads */
    tem_rng *rng; /* NULL if seeded */
    tem_counts counts;
    tem_status status;
    tem_error error;
    pthread_t handle;
} worker;

/* The number of the document is the stream, as in `tem privatize --insecure-seed`. */
static tem_status replace_one(worker *w, Py_ssize_t i) {
    const batch *b = w->batch;
    document *d = &b->documents[i];
    tem_rng *rng = w->rng;
    tem_status status = TEM_OK;
    if (d->text == NULL)
        return TEM_OK;
    if (b->seeded)
        status = tem_rng_create_insecure(b->seed, (uint64_t)i, &rng, &w->error);
    if (status == TEM_OK)
        status = tem_privatize_text(b->job->mechanism->mechanism, &b->job->options, rng, d->text,
                                    d->bytes, &d->out, &d->out_bytes, &w->counts, &w->error);
    if (b->seeded)
        tem_rng_free(rng);
    return status;
}

/* Asked before each text, which may take long. The caller looks at signals, the others at what it
 * found. */
static bool is_stopped(const worker *w, Py_ssize_t done) {
    batch *b = w->batch;
    if (w->run != NULL && ext_run_tell(w->run, "privatizing", (uint64_t)done, (uint64_t)b->count))
        atomic_store_explicit(&b->stop, true, memory_order_relaxed);
    return atomic_load_explicit(&b->stop, memory_order_relaxed);
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
            w->status = replace_one(w, i);
            if (w->status != TEM_OK) {
                atomic_store(&b->stop, true);
                return NULL;
            }
        }
    }
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
        pthread_join(workers[i].handle, NULL);
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

/* What tables have where there is no text: None, or NaN. */
static bool is_missing(PyObject *item) {
    return item == Py_None || (PyFloat_Check(item) && isnan(PyFloat_AsDouble(item)));
}

/* False with an exception. */
static bool read_documents(const ext_state *state, batch *b, size_t *bytes) {
    for (Py_ssize_t i = 0; i < b->count; i++) {
        PyObject *item = PyTuple_GetItem(b->texts, i);
        Py_ssize_t length = 0;
        if (is_missing(item))
            continue;
        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "text %zd: expected a str or None, not %R", i,
                         (PyObject *)Py_TYPE(item));
            return false;
        }
        b->documents[i].text = ext_utf8(state, item, &length);
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

/* ([text], (documents, words, unknown, punctuation)), or NULL with an exception. */
static PyObject *make_result(const ext_state *state, batch *b, const worker *workers,
                             unsigned threads) {
    tem_counts sum = {0};
    for (unsigned i = 0; i < threads; i++) {
        const tem_counts *c = &workers[i].counts;
        if (workers[i].status != TEM_OK)
            return ext_fail(state, &workers[i].error);
        sum.documents += c->documents;
        sum.words += c->words;
        sum.unknown += c->unknown;
        sum.punctuation += c->punctuation;
    }
    PyObject *list = PyErr_Occurred() ? NULL : make_list(b);
    if (list == NULL)
        return NULL;
    return Py_BuildValue("N(KKKK)", list, (unsigned long long)sum.documents,
                         (unsigned long long)sum.words, (unsigned long long)sum.unknown,
                         (unsigned long long)sum.punctuation);
}

static PyObject *run_batch(ext_state *state, batch *b, unsigned threads, PyObject *progress) {
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
    for (unsigned i = 0; i < threads; i++)
        if (workers[i].rng != NULL)
            ext_give_generator(state, workers[i].rng);
    return ready ? make_result(state, b, workers, threads) : NULL;
}

/* texts(iterable, threads, seed or None, progress) */
static PyObject *texts(PyObject *self, PyObject *args) {
    ext_state *state = ext_state_of_self(self);
    PyObject *given = NULL, *seed = NULL, *progress = NULL, *result = NULL;
    unsigned threads = 0;
    size_t bytes = 0;
    if (!PyArg_ParseTuple(args, "OIOO", &given, &threads, &seed, &progress))
        return NULL;
    batch b = {.job = (ext_job *)self, .seeded = seed != Py_None};
    b.seed = b.seeded ? PyLong_AsUnsignedLongLong(seed) : 0;
    b.texts = PyErr_Occurred() ? NULL : PySequence_Tuple(given);
    if (b.texts == NULL)
        return NULL;
    b.count = PyTuple_Size(b.texts);
    b.documents = calloc((size_t)b.count + 1, sizeof *b.documents);
    if (b.documents == NULL)
        PyErr_NoMemory();
    else if (read_documents(state, &b, &bytes))
        result = run_batch(state, &b, threads_for(threads, bytes), progress);
    for (Py_ssize_t i = 0; b.documents != NULL && i < b.count; i++)
        tem_text_free(b.documents[i].out);
    free(b.documents);
    Py_DECREF(b.texts);
    return result;
}

static PyMethodDef methods[] = {
    {"text", text, METH_O, "text(str)"},
    {"texts", texts, METH_VARARGS, "texts(iterable, threads, seed, progress)"},
    {"is_bounded", is_bounded, METH_O, "is_bounded(seeded)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, job_new}, {Py_tp_dealloc, job_delete}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec ext_job_spec = {.name = "tem._tem.Job",
                            .basicsize = sizeof(ext_job),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                            .slots = slots};
