/* ext_job.c - texts in Python: one goes through tem_privatize_text, many through
 * tem_privatize_texts, whose threads live for one call, so that nothing is left behind that a
 * fork() could break. */
#include "ext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int job_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_job *)self)->mechanism);
    return 0;
}

static void job_delete(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)((ext_job *)self)->mechanism);
    ext_delete(self);
}

/* Job(mechanism, oov, punctuation, strip_tags, keep_lines, missing, order, style, repeat) */
static PyObject *job_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    const ext_state *state = PyType_GetModuleState(type);
    ext_mechanism *mechanism = NULL;
    const char *oov = NULL, *punctuation = NULL, *missing_name = NULL, *order = NULL, *style = NULL;
    const char *repeat = NULL;
    tem_text_options options = {0};
    tem_missing missing = 0;
    tem_error error;
    (void)names;
    if (!PyArg_ParseTuple(args, "O!ssppsszs", state->mechanism, &mechanism, &oov, &punctuation,
                          &options.strip_tags, &options.keep_lines, &missing_name, &order, &style,
                          &repeat))
        return NULL;
    if (tem_oov_parse(oov, &options.oov, &error) != TEM_OK ||
        tem_punctuation_parse(punctuation, &options.punctuation, &error) != TEM_OK ||
        tem_missing_parse(missing_name, &missing, &error) != TEM_OK ||
        tem_repeat_parse(repeat, &options.repeat, &error) != TEM_OK ||
        tem_order_parse(order, &options.order, &error) != TEM_OK ||
        (style != NULL && tem_style_parse(style, &options.style, &error) != TEM_OK))
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

/* What there is to warn of: 1, the texts seem to be in another language than the model; 2, most are
 * lines of the text that the language model was made of; 3, both. */
static PyObject *concerns(const ext_job *job, const tem_counts *counts) {
    const int is_foreign = tem_counts_are_foreign(job->mechanism->mechanism, counts);
    return PyLong_FromLong((is_foreign ? 1 : 0) + (tem_counts_are_public(counts) ? 2 : 0));
}

/* ---- one text ---- */

/* text(str): (the private text, what there is to warn of) */
static PyObject *text(PyObject *self, PyObject *given) {
    const ext_job *job = (ext_job *)self;
    ext_state *state = ext_state_of_self(self);
    Py_ssize_t bytes = 0;
    char *out = NULL;
    size_t out_bytes = 0;
    tem_counts counts = {0};
    tem_error error;
    ext_run run;
    const char *utf8 = ext_utf8(state, given, NULL, 0, &bytes);
    tem_rng *rng = utf8 == NULL ? NULL : ext_take_generator(state);
    if (rng == NULL)
        return NULL;
    ext_run_begin(&run, 1, Py_None);
    const tem_status status =
        tem_privatize_text(job->mechanism->mechanism, &job->options, rng, utf8, (size_t)bytes,
                           &run.run, &out, &out_bytes, &counts, &error);
    ext_run_end(&run);
    ext_give_generator(state, rng);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    PyObject *result = NULL;
    if (!PyErr_Occurred())
        result = Py_BuildValue("NN", PyUnicode_DecodeUTF8(out, (Py_ssize_t)out_bytes, NULL),
                               concerns(job, &counts));
    tem_text_free(out);
    return result;
}

/* ---- many ---- */

/* pandas.NA, known by its type: pandas need not be there. */
static bool is_na(PyObject *item) {
    PyObject *name = PyType_GetName(Py_TYPE(item));
    const bool found = name != NULL && PyUnicode_CompareWithASCIIString(name, "NAType") == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

/* The values that tables use for a missing text: None, NaN or pandas.NA. */
static bool is_missing(PyObject *item) {
    if (PyUnicode_Check(item))
        return false;
    return item == Py_None || (PyFloat_Check(item) && isnan(PyFloat_AsDouble(item))) || is_na(item);
}

/* Returns the input for each item; NULL with an exception. The items keep its texts alive. */
static tem_text_input *read_texts(const ext_state *state, PyObject *items) {
    const Py_ssize_t count = PyTuple_Size(items);
    tem_text_input *texts = calloc((size_t)count + 1, sizeof *texts);
    if (texts == NULL)
        return (tem_text_input *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(items, i);
        Py_ssize_t bytes = 0;
        if (is_missing(item))
            continue;
        if (PyUnicode_Check(item))
            texts[i].text = ext_utf8(state, item, "texts", i, &bytes);
        else
            PyErr_Format(PyExc_TypeError, "texts[%zd]: expected a str or None, not %R", i,
                         (PyObject *)Py_TYPE(item));
        if (texts[i].text == NULL) {
            free(texts);
            return NULL;
        }
        texts[i].bytes = (size_t)bytes;
    }
    return texts;
}

/* Makes the list of results. Where the library returns no text, because the input was missing and
 * may stay missing, the original item stays. */
static PyObject *make_list(const tem_texts *private, PyObject *items) {
    const Py_ssize_t count = PyTuple_Size(items);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        size_t bytes = 0;
        const char *text = tem_texts_at(private, (size_t)i, &bytes);
        PyObject *item = text == NULL ? Py_NewRef(PyTuple_GetItem(items, i))
                                      : PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, NULL);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, item);
    }
    return list;
}

