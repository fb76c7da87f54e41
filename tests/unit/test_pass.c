// SPDX-License-Identifier: Apache-2.0
//
// A pass over rings that are filled by hand: what it says, in which order, and what it leaves for
// the next one.
#include "lib/ring/pass.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lib/ring/catalog.h"
#include "lib/ring/ring.h"

#define RING_BYTES (64u << 10)
#define WINDOW_BYTES (512u << 10)
#define RINGS 3

static struct region region;
static struct pass pass;
static struct ring_writer writers[RINGS];
static char said[WINDOW_BYTES + 1]; // by the last pass
static uint64_t now = 1000;
static uint32_t emptied = UINT32_MAX;

static void start(void) {
    cr_assert_eq(catalog_init(), 0);
    cr_assert_eq(region_make(&region, NULL, RING_BYTES, WINDOW_BYTES), 0);
    cr_assert_eq(region_chunk(&region, 0), 0);
    for (uint32_t i = 0; i < RINGS; i++) {
        cr_assert_eq(region_grant_ring(&region, i, 0), 0);
        ring_writer_init(&writers[i], &region, i);
        atomic_store(&region.rings[i].tid, 100 + i);
        atomic_store(&region.rings[i].state, RING_LIVE);
    }
    cr_assert_eq(catalog_use(&region, false), 0);
    pass_init(&pass, &region);
}

TestSuite(pass, .init = start);

static void record(int ring, enum record_kind kind, const char *text, uint64_t id) {
    struct record_view view = {.kind = kind, .time = now++, .id = id, .text = text};
    view.text_len = text ? (uint32_t)strlen(text) : 0;
    uint32_t flags = record_flags(&view);
    uint32_t bytes = record_bytes(id != 0, flags, view.text_len, 0);
    char *room = ring_reserve(&writers[ring], bytes, 0);
    cr_assert_not_null(room);
    record_write(room, &view, flags, bytes);
    ring_publish(&writers[ring], bytes);
}

static void on_empty(uint32_t ring) {
    emptied = ring;
}

static struct pass_result run(void) {
    uint64_t from = pass.next.end;
    struct pass_result result = pass_run(&pass, true, on_empty);
    struct region_state state = region_state(&region);
    size_t len = 0;
    if (pass.next.end < from || pass.next.end - from > WINDOW_BYTES) {
        from = pass.next.end & ~(uint64_t)(WINDOW_BYTES - 1);
    }
    for (; from < state.end; from++) {
        said[len++] = region.window[from & (WINDOW_BYTES - 1)];
    }
    said[len] = '\0';
    return result;
}

static void acknowledge_all(void) {
    pass.next.acked = pass.next.end;
    pass.next.acked_lines = pass.next.lines;
}

// Where a text stands in what the last pass said; fails when it is not there, or twice.
static const char *at(const char *text) {
    const char *first = strstr(said, text);
    cr_assert_not_null(first, "%s is not in\n%s", text, said);
    cr_assert_null(strstr(first + 1, text), "%s is twice in\n%s", text, said);
    return first;
}

static void expect_not(const char *text) {
    cr_assert_null(strstr(said, text), "%s is in\n%s", text, said);
}

Test(pass, begins_a_session_once) {
    run();
    at("TimeBase=ClockRealtime\n");
    cr_assert_not(run().moved);
    cr_assert_str_empty(said);
}

Test(pass, keeps_the_order_of_a_thread_and_says_whose_it_is) {
    record(0, RECORD_PUSH, "one", 0);
    record(0, RECORD_MARK, "two", 0);
    record(1, RECORD_MARK, "other", 0);
    cr_assert(run().moved);
    cr_assert(at("ThreadId=100\n") < at("\"one\"") && at("\"one\"") < at("\"two\""));
    cr_assert(at("ThreadId=101\n") < at("\"other\""));
}

Test(pass, an_end_waits_for_its_start_in_another_ring) {
    record(0, RECORD_END, NULL, 5); // ring 0 is read first
    record(0, RECORD_MARK, "after", 0);
    record(1, RECORD_END, NULL, 7);
    record(2, RECORD_START, "five", 5);
    record(2, RECORD_START, "seven", 7);
    run();
    cr_assert(at("\"five\"") < at(",5\n") && at(",5\n") < at("\"after\""));
    cr_assert(at("\"seven\"") < at(",7\n"));
    cr_assert_eq(pass.ignored, 0);
}

Test(pass, an_end_without_a_start_is_nothing) {
    record(0, RECORD_START, "range", 5);
    record(0, RECORD_END, NULL, 5);
    record(0, RECORD_END, NULL, 5);
    record(1, RECORD_END, NULL, 9);
    record(1, RECORD_MARK, "after", 0);
    run();
    at(",5\n");
    at("\"after\"");
    expect_not(",9\n");
    cr_assert_eq(pass.ignored, 2);
}

