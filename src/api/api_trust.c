/* api_trust.c - which certificates a user believes. */
#include "core/status.h"
#include "io/trust_list.h"

#include <string.h>

static tem_status check_hash(const char *hash, tem_error *error) {
    if (hash != NULL && strlen(hash) == TRUST_HASH_DIGITS &&
        strspn(hash, "0123456789abcdef") == TRUST_HASH_DIGITS)
        return TEM_OK;
    return core_fail(error, TEM_ERR_ARGUMENT, "the hash of a certificate has 64 digits in hex");
}

tem_status tem_trust_has(const char *hash, int *has, tem_error *error) {
    bool found = false;
    if (has == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "a place for the answer is needed");
    tem_status status = check_hash(hash, error);
    if (status == TEM_OK)
        status = trust_list_has(hash, &found, error);
    if (status == TEM_OK)
        *has = found;
    return status;
}

tem_status tem_trust_ready(tem_error *error) {
    return trust_list_ready(error);
}

tem_status tem_trust_add(const char *hash, tem_error *error) {
    const tem_status status = check_hash(hash, error);
    return status == TEM_OK ? trust_list_add(hash, error) : status;
}
