// SPDX-License-Identifier: Apache-2.0
//
// The inside of struct nvtxt_interp. Only the files of the interpreter include it: those of
// interp_job.h, interp_open.c (open ranges), state.c and state_parts.c (saving and restoring).
#pragma once

#include "protocol/base/buf.h"
#include "protocol/interp/call.h"
#include "protocol/interp/ranges.h"
#include "protocol/interp/waiting.h"
#include "protocol/lang/shape.h"

// What the parts of the state hold that were saved (state.h), and what they do not hold yet, beside
// changed variables and waiting names.
struct nvtxt_state_saved {
    bool begun;           // all that there was at some time is in them
    uint64_t parts;       // how many they are
    size_t whole_bytes;   // of the first one
    size_t change_bytes;  // of the others
    uint32_t definitions; // bit set of the commands that were defined since
    bool display;         // whether the display name was set since
    bool waited;          // whether names that waited were handed on since
};

struct nvtxt_interp {
    struct nvtxt_source_config config;
    struct nvtxt_clock_offset clocks[NVTXT_TIMEBASE_COUNT];
    struct nvtxt_symtab symtab;
    struct nvtxt_cmddef definitions[NVTXT_CMD_COUNT];
    struct nvtxt_plan *plans[NVTXT_CMD_COUNT]; // made on first call of a command
    struct nvtxt_shape shape;
    bool lexes_all; // for tests: no line is read by its shape
    struct nvtxt_ranges ranges;
    struct nvtxt_refstr *display; // NULL: no domain
    struct nvtxt_refstr *domain;  // the last one that a call gave as its Domain, or NULL
    struct nvtxt_waiting waiting; // names before the first event
    struct nvtxt_counters counters;
    uint64_t diagnostics; // that the sink got
    bool warned_timebase; // the one-time warnings that were given
    bool warned_clock;
    bool warned_name;
    bool warned_parent;
    uint8_t mapped_clock; // the first known clock that the mapping overrode; 0: none

    // What the range of the next line has.
    char next_key[NVTXT_KEY_BYTES + 1]; // "": nothing
    char next_parent[NVTXT_PARENT_BYTES + 1];

    struct nvtxt_guard guard; // without functions: none
    uint64_t rows;            // names and diagnostics that were handed on, in this process

    bool has_latest; // a call had an effect; the four times mean something
    int64_t latest;  // largest time of such a call, on the timeline
    int64_t raw_smallest, raw_largest;

    bool has_event; // there was an event; what follows is of the latest one
    int64_t event_start;
    uint32_t event_pid, event_tid;

    struct nvtxt_state_saved saved;

    size_t allowed; // bytes that ranges, variables and waiting names may take together

    struct nvtxt_buf scratch; // repaired strings of the line at hand
    struct nvtxt_buf joined;  // JSON of a range that its end added to
};

// For what is restored: it was within the limits that held when it was saved.
extern const struct nvtxt_limits nvtxt_no_limits;
