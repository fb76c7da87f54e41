// SPDX-License-Identifier: Apache-2.0
//
// The client of a session with scripted replies: what it sends, and where it goes on after a break.
// A reply that contradicts the session never makes it lose a line or send one twice.
#include "client/session/sender.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define ID "7f0c1a2b-0000-4000-8000-00000000000a"
#define WELCOME(line)                                                                              \
    "{\"type\":\"welcome\",\"protocol\":1,\"session\":\"" ID "\",\"source\":1,\"line\":" line "}"  \
    "\n"
#define ACK(line) "{\"type\":\"ack\",\"line\":" line "}\n"
#define END(line) "{\"type\":\"end\",\"line\":" line ",\"events\":2,\"warnings\":0,\"errors\":1}\n"
#define DIAG(line, column)                                                                         \
    "{\"type\":\"diagnostic\",\"line\":" line ",\"column\":" column ",\"severity\":\"error\","     \
    "\"stage\":\"lexing\",\"code\":\"stray-byte\",\"message\":\"m\"}\n"

static char diags[256];

static void note_diag(void *context, const struct nvtxt_reply *diag) {
    size_t len = strlen(diags);
    (void)context;
    snprintf(diags + len, sizeof(diags) - len, "%llu:%u ", (unsigned long long)diag->line,
             diag->column);
}

static void begin(struct sender *sender) {
    struct nvtxt_hello hello = {.protocol = 1, .session = ID, .name = "n", .diagnostics = true};
    cr_assert_eq(sender_init(sender, &hello, 1 << 20), 0);
    sender->on_diag = note_diag;
    diags[0] = '\0';
}

static void feed(struct sender *sender, const char *text) {
    char *at;
    size_t size;
    cr_assert_eq(window_space(&sender->window, &at, &size), 0);
    cr_assert_geq(size, strlen(text));
    memcpy(at, text, strlen(text));
    cr_assert_eq(window_filled(&sender->window, strlen(text)), 0);
}

// All that the sender has to send, in pieces of `step` bytes.
static char *sent_in_steps(struct sender *sender, size_t step) {
    static char text[65536];
    size_t len = 0;
    struct iovec pieces[3];
    while (sender_output(sender, pieces, 3) > 0) {
        size_t n = pieces[0].iov_len < step ? pieces[0].iov_len : step;
        memcpy(text + len, pieces[0].iov_base, n);
        len += n;
        sender_wrote(sender, n);
    }
    text[len] = '\0';
    return text;
}

static char *sent(struct sender *sender) {
    return sent_in_steps(sender, 1 << 20);
}

static void hear(struct sender *sender, const char *text) {
    sender_received(sender, text, strlen(text));
}

static void connect_at(struct sender *sender, const char *welcome) {
    cr_assert_eq(sender_connected(sender), 0);
    cr_assert(strstr(sent(sender), "#nvtxt-session {"));
    hear(sender, welcome);
}

Test(sender, says_hello_then_waits_for_the_welcome) {
    struct sender sender;
    begin(&sender);
    feed(&sender, "a\nb\n");
    struct iovec piece;
    cr_assert_eq(sender_output(&sender, &piece, 1), 0, "nothing without a connection");
    cr_assert_eq(sender_connected(&sender), 0);
    cr_assert_str_eq(sent(&sender),
                     "#nvtxt-session {\"protocol\":1,\"session\":\"" ID "\",\"name\":\"n\"}\n");
    cr_assert_eq(sender_output(&sender, &piece, 1), 0);
    hear(&sender, WELCOME("0"));
    cr_assert_eq(sender.state, SENDER_STREAMING);
    cr_assert_str_eq(sent(&sender), "a\nb\n");
    sender_deinit(&sender);
    sender_deinit(&sender);
}

