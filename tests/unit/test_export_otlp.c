// SPDX-License-Identifier: Apache-2.0
//
// Which range is in which, compared with every range around a thing; JSON as OTLP has it; and how
// long a request may be. What a whole export says is compared with its store in
// e2e/test_export_otlp.py.
#include <stdio.h>

#include "client/format/export_fmt.h"
#include "client/format/export_nest.h"
#include "client/format/otlp_parts.h"
#include "tests/unit/export_kit.h"

// ---- Nesting ------------------------------------------------------------------------------------

#define ROWS 60

static bool is_around(const struct store_read_event *outer, const struct store_read_event *inner) {
    bool has_length = inner->type == NVTXT_EVENT_PUSH_POP && inner->end > inner->start;
    int64_t end = has_length ? inner->end : inner->start;
    bool is_same = has_length && outer->start == inner->start && outer->end == inner->end;
    return outer != inner && outer->type == NVTXT_EVENT_PUSH_POP && outer->end > outer->start &&
           outer->global_tid == inner->global_tid && outer->start <= inner->start &&
           outer->end >= end && outer->end > inner->start && (!is_same || outer->row > inner->row);
}

// The one of those around it that started last, of equal starts the shortest, then the first row.
static const struct store_read_event *next_around(const struct store_read_event *rows,
                                                  const struct store_read_event *inner) {
    const struct store_read_event *found = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        const struct store_read_event *row = &rows[i];
        if (is_around(row, inner) &&
            (!found || row->start > found->start ||
             (row->start == found->start &&
              (row->end < found->end || (row->end == found->end && row->row < found->row))))) {
            found = row;
        }
    }
    return found;
}

static void make_rows(struct store_read_event *rows, bool *wanted, int times) {
    for (int i = 0; i < ROWS; i++) {
        int64_t start = rand() % times;
        rows[i] =
            (struct store_read_event){.row = i,
                                      .type = rand() % 5 ? NVTXT_EVENT_PUSH_POP : NVTXT_EVENT_MARK,
                                      .global_tid = 8 + (uint64_t)rand() % 2,
                                      .start = start,
                                      .end = start + rand() % times - 2};
        wanted[i] = rand() % 4 > 0;
    }
}

static void compare(const struct export_nest *nest, const struct store_read_event *rows,
                    const bool *wanted, int64_t i, int seed) {
    const struct store_read_event *around = next_around(rows, &rows[i]), *outermost = &rows[i];
    for (const struct store_read_event *row = around; row; row = next_around(rows, row)) {
        outermost = row;
    }
    cr_assert_eq(nest->items[i].outermost, outermost->row, "%d: row %d", seed, (int)i);
    while (around && !wanted[around->row]) {
        around = next_around(rows, around);
    }
    cr_assert_eq(nest->items[i].around, around ? (uint32_t)around->row : EXPORT_NEST_NONE,
                 "%d: row %d", seed, (int)i);
}

Test(export_otlp, each_thing_finds_what_is_around_it) {
    for (int seed = 0; seed < 400; seed++) {
        struct store_read_event rows[ROWS];
        bool wanted[ROWS];
        struct export_nest nest = {0};
        srand((unsigned)seed);
        make_rows(rows, wanted, seed % 2 ? 12 : 200);
        for (int i = 0; i < ROWS; i++) {
            cr_assert_eq(export_nest_add(&nest, &rows[i], 100 + (uint64_t)i, wanted[i]), 0);
        }
        cr_assert_eq(export_nest_find(&nest), 0);
        for (int i = 0; i < ROWS; i++) {
            compare(&nest, rows, wanted, i, seed);
            if (wanted[i]) {
                cr_assert_eq(export_nest_next(&nest, 100 + (uint64_t)i), &nest.items[i]);
            }
        }
        cr_assert_null(export_nest_next(&nest, 1), "it is none of them");
        export_nest_deinit(&nest);
    }
}

// ---- JSON ---------------------------------------------------------------------------------------

static void expect_value(const char *json, const char *wanted) {
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    otlp_put_json(&out, nvtxt_slice_of(json));
    nvtxt_out_bytes(&out, "", 1);
    cr_expect_str_eq(out.data, wanted, "%s: %s", json, out.data);
    nvtxt_out_deinit(&out);
}

