/* model_save.c - writing a model file. */
#include "core/hash.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "io/model_layout.h"

#include <string.h>

static tem_status put_section(file_writer *writer, const tem_model *m, model_section *section,
                              tem_error *error) {
    static const unsigned char zero[MODEL_ALIGNMENT];
    const void *data = model_section_data(m, section->kind);
    const size_t padding = core_round_up(section->bytes, MODEL_ALIGNMENT) - section->bytes;
    core_hash256(data, section->bytes, section->hash);
    tem_status status = file_writer_put(writer, data, section->bytes, error);
    return status == TEM_OK ? file_writer_put(writer, zero, padding, error) : status;
}

/* Header, table and seal, which need the hashes of the sections. */
static tem_status put_front(file_writer *writer, const model_header *header,
                            const model_section *table, tem_error *error) {
    unsigned char front[sizeof *header + SECTION_KINDS * sizeof *table + sizeof(model_seal)] = {0};
    const size_t table_bytes = header->sections * sizeof *table;
    model_seal seal = {0};
    model_front_hash(header, table, seal.hash);
    memcpy(front, header, sizeof *header);
    memcpy(front + sizeof *header, table, table_bytes);
    memcpy(front + sizeof *header + table_bytes, &seal, sizeof seal);
    return file_writer_put_at(writer, front, header->header_bytes, 0, error);
}

static tem_status put_model(file_writer *writer, const tem_model *m, const tem_run *run,
                            tem_error *error) {
    model_header header;
    model_section table[SECTION_KINDS];
    tem_status status = model_front(m, &header, table, error);
    if (status != TEM_OK)
        return status;

    /* Zeros hold the place of the front, which is known last. */
    static const unsigned char
        zero[sizeof header + SECTION_KINDS * sizeof *table + sizeof(model_seal)];
    status = file_writer_put(writer, zero, header.header_bytes, error);
    for (uint32_t i = 0; i < header.sections && status == TEM_OK; i++) {
        status = core_progress(run, "writing", table[i].offset, header.file_bytes, error);
        if (status == TEM_OK)
            status = put_section(writer, m, &table[i], error);
    }
    if (status == TEM_OK)
        status = put_front(writer, &header, table, error);
    if (status == TEM_OK)
        status = core_progress(run, "writing", header.file_bytes, header.file_bytes, error);
    return status;
}

tem_status model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                      const tem_run *run, tem_error *error) {
    file_writer writer;
    tem_status status = file_writer_open(&writer, path, overwrite, error);
    if (status != TEM_OK)
        return status;
    status = put_model(&writer, model, run, error);
    if (status != TEM_OK) {
        file_writer_abandon(&writer);
        return status;
    }
    return file_writer_commit(&writer, error);
}
