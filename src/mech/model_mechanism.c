/* model_mechanism.c - a mechanism over a model, made from a user's options. */
#include "mech/model_mechanism.h"

#include "certificate/certificate.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/near.h"
#include "core/number.h"
#include "core/status.h"
#include "mech/law_row.h"
#include "trust/trusted.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CERTIFICATE_EXPONENT_MAX == (uint64_t)EXPONENT_MAX_UNITS << EXPONENT_BITS &&
                   (int)CERTIFICATE_S_BITS == (int)EXPONENT_S_BITS,
               "a file may hold what can be drawn from, and nothing else");

/* PRIVACY: a mechanism that does not claim a bound has none. */
const char *mechanism_why_unbounded(const tem_mechanism *m) {
    const tem_mechanism_properties *p = &m->ops->properties;
    if (m->context.language != NULL && m->context.language->caveat != NULL)
        return m->context.language->caveat;
    if (p->guarantee == TEM_GUARANTEE_EXACT)
        return NULL;
    return p->caveat != NULL ? p->caveat
                             : "the mechanism states no bound; use tem, em, rank or coin";
}

/* PRIVACY: refuses a mechanism that protects nothing by the model's metric, unless the caller says
 * that this is known. */
static tem_status check_guarantee(const tem_mechanism_options *o, const tem_mechanism_properties *p,
                                  tem_error *error) {
    if (p->guarantee == TEM_GUARANTEE_EXACT || p->guarantee == TEM_GUARANTEE_IDEAL ||
        o->allow_no_guarantee != 0)
        return TEM_OK;
    return core_fail(
        error, TEM_ERR_ARGUMENT,
        "the mechanism %s has no guarantee in the model's metric, and allow_no_guarantee "
        "is not set",
        p->name);
}

static bool is_own_number(const char *name) {
    return strcmp(name, "epsilon") != 0 && strcmp(name, "beta") != 0 && strcmp(name, "gamma") != 0;
}

/* Whether a mechanism takes a number of this name by tem_mechanism_options.numbers. */
static bool takes_number(const tem_mechanism_properties *p, const char *name) {
    for (const tem_parameter *one = p->parameters; one->name != NULL; one++)
        if (is_own_number(name) && strcmp(one->name, name) == 0)
            return true;
    return false;
}

/* Says which numbers there are instead. */
static tem_status refuse_number(const tem_mechanism_properties *p, tem_error *error) {
    char names[96] = "";
    size_t used = 0;
    for (const tem_parameter *one = p->parameters; one->name != NULL && used < sizeof names; one++)
        if (is_own_number(one->name))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "; it takes ", one->name);
    return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism %s takes no number of that name%s",
                     p->name, used > 0 ? names : ", and none of its own");
}

/* Sets numbers[i] to the value of parameter i: as given, or the usual one. epsilon, beta and gamma
 * are not among them: they have fields of their own. */
static tem_status take_numbers(const tem_mechanism_options *o, const tem_mechanism_properties *p,
                               double *numbers, tem_error *error) {
    for (const tem_parameter_value *given = o->numbers; given != NULL && given->name != NULL;
         given++) {
        if (!takes_number(p, given->name))
            return refuse_number(p, error);
        for (const tem_parameter_value *before = o->numbers; before < given; before++)
            if (strcmp(before->name, given->name) == 0)
                return core_fail(error, TEM_ERR_ARGUMENT, "the number %s is given twice",
                                 given->name);
    }
    for (size_t i = 0; p->parameters[i].name != NULL; i++) {
        const tem_parameter *one = &p->parameters[i];
        const tem_parameter_value *given = o->numbers;
        while (given != NULL && given->name != NULL && strcmp(given->name, one->name) != 0)
            given++;
        const bool is_given_here = given != NULL && given->name != NULL;
        numbers[i] = is_given_here ? given->value : one->usual;
        if (is_own_number(one->name) && !(numbers[i] >= one->least && numbers[i] <= one->most))
            return core_fail(error, TEM_ERR_RANGE, "%s must be between %g and %g", one->name,
                             one->least, one->most);
    }
    return TEM_OK;
}

