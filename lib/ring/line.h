// SPDX-License-Identifier: Apache-2.0
//
// Records to lines of NVTXT, as a session with `nvtx` takes them (nvtxt-protocol(7)). No line may
// draw a diagnostic: texts are made UTF-8 and cut, JSON is checked, numbers are in their ranges.
// Pure: bytes in, bytes out.
#pragma once

#include "lib/ring/record.h"
#include "lib/ring/region.h"

// Of one line, what text may take: the daemon's limit is 64 KiB unless it says less.
#define LINE_LIMIT 65536u
#define LINE_LIMIT_LEAST 1024u
#define LINE_VARIABLES (1u << 20) // the daemon's limit of the values of variables

// The most that one record becomes: ThreadId, Domain, Json, the call, Json.
#define LINES_BYTES (4u * LINE_LIMIT)

// What earlier lines of the session have set.
struct line_state {
    uint32_t tid, domain;
    bool has_tid, has_domain;
    size_t limit;     // bytes of a line
    size_t variables; // bytes of all values of variables
};

struct line_buf {
    size_t len;
    uint32_t lines;
    char data[LINES_BYTES];
};

// The first lines of a session: the time base and the definitions.
void line_begin(struct line_buf *out);

// A record of thread `tid`, with `offset_ns` added to its time.
void line_record(struct line_buf *out, struct line_state *state, const struct region *region,
                 const struct record_view *view, uint32_t tid, int64_t offset_ns);

// The end of a range that a record of its own has not.
void line_end(struct line_buf *out, uint64_t id, int64_t time_ns);

// What a name says.
enum name_kind { NAME_PROCESS, NAME_THREAD, NAME_CATEGORY, NAME_RESOURCE, NAME_COUNTER };
void line_name(struct line_buf *out, struct line_state *state, const struct region *region,
               const struct region_name *name);

// How many calls were dropped, and why.
void line_lost(struct line_buf *out, uint64_t count, enum region_loss why);
