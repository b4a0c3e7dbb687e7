/* replacer.c - replaces one document. */
#include "job/replacer.h"

#include "core/status.h"
#include "core/threads.h"
#include "text/compose.h"
#include "text/join.h"
#include "text/sentence.h"
#include "text/tags.h"

#include <sodium.h>
#include <string.h>

const char *policy_oov_name(tem_oov oov) {
    static const char *const names[] = {[TEM_OOV_UNIFORM] = "uniform",
                                        [TEM_OOV_DROP] = "drop",
                                        [TEM_OOV_MASK] = "mask",
                                        [TEM_OOV_KEEP_UNSAFE] = "keep-unsafe"};
    return oov >= TEM_OOV_UNIFORM && oov <= TEM_OOV_KEEP_UNSAFE ? names[oov] : NULL;
}

const char *policy_punctuation_name(tem_punctuation punctuation) {
    static const char *const names[] = {[TEM_PUNCTUATION_DROP] = "drop",
                                        [TEM_PUNCTUATION_KEEP] = "keep",
                                        [TEM_PUNCTUATION_WORD] = "word"};
    return punctuation >= TEM_PUNCTUATION_DROP && punctuation <= TEM_PUNCTUATION_WORD
               ? names[punctuation]
               : NULL;
}

const char *policy_order_name(tem_order order) {
    static const char *const names[] = {[TEM_ORDER_KEPT] = "kept",
                                        [TEM_ORDER_SHUFFLED] = "shuffled",
                                        [TEM_ORDER_COUNTS] = "counts"};
    return order >= TEM_ORDER_KEPT && order <= TEM_ORDER_COUNTS ? names[order] : NULL;
}

const char *policy_style_name(tem_style style) {
    static const char *const names[] = {[TEM_STYLE_WORDS] = "words",
                                        [TEM_STYLE_SENTENCE] = "sentence",
                                        [TEM_STYLE_JOINED] = "joined"};
    return style >= TEM_STYLE_WORDS && style <= TEM_STYLE_JOINED ? names[style] : NULL;
}

const char *policy_repeat_name(tem_repeat repeat) {
    return repeat == TEM_REPEAT_EACH ? "each" : repeat == TEM_REPEAT_ONCE ? "once" : NULL;
}

tem_style policy_style_of(const tem_mechanism *mechanism, tem_style style) {
    const tem_style usual =
        mechanism->context.language != NULL ? TEM_STYLE_JOINED : TEM_STYLE_WORDS;
    return style != 0 ? style : usual;
}

const char *policy_missing_name(tem_missing missing) {
    static const char *const names[] = {[TEM_MISSING_EMPTY] = "empty", [TEM_MISSING_KEEP] = "keep"};
    return missing >= TEM_MISSING_EMPTY && missing <= TEM_MISSING_KEEP ? names[missing] : NULL;
}

uint64_t counts_charged(const tem_text_options *options, const tem_counts *counts) {
    return options->repeat == TEM_REPEAT_ONCE ? counts->charged : counts->words;
}

void counts_add(tem_counts *total, const tem_counts *added) {
    total->documents += added->documents;
    total->words += added->words;
    total->unknown += added->unknown;
    total->function_words += added->function_words;
    total->charged += added->charged;
    total->punctuation += added->punctuation;
    const uint64_t public = (uint64_t)total->public_documents + added->public_documents;
    total->public_documents = (uint32_t)(public < UINT32_MAX ? public : UINT32_MAX);
    const uint32_t found = (uint32_t)total->public_found + added->public_found;
    total->public_found = (uint16_t)(found < UINT16_MAX ? found : UINT16_MAX);
    total->largest = total->largest > added->largest ? total->largest : added->largest;
}

/* A line that is found stands for 2^k of them: one alone would make half of a small input. */
bool counts_are_public(const tem_counts *c) {
    enum { FOUND_LEAST = 4 };
    const bool is_sampled = c->public_found < c->public_documents;
    return c->public_documents > c->documents / 2 &&
           (c->public_found >= FOUND_LEAST || !is_sampled);
}

