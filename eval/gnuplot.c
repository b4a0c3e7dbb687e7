/* gnuplot.c - runs gnuplot as a separate process. */
#include "gnuplot.h"

#include "failure.h"
#include "tem_command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool prepare(posix_spawn_file_actions_t *actions, const char *inside, const int files[3]) {
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0 && posix_spawn_file_actions_adddup2(actions, files[i], i) != 0)
            return false;
    return inside == NULL || posix_spawn_file_actions_addchdir_np(actions, inside) == 0;
}

/* Starts the child with the signal mask `mask`. */
static bool spawn(const char *script, const posix_spawn_file_actions_t *actions,
                  const sigset_t *mask, pid_t *child) {
    char *const arguments[] = {"gnuplot", "-d", (char *)script, NULL};
    posix_spawnattr_t attributes;
    if (posix_spawnattr_init(&attributes) != 0)
        return false;
    const bool spawned =
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) == 0 &&
        posix_spawnattr_setsigmask(&attributes, mask) == 0 &&
        posix_spawnp(child, "gnuplot", actions, &attributes, arguments, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    return spawned;
}

/* Returns whether gnuplot succeeded. A signal that the program catches ends gnuplot. `mask` lets
 * signals through only while ppoll waits, so none is missed in between. */
static bool await(pid_t child, const sigset_t *mask) {
    const struct timespec moment = {0, 5000000};
    int status = -1;
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended != 0)
            return ended == child && status == 0;
        if (ppoll(NULL, 0, &moment, mask) < 0) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return false;
        }
    }
}

bool gnuplot_run(const char *script, const char *inside, const int files[3]) {
    posix_spawn_file_actions_t actions;
    sigset_t ours, before;
    pid_t child = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGQUIT);
    sigprocmask(SIG_BLOCK, &ours, &before);
    const bool done = prepare(&actions, inside, files) &&
                      spawn(script, &actions, &before, &child) && await(child, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawn_file_actions_destroy(&actions);
    return done;
}

static bool begins_with(const char *bytes, size_t count, const char *what, size_t length) {
    return count >= length && memcmp(bytes, what, length) == 0;
}

static bool ends_with(const char *bytes, size_t count, const char *what, size_t length) {
    return count >= length && memcmp(bytes + count - length, what, length) == 0;
}

/* Checks the first and last bytes: gnuplot writes the file from start to end. */
static bool is_whole(const char *bytes, size_t count, bool svg) {
    static const char png_begin[] = "\x89PNG\r\n\x1a\n", png_end[] = "IEND\xae\x42\x60\x82";
    static const char svg_begin[] = "<?xml", svg_end[] = "</svg>";
    if (!svg)
        return begins_with(bytes, count, png_begin, sizeof png_begin - 1) &&
               ends_with(bytes, count, png_end, sizeof png_end - 1);
    while (count > 0 && strchr(" \t\r\n", bytes[count - 1]) != NULL && bytes[count - 1] != '\0')
        count--;
    return begins_with(bytes, count, svg_begin, sizeof svg_begin - 1) &&
           ends_with(bytes, count, svg_end, sizeof svg_end - 1);
}

/* Reads a whole file from its start; NULL with errno. */
static char *read_picture(int drawn, size_t *count) {
    struct stat info;
    if (fstat(drawn, &info) != 0)
        return NULL;
    char *bytes = malloc((size_t)info.st_size + 1);
    ssize_t got = 0;
    for (*count = 0; bytes != NULL && *count < (size_t)info.st_size; *count += (size_t)got) {
        got = pread(drawn, bytes + *count, (size_t)info.st_size - *count, (off_t)*count);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
    }
    if (bytes != NULL && got < 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

tem_status gnuplot_keep(int drawn, const char *path, tem_error *error) {
    size_t count = 0;
    char *bytes = read_picture(drawn, &count);
    if (bytes == NULL)
        return eval_fail_at(error, TEM_ERR_FILE, path, 0, "cannot read gnuplot's picture");
    const bool whole = is_whole(bytes, count, ends_with(path, strlen(path), ".svg", 4));
    const tem_status status =
        whole ? tem_file_write(path, bytes, count, TEM_OVERWRITE, TEM_READERS_USUAL, error)
              : eval_fail_at(error, TEM_ERR_FORMAT, path, 0,
                             "gnuplot did not draw the whole picture; disk or memory may be full");
    free(bytes);
    return status;
}
