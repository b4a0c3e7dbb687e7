/* spending.c - the cost of a run, and whether the budget allows it. */
#include "job/spending.h"

#include "core/number.h"
#include "core/reserved.h"
#include "core/status.h"
#include "job/replacer.h"
#include "job/report.h"
#include "rng/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- checking the job ---- */

/* Returns why no bound holds under these policies, or NULL if one holds.
 * PRIVACY: the theorem is about texts whose words are all drawn. This function names the policies
 * for which it is proved, and takes every other policy for one that reveals something. */
static const char *why_policies(tem_oov oov, tem_punctuation punctuation) {
    if (oov == TEM_OOV_DROP)
        return "unknown words are left out, which shows in the number of words; use uniform for "
               "unknown words";
    if (oov == TEM_OOV_MASK)
        return "<unk> shows where unknown words were; use uniform for unknown words";
    if (oov != 0 && oov != TEM_OOV_UNIFORM)
        return "unknown words are released as they are; use uniform for unknown words";
    if (punctuation != 0 && punctuation != TEM_PUNCTUATION_DROP &&
        punctuation != TEM_PUNCTUATION_WORD)
        return "punctuation is released as it is; use drop or word for punctuation";
    return NULL;
}

static bool is_missing_policy(tem_missing missing) {
    return missing == 0 || missing == TEM_MISSING_EMPTY || missing == TEM_MISSING_KEEP;
}

const char *spending_why_not_private(const tem_mechanism *mechanism, const tem_job *job) {
    /* PRIVACY: an unknown option may be one that releases more. */
    if (job_is_for_newer(job, NULL))
        return "the job has options that this version of tem does not know; use a newer version";
    if (job->insecure_seeded)
        return "whoever knows the seed can repeat the draws; leave the seed out";
    if (!is_missing_policy(job->missing))
        return "the policy for missing texts is unknown; use one that tem.h names";
    if (job->text.order != 0 && policy_order_name(job->text.order) == NULL)
        return "the order of words is unknown; use one that tem.h names";
    if (job->text.style != 0 && policy_style_name(job->text.style) == NULL)
        return "the style of the output is unknown; use one that tem.h names";
    if (job->text.repeat != 0 && policy_repeat_name(job->text.repeat) == NULL)
        return "the policy for repeated words is unknown; use one that tem.h names";
    const char *why = why_policies(job->text.oov, job->text.punctuation);
    return why != NULL ? why : mechanism_why_unbounded(mechanism);
}

/* PRIVACY: as docs/PRIVACY.md, "Repeated words", proves it. */
const char *spending_condition(const tem_job *job) {
    if (job_is_for_newer(job, NULL))
        return "the job has options that this version of tem does not know";
    return job->text.repeat == TEM_REPEAT_ONCE
               ? "the bound holds only between texts whose content words repeat at the same "
                 "places; "
                 "between others nothing is promised, not even if they differ in a single word"
               : NULL;
}

/* PRIVACY: costs that hold between other texts are in another unit, so that no budget adds them
 * up. */
void spending_unit(const tem_job *job, const tem_mechanism_info *info,
                   char unit[SPENDING_UNIT_BYTES]) {
    snprintf(unit, SPENDING_UNIT_BYTES, "%s%s",
             job->text.repeat == TEM_REPEAT_ONCE ? LEDGER_ONCE : "", info->unit);
}

/* Refuses a model that the ledger could not recognize. epsilon is per unit of the distance of one
 * model, so only charges with the same model can be added up. */
static tem_status check_model(const tem_mechanism *mechanism, tem_error *error) {
    tem_model_info info;
    model_get_info(mechanism->model, &info);
    return info.hash[0] != '\0' ? TEM_OK
                                : core_fail(error, TEM_ERR_ARGUMENT,
                                            "a budget needs a model that was opened from a file, "
                                            "which the ledger can know again");
}

