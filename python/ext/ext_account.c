/* ext_account.c - tem_accountant, tem_prior and tem_certificate in Python. */
#include "ext.h"

/* ---- priors ---- */

static void prior_delete(PyObject *self) {
    ext_prior *p = (ext_prior *)self;
    tem_prior_free(p->prior);
    Py_XDECREF((PyObject *)p->model);
    ext_delete(self);
}

static PyObject *wrap_prior(const ext_state *state, ext_model *model, tem_prior *prior) {
    ext_prior *made = ext_new(state->prior);
    if (made == NULL) {
        tem_prior_free(prior);
        return NULL;
    }
    made->model = (ext_model *)Py_NewRef((PyObject *)model);
    made->prior = prior;
    return (PyObject *)made;
}

static PyObject *zipf_prior(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    double power = 1;
    tem_prior *prior = NULL;
    tem_error error;
    if (!PyArg_ParseTuple(args, "O!d", state->model, &model, &power))
        return NULL;
    if (tem_prior_create_zipf(model->model, power, &prior, &error) != TEM_OK)
        return ext_fail(state, &error);
    return wrap_prior(state, model, prior);
}

static PyObject *load_prior(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *path = NULL;
    tem_prior *prior = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O&", state->model, &model, PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, 0, Py_None);
    const tem_status status = tem_prior_load(model->model, name, &run.run, &prior, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    return status == TEM_OK ? wrap_prior(state, model, prior) : ext_fail(state, &error);
}

/* ---- certificates ---- */

static void certificate_delete(PyObject *self) {
    tem_certificate_free(((ext_certificate *)self)->certificate);
    ext_delete(self);
}

static PyObject *wrap_certificate(const ext_state *state, tem_certificate *certificate) {
    ext_certificate *made = ext_new(state->certificate);
    if (made == NULL)
        tem_certificate_free(certificate);
    else
        made->certificate = certificate;
    return (PyObject *)made;
}

/* find_certificate(path, model, epsilon, beta, gamma, kind of its weights or None) */
static PyObject *find_certificate(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    PyObject *path = NULL;
    ext_model *model = NULL;
    tem_calibration wanted = {0};
    tem_certificate *found = NULL;
    const char *kind = NULL;
    tem_error error;
    if (!PyArg_ParseTuple(args, "O&O!dddz", PyUnicode_FSConverter, &path, state->model, &model,
                          &wanted.epsilon, &wanted.beta, &wanted.gamma, &kind))
        return NULL;
    const char *name = PyBytes_AsString(path);
    PyThreadState *thread = PyEval_SaveThread();
    tem_status status = kind == NULL ? TEM_OK : tem_weights_parse(kind, &wanted.weights, &error);
    if (status == TEM_OK)
        status = tem_certificate_find(name, model->model, &wanted, &found, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    return status == TEM_OK ? wrap_certificate(state, found) : ext_fail(state, &error);
}

static PyObject *effect_of(const tem_effect *effect) {
    return Py_BuildValue("{s:d, s:d, s:d, s:d}", "self", effect->self, "support", effect->support,
                         "distance", effect->distance, "bayes", effect->bayes);
}

PyObject *ext_effects(const tem_certificate_info *info) {
    if (info->prior[0] == '\0')
        return Py_NewRef(Py_None);
    return Py_BuildValue("{s:s, s:d, s:d, s:d, s:d, s:N}", "prior", info->prior, "self",
                         info->effect.self, "support", info->effect.support, "distance",
                         info->effect.distance, "bayes", info->effect.bayes, "paper",
                         effect_of(&info->plain));
}

static PyObject *certificate_info(PyObject *self, PyObject *unused) {
    tem_certificate_info info;
    (void)unused;
    tem_certificate_get_info(((ext_certificate *)self)->certificate, &info);
    return Py_BuildValue("{s:d, s:d, s:d, s:d, s:d, s:s, s:N, s:s}", "epsilon", info.epsilon,
                         "beta", info.beta, "s", info.s, "gamma", info.gamma, "realised",
                         info.realised, "weights", tem_weights_name(info.weights), "effects",
                         ext_effects(&info), "hash", info.hash);
}

static PyObject *certificate_save(PyObject *self, PyObject *args) {
    PyObject *path = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    ext_run_begin(&run, 1, Py_None);
    const tem_status status =
        tem_certificate_save(((ext_certificate *)self)->certificate, name, &run.run, &error);
    ext_run_end(&run);
    Py_DECREF(path);
    return status == TEM_OK ? Py_NewRef(Py_None) : ext_fail(ext_state_of_self(self), &error);
}

static PyMethodDef certificate_methods[] = {
    {"info", certificate_info, METH_NOARGS, "info()"},
    {"save", certificate_save, METH_VARARGS, "save(path)"},
    {NULL, NULL, 0, NULL},
};

/* ---- the accountant ---- */

static void accountant_delete(PyObject *self) {
    ext_accountant *a = (ext_accountant *)self;
    tem_accountant_free(a->accountant);
    Py_XDECREF((PyObject *)a->model);
    ext_delete(self);
}

/* make_accountant(model, mechanism or None, threads, progress): for the weights of a mechanism, or
 * for equal weights */
static PyObject *make_accountant(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_model *model = NULL;
    PyObject *given = NULL, *progress = NULL;
    unsigned threads = 0;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!OIO", state->model, &model, &given, &threads, &progress))
        return NULL;
    const uint32_t *weights = Py_TYPE(given) == state->mechanism
                                  ? tem_mechanism_weights(((ext_mechanism *)given)->mechanism)
                                  : NULL;
    ext_accountant *made = ext_new(state->accountant);
    if (made == NULL)
        return NULL;
    made->model = (ext_model *)Py_NewRef((PyObject *)model);
    ext_run_begin(&run, threads, progress);
    const tem_status status =
        tem_accountant_create(model->model, weights, &run.run, &made->accountant, &error);
    ext_run_end(&run);
    if (status == TEM_OK && !PyErr_Occurred())
        return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return ext_fail(state, &error);
}

/* audit(mechanism, threads, progress) */
static PyObject *audit(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    ext_mechanism *mechanism = NULL;
    PyObject *progress = NULL;
    unsigned threads = 0;
    tem_audit found;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!IO", state->mechanism, &mechanism, &threads, &progress))
        return NULL;
    ext_run_begin(&run, threads, progress);
    const tem_status status = tem_accountant_audit(((ext_accountant *)self)->accountant,
                                                   mechanism->mechanism, &run.run, &found, &error);
    ext_run_end(&run);
    if (status != TEM_OK || PyErr_Occurred())
        return ext_fail(state, &error);
    PyObject *worst = found.worst_a == TEM_NO_WORD
                          ? Py_NewRef(Py_None)
                          : Py_BuildValue("IId", found.worst_a, found.worst_b,
                                          (double)found.worst_distance / TEM_DIST_ONE);
    return Py_BuildValue("{s:O, s:d, s:d, s:N, s:d, s:K, s:K}", "is_metric",
                         found.is_metric ? Py_True : Py_False, "realised", found.realised,
                         "realised_least", found.realised_least, "worst", worst, "local",
                         found.local, "pairs_examined", (unsigned long long)found.pairs_examined,
                         "pairs_pruned", (unsigned long long)found.pairs_pruned);
}

static PyObject *describe_summary(const tem_summary *found) {
    return Py_BuildValue("{s:d, s:d, s:d, s:d, s:d, s:d, s:d, s:d, s:d}", "self_median",
                         found->self_median, "self_mean", found->self_mean, "support_median",
                         found->support_median, "self_exposed", found->self_exposed,
                         "support_exposed", found->support_exposed, "entropy_mean",
                         found->entropy_mean, "distance_mean", found->distance_mean, "beyond_mean",
                         found->beyond_mean, "bayes", found->bayes);
}

/* summarise(mechanism, prior, with_bayes, threads, progress) */
static PyObject *summarise(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    ext_mechanism *mechanism = NULL;
    ext_prior *prior = NULL;
    PyObject *progress = NULL;
    unsigned threads = 0;
    int with_bayes = 0;
    tem_summary found;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "O!O!pIO", state->mechanism, &mechanism, state->prior, &prior,
                          &with_bayes, &threads, &progress))
        return NULL;
    ext_run_begin(&run, threads, progress);
    const tem_status status =
        tem_accountant_summarise(((ext_accountant *)self)->accountant, mechanism->mechanism,
                                 prior->prior, with_bayes, &run.run, &found, &error);
    ext_run_end(&run);
    if (status != TEM_OK || PyErr_Occurred())
        return ext_fail(state, &error);
    return describe_summary(&found);
}

