/* certificate.c - certificates and the file that keeps them. */
#include "certificate/certificate.h"

#include "core/memory.h"
#include "core/status.h"
#include "io/file.h"
#include "model/model_layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistr.h>
#include <zstd.h>

#define CERTIFICATE_MAGIC "TEMCERTS"

enum {
    CERTIFICATE_VERSION = 2,
    ALIGNMENT = 64,
    COMPRESSION = 19,
    WEIGHTS_MAX = 1 << 26 /* per file: few bytes may unpack to many weights */
};

/* 64 bytes. The format fixes all of them except the count and further_bytes, which must both fit
 * the size of the file. */
typedef struct certificate_header {
    char magic[8];
    uint32_t version;
    uint32_t count;
    uint64_t further_bytes; /* of the further sections, with which the file ends */
    unsigned char zero[40];
} certificate_header;

/* 64 bytes before each further section, whose bytes are filled up with zeros to a multiple of
 * ALIGNMENT. The kinds of the sections, without the bit SECTION_OPTIONAL (model_layout.h), rise
 * from each to the next. */
typedef struct further_section {
    uint32_t kind;
    uint32_t zero;
    uint64_t bytes;
    unsigned char hash[CORE_HASH_BYTES]; /* of the bytes */
    unsigned char zeros[16];
} further_section;

/* A tem_effect as the file stores it. Unlike tem_effect, it cannot grow. */
typedef struct effect_record {
    double self, support, distance, bayes;
} effect_record;

/* 320 bytes. Weights that are not all equal follow their record, as one zstd frame, padded with
 * zeros to a multiple of ALIGNMENT. The hash is of the weights themselves, so the certificate does
 * not depend on how they are packed. */
typedef struct certificate_record {
    double epsilon;
    double beta;
    double realised;
    uint64_t s;
    uint32_t gamma;
    uint32_t kind;
    uint32_t weights_count;
    uint32_t zero;
    unsigned char weights_hash[CORE_HASH_BYTES]; /* of the u32 weights; zero if there are none */
    unsigned char space[CORE_HASH_BYTES];
    char prior[CERTIFICATE_PRIOR_BYTES];
    uint64_t weights_bytes; /* size of the frame */
    effect_record effect, plain;
    unsigned char zeros[40];
    unsigned char hash[CORE_HASH_BYTES]; /* BLAKE2b-256 of all fields before it, with 0 for
                                          * weights_bytes */
} certificate_record;

_Static_assert(sizeof(certificate_header) == 64 && sizeof(certificate_record) == 320 &&
                   sizeof(further_section) == 64,
               "the file's records have no padding of the compiler's");

static const char out_of_memory[] = "out of memory";
static const char repeated[] = "two certificates answer the same question";
static const char trailing[] = "something follows the last certificate";

/* ---- one certificate ---- */

static bool is_effect(const tem_effect *e) {
    return e->self >= 0 && e->self <= 1 && e->bayes > 0 && e->bayes <= 1 && e->support >= 0.5 &&
           e->support <= 2.0 * TEM_WORDS_MAX && e->distance >= 0 && e->distance <= 0x1p16;
}

/* Whether a terminal and JSON can show the text as it is: UTF-8 without control characters. */
bool certificate_is_name(const char *text) {
    if (u8_check((const uint8_t *)text, strlen(text)) != NULL)
        return false;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return false;
    return true;
}

static bool has_weight(const tem_certificate *c) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->weights[i] > 0)
            return true;
    return c->count == 0;
}

static bool is_none(const tem_effect *e) {
    static const tem_effect none;
    return memcmp(e, &none, sizeof none) == 0;
}

const char *certificate_fault(const tem_certificate *c) {
    if (!isfinite(c->epsilon) || c->epsilon <= 0)
        return "its epsilon is no positive number";
    if (!(c->beta >= 0 && c->beta < 1) || signbit(c->beta))
        return "its beta is not between 0 and 1";
    if (c->s < 1 || c->gamma < 1 || c->s > CERTIFICATE_EXPONENT_MAX / c->gamma)
        return "its s and gamma are beyond what is drawn from";
    if (ldexp((double)c->s, -CERTIFICATE_S_BITS) > c->epsilon)
        return "its s is above its epsilon, which no proof allows";
    if (!(c->realised > 0) || !certificate_leaves_room(c->realised, c->epsilon))
        return "what it proves is not below its epsilon";
    if (c->kind < TEM_WEIGHTS_EQUAL || c->kind > TEM_WEIGHTS_TUNED ||
        (c->kind == TEM_WEIGHTS_EQUAL && c->count != 0))
        return "its kind of weights is not one there is, or not the one it has";
    const bool has_prior = c->prior[0] != '\0';
    if (has_prior ? !is_effect(&c->effect) || !is_effect(&c->plain)
                  : c->kind == TEM_WEIGHTS_TUNED || !is_none(&c->effect) || !is_none(&c->plain))
        return "what it says about its prior and effects cannot be";
    if (!certificate_is_name(c->prior))
        return "the name of its prior is not plain UTF-8";
    if (!has_weight(c))
        return "all its weights are 0";
    return NULL;
}

