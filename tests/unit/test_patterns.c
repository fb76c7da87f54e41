// SPDX-License-Identifier: Apache-2.0
//
// Patterns of lines: what is masked, which patterns are kept, their counts over time.
#include "report/logs/patterns.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/logs/mask.h"

static void expect(const char *line, const char *pattern) {
    struct report_mask mask;
    report_mask(&mask, nvtxt_slice_of(line));
    struct nvtxt_slice got = report_mask_pattern(&mask);
    cr_assert(nvtxt_slice_equal(got, nvtxt_slice_of(pattern)), "%s: %.*s, not %s", line,
              (int)got.len, got.data, pattern);
}

Test(patterns, mask_what_differs) {
    expect("request 17 took 3.25 ms, -1 left", "request # took # ms, # left");
    expect("GET /a/b2/c HTTP/1.1 12kB 5-3", "GET /a/b#/c HTTP/# #kB #-#");
    expect("commit 1a2b3c4, deadbeef, 0xFF, x2k9p", "commit #, deadbeef, #, #");
    expect("abc123d abc12d", "# abc#d");
    expect("a 123e4567-e89b-12d3-a456-426614174000 b", "a # b");
    expect("10.0.0.1:80 fe80::1%eth0 ::1 00:1a:2b:3c:4d:5e", "#:# #%eth# # #");
    expect("52:54:00:1a:2b:3c, 10:20:30:40:50:60, 10:20:30::1", "#, #, #");
    expect("256.0.0.1 std::a1 add::bad", "# std::a# add::bad");
    expect("1::2.3.4.255 1::2.3.4.256", "# #.#");
    expect("2026-11-24T01:02:03.5Z Nov  4 01:02:03 x[7]: up 1:02:03", "# # x[#]: up #");
    expect("24/Nov/2026:01:02:03 +0000 Tue Nov 24 01:02:03 2026", "# #");
    expect("can't open 'a b' or \"c \\\" d\" or ‘e’", "can't open '#' or \"#\" or ‘#’");
    expect("{\"msg\":\"job 5 done\",\"id\":\"x\"} msg=\"in 3 s\"",
           "{\"msg\":\"job # done\",\"id\":\"#\"} msg=\"in # s\"");
    expect("\"open 'and", "\"open 'and");
    expect("", "");
}

Test(patterns, a_long_text_is_cut_at_a_character) {
    char line[2 * REPORT_MASK_BYTES + 1], pattern[2 * REPORT_MASK_BYTES + 8];
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\0';
    memcpy(line + REPORT_MASK_BYTES - 1, "ü", 2);
    snprintf(pattern, sizeof(pattern), "%.*s…", REPORT_MASK_BYTES - 1, line);
    expect(line, pattern);
    for (size_t i = 0; i + 2 < sizeof(line); i += 2) { // quotes of nothing make it longer
        memcpy(line + i, "\"\"", 2);
    }
    struct report_mask mask;
    report_mask(&mask, nvtxt_slice_of(line));
    cr_assert_eq(mask.len, REPORT_MASK_BYTES / 2 * 3 + 3);
    cr_assert_eq(mask.place_count, REPORT_MASK_PLACES);
}

Test(patterns, say_which_places_are_numbers) {
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"5", 5}, {"-1.5e3", -1500}, {"1,234.5", 1234.5}, {"+7", 7}, {"0012", 12}};
    static const char *const others[] = {"",    "1.2.3", "1,23", "a", "1e",
                                         "--5", "1,2,3", "0x10", ".", "10.0.0.1"};
    double value;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        cr_assert(report_mask_number(nvtxt_slice_of(numbers[i].text), &value), "%s",
                  numbers[i].text);
        cr_assert_eq(value, numbers[i].value);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_assert_not(report_mask_number(nvtxt_slice_of(others[i]), &value), "%s", others[i]);
    }
}

// ---- Counting -----------------------------------------------------------------------------------

struct log { // a capture of one line
    struct report_capture capture;
    struct report_source source;
    struct report_event event;
    struct report_name name;
    struct nvtxt_slice message;
};

static void add(struct report_patterns *patterns, const char *message, int64_t at, int level) {
    struct log log = {.source = {.id = 7, .has_levels = true},
                      .event = {.kind = REPORT_MARK,
                                .start = at,
                                .end = at,
                                .flags = REPORT_SELECTED,
                                .payload = {.int64 = level},
                                .payload_kind = NVTXT_PAYLOAD_INT64},
                      .message = nvtxt_slice_of(message)};
    log.capture = (struct report_capture){.events = &log.event,
                                          .event_count = 1,
                                          .messages = &log.message,
                                          .names = &log.name,
                                          .sources = &log.source,
                                          .source_count = 1};
    cr_assert_eq(report_patterns_take(patterns, &log.capture), 0);
}

static const struct report_pattern *find(const struct report_patterns *patterns,
                                         const char *pattern) {
    return report_patterns_find(patterns, nvtxt_slice_of(pattern));
}

