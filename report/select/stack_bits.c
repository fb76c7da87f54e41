// SPDX-License-Identifier: Apache-2.0
//
// A map has a row for each bit that ranges can move. The map of a block of places is made by going
// over them; of two halves, each row of the first leads to the rows of the second that its bits
// name.
#include "report/select/stack_bits.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define BLOCK 32 // places; a map is larger than a place, so there are fewer of them

static uint64_t *map_of(const struct report_stack_bits *bits, size_t node) {
    return bits->maps + node * bits->set->row_at[bits->set->bits];
}

void report_stack_bits_deinit(struct report_stack_bits *bits) {
    free(bits->maps);
    *bits = (struct report_stack_bits){.set = bits->set};
}

static size_t width_of(const struct report_filter_set *set, size_t bit) {
    return set->row_at[bit + 1] - set->row_at[bit];
}

// Adds to `to` what becomes of the bits in `count` words from the word `first` on; so does `to`
// begin with that word.
static void add_moved(const struct report_filter_set *set, const uint64_t *map,
                      const uint64_t *from, size_t first, size_t count, uint64_t *to) {
    for (size_t i = 0; i < count; i++) {
        for (uint64_t left = from[i]; left != 0; left &= left - 1) {
            size_t bit = (first + i) * 64 + (size_t)__builtin_ctzll(left);
            for (size_t word = 0; word < width_of(set, bit); word++) {
                to[i + word] |= map[set->row_at[bit] + word];
            }
        }
    }
}

static void make_block(struct report_stack_bits *bits, const struct nvtxt_walk *walk,
                       size_t block) {
    const struct report_filter_set *set = bits->set;
    uint64_t *map = map_of(bits, bits->leaves + block);
    size_t end = nvtxt_min((block + 1) * BLOCK, walk->stacked);
    memset(map, 0, set->row_at[set->bits] * sizeof(*map));
    for (size_t bit = 0; bit < set->bits; bit++) {
        size_t width = width_of(set, bit);
        uint64_t *row = map + set->row_at[bit];
        if (width > 0) {
            row[0] = UINT64_C(1) << (bit % 64);
        }
        for (size_t i = block * BLOCK; i < end && width > 0; i++) {
            if (walk->stack[i].id != NVTXT_WALK_GAP) {
                report_filter_set_step(set, bit / 64, width, walk->stack[i].id, row, row);
                bits->steps++;
            }
        }
    }
}

static void join_halves(struct report_stack_bits *bits, size_t node) {
    const struct report_filter_set *set = bits->set;
    const uint64_t *lower = map_of(bits, 2 * node), *upper = map_of(bits, 2 * node + 1);
    uint64_t *map = map_of(bits, node);
    memset(map, 0, set->row_at[set->bits] * sizeof(*map));
    for (size_t bit = 0; bit < set->bits; bit++) {
        size_t at = set->row_at[bit];
        add_moved(set, upper, lower + at, bit / 64, width_of(set, bit), map + at);
        bits->steps++;
    }
}

int report_stack_bits_build(struct report_stack_bits *bits, const struct nvtxt_walk *walk) {
    const struct report_filter_set *set = bits->set;
    size_t leaves = 1;
    while (leaves * BLOCK < walk->stacked + walk->stacked / 2) { // some more may come
        leaves *= 2;
    }
    uint64_t *maps =
        reallocarray(bits->maps, 2 * leaves, set->row_at[set->bits] * sizeof(*bits->maps));
    if (!maps) {
        return nvtxt_origin(-ENOMEM);
    }
    bits->maps = maps;
    bits->leaves = leaves;
    for (size_t block = 0; block < leaves; block++) {
        make_block(bits, walk, block);
    }
    for (size_t node = leaves; --node > 0;) {
        join_halves(bits, node);
    }
    return 0;
}

// The places from `from` on, and before `to`, have changed; there are blocks for them.
static void change_places(struct report_stack_bits *bits, const struct nvtxt_walk *walk,
                          size_t from, size_t to) {
    for (size_t block = from / BLOCK; block * BLOCK < to; block++) {
        make_block(bits, walk, block);
        for (size_t node = (bits->leaves + block) / 2; node > 0; node /= 2) {
            join_halves(bits, node);
        }
    }
}

int report_stack_bits_begin(struct report_stack_bits *bits, const struct nvtxt_walk *walk) {
    if (bits->leaves * BLOCK < walk->stacked) {
        return report_stack_bits_build(bits, walk);
    }
    change_places(bits, walk, walk->stacked - 1, walk->stacked);
    return 0;
}

int report_stack_bits_leave(struct report_stack_bits *bits, struct nvtxt_walk *walk) {
    size_t place = (size_t)(nvtxt_walk_due(walk, INT64_MAX) - walk->stack), end = walk->stacked;
    if (nvtxt_walk_leave(walk)) {
        return report_stack_bits_build(bits, walk);
    }
    bool is_gap = place < walk->stacked;
    change_places(bits, walk, is_gap ? place : walk->stacked, is_gap ? place + 1 : end);
    return 0;
}

void report_stack_bits_after(const struct report_stack_bits *bits, const uint64_t *empty,
                             uint64_t *after) {
    memset(after, 0, bits->set->words * sizeof(*after));
    add_moved(bits->set, map_of(bits, 1), empty, 0, bits->set->words, after);
}
