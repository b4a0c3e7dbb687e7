/* test_system.c - an unusual but legal system: it reads and writes a few bytes at a time, signals
 * interrupt it, it cannot rename without replacing, and cannot map a file or flush a directory.
 *
 * The program is linked with --wrap, so that it intercepts the library's system calls. Files must
 * have the same content as on a usual system. */
#include "io/file.h"
#include "tem_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Properties of the simulated system. */
enum {
    SHORT = 1,       /* reads and writes at most FEW bytes */
    INTERRUPTED = 2, /* every other call ends with EINTR */
    NO_NOREPLACE = 4,
    NO_MAP = 8,
    NO_FOLDER = 16, /* directories cannot be flushed */
    MODES = 32
};
enum { FEW = 7 };

static unsigned mode, calls, links;

#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

static bool interrupts(void) {
    if ((mode & INTERRUPTED) == 0 || calls++ % 2 == 1)
        return false;
    errno = EINTR;
    return true;
}

static size_t some(size_t count) {
    return (mode & SHORT) != 0 && count > FEW ? FEW : count;
}

WRAPPED(ssize_t, read, int fd, void *bytes, size_t count) {
    return interrupts() ? -1 : __real_read(fd, bytes, some(count));
}

WRAPPED(ssize_t, write, int fd, const void *bytes, size_t count) {
    return interrupts() ? -1 : __real_write(fd, bytes, some(count));
}

WRAPPED(ssize_t, pread64, int fd, void *bytes, size_t count, off_t offset) {
    return interrupts() ? -1 : __real_pread64(fd, bytes, some(count), offset);
}

WRAPPED(ssize_t, pwrite64, int fd, const void *bytes, size_t count, off_t offset) {
    return interrupts() ? -1 : __real_pwrite64(fd, bytes, some(count), offset);
}

WRAPPED(int, flock, int fd, int operation) {
    return interrupts() ? -1 : __real_flock(fd, operation);
}

