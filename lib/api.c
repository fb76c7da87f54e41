// SPDX-License-Identifier: Apache-2.0
//
// The calls of nvtxt.h that record an event. Each fills a record on the stack and hands it to its
// thread's ring; what is not recorded is counted. No event waits or allocates, and nothing changes
// errno.
#include <string.h>

#include "lib/life.h"
#include "lib/ring/clock.h"
#include "lib/ring/thread.h"
#include "protocol/base/origin.h"
#include "protocol/base/slice.h"

_Static_assert((int)NVTXT_U64 == (int)RECORD_U64 && (int)NVTXT_F32 == (int)RECORD_F32,
               "values are numbered in two places");

#define LEVEL_UNKNOWN (-ENOTSUP)

#define INSTEAD_BYTES 48 // for a JSON text of ours

// JSON cannot be cut: what is too long becomes its length, in `instead`.
static void set_json(struct record_view *view, const char *json, char *instead) {
    static const char begin[] = "{\"truncated\":";
    size_t len = json ? strlen(json) : 0;
    if (len > RECORD_JSON_MAX) {
        char *at = instead + INSTEAD_BYTES;
        *--at = '}';
        for (; len > 0; len /= 10) {
            *--at = (char)('0' + len % 10);
        }
        at -= sizeof(begin) - 1;
        json = memcpy(at, begin, sizeof(begin) - 1);
        len = (size_t)(instead + INSTEAD_BYTES - at);
    }
    view->json = json;
    view->json_len = (uint32_t)len;
}

static inline struct nvtxt_slice message_text(const char *message) {
    return nvtxt_slice_cut(nvtxt_slice_of(message), RECORD_TEXT_MAX);
}

static void set_message(struct record_view *view, const char *message) {
    view->text = message;
    view->text_len = (uint32_t)message_text(message).len;
}

static void set_string(struct record_view *view, const struct nvtxt_string *string) {
    view->has_string = string->number != STRING_INLINE;
    view->string = string->number;
    view->text = string->text;
    view->text_len = string->len;
}

#define HAS(attr, member)                                                                          \
    ((attr)->size >= offsetof(struct nvtxt_attr, member) + sizeof((attr)->member))

static void set_value(struct record_view *view, const struct nvtxt_attr *attr) {
    if (!HAS(attr, value) || attr->value_kind == NVTXT_NO_VALUE || attr->value_kind > NVTXT_F32) {
        return;
    }
    view->value_kind = attr->value_kind;
    memcpy(&view->value, &attr->value, attr->value_kind >= NVTXT_U32 ? 4 : 8);
}

static void set_attr(struct record_view *view, const struct nvtxt_attr *attr, char *instead) {
    if (!attr) {
        return;
    }
    if (HAS(attr, string) && attr->string) {
        set_string(view, attr->string);
    } else if (HAS(attr, message)) {
        set_message(view, attr->message);
    }
    if (HAS(attr, json)) {
        set_json(view, attr->json, instead);
    }
    if (HAS(attr, category)) {
        view->category = attr->category;
    }
    if (HAS(attr, color)) {
        view->color = attr->color;
    }
    set_value(view, attr);
}

static void mark(const struct nvtxt_domain *domain, struct record_view *view) {
    struct thread *thread = thread_enter();
    if (!thread) {
        return;
    }
    view->kind = RECORD_MARK;
    view->domain = domain ? domain->number : 0;
    view->time = clock_record();
    if (!thread_record(thread, view, thread->open)) {
        recorder_lose(LOSS_FULL, 1);
    }
    thread_leave();
}

void nvtxt_mark(const char *message) {
    if (api_is_excluded(NULL)) {
        return;
    }
    struct record_view view = {0};
    set_message(&view, message);
    mark(NULL, &view);
}

void nvtxt_mark_ex(struct nvtxt_domain *domain, const struct nvtxt_attr *attr) {
    if (api_is_excluded(domain)) {
        return;
    }
    char instead[INSTEAD_BYTES];
    struct record_view view = {0};
    set_attr(&view, attr, instead);
    mark(domain, &view);
}

// ---- Push and pop -------------------------------------------------------------------------------

