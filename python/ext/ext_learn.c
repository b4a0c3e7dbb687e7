/* ext_learn.c - tem_learn.h in Python: channels, vectors to learn with, and the words of texts.
 *
 * Matrices are buffers of float64, row by row, such as NumPy's arrays; the caller makes those that
 * receive results. tem/_channel.py gives them their shapes. */
#include "ext.h"

#include <string.h>

static void channel_delete(PyObject *self) {
    ext_channel *c = (ext_channel *)self;
    tem_channel_free(c->channel);
    Py_XDECREF((PyObject *)c->mechanism);
    ext_delete(self);
}

/* make_channel(mechanism, threads, progress) */
static PyObject *make_channel(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_mechanism *mechanism = NULL;
    PyObject *progress = NULL;
    unsigned threads = 0;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!IO", state->mechanism, &mechanism, &threads, &progress))
        return NULL;
    ext_channel *made = ext_new(state->channel);
    if (made == NULL)
        return NULL;
    made->mechanism = (ext_mechanism *)Py_NewRef((PyObject *)mechanism);
    ext_run_begin(&run, threads, progress);
    const tem_status status =
        tem_channel_create(mechanism->mechanism, &run.run, &made->channel, &error);
    ext_run_end(&run);
    if (status == TEM_OK && !PyErr_Occurred())
        return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return ext_fail(state, &error);
}

static PyObject *inputs(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLong(tem_channel_inputs(((ext_channel *)self)->channel));
}

static PyObject *outputs(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLong(tem_channel_outputs(((ext_channel *)self)->channel));
}

/* ---- matrices ---- */

/* Whether the buffer is a matrix of float64 with this shape; sets an exception if not. */
static bool is_matrix(const Py_buffer *buffer, uint32_t rows, uint32_t columns) {
    if (columns > 0 && (uint64_t)buffer->len == (uint64_t)rows * columns * sizeof(double))
        return true;
    PyErr_SetString(PyExc_ValueError, "expected a matrix of float64 with a row per word");
    return false;
}

/* The result of a call that fills a buffer. */
static PyObject *finish(const ext_state *state, tem_status status, const tem_error *error) {
    if (status != TEM_OK)
        return ext_fail(state, error);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

typedef tem_status product(const tem_channel *channel, const double *in, uint32_t columns,
                           const tem_run *run, double *out, tem_error *error);

static PyObject *multiply(PyObject *self, PyObject *args, product *multiplied, bool is_forward) {
    const tem_channel *channel = ((ext_channel *)self)->channel;
    const uint32_t in_rows = tem_channel_inputs(channel), out_rows = tem_channel_outputs(channel);
    Py_buffer in, out;
    PyObject *progress = NULL, *result = NULL;
    unsigned columns = 0, threads = 0;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "y*Iw*IO", &in, &columns, &out, &threads, &progress))
        return NULL;
    if (is_matrix(&in, is_forward ? in_rows : out_rows, columns) &&
        is_matrix(&out, is_forward ? out_rows : in_rows, columns)) {
        ext_run_begin(&run, threads, progress);
        const tem_status status = multiplied(channel, in.buf, columns, &run.run, out.buf, &error);
        ext_run_end(&run);
        result = finish(ext_state_of_self(self), status, &error);
    }
    PyBuffer_Release(&in);
    PyBuffer_Release(&out);
    return result;
}

/* forward(in, columns, out, threads, progress) */
static PyObject *forward(PyObject *self, PyObject *args) {
    return multiply(self, args, tem_channel_forward, true);
}

/* backward(in, columns, out, threads, progress) */
static PyObject *backward(PyObject *self, PyObject *args) {
    return multiply(self, args, tem_channel_backward, false);
}

/* expect(prior, unknown, out) */
static PyObject *expect(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    const tem_channel *channel = ((ext_channel *)self)->channel;
    ext_prior *prior = NULL;
    tem_expectation expected = {0};
    Py_buffer out;
    tem_error error;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "O!dw*", state->prior, &prior, &expected.unknown, &out))
        return NULL;
    expected.prior = prior->prior;
    if (is_matrix(&out, tem_channel_inputs(channel), 1))
        result = finish(state, tem_channel_expect(channel, &expected, out.buf, &error), &error);
    PyBuffer_Release(&out);
    return result;
}