Test(export_otlp, json_becomes_values_with_their_types) {
    static const char *const cases[][2] = {
        {"null", "{}"},
        {" true ", "{\"boolValue\":true}"},
        {"false", "{\"boolValue\":false}"},
        {"\"a\\\"\\u00e4\"", "{\"stringValue\":\"a\\\"\\u00e4\"}"},
        {"-9223372036854775808", "{\"intValue\":\"-9223372036854775808\"}"},
        {"9223372036854775807", "{\"intValue\":\"9223372036854775807\"}"},
        {"9223372036854775808", "{\"doubleValue\":9.223372036854776e+18}"},
        {"1.50", "{\"doubleValue\":1.5}"},
        {"-1e2", "{\"doubleValue\":-100.0}"},
        {"1e999", "{\"doubleValue\":\"Infinity\"}"},
        {"[\"a\",\"b\"]", "{\"arrayValue\":{\"values\":[{\"stringValue\":\"a\"},"
                          "{\"stringValue\":\"b\"}]}}"},
        {"[]", "{\"arrayValue\":{\"values\":[]}}"},
        {"{}", "{\"kvlistValue\":{\"values\":[]}}"},
        {"[1, [\"x\"]]", "{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"},"
                         "{\"arrayValue\":{\"values\":[{\"stringValue\":\"x\"}]}}]}}"},
        {"{\"a\": {\"b\":[null]}\n, \"c\":\"d\"}",
         "{\"kvlistValue\":{\"values\":[{\"key\":\"a\",\"value\":{\"kvlistValue\":{\"values\":["
         "{\"key\":\"b\",\"value\":{\"arrayValue\":{\"values\":[{}]}}}]}}},"
         "{\"key\":\"c\",\"value\":{\"stringValue\":\"d\"}}]}}"},
        {"{\"a\":", "{\"stringValue\":\"{\\\"a\\\":\"}"},
        {"", "{\"stringValue\":\"\"}"},
        {"\xFF", "{\"stringValue\":\"\xEF\xBF\xBD\"}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_value(cases[i][0], cases[i][1]);
    }
}

// Anything that a program may have stored: what is written is JSON on one line.
Test(export_otlp, any_text_becomes_one_json_value) {
    static const char alphabet[] = "{}[]\",:\\ \n01-+.eEtrufalsn\xC3\xA4\xFF";
    srand(7);
    for (int i = 0; i < 20000; i++) {
        char json[24];
        struct nvtxt_slice text = {json, (size_t)rand() % sizeof(json)};
        for (size_t at = 0; at < text.len; at++) {
            json[at] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
        }
        struct nvtxt_out out;
        cr_assert_eq(nvtxt_out_init(&out, -1), 0);
        otlp_put_json(&out, text);
        struct nvtxt_slice written = {out.data, out.len};
        cr_assert(nvtxt_json_is_value(written), "%.*s", (int)out.len, out.data);
        cr_assert_null(memchr(out.data, '\n', out.len));
        nvtxt_out_deinit(&out);
    }
}

Test(export_otlp, the_deepest_json_fits) {
    char json[256] = "{\"begin\":", *at = json + strlen(json);
    memset(at, '[', 64);
    memset(at + 64, ']', 64);
    strcpy(at + 128, ",\"end\":1}");
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    otlp_put_json(&out, nvtxt_slice_of(json));
    nvtxt_out_bytes(&out, "", 1);
    size_t arrays = 0;
    for (const char *array = out.data; (array = strstr(array, "arrayValue")) != NULL; array++) {
        arrays++;
    }
    cr_expect_eq(arrays, 64, "%s", out.data);
    nvtxt_out_deinit(&out);
}

// ---- Requests -----------------------------------------------------------------------------------

struct fixture {
    struct output output;
    struct export_writer writer;
    struct store_read_event event;
    struct store_named_event row;
};

static void begin(struct fixture *f) {
    memset(f, 0, sizeof(*f));
    output_open(&f->output);
    f->writer.format = export_format_find("otlp");
    f->writer.out = f->output.out;
    cr_assert_eq(f->writer.format->begin(&f->writer), 0);
    f->event = (struct store_read_event){.type = NVTXT_EVENT_START_END,
                                         .start = 2500,
                                         .end = 2600,
                                         .global_tid = UINT64_C(7) << 24 | 8,
                                         .text = NVTXT_SLICE("hello")};
    f->row = (struct store_named_event){.event = &f->event, .process = NVTXT_SLICE("shop")};
}

static void put_row(struct fixture *f) {
    f->event.row++;
    cr_assert_eq(f->writer.format->row(&f->writer, &f->row), 0);
}

static const char *settled(struct fixture *f) {
    cr_assert_eq(f->writer.format->settle(&f->writer), 0);
    f->output.out = f->writer.out;
    const char *text = output_text(&f->output);
    f->writer.out = f->output.out;
    return text;
}