WRAPPED(int, fsync, int fd) {
    struct stat info;
    if ((mode & NO_FOLDER) != 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    return interrupts() ? -1 : 0; /* the order of flushes is tested in tests/check-durability */
}

WRAPPED(int, renameat2, int from_folder, const char *from, int to_folder, const char *to,
        unsigned flags) {
    if ((mode & NO_NOREPLACE) == 0)
        return __real_renameat2(from_folder, from, to_folder, to, flags);
    errno = calls % 2 == 0 ? EINVAL : ENOSYS;
    return -1;
}

WRAPPED(int, link, const char *from, const char *to) {
    links++;
    return __real_link(from, to);
}

WRAPPED(void *, mmap64, void *address, size_t length, int protection, int flags, int fd,
        off_t offset) {
    if ((mode & NO_MAP) == 0)
        return __real_mmap64(address, length, protection, flags, fd, offset);
    errno = ENODEV;
    return MAP_FAILED;
}

/* ------------------------------------------------------------- helpers -- */

static char folder[64];

static const char *at(const char *name) {
    static char paths[8][400];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tem-system-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static unsigned count_files(void) {
    unsigned count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void remove_files(void) {
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            unlink(at(entry->d_name));
    closedir(listing);
}

static int remove_folder(void **state) {
    (void)state;
    mode = 0;
    remove_files();
    return rmdir(folder);
}

static char *content_of(const char *path, size_t *size) {
    char *bytes = malloc(1 << 20);
    FILE *file = fopen(path, "rb");
    assert_true(bytes != NULL && file != NULL);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void assert_same(const char *a, const char *b) {
    size_t sizes[2];
    char *contents[2] = {content_of(a, &sizes[0]), content_of(b, &sizes[1])};
    assert_true(sizes[0] == sizes[1] && sizes[0] > 0);
    assert_memory_equal(contents[0], contents[1], sizes[0]);
    free(contents[0]);
    free(contents[1]);
}

static void put_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static tem_model *make_model(void) {
    static const float values[] = {0, 1, 2, 4, 8, 16, 3, 5, 7, 9, 11, 13};
    return small_model(NULL, values, 6, 2, TEM_EUCLIDEAN, 3);
}

/* --------------------------------------------------------------- tests -- */

/* A model: header and sections, under a new name and over an old file. */
static void test_models(void **state) {
    (void)state;
    tem_model *model = make_model();
    mode = 0;
    assert_int_equal(tem_model_save(model, at("right"), TEM_OVERWRITE, NULL, NULL), TEM_OK);
    for (unsigned m = 0; m < MODES; m++) {
        unlink(at("odd"));
        links = 0;
        mode = m & ~(unsigned)NO_MAP;
        assert_int_equal(tem_model_save(model, at("odd"), TEM_KEEP_EXISTING, NULL, NULL), TEM_OK);
        assert_int_equal(links, (m & NO_NOREPLACE) != 0);
        assert_int_equal(tem_model_save(model, at("odd"), TEM_KEEP_EXISTING, NULL, NULL),
                         TEM_ERR_EXISTS);
        assert_int_equal(tem_model_save(model, at("odd"), TEM_OVERWRITE, NULL, NULL), TEM_OK);
        mode = 0;
        assert_same(at("right"), at("odd"));
        assert_int_equal(count_files(), 2);
    }
    tem_model_free(model);
}

/* Somebody takes the name while the file is being written: nothing may be replaced. */
static void test_name_taken_meanwhile(void **state) {
    (void)state;
    for (unsigned m = 0; m < MODES; m++) {
        file_writer writer;
        tem_error error;
        size_t size = 0;
        unlink(at("taken"));
        mode = m;
        assert_int_equal(file_writer_open(&writer, at("taken"), TEM_KEEP_EXISTING, NULL), TEM_OK);
        mode = 0;
        put_text(at("taken"), "theirs");
        mode = m;
        assert_int_equal(file_writer_put(&writer, "ours", 4, NULL), TEM_OK);
        writer.path = at("taken");
        assert_int_equal(file_writer_commit(&writer, &error), TEM_ERR_EXISTS);
        mode = 0;
        char *found = content_of(at("taken"), &size);
        assert_true(size == 6 && memcmp(found, "theirs", 6) == 0);
        assert_int_equal(count_files(), 1);
        free(found);
    }
}

/* Vectors: from a file, mapped or not, and from a pipe. */
static void test_vectors(void **state) {
    (void)state;
    static const char text[] = "one 1 2 3\ntwo 4 5 6\nthree 7 8 9.25\n";
    put_text(at("vectors"), text);
    for (unsigned m = 0; m < MODES; m++)
        for (int from_pipe = 0; from_pipe <= 1; from_pipe++) {
            int ends[2] = {-1, -1};
            char name[32];
            mode = 0;
            assert_int_equal(pipe(ends), 0);
            assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
            close(ends[1]);
            snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
            tem_vectors *vectors = NULL;
            tem_model *model = NULL;
            mode = m;
            assert_int_equal(
                tem_vectors_load(from_pipe ? name : at("vectors"), 0, NULL, &vectors, NULL),
                TEM_OK);
            mode = 0;
            close(ends[0]);
            assert_int_equal(tem_model_build(vectors, NULL, NULL, &model, NULL), TEM_OK);
            tem_model_info info;
            tem_model_get_info(model, &info);
            assert_true(info.words == 3 && info.dimension == 3);
            assert_true(tem_model_distance(model, 0, 1) > 5 * TEM_DIST_ONE);
            tem_model_free(model);
            tem_vectors_free(vectors);
        }
    unlink(at("vectors"));
}

typedef char place[400];

static void set_place(place p, const char *name) {
    snprintf(p, sizeof(place), "%s/%s", folder, name);
}

/* Each run finds what earlier runs have written to the ledger, and nothing is lost. */
static void test_ledgers(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 0.1};
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    place in, out, ledger;
    set_place(in, "in");
    set_place(out, "out");
    set_place(ledger, "ledger");
    put_text(in, "w1 w2 w3\nw4 w5 w6\n");
    const char *const inputs[] = {in};
    tem_balance balance = {0};
    tem_job job = {.inputs = inputs,
                   .input_count = 1,
                   .output = out,
                   .overwrite = TEM_OVERWRITE,
                   .ledger = ledger};
    unsigned runs = 0;
    for (unsigned m = 0; m < MODES; m++) {
        if (m % 4 == 0) { /* several runs per ledger */
            unlink(ledger);
            runs = 0;
        }
        for (job.dry_run = 0; job.dry_run <= 1; job.dry_run++) {
            tem_error error;
            tem_counts counts = {0};
            mode = m & ~(unsigned)NO_MAP;
            const tem_status status =
                tem_privatize_files(mechanism, &job, NULL, &counts, &balance, NULL, &error);
            mode = 0;
            if (status != TEM_OK || counts.words != 6)
                fail_msg("mode %u: %s", m, error.message);
            runs += !job.dry_run;
        }
        assert_true(balance.spent_before > 0.6 * runs - 1e-9 &&
                    balance.spent_before < 0.6 * runs + 1e-9);
    }
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* Standard output accepts data in small pieces. */
static void test_standard_output(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_mechanism *mechanism = NULL;
    const tem_mechanism_options options = {.epsilon = 1};
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    put_text(at("in"), "w1 w2 w3 w4\n w5 w1 w2\nw1\n");
    place in, out, right;
    set_place(in, "in");
    set_place(out, "out");
    set_place(right, "right");
    const char *inputs[] = {in};
    tem_job job = {.inputs = inputs,
                   .input_count = 1,
                   .output = right,
                   .overwrite = TEM_OVERWRITE,
                   .insecure_seeded = 1,
                   .insecure_seed = 5};
    assert_int_equal(tem_privatize_files(mechanism, &job, NULL, NULL, NULL, NULL, NULL), TEM_OK);
    job.output = NULL;
    for (unsigned m = 0; m <= (SHORT | INTERRUPTED); m++) {
        fflush(stdout);
        const int saved = dup(STDOUT_FILENO), file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_true(saved >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
        mode = m;
        const tem_status status =
            tem_privatize_files(mechanism, &job, NULL, NULL, NULL, NULL, NULL);
        mode = 0;
        dup2(saved, STDOUT_FILENO);
        close(saved);
        close(file);
        assert_int_equal(status, TEM_OK);
        assert_same(right, out);
    }
    tem_mechanism_free(mechanism);
    tem_model_free(model);
}

/* Certificates added to a file, and replacing others. */
static void test_certificates(void **state) {
    (void)state;
    tem_model *model = make_model();
    tem_accountant *accountant = NULL;
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    tem_certificate *made[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const tem_calibration wanted = {.epsilon = 1 + i, .weights = TEM_WEIGHTS_EQUAL};
        assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &made[i], NULL, NULL),
                         TEM_OK);
        assert_int_equal(tem_certificate_save(made[i], at("right.cert"), NULL, NULL), TEM_OK);
    }
    for (unsigned m = 0; m < MODES; m++) {
        unlink(at("odd.cert"));
        mode = m & ~(unsigned)NO_MAP;
        for (int i = 0; i < 4; i++)
            assert_int_equal(tem_certificate_save(made[i % 2], at("odd.cert"), NULL, NULL), TEM_OK);
        mode = 0;
        assert_same(at("right.cert"), at("odd.cert"));
    }
    tem_certificate_free(made[0]);
    tem_certificate_free(made[1]);
    tem_accountant_free(accountant);
    tem_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_models, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_name_taken_meanwhile, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_vectors, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_ledgers, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_standard_output, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_certificates, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
