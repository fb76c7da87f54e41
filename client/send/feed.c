// SPDX-License-Identifier: Apache-2.0
#include "client/send/feed.h"

#include "protocol/base/limits.h"

size_t feed_line_max(const struct sender *sender) {
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    size_t most = sender->line_bytes;
    if (most == 0 || most > limits.line_bytes) {
        most = limits.line_bytes;
    }
    return most < TEXTLOG_LINE_LEAST ? TEXTLOG_LINE_LEAST : most;
}

int feed_move(struct textlog *log, struct intake *intake) {
    struct nvtxt_slice line;
    int result;
    textlog_limit(log, feed_line_max(intake->sender));
    do {
        while (intake_has_room(intake) && textlog_next(log, &line)) {
            result = intake_put(intake, line);
            if (result != 0) {
                return result;
            }
        }
        result = intake_move(intake);
    } while (result == 0 && intake_has_room(intake) && textlog_has_next(log));
    return result;
}
