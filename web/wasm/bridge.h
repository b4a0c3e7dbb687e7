/* bridge.h - the model as the web ships it: default.temweb.
 *
 *   offset  0  "TEMWEB01"
 *           8  u32  length of the lists
 *          12  u32  0
 *          16  u64  bytes of each part: vectors, excluded words, certificates, table of ln Z
 *          48  32 bytes: the hash of the native model file with the same lists
 *          80  zeros up to 128, then the parts, each at the next multiple of 64
 * The parts are data/glove-840b-33k-sphere64.temv; the excluded words, one per line; the balanced
 * certificates of data/default.tem.cert as a file of certificates; and a table (log_totals.h).
 * pack.c writes it. */
#ifndef WASM_BRIDGE_H
#define WASM_BRIDGE_H

#include "certificate/certificate.h"
#include "log_totals.h"
#include "model/model.h"

#define WEB_MAGIC "TEMWEB01"

enum { WEB_PARTS = 4, WEB_FRONT_BYTES = 128, WEB_ALIGNMENT = 64 };
enum { WEB_VECTORS, WEB_EXCLUDED, WEB_CERTIFICATES, WEB_TABLE };

typedef struct web_front {
    char magic[8];
    uint32_t neighbours, zero;
    uint64_t bytes[WEB_PARTS];
    unsigned char hash[CORE_HASH_BYTES];
    unsigned char zeros[48];
} web_front;

_Static_assert(sizeof(web_front) == WEB_FRONT_BYTES, "the front has no padding");

typedef struct web_model {
    tem_model *tem;
    tem_certificate *certificates;
    uint32_t certificate_count;
    log_totals table;
    char hash[2 * CORE_HASH_BYTES + 1]; /* of the native model file, in hex */
} web_model;

/* Makes the model from the bytes of default.temweb, aligned to WEB_ALIGNMENT. Copies what it needs.
 * PRIVACY: refuses bytes with another hash than the one that was compiled in, with
 * TEM_ERR_UNTRUSTED. Also fails with TEM_ERR_MEMORY. */
tem_status web_model_load(const char *bytes, size_t size, web_model *out, tem_error *error);

/* The number of the certificate for this epsilon; -1 if there is none. */
int32_t web_model_certificate(const web_model *m, double epsilon);

#endif
