/* command_info.c - tem info: shows the properties of a model and its certificates. */
#include "commands.h"
#include "common_options.h"
#include "default_model.h"
#include "language_show.h"
#include "show.h"
#include "signal_set.h"
#include "talk.h"
#include "trust.h"
#include "wrap.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* The model, and the facts that tem info shows about it. */
typedef struct looked_at {
    tem_model *model;
    tem_model_info info;
    tem_recipe recipe;
    tem_adapted adapted;
    signal_set signals;
    bool trusted;
    tem_error untrusted; /* why it is not trusted */
    uint32_t unreachable;
} looked_at;

static void print_space(const tem_recipe *r) {
    if (r->given_columns == 0) {
        puts("space       raw: the vectors as they were given");
        return;
    }
    printf("space       sphere of radius %.4g: %u of %u dimensions, %u removed, %.1f %% of the "
           "variance\n",
           r->scale, r->dimensions, r->given_columns, r->removed, 100 * r->kept);
    printf("prepared    from %s words", talk_count(r->given_words));
    if (r->dropped > 0)
        printf(", %s of them left out", talk_count(r->dropped));
    printf("; root mean square distance %.4g, before and after\n", r->rms_distance);
}

static void print_adapted(const looked_at *l) {
    const tem_adapted *a = &l->adapted;
    printf("adapted     stretch %s, ", talk_number(a->stretch));
    if (a->squash > 0)
        printf("squash %s", talk_number(a->squash));
    else
        fputs("no squash", stdout);
    printf("; %u of the dimensions %s, which the model keeps on purpose\n", a->signals,
           a->signals == 1 ? "is a signal" : "are signals");
    printf("base        %.16s, the hash of the space that was adapted\n", a->base);
    signal_set_print(l->signals.list, l->signals.count, true);
}

static void print_metric(const tem_model *model, const tem_model_info *info, bool prepared) {
    double median = 0;
    if (info->metric != TEM_MATRIX) {
        printf("metric      %s, exact on a grid of step 2^-%u\n", tem_metric_name(info->metric),
               info->step_log2);
        printf("deviation   at most %s from the distances of the %s\n",
               talk_distance_up(info->deviation), prepared ? "prepared vectors" : "vectors given");
        const double percent = rounding_percent(model, &median);
        if (percent > 0)
            printf("nearest     %.4g to the nearest word (median); the deviation is %s %% of it\n",
                   median, talk_number(percent));
        return;
    }
    printf("metric      matrix; its builder is responsible for its being a metric\n"
           "triangles   %s of %s checked\n",
           talk_count(info->triangles), info->triangles_exhaustive ? "all triples" : "many");
}

static void print_kernels(void) {
    printf("kernel      %s (of", tem_kernel_name());
    int available = 0;
    const char *name = NULL;
    for (unsigned i = 0; (name = tem_kernel_at(i, &available)) != NULL; i++)
        printf(" %s%s", name, available ? "" : " (not on this machine)");
    puts(")");
}

/* No word has a longer list than the first one. */
static void print_neighbours(const looked_at *l) {
    tem_neighbours first = {0};
    printf("neighbours  %u per word, ", l->info.neighbours);
    if (tem_model_neighbours(l->model, 0, &first, NULL) == TEM_OK &&
        first.count > l->info.neighbours)
        printf("%s for the frequent ones, ", talk_count(first.count));
    puts(l->trusted ? "exact" : "as the file says");
}

/* The order of the words, which the mechanism rank needs. */
static void print_order(const looked_at *l) {
    tem_order_info order;
    tem_model_get_order(l->model, &order);
    if (order.outputs == 0) {
        puts("order       none: the mechanism rank needs one ('tem build --order auto')");
        return;
    }
    if (order.list == order.outputs)
        printf("order       lists of all %s outputs\n", talk_count(order.outputs));
    else
        printf("order       lists of %s words, then blocks of %s in one of %s orders\n",
               talk_count(order.list), talk_count(order.block), talk_count(order.groups));
    printf("            %s of the file; hash %s\n", talk_bytes(order.bytes), order.hash);
}

static void print_trust(const looked_at *l) {
    if (l->trusted)
        printf("trusted     yes: %s\n",
               default_model_is_own() ? "it came with tem" : "you have built or verified it");
    else if (l->untrusted.status == TEM_ERR_UNTRUSTED)
        printf("trusted     no: you have neither built nor verified it; 'tem verify%s' checks it\n",
               default_model_naming());
    else
        printf("trusted     no: %s\n", l->untrusted.message);
}

