// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a string of NVTXT and back: through the lexer as the daemon runs it, and decoded.
#include "client/text/textlog.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "protocol/base/utf8.h"
#include "protocol/lang/lexer.h"

#define ROOM 4096

static char out[ROOM];
static struct nvtxt_symtab symtab;
static struct nvtxt_buf scratch;
static struct nvtxt_tokens tokens;
static struct nvtxt_diag diag;

// What the daemon makes of the string; lives until the next call.
static struct nvtxt_slice lexed(size_t len) {
    struct nvtxt_slice line = {out, len};
    cr_assert_eq(nvtxt_lex(line, true, &symtab, &scratch, &tokens, &diag), 0, "%.*s: %s", (int)len,
                 out, diag.message);
    cr_assert_eq(tokens.count, 2, "%.*s", (int)len, out);
    cr_assert_eq(tokens.items[0].kind, NVTXT_TOKEN_STRING);
    cr_assert_eq(tokens.repaired, 0, "%.*s", (int)len, out);
    return tokens.items[0].value.string;
}

static void becomes(struct nvtxt_slice text, const char *written, const char *stored) {
    size_t len;
    char back[ROOM];
    cr_assert_eq(printable_encode(out, ROOM, text, &len), text.len);
    cr_assert_eq(len, strlen(written), "%.*s", (int)len, out);
    cr_assert_arr_eq(out, written, len, "%.*s not %s", (int)len, out, written);
    struct nvtxt_slice value = lexed(len);
    cr_assert(nvtxt_slice_equal(value, nvtxt_slice_of(stored)), "%.*s not %s", (int)value.len,
              value.data, stored);
    len = printable_decode(back, value);
    cr_assert(nvtxt_slice_equal((struct nvtxt_slice){back, len}, text), "%.*s", (int)len, back);
}

#define BECOMES(text, written, stored) becomes(NVTXT_SLICE(text), written, stored)

Test(printable, arrives_as_it_is_when_it_is_text) {
    BECOMES("", "''", "");
    BECOMES("plain", "'plain'", "plain");
    BECOMES("a \"quoted\" C:\\tmp\\", "'a \"quoted\" C:\\tmp\\'", "a \"quoted\" C:\\tmp\\");
    BECOMES("can't", "\"can't\"", "can't");
    BECOMES("can't \"x\"", "\"can't \\\"x\\\"\"", "can't \"x\"");
    BECOMES("can't C:\\n\\", "\"can't C:\\\\n\\\\\"", "can't C:\\n\\");
    BECOMES("\xC3\xA4\r\t\x1b[0m\x7f", "'\xC3\xA4\r\t\x1b[0m\x7f'", "\xC3\xA4\r\t\x1b[0m\x7f");
    BECOMES("a\nb", "\"a\\nb\"", "a\nb");
    BECOMES("\\x41 \\xFF \\xg0", "'\\x41 \\xFF \\xg0'", "\\x41 \\xFF \\xg0");
}

Test(printable, spells_out_what_is_no_text) {
    BECOMES("a\0b", "'a\\x00b'", "a\\x00b");
    BECOMES("\xFF\xE2\x82", "'\\xff\\xe2\\x82'", "\\xff\\xe2\\x82");
    BECOMES("'\xFF\"", "\"'\\\\xff\\\"\"", "'\\xff\"");
    BECOMES("'\xFF", "\"'\\xff\"", "'\\xff");
    BECOMES("\\\xFF", "'\\\\xff'", "\\\\xff");
}

Test(printable, leaves_no_doubt_about_what_was_spelled_out) {
    BECOMES("\\x80", "'\\x5cx80'", "\\x5cx80");
    BECOMES("\\x5c\\x00\\xff", "'\\x5cx5c\\x5cx00\\x5cxff'", "\\x5cx5c\\x5cx00\\x5cxff");
    BECOMES("\\x8\xFF", "'\\x8\\xff'", "\\x8\\xff");
    BECOMES("'\\x80", "\"'\\\\x5cx80\"", "'\\x5cx80");
}

// Bytes that mean something more often than others.
static char any_byte(void) {
    static const char special[] = "'\"\\x5cf80\0\xC3\xA4\xE2\x82\n\r #$@,";
    return rand() % 3 ? special[(size_t)rand() % (sizeof(special) - 1)] : (char)rand();
}

Test(printable, of_random_bytes_comes_back_from_pieces_of_any_size) {
    srand(1);
    for (int round = 0; round < 20000; round++) {
        char text[256];
        char back[256];
        size_t len = (size_t)rand() % sizeof(text);
        size_t room = PRINTABLE_LEAST + (size_t)rand() % 300;
        size_t at = 0;
        size_t got = 0;
        bool valid = true;
        for (size_t i = 0; i < len; i++) {
            text[i] = any_byte();
        }
        do {
            size_t written;
            struct nvtxt_slice rest = {text + at, len - at};
            size_t taken = printable_encode(out, room, rest, &written);
            cr_assert_leq(written, room);
            cr_assert(taken > 0 || len == 0);
            cr_assert_null(memchr(out, '\n', written));
            struct nvtxt_slice value = lexed(written);
            valid = valid && nvtxt_utf8_valid(value);
            got += printable_decode(back + got, value);
            at += taken;
        } while (at < len);
        cr_assert(valid);
        cr_assert(
            nvtxt_slice_equal((struct nvtxt_slice){back, got}, (struct nvtxt_slice){text, len}));
    }
}

Test(printable, cuts_no_character) {
    char text[300];
    for (size_t i = 0; i + 3 <= sizeof(text); i += 3) {
        memcpy(text + i, "\xE2\x82\xAC", 3);
    }
    for (size_t room = PRINTABLE_LEAST; room < PRINTABLE_LEAST + 6; room++) {
        size_t written;
        size_t taken =
            printable_encode(out, room, (struct nvtxt_slice){text, sizeof(text)}, &written);
        cr_assert_eq(taken % 3, 0);
        cr_assert_gt(taken, room - 10);
    }
}
