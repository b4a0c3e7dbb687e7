/* trust_list.c - the hashes of models and certificates that a user trusts.
 *
 * tem opens the directory once and checks it. It then opens the list in that same directory, even
 * if somebody renames the directory or its parents meanwhile. To change the list, tem takes its
 * lock, writes a new list and renames it, so a reader finds the old list or the new one. */
#include "trust/trust_list.h"

#include "core/buffer.h"
#include "core/fault.h"
#include "core/status.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_NAME "trusted"
#define NEW_NAME "trusted.new" /* belongs to the process that holds the lock */

/* The paths of the list and of its directory, and the open directory: -1 if there is none. */
typedef struct place {
    char folder[PATH_MAX], list[PATH_MAX + sizeof "/" LIST_NAME];
    int descriptor;
} place;

/* Tests can make every system call here fail. */
static bool fails(void) {
    errno = EIO;
    return core_fault();
}

/* ---- the directory ---- */

/* Ignores relative paths, as the XDG specification requires. */
static tem_status find_place(place *p, tem_error *error) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int needed = -1;
    p->descriptor = -1;
    if (state != NULL && state[0] == '/')
        needed = snprintf(p->folder, sizeof p->folder, "%s/tem", state);
    else if (home != NULL && home[0] == '/')
        needed = snprintf(p->folder, sizeof p->folder, "%s/.local/state/tem", home);
    if (needed <= 0 || (size_t)needed >= sizeof p->folder)
        return core_fail(
            error, TEM_ERR_UNTRUSTED,
            "neither $XDG_STATE_HOME nor $HOME names a directory: there is no place to "
            "note which models and certificates you have made or verified");
    snprintf(p->list, sizeof p->list, "%s/" LIST_NAME, p->folder);
    return TEM_OK;
}

