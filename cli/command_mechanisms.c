/* command_mechanisms.c - tem mechanisms: what each mechanism claims, and what it takes. */
#include "commands.h"
#include "common_options.h"
#include "mechanism_options.h"
#include "show.h"
#include "talk.h"
#include "wrap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const guarantee_names[] = {[TEM_GUARANTEE_NONE] = "none",
                                              [TEM_GUARANTEE_IDEAL] = "ideal",
                                              [TEM_GUARANTEE_EXACT] = "exact",
                                              [TEM_GUARANTEE_OTHER] = "other"};

static const char *guarantee_name(const tem_mechanism_properties *p) {
    return (unsigned)p->guarantee <= TEM_GUARANTEE_OTHER ? guarantee_names[p->guarantee] : "none";
}

static void print_parameter(const tem_parameter *p) {
    printf("      %-8s %s", p->name, p->meaning);
    if (p->usual > 0)
        printf(" (default %g)", p->usual);
    putchar('\n');
}

static void print_one(const tem_mechanism_properties *p) {
    printf("%s: %s", p->name, p->summary);
    if (p->paper != NULL)
        printf(" (%s)", p->paper);
    printf("\n    guarantee %s", guarantee_name(p));
    if (p->claim != NULL)
        printf(": %s", p->claim);
    putchar('\n');
    if (p->caveat != NULL)
        printf("    caveat    %s\n", p->caveat);
    printf("    law       %s\n",
           p->is_exponential ? "exponential: can be explained, audited, inverted"
           : p->has_form     ? "of the form a_y K(w, y) / Z(w): can be explained, audited, inverted"
           : p->law_digits > 0 ? "can be explained"
                               : "cannot be computed");
    if (p->needs_metric != 0)
        printf("    metric    %s\n", tem_metric_name(p->needs_metric));
    if (p->list != NULL)
        printf("    --list    %s\n", p->list);
    puts("    takes");
    for (const tem_parameter *one = p->parameters; one->name != NULL; one++)
        print_parameter(one);
}

static json_t *text_or_null(const char *text) {
    return text == NULL ? json_null() : json_string(text);
}

static json_t *parameters_as_json(const tem_mechanism_properties *p) {
    json_t *all = json_array();
    for (const tem_parameter *one = p->parameters; one->name != NULL; one++)
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:f, s:o, s:o}", "name", one->name, "meaning", one->meaning,
                           "least", one->least, "most",
                           isfinite(one->most) ? json_real(one->most) : json_null(), "usual",
                           one->usual > 0 ? json_real(one->usual) : json_null()));
    return all;
}

static json_t *one_as_json(const tem_mechanism_properties *p) {
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:i, s:b, s:b, s:b, s:o, s:o, s:o}", "name",
                     p->name, "summary", p->summary, "paper", text_or_null(p->paper), "guarantee",
                     guarantee_name(p), "claim", text_or_null(p->claim), "caveat",
                     text_or_null(p->caveat), "law_digits", (int)p->law_digits, "is_exponential",
                     p->is_exponential, "has_form", p->has_form, "takes_gamma", p->takes_gamma,
                     "needs_metric",
                     text_or_null(p->needs_metric == 0 ? NULL : tem_metric_name(p->needs_metric)),
                     "list", text_or_null(p->list), "parameters", parameters_as_json(p));
}

static int print_all_as_json(void) {
    json_t *all = json_array();
    for (unsigned i = 0; tem_mechanism_at(i) != NULL; i++)
        if (json_array_append_new(all, one_as_json(tem_mechanism_at(i))) != 0) {
            json_decref(all);
            all = NULL;
            break;
        }
    return print_as_json(all == NULL ? NULL : json_pack("{s:o}", "mechanisms", all)) ? EXIT_DONE
                                                                                     : EXIT_FAILED;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem mechanisms [OPTIONS] [MECHANISM...]\n"
         "\n"
         "Lists the mechanisms, or those named: where each was published, what it guarantees and\n"
         "which numbers it takes.\n"
         "\n"
         "  exact   the bound holds for the words that tem draws, computed in integers\n"
         "  ideal   its paper proves a bound for real numbers, not for floating point\n"
         "  other   a proof for some words only, or for another distance than the model's\n"
         "  none    no proof\n"
         "\n"
         "A budget pays for exact mechanisms alone. 'tem privatize' uses those with 'other' or\n"
         "'none' only with --allow-no-guarantee: they are here to be compared and attacked.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem mechanisms\n"
         "  tem mechanisms madlib");
}

int command_mechanisms(int argc, char *const *argv) {
    common_options common = {0};
    enum { NAMED_MAX = 64 };
    const char *named[NAMED_MAX];
    size_t count = 0;
    bool json = false;
    const option_spec table[] = {
        {"json", 0, OPTION_FLAG, &json, NULL, "print one JSON object with all of them", 0, 0},
        COMMON_OPTIONS(common),
    };
    char message[OPTION_MESSAGE_BYTES];
    if (!options_parse(argc, argv, table, named, NAMED_MAX, &count, message))
        return talk_usage("mechanisms", "%s", message);
    if (common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    if (json)
        return print_all_as_json();
    for (size_t i = 0; i < count; i++)
        if (mechanism_named(named[i]) == NULL)
            return mechanism_refuse_name("mechanisms", named[i]);
    for (size_t i = 0; i < count; i++)
        print_one(mechanism_named(named[i]));
    for (unsigned i = 0; count == 0 && tem_mechanism_at(i) != NULL; i++) {
        fputs(i == 0 ? "" : "\n", stdout);
        print_one(tem_mechanism_at(i));
    }
    return EXIT_DONE;
}
