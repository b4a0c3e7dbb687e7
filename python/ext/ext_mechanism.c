/* ext_mechanism.c - tem_mechanism and tem_law in Python. */
#include "ext.h"

#include <math.h>
#include <stdlib.h>

enum { DIGITS = 17, DECIMAL_BYTES = DIGITS + 32 };

static void mechanism_delete(PyObject *self) {
    ext_mechanism *m = (ext_mechanism *)self;
    PyObject_GC_UnTrack(self);
    tem_mechanism_free(m->mechanism); /* before the language model that it draws with */
    Py_XDECREF((PyObject *)m->language);
    Py_XDECREF((PyObject *)m->model);
    ext_delete(self);
}

static int mechanism_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_mechanism *)self)->language);
    return 0;
}

enum { NUMBERS_MAX = 16 };

/* Reads ((name, value), ...) into `numbers`, which has room for NUMBERS_MAX and the end. */
static bool read_numbers(PyObject *given, tem_parameter_value *numbers) {
    const Py_ssize_t count = PyTuple_Size(given);
    if (count < 0 || count > NUMBERS_MAX) {
        PyErr_SetString(PyExc_ValueError, "a mechanism takes fewer numbers");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "sd", &numbers[i].name, &numbers[i].value))
            return false;
    numbers[count].name = NULL;
    return true;
}

/* The bytes of an object, `item_bytes` for each word of the model, or NULL for None. False with an
 * exception. */
static bool read_per_word(PyObject *given, const tem_model *model, size_t item_bytes,
                          const char *message, const void **items) {
    tem_model_info info;
    *items = NULL;
    if (given == Py_None)
        return true;
    tem_model_get_info(model, &info);
    if (!PyBytes_Check(given) || (size_t)PyBytes_Size(given) != info.words * item_bytes) {
        PyErr_SetString(PyExc_ValueError, message);
        return false;
    }
    *items = PyBytes_AsString(given);
    return true;
}

static bool read_outputs(PyObject *listed, PyObject *weights, PyObject *never,
                         const tem_model *model, tem_mechanism_options *options) {
    const void *bytes = NULL, *numbers = NULL, *left_out = NULL;
    const bool done =
        read_per_word(listed, model, 1, "the list needs one byte for each word of the model",
                      &bytes) &&
        read_per_word(weights, model, sizeof *options->weights,
                      "weights: expected a whole number for each of model.words", &numbers) &&
        read_per_word(never, model, 1, "never: expected one byte for each word of the model",
                      &left_out);
    options->listed = bytes;
    options->never = left_out;
    options->weights = numbers; /* CPython aligns the content of a bytes object to 8 bytes */
    return done;
}

/* make_mechanism(model, mechanism, epsilon, beta, gamma, certificate or None, ((name, value), ...),
 * listed or None, weights or None, allow_no_guarantee, language model or None, words that are never
 * released or None); 0 means not given */
static PyObject *make_mechanism(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *certificate = NULL, *given = NULL, *listed = NULL, *weights = NULL;
    PyObject *language = NULL, *never = NULL;
    tem_parameter_value numbers[NUMBERS_MAX + 1];
    tem_mechanism_options options = {.numbers = numbers};
    tem_error error;
    if (!PyArg_ParseTuple(args, "O!sdddOO!OOpOO", state->model, &model, &options.mechanism,
                          &options.epsilon, &options.beta, &options.gamma, &certificate,
                          &PyTuple_Type, &given, &listed, &weights, &options.allow_no_guarantee,
                          &language, &never) ||
        !read_numbers(given, numbers) ||
        !read_outputs(listed, weights, never, model->model, &options))
        return NULL;
    if (Py_TYPE(certificate) == state->certificate)
        options.certificate = ((ext_certificate *)certificate)->certificate;
    ext_mechanism *made = ext_new(state->mechanism);
    if (made == NULL)
        return NULL;
    made->model = (ext_model *)Py_NewRef((PyObject *)model);
    if (Py_TYPE(language) == state->language) {
        made->language = (ext_language *)Py_NewRef(language);
        options.language = made->language->language;
    }
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_mechanism_create(model->model, &options, &made->mechanism, &error);
    PyEval_RestoreThread(thread);
    if (status == TEM_OK)
        return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return ext_fail(state, &error);
}

