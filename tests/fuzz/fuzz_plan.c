// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a source's stream, for an interpreter that reads lines by their shape and for one
// that lexes all of them (plan_kit.h). The first three bytes choose as those of fuzz_interp do, so
// its corpus is replayed, too: the configuration, the size of the pieces in which the bytes come,
// and how often the first interpreter is saved and restored on the way.
#define NVTXT_REPLAY_ALSO "tests/fuzz/corpus/fuzz_interp"
#include "tests/fuzz/replay.h"

#include "protocol/base/frame.h"
#include "tests/fuzz/plan_kit.h"
#include "tests/fuzz/source_kit.h"

#define HEAD 3
#define LONG_STREAM 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD) {
        return 0;
    }
    struct nvtxt_source_config config = make_config(data[0]);
    struct both both;
    struct nvtxt_frame frame;
    struct nvtxt_slice line;
    unsigned interval = (1 + data[2] % 16) * (1 + (unsigned)(size / LONG_STREAM)), lines = 0;
    size_t piece = 1 + data[1] % 64;
    int kind;
    both_start(&both, &config);
    nvtxt_frame_init(&frame, config.limits.line_bytes);
    for (size_t at = HEAD; at < size; at += piece) {
        piece = nvtxt_min(piece, size - at);
        struct nvtxt_slice input = {(const char *)data + at, piece};
        while ((kind = nvtxt_frame_next(&frame, &input, &line)) != NVTXT_FRAME_MORE) {
            must(kind > 0);
            both_line(&both, kind == NVTXT_FRAME_OVERLONG, line);
            if (++lines % interval == 0) {
                both_interrupt(&both);
            }
        }
    }
    if ((kind = nvtxt_frame_finish(&frame, &line)) != NVTXT_FRAME_MORE) {
        must(kind > 0);
        both_line(&both, kind == NVTXT_FRAME_OVERLONG, line);
    }
    nvtxt_frame_deinit(&frame);
    both_finish(&both);
    return 0;
}
