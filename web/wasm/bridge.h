/* bridge.h - the model as the web ships it: default.temweb.
 *
 *   offset  0  "TEMWEB02"
 *           8  u32  length of the lists
 *          12  u32  0
 *          16  u64  bytes of each part: vectors, excluded words, certificates, table of ln Z, order
 *          56  32 bytes: the hash of the native model file with the same lists and order
 *          88  32 bytes: the hash of its order
 *         120  zeros up to 128, then the parts, each at the next multiple of 64
 * The parts are data/glove-840b-33k-sphere64.temv; the excluded words, one per line; the balanced
 * certificates of data/default.tem.cert as a file of certificates; a table (log_totals.h); and an
 * order_shape with sequence and groups of the order, u32 each, as a zstd frame. pack.c writes it.
 *
 * The order is that of the 64 columns, not of all 300 as in the native default.tem: paths and lists
 * are computed from the vectors that the file has anyway (order/order_lazy.c). Packed, the order of
 * the 300 columns has 15 MB or more. docs/WEB.md says what that costs. */
#ifndef WASM_BRIDGE_H
#define WASM_BRIDGE_H

#include "certificate/certificate.h"
#include "log_totals.h"
#include "model/model.h"

#define WEB_MAGIC "TEMWEB02"

enum { WEB_PARTS = 5, WEB_FRONT_BYTES = 128, WEB_ALIGNMENT = 64 };
enum { WEB_VECTORS, WEB_EXCLUDED, WEB_CERTIFICATES, WEB_TABLE, WEB_ORDER };

typedef struct web_front {
    char magic[8];
    uint32_t neighbours, zero;
    uint64_t bytes[WEB_PARTS];
    unsigned char hash[CORE_HASH_BYTES], order_hash[CORE_HASH_BYTES];
    unsigned char zeros[8];
} web_front;

_Static_assert(sizeof(web_front) == WEB_FRONT_BYTES, "the front has no padding");

typedef struct web_model {
    tem_model *tem;
    tem_certificate *certificates;
    uint32_t certificate_count;
    log_totals table;
    tem_language *language;             /* or NULL: none was loaded */
    char hash[2 * CORE_HASH_BYTES + 1]; /* of the native model file, in hex */
} web_model;

/* Makes the model from the bytes of default.temweb, aligned to WEB_ALIGNMENT. Copies what it needs.
 * PRIVACY: refuses bytes with another hash than the one that was compiled in, with
 * TEM_ERR_UNTRUSTED. Also fails with TEM_ERR_MEMORY. */
tem_status web_model_load(const char *bytes, size_t size, web_model *out, tem_error *error);

/* Makes m->language from the bytes of english-small.temng, as `tem ngram` does. Some hundred
 * milliseconds. PRIVACY: refuses other bytes, as web_model_load does: what is drawn follows the
 * language model. Also fails with TEM_ERR_MEMORY. */
tem_status web_model_load_language(web_model *m, const char *bytes, size_t size, tem_error *error);

/* Fails with TEM_ERR_UNTRUSTED and this message unless the bytes have this hash, in hex. */
tem_status web_check_hash(const char *bytes, size_t size, const char *hash, const char *message,
                          tem_error *error);

/* The number of the certificate for this epsilon; -1 if there is none. */
int32_t web_model_certificate(const web_model *m, double epsilon);

#endif