tem_status certificate_copy(const tem_certificate *from, tem_certificate *to, tem_error *error) {
    tem_certificate copy = *from;
    if (from->weights != NULL) {
        copy.weights = core_alloc(from->count, sizeof *copy.weights);
        if (copy.weights == NULL)
            return core_fail_memory(error);
        memcpy(copy.weights, from->weights, from->count * sizeof *copy.weights);
    }
    *to = copy;
    return TEM_OK;
}

void certificate_clear(tem_certificate *c) {
    core_free(c->weights);
    c->weights = NULL;
}

void certificates_free(tem_certificate *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        certificate_clear(&list[i]);
    core_free(list);
}

static effect_record to_effect_record(const tem_effect *e) {
    return (effect_record){e->self, e->support, e->distance, e->bayes};
}

static tem_effect from_effect_record(const effect_record *r) {
    return (tem_effect){
        .self = r->self, .support = r->support, .distance = r->distance, .bayes = r->bayes};
}

static certificate_record to_record(const tem_certificate *c) {
    certificate_record r = {.epsilon = c->epsilon,
                            .beta = c->beta,
                            .realised = c->realised,
                            .s = c->s,
                            .gamma = c->gamma,
                            .kind = (uint32_t)c->kind,
                            .weights_count = c->count,
                            .effect = to_effect_record(&c->effect),
                            .plain = to_effect_record(&c->plain)};
    memcpy(r.space, c->space, sizeof r.space);
    snprintf(r.prior, sizeof r.prior, "%s", c->prior);
    if (c->count > 0)
        core_hash256(c->weights, c->count * sizeof *c->weights, r.weights_hash);
    core_hash256(&r, offsetof(certificate_record, hash), r.hash);
    return r;
}

static tem_certificate from_record(const certificate_record *r) {
    tem_certificate c = {.epsilon = r->epsilon,
                         .beta = r->beta,
                         .s = r->s,
                         .gamma = r->gamma,
                         .realised = r->realised,
                         .kind = (tem_weights_kind)r->kind,
                         .count = r->weights_count,
                         .effect = from_effect_record(&r->effect),
                         .plain = from_effect_record(&r->plain)};
    memcpy(c.space, r->space, sizeof c.space);
    memcpy(c.prior, r->prior, sizeof c.prior - 1);
    return c;
}

void certificate_hash(const tem_certificate *c, unsigned char hash[CORE_HASH_BYTES]) {
    const certificate_record r = to_record(c);
    memcpy(hash, r.hash, sizeof r.hash);
}

/* Whether a == b, for numbers that are never NaN. The compiler would warn about ==. */
static bool equal(double a, double b) {
    return !(a < b) && !(a > b);
}

bool certificate_same_terms(const tem_certificate *a, const tem_certificate *b) {
    return equal(a->epsilon, b->epsilon) && equal(a->beta, b->beta) &&
           (a->beta > 0 || a->gamma == b->gamma) && a->kind == b->kind;
}

/* ---- reading ---- */

static tem_status damaged(tem_error *error, const char *path, uint64_t byte, const char *what) {
    return core_fail_at(error, TEM_ERR_DAMAGED, path, 0, byte,
                        "damaged certificates: %s; remove the file and make new ones", what);
}

/* Checks the section at *at and moves to the next one. */
static const char *take_further(const file_view *view, uint64_t *at, further_section *section) {
    static const char wrong[] = "a section after the certificates is damaged";
    static const further_section empty;
    unsigned char hash[CORE_HASH_BYTES];
    if (view->size - *at < sizeof *section)
        return wrong;
    memcpy(section, view->data + *at, sizeof *section);
    *at += sizeof *section;
    if (section->zero != 0 || memcmp(section->zeros, empty.zeros, sizeof empty.zeros) != 0 ||
        section->bytes > view->size - *at)
        return wrong;
    const uint64_t room = core_round_up(section->bytes, ALIGNMENT);
    if (room > view->size - *at)
        return wrong;
    core_hash256(view->data + *at, section->bytes, hash);
    if (memcmp(hash, section->hash, sizeof hash) != 0)
        return wrong;
    for (uint64_t i = section->bytes; i < room; i++)
        if (view->data[*at + i] != 0)
            return wrong;
    *at += room;
    return NULL;
}

