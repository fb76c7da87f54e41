// SPDX-License-Identifier: Apache-2.0
//
// Every range is announced as open after the line that opened it. Its event has the number under
// which it was announced, and so its line is found. Events without one were opened by the line that
// also ended them.
#include "report/load/replay.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "protocol/base/frame.h"
#include "protocol/base/origin.h"
#include "protocol/interp/interp.h"
#include "protocol/table/arrays.h"
#include "protocol/wire/hello.h"

#define READ_BYTES ((size_t)256 << 10)

struct running {
    const struct report_replay *replay;
    struct nvtxt_interp *interp;
    struct nvtxt_frame frame;
    uint32_t *opened; // line of each range that was announced; owned
    uint64_t opened_room;
    int stopped; // what on_event returned
};

static uint32_t line_now(const struct running *running) {
    uint64_t lines = nvtxt_interp_counters(running->interp)->lines;
    return lines < UINT32_MAX ? (uint32_t)lines : UINT32_MAX;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct running *running = context;
    bool known = event->open_seq > 0 && event->open_seq <= running->opened_room;
    struct report_replayed replayed = {
        .kind = event->type == NVTXT_EVENT_MARK       ? REPORT_MARK
                : event->type == NVTXT_EVENT_PUSH_POP ? REPORT_PUSH_POP
                                                      : REPORT_START_END,
        .start = event->start,
        .end = event->end,
        .unclosed = event->unclosed,
        .message = event->text,
        .line = known ? running->opened[event->open_seq - 1] : line_now(running),
    };
    running->stopped = running->replay->on_event(running->replay->context, &replayed);
    return running->stopped ? nvtxt_origin(-ECANCELED) : 0;
}

static int note_opened(struct running *running) {
    struct nvtxt_open_range range;
    int taken;
    while ((taken = nvtxt_interp_take_opened(running->interp, &range)) > 0) {
        int r = nvtxt_grow(&running->opened, &running->opened_room, range.seq,
                           sizeof(*running->opened));
        if (r < 0) {
            return r;
        }
        running->opened[range.seq - 1] =
            range.line < UINT32_MAX ? (uint32_t)range.line : UINT32_MAX;
    }
    return taken;
}

static int take_line(struct running *running, int kind, struct nvtxt_slice line) {
    const struct nvtxt_sink sink = {.on_event = on_event, .context = running};
    bool escapes, nvtx;
    int r = 0;
    if (kind == NVTXT_FRAME_LINE && line_now(running) == 0) {
        r = nvtxt_hello_of_file(line, &escapes, &nvtx);
        if (r > 0) {
            nvtxt_interp_extend(running->interp, escapes, nvtx);
        }
    }
    if (r >= 0) {
        r = kind == NVTXT_FRAME_LINE ? nvtxt_interp_line(running->interp, line, &sink)
                                     : nvtxt_interp_overlong(running->interp, line, &sink);
    }
    return r ?: note_opened(running);
}

static int take_bytes(struct running *running, struct nvtxt_slice bytes) {
    struct nvtxt_slice line;
    int kind;
    int r = 0;
    while (r == 0 && (kind = nvtxt_frame_next(&running->frame, &bytes, &line)) != 0) {
        if (kind < 0) {
            return kind;
        }
        r = take_line(running, kind, line);
    }
    return r;
}

static int take_end(struct running *running) {
    const struct nvtxt_sink sink = {.on_event = on_event, .context = running};
    struct nvtxt_slice line;
    int kind = nvtxt_frame_finish(&running->frame, &line);
    int r = kind > 0 ? take_line(running, kind, line) : kind;
    return r == 0 && running->replay->ended ? nvtxt_interp_end(running->interp, &sink) : r;
}

static int read_all(struct running *running, int fd, char *buffer) {
    int r = 0;
    ssize_t got = 1;
    while (r == 0 && got > 0) {
        got = read(fd, buffer, READ_BYTES);
        if (got < 0 && errno == EINTR) {
            got = 1;
        } else if (got > 0) {
            r = take_bytes(running, (struct nvtxt_slice){buffer, (size_t)got});
        } else {
            r = got < 0 ? nvtxt_origin(-errno) : take_end(running);
        }
    }
    return r;
}

int report_replay(const char *path, const struct report_replay *replay) {
    const struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT,
                                               .levels = replay->levels};
    struct running running = {.replay = replay};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    char *buffer = malloc(READ_BYTES);
    running.interp = nvtxt_interp_new(&config);
    nvtxt_frame_init(&running.frame, config.limits.line_bytes);
    int r = buffer && running.interp ? read_all(&running, fd, buffer) : nvtxt_origin(-ENOMEM);
    nvtxt_interp_free(running.interp);
    nvtxt_frame_deinit(&running.frame);
    free(running.opened);
    free(buffer);
    close(fd);
    return running.stopped ?: r;
}
