// SPDX-License-Identifier: Apache-2.0
//
// An array grows by half: that costs few allocations, and leaves at most a third of it unused,
// which counts where the arrays of a large store are most of the memory of a program. A list
// without a room of its own has room for as many things as the next power of two. The pointer is
// copied as bytes, because it may be one to any type.
#include "protocol/table/arrays.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define FIRST_ROOM 16

static int resize(void *array, size_t room, size_t size) {
    void *things;
    size_t bytes;
    memcpy(&things, array, sizeof(things));
    if (__builtin_mul_overflow(room, size, &bytes) || !(things = realloc(things, bytes))) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(array, &things, sizeof(things));
    return 0;
}

int nvtxt_grow_more(void *array, size_t *room, size_t count, size_t size) {
    size_t half = *room <= SIZE_MAX / 2 ? *room / 2 : 0;
    size_t wanted = nvtxt_max(nvtxt_max(*room + half, FIRST_ROOM), count);
    int r = resize(array, wanted, size);
    *room = r == 0 ? wanted : *room;
    return r;
}

void *nvtxt_add(void *array, size_t *count, size_t size) {
    bool is_full = (*count & (*count - 1)) == 0;
    if (is_full && resize(array, *count > 0 ? 2 * *count : 1, size) < 0) {
        return NULL;
    }
    char *things;
    memcpy(&things, array, sizeof(things));
    return memset(things + (*count)++ * size, 0, size);
}