Test(sender, ends_with_the_end_line_once_the_input_is_over) {
    for (size_t step = 1; step < 30; step++) {
        struct sender sender;
        begin(&sender);
        connect_at(&sender, WELCOME("0"));
        feed(&sender, "a\nb");
        cr_assert_eq(sender_finish(&sender), 0);
        cr_assert_str_eq(sent_in_steps(&sender, step), "a\nb\n#nvtxt-end\n");
        hear(&sender, ACK("2") END("2"));
        cr_assert_eq(sender.state, SENDER_ENDED);
        cr_assert_eq(sender.end.events, 2);
        cr_assert_eq(sender.end.errors, 1);
        cr_assert_eq(sender.window.last - sender.window.acked, 0);
        sender_deinit(&sender);
    }
}

Test(sender, writes_lines_and_end_in_one_go) {
    struct sender sender;
    struct iovec pieces[4];
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "a\n");
    sender_finish(&sender);
    cr_assert_eq(sender_output(&sender, pieces, 4), 2);
    sender_wrote(&sender, pieces[0].iov_len + pieces[1].iov_len);
    cr_assert_eq(sender_output(&sender, pieces, 4), 0);
    hear(&sender, END("1"));
    cr_assert_eq(sender.state, SENDER_ENDED);
    sender_deinit(&sender);
}

#define LOG                                                                                        \
    "Marker,1,Manual,4,4,0,0,'a\\\\',''\nMarker,2,Manual,4,4,0,0,\"it's\",4\nSetCategoryName,5,''" \
    "\n"

static void begin_log(struct sender *sender, int64_t nvtx) {
    struct nvtxt_hello hello = {
        .protocol = 1, .session = ID, .escapes = true, .levels = true, .nvtx = nvtx};
    cr_assert_eq(sender_init(sender, &hello, 1 << 20), 0);
}

Test(sender, sends_no_empty_payload_to_a_daemon_without_levels) {
    for (size_t step = 1; step < 60; step++) {
        struct sender sender;
        begin_log(&sender, 0);
        feed(&sender, LOG);
        sender_finish(&sender);
        connect_at(&sender, WELCOME("0"));
        cr_assert(sender.lacks_levels);
        cr_assert_str_eq(sent_in_steps(&sender, step),
                         "Marker,1,Manual,4,4,0,0,'a\\\\',-1\nMarker,2,Manual,4,4,0,0,\"it's\",4\n"
                         "SetCategoryName,5,''\n#nvtxt-end\n");
        // The next daemon has levels, or has lines already.
        sender_disconnected(&sender);
        connect_at(&sender, "{\"type\":\"welcome\",\"protocol\":1,\"session\":\"" ID
                            "\",\"source\":1,\"line\":0,\"levels\":true,\"escapes\":true}\n");
        cr_assert_str_eq(sent_in_steps(&sender, step), LOG "#nvtxt-end\n");
        sender_disconnected(&sender);
        connect_at(&sender, WELCOME("2"));
        cr_assert_str_eq(sent_in_steps(&sender, step), "SetCategoryName,5,''\n#nvtxt-end\n");
        sender_deinit(&sender);
    }
}

Test(sender, stops_before_the_line_that_needs_what_the_daemon_lacks) {
    struct sender sender;
    begin_log(&sender, 0);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, LOG);
    cr_assert(strstr(sent(&sender), "SetCategoryName"));
    feed(&sender, "Marker,3,Manual,4,4,0,0,\"it's \\\"quoted\\\"\",''\nx = 1\n");
    sender_finish(&sender);
    cr_assert_str_eq(sent(&sender), "");
    cr_assert_eq(sender.unfit, 4);
    cr_assert_not(sender_is_stuck(&sender));
    hear(&sender, ACK("3"));
    cr_assert(sender_is_stuck(&sender));
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("3"));
    cr_assert_str_eq(sent(&sender), "");
    cr_assert(sender_is_stuck(&sender));
    sender_deinit(&sender);
}

