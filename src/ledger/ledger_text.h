/* ledger_text.h - the lines of a ledger: written, and read back.
 *
 * docs/FORMAT.md has the format. The first line, the header, is the only one that changes:
 *
 *   {"ledger":"tem 1","salt":"...","bytes":                1234,"check":"..."}
 *
 * `bytes` is how much of the file counts, the header included. What comes after was never
 * followed by a release (ledger.c); a file that is shorter has lost something. Each other line
 * is a charge: one JSON object, a run's report (run_fields.h), in this order of keys and without
 * blanks.
 *
 * `check` is a hash over the line and the check of the line before it, for the first charge
 * the salt: a line that was changed, lost, moved or taken from another ledger is
 * noticed. Against accidents only: whoever can write the file can compute it.
 *
 * Only what the writer could have written is read; anything else is refused. */
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

/* LEDGER_HEADER_BYTES bytes. */
void ledger_write_header(const ledger_header *header, char text[LEDGER_HEADER_BYTES]);

/* false if these bytes are no header. */
bool ledger_read_header(const char *text, size_t size, ledger_header *header);

/* The check that stands for the header: that of the line before the first charge. */
void ledger_first_check(const ledger_header *header, char check[LEDGER_CHECK_DIGITS]);

/* How a person is written down: a hash of what names them, under the ledger's salt. */
void ledger_person(const unsigned char salt[LEDGER_SALT_BYTES], const char *name, size_t bytes,
                   unsigned char person[PERSON_BYTES]);

/* A charge, to be written. Names are plain words: nothing in them needs an escape. */
typedef struct ledger_charge {
    const run_value *run;  /* RUN_FIELDS of them, those that a charge has filled in; spent and
                            * spent_worst are computed here */
    const core_buffer *by; /* a JSON string, or empty: no person is told */
    const accounts *people;
    const uint32_t *charged; /* indices of `people`: each for their account's `words` */
    size_t charged_count;
} ledger_charge;

/* Appends the line, its line feed included, that follows one with this check. TEM_ERR_MEMORY,
 * TEM_ERR_RANGE. */
tem_status ledger_write_charge(const ledger_charge *charge, const char before[LEDGER_CHECK_DIGITS],
                               core_buffer *line, tem_error *error);

/* A charge, as it was read. The pointers lead into the line. */
typedef struct ledger_entry {
    uint64_t words;
    amount epsilon, spent; /* spent = words * epsilon, checked */
    bool bounded;
    const char *model; /* its hash */
    size_t model_bytes;
    const char *by; /* a JSON string, quotes included; NULL: no person is told */
    size_t by_bytes;
    const char *people; /* for ledger_next_person */
    size_t people_bytes;
} ledger_entry;

/* Reads a line, without its line feed, that follows one with the check `check`, which then
 * becomes the line's own. NULL, or what was expected. */
const char *ledger_read_charge(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS],
                               ledger_entry *entry);

/* The people of an entry, one after the other; false when there is none left. */
bool ledger_next_person(ledger_entry *entry, unsigned char person[PERSON_BYTES], uint64_t *words);

/* Appends `,"check":"..."}` to a line that lacks it: for the writer, and for the fuzz target. */
bool ledger_seal(core_buffer *line, const char before[LEDGER_CHECK_DIGITS]);

#endif
