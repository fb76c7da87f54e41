// SPDX-License-Identifier: Apache-2.0
//
// Keys that an attacker chose to meet in one bucket, for tables that peers fill: they are spread
// like any others. The attack inverts the function without a key that the tables used before: with
// that one each table would be a single chain. The tests count the longest chain, so they need no
// clock.
#include "protocol/table/hash.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "protocol/interp/ranges.h"
#include "protocol/interp/waiting.h"
#include "protocol/lang/symtab.h"

// Of n keys in at least n buckets a bucket with 16 is one in 10^13.
#define LONG_CHAIN 16

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)
#define SECOND UINT64_C(0xBF58476D1CE4E5B9)

// Of an odd number modulo 2^64; each step doubles the bits that are right.
static uint64_t inverse(uint64_t odd) {
    uint64_t result = odd;
    for (int step = 0; step < 6; step++) {
        result *= 2 - odd * result;
    }
    return result;
}

static uint64_t unshift(uint64_t number, unsigned bits) {
    uint64_t result = number;
    for (unsigned done = bits; done < 64; done += bits) {
        result = number ^ result >> bits;
    }
    return result;
}

static uint64_t former(uint64_t number) {
    number ^= number >> 32;
    number *= GOLDEN;
    number ^= number >> 29;
    number *= SECOND;
    return number ^ number >> 32;
}

// The number whose former hash value is `hash`.
static uint64_t chosen(uint64_t hash) {
    uint64_t number = unshift(hash, 32) * inverse(SECOND);
    number = unshift(number, 29) * inverse(GOLDEN);
    return unshift(number, 32);
}

static size_t longest_chain(const struct nvtxt_hash *table) {
    size_t longest = 0;
    for (size_t i = 0; i < table->bucket_count; i++) {
        size_t length = 0;
        for (const struct nvtxt_hash_node *node = table->buckets[i]; node; node = node->next) {
            length++;
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

Test(hash_attack, the_generator_inverts_the_former_hash) {
    for (uint64_t i = 0; i < 1000; i++) {
        cr_assert_eq(former(chosen(i << 32)), i << 32);
    }
}

Test(hash_attack, chosen_range_ids_are_spread) {
    enum { COUNT = 65536 };
    static struct nvtxt_ranges ranges;
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    for (uint64_t i = 0; i < COUNT; i++) {
        struct nvtxt_open_range range = {.type = NVTXT_EVENT_START_END,
                                         .range_id = (int64_t)chosen(i << 32)};
        cr_assert_eq(nvtxt_ranges_open(&ranges, &limits, &range, NULL), 0);
    }
    cr_assert_eq(ranges.ids.count, COUNT);
    cr_assert_lt(longest_chain(&ranges.ids), LONG_CHAIN);
    nvtxt_ranges_deinit(&ranges);
}

// 24 bits of each half of a key can be chosen, the others are 0: one trial in 2^16 is a thread.
Test(hash_attack, chosen_threads_are_spread) {
    enum { COUNT = 100 };
    static struct nvtxt_ranges ranges;
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    for (uint64_t i = 1; ranges.threads.count < COUNT; i++) {
        uint64_t global_tid = chosen(i << 8); // of few threads there are few buckets
        if (global_tid >> 48) {
            continue;
        }
        struct nvtxt_open_range range = {.type = NVTXT_EVENT_PUSH_POP,
                                         .pid = (uint32_t)(global_tid >> 24),
                                         .tid = (uint32_t)global_tid & NVTXT_ID_MAX};
        cr_assert_eq(nvtxt_ranges_open(&ranges, &limits, &range, NULL), 0);
    }
    cr_assert_lt(longest_chain(&ranges.threads), LONG_CHAIN);
    nvtxt_ranges_deinit(&ranges);
}

// The former hash mixed bytes word by word, each word over the hash so far: so the second word of a
// name of sixteen bytes can give any hash. A variable's name must be a word: one trial in 77,000
// is.
static bool is_word(uint64_t word) {
    char bytes[8];
    memcpy(bytes, &word, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        char c = bytes[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_')) {
            return false;
        }
    }
    return true;
}

static void make_name(char *name, uint64_t first, uint64_t second) {
    memcpy(name, &first, 8);
    memcpy(name + 8, &second, 8);
}

Test(hash_attack, chosen_variables_are_spread) {
    enum { COUNT = 64 };
    static struct nvtxt_symtab symtab;
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    const struct nvtxt_value value = {.type = NVTXT_INTEGER};
    uint64_t first;
    memcpy(&first, "Variable", sizeof(first));
    const uint64_t begun = former(16 ^ first);
    for (uint64_t i = 1; symtab.table.count < COUNT; i++) {
        uint64_t second = begun ^ chosen(chosen(i << 8));
        if (!is_word(second)) {
            continue;
        }
        char name[16];
        make_name(name, first, second);
        cr_assert_eq(former(former(begun ^ second)), i << 8);
        cr_assert_eq(
            nvtxt_symtab_set(&symtab, &limits, (struct nvtxt_slice){name, sizeof(name)}, &value),
            NVTXT_SYMTAB_SET);
    }
    cr_assert_lt(longest_chain(&symtab.table), LONG_CHAIN);
    nvtxt_symtab_deinit(&symtab);
}

// A category's key is its number and the domain's name. Two hashes put together would be 0 for a
// name that has the bytes of the number, under any key.
Test(hash_attack, categories_of_domains_with_their_own_bytes_are_spread) {
    enum { COUNT = 4096 };
    static struct nvtxt_waiting waiting;
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t number = (uint64_t)i * 4 + NVTXT_NAME_CATEGORY;
        struct nvtxt_refstr *domain =
            nvtxt_refstr_new((struct nvtxt_slice){(const char *)&number, sizeof(number)});
        struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                                  .category = i,
                                  .domain = nvtxt_refstr_slice(domain),
                                  .text = NVTXT_SLICE("name")};
        cr_assert_eq(nvtxt_waiting_set(&waiting, &limits, &name, domain), NVTXT_WAITING_DONE);
        nvtxt_refstr_unref(domain);
    }
    cr_assert_lt(longest_chain(&waiting.table), LONG_CHAIN);
    nvtxt_waiting_deinit(&waiting);
}
