/* private_text.c - privatizes a corpus. */
#include "private_text.h"

#include "failure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Documents between two progress reports. */
enum { AT_ONCE = 1024 };

typedef struct drawing {
    const tem_mechanism *mechanism;
    const corpus *from;
    corpus *to;
    uint64_t seed, first_stream;
    uint32_t first;
    pthread_mutex_t lock;
    tem_status status; /* the first failure */
    tem_error *error;
} drawing;

static tem_status draw_document(const drawing *d, uint32_t document, tem_error *error) {
    tem_rng *rng = NULL;
    const uint64_t start = d->from->starts[document];
    const uint64_t count = d->from->starts[document + 1] - start;
    tem_status status = tem_rng_create_insecure(d->seed, d->first_stream + document, &rng, error);
    if (status == TEM_OK)
        status = tem_mechanism_draw_many(d->mechanism, rng, d->from->words + start,
                                         d->to->words + start, count, error);
    tem_rng_free(rng);
    return status;
}

static void draw_range(void *context, uint64_t first, uint64_t last) {
    drawing *d = context;
    tem_error error;
    for (uint64_t i = first; i < last; i++) {
        const tem_status status = draw_document(d, d->first + (uint32_t)i, &error);
        if (status == TEM_OK)
            continue;
        pthread_mutex_lock(&d->lock);
        if (d->status == TEM_OK && d->error != NULL)
            *d->error = error;
        d->status = status;
        pthread_mutex_unlock(&d->lock);
    }
}

tem_status private_text_draw(const tem_mechanism *mechanism, const corpus *c, uint64_t seed,
                             uint64_t first_stream, core_team *team, const tem_run *run,
                             corpus *out, tem_error *error) {
    corpus made = {0};
    drawing d = {.mechanism = mechanism,
                 .from = c,
                 .to = &made,
                 .seed = seed,
                 .first_stream = first_stream,
                 .error = error};
    workers w = {team, run, "drawing words", 0, c->count};
    d.status = corpus_copy(c, &made, error);
    pthread_mutex_init(&d.lock, NULL);
    for (; d.first < c->count && d.status == TEM_OK; d.first += AT_ONCE) {
        const uint32_t left = c->count - d.first;
        w.done = d.first;
        const tem_status ran =
            ranges_run(&w, left < AT_ONCE ? left : AT_ONCE, draw_range, &d, error);
        if (d.status == TEM_OK)
            d.status = ran;
    }
    pthread_mutex_destroy(&d.lock);
    if (d.status == TEM_OK)
        *out = made;
    else
        corpus_free(&made);
    return d.status;
}

double private_text_kept(const corpus *original, const corpus *private) {
    const uint64_t count = corpus_words(original);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        kept += original->words[i] == private->words[i];
    return count > 0 ? (double)kept / (double)count : 0;
}

static int compare_pairs(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sets guess[y] to the most frequent w among the sorted pairs y * 2^32 + w. */
static void learn_guesses(const uint64_t *pairs, uint64_t count, uint32_t *guess, uint32_t words) {
    for (uint32_t y = 0; y < words; y++)
        guess[y] = y;
    uint64_t best = 0;
    for (uint64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && pairs[next] == pairs[i];)
            next++;
        if (i == 0 || pairs[i] >> 32 != pairs[i - 1] >> 32)
            best = 0;
        if (next - i > best) {
            best = next - i;
            guess[pairs[i] >> 32] = (uint32_t)pairs[i];
        }
    }
}

tem_status private_text_guessed(const corpus *known, const corpus *known_private,
                                const corpus *original, const corpus *private, uint32_t words,
                                double *share, tem_error *error) {
    const uint64_t learned = corpus_words(known), count = corpus_words(original);
    uint64_t *pairs = malloc((learned + 1) * sizeof *pairs), right = 0;
    uint32_t *guess = malloc(words * sizeof *guess);
    const bool fine = pairs != NULL && guess != NULL;
    if (fine) {
        for (uint64_t i = 0; i < learned; i++)
            pairs[i] = (uint64_t)known_private->words[i] << 32 | known->words[i];
        qsort(pairs, learned, sizeof *pairs, compare_pairs);
        learn_guesses(pairs, learned, guess, words);
        for (uint64_t i = 0; i < count; i++)
            right += guess[private->words[i]] == original->words[i];
        *share = count > 0 ? (double)right / (double)count : 0;
    }
    free(pairs);
    free(guess);
    return fine ? TEM_OK : eval_out_of_memory(error);
}