/* The limits are from texts under the default model. In English reviews 3 % of the words are
 * unknown and 51 % are function words, in tweets full of slang 37 % and 13 %, in lists of products
 * 16 % and 0 %; in Dutch, Finnish, French, German, Italian and Spanish 41 to 91 % and 2 to 9 %. */
bool counts_are_foreign(const tem_mechanism *m, const tem_counts *c) {
    enum { WORDS_LEAST = 20, ENGLISH_LEAST = 100 };
    const bool is_english = m->function_words.count >= ENGLISH_LEAST;
    const double unknown = (double)c->unknown / (double)c->words;
    const double functions = (double)c->function_words / (double)c->words;
    return c->words >= WORDS_LEAST &&
           (unknown > 0.5 || (is_english && unknown > 0.25 && functions < 0.125));
}

uint32_t replacer_find(const void *vocabulary, const char *word, size_t length) {
    return vocab_find(vocabulary, word, length);
}

/* Refuses policies that would show places of words although their order is not kept.
 * PRIVACY: the law of the release must depend on the words of the document alone. Then every word
 * is drawn for or all punctuation is left out, and lines do not divide the words. */
static tem_status check_order(const tem_mechanism *mechanism, const tem_text_options *options,
                              tem_error *error) {
    if (policy_order_name(options->order) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "no such order of words");
    if (options->order == TEM_ORDER_KEPT)
        return TEM_OK;
    if (options->oov != TEM_OOV_UNIFORM)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a random order or counts need the policy uniform for unknown words: the "
                         "others show them");
    if (options->punctuation == TEM_PUNCTUATION_KEEP)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a random order or counts need the policy drop or word for punctuation: "
                         "keep shows where sentences end");
    if (options->keep_lines)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a random order or counts cannot keep lines: they show which words stood "
                         "together");
    return mechanism_check_independent(
        mechanism, "the words must come out in their order: leave out shuffling and counts", error);
}

static tem_status check_style(const tem_text_options *options, tem_error *error) {
    if (policy_style_name(options->style) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "no such style of output");
    if (options->style != TEM_STYLE_WORDS && options->order == TEM_ORDER_COUNTS)
        return core_fail(error, TEM_ERR_ARGUMENT, "counts have no style: they are no sentences");
    if (options->style == TEM_STYLE_SENTENCE && options->punctuation == TEM_PUNCTUATION_KEEP)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "sentences have a full stop of their own: the policy for punctuation must "
                         "be drop or word");
    return TEM_OK;
}

/* Whether a document draws once for a word that it says again.
 * PRIVACY: the theorem for shuffled words and counts is about draws that are independent. */
static tem_status check_repeat(const tem_text_options *options, tem_error *error) {
    if (policy_repeat_name(options->repeat) == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "no such policy for repeated words");
    if (options->repeat == TEM_REPEAT_ONCE && options->order != TEM_ORDER_KEPT)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a random order or counts need a draw for each word: outputs that come "
                         "again would show how often a word was said");
    return TEM_OK;
}

tem_status replacer_init(replacer *r, const tem_mechanism *mechanism,
                         const tem_text_options *options, tem_error *error) {
    *r = (replacer){.mechanism = mechanism};
    if (options != NULL)
        r->options = *options;
    if (r->options.oov == 0)
        r->options.oov = TEM_OOV_UNIFORM;
    if (r->options.punctuation == 0)
        r->options.punctuation = TEM_PUNCTUATION_DROP;
    if (r->options.order == 0)
        r->options.order = TEM_ORDER_KEPT;
    r->options.style = policy_style_of(mechanism, r->options.style);
    if (r->options.repeat == 0)
        r->options.repeat = TEM_REPEAT_EACH;
    if (r->options.oov < TEM_OOV_UNIFORM || r->options.oov > TEM_OOV_KEEP_UNSAFE ||
        r->options.punctuation < TEM_PUNCTUATION_DROP ||
        r->options.punctuation > TEM_PUNCTUATION_WORD)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "no such policy for unknown words or punctuation");
    TRY(check_order(mechanism, &r->options, error));
    TRY(check_style(&r->options, error));
    TRY(check_repeat(&r->options, error));
    const tem_language *language = mechanism->context.language;
    if (language != NULL && language->ops->sources != NULL)
        TRY(language->ops->sources(language->state, &r->sources, error));
    TRY(drawing_init(&r->drawing, mechanism, error));
    r->order = (word_order){.kind = r->options.order, .words = &mechanism->model->words};
    text_pieces_init(&r->pieces, replacer_find, &mechanism->model->words);
    text_pieces_init(&r->reader, replacer_find, &mechanism->model->words);
    return TEM_OK;
}

