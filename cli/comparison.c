/* comparison.c - finds the epsilon at which an attacker is right as often as wanted, and measures
 * the mechanism there.
 *
 * Where the law can be computed, the best guess by the law meets the target: no attacker who sees
 * one word does better, and a learned attacker may do worse. Else the learned attacker meets it.
 *
 * The search takes few pairs until it is near, and then the law or all pairs. All epsilons and
 * mechanisms share the words and the random numbers behind the draws, so the success of the
 * attacker is nearly a smooth function of ln epsilon, and its logit nearly a straight line. */
#include "comparison.h"

#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PILOT_PART = 5,     /* the search begins with this part of the pairs */
    WALK_MAX = 20,      /* steps from the first epsilon, by growing factors */
    STILL_MAX = 4,      /* steps after which nothing has changed */
    EDGE_STEPS = 6,     /* towards an epsilon that the mechanism refuses */
    PILOT_STEPS = 8,    /* between an epsilon that is too small and one that is too large */
    FINAL_STEPS = 5,    /* with all pairs */
    ROWS_SECONDS = 120, /* a law that takes more CPU time is left out, unless it is asked for */
    LAW_STEPS = 8       /* by the law, until the target lies between two epsilons */
};

/* ------------------------------------------------------------------ mechanisms -- */

static bool takes(const tem_mechanism_properties *properties, const char *name) {
    for (const tem_parameter *p = properties->parameters; p->name != NULL; p++)
        if (strcmp(p->name, name) == 0)
            return true;
    return false;
}

tem_status comparison_make(const side_by_side *c, const tem_mechanism_properties *properties,
                           double epsilon, tem_mechanism **mechanism, tem_error *error) {
    tem_parameter_value numbers[OPTION_LIST_MAX + 1];
    size_t count = 0;
    for (const tem_parameter_value *n = c->own->numbers; n->name != NULL; n++)
        if (takes(properties, n->name))
            numbers[count++] = *n;
    numbers[count].name = NULL;
    const tem_mechanism_options options = {.mechanism = properties->name,
                                           .epsilon = epsilon,
                                           .numbers = numbers,
                                           .listed =
                                               properties->list != NULL ? c->own->listed : NULL,
                                           .allow_no_guarantee = 1};
    return tem_mechanism_create(c->model, &options, mechanism, error);
}

/* ---------------------------------------------------------------------- trying -- */

/* A search in progress. */
typedef struct target_search {
    const side_by_side *c;
    const tem_mechanism_properties *properties;
    double wanted;
    bool pilot;        /* few pairs */
    bool by_law;       /* the guess by the law, instead of pairs */
    double slope;      /* of the logit against ln epsilon, as far as it is known; else 0 */
    tem_error refusal; /* the last one */
} target_search;

/* What came out at one epsilon. */
typedef struct epsilon_trial {
    double epsilon, value;
    bool refused;
    tem_learned_score score; /* by pairs */
    double smoothing;
    tem_effects effects; /* by the law */
} epsilon_trial;

static tem_status attack(const side_by_side *c, const tem_mechanism *mechanism,
                         const tem_prior *prior, uint64_t part, double *smoothing,
                         tem_learned_score *score, tem_error *error) {
    tem_learned *learned = NULL;
    const tem_learned_options options = {.pairs = c->pairs / part + 1, .seed = c->seed};
    tem_status status =
        tem_learned_create(c->accountant, mechanism, prior, &options, c->run, &learned, error);
    if (status == TEM_OK)
        status = tem_learned_test(learned, c->tests / part + 1, c->seed, c->run, score, error);
    *smoothing = tem_learned_smoothing(learned);
    tem_learned_free(learned);
    return status;
}

/* Measures a mechanism at one epsilon. */
static tem_status measure_trial(const target_search *s, const tem_mechanism *mechanism,
                                epsilon_trial *out, tem_error *error) {
    const side_by_side *c = s->c;
    if (s->by_law) {
        const tem_status status = tem_accountant_effects(c->accountant, mechanism, c->prior, c->run,
                                                         &out->effects, error);
        out->value = out->effects.guess;
        return status;
    }
    const tem_status status = attack(c, mechanism, c->prior, s->pilot ? PILOT_PART : 1,
                                     &out->smoothing, &out->score, error);
    out->value = c->target == COMPARISON_SELF ? out->score.self : out->score.guess;
    return status;
}

