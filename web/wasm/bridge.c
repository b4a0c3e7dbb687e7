/* bridge.c - the functions that web/tem/index.js calls: libtem's core behind plain numbers and
 * pointers.
 *
 * A module holds one model and any number of mechanisms. A function that can fail returns a
 * tem_status; bridge_message then has the reason. Results that are arrays stay where bridge_results
 * says until the next call. JavaScript copies them at once, and erases what it has copied.
 *
 * PRIVACY: the module draws only from the model whose hash was compiled in (web_model_load), and
 * only with fresh random bytes from the caller (begin). Memory that held a text is erased. */
#include "bridge.h"
#include "bridge_picture.h"

#include "core/hash.h"
#include "core/memory.h"
#include "core/status.h"
#include "guess.h"
#include "index/search.h"
#include "job/drawing.h"
#include "job/replacer.h"
#include "map.h"
#include "mech/law_row.h"
#include "piece_places.h"
#include "port.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

/* The linker exports these functions, and no others (Makefile). */
#define EXPORT

static web_model model; /* zero until bridge_load */
static tem_error last_error;
static core_buffer results; /* of the last call that has some */

/* ---- memory and errors ---- */

EXPORT void *bridge_alloc(size_t bytes) {
    return core_alloc(bytes, 1);
}

EXPORT void bridge_free(void *block, size_t bytes) {
    core_free_erased(block, bytes);
}

EXPORT const char *bridge_message(void) {
    return last_error.message;
}

EXPORT const void *bridge_results(void) {
    return results.data;
}

/* Makes room for `count` results of `size` bytes; NULL: no memory. */
static void *room_for(size_t count, size_t size) {
    size_t bytes = 0;
    core_buffer_clear(&results);
    if (__builtin_mul_overflow(count, size, &bytes) || !core_buffer_reserve(&results, bytes + 1))
        return NULL;
    results.size = bytes;
    return results.data;
}

static tem_status check_word(uint32_t id) {
    return id < model.tem->words.count
               ? TEM_OK
               : core_fail(&last_error, TEM_ERR_ARGUMENT, "no word of the model has this id");
}

/* ---- the model ---- */

EXPORT tem_status bridge_load(const char *bytes, size_t size) {
    if (model.tem != NULL)
        return core_fail(&last_error, TEM_ERR_ARGUMENT, "the module has a model already");
    return web_model_load(bytes, size, &model, &last_error);
}

EXPORT tem_status bridge_load_language(const char *bytes, size_t size) {
    if (model.language != NULL)
        return core_fail(&last_error, TEM_ERR_ARGUMENT, "the module has a language model already");
    return web_model_load_language(&model, bytes, size, &last_error);
}

/* Of the language model, which was loaded. */
EXPORT const char *bridge_language_hash(void) {
    return model.language->hash;
}

EXPORT const char *bridge_language_name(void) {
    return model.language->name;
}

EXPORT const char *bridge_version(void) {
    return TEM_VERSION;
}

EXPORT const char *bridge_hash(void) {
    return model.hash;
}

EXPORT uint32_t bridge_words(void) {
    return model.tem->words.count;
}

EXPORT uint32_t bridge_dimensions(void) {
    return model.tem->space.dimension;
}

EXPORT uint32_t bridge_excluded(void) {
    return model.tem->excluded_count;
}

/* Results: for each certificate epsilon, s, gamma and the proved loss, as doubles. */
EXPORT uint32_t bridge_certificates(void) {
    double *out = room_for(model.certificate_count, 4 * sizeof *out);
    if (out == NULL)
        return 0;
    for (uint32_t i = 0; i < model.certificate_count; i++, out += 4) {
        tem_certificate_info info;
        certificate_get_info(&model.certificates[i], &info);
        out[0] = info.epsilon;
        out[1] = info.s;
        out[2] = info.gamma;
        out[3] = info.realised;
    }
    return model.certificate_count;
}

EXPORT int32_t bridge_find(const char *word, size_t length) {
    return (int32_t)vocab_find(&model.tem->words, word, length); /* TEM_NO_WORD is -1 */
}

