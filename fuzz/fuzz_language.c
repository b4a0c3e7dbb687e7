/* fuzz_language.c - any bytes as a language model.
 *
 * The target opens each input twice: unchanged, and with its hashes corrected, since otherwise tem
 * would refuse nearly every change because of a hash. If a position can be used, its total must be
 * the sum of the weights, every output must weigh at least 1, and draws must give outputs; whether
 * or not the whole file passes verification. What passes must work at every position, and be read
 * as n-grams. Nobody trusts it meanwhile. */
#include "six_words.h"
#include "target.h"

#include "language/language_file.h"
#include "language/ngram_listed.h"

#include <string.h>

enum { PAST_WORDS = SIX_WORDS + 3, DRAWS = 4 };

static const uint32_t past_words[PAST_WORDS] = {
    0, 1, 2, 3, 4, 5, RELEASED_KEPT_WORD, RELEASED_LINE_END, RELEASED_PUNCTUATION};

/* Corrects numbers and hashes where possible. */
static void reseal(char *file, size_t size) {
    language_header header;
    language_layout layout;
    if (size < sizeof header)
        return;
    memcpy(&header, file, sizeof header);
    model_outputs_hash(six_words(), header.outputs_hash);
    if (!language_lay_out(&header, &layout) || layout.file_bytes != size)
        return;
    header.body = (uint32_t)layout.body;
    header.file_bytes = size;
    memcpy(file, &header, sizeof header);
    language_seal seal = {.zero = {0}};
    for (uint64_t block = 0; block < layout.blocks; block++) {
        const uint64_t begin = layout.body + block * LANGUAGE_BLOCK, left = size - begin;
        core_hash256(file + begin, left < LANGUAGE_BLOCK ? left : LANGUAGE_BLOCK,
                     (unsigned char *)file + sizeof header + sizeof seal + block * CORE_HASH_BYTES);
    }
    language_seal_hash(file, &layout, seal.hash);
    memcpy(file + sizeof header, &seal, sizeof seal);
}

static void check_position(const tem_language *language, const position_weights *at, tem_rng *rng) {
    uint64_t sum = 0;
    for (uint32_t y = 0; y < SIX_WORDS; y++) {
        const uint64_t weight = language->ops->weight(at, y);
        if (weight == 0)
            abort();
        sum += weight;
    }
    if (sum != at->total)
        abort();
    for (int i = 0; i < DRAWS; i++)
        if (language->ops->draw(at, rng) >= SIX_WORDS)
            abort();
}

/* Returns whether all positions can be used. */
static bool use_positions(const tem_language *language, tem_rng *rng) {
    bool all = true;
    for (uint32_t h = 0; h < PAST_WORDS * PAST_WORDS; h++)
        for (size_t count = 0; count < 3; count++) {
            const uint32_t words[] = {past_words[h / PAST_WORDS], past_words[h % PAST_WORDS]};
            const released_past past = {.words = words + 2 - count, .count = count};
            position_weights at = {.state = language->state};
            const bool can =
                language->ops->position(language->state, NULL, &past, &at, NULL) == TEM_OK;
            if (can)
                check_position(language, &at, rng);
            all &= can;
        }
    return all;
}

/* Returns whether the file opens and passes verification. */
static bool use_copy(const uint8_t *data, size_t size, bool resealed) {
    void *block = NULL;
    tem_language *language = NULL;
    tem_rng *rng = NULL;
    if (posix_memalign(&block, LANGUAGE_ALIGNMENT, size == 0 ? 1 : size) != 0)
        return false;
    if (size > 0)
        memcpy(block, data, size);
    if (resealed)
        reseal(block, size);
    const file_view view = {.data = block, .size = size, .mapped = false};
    if (language_from_view(view, "input", six_words(), &language, NULL) != TEM_OK)
        return false;
    if (tem_rng_create_insecure(1, 1, &rng, NULL) != TEM_OK || tem_language_is_trusted(language))
        abort();
    const bool can_all = use_positions(language, rng);
    const bool is_good = tem_language_verify(language, NULL, NULL) == TEM_OK;
    if (is_good && !can_all)
        abort();
    tem_rng_free(rng);
    tem_language_free(language);
    return is_good;
}

/* What passes verification is read as n-grams. */
static void read_as_ngrams(const uint8_t *data, size_t size) {
    void *block = NULL;
    ngram_listed listed;
    if (posix_memalign(&block, LANGUAGE_ALIGNMENT, size) != 0)
        return;
    memcpy(block, data, size);
    file_view view = {.data = block, .size = size, .mapped = false};
    if (ngram_listed_begin(&listed, six_words(), "input", NULL) == TEM_OK &&
        ngram_read_file(&view, NULL, &listed, NULL) != TEM_OK)
        abort();
    ngram_listed_free(&listed);
}

bool fuzz_input(const uint8_t *data, size_t size) {
    use_copy(data, size, true);
    const bool is_good = use_copy(data, size, false);
    if (is_good)
        read_as_ngrams(data, size);
    return is_good;
}
