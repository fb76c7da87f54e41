// SPDX-License-Identifier: Apache-2.0
//
// What the tests of report/ share: captures from hand-made events, without a file.
#pragma once

#include <criterion/criterion.h>

#include "report/load/capture.h"
#include "report/model/model.h"

#define KIT_PID 100 // of an event that names no process

struct report_kit_event {
    enum report_kind kind;
    // "DOMAIN:MESSAGE"; ":MESSAGE", or "MESSAGE" without a colon, is in the default domain.
    const char *name;
    int64_t start, end; // an end before the start: a backward range
    uint32_t tid, pid;  // pid 0: KIT_PID
    uint8_t store;
    uint8_t flags; // REPORT_OPEN: the end is put to the largest time; REPORT_UNCLOSED
    uint32_t category, color;
    uint8_t payload_kind;
    int64_t payload; // of an integer
    int64_t row;     // 0: the place among the events, from 1
};

// One event as an element of an array; more members may follow within the braces.
#define KIT_EVENT(kind_, tid_, name_, start_, end_)                                                \
    .kind = (kind_), .tid = (tid_), .name = (name_), .start = (start_), .end = (end_)
#define KIT_RANGE(tid_, name_, start_, end_)                                                       \
    { KIT_EVENT(REPORT_PUSH_POP, tid_, name_, start_, end_) }
#define KIT_START_END(tid_, name_, start_, end_)                                                   \
    { KIT_EVENT(REPORT_START_END, tid_, name_, start_, end_) }
#define KIT_MARK(tid_, name_, start_)                                                              \
    { KIT_EVENT(REPORT_MARK, tid_, name_, start_, start_) }

// The capture of these events, as report_load() would give it: rows as given, not in order. The
// stores are called "kit0.db" and so on, and are stores of nvtxtd. Never NULL; texts are copied.
struct report_capture *report_kit_capture(const struct report_kit_event *events, size_t count);

// The same with its model.
struct report_model *report_kit_model(const struct report_kit_event *events, size_t count);

// The fixture F1: process 100, 15 events. The rows stand as nvtxtd writes them: as the ranges end.
struct report_model *report_kit_f1(void);

void report_kit_free_capture(struct report_capture *capture);
void report_kit_free(struct report_model *model); // with its capture
