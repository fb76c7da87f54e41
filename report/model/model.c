// SPDX-License-Identifier: Apache-2.0
//
// One scan over the events in order moves each lane from start to start: what is on the stack then
// is the parent and the depth of the next range, and the time between goes to the range on top.
#include "report/model/model.h"

#include <errno.h>
#include <stdlib.h>

#include "report/model/lanes.h"
#include "report/model/order.h"

static int add_range(struct report_model *model, struct report_lanes *lanes, uint32_t event) {
    const struct report_event *range = &model->capture->events[event];
    struct report_lane *lane = report_lanes_find(lanes, range);
    if (!lane) {
        return -ENOMEM;
    }
    report_lane_move(lanes, lane, range->start, model->self_ns);
    uint32_t parent = report_lane_top(lane);
    model->parent[event] = parent;
    model->depth[event] = (uint32_t)report_lane_depth(lane);
    if (parent != REPORT_NONE) {
        model->child_count[parent]++;
    }
    return report_lane_push(lanes, lane, event);
}

static int scan(struct report_model *model, struct report_lanes *lanes) {
    const struct report_capture *capture = model->capture;
    for (size_t i = 0; i < model->count; i++) {
        model->parent[i] = REPORT_NONE;
        int result =
            capture->events[i].kind == REPORT_PUSH_POP ? add_range(model, lanes, (uint32_t)i) : 0;
        if (result != 0) {
            return result;
        }
    }
    for (size_t thread = 0; thread < capture->thread_count; thread++) {
        for (struct report_lane *lane = lanes->of_thread[thread]; lane; lane = lane->next) {
            report_lane_move(lanes, lane, INT64_MAX, model->self_ns);
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
        return -ENOMEM;
    }
    struct report_lanes lanes = {0};
    int result = report_lanes_init(&lanes, model->capture);
    if (result == 0) {
        result = scan(model, &lanes);
        report_lanes_deinit(&lanes);
    }
    return result;
}

int report_model_build(struct report_model **built, struct report_capture *capture) {
    *built = NULL;
    struct report_model *model = calloc(1, sizeof(*model));
    if (!model) {
        return -ENOMEM;
    }
    model->capture = capture;
    model->count = capture->event_count;
    int result = report_order(capture);
    if (result == 0) {
        result = build_lanes(model);
    }
    if (result != 0) {
        report_model_free(model);
        return result;
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
