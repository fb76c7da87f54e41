// SPDX-License-Identifier: Apache-2.0
//
// report/ncurep: report files of Nsight Compute (.ncu-rep, version 7): the results of kernels, each
// with its metrics and the NVTX ranges that were open. It owns the bytes of a file, and indexes of
// it; everything else is read in place, when it is asked for, and is borrowed from the report. One
// thread; one file is read, none is written. It knows no store, no events and no times: nothing of
// it goes into a capture.
//
// This header is a report. A caller that goes over all results once, as `nvtx-state` does, needs
// report_ncurep_open() and report_ncurep_next() only. One that asks for single ones, as `serve`
// does, calls report_ncurep_index() first:
//
//   ranges    report->ranges[i]: the distinct pairs (context, stream) in order of first appearance
//   actions   report_ncurep_action(report, range, i): the results of a range, in order of the file
//   metrics   report/ncurep/result.h: of a result, by a cursor; their names are numbers of strings;
//             report/ncurep/by_name.h: one of them by its name
//   states    report/ncurep/state.h: the domains of a result, and what is open in them
//   filters   report/ncurep/matching.h: which results the expressions of nvtxt-filter(7) take
#pragma once

#include "report/ncurep/blocks.h"
#include "report/ncurep/wire.h"

struct report_ncurep_range {
    uint64_t context, stream; // 0 where a result does not say it
    uint32_t first, count;    // of its results; for report_ncurep_action()
};

struct report_ncurep {
    struct nvtxt_slice bytes; // of the file, or of what was compressed in it; owned
    uint64_t result_count, string_count;
    // Of report_ncurep_index(); else NULL.
    struct report_ncurep_range *ranges; // owned
    size_t range_count;
    uint32_t *results; // the place of each in the file, by range, then as in the file; owned
    uint32_t *strings; // the place of each; owned
};

// Reads a file and looks at all of it, so that nothing in it is broken later. The file may be
// compressed with zstd (.ncu-repz). Returns 0, an enum report_ncurep_result_code, or -errno;
// `*report` is NULL then.
int report_ncurep_open(struct report_ncurep **report, const char *path,
                       const struct report_ncurep_options *options,
                       struct report_ncurep_fault *fault);

// The same with bytes in memory, which the report takes: they come from malloc(), and are freed
// even when this fails. `bytes` may be NULL when there are none.
int report_ncurep_take(struct report_ncurep **report, char *bytes, size_t len,
                       struct report_ncurep_fault *fault);
void report_ncurep_free(struct report_ncurep *report); // NULL is fine

// A cursor over all results in order of the file. Zero it before the first call. False at the end.
struct report_ncurep_cursor {
    struct report_blocks blocks;
    struct report_block block;
    struct report_entries entries;
};
bool report_ncurep_next(const struct report_ncurep *report, struct report_ncurep_cursor *cursor,
                        struct nvtxt_slice *result);

// A cursor over the headers of all blocks, for report_wire_find(). Zero it before the first call.
bool report_ncurep_next_header(const struct report_ncurep *report, struct report_blocks *blocks,
                               struct nvtxt_slice *header);

// Finds ranges, results and strings. Returns 0, REPORT_NCUREP_TOO_LARGE (the file has 4 GiB or
// more, or the indexes would be larger than both the file and 64 MiB), or -ENOMEM. The second call
// does nothing.
int report_ncurep_index(struct report_ncurep *report, struct report_ncurep_fault *fault);

// After report_ncurep_index(). A result of a range, both from 0 and below their counts.
struct nvtxt_slice report_ncurep_action(const struct report_ncurep *report, size_t range,
                                        size_t action);

// After report_ncurep_index(). A string by its number; data NULL: the file has none of that number.
struct nvtxt_slice report_ncurep_string(const struct report_ncurep *report, uint64_t number);

// What the headers of all blocks say together: which programs wrote the file, and of which
// processes. All is borrowed from the report.

// A cursor over these. Zero it before the first call.
struct report_session {
    struct report_blocks blocks;
    struct report_wire header, details;
};

struct report_provider {
    struct nvtxt_slice name, version; // never without data
};
bool report_session_next_provider(const struct report_ncurep *report, struct report_session *cursor,
                                  struct report_provider *provider);

struct report_profiled_process {
    uint64_t pid;
    struct nvtxt_slice host, name; // never without data
};
bool report_session_next_process(const struct report_ncurep *report, struct report_session *cursor,
                                 struct report_profiled_process *process);

// processes.c: all of them in the order of the file, each once, though it may stand in several
// headers. The list is the caller's to free. Returns 0 or -ENOMEM.
int report_session_processes(const struct report_ncurep *report,
                             struct report_profiled_process **processes, size_t *count);