Test(pass, says_losses_after_what_was_recorded_before_them) {
    record(0, RECORD_MARK, "before", 0);
    atomic_fetch_add(&region.head->lost[LOSS_FULL], 7);
    atomic_fetch_add(&region.head->lost[LOSS_DEPTH], 2);
    run();
    cr_assert(at("\"before\"") < at("#nvtxt-lost {\"lines\":7,\"reason\":\"full\"}\n"));
    at("#nvtxt-lost {\"lines\":2,\"reason\":\"depth\"}\n");
    atomic_fetch_add(&region.head->lost[LOSS_FULL], 1);
    run();
    at("#nvtxt-lost {\"lines\":1,\"reason\":\"full\"}\n");
    expect_not("depth");
}

Test(pass, says_the_newest_name_once_and_again_to_a_new_session) {
    catalog_name(NAME_CATEGORY, 0, 3, NULL, "old", NULL);
    catalog_name(NAME_CATEGORY, 0, 3, NULL, "new", NULL);
    run();
    at("SetCategoryName,3,\"new\"\n");
    expect_not("old");
    run();
    expect_not("new");
    pass_repeat_names(&pass);
    run();
    at("SetCategoryName,3,\"new\"\n");
    run();
    expect_not("new");
}

Test(pass, a_late_end_is_said_after_its_start) {
    cr_assert_eq(region_grant(&region, TABLE_LATES, 1), 0);
    region.lates[0] = (struct region_late){.id = 5, .time = 5000};
    atomic_store(&region.lates[0].taken, UINT64_MAX);
    atomic_store(&region.lates[0].given, 2);
    record(1, RECORD_START, "range", 5);
    run();
    cr_assert(at("\"range\"") < at("RangeEnd,5000,5\n"));
    run();
    cr_assert_str_empty(said);
}

Test(pass, a_full_window_stops_it_and_an_acknowledgement_lets_it_go_on) {
    static char text[16000];
    memset(text, 'x', sizeof(text) - 1);
    int marks = 0, seen = 0;
    struct pass_result result;
    do {
        for (int i = 0; i < 3; i++, marks++) {
            record(0, RECORD_MARK, text, 0);
        }
        result = run();
        for (const char *line = said; (line = strstr(line, "Marker,")); line++) {
            seen++;
        }
    } while (!result.is_full);
    cr_assert_leq(pass.next.end - pass.next.acked, WINDOW_BYTES);
    cr_assert_not(run().moved);
    acknowledge_all();
    while (run().moved) {
        for (const char *line = said; (line = strstr(line, "Marker,")); line++) {
            seen++;
        }
        acknowledge_all();
    }
    cr_assert_eq(seen, marks);
}

Test(pass, an_empty_window_begins_again_at_its_start) {
    static char text[16000];
    memset(text, 'x', sizeof(text) - 1);
    for (int i = 0; i < 200; i++) {
        record(0, RECORD_MARK, text, 0);
        run();
        acknowledge_all();
    }
    cr_assert_gt(pass.next.end, WINDOW_BYTES);
    cr_assert_leq(atomic_load(&region.window_granted), WINDOW_BYTES * 3 / 4);
}

Test(pass, tells_of_a_ring_that_is_left_and_empty) {
    record(1, RECORD_MARK, "last", 0);
    atomic_store(&region.rings[1].state, RING_LEFT);
    run();
    cr_assert_eq(emptied, 1);
}

// ---- Kills --------------------------------------------------------------------------------------

// What a kill before the commit leaves: the last pass does not count, and who goes on takes it
// back.
static void undo(void) {
    atomic_fetch_sub(&region.head->pass, 1);
    pass_init(&pass, &region);
}

Test(pass, is_made_again_when_it_was_not_committed) {
    record(0, RECORD_START, "first", 2);
    run();
    record(0, RECORD_END, NULL, 2);
    record(0, RECORD_MARK, "mark", 0);
    run();
    undo();
    run();
    at(",2\n");
    at("\"mark\"");
    cr_assert_eq(pass.ignored, 0);
}

// Both ids lead to the same place of the table.
Test(pass, the_place_of_a_range_is_free_when_the_pass_that_ended_it_is_committed) {
    uint64_t other = 2 + 2 * (uint64_t)REGION_OPEN;
    record(0, RECORD_START, "first", 2);
    run();
    record(0, RECORD_END, NULL, 2);
    record(0, RECORD_START, "second", other);
    run();
    undo();
    run();
    cr_assert(at(",2\n") < at("\"second\""));
    cr_assert_eq(pass.ignored, 0);
    record(0, RECORD_END, NULL, other);
    record(0, RECORD_START, "third", 2);
    run();
    at(",131074\n");
    at("\"third\"");
    cr_assert_eq(atomic_load(&region.opens[1].id), 2, "its place was free");
}

// ---- The clock ----------------------------------------------------------------------------------

Test(pass, goes_on_with_the_clock_of_a_process_that_is_gone) {
    region.head->is_tsc = 1;
    struct region_state *state = &region.head->states[0];
    state->clock = (struct clock_point){.ticks = 900, .ns = 5000};
    state->clock_rate = 2;
    pass_init(&pass, &region);
    record(0, RECORD_MARK, "first", 0);
    now += 49;
    record(0, RECORD_MARK, "second", 0);
    run();
    cr_assert_lt(at("Marker,5200,"), at("Marker,5300,"));
}
