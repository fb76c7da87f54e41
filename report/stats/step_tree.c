// SPDX-License-Identifier: Apache-2.0
//
// Steps of one name below one other row are one row. Each build is a tree of its own, with its run
// on top. Rows below a row stand by the time in which they and what is below them held slots.
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"
#include "report/stats/builds.h"

struct node {
    uint32_t build, above; // `above`: REPORT_NONE: it is the run
    uint32_t run;          // the node above all
    uint32_t name;         // of the capture; not of a run
    uint32_t depth;
    uint32_t first_slot, slot_count;    // in `slots`; of leaves
    uint32_t first_below, below_count;  // in `order`
    uint64_t count, steps;              // its own; with what is below it
    unsigned __int128 total, self, all; // `all`: as `steps`
    bool has_below;                     // one of its steps has
};

struct tree {
    struct report_building building;
    struct node *nodes; // owned
    size_t count, room;
    struct nvtxt_map by_name; // of the build; from the row above and the name
    uint32_t *node_of;        // owned; by step
    uint32_t *way;            // owned; steps without a node
    uint64_t *slots;          // owned; node << 32 | slot, sorted
    size_t slot_count;
    uint32_t *order; // owned; the rows, in order
};

static int add_node(struct tree *tree, struct node node, uint32_t *index) {
    if (nvtxt_grow(&tree->nodes, &tree->room, tree->count + 1, sizeof(*tree->nodes)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    *index = (uint32_t)tree->count;
    tree->nodes[tree->count++] = node;
    return 0;
}

static int find_node(struct tree *tree, uint32_t above, uint32_t step, uint32_t *index) {
    const struct report_builds *builds = &tree->building.builds;
    uint32_t name = builds->model->capture->events[builds->steps[step].event].name;
    uint64_t key = (uint64_t)above << 32 | name;
    if (nvtxt_map_get(&tree->by_name, key, index)) {
        return 0;
    }
    int r = add_node(tree,
                     (struct node){.build = tree->nodes[above].build,
                                   .above = above,
                                   .run = tree->nodes[above].run,
                                   .name = name,
                                   .depth = tree->nodes[above].depth + 1},
                     index);
    return r ?: nvtxt_map_set(&tree->by_name, key, *index);
}

// What is above a step gets its node first, also if it begins later.
static int need_node(struct tree *tree, uint32_t run, uint32_t step) {
    const struct report_build_step *steps = tree->building.builds.steps;
    size_t count = 0;
    for (uint32_t at = step; at != REPORT_NONE && tree->node_of[at] == REPORT_NONE;) {
        tree->way[count++] = at;
        at = steps[at].under;
    }
    int r = 0;
    while (r == 0 && count > 0) {
        uint32_t at = tree->way[--count];
        uint32_t above = steps[at].under == REPORT_NONE ? run : tree->node_of[steps[at].under];
        r = find_node(tree, above, at, &tree->node_of[at]);
    }
    return r;
}

static void count_step(struct tree *tree, uint32_t index) {
    const struct report_builds *builds = &tree->building.builds;
    const struct report_build_step *step = &builds->steps[index];
    struct node *node = &tree->nodes[tree->node_of[index]];
    node->has_below = node->has_below || step->below > 0;
    if (report_step_counts(&tree->building, step)) {
        node->count++;
        node->total += report_duration(&builds->model->capture->events[step->event]);
        node->self += step->held_ns;
        tree->slots[tree->slot_count] = (uint64_t)tree->node_of[index] << 32 | step->slot;
        tree->slot_count += step->below == 0;
    }
}

static int add_build(struct tree *tree, uint32_t index) {
    const struct report_builds *builds = &tree->building.builds;
    const struct report_build *build = &builds->builds[index];
    const struct report_event *events = builds->model->capture->events;
    uint32_t run;
    struct node node = {.build = index, .above = REPORT_NONE, .has_below = true};
    if (build->run != REPORT_NONE && report_is_timed(&events[build->run])) {
        node.count = 1;
        node.total = report_duration(&events[build->run]);
    }
    node.run = (uint32_t)tree->count;
    nvtxt_map_clear(&tree->by_name);
    int r = add_node(tree, node, &run);
    for (size_t i = build->first; r == 0 && i < build->first + build->count; i++) {
        r = need_node(tree, run, (uint32_t)i);
        if (r == 0) {
            count_step(tree, (uint32_t)i);
        }
    }
    return r;
}

// ---- Slots --------------------------------------------------------------------------------------

static int by_number(const void *left, const void *right) {
    return NVTXT_ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}

static void sort_slots(struct tree *tree) {
    qsort(tree->slots, tree->slot_count, sizeof(*tree->slots), by_number);
    for (size_t i = 0; i < tree->slot_count; i++) {
        struct node *node = &tree->nodes[tree->slots[i] >> 32];
        node->first_slot = node->slot_count == 0 ? (uint32_t)i : node->first_slot;
        node->slot_count++;
    }
}

#define SLOT_TEXT 16 // what is longer ends with an ellipsis

// "2", "1-3", "1,3-5". Of a run all its slots.
static struct report_cell slot_cell(struct tree *tree, const struct node *node) {
    char text[SLOT_TEXT + 40];
    size_t len = 0;
    if (node->above == REPORT_NONE) {
        uint32_t slots = tree->building.builds.builds[node->build].slots;
        len = (size_t)snprintf(text, sizeof(text), slots > 1 ? "1-%u" : "%u", slots);
    }
    const uint64_t *slots = tree->slots + node->first_slot;
    for (size_t i = 0; !node->has_below && i < node->slot_count && len < SLOT_TEXT;) {
        uint32_t from = (uint32_t)slots[i], to = from;
        while (++i < node->slot_count && (uint32_t)slots[i] <= to + 1) {
            to = (uint32_t)slots[i];
        }
        len += (size_t)snprintf(text + len, sizeof(text) - len, to > from ? "%s%u-%u" : "%s%u",
                                len > 0 ? "," : "", from, to);
        if (len >= SLOT_TEXT && i < node->slot_count) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, ",...");
        }
    }
    return report_cell_label(tree->building.table, (struct nvtxt_slice){text, len});
}

