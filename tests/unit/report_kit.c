// SPDX-License-Identifier: Apache-2.0
//
// Names, domains, threads and processes are found by looking at all that are there: tests have few.
#include "tests/unit/report_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *copy(const void *data, size_t len) {
    void *bytes = malloc(len + 1);
    cr_assert_not_null(bytes);
    if (len > 0) {
        memcpy(bytes, data, len);
    }
    ((char *)bytes)[len] = '\0';
    return bytes;
}

static uint32_t text_index(struct nvtxt_slice *texts, size_t *count, struct nvtxt_slice text) {
    for (size_t i = 0; i < *count; i++) {
        if (nvtxt_slice_equal(texts[i], text)) {
            return (uint32_t)i;
        }
    }
    texts[*count] = (struct nvtxt_slice){copy(text.data, text.len), text.len};
    return (uint32_t)(*count)++;
}

static uint32_t name_index(struct report_capture *capture, const char *text) {
    const char *colon = strchr(text, ':');
    struct nvtxt_slice domain = {text, colon ? (size_t)(colon - text) : 0};
    struct nvtxt_slice message = nvtxt_slice_of(colon ? colon + 1 : text);
    struct report_name name = {text_index(capture->domains, &capture->domain_count, domain),
                               text_index(capture->messages, &capture->message_count, message)};
    for (size_t i = 0; i < capture->name_count; i++) {
        if (capture->names[i].domain == name.domain && capture->names[i].message == name.message) {
            return (uint32_t)i;
        }
    }
    capture->names[capture->name_count] = name;
    return (uint32_t)capture->name_count++;
}

static uint32_t pid_of(const struct report_kit_event *event) {
    return event->pid ? event->pid : KIT_PID;
}

static int compare_threads(const void *a, const void *b) {
    const struct report_thread *x = a, *y = b;
    return x->store != y->store             ? (x->store < y->store ? -1 : 1)
           : x->global_tid != y->global_tid ? (x->global_tid < y->global_tid ? -1 : 1)
                                            : 0;
}

static void add_thread(struct report_capture *capture, const struct report_kit_event *event) {
    uint64_t global_tid = (uint64_t)pid_of(event) << 24 | event->tid;
    for (size_t i = 0; i < capture->thread_count; i++) {
        if (capture->threads[i].store == event->store &&
            capture->threads[i].global_tid == global_tid) {
            return;
        }
    }
    capture->threads[capture->thread_count++] =
        (struct report_thread){.store = event->store, .global_tid = global_tid};
}

// Sorts the threads; then each one's process is the last, or a new one.
static void add_processes(struct report_capture *capture) {
    qsort(capture->threads, capture->thread_count, sizeof(*capture->threads), compare_threads);
    for (size_t i = 0; i < capture->thread_count; i++) {
        struct report_thread *thread = &capture->threads[i];
        struct report_process new = {thread->store, (uint32_t)(thread->global_tid >> 24), {0}};
        size_t count = capture->process_count;
        if (count == 0 || capture->processes[count - 1].store != new.store ||
            capture->processes[count - 1].pid != new.pid) {
            capture->processes[capture->process_count++] = new;
        }
        thread->process = (uint32_t)capture->process_count - 1;
    }
}

static uint32_t thread_index(const struct report_capture *capture,
                             const struct report_kit_event *event) {
    struct report_thread key = {.store = event->store,
                                .global_tid = (uint64_t)pid_of(event) << 24 | event->tid};
    const struct report_thread *thread =
        bsearch(&key, capture->threads, capture->thread_count, sizeof(key), compare_threads);
    cr_assert_not_null(thread);
    return (uint32_t)(thread - capture->threads);
}

static uint32_t scope_index(struct report_capture *capture, uint32_t process, uint32_t domain) {
    for (size_t i = 0; i < capture->scope_count; i++) {
        if (capture->scopes[i].process == process && capture->scopes[i].domain == domain) {
            return (uint32_t)i;
        }
    }
    capture->scopes[capture->scope_count] = (struct report_domain_scope){process, domain, domain};
    return (uint32_t)capture->scope_count++;
}

static struct report_event event_of(struct report_capture *capture,
                                    const struct report_kit_event *from, size_t place) {
    struct report_event event = {
        .kind = (uint8_t)from->kind,
        .start = from->start,
        .end = from->end,
        .row = from->row ? from->row : (int64_t)place + 1,
        .payload.int64 = from->payload,
        .payload_kind = from->payload_kind,
        .category = from->category,
        .color = from->color,
        .source = REPORT_NONE,
        .more = REPORT_NONE,
        .flags = from->flags,
        .store = from->store,
        .name = name_index(capture, from->name),
        .thread = thread_index(capture, from),
    };
    if (event.end < event.start) {
        event.end = event.start;
        event.flags |= REPORT_BACKWARD;
    }
    event.scope = scope_index(capture, capture->threads[event.thread].process,
                              capture->names[event.name].domain);
    return event;
}