tem_status spending_check(const tem_mechanism *mechanism, const tem_job *job, tem_error *error) {
    amount ignored = 0;
    if (!is_missing_policy(job->missing))
        return core_fail(error, TEM_ERR_ARGUMENT, "no such policy for missing texts");
    const bool has_budget = is_given(job->budget) || is_given(job->budget_worst);
    if (job->ledger == NULL && (has_budget || job->by != NULL))
        return core_fail(error, TEM_ERR_ARGUMENT, "a budget or people need a ledger");
    if (job->ledger == NULL)
        return TEM_OK;
    if (!amount_from_number(job->budget, AMOUNT_DOWN, &ignored) ||
        !amount_from_number(job->budget_worst, AMOUNT_DOWN, &ignored))
        return core_fail(error, TEM_ERR_RANGE, "the budget must be above 0 and at most 1e25");
    if (!amount_from_number(mechanism->epsilon, AMOUNT_UP, &ignored) || ignored > UINT64_MAX)
        return core_fail(error, TEM_ERR_RANGE, "epsilon is too large for a ledger");
    const char *why = spending_why_not_private(mechanism, job);
    if (has_budget && why != NULL)
        return core_fail(error, TEM_ERR_ARGUMENT, "no budget can be kept: %s", why);
    if (job->by != NULL && job->by[0] == '\0')
        return core_fail(error, TEM_ERR_ARGUMENT, "the field that names people needs a name");
    return is_given(job->budget) ? check_model(mechanism, error) : TEM_OK;
}

/* ---- opening and closing ---- */

tem_status spending_check_files(const spending *s, tem_error *error) {
    const tem_job *job = s->job;
    if (!s->active)
        return TEM_OK;
    bool same = !job->dry_run && ledger_is(&s->ledger, job->output, STDOUT_FILENO);
    if (job->input_count == 0)
        same |= ledger_is(&s->ledger, NULL, STDIN_FILENO);
    for (size_t i = 0; i < job->input_count; i++)
        same |= ledger_is(&s->ledger, job->inputs[i], STDIN_FILENO);
    return same ? core_fail_at(error, TEM_ERR_ARGUMENT, job->ledger, 0, 0,
                               "the ledger must not be an input or the output as well")
                : TEM_OK;
}

/* Converts steps of 2^-bits to an amount, rounded up. steps: already multiplied by an amount. */
static amount from_steps(amount steps, unsigned bits) {
    return (steps + ((amount)1 << bits) - 1) >> bits;
}

/* The bound for one word; 0 if there is none. PRIVACY: rounded up. Where it is epsilon gamma, it is
 * the product of the decimal that stands for epsilon and of the integer gamma. */
static amount bound_of(const spending *s, const tem_mechanism_info *info) {
    amount bound = 0;
    if (isinf(info->bound))
        return 0;
    if (info->gamma_steps > 0)
        return from_steps(info->gamma_steps * s->each[COST_EPSILON], 16);
    amount_from_number(info->bound, AMOUNT_UP, &bound);
    return bound;
}

tem_status spending_open(spending *s, const tem_mechanism *mechanism, const tem_job *job,
                         const tem_run *run, tem_error *error) {
    *s = (spending){.mechanism = mechanism, .job = job, .ledger = {.descriptor = -1}};
    if (job->ledger == NULL)
        return TEM_OK;
    unsigned char salt[LEDGER_SALT_BYTES];
    tem_rng rng;
    rng_init_secure(&rng);
    for (size_t i = 0; i < sizeof salt; i++)
        salt[i] = (unsigned char)rng_below(&rng, 256);
    rng_wipe(&rng);
    amount_from_number(job->budget, AMOUNT_DOWN, &s->budget[COST_EPSILON]);
    amount_from_number(job->budget_worst, AMOUNT_DOWN, &s->budget[COST_BOUND]);
    s->limited[COST_EPSILON] = is_given(job->budget);
    s->limited[COST_BOUND] = is_given(job->budget_worst);
    /* PRIVACY: the decimal may be below epsilon by half a unit in the last place of epsilon. That
     * is 2^-53 of epsilon at most, so 2^-30 at most. The loss is below the decimal, too. Without a
     * certificate, 2s is at least 2^-19 below epsilon (exponent_s). With a certificate, the proved
     * loss is below epsilon by more than 2^-51 of epsilon (certificate_leaves_room). */
    amount_from_number(mechanism->epsilon, AMOUNT_UP, &s->each[COST_EPSILON]);
    tem_mechanism_info info;
    mechanism_get_info(mechanism, &info);
    s->each[COST_BOUND] = bound_of(s, &info);
    tem_model_info model;
    model_get_info(mechanism->model, &model);
    char unit[SPENDING_UNIT_BYTES];
    spending_unit(job, &info, unit);
    tem_status status = ledger_open(&s->ledger, job->ledger, job->by, model.hash, unit, salt,
                                    job->dry_run != 0, run, error);
    s->active = status == TEM_OK;
    return status;
}