static PyObject *describe_point(const tem_point *point) {
    return Py_BuildValue("ddddN", point->epsilon, point->epsilon_paper, point->s, point->gamma,
                         describe_summary(&point->summary));
}

static PyObject *describe_curve(const tem_point *points, uint32_t count) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        PyObject *point = describe_point(&points[i]);
        if (point == NULL || PyList_Append(list, point) != 0)
            Py_CLEAR(list);
        Py_XDECREF(point);
    }
    return list;
}

/* Copies a list of ids into memory for PyMem_Free; an empty list: one element that is not used.
 * Returns NULL with an exception set. */
static uint32_t *copy_ids(PyObject *list) {
    const Py_ssize_t count = PyList_Size(list);
    uint32_t *ids = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof *ids);
    if (ids == NULL && count >= 0)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && ids != NULL; i++) {
        const unsigned long id = PyLong_AsUnsignedLong(PyList_GetItem(list, i));
        ids[i] = id < TEM_NO_WORD ? (uint32_t)id : TEM_NO_WORD;
    }
    if (ids != NULL && PyErr_Occurred()) {
        PyMem_Free(ids);
        return NULL;
    }
    return ids;
}

/* choose(target, wanted, beta, gamma, prior, calibrated, ids, quantile, with_curve, threads,
 * progress) returns (answer, [point]), where a point is (epsilon, epsilon_paper, s, gamma,
 * summary). ids: the words that the target is about; [] and quantile 0: the median word */
