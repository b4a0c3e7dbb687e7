/* vocab.c - the vocabulary: word <-> id, both in O(1). */
#include "space/vocab.h"

#include "core/hash.h"
#include "core/memory.h"
#include "core/status.h"

#include <string.h>
#include <unistr.h>

uint64_t vocab_slot_count(uint32_t count) {
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)count)
        slots *= 2;
    return slots;
}

const char *vocab_word(const vocab *v, uint32_t id, size_t *length) {
    *length = 0;
    if (id >= v->count)
        return NULL;
    uint32_t start = v->starts[id], end = v->starts[id + 1];
    if (start > end || end > v->byte_count)
        return NULL;
    *length = end - start;
    return v->bytes + start;
}

/* Returns the slot that holds the word, or the empty slot where it would go. *id
 * receives the word's id or TEM_NO_WORD. Returns slot_count if there is no such slot,
 * which happens only in a damaged table. */
static uint64_t search(const vocab *v, const char *word, size_t length, uint64_t hash,
                       uint32_t *id) {
    const uint64_t mask = v->slot_count - 1;
    *id = TEM_NO_WORD;
    for (uint64_t probe = 0; probe < v->slot_count; probe++) {
        uint64_t place = (hash + probe) & mask;
        uint64_t slot = v->slots[place];
        if (slot == 0)
            return place;
        if (slot >> 32 != hash >> 32)
            continue;
        size_t other_length = 0;
        const char *other = vocab_word(v, (uint32_t)slot - 1, &other_length);
        if (other != NULL && other_length == length && memcmp(other, word, length) == 0) {
            *id = (uint32_t)slot - 1;
            return place;
        }
    }
    return v->slot_count;
}

uint32_t vocab_find(const vocab *v, const char *word, size_t length) {
    uint32_t id = TEM_NO_WORD;
    search(v, word, length, core_hash64(word, length), &id);
    return id;
}

/* Returns what is wrong with a single word, to complete "the word ...", or NULL if the
 * word is good. */
static const char *word_fault(const char *word, size_t length) {
    if (length == 0)
        return "is empty";
    if (length > TEM_WORD_BYTES_MAX)
        return "is longer than 4096 bytes";
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\0' || word[i] == '\t' || word[i] == '\n' || word[i] == '\r')
            return "contains NUL, tab or a line end";
    if (u8_check((const uint8_t *)word, length) != NULL)
        return "is not valid UTF-8";
    return NULL;
}

/* Puts word `id` of v into `slots`, which is v->slots without const. Returns the id of
 * an equal word that is already in the table, or TEM_NO_WORD. */
static uint32_t insert(const vocab *v, uint64_t *slots, uint32_t id) {
    size_t length = 0;
    const char *word = vocab_word(v, id, &length);
    uint64_t hash = core_hash64(word, length);
    uint32_t earlier = TEM_NO_WORD;
    uint64_t place = search(v, word, length, hash, &earlier);
    if (earlier == TEM_NO_WORD)
        slots[place] = (hash >> 32) << 32 | (id + (uint64_t)1);
    return earlier;
}

static tem_status check_words(const word_span *words, uint32_t count, uint64_t *byte_count,
                              vocab_fault *fault) {
    *byte_count = 0;
    for (uint32_t row = 0; row < count; row++) {
        const char *reason = word_fault(words[row].start, words[row].length);
        if (reason == NULL && *byte_count + words[row].length > UINT32_MAX)
            reason = "brings the vocabulary beyond 4 GiB";
        if (reason != NULL) {
            *fault = (vocab_fault){row, row, reason};
            return TEM_ERR_FORMAT;
        }
        *byte_count += words[row].length;
    }
    return TEM_OK;
}

static void copy_words(const word_span *words, uint32_t count, uint32_t *starts, char *bytes) {
    uint32_t end = 0;
    for (uint32_t row = 0; row < count; row++) {
        starts[row] = end;
        memcpy(bytes + end, words[row].start, words[row].length);
        end += (uint32_t)words[row].length;
    }
    starts[count] = end;
}

tem_status vocab_make(const word_span *words, uint32_t count, vocab *out, vocab_fault *fault) {
    vocab v = {.count = count, .slot_count = vocab_slot_count(count)};
    TRY(check_words(words, count, &v.byte_count, fault));

    uint32_t *starts = core_alloc((size_t)count + 1, sizeof *starts);
    char *bytes = core_alloc(v.byte_count, 1);
    uint64_t *slots = core_alloc_zero(v.slot_count, sizeof *slots);
    v.starts = starts;
    v.bytes = bytes;
    v.slots = slots;
    if (starts == NULL || bytes == NULL || slots == NULL) {
        vocab_free(&v);
        return TEM_ERR_MEMORY;
    }
    copy_words(words, count, starts, bytes);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t earlier = insert(&v, slots, row);
        if (earlier != TEM_NO_WORD) {
            *fault = (vocab_fault){row, earlier, "is there already"};
            vocab_free(&v);
            return TEM_ERR_FORMAT;
        }
    }
    *out = v;
    return TEM_OK;
}

void vocab_free(vocab *v) {
    core_free((void *)(uintptr_t)v->starts);
    core_free((void *)(uintptr_t)v->bytes);
    core_free((void *)(uintptr_t)v->slots);
    *v = (vocab){0};
}

tem_status vocab_check_words(const vocab *v, tem_error *error) {
    for (uint32_t id = 0; id < v->count; id++) {
        size_t length = 0;
        const char *word = vocab_word(v, id, &length);
        if (word == NULL)
            return core_fail(error, TEM_ERR_DAMAGED, "word %u lies outside its section", id + 1);
        const char *reason = word_fault(word, length);
        if (reason != NULL)
            return core_fail(error, TEM_ERR_DAMAGED, "word %u %s", id + 1, reason);
    }
    return TEM_OK;
}

tem_status vocab_verify(const vocab *v, tem_error *error) {
    if (v->starts[0] != 0 || v->starts[v->count] != v->byte_count)
        return core_fail(error, TEM_ERR_DAMAGED, "the words do not fill their section");
    word_span *words = core_alloc(v->count, sizeof *words);
    if (words == NULL)
        return core_fail_memory(error);

    tem_status status = vocab_check_words(v, error);
    for (uint32_t id = 0; id < v->count && status == TEM_OK; id++)
        words[id].start = vocab_word(v, id, &words[id].length);
    vocab again = {0};
    vocab_fault fault = {0, 0, NULL};
    if (status == TEM_OK)
        status = vocab_make(words, v->count, &again, &fault);
    if (status == TEM_ERR_FORMAT)
        status = core_fail(error, TEM_ERR_DAMAGED, "word %u %s", fault.row + 1, fault.reason);
    else if (status == TEM_ERR_MEMORY)
        core_fail_memory(error);
    else if (status == TEM_OK &&
             memcmp(again.slots, v->slots, v->slot_count * sizeof *v->slots) != 0)
        status = core_fail(error, TEM_ERR_DAMAGED, "the word table does not fit the words");
    vocab_free(&again);
    core_free(words);
    return status;
}
