/* uniform.c - an example of a mechanism in one file: it replaces every word by any word
 * that may be an output.
 *
 *     meson setup build -Dextra_mechanism=tests/mechanisms/uniform.c
 *
 * adds it to the library, the command and the Python package. Inside the project it would be this
 * file and one line of src/mech/mechanisms.c. It states no guarantee, so that tests/check-mechanism
 * can test what tem refuses for it: a budget, an audit, a certificate. (It could state one: its
 * output does not depend on its input.) */
#include "mech/mechanism.h"
#include "mech/weights.h"

typedef struct uniform {
    weights outputs; /* 1, or 0 for a word that the model excludes */
} uniform;

static tem_status init(void *state, const mechanism_setup *setup, double *beta, tem_error *error) {
    uniform *u = state;
    (void)beta;
    return weights_init(&u->outputs, setup->weights, setup->space->count, error);
}

static void free_state(void *state) {
    uniform *u = state;
    weights_free(&u->outputs);
}

static tem_status draw(const void *state, const uint32_t *words, size_t count, tem_rng *rng,
                       uint32_t *out, tem_error *error) {
    const uniform *u = state;
    (void)words, (void)error;
    for (size_t i = 0; i < count; i++)
        out[i] = weights_draw(&u->outputs, rng);
    return TEM_OK;
}

/* This function alone gives the mechanism a law: tem explains it, and attacks it by it. */
static tem_status row(const void *state, uint32_t word, double *probabilities, tem_error *error) {
    const uniform *u = state;
    (void)word, (void)error;
    for (uint32_t y = 0; y < u->outputs.count; y++)
        probabilities[y] = weights_at(&u->outputs, y) / (double)u->outputs.sum;
    return TEM_OK;
}

static const tem_parameter parameters[] = {
    {.name = "epsilon", .meaning = "taken, and without effect", .most = 1e300}, {.name = NULL}};

const mechanism_ops mechanism_extra = {
    .properties = {.name = "uniform",
                   .summary = "any word for any word: an example",
                   .parameters = parameters},
    .state_bytes = sizeof(uniform),
    .init = init,
    .free = free_state,
    .draw = draw,
    .row = row};
