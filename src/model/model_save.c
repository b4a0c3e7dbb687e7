/* model_save.c - writes a model file. */
#include "core/hash.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/model_layout.h"

#include <string.h>

/* The state of one model_save. */
typedef struct saving {
    file_writer writer;
    const tem_run *run;
    uint64_t done, total; /* bytes */
    tem_error *error;
} saving;

static tem_status tell(const saving *s) {
    return core_progress(s->run, "writing", s->done, s->total, s->error);
}

static bool is_stopped(void *context) {
    return tell(context) != TEM_OK;
}

/* Writes in chunks and asks the callback after each one. */
static tem_status put_bytes(saving *s, const char *data, size_t bytes) {
    enum { CHUNK_BYTES = 4 << 20 };
    tem_status status = TEM_OK;
    for (size_t at = 0; at < bytes && status == TEM_OK; at += CHUNK_BYTES) {
        const size_t chunk = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        status = file_writer_put(&s->writer, data + at, chunk, s->error);
        s->done += chunk;
        if (status == TEM_OK)
            status = tell(s);
    }
    return status;
}

static tem_status put_section(saving *s, const tem_model *m, model_section *section) {
    static const char zero[MODEL_ALIGNMENT];
    const void *data = model_section_data(m, section);
    const size_t padding = core_round_up(section->bytes, MODEL_ALIGNMENT) - section->bytes;
    if (!core_hash256_unless(data, section->bytes, is_stopped, s, section->hash))
        return TEM_ERR_CANCELLED; /* is_stopped has filled the error */
    TRY(put_bytes(s, data, section->bytes));
    return put_bytes(s, zero, padding);
}

/* Writes header, table and seal. They need the hashes of all sections, so they come last. */
static tem_status put_front(file_writer *writer, const model_header *header,
                            const model_section *table, tem_error *error) {
    unsigned char front[sizeof *header + SECTIONS_MAX * sizeof *table + sizeof(model_seal)] = {0};
    const size_t table_bytes = header->sections * sizeof *table;
    model_seal seal = {0};
    model_front_hash(header, table, seal.hash);
    memcpy(front, header, sizeof *header);
    memcpy(front + sizeof *header, table, table_bytes);
    memcpy(front + sizeof *header + table_bytes, &seal, sizeof seal);
    return file_writer_put_at(writer, front, header->header_bytes, 0, error);
}

static tem_status put_model(saving *s, const tem_model *m) {
    model_header header;
    model_section table[SECTIONS_MAX];
    TRY(model_front(m, &header, table, s->error));
    s->total = header.file_bytes;

    /* Zeros hold the place of the front, which is known last. */
    static const char zero[sizeof header + SECTIONS_MAX * sizeof *table + sizeof(model_seal)];
    tem_status status = put_bytes(s, zero, header.header_bytes);
    for (uint32_t i = 0; i < header.sections && status == TEM_OK; i++)
        status = put_section(s, m, &table[i]);
    return status == TEM_OK ? put_front(&s->writer, &header, table, s->error) : status;
}

tem_status model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                      const tem_run *run, tem_error *error) {
    saving s = {.run = run, .error = error};
    TRY(file_writer_open(&s.writer, path, overwrite, error));
    tem_status status = put_model(&s, model);
    if (status != TEM_OK) {
        file_writer_abandon(&s.writer);
        return status;
    }
    return file_writer_commit(&s.writer, error);
}
