/* ext_words.c - words that the caller has cut, in Python: tokens to ids, draws for ids, ids to
 * words. Ids are in bytes objects, as uint32_t. */
#include "ext.h"

#include <math.h>
#include <stdlib.h>

/* ---- tokens to ids ---- */

typedef struct token {
    const char *text; /* lives as long as its str */
    Py_ssize_t bytes;
} token;

/* Returns the tokens of a tuple of str; NULL with an exception. */
static token *read_tokens(const ext_state *state, PyObject *given) {
    const Py_ssize_t count = PyTuple_Size(given);
    token *tokens = calloc((size_t)count + 1, sizeof *tokens);
    if (tokens == NULL)
        return (token *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        tokens[i].text = ext_utf8(state, PyTuple_GetItem(given, i), "tokens", i, &tokens[i].bytes);
        if (tokens[i].text == NULL) {
            free(tokens);
            return NULL;
        }
    }
    return tokens;
}

/* Looks up all tokens without the GIL. */
static tem_status find_all(ext_run *run, const tem_model *model, const token *tokens,
                           Py_ssize_t count, uint32_t *ids, tem_error *error) {
    enum { ASK_TOKENS = 4096 };
    tem_status status = TEM_OK;
    for (Py_ssize_t i = 0; i < count && status == TEM_OK; i++) {
        status =
            tem_model_find_token(model, tokens[i].text, (size_t)tokens[i].bytes, &ids[i], error);
        if (i % ASK_TOKENS == 0 && ext_run_tell(run, "looking up", (uint64_t)i, (uint64_t)count))
            break;
    }
    return status;
}

PyObject *ext_find_tokens(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    const tem_model *model = ((ext_model *)self)->model;
    PyObject *given = NULL, *progress = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &given, &progress))
        return NULL;
    const Py_ssize_t count = PyTuple_Size(given);
    token *tokens = read_tokens(state, given);
    PyObject *found = tokens == NULL
                          ? NULL
                          : PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (found != NULL) {
        uint32_t *ids = (uint32_t *)(void *)PyBytes_AsString(found);
        ext_run_begin(&run, 1, progress);
        const tem_status status = find_all(&run, model, tokens, count, ids, &error);
        ext_run_end(&run);
        if (status != TEM_OK)
            ext_fail(state, &error);
        if (PyErr_Occurred())
            Py_CLEAR(found);
    }
    free(tokens);
    return found;
}

/* ---- ids to words ---- */

/* Whether a buffer holds ids; *count receives how many. False with an exception. */
static bool read_ids(const Py_buffer *ids, size_t *count) {
    *count = (size_t)ids->len / sizeof(uint32_t);
    if (*count * sizeof(uint32_t) == (size_t)ids->len)
        return true;
    PyErr_SetString(PyExc_ValueError, "ids are 32-bit numbers");
    return false;
}

static PyObject *word_of(const tem_model *model, uint32_t id) {
    size_t bytes = 0;
    if (id == TEM_NO_WORD)
        return Py_NewRef(Py_None);
    const char *word = tem_model_word(model, id, &bytes);
    if (word != NULL)
        return PyUnicode_DecodeUTF8(word, (Py_ssize_t)bytes, NULL);
    PyErr_SetString(PyExc_IndexError, "there is no word with this number");
    return NULL;
}

PyObject *ext_words_at(PyObject *self, PyObject *given) {
    const tem_model *model = ((ext_model *)self)->model;
    Py_buffer ids;
    size_t count = 0;
    if (PyObject_GetBuffer(given, &ids, PyBUF_SIMPLE) != 0)
        return NULL;
    PyObject *list = read_ids(&ids, &count) ? PyList_New((Py_ssize_t)count) : NULL;
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *word = word_of(model, ((const uint32_t *)ids.buf)[i]);
        if (word == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, word);
    }
    PyBuffer_Release(&ids);
    return list;
}