/* What goes together with a language model, and with words that are never released. */
static tem_status check_context_options(const tem_mechanism_options *o, const mechanism_ops *ops,
                                        tem_error *error) {
    const char *name = ops->properties.name;
    if (o->language != NULL && ops->claim_in_context == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the mechanism %s takes no language model; use tem, em, rank or coin",
                         name);
    if (o->language != NULL && (o->weights != NULL || o->certificate != NULL || o->remap != NULL))
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a language model weighs the outputs itself: give no weights, certificate "
                         "or map of the outputs beside it");
    if (o->never != NULL && ops->form == NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the mechanism %s cannot leave out words: build the model without them",
                         name);
    if (o->never != NULL && o->certificate != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "a certificate is for its own weights: leave it out, or the words that "
                         "are never released");
    return TEM_OK;
}

/* PRIVACY: refuses an option that the mechanism does not take. Ignoring it would leave the user
 * believing that the option holds. */
static tem_status check_options(const tem_mechanism_options *o, const mechanism_ops *ops,
                                tem_error *error) {
    const tem_mechanism_properties *p = &ops->properties;
    const char *fault = mechanism_fault(ops);
    if (fault != NULL)
        return core_fail(error, TEM_ERR_UNSUPPORTED, "the mechanism is not used: %s", fault);
    TRY(check_guarantee(o, p, error));
    if (!isfinite(o->epsilon) || o->epsilon <= 0)
        return core_fail(error, TEM_ERR_RANGE, "epsilon must be a positive number");
    const bool has_beta = is_given(o->beta);
    const bool has_gamma = is_given(o->gamma);
    if (has_beta && has_gamma)
        return core_fail(error, TEM_ERR_ARGUMENT, "beta or gamma, not both: beta makes a gamma");
    if ((has_beta || has_gamma) && !p->takes_gamma)
        return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism %s takes no beta or gamma",
                         p->name);
    if (p->list != NULL && o->listed == NULL)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the mechanism %s needs a public list of words: %s", p->name, p->list);
    if (p->list == NULL && o->listed != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism %s takes no list of words",
                         p->name);
    if (o->weights != NULL && !p->takes_weights)
        return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism %s takes no output weights",
                         p->name);
    if (o->certificate != NULL && !p->takes_certificate)
        return core_fail(error, TEM_ERR_ARGUMENT, "the mechanism %s takes no certificate", p->name);
    return check_context_options(o, ops, error);
}

/* The s and gamma of the mechanism's law or bound; NULL if it has neither. gamma 0: it has none.
 * PRIVACY: a map of the outputs leaves the bound as it is (post-processing). */
static const exponent *mechanism_exponent(const tem_mechanism *m) {
    if (m->ops->form != NULL)
        return &m->ops->form(m->state)->exponent;
    return m->ops->bound == NULL ? NULL : m->ops->bound(m->state);
}

/* Compares a mechanism with what its options and its properties say.
 * PRIVACY: a certificate proves its own s and gamma, and no others. */
static tem_status check_made(const tem_mechanism *m, const tem_mechanism_options *o,
                             tem_error *error) {
    const tem_parameter *p = m->ops->properties.parameters;
    while (strcmp(p->name, "epsilon") != 0)
        p++;
    if (o->epsilon < p->least || o->epsilon > p->most)
        return core_fail(error, TEM_ERR_RANGE, "epsilon must be between %g and %g", p->least,
                         p->most);
    const exponent *e = mechanism_exponent(m);
    const bool has_lost_form = m->ops->properties.is_exponential && !mechanism_is_exponential(m);
    if ((m->ops->properties.guarantee == TEM_GUARANTEE_EXACT && e == NULL) || has_lost_form)
        return core_fail(error, TEM_ERR_UNSUPPORTED, "the mechanism has lost its law");
    if (o->certificate != NULL && (e->s != o->certificate->s || e->gamma != o->certificate->gamma))
        return core_fail(error, TEM_ERR_CERTIFICATE,
                         "the mechanism has another exponent than the certificate");
    return TEM_OK;
}

