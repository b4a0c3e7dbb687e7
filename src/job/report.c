/* report.c - the report of a run: what it did, with which settings, and what it cost. */
#include "job/report.h"

#include "certificate/certificate.h"
#include "core/status.h"
#include "job/replacer.h"
#include "job/spending.h"
#include "records/fields.h"
#include "records/json_span.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistr.h>

/* ---- the values ---- */

static void set_name(report *r, run_field field, const char *text) {
    r->values[field] = (run_value){.text = text, .is_null = text == NULL};
}

static void set_flag(report *r, run_field field, bool flag) {
    r->values[field] = (run_value){.flag = flag};
}

static void set_count(report *r, run_field field, uint64_t count) {
    r->values[field] = (run_value){.count = count};
}

/* Sets a number; null if it is not known or not finite, since JSON has no infinity. */
static void set_number(report *r, run_field field, double number, bool known) {
    r->values[field] = (run_value){.number = number, .is_null = !known || !isfinite(number)};
}

/* Counts the pieces that a policy releases as they are. */
static uint64_t released_unseen(const tem_job *job, const tem_counts *counts) {
    return (job->text.oov == TEM_OOV_KEEP_UNSAFE ? counts->unknown : 0) +
           (job->text.punctuation == TEM_PUNCTUATION_KEEP ? counts->punctuation : 0);
}

static void set_policies(report *r, const tem_mechanism *mechanism, const tem_job *job) {
    const tem_text_options *text = &job->text;
    set_name(r, RUN_OOV, policy_oov_name(text->oov != 0 ? text->oov : TEM_OOV_UNIFORM));
    set_name(
        r, RUN_PUNCTUATION,
        policy_punctuation_name(text->punctuation != 0 ? text->punctuation : TEM_PUNCTUATION_DROP));
    set_name(r, RUN_MISSING,
             policy_missing_name(job->missing != 0 ? job->missing : TEM_MISSING_EMPTY));
    set_flag(r, RUN_KEEP_LINES, text->keep_lines != 0);
    set_name(r, RUN_ORDER, policy_order_name(text->order != 0 ? text->order : TEM_ORDER_KEPT));
    set_name(r, RUN_STYLE, policy_style_name(policy_style_of(mechanism, text->style)));
    set_name(r, RUN_REPEAT, policy_repeat_name(text->repeat != 0 ? text->repeat : TEM_REPEAT_EACH));
    set_flag(r, RUN_DRY_RUN, job->dry_run != 0);
    const record_format *format = format_find(job->format);
    set_name(r, RUN_FORMAT, format != NULL ? format->name : NULL);
    r->values[RUN_COLUMNS].is_null = true;
}

static void set_law(report *r) {
    const tem_mechanism_info *info = &r->info;
    const bool has_gamma = info->gamma_steps > 0;
    set_name(r, RUN_MECHANISM, info->properties->name);
    set_number(r, RUN_EPSILON, info->epsilon, true);
    set_number(r, RUN_S, info->s, info->s_steps > 0);
    set_number(r, RUN_GAMMA, info->gamma, has_gamma);
    set_number(r, RUN_BETA, info->beta, info->beta > 0);
    set_number(r, RUN_EPSILON_GAMMA, info->epsilon_gamma, has_gamma);
    set_name(r, RUN_UNIT, r->unit);
    set_number(r, RUN_BOUND, info->bound, true);
    set_name(r, RUN_WEIGHTS, certificate_weights_name(info->weights));
    set_name(r, RUN_CERTIFICATE, info->certificate[0] != '\0' ? info->certificate : NULL);
}

/* The language model and the words that are never released; null where there are none. */
static void set_context(report *r, const tem_mechanism *m) {
    const tem_language *language = m->context.language;
    if (language != NULL) {
        set_name(r, RUN_LANGUAGE, language->name);
        set_name(r, RUN_LANGUAGE_HASH, language->hash);
    }
    if (m->has_never)
        set_count(r, RUN_NEVER, m->never_count);
}

