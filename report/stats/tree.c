// SPDX-License-Identifier: Apache-2.0
//
// Paths of push/pop ranges as a tree: each node is a step below another node, found by a hash of
// both. A range that lies below its parent and all that is below the parent, as nearly every one
// does, has the path of its parent and one step; for others, which cross, the lane is asked.
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>

#include "protocol/base/hash.h"
#include "report/model/lanes.h"
#include "report/model/name_text.h"
#include "report/model/spans.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

struct path {
    struct nvtxt_hash_node node;
    const struct path *parent; // NULL: the step is the first one
    struct nvtxt_slice step;
    uint64_t number; // from 1; of no path: 0
    size_t length;   // of the whole text
    uint32_t depth;
    uint64_t count;
    unsigned __int128 total, self;
};

struct tree {
    struct report_table *table; // its arena has the paths and their texts
    const struct report_model *model;
    struct nvtxt_slice *names;
    struct nvtxt_slice *steps; // by name; data NULL: not made yet
    struct report_lanes lanes;
    struct nvtxt_hash paths;
    struct path **path_of; // by event; of push/pop ranges
    uint64_t used;         // paths with a range that counts
};

struct row {
    struct nvtxt_slice text;
    const struct path *path;
};

// A step has no `;`, which stands between steps.
static int make_step(struct tree *tree, uint32_t name) {
    struct nvtxt_slice step = report_step_of(tree->model->capture, name, tree->names);
    if (memchr(step.data, ';', step.len)) {
        char *copy = store_arena_take(&tree->table->arena, step.len, 1);
        if (!copy) {
            return -ENOMEM;
        }
        for (size_t i = 0; i < step.len; i++) {
            copy[i] = step.data[i] == ';' ? ',' : step.data[i];
        }
        step.data = copy;
    }
    tree->steps[name] = step;
    return 0;
}

// The path of a name below another path; made when there is none yet. NULL when memory is short.
static struct path *find_path(struct tree *tree, const struct path *parent, uint32_t name) {
    if (!tree->steps[name].data && make_step(tree, name) != 0) {
        return NULL;
    }
    struct nvtxt_slice step = tree->steps[name];
    uint64_t hash = nvtxt_hash_pair(parent ? parent->number : 0, step);
    struct path *path;
    NVTXT_HASH_FIND(path, node, &tree->paths, hash,
                    path->parent == parent && nvtxt_slice_equal(path->step, step));
    if (path) {
        return path;
    }
    path = store_arena_take(&tree->table->arena, sizeof(*path), alignof(struct path));
    if (!path) {
        return NULL;
    }
    *path = (struct path){
        .parent = parent,
        .step = step,
        .number = tree->paths.count + 1,
        .length = parent ? parent->length + 1 + step.len : step.len,
        .depth = parent ? parent->depth + 1 : 0,
    };
    return nvtxt_hash_add(&tree->paths, &path->node, hash) == 0 ? path : NULL;
}

// The path of what lies under the event, which is on top of its lane.
static int path_under(struct tree *tree, uint32_t event, struct report_lane *lane,
                      const struct path **under) {
    const struct report_model *model = tree->model;
    uint32_t parent = model->parent[event];
    *under = NULL;
    if (parent != REPORT_NONE && model->depth[event] == model->depth[parent] + 1) {
        *under = tree->path_of[parent];
        return 0;
    }
    const uint32_t *stack = report_lane_stack(&tree->lanes, lane);
    for (uint32_t i = 0; i < model->depth[event]; i++) {
        *under = find_path(tree, *under, model->capture->events[stack[i]].name);
        if (!*under) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int add_range(struct tree *tree, uint32_t event) {
    const struct report_event *range = &tree->model->capture->events[event];
    struct report_lane *lane = report_lanes_find(&tree->lanes, range);
    const struct path *under;
    if (!lane) {
        return -ENOMEM;
    }
    report_lane_move(&tree->lanes, lane, range->start, NULL);
    int rc = report_lane_push(&tree->lanes, lane, event);
    rc = rc == 0 ? path_under(tree, event, lane, &under) : rc;
    if (rc != 0) {
        return rc;
    }
    struct path *path = find_path(tree, under, range->name);
    if (!path) {
        return -ENOMEM;
    }
    tree->path_of[event] = path;
    if (report_is_timed(range)) {
        tree->used += path->count++ == 0;
        path->total += report_duration(range);
        path->self += tree->model->self_ns[event];
    }
    return 0;
}

static int add_ranges(struct tree *tree) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < tree->model->count; i++) {
        if (tree->model->capture->events[i].kind == REPORT_PUSH_POP) {
            rc = add_range(tree, (uint32_t)i);
        }
    }
    return rc;
}

