/* certificate.c - certificates and the file that keeps them. */
#include "io/certificate.h"

#include "core/memory.h"
#include "core/status.h"
#include "io/lock.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define CERTIFICATE_MAGIC "TEMCERTS"

enum { CERTIFICATE_VERSION = 1, WEIGHTS_EQUAL = 1 };

/* 64 bytes. Each of them is settled: by the format, or by the size of the file. */
typedef struct certificate_header {
    char magic[8];
    uint32_t version;
    uint32_t count;
    unsigned char zero[48];
} certificate_header;

/* 256 bytes. Weights that are not all equal would follow their record, `weights_bytes` of them
 * up to a multiple of 64; in this version there are none. */
typedef struct certificate_record {
    double epsilon;
    double beta;
    double realised;
    uint64_t s;
    uint32_t gamma;
    uint32_t weights;
    uint64_t weights_bytes;
    unsigned char weights_hash[CORE_HASH_BYTES];
    unsigned char space[CORE_HASH_BYTES];
    unsigned char zero[112];
    unsigned char hash[CORE_HASH_BYTES]; /* BLAKE2b-256 of what stands before it */
} certificate_record;

_Static_assert(sizeof(certificate_header) == 64 && sizeof(certificate_record) == 256,
               "the file's records have no padding of the compiler's");

/* ---- one certificate ---- */

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
    return NULL;
}

static certificate_record to_record(const tem_certificate *c) {
    certificate_record r = {.epsilon = c->epsilon,
                            .beta = c->beta,
                            .realised = c->realised,
                            .s = c->s,
                            .gamma = c->gamma,
                            .weights = WEIGHTS_EQUAL};
    memcpy(r.space, c->space, sizeof r.space);
    core_hash256(&r, offsetof(certificate_record, hash), r.hash);
    return r;
}

static tem_certificate from_record(const certificate_record *r) {
    tem_certificate c = {.epsilon = r->epsilon,
                         .beta = r->beta,
                         .s = r->s,
                         .gamma = r->gamma,
                         .realised = r->realised};
    memcpy(c.space, r->space, sizeof c.space);
    return c;
}

void certificate_hash(const tem_certificate *c, unsigned char hash[CORE_HASH_BYTES]) {
    const certificate_record r = to_record(c);
    memcpy(hash, r.hash, sizeof r.hash);
}

/* Compares numbers that are never NaN, for which == would warn. */
static bool equal(double a, double b) {
    return !(a < b) && !(a > b);
}

bool certificate_same_terms(const tem_certificate *a, const tem_certificate *b) {
    return equal(a->epsilon, b->epsilon) && equal(a->beta, b->beta) &&
           (a->beta > 0 || a->gamma == b->gamma);
}

/* ---- reading ---- */

static tem_status damaged(tem_error *error, const char *path, uint64_t byte, const char *what) {
    return core_fail_at(error, TEM_ERR_DAMAGED, path, 0, byte,
                        "damaged certificates: %s; 'tem calibrate' makes new ones once the file "
                        "is removed",
                        what);
}

static tem_status check_header(const file_view *view, const char *path, certificate_header *h,
                               tem_error *error) {
    static const certificate_header empty;
    if (view->size < sizeof h->magic || memcmp(view->data, CERTIFICATE_MAGIC, sizeof h->magic) != 0)
        return core_fail_at(error, TEM_ERR_FORMAT, path, 0, 0,
                            "not a file of certificates, which 'tem calibrate' makes");
    if (view->size < sizeof *h)
        return damaged(error, path, 0, "the file ends in its header");
    memcpy(h, view->data, sizeof *h);
    if (h->version > CERTIFICATE_VERSION)
        return core_fail_at(error, TEM_ERR_VERSION, path, 0, 0,
                            "format %u of certificates is newer than %d, the newest this tem reads",
                            h->version, CERTIFICATE_VERSION);
    if (h->version != CERTIFICATE_VERSION || h->count < 1 || h->count > CERTIFICATES_MAX ||
        memcmp(h->zero, empty.zero, sizeof h->zero) != 0 ||
        view->size != sizeof *h + h->count * sizeof(certificate_record))
        return damaged(error, path, 0, "the header does not fit the file");
    return TEM_OK;
}

/* A record must be, to the bit, the one that its certificate is written as: hash, padding and
 * all that this version does not know. */
