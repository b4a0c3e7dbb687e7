/* command_attack.c - tem attack: guesses the words behind released text. */
#include "attack_examples.h"
#include "attack_masks.h"
#include "attack_score.h"
#include "attack_text.h"
#include "commands.h"
#include "format_names.h"
#include "language_option.h"
#include "law_options.h"
#include "outputs.h"
#include "prior_option.h"
#include "show.h"
#include "talk.h"
#include "wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_DEFAULT = 20000,
    CANDIDATES_DEFAULT = 20,
    CANDIDATES_MAX = 10000,
    PAIRS_MAX = 100000000,
    SCORES_MAX = 5
};

typedef struct attack_request {
    common_options common;
    law_choice choice;
    tem_records records;
    const char *format_name, *original, *ngram_path, *output, *guesses_path;
    const char *examples, *examples_released;        /* NULL: a mechanism of tem */
    uint64_t order, beam, pairs, sample, candidates; /* order 0: that of the n-gram model */
    option_list lists;
    mask_export masks;
    bool json, force, export_original;
} attack_request;

/* An attack under way. */
typedef struct attack_state {
    const attack_request *request;
    const tem_run *run;
    law l;
    tem_ngram *ngram;
    tem_attack *attack;
    uint64_t pairs; /* of examples */
    attack_text text;
    score_groups groups;
    attack_score scores[SCORES_MAX];
    uint32_t *guesses[SCORES_MAX];
    uint32_t count;
} attack_state;

static int complain_memory(void) {
    const tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    return talk_error(&error);
}

/* ---- guesses ---- */

static double mean_of(const double *numbers, uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += numbers[i];
    return count == 0 ? NAN : sum / (double)count;
}

/* Lets an attacker guess, and keeps its guesses. */
static int run_attacker(attack_state *a, tem_attacker attacker) {
    const uint64_t words = attack_text_words(&a->text);
    const tem_documents documents = attack_text_documents(&a->text);
    uint32_t *guesses = calloc(words + 1, sizeof *guesses);
    double *success = calloc(words + 1, sizeof *success);
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    tem_status status =
        guesses == NULL || success == NULL
            ? TEM_ERR_MEMORY
            : tem_attack_guess(a->attack, attacker, &documents, a->run, guesses, success, &error);
    talk_end_progress();
    if (status == TEM_OK) {
        a->guesses[a->count] = guesses;
        a->scores[a->count++] =
            (attack_score){tem_attacker_name(attacker), guesses, mean_of(success, words)};
    } else {
        free(guesses);
    }
    free(success);
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int import_guesses(attack_state *a) {
    uint32_t *guesses = calloc(attack_text_words(&a->text) + 1, sizeof *guesses);
    if (guesses == NULL)
        return complain_memory();
    a->guesses[a->count] = guesses;
    a->scores[a->count++] = (attack_score){"imported", guesses, NAN};
    return masks_read_guesses(a->request->guesses_path, a->l.model, &a->text, guesses);
}

/* The attacker with context, by --order or by the n-gram model. */
static tem_attacker context_attacker(const attack_state *a) {
    tem_ngram_info info;
    tem_ngram_get_info(a->ngram, &info);
    const uint64_t order = a->request->order == 0 ? info.order : a->request->order;
    talk_note(a->request->common.quiet || order == info.order,
              "%s: its bigrams are made to back off to; 'tem ngram --order 2' makes better ones",
              a->request->ngram_path);
    return order == 2 ? TEM_ATTACKER_BIGRAM : TEM_ATTACKER_TRIGRAM;
}

static int run_attackers(attack_state *a) {
    int status = run_attacker(a, TEM_ATTACKER_ITSELF);
    if (status == EXIT_DONE)
        status = run_attacker(a, TEM_ATTACKER_NEAREST);
    if (status == EXIT_DONE)
        status = run_attacker(a, TEM_ATTACKER_WORD);
    if (status == EXIT_DONE && a->ngram != NULL)
        status = run_attacker(a, context_attacker(a));
    return status;
}

/* ---- output ---- */

/* Writes the guesses of an attacker as text, a line per document. */
static int write_guesses(const attack_state *a, const attack_score *score) {
    char *content = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&content, &bytes);
    if (out == NULL)
        return complain_memory();
    uint64_t at = 0;
    for (uint64_t d = 0; d < a->text.documents; d++) {
        for (const uint64_t first = at; at < a->text.ends[d]; at++) {
            size_t length = strlen("<unk>");
            const char *word = tem_model_word(a->l.model, score->guesses[at], &length);
            if (at > first)
                putc(' ', out);
            fwrite(word == NULL ? "<unk>" : word, 1, word == NULL ? strlen("<unk>") : length, out);
        }
        putc('\n', out);
    }
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    const tem_overwrite overwrite = a->request->force ? TEM_OVERWRITE : TEM_KEEP_EXISTING;
    const bool done =
        fclose(out) == 0 && tem_file_write(a->request->output, content, bytes, overwrite,
                                           TEM_READERS_USUAL, &error) == TEM_OK;
    free(content);
    return done ? EXIT_DONE : talk_error(&error);
}