/* Returns what words cost. It fits: spending_check refuses an epsilon of more than 64 bits, and
 * bounds are far smaller. */
static amount cost(const spending *s, cost_kind kind, uint64_t words) {
    return s->each[kind] * words;
}

/* For a run that charges no account. Charges to nobody in particular still count, so ledger_left
 * returns what they leave of the budget. */
static const account nobody = {.words = 0};

/* Returns the words that this run charges to an account, or would charge if it is a dry run. */
static uint64_t words_of_run(const spending *s, const account *a) {
    return s->job->dry_run ? a->words : a->own_words;
}

/* Returns the account with the least left, of those that this run charges. *people receives how
 * many the run charges, *largest the most words that it charges to one of them. */
static const account *poorest(const spending *s, uint64_t *people, uint64_t *largest) {
    const accounts *all = &s->ledger.people;
    const account *found = &nobody;
    amount most = 0;
    *people = *largest = 0;
    for (size_t i = 0; i < all->count; i++) {
        const account *a = &all->items[i];
        const amount spent =
            a->spent[COST_EPSILON] + (s->job->dry_run ? cost(s, COST_EPSILON, a->words) : 0);
        const uint64_t words = words_of_run(s, a);
        if (words == 0)
            continue;
        ++*people;
        *largest = words > *largest ? words : *largest;
        if (spent >= most) {
            found = a;
            most = spent;
        }
    }
    return found;
}

/* What an account had spent before this run; *left receives what is left of its budget after it. */
static double spent_before(const spending *s, const account *a, cost_kind kind, double *left) {
    amount spent = s->ledger.common[kind];
    amount rest = ledger_left(&s->ledger, a, kind, s->budget[kind]);
    const amount due = s->job->dry_run ? cost(s, kind, a->words) : 0;
    if (amount_add(&spent, a->spent[kind]))
        spent -= cost(s, kind, a->own_words);
    rest = rest > due ? rest - due : 0;
    *left = s->limited[kind] ? amount_to_number(rest) : INFINITY;
    return amount_to_number(spent);
}

static void fill_balance(const spending *s, tem_balance *balance) {
    uint64_t people = 0, largest = 0;
    double left = 0, worst_left = 0;
    const account *a = poorest(s, &people, &largest);
    const double before = spent_before(s, a, COST_EPSILON, &left);
    const double worst_before = spent_before(s, a, COST_BOUND, &worst_left);
    *balance = (tem_balance){.spent_before = before,
                             .spent = amount_to_number(cost(s, COST_EPSILON, s->own_words)),
                             .left = left,
                             .worst_before = worst_before,
                             .worst_left = worst_left,
                             .people = s->job->by != NULL ? people : 0,
                             .largest = s->job->by != NULL ? largest : 0,
                             .created = s->ledger.created,
                             .is_mixed = s->ledger.unit_line != 0 || s->ledger.foreign_line != 0};
}

