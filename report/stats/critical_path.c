// SPDX-License-Identifier: Apache-2.0
//
// From the end of a make back to its start: the step that ended last, then the one that ended last
// before that one began, and so on, which is the blocking chain of the steps below it. The same
// within each step that has steps below it. A make has the rest of its time itself, so each moment
// of a build belongs to one row.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/model/spans.h"
#include "report/stats/builds.h"

struct on_path {
    uint32_t step; // REPORT_NONE: the run
    uint32_t depth;
    int64_t from, to;
};

struct finder {
    struct report_building building;
    const struct report_build *build;
    uint32_t *first;      // owned; by step, and the run at the end: where its events begin
    uint32_t *events;     // owned; of the steps below each
    uint32_t *chosen;     // owned; of these, those that had ended
    struct on_path *next; // owned; what is to be done, the next one last
    size_t next_count, next_room;
};

static int add(struct finder *finder, struct on_path on_path) {
    if (nvtxt_grow(&finder->next, &finder->next_room, finder->next_count + 1,
                   sizeof(*finder->next)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    finder->next[finder->next_count++] = on_path;
    return 0;
}

// Where the steps below a step are in `first`; those of the run are after all others.
static size_t group_of(const struct finder *finder, uint32_t step) {
    return step == REPORT_NONE ? finder->build->count : step - finder->build->first;
}

// Steps by what they are below, in order.
static void group_steps(struct finder *finder) {
    const struct report_build *build = finder->build;
    const struct report_build_step *steps = finder->building.builds.steps + build->first;
    for (size_t i = 0; i <= build->count + 2; i++) {
        finder->first[i] = 0;
    }
    for (size_t i = 0; i < build->count; i++) {
        finder->first[group_of(finder, steps[i].under) + 2]++;
    }
    for (size_t i = 2; i <= build->count + 2; i++) {
        finder->first[i] += finder->first[i - 1];
    }
    for (size_t i = 0; i < build->count; i++) {
        finder->events[finder->first[group_of(finder, steps[i].under) + 1]++] = steps[i].event;
    }
}

static int put_row(struct finder *finder, const struct on_path *on_path, uint64_t own) {
    const struct report_build *build = finder->build;
    struct report_building *building = &finder->building;
    const struct report_builds *builds = &building->builds;
    bool is_step = on_path->step != REPORT_NONE;
    const struct report_build_step *step = is_step ? &builds->steps[on_path->step] : NULL;
    if (is_step && !report_step_counts(building, step)) {
        return 0;
    }
    const struct report_cell cells[] = {
        report_cell_uint((uint64_t)on_path->from - (uint64_t)build->start),
        report_share(own, (uint64_t)build->end - (uint64_t)build->start),
        report_cell_uint(own),
        is_step && step->below == 0 ? report_cell_uint(step->slot) : REPORT_NO_CELL,
        is_step ? report_indented(building->table, report_step_text(building, step->event),
                                  on_path->depth)
                : report_build_cell(building, build),
    };
    return report_table_add(building->table, cells);
}

// The steps below it that it waited for, the last one first in `next`.
static int add_waited_for(struct finder *finder, const struct on_path *of, uint64_t *own) {
    const struct report_builds *builds = &finder->building.builds;
    const struct report_event *events = builds->model->capture->events;
    size_t group = group_of(finder, of->step), count = 0, links = 0;
    uint32_t *chain;
    for (size_t i = finder->first[group]; i < finder->first[group + 1]; i++) {
        if (events[finder->events[i]].end <= of->to) {
            finder->chosen[count++] = finder->events[i];
        }
    }
    int r = report_chain(builds->model->capture, finder->chosen, count,
                         REPORT_KIND(REPORT_START_END), &chain, &links);
    for (size_t i = links; r == 0 && i-- > 0 && events[chain[i]].end > of->from;) {
        const struct report_event *event = &events[chain[i]];
        int64_t from = event->start > of->from ? event->start : of->from;
        *own -= (uint64_t)event->end - (uint64_t)from;
        r = add(finder,
                (struct on_path){builds->step_of[chain[i]], of->depth + 1, from, event->end});
    }
    free(chain);
    return r;
}

static int put_build(struct finder *finder, const struct report_build *build) {
    finder->build = build;
    group_steps(finder);
    int r = add(finder, (struct on_path){REPORT_NONE, 0, build->start, build->end});
    while (r == 0 && finder->next_count > 0) {
        struct on_path on_path = finder->next[--finder->next_count];
        uint64_t own = (uint64_t)on_path.to - (uint64_t)on_path.from;
        r = add_waited_for(finder, &on_path, &own);
        r = r ?: put_row(finder, &on_path, own);
    }
    return r;
}

int report_critical_path(struct report_table *table, const struct report_model *model,
                         const struct report_stats_options *options) {
    struct finder finder = {0};
    int r = report_building_init(&finder.building, table, model, options);
    const struct report_builds *builds = &finder.building.builds;
    size_t count = builds->step_count + 3;
    finder.first = malloc(count * sizeof(*finder.first));
    finder.events = malloc(count * sizeof(*finder.events));
    finder.chosen = malloc(count * sizeof(*finder.chosen));
    r = finder.first && finder.events && finder.chosen ? r : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; r == 0 && i < builds->count; i++) {
        r = put_build(&finder, &builds->builds[i]);
    }
    free(finder.first);
    free(finder.events);
    free(finder.chosen);
    free(finder.next);
    return report_building_end(&finder.building, r);
}
