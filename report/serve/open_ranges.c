// SPDX-License-Identifier: Apache-2.0
//
// Ranges stand side by side by lane or process, in order. A tree of largest ends over them finds
// those that are open at a time, however badly they cross.
#include "report/serve/open_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/serve/objects.h"

// What is open: events in order, each in its domain.
struct found {
    struct report_open_ranges *open;
    const struct report_event *event; // whose state it is
    uint32_t index;                   // its own
    uint32_t later;                   // the first event that starts after it
    struct store_arena *arena;
    uint32_t *events; // of the arena
    size_t count, room;
    bool failed;
};

static uint64_t lane_of(uint32_t thread, uint32_t domain) {
    return (uint64_t)thread << 32 | domain;
}

static uint32_t domain_of(const struct report_capture *capture, uint32_t event) {
    return capture->names[capture->events[event].name].domain;
}

// ---- Making -------------------------------------------------------------------------------------

static int compare_placed(const void *a, const void *b) {
    const struct report_placed *one = a, *other = b;
    return NVTXT_ORDER(one->group, other->group) ?: NVTXT_ORDER(one->event, other->event);
}

static int compare_scopes(const void *a, const void *b) {
    const struct report_domain_scope *one = a, *other = b;
    int order = NVTXT_ORDER(one->process, other->process);
    return order ?: NVTXT_ORDER(one->domain, other->domain) ?: NVTXT_ORDER(one->id, other->id);
}

// A copy of the scopes, in order.
static void sort_scopes(struct report_open_ranges *open) {
    const struct report_capture *capture = open->model->capture;
    for (size_t i = 0; i < capture->scope_count; i++) {
        open->scopes[i] = capture->scopes[i];
    }
    qsort(open->scopes, capture->scope_count, sizeof(*open->scopes), compare_scopes);
}

// Puts the ranges of a kind side by side, by group.
static int place_ranges(struct report_placed_ranges *placed, const struct report_capture *capture,
                        enum report_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < capture->event_count; i++) {
        count += capture->events[i].kind == kind;
    }
    for (placed->leaves = 1; placed->leaves < count;) {
        placed->leaves *= 2;
    }
    placed->list = calloc(count + 1, sizeof(*placed->list));
    placed->ends = calloc(2 * placed->leaves, sizeof(*placed->ends));
    if (!placed->list || !placed->ends) {
        return nvtxt_origin(-ENOMEM);
    }
    for (uint32_t i = 0; i < capture->event_count; i++) {
        uint32_t thread = capture->events[i].thread;
        if (capture->events[i].kind == kind) {
            placed->list[placed->count++] = (struct report_placed){
                kind == REPORT_PUSH_POP ? lane_of(thread, domain_of(capture, i))
                                        : capture->threads[thread].process,
                i};
        }
    }
    qsort(placed->list, count, sizeof(*placed->list), compare_placed);
    for (size_t i = 0; i < placed->leaves; i++) {
        placed->ends[placed->leaves + i] =
            i < count ? capture->events[placed->list[i].event].end : INT64_MIN;
    }
    for (size_t i = placed->leaves; --i > 0;) {
        int64_t left = placed->ends[2 * i], right = placed->ends[2 * i + 1];
        placed->ends[i] = left > right ? left : right;
    }
    return 0;
}

int report_open_ranges_new(struct report_open_ranges **open, const struct report_model *model) {
    struct report_open_ranges *made = calloc(1, sizeof(*made));
    *open = NULL;
    if (!made) {
        return nvtxt_origin(-ENOMEM);
    }
    made->model = model;
    made->scopes = calloc(model->capture->scope_count + 1, sizeof(*made->scopes));
    int r = made->scopes ? 0 : nvtxt_origin(-ENOMEM);
    r = r ?: place_ranges(&made->push_pop, model->capture, REPORT_PUSH_POP);
    r = r ?: place_ranges(&made->start_end, model->capture, REPORT_START_END);
    if (r != 0) {
        report_open_ranges_free(made);
        return r;
    }
    sort_scopes(made);
    *open = made;
    return 0;
}

