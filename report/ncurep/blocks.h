// SPDX-License-Identifier: Apache-2.0
//
// The frame of a report file: its header, its blocks, the entries of their payloads, and whether
// all messages in it are whole. Everything is read in place.
#pragma once

#include "report/ncurep/input.h"

#define REPORT_NCUREP_VERSION 7

struct report_block {
    struct nvtxt_slice header;  // a BlockHeader
    struct nvtxt_slice payload; // entries
    uint64_t sources, results;  // how many entries of each, in this order
};

// A cursor over blocks. Zero it but for the file.
struct report_blocks {
    struct nvtxt_slice file;
    size_t at; // 0: before the file's header
};

// A cursor over the results of a block.
struct report_entries {
    const char *at, *end;
    uint64_t left;
};

enum { REPORT_BLOCKS_MORE = NVTXT_WRONG + 1 }; // there is one

// The next block: REPORT_BLOCKS_MORE, 0 at the end, or NVTXT_WRONG with a fault.
int report_blocks_next(struct report_blocks *blocks, struct report_block *block,
                       struct report_ncurep_fault *fault);

// Goes to the first result. False: the file is broken.
bool report_entries_start(struct report_entries *entries, struct nvtxt_slice file,
                          const struct report_block *block, struct report_ncurep_fault *fault);

// The next result: REPORT_BLOCKS_MORE, 0 at the end, or NVTXT_WRONG with a fault.
int report_entries_next(struct report_entries *entries, struct nvtxt_slice file,
                        struct nvtxt_slice *result, struct report_ncurep_fault *fault);

// Looks at all of a file. Returns 0 or NVTXT_WRONG with a fault. After 0 no function above returns
// NVTXT_WRONG for it, and no message that this version knows is broken.
int report_blocks_check(struct nvtxt_slice file, struct report_ncurep_fault *fault);
