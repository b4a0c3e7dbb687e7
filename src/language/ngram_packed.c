/* ngram_packed.c - reads packed n-grams, NAME.temng (docs/FORMAT.md).
 *
 * ARPA text has some 20 bytes per n-gram; the same n-grams take 2 here, so general English comes
 * with tem's sources. The words are those of the file; a model takes what it has of them. */
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "language/ngram_listed.h"
#include "model/model.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

#define PACKED_MAGIC "TEMNGRAM"

enum {
    PACKED_VERSION = 1,
    PLANES = 4,
    GROWTH_MOST = 32768, /* as in model/vectors_grid.c */
    STEPS_MOST = 1 << 16
};

typedef struct packed_header {
    char magic[8];
    uint32_t version;
    uint32_t order; /* 1 to 3 */
    uint32_t words, bigrams, trigrams;
    uint32_t steps; /* of logarithms: per unit */
    uint64_t word_bytes;
    unsigned char zero[24];
} packed_header;

_Static_assert(sizeof(packed_header) == 64, "the header of the file");

/* Numbers of 32 bits: the low bytes of all, then the next ones. */
typedef struct column {
    const unsigned char *bytes;
    uint64_t count;
} column;

typedef struct packed_reader {
    ngram_listed *listed;
    packed_header header;
    char *content;
    size_t bytes, at;
    uint32_t
        *symbols; /* of the model, by those of the file; g->symbols: the model lacks the word */
    column single, counts2, gaps2, logs2, counts3, gaps3, logs3;
    uint32_t *seconds; /* the last word of each bigram, as the file has it */
    uint32_t *firsts;  /* its first word */
} packed_reader;

static tem_status fail(const packed_reader *r, tem_error *error, const char *message) {
    return core_fail_at(error, TEM_ERR_FORMAT, r->listed->path, 0, 0, "%s", message);
}

bool ngram_is_packed(const file_view *file) {
    return file->size >= strlen(PACKED_MAGIC) &&
           memcmp(file->data, PACKED_MAGIC, strlen(PACKED_MAGIC)) == 0;
}

/* -------------------------------------------------------------- unpacking -- */

/* Below 2^38, since the counts have 32 bits and the words 2^31 bytes. */
static uint64_t content_bytes(const packed_header *h) {
    const uint64_t symbols = (uint64_t)h->words + 2;
    return h->word_bytes +
           PLANES * (2 * symbols + 3 * (uint64_t)h->bigrams + 2 * (uint64_t)h->trigrams);
}

static tem_status read_header(packed_reader *r, const file_view *file, tem_error *error) {
    static const unsigned char zero[sizeof r->header.zero] = {0};
    packed_header *h = &r->header;
    if (file->size < sizeof *h)
        return fail(r, error, "the file is cut short: expected a header of 64 bytes");
    memcpy(h, file->data, sizeof *h);
    if (h->version != PACKED_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, r->listed->path, 0, 0,
                            "the n-grams have version %u, and this tem reads version %d",
                            h->version, PACKED_VERSION);
    if (h->order < 1 || h->order > NGRAM_ORDER_MAX || h->steps < 1 || h->steps > STEPS_MOST ||
        h->words < 1 || h->words > TEM_NGRAM_WORDS_MAX || (h->order < 2 && h->bigrams > 0) ||
        (h->order < 3 && h->trigrams > 0) || h->word_bytes > INT32_MAX ||
        memcmp(h->zero, zero, sizeof zero) != 0)
        return fail(r, error, "a number in the header is out of range");
    return TEM_OK;
}

static tem_status unpack(packed_reader *r, const file_view *file, tem_error *error) {
    const char *frame = file->data + sizeof r->header;
    const size_t frame_bytes = file->size - sizeof r->header;
    const uint64_t bytes = content_bytes(&r->header);
    if (ZSTD_getFrameContentSize(frame, frame_bytes) != bytes ||
        bytes / GROWTH_MOST > frame_bytes ||
        ZSTD_findFrameCompressedSize(frame, frame_bytes) != frame_bytes)
        return fail(r, error, "expected one zstd frame of the size that the header gives");
    r->bytes = bytes;
    r->content = core_alloc(bytes, 1);
    if (r->content == NULL)
        return core_fail_memory(error);
    return ZSTD_decompress(r->content, bytes, frame, frame_bytes) == bytes
               ? TEM_OK
               : fail(r, error, "the zstd frame is damaged");
}

static column next_column(packed_reader *r, uint64_t count) {
    const column c = {(const unsigned char *)r->content + r->at, count};
    r->at += PLANES * count;
    return c;
}

static void find_columns(packed_reader *r) {
    const packed_header *h = &r->header;
    const uint64_t symbols = (uint64_t)h->words + 2;
    r->at = h->word_bytes;
    r->single = next_column(r, symbols);
    r->counts2 = next_column(r, symbols);
    r->gaps2 = next_column(r, h->bigrams);
    r->logs2 = next_column(r, h->bigrams);
    r->counts3 = next_column(r, h->bigrams);
    r->gaps3 = next_column(r, h->trigrams);
    r->logs3 = next_column(r, h->trigrams);
}

static uint32_t number_at(const column *c, uint64_t i) {
    uint32_t number = 0;
    for (unsigned plane = PLANES; plane-- > 0;)
        number = number << 8 | c->bytes[plane * c->count + i];
    return number;
}

static double probability_at(const packed_reader *r, const column *logs, uint64_t i) {
    return exp(-(double)number_at(logs, i) / r->header.steps);
}

/* ------------------------------------------------------------------ words -- */

