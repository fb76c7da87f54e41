// SPDX-License-Identifier: Apache-2.0
//
// An arena gives out memory piece by piece and takes it back all at once. It grows by chunks, so
// the pieces never move. A batch has two: one for its event records alone, so that they stand side
// by side, and one for everything else.
//
// The owner of the batch uses it, on one thread at a time. No piece is freed alone.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct store_chunk;

// The struct is public so that the fast path is inlined: a few instructions.
struct store_arena {
    struct store_chunk *chunks; // in use, the current one first
    struct store_chunk *spare;  // kept by a reset
    char *at;                   // next free byte of the current chunk
    size_t left;                // bytes left in it
    size_t held;                // bytes of all chunks in use
    size_t spare_bytes;         // bytes of the spare ones
};

// The usual size of a chunk; a longer piece gets a chunk of its own.
#define STORE_CHUNK_BYTES ((size_t)64 * 1024)

void store_arena_deinit(struct store_arena *arena);

// Empties the arena; keeps chunks of at most `keep` bytes together for the next use.
void store_arena_reset(struct store_arena *arena, size_t keep);

// The slow path of store_arena_take: a new chunk. NULL when memory is short.
void *store_arena_more(struct store_arena *arena, size_t size);

// Memory that is not cleared, aligned to `align` (a power of two, at most 16). NULL when memory is
// short.
static inline void *store_arena_take(struct store_arena *arena, size_t size, size_t align) {
    size_t pad = (size_t)(-(uintptr_t)arena->at) & (align - 1);
    if (size + pad > arena->left) {
        return store_arena_more(arena, size);
    }
    void *piece = arena->at + pad;
    arena->at += pad + size;
    arena->left -= pad + size;
    return piece;
}

// A structure, cleared, or NULL.
static inline void *store_arena_make(struct store_arena *arena, size_t size) {
    void *piece = store_arena_take(arena, size, 8);
    return piece ? memset(piece, 0, size) : NULL;
}

// A copy of the bytes with a NUL after them, or NULL.
const char *store_arena_copy(struct store_arena *arena, const char *data, size_t len);

// Bytes in use, with padding.
static inline size_t store_arena_used(const struct store_arena *arena) {
    return arena->held - arena->left;
}

// ---- Strings and their ids (intern.c) -----------------------------------------------------------
//
// A cache of bounded size: which string has which id in StringIds. It may forget at any time. Then
// the string gets another row, which does no harm because readers join by id.

struct store_intern {
    struct store_intern_entry *entries;
    char *ring;    // the strings' bytes, oldest overwritten first
    uint64_t head; // bytes ever written to the ring
};

int store_intern_init(struct store_intern *intern); // 0 or -ENOMEM
void store_intern_deinit(struct store_intern *intern);
void store_intern_forget(struct store_intern *intern);

// The id that was added with exactly these bytes, or -1. `hash` is their store_text_hash(); two
// strings may have the same.
int64_t store_intern_find(const struct store_intern *intern, uint32_t hash, const char *data,
                          size_t len);

// Remembers an id, unless the string is too long for the ring.
void store_intern_add(struct store_intern *intern, uint32_t hash, const char *data, size_t len,
                      int64_t id);
