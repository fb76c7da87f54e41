// SPDX-License-Identifier: Apache-2.0
//
// What each format makes of an event, byte for byte. Here the names come with the event; those that
// the NVTXT writer reads from a store are tested in e2e/test_export.py and golden/test_export.py.
#include "client/format/export_fmt.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/export_kit.h"

#define PID7_TID8 (UINT64_C(7) << 24 | 8)

struct fixture {
    struct output output;
    struct export_writer writer;
    struct store_read_event event;
    struct store_named_event row;
};

static void begin(struct fixture *f, const char *format) {
    memset(f, 0, sizeof(*f));
    output_open(&f->output);
    f->writer.format = export_format_find(format);
    cr_assert_not_null(f->writer.format);
    f->writer.base_ns = 1000;
    f->writer.out = f->output.out;
    if (f->writer.format->begin) {
        cr_assert_eq(f->writer.format->begin(&f->writer), 0);
    }
    f->event = (struct store_read_event){.row = 5,
                                         .type = NVTXT_EVENT_MARK,
                                         .start = 2500,
                                         .end = 2500,
                                         .global_tid = PID7_TID8,
                                         .text = NVTXT_SLICE("hello")};
    f->row = (struct store_named_event){.event = &f->event};
}

static const char *text_of(struct fixture *f) {
    f->output.out = f->writer.out;
    const char *text = output_text(&f->output);
    f->writer.out = f->output.out;
    return text;
}

// What the format writes for the event now, without what it wrote before.
static const char *written(struct fixture *f) {
    size_t before = strlen(text_of(f));
    cr_assert_eq(f->writer.format->row(&f->writer, &f->row), 0);
    if (f->writer.format->settle) {
        cr_assert_eq(f->writer.format->settle(&f->writer), 0);
    }
    return text_of(f) + before;
}

static void end(struct fixture *f) {
    if (f->writer.format->end) {
        cr_expect_eq(f->writer.format->end(&f->writer), 0);
    }
    (void)text_of(f);
    if (f->writer.format->free) {
        f->writer.format->free(&f->writer);
    }
    output_close(&f->output);
}

static void fill(struct fixture *f) {
    f->event.type = NVTXT_EVENT_START_END;
    f->event.end = 4001;
    f->event.category = 3;
    f->event.color = 0xFF0000FF;
    f->event.domain_id = 1;
    f->event.ended_elsewhere = true;
    f->event.end_global_tid = UINT64_C(9) << 24 | 10;
    f->event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = 0.1}};
    f->row.process = NVTXT_SLICE("prog,\"x\"");
    f->row.thread = NVTXT_SLICE("worker");
    f->row.category = NVTXT_SLICE("io");
    f->row.domain = NVTXT_SLICE("shop");
    f->row.source = NVTXT_SLICE("a.nvtxt");
    f->row.source_id = 2;
}

// ---- csv ----------------------------------------------------------------------------------------

Test(export_fmt, csv_leaves_empty_what_there_is_not) {
    struct fixture f;
    begin(&f, "csv");
    cr_expect_str_eq(written(&f),
                     "1970-01-01T00:00:00.000002500Z,0,mark,hello,,,,,,,,7,8,2500,2500,"
                     "117440520,0,0,,5,,,,,,,,,\r\n");
    end(&f);
}

Test(export_fmt, csv_has_all_columns) {
    struct fixture f;
    begin(&f, "csv");
    fill(&f);
    cr_expect_str_eq(written(&f),
                     "1970-01-01T00:00:00.000002500Z,1501,start/end,hello,io,#FF0000FF,"
                     "\"prog,\"\"x\"\"\",worker,a.nvtxt,shop,0.1,7,8,2500,4001,117440520,1,3,2,5,,"
                     "150994954,,,0.1,,,,\r\n");
    f.row.category = (struct nvtxt_slice){NULL, 0};
    cr_assert_not_null(strstr(written(&f), ",hello,3,#FF0000FF,"));
    end(&f);
}

