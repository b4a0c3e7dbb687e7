/* show.c - output that several commands share. */
#include "show.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unictype.h>
#include <unistr.h>

/* Characters that a terminal obeys or does not show: controls, formats, line ends, fillers. */
static bool is_hidden(ucs4_t c) {
    return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Cf |
                                                   UC_CATEGORY_MASK_Zl | UC_CATEGORY_MASK_Zp) ||
           uc_is_property_default_ignorable_code_point(c);
}

static void put_word(FILE *out, const char *word, size_t length) {
    const uint8_t *text = (const uint8_t *)word;
    for (size_t at = 0; at < length;) {
        ucs4_t character = 0;
        const int decoded = u8_mbtoucr(&character, text + at, length - at);
        size_t bytes = decoded > 0 ? (size_t)decoded : 1; /* 1: the byte is not UTF-8 */
        if (decoded <= 0 || is_hidden(character)) {
            for (; bytes > 0; bytes--)
                fprintf(out, "\\x%02x", text[at++]);
            continue;
        }
        if (character == '\\')
            fputc('\\', out);
        fwrite(text + at, 1, bytes, out);
        at += bytes;
    }
}

bool print_as_json(json_t *all) {
    const bool done = all != NULL && json_dumpf(all, stdout, JSON_INDENT(1)) == 0;
    json_decref(all);
    putchar('\n');
    if (!done)
        fputs("tem: cannot write JSON (out of memory, or a name is not valid UTF-8)\n", stderr);
    return done;
}

void words_print(const char *word, size_t length) {
    put_word(stdout, word, length);
}

char *words_escape(const char *word, size_t length) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    put_word(out, word, length);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void words_print_id(const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = tem_model_word(model, id, &length);
    words_print(word, length);
}

void words_print_worst(const tem_model *model, const tem_audit *audit) {
    if (audit->worst_a == TEM_NO_WORD) {
        puts("none: all words are at the same point");
        return;
    }
    words_print_id(model, audit->worst_a);
    fputs(", ", stdout);
    words_print_id(model, audit->worst_b);
    printf(", at distance %.4f\n", (double)audit->worst_distance / TEM_DIST_ONE);
}

json_t *words_id_as_json(const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = id == TEM_NO_WORD ? NULL : tem_model_word(model, id, &length);
    return word != NULL ? json_stringn(word, length) : json_null();
}

json_t *words_worst_as_json(const tem_model *model, const tem_audit *audit) {
    return json_pack("{s:o, s:o, s:f}", "a", words_id_as_json(model, audit->worst_a), "b",
                     words_id_as_json(model, audit->worst_b), "distance",
                     (double)audit->worst_distance / TEM_DIST_ONE);
}

void exposed_print(const tem_model *model, const tem_exposure *words, uint32_t count) {
    puts("       N_w         S_w  word");
    for (uint32_t i = 0; i < count; i++) {
        printf("  %8.6f  %10.2f  ", words[i].self, words[i].support);
        words_print_id(model, words[i].word);
        putchar('\n');
    }
}

json_t *exposed_as_json(const tem_model *model, const tem_exposure *words, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        if (json_array_append_new(
                list, json_pack("{s:o, s:f, s:f}", "word", words_id_as_json(model, words[i].word),
                                "self", words[i].self, "support", words[i].support)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* ---- the effects of a certified mechanism ---- */

static void print_row(const char *what, double certified, double paper) {
    printf("%-36s %10.4f   %13.4f\n", what, certified, paper);
}

void effects_print(const tem_certificate_info *c) {
    if (c->prior[0] == '\0')
        return;
    printf("\nunder the prior %-20s %10s   s = epsilon/2\n", c->prior,
           tem_weights_name(c->weights));
    print_row("stays itself (N_w, median)", c->effect.self, c->plain.self);
    print_row("spread over words (S_w, median)", c->effect.support, c->plain.support);
    print_row("expected distance", c->effect.distance, c->plain.distance);
    print_row("best guess right (Bayes)", c->effect.bayes, c->plain.bayes);
    puts("\n"
         "The same epsilon is proved for both columns. The left one has less noise: an attacker\n"
         "guesses more words. Choose epsilon by its effects in the column that you use.");
}

json_t *effects_as_json(const tem_certificate_info *c) {
    const tem_effect *e = &c->effect, *p = &c->plain;
    if (c->prior[0] == '\0')
        return json_null();
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:f}}", "prior", c->prior, "self",
                     e->self, "support", e->support, "distance", e->distance, "bayes", e->bayes,
                     "paper", "self", p->self, "support", p->support, "distance", p->distance,
                     "bayes", p->bayes);
}

/* ---- rounding ---- */

double rounding_percent(const tem_model *model, double *median) {
    tem_model_info info;
    tem_dist nearest = 0;
    tem_model_get_info(model, &info);
    if (tem_model_nearest_median(model, &nearest, NULL) != TEM_OK || nearest == 0)
        return 0;
    *median = (double)nearest / TEM_DIST_ONE;
    return tem_round_up(100.0 * info.deviation / nearest, 3);
}
