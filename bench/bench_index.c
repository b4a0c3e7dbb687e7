/* bench_index.c - time to build an index, stage by stage.
 *
 *   bench_index VECTORS LIMIT NEIGHBORS THREADS [MODEL [LISTS COUNT]]
 *
 * LIMIT: number of words to use. MODEL: where to save the model, "-" for nowhere. LISTS:
 * where to write the lists of the first COUNT words, as 32-bit pairs (id, distance), to
 * compare with other libraries. */
#include "bench_common.h"

enum { STAGES_MAX = 16 };

/* Wall time by stage. A stage lasts from its first report to the first report of the next stage. */
typedef struct stages {
    const char *name[STAGES_MAX];
    double seconds[STAGES_MAX];
    unsigned count;
    double since;
} stages;

static void end_stage(stages *s) {
    const double now = bench_now();
    if (s->count > 0)
        s->seconds[s->count - 1] += now - s->since;
    s->since = now;
}

static int watch(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    stages *s = context;
    if (s->count > 0 && strcmp(s->name[s->count - 1], stage) == 0)
        return 0;
    end_stage(s);
    if (s->count < STAGES_MAX)
        s->name[s->count++] = stage;
    return 0;
}

static void print_stages(const stages *s) {
    printf("\"stages\": {");
    for (unsigned i = 0; i < s->count; i++)
        printf("%s\"%s\": %.6f", i > 0 ? ", " : "", s->name[i], s->seconds[i]);
    printf("}, ");
}

static void write_lists(const tem_model *model, const char *path, uint32_t count,
                        uint32_t neighbours) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        bench_die(path, "cannot be written");
    for (uint32_t id = 0; id < count; id++) {
        tem_neighbours n;
        tem_error error;
        bench_need(tem_model_neighbours(model, id, &n, &error), &error);
        if (fwrite(n.list, sizeof *n.list, neighbours, file) !=
            neighbours) /* some lists have more */
            bench_die(path, "cannot be written");
    }
    if (fclose(file) != 0)
        bench_die(path, "cannot be written");
}

int main(int argc, char **argv) {
    if (argc != 5 && argc != 6 && argc != 8)
        bench_die("usage", "bench_index VECTORS LIMIT NEIGHBORS THREADS [MODEL [LISTS COUNT]]");
    stages seen = {.count = 0};
    const tem_build_options options = {.neighbours = (uint32_t)bench_number(argv[3], TEM_WORDS_MAX),
                                       .space = TEM_SPACE_RAW}; /* as the other libraries do */
    const tem_run run = {.threads = (unsigned)bench_number(argv[4], BENCH_THREADS_MAX),
                         .progress = watch,
                         .progress_context = &seen};
    tem_vectors *vectors = NULL;
    tem_model *model = NULL;
    tem_error error;

    const double start = bench_now();
    const tem_run silent = {.threads = run.threads};
    bench_need(
        tem_vectors_load(argv[1], bench_number(argv[2], TEM_WORDS_MAX), &silent, &vectors, &error),
        &error);
    const double loaded = bench_now();
    seen.since = loaded;
    bench_need(tem_model_build(vectors, &options, &run, &model, &error), &error);
    end_stage(&seen);
    const double built = bench_now();
    tem_vectors_free(vectors);
    const uint64_t peak = bench_memory_line("VmHWM:");
    if (argc > 5 && strcmp(argv[5], "-") != 0)
        bench_need(tem_model_save(model, argv[5], TEM_OVERWRITE, &silent, &error), &error);
    const double saved = bench_now();
    if (argc > 6)
        write_lists(model, argv[6], (uint32_t)bench_number(argv[7], TEM_WORDS_MAX),
                    options.neighbours);

    tem_model_info info;
    tem_model_get_info(model, &info);
    printf("{\"words\": %u, \"dimension\": %u, \"neighbours\": %u, \"kernel\": \"%s\", ",
           info.words, info.dimension, info.neighbours, tem_kernel_name());
    print_stages(&seen);
    printf("\"load_s\": %.6f, \"build_s\": %.6f, \"save_s\": %.6f, \"peak_bytes\": %llu}\n",
           loaded - start, built - loaded, saved - built, (unsigned long long)peak);
    tem_model_free(model);
    return 0;
}
