// SPDX-License-Identifier: Apache-2.0
//
// The daemon's replies as the library reads them: those that the daemon makes, and what is none.
#include "lib/send/session.h"

#include <criterion/criterion.h>
#include <string.h>

#include "protocol/base/buf.h"
#include "protocol/base/limits.h"
#include "protocol/wire/reply.h"

static bool read_text(const char *text, struct answer *answer) {
    return answer_read(text, strlen(text), answer);
}

#define ID "3f0d8c52-6a44-4f0f-9c1e-5d2f0b7a9e31"

// A reply that the daemon made, without its LF.
static struct answer read_made(struct nvtxt_buf *made) {
    struct answer answer;
    cr_assert(answer_read(made->data, made->len - 1, &answer));
    nvtxt_buf_deinit(made);
    return answer;
}

Test(answer, reads_a_welcome_and_its_limits) {
    struct nvtxt_buf made = {0};
    struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    limits.line_bytes = 4096;
    limits.variable_bytes = 5000;
    limits.push_depth = 17;
    limits.open_ranges = 18;
    nvtxt_reply_welcome(&made, &(struct nvtxt_welcome){.session = ID,
                                                       .source = 7,
                                                       .line = 12345,
                                                       .limits = &limits,
                                                       .synchronous = "full",
                                                       .version = "9.9.9",
                                                       .control = "/c",
                                                       .store = "/a \"b\" {",
                                                       .nvtx = true});
    struct answer answer = read_made(&made);
    cr_assert_eq(answer.type, ANSWER_WELCOME);
    cr_assert_eq(answer.line, 12345);
    cr_assert_eq(answer.nvtx, 1);
    cr_assert_eq(answer.line_bytes, 4096);
    cr_assert_eq(answer.variable_bytes, 5000);
    cr_assert_eq(answer.push_depth, 17);
    cr_assert_eq(answer.open_ranges, 18);
}

Test(answer, knows_a_daemon_without_the_extension) {
    struct nvtxt_buf made = {0};
    struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    nvtxt_reply_welcome(&made, &(struct nvtxt_welcome){.session = ID,
                                                       .limits = &limits,
                                                       .synchronous = "full",
                                                       .version = "9.9.9",
                                                       .control = "",
                                                       .store = ""});
    cr_assert_eq(read_made(&made).nvtx, 0);
}

Test(answer, reads_the_other_replies_of_the_daemon) {
    struct nvtxt_buf made = {0};
    nvtxt_reply_ack(&made, 512);
    struct answer answer = read_made(&made);
    cr_assert(answer.type == ANSWER_ACK && answer.line == 512);
    nvtxt_reply_end(&made, 600, 1, 2, 3, "expired");
    answer = read_made(&made);
    cr_assert(answer.type == ANSWER_END && answer.line == 600);
    nvtxt_reply_error(&made, NVTXT_ERROR_BUSY_SESSION, "a \"quoted\\\" message {");
    answer = read_made(&made);
    cr_assert(answer.type == ANSWER_ERROR && strcmp(answer.code, "busy-session") == 0);
    nvtxt_reply_diagnostic(&made, 1, 2, "error", "parsing", "bad-json", "a message");
    cr_assert_eq(read_made(&made).type, ANSWER_OTHER);
}

Test(answer, steps_over_what_it_does_not_know) {
    struct answer answer;
    cr_assert(read_text("{\"a\":[1,{\"line\":9},[\"]\"]],\"type\":\"ack\",\"b\":null,\"c\":-1.5e3,"
                        "\"line\":3,\"d\":{\"nvtx\":4},\"e\":\"\\\"}\"}",
                        &answer));
    cr_assert(answer.type == ANSWER_ACK && answer.line == 3 && answer.nvtx == 0);
    cr_assert(read_text(" { \"type\" : \"new\" } ", &answer));
    cr_assert_eq(answer.type, ANSWER_OTHER);
    cr_assert(read_text(
        "{\"type\":\"error\",\"code\":\"0123456789012345678901234567890123456789\"}", &answer));
    cr_assert_eq(strlen(answer.code), sizeof(answer.code) - 1);
}

Test(answer, refuses_what_is_no_reply) {
    static const char *const texts[] = {
        "",
        "{",
        "}",
        "[]",
        "null",
        "{\"type\":\"ack\"",
        "{\"type\":\"ack\"}}",
        "{\"type\":ack}",
        "{\"type\":\"ack\",\"line\":-1}",
        "{\"type\":\"ack\",\"line\":1.5}",
        "{\"type\":\"ack\",\"line\":18446744073709551616}",
        "{\"type\":\"ack\",\"line\":\"1\"}",
        "{\"type\":\"ack\" \"line\":1}",
        "{\"type\":\"ack\",}",
        "{\"a\":\"\\",
        "{\"a\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}",
        "{\"limits\":1}",
        "{\"a\":}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct answer answer;
        cr_assert(!read_text(texts[i], &answer), "%s", texts[i]);
    }
}