/* Takes the further sections off the end of the view. This version knows none: it skips optional
 * ones.
 * PRIVACY: any other may change what a certificate means, so the file is refused. */
static tem_status drop_further(file_view *view, const certificate_header *h, const char *path,
                               tem_error *error) {
    if (h->further_bytes > view->size - sizeof *h)
        return damaged(error, path, 0, "the header does not fit the file");
    uint64_t at = view->size - h->further_bytes;
    uint32_t last_kind = 0;
    while (at < view->size) {
        const uint64_t start = at;
        further_section section = {0};
        const char *fault = take_further(view, &at, &section);
        const uint32_t kind = section.kind & ~SECTION_OPTIONAL;
        if (fault == NULL && kind <= last_kind)
            fault = "the sections after the certificates are out of order";
        if (fault != NULL)
            return damaged(error, path, start + 1, fault);
        if ((section.kind & SECTION_OPTIONAL) == 0)
            return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                                "the certificates have a section of kind %u, which this tem does "
                                "not know and may not skip: a newer tem is needed",
                                kind);
        last_kind = kind;
    }
    view->size -= h->further_bytes;
    return TEM_OK;
}

/* Checks the header and the further sections, and cuts the further sections off the view. */
static tem_status check_header(file_view *view, const char *path, certificate_header *h,
                               tem_error *error) {
    static const certificate_header empty;
    if (view->size < sizeof h->magic || memcmp(view->data, CERTIFICATE_MAGIC, sizeof h->magic) != 0)
        return core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0, "not a file of certificates");
    if (view->size < sizeof *h)
        return damaged(error, path, 0, "the file ends in its header");
    memcpy(h, view->data, sizeof *h);
    if (h->version > CERTIFICATE_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                            "format %u of certificates is newer than %d, the newest this tem reads",
                            h->version, CERTIFICATE_VERSION);
    if (h->version < CERTIFICATE_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                            "format %u of certificates is too old: remove the file and make "
                            "new ones",
                            h->version);
    if (h->count < 1 || h->count > CERTIFICATES_MAX ||
        memcmp(h->zero, empty.zero, sizeof h->zero) != 0)
        return damaged(error, path, 0, "the header does not fit the file");
    return drop_further(view, h, path, error);
}

/* Unpacks the weights that follow a record. Like the other functions here that return a string, it
 * returns what is wrong with the file, or NULL. */
static const char *take_weights(const char *frame, uint64_t bytes, tem_certificate *c) {
    const size_t size = c->count * sizeof *c->weights;
    if (ZSTD_getFrameContentSize(frame, bytes) != size ||
        ZSTD_findFrameCompressedSize(frame, bytes) != bytes)
        return "the weights of a certificate are cut short or damaged";
    c->weights = core_alloc(c->count, sizeof *c->weights);
    if (c->weights == NULL)
        return out_of_memory;
    return ZSTD_decompress(c->weights, size, frame, bytes) == size
               ? NULL
               : "the weights of a certificate are damaged";
}

/* Reads the record at *at, moves *at to its weights, and checks that these lie within the file.
 * *left is the number of weights that the file may still have. */
static const char *take_record(const file_view *view, uint64_t *at, uint32_t *left,
                               certificate_record *found) {
    if (view->size - *at < sizeof *found)
        return "the file is cut short";
    memcpy(found, view->data + *at, sizeof *found);
    *at += sizeof *found;
    const uint64_t bytes = found->weights_bytes, room = core_round_up(bytes, ALIGNMENT);
    if (bytes > view->size || room > view->size - *at ||
        (found->weights_count == 0) != (bytes == 0))
        return "the weights of a certificate do not fit the file";
    if (found->weights_count > *left)
        return "it unpacks to more weights than a file may have";
    *left -= found->weights_count;
    return NULL;
}

/* Reads the certificate at *at and moves *at behind it. The record must equal, bit for bit, the
 * record that tem would write for this certificate, hashes and padding included. */
static const char *take_certificate(const file_view *view, uint64_t *at, uint32_t *left,
                                    tem_certificate *out) {
    certificate_record found;
    const char *unread = take_record(view, at, left, &found);
    if (unread != NULL)
        return unread;
    const uint64_t bytes = found.weights_bytes, room = core_round_up(bytes, ALIGNMENT);
    *out = from_record(&found);
    const char *fault = bytes == 0 ? NULL : take_weights(view->data + *at, bytes, out);
    for (uint64_t i = bytes; i < room && fault == NULL; i++)
        fault = view->data[*at + i] == 0 ? NULL : "the space after weights is not empty";
    *at += room;
    if (fault != NULL)
        return fault;
    certificate_record right = to_record(out);
    right.weights_bytes = bytes;
    return memcmp(&found, &right, sizeof found) != 0 ? "a certificate does not match its hash"
                                                     : certificate_fault(out);
}

