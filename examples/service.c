/* service.c - a long-running service: each line that a client sends comes back as private text.
 *
 *   service EPSILON PORT [--calibrated | --language-model L] [--mechanism M]
 *
 * It serves 127.0.0.1:PORT (0: any free port, which it prints) until SIGTERM or SIGINT. For each
 * line it answers "ok TEXT", or "error STATUS" and then closes the connection. It uses the default
 * model ($TEM_MODEL, or the one installed with tem; docs/C.md says which models it trusts). With
 * --calibrated it takes the certificate for EPSILON beside the model ('tem info' lists them). That
 * is less noise at the same EPSILON: choose EPSILON for the mechanism that you use
 * (docs/EPSILON.md). M is the mechanism, tem unless it is given. With a language model, "english"
 * or a FILE.temlm that you trust ('tem verify'), each line is a document that is drawn in context:
 * it reads like text, and EPSILON means another bound (docs/PRIVACY.md).
 *
 * What a service must get right:
 *  - Model and mechanism are made once and shared; every thread has a generator of its own.
 *  - A client that waits holds no thread: the main thread watches all of them, and a worker gets
 *    one only while there is something to read, to draw or to send.
 *  - Everything is bounded: threads, clients, the length of a line, the lines of a connection, how
 *    long a line may take to arrive and its answer to be read. If all places are taken, the client
 *    that was silent longest loses its place to a new one.
 *  - If anything fails, nothing of the text goes out: no text in answers, logs or core dumps.
 *  - It does not notice if its clients send the very lines that the language model was made of,
 *    which the file of that model shows: for that, add up the counts of tem_privatize_text and ask
 *    tem_counts_are_public now and then.
 *  - On a signal it finishes or cancels what it does, closes all connections and frees everything.
 *
 * The texts cross the socket as they are, so it is on the loopback interface alone. Each line costs
 * its owner words times EPSILON; tem_job_charge keeps the accounts. */
#include <tem.h>
#include <tem_account.h>
#include <tem_language.h>

#include <errno.h>
#include <fcntl.h>
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
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 4,
    CLIENTS = 64,
    LINE_BYTES = 1 << 16,
    LINES_MAX = 1000, /* of a connection */
    LINE_MS = 30000,
    ANSWER_MS = 5000,
    LINGER_MS = 1000,
    DROPPED_MAX = 16
};

/* Workers move a client from READY to BUSY, and on from BUSY; all other moves are those of the main
 * thread. */
typedef enum client_state {
    FREE,    /* nobody has this place */
    READING, /* its next line has not arrived */
    WRITING, /* it has not read its answer */
    READY,   /* for a worker */
    BUSY,    /* a worker has it */
    ENDING,  /* it has its last answer; what it still sends is dropped */
    CLOSED   /* the connection is to be closed */
} client_state;

typedef struct client {
    client_state state;
    int socket;
    int64_t deadline,
        active; /* when its state ends at the latest; when it last got something done */
    int lines, dropped;
    bool is_last; /* hang up after this answer */
    char *answer;
    size_t answer_bytes, sent;
    char line[LINE_BYTES]; /* what the client has sent: private */
    size_t filled;
} client;

/* Shared by all threads. `lock` protects the states of the clients. */
typedef struct service {
    tem_model *model;
    tem_language *language; /* or NULL: words are drawn one by one */
    tem_mechanism *mechanism;
    int listener, signals;
    int wake[2]; /* a worker writes a byte when it gives a client back */
    pthread_mutex_t lock;
    pthread_cond_t ready;
    client *clients; /* CLIENTS of them */
    int turn;        /* workers begin here to look for one that is ready */
    atomic_bool stopping;
} service;

typedef struct worker {
    service *s;
    pthread_t thread;
    tem_rng *rng;
} worker;

/* What the command line says. */
typedef struct arguments {
    double epsilon;
    uint16_t port;
    bool calibrated;
    const char *mechanism, *language; /* NULL: not given */
} arguments;

/* ---- what tem needs ---- */

