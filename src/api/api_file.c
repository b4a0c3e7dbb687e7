/* api_file.c - tem_file_write of tem.h. */
#include "core/status.h"
#include "io/file.h"

tem_status tem_file_write(const char *path, const void *bytes, size_t count,
                          tem_overwrite overwrite, tem_readers readers, tem_error *error) {
    if (path == NULL || (bytes == NULL && count > 0) ||
        (readers != TEM_READERS_USUAL && readers != TEM_READERS_OWNER))
        return core_fail(error, TEM_ERR_ARGUMENT, "a path, bytes and their readers are needed");
    return file_write(path, bytes, count, overwrite, readers, error);
}