Test(export_fmt, csv_survives_times_that_are_far_apart) {
    struct fixture f;
    begin(&f, "csv");
    f.event.type = NVTXT_EVENT_PUSH_POP;
    f.event.start = INT64_MIN;
    f.event.end = INT64_MAX;
    cr_assert_not_null(strstr(written(&f), "Z,9223372036854775807,push/pop,"));
    f.event.start = 10;
    f.event.end = 3;
    cr_assert_not_null(strstr(written(&f), "Z,-7,push/pop,"));
    end(&f);
}

// ---- jsonl --------------------------------------------------------------------------------------

Test(export_fmt, jsonl_leaves_out_what_there_is_not) {
    struct fixture f;
    begin(&f, "jsonl");
    f.event.text = NVTXT_SLICE("a\"b\n\x01");
    cr_expect_str_eq(written(&f),
                     "{\"utcTime\":\"1970-01-01T00:00:00.000002500Z\",\"duration\":0,"
                     "\"kind\":\"mark\",\"message\":\"a\\\"b\\n\\u0001\",\"pid\":7,\"tid\":8,"
                     "\"start\":2500,\"end\":2500,\"globalTid\":117440520,\"domainId\":0,"
                     "\"categoryId\":0,\"eventRow\":5}\n");
    end(&f);
}

Test(export_fmt, jsonl_has_all_members) {
    struct fixture f;
    begin(&f, "jsonl");
    fill(&f);
    cr_expect_str_eq(
        written(&f),
        "{\"utcTime\":\"1970-01-01T00:00:00.000002500Z\",\"duration\":1501,"
        "\"kind\":\"start/end\",\"message\":\"hello\",\"category\":\"io\","
        "\"color\":\"#FF0000FF\",\"process\":\"prog,\\\"x\\\"\",\"thread\":\"worker\","
        "\"source\":\"a.nvtxt\",\"domain\":\"shop\",\"payload\":0.1,\"pid\":7,\"tid\":8,"
        "\"start\":2500,\"end\":4001,\"globalTid\":117440520,\"domainId\":1,\"categoryId\":3,"
        "\"sourceId\":2,\"eventRow\":5,\"endGlobalTid\":150994954,\"doubleValue\":0.1}\n");
    end(&f);
}

