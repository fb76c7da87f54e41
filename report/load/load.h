// SPDX-License-Identifier: Apache-2.0
//
// Reads stores into a capture: one short read transaction a file, then plain memory.
#pragma once

#include "report/load/capture.h"

enum report_load_result {
    REPORT_LOADED = 0,
    REPORT_BAD_DATA,  // no store, broken, or of a newer version
    REPORT_NO_INPUT,  // it cannot be read, or went away
    REPORT_TOO_LARGE, // more than max_memory; the sentence has the figure that is needed
    REPORT_LOCKED,    // by another process
    REPORT_IO,
    REPORT_INTERRUPTED, // `interrupted` said so
};

struct report_load_options {
    int64_t since_ns, until_ns; // events that end at or after it, and start at or before it
    uint64_t max_memory;        // bytes; 0: no bound
    uint64_t taken_memory;      // bytes of it that something else has
    bool brief;                 // events get no category, colour, payload, JSON, nor other end
    int64_t threads;            // at most so many read rows, this one and others
    bool (*interrupted)(void);  // asked now and then, by any of them; NULL: never
    // NULL: all events stay in the capture. Else it gets a part of them, as they were read, each
    // REPORT_LOAD_PART or fewer, and they are forgotten, with their texts, when it returns: so the
    // memory does not grow with the store. What the capture says of sources and threads may still
    // become more, and has no order yet. Returns 0 or -ENOMEM.
    int (*part)(void *context, struct report_capture *capture);
    void *context;
};
#define REPORT_LOAD_PART 8192
#define REPORT_LOAD_ALL ((struct report_load_options){.since_ns = INT64_MIN, .until_ns = INT64_MAX})

#define REPORT_SENTENCE_BYTES 1024

// Reads all of `paths`, each a store with its segments, one segment, a plain file, or an export of
// Nsight Systems. Returns 0, a code of enum report_load_result, or -ENOMEM and the like; then
// `*capture` is NULL and `sentence` names the path and what to do, without the program's name.
// Open ranges (NVTXT_OPEN_RANGES of the newest segment) come as events with REPORT_OPEN; their row
// is the newest segment << 40 | (2^39 + their place there, from 0, the last source and number
// first), which no event has.
int report_load(struct report_capture **capture, const char *const *paths, size_t count,
                const struct report_load_options *options, char *sentence);

// Bytes that the events of a capture, their texts and their model take.
uint64_t report_capture_bytes(const struct report_capture *capture);
void report_capture_free(struct report_capture *capture); // NULL is fine

// ---- The lines that events came of (resolve.c) --------------------------------------------------
//
// Finds the sources of a file, runs the file through the interpreter again (replay.h), finds the
// line of each event, and reads the text of the lines. What it found goes into the capture, and
// nothing of it into a store.

#define REPORT_RESOLVE_BYTES 1024

enum report_resolve_result {
    REPORT_RESOLVED = 0,
    REPORT_RESOLVE_DIFFERS,   // the file is not that of the source
    REPORT_RESOLVE_NOTHING,   // no source has that name
    REPORT_RESOLVE_NO_INPUT,  // the file cannot be read
    REPORT_RESOLVE_TOO_LARGE, // all events of the store need more memory than there may be
    REPORT_RESOLVE_STOPPED,   // by `interrupted`
};

// `what`: [NAME=]FILE, as --resolve-source-file takes it. NAME is the name of a source; without it,
// that is the name of the file, or else its last component. All sources of that name get lines, of
// each store. Call it before or after the events are in order. For a capture of a window all events
// of a store are read as well, and go again; both may take `max_memory` bytes, 0: no bound. Returns
// 0, the largest of the codes above, or -ENOMEM; `complain` gets a sentence for each source or file
// that failed.
int report_resolve(struct report_capture *capture, const char *what, uint64_t max_memory,
                   bool (*interrupted)(void), void (*complain)(void *context, const char *sentence),
                   void *context);
