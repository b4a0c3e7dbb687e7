/* config.h - what libunistring's sources ask its configure script, for WebAssembly. */
#define IN_LIBUNISTRING 1
#define _GL_ATTRIBUTE_CONST __attribute__((const))
#define _GL_ATTRIBUTE_PURE __attribute__((pure))
#define _GL_ATTRIBUTE_FALLTHROUGH __attribute__((fallthrough))
#define _GL_UNUSED __attribute__((unused))