void spending_close(spending *s, tem_balance *balance) {
    if (s->active && balance != NULL)
        fill_balance(s, balance);
    ledger_close(&s->ledger);
    core_buffer_free(&s->due);
    s->active = false;
}

void spending_person(const spending *s, const char *name, size_t bytes,
                     unsigned char person[PERSON_BYTES]) {
    ledger_person(s->ledger.header.salt, name, bytes, person);
}

/* ---- counting ---- */

/* The words of a document that cost. */
static uint64_t words_of(const spending *s, const spending_document *d) {
    return counts_charged(&s->job->text, &d->counts);
}

/* Adds words to be charged to an account. */
static tem_status make_due(spending *s, size_t index, uint64_t words, uint64_t record,
                           tem_error *error) {
    const uint32_t due = (uint32_t)index;
    account *a = &s->ledger.people.items[index];
    if (words > 0 && a->words == 0 && !core_buffer_add(&s->due, &due, sizeof due))
        return core_fail_memory(error);
    a->words += words;
    if (a->first_record == 0)
        a->first_record = record;
    return TEM_OK;
}

tem_status spending_count(spending *s, const spending_document *d, uint64_t record,
                          tem_error *error) {
    if (!s->active)
        return TEM_OK;
    if (words_of(s, d) > 0) {
        const size_t index = accounts_find(&s->ledger.people, d->person);
        if (index == SIZE_MAX)
            return core_fail_memory(error);
        TRY(make_due(s, index, words_of(s, d), record, error));
    }
    counts_add(&s->counts, &d->counts);
    return TEM_OK;
}

/* ---- charging ---- */

/* Copies a name for a line of a ledger, which has no escapes: other bytes than letters, digits and
 * a few signs become '?'. The hash beside it tells names apart. */
static const char *plain_name(const char *name, char plain[64]) {
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               " ._-+,:()";
    size_t i = 0;
    for (; name[i] != '\0' && i < 63; i++)
        plain[i] = strchr(kept, name[i]) != NULL ? name[i] : '?';
    plain[i] = '\0';
    return plain;
}

/* Fills in the report of what is due, with the exact numbers that a ledger writes. */
static void fill_charge(const spending *s, report *r) {
    report_fill(r, s->mechanism, s->job, &s->counts);
    run_value *run = r->values;
    run[RUN_WORDS].count = counts_charged(&s->job->text, &s->counts);
    run[RUN_EPSILON].exact = s->each[COST_EPSILON];
    run[RUN_BOUND].exact = s->each[COST_BOUND];
    run[RUN_S].exact = from_steps(r->info.s_steps * AMOUNT_ONE, EXPONENT_S_BITS);
    run[RUN_GAMMA].exact = from_steps(r->info.gamma_steps * AMOUNT_ONE, 16);
    run[RUN_EPSILON_GAMMA].exact = from_steps(r->info.gamma_steps * s->each[COST_EPSILON], 16);
    amount_from_number(r->info.beta, AMOUNT_UP, &run[RUN_BETA].exact);
    if (!run[RUN_LANGUAGE].is_null)
        run[RUN_LANGUAGE].text = plain_name(run[RUN_LANGUAGE].text, r->language);
}

static tem_status charge(spending *s, tem_error *error) {
    report r;
    fill_charge(s, &r);
    const ledger_charge written = {.run = r.values,
                                   .by = &s->ledger.by,
                                   .people = &s->ledger.people,
                                   .charged = (const uint32_t *)(const void *)s->due.data,
                                   .charged_count = s->due.size / sizeof(uint32_t)};
    return ledger_add(&s->ledger, &written, error);
}

/* Charges for what is due, if anything is. If `keep`, the accounts keep the number of words due, so
 * that spending_take can spend these words; otherwise that number becomes 0. */
