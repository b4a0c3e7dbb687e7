/* model_open.c - opens a model file that may be damaged or hostile.
 *
 * Opening checks the header and the section table in full. There is only one way to lay out the
 * required sections, so their records must equal those that model_layout computes. Further sections
 * may follow: that of the excluded words, and sections that this version does not know. Of those
 * tem skips the optional ones, and refuses the model if one is not optional (check_further). All
 * sections together must fill the file.
 *
 * After these checks every array has the length that its users rely on. The code that uses an array
 * checks its content: space/vocab.c checks word starts, index/neighbours.c checks lists. Vectors
 * may hold any numbers (space/kernels/kernels.h). */
#include "core/hash.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "model/model_layout.h"
#include "space/ball.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tem_status damaged(tem_error *error, const char *path, const char *what) {
    return core_fail_at(error, TEM_ERR_DAMAGED, path, 0, 0, "damaged model: %s", what);
}

static tem_status check_numbers(const model_header *h, const char *path, tem_error *error) {
    if (h->words < 2 || h->words > TEM_WORDS_MAX)
        return damaged(error, path, "the number of words is out of range");
    const metric_ops *metric = metric_find((tem_metric)h->metric);
    if (metric == NULL)
        return damaged(error, path, "the metric is unknown");
    if (h->zero != 0)
        return damaged(error, path, "a reserved field is not 0");
    if (!metric->has_vectors) {
        if (h->dimension != 0 || h->step_log2 != 0)
            return damaged(error, path, "a matrix has no dimension");
    } else if (h->triangles != 0) {
        return damaged(error, path, "only a matrix has triangles");
    } else if (h->dimension < 1 || h->dimension > TEM_DIMENSION_MAX ||
               h->step_log2 < SPACE_STEP_LOG2_MIN || h->step_log2 > SPACE_STEP_LOG2_MAX) {
        return damaged(error, path, "the dimension or the step is out of range");
    } else if (metric->is_ball && h->step_log2 != BALL_STEP_LOG2) {
        return damaged(error, path, "points of the ball have another step");
    }
    if (h->neighbours < 1 || h->neighbours > h->words)
        return damaged(error, path, "the length of the lists is out of range");
    return TEM_OK;
}

static tem_status check_header(const file_view *view, const char *path, model_header *h,
                               tem_error *error) {
    if (view->size < sizeof h->magic || memcmp(view->data, MODEL_MAGIC, sizeof h->magic) != 0)
        return core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0, "not a tem model");
    if (view->size < sizeof *h)
        return damaged(error, path, "the file ends in its header");
    memcpy(h, view->data, sizeof *h);
    if (h->version > MODEL_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                            "model format %u is newer than %d, the newest this tem reads",
                            h->version, MODEL_VERSION);
    if (h->version != MODEL_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                            "model format %u is older than %d: build the model again", h->version,
                            MODEL_VERSION);
    if (h->file_bytes != view->size)
        return damaged(error, path, "the file is shorter or longer than its header says");
    return check_numbers(h, path, error);
}

/* Compares the records of the required sections with those that model_layout computes: no others
 * are valid. *end receives where these sections end. */
static tem_status check_required(const char *path, const model_header *h,
                                 const model_section *table, uint64_t *end, tem_error *error) {
    uint64_t word_bytes = 0, list_entries = 0;
    for (uint32_t i = 0; i < SECTIONS_REQUIRED; i++) {
        if (table[i].kind == SECTION_WORD_BYTES)
            word_bytes = table[i].bytes;
        if (table[i].kind == SECTION_LISTS)
            list_entries = table[i].bytes / sizeof(tem_neighbour);
    }
    model_section right[SECTIONS_REQUIRED];
    if (model_layout(h, word_bytes, list_entries, right, end) != SECTIONS_REQUIRED ||
        *end > h->file_bytes)
        return damaged(error, path, "the sections do not fit the file");
    for (uint32_t i = 0; i < SECTIONS_REQUIRED; i++) {
        memcpy(right[i].hash, table[i].hash, sizeof right[i].hash);
        if (memcmp(&right[i], &table[i], sizeof right[i]) != 0)
            return damaged(error, path, "the section table is wrong");
    }
    return TEM_OK;
}

/* Checks the records of the sections after the required ones. They come in the order of their
 * kinds, and each begins where the one before it ends.
 * PRIVACY: a section that this version does not know and that is not optional may change what is
 * drawn, so the model is refused. */