void replacer_free(replacer *r) {
    text_pieces_free(&r->pieces);
    text_pieces_free(&r->reader);
    sentence_ends_free(&r->ends);
    drawing_free(&r->drawing);
    core_buffer_free(&r->stripped);
    core_buffer_free(&r->drawn);
    core_buffer_free(&r->said);
    repeats_free(&r->repeats);
    core_buffer_free(&r->waiting);
    core_buffer_free(&r->kept);
    word_order_free(&r->order);
}

/* Appends a word to the output, with a space before it unless it begins a line. */
static tem_status put(replacer *r, const char *word, size_t length, tem_error *error) {
    if ((!r->line_begins && !core_buffer_add(r->out, " ", 1)) ||
        !core_buffer_add(r->out, word, length))
        return core_fail_memory(error);
    r->line_begins = false;
    return TEM_OK;
}

/* Whether the mechanism draws a word for a piece. */
static bool is_drawn_for(const replacer *r, const text_piece *piece) {
    const bool word = piece->word || r->options.punctuation == TEM_PUNCTUATION_WORD;
    return word && (piece->id != TEM_NO_WORD || r->options.oov == TEM_OOV_UNIFORM);
}

/* Asks the callback whether to go on, once per ASK_BYTES: a document may take long. bytes: those
 * handled since the last call. TEM_ERR_CANCELLED. */
static tem_status ask_after(replacer *r, size_t bytes, tem_error *error) {
    enum { ASK_BYTES = 32 << 10 };
    r->unasked += bytes;
    if (r->unasked < ASK_BYTES)
        return TEM_OK;
    r->unasked = 0;
    return core_progress(r->run, "privatizing", 0, 0, error);
}

/* Puts out a drawn word. */
static tem_status put_drawn(replacer *r, uint32_t drawn, tem_error *error) {
    size_t length = 0;
    const char *word = vocab_word(&r->mechanism->model->words, drawn, &length);
    if (word == NULL)
        return core_fail(error, TEM_ERR_DAMAGED,
                         "damaged model: a word is not there; verify the model");
    return put(r, word, length, error);
}

/* Whether a piece is a content word. PRIVACY: that is a question about the word and a public list,
 * the same for known and unknown words. */
static bool is_content(const replacer *r, const text_piece *piece) {
    if (!piece->word || r->options.repeat != TEM_REPEAT_ONCE)
        return false;
    return piece->id != TEM_NO_WORD
               ? !function_words_have(&r->mechanism->function_words, piece->id)
               : !function_words_list_has(r->pieces.text.data + piece->start, piece->length);
}

/* Looks whether the document has said a word before. A word that is no content word is always new.
 * PRIVACY: words are equal as they are folded, so their case and normal form do not show. */
static tem_status recall(replacer *r, const text_piece *piece, waiting_word *said,
                         tem_error *error) {
    *said = (waiting_word){.entry = REPEATS_NONE, .is_new = true};
    if (!is_content(r, piece))
        return TEM_OK;
    return repeats_find(&r->repeats, r->pieces.text.data + piece->start, piece->length,
                        &said->entry, &said->is_new, error);
}

