/* text_sources.c - which public texts a language model was made of. */
#include "mech/text_sources.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

void text_sources_free(text_sources *s) {
    core_free(s->texts);
    core_free(s->lines);
    *s = (text_sources){.texts = NULL};
}

bool text_sources_have_text(const text_sources *s, const source_text *text) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->texts[i].bytes == text->bytes &&
            memcmp(s->texts[i].hash, text->hash, sizeof text->hash) == 0)
            return true;
    return false;
}

bool text_sources_have_size(const text_sources *s, uint64_t bytes) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->texts[i].bytes == bytes)
            return true;
    return false;
}

tem_status text_sources_add_text(text_sources *s, const source_text *text, tem_error *error) {
    if (text_sources_have_text(s, text))
        return TEM_OK;
    if (s->count == SOURCES_MOST)
        return core_fail(error, TEM_ERR_RANGE, "a language model is of at most %d texts",
                         SOURCES_MOST);
    if (s->count == s->text_room) {
        const uint32_t room = s->text_room == 0 ? 8 : 2 * s->text_room;
        source_text *grown = core_resize(s->texts, room * sizeof *grown);
        if (grown == NULL)
            return core_fail_memory(error);
        s->texts = grown;
        s->text_room = room;
    }
    s->texts[s->count++] = *text;
    return TEM_OK;
}

static int compare_lines(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool is_within(uint32_t hash, uint32_t shift) {
    return shift == 0 || hash >> (32 - shift) == 0;
}

/* Which hashes stay depends on the set of all lines alone: the shift is the least with which the
 * different ones fit. */
void text_sources_settle(text_sources *s) {
    uint32_t kept = 0;
    if (s->line_count == 0)
        return;
    qsort(s->lines, s->line_count, sizeof *s->lines, compare_lines);
    for (uint32_t i = 0; i < s->line_count; i++)
        if (kept == 0 || s->lines[i] != s->lines[kept - 1])
            s->lines[kept++] = s->lines[i];
    while (kept > SOURCE_LINES_MOST) {
        s->line_shift++;
        while (kept > 0 && !is_within(s->lines[kept - 1], s->line_shift))
            kept--;
    }
    s->line_count = kept;
}

tem_status text_sources_add_line(text_sources *s, uint32_t hash, tem_error *error) {
    if (!is_within(hash, s->line_shift))
        return TEM_OK;
    if (s->line_count == 2 * SOURCE_LINES_MOST)
        text_sources_settle(s);
    if (s->line_count == s->line_room) {
        const uint32_t room = s->line_room == 0 ? 1024 : 2 * s->line_room;
        uint32_t *grown = core_resize(s->lines, room * sizeof *grown);
        if (grown == NULL)
            return core_fail_memory(error);
        s->lines = grown;
        s->line_room = room;
    }
    s->lines[s->line_count++] = hash;
    return TEM_OK;
}

/* Lines of a sample are no more than that: the other ones must be sampled alike. */
static void raise_shift(text_sources *s, uint32_t shift) {
    uint32_t kept = 0;
    if (shift <= s->line_shift)
        return;
    s->line_shift = shift;
    for (uint32_t i = 0; i < s->line_count; i++)
        if (is_within(s->lines[i], shift))
            s->lines[kept++] = s->lines[i];
    s->line_count = kept;
}

tem_status text_sources_add(text_sources *s, const text_sources *more, tem_error *error) {
    for (uint32_t i = 0; i < more->count; i++)
        TRY(text_sources_add_text(s, &more->texts[i], error));
    raise_shift(s, more->line_shift);
    for (uint32_t i = 0; i < more->line_count; i++)
        TRY(text_sources_add_line(s, more->lines[i], error));
    text_sources_settle(s);
    return TEM_OK;
}

uint32_t text_sources_find_line(const text_sources *s, uint32_t hash) {
    uint32_t low = 0, high = s->line_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->lines[middle] == hash)
            return (uint32_t)1 << s->line_shift;
        if (s->lines[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}
