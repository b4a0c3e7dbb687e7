/* attack_text.c - released text, and its original, as ids of words, document by document. */
#include "attack_text.h"

#include "talk.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_reading {
    const law *l;
    const tem_model *model;
    attack_text *text;
    uint64_t count, room; /* of words */
    uint64_t documents_room;
    uint64_t foreign;
    const char *released_path; /* original: the file of the released text, for messages */
    uint64_t document;         /* original: the record that comes next */
} text_reading;

static tem_status fail(tem_error *error, tem_status status, const char *message) {
    *error = (tem_error){.status = status};
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

static bool grow(void *array, uint64_t count, size_t size) {
    void **block = array, *grown = realloc(*block, (size_t)count * size);
    if (grown != NULL)
        *block = grown;
    return grown != NULL;
}

static bool add_word(text_reading *t, uint32_t id) {
    if (t->count == t->room) {
        const uint64_t room = t->room == 0 ? 65536 : 2 * t->room;
        if (!grow(&t->text->words, room, sizeof *t->text->words))
            return false;
        t->room = room;
    }
    t->text->words[t->count++] = id;
    return true;
}

static bool end_document(text_reading *t) {
    attack_text *text = t->text;
    if (text->documents == t->documents_room) {
        const uint64_t room = t->documents_room == 0 ? 1024 : 2 * t->documents_room;
        if (!grow(&text->ends, room, sizeof *text->ends) ||
            !grow(&text->numbers, room, sizeof *text->numbers))
            return false;
        t->documents_room = room;
    }
    text->numbers[text->documents] = text->documents + 1;
    text->ends[text->documents++] = t->count;
    return true;
}

/* ---- released text ---- */

static tem_status add_released(text_reading *t, const char *word, size_t length, tem_error *error) {
    released_word found;
    const tem_status status = released_classify(t->l, word, length, &found, error);
    if (status != TEM_OK || found.kind == RELEASED_PUNCTUATION)
        return status;
    t->foreign += found.kind == RELEASED_FOREIGN;
    return add_word(t, found.kind == RELEASED_WORD ? found.id : TEM_NO_WORD)
               ? TEM_OK
               : fail(error, TEM_ERR_MEMORY, "out of memory");
}

static tem_status take_released(void *context, const char *text, size_t bytes, const char *group,
                                size_t group_bytes, tem_error *error) {
    text_reading *t = context;
    tem_status status = TEM_OK;
    (void)group, (void)group_bytes;
    for (size_t at = 0; at < bytes && status == TEM_OK;) {
        size_t end = at;
        while (end < bytes && !released_is_blank(text[end]))
            end++;
        if (end > at)
            status = add_released(t, text + at, end - at, error);
        at = end + 1;
    }
    if (status == TEM_OK && !end_document(t))
        return fail(error, TEM_ERR_MEMORY, "out of memory");
    return status;
}

int attack_text_read(const tem_records *records, const law *l, const tem_run *run,
                     attack_text *out) {
    text_reading t = {.l = l, .model = l->model, .text = out};
    tem_error error;
    const tem_status status = tem_records_read(records, take_released, &t, run, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    out->all_words = t.count;
    return released_check(records->path, t.count - t.foreign, t.foreign);
}

/* ---- originals ---- */

/* Finds the words of a text. The caller frees *ids. */
static tem_status find_words(const tem_model *model, const char *text, size_t bytes, uint32_t **ids,
                             size_t *count, tem_error *error) {
    tem_status status = tem_model_pieces(model, text, bytes, NULL, 0, count, error);
    if (status == TEM_ERR_FORMAT || status == TEM_ERR_RANGE)
        return fail(error, TEM_ERR_FORMAT, "the text is not valid UTF-8, or a word is too long");
    if (status != TEM_OK)
        return status;
    *ids = calloc(*count + 1, sizeof **ids);
    if (*ids == NULL)
        return fail(error, TEM_ERR_MEMORY, "out of memory");
    return tem_model_pieces(model, text, bytes, *ids, *count, count, error);
}

/* Leaves out unknown words. Returns how many are left. */
static size_t keep_known(uint32_t *ids, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ids[i] != TEM_NO_WORD)
            ids[kept++] = ids[i];
    return kept;
}

static tem_status align(text_reading *t, uint32_t *ids, size_t count, tem_error *error) {
    attack_text *text = t->text;
    if (t->document == text->documents) {
        *error = (tem_error){.status = TEM_ERR_FORMAT};
        snprintf(error->message, sizeof error->message,
                 "%s has no record for this one: are they the same?", t->released_path);
        return TEM_ERR_FORMAT;
    }
    const uint64_t first = t->document == 0 ? 0 : text->ends[t->document - 1];
    const size_t wanted = (size_t)(text->ends[t->document] - first);
    if (count != wanted && !t->l->report.draws_unknown)
        count = keep_known(ids, count); /* unknown words were dropped */
    if (count != wanted) {
        *error = (tem_error){.status = TEM_ERR_FORMAT};
        snprintf(error->message, sizeof error->message,
                 "%zu words are in this record, and %zu in that of %s: are they the same? %s",
                 count, wanted, t->released_path,
                 t->l->mechanism != NULL
                     ? "If unknown words were dropped, name the run's --report"
                     : "Leave out records in which that program changes the number of words");
        return TEM_ERR_FORMAT;
    }
    if (count > 0)
        memcpy(text->originals + first, ids, count * sizeof *ids);
    t->document++;
    return TEM_OK;
}

static tem_status take_original(void *context, const char *text, size_t bytes, const char *group,
                                size_t group_bytes, tem_error *error) {
    text_reading *t = context;
    uint32_t *ids = NULL;
    size_t count = 0;
    (void)group, (void)group_bytes;
    tem_status status = find_words(t->model, text, bytes, &ids, &count, error);
    if (status == TEM_OK)
        status = align(t, ids, count, error);
    free(ids);
    return status;
}

int attack_text_read_original(const tem_records *records, const char *released_path, const law *l,
                              const tem_run *run, attack_text *text) {
    text_reading t = {.l = l, .model = l->model, .text = text, .released_path = released_path};
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    text->originals = calloc(attack_text_words(text) + 1, sizeof *text->originals);
    if (text->originals == NULL)
        return talk_error(&error);
    const tem_status status = tem_records_read(records, take_original, &t, run, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    if (t.document < text->documents) {
        fprintf(stderr, "tem: %s: it has %s records, and %s has %s: are they the same?\n",
                records->path, talk_count(t.document), released_path, talk_count(text->documents));
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static tem_status take_plain(void *context, const char *text, size_t bytes, const char *group,
                             size_t group_bytes, tem_error *error) {
    text_reading *t = context;
    uint32_t *ids = NULL;
    size_t count = 0;
    (void)group, (void)group_bytes;
    tem_status status = find_words(t->model, text, bytes, &ids, &count, error);
    bool room = true;
    for (size_t i = 0; status == TEM_OK && room && i < count; i++)
        room = add_word(t, ids[i]);
    free(ids);
    if (status == TEM_OK && (!room || !end_document(t)))
        return fail(error, TEM_ERR_MEMORY, "out of memory");
    return status;
}

int attack_text_read_plain(const tem_records *records, const tem_model *model, const tem_run *run,
                           attack_text *out) {
    text_reading t = {.model = model, .text = out};
    tem_error error;
    const tem_status status = tem_records_read(records, take_plain, &t, run, &error);
    talk_end_progress();
    out->all_words = t.count;
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

/* ---- the sample ---- */

/* Pseudo-random numbers (splitmix64). The sample needs no secrecy, and must be the same in every
 * run. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Marks documents in random order until they have `words` words. */
static bool mark_sample(const attack_text *text, uint64_t words, bool *chosen) {
    uint64_t *order = calloc(text->documents + 1, sizeof *order), state = 1, taken = 0;
    if (order == NULL)
        return false;
    for (uint64_t d = 0; d < text->documents; d++)
        order[d] = d;
    for (uint64_t d = 0; d < text->documents && taken < words; d++) {
        const uint64_t other = d + next_random(&state) % (text->documents - d);
        const uint64_t document = order[other];
        order[other] = order[d];
        chosen[document] = true;
        taken += text->ends[document] - (document == 0 ? 0 : text->ends[document - 1]);
    }
    free(order);
    return true;
}

bool attack_text_sample(attack_text *text, uint64_t words) {
    uint64_t kept = 0, at = 0, first = 0;
    if (words == 0 || attack_text_words(text) <= words)
        return true;
    bool *chosen = calloc(text->documents + 1, sizeof *chosen);
    const bool marked = chosen != NULL && mark_sample(text, words, chosen);
    for (uint64_t d = 0; marked && d < text->documents; d++) {
        const uint64_t end = text->ends[d], count = end - first;
        if (chosen[d]) {
            memmove(text->words + at, text->words + first, count * sizeof *text->words);
            if (text->originals != NULL)
                memmove(text->originals + at, text->originals + first,
                        count * sizeof *text->originals);
            at += count;
            text->numbers[kept] = text->numbers[d];
            text->ends[kept++] = at;
        }
        first = end;
    }
    if (marked)
        text->documents = kept;
    free(chosen);
    return marked;
}

void attack_text_free(attack_text *text) {
    free(text->numbers);
    free(text->ends);
    free(text->originals);
    free(text->words);
    *text = (attack_text){.words = NULL};
}