static void count_piece(replacer *r, const text_piece *piece, const waiting_word *said) {
    const bool word = piece->word || r->options.punctuation == TEM_PUNCTUATION_WORD;
    if (piece->word && r->sources.line_count > 0)
        line_hash_add(&r->line, piece->id);
    r->counts.punctuation += !piece->word;
    r->counts.words += word;
    r->counts.charged += word && said->is_new;
    r->counts.unknown += word && piece->id == TEM_NO_WORD;
    r->counts.function_words += function_words_have(&r->mechanism->function_words, piece->id);
}

static tem_status wait_to_put(replacer *r, released_kind kind, const char *bytes, size_t count,
                              tem_error *error) {
    const waiting_piece waiting = {.kind = kind, .bytes = (uint32_t)count};
    if (!core_buffer_add(&r->waiting, &waiting, sizeof waiting) ||
        !core_buffer_add(&r->kept, bytes, count))
        return core_fail_memory(error);
    return TEM_OK;
}

static tem_status wait_to_draw(replacer *r, const text_piece *piece, const waiting_word *said,
                               tem_error *error) {
    const waiting_piece waiting = {.kind = TEM_NO_WORD};
    const bool remembers = r->options.repeat == TEM_REPEAT_ONCE;
    if (!core_buffer_add(&r->drawn, &piece->id, sizeof piece->id) ||
        !core_buffer_add(&r->waiting, &waiting, sizeof waiting) ||
        (remembers && !core_buffer_add(&r->said, said, sizeof *said)))
        return core_fail_memory(error);
    return TEM_OK;
}

/* Adds a piece to those that wait, as the policies say: to be drawn for, masked or kept. A piece
 * that is dropped adds nothing. */
static tem_status add_piece(replacer *r, const text_piece *piece, const waiting_word *said,
                            tem_error *error) {
    const bool word = piece->word || r->options.punctuation == TEM_PUNCTUATION_WORD;
    if (is_drawn_for(r, piece))
        return wait_to_draw(r, piece, said, error);
    if (word ? r->options.oov == TEM_OOV_DROP : r->options.punctuation == TEM_PUNCTUATION_DROP)
        return TEM_OK;
    if (word && r->options.oov == TEM_OOV_MASK)
        return wait_to_put(r, RELEASED_MASK, "<unk>", 5, error);
    /* PRIVACY: only TEM_OOV_KEEP_UNSAFE and TEM_PUNCTUATION_KEEP come here, which the user chose by
     * these names. The piece is released unseen by the mechanism, outside any guarantee. */
    return wait_to_put(r, word ? RELEASED_KEPT_WORD : RELEASED_PUNCTUATION,
                       r->pieces.text.data + piece->start, piece->length, error);
}

static const waiting_piece *waiting_of(const replacer *r, size_t *count) {
    *count = r->waiting.size / sizeof(waiting_piece);
    return (const waiting_piece *)(const void *)r->waiting.data;
}

/* Draws for words that come out next to each other: `count` of r->drawn, from `first` on. With
 * TEM_REPEAT_ONCE a word that the document has said before gets the output that it had, without a
 * draw.
 * PRIVACY: that output is in the past where it comes again, as the reader sees it there. */
static tem_status draw_words(replacer *r, size_t first, size_t count, tem_error *error) {
    if (count == 0) /* then there may be no array yet */
        return TEM_OK;
    uint32_t *words = (uint32_t *)(void *)r->drawn.data;
    const waiting_word *said = (const waiting_word *)(const void *)r->said.data;
    if (r->options.repeat != TEM_REPEAT_ONCE)
        return drawing_draw(&r->drawing, r->rng, words + first, count, error);
    for (size_t i = first; i < first + count;) {
        size_t end = i;
        while (end < first + count && said[end].is_new)
            end++;
        TRY(drawing_draw(&r->drawing, r->rng, words + i, end - i, error));
        for (; i < end; i++)
            if (said[i].entry != REPEATS_NONE)
                repeats_set(&r->repeats, said[i].entry, words[i]);
        for (; i < first + count && !said[i].is_new; i++) {
            words[i] = repeats_output(&r->repeats, said[i].entry);
            TRY(drawing_show(&r->drawing, words[i], error));
        }
    }
    return TEM_OK;
}