static void set_time(report *r) {
    struct tm parts;
    const time_t seconds = time(NULL);
    strftime(r->time, sizeof r->time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    set_name(r, RUN_TIME, r->time);
}

/* Names the signals of an adapted model; null for any other model. */
static void set_keeps(report *r, const model_signals *signals) {
    for (uint32_t i = 0; i < signals->count; i++) {
        strcat(r->keeps, i > 0 ? ", " : "");
        strcat(r->keeps, signals->list[i].name);
    }
    set_name(r, RUN_KEEPS, signals->count > 0 ? r->keeps : NULL);
}

void report_fill(report *r, const tem_mechanism *mechanism, const tem_job *job,
                 const tem_counts *counts) {
    const char *why_not_private = spending_why_not_private(mechanism, job);
    const bool is_private = why_not_private == NULL;
    const uint64_t charged = counts_charged(&job->text, counts);
    const double words = (double)charged;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < RUN_FIELDS; i++)
        r->values[i].is_null = true;
    mechanism_get_info(mechanism, &r->info);
    model_get_info(mechanism->model, &r->model);
    set_name(r, RUN_REPORT, TEM_REPORT_FORMAT);
    set_time(r);
    spending_unit(job, &r->info, r->unit);
    set_law(r);
    set_policies(r, mechanism, job);
    /* PRIVACY: the report says private, and has a bound, exactly where spending_why_not_private
     * gives no reason. */
    set_flag(r, RUN_PRIVATE, is_private);
    set_name(r, RUN_WHY_NOT_PRIVATE, why_not_private);
    set_name(r, RUN_CONDITION, spending_condition(job));
    set_count(r, RUN_WORDS_CHARGED, charged);
    set_count(r, RUN_RELEASED_UNSEEN, released_unseen(job, counts));
    set_count(r, RUN_WORDS, counts->words);
    set_count(r, RUN_UNKNOWN, counts->unknown);
    set_count(r, RUN_DOCUMENTS, counts->documents);
    set_number(r, RUN_SPENT, words * r->info.epsilon, true);
    set_number(r, RUN_SPENT_WORST, words * r->info.bound, is_private);
    set_name(r, RUN_MODEL, r->model.hash);
    set_name(r, RUN_NUMBERS, r->info.numbers[0] != '\0' ? r->info.numbers : NULL);
    set_name(r, RUN_REMAP, r->info.remap[0] != '\0' ? r->info.remap : NULL);
    set_context(r, mechanism);
    set_keeps(r, &mechanism->model->signals);
}

void report_fill_ledger(report *r, const tem_job *job, const tem_balance *balance) {
    set_name(r, RUN_LEDGER, job->ledger);
    set_name(r, RUN_BY, job->by);
    if (job->by != NULL)
        set_count(r, RUN_PEOPLE, balance->people);
    set_number(r, RUN_SPENT_BEFORE, balance->spent_before, true);
    set_number(r, RUN_BUDGET, job->budget, job->budget > 0);
    set_number(r, RUN_LEFT, balance->left, true);
    set_number(r, RUN_WORST_BEFORE, balance->worst_before, true);
    set_number(r, RUN_BUDGET_WORST, job->budget_worst, job->budget_worst > 0);
    set_number(r, RUN_LEFT_WORST, balance->worst_left, true);
}

/* ---- as JSON ---- */

typedef struct json_writer {
    core_buffer *out;
    int depth;
    bool is_first; /* no key of this object is written yet */
    tem_status status;
    tem_error *error;
} json_writer;

static void put(json_writer *w, const char *text) {
    if (w->status == TEM_OK && !core_buffer_add(w->out, text, strlen(text)))
        w->status = core_fail_memory(w->error);
}

static void put_line(json_writer *w) {
    put(w, "\n");
    for (int i = 0; i < w->depth; i++)
        put(w, " ");
}

static void put_key(json_writer *w, const char *key) {
    put(w, w->is_first ? "" : ",");
    put_line(w);
    put(w, "\"");
    put(w, key);
    put(w, "\": ");
    w->is_first = false;
}

static void begin_object(json_writer *w) {
    put(w, "{");
    w->depth++;
    w->is_first = true;
}

static void end_object(json_writer *w) {
    w->depth--;
    put_line(w);
    put(w, "}");
    w->is_first = false;
}

/* Writes a text as a JSON string. JSON must be UTF-8, but the text need not be: it may be the name
 * of a file. So U+FFFD replaces each byte that does not belong to a character. */
static void put_bytes(json_writer *w, const char *text, size_t left) {
    core_buffer valid = {0};
    const uint8_t *at = (const uint8_t *)text;
    while (left > 0 && w->status == TEM_OK) {
        ucs4_t character;
        const int bytes = u8_mbtoucr(&character, at, left);
        const size_t length = bytes > 0 ? (size_t)bytes : 1;
        if (!core_buffer_add(&valid, bytes > 0 ? (const char *)at : "\xef\xbf\xbd",
                             bytes > 0 ? length : 3))
            w->status = core_fail_memory(w->error);
        at += length;
        left -= length;
    }
    if (w->status == TEM_OK)
        w->status = json_encode(valid.data, valid.size, w->out, w->error);
    core_buffer_free(&valid);
}