static json_t *mechanism_as_json(const tem_mechanism_info *info) {
    return json_pack("{s:s, s:f, s:f, s:f}", "mechanism", info->properties->name, "epsilon",
                     info->epsilon, "s", info->s, "gamma", info->gamma);
}

static bool print_json(const attack_state *a) {
    json_t *attackers = json_array();
    for (uint32_t i = 0; i < a->count; i++)
        json_array_append_new(attackers, score_as_json(&a->text, &a->groups, &a->scores[i]));
    json_t *object = a->l.mechanism != NULL
                         ? mechanism_as_json(&a->l.info)
                         : json_pack("{s:n, s:s, s:I}", "mechanism", "examples",
                                     a->request->examples, "pairs", (json_int_t)a->pairs);
    json_t *rest = json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:o}", "prior", a->request->choice.prior_text, "ngram",
        a->request->ngram_path == NULL ? json_null() : json_string(a->request->ngram_path),
        "documents", (json_int_t)a->text.documents, "words",
        (json_int_t)attack_text_words(&a->text), "all_words", (json_int_t)a->text.all_words,
        "attackers", attackers);
    json_object_update(object, rest);
    json_decref(rest);
    return print_as_json(object);
}

static int print_scores(const attack_state *a) {
    if (a->request->json)
        return print_json(a) ? EXIT_DONE : EXIT_FAILED;
    score_print(&a->text, &a->groups, a->scores, a->count);
    return EXIT_DONE;
}

/* What the trigram attacker expects assumes that the right word is among those of its beam. The
 * number is from docs/ATTACKS.md. */
static void tell_beam(const attack_state *a) {
    const uint64_t beam = a->request->beam > 0 ? a->request->beam : TEM_BEAM_DEFAULT;
    bool is_trigram = false;
    for (uint32_t i = 0; i < a->count; i++)
        is_trigram |= strcmp(a->scores[i].attacker, tem_attacker_name(TEM_ATTACKER_TRIGRAM)) == 0;
    if (is_trigram && beam < a->l.model_info.words)
        talk_note(
            a->request->common.quiet,
            "trigram looks at the %s likeliest words per place only (--beam), and the right "
            "word may be\nanother. On film reviews it recovered up to 3.4 points less than it "
            "expected, and fewer words than\nbigram where the noise is large. bigram looks at "
            "all words.",
            talk_count(beam));
}

static void say_what_was_done(const attack_state *a, double seconds) {
    const bool quiet = a->request->common.quiet;
    const uint64_t words = attack_text_words(&a->text);
    talk_note(quiet, "attacked %s of %s released words, in %s documents, of %s%s%s: %.1f s",
              talk_count(words), talk_count(a->text.all_words), talk_count(a->text.documents),
              a->l.mechanism != NULL ? a->l.info.properties->name : "another program",
              a->l.mechanism != NULL ? " at epsilon " : "",
              a->l.mechanism != NULL ? talk_number(a->l.info.epsilon) : "", seconds);
    talk_note(
        quiet || a->text.originals == NULL,
        "recovered words in percent of the known words, +- the larger half of the 95 %% interval "
        "as if words\nwere independent draws; words of one document are not, so the true interval "
        "is wider.");
    tell_beam(a);
    talk_note(quiet, "A better attacker may recover more. Only a proof bounds all attackers.");
}

