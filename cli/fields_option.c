/* fields_option.c - the options that name the fields of records, and the message about fields. */
#include "fields_option.h"

#include "show.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 20, WARNINGS_SHOWN = 10 };

static bool has_name(const option_list *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list->items[i].value, name) == 0)
            return true;
    return false;
}

/* Puts the fields that may be missing behind the others, as a job wants them. */
static int order_dropped(const char *command, fields_option *f, tem_job *job) {
    size_t count = 0;
    for (int optional = 0; optional < 2; optional++)
        for (size_t i = 0; i < f->dropped.count; i++) {
            const char *name = f->dropped.items[i].value;
            if (has_name(&f->dropped, i, name))
                return talk_usage(command, "--drop-field names a field twice");
            if ((strcmp(f->dropped.items[i].option, "drop-field") != 0) != optional)
                continue;
            f->dropped_names[count++] = name;
            job->dropped_if_present += (size_t)optional;
        }
    return EXIT_DONE;
}

int fields_option_set(const char *command, fields_option *f, tem_job *job) {
    for (size_t i = 0; i < f->private.count; i++) {
        const char *name = f->private.items[i].value;
        if (has_name(&f->private, i, name))
            return talk_usage(command, "--field names a field twice");
        if (has_name(&f->dropped, f->dropped.count, name))
            return talk_usage(command,
                              "--field and --drop-field name the same field: choose one of them");
        if (i > 0)
            f->more_names[i - 1] = name;
    }
    const int ordered = order_dropped(command, f, job);
    if (ordered != EXIT_DONE)
        return ordered;
    if (f->private.count == 0)
        return EXIT_DONE;
    job->field = f->private.items[0].value;
    job->more_fields = f->more_names;
    job->more_field_count = f->private.count - 1;
    job->dropped = f->dropped_names;
    job->dropped_count = f->dropped.count;
    return EXIT_DONE;
}

static size_t count_use(const tem_fields *fields, tem_field_use use) {
    tem_field field;
    size_t count = 0;
    for (size_t i = 0; tem_fields_at(fields, i, &field); i++)
        count += field.use == use;
    return count;
}

/* Prints a name as a terminal can show it. */
static void print_name(const tem_field *field) {
    char *name = words_escape(field->name, field->name_bytes);
    fprintf(stderr, "\"%s\"", name != NULL ? name : "?");
    free(name);
}

/* Prints "private: "a", "b"; " and the like; nothing if no field has this use. */
static void print_use(const tem_fields *fields, tem_field_use use, const char *before) {
    const size_t all = count_use(fields, use);
    tem_field field;
    size_t shown = 0;
    if (all == 0)
        return;
    fputs(before, stderr);
    for (size_t i = 0; shown < NAMES_SHOWN && tem_fields_at(fields, i, &field); i++) {
        if (field.use != use)
            continue;
        fputs(shown++ > 0 ? ", " : "", stderr);
        print_name(&field);
    }
    if (shown < all)
        fprintf(stderr, " and %zu more", all - shown);
    if (use == TEM_FIELD_UNCHANGED && tem_fields_have_more(fields))
        fputs(" and others", stderr);
}

/* Prints no value, only what the values look like. */
static void warn(const tem_field *field) {
    fputs("tem: warning: the field ", stderr);
    print_name(field);
    fprintf(stderr,
            " stays as it is, and its %s %s. Make it private with --field, or leave it out "
            "with --drop-field.\n",
            field->looks_by_content ? "values look like" : "name suggests", field->looks_like);
}

void fields_option_tell(const tem_fields *fields, bool dry_run) {
    tem_field field;
    size_t warned = 0, personal = 0;
    if (tem_fields_count(fields) == 0)
        return;
    print_use(fields, TEM_FIELD_PRIVATE, "fields: private ");
    print_use(fields, TEM_FIELD_DROPPED, "; left out ");
    print_use(fields, TEM_FIELD_UNCHANGED, dry_run ? "; unchanged " : "; released unchanged ");
    fputc('\n', stderr);
    for (size_t i = 0; tem_fields_at(fields, i, &field); i++) {
        personal += field.looks_like != NULL;
        if (field.looks_like != NULL && warned++ < WARNINGS_SHOWN)
            warn(&field);
    }
    talk_note(personal <= WARNINGS_SHOWN,
              "tem: warning: %zu more fields look personal; the report lists them.",
              personal - WARNINGS_SHOWN);
}
