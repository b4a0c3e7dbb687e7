/* charge.c - charges a ledger for texts in memory. */
#include "job/charge.h"

#include "core/status.h"
#include "job/replacer.h"

/* No sum goes above this, so no sum wraps around. */
#define COUNT_MAX (UINT64_MAX / 2)

static bool add(uint64_t *sum, uint64_t more) {
    if (more > COUNT_MAX - *sum)
        return false;
    *sum += more;
    return true;
}

tem_status charge_check(const tem_job *job, const tem_document *documents, size_t count,
                        tem_error *error) {
    tem_counts sum = {0};
    for (size_t i = 0; i < count; i++) {
        const bool named = documents[i].person != NULL && documents[i].person_bytes > 0;
        if (named != (job->by != NULL))
            return core_fail_at(error, named ? TEM_ERR_ARGUMENT : TEM_ERR_FORMAT, "", i + 1, 0,
                                named ? "a person is named, and no field that names people"
                                      : "this document names nobody: whose is it?");
        const tem_counts *c = &documents[i].counts;
        if (!add(&sum.documents, c->documents) || !add(&sum.words, c->words) ||
            !add(&sum.unknown, c->unknown) || !add(&sum.punctuation, c->punctuation))
            return core_fail(error, TEM_ERR_RANGE, "more words than a ledger can hold");
        /* PRIVACY: counts that nobody has filled in must not make a charge of 0. */
        const bool once = job->text.repeat == TEM_REPEAT_ONCE;
        if (once && (c->charged > c->words || (c->charged == 0) != (c->words == 0)))
            return core_fail_at(error, TEM_ERR_ARGUMENT, "", i + 1, 0,
                                "the counts do not say how many words were drawn for once");
    }
    return TEM_OK;
}

tem_status charge_settle(spending *s, const tem_document *documents, size_t count,
                         tem_error *error) {
    for (size_t i = 0; i < count; i++) {
        spending_document d = {.counts = documents[i].counts};
        if (s->job->by != NULL)
            spending_person(s, documents[i].person, documents[i].person_bytes, d.person);
        TRY(spending_count(s, &d, i + 1, error));
    }
    return spending_settle(s, error);
}

/* Refuses the policies that privatizing a text would refuse. */
static tem_status check_policies(const tem_mechanism *mechanism, const tem_job *job,
                                 tem_error *error) {
    replacer r;
    const tem_status status = replacer_init(&r, mechanism, &job->text, error);
    replacer_free(&r);
    return status;
}

tem_status charge_run(const tem_mechanism *mechanism, const tem_job *job,
                      const tem_document *documents, size_t count, const tem_run *run,
                      tem_balance *balance, tem_error *error) {
    spending s = {.ledger = {.descriptor = -1}};
    tem_status status = check_policies(mechanism, job, error);
    if (status == TEM_OK)
        status = spending_check(mechanism, job, error);
    if (status == TEM_OK)
        status = charge_check(job, documents, count, error);
    if (status == TEM_OK)
        status = spending_open(&s, mechanism, job, run, error);
    if (status == TEM_OK)
        status = charge_settle(&s, documents, count, error);
    spending_close(&s, balance);
    return status;
}
