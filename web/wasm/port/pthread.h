/* pthread.h - the part of POSIX threads that libtem's core needs, for one thread that never
 * forks. */
#ifndef PORT_PTHREAD_H
#define PORT_PTHREAD_H

typedef int pthread_once_t;
#define PTHREAD_ONCE_INIT 0

static inline int pthread_once(pthread_once_t *once, void (*run)(void)) {
    if (*once == 0) {
        *once = 1;
        run();
    }
    return 0;
}

static inline int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
    (void)before, (void)parent, (void)child;
    return 0;
}

#endif