/* Tries one epsilon. That the mechanism refuses the epsilon is no failure. */
static tem_status try_epsilon(target_search *s, double epsilon, epsilon_trial *out,
                              tem_error *error) {
    tem_mechanism *mechanism = NULL;
    *out = (epsilon_trial){.epsilon = epsilon};
    tem_status status = comparison_make(s->c, s->properties, epsilon, &mechanism, &s->refusal);
    if (status == TEM_ERR_RANGE) {
        out->refused = true;
        return TEM_OK;
    }
    if (status != TEM_OK) {
        *error = s->refusal;
        return status;
    }
    status = measure_trial(s, mechanism, out, error);
    tem_mechanism_free(mechanism);
    return status;
}

/* ------------------------------------------------------------------- searching -- */

/* The epsilon to begin with: e^8 times less likely at the distance of a nearest word. */
static double first_epsilon(const tem_model *model) {
    tem_dist median = 0;
    const bool known = tem_model_nearest_median(model, &median, NULL) == TEM_OK && median > 0;
    return known ? 8 / ((double)median / TEM_DIST_ONE) : 1;
}

/* Finds an epsilon that the mechanism takes, as near to `from` as factors of 2 allow. */
static tem_status find_taken(target_search *s, double from, epsilon_trial *out, tem_error *error) {
    tem_status status = try_epsilon(s, from, out, error);
    for (int i = 1; i <= WALK_MAX && status == TEM_OK && out->refused; i++) {
        status = try_epsilon(s, ldexp(from, i), out, error);
        if (status == TEM_OK && out->refused)
            status = try_epsilon(s, ldexp(from, -i), out, error);
    }
    return status;
}

static bool is_below(const target_search *s, const epsilon_trial *t) {
    return t->value < s->wanted;
}

/* Halves the way, on a logarithmic scale, between an epsilon that is taken and one that is refused.
 * *taken ends near the edge, or beyond the target. */
static tem_status approach_edge(target_search *s, epsilon_trial *before, epsilon_trial *taken,
                                double refused, tem_error *error) {
    const bool below = is_below(s, taken);
    tem_status status = TEM_OK;
    for (int i = 0; i < EDGE_STEPS && status == TEM_OK && is_below(s, taken) == below; i++) {
        epsilon_trial next;
        status = try_epsilon(s, sqrt(taken->epsilon * refused), &next, error);
        if (status == TEM_OK && next.refused)
            refused = next.epsilon;
        else if (status == TEM_OK) {
            *before = *taken;
            *taken = next;
        }
    }
    return status;
}

static double logit(double p) {
    const double q = fmin(fmax(p, 1e-4), 1 - 1e-4);
    return log(q / (1 - q));
}

/* How far from the target a value may be: half of the standard error of the pairs. A law has none:
 * 0.5 % of the target or of its distance from 1. */
static double tolerance(const target_search *s) {
    if (s->by_law)
        return 0.005 * fmin(s->wanted, 1 - s->wanted);
    const double tests = (double)s->c->tests / (s->pilot ? PILOT_PART : 1);
    return 0.5 * sqrt(s->wanted * (1 - s->wanted) / tests);
}

/* Goes from *a in the direction of the target, in steps that grow, until *b is on the other side of
 * it. Stops earlier where the mechanism refuses to go farther, or where nothing changes. */
static tem_status walk(target_search *s, epsilon_trial *a, epsilon_trial *b, tem_error *error) {
    const bool below = is_below(s, a);
    *b = *a;
    for (int i = 0, still = 0; i < WALK_MAX && still < STILL_MAX && is_below(s, b) == below; i++) {
        const double factor = i < 3 ? 1.5 : i < 6 ? 3 : 10;
        epsilon_trial next;
        const tem_status status =
            try_epsilon(s, below ? b->epsilon * factor : b->epsilon / factor, &next, error);
        if (status != TEM_OK)
            return status;
        if (next.refused)
            return approach_edge(s, a, b, next.epsilon, error);
        still = fabs(next.value - b->value) < tolerance(s) / 4 ? still + 1 : 0;
        *a = *b;
        *b = next;
    }
    return TEM_OK;
}

