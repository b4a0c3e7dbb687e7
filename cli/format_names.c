/* format_names.c - the record formats, for help and messages. */
#include "format_names.h"

#include "talk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAMES_BYTES = 128 };

/* Whether join will name another format after number i. */
static bool has_next(unsigned i, bool fields_only) {
    int has_fields = 0;
    while (tem_format_at(++i, NULL, &has_fields, NULL) != NULL)
        if (has_fields || !fields_only)
            return true;
    return false;
}

static void join(char names[NAMES_BYTES], bool fields_only, const char *last_comma,
                 const char *after_first) {
    size_t used = 0;
    int has_fields = 0;
    const char *name = NULL;
    names[0] = '\0';
    for (unsigned i = 0; (name = tem_format_at(i, NULL, &has_fields, NULL)) != NULL; i++) {
        if (fields_only && !has_fields)
            continue;
        const char *comma = used == 0 ? "" : has_next(i, fields_only) ? ", " : last_comma;
        const char *after = used == 0 ? after_first : "";
        const int more = snprintf(names + used, NAMES_BYTES - used, "%s%s%s", comma, name, after);
        if (more < 0 || (size_t)more >= NAMES_BYTES - used)
            return;
        used += (size_t)more;
    }
}

const char *format_names_all(void) {
    static char names[NAMES_BYTES];
    join(names, false, " or ", " (default)");
    return names;
}

const char *format_names_with_fields(void) {
    static char names[NAMES_BYTES];
    join(names, true, " or ", "");
    return names;
}

const char *format_names_listed(void) {
    static char names[NAMES_BYTES];
    join(names, true, ", ", "");
    return names;
}

bool format_has_fields(tem_format format) {
    tem_format found = 0;
    int has_fields = 0;
    for (unsigned i = 0; tem_format_at(i, &found, &has_fields, NULL) != NULL; i++)
        if (found == format)
            return has_fields != 0;
    return false;
}

/* Whether the first `length` bytes of a path end in a dot and the name, in any case, and have more
 * before. */
static bool ends_in(const char *path, size_t length, const char *name) {
    const size_t bytes = strlen(name);
    return length > bytes + 1 && path[length - bytes - 1] == '.' &&
           strncasecmp(path + length - bytes, name, bytes) == 0;
}

tem_packing format_packing_of_path(const char *path) {
    const size_t length = strlen(path);
    return ends_in(path, length, "gz")    ? TEM_PACKING_GZIP
           : ends_in(path, length, "zst") ? TEM_PACKING_ZSTD
                                          : TEM_PACKING_NONE;
}

/* The length of a .gz or .zst at the end of a path. */
static size_t packing_bytes(const char *path) {
    const tem_packing packing = format_packing_of_path(path);
    return packing == TEM_PACKING_GZIP   ? sizeof ".gz" - 1
           : packing == TEM_PACKING_ZSTD ? sizeof ".zst" - 1
                                         : 0;
}

tem_format format_of_path(const char *path) {
    const size_t length = strlen(path) - packing_bytes(path);
    tem_format format = 0;
    int has_fields = 0;
    const char *name = NULL;
    for (unsigned i = 0; (name = tem_format_at(i, &format, &has_fields, NULL)) != NULL; i++)
        if (has_fields && ends_in(path, length, name))
            return format;
    return 0;
}

/* What to do with files of records that tem does not read. */
static const struct {
    const char *ending, *advice;
} others[] = {
    {"json", "with one object per line, say --format jsonl; jq -c '.[]' IN > OUT makes such lines "
             "from an array; --format text takes all of it for text"},
    {"ndjson", "its format is probably --format jsonl"},
    {"tab", "its format is probably --format tsv"},
    {"xlsx", "tem reads no spreadsheets: save the sheet as CSV"},
    {"xls", "tem reads no spreadsheets: save the sheet as CSV"},
    {"ods", "tem reads no spreadsheets: save the sheet as CSV"},
    {"parquet", "in Python, tem.parquet reads Parquet; the command reads CSV, TSV and JSONL"},
    {"docx", "tem reads no such documents: save the document as plain text"},
    {"doc", "tem reads no such documents: save the document as plain text"},
    {"odt", "tem reads no such documents: save the document as plain text"},
    {"pdf", "tem reads no such documents: save the document as plain text"},
};
enum { OTHERS = sizeof others / sizeof *others };

static const char *advice_for_ending(const char *ending) {
    for (size_t i = 0; i < OTHERS; i++)
        if (strcasecmp(others[i].ending, ending) == 0)
            return others[i].advice;
    return NULL;
}

/* What to do with a file by the ending of its path, or NULL. */
static const char *advice_for(const char *path) {
    const size_t length = strlen(path) - packing_bytes(path);
    for (size_t i = 0; i < OTHERS; i++)
        if (ends_in(path, length, others[i].ending))
            return others[i].advice;
    return NULL;
}

int format_parse(const char *command, const char *name, tem_format *format) {
    tem_error error;
    if (name == NULL || tem_format_parse(name, format, &error) == TEM_OK)
        return EXIT_DONE;
    const char *advice =
        strstr(error.message, "did you mean") == NULL ? advice_for_ending(name) : NULL;
    return advice != NULL ? talk_usage(command, "--format %s: %s", name, advice)
                          : talk_usage(command, "--format: %s", error.message);
}

int format_guess(const char *command, const char *const *paths, size_t count, bool has_field,
                 tem_format *format) {
    if (*format != 0)
        return EXIT_DONE;
    for (size_t i = 0; i < count; i++)
        if (advice_for(paths[i]) != NULL)
            return talk_usage(command, "%s: %s", paths[i], advice_for(paths[i]));
    const tem_format first = count > 0 ? format_of_path(paths[0]) : 0;
    for (size_t i = 0; i < count; i++) {
        const tem_format other = format_of_path(paths[i]);
        if (other != first)
            return talk_usage(command, "the endings of the files name different formats: say "
                                       "--format");
        if (other != 0 && !has_field)
            return talk_usage(
                command, "%s looks like a table: name its --field, or say --format text", paths[i]);
    }
    *format = first;
    return EXIT_DONE;
}

int format_parse_delimiter(const char *command, const char *name, tem_format format,
                           char *delimiter) {
    if (name == NULL)
        return EXIT_DONE;
    if (format != TEM_FORMAT_CSV)
        return talk_usage(command, "--delimiter needs --format csv");
    if (strcmp(name, "tab") != 0 && strlen(name) != 1)
        return talk_usage(command, "--delimiter takes one character, such as ';', or the word tab");
    *delimiter = strcmp(name, "tab") == 0 ? '\t' : name[0];
    return EXIT_DONE;
}