PyObject *ext_is_excluded(PyObject *self, PyObject *number) {
    const unsigned long id = PyLong_AsUnsignedLong(number);
    if (id == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    return PyBool_FromLong(id <= UINT32_MAX &&
                           tem_model_is_excluded(((ext_model *)self)->model, (uint32_t)id));
}

/* ---- draws ---- */

/* Returns the documents of which the ids are a sequence; NULL with an exception.
 *   lengths   a tuple: the number of ids of each document */
static tem_ids_input *read_documents(PyObject *lengths, const uint32_t *ids, size_t count) {
    const Py_ssize_t documents = PyTuple_Size(lengths);
    tem_ids_input *given = calloc((size_t)documents + 1, sizeof *given);
    size_t used = 0;
    if (given == NULL)
        return (tem_ids_input *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < documents; i++) {
        const size_t length = PyLong_AsSize_t(PyTuple_GetItem(lengths, i));
        if (PyErr_Occurred() || length > count - used)
            break;
        given[i] = (tem_ids_input){.ids = ids + used, .count = length};
        used += length;
    }
    if (!PyErr_Occurred() && used == count)
        return given;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the documents have another number of ids");
    free(given);
    return NULL;
}

/* Sets the person of each document, if people are named. False with an exception. */
static bool name_people(const ext_state *state, const ext_ledger *ledger, tem_ids_input *given,
                        Py_ssize_t count) {
    tem_text_input *texts = calloc((size_t)count + 1, sizeof *texts);
    if (texts == NULL) {
        PyErr_NoMemory();
        return false;
    }
    const bool done = ext_ledger_name_people(state, ledger, texts, count);
    for (Py_ssize_t i = 0; done && i < count; i++) {
        given[i].person = texts[i].person;
        given[i].person_bytes = texts[i].person_bytes;
    }
    free(texts);
    return done;
}

/* (ids, (documents, words, unknown, punctuation), balance or None); NULL with an exception.
 * PRIVACY: the bytes object is handed out only if the library has returned TEM_OK, which is after
 * the charge. */
static PyObject *draw(const ext_job *job, const tem_job *terms, const tem_ids_input *documents,
                      size_t document_count, size_t word_count, unsigned threads,
                      PyObject *progress) {
    const ext_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)job));
    tem_balance balance = {.left = INFINITY};
    tem_counts counts = {0};
    tem_error error;
    ext_run run;
    PyObject *drawn = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(word_count * sizeof(uint32_t)));
    if (drawn == NULL)
        return NULL;
    uint32_t *out = (uint32_t *)(void *)PyBytes_AsString(drawn);
    ext_run_begin(&run, threads, progress);
    const tem_status status =
        tem_privatize_ids(job->mechanism->mechanism, terms, documents, document_count, &run.run,
                          out, &counts, &balance, &error);
    ext_run_end(&run);
    PyObject *left = status == TEM_OK && !PyErr_Occurred() ? ext_ledger_balance(terms, &balance)
                                                           : ext_fail(state, &error);
    if (left == NULL) {
        Py_DECREF(drawn);
        return NULL;
    }
    return Py_BuildValue("N(KKKKK)N", drawn, (unsigned long long)counts.documents,
                         (unsigned long long)counts.words, (unsigned long long)counts.unknown,
                         (unsigned long long)counts.punctuation, (unsigned long long)counts.charged,
                         left);
}

PyObject *ext_job_ids(PyObject *self, PyObject *args) {
    const ext_job *job = (ext_job *)self;
    const ext_state *state = ext_state_of_self(self);
    PyObject *lengths = NULL, *seed = NULL, *progress = NULL, *charged = NULL, *result = NULL;
    Py_buffer ids;
    ext_ledger ledger;
    unsigned threads = 0;
    size_t count = 0;
    if (!PyArg_ParseTuple(args, "y*O!IOOO", &ids, &PyTuple_Type, &lengths, &threads, &seed,
                          &progress, &charged))
        return NULL;
    const uint64_t number = seed == Py_None ? 0 : PyLong_AsUnsignedLongLong(seed);
    tem_ids_input *documents = !PyErr_Occurred() && read_ids(&ids, &count)
                                   ? read_documents(lengths, ids.buf, count)
                                   : NULL;
    const Py_ssize_t document_count = PyTuple_Size(lengths);
    if (documents != NULL) {
        if (ext_ledger_read(charged, &ledger) &&
            name_people(state, &ledger, documents, document_count)) {
            tem_job terms = ext_ledger_terms(job, &ledger);
            terms.insecure_seeded = seed != Py_None;
            terms.insecure_seed = number;
            result = draw(job, &terms, documents, (size_t)document_count, count, threads, progress);
        }
        ext_ledger_free(&ledger);
    }
    free(documents);
    PyBuffer_Release(&ids);
    return result;
}
