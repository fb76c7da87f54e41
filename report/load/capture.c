// SPDX-License-Identifier: Apache-2.0
//
// Questions about a capture. Named categories are sorted, by their scope and id.
#include "report/load/capture.h"

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
