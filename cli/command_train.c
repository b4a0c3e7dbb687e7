/* command_train.c - tem train: vectors from a public hierarchy. */
#include "commands.h"
#include "common_options.h"
#include "outputs.h"
#include "show.h"
#include "talk.h"
#include "tem_train.h"
#include "wrap.h"

#include <jansson.h>
#include <string.h>

typedef struct train_request {
    common_options common;
    uint64_t dimensions, epochs, negatives, burn_in, seed; /* 0: the default of the library */
    double rate;
    const char *operands[2]; /* the trainer, the edges */
    const char *output, *evaluate;
    bool closure, json, force;
} train_request;

static tem_graph *read_graph(const train_request *r, const tem_run *run) {
    const tem_graph_options options = {.closure = r->closure};
    tem_graph *graph = NULL;
    tem_error error;
    const tem_status status = tem_graph_load(r->operands[1], &options, run, &graph, &error);
    talk_end_progress();
    if (status != TEM_OK) {
        talk_error(&error);
        return NULL;
    }
    tem_graph_info info;
    tem_graph_get_info(graph, &info);
    talk_note(r->common.quiet, "%s: %s words, %s edges%s%s", r->operands[1], talk_count(info.words),
              talk_count(info.edges_read), r->closure ? ", with the closure " : "",
              r->closure ? talk_count(info.edges) : "");
    talk_note(r->common.quiet || !info.has_cycle,
              "%s: has a cycle: some word stands above itself. Its words become parents of each "
              "other%s.",
              r->operands[1], r->closure ? "" : " with --closure");
    return graph;
}

/* ------------------------------------------------------------------ training -- */

static void show_loss(void *context, uint32_t epoch, double loss) {
    const train_request *r = context;
    talk_say_beside_bar("  epoch %u, loss %.4f", epoch, loss);
    if (r->common.verbose)
        fprintf(stderr, "epoch %u: loss %.6f\n", epoch, loss);
}

static tem_poincare *make_points(train_request *r, const tem_graph *graph, const tem_run *run,
                                 double *loss) {
    const tem_poincare_options options = {.dimensions = (uint32_t)r->dimensions,
                                          .epochs = (uint32_t)r->epochs,
                                          .negatives = (uint32_t)r->negatives,
                                          .burn_in = (uint32_t)r->burn_in,
                                          .rate = r->rate,
                                          .seed = r->seed,
                                          .epoch = show_loss,
                                          .epoch_context = r};
    tem_poincare *points = NULL;
    tem_error error;
    const tem_status status = tem_poincare_train(graph, &options, run, &points, loss, &error);
    talk_end_progress();
    if (status != TEM_OK)
        talk_error(&error);
    return points;
}

static int train(train_request *r, const tem_graph *graph, const tem_run *run) {
    const double start = talk_clock();
    double loss = 0;
    tem_error error;
    tem_poincare *points = make_points(r, graph, run, &loss);
    if (points == NULL)
        return EXIT_FAILED;
    const tem_status status = tem_poincare_save(
        points, graph, r->output, r->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING, run, &error);
    talk_end_progress();
    if (status == TEM_OK)
        talk_note(r->common.quiet, "%s: points in %u dimensions, loss %.4f per edge: %.1f s",
                  r->output, tem_poincare_dimensions(points), loss, talk_clock() - start);
    tem_poincare_free(points);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

/* ---------------------------------------------------------------- evaluation -- */

static bool print_reconstruction(const train_request *r, const tem_reconstruction *found,
                                 uint32_t dimensions) {
    if (r->json)
        return print_as_json(json_pack("{s:I, s:I, s:I, s:f, s:f}", "words",
                                       (json_int_t)found->words, "edges", (json_int_t)found->edges,
                                       "dimensions", (json_int_t)dimensions, "mean_rank",
                                       found->mean_rank, "map", found->map));
    printf("words with parents  %s\n"
           "edges               %s\n"
           "dimensions          %u\n"
           "mean rank           %.4f\n"
           "MAP                 %.4f\n",
           talk_count(found->words), talk_count(found->edges), dimensions, found->mean_rank,
           found->map);
    return true;
}

static int evaluate(const train_request *r, const tem_graph *graph, const tem_run *run) {
    const double start = talk_clock();
    tem_poincare *points = NULL;
    tem_reconstruction found;
    tem_error error;
    tem_status status = tem_poincare_load(r->evaluate, graph, run, &points, &error);
    if (status == TEM_OK)
        status = tem_poincare_reconstruct(points, graph, run, &found, &error);
    talk_end_progress();
    const uint32_t dimensions = tem_poincare_dimensions(points);
    tem_poincare_free(points);
    if (status != TEM_OK)
        return talk_error(&error);
    talk_note(r->common.quiet, "ranks of all parents: %.1f s", talk_clock() - start);
    return print_reconstruction(r, &found, dimensions) ? EXIT_DONE : EXIT_FAILED;
}

/* ------------------------------------------------------------------- options -- */

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem train poincare EDGES [OPTIONS] -o FILE.vec\n"
        "       tem train poincare EDGES [--closure] --evaluate FILE.vec [--json]\n"
        "\n"
        "Makes vectors from a hierarchy: Poincaré embeddings (Nickel and Kiela 2017). EDGES has a\n"
        "child, a tab and a parent per line. Words that are linked get points near each other;\n"
        "words high in the hierarchy get points near the center of the ball. The hierarchy must\n"
        "be PUBLIC: the vectors show its words and edges.\n"
        "--evaluate measures how much of the hierarchy the vectors keep. For each word it ranks\n"
        "the parents by distance, each among all words that are no parents of the word: mean\n"
        "rank (1 is perfect) and mean average precision (MAP, 1 is perfect).\n");
    options_print_help(stdout, table);
    wrap(
        "\n"
        "  tools/wordnet-edges --root mammal.n.01 -o mammals.tsv\n"
        "  tem train poincare mammals.tsv --closure -o mammals.vec\n"
        "  tem train poincare mammals.tsv --closure --evaluate mammals.vec\n"
        "\n"
        "Training uses one thread: the same edges, options and seed give the same vectors, bit by\n"
        "bit. --threads is for --evaluate.");
}

