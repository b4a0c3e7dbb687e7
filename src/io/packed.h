/* packed.h - packs and unpacks streams: gzip and zstd, a part at a time.
 *
 * A stream is unpacked only as far as its reader asks, so a small file that unpacks to a huge one
 * takes no more memory than any other. An unpacker may hold private text: it erases its memory. */
#ifndef IO_PACKED_H
#define IO_PACKED_H

#include "core/buffer.h"
#include "tem.h"

#include <stdbool.h>

/* Returns the packing of a stream by its first bytes, TEM_PACKING_NONE if it has none; 0 if the
 * bytes are too few to tell. */
tem_packing packed_recognise(const char *data, size_t size);

/* Unpacks one stream. */
typedef struct unpacker {
    tem_packing packing;
    void *state;     /* z_stream or ZSTD_DCtx */
    bool is_between; /* a member or frame has ended, and no other has begun */
    bool has_begun;
} unpacker;

/* packing: gzip or zstd. TEM_ERR_MEMORY. End with unpacker_free. */
tem_status unpacker_init(unpacker *u, tem_packing packing, tem_error *error);
void unpacker_free(unpacker *u);

/* Unpacks some of `size` bytes, at most `room` bytes of output, and appends them to out, which has
 * that room. *used receives how many bytes it took. TEM_ERR_FORMAT if the bytes are damaged, or if
 * something follows the stream that is no other stream; TEM_ERR_RANGE if zstd data need a window
 * above 128 MiB; TEM_ERR_MEMORY. */
tem_status unpacker_step(unpacker *u, const char *packed, size_t size, size_t *used,
                         core_buffer *out, size_t room, tem_error *error);

/* Packs one stream. */
typedef struct packer {
    tem_packing packing;
    void *state; /* z_stream or ZSTD_CCtx */
} packer;

tem_status packer_init(packer *p, tem_packing packing, tem_error *error);
void packer_free(packer *p);

/* Appends the packed form of bytes to out; with is_end, ends the stream. TEM_ERR_MEMORY. */
tem_status packer_put(packer *p, const void *bytes, size_t count, bool is_end, core_buffer *out,
                      tem_error *error);

#endif