// `view`: of what bears more than a text; else NULL.
static inline bool record_push(struct thread *thread, struct stack *stack, struct record_view *view,
                               struct nvtxt_slice text) {
    if (stack->depth >= atomic_load_explicit(&recorder.push_depth, memory_order_relaxed)) {
        recorder_lose(LOSS_DEPTH, 1);
        return false;
    }
    uint64_t time = clock_record();
    bool recorded;
    if (view) {
        view->time = time;
        recorded = thread_record(thread, view, thread->open + 1);
    } else {
        recorded = thread_record_push(thread, text, time, thread->open + 1);
    }
    if (!recorded) {
        recorder_lose(LOSS_FULL, 1);
        return false;
    }
    thread->open++;
    return true;
}

static inline __attribute__((always_inline)) int push(uint32_t domain, struct record_view *view,
                                                      struct nvtxt_slice text) {
    struct thread *thread = thread_enter();
    if (!thread) {
        thread_busy += thread_busy ? THREAD_LOST_PUSH : 0;
        return LEVEL_UNKNOWN;
    }
    struct stack *stack = stacks_get(&thread->stacks, domain);
    int level = LEVEL_UNKNOWN;
    if (stack) {
        bool recorded = record_push(thread, stack, view, text);
        stack_set_recorded(stack, stack->depth, recorded);
        level = (int)stack->depth++;
    } else {
        recorder_lose(LOSS_FULL, 1);
    }
    thread_leave();
    return level;
}

int nvtxt_push(const char *message) {
    return api_is_excluded(NULL) ? LEVEL_UNKNOWN : push(0, NULL, message_text(message));
}

int nvtxt_push_ex(struct nvtxt_domain *domain, const struct nvtxt_attr *attr) {
    if (api_is_excluded(domain)) {
        return LEVEL_UNKNOWN;
    }
    char instead[INSTEAD_BYTES];
    struct record_view view = {0};
    view.kind = RECORD_PUSH;
    view.domain = domain ? domain->number : 0;
    set_attr(&view, attr, instead);
    return push(view.domain, &view, (struct nvtxt_slice){NULL, 0});
}

// A pop has room, for its push kept it; its JSON may not have.
static inline void record_pop(struct thread *thread, uint32_t domain, struct record_view *json) {
    uint64_t time = clock_record();
    thread->open--;
    if (json) {
        json->kind = RECORD_POP;
        json->domain = domain;
        json->time = time;
    }
    if (!(json && thread_record(thread, json, thread->open)) &&
        !thread_record_pop(thread, domain, time, thread->open)) {
        recorder_lose(LOSS_FULL, 1);
    }
}

// `json`: a view with JSON, or NULL.
static inline __attribute__((always_inline)) int pop(const struct nvtxt_domain *domain,
                                                     struct record_view *json) {
    if (thread_busy >= THREAD_LOST_PUSH) {
        thread_busy -= THREAD_LOST_PUSH; // of a push that was counted
        return LEVEL_UNKNOWN;
    }
    if (!thread_self) {
        api_ignore();
        return nvtxt_origin(-ENOENT);
    }
    struct thread *thread = thread_enter();
    if (!thread) {
        return LEVEL_UNKNOWN;
    }
    uint32_t number = domain ? domain->number : 0;
    struct stack *stack = stacks_get(&thread->stacks, number);
    int level;
    if (stack && stack->depth > 0) {
        level = (int)--stack->depth;
        if (stack_is_recorded(stack, stack->depth)) {
            record_pop(thread, number, json);
        }
    } else {
        api_ignore();
        level = nvtxt_origin(-ENOENT);
    }
    thread_leave();
    return level;
}

int nvtxt_pop(void) {
    return api_is_excluded(NULL) ? LEVEL_UNKNOWN : pop(NULL, NULL);
}

int nvtxt_pop_ex(struct nvtxt_domain *domain, const char *json) {
    if (api_is_excluded(domain)) {
        return LEVEL_UNKNOWN;
    }
    if (!json || !*json) {
        return pop(domain, NULL);
    }
    char instead[INSTEAD_BYTES];
    struct record_view view = {0};
    set_json(&view, json, instead);
    return pop(domain, &view);
}

// ---- Start and end ------------------------------------------------------------------------------

// The sender counts those that have ended.
static bool take_open(void) {
    uint64_t most = atomic_load_explicit(&recorder.open_most, memory_order_relaxed);
    uint64_t closed = atomic_load_explicit(&recorder.region.closed, memory_order_relaxed);
    uint64_t begun = atomic_fetch_add_explicit(&recorder.begun, 1, memory_order_relaxed);
    if (begun - closed < most) {
        return true;
    }
    atomic_fetch_sub_explicit(&recorder.begun, 1, memory_order_relaxed);
    return false;
}