/* Adds 16 digits of the hash of a list of words, one byte per word. */
static void describe_list(tem_mechanism *m, const char *name, const uint8_t *listed) {
    const size_t used = strlen(m->numbers);
    unsigned char hash[CORE_HASH_BYTES];
    char hex[2 * CORE_HASH_BYTES + 1];
    if (listed == NULL)
        return;
    core_hash256(listed, m->count, hash);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    snprintf(m->numbers + used, sizeof m->numbers - used, "%s%s=%.16s", used > 0 ? ", " : "", name,
             hex);
}

/* Writes down the mechanism's own numbers and lists, for reports. */
static void describe_numbers(tem_mechanism *m, const double *numbers,
                             const tem_mechanism_options *o) {
    const tem_parameter *p = m->ops->properties.parameters;
    size_t used = 0;
    for (size_t i = 0; p[i].name != NULL && used < sizeof m->numbers; i++)
        if (is_own_number(p[i].name))
            used += (size_t)snprintf(m->numbers + used, sizeof m->numbers - used, "%s%s=%.10g",
                                     used > 0 ? ", " : "", p[i].name, numbers[i]);
    describe_list(m, "list", o->listed);
    describe_list(m, "never", o->never);
}

/* The weights of the options, 0 for words that are never released.
 * PRIVACY: they are public, and the same for every input, as those of excluded words are. */
static tem_status output_weights(tem_mechanism *m, const uint32_t *given, const uint8_t *never,
                                 uint32_t **out, tem_error *error) {
    m->has_never = never != NULL;
    if (never == NULL)
        return model_output_weights(m->model, given, out, error);
    uint32_t *own = core_alloc(m->count, sizeof *own);
    if (own == NULL)
        return core_fail_memory(error);
    for (uint32_t y = 0; y < m->count; y++) {
        own[y] = never[y] != 0 ? 0 : given != NULL ? given[y] : 1;
        m->never_count += never[y] != 0;
    }
    const tem_status status = model_output_weights(m->model, own, out, error);
    core_free(own);
    return status;
}

/* Sets up the state with s, gamma and weights: those of the certificate if the options name one,
 * otherwise those that the mechanism derives from epsilon by the theorem. */
static tem_status init_state(tem_mechanism *m, const tem_mechanism_options *o, tem_error *error) {
    exponent certified = {0, 0};
    double numbers[MECHANISM_PARAMETERS_MAX];
    TRY(take_numbers(o, &m->ops->properties, numbers, error));
    describe_numbers(m, numbers, o);
    char order_hash[17];
    model_order_digits(m->model, order_hash);
    mechanism_setup setup = {.space = &m->model->space,
                             .index = &m->model->index,
                             .order = model_has_order(m->model) ? &m->model->order : NULL,
                             .order_hash = order_hash,
                             .epsilon = o->epsilon,
                             .beta = o->beta,
                             .gamma = o->gamma,
                             .is_in_context = o->language != NULL,
                             .parameters = m->ops->properties.parameters,
                             .numbers = numbers,
                             .listed = o->listed};
    const uint32_t *given = o->weights;
    m->has_own_weights = given != NULL;
    if (o->certificate != NULL) {
        TRY(certificate_check_options(m->model, o, error));
        certified = (exponent){.s = o->certificate->s, .gamma = o->certificate->gamma};
        m->beta = o->certificate->beta;
        certificate_get_info(o->certificate, &m->certificate);
        setup.certified = &certified;
        given = o->certificate->weights;
    }
    uint32_t *outputs = NULL;
    tem_status status = output_weights(m, given, o->never, &outputs, error);
    setup.weights = outputs;
    if (status == TEM_OK)
        status = m->ops->init(m->state, &setup, &m->beta, error);
    core_free(outputs);
    return status == TEM_OK ? check_made(m, o, error) : status;
}

/* Whether this run never releases the word. */
static bool is_never(const tem_mechanism *m, uint32_t word) {
    return m->has_never && weights_at(m->ops->form(m->state)->weights, word) == 0;
}

