// SPDX-License-Identifier: Apache-2.0
//
// The buffer that grows: numbers at their limits, JSON strings, growth, a failed allocation.
#include "protocol/base/buf.h"
#include "protocol/base/json.h"

#include <criterion/criterion.h>

static void expect(struct nvtxt_buf *buf, const char *text) {
    cr_assert_eq(buf->len, strlen(text), "%.*s", (int)buf->len, buf->data);
    cr_assert_arr_eq(buf->data, text, buf->len);
    nvtxt_buf_deinit(buf);
}

Test(buf, is_empty_when_zeroed) {
    struct nvtxt_buf buf = {0};
    nvtxt_buf_add(&buf, NULL, 0);
    nvtxt_buf_add_string(&buf, "");
    cr_assert_eq(buf.len, 0);
    cr_assert_not(nvtxt_buf_failed(&buf));
    nvtxt_buf_deinit(&buf);
    nvtxt_buf_deinit(&buf);
}

Test(buf, writes_numbers_at_their_limits) {
    struct nvtxt_buf buf = {0};
    nvtxt_buf_add_int(&buf, INT64_MIN);
    nvtxt_buf_add_string(&buf, " ");
    nvtxt_buf_add_int(&buf, INT64_MAX);
    nvtxt_buf_add_string(&buf, " ");
    nvtxt_buf_add_int(&buf, -1);
    nvtxt_buf_add_int(&buf, 0);
    nvtxt_buf_add_string(&buf, " ");
    nvtxt_buf_add_uint(&buf, UINT64_MAX);
    nvtxt_buf_add_uint(&buf, 0);
    expect(&buf, "-9223372036854775808 9223372036854775807 -10 184467440737095516150");
}

Test(buf, escapes_what_json_must_escape) {
    struct nvtxt_buf buf = {0};
    nvtxt_buf_add_json_string(&buf, NVTXT_SLICE("a\"b\\c\n\t\r\b\f\x01\x1f\x7f\0d"));
    expect(&buf, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\\u0000d\"");
}

Test(buf, leaves_utf8_as_it_is) {
    struct nvtxt_buf buf = {0};
    nvtxt_buf_add_json_string(&buf, NVTXT_SLICE("\xc3\xa4\xf0\x9f\x98\x80/"));
    expect(&buf, "\"\xc3\xa4\xf0\x9f\x98\x80/\"");
    nvtxt_buf_add_json_string(&buf, (struct nvtxt_slice){NULL, 0});
    expect(&buf, "\"\"");
}

Test(buf, grows_over_many_pieces) {
    struct nvtxt_buf buf = {0};
    for (unsigned i = 0; i < 100000; i++) {
        char piece = (char)('a' + i % 26);
        nvtxt_buf_add(&buf, &piece, 1);
    }
    cr_assert_eq(buf.len, 100000);
    for (unsigned i = 0; i < 100000; i++) {
        cr_assert_eq(buf.data[i], (char)('a' + i % 26));
    }
    nvtxt_buf_clear(&buf);
    cr_assert_eq(buf.len, 0);
    cr_assert_neq(buf.data, NULL, "memory is kept");
    nvtxt_buf_deinit(&buf);
}

Test(buf, remembers_a_failure_until_it_is_cleared) {
    struct nvtxt_buf buf = {0};
    nvtxt_buf_add_string(&buf, "whole");
    nvtxt_buf_add(&buf, "x", SIZE_MAX - 2); // more than any memory; nothing is read of it
    cr_assert(nvtxt_buf_failed(&buf));
    nvtxt_buf_add_string(&buf, "more");
    cr_assert_eq(buf.len, 5);
    nvtxt_buf_clear(&buf);
    cr_assert_not(nvtxt_buf_failed(&buf));
    nvtxt_buf_add_string(&buf, "again");
    expect(&buf, "again");
}

Test(buf, gives_back_what_is_more_than_wanted) {
    struct nvtxt_buf buf = {0};
    nvtxt_buf_reserve(&buf, 5000);
    nvtxt_buf_add_string(&buf, "a");
    nvtxt_buf_trim(&buf, buf.cap);
    cr_assert(buf.data && buf.cap >= 5000 && buf.len == 0);
    nvtxt_buf_trim(&buf, 4999);
    cr_assert(!buf.data && buf.cap == 0 && buf.len == 0);
}
