// SPDX-License-Identifier: Apache-2.0
//
// The NVTX state of a result: the domains in which ranges were open when the kernel began, and
// those ranges. All is read in place and borrowed from the report.
//
// A pile is the ranges of one domain in one thread (push/pop) or in the process (start/end). The
// push/pop piles of a state are those of the result's own thread; where the file has none of that
// thread, those of all threads.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/ncurep/result.h"
#include "report/ncurep/wire.h"

struct report_state {
    struct nvtxt_slice states; // the part of the result that has them
    uint32_t tid;
    bool own_thread; // only its piles count
    uint64_t default_domain;
};

void report_state_open(struct report_state *state, const struct report_ncurep_result *result);

// ---- Domains ------------------------------------------------------------------------------------

struct report_state_domain {
    uint64_t id;
    bool is_default;
    struct nvtxt_slice name; // data NULL: none, or the default domain
};

// The next domain in which something is open: first as the file lists domains, then as their ranges
// come. Zero the cursor before the first call.
struct report_state_domains {
    uint64_t next;
};
bool report_state_next_domain(const struct report_state *state, struct report_state_domains *cursor,
                              struct report_state_domain *domain);

// The domain of an id, also when the file does not list it.
void report_state_find_domain(const struct report_state *state, uint64_t id,
                              struct report_state_domain *domain);

#define REPORT_STATE_DEFAULT "<default domain>"
#define REPORT_STATE_NAME 32

// The name for people and filters: "<default domain>", its own, or "Domain N", which is written to
// `made`.
struct nvtxt_slice report_state_domain_name(const struct report_state_domain *domain,
                                            char made[REPORT_STATE_NAME]);

// ---- Ranges -------------------------------------------------------------------------------------

struct report_state_pile {
    uint64_t domain;
    uint32_t tid; // of push/pop ranges
    bool start_end;
    struct nvtxt_slice bytes;
};

// A cursor over the piles: push/pop ones, then start/end ones. Zero it before the first call.
struct report_state_piles {
    bool started, start_end;
    struct report_wire states, parts, thread;
    uint32_t tid;
};
bool report_state_next_pile(const struct report_state *state, struct report_state_piles *cursor,
                            struct report_state_pile *pile);

enum report_state_payload {
    REPORT_STATE_NO_PAYLOAD,
    REPORT_STATE_UINT64, // `number`; also of 32 bits
    REPORT_STATE_INT64,  // the same bits as int64_t; also of 32 bits
    REPORT_STATE_DOUBLE, // `real`; also of a float
};

struct report_state_range {
    struct nvtxt_slice name;    // Name, or the text of its message; never without data
    struct nvtxt_slice message; // data NULL: none
    bool has_attributes;
    uint32_t category;
    bool has_color;
    uint32_t color;        // ARGB
    uint32_t payload_type; // as the file has it: a number of NVTX
    enum report_state_payload payload;
    uint64_t number;
    double real;
    uint64_t id;  // of a start/end range
    uint32_t tid; // of a start/end range: the thread that started it
};

// A cursor over the ranges of a pile, the bottom one first.
static inline struct report_wire report_state_ranges(const struct report_state_pile *pile) {
    return report_wire_of(pile->bytes);
}
bool report_state_next_range(const struct report_state *state, const struct report_state_pile *pile,
                             struct report_wire *cursor, struct report_state_range *range);