/* Copies the map. Every word must be mapped to an output of the model, and of this run. */
static tem_status take_remap(tem_mechanism *m, const uint32_t *remap, tem_error *error) {
    if (remap == NULL)
        return TEM_OK;
    TRY(mechanism_check_independent(
        m, "no word can take the place of a drawn one: leave out the remap", error));
    for (uint32_t y = 0; y < m->count; y++)
        if (remap[y] >= m->count || model_is_excluded(m->model, remap[y]) || is_never(m, remap[y]))
            return core_fail(error, TEM_ERR_ARGUMENT, "the map leads to a word that is no output");
    m->remap = core_alloc(m->count, sizeof *m->remap);
    if (m->remap == NULL)
        return core_fail_memory(error);
    memcpy(m->remap, remap, m->count * sizeof *m->remap);
    unsigned char hash[CORE_HASH_BYTES];
    core_hash256(remap, m->count * sizeof *remap, hash);
    sodium_bin2hex(m->remap_hash, sizeof m->remap_hash, hash, sizeof hash);
    return TEM_OK;
}

/* PRIVACY: a language model says what it is for: with another vocabulary its weights would be those
 * of other words, and excluded words could weigh something. */
static tem_status take_language(tem_mechanism *m, const tem_language *language, tem_error *error) {
    unsigned char outputs[CORE_HASH_BYTES];
    if (language == NULL)
        return TEM_OK;
    model_outputs_hash(m->model, outputs);
    if (memcmp(outputs, language->outputs, sizeof outputs) != 0)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "the language model is for other words than those of the model, or for "
                         "other excluded words");
    TRY(language->ops->check == NULL ? TEM_OK : language->ops->check(language->state, error));
    return context_init(&m->context, m->ops->form(m->state), language, error);
}

/* What a mechanism is with a language model: its law is no longer one of the word alone. */
static void describe_context(tem_mechanism *m) {
    if (m->context.language == NULL)
        return;
    m->in_context = *m->properties;
    m->in_context.claim = m->ops->claim_in_context;
    m->in_context.caveat = m->context.language->caveat;
    if (m->in_context.caveat != NULL)
        m->in_context.guarantee = TEM_GUARANTEE_OTHER;
    m->in_context.law_digits = 0;
    m->in_context.is_exponential = m->in_context.has_form = 0;
    m->in_context.takes_weights = m->in_context.takes_certificate = 0;
    m->properties = &m->in_context;
}

/* Names the mechanism that may be meant, or all. */
static tem_status refuse_name(const char *typed, tem_error *error) {
    char names[sizeof error->message - 32] = "";
    const char *near = NULL;
    unsigned least = NEAR_NOT;
    for (unsigned i = 0; mechanism_at(i) != NULL; i++) {
        const char *name = mechanism_at(i)->properties.name;
        const unsigned edits = near_edits(typed, strlen(typed), name, strlen(name));
        core_add_choice(names, sizeof names, name, mechanism_at(i + 1) == NULL);
        near = edits < least ? name : near;
        least = edits < least ? edits : least;
    }
    return near != NULL ? core_fail(error, TEM_ERR_ARGUMENT,
                                    "no mechanism has this name; did you mean '%s'?", near)
                        : core_fail(error, TEM_ERR_ARGUMENT, "the mechanism is %s", names);
}

tem_status mechanism_create(const tem_model *model, const tem_mechanism_options *options,
                            tem_mechanism **mechanism, tem_error *error) {
    const mechanism_ops *ops =
        mechanism_find(options->mechanism == NULL ? "tem" : options->mechanism);
    if (ops == NULL)
        return refuse_name(options->mechanism, error);
    const tem_status status = mechanism_make(model, ops, options, mechanism, error);
    if (status == TEM_OK) {
        (*mechanism)->properties = mechanism_properties(ops);
        describe_context(*mechanism);
    }
    return status;
}

