/* test_talk.c - the line of the progress bar on a terminal: a slow document is named there, also
 * where the input has been read to its end, and the line fits into the terminal.
 *
 * The clock of this program goes forward by a second with each look at it. */
#include "../cli/talk.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

enum { COLUMNS = 50, QUIET_MS = 100 };

static time_t ahead;
static int terminal, stderr_before;
static char shown[4096];

/* In the place of that of the C library. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now) {
    const int failed = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += ++ahead;
    return failed;
}

/* What one question whether to go on wrote to the terminal, which hands it over a little later. */
static const char *ask(const tem_run *run, uint64_t done, uint64_t total) {
    struct pollfd waiting = {.fd = terminal, .events = POLLIN};
    size_t bytes = 0;
    assert_int_equal(run->progress(NULL, "replacing words", done, total), 0);
    while (poll(&waiting, 1, QUIET_MS) > 0) {
        const ssize_t got = read(terminal, shown + bytes, sizeof shown - 1 - bytes);
        assert_true(got > 0);
        bytes += (size_t)got;
    }
    shown[bytes] = '\0';
    return shown;
}

static void assert_fits(const char *line) {
    size_t columns = 0;
    for (const char *c = line; *c != '\0' && *c != '\033'; c++)
        columns += *c != '\r' && ((unsigned char)*c & 0xc0) != 0x80;
    assert_true(columns > COLUMNS / 2 && columns < COLUMNS);
}

static void test_slow_document_is_named(void **state) {
    (void)state;
    const tem_run run = talk_run(1, false);
    assert_non_null(run.progress);
    ask(&run, 1, 10);
    assert_non_null(strstr(ask(&run, 5, 10), " 50 %"));
    assert_non_null(strstr(ask(&run, 10, 10), "100 %"));
    assert_string_equal(ask(&run, 10, 10), "");
    run.slow_document(NULL, 12, "a/b.txt", 30);
    assert_string_equal(ask(&run, 10, 10),
                        "\rreplacing words  document 12 of b.txt: 30 s so fa\033[K");
    assert_fits(shown);
    run.slow_document(NULL, 3, "ä€ä€ä€ä€ä€ä€ä€ä€ä€ä€ä€ä€ä€", 200);
    assert_fits(ask(&run, 5, 10));
    const char *end = strchr(shown, '\033');
    assert_non_null(end);
    assert_true(memcmp(end - 2, "ä", 2) == 0 || memcmp(end - 3, "€", 3) == 0);
    assert_non_null(strstr(ask(&run, 10, 10), "100 %")); /* and clears the line */
    assert_string_equal(ask(&run, 10, 10), "");
}

static int set_up(void **state) {
    (void)state;
    const struct winsize size = {.ws_col = COLUMNS, .ws_row = 9};
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0 ||
        ioctl(terminal, TIOCSWINSZ, &size) != 0)
        return -1;
    const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    stderr_before = dup(STDERR_FILENO);
    return end >= 0 && dup2(end, STDERR_FILENO) == STDERR_FILENO ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return dup2(stderr_before, STDERR_FILENO) == STDERR_FILENO ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_slow_document_is_named, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
