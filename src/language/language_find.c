/* language_find.c - finds the language model that comes with tem. */
#include "core/status.h"
#include "language/language_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "english.temlm"

/* Whether the file `name` exists; then it goes to `path`. */
static bool take(const char *name, int length, char *path, size_t bytes, bool *fits) {
    if (length <= 0 || length >= PATH_MAX || access(name, F_OK) != 0)
        return false;
    *fits = (size_t)length < bytes;
    if (*fits)
        memcpy(path, name, (size_t)length + 1);
    return true;
}

static tem_status found(bool fits, bool is_own, int *own, tem_error *error) {
    if (!fits)
        return core_fail(error, TEM_ERR_RANGE, "the name of the language model is too long");
    *own = is_own;
    return TEM_OK;
}

tem_status language_find_english(const char *model_path, bool model_is_own,
                                 const char *const *folders, size_t count, char *path, size_t bytes,
                                 int *is_own, tem_error *error) {
    static const char *const tails[] = {FILE_NAME, "../share/tem/" FILE_NAME};
    char name[PATH_MAX];
    bool fits = false;
    if (model_path != NULL) {
        const char *slash = strrchr(model_path, '/');
        const int folder = slash == NULL ? 0 : (int)(slash - model_path) + 1;
        const int length = snprintf(name, sizeof name, "%.*s" FILE_NAME, folder, model_path);
        if (take(name, length, path, bytes, &fits))
            return found(fits, model_is_own, is_own, error);
    }
    for (size_t i = 0; i < 2 * count; i++) {
        const int length = snprintf(name, sizeof name, "%s/%s", folders[i / 2], tails[i % 2]);
        if (take(name, length, path, bytes, &fits))
            return found(fits, true, is_own, error);
    }
    return core_fail(error, TEM_ERR_FILE, "there is no language model of English");
}