Test(sender, sends_nothing_to_a_daemon_without_the_extension) {
    struct sender sender;
    begin_log(&sender, 1);
    feed(&sender, LOG);
    connect_at(&sender, WELCOME("0"));
    cr_assert_eq(sender.state, SENDER_TOO_OLD);
    cr_assert_str_eq(sent(&sender), "");
    sender_disconnected(&sender);
    cr_assert_eq(sender.state, SENDER_TOO_OLD);
    sender_deinit(&sender);
}

Test(sender, goes_on_after_the_committed_line) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "1\n2\n3\n4\n");
    cr_assert_str_eq(sent(&sender), "1\n2\n3\n4\n");
    hear(&sender, ACK("1"));
    sender_disconnected(&sender);
    cr_assert_eq(sender.state, SENDER_AWAY);
    feed(&sender, "5\n"); // input goes on while there is no daemon
    cr_assert_eq(sender_connected(&sender), 0);
    cr_assert(strstr(sent(&sender), "\"acked\":1}"), "the hello names the last acknowledged line");
    hear(&sender, WELCOME("3"));
    cr_assert_str_eq(sent(&sender), "4\n5\n");
    cr_assert_eq(sender.window.last - sender.window.acked, 2);
    sender_deinit(&sender);
}

Test(sender, sends_the_end_again_after_a_break) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "1\n2\n");
    sender_finish(&sender);
    sent(&sender);
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("1"));
    cr_assert_str_eq(sent(&sender), "2\n#nvtxt-end\n");
    sender_deinit(&sender);
}

Test(sender, is_done_when_the_session_had_ended_before_the_break) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "1\n");
    sender_finish(&sender);
    sent(&sender);
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("1") END("1"));
    cr_assert_eq(sender.state, SENDER_ENDED);
    sender_deinit(&sender);
}

Test(sender, forgets_half_a_line_and_half_a_reply_of_a_broken_connection) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "first\nsecond\n");
    sender_wrote(&sender, 8);
    hear(&sender, "{\"type\":\"ack\",");
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("1"));
    cr_assert_eq(sender.state, SENDER_STREAMING);
    cr_assert_str_eq(sent(&sender), "second\n");
    sender_deinit(&sender);
}

Test(sender, hands_each_diagnostic_on_once) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "1\n2\n3\n");
    sent(&sender);
    hear(&sender, DIAG("1", "1") ACK("1") DIAG("2", "1") DIAG("2", "5"));
    cr_assert_str_eq(diags, "1:1 2:1 2:5 ");
    cr_assert_eq(sender.seen_len, 2, "those of acknowledged lines are forgotten");
    sender_disconnected(&sender);
    // Lines up to 3 were committed; of their diagnostics only the last did not come through.
    connect_at(&sender, WELCOME("3") DIAG("2", "1") DIAG("2", "5") DIAG("3", "1"));
    cr_assert_str_eq(diags, "1:1 2:1 2:5 3:1 ");
    sender_deinit(&sender);
}

Test(sender, reads_replies_that_are_split_anywhere) {
    static const char replies[] = WELCOME("0") DIAG("1", "7") ACK("1");
    for (size_t cut = 1; cut < sizeof(replies) - 1; cut++) {
        struct sender sender;
        begin(&sender);
        feed(&sender, "1\n");
        cr_assert_eq(sender_connected(&sender), 0);
        sent(&sender);
        sender_received(&sender, replies, cut);
        sender_received(&sender, replies + cut, sizeof(replies) - 1 - cut);
        cr_assert_eq(sender.state, SENDER_STREAMING);
        cr_assert_str_eq(diags, "1:7 ");
        cr_assert_eq(sender.window.last - sender.window.acked, 0);
        sender_deinit(&sender);
    }
}

