/* signal_set.c - the signals that an adapted model keeps on purpose. */
#include "signal_set.h"

#include "show.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

static tem_status fail_memory(tem_error *error) {
    *error = (tem_error){.status = TEM_ERR_MEMORY, .message = "out of memory"};
    return TEM_ERR_MEMORY;
}

/* Makes room for the signals, and for their values over `words` words. */
static tem_status reserve(signal_set *set, uint32_t count, uint32_t words, tem_error *error) {
    *set = (signal_set){.count = count};
    if (count == 0)
        return TEM_OK;
    set->list = calloc(count, sizeof *set->list);
    set->values = words > 0 ? calloc((size_t)count * words, sizeof *set->values) : NULL;
    return set->list != NULL && (words == 0 || set->values != NULL) ? TEM_OK : fail_memory(error);
}

static void set_column(signal_set *set, uint32_t i, const double *values, uint32_t words) {
    for (uint32_t w = 0; w < words; w++)
        set->values[(size_t)w * set->count + i] = values[w];
}

tem_status signal_set_of_adaptation(const tem_adaptation *adaptation, uint32_t words,
                                    signal_set *set, tem_error *error) {
    tem_status status = reserve(set, tem_adaptation_count(adaptation), words, error);
    for (uint32_t i = 0; status == TEM_OK && i < set->count; i++) {
        status = tem_adaptation_signal(adaptation, i, &set->list[i], error);
        if (status == TEM_OK)
            set_column(set, i, tem_adaptation_values(adaptation, i), words);
    }
    return status;
}

/* Fills the list, and makes room for values over `words` words. */
static tem_status list_signals(const tem_model *model, uint32_t words, signal_set *set,
                               tem_error *error) {
    tem_adapted adapted;
    tem_model_get_adapted(model, &adapted);
    tem_status status = reserve(set, adapted.signals, words, error);
    for (uint32_t i = 0; status == TEM_OK && i < set->count; i++)
        status = tem_model_signal(model, i, &set->list[i], error);
    return status;
}

tem_status signal_set_list(const tem_model *model, signal_set *set, tem_error *error) {
    return list_signals(model, 0, set, error);
}

tem_status signal_set_of_model(const tem_model *model, signal_set *set, tem_error *error) {
    tem_model_info info;
    tem_model_get_info(model, &info);
    tem_status status = list_signals(model, info.words, set, error);
    double *values = calloc(info.words, sizeof *values);
    if (status == TEM_OK && values == NULL)
        status = fail_memory(error);
    for (uint32_t i = 0; status == TEM_OK && i < set->count; i++) {
        status = tem_model_signal_values(model, i, values, error);
        if (status == TEM_OK)
            set_column(set, i, values, info.words);
    }
    free(values);
    return status;
}

void signal_set_free(signal_set *set) {
    free(set->list);
    free(set->values);
    *set = (signal_set){.count = 0};
}

tem_status signal_set_tell(const signal_set *set, const tem_mechanism *mechanism,
                           const tem_prior *prior, const tem_run *run, tem_told *told,
                           tem_error *error) {
    const tem_expectation expected = {.prior = prior};
    tem_channel *channel = NULL;
    tem_status status = tem_channel_create(mechanism, run, &channel, error);
    if (status == TEM_OK)
        status = tem_channel_told(channel, &expected, set->values, set->count, run, told, error);
    tem_channel_free(channel);
    return status;
}

/* ---- printing ---- */

static void print_signal(const tem_signal *s) {
    const char *of = s->kind == TEM_SIGNAL_LEXICON ? "word" : "text";
    words_print(s->name, strlen(s->name));
    printf(" (%s): learned from %s %s%s, %s left out; correlation %.2f (95 %%: %.2f to %.2f)",
           tem_signal_kind_name(s->kind), talk_count(s->used), of, s->used == 1 ? "" : "s",
           talk_count(s->left_out), s->correlation, s->low, s->high);
}

void signal_set_print(const tem_signal *list, uint32_t count, bool with_source) {
    for (uint32_t i = 0; i < count; i++) {
        printf("signal %-4u ", i + 1);
        print_signal(&list[i]);
        if (with_source)
            printf("\n            source %.16s", list[i].source);
        putchar('\n');
    }
}

static json_t *signal_as_json(const tem_signal *s) {
    return json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:s}", "name", s->name, "kind",
                     tem_signal_kind_name(s->kind), "used", (json_int_t)s->used, "left_out",
                     (json_int_t)s->left_out, "correlation", s->correlation, "low", s->low, "high",
                     s->high, "penalty", s->penalty, "source", s->source);
}

json_t *signal_set_as_json(const signal_set *set) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < set->count; i++)
        if (json_array_append_new(list, signal_as_json(&set->list[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *signal_set_told_as_json(const signal_set *set, const tem_told *told) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < set->count; i++)
        if (json_array_append_new(list,
                                  json_pack("{s:s, s:f, s:f, s:f}", "name", set->list[i].name,
                                            "side", told[i].side, "side_blind", told[i].side_blind,
                                            "variance", told[i].variance)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

char *signal_set_names(const tem_signal *list, uint32_t count) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    for (uint32_t i = 0; out != NULL && i < count; i++) {
        char *name = words_escape(list[i].name, strlen(list[i].name));
        fprintf(out, "%s%s", i > 0 ? ", " : "", name != NULL ? name : "?");
        free(name);
    }
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
