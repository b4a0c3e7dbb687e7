/* reserved.c - checks the fields of option structs that are reserved for later versions. */
#include "core/reserved.h"

#include "core/status.h"

bool core_reserved_is_used(const void *reserved, size_t bytes, tem_error *error) {
    const unsigned char *fields = reserved;
    for (size_t i = 0; i < bytes; i++)
        if (fields[i] != 0) {
            core_fail(error, TEM_ERR_ARGUMENT,
                      "a reserved field is not 0: the program was made for a newer tem");
            return true;
        }
    return false;
}
