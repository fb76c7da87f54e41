// SPDX-License-Identifier: Apache-2.0
//
// The open ranges of one source: a stack of pushed ranges per (ProcessId, ThreadId), with the
// extension `nvtx` per (ProcessId, ThreadId, domain), and started ranges by RangeId, whatever the
// thread (nvtxt(5), "What a call stores"). All of them are also in one list by age, for announcing
// and for the end of the source.
//
// A range owns copies of its message, of its JSON and of the excerpt of its line. Ranges are
// announced in the order of their age, so the announced ones are always the oldest.
#pragma once

#include "protocol/base/limits.h"
#include "protocol/interp/event.h"
#include "protocol/table/hash.h"

struct nvtxt_thread; // a push stack

struct nvtxt_range {
    struct nvtxt_hash_node node;       // by RangeId; unused for pushed ranges
    struct nvtxt_range *older, *newer; // by age
    struct nvtxt_range *below;         // in the push stack
    struct nvtxt_thread *thread;       // of a pushed range
    struct nvtxt_refstr *domain_ref;   // owns what view.domain shows
    struct nvtxt_open_range view;      // its slices point into bytes[] and domain_ref
    bool announced;
    size_t byte_cap;
    char bytes[];
};

struct nvtxt_ranges {
    bool by_domain;            // a thread has a stack in each domain; set before the first range
    struct nvtxt_hash threads; // by globalTid, and by domain
    struct nvtxt_hash ids;     // by RangeId
    struct nvtxt_range *oldest, *newest;
    struct nvtxt_range *unannounced;  // oldest one that was not announced
    struct nvtxt_thread *last_thread; // that was searched for last
    size_t open_threads;              // threads whose stack is not empty
    size_t bytes;                     // of memory that open ranges take
    uint64_t last_seq;
    struct nvtxt_range *spare; // closed ranges of the usual size, for use again
    size_t spare_count;
};

void nvtxt_ranges_deinit(struct nvtxt_ranges *ranges); // a zeroed struct is an empty one

enum nvtxt_ranges_result {
    NVTXT_RANGES_DONE = 0,
    NVTXT_RANGES_TOO_DEEP = 1,
    NVTXT_RANGES_TOO_MANY = 2,
    NVTXT_RANGES_TOO_MANY_THREADS = 3,
    NVTXT_RANGES_TOO_LARGE = 4,
};

// Opens a range with the attributes, thread and line of `attributes`; its seq and depth are given
// here. `domain` (borrowed, may be NULL) is what attributes->domain shows. A start/end range must
// not be open already. Returns an nvtxt_ranges_result or -ENOMEM.
int nvtxt_ranges_open(struct nvtxt_ranges *ranges, const struct nvtxt_limits *limits,
                      const struct nvtxt_open_range *attributes, struct nvtxt_refstr *domain);

// The memory that a range takes while it is open. A display name is counted for every range that
// refers to it.
size_t nvtxt_ranges_memory(const struct nvtxt_open_range *range);

// The newest pushed range of a thread (and of the domain, if stacks are by domain), and the started
// range of a RangeId; NULL when none is open.
struct nvtxt_range *nvtxt_ranges_top(struct nvtxt_ranges *ranges, uint32_t pid, uint32_t tid,
                                     struct nvtxt_slice domain);
struct nvtxt_range *nvtxt_ranges_find(const struct nvtxt_ranges *ranges, int64_t range_id);

// Forgets a range and frees it. A pushed range must be the top of its stack, or all ranges are
// being closed from the oldest to the newest.
void nvtxt_ranges_close(struct nvtxt_ranges *ranges, struct nvtxt_range *range);

// The words for a result that is a limit: what "the limit of" is followed by.
const char *nvtxt_ranges_limit_name(int r);
