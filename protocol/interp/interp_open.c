// SPDX-License-Identifier: Apache-2.0
//
// The open ranges for the owner of the interpreter: it announces the new ones, visits all, and puts
// them back when a session goes on. All three go along the list by age of ranges.h. What lines do
// to ranges is in interp_call.c.

#include "protocol/base/origin.h"
#include "protocol/interp/interp.h"
#include "protocol/interp/interp_state.h"

int nvtxt_interp_take_opened(struct nvtxt_interp *interp, struct nvtxt_open_range *range) {
    struct nvtxt_range *next = interp->ranges.unannounced;
    if (!next) {
        return 0;
    }
    next->announced = true;
    interp->ranges.unannounced = next->newer;
    *range = next->view;
    return 1;
}

int nvtxt_interp_each_open(const struct nvtxt_interp *interp,
                           int (*visit)(void *context, const struct nvtxt_open_range *range),
                           void *context) {
    int r = 0;
    const struct nvtxt_range *range = interp->ranges.oldest;
    for (; range && r == 0; range = range->newer) {
        r = visit(context, &range->view);
    }
    return r;
}

// The domain of a range that is put back. It shares the text of the display name or of the range
// before it, if that is the same.
static int restore_domain(struct nvtxt_interp *interp, struct nvtxt_slice domain,
                          struct nvtxt_refstr **refstr) {
    struct nvtxt_range *before = interp->ranges.newest;
    *refstr = NULL;
    if (domain.len == 0) {
        return 0;
    }
    if (nvtxt_slice_equal(nvtxt_refstr_slice(interp->display), domain)) {
        *refstr = nvtxt_refstr_ref(interp->display);
    } else if (before && nvtxt_slice_equal(before->view.domain, domain)) {
        *refstr = nvtxt_refstr_ref(before->domain_ref);
    } else {
        *refstr = nvtxt_refstr_new(domain);
    }
    return *refstr ? 0 : nvtxt_origin(-ENOMEM);
}

static bool can_restore(struct nvtxt_interp *interp, const struct nvtxt_open_range *range) {
    struct nvtxt_ranges *ranges = &interp->ranges;
    if (range->seq == 0 || (ranges->newest && range->seq <= ranges->newest->view.seq)) {
        return false;
    }
    if (range->type == NVTXT_EVENT_START_END) {
        return !nvtxt_ranges_find(ranges, range->range_id);
    }
    if (range->type != NVTXT_EVENT_PUSH_POP) {
        return false;
    }
    const struct nvtxt_range *top = nvtxt_ranges_top(ranges, range->pid, range->tid, range->domain);
    return range->depth == (top ? top->view.depth + 1 : 0);
}

int nvtxt_interp_restore_open(struct nvtxt_interp *interp, const struct nvtxt_open_range *range) {
    struct nvtxt_ranges *ranges = &interp->ranges;
    if (!can_restore(interp, range)) {
        return NVTXT_RESTORE_BAD;
    }
    struct nvtxt_refstr *domain;
    int r = restore_domain(interp, range->domain, &domain);
    if (r < 0) {
        return r;
    }
    uint64_t last_seq = ranges->last_seq;
    r = nvtxt_ranges_open(ranges, &nvtxt_no_limits, range, domain);
    nvtxt_refstr_unref(domain);
    if (r != 0) {
        return r < 0 ? r : NVTXT_RESTORE_BAD;
    }
    ranges->newest->view.seq = range->seq;
    ranges->newest->announced = true;
    ranges->unannounced = NULL;
    ranges->last_seq = last_seq > range->seq ? last_seq : range->seq;
    return 0;
}
