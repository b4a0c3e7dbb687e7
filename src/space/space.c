/* space.c - words as points: the exact metrics. */
#include "space/space.h"

#include "core/memory.h"
#include "core/status.h"
#include "space/ball.h"
#include "space/integer_math.h"
#include "space/kernels/kernels.h"

#include <string.h>

/* DIST_BITS: bits after the binary point of a tem_dist. */
enum { DIST_BITS = 16, EXHAUSTIVE_WORDS = 400, SAMPLED_TRIANGLES = 4000000 };

uint32_t space_row_elements(uint32_t dimension) {
    return (uint32_t)core_round_up(dimension, KERNEL_ROW_UNIT);
}

static tem_dist saturate(uint64_t d) {
    return d > UINT32_MAX ? UINT32_MAX : (tem_dist)d;
}

tem_dist space_distance_of_square(uint32_t step_log2, uint64_t square) {
    if (step_log2 > DIST_BITS) {
        const unsigned down = 2 * (step_log2 - DIST_BITS);
        const uint64_t cut = square & (((uint64_t)1 << down) - 1);
        return saturate(root_ceil64((square >> down) + (cut != 0)));
    }
    const unsigned up = 2 * (DIST_BITS - step_log2);
    if (square >> (64 - up - (up == 0)) == 0)
        return saturate(root_ceil64(square << up));
    return saturate(root_ceil((uint128)square << up));
}

uint64_t space_square_of_distance(uint32_t step_log2, tem_dist d) {
    const uint64_t square = (uint64_t)d * d;
    if (step_log2 <= DIST_BITS)
        return square >> 2 * (DIST_BITS - step_log2);
    const uint128 wide = (uint128)square << 2 * (step_log2 - DIST_BITS);
    return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

void space_distances_of_squares(const space *s, const uint32_t *squares, uint32_t count,
                                tem_dist *out) {
    if (s->step_log2 <= DIST_BITS && s->step_log2 >= 6) {
        kernels_active()->roots_u32(squares, count, 2 * (DIST_BITS - s->step_log2), out);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        out[i] = space_distance_of_square(s->step_log2, squares[i]);
}

/* Sets `out` to the squares of the distances. Returns false if one does not fit. */
static bool find_squares(const space *s, uint32_t a, uint32_t first, uint32_t count,
                         uint32_t *out) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t square = space_raw(s, a, first + i);
        most |= square;
        out[i] = (uint32_t)square;
    }
    return most <= UINT32_MAX;
}

/* The roots of many squares at once are several times as fast as one by one. */
void space_distances(const space *s, uint32_t a, uint32_t first, uint32_t count, tem_dist *out) {
    if (s->metric->is_euclidean && find_squares(s, a, first, count, out)) {
        space_distances_of_squares(s, out, count, out);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        out[i] = space_distance(s, a, first + i);
}

tem_status space_check_rows(const space *s, tem_error *error) {
    if (s->metric->is_ball)
        return ball_check(s, error);
    for (uint32_t id = 0; id < s->count; id++) {
        const int16_t *x = space_row(s, id);
        for (uint32_t i = 0; i < s->row_elements; i++) {
            const int limit = i < s->dimension ? KERNEL_VALUE_MAX : 0;
            if (x[i] > limit || x[i] < -limit)
                return core_fail(error, TEM_ERR_DAMAGED, "the vector of word %u is off the grid",
                                 id + 1);
        }
    }
    return TEM_OK;
}

tem_status space_check_range(const space *s, tem_error *error) {
    if (s->metric->is_ball)
        return TEM_OK; /* no distance in the ball reaches 128 (metric_hyperbolic.c) */
    for (uint32_t id = 0; id < s->count; id++) {
        const int16_t *x = space_row(s, id);
        if (s->metric->needs_direction &&
            memcmp(x, metric_zero_row, s->row_elements * sizeof *x) == 0)
            return core_fail(error, TEM_ERR_RANGE, "the vector of word %u is zero and has no angle",
                             id + 1);
        if (s->metric->reach != NULL && s->metric->reach(s, x) == UINT32_MAX)
            return core_fail(error, TEM_ERR_RANGE,
                             "distances may reach 65536: divide all vectors by the same number");
    }
    return TEM_OK;
}

static bool triangle_holds(const space *s, uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t ab = space_distance(s, a, b), bc = space_distance(s, b, c),
                   ac = space_distance(s, a, c);
    return ab <= bc + ac && bc <= ab + ac && ac <= ab + bc;
}

static tem_status broken_triangle(tem_error *error, uint32_t a, uint32_t b, uint32_t c) {
    return core_fail(error, TEM_ERR_METRIC,
                     "no metric: words %u, %u and %u break the triangle inequality", a + 1, b + 1,
                     c + 1);
}

static tem_status check_all_triangles(const space *s, uint64_t *checked, tem_error *error) {
    for (uint32_t a = 0; a < s->count; a++)
        for (uint32_t b = a + 1; b < s->count; b++)
            for (uint32_t c = b + 1; c < s->count; c++, ++*checked)
                if (!triangle_holds(s, a, b, c))
                    return broken_triangle(error, a, b, c);
    return TEM_OK;
}

/* Returns the next id of a 64-bit linear congruential sequence (Knuth's MMIX), so that
 * every run checks the same triples. Nothing private depends on the sequence. */
static uint32_t next_word(uint64_t *state, uint32_t count) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) * count >> 32);
}

