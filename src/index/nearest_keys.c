/* nearest_keys.c - selects the K smallest of many keys, by Hoare's quickselect and quicksort. */
#include "index/nearest_keys.h"

enum { SMALL = 16 }; /* up to this many keys are sorted by insertion */

static uint64_t median(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static void insertion_sort(uint64_t *keys, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const uint64_t key = keys[i];
        uint32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Moves the keys that are at most a pivot to the front, without a branch that depends on the keys.
 * Returns their number, which is above 0 and below count; count must be at least 3. */
static uint32_t partition(uint64_t *keys, uint32_t count) {
    const uint64_t pivot = median(keys[0], keys[count / 2], keys[count - 1]);
    uint32_t front = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = keys[i];
        keys[i] = keys[front];
        keys[front] = key;
        front += key <= pivot;
    }
    return front;
}

uint64_t nearest_select(uint64_t *keys, uint32_t count, uint32_t least) {
    uint32_t first = 0, end = count; /* the result is between the two */
    while (end - first > SMALL) {
        const uint32_t front = first + partition(keys + first, end - first);
        if (front >= least)
            end = front;
        else
            first = front;
    }
    insertion_sort(keys + first, end - first);
    return keys[least - 1];
}

/* Calls itself only for the shorter half, so the stack stays small for every order of the keys. */
void nearest_sort(uint64_t *keys, uint32_t count) {
    while (count > SMALL) {
        const uint32_t front = partition(keys, count), back = count - front;
        if (front < back) {
            nearest_sort(keys, front);
            keys += front;
        } else
            nearest_sort(keys + front, back);
        count = front < back ? back : front;
    }
    insertion_sort(keys, count);
}
