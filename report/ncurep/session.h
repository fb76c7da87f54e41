// SPDX-License-Identifier: Apache-2.0
//
// What the headers of all blocks say together: which programs wrote the file, and of which
// processes. All is borrowed from the report.
#pragma once

#include "report/ncurep/file/wire.h"
#include "report/ncurep/ncurep.h"

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