static bool same_question(const tem_certificate *a, const tem_certificate *b) {
    return memcmp(a->space, b->space, sizeof a->space) == 0 && certificate_same_terms(a, b);
}

static bool is_repeated(const tem_certificate *list, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (same_question(&list[k], &list[i]))
            return true;
    return false;
}

tem_status certificates_read(const file_view *file, const char *path, tem_certificate **list,
                             uint32_t *count, tem_error *error) {
    certificate_header header;
    file_view kept = *file;
    const file_view *view = &kept;
    TRY(check_header(&kept, path, &header, error));
    tem_certificate *made = core_alloc_zero(header.count, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    uint64_t at = sizeof header, start = at;
    uint32_t left = WEIGHTS_MAX;
    const char *fault = NULL;
    for (uint32_t i = 0; i < header.count && fault == NULL; i++) {
        start = at;
        fault = take_certificate(view, &at, &left, &made[i]);
        if (fault == NULL && is_repeated(made, i))
            fault = repeated;
    }
    if (fault == NULL && at != view->size) {
        start = at;
        fault = trailing;
    }
    if (fault != NULL) {
        certificates_free(made, header.count);
        return fault == out_of_memory ? core_fail_memory(error)
                                      : damaged(error, path, start + 1, fault);
    }
    *list = made;
    *count = header.count;
    return TEM_OK;
}

/* Skips the first `count` certificates. Reads only their records, and checks that none has the
 * space and terms of `other`, unless other is NULL. *at receives the start of the next certificate,
 * or of the one that is wrong. */
static const char *skip(const file_view *view, uint32_t count, const tem_certificate *other,
                        uint64_t *at, uint32_t *left) {
    *at = sizeof(certificate_header);
    *left = WEIGHTS_MAX;
    for (uint32_t k = 0; k < count; k++) {
        certificate_record record;
        uint64_t next = *at;
        const char *fault = take_record(view, &next, left, &record);
        if (fault != NULL)
            return fault;
        const tem_certificate one = from_record(&record);
        if (other != NULL && same_question(&one, other))
            return repeated;
        *at = next + core_round_up(record.weights_bytes, ALIGNMENT);
    }
    return NULL;
}

/* Reads the i-th of `count` certificates; for i >= count, checks that the last one ends the
 * file. */
static const char *read_one(const file_view *view, uint32_t count, uint32_t i, uint64_t *at,
                            tem_certificate *out) {
    uint64_t again = 0;
    uint32_t left = 0, left_again = 0;
    const char *fault = skip(view, i < count ? i : count, NULL, at, &left);
    if (fault != NULL || i >= count)
        return fault == NULL && *at != view->size ? trailing : fault;
    uint64_t end = *at;
    fault = take_certificate(view, &end, &left, out);
    if (fault == NULL)
        fault = skip(view, i, out, &again, &left_again);
    if (fault != NULL || i + 1 < count || end == view->size)
        return fault;
    *at = end;
    return trailing;
}

tem_status certificate_read_one(const file_view *file, const char *path, uint32_t i,
                                tem_certificate *out, bool *there, tem_error *error) {
    certificate_header header;
    file_view kept = *file;
    const file_view *view = &kept;
    tem_certificate read = {0};
    uint64_t at = 0;
    TRY(check_header(&kept, path, &header, error));
    const char *fault = read_one(view, header.count, i, &at, &read);
    if (fault != NULL) {
        certificate_clear(&read);
        return fault == out_of_memory ? core_fail_memory(error)
                                      : damaged(error, path, at + 1, fault);
    }
    *there = i < header.count;
    *out = read;
    return TEM_OK;
}

tem_status certificate_load_one(const char *path, uint32_t i, tem_certificate *out, bool *there,
                                tem_error *error) {
    file_view view;
    TRY(file_map(path, &view, error));
    tem_status status = certificate_read_one(&view, path, i, out, there, error);
    file_close(&view);
    return status;
}

tem_status certificates_load(const char *path, tem_certificate **list, uint32_t *count,
                             tem_error *error) {
    file_view view;
    TRY(file_map(path, &view, error));
    tem_status status = certificates_read(&view, path, list, count, error);
    file_close(&view);
    return status;
}

/* ---- writing ---- */

/* Writes the record and its weights, packed. */
static tem_status put_certificate(file_writer *writer, const tem_certificate *c, tem_error *error) {
    static const char zeros[ALIGNMENT];
    certificate_record record = to_record(c);
    const size_t size = c->count * sizeof *c->weights, room = ZSTD_compressBound(size);
    char *frame = c->count == 0 ? NULL : core_alloc(room, 1);
    if (c->count > 0 && frame == NULL)
        return core_fail_memory(error);
    if (c->count > 0)
        record.weights_bytes = ZSTD_compress(frame, room, c->weights, size, COMPRESSION);
    tem_status status = ZSTD_isError(record.weights_bytes) ? core_fail_memory(error) : TEM_OK;
    if (status == TEM_OK)
        status = file_writer_put(writer, &record, sizeof record, error);
    if (status == TEM_OK && c->count > 0)
        status = file_writer_put(writer, frame, record.weights_bytes, error);
    if (status == TEM_OK)
        status = file_writer_put(
            writer, zeros, core_round_up(record.weights_bytes, ALIGNMENT) - record.weights_bytes,
            error);
    core_free(frame);
    return status;
}

static tem_status put_all(file_writer *writer, const tem_certificate *list, uint32_t count,
                          tem_error *error) {
    certificate_header header = {.version = CERTIFICATE_VERSION, .count = count};
    memcpy(header.magic, CERTIFICATE_MAGIC, sizeof header.magic);
    tem_status status = file_writer_put(writer, &header, sizeof header, error);
    for (uint32_t i = 0; i < count && status == TEM_OK; i++)
        status = put_certificate(writer, &list[i], error);
    return status;
}

static tem_status write_file(const char *path, tem_overwrite overwrite, const tem_certificate *list,
                             uint32_t count, tem_error *error) {
    file_writer writer;
    TRY(file_writer_open(&writer, path, overwrite, error));
    tem_status status = put_all(&writer, list, count, error);
    if (status != TEM_OK) {
        file_writer_abandon(&writer);
        return status;
    }
    return file_writer_commit(&writer, error);
}

/* Inserts c into the list, in place of a certificate with the same terms and of all certificates
 * for other models, and returns the new count. `count` is the old count; the list has room for one
 * more. c still belongs to the caller, and *borrowed receives its place in the list. */
static uint32_t insert(tem_certificate *list, uint32_t count, const tem_certificate *c,
                       uint32_t *borrowed) {
    uint32_t kept = 0;
    *borrowed = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const bool other = memcmp(list[i].space, c->space, sizeof c->space) != 0;
        const bool same = same_question(&list[i], c);
        if (other || same)
            certificate_clear(&list[i]);
        if (same)
            *borrowed = kept;
        if (!other)
            list[kept++] = same ? *c : list[i];
    }
    if (*borrowed == UINT32_MAX) {
        *borrowed = kept;
        list[kept++] = *c;
    }
    return kept;
}

