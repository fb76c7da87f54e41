// SPDX-License-Identifier: Apache-2.0
//
// One sweep over the times in which steps hold slots. The exclusive or of all steps that do is the
// one step when it is alone.
#include "report/model/builds.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

struct change {
    int64_t at;
    int by; // +1 or -1
    uint32_t step;
};

static int by_time(const void *left, const void *right) {
    const struct change *a = left, *b = right;
    return NVTXT_ORDER(a->at, b->at) ?: NVTXT_ORDER(a->by, b->by);
}

// At one time ends come first, so what has no length must not be among them.
static size_t list_changes(struct change *changes, const struct report_builds *builds,
                           const struct report_build *build) {
    const struct report_event *events = builds->model->capture->events;
    size_t count = 0;
    for (size_t i = build->first_held; i < build->first_held + build->held_count; i++) {
        const struct report_held *held = &builds->held[i];
        if (held->to > held->from && report_is_timed(&events[builds->steps[held->step].event])) {
            changes[count++] = (struct change){held->from, 1, held->step};
            changes[count++] = (struct change){held->to, -1, held->step};
        }
    }
    qsort(changes, count, sizeof(*changes), by_time);
    return count;
}

static void sweep(struct report_slot_levels *levels, const struct report_build *build,
                  const struct change *changes, size_t count) {
    int64_t since = build->start;
    size_t now = 0;
    uint32_t who = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t length = (uint64_t)changes[i].at - (uint64_t)since;
        levels->of[now] += length;
        if (now == 1) {
            levels->alone[who - build->first] += length;
        }
        now += (size_t)changes[i].by;
        who ^= changes[i].step;
        since = changes[i].at;
    }
    levels->of[0] += (uint64_t)build->end - (uint64_t)since;
}

int report_slot_levels_init(struct report_slot_levels *levels, const struct report_builds *builds,
                            const struct report_build *build) {
    struct change *changes = malloc((2 * build->held_count + 1) * sizeof(*changes));
    levels->of = calloc((size_t)build->slots + 2, sizeof(*levels->of));
    levels->alone = calloc(build->count + 1, sizeof(*levels->alone));
    int r = changes && levels->of && levels->alone ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        sweep(levels, build, changes, list_changes(changes, builds, build));
    }
    free(changes);
    return r;
}

void report_slot_levels_deinit(struct report_slot_levels *levels) {
    free(levels->of);
    free(levels->alone);
    *levels = (struct report_slot_levels){0};
}
