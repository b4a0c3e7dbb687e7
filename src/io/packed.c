/* packed.c - packs and unpacks streams: gzip and zstd, a part at a time. */
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_createDCtx_advanced, which takes our allocator */
#include "io/packed.h"

#include "core/memory.h"
#include "core/status.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    GZIP_WINDOW_BITS = 15 + 16,
    GZIP_LEVEL = 6,
    ZSTD_LEVEL = 3,
    ZSTD_WINDOW_BITS = 27,
    PART_BYTES = 1 << 16
};

static const char gzip_magic[] = {'\x1f', '\x8b'};
static const char zstd_magic[] = {'\x28', '\xb5', '\x2f', '\xfd'};

/* Whether the bytes, as far as they go, are those of the magic. */
static bool begins(const char *data, size_t size, const char *magic, size_t length) {
    return memcmp(data, magic, size < length ? size : length) == 0;
}

tem_packing packed_recognise(const char *data, size_t size) {
    if (size == 0)
        return 0;
    if (begins(data, size, gzip_magic, sizeof gzip_magic))
        return size < sizeof gzip_magic ? 0 : TEM_PACKING_GZIP;
    if (begins(data, size, zstd_magic, sizeof zstd_magic))
        return size < sizeof zstd_magic ? 0 : TEM_PACKING_ZSTD;
    return TEM_PACKING_NONE;
}

/* ---- memory that is erased: its size stands before the block ---- */

enum { SIZE_BYTES = CORE_ALIGNMENT };

static void *alloc_sized(size_t bytes) {
    char *block = bytes > SIZE_MAX - SIZE_BYTES ? NULL : core_alloc(bytes + SIZE_BYTES, 1);
    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + SIZE_BYTES;
}

static void free_sized(void *sized) {
    size_t bytes = 0;
    if (sized == NULL)
        return;
    char *block = (char *)sized - SIZE_BYTES;
    memcpy(&bytes, block, sizeof bytes);
    core_free_erased(block, bytes + SIZE_BYTES);
}

static void *zlib_alloc(void *context, unsigned count, unsigned size) {
    (void)context;
    return alloc_sized((size_t)count * size);
}

static void zlib_free(void *context, void *block) {
    (void)context;
    free_sized(block);
}

static void *zstd_alloc(void *context, size_t bytes) {
    (void)context;
    return alloc_sized(bytes);
}

static void zstd_free(void *context, void *block) {
    (void)context;
    free_sized(block);
}

static const ZSTD_customMem zstd_memory = {zstd_alloc, zstd_free, NULL};

static z_stream *new_zlib(void) {
    z_stream *stream = core_alloc_zero(1, sizeof *stream);
    if (stream != NULL)
        *stream = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
    return stream;
}

/* ---- unpacking ---- */

static ZSTD_DCtx *new_zstd(void) {
    ZSTD_DCtx *state = ZSTD_createDCtx_advanced(zstd_memory);
    if (state != NULL)
        ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, ZSTD_WINDOW_BITS);
    return state;
}

tem_status unpacker_init(unpacker *u, tem_packing packing, tem_error *error) {
    *u = (unpacker){.packing = packing, .is_between = true};
    if (packing == TEM_PACKING_ZSTD)
        u->state = new_zstd();
    else if ((u->state = new_zlib()) != NULL &&
             inflateInit2((z_stream *)u->state, GZIP_WINDOW_BITS) != Z_OK) {
        core_free(u->state);
        u->state = NULL;
    }
    return u->state == NULL ? core_fail_memory(error) : TEM_OK;
}

void unpacker_free(unpacker *u) {
    if (u->state != NULL && u->packing == TEM_PACKING_ZSTD) {
        ZSTD_freeDCtx(u->state);
    } else if (u->state != NULL) {
        inflateEnd(u->state);
        core_free(u->state);
    }
    u->state = NULL;
}

static tem_status refuse_damage(tem_error *error) {
    return core_fail(error, TEM_ERR_FORMAT,
                     "the compressed data are damaged, or other bytes follow them");
}

/* Says why zstd refused the data.
 * A window is the memory that unpacking takes. 128 MiB is the limit of zstd itself, unless a user
 * raises it; with more, a file of some bytes could take 2 GiB. */
static tem_status refuse_zstd(size_t result, tem_error *error) {
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return core_fail_memory(error);
    case ZSTD_error_frameParameter_windowTooLarge:
        return core_fail(
            error, TEM_ERR_RANGE,
            "the zstd data need a window above 128 MiB, the most that tem gives them: unpack "
            "them, and compress them anew with a smaller window");
    default:
        return refuse_damage(error);
    }
}

