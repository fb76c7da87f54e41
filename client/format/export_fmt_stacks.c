// SPDX-License-Identifier: Apache-2.0
//
// The two formats whose viewers add up ranges by their message, to show where the time was spent.
// speedscope's JSON (https://www.speedscope.app/file-format-schema.json) has each range, in a
// profile for each thread. "folded" has one line for each different stack, with the time that was
// spent in it and in nothing inside of it, as flamegraph.pl and others read it.
#include <stdio.h>
#include <stdlib.h>

#include "client/format/export_stacks.h"
#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "protocol/base/utf8.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

static int begin_stacks(struct export_writer *writer) {
    writer->state = export_stacks_new();
    return writer->state ? 0 : nvtxt_origin(-ENOMEM);
}

static int row_stacks(struct export_writer *writer, const struct store_named_event *row) {
    return export_stacks_add(writer->state, row);
}

static void free_stacks(struct export_writer *writer) {
    export_stacks_free(writer->state);
}

static void tell_if_empty(struct export_writer *writer) {
    if (export_stacks_frames(writer->state) == 0) {
        writer->note = "there is no range, and this format holds no marks: try chrome or csv";
    }
}

static const char loss[] = "ranges cross too many others of their thread, they were cut";

// ---- speedscope ---------------------------------------------------------------------------------

struct speedscope {
    struct export_writer *writer;
    bool comma;
    size_t depth;                      // open ranges of the profile
    const struct store_parent *parent; // of the outermost one; NULL: none
};

static void put_at(struct export_writer *writer, int64_t time) {
    uint64_t since = (uint64_t)time - (uint64_t)writer->base_ns;
    nvtxt_out_uint(&writer->out, time > writer->base_ns ? since : 0);
}

