// SPDX-License-Identifier: Apache-2.0
//
// A header of a block may repeat the process of another one: a list of those that were seen, with
// slots over it, since a file decides how many there are.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash.h"
#include "protocol/table/hash_value.h"
#include "report/ncurep/ncurep.h"

// Names may differ: a host has one process of a number.
static bool is_same(const struct report_profiled_process *one,
                    const struct report_profiled_process *other) {
    return one->pid == other->pid && nvtxt_slice_equal(one->host, other->host);
}

static size_t place_of(const struct nvtxt_slots *slots, const struct report_profiled_process *list,
                       const struct report_profiled_process *process) {
    uint64_t hash = nvtxt_hash_numbers(process->pid, nvtxt_hash_bytes(process->host));
    size_t at = nvtxt_slots_start(slots, hash);
    while (slots->places[at] && !is_same(&list[slots->places[at] - 1], process)) {
        at = nvtxt_slots_next(slots, at);
    }
    return at;
}

int report_session_processes(const struct report_ncurep *report,
                             struct report_profiled_process **processes, size_t *count) {
    struct report_session all = {.blocks = {.at = 0}}, again = all;
    struct report_profiled_process process, *list;
    struct nvtxt_slots slots = {.count = 0};
    size_t most = 0;
    while (report_session_next_process(report, &all, &process)) {
        most++;
    }
    *count = 0;
    *processes = list = calloc(most + 1, sizeof(*list));
    int r = list ? nvtxt_slots_reset(&slots, most) : nvtxt_origin(-ENOMEM);
    while (r == 0 && report_session_next_process(report, &again, &process)) {
        size_t at = place_of(&slots, list, &process);
        if (slots.places[at] == 0) {
            list[(*count)++] = process;
            slots.places[at] = (uint32_t)*count;
        }
    }
    nvtxt_slots_deinit(&slots);
    return r;
}