/* posterior(prior, unknown, vectors, columns, out, threads, progress) */
static PyObject *posterior(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    const tem_channel *channel = ((ext_channel *)self)->channel;
    const uint32_t words = tem_channel_outputs(channel);
    ext_prior *prior = NULL;
    tem_expectation expected = {0};
    Py_buffer in, out;
    PyObject *progress = NULL, *result = NULL;
    unsigned columns = 0, threads = 0;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!dy*Iw*IO", state->prior, &prior, &expected.unknown, &in,
                          &columns, &out, &threads, &progress))
        return NULL;
    expected.prior = prior->prior;
    if (is_matrix(&in, words, columns) && is_matrix(&out, words, columns)) {
        ext_run_begin(&run, threads, progress);
        const tem_status status =
            tem_channel_posterior(channel, &expected, in.buf, columns, &run.run, out.buf, &error);
        ext_run_end(&run);
        result = finish(state, status, &error);
    }
    PyBuffer_Release(&in);
    PyBuffer_Release(&out);
    return result;
}

/* ---- deconvolution ---- */

/* A buffer, or none if Python passed None. */
typedef struct optional_buffer {
    Py_buffer buffer;
    bool is_given;
} optional_buffer;

/* A converter for PyArg_ParseTuple. */
static int take_optional(PyObject *given, void *place) {
    optional_buffer *o = place;
    if (given == Py_None)
        return 1;
    o->is_given = PyObject_GetBuffer(given, &o->buffer, PyBUF_SIMPLE) == 0;
    return o->is_given;
}

/* deconvolve(prior, unknown, counts, held out or None, groups, steps, out, threads, progress)
 * returns (steps made, likelihood) */
static PyObject *deconvolve(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    const tem_channel *channel = ((ext_channel *)self)->channel;
    const uint32_t words = tem_channel_outputs(channel);
    ext_prior *prior = NULL;
    tem_expectation expected = {0};
    tem_deconvolution how = {0};
    Py_buffer counts = {0}, out = {0};
    optional_buffer held = {.is_given = false};
    PyObject *progress = NULL, *result = NULL;
    unsigned groups = 0, threads = 0, steps = 0;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!dy*O&IIw*IO", state->prior, &prior, &expected.unknown, &counts,
                          take_optional, &held, &groups, &steps, &out, &threads, &progress))
        goto release;
    expected.prior = prior->prior;
    how.steps = steps;
    if (is_matrix(&counts, words, groups) && is_matrix(&out, words + 1, groups) &&
        (!held.is_given || is_matrix(&held.buffer, words, groups))) {
        ext_run_begin(&run, threads, progress);
        const tem_status status = tem_channel_deconvolve(channel, &expected, counts.buf,
                                                         held.is_given ? held.buffer.buf : NULL,
                                                         groups, &run.run, &how, out.buf, &error);
        ext_run_end(&run);
        PyObject *done = finish(state, status, &error);
        result = done == NULL ? NULL : Py_BuildValue("Id", how.steps, how.likelihood);
        Py_XDECREF(done);
    }
release:
    if (held.is_given)
        PyBuffer_Release(&held.buffer);
    PyBuffer_Release(&counts);
    PyBuffer_Release(&out);
    return result;
}

/* ---- estimates ---- */

/* [(share, low, high, bias, deviation, expected, tells)], group by group */
static PyObject *list_estimates(const tem_estimate *estimates, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        const tem_estimate *e = &estimates[i];
        PyObject *one = Py_BuildValue("(ddddddN)", e->share, e->low, e->high, e->bias, e->deviation,
                                      e->expected, PyBool_FromLong(e->tells));
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, one);
    }
    return list;
}

static PyObject *run_estimate(const ext_state *state, const tem_channel *channel,
                              const tem_estimate_options *options, const double *counts,
                              uint32_t groups, const double *members, uint32_t sets,
                              unsigned threads, PyObject *progress) {
    const size_t count = (size_t)groups * sets;
    tem_estimate *found = PyMem_Calloc(count, sizeof *found);
    PyObject *result = NULL;
    tem_error error;
    ext_run run;
    if (found == NULL)
        return PyErr_NoMemory();
    ext_run_begin(&run, threads, progress);
    const tem_status status = tem_channel_estimate(channel, options, counts, groups, members, sets,
                                                   &run.run, found, &error);
    ext_run_end(&run);
    PyObject *done = finish(state, status, &error);
    if (done != NULL)
        result = list_estimates(found, count);
    Py_XDECREF(done);
    PyMem_Free(found);
    return result;
}

