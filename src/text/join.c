/* join.c - pieces of words come together again. */
#include "text/join.h"

#include "core/status.h"
#include "text/ascii.h"

#include <string.h>

/* What English puts together. A vocabulary has the endings as the Penn Treebank cuts them, with
 * their apostrophe, or as runs of letters, without it. The lists decide only what is tried: what
 * comes out is what reads back. A list is there because most endings are words or letters of their
 * own: "a d" is not "a'd". */
typedef struct word_ending {
    const char *text;
    const char *apostrophe; /* what comes before `text` in the joined word: "'" or "" */
    bool is_barred;         /* the list has the words that do not take it, and all others do */
    const char *words;      /* each with a space before and after it */
} word_ending;

#define PERSONS " i you he she it we they who that there "
#define NO_OWNERS                                                                                  \
    " a an the of to in on at by for from with into as and or but if than so my your his her its " \
    "our their i you we they me him us them is am are was were be been have has had do does did "  \
    "will would can could should not no very too s t d m re ve ll 's n't 'd 'm 're 've 'll "

static const word_ending endings[] = {
    {"n't", "", false,
     " do does did is are was were has have had could would should must need might ca wo ai sha "},
    {"t", "'", false,
     " don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn mustn needn mightn "
     "can won ain shan "},
    {"'s", "", true, NO_OWNERS},
    {"s", "'", true, NO_OWNERS},
    {"'m", "", false, " i "},
    {"m", "'", false, " i "},
    {"'re", "", false, " you we they who what there these those "},
    {"re", "'", false, " you we they who what there these those "},
    {"'ve", "", false, " i you we they who could would should might must "},
    {"ve", "'", false, " i you we they who could would should might must "},
    {"'ll", "", false, PERSONS "what this "},
    {"ll", "'", false, PERSONS "what this "},
    {"'d", "", false, PERSONS},
    {"d", "'", false, PERSONS},
};

enum { ENDING_MOST = 3, JOINED_MOST = 64 };

typedef struct span {
    const char *text;
    size_t length;
} span;

static bool is_equal(span word, const char *text, size_t length) {
    return word.length == length && memcmp(word.text, text, length) == 0;
}

/* The ending that a word is; NULL: it is none. */
static const word_ending *ending_of(span word) {
    if (word.length == 0 || word.length > ENDING_MOST)
        return NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (is_equal(word, endings[i].text, strlen(endings[i].text)))
            return &endings[i];
    return NULL;
}

static bool is_listed(span word, const char *list) {
    for (const char *at = list + 1; *at != '\0';) {
        const size_t length = (size_t)(strchr(at, ' ') - at);
        if (is_equal(word, at, length))
            return true;
        at += length + 1;
    }
    return false;
}

static bool takes(const word_ending *e, span word) {
    return word.length > 0 && is_listed(word, e->words) != e->is_barred;
}

static bool is_piece(const text_pieces *p, size_t i, span word) {
    const text_piece *piece = &p->pieces[i];
    return piece->word && piece->id != TEM_NO_WORD &&
           is_equal(word, p->text.data + piece->start, piece->length);
}

/* Whether cutting the two words, joined, gives these two again. */
static tem_status reads_back(text_pieces *cutter, span word, const word_ending *e, span ending,
                             bool *does, tem_error *error) {
    char joined[JOINED_MOST + 1 + ENDING_MOST];
    const size_t apostrophe = strlen(e->apostrophe);
    *does = false;
    if (word.length > JOINED_MOST)
        return TEM_OK;
    memcpy(joined, word.text, word.length);
    memcpy(joined + word.length, e->apostrophe, apostrophe);
    memcpy(joined + word.length + apostrophe, ending.text, ending.length);
    TRY(text_pieces_cut(cutter, joined, word.length + apostrophe + ending.length, error));
    *does = cutter->count == 2 && is_piece(cutter, 0, word) && is_piece(cutter, 1, ending);
    return TEM_OK;
}

tem_status join_words(text_pieces *cutter, core_buffer *text, size_t start, tem_error *error) {
    char *data = text->data;
    span before = {NULL, 0}; /* the word before, unless it has an ending already */
    size_t written = start;
    for (size_t at = start; at < text->size;) {
        const char *space = memchr(data + at, ' ', text->size - at);
        const size_t end = space == NULL ? text->size : (size_t)(space - data);
        const span word = {data + at, end - at};
        const word_ending *e = before.text != NULL ? ending_of(word) : NULL;
        bool joins = false;
        if (e != NULL && takes(e, before))
            TRY(reads_back(cutter, before, e, word, &joins, error));
        /* The space before the word stays, becomes an apostrophe, or goes. */
        if (at > start && (!joins || e->apostrophe[0] != '\0'))
            data[written++] = joins ? e->apostrophe[0] : ' ';
        memmove(data + written, word.text, word.length);
        before = (span){joins ? NULL : data + written, word.length};
        written += word.length;
        at = end + (space != NULL);
        if (space != NULL && at == text->size)
            data[written++] = ' ';
    }
    text->size = written;
    return TEM_OK;
}
