// SPDX-License-Identifier: Apache-2.0
//
// The ranges of a lane that overlap are one block: the one that began first is outermost, the
// others began in it. Blocks of a lane do not touch, so a search finds the one that a time is in.
#include <stdlib.h>

#include "client/export/export.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "store/store.h"

struct block {
    uint64_t global_tid;
    int64_t domain_id, start, end, row; // the row of the outermost range
    size_t file;
};

struct export_parents {
    struct store_parents *of_store; // owned
    bool any;
    struct block *blocks; // owned; ranges at first; in order at the end
    size_t count;
};

void export_parents_free(struct export_parents *parents) {
    if (parents) {
        store_parents_free(parents->of_store);
        free(parents->blocks);
        free(parents);
    }
}

bool export_parents_were_cut(const struct export_parents *parents) {
    return store_parents_were_cut(parents->of_store);
}

// ---- Ranges -------------------------------------------------------------------------------------

static int add_range(struct export_parents *parents, const struct store_read_event *event,
                     size_t file) {
    if (event->type != NVTXT_EVENT_PUSH_POP || event->end <= event->start) {
        return 0;
    }
    struct block *block = nvtxt_add(&parents->blocks, &parents->count, sizeof(*block));
    if (!block) {
        return nvtxt_origin(-ENOMEM);
    }
    *block = (struct block){.global_tid = event->global_tid,
                            .domain_id = event->domain_id,
                            .start = event->start,
                            .end = event->end,
                            .row = event->row,
                            .file = file};
    return 0;
}

static int read_ranges(struct export_parents *parents, struct store_reader *reader, size_t file) {
    struct store_read_window window = STORE_READ_ALL;
    const struct store_read_event *events;
    size_t count;
    window.sources = store_parents_sources(parents->of_store, file, &window.source_count);
    if (window.source_count == 0) {
        return STORE_DONE;
    }
    int r = store_read_select(reader, &window);
    while (r == STORE_DONE && signals_count() == 0) {
        r = store_read_chunk(reader, &events, &count);
        for (size_t i = 0; i < count && r == STORE_DONE; i++) {
            r = add_range(parents, &events[i], file);
        }
    }
    return r == STORE_NOT_FOUND ? STORE_DONE : r;
}

// ---- Blocks -------------------------------------------------------------------------------------

static int by_lane(const struct block *a, const struct block *b) {
    int r = NVTXT_ORDER(a->global_tid, b->global_tid);
    return r ?: NVTXT_ORDER(a->domain_id, b->domain_id);
}

// Of equal starts the longer one first, of equal ranges the one that ended last.
static int by_start(const void *one, const void *other) {
    const struct block *a = one, *b = other;
    int r = by_lane(a, b);
    r = r ?: NVTXT_ORDER(a->start, b->start);
    r = r ?: NVTXT_ORDER(b->end, a->end);
    r = r ?: NVTXT_ORDER(b->file, a->file);
    return r ?: NVTXT_ORDER(b->row, a->row);
}

static void make_blocks(struct export_parents *parents) {
    struct block *blocks = parents->blocks;
    size_t kept = 0;
    if (parents->count > 0) {
        qsort(blocks, parents->count, sizeof(*blocks), by_start);
    }
    for (size_t i = 0; i < parents->count; i++) {
        struct block *last = kept > 0 ? &blocks[kept - 1] : NULL;
        if (last && by_lane(last, &blocks[i]) == 0 && blocks[i].start < last->end) {
            last->end = blocks[i].end > last->end ? blocks[i].end : last->end;
        } else {
            blocks[kept++] = blocks[i];
        }
    }
    parents->count = kept;
    blocks = kept > 0 ? realloc(blocks, kept * sizeof(*blocks)) : NULL;
    parents->blocks = blocks ?: parents->blocks;
}

int export_parents_find(struct export_parents **out, struct store_reader *const *readers,
                        size_t count, bool any, size_t *failed) {
    struct store_parents *of_store;
    *out = NULL;
    int r = store_parents_load(&of_store, readers, count, failed);
    if (r != STORE_DONE || !of_store) {
        return r;
    }
    struct export_parents *parents = calloc(1, sizeof(*parents));
    if (!parents) {
        store_parents_free(of_store);
        return nvtxt_origin(-ENOMEM);
    }
    *parents = (struct export_parents){.of_store = of_store, .any = any};
    for (size_t i = 0; i < count && r == STORE_DONE && !any; i++) {
        *failed = i;
        r = read_ranges(parents, readers[i], i);
    }
    if (r != STORE_DONE) {
        export_parents_free(parents);
        return r;
    }
    make_blocks(parents);
    *out = parents;
    return STORE_DONE;
}

// ---- Rows ---------------------------------------------------------------------------------------

// The last block of the lane that begins at this time or before; NULL: none.
static const struct block *find_block(const struct export_parents *parents,
                                      const struct store_read_event *event) {
    const struct block wanted = {
        .global_tid = event->global_tid, .domain_id = event->domain_id, .start = event->start};
    size_t first = 0, after = parents->count;
    while (first < after) {
        size_t middle = first + (after - first) / 2;
        int r = by_lane(&parents->blocks[middle], &wanted);
        if (r > 0 || (r == 0 && parents->blocks[middle].start > wanted.start)) {
            after = middle;
        } else {
            first = middle + 1;
        }
    }
    return first > 0 && by_lane(&parents->blocks[first - 1], &wanted) == 0
               ? &parents->blocks[first - 1]
               : NULL;
}

static bool is_outermost(const struct export_parents *parents, size_t file,
                         const struct store_read_event *event) {
    if (parents->any || event->type == NVTXT_EVENT_START_END) {
        return true;
    }
    const struct block *block = find_block(parents, event);
    return !block || event->start >= block->end ||
           (block->row == event->row && block->file == file);
}

void export_parents_set(struct export_parents *parents, struct store_reader *reader, size_t file,
                        struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    struct nvtxt_slice name;
    int64_t source_id = store_read_source(reader, event->row, &name);
    row->file = file;
    row->as_parent = store_parents_at(parents->of_store, file, event->row);
    row->parent = store_parents_of(parents->of_store, file, event->row, source_id);
    if (row->parent && !is_outermost(parents, file, event)) {
        row->parent = NULL;
    }
}