static bool is_near(const target_search *s, const epsilon_trial *t) {
    return fabs(t->value - s->wanted) <= tolerance(s);
}

/* The slope of the logit against ln epsilon; 0: not known. */
static double slope_of(const epsilon_trial *a, const epsilon_trial *b) {
    const double run = log(b->epsilon / a->epsilon), rise = logit(b->value) - logit(a->value);
    return fabs(run) > 1e-6 && rise / run > 0 ? rise / run : 0;
}

/* Keeps the slope of the line through both ends. Between two epsilons that are nearly equal, the
 * noise of the pairs would be the slope. */
static void note_slope(target_search *s, const epsilon_trial *a, const epsilon_trial *b) {
    const double line = slope_of(a, b);
    const bool apart = fabs(log(b->epsilon / a->epsilon)) > 0.1;
    s->slope = line > 0 && (apart || !(s->slope > 0)) ? line : s->slope;
}

/* Narrows the bracket: by the line through both ends, and by halves if that is slow. *a becomes the
 * nearer end. */
static tem_status narrow(target_search *s, epsilon_trial *a, epsilon_trial *b, tem_error *error) {
    note_slope(s, a, b);
    for (int i = 0; i < PILOT_STEPS && !is_near(s, a) && !is_near(s, b); i++) {
        const double line = slope_of(a, b);
        double at = log(a->epsilon) + (logit(s->wanted) - logit(a->value)) / fmax(line, 1e-9);
        const double low = fmin(log(a->epsilon), log(b->epsilon)),
                     high = fmax(log(a->epsilon), log(b->epsilon)), margin = 0.05 * (high - low);
        at = i % 3 == 2 || !(line > 0) ? (low + high) / 2
                                       : fmin(fmax(at, low + margin), high - margin);
        epsilon_trial next;
        const tem_status status = try_epsilon(s, exp(at), &next, error);
        if (status != TEM_OK)
            return status;
        if (next.refused)
            break;
        *(is_below(s, &next) == is_below(s, a) ? a : b) = next;
        note_slope(s, a, b);
    }
    if (fabs(b->value - s->wanted) < fabs(a->value - s->wanted)) {
        const epsilon_trial nearer = *b;
        *b = *a;
        *a = nearer;
    }
    return TEM_OK;
}

/* Takes all pairs, and goes along the line until the target is met. */
static tem_status finish(target_search *s, epsilon_trial *best, tem_error *error) {
    double slope = s->slope;
    epsilon_trial now;
    s->pilot = false;
    tem_status status = try_epsilon(s, best->epsilon, &now, error);
    if (status == TEM_OK)
        *best = now;
    for (int i = 0; i < FINAL_STEPS && status == TEM_OK && !is_near(s, best) && slope > 0; i++) {
        const double way = (logit(s->wanted) - logit(now.value)) / slope;
        status = try_epsilon(s, now.epsilon * exp(fmax(-0.3, fmin(0.3, way))), &now, error);
        if (status != TEM_OK || now.refused)
            break;
        const double line = fabs(way) > 0.005 ? slope_of(best, &now) : 0;
        slope = line > slope / 4 && line < slope * 4 ? line : slope;
        if (fabs(now.value - s->wanted) < fabs(best->value - s->wanted))
            *best = now;
    }
    return status;
}

static void say_not_reached(const target_search *s, const epsilon_trial *t, comparison_row *row) {
    const char *what = s->c->target == COMPARISON_SELF ? "share of words that stay" : "guess";
    row->is_reached = false;
    snprintf(row->why, sizeof row->why,
             "the target is not reached: at epsilon %.4g, the nearest that was tried, the %s%s is "
             "%.1f %%",
             t->epsilon, what, s->by_law ? " by the law" : "", 100 * t->value);
}

