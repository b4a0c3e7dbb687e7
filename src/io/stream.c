/* stream.c - reads inputs in chunks, and writes to standard output or to a whole file. */
#include "io/stream.h"

#include "core/fault.h"
#include "core/status.h"
#include "core/threads.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20, PATIENCE_MS = 10, QUESTION_MS = 100 };

static bool is_standard(const char *path) {
    return path == NULL || strcmp(path, "-") == 0;
}

tem_status stream_input_open(stream_input *in, const char *path, const tem_run *run,
                             tem_error *error) {
    *in = (stream_input){.path = path, .descriptor = STDIN_FILENO, .run = run};
    if (is_standard(path))
        return TEM_OK;
    in->descriptor = file_open_reading(path);
    return in->descriptor < 0 ? core_fail_os(error, path, "open", errno) : TEM_OK;
}

void stream_input_close(stream_input *in) {
    if (in->descriptor > STDIN_FILENO)
        close(in->descriptor);
    core_buffer_free(&in->data);
}

/* Whether more bytes arrive within PATIENCE_MS. A pipe holds 64 kB, so a pipe is empty for
 * moments even if its writer keeps up. Without this wait a batch was no larger than a pipe,
 * which halved the speed. */
static bool is_ready(const stream_input *in) {
    struct pollfd poller = {.fd = in->descriptor, .events = POLLIN};
    return poll(&poller, 1, PATIENCE_MS) > 0;
}

static tem_status read_some(stream_input *in, size_t wanted, tem_error *error) {
    const size_t missing = wanted - in->data.size;
    const size_t bytes = missing < READ_BYTES ? missing : READ_BYTES;
    if (!core_buffer_reserve(&in->data, bytes))
        return core_fail_memory(error);
    errno = EIO;
    const ssize_t got =
        core_fault() ? -1 : read(in->descriptor, in->data.data + in->data.size, bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return core_progress(in->run, "reading", 0, 0, error);
    if (got < 0)
        return core_fail_os(error, in->path, "read", errno);
    in->at_end = got == 0;
    in->data.size += (size_t)got;
    return TEM_OK;
}

tem_status stream_input_fill(stream_input *in, size_t wanted, tem_error *error) {
    tem_status status = TEM_OK;
    /* The first read waits as long as it takes: the buffered bytes were not enough for the
     * caller, who would have dropped them otherwise. */
    for (bool first = true; status == TEM_OK && !in->at_end && in->data.size < wanted;
         first = false) {
        if (!first && !is_ready(in))
            break;
        status = file_await(in->descriptor, in->run, "reading", 0, error);
        if (status == TEM_OK)
            status = read_some(in, wanted, error);
    }
    return status;
}

uint64_t stream_total_bytes(const char *const *paths, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        if (stat(paths[i], &info) != 0 || !S_ISREG(info.st_mode))
            return 0;
        total += (uint64_t)info.st_size;
    }
    return total;
}

bool stream_can_reread(const char *const *paths, size_t count, int64_t *start) {
    const char *const standard = "-";
    if (count == 0)
        return stream_can_reread(&standard, 1, start);
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        const bool is_stdin = is_standard(paths[i]);
        if ((is_stdin ? fstat(STDIN_FILENO, &info) : stat(paths[i], &info)) != 0 ||
            !S_ISREG(info.st_mode))
            return false;
        if (is_stdin && (*start = lseek(STDIN_FILENO, 0, SEEK_CUR)) < 0)
            return false;
    }
    return true;
}

tem_status stream_rewind(const char *const *paths, size_t count, int64_t start, tem_error *error) {
    bool is_read = count == 0;
    for (size_t i = 0; i < count; i++)
        is_read |= is_standard(paths[i]);
    errno = EIO;
    if (is_read && (core_fault() || lseek(STDIN_FILENO, start, SEEK_SET) < 0))
        return core_fail_os(error, "standard input", "go back to the beginning", errno);
    return TEM_OK;
}

void stream_input_drop(stream_input *in, size_t bytes) {
    in->data.size -= bytes;
    if (in->data.size > 0)
        memmove(in->data.data, in->data.data + bytes, in->data.size);
}

tem_status stream_output_open(stream_output *out, const char *path, tem_overwrite overwrite,
                              const tem_run *run, tem_error *error) {
    struct stat info;
    *out = (stream_output){.to_file = !is_standard(path), .run = run};
    out->may_wait = !out->to_file && (fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode));
    return out->to_file ? file_writer_open(&out->file, path, overwrite, error) : TEM_OK;
}

/* Waits until standard output, such as a pipe, has room. The pipe then takes PIPE_BUF bytes at
 * once. Writing more could block for ever, and a signal that arrived just before would not end the
 * blocked call. */
static tem_status await_room(const tem_run *run, tem_error *error) {
    struct pollfd poller = {.fd = STDOUT_FILENO, .events = POLLOUT};
    tem_status status = TEM_OK;
    while (status == TEM_OK && poll(&poller, 1, QUESTION_MS) <= 0)
        status = core_progress(run, "writing", 0, 0, error);
    return status;
}

static tem_status put_standard(const stream_output *out, const char *left, size_t count,
                               tem_error *error) {
    tem_status status = TEM_OK;
    while (count > 0 && status == TEM_OK) {
        const size_t some = out->may_wait && count > PIPE_BUF ? PIPE_BUF : count;
        if (out->may_wait)
            status = await_room(out->run, error);
        if (status != TEM_OK)
            break;
        errno = EIO;
        const ssize_t put = core_fault() ? -1 : write(STDOUT_FILENO, left, some);
        if (put < 0 && (errno == EINTR || errno == EAGAIN))
            status = core_progress(out->run, "writing", 0, 0, error);
        else if (put < 0)
            status = core_fail_os(error, "standard output", "write", errno);
        left += put > 0 ? put : 0;
        count -= put > 0 ? (size_t)put : 0;
    }
    return status;
}

tem_status stream_output_put(stream_output *out, const void *bytes, size_t count,
                             tem_error *error) {
    return out->to_file ? file_writer_put(&out->file, bytes, count, error)
                        : put_standard(out, bytes, count, error);
}

tem_status stream_output_close(stream_output *out, bool keep, tem_error *error) {
    if (!out->to_file)
        return TEM_OK;
    if (keep)
        return file_writer_commit(&out->file, error);
    file_writer_abandon(&out->file);
    return TEM_OK;
}
