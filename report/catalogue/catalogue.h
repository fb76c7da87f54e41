// SPDX-License-Identifier: Apache-2.0
//
// The catalogue: every metric that a capture has, in one table. `list metrics`, the page
// nvtxt-metrics(7) and the expansion of `regex:` come of it. A name is
// BASE[_per_KEY][.ROLLUP], as nvtxt-metrics(7) says.
#pragma once

#include "report/catalogue/value.h"

// Roll-ups and keys are lists of words. A list of keys that begins with '!' is of a metric that
// always has its key.
#define REPORT_COUNTED "sum sum.per_second"
#define REPORT_TIMED "sum avg min max med stddev p90 p95 p99 sum.pct_of_elapsed"
#define REPORT_PARTS "name thread process domain category iteration"

// X(ID, name, unit, type, roll-ups, keys, text)
#define REPORT_CATALOGUE(X)                                                                        \
    X(EVENT_COUNT, "event__count", "event", REPORT_U64, REPORT_COUNTED,                            \
      REPORT_PARTS " source line", "Events: ranges and marks.")                                    \
    X(RANGE_COUNT, "range__count", "range", REPORT_U64, REPORT_COUNTED,                            \
      REPORT_PARTS " source line", "Ranges of both kinds, open ones too.")                         \
    X(PUSHPOP_COUNT, "pushpop__count", "range", REPORT_U64, REPORT_COUNTED,                        \
      REPORT_PARTS " source line", "Push/pop ranges, open ones too.")                              \
    X(STARTEND_COUNT, "startend__count", "range", REPORT_U64, REPORT_COUNTED,                      \
      REPORT_PARTS " source line", "Start/end ranges, open ones too.")                             \
    X(MARK_COUNT, "mark__count", "mark", REPORT_U64, REPORT_COUNTED, REPORT_PARTS " source line",  \
      "Marks.")                                                                                    \
    X(OPEN_COUNT, "range__open_count", "range", REPORT_U64, "sum", "name",                         \
      "Ranges without an end.")                                                                    \
    X(UNCLOSED_COUNT, "range__unclosed_count", "range", REPORT_U64, "sum", "name",                 \
      "Ranges whose end was filled in when their source ended.")                                   \
    X(BACKWARD_COUNT, "range__backward_count", "range", REPORT_U64, "sum", "name",                 \
      "Ranges whose end lies before their start.")                                                 \
    X(RANGE_DURATION, "range__time_duration", "ns", REPORT_U64, REPORT_TIMED,                      \
      REPORT_PARTS " line event", "Durations of ranges of both kinds.")                            \
    X(PUSHPOP_DURATION, "pushpop__time_duration", "ns", REPORT_U64, REPORT_TIMED,                  \
      REPORT_PARTS " line event", "Durations of push/pop ranges.")                                 \
    X(STARTEND_DURATION, "startend__time_duration", "ns", REPORT_U64, REPORT_TIMED,                \
      REPORT_PARTS " line event", "Durations of start/end ranges.")                                \
    X(SELF_TIME, "pushpop__self_time", "ns", REPORT_U64, REPORT_TIMED,                             \
      "name thread iteration event",                                                               \
      "Times in which a push/pop range is the last open one of its lane.")                         \
    X(CHILD_TIME, "pushpop__child_time", "ns", REPORT_U64, REPORT_TIMED,                           \
      "name thread iteration event", "Durations of push/pop ranges without their self times.")     \
    X(DEPTH, "pushpop__depth", "level", REPORT_U64, "min avg max", "name",                         \
      "Numbers of push/pop ranges that a push/pop range lies on.")                                 \
    X(CHILD_COUNT, "pushpop__child_count", "range", REPORT_U64, "sum avg max", "name",             \
      "Numbers of push/pop ranges that lie directly on a push/pop range.")                         \
    X(VARIATION, "range__variation", "ratio", REPORT_DOUBLE, "ratio", "name",                      \
      "Standard deviation of the durations of a name, divided by their average. A name needs 2 "   \
      "ranges. The value is the largest instance.")                                                \
    X(OUTLIER_COUNT, "range__outlier_count", "range", REPORT_U64, "sum", "name",                   \
      "Ranges that last longer than the median of their name by more than 5 x 1.4826 x the "       \
      "median "                                                                                    \
      "absolute deviation. A name needs 10 ranges. The value is the sum of the instances.")        \
    X(RANGE_CONCURRENCY, "range__concurrency", "range", REPORT_U64, "avg max", "name",             \
      "Ranges of both kinds that are open at a time.")                                             \
    X(THREAD_CONCURRENCY, "thread__concurrency", "thread", REPORT_U64, "avg max", "",              \
      "Threads that have an open push/pop range at a time.")                                       \
    X(OVERLAP_TIME, "range__overlap_time", "ns", REPORT_U64, "sum", "name",                        \
      "Time in which two or more ranges of one name are open. The value is the sum of the "        \
      "instances.")                                                                                \
    X(TIME_ELAPSED, "capture__time_elapsed", "ns", REPORT_U64, "sum", "",                          \
      "Time from the smallest start to the largest start or end.")                                 \
    X(BUSY_TIME, "capture__busy_time", "ns", REPORT_U64, "sum sum.pct_of_elapsed", "",             \
      "Time in which at least one range is open.")                                                 \
    X(THREAD_BUSY, "thread__busy_time", "ns", REPORT_U64, "sum avg min max", "!thread",            \
      "Time in which at least one push/pop range of a thread is open. The value is the roll-up "   \
      "of the instances.")                                                                         \
    X(PROCESS_BUSY, "process__busy_time", "ns", REPORT_U64, "sum avg min max", "!process",         \
      "Time in which at least one range of a process is open. The value is the roll-up of the "    \
      "instances.")                                                                                \
    X(GAP_DURATION, "gap__time_duration", "ns", REPORT_U64, "sum avg min max med p90 p99",         \
      "thread", "Times without a push/pop range between the first and the last of a thread.")      \
    X(GAP_COUNT, "gap__count", "gap", REPORT_U64, "sum", "thread",                                 \
      "Gaps between push/pop ranges of a thread.")                                                 \
    X(MARK_INTERVAL, "mark__interval", "ns", REPORT_U64, "avg min max med p90 p99", "name",        \
      "Times from a mark to the next one of its name in its process.")                             \
    X(PAYLOAD_VALUE, "payload__value", "", REPORT_DOUBLE, "sum avg min max last", "name",          \
      "Numeric payloads of marks and ranges.")                                                     \
    X(PAYLOAD_COUNT, "payload__count", "", REPORT_U64, "sum", "name",                              \
      "Marks and ranges with a numeric payload.")                                                  \
    X(ITERATION_COUNT, "iteration__count", "iteration", REPORT_U64, "sum", "iteration",            \
      "Iterations, without those that are left out.")                                              \
    X(ITERATION_OUTLIER_COUNT, "iteration__outlier_count", "iteration", REPORT_U64, "sum",         \
      "iteration", "Iterations that last longer than 1.5 x their median.")                         \
    X(ITERATION_DURATION, "iteration__time_duration", "ns", REPORT_U64, REPORT_TIMED, "iteration", \
      "Durations of iterations.")                                                                  \
    X(ITERATION_INTERVAL, "iteration__interval", "ns", REPORT_U64, REPORT_TIMED, "iteration",      \
      "Times from the start of an iteration to the start of the next one.")                        \
    X(CHAIN_DURATION, "chain__time_duration", "ns", REPORT_U64, "sum", "name",                     \
      "Time of the blocking chain, from the last end back: an estimate.")                          \
    X(SOURCE_LINES, "source__line_count", "line", REPORT_U64, "sum", "source",                     \
      "Lines that sources sent.")                                                                  \
    X(SOURCE_EVENTS, "source__event_count", "event", REPORT_U64, "sum", "source",                  \
      "Events that sources sent.")                                                                 \
    X(SOURCE_ERRORS, "source__error_count", "diagnostic", REPORT_U64, "sum", "source",             \
      "Errors in what sources sent.")                                                              \
    X(SOURCE_WARNINGS, "source__warning_count", "diagnostic", REPORT_U64, "sum", "source",         \
      "Warnings about what sources sent.")                                                         \
    X(SOURCE_DIAGNOSTICS, "source__diagnostic_count", "diagnostic", REPORT_U64, "sum",             \
      "source line", "Messages about what sources sent that are stored.")                          \
    X(LOSS_COUNT, "capture__loss_count", "event", REPORT_U64, "sum", "",                           \
      "Events that were lost before they were stored.")                                            \
    X(DISPLAY_NAME, "capture__attribute_display_name", "", REPORT_STRING, "", "",                  \
      "The file name of the store.")                                                               \
    X(PATH, "capture__attribute_path", "", REPORT_STRING, "", "", "The path of the store.")        \
    X(PRODUCT_VERSION, "capture__attribute_product_version", "", REPORT_STRING, "", "",            \
      "The version of the program that wrote the store.")                                          \
    X(START_TIME, "capture__attribute_start_time", "", REPORT_STRING, "", "",                      \
      "The first time in the capture, UTC.")                                                       \
    X(STORE_VERSION, "capture__attribute_store_version", "", REPORT_U64, "", "",                   \
      "The version of the schema of the store.")                                                   \
    X(SEGMENTS, "capture__attribute_segments", "", REPORT_U64, "", "", "Files of the store.")      \
    X(THREADS, "capture__attribute_threads", "", REPORT_U64, "", "", "Threads with events.")       \
    X(PROCESSES, "capture__attribute_processes", "", REPORT_U64, "", "", "Processes with events.") \
    X(DOMAINS, "capture__attribute_domains", "", REPORT_U64, "", "", "Domains with events.")