/* Results: the bytes of the word. Returns their number, 0 if there is no such word. */
EXPORT size_t bridge_word(uint32_t id) {
    size_t length = 0;
    if (check_word(id) != TEM_OK)
        return 0;
    const char *word = vocab_word(&model.tem->words, id, &length);
    char *out = room_for(length, 1);
    if (word == NULL || out == NULL)
        return 0;
    memcpy(out, word, length);
    return length;
}

/* Results: a piece_place per piece. *count receives their number. */
EXPORT tem_status bridge_pieces(const char *text, size_t bytes, uint32_t *count) {
    core_buffer_clear(&results);
    const tem_status status = piece_places(model.tem, text, bytes, &results, &last_error);
    *count = (uint32_t)(results.size / sizeof(piece_place));
    return status;
}

/* Results: the k nearest words, as id and distance. */
EXPORT tem_status bridge_neighbours(uint32_t id, uint32_t k) {
    tem_status status = check_word(id);
    if (status != TEM_OK)
        return status;
    if (k < 1 || k > model.tem->words.count)
        return core_fail(&last_error, TEM_ERR_ARGUMENT, "k must be 1 to the number of words");
    tem_neighbour *out = room_for(k, sizeof *out);
    if (out == NULL)
        return core_fail_memory(&last_error);
    return search_nearest(&model.tem->space, &model.tem->index, &id, 1, k, NULL, out, &last_error);
}

/* Results: the k nearest words, as id and distance, and then k pairs of coordinates (map.h). */
EXPORT tem_status bridge_map(uint32_t id, uint32_t k) {
    tem_status status = bridge_neighbours(id, k);
    if (status != TEM_OK)
        return status;
    if (!core_buffer_reserve(&results, k * sizeof(map_place)))
        return core_fail_memory(&last_error);
    return map_words(&model.tem->space, id, (const tem_neighbour *)(const void *)results.data, k,
                     (map_place *)(void *)(results.data + k * sizeof(tem_neighbour)), &last_error);
}

/* Results: the list of the word, as id and distance, and then its bounds. *length receives how long
 * the list is. For tests: the lists must be those of the native index. */
EXPORT tem_status bridge_list(uint32_t id, uint32_t *length) {
    tem_neighbours near = {0};
    tem_status status = check_word(id);
    if (status == TEM_OK)
        status = neighbours_get(&model.tem->index, id, &near, &last_error);
    if (status != TEM_OK)
        return status;
    const size_t list_bytes = near.count * sizeof *near.list;
    char *out = room_for(1, list_bytes + NEIGHBOUR_RANGES * sizeof(tem_dist));
    if (out == NULL)
        return core_fail_memory(&last_error);
    memcpy(out, near.list, list_bytes);
    memcpy(out + list_bytes, neighbours_bounds(&model.tem->index, id),
           NEIGHBOUR_RANGES * sizeof(tem_dist));
    *length = near.count;
    return TEM_OK;
}

/* ---- mechanisms ---- */

/* A mechanism, and what guesses behind its outputs need. */
typedef struct web_mechanism {
    tem_mechanism *tem;
    int32_t certificate; /* its number, or -1 */
    guesser guesser;     /* empty until it is needed */
} web_mechanism;

EXPORT void bridge_mechanism_free(web_mechanism *mechanism) {
    guesser_free(&mechanism->guesser);
    mechanism_free(mechanism->tem);
    core_free(mechanism);
}

typedef enum bridge_kind { BRIDGE_TEM = 1, BRIDGE_RANK } bridge_kind;

/* What a mechanism is made of; an argument that is not given is 0. */
typedef struct bridge_options {
    double epsilon, beta, gamma, c;
    uint32_t kind;       /* bridge_kind */
    uint32_t calibrated; /* by the certificate for this epsilon */
    uint32_t in_context; /* with the language model */
    uint32_t zero;
} bridge_options;

static tem_status take_options(const bridge_options *given, int32_t certificate,
                               tem_parameter_value numbers[2], tem_mechanism_options *out) {
    *out = (tem_mechanism_options){
        .epsilon = given->epsilon, .beta = given->beta, .gamma = given->gamma};
    if (given->c > 0) {
        numbers[0] = (tem_parameter_value){.name = "c", .value = given->c};
        out->numbers = numbers;
    }
    if (given->calibrated && certificate < 0)
        return core_fail(&last_error, TEM_ERR_CERTIFICATE,
                         "the model has no certificate for this epsilon");
    if (given->calibrated)
        out->certificate = &model.certificates[certificate];
    if (given->in_context && model.language == NULL)
        return core_fail(&last_error, TEM_ERR_ARGUMENT,
                         "no language model was loaded: give load its bytes");
    if (given->in_context)
        out->language = model.language;
    return TEM_OK;
}