/* Draws for the words that wait: for all at once. Where the past matters, it draws one after the
 * other, and tells the document what stands between them. */
static tem_status draw_waiting(replacer *r, tem_error *error) {
    if (!mechanism_depends_on_past(r->mechanism))
        return draw_words(r, 0, r->drawn.size / sizeof(uint32_t), error);
    size_t count = 0, drawn = 0;
    const waiting_piece *waiting = waiting_of(r, &count);
    for (size_t i = 0; i < count; i++)
        TRY(waiting[i].kind == TEM_NO_WORD ? draw_words(r, drawn++, 1, error)
                                           : drawing_show(&r->drawing, waiting[i].kind, error));
    return TEM_OK;
}

/* Puts out, in order, what waits. */
static tem_status put_in_order(replacer *r, tem_error *error) {
    size_t count = 0, drawn = 0;
    const waiting_piece *waiting = waiting_of(r, &count);
    const char *kept = r->kept.data;
    const uint32_t *words = (const uint32_t *)(const void *)r->drawn.data;
    for (size_t i = 0; i < count; i++) {
        TRY(waiting[i].kind == TEM_NO_WORD ? put_drawn(r, words[drawn++], error)
                                           : put(r, kept, waiting[i].bytes, error));
        kept = waiting[i].bytes > 0 ? kept + waiting[i].bytes : kept;
    }
    return TEM_OK;
}

static void forget_waiting(replacer *r) {
    r->drawn.size = r->said.size = r->waiting.size = r->kept.size = 0;
}

/* Draws for all waiting words. Appends all waiting output in order, or adds the drawn words to
 * r->order. Nothing waits after that. */
static tem_status put_waiting(replacer *r, tem_error *error) {
    tem_status status = draw_waiting(r, error);
    /* Nothing but drawn words can wait for another order: check_order has refused the other
     * policies. */
    if (status == TEM_OK)
        status = r->options.order == TEM_ORDER_KEPT
                     ? put_in_order(r, error)
                     : word_order_add(&r->order, (const uint32_t *)(const void *)r->drawn.data,
                                      r->drawn.size / sizeof(uint32_t), error);
    forget_waiting(r);
    return status;
}

/* Whether it is time to draw for what waits.
 * PRIVACY: the number of words, and the size of the output that waits, decide which words are drawn
 * for together. The end of a window must not decide it: that depends on spaces and accents, and the
 * same random bits would give other words. */
static bool is_enough(const replacer *r) {
    enum { DRAWN_WORDS = 1 << 14, WAITING_BYTES = 1 << 20, PIECE_BYTES = 4 };
    return r->drawn.size >= DRAWN_WORDS * sizeof(uint32_t) ||
           r->waiting.size / sizeof(waiting_piece) * PIECE_BYTES + r->kept.size >= WAITING_BYTES;
}

/* Replaces the pieces of the current window, r->pieces. */
static tem_status replace_window(replacer *r, tem_error *error) {
    for (size_t i = 0; i < r->pieces.count; i++) {
        const text_piece *piece = &r->pieces.pieces[i];
        waiting_word said;
        TRY(recall(r, piece, &said, error));
        count_piece(r, piece, &said);
        if (r->dry_run)
            continue;
        TRY(add_piece(r, piece, &said, error));
        if (is_enough(r))
            TRY(put_waiting(r, error));
    }
    return TEM_OK;
}

/* Writes a line of output, from `start` on, in the style of the options.
 * PRIVACY: post-processing, a function of the output alone: of the drawn words and their number. */
static tem_status style_line(replacer *r, size_t start, tem_error *error) {
    if (r->options.style == TEM_STYLE_WORDS || r->out->size == start)
        return TEM_OK;
    TRY(join_words(&r->reader, r->out, start, error));
    if (r->options.style != TEM_STYLE_SENTENCE)
        return TEM_OK;
    const tem_language *language = r->mechanism->context.language;
    if (sentence_ends_are_known(language))
        return sentence_ends_write(&r->ends, language, &r->reader, r->out, start, error);
    return sentence_write(r->out, start) ? TEM_OK : core_fail_memory(error);
}

