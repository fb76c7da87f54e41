// SPDX-License-Identifier: Apache-2.0
//
// The wire format of Protocol Buffers, byte by byte: each kind of field, the limits of numbers,
// lengths and depths, and that nothing is read behind what is there.
#include "report/ncurep/wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// A copy that ends where its memory ends, so that a sanitizer sees a read behind it.
static struct nvtxt_slice exactly(const char *bytes, size_t len) {
    static char *copy;
    free(copy);
    copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    return (struct nvtxt_slice){copy, len};
}
#define BYTES(text) exactly(text, sizeof(text) - 1)

static void expect_broken(struct nvtxt_slice message, size_t at, const char *what) {
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    enum report_wire_result result;
    while ((result = report_wire_next(&wire, &field)) == REPORT_WIRE_FIELD) {
    }
    cr_assert_eq(result, REPORT_WIRE_BROKEN, "%s", what);
    cr_assert_eq(wire.at - message.data, at, "%s at %td", what, wire.at - message.data);
    cr_assert_not_null(strstr(wire.what, what), "%s is not %s", wire.what, what);
}

Test(wire, reads_each_kind_of_field_in_turn) {
    struct nvtxt_slice message = BYTES("\x08\x96\x01"                         // 1: a varint
                                       "\x11\x01\x02\x03\x04\x05\x06\x07\x08" // 2: 64 bits
                                       "\x1a\x03xyz"                          // 3: bytes
                                       "\x25\x01\x00\x00\x80");               // 4: 32 bits
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert(field.number == 1 && field.type == REPORT_WIRE_VARINT && field.value == 150);
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert(field.number == 2 && field.type == REPORT_WIRE_FIXED64);
    cr_assert_eq(field.value, UINT64_C(0x0807060504030201));
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert(field.number == 3 && field.type == REPORT_WIRE_BYTES);
    cr_assert(nvtxt_slice_equal(field.bytes, NVTXT_SLICE("xyz")));
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert(field.number == 4 && field.type == REPORT_WIRE_FIXED32);
    cr_assert_eq(field.value, UINT64_C(0x80000001));
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_END);
    struct report_wire none = report_wire_of((struct nvtxt_slice){0});
    cr_assert_eq(report_wire_next(&none, &field), REPORT_WIRE_END);
}

Test(wire, numbers_of_fields_go_from_1_to_2_29_less_1) {
    struct nvtxt_slice message = BYTES("\xf8\xff\xff\xff\x0f\x05");
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert_eq(field.number, (UINT32_C(1) << 29) - 1);
    cr_assert_eq(field.value, 5);
    expect_broken(BYTES("\x80\x80\x80\x80\x10\x05"), 0, "no field of that number");
    // As a number of 32 bits it would be 1.
    expect_broken(BYTES("\x88\x80\x80\x80\x80\x01\x05"), 0, "no field of that number");
    expect_broken(BYTES("\x08\x05\x00\x05"), 2, "no field of that number");
}

Test(wire, a_varint_has_64_bits_in_at_most_10_bytes) {
    uint64_t value = 0;
    cr_assert(report_wire_number(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1, &value));
    cr_assert_eq(value, UINT64_MAX);
    cr_assert_eq(report_wire_signed(value), -1);
    cr_assert_eq(report_wire_signed(UINT64_C(1) << 63), INT64_MIN);
    cr_assert_eq(report_wire_signed(INT64_MAX), INT64_MAX);
    expect_broken(BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), 1, "more than 10");
}

Test(wire, says_where_a_message_is_cut) {
    expect_broken(BYTES("\x08\x96"), 1, "cut off");
    expect_broken(BYTES("\x80"), 0, "cut off");
    expect_broken(BYTES("\x11\x01\x02\x03\x04\x05\x06\x07"), 1, "cut off");
    expect_broken(BYTES("\x25\x01\x00\x00"), 1, "cut off");
    expect_broken(BYTES("\x1a\x04xyz"), 1, "longer than what it stands in");
    expect_broken(BYTES("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01xyz"), 1, "longer than");
    expect_broken(BYTES("\x0e"), 0, "no wire type of that number");
    expect_broken(BYTES("\x0f"), 0, "no wire type of that number");
}

Test(wire, passes_over_groups_with_all_that_is_in_them) {
    struct nvtxt_slice message = BYTES("\x0b\x10\x07\x13\x1a\x01x\x14\x0c\x28\x09");
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert(field.number == 1 && field.type == REPORT_WIRE_GROUP);
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert(field.number == 5 && field.value == 9);
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_END);
    expect_broken(BYTES("\x0b\x10\x07"), 3, "no end");
    expect_broken(BYTES("\x0b\x14"), 1, "the end of another");
    expect_broken(BYTES("\x0c"), 0, "did not begin");
}

static struct nvtxt_slice nested(size_t depth) {
    static char bytes[2 * (REPORT_WIRE_DEPTH + 1)];
    memset(bytes, 0x0b, depth);
    memset(bytes + depth, 0x0c, depth);
    return exactly(bytes, 2 * depth);
}

Test(wire, groups_are_32_deep_at_most) {
    struct report_wire wire = report_wire_of(nested(REPORT_WIRE_DEPTH));
    struct report_wire_field field;
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_FIELD);
    cr_assert_eq(report_wire_next(&wire, &field), REPORT_WIRE_END);
    expect_broken(nested(REPORT_WIRE_DEPTH + 1), REPORT_WIRE_DEPTH, "too deeply");
}

Test(wire, the_last_of_a_field_counts_and_its_type_too) {
    struct nvtxt_slice message = BYTES("\x08\x01\x0a\x01x\x08\x02\x0a\x01y\x12\x01z");
    struct nvtxt_slice text = {0};
    uint64_t value = 0;
    cr_assert(report_wire_number(message, 1, &value));
    cr_assert_eq(value, 2);
    cr_assert_not(report_wire_number(message, 2, &value));
    cr_assert(report_wire_text(message, 1, &text));
    cr_assert(nvtxt_slice_equal(text, NVTXT_SLICE("y")));
    cr_assert_not(report_wire_text(message, 3, &text));
    struct report_wire wire = report_wire_of(message);
    cr_assert(report_wire_find(&wire, 1, &text));
    cr_assert(nvtxt_slice_equal(text, NVTXT_SLICE("x")), "the first one, and then the next");
}

Test(wire, a_place_leads_back_to_its_text) {
    char bytes[302] = "\x0a\xac\x02"; // 300 bytes, so the length has two
    memset(bytes + 3, 'x', 299);
    struct nvtxt_slice message = {bytes, sizeof(bytes)}, text;
    bytes[1] = (char)0xab;
    cr_assert(report_wire_text(message, 1, &text));
    uint32_t place = report_wire_place(bytes, text);
    cr_assert_eq(place, 1);
    struct nvtxt_slice again = report_wire_at(bytes, place);
    cr_assert(again.data == text.data && again.len == text.len && again.len == 299);
}
