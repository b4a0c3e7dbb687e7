/* json_span.c - finds one field of a JSON object, as a span of bytes.
 *
 * The scanner uses a stack of flags instead of recursion: one flag for each open bracket, which
 * says whether the bracket is an array or an object. jansson, with which the tests compare the
 * scanner, would parse the record into a tree and write another text with the same meaning. Here
 * every byte outside the span must stay. */
#include "records/json_span.h"

#include "core/status.h"

#include <string.h>
#include <unistr.h>

typedef struct scanner {
    const char *data;
    size_t size, at;
    tem_error *error;
    bool person; /* the field names people, groups or labels */
} scanner;

/* A record that ends too early is often the first line of an object over several lines. */
static tem_status expected(const scanner *s, const char *what) {
    return core_fail_at(s->error, TEM_ERR_FORMAT, "", 0, s->at + 1, "JSON: expected %s%s", what,
                        s->at < s->size ? "" : "; each line must be one whole object");
}

/* Fails because the field is missing or occurs twice. how: "", or how often was expected. */
static tem_status expected_field(const scanner *s, const char *how) {
    return core_fail_at(
        s->error, TEM_ERR_FORMAT, "", 0, s->at + 1, "JSON: expected %s%s",
        s->person ? "the field that names people, groups or labels" : "the field of the text", how);
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
        return expected(s, "a string");
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
    tem_status status = take(s, '0') ? TEM_OK : skip_digits(s);
    if (status == TEM_OK && take(s, '.'))
        status = skip_digits(s);
    if (status == TEM_OK && (peek(s) == 'e' || peek(s) == 'E')) {
        s->at++;
        if (!take(s, '+'))
            take(s, '-');
        status = skip_digits(s);
    }
    return status;
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

/* *equal receives whether the string from `start` to s->at, with its escapes resolved, is
 * `field`. */
static tem_status key_equals(const scanner *s, size_t start, const char *field, bool *equal) {
    core_buffer key = {0};
    tem_status status = json_decode(s->data + start, s->at - start, &key, s->error);
    *equal = status == TEM_OK && key.size == strlen(field) &&
             (key.size == 0 || memcmp(key.data, field, key.size) == 0);
    core_buffer_free(&key);
    return status;
}

/* Whether the field may have the value from `start` to s->at. If so, *quoting receives how the
 * value is written. A person may also be a whole number. A number with a point or an exponent could
 * be written in several ways, and each would be another person. */
static bool is_field_value(const scanner *s, size_t start, record_quoting *quoting) {
    const char first = s->data[start];
    if (first == '"')
        *quoting = RECORD_JSON;
    else if (first == 'n' && !s->person)
        *quoting = RECORD_NOTHING;
    else if (s->person && (first == '-' || is_digit(first))) {
        *quoting = RECORD_PLAIN;
        if (first == '-' && s->data[start + 1] == '0')
            return false; /* -0 is another way to write 0 */
        for (size_t at = start + 1; at < s->at; at++)
            if (!is_digit(s->data[at]))
                return false;
    } else
        return false;
    return true;
}

/* Scans one member of the top-level object. If its key is `field`, *span receives its value, and
 * *found grows by 1. */
static tem_status scan_member(scanner *s, const char *field, record_span *span, unsigned *found) {
    bool equal = false;
    skip_blanks(s);
    const size_t key = s->at;
    tem_status status = skip_string(s);
    if (status == TEM_OK)
        status = key_equals(s, key, field, &equal);
    skip_blanks(s);
    if (status == TEM_OK && !take(s, ':'))
        return expected(s, "a colon");
    skip_blanks(s);
    const size_t value = s->at;
    if (status == TEM_OK)
        status = skip_value(s);
    if (status != TEM_OK || !equal)
        return status;
    record_quoting quoting = RECORD_NOTHING;
    if (!is_field_value(s, value, &quoting)) {
        s->at = value;
        return expected(
            s, s->person
                   ? "a string or a whole number in the field that names people, groups or labels"
                   : "a string or null in the field of the text");
    }
    *span = (record_span){value, s->at, quoting};
    ++*found;
    return TEM_OK;
}

static tem_status find_field(const char *record, size_t size, const char *field, bool person,
                             record_span *span, tem_error *error) {
    scanner s = {record, size, 0, error, person};
    record_span at = {0, 0, RECORD_NOTHING};
    unsigned found = 0;
    const uint8_t *bad = u8_check((const uint8_t *)record, size);
    if (bad != NULL) {
        s.at = (size_t)((const char *)bad - record);
        return expected(&s, "valid UTF-8");
    }
    skip_blanks(&s);
    if (!take(&s, '{'))
        return expected(&s, "an object; each line must be one whole object");
    skip_blanks(&s);
    bool open = !take(&s, '}');
    while (open) {
        tem_status status = scan_member(&s, field, &at, &found);
        if (status != TEM_OK)
            return status;
        skip_blanks(&s);
        open = take(&s, ',');
        if (!open && !take(&s, '}'))
            return expected(&s, "a comma or a closing brace");
    }
    skip_blanks(&s);
    if (s.at < size)
        return expected(&s, "nothing after the object");
    if (found != 1)
        return expected_field(&s, found == 0 ? " (names are case-sensitive; tem does not look for "
                                               "it inside other values)"
                                             : " once, not twice");
    *span = at;
    return TEM_OK;
}

tem_status json_span(const char *record, size_t size, const char *field, record_span *span,
                     tem_error *error) {
    return find_field(record, size, field, false, span, error);
}

tem_status json_person(const char *record, size_t size, const char *field, record_span *span,
                       tem_error *error) {
    return find_field(record, size, field, true, span, error);
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
