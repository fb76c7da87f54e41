// SPDX-License-Identifier: Apache-2.0
//
// report/logs: what the lines of logs say again and again. It makes a pattern of each line (mask),
// counts the patterns in bounded memory while lines come in any order (patterns, strip), finds the
// values in the lines of one pattern (values), and says of an error whether it is new or came more
// often (burst). It owns what it counted. One thread, no I/O. It does not choose lines: whoever
// gives them has selected them.
//
// This header is the patterns. There may be more than memory has room for, so the most frequent
// ones are kept as Metwally, Agrawal and El Abbadi describe it ("Efficient computation of frequent
// and top-k elements in data streams", Space-Saving): a new pattern takes the place of the rarest
// one. A pattern that has more than 1 / REPORT_PATTERNS_KEPT of all lines is never missed, and at
// most so many lines of a pattern are not counted for it. Up to REPORT_PATTERNS_KEPT patterns all
// is exact.
#pragma once

#include "protocol/lang/names.h"
#include "report/load/capture.h"
#include "report/logs/strip.h"
#include "report/table/json.h"
#include "report/table/table.h"

#define REPORT_PATTERNS_KEPT 20000
#define REPORT_PATTERNS_SHOWN 10000
#define REPORT_PATTERN_SOURCES 8 // of a pattern that are remembered

struct report_pattern {
    struct nvtxt_slice text;                // owned
    uint64_t count;                         // lines
    uint64_t missed;                        // at most so many lines came before it was kept
    uint64_t levels[NVTXT_LEVEL_COUNT + 1]; // lines of each level; the last: without one
    int64_t first_ns, last_ns;
    uint32_t strip[REPORT_STRIP];
    size_t source_count;
    struct report_pattern_source {
        uint32_t store;
        int64_t id;
    } sources[REPORT_PATTERN_SOURCES];
    bool more_sources;
};

struct report_patterns;

// `kept`: how many at most; REPORT_PATTERNS_KEPT but in tests. Returns 0 or -ENOMEM.
int report_patterns_new(struct report_patterns **patterns, size_t kept);
void report_patterns_free(struct report_patterns *patterns); // NULL is fine

// Takes all selected lines of logs of a capture, which may be a part of a store. Returns 0 or
// -ENOMEM.
int report_patterns_take(struct report_patterns *patterns, const struct report_capture *capture);

// Takes one line, in any order of times.
int report_patterns_add(struct report_patterns *patterns, const struct report_capture *capture,
                        const struct report_event *event);

// After the last line: the patterns, the most frequent first, at most `most`. The list lives until
// more lines come.
struct report_pattern *const *report_patterns_list(struct report_patterns *patterns, size_t most,
                                                   size_t *count);

// The pattern with this text; NULL: it is not there.
const struct report_pattern *report_patterns_find(const struct report_patterns *patterns,
                                                  struct nvtxt_slice text);

uint64_t report_patterns_lines(const struct report_patterns *patterns); // that came
const struct report_strip_scale *report_patterns_scale(const struct report_patterns *patterns);

// The worst level of a pattern; NVTXT_LEVEL_NONE when its lines have none.
int report_pattern_worst(const struct report_pattern *pattern);

// ---- As a table, and as JSON (pattern_table.c) --------------------------------------------------

struct report_pattern_view {
    const struct report_capture *capture; // for the names of sources
    bool blocks;                          // counts over time as blocks, for people; else as numbers
    size_t most;                          // patterns; all others are one row
};

// Fills an empty table: a row for each pattern, the most frequent first. It borrows texts from the
// patterns and the capture. Returns 0 or -ENOMEM; deinit it in any case.
int report_pattern_table(struct report_table *table, struct report_patterns *patterns,
                         const struct report_pattern_view *view);

// Members of an object that has begun: lines, beginNs, stepNs, patterns, others.
void report_pattern_json(struct report_json *json, struct report_patterns *patterns,
                         const struct report_pattern_view *view);

// ---- Whether something comes more often than before (burst.c) -----------------------------------

#define REPORT_BURST_TIMES 5      // as often, for the same time
#define REPORT_BURST_CHANCE 0.001 // that as many come in the span if nothing has changed

// The chance that of `count` things at least `least` fall into a part of the time that is `share`
// of all of it (0 to 1), if each falls anywhere: the upper tail of the binomial distribution.
double report_chance(uint64_t count, uint64_t least, double share);

// Whether `now` things in a span of `now_ns` are a burst, with `before` in the `before_ns` before:
// at least REPORT_BURST_TIMES as often, and by chance only in REPORT_BURST_CHANCE of cases.
bool report_is_burst(uint64_t now, double now_ns, uint64_t before, double before_ns);