static int check_evaluation(const train_request *r) {
    if (r->output != NULL)
        return talk_usage("train", "--evaluate writes no file: leave -o out");
    if (r->dimensions != 0 || r->epochs != 0 || r->negatives != 0 || r->burn_in != 0 ||
        r->seed != 0 || r->rate > 0)
        return talk_usage("train", "--evaluate trains nothing: it takes --closure, --json and "
                                   "--threads alone");
    return EXIT_DONE;
}

static int check_request(const train_request *r, size_t operands) {
    if (operands == 0 || strcmp(r->operands[0], "poincare") != 0)
        return talk_usage("train", "which trainer? tem has one: tem train poincare EDGES -o "
                                   "FILE.vec");
    if (operands == 1)
        return talk_usage("train", "which edges? A file with a child, a tab and a parent per line; "
                                   "'-' is standard input");
    if (r->evaluate != NULL)
        return check_evaluation(r);
    if (r->json)
        return talk_usage("train", "--json is for --evaluate");
    if (r->output == NULL || !outputs_ends_in(r->output, ".vec"))
        return talk_usage("train", "where to? -o FILE.vec");
    if (r->burn_in != 0 && r->epochs != 0 && r->burn_in >= r->epochs)
        return talk_usage("train", "--burn-in must be below --epochs");
    if (r->rate > TEM_POINCARE_RATE_MAX)
        return talk_usage("train", "--rate takes at most %d", TEM_POINCARE_RATE_MAX);
    return outputs_check(r->output, r->force) ? EXIT_DONE : EXIT_FAILED;
}

int command_train(int argc, char *const *argv) {
    train_request r = {0};
    const option_spec table[] = {
        {"closure", 0, OPTION_FLAG, &r.closure, NULL,
         "link each word also to the parents of its parents, and so on", 0, 0},
        {"dimensions", 0, OPTION_COUNT, &r.dimensions, "K", "numbers per word (default 10)", 1,
         TEM_POINCARE_DIMENSIONS_MAX},
        {"epochs", 0, OPTION_COUNT, &r.epochs, "N", "passes over all edges (default 200)", 1,
         TEM_POINCARE_EPOCHS_MAX},
        {"burn-in", 0, OPTION_COUNT, &r.burn_in, "N",
         "epochs at the beginning with a tenth of the rate (default: a tenth of the\n"
         "epochs)",
         1, TEM_POINCARE_EPOCHS_MAX},
        {"negatives", 0, OPTION_COUNT, &r.negatives, "N",
         "words that are drawn to be far from each child (default 50)", 1,
         TEM_POINCARE_NEGATIVES_MAX},
        {"rate", 0, OPTION_POSITIVE, &r.rate, "R", "length of the steps (default 0.1)", 0, 0},
        {"seed", 0, OPTION_COUNT, &r.seed, "N", "seed of the random numbers (default 0)", 0,
         UINT64_MAX},
        {"evaluate", 0, OPTION_FILE, &r.evaluate, "FILE",
         "measure how much of the hierarchy these vectors keep, and train nothing", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "--evaluate: print JSON", 0, 0},
        {"output", 'o', OPTION_TEXT, &r.output, "FILE", "the file to write: FILE.vec", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the output", 0, 0},
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, r.operands, 2, &operands, message))
        return talk_usage("train", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    int status = check_request(&r, operands);
    if (status != EXIT_DONE)
        return status;
    const tem_run run = talk_run((unsigned)r.common.threads, r.common.quiet);
    tem_graph *graph = read_graph(&r, &run);
    if (graph == NULL)
        return EXIT_FAILED;
    status = r.evaluate != NULL ? evaluate(&r, graph, &run) : train(&r, graph, &run);
    tem_graph_free(graph);
    return status;
}