/* Goes by the law from *found, where the learned attacker is near the target, until the target lies
 * between *found and *other; or as far as the mechanism takes epsilons, the steps reach and the
 * guess changes. */
static tem_status walk_by_law(target_search *s, epsilon_trial *found, epsilon_trial *other,
                              tem_error *error) {
    tem_status status = try_epsilon(s, found->epsilon, found, error);
    *other = *found;
    for (int i = 0; i < LAW_STEPS && status == TEM_OK && !is_near(s, other) &&
                    is_below(s, other) == is_below(s, found);
         i++) {
        const double rest = logit(s->wanted) - logit(other->value);
        /* A little farther than the line says, so that the target comes to lie between. */
        const double way = fmin(fmax(1.2 * fabs(rest) / fmax(s->slope, 1e-9), 0.02), 1);
        epsilon_trial next;
        status = try_epsilon(s, other->epsilon * exp(rest > 0 ? way : -way), &next, error);
        if (status != TEM_OK)
            return status;
        if (next.refused)
            return approach_edge(s, found, other, next.epsilon, error);
        *found = *other;
        *other = next;
        s->slope = slope_of(found, other); /* exact: a law has no noise */
        if (way == 1 && fabs(other->value - found->value) < tolerance(s) / 4)
            break;
    }
    return status;
}

/* Moves *found from where the learned attacker meets the target to where the law does. */
static tem_status follow_law(target_search *s, epsilon_trial *found, comparison_row *row,
                             tem_error *error) {
    epsilon_trial other;
    s->by_law = true;
    tem_status status = walk_by_law(s, found, &other, error);
    if (status == TEM_OK && is_below(s, found) != is_below(s, &other))
        status = narrow(s, found, &other, error);
    else if (status == TEM_OK)
        *found = other;
    if (status == TEM_OK && !is_near(s, found))
        say_not_reached(s, found, row);
    row->effects = found->effects;
    s->by_law = s->pilot = false;
    epsilon_trial learned;
    if (status == TEM_OK)
        status = try_epsilon(s, found->epsilon, &learned, error);
    if (status == TEM_OK) {
        found->score = learned.score;
        found->smoothing = learned.smoothing;
    }
    return status;
}

/* Seconds of CPU time of this thread: a busy machine must not decide what the table shows. */
static double cpu_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Whether a law takes an acceptable time to compute. Where Z is the same for all words it takes
 * less than a second; else tem computes a row for each word, as tem_mechanism_self does. */
static bool takes_law(const side_by_side *c, const tem_mechanism *mechanism, comparison_row *row) {
    tem_model_info info;
    tem_form_point alike;
    double self = 0;
    if (tem_form_measure(mechanism, NULL, NULL, &alike, NULL) == TEM_OK)
        return true;
    const double start = cpu_clock();
    for (uint32_t word = 0; word < 3; word++)
        if (tem_mechanism_self(mechanism, word, &self, NULL) != TEM_OK)
            return false;
    tem_model_get_info(c->model, &info);
    const double seconds = (cpu_clock() - start) / 3 * info.words;
    if (seconds <= ROWS_SECONDS || c->force_exact)
        return true;
    if (row->why[0] == '\0')
        snprintf(
            row->why, sizeof row->why,
            "its law takes about %.0f min of CPU time per epsilon and is left out, so the guess "
            "may be too low; --exact computes it",
            ceil(seconds / 60));
    return false;
}

/* Sets row->is_exact: whether tem computes the law at an epsilon that the mechanism takes. */
static tem_status choose_law(const side_by_side *c, double epsilon, comparison_row *row,
                             tem_error *error) {
    const tem_mechanism_properties *p = row->properties;
    tem_mechanism *mechanism = NULL;
    row->is_exact = p->law_digits > 0;
    if (p->law_digits == 0 || p->is_exponential)
        return TEM_OK;
    const tem_status status = comparison_make(c, p, epsilon, &mechanism, error);
    row->is_exact = status == TEM_OK && takes_law(c, mechanism, row);
    tem_mechanism_free(mechanism);
    return status;
}

