// SPDX-License-Identifier: Apache-2.0
//
// What interp.h promises: what calls store, one-time warnings, limits, waiting names, open
// ranges, the end of a source, a sink that fails. The breadth of the language is in the golden
// cases.
#include "protocol/interp/interp.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "protocol/interp/state.h"
#include "tests/unit/recorder.h"

static struct recorder rec;
static struct nvtxt_source_config config = {
    .limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7, .opened_ns = 5000, .origin_ns = 1000};
static struct nvtxt_interp *interp;

static void start(void) {
    recorder_init(&rec);
    interp = nvtxt_interp_new(&config);
    cr_assert_not_null(interp);
}

static void gives_at(const char *where, const char *lines, const char *wanted) {
    if (!interp) {
        start();
    }
    recorder_run(&rec, interp, lines);
    recorder_take(&rec, where, wanted);
}

static void end_gives(const char *wanted) {
    cr_assert_eq(nvtxt_interp_end(interp, &rec.sink), 0);
    recorder_take(&rec, "end", wanted);
    nvtxt_interp_free(interp);
    interp = NULL;
}

#define gives(lines, wanted) gives_at(lines, lines, wanted)

// Short definitions for most tests.
#define SHORT                                                                                      \
    "@Marker, Time, Message\n@RangePush, Time, Message\n@RangePop, Time\n"                         \
    "@RangeStart, Time, RangeId, Message\n@RangeEnd, Time, RangeId\n"                              \
    "@RangeStartEnd, Start, End, Message\n"

// ---- Keys -------------------------------------------------------------------------------------

static void key_holds_for(const char *lines, const char *wanted) {
    nvtxt_interp_next_range(interp, "k", "p");
    gives(lines, wanted);
}

Test(interp, gives_a_key_to_the_range_of_the_next_line_only) {
    start();
    gives(SHORT, "");
    key_holds_for("RangeStartEnd, 1, 2, a\nRangeStartEnd, 1, 3, b\n",
                  "start 7.7 1..2 'a' key=k parent=p\nstart 7.7 1..3 'b'\n");
    key_holds_for("\nRangeStartEnd, 1, 2, a\n", "start 7.7 1..2 'a'\n");
    key_holds_for("# x\nRangeStartEnd, 1, 2, a\n", "start 7.7 1..2 'a'\n");
    key_holds_for("Marker, 1, m\nRangeStartEnd, 1, 2, a\n",
                  "mark 7.7 1..1 'm'\nstart 7.7 1..2 'a'\n");
    key_holds_for("RangePush, 1, p\nRangePop, 2\n", "push 7.7 1..2 'p'\n");
    key_holds_for("RangeStartEnd, x, 2, a\nRangeStartEnd, 1, 2, a\n",
                  "17:16 error parsing wrong-type\nstart 7.7 1..2 'a'\n");
    nvtxt_interp_next_range(interp, "k", "");
    cr_assert_eq(nvtxt_interp_overlong(interp, NVTXT_SLICE("x"), &rec.sink), 0);
    rec.len = 0;
    gives("RangeStartEnd, 1, 2, a\n", "start 7.7 1..2 'a'\n");
    end_gives("");
}

Test(interp, warns_of_a_parent_once) {
    start();
    cr_assert_eq(nvtxt_interp_warn_parent(interp, NVTXT_SLICE("x"), &rec.sink), 0);
    cr_assert_eq(nvtxt_interp_warn_parent(interp, NVTXT_SLICE("y"), &rec.sink), 0);
    recorder_take(&rec, "parent", "1:1 warning loading bad-parent\n");
    cr_assert_eq(nvtxt_interp_counters(interp)->warnings, 1);
    end_gives("");
}

// ---- What it keeps ------------------------------------------------------------------------------

