// SPDX-License-Identifier: Apache-2.0
//
// Each call of the sink becomes one line. A line may be the one whose call fails.
#include "tests/unit/recorder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(struct recorder *recorder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct recorder *recorder, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(recorder->text + recorder->len, sizeof(recorder->text) - recorder->len,
                        format, args);
    va_end(args);
    recorder->len += (size_t)len;
    cr_assert_lt(recorder->len, sizeof(recorder->text));
}

static void add_text(struct recorder *recorder, const char *label, struct nvtxt_slice text) {
    add(recorder, "%s'%.*s'", label, (int)text.len, text.data);
}

static int result(struct recorder *recorder) {
    add(recorder, "\n");
    return recorder->fail_after > 0 && --recorder->fail_after == 0 ? -EIO : 0;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct recorder *recorder = context;
    add(recorder, "%s %u.%u %" PRId64 "..%" PRId64,
        event->type == NVTXT_EVENT_MARK       ? "mark"
        : event->type == NVTXT_EVENT_PUSH_POP ? "push"
                                              : "start",
        event->pid, event->tid, event->start, event->end);
    add_text(recorder, " ", event->text);
    if (event->category) {
        add(recorder, " category=%u", event->category);
    }
    if (event->color) {
        add(recorder, " color=%08X", event->color);
    }
    if (event->domain.len) {
        add_text(recorder, " domain=", event->domain);
    }
    if (event->payload.kind == NVTXT_PAYLOAD_INT64) {
        add(recorder, " int=%" PRId64, event->payload.int64);
    }
    if (event->payload.kind == NVTXT_PAYLOAD_DOUBLE) {
        add(recorder, " real=%.17g", event->payload.real);
    }
    if (event->payload.kind == NVTXT_PAYLOAD_FLOAT) {
        add(recorder, " float=%.9g", event->payload.real);
    }
    if (event->payload.kind == NVTXT_PAYLOAD_UINT64 ||
        event->payload.kind == NVTXT_PAYLOAD_UINT32 || event->payload.kind == NVTXT_PAYLOAD_INT32) {
        add(recorder, " %s=%" PRId64,
            event->payload.kind == NVTXT_PAYLOAD_UINT64   ? "u64"
            : event->payload.kind == NVTXT_PAYLOAD_UINT32 ? "u32"
                                                          : "i32",
            event->payload.int64);
    }
    if (event->json.len) {
        add_text(recorder, " json=", event->json);
    }
    if (event->ended_elsewhere) {
        add(recorder, " by=%u.%u", event->end_pid, event->end_tid);
    }
    if (event->unclosed) {
        add(recorder, " unclosed");
    }
    if (event->open_seq) {
        add(recorder, " seq=%" PRIu64, event->open_seq);
    }
    if (event->key.len) {
        add(recorder, " key=%.*s", (int)event->key.len, event->key.data);
    }
    if (event->parent.len) {
        add(recorder, " parent=%.*s", (int)event->parent.len, event->parent.data);
    }
    return result(recorder);
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct recorder *recorder = context;
    if (name->kind == NVTXT_NAME_CATEGORY) {
        add(recorder, "name category %u", name->category);
    } else if (name->kind == NVTXT_NAME_THREAD) {
        add(recorder, "name thread %u.%u", name->pid, name->tid);
    } else if (name->kind == NVTXT_NAME_PROCESS) {
        add(recorder, "name process %u", name->pid);
    } else if (name->kind == NVTXT_NAME_RESOURCE) {
        add(recorder, "name resource %u %.*s %" PRIx64, name->pid, (int)name->resource_kind.len,
            name->resource_kind.data, name->handle);
    } else if (name->kind == NVTXT_NAME_COUNTER) {
        add(recorder, "name counter %u", name->pid);
    } else {
        add(recorder, "name domain");
    }
    add_text(recorder, " ", name->text);
    if (name->json.len) {
        add_text(recorder, " json=", name->json);
    }
    if (name->kind != NVTXT_NAME_DOMAIN && name->kind != NVTXT_NAME_THREAD && name->domain.len) {
        add_text(recorder, " domain=", name->domain);
    }
    if (name->kind == NVTXT_NAME_CATEGORY && name->own_pid) {
        add(recorder, " of %u", name->pid);
    }
    if (name->kind != NVTXT_NAME_PROCESS && name->kind != NVTXT_NAME_RESOURCE &&
        name->kind != NVTXT_NAME_COUNTER) {
        add(recorder, " at %" PRId64 " %u.%u", name->at, name->at_pid, name->at_tid);
    }
    return result(recorder);
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    struct recorder *recorder = context;
    add(recorder, "%" PRIu64 ":%u %s %s %s", diag->line, diag->column,
        nvtxt_severity_name(nvtxt_diag_severity(diag->code)),
        nvtxt_stage_name(nvtxt_diag_stage(diag->code)), nvtxt_diag_code_name(diag->code));
    return result(recorder);
}

void recorder_init(struct recorder *recorder) {
    recorder->sink = (struct nvtxt_sink){on_event, on_name, on_diag, recorder};
    recorder->len = 0;
    recorder->text[0] = '\0';
    recorder->fail_after = 0;
}

void recorder_take(struct recorder *recorder, const char *where, const char *wanted) {
    recorder->text[recorder->len] = '\0';
    cr_assert_str_eq(recorder->text, wanted, "%s\n--- found:\n%s--- wanted:\n%s", where,
                     recorder->text, wanted);
    recorder->len = 0;
}

void recorder_run(struct recorder *recorder, struct nvtxt_interp *interp, const char *lines) {
    while (*lines != '\0') {
        size_t len = strcspn(lines, "\n");
        int r = nvtxt_interp_line(interp, (struct nvtxt_slice){lines, len}, &recorder->sink);
        cr_assert_eq(r, 0, "%.*s", (int)len, lines);
        lines += len + (lines[len] == '\n');
    }
}
