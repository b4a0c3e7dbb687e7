/* run_report.c - the report of the run that released a text. */
#include "run_report.h"

#include "talk.h"
#include "tem_language.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static int refuse(const char *path, const char *what) {
    fprintf(stderr, "tem: %s: %s\n", path, what);
    return EXIT_FAILED;
}

/* Prints no value of the report: whoever wrote the file could make a terminal obey it. */
static int refuse_field(const char *path, const char *key, const char *asked) {
    fprintf(stderr,
            "tem: %s: the text was released with another %s; this run has %s\n"
            "Give the options of the run that released the text.\n",
            path, key, asked);
    return EXIT_FAILED;
}

/* `asked` "": the report must have null. */
static int compare_text(const char *path, const json_t *report, const char *key,
                        const char *asked) {
    const char *released = json_string_value(json_object_get(report, key));
    released = released != NULL ? released : "";
    if (strcmp(released, asked) == 0)
        return EXIT_DONE;
    return refuse_field(path, key, asked[0] != '\0' ? asked : "none");
}

/* A report has 17 digits, so equal numbers are equal in every bit. */
static int compare_number(const char *path, const json_t *report, const char *key, double asked) {
    const json_t *released = json_object_get(report, key);
    const double number = json_number_value(released);
    if (json_is_number(released) && number <= asked && number >= asked)
        return EXIT_DONE;
    if (json_is_null(released) && !(asked > 0)) /* a mechanism without s and gamma */
        return EXIT_DONE;
    return refuse_field(path, key, talk_number(asked));
}

static int compare(const char *path, const json_t *report, const tem_model *model,
                   const tem_mechanism *mechanism) {
    tem_model_info of_model;
    tem_mechanism_info info;
    tem_language_info language;
    tem_model_get_info(model, &of_model);
    tem_language_get_info(tem_mechanism_language(mechanism), &language);
    tem_mechanism_get_info(mechanism, &info);
    int status = compare_text(path, report, "model", of_model.hash);
    if (status == EXIT_DONE)
        status = compare_text(path, report, "mechanism", info.properties->name);
    if (status == EXIT_DONE)
        status = compare_number(path, report, "epsilon", info.epsilon);
    if (status == EXIT_DONE)
        status = compare_text(path, report, "certificate", info.certificate);
    if (status == EXIT_DONE)
        status = compare_text(path, report, "numbers", info.numbers);
    if (status == EXIT_DONE)
        status = compare_text(path, report, "remap", info.remap);
    if (status == EXIT_DONE)
        status = compare_text(path, report, "language_model_hash", language.hash);
    if (status == EXIT_DONE)
        status = compare_number(path, report, "s", info.s);
    if (status == EXIT_DONE)
        status = compare_number(path, report, "gamma", info.gamma);
    return status;
}

static bool says(const json_t *report, const char *key, const char *value) {
    const char *text = json_string_value(json_object_get(report, key));
    return text != NULL && strcmp(text, value) == 0;
}

int run_report_read(const char *path, const tem_model *model, const tem_mechanism *mechanism,
                    run_report *out) {
    json_error_t fault;
    json_t *report = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);
    if (report == NULL)
        return json_error_code(&fault) == json_error_cannot_open_file
                   ? refuse(path, strerror(errno))
                   : refuse(path, "not a report of 'tem privatize --report': not valid JSON");
    int status = EXIT_DONE;
    if (!says(report, "report", TEM_REPORT_FORMAT))
        status = refuse(path, "not a report of 'tem privatize --report'");
    else if (json_is_true(json_object_get(report, "dry_run")))
        status = refuse(path, "the report is of a dry run, which released no text");
    else if (says(report, "order", "counts"))
        status =
            refuse(path, "the run released counts, not words; --shuffle releases words without "
                         "their order");
    else if (says(report, "repeat", "once"))
        status = refuse(path, "the run gave repeated words the output that they had (--repeat "
                              "once); this command takes each word as drawn for itself, and its "
                              "numbers would be wrong");
    else
        status = compare(path, report, model, mechanism);
    if (status == EXIT_DONE)
        *out = (run_report){.draws_unknown = !says(report, "oov", "drop") &&
                                             !says(report, "oov", "mask") &&
                                             !says(report, "oov", "keep-unsafe"),
                            .keeps_unknown = says(report, "oov", "keep-unsafe"),
                            .keeps_punctuation = says(report, "punctuation", "keep"),
                            .is_shuffled = says(report, "order", "shuffled")};
    json_decref(report);
    return status;
}
