/* ext_model.c - tem_model and tem_vectors in Python. */
#include "ext.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void model_delete(PyObject *self) {
    tem_model_free(((ext_model *)self)->model);
    ext_delete(self);
}

/* Wraps a model, and owns it from then on. */
static PyObject *wrap_model(const ext_state *state, tem_model *model) {
    ext_model *made = ext_new(state->model);
    if (made == NULL)
        tem_model_free(model);
    else
        made->model = model;
    return (PyObject *)made;
}

/* The result of a long call: the model, or an exception. */
static PyObject *take_model(const ext_state *state, tem_status status, tem_model *model,
                            const tem_error *error) {
    if (status != TEM_OK)
        return ext_fail(state, error);
    if (PyErr_Occurred()) {
        tem_model_free(model);
        return NULL;
    }
    return wrap_model(state, model);
}

/* open_model(path, hash or None, whether it came with the program, threads, progress): a model that
 * is trusted */
static PyObject *open_model(PyObject *module, PyObject *args) {
    PyObject *path = NULL, *progress = NULL;
    const char *hash = NULL;
    unsigned threads = 0;
    int is_own = 0;
    tem_model *model = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O&zpIO", PyUnicode_FSConverter, &path, &hash, &is_own, &threads,
                          &progress))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, threads, progress);
    tem_status status = tem_model_open(name, &model, &error);
    if (status == TEM_OK)
        status = tem_model_accept(model, hash, is_own, &run.run, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    if (status != TEM_OK)
        tem_model_free(model);
    return take_model(ext_state_of(module), status, model, &error);
}

/* verify_model(path, path of its certificates, is_own, threads, progress): (the model, why the
 * user's list could not be changed, or None) */
