// SPDX-License-Identifier: Apache-2.0
//
// Feeds the lines to an interpreter that stores nothing, and counts. The first line with an effect
// ends this: the input is NVTXT then.
#include "client/text/sniff.h"

#include <unistd.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"

int sniff_init(struct sniff *sniff, const struct nvtxt_mapping *mapping) {
    const struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT, .mapping = *mapping};
    *sniff = (struct sniff){.interp = nvtxt_interp_new(&config), .left = SNIFF_BYTES};
    if (!sniff->interp) {
        return nvtxt_origin(-ENOMEM);
    }
    nvtxt_frame_init(&sniff->frame, config.limits.line_bytes);
    return 0;
}

void sniff_deinit(struct sniff *sniff) {
    if (sniff->interp) {
        nvtxt_interp_free(sniff->interp);
        nvtxt_frame_deinit(&sniff->frame);
    }
    sniff->interp = NULL;
}

static uint64_t errors_of(const struct sniff *sniff) {
    return nvtxt_interp_counters(sniff->interp)->errors;
}

static bool says_nothing(struct nvtxt_slice line) {
    size_t at = 0;
    while (at < line.len && (line.data[at] == ' ' || line.data[at] == '\t')) {
        at++;
    }
    return at == line.len || line.data[at] == '#';
}

// False when no further line is needed.
static bool take_line(struct sniff *sniff, struct nvtxt_slice line) {
    static const struct nvtxt_sink sink = {0};
    uint64_t before = errors_of(sniff);
    int r = nvtxt_interp_line(sniff->interp, line, &sink);
    return r == 0 && (errors_of(sniff) > before || says_nothing(line));
}

bool sniff_bytes(struct sniff *sniff, const char *data, size_t len) {
    if (!sniff->interp) {
        return false;
    }
    bool last = len == 0 || len >= sniff->left;
    bool goes_on = true;
    struct nvtxt_slice input = {data, len < sniff->left ? len : sniff->left};
    struct nvtxt_slice line;
    sniff->left -= input.len;
    while (goes_on && nvtxt_frame_next(&sniff->frame, &input, &line) == NVTXT_FRAME_LINE) {
        goes_on = take_line(sniff, line);
    }
    if (goes_on && len == 0 && nvtxt_frame_finish(&sniff->frame, &line) == NVTXT_FRAME_LINE) {
        goes_on = take_line(sniff, line);
    }
    bool found = goes_on && last && errors_of(sniff) > 0;
    if (!goes_on || last) {
        sniff->is_log = found;
        sniff_deinit(sniff);
    }
    return found;
}

bool sniff_file(struct sniff *sniff, const struct input *input) {
    char data[4096];
    off_t at = 0;
    ssize_t n;
    do {
        n = pread(input->fd, data, sizeof(data), at);
        at += n > 0 ? n : 0;
    } while ((n < 0 && errno == EINTR) ||
             (n >= 0 && !sniff_bytes(sniff, data, (size_t)n) && n > 0 && sniff->interp));
    return sniff->is_log;
}