static int make(struct tree *tree) {
    const struct report_capture *capture = tree->model->capture;
    tree->table->owned = tree->names = report_name_texts(capture);
    tree->steps = calloc(capture->name_count + 1, sizeof(*tree->steps));
    tree->path_of = malloc((tree->model->count + 1) * sizeof(*tree->path_of));
    if (!tree->names || !tree->steps || !tree->path_of) {
        return -ENOMEM;
    }
    int rc = report_lanes_init(&tree->lanes, capture);
    if (rc == 0) {
        rc = add_ranges(tree);
        report_lanes_deinit(&tree->lanes);
    }
    return rc;
}

static bool make_text(struct tree *tree, struct row *row, const struct path *path) {
    char *text = report_table_room(tree->table, path->length);
    *row = (struct row){{text, path->length}, path};
    if (!text) {
        return false;
    }
    for (char *at = text + path->length; path; path = path->parent) {
        at -= path->step.len;
        memcpy(at, path->step.data, path->step.len);
        if (path->parent) {
            *--at = ';';
        }
    }
    return true;
}

static int by_text(const void *left, const void *right) {
    return report_text_order(((const struct row *)left)->text, ((const struct row *)right)->text);
}

// The paths with a range that counts, by their texts. The caller frees them. NULL when memory is
// short.
static struct row *make_rows(struct tree *tree) {
    struct row *rows = malloc((tree->used + 1) * sizeof(*rows));
    size_t count = 0;
    for (size_t i = 0; rows && i < tree->paths.bucket_count; i++) {
        for (struct nvtxt_hash_node *node = tree->paths.buckets[i]; node; node = node->next) {
            const struct path *path = NVTXT_CONTAINER_OF(node, struct path, node);
            if (path->count > 0 && !make_text(tree, &rows[count++], path)) {
                free(rows);
                return NULL;
            }
        }
    }
    if (rows) {
        qsort(rows, count, sizeof(*rows), by_text);
    }
    return rows;
}

static int put_tree_row(struct report_table *table, const struct row *row) {
    const struct path *path = row->path;
    struct report_cell *cells = report_table_row(table);
    if (!cells) {
        return -ENOMEM;
    }
    cells[0] = report_cell_total(table, path->total);
    cells[1] = report_cell_total(table, path->self);
    cells[2] = report_cell_uint(path->count);
    cells[3] = report_cell_real((double)((long double)path->total / (long double)path->count));
    cells[4] = report_cell_uint(path->depth);
    cells[5] = report_cell_text(row->text);
    return 0;
}

static int put_folded_row(struct report_table *table, const struct row *row) {
    if (row->path->self == 0) {
        return 0;
    }
    struct report_cell *cells = report_table_row(table);
    if (!cells) {
        return -ENOMEM;
    }
    cells[0] = report_cell_text(row->text);
    cells[1] = report_cell_total(table, row->path->self);
    return 0;
}

static int fill(struct report_table *table, const struct report_model *model,
                int (*put_row)(struct report_table *, const struct row *)) {
    struct tree tree = {.table = table, .model = model};
    int rc = make(&tree);
    struct row *rows = rc == 0 ? make_rows(&tree) : NULL;
    rc = rc == 0 && !rows ? -ENOMEM : rc;
    for (size_t i = 0; rc == 0 && i < tree.used; i++) {
        rc = put_row(table, &rows[i]);
    }
    free(rows);
    free(tree.steps);
    free(tree.path_of);
    nvtxt_hash_deinit(&tree.paths);
    return rc == 0 ? report_note_open(table, model, REPORT_KIND(REPORT_PUSH_POP)) : rc;
}

int report_nvtx_tree(struct report_table *table, const struct report_model *model,
                     const struct report_stats_options *options) {
    (void)options;
    return fill(table, model, put_tree_row);
}

int report_nvtx_folded(struct report_table *table, const struct report_model *model,
                       const struct report_stats_options *options) {
    (void)options;
    return fill(table, model, put_folded_row);
}
