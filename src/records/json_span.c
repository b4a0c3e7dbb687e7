/* json_span.c - finds the fields of a JSON object, as spans of bytes.
 *
 * The scanner uses a stack of flags instead of recursion: one flag for each open bracket, which
 * says whether the bracket is an array or an object. jansson, with which the tests compare the
 * scanner, would parse the record into a tree and write another text with the same meaning. Here
 * every byte outside the spans must stay. */
#include "records/json_span.h"

#include "core/status.h"

#include <string.h>
#include <unistr.h>

typedef struct scanner {
    const char *data;
    size_t size, at;
    tem_error *error;
} scanner;

/* A record that ends too early is often the first line of an object over several lines. */
static tem_status expected(const scanner *s, const char *what) {
    return core_fail_at(s->error, TEM_ERR_FORMAT, "", 0, s->at + 1, "JSON: expected %s%s", what,
                        s->at < s->size ? "" : "; each line must be one whole object");
}

static int peek(const scanner *s) {
    return s->at < s->size ? (unsigned char)s->data[s->at] : -1;
}

static void skip_blanks(scanner *s) {
    while (s->at < s->size && memchr(" \t\r\n", s->data[s->at], 4) != NULL)
        s->at++;
}

static bool take(scanner *s, char c) {
    if (peek(s) != c)
        return false;
    s->at++;
    return true;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static int hex_digit(int c) {
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static tem_status skip_string(scanner *s) {
    if (!take(s, '"'))
        return expected(s, peek(s) == '\'' ? "a string in double quotes" : "a string");
    for (;;) {
        const int c = peek(s);
        if (c < 0x20)
            return expected(s, c < 0 ? "the end of a string" : "no control character in a string");
        s->at++;
        if (c == '"')
            return TEM_OK;
        if (c != '\\')
            continue;
        const int escaped = peek(s);
        if (escaped < 0 || memchr("\"\\/bfnrtu", escaped, 9) == NULL)
            return expected(s, "an escape sequence");
        s->at++;
        for (int i = 0; escaped == 'u' && i < 4; i++, s->at++)
            if (hex_digit(peek(s)) < 0)
                return expected(s, "four hexadecimal digits");
    }
}

static tem_status skip_digits(scanner *s) {
    if (!is_digit(peek(s)))
        return expected(s, "a digit");
    while (is_digit(peek(s)))
        s->at++;
    return TEM_OK;
}

static tem_status skip_number(scanner *s) {
    take(s, '-');
    TRY(take(s, '0') ? TEM_OK : skip_digits(s));
    if (take(s, '.'))
        TRY(skip_digits(s));
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (!take(s, '+'))
            take(s, '-');
        TRY(skip_digits(s));
    }
    return TEM_OK;
}

static tem_status skip_literal(scanner *s) {
    static const char *const literals[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(literals[i]);
        if (s->size - s->at >= length && memcmp(s->data + s->at, literals[i], length) == 0) {
            s->at += length;
            return TEM_OK;
        }
    }
    return expected(s, "a value");
}

static tem_status skip_scalar(scanner *s) {
    const int c = peek(s);
    if (c == '"')
        return skip_string(s);
    return c == '-' || is_digit(c) ? skip_number(s) : skip_literal(s);
}

/* Skips `"key" :` and the blanks around it. */
static tem_status skip_key(scanner *s) {
    skip_blanks(s);
    tem_status status = skip_string(s);
    skip_blanks(s);
    if (status == TEM_OK && !take(s, ':'))
        return expected(s, "a colon");
    skip_blanks(s);
    return status;
}

/* The brackets that are open around the scanner: true for an object, false for an array. */
typedef struct nesting {
    bool object[JSON_DEPTH_MAX];
    unsigned depth;
} nesting;

/* Opens the bracket at the scanner, and moves to its first value, or past the bracket if it closes
 * at once. *done receives whether it closes at once. */
static tem_status open_bracket(scanner *s, nesting *n, bool *done) {
    if (n->depth == JSON_DEPTH_MAX)
        return expected(s, "at most 1024 levels");
    const bool object = s->data[s->at++] == '{';
    n->object[n->depth++] = object;
    skip_blanks(s);
    *done = take(s, object ? '}' : ']');
    if (*done)
        n->depth--;
    else if (object)
        return skip_key(s);
    return TEM_OK;
}

/* Call after a value: closes the brackets that end here, and moves to the next value or to the
 * end. */
static tem_status after_value(scanner *s, nesting *n) {
    while (n->depth > 0) {
        const bool object = n->object[n->depth - 1];
        skip_blanks(s);
        if (take(s, ',')) {
            skip_blanks(s);
            return object ? skip_key(s) : TEM_OK;
        }
        if (!take(s, object ? '}' : ']'))
            return expected(s, object ? "a comma or a closing brace"
                                      : "a comma or a closing "
                                        "bracket");
        n->depth--;
    }
    return TEM_OK;
}

static tem_status skip_value(scanner *s) {
    nesting n = {.depth = 0};
    do {
        bool done = true;
        tem_status status =
            peek(s) == '{' || peek(s) == '[' ? open_bracket(s, &n, &done) : skip_scalar(s);
        if (status == TEM_OK && done)
            status = after_value(s, &n);
        if (status != TEM_OK)
            return status;
    } while (n.depth > 0);
    return TEM_OK;
}

/* Says how the value from `start` to s->at is written. A number with a point or an exponent could
 * be written in several ways, and so could -0: these name nobody. */
static record_quoting quoting_of(const scanner *s, size_t start) {
    const char first = s->data[start];
    if (first == '"')
        return RECORD_JSON;
    if (first == 'n')
        return RECORD_NOTHING;
    if ((first != '-' && !is_digit(first)) || (first == '-' && s->data[start + 1] == '0'))
        return RECORD_OTHER;
    for (size_t at = start + 1; at < s->at; at++)
        if (!is_digit(s->data[at]))
            return RECORD_OTHER;
    return RECORD_NUMBER;
}

static tem_status scan_member(scanner *s, record_field *field) {
    skip_blanks(s);
    field->start = field->key.start = s->at;
    tem_status status = skip_string(s);
    field->key.end = s->at;
    field->key.quoting = RECORD_JSON;
    skip_blanks(s);
    if (status == TEM_OK && !take(s, ':'))
        return expected(s, "a colon");
    skip_blanks(s);
    field->value.start = s->at;
    if (status == TEM_OK)
        status = skip_value(s);
    if (status != TEM_OK)
        return status;
    field->value.end = s->at;
    field->value.quoting = quoting_of(s, field->value.start);
    return TEM_OK;
}

static tem_status visit_members(scanner *s, record_visit *visit, void *context) {
    record_field field = {.column = 0};
    for (bool open = true; open; field.column++) {
        TRY(scan_member(s, &field));
        TRY(visit(context, &field, s->error));
        skip_blanks(s);
        open = take(s, ',');
        if (!open && !take(s, '}'))
            return expected(s, "a comma or a closing brace");
    }
    return TEM_OK;
}

tem_status json_visit(const char *record, size_t size, record_visit *visit, void *context,
                      tem_error *error) {
    scanner s = {record, size, 0, error};
    const uint8_t *bad = u8_check((const uint8_t *)record, size);
    if (bad != NULL) {
        s.at = (size_t)((const char *)bad - record);
        return expected(&s, "valid UTF-8");
    }
    skip_blanks(&s);
    if (!take(&s, '{'))
        return expected(&s, peek(&s) == '['
                                ? "an object, found an array; each line must be one whole object"
                                : "an object; each line must be one whole object");
    skip_blanks(&s);
    TRY(take(&s, '}') ? TEM_OK : visit_members(&s, visit, context));
    skip_blanks(&s);
    return s.at < size ? expected(&s, "nothing after the object") : TEM_OK;
}

/* ---- strings ---- */

static uint32_t hex4(const char *digits) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 4 | (uint32_t)hex_digit((unsigned char)digits[i]);
    return value;
}

