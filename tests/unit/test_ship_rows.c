// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <endian.h>
#include <math.h>

#include "ship/rows/array.h"
#include "ship/rows/rows.h"

#define COLUMNS 20

// A row taken apart again: each column's length (-1: NULL) and bytes.
struct row {
    int32_t len[COLUMNS];
    const char *data[COLUMNS];
    const char *end;
};

static int32_t int32_at(const char *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return (int32_t)be32toh(value);
}

static int64_t bigint(const struct row *row, size_t column) {
    uint64_t value;
    cr_assert_eq(row->len[column], 8, "column %zu has %d bytes", column, row->len[column]);
    memcpy(&value, row->data[column], 8);
    return (int64_t)be64toh(value);
}

static int smallint(const struct row *row, size_t column) {
    uint16_t value;
    cr_assert_eq(row->len[column], 2);
    memcpy(&value, row->data[column], 2);
    return (int16_t)be16toh(value);
}

static void read_row(const char *at, struct row *row) {
    cr_assert_eq(at[0] << 8 | at[1], COLUMNS);
    at += 2;
    for (size_t i = 0; i < COLUMNS; i++) {
        row->len[i] = int32_at(at);
        row->data[i] = at + 4;
        at += 4 + (row->len[i] > 0 ? row->len[i] : 0);
    }
    row->end = at;
}

// All columns, in the order of the statement.
static const char every[] =
    "COPY @.events (committed, start_ns, end_ns, row_id, global_tid, source_id, store_id, segment, "
    "event_type, unclosed, range_id, domain_id, category, color, end_global_tid, int64_value, "
    "double_value, payload_type, text, json_text) FROM STDIN (FORMAT binary)";
enum {
    COMMITTED,
    START,
    END,
    ROW,
    TID,
    SOURCE,
    STORE,
    SEGMENT,
    TYPE,
    UNCLOSED,
    RANGE,
    DOMAIN,
    CATEGORY,
    COLOR,
    END_TID,
    INT64,
    REAL,
    PAYLOAD,
    TEXT,
    JSON
};
#define ALL 0x1FFu // that can be left out

static const struct rows_home home = {.store_id = 7, .segment = 3};
static struct nvtxt_buf out;

static struct row made(const struct store_follow_event *event) {
    struct row row;
    nvtxt_buf_clear(&out);
    rows_add(&out, &home, ALL, event);
    cr_assert_not(nvtxt_buf_failed(&out));
    read_row(out.data, &row);
    cr_assert_eq(row.end - out.data, (ptrdiff_t)out.len);
    return row;
}

static struct store_follow_event plain(void) {
    return (struct store_follow_event){.event = {.row = 9,
                                                 .type = NVTXT_EVENT_MARK,
                                                 .start = 5,
                                                 .end = 6,
                                                 .global_tid = UINT64_C(0x100000002),
                                                 .text = NVTXT_SLICE("hello")},
                                       .source_id = 4,
                                       .committed_ns = 1795242240123456789};
}

Test(ship_rows, writes_the_columns_of_a_plain_marker) {
    struct store_follow_event event = plain();
    struct row row = made(&event);
    cr_assert_eq(bigint(&row, COMMITTED), 1795242240123456 - 946684800000000);
    cr_assert_eq(bigint(&row, START), 5);
    cr_assert_eq(bigint(&row, END), 6);
    cr_assert_eq(bigint(&row, ROW), 9);
    cr_assert_eq(bigint(&row, TID), 0x100000002);
    cr_assert_eq(bigint(&row, SOURCE), 4);
    for (size_t i = RANGE; i <= PAYLOAD; i++) {
        cr_assert_eq(row.len[i], -1, "column %zu", i);
    }
    cr_assert_eq(int32_at(row.data[STORE]), 7);
    cr_assert_eq(int32_at(row.data[SEGMENT]), 3);
    cr_assert_eq(smallint(&row, TYPE), 34);
    cr_assert_eq(row.len[UNCLOSED], 1);
    cr_assert_eq(*row.data[UNCLOSED], 0);
    cr_assert_eq(row.len[TEXT], 5);
    cr_assert_eq(memcmp(row.data[TEXT], "hello", 5), 0);
    cr_assert_eq(row.len[JSON], -1);
}