/* Logs why something failed. A tem_error never contains a word of a text. */
static void log_error(const char *what, const tem_error *error) {
    fprintf(stderr, "service: %s: %s%s%s (%s)\n", what, error->file,
            error->file[0] != '\0' ? ": " : "", error->message, tem_status_name(error->status));
}

/* Where the model and the language model of general English may be: beside the program, or where
 * tem is installed. */
enum { FOLDERS = 3 };

static const char *const *folders(void) {
    static char program[PATH_MAX];
    static const char *const all[FOLDERS] = {program, "/usr/local/bin", "/usr/bin"};
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    return all;
}

static tem_status open_model(service *s, char path[PATH_MAX], int *is_own, tem_error *error) {
    tem_status status = tem_model_find_default(folders(), FOLDERS, path, PATH_MAX, is_own, error);
    if (status == TEM_OK)
        status = tem_model_open(path, &s->model, error);
    return status == TEM_OK ? tem_model_accept(s->model, NULL, *is_own, NULL, error) : status;
}

/* Opens a language model that came with tem, or that the user trusts: its tables decide what is
 * drawn. */
static tem_status open_language(service *s, const char *name, const char *model_path,
                                int model_is_own, tem_error *error) {
    char path[PATH_MAX];
    int is_own = 0;
    tem_status status = TEM_OK;
    if (name == NULL || strcmp(name, "none") == 0)
        return TEM_OK;
    if (strcmp(name, "english") == 0)
        status = tem_language_find_english(model_path, model_is_own, folders(), FOLDERS, path,
                                           sizeof path, &is_own, error);
    if (status == TEM_OK)
        status = tem_language_open(s->model, strcmp(name, "english") == 0 ? path : name,
                                   &s->language, error);
    if (status == TEM_OK && is_own)
        tem_language_trust_own(s->language);
    return status == TEM_OK && !is_own ? tem_language_trust(s->language, NULL, error) : status;
}

/* Takes s and the weights from the trusted certificate for this epsilon. */
static tem_status make_calibrated(service *s, const char *model_path,
                                  const tem_mechanism_options *plain, tem_error *error) {
    char path[PATH_MAX + sizeof ".cert"];
    const tem_calibration wanted = {.epsilon = plain->epsilon};
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    snprintf(path, sizeof path, "%s.cert", model_path);
    tem_status status = tem_certificate_find(path, s->model, &wanted, &certificate, error);
    if (status == TEM_OK) {
        tem_certificate_get_info(certificate, &info);
        status = tem_certificate_trust(&info, s->model, path, error);
    }
    tem_mechanism_options options = *plain;
    options.certificate = certificate;
    if (status == TEM_OK)
        status = tem_mechanism_create(s->model, &options, &s->mechanism, error);
    tem_certificate_free(certificate);
    return status;
}

/* PRIVACY: refuses a mechanism without a guarantee, and a certificate beside a language model, as
 * the library does. */
static tem_status make_mechanism(service *s, const char *model_path, const arguments *a,
                                 tem_error *error) {
    const tem_mechanism_options plain = {
        .epsilon = a->epsilon, .mechanism = a->mechanism, .language = s->language};
    return a->calibrated ? make_calibrated(s, model_path, &plain, error)
                         : tem_mechanism_create(s->model, &plain, &s->mechanism, error);
}

static tem_status prepare(service *s, const arguments *a, tem_error *error) {
    char path[PATH_MAX] = "";
    int is_own = 0;
    tem_status status = open_model(s, path, &is_own, error);
    if (status == TEM_OK)
        status = open_language(s, a->language, path, is_own, error);
    return status == TEM_OK ? make_mechanism(s, path, a, error) : status;
}

/* PRIVACY: a mechanism may promise less than an exact bound. */
static void warn_if_not_private(const service *s) {
    const tem_job job = {.dry_run = 0};
    const char *why = tem_job_why_not_private(s->mechanism, &job);
    if (why != NULL)
        fprintf(stderr, "service: warning: the output is NOT private: %s\n", why);
}

/* ---- one client, by a worker ---- */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_until(client *c, int milliseconds) {
    c->active = now_ms();
    c->deadline = c->active + milliseconds;
}

