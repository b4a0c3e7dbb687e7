/* default_model.c - which model serves when none is named. */
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
static bool is_own; /* nobody named it */

static bool find_default(void) {
    char program[PATH_MAX];
    const char *folders[] = {program};
    int own = 0;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    const bool found =
        tem_model_find_default(folders, slash != NULL, path, sizeof path, &own, NULL) == TEM_OK;
    is_own = found && own;
    return found;
}

/* Whether the command would write over the model it is to use; says so. */
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
    if (named != NULL) {
        snprintf(path, sizeof path, "%s", named);
    } else if (!find_default()) {
        fputs("tem: no model: name one with -m MODEL or $TEM_MODEL, or run 'make' to build the "
              "default one\n",
              stderr);
        return NULL;
    }
    if (is_output())
        return NULL;
    if (tem_model_open(path, &model, &error) != TEM_OK) {
        talk_error(&error);
        if (error.os_error == ENOENT)
            fprintf(stderr, "%s; 'tem build VECTORS -o MODEL' makes a model\n",
                    named != NULL ? "It was named with -m" : "It was named by $TEM_MODEL");
    }
    return model;
}

const char *default_model_path(void) {
    return path;
}

const char *default_model_certificates(void) {
    static char certificates[PATH_MAX + sizeof ".cert"];
    snprintf(certificates, sizeof certificates, "%s.cert", path);
    return certificates;
}

bool default_model_is_own(void) {
    return is_own;
}

const char *default_model_naming(void) {
    static char naming[PATH_MAX + sizeof " -m "];
    snprintf(naming, sizeof naming, "%s%s", is_own ? "" : " -m ", is_own ? "" : path);
    return naming;
}
