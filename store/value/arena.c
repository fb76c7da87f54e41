// SPDX-License-Identifier: Apache-2.0
//
// The slow half of the arena. A new chunk comes from the spare list or from malloc(); a reset puts
// chunks of the usual size on the list. It frees those that were made for one long piece, since a
// peer chooses their sizes.
#include "store/value/arena.h"

#include <stdalign.h>
#include <stdlib.h>

struct store_chunk {
    struct store_chunk *next;
    size_t size;
    alignas(16) char data[];
};

static void free_list(struct store_chunk *chunk) {
    while (chunk) {
        struct store_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void store_arena_deinit(struct store_arena *arena) {
    free_list(arena->chunks);
    free_list(arena->spare);
    *arena = (struct store_arena){0};
}

void store_arena_reset(struct store_arena *arena, size_t keep) {
    struct store_chunk *chunk = arena->chunks;
    while (chunk) {
        struct store_chunk *next = chunk->next;
        if (chunk->size == STORE_CHUNK_BYTES && arena->spare_bytes + chunk->size <= keep) {
            chunk->next = arena->spare;
            arena->spare = chunk;
            arena->spare_bytes += chunk->size;
        } else {
            free(chunk);
        }
        chunk = next;
    }
    arena->chunks = NULL;
    arena->at = NULL;
    arena->left = 0;
    arena->held = 0;
}

static struct store_chunk *new_chunk(struct store_arena *arena, size_t size) {
    if (size == STORE_CHUNK_BYTES && arena->spare) {
        struct store_chunk *chunk = arena->spare;
        arena->spare = chunk->next;
        arena->spare_bytes -= chunk->size;
        return chunk;
    }
    struct store_chunk *chunk = malloc(sizeof(*chunk) + size);
    if (chunk) {
        chunk->size = size;
    }
    return chunk;
}

void *store_arena_more(struct store_arena *arena, size_t size) {
    if (size > STORE_CHUNK_BYTES / 4) {
        // A chunk of its own, after the current one, whose rest stays in use.
        struct store_chunk *chunk = new_chunk(arena, size == STORE_CHUNK_BYTES ? size + 1 : size);
        if (!chunk) {
            return NULL;
        }
        if (arena->chunks) {
            chunk->next = arena->chunks->next;
            arena->chunks->next = chunk;
        } else {
            chunk->next = NULL;
            arena->chunks = chunk;
        }
        arena->held += chunk->size;
        return chunk->data;
    }
    struct store_chunk *chunk = new_chunk(arena, STORE_CHUNK_BYTES);
    if (!chunk) {
        return NULL;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->held += chunk->size;
    arena->at = chunk->data + size;
    arena->left = chunk->size - size;
    return chunk->data;
}

const char *store_arena_copy(struct store_arena *arena, const char *data, size_t len) {
    char *copy = store_arena_take(arena, len + 1, 1);
    if (copy) {
        if (len > 0) {
            memcpy(copy, data, len);
        }
        copy[len] = '\0';
    }
    return copy;
}
