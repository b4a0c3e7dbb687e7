/* linear.c - multinomial logistic regression by L-BFGS.
 *
 * Loss and gradient are sums over chunks of CHUNK examples. Chunks are spread over threads and
 * added up in their order, so that the number of threads changes no bit. */
#include "linear.h"

#include "adam.h"
#include "blas.h"
#include "dense.h"
#include "failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The search keeps MEMORY earlier steps. It ends after STEPS steps, or when no derivative is larger
 * than FLAT; then the loss is within about 1e-7 of the least one (floats carry no more). */
enum { CHUNK = 256, MEMORY = 10, STEPS = 300, HALVINGS = 30 };
static const double FLAT = 1e-5, DESCENT = 1e-4;

typedef struct objective {
    const examples *e;
    const uint32_t *labels;
    uint32_t classes, chunks, size; /* size: number of weights */
    double penalty;
    float *weights;   /* where the loss is asked for */
    float *scores;    /* CHUNK * classes per chunk */
    float *gradients; /* size per chunk */
    double *losses;   /* one per chunk */
    workers workers;
} objective;

static uint32_t chunk_size(const objective *o, uint64_t chunk) {
    const uint64_t left = o->e->count - chunk * CHUNK;
    return left < CHUNK ? (uint32_t)left : CHUNK;
}

/* Scores of a chunk's examples to probabilities, and these to loss and gradient. */
static void handle_chunks(void *context, uint64_t first, uint64_t last) {
    objective *o = context;
    const uint32_t columns = o->e->columns;
    for (uint64_t chunk = first; chunk < last; chunk++) {
        const uint32_t count = chunk_size(o, chunk);
        const float *rows = o->e->rows + chunk * CHUNK * columns;
        float *scores = o->scores + chunk * CHUNK * o->classes;
        blas_multiply(false, false, count, o->classes, columns, rows, columns, o->weights,
                      o->classes, 0, scores);
        softmax(scores, count, o->classes);
        o->losses[chunk] = cross_entropy(scores, o->labels + chunk * CHUNK, count, o->classes);
        blas_multiply(true, false, columns, o->classes, count, rows, columns, scores, o->classes, 0,
                      o->gradients + chunk * o->size);
    }
}

/* Computes the loss and its gradient at `point`. */
static tem_status look(objective *o, const double *point, double *loss, double *gradient,
                       tem_error *error) {
    for (uint32_t i = 0; i < o->size; i++)
        o->weights[i] = (float)point[i];
    const tem_status status = ranges_run(&o->workers, o->chunks, handle_chunks, o, error);
    if (status != TEM_OK)
        return status;
    const uint32_t bias = o->size - o->classes;
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < o->size; i++) {
        squares += i < bias ? point[i] * point[i] : 0;
        gradient[i] = i < bias ? o->penalty * point[i] : 0;
    }
    for (uint32_t chunk = 0; chunk < o->chunks; chunk++) {
        const double share = (double)chunk_size(o, chunk) / o->e->count;
        sum += share * o->losses[chunk];
        for (uint32_t i = 0; i < o->size; i++)
            gradient[i] += share * (double)o->gradients[(size_t)chunk * o->size + i];
    }
    *loss = sum + o->penalty / 2 * squares;
    return TEM_OK;
}

/* A place of the search, and the last steps: moves[k] and turns[k] say how far the weights and the
 * gradient changed; products[k] is their product. */
typedef struct search {
    uint32_t size, kept, newest;
    double loss, next_loss;
    double *point, *gradient, *next, *next_gradient, *direction;
    double *moves[MEMORY], *turns[MEMORY], products[MEMORY];
    double *all;
} search;

