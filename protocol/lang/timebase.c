// SPDX-License-Identifier: Apache-2.0
//
// Clocks and mappings are one formula: base + floor(a * b / c). A product of two differences of
// Int64 values needs up to 128 bits without a sign, so magnitudes and sign are kept apart.
#include "protocol/lang/timebase.h"

#include <stddef.h>

#define NS_PER_S 1000000000

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static const char *const names[NVTXT_TIMEBASE_COUNT] = {
    [NVTXT_TIMEBASE_MANUAL] = "Manual",
    [NVTXT_TIMEBASE_RELATIVE] = "Relative",
    [NVTXT_TIMEBASE_MONOTONIC_RAW] = "ClockMonotonicRaw",
    [NVTXT_TIMEBASE_MONOTONIC] = "ClockMonotonic",
    [NVTXT_TIMEBASE_BOOTTIME] = "ClockBoottime",
    [NVTXT_TIMEBASE_REALTIME] = "ClockRealtime",
    [NVTXT_TIMEBASE_CNTVCT] = "CNTVCT",
    [NVTXT_TIMEBASE_UNKNOWN] = "unknown",
};

enum nvtxt_timebase nvtxt_timebase_find(struct nvtxt_slice name) {
    for (int base = 0; base < NVTXT_TIMEBASE_UNKNOWN; base++) {
        if (nvtxt_slice_equal(name, nvtxt_slice_of(names[base]))) {
            return (enum nvtxt_timebase)base;
        }
    }
    return NVTXT_TIMEBASE_UNKNOWN;
}

const char *nvtxt_timebase_name(enum nvtxt_timebase base) {
    return names[base];
}

int64_t nvtxt_time_ns(int64_t seconds, int64_t ns) {
    int64_t result;
    if (__builtin_mul_overflow(seconds, NS_PER_S, &result) ||
        __builtin_add_overflow(result, ns, &result)) {
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return result;
}

bool nvtxt_timebase_is_clock(enum nvtxt_timebase base) {
#ifdef __aarch64__
    if (base == NVTXT_TIMEBASE_CNTVCT) {
        return true;
    }
#endif
    return base >= NVTXT_TIMEBASE_MONOTONIC_RAW && base <= NVTXT_TIMEBASE_REALTIME;
}

static uint64_t magnitude(int128 value) {
    return (uint64_t)(value < 0 ? -value : value);
}

// base + floor(a * b / c) for |a|, |b|, |c| < 2^64, c not 0.
static int scale(int64_t base, int128 a, int128 b, int128 c, int64_t *ns) {
    bool negative = (a < 0) ^ (b < 0) ^ (c < 0);
    uint128 product = (uint128)magnitude(a) * magnitude(b);
    uint128 quotient = product / magnitude(c);
    if (negative && product % magnitude(c) != 0) {
        quotient++;
    }
    if (quotient > UINT64_MAX) {
        return 1; // no Int64 base brings that back into range
    }
    int128 sum = base + (negative ? -(int128)quotient : (int128)quotient);
    if (sum < INT64_MIN || sum > INT64_MAX) {
        return 1;
    }
    *ns = (int64_t)sum;
    return 0;
}

int nvtxt_clock_apply(const struct nvtxt_clock_offset *clock, int64_t time, int64_t *ns) {
    if (clock->frequency > 0) {
        return scale(clock->offset_ns, time, NS_PER_S, clock->frequency, ns);
    }
    return __builtin_add_overflow(time, clock->offset_ns, ns) ? 1 : 0;
}

const char *nvtxt_mapping_fault(const struct nvtxt_mapping *mapping) {
    if (mapping->mode == NVTXT_MAPPING_LIN && mapping->freq <= 0) {
        return "freq must be greater than 0";
    }
    if (mapping->mode == NVTXT_MAPPING_LERP && mapping->nvtxt_a == mapping->nvtxt_b) {
        return "nvtxt_a and nvtxt_b must differ";
    }
    if (mapping->mode == NVTXT_MAPPING_LERP && mapping->ns_b <= mapping->ns_a) {
        return "ns_b must be greater than ns_a";
    }
    return NULL;
}

int nvtxt_mapping_apply(const struct nvtxt_mapping *mapping, int64_t time, int64_t *ns) {
    int128 elapsed = (int128)time - mapping->nvtxt_a;
    if (mapping->mode == NVTXT_MAPPING_LIN) {
        return scale(mapping->ns_a, elapsed, NS_PER_S, mapping->freq, ns);
    }
    return scale(mapping->ns_a, elapsed, (int128)mapping->ns_b - mapping->ns_a,
                 (int128)mapping->nvtxt_b - mapping->nvtxt_a, ns);
}
