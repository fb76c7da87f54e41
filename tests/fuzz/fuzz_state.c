// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a store holds of a session: the first line is its state, the rest its open
// ranges, 16 bytes each. They are refused, or give an interpreter that works and ends, and whose
// state can be restored and is then saved as the same text.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "protocol/interp/state.h"

#define RANGE_BYTES 16

static uint64_t events;

static int on_event(void *context, const struct nvtxt_event *event) {
    (void)context;
    must(event->pid <= NVTXT_ID_MAX && event->tid <= NVTXT_ID_MAX);
    events++;
    return 0;
}
static int on_name(void *context, const struct nvtxt_name *name) {
    (void)context;
    must(name->pid <= NVTXT_ID_MAX);
    return 0;
}
static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    must(diag->code < NVTXT_DIAG_CODE_COUNT);
    return 0;
}

static int restore_range(struct nvtxt_interp *interp, const uint8_t *bytes, uint64_t seq) {
    uint64_t start;
    memcpy(&start, bytes + 8, sizeof(start));
    static const char *const domains[] = {"", "a", "b"};
    struct nvtxt_open_range range = {
        .seq = bytes[0] & 1 ? seq : bytes[1],
        .type = bytes[0] & 2 ? NVTXT_EVENT_PUSH_POP : NVTXT_EVENT_START_END,
        .pid = bytes[2],
        .tid = bytes[3],
        .depth = bytes[4],
        .range_id = (int8_t)bytes[5],
        .start = (int64_t)start,
        .category = bytes[6],
        .text = NVTXT_SLICE("text"), // never NUL or what is not UTF-8: the language has none
        .domain = nvtxt_slice_of(domains[bytes[7] % 3]),
        .json = nvtxt_slice_of(bytes[7] & 4 ? "[1]" : ""),
        .line = seq,
        .column = 1,
    };
    return nvtxt_interp_restore_open(interp, &range);
}

static void save_and_restore(struct nvtxt_interp *interp,
                             const struct nvtxt_source_config *config) {
    struct nvtxt_buf one = {0}, two = {0};
    struct nvtxt_interp *again = NULL;
    must(nvtxt_state_save_in_one(interp, true, &one) == 0);
    must(nvtxt_state_restore(&again, config, (struct nvtxt_slice){one.data, one.len}, NULL, 0) ==
         0);
    must(nvtxt_state_save_in_one(again, true, &two) == 0);
    must(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
    nvtxt_interp_free(again);
    nvtxt_buf_deinit(&one);
    nvtxt_buf_deinit(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT};
    static const struct nvtxt_sink sink = {on_event, on_name, on_diag, NULL};
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t len = end ? (size_t)(end - data) : size;
    struct nvtxt_interp *interp = NULL;
    int r = nvtxt_state_restore(&interp, &config, (struct nvtxt_slice){(const char *)data, len},
                                NULL, 0);
    must(r == NVTXT_RESTORED || ((r == NVTXT_RESTORE_BAD || r == NVTXT_RESTORE_NEWER) && !interp));
    uint64_t seq = 1;
    for (size_t at = len + 1; r == 0 && at + RANGE_BYTES <= size; at += RANGE_BYTES) {
        r = restore_range(interp, data + at, seq++);
    }
    if (r == 0) {
        must(nvtxt_interp_line(interp, NVTXT_SLICE("Marker, 1"), &sink) == 0);
        save_and_restore(interp, &config);
        must(nvtxt_interp_end(interp, &sink) == 0);
    }
    nvtxt_interp_free(interp);
    return 0;
}
