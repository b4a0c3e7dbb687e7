/* api_names.c - the small calls of tem.h: version, names, kernels, writing a file. */
#include "certificate/certificate.h"
#include "core/status.h"
#include "io/file.h"
#include "space/kernels/kernels.h"
#include "space/metric.h"
#include "tuning/choose.h"

#include <stdio.h>
#include <string.h>

const char *tem_version(void) {
    return TEM_VERSION;
}

uint32_t tem_version_number(void) {
    return TEM_VERSION_NUMBER;
}

int tem_version_is_compatible(uint32_t header) {
    const uint32_t promise = TEM_VERSION_MAJOR > 0 ? 1000000 : 1000; /* what keeps the interface */
    return header <= TEM_VERSION_NUMBER && header / promise == TEM_VERSION_NUMBER / promise;
}

static const char *const status_names[] = {
    [TEM_OK] = "ok",
    [TEM_ERR_ARGUMENT] = "argument",
    [TEM_ERR_MEMORY] = "memory",
    [TEM_ERR_FILE] = "file",
    [TEM_ERR_EXISTS] = "exists",
    [TEM_ERR_FORMAT] = "format",
    [TEM_ERR_VERSION] = "version",
    [TEM_ERR_DAMAGED] = "damaged",
    [TEM_ERR_RANGE] = "range",
    [TEM_ERR_METRIC] = "metric",
    [TEM_ERR_UNSUPPORTED] = "unsupported",
    [TEM_ERR_CANCELLED] = "cancelled",
    [TEM_ERR_BUDGET] = "budget",
    [TEM_ERR_CERTIFICATE] = "certificate",
    [TEM_ERR_UNTRUSTED] = "untrusted",
};
enum { STATUSES = sizeof status_names / sizeof *status_names };

const char *tem_status_name(tem_status status) {
    return (unsigned)status < STATUSES ? status_names[status] : "unknown";
}

tem_status tem_status_parse(const char *name, tem_status *status, tem_error *error) {
    for (int i = 0; name != NULL && status != NULL && i < STATUSES; i++)
        if (strcmp(status_names[i], name) == 0) {
            *status = (tem_status)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "no status has this name");
}

const char *tem_metric_name(tem_metric metric) {
    const metric_ops *found = metric_find(metric);
    return found == NULL ? "unknown" : found->name;
}

const char *tem_metric_at(unsigned i, tem_metric *metric, const char **meaning) {
    const metric_ops *found = metric_at(i);
    if (found == NULL)
        return NULL;
    if (metric != NULL)
        *metric = found->id;
    if (meaning != NULL)
        *meaning = found->meaning;
    return found->name;
}

/* The names of the metrics that a user can choose, as "a, b, c or d". */
static void list_metrics(char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; metric_at(i) != NULL; i++) {
        if (!metric_at(i)->has_vectors)
            continue;
        const bool is_last = metric_at(i + 1) == NULL || !metric_at(i + 1)->has_vectors;
        const char *comma = used == 0 ? "" : is_last ? " or " : ", ";
        const int length = snprintf(text + used, bytes - used, "%s%s", comma, metric_at(i)->name);
        if (length < 0 || (size_t)length >= bytes - used)
            return;
        used += (size_t)length;
    }
}