static tem_status search(target_search *s, epsilon_trial *found, comparison_row *row,
                         tem_error *error) {
    epsilon_trial other;
    s->pilot = true;
    tem_status status = find_taken(s, first_epsilon(s->c->model), found, error);
    if (status == TEM_OK && found->refused) {
        row->is_measured = false;
        snprintf(row->why, sizeof row->why, "%s", s->refusal.message);
        return TEM_OK;
    }
    if (status == TEM_OK)
        status = walk(s, found, &other, error);
    if (status != TEM_OK)
        return status;
    const bool is_bracket = is_below(s, found) != is_below(s, &other);
    if (is_bracket)
        status = narrow(s, found, &other, error);
    else
        *found = other;
    if (status == TEM_OK)
        status = choose_law(s->c, found->epsilon, row, error);
    if (status == TEM_OK && row->is_exact && s->c->target == COMPARISON_GUESS)
        return follow_law(s, found, row, error);
    if (status == TEM_OK)
        status = finish(s, found, error);
    /* Few pairs may see a target where all pairs see none. */
    if (status == TEM_OK && fabs(found->value - s->wanted) > (is_bracket ? 4 : 1) * tolerance(s))
        say_not_reached(s, found, row);
    return status;
}

/* ------------------------------------------------------------------- measuring -- */

/* The effects as learned from pairs, where there is no law. */
static tem_status estimate_effects(const side_by_side *c, const tem_mechanism *mechanism,
                                   comparison_row *row, tem_error *error) {
    tem_learned *learned = NULL;
    const tem_learned_options options = {.pairs = c->pairs, .seed = c->seed};
    double ignored = 0;
    tem_status status =
        tem_learned_create(c->accountant, mechanism, c->prior, &options, c->run, &learned, error);
    if (status == TEM_OK)
        status = tem_learned_effects(learned, c->run, &row->effects, error);
    tem_learned_free(learned);
    if (status == TEM_OK)
        status = attack(c, mechanism, c->even, 1, &ignored, &row->vocabulary, error);
    return status;
}

/* Counts draws of one thread for a third of a second. */
static tem_status measure_speed(const side_by_side *c, const tem_mechanism *mechanism,
                                comparison_row *row, tem_error *error) {
    enum { AT_ONCE = 64 };
    uint32_t words[AT_ONCE], outputs[AT_ONCE];
    tem_rng *rng = NULL;
    tem_model_info info;
    double seconds = 0, drawn = 0;
    tem_model_get_info(c->model, &info);
    tem_status status = tem_rng_create_insecure(c->seed, 0, &rng, error);
    const double start = talk_clock();
    for (uint64_t next = 0; status == TEM_OK && seconds < 1.0 / 3; seconds = talk_clock() - start) {
        /* The frequent words, as a text has them, in an order that jumps. */
        for (size_t i = 0; i < AT_ONCE; i++, next += 7919)
            words[i] = (uint32_t)(next % (info.words < 4096 ? info.words : 4096));
        status = tem_mechanism_draw_many(mechanism, rng, words, outputs, AT_ONCE, error);
        drawn += AT_ONCE;
    }
    tem_rng_free(rng);
    row->words_per_second = drawn / seconds;
    return status;
}

/* Draws a line of text once. */
static tem_status draw_line(const side_by_side *c, const tem_mechanism *mechanism, tem_rng *rng,
                            comparison_row *row, tem_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    const tem_status status = tem_privatize_text(mechanism, NULL, rng, c->line, strlen(c->line),
                                                 c->run, &text, &bytes, NULL, error);
    row->sample = status == TEM_OK ? strdup(text) : NULL;
    tem_text_free(text);
    return status;
}

