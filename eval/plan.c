/* plan.c - the rows of an evaluation. */
#include "plan.h"

#include "failure.h"
#include "number_text.h"
#include "tem_account.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a mechanism of the library by its name. */
static tem_status make_plain(const plan_mechanism *row, const tem_model *model, double epsilon,
                             const plan_certificates *certificates, tem_mechanism **mechanism,
                             tem_error *error) {
    const tem_mechanism_options options = {
        .mechanism = row->properties->name,
        .epsilon = epsilon,
        .numbers = row->numbers,
        .listed = row->properties->list != NULL ? certificates->listed : NULL,
        .allow_no_guarantee = 1};
    if (row->properties->list != NULL && certificates->listed == NULL)
        return eval_fail(error, TEM_ERR_UNSUPPORTED, "it needs --list FILE: %s",
                         row->properties->list);
    return tem_mechanism_create(model, &options, mechanism, error);
}

/* Reports a missing certificate. A missing certificate file means no certificate; any other error
 * is passed on unchanged. */
static tem_status no_certificate(const tem_error *why, const tem_calibration *wanted,
                                 const plan_certificates *certificates, tem_error *error) {
    char text[NUMBER_TEXT_BYTES];
    const bool missing =
        why->status == TEM_ERR_CERTIFICATE ||
        (why->status == TEM_ERR_FILE && (why->os_error == ENOENT || why->os_error == ENOTDIR));
    if (!missing && error != NULL)
        *error = *why;
    if (!missing)
        return why->status;
    return eval_fail(
        error, TEM_ERR_CERTIFICATE,
        "it needs a certificate; make one with: tem calibrate --epsilon %s --weights %s "
        "-m %.*s",
        number_text(wanted->epsilon, text), tem_weights_name(wanted->weights),
        (int)(strlen(certificates->path) - strlen(".cert")), certificates->path);
}

/* As tem_certificate_trust; the error also says what to do. */
static tem_status check_trust(const tem_certificate *certificate, const tem_model *model,
                              const plan_certificates *certificates, tem_error *error) {
    tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    const tem_status status = tem_certificate_trust(&info, model, certificates->path, error);
    if (status != TEM_ERR_CERTIFICATE)
        return status;
    return eval_fail(error, TEM_ERR_CERTIFICATE,
                     "you have neither made nor verified its certificate; 'tem verify -m %.*s' "
                     "checks it",
                     (int)(strlen(certificates->path) - strlen(".cert")), certificates->path);
}

/* Makes TEM with the certificate of the weights that the row names. */
static tem_status make_certified(const plan_mechanism *row, const tem_model *model, double epsilon,
                                 const plan_certificates *certificates, tem_mechanism **mechanism,
                                 tem_error *error) {
    tem_calibration wanted = {.epsilon = epsilon};
    tem_certificate *certificate = NULL;
    tem_error why;
    tem_status status = tem_weights_parse(row->name, &wanted.weights, error);
    if (status != TEM_OK)
        return status;
    if (tem_certificate_find(certificates->path, model, &wanted, &certificate, &why) != TEM_OK)
        return no_certificate(&why, &wanted, certificates, error);
    const tem_mechanism_options options = {.epsilon = epsilon, .certificate = certificate};
    status = check_trust(certificate, model, certificates, error);
    if (status == TEM_OK)
        status = tem_mechanism_create(model, &options, mechanism, error);
    tem_certificate_free(certificate);
    return status;
}

/* The rows of the paper's comparison are the default, in the order of tables and figures. Every
 * other mechanism of the library follows by its name (list_mechanisms). */
static const plan_mechanism defaults[] = {
    {.name = "original", .title = "original text"},
    {.name = "madlib", .title = "Madlib", .make = make_plain, .more = {16, 24}},
    {.name = "tem", .title = "TEM (paper)", .make = make_plain},
    {.name = "equal", .title = "TEM, equal weights", .make = make_certified, .has_law = true},
    {.name = "balanced", .title = "TEM, balanced weights", .make = make_certified, .has_law = true},
    {.name = "tuned", .title = "TEM, tuned weights", .make = make_certified, .has_law = true},
};

enum { DEFAULTS = sizeof defaults / sizeof *defaults };

static plan_mechanism known[PLAN_MECHANISMS_MAX];
static size_t known_count;