Test(export_fmt, payloads_of_every_kind) {
    static const struct {
        struct nvtxt_payload payload;
        const char *json, *lines, *last_of_line, *csv, *last_of_csv, *chrome, *nvtxt;
    } cases[] = {
        {{NVTXT_PAYLOAD_INT64, {.int64 = INT64_MIN}},
         "",
         "\"payload\":-9223372036854775808,",
         "\"eventRow\":5,\"int64Value\":-9223372036854775808}\n",
         ",-9223372036854775808,",
         ",5,,,,-9223372036854775808,,,,,\r\n",
         "\"payload\":\"-9223372036854775808\"}",
         "\"hello\", -9223372036854775808\n"},
        {{NVTXT_PAYLOAD_INT64, {.int64 = 42}},
         "",
         "\"payload\":42,",
         "\"eventRow\":5,\"int64Value\":42}\n",
         ",42,",
         ",5,,,,42,,,,,\r\n",
         "\"payload\":42}",
         "\"hello\", 42\n"},
        {{NVTXT_PAYLOAD_UINT64, {.int64 = -1}},
         "",
         "\"payload\":18446744073709551615,",
         "\"eventRow\":5,\"uint64Value\":18446744073709551615}\n",
         ",18446744073709551615,",
         ",5,,,18446744073709551615,,,,,,\r\n",
         "\"payload\":\"18446744073709551615\"}",
         "\"hello\", \"u64:18446744073709551615\"\n"},
        {{NVTXT_PAYLOAD_UINT64, {.int64 = INT64_C(1) << 53}},
         "",
         "\"payload\":9007199254740992,",
         "\"uint64Value\":9007199254740992}\n",
         ",9007199254740992,",
         ",5,,,9007199254740992,,,,,,\r\n",
         "\"payload\":9007199254740992}",
         "\"hello\", \"u64:9007199254740992\"\n"},
        {{NVTXT_PAYLOAD_UINT32, {.int64 = UINT32_MAX}},
         "",
         "\"payload\":4294967295,",
         "\"uint32Value\":4294967295}\n",
         ",4294967295,",
         ",5,,,,,,4294967295,,,\r\n",
         "\"payload\":4294967295}",
         "\"hello\", \"u32:4294967295\"\n"},
        {{NVTXT_PAYLOAD_INT32, {.int64 = INT32_MIN}},
         "",
         "\"payload\":-2147483648,",
         "\"int32Value\":-2147483648}\n",
         ",-2147483648,",
         ",5,,,,,,,-2147483648,,\r\n",
         "\"payload\":-2147483648}",
         "\"hello\", \"i32:-2147483648\"\n"},
        {{NVTXT_PAYLOAD_FLOAT, {.real = 0.25}},
         "[1,\n2]",
         "\"payload\":0.25,",
         "\"floatValue\":0.25,\"jsonText\":\"[1,\\n2]\"}\n",
         ",0.25,",
         ",5,,,,,,,,0.25,\"[1,\n2]\"\r\n",
         "\"payload\":0.25,\"json\":[1, 2]}",
         "\"hello\", \"f32:0.25\", \"[1,\\n2]\"\n"},
        {{NVTXT_PAYLOAD_FLOAT, {.real = INFINITY}},
         "",
         "\"payload\":\"Infinity\",",
         "\"floatValue\":\"Infinity\"}\n",
         ",Infinity,",
         ",5,,,,,,,,Infinity,\r\n",
         "\"payload\":\"Infinity\"}",
         "\"hello\", \"f32:inf\"\n"},
        {{NVTXT_PAYLOAD_DOUBLE, {.real = 5}},
         "",
         "\"payload\":5.0,",
         "\"doubleValue\":5.0}\n",
         ",5.0,",
         ",5,,,,,5.0,,,,\r\n",
         "\"payload\":5.0}",
         "\"hello\", \"5.0\"\n"},
        {{NVTXT_PAYLOAD_DOUBLE, {.real = -INFINITY}},
         "",
         "\"payload\":\"-Infinity\",",
         "\"doubleValue\":\"-Infinity\"}\n",
         ",-Infinity,",
         ",5,,,,,-Infinity,,,,\r\n",
         "\"payload\":\"-Infinity\"}",
         "\"hello\", \"-1e999\"\n"},
        {{.kind = NVTXT_PAYLOAD_NONE},
         "{\"a\":1}",
         "\"payload\":\"{\\\"a\\\":1}\",",
         "\"jsonText\":\"{\\\"a\\\":1}\"}\n",
         ",\"{\"\"a\"\":1}\",7,",
         ",5,,,,,,,,,\"{\"\"a\"\":1}\"\r\n",
         "\"json\":{\"a\":1}}",
         "\"hello\", '{\"a\":1}'\n"},
        {{.kind = NVTXT_PAYLOAD_NONE},
         "{\"a\":",
         "\"payload\":\"{\\\"a\\\":\",",
         "\"jsonText\":\"{\\\"a\\\":\"}\n",
         ",\"{\"\"a\"\":\",7,",
         ",5,,,,,,,,,\"{\"\"a\"\":\"\r\n",
         "\"json\":\"{\\\"a\\\":\"}",
         "\"hello\"\n"},
    };
    static const char *const formats[] = {"jsonl", "jsonl", "csv", "csv", "chrome", "nvtxt"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const wanted[] = {cases[i].lines,       cases[i].last_of_line, cases[i].csv,
                                      cases[i].last_of_csv, cases[i].chrome,       cases[i].nvtxt};
        for (size_t format = 0; format < 6; format++) {
            struct fixture f;
            begin(&f, formats[format]);
            f.writer.nvtx = true;
            f.event.payload = cases[i].payload;
            f.event.json = nvtxt_slice_of(cases[i].json);
            const char *text = written(&f);
            cr_expect_not_null(strstr(text, wanted[format]), "%s: %s", wanted[format], text);
            end(&f);
        }
    }
}

