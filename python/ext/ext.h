/* ext.h - the parts of tem._tem, the bridge between Python and tem.h.
 *
 * The bridge is thin: a Python type for each object of tem.h, a method for each call, numbers and
 * strings in and out. What a user calls is written in Python (tem/_model.py).
 *
 *  - The GIL is released around every call that draws, reads, builds or computes. The objects of
 *    tem.h are frozen once made, so any number of Python threads may use one.
 *  - An object keeps those it was made from alive: a mechanism its model, an accountant too.
 *  - Only the stable ABI of CPython 3.11 is used: one wheel serves every later version.
 *  - No exception has a word of a text in it. */
#ifndef EXT_H
#define EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tem_account.h"

#include <stdbool.h>

enum { EXT_GENERATORS = 64 };

/* What the module has for itself. Generators are costly to key and are used again; each belongs
 * to the thread that took it until it is given back, both under the GIL. After fork() the
 * library keys them anew. */
typedef struct ext_state {
    PyObject *make_error; /* tem._errors.make */
    PyTypeObject *model, *mechanism, *job, *accountant, *prior, *certificate;
    tem_rng *generators[EXT_GENERATORS];
    unsigned generator_count;
} ext_state;

typedef struct ext_model {
    PyObject_HEAD tem_model *model;
} ext_model;

typedef struct ext_mechanism {
    PyObject_HEAD ext_model *model;
    tem_mechanism *mechanism;
} ext_mechanism;

/* A mechanism, and what to do with the rest of a text, and where there is none. */
typedef struct ext_job {
    PyObject_HEAD ext_mechanism *mechanism;
    tem_text_options options;
    tem_missing missing;
} ext_job;

typedef struct ext_accountant {
    PyObject_HEAD ext_model *model;
    tem_accountant *accountant;
} ext_accountant;

typedef struct ext_prior {
    PyObject_HEAD ext_model *model;
    tem_prior *prior;
} ext_prior;

typedef struct ext_certificate {
    PyObject_HEAD tem_certificate *certificate;
} ext_certificate;

extern PyType_Spec ext_model_spec, ext_mechanism_spec, ext_job_spec, ext_accountant_spec,
    ext_prior_spec, ext_certificate_spec;

/* Calls of the module, in tables that end with a row of NULL. */
extern PyMethodDef ext_model_functions[], ext_mechanism_functions[], ext_account_functions[],
    ext_report_functions[];

ext_state *ext_state_of(PyObject *module);
ext_state *ext_state_of_self(PyObject *self);

/* A new object of a type; its own fields are zero. NULL with an exception. */
void *ext_new(PyTypeObject *type);

/* Frees the object itself, last of all that its deallocator does. */
void ext_delete(PyObject *self);

/* Raises what went wrong, unless an exception is set already (a progress callback's, or Ctrl-C).
 * Always NULL. */
PyObject *ext_fail(const ext_state *state, const tem_error *error);

/* The bytes of a str, which live as long as it does. NULL with an exception that has nothing of
 * the text in it, and tells which of many it is.
 *   what    what it is one of, such as "text"; NULL: it is the only one
 *   number  its place among them, from 0, as Python counts */
const char *ext_utf8(const ext_state *state, PyObject *text, const char *what, Py_ssize_t number,
                     Py_ssize_t *bytes);

/* What a certificate says its mechanism does, beside the paper's; None if it does not say. */
PyObject *ext_effects(const tem_certificate_info *info);

/* ---- long calls ---- */

/* Runs of a call without the GIL. Between ext_run_begin and ext_run_end no Python may be used. */
typedef struct ext_run {
    tem_run run;
    PyObject *callable; /* told how far it is; or NULL. Borrowed */
    PyThreadState *thread;
    const char *stage; /* of the last call of `callable` */
    int64_t told;      /* when, in milliseconds */
    bool stop;         /* an exception is set: what was asked to stop once is not to go on */
} ext_run;

/* callable: None for nobody. */
void ext_run_begin(ext_run *r, unsigned threads, PyObject *callable);
void ext_run_end(ext_run *r);

/* To be called now and then, from the thread that began. True, then and ever after: stop, an
 * exception is set. */
bool ext_run_tell(ext_run *r, const char *stage, uint64_t done, uint64_t total);

/* ---- ledgers ---- */

/* A ledger as Python gives it: (path, budget or 0, field that names people or None, their names or
 * None), or None. */
typedef struct ext_ledger {
    PyObject *path; /* bytes; NULL: there is none */
    double budget;
    const char *by;   /* lives as long as what was given */
    PyObject *people; /* a tuple, one a document; borrowed, or NULL */
} ext_ledger;

/* False with an exception. Free with ext_ledger_free, also then. */
bool ext_ledger_read(PyObject *given, ext_ledger *ledger);
void ext_ledger_free(ext_ledger *ledger);

/* Whose text each is, if people are named. False with an exception. */
bool ext_ledger_name_people(const ext_state *state, const ext_ledger *ledger, tem_text_input *texts,
                            Py_ssize_t count);

/* What a job is charged to, and how its texts are drawn. Lives as long as both. */
tem_job ext_ledger_terms(const ext_job *job, const ext_ledger *ledger);

/* What the ledger says, as a dict; None without a ledger. NULL with an exception. */
PyObject *ext_ledger_balance(const tem_job *terms, const tem_balance *balance);

/* PRIVACY: charges for documents that were drawn elsewhere and that nobody has seen yet. The
 * balance, None without a ledger, or NULL with an exception: then nothing may be released. */
PyObject *ext_ledger_charge(const ext_job *job, const ext_ledger *ledger, const tem_counts *counts,
                            PyObject *progress);

/* ---- generators ---- */

/* One for the caller alone; NULL with an exception. */
tem_rng *ext_take_generator(ext_state *state);
void ext_give_generator(ext_state *state, tem_rng *rng);

#endif