static PyObject *verify_model(PyObject *module, PyObject *args) {
    PyObject *path = NULL, *certificates = NULL, *progress = NULL;
    unsigned threads = 0;
    int is_own = 0;
    tem_model *model = NULL;
    tem_error error, unnoted = {.status = TEM_OK};
    ext_run run;
    if (!PyArg_ParseTuple(args, "O&O&pIO", PyUnicode_FSConverter, &path, PyUnicode_FSConverter,
                          &certificates, &is_own, &threads, &progress)) {
        Py_XDECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    const tem_verification how = {.certificates = PyBytes_AsString(certificates)};
    ext_run_begin(&run, threads, progress);
    tem_status status = tem_model_open(name, &model, &error);
    if (status == TEM_OK)
        status = tem_trust_verify(model, &how, &run.run, &unnoted, &error);
    if (status == TEM_OK && is_own)
        tem_model_trust_own(model);
    ext_run_end(&run);
    Py_DECREF(path);
    Py_DECREF(certificates);
    if (status != TEM_OK)
        tem_model_free(model);
    PyObject *made = take_model(ext_state_of(module), status, model, &error);
    if (made == NULL)
        return NULL;
    return Py_BuildValue("Nz", made, unnoted.status != TEM_OK ? unnoted.message : NULL);
}

/* ---- building ---- */

/* The strings of a tuple, which keeps them alive; NULL with an exception. Free with PyMem_Free. */
static const char **words_of(const ext_state *state, PyObject *words) {
    const Py_ssize_t count = PyTuple_Size(words);
    const char **strings = PyMem_Calloc((size_t)count + 1, sizeof *strings);
    tem_error error = {.status = TEM_ERR_FORMAT, .message = "a word contains NUL"};
    if (strings == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; strings != NULL && i < count; i++) {
        Py_ssize_t bytes = 0;
        strings[i] = ext_utf8(state, PyTuple_GetItem(words, i), "words", i, &bytes);
        if (strings[i] != NULL && strlen(strings[i]) == (size_t)bytes)
            continue;
        error.line = (uint64_t)i + 1;
        ext_fail(state, &error);
        PyMem_Free(strings);
        strings = NULL;
    }
    return strings;
}

typedef struct build_arguments {
    unsigned metric, neighbours;
    int allow_coarse;
    const char *space; /* or NULL */
    unsigned dimensions, remove;
    int drop_degenerate, fold;
    unsigned threads;
    PyObject *progress;
    PyObject *exclude;            /* a tuple of strings */
    const char **exclude_strings; /* into it */
    uint32_t exclude_count;
    PyObject *order;           /* None, or a tuple: list, block, group */
    PyObject *order_path;      /* None, or the path of vectors */
    const char *order_vectors; /* it, or NULL; in order_bytes */
    PyObject *order_bytes;
    tem_order_options order_options;
} build_arguments;

/* Completes the words to exclude; sets an exception and returns false on failure. The caller frees
 * the strings. */
static bool take_excluded(const ext_state *state, build_arguments *a) {
    a->exclude_strings = words_of(state, a->exclude);
    a->exclude_count = (uint32_t)PyTuple_Size(a->exclude);
    return a->exclude_strings != NULL;
}

/* Completes what decides the order; sets an exception and returns false on failure. The caller
 * gives order_bytes back. */
static bool take_order(build_arguments *a) {
    tem_order_options *o = &a->order_options;
    if (a->order != Py_None &&
        !PyArg_ParseTuple(a->order, "III:order", &o->list, &o->block, &o->group))
        return false;
    if (a->order_path == Py_None)
        return true;
    if (!PyUnicode_FSConverter(a->order_path, &a->order_bytes))
        return false;
    a->order_vectors = PyBytes_AsString(a->order_bytes);
    return a->order_vectors != NULL;
}

/* Folds the words of the vectors, and puts folded copies in the place of the words to exclude.
 * Vectors on the grid stay as the file has them. */
static tem_status fold_words(tem_vectors *vectors, char **copies, const char **exclude,
                             uint32_t count, tem_error *error) {
    tem_status status = tem_vectors_fold(vectors, NULL, error);
    if (status == TEM_ERR_UNSUPPORTED)
        return TEM_OK;
    for (uint32_t i = 0; i < count && status == TEM_OK; i++) {
        status = tem_word_fold(exclude[i], strlen(exclude[i]), &copies[i], error);
        exclude[i] = status == TEM_OK ? copies[i] : exclude[i];
    }
    return status;
}

static tem_status build_vectors(tem_vectors *vectors, const build_arguments *a, const tem_run *run,
                                tem_model **model, tem_error *error) {
    char **copies = calloc((size_t)a->exclude_count + 1, sizeof *copies);
    tem_order_options order = a->order_options;
    tem_vectors *order_vectors = NULL;
    tem_build_options options = {.metric = (tem_metric)a->metric,
                                 .neighbours = a->neighbours,
                                 .allow_coarse = a->allow_coarse,
                                 .dimensions = a->dimensions,
                                 .remove = a->remove,
                                 .drop_degenerate = a->drop_degenerate,
                                 .exclude = a->exclude_strings,
                                 .exclude_count = a->exclude_count,
                                 .order = a->order == Py_None ? NULL : &order};
    tem_status status =
        a->space == NULL ? TEM_OK : tem_space_parse(a->space, &options.space, error);
    if (status == TEM_OK && copies == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
        status = TEM_ERR_MEMORY;
    }
    if (status == TEM_OK && a->fold)
        status = fold_words(vectors, copies, a->exclude_strings, a->exclude_count, error);
    if (status == TEM_OK && a->order_vectors != NULL)
        status = tem_vectors_load(a->order_vectors, 0, run, &order_vectors, error);
    if (status == TEM_OK && order_vectors != NULL && a->fold)
        status = fold_words(order_vectors, NULL, NULL, 0, error);
    order.vectors = order_vectors;
    if (status == TEM_OK)
        status = tem_model_build(vectors, &options, run, model, error);
    tem_vectors_free(order_vectors);
    for (uint32_t i = 0; copies != NULL && i < a->exclude_count; i++)
        tem_text_free(copies[i]);
    free(copies);
    tem_vectors_free(vectors);
    return status;
}

/* build_file(path, limit, metric, neighbors, allow_coarse, space, dimensions, remove,
 * drop_degenerate, fold, threads, progress, exclude, order, order_vectors) */
static PyObject *build_file(PyObject *module, PyObject *args) {
    build_arguments a = {0};
    PyObject *path = NULL;
    unsigned long long limit = 0;
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O&KIIpzIIppIOO!OO", PyUnicode_FSConverter, &path, &limit,
                          &a.metric, &a.neighbours, &a.allow_coarse, &a.space, &a.dimensions,
                          &a.remove, &a.drop_degenerate, &a.fold, &a.threads, &a.progress,
                          &PyTuple_Type, &a.exclude, &a.order, &a.order_path))
        return NULL;
    if (!take_order(&a) || !take_excluded(ext_state_of(module), &a)) {
        Py_XDECREF(a.order_bytes);
        Py_DECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, a.threads, a.progress);
    tem_status status = tem_vectors_load(name, limit, &run.run, &vectors, &error);
    if (status == TEM_OK)
        status = build_vectors(vectors, &a, &run.run, &model, &error);
    ext_run_end(&run);
    PyMem_Free(a.exclude_strings);
    Py_XDECREF(a.order_bytes);
    Py_DECREF(path);
    return take_model(ext_state_of(module), status, model, &error);
}