static tem_status charge_due(spending *s, bool keep, tem_error *error) {
    const bool is_due = s->counts.documents > 0 || s->counts.words > 0;
    tem_status status = is_due ? charge(s, error) : TEM_OK;
    const uint32_t *due = (const uint32_t *)(const void *)s->due.data;
    for (size_t i = 0; i < s->due.size / sizeof *due; i++) {
        account *a = &s->ledger.people.items[due[i]];
        a->own_words += status == TEM_OK ? a->words : 0;
        a->words = keep ? a->words : 0;
    }
    s->own_words += status == TEM_OK ? counts_charged(&s->job->text, &s->counts) : 0;
    s->due.size = 0;
    s->counts = (tem_counts){0};
    return status;
}

/* ---- the budget ---- */

/* With a budget: TEM_ERR_BUDGET if the charges in the ledger cannot be added up, because one is
 * with another model, in another unit, or has no bound. Bounds have no unit, so budget_worst takes
 * charges of any model.
 * PRIVACY: the sum that a budget limits is a bound by composition only within one unit. */
static tem_status check_charges(const spending *s, tem_error *error) {
    const bool needs_unit = s->limited[COST_EPSILON];
    if (needs_unit && s->ledger.foreign_line != 0)
        return core_fail_at(error, TEM_ERR_BUDGET, s->job->ledger, s->ledger.foreign_line, 0,
                            "this charge was with another model: what is lost per unit of its "
                            "distances cannot be added to that of this one; start another ledger "
                            "for this model, or give a budget for the worst case");
    if ((needs_unit || s->limited[COST_BOUND]) && s->ledger.unbounded_line != 0)
        return core_fail_at(error, TEM_ERR_BUDGET, s->job->ledger, s->ledger.unbounded_line, 0,
                            "this charge was for a run that nothing bounds (spent_worst is null), "
                            "so no budget can be kept with this ledger; start another one");
    if ((needs_unit || s->limited[COST_BOUND]) && s->ledger.other_texts_line != 0)
        return core_fail_at(error, TEM_ERR_BUDGET, s->job->ledger, s->ledger.other_texts_line, 0,
                            "this charge and this run differ in how they draw for repeated words: "
                            "their bounds hold between other texts, so the two cannot be added up; "
                            "start another ledger for runs that draw once for a repeated word");
    if (needs_unit && s->ledger.unit_line != 0)
        return core_fail_at(error, TEM_ERR_BUDGET, s->job->ledger, s->ledger.unit_line, 0,
                            "the epsilon of this charge has another unit than %s, so the two "
                            "cannot be added up; start another ledger for this mechanism, or give "
                            "a budget for the worst case",
                            s->ledger.unit);
    return TEM_OK;
}

/* What messages call a budget and a cost of each kind. */
static const char *const budget_names[COST_KINDS] = {"budget", "worst-case budget"};
static const char *const cost_verbs[COST_KINDS] = {"costs", "costs in the worst case"};

static tem_status refuse_run(const spending *s, cost_kind kind, const account *a, size_t refused,
                             tem_error *error) {
    char budget[AMOUNT_TEXT_BYTES], left[AMOUNT_TEXT_BYTES], needed[AMOUNT_TEXT_BYTES];
    amount_write(s->budget[kind], budget);
    amount_write(ledger_left(&s->ledger, a, kind, s->budget[kind]), left);
    amount_write(cost(s, kind, a->words), needed);
    if (s->job->by == NULL)
        return core_fail_at(error, TEM_ERR_BUDGET, s->job->ledger, 0, 0,
                            "the run %s %s, and %s of the %s of %s is left: nothing was released",
                            cost_verbs[kind], needed, left, budget_names[kind], budget);
    return core_fail_at(error, TEM_ERR_BUDGET, s->job->ledger, 0, 0,
                        "the %s of %s does not suffice for %zu of the %zu people who have "
                        "words: the person of record %" PRIu64
                        ", counted from 1, has %s left, and this run %s "
                        "%s: nothing was released",
                        budget_names[kind], budget, refused, s->due.size / sizeof(uint32_t),
                        a->first_record, left, cost_verbs[kind], needed);
}

