/* choose_context.c - 'tem choose --context': the epsilon for an attacker with context. */
#include "choose_context.h"

#include "attack_text.h"
#include "prior_option.h"
#include "show.h"
#include "talk.h"
#include "trust.h"

#include <jansson.h>
#include <string.h>

typedef struct context_state {
    const context_request *request;
    const tem_run *run;
    tem_model *model;
    tem_prior *prior;
    tem_ngram *ngram;
    attack_text text;
} context_state;

static const char *attacker_of(const context_state *c) {
    tem_ngram_info info;
    tem_ngram_get_info(c->ngram, &info);
    return tem_attacker_name(info.order == 3 ? TEM_ATTACKER_TRIGRAM : TEM_ATTACKER_BIGRAM);
}

static void print_text(const context_state *c, const tem_context_answer *a) {
    const context_request *r = c->request;
    printf("epsilon %.4g: the attacker with context (%s) recovers %.2f %% of the words, at most "
           "%.6g %%\n",
           a->epsilon, attacker_of(c), 100 * a->share, 100 * r->bayes);
    printf("95 %% interval %.2f to %.2f %%, from %s known words of %s documents of %s\n",
           100 * a->low, 100 * a->high, talk_count(a->words), talk_count(c->text.documents),
           r->text_path);
    printf("Without context the best guess recovers %.2f %% of the same words.\n",
           100 * a->word_share);
    printf("s = %.6f, gamma = %.4f, epsilon * gamma = %.2f; prior %s\n", a->s, a->gamma,
           a->epsilon * a->gamma, r->prior_text);
    puts("This is a measurement on this text with one set of draws, not a proof: words of one\n"
         "document are no independent draws, another text may give more, and a better attacker\n"
         "recovers more. Only epsilon bounds all attackers.");
}

static bool print_json(const context_state *c, const tem_context_answer *a) {
    return print_as_json(json_pack(
        "{s:f, s:s, s:f, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "epsilon",
        a->epsilon, "target", "bayes", "wanted", c->request->bayes, "context",
        c->request->ngram_path, "attacker", attacker_of(c), "prior", c->request->prior_text, "s",
        a->s, "gamma", a->gamma, "share", a->share, "low", a->low, "high", a->high, "word_share",
        a->word_share, "words", (json_int_t)a->words, "recovered", (json_int_t)a->recovered,
        "documents", (json_int_t)c->text.documents));
}

static int search(const context_state *c) {
    const context_request *r = c->request;
    tem_context_answer answer;
    tem_ngram_info info;
    tem_error error;
    tem_ngram_get_info(c->ngram, &info);
    const tem_context_wish wish = {
        .wanted = r->bayes,
        .beta = r->beta,
        .gamma = r->gamma,
        .attacker = info.order == 3 ? TEM_ATTACKER_TRIGRAM : TEM_ATTACKER_BIGRAM,
        .attack = {.expected = {.prior = c->prior, .unknown = -1}, .ngram = c->ngram},
        .documents = attack_text_documents(&c->text),
        .seed = 1};
    const tem_status status = tem_attack_choose(c->model, &wish, c->run, &answer, &error);
    talk_end_progress();
    if (status != TEM_OK)
        return talk_error(&error);
    if (r->json)
        return print_json(c, &answer) ? EXIT_DONE : EXIT_FAILED;
    print_text(c, &answer);
    return EXIT_DONE;
}

static int read_all(context_state *c) {
    const context_request *r = c->request;
    const tem_records records = {.path = r->text_path};
    tem_error error = {.status = TEM_ERR_MEMORY, .message = "out of memory"};
    int status = EXIT_DONE;
    c->prior = prior_choose("choose", r->prior_text, c->model, c->run, r->common->quiet, &status);
    if (c->prior == NULL)
        return status;
    const tem_status loaded = tem_ngram_load(c->model, r->ngram_path, c->run, &c->ngram, &error);
    talk_end_progress();
    if (loaded != TEM_OK)
        return talk_error(&error);
    status = attack_text_read_plain(&records, c->model, c->run, &c->text);
    if (status == EXIT_DONE && !attack_text_sample(&c->text, r->sample))
        return talk_error(&error);
    return status;
}

int choose_context(const context_request *r) {
    const tem_run run = talk_run((unsigned)r->common->threads, r->common->quiet);
    context_state c = {.request = r, .run = &run};
    c.model = trust_open_model(r->common->model, r->common->model_hash, &run);
    int status = c.model == NULL ? EXIT_FAILED : read_all(&c);
    if (status == EXIT_DONE)
        status = search(&c);
    attack_text_free(&c.text);
    tem_ngram_free(c.ngram);
    tem_prior_free(c.prior);
    tem_model_free(c.model);
    return status;
}
