/* file.c - opens, reads, maps, unpacks and writes whole files.
 *
 * The sys_* functions wrap system calls. They hide interruptions by signals, and all
 * but sys_close fail on purpose when a test asks for it (core_fault). Their callers
 * see only success or failure. */
#include "io/file.h"

#include "core/fault.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum {
    READ_BYTES = 1 << 20,      /* first size of the buffer for a pipe */
    TELL_BYTES = 4 << 20,      /* bytes between two progress reports */
    QUESTION_MS = 100,         /* longest wait before asking the callback again */
    TEMPORARY_TRIES = 100,     /* names tried for the temporary file */
    GZIP_WINDOW_BITS = 15 + 16 /* zlib: the largest window, and the gzip wrapper only */
};

/* ------------------------------------------------------- system calls -- */

static bool fails(void) {
    if (!core_fault())
        return false;
    errno = EIO;
    return true;
}

static int sys_open(const char *path, int flags, mode_t mode) {
    int fd = -1;
    do
        fd = fails() ? -1 : open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static ssize_t sys_read(int fd, void *bytes, size_t count) {
    ssize_t got = -1;
    do
        got = fails() ? -1 : read(fd, bytes, count);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Writes all `count` bytes at `offset`, or at the file's position if offset is -1. */
static int sys_write(int fd, const char *bytes, size_t count, off_t offset) {
    while (count > 0) {
        ssize_t put = -1;
        if (!fails())
            put = offset < 0 ? write(fd, bytes, count) : pwrite(fd, bytes, count, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        count -= (size_t)put;
        if (offset >= 0)
            offset += put;
    }
    return 0;
}

static int sys_fsync(int fd) {
    int result = -1;
    do
        result = fails() ? -1 : fsync(fd);
    while (result < 0 && errno == EINTR);
    return result;
}

/* Linux closes the descriptor even after EINTR. Closing it again could close another
 * thread's new file. */
static int sys_close(int fd) {
    return close(fd) == 0 || errno == EINTR ? 0 : -1;
}

/* Renames `from` to `to`; fails with EEXIST if `to` exists. On file systems without
 * RENAME_NOREPLACE (EINVAL) it makes a hard link, which does not replace a file either. */
static int sys_rename_new(const char *from, const char *to) {
    if (fails())
        return -1;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (fails() || link(from, to) != 0)
        return -1;
    unlink(from);
    return 0;
}

static int sys_rename_over(const char *from, const char *to) {
    return fails() ? -1 : rename(from, to);
}

/* ------------------------------------------------------------- reading -- */

/* Makes room for at least one more byte. It doubles the buffer, so that all copies
 * together move fewer bytes than the final buffer has. For large blocks the kernel
 * changes page tables and copies nothing. */
static tem_status grow(char **buffer, size_t *capacity, size_t size, tem_error *error) {
    if (size < *capacity)
        return TEM_OK;
    size_t wanted = *capacity == 0 ? READ_BYTES : *capacity * 2;
    char *moved = core_resize(*buffer, wanted);
    if (moved == NULL)
        return core_fail_memory(error);
    *buffer = moved;
    *capacity = wanted;
    return TEM_OK;
}

/* O_NOCTTY: opening a terminal device must not make it the process's terminal. */
int file_open_reading(const char *path) {
    return sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

tem_status file_await(int descriptor, const tem_run *run, const char *stage, uint64_t done,
                      tem_error *error) {
    struct pollfd poller = {.fd = descriptor, .events = POLLIN};
    tem_status status = TEM_OK;
    while (status == TEM_OK && poll(&poller, 1, QUESTION_MS) <= 0)
        status = core_progress(run, stage, done, 0, error);
    return status;
}

/* Reads to the end of an input of unknown size. */
static tem_status read_all(int fd, const char *path, const tem_run *run, file_view *view,
                           tem_error *error) {
    char *buffer = NULL;
    size_t capacity = 0, size = 0, told = 0;
    ssize_t got = 1;
    tem_status status = TEM_OK;
    while (status == TEM_OK && got > 0) {
        status = grow(&buffer, &capacity, size, error);
        if (status == TEM_OK)
            status = file_await(fd, run, "receiving", size, error);
        if (status != TEM_OK)
            break;
        got = sys_read(fd, buffer + size, capacity - size);
        if (got < 0 && errno == EAGAIN)
            got = 1; /* another process has read the bytes first; wait again */
        else if (got < 0)
            status = core_fail_os(error, path, "read", errno);
        else
            size += (size_t)got;
        if (status == TEM_OK && size - told >= TELL_BYTES) {
            told = size;
            status = core_progress(run, "receiving", size, 0, error);
        }
    }
    if (status != TEM_OK) {
        core_free(buffer);
        return status;
    }
    *view = (file_view){.data = buffer, .size = size, .mapped = false};
    return TEM_OK;
}

/* Maps a file of `size` > 0 bytes. Some file systems cannot map files (ENODEV); the
 * function then reads the file. */
static tem_status map_or_read(int fd, size_t size, const char *path, const tem_run *run,
                              file_view *view, tem_error *error) {
    void *data = MAP_FAILED;
    if (!fails())
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED && errno == ENODEV)
        return read_all(fd, path, run, view, error);
    if (data == MAP_FAILED)
        return core_fail_os(error, path, "map", errno);
    *view = (file_view){.data = data, .size = size, .mapped = true};
    return TEM_OK;
}

/* Gets the type and size of an open file. Refuses a directory. */
static tem_status examine(int fd, const char *path, struct stat *info, tem_error *error) {
    if (fails() || fstat(fd, info) != 0)
        return core_fail_os(error, path, "examine", errno);
    return S_ISDIR(info->st_mode) ? core_fail_os(error, path, "read", EISDIR) : TEM_OK;
}

/* Maps a regular file and reads everything else. There are two exceptions, which it reads: a
 * regular file of 0 bytes, because files under /proc have content; and standard input, if another
 * program has already read a part of it. */
static tem_status view_descriptor(int fd, const char *path, const tem_run *run, file_view *view,
                                  tem_error *error) {
    struct stat info;
    TRY(examine(fd, path, &info, error));
    if (S_ISREG(info.st_mode) && info.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0)
        return map_or_read(fd, (size_t)info.st_size, path, run, view, error);
    return read_all(fd, path, run, view, error);
}

tem_status file_open(const char *path, const tem_run *run, file_view *view, tem_error *error) {
    if (strcmp(path, "-") == 0)
        return view_descriptor(STDIN_FILENO, path, run, view, error);
    int fd = file_open_reading(path);
    if (fd < 0)
        return core_fail_os(error, path, "open", errno);
    tem_status status = view_descriptor(fd, path, run, view, error);
    sys_close(fd);
    return status;
}

/* A file of 0 bytes cannot be mapped; it becomes an empty view. */
static tem_status map_descriptor(int fd, const char *path, file_view *view, tem_error *error) {
    struct stat info;
    TRY(examine(fd, path, &info, error));
    if (!S_ISREG(info.st_mode))
        return core_fail_at(error, TEM_ERR_FILE, path, 0, 0, "expected a regular file");
    *view = (file_view){.size = (size_t)info.st_size};
    if (info.st_size == 0)
        return TEM_OK;
    void *data = fails() ? MAP_FAILED : mmap(NULL, view->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return core_fail_os(error, path, "map", errno);
    view->data = data;
    view->mapped = true;
    return TEM_OK;
}

tem_status file_map(const char *path, file_view *view, tem_error *error) {
    int fd = file_open_reading(path);
    if (fd < 0)
        return core_fail_os(error, path, "open", errno);
    tem_status status = map_descriptor(fd, path, view, error);
    sys_close(fd);
    return status;
}

void file_close(file_view *view) {
    void *data = (void *)(uintptr_t)view->data;
    if (view->mapped)
        munmap(data, view->size);
    else
        core_free(data);
    *view = (file_view){0};
}

/* ---------------------------------------------------------------- gzip -- */

/* Whether a gzip member starts here. The third byte is the method, and deflate is the
 * only one. Checking it rules out a text that happens to start with the first two bytes. */
static bool starts_member(const char *data, size_t size) {
    return size >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
}

bool file_is_gzip(const file_view *view) {
    return starts_member(view->data, view->size);
}

static void *zlib_alloc(void *context, unsigned count, unsigned size) {
    (void)context;
    return core_alloc(count, size);
}

static void zlib_free(void *context, void *block) {
    (void)context;
    core_free(block);
}

typedef struct unpacking {
    const char *path;
    const char *packed;
    size_t packed_size;
    z_stream stream; /* next_in stays between calls of inflate; each call sets avail_in */
    char *out;
    size_t capacity, size;
} unpacking;

static size_t packed_done(const unpacking *u) {
    return (size_t)((const char *)u->stream.next_in - u->packed);
}

static unsigned at_most(size_t count, unsigned most) {
    return count < most ? (unsigned)count : most;
}

/* Calls inflate once, with at most TELL_BYTES of input and all the free room for output. */
static tem_status inflate_some(unpacking *u, int *result, tem_error *error) {
    TRY(grow(&u->out, &u->capacity, u->size, error));
    unsigned room = at_most(u->capacity - u->size, 1u << 30);
    u->stream.avail_in = at_most(u->packed_size - packed_done(u), TELL_BYTES);
    u->stream.avail_out = room;
    u->stream.next_out = (unsigned char *)u->out + u->size;
    *result = inflate(&u->stream, Z_NO_FLUSH);
    u->size += room - u->stream.avail_out;

    size_t done = packed_done(u);
    if (*result == Z_MEM_ERROR)
        return core_fail_memory(error);
    if (*result != Z_OK && *result != Z_STREAM_END && *result != Z_BUF_ERROR)
        return core_fail_at(error, TEM_ERR_FORMAT, u->path, 0, done + 1,
                            "the gzip data is damaged");
    if (*result != Z_STREAM_END && done == u->packed_size && u->size < u->capacity)
        return core_fail_at(error, TEM_ERR_FORMAT, u->path, 0, done + 1,
                            "the gzip data is cut short: expected more after %zu bytes", done);
    return TEM_OK;
}

/* Unpacks one gzip member after another, to the end of the file. */
static tem_status inflate_all(unpacking *u, const tem_run *run, tem_error *error) {
    size_t told = 0;
    tem_status status = TEM_OK;
    while (status == TEM_OK) {
        int result = Z_OK;
        status = inflate_some(u, &result, error);
        size_t done = packed_done(u);
        if (status == TEM_OK && done - told >= TELL_BYTES) {
            told = done;
            status = core_progress(run, "unpacking", done, u->packed_size, error);
        }
        if (status != TEM_OK || result != Z_STREAM_END)
            continue;
        if (done == u->packed_size)
            break;
        if (!starts_member(u->packed + done, u->packed_size - done))
            status = core_fail_at(error, TEM_ERR_FORMAT, u->path, 0, done + 1,
                                  "expected the end of the gzip data, found %zu bytes more",
                                  u->packed_size - done);
        else
            inflateReset(&u->stream);
    }
    return status == TEM_OK ? core_progress(run, "unpacking", u->packed_size, u->packed_size, error)
                            : status;
}

tem_status file_unpack(const char *path, const tem_run *run, file_view *view, tem_error *error) {
    unpacking u = {.path = path,
                   .packed = view->data,
                   .packed_size = view->size,
                   .stream = {.next_in = (unsigned char *)(uintptr_t)view->data,
                              .zalloc = zlib_alloc,
                              .zfree = zlib_free}};
    if (inflateInit2(&u.stream, GZIP_WINDOW_BITS) != Z_OK) {
        file_close(view);
        return core_fail_memory(error);
    }
    tem_status status = inflate_all(&u, run, error);
    inflateEnd(&u.stream);
    file_close(view);
    if (status == TEM_OK)
        *view = (file_view){.data = u.out, .size = u.size, .mapped = false};
    else
        core_free(u.out);
    return status;
}

/* ------------------------------------------------------------- writing -- */

/* Refuses a target that a rename must not replace: anything that exists and is not a
 * regular file, such as a directory or /dev/null. For a symbolic link the type of its
 * target counts; the rename then replaces the link itself. */
static tem_status check_target(const char *path, tem_overwrite overwrite, tem_error *error) {
    struct stat info;
    if (path[0] == '\0')
        return core_fail_os(error, path, "create", ENOENT);
    if (overwrite == TEM_KEEP_EXISTING && lstat(path, &info) == 0)
        return core_fail_at(error, TEM_ERR_EXISTS, path, 0, 0, "the file is there already");
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return core_fail_at(error, TEM_ERR_FILE, path, 0, 0,
                            "cannot replace what is no regular file");
    return TEM_OK;
}

/* ---- existing temporary files, for a signal handler that must remove them ---- */

enum { NOTED_MAX = 64 };
static _Atomic(char *) noted[NOTED_MAX];      /* names of temporary files; NULL: a free place */
static const char *volatile taken[NOTED_MAX]; /* names that file_remove_temporaries has taken;
                                               * never freed */

/* Notes a name. Returns false if NOTED_MAX names are noted already. */
static bool note_temporary(char *name) {
    for (int i = 0; i < NOTED_MAX; i++) {
        char *nothing = NULL;
        if (atomic_compare_exchange_strong(&noted[i], &nothing, name))
            return true;
    }
    return false;
}

/* Frees the name, unless file_remove_temporaries has taken it: then another thread may still use
 * the name, and the program is about to end. */
static void forget_temporary(file_writer *writer) {
    bool is_ours = !writer->noted;
    for (int i = 0; i < NOTED_MAX && !is_ours; i++) {
        char *name = writer->temporary;
        is_ours = atomic_compare_exchange_strong(&noted[i], &name, NULL);
    }
    if (is_ours)
        core_free(writer->temporary);
    writer->temporary = NULL;
}

void file_remove_temporaries(void) {
    for (int i = 0; i < NOTED_MAX; i++) {
        const char *name = atomic_exchange(&noted[i], NULL);
        if (name == NULL)
            continue;
        taken[i] = name;
        unlink(name);
    }
}

/* Fills the six characters at the end of a temporary name. They must differ from those
 * of other writers, but need not be secret: O_EXCL refuses an existing file. */
static void fill_suffix(char *suffix) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static atomic_uint_fast64_t counter;
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t mix = (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 32) +
                   atomic_fetch_add(&counter, 1) * 0x9e3779b97f4a7c15u;
    mix = (mix ^ mix >> 31) * 0xbf58476d1ce4e5b9u;
    for (int i = 0; i < 6; i++, mix /= sizeof letters - 1)
        suffix[i] = letters[(mix >> 8) % (sizeof letters - 1)];
}

/* Creates a temporary file. Why not mkostemp: it creates the file with mode 0600. The
 * right mode depends on the umask, and a program can read the umask only by changing
 * it for all threads. open applies the umask itself. */
static int create_temporary(char *name, mode_t mode) {
    char *suffix = name + strlen(name) - 6;
    int fd = -1;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        fill_suffix(suffix);
        fd = sys_open(name, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

/* Gives the new file the permissions of the file that it will replace, which may be private. */
static int copy_permissions(const char *path, int fd) {
    struct stat info;
    if (stat(path, &info) != 0)
        return 0;
    return fails() ? -1 : fchmod(fd, info.st_mode & 07777);
}

static tem_status open_writer(file_writer *writer, const char *path, tem_overwrite overwrite,
                              tem_readers readers, tem_error *error) {
    static const char pattern[] = ".tmp-XXXXXX";
    *writer = (file_writer){.path = path, .descriptor = -1, .overwrite = overwrite};
    TRY(check_target(path, overwrite, error));
    size_t length = strlen(path);
    char *name = core_alloc(length + sizeof pattern, 1);
    if (name == NULL)
        return core_fail_memory(error);
    memcpy(name, path, length);
    memcpy(name + length, pattern, sizeof pattern);
    int fd = create_temporary(name, readers == TEM_READERS_OWNER ? 0600 : 0666);
    if (fd < 0) {
        core_fail_os(error, path, "create a temporary file beside it", errno);
        core_free(name);
        return TEM_ERR_FILE;
    }
    writer->temporary = name;
    writer->noted = note_temporary(name);
    writer->descriptor = fd;
    if (readers == TEM_READERS_USUAL && copy_permissions(path, fd) != 0) {
        core_fail_os(error, path, "keep the permissions", errno);
        file_writer_abandon(writer);
        return TEM_ERR_FILE;
    }
    return TEM_OK;
}

tem_status file_writer_open(file_writer *writer, const char *path, tem_overwrite overwrite,
                            tem_error *error) {
    return open_writer(writer, path, overwrite, TEM_READERS_USUAL, error);
}

tem_status file_writer_open_private(file_writer *writer, const char *path, tem_overwrite overwrite,
                                    tem_error *error) {
    return open_writer(writer, path, overwrite, TEM_READERS_OWNER, error);
}

tem_status file_write(const char *path, const void *bytes, size_t count, tem_overwrite overwrite,
                      tem_readers readers, tem_error *error) {
    file_writer writer;
    TRY(open_writer(&writer, path, overwrite, readers, error));
    tem_status status = file_writer_put(&writer, bytes, count, error);
    if (status == TEM_OK)
        return file_writer_commit(&writer, error);
    file_writer_abandon(&writer);
    return status;
}

tem_status file_writer_put(file_writer *writer, const void *bytes, size_t count, tem_error *error) {
    if (sys_write(writer->descriptor, bytes, count, -1) != 0)
        return core_fail_os(error, writer->path, "write", errno);
    return TEM_OK;
}

tem_status file_writer_put_at(file_writer *writer, const void *bytes, size_t count, uint64_t offset,
                              tem_error *error) {
    if (offset > INT64_MAX - count)
        return core_fail_os(error, writer->path, "write", EFBIG);
    if (sys_write(writer->descriptor, bytes, count, (off_t)offset) != 0)
        return core_fail_os(error, writer->path, "write", errno);
    return TEM_OK;
}

/* Flushes the directory, so that the new name survives a crash. If tem may write but
 * not read the directory, or the file system cannot flush one (EINVAL), tem leaves the flushing to
 * the system. */
static tem_status flush_folder(const char *path, tem_error *error) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = core_alloc(length + 1, 1);
    if (folder == NULL)
        return core_fail_memory(error);
    memcpy(folder, slash == NULL ? "." : path, length);
    folder[length] = '\0';

    tem_status status = TEM_OK;
    int fd = sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 && errno != EACCES)
        status = core_fail_os(error, path, "open its directory", errno);
    if (fd >= 0 && sys_fsync(fd) != 0 && errno != EINVAL)
        status = core_fail_os(error, path, "flush its directory", errno);
    if (fd >= 0)
        sys_close(fd);
    core_free(folder);
    return status;
}

static tem_status finish_temporary(file_writer *writer, tem_error *error) {
    int fd = writer->descriptor;
    int flushed = sys_fsync(fd);
    int why = errno;
    writer->descriptor = -1;
    if (sys_close(fd) != 0 && flushed == 0) {
        flushed = -1;
        why = errno;
    }
    return flushed == 0 ? TEM_OK : core_fail_os(error, writer->path, "flush", why);
}

static tem_status give_name(const file_writer *writer, tem_error *error) {
    int result = writer->overwrite == TEM_OVERWRITE
                     ? sys_rename_over(writer->temporary, writer->path)
                     : sys_rename_new(writer->temporary, writer->path);
    if (result == 0)
        return TEM_OK;
    if (errno == EEXIST && writer->overwrite == TEM_KEEP_EXISTING)
        return core_fail_at(error, TEM_ERR_EXISTS, writer->path, 0, 0, "the file is there already");
    return core_fail_os(error, writer->path, "rename the temporary file", errno);
}

tem_status file_writer_commit(file_writer *writer, tem_error *error) {
    tem_status status = finish_temporary(writer, error);
    if (status == TEM_OK)
        status = give_name(writer, error);
    if (status != TEM_OK) {
        file_writer_abandon(writer);
        return status;
    }
    forget_temporary(writer);
    return flush_folder(writer->path, error);
}

void file_writer_abandon(file_writer *writer) {
    if (writer->descriptor >= 0)
        sys_close(writer->descriptor);
    if (writer->temporary != NULL) {
        unlink(writer->temporary);
        forget_temporary(writer);
    }
    writer->descriptor = -1;
}
