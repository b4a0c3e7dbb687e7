/* slow.h - SLOW is 1 in a build with the address sanitizer, which is several times slower; tests
 * then run fewer cases. */
#ifndef TESTS_SLOW_H
#define TESTS_SLOW_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SLOW)
#define SLOW 1
#endif
#ifndef SLOW
#define SLOW 0
#endif

#endif
