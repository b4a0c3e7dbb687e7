/* personal.c - whether a field that tem does not change looks personal. */
#include "records/personal.h"

#include <stdbool.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

/* ---- names ---- */

/* The words that suggest something, between blanks. A word of a field's name must be equal to one
 * of them, but for digits at its end. If several words of a name are here, the first row counts. */
static const struct {
    const char *what, *words;
} suggestions[] = {
    {"e-mail addresses", " mail email emails mails correo courriel "},
    {"telephone numbers",
     " phone phones telephone tel mobile cell fax msisdn telefon telefono handy "},
    {"names of people",
     " name names firstname lastname surname forename fullname nickname maidenname person people "
     "author vorname nachname nom prenom nombre apellido apellidos "},
    {"identity numbers",
     " ssn nin passport iban bic creditcard taxid nhs dni license licence insurance mrn "},
    {"dates of birth", " birth birthday birthdate dob born geburtsdatum nacimiento naissance "},
    {"ages", " age ages alter edad "},
    {"properties of people",
     " gender sex geschlecht sexo race ethnicity religion nationality citizenship marital "
     "disability diagnosis occupation profession salary income "},
    {"network addresses", " ip ips ipaddr ipaddress ipv4 ipv6 mac macaddress hostname "},
    {"addresses",
     " address addresses addr street zip zipcode postcode postcodes postal postalcode adresse "
     "strasse plz direccion "},
    {"locations",
     " lat lon lng latitude longitude gps geo location coordinates city town village county "
     "district region country ward hospital clinic stadt ort ciudad ville "},
    {"identifiers of people or records",
     " id ids uid uuid guid user users userid username login handle account accounts customer "
     "customerid client patient patientid member employee imei cookie session device kunde konto "
     "case caseid casenumber staff doctor physician nurse teacher student visit encounter "},
    {"dates of events",
     " date dates datetime timestamp admission admitted discharge discharged appointment datum "
     "fecha "},
};

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || is_upper(c) || is_digit(c) || (c & 0x80) != 0;
}

enum { WORD_BYTES = 24, SUGGESTIONS = sizeof suggestions / sizeof *suggestions };

/* Returns the row that has this word; SUGGESTIONS: none. */
static size_t find_word(const char *word, size_t length) {
    char wanted[WORD_BYTES + 3] = " ";
    size_t row = 0;
    if (length == 0 || length > WORD_BYTES)
        return SUGGESTIONS;
    for (size_t i = 0; i < length; i++)
        wanted[i + 1] = is_upper(word[i]) ? (char)(word[i] + 'a' - 'A') : word[i];
    strcpy(wanted + length + 1, " ");
    while (row < SUGGESTIONS && strstr(suggestions[row].words, wanted) == NULL)
        row++;
    return row;
}

/* As find_word; "email2" is a word like "email". */
static size_t find_numbered(const char *word, size_t length) {
    const size_t row = find_word(word, length);
    while (length > 0 && is_digit(word[length - 1]))
        length--;
    return row < SUGGESTIONS ? row : find_word(word, length);
}

/* Whether a word of a name ends before byte `at`: "userId" has two words, "ID" one. */
static bool ends_before(const char *name, size_t bytes, size_t at) {
    return at == bytes || !is_word(name[at]) || (is_upper(name[at]) && !is_upper(name[at - 1]));
}

const char *personal_by_name(const char *name, size_t bytes) {
    size_t first = SUGGESTIONS;
    for (size_t start = 0; start < bytes;) {
        size_t end = start + 1;
        while (is_word(name[start]) && !ends_before(name, bytes, end))
            end++;
        const size_t row =
            is_word(name[start]) ? find_numbered(name + start, end - start) : SUGGESTIONS;
        first = row < first ? row : first;
        start = end;
    }
    return first < SUGGESTIONS ? suggestions[first].what : NULL;
}

/* ---- contents ---- */

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Whether the '@' at `at` has a name before it, and after it a name, a dot and two letters. */
static bool is_mail_at(const char *value, size_t bytes, size_t at) {
    size_t end = at + 1, dot = 0;
    if (at == 0 || !(is_word(value[at - 1]) || memchr("._%+-", value[at - 1], 5) != NULL))
        return false;
    for (; end < bytes && (is_word(value[end]) || value[end] == '.' || value[end] == '-'); end++)
        if (value[end] == '.' && end > at + 1)
            dot = end;
    return dot > 0 && end - dot > 2 && is_word(value[dot + 1]);
}

