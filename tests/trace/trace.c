/* trace.c - records, in order, the system calls by which a program writes files to a disk.
 *
 * tests/check-durability preloads it into the command. Each successful call becomes a line of the
 * file $TEM_TRACE:
 *
 *     write PATH OFFSET BYTES     OFFSET: file offset; -1: a pipe or a terminal, by its path
 *     fsync PATH
 *     rename FROM TO              also by renameat2 and link
 *
 * PATH is the current name of the file, according to the kernel. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *text, int length) {
    static int trace = -2;
    if (trace == -2) {
        const char *path = getenv("TEM_TRACE");
        trace = path == NULL ? -1
                             : (int)syscall(SYS_openat, AT_FDCWD, path,
                                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (trace >= 0 && syscall(SYS_write, trace, text, length) != length)
        abort();
}

static void name_of(int fd, char name[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, name, PATH_MAX - 1);
    name[length > 0 ? length : 0] = '\0';
}

static void note_write(int fd, off_t offset, ssize_t bytes) {
    char name[PATH_MAX], line[PATH_MAX + 64];
    if (bytes < 0)
        return;
    name_of(fd, name);
    note(line,
         snprintf(line, sizeof line, "write\t%s\t%lld\t%zd\n", name, (long long)offset, bytes));
}

static void note_names(const char *from, const char *to) {
    char line[2 * PATH_MAX + 64];
    note(line, snprintf(line, sizeof line, "rename\t%s\t%s\n", from, to));
}

/* The function of this name in the next library. dlsym returns a data pointer. */
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (real == NULL)                                                                              \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

#define SHOWN __attribute__((visibility("default")))

SHOWN ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(write);
    const ssize_t put = real(fd, bytes, count);
    if (put >= 0) {
        const off_t end = lseek(fd, 0, SEEK_CUR);
        note_write(fd, end < 0 ? -1 : end - put, put);
    }
    return put;
}

SHOWN ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    const ssize_t put = real(fd, bytes, count, offset);
    note_write(fd, offset, put);
    return put;
}

SHOWN int fsync(int fd) {
    char name[PATH_MAX], line[PATH_MAX + 64];
    REAL(fsync);
    const int result = real(fd);
    if (result == 0) {
        name_of(fd, name);
        note(line, snprintf(line, sizeof line, "fsync\t%s\n", name));
    }
    return result;
}

SHOWN int rename(const char *from, const char *to) {
    REAL(rename);
    const int result = real(from, to);
    if (result == 0)
        note_names(from, to);
    return result;
}

SHOWN int renameat2(int from_folder, const char *from, int to_folder, const char *to,
                    unsigned flags) {
    REAL(renameat2);
    const int result = real(from_folder, from, to_folder, to, flags);
    if (result == 0)
        note_names(from, to);
    return result;
}

SHOWN int link(const char *from, const char *to) {
    REAL(link);
    const int result = real(from, to);
    if (result == 0)
        note_names(from, to);
    return result;
}