/* Makes an answer: both parts and a line end. Without memory, an empty one and the end. */
static void set_answer(client *c, const char *before, const char *text, size_t bytes) {
    const size_t length = strlen(before);
    c->answer = malloc(length + bytes + 1);
    c->is_last |= c->answer == NULL;
    c->answer_bytes = c->answer == NULL ? 0 : length + bytes + 1;
    c->sent = 0;
    if (c->answer != NULL) {
        memcpy(c->answer, before, length);
        memcpy(c->answer + length, text, bytes);
        c->answer[length + bytes] = '\n';
    }
    wait_until(c, ANSWER_MS);
}

static void refuse(client *c, const char *why) {
    c->is_last = true;
    set_answer(c, "error ", why, strlen(why));
}

/* tem asks this during a long text. */
static int must_stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    const service *s = context;
    return atomic_load(&s->stopping);
}

static void answer(worker *w, client *c, size_t bytes) {
    const tem_run run = {.threads = 1, .progress = must_stop, .progress_context = w->s};
    tem_error error;
    char *text = NULL;
    size_t length = 0;
    if (tem_privatize_text(w->s->mechanism, NULL, w->rng, c->line, bytes, &run, &text, &length,
                           NULL, &error) == TEM_OK) {
        set_answer(c, "ok ", text, length);
    } else {
        log_error("a line was refused", &error);
        refuse(c, tem_status_name(error.status));
    }
    tem_text_free(text);
}

/* Answers the next whole line of the buffer, and moves the rest to its beginning. Returns false if
 * there is none. */
static bool answer_line(worker *w, client *c) {
    const char *end = memchr(c->line, '\n', c->filled);
    if (end == NULL && c->filled < sizeof c->line)
        return false;
    if (end == NULL) {
        refuse(c, "line too long");
    } else if (c->lines++ == LINES_MAX) {
        refuse(c, "too many lines");
    } else {
        const size_t bytes = (size_t)(end - c->line);
        answer(w, c, bytes);
        c->filled -= bytes + 1;
        memmove(c->line, end + 1, c->filled);
    }
    return true;
}

