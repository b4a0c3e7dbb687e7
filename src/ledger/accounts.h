/* accounts.h - the cost that was charged to each person.
 *
 * A ledger identifies a person by 16 bytes (ledger_person). An account keeps its index for good,
 * and a hash table of indices finds it. The 16 bytes are a hash under a salt, so any eight of them
 * serve as the hash for the table. */
#ifndef LEDGER_ACCOUNTS_H
#define LEDGER_ACCOUNTS_H

#include "ledger/amount.h"

enum { PERSON_BYTES = 16 };

/* The two costs of a word, which a ledger adds up side by side: epsilon, in a unit such as the
 * distance of one model; and the bound between any two inputs, which has no unit. */
typedef enum cost_kind { COST_EPSILON, COST_BOUND, COST_KINDS } cost_kind;

typedef struct account {
    unsigned char person[PERSON_BYTES];
    amount spent[COST_KINDS]; /* the sums of the charges in the ledger */
    uint64_t words;        /* words of this run: to be charged, or charged and not yet released */
    uint64_t own_words;    /* words of this run that were charged */
    uint64_t first_record; /* first record of the person in this run, from 1; 0: none yet */
} account;

typedef struct accounts {
    account *items;
    size_t count, capacity;
    uint32_t *table; /* index + 1, or 0 for a free place; it has 2 * capacity places */
} accounts;

/* Returns the index of a person's account, and opens an account if the person has none. Returns
 * SIZE_MAX if there is no memory, or if there are 2^31 accounts already. */
size_t accounts_find(accounts *a, const unsigned char person[PERSON_BYTES]);

void accounts_free(accounts *a);

#endif