tem_status mechanism_make(const tem_model *model, const mechanism_ops *ops,
                          const tem_mechanism_options *options, tem_mechanism **mechanism,
                          tem_error *error) {
    /* PRIVACY: tem draws only from a trusted model. The proof needs the lists and bounds that
     * tem_model_verify computes. */
    TRY(trusted_or_refused(model, error));
    TRY(check_options(options, ops, error));
    const tem_metric needed = ops->properties.needs_metric;
    if (needed != 0 && model->space.metric->id != needed)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the mechanism %s needs a model of the %s metric", ops->properties.name,
                         metric_find(needed)->name);
    tem_mechanism *m = core_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return core_fail_memory(error);
    m->model = model;
    m->ops = ops;
    m->properties = &ops->properties;
    m->epsilon = options->epsilon;
    m->count = model->words.count;
    m->state = core_alloc_zero(1, ops->state_bytes);
    tem_status status = m->state == NULL ? core_fail_memory(error) : init_state(m, options, error);
    if (status == TEM_OK)
        status = take_remap(m, options->remap, error);
    if (status == TEM_OK)
        status = take_language(m, options->language, error);
    if (status == TEM_OK)
        status = function_words_find(&model->words, &m->function_words, error);
    if (status != TEM_OK) {
        mechanism_free(m);
        return status;
    }
    *mechanism = m;
    return TEM_OK;
}

void mechanism_free(tem_mechanism *m) {
    if (m == NULL)
        return;
    context_free(&m->context);
    if (m->state != NULL)
        m->ops->free(m->state);
    core_free(m->state);
    core_free(m->remap);
    function_words_free(&m->function_words);
    core_free(m);
}

const law_form *mechanism_form(const tem_mechanism *m) {
    const bool is_own = m->remap == NULL && m->context.language == NULL;
    return m->ops->form == NULL || !is_own ? NULL : m->ops->form(m->state);
}

bool mechanism_is_exponential(const tem_mechanism *m) {
    const law_form *f = mechanism_form(m);
    return f != NULL && f->is_of_distance;
}

/* lack: what the law has not. */
static tem_status fail_law(const tem_mechanism *m, const char *lack, const char *remedy,
                           tem_error *error) {
    TRY(mechanism_check_independent(
        m, "tem cannot audit or invert a law of the word alone: choose another mechanism", error));
    return core_fail(error, TEM_ERR_UNSUPPORTED, "the law of the mechanism %s%s %s; %s",
                     m->ops->properties.name, m->remap != NULL ? " with its map" : "", lack,
                     remedy);
}

tem_status mechanism_check_form(const tem_mechanism *m, tem_error *error) {
    return mechanism_form(m) != NULL
               ? TEM_OK
               : fail_law(m, "has no form from which tem could invert it",
                          "use one that has a form, such as tem, em, rank or coin", error);
}

tem_status mechanism_check_exponential(const tem_mechanism *m, tem_error *error) {
    return mechanism_is_exponential(m)
               ? TEM_OK
               : fail_law(m,
                          "does not fall off with the distance, so no accountant has its numbers",
                          "use tem or em", error);
}

/* The largest term of Z(w) that is near at hand: that of w itself or, if w is no output, that of
 * the likeliest word of its list. */
static double largest_term(const law_form *f, uint32_t word) {
    output_list list;
    double largest = weights_at(f->weights, word);
    if (largest > 0 || f->ops->list(f, word, &list, NULL) != TEM_OK)
        return largest;
    for (uint32_t i = 0; i < list.count; i++) {
        const listed_output y = f->ops->entry(f, &list, i);
        largest = fmax(largest, weights_at(f->weights, y.id) * closeness_value(f, &y.closeness));
    }
    return largest;
}

/* How much truncation at gamma changes the probabilities, for a mechanism whose gamma follows from
 * the integers and not from the user. A word beyond gamma has the weight a_y exp(-s gamma) instead
 * of a smaller one. All these words together gain at most A exp(-s gamma). The result divides this
 * by a bound below every Z(w): by the least largest_term of a word. */
static double moved_mass(const tem_mechanism *m, const law_form *form) {
    if (m->ops->properties.takes_gamma || form->exponent.gamma == 0)
        return 0;
    if (m->context.language != NULL)
        return 1; /* no probability moves by more; a language model may make any word likely */
    const exponent *e = &form->exponent;
    double least = INFINITY;
    for (uint32_t id = 0; id < m->count; id++)
        least = fmin(least, largest_term(form, id));
    const double beyond = exp(-ldexp((double)exponent_at(e, e->gamma), -EXPONENT_BITS));
    return least > 0 ? (double)form->weights->sum * beyond / least : INFINITY;
}

