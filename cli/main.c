/* main.c - the command `tem`: finds the command's function and calls it. */
#include "commands.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char *const *argv);
    const char *help;
} commands[] = {
    {"privatize", command_privatize, "replace every word of a text by a private one"},
    {"build", command_build, "make a model from an embedding file"},
    {"explain", command_explain, "show what one word is replaced by, and how likely"},
    {"choose", command_choose, "find the epsilon for a target, such as how often words change"},
    {"audit", command_audit, "tell what an epsilon really protects on a vocabulary"},
    {"calibrate", command_calibrate, "prove a larger exponent for an epsilon, and keep the proof"},
    {"eval", command_eval, "measure what a mechanism costs, and what an attacker finds"},
    {"info", command_info, "tell what a model holds"},
    {"verify", command_verify, "check a model and recompute all it claims"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void) {
    puts("tem - private text by metric differential privacy\n"
         "\n"
         "usage: tem COMMAND [OPTIONS] [ARGUMENTS]\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    puts("\n"
         "'tem COMMAND --help' explains one. 'tem --version' tells the version.\n"
         "Without -m MODEL a command uses $TEM_MODEL, else the default model.\n"
         "\n"
         "  echo \"the movie was wonderful\" | tem privatize --epsilon 3\n"
         "  tem explain --epsilon 3 wonderful    what becomes of a word, and how likely\n"
         "\n"
         "Exit status: 0 done, 1 failed, 2 wrong usage.");
}

/* Lets tests and measurements choose the kernel. */
static int force_kernel(void) {
    tem_error error;
    const char *name = getenv("TEM_KERNEL");
    if (name == NULL || tem_kernel_force(name, &error) == TEM_OK)
        return EXIT_DONE;
    return talk_usage("", "TEM_KERNEL: %s", error.message);
}

/* Output that did not reach its destination is a failure. */
static int close_output(int status) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("tem: cannot write");
        return EXIT_FAILED;
    }
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return talk_usage("", "a command is needed");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help();
        return close_output(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tem %s\n", tem_version());
        return close_output(EXIT_DONE);
    }
    if (force_kernel() != EXIT_DONE)
        return EXIT_USAGE;
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return close_output(talk_finish(commands[i].run(argc - 1, argv + 1)));
    return talk_usage("", "unknown command '%s'", argv[1]);
}
