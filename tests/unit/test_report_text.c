// SPDX-License-Identifier: Apache-2.0
//
// The text format: each file tests/report/text/NAME.txt gives what is in NAME.out: the values that
// were read, or the messages. With NVTXT_GOLDEN_UPDATE set, the .out files are written.
#include "report/text/parse.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/lexer.h"
#include "tests/unit/report_text_kit.h"

static struct nvtxt_buf read_all(const char *path) {
    struct nvtxt_buf text = {0};
    FILE *file = fopen(path, "rb");
    if (file) {
        int byte;
        while ((byte = getc(file)) != EOF) {
            char c = (char)byte;
            nvtxt_buf_add(&text, &c, 1);
        }
        fclose(file);
    }
    nvtxt_buf_add(&text, "", 0);
    return text;
}

static struct nvtxt_buf run(struct nvtxt_slice text) {
    struct store_arena arena = {0};
    struct report_messages messages = {0};
    struct nvtxt_buf out = {0};
    void *message;
    int r = report_text_parse(&kit_type, text, "file", &arena, &messages, &message);
    cr_assert_eq(r, messages.errors > 0 ? NVTXT_WRONG : 0);
    if (r == 0) {
        kit_dump(&out, &kit_type, message, 0);
    }
    for (size_t i = 0; i < messages.count; i++) {
        report_message_write(&out, &messages.items[i]);
        nvtxt_buf_add_string(&out, "\n");
    }
    report_messages_deinit(&messages);
    store_arena_deinit(&arena);
    return out;
}

static void compare(const char *path, const char *expected_path) {
    struct nvtxt_buf text = read_all(path);
    struct nvtxt_buf out = run((struct nvtxt_slice){text.data, text.len});
    if (getenv("NVTXT_GOLDEN_UPDATE")) {
        FILE *file = fopen(expected_path, "wb");
        cr_assert(file && fwrite(out.data, 1, out.len, file) == out.len && fclose(file) == 0);
    }
    struct nvtxt_buf expected = read_all(expected_path);
    cr_expect(nvtxt_slice_equal((struct nvtxt_slice){out.data, out.len},
                                (struct nvtxt_slice){expected.data, expected.len}),
              "%s:\n%.*s", path, (int)out.len, out.data ? out.data : "");
    nvtxt_buf_deinit(&text);
    nvtxt_buf_deinit(&out);
    nvtxt_buf_deinit(&expected);
}

Test(report_text, gives_what_the_golden_files_say) {
    char folder[4096], path[5000], expected[5000];
    const char *top = getenv("top_srcdir");
    snprintf(folder, sizeof(folder), "%s/tests/report/text", top ? top : ".");
    DIR *dir = opendir(folder);
    cr_assert_not_null(dir);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (len > 4 && strcmp(entry->d_name + len - 4, ".txt") == 0) {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            snprintf(expected, sizeof(expected), "%s/%.*s.out", folder, (int)len - 4,
                     entry->d_name);
            compare(path, expected);
            count++;
        }
    }
    closedir(dir);
    cr_expect_geq(count, 40);
}

static void expect_out(const char *text, size_t len, const char *expected) {
    struct nvtxt_buf out = run((struct nvtxt_slice){text, len});
    nvtxt_buf_add(&out, "", 1);
    cr_expect_str_eq(out.data, expected);
    nvtxt_buf_deinit(&out);
}

Test(report_text, takes_a_file_of_one_mebibyte_and_no_byte_more) {
    static char text[REPORT_TEXT_MAX + 1];
    memset(text, '\n', sizeof(text));
    memcpy(text, "Name:''", 7);
    expect_out(text, sizeof(text) - 1, "Name: \"\" # 1:6\n");
    expect_out(text, sizeof(text), "file:1:1: error: the file has more than 1 MiB [too-large]\n");
}

Test(report_text, joins_many_strings_in_memory_of_their_size) {
    enum { PIECES = 20000 };
    struct nvtxt_buf text = {0};
    struct store_arena arena = {0};
    struct report_messages messages = {0};
    void *message = NULL;
    nvtxt_buf_add_string(&text, "Name:");
    for (unsigned i = 0; i < PIECES; i++) {
        nvtxt_buf_add_string(&text, " 'a'");
    }
    cr_assert_eq(report_text_parse(&kit_type, (struct nvtxt_slice){text.data, text.len}, "file",
                                   &arena, &messages, &message),
                 0);
    cr_expect_eq(((struct kit_message *)message)->name.text.len, PIECES);
    cr_expect_lt(store_arena_used(&arena), 1 << 20);
    report_messages_deinit(&messages);
    store_arena_deinit(&arena);
    nvtxt_buf_deinit(&text);
}

static void expect_depth(const char *open, const char *close, unsigned depth, bool good) {
    struct nvtxt_buf text = {0}, out;
    nvtxt_buf_add_string(&text, "Name: 'x' ");
    for (unsigned i = 0; i < depth; i++) {
        nvtxt_buf_add_string(&text, open);
    }
    for (unsigned i = 0; i < depth; i++) {
        nvtxt_buf_add_string(&text, close);
    }
    out = run((struct nvtxt_slice){text.data, text.len});
    nvtxt_buf_add(&out, "", 1);
    cr_expect_eq(!strstr(out.data, "[too-deep]"), good, "%u: %s", depth, out.data);
    cr_expect_eq(!strstr(out.data, "error"), good, "%u: %s", depth, out.data);
    nvtxt_buf_deinit(&text);
    nvtxt_buf_deinit(&out);
}

Test(report_text, takes_32_messages_in_each_other_and_no_more) {
    expect_depth("Inners{Name:''", "}", 32, true);
    expect_depth("Inners{Name:''", "}", 33, false);
    expect_depth("Widget{", "}", 32, true);
    expect_depth("Widget{", "}", 33, false);
    expect_depth("Widget<a:[", "]>", 32, true);
    expect_depth("Widget<a:[", "]>", 33, false);
    expect_depth("Widget:[", "]", 1000, false);
}

Test(report_text, tells_bytes_that_are_no_text) {
    expect_out("Name: 'x'\n \0", 12, "file:2:2: error: a NUL byte [syntax]\n");
    expect_out("Name: 'x'\n# \xFF\n", 15, "file:2:3: error: the file is not UTF-8 [not-utf8]\n");
    expect_out("Name: '\xC3", 8, "file:1:8: error: the file is not UTF-8 [not-utf8]\n");
    expect_out("", 0, "file:1:1: error: Test has no 'Name' [missing-field]\n");
}

Test(report_text, reads_any_cut_text) {
    static const char text[] =
        "Name: \"a\\u00e4\\xc3\\xa4\" 'b' Order: 0x10, Sizes: [-1, 07]; Ratio: -1.5e3f\n"
        "Inner < Name: 'x' Inners [{Name: 'y'}, <Name: 'z'>] > Widget { a [b.c] < > }";
    for (size_t i = 0; i <= sizeof(text) - 1; i++) {
        struct nvtxt_buf out = run((struct nvtxt_slice){text, i});
        nvtxt_buf_deinit(&out);
    }
}
