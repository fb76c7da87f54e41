// SPDX-License-Identifier: Apache-2.0
//
// One line on its way through the interpreter. It lives on the stack while its line is interpreted.
// Only the files of the interpreter include it: interp.c (lines), interp_call.c (what calls do) and
// interp_diag.c (diagnostics).
#pragma once

#include "protocol/interp/interp_state.h"
#include "protocol/lang/lexer.h"

// invalid-utf8, bad-color, ends-before-start, a time base's, foreign-name
#define NVTXT_LINE_WARNINGS 5

struct nvtxt_warning {
    enum nvtxt_diag_code code;
    uint32_t column;
    struct nvtxt_slice text;
    uint32_t pid; // of foreign-name
};

struct nvtxt_job {
    struct nvtxt_interp *interp;
    const struct nvtxt_sink *sink;
    struct nvtxt_slice line;
    struct nvtxt_tokens tokens;
    struct nvtxt_stmt stmt;
    struct nvtxt_call call;
    struct nvtxt_diag diag;
    struct nvtxt_warning warnings[NVTXT_LINE_WARNINGS];
    size_t warning_count;
};

// Executes the call in `stmt`. Returns 0, 1 (a fault, in `diag`; nothing has changed) or -errno.
int nvtxt_job_call(struct nvtxt_job *job);

// ---- Diagnostics -------------------------------------------------------------------------------

// Counts a diagnostic and hands it on, as far as the source's limit allows. Returns 0 or -errno.
int nvtxt_interp_hand_on(struct nvtxt_interp *interp, const struct nvtxt_diag *diag,
                         const struct nvtxt_sink *sink);

// The same with `diag`, which gets the line's number and text.
int nvtxt_job_report(struct nvtxt_job *job);

// Collects a warning, which is handed on after the line's effect. `text` is borrowed until then.
void nvtxt_job_warn(struct nvtxt_job *job, enum nvtxt_diag_code code, uint32_t column,
                    struct nvtxt_slice text);
void nvtxt_job_warn_argument(struct nvtxt_job *job, enum nvtxt_diag_code code, enum nvtxt_arg arg,
                             struct nvtxt_slice text);

// Collects the warning foreign-name, unless there was one before.
void nvtxt_job_warn_name(struct nvtxt_job *job, uint32_t pid, const char *why);

// Why the source may not name things of the process; NULL: it may.
static inline const char *nvtxt_interp_why_not_named(const struct nvtxt_interp *interp,
                                                     uint32_t pid) {
    const struct nvtxt_guard *guard = &interp->guard;
    return guard->why_not_named ? guard->why_not_named(guard->context, pid) : NULL;
}

// Hands on the warning foreign-name, outside of a line's warnings, unless there was one before.
int nvtxt_interp_warn_name(struct nvtxt_interp *interp, uint32_t pid, const char *why,
                           const struct nvtxt_sink *sink);

// Hands on the line's warnings, leftmost first.
int nvtxt_job_hand_on_warnings(struct nvtxt_job *job);

// Whether the source may keep `more` bytes. Returns 0, or 1 with the fault of the line.
int nvtxt_job_hold(struct nvtxt_job *job, size_t more);

// The fault of a line that would pass the limit of `what`; returns 1.
int nvtxt_job_limit(struct nvtxt_job *job, uint32_t column, const char *what);
