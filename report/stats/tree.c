// SPDX-License-Identifier: Apache-2.0
//
// Paths of ranges as a tree: each node is a step below another node, found by a hash of the numbers
// of both. A range that lies below its parent and all that is below the parent, as nearly every one
// does, has the path of its parent and one step; for others, which cross, the lane is asked. What
// an outermost range is shown under in another process may come later: it gets its path first.
//
// No texts of paths are compared. Bytewise, what lies below a path begins with its text and `;`,
// which no step has. So below one path each step has two places among its siblings, one for its own
// row and one, with `;`, for all that lies below it; the places of all steps are sorted once.
#include <stdalign.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"
#include "report/model/lanes.h"
#include "report/model/spans.h"
#include "report/stats/group.h"
#include "report/stats/reports.h"

struct step {
    struct nvtxt_hash_node node;
    struct nvtxt_slice text;
    uint32_t number;
    uint32_t name;            // one that has this text
    struct path *recent;      // a path that ends with it; NULL: none yet
    bool has_below;           // something lies below such a path
    uint32_t place, below_at; // among all steps
};

struct path {
    struct nvtxt_hash_node node;
    const struct path *parent; // NULL: the step is the first one
    struct path *first, *next; // what lies directly below it, as a list; the next one of its own
    struct step *step;
    uint32_t number; // from 1; of no path: 0
    uint32_t depth;
    size_t length; // of the whole text
    uint64_t count, open;
    unsigned __int128 total, self;
};

struct tree {
    struct report_table *table; // its arena has steps, paths and texts
    const struct report_model *model;
    size_t most; // rows
    struct nvtxt_slice *names;
    struct step **steps; // by name; NULL: not made yet
    struct nvtxt_hash by_text, paths;
    size_t below_count; // steps with has_below
    bool has_crossing;  // the lanes are asked
    struct report_lanes lanes;
    struct path **path_of; // by event; of those in the tree, once they have one
    struct path *first;    // what lies below no path
    uint32_t *above;       // owned; what is shown above an event, and comes later
    size_t above_room;
};

// A step has no `;`, which stands between steps.
static int text_of(struct tree *tree, uint32_t name, struct nvtxt_slice *step) {
    *step = report_step_of(tree->model->capture, name, tree->names);
    if (memchr(step->data, ';', step->len)) {
        char *copy = store_arena_take(&tree->table->arena, step->len, 1);
        if (!copy) {
            return nvtxt_origin(-ENOMEM);
        }
        for (size_t i = 0; i < step->len; i++) {
            copy[i] = step->data[i] == ';' ? ',' : step->data[i];
        }
        step->data = copy;
    }
    return 0;
}

// Two names may have one text.
static struct step *make_step(struct tree *tree, uint32_t name) {
    struct nvtxt_slice text;
    if (text_of(tree, name, &text) != 0) {
        return NULL;
    }
    uint64_t hash = nvtxt_hash_pair(0, text);
    struct step *step;
    NVTXT_HASH_FIND(step, node, &tree->by_text, hash, nvtxt_slice_equal(step->text, text));
    if (!step) {
        step = store_arena_take(&tree->table->arena, sizeof(*step), alignof(struct step));
        if (!step || nvtxt_hash_add(&tree->by_text, &step->node, hash) != 0) {
            return NULL;
        }
        step->text = text;
        step->number = (uint32_t)tree->by_text.count;
        step->name = name;
        step->recent = NULL;
        step->has_below = false;
    }
    return tree->steps[name] = step;
}

static struct path *make_path(struct tree *tree, struct path *parent, struct step *step,
                              uint64_t hash) {
    struct path *path = store_arena_take(&tree->table->arena, sizeof(*path), alignof(struct path));
    if (!path) {
        return NULL;
    }
    struct path **list = parent ? &parent->first : &tree->first;
    *path = (struct path){
        .parent = parent,
        .next = *list,
        .step = step,
        .number = (uint32_t)tree->paths.count + 1,
        .length = parent ? parent->length + 1 + step->text.len : step->text.len,
        .depth = parent ? parent->depth + 1 : 0,
    };
    *list = path;
    if (parent && !parent->step->has_below) {
        parent->step->has_below = true;
        tree->below_count++;
    }
    return nvtxt_hash_add(&tree->paths, &path->node, hash) == 0 ? path : NULL;
}

