/* prior_file.c - a prior from a file: counts of words, or a text whose words are counted. */
#include "audit/prior.h"
#include "audit/public_text.h"
#include "core/status.h"
#include "model/model.h"

#include <string.h>

/* The state while a file is counted, line by line. */
typedef struct counting {
    public_text text;
    tem_prior *prior;
    bool counts;  /* lines are WORD<TAB>COUNT, else text */
    double count; /* of each word of the line */
} counting;

/* Splits a line WORD<TAB>COUNT. *word receives the length of the word in bytes. Returns false if
 * the line has another form, or the count does not fit into 64 bits. */
static bool split_counts(const char *line, size_t bytes, size_t *word, uint64_t *count) {
    const char *tab = bytes == 0 ? NULL : memchr(line, '\t', bytes);
    const char *end = line + bytes;
    uint64_t value = 0;
    if (tab == NULL || tab == line || tab + 1 == end)
        return false;
    for (const char *c = tab + 1; c < end; c++)
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    *word = (size_t)(tab - line);
    *count = value;
    return true;
}

static void count_word(void *context, uint32_t id) {
    counting *c = context;
    if (id != TEM_NO_WORD)
        c->prior->frequencies[id] += c->count;
    else
        c->prior->info.unknown += c->count;
}

static tem_status count_line(counting *c, const char *line, size_t bytes, tem_error *error) {
    uint64_t count = 1;
    if (c->counts && !split_counts(line, bytes, &bytes, &count))
        return core_fail_at(error, TEM_ERR_FORMAT, c->text.path, c->text.line, 0,
                            "expected a word, a tab and a whole number: the first line has a tab, "
                            "so these are counts");
    c->count = (double)count;
    return public_text_words(&c->text, line, bytes, count_word, c, error);
}

static tem_status count_lines(counting *c, tem_error *error) {
    const char *line = NULL;
    size_t bytes = 0;
    tem_status status = TEM_OK;
    while (status == TEM_OK && public_text_line(&c->text, &line, &bytes)) {
        if (c->text.line == 1)
            c->counts = bytes > 0 && memchr(line, '\t', bytes) != NULL;
        status = count_line(c, line, bytes, error);
    }
    return status;
}

tem_status prior_load(const tem_model *model, const char *path, const tem_run *run,
                      tem_prior **prior, tem_error *error) {
    counting c = {0};
    TRY(public_text_open(&c.text, model, path, run, "counting words", error));
    c.prior = prior_make(model, model->words.count);
    tem_status status = c.prior == NULL ? core_fail_memory(error) : count_lines(&c, error);
    if (status == TEM_OK)
        c.prior->info = (tem_prior_info){.is_counts = c.counts,
                                         .counted = prior_scale(c.prior),
                                         .unknown = c.prior->info.unknown};
    if (status == TEM_OK && !(c.prior->info.counted > 0))
        status = core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0,
                              "no word of it is in the model's vocabulary");
    public_text_close(&c.text);
    if (status == TEM_OK)
        *prior = c.prior;
    else
        prior_free(c.prior);
    return status;
}
