/* prior_option.c - the option --prior: how often each word is used. */
#include "prior_option.h"

#include "options.h"
#include "talk.h"

#include <string.h>

/* Prints whether the file was read as counts or as a text: a file of counts without tabs would be
 * read as a text. */
static void tell(const char *path, const tem_prior *prior, bool quiet) {
    tem_prior_info info;
    tem_prior_get_info(prior, &info);
    talk_note(quiet, "%s: read as %s: %s words, and %s that the model does not have", path,
              info.is_counts ? "counts" : "a text", talk_count((uint64_t)info.counted),
              talk_count((uint64_t)info.unknown));
}

tem_prior *prior_choose(const char *command, const char *text, const tem_model *model,
                        const tem_run *run, bool quiet, int *status) {
    static const char zipf[] = "zipf";
    const size_t length = sizeof zipf - 1;
    double power = 1;
    tem_prior *prior = NULL;
    tem_error error;
    const bool named = strcmp(text, zipf) == 0;
    const bool powered = !named && strncmp(text, "zipf:", length + 1) == 0;
    if (powered && (!options_decimal(text + length + 1, &power) || power < 0)) {
        *status = talk_usage(command, "--prior zipf:POWER takes a power of 0 or more, such as 1");
        return NULL;
    }
    const tem_status made = named || powered ? tem_prior_create_zipf(model, power, &prior, &error)
                                             : tem_prior_load(model, text, run, &prior, &error);
    *status = made == TEM_OK ? EXIT_DONE : talk_error(&error);
    if (made == TEM_OK && !named && !powered)
        tell(text, prior, quiet);
    return prior;
}

const char *prior_name(const char *text) {
    const size_t most = sizeof((tem_certificate_info *)0)->prior - 1;
    const char *slash = strrchr(text, '/');
    const char *name = slash != NULL ? slash + 1 : text;
    if (strlen(name) <= most)
        return name;
    name += strlen(name) - most;
    while (((unsigned char)*name & 0xc0) == 0x80) /* do not begin within a character */
        name++;
    return name;
}
