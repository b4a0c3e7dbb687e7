/* function_words.c - which words of a vocabulary are English function words. */
#include "space/function_words.h"

#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* The lines of data/function-words.txt, in their order; a test compares the two. */
const char *const function_words_list[FUNCTION_WORDS] = {
    "a",          "an",      "the",       "this",    "that",     "these",    "those",
    "all",        "any",     "both",      "each",    "either",   "every",    "few",
    "many",       "more",    "most",      "much",    "neither",  "no",       "none",
    "some",       "such",    "other",     "another", "i",        "you",      "he",
    "she",        "it",      "we",        "they",    "me",       "him",      "her",
    "us",         "them",    "my",        "your",    "his",      "its",      "our",
    "their",      "myself",  "yourself",  "himself", "herself",  "itself",   "ourselves",
    "themselves", "someone", "something", "anyone",  "anything", "everyone", "everything",
    "nothing",    "one",     "who",       "whom",    "whose",    "which",    "what",
    "when",       "where",   "why",       "how",     "of",       "in",       "to",
    "for",        "with",    "on",        "at",      "by",       "from",     "about",
    "as",         "into",    "like",      "through", "after",    "over",     "between",
    "out",        "against", "during",    "without", "before",   "under",    "around",
    "among",      "above",   "across",    "behind",  "within",   "upon",     "off",
    "up",         "down",    "until",     "since",   "per",      "than",     "and",
    "or",         "but",     "nor",       "if",      "because",  "although", "though",
    "while",      "whether", "unless",    "so",      "be",       "am",       "is",
    "are",        "was",     "were",      "been",    "being",    "have",     "has",
    "had",        "having",  "do",        "does",    "did",      "doing",    "will",
    "would",      "shall",   "should",    "can",     "could",    "may",      "might",
    "must",       "cannot",  "not",       "there",   "here",     "then",     "too",
    "also",       "very",    "just",      "only",    "even",     "ever",     "never",
    "again",      "n't",     "'s",        "'m",      "'re",      "'ve",      "'d",
    "'ll",        "s",       "t",         "m",       "re",       "ve",       "d",
    "ll",         "don",     "doesn",     "didn",    "isn",      "aren",     "wasn",
    "weren",      "hasn",    "haven",     "hadn",    "couldn",   "wouldn",   "shouldn",
};

tem_status function_words_find(const vocab *words, function_words *found, tem_error *error) {
    *found = (function_words){.bits = core_alloc_zero(words->count / 64 + 1, sizeof(uint64_t)),
                              .words = words->count};
    if (found->bits == NULL)
        return core_fail_memory(error);
    for (size_t i = 0; i < FUNCTION_WORDS; i++) {
        const char *word = function_words_list[i];
        const uint32_t id = vocab_find(words, word, strlen(word));
        if (id == TEM_NO_WORD)
            continue;
        found->bits[id / 64] |= (uint64_t)1 << id % 64;
        found->count++;
    }
    return TEM_OK;
}

bool function_words_list_has(const char *word, size_t length) {
    for (size_t i = 0; length > 0 && i < FUNCTION_WORDS; i++) {
        const char *listed = function_words_list[i];
        if (listed[0] == word[0] && strlen(listed) == length && memcmp(listed, word, length) == 0)
            return true;
    }
    return false;
}

void function_words_free(function_words *found) {
    core_free(found->bits);
    *found = (function_words){.bits = NULL};
}