static void put_text(json_writer *w, const char *text) {
    put_bytes(w, text, strlen(text));
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void report_number(const char *printed, char plain[REPORT_NUMBER_BYTES]) {
    size_t size = 0;
    bool is_real = false;
    const char *c = printed;
    for (; *c != '\0' && *c != 'e'; c++) {
        if (is_digit(*c) || *c == '-')
            plain[size++] = *c;
        else if (!is_real) { /* the locale's decimal point, one or more bytes */
            plain[size++] = '.';
            is_real = true;
        }
    }
    if (*c == 'e') { /* "e+05" becomes "e5" */
        plain[size++] = *c++;
        if (*c == '-')
            plain[size++] = '-';
        c += strspn(c, "+-0");
        for (; *c != '\0'; c++)
            plain[size++] = *c;
    } else if (!is_real) {
        plain[size++] = '.';
        plain[size++] = '0';
    }
    plain[size] = '\0';
}

/* Writes 17 digits, from which every reader gets the same double back. */
static void put_number(json_writer *w, double number) {
    char printed[REPORT_NUMBER_BYTES - 2], plain[REPORT_NUMBER_BYTES];
    snprintf(printed, sizeof printed, "%.17g", number);
    report_number(printed, plain);
    put(w, plain);
}

static void put_effect(json_writer *w, const tem_effect *effect) {
    put_key(w, "self");
    put_number(w, effect->self);
    put_key(w, "support");
    put_number(w, effect->support);
    put_key(w, "distance");
    put_number(w, effect->distance);
    put_key(w, "bayes");
    put_number(w, effect->bayes);
}

/* Writes the effects of the mechanism, and those of the paper's mechanism at the same epsilon, as
 * the certificate states them. Writes null without a certificate, or if it states no effects. */
static void put_effects(json_writer *w, const tem_mechanism *mechanism) {
    const tem_certificate_info certificate = mechanism->certificate;
    if (certificate.hash[0] == '\0' || certificate.prior[0] == '\0') {
        put(w, "null");
        return;
    }
    begin_object(w);
    put_key(w, "prior");
    put_text(w, certificate.prior);
    put_effect(w, &certificate.effect);
    put_key(w, "paper");
    begin_object(w);
    put_effect(w, &certificate.plain);
    end_object(w);
    end_object(w);
}

/* Begins the next value of an array. */
static void put_item(json_writer *w, bool *is_first) {
    put(w, *is_first ? "" : ", ");
    *is_first = false;
}

static void put_names(json_writer *w, const tem_fields *fields, tem_field_use use) {
    bool is_first = true;
    put_key(w, fields_use_name(use));
    put(w, "[");
    for (size_t i = 0; i < fields_count(fields); i++)
        if (fields_at(fields, i)->use == use) {
            put_item(w, &is_first);
            put_bytes(w, fields_name(fields, i), fields_at(fields, i)->bytes);
        }
    put(w, "]");
}

/* Writes the unchanged fields that look personal. */
static void put_personal(json_writer *w, const tem_fields *fields) {
    bool is_first = true;
    put_key(w, "personal");
    put(w, "[");
    for (size_t i = 0; i < fields_count(fields); i++) {
        const tem_field field = fields_get(fields, i);
        if (field.looks_like == NULL)
            continue;
        put_item(w, &is_first);
        put(w, "{\"field\": ");
        put_bytes(w, field.name, field.name_bytes);
        put(w, ", \"looks_like\": ");
        put_text(w, field.looks_like);
        put(w, field.looks_by_content ? ", \"by\": \"content\"}" : ", \"by\": \"name\"}");
    }
    put(w, "]");
}

/* Writes the fields of the records, and what the run did with them; null if there are none. */
static void put_columns(json_writer *w, const tem_fields *fields) {
    if (fields == NULL || fields_count(fields) == 0) {
        put(w, "null");
        return;
    }
    begin_object(w);
    put_names(w, fields, TEM_FIELD_PRIVATE);
    put_names(w, fields, TEM_FIELD_DROPPED);
    put_names(w, fields, TEM_FIELD_UNCHANGED);
    put_key(w, "more");
    put(w, fields->more ? "true" : "false");
    put_personal(w, fields);
    end_object(w);
}

static void put_value(json_writer *w, run_kind kind, const run_value *v) {
    char digits[24];
    if (v->is_null) {
        put(w, "null");
        return;
    }
    switch (kind) {
    case RUN_NAME:
        put_text(w, v->text);
        return;
    case RUN_FLAG:
        put(w, v->flag ? "true" : "false");
        return;
    case RUN_COUNT:
        snprintf(digits, sizeof digits, "%" PRIu64, v->count);
        put(w, digits);
        return;
    default:
        put_number(w, v->number);
    }
}

tem_status report_write(const report *r, const tem_mechanism *mechanism, const tem_fields *columns,
                        core_buffer *out, tem_error *error) {
    json_writer w = {.out = out, .status = TEM_OK, .error = error};
    const int end = r->values[RUN_LEDGER].is_null ? RUN_LEDGER : RUN_FIELDS;
    begin_object(&w);
    for (int i = 0; i < end; i++) {
        put_key(&w, run_fields[i].key);
        if (i == RUN_EFFECTS)
            put_effects(&w, mechanism);
        else if (i == RUN_COLUMNS)
            put_columns(&w, columns);
        else
            put_value(&w, run_fields[i].kind, &r->values[i]);
    }
    end_object(&w);
    put(&w, "\n");
    return w.status;
}
