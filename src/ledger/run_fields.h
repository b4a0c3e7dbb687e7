/* run_fields.h - the fields that describe a run, in one table.
 *
 * A report (job/report.h) and a charge of a ledger (ledger_text.h) have the same fields, under the
 * same keys, in the same order. The report writes numbers as doubles. The ledger writes exact
 * decimals. It leaves out the fields that only the owner of a run wants to read, and adds the
 * people whom it charges. */
#ifndef LEDGER_RUN_FIELDS_H
#define LEDGER_RUN_FIELDS_H

#include "ledger/amount.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum run_field {
    RUN_REPORT, /* the format and its version */
    RUN_TIME,
    RUN_MECHANISM,
    RUN_PRIVATE,
    RUN_WHY_NOT_PRIVATE,
    RUN_CONDITION, /* between which texts the bound holds */
    RUN_RELEASED_UNSEEN,
    RUN_DRY_RUN,
    RUN_EPSILON,
    RUN_S,
    RUN_GAMMA,
    RUN_BETA,
    RUN_EPSILON_GAMMA,
    RUN_UNIT,  /* of epsilon */
    RUN_BOUND, /* for one word, between any two inputs */
    RUN_WEIGHTS,
    RUN_WORDS,
    RUN_UNKNOWN,
    RUN_DOCUMENTS,
    RUN_OOV,
    RUN_PUNCTUATION,
    RUN_MISSING,
    RUN_KEEP_LINES,
    RUN_ORDER,         /* of the words in the output */
    RUN_STYLE,         /* of the output */
    RUN_REPEAT,        /* what repeated words become */
    RUN_WORDS_CHARGED, /* a charge of a ledger has these as RUN_WORDS */
    RUN_FORMAT,        /* of the records */
    RUN_COLUMNS,       /* the fields of the records, and what became of them */
    RUN_SPENT,
    RUN_SPENT_WORST,
    RUN_MODEL,
    RUN_CERTIFICATE,
    RUN_NUMBERS,       /* of the mechanism's own, and its list */
    RUN_REMAP,         /* the hash of the map of the outputs */
    RUN_LANGUAGE,      /* the name of the language model */
    RUN_LANGUAGE_HASH, /* and its hash */
    RUN_NEVER,         /* how many words this run never releases */
    RUN_KEEPS,         /* the signals that the model keeps on purpose */
    RUN_EFFECTS,
    RUN_LEDGER, /* from here on: only in the report of a run with a ledger */
    RUN_BY,
    RUN_PEOPLE,
    RUN_SPENT_BEFORE,
    RUN_BUDGET,
    RUN_LEFT,
    RUN_WORST_BEFORE,
    RUN_BUDGET_WORST,
    RUN_LEFT_WORST,
    RUN_FIELDS
} run_field;

typedef enum run_kind { RUN_NAME, RUN_FLAG, RUN_COUNT, RUN_NUMBER, RUN_OBJECT } run_kind;

enum {
    RUN_NULLABLE = 1,
    RUN_CHARGED = 2, /* a charge of a ledger has it */
    RUN_OPTIONAL = 4 /* charges of earlier versions lack it, and still count */
};

typedef struct run_field_spec {
    const char *key;
    run_kind kind;
    unsigned flags;
} run_field_spec;

extern const run_field_spec run_fields[RUN_FIELDS];

/* The value of a field: null, or the member for its kind. */
typedef struct run_value {
    bool is_null;
    bool flag;
    uint64_t count;
    double number; /* in a report */
    amount exact;  /* in a charge */
    const char *text;
} run_value;

#endif
