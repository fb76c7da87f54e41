// SPDX-License-Identifier: Apache-2.0
//
// The id of a name is a UUID of version 5 (RFC 4122): SHA-1 of the name space below and "UID:NAME".
// So any other program can compute it. Nothing here is a secret, and SHA-1 is good enough.
#include "client/session/sender.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/text/forms.h"

static uint32_t rotate(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

// One block of SHA-1 (FIPS 180-4, section 6.1.2).
static void mix(uint32_t state[5], const unsigned char block[64]) {
    static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (size_t i = 16; i < 80; i++) {
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (size_t i = 0; i < 80; i++) {
        uint32_t choice = i < 20              ? (b & c) | (~b & d)
                          : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                              : b ^ c ^ d;
        uint32_t next = rotate(a, 5) + choice + e + constants[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

static void digest(const char *data, size_t len, unsigned char out[20]) {
    uint32_t state[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    unsigned char block[64];
    uint64_t bits = (uint64_t)len * 8;
    bool ended = false;
    for (size_t at = 0;; at += sizeof(block)) { // the data, a bit, zeros, and how long it was
        size_t left = at < len ? len - at : 0;
        memset(block, 0, sizeof(block));
        memcpy(block, data + (left ? at : 0), left < sizeof(block) ? left : sizeof(block));
        if (left < sizeof(block) && !ended) {
            block[left] = 0x80;
            ended = true;
        }
        bool last = left < sizeof(block) - 8;
        for (size_t i = 0; last && i < 8; i++) {
            block[56 + i] = (unsigned char)(bits >> (56 - 8 * i));
        }
        mix(state, block);
        if (last) {
            break;
        }
    }
    for (size_t i = 0; i < 20; i++) {
        out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

int session_id_of_name(const char *name, uint32_t uid, char session[NVTXT_SESSION_ID_BYTES + 1]) {
    // The name space, a random UUID. It must never change: the ids are in people's stores.
    static const unsigned char space[] = {0x5b, 0x1c, 0x0f, 0x6e, 0x8d, 0x2a, 0x4b, 0x37,
                                          0x9e, 0x54, 0xc0, 0x73, 0xa1, 0xd8, 0x6f, 0x12};
    unsigned char hash[20];
    size_t size = sizeof(space) + strlen(name) + 16;
    char *text = malloc(size);
    if (!text) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(text, space, sizeof(space));
    int len = snprintf(text + sizeof(space), size - sizeof(space), "%" PRIu32 ":%s", uid, name);
    digest(text, sizeof(space) + (size_t)len, hash);
    free(text);
    nvtxt_uuid_write(hash, 5, session);
    return 0;
}