/* estimate(prior, unknown, ratio, steps, counts, groups, members, sets, threads, progress) */
static PyObject *estimate(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    const tem_channel *channel = ((ext_channel *)self)->channel;
    ext_prior *prior = NULL;
    tem_estimate_options options = {.ratio = 0};
    Py_buffer counts, members;
    PyObject *progress = NULL, *result = NULL;
    unsigned groups = 0, sets = 0, threads = 0, steps = 0;
    if (!PyArg_ParseTuple(args, "O!ddIy*Iy*IIO", state->prior, &prior, &options.expected.unknown,
                          &options.ratio, &steps, &counts, &groups, &members, &sets, &threads,
                          &progress))
        return NULL;
    options.expected.prior = prior->prior;
    options.steps = steps;
    if (is_matrix(&counts, tem_channel_outputs(channel), groups) &&
        is_matrix(&members, tem_channel_inputs(channel), sets))
        result = run_estimate(state, channel, &options, counts.buf, groups, members.buf, sets,
                              threads, progress);
    PyBuffer_Release(&counts);
    PyBuffer_Release(&members);
    return result;
}

static PyMethodDef channel_methods[] = {
    {"inputs", inputs, METH_NOARGS, "inputs()"},
    {"outputs", outputs, METH_NOARGS, "outputs()"},
    {"forward", forward, METH_VARARGS, "forward(given, columns, out, threads, progress)"},
    {"backward", backward, METH_VARARGS, "backward(given, columns, out, threads, progress)"},
    {"expect", expect, METH_VARARGS, "expect(prior, unknown, out)"},
    {"posterior", posterior, METH_VARARGS,
     "posterior(prior, unknown, vectors, columns, out, threads, progress)"},
    {"deconvolve", deconvolve, METH_VARARGS,
     "deconvolve(prior, unknown, counts, held_out, groups, steps, out, threads, progress)"},
    {"estimate", estimate, METH_VARARGS,
     "estimate(prior, unknown, ratio, steps, counts, groups, members, sets, threads, progress)"},
    {NULL, NULL, 0, NULL},
};

/* ---- vectors to learn with ---- */

/* (float64 numbers in a bytearray, columns, number of words that the vectors do not have) */
static PyObject *align(const ext_state *state, const tem_model *model, const tem_vectors *vectors) {
    const uint32_t columns = tem_vectors_dimension(vectors);
    uint32_t missing = 0;
    tem_model_info info;
    tem_error error;
    tem_model_get_info(model, &info);
    PyObject *out = PyByteArray_FromStringAndSize(
        NULL, (Py_ssize_t)((size_t)info.words * columns * sizeof(double)));
    if (out == NULL)
        return NULL;
    double *numbers = (double *)PyByteArray_AsString(out);
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status = tem_model_align_vectors(model, vectors, numbers, &missing, &error);
    PyEval_RestoreThread(thread);
    if (status == TEM_OK)
        return Py_BuildValue("NII", out, columns, missing);
    Py_DECREF(out);
    return ext_fail(state, &error);
}

/* align_vectors(model, path, threads, progress) */
static PyObject *align_vectors(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *path = NULL, *progress = NULL, *result = NULL;
    unsigned threads = 0;
    tem_vectors *vectors = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O&IO", state->model, &model, PyUnicode_FSConverter, &path,
                          &threads, &progress))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, threads, progress);
    const tem_status status = tem_vectors_load(name, 0, &run.run, &vectors, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    if (status != TEM_OK)
        ext_fail(state, &error);
    else if (!PyErr_Occurred())
        result = align(state, model->model, vectors);
    tem_vectors_free(vectors);
    return result;
}

/* text_vectors(model, path, columns, out, threads, progress) */
static PyObject *text_vectors(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *path = NULL, *progress = NULL, *result = NULL;
    unsigned columns = 0, threads = 0;
    Py_buffer out;
    tem_model_info info;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O&Iw*IO", state->model, &model, PyUnicode_FSConverter, &path,
                          &columns, &out, &threads, &progress))
        return NULL;
    tem_model_get_info(model->model, &info);
    if (is_matrix(&out, info.words, columns)) {
        const char *name = PyBytes_AsString(path);
        ext_run_begin(&run, threads, progress);
        const tem_status status =
            tem_text_vectors(model->model, name, columns, &run.run, out.buf, &error);
        ext_run_end(&run);
        result = finish(state, status, &error);
    }
    PyBuffer_Release(&out);
    Py_DECREF(path);
    return result;
}

/* ---- the words of texts ---- */