/* Whether a buffer holds `rows` rows of numbers of `number_bytes` bytes; sets an exception if
 * not. */
static bool is_table(const Py_buffer *values, Py_ssize_t rows, size_t number_bytes,
                     Py_ssize_t *columns) {
    *columns = rows == 0 ? 0 : values->len / (Py_ssize_t)number_bytes / rows;
    if (rows > 0 && rows <= TEM_WORDS_MAX && *columns > 0 && *columns <= UINT32_MAX &&
        *columns * rows * (Py_ssize_t)number_bytes == values->len)
        return true;
    PyErr_SetString(PyExc_ValueError, "expected a row of numbers for each word");
    return false;
}

static PyObject *build_from(const ext_state *state, const char *const *strings, Py_ssize_t rows,
                            const Py_buffer *values, const build_arguments *a) {
    const bool matrix = a->metric == TEM_MATRIX;
    Py_ssize_t columns = 0;
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    tem_error error;
    ext_run run;
    if (!is_table(values, rows, matrix ? sizeof(double) : sizeof(float), &columns))
        return NULL;
    if (matrix && columns != rows) {
        PyErr_SetString(PyExc_ValueError, "expected a distance for each pair of words");
        return NULL;
    }
    ext_run_begin(&run, a->threads, a->progress);
    tem_status status = matrix ? tem_model_build_matrix(strings, (uint32_t)rows, values->buf,
                                                        a->neighbours, &run.run, &model, &error)
                               : tem_vectors_create(strings, values->buf, (uint32_t)rows,
                                                    (uint32_t)columns, &vectors, &error);
    if (status == TEM_OK && !matrix)
        status = build_vectors(vectors, a, &run.run, &model, &error);
    ext_run_end(&run);
    return take_model(state, status, model, &error);
}

/* build_rows(words, numbers, metric, neighbors, allow_coarse, space, dimensions, remove,
 * drop_degenerate, fold, threads, progress, exclude, order, order_vectors): float32 rows, or for a
 * matrix of distances float64 */
static PyObject *build_rows(PyObject *module, PyObject *args) {
    build_arguments a = {0};
    PyObject *words = NULL, *made = NULL;
    Py_buffer values;
    if (!PyArg_ParseTuple(args, "O!y*IIpzIIppIOO!OO", &PyTuple_Type, &words, &values, &a.metric,
                          &a.neighbours, &a.allow_coarse, &a.space, &a.dimensions, &a.remove,
                          &a.drop_degenerate, &a.fold, &a.threads, &a.progress, &PyTuple_Type,
                          &a.exclude, &a.order, &a.order_path))
        return NULL;
    const ext_state *state = ext_state_of(module);
    const char **strings = words_of(state, words);
    if (strings != NULL && take_order(&a) && take_excluded(state, &a))
        made = build_from(state, strings, PyTuple_Size(words), &values, &a);
    PyMem_Free(a.exclude_strings);
    Py_XDECREF(a.order_bytes);
    PyMem_Free(strings);
    PyBuffer_Release(&values);
    return made;
}

