// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a log: the first byte chooses the time format and how the rest is cut into reads.
// The lines that come out are without fault for the interpreter, within the limit, their payload is
// a level or none, and their messages, decoded and put together, are the log again.
#include "tests/fuzz/replay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/text/textlog.h"
#include "protocol/interp/interp.h"

#define LINE_MAX TEXTLOG_LINE_LEAST

struct run {
    const char *log; // what has to come out
    size_t len, at;
    bool begun; // a message came
    char back[LINE_MAX];
};

static void expect(struct run *run, const char *bytes, size_t len) {
    must(len <= run->len - run->at && memcmp(run->log + run->at, bytes, len) == 0);
    run->at += len;
}

static void expect_level(const struct nvtxt_payload *payload) {
    must(payload->kind == NVTXT_PAYLOAD_NONE ||
         (payload->kind == NVTXT_PAYLOAD_INT64 && payload->int64 >= 0 && payload->int64 <= 7));
}

// A message is a line, or a piece of one: a piece never begins where a line ends.
static int on_event(void *context, const struct nvtxt_event *event) {
    struct run *run = context;
    if (run->begun && run->at < run->len && run->log[run->at] == '\n') {
        expect(run, "\n", 1);
    }
    run->begun = true;
    size_t len = printable_decode(run->back, event->text);
    must(!memchr(run->back, '\n', len));
    expect_level(&event->payload);
    expect(run, run->back, len);
    return 0;
}

static int on_name(void *context, const struct nvtxt_name *name) {
    (void)context;
    (void)name;
    return 0;
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    (void)diag;
    abort();
}

static void take(struct textlog *log, struct nvtxt_interp *interp, const struct nvtxt_sink *sink) {
    struct nvtxt_slice line;
    while (textlog_next(log, &line)) {
        must(line.len > 0 && line.len <= LINE_MAX + 1 && line.data[line.len - 1] == '\n');
        line.len--;
        must(!memchr(line.data, '\n', line.len));
        must(nvtxt_interp_line(interp, line, sink) == 0);
    }
}

static void run_log(struct textlog *log, size_t step, struct run *run) {
    struct nvtxt_sink sink = {on_event, on_name, on_diag, run};
    struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT, .escapes = true, .levels = true};
    config.limits.line_bytes = LINE_MAX;
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    must(interp != NULL);
    for (size_t at = 0; at < run->len;) {
        size_t room;
        char *to = textlog_space(log, &room);
        size_t n = run->len - at < step ? run->len - at : step;
        must(room >= n);
        memcpy(to, run->log + at, n);
        textlog_filled(log, n, 1763730000000000000);
        take(log, interp, &sink);
        at += n;
    }
    textlog_finish(log);
    take(log, interp, &sink);
    must(nvtxt_interp_end(interp, &sink) == 0);
    must(run->at + (run->len > 0 && run->log[run->len - 1] == '\n') == run->len);
    nvtxt_interp_free(interp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const formats[] = {
        NULL, "auto", "iso", "syslog", "epoch", "%*[%d/%b/%Y:%T %z]", "%T", "%a %j %I %p %f%s"};
    static const size_t steps[] = {1, 7, 100, 65536};
    struct textlog_options options = {.category = "fuzz"};
    struct textlog log;
    const char *fault;
    if (size == 0) {
        return 0;
    }
    const char *format = formats[data[0] % 8];
    options.has_stamp = format && timestamp_init(&options.stamp, format, &fault) == 0;
    must(!format || options.has_stamp);
    struct run run = {.log = (const char *)data + 1, .len = size - 1};
    must(textlog_init(&log, &options, NULL, 1, LINE_MAX) == 0);
    run_log(&log, steps[data[0] / 8 % 4], &run);
    textlog_deinit(&log);
    return 0;
}
