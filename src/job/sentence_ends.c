/* sentence_ends.c - where the sentences of released words end, by a public language model.
 *
 * Let q be the probabilities of the language model. In a sentence of L words so far, the last two
 * of which are g, h, the sentence ends before the words v, w if
 *
 *     L q(v | beginning) q(w | beginning, v)  >  TYPICAL q(v | g, h) q(w | h, v)
 *
 * That is the likelier of the two readings if ends have the odds L to TYPICAL. Constant odds found
 * as many ends, and left sentences of a hundred words. Probabilities of ends would say more; files
 * of language models do not have them, since no end is drawn. A short list of words that end no
 * sentence stands for them. */
#include "job/sentence_ends.h"

#include "core/status.h"
#include "text/sentence.h"

#include <string.h>

/* Measured with general English on 1,000 film reviews without their punctuation, whose sentences
 * have 19 words on average: 17 words per sentence; 43 % of the ends are found, and 37 % of those
 * written are ends of the review; at random it would be 5 %. */
enum { TYPICAL = 40, LEAST_WORDS = 3 };

static const char no_end[] =
    " a an the of to in on at by for from with into as and or but if than so because my your his "
    "its our their i we he she they am is are was were be been have has had do does did will would "
    "can could should not no very too who which that this these those some any every ";

typedef struct ends_word {
    size_t start, end;    /* in the line */
    size_t first, pieces; /* of `pieces` */
} ends_word;

void sentence_ends_free(sentence_ends *s) {
    core_buffer_free(&s->line);
    core_buffer_free(&s->words);
    core_buffer_free(&s->pieces);
}

bool sentence_ends_are_known(const tem_language *language) {
    return language != NULL && language->base != NULL && language->ops->begin == NULL;
}

/* ---- reading the words ---- */

static tem_status add_word(sentence_ends *s, text_pieces *cutter, size_t start, size_t end,
                           tem_error *error) {
    const ends_word word = {.start = start, .end = end};
    TRY(text_pieces_cut(cutter, s->line.data + start, end - start, error));
    ends_word added = word;
    added.first = s->pieces.size / sizeof(uint32_t);
    added.pieces = cutter->count;
    for (size_t i = 0; i < cutter->count; i++) {
        const uint32_t id = cutter->pieces[i].id;
        const uint32_t piece = id == TEM_NO_WORD ? RELEASED_KEPT_WORD : id;
        if (!core_buffer_add(&s->pieces, &piece, sizeof piece))
            return core_fail_memory(error);
    }
    return core_buffer_add(&s->words, &added, sizeof added) ? TEM_OK : core_fail_memory(error);
}

static tem_status read_words(sentence_ends *s, text_pieces *cutter, tem_error *error) {
    s->words.size = s->pieces.size = 0;
    for (size_t at = 0; at < s->line.size;) {
        const char *blank = memchr(s->line.data + at, ' ', s->line.size - at);
        const size_t end = blank == NULL ? s->line.size : (size_t)(blank - s->line.data);
        if (end > at)
            TRY(add_word(s, cutter, at, end, error));
        at = end + 1;
    }
    return TEM_OK;
}

static bool may_end(const sentence_ends *s, const ends_word *word) {
    const size_t length = word->end - word->start;
    for (const char *at = no_end + 1; *at != '\0';) {
        const size_t listed = (size_t)(strchr(at, ' ') - at);
        if (listed == length && memcmp(s->line.data + word->start, at, length) == 0)
            return false;
        at += listed + 1;
    }
    return true;
}

/* ---- the language model ---- */

/* The probability of a piece after `count` pieces of a sentence that begins at `first`. A word that
 * the model does not have tells nothing: 1. */
static tem_status probability(const sentence_ends *s, const tem_language *language, size_t first,
                              size_t at, double *q, tem_error *error) {
    enum { SEEN = 2 };
    const uint32_t *pieces = (const uint32_t *)(const void *)s->pieces.data;
    const size_t before = at - first, count = before < SEEN ? before : SEEN;
    const released_past past = {
        .words = count > 0 ? pieces + at - count : NULL, .count = count, .before = before - count};
    position_weights after = {.state = language->state};
    *q = 1;
    if (pieces[at] == RELEASED_KEPT_WORD)
        return TEM_OK;
    TRY(language->ops->position(language->state, NULL, &past, &after, error));
    const uint64_t weight = language->ops->weight(&after, pieces[at]);
    *q = weight == 0 ? 1 : (double)weight / (double)after.total;
    return TEM_OK;
}

/* The probability of the piece `at` and of the one after it, in a sentence that begins at `first`.
 */
static tem_status reading(const sentence_ends *s, const tem_language *language, size_t first,
                          size_t at, double *q, tem_error *error) {
    double next = 1;
    TRY(probability(s, language, first, at, q, error));
    if (at + 1 < s->pieces.size / sizeof(uint32_t))
        TRY(probability(s, language, first, at + 1, &next, error));
    *q *= next;
    return TEM_OK;
}

/* Whether a sentence that began with the word `first` ends before the word `at`. The words after it
 * are a sentence, too, so they must not be too few for one. */
static tem_status ends_before(const sentence_ends *s, const tem_language *language, size_t first,
                              size_t at, bool *ends, tem_error *error) {
    const ends_word *words = (const ends_word *)(const void *)s->words.data;
    const size_t left = s->words.size / sizeof *words - at;
    double apart = 1, together = 1;
    *ends = false;
    if (at - first < LEAST_WORDS || left < LEAST_WORDS || words[at].pieces == 0 ||
        !may_end(s, &words[at - 1]))
        return TEM_OK;
    TRY(reading(s, language, words[at].first, words[at].first, &apart, error));
    TRY(reading(s, language, words[first].first, words[at].first, &together, error));
    *ends = apart * (double)(at - first) > TYPICAL * together;
    return TEM_OK;
}

/* ---- writing ---- */

static bool write_sentence(const sentence_ends *s, size_t start, size_t end, core_buffer *text,
                           size_t line) {
    if (text->size > line && !core_buffer_add(text, " ", 1))
        return false;
    const size_t from = text->size;
    return core_buffer_add(text, s->line.data + start, end - start) && sentence_write(text, from);
}

tem_status sentence_ends_write(sentence_ends *s, const tem_language *language, text_pieces *cutter,
                               core_buffer *text, size_t start, tem_error *error) {
    s->line.size = 0;
    if (!core_buffer_add(&s->line, text->data + start, text->size - start))
        return core_fail_memory(error);
    TRY(read_words(s, cutter, error));
    const ends_word *words = (const ends_word *)(const void *)s->words.data;
    const size_t count = s->words.size / sizeof *words;
    text->size = start;
    for (size_t first = 0, at = 1; at <= count; at++) {
        bool ends = at == count;
        if (!ends)
            TRY(ends_before(s, language, first, at, &ends, error));
        if (!ends)
            continue;
        if (!write_sentence(s, words[first].start, words[at - 1].end, text, start))
            return core_fail_memory(error);
        first = at;
    }
    return TEM_OK;
}