/* ---- the command ---- */

/* Learns what another program does from examples. */
static int learn_examples(attack_state *a, tem_attack_options options) {
    const attack_request *r = a->request;
    attack_examples e = {.pairs = 0};
    tem_error error;
    int status =
        attack_examples_read(&r->records, r->examples, r->examples_released, &a->l, a->run, &e);
    if (status == EXIT_DONE) {
        talk_note(r->common.quiet,
                  "learned from %s pairs of a word and its output; left out %s outputs that the "
                  "model does not have",
                  talk_count(e.pairs), talk_count(e.outside));
        a->pairs = e.pairs;
        if (r->choice.unknown < 0) /* below 1, whatever the pairs are */
            options.expected.unknown = (double)e.unknown / (double)(e.pairs + 1);
        if (tem_attack_create_from_pairs(a->l.model, e.text.originals, e.text.words, e.pairs,
                                         &options, a->run, &a->attack, &error) != TEM_OK)
            status = talk_error(&error);
        talk_end_progress();
    }
    attack_examples_free(&e);
    return status;
}

static int prepare(attack_state *a) {
    const attack_request *r = a->request;
    tem_error error;
    const tem_attack_options options = {.expected = a->l.expected,
                                        .ngram = a->ngram,
                                        .beam = (uint32_t)r->beam,
                                        .pairs = (uint32_t)r->pairs};
    if (r->examples != NULL)
        return learn_examples(a, options);
    const tem_status status =
        tem_attack_create(a->l.mechanism, &options, a->run, &a->attack, &error);
    talk_end_progress();
    return status == TEM_OK ? EXIT_DONE : talk_error(&error);
}

