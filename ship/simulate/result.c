// SPDX-License-Identifier: Apache-2.0
//
// Times are counted in classes whose width is a 32nd of a power of two, so that memory does not
// grow with the rounds and a quantile is right within 4 %.
#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/clock.h"
#include "ship/simulate/inner.h"

// ---- Times --------------------------------------------------------------------------------------

#define CLASSES (sizeof(((struct measure *)0)->counts) / sizeof(uint32_t))
#define PARTS 32

// Below 32 µs a class is 1 µs wide.
static size_t class_of(int64_t ns) {
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    if (us < PARTS) {
        return (size_t)us;
    }
    size_t power = (size_t)(63 - __builtin_clzll(us)); // 5 and more
    size_t part = (size_t)(us >> (power - 5)) - PARTS;
    size_t class = (power - 4) * PARTS + part;
    return class < CLASSES ? class : CLASSES - 1;
}

// The upper end.
static int64_t end_of(size_t class) {
    if (class < PARTS) {
        return (int64_t) class * 1000 + 1000;
    }
    size_t power = class / PARTS + 4;
    return (int64_t)(((uint64_t)(class % PARTS + PARTS + 1) << (power - 5)) * 1000);
}

void measure_add(struct measure *measure, int64_t ns) {
    measure->counts[class_of(ns)]++;
    measure->count++;
    measure->max = ns > measure->max ? ns : measure->max;
}

int64_t measure_quantile(const struct measure *measure, int64_t percent) {
    int64_t wanted = (measure->count * percent + 99) / 100, seen = 0;
    for (size_t i = 0; i < CLASSES; i++) {
        seen += measure->counts[i];
        if (seen >= wanted && seen > 0) {
            return nvtxt_earlier(end_of(i), measure->max);
        }
    }
    return 0;
}

// ---- The report ---------------------------------------------------------------------------------

bool simulate_is_good(const struct simulate_result *result) {
    return result->is_checked && result->missing == 0 && result->doubled == 0 &&
           result->strange == 0;
}

struct line {
    const char *name;
    int decimals;
    double value;
    const char *none; // why there is no value; NULL: there is one
};

static double seconds(int64_t ns) {
    return (double)ns / (double)NVTXT_NS_A_SECOND;
}

static double per_second(int64_t count, int64_t ns) {
    return ns > 0 ? (double)count / seconds(ns) : 0;
}

static void write_line(struct nvtxt_buf *out, const struct line *line, bool as_json) {
    char text[128], value[64];
    snprintf(value, sizeof(value), "%.*f", line->decimals, line->value);
    if (as_json) {
        snprintf(text, sizeof(text), "%s\"%s\":%s", out->len ? "," : "{", line->name,
                 line->none ? "null" : value);
    } else {
        snprintf(text, sizeof(text), "%-22s %s\n", line->name, line->none ?: value);
    }
    nvtxt_buf_add_string(out, text);
}

void simulate_write(struct nvtxt_buf *out, const struct simulate_result *result, bool as_json) {
    const char *no_cpu = result->has_engine_cpu ? NULL
                                                : "not known: no Unix socket of a server that ran "
                                                  "all the time";
    const char *no_check = result->is_checked ? NULL : "not known: the rows were not counted";
    const struct line lines[] = {
        {"hosts", 0, (double)result->hosts, NULL},
        {"connections", 0, (double)result->connections, NULL},
        {"rate", 0, (double)result->rate, NULL},
        {"register_seconds", 3, seconds(result->register_ns), NULL},
        {"seconds", 3, seconds(result->run_ns), NULL},
        {"rounds", 0, (double)result->rounds, NULL},
        {"rows", 0, (double)result->rows, NULL},
        {"rounds_per_second", 1, per_second(result->rounds, result->run_ns), NULL},
        {"rows_per_second", 1, per_second(result->rows, result->run_ns), NULL},
        {"round_p50_ms", 3, seconds(result->round_p50_ns) * 1000, NULL},
        {"round_p99_ms", 3, seconds(result->round_p99_ns) * 1000, NULL},
        {"lag_p50_seconds", 3, seconds(result->lag_p50_ns), NULL},
        {"lag_p99_seconds", 3, seconds(result->lag_p99_ns), NULL},
        {"lag_max_seconds", 3, seconds(result->lag_max_ns), NULL},
        {"behind_rows", 0, (double)result->behind_rows, NULL},
        {"failures", 0, (double)result->failures, NULL},
        {"engine_cpu_seconds", 2, seconds(result->engine_cpu_ns), no_cpu},
        {"own_cpu_seconds", 2, seconds(result->own_cpu_ns), NULL},
        {"memory_kib", 0, (double)result->memory_kib, NULL},
        {"checked_rows", 0, (double)result->checked, no_check},
        {"missing_rows", 0, (double)result->missing, no_check},
        {"doubled_rows", 0, (double)result->doubled, no_check},
        {"strange_rows", 0, (double)result->strange, no_check},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        write_line(out, &lines[i], as_json);
    }
    nvtxt_buf_add_string(out, as_json ? "}\n" : "");
}
