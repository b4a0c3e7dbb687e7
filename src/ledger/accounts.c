/* accounts.c - the cost that was charged to each person. */
#include "ledger/accounts.h"

#include "core/memory.h"

#include <string.h>

enum { CAPACITY_FIRST = 64 };

/* The place where the search for a person begins. The number of places is a power of two. */
static size_t place_of(const unsigned char person[PERSON_BYTES], size_t places) {
    uint64_t bits = 0;
    memcpy(&bits, person, sizeof bits);
    return bits & (places - 1);
}

static void put_into_table(accounts *a, size_t index) {
    const size_t places = 2 * a->capacity;
    size_t place = place_of(a->items[index].person, places);
    while (a->table[place] != 0)
        place = (place + 1) & (places - 1);
    a->table[place] = (uint32_t)index + 1;
}

static bool grow(accounts *a) {
    const size_t capacity = a->capacity == 0 ? CAPACITY_FIRST : 2 * a->capacity;
    if (capacity > (size_t)1 << 31)
        return false;
    account *items = core_alloc(capacity, sizeof *items);
    uint32_t *table = core_alloc_zero(2 * capacity, sizeof *table);
    if (items == NULL || table == NULL) {
        core_free(items);
        core_free(table);
        return false;
    }
    if (a->count > 0)
        memcpy(items, a->items, a->count * sizeof *items);
    core_free(a->items);
    core_free(a->table);
    *a = (accounts){items, a->count, capacity, table};
    for (size_t i = 0; i < a->count; i++)
        put_into_table(a, i);
    return true;
}

size_t accounts_find(accounts *a, const unsigned char person[PERSON_BYTES]) {
    const size_t places = 2 * a->capacity;
    for (size_t place = places == 0 ? 0 : place_of(person, places);
         places > 0 && a->table[place] != 0; place = (place + 1) & (places - 1)) {
        const size_t index = a->table[place] - 1;
        if (memcmp(a->items[index].person, person, PERSON_BYTES) == 0)
            return index;
    }
    if (a->count == a->capacity && !grow(a))
        return SIZE_MAX;
    account *added = &a->items[a->count];
    *added = (account){.words = 0};
    memcpy(added->person, person, PERSON_BYTES);
    put_into_table(a, a->count);
    return a->count++;
}

void accounts_free(accounts *a) {
    core_free(a->items);
    core_free(a->table);
    *a = (accounts){0};
}
