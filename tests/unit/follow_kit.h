// SPDX-License-Identifier: Apache-2.0
//
// What the tests of a follower share: one store that is written and rotated, and one caller that
// follows it as nvtxt-ship does. Its events are numbered, so each row that it is given is checked:
// none is missing, none comes twice, none comes too early. A test may look, or interfere, between
// any two calls of the caller.
#pragma once

#include <limits.h>

#include "store/follow/follow.h"
#include "store/rotation.h"
#include "store/segment/segments.h"
#include "tests/unit/store_kit.h"

static struct kit kit;
static struct store_follow *follow;
static struct store_place place; // what the caller keeps
static int64_t missing;          // rows of gaps
static int sent;                 // events that were committed
static int received;             // events that the caller was given
static void (*between_calls)(void);

// ---- A store that is written --------------------------------------------------------------------

static inline void open_store(void) {
    bool vanished;
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &kit.options, STORE_OPEN_ACTIVE,
                                     &vanished, kit.error, sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
}

static inline void begin_caller(void) {
    follow = NULL;
    place = (struct store_place){0};
    missing = 0;
    sent = 0;
}

static inline void begin(void) {
    kit_folder(&kit);
    kit.options = (struct store_options){.name = kit.path};
    open_store();
    begin_caller();
}

// With a plain file, not with segments.
static inline void begin_plain(void) {
    kit_open(&kit);
    begin_caller();
}

static inline void end(void) {
    char command[128];
    store_follow_close(follow);
    store_batch_free(kit.batch);
    store_close(kit.store);
    snprintf(command, sizeof(command), "rm -r '%s'", kit.folder);
    cr_assert_eq(system(command), 0);
}

static inline void add_events(int count) {
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "event %d", sent);
        struct nvtxt_event event = kit_mark(1000 + sent++, text);
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
}

static inline void rotate(void) {
    char left[PATH_MAX];
    struct store *next = NULL;
    snprintf(left, sizeof(left), "%s", store_file_path(kit.store));
    cr_assert_eq(
        store_rotation_next(&next, kit.store, kit.path, &kit.options, kit.error, sizeof(kit.error)),
        STORE_DONE, "%s", kit.error);
    store_leave(kit.store);
    cr_assert_eq(store_rotation_leave(left), STORE_DONE);
    kit.store = next;
}

static inline void remove_segment(size_t index) {
    struct store_segments list;
    cr_assert_eq(store_segments_list(kit.path, &list), 0);
    cr_assert_lt(index, list.count);
    cr_assert_eq(store_segments_remove(list.rows[index].path), 0);
    store_segments_deinit(&list);
}

// ---- A caller that follows ----------------------------------------------------------------------

static inline void open_follower(void) {
    char error[PATH_MAX + 256];
    store_follow_close(follow);
    cr_assert_eq(store_follow_open(&follow, kit.path, error, sizeof(error)), STORE_DONE, "%s",
                 error);
}

static inline int seek(void) {
    struct store_gap gap;
    int result = store_follow_seek(follow, &place, &gap);
    missing += gap.count;
    return result;
}

static inline void must_seek(void) {
    int result = seek();
    cr_assert_eq(result, STORE_DONE, "%d: %s", result, store_follow_error(follow));
}

static inline void read_ahead(void) {
    struct store_place before, after;
    store_follow_place(follow, &before);
    store_follow_read_ahead(follow);
    store_follow_place(follow, &after);
    cr_assert_eq(memcmp(&before, &after, sizeof(before)), 0);
}

static inline void step(void) {
    if (between_calls) {
        between_calls();
    }
}

static inline void check_event(const struct store_follow_event *event) {
    char text[32];
    snprintf(text, sizeof(text), "event %d", received);
    cr_assert_eq(nvtxt_slice_equal(event->event.text, nvtxt_slice_of(text)), 1, "%.*s, not %s",
                 (int)event->event.text.len, event->event.text.data, text);
    cr_assert_eq(event->event.start, 1000 + received);
    cr_assert_eq(event->source_id, 1);
    cr_assert_gt(event->batch, 0);
    cr_assert_gt(event->committed_ns, 1000000000);
    received++;
}

static inline void read_events(void) {
    const struct store_follow_event *events;
    size_t count;
    int result;
    step();
    while ((result = store_follow_events(follow, &events, &count)) == STORE_DONE) {
        cr_assert_leq(count, STORE_FOLLOW_ROWS);
        for (size_t i = 0; i < count; i++) {
            check_event(&events[i]);
        }
        step();
    }
    cr_assert_eq(result, STORE_NOT_FOUND, "%s", store_follow_error(follow));
}

// A round as nvtxt-ship makes it. True when there may be more at once.
static inline bool round_of(void) {
    struct store_gap gap;
    step();
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE, "%s", store_follow_error(follow));
    read_events();
    store_follow_place(follow, &place);
    step();
    if (!store_follow_is_finished(follow)) {
        return false;
    }
    step();
    int result = store_follow_next(follow, &gap);
    cr_assert(result == STORE_DONE || result == STORE_NOT_FOUND, "%s", store_follow_error(follow));
    missing += gap.count;
    store_follow_place(follow, &place);
    return result == STORE_DONE;
}

static inline void follow_all(void) {
    while (round_of()) {
    }
}

static inline void start(void) {
    received = 0;
    open_follower();
    must_seek();
}
