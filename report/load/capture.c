// SPDX-License-Identifier: Apache-2.0
//
// Questions about a capture. Named categories are few, so a loop finds one.
#include "report/load/capture.h"

struct nvtxt_slice report_category_name(const struct report_capture *capture, uint32_t scope,
                                        uint32_t category) {
    for (size_t i = 0; i < capture->category_count; i++) {
        const struct report_category *named = &capture->categories[i];
        if (named->scope == scope && named->id == category) {
            return named->name;
        }
    }
    return (struct nvtxt_slice){NULL, 0};
}
