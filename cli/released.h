/* released.h - counts the words of released text, the output of 'tem privatize', by group. */
#ifndef CLI_RELEASED_H
#define CLI_RELEASED_H

#include "law_options.h"
#include "tem_command.h"

/* The records with the same value of a field. */
typedef struct released_group {
    char *name; /* the value, name_bytes long; a NUL follows */
    size_t name_bytes;
    uint64_t documents, words;
    double *counts; /* per word of the model */
} released_group;

typedef struct released {
    released_group *groups; /* in the order in which they first occur; none is without words */
    uint32_t count;
    uint32_t empty;   /* groups without words, which are left out */
    uint64_t words;   /* words of all groups */
    uint64_t foreign; /* words that the mechanism never outputs */
    uint64_t skipped; /* kept punctuation, masks and kept unknown words */
} released;

/* What stands between two blanks of a released text. */
typedef enum released_kind {
    RELEASED_WORD,        /* an output of the mechanism */
    RELEASED_PUNCTUATION, /* that was kept */
    RELEASED_UNKNOWN,     /* <unk>, or an unknown word that was kept */
    RELEASED_FOREIGN,     /* a word that the mechanism never outputs */
} released_kind;

typedef struct released_word {
    released_kind kind;
    uint32_t id; /* of a RELEASED_WORD */
} released_word;

tem_status released_classify(const law *l, const char *word, size_t length, released_word *out,
                             tem_error *error);
bool released_is_blank(char c);

/* Refuses a text without released words, and one with more than 1 % foreign ones. Returns an exit
 * status; prints what is wrong. */
int released_check(const char *path, uint64_t words, uint64_t foreign);

/* Reads the records and counts their words. tem separates words by one blank, so a released word is
 * what stands between two blanks, and it must be a word of the model as it is, letter by letter.
 * So original text, with capital letters and commas, is recognized: tem refuses a file in which
 * more than 1 % of the words are none that the mechanism outputs. It skips punctuation that the
 * mechanism does not output, and <unk>, which masks unknown words.
 * Returns an exit status; prints what went wrong. Free with released_free. */
int released_read(const tem_records *records, const law *l, const tem_run *run, released *out);
void released_free(released *r);

/* The counts as tem_learn.h takes them: a row per word of the model, `columns` numbers to a row,
 * columns >= the number of groups. The numbers beyond the groups are 0. NULL if memory is short. */
double *released_matrix(const released *r, uint32_t words, uint32_t columns);

#endif
