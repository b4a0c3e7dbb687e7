/* ext_module.c - the module tem._tem: its state, its errors, and the helpers of its types. */
#include "ext.h"

ext_state *ext_state_of(PyObject *module) {
    return PyModule_GetState(module);
}

ext_state *ext_state_of_self(PyObject *self) {
    return PyType_GetModuleState(Py_TYPE(self));
}

void *ext_new(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void ext_delete(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* ---- errors ---- */

PyObject *ext_fail(const ext_state *state, const tem_error *error) {
    if (PyErr_Occurred())
        return NULL;
    PyObject *exception = PyObject_CallFunction(
        state->make_error, "ssNKKi", tem_status_name(error->status), error->message,
        PyUnicode_DecodeFSDefault(error->file), (unsigned long long)error->line,
        (unsigned long long)error->byte, error->os_error);
    if (exception != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    return NULL;
}

/* Clears the current exception and returns the index of its surrogate; -1 if unknown. */
static Py_ssize_t take_place(void) {
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    Py_ssize_t place = -1;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value == NULL || PyUnicodeEncodeError_GetStart(value, &place) != 0)
        PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return place;
}

/* Replaces Python's own exception for a lone surrogate, because that contains the text. */
static const char *refuse_surrogate(const ext_state *state, const char *what, Py_ssize_t number) {
    tem_error error = {.status = TEM_ERR_FORMAT};
    char one[64] = "";
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return NULL;
    if (what != NULL)
        PyOS_snprintf(one, sizeof one, "%s[%lld]: ", what, (long long)number);
    PyOS_snprintf(error.message, sizeof error.message,
                  "%sexpected text that can be UTF-8, found a lone surrogate: character %lld, "
                  "counted from 0",
                  one, (long long)take_place());
    ext_fail(state, &error);
    return NULL;
}

const char *ext_utf8(const ext_state *state, PyObject *text, const char *what, Py_ssize_t number,
                     Py_ssize_t *bytes) {
    if (!PyUnicode_Check(text)) {
        if (what == NULL)
            PyErr_Format(PyExc_TypeError, "expected a str, not %R", (PyObject *)Py_TYPE(text));
        else
            PyErr_Format(PyExc_TypeError, "%s[%zd]: expected a str, not %R", what, number,
                         (PyObject *)Py_TYPE(text));
        return NULL;
    }
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, bytes);
    return utf8 != NULL ? utf8 : refuse_surrogate(state, what, number);
}

/* ---- generators ---- */

tem_rng *ext_take_generator(ext_state *state) {
    tem_rng *rng = NULL;
    tem_error error;
    if (state->generator_count > 0)
        return state->generators[--state->generator_count];
    if (tem_rng_create(&rng, &error) != TEM_OK)
        ext_fail(state, &error);
    return rng;
}

void ext_give_generator(ext_state *state, tem_rng *rng) {
    if (rng != NULL && state->generator_count < EXT_GENERATORS)
        state->generators[state->generator_count++] = rng;
    else
        tem_rng_free(rng);
}

/* ---- the module ---- */

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type) {
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type == NULL ? -1 : PyModule_AddType(module, *type);
}

static int add_number(PyObject *module, const char *name, double number) {
    PyObject *value = PyFloat_FromDouble(number);
    const int status = value == NULL ? -1 : PyModule_AddObjectRef(module, name, value);
    Py_XDECREF(value);
    return status;
}

static int add_names(PyObject *module) {
    PyObject *errors = PyImport_ImportModule("tem._errors");
    ext_state *state = ext_state_of(module);
    if (errors == NULL)
        return -1;
    state->make_error = PyObject_GetAttrString(errors, "make");
    Py_DECREF(errors);
    if (state->make_error == NULL)
        return -1;
    if (PyModule_AddIntConstant(module, "MATRIX", TEM_MATRIX) != 0 ||
        PyModule_AddIntConstant(module, "MATRIX_WORDS_MAX", TEM_MATRIX_WORDS_MAX) != 0 ||
        add_number(module, "SELF_QUANTILE_LARGE", TEM_SELF_QUANTILE_LARGE) != 0 ||
        add_number(module, "SELF_MEDIAN_SMALL", TEM_SELF_MEDIAN_SMALL) != 0 ||
        add_number(module, "SELF_MEDIAN_LARGE", TEM_SELF_MEDIAN_LARGE) != 0)
        return -1;
    if (PyModule_AddStringConstant(module, "REPORT_FORMAT", TEM_REPORT_FORMAT) != 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", tem_version());
}

static int execute(PyObject *module) {
    ext_state *state = ext_state_of(module);
    if (add_names(module) != 0 || add_type(module, &ext_model_spec, &state->model) != 0 ||
        add_type(module, &ext_language_spec, &state->language) != 0 ||
        add_type(module, &ext_mechanism_spec, &state->mechanism) != 0 ||
        add_type(module, &ext_job_spec, &state->job) != 0 ||
        add_type(module, &ext_accountant_spec, &state->accountant) != 0 ||
        add_type(module, &ext_prior_spec, &state->prior) != 0 ||
        add_type(module, &ext_certificate_spec, &state->certificate) != 0 ||
        add_type(module, &ext_channel_spec, &state->channel) != 0 ||
        PyModule_AddFunctions(module, ext_model_functions) != 0 ||
        PyModule_AddFunctions(module, ext_language_functions) != 0 ||
        PyModule_AddFunctions(module, ext_mechanism_functions) != 0 ||
        PyModule_AddFunctions(module, ext_report_functions) != 0 ||
        PyModule_AddFunctions(module, ext_learn_functions) != 0)
        return -1;
    return PyModule_AddFunctions(module, ext_account_functions);
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    ext_state *state = ext_state_of(module);
    Py_VISIT(state->make_error);
    Py_VISIT(state->model);
    Py_VISIT(state->language);
    Py_VISIT(state->mechanism);
    Py_VISIT(state->job);
    Py_VISIT(state->accountant);
    Py_VISIT(state->prior);
    Py_VISIT(state->certificate);
    Py_VISIT(state->channel);
    return 0;
}

static int clear(PyObject *module) {
    ext_state *state = ext_state_of(module);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->model);
    Py_CLEAR(state->language);
    Py_CLEAR(state->mechanism);
    Py_CLEAR(state->job);
    Py_CLEAR(state->accountant);
    Py_CLEAR(state->prior);
    Py_CLEAR(state->certificate);
    Py_CLEAR(state->channel);
    while (state->generator_count > 0)
        tem_rng_free(state->generators[--state->generator_count]);
    return 0;
}

static void release(void *module) {
    clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tem._tem",
    .m_doc = "The calls of tem.h. Use the package tem instead, which builds on them.",
    .m_size = sizeof(ext_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__tem(void);
PyMODINIT_FUNC PyInit__tem(void) {
    return PyModuleDef_Init(&definition);
}
