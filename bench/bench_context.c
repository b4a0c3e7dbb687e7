/* bench_context.c - words drawn per second in context, in steady state.
 *
 *   bench_context MODEL LANGUAGE KIND EPSILON THREADS SECONDS LINES TEXT [NAME=VALUE...]
 *
 * Draws for the first LINES lines of TEXT, each a document, by tem_privatize_ids: again and again
 * until SECONDS have passed, after one pass that is not counted. LANGUAGE: a file NAME.temlm, or
 * `none`. NAME=VALUE: numbers of the mechanism, such as c=5. words_per_cpu_s counts the CPU time of
 * all threads, which other programs on a busy machine change less than words_per_s. */
#include "bench_common.h"

#include <tem_language.h>

enum { NUMBERS_MAX = 8 };

typedef struct documents {
    tem_ids_input *inputs;
    size_t count;
    uint64_t words;
    uint32_t *out; /* for all words */
} documents;

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tem_ids_input cut(const tem_model *model, const char *line) {
    tem_error error;
    const size_t bytes = strlen(line), most = bytes + 1;
    uint32_t *ids = bench_memory(most * sizeof *ids);
    tem_ids_input input = {.ids = ids};
    bench_need(tem_model_pieces(model, line, bytes, ids, most, &input.count, &error), &error);
    return input;
}

static documents read_documents(const tem_model *model, const char *path, size_t most) {
    documents d = {.inputs = bench_memory(most * sizeof *d.inputs)};
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    if (file == NULL)
        bench_die(path, "cannot be read");
    while (d.count < most && getline(&line, &room, file) > 0) {
        d.inputs[d.count] = cut(model, line);
        d.words += d.inputs[d.count++].count;
    }
    fclose(file);
    free(line);
    if (d.words == 0)
        bench_die(path, "has no words");
    d.out = bench_memory(d.words * sizeof *d.out);
    return d;
}

static void set_numbers(tem_parameter_value *numbers, char **given, int count) {
    for (int i = 0; i < count && i < NUMBERS_MAX; i++) {
        char *value = strchr(given[i], '=');
        if (value == NULL)
            bench_die(given[i], "expected NAME=VALUE");
        *value = '\0';
        numbers[i] = (tem_parameter_value){given[i], bench_real(value + 1)};
    }
}

static void draw_all(const tem_mechanism *mechanism, const documents *d, unsigned threads) {
    const tem_run run = {.threads = threads};
    tem_error error;
    bench_need(
        tem_privatize_ids(mechanism, NULL, d->inputs, d->count, &run, d->out, NULL, NULL, &error),
        &error);
}

/* The share of the words that the last pass left as they are. */
static double share_that_stays(const documents *d) {
    const uint32_t *out = d->out;
    uint64_t same = 0;
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < d->inputs[i].count; k++)
            same += *out++ == d->inputs[i].ids[k];
    return (double)same / (double)d->words;
}

int main(int argc, char **argv) {
    if (argc < 9)
        bench_die("usage", "bench_context MODEL LANGUAGE KIND EPSILON THREADS SECONDS LINES TEXT "
                           "[NAME=VALUE...]");
    tem_model *model = NULL;
    tem_language *language = NULL;
    tem_mechanism *mechanism = NULL;
    tem_error error;
    tem_parameter_value numbers[NUMBERS_MAX + 1] = {{NULL, 0}};
    const unsigned threads = (unsigned)bench_number(argv[5], BENCH_THREADS_MAX);
    const double seconds = bench_real(argv[6]);
    set_numbers(numbers, argv + 9, argc - 9);
    bench_need(tem_model_open(argv[1], &model, &error), &error);
    tem_model_trust_own(model);
    const documents d = read_documents(model, argv[8], bench_number(argv[7], UINT32_MAX));

    const double start = bench_now();
    if (strcmp(argv[2], "none") != 0) {
        bench_need(tem_language_open(model, argv[2], &language, &error), &error);
        tem_language_trust_own(language);
    }
    const tem_mechanism_options options = {.mechanism = argv[3],
                                           .epsilon = bench_real(argv[4]),
                                           .numbers = numbers,
                                           .language = language};
    bench_need(tem_mechanism_create(model, &options, &mechanism, &error), &error);
    const double created = bench_now();
    draw_all(mechanism, &d, threads);

    const double from = bench_now(), cpu = cpu_now();
    uint64_t words = 0;
    do {
        draw_all(mechanism, &d, threads);
        words += d.words;
    } while (bench_now() - from < seconds);
    printf("{\"words_per_s\": %.0f, \"words_per_cpu_s\": %.0f, \"words\": %llu, \"open_s\": %.6f, "
           "\"stays\": %.6f, \"peak_bytes\": %llu}\n",
           (double)words / (bench_now() - from), (double)words / (cpu_now() - cpu),
           (unsigned long long)words, created - start, share_that_stays(&d),
           (unsigned long long)bench_memory_line("VmHWM:"));
    tem_mechanism_free(mechanism);
    tem_language_free(language);
    tem_model_free(model);
    return 0; /* the documents end with the program */
}
