// SPDX-License-Identifier: Apache-2.0
//
// What a load takes, and what it will take. An event takes its place in the array, and what the
// model adds; the rest is texts and tables. How long the texts of rows to come are is not known: it
// is taken to be a little more than those of the rows before.
#include <stdlib.h>

#include "report/load/load.h"
#include "report/load/load_state.h"

#define MODEL_BYTES 24    // what report/model adds to an event
#define PARENT_BYTES 13   // and what it adds where there are parents in other processes
#define ENOUGH_ROWS 4096u // so many say how long texts are
#define BYTES_MOST 9e18   // a larger sum does not fit into 64 bits: what it is does not matter

static uint64_t whole(double bytes) {
    return bytes < BYTES_MOST ? (uint64_t)bytes : UINT64_MAX / 2;
}

static double bytes_of_events(double events) {
    return events * (sizeof(struct report_event) + MODEL_BYTES);
}

// Of parents in other processes: the keys, and what report/model adds to each event for them.
static double bytes_of_parents(const struct report_capture *capture) {
    double events = capture->has_parents ? (double)capture->event_count * PARENT_BYTES : 0;
    return events + (double)capture->key_count * sizeof(struct report_range_key);
}

static uint64_t bytes_with(const struct report_load_state *load, double events,
                           double texts_to_come) {
    return whole(bytes_of_events(events) + (double)report_load_texts(load) + texts_to_come +
                 (double)load->taken_memory + bytes_of_parents(load->capture));
}

// The rows of all files, read or not, or those that were read if they are more than was expected.
static double all_rows(const struct report_load_state *load) {
    int64_t read = (int64_t)load->capture->event_count;
    return (double)(load->rows_expected > read ? load->rows_expected : read);
}

// The rows that are there for sure count; those to come only if they were counted, and some were
// read.
static uint64_t bytes_at_least(const struct report_load_state *load) {
    size_t read = load->capture->event_count;
    bool counts_all = load->rows_counted && read >= ENOUGH_ROWS;
    return bytes_with(load, counts_all ? all_rows(load) : (double)read, 0);
}

uint64_t report_load_needs(const struct report_load_state *load) {
    double read = (double)load->capture->event_count, rows = all_rows(load);
    double texts = (double)load->row_texts;
    if (load->rows_began < UINT64_MAX) {
        texts += (double)report_load_texts(load) - (double)load->rows_began;
    }
    double more = read > 0 ? rows / read - 1 : 0; // rows to come for each that was read
    return bytes_with(load, rows, texts * (more * 17 / 16));
}

static bool is_too_large(struct report_load_state *load) {
    load->too_large = load->max_memory > 0 && bytes_at_least(load) > load->max_memory;
    return load->too_large;
}

int report_load_check(struct report_load_state *load) {
    return is_too_large(load) || report_load_interrupted(load) ? SQLITE_INTERRUPT : SQLITE_OK;
}

uint64_t report_capture_bytes(const struct report_capture *capture) {
    const struct report_memory *memory = capture->memory;
    return whole(bytes_of_events((double)capture->event_count) +
                 (double)store_arena_used(&memory->bytes) +
                 (double)store_arena_used(&memory->texts) + bytes_of_parents(capture));
}

void report_capture_free(struct report_capture *capture) {
    if (!capture) {
        return;
    }
    for (size_t i = 0; i < capture->store_count; i++) {
        free(capture->stores[i].segments);
        free(capture->stores[i].tables);
    }
    void *arrays[] = {capture->stores,  capture->events,  capture->more,       capture->messages,
                      capture->names,   capture->domains, capture->scopes,     capture->processes,
                      capture->threads, capture->sources, capture->categories, capture->losses,
                      capture->keys,    capture->kernels};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        free(arrays[i]);
    }
    struct report_memory *memory = capture->memory;
    if (memory) {
        store_arena_deinit(&memory->bytes);
        store_arena_deinit(&memory->texts);
    }
    free(memory);
    free(capture);
}

void *report_capture_take(struct report_capture *capture, size_t size) {
    struct report_memory *memory = capture->memory;
    return store_arena_take(&memory->bytes, size, 16);
}