/* The parameters of a mechanism, each as (name, meaning, least, most, usual). */
static PyObject *list_parameters(const tem_mechanism_properties *properties) {
    PyObject *all = PyList_New(0);
    const tem_parameter *p = properties->parameters;
    for (; all != NULL && p != NULL && p->name != NULL; p++) {
        PyObject *usual = p->usual > 0 ? PyFloat_FromDouble(p->usual) : Py_NewRef(Py_None);
        PyObject *one = Py_BuildValue("(ssddN)", p->name, p->meaning, p->least, p->most, usual);
        if (one == NULL || PyList_Append(all, one) != 0)
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* mechanisms() returns one dict per mechanism of the library. */
static PyObject *mechanisms(PyObject *module, PyObject *unused) {
    static const char *const guarantees[] = {[TEM_GUARANTEE_NONE] = NULL,
                                             [TEM_GUARANTEE_IDEAL] = "ideal",
                                             [TEM_GUARANTEE_EXACT] = "exact",
                                             [TEM_GUARANTEE_OTHER] = "other"};
    PyObject *all = PyList_New(0);
    (void)module, (void)unused;
    for (unsigned i = 0; all != NULL && tem_mechanism_at(i) != NULL; i++) {
        const tem_mechanism_properties *p = tem_mechanism_at(i);
        PyObject *one = Py_BuildValue(
            "{s:s, s:s, s:z, s:z, s:z, s:z, s:I, s:N, s:N, s:N, s:N, s:N, s:z, s:z, s:N}", "name",
            p->name, "summary", p->summary, "paper", p->paper, "claim", p->claim, "caveat",
            p->caveat, "guarantee",
            (unsigned)p->guarantee <= TEM_GUARANTEE_OTHER ? guarantees[p->guarantee] : NULL,
            "law_digits", p->law_digits, "is_exponential", PyBool_FromLong(p->is_exponential),
            "has_form", PyBool_FromLong(p->has_form), "takes_gamma",
            PyBool_FromLong(p->takes_gamma), "takes_weights", PyBool_FromLong(p->takes_weights),
            "takes_certificate", PyBool_FromLong(p->takes_certificate), "needs_metric",
            p->needs_metric == 0 ? NULL : tem_metric_name(p->needs_metric), "list", p->list,
            "parameters", list_parameters(p));
        if (one == NULL || PyList_Append(all, one) != 0)
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

PyMethodDef ext_mechanism_functions[] = {
    {"mechanisms", mechanisms, METH_NOARGS, "mechanisms()"},
    {"make_mechanism", make_mechanism, METH_VARARGS,
     "make_mechanism(model, mechanism, epsilon, beta, gamma, certificate, numbers, listed, "
     "weights, allow_no_guarantee, language, never)"},
    {NULL, NULL, 0, NULL},
};

/* None where a mechanism has no such number. */
static PyObject *number_or_none(double number, bool is_known) {
    return is_known && isfinite(number) ? PyFloat_FromDouble(number) : Py_NewRef(Py_None);
}

static PyObject *mechanism_info(PyObject *self, PyObject *unused) {
    const tem_mechanism *mechanism = ((ext_mechanism *)self)->mechanism;
    tem_mechanism_info info;
    tem_certificate_info certificate = {.prior = ""};
    (void)unused;
    tem_mechanism_get_info(mechanism, &info);
    tem_mechanism_get_certificate(mechanism, &certificate);
    const bool has_gamma = info.gamma_steps > 0;
    return Py_BuildValue("{s:s, s:d, s:d, s:N, s:N, s:N, s:N, s:d, s:s, s:s, s:N}", "mechanism",
                         info.properties->name, "epsilon", info.epsilon, "beta", info.beta, "s",
                         number_or_none(info.s, info.s_steps > 0), "gamma",
                         number_or_none(info.gamma, has_gamma), "epsilon_gamma",
                         number_or_none(info.epsilon_gamma, has_gamma), "bound",
                         number_or_none(info.bound, true), "moved_mass", info.moved_mass, "weights",
                         tem_weights_name(info.weights), "certificate", info.certificate, "effects",
                         ext_effects(&certificate));
}

/* How often a typical word stays unchanged, without the language model; None if unknown (Madlib).
 */
static PyObject *self_median(PyObject *self, PyObject *unused) {
    double median = 0;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_mechanism_self_median(((ext_mechanism *)self)->mechanism, &median, NULL);
    PyEval_RestoreThread(thread);
    return status == TEM_OK ? PyFloat_FromDouble(median) : Py_NewRef(Py_None);
}

/* How often the exposed words stay unchanged, at TEM_SELF_QUANTILE, without the language model;
 * None if unknown (Madlib). */
static PyObject *self_quantile(PyObject *self, PyObject *unused) {
    double exposed = 0;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status = tem_mechanism_self_quantile(((ext_mechanism *)self)->mechanism,
                                                          TEM_SELF_QUANTILE, &exposed, NULL);
    PyEval_RestoreThread(thread);
    return status == TEM_OK ? PyFloat_FromDouble(exposed) : Py_NewRef(Py_None);
}

static PyObject *has_language(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((ext_mechanism *)self)->language != NULL);
}

/* ---- the law of a word ---- */

/* [(number, distance, probability)]; the distance is NaN where an unknown word has none. */
static PyObject *entries_of(const tem_law *law, uint32_t word, const uint32_t *nearest,
                            uint32_t top) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < top; i++) {
        const tem_dist distance = tem_law_distance(law, nearest[i]);
        const bool is_none = word == TEM_NO_WORD && distance == UINT32_MAX;
        PyObject *entry =
            Py_BuildValue("Idd", nearest[i], is_none ? NAN : (double)distance / TEM_DIST_ONE,
                          tem_law_probability(law, nearest[i]));
        if (entry == NULL || PyList_Append(list, entry) != 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *describe_law(const ext_state *state, const tem_law *law, uint32_t word,
                              const uint32_t *nearest, uint32_t top) {
    char outside[DECIMAL_BYTES] = "0";
    tem_error error;
    if (tem_law_outside_decimal(law, nearest, top, DIGITS, outside, sizeof outside, &error) !=
        TEM_OK)
        return ext_fail(state, &error);
    const double tail = PyOS_string_to_double(outside, NULL, NULL);
    PyObject *entries = entries_of(law, word, nearest, top);
    if (entries == NULL)
        return NULL;
    return Py_BuildValue("{s:N, s:d, s:d, s:d, s:d}", "entries", entries, "tail", tail, "self",
                         word == TEM_NO_WORD ? 0 : tem_law_probability(law, word), "support",
                         tem_law_support(law), "entropy", tem_law_entropy(law));
}

typedef struct likely_word {
    double probability;
    uint32_t id;
} likely_word;

/* The likelier word first; of equally likely ones the one that comes first in the model. */
static int compare_likely(const void *a, const void *b) {
    const likely_word *x = a, *y = b;
    if (x->probability > y->probability || x->probability < y->probability)
        return x->probability < y->probability ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The `top` likeliest outputs, for a law in a context. */
static tem_status find_likeliest(const tem_law *law, uint32_t words, uint32_t *likeliest,
                                 uint32_t top, tem_error *error) {
    likely_word *all = malloc((words + (size_t)1) * sizeof *all);
    if (all == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "not enough memory"};
        return TEM_ERR_MEMORY;
    }
    for (uint32_t id = 0; id < words; id++)
        all[id] = (likely_word){tem_law_probability(law, id), id};
    qsort(all, words, sizeof *all, compare_likely);
    for (uint32_t i = 0; i < top; i++)
        likeliest[i] = all[i].id;
    free(all);
    return TEM_OK;
}

/* The ids of a bytes object of 32-bit numbers; none for None. False with an exception. */
static bool read_after(PyObject *after, const uint32_t **ids, size_t *count) {
    *ids = NULL;
    *count = 0;
    if (after == Py_None)
        return true;
    if (!PyBytes_Check(after) || (size_t)PyBytes_Size(after) % sizeof **ids != 0) {
        PyErr_SetString(PyExc_ValueError, "after: expected ids of 4 bytes each");
        return false;
    }
    *ids = (const uint32_t *)(const void *)PyBytes_AsString(after);
    *count = (size_t)PyBytes_Size(after) / sizeof **ids;
    return true;
}

/* law(number or -1, top, ids before as bytes, or None): the outputs of a word and their
 * probabilities. -1: an unknown word. None: the law of a mechanism without a language model */
static PyObject *law_of(PyObject *self, PyObject *args) {
    const ext_mechanism *m = (ext_mechanism *)self;
    const ext_state *state = ext_state_of_self(self);
    long long number = 0;
    unsigned top = 0;
    PyObject *after = NULL;
    const uint32_t *past = NULL;
    size_t past_count = 0;
    tem_law *law = NULL;
    tem_model_info info;
    tem_error error;
    if (!PyArg_ParseTuple(args, "LIO", &number, &top, &after) ||
        !read_after(after, &past, &past_count))
        return NULL;
    const uint32_t word = number < 0 || number > UINT32_MAX ? TEM_NO_WORD : (uint32_t)number;
    tem_model_get_info(m->model->model, &info);
    top = top < info.words ? top : info.words;
    uint32_t *nearest = malloc((top + (size_t)1) * sizeof *nearest);
    if (nearest == NULL)
        return PyErr_NoMemory();
    PyThreadState *thread = PyEval_SaveThread();
    tem_mechanism_info drawn;
    tem_mechanism_get_info(m->mechanism, &drawn);
    const unsigned most = drawn.properties->law_digits;
    const unsigned digits = most > 0 && most < DIGITS ? most : DIGITS;
    tem_status status = after == Py_None ? tem_law_create(m->mechanism, word, digits, &law, &error)
                                         : tem_law_create_after(m->mechanism, past, past_count,
                                                                word, digits, &law, &error);
    if (status == TEM_OK)
        status = after == Py_None ? tem_law_nearest(law, nearest, top, &error)
                                  : find_likeliest(law, info.words, nearest, top, &error);
    PyEval_RestoreThread(thread);
    PyObject *result =
        status == TEM_OK ? describe_law(state, law, word, nearest, top) : ext_fail(state, &error);
    free(nearest);
    tem_law_free(law);
    return result;
}

static PyMethodDef methods[] = {
    {"info", mechanism_info, METH_NOARGS, "info()"},
    {"self_median", self_median, METH_NOARGS, "self_median()"},
    {"self_quantile", self_quantile, METH_NOARGS, "self_quantile()"},
    {"has_language", has_language, METH_NOARGS, "has_language()"},
    {"law", law_of, METH_VARARGS, "law(number, top, after)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, mechanism_delete},
                              {Py_tp_traverse, mechanism_traverse},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PyType_Spec ext_mechanism_spec = {.name = "tem._tem.Mechanism",
                                  .basicsize = sizeof(ext_mechanism),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                           Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                           Py_TPFLAGS_IMMUTABLETYPE,
                                  .slots = slots};
