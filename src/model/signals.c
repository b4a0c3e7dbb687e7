/* signals.c - the signals of an adapted model, and their bytes in its file. */
#include "model/signals.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include <unistr.h>

/* The bytes; all machines that tem supports are little-endian. */
typedef struct signals_head {
    uint32_t count, zero;
    double stretch, squash, unit;
    unsigned char base[CORE_HASH_BYTES];
} signals_head;

typedef struct signal_bytes {
    char name[TEM_SIGNAL_NAME_MAX + 1]; /* zeros after its end */
    uint32_t kind, zero;
    uint64_t used, left_out;
    double correlation, low, high, penalty;
    unsigned char source[CORE_HASH_BYTES];
    uint64_t zero_end;
} signal_bytes;

_Static_assert(sizeof(signals_head) == 64 && sizeof(signal_bytes) == 160, "no padding is written");

static signal_bytes to_bytes(const tem_signal *s) {
    signal_bytes b = {.kind = (uint32_t)s->kind,
                      .used = s->used,
                      .left_out = s->left_out,
                      .correlation = s->correlation,
                      .low = s->low,
                      .high = s->high,
                      .penalty = s->penalty};
    memcpy(b.name, s->name, strnlen(s->name, TEM_SIGNAL_NAME_MAX));
    sodium_hex2bin(b.source, sizeof b.source, s->source, strlen(s->source), NULL, NULL, NULL);
    return b;
}

tem_status signals_write(model_signals *signals, tem_error *error) {
    const size_t bytes = sizeof(signals_head) + signals->count * sizeof(signal_bytes);
    unsigned char *made = core_alloc(bytes, 1);
    if (made == NULL)
        return core_fail_memory(error);
    signals_head head = {.count = signals->count,
                         .stretch = signals->stretch,
                         .squash = signals->squash,
                         .unit = signals->unit};
    memcpy(head.base, signals->base, sizeof head.base);
    memcpy(made, &head, sizeof head);
    for (uint32_t i = 0; i < signals->count; i++) {
        const signal_bytes b = to_bytes(&signals->list[i]);
        memcpy(made + sizeof head + i * sizeof b, &b, sizeof b);
    }
    signals->bytes = made;
    signals->byte_count = bytes;
    return TEM_OK;
}

/* ---- reading ---- */

static bool is_size(double x) {
    return isfinite(x) && x > 0;
}

static bool is_squash(double x) {
    return x == 0 || (isfinite(x) && x >= 0.1);
}

/* The values of a signal are its column divided by the unit: they must be finite. */
static bool is_unit(double x) {
    return x >= 0x1p-40 && x <= 0x1p40;
}

static bool is_name(const char name[TEM_SIGNAL_NAME_MAX + 1]) {
    const size_t length = strnlen(name, TEM_SIGNAL_NAME_MAX + 1);
    if (length == 0 || length > TEM_SIGNAL_NAME_MAX ||
        u8_check((const uint8_t *)name, length) != NULL)
        return false;
    for (size_t i = length; i <= TEM_SIGNAL_NAME_MAX; i++)
        if (name[i] != 0)
            return false;
    return true;
}

static bool is_possible(const signal_bytes *b) {
    return is_name(b->name) && b->kind >= TEM_SIGNAL_LEXICON && b->kind <= TEM_SIGNAL_CLASS &&
           b->zero == 0 && b->zero_end == 0 && b->low >= -1 && b->low <= b->correlation &&
           b->correlation <= b->high && b->high <= 1 && b->used >= SIGNAL_USED_LEAST &&
           b->used <= INT64_MAX && b->left_out <= INT64_MAX && b->penalty >= 1e-7 &&
           b->penalty <= 1e7;
}

static tem_signal from_bytes(const signal_bytes *b) {
    tem_signal s = {.kind = (tem_signal_kind)b->kind,
                    .used = b->used,
                    .left_out = b->left_out,
                    .correlation = b->correlation,
                    .low = b->low,
                    .high = b->high,
                    .penalty = b->penalty};
    memcpy(s.name, b->name, sizeof s.name);
    sodium_bin2hex(s.source, sizeof s.source, b->source, sizeof b->source);
    return s;
}

static tem_status damaged(tem_error *error) {
    return core_fail(error, TEM_ERR_DAMAGED, "damaged model: no adaptation has these signals");
}

tem_status signals_read(const unsigned char *bytes, size_t count, model_signals *signals,
                        tem_error *error) {
    signals_head head;
    if (count < sizeof head)
        return damaged(error);
    memcpy(&head, bytes, sizeof head);
    if (head.count < 1 || head.count > TEM_SIGNALS_MAX || head.zero != 0 ||
        count != sizeof head + head.count * sizeof(signal_bytes) || !is_size(head.stretch) ||
        !is_squash(head.squash) || !is_unit(head.unit))
        return damaged(error);
    model_signals made = {.count = head.count,
                          .stretch = head.stretch,
                          .squash = head.squash,
                          .unit = head.unit,
                          .list = core_alloc(head.count, sizeof *made.list)};
    if (made.list == NULL)
        return core_fail_memory(error);
    memcpy(made.base, head.base, sizeof made.base);
    for (uint32_t i = 0; i < head.count; i++) {
        signal_bytes b;
        memcpy(&b, bytes + sizeof head + i * sizeof b, sizeof b);
        if (!is_possible(&b)) {
            signals_free(&made);
            return damaged(error);
        }
        made.list[i] = from_bytes(&b);
    }
    *signals = made;
    return TEM_OK;
}

void signals_free(model_signals *signals) {
    core_free(signals->list);
    core_free(signals->bytes);
    *signals = (model_signals){0};
}