static bool would_wait(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Sends what the client takes of its answer at once. Returns READING when it has all of it. */
static client_state send_answer(client *c) {
    while (c->sent < c->answer_bytes) {
        const ssize_t sent = send(c->socket, c->answer + c->sent, c->answer_bytes - c->sent,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            return sent < 0 && would_wait() ? WRITING : CLOSED;
        c->sent += (size_t)sent;
    }
    if (c->answer != NULL)
        wait_until(c, LINE_MS);
    free(c->answer);
    c->answer = NULL;
    c->answer_bytes = c->sent = 0;
    return c->is_last ? ENDING : READING;
}

/* Takes what the client has sent. Returns READY if that is something. */
static client_state receive(client *c) {
    const ssize_t got =
        recv(c->socket, c->line + c->filled, sizeof c->line - c->filled, MSG_DONTWAIT);
    if (got <= 0) /* a line without an end is not answered: it may have been cut */
        return got < 0 && would_wait() ? READING : CLOSED;
    c->filled += (size_t)got;
    return READY;
}

/* Serves a client as long as nobody has to wait for it, and at most one buffer of lines. Returns
 * its next state. */
static client_state serve(worker *w, client *c) {
    for (bool has_received = false;;) {
        const client_state sent = send_answer(c);
        if (sent != READING)
            return sent;
        if (answer_line(w, c))
            continue;
        if (has_received)
            return READING;
        const client_state received = receive(c);
        if (received != READY)
            return received;
        has_received = true;
    }
}

/* Waits for a client that is ready; NULL when the service stops. */
static client *take_ready(service *s) {
    client *found = NULL;
    pthread_mutex_lock(&s->lock);
    while (found == NULL && !atomic_load(&s->stopping)) {
        for (int i = 0; i < CLIENTS && found == NULL; i++) {
            client *c = &s->clients[(s->turn + i) % CLIENTS];
            found = c->state == READY ? c : NULL;
        }
        if (found == NULL)
            pthread_cond_wait(&s->ready, &s->lock);
    }
    if (found != NULL) {
        found->state = BUSY;
        s->turn = (int)(found - s->clients) + 1;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static void *work(void *context) {
    worker *w = context;
    for (client *c; (c = take_ready(w->s)) != NULL;) {
        const client_state next = serve(w, c);
        if (next == ENDING) {
            shutdown(c->socket, SHUT_WR);
            c->deadline = now_ms() + LINGER_MS;
        }
        pthread_mutex_lock(&w->s->lock);
        c->state = next;
        pthread_mutex_unlock(&w->s->lock);
        const ssize_t woken = write(w->s->wake[1], "", 1);
        (void)woken; /* a full pipe wakes as well */
    }
    return NULL;
}

/* ---- all clients, by the main thread ---- */

static void close_client(client *c) {
    close(c->socket);
    free(c->answer);
    explicit_bzero(c, sizeof *c); /* leaves it FREE */
}

/* A place for a new client: a free one, or that of the client that was silent longest. NULL if
 * workers have all of them. */
static client *find_place(service *s) {
    client *best = NULL;
    for (int i = 0; i < CLIENTS; i++) {
        client *c = &s->clients[i];
        if (c->state == FREE)
            return c;
        if (c->state != READY && c->state != BUSY && (best == NULL || c->active < best->active))
            best = c;
    }
    if (best != NULL)
        close_client(best);
    return best;
}

static void accept_client(service *s) {
    const int socket = accept(s->listener, NULL, NULL);
    client *c = socket >= 0 ? find_place(s) : NULL;
    if (c != NULL) {
        c->socket = socket;
        c->state = READING;
        wait_until(c, LINE_MS);
    } else if (socket >= 0) {
        close(socket);
    }
}

/* Drops what a client sends after its last answer, within limits: closing at once would make the
 * system throw away an answer that the client has not read yet. */
static void drop_input(client *c) {
    const ssize_t got = recv(c->socket, c->line, sizeof c->line, MSG_DONTWAIT);
    if ((got <= 0 && !(got < 0 && would_wait())) || ++c->dropped >= DROPPED_MAX)
        c->state = CLOSED;
}

/* Reacts to what poll says about a client. */
static void notice(service *s, client *c) {
    if (c->state == ENDING) {
        drop_input(c);
    } else if (c->state == READING || c->state == WRITING) {
        c->state = READY;
        pthread_cond_signal(&s->ready);
    }
}

/* Closes the clients whose time is over, and lists the others that wait. files[i] is for client i.
 * Returns the milliseconds until the next one is overdue, or -1. */
static int watch_clients(service *s, struct pollfd *files) {
    const int64_t now = now_ms();
    int64_t next = INT64_MAX;
    for (int i = 0; i < CLIENTS; i++) {
        client *c = &s->clients[i];
        const bool waits = c->state == READING || c->state == WRITING || c->state == ENDING;
        if (c->state == CLOSED || (waits && c->deadline <= now))
            close_client(c);
        else if (waits && c->deadline < next)
            next = c->deadline;
        files[i].fd = c->state != FREE && waits ? c->socket : -1;
        files[i].events = c->state == WRITING ? POLLOUT : POLLIN;
        files[i].revents = 0;
    }
    return next == INT64_MAX ? -1 : (int)(next - now);
}

/* Serves until a signal comes. */
static void serve_all(service *s) {
    struct pollfd files[CLIENTS + 3];
    char bytes[CLIENTS];
    files[CLIENTS] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    files[CLIENTS + 1] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
    files[CLIENTS + 2] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (;;) {
        pthread_mutex_lock(&s->lock);
        const int milliseconds = watch_clients(s, files);
        pthread_mutex_unlock(&s->lock);
        if (poll(files, CLIENTS + 3, milliseconds) <= 0)
            continue;
        if (files[CLIENTS].revents != 0)
            return;
        if (files[CLIENTS + 1].revents != 0 && read(s->wake[0], bytes, sizeof bytes) < 0)
            return;
        pthread_mutex_lock(&s->lock);
        for (int i = 0; i < CLIENTS; i++)
            if (files[i].revents != 0)
                notice(s, &s->clients[i]);
        if (files[CLIENTS + 2].revents != 0)
            accept_client(s);
        pthread_mutex_unlock(&s->lock);
    }
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
        listen(s->listener, CLIENTS) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&address, &bytes) != 0) {
        perror("service: cannot listen");
        return false;
    }
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    return fflush(stdout) == 0;
}

/* Starts the threads, serves until a signal comes, and waits until all threads have ended. */
static int run_until_signal(service *s) {
    worker workers[THREADS] = {0};
    int started = 0;
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    for (; started < THREADS; started++) {
        worker *w = &workers[started];
        w->s = s;
        if (tem_rng_create(&w->rng, &error) != TEM_OK ||
            pthread_create(&w->thread, NULL, work, w) != 0)
            break;
    }
    if (started == THREADS)
        serve_all(s);
    else
        log_error("cannot start a thread", &error);
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->stopping, true);
    pthread_cond_broadcast(&s->ready);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        tem_rng_free(workers[i].rng); /* erases its key */
    for (int i = 0; i < CLIENTS; i++)
        if (s->clients[i].state != FREE)
            close_client(&s->clients[i]);
    fputs(started == THREADS ? "service: stopped\n" : "", stderr);
    return started == THREADS ? 0 : 1;
}

/* Makes signals readable like a file. Call this before the threads, which inherit the mask. */
static bool open_files(service *s) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    s->signals = signalfd(-1, &signals, SFD_CLOEXEC);
    s->clients = calloc(CLIENTS, sizeof *s->clients);
    if (s->signals < 0 || s->clients == NULL || pipe(s->wake) != 0) {
        perror("service: cannot start");
        return false;
    }
    fcntl(s->wake[1], F_SETFL, O_NONBLOCK);
    return true;
}