Test(interp, keeps_no_more_than_it_may_in_ranges_variables_and_names) {
    start();
    size_t empty = nvtxt_interp_held(interp);
    gives(SHORT, "");
    nvtxt_interp_allow(interp, empty + 900);
    gives("RangeStart, 1, 1, a\n", "");
    size_t one = nvtxt_interp_held(interp);
    cr_assert_gt(one, empty);
    cr_assert_leq(one, empty + 900);
    nvtxt_interp_allow(interp, one); // what is there stays and can change
    recorder_run(&rec, interp, "RangeStart, 2, 2, b\nx = \"y\"\nSetThreadName, 1, \"t\"\n");
    cr_assert_eq(nvtxt_interp_counters(interp)->errors, 3, "each is a fault");
    cr_assert_eq(nvtxt_interp_held(interp), one);
    recorder_init(&rec);
    gives("RangeEnd, 3, 1\n", "start 7.7 1..3 'a'\n");
    cr_assert_eq(nvtxt_interp_held(interp), empty);
    gives("RangeStart, 4, 2, b\n", "");
    nvtxt_interp_allow(interp, SIZE_MAX);
    gives("x = \"y\"\n", "");
    cr_assert_gt(nvtxt_interp_held(interp), one);
    nvtxt_interp_free(interp);
    interp = NULL;
}

// ---- What calls store ---------------------------------------------------------------------------

Test(interp, stores_a_marker_with_all_it_carries) {
    gives("SetFileDisplayName, \"D\"\nMarker, 100, Manual, 8, 9, 3, \"#80010203\", \"m\", \"1.5\"",
          "mark 8.9 100..100 'm' category=3 color=80010203 domain='D' real=1.5\n"
          "name domain 'D' at 100 8.9\n");
    end_gives("");
}

Test(interp, pops_the_newest_push_of_the_thread) {
    gives("@RangePush, Time, ThreadId, Message, CategoryId\n@RangePop, Time, ThreadId\n"
          "RangePush, 1, 1, a, 5\nRangePush, 2, 1, b, 6\nRangePush, 3, 2, c, 0\n"
          "RangePop, 4, 1\nRangePop, 5, 2\nRangePop, 6, 1\nRangePop, 7, 1\n",
          "push 7.1 2..4 'b' category=6\npush 7.2 3..5 'c'\npush 7.1 1..6 'a' category=5\n"
          "9:1 error loading pop-without-push\n");
    end_gives("");
}

Test(interp, pairs_starts_and_ends_by_id_whatever_the_thread) {
    gives("@RangeStart, Time, RangeId, ThreadId, Message\n@RangeEnd, Time, RangeId, ThreadId\n"
          "RangeStart, 1, 10, 1, a\nRangeStart, 2, -10, 1, b\nRangeStart, 3, 10, 2, again\n"
          "RangeEnd, 4, 10, 2\nRangeEnd, 5, 10, 2\n@RangeEnd, Time, RangeId\nRangeEnd, 6, -10\n"
          "RangeStart, 7, 10, 1, c\nThreadId = 3\nRangeEnd, 8, 10",
          "5:16 error loading range-already-open\nstart 7.1 1..4 'a' by=7.2\n"
          "7:14 error loading end-without-start\nstart 7.1 2..6 'b'\nstart 7.1 7..8 'c' by=7.3\n");
    end_gives("");
}

Test(interp, keeps_a_range_that_ends_before_it_starts_and_warns) {
    gives(SHORT "RangeStartEnd, 9, 8, x\nRangePush, 9, p\nRangePop, 8\nRangeStartEnd, 9, 9, y",
          "start 7.7 9..8 'x'\n7:19 warning loading ends-before-start\n"
          "push 7.7 9..8 'p'\n9:11 warning loading ends-before-start\nstart 7.7 9..9 'y'\n");
    end_gives("");
}

Test(interp, gives_an_event_the_display_name_of_its_start) {
    gives(SHORT "SetFileDisplayName, A\nRangePush, 1, p\nSetFileDisplayName, B\nRangePop, 2\n"
                "Marker, 3, m\nSetFileDisplayName, ''\nMarker, 4, n",
          "push 7.7 1..2 'p' domain='A'\nname domain 'A' at 1 7.7\nname domain 'B' at 1 7.7\n"
          "mark 7.7 3..3 'm' domain='B'\nmark 7.7 4..4 'n'\n");
    cr_assert_eq(nvtxt_interp_display_name(interp).len, 0);
    end_gives("");
}

