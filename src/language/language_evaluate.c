/* language_evaluate.c - how well a language model fits a public text. */
#include "language/language_file.h"

#include "audit/public_text.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

typedef struct text_score {
    const tem_language *language;
    uint32_t past[LEVELS_PAST];
    size_t count;            /* words in `past` */
    uint64_t before;         /* words of the document before these */
    uint64_t words;          /* of the document */
    double sum, sum_without; /* of -ln P */
    tem_language_evaluation *result;
    tem_status status;
    tem_error *error;
} text_score;

static void remember(text_score *s, uint32_t word) {
    if (s->count == LEVELS_PAST) {
        memmove(s->past, s->past + 1, (LEVELS_PAST - 1) * sizeof *s->past);
        s->count--;
        s->before++;
    }
    s->past[s->count++] = word;
}

static void add_word(void *context, uint32_t id) {
    text_score *s = context;
    const ngram_language *n = s->language->state;
    const bool is_known = id < n->l.words && n->l.numbers[id] != LEVELS_NONE;
    const released_past past = {.words = s->past, .count = s->count, .before = s->before};
    position_weights at = {.state = n};
    s->words++;
    s->result->unknown += !is_known;
    if (is_known && s->status == TEM_OK)
        s->status = levels_position(n, NULL, &past, &at, s->error);
    if (is_known && s->status == TEM_OK) {
        s->sum -= log((double)levels_weight(&at, id) / (double)at.total);
        s->sum_without -= log((double)n->l.e1[n->l.numbers[id]] / (double)n->l.e1_total);
    }
    remember(s, is_known ? id : RELEASED_KEPT_WORD);
}

static tem_status score_text(text_score *s, const tem_model *model, const char *path,
                             const tem_run *run, tem_error *error) {
    public_text text;
    const char *line = NULL;
    size_t bytes = 0;
    TRY(public_text_open(&text, model, path, run, "measuring the text", error));
    tem_status status = TEM_OK;
    while (status == TEM_OK && public_text_line(&text, &line, &bytes)) {
        s->count = 0;
        s->before = s->words = 0;
        status = public_text_words(&text, line, bytes, add_word, s, error);
        if (status == TEM_OK)
            status = s->status;
        s->result->documents += s->words > 0;
        s->result->words += s->words;
    }
    public_text_close(&text);
    return status;
}

tem_status language_evaluate(const tem_language *language, const tem_model *model, const char *path,
                             const tem_run *run, tem_language_evaluation *evaluation,
                             tem_error *error) {
    unsigned char outputs[CORE_HASH_BYTES];
    tem_language_evaluation result = {.words = 0};
    text_score s = {.language = language, .result = &result, .error = error};
    model_outputs_hash(model, outputs);
    if (memcmp(outputs, language->outputs, sizeof outputs) != 0)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the language model is for a model with other words");
    TRY(score_text(&s, model, path, run, error));
    const uint64_t known = result.words - result.unknown;
    if (known == 0)
        return core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0,
                            "no word of it is in the model's vocabulary");
    result.perplexity = exp(s.sum / (double)known);
    result.without = exp(s.sum_without / (double)known);
    *evaluation = result;
    return TEM_OK;
}