static int begin_profile(void *context, const struct export_stack *stack) {
    struct speedscope *scope = context;
    struct nvtxt_out *out = &scope->writer->out;
    char number[24];
    if (scope->comma) {
        NVTXT_OUT_LITERAL(out, "]},");
    }
    NVTXT_OUT_LITERAL(out, "\n{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
    nvtxt_out_json(out, stack->process);
    out->len -= out->len > 0; // removes the quote that ends it
    NVTXT_OUT_LITERAL(out, " / ");
    size_t at = out->len;
    nvtxt_out_json(out, stack->thread);
    if (out->error == 0 && out->len > at) {
        memmove(out->data + at, out->data + at + 1, out->len - at - 2); // both quotes
        out->len -= 2;
    }
    if (stack->lane > 0) {
        nvtxt_out_bytes(out, number,
                        (size_t)snprintf(number, sizeof(number), " (%u)", stack->lane + 1));
    }
    NVTXT_OUT_LITERAL(out, "\",\"startValue\":");
    put_at(scope->writer, stack->start);
    NVTXT_OUT_LITERAL(out, ",\"endValue\":");
    put_at(scope->writer, stack->end);
    NVTXT_OUT_LITERAL(out, ",\"events\":[");
    scope->comma = false;
    return 0;
}

static void put_event(struct speedscope *scope, char kind, uint32_t frame, int64_t at) {
    struct nvtxt_out *out = &scope->writer->out;
    if (scope->comma) {
        NVTXT_OUT_LITERAL(out, ",");
    }
    scope->comma = true;
    NVTXT_OUT_LITERAL(out, "\n{\"type\":\"");
    nvtxt_out_bytes(out, &kind, 1);
    NVTXT_OUT_LITERAL(out, "\",\"frame\":");
    nvtxt_out_uint(out, frame);
    NVTXT_OUT_LITERAL(out, ",\"at\":");
    put_at(scope->writer, at);
    NVTXT_OUT_LITERAL(out, "}");
}

// The frames of parents, the outermost one first; `at` is when they open or close.
static void put_parents(struct speedscope *scope, const struct store_parent *parent, bool open,
                        int64_t at) {
    const struct store_parent *chain[EXPORT_KIN_MOST];
    size_t count = 0;
    for (; parent && count < EXPORT_KIN_MOST; parent = parent->up) {
        chain[count++] = parent;
    }
    for (size_t i = 0; i < count; i++) {
        const struct store_parent *put = chain[open ? count - 1 - i : i];
        uint32_t frame = export_stacks_frame_of(scope->writer->state, put);
        put_event(scope, open ? 'O' : 'C', frame, at);
    }
}

// What is outermost in its thread stands in the frames of what its process was started in.
static int open_frame(void *context, uint32_t frame, int64_t at, int64_t end,
                      const struct export_kin *kin) {
    struct speedscope *scope = context;
    (void)end;
    if (scope->depth++ == 0) {
        scope->parent = kin ? kin->parent : NULL;
        put_parents(scope, scope->parent, true, at);
    }
    put_event(scope, 'O', frame, at);
    return 0;
}

static int close_frame(void *context, uint32_t frame, int64_t at) {
    struct speedscope *scope = context;
    put_event(scope, 'C', frame, at);
    if (--scope->depth == 0) {
        put_parents(scope, scope->parent, false, at);
    }
    return 0;
}

static int end_profile(void *context) {
    struct speedscope *scope = context;
    scope->comma = true;
    return 0;
}

static int end_speedscope(struct export_writer *writer) {
    struct nvtxt_out *out = &writer->out;
    const struct export_stacks *stacks = writer->state;
    struct speedscope scope = {.writer = writer};
    const struct export_stacks_visitor visitor = {begin_profile, open_frame, close_frame,
                                                  end_profile, &scope};
    NVTXT_OUT_LITERAL(out,
                      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                      "\"exporter\":\"nvtxt-export " PACKAGE_VERSION "\",\"activeProfileIndex\":0,"
                      "\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < export_stacks_frames(stacks); i++) {
        if (i > 0) {
            NVTXT_OUT_LITERAL(out, ",");
        }
        NVTXT_OUT_LITERAL(out, "\n{\"name\":");
        nvtxt_out_json(out, export_stacks_frame(stacks, i));
        NVTXT_OUT_LITERAL(out, "}");
    }
    NVTXT_OUT_LITERAL(out, "]},\"profiles\":[");
    int r = export_stacks_visit(writer->state, &visitor, &writer->changed);
    if (scope.comma) {
        NVTXT_OUT_LITERAL(out, "]}");
    }
    NVTXT_OUT_LITERAL(out, "]}\n");
    tell_if_empty(writer);
    return r;
}

const struct export_format export_speedscope = {.name = "speedscope",
                                                .wants_parents = true,
                                                .loss = loss,
                                                .begin = begin_stacks,
                                                .row = row_stacks,
                                                .end = end_speedscope,
                                                .free = free_stacks};

// ---- folded -------------------------------------------------------------------------------------

// One of the different stacks: the stack around it, and its top.
struct fold {
    struct nvtxt_hash_node node;
    struct fold *next;        // in the order in which they were found
    struct fold *around;      // NULL: a thread
    bool is_place;            // a process or thread
    uint64_t own_ns;          // spent in it, and in nothing inside
    struct nvtxt_slice label; // borrowed from the stacks
};

struct folded {
    const struct export_stacks *stacks;
    struct nvtxt_hash folds;
    struct fold *first, **last;
    struct fold *top;
    int64_t since;       // from here on the time belongs to the top
    struct opened *open; // owned; the ranges that are open
    size_t open_count, open_room;
    struct below *below; // owned; ranges of other threads, by their parents
    size_t below_count, below_room;
};

struct opened {
    struct fold *outer; // the top before it
    const struct store_parent *self;
};

// A range whose parent is in another process.
struct below {
    const struct store_parent *parent;
    int64_t start, end;
};

static struct fold *fold_of(struct folded *folded, struct fold *around, struct nvtxt_slice label,
                            bool is_place) {
    uint64_t hash = nvtxt_hash_pair((uintptr_t)around, label);
    struct fold *fold;
    NVTXT_HASH_FIND(fold, node, &folded->folds, hash,
                    fold->around == around && fold->is_place == is_place &&
                        nvtxt_slice_equal(fold->label, label));
    if (fold) {
        return fold;
    }
    fold = calloc(1, sizeof(*fold));
    if (!fold || nvtxt_hash_add(&folded->folds, &fold->node, hash) < 0) {
        free(fold);
        return NULL;
    }
    fold->around = around;
    fold->label = label;
    fold->is_place = is_place;
    *folded->last = fold;
    folded->last = &fold->next;
    return fold;
}

static void spend(struct folded *folded, int64_t until) {
    uint64_t spent = (uint64_t)until - (uint64_t)folded->since;
    if (!folded->top->is_place &&
        __builtin_add_overflow(folded->top->own_ns, spent, &folded->top->own_ns)) {
        folded->top->own_ns = UINT64_MAX;
    }
    folded->since = until;
}

static int begin_fold(void *context, const struct export_stack *stack) {
    struct folded *folded = context;
    struct fold *process = fold_of(folded, NULL, stack->process, true);
    folded->top = process ? fold_of(folded, process, stack->thread, true) : NULL;
    folded->since = stack->start;
    return folded->top ? 0 : nvtxt_origin(-ENOMEM);
}

// The fold of a parent, below those above it. It stands in no thread. NULL when memory is short.
static struct fold *fold_of_parent(struct folded *folded, const struct store_parent *parent) {
    const struct store_parent *chain[EXPORT_KIN_MOST];
    struct fold *fold = NULL;
    size_t count = 0;
    for (; parent && count < EXPORT_KIN_MOST; parent = parent->up) {
        chain[count++] = parent;
    }
    while (count > 0) {
        uint32_t frame = export_stacks_frame_of(folded->stacks, chain[--count]);
        fold = fold_of(folded, fold, export_stacks_frame(folded->stacks, frame), false);
        if (!fold) {
            return NULL;
        }
    }
    return fold;
}

// Whether the parent is open further below in this thread: then its time went to what is between.
static bool is_open_below(const struct folded *folded, const struct store_parent *parent) {
    for (size_t i = 1; i < folded->open_count && i < EXPORT_KIN_MOST; i++) {
        if (folded->open[folded->open_count - 1 - i].self == parent) {
            return true;
        }
    }
    return false;
}

// Where the parent is right below in this thread, its time goes to the range. It gets that back, as
// the times of all ranges below it are taken from it together.
static int note_below(struct folded *folded, const struct store_parent *parent, int64_t start,
                      int64_t end) {
    bool is_next = folded->open_count > 0 && folded->open[folded->open_count - 1].self == parent;
    if (!is_next && is_open_below(folded, parent)) {
        return 0;
    }
    if (nvtxt_grow(&folded->below, &folded->below_room, folded->below_count + 1,
                   sizeof(*folded->below)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    folded->below[folded->below_count++] = (struct below){parent, start, end};
    folded->top->own_ns += is_next ? (uint64_t)end - (uint64_t)start : 0;
    return 0;
}

// A range that has a parent in another process, or is one, stands below what it is under there.
static int open_fold(void *context, uint32_t frame, int64_t at, int64_t end,
                     const struct export_kin *kin) {
    struct folded *folded = context;
    struct nvtxt_slice label = export_stacks_frame(folded->stacks, frame);
    spend(folded, at);
    if (nvtxt_grow(&folded->open, &folded->open_room, folded->open_count + 1,
                   sizeof(*folded->open)) < 0 ||
        (kin && kin->parent && note_below(folded, kin->parent, at, end) < 0)) {
        return nvtxt_origin(-ENOMEM);
    }
    bool moves = kin && (kin->parent || (folded->top->is_place && kin->self));
    struct fold *around = !moves        ? folded->top
                          : kin->parent ? fold_of_parent(folded, kin->parent)
                                        : NULL;
    struct fold *inner =
        moves && kin->parent && !around ? NULL : fold_of(folded, around, label, false);
    if (!inner) {
        return nvtxt_origin(-ENOMEM);
    }
    folded->open[folded->open_count++] = (struct opened){folded->top, kin ? kin->self : NULL};
    folded->top = inner;
    return 0;
}

static int close_fold(void *context, uint32_t frame, int64_t at) {
    struct folded *folded = context;
    (void)frame;
    spend(folded, at);
    folded->top = folded->open[--folded->open_count].outer;
    return 0;
}

static int by_parent(const void *left, const void *right) {
    const struct below *a = left, *b = right;
    return NVTXT_ORDER(a->parent->number, b->parent->number) ?: NVTXT_ORDER(a->start, b->start);
}

// The time in which ranges of other threads were below a parent is not its own.
static int take_below(struct folded *folded) {
    const struct store_parent *parent = NULL;
    struct fold *fold = NULL;
    int64_t until = 0;
    if (folded->below_count > 0) {
        qsort(folded->below, folded->below_count, sizeof(*folded->below), by_parent);
    }
    for (size_t i = 0; i < folded->below_count; i++) {
        const struct below *below = &folded->below[i];
        if (below->parent != parent) {
            parent = below->parent;
            until = parent->start;
            fold = fold_of_parent(folded, parent);
            if (!fold) {
                return nvtxt_origin(-ENOMEM);
            }
        }
        int64_t from = below->start > until ? below->start : until;
        int64_t to = below->end < parent->end ? below->end : parent->end;
        if (to > from) {
            uint64_t length = (uint64_t)to - (uint64_t)from;
            fold->own_ns -= length < fold->own_ns ? length : fold->own_ns;
            until = to;
        }
    }
    return 0;
}

static int end_fold(void *context) {
    (void)context;
    return 0;
}

// Semicolons separate the frames, and a line is a stack.
static void put_label(struct nvtxt_out *out, struct nvtxt_slice label) {
    (void)nvtxt_out_room(out, NVTXT_UTF8_GROWTH * label.len); // which may empty it
    size_t begun = out->len;
    nvtxt_out_repaired(out, label);
    for (size_t i = begun; i < out->len; i++) {
        char byte = out->data[i];
        out->data[i] = byte == ';' ? ':' : nvtxt_is_ascii_control(byte) ? ' ' : byte;
    }
}

static void put_path(struct nvtxt_out *out, struct fold *fold) {
    struct fold *inner =
        NULL; // reverses the links, and back, without recursion: a stack may be deep
    while (fold) {
        struct fold *around = fold->around;
        fold->around = inner;
        inner = fold;
        fold = around;
    }
    while (inner) {
        struct fold *next = inner->around;
        put_label(out, inner->label);
        if (next) {
            NVTXT_OUT_LITERAL(out, ";");
        }
        inner->around = fold;
        fold = inner;
        inner = next;
    }
}

static int end_folded(struct export_writer *writer) {
    struct nvtxt_out *out = &writer->out;
    struct folded folded = {.stacks = writer->state, .last = &folded.first};
    const struct export_stacks_visitor visitor = {begin_fold, open_fold, close_fold, end_fold,
                                                  &folded};
    int r = export_stacks_visit(writer->state, &visitor, &writer->changed);
    r = r ?: take_below(&folded);
    for (struct fold *fold = folded.first; fold && r == 0; fold = fold->next) {
        if (fold->own_ns > 0) {
            put_path(out, fold);
            NVTXT_OUT_LITERAL(out, " ");
            nvtxt_out_uint(out, fold->own_ns);
            NVTXT_OUT_LITERAL(out, "\n");
        }
    }
    while (folded.first) {
        struct fold *next = folded.first->next;
        free(folded.first);
        folded.first = next;
    }
    nvtxt_hash_deinit(&folded.folds);
    free(folded.open);
    free(folded.below);
    tell_if_empty(writer);
    return r;
}

const struct export_format export_folded = {.name = "folded",
                                            .wants_parents = true,
                                            .loss = loss,
                                            .begin = begin_stacks,
                                            .row = row_stacks,
                                            .end = end_folded,
                                            .free = free_stacks};
