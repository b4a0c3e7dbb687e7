/* trust.c - which certificates this user's programs believe. */
#include "trust.h"

#include "default_model.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_DIGITS = 64 };

/* The path of the list; NULL if the environment does not tell. Relative folders are ignored, as
 * the XDG specification has it. */
static const char *list_path(void) {
    static char path[PATH_MAX];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int needed = -1;
    if (state != NULL && state[0] == '/')
        needed = snprintf(path, sizeof path, "%s/tem/certificates", state);
    else if (home != NULL && home[0] == '/')
        needed = snprintf(path, sizeof path, "%s/.local/state/tem/certificates", home);
    return needed > 0 && (size_t)needed < sizeof path ? path : NULL;
}

static bool say(const char *path, const char *action) {
    fprintf(stderr, "tem: %s: cannot %s: %s\n", path, action, strerror(errno));
    return false;
}

static bool say_no_list(void) {
    fputs("tem: neither $XDG_STATE_HOME nor $HOME names a folder: there is no place to note which "
          "certificates you have made or verified\n",
          stderr);
    return false;
}

/* PRIVACY: what others can write says nothing about what this user has seen. */
static bool is_own(int descriptor) {
    struct stat info;
    return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static void say_not_own(const char *path) {
    fprintf(stderr,
            "tem: %s: ignored: it must be a file of your own that nobody else can write (chmod go-w)\n",
            path);
}

/* The list, if there is one and it is the user's own. */
static FILE *open_list(const char *path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return NULL;
    FILE *list = is_own(descriptor) ? fdopen(descriptor, "r") : NULL;
    if (list != NULL)
        return list;
    say_not_own(path);
    close(descriptor);
    return NULL;
}

static bool is_listed(const char *path, const char *hash) {
    FILE *list = open_list(path);
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (list != NULL && !found && getline(&line, &room, list) > 0)
        found = strlen(line) == HASH_DIGITS + 1 && line[HASH_DIGITS] == '\n' &&
                memcmp(line, hash, HASH_DIGITS) == 0;
    free(line);
    if (list != NULL)
        fclose(list);
    return found;
}

bool trust_has(const tem_certificate_info *certificate) {
    const char *path = list_path();
    return default_model_is_own() || (path != NULL && is_listed(path, certificate->hash));
}

bool trust_require(const tem_certificate_info *certificate) {
    if (trust_has(certificate))
        return true;
    if (list_path() == NULL)
        return say_no_list();
    fprintf(stderr,
            "tem: %s: you have neither made nor verified this certificate; 'tem verify%s' checks it\n",
            default_model_certificates(), default_model_naming());
    return false;
}

/* The folders above the list, each for its owner alone if it is new. */
static bool make_folders(const char *path) {
    char folder[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return say(folder, "make the folder");
    }
    return true;
}

/* The list, to add to; -1 after saying why not. What would be ignored must not look as if it
 * were noted. */
static int open_to_add(const char *path) {
    const int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (descriptor < 0)
        say(path, "open");
    else if (is_own(descriptor))
        return descriptor;
    else
        say_not_own(path);
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

/* One write of a whole line at the end: lines of two processes do not mix. */
static bool append(const char *path, const char *hash) {
    char line[HASH_DIGITS + 2];
    const int length = snprintf(line, sizeof line, "%s\n", hash);
    const int descriptor = open_to_add(path);
    if (descriptor < 0)
        return false;
    const bool written =
        write(descriptor, line, (size_t)length) == length && fsync(descriptor) == 0;
    if (!written)
        say(path, "write");
    close(descriptor);
    return written;
}

bool trust_ready(void) {
    const char *path = list_path();
    if (path == NULL)
        return default_model_is_own() || say_no_list();
    const int descriptor = make_folders(path) ? open_to_add(path) : -1;
    if (descriptor < 0)
        return false;
    close(descriptor);
    return true;
}

bool trust_add(const tem_certificate_info *certificate) {
    const char *path = list_path();
    if (path == NULL)
        return default_model_is_own() || say_no_list();
    if (is_listed(path, certificate->hash))
        return true;
    return make_folders(path) && append(path, certificate->hash);
}
