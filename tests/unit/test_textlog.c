// SPDX-License-Identifier: Apache-2.0
//
// Logs to markers, without any I/O: bytes become the same lines, pieces, times and colours however
// they come in. The interpreter of the daemon reads the markers back.
#include "client/text/textlog.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/utf8.h"
#include "protocol/interp/interp.h"

#define PID 77
#define HOUR (INT64_C(3600) * 1000000000)

// What the interpreter made of the lines: the bytes of the log again, and a text of each event.
static struct {
    char bytes[1 << 20]; // pieces of a line joined, LF between lines
    size_t len;
    char text[1 << 16];
    size_t text_len;
    uint64_t line;  // of the last event
    uint64_t at;    // line of the log that is being read
    char levels[8]; // of the first events, '-' for none
    unsigned events, faults;
} got;

static struct nvtxt_interp *interp;

static int on_event(void *context, const struct nvtxt_event *event) {
    (void)context;
    cr_assert_eq(event->pid, PID);
    cr_assert_eq(event->tid, PID);
    cr_assert_eq(event->start, event->end);
    cr_assert(nvtxt_utf8_valid(event->text));
    if (got.line > 0 && got.at != got.line) {
        got.bytes[got.len++] = '\n';
    }
    got.line = got.at;
    if (got.events < sizeof(got.levels) - 1) {
        bool has = event->payload.kind == NVTXT_PAYLOAD_INT64;
        got.levels[got.events] = has ? (char)('0' + event->payload.int64) : '-';
    }
    got.len += printable_decode(got.bytes + got.len, event->text);
    if (sizeof(got.text) - got.text_len > event->text.len + 80) {
        got.text_len += (size_t)sprintf(
            got.text + got.text_len, "%" PRId64 " %" PRIu64 " %08x %u %.*s\n", event->start, got.at,
            event->color, event->category, (int)event->text.len, event->text.data);
    }
    got.events++;
    return 0;
}

static int on_name(void *context, const struct nvtxt_name *name) {
    (void)context;
    got.text_len += (size_t)sprintf(got.text + got.text_len, "name %.*s\n", (int)name->text.len,
                                    name->text.data);
    return 0;
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    got.faults++;
    cr_log_error("%s", diag->message);
    return 0;
}

static void begin(size_t line_max) {
    struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT, .escapes = true, .levels = true};
    config.limits.line_bytes = line_max;
    got.len = got.text_len = got.line = got.at = got.events = got.faults = 0;
    got.text[0] = '\0';
    memset(got.levels, 0, sizeof(got.levels));
    interp = nvtxt_interp_new(&config);
    cr_assert_not_null(interp);
}

static void take_lines(struct textlog *log) {
    static const struct nvtxt_sink sink = {on_event, on_name, on_diag, NULL};
    struct nvtxt_slice line;
    while (textlog_has_next(log)) {
        cr_assert(textlog_next(log, &line));
        cr_assert_eq(line.data[line.len - 1], '\n');
        line.len--;
        got.at = log->lines;
        cr_assert_leq(line.len, log->line_max);
        cr_assert_null(memchr(line.data, '\n', line.len));
        cr_assert_eq(nvtxt_interp_line(interp, line, &sink), 0);
    }
    cr_assert_not(textlog_next(log, &line));
}

static void feed(struct textlog *log, const char *data, size_t len, int64_t now) {
    while (len > 0) {
        size_t size;
        char *at = textlog_space(log, &size);
        cr_assert_geq(size, TEXTLOG_READ);
        size = size < len ? size : len;
        memcpy(at, data, size);
        textlog_filled(log, size, now);
        take_lines(log);
        data += size;
        len -= size;
    }
}

static void end(struct textlog *log) {
    static const struct nvtxt_sink sink = {on_event, on_name, on_diag, NULL};
    textlog_finish(log);
    take_lines(log);
    cr_assert_eq(nvtxt_interp_end(interp, &sink), 0);
    nvtxt_interp_free(interp);
    textlog_deinit(log);
    cr_assert_eq(got.faults, 0);
}

static void wants(const char *text) {
    cr_assert_str_eq(got.text, text);
}

static struct textlog_options options;

static void start(struct textlog *log, size_t line_max) {
    begin(line_max);
    cr_assert_eq(textlog_init(log, &options, NULL, PID, line_max), 0);
}

static void feed_string(struct textlog *log, const char *text, int64_t now) {
    feed(log, text, strlen(text), now);
}

// ---- Lines and times ----------------------------------------------------------------------------

Test(textlog, makes_a_marker_of_each_line_also_of_empty_and_unfinished_ones) {
    struct textlog log;
    start(&log, 65536);
    feed_string(&log, "one\n\ntwo\r\nthr", 5);
    wants("5 1 00000000 0 one\n5 2 00000000 0 \n5 3 00000000 0 two\r\n");
    feed_string(&log, "ee", 9);
    end(&log);
    wants("5 1 00000000 0 one\n5 2 00000000 0 \n5 3 00000000 0 two\r\n5 4 00000000 0 three\n");
}