Test(interp, leaves_no_trace_of_a_line_with_an_error) {
    gives(SHORT "A = old\nA = $B\n@Marker, Time, Nonsense\nMarker, 1, $A\nRangePush, 1, p, q\n"
                "RangePop, 2",
          "8:5 error lexing undefined-variable\n9:16 error parsing unknown-argument\n"
          "mark 7.7 1..1 'old'\n11:18 error parsing wrong-value-count\n"
          "12:1 error loading pop-without-push\n");
    int64_t least, most;
    cr_assert(nvtxt_interp_raw_times(interp, &least, &most));
    cr_assert_eq(least, 1);
    cr_assert_eq(most, 1, "the pop had no effect");
    end_gives("");
}

Test(interp, hands_on_warnings_after_the_event_from_left_to_right) {
    gives("@RangeStartEnd, Message, TimeBase, Color, Start, End\n"
          "RangeStartEnd, '\xFF', Qpc, nocolor, 2, 1",
          "start 7.7 2..1 '\xEF\xBF\xBD'\n2:16 warning lexing invalid-utf8\n"
          "2:21 warning loading unknown-timebase\n2:26 warning loading bad-color\n"
          "2:38 warning loading ends-before-start\n");
    end_gives("");
}

Test(interp, skips_a_byte_order_mark_on_the_first_line_only) {
    gives("\xEF\xBB\xBF"
          "A = $B\n\xEF\xBB\xBF"
          "A = 1",
          "1:5 error lexing undefined-variable\n2:1 error lexing stray-byte\n");
    end_gives("");
}

// ---- Time ---------------------------------------------------------------------------------------

Test(interp, warns_of_a_time_base_once_per_source_and_code) {
    gives("@Marker, TimeBase, Time\nMarker, Qpc, 1\nMarker, Other, 2\nMarker, ClockBoottime, 3\n"
          "Marker, ClockMonotonic, 4\nMarker, ClockRealtime, 5\nMarker, Relative, 6",
          "mark 7.7 1..1 ''\n2:9 warning loading unknown-timebase\nmark 7.7 2..2 ''\n"
          "mark 7.7 3..3 ''\n4:9 warning loading no-clock\nmark 7.7 4..4 ''\nmark 7.7 5..5 ''\n"
          "mark 7.7 1006..1006 ''\n");
    end_gives("");
}

Test(interp, does_not_warn_for_a_call_without_effect) {
    gives("@RangePop, TimeBase, Time\nRangePop, Qpc, 1\n@Marker, TimeBase, Time\nMarker, Qpc, 1",
          "2:1 error loading pop-without-push\nmark 7.7 1..1 ''\n"
          "4:9 warning loading unknown-timebase\n");
    end_gives("");
}

Test(interp, moves_a_clock_by_the_offset_measured_last) {
    start();
    nvtxt_interp_set_clock(interp, NVTXT_TIMEBASE_MONOTONIC,
                           (struct nvtxt_clock_offset){true, 100, 0});
    gives("@Marker, TimeBase, Time\nMarker, ClockMonotonic, 1", "mark 7.7 101..101 ''\n");
    nvtxt_interp_set_clock(interp, NVTXT_TIMEBASE_MONOTONIC,
                           (struct nvtxt_clock_offset){true, INT64_MAX, 0});
    gives("Marker, ClockMonotonic, 1", "3:25 error loading time-out-of-range\n");
    nvtxt_interp_set_clock(interp, NVTXT_TIMEBASE_UNKNOWN,
                           (struct nvtxt_clock_offset){true, 100, 0});
    gives("Marker, Qpc, 1", "mark 7.7 1..1 ''\n4:9 warning loading unknown-timebase\n");
    end_gives("");
}

