// SPDX-License-Identifier: Apache-2.0
//
// Arrays that grow, and chains. The owner keeps the pointer, the room and the count:
//
//   if (nvtxt_grow(&list->items, &list->room, list->count + 1, sizeof(*list->items)) < 0) {
//       return -ENOMEM;
//   }
//   list->items[list->count++] = item;
//
// A list that is short, or seldom read, has no room of its own:
//
//   struct item *item = nvtxt_add(&list->items, &list->count, sizeof(*item));
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

// What nvtxt_grow() does when the room is too small.
int nvtxt_grow_more(void *array, size_t *room, size_t count, size_t size);

// Makes room for `count` things of `size` bytes. `array` is the address of the pointer to them,
// which is NULL while there is no room; new room is not cleared. Returns 0, or -ENOMEM: then
// nothing has changed.
static inline int nvtxt_grow(void *array, size_t *room, size_t count, size_t size) {
    return count <= *room ? 0 : nvtxt_grow_more(array, room, count, size);
}

// One more thing of `size` bytes at the end of a list that grows by this alone: it is cleared, and
// counted. NULL: no memory; then nothing has changed.
void *nvtxt_add(void *array, size_t *count, size_t size);

// Appends `thing` to a chain from `first` to `last`, both NULL while it is empty; `next` is the
// member that leads on, and is NULL in `thing`.
#define NVTXT_APPEND(first, last, next, thing)                                                     \
    (*((last) ? &(last)->next : &(first)) = (thing), (last) = (thing))
