// SPDX-License-Identifier: Apache-2.0
//
// The inside of struct nvtxt_interp. Only the files of the interpreter include it: those of
// interp_job.h, interp_open.c (open ranges) and state.c (saving and restoring).
#pragma once

#include "protocol/base/buf.h"
#include "protocol/base/refstr.h"
#include "protocol/interp/call.h"
#include "protocol/interp/ranges.h"
#include "protocol/interp/source.h"
#include "protocol/interp/waiting.h"
#include "protocol/lang/symtab.h"

struct nvtxt_interp {
    struct nvtxt_source_config config;
    struct nvtxt_clock_offset clocks[NVTXT_TIMEBASE_COUNT];
    struct nvtxt_symtab symtab;
    struct nvtxt_cmddef definitions[NVTXT_CMD_COUNT];
    struct nvtxt_plan *plans[NVTXT_CMD_COUNT]; // made on first call of a command
    struct nvtxt_ranges ranges;
    struct nvtxt_refstr *display; // NULL: no domain
    struct nvtxt_refstr *domain;  // the last one that a call gave as its Domain, or NULL
    struct nvtxt_waiting waiting; // names before the first event
    struct nvtxt_counters counters;
    uint64_t diagnostics; // that the sink got
    bool warned_timebase; // the one-time warnings that were given
    bool warned_clock;
    uint8_t mapped_clock; // the first known clock that the mapping overrode; 0: none

    bool (*may_name)(void *context, uint32_t pid); // NULL: every process
    void *may_name_context;
    uint64_t rows; // names and diagnostics that were handed on, in this process

    bool has_latest; // a call had an effect; the four times mean something
    int64_t latest;  // largest time of such a call, on the timeline
    int64_t raw_smallest, raw_largest;

    bool has_event; // there was an event; what follows is of the latest one
    int64_t event_start;
    uint32_t event_pid, event_tid;

    size_t allowed; // bytes that ranges, variables and waiting names may take together

    struct nvtxt_buf scratch; // repaired strings of the line at hand
    struct nvtxt_buf joined;  // JSON of a range that its end added to
};

// For what is restored: it was within the limits that held when it was saved.
extern const struct nvtxt_limits nvtxt_no_limits;
