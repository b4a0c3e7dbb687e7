/* service.c - a long-running service: each line that a client sends comes back as private text.
 *
 *   service EPSILON PORT [--calibrated]
 *
 * It serves 127.0.0.1:PORT (0: any free port, which it prints) until SIGTERM or SIGINT. For each
 * line it answers "ok TEXT", or "error STATUS" and then closes the connection. It uses the default
 * model ($TEM_MODEL, or the one installed with tem; docs/C.md says which models it trusts). With
 * --calibrated it takes the certificate for EPSILON beside the model ('tem info' lists them). That
 * is less noise at the same EPSILON: choose EPSILON for the mechanism that you use
 * (docs/EPSILON.md).
 *
 * What a service must get right:
 *  - Model and mechanism are made once and shared; every thread has a generator of its own.
 *  - Everything is bounded: threads, the length of a line, and how long a line may take to arrive.
 *  - If anything fails, nothing of the text goes out: no text in answers, logs or core dumps.
 *  - On a signal it finishes or cancels what it does, closes all connections and frees everything.
 *
 * The texts cross the socket as they are, so it is on the loopback interface alone. Each line costs
 * its owner words times EPSILON; tem_job_charge keeps the accounts. */
#include <tem.h>
#include <tem_account.h>

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 4,
    LINE_BYTES = 1 << 16,
    LINE_MS = 30000,
    SEND_SECONDS = 5,
    LINGER_MS = 1000,
    DROPPED_MAX = 16
};

/* Shared by all threads; only `stopping` changes. */
typedef struct service {
    tem_model *model;
    tem_mechanism *mechanism;
    int listener;
    int stop_pipe[2]; /* its end [0] becomes readable when the service stops */
    atomic_bool stopping;
} service;

typedef struct worker {
    service *s;
    pthread_t thread;
    tem_rng *rng;
    char line[LINE_BYTES]; /* what the client has sent: private */
    size_t filled;
} worker;

/* ---- what tem needs ---- */

/* Logs why something failed. A tem_error never contains a word of a text. */
static void log_error(const char *what, const tem_error *error) {
    fprintf(stderr, "service: %s: %s%s%s (%s)\n", what, error->file,
            error->file[0] != '\0' ? ": " : "", error->message, tem_status_name(error->status));
}

static tem_status open_model(service *s, char path[PATH_MAX], tem_error *error) {
    char program[PATH_MAX] = "";
    int is_own = 0;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = length > 0 ? strrchr(program, '/') : NULL;
    if (slash != NULL)
        *slash = '\0';
    const char *const folders[] = {program, "/usr/local/bin", "/usr/bin"};
    tem_status status = tem_model_find_default(folders, 3, path, PATH_MAX, &is_own, error);
    if (status == TEM_OK)
        status = tem_model_open(path, &s->model, error);
    return status == TEM_OK ? tem_model_accept(s->model, NULL, is_own, NULL, error) : status;
}

/* Takes s and the weights from the trusted certificate for this epsilon. */
static tem_status make_calibrated(service *s, const char *model_path, double epsilon,
                                  tem_error *error) {
    char path[PATH_MAX + sizeof ".cert"];
    const tem_calibration wanted = {.epsilon = epsilon};
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    snprintf(path, sizeof path, "%s.cert", model_path);
    tem_status status = tem_certificate_find(path, s->model, &wanted, &certificate, error);
    if (status == TEM_OK) {
        tem_certificate_get_info(certificate, &info);
        status = tem_certificate_trust(&info, s->model, path, error);
    }
    const tem_mechanism_options options = {.epsilon = epsilon, .certificate = certificate};
    if (status == TEM_OK)
        status = tem_mechanism_create(s->model, &options, &s->mechanism, error);
    tem_certificate_free(certificate);
    return status;
}

static tem_status make_mechanism(service *s, const char *model_path, double epsilon,
                                 bool calibrated, tem_error *error) {
    const tem_mechanism_options plain = {.epsilon = epsilon};
    return calibrated ? make_calibrated(s, model_path, epsilon, error)
                      : tem_mechanism_create(s->model, &plain, &s->mechanism, error);
}

/* ---- one connection ---- */

