// SPDX-License-Identifier: Apache-2.0
//
// The NVTX state of a result: the domains in which ranges were open when the kernel began, and
// where those ranges are. It owns an index of a state, whose memory serves one result after the
// other; all else is borrowed from the report.
//
// A pile is the ranges of one domain in one thread (push/pop) or in the process (start/end). The
// push/pop piles of a state are those of the result's own thread; where the file has none of that
// thread, those of all threads.
#pragma once

#include "protocol/table/hash.h"
#include "report/ncurep/result.h"

struct report_domain_entry { // inside
    uint64_t id;
    uint32_t name;  // its place; 0: none
    uint32_t first; // of its piles, from 1; 0: none
};

struct report_pile_entry { // inside
    uint32_t place;
    uint32_t next; // pile of its domain; 0: none
};

struct report_text_entry { // inside
    uint64_t handle;
    uint32_t domain, place;
};

struct report_state {
    const char *base;          // of the result; places count from here
    struct nvtxt_slice states; // the part of it that has them
    uint32_t tid;
    bool own_thread; // only its piles count
    uint64_t default_domain;
    struct report_domain_entry *domains; // owned
    size_t domain_count, domain_room;
    struct report_pile_entry *piles;           // owned
    size_t stack_count, pile_count, pile_room; // push/pop ones come first
    struct report_text_entry *texts;           // registered ones; owned
    size_t text_count, text_room;
    struct nvtxt_slots by_id, by_handle; // of `domains`, of `texts`
};

// Zero the state before the first call; deinit it after the last one. Returns 0 or -ENOMEM.
int report_state_open(struct report_state *state, const struct report_ncurep_result *result);
void report_state_deinit(struct report_state *state);

// ---- Domains ------------------------------------------------------------------------------------

struct report_state_domain {
    uint32_t number; // in this state, from 1
    uint64_t id;
    bool is_default;
    struct nvtxt_slice name; // data NULL: none, or the default domain
};

// The next domain in which something is open: first as the file lists domains, then as their ranges
// come. Zero the cursor before the first call.
bool report_state_next_domain(const struct report_state *state, size_t *cursor,
                              struct report_state_domain *domain);

// The domain of a number.
void report_state_get_domain(const struct report_state *state, uint32_t number,
                             struct report_state_domain *domain);

#define REPORT_STATE_DEFAULT "<default domain>"
#define REPORT_STATE_NAME 32

// The name for people and filters: "<default domain>", its own, or "Domain N", which is written to
// `made`.
struct nvtxt_slice report_state_domain_name(const struct report_state_domain *domain,
                                            char made[REPORT_STATE_NAME]);

// A registered text of a domain, by its handle; data NULL: there is none.
struct nvtxt_slice report_state_registered(const struct report_state *state, uint32_t domain,
                                           uint64_t handle);

// ---- Piles --------------------------------------------------------------------------------------

struct report_pile {
    uint32_t domain; // its number
    bool start_end;
    struct nvtxt_slice bytes; // its ranges
};

// A cursor over the piles of a domain: push/pop ones, then start/end ones. Zero it before the first
// call.
struct report_state_piles {
    bool begun;
    uint32_t next;
};
bool report_state_next_pile(const struct report_state *state,
                            const struct report_state_domain *domain,
                            struct report_state_piles *cursor, struct report_pile *pile);

// ---- Ranges -------------------------------------------------------------------------------------

enum report_range_payload {
    REPORT_RANGE_NO_PAYLOAD,
    REPORT_RANGE_UINT64, // `number`; also of 32 bits
    REPORT_RANGE_INT64,  // the same bits as int64_t; also of 32 bits
    REPORT_RANGE_DOUBLE, // `real`; also of a float
};

struct report_range {           // one that was open; all is borrowed from the report
    struct nvtxt_slice name;    // Name, or the text of its message; never without data
    struct nvtxt_slice message; // data NULL: none
    bool has_attributes;
    uint32_t category;
    bool has_color;
    uint32_t color;        // ARGB
    uint32_t payload_type; // of its value: a number of NVTX; 0: none
    enum report_range_payload payload;
    uint64_t number;
    double real;
    uint64_t id;  // of a start/end range
    uint32_t tid; // of a start/end range: the thread that started it
};

// A cursor over the ranges of a pile, the bottom one first.
static inline struct report_wire report_ranges_of(const struct report_pile *pile) {
    return report_wire_of(pile->bytes);
}
bool report_range_next(const struct report_state *state, const struct report_pile *pile,
                       struct report_wire *cursor, struct report_range *range);
