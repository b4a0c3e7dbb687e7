/* ledger_text.c - writing and reading the lines of a ledger. */
#include "ledger/ledger_text.h"

#include "core/hash.h"
#include "core/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- hexadecimal and checks ---- */

static const char hex_digits[] = "0123456789abcdef";

static void write_hex(const unsigned char *bytes, size_t count, char *digits) {
    for (size_t i = 0; i < count; i++) {
        digits[2 * i] = hex_digits[bytes[i] >> 4];
        digits[2 * i + 1] = hex_digits[bytes[i] & 15];
    }
}

static int hex_value(char digit) {
    const char *found = digit == '\0' ? NULL : strchr(hex_digits, digit);
    return found == NULL ? -1 : (int)(found - hex_digits);
}

static bool read_hex(const char *digits, unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int high = hex_value(digits[2 * i]), low = hex_value(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static void hash_to_check(const void *data, size_t bytes, char check[LEDGER_CHECK_DIGITS]) {
    unsigned char hash[CORE_HASH_BYTES];
    core_hash256(data, bytes, hash);
    write_hex(hash, LEDGER_CHECK_DIGITS / 2, check);
}

/* Computes the check of a line: a hash of the check of the line before it and of the content of
 * this line, up to its own check. The content is hashed first, so that a long line need not be
 * copied. */
static void check_of(const char before[LEDGER_CHECK_DIGITS], const char *content, size_t bytes,
                     char check[LEDGER_CHECK_DIGITS]) {
    char both[LEDGER_CHECK_DIGITS + CORE_HASH_BYTES];
    memcpy(both, before, LEDGER_CHECK_DIGITS);
    core_hash256(content, bytes, (unsigned char *)both + LEDGER_CHECK_DIGITS);
    hash_to_check(both, sizeof both, check);
}

static const char seal_begins[] = ",\"check\":\"", seal_ends[] = "\"}";
enum {
    SEAL_BEGINS = sizeof seal_begins - 1,
    SEAL_ENDS = sizeof seal_ends - 1,
    SEAL_BYTES = SEAL_BEGINS + LEDGER_CHECK_DIGITS + SEAL_ENDS
};

bool ledger_seal(core_buffer *line, const char before[LEDGER_CHECK_DIGITS]) {
    char check[LEDGER_CHECK_DIGITS];
    if (!core_buffer_reserve(line, SEAL_BYTES))
        return false;
    check_of(before, line->data, line->size, check);
    return core_buffer_add(line, seal_begins, SEAL_BEGINS) &&
           core_buffer_add(line, check, LEDGER_CHECK_DIGITS) &&
           core_buffer_add(line, seal_ends, SEAL_ENDS);
}

void ledger_person(const unsigned char salt[LEDGER_SALT_BYTES], const char *name, size_t bytes,
                   unsigned char person[PERSON_BYTES]) {
    unsigned char hash[CORE_HASH_BYTES], both[LEDGER_SALT_BYTES + CORE_HASH_BYTES];
    memcpy(both, salt, LEDGER_SALT_BYTES);
    core_hash256(name, bytes, both + LEDGER_SALT_BYTES);
    core_hash256(both, sizeof both, hash);
    memcpy(person, hash, PERSON_BYTES);
}

/* ---- the header ---- */

static const char header_begins[] = "{\"ledger\":\"tem 1\",\"salt\":\"",
                  header_middle[] = "\",\"bytes\":";
enum {
    HEADER_BEGINS = sizeof header_begins - 1,
    HEADER_MIDDLE = sizeof header_middle - 1,
    BYTES_DIGITS = 20, /* enough for 2^64; padded with blanks: all headers have one length */
    SALT_DIGITS = 2 * LEDGER_SALT_BYTES,
    HEADER_CONTENT = HEADER_BEGINS + SALT_DIGITS + HEADER_MIDDLE + BYTES_DIGITS
};
_Static_assert(HEADER_CONTENT + SEAL_BYTES + 1 == LEDGER_HEADER_BYTES, "the header's length");

static const char header_before[LEDGER_CHECK_DIGITS] = "";

void ledger_write_header(const ledger_header *header, char text[LEDGER_HEADER_BYTES]) {
    char digits[SALT_DIGITS + 1] = "", line[LEDGER_HEADER_BYTES + 1], check[LEDGER_CHECK_DIGITS];
    write_hex(header->salt, LEDGER_SALT_BYTES, digits);
    snprintf(line, sizeof line, "%s%s%s%20" PRIu64, header_begins, digits, header_middle,
             header->bytes);
    check_of(header_before, line, HEADER_CONTENT, check);
    snprintf(line + HEADER_CONTENT, sizeof line - HEADER_CONTENT, "%s%.*s%s\n", seal_begins,
             LEDGER_CHECK_DIGITS, check, seal_ends);
    memcpy(text, line, LEDGER_HEADER_BYTES);
}

/* Reads the bytes as a header and writes it again. If both are equal, the bytes are a header. */
bool ledger_read_header(const char *text, size_t size, ledger_header *header) {
    ledger_header found = {.bytes = 0};
    char again[LEDGER_HEADER_BYTES];
    if (size < LEDGER_HEADER_BYTES ||
        !read_hex(text + HEADER_BEGINS, found.salt, LEDGER_SALT_BYTES))
        return false;
    for (size_t i = HEADER_CONTENT - BYTES_DIGITS; i < HEADER_CONTENT; i++)
        if (text[i] >= '0' && text[i] <= '9')
            found.bytes = 10 * found.bytes + (uint64_t)(text[i] - '0');
    ledger_write_header(&found, again);
    if (memcmp(text, again, LEDGER_HEADER_BYTES) != 0)
        return false;
    *header = found;
    return true;
}

void ledger_first_check(const ledger_header *header, char check[LEDGER_CHECK_DIGITS]) {
    write_hex(header->salt, LEDGER_SALT_BYTES, check);
}
_Static_assert(2 * LEDGER_SALT_BYTES == LEDGER_CHECK_DIGITS, "the salt stands for a check");

/* ---- writing a charge ---- */

/* Appends to a line. `good` becomes false if there is no memory. */
typedef struct line_writer {
    core_buffer *line;
    bool good;
} line_writer;

static void put(line_writer *w, const char *text) {
    w->good = w->good && core_buffer_add(w->line, text, strlen(text));
}

/* `,"key":` or, for the first key, `{"key":` */
static void put_key(line_writer *w, const char *key) {
    put(w, w->line->size == 0 ? "{\"" : ",\"");
    put(w, key);
    put(w, "\":");
}

static void put_value(line_writer *w, run_kind kind, const run_value *v) {
    char digits[AMOUNT_TEXT_BYTES];
    if (v->is_null) {
        put(w, "null");
    } else if (kind == RUN_NAME) {
        put(w, "\"");
        put(w, v->text);
        put(w, "\"");
    } else if (kind == RUN_FLAG) {
        put(w, v->flag ? "true" : "false");
    } else if (kind == RUN_COUNT) {
        snprintf(digits, sizeof digits, "%" PRIu64, v->count);
        put(w, digits);
    } else {
        amount_write(v->exact, digits);
        put(w, digits);
    }
}

static void put_people(line_writer *w, const ledger_charge *c) {
    char member[3 + 2 * PERSON_BYTES + 24];
    put_key(w, "people");
    put(w, "{");
    for (size_t i = 0; i < c->charged_count; i++) {
        const account *a = &c->people->items[c->charged[i]];
        char digits[2 * PERSON_BYTES];
        write_hex(a->person, PERSON_BYTES, digits);
        snprintf(member, sizeof member, "%s\"%.*s\":%" PRIu64, i == 0 ? "" : ",", 2 * PERSON_BYTES,
                 digits, a->words);
        put(w, member);
    }
    put(w, "}");
}

static void put_whom(line_writer *w, const ledger_charge *c) {
    put_key(w, "by");
    if (c->by->size == 0) {
        put(w, "null,\"people\":null");
        return;
    }
    w->good = w->good && core_buffer_add(w->line, c->by->data, c->by->size);
    put_people(w, c);
}

tem_status ledger_write_charge(const ledger_charge *c, const char before[LEDGER_CHECK_DIGITS],
                               core_buffer *line, tem_error *error) {
    line_writer w = {line, true};
    const run_value *each = &c->run[RUN_BOUND];
    const uint64_t words = c->run[RUN_WORDS].count;
    /* PRIVACY: the charge has a bound only if one is known. */
    run_value spent = {.exact = 0}, worst = {.is_null = !c->run[RUN_PRIVATE].flag || each->is_null};
    line->size = 0;
    if (!amount_times(c->run[RUN_EPSILON].exact, words, &spent.exact) ||
        (!worst.is_null && !amount_times(each->exact, words, &worst.exact)))
        return core_fail(error, TEM_ERR_RANGE, "the run costs more than a ledger can hold");
    for (int i = 0; i < RUN_FIELDS; i++) {
        if (!(run_fields[i].flags & RUN_CHARGED))
            continue;
        put_key(&w, run_fields[i].key);
        put_value(&w, run_fields[i].kind,
                  i == RUN_SPENT         ? &spent
                  : i == RUN_SPENT_WORST ? &worst
                                         : &c->run[i]);
    }
    put_whom(&w, c);
    const bool done = w.good && ledger_seal(line, before) && core_buffer_add(line, "\n", 1);
    return done ? TEM_OK : core_fail_memory(error);
}

/* ---- reading a charge ---- */

typedef struct line_reader {
    const char *at, *end;
} line_reader;

static bool take(line_reader *r, const char *text) {
    const size_t length = strlen(text);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* Takes a string, quotes included. Escapes are skipped, not decoded. */
static bool take_string(line_reader *r) {
    if (!take(r, "\""))
        return false;
    for (; r->at < r->end && (unsigned char)*r->at >= 0x20; r->at++) {
        if (*r->at == '"') {
            r->at++;
            return true;
        }
        if (*r->at == '\\' && ++r->at == r->end)
            break;
    }
    return false;
}

static bool take_amount(line_reader *r, amount *a) {
    const char *start = r->at;
    while (r->at < r->end && ((*r->at >= '0' && *r->at <= '9') || *r->at == '.'))
        r->at++;
    return amount_read(start, (size_t)(r->at - start), a);
}

static bool take_count(line_reader *r, uint64_t *count) {
    amount a = 0;
    const char *start = r->at;
    if (!take_amount(r, &a) || memchr(start, '.', (size_t)(r->at - start)) != NULL ||
        a / AMOUNT_ONE > UINT64_MAX)
        return false;
    *count = (uint64_t)(a / AMOUNT_ONE);
    return true;
}

/* "32 digits":count */
static bool take_person(line_reader *r, unsigned char person[PERSON_BYTES], uint64_t *words) {
    const char *digits = r->at + 1;
    if (r->end - r->at < 2 * PERSON_BYTES + 2 || *r->at != '"' ||
        !read_hex(digits, person, PERSON_BYTES))
        return false;
    r->at += 2 * PERSON_BYTES + 1;
    return take(r, "\":") && take_count(r, words);
}

/* Takes the people of a charge: none, or a field and people whose words add up to the words of the
 * charge. */
static bool take_whom(line_reader *r, ledger_entry *e) {
    if (take(r, "null,\"people\":null"))
        return true;
    e->by = r->at;
    if (!take_string(r))
        return false;
    e->by_bytes = (size_t)(r->at - e->by);
    if (!take(r, ",\"people\":{"))
        return false;
    e->people = r->at;
    uint64_t sum = 0, words = 0;
    unsigned char person[PERSON_BYTES];
    for (bool more = r->at < r->end && *r->at == '"'; more; more = take(r, ","))
        if (!take_person(r, person, &words) || __builtin_add_overflow(sum, words, &sum))
            return false;
    e->people_bytes = (size_t)(r->at - e->people);
    return take(r, "}") && sum == e->words;
}

/* A value that was read. */
typedef struct value {
    amount number;
    uint64_t count;
    bool is_null;
    const char *text; /* a string, quotes included */
    size_t bytes;
} value;

/* `,"key":` or, for the first key, `{"key":` */
static bool take_key(line_reader *r, const char *key, bool is_first) {
    line_reader ahead = *r;
    if (!take(&ahead, is_first ? "{\"" : ",\"") || !take(&ahead, key) || !take(&ahead, "\":"))
        return false;
    *r = ahead;
    return true;
}

static bool take_value(line_reader *r, const run_field_spec *field, value *v) {
    v->text = r->at;
    if ((field->flags & RUN_NULLABLE) && take(r, "null")) {
        v->is_null = true;
        return true;
    }
    switch (field->kind) {
    case RUN_NAME:
        if (!take_string(r))
            return false;
        v->bytes = (size_t)(r->at - v->text);
        return true;
    case RUN_FLAG:
        return take(r, "true") || take(r, "false");
    case RUN_COUNT:
        return take_count(r, &v->count);
    case RUN_NUMBER:
        return take_amount(r, &v->number);
    default:
        return false;
    }
}

/* Sets the unit and the bound of a charge. Charges of earlier versions have neither field: their
 * unit is the distance of the model, and their bound is epsilon gamma. */
static void read_bound(const value values[RUN_FIELDS], ledger_entry *e) {
    const value *unit = &values[RUN_UNIT], *bound = &values[RUN_BOUND];
    if (unit->text != NULL) {
        e->unit = unit->text + 1;
        e->unit_bytes = unit->bytes - 2;
    }
    if (e->bounded)
        e->each[COST_BOUND] =
            bound->text != NULL ? bound->number : values[RUN_EPSILON_GAMMA].number;
}

/* Reads the content of a line, which is the line without its check. */
static const char *read_content(const char *line, size_t size, ledger_entry *entry) {
    line_reader r = {line, line + size};
    value values[RUN_FIELDS] = {{.count = 0}};
    for (int i = 0; i < RUN_FIELDS; i++) {
        const run_field_spec *field = &run_fields[i];
        if (!(field->flags & RUN_CHARGED))
            continue;
        const bool there = take_key(&r, field->key, r.at == line);
        if (there ? !take_value(&r, field, &values[i]) : !(field->flags & RUN_OPTIONAL))
            return "expected a charge, as this version of tem writes it";
    }
    ledger_entry e = {.words = values[RUN_WORDS].count,
                      .each[COST_EPSILON] = values[RUN_EPSILON].number,
                      .spent = {values[RUN_SPENT].number, values[RUN_SPENT_WORST].number},
                      .bounded = !values[RUN_SPENT_WORST].is_null,
                      .model = values[RUN_MODEL].text + 1,
                      .model_bytes = values[RUN_MODEL].bytes - 2};
    read_bound(values, &e);
    if (!take(&r, ",\"by\":") || !take_whom(&r, &e) || r.at != r.end)
        return "expected the people that are charged, with the words of the line";
    for (int kind = 0; kind < COST_KINDS; kind++) {
        amount product = 0;
        if (!amount_times(e.each[kind], e.words, &product) || product != e.spent[kind])
            return kind == COST_EPSILON ? "expected spent to be words times epsilon"
                                        : "expected spent_worst to be words times the bound";
    }
    *entry = e;
    return NULL;
}

const char *ledger_read_charge(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS],
                               ledger_entry *entry) {
    char wanted[LEDGER_CHECK_DIGITS];
    if (size < SEAL_BYTES)
        return "expected a charge";
    const char *seal = line + size - SEAL_BYTES;
    check_of(check, line, size - SEAL_BYTES, wanted);
    if (memcmp(seal, seal_begins, SEAL_BEGINS) != 0 ||
        memcmp(seal + SEAL_BEGINS, wanted, LEDGER_CHECK_DIGITS) != 0 ||
        memcmp(line + size - SEAL_ENDS, seal_ends, SEAL_ENDS) != 0)
        return "this line was changed, or one before it is missing";
    const char *fault = read_content(line, size - SEAL_BYTES, entry);
    if (fault == NULL)
        memcpy(check, wanted, LEDGER_CHECK_DIGITS);
    return fault;
}

bool ledger_next_person(ledger_entry *entry, unsigned char person[PERSON_BYTES], uint64_t *words) {
    if (entry->people_bytes == 0)
        return false;
    line_reader r = {entry->people, entry->people + entry->people_bytes};
    take(&r, ",");
    const bool found = take_person(&r, person, words);
    entry->people_bytes = found ? (size_t)(r.end - r.at) : 0;
    entry->people = r.at;
    return found;
}
