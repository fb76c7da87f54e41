// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-send --mark TEXT`: one marker of this moment, as lines of NVTXT that are sent like those
// of any other input.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/input.h"

struct mark {
    const char *text;
    const char *category; // name; NULL: none
    const char *payload;  // as mark_payload_fits() knows it; NULL: none
    uint32_t color;
    uint32_t pid;
    int64_t time_ns; // CLOCK_REALTIME
};

// The payload of an event: an integer or a decimal number, as nvtxt(5) writes them.
bool mark_payload_fits(const char *text);

// Makes an input of the mark, for a session with escapes; input_close() ends it. Returns 0 or
// -errno.
int mark_open(struct input *input, const struct mark *mark);

// The ProcessId of a marker from a shell: the process that started us, so that the marks of a
// script have one process. Our own when only init is left.
uint32_t mark_usual_pid(void);
