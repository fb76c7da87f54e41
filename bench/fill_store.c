// SPDX-License-Identifier: Apache-2.0
//
// The store without a daemon: batches of 10,000 events, as in the plain loop, are filled, written
// and committed. With FIRST and LAST (Unix time in ns) the events are spread evenly over that time.
//
//   fill_store KIND EVENTS FILE [FIRST LAST]      prints the events per second; FILE must not exist
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "bench/workload.h"
#include "store/store.h"

#define USAGE "fill_store KIND EVENTS FILE [FIRST LAST]"
#define EVENTS_A_BATCH UINT64_C(10000)

struct fill {
    struct store *store;
    struct store_batch *batch;
    struct store_source source;
    struct nvtxt_counters counters;
    bool spread;
    int64_t first;
    double step;
};

static void must(const struct fill *fill, int r) {
    if (r != 0) {
        errx(EX_IOERR, "%s", store_error(fill->store));
    }
}

static struct workload_row *make_rows(enum workload_kind kind, uint64_t first, uint64_t count) {
    struct workload_row *rows = calloc(count, sizeof(*rows));
    if (!rows) {
        err(EX_OSERR, "rows");
    }
    for (uint64_t i = 0; i < count; i++) {
        workload_row(kind, first + i, &rows[i]);
    }
    return rows;
}

static void add(struct fill *fill, const struct nvtxt_sink *sink, const struct workload_row *row) {
    struct nvtxt_event event = {
        .type = row->type,
        .pid = WORKLOAD_PID,
        .tid = row->tid,
        .category = row->category,
        .color = row->color,
        .start = row->start,
        .end = row->end,
        .text = {row->text, (size_t)row->text_bytes},
        .payload = row->payload,
    };
    struct nvtxt_counters *counters = &fill->counters;
    if (fill->spread) {
        event.start = fill->first + (int64_t)((double)counters->events * fill->step);
        event.end = event.start + (row->end - row->start);
    }
    if (!counters->has_time) {
        counters->has_time = true;
        counters->first_ns = event.start;
    }
    counters->last_ns = event.end;
    counters->lines++;
    counters->events++;
    if (sink->on_event(sink->context, &event) < 0) {
        errx(EX_OSERR, "memory");
    }
}

// One batch, one transaction. Returns the seconds that it took.
static double add_batch(struct fill *fill, const struct workload_row *rows, uint64_t count) {
    struct nvtxt_sink sink;
    double started = workload_seconds();
    struct store_batch_source *share = store_batch_source(fill->batch, &fill->source);
    if (!share) {
        errx(EX_OSERR, "memory");
    }
    store_batch_sink(share, &sink);
    for (uint64_t i = 0; i < count; i++) {
        add(fill, &sink, &rows[i]);
    }
    if (store_batch_progress(share, &fill->counters, (struct nvtxt_slice){0}) < 0) {
        errx(EX_OSERR, "memory");
    }
    must(fill, store_begin(fill->store));
    must(fill, store_write(fill->store, fill->batch));
    must(fill, store_commit(fill->store));
    store_batch_reset(fill->batch);
    return workload_seconds() - started;
}

int main(int argc, char **argv) {
    const struct store_options options = {.file_mode = 0640};
    struct fill fill = {0};
    char error[512];
    if (argc != 4 && argc != 6) {
        errx(EX_USAGE, "usage: %s", USAGE);
    }
    enum workload_kind kind = workload_kind_of(argv[1]);
    uint64_t count = workload_number(argv[2], USAGE);
    if (argc == 6) {
        fill.spread = true;
        fill.first = (int64_t)workload_number(argv[4], USAGE);
        fill.step = (double)((int64_t)workload_number(argv[5], USAGE) - fill.first) / (double)count;
    }
    if (access(argv[3], F_OK) == 0) {
        errx(EX_CANTCREAT, "%s: exists", argv[3]);
    }
    if (store_open(&fill.store, argv[3], &options, error, sizeof(error)) != 0) {
        errx(EX_CANTCREAT, "%s", error);
    }
    fill.batch = store_batch_new();
    if (!fill.batch) {
        err(EX_OSERR, "memory");
    }
    fill.source.id = store_next_source_id(fill.store);
    fill.source.kind = STORE_SOURCE_FILE;
    double seconds = 0;
    for (uint64_t i = 0; i < count; i += EVENTS_A_BATCH) {
        uint64_t n = count - i < EVENTS_A_BATCH ? count - i : EVENTS_A_BATCH;
        struct workload_row *rows = make_rows(kind, i, n);
        seconds += add_batch(&fill, rows, n);
        free(rows);
    }
    store_batch_free(fill.batch);
    store_close(fill.store);
    printf("%.0f\n", (double)count / seconds);
    return 0;
}
