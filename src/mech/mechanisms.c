/* mechanisms.c - the table of all mechanisms. */
#include "mech/mechanism.h"
#include "tem_account.h"

#include <pthread.h>
#include <string.h>

#ifdef TEM_EXTRA_MECHANISM /* build option extra_mechanism: the user's own file */
extern const mechanism_ops mechanism_extra;
#endif

static const mechanism_ops *const mechanisms[] = {
    &mechanism_tem,
    &mechanism_em,
    &mechanism_rank,
    &mechanism_coin,
    &mechanism_permute_and_flip,
    &mechanism_santext,
    &mechanism_madlib,
    &mechanism_mahalanobis,
    &mechanism_vickrey,
    &mechanism_hyperbolic,
    &mechanism_gumbel,
    &mechanism_santext_plus,
    &mechanism_custext,
    &mechanism_custext_plus,
    &mechanism_diffractor,
    &mechanism_vickrey_exclude,
#ifdef TEM_EXTRA_MECHANISM
    &mechanism_extra,
#endif
};

enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

const mechanism_ops *mechanism_at(unsigned i) {
    return i < MECHANISMS ? mechanisms[i] : NULL;
}

static unsigned digits_of_functions(const mechanism_ops *ops) {
    return ops->form != NULL  ? (unsigned)TEM_LAW_DIGITS_MAX
           : ops->row != NULL ? (unsigned)MECHANISM_ROW_DIGITS
                              : 0;
}

unsigned mechanism_law_digits(const mechanism_ops *ops) {
    const unsigned stated = ops->properties.law_digits;
    return stated > 0 ? stated : digits_of_functions(ops);
}

static tem_mechanism_properties completed[MECHANISMS];

static void complete_all(void) {
    for (unsigned i = 0; i < MECHANISMS; i++) {
        completed[i] = mechanisms[i]->properties;
        completed[i].law_digits = mechanism_law_digits(mechanisms[i]);
        completed[i].has_form = mechanisms[i]->form != NULL;
    }
}

const tem_mechanism_properties *mechanism_properties(const mechanism_ops *ops) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, complete_all);
    unsigned i = 0;
    while (mechanisms[i] != ops)
        i++;
    return &completed[i];
}

/* Whether a name can stand in a report, a ledger and a command line as it is. */
static bool is_plain(const char *name) {
    return name[0] != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] == '\0';
}

static bool takes_epsilon(const tem_mechanism_properties *p) {
    for (const tem_parameter *one = p->parameters; one != NULL && one->name != NULL; one++)
        if (strcmp(one->name, "epsilon") == 0)
            return true;
    return false;
}

static size_t count_parameters(const tem_mechanism_properties *p) {
    size_t count = 0;
    while (p->parameters[count].name != NULL)
        count++;
    return count;
}

double mechanism_number(const mechanism_setup *setup, const char *name) {
    size_t i = 0;
    while (strcmp(setup->parameters[i].name, name) != 0)
        i++;
    return setup->numbers[i];
}

const char *mechanism_unit(const mechanism_ops *ops) {
    return ops->properties.unit != NULL ? ops->properties.unit : ops->properties.name;
}

const char *mechanism_fault(const mechanism_ops *ops) {
    const tem_mechanism_properties *p = &ops->properties;
    if (p->name == NULL || p->summary == NULL || ops->init == NULL || ops->free == NULL ||
        (ops->draw == NULL) == (ops->draw_next == NULL) || ops->state_bytes == 0)
        return "it lacks a name, a summary, a state or a function, or draws in two ways";
    if (ops->draw_next == NULL &&
        (ops->begin != NULL || ops->end != NULL || ops->document_bytes > 0 || ops->past_words > 0))
        return "it asks for documents, and draws each word by itself";
    if (ops->past_words > MECHANISM_PAST_MAX)
        return "it looks back too far";
    if (ops->draw_next != NULL && (ops->form != NULL || ops->row != NULL))
        return "its law depends on the words before, so it is not one law for each word";
    if (!is_plain(p->name))
        return "its name has other characters than a to z, 0 to 9, - and _";
    if (!takes_epsilon(p))
        return "it does not say which epsilon it takes";
    if ((p->is_exponential || p->takes_weights || p->takes_certificate) && ops->form == NULL)
        return "weights, certificates and an exponential law need a form";
    if (ops->claim_in_context != NULL && (ops->form == NULL || p->guarantee != TEM_GUARANTEE_EXACT))
        return "a language model needs a form, and an exact guarantee";
    if (p->law_digits > digits_of_functions(ops))
        return "it cannot compute that many digits of its law";
    if (ops->column != NULL && ops->row == NULL)
        return "it computes columns of its law, and no rows";
    if ((unsigned)p->guarantee > TEM_GUARANTEE_OTHER)
        return "its guarantee is unknown";
    if (p->guarantee != TEM_GUARANTEE_NONE && p->claim == NULL)
        return "it has a guarantee, and does not say which";
    /* A run is charged epsilon gamma per word at most, and gamma is that of the law or bound. */
    if (p->guarantee == TEM_GUARANTEE_EXACT &&
        (p->caveat != NULL || (ops->form == NULL && ops->bound == NULL)))
        return "its guarantee is exact, and its caveat or its law says otherwise";
    if (p->guarantee == TEM_GUARANTEE_EXACT && p->unit == NULL)
        return "it has a guarantee, and does not say what its epsilon is per";
    if (p->unit != NULL && !is_plain(p->unit))
        return "its unit has other characters than a to z, 0 to 9, - and _";
    if (count_parameters(p) > MECHANISM_PARAMETERS_MAX)
        return "it takes too many numbers";
    return NULL;
}

const mechanism_ops *mechanism_find(const char *name) {
    for (unsigned i = 0; mechanism_at(i) != NULL; i++)
        if (mechanisms[i]->properties.name != NULL &&
            strcmp(mechanisms[i]->properties.name, name) == 0)
            return mechanisms[i];
    return NULL;
}
