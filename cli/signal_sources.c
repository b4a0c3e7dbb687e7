/* signal_sources.c - the options that name public sources of signals. */
#include "signal_sources.h"

#include "format_names.h"
#include "outputs.h"
#include "talk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_labelled(const source_choice *c, size_t i) {
    return strcmp(c->files.items[i].option, "labelled") == 0;
}

static bool has_labelled(const source_choice *c) {
    for (size_t i = 0; i < c->files.count; i++)
        if (is_labelled(c, i))
            return true;
    return false;
}

/* The format of labeled texts: by --format, else by the ending of the name; 0: unknown. */
static tem_format format_of(const source_choice *c, const char *path) {
    tem_format format = 0;
    if (c->format_name == NULL)
        return format_of_path(path);
    return tem_format_parse(c->format_name, &format, NULL) == TEM_OK ? format : 0;
}

/* Checks the options that go with --labelled. */
static int check_fields(const char *command, const source_choice *c) {
    tem_error error;
    tem_format format = 0;
    const char *lonely = c->text != NULL          ? "text"
                         : c->label != NULL       ? "label"
                         : c->rating != NULL      ? "rating"
                         : c->format_name != NULL ? "format"
                                                  : NULL;
    if (!has_labelled(c))
        return lonely == NULL ? EXIT_DONE
                              : talk_usage(command, "--%s needs --labelled FILE", lonely);
    if (c->text == NULL)
        return talk_usage(command, "which field of --labelled has the text? --text FIELD");
    if ((c->label == NULL) == (c->rating == NULL))
        return talk_usage(command,
                          "--labelled needs one of --label FIELD, the class of a text, and "
                          "--rating FIELD, a number");
    if (c->format_name == NULL)
        return EXIT_DONE;
    if (tem_format_parse(c->format_name, &format, &error) != TEM_OK)
        return talk_usage(command, "--format: %s", error.message);
    if (!format_has_fields(format))
        return talk_usage(command, "--format takes %s: plain text has no labels",
                          format_names_with_fields());
    return EXIT_DONE;
}

static int check_format(const char *command, const source_choice *c, size_t i) {
    const char *path = c->files.items[i].value;
    if (!is_labelled(c, i) || format_of(c, path) != 0)
        return EXIT_DONE;
    return talk_usage(command, "%s: what is its format? --format %s", path,
                      format_names_with_fields());
}

static int check_file(const char *path) {
    if (access(path, R_OK) == 0)
        return EXIT_DONE;
    fprintf(stderr, "tem: %s: cannot open: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

int sources_check(const char *command, const source_choice *c) {
    if (c->files.count == 0)
        return talk_usage(command, "which signals are to be kept? Name a public source: --lexicon "
                                   "FILE, or --labelled FILE with --text and --label");
    int status = check_fields(command, c);
    for (size_t i = 0; status == EXIT_DONE && i < c->files.count; i++)
        status = check_format(command, c, i);
    return status;
}

int sources_check_files(const source_choice *c) {
    int status = EXIT_DONE;
    for (size_t i = 0; status == EXIT_DONE && i < c->files.count; i++)
        status = check_file(c->files.items[i].value);
    return status;
}

static tem_status add_file(const source_choice *c, size_t i, tem_adaptation *adaptation,
                           const tem_run *run, tem_error *error) {
    const char *path = c->files.items[i].value;
    tem_signal_source source = {.path = path};
    if (is_labelled(c, i)) {
        source.format = format_of(c, path);
        source.text = c->text;
        source.label = c->rating != NULL ? c->rating : c->label;
        source.is_rating = c->rating != NULL;
    }
    const tem_status status = tem_adaptation_add(adaptation, &source, run, error);
    if (status != TEM_OK && error->file[0] == '\0')
        snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}

tem_status sources_add(const source_choice *c, tem_adaptation *adaptation, const tem_run *run,
                       tem_error *error) {
    tem_status status = TEM_OK;
    for (size_t i = 0; status == TEM_OK && i < c->files.count; i++)
        status = add_file(c, i, adaptation, run, error);
    return status;
}
