/* fuzz_ledger.c - any bytes as a ledger.
 *
 * The target reads the bytes three times: unchanged; as lines without checks, which the target
 * adds, because no fuzzer would ever find one; and as an amount. In an accepted line, spent is
 * words times epsilon, and the people's words add up.
 *
 * With a header, tem must accept each line as it is. Without one, a line is a charge that lacks its
 * check, or an amount. */
#include "target.h"

#include "ledger/ledger_text.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds) {
    if (!holds)
        abort();
}

/* Whether a string of an entry lies in its line. */
static bool is_within(const char *text, size_t bytes, const char *line, size_t size) {
    return text > line && text <= line + size && bytes <= (size_t)(line + size - text);
}

static void check_entry(ledger_entry *entry, const char *line, size_t size) {
    unsigned char person[PERSON_BYTES];
    uint64_t words = 0, sum = 0;
    for (int kind = 0; kind < COST_KINDS; kind++) {
        amount spent = 0;
        require(amount_times(entry->each[kind], entry->words, &spent));
        require(spent == entry->spent[kind]);
    }
    require(entry->bounded || entry->each[COST_BOUND] == 0);
    require(is_within(entry->model, entry->model_bytes, line, size));
    require(entry->unit == NULL || is_within(entry->unit, entry->unit_bytes, line, size));
    require(entry->by == NULL || is_within(entry->by, entry->by_bytes, line, size));
    while (ledger_next_person(entry, person, &words))
        sum += words;
    require(entry->by == NULL || sum == entry->words);
}

static bool read_line(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS]) {
    ledger_entry entry;
    const bool accepted = ledger_read_charge(line, size, check, &entry) == NULL;
    if (accepted)
        check_entry(&entry, line, size);
    return accepted;
}

static bool seal_and_read(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS]) {
    core_buffer sealed = {0};
    const bool accepted = core_buffer_add(&sealed, line, size) && ledger_seal(&sealed, check) &&
                          read_line(sealed.data, sealed.size, check);
    core_buffer_free(&sealed);
    return accepted;
}

static bool read_amount(const char *text, size_t size) {
    amount a = 0;
    char again[AMOUNT_TEXT_BYTES];
    const bool accepted = amount_read(text, size, &a);
    if (accepted)
        require(amount_write(a, again) == size && memcmp(again, text, size) == 0);
    return accepted;
}

bool fuzz_input(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    ledger_header header = {.bytes = 0};
    char check[LEDGER_CHECK_DIGITS], sealed_check[LEDGER_CHECK_DIGITS];
    bool accepted = true;
    const bool headed = ledger_read_header(text, size, &header);
    ledger_first_check(&header, check);
    memcpy(sealed_check, check, sizeof check);
    for (size_t at = headed ? LEDGER_HEADER_BYTES : 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = (end == NULL ? size : (size_t)(end - text)) - at;
        const bool as_it_is = read_line(text + at, length, check);
        const bool sealed = seal_and_read(text + at, length, sealed_check);
        const bool is_amount = read_amount(text + at, length);
        accepted &= headed ? as_it_is : sealed || is_amount;
        at += length + 1;
    }
    return accepted;
}