static const char *take_record(const char *bytes, tem_certificate *out) {
    certificate_record found;
    memcpy(&found, bytes, sizeof found);
    const tem_certificate c = from_record(&found);
    const certificate_record right = to_record(&c);
    if (memcmp(&found, &right, sizeof found) != 0)
        return "a certificate does not match its hash";
    const char *fault = certificate_fault(&c);
    if (fault == NULL)
        *out = c;
    return fault;
}

tem_status certificates_read(const file_view *view, const char *path, tem_certificate **list,
                             uint32_t *count, tem_error *error) {
    certificate_header header;
    const tem_status status = check_header(view, path, &header, error);
    if (status != TEM_OK)
        return status;
    tem_certificate *made = core_alloc(header.count, sizeof *made);
    if (made == NULL)
        return core_fail_memory(error);
    for (uint32_t i = 0; i < header.count; i++) {
        const size_t at = sizeof header + i * sizeof(certificate_record);
        const char *fault = take_record(view->data + at, &made[i]);
        if (fault != NULL) {
            core_free(made);
            return damaged(error, path, at, fault);
        }
    }
    *list = made;
    *count = header.count;
    return TEM_OK;
}

tem_status certificates_load(const char *path, tem_certificate **list, uint32_t *count,
                             tem_error *error) {
    file_view view;
    tem_status status = file_map(path, &view, error);
    if (status != TEM_OK)
        return status;
    status = certificates_read(&view, path, list, count, error);
    file_close(&view);
    return status;
}

/* ---- writing ---- */

static tem_status put_all(file_writer *writer, const tem_certificate *list, uint32_t count,
                          tem_error *error) {
    certificate_header header = {.version = CERTIFICATE_VERSION, .count = count};
    memcpy(header.magic, CERTIFICATE_MAGIC, sizeof header.magic);
    tem_status status = file_writer_put(writer, &header, sizeof header, error);
    for (uint32_t i = 0; i < count && status == TEM_OK; i++) {
        const certificate_record record = to_record(&list[i]);
        status = file_writer_put(writer, &record, sizeof record, error);
    }
    return status;
}

static tem_status write_file(const char *path, tem_overwrite overwrite, const tem_certificate *list,
                             uint32_t count, tem_error *error) {
    file_writer writer;
    tem_status status = file_writer_open(&writer, path, overwrite, error);
    if (status != TEM_OK)
        return status;
    status = put_all(&writer, list, count, error);
    if (status != TEM_OK) {
        file_writer_abandon(&writer);
        return status;
    }
    return file_writer_commit(&writer, error);
}

/* The list with c in it, in place of one on the same terms and of all that are for another model;
 * `count` is that of the list before, and room is for one more. */
static uint32_t insert(tem_certificate *list, uint32_t count, const tem_certificate *c) {
    uint32_t kept = 0;
    bool placed = false;
    for (uint32_t i = 0; i < count; i++) {
        if (memcmp(list[i].space, c->space, sizeof c->space) != 0)
            continue;
        const bool same = certificate_same_terms(&list[i], c);
        list[kept++] = same ? *c : list[i];
        placed |= same;
    }
    if (!placed)
        list[kept++] = *c;
    return kept;
}

/* Replaces the file, whose lock is held: nobody else does. */
static tem_status replace(const tem_certificate *c, const char *path, tem_error *error) {
    tem_certificate *list = NULL;
    uint32_t count = 0;
    tem_status status = certificates_load(path, &list, &count, error);
    if (status != TEM_OK)
        return status;
    tem_certificate *longer = core_resize(list, (count + (size_t)1) * sizeof *list);
    if (longer == NULL) {
        core_free(list);
        return core_fail_memory(error);
    }
    count = insert(longer, count, c);
    status = count <= CERTIFICATES_MAX
                 ? write_file(path, TEM_OVERWRITE, longer, count, error)
                 : core_fail_at(error, TEM_ERR_RANGE, path, 0, 0,
                                "the file has %d certificates already, and takes no more",
                                CERTIFICATES_MAX);
    core_free(longer);
    return status;
}

/* A file that is not there is started under its name at once or not at all; if another process
 * starts it in the same moment, theirs is there to be added to. */
tem_status certificate_add(const tem_certificate *c, const char *path, tem_error *error) {
    for (;;) {
        int held = -1;
        tem_status status = lock_by_name(path, &held, error);
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
