/* api_names.c - the small public calls: version, names, kernels, writing a file. */
#include "certificate/certificate.h"
#include "core/near.h"
#include "core/status.h"
#include "io/file.h"
#include "job/replacer.h"
#include "space/kernels/kernels.h"
#include "space/metric.h"
#include "tuning/choose.h"

#include <stdio.h>
#include <string.h>

/* Which of some names a mistyped one may mean. */
typedef struct near_choice {
    const char *name; /* NULL: none is near */
    unsigned edits;
} near_choice;

static void look_near(near_choice *near, const char *typed, const char *name) {
    const unsigned edits = near_edits(typed, strlen(typed), name, strlen(name));
    if (edits < (near->name == NULL ? NEAR_NOT : near->edits))
        *near = (near_choice){name, edits};
}

static tem_status refuse_choice(const near_choice *near, const char *choices, tem_error *error) {
    return near->name == NULL
               ? core_fail(error, TEM_ERR_ARGUMENT, "%s", choices)
               : core_fail(error, TEM_ERR_ARGUMENT, "%s; did you mean '%s'?", choices, near->name);
}

const char *tem_version(void) {
    return TEM_VERSION;
}

uint32_t tem_version_number(void) {
    return TEM_VERSION_NUMBER;
}

int tem_version_is_compatible(uint32_t header) {
    /* Versions keep the interface if their numbers, divided by this and rounded down, are equal. */
    const uint32_t promise = TEM_VERSION_MAJOR > 0 ? 1000000 : 1000;
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

tem_status tem_metric_parse(const char *name, tem_metric *metric, tem_error *error) {
    char names[128] = "";
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
    for (unsigned i = 0; metric_at(i) != NULL; i++)
        if (metric_at(i)->has_vectors)
            core_add_choice(names, sizeof names, metric_at(i)->name,
                            metric_at(i + 1) == NULL || !metric_at(i + 1)->has_vectors);
    return core_fail(error, TEM_ERR_ARGUMENT, "the metric is %s", names);
}

static const char *const space_names[] = {
    [TEM_SPACE_DEFAULT] = "default", [TEM_SPACE_RAW] = "raw", [TEM_SPACE_SPHERE] = "sphere"};

const char *tem_space_name(tem_space kind) {
    return (unsigned)kind <= TEM_SPACE_SPHERE ? space_names[kind] : "unknown";
}

tem_status tem_space_parse(const char *name, tem_space *kind, tem_error *error) {
    for (int i = TEM_SPACE_RAW; name != NULL && kind != NULL && i <= TEM_SPACE_SPHERE; i++)
        if (strcmp(space_names[i], name) == 0) {
            *kind = (tem_space)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "the space is raw or sphere");
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

const char *tem_oov_name(tem_oov oov) {
    const char *name = policy_oov_name(oov);
    return name == NULL ? "unknown" : name;
}

tem_status tem_oov_parse(const char *name, tem_oov *oov, tem_error *error) {
    near_choice near = {NULL, 0};
    for (int i = TEM_OOV_UNIFORM; name != NULL && oov != NULL && i <= TEM_OOV_KEEP_UNSAFE; i++) {
        if (strcmp(policy_oov_name((tem_oov)i), name) == 0) {
            *oov = (tem_oov)i;
            return TEM_OK;
        }
        if (i != TEM_OOV_KEEP_UNSAFE) /* nobody should come to that by a hint */
            look_near(&near, name, policy_oov_name((tem_oov)i));
    }
    return refuse_choice(
        &near, "the policy for unknown words is uniform, drop, mask or keep-unsafe", error);
}

const char *tem_punctuation_name(tem_punctuation punctuation) {
    const char *name = policy_punctuation_name(punctuation);
    return name == NULL ? "unknown" : name;
}

tem_status tem_punctuation_parse(const char *name, tem_punctuation *punctuation, tem_error *error) {
    near_choice near = {NULL, 0};
    for (int i = TEM_PUNCTUATION_DROP;
         name != NULL && punctuation != NULL && i <= TEM_PUNCTUATION_WORD; i++) {
        if (strcmp(policy_punctuation_name((tem_punctuation)i), name) == 0) {
            *punctuation = (tem_punctuation)i;
            return TEM_OK;
        }
        look_near(&near, name, policy_punctuation_name((tem_punctuation)i));
    }
    return refuse_choice(&near, "the policy for punctuation is drop, keep or word", error);
}

const char *tem_order_name(tem_order order) {
    const char *name = policy_order_name(order);
    return name == NULL ? "unknown" : name;
}

tem_status tem_order_parse(const char *name, tem_order *order, tem_error *error) {
    for (int i = TEM_ORDER_KEPT; name != NULL && order != NULL && i <= TEM_ORDER_COUNTS; i++)
        if (strcmp(policy_order_name((tem_order)i), name) == 0) {
            *order = (tem_order)i;
            return TEM_OK;
        }
    return core_fail(error, TEM_ERR_ARGUMENT, "the order of words is kept, shuffled or counts");
}

const char *tem_style_name(tem_style style) {
    const char *name = policy_style_name(style);
    return name == NULL ? "unknown" : name;
}

tem_status tem_style_parse(const char *name, tem_style *style, tem_error *error) {
    near_choice near = {NULL, 0};
    for (int i = TEM_STYLE_WORDS; name != NULL && style != NULL && i <= TEM_STYLE_JOINED; i++) {
        if (strcmp(policy_style_name((tem_style)i), name) == 0) {
            *style = (tem_style)i;
            return TEM_OK;
        }
        look_near(&near, name, policy_style_name((tem_style)i));
    }
    return refuse_choice(&near, "the style is words, joined or sentence", error);
}

const char *tem_repeat_name(tem_repeat repeat) {
    const char *name = policy_repeat_name(repeat);
    return name == NULL ? "unknown" : name;
}

tem_status tem_repeat_parse(const char *name, tem_repeat *repeat, tem_error *error) {
    near_choice near = {NULL, 0};
    for (int i = TEM_REPEAT_EACH; name != NULL && repeat != NULL && i <= TEM_REPEAT_ONCE; i++) {
        if (strcmp(policy_repeat_name((tem_repeat)i), name) == 0) {
            *repeat = (tem_repeat)i;
            return TEM_OK;
        }
        look_near(&near, name, policy_repeat_name((tem_repeat)i));
    }
    return refuse_choice(&near, "the policy for repeated words is each or once", error);
}

const char *tem_missing_name(tem_missing missing) {
    const char *name = policy_missing_name(missing);
    return name == NULL ? "unknown" : name;
}

tem_status tem_missing_parse(const char *name, tem_missing *missing, tem_error *error) {
    near_choice near = {NULL, 0};
    for (int i = TEM_MISSING_EMPTY; name != NULL && missing != NULL && i <= TEM_MISSING_KEEP; i++) {
        if (strcmp(policy_missing_name((tem_missing)i), name) == 0) {
            *missing = (tem_missing)i;
            return TEM_OK;
        }
        look_near(&near, name, policy_missing_name((tem_missing)i));
    }
    return refuse_choice(&near, "the policy for missing texts is empty or keep", error);
}

unsigned tem_edits(const char *typed, size_t typed_bytes, const char *name, size_t name_bytes) {
    return near_edits(typed, typed_bytes, name, name_bytes);
}

tem_status tem_file_write(const char *path, const void *bytes, size_t count,
                          tem_overwrite overwrite, tem_readers readers, tem_error *error) {
    if (path == NULL || (bytes == NULL && count > 0) ||
        (readers != TEM_READERS_USUAL && readers != TEM_READERS_OWNER))
        return core_fail(error, TEM_ERR_ARGUMENT, "a path, bytes and their readers are needed");
    return file_write(path, bytes, count, overwrite, readers, error);
}
