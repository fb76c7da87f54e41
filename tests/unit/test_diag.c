// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: the table of codes, and that whatever a line holds ends in printable text of
// bounded size.
#include "protocol/lang/diag.h"

#include <criterion/criterion.h>

#include "protocol/base/utf8.h"

#define BAD "\xEF\xBF\xBD"

static struct nvtxt_diag diag;

// ---- The table ----------------------------------------------------------------------------------

// Section 10 of the language's definition, typed a second time.
static const struct {
    enum nvtxt_diag_code code;
    const char *stage, *severity, *name;
} listed[] = {
    {NVTXT_DIAG_LINE_TOO_LONG, "lexing", "error", "line-too-long"},
    {NVTXT_DIAG_NUL_BYTE, "lexing", "error", "nul-byte"},
    {NVTXT_DIAG_STRAY_BYTE, "lexing", "error", "stray-byte"},
    {NVTXT_DIAG_UNTERMINATED_STRING, "lexing", "error", "unterminated-string"},
    {NVTXT_DIAG_BAD_INTEGER, "lexing", "error", "bad-integer"},
    {NVTXT_DIAG_INTEGER_OUT_OF_RANGE, "lexing", "error", "integer-out-of-range"},
    {NVTXT_DIAG_UNDEFINED_VARIABLE, "lexing", "error", "undefined-variable"},
    {NVTXT_DIAG_INVALID_UTF8, "lexing", "warning", "invalid-utf8"},
    {NVTXT_DIAG_EXPECTED_NAME, "parsing", "error", "expected-name"},
    {NVTXT_DIAG_EXPECTED_VALUE, "parsing", "error", "expected-value"},
    {NVTXT_DIAG_EXPECTED_COMMA, "parsing", "error", "expected-comma"},
    {NVTXT_DIAG_TRAILING_TEXT, "parsing", "error", "trailing-text"},
    {NVTXT_DIAG_UNKNOWN_COMMAND, "parsing", "error", "unknown-command"},
    {NVTXT_DIAG_UNKNOWN_ARGUMENT, "parsing", "error", "unknown-argument"},
    {NVTXT_DIAG_DUPLICATE_ARGUMENT, "parsing", "error", "duplicate-argument"},
    {NVTXT_DIAG_WRONG_VALUE_COUNT, "parsing", "error", "wrong-value-count"},
    {NVTXT_DIAG_WRONG_TYPE, "parsing", "error", "wrong-type"},
    {NVTXT_DIAG_BAD_PAYLOAD, "parsing", "error", "bad-payload"},
    {NVTXT_DIAG_BAD_JSON, "parsing", "error", "bad-json"},
    {NVTXT_DIAG_MISSING_ARGUMENT, "loading", "error", "missing-argument"},
    {NVTXT_DIAG_STATIC_WRONG_TYPE, "loading", "error", "wrong-type"},
    {NVTXT_DIAG_ID_OUT_OF_RANGE, "loading", "error", "id-out-of-range"},
    {NVTXT_DIAG_CATEGORY_OUT_OF_RANGE, "loading", "error", "category-out-of-range"},
    {NVTXT_DIAG_TIME_OUT_OF_RANGE, "loading", "error", "time-out-of-range"},
    {NVTXT_DIAG_LIMIT_EXCEEDED, "loading", "error", "limit-exceeded"},
    {NVTXT_DIAG_POP_WITHOUT_PUSH, "loading", "error", "pop-without-push"},
    {NVTXT_DIAG_END_WITHOUT_START, "loading", "error", "end-without-start"},
    {NVTXT_DIAG_RANGE_ALREADY_OPEN, "loading", "error", "range-already-open"},
    {NVTXT_DIAG_FOREIGN_PROCESS, "loading", "error", "foreign-process"},
    {NVTXT_DIAG_BAD_COLOR, "loading", "warning", "bad-color"},
    {NVTXT_DIAG_ENDS_BEFORE_START, "loading", "warning", "ends-before-start"},
    {NVTXT_DIAG_NEVER_CLOSED, "loading", "warning", "never-closed"},
    {NVTXT_DIAG_UNKNOWN_TIMEBASE, "loading", "warning", "unknown-timebase"},
    {NVTXT_DIAG_NO_CLOCK, "loading", "warning", "no-clock"},
    {NVTXT_DIAG_FOREIGN_NAME, "loading", "warning", "foreign-name"},
    {NVTXT_DIAG_BAD_PARENT, "loading", "warning", "bad-parent"},
};

