/* formats.c - the table of all record formats, and functions that several formats share. */
#include "core/near.h"
#include "core/status.h"
#include "records/format.h"

#include <stdio.h>
#include <string.h>

static const record_format *const formats[] = {
    &format_text,
    &format_tsv,
    &format_csv,
    &format_jsonl,
};

const record_format *format_at(unsigned i) {
    return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

const record_format *format_find(tem_format id) {
    for (unsigned i = 0; format_at(i) != NULL; i++)
        if (formats[i]->id == id)
            return formats[i];
    return NULL;
}

tem_status format_refuse_unknown(const char *typed, tem_error *error) {
    char names[128] = "";
    const char *near = NULL;
    unsigned least = NEAR_NOT;
    for (unsigned i = 0; format_at(i) != NULL; i++) {
        const char *name = formats[i]->name;
        const unsigned edits = near_edits(typed, strlen(typed), name, strlen(name));
        core_add_choice(names, sizeof names, name, format_at(i + 1) == NULL);
        near = edits < least ? name : near;
        least = edits < least ? edits : least;
    }
    return core_fail(error, TEM_ERR_ARGUMENT, "the format is %s%s%s%s", names,
                     near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                     near == NULL ? "" : "'?");
}

size_t format_first_line(const char *data, size_t size) {
    const char *end = memchr(data, '\n', size);
    return end == NULL ? size : (size_t)(end - data) + 1;
}

size_t format_last_line(const char *data, size_t size) {
    const char *last = memrchr(data, '\n', size);
    return last == NULL ? 0 : (size_t)(last - data) + 1;
}

tem_status format_encode_plain(const record_reader *r, const char *text, size_t bytes,
                               core_buffer *out, tem_error *error) {
    (void)r;
    return core_buffer_add(out, text, bytes) ? TEM_OK : core_fail_memory(error);
}

size_t format_quoted_end(const char *record, size_t size, size_t at) {
    for (at++; at < size; at++) {
        if (record[at] != '"')
            continue;
        if (at + 1 < size && record[at + 1] == '"')
            at++;
        else
            return at + 1;
    }
    return size + 1;
}

tem_status format_refuse(tem_error *error, size_t byte, const char *what) {
    return core_fail_at(error, TEM_ERR_FORMAT, "", 0, byte + 1, "%s", what);
}

tem_status format_refuse_return(tem_error *error, size_t byte) {
    return format_refuse(error, byte,
                         "a carriage return without line feed: lines must end in LF or CR LF");
}