/* Checks that words at distance 0 from each other have equal distances to every word;
 * otherwise the triangle inequality fails. It is enough to compare each word with the
 * first word at distance 0. Proof: if these comparisons succeed, both words of such a
 * pair are at distance 0 from the same words. So two words at distance 0 have the same
 * first word. */
static tem_status check_equal_words(const space *s, tem_error *error) {
    for (uint32_t b = 1; b < s->count; b++) {
        uint32_t a = 0;
        while (a < b && space_distance(s, a, b) != 0)
            a++;
        for (uint32_t c = 0; a < b && c < s->count; c++)
            if (space_distance(s, a, c) != space_distance(s, b, c))
                return broken_triangle(error, a, b, c);
    }
    return TEM_OK;
}

tem_status space_check_matrix(const space *s, uint64_t *checked, bool *exhaustive,
                              tem_error *error) {
    *checked = 0;
    *exhaustive = s->count <= EXHAUSTIVE_WORDS;
    if (*exhaustive)
        return check_all_triangles(s, checked, error);
    uint64_t state = 1;
    while (*checked < SAMPLED_TRIANGLES) {
        const uint32_t a = next_word(&state, s->count), b = next_word(&state, s->count),
                       c = next_word(&state, s->count);
        if (!triangle_holds(s, a, b, c))
            return broken_triangle(error, a, b, c);
        *checked += a != b && b != c && a != c;
    }
    return check_equal_words(s, error);
}

static tem_dist largest_of_matrix(const space *s) {
    uint32_t largest = 0;
    for (uint64_t i = 0; i < space_pair_count(s->count); i++)
        largest = s->matrix[i] > largest ? s->matrix[i] : largest;
    return largest;
}

/* The distance of the word farthest from a center; or a distance of at least `enough`, if there is
 * one. */
static tem_dist farthest_from(const space *s, uint32_t centre, tem_dist enough) {
    enum { CHUNK = 256 };
    tem_dist farthest = 0, distances[CHUNK];
    for (uint32_t first = 0; first < s->count && farthest < enough; first += CHUNK) {
        const uint32_t count = s->count - first < CHUNK ? s->count - first : CHUNK;
        space_distances(s, centre, first, count, distances);
        for (uint32_t i = 0; i < count; i++)
            farthest = distances[i] > farthest ? distances[i] : farthest;
    }
    return farthest;
}

/* With vectors the reach is, by the triangle inequality, twice the distance of some central word
 * from the word farthest from it. A user's matrix may violate the triangle inequality, so there the
 * reach is the largest entry. */
tem_dist space_reach(const space *s) {
    enum { CENTRES = 64 }; /* words that are tried as the center of the vocabulary */
    if (!s->metric->has_vectors)
        return largest_of_matrix(s);
    tem_dist least = UINT32_MAX;
    const uint32_t stride = s->count / CENTRES + 1;
    for (uint32_t centre = 0; centre < s->count; centre += stride) {
        const tem_dist farthest = farthest_from(s, centre, least);
        least = farthest < least ? farthest : least;
    }
    return least < UINT32_MAX / 2 ? 2 * least : UINT32_MAX;
}
