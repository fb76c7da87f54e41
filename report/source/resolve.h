// SPDX-License-Identifier: Apache-2.0
//
// report/source: the files that sources were read from. It runs such a file through the interpreter
// again, finds the line of each event, and reads the text of the lines. It adds to a capture what
// it found; nothing of it goes into a store. One thread. It makes no figures.
//
// This header finds the sources of a file and gives their events lines.
#pragma once

#include "report/load/capture.h"

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