static bool has_mail(const char *value, size_t bytes) {
    const char *at = value;
    while ((at = memchr(at, '@', bytes - (size_t)(at - value))) != NULL) {
        if (is_mail_at(value, bytes, (size_t)(at - value)))
            return true;
        at++;
    }
    return false;
}

/* The characters of a value, counted. */
typedef struct shape {
    unsigned digits, dots, colons, dashes, signs; /* signs: + ( ) / and blanks */
    bool is_hex, is_other;                        /* other: anything else */
} shape;

static shape shape_of(const char *value, size_t bytes) {
    shape s = {.is_hex = true};
    for (size_t i = 0; i < bytes; i++) {
        const char c = value[i];
        s.digits += is_digit(c);
        s.dots += c == '.';
        s.colons += c == ':';
        s.dashes += c == '-';
        s.signs += memchr("+()/ ", c, 5) != NULL;
        s.is_hex &= is_hex(c) || c == ':';
        s.is_other |= !is_digit(c) && memchr(".-+()/ ", c, 7) == NULL;
    }
    return s;
}

/* Four numbers below 256 between dots; or hexadecimal digits between at least five colons. */
static bool is_network(const char *value, size_t bytes, const shape *s) {
    unsigned number = 0;
    if (s->is_hex && s->digits > 0)
        return s->colons >= 5 || (s->colons >= 2 && memmem(value, bytes, "::", 2) != NULL);
    if (s->dots != 3 || s->digits + 3 != bytes || !is_digit(value[0]))
        return false;
    for (size_t i = 0; i < bytes; i++) {
        number = is_digit(value[i]) ? 10 * number + (unsigned)(value[i] - '0') : 0;
        if (number > 255 || (value[i] == '.' && value[i - 1] == '.'))
            return false;
    }
    return true;
}

static bool is_security(const char *value, size_t bytes, const shape *s) {
    return bytes == 11 && s->digits == 9 && value[3] == '-' && value[6] == '-';
}

