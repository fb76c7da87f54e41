// SPDX-License-Identifier: Apache-2.0
//
// ship/simulate: many hosts that are none, to size a fleet with (nvtxt-ship(1), "simulate"). Each
// has a store that is only counted: its rows are made when they are shipped, with the statements of
// ship/engine and ship/rows in the order of ship/round.c. One thread: each connection has a stack
// of its own, and leaves it where it would wait (fibers). The room owns its connections. It reads
// no store and no configuration.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "ship/engine/schema.h"

#define SIMULATE_HOSTS_MAX 100000
#define SIMULATE_RATE_MAX 1000000
#define SIMULATE_CONNECTIONS 16 // unless one says how many
#define SIMULATE_CONNECTIONS_MAX 1000
#define SIMULATE_FOR_MAX_MS (INT64_C(1000) * 3600 * 1000)

struct simulate_wishes { // borrowed texts
    int64_t hosts;
    int64_t rate; // events a second of each host
    int64_t for_ms;
    int64_t connections; // 0: SIMULATE_CONNECTIONS
    bool mixed;          // beside stores of real hosts
    const char *schema;
    const char *labels; // KEY=VALUE, a line each
    int64_t interval_ms, lease_ms;
    void (*warn)(const char *sentence); // of what failed and is tried again
};

// Of what was there at the end; ns of CLOCK_MONOTONIC and of CPU.
struct simulate_result {
    int64_t hosts, connections, rate;
    int64_t register_ns; // until all hosts were there
    int64_t run_ns;      // from then on
    int64_t rounds, rows, failures;
    int64_t round_p50_ns, round_p99_ns;
    int64_t lag_p50_ns, lag_p99_ns, lag_max_ns; // of the oldest row of a round
    int64_t behind_rows;                        // that were made and not shipped
    bool has_engine_cpu;                        // false: it cannot be known
    int64_t engine_cpu_ns, own_cpu_ns;
    int64_t memory_kib; // peak
    bool is_checked;
    int64_t checked, missing, doubled, strange; // rows
};

// Runs it. The first signal ends the rounds, not the check. With FAILURE_NONE, and whenever
// `result->run_ns` is not 0, there is a result. FAILURE_TARGET: there are stores of real hosts.
enum failure_class simulate_run(const struct pg_settings *settings,
                                const struct simulate_wishes *wishes,
                                struct simulate_result *result, struct failure *failure);

// Whether each row is there once, and no other one; false where it was not checked.
bool simulate_is_good(const struct simulate_result *result);

// Writes it for people, a line each, or as one JSON object.
void simulate_write(struct nvtxt_buf *out, const struct simulate_result *result, bool as_json);