enum report_catalogue_id {
#define REPORT_CATALOGUE_ID(id, name, unit, type, rollups, keys, text) REPORT_M_##id,
    REPORT_CATALOGUE(REPORT_CATALOGUE_ID)
#undef REPORT_CATALOGUE_ID
        REPORT_M_COUNT
};

struct report_catalogue_entry {
    enum report_catalogue_id id;
    const char *name, *unit;
    enum report_type type; // of the sum, the smallest, the largest and the percentiles
    const char *rollups;   // words; none: the bare name is the metric
    const char *keys;      // words
    bool always_keyed;     // there is no metric without a key
    const char *text;      // one or more sentences
};

// By index from 0, in order; NULL after the last.
const struct report_catalogue_entry *report_catalogue_at(size_t index);

#define REPORT_METRIC_NAME_BYTES 96 // of a listed name, with its NUL

// All listed names in order: zero the cursor, then call until the result is false.
struct report_catalogue_cursor {
    size_t entry;
    unsigned key, rollup; // key 0: none
    char name[REPORT_METRIC_NAME_BYTES];
};
bool report_catalogue_next(struct report_catalogue_cursor *cursor);

// The n-th word of a list, from 0; data NULL after the last.
struct nvtxt_slice report_catalogue_word(const char *list, unsigned n);

