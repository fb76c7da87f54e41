// SPDX-License-Identifier: Apache-2.0
//
// The two hash functions of the project.
//
// The keyed one is for every table whose keys a peer can choose, and so for every table: SipHash
// with one round a word and three at the end (Aumasson and Bernstein, "SipHash: a fast short-input
// PRF"), under a key that the kernel gives to each process. Without the key nobody can work out
// which keys meet in a bucket. Its values differ from run to run: they are never stored nor sent.
//
// The unkeyed one is for what is stored: FNV-1a with 64 bits. No table is built on it.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"

// Keyed. Of a number; of bytes; of both together, where no number and no bytes of one pair can
// stand for those of another. Equal to each other where their bytes are: a number is its eight
// bytes, lowest first.
uint64_t nvtxt_hash_number(uint64_t number);
uint64_t nvtxt_hash_bytes(struct nvtxt_slice bytes);
uint64_t nvtxt_hash_pair(uint64_t number, struct nvtxt_slice bytes);

// For tests only: the key from now on, in place of the random one. Tables that were filled before
// find nothing any more.
void nvtxt_hash_set_key(uint64_t low, uint64_t high);

// Unkeyed. Goes on from the value of the bytes before, 0 for none: pieces hash as the whole. The
// value is that of FNV-1a, less (exclusive or) its offset basis.
uint64_t nvtxt_hash_stored(uint64_t hash, struct nvtxt_slice bytes);
