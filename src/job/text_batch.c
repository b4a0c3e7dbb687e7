/* text_batch.c - privatizes a batch of texts in memory. */
#include "job/text_batch.h"

#include "core/memory.h"
#include "core/status.h"
#include "job/charge.h"
#include "job/workers.h"

enum {
    GROUP_BYTES = 64 << 10,      /* a group with this much effort gets no more texts */
    TEXT_EFFORT = 16,            /* bytes of effort for each text, besides its own bytes */
    BYTES_PER_THREAD = 32 << 10, /* with less effort, a thread costs more than it saves */
    GROUPS_PER_THREAD = 4        /* so that all threads end at about the same time */
};

/* Where the private form of a text is. */
typedef struct text_place {
    size_t group, start, bytes;
    bool missing; /* there was no text, so there is no private form */
} text_place;

/* Consecutive texts that one thread replaces: from `first` up to, not including, `end`. */
typedef struct text_group {
    size_t first, end;
    core_buffer out; /* their private forms, each followed by NUL */
    tem_status status;
    tem_error error;
} text_group;

struct tem_texts {
    size_t count, group_count;
    text_place *places;
    text_group *groups;
};

typedef struct text_batch {
    const tem_job *job;
    const tem_text_input *texts;
    tem_texts *result;
    tem_document *documents; /* for the charge: the counts and the person of each text */
    workers workers;
} text_batch;

const char *text_batch_at(const tem_texts *texts, size_t i, size_t *bytes) {
    if (i >= texts->count || texts->places[i].missing)
        return NULL;
    const text_place *place = &texts->places[i];
    if (bytes != NULL)
        *bytes = place->bytes;
    return texts->groups[place->group].out.data + place->start;
}

void text_batch_free(tem_texts *texts) {
    if (texts == NULL)
        return;
    for (size_t i = 0; i < texts->group_count; i++)
        core_buffer_free(&texts->groups[i].out);
    core_free(texts->groups);
    core_free(texts->places);
    core_free(texts);
}

/* ---- one group, one thread ---- */

/* Replaces text i.
 * PRIVACY: tem treats a missing text as a text without words. Otherwise the output would show which
 * texts are missing. It shows that only if the user asks for it (TEM_MISSING_KEEP). */
static tem_status replace_one(text_batch *b, worker *w, text_group *g, size_t i) {
    const tem_text_input *given = &b->texts[i];
    text_place *place = &b->result->places[i];
    *place = (text_place){.group = (size_t)(g - b->result->groups), .start = g->out.size};
    place->missing = given->text == NULL && b->job->missing == TEM_MISSING_KEEP;
    if (place->missing)
        return TEM_OK;
    const tem_status status =
        replacer_run(&w->replacer, &w->rng, given->text == NULL ? "" : given->text, given->bytes,
                     &g->out, &b->documents[i].counts, &g->error);
    place->bytes = g->out.size - place->start;
    if (status == TEM_OK && !core_buffer_add(&g->out, "", 1))
        return core_fail_memory(&g->error);
    return status;
}

/* A core_task: replaces the texts of a group. If one text fails, all threads stop, since no text
 * would be handed out. */
static void replace_group(void *context, uint64_t item, unsigned thread) {
    text_batch *b = context;
    worker *w = &b->workers.items[thread];
    text_group *g = &b->result->groups[item];
    for (size_t i = g->first; i < g->end && g->status == TEM_OK; i++) {
        g->status = worker_begin(w, i, &g->error);
        if (g->status == TEM_OK)
            g->status = replace_one(b, w, g, i);
        if (g->status != TEM_OK) {
            g->error.line = i + 1;
            atomic_store_explicit(&b->workers.stop, true, memory_order_relaxed);
            break;
        }
        atomic_fetch_add_explicit(&b->workers.done, 1, memory_order_relaxed);
    }
    worker_end(w);
}

/* ---- all groups ---- */

static size_t effort_of(const tem_text_input *text) {
    return text->bytes + TEXT_EFFORT;
}

static size_t count_effort(const text_batch *b) {
    size_t sum = 0;
    for (size_t i = 0; i < b->result->count; i++)
        sum += effort_of(&b->texts[i]);
    return sum;
}

static unsigned choose_threads(const tem_run *run, size_t effort) {
    const unsigned threads = core_thread_count(run);
    const size_t useful = effort / BYTES_PER_THREAD + 1;
    const bool asked_for = run != NULL && run->threads > 0;
    return asked_for || threads < useful ? threads : (unsigned)useful;
}

/* Cuts the texts into groups. A group ends as soon as its effort reaches `target`. Returns the
 * number of groups. groups NULL: only counts them. */
static size_t make_groups(const text_batch *b, size_t target, text_group *groups) {
    size_t count = 0, effort = 0;
    for (size_t i = 0; i < b->result->count; i++) {
        if (i == 0 || effort >= target) {
            count++;
            effort = 0;
            if (groups != NULL)
                groups[count - 1].first = i;
        }
        effort += effort_of(&b->texts[i]);
        if (groups != NULL)
            groups[count - 1].end = i + 1;
    }
    return count;
}

