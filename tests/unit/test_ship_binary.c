// SPDX-License-Identifier: Apache-2.0
//
// Rows of a binary COPY, whole and cut off anywhere.
#include "ship/tools/binary.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"

static const char row[] = HEAD "\0\7"
                               "\0\0\0\2\xff\xfe"
                               "\0\0\0\4\0\1\0\0"
                               "\0\0\0\10\x80\0\0\0\0\0\0\0"
                               "\xff\xff\xff\xff"
                               "\0\0\0\10\x3f\xe0\0\0\0\0\0\0"
                               "\0\0\0\1\1"
                               "\0\0\0\3a\0b";
#define ROW_BYTES (sizeof(row) - 1)

static bool read_row(const char *data, size_t len, bool check) {
    struct binary_row at;
    bool is_null;
    if (!binary_begin(&at, data, len)) {
        return false;
    }
    int64_t numbers[] = {binary_int(&at, NULL), binary_int(&at, NULL), binary_int(&at, NULL)};
    struct nvtxt_slice none = binary_text(&at);
    double real = binary_double(&at, &is_null);
    bool yes = binary_bool(&at);
    struct nvtxt_slice text = binary_text(&at);
    if (check) {
        cr_assert_eq(numbers[0], -2);
        cr_assert_eq(numbers[1], 65536);
        cr_assert_eq(numbers[2], INT64_MIN);
        cr_assert_null(none.data);
        cr_assert(real == 0.5 && !is_null);
        cr_assert(yes);
        cr_assert_eq(text.len, 3);
        cr_assert_eq(memcmp(text.data, "a\0b", 3), 0);
    }
    return binary_end(&at);
}

Test(ship_binary, reads_numbers_texts_and_null) {
    cr_assert(read_row(row, ROW_BYTES, true));
    cr_assert(read_row(row + sizeof(HEAD) - 1, ROW_BYTES - sizeof(HEAD) + 1, true));
}

Test(ship_binary, knows_the_head_and_the_end) {
    struct binary_row at;
    cr_assert_not(binary_begin(&at, row, sizeof(HEAD) - 1));
    cr_assert_not(binary_begin(&at, "\xff\xff", 2));
    cr_assert_not(binary_begin(&at, "", 0));
    cr_assert(binary_begin(&at, "\0\0", 2));
    cr_assert(binary_end(&at));
}

Test(ship_binary, refuses_a_row_that_is_cut_off_anywhere) {
    for (size_t len = 0; len < ROW_BYTES; len++) {
        char *copy = malloc(len + 1); // so that a sanitizer sees every byte too far
        memcpy(copy, row, len);
        cr_assert_not(read_row(copy, len, false), "%zu", len);
        free(copy);
    }
    char longer[ROW_BYTES + 1];
    memcpy(longer, row, ROW_BYTES);
    longer[ROW_BYTES] = 0;
    cr_assert_not(read_row(longer, sizeof(longer), false));
}

Test(ship_binary, refuses_fields_of_another_size) {
    struct binary_row at;
    bool is_null;
    cr_assert(binary_begin(&at, "\0\1\0\0\0\3abc", 9));
    cr_assert_eq(binary_int(&at, &is_null), 0);
    cr_assert(is_null);
    cr_assert_not(binary_end(&at));
    cr_assert(binary_begin(&at, "\0\1\x7f\xff\xff\xff", 6));
    cr_assert_null(binary_text(&at).data);
    cr_assert_not(binary_end(&at));
}

Test(ship_binary, reads_times_as_ns_since_1970) {
    struct binary_row at;
    bool is_null;
    cr_assert(binary_begin(&at, "\0\1\0\0\0\10\0\0\0\0\0\0\0\1", 14));
    cr_assert_eq(binary_time(&at, &is_null), INT64_C(946684800000001000));
    cr_assert(binary_end(&at) && !is_null);
    cr_assert(binary_begin(&at, "\0\1\xff\xff\xff\xff", 6));
    cr_assert_eq(binary_time(&at, &is_null), 0);
    cr_assert(binary_end(&at) && is_null);
    cr_assert(binary_begin(&at, "\0\1\0\0\0\10\x7f\xff\xff\xff\xff\xff\xff\xff", 14));
    binary_time(&at, &is_null); // infinity
    cr_assert_not(binary_end(&at));
}
