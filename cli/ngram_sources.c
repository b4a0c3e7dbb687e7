/* ngram_sources.c - what 'tem ngram' reads: public texts, n-grams, and mixtures of them. */
#include "ngram_sources.h"

#include "language_show.h"
#include "outputs.h"
#include "talk.h"
#include "tem_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_BYTES = 64 };

bool ngram_source_is_file(const char *path) {
    static const char *const endings[] = {".arpa", ".arpa.gz", ".temng", ".temlm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (outputs_ends_in(path, endings[i]))
            return true;
    return language_show_is_meant(path);
}

/* Takes SHARE=FILE apart. */
static bool read_share(const char *value, double *share, const char **path) {
    char text[SHARE_BYTES];
    const char *sign = strchr(value, '=');
    const size_t bytes = sign == NULL ? 0 : (size_t)(sign - value);
    if (sign == NULL || bytes >= sizeof text || sign[1] == '\0')
        return false;
    memcpy(text, value, bytes);
    text[bytes] = '\0';
    *path = sign + 1;
    return options_decimal(text, share) && *share > 0;
}

/* The shares of --mix, and what they leave to the texts without one. */
static int check_shares(const ngram_sources *s) {
    double sum = 0, share = 0;
    const char *path = NULL;
    for (size_t i = 0; i < s->mix.count; i++) {
        if (!read_share(s->mix.items[i].value, &share, &path))
            return talk_usage("ngram", "--mix: '%s': expected SHARE=FILE, such as 0.3=reviews.txt",
                              s->mix.items[i].value);
        sum += share;
    }
    if (s->text_count > 0 && sum >= 1)
        return talk_usage("ngram",
                          "the shares of --mix add up to %s and leave nothing to '%s'; below 1 the "
                          "rest is its share",
                          talk_number(sum), s->texts[0]);
    return EXIT_DONE;
}

int ngram_sources_check(const ngram_sources *s) {
    if (s->text_count + s->mix.count == 0)
        return talk_usage("ngram", "which texts? They must be public; '-' is standard input");
    for (size_t i = 0; i < s->text_count; i++)
        if (s->text_count > 1 && ngram_source_is_file(s->texts[i]))
            return talk_usage("ngram", "'%s' has n-grams: mix them by --mix SHARE=%s", s->texts[i],
                              s->texts[i]);
    return check_shares(s);
}

/* Whether "english" is there, where it is meant. Prints why not. */
static bool is_found(const char *named, const char *output) {
    bool is_own = false;
    const char *path = language_show_path(named, &is_own);
    if (path == NULL || path == named || !outputs_are_same(path, output))
        return path != NULL;
    fprintf(stderr, "tem: %s: tem would replace a file that it reads; name another file to write\n",
            output);
    return false;
}

bool ngram_sources_find(const ngram_sources *s, const char *output) {
    double share = 0;
    const char *path = NULL;
    for (size_t i = 0; i < s->text_count; i++)
        if (!is_found(s->texts[i], output))
            return false;
    for (size_t i = 0; i < s->mix.count; i++)
        if (read_share(s->mix.items[i].value, &share, &path) && !is_found(path, output))
            return false;
    return true;
}

static tem_status read_one(const ngram_sources *s, const tem_model *model, const char *const *paths,
                           size_t count, const tem_run *run, tem_ngram **ngram, tem_error *error) {
    bool is_own = false;
    return ngram_source_is_file(paths[0])
               ? tem_ngram_load(model, language_show_path(paths[0], &is_own), run, ngram, error)
               : tem_ngram_train(model, paths, count, (uint32_t)s->order, run, ngram, error);
}

/* Reads all of them: first those without a share, then those with one. */
static tem_status read_parts(const ngram_sources *s, const tem_model *model, const tem_run *run,
                             tem_ngram **parts, double *shares, size_t *count, tem_error *error) {
    tem_status status = TEM_OK;
    double rest = 1;
    const size_t before = s->text_count > 0;
    for (size_t i = 0; i < s->mix.count && status == TEM_OK; i++) {
        const char *path = NULL;
        if (read_share(s->mix.items[i].value, &shares[before + i], &path))
            status = read_one(s, model, &path, 1, run, &parts[before + i], error);
        rest -= shares[before + i];
    }
    if (before == 1 && status == TEM_OK) {
        status = read_one(s, model, s->texts, s->text_count, run, &parts[0], error);
        shares[0] = rest;
    }
    *count = before + s->mix.count;
    return status;
}

tem_status ngram_sources_read(const ngram_sources *s, const tem_model *model, const tem_run *run,
                              tem_ngram **ngram, tem_ngram_info *counted, tem_error *error) {
    tem_ngram *parts[OPTION_LIST_MAX + 1] = {NULL};
    double shares[OPTION_LIST_MAX + 1] = {0};
    size_t count = 0;
    tem_status status = read_parts(s, model, run, parts, shares, &count, error);
    tem_ngram_get_info(s->text_count > 0 ? parts[0] : NULL, counted);
    if (status == TEM_OK && count > 1) {
        status = tem_ngram_mix((const tem_ngram *const *)parts, shares, count, run, ngram, error);
    } else if (status == TEM_OK) {
        *ngram = parts[0];
        parts[0] = NULL;
    }
    for (size_t i = 0; i <= OPTION_LIST_MAX; i++)
        tem_ngram_free(parts[i]);
    return status;
}
