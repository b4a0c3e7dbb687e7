/* fields.c - the fields of the records of a run, and what the run did with them. */
#include "records/fields.h"

#include "core/status.h"

#include <string.h>

const char *fields_use_name(tem_field_use use) {
    switch (use) {
    case TEM_FIELD_UNCHANGED:
        return "unchanged";
    case TEM_FIELD_PRIVATE:
        return "private";
    case TEM_FIELD_DROPPED:
        return "dropped";
    default:
        return NULL;
    }
}

size_t fields_count(const tem_fields *f) {
    return f->entries.size / sizeof(fields_entry);
}

fields_entry *fields_at(const tem_fields *f, size_t i) {
    return (fields_entry *)(void *)f->entries.data + i;
}

const char *fields_name(const tem_fields *f, size_t i) {
    return f->names.data + fields_at(f, i)->start;
}

static bool has_name(const tem_fields *f, size_t i, const char *name, size_t bytes) {
    return fields_at(f, i)->bytes == bytes &&
           (bytes == 0 || memcmp(fields_name(f, i), name, bytes) == 0);
}

tem_status fields_append(tem_fields *f, const char *name, size_t bytes, tem_field_use use,
                         tem_error *error) {
    if (fields_count(f) == FIELDS_MAX) {
        f->more = true;
        return TEM_OK;
    }
    const fields_entry entry = {.start = f->names.size, .bytes = bytes, .use = use};
    if (!core_buffer_reserve(&f->names, bytes + 1) ||
        !core_buffer_add(&f->entries, &entry, sizeof entry))
        return core_fail_memory(error);
    core_buffer_add(&f->names, name, bytes);
    core_buffer_add(&f->names, "", 1);
    return TEM_OK;
}

tem_status fields_find(tem_fields *f, const char *name, size_t bytes, tem_field_use use,
                       size_t *index, tem_error *error) {
    const size_t count = fields_count(f);
    size_t i = f->next < count ? f->next : 0;
    if (count > 0 && !has_name(f, i, name, bytes))
        for (i = 0; i < count && !has_name(f, i, name, bytes);)
            i++;
    f->next = i + 1;
    *index = i;
    return i < count ? TEM_OK : fields_append(f, name, bytes, use, error);
}

tem_status fields_merge(tem_fields *f, const tem_fields *added, tem_error *error) {
    tem_status status = TEM_OK;
    f->more |= added->more;
    for (size_t i = 0; status == TEM_OK && i < fields_count(added); i++) {
        const fields_entry *entry = fields_at(added, i);
        size_t index = 0;
        status = fields_find(f, fields_name(added, i), entry->bytes, entry->use, &index, error);
    }
    return status;
}

tem_field fields_get(const tem_fields *f, size_t i) {
    const fields_entry *entry = fields_at(f, i);
    const char *name = fields_name(f, i), *looks = NULL;
    const bool stays = entry->use == TEM_FIELD_UNCHANGED;
    const bool by_content = stays && (looks = personal_by_content(&entry->tally)) != NULL;
    if (stays && !by_content)
        looks = personal_by_name(name, entry->bytes);
    return (tem_field){.name = name,
                       .name_bytes = entry->bytes,
                       .use = entry->use,
                       .looks_like = looks,
                       .looks_by_content = by_content};
}

void fields_clear(tem_fields *f) {
    f->names.size = f->entries.size = f->next = 0;
    f->more = false;
}

void fields_free(tem_fields *f) {
    core_buffer_free(&f->names);
    core_buffer_free(&f->entries);
}
