// SPDX-License-Identifier: Apache-2.0
//
// Brings lines from an input into a sender's window, in one of four forms:
//   plain        read straight into the window; a full window stops reading
//   with a spool every line goes onto the disk first and then into the window: at once or, when the
//                window is full, later from the disk. So what was sent is in the spool, but for
//                lines that found no room there while a daemon took them (`past_spool`)
//   pushed       the caller puts in lines that it made; they wait here for room
//   dropping     (with a spool or without) whole lines that have no room are dropped and counted;
//                the line "#nvtxt-lost" stands where they would have stood
// The intake knows no time and no connection; the event loop calls it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/input.h"
#include "client/session/sender.h"
#include "client/session/window.h"
#include "client/spool/spool.h"
#include "client/text/textlog.h"
#include "protocol/base/slice.h"

struct intake {
    struct input *input;   // borrowed
    struct sender *sender; // borrowed
    struct spool *spool;   // borrowed; NULL: none
    bool drop;             // what has no room is dropped; else reading stops
    bool pushed;           // lines come with intake_put(), nothing is read here
    bool over;             // no more will be read
    bool cut;              // that was before the input's end
    bool stuck;            // lines wait here for room
    bool past_spool;       // a daemon takes lines: those without room in the spool go past it
    uint64_t dropped;      // lines, so far
    uint64_t unreported;   // of these, without a spool: no "#nvtxt-lost" counts them yet
    struct window lines;   // read, and not moved on
};

enum {
    INTAKE_BAD_INPUT = 1, // the input could not be read, which counts as its end
    INTAKE_BAD_SPOOL,     // the spool's sentence says why nothing can go on
    INTAKE_FULL,          // no room; only inside
};

void intake_init(struct intake *intake, struct input *input, struct sender *sender,
                 struct spool *spool, bool drop);
void intake_deinit(struct intake *intake); // zeroed ones are fine

// True when it would read now, if the input had something.
bool intake_wants(const struct intake *intake);

// Takes what the input has, in one read. Returns 0, INTAKE_BAD_SPOOL, -ENOMEM, or INTAKE_BAD_INPUT
// with `*error` set to the errno.
int intake_read(struct intake *intake, int *error);

// True when a line may be put in.
bool intake_has_room(const struct intake *intake);

// Puts in a whole line, with its LF, after the others; intake_move() moves it on. Returns 0 or
// -ENOMEM.
int intake_put(struct intake *intake, struct nvtxt_slice line);

// Puts in lines of a log as long as there is room. The others wait in the log, which is not read
// meanwhile. Returns as intake_move().
int intake_move_log(struct intake *intake, struct textlog *log);

// The longest line of NVTXT that is sent: the language's limit, or less when the daemon takes less.
size_t intake_line_max(const struct sender *sender);

// No more input: the whole lines that were read are all. A last line without its LF is one only at
// the input's end. Returns as intake_move().
int intake_end(struct intake *intake);

// There may be room: moves lines on. Returns 0, INTAKE_BAD_SPOOL or -ENOMEM.
int intake_move(struct intake *intake);

// An acknowledgement came.
void intake_acked(struct intake *intake);

// Lines that were read, not dropped, and are not acknowledged.
uint64_t intake_unacked(const struct intake *intake);

// Those of them that are in no spool.
uint64_t intake_unspooled(const struct intake *intake);