static void print_text(const looked_at *l) {
    const tem_model_info *info = &l->info;
    printf("model       %s\n", default_model_path());
    printf("size        %s\n", talk_bytes(info->file_bytes));
    printf("words       %s\n", talk_count(info->words));
    printf(
        "unreachable %s of them: tem folds and cuts texts, and then none has them; they are only "
        "drawn\n",
        talk_count(l->unreachable));
    if (info->excluded > 0)
        printf("excluded    %s of them are never outputs\n", talk_count(info->excluded));
    if (info->dimension > 0)
        printf("dimension   %u\n", info->dimension);
    if (info->metric != TEM_MATRIX)
        print_space(&l->recipe);
    if (l->signals.count > 0)
        print_adapted(l);
    print_metric(l->model, info, l->recipe.given_columns > 0);
    print_neighbours(l);
    print_order(l);
    printf("hash        %s\n", info->hash);
    print_trust(l);
    print_kernels();
}

/* The recipe as an object; null for a raw space. */
static json_t *describe_recipe(const tem_recipe *r) {
    if (r->given_columns == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "given_words",
                     (json_int_t)r->given_words, "given_columns", (json_int_t)r->given_columns,
                     "dimensions", (json_int_t)r->dimensions, "removed", (json_int_t)r->removed,
                     "dropped", (json_int_t)r->dropped, "kept", r->kept, "rms_distance",
                     r->rms_distance, "scale", r->scale);
}

/* The adaptation as an object; null for a model that is not adapted. */
static json_t *describe_adapted(const looked_at *l) {
    const tem_adapted *a = &l->adapted;
    if (a->signals == 0)
        return json_null();
    return json_pack("{s:f, s:o, s:s, s:I, s:o}", "stretch", a->stretch, "squash",
                     a->squash > 0 ? json_real(a->squash) : json_null(), "base", a->base, "columns",
                     (json_int_t)a->columns, "signals", signal_set_as_json(&l->signals));
}

/* The order as an object; null for a model without one. */
static json_t *describe_order(const looked_at *l) {
    tem_order_info order;
    tem_model_get_order(l->model, &order);
    if (order.outputs == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "outputs", (json_int_t)order.outputs,
                     "list", (json_int_t)order.list, "block", (json_int_t)order.block, "blocks",
                     (json_int_t)order.blocks, "groups", (json_int_t)order.groups, "bytes",
                     (json_int_t)order.bytes, "hash", order.hash);
}

static int print_json(const looked_at *l, json_t *certificates) {
    const tem_model_info *info = &l->info;
    tem_dist nearest = 0;
    tem_error error;
    if (tem_model_nearest_median(l->model, &nearest, &error) != TEM_OK)
        return talk_error(&error);
    json_t *root = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:s, s:I, s:I, s:o, s:f, s:f, s:I, s:b, "
        "s:s, "
        "s:b, "
        "s:s, "
        "s:s, s:O}",
        "model", default_model_path(), "bytes", (json_int_t)info->file_bytes, "words",
        (json_int_t)info->words, "unreachable", (json_int_t)l->unreachable, "excluded",
        (json_int_t)info->excluded, "dimension", (json_int_t)info->dimension, "space",
        info->metric == TEM_MATRIX ? "matrix" : tem_space_name(l->recipe.space), "recipe",
        describe_recipe(&l->recipe), "adapted", describe_adapted(l), "metric",
        tem_metric_name(info->metric), "step_log2", (json_int_t)info->step_log2, "neighbours",
        (json_int_t)info->neighbours, "order", describe_order(l), "deviation",
        (double)info->deviation / TEM_DIST_ONE, "nearest_median", (double)nearest / TEM_DIST_ONE,
        "triangles", (json_int_t)info->triangles, "triangles_exhaustive",
        info->triangles_exhaustive, "hash", info->hash, "trusted", l->trusted, "kernel",
        tem_kernel_name(), "version", tem_version(), "certificates", certificates);
    if (root == NULL || json_dumpf(root, stdout, JSON_INDENT(2)) != 0) {
        json_decref(root);
        fputs("tem: cannot write JSON (is the model's path valid UTF-8?)\n", stderr);
        return EXIT_FAILED;
    }
    json_decref(root);
    putchar('\n');
    return EXIT_DONE;
}

/* ---- certificates ---- */

