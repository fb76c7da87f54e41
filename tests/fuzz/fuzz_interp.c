// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a source's stream, and any bytes as a saved state.
//
// The first three bytes choose the configuration, the size of the pieces and how often the second
// run is interrupted; the rest is the stream. It runs once whole, and once in pieces with the
// interpreter saved, freed and restored on the way: both must give the same events, names,
// diagnostics and counters to the byte. The counters must agree with what was handed on. A long
// stream is interrupted less often: its states are large.
// When the first byte is '{' the whole input is a state to restore, as a broken store may hold one:
// it is refused, or gives an interpreter that works and saves a state that can be restored.
#define NVTXT_REPLAY_ALSO "tests/golden"
#include "tests/fuzz/replay.h"

#include "protocol/base/frame.h"
#include "protocol/interp/state.h"
#include "tests/fuzz/source_kit.h"

#define HEAD 3 // bytes that choose
#define LONG_STREAM 4096

struct run {
    struct record record;
    uint64_t events, warnings, errors; // handed on
    struct nvtxt_sink inner, sink;
    struct nvtxt_source_config config;
    struct nvtxt_interp *interp;
    unsigned interval; // lines between two interruptions; 0: none
    unsigned lines;    // since the last one
};

static int on_event(void *context, const struct nvtxt_event *event) {
    struct run *run = context;
    must(event->pid <= NVTXT_ID_MAX && event->tid <= NVTXT_ID_MAX);
    run->events++;
    return run->inner.on_event(run->inner.context, event);
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct run *run = context;
    return run->inner.on_name(run->inner.context, name);
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    struct run *run = context;
    must(diag->code < NVTXT_DIAG_CODE_COUNT && diag->column >= 1 && diag->line >= 1);
    if (nvtxt_diag_severity(diag->code) == NVTXT_ERROR) {
        run->errors++;
    } else {
        run->warnings++;
    }
    return run->inner.on_diag(run->inner.context, diag);
}

// Saved, freed, restored from the state and the little that a state does not hold.
static void interrupt(struct run *run) {
    struct nvtxt_buf state = {0};
    must(nvtxt_state_save_in_one(run->interp, true, &state) == 0);
    nvtxt_interp_free(run->interp);
    run->interp = NULL;
    struct nvtxt_source_config bare = {.limits = run->config.limits,
                                       .claim = run->config.claim,
                                       .claimed_pid = run->config.claimed_pid};
    must(nvtxt_state_restore(&run->interp, &bare, (struct nvtxt_slice){state.data, state.len}, NULL,
                             0) == 0);
    nvtxt_buf_deinit(&state);
}

static void take_line(struct run *run, int result, struct nvtxt_slice line) {
    must(result == NVTXT_FRAME_LINE || result == NVTXT_FRAME_OVERLONG);
    if (result == NVTXT_FRAME_LINE) {
        must(nvtxt_interp_line(run->interp, line, &run->sink) == 0);
    } else {
        must(nvtxt_interp_overlong(run->interp, line, &run->sink) == 0);
    }
    if (run->interval && ++run->lines == run->interval) {
        run->lines = 0;
        interrupt(run);
    }
}

static void take_stream(struct run *run, const uint8_t *data, size_t size, size_t piece) {
    struct nvtxt_frame frame;
    struct nvtxt_slice line;
    int result;
    nvtxt_frame_init(&frame, run->config.limits.line_bytes);
    for (size_t at = 0; at < size; at += piece) {
        piece = size - at < piece ? size - at : piece;
        struct nvtxt_slice input = {(const char *)data + at, piece};
        while ((result = nvtxt_frame_next(&frame, &input, &line)) != NVTXT_FRAME_MORE) {
            take_line(run, result, line);
        }
        must(input.len == 0);
    }
    while ((result = nvtxt_frame_finish(&frame, &line)) != NVTXT_FRAME_MORE) {
        take_line(run, result, line);
    }
    nvtxt_frame_deinit(&frame);
}

static void start(struct run *run, const struct nvtxt_source_config *config) {
    *run = (struct run){.config = *config};
    run->inner = record_sink(&run->record);
    run->sink = (struct nvtxt_sink){on_event, on_name, on_diag, run};
}

static void finish(struct run *run) {
    must(nvtxt_interp_end(run->interp, &run->sink) == 0);
    struct nvtxt_counters counters = *nvtxt_interp_counters(run->interp);
    must(counters.events == run->events && counters.warnings == run->warnings &&
         counters.errors == run->errors);
    must(run->events == 0 || counters.has_time);
    record_finish(&run->record, &counters);
    nvtxt_interp_free(run->interp);
}

static void run_stream(struct run *run, const struct nvtxt_source_config *config,
                       const uint8_t *data, size_t size, size_t piece, unsigned interval) {
    start(run, config);
    run->record.full = true;
    run->interval = interval;
    run->interp = nvtxt_interp_new(config);
    must(run->interp != NULL);
    take_stream(run, data, size, piece);
    interrupt(run); // always at the end too: the last state must be as good
    finish(run);
}

// The counters of such a state may have any value, so only their changes from here on are checked.
static void restore_foreign(const uint8_t *data, size_t size) {
    struct nvtxt_source_config config = make_config(8);
    struct run run;
    start(&run, &config);
    struct nvtxt_slice text = {(const char *)data, size};
    int r = nvtxt_state_restore(&run.interp, &config, text, NULL, 0);
    must(r == NVTXT_RESTORED ||
         ((r == NVTXT_RESTORE_BAD || r == NVTXT_RESTORE_NEWER) && !run.interp));
    if (r == 0) {
        must(nvtxt_interp_line(run.interp, NVTXT_SLICE("Marker, 1"), &run.sink) == 0);
        interrupt(&run);
        must(nvtxt_interp_end(run.interp, &run.sink) == 0);
        nvtxt_interp_free(run.interp);
    }
    record_deinit(&run.record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 0 && data[0] == '{') {
        restore_foreign(data, size);
        return 0;
    }
    if (size < HEAD) {
        return 0;
    }
    struct nvtxt_source_config config = make_config(data[0]);
    struct run whole, broken;
    size_t len = size - HEAD;
    run_stream(&whole, &config, data + HEAD, len, len, 0);
    unsigned interval = (1 + data[2] % 16) * (1 + (unsigned)(len / LONG_STREAM));
    run_stream(&broken, &config, data + HEAD, len, 1 + data[1] % 64, interval);
    must(record_equal(&whole.record, &broken.record));
    record_deinit(&whole.record);
    record_deinit(&broken.record);
    return 0;
}
