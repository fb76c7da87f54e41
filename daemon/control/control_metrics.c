// SPDX-License-Identifier: Apache-2.0
//
// The control command `metrics`: totals (stats.h) and what the writer published, in the text format
// of Prometheus, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
// Names follow its rules: our prefix, base units, `_total` for what only grows. No metric has a
// label for each source, because the number of sources has no bound.
#include "daemon/control/control_cmds.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "protocol/base/clock.h"

__attribute__((format(printf, 2, 3))) static void add(struct nvtxt_buf *out, const char *format,
                                                      ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text)) {
        out->failed = true;
    } else {
        nvtxt_buf_add(out, text, (size_t)len);
    }
}

static void add_head(struct nvtxt_buf *out, const char *name, const char *end, const char *type,
                     const char *help) {
    add(out, "# HELP nvtxtd_%s%s %s\n# TYPE nvtxtd_%s%s %s\n", name, end, help, name, end, type);
}

// The name of a total may end in "_total" already.
static void add_total(struct nvtxt_buf *out, const char *name, uint64_t value, const char *help) {
    static const char total[] = "_total";
    size_t len = strlen(name);
    bool named = len >= sizeof(total) && strcmp(name + len - (sizeof(total) - 1), total) == 0;
    add_head(out, name, named ? "" : total, "counter", help);
    add(out, "nvtxtd_%s%s %" PRIu64 "\n", name, named ? "" : total, value);
}

static void add_gauge(struct nvtxt_buf *out, const char *name, int64_t value, const char *help) {
    add_head(out, name, "", "gauge", help);
    add(out, "nvtxtd_%s %" PRId64 "\n", name, value);
}

// In seconds with a fraction, the unit that Prometheus asks for.
static void add_time(struct nvtxt_buf *out, const char *name, int64_t ns, const char *help) {
    add_head(out, name, "", "gauge", help);
    add(out, "nvtxtd_%s %" PRId64 ".%09" PRId64 "\n", name, ns / 1000000000, ns % 1000000000);
}

// A label's value: backslash, quote and line feed are escaped.
static void add_label(struct nvtxt_buf *out, const char *before, const char *value) {
    nvtxt_buf_add(out, before, strlen(before));
    nvtxt_buf_add(out, "=\"", 2);
    for (; *value; value++) {
        const char *escaped = *value == '\\'   ? "\\\\"
                              : *value == '"'  ? "\\\""
                              : *value == '\n' ? "\\n"
                                               : NULL;
        nvtxt_buf_add(out, escaped ?: value, escaped ? 2 : 1);
    }
    nvtxt_buf_add(out, "\"", 1);
}

static void add_info(struct nvtxt_buf *out, const struct conf *config) {
    add_head(out, "info", "", "gauge", "The running daemon, always 1.");
    add_label(out, "nvtxtd_info{version", PACKAGE_VERSION);
    add_label(out, ",store", config->store);
    add_label(out, ",synchronous", conf_synchronous_name(config));
    add(out, "} 1\n");
}

struct removed_kind {
    const char *name, *help;
    size_t offset; // in struct removed_count
};

static void add_removed(struct nvtxt_buf *out, const struct removed *removed) {
    static const struct removed_kind kinds[] = {
        {"removed_segments", "Segments of the store that retention removed, by key.",
         offsetof(struct removed_count, segments)},
        {"removed_events", "Events in them.", offsetof(struct removed_count, events)},
        {"removed_bytes", "Bytes of their files.", offsetof(struct removed_count, bytes)},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        add_head(out, kinds[i].name, "_total", "counter", kinds[i].help);
        for (int key = 0; key < STORE_RETENTION_KEYS; key++) {
            const char *count = (const char *)&removed->by[key];
            add(out, "nvtxtd_%s_total{by=\"%s\"} %" PRId64 "\n", kinds[i].name,
                store_retention_key_name((enum store_retention_key)key),
                *(const int64_t *)(count + kinds[i].offset));
        }
    }
}

static void add_writer(struct nvtxt_buf *out, struct server *server) {
    struct writer_state state;
    bqueue_get_state(&server->hub.queue, &state);
    add_gauge(out, "store_size_bytes", state.store_bytes, "Size of the store's main file.");
    add_gauge(out, "wal_size_bytes", state.wal_bytes, "Size of the store's write-ahead log.");
    add_gauge(out, "queue_depth", (int64_t)bqueue_depth(&server->hub.queue),
              "Jobs that the writer has not begun.");
    add_gauge(out, "in_flight_bytes", (int64_t)server->hub.batcher.in_flight,
              "Memory of what the writer has and has not committed.");
    add_gauge(out, "memory_budget_bytes", (int64_t)server->hub.batcher.budget,
              "Bytes in flight at which reading stops.");
    add_total(out, "commits", state.commits, "Transactions committed.");
    add_time(out, "last_commit_timestamp_seconds", state.committed_ns,
             "Time of the last commit, in Unix time; 0 before the first one.");
    add_gauge(out, "store_in_trouble", state.in_trouble,
              "1 while commits fail and are tried again.");
    add_total(out, "rotations", state.rotations, "Times that the store went on in a new segment.");
    add_removed(out, &state.removed);
    if (state.losses >= 0) {
        add_gauge(out, "loss_rows", state.losses, "Rows of NVTXT_LOSSES; 0 when nothing was lost.");
    }
}

static void add_server(struct nvtxt_buf *out, struct server *server) {
    int64_t uptime_ns = nvtxt_boottime_ns() - server->hub.started_ns;
    add_time(out, "uptime_seconds", uptime_ns, "Time since the daemon started.");
    add_gauge(out, "open_connections", (int64_t)server->conn_count, "Data connections open now.");
    add_gauge(out, "open_sources", (int64_t)server->hub.sources.count, "Sources connected now.");
    add_gauge(out, "open_sessions", (int64_t)server->sessions.count, "Sessions connected now.");
}

static void add_totals(struct nvtxt_buf *out, const struct stats *stats) {
#define X(name, meaning) add_total(out, #name, stats->name, meaning);
    STATS(X)
#undef X
}

void control_metrics(struct control_call *call) {
    struct nvtxt_buf out = {0};
    add_info(&out, call->server->hub.config);
    add_server(&out, call->server);
    add_writer(&out, call->server);
    add_totals(&out, &call->server->hub.stats);
    nvtxt_buf_add(&out, "", 1);
    json_t *text = nvtxt_buf_failed(&out) ? NULL : control_text(out.data);
    nvtxt_buf_deinit(&out);
    control_reply(call, text ? json_pack("{s:o}", "text", text) : NULL);
}
