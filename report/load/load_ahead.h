// SPDX-License-Identifier: Apache-2.0
//
// Threads that read rows of a store ahead of the one that loads, each through a connection of its
// own. Rows of events never change, so all see the same. The rows come in blocks, in their order;
// what becomes of them is left to the one thread that takes the blocks. So a load is the same with
// any number of threads.
#pragma once

#include "report/load/load_raw.h"

struct report_ahead;

struct report_ahead_block {
    int64_t first, last; // rowids
    int64_t read;        // up to this one; less than `last` where texts are long or reading failed
    const struct report_raw *raws;
    size_t count;
    bool failed; // reading did, of something else than a text that is too long
};

// Starts threads, if the spans are large enough for them, the file is a store, the load may have
// more than one, and nothing bounds the address space. NULL: nobody reads ahead. `own` is the
// statement of the caller, borrowed; with it the caller reads blocks, too, while it waits.
struct report_ahead *report_ahead_begin(const struct report_load_state *load,
                                        const struct report_load_file *file,
                                        const struct store_span *spans, size_t count,
                                        struct report_raw_rows *own);

// Begins with a span; the blocks of the one before must have been taken.
void report_ahead_span(struct report_ahead *ahead, const struct store_span *span);

// The next block of the span, which lives until the next call; NULL: there is none.
const struct report_ahead_block *report_ahead_next(struct report_ahead *ahead);

// Waits for the threads, for as long as a block takes. NULL is fine.
void report_ahead_end(struct report_ahead *ahead);
