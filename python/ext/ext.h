/* ext.h - the parts of tem._tem, the bridge between Python and tem.h.
 *
 * The bridge is thin: one Python type per object of tem.h, one method per call, numbers and
 * strings in and out. The functions that a user calls are written in Python (tem/_model.py).
 *
 *  - Every call that draws, reads, builds or computes releases the GIL. The objects of tem.h are
 *    frozen once made, so any number of Python threads may share one.
 *  - An object keeps the objects it was made from alive: a mechanism and an accountant keep their
 *    model, a channel keeps its mechanism. A language model of a user's own may refer to a Model,
 *    which keeps mechanisms and jobs: so the garbage collector knows these three types.
 *  - The bridge uses only the stable ABI of CPython 3.11, so one wheel serves every later version.
 *  - No exception contains a word of a text. */
#ifndef EXT_H
#define EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tem_language.h"
#include "tem_learn.h"

#include <stdbool.h>

enum { EXT_GENERATORS = 64 };

/* The state of the module. Keying a generator is costly, so generators are reused. A generator
 * belongs to the thread that took it until the thread gives it back; both happen under the GIL.
 * After fork() the library keys them again. */
typedef struct ext_state {
    PyObject *make_error; /* tem._errors.make */
    PyTypeObject *model, *language, *mechanism, *job, *accountant, *prior, *certificate, *channel;
    tem_rng *generators[EXT_GENERATORS];
    unsigned generator_count;
} ext_state;

typedef struct ext_model {
    PyObject_HEAD tem_model *model;
} ext_model;

/* A language model of a file, or of a user's own function. */
typedef struct ext_language {
    PyObject_HEAD tem_language *language;
    PyObject *weigh; /* the function; NULL: none */
    size_t words;    /* with `weigh`: the number of words of its model */
} ext_language;

typedef struct ext_mechanism {
    PyObject_HEAD ext_model *model;
    ext_language *language; /* or NULL */
    tem_mechanism *mechanism;
} ext_mechanism;

/* A mechanism, and the policies for the other parts of a text and for missing texts. */
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

typedef struct ext_channel {
    PyObject_HEAD ext_mechanism *mechanism;
    tem_channel *channel;
} ext_channel;

extern PyType_Spec ext_model_spec, ext_language_spec, ext_mechanism_spec, ext_job_spec,
    ext_accountant_spec, ext_prior_spec, ext_certificate_spec, ext_channel_spec;

/* Calls of the module, in tables that end with a row of NULL. */
extern PyMethodDef ext_model_functions[], ext_language_functions[], ext_mechanism_functions[],
    ext_account_functions[], ext_report_functions[], ext_learn_functions[];

ext_state *ext_state_of(PyObject *module);
ext_state *ext_state_of_self(PyObject *self);

/* Makes a new object of a type, with zeroed fields. NULL with an exception. */
void *ext_new(PyTypeObject *type);

/* Frees the object itself; a deallocator calls this last. */
void ext_delete(PyObject *self);

/* Raises the error, unless an exception is set already (by a progress callback or Ctrl-C). Always
 * returns NULL. */
PyObject *ext_fail(const ext_state *state, const tem_error *error);

/* The bytes of a str, which live as long as the str. NULL with an exception that contains nothing
 * of the text, and says which of many texts it is.
 *   what    the kind of item, such as "text"; NULL: there is only one
 *   number  its index, from 0, as Python counts */
const char *ext_utf8(const ext_state *state, PyObject *text, const char *what, Py_ssize_t number,
                     Py_ssize_t *bytes);

/* The effects of a mechanism according to its certificate, beside the paper's; None if the
 * certificate has none. */
PyObject *ext_effects(const tem_certificate_info *info);

/* ---- long calls ---- */

/* A call without the GIL. Between ext_run_begin and ext_run_end no Python may be used. */
typedef struct ext_run {
    tem_run run;
    PyObject *callable; /* progress callback, or NULL; borrowed */
    PyThreadState *thread;
    const char *stage; /* stage of the last call of `callable` */
    int64_t told;      /* time of that call, in milliseconds */
    bool stop;         /* an exception is set: once asked to stop, the call must not go on */
} ext_run;

/* callable: None for no callback. */
void ext_run_begin(ext_run *r, unsigned threads, PyObject *callable);
void ext_run_end(ext_run *r);

/* Call it now and then, from the thread that called ext_run_begin. True means stop, because an
 * exception is set; it then stays true. */
bool ext_run_tell(ext_run *r, const char *stage, uint64_t done, uint64_t total);

/* ---- ledgers ---- */

/* A ledger in the form that Python passes: (path, budget or 0, worst-case budget or 0,
 * field that names people or None, their names or None), or None. */
typedef struct ext_ledger {
    PyObject *path; /* bytes; NULL: no ledger */
    double budget, budget_worst;
    const char *by;   /* lives as long as the argument */
    PyObject *people; /* a tuple, one name per document; borrowed, or NULL */
} ext_ledger;

/* Returns false with an exception. Call ext_ledger_free in either case. */
bool ext_ledger_read(PyObject *given, ext_ledger *ledger);
void ext_ledger_free(ext_ledger *ledger);

/* Sets the person of each text, if people are named. False with an exception. */
bool ext_ledger_name_people(const ext_state *state, const ext_ledger *ledger, tem_text_input *texts,
                            Py_ssize_t count);

/* Returns the job for tem.h: how to draw texts, and the ledger to charge. It is valid as long as
 * both arguments. */
tem_job ext_ledger_terms(const ext_job *job, const ext_ledger *ledger);

/* Returns the balance of the ledger as a dict; None without a ledger. NULL with an exception. */
PyObject *ext_ledger_balance(const tem_job *terms, const tem_balance *balance);

/* PRIVACY: charges for documents that were drawn elsewhere and that nobody has seen yet. The
 * balance, None without a ledger, or NULL with an exception: then nothing may be released. */
PyObject *ext_ledger_charge(const ext_job *job, const ext_ledger *ledger, const tem_counts *counts,
                            PyObject *progress);

/* ---- generators ---- */

/* Takes a generator for the caller alone; NULL with an exception. */
tem_rng *ext_take_generator(ext_state *state);
void ext_give_generator(ext_state *state, tem_rng *rng);

/* Methods of Model, in ext_search.c. */
PyObject *ext_nearest(PyObject *self, PyObject *args);
PyObject *ext_within(PyObject *self, PyObject *args);
PyObject *ext_bag_distance(PyObject *self, PyObject *args);

/* Methods of Model and Job, in ext_words.c. */
PyObject *ext_find_tokens(PyObject *self, PyObject *args);
PyObject *ext_words_at(PyObject *self, PyObject *given);
PyObject *ext_is_excluded(PyObject *self, PyObject *number);
PyObject *ext_job_ids(PyObject *self, PyObject *args);

/* [(number, distance), ...]; NULL with an exception. */
PyObject *ext_pairs_of(const tem_neighbour *found, uint32_t count);

#endif