static void *array(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    cr_assert_not_null(memory);
    return memory;
}

static void add_stores(struct report_capture *capture, size_t count) {
    capture->stores = array(count, sizeof(*capture->stores));
    capture->store_count = count;
    for (size_t i = 0; i < count; i++) {
        char path[32];
        int len = snprintf(path, sizeof(path), "kit%zu.db", i);
        struct report_store *store = &capture->stores[i];
        store->path = (struct nvtxt_slice){copy(path, (size_t)len), (size_t)len};
        store->ours = true;
        store->segments = array(1, sizeof(*store->segments));
        store->segments[0] = store->path;
        store->segment_count = 1;
    }
}

static void find_times(struct report_capture *capture) {
    for (size_t i = 0; i < capture->event_count; i++) {
        const struct report_event *event = &capture->events[i];
        int64_t last = event->flags & REPORT_OPEN ? event->start : event->end;
        capture->first_ns =
            i == 0 || event->start < capture->first_ns ? event->start : capture->first_ns;
        capture->last_ns = i == 0 || last > capture->last_ns ? last : capture->last_ns;
    }
    for (size_t i = 0; i < capture->event_count; i++) {
        if (capture->events[i].flags & REPORT_OPEN) {
            capture->events[i].end = capture->last_ns;
        }
    }
}

struct report_capture *report_kit_capture(const struct report_kit_event *events, size_t count) {
    struct report_capture *capture = array(1, sizeof(*capture));
    size_t stores = 1;
    capture->events = array(count, sizeof(*capture->events));
    capture->messages = array(count, sizeof(*capture->messages));
    capture->names = array(count, sizeof(*capture->names));
    capture->domains = array(count + 1, sizeof(*capture->domains));
    capture->scopes = array(count, sizeof(*capture->scopes));
    capture->processes = array(count, sizeof(*capture->processes));
    capture->threads = array(count, sizeof(*capture->threads));
    text_index(capture->domains, &capture->domain_count, NVTXT_SLICE(""));
    for (size_t i = 0; i < count; i++) {
        add_thread(capture, &events[i]);
        stores = events[i].store + 1u > stores ? events[i].store + 1u : stores;
    }
    add_stores(capture, stores);
    add_processes(capture);
    for (size_t i = 0; i < count; i++) {
        capture->events[i] = event_of(capture, &events[i], i);
    }
    capture->event_count = count;
    find_times(capture);
    return capture;
}

void report_kit_free_capture(struct report_capture *capture) {
    for (size_t i = 0; i < capture->message_count; i++) {
        free((void *)(uintptr_t)capture->messages[i].data);
    }
    for (size_t i = 0; i < capture->domain_count; i++) {
        free((void *)(uintptr_t)capture->domains[i].data);
    }
    for (size_t i = 0; i < capture->store_count; i++) {
        free((void *)(uintptr_t)capture->stores[i].path.data);
        free(capture->stores[i].segments);
    }
    free(capture->stores);
    free(capture->events);
    free(capture->messages);
    free(capture->names);
    free(capture->domains);
    free(capture->scopes);
    free(capture->processes);
    free(capture->threads);
    free(capture);
}

struct report_model *report_kit_model(const struct report_kit_event *events, size_t count) {
    struct report_model *model;
    cr_assert_eq(report_model_build(&model, report_kit_capture(events, count)), 0);
    return model;
}

struct report_model *report_kit_f1(void) {
    static const struct report_kit_event f1[] = {
        KIT_MARK(2, "tick", 20),          KIT_RANGE(1, "load", 10, 30),
        KIT_RANGE(2, "wait", 0, 50),      KIT_RANGE(1, "kernel", 40, 60),
        KIT_MARK(2, "tick", 60),          KIT_START_END(2, "request", 50, 70),
        KIT_RANGE(1, "kernel", 60, 80),   KIT_RANGE(1, "compute", 30, 90),
        KIT_RANGE(1, "step", 0, 100),     KIT_START_END(1, "request", 5, 105),
        KIT_MARK(2, "tick", 120),         KIT_RANGE(1, "load", 130, 140),
        KIT_RANGE(1, "kernel", 150, 200), KIT_RANGE(1, "compute", 140, 250),
        KIT_RANGE(1, "step", 120, 260),
    };
    return report_kit_model(f1, sizeof(f1) / sizeof(f1[0]));
}

void report_kit_free(struct report_model *model) {
    struct report_capture *capture = model->capture;
    report_model_free(model);
    report_kit_free_capture(capture);
}