/* Returns the character of the escape "uXXXX" at string[*at], together with a second escape if the
 * character needs two, and moves *at past it. Returns 0xFFFFFFFF for half a character. */
static uint32_t unescape_u(const char *string, size_t size, size_t *at) {
    uint32_t c = hex4(string + *at + 1);
    *at += 5;
    if (c < 0xd800 || c > 0xdfff)
        return c;
    if (c > 0xdbff || size - *at < 6 || string[*at] != '\\' || string[*at + 1] != 'u')
        return UINT32_MAX;
    const uint32_t low = hex4(string + *at + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return UINT32_MAX;
    *at += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

static char unescape_letter(char letter) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    return to[strchr(from, letter) - from];
}

tem_status json_decode(const char *string, size_t size, core_buffer *out, tem_error *error) {
    if (!core_buffer_reserve(out, size)) /* no escape is shorter than its character */
        return core_fail_memory(error);
    for (size_t at = 1; at + 1 < size;) {
        if (string[at] != '\\') {
            out->data[out->size++] = string[at++];
        } else if (string[at + 1] != 'u') {
            out->data[out->size++] = unescape_letter(string[at + 1]);
            at += 2;
        } else {
            at++;
            const uint32_t c = unescape_u(string, size - 1, &at);
            const int bytes = c == UINT32_MAX ? -1
                                              : u8_uctomb((uint8_t *)out->data + out->size, c,
                                                          (ptrdiff_t)(out->capacity - out->size));
            if (bytes < 0)
                return core_fail_at(error, TEM_ERR_FORMAT, "", 0, at + 1,
                                    "JSON: expected both halves of an escaped character");
            out->size += (size_t)bytes;
        }
    }
    return TEM_OK;
}

static size_t encoded_bytes(const char *text, size_t bytes) {
    size_t total = bytes + 2;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        total += c < 0x20 ? 5 : c == '"' || c == '\\';
    }
    return total;
}

tem_status json_encode(const char *text, size_t bytes, core_buffer *out, tem_error *error) {
    static const char hex[] = "0123456789abcdef";
    if (!core_buffer_reserve(out, encoded_bytes(text, bytes)))
        return core_fail_memory(error);
    out->data[out->size++] = '"';
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '\n') {
            out->data[out->size++] = '\\';
            out->data[out->size++] = 'n';
        } else if (c < 0x20) {
            memcpy(out->data + out->size, "\\u00", 4);
            out->data[out->size + 4] = hex[c >> 4];
            out->data[out->size + 5] = hex[c & 15];
            out->size += 6;
        } else {
            if (c == '"' || c == '\\')
                out->data[out->size++] = '\\';
            out->data[out->size++] = (char)c;
        }
    }
    out->data[out->size++] = '"';
    return TEM_OK;
}
