// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-send -- COMMAND`: passes on what a command writes, and makes its lines markers and its run
// a range. The command comes first: whatever happens to the daemon, to the spool or to the session,
// it runs on, and its output passes through.
#pragma once

#include "client/run/steps.h"
#include "client/send/runs.h"
#include "client/send/transfer.h"
#include "protocol/wire/hello.h"

#define COMMAND_PATIENCE_MS                                                                        \
    5000                       // how long output waits for a daemon that takes nothing, and how
                               // long we wait for its acknowledgement after the command's end
#define COMMAND_LINGER_MS 1000 // after the command's end: for other processes that have its pipes

// After the command's end: how long it keeps its number, for a daemon that has not looked at it.
#define COMMAND_UNREAPED_MS 1000

// How a command's run is recorded.
struct command_record {
    struct transfer_options *transfer;
    const struct textlog_options *text;
    const struct nvtxt_hello *hello;
    struct spool *spool; // NULL: none
    int64_t begun_ns;    // when the command was started
    const char *label;   // what the range is called; NULL: the command line
    bool has_color;      // the range has `text`'s colour, however the command ended
    struct steps *steps; // NULL: none. They are stored before the range
    bool records_itself; // its programs have sessions of their own, too
};

// Stays with the running `child` until it has ended and everything is sent; takes its pipes.
// Without pipes there are no lines. `argv` is its command line; `record` NULL: it is not recorded.
// After it the child has its status.
//
// With `runs` (NULL: none) it stays for all of them: the child is the first one of them, started.
// Their ranges are of our own process, so that they are side by side.
void command_run(struct child *child, char *const *argv, const struct command_record *record,
                 struct runs *runs, struct term *term);