tem_status tem_metric_parse(const char *name, tem_metric *metric, tem_error *error) {
    char names[128];
    if (name == NULL || metric == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a name and a place for the metric are needed");
    if (strcmp(name, "cosine") == 0)
        return core_fail(error, TEM_ERR_METRIC,
                         "1 - cosine breaks the triangle inequality, so no guarantee can rest on "
                         "it: use angular");
    for (unsigned i = 0; metric_at(i) != NULL; i++)
        if (metric_at(i)->has_vectors && strcmp(metric_at(i)->name, name) == 0) {
            *metric = metric_at(i)->id;
            return TEM_OK;
        }
    list_metrics(names, sizeof names);
    return core_fail(error, TEM_ERR_ARGUMENT, "the metric is %s", names);
}

const char *tem_weights_name(tem_weights_kind kind) {
    const char *name = certificate_weights_name(kind);
    return name == NULL ? "unknown" : name;
}

tem_status tem_weights_parse(const char *name, tem_weights_kind *kind, tem_error *error) {
    for (int i = TEM_WEIGHTS_EQUAL; name != NULL && kind != NULL && i <= TEM_WEIGHTS_TUNED; i++)
        if (strcmp(certificate_weights_name((tem_weights_kind)i), name) == 0) {
            *kind = (tem_weights_kind)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "weights are equal, balanced or tuned");
}

const char *tem_target_name(tem_target target) {
    const char *name = target_name(target);
    return name == NULL ? "unknown" : name;
}

tem_status tem_target_parse(const char *name, tem_target *target, tem_error *error) {
    for (int i = TEM_TARGET_SELF; name != NULL && target != NULL && i <= TEM_TARGET_BAYES; i++)
        if (strcmp(target_name((tem_target)i), name) == 0) {
            *target = (tem_target)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "a target is self, support or bayes");
}

const char *tem_kernel_name(void) {
    return kernels_active()->name;
}

const char *tem_kernel_at(unsigned i, int *available) {
    bool can_run = false;
    const kernels *set = kernels_at(i, &can_run);
    if (set == NULL)
        return NULL;
    if (available != NULL)
        *available = can_run;
    return set->name;
}

tem_status tem_kernel_force(const char *name, tem_error *error) {
    bool available = false;
    const kernels *set = NULL;
    for (unsigned i = 0; name != NULL && (set = kernels_at(i, &available)) != NULL; i++)
        if (strcmp(set->name, name) == 0)
            break;
    if (set == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the kernel is scalar, avx2, avx512 or avx512vnni");
    if (!available)
        return core_fail(error, TEM_ERR_UNSUPPORTED, "this machine has no %s", set->name);
    kernels_use(set);
    return TEM_OK;
}

/* Looks a name up in a list whose first entry stands for 1. */
static int position(const char *name, const char *const *names, int count) {
    for (int i = 0; name != NULL && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i + 1;
    return 0;
}

static const char *const oov_names[] = {"uniform", "drop", "mask", "keep-unsafe"};
static const char *const punctuation_names[] = {"drop", "keep", "word"};
static const char *const missing_names[] = {"empty", "keep"};

const char *tem_oov_name(tem_oov oov) {
    return oov >= TEM_OOV_UNIFORM && oov <= TEM_OOV_KEEP_UNSAFE ? oov_names[oov - 1] : "unknown";
}

tem_status tem_oov_parse(const char *name, tem_oov *oov, tem_error *error) {
    const int found = position(name, oov_names, 4);
    if (found == 0 || oov == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the policy for unknown words is uniform, drop, mask or keep-unsafe");
    *oov = (tem_oov)found;
    return TEM_OK;
}

const char *tem_punctuation_name(tem_punctuation punctuation) {
    return punctuation >= TEM_PUNCTUATION_DROP && punctuation <= TEM_PUNCTUATION_WORD
               ? punctuation_names[punctuation - 1]
               : "unknown";
}

tem_status tem_punctuation_parse(const char *name, tem_punctuation *punctuation, tem_error *error) {
    const int found = position(name, punctuation_names, 3);
    if (found == 0 || punctuation == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the policy for punctuation is drop, keep or word");
    *punctuation = (tem_punctuation)found;
    return TEM_OK;
}

const char *tem_missing_name(tem_missing missing) {
    return missing >= TEM_MISSING_EMPTY && missing <= TEM_MISSING_KEEP ? missing_names[missing - 1]
                                                                       : "unknown";
}

tem_status tem_missing_parse(const char *name, tem_missing *missing, tem_error *error) {
    const int found = position(name, missing_names, 2);
    if (found == 0 || missing == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the policy for missing texts is empty or keep");
    *missing = (tem_missing)found;
    return TEM_OK;
}

tem_status tem_file_write(const char *path, const void *bytes, size_t count,
                          tem_overwrite overwrite, tem_readers readers, tem_error *error) {
    if (path == NULL || (bytes == NULL && count > 0) ||
        (readers != TEM_READERS_USUAL && readers != TEM_READERS_OWNER))
        return core_fail(error, TEM_ERR_ARGUMENT, "a path, bytes and their readers are needed");
    return file_write(path, bytes, count, overwrite, readers, error);
}
