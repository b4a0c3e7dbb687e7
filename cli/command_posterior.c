/* command_posterior.c - tem posterior: vectors for learning from released text. */
#include "commands.h"
#include "default_model.h"
#include "law_options.h"
#include "outputs.h"
#include "prior_option.h"
#include "talk.h"
#include "vector_file.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct posterior_request {
    common_options common;
    law_choice choice;
    const char *vectors_path, *output;
    bool force;
} posterior_request;

static int complain_memory(void) {
    const tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    return talk_error(&error);
}

/* Reads the vectors x_w. Returns NULL on failure, after printing why. */
static tem_vectors *read_vectors(const posterior_request *r, const tem_run *run) {
    const char *path = r->vectors_path != NULL ? r->vectors_path : default_model_vectors();
    tem_vectors *vectors = NULL;
    tem_error error;
    if (r->vectors_path == NULL && access(path, F_OK) != 0) {
        fprintf(stderr,
                "tem: %s: there are no vectors beside the model; name a file with --vectors, such "
                "as the one that the model was built from\n",
                path);
        return NULL;
    }
    if (tem_vectors_load(path, 0, run, &vectors, &error) != TEM_OK)
        talk_error(&error);
    talk_end_progress();
    return vectors;
}

/* Puts the vectors in the order of the model. Returns NULL on failure, after printing why. */
static double *align(const posterior_request *r, const law *l, const tem_vectors *vectors) {
    const char *path = r->vectors_path != NULL ? r->vectors_path : default_model_vectors();
    const size_t columns = tem_vectors_dimension(vectors);
    double *rows = calloc(l->model_info.words * columns, sizeof *rows);
    uint32_t missing = 0;
    tem_error error;
    if (rows == NULL) {
        complain_memory();
        return NULL;
    }
    if (tem_model_align_vectors(l->model, vectors, rows, &missing, &error) != TEM_OK) {
        snprintf(error.file, sizeof error.file, "%s", path);
        talk_error(&error);
        free(rows);
        return NULL;
    }
    talk_note(r->common.quiet || missing == 0,
              "%s: has no vector for %s word%s of the model; tem takes the mean of the others",
              path, talk_count(missing), missing == 1 ? "" : "s");
    return rows;
}

static int compute(const law *l, const double *vectors, uint32_t columns, const tem_run *run,
                   double *out) {
    tem_channel *channel = NULL;
    tem_error error;
    tem_status status = tem_channel_create(l->mechanism, run, &channel, &error);
    if (status == TEM_OK)
        status = tem_channel_posterior(channel, &l->expected, vectors, columns, run, out, &error);
    tem_channel_free(channel);
    talk_end_progress();
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static void say_what_was_done(const posterior_request *r, const law *l, uint32_t columns,
                              double seconds) {
    const bool quiet = r->common.quiet;
    talk_note(quiet,
              "posterior vectors of %s words, %u columns each, for %s%s at epsilon %s (s = %.6f), "
              "prior %s: %.1f s",
              talk_count(l->model_info.words), columns,
              l->info.certificate[0] != '\0' ? "calibrated " : "", l->info.properties->name,
              talk_number(l->info.epsilon), l->info.s, prior_name(r->choice.prior_text), seconds);
    talk_note(quiet, "This uses no private text and spends nothing.");
}

static int write_posterior(const posterior_request *r, const law *l, const double *numbers,
                           uint32_t columns, const tem_run *run) {
    const uint32_t words = (uint32_t)l->model_info.words;
    bool *left_out = calloc(words, sizeof *left_out);
    if (left_out == NULL)
        return complain_memory();
    for (uint32_t w = 0; w < words; w++)
        left_out[w] = !law_outputs(l, w);
    const word_vectors v = {l->model, words, columns, numbers, left_out};
    const int status = vector_file_write(r->output, r->force, &v, run, r->common.quiet);
    free(left_out);
    return status;
}

static int run_on_vectors(const posterior_request *r, const law *l, const tem_vectors *vectors,
                          const tem_run *run, double start) {
    const uint32_t columns = tem_vectors_dimension(vectors);
    double *rows = align(r, l, vectors);
    if (rows == NULL)
        return EXIT_FAILED;
    double *means = calloc(l->model_info.words * columns, sizeof *means);
    int status = means == NULL ? complain_memory() : compute(l, rows, columns, run, means);
    free(rows);
    if (status == EXIT_DONE)
        status = write_posterior(r, l, means, columns, run);
    free(means);
    if (status == EXIT_DONE)
        say_what_was_done(r, l, columns, talk_clock() - start);
    return status;
}

static int posterior(const posterior_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    const double start = talk_clock();
    law l;
    int status = law_open("posterior", &r->common, &r->choice, &run, &l);
    tem_vectors *vectors = status == EXIT_DONE ? read_vectors(r, &run) : NULL;
    if (status == EXIT_DONE)
        status = vectors != NULL ? run_on_vectors(r, &l, vectors, &run, start) : EXIT_FAILED;
    tem_vectors_free(vectors);
    law_close(&l);
    return status;
}

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem posterior --epsilon E [OPTIONS] -o FILE.vec|FILE.npy\n"
        "\n"
        "Makes vectors for learning from released text, the output of 'tem privatize'. The vector\n"
        "of an output word is the mean of the vectors of the words that may be behind it, by the\n"
        "law of the mechanism and the prior. Use these vectors for released texts, and the\n"
        "vectors of --vectors for original ones. tem computes them from public data alone: they\n"
        "cost no privacy. --vectors and --prior must be public.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem posterior --epsilon 2 -o posterior.vec\n"
         "  tem posterior --epsilon 2 --prior public.txt --vectors public.vec -o p.npy\n"
         "\n"
         "FILE.vec is word2vec text, which gensim and fastText read; it leaves out words that the\n"
         "mechanism never outputs. FILE.npy is a float32 matrix of NumPy with a row for each word\n"
         "of the model; FILE.words gets the words, one per line.");
}

static int check_request(const posterior_request *r) {
    int status = law_check("posterior", &r->choice);
    if (status == EXIT_DONE)
        status = vector_file_check("posterior", r->output, r->force);
    return status;
}

int command_posterior(int argc, char *const *argv) {
    posterior_request r = {.choice = LAW_CHOICE_DEFAULT};
    r.choice.prior_text = PRIOR_DEFAULT;
    const option_spec table[] = {
        MECHANISM_OPTIONS(r.choice.mechanism),
        OWN_OPTIONS(r.choice.mechanism),
        LANGUAGE_OPTION(r.choice.mechanism),
        PRIOR_OPTION(r.choice.prior_text),
        LAW_OPTIONS(r.choice, ", else 0"),
        {"vectors", 0, OPTION_FILE, &r.vectors_path, "FILE",
         "PUBLIC word vectors to take the mean of, in a format that 'tem build' reads\n"
         "(default: MODEL.temv beside MODEL.tem)",
         0, 0},
        {"output", 'o', OPTION_TEXT, &r.output, "FILE", "the file to write: FILE.vec or FILE.npy",
         0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the output", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, NULL, 0, &operands, message))
        return talk_usage("posterior", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r);
    return status == EXIT_DONE ? posterior(&r) : status;
}
