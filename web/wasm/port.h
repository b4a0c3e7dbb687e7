/* port.h - what WebAssembly has instead of an operating system. */
#ifndef WASM_PORT_H
#define WASM_PORT_H

#include <stddef.h>
#include <stdint.h>

enum { ENTROPY_BYTES = 64 };

/* The random bytes for the next secure generator. The caller of the module fills them from
 * crypto.getRandomValues and sets entropy_left. getrandom takes them, and erases what it takes.
 * PRIVACY: no byte serves twice, and when none is left, getrandom fails. */
extern unsigned char entropy_pool[ENTROPY_BYTES];
extern size_t entropy_left;

#endif
