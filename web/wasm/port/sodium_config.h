/* sodium_config.h - what libsodium's sources ask its configure script, for WebAssembly. */
#define NATIVE_LITTLE_ENDIAN 1
#define HAVE_EXPLICIT_BZERO 1
#define CONFIGURED 1