/* PRIVACY: a certificate is trusted only together with its model. */
static json_t *describe(const tem_certificate *certificate, const looked_at *l) {
    tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    return json_pack("{s:f, s:o, s:f, s:f, s:f, s:s, s:b, s:b, s:s}", "epsilon", info.epsilon,
                     "beta", info.beta > 0 ? json_real(info.beta) : json_null(), "s", info.s,
                     "gamma", info.gamma, "realised", info.realised, "weights",
                     tem_weights_name(info.weights), "this_model",
                     tem_certificate_is_for(certificate, l->model), "trusted",
                     l->trusted && trust_has(&info, l->model), "hash", info.hash);
}

/* Returns the certificates beside the model as an array, or NULL after printing why they cannot be
 * read. */
static json_t *list_certificates(const looked_at *l) {
    const char *path = default_model_certificates();
    json_t *list = json_array();
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return list;
    for (uint32_t i = 0;; i++) {
        tem_certificate *certificate = NULL;
        tem_error error;
        if (tem_certificate_load(path, i, &certificate, &error) != TEM_OK) {
            talk_error(&error);
            json_decref(list);
            return NULL;
        }
        if (certificate == NULL)
            return list;
        json_array_append_new(list, describe(certificate, l));
        tem_certificate_free(certificate);
    }
}

static void print_certificates(const looked_at *l, const json_t *list) {
    size_t i = 0;
    const json_t *c = NULL;
    json_array_foreach(list, i, c) {
        printf("certificate epsilon %s, %s weights: s = %.6f, gamma = %.4f",
               talk_number(json_real_value(json_object_get(c, "epsilon"))),
               json_string_value(json_object_get(c, "weights")),
               json_real_value(json_object_get(c, "s")),
               json_real_value(json_object_get(c, "gamma")));
        const json_t *beta = json_object_get(c, "beta");
        printf(json_is_number(beta) ? " from beta %s" : " given%s",
               json_is_number(beta) ? talk_number(json_real_value(beta)) : "");
        puts(!json_is_true(json_object_get(c, "this_model")) ? ", for another model"
             : json_is_true(json_object_get(c, "trusted"))   ? ", trusted"
             : !l->trusted                                   ? ", of a model that you do not trust"
                                                             : ", not made or verified by you");
    }
}

static int look(looked_at *l, unsigned threads, bool json) {
    const tem_run run = {.threads = threads};
    tem_error error;
    tem_model_get_info(l->model, &l->info);
    tem_model_get_recipe(l->model, &l->recipe);
    tem_model_get_adapted(l->model, &l->adapted);
    l->trusted = trust_model(l->model, NULL, &run, &l->untrusted) == TEM_OK;
    if (signal_set_list(l->model, &l->signals, &error) != TEM_OK ||
        tem_model_count_unreachable(l->model, &l->unreachable, &error) != TEM_OK)
        return talk_error(&error);
    json_t *certificates = list_certificates(l);
    if (certificates == NULL)
        return EXIT_FAILED;
    int status = EXIT_DONE;
    if (json) {
        status = print_json(l, certificates);
    } else {
        print_text(l);
        print_certificates(l, certificates);
    }
    json_decref(certificates);
    return status;
}

int command_info(int argc, char *const *argv) {
    common_options common = {0};
    bool json = false;
    const option_spec table[] = {
        {"json", 0, OPTION_FLAG, &json, NULL, "print one JSON object", 0, 0},
        MODEL_OPTION(common),
        COMMON_OPTIONS(common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    const char *language = NULL;
    if (!options_parse(argc, argv, table, &language, 1, &operands, message))
        return talk_usage("info", "%s (a model is named with -m MODEL)", message);
    if (common.help) {
        wrap(
            "usage: tem info [OPTIONS]\n"
            "       tem info LM.temlm [OPTIONS]\n"
            "\n"
            "Shows what a model holds, or a language model of public text ('tem ngram'); 'english' "
            "is the one that comes with tem.\n");
        options_print_help(stdout, table);
        return EXIT_DONE;
    }
    if (operands > 0 && !language_show_is_meant(language))
        return talk_usage("info", "'%s' is no language model, NAME.temlm; a model is named with -m",
                          language);
    if (operands > 0)
        return language_show_info(language, common.model, json);
    looked_at l = {.model = default_model_open(common.model)};
    if (l.model == NULL)
        return EXIT_FAILED;
    const int status = look(&l, (unsigned)common.threads, json);
    signal_set_free(&l.signals);
    tem_model_free(l.model);
    return status;
}
