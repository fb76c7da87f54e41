// SPDX-License-Identifier: Apache-2.0
//
// Processes, threads and sources were added as they were met. They are sorted here, and all that
// refers to them gets the new index. Of the names of a category the one that was read last stays.
#include "report/load/load_state.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

struct rank {
    uint32_t first;
    uint64_t second;
    uint32_t old; // index before
};

static int compare(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    int order = NVTXT_ORDER(x->first, y->first);
    return order ?: NVTXT_ORDER(x->second, y->second) ?: NVTXT_ORDER(x->old, y->old);
}

// Sorts `rows` as the ranks say; `fresh` gets the new index of each old one. Returns 0 or -ENOMEM.
static int sort_rows(struct rank *ranks, size_t count, void *rows, size_t size, uint32_t *fresh) {
    if (count == 0) {
        return 0;
    }
    char *copy = malloc(count * size);
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    qsort(ranks, count, sizeof(*ranks), compare);
    memcpy(copy, rows, count * size);
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)rows + i * size, copy + ranks[i].old * size, size);
        fresh[ranks[i].old] = (uint32_t)i;
    }
    free(copy);
    return 0;
}

struct orders {
    struct rank *ranks;
    uint32_t *processes, *threads, *sources; // the new index of each
};

static int sort_all(struct report_load_state *load, struct orders *orders) {
    struct report_capture *capture = load->capture;
    struct rank *ranks = orders->ranks;
    for (size_t i = 0; i < capture->process_count; i++) {
        const struct report_process *process = &capture->processes[i];
        ranks[i] = (struct rank){process->store, process->pid, (uint32_t)i};
    }
    int r = sort_rows(ranks, capture->process_count, capture->processes,
                      sizeof(*capture->processes), orders->processes);
    for (size_t i = 0; i < capture->thread_count && r == 0; i++) {
        const struct report_thread *thread = &capture->threads[i];
        ranks[i] = (struct rank){thread->store, thread->global_tid, (uint32_t)i};
    }
    r = r
            ?: sort_rows(ranks, capture->thread_count, capture->threads, sizeof(*capture->threads),
                         orders->threads);
    for (size_t i = 0; i < capture->source_count && r == 0; i++) {
        const struct report_source *source = &capture->sources[i];
        // By the signed id: its sign bit turned over.
        ranks[i] =
            (struct rank){source->store, (uint64_t)source->id ^ UINT64_C(1) << 63, (uint32_t)i};
    }
    return r
               ?: sort_rows(ranks, capture->source_count, capture->sources,
                            sizeof(*capture->sources), orders->sources);
}

static void renumber(struct report_load_state *load, const struct orders *orders) {
    struct report_capture *capture = load->capture;
    for (size_t i = 0; i < capture->thread_count; i++) {
        capture->threads[i].process = orders->processes[capture->threads[i].process];
    }
    for (size_t i = 0; i < capture->scope_count; i++) {
        capture->scopes[i].process = orders->processes[capture->scopes[i].process];
    }
    for (size_t i = 0; i < capture->event_count; i++) {
        struct report_event *event = &capture->events[i];
        event->thread = orders->threads[event->thread];
        event->source = event->source == REPORT_NONE ? REPORT_NONE : orders->sources[event->source];
        event->end = event->flags & REPORT_OPEN ? capture->last_ns : event->end;
    }
    for (size_t i = 0; i < capture->key_count; i++) {
        capture->keys[i].source = orders->sources[capture->keys[i].source];
    }
    for (size_t i = 0; i < capture->kernel_count; i++) {
        uint32_t thread = capture->kernels[i].thread;
        capture->kernels[i].thread = thread == REPORT_NONE ? thread : orders->threads[thread];
    }
    for (size_t i = 0; i < load->diagnostic_count; i++) {
        load->diagnostics[i].source = orders->sources[load->diagnostics[i].source];
    }
}

static size_t largest(const struct report_capture *capture) {
    size_t most = capture->process_count > capture->thread_count ? capture->process_count
                                                                 : capture->thread_count;
    most = most > capture->source_count ? most : capture->source_count;
    return most > capture->category_count ? most : capture->category_count;
}

static int finish_categories(struct report_capture *capture, struct orders *orders) {
    uint32_t *fresh = malloc((capture->category_count + 1) * sizeof(*fresh));
    for (size_t i = 0; i < capture->category_count; i++) {
        const struct report_category *category = &capture->categories[i];
        orders->ranks[i] = (struct rank){category->scope, category->id, (uint32_t)i};
    }
    int r = fresh ? sort_rows(orders->ranks, capture->category_count, capture->categories,
                              sizeof(*capture->categories), fresh)
                  : nvtxt_origin(-ENOMEM);
    size_t kept = 0;
    for (size_t i = 0; i < capture->category_count && r == 0; i++) {
        const struct report_category *next = &capture->categories[i + 1];
        bool again = i + 1 < capture->category_count &&
                     next->scope == capture->categories[i].scope &&
                     next->id == capture->categories[i].id;
        if (!again) {
            capture->categories[kept++] = capture->categories[i];
        }
    }
    capture->category_count = r == 0 ? kept : capture->category_count;
    free(fresh);
    return r;
}

// ---- Diagnostics --------------------------------------------------------------------------------

static int compare_diagnostics(const void *a, const void *b) {
    const struct report_load_diagnostic *x = a, *y = b;
    int order = NVTXT_ORDER(x->source, y->source) ?: NVTXT_ORDER(x->row.line, y->row.line);
    return order ?: NVTXT_ORDER(x->row.column, y->row.column) ?: NVTXT_ORDER(x->order, y->order);
}

static int finish_diagnostics(struct report_load_state *load) {
    size_t count = load->diagnostic_count;
    if (count == 0) {
        return 0;
    }
    struct report_diagnostic *rows =
        store_arena_take(&load->memory->bytes, count * sizeof(*rows), 16);
    if (!rows) {
        return nvtxt_origin(-ENOMEM);
    }
    qsort(load->diagnostics, count, sizeof(*load->diagnostics), compare_diagnostics);
    for (size_t i = 0; i < count; i++) {
        struct report_source *source = &load->capture->sources[load->diagnostics[i].source];
        rows[i] = load->diagnostics[i].row;
        source->diagnostics = source->diagnostic_count ? source->diagnostics : &rows[i];
        source->diagnostic_count++;
    }
    return 0;
}

// Gives back what the array of events has too much.
static void trim(struct report_load_state *load) {
    struct report_capture *capture = load->capture;
    if (capture->event_count > 0 && capture->event_count < load->room.events) {
        void *exact = realloc(capture->events, capture->event_count * sizeof(*capture->events));
        capture->events = exact ?: capture->events;
    }
}

int report_load_finish(struct report_load_state *load) {
    const struct report_capture *capture = load->capture;
    struct orders orders = {
        .ranks = malloc((largest(capture) + 1) * sizeof(struct rank)),
        .processes = malloc((capture->process_count + 1) * sizeof(uint32_t)),
        .threads = malloc((capture->thread_count + 1) * sizeof(uint32_t)),
        .sources = malloc((capture->source_count + 1) * sizeof(uint32_t)),
    };
    int r = orders.ranks && orders.processes && orders.threads && orders.sources
                ? 0
                : nvtxt_origin(-ENOMEM);
    r = r ?: sort_all(load, &orders);
    if (r == 0) {
        renumber(load, &orders);
        r = finish_categories(load->capture, &orders);
    }
    r = r ?: finish_diagnostics(load);
    trim(load);
    free(orders.ranks);
    free(orders.processes);
    free(orders.threads);
    free(orders.sources);
    return r;
}