Test(patterns, count_lines_by_level_and_time) {
    struct report_patterns *patterns;
    cr_assert_eq(report_patterns_new(&patterns, 10), 0);
    add(patterns, "a 1", 5000, 6);
    add(patterns, "a 2", 3000, 3);
    add(patterns, "b", 4000, 8);
    const struct report_pattern *a = find(patterns, "a #");
    cr_assert_not_null(a);
    cr_assert_eq(a->count, 2);
    cr_assert_eq(a->levels[3] + a->levels[6], 2);
    cr_assert_eq(report_pattern_worst(a), 3);
    cr_assert_eq(report_pattern_worst(find(patterns, "b")), NVTXT_LEVEL_NONE);
    cr_assert_eq(a->first_ns, 3000);
    cr_assert_eq(a->last_ns, 5000);
    cr_assert_eq(report_strip_steps(report_patterns_scale(patterns)), 3);
    cr_assert(a->strip[0] == 1 && a->strip[1] == 0 && a->strip[2] == 1);
    size_t count;
    cr_assert_eq(report_patterns_list(patterns, 1, &count)[0], a);
    cr_assert_eq(count, 1);
    report_patterns_free(patterns);
}

// What Space-Saving promises, against exact counts: with k places, no pattern of more than 1 / k of
// the lines is missed, and at most so many lines of a pattern are not counted for it.
Test(patterns, keep_the_most_frequent_ones_in_little_memory) {
    enum { KEPT = 20, NAMES = 400, LINES = 20000 };
    struct report_patterns *patterns;
    uint64_t exact[NAMES] = {0}, state = 1;
    cr_assert_eq(report_patterns_new(&patterns, KEPT), 0);
    for (int i = 0; i < LINES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t rare = (state >> 33) % NAMES, often = (state >> 50) % 8;
        uint64_t name = (state >> 40) % 3 ? often : rare;
        char message[32];
        snprintf(message, sizeof(message), "name %c%c", (char)('a' + name / 20),
                 (char)('a' + name % 20));
        exact[name]++;
        add(patterns, message, i, 6);
    }
    uint64_t sum = 0, found = 0;
    size_t count;
    struct report_pattern *const *list = report_patterns_list(patterns, KEPT, &count);
    cr_assert_eq(count, KEPT);
    for (size_t i = 0; i < count; i++) {
        int name = (list[i]->text.data[5] - 'a') * 20 + list[i]->text.data[6] - 'a';
        cr_assert_leq(list[i]->count, exact[name]);
        cr_assert_geq(list[i]->count + list[i]->missed, exact[name]);
        cr_assert_leq(list[i]->missed, LINES / KEPT);
        found += exact[name] > LINES / KEPT;
        sum += list[i]->count;
    }
    for (int name = 0; name < NAMES; name++) {
        found -= exact[name] > LINES / KEPT;
    }
    cr_assert_eq(found, 0);
    cr_assert_leq(sum, LINES);
    cr_assert_eq(report_patterns_lines(patterns), LINES);
    report_patterns_free(patterns);
}

// ---- Over time ----------------------------------------------------------------------------------

Test(patterns, strips_count_exactly_at_any_times_in_any_order) {
    static const int64_t spreads[] = {1, 1000, 1000000000, 3600000000000, INT64_MAX};
    uint64_t state = 3;
    for (size_t s = 0; s < sizeof(spreads) / sizeof(spreads[0]); s++) {
        struct report_strip_scale scale = {0};
        uint32_t strip[REPORT_STRIP] = {0};
        int64_t times[200];
        for (int i = 0; i < 200; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            times[i] = (int64_t)(state ^ state >> 29) % spreads[s];
            struct report_strip_scale before = scale;
            if (report_strip_fit(&scale, times[i])) {
                report_strip_move(strip, &before, &scale);
            }
            strip[report_strip_step(&scale, times[i])]++;
        }
        cr_assert_leq(report_strip_steps(&scale), REPORT_STRIP);
        for (int i = 0; i < 200; i++) {
            strip[report_strip_step(&scale, times[i])]--;
        }
        for (int i = 0; i < REPORT_STRIP; i++) {
            cr_assert_eq(strip[i], 0);
        }
    }
}

Test(patterns, strips_hold_all_times) {
    struct report_strip_scale scale = {0};
    report_strip_fit(&scale, INT64_MIN);
    report_strip_fit(&scale, INT64_MAX);
    cr_assert_lt(report_strip_step(&scale, INT64_MAX), REPORT_STRIP);
    cr_assert_eq(report_strip_step(&scale, INT64_MIN), 0);
}

Test(patterns, blocks_are_as_high_as_counts) {
    static const uint32_t strip[REPORT_STRIP] = {8, 0, 1, 4};
    char text[REPORT_STRIP_TEXT];
    size_t len = report_strip_blocks(text, strip, 4);
    cr_assert(nvtxt_slice_equal((struct nvtxt_slice){text, len}, NVTXT_SLICE("█·▁▄")));
    len = report_strip_blocks(text, strip, REPORT_STRIP);
    cr_assert(nvtxt_slice_equal(nvtxt_slice_cut((struct nvtxt_slice){text, len}, 6),
                                NVTXT_SLICE("█▅"))); // 8 and 5 of two steps each
    cr_assert_eq(report_strip_blocks(text, strip, 0), 0);
}
