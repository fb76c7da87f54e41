// SPDX-License-Identifier: Apache-2.0
//
// A token is looked up in two sorted lists: sources by session and user, keys by source and text.
// A key that has no event leads on to what its session was started under. What a source was started
// under is found once, as most tokens are those of sources. Then each event is followed upwards
// until it meets one that was followed before, so all of it takes time n log n.
#include "report/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

#define HOPS_MAX 100    // sessions, one under the other, of which nothing is loaded
#define SOURCES_MAX 256 // of one session: one a store

struct finder {
    struct report_parents *parents;
    struct report_capture *capture;
    const uint32_t *lane_parents;
    uint32_t *sessions; // owned: sources that have a session, by session, user, store
    size_t session_count;
    uint32_t *of_source; // owned: what the token of each source leads to
    uint8_t *is_known;   // owned: of_source is set; 2: the token leads nowhere
    uint32_t *key_of;    // owned: by event, an index of a key, or REPORT_NONE
};

// ---- Order of sources and keys ------------------------------------------------------------------

static int compare_sessions(const struct report_source *a, const struct report_source *b) {
    int order = nvtxt_slice_order(a->session, b->session) ?: NVTXT_ORDER(a->has_uid, b->has_uid);
    return order ?: a->has_uid ? NVTXT_ORDER(a->uid, b->uid) : 0;
}

static int by_session(const void *left, const void *right, void *context) {
    const struct report_source *sources = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return compare_sessions(&sources[a], &sources[b]) ?: NVTXT_ORDER(a, b);
}

static int by_key(const void *left, const void *right) {
    const struct report_range_key *a = left, *b = right;
    int order = NVTXT_ORDER(a->source, b->source) ?: nvtxt_slice_order(a->key, b->key);
    return order ?: NVTXT_ORDER(a->row, b->row);
}

static int by_row(const void *left, const void *right, void *context) {
    const struct report_capture *capture = context;
    const struct report_range_key *a = &capture->keys[*(const uint32_t *)left];
    const struct report_range_key *b = &capture->keys[*(const uint32_t *)right];
    uint32_t one = capture->sources[a->source].store, two = capture->sources[b->source].store;
    return NVTXT_ORDER(one, two) ?: NVTXT_ORDER(a->row, b->row);
}