static tem_weights_kind weights_kind(const tem_mechanism *m) {
    if (m->certificate.hash[0] != '\0')
        return m->certificate.weights;
    return m->has_own_weights ? TEM_WEIGHTS_OWN : TEM_WEIGHTS_EQUAL;
}

/* PRIVACY: a mechanism that does not claim a bound has none. Where there is a gamma, epsilon gamma
 * is the bound that the claim states; without one it is that of the form. */
static void set_bounds(const tem_mechanism *m, tem_mechanism_info *info) {
    if (mechanism_why_unbounded(m) != NULL)
        return;
    if (info->gamma_steps > 0)
        info->bound = info->epsilon_gamma = m->epsilon * info->gamma;
    else if (m->ops->form != NULL)
        info->bound = law_form_bound(m->ops->form(m->state));
}

void mechanism_get_info(const tem_mechanism *m, tem_mechanism_info *info) {
    const exponent *e = mechanism_exponent(m);
    *info = (tem_mechanism_info){
        .properties = m->properties,
        .epsilon = m->epsilon,
        .beta = m->beta,
        .epsilon_gamma = INFINITY,
        .bound = INFINITY,
        .weights = weights_kind(m),
    };
    memcpy(info->certificate, m->certificate.hash, sizeof info->certificate);
    memcpy(info->remap, m->remap_hash, sizeof info->remap);
    memcpy(info->numbers, m->numbers, sizeof info->numbers);
    if (m->ops->unit != NULL)
        m->ops->unit(m->state, info->unit, sizeof info->unit);
    else
        snprintf(info->unit, sizeof info->unit, "%s/%s", mechanism_unit(m->ops),
                 m->model->space.metric->name);
    if (e == NULL)
        return;
    info->s_steps = e->s;
    info->s = exponent_s_value(e->s);
    info->gamma_steps = e->gamma;
    info->gamma = (double)e->gamma / TEM_DIST_ONE;
    set_bounds(m, info);
    if (m->ops->form != NULL)
        info->moved_mass = moved_mass(m, m->ops->form(m->state));
}

const uint32_t *mechanism_weights(const tem_mechanism *m) {
    return m->ops->form == NULL ? NULL : m->ops->form(m->state)->weights->values;
}

bool mechanism_has_word(const tem_mechanism *m, uint32_t word) {
    return word < m->count || word == TEM_NO_WORD;
}

/* Whether the words exist and none is excluded or never released, whatever the mechanism did. */
static bool are_outputs(const tem_mechanism *m, const uint32_t *out, size_t count) {
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = out[i] > largest ? out[i] : largest;
    bool excluded = false;
    for (size_t i = 0; i < count && largest < m->count && m->model->excluded_count > 0; i++)
        excluded |= model_is_excluded(m->model, out[i]);
    for (size_t i = 0; i < count && largest < m->count && m->has_never; i++)
        excluded |= is_never(m, out[i]);
    return count == 0 || (largest < m->count && !excluded);
}

bool mechanism_depends_on_past(const tem_mechanism *m) {
    return m->ops->draw_next != NULL || m->context.language != NULL;
}

mechanism_document mechanism_document_of(const tem_mechanism *m) {
    const mechanism_ops *own = m->ops;
    if (m->context.language == NULL)
        return (mechanism_document){own->past_words, own->document_bytes, own->slow_draws};
    const language_ops *ops = m->context.language->ops;
    return (mechanism_document){ops->past_words, context_document_bytes(&m->context),
                                ops->slow_draws};
}

tem_status mechanism_begin(const tem_mechanism *m, void *document, tem_error *error) {
    const tem_language *language = m->context.language;
    if (language != NULL)
        return language->ops->begin == NULL
                   ? TEM_OK
                   : language->ops->begin(language->state, document, error);
    return m->ops->begin == NULL ? TEM_OK : m->ops->begin(m->state, document, error);
}

void mechanism_end(const tem_mechanism *m, void *document) {
    const tem_language *language = m->context.language;
    if (language != NULL && language->ops->end != NULL)
        language->ops->end(language->state, document);
    else if (language == NULL && m->ops->end != NULL)
        m->ops->end(m->state, document);
}

