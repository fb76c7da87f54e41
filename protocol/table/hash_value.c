// SPDX-License-Identifier: Apache-2.0
//
// The key is the one thing in protocol/ that is global and comes from outside. It is drawn before
// main(), so that no thread has to ask whether it is there, and only nvtxt_hash_set_key() changes
// it. A kernel that has no random bytes yet, or refuses the call, has still given the process 16 of
// them at its start (AT_RANDOM).
#include "protocol/table/hash_value.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t key[2];

__attribute__((constructor)) static void draw_key(void) {
    if (getrandom(key, sizeof(key), GRND_NONBLOCK) == (ssize_t)sizeof(key)) {
        return;
    }
    const void *given = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (given) {
        memcpy(key, given, sizeof(key));
    }
}

void nvtxt_hash_set_key(uint64_t low, uint64_t high) {
    key[0] = low;
    key[1] = high;
}

static inline uint64_t rotate(uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

static inline void mix(struct sip *sip) {
    sip->v0 += sip->v1;
    sip->v2 += sip->v3;
    sip->v1 = rotate(sip->v1, 13) ^ sip->v0;
    sip->v3 = rotate(sip->v3, 16) ^ sip->v2;
    sip->v0 = rotate(sip->v0, 32) + sip->v3;
    sip->v2 += sip->v1;
    sip->v3 = rotate(sip->v3, 21) ^ sip->v0;
    sip->v1 = rotate(sip->v1, 17) ^ sip->v2;
    sip->v2 = rotate(sip->v2, 32);
}

static inline void take(struct sip *sip, uint64_t word) {
    sip->v3 ^= word;
    mix(sip);
    sip->v0 ^= word;
}

// The constants spell "somepseudorandomlygeneratedbytes".
static inline struct sip begin(void) {
    return (struct sip){key[0] ^ 0x736F6D6570736575u, key[1] ^ 0x646F72616E646F6Du,
                        key[0] ^ 0x6C7967656E657261u, key[1] ^ 0x7465646279746573u};
}

static inline uint64_t finish(struct sip *sip) {
    sip->v2 ^= 0xFF;
    mix(sip);
    mix(sip);
    mix(sip);
    return sip->v0 ^ sip->v1 ^ sip->v2 ^ sip->v3;
}

// Little-endian, whatever the machine is. With a constant `len` the copy is one load.
static inline uint64_t load(const char *data, size_t len) {
    uint64_t word = 0;
    memcpy(&word, data, len);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// Up to seven bytes.
static inline uint64_t load_rest(const char *data, size_t len) {
    uint64_t word = 0;
    unsigned at = 0;
    if (len & 4) {
        word = load(data, 4);
        at = 4;
    }
    if (len & 2) {
        word |= load(data + at, 2) << 8 * at;
        at += 2;
    }
    if (len & 1) {
        word |= load(data + at, 1) << 8 * at;
    }
    return word;
}

// Takes the words, then the bytes that are left over, with the count of all bytes in the highest
// byte. `before` bytes were taken already, a multiple of eight.
static inline uint64_t end_with(struct sip *sip, struct nvtxt_slice bytes, size_t before) {
    uint64_t count = (uint64_t)(before + bytes.len) << 56;
    for (; bytes.len >= 8; bytes.data += 8, bytes.len -= 8) {
        take(sip, load(bytes.data, 8));
    }
    take(sip, load_rest(bytes.data, bytes.len) | count);
    return finish(sip);
}

uint64_t nvtxt_hash_number(uint64_t number) {
    struct sip sip = begin();
    take(&sip, number);
    take(&sip, (uint64_t)8 << 56);
    return finish(&sip);
}

uint64_t nvtxt_hash_bytes(struct nvtxt_slice bytes) {
    struct sip sip = begin();
    return end_with(&sip, bytes, 0);
}

uint64_t nvtxt_hash_pair(uint64_t number, struct nvtxt_slice bytes) {
    struct sip sip = begin();
    take(&sip, number);
    return end_with(&sip, bytes, 8);
}

uint64_t nvtxt_hash_stored(uint64_t hash, struct nvtxt_slice bytes) {
    const uint64_t basis = 0xCBF29CE484222325u, prime = 0x100000001B3u;
    hash ^= basis;
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ (unsigned char)bytes.data[i]) * prime;
    }
    return hash ^ basis;
}
