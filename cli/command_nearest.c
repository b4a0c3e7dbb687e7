/* command_nearest.c - tem nearest: the words that are nearest to a word, or within a distance. */
#include "commands.h"
#include "common_options.h"
#include "show.h"
#include "talk.h"
#include "trust.h"
#include "wrap.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_DEFAULT = 10 };

typedef struct nearest_request {
    common_options common;
    const tem_model *model;
    double within; /* below 0: not given */
    uint64_t top;  /* 0: not given */
    bool by_rank;  /* in the order of the mechanism rank, not by distance */
    bool json;
    const char **typed;
    size_t count;
    uint32_t *ids; /* of the typed words */
} nearest_request;

/* What is found for one word, without the word itself. */
typedef struct found_words {
    uint32_t id;
    tem_neighbour *list;
    uint32_t count;
    uint32_t total; /* with --within: how many words there are; else count */
} found_words;

/* The distance D of the user in steps, rounded down: a distance of whole steps is at most D exactly
 * if it is at most that. */
static tem_dist within_steps(double within) {
    const double steps = floor(within * TEM_DIST_ONE);
    return steps >= UINT32_MAX ? UINT32_MAX : (tem_dist)steps;
}

/* Takes the word itself out of the list, and at most `top` others. */
static void leave_out_itself(found_words *f, uint32_t top) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->count && kept < top; i++)
        if (f->list[i].id != f->id)
            f->list[kept++] = f->list[i];
    f->count = kept;
}

/* Finds the other words for `id`. The caller frees f->list, also on failure. */
static tem_status find(const nearest_request *r, uint32_t id, found_words *f, tem_error *error) {
    tem_model_info info;
    tem_model_get_info(r->model, &info);
    const uint32_t others = info.words - 1;
    const uint64_t asked = r->top > 0 ? r->top : r->within >= 0 ? others : TOP_DEFAULT;
    const uint32_t top = asked < others ? (uint32_t)asked : others;
    *f = (found_words){.id = id, .list = malloc((top + (size_t)1) * sizeof *f->list)};
    if (f->list == NULL) {
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
        return TEM_ERR_MEMORY;
    }
    const tem_run run = {.threads = (unsigned)r->common.threads};
    tem_status status = TEM_OK;
    if (r->within >= 0) {
        status = tem_search_within(r->model, id, within_steps(r->within), f->list, top + 1,
                                   &f->total, error);
        f->count = f->total < top + 1 ? f->total : top + 1;
    } else {
        status = tem_search_nearest(r->model, &id, 1, top + 1, &run, f->list, error);
        f->count = f->total = top + 1;
    }
    leave_out_itself(f, top);
    f->total -= 1; /* the word itself is always within a distance of 0 */
    return status;
}

/* Finds the first words in the order around `id`, without the word itself. Their places in the
 * list are their ranks from 1 on; the nearest output of an excluded word has rank 0. */
static tem_status find_ranked(const nearest_request *r, uint32_t id, found_words *f,
                              tem_error *error) {
    tem_order_info order;
    tem_model_get_order(r->model, &order);
    const uint32_t first = tem_model_is_excluded(r->model, id) ? 0 : 1;
    const uint32_t others = order.outputs > first ? order.outputs - first : 0;
    const uint64_t asked = r->top > 0 ? r->top : TOP_DEFAULT;
    const uint32_t top = asked < others ? (uint32_t)asked : others;
    uint32_t *ids = malloc((top + (size_t)1) * sizeof *ids);
    *f = (found_words){.id = id, .list = malloc((top + (size_t)1) * sizeof *f->list)};
    tem_status status = TEM_ERR_MEMORY;
    if (ids == NULL || f->list == NULL)
        *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
    else
        status = tem_model_ranked(r->model, id, order.outputs > first ? first : 0, top, ids, error);
    for (uint32_t i = 0; i < top && status == TEM_OK; i++)
        f->list[i] = (tem_neighbour){ids[i], tem_model_distance(r->model, id, ids[i])};
    f->count = f->total = status == TEM_OK ? top : 0;
    free(ids);
    return status;
}

/* The rank of entry i of a list that find_ranked has filled. */
static uint32_t rank_at(const nearest_request *r, const found_words *f, uint32_t i) {
    return tem_model_is_excluded(r->model, f->id) ? i : i + 1;
}

/* ---- as text ---- */

static void print_word(const nearest_request *r, uint32_t id) {
    words_print_id(r->model, id);
    if (tem_model_is_excluded(r->model, id))
        fputs(" (excluded: never an output)", stdout);
    putchar('\n');
}

static void print_text(const nearest_request *r, const found_words *f, bool is_first) {
    fputs(is_first ? "" : "\n", stdout);
    print_word(r, f->id);
    if (f->total == 0 && r->by_rank) {
        puts("no other word can be an output");
        return;
    }
    if (f->total == 0) {
        printf("no other word is within %g\n", r->within);
        return;
    }
    puts(r->by_rank ? "    rank   distance       steps  word" : " distance       steps  word");
    for (uint32_t i = 0; i < f->count; i++) {
        if (r->by_rank)
            printf("%8u  ", rank_at(r, f, i));
        printf("%9.4f  %10u  ", (double)f->list[i].distance / TEM_DIST_ONE, f->list[i].distance);
        print_word(r, f->list[i].id);
    }
    if (f->total > f->count)
        printf("%s of %s other words within %g\n", talk_count(f->count), talk_count(f->total),
               r->within);
}

/* ---- as JSON ---- */

static json_t *word_as_json(const nearest_request *r, uint32_t id) {
    return json_pack("{s:o, s:b}", "word", words_id_as_json(r->model, id), "excluded",
                     tem_model_is_excluded(r->model, id));
}

