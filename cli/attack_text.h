/* attack_text.h - released text, and its original, as ids of words, document by document. */
#ifndef CLI_ATTACK_TEXT_H
#define CLI_ATTACK_TEXT_H

#include "released.h"
#include "tem_attack.h"

/* Words of documents. `originals` has the words behind those of `words`, if there is an original:
 * TEM_NO_WORD for unknown ones. */
typedef struct attack_text {
    uint32_t *words;
    uint32_t *originals; /* NULL: no original */
    uint64_t *ends;      /* per document: the number of words up to its end */
    uint64_t *numbers;   /* per document: its record, counted from 1 */
    uint64_t documents;
    uint64_t all_words; /* words before the sample was taken */
} attack_text;

/* Reads released text. `l` tells which words are outputs. Returns an exit status; prints what went
 * wrong. Free with attack_text_free, also after a failure. */
int attack_text_read(const tem_records *records, const law *l, const tem_run *run,
                     attack_text *out);

/* Reads the original of a released text, that of the file `released_path`: the same records in the
 * same order, and in each as many words. Refuses another text; no message contains a word. */
int attack_text_read_original(const tem_records *records, const char *released_path, const law *l,
                              const tem_run *run, attack_text *text);

/* Reads original text as it is, one document per record, for drawing from it. */
int attack_text_read_plain(const tem_records *records, const tem_model *model, const tem_run *run,
                           attack_text *out);

/* Keeps whole documents, chosen at random by a fixed seed, until they have `words` words; 0: keeps
 * all. They stay in the order of the file. False if memory is short. */
bool attack_text_sample(attack_text *text, uint64_t words);

void attack_text_free(attack_text *text);

static inline uint64_t attack_text_words(const attack_text *text) {
    return text->documents == 0 ? 0 : text->ends[text->documents - 1];
}

static inline tem_documents attack_text_documents(const attack_text *text) {
    return (tem_documents){.words = text->words, .ends = text->ends, .count = text->documents};
}

#endif