static void end(struct fixture *f) {
    f->writer.format->free(&f->writer);
    output_close(&f->output);
}

Test(export_otlp, a_span_is_written_byte_for_byte) {
    struct fixture f;
    begin(&f);
    f.row.thread = NVTXT_SLICE("worker");
    f.row.domain = NVTXT_SLICE("gpu");
    f.row.category = NVTXT_SLICE("io");
    f.row.level = "err";
    f.event.category = 3;
    f.event.color = 0xFF0000FF;
    f.event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = 0.1}};
    f.event.json = NVTXT_SLICE("[1]");
    f.event.ended_elsewhere = true;
    f.event.end_global_tid = UINT64_C(9) << 24 | 10;
    put_row(&f);
    cr_expect_str_eq(
        settled(&f),
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
        "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}},"
        "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"7\"}},"
        "{\"key\":\"process.executable.name\",\"value\":{\"stringValue\":\"shop\"}}]},"
        "\"scopeSpans\":[{\"scope\":{\"name\":\"gpu\"},\"spans\":["
        "{\"traceId\":\"ef241e3f45f46b70423fadcd9908cc81\",\"spanId\":\"423fadcd9908cc81\","
        "\"name\":\"hello\",\"kind\":1,\"startTimeUnixNano\":\"2500\",\"endTimeUnixNano\":\"2600\","
        "\"attributes\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":\"8\"}},"
        "{\"key\":\"thread.name\",\"value\":{\"stringValue\":\"worker\"}},"
        "{\"key\":\"nvtx.kind\",\"value\":{\"stringValue\":\"start/end\"}},"
        "{\"key\":\"nvtx.category\",\"value\":{\"stringValue\":\"io\"}},"
        "{\"key\":\"nvtx.category_id\",\"value\":{\"intValue\":\"3\"}},"
        "{\"key\":\"nvtx.color\",\"value\":{\"stringValue\":\"#FF0000FF\"}},"
        "{\"key\":\"nvtx.payload\",\"value\":{\"doubleValue\":0.1}},"
        "{\"key\":\"nvtx.json\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"}]}}},"
        "{\"key\":\"nvtx.level\",\"value\":{\"stringValue\":\"err\"}},"
        "{\"key\":\"nvtx.end_pid\",\"value\":{\"intValue\":\"9\"}},"
        "{\"key\":\"nvtx.end_tid\",\"value\":{\"intValue\":\"10\"}}]}]}]}]}\n");
    end(&f);
}

Test(export_otlp, times_that_otlp_cannot_hold_are_told) {
    struct fixture f;
    begin(&f);
    f.event.end = 2400;
    put_row(&f);
    const char *text = settled(&f);
    cr_expect_not_null(strstr(text, "Nano\":\"2500\",\"endTimeUnixNano\":\"2500\","), "%s", text);
    cr_expect_not_null(strstr(text, "\"nvtx.end\",\"value\":{\"intValue\":\"2400\"}"), "%s", text);
    cr_expect_eq(f.writer.changed, 0);
    f.event.start = INT64_MIN;
    f.event.end = -1;
    put_row(&f);
    text = settled(&f);
    cr_expect_not_null(strstr(text, "Nano\":\"0\",\"endTimeUnixNano\":\"0\","), "%s", text);
    cr_expect_not_null(
        strstr(text, "\"nvtx.start\",\"value\":{\"intValue\":\"-9223372036854775808"));
    cr_expect_not_null(strstr(text, "\"nvtx.end\",\"value\":{\"intValue\":\"-1\"}"));
    cr_expect_eq(f.writer.changed, 1);
    end(&f);
}

Test(export_otlp, requests_are_as_long_as_they_may_be) {
    struct fixture f;
    static char name[OTLP_REQUEST_BYTES];
    begin(&f);
    memset(name, 'x', sizeof(name));
    for (int i = 0; i < 3000; i++) {
        f.event.text = (struct nvtxt_slice){name, i == 1000 ? sizeof(name) : 900};
        f.event.domain_id = i % 3;
        put_row(&f);
    }
    size_t lines = 0, longer = 0;
    const char *line = settled(&f);
    for (const char *stop; (stop = strchr(line, '\n')) != NULL; line = stop + 1, lines++) {
        longer += (size_t)(stop - line) > OTLP_REQUEST_BYTES;
    }
    cr_expect_eq(longer, 1, "the span that is longer by itself");
    cr_expect_lt(lines, 14, "%zu", lines);
    end(&f);
}