static tem_status replace_line(replacer *r, const char *line, size_t bytes, tem_error *error) {
    const size_t start = r->out->size;
    tem_status status = text_pieces_begin(&r->pieces, line, bytes, error);
    forget_waiting(r);
    r->line_begins = true;
    while (status == TEM_OK && r->pieces.rest_bytes > 0) {
        status = text_pieces_window(&r->pieces, error);
        if (status == TEM_OK)
            status = replace_window(r, error);
        if (status == TEM_OK)
            status = ask_after(r, r->pieces.cut, error);
    }
    if (status == TEM_OK)
        status = put_waiting(r, error);
    return status == TEM_OK && r->options.order == TEM_ORDER_KEPT ? style_line(r, start, error)
                                                                  : status;
}

static tem_status write_words(replacer *r, const uint32_t *words, size_t count, tem_error *error) {
    const size_t start = r->out->size;
    r->line_begins = true;
    for (size_t i = 0; i < count; i++)
        TRY(put_drawn(r, words[i], error));
    return style_line(r, start, error);
}

tem_status replacer_write(replacer *r, const uint32_t *words, size_t count, core_buffer *out,
                          tem_error *error) {
    const size_t before = out->size;
    r->out = out;
    const tem_status status = write_words(r, words, count, error);
    if (status != TEM_OK)
        out->size = before;
    return status;
}

static tem_status end_line(replacer *r, tem_error *error) {
    if (r->dry_run)
        return TEM_OK;
    if (!core_buffer_add(r->out, "\n", 1))
        return core_fail_memory(error);
    return drawing_show(&r->drawing, RELEASED_LINE_END, error);
}

/* Replaces each line by itself. A line feed separates lines; a CR before it is white space. */
static tem_status replace_lines(replacer *r, const char *text, size_t bytes, tem_error *error) {
    for (size_t before = 0;;) {
        const char *end = bytes == 0 ? NULL : memchr(text, '\n', bytes);
        const size_t line = end == NULL ? bytes : (size_t)(end - text);
        tem_status status = replace_line(r, text, line, error);
        if (status == TEM_ERR_FORMAT && error != NULL)
            error->byte += before; /* it was counted from the start of the line */
        if (status == TEM_OK)
            status = ask_after(r, 1, error); /* lines may be empty */
        if (status == TEM_OK && end != NULL)
            status = end_line(r, error);
        if (status != TEM_OK || end == NULL)
            return status;
        before += line + 1;
        text += line + 1;
        bytes -= line + 1;
    }
}

/* Does what text_check does, a part at a time, and asks in between whether to go on. Each part ends
 * between two characters. */
static tem_status check_text(replacer *r, const char *text, size_t bytes, tem_error *error) {
    enum { PART_BYTES = 1 << 20 };
    tem_status status = bytes > TEXT_BYTES_MAX ? text_check(text, bytes, error) : TEM_OK;
    for (size_t at = 0; at < bytes && status == TEM_OK;) {
        size_t end = bytes - at < PART_BYTES ? bytes : at + PART_BYTES;
        while (end < bytes && ((unsigned char)text[end] & 0xc0) == 0x80)
            end++;
        status = text_check(text + at, end - at, error);
        if (status == TEM_ERR_FORMAT && error != NULL)
            error->byte += at;
        if (status == TEM_OK)
            status = ask_after(r, end - at, error);
        at = end;
    }
    return status;
}

/* Appends the text in NFC to r->stripped, a part at a time. Asks in between whether to go on. */
static tem_status compose_text(replacer *r, const char *text, size_t bytes, tem_error *error) {
    enum { PART_BYTES = 1 << 20 };
    for (size_t at = 0; at < bytes;) {
        const size_t part = compose_end(text + at, bytes - at, PART_BYTES);
        TRY(compose(text + at, part, &r->stripped) ? ask_after(r, part, error)
                                                   : core_fail_memory(error));
        at += part;
    }
    return TEM_OK;
}

