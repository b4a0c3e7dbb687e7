/* adapt_family.h - models that keep the same signals more or less strongly: the epsilon that each
 * needs for a target, and how well the signals are told there. */
#ifndef CLI_ADAPT_FAMILY_H
#define CLI_ADAPT_FAMILY_H

#include "signal_set.h"

/* The target. */
typedef struct family_wish {
    double bayes;   /* the best guess at a word is right at most this often */
    double exposed; /* no word stays itself more often; 0: no limit */
    double rest;    /* s is at least this many times that of the plain space; 0: no limit */
} family_wish;

/* A model with what is needed to measure it. */
typedef struct family_model {
    const tem_model *model;
    const signal_set *signals;
    tem_prior *prior;
    tem_accountant *accountant;
} family_model;

/* Reads the prior and looks at all pairs of words. The model and the signals must live as long as
 * `out`. Returns an exit status; prints what went wrong. Close with family_close, also after a
 * failure. */
int family_open(const char *command, const tem_model *model, const signal_set *signals,
                const char *prior_text, const tem_run *run, bool quiet, family_model *out);
void family_close(family_model *m);

/* A model at the target. */
typedef struct family_member {
    const char *label;              /* the stretch, or the path of the model; not owned */
    double stretch;                 /* 0: the plain space */
    double squash;                  /* 0: none */
    bool reached;                   /* some epsilon keeps --bayes and --exposed */
    char why_not[256];              /* if not reached */
    bool limited;                   /* the most exposed word decides epsilon, not the guess */
    bool lacks_rest;                /* s is too small; family_judge sets it */
    tem_point point;                /* the epsilon and its effects */
    tem_told told[TEM_SIGNALS_MAX]; /* of each signal */
    double side, variance;          /* their means over the signals */
} family_member;

/* Finds the largest epsilon that keeps the target, and how well the signals are told there. Sets
 * all fields but label, stretch, squash and lacks_rest. That no epsilon keeps the target is no
 * failure. Fails as tem_accountant_choose and signal_set_tell do. */
tem_status family_measure(const family_model *m, const family_wish *wish, const tem_run *run,
                          family_member *member, tem_error *error);

/* Sets `lacks_rest` by the s of the plain space. */
void family_judge(family_member *member, const family_member *plain, const family_wish *wish);

/* Whether the member keeps the target. */
bool family_keeps(const family_member *member);

/* Whether a member keeps the target, and the other does not or has worse-kept signals: a smaller
 * mean variance. */
bool family_is_better(const family_member *member, const family_member *other);

/* Of the members that keep the target, the one with the best-kept signals: the largest mean
 * variance. NULL: none keeps the target. */
const family_member *family_best(const family_member *members, size_t count);

/* Prints a line per member. `title` names the labels, which are at most `width` bytes wide; `best`
 * is marked, or NULL. */
void family_print(const char *title, int width, const family_member *members, size_t count,
                  uint32_t signals, const family_member *best);

/* Returns a member as an object, or NULL if memory is short or a name is not UTF-8. */
json_t *family_as_json(const family_member *member, const signal_set *signals);

#endif
