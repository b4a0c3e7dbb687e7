/* ledger.c - the file that records the cost of all runs that name it. ledger.h describes the
 * protocol. */
#include "ledger/ledger.h"

#include "core/fault.h"
#include "core/status.h"
#include "io/file.h"
#include "records/json_span.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy made before the last run has less than the real cost. */
static const char advice[] = "restore a copy made after the last run; another ledger would know "
                             "nothing of what was spent";

/* ---- system calls; tests can make each of them fail ---- */

static bool fails(void) {
    errno = EIO;
    return core_fault();
}

/* Reads `count` bytes, fewer only at the end of the file. Returns how many, or -1 on failure. */
static ssize_t sys_read(int fd, char *bytes, size_t count, uint64_t offset) {
    size_t done = 0;
    while (done < count) {
        const ssize_t got =
            fails() ? -1 : pread(fd, bytes + done, count - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static int sys_write(int fd, const char *bytes, size_t count, uint64_t offset) {
    while (count > 0) {
        const ssize_t put = fails() ? -1 : pwrite(fd, bytes, count, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        offset += (uint64_t)put;
        count -= (size_t)put;
    }
    return 0;
}

static int sys_flush(int fd) {
    int result = -1;
    do
        result = fails() ? -1 : fsync(fd);
    while (result < 0 && errno == EINTR);
    return result;
}

/* ---- opening ---- */

/* Starts a ledger that has only a header. The whole file appears under its name at once, or not at
 * all. Another run may start the ledger at the same moment; then its file stays, and this call
 * succeeds, too. */
static tem_status start(ledger *l, const unsigned char salt[LEDGER_SALT_BYTES], tem_error *error) {
    file_writer writer;
    char text[LEDGER_HEADER_BYTES];
    ledger_header header = {.bytes = LEDGER_HEADER_BYTES};
    memcpy(header.salt, salt, LEDGER_SALT_BYTES);
    ledger_write_header(&header, text);
    tem_status status = file_writer_open_private(&writer, l->path, TEM_KEEP_EXISTING, error);
    if (status != TEM_OK)
        return status == TEM_ERR_EXISTS ? TEM_OK : status;
    status = file_writer_put(&writer, text, sizeof text, error);
    if (status != TEM_OK) {
        file_writer_abandon(&writer);
        return status;
    }
    status = file_writer_commit(&writer, error);
    l->created = status == TEM_OK;
    return status == TEM_ERR_EXISTS ? TEM_OK : status;
}

/* Opens the existing file. The flags keep a pipe or a device from blocking the process or becoming
 * its terminal. */
static int open_existing(const ledger *l) {
    const int flags = (l->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    return fails() ? -1 : open(l->path, flags);
}

static tem_status open_or_start(ledger *l, const unsigned char salt[LEDGER_SALT_BYTES],
                                tem_error *error) {
    l->descriptor = open_existing(l);
    if (l->descriptor < 0 && errno == ENOENT) {
        if (l->read_only)
            return TEM_OK;
        TRY(start(l, salt, error));
        l->descriptor = open_existing(l);
    }
    return l->descriptor < 0 ? core_fail_os(error, l->path, "open the ledger", errno) : TEM_OK;
}

static tem_status examine(const ledger *l, struct stat *info, tem_error *error) {
    if (fails() || fstat(l->descriptor, info) != 0)
        return core_fail_os(error, l->path, "examine the ledger", errno);
    if (!S_ISREG(info->st_mode))
        return core_fail_at(error, TEM_ERR_FILE, l->path, 0, 0,
                            "a ledger is a regular file, and this is something else");
    return TEM_OK;
}

static tem_status read_header(ledger *l, tem_error *error) {
    char text[LEDGER_HEADER_BYTES];
    const ssize_t got = sys_read(l->descriptor, text, sizeof text, 0);
    if (got < 0)
        return core_fail_os(error, l->path, "read the ledger", errno);
    if (got == 0)
        return core_fail_at(error, TEM_ERR_FORMAT, l->path, 0, 0,
                            "the file is empty, which a ledger never is; if there never was one "
                            "here, remove the file and tem starts one");
    if (!ledger_read_header(text, (size_t)got, &l->header) ||
        l->header.bytes < LEDGER_HEADER_BYTES || l->header.bytes > INT64_MAX)
        return core_fail_at(error, TEM_ERR_FORMAT, l->path, 1, 0,
                            "not a ledger of this version of tem, or damaged: %s", advice);
    return TEM_OK;
}

void ledger_close(ledger *l) {
    if (l->descriptor >= 0)
        close(l->descriptor); /* also unlocks it */
    accounts_free(&l->people);
    core_buffer_free(&l->line);
    core_buffer_free(&l->by);
    l->descriptor = -1;
    l->locked = false;
}

bool ledger_is(const ledger *l, const char *path, int standard) {
    struct stat info;
    if (l->descriptor < 0)
        return false;
    const int found =
        path == NULL || strcmp(path, "-") == 0 ? fstat(standard, &info) : stat(path, &info);
    return found == 0 && (uint64_t)info.st_dev == l->device && (uint64_t)info.st_ino == l->inode;
}

/* ---- reading ---- */

static tem_status too_much(const ledger *l, tem_error *error) {
    return core_fail_at(error, TEM_ERR_RANGE, l->path, l->lines, 0,
                        "more was spent than a ledger can hold");
}

static bool is_by_this_field(const ledger *l, const ledger_entry *entry) {
    return l->by.size > 0 && entry->by != NULL && entry->by_bytes == l->by.size &&
           memcmp(entry->by, l->by.data, l->by.size) == 0;
}

static tem_status add_people(ledger *l, ledger_entry *entry, tem_error *error) {
    unsigned char person[PERSON_BYTES];
    uint64_t words = 0;
    while (ledger_next_person(entry, person, &words)) {
        amount spent = 0;
        const size_t index = accounts_find(&l->people, person);
        if (index == SIZE_MAX)
            return core_fail_memory(error);
        for (int kind = 0; kind < COST_KINDS; kind++)
            if (!amount_times(entry->each[kind], words, &spent) ||
                !amount_add(&l->people.items[index].spent[kind], spent))
                return too_much(l, error);
    }
    return TEM_OK;
}

static bool is_text(const char *bytes, size_t size, const char *text) {
    return size == strlen(text) && memcmp(bytes, text, size) == 0;
}

/* Whether the charge is in the unit of this run. A charge that names no unit is per distance. */
static bool has_our_unit(const ledger *l, const ledger_entry *entry) {
    static const char distance[] = "distance/";
    return entry->unit == NULL ? strncmp(l->unit, distance, strlen(distance)) == 0
                               : is_text(entry->unit, entry->unit_bytes, l->unit);
}

/* Whether a unit is one of bounds that hold only between texts whose words repeat alike. */
static bool is_once(const char *unit, size_t bytes) {
    return bytes >= strlen(LEDGER_ONCE) && memcmp(unit, LEDGER_ONCE, strlen(LEDGER_ONCE)) == 0;
}

/* Whether the bound of the charge holds between the same texts as that of this run. */
static bool has_our_texts(const ledger *l, const ledger_entry *entry) {
    const bool once = entry->unit != NULL && is_once(entry->unit, entry->unit_bytes);
    return once == is_once(l->unit, strlen(l->unit));
}

/* PRIVACY: notes the first charges that a budget could not add to those of this run. Composition
 * adds losses per unit of one metric; per units of two metrics they have no sum. */
static void note_strangers(ledger *l, const ledger_entry *entry) {
    if (!entry->bounded && l->unbounded_line == 0)
        l->unbounded_line = l->lines;
    if (l->foreign_line == 0 && !is_text(entry->model, entry->model_bytes, l->model))
        l->foreign_line = l->lines;
    if (l->unit_line == 0 && !has_our_unit(l, entry))
        l->unit_line = l->lines;
    if (l->other_texts_line == 0 && !has_our_texts(l, entry))
        l->other_texts_line = l->lines;
}

/* Reads one charge, a line without its line feed, and adds it to the sums. */
static tem_status take_line(ledger *l, const char *line, size_t size, tem_error *error) {
    ledger_entry entry;
    l->lines++;
    const char *fault = ledger_read_charge(line, size, l->check, &entry);
    if (fault != NULL)
        return core_fail_at(error, TEM_ERR_DAMAGED, l->path, l->lines, 0, "damaged ledger: %s: %s",
                            fault, advice);
    note_strangers(l, &entry);
    if (is_by_this_field(l, &entry))
        return add_people(l, &entry, error);
    for (int kind = 0; kind < COST_KINDS; kind++)
        if (!amount_add(&l->common[kind], entry.spent[kind]))
            return too_much(l, error);
    return TEM_OK;
}

static tem_status take_lines(ledger *l, const char *data, size_t size, tem_error *error) {
    for (size_t at = 0; at < size;) {
        const char *end = memchr(data + at, '\n', size - at);
        if (end == NULL)
            return core_fail_at(error, TEM_ERR_DAMAGED, l->path, l->lines + 1, 0,
                                "damaged ledger: expected the end of the line: %s", advice);
        const size_t length = (size_t)(end - data) - at;
        TRY(take_line(l, data + at, length, error));
        at += length + 1;
    }
    return TEM_OK;
}

/* Reads the lines that were added since the last time. */
static tem_status read_new(ledger *l, tem_error *error) {
    struct stat info;
    TRY(examine(l, &info, error));
    TRY(read_header(l, error));
    if (l->header.bytes < l->read || (uint64_t)info.st_size < l->header.bytes)
        return core_fail_at(error, TEM_ERR_DAMAGED, l->path, 0, 0,
                            "damaged ledger: it is cut short, so charges are missing: %s", advice);
    const size_t size = (size_t)(l->header.bytes - l->read);
    l->line.size = 0;
    if (!core_buffer_reserve(&l->line, size))
        return core_fail_memory(error);
    const ssize_t got = sys_read(l->descriptor, l->line.data, size, l->read);
    if (got < 0 || (size_t)got < size)
        return core_fail_os(error, l->path, "read the ledger", got < 0 ? errno : EIO);
    TRY(take_lines(l, l->line.data, size, error));
    l->read = l->header.bytes;
    return TEM_OK;
}

/* ---- the lock ---- */

static tem_status wait_for_lock(const ledger *l, tem_error *error) {
    return lock_wait(l->descriptor, l->path, l->read_only, "waiting for ledger", l->run, error);
}

/* Checks that the path still names the open file. If the ledger was renamed or replaced, nobody
 * would see charges that go to the open file. */
static tem_status check_name(const ledger *l, tem_error *error) {
    if (ledger_is(l, l->path, -1))
        return TEM_OK;
    return core_fail_at(error, TEM_ERR_FILE, l->path, 0, 0,
                        "the ledger was moved or replaced during the run");
}

tem_status ledger_lock(ledger *l, tem_error *error) {
    if (l->descriptor < 0)
        return TEM_OK;
    tem_status status = wait_for_lock(l, error);
    l->locked = status == TEM_OK;
    if (status == TEM_OK)
        status = check_name(l, error);
    if (status == TEM_OK)
        status = read_new(l, error);
    if (status != TEM_OK)
        ledger_unlock(l);
    return status;
}

void ledger_unlock(ledger *l) {
    if (l->locked)
        flock(l->descriptor, LOCK_UN);
    l->locked = false;
}

/* Reads all existing lines, so that damage and earlier charges are known from the start. */
static tem_status first_reading(ledger *l, tem_error *error) {
    tem_status status = wait_for_lock(l, error);
    l->locked = status == TEM_OK;
    if (status == TEM_OK)
        status = read_header(l, error);
    if (status == TEM_OK) {
        l->read = LEDGER_HEADER_BYTES;
        l->lines = 1;
        ledger_first_check(&l->header, l->check);
        status = read_new(l, error);
    }
    ledger_unlock(l);
    return status;
}

tem_status ledger_open(ledger *l, const char *path, const char *by, const char *model,
                       const char *unit, const unsigned char salt[LEDGER_SALT_BYTES],
                       bool read_only, const tem_run *run, tem_error *error) {
    struct stat info;
    *l = (ledger){.path = path, .run = run, .descriptor = -1, .read_only = read_only};
    snprintf(l->model, sizeof l->model, "%s", model);
    snprintf(l->unit, sizeof l->unit, "%s", unit);
    if (path[0] == '\0' || strcmp(path, "-") == 0)
        return core_fail(error, TEM_ERR_ARGUMENT, "the ledger needs the name of a file");
    tem_status status = by == NULL ? TEM_OK : json_encode(by, strlen(by), &l->by, error);
    if (status == TEM_OK)
        status = open_or_start(l, salt, error);
    if (status == TEM_OK && l->descriptor >= 0)
        status = examine(l, &info, error);
    if (status == TEM_OK && l->descriptor >= 0) {
        l->device = (uint64_t)info.st_dev;
        l->inode = (uint64_t)info.st_ino;
        status = first_reading(l, error);
    }
    if (status != TEM_OK)
        ledger_close(l);
    return status;
}

amount ledger_left(const ledger *l, const account *a, cost_kind kind, amount budget) {
    amount spent = l->common[kind];
    if (!amount_add(&spent, a->spent[kind]) || spent >= budget)
        return 0;
    return budget - spent;
}

/* ---- charging ---- */

/* Writes the line after the last line that counts, over any bytes that a killed run has left there.
 * If the line cannot be written in full, removes it again. If even that fails, the header does not
 * count it. */
static tem_status append(ledger *l, tem_error *error) {
    const uint64_t end = l->header.bytes;
    if (fails() || ftruncate(l->descriptor, (off_t)end) != 0)
        return core_fail_os(error, l->path, "write the ledger", errno);
    if (sys_write(l->descriptor, l->line.data, l->line.size, end) == 0 &&
        sys_flush(l->descriptor) == 0)
        return TEM_OK;
    const int why = errno;
    if (ftruncate(l->descriptor, (off_t)end) != 0)
        errno = why;
    return core_fail_os(error, l->path, "write the ledger", why);
}

/* Writes the header that makes the line count. The header fits into one sector, which disks write
 * as a whole. */
static tem_status count_line(ledger *l, tem_error *error) {
    char text[LEDGER_HEADER_BYTES];
    ledger_header header = l->header;
    header.bytes += l->line.size;
    ledger_write_header(&header, text);
    if (sys_write(l->descriptor, text, sizeof text, 0) != 0 || sys_flush(l->descriptor) != 0)
        return core_fail_os(error, l->path, "write the ledger", errno);
    l->header = header;
    return TEM_OK;
}

tem_status ledger_add(ledger *l, const ledger_charge *charge, tem_error *error) {
    TRY(ledger_write_charge(charge, l->check, &l->line, error));
    TRY(append(l, error));
    TRY(count_line(l, error));
    TRY(take_line(l, l->line.data, l->line.size - 1, error));
    l->read = l->header.bytes;
    return TEM_OK;
}
