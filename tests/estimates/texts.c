/* texts.c - estimates from released texts beside the true shares in the original ones. Not part of
 * `make test`; docs/LEARNING.md has a result.
 *
 *   estimate-texts MODEL EPSILON PUBLIC SETS RELEASED ORIGINAL [RELEASED ORIGINAL...]
 *
 * PUBLIC is a public text, for the expected shares. A line of SETS has the name of a set, a tab,
 * and words with spaces between them. RELEASED is ORIGINAL after `tem privatize --epsilon EPSILON`.
 * For each text tem also prints which share of its words lies beyond the ratio: the sum over all
 * words of share - 4 * expected share, where that is positive. */
#include "audit/prior.h"
#include "must.h"
#include "tem_learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 64, RATIO = 4 };

typedef struct word_sets {
    uint32_t count;
    char *names[SETS_MAX];
    double *members; /* a row per input */
} word_sets;

/* Counts the lines of SETS first, because the members have a row per word. */
static word_sets read_sets(const char *path, const tem_model *model, uint32_t inputs) {
    word_sets sets = {0};
    char line[1 << 16], *texts[SETS_MAX];
    FILE *file = need(fopen(path, "r"));
    while (sets.count < SETS_MAX && fgets(line, sizeof line, file) != NULL) {
        char *name = need(strdup(strtok(line, "\t\n")));
        const char *words = strtok(NULL, "\n");
        sets.names[sets.count] = name;
        texts[sets.count++] = need(strdup(words == NULL ? "" : words));
    }
    fclose(file);
    sets.members = need(calloc((size_t)inputs * sets.count, sizeof *sets.members));
    for (uint32_t i = 0; i < sets.count; i++) {
        for (char *word = strtok(texts[i], " "); word != NULL; word = strtok(NULL, " ")) {
            const uint32_t id = tem_model_find(model, word, strlen(word));
            if (id == TEM_NO_WORD)
                fprintf(stderr, "not in the model: %s\n", word);
            else
                sets.members[(size_t)id * sets.count + i] = 1;
        }
        free(texts[i]);
    }
    return sets;
}

/* The shares of all inputs in a text, unknown words last. */
static void shares_in(const tem_model *model, const char *path, uint32_t inputs, double *shares) {
    tem_prior *counted = NULL;
    tem_error error;
    check(tem_prior_load(model, path, NULL, &counted, &error), &error);
    const double all = counted->info.counted + counted->info.unknown;
    for (uint32_t w = 0; w + 1 < inputs; w++)
        shares[w] = counted->frequencies[w] * counted->info.counted / all;
    shares[inputs - 1] = counted->info.unknown / all;
    tem_prior_free(counted);
}

static void count_words(const tem_model *model, const char *path, uint32_t words, uint32_t groups,
                        double *counts) {
    tem_prior *counted = NULL;
    tem_error error;
    check(tem_prior_load(model, path, NULL, &counted, &error), &error);
    for (uint32_t w = 0; w < words; w++)
        counts[(size_t)w * groups] = round(counted->frequencies[w] * counted->info.counted);
    tem_prior_free(counted);
}

static void print_group(const word_sets *sets, const tem_estimate *estimates, const char *path,
                        const double *shares, const double *expected, uint32_t inputs) {
    double beyond = 0;
    for (uint32_t w = 0; w < inputs; w++)
        beyond += fmax(0, shares[w] - RATIO * expected[w]);
    printf("%s: %.3f %% of the words are beyond the ratio\n", path, 100 * beyond);
    printf("| set | expected | truth | estimate | low | high | bias | deviation | held | tells |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < sets->count; i++) {
        const tem_estimate *e = &estimates[i];
        double truth = 0;
        for (uint32_t w = 0; w < inputs; w++)
            truth += sets->members[(size_t)w * sets->count + i] * shares[w];
        printf("| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %s | %s |\n",
               sets->names[i], 100 * e->expected, 100 * truth, 100 * e->share, 100 * e->low,
               100 * e->high, 100 * e->bias, 100 * e->deviation,
               e->low <= truth && truth <= e->high ? "yes" : "NO", e->tells ? "yes" : "no");
    }
}

int main(int argc, char **argv) {
    if (argc < 7 || argc % 2 == 0) {
        fprintf(stderr, "usage: estimate-texts MODEL EPSILON PUBLIC SETS RELEASED ORIGINAL "
                        "[RELEASED ORIGINAL...]\n");
        return 2;
    }
    const tem_mechanism_options options = {.epsilon = strtod(argv[2], NULL)};
    tem_model *model = NULL;
    tem_mechanism *mechanism = NULL;
    tem_channel *channel = NULL;
    tem_prior *prior = NULL;
    tem_error error;
    check(tem_model_open(argv[1], &model, &error), &error);
    tem_model_trust_own(model);
    check(tem_mechanism_create(model, &options, &mechanism, &error), &error);
    check(tem_channel_create(mechanism, NULL, &channel, &error), &error);
    check(tem_prior_load(model, argv[3], NULL, &prior, &error), &error);
    const uint32_t inputs = tem_channel_inputs(channel), groups = (uint32_t)(argc - 5) / 2;
    word_sets sets = read_sets(argv[4], model, inputs);
    double *counts = need(calloc((size_t)inputs * groups, sizeof *counts));
    for (uint32_t i = 0; i < groups; i++)
        count_words(model, argv[5 + 2 * i], inputs - 1, groups, counts + i);
    const tem_estimate_options how = {.expected = {.prior = prior, .unknown = -1}, .ratio = RATIO};
    tem_estimate *estimates = need(calloc((size_t)groups * sets.count, sizeof *estimates));
    double *shares = need(calloc(inputs, sizeof *shares));
    double *expected = need(calloc(inputs, sizeof *expected));
    check(tem_channel_expect(channel, &how.expected, expected, &error), &error);
    check(tem_channel_estimate(channel, &how, counts, groups, sets.members, sets.count, NULL,
                               estimates, &error),
          &error);
    for (uint32_t i = 0; i < groups; i++) {
        shares_in(model, argv[6 + 2 * i], inputs, shares);
        print_group(&sets, estimates + (size_t)i * sets.count, argv[6 + 2 * i], shares, expected,
                    inputs);
    }
    free(expected);
    free(shares);
    free(estimates);
    free(counts);
    free(sets.members);
    for (uint32_t i = 0; i < sets.count; i++)
        free(sets.names[i]);
    tem_prior_free(prior);
    tem_channel_free(channel);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    return 0;
}
