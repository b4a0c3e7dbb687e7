/* fuzz_model.c - any bytes as a model file.
 *
 * The target opens each input twice: unchanged, and with its hashes corrected, since otherwise tem
 * would refuse nearly every change because of a hash. If the input opens, the target reads its
 * content. Calls that draw must refuse it while nobody trusts it. It may become trusted only if its
 * hashes match. Then the target draws from it all the same and, if it is small, verifies it. A
 * model that passes verification must keep the promises of a verified model. */
#include "target.h"

#include "core/memory.h"
#include "model/model_layout.h"

#include <stdlib.h>
#include <string.h>

enum {
    USED_MOST = 64,      /* words to inspect */
    VERIFIED_MOST = 8192 /* largest file to verify, so that it is quick */
};

static size_t front_bytes(uint32_t sections) {
    return sizeof(model_header) + sections * sizeof(model_section) + sizeof(model_seal);
}

/* Writes the offsets and sizes that the header's numbers demand, if the sections fit the file;
 * otherwise leaves header and table unchanged. Further sections keep their kinds and sizes. */
static void lay_out(model_header *header, model_section table[SECTIONS_MAX], size_t size) {
    uint64_t word_bytes = 0, list_entries = 0, end = 0;
    model_section right[SECTIONS_MAX];
    if (metric_find((tem_metric)header->metric) == NULL)
        return;
    for (uint32_t i = 0; i < SECTIONS_REQUIRED; i++) {
        if (table[i].kind == SECTION_WORD_BYTES)
            word_bytes = table[i].bytes;
        if (table[i].kind == SECTION_LISTS)
            list_entries = table[i].bytes / sizeof(tem_neighbour);
    }
    memcpy(right, table, header->sections * sizeof *table);
    if (model_layout(header, word_bytes, list_entries, right, &end) != SECTIONS_REQUIRED)
        return;
    for (uint32_t i = SECTIONS_REQUIRED; i < header->sections && end <= size; i++) {
        right[i].offset = end;
        end = right[i].bytes <= size ? core_round_up(end + right[i].bytes, MODEL_ALIGNMENT)
                                     : UINT64_MAX;
    }
    if (end != size)
        return;
    memcpy(table, right, header->sections * sizeof *table);
    header->file_bytes = size;
    header->header_bytes = (uint32_t)front_bytes(header->sections);
}

/* Corrects the table and the hashes of all sections where possible. */
static void reseal(unsigned char *file, size_t size) {
    model_header header;
    model_section table[SECTIONS_MAX];
    if (size < sizeof header)
        return;
    memcpy(&header, file, sizeof header);
    if (header.sections < SECTIONS_REQUIRED || header.sections > SECTIONS_MAX ||
        size < front_bytes(header.sections))
        return;
    const size_t table_bytes = header.sections * sizeof *table;
    unsigned char *seal = file + sizeof header + table_bytes;
    memcpy(table, file + sizeof header, table_bytes);
    lay_out(&header, table, size);
    for (uint32_t i = 0; i < header.sections; i++)
        if (table[i].offset <= size && table[i].bytes <= size - table[i].offset)
            core_hash256(file + table[i].offset, table[i].bytes, table[i].hash);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, table, table_bytes);
    memset(seal, 0, sizeof(model_seal));
    core_hash256(file, sizeof header + table_bytes, seal);
}

/* Keeps the compiler from dropping reads whose results are unused. */
static volatile uint64_t sink;

static void use_word(const tem_model *model, uint32_t id) {
    size_t length = 0;
    tem_neighbours n = {0};
    const char *word = tem_model_word(model, id, &length);
    for (size_t i = 0; i < length; i++)
        sink += (unsigned char)word[i];
    if (word != NULL)
        sink += tem_model_find(model, word, length);
    if (tem_model_neighbours(model, id, &n, NULL) != TEM_OK)
        return;
    for (uint32_t i = 0; i < n.count; i++)
        sink +=
            n.list[i].distance + (i < USED_MOST ? tem_model_distance(model, id, n.list[i].id) : 0);
}

