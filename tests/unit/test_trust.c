/* test_trust.c - the list of models and certificates that a user trusts. */
#include "core/fault.h"
#include "tem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char first[] = "00000000000000000000000000000000000000000000000000000000000000aa";
static const char other[] = "00000000000000000000000000000000000000000000000000000000000000ab";

static char folder[64], list[128], list_folder[128];
static int open_before;

/* How many files are open, of those that a test could have opened. */
static int open_files(void) {
    int count = 0;
    for (int descriptor = 0; descriptor < 256; descriptor++)
        count += fcntl(descriptor, F_GETFD) >= 0;
    return count;
}

static int set_up(void **state) {
    (void)state;
    open_before = open_files();
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/tem-trust-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(list_folder, sizeof list_folder, "%s/state/tem", folder);
    snprintf(list, sizeof list, "%s/state/tem/trusted", folder);
    setenv("HOME", folder, 1);
    char place[96];
    snprintf(place, sizeof place, "%s/state", folder);
    return setenv("XDG_STATE_HOME", place, 1);
}

static int tear_down(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    const int removed = system(command);
    /* Nothing was left open: no list, no directory of a list, and no lock, for which others would
     * wait. */
    return open_files() == open_before ? removed : -1;
}

static int has(const char *hash) {
    int found = -1;
    tem_error error;
    if (tem_trust_has(hash, &found, &error) != TEM_OK)
        fail_msg("%s: %s", error.file, error.message);
    return found;
}

