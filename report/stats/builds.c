// SPDX-License-Identifier: Apache-2.0
//
// What the reports of builds share, and `slots`, whose steps of one name are one row.
#include "report/stats/builds.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/stats/group.h"

int report_building_init(struct report_building *building, struct report_table *table,
                         const struct report_model *model,
                         const struct report_stats_options *options) {
    *building = (struct report_building){.table = table, .options = options};
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
    r = r ?: report_note_parents(building->table, model, building->options->parents_said);
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

struct alone { // the time in which a step of that name was alone
    uint32_t name;
    uint64_t ns;
};

struct slots {
    struct report_building *building;
    const struct report_build *build;
    struct report_slot_levels levels;
    uint64_t *alone;     // owned; ns by name
    struct alone *order; // owned
};

static int longest_first(const void *left, const void *right, void *context) {
    const struct report_building *building = context;
    const struct alone *a = left, *b = right;
    return NVTXT_ORDER(b->ns, a->ns)
               ?: nvtxt_slice_order(building->names[a->name], building->names[b->name]);
}

static int put_level(struct slots *slots, size_t number, uint64_t ns, uint32_t name) {
    const struct report_build *build = slots->build;
    const struct report_capture *capture = slots->building->builds.model->capture;
    const struct report_cell cells[] = {
        report_cell_uint(number),
        report_share(ns, (uint64_t)build->end - (uint64_t)build->start),
        report_cell_uint(ns),
        name == REPORT_NONE
            ? REPORT_NO_CELL
            : report_cell_text(report_step_of(capture, name, slots->building->names)),
        report_build_cell(slots->building, build),
    };
    return report_table_add(slots->building->table, cells);
}

static int put_alone(struct slots *slots) {
    const struct report_builds *builds = &slots->building->builds;
    const struct report_capture *capture = builds->model->capture;
    size_t count = 0;
    for (size_t i = 0; i < slots->build->count; i++) {
        const struct report_build_step *step = &builds->steps[slots->build->first + i];
        slots->alone[capture->events[step->event].name] += slots->levels.alone[i];
    }
    for (uint32_t name = 0; name < capture->name_count; name++) {
        if (slots->alone[name] > 0) {
            slots->order[count++] = (struct alone){name, slots->alone[name]};
            slots->alone[name] = 0; // for the next build
        }
    }
    qsort_r(slots->order, count, sizeof(*slots->order), longest_first, slots->building);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = put_level(slots, 1, slots->order[i].ns, slots->order[i].name);
    }
    return r;
}

static int put_build(struct slots *slots, const struct report_build *build) {
    slots->build = build;
    int r = report_slot_levels_init(&slots->levels, &slots->building->builds, build);
    for (size_t i = 0; r == 0 && i <= build->slots; i++) {
        r = put_level(slots, i, slots->levels.of[i], REPORT_NONE);
        r = r == 0 && i == 1 ? put_alone(slots) : r;
    }
    report_slot_levels_deinit(&slots->levels);
    return r;
}

int report_slots(struct report_table *table, const struct report_model *model,
                 const struct report_stats_options *options) {
    struct report_building building;
    int r = report_building_init(&building, table, model, options);
    size_t names = model->capture->name_count + 1;
    struct slots slots = {.building = &building,
                          .alone = calloc(names, sizeof(uint64_t)),
                          .order = malloc(names * sizeof(struct alone))};
    r = slots.alone && slots.order ? r : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; r == 0 && i < building.builds.count; i++) {
        r = put_build(&slots, &building.builds.builds[i]);
    }
    free(slots.alone);
    free(slots.order);
    return report_building_end(&building, r);
}
