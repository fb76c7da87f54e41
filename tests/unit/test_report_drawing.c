// SPDX-License-Identifier: Apache-2.0
//
// The data of the page's pictures: columns come back as the numbers that were added, short ranges
// are merged and counted, no text can end the script element.
#include "report/page/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/unit/report_kit.h"

// ---- Columns ------------------------------------------------------------------------------------

struct column {
    unsigned char *packed, *bytes;
    size_t packed_len, len;
};

static unsigned sextet(char digit) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = memchr(digits, digit, 64);
    cr_assert_not_null(at, "'%c' is no digit of base64", digit);
    return (unsigned)(at - digits);
}

static void unpack_base64(struct column *column, struct nvtxt_slice text) {
    cr_assert_eq(text.len % 4, 0);
    column->packed = malloc(text.len + 1);
    for (size_t i = 0; i < text.len; i += 4) {
        unsigned pad = text.data[i + 3] != '=' ? 0 : text.data[i + 2] != '=' ? 1 : 2;
        unsigned group = sextet(text.data[i]) << 18 | sextet(text.data[i + 1]) << 12 |
                         (pad == 2 ? 0 : sextet(text.data[i + 2]) << 6) |
                         (pad > 0 ? 0 : sextet(text.data[i + 3]));
        column->packed[column->packed_len++] = (unsigned char)(group >> 16);
        column->packed[column->packed_len++] = (unsigned char)(group >> 8);
        column->packed[column->packed_len++] = (unsigned char)group;
        column->packed_len -= pad;
        cr_assert(pad == 0 || i + 4 == text.len);
    }
}

// The numbers of `"name":"base64"`; the caller frees them.
static uint64_t *numbers_of(struct nvtxt_slice member, const char *name, size_t room,
                            size_t *count) {
    char begin[64];
    struct column column = {0};
    size_t len = (size_t)snprintf(begin, sizeof(begin), "\"%s\":\"", name);
    cr_assert_geq(member.len, len + 1);
    cr_assert_eq(memcmp(member.data, begin, len), 0);
    cr_assert_eq(member.data[member.len - 1], '"');
    unpack_base64(&column, (struct nvtxt_slice){member.data + len, member.len - len - 1});
    column.bytes = malloc(room * 10 + 16);
    z_stream zip = {.next_in = column.packed, .avail_in = (unsigned)column.packed_len};
    zip.next_out = column.bytes;
    zip.avail_out = (unsigned)(room * 10 + 16);
    cr_assert_eq(inflateInit2(&zip, -15), Z_OK);
    cr_assert_eq(inflate(&zip, Z_FINISH), Z_STREAM_END);
    cr_assert_eq(zip.avail_in, 0);
    column.len = zip.total_out;
    inflateEnd(&zip);
    uint64_t *numbers = calloc(room + 1, sizeof(*numbers));
    unsigned shift = 0;
    *count = 0;
    for (size_t i = 0; i < column.len; i++) {
        cr_assert_lt(*count, room);
        numbers[*count] |= (uint64_t)(column.bytes[i] & 127) << shift;
        shift = column.bytes[i] < 128 ? 0 : shift + 7;
        *count += shift == 0;
    }
    free(column.packed);
    free(column.bytes);
    return numbers;
}

static size_t put_column(struct nvtxt_out *out, const uint64_t *numbers, size_t count) {
    struct page_columns *columns = page_columns_new(out);
    cr_assert_not_null(columns);
    page_column_begin(columns, "x");
    for (size_t i = 0, some; i < count; i += some) {
        some = nvtxt_min(7 + i % 1000, count - i);
        page_column_add(columns, numbers + i, some);
    }
    page_column_end(columns);
    page_columns_free(columns);
    return out->len;
}

static void check_column(const uint64_t *numbers, size_t count) {
    struct nvtxt_out out;
    size_t found;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    put_column(&out, numbers, count);
    uint64_t *back = numbers_of((struct nvtxt_slice){out.data, out.len}, "x", count, &found);
    cr_assert_eq(found, count);
    cr_assert_eq(memcmp(back, numbers, count * sizeof(*numbers)), 0);
    free(back);
    nvtxt_out_deinit(&out);
}

static uint64_t random_number(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 11;
}

Test(drawing, gives_back_numbers_of_each_size) {
    const uint64_t numbers[] = {0, 0, 0, 1, 127, 128, 16383, 16384, UINT64_MAX, INT64_MAX, 0, 0};
    for (size_t count = 4; count <= sizeof(numbers) / sizeof(numbers[0]); count++) {
        check_column(numbers, count);
    }
}

Test(drawing, leaves_out_a_column_of_zeros) {
    static const uint64_t zeros[1000];
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    cr_assert_eq(put_column(&out, zeros, 1000), 0);
    cr_assert_eq(put_column(&out, zeros, 0), 0);
    nvtxt_out_deinit(&out);
}

// Numbers that repeat and numbers that do not, in turns that are longer than what is tried.
Test(drawing, gives_back_numbers_of_changing_kinds) {
    size_t count = 1300000;
    uint64_t *numbers = malloc(count * sizeof(*numbers)), state = 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t random = random_number(&state);
        numbers[i] = i / 400000 % 2 == 0 ? random % 5000000 : (i % 7) * 1000 + (i % 3);
    }
    check_column(numbers, count);
    free(numbers);
}

