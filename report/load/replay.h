// SPDX-License-Identifier: Apache-2.0
//
// Runs an NVTXT file through the interpreter again, and hands out its events with their lines;
// reads the lines as text.
#pragma once

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

struct report_file_text {      // the lines of a file
    char *bytes;               // owned
    struct nvtxt_slice *lines; // owned; without LF and CR; [0] is line 1
    size_t count;
};

// Reads all of the file. Returns 0 or a negative errno; deinit is fine after both.
int report_file_text_read(struct report_file_text *text, const char *path);
void report_file_text_deinit(struct report_file_text *text);