Test(interp, maps_every_time_base_when_there_is_a_mapping) {
    config.mapping = (struct nvtxt_mapping){
        .mode = NVTXT_MAPPING_LERP, .ns_a = 1000, .ns_b = 2000, .nvtxt_a = 0, .nvtxt_b = 10};
    gives("@Marker, TimeBase, Time\nMarker, Qpc, 1\nMarker, Relative, -1\nMarker, Manual, 10",
          "mark 7.7 1100..1100 ''\nmark 7.7 900..900 ''\nmark 7.7 2000..2000 ''\n");
    int64_t least, most;
    cr_assert(nvtxt_interp_raw_times(interp, &least, &most));
    cr_assert_eq(least, -1, "as written");
    cr_assert_eq(most, 10);
    end_gives("");
}

// ---- Names --------------------------------------------------------------------------------------

Test(interp, lets_names_wait_for_the_first_event) {
    gives("SetCategoryName, 1, c\nSetThreadName, 7, 8, t\nSetProcessName, 7, p\n"
          "SetCategoryName, 1, last\nSetFileDisplayName, D\nSetCategoryName, 1, other",
          "name process 7 'p'\n");
    gives("@RangePush, Time\nRangePush, 50\n@Marker, Time, ThreadId\nMarker, 60, 9",
          "mark 7.9 60..60 '' domain='D'\nname category 1 'last' at 60 7.9\n"
          "name thread 7.8 't' at 60 7.9\nname domain 'D' at 60 7.9\n"
          "name category 1 'other' domain='D' at 60 7.9\n");
    gives("SetThreadName, 7, 8, u", "name thread 7.8 'u' at 60 7.9\n");
    end_gives("push 7.7 50..60 '' domain='D' unclosed\n8:1 warning loading never-closed\n");
}

Test(interp, names_a_category_in_the_process_that_the_variable_says) {
    gives("SetCategoryName, 1, \"event's\"\nProcessId = 5\nSetCategoryName, 1, five\n"
          "SetCategoryName, 1, 'five again'\nProcessId = 6\nSetCategoryName, 1, six",
          "");
    gives("ProcessId = 9\n@Marker, Time\nMarker, 60\nSetCategoryName, 2, now",
          "mark 9.9 60..60 ''\nname category 1 'event's' at 60 9.9\n"
          "name category 1 'five again' of 5 at 60 9.9\nname category 1 'six' of 6 at 60 9.9\n"
          "name category 2 'now' of 9 at 60 9.9\n");
    gives("ProcessId = nobody\nSetCategoryName, 3, 'of the event'\nProcessId = -1\n"
          "SetCategoryName, 3, again",
          "name category 3 'of the event' at 60 9.9\nname category 3 'again' at 60 9.9\n");
    end_gives("");
}

Test(interp, stores_names_without_an_event_at_the_opening_time) {
    gives("SetThreadName, 1, 2, t\nSetFileDisplayName, D", "");
    end_gives("name thread 1.2 't' at 5000 7.7\nname domain 'D' at 5000 7.7\n");
}

Test(interp, limits_the_names_that_wait) {
    config.limits.waiting_names = 2;
    gives("SetCategoryName, 1, a\nSetCategoryName, 2, b\nSetCategoryName, 3, c\n"
          "SetFileDisplayName, D\nSetCategoryName, 2, d",
          "3:1 error loading limit-exceeded\n4:1 error loading limit-exceeded\n");
    cr_assert_eq(nvtxt_interp_display_name(interp).len, 0, "the failed line had no effect");
    gives("@Marker, Time\nMarker, 1", "mark 7.7 1..1 ''\nname category 1 'a' at 1 7.7\n"
                                      "name category 2 'd' at 1 7.7\n");
    end_gives("");
}

Test(interp, limits_the_bytes_of_names_that_wait) {
    config.limits.variable_bytes = 10;
    gives("SetCategoryName, 1, 12345\nSetCategoryName, 2, 12345\nSetCategoryName, 3, 1\n"
          "SetCategoryName, 1, 1\nSetCategoryName, 3, 1234\nSetCategoryName, 4, 1",
          "3:1 error loading limit-exceeded\n6:1 error loading limit-exceeded\n");
    end_gives("name category 1 '1' at 5000 7.7\nname category 2 '12345' at 5000 7.7\n"
              "name category 3 '1234' at 5000 7.7\n");
}