/* Draws for the first words. */
static void use_mechanism(const tem_model *model, const tem_mechanism_options *options,
                          uint32_t words) {
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    if (tem_mechanism_create(model, options, &mechanism, NULL) != TEM_OK)
        return;
    if (tem_rng_create_insecure(1, 1, &rng, NULL) == TEM_OK)
        for (uint32_t id = 0; id < words; id++) {
            uint32_t drawn = 0;
            if (tem_mechanism_draw(mechanism, rng, id, &drawn, NULL) == TEM_OK)
                sink += drawn;
        }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
}

/* gamma keeps the rounds of `tem` few, whatever the bounds. `rank` follows the order. */
static void use_draws(const tem_model *model, uint32_t words) {
    const tem_mechanism_options tem = {.epsilon = 1, .gamma = 2};
    const tem_mechanism_options rank = {.mechanism = "rank", .epsilon = 1};
    use_mechanism(model, &tem, words);
    use_mechanism(model, &rank, words);
}

/* A verified order is a permutation around each word: the word of each rank has this rank. */
static void check_order_of(const tem_model *model, uint32_t id) {
    for (uint32_t r = 0; model_has_order(model) && r < model->order.shape.outputs; r++)
        if (order_rank(&model->order, id, order_word(&model->order, id, r)) != r)
            abort();
}

/* The promises of a verified model about one word. */
static void check_word(const tem_model *model, uint32_t id) {
    size_t length = 0;
    tem_neighbours n = {0};
    const char *word = tem_model_word(model, id, &length);
    if (word == NULL || length == 0 || tem_model_find(model, word, length) != id ||
        tem_model_neighbours(model, id, &n, NULL) != TEM_OK)
        abort();
    for (uint32_t i = 0; i < n.count; i++)
        if (n.list[i].distance != tem_model_distance(model, id, n.list[i].id) ||
            n.list[i].distance > n.bound)
            abort();
}

/* First nobody vouches for the model; then a deceived user does. */
static void use_trust(tem_model *model, const tem_run *run) {
    const tem_mechanism_options options = {.epsilon = 1, .gamma = 2};
    tem_mechanism *mechanism = NULL;
    tem_model_info info;
    char hash[65];
    tem_model_get_info(model, &info);
    if (tem_mechanism_create(model, &options, &mechanism, NULL) != TEM_ERR_UNTRUSTED ||
        tem_model_hash(model, run, hash, NULL) != TEM_OK)
        abort();
    const int fits = strcmp(hash, info.hash) == 0;
    if (tem_model_trust(model, info.hash, run, NULL) == TEM_OK && !fits)
        abort();
    tem_model_trust_own(model);
}

/* Returns whether the model passes verification. */
static bool use_model(tem_model *model, size_t size) {
    const tem_run run = {.threads = 1};
    tem_model_info info;
    tem_model_get_info(model, &info);
    const uint32_t words = info.words < USED_MOST ? info.words : USED_MOST;
    for (uint32_t i = 0; i < words; i++) {
        use_word(model, i);
        use_word(model, info.words - 1 - i);
    }
    sink += tem_model_find(model, "absent", 6);
    use_trust(model, &run);
    use_draws(model, words);
    if (size > VERIFIED_MOST || tem_model_verify(model, &run, NULL) != TEM_OK)
        return false;
    for (uint32_t i = 0; i < words; i++) {
        check_word(model, i);
        check_order_of(model, i);
    }
    return true;
}

/* Opens a block of exactly the input's size, so that a read beyond it is detected. Returns whether
 * the model opens and passes verification. */
static bool open_copy(const uint8_t *data, size_t size, bool resealed) {
    void *block = NULL;
    tem_model *model = NULL;
    tem_error error;
    bool is_good = false;
    if (posix_memalign(&block, MODEL_ALIGNMENT, size == 0 ? 1 : size) != 0)
        return false;
    if (size > 0)
        memcpy(block, data, size);
    if (resealed)
        reseal(block, size);
    const file_view view = {.data = block, .size = size, .mapped = false};
    if (model_from_view(view, "input", &model, &error) == TEM_OK)
        is_good = use_model(model, size);
    model_free(model);
    return is_good;
}

bool fuzz_input(const uint8_t *data, size_t size) {
    open_copy(data, size, true);
    return open_copy(data, size, false);
}
