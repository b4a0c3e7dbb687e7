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
#include "job/replacer.h"
#include "map.h"
#include "mech/law_row.h"
#include "piece_places.h"
#include "port.h"

#include <math.h>
#include <sodium.h>

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

/* Sets *out to the mechanism `tem`. beta, gamma: 0 if not given. calibrated: by the certificate for
 * this epsilon. */
EXPORT tem_status bridge_mechanism(double epsilon, double beta, double gamma, int calibrated,
                                   web_mechanism **out) {
    tem_mechanism_options options = {.epsilon = epsilon, .beta = beta, .gamma = gamma};
    const int32_t certificate = calibrated ? web_model_certificate(&model, epsilon) : -1;
    if (calibrated && certificate < 0)
        return core_fail(&last_error, TEM_ERR_CERTIFICATE,
                         "the model has no certificate for this epsilon");
    if (calibrated)
        options.certificate = &model.certificates[certificate];
    web_mechanism *made = core_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return core_fail_memory(&last_error);
    made->certificate = certificate;
    const tem_status status =
        mechanism_make(model.tem, &mechanism_tem, &options, &made->tem, &last_error);
    if (status == TEM_OK)
        *out = made;
    else
        core_free(made);
    return status;
}

/* Results: epsilon, s, gamma and epsilon gamma, as doubles. */
EXPORT tem_status bridge_mechanism_info(const web_mechanism *mechanism) {
    tem_mechanism_info info;
    double *out = room_for(4, sizeof *out);
    if (out == NULL)
        return core_fail_memory(&last_error);
    mechanism_get_info(mechanism->tem, &info);
    out[0] = info.epsilon;
    out[1] = info.s;
    out[2] = info.gamma;
    out[3] = info.epsilon_gamma;
    return TEM_OK;
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

/* Results: the private text. counts receives the numbers of its bytes, words and unknown words.
 * seeded: draws by `seed` instead of random bytes, as the first document of a run with
 * --insecure-seed. The output is not private then. */
EXPORT tem_status bridge_privatize(const web_mechanism *mechanism, const char *text, size_t bytes,
                                   tem_oov oov, tem_punctuation punctuation, int keep_lines,
                                   int seeded, uint64_t seed, uint32_t counts[3]) {
    const tem_text_options options = {
        .oov = oov, .punctuation = punctuation, .keep_lines = keep_lines};
    tem_rng rng;
    replacer r;
    tem_counts found = {0};
    core_buffer_clear(&results);
    tem_status status = replacer_init(&r, mechanism->tem, &options, &last_error);
    if (status == TEM_OK)
        status = begin(&rng, seeded ? &seed : NULL);
    if (status != TEM_OK)
        return status;
    status = replacer_run(&r, &rng, text, bytes, &results, &found, &last_error);
    replacer_free(&r);
    rng_wipe(&rng);
    counts[0] = (uint32_t)results.size;
    counts[1] = (uint32_t)found.words;
    counts[2] = (uint32_t)found.unknown;
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

/* Results: the `top` nearest outputs as id and distance, and from byte 8 * top on
 * their probabilities, as doubles. numbers receives the probability and the number of all other
 * outputs, N_w, S_w, and the number of results. The probabilities have a relative error below
 * 10^-12. */
EXPORT tem_status bridge_explain(const web_mechanism *mechanism, uint32_t id, uint32_t top,
                                 double numbers[5]) {
    const uint32_t count = model.tem->words.count, excluded = model.tem->excluded_count;
    const uint32_t near_count = top < count - excluded ? top + excluded : count;
    tem_status status = bridge_neighbours(id, near_count);
    if (status != TEM_OK)
        return status;
    double *row = core_alloc(count, sizeof *row);
    if (row == NULL || !core_buffer_reserve(&results, top * sizeof *row)) {
        core_free(row);
        return core_fail_memory(&last_error);
    }
    status = mechanism_row(mechanism->tem, id, row, &last_error);
    if (status == TEM_OK) {
        tem_neighbour *near = (tem_neighbour *)(void *)results.data;
        double *out = (double *)(void *)(results.data + top * sizeof *near);
        const uint32_t kept = keep_outputs(near, near_count, top);
        numbers[2] = row[id];
        numbers[3] = support_of(row, count);
        numbers[4] = kept;
        for (uint32_t i = 0; i < kept; i++) {
            out[i] = row[near[i].id];
            row[near[i].id] = 0;
        }
        numbers[0] = 0;
        numbers[1] = count - excluded - kept;
        for (uint32_t y = 0; y < count; y++)
            numbers[0] += row[y];
    }
    core_free(row);
    return status;
}

/* ---- the words behind an output ---- */

/* Results: the `top` likeliest inputs behind the output y, as guessed_word (guess.h): an id and, 8
 * bytes after it, a double. */
EXPORT tem_status bridge_posterior(web_mechanism *mechanism, uint32_t y, uint32_t top) {
    if (top < 1 || top > model.tem->words.count)
        return core_fail(&last_error, TEM_ERR_ARGUMENT, "top must be 1 to the number of words");
    tem_status status = TEM_OK;
    if (mechanism->guesser.gains == NULL)
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