/* 13 to 19 digits with the check digit of payment cards (Luhn). */
static bool is_card(const char *value, size_t bytes, const shape *s) {
    unsigned sum = 0, place = 0;
    if (s->is_other || s->digits < 13 || s->digits > 19 || s->dots > 0)
        return false;
    for (size_t i = bytes; i-- > 0;) {
        if (!is_digit(value[i]))
            continue;
        const unsigned digit = (unsigned)(value[i] - '0') << (place++ % 2);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

/* 9 to 15 digits, with a + or 0 in front or at least two separators: neither a plain number nor a
 * date. */
static bool is_phone(const char *value, size_t bytes, const shape *s) {
    if (s->is_other || s->digits < 9 || s->digits > 15 || bytes > 30)
        return false;
    const bool starts = value[0] == '+' || (value[0] == '0' && value[1] != '.');
    return starts || s->dots + s->dashes + s->signs >= 2;
}

/* ---- names of people in values ---- */

typedef enum name_part { PART_NONE, PART_CAPITALIZED, PART_INITIAL, PART_PARTICLE } name_part;

/* Small words within names. */
static const char particles[] =
    " de del della di da do dos du des la le van von der den ter ten zu "
    "bin ibn al el y e af av ";
/* Capitalised words of titles and places rather than of names. */
static const char not_of_names[] =
    " the an and of in on at to for with from by my your our his her "
    "its not no new north south east west san saint los las ";

/* Whether a list of words between blanks has the word, in any case. */
static bool is_listed(const char *list, const char *word, size_t length) {
    char wanted[16] = " ";
    if (length == 0 || length + 3 > sizeof wanted)
        return false;
    for (size_t i = 0; i < length; i++)
        wanted[i + 1] = is_upper(word[i]) ? (char)(word[i] + 'a' - 'A') : word[i];
    strcpy(wanted + length + 1, " ");
    return strstr(list, wanted) != NULL;
}

/* Which part of a person's name a word may be: "Anne-Marie", "O'Neil", "J.", "van". */
static name_part part_of_name(const char *word, size_t bytes) {
    size_t letters = 0, small = 0;
    bool begins_capital = false;
    for (size_t i = 0; i < bytes;) {
        ucs4_t c = 0;
        const int length = u8_mbtoucr(&c, (const uint8_t *)word + i, bytes - i);
        if (length <= 0)
            return PART_NONE;
        const bool capital = uc_is_upper(c), joins = c == '\'' || c == 0x2019 || c == '-';
        const bool ends = c == '.' && i + 1 == bytes;
        if (!uc_is_alpha(c) && !(i > 0 && (joins || ends)))
            return PART_NONE;
        begins_capital |= i == 0 && capital;
        letters += uc_is_alpha(c);
        small += uc_is_alpha(c) && !capital;
        i += (size_t)length;
    }
    if (!begins_capital)
        return is_listed(particles, word, bytes) ? PART_PARTICLE : PART_NONE;
    if (letters == 1)
        return PART_INITIAL;
    return small == 0 || is_listed(not_of_names, word, bytes) ? PART_NONE : PART_CAPITALIZED;
}

/* Two to five words, at least two of them capitalized or initials, the others small words of names:
 * "Ann Lee", "Lee, Ann", "J. R. de la Cruz". A title or a place may look the same. */
static bool is_person(const char *value, size_t bytes) {
    size_t parts[PART_PARTICLE + 1] = {0}, words = 0;
    for (size_t start = 0, end = 0; start < bytes; start = end + 1) {
        for (end = start; end < bytes && value[end] != ' ' && value[end] != ',';)
            end++;
        if (end == start)
            continue;
        const name_part part = part_of_name(value + start, end - start);
        if (part == PART_NONE)
            return false;
        parts[part]++;
        words++;
    }
    return words <= 5 && parts[PART_CAPITALIZED] >= 1 &&
           parts[PART_CAPITALIZED] + parts[PART_INITIAL] >= 2;
}

static bool is_sentence(const char *value, size_t bytes) {
    unsigned words = 0;
    bool inside = false;
    for (size_t i = 0; i < bytes && words < 5; i++) {
        const bool letter = is_word(value[i]) && !is_digit(value[i]);
        words += letter && !inside;
        inside = letter || (inside && value[i] != ' ' && value[i] != '\n');
    }
    return words >= 5;
}

void personal_look(personal_tally *tally, const char *value, size_t bytes) {
    for (; bytes > 0 && value[0] == ' '; bytes--)
        value++;
    while (bytes > 0 && value[bytes - 1] == ' ')
        bytes--;
    if (bytes == 0)
        return;
    tally->values++;
    tally->forms[PERSONAL_MAIL] += has_mail(value, bytes);
    tally->forms[PERSONAL_SENTENCE] += is_sentence(value, bytes);
    if (bytes > 64) /* no number and no name is so long */
        return;
    tally->forms[PERSONAL_PERSON] += is_person(value, bytes);
    const shape s = shape_of(value, bytes);
    if (is_network(value, bytes, &s))
        tally->forms[PERSONAL_NETWORK]++;
    else if (is_security(value, bytes, &s))
        tally->forms[PERSONAL_SECURITY]++;
    else if (is_card(value, bytes, &s))
        tally->forms[PERSONAL_CARD]++;
    else
        tally->forms[PERSONAL_PHONE] += is_phone(value, bytes, &s);
}

const char *personal_by_content(const personal_tally *tally) {
    static const char *const names[PERSONAL_FORMS] = {
        [PERSONAL_MAIL] = "e-mail addresses",
        [PERSONAL_NETWORK] = "network addresses",
        [PERSONAL_SECURITY] = "social security numbers",
        [PERSONAL_CARD] = "numbers of payment cards",
        [PERSONAL_PHONE] = "telephone numbers",
        [PERSONAL_PERSON] = "names of people",
        [PERSONAL_SENTENCE] = "text",
    };
    for (int form = 0; form < PERSONAL_FORMS; form++)
        if (form == PERSONAL_MAIL
                ? tally->forms[form] > 0
                : tally->forms[form] > 0 && 2 * tally->forms[form] >= tally->values)
            return names[form];
    return NULL;
}