// The path of a name below another path; made when there is none yet. NULL when memory is short.
static struct path *find_path(struct tree *tree, struct path *parent, uint32_t name) {
    struct step *step = tree->steps[name] ? tree->steps[name] : make_step(tree, name);
    if (!step) {
        return NULL;
    }
    struct path *path = step->recent; // most steps lie below one path
    if (path && path->parent == parent) {
        return path;
    }
    uint64_t hash = nvtxt_hash_number((uint64_t)(parent ? parent->number : 0) << 32 | step->number);
    NVTXT_HASH_FIND(path, node, &tree->paths, hash, path->parent == parent && path->step == step);
    return step->recent = path ?: make_path(tree, parent, step, hash);
}

// Whether the range lies below its parent and all that is below the parent.
static bool is_nested(const struct report_model *model, uint32_t event) {
    uint32_t parent = model->parent[event];
    return model->depth[event] == (parent == REPORT_NONE ? 0 : model->depth[parent] + 1);
}

// The path of what an outermost range is shown under in another process; it is made already.
static struct path *path_outside(const struct tree *tree, uint32_t event) {
    uint32_t under = tree->model->parents.under ? tree->model->parents.under[event] : REPORT_NONE;
    return under == REPORT_NONE ? NULL : tree->path_of[under];
}

// The path of the ranges of the lane that are open when the event begins.
static int path_of_lane(struct tree *tree, uint32_t event, struct path **under) {
    const struct report_event *events = tree->model->capture->events;
    struct report_lane *lane;
    int r = report_lanes_begin(&tree->lanes, event, &lane);
    if (r != 0 || is_nested(tree->model, event)) {
        return r;
    }
    const struct nvtxt_walk *walk = &lane->walk;
    size_t lowest = 0;
    while (walk->stack[lowest].id == NVTXT_WALK_GAP) {
        lowest++;
    }
    *under = path_outside(tree, walk->stack[lowest].id);
    for (size_t i = 0; i + 1 < walk->stacked; i++) { // on top is the event
        if (walk->stack[i].id != NVTXT_WALK_GAP) {
            *under = find_path(tree, *under, events[walk->stack[i].id].name);
            if (!*under) {
                return nvtxt_origin(-ENOMEM);
            }
        }
    }
    return 0;
}

// The path of what lies under the event.
static int path_under(struct tree *tree, uint32_t event, struct path **under) {
    uint32_t parent = tree->model->parent[event];
    bool nested = is_nested(tree->model, event);
    *under = nested && parent != REPORT_NONE ? tree->path_of[parent] : path_outside(tree, event);
    bool is_pushed = tree->model->capture->events[event].kind == REPORT_PUSH_POP;
    return tree->has_crossing && is_pushed ? path_of_lane(tree, event, under) : 0;
}

// What the event is shown under, and does not have a path yet, gets one: from the outermost one on.
// It begins later than the event, so its lane is not asked.
static int add_paths_above(struct tree *tree, uint32_t event) {
    size_t count = 0;
    uint32_t at = event;
    while ((at = report_shown_under(tree->model, at)) != REPORT_NONE && !tree->path_of[at]) {
        if (nvtxt_grow(&tree->above, &tree->above_room, count + 1, sizeof(*tree->above)) < 0) {
            return nvtxt_origin(-ENOMEM);
        }
        tree->above[count++] = at;
    }
    while (count > 0) {
        uint32_t next = tree->above[--count];
        uint32_t under = report_shown_under(tree->model, next);
        struct path *path = under == REPORT_NONE ? NULL : tree->path_of[under];
        tree->path_of[next] = find_path(tree, path, tree->model->capture->events[next].name);
        if (!tree->path_of[next]) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    return 0;
}

static int add_range(struct tree *tree, uint32_t event) {
    const struct report_event *range = &tree->model->capture->events[event];
    struct path *under;
    int r = tree->model->parents.under ? add_paths_above(tree, event) : 0;
    r = r ?: path_under(tree, event, &under);
    if (r != 0) {
        return r;
    }
    struct path *path = tree->path_of[event] ?: find_path(tree, under, range->name);
    if (!path) {
        return nvtxt_origin(-ENOMEM);
    }
    tree->path_of[event] = path;
    if (report_is_timed(range)) {
        path->count++;
        path->total += report_duration(range);
        path->self += report_tree_self(tree->model, event);
    } else if (range->flags & REPORT_SELECTED) {
        path->open++;
    }
    return 0;
}

static int add_ranges(struct tree *tree) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < tree->model->count; i++) {
        if (report_is_in_tree(tree->model, (uint32_t)i)) {
            r = add_range(tree, (uint32_t)i);
        }
    }
    return r;
}

static bool has_crossing(const struct report_model *model) {
    for (size_t i = 0; i < model->count; i++) {
        if (!is_nested(model, (uint32_t)i)) {
            return true;
        }
    }
    return false;
}