static tem_status check_further(const char *path, const model_header *h, const model_section *table,
                                uint64_t *end, tem_error *error) {
    uint32_t last_kind = SECTION_KINDS;
    for (uint32_t i = SECTIONS_REQUIRED; i < h->sections; i++) {
        const model_section *s = &table[i];
        const uint32_t kind = s->kind & ~SECTION_OPTIONAL;
        if (kind <= last_kind || s->zero != 0 || s->zero_end != 0 || s->offset != *end ||
            *end > h->file_bytes || s->bytes > h->file_bytes - *end)
            return damaged(error, path, "the section table is wrong");
        if (s->kind != SECTION_EXCLUDED && (s->kind & SECTION_OPTIONAL) == 0)
            return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                                "the model has a section of kind %u, which this tem does not know "
                                "and may not skip: a newer tem is needed",
                                kind);
        last_kind = kind;
        *end = core_round_up(s->offset + s->bytes, MODEL_ALIGNMENT);
    }
    return TEM_OK;
}

/* The record of a further section, or NULL. */
static const model_section *find_section(const model_section *table, uint32_t count,
                                         uint32_t kind) {
    for (uint32_t i = SECTIONS_REQUIRED; i < count; i++)
        if (table[i].kind == kind)
            return &table[i];
    return NULL;
}

/* Reads the signals of an adapted model. Only the euclidean metric has them, and at least one
 * column comes before them. */
static tem_status read_signals(const file_view *view, const char *path, const model_header *h,
                               const model_section *table, model_signals *signals,
                               tem_error *error) {
    const model_section *s = find_section(table, h->sections, SECTION_SIGNALS);
    *signals = (model_signals){0};
    if (s == NULL)
        return TEM_OK;
    model_signals found = {0};
    const tem_status status =
        signals_read((const unsigned char *)view->data + s->offset, s->bytes, &found, error);
    if (status != TEM_OK)
        return status == TEM_ERR_DAMAGED ? damaged(error, path, "no adaptation has its signals")
                                         : status;
    if (h->metric != TEM_EUCLIDEAN || found.count >= h->dimension) {
        signals_free(&found);
        return damaged(error, path, "its signals do not fit its columns");
    }
    *signals = found;
    return TEM_OK;
}

/* Reads how the vectors were prepared, if the model says it. Only the euclidean metric has a
 * sphere. */
static tem_status read_recipe(const file_view *view, const char *path, const model_header *h,
                              const model_section *table, uint32_t signals, tem_recipe *recipe,
                              tem_error *error) {
    const model_section *s = find_section(table, h->sections, SECTION_RECIPE);
    *recipe = (tem_recipe){0};
    if (s != NULL && (h->metric != TEM_EUCLIDEAN ||
                      !recipe_read((const unsigned char *)view->data + s->offset, s->bytes,
                                   h->words, h->dimension - signals, recipe)))
        return damaged(error, path, "no preparation of vectors has its recipe");
    return TEM_OK;
}

static tem_status check_table(const file_view *view, const char *path, const model_header *h,
                              model_section table[SECTIONS_MAX], tem_error *error) {
    if (h->sections < SECTIONS_REQUIRED || h->sections > SECTIONS_MAX)
        return damaged(error, path, "the section table has the wrong size");
    const uint64_t expected = sizeof *h + h->sections * sizeof *table + sizeof(model_seal);
    if (h->header_bytes != expected || view->size < expected)
        return damaged(error, path, "the section table has the wrong size");
    memcpy(table, view->data + sizeof *h, h->sections * sizeof *table);
    uint64_t end = 0;
    tem_status status = check_required(path, h, table, &end, error);
    if (status == TEM_OK)
        status = check_further(path, h, table, &end, error);
    if (status == TEM_OK && end != h->file_bytes)
        return damaged(error, path, "the sections do not fill the file");
    return status;
}

/* Hashes the copies of header and table, because tem uses the copies: another process may write to
 * the file meanwhile. */
static tem_status check_seal(const file_view *view, const char *path, const model_header *h,
                             const model_section *table, model_seal *seal, tem_error *error) {
    unsigned char hash[CORE_HASH_BYTES], zero[CORE_HASH_BYTES] = {0};
    memcpy(seal, view->data + h->header_bytes - sizeof *seal, sizeof *seal);
    model_front_hash(h, table, hash);
    if (memcmp(hash, seal->hash, sizeof hash) != 0 || memcmp(zero, seal->zero, sizeof zero) != 0)
        return damaged(error, path, "the header does not match its hash");
    return TEM_OK;
}

/* Points the model's view of this kind at its section of the mapped file. */
static void attach_section(tem_model *m, const model_section *section) {
    const void *data = m->file.data + section->offset;
    switch (section->kind) {
    case SECTION_WORD_STARTS:
        m->words.starts = data;
        break;
    case SECTION_WORD_BYTES:
        m->words.bytes = data;
        m->words.byte_count = section->bytes;
        break;
    case SECTION_WORD_TABLE:
        m->words.slots = data;
        m->words.slot_count = section->bytes / sizeof *m->words.slots;
        break;
    case SECTION_VECTORS:
        if (m->space.metric->is_ball)
            m->space.points = data;
        else
            m->space.rows = data;
        break;
    case SECTION_MATRIX:
        m->space.matrix = data;
        break;
    case SECTION_LIST_STARTS:
        m->index.starts = data;
        break;
    case SECTION_LISTS:
        m->index.entries = data;
        m->index.entry_count = section->bytes / sizeof *m->index.entries;
        break;
    default:
        m->index.bounds = data;
    }
}

