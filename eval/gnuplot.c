/* gnuplot.c - runs gnuplot, a process of its own. */
#include "gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>

extern char **environ;

static bool prepare(posix_spawn_file_actions_t *actions, const char *inside, const int files[3]) {
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0 && posix_spawn_file_actions_adddup2(actions, files[i], i) != 0)
            return false;
    return inside == NULL || posix_spawn_file_actions_addchdir_np(actions, inside) == 0;
}

bool gnuplot_run(const char *script, const char *inside, const int files[3]) {
    char *const arguments[] = {"gnuplot", "-d", (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    const bool spawned = prepare(&actions, inside, files) &&
                         posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    while (spawned && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return spawned && status == 0;
}
