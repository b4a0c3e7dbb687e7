/* model_default.c - which model serves when none is named. */
#include "core/status.h"
#include "model/model.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tem_status give(const char *found, bool is_own, char *path, size_t bytes, int *own,
                       tem_error *error) {
    const size_t length = strlen(found);
    if (length >= bytes)
        return core_fail(error, TEM_ERR_RANGE, "the name of the default model is too long");
    memcpy(path, found, length + 1);
    *own = is_own;
    return TEM_OK;
}

tem_status model_find_default(const char *const *folders, size_t count, char *path, size_t bytes,
                              int *is_own, tem_error *error) {
    static const char *const tails[] = {"default.tem", "../share/tem/default.tem"};
    const char *named = getenv("TEM_MODEL");
    char name[PATH_MAX];
    if (named != NULL && named[0] != '\0')
        return give(named, false, path, bytes, is_own, error);
    for (size_t i = 0; i < 2 * count; i++) {
        const int length = snprintf(name, sizeof name, "%s/%s", folders[i / 2], tails[i % 2]);
        if (length > 0 && length < PATH_MAX && access(name, F_OK) == 0)
            return give(name, true, path, bytes, is_own, error);
    }
    return core_fail(error, TEM_ERR_FILE, "there is no default model");
}
