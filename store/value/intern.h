// SPDX-License-Identifier: Apache-2.0
//
// A cache of bounded size: which string has which id in StringIds. It may forget at any time. Then
// the string gets another row, which does no harm because readers join by id.
#pragma once

#include <stddef.h>
#include <stdint.h>

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