static tem_status read_words(packed_reader *r, tem_error *error) {
    const tem_ngram *g = r->listed->g;
    const char *at = r->content, *end = r->content + r->header.word_bytes;
    const uint32_t words = r->header.words;
    r->symbols = core_alloc((size_t)words + 2, sizeof *r->symbols);
    if (r->symbols == NULL)
        return core_fail_memory(error);
    for (uint32_t i = 0; i < words; i++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        if (feed == NULL)
            return fail(r, error, "the file has fewer words than it promises");
        const uint32_t id = vocab_find(&g->model->words, at, (size_t)(feed - at));
        r->symbols[i] = id == TEM_NO_WORD ? g->symbols : id;
        at = feed + 1;
    }
    r->symbols[words] = g->unknown;
    r->symbols[words + 1] = g->edge;
    return at == end ? TEM_OK : fail(r, error, "the file has more words than it promises");
}

static tem_status read_single(packed_reader *r, tem_error *error) {
    ngram_listed *l = r->listed;
    for (uint32_t i = 0; i < r->header.words + 2; i++) {
        const uint32_t symbol = r->symbols[i];
        const double p = probability_at(r, &r->single, i);
        if (symbol == l->g->symbols || symbol == l->g->unknown) {
            l->g->info.outside += symbol == l->g->symbols;
            l->spare += p;
            continue;
        }
        if (l->found[symbol])
            return fail(r, error, "a word occurs twice");
        l->found[symbol] = true;
        l->g->p[symbol] = p;
    }
    return TEM_OK;
}

/* ---------------------------------------------------------------- n-grams -- */

/* Reads the next id of a row; `before` is UINT32_MAX at its begin. */
static bool next_id(const packed_reader *r, const column *gaps, uint64_t i, uint32_t *before) {
    const uint64_t id = (uint64_t)(uint32_t)(*before + 1) + number_at(gaps, i);
    if (id >= (uint64_t)r->header.words + 2)
        return false;
    *before = (uint32_t)id;
    return true;
}

static tem_status alloc_entries(packed_reader *r, tem_error *error) {
    const packed_header *h = &r->header;
    ngram_entry **entries = r->listed->entries;
    entries[2] = core_alloc(h->bigrams, sizeof **entries);
    entries[3] = core_alloc(h->trigrams, sizeof **entries);
    r->firsts = core_alloc(h->bigrams, sizeof *r->firsts);
    r->seconds = core_alloc(h->bigrams, sizeof *r->seconds);
    return entries[2] == NULL || entries[3] == NULL || r->firsts == NULL || r->seconds == NULL
               ? core_fail_memory(error)
               : TEM_OK;
}

static tem_status read_bigrams(packed_reader *r, tem_error *error) {
    const tem_ngram *g = r->listed->g;
    uint64_t at = 0;
    for (uint32_t h = 0; h < r->header.words + 2; h++) {
        const uint32_t count = number_at(&r->counts2, h);
        uint32_t id = UINT32_MAX;
        if (count > r->header.bigrams - at)
            return fail(r, error, "more bigrams than the file promises");
        for (uint32_t k = 0; k < count; k++, at++) {
            if (!next_id(r, &r->gaps2, at, &id))
                return fail(r, error, "a bigram has a word that the file does not have");
            const uint64_t u = r->firsts[at] = r->symbols[h], v = r->seconds[at] = r->symbols[id];
            if (u != g->symbols && v != g->symbols)
                ngram_list(r->listed, 2, u << NGRAM_PART_BITS | v,
                           probability_at(r, &r->logs2, at));
        }
    }
    return at == r->header.bigrams ? TEM_OK
                                   : fail(r, error, "fewer bigrams than the file promises");
}

static tem_status read_trigrams(packed_reader *r, tem_error *error) {
    const tem_ngram *g = r->listed->g;
    uint64_t at = 0;
    for (uint64_t pair = 0; pair < r->header.bigrams; pair++) {
        const uint32_t count = number_at(&r->counts3, pair);
        uint32_t id = UINT32_MAX;
        if (count > r->header.trigrams - at)
            return fail(r, error, "more trigrams than the file promises");
        const uint64_t u = r->firsts[pair], v = r->seconds[pair];
        for (uint32_t k = 0; k < count; k++, at++) {
            if (!next_id(r, &r->gaps3, at, &id))
                return fail(r, error, "a trigram has a word that the file does not have");
            const uint64_t w = r->symbols[id];
            if (u != g->symbols && v != g->symbols && v != g->edge && w != g->symbols)
                ngram_list(r->listed, 3, (u << NGRAM_PART_BITS | v) << NGRAM_PART_BITS | w,
                           probability_at(r, &r->logs3, at));
        }
    }
    return at == r->header.trigrams ? TEM_OK
                                    : fail(r, error, "fewer trigrams than the file promises");
}

static tem_status read_content(packed_reader *r, const tem_run *run, tem_error *error) {
    find_columns(r);
    TRY(read_words(r, error));
    TRY(read_single(r, error));
    TRY(core_progress(run, "reading n-grams", 0, 0, error));
    TRY(alloc_entries(r, error));
    TRY(read_bigrams(r, error));
    TRY(read_trigrams(r, error));
    TRY(core_progress(run, "sorting n-grams", 0, 0, error));
    return ngram_from_listed(r->listed, r->header.order, error);
}

tem_status ngram_read_packed(const file_view *file, const tem_run *run, ngram_listed *listed,
                             tem_error *error) {
    packed_reader r = {.listed = listed};
    tem_status status = read_header(&r, file, error);
    if (status == TEM_OK)
        status = unpack(&r, file, error);
    if (status == TEM_OK)
        status = read_content(&r, run, error);
    core_free(r.seconds);
    core_free(r.firsts);
    core_free(r.symbols);
    core_free(r.content);
    return status;
}