/* Sends all bytes, or fails when the client reads nothing for SEND_SECONDS. */
static bool send_all(int client, const char *bytes, size_t count) {
    while (count > 0) {
        const ssize_t sent = send(client, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool refuse(int client, const char *why) {
    char answer[64];
    const int length = snprintf(answer, sizeof answer, "error %s\n", why);
    send_all(client, answer, (size_t)length);
    return false;
}

/* tem asks this during a long text. */
static int must_stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    const service *s = context;
    return atomic_load(&s->stopping);
}

/* Answers one line. Returns whether to go on with this client. */
static bool answer(worker *w, int client, size_t bytes) {
    const tem_run run = {.threads = 1, .progress = must_stop, .progress_context = w->s};
    tem_error error;
    char *text = NULL;
    size_t length = 0;
    if (tem_privatize_text(w->s->mechanism, NULL, w->rng, w->line, bytes, &run, &text, &length,
                           NULL, &error) != TEM_OK) {
        log_error("a line was refused", &error);
        return refuse(client, tem_status_name(error.status));
    }
    const bool sent =
        send_all(client, "ok ", 3) && send_all(client, text, length) && send_all(client, "\n", 1);
    tem_text_free(text);
    return sent;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the file can be read. Returns false when the service stops or the time is over. */
static bool wait_for(const service *s, int file, int milliseconds) {
    struct pollfd files[] = {{.fd = file, .events = POLLIN},
                             {.fd = s->stop_pipe[0], .events = POLLIN}};
    for (;;) {
        const int ready = poll(files, 2, milliseconds);
        if (ready < 0 && errno == EINTR)
            continue;
        return ready > 0 && files[1].revents == 0;
    }
}

/* Answers the whole lines of the buffer, and moves the rest to its beginning. */
static bool answer_lines(worker *w, int client) {
    char *end = NULL;
    while ((end = memchr(w->line, '\n', w->filled)) != NULL) {
        const size_t bytes = (size_t)(end - w->line);
        if (!answer(w, client, bytes))
            return false;
        w->filled -= bytes + 1;
        memmove(w->line, end + 1, w->filled);
    }
    return w->filled < sizeof w->line || refuse(client, "line too long");
}

static void serve(worker *w, int client) {
    const struct timeval slow = {.tv_sec = SEND_SECONDS};
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &slow, sizeof slow);
    w->filled = 0;
    int64_t end = now_ms() + LINE_MS; /* of the time for the next line */
    while (now_ms() < end && wait_for(w->s, client, (int)(end - now_ms()))) {
        const ssize_t got = recv(client, w->line + w->filled, sizeof w->line - w->filled, 0);
        if (got <= 0) /* a line without an end is not answered: it may have been cut */
            break;
        const bool ends_line = memchr(w->line + w->filled, '\n', (size_t)got) != NULL;
        w->filled += (size_t)got;
        if (!answer_lines(w, client))
            break;
        if (ends_line)
            end = now_ms() + LINE_MS;
    }
}

/* Says that no more comes, and drops what the client still sends, within limits: closing at once
 * would make the system throw away an answer that the client has not read yet. */
static void hang_up(worker *w, int client) {
    shutdown(client, SHUT_WR);
    for (int i = 0; i < DROPPED_MAX && wait_for(w->s, client, LINGER_MS); i++)
        if (recv(client, w->line, sizeof w->line, 0) <= 0)
            break;
    close(client);
    explicit_bzero(w->line, sizeof w->line);
}

static void *work(void *context) {
    worker *w = context;
    while (wait_for(w->s, w->s->listener, -1)) {
        const int client = accept(w->s->listener, NULL, NULL);
        if (client >= 0) { /* else another thread was faster, or the client has gone */
            serve(w, client);
            hang_up(w, client);
        }
    }
    return NULL;
}

/* ---- the service ---- */

/* Listens on the loopback interface, and prints the port. */
static bool listen_on(service *s, uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int yes = 1;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0 ||
        setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(s->listener, (const struct sockaddr *)&address, bytes) != 0 ||
        listen(s->listener, THREADS) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&address, &bytes) != 0) {
        perror("service: cannot listen");
        return false;
    }
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    return fflush(stdout) == 0;
}

/* Starts the threads, waits for a signal, and waits until all threads have ended. */
static int run_until_signal(service *s, const sigset_t *signals) {
    worker *workers = calloc(THREADS, sizeof *workers);
    int started = 0, received = 0;
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    for (; workers != NULL && started < THREADS; started++) {
        worker *w = &workers[started];
        w->s = s;
        if (tem_rng_create(&w->rng, &error) != TEM_OK ||
            pthread_create(&w->thread, NULL, work, w) != 0)
            break;
    }
    if (started == THREADS)
        sigwait(signals, &received);
    else
        log_error("cannot start a thread", &error);
    atomic_store(&s->stopping, true);
    close(s->stop_pipe[1]);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; workers != NULL && i < THREADS; i++)
        tem_rng_free(workers[i].rng); /* erases its key */
    free(workers);
    fputs(received != 0 ? "service: stopped\n" : "", stderr);
    return received != 0 ? 0 : 1;
}

/* Reads numbers whole or not at all: "1.5x" is no epsilon. */
static bool read_arguments(int argc, char **argv, double *epsilon, uint16_t *port,
                           bool *calibrated) {
    char *after_epsilon = NULL, *after_port = NULL;
    if (argc != 3 && !(argc == 4 && strcmp(argv[3], "--calibrated") == 0))
        return false;
    *epsilon = strtod(argv[1], &after_epsilon);
    const long number = strtol(argv[2], &after_port, 10);
    *port = (uint16_t)number;
    *calibrated = argc == 4;
    return argv[1][0] != '\0' && *after_epsilon == '\0' && argv[2][0] != '\0' &&
           *after_port == '\0' && number >= 0 && number <= UINT16_MAX;
}

int main(int argc, char **argv) {
    service s = {.listener = -1, .stop_pipe = {-1, -1}};
    char path[PATH_MAX] = "";
    sigset_t signals;
    tem_error error;
    int status = 1;
    double epsilon = 0;
    uint16_t port = 0;
    bool calibrated = false;
    if (!read_arguments(argc, argv, &epsilon, &port, &calibrated)) {
        fputs("usage: service EPSILON PORT [--calibrated]\n", stderr);
        return 2;
    }
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0}); /* a core dump would contain texts */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before the threads, which inherit it */
    if (open_model(&s, path, &error) != TEM_OK ||
        make_mechanism(&s, path, epsilon, calibrated, &error) != TEM_OK)
        log_error("cannot start", &error);
    else if (pipe(s.stop_pipe) != 0)
        perror("service: cannot start");
    else if (listen_on(&s, port))
        status = run_until_signal(&s, &signals);
    if (s.listener >= 0)
        close(s.listener);
    if (s.stop_pipe[0] >= 0)
        close(s.stop_pipe[0]);
    tem_mechanism_free(s.mechanism);
    tem_model_free(s.model);
    return status;
}