/* Leaves the tags out of a text, and writes the rest to r->stripped. */
static tem_status strip_tags(replacer *r, const char **text, size_t *bytes, tem_error *error) {
    /* PRIVACY: compose to NFC first. Otherwise the encoding of the letter after '<', as one
     * character or with its accent as a second one, would decide whether a tag begins there. */
    core_buffer_clear(&r->stripped);
    TRY(compose_text(r, *text, *bytes, error));
    *text = r->stripped.data;
    *bytes = tags_strip(*text, r->stripped.size, r->stripped.data);
    return TEM_OK;
}

/* Appends the private form of a text, without its tags, to r->out. */
static tem_status replace_document(replacer *r, const char *text, size_t bytes, tem_error *error) {
    const size_t before = r->out->size;
    if (r->options.order != TEM_ORDER_KEPT)
        word_order_begin(&r->order);
    tem_status status = r->dry_run ? TEM_OK : drawing_begin(&r->drawing, error);
    if (status == TEM_OK)
        status = (r->options.keep_lines ? replace_lines : replace_line)(r, text, bytes, error);
    if (status == TEM_OK && r->options.order != TEM_ORDER_KEPT && !r->dry_run)
        status = word_order_put(&r->order, r->rng, r->run, r->out, error);
    if (status == TEM_OK && r->options.order == TEM_ORDER_SHUFFLED)
        status = style_line(r, before, error);
    drawing_end(&r->drawing);
    repeats_end(&r->repeats);
    return status;
}

/* Counts a document that is a line of the text behind the language model, and forgets its hash. */
static void look_for_line(replacer *r) {
    if (line_hash_counts(&r->line))
        r->counts.public_documents = text_sources_find_line(&r->sources, line_hash_end(&r->line));
    r->counts.public_found = r->counts.public_documents > 0;
    sodium_memzero(&r->line, sizeof r->line);
}

tem_status replacer_run(replacer *r, tem_rng *rng, const char *text, size_t bytes, core_buffer *out,
                        tem_counts *counts, tem_error *error) {
    const size_t before = out->size;
    tem_status status = TEM_OK;
    r->rng = rng;
    r->out = out;
    r->counts = (tem_counts){.documents = 1};
    r->drawing.run = r->run;
    /* Check before tags are removed: the byte of an error is then a byte of the caller's text. */
    if (r->options.strip_tags || bytes > TEXT_BYTES_MAX)
        status = check_text(r, text, bytes, error);
    if (status == TEM_OK && r->options.strip_tags && bytes > 0)
        status = strip_tags(r, &text, &bytes, error);
    if (status == TEM_OK)
        status = replace_document(r, text, bytes, error);
    look_for_line(r);
    if (status != TEM_OK) {
        out->size = before;
        return status;
    }
    r->counts.largest = counts_charged(&r->options, &r->counts);
    counts_add(counts, &r->counts);
    return TEM_OK;
}

tem_status replace_text(const tem_mechanism *mechanism, const tem_text_options *options,
                        tem_rng *rng, const char *text, size_t bytes, const tem_run *run,
                        char **out, size_t *out_bytes, tem_counts *counts, tem_error *error) {
    replacer r;
    core_buffer result = {0};
    tem_counts added = {0};
    TRY(replacer_init(&r, mechanism, options, error));
    r.run = run;
    tem_status status = replacer_run(&r, rng, text, bytes, &result, &added, error);
    if (status == TEM_OK && !core_buffer_add(&result, "", 1))
        status = core_fail_memory(error);
    replacer_free(&r);
    const size_t size = result.size;
    char *block = status == TEM_OK ? core_buffer_take(&result) : NULL;
    if (status == TEM_OK && block == NULL)
        status = core_fail_memory(error);
    if (status != TEM_OK) {
        core_buffer_free(&result);
        return status;
    }
    *out = block;
    *out_bytes = size - 1;
    if (counts != NULL)
        counts_add(counts, &added);
    return TEM_OK;
}
