// SPDX-License-Identifier: Apache-2.0
//
// Lexing: the rule of each token, columns, and the leftmost fault of a line.
#include "protocol/lang/lexer.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct nvtxt_symtab symtab;
static struct nvtxt_buf scratch;
static struct nvtxt_tokens tokens;
static struct nvtxt_diag diag;
static bool escapes;

// Lexes a copy, so that the sanitizer finds a read past the end of the line.
static char *copy;

static int lex(struct nvtxt_slice line) {
    free(copy);
    copy = malloc(line.len ? line.len : 1);
    cr_assert_not_null(copy);
    memcpy(copy, line.data, line.len);
    return nvtxt_lex((struct nvtxt_slice){copy, line.len}, escapes, &symtab, &scratch, &tokens,
                     &diag);
}

// A line as the tokens that came out: "kind column value".
static void lexes_bytes(struct nvtxt_slice line, const char *wanted) {
    static const char *const kinds[] = {"end", "comma", "equals", "at", "word", "string", "int"};
    static char text[4096];
    size_t len = 0;
    cr_assert_eq(lex(line), 0, "%.*s: %s", (int)line.len, line.data, diag.message);
    for (size_t i = 0; i < tokens.count; i++) {
        const struct nvtxt_token *token = &tokens.items[i];
        len += (size_t)sprintf(text + len, "%s%s %u", i ? ", " : "", kinds[token->kind],
                               token->column);
        if (token->kind == NVTXT_TOKEN_INTEGER) {
            len += (size_t)sprintf(text + len, " %" PRId64, token->value.integer);
        } else if (nvtxt_token_is_value(token)) {
            len += (size_t)sprintf(text + len, " <%.*s>", (int)token->value.string.len,
                                   token->value.string.data);
        }
    }
    cr_assert_str_eq(text, wanted, "%.*s gives\n%s\nnot\n%s", (int)line.len, line.data, text,
                     wanted);
}

static void lexes(const char *line, const char *wanted) {
    lexes_bytes(nvtxt_slice_of(line), wanted);
}

static void fails_bytes(struct nvtxt_slice line, enum nvtxt_diag_code code, uint32_t column) {
    cr_assert_eq(lex(line), 1, "%.*s", (int)line.len, line.data);
    cr_assert_eq(diag.code, code, "%.*s: %s", (int)line.len, line.data, diag.message);
    cr_assert_eq(diag.column, column, "%.*s: %u", (int)line.len, line.data, diag.column);
}

static void fails(const char *line, enum nvtxt_diag_code code, uint32_t column) {
    fails_bytes(nvtxt_slice_of(line), code, column);
}

static void set(const char *name, struct nvtxt_value value) {
    struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, nvtxt_slice_of(name), &value), 0);
}

static void done(void) {
    free(copy);
    nvtxt_buf_deinit(&scratch);
    nvtxt_symtab_deinit(&symtab);
}

Test(lexer, separates_tokens_by_blanks_or_nothing) {
    lexes("", "end 1");
    lexes(" \t ", "end 1");
    lexes("@Marker,Time", "at 1, word 2 <Marker>, comma 8, word 9 <Time>, end 13");
    lexes(" A\t= 1  ", "word 2 <A>, equals 4, int 6 1, end 7");
    lexes("'a'\"b\"c", "string 1 <a>, string 4 <b>, word 7 <c>, end 8");
    done();
}

