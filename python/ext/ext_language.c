/* ext_language.c - tem_language in Python: files, training, and functions of a user's own. */
#include "ext.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void language_delete(PyObject *self) {
    ext_language *l = (ext_language *)self;
    PyObject_GC_UnTrack(self);
    tem_language_free(l->language);
    Py_XDECREF(l->weigh);
    ext_delete(self);
}

static int language_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_language *)self)->weigh);
    return 0;
}

static PyObject *take(const ext_state *state, tem_status status, tem_language *language,
                      const tem_error *error) {
    ext_language *made =
        status == TEM_OK && !PyErr_Occurred() ? ext_new(state->language) : ext_fail(state, error);
    if (made == NULL)
        tem_language_free(language);
    else
        made->language = language;
    return (PyObject *)made;
}

/* ---- files ---- */

/* open_language(model, path, hash or None, is_own) */
static PyObject *open_language(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *path = NULL;
    const char *hash = NULL;
    int is_own = 0;
    tem_language *language = NULL;
    tem_error error;
    if (!PyArg_ParseTuple(args, "O!O&zp", state->model, &model, PyUnicode_FSConverter, &path, &hash,
                          &is_own))
        return NULL;
    const char *name = PyBytes_AsString(path);
    PyThreadState *thread = PyEval_SaveThread();
    tem_status status = tem_language_open(model->model, name, &language, &error);
    if (status == TEM_OK && is_own)
        tem_language_trust_own(language);
    else if (status == TEM_OK)
        status = tem_language_trust(language, hash, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    if (status != TEM_OK) {
        tem_language_free(language);
        language = NULL;
    }
    return take(state, status, language, &error);
}

/* verify_language(model, path, progress) */
static PyObject *verify_language(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *path = NULL, *progress = NULL;
    tem_language *language = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O&O", state->model, &model, PyUnicode_FSConverter, &path,
                          &progress))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, 0, progress);
    tem_status status = tem_language_open(model->model, name, &language, &error);
    if (status == TEM_OK)
        status = tem_language_verify(language, &run.run, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    if (status != TEM_OK) {
        tem_language_free(language);
        language = NULL;
    }
    return take(state, status, language, &error);
}

/* The paths of a tuple of bytes, which keeps them alive; NULL with an exception. */
static const char **paths_of(PyObject *paths) {
    const Py_ssize_t count = PyTuple_Size(paths);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (names == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; names != NULL && i < count; i++) {
        names[i] = PyBytes_AsString(PyTuple_GetItem(paths, i));
        if (names[i] == NULL) {
            free(names);
            return NULL;
        }
    }
    return names;
}

/* find_english(path of the model or None, whether it came with the program, folders): a pair: the
 * path, and whether it came with the program */
static PyObject *find_english(PyObject *module, PyObject *args) {
    PyObject *given = NULL, *beside = NULL;
    char path[PATH_MAX];
    int model_is_own = 0, is_own = 0;
    tem_error error;
    if (!PyArg_ParseTuple(args, "OpO!", &beside, &model_is_own, &PyTuple_Type, &given))
        return NULL;
    const char *model_path = beside == Py_None ? NULL : PyBytes_AsString(beside);
    const char **folders = PyErr_Occurred() ? NULL : paths_of(given);
    if (folders == NULL)
        return NULL;
    const tem_status status =
        tem_language_find_english(model_path, model_is_own, folders, (size_t)PyTuple_Size(given),
                                  path, sizeof path, &is_own, &error);
    free(folders);
    if (status != TEM_OK)
        return ext_fail(ext_state_of(module), &error);
    return Py_BuildValue("NN", PyUnicode_DecodeFSDefault(path), PyBool_FromLong(is_own));
}

/* convert_language(model, path of n-grams as bytes, name, origin, license, progress) */
static PyObject *convert_language(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    const char *path = NULL;
    PyObject *progress = NULL;
    tem_language_options options = {.name = NULL};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!ysssO", state->model, &model, &path, &options.name,
                          &options.origin, &options.license, &progress))
        return NULL;
    ext_run_begin(&run, 0, progress);
    tem_status status = tem_ngram_load(model->model, path, &run.run, &ngram, &error);
    if (status == TEM_OK)
        status = tem_language_make(ngram, &options, &run.run, &language, &error);
    ext_run_end(&run);
    tem_ngram_free(ngram);
    return take(state, status, language, &error);
}

/* train_language(model, (path as bytes, ...), order, name, origin, license, temper or 0, lift or 0,
 * progress) */
static PyObject *train_language(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *paths = NULL, *progress = NULL;
    unsigned order = 0;
    tem_language_options options = {.name = NULL};
    tem_ngram *ngram = NULL;
    tem_language *language = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O!IsssddO", state->model, &model, &PyTuple_Type, &paths, &order,
                          &options.name, &options.origin, &options.license, &options.temper,
                          &options.lift, &progress))
        return NULL;
    const char **names = paths_of(paths);
    const size_t count = (size_t)PyTuple_Size(paths);
    if (names == NULL)
        return NULL;
    ext_run_begin(&run, 0, progress);
    tem_status status =
        tem_ngram_train(model->model, names, count, order, &run.run, &ngram, &error);
    if (status == TEM_OK)
        status = tem_language_make(ngram, &options, &run.run, &language, &error);
    ext_run_end(&run);
    tem_ngram_free(ngram);
    free(names);
    return take(state, status, language, &error);
}