/* find_default(folders) returns (path, true if nobody named it); an exception if there is no
 * default model */
static PyObject *find_default(PyObject *module, PyObject *args) {
    enum { FOLDERS_MAX = 8 };
    const char *folders[FOLDERS_MAX];
    PyObject *given = NULL;
    char path[PATH_MAX];
    int is_own = 0;
    tem_error error;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &given))
        return NULL;
    const Py_ssize_t count = PyTuple_Size(given);
    for (Py_ssize_t i = 0; i < count && i < FOLDERS_MAX; i++)
        if ((folders[i] = PyBytes_AsString(PyTuple_GetItem(given, i))) == NULL)
            return NULL;
    if (tem_model_find_default(folders, count < FOLDERS_MAX ? (size_t)count : FOLDERS_MAX, path,
                               sizeof path, &is_own, &error) != TEM_OK)
        return ext_fail(ext_state_of(module), &error);
    return Py_BuildValue("NO", PyUnicode_DecodeFSDefault(path), is_own ? Py_True : Py_False);
}

/* fold(str): as text is folded */
static PyObject *fold(PyObject *module, PyObject *word) {
    const ext_state *state = ext_state_of(module);
    Py_ssize_t bytes = 0;
    char *folded = NULL;
    tem_error error;
    const char *utf8 = ext_utf8(state, word, "words", 0, &bytes);
    if (utf8 == NULL)
        return NULL;
    if (tem_word_fold(utf8, (size_t)bytes, &folded, &error) != TEM_OK)
        return ext_fail(state, &error);
    PyObject *result = PyUnicode_FromString(folded);
    tem_text_free(folded);
    return result;
}

static PyObject *parse_metric(PyObject *module, PyObject *args) {
    const char *name = NULL;
    tem_metric metric = TEM_EUCLIDEAN;
    tem_error error;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    if (tem_metric_parse(name, &metric, &error) != TEM_OK)
        return ext_fail(ext_state_of(module), &error);
    return PyLong_FromLong(metric);
}

PyMethodDef ext_model_functions[] = {
    {"open_model", open_model, METH_VARARGS, "open_model(path, hash, is_own, threads, progress)"},
    {"verify_model", verify_model, METH_VARARGS,
     "verify_model(path, certificates, is_own, threads, progress)"},
    {"build_file", build_file, METH_VARARGS,
     "build_file(path, limit, metric, neighbors, allow_coarse, space, dimensions, remove, "
     "drop_degenerate, fold, threads, progress, exclude, order, order_vectors)"},
    {"build_rows", build_rows, METH_VARARGS,
     "build_rows(words, numbers, metric, neighbors, allow_coarse, space, dimensions, remove, "
     "drop_degenerate, fold, threads, progress, exclude, order, order_vectors)"},
    {"find_default", find_default, METH_VARARGS, "find_default(folders)"},
    {"fold", fold, METH_O, "fold(word)"},
    {"parse_metric", parse_metric, METH_VARARGS, "parse_metric(name)"},
    {NULL, NULL, 0, NULL},
};

