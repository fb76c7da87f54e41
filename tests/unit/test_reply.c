// SPDX-License-Identifier: Apache-2.0
//
// The replies: what the daemon builds a client reads, and whatever else arrives is no reply.
#include "protocol/wire/reply.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "protocol/base/json.h"
#include "protocol/base/utf8.h"

#define ID "7f0c1a2b-0000-4000-8000-00000000000a"

static struct nvtxt_reply read_back(struct nvtxt_buf *out) {
    struct nvtxt_reply reply;
    cr_assert_eq(out->data[out->len - 1], '\n');
    cr_assert_eq(nvtxt_reply_parse((struct nvtxt_slice){out->data, out->len - 1}, &reply), 0);
    nvtxt_buf_deinit(out);
    return reply;
}

Test(reply, is_read_as_it_was_written) {
    struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    struct nvtxt_buf out = {0};
    struct nvtxt_welcome welcome = {.session = ID,
                                    .source = 42,
                                    .line = 512,
                                    .limits = &limits,
                                    .synchronous = "full",
                                    .version = "1.2.3",
                                    .control = "/c",
                                    .store = "/s"};
    nvtxt_reply_welcome(&out, &welcome);
    struct nvtxt_reply reply = read_back(&out);
    cr_assert_eq(reply.type, NVTXT_REPLY_WELCOME);
    cr_assert_eq(reply.protocol, 1);
    cr_assert_str_eq(reply.session, ID);
    cr_assert_eq(reply.source, 42);
    cr_assert_eq(reply.line, 512);
    cr_assert_eq(reply.line_bytes, 65536);
    cr_assert_str_eq(reply.synchronous, "full");
    cr_assert_eq(reply.nvtx, 0);
    cr_assert_str_eq(reply.version, "1.2.3");
    cr_assert(!reply.levels && !reply.escapes);
    welcome.nvtx = welcome.levels = welcome.escapes = true;
    nvtxt_reply_welcome(&out, &welcome);
    reply = read_back(&out);
    cr_assert_eq(reply.nvtx, 1);
    cr_assert(reply.levels && reply.escapes);
    cr_assert_str_eq(reply.synchronous, "full");

    nvtxt_reply_ack(&out, INT64_MAX);
    reply = read_back(&out);
    cr_assert_eq(reply.type, NVTXT_REPLY_ACK);
    cr_assert_eq(reply.line, INT64_MAX);

    nvtxt_reply_diagnostic(&out, 3, UINT32_MAX, "error", "lexing", "stray-byte",
                           "it's \"x\"\n\xc2\x9b\xc2\xa0");
    reply = read_back(&out);
    cr_assert_eq(reply.type, NVTXT_REPLY_DIAGNOSTIC);
    cr_assert_eq(reply.line, 3);
    cr_assert_eq(reply.column, UINT32_MAX);
    cr_assert_str_eq(reply.severity, "error");
    cr_assert_str_eq(reply.stage, "lexing");
    cr_assert_str_eq(reply.code, "stray-byte");
    cr_assert_str_eq(reply.message, "it's \"x\"  \xc2\xa0", "control characters become blanks");

    nvtxt_reply_end(&out, 9, 8, 7, 6, "expired");
    reply = read_back(&out);
    cr_assert_str_eq(reply.how, "expired");
    nvtxt_reply_end(&out, 9, 8, 7, 6, "");
    reply = read_back(&out);
    cr_assert_str_eq(reply.how, "");
    cr_assert_eq(reply.type, NVTXT_REPLY_END);
    cr_assert(reply.line == 9 && reply.events == 8 && reply.warnings == 7 && reply.errors == 6);

    nvtxt_reply_error(&out, NVTXT_ERROR_QUOTA, "too many");
    reply = read_back(&out);
    cr_assert_eq(reply.type, NVTXT_REPLY_ERROR);
    cr_assert_str_eq(reply.code, "quota");
    cr_assert_str_eq(reply.message, "too many");
}

static void read_paths(const char *control, const char *store, char paths[2][4096]) {
    struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    struct nvtxt_buf out = {0};
    nvtxt_reply_welcome(&out, &(struct nvtxt_welcome){.session = "",
                                                      .limits = &limits,
                                                      .synchronous = "full",
                                                      .version = "1.2.3",
                                                      .control = control,
                                                      .store = store});
    cr_assert_lt(out.len, 8192);
    cr_assert_eq(nvtxt_reply_paths((struct nvtxt_slice){out.data, out.len - 1}, paths[0], paths[1]),
                 0);
    read_back(&out);
}

