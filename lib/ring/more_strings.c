// SPDX-License-Identifier: Apache-2.0
//
// A table of pointers with open addressing, doubled when it is half full. Strings lie one after the
// other in pieces of mapped memory, each with its text behind it.
#include "lib/ring/more_strings.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_SLOTS 512u
#define PIECE_BYTES (1u << 20)

static struct {
    struct nvtxt_string **slots;
    uint32_t size, used; // of the slots
    char *piece;         // where the next string may lie
    size_t left;         // bytes of it
    size_t bytes;        // of all pieces
} more;

static void *map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct nvtxt_string **slot_of(struct nvtxt_string **slots, uint32_t size, const char *text,
                                     size_t len) {
    uint64_t hash = hash_bytes(text, len, HASH_START);
    struct nvtxt_string **slot;
    for (; *(slot = &slots[hash & (size - 1)]); hash++) {
        if ((*slot)->len == len && memcmp((*slot)->text, text, len) == 0) {
            break;
        }
    }
    return slot;
}

struct nvtxt_string *more_strings_find(const char *text, size_t len) {
    return more.size ? *slot_of(more.slots, more.size, text, len) : NULL;
}

static bool grow(void) {
    uint32_t size = more.size ? 2 * more.size : FIRST_SLOTS;
    struct nvtxt_string **slots = map(size * sizeof(struct nvtxt_string *));
    if (!slots) {
        return false;
    }
    for (uint32_t i = 0; i < more.size; i++) {
        if (more.slots[i]) {
            *slot_of(slots, size, more.slots[i]->text, more.slots[i]->len) = more.slots[i];
        }
    }
    if (more.size) {
        munmap(more.slots, more.size * sizeof(struct nvtxt_string *));
    }
    more.slots = slots;
    more.size = size;
    return true;
}

static struct nvtxt_string *place(size_t bytes) {
    bytes = (bytes + 7) & ~(size_t)7;
    if (bytes > more.left) {
        char *piece = more.bytes < MORE_STRINGS_BYTES ? map(PIECE_BYTES) : NULL;
        if (!piece) {
            return NULL;
        }
        more.bytes += PIECE_BYTES;
        more.piece = piece;
        more.left = PIECE_BYTES;
    }
    struct nvtxt_string *string = (struct nvtxt_string *)more.piece;
    more.piece += bytes;
    more.left -= bytes;
    return string;
}

struct nvtxt_string *more_strings_add(const char *text, size_t len) {
    if (more.used >= more.size / 2 && !grow()) {
        return NULL;
    }
    struct nvtxt_string *string = place(sizeof(*string) + len);
    if (!string) {
        return NULL;
    }
    char *copy = memcpy(string + 1, text, len);
    *string = (struct nvtxt_string){STRING_INLINE, (uint32_t)len, copy, 0, NULL};
    *slot_of(more.slots, more.size, text, len) = string;
    more.used++;
    return string;
}
