/* fuzz_spelling.c - the rule of tem.h: the output depends on the draws, the settings and the
 * number of pieces, and on nothing else of the input.
 *
 * The first byte chooses the policies. The second byte chooses the format and the meaning of the
 * rest:
 *  - choices that make a stream of records and two spellings of it (tests/unit/spelling.h);
 *  - a text, whose spellings are its normal forms, and other white space where it has some.
 * With the same seed all spellings must give the same output bytes. */
#include "target.h"

#include "../tests/unit/spelling.h"

#include <unictype.h>
#include <uninorm.h>

static tem_mechanism *mechanism;

static void require(bool holds) {
    if (!holds)
        abort();
}

static void require_same(const core_buffer *a, const core_buffer *b) {
    require(a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0));
}

static abstract_stream choose_policies(uint8_t policies, tem_format format) {
    return (abstract_stream){.format = format,
                             .missing = (tem_missing)(1 + policies / 48 % 2),
                             .text = {.oov = (tem_oov)(1 + policies % 4),
                                      .punctuation = (tem_punctuation)(1 + policies / 4 % 3),
                                      .strip_tags = policies / 12 % 2,
                                      .keep_lines = policies / 24 % 2}};
}

/* ---- streams ---- */

static void check_stream(uint8_t policies, tem_format format, const uint8_t *data, size_t size) {
    abstract_stream s = choose_policies(policies, format);
    chooser c = {.bytes = data, .size = size};
    make_stream(&c, &s);
    spelling a = spell(&c, &s), b = spell(&c, &s);
    core_buffer from_a, from_b;
    tem_counts of_a = {0}, of_b = {0};
    require(run_spelling(mechanism, &s, &a, &from_a, &of_a, NULL) == TEM_OK);
    require(run_spelling(mechanism, &s, &b, &from_b, &of_b, NULL) == TEM_OK);
    require_same(&from_a, &from_b);
    require(of_a.documents == of_b.documents && of_a.words == of_b.words);
    free_spelling(&a);
    free_spelling(&b);
    core_buffer_free(&from_a);
    core_buffer_free(&from_b);
}

/* ---- texts ---- */

static core_buffer privatize(const tem_text_options *options, const uint8_t *text, size_t size) {
    core_buffer result = {0};
    tem_rng *rng = NULL;
    require(tem_rng_create_insecure(7, 7, &rng, NULL) == TEM_OK);
    require(tem_privatize_text(mechanism, options, rng, (const char *)text, size, NULL,
                               &result.data, &result.size, NULL, NULL) == TEM_OK);
    tem_rng_free(rng);
    return result;
}

static bool is_blank(ucs4_t c) {
    return uc_is_property_white_space(c) || uc_is_general_category(c, UC_CATEGORY_Cc);
}

/* Replaces each blank that does not end a line by other blanks. */
static core_buffer replace_blanks(const uint8_t *text, size_t size) {
    static const char *const blanks[] = {" ", "\t ", "\u00a0", "\r", "\u202f", "\x01", "\u2028"};
    core_buffer made = {0};
    size_t next = size;
    for (size_t at = 0; at < size;) {
        ucs4_t c = 0;
        const size_t bytes = (size_t)u8_mbtouc(&c, text + at, size - at);
        if (is_blank(c) && c != '\n')
            put_string(&made, blanks[next++ % 7]);
        else
            put_bytes(&made, (const char *)text + at, bytes);
        at += bytes;
    }
    return made;
}

static void check_text(uint8_t policies, const uint8_t *text, size_t size) {
    const abstract_stream s = choose_policies(policies, TEM_FORMAT_TEXT);
    const uninorm_t forms[] = {UNINORM_NFC, UNINORM_NFD};
    core_buffer right = privatize(&s.text, text, size), blanks = replace_blanks(text, size);
    core_buffer other = privatize(&s.text, (const uint8_t *)blanks.data, blanks.size);
    require_same(&right, &other);
    tem_text_free(other.data);
    for (int i = 0; i < 2; i++) {
        size_t bytes = 0;
        uint8_t *normal = u8_normalize(forms[i], text, size, NULL, &bytes);
        require(normal != NULL);
        other = privatize(&s.text, normal, bytes);
        require_same(&right, &other);
        tem_text_free(other.data);
        free(normal);
    }
    tem_text_free(right.data);
    core_buffer_free(&blanks);
}

bool fuzz_input(const uint8_t *data, size_t size) {
    static tem_model *model;
    if (mechanism == NULL)
        mechanism = spelling_mechanism(&model);
    if (size < 3)
        return false;
    if (data[1] % 5 < 4)
        check_stream(data[0], (tem_format)(1 + data[1] % 5), data + 2, size - 2);
    else if (u8_check(data + 2, size - 2) == NULL)
        check_text(data[0], data + 2, size - 2);
    else
        return false;
    return true;
}
