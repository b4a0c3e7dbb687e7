/* nearest.c - prints the nearest words of each word on the command line.
 *
 *   nearest MODEL WORD... */
#include <tem.h>

#include <stdio.h>
#include <string.h>

static void print_neighbours(const tem_model *model, const char *word) {
    const uint32_t id = tem_model_find(model, word, strlen(word));
    tem_neighbours near;
    tem_error error;
    if (id == TEM_NO_WORD) {
        printf("%s: not in the vocabulary\n", word);
        return;
    }
    if (tem_model_neighbours(model, id, &near, &error) != TEM_OK) {
        printf("%s: %s\n", word, error.message);
        return;
    }
    printf("%s:", word);
    for (uint32_t i = 0; i < near.count && i < 6; i++) {
        size_t length = 0;
        const char *text = tem_model_word(model, near.list[i].id, &length);
        printf("  %.*s %.2f", (int)length, text, (double)near.list[i].distance / TEM_DIST_ONE);
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    tem_model *model = NULL;
    tem_error error;
    if (argc < 3) {
        fprintf(stderr, "usage: nearest MODEL WORD...\n");
        return 2;
    }
    if (tem_model_open(argv[1], &model, &error) != TEM_OK) {
        fprintf(stderr, "nearest: %s: %s\n", error.file, error.message);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        print_neighbours(model, argv[i]);
    tem_model_free(model);
    return 0;
}
