/* record_input.c - reads files as one stream of batches of whole records. */
#include "job/record_input.h"

#include "core/status.h"
#include "text/pieces.h"

#include <stdio.h>
#include <string.h>

void record_place_error(const record_place *place, tem_error *error) {
    if (error == NULL)
        return;
    snprintf(error->file, sizeof error->file, "%s", place->path);
    error->line = place->line;
    error->byte = 0; /* the byte was counted within a part of the file */
}

void record_place_pass(record_place *place, const char *data, size_t size) {
    const char *end = data + size;
    for (; (data = memchr(data, '\n', (size_t)(end - data))) != NULL; data++)
        place->line++;
}

void record_input_begin(record_input *i, const record_source *from) {
    *i = (record_input){.from = *from};
}

void record_input_end(record_input *i) {
    if (i->is_open)
        stream_input_close(&i->in);
    i->is_open = false;
    core_buffer_free(&i->header);
}

static tem_status ask(record_input *i, tem_error *error) {
    const uint64_t bytes = i->untold;
    i->untold = 0;
    return i->from.ask(i->from.context, bytes, error);
}

/* Takes the header of an input, without its line end. All inputs must have the same one, since the
 * output is one table. */
static tem_status take_header(record_input *i, const char *header, size_t size, tem_error *error) {
    if (i->header_known)
        return size == i->header.size && memcmp(header, i->header.data, size) == 0
                   ? TEM_OK
                   : core_fail(error, TEM_ERR_FORMAT,
                               "expected the same header as in the first file");
    tem_status status = records_header(i->from.reader, header, size, error);
    if (status == TEM_OK && i->from.header != NULL)
        status = i->from.header(i->from.context, header, size, error);
    if (status == TEM_OK && !core_buffer_add(&i->header, header, size))
        status = core_fail_memory(error);
    i->header_known = status == TEM_OK;
    return status;
}

/* Looks for the header among the whole records from *at on, and moves *at past it. If there are
 * only blank lines, moves *at past them, and the header is still due. */
static tem_status find_header(record_input *i, size_t *at, tem_error *error) {
    while (i->header_due && *at < i->whole) {
        size_t content = 0;
        const char *record = i->in.data.data + *at;
        const size_t size = records_first(i->from.reader, record, i->whole - *at, &content);
        i->header_due = records_is_blank(i->from.reader, content);
        const tem_status status = i->header_due ? TEM_OK : take_header(i, record, content, error);
        if (status != TEM_OK) {
            if (status == TEM_ERR_FORMAT)
                record_place_error(i->from.place, error);
            return status;
        }
        record_place_pass(i->from.place, record, size);
        *at += size;
    }
    return TEM_OK;
}

/* Returns the length of the byte order mark at the beginning of an input, or 0 if it has none. The
 * mark is not text, so tem leaves it out. */