Test(drawing, packs_what_repeats_tightly) {
    size_t count = 1000000;
    uint64_t *numbers = malloc(count * sizeof(*numbers));
    struct nvtxt_out out;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (i % 7) * 1000 + (i % 3) + 1;
    }
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    cr_assert_lt(put_column(&out, numbers, count), count / 20);
    nvtxt_out_deinit(&out);
    free(numbers);
}

// ---- Items --------------------------------------------------------------------------------------

Test(drawing, keeps_events_that_are_not_too_many) {
    struct report_model *model = report_kit_f1();
    struct page_items items;
    cr_assert_eq(page_items_init(&items, model, 15), 0);
    cr_assert_eq(items.count, 15);
    cr_assert_eq(items.single, 15);
    cr_assert_eq(items.first, 0);
    cr_assert_eq(items.last, 260);
    for (size_t i = 0; i < items.count; i++) {
        cr_assert_eq(items.items[i].event, i);
        cr_assert_eq(items.items[i].merged, 0);
        cr_assert_eq(items.items[i].parent, model->parent[i]);
        cr_assert_eq(items.items[i].guess, items.items[i].parent);
    }
    page_items_deinit(&items);
    report_kit_free(model);
}

static void check_hidden(const struct page_hidden *hidden, const struct report_capture *capture,
                         size_t at, const char *name, uint64_t count, int64_t first, int64_t last) {
    const struct page_hidden_name *found = &hidden->names[at];
    cr_assert_lt(at, hidden->count);
    struct nvtxt_slice text = capture->messages[capture->names[found->name].message];
    cr_expect(nvtxt_slice_equal(text, nvtxt_slice_of(name)), "%zu: %.*s", at, (int)text.len,
              text.data);
    cr_expect_eq(found->count, count);
    cr_expect_eq(found->first, first);
    cr_expect_eq(found->last, last);
}

Test(drawing, knows_the_names_of_merged_events) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "whole", 0, 40960000), // a part is 10,000 and a bit
        KIT_RANGE(1, "a", 100, 200),
        KIT_RANGE(1, "b", 300, 5300),
        KIT_RANGE(1, "b", 5400, 5500),
        KIT_RANGE(1, "b", 20500, 20600), // another part
        KIT_MARK(1, "a", 400),
        KIT_MARK(1, "n", 500),
    };
    struct report_model *model = report_kit_model(events, sizeof(events) / sizeof(events[0]));
    struct page_items items;
    struct page_hidden hidden;
    cr_assert_eq(page_items_init(&items, model, 3), 0);
    cr_assert_eq(page_hidden_init(&hidden, model, &items), 0);
    cr_assert_eq(hidden.count, 3);
    cr_assert_eq(hidden.events, 5);
    cr_assert_eq(hidden.left, 0);
    cr_assert_eq(items.single + hidden.events, model->selected);
    size_t b = hidden.names[0].last == 5500 ? 0 : 1; // as the kit numbers names
    check_hidden(&hidden, model->capture, 1 - b, "a", 2, 100, 400);
    check_hidden(&hidden, model->capture, b, "b", 2, 300, 5500);
    check_hidden(&hidden, model->capture, 2, "n", 1, 500, 500);
    page_hidden_deinit(&hidden);
    page_items_deinit(&items);
    cr_assert_eq(page_items_init(&items, model, 100), 0);
    cr_assert_eq(page_hidden_init(&hidden, model, &items), 0);
    cr_expect_eq(hidden.events, 0);
    cr_expect_eq(hidden.count, 0);
    page_hidden_deinit(&hidden);
    page_items_deinit(&items);
    report_kit_free(model);
}

Test(drawing, leaves_out_names_that_are_too_long) {
    size_t len = (1 << 20) + 1;
    char *longest = malloc(len + 1);
    memset(longest, 'x', len);
    longest[len] = '\0';
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "whole", 0, 40960000),
        KIT_RANGE(1, longest, 100, 200),
        KIT_RANGE(1, "a", 300, 400),
        KIT_RANGE(1, longest, 500, 600),
    };
    struct report_model *model = report_kit_model(events, sizeof(events) / sizeof(events[0]));
    struct page_items items;
    struct page_hidden hidden;
    cr_assert_eq(page_items_init(&items, model, 3), 0);
    cr_assert_eq(page_hidden_init(&hidden, model, &items), 0);
    cr_assert_eq(hidden.count, 1);
    cr_expect_eq(hidden.events, 3);
    cr_expect_eq(hidden.left, 2);
    check_hidden(&hidden, model->capture, 0, "a", 1, 300, 400);
    page_hidden_deinit(&hidden);
    page_items_deinit(&items);
    report_kit_free(model);
    free(longest);
}