// What a key is called in names, and how events are told apart by it.
enum report_key {
    REPORT_KEY_NONE,
    REPORT_KEY_NAME,
    REPORT_KEY_THREAD,
    REPORT_KEY_PROCESS,
    REPORT_KEY_DOMAIN,
    REPORT_KEY_CATEGORY,
    REPORT_KEY_ITERATION,
    REPORT_KEY_SOURCE,
    REPORT_KEY_LINE,
    REPORT_KEY_EVENT,
};

enum report_rollup {
    REPORT_BARE, // a metric without a roll-up
    REPORT_SUM,
    REPORT_PER_SECOND,
    REPORT_PCT_OF_ELAPSED,
    REPORT_AVG,
    REPORT_MIN,
    REPORT_MAX,
    REPORT_MED,
    REPORT_STDDEV,
    REPORT_RATIO,
    REPORT_LAST,
    REPORT_PERCENTILE,
};

// A name taken apart.
struct report_catalogue_metric {
    const struct report_catalogue_entry *entry;
    enum report_key key;
    enum report_rollup rollup;
    double percent;        // of a percentile: 0 < percent <= 100
    enum report_type type; // of this roll-up
    char unit[24];
};

// False for a name that the catalogue does not have. Of a metric with percentiles `.pNN[.N]` is
// there for every number, listed or not.
bool report_catalogue_find(struct nvtxt_slice name, struct report_catalogue_metric *metric);
