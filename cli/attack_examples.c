/* attack_examples.c - how a program that tem does not have released a public text. */
#include "attack_examples.h"

#include "talk.h"

/* Moves the pairs whose output the model has to the front. */
static void keep_pairs(attack_examples *e) {
    const uint64_t all = attack_text_words(&e->text);
    for (uint64_t i = 0; i < all; i++)
        if (e->text.words[i] != TEM_NO_WORD) {
            e->unknown += e->text.originals[i] == TEM_NO_WORD;
            e->text.words[e->pairs] = e->text.words[i];
            e->text.originals[e->pairs++] = e->text.originals[i];
        }
    e->outside = all - e->pairs;
}

int attack_examples_read(const tem_records *records, const char *original, const char *output,
                         const law *l, const tem_run *run, attack_examples *out) {
    tem_records of_released = *records, of_original = *records;
    of_released.path = output;
    of_original.path = original;
    int status = attack_text_read_plain(&of_released, l->model, run, &out->text);
    if (status == EXIT_DONE)
        status = attack_text_read_original(&of_original, output, l, run, &out->text);
    if (status != EXIT_DONE)
        return status;
    keep_pairs(out);
    if (out->pairs == 0) {
        fprintf(stderr, "tem: %s: the model has no word of it, so there is nothing to learn from\n",
                output);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

void attack_examples_free(attack_examples *e) {
    attack_text_free(&e->text);
}
