// SPDX-License-Identifier: Apache-2.0
//
// Each line that the library makes is read by the interpreter of a session with `nvtx` and draws no
// diagnostic, whatever the program has said; and what is read is what was said.
#include "lib/ring/line.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>

#include "protocol/base/utf8.h"
#include "tests/unit/lib_kit.h"

#define VIEW(kind_, ...) ((struct record_view){.kind = RECORD_##kind_, .time = 5, __VA_ARGS__})
#define TEXT(literal) .text = (literal), .text_len = sizeof(literal) - 1
#define JSON(literal) .json = (literal), .json_len = sizeof(literal) - 1

static void mark_text(const char *text, size_t len) {
    kit_record(&VIEW(MARK, .text = text, .text_len = (uint32_t)len), 4711);
}

static void mark_json(const char *json, size_t len) {
    kit_record(&VIEW(MARK, TEXT("m"), .json = json, .json_len = (uint32_t)len), 4711);
}

// ---- Records ------------------------------------------------------------------------------------

Test(line, makes_each_kind_of_record_a_row) {
    kit_start();
    kit_record(&VIEW(MARK, TEXT("mark"), .category = 4294967295, .color = 0xfffefdfc), 4711);
    cr_assert_eq(kit.event.type, NVTXT_EVENT_MARK);
    cr_assert_eq(kit.event.start, 1000005);
    cr_assert_eq(kit.event.tid, 4711);
    cr_assert_eq(kit.event.pid, KIT_PID);
    cr_assert_eq(kit.event.category, 4294967295);
    cr_assert_eq(kit.event.color, 0xfffefdfc);
    kit_is(kit.event.text, "mark");
    kit_record(&VIEW(PUSH, TEXT("outer"), JSON("{\"a\":1}")), 4711);
    kit_record(&VIEW(PUSH, TEXT("inner")), 4711);
    kit_record(&VIEW(POP), 4711);
    kit_is(kit.event.text, "inner");
    kit_is(kit.event.json, "");
    kit_record(&VIEW(POP, JSON("{\"b\":2}")), 4711);
    kit_is(kit.event.text, "outer");
    kit_is(kit.event.json, "{\"begin\":{\"a\":1},\"end\":{\"b\":2}}");
    kit_record(&VIEW(START, .id = 2147483649, TEXT("start")), 4711);
    kit_record(&VIEW(END, .id = 2147483649), 4712);
    cr_assert_eq(kit.event.type, NVTXT_EVENT_START_END);
    cr_assert_eq(kit.event.end_tid, 4712);
    cr_assert_eq(kit.events, 4);
    kit_end();
}

Test(line, keeps_a_stack_for_each_domain) {
    kit_start();
    uint32_t one = catalog_domain("one")->number, two = catalog_domain("two \"quoted\"")->number;
    kit_record(&VIEW(PUSH, TEXT("a"), .domain = one), 1);
    kit_record(&VIEW(PUSH, TEXT("b"), .domain = two), 1);
    kit_record(&VIEW(PUSH, TEXT("c")), 1);
    kit_record(&VIEW(POP, .domain = one), 1);
    kit_is(kit.event.text, "a");
    kit_is(kit.event.domain, "one");
    kit_record(&VIEW(POP), 1);
    kit_is(kit.event.text, "c");
    kit_is(kit.event.domain, "");
    kit_record(&VIEW(POP, .domain = two), 1);
    kit_is(kit.event.domain, "two \"quoted\"");
    kit_end();
}

Test(line, sends_the_text_of_a_registered_string) {
    kit_start();
    uint32_t number = catalog_string("registered \xff")->number;
    kit_record(&VIEW(MARK, .has_string = true, .string = number), 1);
    kit_is(kit.event.text, "registered \xef\xbf\xbd");
    kit_record(&VIEW(MARK, .has_string = true, .string = 65535), 1); // there is none
    kit_is(kit.event.text, "");
    kit_end();
}

// ---- Texts --------------------------------------------------------------------------------------

static void comes_through(const char *text, size_t len) {
    char *wanted = malloc(NVTXT_UTF8_GROWTH * len + 1);
    cr_assert_not_null(wanted);
    size_t wanted_len = nvtxt_utf8_repair(wanted, (struct nvtxt_slice){text, len});
    mark_text(text, len);
    cr_assert(nvtxt_slice_equal(kit.event.text, (struct nvtxt_slice){wanted, wanted_len}));
    free(wanted);
}

