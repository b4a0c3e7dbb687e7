/* text_files.c - the .txt files of a directory. */
#include "text_files.h"

#include "failure.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_text(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

tem_status text_files_visit(const char *directory, const tem_run *run, const char *stage,
                            text_files_fn *visit, void *context, uint32_t *count,
                            tem_error *error) {
    char path[4096];
    struct dirent **names = NULL;
    const int length = snprintf(path, sizeof path, "%s", directory);
    if (length < 0 || (size_t)length + sizeof(struct dirent) >= sizeof path)
        return eval_fail_at(error, TEM_ERR_ARGUMENT, directory, 0, "the name is too long");
    const int found = scandir(path, &names, is_text, alphasort);
    if (found < 0 && errno != ENOENT && errno != ENOTDIR)
        return eval_fail_at(error, TEM_ERR_FILE, path, 0, "cannot read the directory");
    *count = found > 0 ? (uint32_t)found : 0;
    tem_status status = TEM_OK;
    for (int i = 0; i < found; i++) {
        snprintf(path + length, sizeof path - (size_t)length, "/%s", names[i]->d_name);
        if (status == TEM_OK)
            status = visit(context, path, error);
        if (status == TEM_OK)
            status = eval_progress(run, stage, (uint64_t)i, (uint64_t)found, error);
        free(names[i]);
    }
    free(names);
    return status;
}
