/* attack_masks.c - questions for a language model of the user's, and its answers. */
#include "attack_masks.h"

#include "talk.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_AROUND = 64 }; /* on each side of the mask: many models take some hundred tokens */

/* ---- questions ---- */

typedef struct mask_writing {
    const mask_export *how;
    const tem_model *model;
    const tem_attack *attack;
    const attack_text *text;
    uint32_t *ids;
    double *likelihoods, *posteriors;
    FILE *out;
    tem_error error;
} mask_writing;

static void put_word(FILE *out, const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = tem_model_word(model, id, &length);
    if (word == NULL)
        fputs("<unk>", out);
    else
        fwrite(word, 1, length, out);
}

static json_t *word_as_json(const tem_model *model, uint32_t id) {
    size_t length = 0;
    const char *word = tem_model_word(model, id, &length);
    return word == NULL ? json_null() : json_stringn(word, length);
}

/* The released words of the document around a position, and <mask> in its place. */
static json_t *context_as_json(const mask_writing *w, uint64_t first, uint64_t end, uint64_t at) {
    char *content = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&content, &bytes);
    if (out == NULL)
        return NULL;
    const uint64_t from = at - first > WORDS_AROUND ? at - WORDS_AROUND : first;
    const uint64_t to = end - at > WORDS_AROUND ? at + WORDS_AROUND + 1 : end;
    for (uint64_t i = from; i < to; i++) {
        if (i > from)
            putc(' ', out);
        if (i == at)
            fputs("<mask>", out);
        else
            put_word(out, w->model, w->text->words[i]);
    }
    const bool made = fclose(out) == 0;
    json_t *context = made ? json_stringn(content, bytes) : NULL;
    free(content);
    return context;
}

static json_t *candidates_as_json(const mask_writing *w) {
    json_t *all = json_array();
    for (uint32_t k = 0; k < w->how->candidates; k++)
        json_array_append_new(all, word_as_json(w->model, w->ids[k]));
    return all;
}

static json_t *numbers_as_json(const double *numbers, uint32_t count) {
    json_t *all = json_array();
    for (uint32_t k = 0; k < count; k++)
        json_array_append_new(all, json_real(numbers[k]));
    return all;
}

