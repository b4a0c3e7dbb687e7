/* words.c - words of a vocabulary, shown to people. */
#include "words.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unictype.h>
#include <unistr.h>

/* What a terminal obeys, or does not show: controls, formats, ends of lines, fillers. */
static bool is_hidden(ucs4_t c) {
    return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Cf |
                                                   UC_CATEGORY_MASK_Zl | UC_CATEGORY_MASK_Zp) ||
           uc_is_property_default_ignorable_code_point(c);
}

void words_print(const char *word, size_t length) {
    const uint8_t *text = (const uint8_t *)word;
    for (size_t at = 0; at < length;) {
        ucs4_t character = 0;
        const int decoded = u8_mbtoucr(&character, text + at, length - at);
        size_t bytes = decoded > 0 ? (size_t)decoded : 1; /* a byte that is not UTF-8 */
        if (decoded <= 0 || is_hidden(character)) {
            for (; bytes > 0; bytes--)
                printf("\\x%02x", text[at++]);
            continue;
        }
        if (character == '\\')
            putchar('\\');
        fwrite(text + at, 1, bytes, stdout);
        at += bytes;
    }
}

static void print_word_of(const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = tem_model_word(model, id, &length);
    words_print(word, length);
}

void words_print_worst(const tem_model *model, const tem_audit *audit) {
    if (audit->worst_a == TEM_NO_WORD) {
        puts("none: all words are the same point");
        return;
    }
    print_word_of(model, audit->worst_a);
    fputs(", ", stdout);
    print_word_of(model, audit->worst_b);
    printf(", at distance %.4f\n", (double)audit->worst_distance / TEM_DIST_ONE);
}

static json_t *word_as_json(const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = id == TEM_NO_WORD ? NULL : tem_model_word(model, id, &length);
    return word != NULL ? json_stringn(word, length) : json_null();
}

json_t *words_worst_as_json(const tem_model *model, const tem_audit *audit) {
    return json_pack("{s:o, s:o, s:f}", "a", word_as_json(model, audit->worst_a), "b",
                     word_as_json(model, audit->worst_b), "distance",
                     (double)audit->worst_distance / TEM_DIST_ONE);
}