EXPORT tem_status bridge_mechanism(const bridge_options *given, web_mechanism **out) {
    const int32_t certificate =
        given->calibrated ? web_model_certificate(&model, given->epsilon) : -1;
    tem_parameter_value numbers[2] = {{0}};
    tem_mechanism_options options;
    TRY(take_options(given, certificate, numbers, &options));
    web_mechanism *made = core_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return core_fail_memory(&last_error);
    made->certificate = certificate;
    const mechanism_ops *ops = given->kind == BRIDGE_RANK ? &mechanism_rank : &mechanism_tem;
    const tem_status status = mechanism_make(model.tem, ops, &options, &made->tem, &last_error);
    if (status == TEM_OK)
        *out = made;
    else
        core_free(made);
    return status;
}

/* Results: epsilon, s, gamma, epsilon gamma, and the bound between any two words, as doubles. */
EXPORT tem_status bridge_mechanism_info(const web_mechanism *mechanism) {
    tem_mechanism_info info;
    double *out = room_for(5, sizeof *out);
    if (out == NULL)
        return core_fail_memory(&last_error);
    mechanism_get_info(mechanism->tem, &info);
    out[0] = info.epsilon;
    out[1] = info.s;
    out[2] = info.gamma;
    out[3] = info.epsilon_gamma;
    out[4] = info.bound;
    return TEM_OK;
}

/* Whether a word of a document may be drawn again while all others keep their draws.
 * PRIVACY: in context the draws after it depend on its draw. Kept, they would have another law. */
EXPORT tem_status bridge_check_edits(const web_mechanism *mechanism) {
    return mechanism_check_independent(
        mechanism->tem, "no word can be drawn again by itself: draw for all words after it, too",
        &last_error);
}

/* ---- draws ---- */

EXPORT void *bridge_entropy(void) {
    return entropy_pool;
}

EXPORT void bridge_entropy_filled(void) {
    entropy_left = ENTROPY_BYTES;
}

/* Makes the generator of one call: by `seed` if there is one, else secure.
 * PRIVACY: a secure generator is keyed by random bytes of this call alone. Without them nothing is
 * drawn, not even by a seed: rng.c asks once whether there are random bytes at all. */
static tem_status begin(tem_rng *rng, const uint64_t *seed) {
    if (entropy_left != ENTROPY_BYTES)
        return core_fail(&last_error, TEM_ERR_UNSUPPORTED, "no random bytes were given");
    if (seed != NULL)
        rng_init_seeded(rng, *seed, 0);
    else
        rng_init_secure(rng);
    explicit_bzero(entropy_pool, sizeof entropy_pool);
    entropy_left = 0;
    return TEM_OK;
}

/* Draws for `count` words, in place; TEM_NO_WORD is an unknown word. After a failure the words are
 * erased. */
EXPORT tem_status bridge_draw(const web_mechanism *mechanism, uint32_t *words, size_t count) {
    tem_rng rng;
    tem_status status = begin(&rng, NULL);
    if (status == TEM_OK) {
        status = mechanism_draw(mechanism->tem, &rng, words, words, count, &last_error);
        rng_wipe(&rng);
    }
    if (status != TEM_OK)
        explicit_bzero(words, count * sizeof *words);
    return status;
}

/* Shows a document what it has released before: outputs and line ends. */
static tem_status show_past(text_drawing *d, const uint32_t *past, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const bool is_word = past[i] < model.tem->words.count;
        if ((!is_word && past[i] != RELEASED_LINE_END) ||
            (is_word && model_is_excluded(model.tem, past[i])))
            return core_fail(&last_error, TEM_ERR_ARGUMENT,
                             "the past must have words that the mechanism can draw");
        TRY(drawing_show(d, past[i], &last_error));
    }
    return TEM_OK;
}

