// SPDX-License-Identifier: Apache-2.0
//
// Push/pop ranges stand side by side by lane, in order. All that are open at a time lie below the
// last one of the lane that has started by then, on the way from parent to parent. Start/end ranges
// stand by process; a tree of largest ends over them finds those that are open.
#include "report/serve/open_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/serve/event_metrics.h"

struct placed {
    uint64_t group; // of a push/pop range: thread and domain; of a start/end range: process
    uint32_t event;
};

struct report_open_ranges {
    const struct report_model *model;
    struct placed *lanes, *spans; // owned; by group, then in order
    size_t lane_count, span_count;
    int64_t *ends; // owned: ends[leaves + i] of spans[i], above them the largest of two
    size_t leaves; // a power of two
    struct report_domain_scope *scopes; // those of the capture by process, domain and id; owned
};

// What is open: events in order, each in its domain.
struct found {
    const struct report_open_ranges *open;
    const struct report_event *event; // whose state it is
    uint32_t index;
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
    const struct placed *one = a, *other = b;
    if (one->group != other->group) {
        return one->group < other->group ? -1 : 1;
    }
    return one->event < other->event ? -1 : one->event > other->event;
}

static int compare_scopes(const void *a, const void *b) {
    const struct report_domain_scope *one = a, *other = b;
    if (one->process != other->process) {
        return one->process < other->process ? -1 : 1;
    }
    if (one->domain != other->domain) {
        return one->domain < other->domain ? -1 : 1;
    }
    return one->id < other->id ? -1 : one->id > other->id;
}

// A copy of the scopes, in order.
static void sort_scopes(struct report_open_ranges *open) {
    const struct report_capture *capture = open->model->capture;
    for (size_t i = 0; i < capture->scope_count; i++) {
        open->scopes[i] = capture->scopes[i];
    }
    qsort(open->scopes, capture->scope_count, sizeof(*open->scopes), compare_scopes);
}

static void place(struct report_open_ranges *open) {
    const struct report_capture *capture = open->model->capture;
    size_t lanes = 0, spans = 0;
    for (uint32_t i = 0; i < open->model->count; i++) {
        const struct report_event *event = &capture->events[i];
        if (event->kind == REPORT_PUSH_POP) {
            open->lanes[lanes++] =
                (struct placed){lane_of(event->thread, domain_of(capture, i)), i};
        } else if (event->kind == REPORT_START_END) {
            open->spans[spans++] = (struct placed){capture->threads[event->thread].process, i};
        }
    }
    qsort(open->lanes, lanes, sizeof(*open->lanes), compare_placed);
    qsort(open->spans, spans, sizeof(*open->spans), compare_placed);
    for (size_t i = 0; i < 2 * open->leaves; i++) {
        open->ends[i] = INT64_MIN;
    }
    for (size_t i = 0; i < spans; i++) {
        open->ends[open->leaves + i] = capture->events[open->spans[i].event].end;
    }
    for (size_t i = open->leaves - 1; i > 0; i--) {
        int64_t left = open->ends[2 * i], right = open->ends[2 * i + 1];
        open->ends[i] = left > right ? left : right;
    }
}

int report_open_ranges_new(struct report_open_ranges **open, const struct report_model *model) {
    struct report_open_ranges *made = calloc(1, sizeof(*made));
    *open = NULL;
    if (!made) {
        return -ENOMEM;
    }
    made->model = model;
    for (size_t i = 0; i < model->count; i++) {
        made->lane_count += model->capture->events[i].kind == REPORT_PUSH_POP;
        made->span_count += model->capture->events[i].kind == REPORT_START_END;
    }
    for (made->leaves = 1; made->leaves < made->span_count;) {
        made->leaves *= 2;
    }
    made->lanes = calloc(made->lane_count + 1, sizeof(*made->lanes));
    made->spans = calloc(made->span_count + 1, sizeof(*made->spans));
    made->ends = calloc(2 * made->leaves, sizeof(*made->ends));
    made->scopes = calloc(model->capture->scope_count + 1, sizeof(*made->scopes));
    if (!made->lanes || !made->spans || !made->ends || !made->scopes) {
        report_open_ranges_free(made);
        return -ENOMEM;
    }
    place(made);
    sort_scopes(made);
    *open = made;
    return 0;
}

void report_open_ranges_free(struct report_open_ranges *open) {
    if (open) {
        free(open->lanes);
        free(open->spans);
        free(open->ends);
        free(open->scopes);
        free(open);
    }
}

// ---- Finding ------------------------------------------------------------------------------------

