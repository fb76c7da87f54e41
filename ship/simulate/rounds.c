// SPDX-License-Identifier: Apache-2.0
//
// A round of a host that is none: the statements of ship/round.c, in their order, for rows that are
// made here. Row N of a store says N as its payload; when it was committed follows from N, so a
// round that is made again has the same rows.
#include <inttypes.h>
#include <string.h>

#include "protocol/base/clock.h"
#include "ship/rows/rows.h"
#include "ship/simulate/inner.h"

#define CHUNK_ROWS 2048 // as a follower hands them out
#define CHANGES_MS 5000 // as ship/follow.c has it
#define SEGMENT 1

#define SOURCE INT64_C(1)
#define GLOBAL_TID (INT64_C(1000) << 24 | 1001)

int64_t host_made(const struct run *run, const struct host *host, int64_t now_ns) {
    int64_t ns = now_ns - run->begun_ns, rate = run->wishes->rate;
    int64_t most = run->wishes->for_ms * NVTXT_NS_A_MS;
    ns = nvtxt_earlier(ns, most);
    return host->first + ns / NVTXT_NS_A_SECOND * rate +
           ns % NVTXT_NS_A_SECOND * rate / NVTXT_NS_A_SECOND;
}

// When a row was made, in ns after the rounds began. Rows of an earlier run, which a server that
// fell back lost, are as old as its beginning.
static int64_t made_ns(const struct run *run, const struct host *host, int64_t row) {
    int64_t n = row - host->first, rate = run->wishes->rate;
    return n <= 0 ? 0 : n / rate * NVTXT_NS_A_SECOND + n % rate * NVTXT_NS_A_SECOND / rate;
}

static void make_row(const struct run *run, const struct host *host, int64_t row,
                     struct store_follow_event *event) {
    static const char *const texts[] = {"GET /",         "GET /orders",    "POST /order",
                                        "read document", "query stock",    "render page",
                                        "write journal", "wait for a lock"};
    uint64_t chance = (uint64_t)row * UINT64_C(0x9e3779b97f4a7c15);
    int64_t ns = run->begun_real_ns + made_ns(run, host, row);
    *event = (struct store_follow_event){
        .event = {.row = row,
                  .type = NVTXT_EVENT_PUSH_POP,
                  .start = ns - 100000 - (int64_t)(chance >> 40), // up to 17 ms
                  .end = ns,
                  .global_tid = GLOBAL_TID,
                  .text = nvtxt_slice_of(texts[chance >> 61]),
                  .payload = {.kind = NVTXT_PAYLOAD_INT64, .int64 = row}},
        .source_id = SOURCE,
        .batch = row,
        .committed_ns = ns};
}

// ---- Events -------------------------------------------------------------------------------------

static enum failure_class no_memory(struct worker *worker) {
    return failure_set(&worker->failure, FAILURE_MEMORY, "out of memory");
}

static enum failure_class put(struct worker *worker) {
    struct nvtxt_buf *bytes = &worker->bytes;
    if (nvtxt_buf_failed(bytes)) {
        return no_memory(worker);
    }
    enum failure_class class =
        worker_failed(worker, pg_copy_put(worker->pg, bytes->data, bytes->len));
    nvtxt_buf_clear(bytes);
    return class;
}

static enum failure_class begin_copy(struct worker *worker, unsigned columns) {
    struct nvtxt_buf *bytes = &worker->bytes;
    nvtxt_buf_clear(bytes);
    rows_copy_sql(bytes, columns);
    if (nvtxt_buf_failed(bytes)) {
        return no_memory(worker);
    }
    enum failure_class class = worker_failed(worker, pg_copy_begin(worker->pg, bytes->data));
    nvtxt_buf_clear(bytes);
    rows_begin(bytes);
    return class;
}

static enum failure_class end_copy(struct worker *worker) {
    rows_end(&worker->bytes);
    enum failure_class class = put(worker);
    return class ?: worker_failed(worker, pg_copy_end(worker->pg));
}

// Up to the row `last`.
static enum failure_class copy_rows(struct worker *worker, const struct host *host, int64_t last) {
    const struct rows_home home = {.store_id = host->store_id, .segment = SEGMENT};
    struct store_follow_event event;
    int64_t copied = 0;
    make_row(worker->run, host, last, &event);
    unsigned columns = rows_needed(&event, 1);
    enum failure_class class = begin_copy(worker, columns);
    for (int64_t row = host->place.event_row + 1; class == FAILURE_NONE && row <= last; row++) {
        make_row(worker->run, host, row, &event);
        rows_add(&worker->bytes, &home, columns, &event);
        if ((row - host->place.event_row) % CHUNK_ROWS == 0) {
            copied += (int64_t)worker->bytes.len;
            class = put(worker);
            if (class == FAILURE_NONE && copied >= COPY_BYTES && row < last) {
                copied = 0;
                class = end_copy(worker);
                class = class ?: begin_copy(worker, columns);
            }
        }
    }
    return class ?: end_copy(worker);
}

// ---- The other tables ---------------------------------------------------------------------------

static struct store_maybe some(int64_t value) {
    return (struct store_maybe){.is_set = true, .value = value};
}