static size_t mark_length(const char *data, size_t size) {
    return size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Refuses an input whose first bytes show that it is not UTF-8 text. Without this check the error
 * would be about the first record, and would not say what is wrong with the file. */
static tem_status check_start(const record_input *i, tem_error *error) {
    static const struct {
        size_t bytes;
        const char *start, *what;
    } others[] = {
        {2, "\xff\xfe", "the input is UTF-16; expected UTF-8"},
        {2, "\xfe\xff", "the input is UTF-16; expected UTF-8"},
        {4, "PK\x03\x04",
         "the input is a ZIP archive, such as an Excel sheet (.xlsx); expected text: save a sheet "
         "as CSV, a document as plain text"},
        {4, "\xd0\xcf\x11\xe0",
         "the input is an Office file, such as an Excel sheet (.xls); expected text: save a sheet "
         "as CSV, a document as plain text"},
        {5, "PAR1\x15", "the input is a Parquet table; in Python, tem.parquet reads it"},
        {5, "%PDF-", "the input is a PDF; expected text: save it as plain text"},
    };
    const char *data = i->in.data.data, *what = NULL;
    for (size_t k = 0; k < sizeof others / sizeof *others && what == NULL; k++)
        if (i->whole >= others[k].bytes && memcmp(data, others[k].start, others[k].bytes) == 0)
            what = others[k].what;
    return what == NULL
               ? TEM_OK
               : core_fail_at(error, TEM_ERR_FORMAT, i->from.place->path, 0, 0, "%s", what);
}

/* Reads until there is a whole record. Sets i->whole, which is 0 only at the end of the input. */
static tem_status read_batch(record_input *i, tem_error *error) {
    stream_input *in = &i->in;
    size_t wanted = RECORD_BATCH_BYTES;
    for (;;) {
        const size_t before = in->data.size;
        /* Ask the callback before the read waits: a signal that came earlier would not end that
         * wait. */
        TRY(ask(i, error));
        TRY(stream_input_fill(in, wanted, error));
        i->untold += in->data.size - before;
        if (i->from.watch != NULL && in->data.size > before)
            source_watch_pass(i->from.watch, in->data.data + before, in->data.size - before);
        i->whole = in->data.size == 0
                       ? 0
                       : records_whole(i->from.reader, in->data.data, in->data.size, in->at_end);
        if (i->whole > 0 || in->at_end)
            return TEM_OK;
        if (in->data.size > 2 * (size_t)TEXT_BYTES_MAX)
            return core_fail_at(error, TEM_ERR_RANGE, in->path, i->from.place->line, 0,
                                "a record is larger than 2 GiB");
        wanted = in->data.size < RECORD_BATCH_BYTES ? RECORD_BATCH_BYTES : 2 * in->data.size;
    }
}

static tem_status open_next(record_input *i, tem_error *error) {
    const char *path = i->from.count == 0 ? "-" : i->from.paths[i->next];
    TRY(stream_input_open(&i->in, path, i->from.run, error));
    if (i->from.watch != NULL)
        source_watch_begin(i->from.watch);
    i->next++;
    i->is_open = i->begins = true;
    i->header_due = records_have_header(i->from.reader);
    i->whole = 0;
    i->from.place->path = strcmp(path, "-") == 0 ? "standard input" : path;
    i->from.place->line = 1;
    return TEM_OK;
}

static tem_status close_input(record_input *i, tem_error *error) {
    if (i->header_due)
        return core_fail_at(error, TEM_ERR_FORMAT, i->from.place->path, 1, 0,
                            "expected a header, found an empty file");
    if (i->from.watch != NULL)
        source_watch_end(i->from.watch, i->from.place->path);
    stream_input_close(&i->in);
    i->is_open = false;
    return TEM_OK;
}

/* Reads the next batch of the open input, and leaves out mark and header. *size is 0 if the batch
 * has nothing else. At the end of the input, closes it and does not touch *size. */
static tem_status read_open(record_input *i, const char **data, size_t *size, tem_error *error) {
    stream_input_drop(&i->in, i->whole);
    TRY(read_batch(i, error));
    TRY(ask(i, error));
    if (i->whole == 0)
        return close_input(i, error);
    size_t at = i->begins ? mark_length(i->in.data.data, i->whole) : 0;
    tem_status status = i->begins ? check_start(i, error) : TEM_OK;
    i->begins = false;
    if (status == TEM_OK)
        status = find_header(i, &at, error);
    *data = i->in.data.data + at;
    *size = i->whole - at;
    return status;
}

tem_status record_input_next(record_input *i, const char **data, size_t *size, tem_error *error) {
    tem_status status = TEM_OK;
    *size = 0;
    while (status == TEM_OK && *size == 0) {
        if (!i->is_open && i->next > 0 && i->next >= i->from.count)
            return TEM_OK;
        status = i->is_open ? read_open(i, data, size, error) : open_next(i, error);
    }
    return status;
}