static void add(struct found *found, uint32_t event) {
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

// The first of `count` placed ones that is of a later group, or of the group and starts after
// `time`.
static size_t after(const struct found *found, const struct placed *placed, size_t count,
                    uint64_t group, int64_t time) {
    const struct report_event *events = found->open->model->capture->events;
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        const struct placed *middle = &placed[low + half];
        bool before = middle->group < group ||
                      (middle->group == group && events[middle->event].start <= time);
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

// The stack of a lane whose last range is `top`: those that are open, from the bottom.
static void add_stack(struct found *found, uint32_t top) {
    const struct report_model *model = found->open->model;
    size_t first = found->count;
    for (uint32_t at = top; at != REPORT_NONE && !found->failed; at = model->parent[at]) {
        if (at == found->index || model->capture->events[at].end > found->event->start) {
            add(found, at);
        }
    }
    for (size_t i = first, j = found->count; !found->failed && i + 1 < j; i++) {
        uint32_t event = found->events[i];
        found->events[i] = found->events[--j];
        found->events[j] = event;
    }
}

static void add_lanes(struct found *found) {
    const struct report_open_ranges *open = found->open;
    const struct report_capture *capture = open->model->capture;
    uint64_t own = lane_of(found->event->thread, domain_of(capture, found->index));
    uint64_t beyond = lane_of(found->event->thread, UINT32_MAX);
    size_t at = found->event->thread == 0
                    ? 0
                    : after(found, open->lanes, open->lane_count,
                            lane_of(found->event->thread - 1, UINT32_MAX), INT64_MAX);
    while (at < open->lane_count && open->lanes[at].group <= beyond && !found->failed) {
        uint64_t lane = open->lanes[at].group;
        if (found->event->kind == REPORT_PUSH_POP && lane == own) {
            add_stack(found, found->index);
        } else {
            size_t next = at + after(found, open->lanes + at, open->lane_count - at, lane,
                                     found->event->start);
            add_stack(found, next > at ? open->lanes[next - 1].event : REPORT_NONE);
        }
        at += after(found, open->lanes + at, open->lane_count - at, lane, INT64_MAX);
    }
}

// Adds the open ones of spans [first, last) below a node that stands for `size` of them from
// `from`.
static void add_below(struct found *found, size_t node, size_t from, size_t size, size_t first,
                      size_t last) {
    const struct report_open_ranges *open = found->open;
    bool own = found->event->kind == REPORT_START_END;
    if (from + size <= first || from >= last || found->failed ||
        (own ? open->ends[node] < found->event->start : open->ends[node] <= found->event->start)) {
        return;
    }
    if (size == 1) {
        uint32_t event = open->spans[from].event;
        if (event == found->index || open->ends[node] > found->event->start) {
            add(found, event);
        }
        return;
    }
    add_below(found, 2 * node, from, size / 2, first, last);
    add_below(found, 2 * node + 1, from + size / 2, size / 2, first, last);
}

static void add_spans(struct found *found) {
    const struct report_open_ranges *open = found->open;
    uint64_t process = open->model->capture->threads[found->event->thread].process;
    size_t first =
        process == 0 ? 0 : after(found, open->spans, open->span_count, process - 1, INT64_MAX);
    size_t last = after(found, open->spans, open->span_count, process, found->event->start);
    if (first < last) {
        add_below(found, 1, 0, open->leaves, first, last);
    }
}

// ---- Writing ------------------------------------------------------------------------------------

static void put_range(struct report_json *json, const struct report_capture *capture,
                      uint32_t index) {
    const struct report_event *event = &capture->events[index];
    struct report_value payload;
    report_json_object(json, NULL);
    report_json_slice(json, "name", report_message(capture, event));
    report_json_int(json, "row", event->row);
    report_json_uint(json, "category", event->category);
    if (event->color != 0) {
        report_json_before(json, "color");
        NVTXT_OUT_LITERAL(json->out, "\"");
        nvtxt_out_color(json->out, event->color);
        NVTXT_OUT_LITERAL(json->out, "\"");
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
    if (one->id != other->id) {
        return one->id < other->id ? -1 : 1;
    }
    if (one->domain != other->domain) {
        return one->domain < other->domain ? -1 : 1;
    }
    return one->place < other->place ? -1 : one->place > other->place;
}

int report_open_ranges_write(const struct report_open_ranges *open, uint32_t event,
                             struct store_arena *arena, struct report_json *json) {
    const struct report_capture *capture = open->model->capture;
    struct found found = {
        .open = open, .event = &capture->events[event], .index = event, .arena = arena};
    add_lanes(&found);
    add_spans(&found);
    struct shown *shown = store_arena_take(arena, (found.count + 1) * sizeof(*shown), 8);
    if (found.failed || !shown) {
        return -ENOMEM;
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
