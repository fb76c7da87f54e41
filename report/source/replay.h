// SPDX-License-Identifier: Apache-2.0
//
// Runs an NVTXT file through the interpreter again, and hands out its events with their lines.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/load/capture.h"

struct report_replayed {
    enum report_kind kind;
    int64_t start, end; // as the file says; a clock of it counts as nanoseconds
    bool unclosed;      // `end` was filled in at the end of the file
    struct nvtxt_slice message;
    uint32_t line; // of the call that opened it, from 1
};

struct report_replay {
    bool levels; // payloads of markers are levels, as the source said
    bool ended;  // its open ranges end with the file
    // Called for each event, in the order of the source's rows; another value than 0 ends it.
    int (*on_event)(void *context, const struct report_replayed *event);
    void *context;
};

// Returns 0, what `on_event` returned, or a negative errno of the file or of memory.
int report_replay(const char *path, const struct report_replay *replay);