/* Whether an account has enough left for this many words, as far as costs of a kind are limited. */
static bool can_pay(const spending *s, cost_kind kind, const account *a, uint64_t words) {
    return !s->limited[kind] ||
           cost(s, kind, words) <= ledger_left(&s->ledger, a, kind, s->budget[kind]);
}

/* TEM_ERR_BUDGET if an account has less left than the words due to it cost. */
static tem_status check_budget(const spending *s, cost_kind kind, tem_error *error) {
    const uint32_t *due = (const uint32_t *)(const void *)s->due.data;
    const account *first = NULL;
    size_t refused = 0;
    for (size_t i = 0; s->limited[kind] && i < s->due.size / sizeof *due; i++) {
        const account *a = &s->ledger.people.items[due[i]];
        if (can_pay(s, kind, a, a->words))
            continue;
        refused++;
        if (first == NULL || a->first_record < first->first_record)
            first = a;
    }
    return refused == 0 ? TEM_OK : refuse_run(s, kind, first, refused, error);
}

tem_status spending_settle(spending *s, tem_error *error) {
    if (!s->active)
        return TEM_OK;
    TRY(ledger_lock(&s->ledger, error));
    tem_status status = check_charges(s, error);
    for (cost_kind kind = 0; status == TEM_OK && kind < COST_KINDS; kind++)
        status = check_budget(s, kind, error);
    if (status == TEM_OK && !s->job->dry_run)
        status = charge_due(s, true, error);
    ledger_unlock(&s->ledger);
    s->prepaid = status == TEM_OK;
    return status;
}

tem_status spending_begin(spending *s, tem_error *error) {
    if (!s->active || s->prepaid)
        return TEM_OK;
    tem_status status = ledger_lock(&s->ledger, error);
    if (status == TEM_OK)
        status = check_charges(s, error);
    if (status != TEM_OK)
        ledger_unlock(&s->ledger);
    return status;
}

static tem_status refuse_document(const spending *s, cost_kind kind, const account *a,
                                  const spending_document *d, tem_error *error) {
    char budget[AMOUNT_TEXT_BYTES], left[AMOUNT_TEXT_BYTES], needed[AMOUNT_TEXT_BYTES];
    amount_write(s->budget[kind], budget);
    amount_write(ledger_left(&s->ledger, a, kind, s->budget[kind]) - cost(s, kind, a->words), left);
    amount_write(cost(s, kind, words_of(s, d)), needed);
    return core_fail(error, TEM_ERR_BUDGET,
                     "stopped before this document: it %s %s, and %s of the %s of %s is left%s",
                     cost_verbs[kind], needed, left, budget_names[kind], budget,
                     s->job->by != NULL ? " for its person" : "");
}

static tem_status take_prepaid(account *a, uint64_t words, tem_error *error) {
    if (words > a->words)
        return core_fail(error, TEM_ERR_FILE,
                         "the input has changed since its words were counted and charged");
    a->words -= words;
    return TEM_OK;
}

tem_status spending_take(spending *s, const spending_document *d, uint64_t record,
                         tem_error *error) {
    if (!s->active)
        return TEM_OK;
    const uint64_t words = words_of(s, d);
    if (words > 0) {
        const size_t index = accounts_find(&s->ledger.people, d->person);
        if (index == SIZE_MAX)
            return core_fail_memory(error);
        account *a = &s->ledger.people.items[index];
        if (s->prepaid)
            return take_prepaid(a, words, error);
        for (cost_kind kind = 0; kind < COST_KINDS; kind++)
            if (!can_pay(s, kind, a, a->words + words))
                return refuse_document(s, kind, a, d, error);
        TRY(make_due(s, index, words, record, error));
    }
    if (!s->prepaid)
        counts_add(&s->counts, &d->counts);
    return TEM_OK;
}

tem_status spending_end(spending *s, tem_error *error) {
    if (!s->active || s->prepaid)
        return TEM_OK;
    const tem_status status = charge_due(s, false, error);
    ledger_unlock(&s->ledger);
    return status;
}