Test(sender, keeps_the_reason_of_a_refusal) {
    struct sender sender;
    begin(&sender);
    cr_assert_eq(sender_connected(&sender), 0);
    sent(&sender);
    hear(&sender, "{\"type\":\"error\",\"code\":\"quota\",\"message\":\"too many\"}\n" ACK("7"));
    cr_assert_eq(sender.state, SENDER_REFUSED);
    cr_assert_str_eq(sender.refusal.code, "quota");
    cr_assert_str_eq(sender.refusal.message, "too many");
    sender_disconnected(&sender);
    cr_assert_eq(sender.state, SENDER_AWAY);
    sender_deinit(&sender);
}

Test(sender, ignores_replies_of_a_later_version) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, "{\"type\":\"hint\",\"x\":1}\n" WELCOME("0") "{\"type\":\"news\"}\n");
    cr_assert_eq(sender.state, SENDER_STREAMING);
    sender_deinit(&sender);
}

Test(sender, is_confused_by_what_contradicts_the_session) {
    static const struct {
        const char *replies, *word;
    } cases[] = {
        {"hello\n", "no reply"},
        {"\n", "no reply"},
        {ACK("1"), "welcome"},
        {WELCOME("0") WELCOME("0"), "two welcomes"},
        {WELCOME("4"), "only 3"},
        {WELCOME("0") ACK("4"), "line 4"},
        {WELCOME("0") DIAG("4", "1"), "line 4"},
        {"{\"type\":\"welcome\",\"protocol\":9,\"source\":1,\"line\":0}\n", "protocol 9"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sender sender;
        begin(&sender);
        feed(&sender, "1\n2\n3\n");
        cr_assert_eq(sender_connected(&sender), 0);
        sent(&sender);
        hear(&sender, cases[i].replies);
        cr_assert_eq(sender.state, SENDER_CONFUSED, "%s", cases[i].replies);
        cr_assert(strstr(sender.refusal.message, cases[i].word), "%s", sender.refusal.message);
        sender_disconnected(&sender);
        cr_assert_eq(sender.state, SENDER_CONFUSED, "it stays so");
        sender_deinit(&sender);
    }
}

Test(sender, sends_the_rest_of_a_closed_session_in_another_one) {
    static const char other[] = "00000000-0000-4000-8000-000000000001";
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "1\n2\n3\n4\n");
    sent(&sender);
    hear(&sender, ACK("1"));
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("2") END("2"));
    cr_assert_eq(sender.state, SENDER_CLOSED);
    cr_assert_eq(sender.end.line, 2);
    sender_disconnected(&sender);
    cr_assert_eq(sender.state, SENDER_CLOSED, "it stays so");
    sender_renew(&sender, other, sender.end.line);
    cr_assert_eq(sender_connected(&sender), 0);
    cr_assert(strstr(sent(&sender), other));
    hear(&sender, WELCOME("0"));
    cr_assert_str_eq(sent(&sender), "3\n4\n");
    hear(&sender, DIAG("2", "7") ACK("1"));
    cr_assert_eq(sender.window.acked, 3);
    sender_disconnected(&sender);
    cr_assert_eq(sender_connected(&sender), 0);
    cr_assert(strstr(sent(&sender), "\"acked\":1"), "counted in the session that is spoken of");
    hear(&sender, WELCOME("1"));
    cr_assert_eq(sender_finish(&sender), 0);
    cr_assert_str_eq(sent(&sender), "4\n#nvtxt-end\n");
    hear(&sender, END("2"));
    cr_assert_eq(sender.state, SENDER_ENDED);
    cr_assert_eq(sender.end.line, 4);
    sender_deinit(&sender);
}