Test(ship_rows, writes_what_a_range_may_have) {
    struct store_follow_event event = plain();
    event.event.type = NVTXT_EVENT_START_END;
    event.event.start = INT64_MIN;
    event.event.end = INT64_MAX;
    event.event.ended_elsewhere = true;
    event.event.end_global_tid = 77;
    event.event.category = UINT32_MAX;
    event.event.color = 0xFF0000FF;
    event.event.domain_id = 2;
    event.event.json = NVTXT_SLICE("{}");
    event.range_id = 11;
    event.unclosed = true;
    struct row row = made(&event);
    cr_assert_eq(bigint(&row, START), INT64_MIN);
    cr_assert_eq(bigint(&row, END), INT64_MAX);
    cr_assert_eq(bigint(&row, RANGE), 11);
    cr_assert_eq(bigint(&row, DOMAIN), 2);
    cr_assert_eq(bigint(&row, CATEGORY), UINT32_MAX);
    cr_assert_eq(bigint(&row, COLOR), 0xFF0000FF);
    cr_assert_eq(bigint(&row, END_TID), 77);
    cr_assert_eq(smallint(&row, TYPE), 60);
    cr_assert_eq(*row.data[UNCLOSED], 1);
    cr_assert_eq(row.len[JSON], 2);
}

Test(ship_rows, numbers_the_payload_columns_of_the_store) {
    static const struct {
        enum nvtxt_payload_kind kind;
        int type;
    } kinds[] = {{NVTXT_PAYLOAD_UINT64, 1}, {NVTXT_PAYLOAD_INT64, 2}, {NVTXT_PAYLOAD_DOUBLE, 3},
                 {NVTXT_PAYLOAD_UINT32, 4}, {NVTXT_PAYLOAD_INT32, 5}, {NVTXT_PAYLOAD_FLOAT, 6}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct store_follow_event event = plain();
        bool is_real = kinds[i].type == 3 || kinds[i].type == 6;
        event.event.payload.kind = kinds[i].kind;
        if (is_real) {
            event.event.payload.real = -INFINITY;
        } else {
            event.event.payload.int64 = -1;
        }
        struct row row = made(&event);
        cr_assert_eq(smallint(&row, PAYLOAD), kinds[i].type);
        cr_assert_eq(row.len[is_real ? INT64 : REAL], -1);
        uint64_t bits = is_real ? UINT64_C(0xFFF0000000000000) : UINT64_MAX;
        cr_assert_eq((uint64_t)bigint(&row, is_real ? REAL : INT64), bits);
    }
}

static void expect_statement(unsigned columns, const char *wanted) {
    nvtxt_buf_clear(&out);
    rows_copy_sql(&out, columns);
    cr_assert_str_eq(out.data, wanted);
}

Test(ship_rows, names_the_columns_that_rows_need) {
    struct store_follow_event events[3] = {plain(), plain(), plain()};
    cr_assert_eq(rows_needed(events, 3), 0);
    expect_statement(0, "COPY @.events (committed, start_ns, end_ns, row_id, global_tid, "
                        "source_id, store_id, segment, event_type, unclosed, text) FROM STDIN "
                        "(FORMAT binary)");
    expect_statement(ALL, every);
    events[1].event.color = 1;
    events[2].event.payload.kind = NVTXT_PAYLOAD_FLOAT;
    expect_statement(rows_needed(events, 3),
                     "COPY @.events (committed, start_ns, end_ns, row_id, global_tid, source_id, "
                     "store_id, segment, event_type, unclosed, color, double_value, payload_type, "
                     "text) FROM STDIN (FORMAT binary)");
    events[0].event.domain_id = events[0].range_id = 1;
    events[0].event.category = 2;
    events[0].event.ended_elsewhere = true;
    events[1].event.json = NVTXT_SLICE("{}");
    events[1].event.payload.kind = NVTXT_PAYLOAD_UINT64;
    cr_assert_eq(rows_needed(events, 3), ALL);
}