static tem_status step_gzip(unpacker *u, const char *packed, size_t size, size_t *used,
                            core_buffer *out, size_t room, tem_error *error) {
    z_stream *z = u->state;
    if (u->is_between && !begins(packed, size, gzip_magic, sizeof gzip_magic))
        return refuse_damage(error);
    if (u->is_between && u->has_begun && inflateReset(z) != Z_OK)
        return refuse_damage(error);
    u->has_begun = true;
    z->next_in = (unsigned char *)(uintptr_t)packed;
    z->avail_in = size < UINT_MAX ? (unsigned)size : UINT_MAX;
    z->next_out = (unsigned char *)out->data + out->size;
    z->avail_out = room < UINT_MAX ? (unsigned)room : UINT_MAX;
    const unsigned given = z->avail_in, free_before = z->avail_out;
    const int result = inflate(z, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR)
        return core_fail_memory(error);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return refuse_damage(error);
    u->is_between = result == Z_STREAM_END;
    *used = given - z->avail_in;
    out->size += free_before - z->avail_out;
    return TEM_OK;
}

static tem_status step_zstd(unpacker *u, const char *packed, size_t size, size_t *used,
                            core_buffer *out, size_t room, tem_error *error) {
    ZSTD_inBuffer from = {packed, size, 0};
    ZSTD_outBuffer to = {out->data + out->size, room, 0};
    const size_t result = ZSTD_decompressStream(u->state, &to, &from);
    if (ZSTD_isError(result))
        return refuse_zstd(result, error);
    u->is_between = result == 0;
    *used = from.pos;
    out->size += to.pos;
    return TEM_OK;
}

tem_status unpacker_step(unpacker *u, const char *packed, size_t size, size_t *used,
                         core_buffer *out, size_t room, tem_error *error) {
    return (u->packing == TEM_PACKING_ZSTD ? step_zstd : step_gzip)(u, packed, size, used, out,
                                                                    room, error);
}

/* ---- packing ---- */

tem_status packer_init(packer *p, tem_packing packing, tem_error *error) {
    *p = (packer){.packing = packing};
    if (packing == TEM_PACKING_NONE)
        return TEM_OK;
    if (packing == TEM_PACKING_ZSTD) {
        p->state = ZSTD_createCCtx_advanced(zstd_memory);
        if (p->state != NULL) {
            ZSTD_CCtx_setParameter(p->state, ZSTD_c_compressionLevel, ZSTD_LEVEL);
            ZSTD_CCtx_setParameter(p->state, ZSTD_c_checksumFlag, 1);
        }
    } else if ((p->state = new_zlib()) != NULL &&
               deflateInit2((z_stream *)p->state, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
                            Z_DEFAULT_STRATEGY) != Z_OK) {
        core_free(p->state);
        p->state = NULL;
    }
    return p->state == NULL ? core_fail_memory(error) : TEM_OK;
}

void packer_free(packer *p) {
    if (p->state != NULL && p->packing == TEM_PACKING_ZSTD) {
        ZSTD_freeCCtx(p->state);
    } else if (p->state != NULL) {
        deflateEnd(p->state);
        core_free(p->state);
    }
    p->state = NULL;
}

static bool put_gzip(packer *p, const void *bytes, size_t count, bool is_end, core_buffer *out) {
    z_stream *z = p->state;
    int result = Z_OK;
    z->next_in = (unsigned char *)(uintptr_t)bytes;
    for (bool done = false; !done;) {
        const unsigned some = count < PART_BYTES ? (unsigned)count : PART_BYTES;
        const bool is_last = some == count;
        if (!core_buffer_reserve(out, PART_BYTES))
            return false;
        z->avail_in = some;
        z->next_out = (unsigned char *)out->data + out->size;
        z->avail_out = PART_BYTES;
        result = deflate(z, is_last && is_end ? Z_FINISH : Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return false;
        out->size += PART_BYTES - z->avail_out;
        count -= some - z->avail_in;
        done = is_end ? result == Z_STREAM_END : count == 0 && z->avail_out > 0;
    }
    return true;
}

static bool put_zstd(packer *p, const void *bytes, size_t count, bool is_end, core_buffer *out) {
    ZSTD_inBuffer from = {bytes, count, 0};
    for (bool done = false; !done;) {
        if (!core_buffer_reserve(out, PART_BYTES))
            return false;
        ZSTD_outBuffer to = {out->data + out->size, PART_BYTES, 0};
        const size_t left =
            ZSTD_compressStream2(p->state, &to, &from, is_end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return false;
        out->size += to.pos;
        done = is_end ? left == 0 : from.pos == from.size;
    }
    return true;
}

tem_status packer_put(packer *p, const void *bytes, size_t count, bool is_end, core_buffer *out,
                      tem_error *error) {
    const bool done =
        (p->packing == TEM_PACKING_ZSTD ? put_zstd : put_gzip)(p, bytes, count, is_end, out);
    return done ? TEM_OK : core_fail_memory(error);
}