static double product(const double *a, const double *b, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_times(double *to, const double *from, double factor, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        to[i] += factor * from[i];
}

static tem_status search_create(uint32_t size, search *s, tem_error *error) {
    enum { VECTORS = 5 + 2 * MEMORY };
    *s = (search){.size = size, .all = calloc((size_t)VECTORS * size, sizeof *s->all)};
    if (s->all == NULL)
        return eval_out_of_memory(error);
    double **const places[] = {&s->point, &s->gradient, &s->next, &s->next_gradient, &s->direction};
    for (size_t i = 0; i < 5; i++)
        *places[i] = s->all + i * size;
    for (size_t k = 0; k < MEMORY; k++) {
        s->moves[k] = s->all + (5 + k) * size;
        s->turns[k] = s->all + (5 + MEMORY + k) * size;
    }
    return TEM_OK;
}

/* The two loops of L-BFGS: direction = -(estimated inverse of the second derivatives) gradient. */
static void choose_direction(search *s) {
    double factors[MEMORY];
    for (uint32_t i = 0; i < s->size; i++)
        s->direction[i] = -s->gradient[i];
    for (uint32_t i = 0; i < s->kept; i++) {
        const uint32_t k = (s->newest + MEMORY - i) % MEMORY;
        factors[k] = product(s->moves[k], s->direction, s->size) / s->products[k];
        add_times(s->direction, s->turns[k], -factors[k], s->size);
    }
    if (s->kept > 0) {
        const double *turn = s->turns[s->newest];
        const double scale = s->products[s->newest] / product(turn, turn, s->size);
        for (uint32_t i = 0; i < s->size; i++)
            s->direction[i] *= scale;
    }
    for (uint32_t i = s->kept; i-- > 0;) {
        const uint32_t k = (s->newest + MEMORY - i) % MEMORY;
        const double back = product(s->turns[k], s->direction, s->size) / s->products[k];
        add_times(s->direction, s->moves[k], factors[k] - back, s->size);
    }
}

/* Halves the step until the loss falls enough; *found is false if it never does, because floats
 * carry no smaller difference. */
static tem_status take_step(search *s, objective *o, bool *found, tem_error *error) {
    const double slope = product(s->gradient, s->direction, s->size);
    double step = 1;
    tem_status status = TEM_OK;
    *found = false;
    for (int i = 0; i < HALVINGS && status == TEM_OK && !*found && slope < 0; i++, step /= 2) {
        memcpy(s->next, s->point, s->size * sizeof *s->next);
        add_times(s->next, s->direction, step, s->size);
        status = look(o, s->next, &s->next_loss, s->next_gradient, error);
        *found = status == TEM_OK && s->next_loss <= s->loss + DESCENT * step * slope;
    }
    return status;
}

/* Goes to the new place, and remembers the way there. */
static void move_on(search *s) {
    const uint32_t k = s->kept == 0 ? 0 : (s->newest + 1) % MEMORY;
    for (uint32_t i = 0; i < s->size; i++) {
        s->moves[k][i] = s->next[i] - s->point[i];
        s->turns[k][i] = s->next_gradient[i] - s->gradient[i];
    }
    s->products[k] = product(s->moves[k], s->turns[k], s->size);
    if (s->products[k] > 0) {
        s->newest = k;
        s->kept += s->kept < MEMORY;
    } else {
        s->kept = 0;
    }
    memcpy(s->point, s->next, s->size * sizeof *s->point);
    memcpy(s->gradient, s->next_gradient, s->size * sizeof *s->gradient);
    s->loss = s->next_loss;
}

static bool is_flat(const search *s) {
    for (uint32_t i = 0; i < s->size; i++)
        if (fabs(s->gradient[i]) > FLAT)
            return false;
    return true;
}

static tem_status minimise(search *s, objective *o, tem_error *error) {
    bool found = true;
    tem_status status = look(o, s->point, &s->loss, s->gradient, error);
    for (uint32_t i = 0; i < STEPS && status == TEM_OK && found && !is_flat(s); i++) {
        o->workers.done = i;
        choose_direction(s);
        status = take_step(s, o, &found, error);
        if (status == TEM_OK && found)
            move_on(s);
    }
    return status;
}

void linear_free(linear *l) {
    free(l->weights);
    *l = (linear){0};
}

static void objective_free(objective *o) {
    free(o->scores);
    free(o->gradients);
    free(o->losses);
}

static tem_status objective_create(objective *o, tem_error *error) {
    o->scores = adam_floats((uint64_t)o->chunks * CHUNK * o->classes);
    o->gradients = adam_floats((uint64_t)o->chunks * o->size);
    o->losses = calloc(o->chunks, sizeof *o->losses);
    o->weights = adam_floats(o->size);
    if (o->scores != NULL && o->gradients != NULL && o->losses != NULL && o->weights != NULL)
        return blas_open(error);
    return eval_out_of_memory(error);
}

tem_status linear_train(const examples *e, const uint32_t *labels, uint32_t classes, double penalty,
                        core_team *team, const tem_run *run, linear *out, tem_error *error) {
    search s = {0};
    objective o = {.e = e,
                   .labels = labels,
                   .classes = classes,
                   .chunks = (e->count + CHUNK - 1) / CHUNK,
                   .size = e->columns * classes,
                   .penalty = penalty,
                   .workers = {team, run, "fitting a classifier", 0, STEPS}};
    tem_status status = objective_create(&o, error);
    if (status == TEM_OK)
        status = search_create(o.size, &s, error);
    if (status == TEM_OK)
        status = minimise(&s, &o, error);
    if (status == TEM_OK) {
        for (uint32_t i = 0; i < o.size; i++)
            o.weights[i] = (float)s.point[i];
        *out = (linear){e->columns, classes, o.weights, s.loss};
    } else {
        free(o.weights);
    }
    objective_free(&o);
    free(s.all);
    return status;
}

tem_status linear_predict(const linear *l, const examples *e, float **out, tem_error *error) {
    float *all = adam_floats((uint64_t)e->count * l->classes);
    if (all == NULL)
        return eval_out_of_memory(error);
    blas_multiply(false, false, e->count, l->classes, l->columns, e->rows, l->columns, l->weights,
                  l->classes, 0, all);
    softmax(all, e->count, l->classes);
    *out = all;
    return TEM_OK;
}
