// SPDX-License-Identifier: Apache-2.0
//
// One array with open addressing, at most half full. A slot keeps its index plus one, so that a
// slot of zeroes is free. Numbers come from files, so their hash is the keyed one.
#include "report/load/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/hash_value.h"

#define FIRST_ROOM 64
#define KEPT_ROOM 4096

struct report_idmap_slot {
    uint64_t number;
    uint32_t after; // the index plus 1; 0: free
};

void report_idmap_deinit(struct report_idmap *map) {
    free(map->slots);
    *map = (struct report_idmap){0};
}

void report_idmap_clear(struct report_idmap *map) {
    if (map->room > KEPT_ROOM) {
        report_idmap_deinit(map);
    } else if (map->slots) {
        memset(map->slots, 0, map->room * sizeof(*map->slots));
    }
    map->count = 0;
}

// The slot of the number, or the free one where it belongs.
static struct report_idmap_slot *slot_of(struct report_idmap_slot *slots, size_t room,
                                         uint64_t number) {
    size_t at = (size_t)nvtxt_hash_number(number) & (room - 1);
    while (slots[at].after && slots[at].number != number) {
        at = (at + 1) & (room - 1);
    }
    return &slots[at];
}

bool report_idmap_get(const struct report_idmap *map, uint64_t number, uint32_t *index) {
    if (map->count == 0) {
        return false;
    }
    const struct report_idmap_slot *slot = slot_of(map->slots, map->room, number);
    *index = slot->after - 1;
    return slot->after > 0;
}

static int grow(struct report_idmap *map) {
    size_t room = map->room ? map->room * 2 : FIRST_ROOM;
    struct report_idmap_slot *slots = calloc(room, sizeof(*slots));
    if (!slots) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < map->room; i++) {
        if (map->slots[i].after) {
            *slot_of(slots, room, map->slots[i].number) = map->slots[i];
        }
    }
    free(map->slots);
    map->slots = slots;
    map->room = room;
    return 0;
}

int report_idmap_set(struct report_idmap *map, uint64_t number, uint32_t index) {
    if (2 * (map->count + 1) > map->room && grow(map) < 0) {
        return -ENOMEM;
    }
    struct report_idmap_slot *slot = slot_of(map->slots, map->room, number);
    map->count += slot->after == 0;
    *slot = (struct report_idmap_slot){number, index + 1};
    return 0;
}
