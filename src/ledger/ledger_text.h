/* ledger_text.h - writing and reading the lines of a ledger.
 *
 * docs/FORMAT.md describes the format. The first line, the header, is the only one that changes:
 *
 *   {"ledger":"tem 1","salt":"...","bytes":                1234,"check":"..."}
 *
 * `bytes` is how many bytes of the file count, the header included. No release followed the bytes
 * after these (ledger.h). A shorter file has lost something. Each other line is a charge: one JSON
 * object that describes a run, with the keys in the order of run_fields.h and without blanks.
 *
 * `check` is a hash of the line and of the check of the line before it. The first charge uses the
 * salt as the check before it. A check reveals a line that was changed, lost, moved or taken from
 * another ledger. Checks protect against accidents only: whoever can write the file can compute the
 * hash.
 *
 * The reader accepts only lines that the writer can have written, and refuses anything else. */
#ifndef LEDGER_LEDGER_TEXT_H
#define LEDGER_LEDGER_TEXT_H

#include "core/buffer.h"
#include "ledger/accounts.h"
#include "ledger/run_fields.h"
#include "tem.h"

enum {
    LEDGER_SALT_BYTES = 16,
    LEDGER_CHECK_DIGITS = 32,
    LEDGER_HEADER_BYTES = 133 /* its line feed included */
};

typedef struct ledger_header {
    unsigned char salt[LEDGER_SALT_BYTES];
    uint64_t bytes;
} ledger_header;

/* Writes the header line, LEDGER_HEADER_BYTES bytes without a NUL at the end. */
void ledger_write_header(const ledger_header *header, char text[LEDGER_HEADER_BYTES]);

/* Reads the header line from the first bytes of a file. Returns false if they are no header. */
bool ledger_read_header(const char *text, size_t size, ledger_header *header);

/* Writes the salt as a check: the first charge uses it as the check of the line before it. */
void ledger_first_check(const ledger_header *header, char check[LEDGER_CHECK_DIGITS]);

/* Computes the bytes that identify a person in a ledger: a hash of the person's name, under the
 * salt of the ledger. */
void ledger_person(const unsigned char salt[LEDGER_SALT_BYTES], const char *name, size_t bytes,
                   unsigned char person[PERSON_BYTES]);

/* A charge to be written. Texts in `run` must not need an escape in JSON. */
typedef struct ledger_charge {
    const run_value *run;  /* RUN_FIELDS values; those of a charge are filled in, except spent and
                            * spent_worst, which ledger_write_charge computes */
    const core_buffer *by; /* a JSON string; empty: the charge names no people */
    const accounts *people;
    const uint32_t *charged; /* indices into `people`; each is charged for `words` of the account */
    size_t charged_count;
} ledger_charge;

/* Writes the line of a charge into *line, its line feed included, and replaces what *line held.
 * `before` is the check of the line before it. TEM_ERR_MEMORY, or TEM_ERR_RANGE: the cost is too
 * large for a ledger. */
tem_status ledger_write_charge(const ledger_charge *charge, const char before[LEDGER_CHECK_DIGITS],
                               core_buffer *line, tem_error *error);

/* A charge that was read. The pointers point into the line. */
typedef struct ledger_entry {
    uint64_t words;
    amount each[COST_KINDS], spent[COST_KINDS]; /* spent = words * each, checked */
    bool bounded;     /* the charge has a bound; else each[COST_BOUND] is 0 */
    const char *unit; /* of epsilon; NULL: an earlier version wrote the charge, which knew no
                            * unit but the distance of the model */
    size_t unit_bytes;
    const char *model; /* the hash of the model */
    size_t model_bytes;
    const char *by; /* a JSON string, quotes included; NULL: the charge names no people */
    size_t by_bytes;
    const char *people; /* for ledger_next_person */
    size_t people_bytes;
} ledger_entry;

/* Reads the line of a charge, given without its line feed. `check` holds the check of the line
 * before it, and receives that of this line. Returns NULL, or a text that says what was expected;
 * then `check` and *entry are unchanged. */
const char *ledger_read_charge(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS],
                               ledger_entry *entry);

/* Takes the next person off an entry. Returns false when none is left. */
bool ledger_next_person(ledger_entry *entry, unsigned char person[PERSON_BYTES], uint64_t *words);

/* Appends `,"check":"..."}` to a line that lacks it. For the writer, and for the fuzz target.
 * Returns false if there is no memory. */
bool ledger_seal(core_buffer *line, const char before[LEDGER_CHECK_DIGITS]);

#endif
