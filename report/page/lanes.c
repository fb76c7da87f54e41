// SPDX-License-Identifier: Apache-2.0
//
// Lanes are numbered as events come, and sorted at the end; `place` leads from the one to the
// other. Categories of equal number and name in two scopes are two categories.
#include "report/page/timeline.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

int page_lanes_init(struct page_lanes *lanes, const struct report_model *model) {
    *lanes = (struct page_lanes){.capture = model->capture};
    return report_builds_init(&lanes->builds, model);
}

void page_lanes_deinit(struct page_lanes *lanes) {
    free(lanes->lanes);
    free(lanes->place);
    free(lanes->categories);
    nvtxt_map_deinit(&lanes->marks);
    nvtxt_map_deinit(&lanes->push_pop);
    nvtxt_map_deinit(&lanes->start_end);
    nvtxt_map_deinit(&lanes->jobs);
    report_builds_deinit(&lanes->builds);
    nvtxt_map_deinit(&lanes->by_category);
    *lanes = (struct page_lanes){0};
}

static uint64_t both(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

int page_category_of(struct page_lanes *lanes, const struct report_event *event, uint32_t *index) {
    uint64_t key = both(event->scope, event->category);
    *index = REPORT_NONE;
    if (event->category == 0 || nvtxt_map_get(&lanes->by_category, key, index)) {
        return 0;
    }
    *index = (uint32_t)lanes->category_count;
    struct page_category *category =
        nvtxt_add(&lanes->categories, &lanes->category_count, sizeof(*category));
    if (!category) {
        return nvtxt_origin(-ENOMEM);
    }
    *category = (struct page_category){event->scope, event->category};
    return nvtxt_map_set(&lanes->by_category, key, *index);
}

static int add_lane(struct page_lanes *lanes, const struct page_lane *lane, struct nvtxt_map *map,
                    uint64_t key, uint32_t *number) {
    *number = (uint32_t)lanes->count;
    struct page_lane *added = nvtxt_add(&lanes->lanes, &lanes->count, sizeof(*added));
    if (!added) {
        return nvtxt_origin(-ENOMEM);
    }
    *added = *lane;
    return nvtxt_map_set(map, key, *number);
}

// Sets build, job and process of a step's or a run's lane. False: it is neither.
static bool find_job(const struct page_lanes *lanes, const struct report_event *event,
                     struct page_lane *lane) {
    const struct report_builds *builds = &lanes->builds;
    const struct report_capture *capture = lanes->capture;
    size_t index = (size_t)(event - capture->events);
    if (!builds->step_of) {
        return false;
    }
    lane->build = builds->build_of_run[index];
    if (builds->step_of[index] != REPORT_NONE) {
        const struct report_build_step *step = &builds->steps[builds->step_of[index]];
        lane->build = step->build;
        lane->job = step->below == 0 ? step->slot : 0;
    }
    if (lane->build == REPORT_NONE) {
        return false;
    }
    const struct report_build *build = &builds->builds[lane->build];
    uint32_t first = build->run != REPORT_NONE ? build->run : builds->steps[build->first].event;
    lane->process = capture->threads[capture->events[first].thread].process;
    return true;
}

int page_lanes_of(struct page_lanes *lanes, const struct report_event *event, uint32_t *number) {
    const struct report_capture *capture = lanes->capture;
    struct page_lane lane = {.kind = event->kind,
                             .process = capture->threads[event->thread].process,
                             .thread = event->thread,
                             .domain = capture->names[event->name].domain,
                             .category = REPORT_NONE,
                             .build = REPORT_NONE};
    struct nvtxt_map *map = &lanes->marks;
    uint64_t key = event->thread;
    if (event->kind == REPORT_PUSH_POP) {
        map = &lanes->push_pop;
        key = both(event->thread, lane.domain);
    } else if (event->kind == REPORT_START_END && find_job(lanes, event, &lane)) {
        map = &lanes->jobs;
        key = both(lane.build, lane.job);
    } else if (event->kind == REPORT_START_END) {
        int r = page_category_of(lanes, event, &lane.category);
        if (r != 0) {
            return r;
        }
        map = &lanes->start_end;
        key = both(lane.process, lane.category);
    }
    int r = 0;
    if (lanes->near.map != map || lanes->near.key != key) {
        r = nvtxt_map_get(map, key, number) ? 0 : add_lane(lanes, &lane, map, key, number);
        lanes->near.map = r == 0 ? map : NULL;
        lanes->near.key = key;
        lanes->near.number = *number;
    }
    *number = lanes->near.number;
    return r;
}

// ---- Their order --------------------------------------------------------------------------------

struct sorted {
    const struct page_lanes *lanes;
    struct page_lane lane;
    uint32_t number;
};

static struct nvtxt_slice category_name(const struct page_lanes *lanes,
                                        const struct page_category *category) {
    struct nvtxt_slice name = report_category_name(lanes->capture, category->scope, category->id);
    return name.data ? name : (struct nvtxt_slice){"", 0};
}

// None first, then by number and name.
static int compare_categories(const struct page_lanes *lanes, uint32_t a, uint32_t b) {
    if (a == REPORT_NONE || b == REPORT_NONE) {
        return (b == REPORT_NONE) - (a == REPORT_NONE);
    }
    const struct page_category *x = &lanes->categories[a], *y = &lanes->categories[b];
    int order = NVTXT_ORDER(x->id, y->id);
    return order ?: nvtxt_slice_order(category_name(lanes, x), category_name(lanes, y));
}

static int compare(const void *a, const void *b) {
    const struct sorted *x = a, *y = b;
    const struct page_lane *one = &x->lane, *two = &y->lane;
    const struct nvtxt_slice *domains = x->lanes->capture->domains;
    bool one_late = one->kind != REPORT_START_END, two_late = two->kind != REPORT_START_END;
    int order = NVTXT_ORDER(one->process, two->process) ?: one_late - two_late;
    if (order == 0 && one_late) {
        order = NVTXT_ORDER(one->thread, two->thread) ?: NVTXT_ORDER(one->kind, two->kind);
        order = order ?: nvtxt_slice_order(domains[one->domain], domains[two->domain]);
    } else if (order == 0) {
        order = NVTXT_ORDER(one->build, two->build) ?: NVTXT_ORDER(one->job, two->job);
        order = order ?: compare_categories(x->lanes, one->category, two->category);
    }
    return order ?: NVTXT_ORDER(x->number, y->number);
}

int page_lanes_sort(struct page_lanes *lanes) {
    struct sorted *sorted = malloc((lanes->count + 1) * sizeof(*sorted));
    lanes->place = malloc((lanes->count + 1) * sizeof(*lanes->place));
    if (!sorted || !lanes->place) {
        free(sorted);
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < lanes->count; i++) {
        sorted[i] = (struct sorted){lanes, lanes->lanes[i], (uint32_t)i};
    }
    qsort(sorted, lanes->count, sizeof(*sorted), compare);
    for (size_t i = 0; i < lanes->count; i++) {
        lanes->lanes[i] = sorted[i].lane;
        lanes->place[sorted[i].number] = (uint32_t)i;
    }
    free(sorted);
    return 0;
}