Test(line, keeps_each_byte_of_a_text) {
    kit_start();
    for (int byte = 1; byte < 256; byte++) {
        char text[] = {(char)byte, 'x', (char)byte, '\\', (char)byte};
        comes_through(text, 1);
        comes_through(text, sizeof(text));
    }
    comes_through("", 0);
    kit_end();
}

Test(line, keeps_the_longest_texts) {
    static const char *const pieces[] = {"a",  "\"",       "\\", "\n", "\xff", "\xc3\xa4",
                                         "$x", "\xe2\x82", "\r", "'",  ",",    "\xf0\x9f\x98\x80"};
    static char text[RECORD_TEXT_MAX];
    kit_start();
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        size_t len = strlen(pieces[i]), at = 0;
        for (; at + len <= sizeof(text); at += len) {
            memcpy(text + at, pieces[i], len);
        }
        comes_through(text, at);
    }
    kit_end();
}

Test(line, heeds_the_limits_of_the_daemon) {
    static char text[RECORD_TEXT_MAX + 1], json[RECORD_JSON_MAX]; // the last is a NUL
    memset(text, '\xff', RECORD_TEXT_MAX);
    memset(json, 'j', sizeof(json));
    json[0] = json[sizeof(json) - 1] = '"';
    for (size_t limit = 4096; limit <= 65536; limit *= 2) {
        kit_start_limited(limit, limit);
        uint32_t domain = catalog_domain("a domain of a name that is quite long")->number;
        uint32_t long_domain = catalog_domain(memset(text, 'd', sizeof(text) - 1))->number;
        kit_record(&VIEW(START, .domain = domain, .id = INT64_MAX, .text = text,
                         .text_len = RECORD_TEXT_MAX, .json = json, .json_len = sizeof(json),
                         .category = UINT32_MAX, .color = UINT32_MAX, .value_kind = RECORD_U64,
                         .value = UINT64_MAX),
                   4711);
        kit_record(&VIEW(END, .id = INT64_MAX), 4711);
        cr_assert_geq(kit.event.text.len, limit / 4 < sizeof(text) ? limit / 4 : sizeof(text));
        kit_record(&VIEW(MARK, .domain = long_domain, .json = json, .json_len = sizeof(json)),
                   4711);
        kit_end();
    }
}

// ---- Values -------------------------------------------------------------------------------------

static void mark_value(uint32_t kind, uint64_t bits) {
    kit_record(&VIEW(MARK, .value_kind = kind, .value = bits), 1);
}

Test(line, keeps_integers_of_all_kinds) {
    kit_start();
    mark_value(RECORD_U64, UINT64_MAX);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_UINT64);
    cr_assert_eq(kit.event.payload.int64, -1);
    mark_value(RECORD_I64, (uint64_t)INT64_MIN);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_INT64);
    cr_assert_eq(kit.event.payload.int64, INT64_MIN);
    mark_value(RECORD_U32, UINT32_MAX);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_UINT32);
    cr_assert_eq(kit.event.payload.int64, UINT32_MAX);
    mark_value(RECORD_I32, (uint32_t)INT32_MIN);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_INT32);
    cr_assert_eq(kit.event.payload.int64, INT32_MIN);
    mark_value(RECORD_NO_VALUE, 1);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_NONE);
    kit_end();
}

static void mark_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    mark_value(RECORD_F64, bits);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_DOUBLE);
    cr_assert(isnan(value) ? isnan(kit.event.payload.real) : kit.event.payload.real == value,
              "%.17g became %.17g", value, kit.event.payload.real);
}

static void mark_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    mark_value(RECORD_F32, bits);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_FLOAT);
    cr_assert(isnan(value) ? isnan(kit.event.payload.real)
                           : (float)kit.event.payload.real == value);
}

static void mark_numbers(void) {
    static const double numbers[] = {0,      -0.0,     1.5,  1e15,    1e16, 1e17,     1e-5,
                                     5e-324, 1.79e308, 1e22, 123456., NAN,  INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        mark_f64(numbers[i]);
        mark_f32((float)numbers[i]);
    }
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 2000; i++) {
        double f64;
        float f32;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&f64, &bits, sizeof(f64));
        memcpy(&f32, (char *)&bits + 4, sizeof(f32));
        mark_f64(f64);
        mark_f32(f32);
    }
}

Test(line, keeps_every_number) {
    kit_start();
    mark_numbers();
    kit_end();
}

// The program may have any locale; ps_AF has a point of two bytes.
Test(line, keeps_numbers_in_every_locale) {
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF", "fa_IR"};
    kit_start();
    for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
        if (setlocale(LC_NUMERIC, locales[i])) {
            mark_numbers();
        }
    }
    kit_end();
}

