/* command_distance.c - tem distance: the Earth Mover's distance of two documents. */
#include "commands.h"
#include "common_options.h"
#include "show.h"
#include "talk.h"
#include "tem_bag.h"
#include "tem_command.h"
#include "trust.h"
#include "wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct distance_request {
    common_options common;
    double gamma; /* 0: not given */
    bool strict, json;
    bool has_lines; /* a file has several lines */
    const char *paths[2];
} distance_request;

/* The words of a document while its lines are read. */
typedef struct document_words {
    const tem_model *model;
    uint32_t *ids;
    size_t count, room, lines;
} document_words;

static tem_status fail_memory(tem_error *error) {
    *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
    return TEM_ERR_MEMORY;
}

static tem_status make_room(document_words *d, size_t more, tem_error *error) {
    if (d->room - d->count >= more)
        return TEM_OK;
    const size_t room = 2 * d->room + more;
    uint32_t *ids = realloc(d->ids, room * sizeof *ids);
    if (ids == NULL)
        return fail_memory(error);
    d->ids = ids;
    d->room = room;
    return TEM_OK;
}

/* A tem_record_fn: adds the words of one line. A word takes a byte or more, so a line has no more
 * words than bytes. */
static tem_status take_line(void *context, const char *text, size_t bytes, const char *group,
                            size_t group_bytes, tem_error *error) {
    (void)group, (void)group_bytes;
    document_words *d = context;
    size_t count = 0;
    d->lines++;
    tem_status status = bytes == 0 ? TEM_OK : make_room(d, bytes, error);
    if (status == TEM_OK && bytes > 0)
        status = tem_model_pieces(d->model, text, bytes, d->ids + d->count, d->room - d->count,
                                  &count, error);
    if (status == TEM_OK)
        d->count += count;
    return status;
}

/* ---- the result ---- */

static json_t *bag_as_json(const tem_bag_info *bag) {
    return json_pack("{s:I, s:I, s:I}", "words", (json_int_t)bag->words, "unknown",
                     (json_int_t)bag->unknown, "distinct", (json_int_t)bag->distinct);
}

