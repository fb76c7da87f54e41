// SPDX-License-Identifier: Apache-2.0
//
// Messages byte by byte, as the page about the wire form has them.
#include "protocol/text/out.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static void has(const struct nvtxt_out *out, const char *bytes, size_t len) {
    cr_expect_eq(out->error, 0);
    cr_assert_eq(out->len, len);
    cr_expect_arr_eq(out->data, bytes, len);
}

#define HAS(out, literal) has(out, literal, sizeof(literal) - 1)

Test(protobuf, writes_integers_in_as_few_bytes_as_they_need) {
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    nvtxt_pb_uint(&out, 1, 150);
    HAS(&out, "\x08\x96\x01");
    nvtxt_pb_uint(&out, 15, 0);
    nvtxt_pb_uint(&out, 16, 127);
    nvtxt_pb_uint(&out, 60, 128);
    HAS(&out, "\x08\x96\x01\x78\x00\x80\x01\x7F\xE0\x03\x80\x01");
    out.len = 0;
    nvtxt_pb_uint(&out, 2, (uint64_t)(int64_t)-2);
    HAS(&out, "\x10\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
    nvtxt_out_deinit(&out);
}

Test(protobuf, writes_doubles_and_strings) {
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    nvtxt_pb_double(&out, 5, -2.5);
    nvtxt_pb_double(&out, 5, INFINITY);
    HAS(&out, "\x29\x00\x00\x00\x00\x00\x00\x04\xC0\x29\x00\x00\x00\x00\x00\x00\xF0\x7F");
    out.len = 0;
    nvtxt_pb_string(&out, 2, NVTXT_SLICE("testing"));
    nvtxt_pb_string(&out, 2, NVTXT_SLICE(""));
    nvtxt_pb_string(&out, 2, NVTXT_SLICE("a\0\xC3"));
    HAS(&out, "\x12\x07testing\x12\x00\x12\x05"
              "a\0\xEF\xBF\xBD");
    nvtxt_out_deinit(&out);
}

// The length of a message takes more bytes where it is longer, and so do those around it.
Test(protobuf, puts_the_length_before_a_message) {
    static const size_t lengths[] = {0, 125, 126, 127, 128, 16380, 16381, 16384, 3000000};
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t len = lengths[i];
        char *text = calloc(1, len + 1);
        cr_assert_not_null(text);
        memset(text, 'x', len);
        out.len = 0;
        size_t outer = nvtxt_pb_begin(&out, 3);
        size_t inner = nvtxt_pb_begin(&out, 4);
        nvtxt_out_bytes(&out, text, len);
        nvtxt_pb_end(&out, inner);
        nvtxt_pb_uint(&out, 1, 7);
        nvtxt_pb_end(&out, outer);
        const unsigned char *at = (const unsigned char *)out.data;
        size_t wanted[] = {len < 128 ? 1 : len < 16384 ? 2 : len < 2097152 ? 3 : 4, 0};
        size_t body = 1 + wanted[0] + len + 2;
        wanted[1] = body < 128 ? 1 : body < 16384 ? 2 : body < 2097152 ? 3 : 4;
        cr_assert_eq(out.len, 1 + wanted[1] + body, "%zu", len);
        cr_expect_eq(at[0], 0x1A);
        cr_expect_eq(at[1 + wanted[1]], 0x22);
        size_t read = 0;
        for (size_t k = wanted[1]; k-- > 0;) {
            read = read << 7 | (at[1 + k] & 0x7F);
            cr_expect_eq(at[1 + k] >> 7, k + 1 < wanted[1]);
        }
        cr_expect_eq(read, body);
        cr_expect_eq(memcmp(out.data + out.len - 2 - len, text, len), 0);
        cr_expect_eq(memcmp(out.data + out.len - 2, "\x08\x07", 2), 0);
        free(text);
    }
    nvtxt_out_deinit(&out);
}