static PyObject *choose(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    const tem_accountant *accountant = ((ext_accountant *)self)->accountant;
    const char *target = NULL;
    ext_prior *prior = NULL;
    PyObject *progress = NULL;
    unsigned threads = 0;
    int with_curve = 0;
    tem_wish wish = {0};
    tem_point answer, curve[TEM_CURVE_MAX];
    uint32_t count = 0;
    tem_error error;
    ext_run run;
    PyObject *list = NULL;
    if (!PyArg_ParseTuple(args, "sdddO!pO!dpIO", &target, &wish.wanted, &wish.beta, &wish.gamma,
                          state->prior, &prior, &wish.calibrated, &PyList_Type, &list,
                          &wish.quantile, &with_curve, &threads, &progress))
        return NULL;
    wish.prior = prior->prior;
    if (tem_target_parse(target, &wish.target, &error) != TEM_OK)
        return ext_fail(state, &error);
    uint32_t *ids = copy_ids(list);
    if (ids == NULL)
        return NULL;
    wish.words = ids;
    wish.word_count = (uint64_t)PyList_Size(list);
    ext_run_begin(&run, threads, progress);
    tem_status status = tem_accountant_choose(accountant, &wish, &run.run, &answer, &error);
    if (status == TEM_OK && with_curve)
        status = tem_accountant_curve(accountant, &wish, &answer, &run.run, curve, &count, &error);
    ext_run_end(&run);
    PyMem_Free(ids);
    if (status != TEM_OK || PyErr_Occurred())
        return ext_fail(state, &error);
    return Py_BuildValue("NN", describe_point(&answer), describe_curve(curve, count));
}

/* calibrate(epsilon, beta, gamma, weights, prior, name of the prior, threads, progress) */
static PyObject *calibrate(PyObject *self, PyObject *args) {
    const ext_state *state = ext_state_of_self(self);
    PyObject *progress = NULL;
    const char *weights = NULL;
    PyObject *prior = NULL;
    unsigned threads = 0;
    tem_calibration wanted = {0};
    tem_certificate *found = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "dddsOsIO", &wanted.epsilon, &wanted.beta, &wanted.gamma, &weights,
                          &prior, &wanted.prior_name, &threads, &progress))
        return NULL;
    if (Py_TYPE(prior) == state->prior)
        wanted.prior = ((ext_prior *)prior)->prior;
    if (tem_weights_parse(weights, &wanted.weights, &error) != TEM_OK)
        return ext_fail(state, &error);
    ext_run_begin(&run, threads, progress);
    const tem_status status = tem_accountant_calibrate(((ext_accountant *)self)->accountant,
                                                       &wanted, &run.run, &found, NULL, &error);
    ext_run_end(&run);
    if (status != TEM_OK)
        return ext_fail(state, &error);
    if (PyErr_Occurred()) {
        tem_certificate_free(found);
        return NULL;
    }
    return wrap_certificate(state, found);
}

static PyMethodDef accountant_methods[] = {
    {"audit", audit, METH_VARARGS, "audit(mechanism, threads, progress)"},
    {"summarise", summarise, METH_VARARGS,
     "summarise(mechanism, prior, with_bayes, threads, progress)"},
    {"choose", choose, METH_VARARGS,
     "choose(target, wanted, beta, gamma, prior, calibrated, ids, quantile, with_curve, threads, "
     "progress)"},
    {"calibrate", calibrate, METH_VARARGS,
     "calibrate(epsilon, beta, gamma, weights, prior, prior_name, threads, progress)"},
    {NULL, NULL, 0, NULL},
};

/* ---- trust ---- */

