/* ext_ledger.c - the ledger in Python, which the library charges. */
#include "ext.h"

#include <math.h>

bool ext_ledger_read(PyObject *given, ext_ledger *ledger) {
    PyObject *people = NULL;
    *ledger = (ext_ledger){.path = NULL};
    if (given == Py_None)
        return true;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a ledger is a tuple, or None");
        return false;
    }
    if (!PyArg_ParseTuple(given, "O&ddzO", PyUnicode_FSConverter, &ledger->path, &ledger->budget,
                          &ledger->budget_worst, &ledger->by, &people))
        return false;
    if (people == Py_None)
        return true;
    ledger->people = people;
    if (PyTuple_Check(people))
        return true;
    PyErr_SetString(PyExc_TypeError, "the names of people are a tuple, or None");
    return false;
}

void ext_ledger_free(ext_ledger *ledger) {
    Py_CLEAR(ledger->path);
}

bool ext_ledger_name_people(const ext_state *state, const ext_ledger *ledger, tem_text_input *texts,
                            Py_ssize_t count) {
    if (ledger->people == NULL)
        return true;
    if (PyTuple_Size(ledger->people) != count) {
        PyErr_Format(PyExc_ValueError, "expected the person of each of %zd texts, found %zd", count,
                     PyTuple_Size(ledger->people));
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t bytes = 0;
        texts[i].person = ext_utf8(state, PyTuple_GetItem(ledger->people, i), "by", i, &bytes);
        texts[i].person_bytes = (size_t)bytes;
        if (texts[i].person == NULL)
            return false;
    }
    return true;
}

tem_job ext_ledger_terms(const ext_job *job, const ext_ledger *ledger) {
    return (tem_job){.text = job->options,
                     .missing = job->missing,
                     .ledger = ledger->path == NULL ? NULL : PyBytes_AsString(ledger->path),
                     .budget = ledger->budget,
                     .budget_worst = ledger->budget_worst,
                     .by = ledger->by};
}

static PyObject *number_or_none(double number) {
    return isinf(number) ? Py_NewRef(Py_None) : PyFloat_FromDouble(number);
}

PyObject *ext_ledger_balance(const tem_job *terms, const tem_balance *balance) {
    if (terms->ledger == NULL)
        return Py_NewRef(Py_None);
    return Py_BuildValue(
        "{s:d, s:d, s:N, s:d, s:N, s:K, s:O}", "spent_before", balance->spent_before, "spent",
        balance->spent, "left", number_or_none(balance->left), "worst_before",
        balance->worst_before, "worst_left", number_or_none(balance->worst_left), "people",
        (unsigned long long)balance->people, "created", balance->created ? Py_True : Py_False);
}

PyObject *ext_ledger_charge(const ext_job *job, const ext_ledger *ledger, const tem_counts *counts,
                            PyObject *progress) {
    const ext_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)job));
    const tem_job terms = ext_ledger_terms(job, ledger);
    const tem_document document = {.counts = *counts};
    tem_balance balance = {.left = INFINITY};
    tem_error error;
    ext_run run;
    if (terms.ledger == NULL)
        return Py_NewRef(Py_None);
    ext_run_begin(&run, 1, progress);
    const tem_status status =
        tem_job_charge(job->mechanism->mechanism, &terms, &document, 1, &run.run, &balance, &error);
    ext_run_end(&run);
    return status == TEM_OK && !PyErr_Occurred() ? ext_ledger_balance(&terms, &balance)
                                                 : ext_fail(state, &error);
}
