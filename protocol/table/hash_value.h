// SPDX-License-Identifier: Apache-2.0
//
// The two hash functions of the project.
//
// The keyed one is for every table whose keys a peer can choose, and so for every table: SipHash
// with one round a word and three at the end (Aumasson and Bernstein, "SipHash: a fast short-input
// PRF"), under a secret that the kernel gives to each process. Nobody who does not know the secret
// can choose keys that meet in one bucket. The values differ from run to run: they are never stored
// nor sent.
//
// The unkeyed one is for what is stored: FNV-1a with 64 bits. No table is built on it.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"

// Keyed: of a number, of bytes, of a number and bytes together. A number counts as its eight bytes,
// lowest first; a pair counts as these with its bytes after them. So different pairs are different
// bytes.
uint64_t nvtxt_hash_number(uint64_t number);
uint64_t nvtxt_hash_bytes(struct nvtxt_slice bytes);
uint64_t nvtxt_hash_pair(uint64_t number, struct nvtxt_slice bytes);
static inline uint64_t nvtxt_hash_numbers(uint64_t number, uint64_t other) {
    return nvtxt_hash_pair(number, (struct nvtxt_slice){(const char *)&other, sizeof(other)});
}

// For tests only: sets the key in place of the random one. Tables that were filled before find
// nothing any more.
void nvtxt_hash_set_key(uint64_t low, uint64_t high);

// Unkeyed. Goes on from `hash`, the value of the bytes before, which is 0 for none: a text in
// pieces has the same value as the whole. The value is that of FNV-1a, exclusive or its offset
// basis.
uint64_t nvtxt_hash_stored(uint64_t hash, struct nvtxt_slice bytes);
