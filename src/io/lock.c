/* lock.c - locks, so that processes that change the same file take turns. */
#include "io/file.h"

#include "core/fault.h"
#include "core/status.h"
#include "core/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_RETRY_NS = 2000000 };

static bool fails(void) {
    errno = EIO;
    return core_fault();
}

/* Uses flock, not fcntl: an flock lock belongs to the open file, so it also separates two
 * runs in one process. It retries without blocking, because a signal that arrives just
 * before a blocking call would not end that call. */
tem_status lock_wait(int descriptor, const char *path, bool shared, const char *stage,
                     const tem_run *run, tem_error *error) {
    const struct timespec pause = {0, LOCK_RETRY_NS};
    for (;;) {
        if (!fails() && flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
            return TEM_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return core_fail_os(error, path, "lock", errno);
        TRY(core_progress(run, stage, 0, 0, error));
        nanosleep(&pause, NULL);
    }
}

/* Refuses an open file that is not a regular file. *current receives whether the file still has
 * this name. */
static tem_status examine(int descriptor, const char *path, bool *current, tem_error *error) {
    struct stat opened, named;
    if (fails() || fstat(descriptor, &opened) != 0)
        return core_fail_os(error, path, "examine", errno);
    if (!S_ISREG(opened.st_mode))
        return core_fail_at(error, TEM_ERR_FILE, path, 0, 0, "expected a regular file");
    *current =
        stat(path, &named) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
    return TEM_OK;
}

tem_status lock_by_name(const char *path, const tem_run *run, int *descriptor, tem_error *error) {
    for (;;) {
        bool current = false;
        /* O_NONBLOCK: never wait for the other end of a pipe. O_NOCTTY: opening a terminal device
         * must not make it the process's terminal. */
        const int fd = fails() ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat link;
        if (fd < 0 && errno == ENOENT && lstat(path, &link) == 0)
            return core_fail_at(error, TEM_ERR_FILE, path, 0, 0, "a symbolic link to nothing");
        if (fd < 0 && errno == ENOENT) {
            *descriptor = -1;
            return TEM_OK;
        }
        if (fd < 0)
            return core_fail_os(error, path, "open", errno);
        tem_status status = lock_wait(fd, path, false, "waiting for a lock", run, error);
        if (status == TEM_OK)
            status = examine(fd, path, &current, error);
        if (status == TEM_OK && current) {
            *descriptor = fd;
            return TEM_OK;
        }
        close(fd);
        if (status != TEM_OK)
            return status;
    }
}

void lock_close(int descriptor) {
    close(descriptor); /* also unlocks the file */
}
