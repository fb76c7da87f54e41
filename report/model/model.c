// SPDX-License-Identifier: Apache-2.0
//
// One scan over the events in order moves each lane from start to start: what is on the stack then
// is the parent and the depth of the next range, and the time between goes to the range on top.
#include "report/model/model.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/lanes.h"

// Counts the time up to `to` for the range on top.
static void count_time(struct report_model *model, struct report_lane *lane, int64_t to) {
    if (lane->walk.count > 0) {
        model->self_ns[nvtxt_walk_top(&lane->walk)->id] += (uint64_t)to - (uint64_t)lane->counted;
    }
    lane->counted = to;
}

static void move_lane(struct report_model *model, struct report_lane *lane, int64_t to) {
    for (const struct nvtxt_open *due; (due = nvtxt_walk_due(&lane->walk, to));) {
        count_time(model, lane, due->end);
        nvtxt_walk_leave(&lane->walk);
    }
    count_time(model, lane, to);
}

static int add_range(struct report_model *model, struct report_lanes *lanes, uint32_t event) {
    const struct report_event *range = &model->capture->events[event];
    struct report_lane *lane = report_lanes_find(lanes, range);
    if (!lane) {
        return nvtxt_origin(-ENOMEM);
    }
    move_lane(model, lane, range->start);
    model->depth[event] = (uint32_t)lane->walk.count;
    if (lane->walk.count > 0) {
        model->parent[event] = nvtxt_walk_top(&lane->walk)->id;
        model->child_count[model->parent[event]]++;
    }
    return nvtxt_walk_begin(&lane->walk, range->end, event);
}

static int scan_events(struct report_model *model, struct report_lanes *lanes) {
    const struct report_capture *capture = model->capture;
    for (size_t i = 0; i < model->count; i++) {
        model->parent[i] = REPORT_NONE;
        int r =
            capture->events[i].kind == REPORT_PUSH_POP ? add_range(model, lanes, (uint32_t)i) : 0;
        if (r != 0) {
            return r;
        }
    }
    for (size_t thread = 0; thread < capture->thread_count; thread++) {
        for (struct report_lane *lane = lanes->of_thread[thread]; lane; lane = lane->next) {
            move_lane(model, lane, INT64_MAX);
        }
    }
    return 0;
}

static int build_lanes(struct report_model *model) {
    size_t count = model->count + 1;
    model->parent = malloc(count * sizeof(*model->parent));
    model->depth = calloc(count, sizeof(*model->depth));
    model->child_count = calloc(count, sizeof(*model->child_count));
    model->self_ns = calloc(count, sizeof(*model->self_ns));
    if (!model->parent || !model->depth || !model->child_count || !model->self_ns) {
        return nvtxt_origin(-ENOMEM);
    }
    struct report_lanes lanes = {0};
    int r = report_lanes_init(&lanes, model->capture);
    if (r == 0) {
        r = scan_events(model, &lanes);
        report_lanes_deinit(&lanes);
    }
    return r;
}

int report_model_build(struct report_model **built, struct report_capture *capture) {
    *built = NULL;
    struct report_model *model = calloc(1, sizeof(*model));
    if (!model) {
        return nvtxt_origin(-ENOMEM);
    }
    model->capture = capture;
    model->count = capture->event_count;
    int r = report_order(capture);
    r = r ?: build_lanes(model);
    r = r ?: report_parents_init(&model->parents, capture, model->parent);
    if (r != 0) {
        report_model_free(model);
        return r;
    }
    for (size_t i = 0; i < model->count; i++) {
        capture->events[i].flags |= REPORT_SELECTED;
    }
    report_model_count_selected(model);
    *built = model;
    return 0;
}

void report_model_free(struct report_model *model) {
    if (model) {
        free(model->parent);
        free(model->depth);
        free(model->child_count);
        free(model->self_ns);
        report_parents_deinit(&model->parents);
        report_iterations_deinit(&model->iterations);
        free(model);
    }
}

void report_model_count_selected(struct report_model *model) {
    model->selected = model->open_selected = 0;
    model->selected_first_ns = model->selected_last_ns = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct report_event *event = &model->capture->events[i];
        if (!(event->flags & REPORT_SELECTED)) {
            continue;
        }
        if (model->selected++ == 0) {
            model->selected_first_ns = event->start; // events stand by their starts
            model->selected_last_ns = event->end;
        }
        if (event->end > model->selected_last_ns) {
            model->selected_last_ns = event->end;
        }
        model->open_selected += (event->flags & REPORT_OPEN) != 0;
    }
    model->elapsed_ns = (uint64_t)model->selected_last_ns - (uint64_t)model->selected_first_ns;
}
