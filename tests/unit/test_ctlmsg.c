// SPDX-License-Identifier: Apache-2.0
//
// Control messages: requests and replies, both directions, and what is refused.
#include "protocol/wire/ctlmsg.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static int parse(const char *text, struct nvtxt_ctl_request *request, char why[256]) {
    return nvtxt_ctl_request_parse(nvtxt_slice_of(text), request, why, 256);
}

static struct nvtxt_slice line_of(const struct nvtxt_buf *buf) {
    cr_assert_not(nvtxt_buf_failed(buf));
    cr_assert_eq(buf->data[buf->len - 1], '\n');
    cr_assert_null(memchr(buf->data, '\n', buf->len - 1));
    return (struct nvtxt_slice){buf->data, buf->len - 1};
}

Test(ctlmsg, reads_what_it_formats) {
    struct nvtxt_buf out = {0};
    struct nvtxt_ctl_request request;
    char why[256];
    json_t *arguments = json_pack("{s:s, s:i}", "path", "/a\nb", "id", 99);
    nvtxt_ctl_request_format(&out, 7, "snapshot", arguments);
    cr_assert_eq(nvtxt_ctl_request_parse(line_of(&out), &request, why, sizeof(why)), 0);
    cr_assert_eq(json_integer_value(request.id), 7,
                 "an argument must not replace a member of the request");
    cr_assert_str_eq(request.command, "snapshot");
    cr_assert_str_eq(json_string_value(json_object_get(request.object, "path")), "/a\nb");
    nvtxt_ctl_request_deinit(&request);
    json_decref(arguments);
    nvtxt_buf_deinit(&out);
}

Test(ctlmsg, takes_a_request_without_id) {
    struct nvtxt_ctl_request request;
    char why[256];
    cr_assert_eq(parse("{\"command\":\"help\",\"other\":[1]}", &request, why), 0);
    cr_assert_null(request.id);
    nvtxt_ctl_request_deinit(&request);
}

Test(ctlmsg, refuses_what_is_no_request_with_a_sentence) {
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "null",
        "{}",
        "{\"command\":1}",
        "{\"command\":\"\"}",
        "{\"command\":\"a\"",
        "{\"command\":\"a\",\"command\":\"b\"}",
        "{\"command\":\"01234567890123456789012345678901234567890123456789012345678901234\"}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct nvtxt_ctl_request request;
        char why[256] = "";
        cr_assert_eq(parse(bad[i], &request, why), 1, "%s", bad[i]);
        cr_assert_neq(why[0], '\0', "%s", bad[i]);
        cr_assert_null(request.object);
        nvtxt_ctl_request_deinit(&request);
    }
}

Test(ctlmsg, keeps_the_id_of_a_request_that_it_refuses) {
    struct nvtxt_ctl_request request;
    char why[256];
    cr_assert_eq(parse("{\"id\":5}", &request, why), 1);
    cr_assert_eq(json_integer_value(request.id), 5);
    nvtxt_ctl_request_deinit(&request);
}

Test(ctlmsg, repeats_an_id_of_any_kind) {
    static const char *const ids[] = {"0", "-9", "1.5", "\"a\\n\"", "true", "null", "[1,{}]"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct nvtxt_ctl_request request;
        struct nvtxt_buf out = {0};
        char why[256], text[64], want[64];
        snprintf(text, sizeof(text), "{\"id\":%s,\"command\":\"a\"}", ids[i]);
        snprintf(want, sizeof(want), "{\"id\":%s,\"ok\":true,\"result\":{}}\n", ids[i]);
        cr_assert_eq(parse(text, &request, why), 0, "%s", text);
        json_t *result = json_object();
        nvtxt_ctl_result_format(&out, request.id, result);
        cr_assert_eq(out.len, strlen(want), "%.*s", (int)out.len, out.data);
        cr_assert_arr_eq(out.data, want, out.len);
        json_decref(result);
        nvtxt_ctl_request_deinit(&request);
        nvtxt_buf_deinit(&out);
    }
}

Test(ctlmsg, a_reply_to_what_has_no_id_has_null) {
    struct nvtxt_buf out = {0};
    nvtxt_ctl_error_format(&out, NULL, NVTXT_CTL_FAILED, "no");
    cr_assert(strncmp(out.data, "{\"id\":null,", 11) == 0);
    nvtxt_buf_deinit(&out);
}

Test(ctlmsg, round_trips_a_result) {
    struct nvtxt_buf out = {0};
    struct nvtxt_ctl_reply reply;
    json_t *result = json_pack("{s:i}", "events", 12);
    json_t *id = json_integer(3);
    nvtxt_ctl_result_format(&out, id, result);
    cr_assert_eq(nvtxt_ctl_reply_parse(line_of(&out), &reply), 0);
    cr_assert_eq(reply.id, 3);
    cr_assert(reply.ok);
    cr_assert(json_equal(reply.result, result));
    nvtxt_ctl_reply_deinit(&reply);
    json_decref(id);
    json_decref(result);
    nvtxt_buf_deinit(&out);
}

Test(ctlmsg, round_trips_an_error) {
    struct nvtxt_buf out = {0};
    struct nvtxt_ctl_reply reply;
    nvtxt_ctl_error_format(&out, NULL, NVTXT_CTL_FAILED, "say \"no\"\n");
    cr_assert_eq(nvtxt_ctl_reply_parse(line_of(&out), &reply), 0);
    cr_assert_not(reply.ok);
    cr_assert_str_eq(reply.code, "failed");
    cr_assert_str_eq(reply.message, "say \"no\"\n");
    nvtxt_ctl_reply_deinit(&reply);
    nvtxt_buf_deinit(&out);
}

Test(ctlmsg, sends_an_error_that_is_not_utf8_and_cuts_no_character) {
    struct nvtxt_buf out = {0};
    struct nvtxt_ctl_reply reply;
    nvtxt_ctl_error_format(&out, NULL, NVTXT_CTL_FAILED, "LogLevel=\xE9: no");
    cr_assert_eq(nvtxt_ctl_reply_parse(line_of(&out), &reply), 0);
    cr_assert_str_eq(reply.message, "LogLevel=\xEF\xBF\xBD: no");
    nvtxt_ctl_reply_deinit(&reply);
    nvtxt_buf_clear(&out);
    char text[1100] = "";
    for (size_t i = 0; i < 999; i++) {
        text[i] = 'x';
    }
    memcpy(text + 999, "\xC3\xA9 more", 8);
    nvtxt_ctl_error_format(&out, NULL, NVTXT_CTL_FAILED, text);
    cr_assert_eq(nvtxt_ctl_reply_parse(line_of(&out), &reply), 0);
    cr_assert_eq(strlen(reply.message), 999);
    nvtxt_ctl_reply_deinit(&reply);
    nvtxt_buf_deinit(&out);
}

Test(ctlmsg, refuses_what_is_no_reply) {
    static const char *const bad[] = {"", "{}", "[true]", "{\"ok\":1}", "{\"ok\":true}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct nvtxt_ctl_reply reply;
        cr_assert_eq(nvtxt_ctl_reply_parse(nvtxt_slice_of(bad[i]), &reply), 1, "%s", bad[i]);
        nvtxt_ctl_reply_deinit(&reply);
    }
}

Test(ctlmsg, a_missing_result_marks_the_buffer_as_failed) {
    struct nvtxt_buf out = {0};
    nvtxt_ctl_result_format(&out, NULL, NULL);
    cr_assert(nvtxt_buf_failed(&out));
    nvtxt_buf_deinit(&out);
}