/* Replaces the file. The caller holds its lock, so nobody else replaces it meanwhile. */
static tem_status replace(const tem_certificate *c, const char *path, tem_error *error) {
    tem_certificate *list = NULL;
    uint32_t count = 0, borrowed = 0;
    TRY(certificates_load(path, &list, &count, error));
    tem_certificate *longer = core_resize(list, (count + (size_t)1) * sizeof *list);
    if (longer == NULL) {
        certificates_free(list, count);
        return core_fail_memory(error);
    }
    count = insert(longer, count, c, &borrowed);
    tem_status status =
        count <= CERTIFICATES_MAX
            ? write_file(path, TEM_OVERWRITE, longer, count, error)
            : core_fail_at(error, TEM_ERR_RANGE, path, 0, 0,
                           "the file has %d certificates already, and takes no more",
                           CERTIFICATES_MAX);
    longer[borrowed].weights = NULL;
    certificates_free(longer, count);
    return status;
}

/* If the file does not exist, write_file makes it whole or not at all. If another process makes it
 * at the same moment, the loop starts again and adds to the file of that process. */
tem_status certificate_add(const tem_certificate *c, const char *path, const tem_run *run,
                           tem_error *error) {
    for (;;) {
        int held = -1;
        tem_status status = lock_by_name(path, run, &held, error);
        if (status != TEM_OK)
            return status;
        if (held >= 0) {
            status = replace(c, path, error);
            lock_close(held);
            return status;
        }
        status = write_file(path, TEM_KEEP_EXISTING, c, 1, error);
        if (status != TEM_ERR_EXISTS)
            return status;
    }
}
