/* bench_open.c - time to open a model and draw its first word.
 *
 *   bench_open MODEL TIMES
 *
 * From the second time on, the file is in the page cache. */
#include "bench_common.h"

int main(int argc, char **argv) {
    if (argc != 3)
        bench_die("usage", "bench_open MODEL TIMES");
    const uint64_t times = bench_number(argv[2], 1000);
    printf("{\"open_ms\": [");
    for (uint64_t i = 0; i < times; i++) {
        tem_model *model = NULL;
        tem_error error;
        const double start = bench_now();
        bench_need(tem_model_open(argv[1], &model, &error), &error);
        printf("%s%.6f", i > 0 ? ", " : "", 1e3 * (bench_now() - start));
        tem_model_free(model);
    }
    printf("]}\n");
    return 0;
}