Test(diag, knows_every_code_with_its_stage_and_severity) {
    size_t count = sizeof(listed) / sizeof(listed[0]);
    cr_assert_eq(count, NVTXT_DIAG_CODE_COUNT);
    for (size_t i = 0; i < count; i++) {
        enum nvtxt_diag_code code = listed[i].code;
        cr_assert_str_eq(nvtxt_diag_code_name(code), listed[i].name);
        cr_assert_str_eq(nvtxt_stage_name(nvtxt_diag_stage(code)), listed[i].stage);
        cr_assert_str_eq(nvtxt_severity_name(nvtxt_diag_severity(code)), listed[i].severity);
    }
}

Test(diag, has_a_sentence_for_every_code) {
    for (int code = 0; code < NVTXT_DIAG_CODE_COUNT; code++) {
        const char *meaning = nvtxt_diag_meaning((enum nvtxt_diag_code)code);
        size_t len = strlen(meaning);
        cr_assert_gt(len, 10);
        cr_assert_eq(meaning[len - 1], '.', "%s", meaning);
    }
}

// ---- Messages -----------------------------------------------------------------------------------

static void says(struct nvtxt_slice text, const char *wanted) {
    nvtxt_diag_set(&diag, NVTXT_DIAG_STRAY_BYTE, 1, "<%.*s>", (int)text.len, text.data);
    cr_assert_str_eq(diag.message, wanted);
}

Test(diag, starts_without_line_and_excerpt) {
    memset(&diag, 0xAA, sizeof(diag));
    nvtxt_diag_set(&diag, NVTXT_DIAG_BAD_INTEGER, 12, "%s %d", "seven", 7);
    cr_assert_eq(diag.code, NVTXT_DIAG_BAD_INTEGER);
    cr_assert_eq(diag.column, 12);
    cr_assert_eq(diag.line, 0);
    cr_assert_str_eq(diag.message, "seven 7");
    cr_assert_str_eq(diag.excerpt, "");
}

Test(diag, makes_a_message_printable) {
    says(NVTXT_SLICE("\xC3\xA4 \xE2\x82\xAC"), "<\xC3\xA4 \xE2\x82\xAC>");
    says(NVTXT_SLICE("a\xE2\x82z\xFF"), "<a" BAD BAD "z" BAD ">");
    says(NVTXT_SLICE("a\tb\nc\r\x1B[31m\x7F"), "<a" BAD "b" BAD "c" BAD BAD "[31m" BAD ">");
}

Test(diag, lets_no_control_character_of_unicode_through) {
    // U+009B begins an escape sequence on some terminals as ESC [ does.
    says(NVTXT_SLICE("\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0"), "<" BAD BAD BAD "\xC2\xA0>");
}

Test(diag, cuts_a_long_message_between_characters) {
    char text[2 * NVTXT_DIAG_MESSAGE_SIZE];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 4 <= sizeof(text); i += 4) {
            memcpy(text + i, "\xF0\x9F\x98\x80", 4);
        }
        size_t used = shift + (sizeof(text) - shift) / 4 * 4;
        nvtxt_diag_set(&diag, NVTXT_DIAG_STRAY_BYTE, 1, "%.*s", (int)used, text);
        struct nvtxt_slice message = nvtxt_slice_of(diag.message);
        cr_assert_lt(message.len, NVTXT_DIAG_MESSAGE_SIZE);
        cr_assert_gt(message.len, NVTXT_DIAG_MESSAGE_SIZE - 8);
        cr_assert(nvtxt_utf8_valid(message));
    }
}

Test(diag, holds_a_message_whose_every_byte_grows) {
    char text[NVTXT_DIAG_MESSAGE_SIZE];
    memset(text, '\xFF', sizeof(text));
    nvtxt_diag_set(&diag, NVTXT_DIAG_STRAY_BYTE, 1, "%.*s", (int)sizeof(text), text);
    cr_assert_eq(strlen(diag.message) % 3, 0);
    cr_assert_lt(strlen(diag.message), NVTXT_DIAG_MESSAGE_SIZE);
    cr_assert(nvtxt_utf8_valid(nvtxt_slice_of(diag.message)));
}