/* ---- the object ---- */

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
        tem_model_save(((ext_model *)self)->model, name,
                       overwrite ? TEM_OVERWRITE : TEM_KEEP_EXISTING, &run.run, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    if (status != TEM_OK)
        return ext_fail(ext_state_of_self(self), &error);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* hash(progress): computes the hash of the model's whole content */
static PyObject *model_hash(PyObject *self, PyObject *progress) {
    char hash[65];
    tem_error error;
    ext_run run;
    ext_run_begin(&run, 0, progress);
    const tem_status status = tem_model_hash(((ext_model *)self)->model, &run.run, hash, &error);
    ext_run_end(&run);
    if (status != TEM_OK)
        return ext_fail(ext_state_of_self(self), &error);
    return PyErr_Occurred() ? NULL : PyUnicode_FromString(hash);
}

static PyObject *model_info(PyObject *self, PyObject *unused) {
    tem_model_info info;
    (void)unused;
    tem_model_get_info(((ext_model *)self)->model, &info);
    return Py_BuildValue("{s:I, s:K, s:I, s:s, s:I, s:I, s:d, s:K, s:K, s:s}", "words", info.words,
                         "excluded", (unsigned long long)info.excluded, "dimension", info.dimension,
                         "metric", tem_metric_name(info.metric), "step_log2", info.step_log2,
                         "neighbours", info.neighbours, "deviation",
                         (double)info.deviation / TEM_DIST_ONE, "triangles",
                         (unsigned long long)info.triangles, "file_bytes",
                         (unsigned long long)info.file_bytes, "hash", info.hash);
}

/* recipe(): how the vectors were prepared, or None for a raw space */
static PyObject *model_recipe(PyObject *self, PyObject *unused) {
    tem_recipe recipe;
    (void)unused;
    tem_model_get_recipe(((ext_model *)self)->model, &recipe);
    if (recipe.space != TEM_SPACE_SPHERE)
        return Py_NewRef(Py_None);
    return Py_BuildValue("{s:s, s:I, s:I, s:I, s:I, s:I, s:d, s:d, s:d}", "space",
                         tem_space_name(recipe.space), "given_words", recipe.given_words,
                         "given_columns", recipe.given_columns, "dimensions", recipe.dimensions,
                         "removed", recipe.removed, "dropped", recipe.dropped, "kept", recipe.kept,
                         "rms_distance", recipe.rms_distance, "scale", recipe.scale);
}

/* count_unreachable(): how many words no text can contain */
static PyObject *count_unreachable(PyObject *self, PyObject *unused) {
    uint32_t count = 0;
    tem_error error;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_model_count_unreachable(((ext_model *)self)->model, &count, &error);
    PyEval_RestoreThread(thread);
    return status == TEM_OK ? PyLong_FromUnsignedLong(count)
                            : ext_fail(ext_state_of_self(self), &error);
}

/* nearest_median(): the median distance to the nearest word */
static PyObject *nearest_median(PyObject *self, PyObject *unused) {
    tem_dist median = 0;
    tem_error error;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status = tem_model_nearest_median(((ext_model *)self)->model, &median, &error);
    PyEval_RestoreThread(thread);
    return status == TEM_OK ? PyFloat_FromDouble((double)median / TEM_DIST_ONE)
                            : ext_fail(ext_state_of_self(self), &error);
}

/* why_coarse(): a warning about coarse rounding, or None */
static PyObject *why_coarse(PyObject *self, PyObject *unused) {
    tem_error error;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_model_check_grid(((ext_model *)self)->model, TEM_GRID_WARNED_PERCENT, &error);
    PyEval_RestoreThread(thread);
    if (status == TEM_ERR_RANGE)
        return PyUnicode_FromString(error.message);
    return status == TEM_OK ? Py_NewRef(Py_None) : ext_fail(ext_state_of_self(self), &error);
}

static PyObject *word_at(PyObject *self, PyObject *number) {
    const unsigned long id = PyLong_AsUnsignedLong(number);
    size_t length = 0;
    if (id == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    const char *word =
        id > UINT32_MAX ? NULL : tem_model_word(((ext_model *)self)->model, (uint32_t)id, &length);
    if (word == NULL) {
        PyErr_SetString(PyExc_IndexError, "there is no word with this number");
        return NULL;
    }
    return PyUnicode_DecodeUTF8(word, (Py_ssize_t)length, NULL);
}

/* The number of a word, or None. A str that is not valid UTF-8 is in no model. */
static PyObject *find(PyObject *self, PyObject *word) {
    Py_ssize_t bytes = 0;
    const char *utf8 = PyUnicode_Check(word) ? PyUnicode_AsUTF8AndSize(word, &bytes) : NULL;
    if (utf8 == NULL) {
        PyErr_Clear();
        return Py_NewRef(Py_None);
    }
    const uint32_t id = tem_model_find(((ext_model *)self)->model, utf8, (size_t)bytes);
    return id == TEM_NO_WORD ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(id);
}

/* The number of words in a text, and the id of the first, or None. */
static PyObject *first_piece(PyObject *self, PyObject *text) {
    const ext_state *state = ext_state_of_self(self);
    Py_ssize_t bytes = 0;
    size_t count = 0;
    uint32_t id = TEM_NO_WORD;
    tem_error error;
    const char *utf8 = ext_utf8(state, text, NULL, 0, &bytes);
    if (utf8 == NULL)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_model_pieces(((ext_model *)self)->model, utf8, (size_t)bytes, &id, 1, &count, &error);
    PyEval_RestoreThread(thread);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    PyObject *first = id == TEM_NO_WORD ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(id);
    return Py_BuildValue("nN", (Py_ssize_t)count, first);
}

static PyObject *distance(PyObject *self, PyObject *args) {
    unsigned a = 0, b = 0;
    if (!PyArg_ParseTuple(args, "II", &a, &b))
        return NULL;
    const tem_dist steps = tem_model_distance(((ext_model *)self)->model, a, b);
    return PyFloat_FromDouble((double)steps / TEM_DIST_ONE);
}

/* The list of a word: [(number, distance)]. */
static PyObject *neighbours(PyObject *self, PyObject *number) {
    const unsigned long id = PyLong_AsUnsignedLong(number);
    tem_neighbours found;
    tem_error error;
    if (id == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    if (tem_model_neighbours(((ext_model *)self)->model,
                             id > UINT32_MAX ? UINT32_MAX : (uint32_t)id, &found, &error) != TEM_OK)
        return ext_fail(ext_state_of_self(self), &error);
    return ext_pairs_of(found.list, found.count);
}

/* The vector of a word as float32, in bytes. */
static PyObject *vector(PyObject *self, PyObject *number) {
    const tem_model *model = ((ext_model *)self)->model;
    const unsigned long id = PyLong_AsUnsignedLong(number);
    float values[TEM_DIMENSION_MAX];
    tem_model_info info;
    tem_error error;
    if (id == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    tem_model_get_info(model, &info);
    if (tem_model_vector(model, id > UINT32_MAX ? UINT32_MAX : (uint32_t)id, values, &error) !=
        TEM_OK)
        return ext_fail(ext_state_of_self(self), &error);
    return PyBytes_FromStringAndSize((const char *)values,
                                     (Py_ssize_t)(info.dimension * sizeof *values));
}

static PyMethodDef methods[] = {
    {"save", save, METH_VARARGS, "save(path, overwrite, progress)"},
    {"hash", model_hash, METH_O, "hash(progress)"},
    {"info", model_info, METH_NOARGS, "info()"},
    {"recipe", model_recipe, METH_NOARGS, "recipe()"},
    {"count_unreachable", count_unreachable, METH_NOARGS, "count_unreachable()"},
    {"nearest_median", nearest_median, METH_NOARGS, "nearest_median()"},
    {"why_coarse", why_coarse, METH_NOARGS, "why_coarse()"},
    {"word", word_at, METH_O, "word(number)"},
    {"find", find, METH_O, "find(word)"},
    {"first_piece", first_piece, METH_O, "first_piece(text)"},
    {"find_tokens", ext_find_tokens, METH_VARARGS, "find_tokens(tokens, progress)"},
    {"words_at", ext_words_at, METH_O, "words_at(ids)"},
    {"is_excluded", ext_is_excluded, METH_O, "is_excluded(number)"},
    {"distance", distance, METH_VARARGS, "distance(a, b)"},
    {"neighbours", neighbours, METH_O, "neighbours(number)"},
    {"nearest", ext_nearest, METH_VARARGS, "nearest(number, count)"},
    {"within", ext_within, METH_VARARGS, "within(number, steps)"},
    {"bag_distance", ext_bag_distance, METH_VARARGS,
     "bag_distance(a, b, gamma, threads, progress)"},
    {"vector", vector, METH_O, "vector(number)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, model_delete}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec ext_model_spec = {.name = "tem._tem.Model",
                              .basicsize = sizeof(ext_model),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                       Py_TPFLAGS_IMMUTABLETYPE,
                              .slots = slots};