Test(reply, paths_are_exact_or_left_out) {
    char paths[2][NVTXT_REPLY_PATH_BYTES], deep[4000] = "/", wild[4000] = "/";
    read_paths("/a \"b\"\n\xc3\xa4", "/s", paths);
    cr_assert_str_eq(paths[0], "/a \"b\"\n\xc3\xa4");
    cr_assert_str_eq(paths[1], "/s");
    read_paths("relative", "/not\xff", paths);
    cr_assert(!*paths[0] && !*paths[1]);
    memset(deep + 1, 'd', sizeof(deep) - 2);
    memset(wild + 1, '\1', sizeof(wild) - 2);
    read_paths(wild, deep, paths);
    cr_assert_str_eq(paths[0], "");
    cr_assert_str_eq(paths[1], deep);
    cr_assert_eq(nvtxt_reply_paths(NVTXT_SLICE("{\"type\":\"end\"}"), paths[0], paths[1]), 1);
    cr_assert_eq(nvtxt_reply_paths(NVTXT_SLICE("x"), paths[0], paths[1]), 1);
}

// A line of another daemon may hold a path of any length.
static void expect_control(size_t len, bool fits) {
    char paths[2][NVTXT_REPLY_PATH_BYTES], path[NVTXT_REPLY_PATH_BYTES + 1] = "/";
    struct nvtxt_buf line = {0};
    memset(path + 1, 'd', len - 1);
    path[len] = '\0';
    nvtxt_buf_add_pair_text(&line, "{\"type\":\"welcome\",\"control\":", path);
    nvtxt_buf_add_string(&line, "}");
    cr_assert_eq(nvtxt_reply_paths((struct nvtxt_slice){line.data, line.len}, paths[0], paths[1]),
                 0);
    cr_assert_str_eq(paths[0], fits ? path : "");
    nvtxt_buf_deinit(&line);
}

Test(reply, has_no_path_that_its_room_does_not_hold) {
    expect_control(NVTXT_REPLY_PATH_BYTES - 1, true);
    expect_control(NVTXT_REPLY_PATH_BYTES, false);
}

Test(reply, begins_with_its_type) {
    struct nvtxt_buf out = {0};
    nvtxt_reply_ack(&out, 512);
    cr_assert_eq(out.len, strlen("{\"type\":\"ack\",\"line\":512}\n"));
    cr_assert_arr_eq(out.data, "{\"type\":\"ack\",\"line\":512}\n", out.len);
    nvtxt_buf_deinit(&out);
}

Test(reply, of_a_later_version_is_other) {
    struct nvtxt_reply reply;
    cr_assert_eq(nvtxt_reply_parse(NVTXT_SLICE("{\"type\":\"hint\",\"line\":\"x\"}"), &reply), 0);
    cr_assert_eq(reply.type, NVTXT_REPLY_OTHER);
    cr_assert_eq(
        nvtxt_reply_parse(NVTXT_SLICE("{\"type\":\"ack\",\"line\":5,\"more\":[]}"), &reply), 0);
    cr_assert_eq(reply.line, 5);
}

Test(reply, that_is_none_is_refused) {
    static const char *const wrong[] = {
        "",
        "{}",
        "[]",
        "junk",
        "{\"type\":1}",
        "{\"type\":\"ack\"}",
        "{\"type\":\"ack\",\"line\":-1}",
        "{\"type\":\"ack\",\"line\":1.5}",
        "{\"type\":\"ack\",\"line\":18446744073709551615}",
        "{\"type\":\"welcome\",\"protocol\":1,\"line\":0}",
        "{\"type\":\"welcome\",\"protocol\":1,\"source\":1,\"line\":0,\"session\":5}",
        "{\"type\":\"diagnostic\",\"line\":1,\"column\":4294967296}",
        "{\"type\":\"diagnostic\",\"line\":1,\"column\":1,\"message\":{}}",
        "{\"type\":\"end\",\"line\":1}",
        "{\"type\":\"error\",\"code\":5}",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct nvtxt_reply reply;
        cr_assert_eq(nvtxt_reply_parse(nvtxt_slice_of(wrong[i]), &reply), 1, "%s", wrong[i]);
    }
}

Test(reply, strings_are_cut_at_a_character) {
    struct nvtxt_buf out = {0};
    char message[2048] = {0};
    for (size_t i = 0; i + 2 < sizeof(message); i += 2) {
        memcpy(message + i, "\xc3\xa4", 2);
    }
    nvtxt_reply_error(&out, "quota", message);
    struct nvtxt_reply reply = read_back(&out);
    cr_assert_eq(strlen(reply.message), 1022);
    cr_assert(nvtxt_utf8_valid(nvtxt_slice_of(reply.message)));
}

Test(reply, survives_deep_nesting_and_huge_numbers) {
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    struct nvtxt_reply reply;
    memset(text, '[', SIZE);
    cr_assert_eq(nvtxt_reply_parse((struct nvtxt_slice){text, SIZE}, &reply), 1);
    memset(text, '9', SIZE);
    cr_assert_eq(nvtxt_reply_parse((struct nvtxt_slice){text, SIZE}, &reply), 1);
    free(text);
}
