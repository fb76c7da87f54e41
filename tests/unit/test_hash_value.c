// SPDX-License-Identifier: Apache-2.0
//
// The keyed hash has the values that its authors published; the stored one has those that are in
// stores.
#include "protocol/table/hash_value.h"

#include <criterion/criterion.h>
#include <stdlib.h>

// SipHash-1-3 under the key 00 01 … 0f, of the first 0, 1, 2 … bytes of 00 01 02 …: the low 32 bits
// of each value, as the Linux kernel's tests of hsiphash (which is that function on machines of 64
// bits) have them from the authors' program.
static const uint32_t published[] = {
    0x050FC4DC, 0x7D57CA93, 0x4DC7D44D, 0xE7DDF7FB, 0x88D38328, 0x49533B67, 0xC59F22A7, 0x9BB11140,
    0x8D299A8E, 0x6C063DE4, 0x92FF097F, 0xF94DC352, 0x57B4D9A2, 0x1229FFA7, 0xC0F95D34, 0x2A519956,
    0x7D908B66, 0x63DBD80C, 0xB473E63E, 0x8D297D1C, 0xA6CCE040, 0x2B45F844, 0xA320872E, 0xDAE6C123,
    0x67349C8C, 0x705B0979, 0xCA9913A5, 0x4ADE3B35, 0xEF6CD00D, 0x4AB1E1F4, 0x43C5E663, 0x8C21D1BC,
    0x16A7B60D, 0x7A8FF9BF, 0x1F2A753E, 0xBF186B91, 0xADA26206, 0xA3C33057, 0xAE3A36A1, 0x7B108392,
    0x99E41531, 0x3F1AD944, 0xC8138825, 0xC28949A6, 0xFAF8876B, 0x9F042196, 0x68B1D623, 0x8B5114FD,
};

// All 64 bits, under a key of zeros: what CPython 3.11 returns for hash(bytes(range(n))) when
// PYTHONHASHSEED is 0.
static const struct {
    size_t len;
    uint64_t hash;
} whole[] = {
    {1, 0x68A914128E01E473},  {2, 0x010BAC45C41E3669},  {7, 0x2F098AB0C751325A},
    {8, 0xEAD411E67EBE2EEA},  {9, 0x75927F9D95124362},  {15, 0xF30EB725BB91C9EA},
    {16, 0x8972188433A5C5B7}, {63, 0x385D3E39E5F37359},
};

static struct nvtxt_slice counted(size_t len) {
    static char bytes[64];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)i;
    }
    return (struct nvtxt_slice){bytes, len};
}

Test(hash_value, is_siphash_1_3_as_published) {
    nvtxt_hash_set_key(0x0706050403020100, 0x0F0E0D0C0B0A0908);
    for (size_t len = 0; len < sizeof(published) / sizeof(published[0]); len++) {
        cr_assert_eq((uint32_t)nvtxt_hash_bytes(counted(len)), published[len], "%zu bytes", len);
    }
    nvtxt_hash_set_key(0, 0);
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        cr_assert_eq(nvtxt_hash_bytes(counted(whole[i].len)), whole[i].hash, "%zu", whole[i].len);
    }
}

Test(hash_value, a_number_is_its_eight_bytes_and_a_pair_is_both) {
    const uint64_t number = 0x0706050403020100;
    cr_assert_eq(nvtxt_hash_number(number), nvtxt_hash_bytes(counted(8)));
    for (size_t len = 8; len <= 64; len++) {
        struct nvtxt_slice rest = {counted(len).data + 8, len - 8};
        cr_assert_eq(nvtxt_hash_pair(number, rest), nvtxt_hash_bytes(counted(len)), "%zu", len);
    }
}

// A pair must not be two hashes put together: those of equal bytes would cancel out, whatever the
// key is.
Test(hash_value, a_pair_of_a_number_and_its_own_bytes_is_like_any_other) {
    uint64_t seen[64];
    for (uint64_t i = 0; i < 64; i++) {
        char bytes[8];
        memcpy(bytes, &i, sizeof(bytes));
        seen[i] = nvtxt_hash_pair(i, (struct nvtxt_slice){bytes, sizeof(bytes)});
        for (uint64_t j = 0; j < i; j++) {
            cr_assert_neq(seen[i], seen[j]);
        }
    }
}

