// SPDX-License-Identifier: Apache-2.0
//
// One pass: what the rings hold becomes lines of the window, and is committed at once. It works on
// the region alone, so the sender of a live process and who goes on with the file of a dead one
// make the same lines.
#pragma once

#include "lib/ring/line.h"

struct pass {
    struct region *region;
    struct line_state lines;
    int64_t offset_ns;
    struct region_state next;     // what will be committed
    uint64_t ignored;             // ends of ranges that are not open, so far
    uint64_t kept;                // position in the window from which on nothing is overwritten
    uint32_t repeated, to_repeat; // names that are said again: so many are done, so many in all
    bool is_full;                 // this pass found no room in the window
    bool waits;                   // an end waits for the next pass, which may find its start
    uint32_t rings;               // 1 + the highest ring that was ever seen in use
    bool is_live;                 // the process goes on: the clock is looked at
    struct clock_map clock;
    uint64_t last[REGION_RINGS]; // time of the last record of each ring
    uint64_t seen[REGION_RINGS]; // where the writers were when the pass began
    uint64_t ends[REGION_RINGS]; // up to where it reads
    struct line_buf buf;
};

// What a pass did.
struct pass_result {
    bool moved;   // it made lines, or left some to the next pass
    bool is_full; // the window was full: there is more
    bool hurry;   // a ring was found more than half full
};

// `pass` is memory of the sender's, about 300 KiB; the region is borrowed. A session's first lines
// are made by the first pass over a region that has none.
void pass_init(struct pass *pass, struct region *region);

// Makes lines of what the rings hold now and commits them, with what `pass->next` says of
// acknowledgements. `with_names`: names have changed. `on_empty` is told of rings whose thread has
// ended and which are empty; NULL: nobody wants to know.
struct pass_result pass_run(struct pass *pass, bool with_names, void (*on_empty)(uint32_t ring));

// All names are said once more, from the next pass on: to a new session.
void pass_repeat_names(struct pass *pass);

// Whether a ring is filling, so that a pass should not wait.
bool pass_should_hurry(const struct pass *pass);
