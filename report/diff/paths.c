// SPDX-License-Identifier: Apache-2.0
//
// NEW's paths are put into the list, and found by a hash of the path above them and the text of
// their step; then BASE's, which come after what is above them, as NEW's do.
#include "report/diff/paths.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash.h"

#define FEW_ROWS 1 // of a table that is not looked at

struct joined {
    struct nvtxt_hash_node node;
    uint32_t index; // of the list
};

struct joining {
    struct report_diff_paths *to;
    struct report_paths from[2]; // of BASE and NEW
    struct nvtxt_slice *steps;   // owned; of the side at hand, by name
    uint32_t *places;            // owned; of the side at hand, by path: where it is in the list
    struct joined *nodes;        // owned; one for each of the list
    struct nvtxt_hash table;
};

// ---- Steps --------------------------------------------------------------------------------------

// The texts of steps, and a copy without `;` of those that have some.
static int take_steps(struct joining *joining, size_t side, const struct report_model *model) {
    const struct report_capture *capture = model->capture;
    struct nvtxt_slice *names = joining->to->names[side] = report_name_texts(capture);
    struct nvtxt_slice *steps = joining->steps =
        malloc((capture->name_count + 1) * sizeof(*joining->steps));
    size_t size = 0;
    for (uint32_t i = 0; names && steps && i < capture->name_count; i++) {
        steps[i] = report_step_of(capture, i, names);
        size += memchr(steps[i].data, ';', steps[i].len) ? steps[i].len : 0;
    }
    char *at = joining->to->texts[side] = malloc(size + 1);
    if (!names || !steps || !at) {
        return nvtxt_origin(-ENOMEM);
    }
    for (uint32_t i = 0; i < capture->name_count; i++) {
        if (!memchr(steps[i].data, ';', steps[i].len)) {
            continue;
        }
        for (size_t k = 0; k < steps[i].len; k++) {
            at[k] = steps[i].data[k] == ';' ? ',' : steps[i].data[k];
        }
        steps[i].data = at;
        at += steps[i].len;
    }
    return 0;
}

// ---- The list -----------------------------------------------------------------------------------

static uint32_t find_path(const struct joining *joining, uint32_t parent, struct nvtxt_slice step,
                          uint64_t hash) {
    const struct report_diff_path *list = joining->to->list;
    struct joined *found;
    NVTXT_HASH_FIND(found, node, &joining->table, hash,
                    list[found->index].parent == parent &&
                        nvtxt_slice_equal(list[found->index].step, step));
    return found ? found->index : REPORT_NONE;
}

static int put_path(struct joining *joining, size_t side, size_t number) {
    struct report_diff_paths *to = joining->to;
    const struct report_path *path = &joining->from[side].list[number];
    uint32_t parent = path->parent == REPORT_NONE ? REPORT_NONE : joining->places[path->parent];
    struct nvtxt_slice step = joining->steps[path->name];
    uint64_t hash = nvtxt_hash_pair(parent, step);
    uint32_t index = find_path(joining, parent, step, hash);
    if (index == REPORT_NONE) {
        index = (uint32_t)to->count++;
        to->list[index] = (struct report_diff_path){
            .parent = parent, .name = to->names[side][path->name], .step = step};
        joining->nodes[index].index = index;
        if (nvtxt_hash_add(&joining->table, &joining->nodes[index].node, hash) != 0) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    struct report_diff_path_side *figures =
        side == 0 ? &to->list[index].base : &to->list[index].new;
    *figures = (struct report_diff_path_side){path->count, path->open, path->total, path->self};
    joining->places[number] = index;
    return 0;
}

static int put_side(struct joining *joining, size_t side, const struct report_model *model) {
    const struct report_paths *from = &joining->from[side];
    int r = take_steps(joining, side, model);
    joining->places = malloc((from->count + 1) * sizeof(*joining->places));
    r = r == 0 && !joining->places ? nvtxt_origin(-ENOMEM) : r;
    for (size_t i = 0; r == 0 && i < from->count; i++) {
        r = put_path(joining, side, i);
    }
    free(joining->steps);
    free(joining->places);
    joining->steps = NULL;
    joining->places = NULL;
    return r;
}

static int take_paths(struct report_paths *paths, const struct report_model *model) {
    const struct report_stats_options options = {.most_rows = FEW_ROWS, .paths = paths};
    struct report_table table;
    paths->most = SIZE_MAX;
    int r = report_stats_make(&table, report_stats_find("nvtx_tree"), model, &options);
    report_table_deinit(&table);
    return r;
}

int report_diff_paths_init(struct report_diff_paths *paths, const struct report_model *base,
                           const struct report_model *new) {
    struct joining joining = {.to = paths};
    *paths = (struct report_diff_paths){0};
    int r = take_paths(&joining.from[0], base);
    r = r ?: take_paths(&joining.from[1], new);
    const size_t most = joining.from[0].count + joining.from[1].count;
    paths->list = malloc((most + 1) * sizeof(*paths->list));
    joining.nodes = malloc((most + 1) * sizeof(*joining.nodes));
    r = r == 0 && (!paths->list || !joining.nodes) ? nvtxt_origin(-ENOMEM) : r;
    r = r ?: put_side(&joining, 1, new);
    paths->new_count = paths->count;
    paths->width = joining.from[1].width;
    r = r ?: put_side(&joining, 0, base);
    nvtxt_hash_deinit(&joining.table);
    free(joining.nodes);
    report_paths_deinit(&joining.from[0]);
    report_paths_deinit(&joining.from[1]);
    return r;
}

void report_diff_paths_deinit(struct report_diff_paths *paths) {
    free(paths->list);
    for (size_t side = 0; side < 2; side++) {
        free(paths->names[side]);
        free(paths->texts[side]);
    }
    *paths = (struct report_diff_paths){0};
}

bool report_diff_path_change(const struct report_diff_path *path, double *percent) {
    const struct report_diff_path_side *base = &path->base, *new = &path->new;
    bool has = report_diff_path_has(base) && report_diff_path_has(new);
    *percent = 0;
    if (!has || (base->self == 0 && new->self > 0)) {
        return false;
    }
    if (base->self > 0) {
        *percent = 100 * ((double)new->self - (double)base->self) / (double)base->self;
    }
    return true;
}