/* Draws a word several times. */
static tem_status draw_word(const side_by_side *c, const tem_mechanism *mechanism, tem_rng *rng,
                            comparison_row *row, tem_error *error) {
    const uint32_t word = tem_model_find(c->model, c->word, strlen(c->word));
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    tem_status status = TEM_OK;
    for (int i = 0; i < COMPARISON_DRAWS && status == TEM_OK && out != NULL; i++) {
        uint32_t drawn = 0;
        size_t length = 0;
        status = tem_mechanism_draw(mechanism, rng, word, &drawn, error);
        const char *name = status == TEM_OK ? tem_model_word(c->model, drawn, &length) : "";
        fprintf(out, "%s%.*s", i == 0 ? "" : " ", (int)length, name);
    }
    if (out != NULL)
        fclose(out);
    row->sample = text;
    return status;
}

static tem_status draw_sample(const side_by_side *c, const tem_mechanism *mechanism,
                              comparison_row *row, tem_error *error) {
    tem_rng *rng = NULL;
    if (c->word == NULL && c->line == NULL)
        return TEM_OK;
    /* PRIVACY: the seed is known and some mechanisms protect nothing; command_compare.c warns. */
    tem_status status = tem_rng_create_insecure(c->seed, 1, &rng, error);
    if (status == TEM_OK)
        status = (c->line != NULL ? draw_line : draw_word)(c, mechanism, rng, row, error);
    tem_rng_free(rng);
    return status;
}

static tem_status find_epsilon(target_search *s, epsilon_trial *found, comparison_row *row,
                               tem_error *error) {
    if (s->c->target != COMPARISON_EPSILON)
        return search(s, found, row, error);
    const tem_status status = try_epsilon(s, s->wanted, found, error);
    if (status == TEM_OK && found->refused) {
        row->is_measured = false;
        snprintf(row->why, sizeof row->why, "%s", s->refusal.message);
    }
    return status == TEM_OK && row->is_measured ? choose_law(s->c, s->wanted, row, error) : status;
}

/* The effects: by the law if there is one, unless the search has them already; else as learned. */
static tem_status measure_effects(const side_by_side *c, const tem_mechanism *mechanism,
                                  comparison_row *row, tem_error *error) {
    if (!row->is_exact)
        return estimate_effects(c, mechanism, row, error);
    return c->target == COMPARISON_GUESS
               ? TEM_OK
               : tem_accountant_effects(c->accountant, mechanism, c->prior, c->run, &row->effects,
                                        error);
}

static tem_status measure_at(const side_by_side *c, const epsilon_trial *found, comparison_row *row,
                             tem_error *error) {
    tem_mechanism *mechanism = NULL;
    row->epsilon = found->epsilon;
    row->score = found->score;
    row->smoothing = found->smoothing;
    tem_status status = comparison_make(c, row->properties, row->epsilon, &mechanism, error);
    if (status == TEM_OK)
        status = measure_effects(c, mechanism, row, error);
    if (status == TEM_OK)
        status = measure_speed(c, mechanism, row, error);
    if (status == TEM_OK)
        status = draw_sample(c, mechanism, row, error);
    tem_mechanism_free(mechanism);
    return status;
}

tem_status comparison_measure(const side_by_side *c, const tem_mechanism_properties *properties,
                              double wanted, comparison_row *row, tem_error *error) {
    const double start = talk_clock();
    target_search s = {.c = c, .properties = properties, .wanted = wanted};
    epsilon_trial found = {.epsilon = wanted};
    *row = (comparison_row){.properties = properties,
                            .wanted = wanted,
                            .is_measured = true,
                            .is_reached = true,
                            .accuracy = NAN};
    if (properties->list != NULL && c->own->listed == NULL) {
        row->is_measured = false;
        snprintf(row->why, sizeof row->why, "it needs --list FILE: %s", properties->list);
        return TEM_OK;
    }
    tem_status status = find_epsilon(&s, &found, row, error);
    if (status == TEM_ERR_UNSUPPORTED || status == TEM_ERR_ARGUMENT) {
        row->is_measured = false;
        snprintf(row->why, sizeof row->why, "%s", error->message);
        return TEM_OK;
    }
    if (status == TEM_OK && row->is_measured)
        status = measure_at(c, &found, row, error);
    row->seconds = talk_clock() - start;
    return status;
}

void comparison_row_free(comparison_row *row) {
    free(row->sample);
    row->sample = NULL;
}
