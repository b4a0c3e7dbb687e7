/* ledger.h - the file that says what was spent.
 *
 * PRIVACY: composition is a sum, and this is where it is kept. A charge is on the disk before
 * the first word that it pays for leaves the process; whatever happens after that, the ledger
 * says at least what was released, never less. When in doubt (a damaged file, a disk that is
 * full, a flush that failed) the call fails, and its caller must release nothing.
 *
 * A charge, under an exclusive lock (flock):
 *   1. The header is read, and the lines that others have added since the last time.
 *   2. The caller decides on what they say (ledger_left).
 *   3. The line is written after the last one that counts; fsync.
 *   4. The header is written over the old one, with the new length; fsync.
 *   5. The lock goes, the caller releases.
 * A process that is killed before 4 leaves bytes beyond the length that the header tells:
 * proof that no release followed, so the next charge overwrites them. A file that is shorter
 * than its header tells was cut, and is refused. */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "ledger/ledger_text.h"

typedef struct ledger {
    const char *path;
    const tem_run *run;
    int descriptor; /* -1: there is no ledger (dry runs only) */
    bool read_only, locked;
    bool created;           /* by ledger_open */
    uint64_t device, inode; /* of the descriptor */
    ledger_header header;
    uint64_t read;  /* bytes that were read and found right */
    uint64_t lines; /* in these */
    char check[LEDGER_CHECK_DIGITS];
    core_buffer line; /* memory for the lines that are read and written */
    char model[65];   /* the hash of the model of this run */

    /* What the lines say. */
    core_buffer by;          /* the field that names people, as a JSON string; empty: none */
    amount common;           /* spent by nobody in particular, as far as `by` can tell */
    accounts people;         /* spent by people that `by` names */
    uint64_t unbounded_line; /* of a charge that bounds nothing; 0: there is none */
    uint64_t foreign_line;   /* of a charge with another model; 0: there is none */
} ledger;

/* Opens a ledger, or starts one, readable by its owner alone.
 *   by         the field that names people, or NULL
 *   model      the hash of the run's model
 *   salt       of a ledger that is started
 *   read_only  changes nothing, and takes a missing file for an empty ledger
 * TEM_ERR_FILE: what is there is no regular file, or cannot be read, written or locked.
 * TEM_ERR_FORMAT: it is no ledger. TEM_ERR_MEMORY. Close with ledger_close. */
tem_status ledger_open(ledger *l, const char *path, const char *by, const char *model,
                       const unsigned char salt[LEDGER_SALT_BYTES], bool read_only,
                       const tem_run *run, tem_error *error);
void ledger_close(ledger *l);

/* Waits for the lock, then reads what is new. TEM_ERR_DAMAGED with the line: cut short,
 * changed, lines missing. TEM_ERR_CANCELLED while waiting. On failure it is not locked. */
tem_status ledger_lock(ledger *l, tem_error *error);
void ledger_unlock(ledger *l);

/* While it is locked: what is left of a budget for the owner of this account. Charges that
 * name nobody, or name people by another field, count for everybody: they may be theirs. */
amount ledger_left(const ledger *l, const account *a, amount budget);

/* While it is locked: writes a charge. When it returns TEM_OK the charge is on the disk; when
 * it fails nothing may be released, and the charge may count or not. */
tem_status ledger_add(ledger *l, const ledger_charge *charge, tem_error *error);

/* Whether `path` is the ledger's own file; "-" or NULL: whether the standard descriptor is. */
bool ledger_is(const ledger *l, const char *path, int standard);

#endif
