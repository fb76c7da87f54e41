// SPDX-License-Identifier: Apache-2.0
//
// What a pair of tracepoints of LTTng costs, each with a string and an integer: the measure for a
// pair of push and pop. bench/library.py builds it where lttng-ust is, and calls.c loads it.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/lttng_pair.h"

void lttng_pair(const char *message, int number);

void lttng_pair(const char *message, int number) {
    lttng_ust_tracepoint(nvtxt_bench, push, message, number);
    lttng_ust_tracepoint(nvtxt_bench, pop, message, number);
}