static void close_files(service *s) {
    const int files[] = {s->listener, s->signals, s->wake[0], s->wake[1]};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(s->clients);
}

static bool read_options(int argc, char **argv, arguments *a) {
    for (int i = 3; i < argc; i++) {
        const char **value = strcmp(argv[i], "--mechanism") == 0        ? &a->mechanism
                             : strcmp(argv[i], "--language-model") == 0 ? &a->language
                                                                        : NULL;
        if (strcmp(argv[i], "--calibrated") == 0)
            a->calibrated = true;
        else if (value == NULL || i + 1 == argc)
            return false;
        else
            *value = argv[++i];
    }
    return true;
}

/* Reads numbers whole or not at all: "1.5x" is no epsilon. */
static bool read_arguments(int argc, char **argv, arguments *a) {
    char *after_epsilon = NULL, *after_port = NULL;
    if (argc < 3 || !read_options(argc, argv, a))
        return false;
    a->epsilon = strtod(argv[1], &after_epsilon);
    const long number = strtol(argv[2], &after_port, 10);
    a->port = (uint16_t)number;
    return argv[1][0] != '\0' && *after_epsilon == '\0' && argv[2][0] != '\0' &&
           *after_port == '\0' && number >= 0 && number <= UINT16_MAX;
}

int main(int argc, char **argv) {
    service s = {.listener = -1,
                 .signals = -1,
                 .wake = {-1, -1},
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .ready = PTHREAD_COND_INITIALIZER};
    tem_error error;
    int status = 1;
    arguments given = {.epsilon = 0};
    if (!read_arguments(argc, argv, &given)) {
        fputs("usage: service EPSILON PORT [--calibrated | --language-model L] [--mechanism M]\n",
              stderr);
        return 2;
    }
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0}); /* a core dump would contain texts */
    if (prepare(&s, &given, &error) != TEM_OK)
        log_error("cannot start", &error);
    else if (open_files(&s) && listen_on(&s, given.port)) {
        warn_if_not_private(&s);
        status = run_until_signal(&s);
    }
    close_files(&s);
    tem_mechanism_free(s.mechanism);
    tem_language_free(s.language);
    tem_model_free(s.model);
    return status;
}
