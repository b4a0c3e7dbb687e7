/* talk.c - what the command says on stderr. */
#include "talk.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 30, TEXT_BYTES = 32, TEXTS = 8 };

static volatile sig_atomic_t caught_signal, caught_count;
static bool patient; /* the first signal is for whoever asks for it */

double talk_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int talk_error(const tem_error *error) {
    if (error->status == TEM_ERR_CANCELLED && caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    fputs("tem: ", stderr);
    if (error->file[0] != '\0')
        fprintf(stderr, "%s: ", error->file);
    if (error->line != 0)
        fprintf(stderr, "line %" PRIu64 ": ", error->line);
    else if (error->byte != 0)
        fprintf(stderr, "byte %" PRIu64 ": ", error->byte);
    fprintf(stderr, "%s\n", error->message);
    return EXIT_FAILED;
}

int talk_usage(const char *command, const char *format, ...) {
    va_list arguments;
    const char *space = command[0] != '\0' ? " " : "";
    fprintf(stderr, "tem%s%s: ", space, command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'tem%s%s --help'.\n", space, command);
    return EXIT_USAGE;
}

void talk_note(bool quiet, const char *format, ...) {
    va_list arguments;
    if (quiet)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static char *next_text(void) {
    static char texts[TEXTS][TEXT_BYTES];
    static unsigned next;
    return texts[next++ % TEXTS];
}

const char *talk_count(uint64_t number) {
    char digits[24], *text = next_text(), *out = text;
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

const char *talk_number(double number) {
    char *text = next_text();
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, TEXT_BYTES, "%.*g", digits, number);
        const double read = strtod(text, NULL);
        if (read >= number && read <= number)
            break;
    }
    return text;
}

const char *talk_bytes(uint64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    char *text = next_text();
    double size = (double)bytes;
    unsigned unit = 0;
    for (; size >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1000;
    snprintf(text, TEXT_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
    return text;
}

const char *talk_distance_up(tem_dist distance) {
    const uint64_t million = 1000000;
    const uint64_t millionths = (distance * million + TEM_DIST_ONE - 1) / TEM_DIST_ONE;
    char *text = next_text();
    snprintf(text, TEXT_BYTES, "%" PRIu64 ".%06" PRIu64, millionths / million,
             millionths % million);
    return text;
}

/* The bar on the terminal. One at a time: long calls do not overlap. */
static struct {
    bool shown;
    const char *stage;
    double stage_start, last_drawn;
    char beside[80];
} bar;

static void draw_bar(const char *stage, double share, double now) {
    const double elapsed = now - bar.stage_start;
    char cells[BAR_CELLS + 1];
    for (int i = 0; i < BAR_CELLS; i++)
        cells[i] = i < (int)(share * BAR_CELLS) ? '#' : '.';
    cells[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%-20s [%s] %3d %%", stage, cells, (int)(share * 100));
    if (share > 0.01 && share < 1)
        fprintf(stderr, "  %.0f s left", elapsed / share - elapsed);
    fputs(bar.beside, stderr);
    fputs("\033[K", stderr);
    if (share >= 1)
        fputs("\r\033[K", stderr); /* done: leave no trace */
    fflush(stderr);
}

static int show_progress(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context;
    const double now = bar.shown ? talk_clock() : 0;
    if (bar.shown && (bar.stage == NULL || strcmp(bar.stage, stage) != 0)) {
        bar.stage = stage;
        bar.beside[0] = '\0';
        bar.stage_start = now;
        bar.last_drawn = now; /* stages shorter than a tenth of a second show nothing */
    }
    if (bar.shown && total == 0 && now > bar.last_drawn + 0.1) {
        fprintf(stderr, "\r%-20s %s\033[K", stage, done > 0 ? talk_bytes(done) : "");
        bar.last_drawn = now;
    } else if (bar.shown && now > bar.last_drawn + 0.1) {
        draw_bar(stage, (double)done / (double)total, now);
        bar.last_drawn = done == total ? now + 3600 : now;
    }
    const bool stop = caught_count > (patient ? 1 : 0);
    if (stop && bar.shown)
        fputs("\r\033[K", stderr);
    return stop;
}

void talk_end_progress(void) {
    if (bar.shown && bar.stage != NULL)
        fputs("\r\033[K", stderr);
    bar.stage = NULL;
}

static void catch_signal(int number) {
    caught_signal = number;
    caught_count = caught_count < 2 ? caught_count + 1 : 2;
}

void talk_be_patient(void) {
    patient = true;
}

bool talk_interrupted(void) {
    return caught_count > 0;
}

void talk_say_beside_bar(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bar.beside, sizeof bar.beside, format, arguments);
    va_end(arguments);
}

tem_run talk_run(unsigned threads, bool quiet) {
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction action;
        if (sigaction(caught[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            memset(&action, 0, sizeof action);
            action.sa_handler = catch_signal;
            sigaction(caught[i], &action, NULL);
        }
    }
    bar.shown = !quiet && isatty(STDERR_FILENO);
    return (tem_run){.threads = threads, .progress = show_progress};
}
