// SPDX-License-Identifier: Apache-2.0
//
// A set-associative cache over a ring of bytes. An entry says how many bytes had been written to
// the ring before its own. The number of bytes written by now then says whether any of its bytes
// were overwritten; if so, the entry does not count any more. So forgetting takes no work, nothing
// is freed, memory is fixed, and a look-up compares at most one set, whatever strings a peer
// invents.
#include "store/value/arena.h"

#include <stdbool.h>
#include <stdlib.h>

#include "protocol/base/origin.h"

// 16,384 strings and 1 MiB of bytes: enough for a busy machine, in 1.4 MiB.
#define SETS 4096
#define WAYS 4
#define RING_BYTES ((size_t)1 << 20)
#define LONGEST (RING_BYTES / 4) // so that one string does not remove everything else

struct store_intern_entry {
    uint64_t place; // where its bytes begin, plus 1; 0: never used
    int64_t id;
    uint32_t hash;
    uint32_t len;
};

int store_intern_init(struct store_intern *intern) {
    intern->entries = calloc((size_t)SETS * WAYS, sizeof(*intern->entries));
    intern->ring = malloc(RING_BYTES);
    intern->head = 0;
    if (!intern->entries || !intern->ring) {
        store_intern_deinit(intern);
        return nvtxt_origin(-ENOMEM);
    }
    return 0;
}

void store_intern_deinit(struct store_intern *intern) {
    free(intern->entries);
    free(intern->ring);
    *intern = (struct store_intern){0};
}

void store_intern_forget(struct store_intern *intern) {
    memset(intern->entries, 0, (size_t)SETS * WAYS * sizeof(*intern->entries));
    intern->head = 0;
}

static bool has_its_bytes(const struct store_intern *intern,
                          const struct store_intern_entry *entry) {
    return entry->place > 0 && intern->head - (entry->place - 1) <= RING_BYTES;
}

int64_t store_intern_find(const struct store_intern *intern, uint32_t hash, const char *data,
                          size_t len) {
    const struct store_intern_entry *set = &intern->entries[(size_t)(hash % SETS) * WAYS];
    for (int way = 0; way < WAYS; way++) {
        const struct store_intern_entry *entry = &set[way];
        if (entry->hash != hash || entry->len != len || !has_its_bytes(intern, entry)) {
            continue;
        }
        if (memcmp(intern->ring + (entry->place - 1) % RING_BYTES, data, len) == 0) {
            return entry->id;
        }
    }
    return -1;
}

void store_intern_add(struct store_intern *intern, uint32_t hash, const char *data, size_t len,
                      int64_t id) {
    if (len > LONGEST) {
        return;
    }
    size_t offset = (size_t)(intern->head % RING_BYTES);
    if (offset + len > RING_BYTES) {
        intern->head += RING_BYTES - offset; // strings do not wrap
        offset = 0;
    }
    struct store_intern_entry *set = &intern->entries[(size_t)(hash % SETS) * WAYS];
    struct store_intern_entry *oldest = set;
    for (int way = 1; way < WAYS; way++) {
        if (set[way].place < oldest->place) {
            oldest = &set[way];
        }
    }
    memcpy(intern->ring + offset, data, len);
    *oldest = (struct store_intern_entry){
        .place = intern->head + 1, .id = id, .hash = hash, .len = (uint32_t)len};
    intern->head += len;
}
