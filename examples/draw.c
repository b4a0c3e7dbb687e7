/* draw.c - draws a private word for each word on the command line.
 *
 *   draw MODEL EPSILON WORD...
 *
 * This user must have built or verified the model: 'tem build', 'tem verify'. */
#include <tem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Draws for each word. Stops at the first failure and prints nothing more. */
static tem_status draw_words(const tem_model *model, const tem_mechanism *mechanism, tem_rng *rng,
                             char **words, int count, tem_error *error) {
    for (int i = 0; i < count; i++) {
        uint32_t out = 0;
        size_t length = 0;
        /* A word that the model does not have becomes TEM_NO_WORD; tem draws for it too. */
        const uint32_t id = tem_model_find(model, words[i], strlen(words[i]));
        tem_status status = tem_mechanism_draw(mechanism, rng, id, &out, error);
        if (status != TEM_OK)
            return status;
        const char *text = tem_model_word(model, out, &length);
        printf("%s%.*s", i > 0 ? " " : "", (int)length, text);
    }
    putchar('\n');
    return TEM_OK;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: draw MODEL EPSILON WORD...\n");
        return 2;
    }
    const tem_mechanism_options options = {.epsilon = strtod(argv[2], NULL)};
    tem_model *model = NULL;
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    tem_error error;
    int status = 0;
    if (tem_model_open(argv[1], &model, &error) != TEM_OK ||
        tem_model_trust(model, NULL, NULL, &error) != TEM_OK ||
        tem_mechanism_create(model, &options, &mechanism, &error) != TEM_OK ||
        tem_rng_create(&rng, &error) != TEM_OK ||
        draw_words(model, mechanism, rng, argv + 3, argc - 3, &error) != TEM_OK) {
        fprintf(stderr, "draw: %s%s%s\n", error.file, error.file[0] != '\0' ? ": " : "",
                error.message);
        if (error.status == TEM_ERR_UNTRUSTED)
            fprintf(stderr, "draw: check the model with 'tem verify -m %s', then draw again\n",
                    argv[1]);
        status = 1;
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return status;
}
