/* words.c - words of a vocabulary, shown to people. */
#include "words.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The character at the start of the text, and its bytes; 0: that is not UTF-8. */
static size_t decode(const unsigned char *text, size_t length, uint32_t *character) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* shorter would have done */
    const unsigned char first = text[0];
    const size_t bytes = first < 0x80   ? 1
                         : first < 0xc0 ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                                        : 4;
    if (bytes == 0 || bytes > length || first > 0xf4)
        return 0;
    *character = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (text[i] & 0x3fu);
    }
    const bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character < least[bytes] || *character > 0x10ffff || surrogate ? 0 : bytes;
}

static bool is_hidden(uint32_t c) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},
                  {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
                  {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    return false;
}

void words_print(const char *word, size_t length) {
    const unsigned char *text = (const unsigned char *)word;
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        size_t bytes = decode(text + at, length - at, &character);
        if (bytes == 0 || is_hidden(character)) {
            for (bytes += bytes == 0; bytes > 0; bytes--)
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