/* save(path, overwrite, progress) */
static PyObject *save(PyObject *self, PyObject *args) {
    PyObject *path = NULL, *progress = NULL;
    int overwrite = 0;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O&pO", PyUnicode_FSConverter, &path, &overwrite, &progress))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, 0, progress);
    const tem_status status =
        tem_language_save(((ext_language *)self)->language, name,
                          overwrite ? TEM_OVERWRITE : TEM_KEEP_EXISTING, &run.run, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    if (status != TEM_OK)
        return ext_fail(ext_state_of_self(self), &error);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *language_info(PyObject *self, PyObject *unused) {
    const tem_language *language = ((ext_language *)self)->language;
    tem_language_info info;
    (void)unused;
    tem_language_get_info(language, &info);
    return Py_BuildValue("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:K, s:d, s:d, s:s, s:s}", "name",
                         info.name, "hash", info.hash, "order", info.order, "words", info.words,
                         "bigrams", info.bigrams, "histories", info.histories, "trigrams",
                         info.trigrams, "bytes", (unsigned long long)info.bytes, "temper",
                         info.temper, "lift", info.lift, "origin", tem_language_origin(language),
                         "license", tem_language_license(language));
}

/* evaluate(model, path, progress): (documents, words, unknown, perplexity, without context) */
static PyObject *evaluate(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    ext_model *model = NULL;
    PyObject *path = NULL, *progress = NULL;
    tem_language_evaluation found;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O&O", state->model, &model, PyUnicode_FSConverter, &path,
                          &progress))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, 0, progress);
    const tem_status status = tem_language_evaluate(((ext_language *)self)->language, model->model,
                                                    name, &run.run, &found, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    if (PyErr_Occurred())
        return NULL;
    return Py_BuildValue("KKKdd", (unsigned long long)found.documents,
                         (unsigned long long)found.words, (unsigned long long)found.unknown,
                         found.perplexity, found.without);
}

/* ---- a language model of the user's own ---- */

/* The past as a list: ids, and -1 to -4 for what nobody drew, in the order of TEM_PAST_... */
static PyObject *list_of(const tem_past *past) {
    PyObject *list = PyList_New((Py_ssize_t)past->count);
    for (size_t i = 0; list != NULL && i < past->count; i++) {
        const uint32_t word = past->words[i];
        PyObject *number = PyLong_FromLongLong(
            word >= TEM_PAST_LINE_END ? (long long)word - TEM_NO_WORD : (long long)word);
        if (number == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, number);
    }
    return list;
}

/* Copies the numbers that the user's object gives. False with an exception. */
static bool ask(const ext_language *l, const tem_past *past, uint64_t *values) {
    PyObject *list = list_of(past);
    PyObject *given = list == NULL ? NULL : PyObject_CallFunctionObjArgs(l->weigh, list, NULL);
    Py_buffer numbers;
    Py_XDECREF(list);
    if (given == NULL || PyObject_GetBuffer(given, &numbers, PyBUF_SIMPLE) != 0) {
        Py_XDECREF(given);
        return false;
    }
    const bool fits = (size_t)numbers.len == l->words * sizeof *values;
    if (fits)
        memcpy(values, numbers.buf, (size_t)numbers.len);
    else
        PyErr_SetString(PyExc_ValueError, "expected 8 bytes for each word of the model");
    PyBuffer_Release(&numbers);
    Py_DECREF(given);
    return fits;
}

/* The caller of the library has released the GIL, and this runs on its thread: so an exception that
 * is set here is the caller's (ext_fail).
 * PRIVACY: after an exception tem releases nothing of the document. */
static int call_weigh(void *context, void *document, const tem_past *past, uint64_t *values) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    const bool is_done = !PyErr_Occurred() && ask(context, past, values);
    (void)document;
    PyGILState_Release(gil);
    return is_done ? 0 : 1;
}

/* wrap_language(model, name, past_words or 0, function): function(list of ids) returns 8 bytes for
 * each word of the model */
static PyObject *wrap_language(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    tem_language_functions functions = {.weights = call_weigh};
    PyObject *weigh = NULL;
    tem_model_info info;
    tem_error error;
    unsigned past_words = 0;
    if (!PyArg_ParseTuple(args, "O!sIO", state->model, &model, &functions.name, &past_words,
                          &weigh))
        return NULL;
    ext_language *made = ext_new(state->language);
    if (made == NULL)
        return NULL;
    tem_model_get_info(model->model, &info);
    made->words = info.words;
    made->weigh = Py_NewRef(weigh);
    functions.context = made;
    functions.past_words = past_words;
    const tem_status status = tem_language_wrap(model->model, &functions, &made->language, &error);
    if (status == TEM_OK)
        return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return ext_fail(state, &error);
}

PyMethodDef ext_language_functions[] = {
    {"open_language", open_language, METH_VARARGS, "open_language(model, path, hash, is_own)"},
    {"verify_language", verify_language, METH_VARARGS, "verify_language(model, path, progress)"},
    {"find_english", find_english, METH_VARARGS, "find_english(model_path, is_own, folders)"},
    {"convert_language", convert_language, METH_VARARGS,
     "convert_language(model, path, name, origin, license, progress)"},
    {"train_language", train_language, METH_VARARGS,
     "train_language(model, paths, order, name, origin, license, temper, lift, progress)"},
    {"wrap_language", wrap_language, METH_VARARGS,
     "wrap_language(model, name, past_words, function)"},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef methods[] = {
    {"info", language_info, METH_NOARGS, "info()"},
    {"save", save, METH_VARARGS, "save(path, overwrite, progress)"},
    {"evaluate", evaluate, METH_VARARGS, "evaluate(model, path, progress)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, language_delete},
                              {Py_tp_traverse, language_traverse},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PyType_Spec ext_language_spec = {.name = "tem._tem.Language",
                                 .basicsize = sizeof(ext_language),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                          Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                          Py_TPFLAGS_IMMUTABLETYPE,
                                 .slots = slots};
