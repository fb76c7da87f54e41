// SPDX-License-Identifier: Apache-2.0
//
// An entry of the journal as lines of NVTXT: one marker or, for a long message, several; before it
// the name of its category when that is new, and the domain when the machine changes. A line that
// names something may come twice without harm. It owns the line that goes out and the names that
// have gone out.
#pragma once

#include "client/journal/journal_reader.h"
#include "client/text/textlog.h"
#include "protocol/table/hash.h"

struct journal_lines {
    const struct textlog_options *options; // the category of all entries, colours; borrowed
    size_t line_max;
    char *out;                // owned
    uint32_t pid;             // whose categories are named now
    bool knows_pid;           // ... and the session knows it
    struct nvtxt_map named;   // those of a process, with its machine, whose names have gone out
    struct nvtxt_buf machine; // that the lines are about; empty: this one
    bool knows_machine;       // ... and the session knows it
    const struct journal_entry *entry; // borrowed; NULL: none
    size_t taken;                      // bytes of its message that went out
    bool said;                         // the last line was of the message
    bool over;                         // no line of the message is left
};

// `line_max` as for textlog_init(). `fresh`: the session has no lines. Returns 0 or -ENOMEM; in any
// case it can be deinitialised.
int journal_lines_init(struct journal_lines *lines, const struct textlog_options *options,
                       size_t line_max, bool fresh);
void journal_lines_deinit(struct journal_lines *lines); // zeroed ones are fine

// The next lines are those of this entry, from this byte of its message on. An entry without a
// message has none.
void journal_lines_begin(struct journal_lines *lines, const struct journal_entry *entry,
                         uint64_t taken);

// The next line, with its LF; good until the next call. False when there is none. After it `said`,
// `taken` and `over` tell how much of the message has gone out.
bool journal_lines_next(struct journal_lines *lines, struct nvtxt_slice *line);

// The time of an entry in nanoseconds; one that does not fit is the latest.
int64_t journal_time_ns(uint64_t usec);
