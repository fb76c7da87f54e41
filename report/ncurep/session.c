// SPDX-License-Identifier: Apache-2.0
//
// Cursors in cursors: headers of blocks, session details of a header, programs in these. Details in
// several blocks are one list of programs.
#include "report/ncurep/session.h"

#include "report/ncurep/file/known.h"

bool report_session_next_provider(const struct report_ncurep *report, struct report_session *cursor,
                                  struct report_provider *provider) {
    struct nvtxt_slice message;
    *provider = (struct report_provider){NVTXT_SLICE(""), NVTXT_SLICE("")};
    while (!report_wire_find(&cursor->details, NCUREP_SESSION_VERSION, &message)) {
        if (report_wire_find(&cursor->header, NCUREP_BLOCK_SESSION, &message)) {
            cursor->details = report_wire_of(message);
        } else if (report_ncurep_next_header(report, &cursor->blocks, &message)) {
            cursor->header = report_wire_of(message);
        } else {
            return false;
        }
    }
    report_wire_text(message, NCUREP_VERSION_PROVIDER, &provider->name);
    report_wire_text(message, NCUREP_VERSION_VERSION, &provider->version);
    return true;
}

bool report_session_next_process(const struct report_ncurep *report, struct report_session *cursor,
                                 struct report_profiled_process *process) {
    struct nvtxt_slice message;
    *process = (struct report_profiled_process){0, NVTXT_SLICE(""), NVTXT_SLICE("")};
    while (!report_wire_find(&cursor->header, NCUREP_BLOCK_PROCESS, &message)) {
        if (!report_ncurep_next_header(report, &cursor->blocks, &message)) {
            return false;
        }
        cursor->header = report_wire_of(message);
    }
    report_wire_number(message, NCUREP_PROCESS_ID, &process->pid);
    report_wire_text(message, NCUREP_PROCESS_HOST, &process->host);
    report_wire_text(message, NCUREP_PROCESS_NAME, &process->name);
    return true;
}