Test(ship_rows, leaves_out_the_columns_that_no_row_needs) {
    struct store_follow_event event = plain();
    event.event.color = 0x01020304;
    nvtxt_buf_clear(&out);
    rows_add(&out, &home, rows_needed(&event, 1), &event);
    cr_assert_eq(out.data[0] << 8 | out.data[1], 12);
    // The color, and after it the text, which is the last column.
    static const char last[] = "\0\0\0\10\0\0\0\0\1\2\3\4\0\0\0\5hello";
    size_t len = sizeof(last) - 1;
    cr_assert_eq(memcmp(out.data + out.len - len, last, len), 0);
}

Test(ship_rows, frames_the_rows) {
    nvtxt_buf_clear(&out);
    rows_begin(&out);
    cr_assert_eq(out.len, 19);
    cr_assert_eq(memcmp(out.data, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19), 0);
    rows_end(&out);
    cr_assert_eq(memcmp(out.data + 19, "\377\377", 2), 0);
}

Test(ship_rows, cuts_times_to_microseconds) {
    cr_assert_eq(rows_time(946684800000000999), 0);
    cr_assert_eq(rows_time(0), -946684800000000);
    rows_time(INT64_MIN);
    rows_time(INT64_MAX);
}

static void expect_text(const char *text, size_t len, const char *wanted) {
    struct nvtxt_buf buf = {0};
    row_text_add(&buf, (struct nvtxt_slice){text, len});
    nvtxt_buf_add(&buf, "", 1);
    cr_assert_str_eq(buf.data, wanted);
    nvtxt_buf_deinit(&buf);
}

Test(ship_text, keeps_every_text_that_the_engine_takes) {
    static const char *const texts[] = {"",
                                        "a",
                                        "\t\\N\"{},",
                                        "gr\xc3\xbc\xc3\x9f\x65",
                                        "\xf0\x9f\x98\x80 long enough for words",
                                        "12345678",
                                        "1234567\xc2\xa0",
                                        "\x7f\x01\x1f"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_text(texts[i], strlen(texts[i]), texts[i]);
    }
}

Test(ship_text, replaces_what_it_does_not_take) {
    expect_text("a\0b", 3,
                "a\xef\xbf\xbd"
                "b");
    expect_text("\0", 1, "\xef\xbf\xbd");
    expect_text("12345678\0", 9, "12345678\xef\xbf\xbd");
    expect_text("1234\0"
                "678",
                8,
                "1234\xef\xbf\xbd"
                "678");
    expect_text("\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd");
    expect_text("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); // a surrogate
    expect_text("abcdefg\xc3", 8, "abcdefg\xef\xbf\xbd");
}

Test(ship_arrays, quotes_every_text) {
    struct arrays arrays = {0};
    const char *values[ARRAYS_MAX];
    arrays_set_int(&arrays, 5);
    static const struct nvtxt_slice texts[] = {
        NVTXT_SLICE("a"),    NVTXT_SLICE(""),          {NULL, 0},
        NVTXT_SLICE("NULL"), NVTXT_SLICE("q\"b\\,{}"), NVTXT_SLICE("\xff\0")};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        arrays_int(&arrays, (int64_t)i - 1);
        arrays_text(&arrays, texts[i]);
        arrays_maybe(&arrays, (struct store_maybe){.is_set = i > 0, .value = INT64_MIN});
        arrays_next_row(&arrays);
    }
    cr_assert_eq(arrays_finish(&arrays, values), 0);
    cr_assert_str_eq(values[0], "5");
    cr_assert_str_eq(values[1], "{-1,0,1,2,3,4}");
    cr_assert_str_eq(values[2], "{\"a\",\"\",NULL,\"NULL\",\"q\\\"b\\\\,{}\","
                                "\"\xef\xbf\xbd\xef\xbf\xbd\"}");
    cr_assert_str_eq(values[3], "{NULL,-9223372036854775808,-9223372036854775808,"
                                "-9223372036854775808,-9223372036854775808,-9223372036854775808}");
    arrays_clear(&arrays);
    arrays_text_or_empty(&arrays, NVTXT_SLICE("a"));
    arrays_next_row(&arrays);
    arrays_text_or_empty(&arrays, (struct nvtxt_slice){NULL, 0});
    cr_assert_eq(arrays_finish(&arrays, values), 0);
    cr_assert_str_eq(values[0], "{\"a\",\"\"}");
    cr_assert_eq(arrays.count, 1);
    arrays_deinit(&arrays);
}
