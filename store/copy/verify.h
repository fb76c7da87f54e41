// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a store is sound: SQLite's own check of each segment, then ours. Every event
// stands in one batch and belongs to one source, which counted it; texts and their ids agree; what
// is open belongs to an open source or session; and the ids of each segment go on where the one
// before ended.
//
// Reads all of a store; the daemon may write it meanwhile, and may be the same process (see
// store/copy/snapshot.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STORE_VERIFY_MAX 50 // findings that are kept

struct store_findings {
    size_t problems, advices; // of `texts`, problems first in the order found
    size_t segments;
    uint64_t events;
    struct store_finding {
        int is_problem; // else an advice
        char text[512]; // names the file
    } *rows;            // owned
    size_t count;
    size_t more; // problems that were not kept
};

// Verifies the store at the configured `path`: all of its segments, or a plain one. Calls
// `may_stop` now and then, and ends when that returns something other than 0. Returns STORE_DONE
// with what was found (maybe nothing), STORE_STOPPED, or -errno when there is no store to read.
int store_verify(const char *path, int (*may_stop)(void *context), void *context,
                 struct store_findings *findings);
void store_findings_deinit(struct store_findings *findings);
