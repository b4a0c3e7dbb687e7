/* command_estimate.c - tem estimate: how often words were in the original of a released text. */
#include "commands.h"
#include "format_names.h"
#include "law_options.h"
#include "outputs.h"
#include "plot.h"
#include "prior_option.h"
#include "released.h"
#include "show.h"
#include "talk.h"
#include "word_sets.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct estimate_request {
    common_options common;
    law_choice choice;
    tem_records records;
    const char *format_name, *lexicon_path, *words_path, *plot_path;
    double ratio; /* 0: the default of the library */
    bool json, force;
} estimate_request;

/* What was estimated: group by group, set by set. Names come from files: they may have a NUL,
 * control characters, and bytes that are not UTF-8. Tables and charts show them as words_print
 * does, so that no two groups look the same and none ends a row; JSON has its own escapes. */
typedef struct estimates {
    const estimate_request *request;
    const law *l;
    const released *released;
    const word_sets *sets;
    tem_estimate *all;
} estimates;

static const tem_estimate *estimate_at(const estimates *e, uint32_t group, uint32_t set) {
    return &e->all[(size_t)group * e->sets->count + set];
}

/* The name of a group, or of the only one if records are not grouped. A name may have a NUL. */
static const char *group_name(const estimates *e, uint32_t group, size_t *bytes) {
    const released_group *g = &e->released->groups[group];
    const bool grouped = e->request->records.by != NULL;
    *bytes = grouped ? g->name_bytes : strlen("all");
    return grouped ? g->name : "all";
}

/* ---- printing ---- */

static void print_row(const estimates *e, uint32_t group, uint32_t set) {
    const tem_estimate *x = estimate_at(e, group, set);
    const released_group *g = &e->released->groups[group];
    size_t bytes = 0;
    const char *name = group_name(e, group, &bytes);
    words_print(name, bytes);
    printf("\t%" PRIu64 "\t%" PRIu64 "\t", g->documents, g->words);
    words_print(e->sets->names[set], strlen(e->sets->names[set]));
    printf("\t%.6g\t%.6g\t%.6g\t%.6g\t%s\n", x->share, x->low, x->high, x->expected,
           x->tells ? "yes" : "no");
}

static void print_text(const estimates *e) {
    puts("group\tdocuments\twords\tset\tshare\tlow\thigh\texpected\ttells");
    for (uint32_t g = 0; g < e->released->count; g++)
        for (uint32_t s = 0; s < e->sets->count; s++)
            print_row(e, g, s);
}

static json_t *group_as_json(const estimates *e, uint32_t group) {
    const released_group *g = &e->released->groups[group];
    json_t *list = json_array();
    for (uint32_t s = 0; s < e->sets->count; s++) {
        const tem_estimate *x = estimate_at(e, group, s);
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "set", e->sets->names[s],
                            "share", x->share, "low", x->low, "high", x->high, "bias", x->bias,
                            "deviation", x->deviation, "expected", x->expected, "tells", x->tells));
    }
    if (list == NULL || json_array_size(list) != e->sets->count) {
        json_decref(list);
        return NULL;
    }
    return json_pack(
        "{s:o, s:I, s:I, s:o}", "group",
        e->request->records.by != NULL ? json_stringn(g->name, g->name_bytes) : json_null(),
        "documents", (json_int_t)g->documents, "words", (json_int_t)g->words, "estimates", list);
}

static bool print_json(const estimates *e) {
    const tem_mechanism_info *info = &e->l->info;
    json_t *groups = json_array();
    bool done = groups != NULL;
    for (uint32_t g = 0; g < e->released->count && done; g++)
        done = json_array_append_new(groups, group_as_json(e, g)) == 0;
    json_t *all = json_pack(
        "{s:s, s:f, s:f, s:f, s:o, s:s, s:I, s:I, s:I, s:o}", "mechanism", info->properties->name,
        "epsilon", info->epsilon, "s", info->s, "gamma", info->gamma, "certificate",
        info->certificate[0] != '\0' ? json_string(info->certificate) : json_null(), "prior",
        prior_name(e->request->choice.prior_text), "words", (json_int_t)e->released->words,
        "never_outputs", (json_int_t)e->released->foreign, "skipped",
        (json_int_t)e->released->skipped, "groups", groups);
    done = done && all != NULL && json_dumpf(all, stdout, JSON_INDENT(1)) == 0;
    json_decref(all);
    if (done)
        putchar('\n');
    else
        fputs("tem: cannot write JSON (out of memory, or a name is not valid UTF-8)\n", stderr);
    return done;
}

