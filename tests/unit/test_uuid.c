// SPDX-License-Identifier: Apache-2.0
#include "protocol/text/forms.h"

#include <criterion/criterion.h>
#include <string.h>

static const unsigned char ones[NVTXT_UUID_BYTES] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                     255, 255, 255, 255, 255, 255, 255, 255};

Test(uuid, is_written_with_its_version) {
    static const unsigned char count[NVTXT_UUID_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                          8, 9, 10, 11, 12, 13, 14, 15};
    char uuid[NVTXT_UUID_SIZE];
    nvtxt_uuid_write(count, 4, uuid);
    cr_assert_str_eq(uuid, "00010203-0405-4607-8809-0a0b0c0d0e0f");
    nvtxt_uuid_write(ones, 5, uuid);
    cr_assert_str_eq(uuid, "ffffffff-ffff-5fff-bfff-ffffffffffff");
}

Test(uuid, a_new_one_is_random) {
    char one[NVTXT_UUID_SIZE], other[NVTXT_UUID_SIZE];
    cr_assert_eq(nvtxt_uuid_make(one), 0);
    cr_assert_eq(nvtxt_uuid_make(other), 0);
    cr_assert(nvtxt_uuid_is(one), "%s", one);
    cr_assert_eq(one[14], '4');
    cr_assert_str_neq(one, other);
}

Test(uuid, is_read_in_either_case_with_hyphens_or_without) {
    static const char usual[] = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001";
    static const struct {
        const char *text;
        bool is, reads;
    } cases[] = {
        {usual, true, true},
        {"0190C0F6-7D3A-7B41-9F36-12CBB0F1A001", true, true},
        {"0190c0f67d3a7b419f3612cbb0f1a001", false, true},
        {"0190c0f67d3a7b419f3612cbb0f1a0010", false, false},
        {"0190c0f67d3a7b419f3612cbb0f1a00", false, false},
        {"0190c0f6-7d3a-7b41-9f36-12cbb0f1a00g", false, false},
        {"0190c0f6-7d3a-7b41-9f3612cbb0f1a001-", false, false},
        {"0190c0f6-7d3a-7b41-9f36-12cbb0f1a0010", false, false},
        {"0190c0f67-d3a-7b41-9f36-12cbb0f1a001", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char uuid[NVTXT_UUID_SIZE] = "";
        cr_assert_eq(nvtxt_uuid_is(cases[i].text), cases[i].is, "%s", cases[i].text);
        cr_assert_eq(nvtxt_uuid_read(cases[i].text, uuid), cases[i].reads, "%s", cases[i].text);
        cr_assert(!cases[i].reads || strcmp(uuid, usual) == 0, "%s", uuid);
    }
}

#define SESSION "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001"
#define KEY_64 "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._"

Test(parent, is_read_with_its_session_in_small_letters) {
    static const struct {
        const char *text, *reads; // NULL: it cannot be read
    } cases[] = {
        {SESSION ":run", SESSION ":run"},
        {"0190C0F6-7D3A-7B41-9F36-12CBB0F1A001:Run", SESSION ":Run"},
        {"0190C0F67D3A7B419F3612CBB0F1A001:1", "0190c0f67d3a7b419f3612cbb0f1a001:1"},
        {SESSION ":" KEY_64, SESSION ":" KEY_64},
        {SESSION ":-.5_", SESSION ":-.5_"},
        {SESSION ":" KEY_64 "-", NULL},
        {SESSION ":", NULL},
        {SESSION, NULL},
        {SESSION ":a b", NULL},
        {SESSION ":a:b", NULL},
        {SESSION ":\xc3\xa4", NULL},
        {SESSION "0:a", NULL},
        {"0190c0f6-7d3a-7b41-9f36-12cbb0f1a00:a", NULL},
        {":a", NULL},
        {":", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char parent[NVTXT_PARENT_BYTES + 1] = "";
        bool reads = nvtxt_parent_read(nvtxt_slice_of(cases[i].text), parent);
        cr_assert_eq(reads, cases[i].reads != NULL, "%s", cases[i].text);
        cr_assert(!reads || strcmp(parent, cases[i].reads) == 0, "%s", parent);
    }
}

Test(parent, has_no_nul_in_it_and_is_not_endless) {
    static const char with_nul[] = "0190c0f67d3a7b419f3612cbb0f1a001\0:run";
    char parent[NVTXT_PARENT_BYTES + 1], text[1000];
    cr_assert_not(nvtxt_parent_read((struct nvtxt_slice){with_nul, sizeof(with_nul) - 1}, parent));
    memset(text, 'a', sizeof(text));
    cr_assert_not(nvtxt_parent_read((struct nvtxt_slice){text, sizeof(text)}, parent));
    text[999] = ':';
    cr_assert_not(nvtxt_parent_read((struct nvtxt_slice){text, sizeof(text)}, parent));
}
