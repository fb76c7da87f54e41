// SPDX-License-Identifier: Apache-2.0
//
// The tracepoints of lttng_pair.c. LTTng's headers read this file several times.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nvtxt_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/lttng_pair.h"

#if !defined(BENCH_LTTNG_PAIR_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PAIR_H

#include <lttng/tracepoint.h>

// clang-format off
LTTNG_UST_TRACEPOINT_EVENT(nvtxt_bench, push,
    LTTNG_UST_TP_ARGS(const char *, message, int, number),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(message, message)
        lttng_ust_field_integer(int, number, number)))
LTTNG_UST_TRACEPOINT_EVENT(nvtxt_bench, pop,
    LTTNG_UST_TP_ARGS(const char *, message, int, number),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(message, message)
        lttng_ust_field_integer(int, number, number)))
// clang-format on

#endif

#include <lttng/tracepoint-event.h>
