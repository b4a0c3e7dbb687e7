/* random.h - random bytes from the page: web/tem/index.js has put them into entropy_pool before it
 * calls (port.c). */
#ifndef PORT_SYS_RANDOM_H
#define PORT_SYS_RANDOM_H

#include <stddef.h>
#include <sys/types.h>

ssize_t getrandom(void *bytes, size_t count, unsigned flags);

#endif
