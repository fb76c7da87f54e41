// SPDX-License-Identifier: Apache-2.0
//
// Questions about a capture. Each is a search in an array that is sorted.
#include "report/load/capture.h"

#include <stdio.h>

struct nvtxt_slice report_category_name(const struct report_capture *capture, uint32_t scope,
                                        uint32_t category) {
    size_t low = 0;
    size_t high = capture->category_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct report_category *named = &capture->categories[middle];
        if (named->scope == scope && named->id == category) {
            return named->name;
        }
        if (named->scope < scope || (named->scope == scope && named->id < category)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (struct nvtxt_slice){NULL, 0};
}

uint32_t report_event_line(const struct report_capture *capture, const struct report_event *event) {
    if (event->source == REPORT_NONE) {
        return 0;
    }
    const struct report_source *source = &capture->sources[event->source];
    size_t low = 0;
    size_t high = source->line_row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (source->line_rows[middle] < event->row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < source->line_row_count && source->line_rows[low] == event->row;
    return found ? source->line_numbers[low] : 0;
}

struct nvtxt_slice report_source_name(const struct report_source *source,
                                      char made[REPORT_SOURCE_NAME]) {
    const struct nvtxt_slice names[] = {source->name, source->display_name, source->peer_comm};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].data) {
            return names[i];
        }
    }
    int len = snprintf(made, REPORT_SOURCE_NAME, "source %lld", (long long)source->id);
    return (struct nvtxt_slice){made, (size_t)len};
}
