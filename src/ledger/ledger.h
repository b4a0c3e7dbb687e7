/* ledger.h - the file that records the cost of all runs that name it.
 *
 * PRIVACY: the losses of runs add up (composition), and the ledger keeps the sum. A charge is on
 * the disk before the first word that it pays for leaves the process. Whatever happens after that,
 * the ledger has at least the cost of the released words, never less. In case of doubt (a damaged
 * file, a full disk, a failed flush) the call fails, and its caller must release nothing.
 *
 * A charge, under an exclusive lock (flock):
 *   1. Read the header, and the lines that others have added since the last time.
 *   2. The caller decides, by the charges so far, whether to go on (ledger_left).
 *   3. Write the new line after the last line that counts; fsync.
 *   4. Write the header, with the new length, over the old one; fsync.
 *   5. Unlock. Then the caller releases.
 * A process that is killed before step 4 leaves bytes beyond the length in the header. They prove
 * that no release followed, so the next charge overwrites them. A file that is shorter than the
 * length in its header was cut, and tem refuses it. */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "ledger/ledger_text.h"

/* The unit of a charge begins with this if its bound holds only between texts whose content words
 * repeat at the same places. */
#define LEDGER_ONCE "once/"

typedef struct ledger {
    const char *path;
    const tem_run *run;
    int descriptor; /* -1: there is no file (dry runs only) */
    bool read_only, locked;
    bool created;           /* ledger_open has created the file */
    uint64_t device, inode; /* of the descriptor */
    ledger_header header;
    uint64_t read;                   /* bytes that were read and found valid */
    uint64_t lines;                  /* lines in these bytes, the header included */
    char check[LEDGER_CHECK_DIGITS]; /* of the last of these lines */
    core_buffer line;                /* memory for lines that are read or written */
    char model[65], unit[64];        /* the hash of the model of this run, and its unit */

    /* The charges so far. */
    core_buffer by;            /* the field that names people, as a JSON string; empty: none */
    amount common[COST_KINDS]; /* sums of the charges that do not name people by this field */
    accounts people;           /* the charges of people that this field names */
    uint64_t unbounded_line;   /* first line with a charge that has no bound; 0: there is none */
    uint64_t foreign_line;     /* first line with a charge of another model; 0: there is none */
    uint64_t unit_line;        /* first line with a charge in another unit; 0: there is none */
    uint64_t
        other_texts_line; /* first line with a charge that holds between other texts; 0: none */
} ledger;

/* Opens a ledger and reads it, or starts one that only its owner can read.
 *   path       must live as long as the ledger
 *   by         the field that names people, or NULL
 *   model      the hash of the run's model
 *   unit       the unit of the run's epsilon
 *   salt       the salt for a new ledger
 *   read_only  changes nothing, and treats a missing file as an empty ledger
 * TEM_ERR_ARGUMENT: the path is empty or "-". TEM_ERR_FILE: the file is no regular file, or cannot
 * be read, written or locked. TEM_ERR_FORMAT: it is no ledger. TEM_ERR_MEMORY. Also fails as
 * ledger_lock does. Close with ledger_close. */
tem_status ledger_open(ledger *l, const char *path, const char *by, const char *model,
                       const char *unit, const unsigned char salt[LEDGER_SALT_BYTES],
                       bool read_only, const tem_run *run, tem_error *error);
void ledger_close(ledger *l);

/* Waits for the lock, then reads the lines that were added since the last time. TEM_ERR_DAMAGED:
 * the ledger was cut short, or, with the number of the line, lines were changed or are missing.
 * TEM_ERR_FILE: it cannot be read or locked, or was moved or replaced. TEM_ERR_FORMAT: its header
 * is not valid. TEM_ERR_RANGE: the sum of the charges is too large. TEM_ERR_MEMORY.
 * TEM_ERR_CANCELLED while waiting. On failure the ledger is not locked. Does nothing if there is
 * no file. */
tem_status ledger_lock(ledger *l, tem_error *error);
void ledger_unlock(ledger *l);

/* Only while the ledger is locked. Returns what is left of a budget for the owner of this account,
 * which limits one kind of cost.
 * Charges that name nobody, or name people by another field, count for everybody, since they may be
 * for this person. */
amount ledger_left(const ledger *l, const account *a, cost_kind kind, amount budget);

/* Only while the ledger is locked. Writes a charge. When it returns TEM_OK, the charge is on the
 * disk. When it fails, the caller must release nothing, and the charge may count or not.
 * TEM_ERR_FILE, TEM_ERR_RANGE, TEM_ERR_MEMORY, or TEM_ERR_DAMAGED if the line does not read
 * back. */
tem_status ledger_add(ledger *l, const ledger_charge *charge, tem_error *error);

/* Whether `path` is the file of the ledger. For "-" or NULL: whether the descriptor `standard`
 * is. */
bool ledger_is(const ledger *l, const char *path, int standard);

#endif
