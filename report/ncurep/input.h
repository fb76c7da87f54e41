// SPDX-License-Identifier: Apache-2.0
//
// A report file of Nsight Compute (.ncu-rep, version 7) as bytes in memory, decompressed if it is
// compressed; why it is not read, and what bounds the reading.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

#define REPORT_NCUREP_WHAT 128

// Why a file is refused: a sentence and the place. Of a compressed file the place is one of the
// bytes that were in it, unless the compression itself is broken.
struct report_ncurep_fault {
    uint64_t offset; // bytes from 0
    char what[REPORT_NCUREP_WHAT];
};

enum report_ncurep_result_code {
    REPORT_NCUREP_BROKEN = NVTXT_WRONG, // no report, another version, cut: the fault has the place
    REPORT_NCUREP_NO_INPUT,             // the fault has the reason, without a place
    REPORT_NCUREP_IO,                   // the same
    REPORT_NCUREP_TOO_LARGE,            // the same
    REPORT_NCUREP_STOPPED,              // `interrupted` said so
};

struct report_ncurep_options {
    uint64_t max_memory;       // bytes; 0: no bound
    bool (*interrupted)(void); // asked now and then; NULL: never
};

struct report_bytes { // they grow by half as more of them come, up to a bound
    char *data;       // owned, from malloc()
    size_t len, room;
};

// Makes room for `wanted` in all, or for some more when it is 0; at most for `most` (0: no bound).
// Returns 0, REPORT_NCUREP_TOO_LARGE with a fault, or -ENOMEM.
int report_bytes_grow(struct report_bytes *bytes, size_t wanted, uint64_t most,
                      struct report_ncurep_fault *fault);

// Decompresses all frames of `packed`: zstd.c does it with libzstd; zstd_none.c, which is built
// where there is none, says that it cannot. Returns 0 (the bytes are owned by the caller, from
// malloc()), REPORT_NCUREP_BROKEN or REPORT_NCUREP_TOO_LARGE with a fault, REPORT_NCUREP_STOPPED,
// or -ENOMEM. The offset of the fault is one of `packed`.
int report_zstd_unpack(struct nvtxt_slice packed, const struct report_ncurep_options *options,
                       struct report_bytes *bytes, struct report_ncurep_fault *fault);

// Whether bytes begin as those of a report file, plain or compressed: the first four say it.
#define REPORT_NCUREP_FIRST 4
bool report_ncurep_begins(struct nvtxt_slice bytes);

// Reads all of a file. Returns 0 (the bytes are owned by the caller, from malloc()), a code of
// enum report_ncurep_result_code with a fault, or -errno.
int report_ncurep_read(const char *path, const struct report_ncurep_options *options, char **bytes,
                       size_t *len, struct report_ncurep_fault *fault);