void report_open_ranges_free(struct report_open_ranges *open) {
    if (open) {
        free(open->push_pop.list);
        free(open->push_pop.ends);
        free(open->start_end.list);
        free(open->start_end.ends);
        free(open->scopes);
        free(open);
    }
}

// ---- Finding ------------------------------------------------------------------------------------

static void add_event(struct found *found, uint32_t event) {
    if (found->count == found->room) {
        size_t room = found->room ? 2 * found->room : 64;
        uint32_t *events = store_arena_take(found->arena, room * sizeof(*events), sizeof(*events));
        if (!events) {
            found->failed = true;
            return;
        }
        if (found->count > 0) {
            memcpy(events, found->events, found->count * sizeof(*events));
        }
        found->events = events;
        found->room = room;
    }
    found->events[found->count++] = event;
}

static uint32_t first_later(const struct report_capture *capture, uint32_t event) {
    int64_t start = capture->events[event].start;
    return start == INT64_MAX ? (uint32_t)capture->event_count
                              : report_first_at(capture, event, start + 1);
}

// The first range of that group, from that event on, or of a later group.
static size_t first_placed(const struct report_placed_ranges *placed, uint64_t group,
                           uint32_t event) {
    const struct report_placed wanted = {group, event};
    size_t low = 0, high = placed->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_placed(&placed->list[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Adds the open ones of [first, last) below a node that stands for `size` of them from `from` on.
static void add_below(struct found *found, const struct report_placed_ranges *placed, size_t node,
                      size_t from, size_t size, size_t first, size_t last) {
    found->open->looks++;
    if (from + size <= first || from >= last || found->failed ||
        placed->ends[node] <= found->event->start) {
        return;
    }
    if (size == 1) {
        add_event(found, placed->list[from].event);
        return;
    }
    size /= 2;
    add_below(found, placed, 2 * node, from, size, first, last);
    add_below(found, placed, 2 * node + 1, from + size, size, first, last);
}

static void add_ranges(struct found *found, const struct report_placed_ranges *placed, size_t first,
                       size_t last) {
    if (first < last) {
        add_below(found, placed, 1, 0, placed->leaves, first, last);
    }
}

// A range is open at its own start, also without a length. In its lane it is the last one, whatever
// starts with it.
static void add_group(struct found *found, const struct report_placed_ranges *placed,
                      uint64_t group) {
    size_t first = first_placed(placed, group, 0), last = first_placed(placed, group, found->later);
    size_t own = first_placed(placed, group, found->index);
    if (own == last || placed->list[own].event != found->index) {
        add_ranges(found, placed, first, last);
        return;
    }
    add_ranges(found, placed, first, own);
    add_event(found, found->index);
    if (found->event->kind == REPORT_START_END) {
        add_ranges(found, placed, own + 1, last);
    }
}

static void find_open(struct found *found) {
    const struct report_placed_ranges *push_pop = &found->open->push_pop;
    uint32_t thread = found->event->thread;
    size_t at = first_placed(push_pop, lane_of(thread, 0), 0);
    while (at < push_pop->count && push_pop->list[at].group >> 32 == thread) {
        uint64_t lane = push_pop->list[at].group;
        add_group(found, push_pop, lane);
        at = first_placed(push_pop, lane + 1, 0);
    }
    add_group(found, &found->open->start_end, found->open->model->capture->threads[thread].process);
}

// ---- Writing ------------------------------------------------------------------------------------

// int64 and double are not said: a number without a point, and one with it.
static void put_payload_type(struct report_json *json, const struct report_event *event) {
    static const char *const names[] = {
        [NVTXT_PAYLOAD_UINT64] = "uint64",
        [NVTXT_PAYLOAD_UINT32] = "uint32",
        [NVTXT_PAYLOAD_INT32] = "int32",
        [NVTXT_PAYLOAD_FLOAT] = "float",
    };
    size_t kind = event->payload_kind;
    if (kind < sizeof(names) / sizeof(names[0]) && names[kind]) {
        report_json_text(json, "payloadType", names[kind]);
    }
}

static void put_range(struct report_json *json, const struct report_capture *capture,
                      uint32_t index) {
    const struct report_event *event = &capture->events[index];
    struct report_value payload;
    report_json_object(json, NULL);
    report_json_slice(json, "name", report_event_text(capture, event));
    report_json_int(json, "row", event->row);
    report_json_uint(json, "category", event->category);
    if (event->color != 0) {
        report_json_color(json, "color", event->color);
    } else {
        report_json_null(json, "color");
    }
    if (!report_event_payload(event, &payload)) {
        report_json_null(json, "payload");
    } else if (event->payload_kind != NVTXT_PAYLOAD_DOUBLE &&
               event->payload_kind != NVTXT_PAYLOAD_FLOAT && payload.type == REPORT_DOUBLE) {
        report_json_int(json, "payload", event->payload.int64);
    } else if (payload.type == REPORT_DOUBLE || payload.type == REPORT_FLOAT) {
        report_json_double_na(json, "payload", payload.real);
    } else {
        report_json_uint(json, "payload", payload.u64);
    }
    put_payload_type(json, event);
    report_json_end_object(json);
}

// What is open, by domain.
struct shown {
    int64_t id; // of the domain
    uint32_t domain, event;
    size_t place; // in `found`
};

static void put_ranges(struct report_json *json, const struct report_capture *capture,
                       const char *member, const struct shown *shown, size_t count,
                       enum report_kind kind) {
    report_json_array(json, member);
    for (size_t i = 0; i < count; i++) {
        if (capture->events[shown[i].event].kind == kind) {
            put_range(json, capture, shown[i].event);
        }
    }
    report_json_end_array(json);
}

static void put_domain(struct report_json *json, const struct report_capture *capture,
                       const struct shown *shown, size_t count) {
    struct nvtxt_slice name = capture->domains[shown->domain];
    report_json_object(json, NULL);
    report_json_int(json, "id", shown->id);
    report_json_slice(json, "name", name.len > 0 ? name : nvtxt_slice_of("<default domain>"));
    put_ranges(json, capture, "pushPop", shown, count, REPORT_PUSH_POP);
    put_ranges(json, capture, "startEnd", shown, count, REPORT_START_END);
    report_json_end_object(json);
}

// Two ids of one name in a process are one domain: it has the smaller one.
static int64_t id_of(const struct found *found, uint32_t domain) {
    const struct report_capture *capture = found->open->model->capture;
    const struct report_domain_scope wanted = {.process =
                                                   capture->threads[found->event->thread].process,
                                               .domain = domain,
                                               .id = INT64_MIN};
    const struct report_domain_scope *scopes = found->open->scopes;
    size_t low = 0, count = capture->scope_count;
    while (count > 0) {
        size_t half = count / 2;
        bool before = compare_scopes(&scopes[low + half], &wanted) < 0;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    bool is_there = low < capture->scope_count && scopes[low].process == wanted.process &&
                    scopes[low].domain == domain;
    return is_there ? scopes[low].id : INT64_MAX;
}

static int compare_shown(const void *a, const void *b) {
    const struct shown *one = a, *other = b;
    int order = NVTXT_ORDER(one->id, other->id);
    return order ?: NVTXT_ORDER(one->domain, other->domain) ?: NVTXT_ORDER(one->place, other->place);
}

int report_open_ranges_write(struct report_open_ranges *open, uint32_t event,
                             struct store_arena *arena, struct report_json *json) {
    const struct report_capture *capture = open->model->capture;
    struct found found = {.open = open,
                          .event = &capture->events[event],
                          .index = event,
                          .later = first_later(capture, event),
                          .arena = arena};
    find_open(&found);
    struct shown *shown = store_arena_take(arena, (found.count + 1) * sizeof(*shown), 8);
    if (found.failed || !shown) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < found.count; i++) {
        uint32_t domain = domain_of(capture, found.events[i]);
        shown[i] = (struct shown){id_of(&found, domain), domain, found.events[i], i};
    }
    qsort(shown, found.count, sizeof(*shown), compare_shown);
    report_json_array(json, "domains");
    for (size_t first = 0, last = 0; first < found.count; first = last) {
        while (last < found.count && shown[last].domain == shown[first].domain) {
            last++;
        }
        put_domain(json, capture, &shown[first], last - first);
    }
    report_json_end_array(json);
    return 0;
}