// Two lanes and two depths: what is short and begins in one part of 4,096 becomes one item.
Test(drawing, merges_short_ranges_of_one_lane_and_depth) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "whole", 0, 40960000), // a part is 10,000 and a bit
        KIT_RANGE(1, "a", 100, 200),
        KIT_RANGE(1, "deep", 110, 120),
        KIT_RANGE(1, "b", 300, 5300),
        KIT_RANGE(1, "long", 6000, 20000),
        KIT_RANGE(1, "c", 20500, 20600), // another part
        KIT_RANGE(2, "other", 150, 160),
        KIT_MARK(1, "m", 400),
        KIT_MARK(1, "n", 500),
        {KIT_EVENT(REPORT_PUSH_POP, 1, "open", 20700, 0), .flags = REPORT_OPEN},
    };
    struct report_model *model = report_kit_model(events, sizeof(events) / sizeof(events[0]));
    struct page_items items;
    cr_assert_eq(page_items_init(&items, model, 5), 0);
    // whole, a + b, deep, long, c, other, m + n, open
    cr_assert_eq(items.count, 8);
    cr_assert_eq(items.single, 6);
    size_t merged = 0;
    for (size_t i = 0; i < items.count; i++) {
        const struct page_item *item = &items.items[i];
        const struct report_event *event = &model->capture->events[item->event];
        struct nvtxt_slice name = report_event_text(model->capture, event);
        if (nvtxt_slice_equal(name, NVTXT_SLICE("a"))) {
            cr_assert_eq(item->merged, 2);
            cr_assert_eq(item->end, 5300);
        } else if (nvtxt_slice_equal(name, NVTXT_SLICE("m"))) {
            cr_assert_eq(item->merged, 2);
        } else {
            cr_assert_eq(item->merged, 0);
        }
        merged += item->merged;
    }
    cr_assert_eq(items.single + merged, model->selected);
    page_items_deinit(&items);
    report_kit_free(model);
}

Test(drawing, takes_times_at_the_ends) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "all", INT64_MIN, INT64_MAX),
        KIT_RANGE(1, "low", INT64_MIN, INT64_MIN + 5),
        KIT_MARK(1, "m", INT64_MAX),
        {KIT_EVENT(REPORT_START_END, 1, "backward", 7, -7)},
    };
    struct report_model *model = report_kit_model(events, 4);
    for (size_t most = 0; most <= 4; most += 4) {
        struct page_items items;
        cr_assert_eq(page_items_init(&items, model, most), 0);
        cr_assert_eq(items.count, 4);
        cr_assert_eq(items.first, INT64_MIN);
        cr_assert_eq(items.last, INT64_MAX);
        page_items_deinit(&items);
    }
    report_kit_free(model);
}

// ---- Data ---------------------------------------------------------------------------------------

static bool has(struct nvtxt_slice text, const char *part) {
    return memmem(text.data, text.len, part, strlen(part)) != NULL;
}

Test(drawing, has_no_text_that_ends_the_script) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "</dom<!-->:</script><b>&amp;\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xA7\"\\\n", 0,
                  9),
        KIT_MARK(1, ":\xE2\x80", 5),
    };
    struct report_model *model = report_kit_model(events, 2);
    struct page_drawing *drawing = page_drawing_begin(model, 100);
    struct nvtxt_slice data;
    size_t single;
    cr_assert_not_null(drawing);
    cr_assert_eq(page_drawing_end(drawing, &data, &single), 0);
    cr_assert_eq(single, 2);
    for (size_t i = 0; i < data.len; i++) {
        cr_assert_null(strchr("<>&", data.data[i]));
    }
    cr_assert(has(data, "\\u003C/dom\\u003C!--\\u003E"));
    cr_assert(
        has(data, "\\u003C/script\\u003E\\u003Cb\\u003E\\u0026amp;\\u2028\\u2029\xE2\x80\xA7"));
    cr_assert(has(data, "\"first\":\"0\",\"last\":\"9\""));
    page_drawing_free(drawing);
    report_kit_free(model);
}

// The same bytes from a thread of its own as from the one that asks.
Test(drawing, is_the_same_beside_other_work) {
    size_t count = 60000;
    struct report_kit_event *events = calloc(count, sizeof(*events));
    for (size_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i * 100;
        events[i] = (struct report_kit_event){KIT_EVENT(REPORT_PUSH_POP, 1, "x", at, at + 50)};
    }
    struct report_model *model = report_kit_model(events, count);
    struct page_drawing *drawing = page_drawing_begin(model, count);
    struct page_items items;
    struct nvtxt_out out;
    struct nvtxt_slice data;
    size_t single;
    uint32_t *names;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    cr_assert_eq(page_items_init(&items, model, count), 0);
    cr_assert_eq(page_data(&out, model, &items, &names), 0);
    cr_assert_eq(page_drawing_end(drawing, &data, &single), 0);
    cr_assert_eq(single, count);
    cr_assert_eq(data.len, out.len);
    cr_assert_eq(memcmp(data.data, out.data, out.len), 0);
    page_drawing_free(drawing);
    page_drawing_free(page_drawing_begin(model, 10)); // not waited for
    page_items_deinit(&items);
    free(names);
    nvtxt_out_deinit(&out);
    report_kit_free(model);
    free(events);
}
