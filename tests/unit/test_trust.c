/* test_trust.c - the list of certificates that a user believes. */
#include "core/fault.h"
#include "tem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char first[] = "00000000000000000000000000000000000000000000000000000000000000aa";
static const char other[] = "00000000000000000000000000000000000000000000000000000000000000ab";

static char folder[64], list[128];

static int set_up(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/tem-trust-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(list, sizeof list, "%s/state/tem/certificates", folder);
    setenv("HOME", folder, 1);
    char place[96];
    snprintf(place, sizeof place, "%s/state", folder);
    return setenv("XDG_STATE_HOME", place, 1);
}

static int tear_down(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
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
    assert_int_equal(tem_trust_add(first, NULL), TEM_OK);
    assert_int_equal(tem_trust_add(first, NULL), TEM_OK);
    assert_true(has(first) && !has(other));
    assert_int_equal(tem_trust_add(other, NULL), TEM_OK);
    assert_true(has(first) && has(other));
    struct stat info;
    assert_int_equal(stat(list, &info), 0);
    assert_int_equal(info.st_size, 2 * 65);
}

/* Only a whole line counts. */
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

/* A line that a crash has cut off does not swallow the next one. */
static void test_torn(void **state) {
    (void)state;
    write_list("00aa");
    assert_int_equal(tem_trust_add(first, NULL), TEM_OK);
    assert_int_equal(has(first), 1);
}

/* What others can write, or what is no file, is neither read nor added to. */
static void test_not_own(void **state) {
    (void)state;
    int found = -1;
    tem_error error;
    assert_int_equal(tem_trust_add(first, NULL), TEM_OK);
    for (mode_t mode = 0602; mode <= 0620; mode += 016) {
        chmod(list, mode);
        assert_int_equal(tem_trust_has(first, &found, &error), TEM_ERR_CERTIFICATE);
        assert_string_equal(error.file, list);
        assert_int_equal(tem_trust_add(other, NULL), TEM_ERR_CERTIFICATE);
        assert_int_equal(tem_trust_ready(NULL), TEM_ERR_CERTIFICATE);
    }
    chmod(list, 0600);
    if (geteuid() == 0) { /* nobody else can give a file away */
        assert_int_equal(chown(list, 65534, (gid_t)-1), 0);
        assert_int_equal(tem_trust_has(first, &found, NULL), TEM_ERR_CERTIFICATE);
        assert_int_equal(tem_trust_add(other, NULL), TEM_ERR_CERTIFICATE);
    }
    unlink(list);
    assert_int_equal(symlink("/dev/full", list), 0);
    assert_int_equal(tem_trust_has(first, &found, NULL), TEM_ERR_CERTIFICATE);
    assert_int_equal(tem_trust_add(first, NULL), TEM_ERR_CERTIFICATE);
    assert_int_equal(found, -1);
    unlink(list);
}

static void test_places(void **state) {
    (void)state;
    int found = -1;
    tem_error error;
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_int_equal(tem_trust_add(first, NULL), TEM_OK);
    char home[160];
    snprintf(home, sizeof home, "%s/.local/state/tem/certificates", folder);
    assert_int_equal(mode_of(home), 0600);
    assert_int_equal(has(first), 1);
    setenv("HOME", "/dev/null", 1);
    assert_int_equal(has(first), 0);
    assert_int_equal(tem_trust_add(first, &error), TEM_ERR_FILE);
    setenv("HOME", "", 1);
    assert_int_equal(tem_trust_has(first, &found, &error), TEM_ERR_CERTIFICATE);
    assert_string_equal(error.file, "");
    assert_int_equal(tem_trust_ready(NULL), TEM_ERR_CERTIFICATE);
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
        assert_int_equal(tem_trust_add(hashes[i], NULL), TEM_ERR_ARGUMENT);
    }
    assert_int_equal(found, -1);
}

#ifdef TEM_FAULTS
/* What was not noted is not believed; what was said to be noted is. */
static void test_faults(void **state) {
    (void)state;
    for (uint64_t n = 1;; n++) {
        int found = -1;
        unlink(list);
        core_fault_arm(n);
        tem_status status = tem_trust_add(first, NULL);
        const bool added = status == TEM_OK;
        if (added)
            status = tem_trust_has(first, &found, NULL);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_true(has(first) || !added);
        assert_int_equal(found, status == TEM_OK ? 1 : -1);
        if (!hit) {
            assert_true(status == TEM_OK && n > 8);
            return;
        }
        assert_true(status == TEM_ERR_FILE || status == TEM_ERR_MEMORY);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_torn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
#ifdef TEM_FAULTS
        cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