/* A released text, and what its run let through. */
typedef struct released_text {
    const tem_model *model;
    const char *text;
    size_t bytes;
    int keeps_unknown, keeps_punctuation;
} released_text;

/* The same blanks, masks and punctuation as in cli/released.c: both must count the same words. */
static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* Whether a word of a released text counts. Sets *id to TEM_NO_WORD if tem releases no such word.
 * Masks, kept punctuation and kept unknown words do not count. */
static tem_status read_released(const released_text *t, const char *word, size_t bytes,
                                uint32_t *id, bool *counts, tem_error *error) {
    const uint32_t found = tem_model_find(t->model, word, bytes);
    const bool is_output = found != TEM_NO_WORD && !tem_model_is_excluded(t->model, found);
    *id = is_output ? found : TEM_NO_WORD;
    *counts = true;
    if (is_output && !t->keeps_punctuation)
        return TEM_OK;
    size_t pieces = 0;
    const tem_status status = tem_model_pieces(t->model, word, bytes, NULL, 0, &pieces, error);
    const bool is_mask = bytes == 5 && memcmp(word, "<unk>", 5) == 0;
    const bool is_kept = found == TEM_NO_WORD && t->keeps_unknown;
    *counts = pieces > 0 && (is_output || !(is_mask || is_kept));
    return status;
}

/* Writes the ids of the words of a released text that count to `ids`, and their number. */
static tem_status released_ids(const released_text *t, uint32_t *ids, size_t *count,
                               tem_error *error) {
    tem_status status = TEM_OK;
    *count = 0;
    for (size_t at = 0, end = 0; at < t->bytes && status == TEM_OK; at = ++end) {
        bool counts = false;
        while (end < t->bytes && !is_blank(t->text[end]))
            end++;
        if (end > at)
            status = read_released(t, t->text + at, end - at, &ids[*count], &counts, error);
        *count += counts;
    }
    return status;
}

/* word_ids(model, text, is_released, keeps_unknown, keeps_punctuation): the id of each word as
 * uint32, in bytes; TEM_NO_WORD for a word that the model does not have. The words of a released
 * text are its bytes between blanks, and an excluded word is none; the run may have kept unknown
 * words and punctuation, which do not count. The words of an original text are those for which tem
 * draws. */
static PyObject *word_ids(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *text = NULL;
    Py_ssize_t bytes = 0;
    int is_released = 0;
    released_text released = {.model = NULL};
    tem_error error;
    if (!PyArg_ParseTuple(args, "O!Oppp", state->model, &model, &text, &is_released,
                          &released.keeps_unknown, &released.keeps_punctuation))
        return NULL;
    const char *utf8 = ext_utf8(state, text, NULL, 0, &bytes);
    if (utf8 == NULL)
        return NULL;
    const size_t max = (size_t)bytes + 1; /* a word has a byte */
    uint32_t *ids = PyMem_Malloc(max * sizeof *ids);
    if (ids == NULL)
        return PyErr_NoMemory();
    size_t count = 0;
    tem_status status = TEM_OK;
    released.model = model->model;
    released.text = utf8;
    released.bytes = (size_t)bytes;
    PyThreadState *thread = PyEval_SaveThread();
    if (is_released)
        status = released_ids(&released, ids, &count, &error);
    else
        status = tem_model_pieces(model->model, utf8, (size_t)bytes, ids, max, &count, &error);
    PyEval_RestoreThread(thread);
    PyObject *result =
        status != TEM_OK
            ? ext_fail(state, &error)
            : PyBytes_FromStringAndSize((const char *)ids,
                                        (Py_ssize_t)((count < max ? count : max) * sizeof *ids));
    PyMem_Free(ids);
    return result;
}

PyMethodDef ext_learn_functions[] = {
    {"make_channel", make_channel, METH_VARARGS, "make_channel(mechanism, threads, progress)"},
    {"align_vectors", align_vectors, METH_VARARGS, "align_vectors(model, path, threads, progress)"},
    {"text_vectors", text_vectors, METH_VARARGS,
     "text_vectors(model, path, columns, out, threads, progress)"},
    {"word_ids", word_ids, METH_VARARGS,
     "word_ids(model, text, is_released, keeps_unknown, keeps_punctuation)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, channel_delete}, {Py_tp_methods, channel_methods}, {0, NULL}};

PyType_Spec ext_channel_spec = {.name = "tem._tem.Channel",
                                .basicsize = sizeof(ext_channel),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                         Py_TPFLAGS_IMMUTABLETYPE,
                                .slots = slots};
