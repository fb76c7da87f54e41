// SPDX-License-Identifier: Apache-2.0
//
// The events that the benchmarks store: the daemon, the plain loop and the store alone work on the
// same ones. They are rows for a program that inserts them, and lines of NVTXT for one that sends
// them. They are made in memory before a clock starts.
//
//   same      RangeStartEnd, 100 distinct messages
//   unique    RangeStartEnd, every message its own
//   pushpop   RangePush and RangePop, 100 distinct messages: two lines an event
//   markers   Marker with category, colour and payload (three integers, then a decimal)
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/event.h"

#define WORKLOAD_MESSAGES 100 // distinct ones, where they repeat
#define WORKLOAD_THREADS 8
#define WORKLOAD_PID 1234
#define WORKLOAD_STEP 1000 // ns from one event's start to the next

enum workload_kind { WORKLOAD_SAME, WORKLOAD_UNIQUE, WORKLOAD_PUSHPOP, WORKLOAD_MARKERS };

struct workload_row {
    enum nvtxt_event_type type;
    uint32_t tid;
    uint32_t category;
    uint32_t color;
    int64_t start, end;
    int64_t range_id; // 0 unless START_END
    int64_t text_id;  // of its message, counted from 1
    struct nvtxt_payload payload;
    char text[32];
    int text_bytes;
};

// A block of lines; the caller frees `data`.
struct workload_text {
    char *data;
    size_t len;
    uint64_t lines;
};

// Ends the program when there is no such kind.
enum workload_kind workload_kind_of(const char *name);

// The event with this number, from 0.
void workload_row(enum workload_kind kind, uint64_t number, struct workload_row *row);

// The definitions and variables that the lines of a source need before them.
struct workload_text workload_head(enum workload_kind kind);

// The lines of `count` events from number `first` on.
struct workload_text workload_lines(enum workload_kind kind, uint64_t first, uint64_t count);

double workload_seconds(void);                                 // of the monotonic clock
uint64_t workload_number(const char *text, const char *usage); // ends the program on another word

// ---- Sockets ----------------------------------------------------------------------------------

int workload_connect(const char *path); // ends the program when it cannot

// A hello line of a session of its own; `number` tells the sessions of a run apart.
struct workload_text workload_hello(unsigned number);