// ---- Limits -------------------------------------------------------------------------------------

Test(interp, turns_each_limit_into_an_error_of_its_line) {
    config.limits = (struct nvtxt_limits){.variables = 1,
                                          .variable_bytes = 4,
                                          .name_bytes = 3,
                                          .push_depth = 2,
                                          .open_ranges = 1,
                                          .open_threads = 1,
                                          .open_bytes = 1 << 20,
                                          .diagnostics = 100};
    gives("Abcd = 1\nAbc = 1\nAbd = 1\nAbc = 12345\nAbc = \"12345\"",
          "1:1 error loading limit-exceeded\n3:1 error loading limit-exceeded\n"
          "5:7 error loading limit-exceeded\n");
    gives("@RangePush, Time, ThreadId\n@RangePop, Time, ThreadId\nRangePush, 1, 1\n"
          "RangePush, 2, 1\nRangePush, 3, 1\nRangePush, 4, 2\nRangePop, 5, 1\nRangePop, 6, 1\n"
          "RangePush, 7, 2",
          "10:1 error loading limit-exceeded\n11:1 error loading limit-exceeded\n"
          "push 7.1 2..5 ''\npush 7.1 1..6 ''\n");
    gives("@RangeStart, Time, RangeId\n@RangeEnd, Time, RangeId\nRangeStart, 1, 1\n"
          "RangeStart, 2, 2\nRangeEnd, 3, 1\nRangeStart, 4, 2",
          "18:1 error loading limit-exceeded\nstart 7.7 1..3 ''\n");
    end_gives("push 7.2 7..7 '' unclosed\n14:1 warning loading never-closed\n"
              "start 7.7 4..7 '' unclosed\n20:1 warning loading never-closed\n");
}

Test(interp, counts_diagnostics_that_it_no_longer_hands_on) {
    config.limits.diagnostics = 2;
    gives("?\n?\n?\n@Marker, Time, Color\nMarker, 1, nocolor",
          "1:1 error lexing stray-byte\n2:1 error lexing stray-byte\nmark 7.7 1..1 ''\n");
    cr_assert_eq(nvtxt_interp_counters(interp)->errors, 3);
    cr_assert_eq(nvtxt_interp_counters(interp)->warnings, 1);
    end_gives("");
}

Test(interp, reports_an_overlong_line) {
    start();
    cr_assert_eq(nvtxt_interp_overlong(interp, NVTXT_SLICE("Marker, 1"), &rec.sink), 0);
    recorder_take(&rec, "overlong", "1:1 error lexing line-too-long\n");
    cr_assert_eq(nvtxt_interp_counters(interp)->lines, 1);
    cr_assert_eq(nvtxt_interp_counters(interp)->errors, 1);
    end_gives("");
}

Test(interp, refuses_events_of_another_process_when_it_must) {
    config.claim = true;
    config.claimed_pid = 7;
    gives("@Marker, Time, ProcessId\nMarker, 1, 7\nMarker, 1, 8\nProcessId = 9\n@Marker, Time\n"
          "Marker, 2\nSetCategoryName, 1, c",
          "mark 7.7 1..1 ''\n3:12 error loading foreign-process\n"
          "6:1 error loading foreign-process\n7:1 error loading foreign-process\n");
    end_gives("");
}

Test(interp, counts_lines_and_events_and_their_times) {
    gives("# comment\n\n  \t\n" SHORT, "");
    cr_assert_not(nvtxt_interp_counters(interp)->has_time);
    gives("RangePush, 50, p\nMarker, -3, m\nRangePop, 60\nRangeStartEnd, 40, 20, r",
          "mark 7.7 -3..-3 'm'\npush 7.7 50..60 'p'\nstart 7.7 40..20 'r'\n"
          "13:20 warning loading ends-before-start\n");
    const struct nvtxt_counters *counters = nvtxt_interp_counters(interp);
    cr_assert_eq(counters->lines, 13);
    cr_assert_eq(counters->events, 3);
    cr_assert_eq(counters->warnings, 1);
    cr_assert_eq(counters->errors, 0);
    cr_assert(counters->has_time);
    cr_assert_eq(counters->first_ns, -3);
    cr_assert_eq(counters->last_ns, 60);
    end_gives("");
}

