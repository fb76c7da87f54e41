// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-send -- COMMAND`: what a command writes passes through, and its lines become markers; its
// run becomes a range. The command comes first: whatever happens to the daemon, to the spool or to
// the session, it runs on, and its output passes through.
#pragma once

#include "client/common/term.h"
#include "client/send/child.h"
#include "client/send/steps.h"
#include "client/send/transfer.h"
#include "client/spool/spool.h"
#include "client/text/textlog.h"
#include "protocol/wire/hello.h"

#define COMMAND_PATIENCE_MS                                                                        \
    5000                       // the longest that output waits for a daemon that takes nothing, and
                               // that we wait for its acknowledgement after the command's end
#define COMMAND_LINGER_MS 1000 // after the command's end: for others that have its pipes

// How a command's run is recorded.
struct command_record {
    struct transfer_options *transfer;
    const struct textlog_options *text;
    const struct nvtxt_hello *hello;
    struct spool *spool; // NULL: none
    int64_t begun_ns;    // when the command was started
    const char *label;   // what the range is called; NULL: the command line
    bool has_color;      // the range has the colour of `text`, however the command ended
    struct steps *steps; // NULL: none. What they say is stored before the range
};

// A child without pipes has no lines. Stays with the running `child` until it has ended and all is
// said; takes its pipes. `argv` is its command line; `record` NULL: it is not recorded. The child
// has its status after it.
void command_run(struct child *child, char *const *argv, const struct command_record *record,
                 struct term *term);