static int make(struct tree *tree) {
    const struct report_capture *capture = tree->model->capture;
    tree->table->owned = tree->names = report_name_texts(capture);
    tree->steps = calloc(capture->name_count + 1, sizeof(*tree->steps));
    tree->path_of = calloc(tree->model->count + 1, sizeof(*tree->path_of));
    if (!tree->names || !tree->steps || !tree->path_of) {
        return nvtxt_origin(-ENOMEM);
    }
    tree->has_crossing = has_crossing(tree->model);
    int r = report_lanes_init(&tree->lanes, capture);
    if (r == 0) {
        r = add_ranges(tree);
        report_lanes_deinit(&tree->lanes);
    }
    return r;
}

// ---- The order of steps -------------------------------------------------------------------------

// A step, or what begins with it and `;`.
struct place {
    struct nvtxt_slice text;
    uint32_t *place;
    bool below;
};

// The byte at a place of the text, which may be the one after its last.
static int byte_at(const struct place *of, size_t at) {
    return at < of->text.len ? (unsigned char)of->text.data[at] : of->below ? ';' : -1;
}

static int by_place(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    size_t least = nvtxt_min(a->text.len, b->text.len);
    int order = least > 0 ? memcmp(a->text.data, b->text.data, least) : 0;
    return order ?: byte_at(a, least) - byte_at(b, least);
}

static int order_steps(struct tree *tree) {
    struct place *places = malloc((tree->by_text.count + tree->below_count + 1) * sizeof(*places));
    size_t count = 0;
    if (!places) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < tree->by_text.bucket_count; i++) {
        for (struct nvtxt_hash_node *node = tree->by_text.buckets[i]; node; node = node->next) {
            struct step *step = NVTXT_CONTAINER_OF(node, struct step, node);
            places[count++] = (struct place){step->text, &step->place, false};
            if (step->has_below) {
                places[count++] = (struct place){step->text, &step->below_at, true};
            }
        }
    }
    qsort(places, count, sizeof(*places), by_place);
    for (size_t i = 0; i < count; i++) {
        *places[i].place = (uint32_t)i;
    }
    free(places);
    return 0;
}

// ---- Rows ---------------------------------------------------------------------------------------

// A path, or all that lies below it.
struct entry {
    struct path *path;
    uint32_t place;
    bool below;
};

struct entries {        // what is to be done, the next one last
    struct entry *list; // owned
    size_t count, room;
};

static int later_first(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    return (a->place < b->place) - (a->place > b->place);
}

static int add_entry(struct entries *entries, struct entry entry) {
    if (nvtxt_grow(&entries->list, &entries->room, entries->count + 1, sizeof(*entries->list)) <
        0) {
        return nvtxt_origin(-ENOMEM);
    }
    entries->list[entries->count++] = entry;
    return 0;
}

static int add_list(struct entries *entries, struct path *first) {
    size_t begin = entries->count;
    int r = 0;
    for (struct path *path = first; r == 0 && path; path = path->next) {
        r = add_entry(entries, (struct entry){path, path->step->place, false});
        if (r == 0 && path->first) {
            r = add_entry(entries, (struct entry){path, path->step->below_at, true});
        }
    }
    if (r == 0 && entries->count > begin) {
        qsort(entries->list + begin, entries->count - begin, sizeof(*entries->list), later_first);
    }
    return r;
}

static struct nvtxt_slice make_text(struct tree *tree, const struct path *path) {
    size_t length = path->length;
    char *text = report_table_room(tree->table, length);
    for (char *at = text ? text + length : NULL; at && path; path = path->parent) {
        at -= path->step->text.len;
        memcpy(at, path->step->text.data, path->step->text.len);
        if (path->parent) {
            *--at = ';';
        }
    }
    return (struct nvtxt_slice){text, length};
}

// Rows of a report: a path that counts, with its text.
typedef int put_row(struct report_table *table, const struct path *path, struct nvtxt_slice text);

static int put_path(struct tree *tree, const struct path *path, put_row *put) {
    if (path->count == 0) {
        return 0;
    }
    if (tree->table->row_count == tree->most) {
        tree->table->left_out++;
        return 0;
    }
    struct nvtxt_slice text = make_text(tree, path);
    return text.data ? put(tree->table, path, text) : nvtxt_origin(-ENOMEM);
}

static int put_rows(struct tree *tree, put_row *put) {
    struct entries entries = {0};
    int r = order_steps(tree);
    r = r ?: add_list(&entries, tree->first);
    while (r == 0 && entries.count > 0) {
        struct entry entry = entries.list[--entries.count];
        r = entry.below ? add_list(&entries, entry.path->first) : put_path(tree, entry.path, put);
    }
    free(entries.list);
    return r;
}