// ---- JSON ---------------------------------------------------------------------------------------

Test(line, sends_json_that_the_daemon_takes) {
    static const char *const good[] = {"{}", "[1,2.5e3,\"\\u0000\",null]", "\"\\ud800 \\\" \\\\\"",
                                       " {\"a\" :\n[]}", "1e999"};
    kit_start();
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        mark_json(good[i], strlen(good[i]));
        kit_is(kit.event.json, good[i]);
    }
    mark_json("\"\xff\"", 3);
    kit_is(kit.event.json, "\"\xef\xbf\xbd\"");
    mark_text("none", 4);
    kit_is(kit.event.json, "");
    kit_end();
}

Test(line, says_how_long_the_json_was_that_cannot_be_sent) {
    static const char *const bad[] = {"{", "1 2", "", " ", "{'a':1}", "\xff", "[1,]", "nul"};
    static char json[RECORD_JSON_MAX];
    char wanted[40];
    kit_start();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t len = strlen(bad[i]);
        mark_json(bad[i], len);
        snprintf(wanted, sizeof(wanted), len ? "{\"invalid\":%zu}" : "", len);
        kit_is(kit.event.json, wanted);
    }
    memset(json, '[', 65);
    memset(json + 65, ']', 65);
    mark_json(json, 130);
    kit_is(kit.event.json, "{\"invalid\":130}");
    memset(json, '\xff', sizeof(json)); // repaired it is three times as long
    json[0] = json[sizeof(json) - 1] = '"';
    mark_json(json, sizeof(json));
    kit_is(kit.event.json, "{\"truncated\":24576}");
    memset(json, 'j', sizeof(json));
    json[0] = json[sizeof(json) - 1] = '"';
    mark_json(json, sizeof(json));
    cr_assert_eq(kit.event.json.len, sizeof(json));
    kit_end();
}

// ---- Names --------------------------------------------------------------------------------------

static void name(enum name_kind kind, uint32_t domain, uint64_t key, const char *what,
                 const char *text, const char *json) {
    catalog_name(kind, domain, key, what, text, json);
    uint32_t last = atomic_load(&kit.region.head->names) - 1;
    line_name(&kit.out, &kit.lines, &kit.region, &kit.region.names[last]);
    kit_read();
}

Test(line, makes_lines_of_all_kinds_of_names) {
    kit_start();
    mark_text("first", 5); // names of threads and categories stand at an event
    name(NAME_PROCESS, 0, 0, NULL, "program \"\\", NULL);
    cr_assert_eq(kit.name.kind, NVTXT_NAME_PROCESS);
    kit_is(kit.name.text, "program \"\\");
    name(NAME_THREAD, 0, 4711, NULL, "worker", NULL);
    cr_assert_eq(kit.name.kind, NVTXT_NAME_THREAD);
    cr_assert_eq(kit.name.tid, 4711);
    uint32_t domain = catalog_domain("one")->number;
    name(NAME_CATEGORY, domain, 4294967295, NULL, "\xff", NULL);
    cr_assert_eq(kit.name.category, 4294967295);
    kit_is(kit.name.text, "\xef\xbf\xbd");
    name(NAME_RESOURCE, domain, UINT64_MAX, "cuStream", "copy", NULL);
    cr_assert_eq(kit.name.kind, NVTXT_NAME_RESOURCE);
    cr_assert_eq(kit.name.handle, UINT64_MAX);
    kit_is(kit.name.resource_kind, "cuStream");
    name(NAME_COUNTER, 0, 0, "rate", "rate", "{\"unit\":\"1/s\"}");
    cr_assert_eq(kit.name.kind, NVTXT_NAME_COUNTER);
    kit_is(kit.name.text, "rate");
    kit_is(kit.name.json, "{\"unit\":\"1/s\"}");
    name(NAME_PROCESS, 0, 0, NULL, NULL, NULL);
    for (uint32_t kind = NAME_THREAD; kind <= NAME_COUNTER; kind++) {
        name((enum name_kind)kind, 0, 1, "k", NULL, NULL);
    }
    kit_end();
}

Test(line, tells_losses_in_a_line_that_is_no_event) {
    kit_start();
    for (int why = 0; why < LOSSES; why++) {
        line_lost(&kit.out, UINT64_MAX, (enum region_loss)why);
        kit_read();
    }
    line_end(&kit.out, 3, 1);
    cr_assert_eq(kit.events, 0);
    kit.out.len = 0;
    kit_end();
}
