/* ext_report.c - the report of a run in Python: tem_report_json. */
#include "ext.h"

#include <math.h>

/* Reads a balance that ext_ledger_charge has returned. False with an exception. */
static bool read_balance(PyObject *given, tem_balance *balance) {
    PyObject *before = PyDict_GetItemString(given, "spent_before");
    PyObject *left = PyDict_GetItemString(given, "left");
    PyObject *worst = PyDict_GetItemString(given, "worst_before");
    PyObject *worst_left = PyDict_GetItemString(given, "worst_left");
    PyObject *people = PyDict_GetItemString(given, "people");
    if (before == NULL || left == NULL || worst == NULL || worst_left == NULL || people == NULL) {
        PyErr_SetString(PyExc_TypeError, "a balance is what a charge returns");
        return false;
    }
    balance->spent_before = PyFloat_AsDouble(before);
    balance->left = left == Py_None ? INFINITY : PyFloat_AsDouble(left);
    balance->worst_before = PyFloat_AsDouble(worst);
    balance->worst_left = worst_left == Py_None ? INFINITY : PyFloat_AsDouble(worst_left);
    balance->people = PyLong_AsUnsignedLongLong(people);
    return PyErr_Occurred() == NULL;
}

/* The JSON; NULL with an exception. */
static PyObject *write_report(const ext_state *state, const ext_job *job, const tem_job *terms,
                              const tem_counts *counts, const tem_balance *balance) {
    char *text = NULL;
    size_t bytes = 0;
    tem_error error;
    if (tem_report_json(job->mechanism->mechanism, terms, counts, balance, NULL, &text, &bytes,
                        &error) != TEM_OK)
        return ext_fail(state, &error);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, NULL);
    tem_text_free(text);
    return result;
}

/* report(job, seeded, (documents, words, unknown, punctuation), ledger, balance): JSON */
static PyObject *report(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    unsigned long long documents = 0, words = 0, unknown = 0, punctuation = 0, charged = 0;
    PyObject *given = NULL, *said = NULL, *result = NULL;
    ext_job *job = NULL;
    ext_ledger ledger;
    tem_balance balance = {.left = INFINITY};
    int seeded = 0;
    if (!PyArg_ParseTuple(args, "O!p(KKKKK)OO", state->job, &job, &seeded, &documents, &words,
                          &unknown, &punctuation, &charged, &given, &said))
        return NULL;
    const tem_counts counts = {.documents = documents,
                               .words = words,
                               .unknown = unknown,
                               .punctuation = punctuation,
                               .charged = charged};
    if (ext_ledger_read(given, &ledger) && (said == Py_None || read_balance(said, &balance))) {
        tem_job terms = ext_ledger_terms(job, &ledger);
        terms.insecure_seeded = seeded;
        result = write_report(state, job, &terms, &counts, said == Py_None ? NULL : &balance);
    }
    ext_ledger_free(&ledger);
    return result;
}

/* Looks at a list of str. False with an exception. */
static bool look_at(tem_fields *fields, PyObject *values) {
    for (Py_ssize_t i = 0; i < PyList_Size(values); i++) {
        Py_ssize_t bytes = 0;
        const char *value = PyUnicode_AsUTF8AndSize(PyList_GetItem(values, i), &bytes);
        if (value == NULL)
            return false;
        tem_fields_look(fields, 0, value, (size_t)bytes);
    }
    return true;
}

/* looks_like(name, values): what an unchanged field may have, and whether its values say so; or
 * None */
static PyObject *looks_like(PyObject *module, PyObject *args) {
    const char *name = NULL;
    Py_ssize_t bytes = 0;
    PyObject *values = NULL, *result = NULL;
    tem_fields *fields = NULL;
    tem_field field;
    tem_error error;
    if (!PyArg_ParseTuple(args, "s#O!", &name, &bytes, &PyList_Type, &values))
        return NULL;
    if (tem_fields_create(&fields, &error) != TEM_OK ||
        tem_fields_add(fields, name, (size_t)bytes, TEM_FIELD_UNCHANGED, NULL, &error) != TEM_OK)
        ext_fail(ext_state_of(module), &error);
    else if (look_at(fields, values) && tem_fields_at(fields, 0, &field))
        result = field.looks_like == NULL ? Py_NewRef(Py_None)
                                          : Py_BuildValue("(sN)", field.looks_like,
                                                          PyBool_FromLong(field.looks_by_content));
    tem_fields_free(fields);
    return result;
}

PyMethodDef ext_report_functions[] = {
    {"looks_like", looks_like, METH_VARARGS, "looks_like(name, values)"},
    {"report", report, METH_VARARGS, "report(job, seeded, counts, ledger, balance)"},
    {NULL, NULL, 0, NULL},
};
