/* model_exclude.c - the words of a model that are never outputs.
 *
 * An excluded word has the output weight 0, for every input. It stays an input: it has its vector,
 * its list and its law. The excluded words are public. They are part of the hash of the model and
 * of the hash of its space. */
#include "core/memory.h"
#include "core/status.h"
#include "model/model_layout.h"

#include <string.h>

/* Takes over the ids of excluded words, which ascend. */
static tem_status take_ids(tem_model *m, uint32_t *ids, uint32_t count, tem_error *error) {
    m->excluded = ids;
    m->excluded_count = count;
    m->excluded_bits = core_alloc_zero((size_t)m->words.count / 8 + 1, 1);
    if (m->excluded_bits == NULL)
        return core_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        m->excluded_bits[ids[i] / 8] |= (unsigned char)(1 << ids[i] % 8);
    return TEM_OK;
}

/* Stores the ids of all words with a mark, in ascending order. */
static tem_status take_marked(tem_model *m, const unsigned char *marked, uint32_t count,
                              tem_error *error) {
    if (count == 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "no word to exclude is in the vocabulary: words must be written as there");
    if (count == m->words.count)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "all words are excluded: no word is left to draw");
    uint32_t *ids = core_alloc(count, sizeof *ids);
    if (ids == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0, filled = 0; id < m->words.count; id++)
        if (marked[id])
            ids[filled++] = id;
    return take_ids(m, ids, count, error);
}

static tem_status mark_words(const tem_model *m, const char *const *words, uint32_t count,
                             unsigned char *marked, uint32_t *found, tem_error *error) {
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] == NULL)
            return core_fail(error, TEM_ERR_ARGUMENT, "word %u to exclude is NULL", i + 1);
        const uint32_t id = vocab_find(&m->words, words[i], strlen(words[i]));
        if (id == TEM_NO_WORD || marked[id])
            continue;
        marked[id] = 1;
        ++*found;
    }
    return TEM_OK;
}

tem_status model_exclude(tem_model *m, const char *const *words, uint32_t count, tem_error *error) {
    if (count == 0)
        return TEM_OK;
    if (words == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the words to exclude are missing");
    uint32_t found = 0;
    unsigned char *marked = core_alloc_zero(m->words.count, 1);
    if (marked == NULL)
        return core_fail_memory(error);
    tem_status status = mark_words(m, words, count, marked, &found, error);
    if (status == TEM_OK)
        status = take_marked(m, marked, found, error);
    core_free(marked);
    return status;
}

tem_status model_exclude_like(tem_model *m, const tem_model *other, tem_error *error) {
    if (other->excluded_count == 0)
        return TEM_OK;
    uint32_t *ids = core_alloc(other->excluded_count, sizeof *ids);
    if (ids == NULL)
        return core_fail_memory(error);
    memcpy(ids, other->excluded, other->excluded_count * sizeof *ids);
    return take_ids(m, ids, other->excluded_count, error);
}

/* Copies the section, because the file may change later: what is checked here is what is used. */
tem_status model_exclude_read(tem_model *m, const char *path, const model_section *section,
                              tem_error *error) {
    const uint64_t count = section->bytes / sizeof *m->excluded;
    if (count == 0 || count >= m->words.count || section->bytes % sizeof *m->excluded != 0)
        return core_fail_at(error, TEM_ERR_DAMAGED, path, 0, section->offset + 1,
                            "damaged model: the number of excluded words is out of range");
    uint32_t *ids = core_alloc(count, sizeof *ids);
    if (ids == NULL)
        return core_fail_memory(error);
    memcpy(ids, m->file.data + section->offset, section->bytes);
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] >= m->words.count || (i > 0 && ids[i] <= ids[i - 1])) {
            core_free(ids);
            return core_fail_at(error, TEM_ERR_DAMAGED, path, 0, section->offset + 1,
                                "damaged model: the excluded words are out of order or range");
        }
    return take_ids(m, ids, (uint32_t)count, error);
}

tem_status model_output_weights(const tem_model *m, const uint32_t *values, uint32_t **out,
                                tem_error *error) {
    const uint32_t count = m->words.count;
    if (values == NULL && m->excluded_count == 0) {
        *out = NULL;
        return TEM_OK;
    }
    uint32_t *weights = core_alloc(count, sizeof *weights);
    if (weights == NULL)
        return core_fail_memory(error);
    for (uint32_t id = 0; id < count; id++)
        weights[id] = values == NULL ? 1 : values[id];
    /* PRIVACY: the weight of an excluded word is 0 for every input, so the theorem for weights
     * covers it (docs/PRIVACY.md, "Excluded words"). */
    for (uint32_t i = 0; i < m->excluded_count; i++)
        weights[m->excluded[i]] = 0;
    *out = weights;
    return TEM_OK;
}
