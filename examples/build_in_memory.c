/* build_in_memory.c - builds models without any file: from the program's own vectors, and from its
 * own distance function. */
#include <tem.h>

#include <stdio.h>

static const char *const words[] = {"low", "middle", "high", "higher"};
static const float heights[] = {0.0f, 1.0f, 3.0f, 3.5f};

/* The distance of two words; it must be a metric. This one never reaches 1. */
static double apart(void *context, uint32_t a, uint32_t b) {
    (void)context;
    const double difference =
        heights[a] > heights[b] ? heights[a] - heights[b] : heights[b] - heights[a];
    return difference / (1 + difference);
}

static void print_from_low(const char *title, const tem_model *model) {
    printf("%s:", title);
    for (uint32_t id = 0; id < 4; id++)
        printf("  %s %.3f", words[id], (double)tem_model_distance(model, 0, id) / TEM_DIST_ONE);
    putchar('\n');
}

int main(void) {
    tem_vectors *vectors = NULL;
    tem_model *by_vectors = NULL, *by_function = NULL;
    tem_error error;
    int status = 0;
    if (tem_vectors_create(words, heights, 4, 1, &vectors, &error) != TEM_OK ||
        tem_model_build(vectors, NULL, NULL, &by_vectors, &error) != TEM_OK ||
        tem_model_build_function(words, 4, apart, NULL, 0, NULL, &by_function, &error) != TEM_OK) {
        fprintf(stderr, "build_in_memory: %s\n", error.message);
        status = 1;
    } else {
        print_from_low("euclidean", by_vectors);
        print_from_low("bounded", by_function);
    }
    tem_model_free(by_function);
    tem_model_free(by_vectors);
    tem_vectors_free(vectors);
    return status;
}