static plan_mechanism *find_known(const char *name) {
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

/* All mechanisms: the defaults, the others of the library, and then those with numbers that were
 * asked for. The first two are always the same. */
static void list_mechanisms(void) {
    if (known_count > 0)
        return;
    memcpy(known, defaults, sizeof defaults);
    known_count = DEFAULTS;
    for (unsigned i = 0; tem_mechanism_at(i) != NULL; i++) {
        const tem_mechanism_properties *p = tem_mechanism_at(i);
        plan_mechanism *row = find_known(p->name);
        if (row == NULL && known_count < PLAN_MECHANISMS_MAX) {
            row = &known[known_count++];
            *row = (plan_mechanism){.name = p->name, .make = make_plain};
        }
        if (row != NULL && row->make == make_plain) {
            row->has_law = p->is_exponential != 0;
            row->properties = p;
        }
    }
}

static const double default_epsilons[] = {0.5, 1, 1.5, 2, 2.5, 3, 4, 6, 10};

const plan_mechanism *plan_mechanism_at(size_t i) {
    list_mechanisms();
    return i < known_count ? &known[i] : NULL;
}

/* Copies the part of `list` up to the next `end` (or the end of the list) and moves past it.
 * Returns false at the end of the list or if the part does not fit. */
static bool next_part(const char **list, char end, char *part, size_t bytes) {
    if (*list == NULL)
        return false;
    const char *stop = strchrnul(*list, end);
    const size_t length = (size_t)(stop - *list);
    if (length >= bytes)
        return false;
    memcpy(part, *list, length);
    part[length] = '\0';
    *list = *stop == '\0' ? NULL : stop + 1;
    return true;
}

static bool parse_positive(const char *text, double *number) {
    char *end = NULL;
    if (*text == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number) && *number > 0;
}

/* Reads NUMBER=X into the next number of a row. `text` is cut at the equals sign and kept. */
static bool add_number(plan_mechanism *row, char *text) {
    char *equals = strchr(text, '='), *end = NULL;
    size_t count = 0;
    while (row->numbers[count].name != NULL)
        count++;
    if (equals == NULL || equals == text || count == PLAN_NUMBERS_MAX || equals[1] == '\0' ||
        equals[1 + strspn(equals + 1, "0123456789.eE+-")] != '\0')
        return false;
    *equals = '\0';
    row->numbers[count] = (tem_parameter_value){text, strtod(equals + 1, &end)};
    return *end == '\0';
}

/* Adds NAME:NUMBER=X[:NUMBER=X...] to the list. Its texts live as long as the program. */
static const plan_mechanism *add_with_numbers(const char *name) {
    static char texts[PLAN_MECHANISMS_MAX][2][EVAL_NAME_BYTES];
    if (known_count == PLAN_MECHANISMS_MAX || strlen(name) >= EVAL_NAME_BYTES)
        return NULL;
    char *label = strcpy(texts[known_count][0], name), *rest = strcpy(texts[known_count][1], name);
    const char *plain = strsep(&rest, ":");
    const plan_mechanism *like = find_known(plain);
    if (like == NULL || like->properties == NULL)
        return NULL;
    plan_mechanism row = *like;
    row.name = label;
    while (rest != NULL)
        if (!add_number(&row, strsep(&rest, ":")))
            return NULL;
    known[known_count] = row;
    return &known[known_count++];
}

const plan_mechanism *plan_find(const char *name) {
    list_mechanisms();
    const plan_mechanism *found = find_known(name);
    return found != NULL || strchr(name, ':') == NULL ? found : add_with_numbers(name);
}

static bool is_among(double number, const double *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

static tem_status parse_epsilons(const char *list, double *epsilons, uint32_t *count,
                                 tem_error *error) {
    char part[64];
    *count = 0;
    while (list != NULL) {
        if (*count == EVAL_EPSILONS_MAX)
            return eval_fail(error, TEM_ERR_ARGUMENT, "more than %d epsilons", EVAL_EPSILONS_MAX);
        if (!next_part(&list, ',', part, sizeof part) || !parse_positive(part, &epsilons[*count]))
            return eval_fail(error, TEM_ERR_ARGUMENT,
                             "epsilons must be numbers above 0 separated by commas, such as 1,2,3");
        if (is_among(epsilons[*count], epsilons, *count))
            return eval_fail(error, TEM_ERR_ARGUMENT, "epsilon %s is listed twice", part);
        ++*count;
    }
    return TEM_OK;
}

/* What stands before the i-th name of a list. */
static const char *list_joint(size_t i, bool last) {
    return i == 0 ? "" : last ? " and " : ", ";
}

static tem_status unknown_mechanism(tem_error *error) {
    return eval_fail(error, TEM_ERR_ARGUMENT,
                     "mechanisms are original, equal, balanced, tuned and those that 'tem "
                     "mechanisms' lists, with numbers as in madlib:NUMBER=X; separate them with "
                     "commas");
}

static tem_status parse_mechanisms(const char *list, bool wanted[PLAN_MECHANISMS_MAX],
                                   tem_error *error) {
    char part[EVAL_NAME_BYTES];
    for (size_t i = 0; i < PLAN_MECHANISMS_MAX; i++)
        wanted[i] = list == NULL && i < DEFAULTS;
    while (list != NULL) {
        const plan_mechanism *found =
            next_part(&list, ',', part, sizeof part) ? plan_find(part) : NULL;
        if (found == NULL)
            return unknown_mechanism(error);
        wanted[found - plan_mechanism_at(0)] = true;
    }
    return TEM_OK;
}

static tem_status unknown_learner(tem_error *error) {
    char names[192] = "";
    size_t used = 0;
    for (size_t i = 0; learner_at(i) != NULL && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 list_joint(i, learner_at(i + 1) == NULL), learner_at(i)->name);
    return eval_fail(error, TEM_ERR_ARGUMENT, "learners are %s; separate them with commas", names);
}

static tem_status parse_learners(const char *list, bool wanted[LEARNERS_MAX], tem_error *error) {
    char part[EVAL_NAME_BYTES];
    for (size_t i = 0; i < LEARNERS_MAX; i++)
        wanted[i] = list == NULL && i == 0;
    while (list != NULL) {
        const size_t place =
            next_part(&list, ',', part, sizeof part) ? learner_place(part) : LEARNERS_MAX;
        if (place == LEARNERS_MAX)
            return unknown_learner(error);
        wanted[place] = true;
    }
    return TEM_OK;
}

bool plan_is_informed(const eval_options *options) {
    bool wanted[LEARNERS_MAX], informed = false;
    if (parse_learners(options->learners, wanted, NULL) != TEM_OK)
        return false;
    for (size_t i = 1; i < LEARNERS_MAX; i++)
        informed = informed || wanted[i];
    return informed;
}

/* The rows that --only names. */
typedef struct filter {
    const plan_mechanism *mechanism; /* NULL: all */
    double epsilon;                  /* 0: all */
    uint32_t trial;                  /* 0: all */
} filter;

/* Copies the name of a mechanism with its numbers, up to a colon before something that is no
 * number of the mechanism's, and moves past it. */
static bool take_name(const char **text, char *name, size_t bytes) {
    size_t used = strcspn(*text, ":");
    for (size_t next; (*text)[used] == ':'; used += 1 + next) {
        next = strcspn(*text + used + 1, ":");
        if (memchr(*text + used + 1, '=', next) == NULL)
            break;
    }
    if (used >= bytes)
        return false;
    memcpy(name, *text, used);
    name[used] = '\0';
    *text = (*text)[used] == '\0' ? NULL : *text + used + 1;
    return true;
}

static tem_status parse_only(const char *text, filter *f, tem_error *error) {
    char part[64];
    double number = 0;
    *f = (filter){0};
    if (text == NULL)
        return TEM_OK;
    if (!take_name(&text, part, sizeof part) || (f->mechanism = plan_find(part)) == NULL)
        return unknown_mechanism(error);
    bool fine = true;
    if (text != NULL && *text == ':')
        text++; /* "original::2": the original has no epsilon */
    else if (text != NULL)
        fine = next_part(&text, ':', part, sizeof part) && parse_positive(part, &f->epsilon);
    if (fine && text != NULL) {
        fine = next_part(&text, ':', part, sizeof part) && parse_positive(part, &number) &&
               number == floor(number) && number <= EVAL_TRIALS_MAX && text == NULL;
        f->trial = fine ? (uint32_t)number : 0;
    }
    if (!fine)
        return eval_fail(error, TEM_ERR_ARGUMENT,
                         "rows are named MECHANISM, MECHANISM:EPSILON or MECHANISM:EPSILON:TRIAL, "
                         "such as tem:2:1");
    return TEM_OK;
}

/* The lists of mechanisms and learners that the options ask for. */
typedef struct wishes {
    bool mechanisms[PLAN_MECHANISMS_MAX], learners[LEARNERS_MAX];
} wishes;

/* Adds a row per learner, if the filter lets them pass. */
static void add(plan *p, const filter *f, const wishes *w, const plan_mechanism *mechanism,
                double epsilon, uint32_t trial) {
    if ((f->mechanism != NULL && f->mechanism != mechanism) ||
        (f->epsilon != 0 && f->epsilon != epsilon) || (f->trial != 0 && f->trial != trial))
        return;
    for (size_t i = 0; learner_at(i) != NULL; i++)
        if (w->learners[i] && !(mechanism->make == NULL && learner_at(i)->needs_law))
            p->items[p->count++] = (plan_item){mechanism, epsilon, learner_at(i), trial};
}

/* Lists the epsilons of a mechanism; returns their number. */
static uint32_t epsilons_of(const plan_mechanism *mechanism, const filter *f, const double *given,
                            uint32_t given_count, double *out) {
    uint32_t count = 0;
    if (mechanism->make == NULL) {
        out[count++] = 0;
    } else if (f->epsilon > 0) {
        out[count++] = f->epsilon;
    } else if (given_count > 0) {
        for (; count < given_count; count++)
            out[count] = given[count];
    } else {
        for (; count < sizeof default_epsilons / sizeof *default_epsilons; count++)
            out[count] = default_epsilons[count];
        for (int i = 0; i < 2 && mechanism->more[i] > 0; i++)
            out[count++] = mechanism->more[i];
    }
    return count;
}

static uint32_t last_trial(const eval_options *options, const filter *f) {
    return f->trial > options->trials ? f->trial : options->trials;
}

static tem_status fill(plan *p, const eval_options *options, const filter *f, const wishes *w,
                       const double *given, uint32_t given_count) {
    double epsilons[EVAL_EPSILONS_MAX];
    const uint32_t last = last_trial(options, f);
    for (uint32_t trial = 1; trial <= last; trial++)
        for (size_t i = 0; plan_mechanism_at(i) != NULL; i++) {
            const plan_mechanism *mechanism = plan_mechanism_at(i);
            const uint32_t count = w->mechanisms[i] || f->mechanism == mechanism
                                       ? epsilons_of(mechanism, f, given, given_count, epsilons)
                                       : 0;
            for (uint32_t k = 0; k < count; k++)
                add(p, f, w, mechanism, epsilons[k], trial);
        }
    return TEM_OK;
}

void plan_free(plan *p) {
    free(p->items);
    *p = (plan){0};
}

tem_status plan_create(const eval_options *options, plan *p, tem_error *error) {
    wishes w;
    double given[EVAL_EPSILONS_MAX];
    uint32_t given_count = 0;
    filter f;
    tem_status status = parse_mechanisms(options->mechanisms, w.mechanisms, error);
    if (status == TEM_OK)
        status = parse_learners(options->learners, w.learners, error);
    if (status == TEM_OK)
        status = parse_epsilons(options->epsilons, given, &given_count, error);
    if (status == TEM_OK)
        status = parse_only(options->only, &f, error);
    if (status != TEM_OK)
        return status;
    const size_t most =
        (size_t)last_trial(options, &f) * PLAN_MECHANISMS_MAX * EVAL_EPSILONS_MAX * LEARNERS_MAX;
    plan made = {malloc(most * sizeof *made.items), 0};
    if (made.items == NULL)
        return eval_out_of_memory(error);
    fill(&made, options, &f, &w, given, given_count);
    if (made.count == 0) {
        plan_free(&made);
        return eval_fail(error, TEM_ERR_ARGUMENT,
                         "no row has that name; 'original' has no epsilon: use original::1; and no "
                         "row of a learner that needs a law");
    }
    *p = made;
    return TEM_OK;
}