// ---- chrome -------------------------------------------------------------------------------------

Test(export_fmt, chrome_begins_with_the_base_and_is_an_object) {
    struct fixture f;
    begin(&f, "chrome");
    const char *text = text_of(&f);
    cr_expect_not_null(strstr(text, "\"otherData\":{\"baseTimeNs\":\"1000\","), "%s", text);
    cr_expect_eq(f.writer.format->end(&f.writer), 0);
    text = text_of(&f);
    cr_expect_str_eq(text + strlen(text) - 5, "\n\n]}\n");
    f.writer.format->free(&f.writer);
    output_close(&f.output);
}

Test(export_fmt, chrome_names_what_comes_first) {
    struct fixture f;
    begin(&f, "chrome");
    fill(&f);
    cr_expect_str_eq(
        written(&f),
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"tid\":0,"
        "\"args\":{\"name\":\"prog,\\\"x\\\"\"}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":7,\"tid\":8,"
        "\"args\":{\"sort_index\":8}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,"
        "\"args\":{\"name\":\"worker\"}},\n"
        "{\"ph\":\"X\",\"name\":\"hello\",\"cat\":\"io\",\"pid\":7,\"tid\":8,\"ts\":1.500,"
        "\"dur\":1.501,\"cname\":\"vsync_highlight_color\",\"args\":{\"startNs\":\"2500\","
        "\"endNs\":\"4001\",\"kind\":\"start/end\",\"category\":3,\"color\":\"#FF0000FF\","
        "\"domain\":\"shop\",\"payload\":0.1,\"endPid\":9,\"endTid\":10}}");
    f.event.type = NVTXT_EVENT_MARK;
    f.event.ended_elsewhere = false;
    f.event.color = 0;
    f.event.payload.kind = NVTXT_PAYLOAD_NONE;
    f.row.category = (struct nvtxt_slice){NULL, 0};
    cr_expect_str_eq(written(&f), ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"hello\",\"cat\":\"3\","
                                  "\"pid\":7,\"tid\":8,\"ts\":1.500,\"args\":{\"startNs\":\"2500\","
                                  "\"endNs\":\"4001\",\"category\":3,\"domain\":\"shop\"}}");
    end(&f);
}

Test(export_fmt, chrome_finds_the_name_of_each_colour) {
    static const struct {
        uint32_t color;
        const char *member;
    } events[] = {{0xFF0000FF, "\"cname\":\"vsync_highlight_color\""},
                  {0xFF0000FF, "\"cname\":\"vsync_highlight_color\""},
                  {0xFFFFFF00, "\"cname\":\"yellow\""},
                  {0, ",\"args\":{\"startNs\""},
                  {0xFFFFFF00, "\"cname\":\"yellow\""},
                  {0xFF0000FF, "\"cname\":\"vsync_highlight_color\""}};
    struct fixture f;
    begin(&f, "chrome");
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        f.event.color = events[i].color;
        const char *text = written(&f);
        cr_expect_not_null(strstr(text, events[i].member), "%s", text);
        cr_expect_eq(strstr(text, "cname") != NULL, events[i].color != 0, "%s", text);
    }
    end(&f);
}

Test(export_fmt, chrome_puts_what_crosses_on_a_track_of_its_own) {
    struct fixture f;
    begin(&f, "chrome");
    f.row.thread = NVTXT_SLICE("worker");
    f.event.type = NVTXT_EVENT_START_END;
    f.event.end = 4500;
    (void)written(&f);
    f.event.start = 3000;
    f.event.end = 5000;
    cr_expect_str_eq(written(&f),
                     ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":7,\"tid\":16777216,"
                     "\"args\":{\"sort_index\":8}},\n{\"ph\":\"M\",\"name\":\"thread_name\","
                     "\"pid\":7,\"tid\":16777216,\"args\":{\"name\":\"worker (2)\"}},\n"
                     "{\"ph\":\"X\",\"name\":\"hello\",\"cat\":\"\",\"pid\":7,\"tid\":16777216,"
                     "\"ts\":2.000,\"dur\":2.000,\"args\":{\"startNs\":\"3000\","
                     "\"endNs\":\"5000\",\"kind\":\"start/end\",\"tid\":8}}");
    f.event.start = 4500;
    cr_expect_not_null(strstr(written(&f), "\"pid\":7,\"tid\":8,"), "back on the thread");
    end(&f);
}

