/* fuzz_ledger.c - any bytes as a ledger.
 *
 * The target reads the bytes three times: unchanged; as lines without checks, which the target
 * adds, because no fuzzer would ever find one; and as an amount. In an accepted line, spent is
 * words times epsilon, and the people's words add up. */
#include "ledger/ledger_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_entry(ledger_entry *entry, const char *line, size_t size) {
    unsigned char person[PERSON_BYTES];
    uint64_t words = 0, sum = 0;
    amount spent = 0;
    require(amount_times(entry->epsilon, entry->words, &spent) && spent == entry->spent);
    require(entry->by == NULL || (entry->by > line && entry->by + entry->by_bytes <= line + size));
    while (ledger_next_person(entry, person, &words))
        sum += words;
    require(entry->by == NULL || sum == entry->words);
}

static void read_line(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS]) {
    ledger_entry entry;
    if (ledger_read_charge(line, size, check, &entry) == NULL)
        check_entry(&entry, line, size);
}

static void seal_and_read(const char *line, size_t size, char check[LEDGER_CHECK_DIGITS]) {
    core_buffer sealed = {0};
    if (core_buffer_add(&sealed, line, size) && ledger_seal(&sealed, check))
        read_line(sealed.data, sealed.size, check);
    core_buffer_free(&sealed);
}

static void read_amount(const char *text, size_t size) {
    amount a = 0;
    char again[AMOUNT_TEXT_BYTES];
    if (amount_read(text, size, &a))
        require(amount_write(a, again) == size && memcmp(again, text, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    ledger_header header = {.bytes = 0};
    char check[LEDGER_CHECK_DIGITS], sealed_check[LEDGER_CHECK_DIGITS];
    const bool headed = ledger_read_header(text, size, &header);
    ledger_first_check(&header, check);
    memcpy(sealed_check, check, sizeof check);
    for (size_t at = headed ? LEDGER_HEADER_BYTES : 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = (end == NULL ? size : (size_t)(end - text)) - at;
        read_line(text + at, length, check);
        seal_and_read(text + at, length, sealed_check);
        read_amount(text + at, length);
        at += length + 1;
    }
    return 0;
}
