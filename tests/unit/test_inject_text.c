// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "inject/handles.h"
#include "inject/text.h"

static void equal(const wchar_t *wide, const char *wanted) {
    cr_assert_eq(text_bytes(wide), strlen(wanted));
    cr_assert_str_eq(TEXT_OF_WIDE(wide), wanted);
}

Test(inject_text, writes_each_length_of_utf8) {
    equal(NULL, "");
    equal(L"", "");
    equal(L"a\x7F", "a\x7F");
    equal(L"\x80\x7FF", "\xC2\x80\xDF\xBF");
    equal(L"\x800\xFFFF", "\xE0\xA0\x80\xEF\xBF\xBF");
    equal((wchar_t[]){0x10000, 0x10FFFF, 0}, "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

Test(inject_text, replaces_what_is_no_character) {
    equal((wchar_t[]){0xD7FF, 0xD800, 0xDFFF, 0xE000, 0},
          "\xED\x9F\xBF\xEF\xBF\xBD\xEF\xBF\xBD\xEE\x80\x80");
    equal((wchar_t[]){0x110000, -1, 0}, "\xEF\xBF\xBD\xEF\xBF\xBD");
}

Test(inject_text, cuts_at_a_character) {
    static wchar_t wide[TEXT_BYTES_MOST + 2];
    for (size_t i = 0; i < TEXT_BYTES_MOST + 1; i++) {
        wide[i] = 0x20AC;
    }
    cr_assert_eq(text_bytes(wide), TEXT_BYTES_MOST / 3 * 3);
    wide[0] = 'a';
    cr_assert_eq(text_bytes(wide), 1 + (TEXT_BYTES_MOST - 1) / 3 * 3);
    char text[8];
    cr_assert_str_eq(text_write(wide, 5, text), "a\xE2\x82\xAC"); // it was longer a moment ago
    cr_assert_str_eq(text_write(L"b", 5, text), "b");             // or shorter
}

Test(handles, are_zeroed_and_apart_whatever_their_size) {
    char *last = NULL;
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        char *memory = inject_alloc(size);
        cr_assert(memory && (uintptr_t)memory % 16 == 0);
        for (size_t i = 0; i < size; i++) {
            cr_assert_eq(memory[i], 0);
        }
        memset(memory, 0xFF, size);
        cr_assert(!last || *last == (char)0xFF);
        last = memory;
    }
}

Test(handles, are_none_without_memory) {
    errno = 12345;
    cr_assert_null(inject_alloc((size_t)1 << 60));
    cr_assert_eq(errno, 12345);
    cr_assert_not_null(inject_alloc(1));
}

Test(inject_strings, gives_the_same_text_the_same_handle) {
    struct inject_string *one = inject_string_new("a text", false);
    cr_assert_not_null(one);
    cr_assert_eq(inject_string_new("a text", false), one);
    cr_assert_neq(inject_string_new("another text", false), one);
    cr_assert_neq(inject_string_new("a text", true), one);
    cr_assert_eq(inject_string_new("a text", false), one);
    cr_assert_str_eq(one->text, "a text");
    cr_assert_eq(inject_string_new(NULL, false), inject_string_new("", false));
}

Test(inject_strings, keeps_so_much_and_counts_the_others) {
    static char text[4096];
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    size_t kept = 0, most = 96 * 256; // 96 MiB
    memset(text, 's', sizeof(text) - 1);
    for (; kept < most; kept++) {
        memcpy(text,
               &(char[3]){(char)('a' + kept % 26), (char)('a' + kept / 26 % 26),
                          (char)('A' + kept / 676)},
               3);
        if (!inject_string_new(text, false)) {
            break;
        }
    }
    cr_assert_gt(kept, 47 * 256);
    cr_assert_lt(kept, 49 * 256);
    nvtxt_get_stats(&stats);
    cr_assert_eq(stats.ignored, 1);
}