/* ---- drawing ---- */

/* What a chart is drawn from. */
typedef struct drawing {
    plot_series *series; /* per group */
    char **labels;       /* per group */
    char **names;        /* per set */
    double *numbers;     /* three per set and group, and one per set */
} drawing;

static void drawing_free(drawing *d, uint32_t groups, uint32_t sets) {
    for (uint32_t g = 0; d->labels != NULL && g < groups; g++)
        free(d->labels[g]);
    for (uint32_t s = 0; d->names != NULL && s < sets; s++)
        free(d->names[s]);
    free(d->series);
    free(d->labels);
    free(d->names);
    free(d->numbers);
}

/* Makes the labels and names of a chart. Returns whether there was memory. */
static bool label(const estimates *e, drawing *d) {
    const uint32_t sets = e->sets->count, groups = e->released->count;
    bool made = true;
    for (uint32_t g = 0; g < groups && made; g++) {
        size_t bytes = 0;
        const char *name = group_name(e, g, &bytes);
        d->labels[g] = words_escape(name, bytes);
        made = d->labels[g] != NULL;
    }
    for (uint32_t s = 0; s < sets && made; s++) {
        d->names[s] = words_escape(e->sets->names[s], strlen(e->sets->names[s]));
        made = d->names[s] != NULL;
    }
    return made;
}

/* Fills the series of a group. numbers: 3 per set. */
static plot_series series_of(const estimates *e, uint32_t group, const char *label,
                             double *numbers) {
    const uint32_t sets = e->sets->count;
    for (uint32_t s = 0; s < sets; s++) {
        const tem_estimate *x = estimate_at(e, group, s);
        numbers[s] = x->share;
        numbers[sets + s] = x->low;
        numbers[2 * sets + s] = x->high;
    }
    return (plot_series){label, numbers, numbers + sets, numbers + 2 * sets};
}

static int write_drawing(const estimates *e, const drawing *d) {
    const uint32_t sets = e->sets->count, groups = e->released->count;
    double *expected = d->numbers + (size_t)3 * sets * groups;
    for (uint32_t g = 0; g < groups; g++)
        d->series[g] = series_of(e, g, d->labels[g], d->numbers + (size_t)3 * sets * g);
    for (uint32_t s = 0; s < sets; s++)
        expected[s] = estimate_at(e, 0, s)->expected;
    const plot_bars bars = {.title = "Share of the words of the original texts, estimated",
                            .y_label = "share, with 95 % intervals",
                            .expected_label = "expected",
                            .names = (const char *const *)d->names,
                            .expected = expected,
                            .name_count = sets,
                            .series = d->series,
                            .series_count = groups};
    return plot_write_bars(e->request->plot_path, &bars);
}

static int draw(const estimates *e) {
    const uint32_t sets = e->sets->count, groups = e->released->count;
    drawing d = {.series = calloc(groups, sizeof *d.series),
                 .labels = calloc(groups, sizeof *d.labels),
                 .names = calloc(sets, sizeof *d.names),
                 .numbers = calloc((size_t)sets * (3 * groups + 1), sizeof *d.numbers)};
    int status = EXIT_FAILED;
    if (d.series == NULL || d.labels == NULL || d.names == NULL || d.numbers == NULL ||
        !label(e, &d))
        fputs("tem: out of memory\n", stderr);
    else
        status = write_drawing(e, &d);
    drawing_free(&d, groups, sets);
    return status;
}

/* ---- notes ---- */

static bool tells_anything(const estimates *e, uint32_t group) {
    for (uint32_t s = 0; s < e->sets->count; s++)
        if (estimate_at(e, group, s)->tells)
            return true;
    return false;
}

/* Names of groups come from a file, so the notes number them instead. */
static void say_what_tells_nothing(const estimates *e, bool quiet) {
    enum { SHOWN = 5 };
    uint32_t shown = 0, count = 0;
    for (uint32_t g = 0; g < e->released->count; g++) {
        if (tells_anything(e, g))
            continue;
        count++;
        if (shown < SHOWN)
            talk_note(quiet,
                      "tem: warning: a group of %s words (number %u) is too small to tell anything "
                      "about these sets at this epsilon",
                      talk_count(e->released->groups[g].words), g + 1);
        shown += shown < SHOWN;
    }
    talk_note(quiet || count <= SHOWN, "tem: warning: the same holds for %u more groups",
              count - SHOWN);
}