// ---- Open ranges and the end --------------------------------------------------------------------

Test(interp, ends_open_ranges_at_the_latest_time_oldest_first) {
    gives(SHORT "RangePush, 10, a\n  RangeStart, 20, 1, b\nRangePush, 500, c\nMarker, 30, m\n"
                "RangePop, 90000, x",
          "mark 7.7 30..30 'm'\n11:18 error parsing wrong-value-count\n");
    end_gives("push 7.7 10..500 'a' unclosed\n7:1 warning loading never-closed\n"
              "start 7.7 20..500 'b' unclosed\n8:3 warning loading never-closed\n"
              "push 7.7 500..500 'c' unclosed\n9:1 warning loading never-closed\n");
}

Test(interp, announces_open_ranges_once_and_numbers_their_events) {
    struct nvtxt_open_range range;
    gives(SHORT "RangePush, 1, a\nRangePush, 2, b\nRangePop, 3", "push 7.7 2..3 'b'\n");
    gives("RangeStart, 4, 44, c", "");
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 1);
    cr_assert_eq(range.seq, 1);
    cr_assert_eq(range.type, NVTXT_EVENT_PUSH_POP);
    cr_assert(nvtxt_slice_equal(range.text, NVTXT_SLICE("a")));
    cr_assert(nvtxt_slice_equal(range.excerpt, NVTXT_SLICE("RangePush, 1, a")));
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 1);
    cr_assert_eq(range.seq, 3);
    cr_assert_eq(range.range_id, 44);
    cr_assert_eq(range.line, 10);
    cr_assert_eq(range.column, 1);
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 0);
    gives("RangePop, 5\nRangePush, 6, d\nRangePop, 7",
          "push 7.7 1..5 'a' seq=1\npush 7.7 6..7 'd'\n");
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 0);
    end_gives("start 7.7 4..7 'c' unclosed seq=3\n10:1 warning loading never-closed\n");
}

Test(interp, announces_open_ranges_again_in_another_store) {
    struct nvtxt_open_range range;
    gives(SHORT "RangePush, 1, a\nRangePush, 2, b", "");
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 1);
    nvtxt_state_begin_anew(interp);
    for (uint64_t seq = 1; seq <= 2; seq++) {
        cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 1);
        cr_assert_eq(range.seq, seq);
    }
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 0);
    end_gives("push 7.7 1..2 'a' unclosed seq=1\n7:1 warning loading never-closed\n"
              "push 7.7 2..2 'b' unclosed seq=2\n8:1 warning loading never-closed\n");
}

static int visit(void *context, const struct nvtxt_open_range *range) {
    unsigned *stop = context;
    char text[8] = "";
    memcpy(text, range->text.data, range->text.len);
    rec.len += (size_t)sprintf(rec.text + rec.len, "%s%u ", text, range->depth);
    return --*stop == 0 ? -5 : 0;
}

Test(interp, visits_open_ranges_oldest_first_until_the_visitor_stops) {
    unsigned stop = 10;
    gives(SHORT "RangePush, 1, a\nRangeStart, 2, 1, b\nRangePush, 3, c", "");
    cr_assert_eq(nvtxt_interp_each_open(interp, visit, &stop), 0);
    recorder_take(&rec, "all", "a0 b0 c1 ");
    stop = 2;
    cr_assert_eq(nvtxt_interp_each_open(interp, visit, &stop), -5);
    recorder_take(&rec, "two", "a0 b0 ");
    nvtxt_interp_free(interp);
}

static int copy_to(void *context, const struct nvtxt_open_range *range) {
    return nvtxt_interp_restore_open(context, range);
}

