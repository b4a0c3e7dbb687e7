/* mechanism_options.c - the options that choose a mechanism. */
#include "mechanism_options.h"

#include "default_model.h"
#include "language_option.h"
#include "near_name.h"
#include "prior_option.h"
#include "talk.h"
#include "tem_learn.h"
#include "trust.h"
#include "words_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints an error as wrong usage if the user gave a wrong value, else as a failure. Returns the
 * exit status. */
static int say_error(const char *command, const tem_error *error) {
    if (error->status == TEM_ERR_ARGUMENT || error->status == TEM_ERR_RANGE)
        return talk_usage(command, "%s", error->message);
    return talk_error(error);
}

/* What two epsilons do on the default model with mechanisms whose epsilon has another unit. */
static const char *known_effects(const char *mechanism) {
    if (mechanism != NULL && strcmp(mechanism, "rank") == 0)
        return "7 % of the time at 0.95 and 50 % at 1.73";
    if (mechanism != NULL && strcmp(mechanism, "coin") == 0)
        return "5 % of the time at 7.5 and 26 % at 9.4";
    return NULL;
}

int mechanism_ask_epsilon(const char *command, const char *mechanism, bool calibrated) {
    const char *effects = known_effects(mechanism);
    if (effects != NULL)
        return talk_usage(command,
                          "which epsilon? --epsilon E has no default. On the default model every "
                          "word stays itself %s with %s (the same s has twice the epsilon with a "
                          "language model); 'tem choose --mechanism %s' finds an epsilon for a "
                          "target",
                          effects, mechanism, mechanism);
    return talk_usage(command,
                      "which epsilon? --epsilon E has no default. On the default model the median "
                      "word stays itself %s; 'tem choose' finds an epsilon for a target",
                      calibrated ? "4.1 % of the time at 1 and 32 % at 1.5 with --calibrated"
                                 : "11 % of the time at 2 and 44 % at 2.5");
}

static void say_how_to_calibrate(const mechanism_choice *choice) {
    fprintf(stderr, "Run: tem calibrate%s --epsilon %s", default_model_naming(),
            talk_number(choice->epsilon));
    if (choice->beta > 0)
        fprintf(stderr, " --beta %s", talk_number(choice->beta));
    if (choice->gamma > 0)
        fprintf(stderr, " --gamma %s", talk_number(choice->gamma));
    if (choice->weights_name != NULL)
        fprintf(stderr, " --weights %s", choice->weights_name);
    fputs(
        "\nThat takes minutes; with --weights equal, seconds. 'tem info' lists the certificates.\n",
        stderr);
}

/* Finds the trusted certificate beside the model for this choice. Returns NULL on failure, after
 * printing why. */
static tem_certificate *find_certificate(const char *command, const tem_model *model,
                                         const mechanism_choice *choice, int *status) {
    tem_calibration wanted = {
        .epsilon = choice->epsilon, .beta = choice->beta, .gamma = choice->gamma};
    tem_certificate *certificate = NULL;
    tem_certificate_info info;
    tem_error error;
    if (choice->weights_name != NULL &&
        tem_weights_parse(choice->weights_name, &wanted.weights, &error) != TEM_OK) {
        *status = talk_usage(command, "--weights: %s", error.message);
        return NULL;
    }
    if (tem_certificate_find(default_model_certificates(), model, &wanted, &certificate, &error) !=
        TEM_OK) {
        *status = say_error(command, &error);
        if (error.status == TEM_ERR_CERTIFICATE)
            say_how_to_calibrate(choice);
        return NULL;
    }
    /* PRIVACY: a certificate proves nothing unless this user has made or verified it, or it came
     * with tem (trust.h). */
    tem_certificate_get_info(certificate, &info);
    if (trust_require(&info, model))
        return certificate;
    tem_certificate_free(certificate);
    *status = EXIT_FAILED;
    return NULL;
}

static bool read_number(const char *text, char *name, size_t name_bytes, double *value) {
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || (size_t)(equals - text) >= name_bytes)
        return false;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    return options_decimal(equals + 1, value);
}