static void say_what_was_done(const estimates *e, bool chosen, double seconds) {
    const bool quiet = e->request->common.quiet;
    const released *r = e->released;
    talk_note(quiet || r->empty == 0, "left out %u group%s without words", r->empty,
              r->empty == 1 ? "" : "s");
    talk_note(
        quiet || r->foreign == 0,
        "left out %s word%s that this mechanism never outputs: was the text changed after its "
        "release?",
        talk_count(r->foreign), r->foreign == 1 ? "" : "s");
    say_what_tells_nothing(e, quiet);
    talk_note(quiet || !chosen,
              "tem chose the words by this text, so their intervals are optimistic: look at other "
              "text, or name words with --words");
    talk_note(quiet,
              "estimated %u share%s in %u group%s from %s released words at epsilon %s: %.1f s",
              e->sets->count, e->sets->count == 1 ? "" : "s", r->count, r->count == 1 ? "" : "s",
              talk_count(r->words), talk_number(e->l->info.epsilon), seconds);
}

/* ---- running ---- */

static int compute(const estimates *e, const tem_channel *channel, const tem_run *run) {
    const tem_estimate_options options = {.expected = e->l->expected, .ratio = e->request->ratio};
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    double *counts = released_matrix(e->released, tem_channel_outputs(channel), e->released->count);
    const tem_status status =
        counts == NULL
            ? TEM_ERR_MEMORY
            : tem_channel_estimate(channel, &options, counts, e->released->count, e->sets->members,
                                   e->sets->count, run, e->all, &error);
    free(counts);
    talk_end_progress();
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int show(const estimates *e) {
    if (!e->request->json)
        print_text(e);
    else if (!print_json(e))
        return EXIT_FAILED;
    return e->request->plot_path != NULL ? draw(e) : EXIT_DONE;
}

static int estimate_sets(const estimate_request *r, const law *l, const released *text,
                         const tem_channel *channel, const word_sets *sets, const tem_run *run,
                         double start) {
    estimates e = {r, l, text, sets, calloc((size_t)text->count * sets->count, sizeof *e.all)};
    int status = EXIT_FAILED;
    if (e.all == NULL)
        fputs("tem: out of memory\n", stderr);
    else
        status = compute(&e, channel, run);
    if (status == EXIT_DONE)
        status = show(&e);
    if (status == EXIT_DONE)
        say_what_was_done(&e, r->lexicon_path == NULL && r->words_path == NULL,
                          talk_clock() - start);
    free(e.all);
    return status;
}

static int read_sets(const estimate_request *r, const tem_model *model, word_sets *sets) {
    const bool quiet = r->common.quiet;
    if (r->lexicon_path != NULL)
        return word_sets_read_lexicon(r->lexicon_path, model, quiet, sets);
    return r->words_path != NULL ? word_sets_read_words(r->words_path, model, quiet, sets)
                                 : EXIT_DONE;
}

static int run_on_text(const estimate_request *r, const law *l, const released *text,
                       word_sets *sets, const tem_run *run, double start) {
    tem_channel *channel = NULL;
    tem_error error;
    const tem_status made = tem_channel_create(l->mechanism, run, &channel, &error);
    talk_end_progress();
    int status = made == TEM_OK ? EXIT_DONE : talk_error(&error);
    if (status == EXIT_DONE && sets->count == 0)
        status = word_sets_choose(channel, l, text, run, sets);
    if (status == EXIT_DONE)
        status = estimate_sets(r, l, text, channel, sets, run, start);
    tem_channel_free(channel);
    return status;
}

static int estimate(const estimate_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    const double start = talk_clock();
    law l;
    released text = {.groups = NULL};
    word_sets sets = {.names = NULL};
    int status = law_open("estimate", &r->common, &r->choice, &run, &l);
    if (status == EXIT_DONE)
        status = read_sets(r, l.model, &sets);
    if (status == EXIT_DONE)
        status = released_read(&r->records, &l, &run, &text);
    if (status == EXIT_DONE)
        status = run_on_text(r, &l, &text, &sets, &run, start);
    word_sets_free(&sets);
    released_free(&text);
    law_close(&l);
    return status;
}

/* ---- options ---- */

static void print_help(const option_spec *table) {
    wrap(
        "usage: tem estimate --epsilon E --prior PUBLIC [OPTIONS] [FILE]\n"
        "\n"
        "Estimates how often words were in the original of a released text. FILE is the output of\n"
        "'tem privatize'; '-', or no FILE, is standard input. Prints a table: for each group of\n"
        "records and each set of words the share of the words of the original texts, and an\n"
        "interval that holds the true share with a probability of about 95 % or more, if no word\n"
        "is more than R times as frequent as the prior expects (--ratio). This reads no private\n"
        "text and spends nothing.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem privatize --epsilon 2 --format csv --field text in.csv -o private.csv\n"
         "  tem estimate --epsilon 2 --prior public.txt --lexicon emotions.tsv \\\n"
         "      --by month --format csv --field text private.csv --plot emotions.svg\n"
         "\n"
         "Without --lexicon and --words tem shows the 20 words whose share seems to be most above\n"
         "the expected one or, with several groups, above the one in all groups. tem chooses them\n"
         "by the same text, so their intervals are optimistic.\n"
         "\n"
         "tells: no, if the interval is hardly narrower than it would be without the text.");
}

static int check_fields(estimate_request *r) {
    const int guessed =
        format_guess("estimate", &r->records.path, 1, r->records.field != NULL, &r->records.format);
    if (guessed != EXIT_DONE)
        return guessed;
    const bool fields = format_has_fields(r->records.format);
    if (fields && r->records.field == NULL)
        return talk_usage("estimate", "which field has the text? --field NAME");
    if (!fields && (r->records.field != NULL || r->records.by != NULL))
        return talk_usage("estimate", "--field and --by need --format %s",
                          format_names_with_fields());
    if (r->records.by != NULL && strcmp(r->records.by, r->records.field) == 0)
        return talk_usage("estimate", "--by must name another field than --field");
    return EXIT_DONE;
}

static int check_request(estimate_request *r) {
    tem_error error;
    int status = law_check("estimate", &r->choice);
    if (status != EXIT_DONE)
        return status;
    if (r->choice.prior_text == NULL)
        return talk_usage("estimate", "which words are expected? --prior PUBLIC, a public text of "
                                      "the same kind or its counts");
    if (r->ratio != 0 && r->ratio <= 1)
        return talk_usage("estimate", "--ratio takes a number above 1, such as 4");
    if (r->lexicon_path != NULL && r->words_path != NULL)
        return talk_usage("estimate", "give --lexicon or --words, not both");
    if (r->format_name != NULL &&
        tem_format_parse(r->format_name, &r->records.format, &error) != TEM_OK)
        return talk_usage("estimate", "--format: %s", error.message);
    status = check_fields(r);
    return status == EXIT_DONE && r->plot_path != NULL
               ? plot_check("estimate", r->plot_path, r->force)
               : status;
}

int command_estimate(int argc, char *const *argv) {
    estimate_request r = {.choice = LAW_CHOICE_DEFAULT, .records = {.path = "-"}};
    r.choice.needs_unknown = true;
    const option_spec table[] = {
        MECHANISM_OPTIONS(r.choice.mechanism),
        OWN_OPTIONS(r.choice.mechanism),
        LANGUAGE_OPTION(r.choice.mechanism),
        {"prior", 0, OPTION_FILE, &r.choice.prior_text, "PRIOR",
         "how often words are expected: a PUBLIC file, a text of the same kind or lines\n"
         "of WORD<TAB>COUNT; zipf or zipf:POWER if there is none; no default",
         0, 0},
        LAW_OPTIONS(r.choice, ";\nneeded if that file has none, and for zipf"),
        {"ratio", 0, OPTION_POSITIVE, &r.ratio, "R",
         "no word is more than R times as frequent in a group as expected (default 4)", 0, 0},
        {"lexicon", 0, OPTION_FILE, &r.lexicon_path, "FILE",
         "the sets of words: lines of CATEGORY<TAB>WORD", 0, 0},
        {"words", 0, OPTION_FILE, &r.words_path, "FILE", "one set for each word of FILE", 0, 0},
        {"format", 0, OPTION_TEXT, &r.format_name, "F", format_names_all(), 0, 0},
        {"field", 0, OPTION_TEXT, &r.records.field, "NAME", "the field with the released text", 0,
         0},
        {"by", 0, OPTION_TEXT, &r.records.by, "FIELD",
         "a group for each value of FIELD (default: all records together)", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        {"plot", 0, OPTION_TEXT, &r.plot_path, "FILE",
         "draw the estimates and their intervals: FILE.svg or FILE.png", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the plot", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.records.path, 1, &operands, message))
        return talk_usage("estimate", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r);
    return status == EXIT_DONE ? estimate(&r) : status;
}
