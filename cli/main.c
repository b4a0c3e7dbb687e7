/* main.c - the command `tem`: finds the command's function and calls it. */
#include "commands.h"
#include "near_name.h"
#include "talk.h"
#include "wrap.h"

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
    {"adapt", command_adapt, "make a model that keeps chosen public signals"},
    {"explain", command_explain, "show which words replace a word, and how likely"},
    {"nearest", command_nearest, "list the words that are nearest to a word"},
    {"loss", command_loss, "show how well an output tells two words apart"},
    {"distance", command_distance, "measure how far two documents are apart"},
    {"choose", command_choose, "find the epsilon for a target, such as how often words change"},
    {"compare", command_compare, "show all mechanisms side by side at equal attack"},
    {"audit", command_audit, "show what an epsilon really protects on a vocabulary"},
    {"calibrate", command_calibrate, "prove a larger exponent for an epsilon, and keep the proof"},
    {"eval", command_eval, "measure what a mechanism costs, and what an attacker finds"},
    {"posterior", command_posterior, "make vectors for learning from released text"},
    {"train", command_train, "make vectors from a public hierarchy"},
    {"vectors", command_vectors, "make word vectors from a public text"},
    {"estimate", command_estimate, "estimate how often words were in the original of a text"},
    {"ngram", command_ngram, "make language models of public texts: which words follow which"},
    {"attack", command_attack, "guess the words behind released text, as an attacker would"},
    {"mechanisms", command_mechanisms, "list the mechanisms, what each claims and what it takes"},
    {"info", command_info, "show what a model holds"},
    {"verify", command_verify, "recompute a model and its certificates, and trust them"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void) {
    wrap("tem - private text by metric differential privacy\n"
         "\n"
         "usage: tem COMMAND [OPTIONS] [ARGUMENTS]\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s  %s\n", commands[i].name, commands[i].help);
    wrap("\n"
         "'tem COMMAND --help' or 'tem help COMMAND' explains a command; 'tem --version' prints\n"
         "the version.\n"
         "Without -m MODEL a command uses $TEM_MODEL, else the default model.\n"
         "\n"
         "  echo \"the movie was wonderful\" | tem privatize --epsilon 2\n"
         "  tem explain --epsilon 2 wonderful    which words replace it, and how likely\n"
         "\n"
         "Exit status: 0 done, 1 failed, 2 wrong usage.");
}

/* $TEM_KERNEL chooses the kernel, for tests and measurements. */
static int force_kernel(void) {
    tem_error error;
    const char *name = getenv("TEM_KERNEL");
    if (name == NULL || tem_kernel_force(name, &error) == TEM_OK)
        return EXIT_DONE;
    return talk_usage("", "TEM_KERNEL: %s", error.message);
}

/* A command fails if its output could not be written. */
static int close_output(int status) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("tem: cannot write");
        return EXIT_FAILED;
    }
    return status;
}

static int refuse_command(const char *typed) {
    static const char *const flags[] = {"help", "version"};
    const char *letters = typed + strspn(typed, "-");
    near_name near = near_name_for(letters, strlen(letters));
    for (int i = 0; i < COMMANDS; i++)
        near_name_look(&near, "", commands[i].name, strlen(commands[i].name));
    for (int i = 0; i < 2; i++)
        near_name_look(&near, "--", flags[i], strlen(flags[i]));
    return talk_usage("", "unknown command '%s'%s", typed, near_name_hint(&near));
}

/* The name of a command in American spelling. */
static const char *american(const char *name) {
    return strcmp(name, "privatise") == 0 ? "privatize" : name;
}

static int run_command(int argc, char *const *argv) {
    const char *name = american(argv[0]);
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return close_output(talk_finish(commands[i].run(argc, argv)));
    return refuse_command(argv[0]);
}

/* `tem help COMMAND` is `tem COMMAND --help`. */
static int help_with(char *command) {
    char help[] = "--help";
    char *const arguments[] = {command, help, NULL};
    return run_command(2, arguments);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return talk_usage("", "a command is needed");
    const bool help = strcmp(argv[1], "help") == 0;
    if (help && argc > 2)
        return help_with(argv[2]);
    if (help || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return close_output(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tem %s\n", tem_version());
        return close_output(EXIT_DONE);
    }
    if (force_kernel() != EXIT_DONE)
        return EXIT_USAGE;
    return run_command(argc - 1, argv + 1);
}
