// SPDX-License-Identifier: Apache-2.0
//
// Steps are numbered from the Unix epoch, so a wider one is made of whole smaller ones.
#include "report/logs/strip.h"

#include <string.h>

#define US INT64_C(1000)
#define MS (1000 * US)
#define S (1000 * MS)
#define MIN (60 * S)
#define H (60 * MIN)
#define DAY (24 * H)

static const int64_t widths[] = {
    US,        2 * US,    10 * US,    20 * US,    100 * US,   200 * US, MS,       2 * MS,
    10 * MS,   20 * MS,   100 * MS,   200 * MS,   S,          2 * S,    10 * S,   30 * S,
    MIN,       2 * MIN,   10 * MIN,   30 * MIN,   H,          2 * H,    6 * H,    12 * H,
    DAY,       2 * DAY,   4 * DAY,    8 * DAY,    16 * DAY,   32 * DAY, 64 * DAY, 128 * DAY,
    256 * DAY, 512 * DAY, 1024 * DAY, 2048 * DAY, 4096 * DAY,
};

// All times of 64 bits fit into REPORT_STRIP of the last one.
_Static_assert(INT64_MAX / (4096 * DAY) < REPORT_STRIP / 2 - 1, "the last width is wide enough");

static int64_t step_of(int64_t time, int64_t width) {
    return time / width - (time % width < 0);
}

int64_t report_strip_width(const struct report_strip_scale *scale) {
    return widths[scale->step];
}

bool report_strip_fit(struct report_strip_scale *scale, int64_t time) {
    const struct report_strip_scale before = *scale;
    scale->first = !scale->any || time < scale->first ? time : scale->first;
    scale->last = !scale->any || time > scale->last ? time : scale->last;
    scale->any = true;
    while (step_of(scale->last, widths[scale->step]) - step_of(scale->first, widths[scale->step]) >=
           REPORT_STRIP) {
        scale->step++;
    }
    scale->begin = step_of(scale->first, widths[scale->step]);
    return before.any && (before.step != scale->step || before.begin != scale->begin);
}

void report_strip_move(uint32_t strip[REPORT_STRIP], const struct report_strip_scale *from,
                       const struct report_strip_scale *to) {
    uint32_t moved[REPORT_STRIP] = {0};
    int64_t factor = widths[to->step] / widths[from->step];
    for (int64_t i = 0; i < REPORT_STRIP; i++) {
        if (strip[i] > 0) {
            moved[step_of(from->begin + i, factor) - to->begin] += strip[i];
        }
    }
    memcpy(strip, moved, sizeof(moved));
}

size_t report_strip_step(const struct report_strip_scale *scale, int64_t time) {
    return (size_t)(step_of(time, widths[scale->step]) - scale->begin);
}

size_t report_strip_steps(const struct report_strip_scale *scale) {
    return scale->any ? report_strip_step(scale, scale->last) + 1 : 0;
}

void report_strip_thin(const uint32_t *strip, size_t steps, size_t by, uint64_t *to) {
    for (size_t i = 0; i < steps; i++) {
        to[i / by] = (i % by == 0 ? 0 : to[i / by]) + strip[i];
    }
}

size_t report_strip_blocks(char text[REPORT_STRIP_TEXT], const uint32_t *strip, size_t steps) {
    uint64_t counts[REPORT_STRIP], most = 0;
    size_t by = (steps + REPORT_STRIP_SHOWN - 1) / REPORT_STRIP_SHOWN;
    size_t shown = steps > 0 ? (steps + by - 1) / by : 0, len = 0;
    report_strip_thin(strip, steps, by, counts);
    for (size_t i = 0; i < shown; i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    for (size_t i = 0; i < shown; i++) {
        if (counts[i] == 0) {
            memcpy(text + len, "\xC2\xB7", 2);
            len += 2;
        } else {
            uint64_t height = (uint64_t)(((unsigned __int128)counts[i] * 8 + most - 1) / most);
            memcpy(text + len, "\xE2\x96", 2);
            text[len + 2] = (char)(0x80 + height);
            len += 3;
        }
    }
    return len;
}