// ---- Excerpts -----------------------------------------------------------------------------------

static void excerpt_is(struct nvtxt_slice line, struct nvtxt_slice wanted) {
    char buffer[NVTXT_DIAG_EXCERPT_SIZE];
    struct nvtxt_slice excerpt = nvtxt_excerpt(line, buffer);
    cr_assert_eq(excerpt.len, wanted.len, "%zu bytes", excerpt.len);
    cr_assert_arr_eq(excerpt.data, wanted.data, wanted.len);
    nvtxt_diag_set_excerpt(&diag, line);
    cr_assert_eq(strlen(diag.excerpt), wanted.len);
    cr_assert_arr_eq(diag.excerpt, wanted.data, wanted.len);
}

Test(excerpt, is_a_short_line_itself) {
    struct nvtxt_slice line = NVTXT_SLICE("Marker, 1\t2");
    char buffer[NVTXT_DIAG_EXCERPT_SIZE];
    excerpt_is(line, line);
    cr_assert_eq(nvtxt_excerpt(line, buffer).data, line.data, "a view, not a copy");
    excerpt_is(NVTXT_SLICE(""), NVTXT_SLICE(""));
}

Test(excerpt, repairs_bad_bytes_and_nul) {
    excerpt_is(NVTXT_SLICE("a\0b\xFF\xC3\xA4"), NVTXT_SLICE("a" BAD "b" BAD "\xC3\xA4"));
}

Test(excerpt, ends_after_two_hundred_bytes) {
    char line[NVTXT_EXCERPT_BYTES + 50];
    memset(line, 'x', sizeof(line));
    for (size_t len = NVTXT_EXCERPT_BYTES - 1; len <= sizeof(line); len++) {
        size_t wanted = len < NVTXT_EXCERPT_BYTES ? len : NVTXT_EXCERPT_BYTES;
        excerpt_is((struct nvtxt_slice){line, len}, (struct nvtxt_slice){line, wanted});
    }
}

Test(excerpt, leaves_out_a_character_that_the_cut_would_split) {
    static const char *const characters[] = {"\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t c = 0; c < 3; c++) {
        size_t size = strlen(characters[c]);
        for (size_t before = 0; before <= size; before++) {
            char line[NVTXT_EXCERPT_BYTES + 10];
            memset(line, 'x', sizeof(line));
            size_t at = NVTXT_EXCERPT_BYTES - before;
            memcpy(line + at, characters[c], size);
            size_t wanted = before == size ? NVTXT_EXCERPT_BYTES : at;
            excerpt_is((struct nvtxt_slice){line, sizeof(line)},
                       (struct nvtxt_slice){line, wanted});
        }
    }
}

Test(excerpt, has_room_for_a_line_of_bad_bytes) {
    char line[NVTXT_EXCERPT_BYTES], wanted[3 * NVTXT_EXCERPT_BYTES];
    memset(line, '\x80', sizeof(line));
    for (size_t i = 0; i < sizeof(line); i++) {
        memcpy(wanted + 3 * i, BAD, 3);
    }
    excerpt_is((struct nvtxt_slice){line, sizeof(line)},
               (struct nvtxt_slice){wanted, sizeof(wanted)});
}

// ---- For people ---------------------------------------------------------------------------------

Test(diag, is_printed_as_a_compiler_does) {
    char out[200];
    const char *wanted = "file.nvtxt:12:9: error: undefined variable '$Pid' [undefined-variable]";
    int len = nvtxt_diag_format(out, sizeof(out), "file.nvtxt", 12, 9, "error",
                                "undefined variable '$Pid'", "undefined-variable");
    cr_assert_str_eq(out, wanted);
    cr_assert_eq((size_t)len, strlen(wanted));
    len = nvtxt_diag_format(out, 11, "file.nvtxt", UINT64_MAX, UINT32_MAX, "error", "m", "c");
    cr_assert_str_eq(out, "file.nvtxt");
    cr_assert_eq((size_t)len, strlen("file.nvtxt:18446744073709551615:4294967295: error: m [c]"));
}
