/* trust_list.c - the hashes of certificates that a user believes. */
#include "io/trust_list.h"

#include "core/buffer.h"
#include "core/fault.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every system call here can be made to fail by tests. */
static bool fails(void) {
    errno = EIO;
    return core_fault();
}

/* Where the list is. Relative folders are ignored, as the XDG specification has it. */
static tem_status find_list(char path[PATH_MAX], tem_error *error) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int needed = -1;
    if (state != NULL && state[0] == '/')
        needed = snprintf(path, PATH_MAX, "%s/tem/certificates", state);
    else if (home != NULL && home[0] == '/')
        needed = snprintf(path, PATH_MAX, "%s/.local/state/tem/certificates", home);
    return needed > 0 && needed < PATH_MAX
               ? TEM_OK
               : core_fail(error, TEM_ERR_CERTIFICATE,
                           "neither $XDG_STATE_HOME nor $HOME names a folder: there is no place to "
                           "note which certificates you have made or verified");
}

static tem_status check_own(int descriptor, const char *path, tem_error *error) {
    struct stat info;
    if (fails() || fstat(descriptor, &info) != 0)
        return core_fail_os(error, path, "examine it", errno);
    if (S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return TEM_OK;
    return core_fail_at(error, TEM_ERR_CERTIFICATE, path, 0, 0,
                        "ignored: it must be a file of your own that nobody else can write (chmod "
                        "go-w)");
}

/* The list, if it is the user's own. *descriptor: -1 if there is none to read. */
static tem_status open_own(const char *path, int flags, int *descriptor, tem_error *error) {
    const int opened = fails() ? -1 : open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
    *descriptor = -1;
    if (opened < 0 && (flags & O_CREAT) == 0 && (errno == ENOENT || errno == ENOTDIR))
        return TEM_OK;
    if (opened < 0)
        return core_fail_os(error, path, "open", errno);
    const tem_status status = check_own(opened, path, error);
    if (status == TEM_OK)
        *descriptor = opened;
    else
        close(opened);
    return status;
}

/* ---- reading ---- */

static tem_status read_all(int descriptor, const char *path, core_buffer *text, tem_error *error) {
    char part[4096];
    for (;;) {
        const ssize_t got = fails() ? -1 : read(descriptor, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return core_fail_os(error, path, "read", errno);
        if (got == 0)
            return TEM_OK;
        if (!core_buffer_add(text, part, (size_t)got))
            return core_fail_memory(error);
    }
}

/* Whether a whole line is this hash: nothing before it, nothing behind it. */
static bool has_line(const core_buffer *text, const char *hash) {
    for (size_t at = 0; at < text->size;) {
        const char *line = text->data + at, *end = memchr(line, '\n', text->size - at);
        if (end == NULL)
            return false;
        if (end - line == TRUST_HASH_DIGITS && memcmp(line, hash, TRUST_HASH_DIGITS) == 0)
            return true;
        at += (size_t)(end - line) + 1;
    }
    return false;
}

/* *torn: the last line has no end, as after a crash in the middle of it. */
static tem_status look_up(const char *path, const char *hash, bool *has, bool *torn,
                          tem_error *error) {
    int descriptor = -1;
    core_buffer text = {0};
    tem_status status = open_own(path, O_RDONLY, &descriptor, error);
    if (status == TEM_OK && descriptor >= 0)
        status = read_all(descriptor, path, &text, error);
    if (status == TEM_OK) {
        *has = has_line(&text, hash);
        *torn = text.size > 0 && text.data[text.size - 1] != '\n';
    }
    if (descriptor >= 0)
        close(descriptor);
    core_buffer_free(&text);
    return status;
}

tem_status trust_list_has(const char *hash, bool *has, tem_error *error) {
    char path[PATH_MAX];
    bool torn = false;
    const tem_status status = find_list(path, error);
    return status == TEM_OK ? look_up(path, hash, has, &torn, error) : status;
}

/* ---- adding ---- */

/* The folders above the list, each for its owner alone if it is new. */
static tem_status make_folders(const char *path, tem_error *error) {
    char folder[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (fails() || (mkdir(folder, 0700) != 0 && errno != EEXIST))
            return core_fail_os(error, folder, "make the folder", errno);
    }
    return TEM_OK;
}

static tem_status open_to_add(const char *path, int *descriptor, tem_error *error) {
    const tem_status status = make_folders(path, error);
    return status == TEM_OK ? open_own(path, O_WRONLY | O_APPEND | O_CREAT, descriptor, error)
                            : status;
}

/* One write of a whole line at the end: lines of two processes do not mix. */
static tem_status append(const char *path, const char *hash, bool torn, tem_error *error) {
    char line[TRUST_HASH_DIGITS + 3];
    int descriptor = -1;
    const int length = snprintf(line, sizeof line, "%s%s\n", torn ? "\n" : "", hash);
    tem_status status = open_to_add(path, &descriptor, error);
    if (status != TEM_OK)
        return status;
    if (fails() || write(descriptor, line, (size_t)length) != length || fails() ||
        fsync(descriptor) != 0)
        status = core_fail_os(error, path, "write", errno);
    close(descriptor);
    return status;
}

tem_status trust_list_ready(tem_error *error) {
    char path[PATH_MAX];
    int descriptor = -1;
    tem_status status = find_list(path, error);
    if (status == TEM_OK)
        status = open_to_add(path, &descriptor, error);
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

tem_status trust_list_add(const char *hash, tem_error *error) {
    char path[PATH_MAX];
    bool has = false, torn = false;
    tem_status status = find_list(path, error);
    if (status == TEM_OK)
        status = look_up(path, hash, &has, &torn, error);
    return status == TEM_OK && !has ? append(path, hash, torn, error) : status;
}
