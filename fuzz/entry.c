/* entry.c - where libFuzzer enters a target. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)fuzz_input(data, size);
    return 0;
}