static void attach(tem_model *m, const model_header *h, const model_section *table) {
    m->words.count = m->space.count = m->index.count = h->words;
    m->space.metric = metric_find((tem_metric)h->metric);
    m->space.dimension = h->dimension;
    m->space.row_elements = space_row_elements(h->dimension);
    m->space.step_log2 = h->step_log2;
    m->neighbours = h->neighbours;
    m->deviation = h->deviation;
    m->triangles = h->triangles & ~((uint64_t)1 << 63);
    m->triangles_exhaustive = h->triangles >> 63 != 0;
    for (uint32_t i = 0; i < SECTIONS_REQUIRED; i++)
        attach_section(m, &table[i]);
}

/* The record of the excluded words, or NULL. */
static const model_section *excluded_section(const tem_model *m) {
    return find_section(m->table, m->section_count, SECTION_EXCLUDED);
}

static tem_status attach_excluded(tem_model *m, tem_error *error) {
    const model_section *section = excluded_section(m);
    return section == NULL ? TEM_OK : model_exclude_read(m, m->path, section, error);
}

static tem_status attach_order(tem_model *m, tem_error *error) {
    const model_section *s = find_section(m->table, m->section_count, SECTION_ORDER);
    if (s == NULL)
        return TEM_OK;
    const tem_status status =
        order_open(&m->order, (const unsigned char *)m->file.data + s->offset, s->bytes,
                   m->words.count, m->excluded, m->excluded_count, error);
    return status == TEM_ERR_DAMAGED ? damaged(error, m->path, "its order of the words is none")
                                     : status;
}

tem_status model_from_view(file_view view, const char *path, tem_model **out, tem_error *error) {
    model_header header;
    model_section table[SECTIONS_MAX] = {0};
    model_seal seal;
    tem_recipe recipe;
    model_signals signals = {0};
    tem_model *m = NULL;
    tem_status status = check_header(&view, path, &header, error);
    if (status == TEM_OK)
        status = check_table(&view, path, &header, table, error);
    if (status == TEM_OK)
        status = check_seal(&view, path, &header, table, &seal, error);
    if (status == TEM_OK)
        status = read_signals(&view, path, &header, table, &signals, error);
    if (status == TEM_OK)
        status = read_recipe(&view, path, &header, table, signals.count, &recipe, error);
    if (status == TEM_OK) {
        m = core_alloc_zero(1, sizeof *m);
        if (m == NULL)
            status = core_fail_memory(error);
    }
    if (status != TEM_OK) {
        signals_free(&signals);
        file_close(&view);
        return status;
    }
    m->file = view;
    m->recipe = recipe;
    m->signals = signals;
    memcpy(m->hash, seal.hash, sizeof m->hash);
    attach(m, &header, table);
    m->path = core_alloc(strlen(path) + 1, 1);
    m->table = core_alloc(header.sections, sizeof *m->table);
    m->index.checked = core_alloc_zero((size_t)header.words / 64 + 1, sizeof *m->index.checked);
    if (m->path == NULL || m->table == NULL || m->index.checked == NULL) {
        model_free(m);
        return core_fail_memory(error);
    }
    memcpy(m->path, path, strlen(path) + 1);
    memcpy(m->table, table, header.sections * sizeof *table);
    m->section_count = header.sections;
    status = attach_excluded(m, error);
    if (status == TEM_OK)
        status = attach_order(m, error);
    if (status != TEM_OK) {
        model_free(m);
        return status;
    }
    *out = m;
    return TEM_OK;
}

tem_status model_open(const char *path, tem_model **out, tem_error *error) {
    file_view view;
    TRY(file_map(path, &view, error));
    return model_from_view(view, path, out, error);
}

void model_free(tem_model *m) {
    if (m == NULL)
        return;
    if (m->file.data != NULL) {
        file_close(&m->file);
        core_free(m->index.checked);
        core_free(m->table);
        core_free(m->path);
    } else {
        vocab_free(&m->words);
        core_free((void *)(uintptr_t)m->space.rows);
        core_free((void *)(uintptr_t)m->space.points);
        core_free((void *)(uintptr_t)m->space.matrix);
        neighbours_free(&m->index);
    }
    core_free((void *)(uintptr_t)m->excluded);
    core_free(m->excluded_bits);
    signals_free(&m->signals);
    order_free(&m->order);
    unit_points_free(&m->order_points);
    core_free(m);
}

