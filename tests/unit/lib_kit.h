// SPDX-License-Identifier: Apache-2.0
//
// For tests of lib/ring: an interpreter of a session with `nvtx` that reads what the library makes.
// Any diagnostic fails the test. It keeps the last event and the last name.
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/catalog.h"
#include "lib/ring/line.h"
#include "protocol/interp/interp.h"

#define KIT_PID 7u
#define KIT_TEXT (128u << 10)

struct kit_text {
    size_t len;
    char data[KIT_TEXT];
};

static struct {
    struct region region;
    struct line_state lines;
    struct line_buf out;
    struct nvtxt_interp *interp;
    struct nvtxt_event event; // its slices are the texts here
    struct nvtxt_name name;
    struct kit_text text, domain, json, name_text, kind;
    unsigned events, names;
} kit;

static inline struct nvtxt_slice kit_copy(struct kit_text *to, struct nvtxt_slice from) {
    cr_assert_leq(from.len, KIT_TEXT);
    memcpy(to->data, from.len ? from.data : "", from.len);
    to->len = from.len;
    return (struct nvtxt_slice){to->data, to->len};
}

static inline int kit_on_event(void *context, const struct nvtxt_event *event) {
    (void)context;
    kit.event = *event;
    kit.event.text = kit_copy(&kit.text, event->text);
    kit.event.domain = kit_copy(&kit.domain, event->domain);
    kit.event.json = kit_copy(&kit.json, event->json);
    kit.events++;
    return 0;
}

static inline int kit_on_name(void *context, const struct nvtxt_name *name) {
    (void)context;
    if (name->kind != NVTXT_NAME_DOMAIN) {
        kit.name = *name;
        kit.name.text = kit_copy(&kit.name_text, name->text);
        kit.name.resource_kind = kit_copy(&kit.kind, name->resource_kind);
        kit.name.json = kit_copy(&kit.json, name->json);
        kit.names++;
    }
    return 0;
}

static inline int kit_on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    cr_assert(false, "line %llu, column %u: %s: %s", (unsigned long long)diag->line, diag->column,
              nvtxt_diag_code_name(diag->code), diag->message);
    return 0;
}

static const struct nvtxt_sink kit_sink = {kit_on_event, kit_on_name, kit_on_diag, NULL};

// Gives the interpreter what was written, and forgets it.
static inline void kit_read(void) {
    const char *at = kit.out.data, *end = kit.out.data + kit.out.len;
    for (const char *newline; at < end; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        cr_assert_not_null(newline);
        size_t len = (size_t)(newline - at);
        cr_assert_leq(len, kit.lines.limit, "%zu bytes", len);
        cr_assert_eq(nvtxt_interp_line(kit.interp, (struct nvtxt_slice){at, len}, &kit_sink), 0);
    }
    kit.out.len = 0;
}

static inline void kit_start_limited(size_t line, size_t variables) {
    struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT, .default_pid = KIT_PID, .escapes = true, .nvtx = true};
    config.limits.line_bytes = line;
    config.limits.variable_bytes = variables;
    kit.interp = nvtxt_interp_new(&config);
    kit.lines = (struct line_state){.limit = line, .variables = variables};
    cr_assert_not_null(kit.interp);
    cr_assert_eq(region_make(&kit.region, NULL, 64 << 10, 1 << 20), 0);
    cr_assert_eq(catalog_init(), 0);
    catalog_lock();
    cr_assert_eq(catalog_use(&kit.region, false), 0);
    catalog_unlock();
    kit.region.head->process = KIT_PID;
    line_begin(&kit.out);
    kit_read();
}

static inline void kit_start(void) {
    kit_start_limited(LINE_LIMIT, LINE_VARIABLES);
}

// Ends the source; open ranges are none of our tests' doing.
static inline void kit_end(void) {
    cr_assert_eq(nvtxt_interp_end(kit.interp, &kit_sink), 0);
    nvtxt_interp_free(kit.interp);
    region_unmap(&kit.region);
}

static inline void kit_record(const struct record_view *view, uint32_t tid) {
    line_record(&kit.out, &kit.lines, &kit.region, view, tid, 1000000);
    kit_read();
}

static inline void kit_is(struct nvtxt_slice text, const char *wanted) {
    cr_assert(nvtxt_slice_equal(text, nvtxt_slice_of(wanted)), "'%.*s' and not '%s'", (int)text.len,
              text.data, wanted);
}