// The source, whose counts change, and once the names.
static enum failure_class tell(struct worker *worker, const struct host *host, int64_t last) {
    const struct store_follow_source source = {.id = SOURCE,
                                               .kind = nvtxt_slice_of("socket"),
                                               .name = nvtxt_slice_of("simulated"),
                                               .peer_comm = nvtxt_slice_of("simulated"),
                                               .peer_pid = some(GLOBAL_TID >> 24),
                                               .opened_ns = some(worker->run->begun_real_ns),
                                               .lines = some(last),
                                               .events = some(last)};
    const struct store_follow_name process = {GLOBAL_TID >> 24, nvtxt_slice_of("simulated")};
    const struct store_follow_name thread = {GLOBAL_TID, nvtxt_slice_of("main")};
    struct small *small = &worker->small;
    enum failure_class class = small_rows(small, STORE_FOLLOW_SOURCES, &source, 1);
    if (class == FAILURE_NONE && !host->is_told) {
        class = small_rows(small, STORE_FOLLOW_PROCESSES, &process, 1);
        class = class ?: small_rows(small, STORE_FOLLOW_THREADS, &thread, 1);
    }
    return worker_failed(worker, class);
}

// ---- The round ----------------------------------------------------------------------------------

static void prepare_small(struct worker *worker, const struct host *host) {
    const struct schema_facts *facts = &worker->run->facts;
    worker->small.pg = worker->pg;
    worker->small.store_id = host->store_id;
    worker->small.segment = SEGMENT;
    worker->small.adds_logs = facts->may_add_logs;
    worker->small.frees = facts->version > 1;
    worker->small.adds_parents = facts->version > 2;
}

static enum failure_class commit(struct worker *worker, const struct host *host,
                                 const struct cursor_step *step) {
    bool goes_on = step->behind_rows > 0;
    enum failure_class class = worker_failed(worker, cursor_move(worker->pg, host->store_id, step));
    return class ?: worker_failed(worker, cursor_commit(worker->pg, goes_on));
}

static enum failure_class ship(struct worker *worker, const struct host *host, bool changes,
                               struct cursor_step *step) {
    const struct store_follow_segment segment = {.number = SEGMENT, .name = "simulated"};
    const struct cursor cursor = {.store_id = host->store_id, .place = host->place};
    struct cursor_span span;
    enum failure_class class =
        worker_failed(worker, cursor_lock(worker->pg, &cursor, worker->run->self, &span));
    class = class ?: copy_rows(worker, host, step->place.event_row);
    if (class) {
        return class;
    }
    prepare_small(worker, host);
    class = worker_failed(
        worker, small_segment(&worker->small, &segment, step->events, step->committed_ns, false));
    if (class == FAILURE_NONE && changes) {
        class = tell(worker, host, step->place.event_row);
    }
    return class ?: commit(worker, host, step);
}

// A day lacks its partition: the engine says so, or another machine of it, in words of its own.
static enum failure_class make_partitions(struct worker *worker, const struct cursor_step *step) {
    int64_t made = 0;
    bool there = false;
    struct failure why = worker->failure;
    bool is_sure = why.class == FAILURE_NO_PARTITION;
    enum failure_class class =
        worker_failed(worker, cursor_make_partitions(worker->pg, worker->run->begun_real_ns,
                                                     step->committed_ns, &made, &there));
    if (class == FAILURE_NONE && (is_sure ? !there : made == 0)) {
        worker->failure = why;
        class = worker->failure.class = FAILURE_ENGINE;
    }
    return class ?: FAILURE_AGAIN;
}

static enum failure_class renew(struct worker *worker, struct host *host, int64_t now_ms) {
    if (now_ms < host->renew_ms) {
        return FAILURE_NONE;
    }
    host->renew_ms = now_ms + worker->run->wishes->lease_ms / 3;
    pg_say_what(worker->pg, "to renew the lease of a simulated host");
    return worker_failed(worker, lease_renew(worker->pg, host->store_id, worker->run->self, 0));
}

static void note(struct run *run, struct host *host, const struct cursor_step *step,
                 int64_t began_ns) {
    int64_t now = nvtxt_monotonic_ns();
    measure_add(&run->rounds, now - began_ns);
    measure_add(&run->lags, now - run->begun_ns - made_ns(run, host, host->place.event_row + 1));
    run->result->rounds++;
    run->result->rows += step->events;
    host->place = step->place;
    host->renew_ms = now / NVTXT_NS_A_MS + run->wishes->lease_ms / 3;
}

enum failure_class host_round(struct worker *worker, struct host *host) {
    struct run *run = worker->run;
    int64_t began_ns = nvtxt_monotonic_ns(), now_ms = began_ns / NVTXT_NS_A_MS;
    int64_t made = host_made(run, host, began_ns), at = host->place.event_row;
    int64_t last = nvtxt_earlier(made, at + ROUND_ROWS);
    bool changes = now_ms >= host->changes_ms;
    struct cursor_step step = {.place = host->place, .events = last - at};
    if (last <= at) {
        return renew(worker, host, now_ms);
    }
    step.place.event_row = step.place.batch = last;
    step.place.batch_ns = step.committed_ns = run->begun_real_ns + made_ns(run, host, last);
    step.behind_rows = made - last;
    pg_say_what(worker->pg, "the rows of a simulated host");
    enum failure_class class = ship(worker, host, changes, &step);
    if (class) {
        enum failure_class again = pg_rollback(worker->pg);
        class = again == FAILURE_GONE ? again : class;
        bool is_relayed =
            class == FAILURE_ENGINE && strcmp(worker->failure.state, FAILURE_RELAYED) == 0;
        return class == FAILURE_NO_PARTITION || is_relayed ? make_partitions(worker, &step) : class;
    }
    if (changes) {
        host->changes_ms = now_ms + CHANGES_MS;
        host->is_told = true;
    }
    note(run, host, &step, began_ns);
    return FAILURE_NONE;
}
