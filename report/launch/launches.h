// SPDX-License-Identifier: Apache-2.0
//
// report/launch: the results of a report file of Nsight Compute as what is judged: which of them
// are looked at, their metrics as those of a scope, and what the name of a metric says about it. It
// owns the report file and what it indexes. One thread. It reads nothing but the report, computes
// no figure and prints nothing.
//
// This header is the results of one file.
#pragma once

#include "report/catalogue/value.h"
#include "report/ncurep/by_name.h"
#include "report/ncurep/matching.h"

struct report_launches;

// A result that is looked at.
struct report_launch {
    struct report_given given; // first: what a scope has of it
    struct report_launches *all;
    struct nvtxt_slice bytes; // of the result
};

struct report_launches {
    struct report_ncurep *profile; // owned; its ranges have what is looked at alone
    struct nvtxt_slice path;       // borrowed
    uint64_t result_count;         // of the file
    struct report_launch *list;    // owned; in order of the file
    size_t count;
    struct report_by_name metrics; // of the result that was asked last
    struct store_arena arena;      // the names of a result
    const char *named;             // which one: its bytes
    const char *const *names;      // of the arena; NULL after the last
    size_t name_count;
};

// Which results are looked at: those that filters take, and whose function or whole name one of the
// expressions finds, and that have one of the numbers. All is borrowed for the call.
struct report_launches_wish {
    struct report_matching *matching; // the filters; of several files the same
    struct report_gathered *gathered; // what is open, as long as a filter was not true
    struct report_regex *const *names;
    size_t name_count; // 0: all
    const uint64_t *numbers;
    size_t number_count; // 0: all
};

// Takes the profile, also when it fails. Returns 0, REPORT_NCUREP_TOO_LARGE with `why`, NVTXT_WRONG
// with `wrong` for an expression that is too costly, or -ENOMEM.
int report_launches_new(struct report_launches **launches, struct report_ncurep *profile,
                        struct nvtxt_slice path, const struct report_launches_wish *wish,
                        struct report_ncurep_fault *why, struct report_fault *wrong);
void report_launches_free(struct report_launches *launches); // NULL is fine

// The architecture of the result's device, as 70 of 7.0, by its attributes; 0: it does not say it.
uint32_t report_launch_arch(const struct report_launch *launch);

// Of any result of the file: the metric of that name as the file has it: instances may be of
// another type than the value. What is made is of `arena`, but texts are those of the file. Returns
// 0, REPORT_NOT_GIVEN, or -ENOMEM.
int report_launches_metric(struct report_launches *launches, struct nvtxt_slice result,
                           const char *name, struct store_arena *arena,
                           struct report_metric *metric);

// The names of its metrics, each once, and how many. They live until another result is asked for.
// NULL: memory is short.
const char *const *report_launches_names(struct report_launches *launches,
                                         struct nvtxt_slice result, size_t *count);

// given.c: fills in the calls.
void report_launch_give(struct report_launch *launch);

// ---- Names --------------------------------------------------------------------------------------

// metric_words.c: what the name of a metric says about it: nvtxt-report(1), "SCRIPTS", and
// nvtxt-metrics(7), "METRICS OF A KERNEL". Names that are not made so say nothing.
#define REPORT_DESCRIPTION_BYTES 192 // longer ones are cut

struct report_metric_words {
    const char *type;    // "counter", "ratio", "throughput", "other"
    const char *subtype; // "per_second", "peak_sustained_active" ...; NULL: none
    const char *rollup;  // "avg", "max", "min", "sum"; NULL: none
    // Of hardware: "L2 cache slices: t sectors, sum, per second"; else empty.
    char description[REPORT_DESCRIPTION_BYTES];
};

struct report_metric_words report_metric_words(const char *name);

// "ns", "%", "cycle", "byte", "/s", "cycle/s", "byte/s"; empty: the name does not say it. It lives
// for ever.
const char *report_metric_unit(const char *name);
