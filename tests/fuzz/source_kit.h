// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a source that a byte of an input chooses.
#pragma once

#include "protocol/interp/interp.h"
#include "tests/golden/record.h"

static struct nvtxt_source_config make_config(uint8_t choice) {
    static const struct nvtxt_mapping mappings[] = {
        {.mode = NVTXT_MAPPING_NONE},
        {.mode = NVTXT_MAPPING_LIN, .ns_a = INT64_MIN, .nvtxt_a = INT64_MAX, .freq = 7},
        {.mode = NVTXT_MAPPING_LERP,
         .ns_a = INT64_MIN,
         .ns_b = INT64_MAX,
         .nvtxt_a = INT64_MAX,
         .nvtxt_b = INT64_MIN},
        {.mode = NVTXT_MAPPING_LERP, .ns_a = -3, .ns_b = 5, .nvtxt_a = -1, .nvtxt_b = 2},
    };
    struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT,
        .default_pid = 7,
        .claim = choice & 4,
        .claimed_pid = 7,
        .opened_ns = RECORD_OPENED_NS,
        .origin_ns = 1000,
        .mapping = mappings[choice & 3],
        .escapes = choice & (16 | 32),
        .nvtx = choice & 32,
    };
    config.limits.diagnostics = SIZE_MAX; // none is held back: they are counted here
    if (choice & 8) {
        config.limits.line_bytes = 64;
        config.limits.variables = 4;
        config.limits.variable_bytes = 32;
        config.limits.name_bytes = 8;
        config.limits.push_depth = 2;
        config.limits.open_ranges = 2;
        config.limits.open_threads = 2;
        config.limits.open_bytes = 128;
        config.limits.waiting_names = 2;
    }
    return config;
}
