/* drawing.c - one document while its words are drawn. */
#include "job/drawing.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"

#include <string.h>

tem_status drawing_init(text_drawing *d, const tem_mechanism *mechanism, tem_error *error) {
    const size_t bytes = mechanism_document_of(mechanism).bytes;
    *d = (text_drawing){.mechanism = mechanism};
    d->state = bytes > 0 ? core_alloc_zero(1, bytes) : NULL;
    return bytes > 0 && d->state == NULL ? core_fail_memory(error) : TEM_OK;
}

void drawing_free(text_drawing *d) {
    drawing_end(d);
    core_buffer_free(&d->past);
    core_free(d->state);
    d->state = NULL;
}

tem_status drawing_begin(text_drawing *d, tem_error *error) {
    drawing_end(d);
    d->is_open = true;
    return mechanism_begin(d->mechanism, d->state, error);
}

void drawing_end(text_drawing *d) {
    if (!d->is_open)
        return;
    mechanism_end(d->mechanism, d->state);
    if (d->state != NULL)
        explicit_bzero(d->state, mechanism_document_of(d->mechanism).bytes);
    /* PRIVACY: the law of the next document depends on that document alone, so it begins with an
     * empty past. And this document may have failed: then nobody may see what was drawn for it. */
    core_buffer_clear(&d->past);
    d->before = 0;
    d->is_open = false;
}

/* Adds a word or a kind to the past. Drops what draw_next does not see, so that a document of any
 * length takes little memory. */
static tem_status add_to_past(text_drawing *d, uint32_t word, tem_error *error) {
    const size_t most = mechanism_document_of(d->mechanism).past_words * sizeof word;
    if (most == 0) {
        d->before++;
        return TEM_OK;
    }
    if (d->past.size + sizeof word >= 2 * most) {
        const size_t dropped = d->past.size - (most - sizeof word);
        memmove(d->past.data, d->past.data + dropped, d->past.size - dropped);
        d->past.size -= dropped;
        d->before += dropped / sizeof word;
    }
    return core_buffer_add(&d->past, &word, sizeof word) ? TEM_OK : core_fail_memory(error);
}

static released_past past_of(const text_drawing *d) {
    const uint32_t *words = (const uint32_t *)(const void *)d->past.data;
    const size_t all = d->past.size / sizeof *words;
    const size_t most = mechanism_document_of(d->mechanism).past_words;
    const size_t count = all < most ? all : most;
    return (released_past){.words = count > 0 ? words + (all - count) : NULL,
                           .count = count,
                           .before = d->before + (all - count)};
}

/* PRIVACY: each word is drawn by the law that the past defines before it, once: the draw is added
 * to the past when it is made, and a document that fails releases none of them. */
static tem_status draw_in_order(text_drawing *d, tem_rng *rng, uint32_t *words, size_t count,
                                tem_error *error) {
    tem_status status = TEM_OK;
    for (size_t i = 0; i < count && status == TEM_OK; i++) {
        const released_past past = past_of(d);
        status = mechanism_draw_next(d->mechanism, d->state, &past, rng, &words[i], error);
        if (status == TEM_OK)
            status = add_to_past(d, words[i], error);
    }
    return status;
}

/* Asks the callback whether to go on, once per slow_draws: a slow mechanism takes tens of
 * milliseconds for them, in one call or in many. drawn: those since the last call. */
static tem_status ask_after(text_drawing *d, size_t drawn, tem_error *error) {
    const size_t slow = mechanism_document_of(d->mechanism).slow_draws;
    d->unasked += drawn;
    if (slow == 0 || d->unasked < slow)
        return TEM_OK;
    d->unasked = 0;
    return core_progress(d->run, "privatizing", 0, 0, error);
}

/* A slow mechanism draws for some words at a time. */
tem_status drawing_draw(text_drawing *d, tem_rng *rng, uint32_t *words, size_t count,
                        tem_error *error) {
    const tem_mechanism *m = d->mechanism;
    const size_t slow = mechanism_document_of(m).slow_draws;
    const size_t most = slow > 0 && slow < count ? slow : count;
    for (size_t done = 0; done < count; done += most) {
        const size_t some = count - done < most ? count - done : most;
        TRY(mechanism_depends_on_past(m)
                ? draw_in_order(d, rng, words + done, some, error)
                : mechanism_draw(m, rng, words + done, words + done, some, error));
        TRY(ask_after(d, some, error));
    }
    return TEM_OK;
}

tem_status drawing_show(text_drawing *d, uint32_t shown, tem_error *error) {
    return mechanism_depends_on_past(d->mechanism) ? add_to_past(d, shown, error) : TEM_OK;
}