/* The numerator has more digits than a number of JSON can hold everywhere, so it is a string. */
static void print_decimal(uint64_t high, uint64_t low, char out[40]) {
    __extension__ unsigned __int128 number = (unsigned __int128)high << 64 | low;
    char digits[40];
    int count = 0;
    do {
        digits[count++] = (char)('0' + (int)(number % 10));
        number /= 10;
    } while (number > 0);
    for (int i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    out[count] = '\0';
}

/* PRIVACY: 'tem privatize' takes each line for a document, and keeps the order of lines. So a
 * matching bounds a loss only between files of one line. */
static bool are_documents(const document_words documents[2]) {
    return documents[0].lines == 1 && documents[1].lines == 1;
}

static bool print_json(const distance_request *r, const tem_bag_distance *d) {
    char numerator[40];
    print_decimal(d->numerator_high, d->numerator_low, numerator);
    json_t *matching = d->has_matching ? json_pack("{s:I, s:f}", "steps", (json_int_t)d->matching,
                                                   "sum", (double)d->matching / TEM_DIST_ONE)
                                       : json_null();
    json_t *gamma = r->gamma > 0 ? json_real(r->gamma) : json_null();
    return print_as_json(json_pack("{s:f, s:{s:s, s:I}, s:o, s:o, s:o, s:o}", "distance",
                                   d->distance, "exact", "numerator", numerator, "denominator",
                                   (json_int_t)d->denominator, "matching", matching, "gamma", gamma,
                                   "a", bag_as_json(&d->a), "b", bag_as_json(&d->b)));
}

static void print_bag(char name, const tem_bag_info *bag, bool counts_unknown) {
    printf("%c         %s words, %s different", name, talk_count(bag->words),
           talk_count(bag->distinct));
    if (bag->unknown > 0)
        printf("; %s unknown %s", talk_count(bag->unknown),
               counts_unknown ? "among them" : "left out");
    putchar('\n');
}

static void print_text(const distance_request *r, const tem_bag_distance *d) {
    printf("distance  %.6f   Earth Mover's distance, each document with weight 1\n", d->distance);
    if (d->has_matching)
        printf("matching  %.6f   the least sum of distances over all ways to match the %s words\n",
               (double)d->matching / TEM_DIST_ONE, talk_count(d->a.words));
    else if (r->has_lines)
        puts("matching  none: a file has several lines, and each is a document to 'tem privatize'");
    else
        printf("matching  none: the documents have different numbers of words%s\n",
               r->gamma > 0 || d->a.unknown == d->b.unknown ? ""
                                                            : ", or of unknown ones (--gamma)");
    print_bag('A', &d->a, r->gamma > 0);
    print_bag('B', &d->b, r->gamma > 0);
}

/* ---- the command ---- */

static int check_unknown(const distance_request *r, const char *path, const document_words *d) {
    uint64_t unknown = 0;
    for (size_t i = 0; i < d->count; i++)
        unknown += d->ids[i] == TEM_NO_WORD;
    if (r->strict && unknown > 0)
        fprintf(stderr,
                "tem: %s: %s of %s words are not in the vocabulary; leave out --strict to measure "
                "the others, or use --gamma G\n",
                path, talk_count(unknown), talk_count(d->count));
    else if (d->count == 0)
        fprintf(stderr, "tem: %s: no word is in it, so it has no distance\n", path);
    else if (unknown == d->count && r->gamma <= 0)
        fprintf(stderr,
                "tem: %s: no word of it is in the vocabulary, so it has no distance; --gamma G "
                "gives unknown words one\n",
                path);
    else
        return EXIT_DONE;
    return EXIT_FAILED;
}

/* gamma in steps, rounded up as the mechanisms round it. */
static tem_dist gamma_steps(double gamma) {
    const double steps = ceil(gamma * TEM_DIST_ONE);
    return steps >= UINT32_MAX ? UINT32_MAX : (tem_dist)steps;
}

static int measure(distance_request *r, const tem_model *model, const tem_run *run,
                   const document_words documents[2]) {
    const tem_bag_options options = {.gamma = gamma_steps(r->gamma)};
    tem_bag_distance distance;
    tem_error error;
    for (int i = 0; i < 2; i++)
        if (check_unknown(r, r->paths[i], &documents[i]) != EXIT_DONE)
            return EXIT_FAILED;
    const tem_status measured =
        tem_bag_measure(model, documents[0].ids, documents[0].count, documents[1].ids,
                        documents[1].count, &options, run, &distance, &error);
    talk_end_progress();
    if (measured != TEM_OK)
        return talk_error(&error);
    r->has_lines = !are_documents(documents);
    distance.has_matching = distance.has_matching && !r->has_lines;
    if (r->json)
        return print_json(r, &distance) ? EXIT_DONE : EXIT_FAILED;
    print_text(r, &distance);
    return EXIT_DONE;
}

/* PRIVACY: the words of a document must not stay in memory. */
static void forget(document_words *d) {
    if (d->ids != NULL)
        explicit_bzero(d->ids, d->room * sizeof *d->ids);
    free(d->ids);
}

static int open_and_measure(distance_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    tem_model *model = trust_open_model(r->common.model, r->common.model_hash, &run);
    if (model == NULL)
        return EXIT_FAILED;
    document_words documents[2] = {{.model = model}, {.model = model}};
    tem_error error;
    tem_status status = TEM_OK;
    for (int i = 0; i < 2 && status == TEM_OK; i++) {
        const tem_records records = {.path = r->paths[i]};
        status = tem_records_read(&records, take_line, &documents[i], &run, &error);
    }
    talk_end_progress();
    const int told = status == TEM_OK ? measure(r, model, &run, documents) : talk_error(&error);
    if (status != TEM_OK && error.os_error == ENOENT)
        fputs("A and B are files; 'tem nearest WORD' has distances between words\n", stderr);
    forget(&documents[1]);
    forget(&documents[0]);
    tem_model_free(model);
    return told;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem distance A B [OPTIONS]\n"
         "\n"
         "Measures how far two documents are apart, without the order of their words: the exact\n"
         "Earth Mover's distance (Word Mover's Distance) under the model's metric. A and B are\n"
         "files of plain text, each one document; '-' is standard input. Each document weighs 1,\n"
         "whatever its length. For files of one line with the same number of words tem also\n"
         "prints the least sum of distances over all ways to match their words. After 'tem\n"
         "privatize --shuffle --epsilon E' the loss between them is at most E times that sum. (In\n"
         "a file of several lines each line is a document to 'tem privatize'.)\n"
         "tem leaves out unknown words, which have no distance, and counts them; --strict and\n"
         "--gamma treat them otherwise.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem distance one.txt other.txt\n"
         "  echo \"a great film\" | tem distance - review.txt --json\n"
         "\n"
         "The result depends on both texts: it is for their owner only.");
}

int command_distance(int argc, char *const *argv) {
    distance_request r = {.gamma = 0};
    const option_spec table[] = {
        {"gamma", 0, OPTION_POSITIVE, &r.gamma, "G",
         "cut distances at G, and count unknown words as words at distance G\n"
         "from all others, as the mechanism with this gamma treats them",
         0, 0},
        {"strict", 0, OPTION_FLAG, &r.strict, NULL, "refuse documents with unknown words", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t count = 0;
    if (!options_parse(argc, argv, table, r.paths, 2, &count, message))
        return talk_usage("distance", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    if (count != 2)
        return talk_usage("distance", "name two documents: tem distance A B");
    if (strcmp(r.paths[0], "-") == 0 && strcmp(r.paths[1], "-") == 0)
        return talk_usage("distance", "only one of the documents can be standard input");
    return open_and_measure(&r);
}