bool trust_list_has_place(void) {
    place p;
    if (find_place(&p, NULL) != TEM_OK)
        return false;
    while (access(p.folder, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        char *slash = strrchr(p.folder, '/');
        slash[slash == p.folder ? 1 : 0] = '\0'; /* the path is absolute; "/" exists */
    }
    return access(p.folder, W_OK | X_OK) == 0;
}

static tem_status refuse(const char *path, const char *what, tem_error *error) {
    return core_fail_at(error, TEM_ERR_UNTRUSTED, path, 0, 0,
                        "ignored: it must be a %s of your own, no link, that nobody else can write "
                        "(chmod go-w)",
                        what);
}

/* PRIVACY: whoever can write a directory chooses which file has which name. */
static tem_status check_own(int descriptor, const char *path, mode_t type, tem_error *error) {
    struct stat info;
    if (fails() || fstat(descriptor, &info) != 0)
        return core_fail_os(error, path, "examine it", errno);
    if ((info.st_mode & S_IFMT) == type && info.st_uid == geteuid() &&
        (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return TEM_OK;
    return refuse(path, type == S_IFDIR ? "directory" : "file", error);
}

/* Makes the directory and those above it that do not exist, each for its owner alone. */
static tem_status make_folders(const char *path, tem_error *error) {
    char folder[PATH_MAX];
    for (const char *end = path; *end != '\0';) {
        end += strcspn(end + 1, "/") + 1;
        snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
        if (fails() || (mkdir(folder, 0700) != 0 && errno != EEXIST))
            return core_fail_os(error, folder, "make the directory", errno);
    }
    return TEM_OK;
}

static tem_status open_folder(place *p, tem_error *error) {
    struct stat named;
    const int opened =
        fails() ? -1 : open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int why = errno;
    if (opened < 0 && (why == ENOENT || why == ENOTDIR) && lstat(p->folder, &named) != 0)
        return TEM_OK;
    if (opened < 0 && (why == ENOTDIR || why == ELOOP)) /* a link, or not a directory */
        return refuse(p->folder, "directory", error);
    if (opened < 0)
        return core_fail_os(error, p->folder, "open", why);
    const tem_status status = check_own(opened, p->folder, S_IFDIR, error);
    if (status == TEM_OK)
        p->descriptor = opened;
    else
        close(opened);
    return status;
}

/* Opens the directory of the list. make: makes it if it does not exist. Close with close_place,
 * also after a failure. */
static tem_status open_place(place *p, bool make, tem_error *error) {
    tem_status status = find_place(p, error);
    if (status == TEM_OK && make)
        status = make_folders(p->folder, error);
    if (status == TEM_OK)
        status = open_folder(p, error);
    return status == TEM_OK && make && p->descriptor < 0
               ? core_fail_os(error, p->folder, "open", ENOENT)
               : status;
}

static void close_place(place *p) {
    if (p->descriptor >= 0)
        close(p->descriptor);
}

/* ---- the list ---- */

/* Opens the list and checks that it belongs to the user. *descriptor receives -1 if there is no
 * list. */
static tem_status open_list(const place *p, int flags, int *descriptor, tem_error *error) {
    *descriptor = -1;
    if (p->descriptor < 0)
        return TEM_OK;
    const int opened = fails() ? -1
                               : openat(p->descriptor, LIST_NAME,
                                        flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (opened < 0 && errno == ENOENT && (flags & O_CREAT) == 0)
        return TEM_OK;
    if (opened < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
        return refuse(p->list, "file", error);
    if (opened < 0)
        return core_fail_os(error, p->list, "open", errno);
    const tem_status status = check_own(opened, p->list, S_IFREG, error);
    if (status == TEM_OK)
        *descriptor = opened;
    else
        close(opened);
    return status;
}

static tem_status read_list(int descriptor, const place *p, core_buffer *text, tem_error *error) {
    char part[4096];
    for (;;) {
        const ssize_t got = fails() ? -1 : read(descriptor, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return core_fail_os(error, p->list, "read", errno);
        if (got == 0)
            return TEM_OK;
        if (!core_buffer_add(text, part, (size_t)got))
            return core_fail_memory(error);
    }
}

/* The end of the line that begins at `at`; NULL if the line has no end. */
static const char *line_end(const core_buffer *text, size_t at) {
    return at < text->size ? memchr(text->data + at, '\n', text->size - at) : NULL;
}

/* Whether a line is exactly this hash, with nothing before it and nothing after it. */
static bool is_hash(const char *line, const char *end, const char *hash) {
    return end - line == TRUST_HASH_DIGITS && memcmp(line, hash, TRUST_HASH_DIGITS) == 0;
}

static bool has_line(const core_buffer *text, const char *hash) {
    size_t at = 0;
    for (const char *end; (end = line_end(text, at)) != NULL; at = (size_t)(end - text->data) + 1)
        if (is_hash(text->data + at, end, hash))
            return true;
    return false;
}

tem_status trust_list_has(const char *hash, bool *has, tem_error *error) {
    place p;
    int descriptor = -1;
    core_buffer text = {0};
    tem_status status = open_place(&p, false, error);
    if (status == TEM_OK)
        status = open_list(&p, O_RDONLY, &descriptor, error);
    if (status == TEM_OK && descriptor >= 0)
        status = read_list(descriptor, &p, &text, error);
    if (status == TEM_OK)
        *has = has_line(&text, hash);
    if (descriptor >= 0)
        close(descriptor);
    core_buffer_free(&text);
    close_place(&p);
    return status;
}

tem_status trust_list_ready(tem_error *error) {
    place p;
    int descriptor = -1;
    tem_status status = open_place(&p, true, error);
    if (status == TEM_OK)
        status = open_list(&p, O_RDWR | O_CREAT, &descriptor, error);
    if (descriptor >= 0)
        close(descriptor);
    close_place(&p);
    return status;
}

/* ---- changing the list ---- */

/* Makes the new list: all complete lines except this hash, then the hash if it is trusted. False if
 * there is no memory. */
static bool make_text(const core_buffer *old, const char *hash, bool trusted, core_buffer *text) {
    bool made = true;
    size_t at = 0;
    for (const char *end; (end = line_end(old, at)) != NULL; at = (size_t)(end - old->data) + 1)
        if (!is_hash(old->data + at, end, hash))
            made =
                made && core_buffer_add(text, old->data + at, (size_t)(end - old->data) + 1 - at);
    return made && (!trusted || (core_buffer_add(text, hash, TRUST_HASH_DIGITS) &&
                                 core_buffer_add(text, "\n", 1)));
}

static bool write_all(int descriptor, const core_buffer *text) {
    for (size_t done = 0; done < text->size;) {
        const ssize_t put = fails() ? -1 : write(descriptor, text->data + done, text->size - done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return !fails() && fsync(descriptor) == 0;
}

/* Replaces the list by a new one. The caller holds the lock of the old list. */
static tem_status replace_list(const place *p, const core_buffer *text, tem_error *error) {
    unlinkat(p->descriptor, NEW_NAME, 0); /* left by a process that was killed */
    const int opened = fails() ? -1
                               : openat(p->descriptor, NEW_NAME,
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (opened < 0)
        return core_fail_os(error, p->list, "write", errno);
    bool done = write_all(opened, text);
    done = close(opened) == 0 && done;
    done = done && !fails() && renameat(p->descriptor, NEW_NAME, p->descriptor, LIST_NAME) == 0;
    done = done && !fails() && fsync(p->descriptor) == 0;
    if (done)
        return TEM_OK;
    const int why = errno;
    unlinkat(p->descriptor, NEW_NAME, 0);
    return core_fail_os(error, p->list, "write", why);
}

/* Opens the list and waits for its lock. Repeats this until the locked file is the one that has the
 * name of the list: another process may have replaced it. *descriptor: as in open_list. */
static tem_status lock_list(const place *p, int flags, const tem_run *run, int *descriptor,
                            tem_error *error) {
    for (;;) {
        struct stat opened, named;
        tem_status status = open_list(p, flags, descriptor, error);
        if (status != TEM_OK || *descriptor < 0)
            return status;
        status = lock_wait(*descriptor, p->list, false, "waiting for a lock", run, error);
        if (status == TEM_OK && (fails() || fstat(*descriptor, &opened) != 0))
            status = core_fail_os(error, p->list, "examine it", errno);
        if (status == TEM_OK &&
            fstatat(p->descriptor, LIST_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            named.st_dev == opened.st_dev && named.st_ino == opened.st_ino)
            return TEM_OK;
        lock_close(*descriptor);
        *descriptor = -1;
        if (status != TEM_OK)
            return status;
    }
}

/* Removing a hash from a list that does not exist does nothing. */
tem_status trust_list_set(const char *hash, bool trusted, const tem_run *run, tem_error *error) {
    place p;
    int descriptor = -1;
    core_buffer old = {0}, text = {0};
    tem_status status = open_place(&p, trusted, error);
    if (status == TEM_OK)
        status = lock_list(&p, trusted ? O_RDWR | O_CREAT : O_RDWR, run, &descriptor, error);
    if (status == TEM_OK && descriptor >= 0)
        status = read_list(descriptor, &p, &old, error);
    if (status == TEM_OK && has_line(&old, hash) != trusted)
        status = make_text(&old, hash, trusted, &text) ? replace_list(&p, &text, error)
                                                       : core_fail_memory(error);
    if (descriptor >= 0)
        lock_close(descriptor);
    core_buffer_free(&old);
    core_buffer_free(&text);
    close_place(&p);
    return status;
}