/* Returns NULL if memory is short or a word is not UTF-8. */
static json_t *as_json(const nearest_request *r, const found_words *f) {
    json_t *list = json_array(), *all = word_as_json(r, f->id);
    bool done = list != NULL && all != NULL;
    for (uint32_t i = 0; i < f->count && done; i++) {
        json_t *one = word_as_json(r, f->list[i].id);
        const double distance = (double)f->list[i].distance / TEM_DIST_ONE;
        done = one != NULL && json_object_set_new(one, "distance", json_real(distance)) == 0 &&
               json_object_set_new(one, "steps", json_integer(f->list[i].distance)) == 0 &&
               (!r->by_rank ||
                json_object_set_new(one, "rank", json_integer(rank_at(r, f, i))) == 0) &&
               json_array_append(list, one) == 0;
        json_decref(one);
    }
    if (done && r->within >= 0)
        done = json_object_set_new(all, "within", json_real(r->within)) == 0 &&
               json_object_set_new(all, "words_within", json_integer(f->total)) == 0;
    if (done && json_object_set(all, "nearest", list) == 0) {
        json_decref(list);
        return all;
    }
    json_decref(list);
    json_decref(all);
    return NULL;
}

/* ---- the command ---- */

/* Finds a word that the user typed. No message repeats the word: a terminal may be recorded. */
static int find_typed(const nearest_request *r, size_t i, uint32_t *id) {
    tem_error error;
    size_t pieces = 0;
    const char *word = r->typed[i];
    if (tem_model_pieces(r->model, word, strlen(word), id, 1, &pieces, &error) != TEM_OK)
        return talk_error(&error);
    if (pieces == 0) /* punctuation, for which --punctuation word draws */
        *id = tem_model_find(r->model, word, strlen(word));
    if (pieces > 1)
        return talk_usage("nearest", "word %zu: tem cuts this into %zu words; name one word", i + 1,
                          pieces);
    if (*id != TEM_NO_WORD)
        return EXIT_DONE;
    fprintf(stderr,
            "tem: word %zu is not in the vocabulary, so it has no distances. Check its spelling, "
            "or name another model with -m; 'tem explain' shows how tem replaces an unknown word\n",
            i + 1);
    return EXIT_FAILED;
}

static int tell_all(const nearest_request *r) {
    json_t *array = r->json && r->count > 1 ? json_array() : NULL, *one = NULL;
    tem_error error;
    int status = EXIT_DONE;
    for (size_t i = 0; i < r->count && status == EXIT_DONE; i++) {
        found_words f;
        if ((r->by_rank ? find_ranked : find)(r, r->ids[i], &f, &error) != TEM_OK)
            status = talk_error(&error);
        else if (!r->json)
            print_text(r, &f, i == 0);
        else if ((one = as_json(r, &f)) == NULL ||
                 (r->count > 1 && json_array_append_new(array, one) != 0))
            status = print_as_json(NULL) ? EXIT_DONE : EXIT_FAILED; /* prints why */
        free(f.list);
    }
    if (status == EXIT_DONE && r->json)
        return print_as_json(r->count > 1 ? array : one) ? EXIT_DONE : EXIT_FAILED;
    json_decref(array);
    return status;
}

static int open_and_tell(nearest_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    tem_model *model = trust_open_model(r->common.model, r->common.model_hash, &run);
    talk_end_progress();
    if (model == NULL)
        return EXIT_FAILED;
    r->model = model;
    int status = EXIT_DONE;
    for (size_t i = 0; i < r->count && status == EXIT_DONE; i++)
        status = find_typed(r, i, &r->ids[i]); /* refuse a word before anything is printed */
    if (status == EXIT_DONE)
        status = tell_all(r);
    tem_model_free(model);
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem nearest WORD... [--within D] [--top N] [OPTIONS]\n"
         "\n"
         "Lists the words of the model that are nearest to WORD, nearest first; of equally near\n"
         "words the one that comes first in the model. Distances are exact: whole steps of\n"
         "2^-16. The list has excluded words, and marks them.\n"
         "With --by-rank it lists outputs as the mechanism rank orders them around WORD. That\n"
         "order may come from other vectors, and has no excluded words.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem nearest wonderful\n"
         "  tem nearest wonderful --within 8.5 --json\n"
         "  tem nearest wonderful --by-rank\n"
         "  tem nearest the insulin chicago --top 3");
}

int command_nearest(int argc, char *const *argv) {
    nearest_request r = {.within = -1};
    const option_spec table[] = {
        {"within", 0, OPTION_NUMBER, &r.within, "D", "all words at distance D or less", 0, 0},
        {"top", 0, OPTION_COUNT, &r.top, "N",
         "the N nearest words (default 10; with --within: all)", 1, TEM_WORDS_MAX},
        {"by-rank", 0, OPTION_FLAG, &r.by_rank, NULL,
         "by their ranks in the model's order, by which the mechanism rank draws", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL,
         "print one JSON object; an array of them for several words", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    int status = EXIT_FAILED;
    r.typed = calloc((size_t)argc, sizeof *r.typed);
    r.ids = calloc((size_t)argc, sizeof *r.ids);
    if (r.typed == NULL || r.ids == NULL)
        fputs("tem: out of memory\n", stderr);
    else if (!options_parse(argc, argv, table, r.typed, (size_t)argc, &r.count, message))
        status = talk_usage("nearest", "%s", message);
    else if (r.common.help) {
        print_help(table);
        status = EXIT_DONE;
    } else if (r.count == 0)
        status = talk_usage("nearest", "which word? tem nearest WORD");
    else if (r.by_rank && r.within >= 0)
        status = talk_usage("nearest", "--within is a distance, and --by-rank is by ranks");
    else
        status = open_and_tell(&r);
    free(r.ids);
    free(r.typed);
    return status;
}
