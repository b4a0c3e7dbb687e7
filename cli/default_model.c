/* default_model.c - finds and opens the model that a command uses. */
#include "default_model.h"

#include "outputs.h"
#include "talk.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[PATH_MAX];
static bool is_own; /* it came with tem, and nobody named it */

bool default_model_folder(char directory[PATH_MAX]) {
    const ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX);
    if (length <= 0 || length == PATH_MAX) /* the name is cut off, and names another directory */
        return false;
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        *slash = '\0';
    return slash != NULL;
}

/* Sets `path` to the default model. Returns false, after printing why, if there is none. */
static bool find_default(void) {
    char directory[PATH_MAX];
    const char *const directories[] = {directory};
    int own = 0;
    tem_error error;
    const size_t count = default_model_folder(directory) ? 1 : 0;
    const tem_status status =
        tem_model_find_default(directories, count, path, sizeof path, &own, &error);
    is_own = status == TEM_OK && own;
    if (status == TEM_ERR_FILE)
        fputs("tem: no model: name one with -m MODEL or $TEM_MODEL, or run 'make' to build the "
              "default one\n",
              stderr);
    else if (status != TEM_OK)
        talk_error(&error);
    return status == TEM_OK;
}

/* Sets `path` to the model that the user has named. Refuses a name that is too long: cut off, it
 * could be the name of another model. */
static bool take_named(const char *named) {
    const size_t length = strlen(named);
    if (length >= sizeof path) {
        fprintf(stderr, "tem: the path of the model has %zu bytes; tem takes at most %zu\n", length,
                sizeof path - 1);
        return false;
    }
    memcpy(path, named, length + 1);
    return true;
}

/* Whether the command would overwrite the model that it uses, or its certificates. Prints so. */
static bool is_output(void) {
    const char *const used[] = {path, default_model_certificates()};
    for (int i = 0; i < 2; i++)
        if (outputs_include(used[i])) {
            fprintf(stderr, "tem: %s: %s in use; name another file to write\n", used[i],
                    i == 0 ? "this is the model" : "these are the certificates of the model");
            return true;
        }
    return false;
}

tem_model *default_model_open(const char *named) {
    tem_error error;
    tem_model *model = NULL;
    is_own = false;
    if (!(named != NULL ? take_named(named) : find_default()) || is_output())
        return NULL;
    if (tem_model_open(path, &model, &error) != TEM_OK) {
        talk_error(&error);
        if (error.os_error == ENOENT)
            fprintf(stderr, "%s; 'tem build VECTORS -o MODEL' makes a model\n",
                    named != NULL ? "It was named with -m" : "It was named by $TEM_MODEL");
    }
    return model;
}

const char *default_model_raw(void) {
    static char raw[PATH_MAX + sizeof "/raw.tem"];
    char directory[PATH_MAX];
    if (!default_model_folder(directory)) {
        fputs("tem: the system does not say where this program is; name the raw model with -m\n",
              stderr);
        return NULL;
    }
    snprintf(raw, sizeof raw, "%s/raw.tem", directory);
    if (access(raw, F_OK) == 0)
        return raw;
    fprintf(stderr, "tem: %s: %s\nRun: make raw\n", raw, strerror(errno));
    return NULL;
}

const char *default_model_path(void) {
    return path;
}

const char *default_model_certificates(void) {
    static char certificates[PATH_MAX + sizeof ".cert"];
    snprintf(certificates, sizeof certificates, "%s.cert", path);
    return certificates;
}

const char *default_model_vectors(void) {
    static char vectors[PATH_MAX + sizeof ".temv"];
    const size_t ending = outputs_ends_in(path, ".tem") ? sizeof ".tem" - 1 : 0;
    snprintf(vectors, sizeof vectors, "%.*s.temv", (int)(strlen(path) - ending), path);
    return vectors;
}

bool default_model_is_own(void) {
    return is_own;
}

const char *default_model_naming(void) {
    static char naming[PATH_MAX + sizeof " -m "];
    snprintf(naming, sizeof naming, "%s%s", is_own ? "" : " -m ", is_own ? "" : path);
    return naming;
}