Test(sender, may_go_on_elsewhere_when_the_daemon_forgot) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, WELCOME("0"));
    feed(&sender, "1\n2\n3\n");
    sent(&sender);
    hear(&sender, ACK("2"));
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("0"));
    cr_assert_eq(sender.state, SENDER_CLOSED);
    cr_assert(sender.forgot);
    cr_assert_eq(sender.known, 0);
    cr_assert_eq(sender.end.line, 2);
    sender_renew(&sender, "another", sender.end.line);
    connect_at(&sender, WELCOME("0"));
    cr_assert_eq(sender.state, SENDER_STREAMING);
    cr_assert_str_eq(sent(&sender), "3\n");
    hear(&sender, ACK("1"));
    cr_assert_eq(sender.window.acked, 3);
    sender_disconnected(&sender);
    connect_at(&sender, WELCOME("0"));
    cr_assert_eq(sender.state, SENDER_CLOSED, "again");
    cr_assert_eq(sender.known, 2);
    cr_assert_eq(sender.end.line, 3);
    sender_deinit(&sender);
}

Test(sender, bounds_the_length_of_a_reply) {
    struct sender sender;
    char junk[4096];
    memset(junk, ' ', sizeof(junk));
    begin(&sender);
    cr_assert_eq(sender_connected(&sender), 0);
    sent(&sender);
    for (int i = 0; i < 17 && sender.state == SENDER_GREETING; i++) {
        sender_received(&sender, junk, sizeof(junk));
    }
    cr_assert_eq(sender.state, SENDER_CONFUSED);
    sender_deinit(&sender);
}

Test(sender, keeps_more_of_a_line_than_the_daemon_takes) {
    struct sender sender;
    begin(&sender);
    connect_at(&sender, "{\"type\":\"welcome\",\"protocol\":1,\"source\":1,\"line\":0,"
                        "\"limits\":{\"line\":5000000}}\n");
    cr_assert_eq(sender.window.line_max, 5000001);
    sender_deinit(&sender);
}

Test(sender, goes_on_after_what_only_the_spool_holds) {
    struct sender sender;
    begin(&sender);
    feed(&sender, "1\n2\n");
    sender.stored = 9; // the rest is on disk
    cr_assert_eq(sender_last(&sender), 9);
    connect_at(&sender, WELCOME("7"));
    cr_assert_eq(sender.state, SENDER_STREAMING);
    cr_assert_str_eq(sent(&sender), "", "line 8 is to come from the spool");
    cr_assert_eq(window_append(&sender.window, "8\n9\n", 4, 2), 0);
    cr_assert_eq(sender_finish(&sender), 0);
    cr_assert_str_eq(sent(&sender), "8\n9\n#nvtxt-end\n");
    hear(&sender, END("8"));
    cr_assert_eq(sender.state, SENDER_CLOSED, "there are nine");
    sender_deinit(&sender);
    begin(&sender);
    sender.stored = 9;
    connect_at(&sender, WELCOME("10"));
    cr_assert_eq(sender.state, SENDER_CONFUSED);
    sender_deinit(&sender);
}

Test(sender, resumes_a_session_of_another_process) {
    struct sender sender;
    begin(&sender);
    sender_resume(&sender, 4);
    sender.stored = 6;
    cr_assert_eq(sender_connected(&sender), 0);
    cr_assert(strstr(sent(&sender), "\"acked\":4}"));
    hear(&sender, WELCOME("8")); // the daemon had acknowledged more than reached the disk
    cr_assert_eq(sender.state, SENDER_STREAMING);
    cr_assert_eq(sender_finish(&sender), 0);
    cr_assert_str_eq(sent(&sender), "#nvtxt-end\n");
    hear(&sender, END("8"));
    cr_assert_eq(sender.state, SENDER_ENDED);
    sender_deinit(&sender);

    begin(&sender);
    sender_resume(&sender, 4);
    sender.stored = 6;
    connect_at(&sender, WELCOME("5"));
    hear(&sender, END("5")); // it was closed before all was there
    cr_assert_eq(sender.state, SENDER_CLOSED);
    sender_deinit(&sender);

    begin(&sender);
    sender_resume(&sender, 4);
    connect_at(&sender, WELCOME("3"));
    cr_assert_eq(sender.state, SENDER_CLOSED, "it forgot what it had acknowledged");
    cr_assert(sender.forgot);
    sender_deinit(&sender);
}