static int read_numbers(const char *command, const option_list *list, own_options *own) {
    for (size_t i = 0; i < list->count; i++) {
        own->numbers[i].name = own->names[i];
        if (!read_number(list->items[i].value, own->names[i], sizeof own->names[i],
                         &own->numbers[i].value))
            return talk_usage(command, "--number takes NAME=X, such as lambda=0.5");
    }
    own->numbers[list->count].name = NULL;
    return EXIT_DONE;
}

static int read_list(const char *path, const tem_model *model, own_options *own) {
    tem_model_info info;
    word_ids words = {0};
    if (path == NULL)
        return EXIT_DONE;
    int status = words_option_read(path, model, false, &words);
    tem_model_get_info(model, &info);
    own->listed = status == EXIT_DONE ? calloc(info.words, 1) : NULL;
    if (status == EXIT_DONE && own->listed == NULL)
        status = talk_error(&(tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"});
    for (uint32_t i = 0; i < words.count && status == EXIT_DONE; i++)
        own->listed[words.ids[i]] = 1;
    word_ids_free(&words);
    return status;
}

int own_options_read(const char *command, const option_list *numbers, const char *list_path,
                     const tem_model *model, own_options *own) {
    *own = (own_options){.listed = NULL};
    const int status = read_numbers(command, numbers, own);
    return status == EXIT_DONE ? read_list(list_path, model, own) : status;
}

void own_options_free(own_options *own) {
    free(own->listed);
    own->listed = NULL;
}

/* Makes the map of the mechanism, and then the mechanism with the map. Frees the first one. Returns
 * NULL on failure, after printing why. */
static tem_mechanism *remap(const char *command, const tem_model *model,
                            const mechanism_choice *choice, tem_mechanism_options *options,
                            tem_mechanism *plain, int *status) {
    tem_mechanism *mapped = NULL;
    tem_model_info info;
    tem_error error;
    tem_prior *prior = prior_choose(command, choice->remap_prior, model, choice->run, true, status);
    const tem_expectation expected = {.prior = prior, .unknown = -1};
    tem_model_get_info(model, &info);
    uint32_t *map = malloc(info.words * sizeof *map);
    options->remap = map;
    if (prior != NULL && map != NULL &&
        (tem_remap_make(plain, &expected, choice->run, map, &error) != TEM_OK ||
         tem_mechanism_create(model, options, &mapped, &error) != TEM_OK))
        *status = say_error(command, &error);
    if (prior != NULL && map == NULL)
        *status = talk_error(&(tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"});
    free(map);
    tem_prior_free(prior);
    tem_mechanism_free(plain);
    return mapped;
}

/* Adds the certificate, if one is asked for, to options that are complete otherwise, and makes the
 * mechanism. */
static tem_mechanism *make_certified(const char *command, const tem_model *model,
                                     const mechanism_choice *choice, tem_mechanism_options options,
                                     int *status) {
    tem_mechanism *mechanism = NULL;
    tem_certificate *certificate = NULL;
    tem_error error;
    if (choice->calibrated) {
        certificate = find_certificate(command, model, choice, status);
        if (certificate == NULL)
            return NULL;
    }
    options.certificate = certificate;
    if (tem_mechanism_create(model, &options, &mechanism, &error) != TEM_OK)
        *status = say_error(command, &error);
    else if (choice->remap_prior != NULL)
        mechanism = remap(command, model, choice, &options, mechanism, status);
    tem_certificate_free(certificate);
    return mechanism;
}

/* Reads the words of --never, and says which of them the model lacks. */
static int read_never(const mechanism_choice *choice, const tem_model *model,
                      unsigned char **never) {
    if (choice->never_path == NULL)
        return EXIT_DONE;
    return words_option_mark(choice->never_path, model, choice->quiet, never);
}

static tem_mechanism *make_mechanism(const char *command, const tem_model *model,
                                     const mechanism_choice *choice, int *status) {
    own_options own;
    unsigned char *never = NULL;
    tem_language *language = NULL;
    tem_mechanism *mechanism = NULL;
    *status = own_options_read(command, &choice->numbers, choice->list_path, model, &own);
    if (*status == EXIT_DONE)
        *status = read_never(choice, model, &never);
    if (*status == EXIT_DONE)
        *status = language_option_open(choice->language, model, &language);
    const tem_mechanism_options options = {.mechanism = choice->mechanism,
                                           .epsilon = choice->epsilon,
                                           .beta = choice->beta,
                                           .gamma = choice->gamma,
                                           .numbers = own.numbers,
                                           .listed = own.listed,
                                           .language = language,
                                           .never = never,
                                           .allow_no_guarantee = choice->allow_no_guarantee};
    if (*status == EXIT_DONE)
        mechanism = make_certified(command, model, choice, options, status);
    if (mechanism == NULL)
        tem_language_free(language);
    free(never);
    own_options_free(&own);
    return mechanism;
}

void mechanism_close(tem_mechanism *mechanism) {
    /* The language model must live as long as its mechanism, which alone knows it. */
    tem_language *language = (tem_language *)tem_mechanism_language(mechanism);
    tem_mechanism_free(mechanism);
    tem_language_free(language);
}

const tem_mechanism_properties *mechanism_named(const char *name) {
    for (unsigned i = 0; tem_mechanism_at(i) != NULL; i++)
        if (strcmp(tem_mechanism_at(i)->name, name) == 0)
            return tem_mechanism_at(i);
    return NULL;
}

int mechanism_refuse_name(const char *command, const char *typed) {
    near_name near = near_name_for(typed, strlen(typed));
    const tem_mechanism_properties *each = NULL;
    for (unsigned i = 0; (each = tem_mechanism_at(i)) != NULL; i++)
        near_name_look(&near, "", each->name, strlen(each->name));
    return talk_usage(command, "no mechanism is called '%s'%s%s", typed, near_name_hint(&near),
                      near.name != NULL ? "" : "; 'tem mechanisms' lists them");
}

const tem_mechanism_properties *mechanism_chosen(const mechanism_choice *choice) {
    return choice->mechanism == NULL ? tem_mechanism_at(0) : mechanism_named(choice->mechanism);
}

/* Refuses what needs words that are drawn independently of each other. */
static int check_language(const char *command, const mechanism_choice *choice,
                          const tem_mechanism_properties *properties) {
    char what[64];
    if (!language_option_is_given(choice->language))
        return EXIT_DONE;
    snprintf(what, sizeof what, "--mechanism %s", properties->name);
    if (!properties->has_form)
        return language_option_refuse(
            command, what, "use --language-model none, or the mechanism tem, em, rank or coin");
    if (choice->calibrated || choice->remap_prior != NULL)
        return language_option_refuse(command, choice->calibrated ? "--calibrated" : "--remap",
                                      "use --language-model none");
    return EXIT_DONE;
}

tem_mechanism *mechanism_choose(const char *command, const tem_model *model,
                                const mechanism_choice *choice, int *status) {
    if (choice->weights_name != NULL && !choice->calibrated) {
        *status = talk_usage(command, "--weights needs --calibrated");
        return NULL;
    }
    const tem_mechanism_properties *properties = mechanism_chosen(choice);
    if (properties == NULL) {
        *status = mechanism_refuse_name(command, choice->mechanism);
        return NULL;
    }
    if (!choice->allow_no_guarantee && properties->guarantee != TEM_GUARANTEE_EXACT &&
        properties->guarantee != TEM_GUARANTEE_IDEAL) {
        *status = talk_usage(
            command,
            "the mechanism %s has no guarantee in the model's metric ('tem "
            "mechanisms %s'): use tem, em, rank or coin or, to compare, --allow-no-guarantee",
            properties->name, properties->name);
        return NULL;
    }
    if (choice->calibrated && !properties->takes_certificate) {
        *status = talk_usage(command, "--calibrated: the mechanism %s takes no certificate",
                             properties->name);
        return NULL;
    }
    *status = check_language(command, choice, properties);
    if (*status != EXIT_DONE)
        return NULL;
    return make_mechanism(command, model, choice, status);
}
