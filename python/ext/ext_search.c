/* ext_search.c - searches, and the distance of documents. */
#include "ext.h"
#include "tem_bag.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [(number, distance)] */
PyObject *ext_pairs_of(const tem_neighbour *found, uint32_t count) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        PyObject *pair = Py_BuildValue("Id", found[i].id, (double)found[i].distance / TEM_DIST_ONE);
        if (pair == NULL || PyList_Append(list, pair) != 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* nearest(number, count): the nearest words, the word included */
PyObject *ext_nearest(PyObject *self, PyObject *args) {
    uint32_t id = 0, count = 0;
    tem_error error;
    if (!PyArg_ParseTuple(args, "II", &id, &count))
        return NULL;
    tem_neighbour *found = malloc((count + (size_t)1) * sizeof *found);
    if (found == NULL)
        return PyErr_NoMemory();
    const tem_run run = {.threads = 1};
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_search_nearest(((ext_model *)self)->model, &id, 1, count, &run, found, &error);
    PyEval_RestoreThread(thread);
    PyObject *list = status == TEM_OK ? ext_pairs_of(found, count) : NULL;
    free(found);
    return status == TEM_OK ? list : ext_fail(ext_state_of_self(self), &error);
}

/* within(number, steps): the words within that many steps of 2^-16, the word included */
PyObject *ext_within(PyObject *self, PyObject *args) {
    const tem_model *model = ((ext_model *)self)->model;
    uint32_t id = 0, steps = 0, count = 0;
    tem_model_info info;
    tem_error error;
    if (!PyArg_ParseTuple(args, "II", &id, &steps))
        return NULL;
    tem_model_get_info(model, &info);
    tem_neighbour *found = malloc((info.words + (size_t)1) * sizeof *found);
    if (found == NULL)
        return PyErr_NoMemory();
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_search_within(model, id, steps, found, info.words, &count, &error);
    PyEval_RestoreThread(thread);
    PyObject *list = status == TEM_OK ? ext_pairs_of(found, count) : NULL;
    free(found);
    return status == TEM_OK ? list : ext_fail(ext_state_of_self(self), &error);
}

/* ---- documents ---- */

/* The ids of the words of a text, which the caller erases and frees; NULL after a failure. Without
 * the GIL. */
static uint32_t *pieces_of(const tem_model *model, const char *text, size_t bytes, size_t *count,
                           tem_error *error) {
    uint32_t *ids = malloc((bytes + 1) * sizeof *ids); /* a word takes a byte or more */
    if (ids == NULL)
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
    else if (tem_model_pieces(model, text, bytes, ids, bytes + 1, count, error) != TEM_OK) {
        free(ids);
        return NULL;
    }
    return ids;
}

static void forget(uint32_t *ids, size_t count) {
    if (ids != NULL)
        explicit_bzero(ids, count * sizeof *ids);
    free(ids);
}

static tem_status measure(const tem_model *model, const char *const texts[2],
                          const Py_ssize_t bytes[2], tem_dist gamma, const tem_run *run,
                          tem_bag_distance *distance, tem_error *error) {
    size_t counts[2] = {0, 0};
    const tem_bag_options options = {.gamma = gamma};
    uint32_t *a = pieces_of(model, texts[0], (size_t)bytes[0], &counts[0], error);
    uint32_t *b =
        a == NULL ? NULL : pieces_of(model, texts[1], (size_t)bytes[1], &counts[1], error);
    const tem_status status = b == NULL ? error->status
                                        : tem_bag_measure(model, a, counts[0], b, counts[1],
                                                          &options, run, distance, error);
    forget(b, counts[1]);
    forget(a, counts[0]);
    return status;
}

/* numerator_high * 2^64 + numerator_low */
static PyObject *numerator_of(const tem_bag_distance *d) {
    char digits[40];
    snprintf(digits, sizeof digits, "%" PRIx64 "%016" PRIx64, d->numerator_high, d->numerator_low);
    return PyLong_FromString(digits, NULL, 16);
}

/* bag_distance(a, b, gamma, threads, progress): the Earth Mover's distance of two texts */
PyObject *ext_bag_distance(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    PyObject *given[2], *progress = NULL;
    uint32_t gamma = 0;
    unsigned threads = 0;
    const char *texts[2];
    Py_ssize_t bytes[2];
    tem_bag_distance d;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "OOIIO", &given[0], &given[1], &gamma, &threads, &progress))
        return NULL;
    for (int i = 0; i < 2; i++)
        if ((texts[i] = ext_utf8(state, given[i], NULL, 0, &bytes[i])) == NULL)
            return NULL;
    ext_run_begin(&run, threads, progress);
    const tem_status status =
        measure(((ext_model *)self)->model, texts, bytes, gamma, &run.run, &d, &error);
    ext_run_end(&run);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    PyObject *matching =
        d.has_matching ? PyFloat_FromDouble((double)d.matching / TEM_DIST_ONE) : Py_NewRef(Py_None);
    return Py_BuildValue("{s:d, s:N, s:N, s:K, s:(KK), s:(KK)}", "distance", d.distance, "matching",
                         matching, "numerator", numerator_of(&d), "denominator",
                         (unsigned long long)d.denominator, "words", (unsigned long long)d.a.words,
                         (unsigned long long)d.b.words, "unknown", (unsigned long long)d.a.unknown,
                         (unsigned long long)d.b.unknown);
}
