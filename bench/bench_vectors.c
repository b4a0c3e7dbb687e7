/* bench_vectors.c - the vectors of a model, for programs that do not read models.
 *
 *   bench_vectors MODEL RAW BINARY
 *
 * RAW: float32, row by row. BINARY: the same numbers with their words, as a word2vec file. */
#include "bench_common.h"

static FILE *create(const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        bench_die(path, "cannot be written");
    return file;
}

static void finish(FILE *file, const char *path) {
    const int failed = ferror(file);
    if (fclose(file) != 0 || failed)
        bench_die(path, "cannot be written");
}

int main(int argc, char **argv) {
    if (argc != 4)
        bench_die("usage", "bench_vectors MODEL RAW BINARY");
    tem_model *model = NULL;
    tem_error error;
    tem_model_info info;
    bench_need(tem_model_open(argv[1], &model, &error), &error);
    tem_model_get_info(model, &info);
    FILE *raw = create(argv[2]), *binary = create(argv[3]);
    float *row = bench_memory(info.dimension * sizeof *row);
    fprintf(binary, "%u %u\n", (unsigned)info.words, (unsigned)info.dimension);
    for (uint32_t id = 0; id < info.words; id++) {
        bench_need(tem_model_vector(model, id, row, &error), &error);
        fwrite(row, sizeof *row, info.dimension, raw);
        size_t length = 0;
        const char *word = tem_model_word(model, id, &length);
        fprintf(binary, "%.*s ", (int)length, word);
        fwrite(row, sizeof *row, info.dimension, binary);
        fputc('\n', binary);
    }
    finish(raw, argv[2]);
    finish(binary, argv[3]);
    printf("{\"rows\": %u, \"columns\": %u}\n", (unsigned)info.words, (unsigned)info.dimension);
    free(row);
    tem_model_free(model);
    return 0;
}
