// SPDX-License-Identifier: Apache-2.0
//
// The reflected polynomial, by tables: table[k][b] is what the byte b does to the remainder when k
// more bytes follow it, so eight bytes need eight look-ups and no carried shift.
#include "client/spool/spool_segment.h"

#define POLYNOMIAL 0x82f63b78u

void crc32c_init(struct crc32c *crc) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++) {
            rest = rest >> 1 ^ (rest & 1 ? POLYNOMIAL : 0);
        }
        crc->table[0][byte] = rest;
    }
    for (int k = 1; k < 8; k++) {
        for (int byte = 0; byte < 256; byte++) {
            uint32_t rest = crc->table[k - 1][byte];
            crc->table[k][byte] = rest >> 8 ^ crc->table[0][rest & 255];
        }
    }
}

uint32_t crc32c_add(const struct crc32c *crc, uint32_t before, const void *data, size_t len) {
    const unsigned char *at = data;
    uint32_t rest = ~before;
    for (; len >= 8; len -= 8, at += 8) {
        rest ^=
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        rest = crc->table[7][rest & 255] ^ crc->table[6][rest >> 8 & 255] ^
               crc->table[5][rest >> 16 & 255] ^ crc->table[4][rest >> 24] ^ crc->table[3][at[4]] ^
               crc->table[2][at[5]] ^ crc->table[1][at[6]] ^ crc->table[0][at[7]];
    }
    for (; len > 0; len--, at++) {
        rest = rest >> 8 ^ crc->table[0][(rest ^ *at) & 255];
    }
    return ~rest;
}

uint32_t crc32c_back(uint32_t rest, size_t zeros) {
    for (; zeros > 0; zeros--) {
        for (int bit = 0; bit < 8; bit++) { // only the polynomial sets the highest bit
            rest = rest >> 31 ? (rest ^ POLYNOMIAL) << 1 | 1 : rest << 1;
        }
    }
    return rest;
}