// No strstr(): under AddressSanitizer each call of it reads the text to its end.
static size_t count_of(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strchr(at, *word)) != NULL; at++) {
        count += strncmp(at, word, strlen(word)) == 0;
    }
    return count;
}

// Ranges of all starts, by their end as a store has them: more than 480 lanes, and none is forced.
Test(export_fmt, chrome_looks_for_the_lanes_of_many_at_once) {
    struct fixture f;
    enum { COUNT = 60000 };
    begin(&f, "chrome");
    f.event.type = NVTXT_EVENT_START_END;
    srand(45);
    for (int64_t i = 0; i < COUNT; i++) {
        f.event.start = 1000 + rand() % 1000000;
        f.event.end = 2000000 + i;
        cr_assert_eq(f.writer.format->row(&f.writer, &f.row), 0);
    }
    cr_expect_eq(f.writer.format->end(&f.writer), 0);
    cr_expect_eq(f.writer.changed, 0, "%d are forced", (int)f.writer.changed);
    cr_expect_eq(count_of(text_of(&f), "\"ph\":\"X\""), COUNT);
    f.writer.format->free(&f.writer);
    output_close(&f.output);
}

Test(export_fmt, chrome_has_no_negative_durations) {
    struct fixture f;
    begin(&f, "chrome");
    f.event.type = NVTXT_EVENT_PUSH_POP;
    f.event.end = 2000;
    cr_expect_not_null(strstr(written(&f), "\"ts\":1.500,\"dur\":0.000,"));
    f.event.start = INT64_MIN;
    f.event.end = INT64_MAX;
    f.writer.base_ns = INT64_MIN;
    cr_expect_not_null(strstr(written(&f), "\"ts\":0.000,\"dur\":18446744073709551.615,"));
    end(&f);
}

// ---- nvtxt --------------------------------------------------------------------------------------

static void empty_names(struct fixture *f) {
    begin(f, "nvtxt");
    (void)text_of(f);
}

Test(export_fmt, nvtxt_defines_when_the_arguments_change) {
    struct fixture f;
    empty_names(&f);
    cr_expect_str_eq(written(&f), "@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message\n"
                                  "Marker, 2500, 7, 8, 0, 0x00000000, \"hello\"\n");
    cr_expect_str_eq(written(&f), "Marker, 2500, 7, 8, 0, 0x00000000, \"hello\"\n");
    f.event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = -5}};
    cr_expect_str_eq(written(&f),
                     "@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload\n"
                     "Marker, 2500, 7, 8, 0, 0x00000000, \"hello\", -5\n");
    end(&f);
}

Test(export_fmt, nvtxt_closes_ranges_at_once) {
    struct fixture f;
    empty_names(&f);
    f.event.type = NVTXT_EVENT_PUSH_POP;
    f.event.end = 2600;
    f.event.color = 0x80FFFFFF;
    f.event.category = 4294967295;
    cr_expect_str_eq(written(&f),
                     "@RangePush, Time, ProcessId, ThreadId, CategoryId, Color, Message\n"
                     "RangePush, 2500, 7, 8, 4294967295, 0x80FFFFFF, \"hello\"\n"
                     "@RangePop, Time, ProcessId, ThreadId\nRangePop, 2600, 7, 8\n");
    f.event.type = NVTXT_EVENT_START_END;
    cr_expect_str_eq(written(&f),
                     "@RangeStartEnd, Start, End, ProcessId, ThreadId, CategoryId, Color, Message\n"
                     "RangeStartEnd, 2500, 2600, 7, 8, 4294967295, 0x80FFFFFF, \"hello\"\n");
    f.event.ended_elsewhere = true;
    f.event.end_global_tid = UINT64_C(9) << 24 | 10;
    cr_expect_str_eq(written(&f),
                     "@RangeStart, Time, RangeId, ProcessId, ThreadId, CategoryId, Color, Message\n"
                     "RangeStart, 2500, 1, 7, 8, 4294967295, 0x80FFFFFF, \"hello\"\n"
                     "@RangeEnd, Time, RangeId, ProcessId, ThreadId\nRangeEnd, 2600, 1, 9, 10\n");
    end(&f);
}

