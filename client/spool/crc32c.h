// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli, RFC 3720), eight bytes a step. The caller has the tables, so there is no
// global state; to make them takes microseconds.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct crc32c {
    uint32_t table[8][256];
};

void crc32c_init(struct crc32c *crc);

// The checksum of `len` bytes after others whose checksum is `before` (0: of these alone).
uint32_t crc32c_add(const struct crc32c *crc, uint32_t before, const void *data, size_t len);

// The remainder (the complement of a checksum) that so many zero bytes turn into `rest`.
uint32_t crc32c_back(uint32_t rest, size_t zeros);