#define RANGE_LOST 2u // the number of all ranges that no ring was asked for

static uint64_t start(const struct nvtxt_domain *domain, struct record_view *view) {
    struct thread *thread = thread_enter();
    if (!thread) {
        return RANGE_LOST;
    }
    uint64_t id = atomic_fetch_add_explicit(&recorder.next_range, 2, memory_order_relaxed);
    view->kind = RECORD_START;
    view->domain = domain ? domain->number : 0;
    view->id = id;
    bool open = take_open();
    view->time = clock_record();
    if (!open || !thread_record(thread, view, thread->open)) {
        recorder_lose(LOSS_FULL, 1);
        if (open) {
            atomic_fetch_sub_explicit(&recorder.begun, 1, memory_order_relaxed);
        }
        id--; // even: was not recorded
    }
    thread_leave();
    return id;
}

uint64_t nvtxt_start(const char *message) {
    if (api_is_excluded(NULL)) {
        return RANGE_LOST;
    }
    struct record_view view = {0};
    set_message(&view, message);
    return start(NULL, &view);
}

uint64_t nvtxt_start_ex(struct nvtxt_domain *domain, const struct nvtxt_attr *attr) {
    if (api_is_excluded(domain)) {
        return RANGE_LOST;
    }
    char instead[INSTEAD_BYTES];
    struct record_view view = {0};
    set_attr(&view, attr, instead);
    return start(domain, &view);
}

// An end whose ring is full goes into a list of the process.
static bool record_late(const struct record_view *view) {
    int saved = errno;
    bool kept = false;
    struct region *region = &recorder.region;
    catalog_lock();
    for (uint32_t i = 0; i < REGION_LATE && !kept; i++) {
        if (region_grant(region, TABLE_LATES, i + 1) < 0) {
            break;
        }
        struct region_late *late = &region->lates[i];
        uint64_t given = atomic_load(&late->given);
        if (given && atomic_load(&late->taken) > atomic_load(&region->head->pass)) {
            continue;
        }
        atomic_store(&late->given, given + 1);
        late->id = view->id;
        late->time = view->time;
        atomic_store(&late->taken, UINT64_MAX);
        atomic_store_explicit(&late->given, given + 2, memory_order_release);
        kept = true;
    }
    catalog_unlock();
    errno = saved;
    return kept;
}

static void end(uint64_t id, struct record_view *view) {
    if (id % 2 == 0) { // was not recorded
        return;
    }
    if (id < 3 || id >= atomic_load_explicit(&recorder.next_range, memory_order_relaxed)) {
        api_ignore();
        return;
    }
    struct thread *thread = thread_enter();
    if (!thread) {
        return;
    }
    view->kind = RECORD_END;
    view->id = id;
    view->time = clock_record();
    if (!thread_record(thread, view, thread->open)) {
        view->json_len = 0;
        if (!thread_record(thread, view, thread->open) && !record_late(view)) {
            recorder_lose(LOSS_FULL, 1);
        }
    }
    thread_leave();
}

void nvtxt_end(uint64_t range) {
    struct record_view view = {0};
    end(range, &view);
}

void nvtxt_end_ex(uint64_t range, const char *json) {
    char instead[INSTEAD_BYTES];
    struct record_view view = {0};
    set_json(&view, json, instead);
    end(range, &view);
}

// ---- Counters -----------------------------------------------------------------------------------

static void sample(const struct nvtxt_domain *domain, const struct nvtxt_string *counter,
                   uint32_t kind, const void *value) {
    if (api_is_excluded(domain)) {
        return;
    }
    struct record_view view = {.value_kind = kind};
    memcpy(&view.value, value, sizeof(view.value));
    if (counter) {
        set_string(&view, counter);
        api_name_counter(domain, counter);
    }
    mark(domain, &view);
}

void nvtxt_sample_i64(struct nvtxt_domain *domain, const struct nvtxt_string *counter,
                      int64_t value) {
    sample(domain, counter, NVTXT_I64, &value);
}

void nvtxt_sample_f64(struct nvtxt_domain *domain, const struct nvtxt_string *counter,
                      double value) {
    sample(domain, counter, NVTXT_F64, &value);
}