// The key of an event, or REPORT_NONE.
static uint32_t key_of_event(const struct report_capture *capture, const uint32_t *rows,
                             const struct report_event *event) {
    size_t low = 0, high = capture->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct report_range_key *key = &capture->keys[rows[middle]];
        uint32_t store = capture->sources[key->source].store;
        int order = NVTXT_ORDER(store, event->store) ?: NVTXT_ORDER(key->row, event->row);
        if (order == 0) {
            return rows[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return REPORT_NONE;
}

static int bind_keys(struct finder *finder) {
    struct report_capture *capture = finder->capture;
    uint32_t *rows = malloc((capture->key_count + 1) * sizeof(*rows));
    if (!rows) {
        return nvtxt_origin(-ENOMEM);
    }
    if (capture->key_count > 0) {
        qsort(capture->keys, capture->key_count, sizeof(*capture->keys), by_key);
    }
    for (size_t i = 0; i < capture->key_count; i++) {
        rows[i] = (uint32_t)i;
        capture->keys[i].event = REPORT_NONE;
    }
    qsort_r(rows, capture->key_count, sizeof(*rows), by_row, capture);
    for (size_t i = 0; i < finder->capture->event_count; i++) {
        bool may_have = capture->events[i].kind == REPORT_START_END; // else a stranger's store
        finder->key_of[i] =
            may_have ? key_of_event(capture, rows, &capture->events[i]) : REPORT_NONE;
        if (finder->key_of[i] != REPORT_NONE) {
            capture->keys[finder->key_of[i]].event = (uint32_t)i;
        }
    }
    free(rows);
    return 0;
}

// ---- Tokens -------------------------------------------------------------------------------------

// The place in `sessions` of the first source of that session and user in that store or a later
// one; `session_count`: there is none.
static size_t first_source(const struct finder *finder, const struct report_source *wanted,
                           uint32_t store) {
    const struct report_source *sources = finder->capture->sources;
    size_t low = 0, high = finder->session_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct report_source *source = &sources[finder->sessions[middle]];
        int order = compare_sessions(source, wanted) ?: NVTXT_ORDER(source->store, store);
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    bool found = low < finder->session_count &&
                 compare_sessions(&sources[finder->sessions[low]], wanted) == 0;
    return found ? low : finder->session_count;
}

static const struct report_range_key *key_of_source(const struct report_capture *capture,
                                                    uint32_t source, struct nvtxt_slice text) {
    const struct report_range_key wanted = {.source = source, .key = text, .row = INT64_MIN};
    size_t low = 0, high = capture->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool before = by_key(&capture->keys[middle], &wanted) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    const struct report_range_key *key = &capture->keys[low];
    bool found =
        low < capture->key_count && key->source == source && nvtxt_slice_equal(key->key, text);
    return found ? key : NULL;
}

// What a token names: the sources of its session that the same user sent as the child.
struct named {
    size_t near, first; // places in `sessions`: in the child's store or later ones, and anywhere
};

// The key that has an event if there is one: of the child's store, else of the first store that has
// it. NULL: there is none.
static const struct report_range_key *find_key(const struct finder *finder,
                                               const struct named *named, struct nvtxt_slice text) {
    const struct report_source *sources = finder->capture->sources;
    const struct report_range_key *found = NULL;
    const struct report_source wanted = sources[finder->sessions[named->first]];
    for (size_t i = 0; i <= SOURCES_MAX; i++) {
        size_t at = i == 0 ? named->near : named->first + i - 1;
        if (at == finder->session_count ||
            compare_sessions(&sources[finder->sessions[at]], &wanted) != 0) {
            break;
        }
        const struct report_range_key *key =
            key_of_source(finder->capture, finder->sessions[at], text);
        if (key && key->event != REPORT_NONE) {
            return key;
        }
        found = found ?: key;
    }
    return found;
}

// What a token leads to.
struct target {
    uint32_t event;          // or REPORT_NONE
    struct nvtxt_slice next; // without an event: the token to look at next; data NULL: none
    bool unknown;
};

// One look: the event of the token; else what its session was started under.
static struct target look_up(const struct finder *finder, struct nvtxt_slice token,
                             const struct report_source *child, uint32_t event) {
    const struct report_capture *capture = finder->capture;
    const char *colon = memchr(token.data, ':', token.len);
    struct target none = {.event = REPORT_NONE, .unknown = true};
    if (!colon || !child->has_uid) {
        return none;
    }
    struct report_source wanted = *child;
    wanted.session = (struct nvtxt_slice){token.data, (size_t)(colon - token.data)};
    struct named named = {first_source(finder, &wanted, child->store),
                          first_source(finder, &wanted, 0)};
    if (named.first == finder->session_count) {
        return none;
    }
    named.near = named.near == finder->session_count ? named.first : named.near;
    struct nvtxt_slice text = {colon + 1, token.len - wanted.session.len - 1};
    const struct report_range_key *key = find_key(finder, &named, text);
    bool is_own_run = key && key->event == event && nvtxt_slice_equal(text, NVTXT_SLICE("run"));
    if (key && key->event != REPORT_NONE && !is_own_run) {
        return (struct target){.event = key->event};
    }
    const struct report_range_key *run =
        key ? NULL : find_key(finder, &named, nvtxt_slice_of("run"));
    if (run && run->event != REPORT_NONE && run->event != event) {
        return (struct target){.event = run->event};
    }
    none = (struct target){.event = REPORT_NONE,
                           .next = capture->sources[finder->sessions[named.first]].parent};
    if (key && key->parent.data && !is_own_run) { // not loaded: what it was under itself
        none.next = key->parent;
    }
    return none;
}

static uint32_t resolve(const struct finder *finder, struct nvtxt_slice token,
                        const struct report_source *child, uint32_t event, bool *unknown) {
    struct target target = {.event = REPORT_NONE, .next = token};
    for (int i = 0; i < HOPS_MAX && target.event == REPORT_NONE && target.next.data; i++) {
        target = look_up(finder, target.next, child, event);
    }
    *unknown = target.unknown;
    return target.event;
}

// The same for the token of a source, which many events have.
static uint32_t resolve_source(struct finder *finder, uint32_t index, uint32_t event,
                               bool *unknown) {
    const struct report_source *source = &finder->capture->sources[index];
    if (!finder->is_known[index]) {
        finder->of_source[index] = resolve(finder, source->parent, source, event, unknown);
        finder->is_known[index] = *unknown ? 2 : 1;
    }
    *unknown = finder->is_known[index] == 2;
    return finder->of_source[index];
}

static void find_under(struct finder *finder, uint32_t event) {
    const struct report_event *of = &finder->capture->events[event];
    bool unknown = false;
    finder->parents->under[event] = REPORT_NONE;
    if (of->source == REPORT_NONE || finder->lane_parents[event] != REPORT_NONE) {
        return;
    }
    const struct report_source *source = &finder->capture->sources[of->source];
    uint32_t key = finder->key_of[event];
    bool has_own = key != REPORT_NONE && finder->capture->keys[key].parent.data;
    bool has_token = has_own || source->parent.data; // it may lead to no row: that was killed
    if (has_own) {
        finder->parents->under[event] =
            resolve(finder, finder->capture->keys[key].parent, source, event, &unknown);
    } else if (has_token) {
        finder->parents->under[event] = resolve_source(finder, of->source, event, &unknown);
    }
    finder->parents->unknown += unknown;
    finder->parents->in_tree[event] |= of->kind == REPORT_START_END && has_token;
    if (finder->parents->under[event] != REPORT_NONE && report_is_range(of)) {
        finder->parents->in_tree[finder->parents->under[event]] = true;
    }
}

// ---- Cycles -------------------------------------------------------------------------------------

enum mark { UNSEEN, ON_WAY, SOUND, CIRCLING };

// Marks all on the way up from an event: whether it ends.
static void mark_way(const struct report_parents *parents, uint32_t event, uint8_t *marks) {
    uint32_t at = event;
    while (at != REPORT_NONE && marks[at] == UNSEEN) {
        marks[at] = ON_WAY;
        at = parents->under[at];
    }
    uint8_t mark = at == REPORT_NONE ? SOUND : marks[at] == ON_WAY ? CIRCLING : marks[at];
    for (at = event; at != REPORT_NONE && marks[at] == ON_WAY; at = parents->under[at]) {
        marks[at] = mark;
    }
}

static bool began_before(const struct report_event *a, const struct report_event *b) {
    int order = NVTXT_ORDER(a->start, b->start) ?: NVTXT_ORDER(a->store, b->store);
    return (order ?: NVTXT_ORDER(a->row, b->row)) < 0;
}

// As NVTXT_TREE has it: of ranges with keys that are in a cycle or under one, a parent that did not
// begin earlier is none. Only such ranges are parents.
static void cut_cycles(const struct finder *finder, uint8_t *marks) {
    struct report_parents *parents = finder->parents;
    const struct report_event *events = finder->capture->events;
    for (size_t i = 0; i < finder->capture->event_count; i++) {
        mark_way(parents, (uint32_t)i, marks);
    }
    for (size_t i = 0; i < finder->capture->event_count; i++) {
        if (marks[i] == CIRCLING && finder->key_of[i] != REPORT_NONE &&
            !began_before(&events[parents->under[i]], &events[i])) {
            parents->under[i] = REPORT_NONE;
            parents->was_cycle = true;
        }
    }
}

// ---- Own times ----------------------------------------------------------------------------------

// Ranges come in the order of their starts, so up to `counted` all that is under a range is known.
static int find_own_times(const struct finder *finder) {
    struct report_parents *parents = finder->parents;
    const struct report_event *events = finder->capture->events;
    int64_t *counted = malloc((finder->capture->event_count + 1) * sizeof(*counted));
    if (!counted) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < finder->capture->event_count; i++) {
        counted[i] = events[i].start;
        parents->own_ns[i] = parents->in_tree[i] ? report_duration(&events[i]) : 0;
    }
    for (size_t i = 0; i < finder->capture->event_count; i++) {
        uint32_t under = parents->under[i];
        if (under == REPORT_NONE || !parents->in_tree[under] || !report_is_range(&events[i])) {
            continue;
        }
        int64_t from = events[i].start > counted[under] ? events[i].start : counted[under];
        int64_t to = events[i].end < events[under].end ? events[i].end : events[under].end;
        if (to > from) {
            parents->own_ns[under] -=
                parents->own_ns[under] > 0 ? (uint64_t)to - (uint64_t)from : 0;
            counted[under] = to;
        }
    }
    free(counted);
    return 0;
}

// What lies in a lane is in the same place as the outermost range there, whose index is smaller.
static void inherit(const struct finder *finder) {
    for (size_t i = 0; i < finder->capture->event_count; i++) {
        uint32_t parent = finder->lane_parents[i];
        if (parent != REPORT_NONE) {
            finder->parents->under[i] = finder->parents->under[parent];
        }
    }
}

// ---- All ----------------------------------------------------------------------------------------

static int find_all(struct finder *finder, uint8_t *marks) {
    struct report_capture *capture = finder->capture;
    for (uint32_t i = 0; i < capture->source_count; i++) {
        if (capture->sources[i].session.data) {
            finder->sessions[finder->session_count++] = i;
        }
    }
    qsort_r(finder->sessions, finder->session_count, sizeof(*finder->sessions), by_session,
            capture->sources);
    int r = bind_keys(finder);
    for (size_t i = 0; r == 0 && i < capture->event_count; i++) {
        find_under(finder, (uint32_t)i);
    }
    if (r == 0) {
        cut_cycles(finder, marks);
        r = find_own_times(finder);
    }
    if (r == 0) {
        inherit(finder);
    }
    return r;
}

static int fill(struct report_parents *parents, struct report_capture *capture,
                const uint32_t *lane_parents) {
    size_t sources = capture->source_count + 1, events = capture->event_count + 1;
    struct finder finder = {
        .parents = parents,
        .capture = capture,
        .lane_parents = lane_parents,
        .sessions = malloc(sources * sizeof(uint32_t)),
        .of_source = malloc(sources * sizeof(uint32_t)),
        .is_known = calloc(sources, 1),
        .key_of = malloc(events * sizeof(uint32_t)),
    };
    uint8_t *marks = calloc(events, 1);
    bool is_there =
        finder.sessions && finder.of_source && finder.is_known && finder.key_of && marks;
    int r = is_there ? find_all(&finder, marks) : nvtxt_origin(-ENOMEM);
    free(finder.sessions);
    free(finder.of_source);
    free(finder.is_known);
    free(finder.key_of);
    free(marks);
    return r;
}

int report_parents_init(struct report_parents *parents, struct report_capture *capture,
                        const uint32_t *lane_parents) {
    size_t count = capture->event_count + 1;
    *parents = (struct report_parents){0};
    if (!capture->has_parents) {
        return 0;
    }
    parents->under = malloc(count * sizeof(*parents->under));
    parents->own_ns = calloc(count, sizeof(*parents->own_ns));
    parents->in_tree = calloc(count, sizeof(*parents->in_tree));
    if (!parents->under || !parents->own_ns || !parents->in_tree) {
        return nvtxt_origin(-ENOMEM);
    }
    return fill(parents, capture, lane_parents);
}

void report_parents_deinit(struct report_parents *parents) {
    free(parents->under);
    free(parents->own_ns);
    free(parents->in_tree);
    *parents = (struct report_parents){0};
}