static tem_status put_question(mask_writing *w, uint64_t document, uint64_t at) {
    const attack_text *text = w->text;
    const uint64_t first = document == 0 ? 0 : text->ends[document - 1];
    const uint32_t y = text->words[at];
    const tem_status status = tem_attack_candidates(w->attack, y, w->how->candidates, w->ids,
                                                    w->likelihoods, w->posteriors, &w->error);
    if (status != TEM_OK)
        return status;
    json_t *question = json_pack(
        "{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "document", (json_int_t)text->numbers[document],
        "position", (json_int_t)(at - first + 1), "released", word_as_json(w->model, y), "text",
        context_as_json(w, first, text->ends[document], at), "candidates", candidates_as_json(w),
        "likelihoods", numbers_as_json(w->likelihoods, w->how->candidates), "posteriors",
        numbers_as_json(w->posteriors, w->how->candidates));
    if (question != NULL && w->how->with_originals)
        json_object_set_new(question, "original", word_as_json(w->model, text->originals[at]));
    const bool put = question != NULL &&
                     json_dumpf(question, w->out, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
    json_decref(question);
    putc('\n', w->out);
    if (!put)
        w->error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
    return put ? TEM_OK : TEM_ERR_MEMORY;
}

static tem_status put_questions(mask_writing *w, const tem_run *run) {
    const attack_text *text = w->text;
    tem_status status = TEM_OK;
    uint64_t at = 0;
    for (uint64_t d = 0; status == TEM_OK && d < text->documents; d++)
        for (; status == TEM_OK && at < text->ends[d]; at++) {
            if (text->words[at] != TEM_NO_WORD)
                status = put_question(w, d, at);
            if (status == TEM_OK && run->progress != NULL &&
                run->progress(run->progress_context, "asking for words", at,
                              attack_text_words(text)) != 0) {
                w->error = (tem_error){.status = TEM_ERR_CANCELLED, .message = "cancelled"};
                status = TEM_ERR_CANCELLED;
            }
        }
    return status;
}

int masks_write(const mask_export *how, const tem_model *model, const tem_attack *attack,
                const attack_text *text, const tem_run *run) {
    char *content = NULL;
    size_t bytes = 0;
    mask_writing w = {.how = how,
                      .model = model,
                      .attack = attack,
                      .text = text,
                      .ids = calloc(how->candidates, sizeof *w.ids),
                      .likelihoods = calloc(how->candidates, sizeof *w.likelihoods),
                      .posteriors = calloc(how->candidates, sizeof *w.posteriors),
                      .out = open_memstream(&content, &bytes),
                      .error = {.status = TEM_ERR_MEMORY, .message = "out of memory"}};
    const bool ready =
        w.ids != NULL && w.likelihoods != NULL && w.posteriors != NULL && w.out != NULL;
    tem_status status = ready ? put_questions(&w, run) : TEM_ERR_MEMORY;
    talk_end_progress();
    if (w.out != NULL && fclose(w.out) != 0 && status == TEM_OK)
        status = TEM_ERR_MEMORY;
    if (status == TEM_OK)
        status = tem_file_write(
            how->path, content, bytes, how->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING,
            how->with_originals ? TEM_READERS_OWNER : TEM_READERS_USUAL, &w.error);
    free(content);
    free(w.posteriors);
    free(w.likelihoods);
    free(w.ids);
    return status == TEM_OK ? EXIT_DONE : talk_error(&w.error);
}

/* ---- answers ---- */

typedef struct guess_reading {
    const char *path;
    const tem_model *model;
    const attack_text *text;
    uint32_t *guesses;
    bool *answered;
    uint64_t line;
    uint64_t document; /* where the search for a document begins: answers mostly come in order */
} guess_reading;

static int refuse(const guess_reading *g, const char *why) {
    fprintf(stderr, "tem: %s: line %s: %s\n", g->path, talk_count(g->line), why);
    return EXIT_FAILED;
}

/* The place in the text of a document's word, both counted from 1. False if there is none. */
static bool find_place(guess_reading *g, json_int_t document, json_int_t position,
                       uint64_t *place) {
    const attack_text *text = g->text;
    for (uint64_t k = 0; k < text->documents; k++) {
        const uint64_t d = (g->document + k) % text->documents;
        if ((json_int_t)text->numbers[d] != document)
            continue;
        const uint64_t first = d == 0 ? 0 : text->ends[d - 1];
        g->document = d;
        *place = first + (uint64_t)position - 1;
        return position >= 1 && (uint64_t)position <= text->ends[d] - first;
    }
    return false;
}

static int take_answer(guess_reading *g, const json_t *answer) {
    const json_t *document = json_object_get(answer, "document"),
                 *position = json_object_get(answer, "position"),
                 *guess = json_object_get(answer, "guess");
    uint64_t place = 0;
    if (!json_is_integer(document) || !json_is_integer(position) || !json_is_string(guess))
        return refuse(g, "expected an object with document, position and guess");
    if (!find_place(g, json_integer_value(document), json_integer_value(position), &place))
        return refuse(g, "the text has no such document and position; --sample must be as it was");
    if (g->answered[place])
        return refuse(g, "the position has a guess already");
    g->answered[place] = true;
    g->guesses[place] =
        tem_model_find(g->model, json_string_value(guess), json_string_length(guess));
    return EXIT_DONE;
}

static int read_lines(guess_reading *g, FILE *in) {
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes = 0;
    int status = EXIT_DONE;
    while (status == EXIT_DONE && (bytes = getline(&line, &room, in)) >= 0) {
        g->line++;
        while (bytes > 0 && (line[bytes - 1] == '\n' || line[bytes - 1] == '\r'))
            bytes--;
        if (bytes == 0)
            continue;
        json_t *answer = json_loadb(line, (size_t)bytes, JSON_REJECT_DUPLICATES, NULL);
        status = answer == NULL ? refuse(g, "not a JSON object") : take_answer(g, answer);
        json_decref(answer);
    }
    free(line);
    return status;
}

int masks_read_guesses(const char *path, const tem_model *model, const attack_text *text,
                       uint32_t *guesses) {
    const uint64_t words = attack_text_words(text);
    guess_reading g = {.path = path,
                       .model = model,
                       .text = text,
                       .guesses = guesses,
                       .answered = calloc(words + 1, sizeof *g.answered)};
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    if (g.answered == NULL)
        return talk_error(&error);
    for (uint64_t i = 0; i < words; i++)
        guesses[i] = TEM_NO_WORD;
    FILE *in = fopen(path, "r");
    int status = EXIT_FAILED;
    if (in == NULL)
        fprintf(stderr, "tem: %s: cannot open: %s\n", path, strerror(errno));
    else
        status = read_lines(&g, in);
    if (in != NULL)
        fclose(in);
    free(g.answered);
    return status;
}