tem_status mechanism_check_independent(const tem_mechanism *m, const char *remedy,
                                       tem_error *error) {
    if (!mechanism_depends_on_past(m))
        return TEM_OK;
    return core_fail(
        error, TEM_ERR_UNSUPPORTED,
        "the mechanism %s%s draws each word by the words that its document shows before, "
        "so %s",
        m->ops->properties.name, m->context.language != NULL ? " with a language model" : "",
        remedy);
}

static tem_status refuse_drawn(const tem_mechanism *m, tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED, "the mechanism %s drew a word that is no output",
                     m->ops->properties.name);
}

tem_status mechanism_draw_next(const tem_mechanism *m, void *document, const released_past *past,
                               tem_rng *rng, uint32_t *word, tem_error *error) {
    if (!mechanism_has_word(m, *word))
        return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    const tem_status status =
        m->context.language != NULL
            ? context_draw(&m->context, document, past, *word, rng, word, error)
            : m->ops->draw_next(m->state, document, past, *word, rng, word, error);
    return status == TEM_OK && !are_outputs(m, word, 1) ? refuse_drawn(m, error) : status;
}

tem_status mechanism_draw(const tem_mechanism *m, tem_rng *rng, const uint32_t *words,
                          uint32_t *out, size_t count, tem_error *error) {
    TRY(mechanism_check_independent(
        m, "tem cannot draw for words alone: give it whole texts, or documents of words", error));
    for (size_t i = 0; i < count; i++)
        if (!mechanism_has_word(m, words[i]))
            return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    TRY(m->ops->draw(m->state, words, count, rng, out, error));
    if (!are_outputs(m, out, count))
        return refuse_drawn(m, error);
    for (size_t i = 0; i < count && m->remap != NULL; i++)
        out[i] = m->remap[out[i]];
    return TEM_OK;
}

/* Moves the probability of each word to the word that replaces it. */
static tem_status remap_row(const uint32_t *remap, uint32_t count, double *probabilities,
                            tem_error *error) {
    double *drawn = core_alloc(count, sizeof *drawn);
    if (drawn == NULL)
        return core_fail_memory(error);
    memcpy(drawn, probabilities, count * sizeof *drawn);
    memset(probabilities, 0, count * sizeof *drawn);
    for (uint32_t y = 0; y < count; y++)
        probabilities[remap[y]] += drawn[y];
    core_free(drawn);
    return TEM_OK;
}

tem_status mechanism_row(const tem_mechanism *m, uint32_t word, double *probabilities,
                         tem_error *error) {
    tem_status status = mechanism_check_independent(
        m, "there is no law of a word alone: choose another mechanism, or only draw", error);
    if (status != TEM_OK)
        return status;
    if (mechanism_law_digits(m->ops) == 0)
        return core_fail(error, TEM_ERR_UNSUPPORTED,
                         "the distribution of the mechanism %s cannot be computed; it can only be "
                         "drawn from",
                         m->ops->properties.name);
    if (m->ops->form != NULL)
        law_row(m->ops->form(m->state), word, probabilities);
    else
        status = m->ops->row(m->state, word, probabilities, error);
    return status == TEM_OK && m->remap != NULL
               ? remap_row(m->remap, m->count, probabilities, error)
               : status;
}

tem_status mechanism_row_after(const tem_mechanism *m, void *document, const released_past *past,
                               uint32_t word, double *probabilities, tem_error *error) {
    uint64_t *values = core_alloc(m->count, sizeof *values);
    const tem_status status = values == NULL
                                  ? core_fail_memory(error)
                                  : context_weights(&m->context, document, past, values, error);
    if (status == TEM_OK)
        law_row_weighed(m->context.form, values, word, probabilities);
    core_free(values);
    return status;
}

tem_status mechanism_weights_after(const tem_mechanism *m, const uint32_t *words, size_t count,
                                   uint64_t *values, tem_error *error) {
    if (m->context.language == NULL)
        return core_fail(
            error, TEM_ERR_ARGUMENT,
            "the mechanism has no language model: its law is the same after all words");
    for (size_t i = 0; i < count; i++)
        if (words[i] >= m->count)
            return core_fail(error, TEM_ERR_ARGUMENT, "the id must be below the number of words");
    const mechanism_document needs = mechanism_document_of(m);
    const size_t seen = count < needs.past_words ? count : needs.past_words;
    const released_past past = {
        .words = seen > 0 ? words + (count - seen) : NULL, .count = seen, .before = count - seen};
    void *document = core_alloc_zero(1, needs.bytes + 1);
    if (document == NULL)
        return core_fail_memory(error);
    tem_status status = mechanism_begin(m, document, error);
    if (status == TEM_OK)
        status = context_weights(&m->context, document, &past, values, error);
    mechanism_end(m, document);
    core_free(document);
    return status;
}

