// SPDX-License-Identifier: Apache-2.0
//
// What the reports of builds share, and `slots`: one sweep over the times in which steps hold
// slots. The exclusive or of all steps that do is the one step when it is alone.
#include "report/stats/builds.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/stats/group.h"

int report_building_init(struct report_building *building, struct report_table *table,
                         const struct report_model *model) {
    *building = (struct report_building){.table = table};
    int r = report_builds_init(&building->builds, model);
    table->owned = building->names = report_name_texts(model->capture);
    r = building->names ? r : nvtxt_origin(-ENOMEM);
    if (r == 0 && building->builds.count == 0) {
        r = report_table_note(table, "there is no build: nvtxt-send --steps -- make records one");
    }
    return r;
}

int report_building_end(struct report_building *building, int r) {
    const struct report_model *model = building->builds.model;
    r = r ?: report_note_parents(building->table, model);
    report_builds_deinit(&building->builds);
    return r;
}

struct nvtxt_slice report_step_text(const struct report_building *building, uint32_t event) {
    const struct report_capture *capture = building->builds.model->capture;
    return report_step_of(capture, capture->events[event].name, building->names);
}

struct report_cell report_build_cell(struct report_building *building,
                                     const struct report_build *build) {
    const struct report_capture *capture = building->builds.model->capture;
    char made[REPORT_SOURCE_NAME];
    if (build->run != REPORT_NONE) {
        return report_cell_text(report_step_text(building, build->run));
    }
    return report_cell_copy(building->table,
                            report_source_name(&capture->sources[build->source], made));
}

#define LEVELS_MOST 40 // more would only move the names out of sight
struct report_cell report_indented(struct report_table *table, struct nvtxt_slice text,
                                   uint32_t depth) {
    size_t blanks = 2 * (size_t)(depth < LEVELS_MOST ? depth : LEVELS_MOST);
    char *room = blanks > 0 ? report_table_room(table, blanks + text.len) : NULL;
    if (!room) {
        return blanks > 0 ? REPORT_NO_CELL : report_cell_text(text);
    }
    memset(room, ' ', blanks);
    memcpy(room + blanks, text.data, text.len);
    return report_cell_text((struct nvtxt_slice){room, blanks + text.len});
}

bool report_step_counts(const struct report_building *building,
                        const struct report_build_step *step) {
    return report_is_timed(&building->builds.model->capture->events[step->event]);
}

struct report_cell report_share(uint64_t part, uint64_t whole) {
    double share = whole > 0 ? (double)(100.0L * (long double)part / (long double)whole) : 0;
    return whole > 0 ? report_cell_real(share) : REPORT_NO_CELL;
}

// ---- How many slots are held --------------------------------------------------------------------

struct change {
    int64_t at;
    int step; // +1 or -1
    uint32_t of;
};

struct alone { // the time in which a step of that name was alone
    uint32_t name;
    uint64_t ns;
};

struct levels {
    struct report_building *building;
    const struct report_build *build;
    struct change *changes; // owned
    size_t change_count;
    uint64_t *of;        // owned; ns by number of slots
    uint64_t *alone;     // owned; ns by name
    struct alone *order; // owned
};

static int by_time(const void *left, const void *right) {
    const struct change *a = left, *b = right;
    return NVTXT_ORDER(a->at, b->at) ?: NVTXT_ORDER(a->step, b->step);
}

static int longest_first(const void *left, const void *right, void *context) {
    const struct report_building *building = context;
    const struct alone *a = left, *b = right;
    return NVTXT_ORDER(b->ns, a->ns)
               ?: nvtxt_slice_order(building->names[a->name], building->names[b->name]);
}

static void add_changes(struct levels *levels) {
    const struct report_builds *builds = &levels->building->builds;
    for (size_t i = 0; i < levels->build->held_count; i++) {
        const struct report_held *held = &builds->held[levels->build->first_held + i];
        if (report_step_counts(levels->building, &builds->steps[held->step])) {
            levels->changes[levels->change_count++] = (struct change){held->from, 1, held->step};
            levels->changes[levels->change_count++] = (struct change){held->to, -1, held->step};
        }
    }
    qsort(levels->changes, levels->change_count, sizeof(*levels->changes), by_time);
}

static void sweep(struct levels *levels) {
    const struct report_builds *builds = &levels->building->builds;
    const struct report_event *events = builds->model->capture->events;
    int64_t since = levels->build->start;
    size_t now = 0;
    uint32_t who = 0;
    for (size_t i = 0; i < levels->change_count; i++) {
        const struct change *change = &levels->changes[i];
        uint64_t length = (uint64_t)change->at - (uint64_t)since;
        levels->of[now] += length;
        if (now == 1) {
            levels->alone[events[builds->steps[who].event].name] += length;
        }
        now += (size_t)change->step;
        who ^= change->of;
        since = change->at;
    }
    levels->of[0] += (uint64_t)levels->build->end - (uint64_t)since;
}

static int put_level(struct levels *levels, size_t number, uint64_t ns, uint32_t name) {
    const struct report_build *build = levels->build;
    const struct report_capture *capture = levels->building->builds.model->capture;
    const struct report_cell cells[] = {
        report_cell_uint(number),
        report_share(ns, (uint64_t)build->end - (uint64_t)build->start),
        report_cell_uint(ns),
        name == REPORT_NONE
            ? REPORT_NO_CELL
            : report_cell_text(report_step_of(capture, name, levels->building->names)),
        report_build_cell(levels->building, build),
    };
    return report_table_add(levels->building->table, cells);
}

static int put_alone(struct levels *levels) {
    size_t names = levels->building->builds.model->capture->name_count, count = 0;
    for (uint32_t name = 0; name < names; name++) {
        if (levels->alone[name] > 0) {
            levels->order[count++] = (struct alone){name, levels->alone[name]};
            levels->alone[name] = 0; // for the next build
        }
    }
    qsort_r(levels->order, count, sizeof(*levels->order), longest_first, levels->building);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = put_level(levels, 1, levels->order[i].ns, levels->order[i].name);
    }
    return r;
}

static int put_build(struct levels *levels, const struct report_build *build) {
    levels->build = build;
    levels->change_count = 0;
    for (size_t i = 0; i <= build->slots; i++) {
        levels->of[i] = 0;
    }
    add_changes(levels);
    sweep(levels);
    int r = 0;
    for (size_t i = 0; r == 0 && i <= build->slots; i++) {
        r = put_level(levels, i, levels->of[i], REPORT_NONE);
        r = r == 0 && i == 1 ? put_alone(levels) : r;
    }
    return r;
}

int report_slots(struct report_table *table, const struct report_model *model,
                 const struct report_stats_options *options) {
    struct report_building building;
    (void)options;
    int r = report_building_init(&building, table, model);
    const struct report_builds *builds = &building.builds;
    size_t names = model->capture->name_count + 1, times = builds->held_count + 1;
    struct levels levels = {.building = &building,
                            .changes = malloc(2 * times * sizeof(struct change)),
                            .of = malloc((times + 1) * sizeof(uint64_t)),
                            .alone = calloc(names, sizeof(uint64_t)),
                            .order = malloc(names * sizeof(struct alone))};
    bool is_there = levels.changes && levels.of && levels.alone && levels.order;
    r = is_there ? r : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; r == 0 && i < builds->count; i++) {
        r = put_build(&levels, &builds->builds[i]);
    }
    free(levels.changes);
    free(levels.of);
    free(levels.alone);
    free(levels.order);
    return report_building_end(&building, r);
}