static void write_list(const char *text) {
    assert_int_equal(tem_trust_ready(NULL), TEM_OK);
    FILE *file = fopen(list, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static unsigned mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void test_list(void **state) {
    (void)state;
    assert_int_equal(has(first), 0);
    assert_int_equal(tem_trust_ready(NULL), TEM_OK);
    assert_int_equal(mode_of(list), 0600);
    assert_int_equal(mode_of(getenv("XDG_STATE_HOME")), 0700);
    assert_int_equal(has(first), 0);
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    assert_true(has(first) && !has(other));
    assert_int_equal(tem_trust_add(other, NULL, NULL), TEM_OK);
    assert_true(has(first) && has(other));
    struct stat info;
    assert_int_equal(stat(list, &info), 0);
    assert_int_equal(info.st_size, 2 * 65);
}

/* Only a complete line counts. */
static void test_lines(void **state) {
    (void)state;
    char text[256];
    static const struct {
        const char *before;
        int digits;
        const char *after;
    } wrong[] = {{"", 63, "\n"}, {"", 64, ""}, {"", 64, " \n"}, {" ", 64, "\n"}, {"", 64, "a\n"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "%s%.*s%s", wrong[i].before, wrong[i].digits, first,
                 wrong[i].after);
        write_list(text);
        assert_int_equal(has(first), 0);
    }
    snprintf(text, sizeof text, "\n%s\n%s\n", other, first);
    write_list(text);
    assert_int_equal(has(first), 1);
}

/* An incomplete line does not swallow the next one. */
static void test_torn(void **state) {
    (void)state;
    write_list("00aa");
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    assert_int_equal(has(first), 1);
}

static void test_remove(void **state) {
    (void)state;
    struct stat info;
    assert_int_equal(tem_trust_remove(first, NULL, NULL), TEM_OK); /* no directory */
    assert_int_not_equal(stat(list_folder, &info), 0);
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    assert_int_equal(tem_trust_add(other, NULL, NULL), TEM_OK);
    assert_int_equal(tem_trust_remove(first, NULL, NULL), TEM_OK);
    assert_true(!has(first) && has(other));
    assert_int_equal(tem_trust_remove(first, NULL, NULL), TEM_OK);
    assert_true(!has(first) && has(other));
    assert_int_equal(mode_of(list), 0600);
    char twice[256];
    snprintf(twice, sizeof twice, "%s\n%s\n%s\n", first, other, first);
    write_list(twice);
    assert_int_equal(tem_trust_remove(first, NULL, NULL), TEM_OK);
    assert_true(!has(first) && has(other));
    unlink(list);
    assert_int_equal(tem_trust_remove(other, NULL, NULL), TEM_OK); /* no list */
    assert_int_not_equal(stat(list, &info), 0);
}

/* Files left by a killed process are not a list, and block nobody. */
static void test_killed(void **state) {
    (void)state;
    char left[160];
    snprintf(left, sizeof left, "%s/trusted.new", list_folder);
    assert_int_equal(tem_trust_add(other, NULL, NULL), TEM_OK);
    FILE *file = fopen(left, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", first);
    fclose(file);
    assert_int_equal(has(first), 0);
    char third[65];
    snprintf(third, sizeof third, "%.63sc", first);
    assert_int_equal(tem_trust_add(third, NULL, NULL), TEM_OK);
    assert_true(!has(first) && has(other) && has(third));
    struct stat info;
    assert_int_not_equal(stat(left, &info), 0);
}

enum { WRITERS = 6, HASHES = 20 };

static void name_hash(char hash[65], int writer, int number) {
    snprintf(hash, 65, "%062x%02x", writer, number);
}

/* Adds its own hashes, and removes every second one again. */
static int write_concurrently(int writer) {
    char hash[65];
    for (int i = 0; i < HASHES; i++) {
        name_hash(hash, writer, i);
        if (tem_trust_add(hash, NULL, NULL) != TEM_OK)
            return 1;
        if (i % 2 == 1 && tem_trust_remove(hash, NULL, NULL) != TEM_OK)
            return 1;
    }
    return 0;
}

/* Many processes change the list at the same time: nothing is lost, and nothing removed comes
 * back. */
static void test_concurrent(void **state) {
    (void)state;
    pid_t writers[WRITERS];
    char hash[65];
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        if (writers[w] == 0)
            _exit(write_concurrently(w));
        assert_true(writers[w] > 0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int ended = -1;
        assert_int_equal(waitpid(writers[w], &ended, 0), writers[w]);
        assert_int_equal(ended, 0);
    }
    for (int w = 0; w < WRITERS; w++)
        for (int i = 0; i < HASHES; i++) {
            name_hash(hash, w, i);
            assert_int_equal(has(hash), i % 2 == 0);
        }
}

/* The callback can end the wait for a lock. */
static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    *(const char **)context = stage;
    return 1;
}

static void test_locked(void **state) {
    (void)state;
    const char *stage = NULL;
    const tem_run run = {.progress = stop, .progress_context = &stage};
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    const int held = open(list, O_RDONLY);
    assert_int_equal(flock(held, LOCK_EX), 0);
    const tem_status added = tem_trust_add(other, &run, NULL);
    const tem_status removed = tem_trust_remove(first, &run, NULL);
    const bool unchanged = has(first) && !has(other); /* readers do not wait */
    close(held); /* before an assertion fails: the tear-down looks for open descriptors */
    assert_int_equal(added, TEM_ERR_CANCELLED);
    assert_int_equal(removed, TEM_ERR_CANCELLED);
    assert_string_equal(stage, "waiting for a lock");
    assert_true(unchanged);
}

static int say_waiting(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    return write(*(const int *)context, "w", 1) != 1;
}

/* The list is replaced while another process waits for its lock: that one must add to the new
 * list. */
static void test_replaced_meanwhile(void **state) {
    (void)state;
    int pipe_ends[2], ended = -1;
    char new_list[160], byte = 0;
    const tem_run run = {.progress = say_waiting, .progress_context = &pipe_ends[1]};
    snprintf(new_list, sizeof new_list, "%s/new", folder);
    assert_int_equal(pipe(pipe_ends), 0);
    write_list("");
    const int held = open(list, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(held, LOCK_EX), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        close(held);
        _exit(tem_trust_add(first, &run, NULL) != TEM_OK);
    }
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1); /* the child waits */
    FILE *file = fopen(new_list, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", other);
    fclose(file);
    chmod(new_list, 0600);
    assert_int_equal(rename(new_list, list), 0);
    close(held);
    assert_int_equal(waitpid(writer, &ended, 0), writer);
    close(pipe_ends[0]); /* before an assertion fails, as above */
    close(pipe_ends[1]);
    assert_int_equal(ended, 0);
    assert_true(has(first) && has(other));
}

/* The list is neither read nor changed, and the error names the obstacle. */
static void assert_refused(const char *place) {
    int found = -1;
    tem_error error[4] = {0};
    assert_int_equal(tem_trust_has(first, &found, &error[0]), TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_trust_add(other, NULL, &error[1]), TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_trust_remove(first, NULL, &error[2]), TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_trust_ready(&error[3]), TEM_ERR_UNTRUSTED);
    for (int i = 0; i < 4; i++)
        assert_string_equal(error[i].file, place);
    assert_int_equal(found, -1);
}

/* A list that others can write, or that is not a file, is neither read nor changed. */
static void test_not_own(void **state) {
    (void)state;
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    for (mode_t mode = 0602; mode <= 0620; mode += 016) {
        chmod(list, mode);
        assert_refused(list);
    }
    chmod(list, 0600);
    if (geteuid() == 0) { /* only root can give a file away */
        assert_int_equal(chown(list, 65534, (gid_t)-1), 0);
        assert_refused(list);
    }
    unlink(list);
    assert_int_equal(mkdir(list, 0700), 0);
    assert_refused(list);
    rmdir(list);
    assert_int_equal(mkfifo(list, 0600), 0);
    assert_refused(list);
    unlink(list);
}

/* A link leads to a list that the user did not name, even if the user owns the file. */
static void test_links(void **state) {
    (void)state;
    char elsewhere[160];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    assert_int_equal(rename(list, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, list), 0);
    assert_refused(list);
    unlink(list);
    assert_int_equal(symlink("/dev/full", list), 0);
    assert_refused(list);
    unlink(list);
    assert_int_equal(symlink("/nonexistent/list", list), 0);
    assert_refused(list);
    unlink(list);
    assert_int_equal(rename(elsewhere, list), 0);
    assert_int_equal(has(first), 1);
    assert_int_equal(rename(list_folder, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, list_folder), 0);
    assert_refused(list_folder);
    unlink(list_folder);
    assert_int_equal(rename(elsewhere, list_folder), 0);
    assert_int_equal(has(first), 1);
}

/* In a directory that others can write, they decide which file has the name. */
static void test_folder_not_own(void **state) {
    (void)state;
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    for (mode_t mode = 0702; mode <= 0720; mode += 016) {
        chmod(list_folder, mode);
        assert_refused(list_folder);
    }
    chmod(list_folder, 0755);
    assert_int_equal(has(first), 1);
    if (geteuid() == 0) {
        assert_int_equal(chown(list_folder, 65534, (gid_t)-1), 0);
        assert_refused(list_folder);
    }
}

static void test_places(void **state) {
    (void)state;
    int found = -1;
    tem_error error;
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_int_equal(tem_trust_add(first, NULL, NULL), TEM_OK);
    char home[160];
    snprintf(home, sizeof home, "%s/.local/state/tem/trusted", folder);
    assert_int_equal(mode_of(home), 0600);
    assert_int_equal(has(first), 1);
    setenv("HOME", "/dev/null", 1);
    assert_int_equal(has(first), 0);
    assert_int_equal(tem_trust_add(first, NULL, &error), TEM_ERR_FILE);
    setenv("HOME", "", 1);
    assert_int_equal(tem_trust_has(first, &found, &error), TEM_ERR_UNTRUSTED);
    assert_string_equal(error.file, "");
    assert_int_equal(tem_trust_ready(NULL), TEM_ERR_UNTRUSTED);
    assert_int_equal(found, -1);
}

static void test_refusals(void **state) {
    (void)state;
    int found = -1;
    assert_int_equal(tem_trust_has(first, NULL, NULL), TEM_ERR_ARGUMENT);
    static const char *const hashes[] = {NULL,
                                         "",
                                         "aa",
                                         "zz",
                                         first + 1,
                                         "00000000000000000000000000000000000000000000000000000000"
                                         "000000AA"};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        assert_int_equal(tem_trust_has(hashes[i], &found, NULL), TEM_ERR_ARGUMENT);
        assert_int_equal(tem_trust_add(hashes[i], NULL, NULL), TEM_ERR_ARGUMENT);
        assert_int_equal(tem_trust_remove(hashes[i], NULL, NULL), TEM_ERR_ARGUMENT);
    }
    assert_int_equal(found, -1);
}

#ifdef TEM_FAULTS
/* Fails the nth call of a change, for all n. What was said to be done is done, and what the list
 * had besides stays. */
static void fail_changes(bool add) {
    for (uint64_t n = 1;; n++) {
        int found = -1;
        assert_int_equal(
            add ? tem_trust_remove(first, NULL, NULL) : tem_trust_add(first, NULL, NULL), TEM_OK);
        core_fault_arm(n);
        tem_status status =
            add ? tem_trust_add(first, NULL, NULL) : tem_trust_remove(first, NULL, NULL);
        const bool changed = status == TEM_OK;
        if (changed)
            status = tem_trust_has(first, &found, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_true(has(first) == add || !changed);
        assert_int_equal(found, status == TEM_OK ? add : -1);
        assert_int_equal(has(other), 1);
        if (!hit) {
            assert_true(status == TEM_OK && n > 16);
            return;
        }
        assert_true(status == TEM_ERR_FILE || status == TEM_ERR_MEMORY);
    }
}

static void test_faults(void **state) {
    (void)state;
    assert_int_equal(tem_trust_add(other, NULL, NULL), TEM_OK);
    fail_changes(true);
    fail_changes(false);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_torn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_remove, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_concurrent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_locked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folder_not_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
#ifdef TEM_FAULTS
        cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
