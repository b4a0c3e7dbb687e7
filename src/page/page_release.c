/* page_release.c - what was released, and what was not: fields, counts and policies. */
#include "page/page.h"
#include "records/fields.h"

#include <string.h>

static const char *text_of(const page_source *s, run_field field) {
    const run_value *v = &s->run.values[field];
    return v->is_null || v->text == NULL ? "" : v->text;
}

/* ---- policies in words ---- */

static const char *about_unknown(tem_oov oov) {
    switch (oov) {
    case TEM_OOV_DROP:
        return "left out: the output shows how many there were and where";
    case TEM_OOV_MASK:
        return "replaced by a mask: the output shows which words were unknown";
    case TEM_OOV_KEEP_UNSAFE:
        return "released as they are, without any protection";
    default:
        return "drawn from all words of the vocabulary, whatever they were";
    }
}

static const char *about_punctuation(tem_punctuation punctuation) {
    switch (punctuation) {
    case TEM_PUNCTUATION_KEEP:
        return "released as it is, without any protection";
    case TEM_PUNCTUATION_WORD:
        return "replaced like words";
    default:
        return "left out";
    }
}

static const char *about_order(tem_order order) {
    switch (order) {
    case TEM_ORDER_SHUFFLED:
        return "words of a document are released in a random order";
    case TEM_ORDER_COUNTS:
        return "only counts of words are released";
    default:
        return "kept: each drawn word stands where its word stood";
    }
}

/* ---- the rows ---- */

bool page_has_fields(const tem_job *job) {
    return job->field != NULL || job->more_field_count > 0;
}

bool page_has_several_fields(const tem_job *job) {
    return (job->field != NULL) + job->more_field_count > 1;
}

/* Writes the names of all fields that were used so, or "none". */
static void put_names(markup *m, const tem_fields *fields, tem_field_use use) {
    bool any = false;
    for (size_t i = 0; i < fields_count(fields); i++) {
        const tem_field field = fields_get(fields, i);
        if (field.use != use)
            continue;
        SAY(m, ONE_OF(any ? ", " : ""), LIT("<code>"), BYTES(field.name, field.name_bytes),
            LIT("</code>"));
        any = true;
    }
    markup_put(m, any ? "" : "none");
}

static void put_names_row(markup *m, const char *name, const tem_fields *fields,
                          tem_field_use use) {
    html_begin_row(m, name);
    put_names(m, fields, use);
    if (use == TEM_FIELD_UNCHANGED && fields->more)
        markup_put(m, ", and further fields");
    html_end_row(m);
}

/* The unchanged fields whose values or names look personal. */
static void put_personal(markup *m, const tem_fields *fields) {
    for (size_t i = 0; i < fields_count(fields); i++) {
        const tem_field field = fields_get(fields, i);
        if (field.use == TEM_FIELD_UNCHANGED && field.looks_like != NULL)
            ROW(m, "<span class=\"alert\">Look at this field</span>", LIT("<code>"),
                BYTES(field.name, field.name_bytes), LIT("</code> is released unchanged, and "),
                ONE_OF(field.looks_by_content ? "its values look like " : "its name suggests "),
                TEXT(field.looks_like), LIT("."));
    }
}

/* The fields that the job names, where the run has found no list of fields. */
static void put_named_fields(markup *m, const tem_job *job) {
    html_begin_row(m, job->more_field_count > 0 ? "Private fields" : "Private field");
    if (job->field != NULL)
        SAY(m, LIT("<code>"), TEXT(job->field), LIT("</code>"));
    for (size_t i = 0; i < job->more_field_count; i++)
        SAY(m, ONE_OF(i > 0 || job->field != NULL ? ", " : ""), LIT("<code>"),
            TEXT(job->more_fields[i]), LIT("</code>"));
    html_end_row(m);
    for (size_t i = 0; i < job->dropped_count; i++)
        ROW(m, "Left out", LIT("<code>"), TEXT(job->dropped[i]), LIT("</code>"));
    ROW(m, "Other fields", LIT("released unchanged, byte for byte"));
}

