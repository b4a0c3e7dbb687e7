/* prepared.c - prepares vectors as tem build does, and shows them before the grid.
 *
 *   prepared VECTORS DIMENSIONS REMOVE DROP THREADS
 *       writes the prepared vectors to stdout, as floats, row by row; tests/check-prepare compares
 *       them with NumPy. On stderr: the recipe. Exit 1 with the message if tem refuses.
 *   prepared --made WORDS COLUMNS DIMENSIONS THREADS
 *       prepares pseudo-random vectors, and prints CPU time, wall time and peak memory */
#include "core/memory.h"
#include "model/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int prepare_file(char *const *argument) {
    const tem_run run = {.threads = (unsigned)atoi(argument[4])};
    const tem_build_options options = {.space = TEM_SPACE_SPHERE,
                                       .dimensions = (uint32_t)atoi(argument[1]),
                                       .remove = (uint32_t)atoi(argument[2]),
                                       .drop_degenerate = atoi(argument[3])};
    tem_vectors *given = NULL, *made = NULL;
    tem_error error;
    if (vectors_load(argument[0], 0, &run, &given, &error) != TEM_OK ||
        prepare_vectors(given, &options, &run, &made, &error) != TEM_OK) {
        fprintf(stderr, "line %llu: %s\n", (unsigned long long)error.line, error.message);
        return 1;
    }
    const tem_recipe *r = &made->recipe;
    fprintf(stderr, "%u %u %u %u %u %.17g %.17g %.17g\n", r->given_words, r->given_columns,
            r->dimensions, r->removed, r->dropped, r->kept, r->rms_distance, r->scale);
    const size_t numbers = (size_t)made->words.count * made->dimension;
    const bool written = fwrite(made->values, sizeof *made->values, numbers, stdout) == numbers;
    vectors_free(made);
    vectors_free(given);
    return written ? 0 : 1;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Makes vectors without a file. Some columns have more variance than others. */
static tem_vectors make_vectors(uint32_t count, uint32_t columns) {
    tem_vectors made = {.dimension = columns, .format = "made"};
    word_span *spans = core_alloc(count, sizeof *spans);
    char(*names)[16] = core_alloc(count, sizeof *names);
    made.values = core_alloc(count, columns * sizeof *made.values);
    if (spans == NULL || names == NULL || made.values == NULL)
        exit(1);
    uint64_t state = 1;
    for (uint32_t id = 0; id < count; id++) {
        spans[id] = (word_span){names[id], (size_t)snprintf(names[id], sizeof *names, "w%u", id)};
        for (uint32_t i = 0; i < columns; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            made.values[(size_t)id * columns + i] =
                ((float)(state >> 40) / 8388608.0F - 1) / (float)(1 + i % 17);
        }
    }
    vocab_fault fault;
    if (vocab_make(spans, count, &made.words, &fault) != TEM_OK)
        exit(1);
    core_free(spans);
    core_free(names);
    return made;
}

static int measure(char *const *argument) {
    const tem_vectors given =
        make_vectors((uint32_t)atoi(argument[0]), (uint32_t)atoi(argument[1]));
    const tem_build_options options = {.space = TEM_SPACE_SPHERE,
                                       .dimensions = (uint32_t)atoi(argument[2])};
    const tem_run run = {.threads = (unsigned)atoi(argument[3])};
    tem_vectors *made = NULL;
    tem_error error;
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (prepare_vectors(&given, &options, &run, &made, &error) != TEM_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%.1f s of CPU time, %.1f s of wall time, peak %.2f GiB\n",
           seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - wall,
           (double)used.ru_maxrss / 1048576);
    return 0;
}

int main(int count, char **argument) {
    if (count == 6 && strcmp(argument[1], "--made") == 0)
        return measure(argument + 2);
    if (count == 6)
        return prepare_file(argument + 1);
    fputs("usage: prepared VECTORS DIMENSIONS REMOVE DROP THREADS\n"
          "       prepared --made WORDS COLUMNS DIMENSIONS THREADS\n",
          stderr);
    return 2;
}