static tem_status make_room(text_batch *b, size_t count, tem_error *error) {
    b->result = core_alloc_zero(1, sizeof *b->result);
    b->documents = core_alloc_zero(count + 1, sizeof *b->documents);
    if (b->result == NULL || b->documents == NULL)
        return core_fail_memory(error);
    b->result->places = core_alloc_zero(count + 1, sizeof *b->result->places);
    if (b->result->places == NULL)
        return core_fail_memory(error);
    b->result->count = count;
    for (size_t i = 0; i < count; i++) {
        b->documents[i].person = b->texts[i].person;
        b->documents[i].person_bytes = b->texts[i].person_bytes;
    }
    return TEM_OK;
}

static tem_status make_workers(text_batch *b, const tem_mechanism *mechanism, const tem_run *run,
                               tem_error *error) {
    const size_t effort = count_effort(b);
    const unsigned threads = choose_threads(run, effort);
    const size_t share = effort / (GROUPS_PER_THREAD * threads) + 1;
    const size_t target = share < GROUP_BYTES ? share : GROUP_BYTES;
    const size_t groups = make_groups(b, target, NULL);
    b->result->groups = core_alloc_zero(groups + 1, sizeof *b->result->groups);
    if (b->result->groups == NULL)
        return core_fail_memory(error);
    b->result->group_count = make_groups(b, target, b->result->groups);
    const unsigned useful = groups < threads ? (unsigned)groups : threads;
    return workers_init(&b->workers, mechanism, b->job, useful == 0 ? 1 : useful, run, error);
}

/* Returns why no text can be handed out: the failure of a text, because of which the others were
 * stopped; or TEM_ERR_CANCELLED if the callback stopped them all. */
static tem_status find_failure(const text_batch *b, tem_error *error) {
    const tem_texts *result = b->result;
    for (size_t i = 0; i < result->group_count; i++) {
        const text_group *g = &result->groups[i];
        if (g->status == TEM_OK || g->status == TEM_ERR_CANCELLED)
            continue;
        if (error != NULL)
            *error = g->error;
        return g->status;
    }
    return core_fail(error, TEM_ERR_CANCELLED, "stopped while %s", b->workers.stage);
}

/* Replaces all texts, or fails. */
static tem_status replace_all(text_batch *b, tem_error *error) {
    const tem_run watched = workers_watch(&b->workers);
    workers_set_counting(&b->workers, b->job->dry_run);
    b->workers.total = b->result->count;
    TRY(core_parallel(&watched, b->workers.stage, b->result->group_count, replace_group, b, error));
    return atomic_load(&b->workers.stop) ? find_failure(b, error) : TEM_OK;
}

/* ---- the call ---- */

/* Refuses options that do not apply to a batch. Ignoring them would be wrong: the caller would
 * believe that they have an effect. */
static tem_status check_job(const tem_job *job, const tem_text_input *texts, size_t count,
                            tem_error *error) {
    if (job->format != 0 || job->field != NULL || job->more_field_count > 0 ||
        job->dropped_count > 0 || job->dropped_if_present > 0 || job->delimiter != 0 ||
        job->packing != 0 || job->input_count > 0 || job->inputs != NULL || job->output != NULL ||
        job->overwrite != TEM_KEEP_EXISTING)
        return core_fail(error, TEM_ERR_ARGUMENT,
                         "texts in memory have no format, fields, inputs or output");
    for (size_t i = 0; i < count; i++)
        if (texts[i].text == NULL && texts[i].bytes > 0)
            return core_fail_at(error, TEM_ERR_ARGUMENT, "", i + 1, 0,
                                "this text is missing, and has a length");
    return TEM_OK;
}

/* PRIVACY: nothing is handed out unless the charge for all of it is on the disk. */
static tem_status replace_and_charge(text_batch *b, const tem_mechanism *mechanism,
                                     const tem_run *run, tem_balance *balance, tem_error *error) {
    spending s = {.ledger = {.descriptor = -1}};
    const size_t count = b->result->count;
    tem_status status = charge_check(b->job, b->documents, count, error);
    if (status == TEM_OK)
        status = make_workers(b, mechanism, run, error);
    if (status == TEM_OK)
        status = spending_open(&s, mechanism, b->job, run, error);
    if (status == TEM_OK)
        status = replace_all(b, error);
    if (status == TEM_OK)
        status = charge_settle(&s, b->documents, count, error);
    spending_close(&s, balance);
    workers_free(&b->workers);
    return status;
}

static tem_counts sum_of(const text_batch *b) {
    tem_counts sum = {0};
    for (size_t i = 0; i < b->result->count; i++)
        counts_add(&sum, &b->documents[i].counts);
    return sum;
}

tem_status text_batch_run(const tem_mechanism *mechanism, const tem_job *job,
                          const tem_text_input *texts, size_t count, const tem_run *run,
                          tem_texts **out, tem_counts *counts, tem_balance *balance,
                          tem_error *error) {
    text_batch b = {.job = job, .texts = texts};
    tem_status status = check_job(job, texts, count, error);
    if (status == TEM_OK)
        status = spending_check(mechanism, job, error);
    if (status == TEM_OK)
        status = make_room(&b, count, error);
    if (status == TEM_OK)
        status = replace_and_charge(&b, mechanism, run, balance, error);
    if (counts != NULL && status == TEM_OK)
        *counts = sum_of(&b);
    core_free(b.documents);
    if (status == TEM_OK && !job->dry_run) {
        *out = b.result;
        return TEM_OK;
    }
    text_batch_free(b.result);
    return status;
}
