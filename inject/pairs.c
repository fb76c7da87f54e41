// SPDX-License-Identifier: Apache-2.0
//
// A table has 65,536 places; a key is looked for in 16 of them, from where its hash points. A place
// is claimed by writing 1 as its key, then filled, then given its key; it is free again when the
// key is taken out by the one thread that reads its value.
#include "inject/handles.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define PLACES 65536u
#define PROBES 16u
#define WRITING 1u

// 0 and 1 mean something else, so two keys cannot be kept.
static uint64_t inner(uint64_t key) {
    return key + 2;
}

static bool is_key(uint64_t key) {
    return inner(key) > WRITING;
}

static uint32_t first_place(uint64_t key) {
    return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 48);
}

static struct pair *make_table(struct pairs *pairs, uint32_t number) {
    int saved = errno;
    size_t size = PLACES * sizeof(struct pair);
    struct pair *none = NULL;
    struct pair *table =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) {
        table = NULL;
    } else if (!atomic_compare_exchange_strong(&pairs->tables[number], &none, table)) {
        munmap(table, size);
        table = none;
    }
    errno = saved;
    return table;
}

bool pairs_put(struct pairs *pairs, uint64_t key, uint64_t value) {
    for (uint32_t number = 0; is_key(key) && number < PAIRS_TABLES; number++) {
        struct pair *table = atomic_load(&pairs->tables[number]);
        if (!table && !(table = make_table(pairs, number))) {
            return false;
        }
        for (uint32_t i = 0; i < PROBES; i++) {
            struct pair *pair = &table[(first_place(key) + i) % PLACES];
            uint64_t was = 0;
            if (atomic_compare_exchange_strong(&pair->key, &was, WRITING)) {
                atomic_store_explicit(&pair->value, value, memory_order_relaxed);
                atomic_store_explicit(&pair->key, inner(key), memory_order_release);
                return true;
            }
        }
    }
    return false;
}

static bool look_up(struct pairs *pairs, uint64_t key, uint64_t *value, bool take) {
    for (uint32_t number = 0; is_key(key) && number < PAIRS_TABLES; number++) {
        struct pair *table = atomic_load(&pairs->tables[number]);
        if (!table) {
            return false;
        }
        for (uint32_t i = 0; i < PROBES; i++) {
            struct pair *pair = &table[(first_place(key) + i) % PLACES];
            uint64_t is = inner(key);
            if (atomic_load_explicit(&pair->key, memory_order_acquire) != is) {
                continue;
            }
            if (!take) {
                *value = atomic_load_explicit(&pair->value, memory_order_relaxed);
                return true;
            }
            if (atomic_compare_exchange_strong(&pair->key, &is, WRITING)) {
                *value = atomic_load_explicit(&pair->value, memory_order_relaxed);
                atomic_store_explicit(&pair->key, 0, memory_order_release);
                return true;
            }
        }
    }
    return false;
}

bool pairs_get(struct pairs *pairs, uint64_t key, uint64_t *value) {
    return look_up(pairs, key, value, false);
}

bool pairs_take(struct pairs *pairs, uint64_t key, uint64_t *value) {
    return look_up(pairs, key, value, true);
}