/* trust_certificate(certificate, model, the file that it is from): raises unless it is trusted */
static PyObject *trust_certificate(PyObject *module, PyObject *args) {
    const ext_state *state = ext_state_of(module);
    ext_certificate *certificate = NULL;
    ext_model *model = NULL;
    PyObject *path = NULL;
    tem_certificate_info info;
    tem_error error;
    if (!PyArg_ParseTuple(args, "O!O!O&", state->certificate, &certificate, state->model, &model,
                          PyUnicode_FSConverter, &path))
        return NULL;
    tem_certificate_get_info(certificate->certificate, &info);
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status =
        tem_certificate_trust(&info, model->model, PyBytes_AsString(path), &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    return status == TEM_OK ? Py_NewRef(Py_None) : ext_fail(state, &error);
}

/* Appends the hash of the i-th certificate of a file; sets *more to whether there was one. False
 * with an exception. */
static bool add_hash(const ext_state *state, PyObject *list, const char *path, uint32_t i,
                     bool *more) {
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    tem_error error;
    if (tem_certificate_load(path, i, &certificate, &error) != TEM_OK)
        return ext_fail(state, &error) != NULL;
    *more = certificate != NULL;
    if (!*more)
        return true;
    tem_certificate_get_info(certificate, &info);
    tem_certificate_free(certificate);
    PyObject *hash = PyUnicode_FromString(info.hash);
    const bool done = hash != NULL && PyList_Append(list, hash) == 0;
    Py_XDECREF(hash);
    return done;
}

/* certificate_hashes(path): of all certificates of a file */
static PyObject *certificate_hashes(PyObject *module, PyObject *args) {
    PyObject *path = NULL;
    bool more = true;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && more; i++)
        if (!add_hash(ext_state_of(module), list, PyBytes_AsString(path), i, &more))
            Py_CLEAR(list);
    Py_DECREF(path);
    return list;
}

static PyObject *trust_ready(PyObject *module, PyObject *unused) {
    tem_error error;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    const tem_status status = tem_trust_ready(&error);
    PyEval_RestoreThread(thread);
    return status == TEM_OK ? Py_NewRef(Py_None) : ext_fail(ext_state_of(module), &error);
}

/* Others may be changing the list, so this waits without the GIL, until Ctrl-C. */
static PyObject *trust_add(PyObject *module, PyObject *args) {
    const char *hash = NULL;
    tem_error error;
    ext_run run;
    if (!PyArg_ParseTuple(args, "s", &hash))
        return NULL;
    ext_run_begin(&run, 0, Py_None);
    const tem_status status = tem_trust_add(hash, &run.run, &error);
    ext_run_end(&run);
    return status == TEM_OK ? Py_NewRef(Py_None) : ext_fail(ext_state_of(module), &error);
}

PyMethodDef ext_account_functions[] = {
    {"trust_certificate", trust_certificate, METH_VARARGS,
     "trust_certificate(certificate, model, path)"},
    {"certificate_hashes", certificate_hashes, METH_VARARGS, "certificate_hashes(path)"},
    {"trust_ready", trust_ready, METH_NOARGS, "trust_ready()"},
    {"trust_add", trust_add, METH_VARARGS, "trust_add(hash)"},
    {"make_accountant", make_accountant, METH_VARARGS,
     "make_accountant(model, mechanism, threads, progress)"},
    {"zipf_prior", zipf_prior, METH_VARARGS, "zipf_prior(model, power)"},
    {"load_prior", load_prior, METH_VARARGS, "load_prior(model, path)"},
    {"find_certificate", find_certificate, METH_VARARGS,
     "find_certificate(path, model, epsilon, beta, gamma, weights)"},
    {NULL, NULL, 0, NULL},
};

enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE };

static PyType_Slot prior_slots[] = {{Py_tp_dealloc, prior_delete}, {0, NULL}};
static PyType_Slot certificate_slots[] = {
    {Py_tp_dealloc, certificate_delete}, {Py_tp_methods, certificate_methods}, {0, NULL}};
static PyType_Slot accountant_slots[] = {
    {Py_tp_dealloc, accountant_delete}, {Py_tp_methods, accountant_methods}, {0, NULL}};

PyType_Spec ext_prior_spec = {
    .name = "tem._tem.Prior", .basicsize = sizeof(ext_prior), .flags = FLAGS, .slots = prior_slots};
PyType_Spec ext_certificate_spec = {.name = "tem._tem.Certificate",
                                    .basicsize = sizeof(ext_certificate),
                                    .flags = FLAGS,
                                    .slots = certificate_slots};
PyType_Spec ext_accountant_spec = {.name = "tem._tem.Accountant",
                                   .basicsize = sizeof(ext_accountant),
                                   .flags = FLAGS,
                                   .slots = accountant_slots};