/* Raises the error. The library counts texts from 1, Python from 0. */
static PyObject *fail_text(const ext_state *state, const tem_error *error) {
    tem_error named = *error;
    if (error->line == 0 || error->file[0] != '\0')
        return ext_fail(state, error);
    named.line = 0;
    snprintf(named.message, sizeof named.message, "texts[%llu]: %.200s",
             (unsigned long long)error->line - 1, error->message);
    return ext_fail(state, &named);
}

/* ([text], (documents, words, unknown, punctuation, charged), balance or None, what there is to
 * warn of); NULL with an exception. */
static PyObject *make_result(const ext_job *job, const tem_texts *private, PyObject *items,
                             const tem_counts *counts, PyObject *balance) {
    PyObject *list = balance == NULL ? NULL : make_list(private, items);
    if (list == NULL) {
        Py_XDECREF(balance);
        return NULL;
    }
    return Py_BuildValue("N(KKKKK)NN", list, (unsigned long long)counts->documents,
                         (unsigned long long)counts->words, (unsigned long long)counts->unknown,
                         (unsigned long long)counts->punctuation,
                         (unsigned long long)counts->charged, balance, concerns(job, counts));
}

/* Privatizes the texts that were read. The library has charged for them when the call returns. */
static PyObject *run_texts(const ext_job *job, const tem_job *terms, PyObject *items,
                           const tem_text_input *texts, unsigned threads, PyObject *progress) {
    const ext_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)job));
    tem_balance balance = {.left = INFINITY};
    tem_counts counts = {0};
    tem_texts *private = NULL;
    PyObject *result = NULL;
    tem_error error;
    ext_run run;
    ext_run_begin(&run, threads, progress);
    const tem_status status =
        tem_privatize_texts(job->mechanism->mechanism, terms, texts, (size_t)PyTuple_Size(items),
                            &run.run, &private, &counts, &balance, &error);
    ext_run_end(&run);
    if (status != TEM_OK)
        fail_text(state, &error);
    else if (!PyErr_Occurred())
        result = make_result(job, private, items, &counts, ext_ledger_balance(terms, &balance));
    tem_texts_free(private);
    return result;
}

/* texts(iterable, threads, seed or None, progress, ledger or None) */
static PyObject *texts(PyObject *self, PyObject *args) {
    const ext_job *job = (ext_job *)self;
    const ext_state *state = ext_state_of_self(self);
    PyObject *given = NULL, *seed = NULL, *progress = NULL, *charged = NULL, *result = NULL;
    ext_ledger ledger;
    unsigned threads = 0;
    if (!PyArg_ParseTuple(args, "OIOOO", &given, &threads, &seed, &progress, &charged))
        return NULL;
    const uint64_t number = seed == Py_None ? 0 : PyLong_AsUnsignedLongLong(seed);
    PyObject *items = PyErr_Occurred() ? NULL : PySequence_Tuple(given);
    if (items == NULL)
        return NULL;
    tem_text_input *inputs = NULL;
    if (ext_ledger_read(charged, &ledger) && (inputs = read_texts(state, items)) != NULL &&
        ext_ledger_name_people(state, &ledger, inputs, PyTuple_Size(items))) {
        tem_job terms = ext_ledger_terms(job, &ledger);
        terms.insecure_seeded = seed != Py_None;
        terms.insecure_seed = number;
        result = run_texts(job, &terms, items, inputs, threads, progress);
    }
    free(inputs);
    ext_ledger_free(&ledger);
    Py_DECREF(items);
    return result;
}

/* charge((documents, words, unknown, punctuation, charged), progress, ledger): for what was drawn
 * elsewhere */
static PyObject *charge(PyObject *self, PyObject *args) {
    unsigned long long documents = 0, words = 0, unknown = 0, punctuation = 0, drawn = 0;
    PyObject *progress = NULL, *charged = NULL, *balance = NULL;
    ext_ledger ledger;
    if (!PyArg_ParseTuple(args, "(KKKKK)OO", &documents, &words, &unknown, &punctuation, &drawn,
                          &progress, &charged))
        return NULL;
    const tem_counts counts = {.documents = documents,
                               .words = words,
                               .unknown = unknown,
                               .punctuation = punctuation,
                               .charged = drawn};
    if (ext_ledger_read(charged, &ledger))
        balance = ext_ledger_charge((ext_job *)self, &ledger, &counts, progress);
    ext_ledger_free(&ledger);
    return balance;
}

static PyMethodDef methods[] = {
    {"text", text, METH_O, "text(str)"},
    {"texts", texts, METH_VARARGS, "texts(iterable, threads, seed, progress, ledger)"},
    {"ids", ext_job_ids, METH_VARARGS, "ids(ids, lengths, threads, seed, progress, ledger)"},
    {"charge", charge, METH_VARARGS, "charge(counts, progress, ledger)"},
    {"why_not_private", why_not_private, METH_O, "why_not_private(seeded)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_new, job_new},
                              {Py_tp_dealloc, job_delete},
                              {Py_tp_traverse, job_traverse},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PyType_Spec ext_job_spec = {.name = "tem._tem.Job",
                            .basicsize = sizeof(ext_job),
                            .flags =
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                            .slots = slots};