Test(textlog, gives_nothing_for_nothing) {
    struct textlog log;
    start(&log, 65536);
    end(&log);
    wants("");
}

Test(textlog, holds_a_partial_line_for_hours_with_the_time_of_its_first_byte) {
    struct textlog log;
    start(&log, 65536);
    feed_string(&log, "done\nwaiting", 1);
    feed_string(&log, " for", 5 * HOUR);
    wants("1 1 00000000 0 done\n");
    feed_string(&log, " ten hours\nnext", 10 * HOUR);
    feed_string(&log, "\nlast", 10 * HOUR + 1);
    feed_string(&log, "\n", 10 * HOUR + 2);
    end(&log);
    wants("1 1 00000000 0 done\n1 2 00000000 0 waiting for ten hours\n"
          "36000000000000 3 00000000 0 next\n36000000000001 4 00000000 0 last\n");
}

Test(textlog, names_its_category_before_the_first_line) {
    struct textlog log;
    char wanted[128];
    options.category = "it's a \"log\"";
    start(&log, 65536);
    feed_string(&log, "x\n", 1);
    end(&log);
    snprintf(wanted, sizeof(wanted), "name it's a \"log\"\n1 1 00000000 %u x\n",
             textlog_category("it's a \"log\""));
    cr_assert(strstr(got.text, wanted + strlen("name it's a \"log\"\n")), "%s", got.text);
    cr_assert(strstr(got.text, "name it's a \"log\"\n"), "%s", got.text);
    cr_assert_geq(textlog_category(""), 0x80000000u);
    cr_assert_neq(textlog_category("a"), textlog_category("b"));
}

Test(textlog, colours_lines_by_their_level_and_else_as_configured) {
    struct textlog log;
    options.color = 0xff000001;
    start(&log, 65536);
    feed_string(&log, "ERROR x\nplain\n<4>x\n", 1);
    end(&log);
    wants("1 1 ffff0000 0 ERROR x\n1 2 ff000001 0 plain\n1 3 ffffa500 0 <4>x\n");
}

Test(textlog, gives_a_line_its_level_and_all_of_its_pieces_the_same_and_its_time) {
    static char bytes[3000];
    struct textlog log;
    start(&log, TEXTLOG_LINE_LEAST);
    feed_string(&log, "ERROR x\nplain\n<4>x\n", 1);
    memset(bytes, 'x', sizeof(bytes));
    memcpy(bytes, "INFO ", 5);
    feed(&log, bytes, 1500, 2);
    feed(&log, bytes + 1500, 1500, 3);
    unsigned events = got.events;
    cr_assert_geq(events, 5);
    feed_string(&log, "\n", 4);
    end(&log);
    cr_assert_eq(got.events, 7);
    cr_assert_str_eq(got.levels, "3-46666");
    unsigned same = 0;
    for (const char *at = got.text; (at = strstr(at, "\n2 4 ")); at++) {
        same++;
    }
    cr_assert_eq(same, 4, "%s", got.text);
}

Test(textlog, takes_times_from_the_lines_and_counts_those_without) {
    struct textlog log;
    const char *fault;
    cr_assert_eq(timestamp_init(&options.stamp, "epoch", &fault), 0);
    options.has_stamp = true;
    start(&log, 65536);
    feed_string(&log, "no time yet\n1763730000.5 a\n  at line 3\n1763730001 b\nx", 7);
    end(&log);
    wants("7 1 00000000 0 no time yet\n1763730000500000000 2 00000000 0 1763730000.5 a\n"
          "1763730000500000000 3 00000000 0   at line 3\n"
          "1763730001000000000 4 00000000 0 1763730001 b\n1763730001000000000 5 00000000 0 x\n");
    start(&log, 65536);
    feed_string(&log, "1763730000 a\nb\nc\n", 7);
    cr_assert_eq(log.unstamped, 2);
    cr_assert_eq(log.first_unstamped, 2);
    end(&log);
}

// ---- Bytes --------------------------------------------------------------------------------------

static char any_byte(void) {
    static const char special[] = "'\"\\x5c80\0\r\n\n\n\xC3\xA4\xE2\x82";
    return rand() % 2 ? special[(size_t)rand() % (sizeof(special) - 1)] : (char)rand();
}

// The log without its last LF, which on_event() does not put back.
static void is_the_same(const char *bytes, size_t len, const char *how, size_t step) {
    len -= len > 0 && bytes[len - 1] == '\n';
    cr_assert_eq(got.len, len, "%s %zu: %zu bytes not %zu", how, step, got.len, len);
    cr_assert_arr_eq(got.bytes, bytes, len, "%s %zu", how, step);
}

