// SPDX-License-Identifier: Apache-2.0
//
// What tells two stores apart: a thread, process or source whose number an earlier store has, too,
// has its store beside it. Whether one has it is a search in an array that stands in that order.
#include "report/catalogue/group.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STORE_SHIFT 56 // a row has its segment and its rowid below it

int report_id_compare(const struct report_id *a, const struct report_id *b) {
    return a->is_text ? nvtxt_slice_order(a->text, b->text) : NVTXT_ORDER(a->number, b->number);
}

static struct report_id text_id(struct nvtxt_slice text) {
    return (struct report_id){.is_text = true, .text = text};
}

static struct report_id number_id(uint64_t number) {
    return (struct report_id){.number = number};
}

static struct report_id name_id(const struct report_capture *capture, uint32_t name,
                                struct store_arena *arena) {
    struct nvtxt_slice domain = capture->domains[capture->names[name].domain];
    struct nvtxt_slice message = capture->messages[capture->names[name].message];
    size_t len = domain.len + 1 + message.len;
    char *bytes = store_arena_take(arena, len, 1);
    if (bytes) {
        memcpy(bytes, domain.len ? domain.data : "", domain.len);
        bytes[domain.len] = ':';
        memcpy(bytes + domain.len + 1, message.len ? message.data : "", message.len);
    }
    return text_id((struct nvtxt_slice){bytes, len});
}

// ---- The same in two stores ---------------------------------------------------------------------

// A thread, process or source by its store and its number there, the order of their arrays.
struct place {
    uint32_t store;
    uint64_t number;
};

static struct place place_of(const struct report_capture *capture, enum report_key key,
                             uint32_t raw) {
    if (key == REPORT_KEY_THREAD) {
        return (struct place){capture->threads[raw].store, capture->threads[raw].global_tid};
    }
    if (key == REPORT_KEY_PROCESS) {
        return (struct place){capture->processes[raw].store, capture->processes[raw].pid};
    }
    return (struct place){capture->sources[raw].store, (uint64_t)capture->sources[raw].id};
}

static bool comes_before(const struct place *a, const struct place *b, bool is_signed) {
    if (a->store != b->store) {
        return a->store < b->store;
    }
    return is_signed ? (int64_t)a->number < (int64_t)b->number : a->number < b->number;
}

static bool has_place(const struct report_capture *capture, enum report_key key,
                      const struct place *wanted) {
    bool is_signed = key == REPORT_KEY_SOURCE;
    uint32_t low = 0;
    uint32_t high = (uint32_t)(key == REPORT_KEY_THREAD    ? capture->thread_count
                               : key == REPORT_KEY_PROCESS ? capture->process_count
                                                           : capture->source_count);
    uint32_t end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct place place = place_of(capture, key, middle);
        if (comes_before(&place, wanted, is_signed)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct place found = low < end ? place_of(capture, key, low) : (struct place){REPORT_NONE, 0};
    return found.store == wanted->store && found.number == wanted->number;
}

// The store that a thread, process or source is of, when an earlier store has its number, too; else
// 0.
static uint32_t told_store(const struct report_capture *capture, enum report_key key,
                           uint32_t raw) {
    struct place own = place_of(capture, key, raw), other = own;
    for (other.store = 0; other.store < own.store; other.store++) {
        if (has_place(capture, key, &other)) {
            return own.store;
        }
    }
    return 0;
}

static struct report_id id_in_store(uint32_t store, uint64_t number) {
    return number_id(number + ((uint64_t)store << STORE_SHIFT));
}

// ---- Ids ----------------------------------------------------------------------------------------

static struct report_id thread_id(const struct report_capture *capture, uint32_t thread,
                                  struct store_arena *arena) {
    const struct report_thread *of = &capture->threads[thread];
    uint32_t store = told_store(capture, REPORT_KEY_THREAD, thread);
    char text[48];
    int len = snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIu32,
                       capture->processes[of->process].pid, report_tid(of));
    if (store > 0) {
        len += snprintf(text + len, sizeof(text) - (size_t)len, "@%" PRIu32, store);
    }
    return text_id((struct nvtxt_slice){store_arena_copy(arena, text, (size_t)len), (size_t)len});
}

struct report_id report_line_id(const struct report_source *source, uint64_t line,
                                struct store_arena *arena) {
    struct nvtxt_slice file = source->name.data ? source->name : source->display_name;
    char digits[24];
    int len = snprintf(digits, sizeof(digits), ":%" PRIu64, line);
    char *text = store_arena_take(arena, file.len + (size_t)len, 1);
    if (text) {
        memcpy(text, file.len ? file.data : "", file.len);
        memcpy(text + file.len, digits, (size_t)len);
    }
    return text_id((struct nvtxt_slice){text, file.len + (size_t)len});
}

struct report_id report_id_of(const struct report_model *model, enum report_key key, uint32_t raw,
                              struct store_arena *arena) {
    const struct report_capture *capture = model->capture;
    switch (key) {
    case REPORT_KEY_NAME:
        return name_id(capture, raw, arena);
    case REPORT_KEY_THREAD:
        return thread_id(capture, raw, arena);
    case REPORT_KEY_PROCESS:
        return id_in_store(told_store(capture, key, raw), capture->processes[raw].pid);
    case REPORT_KEY_DOMAIN:
        return text_id(capture->domains[raw].len ? capture->domains[raw]
                                                 : NVTXT_SLICE("<default domain>"));
    case REPORT_KEY_CATEGORY:
        return number_id((uint64_t)raw + 1);
    case REPORT_KEY_SOURCE:
        return id_in_store(told_store(capture, key, raw), (uint64_t)capture->sources[raw].id);
    case REPORT_KEY_ITERATION:
        return number_id(model->iterations.list[raw].number);
    case REPORT_KEY_EVENT:
        return id_in_store(capture->events[raw].store, (uint64_t)capture->events[raw].row);
    case REPORT_KEY_NONE:
    case REPORT_KEY_LINE: // see report_line_id()
        break;
    }
    assert(false);
    return (struct report_id){0};
}