/* Draws for `count` words of a document that has released `past`, in place. After a failure the
 * words are erased.
 * PRIVACY: the law of each word is that of its place in the document (job/drawing.h), provided the
 * past is what the document has released, each draw once. */
EXPORT tem_status bridge_draw_next(const web_mechanism *mechanism, const uint32_t *past,
                                   size_t past_count, uint32_t *words, size_t count) {
    tem_rng rng;
    text_drawing d;
    tem_status status = drawing_init(&d, mechanism->tem, &last_error);
    if (status == TEM_OK)
        status = drawing_begin(&d, &last_error);
    if (status == TEM_OK)
        status = show_past(&d, past, past_count);
    if (status == TEM_OK)
        status = begin(&rng, NULL);
    if (status == TEM_OK) {
        status = drawing_draw(&d, &rng, words, count, &last_error);
        rng_wipe(&rng);
    }
    drawing_free(&d);
    if (status != TEM_OK)
        explicit_bzero(words, count * sizeof *words);
    return status;
}

/* What happens to a text; 0: as usual. The fields are those of tem_text_options. */
typedef struct bridge_text_options {
    uint32_t oov, punctuation, keep_lines, style, repeat;
    uint32_t seeded; /* draws by `seed` instead of random bytes, as the first document of a run with
                      * --insecure-seed. The output is not private then */
    uint64_t seed;
} bridge_text_options;

/* Results: the private text. counts receives the numbers of its bytes, words, unknown words, and
 * words that were drawn for. */
EXPORT tem_status bridge_privatize(const web_mechanism *mechanism, const char *text, size_t bytes,
                                   const bridge_text_options *given, uint32_t counts[4]) {
    const tem_text_options options = {.oov = (tem_oov)given->oov,
                                      .punctuation = (tem_punctuation)given->punctuation,
                                      .keep_lines = (int)given->keep_lines,
                                      .style = (tem_style)given->style,
                                      .repeat = (tem_repeat)given->repeat};
    tem_rng rng;
    replacer r;
    tem_counts found = {0};
    core_buffer_clear(&results);
    TRY(replacer_init(&r, mechanism->tem, &options, &last_error));
    tem_status status = begin(&rng, given->seeded ? &given->seed : NULL);
    if (status == TEM_OK) {
        status = replacer_run(&r, &rng, text, bytes, &results, &found, &last_error);
        rng_wipe(&rng);
    }
    replacer_free(&r);
    counts[0] = (uint32_t)results.size;
    counts[1] = (uint32_t)found.words;
    counts[2] = (uint32_t)found.unknown;
    counts[3] = (uint32_t)counts_charged(&r.options, &found);
    return status;
}

/* Results: released words as one line in this style, *size bytes long. Draws nothing. */
EXPORT tem_status bridge_write(const web_mechanism *mechanism, const uint32_t *words, size_t count,
                               tem_style style, uint32_t *size) {
    const tem_text_options options = {.style = style};
    replacer r;
    core_buffer_clear(&results);
    for (size_t i = 0; i < count; i++)
        TRY(check_word(words[i]));
    tem_status status = replacer_init(&r, mechanism->tem, &options, &last_error);
    if (status != TEM_OK)
        return status;
    status = replacer_write(&r, words, count, &results, &last_error);
    replacer_free(&r);
    *size = (uint32_t)results.size;
    return status;
}

/* ---- the law of a word ---- */

EXPORT tem_status bridge_self(const web_mechanism *mechanism, uint32_t id, double *self) {
    const tem_status status = check_word(id);
    return status == TEM_OK ? mechanism_self(mechanism->tem, id, self, &last_error) : status;
}

/* exp(entropy) of a law. */
static double support_of(const double *row, uint32_t count) {
    double entropy = 0;
    for (uint32_t y = 0; y < count; y++)
        if (row[y] > 0)
            entropy -= row[y] * log(row[y]);
    return exp(entropy);
}

/* Moves the outputs among `count` words to the front, `top` of them at most. Returns their
 * number. */
static uint32_t keep_outputs(tem_neighbour *near, uint32_t count, uint32_t top) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && kept < top; i++)
        if (!model_is_excluded(model.tem, near[i].id))
            near[kept++] = near[i];
    return kept;
}

/* Leaves the nearest outputs of a word in `near`, which has room for `top`, and their number in
 * *kept. */