Test(interp, goes_on_with_ranges_that_were_put_back) {
    gives(SHORT "SetFileDisplayName, D\nRangePush, 1, a\nRangePush, 2, b\nRangeStart, 3, 9, c", "");
    struct nvtxt_interp *other = nvtxt_interp_new(&config);
    cr_assert_not_null(other);
    cr_assert_eq(nvtxt_interp_each_open(interp, copy_to, other), 0);
    nvtxt_interp_free(interp);
    interp = other;
    struct nvtxt_open_range range;
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 0, "announced before");
    gives(SHORT "RangePop, 4\nRangePush, 5, d", "push 7.7 2..4 'b' domain='D' seq=2\n");
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 1);
    cr_assert_eq(range.seq, 4, "numbers go on");
    cr_assert_eq(range.depth, 1);
    gives("RangeEnd, 6, 9\nRangePop, 7\nRangePop, 8",
          "start 7.7 3..6 'c' domain='D' seq=3\npush 7.7 5..7 'd' seq=4\n"
          "push 7.7 1..8 'a' domain='D' seq=1\n");
    end_gives("");
}

Test(interp, refuses_to_put_back_what_cannot_be_open) {
    start();
    struct nvtxt_open_range good = {.seq = 5, .type = NVTXT_EVENT_PUSH_POP, .pid = 1, .tid = 2};
    struct nvtxt_open_range bad = good;
    bad.seq = 0;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &bad), NVTXT_RESTORE_BAD);
    bad = good;
    bad.depth = 1;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &bad), NVTXT_RESTORE_BAD);
    bad = good;
    bad.type = NVTXT_EVENT_MARK;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &bad), NVTXT_RESTORE_BAD);
    cr_assert_eq(nvtxt_interp_restore_open(interp, &good), 0);
    good.depth = 1;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &good), NVTXT_RESTORE_BAD, "the same number");
    good.seq = 4;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &good), NVTXT_RESTORE_BAD, "an older one");
    good.seq = 6;
    good.depth = 0;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &good), NVTXT_RESTORE_BAD, "the depth is taken");
    good = (struct nvtxt_open_range){.seq = 7, .type = NVTXT_EVENT_START_END, .range_id = 3};
    cr_assert_eq(nvtxt_interp_restore_open(interp, &good), 0);
    good.seq = 8;
    cr_assert_eq(nvtxt_interp_restore_open(interp, &good), NVTXT_RESTORE_BAD, "the same RangeId");
    nvtxt_interp_free(interp);
}

// ---- Failure ------------------------------------------------------------------------------------

Test(interp, forwards_the_failure_of_a_sink_and_can_be_freed) {
    static const char *const lines[] = {
        "SetProcessName, 1, p",
        "SetThreadName, 1, 2, t",
        "SetFileDisplayName, D",
        "@RangePush, Time",
        "@RangeStart, Time, RangeId",
        "@RangePop, Time, Color",
        "RangePush, 1",
        "RangePush, 2",
        "RangeStart, 3, 1",
        "Color = nocolor",
        "@RangePop, Time",
        "RangePop, 1",
        "SetFileDisplayName, E",
        "?",
        "RangeEnd, 3, 1, Manual, 4, 5",
        "RangePush, 9",
    };
    unsigned failures = 0;
    for (unsigned fail_after = 1; fail_after < 30; fail_after++) {
        start();
        rec.fail_after = fail_after;
        int r = 0;
        for (size_t i = 0; r == 0 && i < sizeof(lines) / sizeof(lines[0]); i++) {
            r = nvtxt_interp_line(interp, nvtxt_slice_of(lines[i]), &rec.sink);
        }
        if (r == 0) {
            r = nvtxt_interp_end(interp, &rec.sink);
        }
        cr_assert(r == 0 || r == -EIO);
        cr_assert_eq(r == -EIO, rec.fail_after == 0, "after %u", fail_after);
        failures += r == -EIO;
        nvtxt_interp_free(interp);
    }
    cr_assert_gt(failures, 8);
    cr_assert_lt(failures, 29, "every call of the sink failed once");
}

Test(interp, may_be_freed_when_there_is_none) {
    nvtxt_interp_free(NULL);
}
