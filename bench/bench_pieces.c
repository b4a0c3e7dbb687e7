/* bench_pieces.c - the words of a text as ids, for bench_draw.
 *
 *   bench_pieces MODEL TEXT IDS
 *
 * Each line of TEXT is a document. Unknown words become TEM_NO_WORD, for which a mechanism
 * also draws. */
#include "bench_common.h"

int main(int argc, char **argv) {
    if (argc != 4)
        bench_die("usage", "bench_pieces MODEL TEXT IDS");
    tem_model *model = NULL;
    tem_error error;
    bench_need(tem_model_open(argv[1], &model, &error), &error);
    FILE *text = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
    if (text == NULL || out == NULL)
        bench_die(argv[2], "or its output cannot be opened");
    char *line = NULL;
    size_t room = 0;
    unsigned long long all = 0, unknown = 0;
    for (ssize_t bytes; (bytes = getline(&line, &room, text)) > 0;) {
        size_t count = 0;
        uint32_t *ids = bench_memory((size_t)bytes * 4); /* a word has at least one byte */
        bench_need(tem_model_pieces(model, line, (size_t)bytes, ids, (size_t)bytes, &count, &error),
                   &error);
        if (fwrite(ids, 4, count, out) != count)
            bench_die(argv[3], "cannot be written");
        all += count;
        for (size_t i = 0; i < count; i++)
            unknown += ids[i] == TEM_NO_WORD;
        free(ids);
    }
    if (fclose(out) != 0)
        bench_die(argv[3], "cannot be written");
    printf("{\"words\": %llu, \"unknown\": %llu}\n", all, unknown);
    free(line);
    fclose(text);
    tem_model_free(model);
    return 0;
}