static tem_status find_nearest(uint32_t id, uint32_t top, tem_neighbour *near, uint32_t *kept) {
    const uint32_t count = model.tem->words.count, excluded = model.tem->excluded_count;
    const uint32_t near_count = top < count - excluded ? top + excluded : count;
    tem_neighbour *all = core_alloc(near_count, sizeof *all);
    const tem_status status = all == NULL
                                  ? core_fail_memory(&last_error)
                                  : search_nearest(&model.tem->space, &model.tem->index, &id, 1,
                                                   near_count, NULL, all, &last_error);
    if (status == TEM_OK) {
        *kept = keep_outputs(all, near_count, top);
        memcpy(near, all, *kept * sizeof *near);
    }
    core_free(all);
    return status;
}

typedef struct likely_word {
    double probability;
    uint32_t id;
} likely_word;

/* The likeliest first, ties by id. */
static int compare_likely(const void *a, const void *b) {
    const likely_word *x = a, *y = b;
    if (x->probability > y->probability || x->probability < y->probability)
        return x->probability > y->probability ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* The same for the likeliest outputs. */
static tem_status find_likeliest(uint32_t id, uint32_t top, const double *row, tem_neighbour *near,
                                 uint32_t *kept) {
    const uint32_t count = model.tem->words.count, outputs = count - model.tem->excluded_count;
    likely_word *all = core_alloc(count, sizeof *all);
    if (all == NULL)
        return core_fail_memory(&last_error);
    for (uint32_t y = 0; y < count; y++)
        all[y] = (likely_word){model_is_excluded(model.tem, y) ? -1 : row[y], y};
    qsort(all, count, sizeof *all, compare_likely);
    *kept = top < outputs ? top : outputs;
    for (uint32_t i = 0; i < *kept; i++)
        near[i] = (tem_neighbour){.id = all[i].id,
                                  .distance = space_distance(&model.tem->space, id, all[i].id)};
    core_free_erased(all, count * sizeof *all);
    return TEM_OK;
}

/* Results and numbers of bridge_explain, from the law of the word. Changes the row. */
static tem_status tell_law(uint32_t id, uint32_t top, bool by_distance, double *row,
                           double numbers[5]) {
    const uint32_t count = model.tem->words.count;
    tem_neighbour *near = room_for(top, sizeof *near + sizeof *row);
    uint32_t kept = 0;
    if (near == NULL)
        return core_fail_memory(&last_error);
    TRY(by_distance ? find_nearest(id, top, near, &kept)
                    : find_likeliest(id, top, row, near, &kept));
    double *out = (double *)(void *)(results.data + top * sizeof *near);
    numbers[2] = row[id];
    numbers[3] = support_of(row, count);
    numbers[4] = kept;
    for (uint32_t i = 0; i < kept; i++) {
        out[i] = row[near[i].id];
        row[near[i].id] = 0;
    }
    numbers[0] = 0;
    numbers[1] = count - model.tem->excluded_count - kept;
    for (uint32_t y = 0; y < count; y++)
        numbers[0] += row[y];
    return TEM_OK;
}

static tem_status check_top(uint32_t top) {
    return top >= 1 && top <= model.tem->words.count
               ? TEM_OK
               : core_fail(&last_error, TEM_ERR_ARGUMENT, "top must be 1 to the number of words");
}

/* Results: the `top` nearest outputs as id and distance, and from byte 8 * top on
 * their probabilities, as doubles; of a law that does not follow the distance the likeliest
 * outputs. numbers receives the probability and the number of all other outputs, N_w, S_w, and the
 * number of results. The probabilities have a relative error below 10^-12. */
EXPORT tem_status bridge_explain(const web_mechanism *mechanism, uint32_t id, uint32_t top,
                                 double numbers[5]) {
    TRY(check_word(id));
    TRY(check_top(top));
    double *row = core_alloc(model.tem->words.count, sizeof *row);
    tem_status status = row == NULL ? core_fail_memory(&last_error)
                                    : mechanism_row(mechanism->tem, id, row, &last_error);
    if (status == TEM_OK)
        status = tell_law(id, top, mechanism_is_exponential(mechanism->tem), row, numbers);
    core_free_erased(row, model.tem->words.count * sizeof *row);
    return status;
}

/* Sets row[y] to P(y | id) after a past. A line begins like a document: what came before it does
 * not matter. */
static tem_status row_after(const web_mechanism *mechanism, const uint32_t *past, size_t count,
                            uint32_t id, double *row) {
    size_t line = count;
    while (line > 0 && past[line - 1] != RELEASED_LINE_END)
        line--;
    past += line;
    count -= line;
    uint64_t *values = core_alloc(model.tem->words.count, sizeof *values);
    const tem_status status =
        values == NULL ? core_fail_memory(&last_error)
                       : mechanism_weights_after(mechanism->tem, past, count, values, &last_error);
    if (status == TEM_OK)
        law_row_weighed(mechanism->tem->context.form, values, id, row);
    core_free_erased(values, model.tem->words.count * sizeof *values);
    return status;
}

/* N_w after a past. */
EXPORT tem_status bridge_self_after(const web_mechanism *mechanism, const uint32_t *past,
                                    size_t past_count, uint32_t id, double *self) {
    TRY(check_word(id));
    double *row = core_alloc(model.tem->words.count, sizeof *row);
    const tem_status status = row == NULL ? core_fail_memory(&last_error)
                                          : row_after(mechanism, past, past_count, id, row);
    if (status == TEM_OK)
        *self = row[id];
    core_free_erased(row, model.tem->words.count * sizeof *row);
    return status;
}

/* As bridge_explain, for a document that shows `past`, with the likeliest outputs. The law is that
 * of the language model's weights at this place. */
EXPORT tem_status bridge_explain_after(const web_mechanism *mechanism, const uint32_t *past,
                                       size_t past_count, uint32_t id, uint32_t top,
                                       double numbers[5]) {
    TRY(check_word(id));
    TRY(check_top(top));
    double *row = core_alloc(model.tem->words.count, sizeof *row);
    tem_status status = row == NULL ? core_fail_memory(&last_error)
                                    : row_after(mechanism, past, past_count, id, row);
    if (status == TEM_OK)
        status = tell_law(id, top, false, row, numbers);
    core_free_erased(row, model.tem->words.count * sizeof *row);
    return status;
}

/* ---- the words behind an output ---- */

/* Results: the `top` likeliest inputs behind the output y, as guessed_word (guess.h): an id and, 8
 * bytes after it, a double. */
EXPORT tem_status bridge_posterior(web_mechanism *mechanism, uint32_t y, uint32_t top) {
    TRY(check_top(top));
    tem_status status = mechanism_check_exponential(mechanism->tem, &last_error);
    if (status == TEM_OK && mechanism->guesser.gains == NULL)
        status = guesser_make(mechanism->tem, &model.table, mechanism->certificate,
                              &mechanism->guesser, &last_error);
    if (status != TEM_OK)
        return status;
    guessed_word *out = room_for(top, sizeof *out);
    return out == NULL ? core_fail_memory(&last_error)
                       : guesser_top(&mechanism->guesser, y, top, out, &last_error);
}

/* Results: ln Z of every word as the table has it for this mechanism, as doubles. For tests. */
EXPORT tem_status bridge_log_totals(const web_mechanism *mechanism) {
    double *out = room_for(model.tem->words.count, sizeof *out);
    tem_mechanism_info info;
    if (out == NULL)
        return core_fail_memory(&last_error);
    mechanism_get_info(mechanism->tem, &info);
    if (mechanism->certificate >= 0)
        log_totals_certified(&model.table, (uint32_t)mechanism->certificate, out);
    else
        log_totals_plain(&model.table, info.s, out);
    return TEM_OK;
}

/* ---- pictures ---- */

/* Results: the picture, *bytes long. bridge_picture.h says what the strings and numbers are. */
EXPORT tem_status bridge_picture(uint32_t kind, const char *strings, size_t string_bytes,
                                 const double *numbers, size_t number_bytes, uint32_t *bytes) {
    picture_data data = {strings, string_bytes, numbers, number_bytes / sizeof *numbers};
    core_buffer_clear(&results);
    tem_status status =
        bridge_draw_picture((bridge_picture_kind)kind, &data, &results, &last_error);
    if (status == TEM_OK)
        *bytes = (uint32_t)results.size;
    return status;
}