static int put_tree_row(struct report_table *table, const struct path *path,
                        struct nvtxt_slice text) {
    const struct report_cell cells[] = {
        report_cell_total(table, path->total),
        report_cell_total(table, path->self),
        report_cell_uint(path->count),
        report_cell_real((double)((long double)path->total / (long double)path->count)),
        report_cell_uint(path->depth),
        report_cell_text(text),
    };
    return report_table_add(table, cells);
}

static int put_folded_row(struct report_table *table, const struct path *path,
                          struct nvtxt_slice text) {
    if (path->self == 0) {
        return 0;
    }
    const struct report_cell cells[] = {
        report_cell_text(text),
        report_cell_total(table, path->self),
    };
    return report_table_add(table, cells);
}

// ---- The widest paths ---------------------------------------------------------------------------

struct wide {
    const struct path *path;
    unsigned __int128 width;
    bool is_used; // selected ranges have it, or a path below it
};

static int wider_first(const void *left, const void *right) {
    const struct wide *a = left, *b = right;
    int order = NVTXT_ORDER(b->is_used, a->is_used) ?: NVTXT_ORDER(b->width, a->width);
    return order ?: NVTXT_ORDER(a->path->number, b->path->number);
}

// By their numbers; what lies below a path has a larger number.
static void find_widths(const struct tree *tree, struct wide *wide, struct report_paths *to) {
    for (size_t i = 0; i < tree->paths.bucket_count; i++) {
        for (struct nvtxt_hash_node *node = tree->paths.buckets[i]; node; node = node->next) {
            const struct path *path = NVTXT_CONTAINER_OF(node, struct path, node);
            wide[path->number - 1].path = path;
        }
    }
    for (size_t i = tree->paths.count; i-- > 0;) {
        const struct path *path = wide[i].path;
        wide[i].width = wide[i].width > path->total ? wide[i].width : path->total;
        wide[i].is_used = wide[i].is_used || path->count > 0 || path->open > 0;
        if (path->parent) {
            wide[path->parent->number - 1].width += wide[i].width;
            wide[path->parent->number - 1].is_used |= wide[i].is_used;
        } else {
            to->width += wide[i].width;
        }
        to->left_out += wide[i].is_used;
    }
}

// Parents are as wide as what lies below them, and so stand before it.
static void put_widest(const struct wide *wide, uint32_t *places, struct report_paths *to) {
    for (size_t i = 0; i < to->count; i++) {
        const struct path *path = wide[i].path;
        places[path->number - 1] = (uint32_t)i;
        to->list[i] = (struct report_path){
            .parent = path->parent ? places[path->parent->number - 1] : REPORT_NONE,
            .name = path->step->name,
            .count = path->count,
            .open = path->open,
            .total = path->total,
            .self = path->self,
        };
    }
}

static int take_widest(const struct tree *tree, struct report_paths *to) {
    size_t count = tree->paths.count;
    struct wide *wide = calloc(count + 1, sizeof(*wide));
    uint32_t *places = malloc((count + 1) * sizeof(*places));
    to->list = malloc((nvtxt_min(to->most, count) + 1) * sizeof(*to->list));
    int r = wide && places && to->list ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        find_widths(tree, wide, to);
        qsort(wide, count, sizeof(*wide), wider_first);
        to->count = to->left_out < to->most ? to->left_out : to->most;
        to->left_out -= to->count;
        put_widest(wide, places, to);
    }
    free(wide);
    free(places);
    return r;
}

void report_paths_deinit(struct report_paths *paths) {
    free(paths->list);
    *paths = (struct report_paths){0};
}

static int fill_table(struct report_table *table, const struct report_model *model,
                      const struct report_stats_options *options, put_row *put) {
    struct tree tree = {.table = table, .model = model};
    tree.most = options->most_rows > 0 ? options->most_rows : SIZE_MAX;
    int r = make(&tree);
    r = r ?: put_rows(&tree, put);
    r = r == 0 && options->paths ? take_widest(&tree, options->paths) : r;
    free(tree.steps);
    free(tree.path_of);
    free(tree.above);
    nvtxt_hash_deinit(&tree.by_text);
    nvtxt_hash_deinit(&tree.paths);
    r = r ?: report_note_parents(table, model, options->parents_said);
    return r ?: report_note_open(table, model, REPORT_KIND(REPORT_PUSH_POP), "left out");
}

int report_nvtx_tree(struct report_table *table, const struct report_model *model,
                     const struct report_stats_options *options) {
    return fill_table(table, model, options, put_tree_row);
}

int report_nvtx_folded(struct report_table *table, const struct report_model *model,
                       const struct report_stats_options *options) {
    return fill_table(table, model, options, put_folded_row);
}