static int load_ngram(attack_state *a) {
    const attack_request *r = a->request;
    tem_error error;
    tem_ngram_info info;
    if (r->ngram_path == NULL)
        return EXIT_DONE;
    const tem_status status = tem_ngram_load(a->l.model, r->ngram_path, a->run, &a->ngram, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    tem_ngram_get_info(a->ngram, &info);
    talk_note(r->common.quiet || info.outside == 0,
              "%s: left out %s word%s that the model does not have", r->ngram_path,
              talk_count(info.outside), info.outside == 1 ? "" : "s");
    if (r->order > info.order)
        return talk_usage("attack", "--order %d: %s has no trigrams; 'tem ngram' makes them",
                          (int)r->order, r->ngram_path);
    return EXIT_DONE;
}

static int make_groups(attack_state *a) {
    const uint32_t words = (uint32_t)a->l.model_info.words;
    double *shares = calloc(words + (size_t)1, sizeof *shares);
    if (shares == NULL)
        return complain_memory();
    tem_attack_shares(a->attack, shares, NULL);
    const int status = score_groups_make(a->l.model, shares, words, &a->request->lists,
                                         a->request->common.quiet, &a->groups);
    free(shares);
    return status;
}

/* Another program may give out words that the model does not have. Nobody guesses at these, so a
 * text of nothing else would look safe. */
static int check_known(const attack_state *a) {
    const uint64_t words = attack_text_words(&a->text);
    uint64_t known = 0;
    for (uint64_t i = 0; i < words; i++)
        known += a->text.words[i] != TEM_NO_WORD;
    if (known == 0) {
        fprintf(stderr, "tem: %s: the model has no word of it, so there is nothing to attack\n",
                a->request->records.path);
        return EXIT_FAILED;
    }
    talk_note(a->request->common.quiet || known == words,
              "%s: the model does not have %s of %s words; nobody guesses what was behind these",
              a->request->records.path, talk_count(words - known), talk_count(words));
    return EXIT_DONE;
}

static int read_texts(attack_state *a) {
    const attack_request *r = a->request;
    tem_records original = r->records;
    original.path = r->original;
    int status = r->examples != NULL
                     ? attack_text_read_plain(&r->records, a->l.model, a->run, &a->text)
                     : attack_text_read(&r->records, &a->l, a->run, &a->text);
    if (status == EXIT_DONE && r->examples != NULL)
        status = check_known(a);
    if (status == EXIT_DONE && r->original != NULL)
        status = attack_text_read_original(&original, r->records.path, &a->l, a->run, &a->text);
    if (status == EXIT_DONE && r->output == NULL && !attack_text_sample(&a->text, r->sample))
        return complain_memory();
    return status;
}

static int attack_all(attack_state *a) {
    const attack_request *r = a->request;
    const double start = talk_clock();
    int status = run_attackers(a);
    if (status == EXIT_DONE && r->guesses_path != NULL)
        status = import_guesses(a);
    if (status == EXIT_DONE && r->masks.path != NULL)
        status = masks_write(&r->masks, a->l.model, a->attack, &a->text, a->run);
    if (status == EXIT_DONE && r->output != NULL)
        status = write_guesses(a, &a->scores[a->count - 1]);
    if (status == EXIT_DONE)
        status = print_scores(a);
    if (status == EXIT_DONE)
        say_what_was_done(a, talk_clock() - start);
    return status;
}

/* A shuffled text has no places to compare, and no words that follow each other. */
static int check_order(const attack_request *r, const run_report *report) {
    if (!report->is_shuffled || (r->original == NULL && r->ngram_path == NULL))
        return EXIT_DONE;
    return talk_usage("attack", "the report says that the words were shuffled: leave out %s",
                      r->original != NULL ? "--original" : "--ngram");
}

static int attack(const attack_request *r) {
    const tem_run run = talk_run((unsigned)r->common.threads, r->common.quiet);
    attack_state a = {.request = r, .run = &run};
    int status = law_open("attack", &r->common, &r->choice, &run, &a.l);
    if (status == EXIT_DONE && r->masks.path != NULL && r->candidates > a.l.model_info.words)
        status = talk_usage("attack", "--candidates %d: the model has %s words", (int)r->candidates,
                            talk_count(a.l.model_info.words));
    if (status == EXIT_DONE)
        status = check_order(r, &a.l.report);
    if (status == EXIT_DONE)
        status = load_ngram(&a);
    if (status == EXIT_DONE)
        status = read_texts(&a);
    if (status == EXIT_DONE)
        status = prepare(&a);
    if (status == EXIT_DONE)
        status = make_groups(&a);
    if (status == EXIT_DONE)
        status = attack_all(&a);
    for (uint32_t i = 0; i < a.count; i++)
        free(a.guesses[i]);
    score_groups_free(&a.groups);
    attack_text_free(&a.text);
    tem_attack_free(a.attack);
    tem_ngram_free(a.ngram);
    law_close(&a.l);
    return status;
}

static void print_help(const option_spec *table) {
    wrap("usage: tem attack RELEASED --epsilon E [OPTIONS]\n"
         "       tem attack RELEASED --examples PUBLIC --examples-released FILE [OPTIONS]\n"
         "\n"
         "Guesses the words behind released text, the output of 'tem privatize', as attackers\n"
         "would who know the model, the mechanism and public text: itself (the released word),\n"
         "nearest (the nearest other word), word (the best guess from prior and law) and, with\n"
         "--ngram, bigram or trigram (the best guess from the whole document). With --original it\n"
         "counts the words that they recover; without it, it prints what they expect to recover.\n"
         "--examples attacks the output of any other program that replaces words by words.\n"
         "'-' as RELEASED is standard input. --prior, --ngram and --examples must be public.\n");
    options_print_help(stdout, table);
    wrap("\n"
         "  tem ngram public.txt -o public.arpa\n"
         "  tem attack released.txt --epsilon 2 --prior public.txt --ngram public.arpa \\\n"
         "      --original original.txt\n"
         "  tem attack theirs.txt --examples public.txt --examples-released out.txt \\\n"
         "      --prior public.txt --original original.txt\n"
         "\n"
         "A measured attack is a lower bound: a better attacker may recover more.");
}

static int check_outputs(const attack_request *r) {
    const char *const paths[][2] = {{"-o", r->output}, {"--export-masks", r->masks.path}};
    for (int i = 0; i < 2; i++) {
        if (paths[i][1] == NULL)
            continue;
        if (outputs_include(paths[i][1]))
            return talk_usage("attack", "-o and --export-masks name the same file");
        if (!outputs_check(paths[i][1], r->force))
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int check_fields(attack_request *r) {
    const int guessed =
        format_guess("attack", &r->records.path, 1, r->records.field != NULL, &r->records.format);
    if (guessed != EXIT_DONE)
        return guessed;
    const bool fields = format_has_fields(r->records.format);
    if (fields && r->records.field == NULL)
        return talk_usage("attack", "which field has the text? --field NAME");
    if (!fields && r->records.field != NULL)
        return talk_usage("attack", "--field needs --format %s", format_names_with_fields());
    return EXIT_DONE;
}

static int check_lists(const option_list *lists) {
    for (size_t i = 0; i < lists->count; i++) {
        const char *value = lists->items[i].value, *equals = strchr(value, '=');
        if (equals == NULL || equals == value || equals[1] == '\0')
            return talk_usage("attack", "--lists takes NAME=FILE, such as names=names.txt");
    }
    return EXIT_DONE;
}

/* Standard input can be read once. */
static int check_standard_input(const attack_request *r) {
    const char *const inputs[] = {r->records.path, r->original, r->examples, r->examples_released};
    int count = 0;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        count += inputs[i] != NULL && strcmp(inputs[i], "-") == 0;
    return count > 1 ? talk_usage("attack", "only one of the texts can be standard input")
                     : EXIT_DONE;
}

/* Examples take the place of everything that says what a mechanism of tem does. */
static int check_examples(attack_request *r) {
    const mechanism_choice *m = &r->choice.mechanism;
    if ((r->examples == NULL) != (r->examples_released == NULL))
        return talk_usage("attack", "--examples and --examples-released go together");
    const bool has_mechanism = m->epsilon > 0 || m->beta > 0 || m->gamma > 0 ||
                               m->mechanism != NULL || m->calibrated || m->weights_name != NULL ||
                               m->numbers.count > 0 || m->list_path != NULL ||
                               m->never_path != NULL || language_option_is_given(m->language) ||
                               r->pairs > 0 || r->choice.report_path != NULL;
    if (r->examples != NULL && has_mechanism)
        return talk_usage("attack", "--examples say what another program does: leave out the "
                                    "options of a mechanism, --pairs and --report");
    r->choice.is_foreign = r->examples != NULL;
    return check_standard_input(r);
}

static int check_request(attack_request *r, size_t operands) {
    tem_error error;
    if (operands == 0)
        return talk_usage("attack", "which released text? '-' is standard input");
    const int status_examples = check_examples(r);
    if (status_examples != EXIT_DONE)
        return status_examples;
    if (r->examples == NULL && r->choice.mechanism.epsilon <= 0)
        return talk_usage("attack",
                          "which epsilon? --epsilon E, the one that the text was released "
                          "with; the report of that run has it");
    if (r->ngram_path == NULL && (r->order > 0 || r->beam > 0))
        return talk_usage("attack", "--order and --beam need --ngram LM");
    if (r->original == NULL && (r->guesses_path != NULL || r->lists.count > 0))
        return talk_usage("attack", "--import-guesses and --lists need --original FILE");
    if (r->export_original && (r->original == NULL || r->masks.path == NULL))
        return talk_usage("attack", "--export-original needs --original and --export-masks");
    if (r->format_name != NULL &&
        tem_format_parse(r->format_name, &r->records.format, &error) != TEM_OK)
        return talk_usage("attack", "--format: %s", error.message);
    r->masks.force = r->force;
    r->masks.candidates = (uint32_t)r->candidates;
    r->masks.with_originals = r->export_original;
    int status = check_fields(r);
    if (status == EXIT_DONE)
        status = check_lists(&r->lists);
    return status == EXIT_DONE ? check_outputs(r) : status;
}

int command_attack(int argc, char *const *argv) {
    attack_request r = {
        .choice = LAW_CHOICE_DEFAULT, .sample = SAMPLE_DEFAULT, .candidates = CANDIDATES_DEFAULT};
    r.choice.prior_text = PRIOR_DEFAULT;
    r.choice.mechanism.allow_no_guarantee = true; /* attacking a mechanism releases nothing */
    const option_spec table[] = {
        MECHANISM_OPTIONS(r.choice.mechanism),
        OWN_OPTIONS(r.choice.mechanism),
        LANGUAGE_OPTION(r.choice.mechanism),
        PRIOR_OPTION(r.choice.prior_text),
        LAW_OPTIONS(r.choice, ", else 0"),
        {"original", 0, OPTION_FILE, &r.original, "FILE",
         "the original of RELEASED, the same records: count the recovered words", 0, 0},
        {"ngram", 0, OPTION_FILE, &r.ngram_path, "LM",
         "guess by context, with a file of 'tem ngram' or in ARPA format", 0, 0},
        {"order", 0, OPTION_COUNT, &r.order, "N",
         "2: bigrams, 3: trigrams (default: as LM has them)", 2, 3},
        {"beam", 0, OPTION_COUNT, &r.beam, "N", "trigrams: words per position (default 64)", 1,
         TEM_BEAM_MAX},
        {"pairs", 0, OPTION_COUNT, &r.pairs, "N",
         "mechanisms without an exact law: draws to learn from (default 500000)", 1, PAIRS_MAX},
        {"examples", 0, OPTION_FILE, &r.examples, "FILE",
         "instead of a mechanism: a PUBLIC text that you ran another program on, and", 0, 0},
        {"examples-released", 0, OPTION_FILE, &r.examples_released, "FILE",
         "what came out: tem learns from these two texts what that program does", 0, 0},
        {"sample", 0, OPTION_COUNT, &r.sample, "N",
         "attack whole documents until they have N words; 0: all (default 20000; with\n"
         "-o all)",
         0, UINT32_MAX},
        {"lists", 0, OPTION_FILES, &r.lists, "NAME=FILE",
         "also count the words of FILE, one per line; several times if need be", 0, 0},
        {"export-masks", 0, OPTION_TEXT, &r.masks.path, "FILE",
         "write JSONL: each released word with its context and the words that may be\n"
         "behind it, for a language model of yours",
         0, 0},
        {"candidates", 0, OPTION_COUNT, &r.candidates, "K",
         "--export-masks: words per position (default 20)", 1, CANDIDATES_MAX},
        {"export-original", 0, OPTION_FLAG, &r.export_original, NULL,
         "--export-masks: also write the original words", 0, 0},
        {"import-guesses", 0, OPTION_FILE, &r.guesses_path, "FILE",
         "also count the guesses of that model: JSONL with document, position, guess", 0, 0},
        {"format", 0, OPTION_TEXT, &r.format_name, "F", format_names_all(), 0, 0},
        {"field", 0, OPTION_TEXT, &r.records.field, "NAME", "the field with the text", 0, 0},
        {"output", 'o', OPTION_TEXT, &r.output, "FILE",
         "write the text that the best of these attackers guesses", 0, 0},
        {"json", 0, OPTION_FLAG, &r.json, NULL, "print one JSON object", 0, 0},
        {"force", 'f', OPTION_FLAG, &r.force, NULL, "overwrite the output", 0, 0},
        TRUSTED_MODEL_OPTIONS(r.common),
        COMMON_OPTIONS(r.common),
    };
    char message[OPTION_MESSAGE_BYTES];
    size_t operands = 0;
    if (!options_parse(argc, argv, table, &r.records.path, 1, &operands, message))
        return talk_usage("attack", "%s", message);
    if (r.common.help) {
        print_help(table);
        return EXIT_DONE;
    }
    const int status = check_request(&r, operands);
    return status == EXIT_DONE ? attack(&r) : status;
}
