/* nearest_heap.c - the K best of many candidates. */
#include "index/nearest_heap.h"

/* Lets `key` sink from the hole at `at` to its place in a heap of `count`. */
static void sink(uint64_t *keys, uint32_t count, uint32_t at, uint64_t key) {
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && keys[child + 1] > keys[child])
            child++;
        if (keys[child] <= key)
            break;
        keys[at] = keys[child];
        at = (uint32_t)child;
    }
    keys[at] = key;
}

uint64_t nearest_offer(uint64_t *keys, uint32_t *used, uint32_t capacity, uint64_t key) {
    if (*used < capacity) {
        keys[(*used)++] = key;
        for (uint32_t at = *used < capacity ? 0 : capacity / 2; at-- > 0;)
            sink(keys, capacity, at, keys[at]);
        return NEAREST_NONE;
    }
    const uint64_t largest = keys[0];
    if (key >= largest)
        return key;
    sink(keys, capacity, 0, key);
    return largest;
}

void nearest_sort(uint64_t *keys, uint32_t capacity) {
    for (uint32_t count = capacity; count > 1; count--) {
        uint64_t largest = keys[0];
        sink(keys, count - 1, 0, keys[count - 1]);
        keys[count - 1] = largest;
    }
}