Test(textlog, of_random_bytes_is_the_same_however_it_is_read) {
    int rounds = getenv("NVTXT_TEST_WRAPPER") ? 20 : 300; // valgrind
    srand(7);
    for (int round = 0; round < rounds; round++) {
        char bytes[600];
        struct textlog log;
        size_t len = 1 + (size_t)rand() % sizeof(bytes);
        static char whole[sizeof(got.text)];
        for (size_t i = 0; i < len; i++) {
            bytes[i] = any_byte();
        }
        bytes[0] = '#'; // an empty first line would not be seen in what is put together
        start(&log, TEXTLOG_LINE_LEAST);
        feed(&log, bytes, len, 1);
        end(&log);
        is_the_same(bytes, len, "whole", len);
        memcpy(whole, got.text, sizeof(whole));
        for (size_t cut = 1; cut < len; cut += 1 + (size_t)round % 7) {
            start(&log, TEXTLOG_LINE_LEAST);
            feed(&log, bytes, cut, 1);
            feed(&log, bytes + cut, len - cut, 1);
            end(&log);
            cr_assert_str_eq(got.text, whole, "cut at %zu", cut);
        }
        for (size_t step = 1; step < 4; step++) {
            start(&log, TEXTLOG_LINE_LEAST);
            for (size_t at = 0; at < len; at += step) {
                feed(&log, bytes + at, len - at < step ? len - at : step, 1);
            }
            end(&log);
            is_the_same(bytes, len, "steps of", step);
        }
    }
}

Test(textlog, splits_long_lines_in_the_same_places_and_loses_nothing) {
    static char bytes[300000];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = any_byte();
        bytes[i] = bytes[i] == '\n' ? 'n' : bytes[i];
    }
    unsigned events = 0;
    for (size_t step = 1009; step < 300000; step *= 7) {
        struct textlog log;
        start(&log, 65536);
        for (size_t at = 0; at < sizeof(bytes); at += step) {
            feed(&log, bytes + at, sizeof(bytes) - at < step ? sizeof(bytes) - at : step, 1);
        }
        cr_assert_eq(log.lines, 1);
        end(&log);
        is_the_same(bytes, sizeof(bytes), "steps of", step);
        cr_assert(events == 0 || events == got.events);
        events = got.events;
    }
    cr_assert_gt(events, 4);
}

Test(textlog, fills_a_line_to_the_limit_and_not_beyond) {
    char bytes[2 * TEXTLOG_LINE_LEAST];
    memset(bytes, 'x', sizeof(bytes));
    unsigned events = 0;
    for (size_t len = 1; len <= sizeof(bytes); len++) {
        struct textlog log;
        start(&log, TEXTLOG_LINE_LEAST);
        feed(&log, bytes, len, 1);
        feed(&log, "\n", 1, 1);
        end(&log);
        is_the_same(bytes, len, "length", len);
        cr_assert(got.events >= events);
        events = got.events;
    }
    cr_assert_eq(events, 3, "%u", events);
}

Test(textlog, of_an_endless_line_needs_no_more_memory_and_moves_on_in_time) {
    static char bytes[50000];
    memset(bytes, 'x', sizeof(bytes));
    struct textlog log;
    start(&log, 65536);
    size_t cap = log.cap;
    for (int i = 1; i <= 20; i++) {
        feed(&log, bytes, sizeof(bytes), i * HOUR);
    }
    cr_assert_eq(log.cap, cap);
    cr_assert_geq(got.events, 14);
    end(&log);
    cr_assert_eq(got.len, 20 * sizeof(bytes));
    cr_assert_eq(got.line, 1);
}

// ---- Other calls --------------------------------------------------------------------------------

Test(textlog, calls_cut_a_string_that_does_not_fit_and_say_so) {
    char out[1024];
    char string[5000];
    memset(string, '"', sizeof(string));
    size_t len = textlog_call(out, sizeof(out), "SetProcessName,1,", NVTXT_SLICE("a 'b'"), ",x");
    cr_assert(nvtxt_slice_equal((struct nvtxt_slice){out, len},
                                NVTXT_SLICE("SetProcessName,1,\"a 'b'\",x\n")));
    len = textlog_call(out, sizeof(out), "A,", (struct nvtxt_slice){string, sizeof(string)}, ",7");
    cr_assert_leq(len, sizeof(out));
    cr_assert_gt(len, sizeof(out) - 80);
    cr_assert_eq(memcmp(out, "A,'\"\"", 5), 0);
    out[len] = '\0';
    cr_assert(strstr(out, "\" (and 40"), "%s", out + len - 60);
    cr_assert_str_eq(out + len - strlen(" bytes)',7\n"), " bytes)',7\n");
}
