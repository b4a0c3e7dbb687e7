/* accounts.h - what each person has spent.
 *
 * A person is the 16 bytes that the ledger has for them. Accounts stay at their index once
 * they are there; a table of indices finds them. The bytes are a hash under a salt, so any eight of
 * them are as good as any hash for the table. */
#ifndef LEDGER_ACCOUNTS_H
#define LEDGER_ACCOUNTS_H

#include "ledger/amount.h"

enum { PERSON_BYTES = 16 };

typedef struct account {
    unsigned char person[PERSON_BYTES];
    amount spent;          /* by the ledger */
    uint64_t words;        /* of this run: to be charged, or charged and not yet released */
    uint64_t own_words;    /* of this run: charged */
    uint64_t first_record; /* of this run, from 1; 0: none yet */
} account;

typedef struct accounts {
    account *items;
    size_t count, capacity;
    uint32_t *table; /* index + 1, or 0; twice as many places as `capacity` */
} accounts;

/* The index of a person's account, which is opened if there is none; SIZE_MAX if there is no
 * memory, or there are 2^31 already. */
size_t accounts_find(accounts *a, const unsigned char person[PERSON_BYTES]);

void accounts_free(accounts *a);

#endif