// ---- Rows ---------------------------------------------------------------------------------------

static int by_size(const void *left, const void *right, void *context) {
    const struct tree *tree = context;
    uint32_t one = *(const uint32_t *)left, two = *(const uint32_t *)right;
    const struct node *a = &tree->nodes[one], *b = &tree->nodes[two];
    int order = NVTXT_ORDER(a->above, b->above) ?: NVTXT_ORDER(b->all, a->all);
    order = order ?: NVTXT_ORDER(b->total, a->total);
    return order ?: NVTXT_ORDER(one, two);
}

static int put_row(struct tree *tree, const struct node *node) {
    struct report_building *building = &tree->building;
    const struct report_capture *capture = building->builds.model->capture;
    bool is_run = node->above == REPORT_NONE;
    uint64_t whole = (uint64_t)tree->nodes[node->run].all;
    const struct report_cell cells[] = {
        report_share((uint64_t)node->all, whole),
        node->count > 0 ? report_cell_total(building->table, node->total) : REPORT_NO_CELL,
        is_run ? REPORT_NO_CELL : report_cell_total(building->table, node->self),
        node->count > 0 ? report_cell_uint(node->count) : REPORT_NO_CELL,
        slot_cell(tree, node),
        is_run ? report_build_cell(building, &building->builds.builds[node->build])
               : report_indented(building->table,
                                 report_step_of(capture, node->name, building->names), node->depth),
    };
    return report_table_add(building->table, cells);
}

// What lies below a node has a larger index.
static void sum_up(struct tree *tree) {
    for (size_t i = tree->count; i-- > 0;) {
        struct node *node = &tree->nodes[i];
        node->all += node->self;
        node->steps += node->count;
        if (node->above != REPORT_NONE) {
            tree->nodes[node->above].all += node->all;
            tree->nodes[node->above].steps += node->steps;
        }
        tree->order[i] = (uint32_t)i;
    }
    qsort_r(tree->order, tree->count, sizeof(*tree->order), by_size, tree);
    for (size_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[tree->order[i]];
        if (node->above != REPORT_NONE) {
            struct node *above = &tree->nodes[node->above];
            above->first_below = above->below_count++ == 0 ? (uint32_t)i : above->first_below;
        }
    }
}

// Runs are last in `order`, since they are above all; `todo` has what comes next last.
static int put_rows(struct tree *tree) {
    uint32_t *todo = malloc((tree->count + 1) * sizeof(*todo));
    size_t count = 0;
    int r = todo ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = tree->count; r == 0 && i-- > 0;) {
        if (tree->nodes[i].above == REPORT_NONE) {
            todo[count++] = (uint32_t)i;
        }
    }
    while (r == 0 && count > 0) {
        const struct node *node = &tree->nodes[todo[--count]];
        r = node->steps > 0 ? put_row(tree, node) : 0;
        for (size_t i = node->below_count; i-- > 0;) {
            todo[count++] = tree->order[node->first_below + i];
        }
    }
    free(todo);
    return r;
}

static int make(struct tree *tree) {
    const struct report_builds *builds = &tree->building.builds;
    size_t steps = builds->step_count + 1;
    tree->node_of = malloc(steps * sizeof(*tree->node_of));
    tree->way = malloc(steps * sizeof(*tree->way));
    tree->slots = malloc(steps * sizeof(*tree->slots));
    tree->order = malloc((steps + builds->count) * sizeof(*tree->order));
    int r = tree->node_of && tree->way && tree->slots && tree->order ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        memset(tree->node_of, 0xFF, steps * sizeof(*tree->node_of));
    }
    for (size_t i = 0; r == 0 && i < builds->count; i++) {
        r = add_build(tree, (uint32_t)i);
    }
    if (r == 0) {
        sort_slots(tree);
        sum_up(tree);
        r = put_rows(tree);
    }
    return r;
}

int report_step_tree(struct report_table *table, const struct report_model *model,
                     const struct report_stats_options *options) {
    struct tree tree = {0};
    int r = report_building_init(&tree.building, table, model, options);
    r = r ?: make(&tree);
    free(tree.nodes);
    free(tree.node_of);
    free(tree.way);
    free(tree.slots);
    free(tree.order);
    nvtxt_map_deinit(&tree.by_name);
    return report_building_end(&tree.building, r);
}