/* The work that model_check gives to its threads: one item per section. */
typedef struct section_check {
    const tem_model *model;
    const model_section *table;
    bool bad[SECTIONS_MAX];
} section_check;

static bool all_zero(const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static bool is_stopped(void *context) {
    (void)context;
    return core_task_stopped();
}

static void check_section(void *context, uint64_t item, unsigned thread) {
    section_check *check = context;
    const model_section *section = &check->table[item];
    const char *data = check->model->file.data + section->offset;
    const size_t padding = core_round_up(section->bytes, MODEL_ALIGNMENT) - section->bytes;
    unsigned char hash[CORE_HASH_BYTES];
    (void)thread;
    if (!core_hash256_unless(data, section->bytes, is_stopped, NULL, hash))
        return;
    check->bad[item] =
        memcmp(hash, section->hash, sizeof hash) != 0 || !all_zero(data + section->bytes, padding);
}

/* PRIVACY: the excluded words that tem uses are a copy. The hash that is checked, and that a
 * certificate names, must be the hash of this copy. */
static bool excluded_match(const tem_model *m) {
    unsigned char hash[CORE_HASH_BYTES];
    const model_section *section = excluded_section(m);
    if (section == NULL)
        return true;
    core_hash256(m->excluded, m->excluded_count * sizeof *m->excluded, hash);
    return memcmp(hash, section->hash, sizeof hash) == 0;
}

/* Uses the table that was checked when the file was opened, not the one in the file: another
 * process may have written to the file since. */
tem_status model_check(const tem_model *model, const tem_run *run, tem_error *error) {
    if (model->file.data == NULL)
        return TEM_OK;
    const uint32_t sections = model->section_count;
    section_check check = {.model = model, .table = model->table};
    tem_status status =
        core_parallel(run, "checking hashes", sections, check_section, &check, error);
    for (uint32_t i = 0; i < sections && status == TEM_OK; i++)
        if (check.bad[i])
            status =
                core_fail_at(error, TEM_ERR_DAMAGED, model->path, 0, model->table[i].offset + 1,
                             "damaged model: the %s do not match their hash",
                             model_section_name(model->table[i].kind));
    if (status == TEM_OK && !excluded_match(model))
        status = core_fail_at(error, TEM_ERR_DAMAGED, model->path, 0, 0,
                              "damaged model: the excluded words changed after it was opened");
    if (status == TEM_OK && vocab_check_words(&model->words, error) != TEM_OK)
        status = TEM_ERR_DAMAGED;
    return status;
}

/* The work that model_hash gives to its threads: one item per section. */
typedef struct section_hashes {
    const tem_model *model;
    model_section table[SECTIONS_MAX];
} section_hashes;

static void hash_section(void *context, uint64_t item, unsigned thread) {
    section_hashes *made = context;
    model_section *section = &made->table[item];
    (void)thread;
    core_hash256(model_section_data(made->model, section), section->bytes, section->hash);
}

tem_status model_hash(const tem_model *model, const tem_run *run,
                      unsigned char hash[CORE_HASH_BYTES], tem_error *error) {
    model_header header;
    section_hashes made = {.model = model};
    tem_status status = model_front(model, &header, made.table, error);
    if (status == TEM_OK)
        status =
            core_parallel(run, "computing hashes", header.sections, hash_section, &made, error);
    if (status == TEM_OK)
        model_front_hash(&header, made.table, hash);
    return status;
}

/* ---- which model to open when the user names none ---- */

static tem_status give(const char *found, bool is_own, char *path, size_t bytes, int *own,
                       tem_error *error) {
    const size_t length = strlen(found);
    if (length >= bytes)
        return core_fail(error, TEM_ERR_RANGE, "the name of the default model is too long");
    memcpy(path, found, length + 1);
    *own = is_own;
    return TEM_OK;
}

tem_status model_find_default(const char *const *folders, size_t count, char *path, size_t bytes,
                              int *is_own, tem_error *error) {
    static const char *const tails[] = {"default.tem", "../share/tem/default.tem"};
    const char *named = getenv("TEM_MODEL");
    char name[PATH_MAX];
    if (named != NULL && named[0] != '\0')
        return give(named, false, path, bytes, is_own, error);
    for (size_t i = 0; i < 2 * count; i++) {
        const int length = snprintf(name, sizeof name, "%s/%s", folders[i / 2], tails[i % 2]);
        if (length > 0 && length < PATH_MAX && access(name, F_OK) == 0)
            return give(name, true, path, bytes, is_own, error);
    }
    return core_fail(error, TEM_ERR_FILE, "there is no default model");
}
