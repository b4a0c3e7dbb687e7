/* sampler_form.c - the form of sampler.h's law. */
#include "mech/sampler_form.h"

#include "core/status.h"

#include <math.h>

enum { BITS = 192, TILE = 256 };

static closeness of_exponent(uint64_t x) {
    return (closeness){exp_table[exponent_level(x)], exponent_fraction(x)};
}

static closeness of_distance(const sampler *m, tem_dist distance) {
    return of_exponent(exponent_at(&m->envelopes.exponent, distance));
}

static closeness pair(const law_form *f, uint32_t w, uint32_t y) {
    const sampler *m = f->state;
    return of_distance(m, space_distance(m->space, w, y));
}

static tem_status list(const law_form *f, uint32_t w, output_list *out, tem_error *error) {
    const sampler *m = f->state;
    tem_neighbours near;
    TRY(neighbours_get(m->envelopes.index, w, &near, error));
    *out = (output_list){.entries = near.list, .count = near.count};
    if (near.bound != UINT32_MAX)
        out->bound = of_distance(m, near.bound);
    return TEM_OK;
}

static listed_output entry(const law_form *f, const output_list *list, uint32_t i) {
    const tem_neighbour *y = (const tem_neighbour *)list->entries + i;
    return (listed_output){y->id, of_distance(f->state, y->distance)};
}

/* No word of the list is beyond its bound, and a word that is nearer is in the list. */
static proposed_output propose(const law_form *f, uint32_t w, const output_list *list, uint32_t y) {
    const sampler *m = f->state;
    const tem_neighbour *near = list->entries;
    const tem_dist distance = space_distance(m->space, w, y);
    proposed_output found = {of_distance(m, distance), false};
    if (list->count > 0 && distance > near[list->count - 1].distance)
        return found;
    for (uint32_t i = 0; i < list->count; i++)
        found.is_listed |= near[i].id == y;
    return found;
}

static void row(const law_form *f, uint32_t w, uint32_t first, uint32_t count, double *out) {
    _Static_assert(EXPONENT_BITS == 36, "one unit of the exponent is 2^36");
    const sampler *m = f->state;
    tem_dist distances[TILE];
    for (uint32_t done = 0; done < count; done += TILE) {
        const uint32_t some = count - done < TILE ? count - done : TILE;
        space_distances(m->space, w, first + done, some, distances);
        for (uint32_t i = 0; i < some; i++)
            out[done + i] =
                exp((double)exponent_at(&m->envelopes.exponent, distances[i]) * -0x1p-36);
    }
}

static const law_form_ops ops = {
    .pair = pair, .list = list, .entry = entry, .propose = propose, .row = row};

law_form sampler_form(const sampler *m) {
    const exponent *e = &m->envelopes.exponent;
    return (law_form){.ops = &ops,
                      .state = m,
                      .weights = &m->envelopes.weights,
                      .exponent = *e,
                      .is_of_distance = true,
                      .bits = BITS,
                      .spread = ldexp((double)exponent_at(e, e->gamma), -EXPONENT_BITS)};
}