Test(export_fmt, nvtxt_changes_the_display_name_with_the_domain) {
    struct fixture f;
    empty_names(&f);
    (void)written(&f);
    f.row.domain = NVTXT_SLICE("shop");
    cr_expect_str_eq(written(&f), "SetFileDisplayName, \"shop\"\n"
                                  "Marker, 2500, 7, 8, 0, 0x00000000, \"hello\"\n");
    cr_expect_str_eq(written(&f), "Marker, 2500, 7, 8, 0, 0x00000000, \"hello\"\n");
    f.row.domain = (struct nvtxt_slice){NULL, 0};
    cr_expect_str_eq(written(&f), "SetFileDisplayName, \"\"\n"
                                  "Marker, 2500, 7, 8, 0, 0x00000000, \"hello\"\n");
    end(&f);
}

static void message_is(struct fixture *f, struct nvtxt_slice text, const char *wanted,
                       unsigned changed) {
    char line[256];
    uint64_t before = f->writer.changed;
    f->event.text = text;
    snprintf(line, sizeof(line), "Marker, 2500, 7, 8, 0, 0x00000000, %s\n", wanted);
    cr_expect_str_eq(written(f), line);
    cr_expect_eq(f->writer.changed - before, changed, "%s", wanted);
}

Test(export_fmt, nvtxt_says_what_it_can_and_counts_the_rest) {
    struct fixture f;
    empty_names(&f);
    (void)written(&f);
    message_is(&f, NVTXT_SLICE(""), "\"\"", 0);
    message_is(&f, NVTXT_SLICE("C:\\tmp\\"), "\"C:\\tmp\\\"", 0);
    message_is(&f, NVTXT_SLICE("it's $x"), "\"it's $x\"", 0);
    message_is(&f, NVTXT_SLICE("a \"b\""), "'a \"b\"'", 0);
    message_is(&f, NVTXT_SLICE("cr\r"), "\"cr\r\"", 0);
    message_is(&f, NVTXT_SLICE("can't open \"x\""), "'can\xE2\x80\x99t open \"x\"'", 1);
    message_is(&f, NVTXT_SLICE("two\nlines"), "\"two\xE2\x90\x8Alines\"", 1);
    message_is(&f, (struct nvtxt_slice){"nu\0l", 4}, "\"nu\xE2\x90\x80l\"", 1);
    message_is(&f, NVTXT_SLICE("\xFF"), "\"\xEF\xBF\xBD\"", 1);
    end(&f);
}

Test(export_fmt, nvtxt_puts_long_texts_into_a_line_of_their_own) {
    struct fixture f;
    char *text = malloc(70000);
    cr_assert_not_null(text);
    memset(text, 'x', 70000);
    empty_names(&f);
    (void)written(&f);
    f.event.text = (struct nvtxt_slice){text, 65532};
    const char *lines = written(&f);
    const char *second = strchr(lines, '\n');
    cr_assert_eq(second - lines, 65536);
    cr_expect_str_eq(second + 1, "Marker, 2500, 7, 8, 0, 0x00000000, $M\n");
    cr_expect_eq(f.writer.changed, 0);
    f.event.text.len = 65533;
    lines = written(&f);
    cr_expect_leq(strchr(lines, '\n') - lines, 65536);
    cr_expect_eq(f.writer.changed, 1);
    end(&f);
    free(text);
}
