// SPDX-License-Identifier: Apache-2.0
//
// Bytes to lines. The caller reads into any buffer and takes line after line out of it. A whole
// line is a view of that buffer. Only a line that the end of the buffer cuts is copied, into memory
// of the frame, which is freed when the line is done. So an idle source holds no buffer, and no
// byte is searched twice however the input is split.
//
// Rules (nvtxt(5), "Lines"): LF ends a line; one CR before it, or before the end of the source, is
// dropped; a line longer than the limit is reported once and skipped up to its LF. Blank lines and
// comments are lines too. The interpreter, not the frame, drops a byte order mark.
#pragma once

#include "protocol/base/slice.h"

struct nvtxt_frame {
    size_t max_line; // bytes without LF
    char *partial;   // start of a line whose end has not come yet; owned
    size_t partial_len;
    size_t partial_cap;
    bool skipping; // inside an overlong line
    bool taken;    // the line that was returned last is in `partial`: the next call frees it
};

enum nvtxt_frame_result {
    NVTXT_FRAME_MORE = 0,     // all input is used up, no whole line in it
    NVTXT_FRAME_LINE = 1,     // a line without its LF and CR
    NVTXT_FRAME_OVERLONG = 2, // the first bytes of a line that was longer than the limit
};

void nvtxt_frame_init(struct nvtxt_frame *frame, size_t max_line);
void nvtxt_frame_deinit(struct nvtxt_frame *frame);

// Takes the next line out of `*input`, which is moved past what was used. `*line` lives until the
// next call on the frame or until the caller's buffer goes. Returns an nvtxt_frame_result, or
// -ENOMEM. Call again until it returns NVTXT_FRAME_MORE. OVERLONG is returned when the line's LF
// has been seen (its line holds the first bytes, as many as an excerpt of it may need).
int nvtxt_frame_next(struct nvtxt_frame *frame, struct nvtxt_slice *input,
                     struct nvtxt_slice *line);

// At the end of a source: the last line, if it had no LF. Same results; MORE when there is none.
int nvtxt_frame_finish(struct nvtxt_frame *frame, struct nvtxt_slice *line);

// The bytes of the unfinished line that the frame holds now (for the limit of a hello line).
struct nvtxt_slice nvtxt_frame_pending(const struct nvtxt_frame *frame);
