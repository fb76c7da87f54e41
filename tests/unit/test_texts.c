// SPDX-License-Identifier: Apache-2.0
//
// Texts and their numbers: each text has one, in the order of coming, and is found again.
#include "protocol/table/hash.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct nvtxt_slice text_of(char room[32], int number) {
    snprintf(room, 32, "text %d", number);
    return nvtxt_slice_of(room);
}

Test(texts, have_numbers_in_the_order_of_coming) {
    enum { COUNT = 3000 };
    struct nvtxt_texts texts = {0};
    char room[32];
    uint32_t number;
    size_t bytes = 0;
    for (int i = 0; i < COUNT; i++) {
        struct nvtxt_slice text = text_of(room, i);
        bytes += text.len;
        cr_assert_eq(nvtxt_texts_number(&texts, text, &number), NVTXT_TEXTS_NEW);
        cr_assert_eq(number, (uint32_t)i);
    }
    for (int i = COUNT; i-- > 0;) {
        cr_assert_eq(nvtxt_texts_number(&texts, text_of(room, i), &number), 0);
        cr_assert_eq(number, (uint32_t)i);
        cr_assert(nvtxt_slice_equal(nvtxt_texts_at(&texts, number), nvtxt_slice_of(room)));
    }
    cr_expect_eq(texts.count, COUNT);
    cr_expect_eq(texts.bytes, bytes);
    nvtxt_texts_deinit(&texts);
    cr_expect_eq(texts.count, 0);
}

Test(texts, may_hold_any_bytes) {
    static const struct nvtxt_slice odd[] = {{NULL, 0},   {"\0", 1},   {"\0\0", 2},
                                             {"\xFF", 1}, {"a\0b", 3}, {"a\0c", 3}};
    struct nvtxt_texts texts = {0};
    uint32_t number;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
            cr_expect_eq(nvtxt_texts_number(&texts, odd[i], &number), round ? 0 : NVTXT_TEXTS_NEW);
            cr_expect_eq(number, i);
        }
    }
    nvtxt_texts_deinit(&texts);
}
