/* ext_ledger.c - the ledger in Python: tem_job_charge. */
#include "ext.h"

#include <math.h>
#include <stdlib.h>

bool ext_ledger_read(PyObject *given, ext_ledger *ledger) {
    PyObject *people = NULL;
    *ledger = (ext_ledger){.path = NULL};
    if (given == Py_None)
        return true;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a ledger is a tuple, or None");
        return false;
    }
    if (!PyArg_ParseTuple(given, "O&dzO", PyUnicode_FSConverter, &ledger->path, &ledger->budget,
                          &ledger->by, &people))
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

/* Whose document each is. False with an exception. */
static bool name_people(const ext_state *state, const ext_ledger *ledger, tem_document *documents,
                        Py_ssize_t count) {
    if (PyTuple_Size(ledger->people) != count) {
        PyErr_Format(PyExc_ValueError, "expected the person of each of %zd texts, found %zd", count,
                     PyTuple_Size(ledger->people));
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t bytes = 0;
        documents[i].person =
            ext_utf8(state, PyTuple_GetItem(ledger->people, i), "person", i, &bytes);
        documents[i].person_bytes = (size_t)bytes;
        if (documents[i].person == NULL)
            return false;
    }
    return true;
}

static PyObject *describe(const tem_balance *balance) {
    PyObject *left = isinf(balance->left) ? Py_NewRef(Py_None) : PyFloat_FromDouble(balance->left);
    return Py_BuildValue("{s:d, s:d, s:N, s:K, s:O}", "spent_before", balance->spent_before,
                         "spent", balance->spent, "left", left, "people",
                         (unsigned long long)balance->people, "created",
                         balance->created ? Py_True : Py_False);
}

/* The charge itself, without the GIL while it waits for others and for the disk. */
static PyObject *charge(const ext_state *state, const ext_job *job, const tem_job *terms,
                        const tem_document *documents, Py_ssize_t count, PyObject *progress) {
    tem_balance balance = {.left = INFINITY};
    tem_error error;
    ext_run run;
    ext_run_begin(&run, 1, progress);
    const tem_status status = tem_job_charge(job->mechanism->mechanism, terms, documents,
                                             (size_t)count, &run.run, &balance, &error);
    ext_run_end(&run);
    return status == TEM_OK && !PyErr_Occurred() ? describe(&balance) : ext_fail(state, &error);
}

PyObject *ext_ledger_charge(const ext_job *job, const ext_ledger *ledger, bool seeded,
                            const tem_counts *counts, Py_ssize_t count, PyObject *progress) {
    const ext_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)job));
    PyObject *balance = NULL;
    if (ledger->path == NULL)
        return Py_NewRef(Py_None);
    const tem_job terms = {.text = job->options,
                           .missing = job->missing,
                           .insecure_seeded = seeded,
                           .ledger = PyBytes_AsString(ledger->path),
                           .budget = ledger->budget,
                           .by = ledger->by};
    tem_document *documents = calloc((size_t)count + 1, sizeof *documents);
    if (documents == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++)
        documents[i].counts = counts[i];
    if (ledger->people == NULL || name_people(state, ledger, documents, count))
        balance = charge(state, job, &terms, documents, count, progress);
    free(documents);
    return balance;
}
