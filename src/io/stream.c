/* stream.c - reads inputs in chunks, and writes to standard output or to a whole file. */
#include "io/stream.h"

#include "core/fault.h"
#include "core/status.h"
#include "core/threads.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
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
    core_buffer_free(&in->packed);
    unpacker_free(&in->unpacker);
}

/* Whether more bytes arrive within PATIENCE_MS. A pipe holds 64 kB, so a pipe is empty for
 * moments even if its writer keeps up. Without this wait a batch was no larger than a pipe,
 * which halved the speed. */
static bool is_ready(const stream_input *in) {
    if (in->unpacked < in->packed.size)
        return true;
    struct pollfd poller = {.fd = in->descriptor, .events = POLLIN};
    return poll(&poller, 1, PATIENCE_MS) > 0;
}

/* Reads at most `bytes` bytes and appends them to `into`. *ended receives whether there are no
 * more. */
static tem_status read_into(stream_input *in, core_buffer *into, size_t bytes, bool *ended,
                            tem_error *error) {
    if (!core_buffer_reserve(into, bytes))
        return core_fail_memory(error);
    TRY(file_await(in->descriptor, in->run, "reading", 0, error));
    errno = EIO;
    const ssize_t got = core_fault() ? -1 : read(in->descriptor, into->data + into->size, bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return core_progress(in->run, "reading", 0, 0, error);
    if (got < 0)
        return core_fail_os(error, in->path, "read", errno);
    *ended = got == 0;
    into->size += (size_t)got;
    return TEM_OK;
}

/* Looks at the first bytes, once there are enough of them. What was read of a compressed input
 * moves to in->packed. */
static tem_status recognise(stream_input *in, tem_error *error) {
    const tem_packing packing = packed_recognise(in->data.data, in->data.size);
    in->is_recognised = packing != 0 || in->at_end;
    if (packing != TEM_PACKING_GZIP && packing != TEM_PACKING_ZSTD)
        return TEM_OK;
    in->packed = in->data;
    in->data = (core_buffer){0};
    in->at_end = false; /* there is something to unpack */
    return unpacker_init(&in->unpacker, packing, error);
}

static tem_status place_error(const stream_input *in, tem_status status, tem_error *error) {
    if (error != NULL && status == TEM_ERR_FORMAT)
        snprintf(error->file, sizeof error->file, "%s",
                 is_standard(in->path) ? "standard input" : in->path);
    return status;
}

/* Unpacks at most `bytes` bytes, of what was read or of the next part of the input. */
static tem_status unpack_some(stream_input *in, size_t bytes, tem_error *error) {
    size_t used = 0;
    bool ended = false;
    tem_status status = TEM_OK;
    if (in->unpacked == in->packed.size) {
        in->packed.size = in->unpacked = 0;
        status = read_into(in, &in->packed, READ_BYTES, &ended, error);
    }
    if (status == TEM_OK && in->packed.size == 0) {
        if (ended && !in->unpacker.is_between)
            return place_error(
                in, core_fail(error, TEM_ERR_FORMAT, "the compressed data are cut off"), error);
        in->at_end = ended;
        return TEM_OK;
    }
    if (status == TEM_OK && !core_buffer_reserve(&in->data, bytes))
        status = core_fail_memory(error);
    if (status == TEM_OK)
        status = unpacker_step(&in->unpacker, in->packed.data + in->unpacked,
                               in->packed.size - in->unpacked, &used, &in->data, bytes, error);
    in->unpacked += used;
    return place_error(in, status, error);
}

static tem_status read_some(stream_input *in, size_t wanted, tem_error *error) {
    const size_t missing = wanted - in->data.size;
    const size_t bytes = missing < READ_BYTES ? missing : READ_BYTES;
    if (in->unpacker.state != NULL)
        return unpack_some(in, bytes, error);
    const tem_status status = read_into(in, &in->data, bytes, &in->at_end, error);
    return status == TEM_OK && !in->is_recognised ? recognise(in, error) : status;
}

tem_status stream_input_fill(stream_input *in, size_t wanted, tem_error *error) {
    tem_status status = TEM_OK;
    /* The first read waits as long as it takes: the buffered bytes were not enough for the
     * caller, who would have dropped them otherwise. */
    for (bool first = true; status == TEM_OK && !in->at_end && in->data.size < wanted;
         first = false) {
        if (!first && in->is_recognised && !is_ready(in))
            break;
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

/* Gets device and inode of a regular file. Returns false for anything else. */
static bool identify(const char *path, int standard, struct stat *info) {
    return (is_standard(path) ? fstat(standard, info) : stat(path, info)) == 0 &&
           S_ISREG(info->st_mode);
}

uint64_t stream_reread_bytes(const char *path, int64_t *start) {
    struct stat info;
    *start = 0;
    if (!stream_can_reread(&path, 1, start) || !identify(path, STDIN_FILENO, &info))
        return 0;
    return info.st_size > *start ? (uint64_t)(info.st_size - *start) : 0;
}

tem_status stream_check_output(const char *path, const char *const *inputs, size_t count,
                               tem_error *error) {
    const char *const standard = "-";
    struct stat out, in;
    if (count == 0)
        return stream_check_output(path, &standard, 1, error);
    if (!identify(path, STDOUT_FILENO, &out))
        return TEM_OK;
    for (size_t i = 0; i < count; i++)
        if (identify(inputs[i], STDIN_FILENO, &in) && in.st_dev == out.st_dev &&
            in.st_ino == out.st_ino)
            return core_fail_at(error, TEM_ERR_EXISTS,
                                is_standard(inputs[i]) ? "standard input" : inputs[i], 0, 0,
                                "this input is also the output, and would be lost");
    return TEM_OK;
}

tem_status stream_output_open(stream_output *out, const char *path, tem_overwrite overwrite,
                              tem_packing packing, const tem_run *run, tem_error *error) {
    struct stat info;
    *out = (stream_output){.to_file = !is_standard(path), .run = run};
    out->may_wait = !out->to_file && (fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode));
    tem_status status = packer_init(&out->packer, packing, error);
    if (status == TEM_OK && out->to_file)
        status = file_writer_open(&out->file, path, overwrite, error);
    if (status != TEM_OK)
        packer_free(&out->packer);
    return status;
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

static tem_status put_plain(stream_output *out, const void *bytes, size_t count, tem_error *error) {
    return out->to_file ? file_writer_put(&out->file, bytes, count, error)
                        : put_standard(out, bytes, count, error);
}

/* Packs bytes, and writes what came out. */
static tem_status put_packed(stream_output *out, const void *bytes, size_t count, bool is_end,
                             tem_error *error) {
    out->packed.size = 0;
    TRY(packer_put(&out->packer, bytes, count, is_end, &out->packed, error));
    return put_plain(out, out->packed.data, out->packed.size, error);
}

tem_status stream_output_put(stream_output *out, const void *bytes, size_t count,
                             tem_error *error) {
    return out->packer.state == NULL ? put_plain(out, bytes, count, error)
                                     : put_packed(out, bytes, count, false, error);
}

tem_status stream_output_close(stream_output *out, bool keep, tem_error *error) {
    tem_status status = TEM_OK;
    if (keep && out->packer.state != NULL)
        status = put_packed(out, "", 0, true, error);
    packer_free(&out->packer);
    core_buffer_free(&out->packed);
    if (!out->to_file)
        return status;
    if (keep && status == TEM_OK)
        return file_writer_commit(&out->file, error);
    file_writer_abandon(&out->file);
    return status;
}