static void put_fields(markup *m, const page_source *s) {
    const tem_job *job = s->page->job;
    const tem_fields *fields = s->page->fields;
    if (!page_has_fields(job)) {
        ROW(m, "Private", LIT("the text of every document"));
        return;
    }
    if (fields != NULL && fields_count(fields) > 0) {
        put_names_row(m, "Private fields", fields, TEM_FIELD_PRIVATE);
        put_names_row(m, "Fields left out", fields, TEM_FIELD_DROPPED);
        put_names_row(m, "Fields released unchanged", fields, TEM_FIELD_UNCHANGED);
        put_personal(m, fields);
    } else {
        put_named_fields(m, job);
    }
    if (job->by != NULL)
        ROW(m, "Field that names people", LIT("<code>"), TEXT(job->by), LIT("</code>"));
}

static void put_counts(markup *m, const page_source *s) {
    const tem_counts *c = s->page->counts;
    ROW(m, "Documents", COUNT(c->documents),
        ONE_OF(page_has_several_fields(s->page->job)
                   ? "; each private field of a record is a document of its own"
                   : ""));
    ROW(m, "Words", COUNT(c->words), LIT(", of them "), COUNT(c->unknown),
        LIT(" unknown to the vocabulary"));
    if (s->page->language != NULL)
        ROW(m, "Language of the model", TEXT(s->page->language),
            LIT(". Words of other languages count as unknown."));
    else
        ROW(m, "Language of the model",
            LIT("not known to this report. Words of a language that the model lacks count as "
                "unknown."));
    ROW(m, "Pieces released as they are", COUNT(s->run.values[RUN_RELEASED_UNSEEN].count),
        ONE_OF(s->run.values[RUN_RELEASED_UNSEEN].count > 0
                   ? ". <strong>A policy released them unseen by the mechanism.</strong>"
                   : ": every word went through the mechanism or was left out"));
}

static void put_policies(markup *m, const page_source *s) {
    const tem_text_options *text = &s->page->job->text;
    ROW(m, "Unknown words", ONE_OF(about_unknown(text->oov)));
    ROW(m, "Punctuation", ONE_OF(about_punctuation(text->punctuation)));
    ROW(m, "Order of words", ONE_OF(about_order(text->order)));
    if (text->repeat == TEM_REPEAT_ONCE)
        ROW(m, "Repeated words",
            LIT("a content word that a document says again has the output that it had: the output "
                "shows where content words repeat"));
    if (strcmp(text_of(s, RUN_STYLE), "sentence") == 0)
        ROW(m, "Style", LIT("a capital and a full stop, whatever the text had"));
    if (strcmp(text_of(s, RUN_STYLE), "joined") == 0)
        ROW(m, "Style", LIT("drawn words are joined where English joins them: don\'t, it\'s"));
    if (s->page->job->missing == TEM_MISSING_KEEP)
        ROW(m, "Missing texts", LIT("kept as null: the output shows that there was no text"));
    if (text->keep_lines)
        ROW(m, "Lines within a text", LIT("kept: the output shows how many words each line has"));
    if (text->strip_tags)
        ROW(m, "HTML tags", LIT("left out"));
    if (s->findings->info.remap[0] != '\0')
        ROW(m, "Map of the outputs",
            LIT("each drawn word was replaced by a fixed other word. That costs nothing; the "
                "numbers below are those of the draws before the map."));
    if (text_of(s, RUN_KEEPS)[0] != '\0')
        ROW(m, "Kept on purpose by the model", TEXT(text_of(s, RUN_KEEPS)),
            LIT(". The output tells these properties of words better than others."));
}

void page_put_release(markup *m, const page_source *s) {
    html_begin_section(m, "released", "What was released, and what was not?");
    markup_put(m, "<div class=\"scroll\"><table class=\"settings\">\n<tbody>\n");
    put_fields(m, s);
    put_counts(m, s);
    put_policies(m, s);
    markup_put(m, "</tbody>\n</table></div>\n");
    html_end_section(m);
}