Test(lexer, reads_words_of_ascii_letters_digits_and_underscores) {
    lexes("_a9Z", "word 1 <_a9Z>, end 5");
    fails("\xC3\xA4", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("a\xC3\xA4", NVTXT_DIAG_STRAY_BYTE, 2);
    done();
}

Test(lexer, reads_strings_without_escapes_or_expansion) {
    lexes("\"C:\\tmp\\\"", "string 1 <C:\\tmp\\>, end 10");
    lexes("'say \"$x\" # , ='", "string 1 <say \"$x\" # , =>, end 17");
    lexes("\"it's\"", "string 1 <it's>, end 7");
    lexes("'' \"\"", "string 1 <>, string 4 <>, end 6");
    fails("a, \"open", NVTXT_DIAG_UNTERMINATED_STRING, 4);
    fails("'", NVTXT_DIAG_UNTERMINATED_STRING, 1);
    fails("\"a'", NVTXT_DIAG_UNTERMINATED_STRING, 1);
    done();
}

Test(lexer, reads_integers_up_to_their_limits) {
    lexes("0 -0 007 -1", "int 1 0, int 3 0, int 6 7, int 10 -1, end 12");
    lexes("9223372036854775807", "int 1 9223372036854775807, end 20");
    lexes("-9223372036854775808", "int 1 -9223372036854775808, end 21");
    lexes("000000000000000000000000000012", "int 1 12, end 31");
    lexes("999999999999999999", "int 1 999999999999999999, end 19");
    lexes("1000000000000000000", "int 1 1000000000000000000, end 20");
    lexes("0x0001d49e4ebd397c", "int 1 515251367655804, end 19");
    lexes("0XaBc 0x0", "int 1 2748, int 7 0, end 10");
    lexes("0x7FFFFFFFFFFFFFFF", "int 1 9223372036854775807, end 19");
    lexes("0x00000000000000000007FFFFFFFFFFFFFFF", "int 1 9223372036854775807, end 38");
    fails("9223372036854775808", NVTXT_DIAG_INTEGER_OUT_OF_RANGE, 1);
    fails("-9223372036854775809", NVTXT_DIAG_INTEGER_OUT_OF_RANGE, 1);
    fails("99999999999999999999999999999999", NVTXT_DIAG_INTEGER_OUT_OF_RANGE, 1);
    fails("0x8000000000000000", NVTXT_DIAG_INTEGER_OUT_OF_RANGE, 1);
    fails("a, 0x10000000000000000", NVTXT_DIAG_INTEGER_OUT_OF_RANGE, 4);
    done();
}

Test(lexer, refuses_numbers_that_run_into_something) {
    static const char *const bad[] = {"1a",
                                      "1.5",
                                      "1_",
                                      "-1x",
                                      "0x",
                                      "0xg",
                                      "-0x10",
                                      "1.",
                                      "0b1",
                                      "1e5",
                                      "0x1.5",
                                      "-0x",
                                      "99999999999999999999x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fails(bad[i], NVTXT_DIAG_BAD_INTEGER, 1);
    }
    lexes("1,2=3", "int 1 1, comma 2, int 3 2, equals 4, int 5 3, end 6");
    lexes("1'a'", "int 1 1, string 2 <a>, end 5");
    done();
}

Test(lexer, expands_variables_to_tokens_of_their_type) {
    set("I", (struct nvtxt_value){.type = NVTXT_INTEGER, .integer = -5});
    set("W", (struct nvtxt_value){.type = NVTXT_STRING, .string = NVTXT_SLICE("Marker")});
    set("S", (struct nvtxt_value){.type = NVTXT_STRING, .string = NVTXT_SLICE("two words")});
    set("E", (struct nvtxt_value){.type = NVTXT_STRING});
    lexes("$I,$W $S$E", "int 1 -5, comma 3, word 4 <Marker>, string 7 <two words>, string 9 <>, "
                        "end 11");
    cr_assert(nvtxt_slice_equal(tokens.items[2].source, NVTXT_SLICE("$W")));
    fails("$I, $Undefined", NVTXT_DIAG_UNDEFINED_VARIABLE, 5);
    fails("$i", NVTXT_DIAG_UNDEFINED_VARIABLE, 1);
    fails("$ I", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("$", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("$1", NVTXT_DIAG_STRAY_BYTE, 1);
    done();
}

Test(lexer, finds_stray_bytes_and_nul) {
    for (unsigned byte = 0; byte < 256; byte++) {
        char line[3] = {' ', (char)byte, '\0'};
        bool begins = byte == ' ' || byte == '\t' || byte == ',' || byte == '=' || byte == '@' ||
                      byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                      (byte >= 'a' && byte <= 'z');
        struct nvtxt_slice text = {line, 2};
        if (begins) {
            cr_assert_eq(lex(text), 0, "%02X", byte);
        } else if (byte == '"' || byte == '\'') {
            fails_bytes(text, NVTXT_DIAG_UNTERMINATED_STRING, 2);
        } else {
            fails_bytes(text, byte ? NVTXT_DIAG_STRAY_BYTE : NVTXT_DIAG_NUL_BYTE, 2);
        }
    }
    fails("- 1", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("--1", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("+1", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("A = 1 # no comment", NVTXT_DIAG_STRAY_BYTE, 7);
    done();
}

Test(lexer, finds_nul_at_every_place_of_a_string) {
    for (size_t len = 1; len < 30; len++) {
        for (size_t at = 0; at < len; at++) {
            char line[32];
            memset(line, 'x', sizeof(line));
            line[0] = line[len + 1] = '"';
            line[1 + at] = '\0';
            fails_bytes((struct nvtxt_slice){line, len + 2}, NVTXT_DIAG_NUL_BYTE, (uint32_t)at + 2);
        }
    }
    done();
}

Test(lexer, repairs_strings_that_are_not_utf8) {
    lexes("'\xC3\xA4'", "string 1 <\xC3\xA4>, end 5");
    cr_assert_eq(tokens.repaired, 0);
    lexes("'\xC3\xA4', '\xE2\x82' \"a\xFFz\"",
          "string 1 <\xC3\xA4>, comma 5, string 7 <\xEF\xBF\xBD\xEF\xBF\xBD>, "
          "string 12 <a\xEF\xBF\xBDz>, end 17");
    cr_assert_eq(tokens.repaired, 7, "the first one");
    lexes("'fine'", "string 1 <fine>, end 7");
    cr_assert_eq(tokens.repaired, 0);
    done();
}

Test(lexer, reads_escapes_in_double_quotes_when_the_session_has_them) {
    lexes("\"a\\\\b\" '\\n'", "string 1 <a\\\\b>, string 8 <\\n>, end 12");
    escapes = true;
    lexes("\"a\\\"b'c\"", "string 1 <a\"b'c>, end 9");
    lexes("\"\\\\\", \"\\\\\\\"\"", "string 1 <\\>, comma 5, string 7 <\\\">, end 13");
    lexes("\"one\\ntwo\"", "string 1 <one\ntwo>, end 11");
    lexes("\"C:\\tmp \\ \\x\"", "string 1 <C:\\tmp \\ \\x>, end 14");
    lexes("'a\\\\b\\n' \"\"", "string 1 <a\\\\b\\n>, string 10 <>, end 12");
    lexes(
        "\"\xFF\\\"\" \"\\n\xFE\\\\\" '\xFD'",
        "string 1 <\xEF\xBF\xBD\">, string 7 <\n\xEF\xBF\xBD\\>, string 15 <\xEF\xBF\xBD>, end 18");
    cr_assert_eq(tokens.repaired, 1);
    fails("\"open\\\"", NVTXT_DIAG_UNTERMINATED_STRING, 1);
    fails("\"open\\\\\\\"", NVTXT_DIAG_UNTERMINATED_STRING, 1);
    fails_bytes(NVTXT_SLICE("\"\\\"\0\""), NVTXT_DIAG_NUL_BYTE, 4);
    escapes = false;
    fails("\"a\\\"b\"", NVTXT_DIAG_UNTERMINATED_STRING, 6);
    done();
}

Test(lexer, reports_the_leftmost_fault) {
    fails("1x ?", NVTXT_DIAG_BAD_INTEGER, 1);
    fails("? 1x", NVTXT_DIAG_STRAY_BYTE, 1);
    fails("$U 'open", NVTXT_DIAG_UNDEFINED_VARIABLE, 1);
    fails("99999999999999999999 $U", NVTXT_DIAG_INTEGER_OUT_OF_RANGE, 1);
    fails_bytes(NVTXT_SLICE("'a\0b' ?"), NVTXT_DIAG_NUL_BYTE, 3);
    fails_bytes(NVTXT_SLICE("'a\0b"), NVTXT_DIAG_UNTERMINATED_STRING, 1);
    done();
}

Test(lexer, lexes_a_line_of_any_length_and_keeps_its_first_tokens) {
    char line[3000] = "";
    for (unsigned i = 0; i < 1000; i++) {
        memcpy(line + 2 * i, "a,", 2);
    }
    for (size_t count = 25; count < 40; count++) {
        cr_assert_eq(lex((struct nvtxt_slice){line, count}), 0);
        size_t kept = count < NVTXT_LINE_TOKENS ? count : NVTXT_LINE_TOKENS - 1;
        cr_assert_eq(tokens.count, kept + 1);
        cr_assert_eq(tokens.items[kept - 1].column, kept);
        cr_assert_eq(tokens.items[kept].kind, NVTXT_TOKEN_END);
        cr_assert_eq(tokens.items[kept].column, count + 1, "after the last token of all");
    }
    line[1999] = '?';
    fails(line, NVTXT_DIAG_STRAY_BYTE, 2000);
    done();
}
