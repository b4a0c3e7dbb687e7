/* talk.c - errors, notes and progress on stderr. */
#include "talk.h"

#include "tem_command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 30, TEXT_BYTES = 32, TEXTS = 8, GRACE_NS = 700000000 };

static volatile sig_atomic_t caught_signal, caught_count;
static volatile sig_atomic_t patient; /* the first SIGINT does not end the call in progress */
static timer_t grace;

double talk_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What the user can type, to be printed after the message. The library knows no command or option,
 * so it only says what is wrong. */
static const char *remedy_for(const tem_error *error) {
    static const struct {
        const char *message, *remedy;
    } remedies[] = {
        {"the delimiter must be named", " (--delimiter)"},
        {"a field that is to be left out; did you mean",
         " Name a field that may be missing with --drop-field-if-present"},
        {"cannot be searched for it before the release",
         "; name a field that may be missing with --drop-field-if-present"},
        {"is UTF-16", "; 'iconv -f UTF-16 -t UTF-8' converts it"},
        {"not valid UTF-8", "; 'iconv -f ENCODING -t UTF-8' converts it"},
        {"expected valid UTF-8", "; 'iconv -f ENCODING -t UTF-8' converts it"},
        {"fields are named one by one", ": --field A --field B"},
        {"found an array; each line", ": jq -c '.[]' IN.json > OUT.jsonl"},
        {"each line must be one whole object", ": jq -c . IN.json > OUT.jsonl"},
        {"is line 1 the header", "; 'head -n 1 FILE' shows it"},
        {"not a tem model", "; 'tem build' makes one from vectors"},
        {"not a file of certificates", "; 'tem calibrate' makes such files"},
        {"remove the file and make new ones", " with 'tem calibrate'"},
        {"the certificate is for", "; 'tem calibrate' makes one for this model and epsilon"},
        {"build with allow_coarse", " (--allow-coarse)"},
        {"build with drop_degenerate", " (--drop-degenerate)"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strstr(error->message, remedies[i].message) != NULL)
            return remedies[i].remedy;
    return "";
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
    fprintf(stderr, "%s%s\n", error->message, remedy_for(error));
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

/* The progress bar. One is enough: long calls do not overlap. */
static struct {
    bool shown;
    const char *stage;
    double stage_start, last_drawn;
    bool is_complete; /* nothing more to draw of this stage, but a slow document */
    char beside[80];
    char slow[160]; /* a document that takes long; shown once */
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

/* 80 if the terminal does not say. */
static size_t terminal_columns(void) {
    struct winsize size = {.ws_col = 0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* How many bytes of a text fit into some columns: whole characters, of which those beyond ASCII may
 * be two columns wide. */
static int fitting(const char *text, size_t columns) {
    size_t bytes = 0, used = 0;
    while (text[bytes] != '\0') {
        size_t end = bytes + 1;
        while (((unsigned char)text[end] & 0xc0) == 0x80)
            end++;
        used += end > bytes + 1 ? 2 : 1;
        if (used > columns)
            break;
        bytes = end;
    }
    return (int)bytes;
}

/* Names the slow document instead of the bar: a line that is wider than the terminal cannot be
 * written over, and one that fills it may move the cursor to the next. */
static void draw_slow(const char *stage) {
    char line[sizeof bar.slow + 64];
    snprintf(line, sizeof line, "%.60s%s", stage, bar.slow);
    fprintf(stderr, "\r%.*s\033[K", fitting(line, terminal_columns() - 1), line);
    fflush(stderr);
}

static void draw_progress(const char *stage, uint64_t done, uint64_t total, double now) {
    const bool is_slow = bar.slow[0] != '\0';
    if (now <= bar.last_drawn + 0.1 || (bar.is_complete && !is_slow))
        return;
    if (is_slow)
        draw_slow(stage);
    else if (total == 0)
        fprintf(stderr, "\r%-20s %s\033[K", stage, done > 0 ? talk_bytes(done) : "");
    else
        draw_bar(stage, (double)done / (double)total, now);
    bar.is_complete = !is_slow && total > 0 && done == total;
    bar.last_drawn = now;
}

static bool must_stop(void) {
    return caught_count > (patient ? 1 : 0);
}

static int show_progress(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context;
    const double now = bar.shown ? talk_clock() : 0;
    if (bar.shown && (bar.stage == NULL || strcmp(bar.stage, stage) != 0)) {
        bar.stage = stage;
        bar.beside[0] = '\0';
        bar.is_complete = false;
        bar.stage_start = now;
        bar.last_drawn = now; /* stages shorter than a tenth of a second show nothing */
    }
    if (bar.shown)
        draw_progress(stage, done, total, now);
    bar.slow[0] = '\0'; /* the next call says whether it still takes long */
    const bool stop = must_stop();
    if (stop && bar.shown)
        fputs("\r\033[K", stderr);
    return stop;
}

/* The end of a path. */
static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* PRIVACY: the number of the document and how long it takes, never what it says. */
static void name_slow_document(void *context, uint64_t document, const char *file, double seconds) {
    (void)context;
    const char *name = file != NULL ? last_name(file) : "";
    snprintf(bar.slow, sizeof bar.slow, "  document %s%s%.*s: %.0f %s so far", talk_count(document),
             file != NULL ? " of " : "", fitting(name, 40), name,
             seconds < 120 ? seconds : seconds / 60, seconds < 120 ? "s" : "min");
}

void talk_end_progress(void) {
    if (bar.shown && bar.stage != NULL)
        fputs("\r\033[K", stderr);
    bar.stage = NULL;
}

/* Ends the program by the caught signal. Runs in a handler, so it calls only functions that are
 * allowed there. */
static void end_by_signal(int number) {
    (void)number;
    tem_temporaries_remove();
    signal(caught_signal, SIG_DFL);
    raise(caught_signal);
}

int talk_finish(int status) {
    if (status != EXIT_DONE && must_stop())
        end_by_signal(0);
    return status;
}

/* The call in progress ends when it next calls show_progress, nearly at once, and cleans up. If it
 * does not call within GRACE_NS (a file system that hangs, another library's long loop), the timer
 * ends the program anyway: a killed run leaves its ledger and its files whole. */
static void catch_signal(int number) {
    const struct itimerspec once = {.it_value = {.tv_nsec = GRACE_NS}};
    caught_signal = number;
    caught_count =
        number != SIGINT || caught_count > 0 ? 2 : 1; /* other signals need no second one */
    if (must_stop())
        timer_settime(grace, 0, &once, NULL);
}

void talk_be_patient(void) {
    patient = 1;
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

static void handle(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

static void catch_signals(void) {
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigevent alarm = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction action;
    if (timer_create(CLOCK_MONOTONIC, &alarm, &grace) != 0)
        return;
    handle(SIGALRM, end_by_signal);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (sigaction(caught[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            handle(caught[i], catch_signal);
}

tem_run talk_run(unsigned threads, bool quiet) {
    catch_signals();
    handle(SIGXFSZ, SIG_IGN); /* the write fails instead, so tem can report it and clean up */
    bar.shown = !quiet && isatty(STDERR_FILENO);
    return (tem_run){
        .threads = threads, .progress = show_progress, .slow_document = name_slow_document};
}