bool mechanism_has_columns(const tem_mechanism *m) {
    if (m->remap != NULL || mechanism_depends_on_past(m))
        return false;
    return m->ops->form != NULL ? m->ops->form(m->state)->total > 0 : m->ops->column != NULL;
}

void mechanism_column(const tem_mechanism *m, uint32_t y, double *likelihoods) {
    if (m->ops->form == NULL) {
        m->ops->column(m->state, y, likelihoods);
        return;
    }
    const law_form *f = m->ops->form(m->state);
    const double weight = weights_at(f->weights, y);
    law_form_column(f, y, 0, m->count, likelihoods);
    for (uint32_t w = 0; w < m->count; w++)
        likelihoods[w] *= weight / f->total;
    likelihoods[m->count] = weight / (double)f->weights->sum;
}

tem_status mechanism_self(const tem_mechanism *m, uint32_t word, double *self, tem_error *error) {
    double *probabilities = core_alloc(m->count, sizeof *probabilities);
    const tem_status status = probabilities == NULL ? core_fail_memory(error)
                                                    : mechanism_row(m, word, probabilities, error);
    if (status == TEM_OK)
        *self = probabilities[word];
    core_free(probabilities);
    return status;
}

/* N_w for a warning. With a language model N_w depends on the words before, so this is the N_w of
 * the same form without one.
 * PRIVACY: no words before make up for a form that keeps nearly every word: a warning that waited
 * for a law of the word alone would never come. */
static tem_status self_without_language(const tem_mechanism *m, uint32_t word, double *self,
                                        tem_error *error) {
    if (m->context.language == NULL)
        return mechanism_self(m, word, self, error);
    double *probabilities = core_alloc(m->count, sizeof *probabilities);
    if (probabilities == NULL)
        return core_fail_memory(error);
    law_row(m->context.form, word, probabilities);
    *self = probabilities[word];
    core_free(probabilities);
    return TEM_OK;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tem_status mechanism_self_median(const tem_mechanism *m, double *median, tem_error *error) {
    enum { QUANTILES = 49 };
    double selves[QUANTILES], harmonic = 0, sum = 0;
    for (uint32_t rank = 1; rank <= m->count; rank++)
        harmonic += 1.0 / rank;
    uint32_t rank = 0, last = 0;
    for (int i = 0; i < QUANTILES; i++, last = rank) {
        while (sum < harmonic * (i + 0.5) / QUANTILES && rank < m->count)
            sum += 1.0 / ++rank;
        tem_status status = TEM_OK;
        if (rank == last)
            selves[i] = selves[i - 1];
        else
            status = self_without_language(m, rank - 1, &selves[i], error);
        if (status != TEM_OK)
            return status;
    }
    qsort(selves, QUANTILES, sizeof *selves, compare_doubles);
    *median = selves[QUANTILES / 2];
    return TEM_OK;
}

tem_status mechanism_self_quantile(const tem_mechanism *m, double quantile, double *self,
                                   tem_error *error) {
    enum { WORDS = 40 };
    const uint32_t count = m->count < WORDS ? m->count : WORDS;
    double selves[WORDS];
    tem_status status = TEM_OK;
    for (uint32_t i = 0; i < count && status == TEM_OK; i++)
        status = self_without_language(
            m, (uint32_t)((2 * i + 1) * (uint64_t)m->count / (2 * count)), &selves[i], error);
    if (status != TEM_OK)
        return status;
    qsort(selves, count, sizeof *selves, compare_doubles);
    const uint32_t kept = (uint32_t)ceil(quantile * count - 1e-9);
    *self = selves[kept > 0 ? kept - 1 : 0];
    return TEM_OK;
}