Test(hash_value, depends_on_the_key) {
    nvtxt_hash_set_key(1, 2);
    uint64_t one = nvtxt_hash_bytes(counted(20));
    nvtxt_hash_set_key(2, 2);
    cr_assert_neq(nvtxt_hash_bytes(counted(20)), one);
    nvtxt_hash_set_key(1, 3);
    cr_assert_neq(nvtxt_hash_bytes(counted(20)), one);
    nvtxt_hash_set_key(1, 2);
    cr_assert_eq(nvtxt_hash_bytes(counted(20)), one);
}

// The key of this process is not a constant. e2e/test_hash_attack.py, which starts processes, would
// find them slow if two had the same key.
Test(hash_value, has_a_key_from_the_start) {
    uint64_t drawn = nvtxt_hash_number(7);
    nvtxt_hash_set_key(0, 0);
    cr_assert_neq(nvtxt_hash_number(7), drawn);
}

// Numbers that differ in one bit, as thread ids do, must not crowd a few buckets.
Test(hash_value, spreads_numbers_over_the_low_bits) {
    unsigned used[1024] = {0}, most = 0;
    for (uint64_t i = 0; i < 4096; i++) {
        unsigned *bucket = &used[nvtxt_hash_number(i << 24) & 1023];
        if (++*bucket > most) {
            most = *bucket;
        }
    }
    cr_assert_lt(most, 24, "%u of 4096 in one of 1024 buckets", most);
}

Test(hash_value, depends_on_every_byte_and_on_the_length) {
    char text[40];
    for (size_t len = 0; len <= sizeof(text); len++) {
        memset(text, 'a', sizeof(text));
        uint64_t plain = nvtxt_hash_bytes((struct nvtxt_slice){text, len});
        cr_assert_eq(plain, nvtxt_hash_bytes((struct nvtxt_slice){text, len}));
        for (size_t i = 0; i < len; i++) {
            text[i] = 'b';
            cr_assert_neq(plain, nvtxt_hash_bytes((struct nvtxt_slice){text, len}));
            text[i] = 'a';
        }
        if (len < sizeof(text)) {
            cr_assert_neq(plain, nvtxt_hash_bytes((struct nvtxt_slice){text, len + 1}));
        }
    }
    cr_assert_neq(nvtxt_hash_bytes(NVTXT_SLICE("a")), nvtxt_hash_bytes(NVTXT_SLICE("a\0")));
}

Test(hash_value, reads_no_byte_after_the_text) {
    for (size_t len = 1; len <= 17; len++) {
        char *text = calloc(1, len);
        cr_assert_not_null(text);
        nvtxt_hash_bytes((struct nvtxt_slice){text, len});
        nvtxt_hash_pair(len, (struct nvtxt_slice){text, len});
        free(text);
    }
    nvtxt_hash_bytes((struct nvtxt_slice){NULL, 0});
    nvtxt_hash_pair(0, (struct nvtxt_slice){NULL, 0});
}

// FNV-1a's own examples (draft-eastlake-fnv), less the offset basis.
Test(hash_value, stored_values_are_those_of_fnv_1a) {
    const uint64_t basis = 0xCBF29CE484222325;
    cr_assert_eq(nvtxt_hash_stored(0, NVTXT_SLICE("")), 0);
    cr_assert_eq(nvtxt_hash_stored(0, NVTXT_SLICE("a")) ^ basis, 0xAF63DC4C8601EC8C);
    cr_assert_eq(nvtxt_hash_stored(0, NVTXT_SLICE("foobar")) ^ basis, 0x85944171F73967E8);
}

Test(hash_value, stored_values_have_no_key_and_go_on_piece_by_piece) {
    uint64_t pieces =
        nvtxt_hash_stored(nvtxt_hash_stored(0, NVTXT_SLICE("Mar")), NVTXT_SLICE("ker"));
    cr_assert_eq(pieces, nvtxt_hash_stored(0, NVTXT_SLICE("Marker")));
    nvtxt_hash_set_key(8, 9);
    cr_assert_eq(pieces, nvtxt_hash_stored(0, NVTXT_SLICE("Marker")));
    cr_assert_neq(pieces, nvtxt_hash_stored(0, NVTXT_SLICE("Marked")));
    cr_assert_eq(nvtxt_hash_stored(7, NVTXT_SLICE("")), 7);
}
